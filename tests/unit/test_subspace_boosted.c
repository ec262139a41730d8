/* subspace/boosted: parts of the records vote (subspace_boosted.T1), seldom without an answer and
 * as well as predicted; how many parts there are follows from beta (subspace_boosted.T3). */
#include "near_subspace.h"
#include "mechanism/mechanism.h"
#include <math.h>

static clo_array array_of(const clo_release *release, const char *name)
{
    clo_array array;
    assert_true(clo_release_find(release, name, &array));
    return array;
}

static void finds_a_subspace_as_well_as_predicted(void **state)
{
    clo_domain domain = ball(10, 1, CLO_REPLACE);
    const char *meaning;
    double predicted[3] = { 0 };
    clo_error err;
    (void)state;
    sample s = near_subspace(10400, 10, 1e-4, .1, "boosted");
    domain.rows = s.rows;
    clo_bounded *const data = bounded_from(s.values, s.rows, &domain);
    static const char *const methods[] = { "subspace/boosted", "subspace/boosted",
                                           "subspace/approx" };
    static const char *const settings[] = { "dim=2 gamma=1e-4", "dim=2 gamma=1e-4 answer=one",
                                            "dim=2 gamma=1e-4" };
    for (size_t i = 0; i < 3; i++) {
        clo_plan *const plan = plan_for(methods[i], settings[i], &domain, 1, 1e-6);
        assert_ok(clo_plan_predict(plan, 10400, &predicted[i], &meaning, &err), err);
        clo_release *const release = run_seeded(plan, data, "boost", NULL);
        const double error = error_of(release, &s);
        assert_true(error >= 0 && error < 2 * predicted[i]);
        clo_release_free(release);
        clo_plan_free(plan);
    }
    assert_true(predicted[0] < predicted[2] && predicted[2] < predicted[1]);
    clo_bounded_free(data);
    free_sample(&s);
}

/* 13 parts of 8 blocks at an epsilon where that is enough: each run has an answer, and the votes
 * are told. */
static void says_how_the_parts_voted(void **state)
{
    clo_domain domain = ball(4, 1, CLO_ADD_REMOVE);
    (void)state;
    sample s = near_subspace(3000, 4, 1e-5, .1, "votes");
    clo_bounded *const data = bounded_from(s.values, s.rows, &domain);
    clo_plan *const plan =
        plan_for("subspace/boosted", "dim=2 gamma=1e-4 blocks=40", &domain, 4, 1e-6);
    for (char seed[] = "a"; seed[0] <= 'e'; seed[0]++) {
        clo_release *const release = run_seeded(plan, data, seed, NULL);
        const double error = error_of(release, &s);
        const double *const votes = array_of(release, "votes").data;
        assert_true(error >= 0 && error < .05);
        assert_true(votes[0] > 12.5 && votes[0] < 13.5);
        assert_true(votes[1] <= votes[0] && votes[2] <= votes[1] && 2 * votes[2] > votes[1]);
        clo_release_free(release);
    }
    clo_plan_free(plan);
    clo_bounded_free(data);
    free_sample(&s);
}

/* subspace_boosted.T1: that nothing is found is a release like any other. */
static void finds_nothing_where_there_is_no_subspace(void **state)
{
    clo_domain domain = ball(10, 1, CLO_REPLACE);
    (void)state;
    sample s = near_subspace(2560, 10, 1, .1, "everywhere");
    domain.rows = s.rows;
    clo_plan *const plan =
        plan_for("subspace/boosted", "dim=2 gamma=1e-3 parts=4", &domain, 1, 1e-6);
    clo_bounded *const data = bounded_from(s.values, s.rows, &domain);
    clo_release *const release = run_seeded(plan, data, "none", NULL);
    assert_true(error_of(release, &s) < 0);
    assert_true(array_of(release, "votes").data[1] < .5);
    clo_release_free(release);
    clo_bounded_free(data);
    clo_plan_free(plan);
    free_sample(&s);
}

/* subspace_boosted.T3: the least odd number whose binomial tail at .8 is at most beta. */
static void parts_follow_beta(void **state)
{
    static const struct {
        const char *settings;
        size_t parts;
    } cases[] = { { "gamma=0.01", 13 },
                  { "gamma=0.01 beta=0.5", 1 },
                  { "gamma=0.01 beta=0.05", 7 },
                  { "gamma=0.01 beta=0.001", 21 },
                  { "gamma=0.01 beta=0.001 parts=2", 2 } };
    clo_domain domain = ball(10, 1, CLO_REPLACE);
    (void)state;
    domain.rows = 100000;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        clo_plan *const plan = plan_for("subspace/boosted", cases[i].settings, &domain, 1, 1e-6);
        assert_int_equal(plan->slots[0].parts, cases[i].parts);
        assert_int_equal(plan->slots[0].blocks, 160 * cases[i].parts);
        assert_int_equal(plan->slots[0].threshold, 28); /* as for one part: histogram.T3 */
        clo_plan_free(plan);
    }
}

static void what_is_missing_or_too_much_is_said(void **state)
{
    const clo_domain domain = ball(3, 1, CLO_REPLACE);
    clo_params *const params = params_for("subspace/boosted", "dim=2");
    clo_plan *plan = NULL;
    clo_error err;
    (void)state;
    assert_fails(clo_plan_new(params, &domain, (clo_loss){ 1, 1e-6 }, CLO_EXACT, &plan, &err),
                 CLO_ARGUMENT, err, "gamma must be stated");
    assert_ok(clo_params_set(params, "gamma", .01, &err), err);
    assert_fails(clo_plan_new(params, &domain, (clo_loss){ 1, 0 }, CLO_EXACT, &plan, &err),
                 CLO_BUDGET, err, "delta");
    assert_ok(clo_params_set(params, "blocks", 10000, &err), err);
    assert_fails(clo_plan_new(params, &domain, (clo_loss){ 1, 1e-6 }, CLO_EXACT, &plan, &err),
                 CLO_ARGUMENT, err, "parts of 10000 blocks must be between 1 and 6, not 13");
    clo_params_free(params);
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
                plan_for("subspace/boosted", "dim=1 gamma=0.1 blocks=1 parts=5", &domain, 40, 1e-6);
            clo_bounded *const data = bounded_from(values, rows, &domain);
            text seen[2];
            for (int threads = 1; threads <= 2; threads++) {
                clo_run_options options = clo_run_options_default();
                options.threads = threads;
                options.block_rows = (size_t)threads + 1;
                clo_release *const release = run_seeded(plan, data, "total", &options);
                seen[threads - 1] = json_of(release);
                clo_release_free(release);
            }
            assert_string_equal(seen[0].bytes, seen[1].bytes);
            free(seen[0].bytes);
            free(seen[1].bytes);
            clo_bounded_free(data);
            clo_plan_free(plan);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_a_subspace_as_well_as_predicted),
        cmocka_unit_test(says_how_the_parts_voted),
        cmocka_unit_test(finds_nothing_where_there_is_no_subspace),
        cmocka_unit_test(parts_follow_beta),
        cmocka_unit_test(what_is_missing_or_too_much_is_said),
        cmocka_unit_test(runs_are_total_and_the_same_on_any_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
