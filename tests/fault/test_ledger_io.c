/*
 * test_ledger_io.c - the n-th write, sync, truncation or deletion of a charge fails, for every n.
 *
 * A layer between SQLite and the disk counts what changes a file and makes the n-th of them fail,
 * alone or with all that follow (as when a disk goes away, or a process dies: what was begun stays
 * begun); the writes and syncs of its anchor are counted with them.  Whatever n is: a charge that
 * was acknowledged is there afterwards, and a copy from before it is refused; one that was refused
 * before its commit is not there; and the ledger is sound and can be charged (ledger.T7,
 * ledger.T9).
 */
#include "ledger/ledger_internal.h"
#include "vfs_layer.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

/* ---- what fails ------------------------------------------------------------------ */

static uint64_t operations, failing; /* the n-th fails; 0: none */
static bool lasting;                 /* and all after it */

static bool fails(void)
{
    operations++;
    return failing && (lasting ? operations >= failing : operations == failing);
}

/* The anchor's disk is the ledger's here. */
static ssize_t anchor_pwrite(int file, const void *bytes, size_t count, off_t at)
{
    if (!fails()) return pwrite(file, bytes, count, at);
    errno = layer_failure == SQLITE_FULL ? ENOSPC : EIO;
    return -1;
}

static int anchor_fdatasync(int file)
{
    if (!fails()) return fdatasync(file);
    errno = EIO;
    return -1;
}

static int put_faults(void **state)
{
    layer_before = fails;
    clo_i_anchor_pwrite = anchor_pwrite;
    clo_i_anchor_fdatasync = anchor_fdatasync;
    return put_layer(state);
}

/* ---- the sweep -------------------------------------------------------------------- */

static char folder[256], path[300];

static int make_place(void **state)
{
    const char *base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/cloister-io-XXXXXX", base ? base : "/tmp");
    if (!mkdtemp(folder)) return -1;
    snprintf(path, sizeof path, "%s/ledger.db", folder);
    setenv("XDG_CONFIG_HOME", folder, 1); /* a key and anchors of its own */
    failing = 0;
    return 0;
}

static int remove_place(void **state)
{
    char command[400];
    failing = 0;
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

static clo_ledger *open_here(void)
{
    clo_ledger *ledger = NULL;
    clo_error err = { 0 };
    if (clo_ledger_create(path, CLO_LEDGER_OPEN, &ledger, &err)) fail_msg("%s", err.message);
    return ledger;
}

static clo_status charge_one(clo_ledger *ledger, clo_error *err)
{
    const clo_i_charge charge = { .dataset = "d",
                                  .mechanism = "kmeans/lloyd",
                                  .relation = "replace",
                                  .loss = { 1, 0 },
                                  .rho = UINT64_C(1) << 47 };
    clo_i_receipt receipt;
    return clo_i_ledger_charge(ledger, &charge, &receipt, err);
}

static uint64_t recorded(void)
{
    clo_ledger *ledger = open_here();
    clo_i_account account = { 0 };
    clo_error err = { 0 };
    bool found = false;
    if (clo_ledger_verify(ledger, &err) ||
        clo_i_ledger_find_account(ledger, "d", &account, &found, &err))
        fail_msg("%s", err.message);
    clo_ledger_close(ledger);
    return account.charges;
}

static void copy_file(const char *from, const char *to)
{
    char command[800];
    snprintf(command, sizeof command, "cp '%s' '%s'", from, to);
    assert_int_equal(system(command), 0);
}

/* Whether a copy from before can neither be opened nor, having been open all the time, charged. */
static bool is_refused(const char *copy, clo_ledger *open)
{
    clo_ledger *ledger = NULL;
    clo_error err = { 0 };
    const clo_status opened = clo_ledger_create(copy, CLO_LEDGER_OPEN, &ledger, &err);
    clo_ledger_close(ledger);
    return opened == CLO_LEDGER && charge_one(open, &err) == CLO_LEDGER &&
           strstr(err.message, "older copy");
}

/* What must hold after a charge that ended like this. */
static void check_word(clo_status status, const clo_error *err, uint64_t before, uint64_t after)
{
    if (status == CLO_OK) {
        assert_int_equal(after, before + 1);
        return;
    }
    assert_int_equal(status, CLO_LEDGER);
    assert_true(strlen(err->message) > 20);
    /* Only where the sentence says so may it have been recorded. */
    if (strstr(err->message, "charge was recorded in the ledger"))
        assert_int_equal(after, before + 1);
    else if (!strstr(err->message, "while it was written"))
        assert_int_equal(after, before);
    assert_true(after == before || after == before + 1);
}

/* One sweep over every n of one charge; returns how many operations a charge has. */
static uint64_t sweep(int code, bool keeps_failing)
{
    uint64_t before = recorded();
    char copy[320];
    snprintf(copy, sizeof copy, "%s/copy.db", folder);
    for (uint64_t n = 1;; n++) {
        clo_ledger *ledger = open_here(), *open = NULL;
        clo_error err = { 0 };
        copy_file(path, copy);
        assert_int_equal(clo_ledger_create(copy, CLO_LEDGER_OPEN, &open, NULL), CLO_OK);
        operations = 0;
        layer_failure = code;
        lasting = keeps_failing;
        failing = n;
        const clo_status status = charge_one(ledger, &err);
        const bool reached = operations >= n;
        if (keeps_failing) clo_ledger_close(ledger); /* as a process that ends meanwhile */
        failing = 0;
        if (!keeps_failing) clo_ledger_close(ledger);
        const uint64_t after = recorded();
        check_word(status, &err, before, after);
        if (status == CLO_OK) assert_true(is_refused(copy, open));
        clo_ledger_close(open);
        before = after;
        if (!reached) return n - 1;
        assert_in_range(n, 1, 200);
    }
}

/* ledger.T7 */
static void keeps_its_word_when_one_operation_fails(void **state)
{
    assert_in_range(sweep(SQLITE_IOERR_WRITE, false), 5, 100);
}

/* ledger.T7 */
static void keeps_its_word_when_the_disk_goes_away(void **state)
{
    assert_in_range(sweep(SQLITE_IOERR_WRITE, true), 5, 100);
}

/* ledger.T7 */
static void keeps_its_word_when_the_disk_is_full(void **state)
{
    assert_in_range(sweep(SQLITE_FULL, false), 5, 100);
    assert_in_range(sweep(SQLITE_FULL, true), 5, 100);
}

/* ledger.T7: the journal is gone, though its deletion failed. */
static void finds_out_what_a_commit_in_doubt_came_to(void **state)
{
    clo_ledger *ledger = open_here();
    clo_error err = { 0 };
    assert_int_equal(charge_one(ledger, NULL), CLO_OK);
    operations = 0;
    assert_int_equal(charge_one(ledger, NULL), CLO_OK);
    layer_vfs.xDelete = layer_delete_and_fail;
    failing = operations - 3; /* the deletion of the journal; slot, anchor and sync come after it */
    operations = 0;
    lasting = false;
    if (charge_one(ledger, &err)) fail_msg("%s", err.message);
    layer_vfs.xDelete = layer_delete;
    failing = operations = 0;
    assert_int_equal(charge_one(ledger, NULL), CLO_OK); /* and the handle is good for more */
    clo_ledger_close(ledger);
    assert_int_equal(recorded(), 4);
}

/* ledger.T7: one failure, wherever it comes, ends with a receipt or with nothing recorded. */
static void leaves_nothing_in_doubt_where_one_operation_fails(void **state)
{
    uint64_t granted = recorded();
    lasting = false;
    layer_failure = SQLITE_IOERR_WRITE;
    for (uint64_t n = 1;; n++) {
        clo_ledger *ledger = open_here();
        clo_error err = { 0 };
        operations = 0;
        failing = n;
        const bool charged = charge_one(ledger, &err) == CLO_OK, reached = operations >= n;
        failing = 0;
        clo_ledger_close(ledger);
        granted += charged;
        if (recorded() != granted) fail_msg("operation %d: %s", (int)n, err.message);
        if (!reached) return;
    }
}

static void fails_to_be_created_in_one_piece(void **state)
{
    for (uint64_t n = 1;; n++) {
        clo_ledger *ledger = NULL;
        clo_error err = { 0 };
        unlink(path);
        operations = 0;
        layer_failure = SQLITE_IOERR_WRITE;
        lasting = true;
        failing = n;
        const clo_status status = clo_ledger_create(path, CLO_LEDGER_OPEN, &ledger, &err);
        clo_ledger_close(ledger);
        const bool reached = operations >= n;
        failing = 0;
        assert_int_equal(recorded(), 0); /* it can be opened, and is whole */
        if (!reached) {
            assert_int_equal(status, CLO_OK);
            return;
        }
        assert_in_range(n, 1, 500);
    }
}

#ifdef CLO_FAULT_INJECTION
static void says_that_there_is_no_memory(void **state)
{
    clo_ledger *ledger = NULL;
    clo_error err = { 0 };
    clo_i_fail_allocation(1);
    const clo_status status = clo_ledger_create(path, CLO_LEDGER_OPEN, &ledger, &err);
    clo_i_fail_allocation(0);
    assert_int_equal(status, CLO_MEMORY);
    assert_null(ledger);
    assert_int_not_equal(access(path, F_OK), 0);
}
#endif

#define IN_PLACE(test) cmocka_unit_test_setup_teardown(test, make_place, remove_place)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_PLACE(keeps_its_word_when_one_operation_fails),
        IN_PLACE(keeps_its_word_when_the_disk_goes_away),
        IN_PLACE(keeps_its_word_when_the_disk_is_full),
        IN_PLACE(finds_out_what_a_commit_in_doubt_came_to),
        IN_PLACE(leaves_nothing_in_doubt_where_one_operation_fails),
        IN_PLACE(fails_to_be_created_in_one_piece),
#ifdef CLO_FAULT_INJECTION
        IN_PLACE(says_that_there_is_no_memory),
#endif
    };
    return cmocka_run_group_tests(tests, put_faults, take_layer);
}
