/*
 * gram_law.h - what the tests of Gram matrices share: diagonal and off-diagonal noise have their
 * planned laws, and the worst neighbours on the diagonal and off it are told apart no better than
 * mu allows.  A test says of its query what gram_query has, and runs gram_tests.
 */
#ifndef CLO_TEST_GRAM_LAW_H
#define CLO_TEST_GRAM_LAW_H

#include "asking.h"

enum { D = 16, ASKS = 1 << 14, TRIALS = 40000, OFF = D * (D - 1) / 2 };

typedef struct gram_query {
    clo_line (*planned)(double mu); /* under replace */
    void (*ask)(asking *a, const clo_bounded *data, double *gram);
    double unit;   /* of an answer */
    double corner; /* in units: what a record (.5, -.5, 0, ...) adds to the diagonal */
    stat_test law, diagonal, across;
} gram_query;

static const gram_query tested; /* the test's own */

static int64_t on[ASKS * D], off[(size_t)ASKS * OFF];

static inline void fill_residuals(clo_line line, clo_rng *rng)
{
    const double records[2 * D] = { 0.5, -0.5 }; /* r r' fills a 2 x 2 corner */
    const clo_domain domain = ball(D, 1, CLO_REPLACE);
    clo_bounded *const data = bounded_from(records, 2, &domain);
    double gram[D * D];
    asking a;
    start_asking(&a, line, rng);
    for (size_t t = 0, at_on = 0, at_off = 0; t < ASKS; t++) {
        tested.ask(&a, data, gram);
        for (size_t i = 0; i < D; i++)
            for (size_t j = i; j < D; j++) {
                const double truth = i < 2 && j < 2 ? (i == j ? 1 : -1) * tested.corner : 0;
                const int64_t residual = llround(gram[i * D + j] * tested.unit - truth);
                assert_true(gram[i * D + j] == gram[j * D + i]);
                if (i == j)
                    on[at_on++] = residual;
                else
                    off[at_off++] = residual;
            }
    }
    stop_asking(&a);
    clo_bounded_free(data);
}

static inline void the_noise_has_the_planned_laws(void **state)
{
    const double alpha = stat_alpha(tested.law, 2);
    const clo_line line = tested.planned(0.5);
    const double scale = (double)line.scale, across = ceil((double)line.scale / sqrt(2));
    clo_rng *const rng = stat_rng();
    (void)state;
    fill_residuals(line, rng);
    assert_true(stat_follows(on, ASKS * D, stat_rounded_gaussian, &scale, alpha));
    assert_true(stat_follows(off, ASKS * OFF, stat_rounded_gaussian, &across, alpha));
    assert_false(stat_follows(off, ASKS * OFF, stat_rounded_gaussian, &scale, alpha));
    clo_line small = line;
    small.scale = line.scale * 19 / 20;
    fill_residuals(small, rng);
    assert_false(stat_follows(on, ASKS * D, stat_rounded_gaussian, &scale, alpha));
    assert_false(stat_follows(off, ASKS * OFF, stat_rounded_gaussian, &across, alpha));
    clo_rng_free(rng);
}

static inline double along_the_diagonal(asking *a, const clo_bounded *data)
{
    double gram[D * D];
    tested.ask(a, data, gram);
    return gram[0] - gram[D + 1];
}

static inline double across_the_diagonal(asking *a, const clo_bounded *data)
{
    double gram[D * D];
    tested.ask(a, data, gram);
    return gram[1];
}

static inline void the_worst_neighbours_on_the_diagonal(void **state)
{
    const double left[D] = { 1 }, right[D] = { 0, 1 };
    const neighbours pair = { D, left, right, NULL, TRIALS, .925, 0 };
    (void)state;
    are_told_apart_as_planned(&pair, tested.planned(2), along_the_diagonal, tested.diagonal);
}

static inline void the_worst_neighbours_off_the_diagonal(void **state)
{
    const double h = sqrt(0.5), left[D] = { h, h }, right[D] = { h, -h };
    const neighbours pair = { D, left, right, NULL, TRIALS, .925, 0 };
    (void)state;
    are_told_apart_as_planned(&pair, tested.planned(2), across_the_diagonal, tested.across);
}

static const struct CMUnitTest gram_tests[] = {
    cmocka_unit_test(the_noise_has_the_planned_laws),
    cmocka_unit_test(the_worst_neighbours_on_the_diagonal),
    cmocka_unit_test(the_worst_neighbours_off_the_diagonal),
};

#endif
