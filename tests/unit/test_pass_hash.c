/*
 * test_pass_hash.c - the hash by which a pass over files is known again (flow.T2): the same bytes
 * have the same one, however they come, and whatever differs shows.
 */
#include "check.h"
#include "data/pass_hash.h"
#include <string.h>

enum { BLOCK = CLO_PASS_HASH_BLOCK, BYTES = 3 * BLOCK + 200, LISTED = 4 };
static uint8_t bytes[BYTES];
static clo_i_pass_hash_key key;

typedef struct tag {
    uint8_t bytes[CLO_PASS_HASH_BYTES];
} tag;

typedef struct file {
    const void *bytes;
    size_t count;
} file;

static tag of_files(const file *files, size_t count)
{
    clo_i_pass_hash pass_hash;
    tag out;
    clo_i_pass_hash_begin(&pass_hash, &key);
    for (size_t i = 0; i < count; i++) {
        clo_i_pass_hash_add(&pass_hash, files[i].bytes, files[i].count);
        clo_i_pass_hash_end_file(&pass_hash);
    }
    clo_i_pass_hash_end(&pass_hash, out.bytes);
    return out;
}

static tag of(size_t count)
{
    return of_files(&(file){ bytes, count }, 1);
}

static bool same(tag a, tag b)
{
    return memcmp(a.bytes, b.bytes, sizeof a.bytes) == 0;
}

static int draw(void **state)
{
    (void)state;
    if (sodium_init() < 0) return -1;
    for (size_t i = 0; i < BYTES; i++) bytes[i] = (uint8_t)(i * i / 7 + 3 * i);
    assert_int_equal(clo_i_pass_hash_draw_key(&key, NULL), CLO_OK);
    return 0;
}

static void the_same_bytes_have_the_same_one_however_they_come(void **state)
{
    const tag whole = of(BYTES);
    (void)state;
    for (size_t step = 1; step < BYTES; step = step * 3 / 2 + 1) {
        clo_i_pass_hash pass_hash;
        tag found;
        clo_i_pass_hash_begin(&pass_hash, &key);
        for (size_t at = 0; at < BYTES; at += step)
            clo_i_pass_hash_add(&pass_hash, bytes + at, BYTES - at < step ? BYTES - at : step);
        clo_i_pass_hash_end_file(&pass_hash);
        clo_i_pass_hash_end(&pass_hash, found.bytes);
        assert_true(same(whole, found));
    }
}

/* As threads do it. */
static void sums_of_blocks_have_the_same_one_as_their_bytes(void **state)
{
    enum { FIRST = 1000 };
    uint8_t sums[2][CLO_PASS_HASH_SUM];
    clo_i_pass_hash pass_hash;
    tag found;
    (void)state;
    clo_i_pass_hash_begin(&pass_hash, &key);
    assert_int_equal(clo_i_pass_hash_gap(&pass_hash), 0);
    clo_i_pass_hash_add(&pass_hash, bytes, FIRST);
    const size_t gap = clo_i_pass_hash_gap(&pass_hash);
    assert_int_equal(gap, BLOCK - FIRST);
    clo_i_pass_hash_add(&pass_hash, bytes + FIRST, gap);
    assert_int_equal(clo_i_pass_hash_gap(&pass_hash), 0);
    clo_i_pass_hash_sums(&key, bytes + 2 * (size_t)BLOCK, 1, sums[1]);
    clo_i_pass_hash_sums(&key, bytes + BLOCK, 1, sums[0]);
    clo_i_pass_hash_add_sums(&pass_hash, sums, 2);
    clo_i_pass_hash_add(&pass_hash, bytes + 3 * (size_t)BLOCK, BYTES - 3 * (size_t)BLOCK);
    clo_i_pass_hash_end_file(&pass_hash);
    clo_i_pass_hash_end(&pass_hash, found.bytes);
    assert_true(same(of(BYTES), found));
}

static void every_bit_that_flips_shows(void **state)
{
    const tag before = of(BYTES);
    (void)state;
    for (size_t i = 0; i < BYTES; i++)
        for (int bit = 0; bit < 8; bit += i % 61 ? 7 : 1) { /* the ends of most, all of some */
            bytes[i] ^= (uint8_t)(1 << bit);
            assert_false(same(before, of(BYTES)));
            bytes[i] ^= (uint8_t)(1 << bit);
        }
    assert_true(same(before, of(BYTES)));
}

static void swap(size_t a, size_t b, size_t count)
{
    uint8_t held[BLOCK];
    memcpy(held, bytes + a, count);
    memcpy(bytes + a, bytes + b, count);
    memcpy(bytes + b, held, count);
}

static void rows_that_change_places_show(void **state)
{
    static const struct {
        size_t a, b, count;
    } swaps[] = { { 0, 8, 8 }, /* the two words of a product */
                  { 0, 16, 16 },
                  { 16, 32, 8 },
                  { 128, 256, 128 },
                  { 0, BLOCK, BLOCK },
                  { BLOCK, 2 * BLOCK, 16 },
                  { 100, 3 * BLOCK + 100, 64 } };
    const tag before = of(BYTES);
    (void)state;
    for (size_t s = 0; s < sizeof swaps / sizeof *swaps; s++) {
        swap(swaps[s].a, swaps[s].b, swaps[s].count);
        assert_false(same(before, of(BYTES)));
        swap(swaps[s].a, swaps[s].b, swaps[s].count);
    }
    assert_true(same(before, of(BYTES)));
}

/* Also where what came or went is zeros, as the last block is filled up with. */
static void what_comes_or_goes_at_the_end_shows(void **state)
{
    static const size_t counts[] = { 0,     1,         7,         8,         16,        BLOCK - 1,
                                     BLOCK, BLOCK + 1, 2 * BLOCK, 3 * BLOCK, BYTES - 1, BYTES };
    enum { COUNTS = sizeof counts / sizeof *counts };
    static uint8_t zeros[BYTES];
    (void)state;
    for (size_t i = 0; i < COUNTS; i++)
        for (size_t j = 0; j < i; j++) {
            assert_false(same(of(counts[i]), of(counts[j])));
            assert_false(same(of_files(&(file){ zeros, counts[i] }, 1),
                              of_files(&(file){ zeros, counts[j] }, 1)));
        }
}

/* However many bytes are in the last block: one, or all but one. */
static void the_last_byte_of_a_file_of_any_length_shows(void **state)
{
    (void)state;
    for (size_t count = 1; count <= 2 * BLOCK + 1; count++) {
        const tag before = of(count);
        bytes[count - 1] ^= 1;
        if (same(of(count), before)) fail_msg("the last of %zu bytes does not show", count);
        bytes[count - 1] ^= 1;
    }
}

static void where_a_file_ends_shows(void **state)
{
    const file whole[] = { { bytes, 2 * BLOCK }, { bytes, 0 } };
    const file after[] = { { bytes, 0 }, { bytes, 2 * BLOCK } };
    const file halves[] = { { bytes, BLOCK }, { bytes + BLOCK, BLOCK } };
    const file others[] = { { bytes, BLOCK + 8 }, { bytes + BLOCK + 8, BLOCK - 8 } };
    const file *const lists[LISTED] = { whole, after, halves, others };
    (void)state;
    for (size_t i = 0; i < LISTED; i++)
        for (size_t j = 0; j < i; j++)
            assert_false(same(of_files(lists[i], 2), of_files(lists[j], 2)));
    assert_false(same(of_files(whole, 1), of_files(whole, 2)));
}

/* A file whose bytes say what a list of files says of where one ends. */
static void no_bytes_of_a_file_are_taken_for_the_end_of_one(void **state)
{
    uint8_t text[32] = "abcdefgh", moved[32];
    const uint64_t first = 4, second = 4 + 8 + 4;
    (void)state;
    memcpy(text + 8, &second, sizeof second); /* abcd | efgh 16 ijkl */
    memcpy(text + 16, "ijkl", 4);
    memcpy(moved, "abcd", 4); /* abcd 4 efgh | ijkl */
    memcpy(moved + 4, &first, sizeof first);
    memcpy(moved + 12, "efghijkl", 8);
    const file one[] = { { text, 4 }, { text + 4, 16 } };
    const file other[] = { { moved, 16 }, { moved + 16, 4 } };
    assert_false(same(of_files(one, 2), of_files(other, 2)));
}

static void another_key_has_another_one(void **state)
{
    const tag before = of(BYTES);
    const clo_i_pass_hash_key kept = key;
    (void)state;
    assert_int_equal(clo_i_pass_hash_draw_key(&key, NULL), CLO_OK);
    assert_false(same(before, of(BYTES)));
    /* Each word of it counts: the last two are of the second sum alone. */
    for (size_t i = 0; i < sizeof key.words / sizeof *key.words; i++) {
        key = kept;
        key.words[i]++;
        assert_false(same(before, of(BYTES)));
    }
    key = kept;
    assert_true(same(before, of(BYTES)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_bytes_have_the_same_one_however_they_come),
        cmocka_unit_test(sums_of_blocks_have_the_same_one_as_their_bytes),
        cmocka_unit_test(every_bit_that_flips_shows),
        cmocka_unit_test(rows_that_change_places_show),
        cmocka_unit_test(what_comes_or_goes_at_the_end_shows),
        cmocka_unit_test(the_last_byte_of_a_file_of_any_length_shows),
        cmocka_unit_test(where_a_file_ends_shows),
        cmocka_unit_test(no_bytes_of_a_file_are_taken_for_the_end_of_one),
        cmocka_unit_test(another_key_has_another_one),
    };
    return cmocka_run_group_tests(tests, draw, NULL);
}
