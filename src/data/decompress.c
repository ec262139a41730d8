/*
 * decompress.c - gzip by zlib and zstd by libzstd, behind one function.
 *
 * Both libraries get their memory from clo_i_alloc, and what they give back is wiped: it has held
 * records.  What a few bytes unpack to has no bound; but the window of a source takes a piece at a
 * time, and what becomes of it is held to the limits of a plain file: lines of a mebibyte, 2^31
 * rows, this machine's memory.  A zstd frame may ask for a window of 2^27 bytes at most.
 */
#define ZSTD_STATIC_LINKING_ONLY /* for its memory to be ours */
#define ZLIB_CONST               /* what is unpacked is not written to */
#include "data/decompress.h"
#include <limits.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

enum { GZIP_WINDOW = 15 + 16, ZSTD_WINDOW_LOG = 27, HEAD = 16 };

struct clo_i_unpacker {
    bool zstd;
    bool whole;   /* a member, or frame, has just ended */
    int most_log; /* of a zstd window */
    z_stream gzip;
    ZSTD_DCtx *frames;
};

const char *clo_i_packed_kind(const char *bytes, size_t count)
{
    if (count >= 3 && memcmp(bytes, "\x1f\x8b\x08", 3) == 0) return "gzip";
    if (count >= 4 && memcmp(bytes, "\x28\xb5\x2f\xfd", 4) == 0) return "zstd";
    return NULL;
}

/* ---- memory that knows its size, to be wiped ------------------------------------------------- */

static void *take(void *user, size_t bytes)
{
    char *block = NULL;
    (void)user;
    if (bytes > SIZE_MAX - HEAD || clo_i_alloc(bytes + HEAD, 1, &block, NULL)) return NULL;
    memcpy(block, &bytes, sizeof bytes);
    return block + HEAD;
}

static void give_back(void *user, void *taken)
{
    size_t bytes;
    (void)user;
    if (!taken) return;
    char *const block = (char *)taken - HEAD;
    memcpy(&bytes, block, sizeof bytes);
    clo_i_wipe_free(block, bytes + HEAD);
}

static void *take_items(void *user, unsigned items, unsigned size)
{
    return take(user, (size_t)items * size);
}

/* ---- beginning and end ----------------------------------------------------------------------- */

clo_status clo_i_unpacker_new(const char *kind, int most_log, clo_i_unpacker **out, clo_error *err)
{
    clo_i_unpacker *unpacker = NULL;
    bool begun;
    CLO_TRY(clo_i_alloc(1, sizeof *unpacker, &unpacker, err));
    unpacker->zstd = strcmp(kind, "zstd") == 0;
    unpacker->most_log = most_log ? most_log : ZSTD_WINDOW_LOG;
    if (unpacker->zstd) {
        unpacker->frames = ZSTD_createDCtx_advanced((ZSTD_customMem){ take, give_back, NULL });
        begun = unpacker->frames && !ZSTD_isError(ZSTD_DCtx_setParameter(
                                        unpacker->frames, ZSTD_d_windowLogMax, unpacker->most_log));
    } else {
        unpacker->gzip.zalloc = take_items;
        unpacker->gzip.zfree = give_back;
        begun = inflateInit2(&unpacker->gzip, GZIP_WINDOW) == Z_OK;
    }
    if (!begun) {
        clo_i_unpacker_free(unpacker);
        return clo_i_fail(err, CLO_MEMORY, "out of memory");
    }
    *out = unpacker;
    return CLO_OK;
}

void clo_i_unpacker_free(clo_i_unpacker *unpacker)
{
    if (!unpacker) return;
    if (unpacker->zstd)
        (void)ZSTD_freeDCtx(unpacker->frames);
    else
        (void)inflateEnd(&unpacker->gzip);
    clo_i_wipe_free(unpacker, sizeof *unpacker);
}

bool clo_i_unpacker_is_whole(const clo_i_unpacker *unpacker)
{
    return unpacker->whole;
}

const char *clo_i_unpacker_kind(const clo_i_unpacker *unpacker)
{
    return unpacker->zstd ? "zstd" : "gzip";
}

/* ---- a step ---------------------------------------------------------------------------------- */

static clo_status damaged(const char *name, const char *kind, clo_error *err)
{
    return clo_i_fail(err, CLO_FORMAT,
                      "%s is damaged: it begins like %s but does not continue "
                      "like it",
                      name, kind);
}

static unsigned most(size_t bytes)
{
    return bytes > UINT_MAX ? UINT_MAX : (unsigned)bytes;
}

/* Members may follow each other, as `cat a.gz b.gz` puts them. */
static clo_status step_gzip(clo_i_unpacker *unpacker, const char *name, const char **from,
                            const char *from_end, char **to, char *to_end, clo_error *err)
{
    z_stream *const gzip = &unpacker->gzip;
    if (unpacker->whole && inflateReset(gzip) != Z_OK) return damaged(name, "gzip", err);
    unpacker->whole = false;
    gzip->next_in = (const Bytef *)*from;
    gzip->avail_in = most((size_t)(from_end - *from));
    gzip->next_out = (Bytef *)*to;
    gzip->avail_out = most((size_t)(to_end - *to));
    const int code = inflate(gzip, Z_NO_FLUSH);
    *from = (const char *)gzip->next_in;
    *to = (char *)gzip->next_out;
    unpacker->whole = code == Z_STREAM_END;
    if (code == Z_MEM_ERROR) return clo_i_fail(err, CLO_MEMORY, "out of memory");
    if (code == Z_OK || code == Z_STREAM_END || code == Z_BUF_ERROR) return CLO_OK;
    return damaged(name, "gzip", err);
}

static clo_status step_zstd(clo_i_unpacker *unpacker, const char *name, const char **from,
                            const char *from_end, char **to, char *to_end, clo_error *err)
{
    ZSTD_inBuffer in = { *from, (size_t)(from_end - *from), 0 };
    ZSTD_outBuffer out = { *to, (size_t)(to_end - *to), 0 };
    const size_t left = ZSTD_decompressStream(unpacker->frames, &out, &in);
    *from += in.pos;
    *to += out.pos;
    if (ZSTD_getErrorCode(left) == ZSTD_error_memory_allocation)
        return clo_i_fail(err, CLO_MEMORY, "out of memory");
    if (ZSTD_getErrorCode(left) == ZSTD_error_frameParameter_windowTooLarge)
        return clo_i_fail(
            err, CLO_FORMAT,
            "%s needs a zstd window of more than 2^%d bytes: compress it with a smaller one", name,
            unpacker->most_log);
    if (ZSTD_isError(left)) return damaged(name, "zstd", err);
    unpacker->whole = left == 0;
    return CLO_OK;
}

clo_status clo_i_unpack(clo_i_unpacker *unpacker, const char *name, const char **from,
                        const char *from_end, char **to, char *to_end, clo_error *err)
{
    return (unpacker->zstd ? step_zstd : step_gzip)(unpacker, name, from, from_end, to, to_end,
                                                    err);
}
