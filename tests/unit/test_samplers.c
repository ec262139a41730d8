/*
 * test_samplers.c - the samplers, word by word.  What they do with given words is compared with
 * what the theorems of proofs/samplers.md ask for, computed with MPFR and GMP; whether their laws
 * are right as a whole is the matter of statistical/test_samplers_law.c.
 */
#include "check.h"
#include "random/gaussian_cells.h"
#include <gmp.h>
#include <mpfr.h>
#include <stdlib.h>

static clo_stream *seeded_stream(const char *text)
{
    uint8_t seed[32];
    clo_error err = { 0 };
    clo_rng *rng = NULL;
    clo_stream *stream = NULL;
    clo_seed_from_text(text, seed);
    assert_ok(clo_rng_new_seeded(seed, &rng, &err), err);
    assert_ok(clo_i_stream_open(rng, 0, 0, &stream, &err), err);
    clo_rng_free(rng);
    return stream;
}

/* A stream of given words; it borrows and converts them. */
static clo_stream *play(uint64_t *words, size_t count)
{
    clo_error err = { 0 };
    clo_stream *stream = NULL;
    for (size_t i = 0; i < count; i++) words[i] = htole64(words[i]);
    assert_ok(clo_i_stream_open_bytes((const uint8_t *)words, 8 * count, &stream, &err), err);
    return stream;
}

static size_t words_left(const clo_stream *stream)
{
    return stream->pages->unread;
}

/* Closes a stream that has not failed and of which so many words were left. */
static void close_with(clo_stream *stream, size_t left)
{
    assert_int_equal(clo_i_stream_check(stream, NULL), CLO_OK);
    assert_int_equal(words_left(stream), left);
    clo_i_stream_close(stream);
}

/* The first digits, in base 2^64, of factor exp(-numerator/denominator) - whole. */
static void true_digits(uint64_t whole, uint64_t factor, uint64_t numerator, uint64_t denominator,
                        uint64_t *digits, unsigned count)
{
    mpfr_t value;
    mpz_t integer;
    mpfr_init2(value, 4096);
    mpz_init(integer);
    mpfr_set_ui(value, numerator, MPFR_RNDN);
    mpfr_div_ui(value, value, denominator, MPFR_RNDN);
    mpfr_neg(value, value, MPFR_RNDN);
    mpfr_exp(value, value, MPFR_RNDN);
    mpfr_mul_ui(value, value, factor, MPFR_RNDN);
    mpfr_sub_ui(value, value, whole, MPFR_RNDN);
    assert_true(mpfr_sgn(value) >= 0 && mpfr_cmp_ui(value, 1) < 0);
    for (unsigned i = 0; i < count; i++) {
        mpfr_mul_2ui(value, value, 64, MPFR_RNDN);
        mpfr_get_z(integer, value, MPFR_RNDD);
        digits[i] = mpz_get_ui(integer);
        mpfr_sub_z(value, value, integer, MPFR_RNDN);
    }
    mpfr_clear(value);
    mpz_clear(integer);
}

/* ---- comparing with an exponential --------------------------------------- */

/* samplers.L2 */
static void a_number_that_shares_digits_with_an_exponential_is_settled_by_the_next(void **state)
{
    const struct {
        uint64_t whole, factor, numerator, denominator;
    } cases[] = {
        { 0, 1, 1, 1 },
        { 0, 2, 1, 1 },
        { 0, 1520, 8, 1 },
        { 94, 95, 1, 128 },
        { 0, 95, 961, 128 },
        { 57, 95, 64, 128 },
        { 0, 1, 50, 1 },
        { 0, 1, 1, 1000000 },
        { 0, 1, 600, 1 },
        { 0, 3, 65025, 4096 },
        { 12344, 12345, 1, 400000 },
        /* Just below a multiple of 2^-64, by less than the margin that the bounds have; and by so
         * little that what is computed for it lies on the multiple itself. */
        { 1, 2, 1, UINT64_C(1) << 32 },
        { (UINT64_C(768) << 47) - 2, (UINT64_C(768) << 47) + 1, 1, UINT64_C(1) << 55 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (unsigned shared = 0; shared < LAZY_DIGITS - 1; shared++) {
            for (int side = -1; side <= 1; side += 2) {
                uint64_t words[LAZY_DIGITS + 1];
                lazy_uniform number = { .count = 0 };
                true_digits(cases[i].whole, cases[i].factor, cases[i].numerator,
                            cases[i].denominator, words, LAZY_DIGITS + 1);
                if (words[shared] == (side < 0 ? 0 : UINT64_MAX)) continue;
                words[shared] += (uint64_t)side;
                clo_stream *const stream = play(words, LAZY_DIGITS + 1);
                assert_int_equal(clo_i_lazy_below_exp(stream, &number, cases[i].whole,
                                                      cases[i].factor, cases[i].numerator,
                                                      cases[i].denominator),
                                 side < 0);
                assert_int_equal(clo_i_stream_check(stream, NULL), CLO_OK);
                clo_i_stream_close(stream);
            }
        }
    }
}

static void a_number_that_cannot_be_told_from_an_exponential_fails_the_stream(void **state)
{
    uint64_t words[LAZY_DIGITS + 1];
    lazy_uniform number = { .count = 0 };
    true_digits(0, 1, 1, 1, words, LAZY_DIGITS + 1);
    clo_stream *const stream = play(words, LAZY_DIGITS + 1);
    assert_false(clo_i_lazy_below_exp(stream, &number, 0, 1, 1, 1));
    assert_int_equal(clo_i_stream_check(stream, NULL), CLO_ENTROPY);
    clo_i_stream_close(stream);
}

/* ---- below a bound -------------------------------------------------------- */

/* The word whose product with an odd number ends in these 64 bits. */
static uint64_t word_with_low(uint64_t low, uint64_t odd)
{
    uint64_t inverse = odd; /* right in three bits, then in six, twelve, … */
    for (int i = 0; i < 6; i++) inverse *= 2 - odd * inverse;
    return low * inverse;
}

/* Of 2^64 words, 2^64 mod bound are thrown away, and all numbers have as many of the others: at the
 * edge of what is thrown away, for small bounds and for large ones. */
static void a_word_that_would_make_a_number_likelier_is_thrown_away(void **state)
{
    const uint64_t bounds[] = { 3,
                                5,
                                1000003,
                                (UINT64_C(1) << 63) + 1,
                                (UINT64_C(1) << 63) - 1,
                                UINT64_MAX,
                                UINT64_C(0xaaaaaaaaaaaaaaab) };
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
        const uint64_t bound = bounds[i], unfair = (0 - bound) % bound;
        assert_true(unfair > 0);
        const uint64_t lows[] = { 0, unfair - 1, unfair, bound - 1, bound, UINT64_MAX };
        for (size_t j = 0; j < sizeof lows / sizeof *lows; j++) {
            const uint64_t first = word_with_low(lows[j], bound),
                           second = word_with_low(UINT64_MAX, bound);
            const bool thrown = lows[j] < unfair;
            const unsigned __int128 product = (unsigned __int128)(thrown ? second : first) * bound;
            uint64_t words[2] = { first, second };
            clo_stream *const stream = play(words, 2);
            assert_true((uint64_t)(first * bound) == lows[j]);
            assert_true(clo_i_random_below(stream, bound) == (uint64_t)(product >> 64));
            close_with(stream, thrown ? 0 : 1);
        }
    }
    for (int bit = 1; bit < 64; bit++) { /* of a power of two, none is */
        uint64_t words[1] = { 0 };
        clo_stream *const stream = play(words, 1);
        assert_true(clo_i_random_below(stream, UINT64_C(1) << bit) == 0);
        close_with(stream, 0);
    }
}

static void equal_digits_of_two_numbers_are_followed_by_others(void **state)
{
    lazy_uniform x = { .count = 1, .digit = { 5 } }, u;
    uint64_t words[] = { 5, 7, 7, 100, 99, 3 };
    clo_stream *const stream = play(words, 6);
    assert_true(clo_i_lazy_below(stream, &u, &x)); /* u = 5, then x and u: 7 7, 100 99 */
    assert_int_equal(x.count, 3);
    assert_int_equal(u.count, 3);
    assert_true(u.digit[2] == 99 && x.digit[2] == 100);
    assert_true(clo_i_lazy_below(stream, &u, &x)); /* 3 < 5 */
    close_with(stream, 0);
}

/* ---- Bernoulli(exp(-p/q)) ------------------------------------------------ */

/* samplers.T1: the coin exp(-1) turns where 1/e does, also at its second digit. */
static void the_coin_of_one_over_e_is_decided_by_as_many_digits_as_it_takes(void **state)
{
    uint64_t digit[3];
    true_digits(0, 1, 1, 1, digit, 3);
    uint64_t words[] = { digit[0] - 1, digit[0] + 1, digit[0],    digit[1] - 1,
                         digit[0],     digit[1] + 1, 0,           UINT64_MAX,
                         digit[0],     digit[1],     digit[2] - 1 };
    const bool expected[] = { true, false, true, false, true, false, true };
    clo_stream *const stream = play(words, 11);
    for (int i = 0; i < 7; i++) assert_int_equal(clo_i_bernoulli_inverse_e(stream), expected[i]);
    close_with(stream, 0);
}

/* The coins of probability (1/4)/k: the words make 1/4 and 1/k fall as the comments say. */
static void bernoulli_exp_is_true_when_an_odd_coin_is_the_first_to_fail(void **state)
{
    const uint64_t heads = 1, tails = UINT64_MAX;
    uint64_t first[] = { tails };
    uint64_t second[] = { heads, heads, tails }; /* k=1: 1/4 (1/1 needs no word); k=2 */
    uint64_t third[] = { heads, heads, heads, heads, tails }; /* k=2: 1/4, 1/2; k=3: 1/4, 1/3 */
    clo_stream *stream = play(first, 1);
    assert_true(clo_i_bernoulli_exp(stream, 1, 4));
    close_with(stream, 0);
    stream = play(second, 3);
    assert_false(clo_i_bernoulli_exp(stream, 1, 4));
    close_with(stream, 0);
    stream = play(third, 5);
    assert_true(clo_i_bernoulli_exp(stream, 1, 4));
    close_with(stream, 0);
}

/* A coin of 1/e for each whole in the exponent, however many, and the first tails is the end. */
static void bernoulli_exp_throws_a_coin_for_every_whole(void **state)
{
    enum { MOST = 300 };
    (void)state;
    for (size_t wholes = 1; wholes <= MOST; wholes++) {
        uint64_t words[MOST] = { 0 };
        clo_stream *stream = play(words, wholes);
        assert_true(clo_i_bernoulli_exp(stream, wholes, 1));
        close_with(stream, 0);
        words[wholes - 1] = UINT64_MAX;
        stream = play(words, wholes);
        assert_false(clo_i_bernoulli_exp(stream, wholes, 1));
        close_with(stream, 0);
    }
}

/* Two words, cut to a number below 4 2^64, are drawn again where it is not below 3 2^64. */
static void a_wide_coin_throws_away_what_is_not_below_its_denominator(void **state)
{
    uint64_t words[] = { 3, 0, 7, 0, 4 + 2, UINT64_MAX };
    clo_stream *const stream = play(words, 6);
    assert_true(clo_i_bernoulli_exp(stream, (clo_u128)1 << 64, (clo_u128)3 << 64));
    close_with(stream, 0);
}

static void bernoulli_exp_takes_any_128_bit_fraction(void **state)
{
    const clo_u128 most = ~(clo_u128)0;
    clo_stream *const stream = seeded_stream("wide");
    int trues = 0;
    assert_true(clo_i_bernoulli_exp(stream, 0, 1));
    assert_true(clo_i_bernoulli_exp(stream, 0, most));
    for (int i = 0; i < 100; i++) {
        assert_false(clo_i_bernoulli_exp(stream, most, 1));
        assert_false(clo_i_bernoulli_exp(stream, (clo_u128)1 << 127, 1000));
        assert_true(clo_i_bernoulli_exp(stream, 1, most));
    }
    for (int i = 0; i < 4000; i++) {
        trues += clo_i_bernoulli_exp(stream, most, most);
        trues += clo_i_bernoulli_exp(stream, most - 1, most);
    }
    assert_close(trues / 8000., exp(-1), 0.03);
    clo_i_stream_close(stream);
}

/* ---- Laplace ------------------------------------------------------------- */

/* samplers.T2, with rate 3/5: u = 4 of 5, accepted, two periods: (4 + 2 * 5)/3 = 4 and a sign. */
static void discrete_laplace_is_the_quotient_of_a_geometric_sample(void **state)
{
    const uint64_t four = UINT64_MAX, keep = UINT64_MAX, again = 0, stop = UINT64_MAX;
    uint64_t words[] = { four, keep, again, again, stop, 1 /* the sign: negative */ };
    clo_stream *const stream = play(words, 6);
    assert_int_equal(clo_i_discrete_laplace(stream, 3, 5), -4);
    close_with(stream, 0);
}

/* However far out: u = 4 of 5, as above, and every number of periods up to a chance of e^-300. */
static void discrete_laplace_has_no_last_period(void **state)
{
    enum { MOST = 300 };
    (void)state;
    for (int periods = 0; periods <= MOST; periods++) {
        uint64_t words[MOST + 4] = { UINT64_MAX, UINT64_MAX };
        words[periods + 2] = UINT64_MAX; /* after as many that go again */
        words[periods + 3] = 1;
        clo_stream *const stream = play(words, (size_t)periods + 4);
        assert_int_equal(clo_i_discrete_laplace(stream, 3, 5), -(4 + 5 * periods) / 3);
        close_with(stream, 0);
    }
}

static void discrete_laplace_throws_away_the_second_zero(void **state)
{
    const uint64_t zero = 1, stop = UINT64_MAX;
    uint64_t words[] = { zero, stop, 1 /* minus 0; the next bit is plus */, zero, stop };
    clo_stream *const stream = play(words, 5);
    assert_int_equal(clo_i_discrete_laplace(stream, 1, 5), 0);
    close_with(stream, 0);
}

static void laplace_samples_beyond_64_bits_fail_the_stream(void **state)
{
    uint64_t words[] = { UINT64_MAX, UINT64_MAX, 0, 0, 0, UINT64_MAX, 0 };
    clo_stream *const stream = play(words, 7);
    assert_int_equal(clo_i_discrete_laplace(stream, 1, UINT64_MAX), 0);
    assert_int_equal(clo_i_stream_check(stream, NULL), CLO_ENTROPY);
    clo_i_stream_close(stream);
}

static void laplace_samplers_end_whatever_the_rate(void **state)
{
    clo_stream *const stream = seeded_stream("rates");
    for (int i = 0; i < 200; i++) {
        assert_int_equal(clo_i_discrete_laplace(stream, UINT64_MAX, 1), 0);
        assert_true(llabs(clo_i_discrete_laplace(stream, UINT64_MAX, UINT64_MAX)) < 60);
        clo_i_discrete_laplace(stream, 1, UINT64_C(1) << 56);
        assert_int_equal(clo_i_truncated_laplace(stream, UINT64_MAX, 1, INT64_MAX), 0);
        clo_i_truncated_laplace(stream, 1, UINT64_MAX, INT64_MAX);
        clo_i_truncated_laplace(stream, UINT64_MAX, UINT64_MAX, INT64_MAX);
    }
    assert_int_equal(clo_i_stream_check(stream, NULL), CLO_OK);
    clo_i_stream_close(stream);
}

/* samplers.T3 */
static void truncated_laplace_keeps_its_bound_and_reaches_it(void **state)
{
    const struct {
        uint64_t numerator, denominator, bound;
    } cases[] = { { 1, 5, 12 },  { 1, 5, 5 }, { 1, 5, 6 },
                  { 1, 100, 1 }, { 3, 2, 2 }, { 1, UINT64_C(1) << 60, 4 } };
    clo_stream *const stream = seeded_stream("bounds");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const int64_t bound = (int64_t)cases[i].bound;
        bool low = false, high = false;
        for (int j = 0; j < 3000; j++) {
            const int64_t x = clo_i_truncated_laplace(stream, cases[i].numerator,
                                                      cases[i].denominator, cases[i].bound);
            assert_true(-bound <= x && x <= bound);
            low |= x == -bound;
            high |= x == bound;
        }
        assert_true(low && high);
    }
    clo_i_stream_close(stream);
}

static void truncated_at_zero_there_is_only_zero(void **state)
{
    clo_stream *const stream = seeded_stream("zero");
    for (int i = 0; i < 100; i++) {
        assert_int_equal(clo_i_truncated_laplace(stream, 1, 3, 0), 0);
        assert_int_equal(clo_i_truncated_laplace(stream, 7, 3, 0), 0);
        assert_int_equal(clo_i_truncated_laplace(stream, 1, UINT64_MAX, 0), 0);
    }
    assert_int_equal(clo_i_stream_check(stream, NULL), CLO_OK);
    clo_i_stream_close(stream);
}

/* ---- rounded Gaussian ---------------------------------------------------- */

/* samplers.T4: the table against exponentials computed with MPFR. */
static void every_entry_of_the_gaussian_table_is_true(void **state)
{
    unsigned slots[GAUSSIAN_CELLS] = { 0 };
    uint64_t digit;
    for (int i = 0; i < GAUSSIAN_WHOLE_SLOTS; i++) {
        assert_true(gaussian_slot_cell[i] < GAUSSIAN_CELLS);
        slots[gaussian_slot_cell[i]]++;
    }
    for (unsigned j = 0; j < GAUSSIAN_CELLS; j++) {
        const scaled_exp edge = gaussian_edge[j];
        assert_true(edge.factor == GAUSSIAN_HEIGHT && edge.denominator == 128);
        assert_int_equal(edge.numerator, j * j);
        assert_int_equal(edge.whole, slots[j]);
        true_digits(slots[j], GAUSSIAN_HEIGHT, j * j, 128, &digit, 1); /* and it is in [0, 1) */
        assert_true(edge.digit == digit);
    }
    true_digits(0, 16 * GAUSSIAN_HEIGHT, 8, 1, &digit, 1);
    assert_true(gaussian_tail_height.digit == digit);
    assert_true(gaussian_tail_height.factor == 16 * GAUSSIAN_HEIGHT &&
                gaussian_tail_height.numerator == 8 && gaussian_tail_height.denominator == 1);
    true_digits(0, 2, 1, 1, &digit, 1);
    assert_true(gaussian_tail_step.digit == digit && gaussian_tail_step.factor == 2);
    assert_true(GAUSSIAN_TAIL_SLOT < GAUSSIAN_SLOTS);
}

/* A word that proposes this slot, with this lot of 128 and this sign. */
static uint64_t proposal(uint64_t slot, uint64_t lot, bool negative)
{
    return slot | lot << 32 | (uint64_t)negative << 63;
}

static uint64_t slot_of(uint64_t cell)
{
    uint64_t slot = 0;
    while (slot < GAUSSIAN_WHOLE_SLOTS && gaussian_slot_cell[slot] != cell) slot++;
    return slot < GAUSSIAN_WHOLE_SLOTS ? slot : GAUSSIAN_WHOLE_SLOTS + cell;
}

enum { DIGITS = 6 };

/* floor((scale (cell + 0.digits) + 4)/8), in integers of any length. */
static int64_t true_rounding(uint64_t scale, uint64_t cell, const uint64_t digits[DIGITS])
{
    mpz_t value, four;
    mpz_init_set_ui(value, cell);
    mpz_init_set_ui(four, 4);
    for (int i = 0; i < DIGITS; i++) {
        mpz_mul_2exp(value, value, 64);
        mpz_add_ui(value, value, digits[i]);
    }
    mpz_mul_ui(value, value, scale);
    mpz_mul_2exp(four, four, 64 * DIGITS);
    mpz_add(value, value, four);
    mpz_fdiv_q_2exp(value, value, 64 * DIGITS + 3);
    const int64_t result = (int64_t)mpz_get_ui(value);
    mpz_clear(value);
    mpz_clear(four);
    return result;
}

/* The digits of the place in a cell at which the rounding turns over: (8 k + 4)/scale - cell for
 * some k, or 0 where the cell has no such place. */
static void turning_place(uint64_t scale, uint64_t cell, uint64_t pick, uint64_t digits[DIGITS])
{
    mpz_t value, divisor;
    const uint64_t first = (scale * cell + 3) / 8, places = scale / 8 + 1;
    const uint64_t turn = 8 * (first + pick % places) + 4;
    mpz_init_set_ui(value, turn);
    mpz_init_set_ui(divisor, scale);
    mpz_submul_ui(value, divisor, cell);
    for (int i = 0; i < DIGITS; i++) digits[i] = 0;
    if (mpz_sgn(value) >= 0 && mpz_cmp(value, divisor) < 0) {
        for (int i = 0; i < DIGITS; i++) {
            mpz_t digit;
            mpz_init(digit);
            mpz_mul_2exp(value, value, 64);
            mpz_fdiv_qr(digit, value, value, divisor);
            digits[i] = mpz_get_ui(digit);
            mpz_clear(digit);
        }
    }
    mpz_clear(value);
    mpz_clear(divisor);
}

/* samplers.T4: at, just below and just above each place where the rounding turns, by a unit of the
 * first, second, third or fourth digit. */
static void rounding_is_exact_however_many_digits_it_takes(void **state)
{
    clo_stream *const choice = seeded_stream("rounding");
    for (int i = 0; i < 20000; i++) {
        const uint64_t bits = 1 + clo_i_random_below(choice, 55);
        const uint64_t scale = 1 + clo_i_random_below(choice, UINT64_C(1) << bits);
        const uint64_t cell = clo_i_random_below(choice, 29);
        const uint64_t at = clo_i_random_below(choice, 4), side = clo_i_random_below(choice, 3);
        uint64_t words[1 + DIGITS], *const digits = words + 1;
        turning_place(scale, cell, clo_i_random_u64(choice), digits);
        digits[at] += side - 1;
        for (uint64_t j = at + 1; j < DIGITS && side != 1; j++)
            digits[j] = clo_i_random_u64(choice);
        const int64_t expected = true_rounding(scale, cell, digits);
        const bool negative = i % 2;
        words[0] = proposal(slot_of(cell), 127, negative);
        if (slot_of(cell) >= GAUSSIAN_WHOLE_SLOTS) continue;
        clo_stream *const stream = play(words, 1 + DIGITS);
        const int64_t got = clo_i_rounded_gaussian(stream, scale);
        /* Exactly at the turn no number of digits is enough, unless the fraction ends. */
        if (clo_i_stream_check(stream, NULL) == CLO_OK)
            assert_true(got == (negative ? -expected : expected));
        else
            assert_true(side == 1 && got == 0);
        clo_i_stream_close(stream);
    }
    clo_i_stream_close(choice);
}

/* Plays words, expects this sample of scale 8, of which an eighth of a cell's width is 1. */
static void expect_sample(uint64_t *words, size_t count, int64_t expected)
{
    clo_stream *const stream = play(words, count);
    assert_int_equal(clo_i_rounded_gaussian(stream, 8), expected);
    close_with(stream, 0);
}

static const uint64_t half = UINT64_C(1) << 63;

/* What follows a proposal that must be rejected. */
#define THEN_CELL_3 proposal(slot_of(3), 127, true), 0

static void a_place_is_kept_when_its_chain_is_even(void **state)
{
    const uint64_t eight = slot_of(8), lot_127 = UINT64_MAX, lot_0 = 1;
    uint64_t at_once[] = { proposal(eight, 17, false), 0 };
    uint64_t no_step[] = { proposal(eight, 15, false), 9, 9 - 1 + 1, 5, 6 };
    uint64_t one[] = { proposal(eight, 15, false), half, half - 1, lot_127, THEN_CELL_3 };
    uint64_t two[] = { proposal(eight, 15, false), 9, 8, lot_0, 7, lot_127 };
    uint64_t three[] = { proposal(eight, 0, false), 9, 8, lot_0, 7, lot_0, 6, lot_0, 6, 5, 5 };
    expect_sample(at_once, 2, 8);
    expect_sample(no_step, 5, 8); /* 9 and 9, then 5 of the place and 6 of the chain: no step */
    expect_sample(one, 6, -3);
    expect_sample(two, 6, 8);
    /* 9 > 8 > 7 > 6, and 6 is followed by 6; then 5 and 5 and nothing: the stream ends
     * undecided. */
    clo_stream *const stream = play(three, 11);
    assert_int_equal(clo_i_rounded_gaussian(stream, 8), 0);
    assert_int_equal(clo_i_stream_check(stream, NULL), CLO_ENTROPY);
    clo_i_stream_close(stream);
}

static void a_lot_on_the_line_is_decided_by_another_number_below_the_place(void **state)
{
    uint64_t coin_tails[] = { proposal(slot_of(8), 16, false), half, half + 1 };
    uint64_t coin_heads[] = {
        proposal(slot_of(8), 16, false), half, half - 1, half - 1, UINT64_MAX, THEN_CELL_3
    };
    expect_sample(coin_tails, 3, 9); /* 8.5 is rounded up */
    expect_sample(coin_heads, 7, -3);
}

static void a_slot_on_an_edge_belongs_to_its_cell_in_part(void **state)
{
    const uint64_t edge = GAUSSIAN_WHOLE_SLOTS + 7, digit = gaussian_edge[7].digit;
    uint64_t second[2];
    true_digits(gaussian_edge[7].whole, GAUSSIAN_HEIGHT, 49, 128, second, 2);
    uint64_t inside[] = { proposal(edge, 127, false), 0, digit - 1 };
    uint64_t outside[] = { proposal(edge, 127, false), 0, digit + 1, THEN_CELL_3 };
    uint64_t just_inside[] = { proposal(edge, 127, false), 0, digit, second[1] - 1 };
    uint64_t just_outside[] = { proposal(edge, 127, false), 0, digit, second[1] + 1, THEN_CELL_3 };
    uint64_t empty[] = { proposal(GAUSSIAN_TAIL_SLOT + 1, 127, false), 0, THEN_CELL_3 };
    expect_sample(inside, 3, 7);
    expect_sample(outside, 5, -3);
    expect_sample(just_inside, 4, 7);
    expect_sample(just_outside, 6, -3);
    expect_sample(empty, 4, -3);
}

/* A word that proposes the tail's block b, cell i of it. */
static uint64_t tail_word(unsigned b, uint64_t i)
{
    return UINT64_C(1) << b | i << 61;
}

static void the_tail_is_made_of_blocks_of_eight_cells(void **state)
{
    const uint64_t tail = proposal(GAUSSIAN_TAIL_SLOT, 127, false), yes = 0, no = UINT64_MAX;
    /* Height, then exp(-(384 b + 64 i + m^2)/128): 0 for the first cell of all. */
    uint64_t first[] = { tail, 0, tail_word(0, 0), yes };
    uint64_t too_high[] = { tail, 0, tail_word(0, 0), no, THEN_CELL_3 };
    /* b = 0, i = 1: exp(-65/128); the word is one of 128 sides, and tails at the first coin is
     * true. */
    uint64_t second[] = { tail, 0, tail_word(0, 1), yes, no };
    /* b = 1, i = 0: one step 2/e; exp(-448/128): three coins exp(-1), then 64/128. */
    uint64_t block[] = { tail, 0, tail_word(1, 0), yes, yes, yes, yes, yes, no };
    uint64_t no_step[] = { tail, 0, tail_word(1, 0), yes, no, THEN_CELL_3 };
    uint64_t beyond[] = { tail, 0, tail_word(28, 0), THEN_CELL_3 };
    uint64_t nowhere[] = { tail, 0, 0, THEN_CELL_3 };
    expect_sample(first, 4, 32);
    expect_sample(too_high, 6, -3);
    expect_sample(second, 5, 33);
    expect_sample(block, 9, 40);
    expect_sample(no_step, 7, -3);
    expect_sample(beyond, 5, -3);
    expect_sample(nowhere, 5, -3);
}

/* A word whose lot of 128 sides is this. */
static uint64_t lot_word(uint64_t lot)
{
    return lot << 57 | 1;
}

/* The exponent's numerator over 128, to a unit: a lot at its remainder is tails at the first coin,
 * which keeps the cell; a lot one below is heads, and tails at the second coin rejects it. */
static void the_cells_of_the_tail_have_their_weights(void **state)
{
    const uint64_t tail = proposal(GAUSSIAN_TAIL_SLOT, 127, false), no = UINT64_MAX;
    /* b = 0, i = 1: 64 + 1 = 65 */
    uint64_t kept[] = { tail, 0, tail_word(0, 1), 0, lot_word(65) };
    uint64_t not_kept[] = { tail, 0, tail_word(0, 1), 0, lot_word(64), no, THEN_CELL_3 };
    /* b = 1, i = 3: 384 + 192 + 121 = 5 * 128 + 57 */
    uint64_t kept_further[] = { tail, 0, tail_word(1, 3), 0, 0, 0, 0, 0, 0, 0, lot_word(57) };
    uint64_t not_kept_further[] = { tail, 0, tail_word(1, 3), 0,  0,          0, 0, 0,
                                    0,    0, lot_word(56),    no, THEN_CELL_3 };
    expect_sample(kept, 5, 33);
    expect_sample(not_kept, 8, -3);
    expect_sample(kept_further, 11, 43);
    expect_sample(not_kept_further, 14, -3);
}

/* b = 4: cell 64, where the exponent of the place is cut into two pieces, each with a lot of
 * 256. */
static void far_out_a_place_is_kept_piece_by_piece(void **state)
{
    uint64_t words[32] = { proposal(GAUSSIAN_TAIL_SLOT, 127, false), 0, tail_word(4, 0) };
    size_t count = 3;
    for (int i = 0; i < 1 + 4 + 20; i++) words[count++] = 0; /* height, steps, exp(-2560/128) */
    words[count++] = UINT64_MAX;
    words[count++] = UINT64_MAX;
    expect_sample(words, count, 64);
}

static void rounded_gaussian_stays_within_32_scales(void **state)
{
    const uint64_t scales[] = { 1, 2, 1000, UINT64_C(1) << 55 };
    clo_stream *const stream = seeded_stream("range");
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 20000; j++)
            assert_true((uint64_t)llabs(clo_i_rounded_gaussian(stream, scales[i])) <=
                        32 * scales[i]);
    clo_i_stream_close(stream);
}

static void filling_is_drawing_one_by_one(void **state)
{
    int64_t filled[3000];
    clo_stream *const a = seeded_stream("fill"), *const b = seeded_stream("fill");
    clo_i_rounded_gaussian_fill(a, 777, filled, 1000);
    clo_i_rounded_gaussian_fill(a, 777, filled + 1000, 2000);
    for (int i = 0; i < 3000; i++) assert_int_equal(filled[i], clo_i_rounded_gaussian(b, 777));
    assert_true(clo_i_random_u64(a) == clo_i_random_u64(b));
    clo_i_stream_close(a);
    clo_i_stream_close(b);
}

/* ---- all of them --------------------------------------------------------- */

typedef int64_t sampler(clo_stream *stream);

static int64_t a_bernoulli(clo_stream *stream)
{
    return clo_i_bernoulli_exp(stream, 5, 7);
}

static int64_t a_wide_bernoulli(clo_stream *stream)
{
    return clo_i_bernoulli_exp(stream, ((clo_u128)1 << 101) + 1, (clo_u128)1 << 100);
}

static int64_t a_laplace(clo_stream *stream)
{
    return clo_i_discrete_laplace(stream, 3, 100);
}

static int64_t a_truncated(clo_stream *stream)
{
    return clo_i_truncated_laplace(stream, 1, 10, 35);
}

static int64_t a_close_truncated(clo_stream *stream)
{
    return clo_i_truncated_laplace(stream, 1, 100, 35);
}

static int64_t a_gaussian(clo_stream *stream)
{
    return clo_i_rounded_gaussian(stream, 1000);
}

static int64_t a_wide_gaussian(clo_stream *stream)
{
    return clo_i_rounded_gaussian(stream, UINT64_C(1) << 55);
}

static const struct {
    const char *name;
    sampler *draw;
    int64_t golden[6]; /* of the seed "golden": a change here changes every seeded release */
} samplers[] = {
    { "bernoulli", a_bernoulli, { 1, 0, 1, 0, 0, 1 } },
    { "wide bernoulli", a_wide_bernoulli, { 0, 0, 0, 1, 0, 0 } },
    { "laplace", a_laplace, { -16, 9, -67, 18, -18, 32 } },
    { "truncated", a_truncated, { -6, -7, -2, 0, -25, 9 } },
    { "close truncated", a_close_truncated, { 9, -6, 16, 8, -21, 23 } },
    { "gaussian", a_gaussian, { -522, 612, -701, -1587, -246, 298 } },
    { "wide gaussian",
      a_wide_gaussian,
      { -18792158378728010, 22031993652747881, -25266198302929750, -57188175692630341,
        -8864704353219409, 10753655077852455 } },
};
enum { SAMPLERS = sizeof samplers / sizeof samplers[0] };

static void seeded_samples_are_the_known_ones(void **state)
{
    for (int i = 0; i < SAMPLERS; i++) {
        clo_stream *const stream = seeded_stream("golden");
        for (int j = 0; j < 6; j++) {
            const int64_t x = samplers[i].draw(stream);
            if (x != samplers[i].golden[j])
                fail_msg("%s %d is %lld", samplers[i].name, j, (long long)x);
        }
        clo_i_stream_close(stream);
    }
}

/* The words of a stream that someone has chosen to keep a sampler busy. */
static void fill_badly(uint64_t *words, size_t count, int pattern)
{
    for (size_t i = 0; i < count; i++) {
        switch (pattern) {
        case 0:
            words[i] = 0;
            break;
        case 1:
            words[i] = UINT64_MAX;
            break;
        case 2:
            words[i] = UINT64_C(0x5e2d58d8b3bcdf1a);
            break; /* the first digit of 1/e */
        case 3:
            words[i] = i % 2 ? UINT64_MAX : 0;
            break;
        case 4:
            words[i] = GAUSSIAN_TAIL_SLOT;
            break;
        case 5:
            words[i] = GAUSSIAN_SLOTS - 1;
            break;
        case 6:
            words[i] = gaussian_edge[i % GAUSSIAN_CELLS].digit;
            break;
        default:
            words[i] = i << 54 | i << 32 | i;
            break;
        }
    }
}

static void every_sampler_ends_on_every_stream_and_is_0_where_it_fails(void **state)
{
    static uint64_t words[700];
    for (int i = 0; i < SAMPLERS; i++) {
        for (int pattern = 0; pattern < 8; pattern++) {
            for (size_t count = 0; count <= 700; count += count < 40 ? 1 : 220) {
                fill_badly(words, count, pattern);
                clo_stream *const stream = play(words, count);
                int64_t x = 1;
                for (int j = 0; j < 2000 && clo_i_stream_check(stream, NULL) == CLO_OK; j++)
                    x = samplers[i].draw(stream);
                assert_int_equal(clo_i_stream_check(stream, NULL), CLO_ENTROPY);
                assert_int_equal(x, 0);
                assert_int_equal(samplers[i].draw(stream), 0);
                clo_i_stream_close(stream);
            }
        }
    }
}

static void filling_from_a_failed_stream_gives_zeros(void **state)
{
    int64_t out[4] = { 1, 2, 3, 4 };
    clo_stream *const stream = play(NULL, 0);
    clo_i_rounded_gaussian_fill(stream, 10, out, 4);
    for (int i = 0; i < 4; i++) assert_int_equal(out[i], 0);
    assert_false(clo_i_bernoulli_exp(stream, 0, 1));
    assert_true(clo_i_random_below(stream, 1000) == 0);
    clo_i_stream_close(stream);
}

typedef struct moments {
    double mean, deviation, skewness;
} moments;

static moments moments_of(sampler *draw, const char *seed, int count)
{
    double sum[4] = { 0, 0, 0, 0 };
    clo_stream *const stream = seeded_stream(seed);
    for (int i = 0; i < count; i++) {
        const double x = (double)draw(stream);
        sum[1] += x;
        sum[2] += x * x;
        sum[3] += x * x * x;
    }
    clo_i_stream_close(stream);
    const double deviation = sqrt(sum[2] / count);
    return (moments){ sum[1] / count, deviation, sum[3] / count / pow(deviation, 3) };
}

static int64_t a_normal(clo_stream *stream)
{
    return llrint(1e6 * clo_i_random_normal(stream));
}

/* Standard deviations from the formulas; 1e5 samples, bounds of six standard errors or more. */
static void noise_is_symmetric_and_as_wide_as_it_says(void **state)
{
    const double rate = 0.03, laplace = sqrt(2 * exp(-rate)) / (1 - exp(-rate));
    const struct {
        sampler *draw;
        double deviation;
    } cases[] = {
        { a_gaussian, 1000 }, { a_wide_gaussian, 0x1p55 }, { a_normal, 1e6 }, { a_laplace, laplace }
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const moments m = moments_of(cases[i].draw, "moments", 100000);
        assert_close(m.mean / m.deviation, 0, 0.02);
        assert_relatively_close(m.deviation, cases[i].deviation, 0.03);
        assert_close(m.skewness, 0, 0.2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_number_that_shares_digits_with_an_exponential_is_settled_by_the_next),
        cmocka_unit_test(a_number_that_cannot_be_told_from_an_exponential_fails_the_stream),
        cmocka_unit_test(a_word_that_would_make_a_number_likelier_is_thrown_away),
        cmocka_unit_test(equal_digits_of_two_numbers_are_followed_by_others),
        cmocka_unit_test(the_coin_of_one_over_e_is_decided_by_as_many_digits_as_it_takes),
        cmocka_unit_test(bernoulli_exp_is_true_when_an_odd_coin_is_the_first_to_fail),
        cmocka_unit_test(bernoulli_exp_throws_a_coin_for_every_whole),
        cmocka_unit_test(a_wide_coin_throws_away_what_is_not_below_its_denominator),
        cmocka_unit_test(bernoulli_exp_takes_any_128_bit_fraction),
        cmocka_unit_test(discrete_laplace_is_the_quotient_of_a_geometric_sample),
        cmocka_unit_test(discrete_laplace_has_no_last_period),
        cmocka_unit_test(discrete_laplace_throws_away_the_second_zero),
        cmocka_unit_test(laplace_samples_beyond_64_bits_fail_the_stream),
        cmocka_unit_test(laplace_samplers_end_whatever_the_rate),
        cmocka_unit_test(truncated_laplace_keeps_its_bound_and_reaches_it),
        cmocka_unit_test(truncated_at_zero_there_is_only_zero),
        cmocka_unit_test(every_entry_of_the_gaussian_table_is_true),
        cmocka_unit_test(rounding_is_exact_however_many_digits_it_takes),
        cmocka_unit_test(a_place_is_kept_when_its_chain_is_even),
        cmocka_unit_test(a_lot_on_the_line_is_decided_by_another_number_below_the_place),
        cmocka_unit_test(a_slot_on_an_edge_belongs_to_its_cell_in_part),
        cmocka_unit_test(the_tail_is_made_of_blocks_of_eight_cells),
        cmocka_unit_test(the_cells_of_the_tail_have_their_weights),
        cmocka_unit_test(far_out_a_place_is_kept_piece_by_piece),
        cmocka_unit_test(rounded_gaussian_stays_within_32_scales),
        cmocka_unit_test(filling_is_drawing_one_by_one),
        cmocka_unit_test(seeded_samples_are_the_known_ones),
        cmocka_unit_test(every_sampler_ends_on_every_stream_and_is_0_where_it_fails),
        cmocka_unit_test(filling_from_a_failed_stream_gives_zeros),
        cmocka_unit_test(noise_is_symmetric_and_as_wide_as_it_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
