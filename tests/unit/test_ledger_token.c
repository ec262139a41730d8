/*
 * test_ledger_token.c - none, CHARGED, STORED: a token is charged once, and its result is the same
 * bytes for ever (ledger.T10).
 */
#include "ledger_place.h"
#include "pipeline.h"

static const uint8_t plan_a[LEDGER_PLAN] = { 1 }, plan_b[LEDGER_PLAN] = { 2 };
static const char result[] = "{ \"centers\": [[1, 2]] }\n";

static void gives_the_same_bytes_for_nothing(clo_ledger *ledger, const uint8_t *plan)
{
    char *bytes = NULL;
    size_t length = 0;
    clo_error err;
    const uint64_t before = charges_of(ledger);
    for (int i = 0; i < 3; i++) {
        assert_ok(clo_i_ledger_fetch(ledger, "d", plan, "t", NULL, &bytes, &length, &err), err);
        assert_int_equal(length, sizeof result);
        assert_memory_equal(bytes, result, sizeof result);
        clo_i_free(bytes);
    }
    assert_int_equal(charges_of(ledger), before);
}

/* ledger.T10 */
static void stores_once_and_gives_the_same_bytes_again(void **state)
{
    const place *p = *state;
    clo_ledger *ledger = open_at(p->ledger);
    clo_error err;
    char *bytes = (char *)&err;
    size_t length = 9;
    assert_ok(clo_i_ledger_fetch(ledger, "d", plan_a, "t", NULL, &bytes, &length, &err), err);
    assert_true(bytes == NULL && length == 0); /* none: that is no error */
    const clo_i_receipt receipt = charge_with(ledger, "t", plan_a);
    assert_ok(clo_i_ledger_store(ledger, &receipt, result, sizeof result, &err), err);
    gives_the_same_bytes_for_nothing(ledger, plan_a);
    assert_fails(clo_i_ledger_store(ledger, &receipt, "other", 5, &err), CLO_ARGUMENT, err,
                 "the result of charge 1 is stored already");
    clo_ledger_close(ledger);
    assert_ok(clo_ledger_open_existing(p->ledger, &ledger, &err), err);
    gives_the_same_bytes_for_nothing(ledger, plan_a); /* also through a handle for reading */
    is_sound(ledger);
    clo_ledger_close(ledger);
}

/* ledger.T10 */
static void is_not_charged_twice(void **state)
{
    const place *p = *state;
    clo_ledger *ledger = open_at(p->ledger);
    clo_i_receipt receipt = charge_with(ledger, "t", plan_a), other;
    clo_error err;
    char *bytes = NULL;
    size_t length = 0;
    /* CHARGED and not STORED: dead, for whoever asks. */
    assert_fails(try_charge(ledger, "t", plan_a, &other, &err), CLO_LEDGER, err, "has no release");
    assert_fails(clo_i_ledger_fetch(ledger, "d", plan_a, "t", NULL, &bytes, &length, &err),
                 CLO_LEDGER, err, "a new run needs another token");
    assert_ok(clo_i_ledger_store(ledger, &receipt, result, sizeof result, &err), err);
    assert_fails(try_charge(ledger, "t", plan_a, &other, &err), CLO_ARGUMENT, err, "fetch it");
    assert_int_equal(charges_of(ledger), 1);
    charge_with(ledger, "T", plan_a); /* tokens are what they are, letter by letter */
    clo_ledger_close(ledger);
}

/* ledger.T10 */
static void is_good_for_one_plan_on_one_data_set(void **state)
{
    const place *p = *state;
    clo_ledger *ledger = open_at(p->ledger);
    clo_i_receipt receipt = charge_with(ledger, "t", plan_a);
    clo_error err;
    char *bytes = NULL;
    size_t length = 0;
    for (int stored = 0; stored < 2; stored++) {
        assert_fails(try_charge(ledger, "t", plan_b, &receipt, &err), CLO_ARGUMENT, err,
                     "with other settings (charge 1)");
        assert_fails(clo_i_ledger_fetch(ledger, "d", plan_b, "t", NULL, &bytes, &length, &err),
                     CLO_ARGUMENT, err, "with other settings");
        assert_fails(clo_i_ledger_fetch(ledger, "e", plan_a, "t", NULL, &bytes, &length, &err),
                     CLO_ARGUMENT, err, "belongs to a run on the data set d");
        if (!stored)
            assert_ok(clo_i_ledger_store(ledger, &receipt, result, sizeof result, &err), err);
    }
    assert_int_equal(charges_of(ledger), 1);
    clo_ledger_close(ledger);
}

static void names_runs_at_random_where_nobody_does(void **state)
{
    const place *p = *state;
    clo_ledger *ledger = open_at(p->ledger);
    int64_t tokens = 0, shortest = 0;
    clo_error err;
    charge_times(ledger, 20);
    assert_ok(clo_i_sql_number(ledger, "SELECT count(DISTINCT token) FROM charge", &tokens, &err),
              err);
    assert_ok(clo_i_sql_number(ledger, "SELECT min(length(token)) FROM charge", &shortest, &err),
              err);
    assert_true(tokens == 20 && shortest == 32);
    clo_ledger_close(ledger);
}

/* ledger.T10: the token alone is enough for who has lost the bytes, and for nothing else. */
static void gives_a_result_by_its_token_alone(void **state)
{
    const place *p = *state;
    clo_ledger *ledger = open_at(p->ledger);
    char *bytes = NULL;
    size_t length = 0;
    clo_error err;
    const clo_i_receipt dead = charge_with(ledger, "dead", plan_a);
    const clo_i_receipt unnamed = charge_with(ledger, NULL, plan_b);
    assert_string_equal(dead.token, "dead");
    assert_int_equal(strlen(unnamed.token), 32);
    assert_ok(clo_i_ledger_store(ledger, &unnamed, result, sizeof result, &err), err);
    assert_fails(clo_ledger_result(ledger, "dead", &bytes, &length, &err), CLO_LEDGER, err,
                 "has no release");
    assert_fails(clo_ledger_result(ledger, "t", &bytes, &length, &err), CLO_ARGUMENT, err,
                 "knows no token t");
    assert_fails(clo_ledger_result(ledger, "", &bytes, &length, &err), CLO_ARGUMENT, err, "token");
    clo_ledger_close(ledger);
    assert_ok(clo_ledger_open_existing(p->ledger, &ledger, &err), err);
    assert_ok(clo_ledger_result(ledger, unnamed.token, &bytes, &length, &err), err);
    assert_int_equal(length, sizeof result);
    assert_memory_equal(bytes, result, sizeof result);
    clo_ledger_bytes_free(bytes);
    assert_int_equal(charges_of(ledger), 2);
    clo_ledger_close(ledger);
    tamper(p->ledger, "DROP TRIGGER result_is_not_changed; UPDATE result SET bytes = x'00'");
    assert_ok(clo_ledger_open_existing(p->ledger, &ledger, &err), err);
    assert_fails(clo_ledger_result(ledger, unnamed.token, &bytes, &length, &err), CLO_LEDGER, err,
                 "was changed");
    clo_ledger_close(ledger);
}

static void refuses_tokens_and_results_that_are_none(void **state)
{
    const place *p = *state;
    clo_ledger *ledger = open_at(p->ledger), *other;
    char path[400], long_token[202];
    clo_i_receipt receipt, kept = charge_with(ledger, "t", NULL);
    clo_error err;
    memset(long_token, 't', sizeof long_token);
    long_token[201] = 0;
    assert_fails(try_charge(ledger, "", NULL, &receipt, &err), CLO_ARGUMENT, err, "1 to 200");
    assert_fails(try_charge(ledger, long_token, NULL, &receipt, &err), CLO_ARGUMENT, err, "token");
    assert_fails(try_charge(ledger, "a\nb", NULL, &receipt, &err), CLO_ARGUMENT, err, "UTF-8");
    assert_fails(clo_i_ledger_store(ledger, &kept, "", 0, &err), CLO_ARGUMENT, err, "1 to");
    assert_fails(clo_i_ledger_store(ledger, &kept, NULL, 1, &err), CLO_ARGUMENT, err, "1 to");
    snprintf(path, sizeof path, "%s/other.db", p->folder);
    other = open_at(path);
    charge_times(other, 1); /* with the same number, in another ledger */
    assert_fails(clo_i_ledger_store(other, &kept, "x", 1, &err), CLO_ARGUMENT, err,
                 "the ledger that was charged for it");
    clo_ledger_close(other);
    clo_ledger_close(ledger);
}

/* ledger.T8 */
static void notices_a_changed_result(void **state)
{
    const place *p = *state;
    clo_ledger *ledger = open_at(p->ledger);
    const clo_i_receipt receipt = charge_with(ledger, "t", plan_a);
    char *bytes = NULL;
    size_t length = 0;
    clo_error err;
    assert_ok(clo_i_ledger_store(ledger, &receipt, result, sizeof result, &err), err);
    clo_ledger_close(ledger);
    tamper(p->ledger, "DROP TRIGGER result_is_not_changed; UPDATE result SET bytes = x'00'");
    for (size_t i = 0; i < clo_i_ledger_schema_count; i++)
        if (strcmp(clo_i_ledger_schema[i].name, "result_is_not_changed") == 0)
            tamper(p->ledger, clo_i_ledger_schema[i].text);
    ledger = open_at(p->ledger);
    assert_fails(clo_i_ledger_fetch(ledger, "d", plan_a, "t", NULL, &bytes, &length, &err),
                 CLO_LEDGER, err, "stored release of charge 1");
    assert_fails(clo_ledger_verify(ledger, &err), CLO_LEDGER, err, "stored result of charge 1");
    clo_ledger_close(ledger);
}

/* ledger.T8: an act says that a result was stored, so that one that is gone is no run that died. */
static void misses_a_result_that_is_gone(void **state)
{
    const place *p = *state;
    clo_ledger *ledger = open_at(p->ledger);
    const clo_i_receipt receipt = charge_with(ledger, "t", plan_a);
    char *bytes = NULL;
    size_t length = 0;
    clo_error err;
    (void)charge_with(ledger, "u", plan_a); /* which has none yet */
    assert_ok(clo_i_ledger_store(ledger, &receipt, result, sizeof result, &err), err);
    clo_ledger_close(ledger);
    tamper(p->ledger, "DROP TRIGGER result_is_not_deleted; DELETE FROM result");
    for (size_t i = 0; i < clo_i_ledger_schema_count; i++)
        if (strcmp(clo_i_ledger_schema[i].name, "result_is_not_deleted") == 0)
            tamper(p->ledger, clo_i_ledger_schema[i].text);
    ledger = open_at(p->ledger);
    assert_fails(clo_i_ledger_fetch(ledger, "d", plan_a, "t", NULL, &bytes, &length, &err),
                 CLO_LEDGER, err, "the result of charge 1 was stored, and is gone");
    assert_fails(clo_ledger_result(ledger, "t", &bytes, &length, &err), CLO_LEDGER, err,
                 "was stored, and is gone");
    assert_fails(clo_i_ledger_fetch(ledger, "d", plan_a, "u", NULL, &bytes, &length, &err),
                 CLO_LEDGER, err, "has no release");
    assert_fails(clo_ledger_verify(ledger, &err), CLO_LEDGER, err, "was stored, and is gone");
    clo_ledger_close(ledger);
}

static void keeps_results_from_being_changed_by_an_ordinary_statement(void **state)
{
    const place *p = *state;
    clo_ledger *ledger = open_at(p->ledger);
    const clo_i_receipt receipt = charge_with(ledger, "t", plan_a);
    sqlite3 *db = NULL;
    clo_error err;
    assert_ok(clo_i_ledger_store(ledger, &receipt, result, sizeof result, &err), err);
    clo_ledger_close(ledger);
    assert_int_equal(sqlite3_open(p->ledger, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "UPDATE result SET bytes = x'00'", NULL, NULL, NULL),
                     SQLITE_CONSTRAINT);
    assert_int_equal(sqlite3_exec(db, "DELETE FROM result", NULL, NULL, NULL), SQLITE_CONSTRAINT);
    sqlite3_close(db);
}

/* The public calls, with plans and grants. */
static void works_from_plan_to_bytes(void **state)
{
    const place *p = *state;
    const clo_domain domain = ball(2, 1, CLO_ADD_REMOVE);
    clo_plan *const plan = plan_for("kmeans/lloyd", "clusters=2", &domain, 1, 1e-6);
    clo_plan *const other = plan_for("kmeans/lloyd", "clusters=3", &domain, 1, 1e-6);
    clo_ledger *ledger = open_at(p->ledger);
    clo_grant *grant = NULL, *unmetered = NULL;
    char *bytes = NULL;
    size_t length = 0;
    clo_error err;
    assert_fails(clo_ledger_spend_token(ledger, "d", plan, NULL, &grant, &err), CLO_ARGUMENT, err,
                 "token");
    assert_ok(clo_ledger_spend_token(ledger, "d", plan, "may", &grant, &err), err);
    assert_ok(clo_ledger_store(ledger, grant, result, sizeof result, &err), err);
    assert_ok(clo_ledger_fetch(ledger, "d", plan, "may", &bytes, &length, &err), err);
    assert_memory_equal(bytes, result, sizeof result);
    clo_ledger_bytes_free(bytes);
    assert_fails(clo_ledger_fetch(ledger, "d", other, "may", &bytes, &length, &err), CLO_ARGUMENT,
                 err, "other settings");
    assert_ok(clo_grant_unmetered(plan, &unmetered, &err), err);
    assert_fails(clo_ledger_store(ledger, unmetered, result, 1, &err), CLO_ARGUMENT, err,
                 "charged for it");
    clo_grant_free(unmetered);
    clo_grant_free(grant);
    clo_plan_free(plan);
    clo_plan_free(other);
    clo_ledger_close(ledger);
}

static void tells_two_files_of_one_name_apart(void **state)
{
    const place *p = *state;
    clo_ledger *ledger = open_at(p->ledger);
    clo_error err;
    assert_ok(clo_ledger_claim(ledger, "d", "/a/d", &err), err); /* nothing to claim yet */
    assert_ok(clo_ledger_claim(ledger, "d", "/b/d", &err), err);
    charge_times(ledger, 1);
    assert_ok(clo_ledger_claim(ledger, "d", "/a/d", &err), err);
    assert_ok(clo_ledger_claim(ledger, "d", "/a/d", &err), err);
    assert_fails(clo_ledger_claim(ledger, "d", "/b/d", &err), CLO_ARGUMENT, err,
                 "has another file under the name d, /a/d");
    assert_fails(clo_ledger_claim(ledger, "d", "", &err), CLO_ARGUMENT, err, "must not be empty");
    is_sound(ledger);
    clo_ledger_close(ledger);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_PLACE(stores_once_and_gives_the_same_bytes_again),
        IN_PLACE(is_not_charged_twice),
        IN_PLACE(is_good_for_one_plan_on_one_data_set),
        IN_PLACE(names_runs_at_random_where_nobody_does),
        IN_PLACE(gives_a_result_by_its_token_alone),
        IN_PLACE(refuses_tokens_and_results_that_are_none),
        IN_PLACE(notices_a_changed_result),
        IN_PLACE(misses_a_result_that_is_gone),
        IN_PLACE(keeps_results_from_being_changed_by_an_ordinary_statement),
        IN_PLACE(works_from_plan_to_bytes),
        IN_PLACE(tells_two_files_of_one_name_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
