/*
 * test_scan.c - rows that are not held: a run reads its files again for every question, and gives
 * the release that it would give from memory, byte for byte (flow.T1); files that change meanwhile
 * end it (flow.T2); what cannot be done so is refused before anything is spent.
 */
#include "pipeline.h"
#include "scanned.h"
#include "bound/bound.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ROWS = 900, COLS = 4, WIDE_ROWS = 1100, WIDE_COLS = 1024 };
static double records[ROWS * COLS];

/* ---- files ------------------------------------------------------------------------------- */

/* Some rows as CSV; every 50th is null, and some lines are blank. */
static void write_csv(const char *path, size_t first, size_t count)
{
    FILE *const out = fopen(path, "w");
    assert_non_null(out);
    fprintf(out, "a,b,c,d\n");
    for (size_t i = first; i < first + count; i++) {
        for (size_t j = 0; j < COLS; j++) {
            if (i % 50 != 7 || j != 1) fprintf(out, "%.17g", records[i * COLS + j]);
            fputc(j + 1 < COLS ? ',' : '\n', out);
        }
        if (i % 40 == 3) fputc('\n', out);
    }
    assert_int_equal(fclose(out), 0);
}

static void write_libsvm(const char *path)
{
    FILE *const out = fopen(path, "w");
    assert_non_null(out);
    for (size_t i = 0; i < ROWS; i++) {
        fprintf(out, "%zu", i % 2);
        for (size_t j = 0; j < COLS; j++)
            if ((i + j) % 3) fprintf(out, " %zu:%.17g", j + 1, records[i * COLS + j]);
        fprintf(out, i % 60 == 9 ? " 999:1\n" : "\n"); /* beyond the columns: a null record */
    }
    assert_int_equal(fclose(out), 0);
}

/* Of more than one part, in 32 MiB of memory. */
static void write_wide(const char *path)
{
    double *const cells = calloc((size_t)WIDE_ROWS * WIDE_COLS, sizeof *cells);
    assert_non_null(cells);
    for (size_t i = 0; i < WIDE_ROWS; i++)
        for (size_t j = 0; j < 16; j++)
            cells[i * WIDE_COLS + (i * 7 + j * 61) % WIDE_COLS] =
                (i % 2 ? 0.2 : -0.2) + 1e-4 * (double)j;
    cells[5 * WIDE_COLS] = NAN;
    write_npy(path, cells, WIDE_ROWS, WIDE_COLS, false);
    free(cells);
}

static int make_files(void **state)
{
    if (make_scanned(state)) return -1;
    const place *const p = *state;
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < COLS; j++)
            records[i * COLS + j] =
                (i % 3 == j % 3 ? 0.5 : -0.2) + 1e-4 * (double)((i * 37 + j * 11) % 100);
    write_csv(at(p, "all.csv"), 0, ROWS);
    write_csv(at(p, "part-0.csv"), 0, 300);
    write_csv(at(p, "part-1.csv"), 300, 10);
    write_csv(at(p, "part-2.csv"), 310, ROWS - 310);
    write_npy(at(p, "all.npy"), records, ROWS, COLS, false);
    write_npy(at(p, "columns.npy"), records, ROWS, COLS, true);
    write_gzip(at(p, "all.csv"), at(p, "all.csv.gz"));
    write_gzip(at(p, "all.npy"), at(p, "all.npy.gz"));
    write_libsvm(at(p, "all.svm"));
    return 0;
}

#define WITH_FILES(test) cmocka_unit_test_setup_teardown(test, make_files, remove_place)

/* ---- runs --------------------------------------------------------------------------------- */

static const char *const SUMS[] = {
    "mechanism=kmeans/lloyd clusters=3 norm=1",
    "mechanism=kmeans/local clusters=3 norm=1",
    "mechanism=kmeans/highdim clusters=3 norm=1",
    "mechanism=kmedian/highdim clusters=3 norm=1 directions=2",
    "mechanism=kmeans/grid clusters=2 norm=1 side=3",
    "mechanism=kmeans/sparse clusters=2 norm=1 rounds=1",
    "mechanism=kmedian/local clusters=2 norm=1",
    "mechanism=subspaces/moments clusters=2 dim=1 norm=1",
    "mechanism=subspaces/sulq clusters=2 dim=1 norm=1",
    "mechanism=subspace/gaussian dim=2 norm=1",
    "mechanism=bounds/quantile norm=5",
    "mechanism=kmeans/lloyd clusters=3 norm=1 relation=add-remove",
    "mechanism=kmeans/lloyd clusters=3 bounds=-1,1",
    "mechanism=kmeans/lloyd clusters=3 center=private norm=private norm-at-most=4 yes=yes",
    "mechanism=kmeans/lloyd clusters=3 norm=1 missing=fill",
};
enum { SUM_COUNT = sizeof SUMS / sizeof *SUMS };

static void every_sum_gives_the_same_bytes(void **state)
{
    for (size_t i = 0; i < SUM_COUNT; i++) {
        assert_same_release(at(*state, "all.csv"), "", at(*state, "all.csv"), "memory=64M",
                            SUMS[i]);
        assert_same_release(at(*state, "all.npy"), "", at(*state, "all.npy"), "memory=64M",
                            SUMS[i]);
    }
}

static void every_format_gives_the_same_bytes(void **state)
{
    const place *const p = *state;
    assert_same_release(at(p, "all.csv"), "", at(p, "all.csv.gz"), "memory=64M", SUMS[0]);
    assert_same_release(at(p, "all.npy"), "", at(p, "all.npy.gz"), "memory=64M", SUMS[0]);
    assert_same_release(at(p, "all.npy"), "", at(p, "columns.npy"), "memory=64M", SUMS[0]);
    assert_same_release(at(p, "all.npy"), "columns=4,2", at(p, "columns.npy"),
                        "columns=4,2 memory=64M", SUMS[0]);
    assert_same_release(at(p, "all.svm"), "cols=4", at(p, "all.svm"), "cols=4 memory=64M", SUMS[0]);
    assert_same_release(at(p, "all.svm"), "cols=4", at(p, "all.svm"), "cols=4 memory=64M",
                        SUMS[10]); /* written out in full */
}

static void several_files_are_one(void **state)
{
    const place *const p = *state;
    char list[1000];
    snprintf(list, sizeof list, "%s\n%s\n%s", at(p, "part-0.csv"), at(p, "part-1.csv"),
             at(p, "part-2.csv"));
    assert_same_release(at(p, "all.csv"), "", list, "", SUMS[0]);
    assert_same_release(at(p, "all.csv"), "", list, "memory=64M", SUMS[0]);
    assert_same_release(at(p, "all.csv"), "", at(p, "part-*.csv"), "", SUMS[0]);
    assert_same_release(at(p, "all.csv"), "", at(p, "part-?.csv"), "memory=64M threads=2", SUMS[0]);
    /* Arrays become numbers of one kind. */
    write_npy(at(p, "x-0.npy"), records, 400, COLS, false);
    write_npy(at(p, "x-1.npy"), records + 400 * COLS, ROWS - 400, COLS, true);
    assert_same_release(at(p, "all.npy"), "", at(p, "x-*.npy"), "", SUMS[0]);
    assert_same_release(at(p, "all.npy"), "", at(p, "x-*.npy"), "memory=64M", SUMS[0]);
}

/* One person's rows in two files are one person's. */
static void people_are_the_same_in_all_files(void **state)
{
    const place *const p = *state;
    char list[700];
    static const char unit[] =
        "mechanism=kmeans/lloyd clusters=2 norm=1 unit=a rows-per-unit=1 delta=1e-6";
    snprintf(list, sizeof list, "%s\n%s", at(p, "part-0.csv"), at(p, "part-2.csv"));
    write_csv(at(p, "both.csv"), 0, 300);
    FILE *const out = fopen(at(p, "both.csv"), "a"), *const in = fopen(at(p, "part-2.csv"), "r");
    int c;
    while ((c = fgetc(in)) != '\n') (void)c; /* its header */
    while ((c = fgetc(in)) != EOF) fputc(c, out);
    fclose(in);
    fclose(out);
    assert_same_release(at(p, "both.csv"), "", list, "", unit);
}

/* A window of text may have more rows than a part of bounded data. */
static void short_lines_give_the_same_bytes(void **state)
{
    const char *const path = at(*state, "short.csv");
    FILE *const out = fopen(path, "w");
    for (size_t i = 0; i < 300000; i++) fprintf(out, "%zu\n", i % 7);
    fclose(out);
    assert_same_release(path, "", path, "memory=64M",
                        "mechanism=kmeans/lloyd clusters=2 norm=5 rounds=2");
}

static void more_than_one_part_gives_the_same_bytes(void **state)
{
    const char *const wide = at(*state, "wide.npy");
    write_wide(wide);
    assert_same_release(wide, "threads=1", wide, "threads=1 memory=64M",
                        "mechanism=kmeans/lloyd clusters=2 norm=1 rounds=2");
    assert_same_release(wide, "threads=2", wide, "threads=2 memory=96M",
                        "mechanism=kmeans/lloyd clusters=2 rounds=1 center=private norm=private "
                        "norm-at-most=4 yes=yes");
}

/* ---- what changes ------------------------------------------------------------------------- */

/* Changes the file when a run is under way. */
typedef struct change {
    const char *path;
    enum { NOTHING, CELL, SHORTER, LONGER, GONE, NO_FILE, COLUMNS } kind;
    bool done;
} change;

static void rewrite(const char *path, off_t offset, const char *bytes)
{
    const int file = open(path, O_WRONLY);
    assert_true(file >= 0);
    assert_int_equal(pwrite(file, bytes, strlen(bytes), offset), strlen(bytes));
    close(file);
}

static bool make_change(void *user, double share)
{
    change *const c = user;
    struct stat facts;
    (void)share;
    if (c->done) return true;
    c->done = true;
    assert_int_equal(stat(c->path, &facts), 0);
    switch (c->kind) {
    case NOTHING:
        break;
    case CELL:
        rewrite(c->path, facts.st_size / 2, "7");
        break;
    case SHORTER:
        assert_int_equal(truncate(c->path, facts.st_size - 8), 0);
        break;
    case LONGER:
        rewrite(c->path, facts.st_size, "1,2,3,4\n");
        break;
    case GONE:
        assert_int_equal(unlink(c->path), 0);
        break;
    case NO_FILE:
        assert_int_equal(unlink(c->path), 0);
        assert_int_equal(mkdir(c->path, 0700), 0);
        break;
    case COLUMNS:
        rewrite(c->path, 0, "a,b;c,d\n1,2,3\n");
        break;
    }
    return true;
}

static void assert_ends(const place *p, const char *path, change c, const char *words)
{
    clo_run_options options = clo_run_options_default();
    const clo_release *release = NULL;
    const uint64_t before = charges_at(p);
    clo_job *const job =
        metered_on(p, path, "mechanism=kmeans/lloyd clusters=2 norm=1 rounds=3 memory=64M yes=yes");
    clo_error err;
    c.path = path;
    options.progress = make_change;
    options.user = &c;
    assert_ok(clo_job_set_run_options(job, &options, &err), err);
    if (words) {
        assert_fails(clo_job_release(job, &release, &err), CLO_IO, err, words);
        assert_null(strpbrk(err.message, "0123456789"));
        assert_null(clo_job_result(job));
    } else {
        assert_ok(clo_job_release(job, &release, &err), err);
    }
    assert_true(c.done);
    assert_int_equal(charges_at(p), before + 1); /* it was paid for, whatever came of it */
    clo_job_free(job);
}

static void a_file_that_changes_ends_the_run(void **state)
{
    static const char changed[] = "the data were changed while they were read";
    static const char gone[] = "the data can no longer be read";
    const place *const p = *state;
    assert_ends(p, at(p, "all.csv"), (change){ .kind = NOTHING }, NULL);
    assert_ends(p, at(p, "all.csv"), (change){ .kind = CELL }, changed);
    assert_ends(p, at(p, "part-0.csv"), (change){ .kind = SHORTER }, changed);
    assert_ends(p, at(p, "part-1.csv"), (change){ .kind = LONGER }, changed);
    assert_ends(p, at(p, "part-2.csv"), (change){ .kind = COLUMNS }, changed);
    assert_ends(p, at(p, "all.csv"), (change){ .kind = GONE }, gone);
    assert_ends(p, at(p, "all.csv.gz"), (change){ .kind = CELL }, changed);
    assert_ends(p, at(p, "all.npy.gz"), (change){ .kind = SHORTER }, changed);
    assert_ends(p, at(p, "columns.npy"), (change){ .kind = CELL }, changed);
    assert_ends(p, at(p, "columns.npy"), (change){ .kind = SHORTER }, changed);
    assert_ends(p, at(p, "all.npy"), (change){ .kind = LONGER }, changed);
    assert_ends(p, at(p, "part-0.csv"), (change){ .kind = NO_FILE }, gone);
}

/* Within the pass that is under way: what was read before the change is as it was. */
static void a_file_that_shrinks_under_the_reader_ends_the_run(void **state)
{
    const char *const wide = at(*state, "wide.npy");
    write_wide(wide);
    assert_ends(*state, wide, (change){ .kind = SHORTER },
                "the data were changed while they were read");
}

/* Of a large file most is read, and hashed, by several threads. */
static void a_large_file_that_changes_ends_the_run(void **state)
{
    const char *const wide = at(*state, "wide.npy");
    write_wide(wide);
    assert_ends(*state, wide, (change){ .kind = NOTHING }, NULL);
    assert_ends(*state, wide, (change){ .kind = CELL },
                "the data were changed while they were read");
}

/* ---- what is refused ------------------------------------------------------------------------ */

static void what_cannot_flow_is_refused_before_the_charge(void **state)
{
    const place *const p = *state;
    const char *const csv = at(p, "all.csv");
    assert_refused(p, csv,
                   "mechanism=kmeans/aggregate clusters=2 norm=1 accept=idealized "
                   "memory=64M",
                   CLO_UNSUPPORTED, "needs only sums: kmeans/density");
    assert_refused(p, csv,
                   "mechanism=subspaces/gibbs clusters=2 dim=1 norm=1 memory=64M "
                   "accept=asymptotic",
                   CLO_UNSUPPORTED, "subspaces/sulq");
    assert_refused(p, csv, "mechanism=kmeans/lloyd clusters=2 norm=1 memory=1M", CLO_ARGUMENT,
                   "at least");
    assert_refused(p, csv, "mechanism=kmeans/lloyd clusters=2 norm=1 memory=lots", CLO_ARGUMENT,
                   "512M");
    /* Of more threads LLVM's runtime has leaks of its own, which the sanitiser would tell. */
    assert_refused(p, csv, "mechanism=kmeans/lloyd clusters=2 norm=1 memory=32M threads=4",
                   CLO_MEMORY, "needs");
    assert_refused(p, at(p, "part-9*.csv"), "mechanism=kmeans/lloyd clusters=2 norm=1", CLO_IO,
                   "no file");
    assert_refused(p, at(p, "all.svm"),
                   "mechanism=kmeans/lloyd clusters=2 cols=4 memory=64M center=private "
                   "norm=private norm-at-most=4 yes=yes",
                   CLO_UNSUPPORTED, "center");
}

static void faults_of_a_file_are_told_before_the_charge(void **state)
{
    const place *const p = *state;
    static const char lloyd[] = "mechanism=kmeans/lloyd clusters=2 norm=1 memory=64M";
    FILE *const out = fopen(at(p, "part-2.csv"), "a");
    fprintf(out, "1,2,3\n");
    fclose(out);
    assert_refused(p, at(p, "part-*.csv"), lloyd, CLO_FORMAT, "3 cells instead of 4");
    assert_refused(p, at(p, "all.csv"),
                   "mechanism=kmeans/lloyd clusters=2 norm=1 memory=64M missing=refuse", CLO_FORMAT,
                   "line 10");
    assert_refused(p, at(p, "all.csv"),
                   "mechanism=kmeans/lloyd clusters=2 norm=1 memory=64M rows=5", CLO_DOMAIN, "900");
    rewrite(at(p, "part-1.csv"), 0, "a,b,C");
    assert_refused(p, at(p, "part-[01].csv"), lloyd, CLO_FORMAT, "has another name");
    assert_refused(p, at(p, "part-[01].csv"), "mechanism=kmeans/lloyd clusters=2 norm=1",
                   CLO_FORMAT, "has another name");
    rewrite(at(p, "part-1.csv"), 0, "1,2,3,4");
    assert_refused(p, at(p, "part-[01].csv"), lloyd, CLO_FORMAT, "one has a header");
}

/* Two parts of text are a column of text where one of them alone would not be. */
static void columns_of_text_are_those_of_all_files(void **state)
{
    const place *const p = *state;
    static const char lloyd[] = "mechanism=kmeans/lloyd clusters=2 norm=1";
    FILE *out = fopen(at(p, "t-0.csv"), "w");
    fprintf(out, "a,b\n1,2\n1,2\n1,x\n");
    fclose(out);
    out = fopen(at(p, "t-1.csv"), "w");
    fprintf(out, "a,b\n1,x\n1,x\n1,x\n");
    fclose(out);
    assert_refused(p, at(p, "t-*.csv"), lloyd, CLO_FORMAT, "'b' is text");
    out = fopen(at(p, "t-0.csv"), "a");
    fprintf(out, "1,2\n1,2\n1,2\n");
    fclose(out);
    char *const release = release_of(at(p, "t-*.csv"), lloyd, "memory=64M");
    free(release);
}

typedef struct found {
    size_t rows;
    int64_t sum;
} found;

static clo_status add_rows(void *user, const clo_bounded *part, clo_error *err)
{
    found *const f = user;
    (void)err;
    for (size_t i = 0; i < clo_i_bounded_rows(part); i++) {
        const clo_row row = clo_i_bounded_row(part, i);
        for (size_t e = 0; e < row.count; e++)
            f->sum += (int64_t)(e + 1 + (row.columns ? row.columns[e] : 0)) * row.cells[e];
    }
    f->rows += clo_i_bounded_rows(part);
    return CLO_OK;
}

/* One share of the files' rows, of which some may be null; out of memory, or not held. */
typedef enum way { SCANNED, ROWS_LATER, HELD, WAYS } way;

static clo_bounded *bounded_share(const char *const *paths, size_t count, way how, size_t first,
                                  size_t rows)
{
    clo_read_options options = clo_read_options_default();
    const clo_domain domain = ball(COLS, 1.5, CLO_ADD_REMOVE);
    clo_table *table = NULL;
    clo_bounded *data = NULL;
    clo_error err;
    options.cols = COLS;
    options.rows_later = how == ROWS_LATER;
    assert_ok(how == HELD ? clo_table_read_files(paths, count, &options, &table, &err)
                          : clo_table_scan(paths, count, &options, 64 << 20, &table, &err),
              err);
    assert_int_equal(clo_table_rows(table), ROWS);
    assert_ok(clo_table_keep(table, first, rows, &err), err);
    assert_int_equal(clo_table_rows(table), rows);
    assert_ok(clo_bound(table, &domain, &data, &err), err);
    clo_table_free(table);
    return data;
}

/* flow.T1 of the rows that one of several ranks answers for. */
static void a_share_of_the_rows_is_that_share(void **state)
{
    static const char *const names[][3] = { { "all.csv" },
                                            { "all.npy" },
                                            { "columns.npy" },
                                            { "all.csv.gz" },
                                            { "all.npy.gz" },
                                            { "all.svm" },
                                            { "part-0.csv", "part-1.csv", "part-2.csv" } };
    static const size_t ends[] = { 0, 0, 299, 305, 305, 600, ROWS };
    const place *const p = *state;
    for (size_t f = 0; f < sizeof names / sizeof *names; f++)
        for (size_t s = 0; s + 1 < sizeof ends / sizeof *ends; s++) {
            const char *paths[3];
            size_t count = 0;
            found sums[WAYS] = { { 0, 0 } };
            for (; count < 3 && names[f][count]; count++) paths[count] = at(p, names[f][count]);
            for (way how = 0; how < WAYS; how++) {
                clo_bounded *const data =
                    bounded_share(paths, count, how, ends[s], ends[s + 1] - ends[s]);
                clo_error err;
                assert_ok(clo_i_bounded_each(data, add_rows, &sums[how], &err), err);
                assert_int_equal(clo_i_bounded_rows(data), sums[how].rows);
                clo_bounded_free(data);
                assert_int_equal(sums[0].rows, sums[how].rows);
                assert_true(sums[0].sum == sums[how].sum);
            }
        }
}

/* flow.T2: also of a share. */
static void a_share_that_changes_is_noticed(void **state)
{
    const place *const p = *state;
    const char *const path = at(p, "all.npy");
    for (way how = SCANNED; how <= ROWS_LATER; how++) {
        clo_bounded *const data = bounded_share(&path, 1, how, 300, 300);
        found sum = { 0, 0 };
        clo_error err;
        assert_ok(clo_i_bounded_each(data, add_rows, &sum, &err), err);
        rewrite(path, 128 + 300 * COLS * 8, how == SCANNED ? "other" : "again");
        assert_fails(clo_i_bounded_each(data, add_rows, &sum, &err), CLO_IO, err, "were changed");
        clo_bounded_free(data);
    }
}

/* With rows_later, rows are looked at when some are kept, all of them even, and not before: a row
 * of somebody else's is none of ours, and one of ours is told by its number in the file. */
static void rows_are_looked_at_when_some_are_kept(void **state)
{
    const place *const p = *state;
    const char *const path = at(p, "all.npy");
    clo_read_options options = clo_read_options_default();
    const clo_domain domain = ball(COLS, 1.5, CLO_ADD_REMOVE);
    uint8_t digest[CLO_DIGEST_BYTES], expected[CLO_DIGEST_BYTES];
    clo_bounded *data = NULL;
    clo_table *table = NULL;
    clo_error err;
    records[410 * COLS] = NAN;
    write_npy(path, records, ROWS, COLS, false);
    options.rows_later = options.digest = true;
    options.missing = CLO_MISSING_REFUSE;
    assert_ok(clo_file_digest(path, expected, &err), err);
    assert_ok(clo_table_scan(&path, 1, &options, 1 << 26, &table, &err), err);
    assert_true(clo_table_digest(table, digest));
    assert_memory_equal(digest, expected, sizeof digest);
    assert_fails(clo_bound(table, &domain, &data, &err), CLO_ARGUMENT, err, "looked at yet");
    assert_ok(clo_table_keep(table, 0, 410, &err), err);
    assert_ok(clo_bound(table, &domain, &data, &err), err);
    assert_int_equal(clo_i_bounded_rows(data), 410);
    clo_bounded_free(data);
    clo_table_free(table);
    for (size_t all = 0; all < 2; all++) {
        assert_ok(clo_table_scan(&path, 1, &options, 1 << 26, &table, &err), err);
        assert_fails(all ? clo_table_keep(table, 0, ROWS, &err)
                         : clo_table_keep(table, 400, 100, &err),
                     CLO_FORMAT, err, "row 411, column 1");
        clo_table_free(table);
    }
    options.rows_later = false;
    assert_fails(clo_table_scan(&path, 1, &options, 1 << 26, &table, &err), CLO_FORMAT, err,
                 "row 411, column 1");
}

static void a_scan_is_for_a_run_alone(void **state)
{
    const char *const paths[] = { at(*state, "all.csv") };
    clo_read_options options = clo_read_options_default();
    clo_params *params = NULL;
    clo_solution *solution = NULL;
    clo_table *table = NULL;
    uint8_t *hashes = NULL;
    size_t count = 0;
    clo_error err;
    assert_ok(clo_table_scan(paths, 1, NULL, 1 << 26, &table, &err), err);
    assert_int_equal(clo_table_rows(table), ROWS);
    assert_int_equal(clo_table_cols(table), COLS);
    assert_string_equal(clo_table_column_name(table, 2), "c");
    assert_ok(clo_solver_params_new(clo_solver_find("kmeans"), &params, &err), err);
    assert_fails(clo_solve(params, table, NULL, &solution, &err), CLO_ARGUMENT, err,
                 "holds no rows");
    clo_params_free(params);
    clo_table_free(table);
    options.unit = "a";
    assert_ok(clo_table_scan(paths, 1, &options, 1 << 26, &table, &err), err);
    assert_fails(clo_table_persons(table, &hashes, &count, &err), CLO_ARGUMENT, err,
                 "holds no rows");
    clo_table_free(table);
    assert_fails(clo_table_scan(paths, 0, NULL, 1 << 26, &table, &err), CLO_ARGUMENT, err,
                 "no file");
    const char *const pipes[] = { "/dev/null" };
    assert_fails(clo_table_scan(pipes, 1, NULL, 1 << 26, &table, &err), CLO_UNSUPPORTED, err,
                 "only once");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FILES(every_sum_gives_the_same_bytes),
        WITH_FILES(every_format_gives_the_same_bytes),
        WITH_FILES(several_files_are_one),
        WITH_FILES(people_are_the_same_in_all_files),
        WITH_FILES(short_lines_give_the_same_bytes),
        WITH_FILES(more_than_one_part_gives_the_same_bytes),
        WITH_FILES(a_file_that_changes_ends_the_run),
        WITH_FILES(a_file_that_shrinks_under_the_reader_ends_the_run),
        WITH_FILES(a_large_file_that_changes_ends_the_run),
        WITH_FILES(what_cannot_flow_is_refused_before_the_charge),
        WITH_FILES(faults_of_a_file_are_told_before_the_charge),
        WITH_FILES(columns_of_text_are_those_of_all_files),
        WITH_FILES(a_share_of_the_rows_is_that_share),
        WITH_FILES(a_share_that_changes_is_noticed),
        WITH_FILES(rows_are_looked_at_when_some_are_kept),
        WITH_FILES(a_scan_is_for_a_run_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
