/*
 * test_ledger_admit.c - the ledger's decision, to the unit: every sum on both sides of its edge.
 *
 * The rules are integers (src/ledger/ledger_admit.c), so an account is made by hand with a sum at
 * the edge, one short of it and one over it, for each sum there is (ledger.T1 to ledger.T5).
 */
#include "check.h"
#include "ledger/ledger_internal.h"

typedef unsigned __int128 wide;

static clo_i_account capped(double epsilon, double delta)
{
    clo_i_account account = { .relation = "replace" };
    clo_i_account_cap(&account, (clo_loss){ epsilon, delta });
    return account;
}

/* So many charges, of which the first was for little. */
static clo_i_account spent(clo_i_account account, clo_i_cost cost)
{
    account.charges = 2;
    account.first = (clo_loss){ account.cap.epsilon / 4, account.cap.delta / 4 };
    account.spent = cost;
    return account;
}

static bool covers(clo_i_account account, clo_i_cost cost)
{
    const clo_i_account after = spent(account, cost);
    return clo_i_account_covered(&after);
}

/* ---- covered or not -------------------------------------------------------------------------- */

/* ledger.T2 */
static void epsilons_and_deltas_are_covered_up_to_the_last_unit(void **state)
{
    (void)state;
    const clo_i_account account = capped(1.5, 0x1p-20);
    const uint64_t e = UINT64_C(3) << 47, d = UINT64_C(1) << 42;
    assert_true(account.cap_epsilon == e && account.cap_delta == d);
    assert_true(covers(account, (clo_i_cost){ .epsilon = e, .delta = d }));
    assert_true(covers(account, (clo_i_cost){ .epsilon = e - 1, .delta = d - 1 }));
    assert_false(covers(account, (clo_i_cost){ .epsilon = e + 1, .delta = d }));
    assert_false(covers(account, (clo_i_cost){ .epsilon = e, .delta = d + 1 }));
    assert_false(covers(account, (clo_i_cost){ .epsilon = LEDGER_UNITS_LIMIT }));
    assert_false(covers(account, (clo_i_cost){ .delta = LEDGER_UNITS_LIMIT }));
}

/* ledger.T2: the one charge is compared as it was asked for, and only where it is the one. */
static void a_charge_alone_is_compared_as_it_was_asked_for(void **state)
{
    (void)state;
    const double off[] = { 0.1, 1e-7 }; /* neither lies on the grid */
    const clo_i_account account = capped(off[0], off[1]);
    for (uint64_t charges = 0; charges <= 2; charges++)
        for (int over = 0; over < 3; over++) {
            clo_i_account one = account;
            one.charges = charges;
            one.first = (clo_loss){ over == 1 ? nextafter(off[0], 1) : off[0],
                                    over == 2 ? nextafter(off[1], 1) : off[1] };
            one.spent = (clo_i_cost){ .epsilon = clo_i_epsilon_units(off[0], true),
                                      .delta = clo_i_delta_units(off[1], true) };
            assert_int_equal(clo_i_account_covered(&one), charges <= 1 && over == 0);
        }
}

/* ledger.T3 */
static void rhos_are_covered_up_to_the_last_unit(void **state)
{
    (void)state;
    clo_i_account account = capped(1, 1e-6);
    account.rule = CLO_RULE_ZCDP;
    account.base_rho = 1000;
    account.capacity = 77;
    /* Epsilons and deltas do not count any more. */
    const uint64_t much = LEDGER_UNITS_LIMIT;
    assert_true(covers(account, (clo_i_cost){ .epsilon = much, .delta = much, .rho = 1077 }));
    assert_true(covers(account, (clo_i_cost){ .rho = 1076 }));
    assert_true(covers(account, (clo_i_cost){ .rho = 1000 }));
    assert_false(covers(account, (clo_i_cost){ .rho = 1078 }));
    assert_false(covers(account, (clo_i_cost){ .rho = 999 })); /* less than before the rule */
    assert_false(covers(account, (clo_i_cost){ .rho = 1000, .rho_delta = 1 }));
    account.base_rho = LEDGER_UNITS_LIMIT - 1;
    assert_true(covers(account, (clo_i_cost){ .rho = LEDGER_UNITS_LIMIT - 1 }));
    assert_false(covers(account, (clo_i_cost){ .rho = LEDGER_UNITS_LIMIT })); /* "at least" */
}

static void two_relations_are_covered_by_no_cap(void **state)
{
    (void)state;
    clo_i_account account = { .relation = "" };
    const clo_i_cost cost = { .epsilon = 1 };
    clo_i_account_add(&account, "replace", (clo_loss){ 0x1p-48, 0 }, &cost);
    assert_string_equal(account.relation, "replace");
    clo_i_account_add(&account, "replace", (clo_loss){ 0x1p-48, 0 }, &cost);
    assert_string_equal(account.relation, "replace");
    clo_i_account_add(&account, "replace per person", (clo_loss){ 0x1p-48, 0 }, &cost);
    assert_string_equal(account.relation, "mixed");
    assert_true(clo_i_account_covered(&account)); /* there is no cap */
    clo_i_account_cap(&account, (clo_loss){ 10, 0 });
    assert_false(clo_i_account_covered(&account));
    clo_i_account_add(&account, "replace", (clo_loss){ 0x1p-48, 0 }, &cost);
    assert_string_equal(account.relation, "mixed"); /* it stays so */
    assert_int_equal(account.charges, 4);
}

/* ---- sums ------------------------------------------------------------------------------------ */

static uint64_t *sum_of(clo_i_cost *cost, int which)
{
    uint64_t *const sums[] = { &cost->epsilon, &cost->delta, &cost->rho, &cost->rho_delta };
    return sums[which];
}

/* ledger.T1: each sum by itself, and one that reaches the limit stays there. */
static void every_sum_is_added_and_none_begins_again(void **state)
{
    const uint64_t most = LEDGER_UNITS_LIMIT;
    const uint64_t pairs[][3] = {
        { 3, 4, 7 },       { most - 5, 4, most - 1 }, { most - 5, 5, most },  { most - 5, 6, most },
        { most, 1, most }, { most, most, most },      { UINT64_MAX, 1, most }
    };
    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        for (int which = 0; which < 4; which++) {
            clo_i_account account = { .relation = "replace", .charges = 1 };
            clo_i_cost cost = { 0 };
            *sum_of(&account.spent, which) = pairs[i][0];
            *sum_of(&cost, which) = pairs[i][1];
            clo_i_account_add(&account, "replace", (clo_loss){ 1, 0 }, &cost);
            for (int other = 0; other < 4; other++)
                assert_true(*sum_of(&account.spent, other) == (other == which ? pairs[i][2] : 0));
        }
}

/* What is left can be charged, and a unit more cannot. */
static void the_rest_is_what_can_still_be_charged(void **state)
{
    (void)state;
    clo_i_account account = spent(capped(1, 0x1p-30), (clo_i_cost){ .epsilon = 5, .delta = 9 });
    clo_i_cost rest = clo_i_account_rest(&account);
    assert_true(rest.epsilon == (UINT64_C(1) << 48) - 5 && rest.delta == (UINT64_C(1) << 32) - 9);
    clo_i_account_add(&account, "replace", (clo_loss){ 0 }, &rest);
    assert_true(clo_i_account_covered(&account));
    rest = clo_i_account_rest(&account);
    assert_true(rest.epsilon == 0 && rest.delta == 0);
    account = spent(capped(1, 1e-6), (clo_i_cost){ .rho = 30 });
    account.rule = CLO_RULE_ZCDP;
    account.base_rho = 20;
    for (uint64_t capacity = 9; capacity <= 12; capacity++) {
        account.capacity = capacity;
        rest = clo_i_account_rest(&account);
        assert_true(rest.rho == (capacity > 10 ? capacity - 10 : 0));
        assert_true(rest.epsilon == (rest.rho > 0) && rest.delta == 0);
    }
    account.capped = false;
    assert_true(clo_i_account_rest(&account).rho == LEDGER_UNITS_LIMIT);
}

/* ---- which rule: ledger.T4, ledger.T5 -------------------------------------------------------- */

static clo_i_account settled(clo_i_account account, clo_i_cost cost)
{
    clo_error err;
    assert_ok(clo_i_account_settle(&account, &cost, &err), err);
    return account;
}

static void a_cap_after_deltas_counts_by_adding(void **state)
{
    (void)state;
    for (uint64_t delta = 0; delta <= 1; delta++) {
        clo_i_account account = { .spent = { .epsilon = 3, .delta = delta }, .charges = 1 };
        clo_i_account_cap(&account, (clo_loss){ 1, 1e-6 });
        assert_int_equal(account.rule, delta ? CLO_RULE_BASIC : CLO_RULE_OPEN);
    }
}

/* What there is of rho for (cap - before, delta). */
static uint64_t capacity_of(double epsilon, double delta)
{
    uint64_t rho = 0;
    clo_error err;
    assert_ok(clo_i_capacity_rho((clo_loss){ epsilon, delta }, &rho, &err), err);
    return rho;
}

/* The first charge with a delta fixes the rule, with what was spent before it. */
static void the_rule_is_fixed_with_what_was_spent_before(void **state)
{
    (void)state;
    clo_i_account account = capped(1, 1e-6);
    const clo_i_cost small = { .epsilon = UINT64_C(1) << 45, .delta = 100, .rho = 5 };
    assert_int_equal(settled(account, (clo_i_cost){ .epsilon = 7, .rho = 5 }).rule, CLO_RULE_OPEN);
    clo_i_account fixed = settled(account, small);
    assert_int_equal(fixed.rule, CLO_RULE_ZCDP);
    assert_true(fixed.capacity == capacity_of(1, 1e-6) && fixed.base_epsilon == 0);
    account = spent(account, (clo_i_cost){ .epsilon = UINT64_C(1) << 47, .rho = 1234 });
    fixed = settled(account, small);
    assert_int_equal(fixed.rule, CLO_RULE_ZCDP);
    assert_true(fixed.base_epsilon == UINT64_C(1) << 47 && fixed.base_rho == 1234);
    assert_true(fixed.capacity == capacity_of(0.5, 1e-6));
    fixed.spent.rho = 999999; /* and then for good */
    const clo_i_account again = settled(fixed, (clo_i_cost){ .epsilon = 1, .delta = 1, .rho = 1 });
    assert_true(again.base_rho == 1234 && again.capacity == fixed.capacity);
    account.rule = CLO_RULE_BASIC;
    assert_int_equal(settled(account, small).rule, CLO_RULE_BASIC);
}

/* Of both rules the one of which the charge takes the smaller share; at every edge. */
static void the_rule_is_the_one_that_takes_less(void **state)
{
    (void)state;
    const clo_i_account account = capped(1, 1e-6);
    const uint64_t all = account.cap_epsilon, capacity = capacity_of(1, 1e-6);
    const uint64_t rhos[] = { 1, capacity / 7, capacity / 2, capacity - 1, capacity, capacity + 1 };
    for (size_t r = 0; r < sizeof rhos / sizeof *rhos; r++) {
        /* The epsilons and deltas at which the shares are equal, and those beside them. */
        const uint64_t e = (uint64_t)((wide)rhos[r] * all / capacity);
        const uint64_t d = (uint64_t)((wide)rhos[r] * account.cap_delta / capacity);
        for (uint64_t i = 0; i < 3; i++)
            for (uint64_t j = 0; j < 3; j++) {
                const clo_i_cost cost = { .epsilon = e + i, .delta = 1 + d + j, .rho = rhos[r] };
                const bool less = (wide)cost.rho * all < (wide)cost.epsilon * capacity ||
                                  (wide)cost.rho * account.cap_delta < (wide)cost.delta * capacity;
                const bool zcdp = less && cost.epsilon < all && cost.rho <= capacity;
                assert_int_equal(settled(account, cost).rule,
                                 zcdp ? CLO_RULE_ZCDP : CLO_RULE_BASIC);
            }
    }
    clo_i_cost cost = { .epsilon = all - 1, .delta = 1, .rho = 1 };
    assert_int_equal(settled(account, cost).rule, CLO_RULE_ZCDP);
    cost.rho_delta = 1;
    assert_int_equal(settled(account, cost).rule, CLO_RULE_BASIC);
    cost.rho_delta = 0;
    cost.epsilon = all; /* it takes the cap at its word */
    assert_int_equal(settled(account, cost).rule, CLO_RULE_BASIC);
}

/* A charge whose share of epsilon is the smaller one, and whose delta decides; and the reverse. */
static void either_share_decides(void **state)
{
    (void)state;
    const clo_i_account account = capped(1, 1e-6);
    const uint64_t capacity = capacity_of(1, 1e-6);
    const clo_i_cost by_delta = { .epsilon = 1, .delta = account.cap_delta, .rho = capacity / 2 };
    const clo_i_cost by_epsilon = { .epsilon = account.cap_epsilon - 1,
                                    .delta = 1,
                                    .rho = capacity / 2 };
    const clo_i_cost neither = { .epsilon = 1, .delta = 1, .rho = capacity / 2 };
    assert_int_equal(settled(account, by_delta).rule, CLO_RULE_ZCDP);
    assert_int_equal(settled(account, by_epsilon).rule, CLO_RULE_ZCDP);
    assert_int_equal(settled(account, neither).rule, CLO_RULE_BASIC);
}

static void zcdp_is_for_caps_up_to_300_and_for_accounts_that_know_their_rho(void **state)
{
    (void)state;
    const clo_i_cost cost = { .epsilon = UINT64_C(1) << 48, .delta = 1, .rho = 1 };
    assert_int_equal(settled(capped(300, 1e-6), cost).rule, CLO_RULE_ZCDP);
    assert_int_equal(settled(capped(nextafter(300, 301) + 1e-9, 1e-6), cost).rule, CLO_RULE_BASIC);
    clo_i_account account = spent(capped(8, 1e-6), (clo_i_cost){ .epsilon = 1 });
    account.spent.rho = LEDGER_UNITS_LIMIT - 2; /* with the charge's still below "at least" */
    assert_int_equal(settled(account, cost).rule, CLO_RULE_ZCDP);
    account.spent.rho = LEDGER_UNITS_LIMIT - 1;
    assert_int_equal(settled(account, cost).rule, CLO_RULE_BASIC);
    account = spent(capped(8, 1e-6), (clo_i_cost){ .epsilon = 1, .rho_delta = 1 });
    assert_int_equal(settled(account, cost).rule, CLO_RULE_BASIC);
    account = spent(capped(8, 1e-6), (clo_i_cost){ .epsilon = UINT64_C(8) << 48 }); /* none left */
    assert_int_equal(settled(account, cost).rule, CLO_RULE_BASIC);
    uint64_t capacity = 7;
    account.base_epsilon = account.cap_epsilon;
    assert_int_equal(clo_i_account_capacity(&account, &capacity, NULL), CLO_OK);
    assert_true(capacity == 0);
    account = capped(1, 0); /* without a delta there is no rho to spend */
    assert_int_equal(clo_i_account_capacity(&account, &capacity, NULL), CLO_OK);
    assert_true(capacity == 0);
}

/* ---- units ----------------------------------------------------------------------------------- */

/* ledger.T1, ledger.T6: a charge counts at least what it costs; a plan on the grid exactly that. */
static void a_charge_is_rounded_up_where_its_price_is_above_the_grid(void **state)
{
    (void)state;
    const clo_loss asked = { 0.1, 1e-7 }, grid = clo_i_loss_on_grid(asked);
    const uint64_t e = clo_i_epsilon_units(0.1, false), d = clo_i_delta_units(1e-7, false);
    assert_true(grid.epsilon < 0.1 && grid.delta < 1e-7);
    assert_true(grid.epsilon == ldexp((double)e, -48) && grid.delta == ldexp((double)d, -62));
    const struct {
        clo_loss price;
        uint64_t up;
    } rows[] = { { grid, 0 },
                 { { grid.epsilon / 2, 0 }, 0 },
                 { { nextafter(grid.epsilon, 1), 0 }, 1 },
                 { { grid.epsilon, nextafter(grid.delta, 1) }, 1 },
                 { { 0, 0 }, 1 }, /* no price is known */
                 { { grid.epsilon, -1 }, 1 } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const clo_i_charge charge = { .loss = asked, .price = rows[i].price, .rho = 5 };
        const clo_i_cost cost = clo_i_cost_of(&charge);
        assert_true(cost.epsilon == e + rows[i].up && cost.delta == d + rows[i].up);
        assert_true(cost.rho == 5 && cost.rho_delta == 0);
    }
    const clo_i_charge unknown = { .loss = asked },
                       huge = { .rho = UINT64_MAX, .rho_delta = UINT64_MAX };
    assert_true(clo_i_cost_of(&unknown).rho == LEDGER_UNITS_LIMIT); /* not free */
    assert_true(clo_i_cost_of(&huge).rho == LEDGER_UNITS_LIMIT);
    assert_true(clo_i_cost_of(&huge).rho_delta == LEDGER_UNITS_LIMIT);
}

/* Whatever the units, the number that is told for them is not above, and the next one is. */
static void numbers_that_are_told_are_never_above_their_units(void **state)
{
    (void)state;
    for (int bit = 0; bit < 63; bit++)
        for (int64_t beside = -3; beside <= 3; beside++) {
            const uint64_t units = (UINT64_C(1) << bit) + (uint64_t)beside;
            if (units - 1 >= LEDGER_UNITS_LIMIT) continue; /* or 0 */
            const clo_i_cost cost = { .epsilon = units, .delta = units };
            const clo_loss told = clo_i_cost_asked(&cost);
            assert_true((wide)ldexp(told.epsilon, 48) <= units);
            assert_true((wide)ldexp(nextafter(told.epsilon, INFINITY), 48) > units ||
                        ldexp(nextafter(told.epsilon, INFINITY), 48) > (double)units);
            assert_true(told.delta == ldexp(told.epsilon, -14));
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(epsilons_and_deltas_are_covered_up_to_the_last_unit),
        cmocka_unit_test(a_charge_alone_is_compared_as_it_was_asked_for),
        cmocka_unit_test(rhos_are_covered_up_to_the_last_unit),
        cmocka_unit_test(two_relations_are_covered_by_no_cap),
        cmocka_unit_test(every_sum_is_added_and_none_begins_again),
        cmocka_unit_test(the_rest_is_what_can_still_be_charged),
        cmocka_unit_test(a_cap_after_deltas_counts_by_adding),
        cmocka_unit_test(the_rule_is_fixed_with_what_was_spent_before),
        cmocka_unit_test(the_rule_is_the_one_that_takes_less),
        cmocka_unit_test(either_share_decides),
        cmocka_unit_test(zcdp_is_for_caps_up_to_300_and_for_accounts_that_know_their_rho),
        cmocka_unit_test(a_charge_is_rounded_up_where_its_price_is_above_the_grid),
        cmocka_unit_test(numbers_that_are_told_are_never_above_their_units),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
