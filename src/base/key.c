/* key.c - keys from the operating system, and in the test build who has drawn them (key.h). */
#include "base/key.h"
#include <errno.h>
#include <sys/random.h>

static bool ask_system(uint8_t *bytes, size_t count)
{
    while (count > 0) {
        const ssize_t got = getrandom(bytes, count, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        bytes += got;
        count -= (size_t)got;
    }
    return true;
}

#ifndef CLO_FAULT_INJECTION
bool clo_i_key_draw(clo_key_use use, void *key, size_t count)
{
    (void)use;
    return ask_system(key, count);
}
#else
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Atomic uint64_t entropy_calls, failing_call;

void clo_i_fail_entropy(uint64_t n)
{
    entropy_calls = 0;
    failing_call = n;
}

static bool entropy_fails(void)
{
    const uint64_t number = ++entropy_calls;
    return failing_call && number == failing_call;
}

/* ---- who has drawn what ---------------------------------------------------------------------- */

/* A key by its hash, so that no second copy of it lies about. */
typedef struct known {
    uint64_t hash; /* 0: nothing is here */
    clo_key_use use;
    bool taken;
    uint64_t padded; /* what it was a pad of; 0: nothing */
} known;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static known *table;
static size_t count_of_keys, room;

static const char *const uses[] = {
#define X(name, what) [CLO_KEY_##name] = what,
    CLO_KEY_LIST(X)
#undef X
        [CLO_KEY_USES] = "something else",
};

static _Noreturn void breach(clo_key_use use, const char *sentence)
{
    fprintf(stderr, "keys: of %s: %s\n", uses[use], sentence);
    abort();
}

/* FNV-1a, and the finalizer of splitmix64; its length is a part of a key. */
static uint64_t hash_of(const void *bytes, size_t count)
{
    const uint8_t *const from = bytes;
    uint64_t hash = UINT64_C(0xcbf29ce484222325) ^ count;
    for (size_t i = 0; i < count; i++) hash = (hash ^ from[i]) * UINT64_C(0x100000001b3);
    hash = (hash ^ hash >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    hash = (hash ^ hash >> 27) * UINT64_C(0x94d049bb133111eb);
    return (hash ^ hash >> 31) | 1;
}

static known *place_of(known *in, size_t places, uint64_t hash)
{
    size_t at = hash >> 1 & (places - 1);
    while (in[at].hash && in[at].hash != hash) at = (at + 1) & (places - 1);
    return &in[at];
}

/* Not by clo_i_alloc: a test may make that fail, and counts its calls. */
static void grow(void)
{
    const size_t more = room ? 2 * room : 1024;
    known *const wider = calloc(more, sizeof *wider);
    if (!wider) abort();
    for (size_t i = 0; i < room; i++)
        if (table[i].hash) *place_of(wider, more, table[i].hash) = table[i];
    free(table);
    table = wider;
    room = more;
}

static known *find(uint64_t hash)
{
    if (2 * count_of_keys >= room) grow();
    return place_of(table, room, hash);
}

static void note(known *at, uint64_t hash, clo_key_use use)
{
    *at = (known){ .hash = hash, .use = use };
    count_of_keys++;
}

/* What was not filled still says so. */
static bool is_filled(const uint8_t *bytes, size_t count)
{
    static const uint8_t blank[8] = { 0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5 };
    for (size_t at = 0; at + sizeof blank <= count; at += sizeof blank)
        if (memcmp(bytes + at, blank, sizeof blank) == 0) return false;
    return true;
}

bool clo_i_key_draw(clo_key_use use, void *key, size_t count)
{
    if (entropy_fails()) return false;
    memset(key, 0xa5, count);
    if (!ask_system(key, count)) return false;
    if (!is_filled(key, count)) breach(use, "the key was not filled");
    clo_i_key_made(use, key, count);
    return true;
}

void clo_i_key_made(clo_key_use use, const void *key, size_t count)
{
    const uint64_t hash = hash_of(key, count);
    pthread_mutex_lock(&lock);
    known *const at = find(hash);
    if (at->hash) breach(use, "the key was drawn before");
    note(at, hash, use);
    pthread_mutex_unlock(&lock);
}

void clo_i_key_take(clo_key_use use, const void *key, size_t count)
{
    pthread_mutex_lock(&lock);
    known *const at = find(hash_of(key, count));
    if (!at->hash) breach(use, "the key that is used was not drawn, or not as a whole");
    if (at->use != use) breach(use, "the key that is used was drawn for something else");
    if (at->taken) breach(use, "the key was used before");
    at->taken = true;
    pthread_mutex_unlock(&lock);
}

void clo_i_key_know(const void *key, size_t count)
{
    pthread_mutex_lock(&lock);
    if (!find(hash_of(key, count))->hash)
        breach(CLO_KEY_USES, "the key that is used was not drawn, or not as a whole");
    pthread_mutex_unlock(&lock);
}

void clo_i_key_told(const void *key, size_t count)
{
    const uint64_t hash = hash_of(key, count);
    pthread_mutex_lock(&lock);
    known *const at = find(hash);
    if (!at->hash) note(at, hash, CLO_KEY_USES);
    pthread_mutex_unlock(&lock);
}

/* A part that is folded again has the same numbers. */
void clo_i_key_pad(const void *key, size_t bytes, const int64_t *values, size_t count)
{
    const uint64_t hash = hash_of(key, bytes), of = hash_of(values, count * sizeof *values);
    pthread_mutex_lock(&lock);
    known *const at = find(hash);
    if (!at->hash) note(at, hash, CLO_KEY_USES);
    if (at->padded && at->padded != of) breach(CLO_KEY_USES, "a pad is used for two vectors");
    at->padded = of;
    pthread_mutex_unlock(&lock);
}
#endif
