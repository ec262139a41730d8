/* subspace/approx: data near a subspace give it away, whatever the number of columns, data that are
 * not near one give none (subspace_approx.T1), and the error is that of the cell
 * (subspace_approx.T2). */
#include "near_subspace.h"
#include "plan/mechanism.h"
#include "query/histogram.h"
#include <math.h>

static void finds_a_subspace_that_is_near_and_as_well_as_predicted(void **state)
{
    clo_domain domain = ball(10, 1, CLO_REPLACE);
    char settings[64];
    (void)state;
    for (double gamma = 1e-3; gamma > 1e-6; gamma /= 10) {
        sample s = near_subspace(2560, 10, gamma, .1, "near");
        const char *meaning;
        double predicted = 0;
        clo_error err;
        domain.rows = s.rows;
        snprintf(settings, sizeof settings, "dim=2 gamma=%g", gamma);
        clo_plan *const plan = plan_for("subspace/approx", settings, &domain, 1, 1e-6);
        assert_int_equal(clo_i_histogram_fields(&plan->lines[0]).blocks, 160);
        assert_ok(clo_plan_predict(plan, 2560, &predicted, &meaning, &err), err);
        clo_bounded *const data = bounded_from(s.values, s.rows, &domain);
        clo_release *const release = run_seeded(plan, data, "find", NULL);
        const double error = error_of(release, &s);
        assert_true(error >= 0 && error < 3 * predicted);
        assert_true(error < 40 * gamma);
        clo_release_free(release);
        clo_bounded_free(data);
        clo_plan_free(plan);
        free_sample(&s);
    }
}

/* The records that it takes do not grow with the columns, where gamma shrinks as the theorem of
 * singhal2021 asks. */
static void the_number_of_columns_does_not_matter(void **state)
{
    (void)state;
    for (size_t d = 10; d <= 160; d *= 4) {
        clo_domain domain = ball(d, 1, CLO_REPLACE);
        char settings[64];
        const double gamma = .03 / pow((double)d, 1.5);
        sample s = near_subspace(1280, d, gamma, .1, "columns");
        domain.rows = s.rows;
        snprintf(settings, sizeof settings, "dim=2 gamma=%.17g", gamma);
        clo_plan *const plan = plan_for("subspace/approx", settings, &domain, 1, 1e-6);
        clo_bounded *const data = bounded_from(s.values, s.rows, &domain);
        int found = 0;
        for (char seed[] = "a"; seed[0] <= 'j'; seed[0]++) {
            clo_release *const release = run_seeded(plan, data, seed, NULL);
            const double error = error_of(release, &s);
            assert_true(error < .1);
            found += error >= 0;
            clo_release_free(release);
        }
        assert_true(found >= 7);
        clo_bounded_free(data);
        clo_plan_free(plan);
        free_sample(&s);
    }
}

/* subspace_approx.T1: that nothing is found is a release like any other. */
static void finds_nothing_where_there_is_no_subspace(void **state)
{
    clo_domain domain = ball(10, 1, CLO_REPLACE);
    (void)state;
    sample s = near_subspace(2560, 10, 1, .1, "everywhere");
    domain.rows = s.rows;
    clo_plan *const plan = plan_for("subspace/approx", "dim=2 gamma=1e-3", &domain, 1, 1e-6);
    clo_bounded *const data = bounded_from(s.values, s.rows, &domain);
    clo_release *const release = run_seeded(plan, data, "none", NULL);
    assert_true(error_of(release, &s) < 0);
    clo_release_free(release);
    clo_bounded_free(data);
    clo_plan_free(plan);
    free_sample(&s);
}

/* The same subspace, where columns of other units are bounded one by one. */
static void columns_keep_their_units(void **state)
{
    enum { D = 4 };
    const double lower[D] = { -5, -5, -50, -5 }, upper[D] = { 5, 5, 50, 5 };
    clo_domain domain = clo_domain_default();
    clo_array basis;
    (void)state;
    sample s = near_subspace(2560, D, 1e-5, 1, "units");
    for (size_t i = 0; i < s.rows; i++) s.values[i * D + 2] *= 10;
    for (size_t e = 0; e < K; e++) s.basis[2 * K + e] *= 10;
    clo_error err;
    assert_ok(clo_i_orthonormalize(s.basis, D, K, &err), err);
    domain.cols = D;
    domain.lower = lower;
    domain.upper = upper;
    domain.rows = s.rows;
    clo_plan *const plan = plan_for("subspace/approx", "dim=2 gamma=1e-4", &domain, 1, 1e-6);
    clo_bounded *const data = bounded_from(s.values, s.rows, &domain);
    clo_release *const release = run_seeded(plan, data, "units", NULL);
    const double error = error_of(release, &s);
    assert_true(error >= 0 && error < .05);
    assert_true(clo_release_find(release, "center", &basis));
    clo_release_free(release);
    clo_bounded_free(data);
    clo_plan_free(plan);
    free_sample(&s);
}

static void gamma_must_be_stated(void **state)
{
    const clo_domain domain = ball(3, 1, CLO_REPLACE);
    clo_params *const params = params_for("subspace/approx", "dim=2");
    clo_plan *plan = NULL;
    clo_error err;
    (void)state;
    assert_fails(clo_plan_new(params, &domain, (clo_loss){ 1, 1e-6 }, CLO_EXACT, &plan, &err),
                 CLO_ARGUMENT, err, "give gamma");
    assert_ok(clo_params_set(params, "gamma", .01, &err), err);
    assert_fails(clo_plan_new(params, &domain, (clo_loss){ 1, 0 }, CLO_EXACT, &plan, &err),
                 CLO_BUDGET, err, "delta");
    assert_ok(clo_params_set(params, "dim", 4, &err), err);
    assert_fails(clo_plan_new(params, &domain, (clo_loss){ 1, 1e-6 }, CLO_EXACT, &plan, &err),
                 CLO_ARGUMENT, err, "at most the number of columns");
    clo_params_free(params);
}

/* A smaller budget asks for more blocks, as long as there are records for them. */
static void blocks_follow_the_public_facts(void **state)
{
    clo_domain domain = ball(10, 1, CLO_REPLACE);
    (void)state;
    domain.rows = 100000;
    clo_plan *const small = plan_for("subspace/approx", "dim=2 gamma=1e-3", &domain, .5, 1e-6);
    assert_true(clo_i_histogram_fields(&small->lines[0]).blocks > 300 &&
                clo_i_histogram_fields(&small->lines[0]).blocks < 350);
    domain.rows = 400;
    clo_plan *const few = plan_for("subspace/approx", "dim=2 gamma=1e-3", &domain, 1, 1e-6);
    assert_int_equal(clo_i_histogram_fields(&few->lines[0]).blocks, 100);
    clo_plan_free(small);
    clo_plan_free(few);
}

static void runs_are_total_and_the_same_on_any_threads(void **state)
{
    const double values[] = {
        0, 0, 0, 1, 0, 0, 1e300, -1e300, 5, NAN, 0, 0, .1, .2, .3, .3, .2, .1
    };
    (void)state;
    for (size_t rows = 0; rows <= 6; rows += 3)
        for (int relation = CLO_REPLACE; relation <= CLO_ADD_REMOVE; relation++) {
            const clo_domain domain = ball(3, 1, (clo_relation)relation);
            clo_plan *const plan =
                plan_for("subspace/approx", "dim=1 gamma=0.1 blocks=5", &domain, 20, 1e-6);
            clo_bounded *const data = bounded_from(values, rows, &domain);
            assert_same_on_any_threads(plan, data);
            clo_bounded_free(data);
            clo_plan_free(plan);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_a_subspace_that_is_near_and_as_well_as_predicted),
        cmocka_unit_test(the_number_of_columns_does_not_matter),
        cmocka_unit_test(finds_nothing_where_there_is_no_subspace),
        cmocka_unit_test(columns_keep_their_units),
        cmocka_unit_test(gamma_must_be_stated),
        cmocka_unit_test(blocks_follow_the_public_facts),
        cmocka_unit_test(runs_are_total_and_the_same_on_any_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
