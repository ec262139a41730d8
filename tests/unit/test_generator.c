/*
 * test_generator.c - the streams say what their construction says they do: known answers from a
 * second implementation (BLAKE2b of Python's hashlib and a ChaCha20 written from its
 * specification), the construction again with libsodium's own calls, forks, erasure, failure.
 */
#include "check.h"
#include "base/key.h"
#include "random/stream.h"
#include <pthread.h>
#include <sodium.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BLOCK_WORDS = 508 }; /* what a block gives after its new key */

static clo_rng *seeded(const char *text)
{
    uint8_t seed[32];
    clo_error err = { 0 };
    clo_rng *rng = NULL;
    clo_seed_from_text(text, seed);
    assert_ok(clo_rng_new_seeded(seed, &rng, &err), err);
    return rng;
}

static clo_rng *secure(void)
{
    clo_error err = { 0 };
    clo_rng *rng = NULL;
    assert_ok(clo_rng_new(&rng, &err), err);
    return rng;
}

static clo_stream *open_stream(const clo_rng *rng, uint64_t ask, uint64_t index)
{
    clo_error err = { 0 };
    clo_stream *stream = NULL;
    assert_ok(clo_i_stream_open(rng, ask, index, &stream, &err), err);
    return stream;
}

static clo_stream *play(const void *bytes, size_t count)
{
    clo_error err = { 0 };
    clo_stream *stream = NULL;
    assert_ok(clo_i_stream_open_bytes(bytes, count, &stream, &err), err);
    return stream;
}

static void discard(clo_stream *stream, size_t words)
{
    for (size_t i = 0; i < words; i++) clo_i_random_u64(stream);
}

/* ---- known answers ------------------------------------------------------- */

static void a_seed_is_the_hash_of_its_text(void **state)
{
    static const uint8_t expected[32] = { 0x2f, 0x00, 0x39, 0xe9, 0x3a, 0x27, 0x22, 0x1f,
                                          0xcf, 0x65, 0x7f, 0xb8, 0x77, 0xa1, 0xd4, 0xf6,
                                          0x03, 0x07, 0x10, 0x61, 0x13, 0xe8, 0x85, 0x09,
                                          0x6c, 0xb4, 0x4a, 0x46, 0x1c, 0xd0, 0xaf, 0xbf };
    uint8_t seed[32];
    clo_seed_from_text("42", seed);
    assert_memory_equal(seed, expected, sizeof seed);
}

static void seeded_streams_give_the_known_words(void **state)
{
    static const struct {
        uint64_t ask, index, first[3], last, next[2];
    } known[] = {
        { 0,
          0,
          { 0x824ed6cde6f641ba, 0xaad26a0ad2d52ca0, 0xfd3301f2150cdaf2 },
          0xf42253fb6ea95403,
          { 0xbcb66b224970496e, 0x9bb115c74fe6cc9c } },
        { 1,
          0,
          { 0x7e510f02956b5da5, 0x902379afb3916084, 0x7cd1f06b18fed704 },
          0x8588d3122125e04a,
          { 0x0d694d98929925c3, 0x9677518a2f39549c } },
        { 0,
          1,
          { 0x785746877b4ce055, 0xb7c230f55b49519c, 0x88b174c877ca0d14 },
          0x1c204380399779ad,
          { 0x536484922a48f442, 0xe9a3b6cd122206d1 } },
        { 5,
          UINT64_C(1) << 63,
          { 0x81a413cc56a263e0, 0x0bb4c8d5b226828f, 0x1273417604b5cb62 },
          0xa13012677af7d849,
          { 0x731712bc1ac2a4ac, 0xa63bcee37f02ab03 } },
    };
    clo_rng *const rng = seeded("42");
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        clo_stream *const stream = open_stream(rng, known[i].ask, known[i].index);
        for (int j = 0; j < 3; j++) assert_true(clo_i_random_u64(stream) == known[i].first[j]);
        discard(stream, BLOCK_WORDS - 4);
        assert_true(clo_i_random_u64(stream) == known[i].last);
        for (int j = 0; j < 2; j++) assert_true(clo_i_random_u64(stream) == known[i].next[j]);
        clo_i_stream_close(stream);
    }
    clo_rng_free(rng);
}

static void a_seeded_stream_is_chacha20_under_a_key_that_each_block_replaces(void **state)
{
    const uint64_t name[2] = { htole64(3), htole64(4) };
    const uint8_t nonce[crypto_stream_chacha20_NONCEBYTES] = { 0 };
    uint8_t seed[32], key[32], block[4096];
    clo_rng *const rng = seeded("another");
    clo_stream *const stream = open_stream(rng, 3, 4);
    clo_seed_from_text("another", seed);
    crypto_generichash(key, sizeof key, (const uint8_t *)name, sizeof name, seed, sizeof seed);
    for (int i = 0; i < 3; i++) {
        crypto_stream_chacha20(block, sizeof block, nonce, key);
        memcpy(key, block, sizeof key);
        for (size_t j = 32; j < sizeof block; j += 8) {
            uint64_t word;
            memcpy(&word, block + j, 8);
            assert_true(clo_i_random_u64(stream) == le64toh(word));
        }
    }
    clo_i_stream_close(stream);
    clo_rng_free(rng);
}

/* ---- streams ------------------------------------------------------------- */

static void a_stream_does_not_depend_on_when_it_is_opened(void **state)
{
    clo_rng *const rng = seeded("order");
    clo_stream *const a = open_stream(rng, 9, 1), *const b = open_stream(rng, 9, 2);
    discard(a, 1000);
    clo_stream *const b_later = open_stream(rng, 9, 2), *const a_later = open_stream(rng, 9, 1);
    discard(a_later, 1000);
    for (int i = 0; i < 600; i++) {
        assert_true(clo_i_random_u64(b) == clo_i_random_u64(b_later));
        assert_true(clo_i_random_u64(a) == clo_i_random_u64(a_later));
    }
    clo_stream *const streams[] = { a, b, a_later, b_later };
    for (int i = 0; i < 4; i++) clo_i_stream_close(streams[i]);
    clo_rng_free(rng);
}

static void seeds_asks_and_indexes_name_different_streams(void **state)
{
    clo_rng *const one = seeded("1"), *const two = seeded("2");
    clo_stream *const streams[] = {
        open_stream(one, 0, 0), open_stream(one, 0, 1), open_stream(one, 1, 0),
        open_stream(two, 0, 0), open_stream(one, 1, 1), open_stream(one, UINT64_MAX, 0),
    };
    enum { STREAMS = sizeof streams / sizeof streams[0] };
    uint64_t first[STREAMS];
    for (int i = 0; i < STREAMS; i++) {
        first[i] = clo_i_random_u64(streams[i]);
        for (int j = 0; j < i; j++) assert_true(first[i] != first[j]);
    }
    for (int i = 0; i < STREAMS; i++) clo_i_stream_close(streams[i]);
    clo_rng_free(one);
    clo_rng_free(two);
}

static void secure_streams_never_repeat(void **state)
{
    clo_rng *const rng = secure(), *const other = secure();
    assert_true(clo_rng_is_secure(rng));
    clo_stream *const a = open_stream(rng, 0, 0), *const b = open_stream(rng, 0, 0),
                      *const c = open_stream(other, 0, 0);
    const uint64_t x = clo_i_random_u64(a), y = clo_i_random_u64(b), z = clo_i_random_u64(c);
    assert_true(x != y && y != z && x != z);
    clo_i_stream_close(a);
    clo_i_stream_close(b);
    clo_i_stream_close(c);
    clo_rng_free(rng);
    clo_rng_free(other);
}

static void a_seeded_generator_says_that_it_is_not_secure(void **state)
{
    clo_error err = { 0 };
    clo_rng *rng = seeded("x");
    assert_false(clo_rng_is_secure(rng));
    clo_rng_free(rng);
    rng = NULL;
    assert_fails(clo_rng_new_seeded(NULL, &rng, &err), CLO_ARGUMENT, err, "seed");
    assert_null(rng);
    clo_rng_free(NULL);
    clo_i_stream_close(NULL);
}

enum { THREADS = 4, ASKS = 5000 };
typedef struct asker {
    clo_rng *rng;
    uint64_t asks[ASKS];
    uint64_t word;
} asker;

static void *ask_often(void *argument)
{
    asker *const me = argument;
    clo_stream *stream = NULL;
    for (int i = 0; i < ASKS; i++) me->asks[i] = clo_i_rng_next_ask(me->rng);
    if (clo_i_stream_open(me->rng, 77, 0, &stream, NULL) == CLO_OK)
        me->word = clo_i_random_u64(stream);
    clo_i_stream_close(stream);
    return NULL;
}

static void asks_are_never_given_twice_whatever_the_threads(void **state)
{
    static asker askers[THREADS];
    static uint8_t seen[THREADS * ASKS];
    pthread_t threads[THREADS];
    clo_rng *const rng = seeded("threads");
    for (int i = 0; i < THREADS; i++) {
        askers[i].rng = rng;
        assert_int_equal(pthread_create(&threads[i], NULL, ask_often, &askers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++) {
        assert_true(askers[i].word == askers[0].word);
        for (int j = 0; j < ASKS; j++) {
            assert_true(askers[i].asks[j] < THREADS * ASKS);
            assert_int_equal(seen[askers[i].asks[j]]++, 0);
        }
    }
    clo_rng_free(rng);
}

/* ---- erasure ------------------------------------------------------------- */

static void what_was_handed_out_is_gone_from_memory(void **state)
{
    clo_rng *const rng = secure();
    clo_stream *const stream = open_stream(rng, 0, 0);
    uint8_t opening_key[32];
    memcpy(opening_key, stream->pages->key, sizeof opening_key);
    discard(stream, 100);
    assert_memory_not_equal(opening_key, stream->pages->key, sizeof opening_key);
    for (int i = 0; i < STREAM_WORDS - BLOCK_WORDS + 100; i++)
        assert_true(stream->pages->words[i] == 0);
    assert_true(stream->pages->words[STREAM_WORDS - 1] != 0);
    clo_i_stream_close(stream);
    clo_rng_free(rng);
}

static bool is_wiped(const void *bytes, size_t count)
{
    const volatile uint8_t *const at = bytes;
    for (size_t i = 0; i < count; i++)
        if (at[i]) return false;
    return true;
}

/* Places of the generator are given to the next stream, and stay mapped meanwhile. */
static void the_pages_of_a_stream_are_wiped_when_they_are_given_back(void **state)
{
    clo_rng *const rng = secure();
    clo_stream *const stays = open_stream(rng, 0, 0);
    (void)state;
    for (size_t drawn = 0; drawn < 1200; drawn += 300) {
        clo_stream *const stream = open_stream(rng, 0, 0);
        const stream_pages *const pages = stream->pages;
        const uint8_t *const from = (const uint8_t *)stays->pages;
        const ptrdiff_t apart = (const uint8_t *)pages - from;
        discard(stream, drawn);
        (void)clo_i_random_bit(stream);
        assert_true(llabs((long long)apart) < 1 << 21); /* in the store, which is not unmapped */
        assert_false(is_wiped(pages->key, sizeof pages->key));
        clo_i_stream_close(stream);
        assert_true(is_wiped(pages, sizeof *pages));
    }
    clo_i_stream_close(stays);
    clo_rng_free(rng);
}

/* ---- forks --------------------------------------------------------------- */

enum { HEARD = 600 }; /* the rest of a block and some of the next */

/* What a child draws from the stream; its clo_i_stream_check as the exit status. */
static int listen_to_child(clo_stream *stream, uint64_t heard[HEARD])
{
    int ends[2], status = 0;
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        uint64_t words[HEARD];
        for (int i = 0; i < HEARD; i++) words[i] = clo_i_random_u64(stream);
        const ssize_t wrote = write(ends[1], words, sizeof words);
        _exit(wrote == sizeof words ? (int)clo_i_stream_check(stream, NULL) : 99);
    }
    close(ends[1]);
    size_t got = 0;
    for (ssize_t n; (n = read(ends[0], (char *)heard + got, HEARD * 8 - got)) > 0;)
        got += (size_t)n;
    close(ends[0]);
    assert_int_equal(got, HEARD * 8);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void after_a_fork_parent_and_children_say_different_things(void **state)
{
    clo_rng *const rng = secure();
    clo_stream *const stream = open_stream(rng, 0, 0);
    uint64_t first[HEARD], second[HEARD];
    discard(stream, 100);
    clo_i_random_bit(stream); /* leaves bits in stock, which must not be shared either */
    assert_int_equal(listen_to_child(stream, first), CLO_OK);
    assert_int_equal(listen_to_child(stream, second), CLO_OK);
    for (int i = 0; i < HEARD; i++) {
        const uint64_t own = clo_i_random_u64(stream);
        assert_true(own != first[i] && own != second[i] && first[i] != second[i]);
    }
    clo_i_stream_close(stream);
    clo_rng_free(rng);
}

/* The keys of streams come from the generator, which the child has a copy of. */
static void after_a_fork_streams_that_are_opened_say_different_things(void **state)
{
    clo_rng *const rng = secure();
    uint64_t own = 0, heard = 0;
    int ends[2], status = 0;
    clo_i_stream_close(open_stream(rng, 0, 0)); /* its keys have begun */
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    clo_stream *const stream = open_stream(rng, 0, 0);
    own = clo_i_random_u64(stream);
    if (child == 0) _exit(write(ends[1], &own, sizeof own) == sizeof own ? 0 : 99);
    assert_int_equal(read(ends[0], &heard, sizeof heard), sizeof heard);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(own != heard);
    close(ends[0]);
    close(ends[1]);
    clo_i_stream_close(stream);
    clo_rng_free(rng);
}

enum { MANY = 300 }; /* more than the generator has places for */

static void many_streams_at_once_have_pages_and_keys_of_their_own(void **state)
{
    clo_rng *const rng = secure();
    clo_stream *streams[MANY];
    uint64_t first[MANY];
    for (int round = 0; round < 2; round++) { /* the second time in places that were given back */
        for (int i = 0; i < MANY; i++) streams[i] = open_stream(rng, 0, 0);
        for (int i = 0; i < MANY; i++) {
            first[i] = clo_i_random_u64(streams[i]);
            for (int j = 0; j < i; j++) {
                assert_true(streams[i]->pages != streams[j]->pages);
                assert_true(first[i] != first[j]);
            }
        }
        for (int i = 0; i < MANY; i++) clo_i_stream_close(streams[i]);
    }
    clo_rng_free(rng);
}

static void keys_of_a_generator_are_gone_once_they_are_handed_out(void **state)
{
    clo_rng *const rng = secure(), *const other = seeded("keys");
    uint8_t one[32] = { 0 }, two[32] = { 0 }, three[20] = { 0 }, four[32] = { 0 };
    clo_error err = { 0 };
    assert_ok(clo_i_rng_key(rng, CLO_KEY_ROW_HASH, one, sizeof one, &err), err);
    assert_ok(clo_i_rng_key(rng, CLO_KEY_ROW_HASH, two, sizeof two, &err), err);
    assert_ok(clo_i_rng_key(rng, CLO_KEY_ROW_HASH, three, sizeof three, &err), err);
    assert_ok(clo_i_rng_key(other, CLO_KEY_ROW_HASH, four, sizeof four, &err),
              err);                 /* not of the seed */
    for (int i = 0; i < 32; i += 8) /* whole, each of them */
        assert_false(sodium_is_zero(one + i, 8) || sodium_is_zero(two + i, 8) ||
                     sodium_is_zero(four + i, 8));
    assert_false(sodium_is_zero(three + 16, 4));
    assert_memory_not_equal(one, two, sizeof one);
    assert_memory_not_equal(one, three, sizeof three);
    assert_memory_not_equal(one, four, sizeof one);
    clo_rng_free(rng);
    clo_rng_free(other);
}

static void a_seeded_stream_goes_on_in_the_child(void **state)
{
    clo_rng *const rng = seeded("fork");
    clo_stream *const stream = open_stream(rng, 0, 0);
    uint64_t heard[HEARD];
    discard(stream, 100);
    assert_int_equal(listen_to_child(stream, heard), CLO_OK);
    for (int i = 0; i < HEARD; i++) assert_true(clo_i_random_u64(stream) == heard[i]);
    clo_i_stream_close(stream);
    clo_rng_free(rng);
}

static void a_failed_stream_is_failed_in_the_child_too(void **state)
{
    clo_rng *const rng = secure();
    clo_stream *const stream = open_stream(rng, 0, 0);
    uint64_t heard[HEARD];
    clo_i_stream_fail(stream);
    assert_int_equal(listen_to_child(stream, heard), CLO_ENTROPY);
    for (int i = 0; i < HEARD; i++) assert_true(heard[i] == 0);
    clo_i_stream_close(stream);
    clo_rng_free(rng);
}

/* ---- failing ------------------------------------------------------------- */

static void given_bytes_are_played_back_and_then_the_stream_has_failed(void **state)
{
    const uint8_t bytes[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 };
    clo_error err = { 0 };
    clo_stream *const stream = play(bytes, sizeof bytes);
    assert_true(clo_i_random_u64(stream) == UINT64_C(0x0807060504030201));
    assert_true(clo_i_random_u64(stream) == 0x0a09);
    assert_ok(clo_i_stream_check(stream, &err), err);
    for (int i = 0; i < 3; i++) {
        assert_true(clo_i_random_u64(stream) == 0);
        assert_false(clo_i_random_bit(stream));
        assert_fails(clo_i_stream_check(stream, &err), CLO_ENTROPY, err, "stream has failed");
    }
    clo_i_stream_close(stream);
}

static void many_bytes_are_played_back_in_order(void **state)
{
    static uint64_t words[3 * STREAM_WORDS + 5];
    enum { WORDS = sizeof words / sizeof words[0] };
    for (uint64_t i = 0; i < WORDS; i++) words[i] = htole64(i * i + 1);
    clo_stream *const stream = play(words, sizeof words);
    for (uint64_t i = 0; i < WORDS; i++) assert_true(clo_i_random_u64(stream) == i * i + 1);
    assert_int_equal(clo_i_stream_check(stream, NULL), CLO_OK);
    assert_true(clo_i_random_u64(stream) == 0);
    assert_int_equal(clo_i_stream_check(stream, NULL), CLO_ENTROPY);
    clo_i_stream_close(stream);
}

#ifdef CLO_FAULT_INJECTION
static void without_entropy_nothing_opens(void **state)
{
    clo_error err = { 0 };
    clo_rng *rng = NULL;
    clo_stream *stream = NULL;
    clo_i_fail_entropy(1);
    assert_fails(clo_rng_new(&rng, &err), CLO_ENTROPY, err, "operating system");
    assert_null(rng);
    clo_i_fail_entropy(2);
    assert_ok(clo_rng_new(&rng, &err), err);
    clo_i_fail_entropy(1); /* a run that has paid asks for nothing more */
    assert_ok(clo_i_stream_open(rng, 0, 0, &stream, &err), err);
    assert_true(clo_i_random_u64(stream) != 0);
    clo_i_stream_close(stream);
    clo_i_fail_entropy(0);
    clo_rng_free(rng);
}

/* A new stream of the generator that the child has a copy of. */
static void a_child_that_opens_a_stream_without_entropy_gets_none(void **state)
{
    clo_rng *const rng = secure();
    clo_stream *stream = NULL;
    int status = 0;
    clo_i_fail_entropy(1);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) _exit((int)clo_i_stream_open(rng, 0, 0, &stream, NULL));
    clo_i_fail_entropy(0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), CLO_ENTROPY);
    clo_rng_free(rng);
}

static void a_child_without_entropy_draws_nothing(void **state)
{
    clo_rng *const rng = secure();
    clo_stream *const stream = open_stream(rng, 0, 0);
    uint64_t heard[HEARD];
    discard(stream, 10);
    clo_i_fail_entropy(1);
    assert_int_equal(listen_to_child(stream, heard), CLO_ENTROPY);
    clo_i_fail_entropy(0);
    for (int i = 0; i < HEARD; i++) assert_true(heard[i] == 0);
    clo_i_stream_close(stream);
    clo_rng_free(rng);
}

static void without_memory_nothing_opens(void **state)
{
    const uint8_t seed[32] = { 1 };
    clo_error err = { 0 };
    clo_rng *rng = NULL;
    clo_stream *stream = NULL;
    clo_i_fail_allocation(1);
    assert_fails(clo_rng_new_seeded(seed, &rng, &err), CLO_MEMORY, err, "out of memory");
    assert_null(rng);
    clo_i_fail_allocation(2);
    assert_ok(clo_rng_new_seeded(seed, &rng, &err), err);
    assert_fails(clo_i_stream_open(rng, 0, 0, &stream, &err), CLO_MEMORY, err, "out of memory");
    clo_i_fail_allocation(2); /* the stream's buffer */
    assert_fails(clo_i_stream_open(rng, 0, 0, &stream, &err), CLO_MEMORY, err, "out of memory");
    assert_null(stream);
    clo_i_fail_allocation(0);
    clo_rng_free(rng);
}
#endif

/* ---- numbers below a bound, bits ----------------------------------------- */

/* 2^64 = 1 mod 3: of all words, only 0 is thrown away, and each value keeps (2^64-1)/3 of them. */
static void below_throws_away_exactly_the_words_that_are_left_over(void **state)
{
    const uint64_t third = UINT64_MAX / 3;
    const uint64_t words[] = { htole64(0),         htole64(1),         htole64(third),
                               htole64(third + 1), htole64(2 * third), htole64(2 * third + 1),
                               htole64(UINT64_MAX) };
    const uint64_t expected[] = { 0, 0, 1, 1, 2, 2 };
    clo_stream *const stream = play(words, sizeof words);
    for (int i = 0; i < 6; i++) assert_true(clo_i_random_below(stream, 3) == expected[i]);
    assert_int_equal(clo_i_stream_check(stream, NULL), CLO_OK);
    clo_i_stream_close(stream);
}

static void below_stays_below(void **state)
{
    const uint64_t bounds[] = { 1,         2, 3, 1000, UINT64_C(1) << 32, (UINT64_C(1) << 63) + 1,
                                UINT64_MAX };
    clo_rng *const rng = seeded("below");
    clo_stream *const stream = open_stream(rng, 0, 0);
    for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++)
        for (int j = 0; j < 2000; j++)
            assert_true(clo_i_random_below(stream, bounds[i]) < bounds[i]);
    clo_i_stream_close(stream);
    clo_rng_free(rng);
}

static void bits_come_from_the_lowest_up(void **state)
{
    const uint64_t words[] = { htole64(UINT64_C(0xf00000000000000d)), htole64(1) };
    const int expected[] = { 1, 0, 1, 1, 0 };
    clo_stream *const stream = play(words, sizeof words);
    for (int i = 0; i < 5; i++) assert_int_equal(clo_i_random_bit(stream), expected[i]);
    for (int i = 5; i < 60; i++) assert_false(clo_i_random_bit(stream));
    for (int i = 60; i < 65; i++) assert_true(clo_i_random_bit(stream));
    for (int i = 65; i < 128; i++) assert_false(clo_i_random_bit(stream));
    assert_int_equal(clo_i_stream_check(stream, NULL), CLO_OK);
    clo_i_stream_close(stream);
}

static void unit_numbers_are_strictly_between_0_and_1(void **state)
{
    const uint64_t words[] = { 0, UINT64_MAX, htole64(UINT64_C(1) << 63) };
    clo_stream *const stream = play(words, sizeof words);
    assert_close(clo_i_random_unit(stream), 0x1p-53, 0);
    assert_close(clo_i_random_unit(stream), 1 - 0x1p-53, 0);
    assert_close(clo_i_random_unit(stream), 0.5 + 0x1p-53, 0);
    clo_i_stream_close(stream);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_seed_is_the_hash_of_its_text),
        cmocka_unit_test(seeded_streams_give_the_known_words),
        cmocka_unit_test(a_seeded_stream_is_chacha20_under_a_key_that_each_block_replaces),
        cmocka_unit_test(a_stream_does_not_depend_on_when_it_is_opened),
        cmocka_unit_test(seeds_asks_and_indexes_name_different_streams),
        cmocka_unit_test(secure_streams_never_repeat),
        cmocka_unit_test(a_seeded_generator_says_that_it_is_not_secure),
        cmocka_unit_test(asks_are_never_given_twice_whatever_the_threads),
        cmocka_unit_test(what_was_handed_out_is_gone_from_memory),
        cmocka_unit_test(the_pages_of_a_stream_are_wiped_when_they_are_given_back),
        cmocka_unit_test(after_a_fork_parent_and_children_say_different_things),
        cmocka_unit_test(after_a_fork_streams_that_are_opened_say_different_things),
        cmocka_unit_test(many_streams_at_once_have_pages_and_keys_of_their_own),
        cmocka_unit_test(keys_of_a_generator_are_gone_once_they_are_handed_out),
        cmocka_unit_test(a_seeded_stream_goes_on_in_the_child),
        cmocka_unit_test(a_failed_stream_is_failed_in_the_child_too),
        cmocka_unit_test(given_bytes_are_played_back_and_then_the_stream_has_failed),
        cmocka_unit_test(many_bytes_are_played_back_in_order),
#ifdef CLO_FAULT_INJECTION
        cmocka_unit_test(without_entropy_nothing_opens),
        cmocka_unit_test(a_child_that_opens_a_stream_without_entropy_gets_none),
        cmocka_unit_test(a_child_without_entropy_draws_nothing),
        cmocka_unit_test(without_memory_nothing_opens),
#endif
        cmocka_unit_test(below_throws_away_exactly_the_words_that_are_left_over),
        cmocka_unit_test(below_stays_below),
        cmocka_unit_test(bits_come_from_the_lowest_up),
        cmocka_unit_test(unit_numbers_are_strictly_between_0_and_1),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
