/*
 * test_chains.c - chains that agree are told from chains that are stuck, drift or differ in scale;
 * and why figure 3's statistic cannot tell.
 */
#include "check.h"
#include "../../bench/chains.h"
#include "random/random.h"
#include <stdlib.h>

enum { CHAINS = 4, LENGTH = 1000 };

static clo_stream *seeded(clo_rng **rng)
{
    uint8_t seed[32];
    clo_stream *stream = NULL;
    clo_seed_from_text("chains", seed);
    assert_int_equal(clo_rng_new_seeded(seed, rng, NULL), CLO_OK);
    assert_int_equal(clo_i_stream_open(*rng, 0, 0, &stream, NULL), CLO_OK);
    return stream;
}

/* Draw t of chain i is place(i) + drift t / LENGTH + scale(i) N(0, 1). */
static chain_comparison compare(const double place[CHAINS], const double scale[CHAINS],
                                double drift, double *plain)
{
    double *draws = calloc(CHAINS * LENGTH, sizeof *draws);
    clo_rng *rng = NULL;
    clo_stream *stream = seeded(&rng);
    chain_comparison out;
    clo_error err;
    assert_non_null(draws);
    for (size_t i = 0; i < CHAINS * LENGTH; i++)
        draws[i] = place[i / LENGTH] + drift * (double)(i % LENGTH) / LENGTH +
                   scale[i / LENGTH] * clo_i_random_normal(stream);
    assert_ok(compare_chains(draws, CHAINS, LENGTH, &out, &err), err);
    *plain = split_rhat(draws, CHAINS, LENGTH);
    clo_i_stream_close(stream);
    clo_rng_free(rng);
    free(draws);
    return out;
}

static const double same[CHAINS] = { 5, 5, 5, 5 }, ones[CHAINS] = { 1, 1, 1, 1 };

static void chains_of_one_law_agree(void **state)
{
    double plain;
    const chain_comparison c = compare(same, ones, 0, &plain);
    (void)state;
    assert_close(c.rhat, 1, 0.01);
    assert_close(plain, 1, 0.01);
    assert_close(c.sd, 1, 0.05);
    assert_true(c.gap < 0.2);
}

static void a_stuck_chain_is_seen(void **state)
{
    const double place[CHAINS] = { 5, 5, 5, 8 };
    double plain;
    const chain_comparison c = compare(place, ones, 0, &plain);
    (void)state;
    assert_true(c.rhat > 1.1 && plain > 1.1);
    assert_close(c.gap, 3, 0.2);
}

/* The halves differ, though the chains as wholes do not. */
static void a_drift_is_seen(void **state)
{
    double plain;
    const chain_comparison c = compare(same, ones, 3, &plain);
    (void)state;
    assert_true(c.rhat > 1.1 && plain > 1.1);
    assert_true(c.gap < 0.2);
}

/* The plain statistic compares means alone. */
static void a_chain_of_another_scale_is_seen(void **state)
{
    const double scale[CHAINS] = { 1, 1, 1, 5 };
    double plain;
    const chain_comparison c = compare(same, scale, 0, &plain);
    (void)state;
    assert_true(c.rhat > 1.1);
    assert_true(plain < 1.05);
}

/* By hand: halves of length 2 with means 1, 2, 5, 6 and variances 2. */
static void split_rhat_is_what_its_formula_says(void **state)
{
    const double draws[] = { 0, 2, 1, 3, 4, 6, 5, 7 };
    const double between = 17.0 / 3; /* of the four means: squares 6.25 + 2.25 + 2.25 + 6.25 */
    (void)state;
    assert_close(split_rhat(draws, 2, 4), sqrt(0.5 + between / 2), 1e-14);
}

/* The numbers are those of ArviZ 0.23 for the same draws: the first pair differs in place, and the
 * second in scale. */
static void rank_normalised_rhat_is_that_of_other_software(void **state)
{
    const double place[] = { 0.3,  1.2,  -0.4, 0.9,  2.5,  0.1, -1.1, 0.7,  0.2,  0.6,
                             1.3,  0.2,  1.4,  -0.9, 0.5,  3.1, 1.1,  0.4,  2.2,  1.6,
                             -0.3, -1.2, 0.4,  0.8,  -2.5, 0.0, -1.0, -0.7, 0.25, 0.65 };
    const double scale[] = { 0.3, -0.2, 0.1, -0.1, 0.2, -0.3, 0.15, -0.25,
                             3.1, -2.2, 1.9, -3.4, 2.6, -1.8, 2.4,  -2.9 };
    chain_comparison c;
    clo_error err;
    (void)state;
    assert_ok(compare_chains(place, 3, 10, &c, &err), err);
    assert_close(c.rhat, 1.209057547606618, 1e-12);
    assert_close(split_rhat(place, 3, 10), 1.2089233651232154, 1e-13);
    assert_ok(compare_chains(scale, 2, 8, &c, &err), err);
    assert_close(c.rhat, 1.82664713920787, 1e-12);
}

static void chains_that_never_move_agree_or_not(void **state)
{
    const double equal[] = { 3, 3, 3, 3, 3, 3, 3, 3 }, apart[] = { 3, 3, 3, 3, 4, 4, 4, 4 };
    chain_comparison c;
    clo_error err;
    (void)state;
    assert_ok(compare_chains(equal, 2, 4, &c, &err), err);
    assert_true(c.rhat == 1 && c.gap == 0 && c.sd == 0);
    assert_ok(compare_chains(apart, 2, 4, &c, &err), err);
    assert_true(isinf(c.rhat) && c.gap == 1);
}

static void too_little_to_compare_is_refused(void **state)
{
    const double draws[] = { 1, 2, 3, 4, NAN, 6, 7, 8 };
    chain_comparison c = { .gap = 7 };
    clo_error err;
    (void)state;
    assert_fails(compare_chains(draws, 1, 4, &c, &err), CLO_ARGUMENT, err,
                 "at least 2 chains of at least 4 draws are needed to compare them, not 1 of 4");
    assert_fails(compare_chains(draws, 2, 4, &c, &err), CLO_ARGUMENT, err,
                 "draws must be finite numbers");
    assert_true(c.gap == 7);
}

/* A line that never moves, with its sign redrawn: the statistic calls it mixed. */
static void the_norm_of_the_mean_basis_vanishes_for_a_stuck_chain_too(void **state)
{
    clo_rng *rng = NULL;
    clo_stream *stream = seeded(&rng);
    double mean[3] = { 0 };
    const double line[3] = { 0.6, 0, 0.8 };
    (void)state;
    assert_close(mean_basis_norm(line, 1, 3, 1), 1, 1e-15);
    for (size_t t = 0; t < LENGTH; t++) {
        const double sign = clo_i_random_bit(stream) ? 1 : -1;
        for (size_t c = 0; c < 3; c++) mean[c] += sign * line[c] / LENGTH;
    }
    assert_true(mean_basis_norm(mean, 1, 3, 1) < 5 / sqrt(LENGTH));
    clo_i_stream_close(stream);
    clo_rng_free(rng);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chains_of_one_law_agree),
        cmocka_unit_test(a_stuck_chain_is_seen),
        cmocka_unit_test(a_drift_is_seen),
        cmocka_unit_test(a_chain_of_another_scale_is_seen),
        cmocka_unit_test(split_rhat_is_what_its_formula_says),
        cmocka_unit_test(rank_normalised_rhat_is_that_of_other_software),
        cmocka_unit_test(chains_that_never_move_agree_or_not),
        cmocka_unit_test(too_little_to_compare_is_refused),
        cmocka_unit_test(the_norm_of_the_mean_basis_vanishes_for_a_stuck_chain_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
