/*
 * local_gram: diagonal and off-diagonal noise have their planned laws (gaussian_gram.T2), and the
 * worst neighbours on the diagonal and off it, both far beyond the width, are told apart no better
 * than mu allows (local_gram.T1). Power as in test_gaussian_sum.c.
 */
#include "asking.h"
#include "query/local_gram.h"

enum { D = 16, ASKS = 1 << 14, TRIALS = 40000, OFF = D * (D - 1) / 2 };

static const double WIDTH = 0.25, UNIT = 0x1p16; /* of an answer: 2^8 steps, squared */
static int64_t on[ASKS * D], off[(size_t)ASKS * OFF];

static clo_line planned(double mu)
{
    clo_error err;
    clo_line line;
    const clo_domain domain = ball(D, 1, CLO_REPLACE);
    assert_ok(clo_i_plan_local_gram(&domain, mu, 1, "", &line, &err), err);
    return line;
}

static void ask(asking *a, const clo_bounded *data, double *gram)
{
    clo_error err;
    static const double origin[D];
    assert_ok(clo_i_ask_local_gram(&a->context, 0, data, origin, WIDTH, gram, &err), err);
}

static void fill_residuals(clo_line line, clo_rng *rng)
{
    const double records[2 * D] = { 0.5, -0.5 }; /* 181 steps each */
    const clo_domain domain = ball(D, 1, CLO_REPLACE);
    clo_bounded *const data = bounded_from(records, 2, &domain);
    double gram[D * D];
    asking a;
    start_asking(&a, line, rng);
    for (size_t t = 0, at_on = 0, at_off = 0; t < ASKS; t++) {
        ask(&a, data, gram);
        for (size_t i = 0; i < D; i++)
            for (size_t j = i; j < D; j++) {
                const double truth = i < 2 && j < 2 ? (i == j ? 181 * 181 : -181 * 181) : 0;
                const int64_t residual = llround(gram[i * D + j] * UNIT - truth);
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

static void the_noise_has_the_planned_laws(void **state)
{
    const double alpha = stat_alpha(STAT_local_gram_law, 2);
    const clo_line line = planned(0.5);
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

static double along_the_diagonal(asking *a, const clo_bounded *data)
{
    double gram[D * D];
    ask(a, data, gram);
    return gram[0] - gram[D + 1];
}

static double across_the_diagonal(asking *a, const clo_bounded *data)
{
    double gram[D * D];
    ask(a, data, gram);
    return gram[1];
}

static void the_worst_neighbours_on_the_diagonal(void **state)
{
    const double left[D] = { 1 }, right[D] = { 0, 1 };
    const neighbours pair = { D, left, right, NULL, TRIALS, .925, 0 };
    (void)state;
    are_told_apart_as_planned(&pair, planned(2), along_the_diagonal, STAT_local_gram_diagonal);
}

static void the_worst_neighbours_off_the_diagonal(void **state)
{
    const double h = sqrt(0.5), left[D] = { h, h }, right[D] = { h, -h };
    const neighbours pair = { D, left, right, NULL, TRIALS, .925, 0 };
    (void)state;
    are_told_apart_as_planned(&pair, planned(2), across_the_diagonal, STAT_local_gram_across);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_noise_has_the_planned_laws),
        cmocka_unit_test(the_worst_neighbours_on_the_diagonal),
        cmocka_unit_test(the_worst_neighbours_off_the_diagonal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
