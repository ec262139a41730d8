/*
 * source.c - where bytes come from: a file, a pipe or standard input, behind one window.
 *
 * Text is read, not mapped: a copy out of the page cache costs a few percent of parsing it, the
 * memory stays that of one window however large the file is, pipes need no second way, and a file
 * that shrinks while it is read is just shorter.
 */
#include "data/formats.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LONGEST_NAME = 160 };

const char *clo_i_displayed(const char *path)
{
    const size_t length = strlen(path);
    return length > LONGEST_NAME ? path + length - LONGEST_NAME : path;
}

static clo_status cannot_read(const clo_i_source *source, int number, clo_error *err)
{
    return clo_i_fail(err, CLO_IO, "%s cannot be read: %s", source->name, strerror(number));
}

static clo_status describe_file(clo_i_source *source, clo_error *err)
{
    struct stat facts;
    if (fstat(source->file, &facts) != 0) return cannot_read(source, errno, err);
    if (S_ISDIR(facts.st_mode)) return cannot_read(source, EISDIR, err);
    source->regular = S_ISREG(facts.st_mode);
    source->size = source->regular ? (uint64_t)facts.st_size : 0;
    if (source->regular) (void)posix_fadvise(source->file, 0, 0, POSIX_FADV_SEQUENTIAL);
    return CLO_OK;
}

clo_status clo_i_source_open(const char *path, clo_i_source *out, clo_error *err)
{
    clo_i_source source = { .name = "standard input", .file = STDIN_FILENO };
    if (strcmp(path, "-") != 0) {
        source.name = clo_i_displayed(path);
        source.file = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
        if (source.file < 0) return cannot_read(&source, errno, err);
        source.opened = true;
    }
    const clo_status status = describe_file(&source, err);
    if (status != CLO_OK) {
        clo_i_source_close(&source);
        return status;
    }
    *out = source;
    return CLO_OK;
}

void clo_i_source_close(clo_i_source *source)
{
    clo_i_wipe_free(source->bytes, source->bytes ? source->capacity + CLO_PADDING : 0);
    source->bytes = NULL;
    if (source->opened) close(source->file);
    source->opened = false;
}

/* A larger window: as large as wanted, but for a file that is known to be smaller, its size and
 * a bit, so that its end is seen without another step. */
static clo_status grow(clo_i_source *source, size_t wanted, clo_error *err)
{
    size_t capacity = wanted;
    if (source->regular && source->size + 2 < wanted && source->size + 2 > source->capacity)
        capacity = (size_t)source->size + 2;
    CLO_TRY(clo_i_resize(&source->bytes, source->bytes ? source->capacity + CLO_PADDING : 0,
                         capacity + CLO_PADDING, 1, err));
    source->capacity = capacity;
    return CLO_OK;
}

clo_status clo_i_source_fill(clo_i_source *source, size_t wanted, clo_error *err)
{
    const size_t held = source->end - source->start;
    if (source->at_end || held >= wanted) return CLO_OK;
    if (held && source->start) memmove(source->bytes, source->bytes + source->start, held);
    source->start = 0;
    source->end = held;
    while (!source->at_end && source->end < wanted) {
        if (source->end == source->capacity) CLO_TRY(grow(source, wanted, err));
        const ssize_t got =
            read(source->file, source->bytes + source->end, source->capacity - source->end);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return cannot_read(source, errno, err);
        source->at_end = got == 0;
        source->end += (size_t)got;
    }
    memset(source->bytes + source->end, 0, CLO_PADDING);
    return CLO_OK;
}
