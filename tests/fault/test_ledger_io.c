/*
 * test_ledger_io.c - the n-th write, sync, truncation or deletion of a charge fails, for every n.
 *
 * A layer between SQLite and the disk counts what changes a file and makes the n-th of them fail,
 * alone or with all that follow (as when a disk goes away, or a process dies: what was begun stays
 * begun).  Whatever n is: a charge that was acknowledged is there afterwards, one that was refused
 * before its commit is not, and the ledger is sound (ledger.T7).
 */
#include "ledger/ledger_internal.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

/* ---- the layer ------------------------------------------------------------------ */

typedef struct faulty_file {
    sqlite3_file base;
    sqlite3_file *real; /* right behind this struct */
} faulty_file;

static sqlite3_vfs *real_vfs;
static sqlite3_vfs faulty_vfs;
static uint64_t operations, failing; /* the n-th fails; 0: none */
static bool lasting;                 /* and all after it */
static int failure;                  /* with this code */

static bool fails(void)
{
    operations++;
    return failing && (lasting ? operations >= failing : operations == failing);
}

static sqlite3_file *real(sqlite3_file *file)
{
    return ((faulty_file *)file)->real;
}

static int f_close(sqlite3_file *f)
{
    return real(f)->pMethods ? real(f)->pMethods->xClose(real(f)) : SQLITE_OK;
}
static int f_read(sqlite3_file *f, void *to, int count, sqlite3_int64 at)
{
    return real(f)->pMethods->xRead(real(f), to, count, at);
}
static int f_write(sqlite3_file *f, const void *from, int count, sqlite3_int64 at)
{
    return fails() ? failure : real(f)->pMethods->xWrite(real(f), from, count, at);
}
static int f_truncate(sqlite3_file *f, sqlite3_int64 size)
{
    return fails() ? failure : real(f)->pMethods->xTruncate(real(f), size);
}
static int f_sync(sqlite3_file *f, int flags)
{
    return fails() ? failure : real(f)->pMethods->xSync(real(f), flags);
}
static int f_size(sqlite3_file *f, sqlite3_int64 *size)
{
    return real(f)->pMethods->xFileSize(real(f), size);
}
static int f_lock(sqlite3_file *f, int level)
{
    return real(f)->pMethods->xLock(real(f), level);
}
static int f_unlock(sqlite3_file *f, int level)
{
    return real(f)->pMethods->xUnlock(real(f), level);
}
static int f_reserved(sqlite3_file *f, int *out)
{
    return real(f)->pMethods->xCheckReservedLock(real(f), out);
}
static int f_control(sqlite3_file *f, int what, void *value)
{
    return real(f)->pMethods->xFileControl(real(f), what, value);
}
static int f_sector(sqlite3_file *f)
{
    return real(f)->pMethods->xSectorSize(real(f));
}
static int f_device(sqlite3_file *f)
{
    return real(f)->pMethods->xDeviceCharacteristics(real(f));
}

static const sqlite3_io_methods faulty_methods = {
    .iVersion = 1,
    .xClose = f_close,
    .xRead = f_read,
    .xWrite = f_write,
    .xTruncate = f_truncate,
    .xSync = f_sync,
    .xFileSize = f_size,
    .xLock = f_lock,
    .xUnlock = f_unlock,
    .xCheckReservedLock = f_reserved,
    .xFileControl = f_control,
    .xSectorSize = f_sector,
    .xDeviceCharacteristics = f_device,
};

static int v_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *f, int flags, int *out)
{
    faulty_file *file = (faulty_file *)f;
    file->real = (sqlite3_file *)(file + 1);
    const int code = real_vfs->xOpen(real_vfs, name, file->real, flags, out);
    file->base.pMethods = file->real->pMethods ? &faulty_methods : NULL;
    return code;
}

static int v_delete(sqlite3_vfs *vfs, const char *name, int sync)
{
    return fails() ? SQLITE_IOERR_DELETE : real_vfs->xDelete(real_vfs, name, sync);
}

/* Deleted it is, but whether the folder was synced nobody knows. */
static int v_delete_and_fail(sqlite3_vfs *vfs, const char *name, int sync)
{
    const int code = real_vfs->xDelete(real_vfs, name, sync);
    return fails() && code == SQLITE_OK ? SQLITE_IOERR_DIR_FSYNC : code;
}

static int put_layer(void **state)
{
    real_vfs = sqlite3_vfs_find(NULL);
    faulty_vfs = *real_vfs;
    faulty_vfs.zName = "faulty";
    faulty_vfs.szOsFile += (int)sizeof(faulty_file);
    faulty_vfs.xOpen = v_open;
    faulty_vfs.xDelete = v_delete;
    return sqlite3_vfs_register(&faulty_vfs, 1);
}

static int take_layer(void **state)
{
    sqlite3_vfs_register(real_vfs, 1);
    return sqlite3_vfs_unregister(&faulty_vfs);
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
    if (clo_ledger_open(path, &ledger, &err)) fail_msg("%s", err.message);
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

/* One sweep over every n of one charge; returns how many operations a charge has. */
static uint64_t sweep(int code, bool keeps_failing)
{
    uint64_t before = recorded(), n = 1;
    for (;; n++) {
        clo_ledger *ledger = open_here();
        clo_error err = { 0 };
        operations = 0;
        failure = code;
        lasting = keeps_failing;
        failing = n;
        const clo_status status = charge_one(ledger, &err);
        const bool reached = operations >= n;
        if (keeps_failing) clo_ledger_close(ledger); /* as a process that ends meanwhile */
        failing = 0;
        if (!keeps_failing) clo_ledger_close(ledger);
        const uint64_t after = recorded();
        if (status == CLO_OK) {
            assert_int_equal(after, before + 1);
        } else {
            assert_int_equal(status, CLO_LEDGER);
            assert_true(strlen(err.message) > 20);
            /* Only where the sentence says so may it have been recorded. */
            if (!strstr(err.message, "may or may not")) assert_int_equal(after, before);
            assert_true(after == before || after == before + 1);
        }
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

/* ledger.T7: the one place where a charge is recorded and yet not granted. */
static void gives_no_receipt_where_the_commit_is_in_doubt(void **state)
{
    clo_ledger *ledger = open_here();
    clo_error err = { 0 };
    assert_int_equal(charge_one(ledger, NULL), CLO_OK);
    operations = 0;
    assert_int_equal(charge_one(ledger, NULL), CLO_OK);
    faulty_vfs.xDelete = v_delete_and_fail;
    failing = operations; /* the last one is the deletion of the journal */
    operations = 0;
    lasting = false;
    assert_int_equal(charge_one(ledger, &err), CLO_LEDGER);
    assert_non_null(strstr(err.message, "may or may not"));
    faulty_vfs.xDelete = v_delete;
    failing = 0;
    clo_ledger_close(ledger);
    assert_int_equal(recorded(), 3);
}

static void fails_to_be_created_in_one_piece(void **state)
{
    for (uint64_t n = 1;; n++) {
        clo_ledger *ledger = NULL;
        clo_error err = { 0 };
        unlink(path);
        operations = 0;
        failure = SQLITE_IOERR_WRITE;
        lasting = true;
        failing = n;
        const clo_status status = clo_ledger_open(path, &ledger, &err);
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
    const clo_status status = clo_ledger_open(path, &ledger, &err);
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
        IN_PLACE(gives_no_receipt_where_the_commit_is_in_doubt),
        IN_PLACE(fails_to_be_created_in_one_piece),
#ifdef CLO_FAULT_INJECTION
        IN_PLACE(says_that_there_is_no_memory),
#endif
    };
    return cmocka_run_group_tests(tests, put_layer, take_layer);
}
