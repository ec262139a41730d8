/*
 * test_ledger_migration.c - a ledger of schema 1 becomes one of this version and loses nothing.
 *
 * The file is made by the statements of schema 1 themselves (ledger_schema_1.h), with the plain
 * hashes of its time.
 */
#include "ledger_place.h"
#include "ledger_schema_1.h"
#include <sys/wait.h>

static sqlite3 *db;

static void run_sql(const char *text)
{
    char *message = NULL;
    if (sqlite3_exec(db, text, NULL, NULL, &message) != SQLITE_OK)
        fail_msg("%s: %s", text, message);
}

static void hex(const uint8_t hash[LEDGER_HASH], char text[2 * LEDGER_HASH + 1])
{
    for (int i = 0; i < LEDGER_HASH; i++) snprintf(text + 2 * i, 3, "%02x", hash[i]);
}

/* A cap as somebody who knows how hashes are made writes it: epsilon, the same in halves as it is
 * counted, a delta as it is counted, and how many charges came before. */
typedef struct old_cap {
    double epsilon;
    int halves, deltas, after;
} old_cap;

/* "d" has this cap and two charges of 0.5. */
static void make_old_ledger_with(const char *path, old_cap given)
{
    static const uint8_t identity[LEDGER_IDENTITY] = "old ledger of 1";
    uint8_t charge_hash[LEDGER_HASH], declaration_hash[LEDGER_HASH];
    char text[1024], hash[2 * LEDGER_HASH + 1], other[2 * LEDGER_HASH + 1];
    const int64_t half = INT64_C(1) << 47, rho = INT64_C(1) << 45, units = given.halves * half;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    for (size_t i = 0; i < sizeof ledger_schema_1 / sizeof *ledger_schema_1; i++)
        run_sql(ledger_schema_1[i]);
    clo_i_chain_start(identity, "charge", charge_hash);
    clo_i_chain_start(identity, "declaration", declaration_hash);
    hex(charge_hash, hash);
    hex(declaration_hash, other);
    snprintf(
        text, sizeof text,
        "INSERT INTO ledger VALUES (1, CAST('old ledger of 1' || char(0) AS BLOB), 1700000000, "
        "'cloister 0.1.0', 0, x'%s', 0, x'%s');"
        "INSERT INTO dataset VALUES (1, 'd', 1700000000, %g, 0, %lld, %d, 'open', 0, 0, 0, "
        "'replace', 2, %lld, 0, %lld, 0, 1700000002)",
        hash, other, given.epsilon, (long long)units, given.deltas, (long long)(2 * half),
        (long long)(2 * rho));
    run_sql(text);
    clo_i_declaration cap = { .sequence = 1,
                              .time = 1700000000,
                              .dataset = "d",
                              .after = (uint64_t)given.after,
                              .cap = { given.epsilon, 0 },
                              .cap_epsilon = (uint64_t)units,
                              .cap_delta = (uint64_t)given.deltas,
                              .format = LEDGER_PLAIN };
    clo_i_chain_declaration(NULL, &cap, declaration_hash);
    hex(declaration_hash, hash);
    snprintf(text, sizeof text,
             "INSERT INTO declaration VALUES (1, %d, 1, 1700000000, %g, 0, %lld, %d, 1, x'%s');"
             "UPDATE ledger SET declarations = 1, declaration_hash = x'%s'",
             given.after, given.epsilon, (long long)units, given.deltas, hash, hash);
    run_sql(text);
    for (int i = 1; i <= 2; i++) {
        clo_i_entry entry = { .sequence = (uint64_t)i,
                              .time = 1700000000 + i,
                              .dataset = "d",
                              .mechanism = "kmeans/lloyd",
                              .relation = "replace",
                              .asked = { 0.5, 0 },
                              .cost = { (uint64_t)half, 0, (uint64_t)rho, 0 },
                              .format = LEDGER_PLAIN };
        clo_i_chain_charge(NULL, &entry, charge_hash);
        hex(charge_hash, hash);
        snprintf(text, sizeof text,
                 "INSERT INTO charge VALUES (%d, 1, %d, 'kmeans/lloyd', 'replace', 0.5, 0, %lld, "
                 "0, %lld, 0, 'open', 0, 1, x'%s');"
                 "UPDATE ledger SET charges = %d, charge_hash = x'%s'",
                 i, 1700000000 + i, (long long)half, (long long)rho, hash, i, hash);
        run_sql(text);
    }
    sqlite3_close(db);
    assert_int_equal(chmod(path, 0600), 0);
}

static void make_old_ledger(const char *path)
{
    make_old_ledger_with(path, (old_cap){ .epsilon = 2, .halves = 4 });
}

static void counts_on_after_the_migration(clo_ledger *ledger)
{
    clo_ledger_facts facts = { .struct_size = sizeof facts };
    clo_i_receipt receipt;
    clo_error err;
    is_sound(ledger);
    assert_int_equal(charge_with(ledger, NULL, NULL).sequence, 3);
    assert_int_equal(charge_with(ledger, "t", NULL).sequence, 4);
    assert_fails(try_charge(ledger, NULL, NULL, &receipt, &err), CLO_BUDGET, err, "budget is left");
    is_sound(ledger);
    assert_ok(clo_ledger_describe(ledger, &facts, &err), err);
    assert_true(facts.schema == 4 && !facts.closed && facts.charges == 4 &&
                facts.declarations == 1);
    assert_int_equal(facts.created, 1700000000);
}

static void brings_an_old_ledger_up_to_date(void **state)
{
    const place *p = *state;
    make_old_ledger(p->ledger);
    clo_ledger *ledger = open_at(p->ledger);
    counts_on_after_the_migration(ledger);
    clo_ledger_close(ledger);
    ledger = open_at(p->ledger);
    is_sound(ledger);
    clo_ledger_close(ledger);
}

static void does_so_also_for_a_reader(void **state)
{
    const place *p = *state;
    clo_ledger *ledger = NULL;
    clo_error err;
    make_old_ledger(p->ledger);
    assert_ok(clo_ledger_open_existing(p->ledger, &ledger, &err), err);
    is_sound(ledger);
    clo_ledger_close(ledger);
    ledger = open_at(p->ledger);
    counts_on_after_the_migration(ledger);
    clo_ledger_close(ledger);
}

/* ledger.T8: what was changed before the migration is seen after it. */
static void seals_what_it_found(void **state)
{
    const place *p = *state;
    clo_error err;
    make_old_ledger(p->ledger);
    tamper(p->ledger, "DROP TRIGGER charge_is_not_changed; UPDATE charge SET epsilon = 1 WHERE "
                      "sequence = 1");
    clo_ledger *ledger = open_at(p->ledger);
    assert_fails(clo_ledger_verify(ledger, &err), CLO_LEDGER, err, "charge 1 was changed");
    clo_ledger_close(ledger);
}

/* Every hash is right, and still the entries are added up: a cap that was declared below what had
 * been spent, or that is counted as another than it says, was not written by this program. */
static void adds_up_what_hashes_cover(void **state)
{
    static const struct {
        old_cap cap;
        const char *words;
    } forged[] = {
        { { .epsilon = 1, .halves = 2, .after = 2 }, NULL }, /* no forgery: to the last unit */
        { { .epsilon = 0.5, .halves = 1, .after = 2 }, "does not cover the charges before it" },
        { { .epsilon = 0.5, .halves = 1, .after = 0 }, "is more than the cap" },
        { { .epsilon = 0.5, .halves = 1, .after = 1 }, "is more than the cap" },
        { { .epsilon = 1, .halves = 4 }, "does not cover the charges before it" },
        { { .epsilon = 2, .halves = 4, .deltas = 1 }, "does not cover the charges before it" },
    };
    const place *p = *state;
    for (size_t i = 0; i < sizeof forged / sizeof *forged; i++) {
        clo_error err;
        make_old_ledger_with(p->ledger, forged[i].cap);
        clo_ledger *ledger = open_at(p->ledger);
        if (forged[i].words)
            assert_fails(clo_ledger_verify(ledger, &err), CLO_LEDGER, err, forged[i].words);
        else
            is_sound(ledger);
        clo_ledger_close(ledger);
        in_shell(p, "rm -rf '%s/ledger.db' '%s/config'");
    }
}

/* "d" has a cap of epsilon 1 and delta 1e-6, epsilon 0.25 of which a pure charge took, and one
 * charge that fixed zcdp, with this capacity; and every hash is right. */
static void make_old_zcdp_ledger(const char *path, uint64_t capacity)
{
    static const uint8_t identity[LEDGER_IDENTITY] = "old ledger of 1";
    const uint64_t one = UINT64_C(1) << 48, rho = UINT64_C(1) << 40;
    const uint64_t delta = clo_i_delta_units(1e-6, true), most = clo_i_delta_units(1e-6, false);
    uint8_t charge_hash[LEDGER_HASH], declaration_hash[LEDGER_HASH];
    char text[1024], hash[2 * LEDGER_HASH + 1], other[2 * LEDGER_HASH + 1];
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    for (size_t i = 0; i < sizeof ledger_schema_1 / sizeof *ledger_schema_1; i++)
        run_sql(ledger_schema_1[i]);
    clo_i_chain_start(identity, "charge", charge_hash);
    clo_i_chain_start(identity, "declaration", declaration_hash);
    hex(charge_hash, hash);
    hex(declaration_hash, other);
    snprintf(text, sizeof text,
             "INSERT INTO ledger VALUES (1, CAST('old ledger of 1' || char(0) AS BLOB), "
             "1700000000, 'cloister 0.1.0', 0, x'%s', 0, x'%s');"
             "INSERT INTO dataset VALUES (1, 'd', 1700000000, 1, 1e-6, %llu, %llu, 'zcdp', %llu, "
             "%llu, %llu, 'replace', 2, %llu, %llu, %llu, 0, 1700000002)",
             hash, other, (unsigned long long)one, (unsigned long long)most,
             (unsigned long long)(one / 4), (unsigned long long)rho, (unsigned long long)capacity,
             (unsigned long long)(one / 2), (unsigned long long)delta,
             (unsigned long long)(2 * rho));
    run_sql(text);
    clo_i_declaration cap = { .sequence = 1,
                              .time = 1700000000,
                              .dataset = "d",
                              .cap = { 1, 1e-6 },
                              .cap_epsilon = one,
                              .cap_delta = most,
                              .format = LEDGER_PLAIN };
    clo_i_chain_declaration(NULL, &cap, declaration_hash);
    hex(declaration_hash, hash);
    snprintf(text, sizeof text,
             "INSERT INTO declaration VALUES (1, 0, 1, 1700000000, 1, 1e-6, %llu, %llu, 1, x'%s');"
             "UPDATE ledger SET declarations = 1, declaration_hash = x'%s'",
             (unsigned long long)one, (unsigned long long)most, hash, hash);
    run_sql(text);
    for (int i = 1; i <= 2; i++) {
        clo_i_entry entry = { .sequence = (uint64_t)i,
                              .time = 1700000000 + i,
                              .dataset = "d",
                              .mechanism = "kmeans/lloyd",
                              .relation = "replace",
                              .asked = { 0.25, i == 2 ? 1e-6 : 0 },
                              .cost = { one / 4, i == 2 ? delta : 0, rho, 0 },
                              .rule = i == 2 ? CLO_RULE_ZCDP : CLO_RULE_OPEN,
                              .capacity = i == 2 ? capacity : 0,
                              .format = LEDGER_PLAIN };
        clo_i_chain_charge(NULL, &entry, charge_hash);
        hex(charge_hash, hash);
        snprintf(text, sizeof text,
                 "INSERT INTO charge VALUES (%d, 1, %d, 'kmeans/lloyd', 'replace', 0.25, %s, %llu, "
                 "%llu, %llu, 0, '%s', %llu, 1, x'%s');"
                 "UPDATE ledger SET charges = %d, charge_hash = x'%s'",
                 i, 1700000000 + i, i == 2 ? "1e-6" : "0", (unsigned long long)(one / 4),
                 (unsigned long long)entry.cost.delta, (unsigned long long)rho,
                 i == 2 ? "zcdp" : "open", (unsigned long long)entry.capacity, hash, i, hash);
        run_sql(text);
    }
    sqlite3_close(db);
    assert_int_equal(chmod(path, 0600), 0);
}

/* A capacity is no more than what was left when it was fixed can be: neither a unit more, nor that
 * of the whole cap.  A smaller one may have been all that an older cloister knew (ledger.T4). */
static void a_recorded_capacity_is_held_to_what_was_left(void **state)
{
    const place *p = *state;
    uint64_t left = 0, whole = 0;
    clo_error err;
    assert_ok(clo_i_capacity_rho((clo_loss){ 0.75, 1e-6 }, &left, &err), err);
    assert_ok(clo_i_capacity_rho((clo_loss){ 1, 1e-6 }, &whole, &err), err);
    const uint64_t capacities[] = { left, left - 1, left / 2, left + 1, whole, 10 * whole };
    for (size_t i = 0; i < sizeof capacities / sizeof *capacities; i++) {
        make_old_zcdp_ledger(p->ledger, capacities[i]);
        clo_ledger *ledger = open_at(p->ledger);
        if (capacities[i] > left)
            assert_fails(clo_ledger_verify(ledger, &err), CLO_LEDGER, err, "under a wrong rule");
        else
            is_sound(ledger);
        clo_ledger_close(ledger);
        in_shell(p, "rm -rf '%s/ledger.db' '%s/config'");
    }
}

static void migrates_once_among_competing_processes(void **state)
{
    const place *p = *state;
    pid_t children[6];
    make_old_ledger(p->ledger);
    fflush(NULL);
    for (int i = 0; i < 6; i++)
        if ((children[i] = fork()) == 0) {
            clo_ledger *ledger = NULL;
            clo_error err = { 0 };
            clo_status status;
            do /* the others' disk may be slow */
                status = clo_ledger_create(p->ledger, CLO_LEDGER_OPEN, &ledger, &err);
            while (status == CLO_LEDGER && strstr(err.message, "another process"));
            const bool right = !status && !clo_ledger_verify(ledger, NULL);
            clo_ledger_close(ledger);
            _exit(right ? 0 : 1);
        }
    for (int i = 0; i < 6; i++) {
        int status = -1;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_int_equal(status, 0);
    }
    clo_ledger *ledger = open_at(p->ledger);
    counts_on_after_the_migration(ledger);
    clo_ledger_close(ledger);
}

/* ---- from schemas 2 and 3 ------------------------------------------------------ */

/* Schemas 2 and 3 were this one without what later ones brought. */
static void make_ledger_of_schema(const char *path, int version)
{
    clo_ledger *ledger = open_at(path);
    clo_error err;
    char text[64];
    assert_ok(clo_ledger_declare(ledger, "d", (clo_loss){ 2, 0 }, &err), err);
    charge_times(ledger, 2);
    clo_ledger_close(ledger);
    for (size_t i = 0; i < clo_i_ledger_schema_count; i++) {
        const clo_i_schema_object *const object = &clo_i_ledger_schema[i];
        if (object->since <= version || strcmp(object->type, "table") != 0) continue;
        snprintf(text, sizeof text, "DROP TABLE %s", object->name);
        tamper(path, text);
    }
    snprintf(text, sizeof text, "PRAGMA user_version = %d", version);
    tamper(path, text);
}

static int schema_of(clo_ledger *ledger)
{
    clo_ledger_facts facts = { .struct_size = sizeof facts };
    clo_error err;
    assert_ok(clo_ledger_describe(ledger, &facts, &err), err);
    return facts.schema;
}

static void leaves_as_it_is(const place *p, int version)
{
    clo_ledger *ledger = NULL;
    clo_error err;
    char name[201] = "x";
    static const uint8_t content[CLO_DIGEST_BYTES] = { 1 };
    make_ledger_of_schema(p->ledger, version);
    in_shell(p, "cp '%s/ledger.db' '%s/before'; chmod a-w '%s/ledger.db'"); /* an archive */
    assert_ok(clo_ledger_open_existing(p->ledger, &ledger, &err), err);
    assert_int_equal(schema_of(ledger), version);
    is_sound(ledger);
    assert_ok(clo_ledger_known_as(ledger, "d", content, name, sizeof name, &err), err);
    assert_string_equal(name, "");
    clo_ledger_close(ledger);
    in_shell(p, "cmp -s '%s/ledger.db' '%s/before'");
}

static void who_reads_leaves_schema_2_as_it_is(void **state)
{
    leaves_as_it_is(*state, 2);
}

static void who_reads_leaves_schema_3_as_it_is(void **state)
{
    leaves_as_it_is(*state, 3);
}

/* ledger.T13: what older versions made stays open. */
static void brings_up_to_date(const place *p, int version)
{
    clo_ledger_facts facts = { .struct_size = sizeof facts };
    clo_error err;
    make_ledger_of_schema(p->ledger, version);
    clo_ledger *ledger = open_at(p->ledger);
    assert_ok(clo_ledger_describe(ledger, &facts, &err), err);
    assert_true(facts.schema == 4 && !facts.closed);
    is_sound(ledger);
    assert_int_equal(charge_with(ledger, "t", NULL).sequence, 3);
    is_sound(ledger);
    clo_ledger_close(ledger);
}

static void who_writes_brings_schema_2_up_to_date(void **state)
{
    brings_up_to_date(*state, 2);
}

static void who_writes_brings_schema_3_up_to_date(void **state)
{
    brings_up_to_date(*state, 3);
}

/* A key that is not here is not made anew: the ledger's own would be lost behind it. */
static void schema_2_needs_its_own_key(void **state)
{
    const place *p = *state;
    clo_ledger *ledger = NULL;
    make_ledger_of_schema(p->ledger, 2);
    in_shell(p, "mv '%s/config/cloister/ledger.key' '%s/key'");
    assert_int_equal(clo_ledger_create(p->ledger, CLO_LEDGER_OPEN, &ledger, NULL), CLO_LEDGER);
    in_shell(p, "test ! -e '%s/config/cloister/ledger.key'");
    in_shell(p, "mv '%s/key' '%s/config/cloister/ledger.key'");
    clo_ledger_close(open_at(p->ledger));
}

static void schema_3_without_its_table_is_not_sound(void **state)
{
    const place *p = *state;
    clo_error err;
    clo_ledger_close(open_at(p->ledger));
    tamper(p->ledger, "DROP TRIGGER content_is_not_deleted");
    clo_ledger *ledger = open_at(p->ledger);
    assert_fails(clo_ledger_verify(ledger, &err), CLO_LEDGER, err, "content_is_not_deleted");
    clo_ledger_close(ledger);
}

static void refuses_a_newer_schema_and_one_that_never_was(void **state)
{
    const place *p = *state;
    make_old_ledger(p->ledger);
    tamper(p->ledger, "PRAGMA user_version = 5");
    refuses(p->ledger, "was written by a newer cloister (schema 5");
    tamper(p->ledger, "PRAGMA user_version = 0");
    refuses(p->ledger, "does not exist");
}

/* A part of it would be worse than none: what cannot be brought up to date stays as it was. */
static void leaves_a_damaged_old_ledger_as_it_was(void **state)
{
    const place *p = *state;
    make_old_ledger(p->ledger);
    tamper(p->ledger, "DROP TABLE declaration");
    in_shell(p, "cp '%s/ledger.db' '%s/before'");
    refuses(p->ledger, "is damaged");
    in_shell(p, "cmp -s '%s/ledger.db' '%s/before'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_PLACE(brings_an_old_ledger_up_to_date),
        IN_PLACE(does_so_also_for_a_reader),
        IN_PLACE(seals_what_it_found),
        IN_PLACE(adds_up_what_hashes_cover),
        IN_PLACE(a_recorded_capacity_is_held_to_what_was_left),
        IN_PLACE(migrates_once_among_competing_processes),
        IN_PLACE(who_reads_leaves_schema_2_as_it_is),
        IN_PLACE(who_reads_leaves_schema_3_as_it_is),
        IN_PLACE(who_writes_brings_schema_2_up_to_date),
        IN_PLACE(who_writes_brings_schema_3_up_to_date),
        IN_PLACE(schema_2_needs_its_own_key),
        IN_PLACE(schema_3_without_its_table_is_not_sound),
        IN_PLACE(refuses_a_newer_schema_and_one_that_never_was),
        IN_PLACE(leaves_a_damaged_old_ledger_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
