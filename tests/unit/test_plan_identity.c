/*
 * test_plan_identity.c - a grant is for one plan: nothing of what a plan asks can change without
 * its hash (meter.T1), and lines that cost more than the budget make no plan, whoever drafted them.
 */
#include "pipeline.h"
#include "domain/domain.h"
#include "plan/mechanism.h"
#include "query/gaussian_sum.h"
#include "query/queries.h"

static clo_plan *a_plan(void)
{
    static const double lower[2] = { -1, -2 }, upper[2] = { 1, 2 };
    clo_params *const params = params_for("kmeans/lloyd", "clusters=2 rounds=3");
    clo_domain domain = ball(2, 1, CLO_REPLACE);
    clo_plan *plan = NULL;
    clo_error err;
    domain.lower = lower;
    domain.upper = upper;
    domain.unit = "person";
    domain.rows_per_unit = 3;
    domain.rows = 1000;
    assert_ok(clo_plan_new(params, &domain, (clo_loss){ 1, 1e-6 }, CLO_EXACT, &plan, &err), err);
    clo_params_free(params);
    return plan;
}

/* Whether the hash is another one with this byte changed; which is put back. */
static bool is_hashed(clo_plan *plan, void *byte)
{
    uint8_t before[sizeof plan->id], *const at = byte;
    memcpy(before, plan->id, sizeof before);
    *at ^= 1;
    clo_i_plan_identify(plan);
    const bool other = memcmp(before, plan->id, sizeof before) != 0;
    *at ^= 1;
    clo_i_plan_identify(plan);
    assert_memory_equal(before, plan->id, sizeof before);
    return other;
}

#define assert_hashed(plan, field)                                                                 \
    for (size_t byte_ = 0; byte_ < sizeof(field); byte_++)                                         \
    assert_true(is_hashed((plan), (uint8_t *)&(field) + byte_))

/* Every byte of every line but for what only people read. */
static void a_plan_is_known_by_its_lines(void **state)
{
    clo_plan *const plan = a_plan();
    (void)state;
    for (size_t i = 0; i < plan->line_count; i++) {
        clo_line *const line = &plan->lines[i];
        assert_hashed(plan, line->event.kind);
        assert_hashed(plan, line->event.parameter);
        assert_hashed(plan, line->event.delta);
        assert_hashed(plan, line->event.count);
        assert_hashed(plan, line->bits);
        assert_hashed(plan, line->lens);
        assert_hashed(plan, line->cols);
        assert_hashed(plan, line->groups);
        assert_hashed(plan, line->sensitivity);
        assert_hashed(plan, line->scale);
        assert_hashed(plan, line->count_unit);
        assert_hashed(plan, line->rate_numerator);
        assert_hashed(plan, line->rate_denominator);
        assert_hashed(plan, line->fields);
        const clo_query *const own = line->query;
        uint8_t before[CLO_PLAN_DIGEST_BYTES];
        clo_plan_digest(plan, before);
        line->query = &clo_i_query_look;
        clo_i_plan_identify(plan);
        assert_memory_not_equal(before, plan->id, sizeof before);
        line->query = own;
        clo_i_plan_identify(plan);
    }
    clo_plan_free(plan);
}

static void a_plan_is_known_by_its_domain_budget_and_values(void **state)
{
    clo_plan *const plan = a_plan();
    (void)state;
    assert_hashed(plan, plan->domain.relation);
    assert_hashed(plan, plan->domain.rows);
    assert_hashed(plan, plan->domain.rows_per_unit);
    assert_hashed(plan, plan->domain.norm);
    assert_true(is_hashed(plan, (char *)plan->domain.unit));
    for (size_t j = 0; j < 2; j++) {
        assert_hashed(plan, ((double *)plan->domain.lower)[j]);
        assert_hashed(plan, ((double *)plan->domain.upper)[j]);
    }
    assert_hashed(plan, plan->budget.epsilon);
    assert_hashed(plan, plan->budget.delta);
    assert_hashed(plan, plan->rest.epsilon);
    assert_hashed(plan, plan->rest.delta);
    for (size_t i = 0; i < plan->mechanism->param_count; i++) assert_hashed(plan, plan->values[i]);
    clo_mechanism other = *plan->mechanism;
    const clo_mechanism *const own = plan->mechanism;
    uint8_t before[sizeof plan->id];
    memcpy(before, plan->id, sizeof before);
    plan->mechanism = &other;
    other.method = "other";
    clo_i_plan_identify(plan);
    assert_memory_not_equal(before, plan->id, sizeof before);
    other = *own;
    other.family = "other";
    clo_i_plan_identify(plan);
    assert_memory_not_equal(before, plan->id, sizeof before);
    plan->mechanism = own;
    clo_plan_free(plan);
}

/* The coordinates that records are seen in, and what is known of where these come from. */
static void a_plan_is_known_by_its_centre_and_its_frame(void **state)
{
    double center[2] = { 0.25, 0.5 }, basis[3 * 2] = { 1, 0, 0, 0, 1, 0 }, origin[3] = { 0 };
    char unit[] = "person";
    clo_frame frame = { .rows = 3, .cols = 2, .basis = basis, .origin = origin, .unit = unit };
    clo_plan *const plan = a_plan();
    uint8_t before[sizeof plan->id];
    (void)state;
    memcpy(before, plan->id, sizeof before);
    plan->domain.center = center;
    clo_i_plan_identify(plan);
    assert_memory_not_equal(before, plan->id, sizeof before);
    assert_hashed(plan, center);
    memcpy(before, plan->id, sizeof before);
    plan->domain.frame = &frame;
    memset(frame.digest, 'a', sizeof frame.digest - 1);
    clo_i_plan_identify(plan);
    assert_memory_not_equal(before, plan->id, sizeof before);
    assert_hashed(plan, basis);
    assert_hashed(plan, origin);
    assert_hashed(plan, frame.relation);
    assert_hashed(plan, frame.guarantee);
    assert_true(is_hashed(plan, &frame.not_private));
    for (size_t b = 0; b + 1 < sizeof frame.digest; b++)
        assert_true(is_hashed(plan, &frame.digest[b]));
    for (size_t b = 0; b + 1 < sizeof unit; b++) assert_true(is_hashed(plan, &unit[b]));
    plan->domain.center = NULL;
    plan->domain.frame = NULL;
    clo_plan_free(plan);
}

static void a_plan_is_known_by_what_it_learns(void **state)
{
    clo_plan *const plan = a_plan();
    (void)state;
    plan->steps = 1;
    clo_i_plan_identify(plan);
    assert_true(is_hashed(plan, &plan->learning.norm));
    assert_true(is_hashed(plan, &plan->learning.center));
    assert_hashed(plan, plan->learning.norm_share);
    assert_hashed(plan, plan->learning.center_share);
    assert_hashed(plan, plan->learning.quantile);
    assert_hashed(plan, plan->learning.norm_about);
    plan->steps = 0;
    clo_plan_free(plan);
}

/* ---- a mechanism that believes too little of its cost ---------------------------------------- */

static double share; /* of the budget that it takes */

static clo_status spend_share(clo_draft *draft, void *state, clo_error *err)
{
    const clo_event once = { .kind = CLO_EVENT_GAUSSIAN, .parameter = 1, .count = 1 };
    clo_line line;
    double mu;
    (void)state;
    CLO_TRY(clo_calibrate(&once, 1, draft->budget, &mu, err));
    CLO_TRY(clo_i_plan_gaussian_sum(draft->domain, 1, share * mu, 1, "sums", &line, err));
    return clo_i_draft_add(draft, &line, err);
}

static void lines_that_cost_more_than_the_budget_are_no_plan(void **state)
{
    clo_mechanism greedy = *clo_mechanism_find("kmeans/lloyd");
    const clo_domain domain = ball(2, 1, CLO_ADD_REMOVE);
    clo_params *params = NULL;
    clo_error err;
    (void)state;
    greedy.plan = spend_share;
    assert_ok(clo_params_new(&greedy, &params, &err), err);
    assert_ok(clo_params_set_text(params, "clusters", "2", &err), err);
    static const double shares[] = { 0.99, 1.00001, 1.01 };
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        clo_plan *plan = NULL;
        const bool over = shares[i] > 1;
        share = shares[i];
        const clo_status status =
            clo_plan_new(params, &domain, (clo_loss){ 1, 1e-6 }, CLO_EXACT, &plan, &err);
        assert_int_equal(status, over ? CLO_INTERNAL : CLO_OK);
        if (over) assert_non_null(strstr(err.message, "costs more than its budget"));
        clo_plan_free(plan);
    }
    clo_params_free(params);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plan_is_known_by_its_lines),
        cmocka_unit_test(a_plan_is_known_by_its_domain_budget_and_values),
        cmocka_unit_test(a_plan_is_known_by_its_centre_and_its_frame),
        cmocka_unit_test(a_plan_is_known_by_what_it_learns),
        cmocka_unit_test(lines_that_cost_more_than_the_budget_are_no_plan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
