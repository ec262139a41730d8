/*
 * cell_counts: every cell, with records or without, carries noise of the planned law, discrete
 * Laplace or Gaussian (cell_counts.T1).  Controls: a rate 20 % too sharp, a scale 5 % too small.
 */
#include "asking.h"
#include "query/cell_counts.h"

enum { ASKS = 1 << 16, SIDE = 2, ROWS = 3, CELLS = SIDE * SIDE };

static int64_t residuals[ASKS * CELLS];

/* P[DLap <= x]; parameters: the rate. */
static long double laplace(int64_t x, const void *parameters)
{
    const long double rate = *(const double *)parameters, both = 1 + expl(-rate);
    return x < 0 ? expl(rate * (long double)x) / both
                 : 1 - expl(-rate * (long double)(x + 1)) / both;
}

static void fill_residuals(clo_line line, clo_rng *rng)
{
    /* Two records low in both columns, one high in both, none in the cells across. */
    const double rows[ROWS * 2] = { -.5, -.5, -.1, -.2, .3, .4 }, truth[CELLS] = { 2, 0, 0, 1 };
    const clo_domain domain = ball(2, 1, CLO_REPLACE);
    clo_bounded *const data = bounded_from(rows, ROWS, &domain);
    clo_error err;
    asking a;
    start_asking(&a, line, rng);
    for (size_t i = 0; i < ASKS; i++) {
        double counts[CELLS];
        assert_ok(clo_i_ask_cell_counts(&a.context, 0, data, counts, &err), err);
        for (size_t c = 0; c < CELLS; c++)
            residuals[i * CELLS + c] = llround((counts[c] - truth[c]) * (double)line.count_unit);
    }
    stop_asking(&a);
    clo_bounded_free(data);
}

static void laplace_noise_has_the_planned_law(void **state)
{
    const double alpha = stat_alpha(STAT_cell_counts_law, 2), rate = .25; /* 1/2 over 2 */
    const clo_domain domain = ball(2, 1, CLO_REPLACE);
    clo_rng *const rng = stat_rng();
    clo_error err;
    clo_line line;
    (void)state;
    assert_ok(clo_i_plan_cell_counts(&domain, SIDE, CLO_EVENT_PURE, .5, 1, "", &line, &err), err);
    fill_residuals(line, rng);
    assert_true(stat_follows(residuals, ASKS * CELLS, laplace, &rate, alpha));
    line.rate_numerator = line.rate_numerator / 5 * 6;
    fill_residuals(line, rng);
    assert_false(stat_follows(residuals, ASKS * CELLS, laplace, &rate, alpha));
    clo_rng_free(rng);
}

static void gaussian_noise_has_the_planned_law(void **state)
{
    const double alpha = stat_alpha(STAT_cell_counts_law, 2);
    const clo_domain domain = ball(2, 1, CLO_REPLACE);
    clo_rng *const rng = stat_rng();
    clo_error err;
    clo_line line;
    (void)state;
    assert_ok(clo_i_plan_cell_counts(&domain, SIDE, CLO_EVENT_GAUSSIAN, .25, 1, "", &line, &err),
              err);
    const double scale = (double)line.scale;
    fill_residuals(line, rng);
    assert_true(stat_follows(residuals, ASKS * CELLS, stat_rounded_gaussian, &scale, alpha));
    line.scale = line.scale * 19 / 20;
    fill_residuals(line, rng);
    assert_false(stat_follows(residuals, ASKS * CELLS, stat_rounded_gaussian, &scale, alpha));
    clo_rng_free(rng);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(laplace_noise_has_the_planned_law),
        cmocka_unit_test(gaussian_noise_has_the_planned_law),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
