/*
 * test_whole_keys.c - what a key is for follows from all of it: each byte of each key is changed in
 * turn, and what comes of it must be something else each time.  That keys are drawn fresh, whole
 * and once is fault_keys; here they are used whole, no two places have the same bits of one, and
 * what is made of a key (a token, a seed, a pair) has all of its bytes.
 *
 * The keys of a ledger's hashes and of its signatures are in unit_whole_hashes.
 */
#include "pipeline.h"
#include "ask/blocks.h"
#include "base/key.h"
#include "bound/bound.h"
#include "data/pass_hash.h"
#include "ledger/ledger_internal.h"
#include "random/random.h"
#include <cloister/worker.h>
#include <dlfcn.h>
#include <sodium.h>
#include <stdlib.h>

enum { ROWS = 4, COLS = 3, PADDED = 1300, LONGEST = 64 };

/* Of some bytes what is made under the key; the same number of bytes each time. */
typedef void make_it(const uint8_t *key, uint8_t out[LONGEST]);

static clo_bounded *some_rows(void)
{
    static const double values[ROWS * COLS] = { 0.1, 0.2, 0.3, 0.4, -0.1, -0.2, -0.3, -0.4 };
    const clo_domain domain = ball(COLS, 1, CLO_REPLACE);
    return bounded_from(values, ROWS, &domain);
}

static void hash_rows(const uint8_t *key, uint8_t out[LONGEST])
{
    uint64_t row_hash[CLO_ROW_HASH_NUMBERS];
    clo_bounded *const data = some_rows();
    clo_error err;
    assert_ok(clo_i_hash_rows(data, key, 1, row_hash, &err), err);
    memcpy(out, &row_hash[1], sizeof row_hash[1]);
    clo_bounded_free(data);
}

static void hash_groups(const uint8_t *key, uint8_t out[LONGEST])
{
    static const uint32_t block_of[ROWS] = { 0, 0, 0, 0 };
    const clo_dealing how = { .count = 1, .groups = 1, .row_hash_key = key };
    clo_bounded *const data = some_rows();
    clo_row_hash row_hash = { { 0 } };
    clo_error err;
    assert_ok(clo_i_hash_groups(data, &how, block_of, 1, &row_hash, &err), err);
    memcpy(out, &row_hash.numbers[1], sizeof row_hash.numbers[1]);
    clo_bounded_free(data);
}

/* Of data/formats.h, which has a name in common with ask/query.h. */
void clo_i_unit_hash(const uint8_t key[CLO_UNIT_KEY_BYTES], const void *bytes, size_t count,
                     uint8_t out[CLO_PERSON_BYTES]);

static void hash_person(const uint8_t *key, uint8_t out[LONGEST])
{
    clo_i_key_told(key, CLO_UNIT_KEY_BYTES); /* it is the test's own */
    clo_i_unit_hash(key, "alice", 5, out);
}

static void open_stream(const uint8_t *seed, uint8_t out[LONGEST])
{
    clo_stream *stream = NULL;
    clo_rng *rng = NULL;
    clo_error err;
    assert_ok(clo_rng_new_seeded(seed, &rng, &err), err);
    assert_ok(clo_i_stream_open(rng, 3, 5, &stream, &err), err);
    const uint64_t word = clo_i_random_u64(stream);
    memcpy(out, &word, sizeof word);
    clo_i_stream_close(stream);
    clo_rng_free(rng);
}

/* Two files, the first of a block and a half. */
static void pass_hash_of(const uint8_t *key, uint8_t out[LONGEST])
{
    static uint8_t bytes[CLO_PASS_HASH_BLOCK * 3 / 2];
    clo_i_pass_hash_key own;
    clo_i_pass_hash pass_hash;
    memcpy(&own, key, sizeof own);
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)(i * 7 + 1);
    clo_i_pass_hash_begin(&pass_hash, &own);
    clo_i_pass_hash_add(&pass_hash, bytes, sizeof bytes);
    clo_i_pass_hash_end_file(&pass_hash);
    clo_i_pass_hash_add(&pass_hash, bytes, 100);
    clo_i_pass_hash_end_file(&pass_hash);
    clo_i_pass_hash_end(&pass_hash, out);
}

static void every_byte_of_a_key_counts(void **state)
{
    static const struct {
        const char *name;
        make_it *make;
        size_t bytes, last; /* last: of Poly1305, of whose 32 bytes 22 bits are put to 0 */
    } all[] = { { "hashes of rows", hash_rows, CLO_ROW_HASH_KEY_BYTES, 0 },
                { "hashes of groups", hash_groups, CLO_ROW_HASH_KEY_BYTES, 0 },
                { "persons", hash_person, CLO_UNIT_KEY_BYTES, 0 },
                { "streams of a seed", open_stream, 32, 0 },
                { "pass_hashs of files", pass_hash_of, sizeof(clo_i_pass_hash_key), 32 } };
    static uint8_t key[sizeof(clo_i_pass_hash_key)];
    (void)state;
    for (size_t i = 0; i < sizeof key; i++) key[i] = (uint8_t)(i * 37 + i / 256 + 11);
    for (size_t a = 0; a < sizeof all / sizeof *all; a++) {
        uint8_t expected[LONGEST] = { 0 }, now[LONGEST] = { 0 };
        all[a].make(key, expected);
        for (size_t b = 0; b < all[a].bytes; b++) {
            /* The bits that Poly1305 keeps of every byte. */
            const uint8_t bit = b + all[a].last < all[a].bytes ? 1 : 4;
            key[b] ^= bit;
            all[a].make(key, now);
            key[b] ^= bit;
            if (memcmp(now, expected, LONGEST) == 0)
                fail_msg("of %s: byte %zu of the key is not used", all[a].name, b);
        }
    }
}

/* pad.T1: no number is in the open, no two have one pad, and each follows from every byte. */
static void every_number_has_a_pad_of_its_own(void **state)
{
    static int64_t numbers[PADDED], others[PADDED];
    uint8_t key[CLO_PAD_BYTES] = { 1, 2, 3 };
    (void)state;
    for (size_t count = 1; count <= PADDED; count = count < 4 ? count + 1 : count * 2 + 85) {
        memset(numbers, 0, sizeof numbers);
        key[0] = (uint8_t)count; /* a key is for one vector */
        clo_pad_add(key, numbers, count);
        for (size_t i = 0; i < count; i++) {
            if (numbers[i] == 0) fail_msg("number %zu of %zu has no pad", i + 1, count);
            for (size_t j = 0; j < i; j++)
                if (numbers[i] == numbers[j])
                    fail_msg("numbers %zu and %zu of %zu have one pad", j + 1, i + 1, count);
        }
    }
    key[1] = 99;
    for (size_t b = 0; b < CLO_PAD_BYTES; b++) {
        memset(numbers, 0, sizeof numbers);
        memset(others, 0, sizeof others);
        clo_pad_add(key, numbers, PADDED);
        key[b] ^= 1;
        clo_pad_add(key, others, PADDED);
        key[b] ^= 1;
        for (size_t i = 0; i < PADDED; i++)
            if (numbers[i] == others[i])
                fail_msg("byte %zu of the key is not used for number %zu", b, i + 1);
    }
}

/* Streams of one seed: neighbours in either number, and those that differ in one bit of it. */
static void every_bit_of_an_ask_and_an_index_names_a_stream(void **state)
{
    static const uint8_t seed[32] = { 9 };
    uint64_t first[2 * 64 + 1];
    clo_rng *rng = NULL;
    clo_error err;
    (void)state;
    assert_ok(clo_rng_new_seeded(seed, &rng, &err), err);
    for (int i = 0; i <= 2 * 64; i++) {
        clo_stream *stream = NULL;
        const uint64_t bit = i < 2 * 64 ? (uint64_t)1 << i % 64 : 0;
        assert_ok(clo_i_stream_open(rng, i < 64 ? bit : 0, i < 64 ? 0 : bit, &stream, &err), err);
        first[i] = clo_i_random_u64(stream);
        clo_i_stream_close(stream);
        for (int j = 0; j < i; j++)
            if (first[i] == first[j]) fail_msg("bit %d names the stream that bit %d does", i, j);
    }
    clo_rng_free(rng);
}

/* A key of a run comes from the operating system also where the noise is from a seed. */
static void keys_of_a_seeded_run_do_not_follow_from_its_seed(void **state)
{
    static const uint8_t seed[32] = { 9 };
    uint8_t keys[4][32];
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        clo_rng *rng = NULL;
        clo_error err;
        assert_ok(clo_rng_new_seeded(seed, &rng, &err), err);
        assert_ok(clo_i_rng_key(rng, CLO_KEY_ROW_HASH, keys[i], sizeof keys[i], &err), err);
        clo_rng_free(rng);
        for (size_t j = 0; j < i; j++) assert_memory_not_equal(keys[i], keys[j], sizeof keys[i]);
        for (size_t b = 0; b + 8 <= sizeof seed; b += 8) /* nor does a part of it */
            assert_memory_not_equal(keys[i] + b, seed + b, 8);
    }
}

/* ---- what is drawn -------------------------------------------------------------------------- */

enum { DRAWS = 48, DRAWN = 64 };

/* Of many draws no byte is always the same, and no two are always one: each is its own. */
static void each_byte_is_drawn(uint8_t draws[DRAWS][DRAWN], size_t bytes, const char *what)
{
    for (size_t b = 0; b < bytes; b++) {
        size_t others = 0;
        for (size_t i = 1; i < DRAWS; i++) others += draws[i][b] != draws[0][b];
        if (others == 0) fail_msg("of %s: byte %zu is always the same", what, b);
        for (size_t c = 0; c < b; c++) {
            size_t apart = 0;
            for (size_t i = 0; i < DRAWS; i++) apart += draws[i][b] != draws[i][c];
            if (apart == 0) fail_msg("of %s: bytes %zu and %zu are one", what, c, b);
        }
    }
}

/* What libsodium was last given to make a pair of: instead of its own function of this name. */
static uint8_t last_seed[crypto_box_SEEDBYTES];

int crypto_box_seed_keypair(unsigned char *public_key, unsigned char *secret,
                            const unsigned char *seed)
{
    int (*make)(unsigned char *, unsigned char *, const unsigned char *);
    void *const found = dlsym(RTLD_NEXT, "crypto_box_seed_keypair");
    memcpy(&make, &found, sizeof make);
    memcpy(last_seed, seed, sizeof last_seed);
    return make(public_key, secret, seed);
}

static void every_byte_of_a_token_is_drawn(void **state)
{
    static uint8_t draws[DRAWS][DRAWN];
    (void)state;
    for (size_t i = 0; i < DRAWS; i++) {
        char token[LEDGER_TEXT + 1];
        clo_error err;
        assert_ok(clo_i_token_random(token, &err), err);
        assert_int_equal(strlen(token), 32);
        for (size_t b = 0; b < 16; b++) {
            const char digits[3] = { token[2 * b], token[2 * b + 1], 0 };
            draws[i][b] = (uint8_t)strtoul(digits, NULL, 16);
        }
    }
    each_byte_is_drawn(draws, 16, "a token");
}

/* Of each block, the last one, too. */
static void every_byte_of_a_blocks_seed_is_drawn(void **state)
{
    enum { BLOCKS = 5 };
    static uint8_t draws[BLOCKS][DRAWS][DRAWN];
    clo_rng *rng = NULL;
    clo_error err;
    (void)state;
    assert_ok(clo_rng_new(&rng, &err), err);
    for (size_t i = 0; i < DRAWS; i++) {
        uint8_t seeds[BLOCKS * CLO_BLOCK_SEED] = { 0 };
        clo_context context = { .rng = rng };
        assert_ok(clo_i_draw_seeds(&context, BLOCKS, seeds, &err), err);
        for (size_t b = 0; b < BLOCKS; b++)
            memcpy(draws[b][i], seeds + b * CLO_BLOCK_SEED, CLO_BLOCK_SEED);
    }
    for (size_t b = 0; b < BLOCKS; b++)
        each_byte_is_drawn(draws[b], CLO_BLOCK_SEED, b + 1 < BLOCKS ? "a seed" : "the last seed");
    clo_rng_free(rng);
}

/* The ledger's key goes along under a pair of keys that is made for this parcel alone, and that
 * does not follow from what is in the open: the receiver's code. */
static void every_parcel_has_a_pair_of_keys_of_its_own(void **state)
{
    static uint8_t draws[DRAWS][DRAWN], seeds[DRAWS][DRAWN];
    const uint8_t seed[crypto_box_SEEDBYTES] = { 5 };
    uint8_t receiver[LEDGER_RECEIVER], secret[crypto_box_SECRETKEYBYTES], again[LEDGER_RECEIVER];
    clo_i_key key = { .known = true };
    clo_i_sealed_key sealed;
    clo_error err;
    (void)state;
    crypto_box_seed_keypair(receiver, secret, seed);
    for (size_t i = 0; i < DRAWS; i++) {
        assert_ok(clo_i_code_seal(&key, receiver, &sealed, &err), err);
        memcpy(draws[i], sealed.once, sizeof sealed.once);
        memcpy(seeds[i], last_seed, sizeof last_seed);
        crypto_box_seed_keypair(again, secret, receiver);
        assert_memory_not_equal(again, sealed.once, sizeof again);
    }
    each_byte_is_drawn(draws, sizeof sealed.once - 1, "a pair"); /* of the last a bit is 0 */
    each_byte_is_drawn(seeds, sizeof last_seed, "a pair's seed");
}

/* So does the pair of a code, whose secret half is kept until the ledger has come. */
static void every_byte_of_a_codes_seed_is_drawn(void **state)
{
    static uint8_t seeds[DRAWS][DRAWN];
    char folder[] = "/tmp/clo-codes-XXXXXX", command[64], code[CLO_MOVE_CODE + 1];
    clo_error err;
    (void)state;
    assert_non_null(mkdtemp(folder));
    assert_int_equal(setenv("XDG_CONFIG_HOME", folder, 1), 0);
    for (size_t i = 0; i < DRAWS; i++) {
        assert_ok(clo_ledger_move_code(code, &err), err);
        memcpy(seeds[i], last_seed, sizeof last_seed);
    }
    each_byte_is_drawn(seeds, sizeof last_seed, "a code's seed");
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_byte_of_a_key_counts),
        cmocka_unit_test(every_number_has_a_pad_of_its_own),
        cmocka_unit_test(every_bit_of_an_ask_and_an_index_names_a_stream),
        cmocka_unit_test(keys_of_a_seeded_run_do_not_follow_from_its_seed),
        cmocka_unit_test(every_byte_of_a_token_is_drawn),
        cmocka_unit_test(every_byte_of_a_blocks_seed_is_drawn),
        cmocka_unit_test(every_parcel_has_a_pair_of_keys_of_its_own),
        cmocka_unit_test(every_byte_of_a_codes_seed_is_drawn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
