/* bounds/quantile: a radius and column bounds near the true quantiles, for any scale inside a
 * generous public one (bounds_quantile.T1). */
#include "pipeline.h"
#include "plan/mechanism.h"

enum { ROWS = 20000, D = 3 };

/* Norms uniform in 0 … scale, along a direction that turns. */
static void fill(double *values, double scale)
{
    for (size_t i = 0; i < ROWS; i++) {
        const double r = scale * ((double)(i * 7919 % ROWS) + 0.5) / ROWS, turn = (double)i;
        values[i * D] = r * cos(turn);
        values[i * D + 1] = r * sin(turn);
        values[i * D + 2] = 0;
    }
}

static void the_radius_is_near_the_quantile_at_any_scale(void **state)
{
    static double values[ROWS * D];
    const double scales[] = { 1e6, 300, 1, 0.05 };
    const clo_domain domain = ball(D, 1e6, CLO_REPLACE);
    clo_array radius;
    (void)state;
    clo_plan *const plan = plan_for("bounds/quantile", "quantile=0.9", &domain, 0.5, 0);
    assert_int_equal(plan->line_count, 1); /* bounds_quantile.T1: one choice */
    assert_close(clo_plan_price(plan).loss.epsilon, 0.5, 1e-8);
    for (size_t s = 0; s < 4; s++) {
        fill(values, scales[s]);
        clo_bounded *const data = bounded_from(values, ROWS, &domain);
        clo_release *const release = run_seeded(plan, data, "radius", NULL);
        assert_true(clo_release_find(release, "radius", &radius));
        /* a grid of eight steps an octave: within nine per cent, and what the noise adds */
        assert_relatively_close(radius.data[0], 0.9 * scales[s], 0.1);
        clo_release_free(release);
        clo_bounded_free(data);
    }
    clo_plan_free(plan);
}

static void column_bounds_hold_most_of_each_column(void **state)
{
    static double values[ROWS * D];
    const clo_domain domain = ball(D, 1000, CLO_ADD_REMOVE);
    clo_array lower, upper;
    (void)state;
    fill(values, 20);
    for (size_t i = 0; i < ROWS; i++) values[i * D + 2] = 5 + (double)(i % 100) / 100; /* 5 … 6 */
    clo_plan *const plan =
        plan_for("bounds/quantile", "of=columns quantile=0.99", &domain, 3, 1e-6);
    clo_bounded *const data = bounded_from(values, ROWS, &domain);
    clo_release *const release = run_seeded(plan, data, "columns", NULL);
    assert_true(clo_release_find(release, "lower", &lower));
    assert_true(clo_release_find(release, "upper", &upper));
    for (size_t j = 0; j < D; j++) assert_true(lower.data[j] < upper.data[j]);
    assert_true(lower.data[0] < -10 && lower.data[0] > -22 && upper.data[0] > 10 &&
                upper.data[0] < 22);
    /* the data lie between two thresholds: the nearest ones outside, give or take an octave */
    assert_true(lower.data[2] > 2.5 && lower.data[2] < 5.6);
    assert_true(upper.data[2] > 5.4 && upper.data[2] < 12);
    clo_release_free(release);
    clo_bounded_free(data);
    clo_plan_free(plan);
}

static void a_constant_column_still_gets_usable_bounds(void **state)
{
    static const double zeros[ROWS * D];
    const clo_domain domain = ball(D, 1, CLO_REPLACE);
    clo_array lower, upper;
    (void)state;
    clo_plan *const plan = plan_for("bounds/quantile", "of=columns", &domain, 5, 1e-6);
    clo_bounded *const data = bounded_from(zeros, 50, &domain);
    clo_release *const release = run_seeded(plan, data, "constant", NULL);
    assert_true(clo_release_find(release, "lower", &lower));
    assert_true(clo_release_find(release, "upper", &upper));
    for (size_t j = 0; j < D; j++) assert_true(lower.data[j] < upper.data[j]);
    clo_release_free(release);
    clo_bounded_free(data);
    clo_plan_free(plan);
}

static void bounds_of_bounded_columns_are_refused(void **state)
{
    const double lower[1] = { 0 }, upper[1] = { 1 };
    clo_domain domain = clo_domain_default();
    clo_params *const params = params_for("bounds/quantile", "");
    clo_plan *plan = NULL;
    clo_error err;
    (void)state;
    domain.cols = 1;
    domain.lower = lower;
    domain.upper = upper;
    assert_fails(clo_plan_new(params, &domain, (clo_loss){ 1, 0 }, CLO_EXACT, &plan, &err),
                 CLO_ARGUMENT, err, "give a norm");
    clo_params_free(params);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_radius_is_near_the_quantile_at_any_scale),
        cmocka_unit_test(column_bounds_hold_most_of_each_column),
        cmocka_unit_test(a_constant_column_still_gets_usable_bounds),
        cmocka_unit_test(bounds_of_bounded_columns_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
