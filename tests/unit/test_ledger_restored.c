/*
 * test_ledger_restored.c - a copy that is brought back: what it lacks is charged, to the unit, and
 * nothing else (ledger.T15).
 */
#include "ledger_charges.h"
#include <cloister/steward.h>

typedef struct told {
    clo_loss_source source[2];
    double epsilon[2];
    int count;
} told;

static bool hear(void *user, const clo_restored *restored)
{
    told *const t = user;
    const size_t which = restored->dataset[0] == 'b';
    t->source[which] = restored->source;
    t->epsilon[which] = restored->charged.epsilon;
    t->count++;
    return true;
}

static told brought_back(const place *p, const char *backup)
{
    clo_restoration how = clo_restoration_default();
    told heard = { .count = 0 };
    clo_error err;
    how.backup = backup;
    how.ledger = p->ledger;
    how.note = "a disk";
    assert_ok(clo_ledger_restore(&how, hear, &heard, &err), err);
    assert_int_equal(heard.count, 2);
    return heard;
}

static void declare_under(clo_ledger *ledger, const char *dataset, const char *rule)
{
    clo_error err;
    declare(ledger, dataset, 2);
    assert_ok(clo_ledger_choose_rule(ledger, dataset, rule, "so", &err), err);
    assert_ok(charge_on(ledger, dataset, 0.25, NULL, &err), err);
}

/* ledger.T15: what a copy has all of is charged nothing and no entry is made for it, under every
 * rule; what it lacks is charged. */
static void says_what_a_copy_lacks(void **state)
{
    static const char *const rules[] = { "basic", "zcdp" };
    const place *p = *state;
    char copy[300];
    snprintf(copy, sizeof copy, "%s/copy", p->folder);
    for (int i = 0; i < 4; i++) {
        const bool lacks = i % 2;
        clo_ledger *ledger = open_at(p->ledger);
        clo_error err;
        declare_under(ledger, "a", rules[i / 2]);
        declare_under(ledger, "b", rules[i / 2]);
        assert_ok(clo_ledger_backup(ledger, copy, &err), err);
        if (lacks) assert_ok(charge_on(ledger, "a", 0.25, NULL, &err), err);
        const uint64_t charges = charges_of(ledger);
        clo_ledger_close(ledger);
        in_shell(p, "rm '%s/ledger.db'");
        const told heard = brought_back(p, copy);
        assert_int_equal(heard.source[0], lacks ? CLO_LOST_KNOWN : CLO_LOST_NOTHING);
        assert_int_equal(heard.source[1], CLO_LOST_NOTHING);
        assert_true(heard.epsilon[0] == (lacks ? 0.25 : 0) && heard.epsilon[1] == 0);
        ledger = open_at(p->ledger);
        assert_int_equal(charges_of(ledger), charges);
        assert_true(spent_on(ledger, "a") == (lacks ? 2 : 1) * QUARTER);
        assert_true(spent_on(ledger, "b") == QUARTER);
        is_sound(ledger);
        clo_ledger_close(ledger);
        in_shell(p, "rm -rf '%s/ledger.db' '%s/copy' '%s/config'");
    }
}

/* ---- every way to lose something ------------------------------------------------------------- */

enum { SETS = 4, MOST_EVENTS = 2 };
static const char *const NAMES[SETS] = { "a", "b", "c", "d" };

/* What there was of a data set when the file was lost, or is after it was brought back. */
typedef struct state_of {
    bool there;
    clo_i_account account;
    clo_i_cost rest; /* of its cap, or of what that was lowered to, in units */
    uint64_t terms;
} state_of;

static void look_at(const place *p, state_of out[SETS])
{
    clo_i_effects effects = { .items = NULL };
    clo_ledger *const ledger = open_at(p->ledger);
    clo_error err;
    is_sound(ledger);
    assert_ok(clo_i_effects_read(ledger, NULL, &effects, NULL, &err), err);
    for (size_t i = 0; i < SETS; i++) {
        out[i] = (state_of){ .there = false };
        assert_ok(clo_i_ledger_find_account(ledger, NAMES[i], &out[i].account, &out[i].there, &err),
                  err);
        if (!out[i].there) continue;
        clo_i_account lowered = out[i].account;
        clo_i_terms terms;
        assert_ok(clo_i_terms_of(ledger, &effects, NAMES[i], &terms, &err), err);
        assert_ok(clo_i_terms_apply(&terms, &lowered, &err), err);
        out[i].rest = clo_i_account_rest(&lowered);
        out[i].terms = clo_i_terms_count(&effects, NAMES[i]);
    }
    clo_i_effects_clear(&effects);
    clo_ledger_close(ledger);
}

static void charge_loss(clo_ledger *ledger, const char *dataset, double epsilon, double delta)
{
    const clo_i_charge charge = { .dataset = dataset,
                                  .mechanism = "kmeans/lloyd",
                                  .relation = "replace",
                                  .loss = { epsilon, delta },
                                  .rho = UINT64_C(1) << 41,
                                  /* of what counts by adding, a part that no rho covers */
                                  .rho_delta = delta > 0 && dataset[0] == 'a' ? 1 << 20 : 0 };
    clo_i_receipt receipt;
    clo_error err;
    assert_ok(clo_i_ledger_charge(ledger, &charge, &receipt, &err), err);
}

/* What may happen between a copy and the loss.  Pure losses first, so that a data set that counts
 * by zcdp has something from before. */
static void charge_pure(clo_ledger *ledger)
{
    charge_loss(ledger, "a", 0.25, 0);
    charge_loss(ledger, "b", 0.25, 0);
}

static void charge_approximate(clo_ledger *ledger)
{
    charge_loss(ledger, "a", 0.25, 1e-8);
    charge_loss(ledger, "b", 0.25, 1e-8);
}

static void lower_one(clo_ledger *ledger)
{
    clo_error err;
    assert_ok(clo_ledger_lower(ledger, "a", (clo_loss){ 0.75, 1e-7 }, "less", &err), err);
}

static void declare_one(clo_ledger *ledger)
{
    clo_error err;
    assert_ok(clo_ledger_declare(ledger, "c", (clo_loss){ 1, 1e-6 }, &err), err);
    charge_loss(ledger, "c", 0.25, 1e-8);
}

/* It was charged without a cap, and is declared later. */
static void cap_one(clo_ledger *ledger)
{
    clo_error err;
    assert_ok(clo_ledger_declare(ledger, "d", (clo_loss){ 1, 1e-6 }, &err), err);
}

typedef void event(clo_ledger *ledger);
static event *const events[] = { charge_pure, charge_approximate, lower_one, declare_one, cap_one };
enum { EVENTS = sizeof events / sizeof *events };

/* a counts by adding and b by zcdp; d has no cap yet. */
static void begin(const place *p)
{
    const clo_loss cap = { 2, 1e-6 };
    clo_error err;
    in_shell(p, "rm -rf '%s/ledger.db' '%s/copy' '%s/config'");
    clo_ledger *const ledger = open_at(p->ledger);
    assert_ok(clo_ledger_declare(ledger, "a", cap, &err), err);
    assert_ok(clo_ledger_declare(ledger, "b", cap, &err), err);
    assert_ok(clo_ledger_choose_rule(ledger, "a", "basic", "so", &err), err);
    assert_ok(clo_ledger_choose_rule(ledger, "b", "zcdp", "so", &err), err);
    charge_loss(ledger, "d", 0.25, 0);
    clo_ledger_close(ledger);
}

static void copy_to(const place *p, const char *name)
{
    char path[300];
    clo_error err;
    clo_ledger *const ledger = open_at(p->ledger);
    snprintf(path, sizeof path, "%s/%s", p->folder, name);
    assert_ok(clo_ledger_backup(ledger, path, &err), err);
    clo_ledger_close(ledger);
}

static clo_status bring_back(const place *p, const char *name, const char *lost, clo_error *err)
{
    char path[300];
    clo_restoration how = clo_restoration_default();
    snprintf(path, sizeof path, "%s/%s", p->folder, name);
    how.backup = path;
    how.ledger = p->ledger;
    how.note = "a disk";
    how.lost = lost;
    return clo_ledger_restore(&how, NULL, NULL, err);
}

/* What is wrong with the anchor when the copy comes back: nothing, one of the two slots of each
 * data set (of which the older one tells of an earlier state), all of them, or all of it. */
typedef enum damage { WHOLE, SLOT, NO_SLOTS = SLOT + 2 * SETS, NO_ANCHOR, DAMAGES } damage;

static void do_damage(const place *p, damage what)
{
    char command[300];
    if (what == NO_SLOTS) in_shell(p, "truncate -s 32768 '%s/config/cloister/anchors/'*");
    if (what == NO_ANCHOR) in_shell(p, "rm '%s/config/cloister/anchors/'*");
    if (what == WHOLE || what >= NO_SLOTS) return;
    snprintf(command, sizeof command,
             "for f in '%%s/config/cloister/anchors/'*; do dd if=/dev/zero of=\"$f\" bs=1024 "
             "seek=%d count=1 conv=notrunc 2>/dev/null; done",
             32 + (int)what - SLOT);
    in_shell(p, command);
}

static bool same_sums(const clo_i_account *a, const clo_i_account *b)
{
    return a->spent.epsilon == b->spent.epsilon && a->spent.delta == b->spent.delta &&
           a->spent.rho == b->spent.rho && a->spent.rho_delta == b->spent.rho_delta &&
           a->rule == b->rule && a->base_epsilon == b->base_epsilon && a->base_rho == b->base_rho &&
           a->capacity == b->capacity;
}

static bool has_rest(const state_of *s)
{
    return s->rest.epsilon > 0 || s->rest.delta > 0;
}

/* Of what is added up under its rule.  Under another one than before it has nothing left, or the
 * sums would be others. */
static bool has_more(const state_of *is, const state_of *was)
{
    if (is->account.rule == CLO_RULE_ZCDP) return is->rest.rho > was->rest.rho;
    return is->rest.epsilon > was->rest.epsilon || is->rest.delta > was->rest.delta;
}

/* ledger.T17, of one data set: never more is left than was.  Where the anchor is whole and no act
 * was lost, exactly what was; otherwise nothing of a cap that the copy has. */
static const char *wrong_with(const state_of *was, const state_of *is, bool known, bool narrowed,
                              bool is_capped)
{
    if (!was->there) return NULL;
    if (!is->there) return known ? "is not there" : NULL;
    if (known && was->account.capped && !is->account.capped) return "has lost its cap";
    if (is->account.capped && has_rest(is) && has_more(is, was)) return "has more left than it had";
    if (known && !narrowed && !same_sums(&was->account, &is->account))
        return "has other sums than it had";
    if (narrowed && is_capped && has_rest(is)) return "has some left of a lowered cap";
    /* What of a damaged anchor can still be read is known. */
    if (!known && is_capped && has_rest(is) && !same_sums(&was->account, &is->account))
        return "has something left, and nobody knows what was spent";
    return NULL;
}

static bool is_gap(void *user, const clo_act *act)
{
    *(int *)user += strcmp(act->kind, "gap") == 0;
    return true;
}

/* Whether entries were lost is said for good, also where each of them is known and paid. */
static int gaps_of(const place *p)
{
    int gaps = 0;
    clo_error err;
    clo_ledger *const ledger = open_at(p->ledger);
    assert_ok(clo_ledger_acts(ledger, is_gap, &gaps, &err), err);
    clo_ledger_close(ledger);
    return gaps;
}

static void judge(const place *p, const state_of was[SETS], bool known, const bool capped[SETS],
                  const uint64_t terms[SETS], const char *what)
{
    state_of is[SETS];
    look_at(p, is);
    for (size_t i = 0; i < SETS; i++) {
        const bool narrowed = was[i].there && was[i].terms != terms[i];
        const char *const wrong = wrong_with(&was[i], &is[i], known, narrowed, capped[i]);
        if (wrong) fail_msg("%s: the data set %s %s", what, NAMES[i], wrong);
    }
}

/* Every pair of events after a copy, in both orders, and every damage of the anchor. */
static void whatever_a_copy_lacks_is_paid(void **state)
{
    const place *const p = *state;
    for (int way = 0; way < DAMAGES * EVENTS * EVENTS; way++) {
        const int first = way / DAMAGES % EVENTS, second = way / DAMAGES / EVENTS;
        const damage hurt = (damage)(way % DAMAGES);
        if (hurt != WHOLE && first > second) continue; /* in which order is then no matter */
        if (hurt >= SLOT && hurt < NO_SLOTS && first != second) continue;
        state_of before[SETS], was[SETS];
        bool capped[SETS];
        uint64_t terms[SETS];
        char what[100];
        clo_error err;
        begin(p);
        copy_to(p, "copy");
        look_at(p, before);
        for (size_t i = 0; i < SETS; i++) {
            capped[i] = before[i].there && before[i].account.capped;
            terms[i] = before[i].terms;
        }
        clo_ledger *const ledger = open_at(p->ledger);
        events[first](ledger);
        if (second != first) events[second](ledger);
        clo_ledger_close(ledger);
        look_at(p, was);
        in_shell(p, "rm '%s/ledger.db'");
        do_damage(p, hurt);
        assert_ok(bring_back(p, "copy", NULL, &err), err);
        snprintf(what, sizeof what, "events %d and %d, damage %d", first, second, (int)hurt);
        judge(p, was, hurt == WHOLE, capped, terms, what);
        assert_int_equal(gaps_of(p), 1);
    }
}

/* A second loss, and a copy that is older than the one that came back, or newer: what the slots say
 * after a restoration is as good as what they said before. */
static void a_second_restoration_knows_as_much(void **state)
{
    static const char *const copies[] = { "copy", "narrow", "late" };
    const place *const p = *state;
    for (int way = 0; way < 9; way++) {
        const char *const first = copies[way / 3], *const second = copies[way % 3];
        state_of at[3][SETS], was[SETS];
        bool capped[SETS];
        uint64_t terms[SETS];
        char what[100];
        clo_error err;
        begin(p);
        in_shell(p, "rm -f '%s/narrow' '%s/late'");
        for (int i = 0; i < 3; i++) {
            if (i) {
                clo_ledger *const ledger = open_at(p->ledger);
                if (i == 1) lower_one(ledger);
                if (i == 2) charge_pure(ledger);
                clo_ledger_close(ledger);
            }
            copy_to(p, copies[i]);
            look_at(p, at[i]);
        }
        in_shell(p, "rm '%s/ledger.db'");
        assert_ok(bring_back(p, first, NULL, &err), err);
        look_at(p, was);
        in_shell(p, "rm '%s/ledger.db'");
        assert_ok(bring_back(p, second, NULL, &err), err);
        for (size_t i = 0; i < SETS; i++) {
            capped[i] = at[way % 3][i].there && at[way % 3][i].account.capped;
            terms[i] = at[way % 3][i].terms;
        }
        snprintf(what, sizeof what, "'%s', and then '%s'", first, second);
        judge(p, was, true, capped, terms, what);
    }
}

/* What a steward states counts by the next unit above, of both numbers. */
static void what_is_stated_is_rounded_up(void **state)
{
    static const double epsilons[] = { 0.1, 0.25, 1.0 / 3 }, deltas[] = { 1e-9, 1e-7, 3e-13 };
    const place *const p = *state;
    for (int i = 0; i < 9; i++) {
        const double epsilon = epsilons[i / 3], delta = deltas[i % 3];
        state_of before[SETS], is[SETS];
        char lost[100];
        clo_error err;
        begin(p);
        copy_to(p, "copy");
        look_at(p, before);
        in_shell(p, "rm '%s/ledger.db' '%s/config/cloister/anchors/'*");
        snprintf(lost, sizeof lost, "b=0:0,a=%.17g:%.17g,c=1:1e-3", epsilon, delta);
        assert_ok(bring_back(p, "copy", lost, &err), err);
        look_at(p, is);
        const clo_i_cost *const had = &before[0].account.spent, *const has = &is[0].account.spent;
        assert_true(has->epsilon - had->epsilon == clo_i_epsilon_units(epsilon, true));
        assert_true(has->delta - had->delta == clo_i_delta_units(delta, true));
        /* Nothing is known of its rho: with a delta it is added up as it is. */
        assert_int_equal(is[0].account.rule, CLO_RULE_BASIC);
        assert_true(before[0].rest.epsilon - is[0].rest.epsilon ==
                    clo_i_epsilon_units(epsilon, true));
    }
}

/* What is stated is of the data set of that whole name: others lose all that is left of their caps,
 * also one whose name begins so, or ends so. */
static void what_is_stated_is_of_one_data_set(void **state)
{
    static const char *const lost[] = { "ab=0.125:0", "ba=0.125:0", "ab=0.125:0,a=0.125:0",
                                        "a =0.125:0", "aa=0.125:0,ba=0.25:0" };
    const place *const p = *state;
    for (size_t i = 0; i < sizeof lost / sizeof *lost; i++) {
        const bool named = i == 2;
        state_of is[SETS];
        clo_error err;
        begin(p);
        copy_to(p, "copy");
        in_shell(p, "rm '%s/ledger.db' '%s/config/cloister/anchors/'*");
        assert_ok(bring_back(p, "copy", lost[i], &err), err);
        look_at(p, is);
        if (has_rest(&is[0]) != named) fail_msg("of '%s'", lost[i]);
        assert_false(has_rest(&is[1]));
    }
}

/* What a steward states is charged, or all that is left: where the cap does not cover it, and where
 * losses count by a rho, of which nobody knows what it was. */
static void what_is_stated_and_not_covered_takes_all(void **state)
{
    static const struct {
        const char *lost;
        size_t of;
        bool all;
    } rows[] = {
        { "a=1.5:0", 0, false }, { "a=1.9:0", 0, true },  { "a=0.1:1e-5", 0, true },
        { "a=9:1e-3", 0, true }, { "b=0.1:0", 1, false }, { "b=0.1:1e-9", 1, true },
    };
    const place *const p = *state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        state_of is[SETS];
        clo_error err;
        begin(p);
        clo_ledger *const ledger = open_at(p->ledger);
        charge_approximate(ledger);
        clo_ledger_close(ledger);
        copy_to(p, "copy");
        in_shell(p, "rm '%s/ledger.db' '%s/config/cloister/anchors/'*");
        assert_ok(bring_back(p, "copy", rows[i].lost, &err), err);
        look_at(p, is);
        if (has_rest(&is[rows[i].of]) == rows[i].all) fail_msg("of '%s'", rows[i].lost);
    }
}

/* A copy of another branch has spent more of one number, and less of the other: each that it lacks
 * is charged. */
static void of_two_branches_each_number_counts(void **state)
{
    static const clo_loss losses[] = { { 0.25, 1e-8 }, { 0.5, 0 }, { 0.25, 1e-7 }, { 0.75, 1e-9 } };
    enum { LOSSES = sizeof losses / sizeof *losses };
    const place *const p = *state;
    for (int way = 0; way < LOSSES * LOSSES; way++) {
        const clo_loss here = losses[way / LOSSES], there = losses[way % LOSSES];
        state_of is[SETS];
        clo_error err;
        begin(p);
        in_shell(p, "rm -rf '%s/old' '%s/first'; cp -r '%s/config/cloister/anchors' '%s/old'; "
                    "cp '%s/ledger.db' '%s/first'");
        clo_ledger *ledger = open_at(p->ledger);
        charge_loss(ledger, "a", here.epsilon, here.delta);
        clo_ledger_close(ledger);
        copy_to(p, "copy");
        in_shell(p, "rm -r '%s/config/cloister/anchors'; cp -r '%s/old' "
                    "'%s/config/cloister/anchors'; cp '%s/first' '%s/ledger.db'");
        ledger = open_at(p->ledger);
        charge_loss(ledger, "a", there.epsilon, there.delta);
        charge_loss(ledger, "d", 0.25, 0); /* so that the anchor is ahead of the copy */
        clo_ledger_close(ledger);
        in_shell(p, "rm '%s/ledger.db'");
        assert_ok(bring_back(p, "copy", NULL, &err), err);
        look_at(p, is);
        const clo_i_cost *const has = &is[0].account.spent;
        if (!has_rest(&is[0])) continue;
        if (has->epsilon < clo_i_epsilon_units(there.epsilon, true) ||
            has->delta < clo_i_delta_units(there.delta, true))
            fail_msg("%g:%g of %g:%g", here.epsilon, here.delta, there.epsilon, there.delta);
    }
}

/* ---- a ledger that is elsewhere -------------------------------------------------------------- */

/* ledger.T18: what was moved to another machine is not brought back here, by whatever copy. */
static void what_was_moved_away_is_not_brought_back(void **state)
{
    const place *const p = *state;
    char folder[300], code[CLO_MOVE_CODE + 1];
    clo_error err;
    snprintf(folder, sizeof folder, "%s/parcel", p->folder);
    for (int i = 0; i < 3; i++) { /* a copy from before, of the end, and what lies there */
        begin(p);
        in_shell(p, "rm -rf '%s/parcel'");
        if (i == 0) copy_to(p, "copy");
        clo_ledger *const ledger = open_at(p->ledger);
        charge_pure(ledger);
        clo_ledger_close(ledger);
        if (i == 1) copy_to(p, "copy");
        if (i == 2) in_shell(p, "cp '%s/ledger.db' '%s/copy'");
        assert_ok(clo_ledger_move_code(code, &err), err);
        assert_ok(clo_ledger_send(p->ledger, folder, code, &err), err);
        in_shell(p, "rm '%s/ledger.db'");
        assert_fails(bring_back(p, "copy", NULL, &err), CLO_LEDGER, err,
                     "moved to another machine");
        assert_int_equal(access(p->ledger, F_OK), -1);
    }
}

/* A copy beside a ledger that goes on is a drill, and no restoration. */
static void a_living_ledger_is_not_brought_back_elsewhere(void **state)
{
    const place *const p = *state;
    char path[300], other[300];
    clo_restoration how = clo_restoration_default();
    clo_error err;
    begin(p);
    copy_to(p, "copy");
    snprintf(path, sizeof path, "%s/copy", p->folder);
    snprintf(other, sizeof other, "%s/other.db", p->folder);
    how.backup = path;
    how.ledger = other;
    how.note = "a disk";
    for (int charged = 0; charged < 2; charged++) {
        clo_ledger *const ledger = open_at(p->ledger);
        if (charged) charge_pure(ledger);
        clo_ledger_close(ledger);
        assert_fails(clo_ledger_restore(&how, NULL, NULL, &err), CLO_LEDGER, err, "is not lost");
        assert_int_equal(access(other, F_OK), -1);
    }
}

/* Of two branches with one name, whose caps differ in either number, nothing is known. */
static void a_cap_of_another_branch_is_another_account(void **state)
{
    static const clo_loss caps[] = { { 1, 1e-6 }, { 1, 1e-5 }, { 2, 1e-6 } };
    const place *const p = *state;
    for (int i = 0; i < 3; i++) {
        state_of is[SETS];
        clo_error err;
        in_shell(p, "rm -rf '%s/ledger.db' '%s/copy' '%s/config' '%s/old' '%s/first'");
        clo_ledger *ledger = open_at(p->ledger);
        charge_loss(ledger, "b", 0.25, 0);
        clo_ledger_close(ledger);
        in_shell(p, "cp -r '%s/config/cloister/anchors' '%s/old'; cp '%s/ledger.db' '%s/first'");
        ledger = open_at(p->ledger);
        assert_ok(clo_ledger_declare(ledger, "a", caps[i], &err), err);
        clo_ledger_close(ledger);
        copy_to(p, "copy");
        /* Back to before, and another way, which the anchor is of. */
        in_shell(p, "rm -r '%s/config/cloister/anchors'; cp -r '%s/old' "
                    "'%s/config/cloister/anchors'; cp '%s/first' '%s/ledger.db'");
        ledger = open_at(p->ledger);
        assert_ok(clo_ledger_declare(ledger, "a", caps[0], &err), err);
        charge_loss(ledger, "a", 0.25, 0);
        charge_loss(ledger, "a", 0.25, 0);
        clo_ledger_close(ledger);
        in_shell(p, "rm '%s/ledger.db'");
        assert_ok(bring_back(p, "copy", NULL, &err), err);
        look_at(p, is);
        if (i == 0)
            assert_true(is[0].account.spent.epsilon == 2 * QUARTER);
        else
            assert_true(!has_rest(&is[0]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_PLACE(says_what_a_copy_lacks),
        IN_PLACE(whatever_a_copy_lacks_is_paid),
        IN_PLACE(a_second_restoration_knows_as_much),
        IN_PLACE(what_is_stated_is_rounded_up),
        IN_PLACE(what_is_stated_is_of_one_data_set),
        IN_PLACE(what_is_stated_and_not_covered_takes_all),
        IN_PLACE(of_two_branches_each_number_counts),
        IN_PLACE(what_was_moved_away_is_not_brought_back),
        IN_PLACE(a_living_ledger_is_not_brought_back_elsewhere),
        IN_PLACE(a_cap_of_another_branch_is_another_account),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
