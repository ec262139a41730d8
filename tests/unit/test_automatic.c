/* clo_plan_auto: public quantities choose the method of a family, and say why. */
#include "pipeline.h"
#include "base/base.h"
#include <math.h>

static clo_plan *chosen(const char *family, const clo_setting *settings, size_t count,
                        const clo_domain *domain, clo_guarantee accept)
{
    clo_error err;
    clo_plan *plan = NULL;
    assert_ok(
        clo_plan_auto(family, settings, count, domain, (clo_loss){ 1, 1e-6 }, accept, &plan, &err),
        err);
    return plan;
}

static double error_of(const clo_plan *plan, double rows)
{
    const char *meaning;
    double error = INFINITY;
    if (clo_plan_predict(plan, rows, &error, &meaning, NULL) != CLO_OK) return INFINITY;
    return error;
}

static const clo_setting three_planes[] = { { "clusters", "3" }, { "dim", "2" } };

/* No other method of the family that can be planned promises less. */
static void takes_the_method_that_promises_the_least_error(void **state)
{
    (void)state;
    for (double rows = 300; rows < 1e6; rows *= 30) {
        clo_domain domain = ball(8, 1, CLO_REPLACE);
        domain.rows = (uint64_t)rows;
        clo_plan *const plan = chosen("subspaces", three_planes, 2, &domain, CLO_EXACT);
        const double least = error_of(plan, rows);
        assert_non_null(clo_plan_reason(plan));
        assert_int_equal(clo_mechanism_guarantee(clo_plan_mechanism(plan)), CLO_EXACT);
        for (size_t i = 0; i < clo_mechanism_count(); i++) {
            const clo_mechanism *const m = clo_mechanism_at(i);
            char name[64];
            clo_error err;
            clo_plan *other = NULL;
            if (strcmp(clo_mechanism_family(m), "subspaces") != 0) continue;
            snprintf(name, sizeof name, "subspaces/%s", clo_mechanism_method(m));
            clo_params *const params = params_for(name, "clusters=3 dim=2");
            if (clo_plan_new(params, &domain, (clo_loss){ 1, 1e-6 }, CLO_EXACT, &other, &err) ==
                CLO_OK)
                assert_true(error_of(other, rows) >= least);
            clo_plan_free(other);
            clo_params_free(params);
        }
        clo_plan_free(plan);
    }
}

static void a_parameter_of_one_method_is_a_choice(void **state)
{
    const clo_setting settings[] = { { "clusters", "3" }, { "dim", "2" }, { "schedule", "even" } };
    clo_domain domain = ball(8, 1, CLO_REPLACE);
    (void)state;
    clo_plan *const plan = chosen("subspaces", settings, 3, &domain, CLO_EXACT);
    assert_string_equal(clo_mechanism_method(clo_plan_mechanism(plan)), "sulq");
    assert_close(clo_plan_value(plan, 0), 3, 0);
    clo_plan_free(plan);
}

static void a_family_of_one_has_nothing_to_say(void **state)
{
    const clo_domain domain = ball(8, 1, CLO_REPLACE);
    (void)state;
    clo_plan *const plan = chosen("bounds", NULL, 0, &domain, CLO_EXACT);
    assert_null(clo_plan_reason(plan));
    clo_plan_free(plan);
}

static void says_what_is_wrong_where_nothing_serves(void **state)
{
    const clo_setting bad[] = { { "clusters", "0" } }, odd[] = { { "colour", "3" } };
    const clo_domain domain = ball(8, 1, CLO_REPLACE);
    const clo_loss budget = { 1, 1e-6 };
    clo_error err;
    clo_plan *plan = NULL;
    (void)state;
    assert_int_equal(clo_plan_auto("subspaces", bad, 1, &domain, budget, CLO_EXACT, &plan, &err),
                     CLO_ARGUMENT);
    assert_non_null(strstr(err.message, "clusters"));
    assert_int_equal(clo_plan_auto("subspaces", odd, 1, &domain, budget, CLO_EXACT, &plan, &err),
                     CLO_ARGUMENT);
    assert_int_equal(clo_plan_auto("spaces", NULL, 0, &domain, budget, CLO_EXACT, &plan, &err),
                     CLO_ARGUMENT);
    assert_null(plan);
}

#ifdef CLO_FAULT_INJECTION
static void out_of_memory_is_not_a_choice(void **state)
{
    clo_domain domain = ball(8, 1, CLO_REPLACE);
    (void)state;
    for (uint64_t n = 1;; n++) {
        clo_error err;
        clo_plan *plan = NULL;
        clo_i_fail_allocation(n);
        const clo_status status = clo_plan_auto("subspaces", three_planes, 2, &domain,
                                                (clo_loss){ 1, 1e-6 }, CLO_EXACT, &plan, &err);
        clo_i_fail_allocation(0);
        if (status == CLO_OK) {
            clo_plan_free(plan);
            return;
        }
        assert_int_equal(status, CLO_MEMORY);
        assert_null(plan);
    }
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_the_method_that_promises_the_least_error),
        cmocka_unit_test(a_parameter_of_one_method_is_a_choice),
        cmocka_unit_test(a_family_of_one_has_nothing_to_say),
        cmocka_unit_test(says_what_is_wrong_where_nothing_serves),
#ifdef CLO_FAULT_INJECTION
        cmocka_unit_test(out_of_memory_is_not_a_choice),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
