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

/* bounds_quantile.T2: nearly all that is negative is truncated to 0, of both columns.  A column far
 * wider than a step of the grid keeps its ends. */
static void a_column_far_below_the_norm_keeps_both_its_halves(void **state)
{
    static double values[ROWS * D];
    const clo_domain domain = ball(D, 2e9, CLO_REPLACE);
    const double step = ldexp(2e9, -30);
    clo_array lower, upper;
    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        values[i * D] = (double)(i % 2001) / 1000 - 1.0; /* -1 … 1 */
        values[i * D + 1] = -1.5;
        values[i * D + 2] = (double)(i % 2001) * 1000; /* 0 … 2 million */
    }
    clo_plan *const plan = plan_for("bounds/quantile", "of=columns", &domain, 3, 1e-6);
    clo_bounded *const data = bounded_from(values, ROWS, &domain);
    clo_release *const release = run_seeded(plan, data, "tiny", NULL);
    assert_true(clo_release_find(release, "lower", &lower));
    assert_true(clo_release_find(release, "upper", &upper));
    assert_true(lower.data[0] <= -1 && lower.data[0] > -40 * step && upper.data[0] >= 1);
    assert_true(lower.data[1] <= -1.5 && upper.data[1] > -1.5);
    assert_true(lower.data[2] > -100 && upper.data[2] > 1.8e6 && upper.data[2] < 2.4e6);
    clo_release_free(release);
    clo_bounded_free(data);
    clo_plan_free(plan);
}

/* quantile.T2: with a tenth of the rows that it takes, and with none. */
static void too_few_rows_give_the_largest_radius_and_not_the_smallest(void **state)
{
    static double values[ROWS * D];
    const clo_domain domain = ball(D, 1e6, CLO_ADD_REMOVE);
    clo_array radius, lower, upper;
    (void)state;
    fill(values, 1);
    clo_plan *const norm = plan_for("bounds/quantile", "", &domain, 0.1, 0);
    clo_plan *const columns = plan_for("bounds/quantile", "of=columns", &domain, 0.1, 0);
    for (size_t rows = 0; rows <= 120; rows += 30) {
        clo_bounded *const data = bounded_from(values, rows, &domain);
        clo_release *const one = run_seeded(norm, data, "few", NULL);
        assert_true(clo_release_find(one, "radius", &radius));
        assert_true(radius.data[0] == 1e6);
        clo_release *const each = run_seeded(columns, data, "few", NULL);
        assert_true(clo_release_find(each, "lower", &lower));
        assert_true(clo_release_find(each, "upper", &upper));
        for (size_t j = 0; j < D; j++) assert_true(lower.data[j] == -1e6 && upper.data[j] == 1e6);
        clo_release_free(one);
        clo_release_free(each);
        clo_bounded_free(data);
    }
    clo_plan_free(norm);
    clo_plan_free(columns);
}

/* quantile.T3 */
static void the_outlook_follows_from_public_numbers(void **state)
{
    clo_domain domain = ball(D, 100, CLO_REPLACE);
    clo_outlook seen, more;
    (void)state;
    clo_plan *const hidden = plan_for("bounds/quantile", "", &domain, 0.5, 0);
    assert_true(clo_plan_outlook_get(hidden, &seen, sizeof seen));
    assert_false(seen.told || seen.columns);
    assert_true(seen.rows == 0 && seen.epsilon_needed == 0 && seen.share_needed == 0);
    assert_true(seen.rows_needed > 240 && seen.rows_needed < 280);
    domain.rows = 100;
    clo_plan *const few = plan_for("bounds/quantile", "", &domain, 0.5, 0);
    assert_true(clo_plan_outlook_get(few, &seen, sizeof seen));
    assert_false(seen.told);
    clo_plan *const enough = plan_for("bounds/quantile", "", &domain, seen.epsilon_needed, 0);
    assert_true(clo_plan_outlook_get(enough, &more, sizeof more));
    assert_true(more.told && more.rows_out < seen.rows_out);
    clo_plan *const columns = plan_for("bounds/quantile", "of=columns", &domain, 0.5, 1e-6);
    assert_true(clo_plan_outlook_get(columns, &seen, sizeof seen));
    assert_true(seen.columns && !seen.told);
    clo_plan *const sure =
        plan_for("bounds/quantile", "of=columns", &domain, seen.epsilon_needed, 1e-6);
    assert_true(clo_plan_outlook_get(sure, &more, sizeof more));
    assert_true(more.told);
    clo_plan *const other = plan_for("kmeans/lloyd", "clusters=2", &domain, 1, 1e-6);
    assert_false(clo_plan_outlook_get(other, &more, sizeof more));
    clo_plan_free(hidden);
    clo_plan_free(few);
    clo_plan_free(enough);
    clo_plan_free(columns);
    clo_plan_free(sure);
    clo_plan_free(other);
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
        cmocka_unit_test(a_column_far_below_the_norm_keeps_both_its_halves),
        cmocka_unit_test(too_few_rows_give_the_largest_radius_and_not_the_smallest),
        cmocka_unit_test(the_outlook_follows_from_public_numbers),
        cmocka_unit_test(bounds_of_bounded_columns_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
