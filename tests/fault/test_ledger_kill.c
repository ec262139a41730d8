/*
 * test_ledger_kill.c - the ledger among processes: killed ones and competing ones (ledger.T7).
 *
 * A kill leaves the kernel's buffers alone, so these tests say nothing about power cuts; they
 * hold the order of things: acknowledged means recorded, and a total is read and charged in one
 * transaction.  With either of them broken - the acknowledgement before the commit, the total read
 * before the lock - they fail.
 */
#include "privacy/ledger_internal.h"
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

enum { KILLS = 40, RACERS = 8, ATTEMPTS = 25, COVERED = 100 };

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

static clo_status charge_unit(clo_ledger *ledger, clo_i_receipt *receipt, clo_error *err)
{
    const clo_i_charge charge = { .dataset = "d",
                                  .mechanism = "kmeans/lloyd",
                                  .relation = "replace",
                                  .loss = { 1, 0 },
                                  .rho = UINT64_C(1) << 47 };
    return clo_i_ledger_charge(ledger, &charge, receipt, err);
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
    if (clo_ledger_open(path, &ledger, &err) || clo_ledger_verify(ledger, &err) ||
        clo_ledger_accounts(ledger, NULL, keep_count, &charges, &err))
        fail_msg("%s", err.message);
    clo_ledger_close(ledger);
    return charges;
}

/* In a child: opens the ledger; a failure ends it. */
static clo_ledger *open_or_exit(void)
{
    clo_ledger *ledger = NULL;
    clo_error err = { 0 };
    if (clo_ledger_open(path, &ledger, &err)) {
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

/* In a child: charges for ever and says so, each time, only afterwards. */
static void charge_until_killed(int acknowledge)
{
    clo_ledger *ledger = open_or_exit();
    for (;;) {
        clo_i_receipt receipt;
        if (charge_unit(ledger, &receipt, NULL)) _exit(3);
        if (write(acknowledge, &receipt.sequence, sizeof receipt.sequence) < 0) _exit(4);
    }
}

/* ledger.T7 */
static void loses_no_acknowledged_charge_when_killed_anywhere(void **state)
{
    uint64_t before = 0, acknowledged = 0;
    for (int i = 0; i < KILLS; i++) {
        int ends[2];
        uint64_t sequence = before, last = before;
        assert_int_equal(pipe(ends), 0);
        fflush(NULL);
        const pid_t child = fork();
        if (child == 0) {
            close(ends[0]);
            charge_until_killed(ends[1]);
        }
        close(ends[1]);
        /* At points spread over opening, charging and committing. */
        const struct timespec nap = { .tv_nsec = 1000000 + i * 1777777 };
        nanosleep(&nap, NULL);
        kill(child, SIGKILL);
        const int status = wait_for(child);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        while (read(ends[0], &sequence, sizeof sequence) == sizeof sequence) {
            assert_int_equal(sequence, last + 1);
            last = sequence;
            acknowledged++;
        }
        close(ends[0]);
        const uint64_t after = recorded();
        assert_true(after == last || after == last + 1); /* at most one was under way */
        before = after;
    }
    assert_true(acknowledged > 0);
}

/* Each racer exits with the number of charges that it was granted. */
static void race(void)
{
    clo_ledger *ledger = open_or_exit();
    int granted = 0;
    for (int i = 0; i < ATTEMPTS;) {
        clo_error err = { 0 };
        clo_i_receipt receipt;
        const clo_status status = charge_unit(ledger, &receipt, &err);
        if (status == CLO_LEDGER && strstr(err.message, "in use")) continue; /* and try again */
        if (status != CLO_OK && status != CLO_BUDGET) _exit(200);
        granted += status == CLO_OK;
        i++;
    }
    clo_ledger_close(ledger);
    _exit(granted);
}

/* ledger.T7 */
static void grants_exactly_the_cap_to_competing_processes(void **state)
{
    clo_ledger *ledger = NULL;
    pid_t racers[RACERS];
    int granted = 0;
    assert_int_equal(clo_ledger_open(path, &ledger, NULL), CLO_OK);
    assert_int_equal(clo_ledger_declare(ledger, "d", (clo_loss){ COVERED, 0 }, NULL), CLO_OK);
    clo_ledger_close(ledger);
    fflush(NULL);
    for (int i = 0; i < RACERS; i++)
        if ((racers[i] = fork()) == 0) race();
    for (int i = 0; i < RACERS; i++) {
        const int status = wait_for(racers[i]);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) <= ATTEMPTS);
        granted += WEXITSTATUS(status);
    }
    assert_int_equal(granted, COVERED);
    assert_int_equal(recorded(), COVERED);
}

static void is_created_once_by_competing_processes(void **state)
{
    pid_t makers[RACERS];
    fflush(NULL);
    for (int i = 0; i < RACERS; i++)
        if ((makers[i] = fork()) == 0) {
            clo_i_receipt receipt;
            clo_ledger *ledger = open_or_exit();
            _exit(charge_unit(ledger, &receipt, NULL) ? 3 : 0);
        }
    for (int i = 0; i < RACERS; i++) assert_int_equal(wait_for(makers[i]), 0);
    assert_int_equal(recorded(), RACERS);
}

#define IN_PLACE(test) cmocka_unit_test_setup_teardown(test, make_place, remove_place)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_PLACE(keeps_the_charge_of_a_process_killed_right_after_it),
        IN_PLACE(loses_no_acknowledged_charge_when_killed_anywhere),
        IN_PLACE(grants_exactly_the_cap_to_competing_processes),
        IN_PLACE(is_created_once_by_competing_processes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
