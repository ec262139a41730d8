/*
 * generator.c - streams of uniform bits: ChaCha20 with fast key erasure.
 *
 * A block of 4096 bytes is made at once; its first 32 bytes are the next key and replace the one
 * that made it, the rest is handed out and zeroed as it goes.  Whoever reads the memory of the
 * process later cannot go back to noise that was drawn before.
 *
 * A process that forks would have two streams that say the same, and the difference of two releases
 * would then hold no noise at all.  So a secure stream lives in pages that the kernel wipes in the
 * child (MADV_WIPEONFORK), which re-keys it from the operating system at its next draw.  There is
 * no other way to be told of a fork without a global variable or a system call at each draw, so a
 * system that cannot do this is refused.  A seeded stream is not private and must go on as it was.
 *
 * The operating system is asked once, when the generator is made, which is before a charge; a run
 * that has paid must not end for lack of a key or of two pages.  So a secure generator has a stream
 * of its own, whose words are the keys of the others, and a store of pages for them.
 *
 *   | keys, lock | stream | stream | free | ... |     one mapping, wiped in a forked child
 *
 * The operating system failing to give a key ends the run; there is no second-best source.
 */
#include "random/stream.h"
#include "base/key.h"
#include <sched.h>
#include <sodium.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

enum { PLACE = 8192, PLACES = 256, WORD = 64 }; /* address space; a place costs memory in use */

/* The first place.  Wiped in a child, the lock is free: who held it is not there. */
typedef struct key_pages {
    stream_pages pages;
    _Atomic uint32_t held;
} key_pages;

/* In ordinary memory: a child must know which places its copies of open streams are in. */
struct stream_store {
    clo_stream keys;
    uint8_t *places;
    _Atomic uint64_t taken[PLACES / WORD];
};

struct clo_rng {
    bool secure;
    uint8_t seed[32];
    _Atomic uint64_t asks;
    struct stream_store *store; /* of a secure one */
};

/* Any value but zero; what a wiped page has in its place. */
static const uint64_t LIVE = UINT64_C(0x636c6f6973746572);

_Static_assert(sizeof(key_pages) <= PLACE, "a place holds a stream's pages");
_Static_assert(sizeof(((stream_pages *)0)->key) == crypto_stream_chacha20_KEYBYTES &&
                   sizeof(((clo_rng *)0)->seed) >= crypto_generichash_KEYBYTES_MIN,
               "the key sizes are those of ChaCha20 and BLAKE2b");

/* ---- the operating system's randomness ----------------------------------- */

static clo_status no_entropy(clo_error *err)
{
    return clo_i_fail(err, CLO_ENTROPY,
                      "the operating system provides no random bytes (getrandom)");
}

/* ---- pages that a child does not inherit --------------------------------- */

static clo_status map_pages(size_t bytes, void *out_pointer, clo_error *err)
{
    void *const pages =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        return clo_i_fail(err, CLO_MEMORY, "out of memory: no pages for a random stream");
    if (madvise(pages, bytes, MADV_WIPEONFORK) != 0) {
        munmap(pages, bytes);
        return clo_i_fail(err, CLO_ENTROPY,
                          "this system cannot wipe a random stream in a forked process "
                          "(MADV_WIPEONFORK, Linux 4.14 or later)");
    }
    madvise(pages, bytes, MADV_DONTDUMP); /* out of core files */
    memcpy(out_pointer, &pages, sizeof pages);
    return CLO_OK;
}

/* Where no place is left, NULL: the stream gets a mapping of its own. */
static stream_pages *take_place(struct stream_store *store)
{
    for (size_t w = 0; w < PLACES / WORD; w++) {
        uint64_t taken = store->taken[w];
        while (~taken) {
            const int bit = __builtin_ctzll(~taken);
            if (atomic_compare_exchange_weak(&store->taken[w], &taken, taken | UINT64_C(1) << bit))
                return (stream_pages *)(store->places + (w * WORD + (size_t)bit) * PLACE);
        }
    }
    return NULL;
}

static void give_place(struct stream_store *store, const stream_pages *pages)
{
    const size_t place = (size_t)((const uint8_t *)pages - store->places) / PLACE;
    atomic_fetch_and(&store->taken[place / WORD], ~(UINT64_C(1) << place % WORD));
}

static bool is_in_store(const struct stream_store *store, const stream_pages *pages)
{
    const uintptr_t first = (uintptr_t)store->places, at = (uintptr_t)pages;
    return at >= first && at < first + (size_t)PLACES * PLACE;
}

static clo_status new_store(struct stream_store **out, clo_error *err)
{
    struct stream_store *made = NULL;
    CLO_TRY(clo_i_alloc(1, sizeof *made, &made, err));
    clo_status status = map_pages((size_t)PLACES * PLACE, &made->places, err);
    if (status) {
        clo_i_free(made);
        return status;
    }
    made->keys = (clo_stream){ .kind = STREAM_SECURE, .pages = take_place(made) };
    made->keys.pages->magic = LIVE;
    (void)!mlock(made->keys.pages, sizeof *made->keys.pages);
    made->keys.pages->fresh = true;
    if (!clo_i_key_draw(CLO_KEY_STREAM, made->keys.pages->key, sizeof made->keys.pages->key))
        status = no_entropy(err);
    if (status) {
        munmap(made->places, (size_t)PLACES * PLACE);
        clo_i_free(made);
        return status;
    }
    *out = made;
    return CLO_OK;
}

static void free_store(struct stream_store *store)
{
    if (!store) return;
    clo_i_wipe(store->keys.pages, sizeof *store->keys.pages);
    munmap(store->places, (size_t)PLACES * PLACE);
    clo_i_free(store);
}

/* Fast key erasure holds for keys, too: each is gone from here as it is handed out. */
static bool draw_key(struct stream_store *store, clo_key_use use, uint8_t *key, size_t bytes)
{
    _Atomic uint32_t *const held = &((key_pages *)store->places)->held;
    uint32_t nobody = 0;
    while (!atomic_compare_exchange_weak(held, &nobody, 1)) {
        nobody = 0;
        sched_yield();
    }
    for (size_t i = 0; i < bytes; i += sizeof(uint64_t)) {
        const uint64_t word = next_word(&store->keys);
        memcpy(key + i, &word, bytes - i < sizeof word ? bytes - i : sizeof word);
    }
    const bool drawn = !store->keys.failed;
    atomic_store(held, 0);
    if (drawn) clo_i_key_made(use, key, bytes);
    return drawn;
}

/* ---- the generator ------------------------------------------------------- */

static clo_status new_rng(const uint8_t *seed, clo_rng **out, clo_error *err)
{
    clo_rng *made = NULL;
    if (sodium_init() < 0) return clo_i_fail(err, CLO_ENTROPY, "libsodium cannot be initialised");
    CLO_TRY(clo_i_alloc(1, sizeof *made, &made, err));
    const clo_status status = seed ? CLO_OK : new_store(&made->store, err);
    if (status) {
        clo_i_free(made);
        return status;
    }
    made->secure = !seed;
    if (seed) memcpy(made->seed, seed, sizeof made->seed);
    *out = made;
    return CLO_OK;
}

clo_status clo_rng_new(clo_rng **out, clo_error *err)
{
    return new_rng(NULL, out, err);
}

clo_status clo_rng_new_seeded(const uint8_t seed[32], clo_rng **out, clo_error *err)
{
    if (!seed) return clo_i_fail(err, CLO_ARGUMENT, "the seed must be given, 32 bytes of it");
    return new_rng(seed, out, err);
}

bool clo_rng_is_secure(const clo_rng *rng)
{
    return rng->secure;
}

void clo_rng_free(clo_rng *rng)
{
    if (rng) free_store(rng->store);
    clo_i_wipe_free(rng, sizeof *rng);
}

void clo_seed_from_text(const char *text, uint8_t seed[32])
{
    crypto_generichash(seed, 32, (const uint8_t *)text, strlen(text), NULL, 0);
}

uint64_t clo_i_rng_next_ask(clo_rng *rng)
{
    return atomic_fetch_add(&rng->asks, 1);
}

/* ---- opening and closing a stream ---------------------------------------- */

/* Only a secure stream has something to hide; the others are many in tests and may be quick. */
static clo_status take_pages(clo_stream *stream, clo_error *err)
{
    stream_pages *pages = stream->store ? take_place(stream->store) : NULL;
    if (!pages)
        CLO_TRY(stream->kind == STREAM_SECURE ? map_pages(sizeof *pages, &pages, err)
                                              : clo_i_alloc(1, sizeof *pages, &pages, err));
    /* Where the limits allow, out of the swap space. */
    if (stream->kind == STREAM_SECURE) (void)!mlock(pages, sizeof *pages);
    pages->magic = LIVE;
    stream->pages = pages;
    return CLO_OK;
}

static void give_pages(clo_stream *stream)
{
    stream_pages *const pages = stream->pages;
    clo_i_wipe(pages, sizeof *pages);
    if (stream->kind != STREAM_SECURE) {
        clo_i_free(pages);
    } else if (stream->store && is_in_store(stream->store, pages)) {
        (void)!munlock(pages, sizeof *pages);
        give_place(stream->store, pages);
    } else {
        munmap(pages, sizeof *pages); /* which also unlocks them */
    }
}

static clo_status new_stream(stream_kind kind, struct stream_store *store, clo_stream **out,
                             clo_error *err)
{
    clo_stream *made = NULL;
    CLO_TRY(clo_i_alloc(1, sizeof *made, &made, err));
    made->kind = kind;
    made->store = store;
    const clo_status status = take_pages(made, err);
    if (status) {
        clo_i_free(made);
        return status;
    }
    *out = made;
    return CLO_OK;
}

/* BLAKE2b keyed by the seed: the streams of different (ask, index) are as good as independent, and
 * each can be opened without those before it. */
static void derive_key(const uint8_t seed[32], uint64_t ask, uint64_t index, uint8_t key[32])
{
    const uint64_t name[2] = { htole64(ask), htole64(index) };
    crypto_generichash(key, 32, (const uint8_t *)name, sizeof name, seed, 32);
}

clo_status clo_i_stream_open(const clo_rng *rng, uint64_t ask, uint64_t index, clo_stream **out,
                             clo_error *err)
{
    clo_stream *made = NULL;
    CLO_TRY(new_stream(rng->secure ? STREAM_SECURE : STREAM_SEEDED, rng->store, &made, err));
    if (!rng->secure) {
        derive_key(rng->seed, ask, index, made->pages->key);
    } else if (!draw_key(rng->store, CLO_KEY_STREAM, made->pages->key, sizeof made->pages->key)) {
        clo_i_stream_close(made);
        return no_entropy(err);
    }
    made->pages->fresh = true;
    *out = made;
    return CLO_OK;
}

clo_status clo_i_rng_key(const clo_rng *rng, clo_key_use use, uint8_t *key, size_t bytes,
                         clo_error *err)
{
    const bool drawn =
        rng->secure ? draw_key(rng->store, use, key, bytes) : clo_i_key_draw(use, key, bytes);
    return drawn ? CLO_OK : no_entropy(err);
}

clo_status clo_i_stream_open_bytes(const uint8_t *bytes, size_t count, clo_stream **out,
                                   clo_error *err)
{
    clo_stream *made = NULL;
    CLO_TRY(new_stream(STREAM_BYTES, NULL, &made, err));
    made->bytes = bytes;
    made->byte_count = count;
    *out = made;
    return CLO_OK;
}

clo_status clo_i_stream_check(const clo_stream *stream, clo_error *err)
{
    if (!stream->failed) return CLO_OK;
    return clo_i_fail(err, CLO_ENTROPY,
                      "a random stream has failed, so that nothing drawn from it can be released");
}

void clo_i_stream_close(clo_stream *stream)
{
    if (!stream) return;
    give_pages(stream);
    clo_i_wipe_free(stream, sizeof *stream);
}

/* ---- words --------------------------------------------------------------- */

void clo_i_stream_fail(clo_stream *stream)
{
    stream->failed = true;
    clo_i_wipe(stream->pages, sizeof *stream->pages); /* unread is 0: each draw ends in refill */
}

static void next_block(stream_pages *pages)
{
    static const uint8_t nonce[crypto_stream_chacha20_NONCEBYTES]; /* a key makes one block only */
    enum { KEY_WORDS = sizeof pages->key / sizeof pages->words[0] };
    crypto_stream_chacha20((uint8_t *)pages->words, sizeof pages->words, nonce, pages->key);
    memcpy(pages->key, pages->words, sizeof pages->key);
    clo_i_wipe(pages->words, sizeof pages->key);
    pages->unread = STREAM_WORDS - KEY_WORDS;
}

static void next_bytes(clo_stream *stream)
{
    stream_pages *const pages = stream->pages;
    const size_t count =
        stream->byte_count < sizeof pages->words ? stream->byte_count : sizeof pages->words;
    const size_t words = (count + 7) / 8; /* a last word that is not whole ends in zeros */
    uint64_t *const first = pages->words + STREAM_WORDS - words;
    memset(first, 0, words * 8);
    memcpy(first, stream->bytes, count);
    stream->bytes += count;
    stream->byte_count -= count;
    pages->unread = words;
}

bool clo_i_stream_refill(clo_stream *stream)
{
    stream_pages *const pages = stream->pages;
    if (stream->failed) return false;
    if (stream->kind == STREAM_BYTES) {
        if (stream->byte_count > 0)
            next_bytes(stream);
        else
            clo_i_stream_fail(stream);
        return !stream->failed;
    }
    if (pages->magic != LIVE) { /* this is a child, and the parent keeps the old key */
        if (!clo_i_key_draw(CLO_KEY_STREAM, pages->key, sizeof pages->key)) {
            clo_i_stream_fail(stream);
            return false;
        }
        pages->magic = LIVE;
        pages->fresh = true;
    }
    if (stream->kind == STREAM_SECURE && pages->fresh)
        clo_i_key_take(CLO_KEY_STREAM, pages->key, sizeof pages->key);
    pages->fresh = false;
    next_block(pages);
    return true;
}

uint64_t clo_i_random_u64(clo_stream *stream)
{
    return next_word(stream);
}

bool clo_i_random_bit(clo_stream *stream)
{
    stream_pages *const pages = stream->pages;
    if (pages->bit_count == 0) {
        const uint64_t word = next_word(stream);
        if (stream->failed) return false;
        pages->bits = word;
        pages->bit_count = 64;
    }
    const bool bit = pages->bits & 1;
    pages->bits >>= 1;
    pages->bit_count--;
    return bit;
}

/* The high word of word * bound is uniform once the few words are thrown away whose low word is
 * below 2^64 mod bound: then each value has exactly floor(2^64 / bound) words (Lemire 2019). */
uint64_t clo_i_random_below(clo_stream *stream, uint64_t bound)
{
    if (bound <= 1) return 0;
    clo_u128 product = (clo_u128)next_word(stream) * bound;
    if ((uint64_t)product < bound) {
        const uint64_t unfair = (0 - bound) % bound;
        while ((uint64_t)product < unfair && !stream->failed)
            product = (clo_u128)next_word(stream) * bound;
    }
    return (uint64_t)(product >> 64);
}
