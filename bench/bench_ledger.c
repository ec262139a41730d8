/*
 * bench_ledger.c - how many durable charges a second, against SQLite alone.
 *
 *   bench_ledger [FOLDER [ROUNDS [CHARGES]]]
 *
 * The bare loop is the least that a counter of charges could be: in the same mode (a rollback
 * journal that is deleted, synchronous=EXTRA), on the same disk, statements prepared once, it adds
 * a row and a total in one transaction.  What the ledger does beyond that - decide, hash, count,
 * keep tokens apart - should be small beside what the disk takes; but the anchor is a second file
 * to be synced (ledger.T9), where SQLite's transaction has about five syncs.  The two alternate,
 * block by block, so that a disk that changes its mood changes it for both; the medians of the
 * blocks are compared, and the ratio is the median of those of neighbouring blocks, with its
 * quartiles.  Each charge also signs a release of a few thousand bytes, as a run does (ledger.T14).
 */
#include "ledger/ledger_internal.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MAX_ROUNDS = 1000 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void stop(const char *why)
{
    fprintf(stderr, "bench_ledger: %s\n", why);
    exit(70);
}

/* ---- SQLite alone ------------------------------------------------------------ */

typedef struct bare {
    sqlite3 *db;
    sqlite3_stmt *steps[4]; /* begin, insert, add up, commit */
} bare;

static bare open_bare(const char *path)
{
    static const char *const texts[] = {
        "BEGIN IMMEDIATE", "INSERT INTO charge (time, name, epsilon) VALUES (?, 'd', 1)",
        "UPDATE total SET epsilon = epsilon + 1, charges = charges + 1", "COMMIT"
    };
    bare b = { .db = NULL };
    if (sqlite3_open(path, &b.db) != SQLITE_OK ||
        sqlite3_exec(b.db,
                     "PRAGMA journal_mode = DELETE; PRAGMA synchronous = EXTRA;"
                     "CREATE TABLE charge (sequence INTEGER PRIMARY KEY, time INTEGER, name TEXT, "
                     "epsilon INTEGER) STRICT;"
                     "CREATE TABLE total (epsilon INTEGER, charges INTEGER) STRICT;"
                     "INSERT INTO total VALUES (0, 0)",
                     NULL, NULL, NULL) != SQLITE_OK)
        stop(sqlite3_errmsg(b.db));
    for (int i = 0; i < 4; i++)
        if (sqlite3_prepare_v2(b.db, texts[i], -1, &b.steps[i], NULL) != SQLITE_OK)
            stop(sqlite3_errmsg(b.db));
    return b;
}

static double time_bare(bare *b, int charges)
{
    const double start = now();
    for (int n = 0; n < charges; n++)
        for (int i = 0; i < 4; i++) {
            if (i == 1) sqlite3_bind_int64(b->steps[i], 1, (int64_t)time(NULL));
            if (sqlite3_step(b->steps[i]) != SQLITE_DONE) stop(sqlite3_errmsg(b->db));
            sqlite3_reset(b->steps[i]);
        }
    return charges / (now() - start);
}

static void close_bare(bare *b)
{
    for (int i = 0; i < 4; i++) sqlite3_finalize(b->steps[i]);
    sqlite3_close(b->db);
}

/* ---- the ledger ---------------------------------------------------------------- */

static double time_ledger(clo_ledger *ledger, int charges)
{
    const clo_i_charge charge = { .dataset = "d",
                                  .mechanism = "kmeans/lloyd",
                                  .relation = "replace",
                                  .loss = { 0x1p-20, 0 },
                                  .rho = 1 };
    static const char release[4000];
    const double start = now();
    for (int n = 0; n < charges; n++) {
        uint8_t signature[CLO_SIGNATURE_BYTES];
        clo_i_receipt receipt;
        clo_error err;
        if (clo_i_ledger_charge(ledger, &charge, &receipt, &err)) stop(err.message);
        if (clo_ledger_sign(ledger, release, sizeof release, signature, &err)) stop(err.message);
    }
    return charges / (now() - start);
}

/* ---- both ---------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The value that so many quarters of the others are not above; sorts them. */
static double quartile(double *values, int count, int quarters)
{
    qsort(values, (size_t)count, sizeof *values, compare);
    return values[quarters * (count - 1) / 4];
}

int main(int argc, char **argv)
{
    const char *const base = argc > 1 ? argv[1] : "/tmp";
    const int rounds = argc > 2 ? atoi(argv[2]) : 21;
    const int charges = argc > 3 ? atoi(argv[3]) : 50;
    double with[MAX_ROUNDS], without[MAX_ROUNDS], ratios[MAX_ROUNDS];
    char folder[3000], path[4000], command[3100], config[PATH_MAX];
    clo_ledger *ledger = NULL;
    clo_error err;
    if (argc > 4 || rounds < 1 || rounds > MAX_ROUNDS || charges < 1) {
        fprintf(stderr, "usage: bench_ledger [FOLDER [ROUNDS [CHARGES]]]\n");
        return 2;
    }
    snprintf(folder, sizeof folder, "%.2900s/cloister-bench-XXXXXX", base);
    if (!mkdtemp(folder) || !realpath(folder, config)) stop("the folder cannot be written");
    setenv("XDG_CONFIG_HOME", config, 1); /* which must be absolute */
    snprintf(path, sizeof path, "%s/bare.db", folder);
    bare b = open_bare(path);
    snprintf(path, sizeof path, "%s/ledger.db", folder);
    if (clo_ledger_create(path, CLO_LEDGER_OPEN, &ledger, &err) ||
        clo_ledger_declare(ledger, "d", (clo_loss){ 1000, 0 }, &err))
        stop(err.message);
    time_bare(&b, charges); /* to warm up */
    time_ledger(ledger, charges);
    for (int i = 0; i < rounds; i++) {
        without[i] = time_bare(&b, charges);
        with[i] = time_ledger(ledger, charges);
        ratios[i] = with[i] / without[i];
    }
    if (clo_ledger_verify(ledger, &err)) stop(err.message);
    clo_ledger_close(ledger);
    close_bare(&b);
    printf("SQLite alone %8.1f transactions/s\n", quartile(without, rounds, 2));
    printf("the ledger   %8.1f signed charges/s\n", quartile(with, rounds, 2));
    printf("ratio        %8.3f, quartiles %.3f and %.3f (goal: at least 0.7)\n",
           quartile(ratios, rounds, 2), quartile(ratios, rounds, 1), quartile(ratios, rounds, 3));
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command) ? 70 : 0;
}
