/*
 * test_ledger_attribution.c - a charge says who asked for it, what for, where and with which
 * program, and the chain covers that (ledger.T8).
 */
#include "ledger_place.h"

static clo_i_charge a_charge(void)
{
    return (clo_i_charge){ .dataset = "d",
                           .mechanism = "kmeans/lloyd",
                           .relation = "replace",
                           .loss = { 0.5, 0 },
                           .rho = UINT64_C(1) << 45,
                           .user = "ada",
                           .host = "office",
                           .purpose = "may report",
                           .program = "cloister 0.1.0" };
}

static bool is_adas(void *user, const clo_charge *charge)
{
    assert_string_equal(charge->user, "ada");
    assert_string_equal(charge->host, "office");
    assert_string_equal(charge->purpose, "may report");
    assert_string_equal(charge->program, "cloister 0.1.0");
    ++*(int *)user;
    return true;
}

static void make_charge(const place *p)
{
    clo_ledger *ledger = open_at(p->ledger);
    const clo_i_charge charge = a_charge();
    clo_i_receipt receipt;
    clo_error err;
    assert_ok(clo_i_ledger_charge(ledger, &charge, &receipt, &err), err);
    is_sound(ledger);
    clo_ledger_close(ledger);
}

static void keeps_who_asked(void **state)
{
    const place *const p = *state;
    int seen = 0;
    clo_error err;
    make_charge(p);
    clo_ledger *ledger = open_at(p->ledger);
    assert_ok(clo_ledger_history(ledger, NULL, is_adas, &seen, &err), err);
    assert_int_equal(seen, 1);
    clo_ledger_close(ledger);
}

static void who_asked_cannot_be_changed(void **state)
{
    const place *const p = *state;
    static const char *const ways[] = {
        "DROP TRIGGER attribution_is_not_changed; UPDATE attribution SET user = 'bob'",
        "DROP TRIGGER attribution_is_not_changed; UPDATE attribution SET purpose = ''",
        "DROP TRIGGER attribution_is_not_deleted; DELETE FROM attribution",
    };
    sqlite3 *db = NULL;
    clo_error err;
    make_charge(p);
    in_shell(p, "cp '%s/ledger.db' '%s/kept.db'");
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        clo_ledger *ledger = NULL;
        in_shell(p, "cp '%s/kept.db' '%s/ledger.db'");
        tamper(p->ledger, ways[i]);
        /* It is the last charge, which opening checks. */
        assert_fails(clo_ledger_open(p->ledger, &ledger, &err), CLO_LEDGER, err,
                     "charge 1 is wrong or missing");
    }
    in_shell(p, "cp '%s/kept.db' '%s/ledger.db'");
    assert_int_equal(sqlite3_open(p->ledger, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "DELETE FROM attribution", NULL, NULL, NULL),
                     SQLITE_CONSTRAINT);
    sqlite3_close(db);
}

/* A charge of an older program cannot be given an author afterwards. */
static void none_is_made_up(void **state)
{
    const place *const p = *state;
    clo_ledger *ledger = open_at(p->ledger);
    clo_error err;
    charge_times(ledger, 2);
    is_sound(ledger);
    clo_ledger_close(ledger);
    tamper(p->ledger, "INSERT INTO attribution VALUES (1, 'bob', 'home', '', 'x')");
    ledger = open_at(p->ledger);
    assert_fails(clo_ledger_verify(ledger, &err), CLO_LEDGER, err, "charge 1 was changed");
    clo_ledger_close(ledger);
}

static void refuses_texts_that_are_none(void **state)
{
    const place *const p = *state;
    clo_ledger *ledger = open_at(p->ledger);
    clo_i_charge charge = a_charge();
    clo_i_receipt receipt;
    clo_error err;
    char longer[LEDGER_TEXT + 2];
    memset(longer, 'a', sizeof longer - 1);
    longer[sizeof longer - 1] = 0;
    charge.purpose = longer;
    assert_fails(clo_i_ledger_charge(ledger, &charge, &receipt, &err), CLO_ARGUMENT, err,
                 "purpose");
    charge.purpose = "two\nlines";
    assert_fails(clo_i_ledger_charge(ledger, &charge, &receipt, &err), CLO_ARGUMENT, err,
                 "purpose");
    assert_int_equal(charges_of(ledger), 0);
    clo_ledger_close(ledger);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_PLACE(keeps_who_asked),
        IN_PLACE(who_asked_cannot_be_changed),
        IN_PLACE(none_is_made_up),
        IN_PLACE(refuses_texts_that_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
