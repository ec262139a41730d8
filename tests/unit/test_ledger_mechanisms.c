/*
 * test_ledger_mechanisms.c - a cap means what it says, for every mechanism there is (ledger.T6).
 *
 * A cap (epsilon, delta) admits one run at exactly (epsilon, delta) and refuses the next.  The
 * mechanisms are taken from the table, with their presets, so that a new one is tested the day it
 * comes.  One that cannot be planned at delta 0 is not asked for it; each must be planned
 * somewhere.
 */
#include "ledger_place.h"
#include "pipeline.h"
#include "accounting/accounting.h"
#include "plan/mechanism.h"

static const clo_loss caps[] = { { 1, 1e-6 }, { 0.1, 1e-9 }, { 1, 0 } };
enum { CAPS = sizeof caps / sizeof *caps };

/* The plan with all presets; NULL where this mechanism has none at this budget. */
static clo_plan *preset_plan(const clo_mechanism *mechanism, clo_relation relation, clo_loss budget)
{
    clo_domain domain = ball(3, 1, relation);
    clo_params *params = NULL;
    clo_plan *plan = NULL;
    clo_error err;
    domain.rows = 100000;
    assert_ok(clo_params_new(mechanism, &params, &err), err);
    /* What has no preset, because only the caller can know it. */
    const char *const method = clo_mechanism_method(mechanism);
    if (strcmp(method, "approx") == 0 || strcmp(method, "boosted") == 0)
        assert_ok(clo_params_set(params, "gamma", 1e-3, &err), err);
    const clo_status status =
        clo_plan_new(params, &domain, budget, clo_mechanism_guarantee(mechanism), &plan, &err);
    if (status && budget.delta > 0) fail_msg("%s", err.message);
    clo_params_free(params);
    return plan;
}

/* The mechanism of a data set's first charge. */
static bool keep_name(void *user, const clo_charge *charge)
{
    if (!*(char *)user) snprintf(user, 160, "%s", charge->mechanism);
    return true;
}

/* Whoever reads the books sees which method it was, and where its loss holds in a weaker sense. */
static void is_named_with_its_guarantee(clo_ledger *ledger, const char *dataset,
                                        const clo_plan *plan)
{
    char seen[160] = "", name[160];
    const clo_guarantee guarantee = clo_plan_guarantee(plan);
    clo_error err;
    snprintf(name, sizeof name, "%s/%s", clo_mechanism_family(plan->mechanism),
             clo_mechanism_method(plan->mechanism));
    if (guarantee == CLO_IDEALIZED) strcat(name, " (idealized)");
    if (guarantee == CLO_ASYMPTOTIC) strcat(name, " (asymptotic)");
    assert_ok(clo_ledger_history(ledger, dataset, keep_name, seen, &err), err);
    assert_string_equal(seen, name);
}

/* Of a data set's one charge. */
static bool keep_cost(void *user, const clo_charge *charge)
{
    *(clo_i_cost *)user =
        (clo_i_cost){ charge->epsilon, charge->delta, charge->rho, charge->rho_delta };
    return true;
}

/* ledger.T3: what is recorded is the rho of all lines, none of which is free. */
static void charged_all_lines(clo_ledger *ledger, const char *dataset, const clo_plan *plan)
{
    clo_event events[CLO_MAX_LINES];
    clo_i_cost seen = { 0 };
    uint64_t rho = 0, delta = 0, less = 0, less_delta = 0;
    clo_error err;
    for (size_t i = 0; i < plan->line_count; i++) events[i] = plan->lines[i].event;
    assert_ok(clo_i_events_rho(events, plan->line_count, &rho, &delta, &err), err);
    assert_ok(clo_ledger_history(ledger, dataset, keep_cost, &seen, &err), err);
    assert_true(seen.rho == rho && seen.rho_delta == delta);
    assert_true(seen.epsilon == clo_i_epsilon_units(plan->budget.epsilon, false));
    for (size_t i = 0; i < plan->line_count && rho < LEDGER_UNITS_LIMIT; i++) {
        clo_event without[CLO_MAX_LINES];
        memcpy(without, events, sizeof without);
        without[i] = events[plan->line_count - 1];
        if (plan->line_count == 1) continue;
        assert_ok(clo_i_events_rho(without, plan->line_count - 1, &less, &less_delta, &err), err);
        assert_true(less < rho || less_delta < delta);
    }
}

/* Admitted once; refused then, at the same budget and at a thousandth of it. */
static void admits_one(clo_ledger *ledger, const char *dataset, const clo_mechanism *mechanism,
                       clo_relation relation, clo_loss cap, const clo_plan *plan)
{
    clo_grant *grant = NULL;
    clo_error err;
    assert_ok(clo_ledger_declare(ledger, dataset, cap, &err), err);
    assert_ok(clo_ledger_spend(ledger, dataset, plan, &grant, &err), err);
    charged_all_lines(ledger, dataset, plan);
    is_named_with_its_guarantee(ledger, dataset, plan);
    clo_grant_free(grant);
    grant = NULL;
    assert_fails(clo_ledger_spend(ledger, dataset, plan, &grant, &err), CLO_BUDGET, err,
                 "budget is left on");
    const clo_loss little = { cap.epsilon / 1000, cap.delta };
    clo_plan *const small = preset_plan(mechanism, relation, little);
    if (small)
        assert_fails(clo_ledger_spend(ledger, dataset, small, &grant, &err), CLO_BUDGET, err,
                     "budget is left on");
    clo_plan_free(small);
    assert_null(grant);
}

/* ledger.T6 */
static void admits_one_run_of_every_mechanism_at_its_cap(void **state)
{
    const place *p = *state;
    clo_ledger *ledger = open_at(p->ledger);
    assert_true(clo_mechanism_count() >= 3);
    for (size_t i = 0; i < clo_mechanism_count(); i++) {
        const clo_mechanism *const mechanism = clo_mechanism_at(i);
        int planned = 0;
        for (int c = 0; c < CAPS; c++)
            for (int r = 0; r < 2; r++) {
                const clo_relation relation = r ? CLO_REPLACE : CLO_ADD_REMOVE;
                clo_plan *const plan = preset_plan(mechanism, relation, caps[c]);
                char dataset[32];
                snprintf(dataset, sizeof dataset, "%zu %d %d", i, c, r);
                if (plan) admits_one(ledger, dataset, mechanism, relation, caps[c], plan);
                planned += plan != NULL;
                clo_plan_free(plan);
            }
        assert_true(planned >= 4); /* the two caps with a delta, under both relations */
    }
    is_sound(ledger);
    clo_ledger_close(ledger);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_PLACE(admits_one_run_of_every_mechanism_at_its_cap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
