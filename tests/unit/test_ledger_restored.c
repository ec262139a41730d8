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

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_PLACE(says_what_a_copy_lacks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
