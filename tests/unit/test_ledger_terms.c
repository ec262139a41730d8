/*
 * test_ledger_terms.c - what a steward narrows (ledger.T15), and groups (ledger.T16), to the unit
 * and to the second: first the decision by itself, then the ledger that acts and charges.
 */
#include "ledger_charges.h"
#include <cloister/steward.h>
#include <fcntl.h>

/* ---- the decision ---------------------------------------------------------------------------- */

static clo_i_account an_account(clo_i_cost spent)
{
    clo_i_account account = { .name = "d", .relation = "replace", .charges = 2 };
    clo_i_account_cap(&account, (clo_loss){ 4, 0x1p-10 });
    account.spent = spent;
    return account;
}

static bool allows(const clo_i_terms *terms, clo_i_account account, int64_t now)
{
    return clo_i_terms_allow(terms, &account, &account, now, NULL) == CLO_OK;
}

static void an_end_is_for_good_and_a_day_comes_at_its_second(void **state)
{
    (void)state;
    const clo_i_account account = an_account((clo_i_cost){ .epsilon = 1 });
    const clo_i_terms none = { .ended = false }, ended = { .ended = true };
    const clo_i_terms expires = { .expires = 1000 };
    assert_true(allows(&none, account, INT64_MAX));
    assert_false(allows(&ended, account, 1));
    assert_true(allows(&expires, account, 999));
    assert_false(allows(&expires, account, 1000));
    assert_false(allows(&expires, account, 1001));
}

static void a_lowered_cap_covers_up_to_its_last_unit(void **state)
{
    (void)state;
    const clo_i_terms lowered = { .lowered = true, .limit = { 1, 0x1p-20 } };
    const uint64_t e = UINT64_C(1) << 48, d = UINT64_C(1) << 42;
    assert_true(allows(&lowered, an_account((clo_i_cost){ .epsilon = e, .delta = d }), 1));
    assert_false(allows(&lowered, an_account((clo_i_cost){ .epsilon = e + 1, .delta = d }), 1));
    assert_false(allows(&lowered, an_account((clo_i_cost){ .epsilon = e, .delta = d + 1 }), 1));
    clo_i_account alone = an_account((clo_i_cost){ .epsilon = e + 1 });
    alone.charges = 1;
    alone.first = (clo_loss){ 1, 0x1p-20 };
    assert_true(allows(&lowered, alone, 1));
    alone.first.epsilon = nextafter(1, 2);
    assert_false(allows(&lowered, alone, 1));
}

/* Under zcdp the capacity is that of the lower cap, and never more than it was. */
static void a_lowered_cap_lowers_the_capacity(void **state)
{
    (void)state;
    clo_i_terms lowered = { .lowered = true, .limit = { 1, 1e-6 } };
    clo_i_account account = an_account((clo_i_cost){ .rho = 50 });
    uint64_t least = 0;
    clo_error err;
    assert_ok(clo_i_capacity_rho(lowered.limit, &least, &err), err);
    account.rule = CLO_RULE_ZCDP;
    for (int below = 0; below < 2; below++) {
        clo_i_account seen = account;
        seen.capacity = below ? least - 1 : least + 1000;
        assert_ok(clo_i_terms_apply(&lowered, &seen, &err), err);
        assert_true(seen.capacity == least - (uint64_t)below);
        assert_true(seen.cap.epsilon == 1 && seen.cap_epsilon == UINT64_C(1) << 48);
        assert_true(seen.cap_delta == clo_i_delta_units(1e-6, false));
    }
    account.capacity = UINT64_MAX;
    account.spent.rho = least;
    assert_true(allows(&lowered, account, 1));
    account.spent.rho = least + 1;
    assert_false(allows(&lowered, account, 1));
    clo_i_account open = an_account((clo_i_cost){ .epsilon = 1 });
    open.capped = false; /* nothing to lower */
    assert_ok(clo_i_terms_apply(&lowered, &open, &err), err);
    assert_true(open.cap.epsilon == 4);
}

/* Acts of this data set alone; the earliest day, the last cap. */
static void terms_are_those_of_the_data_set(void **state)
{
    (void)state;
    clo_i_effect acts[] = {
        { LEDGER_ACT_LOWER, "d", "2 0.001" },  { LEDGER_ACT_EXPIRE, "d", "2000" },
        { LEDGER_ACT_EXPIRE, "d", "1000" },    { LEDGER_ACT_EXPIRE, "d", "1500" },
        { LEDGER_ACT_LOWER, "d", "1 0.0005" }, { LEDGER_ACT_RULE, "d", "zcdp" },
        { LEDGER_ACT_END, "other", "" },       { LEDGER_ACT_LOWER, "other", "0.5 0" },
        { LEDGER_ACT_MEMBER, "d", "group" },
    };
    const clo_i_effects effects = { .items = acts, .count = sizeof acts / sizeof *acts };
    const clo_ledger ledger = { .shown = "l" };
    clo_i_terms terms;
    clo_error err;
    assert_ok(clo_i_terms_of(&ledger, &effects, "d", &terms, &err), err);
    assert_false(terms.ended);
    assert_true(terms.lowered && terms.limit.epsilon == 1 && terms.limit.delta == 0.0005);
    assert_true(terms.expires == 1000 && terms.rule == CLO_RULE_ZCDP);
    assert_ok(clo_i_terms_of(&ledger, &effects, "other", &terms, &err), err);
    assert_true(terms.ended && terms.lowered && terms.limit.epsilon == 0.5 && !terms.expires);
    assert_ok(clo_i_terms_of(&ledger, &effects, "nobody", &terms, &err), err);
    assert_true(!terms.ended && !terms.lowered && terms.rule == CLO_RULE_OPEN);
    static const char *const wrong[][2] = {
        { LEDGER_ACT_LOWER, "1" },   { LEDGER_ACT_LOWER, "1 0 0" },
        { LEDGER_ACT_LOWER, "x 0" }, { LEDGER_ACT_EXPIRE, "soon" },
        { LEDGER_ACT_EXPIRE, "0" },  { LEDGER_ACT_RULE, "whichever" }
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        snprintf(acts[0].kind, sizeof acts[0].kind, "%s", wrong[i][0]);
        snprintf(acts[0].value, sizeof acts[0].value, "%s", wrong[i][1]);
        const clo_i_effects one = { .items = acts, .count = 1 };
        assert_fails(clo_i_terms_of(&ledger, &one, "d", &terms, &err), CLO_LEDGER, err,
                     "cannot be read");
    }
}

/* ---- the ledger ------------------------------------------------------------------------------ */

/* ledger.T15 */
static void charges_up_to_the_lowered_cap(void **state)
{
    const place *p = *state;
    clo_ledger *ledger = open_at(p->ledger);
    clo_error err;
    declare(ledger, "d", 2);
    assert_ok(charge_on(ledger, "d", 0.25, NULL, &err), err);
    assert_ok(clo_ledger_lower(ledger, "d", (clo_loss){ 1, 0 }, "less", &err), err);
    assert_ok(charge_on(ledger, "d", 0.5, NULL, &err), err);
    assert_fails(charge_on(ledger, "d", 0.5, NULL, &err), CLO_BUDGET, err, "was lowered");
    assert_true(spent_on(ledger, "d") == 3 * QUARTER);
    clo_ledger_close(ledger);
    ledger = open_at(p->ledger); /* as another process would see it */
    assert_fails(charge_on(ledger, "d", 0.5, NULL, &err), CLO_BUDGET, err, "was lowered");
    assert_ok(charge_on(ledger, "d", 0.25, NULL, &err), err);
    assert_fails(charge_on(ledger, "d", 0x1p-40, NULL, &err), CLO_BUDGET, err, "was lowered");
    assert_fails(clo_ledger_lower(ledger, "d", (clo_loss){ 1.5, 0 }, "more", &err), CLO_ARGUMENT,
                 err, "only be lowered");
    assert_fails(clo_ledger_lower(ledger, "d", (clo_loss){ 1, 1e-9 }, "more", &err), CLO_ARGUMENT,
                 err, "only be lowered");
    assert_ok(clo_ledger_lower(ledger, "d", (clo_loss){ 1, 0 }, "the same", &err), err);
    is_sound(ledger);
    clo_ledger_close(ledger);
}

/* In both numbers, each time below what it was last, and not below what was declared. */
static void a_cap_that_was_lowered_is_not_raised_again(void **state)
{
    static const clo_loss more[] = { { 1.25, 1e-6 }, { 1, 3e-6 }, { 0.5, 3e-6 }, { 1.25, 0 } };
    const place *p = *state;
    clo_ledger *ledger = open_at(p->ledger);
    clo_error err;
    assert_ok(clo_ledger_declare(ledger, "d", (clo_loss){ 2, 1e-5 }, &err), err);
    assert_ok(clo_ledger_lower(ledger, "d", (clo_loss){ 1, 2e-6 }, "less", &err), err);
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        assert_fails(clo_ledger_lower(ledger, "d", more[i], "more", &err), CLO_ARGUMENT, err,
                     "only be lowered");
    assert_ok(clo_ledger_lower(ledger, "d", (clo_loss){ 1, 1e-6 }, "less", &err), err);
    clo_ledger_close(ledger);
}

/* What ends a data set may be the only thing that was ever decided. */
static void a_data_set_is_closed_by_the_first_word(void **state)
{
    const place *p = *state;
    clo_ledger *ledger = open_at(p->ledger);
    clo_error err;
    declare(ledger, "d", 2);
    assert_ok(clo_ledger_end(ledger, "d", "enough", &err), err);
    assert_fails(charge_on(ledger, "d", 0.25, NULL, &err), CLO_BUDGET, err, "was closed");
    is_sound(ledger);
    clo_ledger_close(ledger);
}

static int64_t the_time;

static bool take_left(void *user, const clo_account *account)
{
    *(double *)user = account->left.epsilon;
    return true;
}

static int64_t set_clock(void)
{
    return the_time;
}

static void charges_until_the_day_and_the_end(void **state)
{
    const place *p = *state;
    clo_ledger *ledger = open_at(p->ledger);
    clo_error err;
    ledger->clock = set_clock;
    the_time = 1000;
    declare(ledger, "d", 2);
    assert_ok(clo_ledger_expire(ledger, "d", 3000, "in a while", &err), err);
    assert_ok(clo_ledger_expire(ledger, "d", 2000, "sooner", &err), err);
    assert_ok(clo_ledger_expire(ledger, "d", 2500, "not later", &err), err);
    the_time = 1999;
    assert_ok(charge_on(ledger, "d", 0.25, NULL, &err), err);
    the_time = 2000;
    assert_fails(charge_on(ledger, "d", 0.25, NULL, &err), CLO_BUDGET, err, "has expired");
    the_time = 1500;
    assert_ok(charge_on(ledger, "d", 0.25, NULL, &err), err);
    assert_ok(clo_ledger_end(ledger, "d", "enough", &err), err);
    assert_fails(charge_on(ledger, "d", 0.25, NULL, &err), CLO_BUDGET, err, "was closed");
    assert_fails(clo_ledger_end(ledger, "nobody", "?", &err), CLO_ARGUMENT, err, "has no cap");
    assert_fails(clo_ledger_end(ledger, "d", "", &err), CLO_ARGUMENT, err, "states the reason");
    assert_true(spent_on(ledger, "d") == 2 * QUARTER);
    is_sound(ledger);
    clo_ledger_close(ledger);
}

/* ledger.T15: the latest time that a charge or an act has seen counts, whatever the clock says. */
static void stays_expired_when_the_clock_is_put_back(void **state)
{
    const place *p = *state;
    clo_ledger *ledger = open_at(p->ledger);
    clo_error err;
    double left = -1;
    ledger->clock = set_clock;
    for (int i = 0; i < 2; i++) {
        const char *const name = i ? "e" : "d";
        the_time = 1000 + 10000 * i;
        declare(ledger, name, 2);
        assert_ok(clo_ledger_expire(ledger, name, 2000 + 10000 * i, "soon", &err), err);
        assert_ok(charge_on(ledger, name, 0.25, NULL, &err), err);
        the_time = 2000 + 10000 * i;
        if (i == 0)
            assert_ok(charge_on(ledger, "other", 0.25, NULL, &err), err);
        else
            assert_ok(clo_ledger_lower(ledger, "d", (clo_loss){ 1, 0 }, "less", &err), err);
        the_time = 1500 + 10000 * i;
        assert_fails(charge_on(ledger, name, 0.25, NULL, &err), CLO_BUDGET, err, "has expired");
        assert_ok(clo_ledger_accounts(ledger, name, take_left, &left, &err), err);
        assert_true(left == 0);
    }
    is_sound(ledger);
    clo_ledger_close(ledger);
}

/* ledger.T16 */
static void charges_a_group_along_or_nothing_at_all(void **state)
{
    const place *p = *state;
    clo_ledger *ledger = open_at(p->ledger);
    clo_error err;
    declare(ledger, "a", 2);
    declare(ledger, "b", 2);
    declare(ledger, "g", 1);
    assert_ok(charge_on(ledger, "a", 0.25, NULL, &err), err);
    assert_ok(clo_ledger_join(ledger, "a", "g", "one cohort", &err), err);
    assert_true(spent_on(ledger, "g") == QUARTER); /* what was spent before */
    assert_ok(clo_ledger_join(ledger, "b", "g", "one cohort", &err), err);
    assert_true(spent_on(ledger, "g") == QUARTER);
    assert_ok(charge_on(ledger, "a", 0.25, NULL, &err), err);
    assert_ok(charge_on(ledger, "b", 0.25, NULL, &err), err);
    assert_true(spent_on(ledger, "g") == 3 * QUARTER);
    assert_fails(charge_on(ledger, "b", 0.5, NULL, &err), CLO_BUDGET, err, "left on");
    assert_true(spent_on(ledger, "a") == 2 * QUARTER && spent_on(ledger, "b") == QUARTER);
    assert_true(spent_on(ledger, "g") == 3 * QUARTER); /* neither of the two */
    assert_ok(clo_ledger_end(ledger, "g", "enough", &err), err);
    assert_fails(charge_on(ledger, "a", 0.25, NULL, &err), CLO_BUDGET, err, "was closed");
    is_sound(ledger);
    clo_ledger_close(ledger);
}

/* What the anchor keeps of an account, for who must bring the ledger back. */
static uint64_t kept_of(clo_ledger *ledger, const char *dataset)
{
    clo_i_account account;
    clo_i_slot slot;
    uint64_t acknowledged = 0;
    bool found = false;
    clo_error err;
    char identity[2 * LEDGER_IDENTITY + 1];
    clo_i_head head;
    assert_ok(clo_i_ledger_find_account(ledger, dataset, &account, &found, &err), err);
    assert_ok(clo_i_ledger_get_head(ledger, &head, &err), err);
    for (size_t i = 0; i < LEDGER_IDENTITY; i++)
        snprintf(identity + 2 * i, 3, "%02x", head.identity[i]);
    const int file = open(ledger->anchor.path, O_RDONLY);
    assert_true(found && file >= 0);
    const bool kept = clo_i_slot_read(&ledger->key, identity, file, account.id, head.charges, &slot,
                                      &acknowledged);
    close(file);
    assert_true(kept && acknowledged == account.charges);
    assert_string_equal(slot.account.name, dataset);
    return slot.account.spent.epsilon;
}

/* ledger.T17: every account that a charge changed, not the last of them alone. */
static void keeps_every_account_that_was_charged(void **state)
{
    const place *p = *state;
    clo_ledger *ledger = open_at(p->ledger);
    clo_error err;
    declare(ledger, "a", 2);
    declare(ledger, "b", 2);
    declare(ledger, "g", 2);
    declare(ledger, "h", 2);
    assert_ok(clo_ledger_join(ledger, "a", "g", "x", &err), err);
    assert_ok(clo_ledger_join(ledger, "a", "h", "x", &err), err);
    for (uint64_t times = 1; times <= 3; times++) {
        assert_ok(charge_on(ledger, "a", 0.25, NULL, &err), err);
        assert_true(kept_of(ledger, "a") == times * QUARTER);
        assert_true(kept_of(ledger, "g") == times * QUARTER);
        assert_true(kept_of(ledger, "h") == times * QUARTER);
        assert_true(kept_of(ledger, "b") == 0);
    }
    clo_ledger_close(ledger);
}

/* ledger.T17: what was released elsewhere is charged; where it is more than there is left, all that
 * is left, and the caller hears which of the two it was. */
static void says_whether_what_is_adopted_took_all(void **state)
{
    const place *p = *state;
    clo_ledger *ledger = open_at(p->ledger);
    const clo_loss quarter = { 0.25, 0 };
    clo_error err;
    bool all = true;
    declare(ledger, "a", 1);
    for (uint64_t times = 1; times <= 3; times++) {
        assert_ok(clo_ledger_adopt(ledger, "a", quarter, "replace", "a table", &all, &err), err);
        assert_true(!all && spent_on(ledger, "a") == times * QUARTER);
        all = true;
    }
    all = false;
    assert_ok(clo_ledger_adopt(ledger, "a", (clo_loss){ 3, 0 }, "replace", "more", &all, &err),
              err);
    assert_true(all && spent_on(ledger, "a") == 4 * QUARTER);
    is_sound(ledger);
    clo_ledger_close(ledger);
}

/* ledger.T16: a charge sees that a term was taken from one data set to another, without waiting for
 * somebody to verify all entries. */
static void a_charge_notices_a_term_of_another_data_set(void **state)
{
    const place *p = *state;
    clo_ledger *ledger = open_at(p->ledger);
    clo_i_receipt receipt;
    clo_error err;
    const clo_i_charge charge = { .dataset = "a",
                                  .mechanism = "kmeans/lloyd",
                                  .relation = "replace",
                                  .loss = { 0.75, 0 },
                                  .rho = 100 };
    declare(ledger, "a", 2);
    declare(ledger, "b", 2);
    assert_ok(clo_ledger_lower(ledger, "a", (clo_loss){ 0.5, 0 }, "less", &err), err);
    assert_fails(clo_i_ledger_charge(ledger, &charge, &receipt, &err), CLO_BUDGET, err,
                 "was lowered");
    clo_ledger_close(ledger);
    tamper(p->ledger, "DROP TRIGGER act_is_not_changed; UPDATE act SET dataset = (SELECT id FROM "
                      "dataset WHERE name = 'b') WHERE kind = 'lower'");
    if (clo_ledger_create(p->ledger, CLO_LEDGER_OPEN, &ledger, &err)) return; /* seen already */
    assert_int_equal(clo_i_ledger_charge(ledger, &charge, &receipt, &err), CLO_LEDGER);
    clo_ledger_close(ledger);
}

/* A pure loss has a rho, which counts beside Gaussian runs: half of its square, and a little more
 * for rounding. */
static void what_is_adopted_counts_by_its_rho(void **state)
{
    const place *p = *state;
    clo_ledger *ledger = open_at(p->ledger);
    clo_i_account account;
    bool all = true, found = false;
    clo_error err;
    declare(ledger, "a", 2);
    assert_ok(clo_ledger_choose_rule(ledger, "a", "zcdp", "so", &err), err);
    for (int times = 1; times <= 2; times++) {
        assert_ok(
            clo_ledger_adopt(ledger, "a", (clo_loss){ 0.25, 0 }, "replace", "a table", &all, &err),
            err);
        assert_ok(clo_i_ledger_find_account(ledger, "a", &account, &found, &err), err);
        const double rho = ldexp((double)account.spent.rho, -48);
        assert_true(!all && account.spent.rho_delta == 0);
        assert_true(rho >= times * 0.03 && rho <= times * 0.03126);
    }
    clo_ledger_close(ledger);
}

/* Of what was released with a delta nobody knows a rho: it counts for all that there is. */
static void what_is_adopted_with_a_delta_has_no_rho(void **state)
{
    const place *p = *state;
    clo_ledger *ledger = open_at(p->ledger);
    const clo_loss cap = { 2, 1e-5 }, loss = { 0.25, 1e-6 };
    clo_i_account account;
    bool all = true, found = false;
    clo_error err;
    assert_ok(clo_ledger_declare(ledger, "a", cap, &err), err);
    assert_ok(clo_ledger_adopt(ledger, "a", loss, "replace", "a table", &all, &err), err);
    assert_ok(clo_i_ledger_find_account(ledger, "a", &account, &found, &err), err);
    assert_true(!all && account.spent.rho == LEDGER_UNITS_LIMIT && account.rule == CLO_RULE_BASIC);
    clo_ledger_close(ledger);
}

/* All that is left of a member is not all that was released, for the group. */
static void what_is_adopted_takes_nothing_where_a_group_would_not_know(void **state)
{
    const place *p = *state;
    clo_ledger *ledger = open_at(p->ledger);
    bool all = false;
    clo_error err;
    declare(ledger, "a", 1);
    declare(ledger, "g", 2);
    assert_ok(clo_ledger_join(ledger, "a", "g", "x", &err), err);
    assert_fails(
        clo_ledger_adopt(ledger, "a", (clo_loss){ 1.5, 0 }, "replace", "a table", &all, &err),
        CLO_BUDGET, err, "close them");
    assert_true(spent_on(ledger, "a") == 0 && spent_on(ledger, "g") == 0);
    clo_ledger_close(ledger);
}

/* Many charges that were chosen as answers came are added: their rhos are no rho of one (T4). */
static void the_past_of_a_member_counts_by_adding(void **state)
{
    const place *p = *state;
    clo_ledger *ledger = open_at(p->ledger);
    const clo_loss cap = { 2, 1e-5 };
    const clo_i_charge charge = { .dataset = "a",
                                  .mechanism = "kmeans/lloyd",
                                  .relation = "replace",
                                  .loss = { 0.25, 1e-6 },
                                  .rho = 1000 };
    clo_i_receipt receipt;
    clo_i_account account;
    bool found = false;
    clo_error err;
    assert_ok(clo_ledger_declare(ledger, "a", cap, &err), err);
    assert_ok(clo_ledger_declare(ledger, "g", cap, &err), err);
    for (int i = 0; i < 3; i++)
        assert_ok(clo_i_ledger_charge(ledger, &charge, &receipt, &err), err);
    assert_ok(clo_ledger_join(ledger, "a", "g", "x", &err), err);
    assert_ok(clo_i_ledger_find_account(ledger, "g", &account, &found, &err), err);
    assert_true(account.rule == CLO_RULE_BASIC && account.spent.rho == LEDGER_UNITS_LIMIT);
    assert_true(account.spent.epsilon == 3 * QUARTER);
    is_sound(ledger);
    clo_ledger_close(ledger);
}

/* A member that is charged without its group, by who has the key: the replay misses it. */
static void a_group_that_was_left_out_is_missed(void **state)
{
    const place *p = *state;
    clo_ledger *ledger = open_at(p->ledger);
    uint64_t wrong = 0;
    clo_error err;
    declare(ledger, "a", 2);
    declare(ledger, "g", 2);
    declare(ledger, "h", 2);
    assert_ok(clo_ledger_join(ledger, "a", "g", "x", &err), err);
    assert_ok(charge_on(ledger, "a", 0.25, NULL, &err), err);
    is_sound(ledger);
    clo_i_writing w;
    assert_ok(clo_i_write_begin(ledger, "a", NULL, true, &w, &err), err);
    clo_i_account after = w.account;
    clo_i_entry entry = { .cost = { QUARTER, 0, 100, 0 },
                          .asked = { 0.25, 0 },
                          .attributed = false };
    snprintf(entry.mechanism, sizeof entry.mechanism, "kmeans/lloyd");
    snprintf(entry.relation, sizeof entry.relation, "replace");
    assert_ok(clo_i_token_random(entry.token, &err), err);
    clo_i_account_add(&after, "replace", entry.asked, &entry.cost);
    assert_ok(clo_i_charge_insert(ledger, &entry, &after, &w.head, &err), err);
    assert_ok(clo_i_write_account(ledger, &w, &after, &err), err);
    assert_ok(clo_i_write_end(ledger, &w, CLO_OK, &err), err);
    assert_ok(clo_i_terms_verify(ledger, &wrong, &err), err);
    assert_true(wrong > 0);
    assert_fails(clo_ledger_verify(ledger, &err), CLO_LEDGER, err, "not charged to its group");
    clo_ledger_close(ledger);
}

/* The same by who charges the group something else: each number of the entry behind a member's is
 * that of the member's, and it is on the group. */
static void a_group_that_is_charged_something_else_is_noticed(void **state)
{
    static const clo_i_cost own = { QUARTER, 1000, 100, 0 };
    static const clo_i_cost others[] = { { QUARTER, 1000, 100, 0 },
                                         { QUARTER - 1, 1000, 100, 0 },
                                         { QUARTER, 999, 100, 0 },
                                         { QUARTER, 1000, 99, 0 } };
    const place *p = *state;
    for (size_t i = 0; i <= sizeof others / sizeof *others; i++) {
        const bool elsewhere = i == sizeof others / sizeof *others;
        clo_ledger *ledger = open_at(p->ledger);
        uint64_t wrong = 0;
        clo_error err;
        clo_i_writing w;
        for (size_t d = 0; d < 3; d++) {
            const char *const name = d == 0 ? "a" : d == 1 ? "g" : "h";
            assert_ok(clo_ledger_declare(ledger, name, (clo_loss){ 2, 1e-6 }, &err), err);
        }
        assert_ok(clo_ledger_join(ledger, "a", "g", "x", &err), err);
        assert_ok(clo_i_write_begin(ledger, "a", NULL, true, &w, &err), err);
        for (int which = 0; which < 2; which++) {
            clo_i_account account;
            bool found = false;
            const char *const name = which == 0 ? "a" : elsewhere ? "h" : "g";
            clo_i_entry entry = { .cost = which == 0 || elsewhere ? own : others[i],
                                  .asked = { 0.25, 1e-15 } };
            assert_ok(clo_i_ledger_find_account(ledger, name, &account, &found, &err), err);
            assert_true(found);
            snprintf(entry.mechanism, sizeof entry.mechanism, "kmeans/lloyd");
            snprintf(entry.relation, sizeof entry.relation, "replace");
            assert_ok(clo_i_token_random(entry.token, &err), err);
            account.rule = CLO_RULE_BASIC;
            clo_i_account_add(&account, "replace", entry.asked, &entry.cost);
            assert_ok(clo_i_charge_insert(ledger, &entry, &account, &w.head, &err), err);
            if (which == 0) assert_ok(clo_i_write_account(ledger, &w, &account, &err), err);
        }
        assert_ok(clo_i_terms_verify(ledger, &wrong, &err), err);
        assert_int_equal(wrong > 0, i > 0);
        (void)!clo_i_write_end(ledger, &w, CLO_INTERNAL, &err); /* it was for the look alone */
        clo_ledger_close(ledger);
        in_shell(p, "rm -rf '%s/ledger.db' '%s/config'");
    }
}

/* Once along, by the caller's word: to what has a cap, and to nothing else. */
static void charges_along_what_has_a_cap_alone(void **state)
{
    const place *p = *state;
    clo_ledger *ledger = open_at(p->ledger);
    clo_error err;
    declare(ledger, "a", 2);
    declare(ledger, "g", 0.5);
    assert_ok(charge_on(ledger, "free", 0.25, NULL, &err), err); /* an account without a cap */
    assert_ok(charge_on(ledger, "a", 0.25, "g", &err), err);
    assert_true(spent_on(ledger, "a") == QUARTER && spent_on(ledger, "g") == QUARTER);
    assert_fails(charge_on(ledger, "a", 0.5, "g", &err), CLO_BUDGET, err, "left on");
    assert_fails(charge_on(ledger, "a", 0.25, "nobody", &err), CLO_ARGUMENT, err, "has no cap for");
    assert_fails(charge_on(ledger, "a", 0.25, "free", &err), CLO_ARGUMENT, err, "has no cap for");
    assert_true(spent_on(ledger, "a") == QUARTER && spent_on(ledger, "free") == QUARTER);
    assert_fails(clo_ledger_join(ledger, "a", "nobody", "x", &err), CLO_ARGUMENT, err,
                 "has no cap for");
    is_sound(ledger);
    clo_ledger_close(ledger);
}

static void a_group_is_of_data_sets_and_covers_their_past(void **state)
{
    const place *p = *state;
    clo_ledger *ledger = open_at(p->ledger);
    clo_error err;
    declare(ledger, "a", 2);
    declare(ledger, "g", 1);
    declare(ledger, "small", 0.25);
    declare(ledger, "h", 1);
    assert_ok(charge_on(ledger, "a", 0.5, NULL, &err), err);
    assert_fails(clo_ledger_join(ledger, "a", "small", "x", &err), CLO_BUDGET, err,
                 "does not cover what was spent");
    assert_true(spent_on(ledger, "small") == 0);
    assert_fails(clo_ledger_join(ledger, "a", "a", "x", &err), CLO_ARGUMENT, err, "of its own");
    assert_ok(clo_ledger_join(ledger, "a", "g", "x", &err), err);
    assert_fails(clo_ledger_join(ledger, "a", "g", "x", &err), CLO_ARGUMENT, err,
                 "is in the group");
    assert_fails(clo_ledger_join(ledger, "g", "h", "x", &err), CLO_ARGUMENT, err, "hold a group");
    assert_fails(clo_ledger_join(ledger, "h", "a", "x", &err), CLO_ARGUMENT, err, "in one itself");
    assert_ok(clo_ledger_join(ledger, "a", "h", "two groups", &err), err);
    assert_ok(charge_on(ledger, "a", 0.25, NULL, &err), err);
    assert_true(spent_on(ledger, "g") == 3 * QUARTER && spent_on(ledger, "h") == 3 * QUARTER);
    is_sound(ledger);
    clo_ledger_close(ledger);
}

/* A rule that was chosen before the first charge with a delta stays the rule (ledger.T4). */
static void counts_by_the_rule_that_was_chosen(void **state)
{
    const place *p = *state;
    clo_ledger *ledger = open_at(p->ledger);
    clo_error err;
    clo_i_receipt receipt;
    static const struct {
        const char *name;
        clo_i_rule rule;
    } rules[] = { { "basic", CLO_RULE_BASIC }, { "zcdp", CLO_RULE_ZCDP } };
    for (size_t i = 0; i < 2; i++) {
        const char *const name = rules[i].name;
        const clo_i_charge charge = { .dataset = name,
                                      .mechanism = "kmeans/lloyd",
                                      .relation = "replace",
                                      .loss = { 0.25, 1e-7 },
                                      .rho = 100 };
        clo_i_account account;
        bool found = false;
        assert_ok(clo_ledger_declare(ledger, name, (clo_loss){ 1, 1e-6 }, &err), err);
        assert_fails(clo_ledger_choose_rule(ledger, name, "open", "?", &err), CLO_ARGUMENT, err,
                     "basic or zcdp");
        assert_ok(clo_ledger_choose_rule(ledger, name, name, "known before", &err), err);
        assert_fails(clo_ledger_choose_rule(ledger, name, "basic", "again", &err), CLO_ARGUMENT,
                     err, "is already decided");
        assert_ok(clo_i_ledger_charge(ledger, &charge, &receipt, &err), err);
        assert_ok(clo_i_ledger_find_account(ledger, name, &account, &found, &err), err);
        assert_true(found && account.rule == rules[i].rule);
    }
    is_sound(ledger);
    clo_ledger_close(ledger);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_end_is_for_good_and_a_day_comes_at_its_second),
        cmocka_unit_test(a_lowered_cap_covers_up_to_its_last_unit),
        cmocka_unit_test(a_lowered_cap_lowers_the_capacity),
        cmocka_unit_test(terms_are_those_of_the_data_set),
        IN_PLACE(charges_up_to_the_lowered_cap),
        IN_PLACE(a_cap_that_was_lowered_is_not_raised_again),
        IN_PLACE(a_data_set_is_closed_by_the_first_word),
        IN_PLACE(charges_until_the_day_and_the_end),
        IN_PLACE(stays_expired_when_the_clock_is_put_back),
        IN_PLACE(charges_a_group_along_or_nothing_at_all),
        IN_PLACE(keeps_every_account_that_was_charged),
        IN_PLACE(says_whether_what_is_adopted_took_all),
        IN_PLACE(a_charge_notices_a_term_of_another_data_set),
        IN_PLACE(what_is_adopted_with_a_delta_has_no_rho),
        IN_PLACE(what_is_adopted_takes_nothing_where_a_group_would_not_know),
        IN_PLACE(the_past_of_a_member_counts_by_adding),
        IN_PLACE(a_group_that_was_left_out_is_missed),
        IN_PLACE(a_group_that_is_charged_something_else_is_noticed),
        IN_PLACE(what_is_adopted_counts_by_its_rho),
        IN_PLACE(charges_along_what_has_a_cap_alone),
        IN_PLACE(a_group_is_of_data_sets_and_covers_their_past),
        IN_PLACE(counts_by_the_rule_that_was_chosen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
