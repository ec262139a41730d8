/*
 * test_ledger_kill.c - the ledger among processes: killed ones and competing ones (ledger.T7).
 *
 * A kill leaves the kernel's buffers alone, so these tests say nothing about power cuts; they
 * hold the order of things: acknowledged means recorded, and a total is read and charged in one
 * transaction.  The last tests break each of them - the acknowledgement before the commit, the
 * total read before the lock - and must see it.
 *
 * With CLOISTER_LONG set in the environment there are as many kills and charges as the numbers in
 * proofs/ledger.md were taken with (make test-long).
 */
#include "ledger/ledger_internal.h"
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

enum { KILLS = 40, LONG_KILLS = 500, WORKERS = 4, RACERS = 16, COVERED = 160, LONG_COVERED = 1000 };

static bool is_long(void)
{
    return getenv("CLOISTER_LONG") != NULL;
}

static char folder[256], path[300];

static int make_place(void **state)
{
    const char *base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/cloister-kill-XXXXXX", base ? base : "/tmp");
    if (!mkdtemp(folder)) return -1;
    snprintf(path, sizeof path, "%s/ledger.db", folder);
    setenv("XDG_CONFIG_HOME", folder, 1); /* a key and anchors of its own */
    return 0;
}

static int remove_place(void **state)
{
    char command[400];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

static clo_status charge_named(clo_ledger *ledger, const char *token, clo_i_receipt *receipt,
                               clo_error *err)
{
    const clo_i_charge charge = { .dataset = "d",
                                  .mechanism = "kmeans/lloyd",
                                  .relation = "replace",
                                  .loss = { 1, 0 },
                                  .rho = UINT64_C(1) << 47,
                                  .token = token };
    return clo_i_ledger_charge(ledger, &charge, receipt, err);
}

static clo_status charge_unit(clo_ledger *ledger, clo_i_receipt *receipt, clo_error *err)
{
    return charge_named(ledger, NULL, receipt, err);
}

static bool keep_count(void *user, const clo_account *account)
{
    *(uint64_t *)user = account->charges;
    return true;
}

/* Opens what is left after the fact, verifies it, and counts. */
static uint64_t recorded(void)
{
    clo_ledger *ledger = NULL;
    clo_error err = { 0 };
    uint64_t charges = 0;
    if (clo_ledger_create(path, CLO_LEDGER_OPEN, &ledger, &err) ||
        clo_ledger_verify(ledger, &err) ||
        clo_ledger_accounts(ledger, NULL, keep_count, &charges, &err))
        fail_msg("%s", err.message);
    clo_ledger_close(ledger);
    return charges;
}

/* Others had it for as long as a user would wait: on a slow disk they may, and one tries again. */
static bool is_busy(clo_status status, const clo_error *err)
{
    return status == CLO_LEDGER && strstr(err->message, "another process");
}

/* In a child: opens the ledger; a failure ends it. */
static clo_ledger *open_or_exit(void)
{
    clo_ledger *ledger = NULL;
    clo_error err = { 0 };
    clo_status status;
    do status = clo_ledger_create(path, CLO_LEDGER_OPEN, &ledger, &err);
    while (is_busy(status, &err));
    if (status) {
        fprintf(stderr, "%s\n", err.message);
        _exit(250); /* not a number of charges */
    }
    return ledger;
}

static int wait_for(pid_t child)
{
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

/* ledger.T7 */
static void keeps_the_charge_of_a_process_killed_right_after_it(void **state)
{
    for (uint64_t n = 1; n <= 5; n++) {
        fflush(NULL);
        const pid_t child = fork();
        if (child == 0) {
            clo_i_receipt receipt;
            clo_ledger *ledger = open_or_exit();
            if (charge_unit(ledger, &receipt, NULL)) _exit(3);
            raise(SIGKILL);
        }
        const int status = wait_for(child);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        assert_int_equal(recorded(), n);
    }
}

/* A release, as a worker announces it: the charge that it was for.  Counting alone would not do,
 * since a killed worker may have charged and not released: it is looked up by its token. */
typedef struct release {
    uint64_t sequence;
    char token[40];
} release;

typedef struct worker {
    pid_t process;
    int releases; /* the end of the pipe that is read */
} worker;

static release *seen;
static size_t seen_count, seen_room;

static void note_release(const release *r)
{
    if (seen_count == seen_room) {
        seen_room = 2 * seen_room + 1024;
        seen = realloc(seen, seen_room * sizeof *seen);
        assert_non_null(seen);
    }
    seen[seen_count++] = *r;
}

static void forget_releases(void)
{
    free(seen);
    seen = NULL;
    seen_count = seen_room = 0;
}

/* In a child: charges for ever, and releases - which is what must not happen without a charge -
 * only afterwards. */
static void charge_until_killed(int releases, clo_i_planted fault)
{
    clo_ledger *ledger = open_or_exit();
    ledger->planted = fault;
    for (int n = 0;; n++) {
        release r = { 0 };
        clo_i_receipt receipt;
        clo_error err = { 0 };
        snprintf(r.token, sizeof r.token, "%ld %lld %d", (long)getpid(), (long long)time(NULL), n);
        const clo_status status = charge_named(ledger, r.token, &receipt, &err);
        if (is_busy(status, &err)) continue;
        if (status) {
            fprintf(stderr, "%s\n", err.message);
            _exit(3);
        }
        r.sequence = receipt.sequence;
        if (write(releases, &r, sizeof r) != sizeof r) _exit(4);
    }
}

static worker start_worker(clo_i_planted fault)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        charge_until_killed(ends[1], fault);
    }
    close(ends[1]);
    return (worker){ child, ends[0] };
}

/* Until it has released something. */
static void await_release(worker w)
{
    struct pollfd first = { .fd = w.releases, .events = POLLIN };
    assert_int_equal(poll(&first, 1, -1), 1);
}

/* Kills it and notes what it had released. */
static void end_worker(worker w)
{
    release r;
    kill(w.process, SIGKILL);
    const int status = wait_for(w.process);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    while (read(w.releases, &r, sizeof r) == sizeof r) note_release(&r);
    close(w.releases);
}

/* How many of the releases have no charge of their own in the ledger; all of them where it is not
 * sound, or refused. */
static size_t uncharged(void)
{
    clo_ledger *ledger = NULL;
    size_t missing = 0;
    if (clo_ledger_create(path, CLO_LEDGER_OPEN, &ledger, NULL) ||
        clo_ledger_verify(ledger, NULL)) {
        clo_ledger_close(ledger);
        return seen_count;
    }
    for (size_t i = 0; i < seen_count; i++) {
        clo_i_token known = { 0 };
        bool found = false;
        assert_int_equal(clo_i_token_find(ledger, seen[i].token, &known, &found, NULL), CLO_OK);
        missing += !found || known.sequence != seen[i].sequence;
    }
    clo_ledger_close(ledger);
    return missing;
}

/* Workers that charge side by side are killed one after the other, at points spread over opening,
 * charging and committing, and replaced.  The first is not killed before it has released
 * something, which a slow machine may keep all others from. */
static void kill_workers(int kills)
{
    worker workers[WORKERS];
    for (int i = 0; i < WORKERS; i++) workers[i] = start_worker(CLO_PLANTED_NONE);
    await_release(workers[0]);
    for (int i = 0; i < kills; i++) {
        const struct timespec nap = { .tv_nsec = 1000000 + (i % 40) * 1777777 };
        nanosleep(&nap, NULL);
        end_worker(workers[i % WORKERS]);
        if (i + WORKERS < kills) workers[i % WORKERS] = start_worker(CLO_PLANTED_NONE);
    }
}

/* ledger.T7 */
static void releases_nothing_without_a_charge_when_killed_anywhere(void **state)
{
    const int kills = is_long() ? LONG_KILLS : KILLS;
    kill_workers(kills);
    const size_t missing = uncharged();
    const uint64_t charges = recorded();
    print_message("# %d kills over %d workers: %d releases, %d charges, %d releases without one\n",
                  kills, WORKERS, (int)seen_count, (int)charges, (int)missing);
    assert_true(seen_count > 0);
    assert_int_equal(missing, 0);
    /* At most one charge was under way in each of the killed. */
    assert_in_range(charges, seen_count, seen_count + (uint64_t)kills);
    forget_releases();
}

static void would_notice_a_release_before_the_commit(void **state)
{
    bool noticed = false;
    for (int i = 0; i < 50 && !noticed; i++) { /* a kill may by chance come at a good moment */
        const worker w = start_worker(CLO_PLANTED_EARLY_RECEIPT);
        await_release(w);
        end_worker(w);
        noticed = uncharged() > 0;
    }
    forget_releases();
    assert_true(noticed);
}

/* In a child: tries until the cap is reached and exits; what it was granted goes into the pipe, a
 * byte each. */
static void race(int granted, int start, clo_i_planted fault)
{
    char byte;
    clo_ledger *ledger = open_or_exit();
    ledger->planted = fault;
    ledger->patience_ms = 60000;
    if (read(start, &byte, 1) < 0) _exit(200); /* all at once */
    for (;;) {
        clo_error err = { 0 };
        clo_i_receipt receipt;
        const clo_status status = charge_unit(ledger, &receipt, &err);
        if (status == CLO_BUDGET) break;
        if (is_busy(status, &err)) continue;
        if (status) {
            fprintf(stderr, "%s\n", err.message);
            _exit(200);
        }
        if (write(granted, "g", 1) != 1) _exit(201);
    }
    clo_ledger_close(ledger);
    _exit(0);
}

/* How many units of the cap were granted in all. */
static int race_for(int cap, clo_i_planted fault)
{
    clo_ledger *ledger = NULL;
    pid_t racers[RACERS];
    int granted[2], start[2], count = 0;
    char byte;
    assert_int_equal(clo_ledger_create(path, CLO_LEDGER_OPEN, &ledger, NULL), CLO_OK);
    assert_int_equal(clo_ledger_declare(ledger, "d", (clo_loss){ cap, 0 }, NULL), CLO_OK);
    /* The tables have a rule of their own against lost updates: totals only grow.  A planted fault
     * has to be seen without it. */
    if (fault)
        assert_int_equal(clo_i_sql_do(ledger, "DROP TRIGGER dataset_only_grows", NULL), CLO_OK);
    clo_ledger_close(ledger);
    assert_int_equal(pipe(granted), 0);
    assert_int_equal(pipe(start), 0);
    fflush(NULL);
    for (int i = 0; i < RACERS; i++)
        if ((racers[i] = fork()) == 0) {
            close(granted[0]);
            close(start[1]);
            race(granted[1], start[0], fault);
        }
    close(granted[1]);
    close(start[0]);
    close(start[1]);
    while (read(granted[0], &byte, 1) == 1 && count < 4 * cap) count++;
    close(granted[0]);
    for (int i = 0; i < RACERS; i++) {
        const int status = wait_for(racers[i]);
        if (!fault) assert_int_equal(status, 0);
    }
    return count;
}

/* ledger.T7 */
static void grants_exactly_the_cap_to_competing_processes(void **state)
{
    const int cap = is_long() ? LONG_COVERED : COVERED;
    const int granted = race_for(cap, CLO_PLANTED_NONE);
    print_message("# %d processes against a cap of %d: %d granted\n", RACERS, cap, granted);
    assert_int_equal(granted, cap);
    assert_int_equal(recorded(), cap);
}

static void would_notice_a_total_read_before_the_lock(void **state)
{
    const int granted = race_for(COVERED, CLO_PLANTED_EARLY_TOTAL);
    print_message("# with the total read before the lock: %d granted\n", granted);
    assert_true(granted > COVERED);
}

static void is_created_once_by_competing_processes(void **state)
{
    pid_t makers[RACERS];
    fflush(NULL);
    for (int i = 0; i < RACERS; i++)
        if ((makers[i] = fork()) == 0) {
            clo_i_receipt receipt;
            clo_error err = { 0 };
            clo_status status;
            clo_ledger *ledger = open_or_exit();
            do status = charge_unit(ledger, &receipt, &err);
            while (is_busy(status, &err));
            _exit(status ? 3 : 0);
        }
    for (int i = 0; i < RACERS; i++) assert_int_equal(wait_for(makers[i]), 0);
    assert_int_equal(recorded(), RACERS);
}

#define IN_PLACE(test) cmocka_unit_test_setup_teardown(test, make_place, remove_place)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_PLACE(keeps_the_charge_of_a_process_killed_right_after_it),
        IN_PLACE(releases_nothing_without_a_charge_when_killed_anywhere),
        IN_PLACE(would_notice_a_release_before_the_commit),
        IN_PLACE(grants_exactly_the_cap_to_competing_processes),
        IN_PLACE(would_notice_a_total_read_before_the_lock),
        IN_PLACE(is_created_once_by_competing_processes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
