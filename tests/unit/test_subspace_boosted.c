/* subspace/boosted: parts of the records vote (subspace_boosted.T1), seldom without an answer and
 * as well as predicted; how many parts there are follows from beta (subspace_boosted.T3). */
#include "near_subspace.h"
#include "base/base.h"
#include "plan/mechanism.h"
#include "query/histogram.h"
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
        assert_int_equal(clo_i_histogram_fields(&plan->lines[0]).parts, cases[i].parts);
        assert_int_equal(clo_i_histogram_fields(&plan->lines[0]).blocks, 160 * cases[i].parts);
        assert_int_equal(clo_i_histogram_fields(&plan->lines[0]).threshold,
                         28); /* as for one part: histogram.T3 */
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
                 CLO_ARGUMENT, err, "give gamma");
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
            assert_same_on_any_threads(plan, data);
            clo_bounded_free(data);
            clo_plan_free(plan);
        }
}

/* Where the number of rows is not public, the cells count on 4 dim a block, and the prediction says
 * whether so many are enough. */
static void a_prediction_knows_how_many_rows_it_takes(void **state)
{
    const clo_domain domain = ball(10, 1, CLO_ADD_REMOVE);
    const char *meaning;
    double few = 0, enough = 0;
    clo_error err;
    (void)state;
    clo_plan *const plan = plan_for("subspace/boosted", "dim=2 gamma=1e-4", &domain, 1, 1e-6);
    assert_ok(clo_plan_predict(plan, 8000, &few, &meaning, &err), err);
    assert_ok(clo_plan_predict(plan, 17000, &enough, &meaning, &err), err);
    assert_true(few > 1.41 && enough < .01);
    clo_plan_free(plan);
}

/* auto weighs it against approx by what both promise, and beta names it. */
static void it_is_chosen_where_it_promises_more(void **state)
{
    const clo_setting settings[] = { { "dim", "2" }, { "gamma", "1e-4" }, { "beta", "0.05" } };
    static const struct {
        uint64_t rows;
        size_t settings;
        const char *method;
    } cases[] = { { 2000, 2, "approx" }, { 40000, 2, "boosted" }, { 2000, 3, "boosted" } };
    clo_domain domain = ball(10, 1, CLO_REPLACE);
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        clo_plan *plan = NULL;
        clo_error err;
        domain.rows = cases[i].rows;
        assert_ok(clo_plan_auto("subspace", settings, cases[i].settings, &domain,
                                (clo_loss){ 1, 1e-6 }, CLO_EXACT, &plan, &err),
                  err);
        assert_string_equal(clo_mechanism_method(clo_plan_mechanism(plan)), cases[i].method);
        clo_plan_free(plan);
    }
}

#ifdef CLO_FAULT_INJECTION
/* At an epsilon where two blocks are enough, so that a subspace is found and the vote is taken. */
static void a_vote_survives_any_failed_allocation(void **state)
{
    const clo_domain domain = ball(3, 1, CLO_REPLACE);
    const double values[18] = { .1, 0, 0, .2, 0, 0, .3, 0, 0, .4, 0, 0, .5, 0, 0, .6, 0, 0 };
    clo_bounded *const data = bounded_from(values, 6, &domain);
    clo_plan *const plan =
        plan_for("subspace/boosted", "dim=1 gamma=0.01 blocks=3 parts=2", &domain, 60, 1e-6);
    clo_status status = CLO_MEMORY;
    (void)state;
    for (uint64_t n = 1; status != CLO_OK; n++) {
        clo_rng *const rng = seeded("memory");
        clo_run_options options = clo_run_options_default();
        clo_grant *grant = NULL;
        clo_release *release = NULL;
        clo_error err;
        clo_array basis;
        options.threads = 1;
        assert_ok(clo_grant_unmetered(plan, &grant, &err), err);
        clo_i_fail_allocation(n);
        status = clo_run(plan, grant, data, rng, &options, &release, &err);
        clo_i_fail_allocation(0);
        assert_true(status == CLO_OK || status == CLO_MEMORY);
        assert_true((status == CLO_OK) == (release != NULL));
        if (release) assert_true(clo_release_find(release, "basis", &basis));
        clo_release_free(release);
        clo_grant_free(grant);
        clo_rng_free(rng);
    }
    clo_plan_free(plan);
    clo_bounded_free(data);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_a_subspace_as_well_as_predicted),
        cmocka_unit_test(says_how_the_parts_voted),
        cmocka_unit_test(finds_nothing_where_there_is_no_subspace),
        cmocka_unit_test(parts_follow_beta),
        cmocka_unit_test(what_is_missing_or_too_much_is_said),
        cmocka_unit_test(a_prediction_knows_how_many_rows_it_takes),
        cmocka_unit_test(it_is_chosen_where_it_promises_more),
#ifdef CLO_FAULT_INJECTION
        cmocka_unit_test(a_vote_survives_any_failed_allocation),
#endif
        cmocka_unit_test(runs_are_total_and_the_same_on_any_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
