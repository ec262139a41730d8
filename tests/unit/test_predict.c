/*
 * What can be said of a run beforehand: errors in the units of the columns, whether noise hides
 * what is looked for, and what would be enough.
 */
#include "pipeline.h"
#include "plan/mechanism.h"
#include <math.h>

static clo_domain box(size_t cols, const double *lower, const double *upper, uint64_t rows)
{
    clo_domain domain = clo_domain_default();
    domain.cols = cols;
    domain.lower = lower;
    domain.upper = upper;
    domain.rows = rows;
    return domain;
}

static double error_of(const clo_plan *plan, double rows)
{
    const char *meaning;
    double error;
    clo_error err;
    assert_ok(clo_plan_predict(plan, rows, &error, &meaning, &err), err);
    return error;
}

static void column_errors_are_in_the_units_of_their_columns(void **state)
{
    static const double lower[] = { 0, -3 }, upper[] = { 20000, 1 };
    const clo_domain domain = box(2, lower, upper, 5000);
    double errors[2];
    clo_error err;
    (void)state;
    clo_plan *const plan = plan_for("kmeans/lloyd", "clusters=4", &domain, 1, 1e-6);
    assert_ok(clo_plan_predict_columns(plan, 5000, errors, &err), err);
    /* A share of the box's half diagonal, spread evenly over the columns: a share of each half. */
    assert_relatively_close(errors[0], error_of(plan, 5000) * 10000, 1e-12);
    assert_relatively_close(errors[1], error_of(plan, 5000) * 2, 1e-12);
    clo_plan_free(plan);
    clo_plan *const frames = plan_for("subspace/gaussian", "dim=1", &domain, 1, 1e-6);
    assert_fails(clo_plan_predict_columns(frames, 5000, errors, &err), CLO_UNSUPPORTED, err,
                 "cannot be stated per column");
    clo_plan_free(frames);
}

static void column_errors_share_a_norm(void **state)
{
    clo_domain domain = clo_domain_default();
    double errors[4];
    clo_error err;
    (void)state;
    domain.cols = 4;
    domain.norm = 10;
    domain.rows = 5000;
    clo_plan *const plan = plan_for("kmeans/lloyd", "clusters=4", &domain, 1, 1e-6);
    assert_ok(clo_plan_predict_columns(plan, 5000, errors, &err), err);
    for (size_t j = 0; j < 4; j++)
        assert_relatively_close(errors[j], error_of(plan, 5000) * 10 / 2, 1e-12);
    clo_plan_free(plan);
}

/* The plan that the needs speak of, with one of them changed. */
static double error_with(const char *name, const char *settings, clo_domain domain, double epsilon,
                         double rows)
{
    domain.rows = (uint64_t)rows;
    clo_plan *const plan = plan_for(name, settings, &domain, epsilon, 1e-6);
    const double error = error_of(plan, rows);
    clo_plan_free(plan);
    return error;
}

/* What is named is enough, and nine tenths of it are not. */
static void what_is_needed_is_enough_and_less_is_not(void **state)
{
    static const char *const methods[] = { "kmeans/lloyd", "kmeans/grid" };
    (void)state;
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
        static const double lower[] = { 0, 0, 0 }, upper[] = { 1, 1, 1 };
        const clo_domain domain = box(3, lower, upper, 900);
        clo_plan *const plan = plan_for(methods[m], "clusters=6", &domain, 0.05, 1e-6);
        const double enough = 0.999 * clo_plan_hidden_from(plan);
        clo_needs needs;
        clo_error err;
        assert_true(clo_plan_hidden(plan, 900));
        assert_ok(clo_plan_needs_get(plan, 900, enough, &needs, sizeof needs, &err), err);
        assert_true(needs.epsilon > 0.05 && needs.rows > 900 && needs.clusters < 6);
        assert_true(error_with(methods[m], "clusters=6", domain, needs.epsilon, 900) <= enough);
        assert_true(error_with(methods[m], "clusters=6", domain, 0.9 * needs.epsilon, 900) >
                    enough);
        assert_true(error_with(methods[m], "clusters=6", domain, 0.05, needs.rows) <= enough);
        assert_true(error_with(methods[m], "clusters=6", domain, 0.05, 0.9 * needs.rows) > enough);
        if (needs.clusters > 0) {
            char words[32];
            snprintf(words, sizeof words, "clusters=%d", (int)needs.clusters);
            assert_true(error_with(methods[m], words, domain, 0.05, 900) <= enough);
            snprintf(words, sizeof words, "clusters=%d", (int)needs.clusters + 1);
            assert_true(error_with(methods[m], words, domain, 0.05, 900) > enough);
        }
        clo_plan_free(plan);
    }
}

/* Where the method was chosen, what another one would need counts as well: an epsilon that brings
 * the clusters out is named at any smaller one, whichever method serves best there. */
static void what_is_needed_is_of_the_method_that_would_be_chosen(void **state)
{
    static const char *const flats[] = { "linear", "affine" };
    static const double epsilons[] = { 0.3, 1, 3, 10 };
    clo_domain domain = clo_domain_default();
    (void)state;
    domain.cols = 50;
    domain.norm = 1;
    domain.rows = 320;
    for (size_t f = 0; f < 2; f++) {
        const clo_setting settings[] = { { "clusters", "5" },
                                         { "dim", "9" },
                                         { "flats", flats[f] } };
        double first = 0;
        for (size_t e = 0; e < sizeof epsilons / sizeof *epsilons; e++) {
            clo_plan *plan = NULL;
            clo_needs needs;
            clo_error err;
            const clo_loss budget = { epsilons[e], 1e-6 };
            assert_ok(
                clo_plan_auto("subspaces", settings, 3, &domain, budget, CLO_EXACT, &plan, &err),
                err);
            assert_true(clo_plan_hidden(plan, 320));
            const double enough = 0.999 * clo_plan_hidden_from(plan);
            assert_ok(clo_plan_needs_get(plan, 320, enough, &needs, sizeof needs, &err), err);
            assert_true(needs.epsilon > 10 && needs.epsilon < 20);
            assert_true(e == 0 || fabs(needs.epsilon - first) <= 0.05 * first);
            first = needs.epsilon;
            clo_plan_free(plan);
        }
    }
}

static void what_is_out_of_reach_is_not_named(void **state)
{
    clo_domain domain = clo_domain_default();
    clo_needs needs;
    clo_error err;
    (void)state;
    domain.cols = 2;
    domain.norm = 1;
    domain.rows = 2;
    clo_plan *const plan = plan_for("kmeans/lloyd", "clusters=3", &domain, 1e-6, 1e-6);
    assert_ok(clo_plan_needs_get(plan, 2, 1e-9, &needs, sizeof needs, &err), err);
    assert_true(needs.epsilon == 0 && needs.rows == 0 && needs.clusters == 0);
    assert_fails(clo_plan_needs_get(plan, 0, 1, &needs, sizeof needs, &err), CLO_ARGUMENT, err,
                 "rows");
    assert_fails(clo_plan_needs_get(plan, 2, 0, &needs, sizeof needs, &err), CLO_ARGUMENT, err,
                 "error");
    clo_plan_free(plan);
}

/* No budget finds three clusters in two rows; two it may, and three in more rows. */
static void more_clusters_than_rows_are_hidden_at_any_epsilon(void **state)
{
    static const char *const methods[] = { "kmeans/lloyd", "kmeans/grid", "kmeans/local",
                                           "kmeans/density", "kmedian/density" };
    clo_domain domain = clo_domain_default();
    (void)state;
    domain.cols = 2;
    domain.norm = 1;
    domain.rows = 2;
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
        clo_needs needs;
        clo_error err;
        clo_plan *const plan = plan_for(methods[m], "clusters=3", &domain, 90, 1e-6);
        const double enough = 0.999 * clo_plan_hidden_from(plan);
        double least, most;
        assert_true(clo_plan_hidden(plan, 2));
        assert_ok(clo_plan_predict_range(plan, 2, &least, &most, &err), err);
        assert_true(least <= most && most >= clo_plan_hidden_from(plan));
        assert_ok(clo_plan_needs_get(plan, 2, enough, &needs, sizeof needs, &err), err);
        assert_true(needs.epsilon == 0 && needs.rows >= 3 && needs.clusters <= 2);
        assert_close(needs.rows, floor(needs.rows), 0);
        clo_plan_free(plan);
    }
    clo_plan *const as_many = plan_for("kmeans/grid", "clusters=2", &domain, 90, 1e-6);
    assert_false(clo_plan_hidden(as_many, 2));
    clo_plan_free(as_many);
}

/* Directions are hidden where a random subspace is nearly as good; bounds cannot say. */
static void subspaces_are_hidden_next_to_random_ones(void **state)
{
    clo_domain domain = clo_domain_default();
    (void)state;
    domain.cols = 10;
    domain.norm = 1;
    domain.rows = 100;
    clo_plan *const few = plan_for("subspace/gaussian", "dim=2", &domain, 0.01, 1e-6);
    assert_relatively_close(clo_plan_hidden_from(few), 0.7 * sqrt(2 * 8 / 10.0), 1e-12);
    assert_true(clo_plan_hidden(few, 100));
    assert_false(clo_plan_hidden(few, 1e7));
    clo_plan_free(few);
    clo_plan *const bounds = plan_for("bounds/quantile", "", &domain, 1, 0);
    assert_true(isinf(clo_plan_hidden_from(bounds)));
    assert_false(clo_plan_hidden(bounds, 1));
    clo_plan_free(bounds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(column_errors_are_in_the_units_of_their_columns),
        cmocka_unit_test(column_errors_share_a_norm),
        cmocka_unit_test(what_is_needed_is_enough_and_less_is_not),
        cmocka_unit_test(what_is_needed_is_of_the_method_that_would_be_chosen),
        cmocka_unit_test(what_is_out_of_reach_is_not_named),
        cmocka_unit_test(more_clusters_than_rows_are_hidden_at_any_epsilon),
        cmocka_unit_test(subspaces_are_hidden_next_to_random_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
