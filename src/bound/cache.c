/*
 * cache.c - bounded rows in a file without a name, encrypted, so that passes need not parse text
 * again and again.
 *
 *   parts ──► bytes ──► chunks, all of one public size ──encrypted──► file
 *
 * The key is drawn for this file alone, and lies in memory that is kept out of swap and cores where
 * that can be; the file has no name, so that it goes with the process, whatever ends it.  Who sees
 * its bytes learns how many chunks there are.  Each chunk is authenticated with its place, and the
 * last one as the last (libsodium's secretstream): what is read is what was written, or the pass
 * fails (flow.T4).
 */
#include "bound/bounded.h"
#include "base/key.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef CLO_TAINT
#include <valgrind/memcheck.h>
#define MARK_TOLD(bytes, count)   ((void)VALGRIND_MAKE_MEM_DEFINED(bytes, count))
#define MARK_SECRET(bytes, count) ((void)VALGRIND_MAKE_MEM_UNDEFINED(bytes, count))
#else
#define MARK_TOLD(bytes, count)   ((void)0)
#define MARK_SECRET(bytes, count) ((void)0)
#endif

enum { CHUNK = 1 << 18, PACKED = CHUNK + crypto_secretstream_xchacha20poly1305_ABYTES };

/* The key, and what is made of it. */
typedef struct secret {
    uint8_t key[crypto_secretstream_xchacha20poly1305_KEYBYTES];
    crypto_secretstream_xchacha20poly1305_state state;
} secret;

struct clo_i_cache {
    int file;
    bool failed; /* it could not be written */
    secret *secret;
    uint8_t header[crypto_secretstream_xchacha20poly1305_HEADERBYTES];
    uint8_t *plain, *packed; /* one chunk */
    size_t at;               /* in the plain one */
    uint64_t chunks, next;   /* written; and the one that is read next */
};

uint64_t clo_i_cache_room(void)
{
    return CHUNK + PACKED;
}

/* ---- making it --------------------------------------------------------------------------- */

static int open_and_unlink(const char *folder)
{
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/.cloister-XXXXXX", folder) >= (int)sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    const int file = mkostemp(path, O_CLOEXEC);
    if (file >= 0) (void)unlink(path);
    return file;
}

static int open_unnamed(const char *folder)
{
#ifdef O_TMPFILE
    const int file = open(folder, O_TMPFILE | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
    if (file >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)) return file;
#endif
    return open_and_unlink(folder); /* a file system that has no such files */
}

static clo_status fill_cache(clo_i_cache *cache, const char *folder, clo_error *err)
{
    CLO_TRY(clo_i_alloc(1, sizeof *cache->secret, &cache->secret, err));
    CLO_TRY(clo_i_alloc(CHUNK, 1, &cache->plain, err));
    CLO_TRY(clo_i_alloc(PACKED, 1, &cache->packed, err));
    if (sodium_init() < 0)
        return clo_i_fail(err, CLO_ENTROPY, "the operating system provides no secure randomness");
    clo_i_guard(cache->secret, sizeof *cache->secret);
    if (!clo_i_key_draw(CLO_KEY_CACHE, cache->secret->key, sizeof cache->secret->key))
        return clo_i_fail(err, CLO_ENTROPY, "the operating system provides no secure randomness");
    clo_i_key_take(CLO_KEY_CACHE, cache->secret->key,
                   crypto_secretstream_xchacha20poly1305_KEYBYTES);
    (void)crypto_secretstream_xchacha20poly1305_init_push(&cache->secret->state, cache->header,
                                                          cache->secret->key);
    cache->file = open_unnamed(folder);
    if (cache->file >= 0) return CLO_OK;
    return clo_i_fail(err, CLO_IO, "%.200s cannot hold the cache: %s", folder, strerror(errno));
}

clo_status clo_i_cache_new(const char *folder, clo_i_cache **out, clo_error *err)
{
    clo_i_cache *cache = NULL;
    CLO_TRY(clo_i_alloc(1, sizeof *cache, &cache, err));
    cache->file = -1;
    const clo_status status = fill_cache(cache, folder, err);
    if (status)
        clo_i_cache_free(cache);
    else
        *out = cache;
    return status;
}

void clo_i_cache_free(clo_i_cache *cache)
{
    if (!cache) return;
    if (cache->file >= 0) close(cache->file);
    clo_i_wipe_free(cache->secret, cache->secret ? sizeof *cache->secret : 0);
    clo_i_wipe_free(cache->plain, cache->plain ? CHUNK : 0);
    clo_i_free(cache->packed);
    clo_i_free(cache);
}

bool clo_i_cache_failed(const clo_i_cache *cache)
{
    return cache->failed;
}

/* ---- writing it -------------------------------------------------------------------------- */

/* A limit of the process is told by a signal, too, which would end it: it waits, and is taken. */
static ssize_t write_some(int file, const uint8_t *bytes, size_t count, off_t place)
{
    static const struct timespec at_once = { 0, 0 };
    sigset_t limit, before;
    sigemptyset(&limit);
    sigaddset(&limit, SIGXFSZ);
    if (pthread_sigmask(SIG_BLOCK, &limit, &before)) return -1;
    const ssize_t written = pwrite(file, bytes, count, place);
    const int number = errno;
    if (written < 0 && number == EFBIG && !sigismember(&before, SIGXFSZ))
        (void)sigtimedwait(&limit, NULL, &at_once);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = number;
    return written;
}

static bool write_packed(clo_i_cache *cache)
{
    for (size_t done = 0; done < PACKED;) {
        const off_t place = (off_t)(cache->chunks * PACKED + done);
        const ssize_t written = write_some(cache->file, cache->packed + done, PACKED - done, place);
        if (written == 0 || (written < 0 && errno != EINTR)) return false;
        if (written > 0) done += (size_t)written;
    }
    return true;
}

/* Encrypted under a key that never leaves, it may be told: flow.T4. */
static clo_status end_chunk(clo_i_cache *cache, uint8_t tag, clo_error *err)
{
    memset(cache->plain + cache->at, 0, CHUNK - cache->at);
    (void)crypto_secretstream_xchacha20poly1305_push(&cache->secret->state, cache->packed, NULL,
                                                     cache->plain, CHUNK, NULL, 0, tag);
    MARK_TOLD(cache->packed, PACKED);
    if (!write_packed(cache)) {
        cache->failed = true;
        return clo_i_fail(err, CLO_IO, "the cache cannot be written");
    }
    cache->at = 0;
    cache->chunks++;
    return CLO_OK;
}

clo_status clo_i_cache_put(clo_i_cache *cache, const void *bytes, size_t count, clo_error *err)
{
    const uint8_t *from = bytes;
    while (count > 0) {
        const size_t left = CHUNK - cache->at, here = count < left ? count : left;
        memcpy(cache->plain + cache->at, from, here);
        cache->at += here;
        from += here;
        count -= here;
        if (cache->at == CHUNK)
            CLO_TRY(end_chunk(cache, crypto_secretstream_xchacha20poly1305_TAG_MESSAGE, err));
    }
    return CLO_OK;
}

clo_status clo_i_cache_finish(clo_i_cache *cache, clo_error *err)
{
    return end_chunk(cache, crypto_secretstream_xchacha20poly1305_TAG_FINAL, err);
}

/* ---- reading it -------------------------------------------------------------------------- */

clo_status clo_i_cache_begin(clo_i_cache *cache, clo_error *err)
{
    cache->next = 0;
    cache->at = CHUNK; /* nothing is left of the chunk before the first */
    if (crypto_secretstream_xchacha20poly1305_init_pull(&cache->secret->state, cache->header,
                                                        cache->secret->key) == 0)
        return CLO_OK;
    return clo_i_fail(err, CLO_INTERNAL, "the cache cannot be read");
}

static clo_status read_packed(const clo_i_cache *cache, clo_error *err)
{
    for (size_t done = 0; done < PACKED;) {
        const off_t place = (off_t)(cache->next * PACKED + done);
        const ssize_t got = pread(cache->file, cache->packed + done, PACKED - done, place);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return clo_i_fail(err, CLO_IO, "the cache can no longer be read");
        if (got == 0) return clo_i_fail(err, CLO_IO, "the cache was changed while it was read");
        done += (size_t)got;
    }
    return CLO_OK;
}

static clo_status next_chunk(clo_i_cache *cache, clo_error *err)
{
    const bool last = cache->next + 1 == cache->chunks;
    uint8_t tag = 0;
    if (cache->next == cache->chunks)
        return clo_i_fail(err, CLO_INTERNAL, "the cache has ended too early");
    CLO_TRY(read_packed(cache, err));
    const int opened = crypto_secretstream_xchacha20poly1305_pull(
        &cache->secret->state, cache->plain, NULL, &tag, cache->packed, PACKED, NULL, 0);
    if (opened != 0 || (tag == crypto_secretstream_xchacha20poly1305_TAG_FINAL) != last)
        return clo_i_fail(err, CLO_IO, "the cache was changed while it was read");
    MARK_SECRET(cache->plain, CHUNK);
    cache->next++;
    cache->at = 0;
    return CLO_OK;
}

clo_status clo_i_cache_get(clo_i_cache *cache, void *bytes, size_t count, clo_error *err)
{
    uint8_t *to = bytes;
    while (count > 0) {
        if (cache->at == CHUNK) CLO_TRY(next_chunk(cache, err));
        const size_t left = CHUNK - cache->at, here = count < left ? count : left;
        memcpy(to, cache->plain + cache->at, here);
        cache->at += here;
        to += here;
        count -= here;
    }
    return CLO_OK;
}

clo_status clo_i_cache_end(clo_i_cache *cache, clo_error *err)
{
    while (cache->next < cache->chunks) CLO_TRY(next_chunk(cache, err));
    return CLO_OK;
}
