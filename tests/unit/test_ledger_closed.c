/*
 * test_ledger_closed.c - ledger.T13: in a closed ledger only declared data sets are charged, no
 * name looks like another one, and data that were declared are noticed under other names.
 */
#include "ledger_place.h"
#include <ctype.h>
#include <locale.h>
#include <wctype.h>

static const clo_loss CAP = { 4, 0 };
static const uint8_t people[CLO_DIGEST_BYTES] = { 1, 2, 3 }, others[CLO_DIGEST_BYTES] = { 4 };

static clo_ledger *make_closed(const place *p)
{
    clo_ledger *ledger = NULL;
    clo_error err;
    assert_ok(clo_ledger_create(p->ledger, CLO_LEDGER_CLOSED, &ledger, &err), err);
    return ledger;
}

static clo_ledger_facts facts_of(clo_ledger *ledger)
{
    clo_ledger_facts facts = { .struct_size = sizeof facts };
    clo_error err;
    assert_ok(clo_ledger_describe(ledger, &facts, &err), err);
    return facts;
}

static clo_status charge_named(clo_ledger *ledger, const char *name, clo_error *err)
{
    const clo_i_charge charge = { .dataset = name,
                                  .mechanism = "kmeans/lloyd",
                                  .relation = "replace",
                                  .loss = { 0.5, 0 },
                                  .rho = UINT64_C(1) << 45 };
    clo_i_receipt receipt;
    return clo_i_ledger_charge(ledger, &charge, &receipt, err);
}

static void charges_what_was_declared_alone(void **state)
{
    clo_ledger *ledger = make_closed(*state);
    clo_error err;
    assert_true(facts_of(ledger).closed);
    assert_ok(clo_ledger_declare(ledger, "panel", CAP, &err), err);
    static const char *const wrong[] = { "Panel", "panel ", "p\xd0\xb0nel", "pane1", "poeple" };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_fails(charge_named(ledger, wrong[i], &err), CLO_ARGUMENT, err, "has no data set");
        assert_fails(clo_ledger_check_dataset(ledger, wrong[i], &err), CLO_ARGUMENT, err,
                     "has no data set");
    }
    assert_fails(charge_named(ledger, "Panel ", &err), CLO_ARGUMENT, err, "did you mean 'panel'");
    assert_int_equal(charges_of(ledger), 0);
    assert_ok(clo_ledger_check_dataset(ledger, "panel", &err), err);
    assert_ok(charge_named(ledger, "panel", &err), err);
    is_sound(ledger);
    clo_ledger_close(ledger);
}

static void stays_closed_and_open_ones_stay_open(void **state)
{
    const place *const p = *state;
    clo_ledger *ledger = make_closed(p);
    clo_error err;
    char other[320];
    clo_ledger_close(ledger);
    assert_ok(clo_ledger_create(p->ledger, CLO_LEDGER_OPEN, &ledger, &err), err);
    assert_true(facts_of(ledger).closed);
    clo_ledger_close(ledger);
    snprintf(other, sizeof other, "%s/open.db", p->folder);
    clo_ledger_close(open_at(other));
    assert_ok(clo_ledger_create(other, CLO_LEDGER_CLOSED, &ledger, &err), err);
    assert_false(facts_of(ledger).closed);
    assert_ok(charge_named(ledger, "anything", &err), err);
    clo_ledger_close(ledger);
    assert_fails(clo_ledger_create(p->ledger, (clo_ledger_manner)0, &ledger, &err), CLO_ARGUMENT,
                 err, "closed or open");
}

static void opening_makes_nothing(void **state)
{
    const place *const p = *state;
    clo_ledger *ledger = NULL;
    clo_error err;
    assert_fails(clo_ledger_open(p->ledger, &ledger, &err), CLO_LEDGER, err, "there is no ledger");
    assert_int_equal(access(p->ledger, F_OK), -1);
    in_shell(p, ": > '%s/ledger.db'");
    assert_fails(clo_ledger_open(p->ledger, &ledger, &err), CLO_LEDGER, err, "is empty");
}

/* Who can write the file but has not the key cannot open a closed ledger: the charge that would
 * follow finds that the anchor's sum does not fit, and then that the chain is broken. */
static void cannot_be_opened_by_taking_the_act_away(void **state)
{
    const place *const p = *state;
    clo_ledger *ledger = make_closed(p);
    clo_error err;
    assert_ok(clo_ledger_declare(ledger, "panel", CAP, &err), err);
    assert_ok(charge_named(ledger, "panel", &err), err);
    clo_ledger_close(ledger);
    in_shell(p, "cp '%s/ledger.db' '%s/kept.db'");
    static const char *const ways[] = {
        "DROP TRIGGER act_is_not_deleted; DELETE FROM act",
        "DROP TRIGGER act_is_not_changed; UPDATE act SET kind = 'content'",
    };
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        in_shell(p, "cp '%s/kept.db' '%s/ledger.db'");
        tamper(p->ledger, ways[i]);
        ledger = open_at(p->ledger);
        assert_fails(charge_named(ledger, "poeple", &err), CLO_LEDGER, err, "was changed");
        assert_fails(clo_ledger_verify(ledger, &err), CLO_LEDGER, err, "declaration 1");
        clo_ledger_close(ledger);
    }
}

static void stops_at_acts_that_it_does_not_know(void **state)
{
    const place *const p = *state;
    clo_ledger *ledger = make_closed(p);
    clo_i_writing w;
    clo_error err;
    const clo_i_act act = { .kind = "of a later version" };
    assert_ok(clo_i_write_begin(ledger, "panel", NULL, false, &w, &err), err);
    assert_ok(clo_i_act_insert(ledger, &act, &w.head, &err), err);
    assert_ok(clo_i_write_end(ledger, &w, CLO_OK, &err), err);
    assert_fails(clo_ledger_verify(ledger, &err), CLO_LEDGER, err, "newer cloister");
    clo_ledger_close(ledger);
}

static void names_that_look_alike_are_one(void **state)
{
    static const char *const alike[][2] = {
        { "panel", "Panel" },
        { "panel", "panel " },
        { "panel", "pane1" },
        { "panel", "paneI" },
        { "PANEL I", "panel i" },
        { "people-2024", "people_2024" },
        { "people 2024", "people-2024" },
        { "people 2024", "people_2024" },
        { "v0", "vO" },
        { "b\xc3\xa4r", "B\xc3\x84R" },     /* a with two dots */
        { "\xc5\xa1koda", "\xc5\xa0koda" }, /* s with a hook */
        { "\xc5\xbcuk", "\xc5\xbbuk" },     /* z with a dot */
    };
    static const char *const apart[][2] = {
        { "panel", "panels" },   { "panel1", "panel2" }, { "b\xc3\xa4r", "bar" },
        { "2024-1", "2024-11" }, { "a.b", "a-b" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof alike / sizeof *alike; i++) {
        assert_true(clo_i_names_alike(alike[i][0], alike[i][1]));
        assert_true(clo_i_names_alike(alike[i][1], alike[i][0]));
    }
    for (size_t i = 0; i < sizeof apart / sizeof *apart; i++)
        assert_false(clo_i_names_alike(apart[i][0], apart[i][1]));
}

/* Every character of one or two bytes, against the C library's table of capitals. */
static void letters_are_those_that_have_one_look_and_one_capital(void **state)
{
    static const wint_t two_letters[] = { 0x132, 0x133, 0x13f, 0x140 }; /* written as two */
    (void)state;
    if (!setlocale(LC_CTYPE, "C.UTF-8")) skip();
    for (wint_t c = 0x80; c < 0x800; c++) {
        const wint_t other = towlower(c) != c ? towlower(c) : towupper(c);
        bool right = c >= 0xc0 && c <= 0x17e && (c == 0xdf || (other != c && other >= 0xc0));
        for (size_t i = 0; i < sizeof two_letters / sizeof *two_letters; i++)
            right = right && c != two_letters[i];
        const char name[] = { 'a', (char)(0xc0 | c >> 6), (char)(0x80 | (c & 0x3f)), 'b', 0 };
        assert_int_equal(clo_i_name_check(name, NULL), right ? CLO_OK : CLO_ARGUMENT);
        if (!right) continue;
        const char twin[] = { 'A', (char)(0xc0 | other >> 6), (char)(0x80 | (other & 0x3f)), 'B',
                              0 };
        assert_true(clo_i_names_alike(name, twin));
        for (wint_t d = 0xc0; d <= 0x17e; d++) {
            const char next[] = { 'a', (char)(0xc0 | d >> 6), (char)(0x80 | (d & 0x3f)), 'b', 0 };
            assert_int_equal(clo_i_names_alike(name, next), d == c || d == other);
        }
    }
    for (int c = 1; c < 0x80; c++) {
        const char name[] = { 'a', (char)c, 'b', 0 };
        const bool right = isalnum(c) || strchr("-_.+@ ", c);
        assert_int_equal(clo_i_name_check(name, NULL), right ? CLO_OK : CLO_ARGUMENT);
    }
    setlocale(LC_CTYPE, "C");
}

static void declares_names_that_people_can_tell_apart(void **state)
{
    clo_ledger *ledger = make_closed(*state);
    clo_error err;
    assert_ok(clo_ledger_declare(ledger, "panel", CAP, &err), err);
    assert_ok(clo_ledger_declare(ledger, "Bev\xc3\xb6lkerung 2024.csv", CAP, &err), err);
    static const char *const foreign[] = { "p\xd0\xb0nel",     /* a Cyrillic a */
                                           "pa\xcc\x81nel",    /* an accent of its own */
                                           "p\xef\xbd\x81nel", /* a wide a */
                                           ("pan\xe2\x80\x8b"
                                            "el"),         /* a blank of no width */
                                           "\xc4\xb1nput", /* a dotless i */
                                           " panels",
                                           "panels ",
                                           "a/b" };
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        assert_fails(clo_ledger_declare(ledger, foreign[i], CAP, &err), CLO_ARGUMENT, err,
                     "use Latin letters");
    assert_fails(clo_ledger_declare(ledger, "PANEL", CAP, &err), CLO_ARGUMENT, err,
                 "'panel', and 'PANEL' looks the same");
    assert_int_equal(facts_of(ledger).declarations, 2);
    clo_ledger_close(ledger);
}

static const char *known_as(clo_ledger *ledger, const char *dataset, const uint8_t *content)
{
    static char name[LEDGER_TEXT + 1];
    clo_error err;
    assert_ok(clo_ledger_known_as(ledger, dataset, content, name, sizeof name, &err), err);
    return name;
}

static const char *known_at(clo_ledger *ledger, const char *dataset, const char *path)
{
    static char name[LEDGER_TEXT + 1];
    clo_error err;
    assert_ok(clo_ledger_known_at(ledger, dataset, path, name, sizeof name, &err), err);
    return name;
}

/* ledger.T12 for declarations: before anything was charged. */
static void notices_declared_data_under_another_name(void **state)
{
    clo_ledger *ledger = make_closed(*state);
    clo_error err;
    assert_ok(clo_ledger_declare_data(ledger, "people", CAP, people, "/data/people", false, &err),
              err);
    assert_fails(
        clo_ledger_declare_data(ledger, "inner", CAP, NULL, "/data/people/in", false, &err),
        CLO_ARGUMENT, err, "the files of this folder are already the data set 'people'");
    assert_ok(clo_ledger_declare_data(ledger, "inner", CAP, NULL, "/data/people/in", true, &err),
              err);
    assert_string_equal(known_as(ledger, "panel", people), "people");
    assert_string_equal(known_as(ledger, "people", people), "");
    assert_string_equal(known_as(ledger, "panel", others), "");
    assert_string_equal(known_at(ledger, "panel", "/data/people/a.csv"), "people");
    assert_string_equal(known_at(ledger, "people", "/data/people/a.csv"), "");
    assert_string_equal(known_at(ledger, "panel", "/data/people2/a.csv"), "");
    assert_string_equal(known_at(ledger, "people", "/data/people/in/a.csv"), "inner");
    assert_fails(clo_ledger_declare_data(ledger, "panel", CAP, people, NULL, false, &err),
                 CLO_ARGUMENT, err, "these data are already the data set 'people'");
    assert_ok(clo_ledger_declare_data(ledger, "panel", CAP, people, NULL, true, &err), err);
    assert_string_equal(known_as(ledger, "panel", people), "");
    assert_fails(clo_ledger_declare_data(ledger, "p", CAP, NULL, "here", false, &err), CLO_ARGUMENT,
                 err, "path that begins with /");
    is_sound(ledger);
    clo_ledger_close(ledger);
}

/* The digest stands nowhere in the file as it was given. */
static void keeps_no_digest_as_it_is(void **state)
{
    const place *const p = *state;
    clo_ledger *ledger = make_closed(p);
    uint8_t digest[CLO_DIGEST_BYTES], stored[CLO_DIGEST_BYTES];
    clo_error err;
    memset(digest, 0x5a, sizeof digest);
    assert_ok(clo_ledger_declare_data(ledger, "a", CAP, digest, NULL, false, &err), err);
    assert_ok(clo_ledger_declare_data(ledger, "b", CAP, digest, NULL, true, &err), err);
    clo_i_sql sql = clo_i_sql_start(ledger, "SELECT count(DISTINCT detail), min(detail) FROM act "
                                            "WHERE kind = 'content'");
    assert_true(clo_i_sql_row(&sql));
    assert_int_equal(clo_i_sql_get_integer(&sql, 0), 2); /* not even that they are the same */
    clo_i_sql_get_bytes(&sql, 1, stored, CLO_DIGEST_BYTES);
    assert_memory_not_equal(stored, digest, CLO_DIGEST_BYTES);
    assert_ok(clo_i_sql_finish(&sql, &err), err);
    clo_ledger_close(ledger);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_PLACE(charges_what_was_declared_alone),
        IN_PLACE(stays_closed_and_open_ones_stay_open),
        IN_PLACE(opening_makes_nothing),
        IN_PLACE(cannot_be_opened_by_taking_the_act_away),
        IN_PLACE(stops_at_acts_that_it_does_not_know),
        cmocka_unit_test(names_that_look_alike_are_one),
        cmocka_unit_test(letters_are_those_that_have_one_look_and_one_capital),
        IN_PLACE(declares_names_that_people_can_tell_apart),
        IN_PLACE(notices_declared_data_under_another_name),
        IN_PLACE(keeps_no_digest_as_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
