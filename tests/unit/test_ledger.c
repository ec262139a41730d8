/*
 * test_ledger.c - the ledger: what it refuses, what it counts, what it notices.
 *
 * Every refusal is checked three ways: its status, the words that tell the user what to do, and
 * that the totals are what they were before.
 */
#include "ledger/ledger_internal.h"
#include <cloister/steward.h>
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

/* ---- a folder of its own for each test -------------------------------------- */

typedef struct place {
    char folder[256];
    char ledger[300];
    char config[300];
} place;

static int make_place(void **state)
{
    place *p = calloc(1, sizeof *p);
    const char *base = getenv("TMPDIR");
    snprintf(p->folder, sizeof p->folder, "%s/cloister-ledger-XXXXXX", base ? base : "/tmp");
    if (!mkdtemp(p->folder)) return -1;
    snprintf(p->ledger, sizeof p->ledger, "%s/ledger.db", p->folder);
    snprintf(p->config, sizeof p->config, "%s/config", p->folder);
    setenv("XDG_CONFIG_HOME", p->config, 1); /* a key and anchors of its own */
    *state = p;
    return 0;
}

static int remove_place(void **state)
{
    place *p = *state;
    char command[800];
    snprintf(command, sizeof command, "chmod -R u+w '%s'; rm -rf '%s'", p->folder, p->folder);
    const int failed = system(command);
    free(p);
    return failed;
}

static clo_ledger *open_at(const char *path)
{
    clo_ledger *ledger = NULL;
    clo_error err = { 0 };
    if (clo_ledger_create(path, CLO_LEDGER_OPEN, &ledger, &err)) fail_msg("%s", err.message);
    return ledger;
}

static void says(const clo_error *err, clo_status status, const char *words)
{
    if (err->status != status || !strstr(err->message, words))
        fail_msg("status %d, \"%s\" where %d and \"%s\" were to come", err->status, err->message,
                 status, words);
}

/* Opening must fail with these words. */
static void refuses(const char *path, const char *words)
{
    clo_ledger *ledger = NULL;
    clo_error err = { 0 };
    assert_int_not_equal(clo_ledger_create(path, CLO_LEDGER_OPEN, &ledger, &err), CLO_OK);
    says(&err, CLO_LEDGER, words);
    assert_null(ledger);
}

/* Changes the file behind the ledger's back. */
static void tamper(const char *path, const char *sql)
{
    sqlite3 *db = NULL;
    char *message = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    sqlite3_exec(db, "PRAGMA synchronous = OFF", NULL, NULL, NULL);
    if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK) fail_msg("%s: %s", sql, message);
    sqlite3_close(db);
}

static void write_file(const char *path, const char *bytes)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(bytes, f);
    fclose(f);
    assert_int_equal(chmod(path, 0600), 0);
}

/* ---- charges ----------------------------------------------------------------- */

static clo_i_charge a_charge(const char *dataset, double epsilon, double delta)
{
    return (clo_i_charge){ .dataset = dataset,
                           .mechanism = "kmeans/lloyd",
                           .relation = "replace",
                           .loss = { epsilon, delta } };
}

/* A run of Gaussian queries that costs exactly what it asks for. */
static clo_i_charge a_gaussian_charge(const char *dataset, double epsilon, double delta)
{
    clo_i_charge charge = a_charge(dataset, epsilon, delta);
    const clo_event unit = { .kind = CLO_EVENT_GAUSSIAN, .parameter = 1, .count = 1 };
    double mu = 0;
    assert_int_equal(clo_calibrate(&unit, 1, charge.loss, &mu, NULL), CLO_OK);
    const clo_event event = { .kind = CLO_EVENT_GAUSSIAN, .parameter = mu, .count = 1 };
    assert_int_equal(clo_i_events_rho(&event, 1, &charge.rho, &charge.rho_delta, NULL), CLO_OK);
    return charge;
}

static clo_i_charge a_pure_charge(const char *dataset, double epsilon)
{
    clo_i_charge charge = a_charge(dataset, epsilon, 0);
    const clo_event event = { .kind = CLO_EVENT_PURE, .parameter = epsilon, .count = 1 };
    assert_int_equal(clo_i_events_rho(&event, 1, &charge.rho, &charge.rho_delta, NULL), CLO_OK);
    return charge;
}

static clo_i_charge an_approximate_charge(const char *dataset, double epsilon, double delta)
{
    clo_i_charge charge = a_charge(dataset, epsilon, delta);
    const clo_event event = {
        .kind = CLO_EVENT_APPROXIMATE, .parameter = epsilon, .delta = delta, .count = 1
    };
    assert_int_equal(clo_i_events_rho(&event, 1, &charge.rho, &charge.rho_delta, NULL), CLO_OK);
    return charge;
}

static clo_i_charge on_grid(clo_i_charge charge)
{
    charge.price = clo_i_loss_on_grid(charge.loss);
    return charge;
}

static clo_status try_charge(clo_ledger *ledger, clo_i_charge charge, clo_error *err)
{
    clo_i_receipt receipt = { .sequence = 12345 };
    const clo_status status = clo_i_ledger_charge(ledger, &charge, &receipt, err);
    if (status) assert_int_equal(receipt.sequence, 12345);
    return status;
}

static void charge_once(clo_ledger *ledger, clo_i_charge charge)
{
    clo_error err = { 0 };
    if (try_charge(ledger, charge, &err)) fail_msg("%s", err.message);
}

static bool keep_account(void *user, const clo_account *account)
{
    *(clo_account *)user = *account;
    return true;
}

static clo_account account_of(clo_ledger *ledger, const char *dataset)
{
    clo_account account = { 0 };
    clo_error err = { 0 };
    if (clo_ledger_accounts(ledger, dataset, keep_account, &account, &err))
        fail_msg("%s", err.message);
    return account;
}

static clo_i_account stored_account(clo_ledger *ledger, const char *dataset)
{
    clo_i_account account = { 0 };
    bool found = false;
    assert_int_equal(clo_i_ledger_find_account(ledger, dataset, &account, &found, NULL), CLO_OK);
    assert_true(found);
    return account;
}

static bool same_totals(const clo_i_account *a, const clo_i_account *b)
{
    return a->charges == b->charges && memcmp(&a->spent, &b->spent, sizeof a->spent) == 0 &&
           a->rule == b->rule && a->capacity == b->capacity;
}

/* The charge must be refused with these words and leave no trace. */
static void refuses_charge(clo_ledger *ledger, clo_i_charge charge, clo_status status,
                           const char *words)
{
    const clo_i_account before = stored_account(ledger, charge.dataset);
    clo_error err = { 0 };
    assert_int_equal(try_charge(ledger, charge, &err), status);
    says(&err, status, words);
    const clo_i_account after = stored_account(ledger, charge.dataset);
    assert_true(same_totals(&before, &after));
}

static void declare(clo_ledger *ledger, const char *dataset, double epsilon, double delta)
{
    clo_error err = { 0 };
    if (clo_ledger_declare(ledger, dataset, (clo_loss){ epsilon, delta }, &err))
        fail_msg("%s", err.message);
}

static void is_sound(clo_ledger *ledger)
{
    clo_error err = { 0 };
    if (clo_ledger_verify(ledger, &err)) fail_msg("%s", err.message);
}

/* ---- the file ------------------------------------------------------------------ */

static void creates_file_and_folders_for_the_owner_alone(void **state)
{
    const place *p = *state;
    char path[500], folder[400];
    struct stat st;
    snprintf(folder, sizeof folder, "%s/a/b", p->folder);
    snprintf(path, sizeof path, "%s/ledger.db", folder);
    const mode_t mask = umask(0);
    clo_ledger_close(open_at(path));
    umask(mask);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(stat(folder, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    snprintf(folder, sizeof folder, "%s/a", p->folder);
    assert_int_equal(stat(folder, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
}

static void works_with_a_relative_path_and_odd_names(void **state)
{
    const place *p = *state;
    char before[4096];
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(p->folder), 0);
    static const char *const names[] = { "plain.db", ":memory:", "file:x?mode=memory",
                                         "sub//x.db" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        clo_ledger *ledger = open_at(names[i]);
        charge_once(ledger, a_pure_charge("d", 1));
        clo_ledger_close(ledger);
        ledger = open_at(names[i]); /* it is on the disk, whatever it is called */
        assert_int_equal(account_of(ledger, "d").charges, 1);
        clo_ledger_close(ledger);
        assert_int_equal(access(names[i], F_OK), 0);
    }
    assert_int_equal(chdir(before), 0);
}

static void keeps_what_was_spent(void **state)
{
    const place *p = *state;
    clo_ledger *ledger = open_at(p->ledger);
    declare(ledger, "patients", 2, 1e-5);
    charge_once(ledger, a_charge("patients", 0.5, 1e-6));
    clo_ledger_close(ledger);
    ledger = open_at(p->ledger);
    const clo_account account = account_of(ledger, "patients");
    assert_true(account.capped);
    assert_int_equal(account.charges, 1);
    assert_true(account.cap.epsilon == 2 && account.cap.delta == 1e-5);
    assert_true(account.spent.epsilon == 0.5 && account.spent.delta == 1e-6);
    assert_true(account.left.epsilon == 1.5);
    assert_true(fabs(account.left.delta - 9e-6) < 1e-17);
    assert_true(account.created > 1600000000 && account.last_charge >= account.created);
    is_sound(ledger);
    clo_ledger_close(ledger);
}

static void has_the_durable_settings_in_force(void **state)
{
    const place *p = *state;
    clo_ledger *ledger = open_at(p->ledger);
    static const struct {
        const char *sql, *value;
    } settings[] = {
        { "PRAGMA journal_mode", "delete" }, { "PRAGMA synchronous", "3" },
        { "PRAGMA foreign_keys", "1" },      { "PRAGMA trusted_schema", "0" },
        { "PRAGMA user_version", "4" },      { "PRAGMA application_id", "1129074508" }
    };
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        char value[LEDGER_TEXT + 1];
        clo_i_sql sql = clo_i_sql_start(ledger, settings[i].sql);
        assert_true(clo_i_sql_row(&sql));
        clo_i_sql_get_text(&sql, 0, value);
        assert_string_equal(value, settings[i].value);
        assert_int_equal(clo_i_sql_finish(&sql, NULL), CLO_OK);
    }
    clo_ledger_close(ledger);
}

static void turns_a_ledger_in_wal_mode_back(void **state)
{
    const place *p = *state;
    clo_ledger_close(open_at(p->ledger));
    tamper(p->ledger, "PRAGMA journal_mode = WAL");
    clo_ledger *ledger = open_at(p->ledger);
    char mode[LEDGER_TEXT + 1];
    clo_i_sql sql = clo_i_sql_start(ledger, "PRAGMA journal_mode");
    assert_true(clo_i_sql_row(&sql));
    clo_i_sql_get_text(&sql, 0, mode);
    assert_string_equal(mode, "delete");
    assert_int_equal(clo_i_sql_finish(&sql, NULL), CLO_OK);
    clo_ledger_close(ledger);
}

static void does_not_create_a_ledger_to_read_it(void **state)
{
    const place *p = *state;
    clo_ledger *ledger = NULL;
    clo_error err = { 0 };
    assert_int_equal(clo_ledger_open_existing(p->ledger, &ledger, &err), CLO_LEDGER);
    says(&err, CLO_LEDGER, "there is no ledger at ");
    assert_int_not_equal(access(p->ledger, F_OK), 0);
    write_file(p->ledger, "");
    assert_int_equal(clo_ledger_open_existing(p->ledger, &ledger, &err), CLO_LEDGER);
    says(&err, CLO_LEDGER, "is empty");
    clo_ledger_close(open_at(p->ledger)); /* an empty file becomes one when it is to be written */
    assert_int_equal(clo_ledger_open_existing(p->ledger, &ledger, &err), CLO_OK);
    clo_ledger_close(ledger);
}

static void does_not_write_through_a_handle_for_reading(void **state)
{
    const place *p = *state;
    clo_ledger *ledger = open_at(p->ledger);
    charge_once(ledger, a_pure_charge("d", 1));
    clo_ledger_close(ledger);
    assert_int_equal(clo_ledger_open_existing(p->ledger, &ledger, NULL), CLO_OK);
    refuses_charge(ledger, a_pure_charge("d", 1), CLO_LEDGER, "was opened for reading");
    clo_error err = { 0 };
    assert_int_equal(clo_ledger_declare(ledger, "d", (clo_loss){ 5, 0 }, &err), CLO_LEDGER);
    says(&err, CLO_LEDGER, "was opened for reading");
    is_sound(ledger);
    clo_ledger_close(ledger);
}

static void refuses_an_empty_or_endless_path(void **state)
{
    clo_ledger *ledger = NULL;
    char path[5000];
    memset(path, 'x', sizeof path);
    path[sizeof path - 1] = 0;
    assert_int_equal(clo_ledger_create("", CLO_LEDGER_OPEN, &ledger, NULL), CLO_ARGUMENT);
    assert_int_equal(clo_ledger_create(NULL, CLO_LEDGER_OPEN, &ledger, NULL), CLO_ARGUMENT);
    assert_int_equal(clo_ledger_create(path, CLO_LEDGER_OPEN, &ledger, NULL), CLO_ARGUMENT);
}

static void refuses_what_is_not_a_ledger(void **state)
{
    const place *p = *state;
    char path[400];
    write_file(p->ledger,
               "name,age\nthis is a table of patients, not a ledger of what they cost\n");
    refuses(p->ledger, "is not a ledger");
    refuses(p->ledger, p->ledger); /* the path is in the sentence */
    refuses(p->folder, "is not an ordinary file");
    snprintf(path, sizeof path, "%s/other.db", p->folder);
    tamper(path, "CREATE TABLE t (x); PRAGMA application_id = 7");
    refuses(path, "a database of another program");
    snprintf(path, sizeof path, "%s/ledger.db/x.db", p->folder);
    refuses(path, "cannot be created");
}

static void refuses_other_schema_versions(void **state)
{
    const place *p = *state;
    clo_ledger_close(open_at(p->ledger));
    tamper(p->ledger, "PRAGMA user_version = 5");
    refuses(p->ledger, "was written by a newer cloister (schema 5");
    tamper(p->ledger, "PRAGMA user_version = 0");
    refuses(p->ledger, "does not exist");
    tamper(p->ledger, "PRAGMA user_version = 4; DROP TRIGGER ledger_is_not_deleted; "
                      "DELETE FROM ledger");
    refuses(p->ledger, "is damaged");
    tamper(p->ledger, "DROP TABLE ledger");
    refuses(p->ledger, "is damaged");
}

static void refuses_a_truncated_file(void **state)
{
    const place *p = *state;
    clo_ledger *ledger = open_at(p->ledger);
    charge_once(ledger, a_pure_charge("d", 1));
    clo_ledger_close(ledger);
    assert_int_equal(truncate(p->ledger, 3 * 4096), 0);
    refuses(p->ledger, "is damaged");
}

static void refuses_a_ledger_that_others_can_write(void **state)
{
    const place *p = *state;
    clo_ledger_close(open_at(p->ledger));
    static const mode_t loose[] = { 0620, 0602, 0666 };
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(chmod(p->ledger, loose[i]), 0);
        refuses(p->ledger, "chmod go-w '");
    }
    assert_int_equal(chmod(p->ledger, 0644), 0); /* reading does no harm */
    clo_ledger_close(open_at(p->ledger));
    assert_int_equal(chmod(p->folder, 0777), 0);
    refuses(p->ledger, "chmod o-w '");
    assert_int_equal(chmod(p->folder, 01777), 0); /* as /tmp: nobody can replace it */
    clo_ledger_close(open_at(p->ledger));
    assert_int_equal(chmod(p->folder, 0700), 0);
}

static void refuses_hard_links_and_follows_symbolic_ones(void **state)
{
    const place *p = *state;
    char path[400];
    clo_ledger *ledger = open_at(p->ledger);
    charge_once(ledger, a_pure_charge("d", 1));
    clo_ledger_close(ledger);
    snprintf(path, sizeof path, "%s/link.db", p->folder);
    assert_int_equal(symlink(p->ledger, path), 0);
    ledger = open_at(path);
    assert_int_equal(account_of(ledger, "d").charges, 1);
    clo_ledger_close(ledger);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(symlink("nowhere", path), 0);
    refuses(path, "there is no ledger at ");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(link(p->ledger, path), 0);
    refuses(path, "has a second name");
}

static void refuses_a_strangers_journal(void **state)
{
    const place *p = *state;
    char path[400];
    clo_ledger_close(open_at(p->ledger));
    snprintf(path, sizeof path, "%s-journal", p->ledger);
    assert_int_equal(symlink("elsewhere", path), 0);
    refuses(p->ledger, "belongs to another user");
}

/* Runs the body as a user whom permissions bind; its exit status says how it went. */
static void as_nobody(const place *p, bool (*body)(const place *p))
{
    if (geteuid() == 0) {
        char command[800];
        snprintf(command, sizeof command, "chown -R 65534:65534 '%s'", p->folder);
        assert_int_equal(system(command), 0);
    }
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        const bool ready = geteuid() != 0 || (setgid(65534) == 0 && setuid(65534) == 0);
        _exit(ready && body(p) ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static bool open_says(const char *path, const char *words)
{
    clo_ledger *ledger = NULL;
    clo_error err = { 0 };
    const clo_status status = clo_ledger_create(path, CLO_LEDGER_OPEN, &ledger, &err);
    const bool right = status == CLO_LEDGER && strstr(err.message, words);
    if (!right) fprintf(stderr, "%d %s, not: %s\n", status, err.message, words);
    clo_ledger_close(ledger);
    return right;
}

static bool finds_the_folder_unwritable(const place *p)
{
    char path[400];
    snprintf(path, sizeof path, "%s/new/ledger.db", p->folder);
    return chmod(p->folder, 0500) == 0 && open_says(p->ledger, "cannot be created: its folder") &&
           open_says(path, "the folder ") && chmod(p->folder, 0700) == 0;
}

static void says_that_a_folder_cannot_be_written(void **state)
{
    as_nobody(*state, finds_the_folder_unwritable);
}

static bool finds_the_file_unwritable(const place *p)
{
    clo_ledger *ledger = NULL;
    clo_error err = { 0 };
    const clo_i_charge charge = { .dataset = "d",
                                  .mechanism = "kmeans/lloyd",
                                  .relation = "replace",
                                  .loss = { 1, 0 },
                                  .rho = 1 };
    clo_i_receipt receipt;
    if (clo_ledger_create(p->ledger, CLO_LEDGER_OPEN, &ledger, NULL)) return false;
    if (chmod(p->folder, 0500)) return false;
    const clo_status status = clo_i_ledger_charge(ledger, &charge, &receipt, &err);
    clo_ledger_close(ledger);
    if (status != CLO_LEDGER || !strstr(err.message, "the folder of the ledger")) return false;
    if (chmod(p->folder, 0700) || chmod(p->ledger, 0400)) return false;
    if (!open_says(p->ledger, "cannot be written by this user")) return false;
    if (clo_ledger_open_existing(p->ledger, &ledger, NULL)) return false; /* reading is allowed */
    clo_ledger_close(ledger);
    return chmod(p->ledger, 0000) == 0 && open_says(p->ledger, "cannot be opened");
}

static void says_that_the_file_cannot_be_written(void **state)
{
    as_nobody(*state, finds_the_file_unwritable);
}

static void says_that_it_was_moved_away(void **state)
{
    const place *p = *state;
    char path[400];
    clo_ledger *ledger = open_at(p->ledger);
    charge_once(ledger, a_pure_charge("d", 1));
    snprintf(path, sizeof path, "%s/moved.db", p->folder);
    assert_int_equal(rename(p->ledger, path), 0);
    refuses_charge(ledger, a_pure_charge("d", 1), CLO_LEDGER, "was moved or removed");
    clo_ledger_close(ledger);
}

static void says_that_another_process_holds_it(void **state)
{
    const place *p = *state;
    sqlite3 *other = NULL;
    clo_ledger *ledger = open_at(p->ledger);
    assert_int_equal(ledger->patience_ms, 5000);
    ledger->patience_ms = 60;
    charge_once(ledger, a_pure_charge("d", 1));
    assert_int_equal(sqlite3_open(p->ledger, &other), SQLITE_OK);
    assert_int_equal(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    refuses_charge(ledger, a_pure_charge("d", 1), CLO_LEDGER, "another process");
    clo_error err = { 0 };
    assert_int_equal(clo_ledger_declare(ledger, "e", (clo_loss){ 1, 0 }, &err), CLO_LEDGER);
    says(&err, CLO_LEDGER, "another process");
    assert_int_equal(sqlite3_exec(other, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
    charge_once(ledger, a_pure_charge("d", 1));

    /* A reader in the way lets the charge begin and stops its commit. */
    assert_int_equal(sqlite3_exec(other, "BEGIN; SELECT * FROM dataset", NULL, NULL, NULL),
                     SQLITE_OK);
    refuses_charge(ledger, a_pure_charge("d", 1), CLO_LEDGER, "another process");
    assert_int_equal(sqlite3_exec(other, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(other);
    charge_once(ledger, a_pure_charge("d", 1));
    assert_int_equal(account_of(ledger, "d").charges, 3);
    is_sound(ledger);
    clo_ledger_close(ledger);
}

static void says_that_the_disk_is_full(void **state)
{
    const place *p = *state;
    clo_ledger *ledger = open_at(p->ledger);
    clo_error err = { 0 };
    uint64_t made = 0;
    assert_int_equal(clo_i_sql_do(ledger, "PRAGMA max_page_count = 1", NULL), CLO_OK); /* as is */
    while (!try_charge(ledger, a_pure_charge("d", 1), &err)) made++;
    says(&err, CLO_LEDGER, "is full");
    assert_in_range(made, 1, 200);
    refuses_charge(ledger, a_pure_charge("d", 1), CLO_LEDGER, "is full");
    assert_int_equal(account_of(ledger, "d").charges, made);
    is_sound(ledger);
    clo_ledger_close(ledger);
}

static void is_not_used_on_the_other_side_of_a_fork(void **state)
{
    const place *p = *state;
    clo_ledger *ledger = open_at(p->ledger);
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        clo_error err = { 0 };
        const bool right =
            clo_ledger_verify(ledger, &err) == CLO_LEDGER && strstr(err.message, "before a fork");
        _exit(right ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    charge_once(ledger, a_pure_charge("d", 1));
    clo_ledger_close(ledger);
}

static void finds_the_users_own_place(void **state)
{
    char path[64];
    clo_error err = { 0 };
    char *const home = getenv("HOME") ? strdup(getenv("HOME")) : NULL;
    setenv("HOME", "/home/ada", 1);
    setenv("XDG_STATE_HOME", "/var/state", 1);
    assert_int_equal(clo_ledger_default_path(path, sizeof path, NULL), CLO_OK);
    assert_string_equal(path, "/var/state/cloister/ledger.db");
    setenv("XDG_STATE_HOME", "relative", 1); /* to be ignored, says the standard */
    assert_int_equal(clo_ledger_default_path(path, sizeof path, NULL), CLO_OK);
    assert_string_equal(path, "/home/ada/.local/state/cloister/ledger.db");
    unsetenv("XDG_STATE_HOME");
    assert_int_equal(clo_ledger_default_path(path, 20, &err), CLO_ARGUMENT);
    says(&err, CLO_ARGUMENT, "does not fit");
    unsetenv("HOME");
    assert_int_equal(clo_ledger_default_path(path, sizeof path, &err), CLO_LEDGER);
    says(&err, CLO_LEDGER, "set HOME or XDG_STATE_HOME");
    if (home) setenv("HOME", home, 1);
    free(home);
}

/* ---- declaring ------------------------------------------------------------------ */

static void refuses_caps_that_are_none(void **state)
{
    const place *p = *state;
    clo_ledger *ledger = open_at(p->ledger);
    static const clo_loss caps[] = { { 0, 0 },  { -1, 0 }, { NAN, 0 }, { INFINITY, 0 }, { 2e4, 0 },
                                     { 1, -1 }, { 1, 1 },  { 1, NAN }, { 1e-16, 0 } };
    for (size_t i = 0; i < sizeof caps / sizeof *caps; i++)
        assert_int_equal(clo_ledger_declare(ledger, "d", caps[i], NULL), CLO_ARGUMENT);
    clo_account none = { 0 };
    clo_error err = { 0 };
    assert_int_equal(clo_ledger_accounts(ledger, "d", keep_account, &none, &err), CLO_ARGUMENT);
    says(&err, CLO_ARGUMENT, "knows no data set d");
    clo_ledger_close(ledger);
}

static void refuses_names_that_are_none(void **state)
{
    const place *p = *state;
    clo_ledger *ledger = open_at(p->ledger);
    char long_name[203];
    memset(long_name, 'n', sizeof long_name);
    long_name[201] = 0;
    const char *const bad[] = { NULL,           "",
                                long_name,      "a\nb",
                                "\x7f",         "\xc2\x85",
                                "\xff",         "\xc0\xaf",
                                "\xed\xa0\x80", "\xf4\x90\x80\x80",
                                "\xe2\x82",     "\xf8\x88\x80\x80\x80" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(clo_ledger_declare(ledger, bad[i], (clo_loss){ 1, 0 }, NULL),
                         CLO_ARGUMENT);
        assert_int_equal(try_charge(ledger, a_charge(bad[i], 1, 0), NULL), CLO_ARGUMENT);
    }
    long_name[200] = 0;
    declare(ledger, long_name, 1, 0);
    declare(ledger, "Übergröße, 患者 \xf0\x9f\x8c\xb7; DROP TABLE charge", 1, 0);
    declare(ledger, " ", 1, 0);
    is_sound(ledger);
    clo_ledger_close(ledger);
}

static void declares_a_name_once(void **state)
{
    const place *p = *state;
    clo_ledger *ledger = open_at(p->ledger);
    clo_error err = { 0 };
    declare(ledger, "d", 1, 1e-6);
    assert_int_equal(clo_ledger_declare(ledger, "d", (clo_loss){ 9, 1e-6 }, &err), CLO_LEDGER);
    says(&err, CLO_LEDGER, "already has a cap");
    assert_true(account_of(ledger, "d").cap.epsilon == 1);
    declare(ledger, "D", 9, 0); /* names are what they are, letter by letter */
    clo_ledger_close(ledger);
}

/* ledger.T5 */
static void caps_a_data_set_that_was_used_before(void **state)
{
    const place *p = *state;
    clo_ledger *ledger = open_at(p->ledger);
    clo_error err = { 0 };
    charge_once(ledger, a_charge("d", 0.7, 1e-6));
    assert_false(account_of(ledger, "d").capped);
    assert_true(account_of(ledger, "d").left.epsilon == 0);
    assert_int_equal(clo_ledger_declare(ledger, "d", (clo_loss){ 0.69, 1e-6 }, &err), CLO_BUDGET);
    says(&err, CLO_BUDGET, "epsilon 0.7 and delta 1e-6 were already spent on the data set d");
    assert_int_equal(clo_ledger_declare(ledger, "d", (clo_loss){ 1, 1e-7 }, NULL), CLO_BUDGET);
    assert_false(account_of(ledger, "d").capped);
    declare(ledger, "d", 0.7, 1e-6); /* exactly */
    refuses_charge(ledger, a_pure_charge("d", 1e-9), CLO_BUDGET, "left on");

    for (int i = 0; i < 5; i++) charge_once(ledger, a_gaussian_charge("e", 0.1, 1e-6));
    /* Their rhos would fit; but who chose now would choose after the answers were seen. */
    assert_int_equal(clo_ledger_declare(ledger, "e", (clo_loss){ 1, 1e-6 }, NULL), CLO_BUDGET);
    declare(ledger, "e", 1, 1e-5);
    assert_int_equal(stored_account(ledger, "e").rule, CLO_RULE_BASIC);
    is_sound(ledger);
    clo_ledger_close(ledger);
}

/* ---- counting ------------------------------------------------------------------ */

/* ledger.T1 */
static void counts_in_units_that_are_never_too_few(void **state)
{
    static const double epsilons[] = { 1e-15, 0.1, 0.3, 1.0 / 3, 1, 3.14159, 31.9, 1000.1 };
    for (size_t i = 0; i < sizeof epsilons / sizeof *epsilons; i++) {
        clo_i_charge charge = a_charge("d", epsilons[i], 1e-6);
        const long double unit = 0x1p-48L;
        clo_i_cost cost = clo_i_cost_of(&charge);
        assert_true(cost.epsilon * unit >= epsilons[i]);
        assert_true((cost.epsilon - 1) * unit < epsilons[i]);
        assert_true(cost.delta * 0x1p-62L >= 1e-6 && (cost.delta - 1) * 0x1p-62L < 1e-6);
        assert_true(cost.rho == LEDGER_UNITS_LIMIT); /* not known is not free */

        const clo_loss grid = clo_i_loss_on_grid(charge.loss);
        assert_true(grid.epsilon <= epsilons[i] && epsilons[i] - grid.epsilon < 0x1p-48);
        assert_true(grid.delta <= 1e-6 && 1e-6 - grid.delta < 0x1p-62);
        charge.price = grid;
        if (!(grid.epsilon > 0)) continue;
        cost = clo_i_cost_of(&charge);
        assert_true(cost.epsilon * unit == grid.epsilon && cost.delta * 0x1p-62L == grid.delta);
        charge.price.epsilon = nextafter(grid.epsilon, 2000); /* a hair more is not on the grid */
        if (charge.price.epsilon <= epsilons[i])
            assert_true(clo_i_cost_of(&charge).epsilon * unit >= epsilons[i]);
        charge.price = (clo_loss){ grid.epsilon, 2e-6 };
        assert_true(clo_i_cost_of(&charge).epsilon * unit >= epsilons[i]);
    }
}

/* ledger.T1: what a plan on the grid is for. */
static void fits_ten_tenths_under_one(void **state)
{
    const place *p = *state;
    clo_ledger *ledger = open_at(p->ledger);
    declare(ledger, "on", 1, 0);
    declare(ledger, "off", 1, 0);
    declare(ledger, "split", 1, 1e-6);
    for (int i = 0; i < 10; i++) charge_once(ledger, on_grid(a_pure_charge("on", 0.1)));
    assert_true(account_of(ledger, "on").spent.epsilon == 1);
    refuses_charge(ledger, on_grid(a_pure_charge("on", 0.1)), CLO_BUDGET, "left");
    for (int i = 0; i < 9; i++) charge_once(ledger, a_pure_charge("off", 0.1));
    /* Ten times the double 0.1 is more than 1. */
    refuses_charge(ledger, a_pure_charge("off", 0.1), CLO_BUDGET, "left");
    charge_once(ledger, on_grid(a_pure_charge("split", 0.3)));
    assert_true(account_of(ledger, "split").left.epsilon == 0.7);
    charge_once(ledger, on_grid(a_gaussian_charge("split", 0.7, 1e-6)));
    is_sound(ledger);
    clo_ledger_close(ledger);
}

/* ledger.T1 */
static void records_losses_beyond_all_measure_and_never_fits_them(void **state)
{
    const place *p = *state;
    clo_ledger *ledger = open_at(p->ledger);
    for (int i = 0; i < 3; i++) charge_once(ledger, a_charge("d", 1e300, 0.999));
    assert_int_equal(stored_account(ledger, "d").spent.epsilon, LEDGER_UNITS_LIMIT);
    assert_int_equal(stored_account(ledger, "d").spent.delta, LEDGER_UNITS_LIMIT);
    assert_int_equal(clo_ledger_declare(ledger, "d", (clo_loss){ 16384, 0.5 }, NULL), CLO_BUDGET);
    declare(ledger, "e", 16384, 0.5);
    refuses_charge(ledger, a_charge("e", 1e300, 0), CLO_BUDGET, "left");
    charge_once(ledger, a_charge("e", 16000, 0));
    refuses_charge(ledger, a_charge("e", 16000, 0), CLO_BUDGET, "left");
    is_sound(ledger);
    clo_ledger_close(ledger);
}

static void refuses_charges_that_are_none(void **state)
{
    const place *p = *state;
    clo_ledger *ledger = open_at(p->ledger);
    static const clo_loss losses[] = { { 0, 0 }, { -1, 0 }, { NAN, 0 }, { INFINITY, 0 },
                                       { 1, 1 }, { 1, -1 }, { 1, NAN } };
    for (size_t i = 0; i < sizeof losses / sizeof *losses; i++)
        assert_int_equal(
            try_charge(ledger, a_charge("d", losses[i].epsilon, losses[i].delta), NULL),
            CLO_ARGUMENT);
    clo_i_charge charge = a_charge("d", 1, 0);
    charge.rho = charge.rho_delta = 1;
    assert_int_equal(try_charge(ledger, charge, NULL), CLO_INTERNAL);
    charge = a_charge("d", 1, 0);
    charge.mechanism = "";
    assert_int_equal(try_charge(ledger, charge, NULL), CLO_ARGUMENT);
    clo_ledger_close(ledger);
}

/* ledger.T2 */
static void adds_epsilons_and_deltas(void **state)
{
    const place *p = *state;
    clo_ledger *ledger = open_at(p->ledger);
    declare(ledger, "d", 1, 0x1p-20);
    charge_once(ledger, a_charge("d", 0.5, 0x1p-21));
    assert_int_equal(stored_account(ledger, "d").rule, CLO_RULE_BASIC);
    refuses_charge(ledger, a_charge("d", 0.25, 0x1p-20), CLO_BUDGET,
                   "needs delta 9.5367431640625e-7");
    refuses_charge(ledger, a_charge("d", 0.5 + 0x1p-48, 0x1p-21), CLO_BUDGET, "is left");
    charge_once(ledger, a_charge("d", 0.25, 0x1p-21));
    charge_once(ledger, a_pure_charge("d", 0.25));
    assert_true(account_of(ledger, "d").left.epsilon == 0);
    refuses_charge(ledger, a_pure_charge("d", 0x1p-48), CLO_BUDGET, "no budget is left");
    is_sound(ledger);
    clo_ledger_close(ledger);
}

/* ledger.T3 */
static void adds_rhos_of_small_gaussian_runs(void **state)
{
    const place *p = *state;
    clo_ledger *ledger = open_at(p->ledger);
    const clo_i_charge run = a_gaussian_charge("d", 0.1, 1e-6);
    clo_error err = { 0 };
    uint64_t capacity = 0, made = 0;
    declare(ledger, "d", 1, 1e-6);
    assert_int_equal(clo_i_capacity_rho((clo_loss){ 1, 1e-6 }, &capacity, NULL), CLO_OK);
    while (!try_charge(ledger, run, &err)) made++;
    says(&err, CLO_BUDGET, "for a run with Gaussian noise");
    assert_int_equal(made, capacity / run.rho);
    assert_true(made > 40); /* by adding deltas it would be one */
    const clo_account shown = account_of(ledger, "d");
    assert_true(shown.spent.epsilon > 4 && shown.composed.delta == 1e-6); /* ledger.T11 */
    assert_true(shown.composed.epsilon > 0.98 && shown.composed.epsilon <= 1);
    const clo_i_account account = stored_account(ledger, "d");
    assert_true(account.spent.rho <= capacity && account.spent.rho + run.rho > capacity);
    is_sound(ledger);
    clo_ledger_close(ledger);
}

/* ledger.T3 */
static void says_what_is_left_so_that_it_can_be_asked_for(void **state)
{
    const place *p = *state;
    clo_ledger *ledger = open_at(p->ledger);
    declare(ledger, "d", 1, 1e-6);
    charge_once(ledger, a_gaussian_charge("d", 0.5, 1e-6));
    const clo_loss left = account_of(ledger, "d").left;
    assert_true(left.epsilon > 0.5 && left.epsilon < 1 && left.delta == 1e-6);
    refuses_charge(ledger, a_gaussian_charge("d", left.epsilon * 1.001, 1e-6), CLO_BUDGET, "left");
    charge_once(ledger, a_gaussian_charge("d", left.epsilon, 1e-6));
    assert_true(account_of(ledger, "d").left.epsilon < 0.01);
    clo_ledger_close(ledger);
}

/* What is left of a cap counts for no more units than there are, and is a number as people write
 * it: units of 2^-62 cut 1e-6 off behind its thirteenth digit. */
static void says_what_is_left_as_people_count_it(void **state)
{
    static const double caps[] = { 1e-5, 1e-6, 1e-7, 3e-6, 0.02 };
    static const struct {
        double left;
        const char *text;
    } texts[] = { { 0, "0" },
                  { 0.4, "0.4" },
                  { 12.5, "12.5" },
                  { 9.9999999999996e-6, "9.99999e-6" },
                  { 0.1234567, "0.123456" },
                  { 0.9999996, "0.999999" } };
    char text[CLO_NUMBER_SIZE];
    for (size_t i = 0; i < sizeof caps / sizeof *caps; i++)
        for (int tenths = 0; tenths < 10; tenths++) {
            clo_i_account account = { .charges = 1 };
            clo_i_account_cap(&account, (clo_loss){ 1, caps[i] });
            account.spent.delta = clo_i_delta_units(caps[i] * tenths / 10, false);
            const double left = clo_i_account_left(&account).delta;
            assert_true(clo_i_delta_units(left, false) <= account.cap_delta - account.spent.delta);
            assert_true(fabs(left - caps[i] * (10 - tenths) / 10) <= 1e-15 * caps[i]);
        }
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        clo_i_left_text(texts[i].left, text);
        assert_string_equal(text, texts[i].text);
    }
    for (double left = 1e-9; left < 1e4; left *= 1.237) {
        clo_i_left_text(left, text);
        assert_true(strtod(text, NULL) <= left && strtod(text, NULL) >= left * (1 - 1e-5));
        assert_true(strlen(text) <= 12);
    }
}

/* ledger.T11: never above the cap, never above the sum, and growing. */
static void says_what_the_charges_come_to(void **state)
{
    const place *p = *state;
    clo_ledger *ledger = open_at(p->ledger);
    double before = 0;
    declare(ledger, "d", 1, 1e-5);
    charge_once(ledger, a_pure_charge("d", 0.25));
    assert_true(account_of(ledger, "d").composed.epsilon == 0.25);
    assert_true(account_of(ledger, "d").composed.delta == 0);
    for (int i = 0; i < 20; i++) {
        charge_once(ledger, a_gaussian_charge("d", 0.1, 1e-6));
        const clo_account account = account_of(ledger, "d");
        assert_true(account.composed.epsilon > before && account.composed.epsilon <= 1);
        assert_true(account.composed.epsilon <= account.spent.epsilon);
        assert_true(account.composed.delta <= 1e-5);
        before = account.composed.epsilon;
    }
    /* What is said must be private at what is said: by the capacity of the same pair. */
    const clo_i_account inside = stored_account(ledger, "d");
    uint64_t capacity = 0;
    assert_int_equal(clo_i_capacity_rho((clo_loss){ before - 0.25, 1e-5 }, &capacity, NULL), 0);
    assert_true(capacity >= inside.spent.rho - inside.base_rho);
    assert_int_equal(clo_i_capacity_rho((clo_loss){ before - 0.2501, 1e-5 }, &capacity, NULL), 0);
    assert_true(capacity < inside.spent.rho - inside.base_rho);
    clo_ledger_close(ledger);
}

/* ledger.T11: without a cap at the delta of the sum; not at all under two relations. */
static void composes_without_a_cap(void **state)
{
    const place *p = *state;
    clo_ledger *ledger = open_at(p->ledger);
    clo_i_charge other = a_gaussian_charge("d", 0.1, 1e-6);
    for (int i = 0; i < 30; i++) charge_once(ledger, a_gaussian_charge("d", 0.1, 1e-6));
    const clo_account account = account_of(ledger, "d");
    assert_true(account.spent.epsilon == 3 && account.composed.delta == account.spent.delta);
    assert_true(account.composed.epsilon < 1 && account.composed.epsilon > 0.4);
    charge_once(ledger, an_approximate_charge("e", 0.5, 1e-6));
    assert_true(account_of(ledger, "e").composed.epsilon == 0.5);
    other.relation = "add-remove";
    charge_once(ledger, other);
    assert_true(isinf(account_of(ledger, "d").composed.epsilon));
    clo_ledger_close(ledger);
}

/* ledger.T4 */
static void counts_pure_runs_before_it_fixes_the_rule(void **state)
{
    const place *p = *state;
    clo_ledger *ledger = open_at(p->ledger);
    uint64_t capacity = 0;
    declare(ledger, "d", 1, 1e-6);
    charge_once(ledger, a_pure_charge("d", 0.25));
    charge_once(ledger, a_pure_charge("d", 0.25));
    assert_int_equal(stored_account(ledger, "d").rule, CLO_RULE_OPEN);
    charge_once(ledger, a_gaussian_charge("d", 0.1, 1e-6));
    const clo_i_account account = stored_account(ledger, "d");
    assert_int_equal(account.rule, CLO_RULE_ZCDP);
    assert_int_equal(clo_i_capacity_rho((clo_loss){ 0.5, 1e-6 }, &capacity, NULL), CLO_OK);
    assert_int_equal(account.capacity, capacity); /* of what the pure runs left, not of the cap */
    assert_int_equal(account.base_epsilon, UINT64_C(1) << 47);
    assert_true(account.spent.rho - account.base_rho < account.spent.rho);
    is_sound(ledger);
    clo_ledger_close(ledger);
}

/* ledger.T4: bounds first, then the run with all that is left. */
static void lets_a_run_take_all_that_pure_runs_left(void **state)
{
    const place *p = *state;
    clo_ledger *ledger = open_at(p->ledger);
    declare(ledger, "d", 1, 1e-6);
    charge_once(ledger, on_grid(a_pure_charge("d", 0.1)));
    charge_once(ledger, on_grid(a_gaussian_charge("d", 0.9, 1e-6)));
    assert_int_equal(stored_account(ledger, "d").rule, CLO_RULE_BASIC);
    refuses_charge(ledger, a_gaussian_charge("d", 0.01, 1e-6), CLO_BUDGET, "left");
    is_sound(ledger);
    clo_ledger_close(ledger);
}

/* ledger.T5: what one sum would admit does not get in once the other one counts. */
static void does_not_switch_between_the_sums(void **state)
{
    const place *p = *state;
    clo_ledger *ledger = open_at(p->ledger);
    declare(ledger, "z", 1, 1e-5);
    charge_once(ledger, a_gaussian_charge("z", 0.1, 1e-6));
    assert_int_equal(stored_account(ledger, "z").rule, CLO_RULE_ZCDP);
    refuses_charge(ledger, a_pure_charge("z", 0.5), CLO_BUDGET, "left");
    refuses_charge(ledger, a_charge("z", 0.1, 1e-6), CLO_BUDGET, "left"); /* no rho */
    refuses_charge(ledger, an_approximate_charge("z", 0.01, 1e-7), CLO_BUDGET,
                   "choose another method");

    declare(ledger, "b", 1, 1e-5);
    charge_once(ledger, an_approximate_charge("b", 0.9, 1e-6));
    assert_int_equal(stored_account(ledger, "b").rule, CLO_RULE_BASIC);
    clo_i_charge tiny = a_gaussian_charge("b", 0.2, 1e-6);
    tiny.rho = 1;
    refuses_charge(ledger, tiny, CLO_BUDGET, "left");
    is_sound(ledger);
    clo_ledger_close(ledger);
}

/* ledger.T6: for every kind of run, and caps wherever they lie between two units. */
static void admits_one_run_at_the_cap_and_refuses_the_next(void **state)
{
    const place *p = *state;
    clo_ledger *ledger = open_at(p->ledger);
    static const clo_loss caps[] = { { 1, 1e-6 },      { 0.1, 1e-7 }, { 0.3, 1.4476e-4 },
                                     { 1.0 / 3, 0.1 }, { 0.01, 0.5 }, { 17.77, 1e-9 },
                                     { 5, 1e-15 } };
    for (size_t i = 0; i < sizeof caps / sizeof *caps; i++)
        for (int kind = 0; kind < 8; kind++) {
            char name[32];
            snprintf(name, sizeof name, "%zu %d", i, kind);
            clo_i_charge run = a_charge(name, caps[i].epsilon, caps[i].delta);
            if (kind % 4 == 1) run = a_gaussian_charge(name, caps[i].epsilon, caps[i].delta);
            if (kind % 4 == 2) run = an_approximate_charge(name, caps[i].epsilon, caps[i].delta);
            if (kind % 4 == 3) {
                run = a_pure_charge(name, caps[i].epsilon); /* a pure method, asked with a delta */
                run.loss.delta = caps[i].delta;
            }
            if (kind >= 4) run = on_grid(run);
            declare(ledger, name, caps[i].epsilon, caps[i].delta);
            charge_once(ledger, run);
            refuses_charge(ledger, run, CLO_BUDGET, "left");
        }
    is_sound(ledger);
    clo_ledger_close(ledger);
}

static void refuses_a_run_that_promises_less_than_the_cap(void **state)
{
    const place *p = *state;
    clo_ledger *ledger = open_at(p->ledger);
    declare(ledger, "d", 1, 1e-7);
    /* Its rho would fit; but the release would say delta 1e-6. */
    refuses_charge(ledger, a_gaussian_charge("d", 0.01, 1e-6), CLO_BUDGET, "left");
    refuses_charge(ledger, a_pure_charge("d", nextafter(1, 2)), CLO_BUDGET, "left");
    clo_ledger_close(ledger);
}

/* ledger.T2: losses under different relations do not add up. */
static void keeps_relations_apart(void **state)
{
    const place *p = *state;
    clo_ledger *ledger = open_at(p->ledger);
    clo_i_charge other = a_pure_charge("d", 0.1);
    clo_error err = { 0 };
    other.relation = "add-remove";
    declare(ledger, "d", 1, 0);
    charge_once(ledger, a_pure_charge("d", 0.1));
    refuses_charge(ledger, other, CLO_BUDGET, "use replace");
    other.dataset = "e"; /* without a cap nothing is promised, and all is recorded */
    charge_once(ledger, a_pure_charge("e", 0.1));
    charge_once(ledger, other);
    assert_int_equal(clo_ledger_declare(ledger, "e", (clo_loss){ 9, 0 }, &err), CLO_BUDGET);
    says(&err, CLO_BUDGET, "under two relations");
    is_sound(ledger);
    clo_ledger_close(ledger);
}

static void gives_a_receipt(void **state)
{
    const place *p = *state;
    clo_ledger *ledger = open_at(p->ledger);
    clo_i_receipt receipt = { 0 };
    clo_i_charge charge = a_pure_charge("d", 1);
    declare(ledger, "capped", 2, 0);
    assert_int_equal(clo_i_ledger_charge(ledger, &charge, &receipt, NULL), CLO_OK);
    assert_true(receipt.sequence == 1 && !receipt.capped);
    charge.dataset = "capped";
    assert_int_equal(clo_i_ledger_charge(ledger, &charge, &receipt, NULL), CLO_OK);
    assert_true(receipt.sequence == 2 && receipt.capped);
    clo_ledger_close(ledger);
}

/* ---- reading ------------------------------------------------------------------- */

typedef struct names {
    char text[256];
    int stop_after;
    clo_ledger *other;
} names;

static bool list_account(void *user, const clo_account *account)
{
    names *n = user;
    strcat(strcat(n->text, account->dataset), ";");
    if (n->other) charge_once(n->other, a_pure_charge("c", 9)); /* nobody holds a lock */
    return --n->stop_after != 0;
}

static bool list_act(void *user, const clo_act *act)
{
    names *n = user;
    strcat(strcat(n->text, act->kind), ";");
    if (n->other) charge_once(n->other, a_pure_charge("c", 9));
    return --n->stop_after != 0;
}

static bool list_charge(void *user, const clo_charge *charge)
{
    names *n = user;
    char line[64];
    snprintf(line, sizeof line, "%llu %s %g;", (unsigned long long)charge->sequence,
             charge->dataset, charge->loss.epsilon);
    strcat(n->text, line);
    assert_string_equal(charge->mechanism, "kmeans/lloyd");
    assert_string_equal(charge->relation, "replace");
    assert_true(charge->time > 1600000000);
    if (n->other) charge_once(n->other, a_pure_charge("c", 9)); /* nobody holds a lock */
    return --n->stop_after != 0;
}

static void lists_accounts_and_charges(void **state)
{
    const place *p = *state;
    clo_ledger *ledger = open_at(p->ledger);
    names n = { .text = "" };
    assert_int_equal(clo_ledger_accounts(ledger, NULL, list_account, &n, NULL), CLO_OK);
    assert_string_equal(n.text, "");
    charge_once(ledger, a_pure_charge("b", 1));
    charge_once(ledger, a_pure_charge("a", 2));
    charge_once(ledger, a_pure_charge("b", 3));
    declare(ledger, "Z", 1, 0);
    assert_int_equal(clo_ledger_accounts(ledger, NULL, list_account, &n, NULL), CLO_OK);
    assert_string_equal(n.text, "Z;a;b;");
    n = (names){ .stop_after = 2 };
    assert_int_equal(clo_ledger_accounts(ledger, NULL, list_account, &n, NULL), CLO_OK);
    assert_string_equal(n.text, "Z;a;");
    n = (names){ .text = "" };
    assert_int_equal(clo_ledger_history(ledger, NULL, list_charge, &n, NULL), CLO_OK);
    assert_string_equal(n.text, "1 b 1;2 a 2;3 b 3;");
    n = (names){ .text = "" };
    assert_int_equal(clo_ledger_history(ledger, "b", list_charge, &n, NULL), CLO_OK);
    assert_string_equal(n.text, "1 b 1;3 b 3;");
    n = (names){ .text = "" };
    assert_int_equal(clo_ledger_history(ledger, "Z", list_charge, &n, NULL), CLO_OK);
    assert_string_equal(n.text, "");
    assert_int_equal(clo_ledger_history(ledger, "q", list_charge, &n, NULL), CLO_ARGUMENT);
    clo_ledger_close(ledger);
}

static void lets_others_charge_while_a_reader_thinks(void **state)
{
    const place *p = *state;
    clo_ledger *ledger = open_at(p->ledger), *other = open_at(p->ledger);
    charge_once(ledger, a_pure_charge("b", 1));
    charge_once(ledger, a_pure_charge("a", 2));
    names n = { .stop_after = 3, .other = other };
    assert_int_equal(clo_ledger_history(ledger, NULL, list_charge, &n, NULL), CLO_OK);
    assert_string_equal(n.text, "1 b 1;2 a 2;3 c 9;");
    n = (names){ .stop_after = 2, .other = other };
    assert_int_equal(clo_ledger_accounts(ledger, NULL, list_account, &n, NULL), CLO_OK);
    assert_string_equal(n.text, "a;b;");
    n = (names){ .stop_after = 1, .other = other };
    declare(ledger, "z", 5, 0);
    assert_int_equal(clo_ledger_lower(ledger, "z", (clo_loss){ 4, 0 }, "a note", NULL), CLO_OK);
    assert_int_equal(clo_ledger_acts(ledger, list_act, &n, NULL), CLO_OK);
    assert_string_equal(n.text, "lower;");
    clo_ledger_close(other);
    clo_ledger_close(ledger);
}

static void shows_sums_as_they_were_asked_for(void **state)
{
    const place *p = *state;
    clo_ledger *ledger = open_at(p->ledger);
    for (int i = 0; i < 7; i++) charge_once(ledger, a_charge("d", 0.1, 1e-6));
    const clo_account account = account_of(ledger, "d");
    assert_true(account.spent.epsilon == 0.7 && account.spent.delta == 7e-6);
    clo_ledger_close(ledger);
}

/* ---- noticing -------------------------------------------------------------------- */

static const char drop_triggers[] =
    "DROP TRIGGER charge_is_next; DROP TRIGGER charge_is_not_changed;"
    "DROP TRIGGER charge_is_not_deleted; DROP TRIGGER dataset_only_grows;"
    "DROP TRIGGER dataset_is_not_deleted; DROP TRIGGER ledger_only_grows;"
    "DROP TRIGGER declaration_is_not_changed; DROP TRIGGER declaration_is_not_deleted;";

/* Does it behind the triggers' back and puts them back in place. */
static void tamper_unseen(const char *path, const char *sql)
{
    tamper(path, drop_triggers);
    tamper(path, sql);
    for (size_t i = 0; i < clo_i_ledger_schema_count; i++)
        if (strcmp(clo_i_ledger_schema[i].type, "trigger") == 0 &&
            strstr(drop_triggers, clo_i_ledger_schema[i].name))
            tamper(path, clo_i_ledger_schema[i].text);
}

static void fill(const char *path)
{
    clo_ledger *ledger = open_at(path);
    declare(ledger, "d", 3, 1e-5);
    charge_once(ledger, a_pure_charge("d", 0.5));
    charge_once(ledger, an_approximate_charge("d", 0.25, 1e-6));
    charge_once(ledger, a_pure_charge("e", 0.125));
    declare(ledger, "f", 1, 1e-6);
    charge_once(ledger, a_gaussian_charge("f", 0.1, 1e-6));
    charge_once(ledger, a_gaussian_charge("g", 0.1, 1e-6));
    declare(ledger, "g", 1, 1e-5);
    charge_once(ledger, a_gaussian_charge("g", 0.1, 1e-6));
    is_sound(ledger);
    clo_ledger_close(ledger);
}

/* The ledger as fill made it, from a copy kept aside: durable charges take their time. */
static void fill_again(const place *p)
{
    char command[800];
    snprintf(command, sizeof command, "cp '%s/kept' '%s'", p->folder, p->ledger);
    if (access(p->ledger, F_OK) != 0) {
        fill(p->ledger);
        snprintf(command, sizeof command, "cp '%s' '%s/kept'", p->ledger, p->folder);
    }
    assert_int_equal(system(command), 0);
}

/* ledger.T8: changed like this, the ledger must not verify. */
static void notices(const place *p, const char *sql, const char *words)
{
    clo_ledger *ledger = NULL;
    clo_error err = { 0 };
    fill_again(p);
    tamper_unseen(p->ledger, sql);
    clo_status status = clo_ledger_create(p->ledger, CLO_LEDGER_OPEN, &ledger, &err);
    if (!status) status = clo_ledger_verify(ledger, &err);
    clo_ledger_close(ledger);
    if (!status) fail_msg("not noticed: %s", sql);
    says(&err, CLO_LEDGER, words);
}

/* ledger.T8 */
static void notices_a_change_to_any_column_of_a_charge(void **state)
{
    const place *p = *state;
    static const char *const changes[] = { "dataset = 2",           "time = time - 1",
                                           "mechanism = 'x'",       "relation = 'x'",
                                           "asked_epsilon = 2",     "asked_delta = 2e-6",
                                           "epsilon = epsilon-1",   "delta = delta - 1",
                                           "rho = rho + 1",         "rho_delta = 0",
                                           "rule = 'open'",         "capacity = 1",
                                           "plan = randomblob(32)", "token = 'x'",
                                           "key_id = zeroblob(16)", "hash = zeroblob(32)" };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        char sql[128];
        snprintf(sql, sizeof sql, "UPDATE charge SET %s WHERE sequence = 2", changes[i]);
        notices(p, sql, "charge 2 ");
    }
}

/* ledger.T8 */
static void notices_missing_and_added_entries(void **state)
{
    const place *p = *state;
    notices(p, "DELETE FROM charge WHERE sequence = 1", "charge 1 is missing");
    notices(p, "DELETE FROM charge WHERE sequence = 3", "charge 3 is missing");
    notices(p, "DELETE FROM charge WHERE sequence = 6", "charge 6 is wrong or missing");
    notices(p, "DELETE FROM charge", "charge 6 is wrong or missing");
    notices(p, "DELETE FROM charge WHERE sequence > 3; UPDATE ledger SET charges = 3",
            "charge 3 is wrong or missing");
    notices(p,
            "INSERT INTO charge SELECT 7, dataset, time, mechanism, relation, asked_epsilon, "
            "asked_delta, epsilon, delta, rho, rho_delta, rule, capacity, 'x', plan, key_id, "
            "format, hash "
            "FROM charge WHERE sequence = 6",
            "charge 6 is wrong or missing");
    notices(p, "DELETE FROM declaration WHERE sequence = 1", "declaration 1 is missing");
    notices(p, "UPDATE declaration SET epsilon = 9", "declaration 1 was changed");
    notices(p, "UPDATE declaration SET after_charge = 4 WHERE sequence = 3",
            "declaration 3 was changed");
}

/* ledger.T8 */
static void notices_changed_totals_and_caps(void **state)
{
    const place *p = *state;
    static const char *const changes[] = { "epsilon = epsilon - 1",
                                           "delta = delta - 1",
                                           "rho = rho - 1",
                                           "rho_delta = rho_delta - 1",
                                           "charges = charges - 1",
                                           "cap_epsilon = 4",
                                           "cap_delta = 1e-3",
                                           "cap_epsilon_units = cap_epsilon_units + 1",
                                           "cap_delta_units = cap_delta_units + 1",
                                           "rule = 'zcdp'",
                                           "base_epsilon = base_epsilon + 1",
                                           "base_rho = base_rho + 1",
                                           "capacity = 7",
                                           "relation = 'add-remove'" };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        char sql[128];
        snprintf(sql, sizeof sql, "UPDATE dataset SET %s WHERE name = 'd'", changes[i]);
        notices(p, sql, "data set d are not what its entries up to charge 2 say");
    }
    notices(p, "UPDATE dataset SET name = 'x' WHERE name = 'd'", "charge 1 was changed");
    notices(p, "DELETE FROM dataset WHERE name = 'e'", "names a data set that is not there");
}

/* A backup is one that can be read, and by its owner alone, whatever the process gives others. */
static void a_backup_is_sound_and_private(void **state)
{
    const place *p = *state;
    char backup[400], draft[420];
    struct stat facts;
    clo_error err;
    snprintf(backup, sizeof backup, "%s/backup.db", p->folder);
    snprintf(draft, sizeof draft, "%s.draft", backup);
    const mode_t before = umask(0);
    for (int damaged = 1; damaged >= 0; damaged--) {
        fill_again(p);
        if (damaged) tamper_unseen(p->ledger, "UPDATE charge SET epsilon = 1 WHERE sequence = 2");
        clo_ledger *ledger = open_at(p->ledger);
        const clo_status status = clo_ledger_backup(ledger, backup, &err);
        clo_ledger_close(ledger);
        assert_int_equal(status, damaged ? CLO_LEDGER : CLO_OK);
        assert_int_equal(stat(backup, &facts) == 0, !damaged);
        assert_int_not_equal(access(draft, F_OK), 0);
    }
    assert_int_equal(facts.st_mode & 0777, 0600);
    umask(before);
}

/* ledger.T8 */
static void notices_a_changed_schema(void **state)
{
    const place *p = *state;
    fill_again(p);
    tamper(p->ledger, "DROP TRIGGER charge_is_not_deleted");
    clo_ledger *ledger = open_at(p->ledger);
    clo_error err = { 0 };
    assert_int_equal(clo_ledger_verify(ledger, &err), CLO_LEDGER);
    says(&err, CLO_LEDGER, "trigger charge_is_not_deleted was changed or removed");
    clo_ledger_close(ledger);
    notices(p,
            "CREATE TRIGGER free AFTER INSERT ON charge BEGIN UPDATE dataset SET epsilon = 0; END",
            "not a ledger's");
    /* With everything else unchanged, a changed value is named rather than the missing trigger. */
    fill_again(p);
    tamper(p->ledger, drop_triggers);
    tamper(p->ledger, "UPDATE charge SET epsilon = 1 WHERE sequence = 3");
    ledger = open_at(p->ledger);
    assert_int_equal(clo_ledger_verify(ledger, &err), CLO_LEDGER);
    says(&err, CLO_LEDGER, "charge 3 was changed");
    clo_ledger_close(ledger);
}

/* ledger.T8: a chain that somebody computed anew still has to pass the filter. */
static void notices_a_charge_that_the_cap_never_covered(void **state)
{
    const place *p = *state;
    clo_ledger *ledger = open_at(p->ledger);
    declare(ledger, "d", 1, 0);
    charge_once(ledger, a_pure_charge("d", 0.5));
    clo_i_charge charge = a_pure_charge("d", 0.75);
    clo_i_head head;
    assert_int_equal(clo_i_ledger_get_head(ledger, &head, NULL), CLO_OK);
    clo_i_entry entry = { .sequence = 2,
                          .dataset = "d",
                          .mechanism = "m",
                          .relation = "replace",
                          .asked = charge.loss,
                          .cost = clo_i_cost_of(&charge) };
    entry.format = LEDGER_KEYED;
    memcpy(entry.token, "t", 2);
    memcpy(entry.key_id, ledger->key.id, LEDGER_KEY_ID);
    clo_i_chain_charge(&ledger->key, &entry, head.charge_hash);
    clo_i_sql sql = clo_i_sql_start(
        ledger, "INSERT INTO charge VALUES (2, 1, 0, 'm', 'replace', 0.75, 0, ?, 0, ?, 0, 'open', "
                "0, 't', zeroblob(32), ?, 2, ?)");
    clo_i_sql_units(&sql, entry.cost.epsilon);
    clo_i_sql_units(&sql, entry.cost.rho);
    clo_i_sql_bytes(&sql, ledger->key.id, LEDGER_KEY_ID);
    clo_i_sql_bytes(&sql, head.charge_hash, LEDGER_HASH);
    clo_i_sql_row(&sql);
    assert_int_equal(clo_i_sql_finish(&sql, NULL), CLO_OK);
    sql = clo_i_sql_start(ledger, "UPDATE ledger SET charges = 2, charge_hash = ?");
    clo_i_sql_bytes(&sql, head.charge_hash, LEDGER_HASH);
    clo_i_sql_row(&sql);
    assert_int_equal(clo_i_sql_finish(&sql, NULL), CLO_OK);
    clo_error err = { 0 };
    assert_int_equal(clo_ledger_verify(ledger, &err), CLO_LEDGER);
    says(&err, CLO_LEDGER, "charge 2 is more than the cap");
    clo_ledger_close(ledger);
}

/* ledger.T8: flips every byte of the rows of charges, one after the other. */
static void notices_every_flipped_byte_of_the_charges(void **state)
{
    const place *p = *state;
    clo_ledger *ledger = open_at(p->ledger);
    charge_once(ledger, a_pure_charge("needle-data-set", 0.5));
    charge_once(ledger, a_pure_charge("needle-data-set", 0.25));
    int64_t page = 0, size = 0;
    const char *const where = "SELECT rootpage FROM sqlite_schema WHERE name = 'charge'";
    assert_int_equal(clo_i_sql_number(ledger, where, &page, NULL), CLO_OK);
    assert_int_equal(clo_i_sql_number(ledger, "PRAGMA page_size", &size, NULL), CLO_OK);
    clo_ledger_close(ledger);

    FILE *f = fopen(p->ledger, "r+b");
    unsigned char *const bytes = malloc((size_t)size);
    assert_int_equal(fseek(f, (page - 1) * size, SEEK_SET), 0);
    assert_int_equal(fread(bytes, 1, (size_t)size, f), size);
    const long start = bytes[5] << 8 | bytes[6]; /* where the rows begin */
    assert_true(start > 100 && size - start > 150);
    static const int masks[] = { 0x01, 0x80, 0xff };
    for (long n = 0; n < 3 * (size - start); n++) {
        const long i = start + n / 3;
        assert_int_equal(fseek(f, (page - 1) * size + i, SEEK_SET), 0);
        fputc(bytes[i] ^ masks[n % 3], f);
        fflush(f);
        clo_error err = { 0 };
        clo_status status = clo_ledger_create(p->ledger, CLO_LEDGER_OPEN, &ledger, &err);
        if (!status) {
            status = clo_ledger_verify(ledger, &err);
            clo_ledger_close(ledger);
        }
        if (status != CLO_LEDGER) fail_msg("byte %ld of the rows: status %d", i - start, status);
        assert_int_equal(fseek(f, (page - 1) * size + i, SEEK_SET), 0);
        fputc(bytes[i], f);
        fflush(f);
    }
    fclose(f);
    free(bytes);
    ledger = open_at(p->ledger);
    is_sound(ledger);
    clo_ledger_close(ledger);
}

static void cannot_be_changed_by_an_ordinary_statement(void **state)
{
    const place *p = *state;
    fill(p->ledger);
    static const char *const statements[] = {
        "UPDATE charge SET epsilon = 1",
        "DELETE FROM charge",
        "INSERT OR REPLACE INTO charge SELECT * FROM charge WHERE sequence = 1",
        "UPDATE dataset SET epsilon = epsilon - 1",
        "UPDATE dataset SET cap_epsilon = 100",
        "UPDATE dataset SET cap_epsilon_units = cap_epsilon_units + 1",
        "UPDATE dataset SET name = 'x' WHERE id = 1",
        "DELETE FROM dataset",
        "UPDATE declaration SET epsilon = 100",
        "DELETE FROM declaration",
        "DELETE FROM ledger",
        "UPDATE ledger SET charges = 0",
        "UPDATE dataset SET rule = 'open' WHERE name = 'f'"
    };
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(p->ledger, &db), SQLITE_OK);
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++)
        if (sqlite3_exec(db, statements[i], NULL, NULL, NULL) != SQLITE_CONSTRAINT)
            fail_msg("went through: %s", statements[i]);
    sqlite3_close(db);
    clo_ledger *ledger = open_at(p->ledger);
    is_sound(ledger);
    clo_ledger_close(ledger);
}

static int64_t in_2100(void)
{
    return 4102444800;
}

static int64_t in_2030(void)
{
    return 1893456000;
}

static clo_ledger *asked; /* whose clock is read */
static int times_read;

static int64_t a_clock_within_the_lock(void)
{
    assert_false(sqlite3_get_autocommit(asked->db)); /* no other charge can come in between */
    return 1700000000 + times_read++;
}

/* Otherwise a charge that waited for another one would be told as of before it. */
static void reads_the_clock_inside_the_transaction(void **state)
{
    const place *p = *state;
    asked = open_at(p->ledger);
    asked->clock = a_clock_within_the_lock;
    charge_once(asked, a_pure_charge("d", 1));
    declare(asked, "e", 1, 0);
    assert_true(times_read >= 2);
    assert_int_equal(account_of(asked, "d").charges, 1);
    clo_ledger_close(asked);
}

static void trusts_the_sequence_and_not_the_clock(void **state)
{
    const place *p = *state;
    clo_ledger *ledger = open_at(p->ledger);
    clo_ledger_facts facts = { .struct_size = sizeof facts };
    ledger->clock = in_2100; /* and then it was set right */
    charge_once(ledger, a_pure_charge("d", 1));
    ledger->clock = in_2030;
    charge_once(ledger, a_pure_charge("d", 2));
    names n = { .text = "" };
    assert_int_equal(clo_ledger_history(ledger, "d", list_charge, &n, NULL), CLO_OK);
    assert_string_equal(n.text, "1 d 1;2 d 2;");
    assert_int_equal(account_of(ledger, "d").last_charge, 1893456000);
    assert_int_equal(clo_ledger_describe(ledger, &facts, NULL), CLO_OK);
    assert_int_equal(facts.clock_went_back, 1);
    is_sound(ledger);
    clo_ledger_close(ledger);
}

#define IN_PLACE(test) cmocka_unit_test_setup_teardown(test, make_place, remove_place)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_PLACE(creates_file_and_folders_for_the_owner_alone),
        IN_PLACE(works_with_a_relative_path_and_odd_names),
        IN_PLACE(keeps_what_was_spent),
        IN_PLACE(has_the_durable_settings_in_force),
        IN_PLACE(turns_a_ledger_in_wal_mode_back),
        IN_PLACE(does_not_create_a_ledger_to_read_it),
        IN_PLACE(does_not_write_through_a_handle_for_reading),
        cmocka_unit_test(refuses_an_empty_or_endless_path),
        IN_PLACE(refuses_what_is_not_a_ledger),
        IN_PLACE(refuses_other_schema_versions),
        IN_PLACE(refuses_a_truncated_file),
        IN_PLACE(refuses_a_ledger_that_others_can_write),
        IN_PLACE(refuses_hard_links_and_follows_symbolic_ones),
        IN_PLACE(refuses_a_strangers_journal),
        IN_PLACE(says_that_a_folder_cannot_be_written),
        IN_PLACE(says_that_the_file_cannot_be_written),
        IN_PLACE(says_that_it_was_moved_away),
        IN_PLACE(says_that_another_process_holds_it),
        IN_PLACE(says_that_the_disk_is_full),
        IN_PLACE(is_not_used_on_the_other_side_of_a_fork),
        cmocka_unit_test(finds_the_users_own_place),
        IN_PLACE(refuses_caps_that_are_none),
        IN_PLACE(refuses_names_that_are_none),
        IN_PLACE(declares_a_name_once),
        IN_PLACE(caps_a_data_set_that_was_used_before),
        cmocka_unit_test(counts_in_units_that_are_never_too_few),
        IN_PLACE(fits_ten_tenths_under_one),
        IN_PLACE(records_losses_beyond_all_measure_and_never_fits_them),
        IN_PLACE(refuses_charges_that_are_none),
        IN_PLACE(adds_epsilons_and_deltas),
        IN_PLACE(adds_rhos_of_small_gaussian_runs),
        IN_PLACE(says_what_is_left_so_that_it_can_be_asked_for),
        cmocka_unit_test(says_what_is_left_as_people_count_it),
        IN_PLACE(says_what_the_charges_come_to),
        IN_PLACE(composes_without_a_cap),
        IN_PLACE(counts_pure_runs_before_it_fixes_the_rule),
        IN_PLACE(lets_a_run_take_all_that_pure_runs_left),
        IN_PLACE(does_not_switch_between_the_sums),
        IN_PLACE(admits_one_run_at_the_cap_and_refuses_the_next),
        IN_PLACE(refuses_a_run_that_promises_less_than_the_cap),
        IN_PLACE(keeps_relations_apart),
        IN_PLACE(gives_a_receipt),
        IN_PLACE(lists_accounts_and_charges),
        IN_PLACE(lets_others_charge_while_a_reader_thinks),
        IN_PLACE(shows_sums_as_they_were_asked_for),
        IN_PLACE(notices_a_change_to_any_column_of_a_charge),
        IN_PLACE(notices_missing_and_added_entries),
        IN_PLACE(notices_changed_totals_and_caps),
        IN_PLACE(a_backup_is_sound_and_private),
        IN_PLACE(notices_a_changed_schema),
        IN_PLACE(notices_a_charge_that_the_cap_never_covered),
        IN_PLACE(notices_every_flipped_byte_of_the_charges),
        IN_PLACE(cannot_be_changed_by_an_ordinary_statement),
        IN_PLACE(reads_the_clock_inside_the_transaction),
        IN_PLACE(trusts_the_sequence_and_not_the_clock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
