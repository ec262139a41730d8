/*
 * A loss per person is no loss per row: plan, charge, grant and release say for which unit they
 * are (bound.T3), and a cap counts the losses of one unit alone (ledger.T6).  For every mechanism.
 */
#include "every_mechanism.h"
#include "ledger_place.h"
#include "plan/mechanism.h"

static const clo_loss budget = { 1, 1e-6 };
static const char *const units[] = { NULL, "person", "household" };
enum { UNITS = sizeof units / sizeof *units, ROWS = 30 };

/* ---- what the books say ---------------------------------------------------------------------- */

typedef struct entry {
    size_t count;
    char relation[256];
    uint8_t plan[32];
} entry;

static bool take_entry(void *user, const clo_charge *charge)
{
    entry *const e = user;
    e->count++;
    snprintf(e->relation, sizeof e->relation, "%s", charge->relation);
    memcpy(e->plan, charge->plan, sizeof e->plan);
    return true;
}

/* The last charge on the data set. */
static entry last_charge(clo_ledger *ledger, const char *dataset)
{
    entry e = { .count = 0 };
    clo_error err;
    assert_ok(clo_ledger_history(ledger, dataset, take_entry, &e, &err), err);
    return e;
}

static void relation_text(clo_relation relation, const char *unit, char out[256])
{
    snprintf(out, 256, "%s%s%s", relation == CLO_REPLACE ? "replace" : "add-remove",
             unit ? " per " : "", unit ? unit : "");
}

/* Plans that differ in their unit alone, under both relations. */
typedef struct plans {
    clo_plan *of[2 * UNITS];
    char texts[2 * UNITS][256];
    size_t count;
} plans;

static plans make_plans(const clo_mechanism *mechanism)
{
    plans p = { .count = 0 };
    for (int relation = CLO_REPLACE; relation <= CLO_ADD_REMOVE; relation++)
        for (size_t u = 0; u < (takes_units(mechanism) ? (size_t)UNITS : 1); u++) {
            const clo_domain domain = domain_of(mechanism, (clo_relation)relation, units[u], 1);
            relation_text((clo_relation)relation, units[u], p.texts[p.count]);
            p.of[p.count++] = plan_of(mechanism, &domain, budget);
        }
    return p;
}

static void free_plans(plans *p)
{
    for (size_t i = 0; i < p->count; i++) clo_plan_free(p->of[i]);
}

static void a_charge_says_for_which_unit_it_is(void **state)
{
    const place *const p = *state;
    clo_ledger *const ledger = open_at(p->ledger);
    clo_error err;
    for (size_t m = 0; m < clo_mechanism_count(); m++) {
        plans all = make_plans(clo_mechanism_at(m));
        for (size_t i = 0; i < all.count; i++) {
            char dataset[64];
            clo_grant *grant = NULL;
            snprintf(dataset, sizeof dataset, "%zu %zu", m, i);
            assert_ok(
                i % 2 ? clo_ledger_spend(ledger, dataset, all.of[i], &grant, &err)
                      : clo_ledger_spend_token(ledger, dataset, all.of[i], dataset, &grant, &err),
                err);
            const entry e = last_charge(ledger, dataset);
            assert_int_equal(e.count, 1);
            assert_string_equal(e.relation, all.texts[i]);
            assert_memory_equal(e.plan, all.of[i]->id, sizeof e.plan);
            assert_memory_equal(grant->plan_id, all.of[i]->id, sizeof e.plan);
            clo_grant_free(grant);
            for (size_t j = 0; j < i; j++)
                assert_memory_not_equal(all.of[i]->id, all.of[j]->id, sizeof e.plan);
        }
        free_plans(&all);
    }
    is_sound(ledger);
    clo_ledger_close(ledger);
}

/* How many rows of a unit are kept is part of a plan, too; the unit is the same. */
static void plans_for_more_rows_of_a_unit_are_other_plans(void **state)
{
    (void)state;
    for (size_t m = 0; m < clo_mechanism_count(); m++) {
        const clo_mechanism *const mechanism = clo_mechanism_at(m);
        if (!takes_units(mechanism)) continue;
        const clo_domain two = domain_of(mechanism, CLO_REPLACE, "person", 2);
        const clo_domain three = domain_of(mechanism, CLO_REPLACE, "person", 3);
        clo_plan *const a = plan_of(mechanism, &two, budget);
        clo_plan *const b = plan_of(mechanism, &three, budget);
        assert_memory_not_equal(a->id, b->id, sizeof a->id);
        clo_plan_free(a);
        clo_plan_free(b);
    }
}

/* ---- one cap, one unit ----------------------------------------------------------------------- */

static void a_cap_counts_the_losses_of_one_unit_alone(void **state)
{
    const place *const p = *state;
    clo_ledger *const ledger = open_at(p->ledger);
    plans all = make_plans(clo_mechanism_find("kmeans/lloyd"));
    clo_error err;
    for (size_t first = 0; first < all.count; first++) {
        char dataset[64];
        snprintf(dataset, sizeof dataset, "capped %zu", first);
        assert_ok(clo_ledger_declare(ledger, dataset, (clo_loss){ 20, 1e-4 }, &err), err);
        for (size_t i = 0; i <= all.count; i++) {
            const size_t at = i == 0 ? first : i - 1;
            clo_grant *grant = NULL;
            const clo_status status = clo_ledger_spend(ledger, dataset, all.of[at], &grant, &err);
            if (at == first)
                assert_ok(status, err);
            else
                assert_fails(status, CLO_BUDGET, err, "counts losses under the relation");
            assert_true((grant != NULL) == (at == first));
            clo_grant_free(grant);
        }
        const entry e = last_charge(ledger, dataset);
        assert_int_equal(e.count, 2);
        assert_string_equal(e.relation, all.texts[first]);
    }
    free_plans(&all);
    is_sound(ledger);
    clo_ledger_close(ledger);
}

/* Names that only differ where a text might be cut are refused, and not taken for one unit. */
static void a_units_name_that_does_not_fit_is_refused(void **state)
{
    const place *const p = *state;
    clo_ledger *const ledger = open_at(p->ledger);
    clo_error err;
    for (size_t length = 180; length <= 400; length += 20) {
        char name[512];
        clo_grant *grant = NULL;
        memset(name, 'n', length);
        name[length] = 0;
        const clo_mechanism *const mechanism = clo_mechanism_find("kmeans/lloyd");
        const clo_domain domain = domain_of(mechanism, CLO_REPLACE, name, 1);
        clo_plan *const plan = plan_of(mechanism, &domain, budget);
        const clo_status status = clo_ledger_spend(ledger, "long", plan, &grant, &err);
        if (status)
            assert_fails(status, CLO_ARGUMENT, err, "relation");
        else
            assert_string_equal(strstr(last_charge(ledger, "long").relation, " per ") + 5, name);
        assert_true(status || length < 200);
        clo_grant_free(grant);
        clo_plan_free(plan);
    }
    clo_ledger_close(ledger);
}

/* A grant is for the unit that was paid for. */
static void a_grant_for_one_unit_runs_no_other(void **state)
{
    const clo_mechanism *const mechanism = clo_mechanism_find("kmeans/lloyd");
    const clo_domain paid = domain_of(mechanism, CLO_REPLACE, "household", 1);
    const clo_domain wanted = domain_of(mechanism, CLO_REPLACE, "person", 1);
    clo_plan *const cheap = plan_of(mechanism, &paid, budget);
    clo_plan *const dear = plan_of(mechanism, &wanted, budget);
    const double values[2] = { 0.5, 0 };
    const uint64_t whose[1] = { 7 };
    clo_bounded *const data = bounded_from_units(values, whose, 1, &wanted);
    clo_bounded *const other = bounded_from_units(values, whose, 1, &paid);
    clo_rng *const rng = seeded("grant");
    clo_release *release = NULL;
    clo_grant *grant = NULL;
    clo_error err;
    (void)state;
    assert_ok(clo_grant_unmetered(cheap, &grant, &err), err);
    assert_fails(clo_run(dear, grant, data, rng, NULL, &release, &err), CLO_ARGUMENT, err,
                 "another plan");
    assert_fails(clo_run(cheap, grant, data, rng, NULL, &release, &err), CLO_ARGUMENT, err,
                 "another domain");
    assert_ok(clo_run(cheap, grant, other, rng, NULL, &release, &err), err);
    clo_release_free(release);
    clo_grant_free(grant);
    clo_rng_free(rng);
    clo_bounded_free(data);
    clo_bounded_free(other);
    clo_plan_free(cheap);
    clo_plan_free(dear);
}

/* ---- what a release says --------------------------------------------------------------------- */

static clo_release *release_of(const clo_mechanism *mechanism, const clo_domain *domain)
{
    double values[ROWS * CLO_AUDIT_COLS];
    uint64_t whose[ROWS];
    clo_plan *const plan = plan_of(mechanism, domain, budget);
    clo_release *release = NULL;
    clo_grant *grant = NULL;
    clo_rng *rng = NULL;
    clo_error err;
    for (size_t i = 0; i < ROWS; i++) whose[i] = i / 2;
    for (size_t i = 0; i < ROWS * domain->cols; i++) values[i] = 0.1 * (double)(i % 7) - 0.3;
    clo_bounded *const data = domain->unit ? bounded_from_units(values, whose, ROWS, domain)
                                           : bounded_from(values, ROWS, domain);
    assert_ok(clo_rng_new(&rng, &err), err); /* a secure one: a seeded release promises nothing */
    assert_ok(clo_grant_unmetered(plan, &grant, &err), err);
    assert_ok(clo_run(plan, grant, data, rng, NULL, &release, &err), err);
    clo_rng_free(rng);
    clo_grant_free(grant);
    clo_bounded_free(data);
    clo_plan_free(plan);
    return release;
}

static void a_release_says_for_which_unit_it_is(void **state)
{
    (void)state;
    for (size_t m = 0; m < clo_mechanism_count(); m++)
        for (int relation = CLO_REPLACE; relation <= CLO_ADD_REMOVE; relation++) {
            const clo_mechanism *const mechanism = clo_mechanism_at(m);
            for (int unit = 0; unit <= takes_units(mechanism); unit++) {
                const clo_domain domain = domain_of(mechanism, (clo_relation)relation,
                                                    unit ? "person" : NULL, unit ? 3 : 1);
                clo_release *const release = release_of(mechanism, &domain);
                text json = json_of(release);
                const char *const said = clo_release_statement(release);
                assert_int_equal(clo_release_relation(release), relation);
                if (unit) {
                    assert_string_equal(clo_release_unit(release), "person");
                    assert_non_null(strstr(said, "the rows of one 'person' (3 at most)"));
                    assert_non_null(strstr(json.bytes, "\"unit\": \"person\""));
                    assert_non_null(strstr(json.bytes, "\"rows_per_unit\": 3"));
                } else {
                    assert_null(clo_release_unit(release));
                    assert_non_null(strstr(said, "Had one record been"));
                    assert_null(strstr(json.bytes, "\"unit\""));
                    assert_null(strstr(json.bytes, "\"rows_per_unit\""));
                }
                free(json.bytes);
                clo_release_free(release);
            }
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_PLACE(a_charge_says_for_which_unit_it_is),
        cmocka_unit_test(plans_for_more_rows_of_a_unit_are_other_plans),
        IN_PLACE(a_cap_counts_the_losses_of_one_unit_alone),
        IN_PLACE(a_units_name_that_does_not_fit_is_refused),
        cmocka_unit_test(a_grant_for_one_unit_runs_no_other),
        cmocka_unit_test(a_release_says_for_which_unit_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
