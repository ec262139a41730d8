/* files.c - output that appears whole or not at all.
 *
 * The budget is spent before the release exists, so a name that cannot be written must show before
 * the spend, and a command that is killed half way must not leave half a release.  On Linux the
 * bytes go into a file without a name (O_TMPFILE), which the kernel takes back with the process;
 * elsewhere into a hidden file beside the target.  A device or a pipe is written to as it is. */
#include "cli.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct cli_file {
    FILE *stream;
    char *target; /* the name that it will have; links followed */
    char *folder;
    char *temporary; /* its name until then; NULL: it has none */
    bool direct;     /* not a regular file: nothing to rename */
    bool committed;
};

static char *joined(const char *folder, const char *separator, const char *name)
{
    const size_t size = strlen(folder) + strlen(separator) + strlen(name) + 1;
    char *const text = cli_alloc(size, 1);
    snprintf(text, size, "%s%s%s", folder, separator, name);
    return text;
}

/* "out/a.json" as "out" and "a.json". */
static void split(cli_file *file)
{
    const char *const slash = strrchr(file->target, '/');
    if (!slash)
        file->folder = cli_copy(".");
    else if (slash == file->target)
        file->folder = cli_copy("/");
    else {
        file->folder = cli_copy(file->target);
        file->folder[slash - file->target] = 0;
    }
}

static char *temporary_name(const cli_file *file)
{
    const char *const slash = strrchr(file->target, '/');
    char name[NAME_MAX + 32];
    snprintf(name, sizeof name, ".%.*s.%ld.part", NAME_MAX - 32, slash ? slash + 1 : file->target,
             (long)getpid());
    return joined(file->folder, "/", name);
}

static int open_nameless(const cli_file *file)
{
#ifdef O_TMPFILE
    /* Without /proc the file could not be given a name later. */
    if (access("/proc/self/fd", X_OK) == 0)
        return open(file->folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
#endif
    (void)file;
    errno = EOPNOTSUPP;
    return -1;
}

static int open_beside(cli_file *file)
{
    file->temporary = temporary_name(file);
    const int fd = open(file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0) {
        free(file->temporary);
        file->temporary = NULL;
    }
    return fd;
}

static int open_target(cli_file *file)
{
    struct stat info;
    const bool exists = stat(file->target, &info) == 0;
    if (exists && S_ISDIR(info.st_mode)) {
        errno = EISDIR;
        return -1;
    }
    if (exists && !S_ISREG(info.st_mode)) {
        file->direct = true;
        return open(file->target, O_WRONLY | O_CLOEXEC);
    }
    /* Renaming would get past a file's own write protection. */
    if (exists && access(file->target, W_OK) != 0) return -1;
    const int fd = open_nameless(file);
    return fd >= 0 ? fd : open_beside(file);
}

clo_status cli_file_open(const char *path, cli_file **out, cli_error *err)
{
    cli_file *const file = cli_alloc(1, sizeof *file);
    char *const resolved = realpath(path, NULL);
    file->target = resolved ? resolved : cli_copy(path);
    split(file);
    const int fd = open_target(file);
    file->stream = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (!file->stream) {
        const int reason = errno;
        if (fd >= 0) close(fd);
        cli_file_close(file);
        return cli_fail(err, CLO_IO, "%s cannot be written: %s", path, strerror(reason));
    }
    *out = file;
    return CLO_OK;
}

bool cli_file_write(void *file, const char *bytes, size_t count)
{
    return fwrite(bytes, 1, count, ((cli_file *)file)->stream) == count;
}

bool cli_bytes_write(void *text, const char *bytes, size_t count)
{
    cli_bytes *const to = text;
    if (to->room - to->length < count) {
        const size_t room = 2 * to->room + count;
        char *const grown = cli_alloc(room, 1);
        if (to->length) memcpy(grown, to->data, to->length);
        free(to->data);
        to->data = grown;
        to->room = room;
    }
    memcpy(to->data + to->length, bytes, count);
    to->length += count;
    return true;
}

bool cli_stream_write(void *stream, const char *bytes, size_t count)
{
    return fwrite(bytes, 1, count, stream) == count;
}

/* Gives the nameless file a hidden name, from which it can be renamed over an older one. */
static bool give_name(cli_file *file)
{
    char self[64];
    if (file->temporary) return true;
    char *const name = temporary_name(file);
    snprintf(self, sizeof self, "/proc/self/fd/%d", fileno(file->stream));
    if (linkat(AT_FDCWD, self, AT_FDCWD, name, AT_SYMLINK_FOLLOW) != 0) {
        free(name);
        return false;
    }
    file->temporary = name;
    return true;
}

/* The new name must survive a power cut as well as the bytes do. */
static void sync_folder(const cli_file *file)
{
    const int fd = open(file->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return;
    (void)fsync(fd);
    close(fd);
}

clo_status cli_file_commit(cli_file *file, cli_error *err)
{
    if (fflush(file->stream) != 0) goto failed;
    if (!file->direct) {
        if (fsync(fileno(file->stream)) != 0 || !give_name(file)) goto failed;
        if (rename(file->temporary, file->target) != 0) goto failed;
        sync_folder(file);
    }
    file->committed = true;
    return CLO_OK;
failed:
    return cli_fail(err, CLO_IO, "%s cannot be written: %s", file->target, strerror(errno));
}

void cli_file_close(cli_file *file)
{
    if (!file) return;
    if (file->stream) fclose(file->stream);
    if (file->temporary && !file->committed) unlink(file->temporary);
    free(file->temporary);
    free(file->folder);
    free(file->target);
    free(file);
}

clo_status cli_flush(FILE *out, cli_error *err)
{
    if (fflush(out) == 0 && !ferror(out)) return CLO_OK;
    return cli_fail(err, CLO_IO, "cannot write to standard output: %s", strerror(errno));
}
