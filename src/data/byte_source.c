/*
 * byte_source.c - where bytes come from: a file, a pipe or standard input, behind one window.
 *
 * Text is read, not mapped: a copy out of the page cache costs a few percent of parsing it, the
 * memory stays that of one window however large the file is, pipes need no second way, and a file
 * that shrinks while it is read is just shorter.
 */
#include "data/formats.h"
#include "data/decompress.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    LONGEST_NAME = 160,
    PIECE = 1 << 17, /* that one thread reads, and hashes while it lies in its cache */
    PIECES = 32,     /* at once */
    PIECE_BLOCKS = PIECE / CLO_PASS_HASH_BLOCK
};
_Static_assert(PIECE % CLO_PASS_HASH_BLOCK == 0, "a piece is whole blocks");

/* A message has room for some 500 bytes; of a long path the end says most. */
static const char *displayed(const char *path)
{
    const size_t length = strlen(path);
    return length > LONGEST_NAME ? path + length - LONGEST_NAME : path;
}

static clo_status cannot_read(const clo_i_source *source, int number, clo_error *err)
{
    if (number == EINTR)
        return clo_i_fail(err, CLO_CANCELLED, "stopped while %s was read", source->name);
    return clo_i_fail(err, CLO_IO, "%s cannot be read: %s", source->name, strerror(number));
}

static clo_status describe_file(clo_i_source *source, clo_error *err)
{
    struct stat facts;
    if (fstat(source->file, &facts) != 0) return cannot_read(source, errno, err);
    if (S_ISDIR(facts.st_mode)) return cannot_read(source, EISDIR, err);
    source->regular = S_ISREG(facts.st_mode);
    source->seeks = source->opened && source->regular;
    source->size = source->regular ? (uint64_t)facts.st_size : 0;
    source->total = source->size;
    if (source->regular) (void)posix_fadvise(source->file, 0, 0, POSIX_FADV_SEQUENTIAL);
    return CLO_OK;
}

/* Whoever waits is told how far it is, and may have had enough. */
static clo_status tell(const clo_i_source *source, clo_error *err)
{
    const double share =
        source->total ? (double)source->taken / (double)source->total : -1.0; /* a pipe */
    const double done =
        share < 0 ? share
                  : source->progress_from + source->progress_share * (share < 1 ? share : 1);
    if (!source->progress || source->progress(source->progress_user, done)) return CLO_OK;
    return clo_i_fail(err, CLO_CANCELLED, "stopped while %s was read", source->name);
}

/* Whether a call that a signal has ended is to be made again. */
static bool goes_on(const clo_i_source *source, int number)
{
    const bool again = number == EINTR && tell(source, NULL) == CLO_OK;
    errno = number;
    return again;
}

clo_status clo_i_source_open(const char *path, const clo_read_options *options, clo_i_source *out,
                             clo_error *err)
{
    clo_i_source source = { .name = "standard input", .file = STDIN_FILENO, .progress_share = 1 };
    if (options) source.progress = options->progress;
    if (options) source.progress_user = options->user;
    if (strcmp(path, "-") != 0) {
        source.name = displayed(path);
        do /* a FIFO waits for its writer */
            source.file = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
        while (source.file < 0 && goes_on(&source, errno));
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

clo_status clo_i_source_digest(clo_i_source *source, clo_error *err)
{
    if (sodium_init() < 0) return clo_i_fail(err, CLO_ENTROPY, "libsodium could not be started");
    crypto_generichash_init(&source->digest, NULL, 0, CLO_DIGEST_BYTES);
    source->digests = true;
    return CLO_OK;
}

void clo_i_source_digest_more(clo_i_source *source, const void *bytes, size_t count)
{
    if (source->digests) crypto_generichash_update(&source->digest, bytes, count);
}

void clo_i_source_close(clo_i_source *source)
{
    clo_i_wipe(&source->digest, sizeof source->digest);
    clo_i_wipe_free(source->bytes, source->bytes ? source->capacity + CLO_PADDING : 0);
    clo_i_wipe_free(source->packed, source->packed ? source->packed_capacity : 0);
    clo_i_unpacker_free(source->unpacker);
    source->bytes = source->packed = NULL;
    source->unpacker = NULL;
    if (source->opened) close(source->file);
    source->opened = false;
}

/* A larger window: as large as wanted, but for a file that is known to be smaller, its size and
 * a bit, so that its end is seen without another step.  (Where rows are read again and again its
 * size stays that of the window: how long a file is may be a secret by then.) */
static clo_status grow(clo_i_source *source, size_t wanted, clo_error *err)
{
    size_t capacity = wanted;
    if (!source->sink && source->regular && source->size + 2 < wanted &&
        source->size + 2 > source->capacity)
        capacity = (size_t)source->size + 2;
    CLO_TRY(clo_i_resize(&source->bytes, source->bytes ? source->capacity + CLO_PADDING : 0,
                         capacity + CLO_PADDING, 1, err));
    source->capacity = capacity;
    return CLO_OK;
}

clo_status clo_i_source_reserve(clo_i_source *source, size_t bytes, clo_error *err)
{
    return bytes > source->capacity ? grow(source, bytes, err) : CLO_OK;
}

/* One call of the system, at this place of the file, or at the one where a pipe is. */
static ssize_t read_once(const clo_i_source *source, uint64_t offset, char *to, size_t room)
{
    ssize_t count;
    do
        count = source->seeks ? pread(source->file, to, room, (off_t)offset)
                              : read(source->file, to, room);
    while (count < 0 && errno == EINTR && (source->seeks || goes_on(source, EINTR)));
    return count;
}

/* All that is read goes into the pass hash, in the order of the file, by whichever way. */
static clo_status read_alone(clo_i_source *source, uint64_t offset, char *to, size_t room,
                             size_t *got, clo_error *err)
{
    const ssize_t count = read_once(source, offset, to, room);
    if (count < 0) return cannot_read(source, errno, err);
    if (source->pass_hash) clo_i_pass_hash_add(source->pass_hash, to, (size_t)count);
    *got = (size_t)count;
    return CLO_OK;
}

/* What became of a piece. */
typedef struct piece {
    size_t got;
    int number; /* of an error; 0: none */
    uint8_t sums[PIECE_BLOCKS][CLO_PASS_HASH_SUM];
} piece;

static void read_piece(const clo_i_source *source, uint64_t offset, char *to, piece *out)
{
    ssize_t count = 1;
    out->got = 0;
    while (out->got < PIECE && count > 0) {
        count = read_once(source, offset + out->got, to + out->got, PIECE - out->got);
        if (count > 0) out->got += (size_t)count;
    }
    out->number = count < 0 ? errno : 0;
    if (source->pass_hash && out->got == PIECE)
        clo_i_pass_hash_sums(source->pass_hash->key, to, PIECE_BLOCKS, out->sums);
}

/* By several threads.  What lies behind a piece that is not whole has not been read. */
static clo_status read_pieces(clo_i_source *source, uint64_t offset, char *to, size_t count,
                              size_t *got, clo_error *err)
{
    piece pieces[PIECES];
    size_t whole = 0;
#pragma omp parallel for schedule(dynamic, 1) if (count > 1)
    for (size_t i = 0; i < count; i++)
        read_piece(source, offset + i * PIECE, to + i * PIECE, &pieces[i]);
    for (; whole < count && pieces[whole].got == PIECE; whole++)
        if (source->pass_hash)
            clo_i_pass_hash_add_sums(source->pass_hash, pieces[whole].sums, PIECE_BLOCKS);
    *got = whole * PIECE;
    const piece *const last = &pieces[whole];
    const int number = whole < count ? last->number : 0;
    if (whole < count && !number) {
        if (source->pass_hash) clo_i_pass_hash_add(source->pass_hash, to + *got, last->got);
        *got += last->got;
    }
    if (source->pass_hash) clo_i_wipe(pieces, sizeof pieces);
    return number ? cannot_read(source, number, err) : CLO_OK;
}

/* Some bytes of the file as they lie there, from this place on; none at its end. */
static clo_status read_from(clo_i_source *source, uint64_t offset, char *to, size_t room,
                            size_t *got, clo_error *err)
{
    const size_t gap = source->pass_hash ? clo_i_pass_hash_gap(source->pass_hash) : 0;
    const size_t fit = room / PIECE, count = fit < PIECES ? fit : PIECES;
    if (source->seeks && !gap && count) return read_pieces(source, offset, to, count, got, err);
    return read_alone(source, offset, to, gap && gap < room ? gap : room, got, err);
}

static clo_status read_some(clo_i_source *source, char *to, size_t room, size_t *got,
                            clo_error *err)
{
    CLO_TRY(read_from(source, source->taken, to, room, got, err));
    source->taken += *got;
    return CLO_OK;
}

clo_status clo_i_source_unit_key(const clo_i_source *source, uint8_t key[CLO_UNIT_KEY_BYTES],
                                 clo_error *err)
{
    return clo_i_unit_key(source->unit_key, key, err);
}

clo_status clo_i_source_read_at(clo_i_source *source, uint64_t offset, void *to, size_t count,
                                clo_error *err)
{
    char *at = to;
    while (count > 0) {
        size_t got = 0;
        CLO_TRY(read_from(source, offset, at, count, &got, err));
        if (got == 0) return clo_i_fail(err, CLO_FORMAT, "%s is shorter than it was", source->name);
        at += got;
        offset += got;
        count -= got;
    }
    return CLO_OK;
}

/* The same, unpacked. */
static clo_status unpack_some(clo_i_source *source, char *to, size_t room, size_t *got,
                              clo_error *err)
{
    char *at = to;
    while (at == to) {
        if (source->packed_start == source->packed_end) {
            size_t count;
            CLO_TRY(read_some(source, source->packed, source->packed_capacity, &count, err));
            source->packed_start = 0;
            source->packed_end = count;
            if (count == 0) break;
        }
        const char *from = source->packed + source->packed_start;
        CLO_TRY(clo_i_unpack(source->unpacker, source->name, &from,
                             source->packed + source->packed_end, &at, to + room, err));
        source->packed_start = (size_t)(from - source->packed);
    }
    *got = (size_t)(at - to);
    if (*got == 0 && !clo_i_unpacker_is_whole(source->unpacker))
        return clo_i_fail(err, CLO_FORMAT, "%s is incomplete: its compressed data end too early",
                          source->name);
    return CLO_OK;
}

clo_status clo_i_source_unpack(clo_i_source *source, clo_error *err)
{
    const size_t held = source->end - source->start;
    const char *const kind = clo_i_packed_kind(source->bytes + source->start, held);
    if (!kind) return CLO_OK;
    CLO_TRY(clo_i_unpacker_new(kind, source->unpack_log, &source->unpacker, err));
    source->packed = source->bytes; /* what was read is where unpacking begins */
    source->packed_capacity = source->capacity + CLO_PADDING;
    source->packed_start = source->start;
    source->packed_end = source->end;
    source->bytes = NULL;
    source->start = source->end = source->capacity = 0;
    source->at_end = false;
    source->regular = false; /* neither its size nor a map of it says anything of what is inside */
    if (source->digests) CLO_TRY(clo_i_source_digest(source, err)); /* of what is inside */
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
        char *const to = source->bytes + source->end;
        size_t got;
        CLO_TRY((source->unpacker ? unpack_some : read_some)(
            source, to, source->capacity - source->end, &got, err));
        source->at_end = got == 0;
        clo_i_source_digest_more(source, to, got);
        source->end += got;
        CLO_TRY(tell(source, err));
    }
    memset(source->bytes + source->end, 0, CLO_PADDING);
    return CLO_OK;
}
