/*
 * test_samplers_law.c - each sampler has the law of its theorem in proofs/samplers.md, and a
 * sampler with a fault that someone could really make is told from it.
 *
 * Power, with COUNT = 2^19 samples a law: a true sample stays within the radius sqrt(ln(2/a)/(2
 * COUNT)), 0.0045 at a = 1e-9.  Noise that is 5 % small moves the normal distribution function by
 * max_z |Phi(z/0.95) - Phi(z)| = 0.0124 (the Laplace one by 0.0094, at one scale, with half the
 * mass on a side), and the same inequality says that the sample misses that by more than 0.0045
 * once in 1e9 runs at most: 0.0124 > 0.0094 > 2 * 0.0045.  So a planted fault of that size is found
 * in all but one of 1e9 runs, and events are counted often enough for the same; where a fault is
 * another one, its size is at its test.
 */
#include "check.h"
#include "random/gaussian_cells.h"
#include "statistical.h"
#include <stdlib.h>

enum { COUNT = 1 << 19 };

static int64_t sample[COUNT];

/* A sampler, or a faulty one, with what it needs. */
typedef int64_t sampler(clo_stream *stream, const void *parameters);

static void fill(sampler *draw, const void *parameters, uint64_t ask)
{
    clo_stream *const stream = stat_stream(ask, 0);
    for (size_t i = 0; i < COUNT; i++) sample[i] = draw(stream, parameters);
    stat_close(stream);
}

static bool follows(sampler *draw, const void *parameters, stat_law *law,
                    const void *law_parameters, uint64_t ask, double alpha)
{
    fill(draw, parameters, ask);
    return stat_follows(sample, COUNT, law, law_parameters, alpha);
}

/* Whether the event that a sampler says 1 has this probability. */
static bool happens(sampler *draw, const void *parameters, double probability, uint64_t ask,
                    double alpha)
{
    uint64_t hits = 0;
    fill(draw, parameters, ask);
    for (size_t i = 0; i < COUNT; i++) hits += sample[i] == 1;
    return stat_is_probable(hits, COUNT, probability, alpha);
}

/* ---- words --------------------------------------------------------------- */

static const uint64_t awkward_bound = UINT64_C(3) << 61; /* 2^64 is 2 2/3 times this */

static int64_t draw_below(clo_stream *stream, const void *bound)
{
    return (int64_t)clo_i_random_below(stream, *(const uint64_t *)bound);
}

static int64_t draw_remainder(clo_stream *stream, const void *bound)
{
    return (int64_t)(clo_i_random_u64(stream) % *(const uint64_t *)bound);
}

static long double law_below(int64_t x, const void *bound)
{
    return ((long double)x + 1) / (long double)*(const uint64_t *)bound;
}

static int64_t draw_bit(clo_stream *stream, const void *unused)
{
    return clo_i_random_bit(stream);
}

static int64_t draw_top_bit(clo_stream *stream, const void *unused)
{
    return (int64_t)(clo_i_random_u64(stream) >> 63);
}

/* The remainder of a word gives the lower two thirds of the range 3/4 of the mass: a distance of
 * 1/12, 19 radii. */
static void words_bits_and_numbers_below_a_bound_are_uniform(void **state)
{
    const double alpha = stat_alpha(STAT_words_are_uniform, 4);
    const uint64_t *const bound = &awkward_bound, six = 6;
    assert_true(follows(draw_below, bound, law_below, bound, 0, alpha));
    assert_true(follows(draw_below, &six, law_below, &six, 1, alpha));
    assert_true(happens(draw_bit, NULL, 0.5, 2, alpha));
    assert_true(happens(draw_top_bit, NULL, 0.5, 3, alpha));
    assert_false(follows(draw_remainder, bound, law_below, bound, 0, alpha));
    assert_false(happens(draw_bit, NULL, 0.51, 2, alpha));
}

/* ---- streams ------------------------------------------------------------- */

/* Whether two streams agree on the sign of their noise as often as independent ones do.  A sign
 * that is there at all is negative half the time, whatever the other stream says. */
static bool independent(uint64_t ask_a, uint64_t index_a, uint64_t ask_b, uint64_t index_b,
                        double alpha)
{
    clo_stream *const a = stat_stream(ask_a, index_a), *const b = stat_stream(ask_b, index_b);
    uint64_t agree = 0, both = 0;
    for (size_t i = 0; i < COUNT; i++) {
        const int64_t x = clo_i_rounded_gaussian(a, 1000), y = clo_i_rounded_gaussian(b, 1000);
        if (x == 0 || y == 0) continue;
        both++;
        agree += (x < 0) == (y < 0);
    }
    stat_close(a);
    stat_close(b);
    return stat_is_probable(agree, both, 0.5, alpha);
}

static void streams_of_different_names_are_independent(void **state)
{
    const double alpha = stat_alpha(STAT_streams_are_independent, 3);
    assert_true(independent(0, 0, 0, 1, alpha));
    assert_true(independent(0, 0, 1, 0, alpha));
    assert_true(independent(1, 2, 2, 1, alpha));
    /* The planted fault: noise that is used twice. */
    assert_false(independent(1, 2, 1, 2, alpha));
}

/* ---- Bernoulli(exp(-p/q)) ------------------------------------------------ */

typedef struct ratio {
    clo_u128 numerator, denominator;
} ratio;

static int64_t draw_exp(clo_stream *stream, const void *parameters)
{
    const ratio *const r = parameters;
    return clo_i_bernoulli_exp(stream, r->numerator, r->denominator);
}

/* The easy mistake: the chain's parity the other way round, which is 1 - exp(-p/q). */
static int64_t draw_exp_odd(clo_stream *stream, const void *parameters)
{
    return 1 - draw_exp(stream, parameters);
}

/* samplers.T1.  The fault is an exponent that is 5 % small; at exp(-1/3), which becomes
 * exp(-19/60), it moves the probability by 0.012, 18 standard deviations of the count. */
static void bernoulli_exp_has_its_probability(void **state)
{
    const clo_u128 wide = (clo_u128)1 << 126;
    const struct {
        ratio r;
        double exponent;
    } cases[] = {
        { { 1, 3 }, 1. / 3 },
        { { 7, 7 }, 1 },
        { { 5, 2 }, 2.5 },
        { { 999, 1000 }, 0.999 },
        { { wide / 3, wide }, 1. / 3 },
        { { wide + wide / 2, wide }, 1.5 },
        { { (clo_u128)1 << 64, (clo_u128)1 << 65 }, 0.5 },
        { { (clo_u128)5 << 97, (clo_u128)11 << 97 }, 5. / 11 },
        { { 1, 1000000 }, 1e-6 },
    };
    enum { CASES = sizeof cases / sizeof cases[0] };
    const double alpha = stat_alpha(STAT_bernoulli_exp_law, CASES);
    for (size_t i = 0; i < CASES; i++)
        assert_true(happens(draw_exp, &cases[i].r, exp(-cases[i].exponent), i, alpha));
    const ratio small = { 19, 60 };
    assert_false(happens(draw_exp, &small, exp(-1. / 3), 0, alpha));
    assert_false(happens(draw_exp_odd, &cases[0].r, exp(-1. / 3), 0, alpha));
}

/* ---- discrete Laplace ---------------------------------------------------- */

typedef struct laplace {
    uint64_t numerator, denominator, bound;
} laplace;

static int64_t draw_laplace(clo_stream *stream, const void *parameters)
{
    const laplace *const l = parameters;
    return clo_i_discrete_laplace(stream, l->numerator, l->denominator);
}

/* The easy mistake: both zeros are kept, +0 and -0. */
static int64_t draw_two_zeros(clo_stream *stream, const void *parameters)
{
    const laplace *const l = parameters;
    int64_t magnitude = 0;
    while (clo_i_bernoulli_exp(stream, l->numerator, l->denominator)) magnitude++;
    return clo_i_random_bit(stream) ? -magnitude : magnitude;
}

static long double law_laplace(int64_t x, const void *parameters)
{
    const laplace *const l = parameters;
    const long double rate = (long double)l->numerator / l->denominator;
    const long double norm = 1 + expl(-rate);
    return x < 0 ? expl(rate * x) / norm : 1 - expl(-rate * ((long double)x + 1)) / norm;
}

/* samplers.T2.  With rate 1/2 the second zero adds 0.15 to the probability of 0. */
static void discrete_laplace_has_its_law(void **state)
{
    const laplace narrow = { 1, 2, 0 }, steep = { 5, 2, 0 }, wide = { 3, 3000, 0 };
    const laplace huge = { 1, UINT64_C(1) << 50, 0 }, small = { 20, 19000, 0 };
    const double alpha = stat_alpha(STAT_discrete_laplace_law, 4);
    assert_true(follows(draw_laplace, &narrow, law_laplace, &narrow, 0, alpha));
    assert_true(follows(draw_laplace, &steep, law_laplace, &steep, 1, alpha));
    assert_true(follows(draw_laplace, &wide, law_laplace, &wide, 2, alpha));
    assert_true(follows(draw_laplace, &huge, law_laplace, &huge, 3, alpha));
    assert_false(follows(draw_two_zeros, &narrow, law_laplace, &narrow, 0, alpha));
    assert_false(follows(draw_laplace, &small, law_laplace, &wide, 2, alpha));
}

/* ---- truncated Laplace --------------------------------------------------- */

static int64_t draw_truncated(clo_stream *stream, const void *parameters)
{
    const laplace *const l = parameters;
    return clo_i_truncated_laplace(stream, l->numerator, l->denominator, l->bound);
}

static int64_t draw_clamped(clo_stream *stream, const void *parameters)
{
    const laplace *const l = parameters;
    const int64_t bound = (int64_t)l->bound;
    const int64_t x = clo_i_discrete_laplace(stream, l->numerator, l->denominator);
    return x > bound ? bound : x < -bound ? -bound : x;
}

static long double law_truncated(int64_t x, const void *parameters)
{
    const laplace *const l = parameters;
    const int64_t bound = (int64_t)l->bound;
    if (x < -bound) return 0;
    if (x >= bound) return 1;
    const long double below = law_laplace(-bound - 1, l);
    return (law_laplace(x, l) - below) / (law_laplace(bound, l) - below);
}

/* How often the last values that may occur do occur. */
static bool reaches_its_bound(const laplace *drawn, const laplace *claimed, uint64_t ask,
                              double alpha)
{
    const long double at_bound = 1 - law_truncated((int64_t)claimed->bound - 1, claimed);
    uint64_t hits = 0;
    fill(draw_truncated, drawn, ask);
    for (size_t i = 0; i < COUNT; i++) hits += (uint64_t)llabs(sample[i]) == claimed->bound;
    return stat_is_probable(hits, COUNT, (double)(2 * at_bound), alpha);
}

/* samplers.T3.  The bound of far is at four scales, where the two last values have 0.0037 of the
 * mass: 1950 hits are expected, a truncation that is off by one has none, and one that clamps
 * moves the law by 0.0082.  near is drawn the other way, within one scale. */
static void truncated_laplace_has_its_law(void **state)
{
    const laplace far = { 1, 5, 20 }, near = { 1, 20, 10 }, flat = { 1, UINT64_C(1) << 60, 3 };
    const laplace far_short = { 1, 5, 19 }, near_short = { 1, 20, 9 }, small = { 20, 95, 20 };
    const double alpha = stat_alpha(STAT_truncated_laplace_law, 5);
    assert_true(follows(draw_truncated, &far, law_truncated, &far, 0, alpha));
    assert_true(follows(draw_truncated, &near, law_truncated, &near, 1, alpha));
    assert_true(follows(draw_truncated, &flat, law_truncated, &flat, 2, alpha));
    assert_true(reaches_its_bound(&far, &far, 3, alpha));
    assert_true(reaches_its_bound(&near, &near, 4, alpha));
    assert_false(reaches_its_bound(&far_short, &far, 3, alpha));
    assert_false(reaches_its_bound(&near_short, &near, 4, alpha));
    assert_false(follows(draw_truncated, &near_short, law_truncated, &near, 1, alpha));
    assert_false(follows(draw_truncated, &small, law_truncated, &far, 0, alpha));
    assert_false(follows(draw_clamped, &far, law_truncated, &far, 0, alpha));
}

/* ---- rounded Gaussian ---------------------------------------------------- */

static int64_t draw_gaussian(clo_stream *stream, const void *scale)
{
    return clo_i_rounded_gaussian(stream, (uint64_t) * (const double *)scale);
}

static int64_t draw_toward_zero(clo_stream *stream, const void *scale)
{
    return clo_i_rounded_gaussian(stream, 2 * (uint64_t) * (const double *)scale) / 2;
}

/* P[x] proportional to exp(-x^2/(2 scale^2)): algorithm 3 of Canonne, Kamath and Steinke (2020). */
static int64_t draw_discrete(clo_stream *stream, const void *scale)
{
    const uint64_t s = (uint64_t) * (const double *)scale;
    for (;;) {
        const int64_t x = clo_i_discrete_laplace(stream, 1, s);
        const int64_t distance = llabs(x) - (int64_t)s;
        if (clo_i_bernoulli_exp(stream, (clo_u128)(distance * distance), 2 * s * s)) return x;
    }
}

/* samplers.T4.  With scale 1, rounding toward zero adds 0.25 to the probability of 0; the discrete
 * Gaussian, the other law of that name, differs by 0.0082, which is missed once in 1e6 runs. */
static void rounded_gaussian_has_its_law(void **state)
{
    const double scales[] = { 1, 2, 3, 1000, 0x1p40, 0x1p55 };
    enum { SCALES = sizeof scales / sizeof scales[0] };
    const double alpha = stat_alpha(STAT_rounded_gaussian_law, SCALES), small = 950;
    for (size_t i = 0; i < SCALES; i++)
        assert_true(
            follows(draw_gaussian, &scales[i], stat_rounded_gaussian, &scales[i], i, alpha));
    assert_false(follows(draw_gaussian, &small, stat_rounded_gaussian, &scales[3], 3, alpha));
    assert_false(
        follows(draw_toward_zero, &scales[0], stat_rounded_gaussian, &scales[0], 0, alpha));
    assert_false(follows(draw_discrete, &scales[0], stat_rounded_gaussian, &scales[0], 0, alpha));
}

/* A draw whose first proposal is one of the tail's cells: its slot is put into the word that comes
 * next.  If it is rejected, an ordinary draw follows. */
static int64_t draw_from_tail(clo_stream *stream, uint64_t scale)
{
    stream_pages *const pages = stream->pages;
    if (pages->unread == 0) assert_true(clo_i_stream_refill(stream));
    uint64_t *const next = &pages->words[STREAM_WORDS - pages->unread];
    *next = htole64((le64toh(*next) & ~(uint64_t)(GAUSSIAN_SLOTS - 1)) | GAUSSIAN_TAIL_SLOT);
    return clo_i_rounded_gaussian(stream, scale);
}

/* The law of |K| given |K| > 4 scale, scale 1000. */
static long double law_tail(int64_t x, const void *unused)
{
    return x <= 4000 ? 0 : 1 - stat_normal(-((long double)x + 0.5L) / 1000) / stat_normal(-4.0005L);
}

/* The sizes of those of COUNT tail draws that are beyond 4000; their number. */
static size_t fill_from_tail(uint64_t scale)
{
    clo_stream *const stream = stat_stream(7, 7);
    size_t count = 0;
    for (size_t i = 0; i < COUNT; i++) {
        const int64_t size = llabs(draw_from_tail(stream, scale));
        if (size > 4000) sample[count++] = size;
    }
    stat_close(stream);
    return count;
}

/* samplers.T4, for the cells beyond four standard deviations, which an ordinary sample sees
 * seven times in 1e5.  A proposal there is accepted with 95 * 8 times the integral of
 * exp(-t^2/2) from 4 on, 0.0603: about 31,600 samples, radius 0.018.  A scale of 900 moves the
 * tail's law by 0.074. */
static void rounded_gaussian_has_its_tail(void **state)
{
    const double alpha = stat_alpha(STAT_rounded_gaussian_tail, 2);
    const long double accepted = 760 * 2.506628274631000502L * stat_normal(-4);
    /* Of the accepted ones, those that do not round to 4000; of the others, an ordinary chance. */
    const long double beyond = accepted * (stat_normal(-4.0005L) / stat_normal(-4)) +
                               (1 - accepted) * 2 * stat_normal(-4.0005L);
    size_t count = fill_from_tail(1000);
    assert_true(stat_is_probable(count, COUNT, (double)beyond, alpha));
    assert_true(stat_follows(sample, count, law_tail, NULL, alpha));
    count = fill_from_tail(900);
    assert_false(stat_is_probable(count, COUNT, (double)beyond, alpha));
    assert_false(stat_follows(sample, count, law_tail, NULL, alpha));
}

/* ---- privacy ------------------------------------------------------------- */

/* The mu that one event proves: how far apart a query whose answer is 0 and one whose answer is
 * 1000 are, with noise of this scale.  The threshold in the middle is the best event. */
static double proved_mu(double scale, double alpha)
{
    uint64_t hits[2] = { 0, 0 };
    for (int world = 0; world < 2; world++) {
        fill(draw_gaussian, &scale, 20 + (uint64_t)world);
        for (size_t i = 0; i < COUNT; i++) hits[world] += sample[i] + 1000 * world >= 500;
    }
    const double true_low = stat_lower_bound(hits[1], COUNT, alpha / 2);
    const double false_high = stat_upper_bound(hits[0], COUNT, alpha / 2);
    return stat_normal_quantile(true_low) - stat_normal_quantile(false_high);
}

/* samplers.T5: sensitivity 1000 and scale 1000 cost mu = 1.  Noise that is 5 % small has mu =
 * 1.053, and the two bounds give away 0.022 of it, with 0.003 of standard deviation. */
static void rounded_gaussian_costs_what_is_charged(void **state)
{
    const double alpha = stat_alpha(STAT_rounded_gaussian_privacy, 1);
    assert_true(proved_mu(1000, alpha) <= 1);
    assert_false(proved_mu(950, alpha) <= 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_bits_and_numbers_below_a_bound_are_uniform),
        cmocka_unit_test(streams_of_different_names_are_independent),
        cmocka_unit_test(bernoulli_exp_has_its_probability),
        cmocka_unit_test(discrete_laplace_has_its_law),
        cmocka_unit_test(truncated_laplace_has_its_law),
        cmocka_unit_test(rounded_gaussian_has_its_law),
        cmocka_unit_test(rounded_gaussian_has_its_tail),
        cmocka_unit_test(rounded_gaussian_costs_what_is_charged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
