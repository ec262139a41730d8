/*
 * test_disk_room.c - a release that is paid for has its place: before the charge, a run looks
 * whether the ledger's disk has room for the most that the release can take, and takes that much
 * for its file.  The system calls that tell of a disk are replaced here by ones that say what a
 * test wants.
 */
#include "ledger_place.h"
#include "job_settings.h"
#include "pipeline.h"
#include "small_runs.h"
#include <cloister/output.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/statvfs.h>

static struct {
    bool pretends;
    uint64_t left; /* bytes */
    bool unknown;  /* the disk does not say */
    int refusal;   /* of fallocate; 0: it is asked */
} disk;

static int tell(int status, struct statvfs *facts)
{
    if (!disk.pretends || status) return status;
    facts->f_frsize = 1024;
    facts->f_bavail = disk.left / 1024;
    facts->f_blocks = disk.unknown ? 0 : 1 << 20;
    return 0;
}

int __real_statvfs64(const char *path, struct statvfs *facts);
int __wrap_statvfs64(const char *path, struct statvfs *facts);
int __wrap_statvfs64(const char *path, struct statvfs *facts)
{
    return tell(__real_statvfs64(path, facts), facts);
}

int __real_fstatvfs64(int file, struct statvfs *facts);
int __wrap_fstatvfs64(int file, struct statvfs *facts);
int __wrap_fstatvfs64(int file, struct statvfs *facts)
{
    return tell(__real_fstatvfs64(file, facts), facts);
}

int __real_fallocate64(int file, int mode, off_t from, off_t length);
int __wrap_fallocate64(int file, int mode, off_t from, off_t length);
int __wrap_fallocate64(int file, int mode, off_t from, off_t length)
{
    errno = disk.refusal;
    return disk.refusal ? -1 : __real_fallocate64(file, mode, from, length);
}

static int64_t charges(clo_ledger *ledger)
{
    int64_t count = -1;
    assert_int_equal(clo_i_sql_number(ledger, "SELECT count(*) FROM charge", &count, NULL), CLO_OK);
    return count;
}

static void nothing_is_charged_where_the_release_has_no_room(void **state)
{
    enum { KIB = 1024, RELEASE = 300 * KIB, CHARGE = 64 * KIB };
    static const struct {
        uint64_t release, left;
        bool unknown, charged;
    } disks[] = { { RELEASE, 0, false, false },
                  { RELEASE, RELEASE, false, false },
                  { RELEASE, RELEASE + CHARGE - KIB, false, false },
                  { RELEASE, RELEASE + CHARGE, false, true },
                  { RELEASE, 0, true, true },
                  { 0, 0, false, true } };
    const place *const p = *state;
    clo_ledger *ledger = NULL;
    const clo_domain domain = ball(2, 1, CLO_REPLACE);
    clo_plan *const plan = plan_for("kmeans/lloyd", "clusters=2", &domain, 1, 1e-6);
    clo_error err;
    assert_ok(clo_ledger_create(p->ledger, CLO_LEDGER_OPEN, &ledger, &err), err);
    assert_ok(clo_ledger_declare(ledger, "people", (clo_loss){ 1000, 0.1 }, &err), err);
    for (size_t i = 0; i < sizeof disks / sizeof *disks; i++) {
        const int64_t before = charges(ledger);
        clo_spending spending = clo_spending_default();
        clo_grant *grant = NULL;
        spending.dataset = "people";
        spending.plan = plan;
        spending.release_bytes = disks[i].release;
        disk.pretends = true;
        disk.left = disks[i].left;
        disk.unknown = disks[i].unknown;
        const clo_status status = clo_ledger_spend_for(ledger, &spending, &grant, &err);
        disk.pretends = false;
        if (disks[i].charged)
            assert_ok(status, err);
        else
            assert_fails(status, CLO_LEDGER, err, "has no room for a release of up to 300 KiB");
        assert_int_equal(charges(ledger) - before, disks[i].charged);
        clo_grant_free(grant);
    }
    clo_plan_free(plan);
    clo_ledger_close(ledger);
}

static void a_file_has_the_room_that_it_reserved_or_is_refused(void **state)
{
    static const struct {
        int refusal;
        uint64_t left;
        bool unknown, refused;
    } disks[] = { { 0, 0, false, false },
                  { ENOSPC, 1 << 30, false, true },
                  { EDQUOT, 1 << 30, false, true },
                  { EOPNOTSUPP, 1 << 20, false, false },
                  { EOPNOTSUPP, (1 << 20) - 1024, false, true },
                  { EOPNOTSUPP, 0, true, false } };
    const place *const p = *state;
    char path[300];
    clo_error err;
    snprintf(path, sizeof path, "%s/release.json", p->folder);
    for (size_t i = 0; i < sizeof disks / sizeof *disks; i++) {
        clo_file *file = NULL;
        struct stat facts;
        assert_ok(clo_file_open(path, &file, &err), err);
        disk.pretends = true;
        disk.refusal = disks[i].refusal;
        disk.left = disks[i].left;
        disk.unknown = disks[i].unknown;
        const clo_status status = clo_file_reserve(file, 1 << 20, &err);
        disk.pretends = false;
        disk.refusal = 0;
        if (disks[i].refused)
            assert_fails(status, CLO_IO, err, "cannot be written");
        else
            assert_ok(status, err);
        assert_true(clo_file_write(file, "release", 7));
        assert_ok(clo_file_commit(file, &err), err);
        clo_file_close(file);
        assert_int_equal(stat(path, &facts), 0);
        assert_int_equal(facts.st_size, 7);
        assert_true(facts.st_blocks * 512 < 1 << 19); /* the rest was given back */
    }
}

/* ---- what a release takes at most --------------------------------------------------------- */

enum { ROWS = 250, COLS = 40 };

static void write_rows(const char *path)
{
    FILE *const out = fopen(path, "w");
    assert_non_null(out);
    for (int j = 0; j < COLS; j++)
        fprintf(out, "%sa column \\\"%d\\\" with a name that is rather long", j ? "," : "", j);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLS; j++)
            fprintf(out, "%s%.9g", j ? "," : "\n", 0.1 * ((i * 7 + j * 13) % 19 - 9) / COLS);
    assert_int_equal(fclose(out), 0);
}

/* "clusters=2 dim=1" -> "clusters=150 dim=8" */
static void enlarge(const char *settings, char *out)
{
    static const char *const small[] = { "clusters=2", "dim=1" }, *const large[] = { "clusters=150",
                                                                                     "dim=8" };
    *out = 0;
    while (*settings) {
        bool found = false;
        for (int i = 0; i < 2 && !found; i++)
            if (strncmp(settings, small[i], strlen(small[i])) == 0) {
                strcat(out, large[i]);
                settings += strlen(small[i]);
                found = true;
            }
        if (!found) strncat(out, settings++, 1);
    }
}

/* How many bytes the release has; 0: there is none with these settings. */
static size_t measure(const char *path, const char *mechanism, const char *settings,
                      const char *more)
{
    clo_job *job = NULL;
    const clo_release *release = NULL;
    clo_error err;
    size_t length = 0;
    assert_ok(clo_job_new(&job, &err), err);
    assert_ok(clo_job_set(job, "data", path, &err), err);
    assert_ok(clo_job_set(job, "mechanism", mechanism, &err), err);
    set(job, settings);
    set(job, more);
    set(job, "epsilon=200 delta=1e-3 no-ledger=yes yes=yes threads=1 seed=room accept=asymptotic");
    clo_status status = clo_job_prepare(job, &err);
    const uint64_t most = clo_job_release_bytes(job);
    if (!status) {
        assert_ok(clo_job_release(job, &release, &err), err);
        (void)clo_job_json(job, &length);
        if (length > most)
            fail_msg("%s %s %s takes %zu bytes, and %llu were said", mechanism, settings, more,
                     length, (unsigned long long)most);
        assert_true(most < 40 * length + (1 << 17)); /* nor is a disk refused that has room */
    }
    clo_job_free(job);
    return length;
}

static void no_release_takes_more_than_was_said(void **state)
{
    const place *const p = *state;
    char path[300], large[300];
    int count = 0, enlarged = 0;
    snprintf(path, sizeof path, "%s/wide.csv", p->folder);
    write_rows(path);
    for (size_t i = 0; i < SMALL_RUNS; i++) {
        const char *const name = small_runs[i].mechanism, *const few = small_runs[i].settings;
        const bool bounds = strcmp(name, "bounds/quantile") == 0;
        count += measure(path, name, few, bounds ? "of=columns norm=1" : "norm=1") > 0;
        if (strcmp(name, "subspaces/gibbs") == 0 || strcmp(name, "kmeans/highdim") == 0 ||
            strcmp(name, "kmedian/highdim") == 0 || strcmp(name, "subspaces/sulq") == 0)
            continue; /* minutes */
        enlarge(few, large);
        enlarged += strcmp(few, large) != 0 && measure(path, name, large, "norm=1") > 0;
    }
    print_message("# %d methods, %d of them with large releases\n", count, enlarged);
    assert_true(count >= 15 && enlarged >= 8);
    assert_true(
        measure(path, "kmeans/lloyd", "clusters=9 rounds=1", "norm=private norm-at-most=9") > 0);
}

#define WITH_PLACE(test) cmocka_unit_test_setup_teardown(test, make_place, remove_place)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_PLACE(nothing_is_charged_where_the_release_has_no_room),
        WITH_PLACE(a_file_has_the_room_that_it_reserved_or_is_refused),
        WITH_PLACE(no_release_takes_more_than_was_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
