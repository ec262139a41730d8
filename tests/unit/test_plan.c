/* Parameters and plans: what is refused, what a plan costs, and gaussian.T1's rounding. */
#include "pipeline.h"
#include "plan/mechanism.h"

static void every_mechanism_is_found_by_its_name_and_its_family(void **state)
{
    (void)state;
    assert_true(clo_mechanism_count() >= 3);
    for (size_t i = 0; i < clo_mechanism_count(); i++) {
        const clo_mechanism *const m = clo_mechanism_at(i);
        char name[128];
        snprintf(name, sizeof name, "%s/%s", clo_mechanism_family(m), clo_mechanism_method(m));
        assert_ptr_equal(clo_mechanism_find(name), m);
        assert_non_null(clo_mechanism_find(clo_mechanism_family(m)));
        assert_string_equal(clo_mechanism_family(clo_mechanism_find(clo_mechanism_family(m))),
                            clo_mechanism_family(m));
    }
    assert_null(clo_mechanism_at(clo_mechanism_count()));
    assert_ptr_equal(clo_mechanism_find("pca"), clo_mechanism_find("subspace"));
    assert_ptr_equal(clo_mechanism_find("pca/exact"), clo_mechanism_find("subspace/exact"));
    assert_ptr_equal(clo_mechanism_find("subspace-clusters/sulq"),
                     clo_mechanism_find("subspaces/sulq"));
    assert_string_equal(clo_mechanism_alias(clo_mechanism_find("subspaces")), "subspace-clusters");
    assert_null(clo_mechanism_alias(clo_mechanism_find("kmeans")));
    assert_null(clo_mechanism_find("pc"));
    assert_null(clo_mechanism_find("kmean"));
    assert_null(clo_mechanism_find("kmeans/"));
    assert_null(clo_mechanism_find("kmeans/lloyds"));
    assert_null(clo_mechanism_find(""));
}

static void parameters_are_held_to_their_rows(void **state)
{
    clo_error err;
    clo_params *const params = params_for("kmeans/lloyd", "");
    (void)state;
    assert_fails(clo_params_set(params, "clusters", 0, &err), CLO_ARGUMENT, err,
                 "clusters must be between 1 and 1024, not 0");
    assert_fails(clo_params_set(params, "clusters", 2.5, &err), CLO_ARGUMENT, err, "whole number");
    assert_fails(clo_params_set(params, "clusters", NAN, &err), CLO_ARGUMENT, err, "clusters");
    assert_fails(clo_params_set(params, "cluster", 3, &err), CLO_ARGUMENT, err,
                 "no parameter 'cluster'");
    assert_fails(clo_params_set_text(params, "clusters", "3x", &err), CLO_ARGUMENT, err,
                 "must be a number");
    assert_fails(clo_params_set_text(params, "clusters", "", &err), CLO_ARGUMENT, err,
                 "must be a number");
    assert_ok(clo_params_set_text(params, "clusters", "1e3", &err), err);
    clo_params_free(params);
    clo_params *const bounds = params_for("bounds/quantile", "of=columns");
    assert_fails(clo_params_set_text(bounds, "of", "rows", &err), CLO_ARGUMENT, err,
                 "norm|columns");
    clo_params_free(bounds);
}

static void budgets_that_make_no_sense_are_refused(void **state)
{
    const double epsilons[] = { -1, 0, NAN, INFINITY }, deltas[] = { -1e-6, 1, 2, NAN };
    const clo_domain domain = ball(3, 1, CLO_REPLACE);
    clo_params *const params = params_for("subspace/gaussian", "dim=1");
    clo_plan *plan = NULL;
    clo_error err;
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        assert_fails(
            clo_plan_new(params, &domain, (clo_loss){ epsilons[i], 1e-6 }, CLO_EXACT, &plan, &err),
            CLO_ARGUMENT, err, "epsilon must be");
        assert_fails(
            clo_plan_new(params, &domain, (clo_loss){ 1, deltas[i] }, CLO_EXACT, &plan, &err),
            CLO_ARGUMENT, err, "delta must be");
    }
    assert_fails(clo_plan_new(params, &domain, (clo_loss){ 1, 0 }, CLO_EXACT, &plan, &err),
                 CLO_ARGUMENT, err, "delta");
    /* gaussian.T1 ends where the sampler's missing tail would show */
    assert_fails(clo_plan_new(params, &domain, (clo_loss){ 1, 1e-19 }, CLO_EXACT, &plan, &err),
                 CLO_ARGUMENT, err, "delta must be 0 or at least 1e-18");
    assert_fails(clo_plan_new(params, &domain, (clo_loss){ 301, 1e-6 }, CLO_EXACT, &plan, &err),
                 CLO_ARGUMENT, err, "epsilon must be at most 300");
    assert_fails(clo_plan_new(params, &domain, (clo_loss){ 2000, 1e-6 }, CLO_EXACT, &plan, &err),
                 CLO_ARGUMENT, err, "protects nobody");
    assert_null(plan);
    clo_params_free(params);
}

/* gaussian.T1: the stated mu is at least sensitivity / scale, and the price at most the budget. */
static void a_plan_costs_at_most_its_budget_and_nearly_all_of_it(void **state)
{
    static const char *const mechanisms[][2] = { { "kmeans/lloyd", "clusters=5 rounds=7" },
                                                 { "kmeans/local", "clusters=3 reduce=4" },
                                                 { "subspace/gaussian", "dim=2" } };
    const double epsilons[] = { 0.01, 0.1, 1, 3, 10, 50 };
    (void)state;
    for (size_t m = 0; m < 3; m++)
        for (int relation = CLO_REPLACE; relation <= CLO_ADD_REMOVE; relation++)
            for (size_t e = 0; e < 6; e++) {
                const clo_domain domain = ball(6, 2, (clo_relation)relation);
                clo_plan *const plan =
                    plan_for(mechanisms[m][0], mechanisms[m][1], &domain, epsilons[e], 1e-6);
                const clo_price price = clo_plan_price(plan);
                assert_true(price.loss.epsilon <= epsilons[e]);
                assert_true(price.loss.epsilon > epsilons[e] * 0.9999);
                assert_string_equal(price.accounting, "gaussian-exact");
                for (size_t i = 0; i < plan->line_count; i++) {
                    const clo_line *const line = &plan->lines[i];
                    const long double exact =
                        (long double)line->sensitivity / (long double)line->scale;
                    assert_true((long double)line->event.parameter >= exact);
                    assert_true((long double)line->event.parameter < exact * (1 + 0x1p-49L));
                }
                clo_plan_free(plan);
            }
}

static void the_unit_widens_the_noise(void **state)
{
    clo_domain domain = ball(4, 1, CLO_ADD_REMOVE);
    (void)state;
    clo_plan *const one = plan_for("subspace/gaussian", "dim=1", &domain, 1, 1e-6);
    domain.unit = "person";
    domain.rows_per_unit = 5;
    clo_plan *const five = plan_for("subspace/gaussian", "dim=1", &domain, 1, 1e-6);
    assert_true(five->lines[0].sensitivity == 5 * one->lines[0].sensitivity);
    assert_relatively_close((double)five->lines[0].scale, 5.0 * (double)one->lines[0].scale, 1e-6);
    clo_plan_free(one);
    clo_plan_free(five);
}

static void predictions_fall_with_the_rows(void **state)
{
    const clo_domain domain = ball(10, 1, CLO_REPLACE);
    clo_error err;
    const char *meaning = NULL;
    (void)state;
    clo_plan *const plan = plan_for("kmeans/lloyd", "clusters=4", &domain, 1, 1e-6);
    double few, many;
    assert_ok(clo_plan_predict(plan, 1000, &few, &meaning, &err), err);
    assert_ok(clo_plan_predict(plan, 10000, &many, &meaning, &err), err);
    assert_true(few > 3 * many && many > 0);
    assert_non_null(meaning);
    assert_fails(clo_plan_predict(plan, 0, &few, &meaning, &err), CLO_ARGUMENT, err, "rows");
    clo_plan_free(plan);
    clo_plan *const bounds = plan_for("bounds/quantile", "", &domain, 1, 0);
    assert_fails(clo_plan_predict(bounds, 10, &few, &meaning, &err), CLO_UNSUPPORTED, err,
                 "prediction");
    clo_plan_free(bounds);
}

static void lines_say_what_will_be_asked(void **state)
{
    const clo_domain domain = ball(3, 2, CLO_REPLACE);
    (void)state;
    clo_plan *const plan = plan_for("bounds/quantile", "of=columns", &domain, 1, 0);
    assert_int_equal(clo_plan_line_count(plan), 1); /* bounds_quantile.T1 */
    const clo_plan_line line = clo_plan_line_at(plan, 0);
    assert_string_equal(line.query, "quantile");
    assert_int_equal(line.event.count, 3);
    assert_close(line.share, 1, 1e-12);
    assert_true(clo_plan_price(plan).loss.epsilon <= 1);
    clo_plan_free(plan);
}

static void a_subspace_wider_than_the_data_is_refused(void **state)
{
    const clo_domain domain = ball(3, 1, CLO_REPLACE);
    clo_params *const params = params_for("subspace/gaussian", "dim=4");
    clo_plan *plan = NULL;
    clo_error err;
    (void)state;
    assert_fails(clo_plan_new(params, &domain, (clo_loss){ 1, 1e-6 }, CLO_EXACT, &plan, &err),
                 CLO_ARGUMENT, err, "dim must be at most the number of columns, 3, not 4");
    clo_params_free(params);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_mechanism_is_found_by_its_name_and_its_family),
        cmocka_unit_test(parameters_are_held_to_their_rows),
        cmocka_unit_test(budgets_that_make_no_sense_are_refused),
        cmocka_unit_test(a_plan_costs_at_most_its_budget_and_nearly_all_of_it),
        cmocka_unit_test(the_unit_widens_the_noise),
        cmocka_unit_test(predictions_fall_with_the_rows),
        cmocka_unit_test(lines_say_what_will_be_asked),
        cmocka_unit_test(a_subspace_wider_than_the_data_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
