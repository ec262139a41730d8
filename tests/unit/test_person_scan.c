/*
 * test_person_scan.c - persons whose rows are not held: the same rows of each stay as in memory,
 * whatever room there is to find that out (flow.T3, bound.T3), and a run gives the same bytes; what
 * there is no room for is refused before anything is spent.
 */
#include "pipeline.h"
#include "scanned.h"
#include "bound/bounded.h"

enum { ROWS = 1500, COLS = 3, PERSONS = 200 };
static const double LIMIT = 64 << 20;

/* ---- files ------------------------------------------------------------------------------- */

/* Some have many rows and some one; 0 is nobody. */
static size_t person_of(size_t row)
{
    return row % 17 == 3 ? 0 : 1 + row * row % PERSONS;
}

/* Some rows of a person are equal; everything of person 2 is null, and some of others. */
static double cell_of(size_t row, size_t col)
{
    if (person_of(row) == 2 || (row % 29 == 4 && col == 1)) return NAN;
    return (person_of(row) % 3 == col ? 0.5 : -0.2) + 1e-3 * (double)((row % 7 * (col + 1)) % 5);
}

static void write_people(const char *path, size_t first, size_t count)
{
    FILE *const out = fopen(path, "w");
    assert_non_null(out);
    fprintf(out, "a,who,b,c\n");
    for (size_t i = first; i < first + count; i++)
        for (size_t j = 0; j < COLS; j++) {
            if (j == 1 && person_of(i)) fprintf(out, "%zu", person_of(i));
            if (j == 1) fputc(',', out);
            if (!isnan(cell_of(i, j))) fprintf(out, "%.17g", cell_of(i, j));
            fputc(j + 1 < COLS ? ',' : '\n', out);
        }
    assert_int_equal(fclose(out), 0);
}

static void write_people_npy(const char *path, bool fortran)
{
    static double cells[ROWS * (COLS + 1)];
    for (size_t i = 0; i < ROWS; i++) {
        double *const row = cells + i * (COLS + 1);
        row[0] = cell_of(i, 0);
        row[1] = person_of(i) ? (double)person_of(i) : NAN;
        row[2] = cell_of(i, 1);
        row[3] = cell_of(i, 2);
    }
    write_npy(path, cells, ROWS, COLS + 1, fortran);
}

static int make_files(void **state)
{
    if (make_scanned(state)) return -1;
    const place *const p = *state;
    write_people(at(p, "all.csv"), 0, ROWS);
    write_people(at(p, "part-0.csv"), 0, 700);
    write_people(at(p, "part-1.csv"), 700, ROWS - 700);
    write_gzip(at(p, "all.csv"), at(p, "all.csv.gz"));
    write_people_npy(at(p, "all.npy"), false);
    write_people_npy(at(p, "columns.npy"), true);
    write_gzip(at(p, "all.npy"), at(p, "all.npy.gz"));
    return 0;
}

#define WITH_FILES(test) cmocka_unit_test_setup_teardown(test, make_files, remove_place)

/* ---- the same bytes ------------------------------------------------------------------------ */

#define OF_A_PERSON " unit=who rows-per-unit=3 delta=1e-6"
static const char LLOYD[] = "mechanism=kmeans/lloyd clusters=2 norm=1" OF_A_PERSON;

static void persons_give_the_same_bytes(void **state)
{
    static const char *const runs[] = {
        LLOYD,
        "mechanism=kmeans/local clusters=2 norm=1 relation=add-remove" OF_A_PERSON,
        "mechanism=subspace/gaussian dim=2 norm=1 missing=fill" OF_A_PERSON,
        "mechanism=bounds/quantile norm=5" OF_A_PERSON,
        "mechanism=kmeans/lloyd clusters=3 center=private norm=private norm-at-most=4 "
        "yes=yes" OF_A_PERSON,
        "mechanism=kmeans/lloyd clusters=2 norm=1 unit=who rows-per-unit=1 delta=1e-6",
        "mechanism=kmeans/lloyd clusters=2 norm=1 unit=who rows-per-unit=9000 delta=1e-6",
    };
    const char *const path = at(*state, "all.csv");
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++)
        assert_same_release(path, "", path, "memory=64M", runs[i]);
}

static void persons_of_every_format_give_the_same_bytes(void **state)
{
    const place *const p = *state;
    static const char npy[] =
        "mechanism=kmeans/lloyd clusters=2 norm=1 unit=2 rows-per-unit=3 delta=1e-6";
    char list[700];
    snprintf(list, sizeof list, "%s\n%s", at(p, "part-0.csv"), at(p, "part-1.csv"));
    assert_same_release(at(p, "all.csv"), "", at(p, "all.csv.gz"), "memory=64M", LLOYD);
    assert_same_release(at(p, "all.csv"), "", list, "memory=64M", LLOYD);
    assert_same_release(at(p, "all.csv"), "", list, "", LLOYD);
    assert_same_release(at(p, "all.npy"), "", at(p, "all.npy"), "memory=64M", npy);
    assert_same_release(at(p, "all.npy"), "", at(p, "all.npy.gz"), "memory=64M", npy);
    assert_same_release(at(p, "all.npy"), "", at(p, "columns.npy"), "memory=64M", npy);
}

/* More persons than there is room for at once: several passes find out which rows stay. */
static void many_persons_give_the_same_bytes(void **state)
{
    const char *const path = at(*state, "many.csv");
    FILE *const out = fopen(path, "w");
    assert_non_null(out);
    fprintf(out, "who,a\n");
    for (size_t i = 0; i < 500000; i++)
        fprintf(out, "%zu,0.%zu\n", i * 7919 % 450001, 1 + i * 37 % 997);
    assert_int_equal(fclose(out), 0);
    assert_same_release(path, "", path, "memory=64M",
                        "mechanism=kmeans/lloyd clusters=2 norm=1 rounds=2 unit=who "
                        "rows-per-unit=1 delta=1e-6");
}

/* ---- the same rows (flow.T3) ---------------------------------------------------------------- */

static double cells[ROWS * COLS], sound[ROWS * COLS];
static uint64_t persons[ROWS];
static uint8_t nulls[ROWS];

static void fill_cells(void)
{
    for (size_t i = 0; i < ROWS; i++) {
        persons[i] = person_of(i);
        nulls[i] = false;
        for (size_t j = 0; j < COLS; j++) {
            cells[i * COLS + j] = cell_of(i, j);
            sound[i * COLS + j] = isnan(cell_of(i, j)) ? 0 : cell_of(i, j);
            nulls[i] = nulls[i] || isnan(cell_of(i, j));
        }
    }
}

/* Shows all rows, some at a time, until the chooser has seen enough of them; in how many passes. */
static size_t let_choose(clo_i_chooser *chooser, const clo_bounded *all, const clo_table *table)
{
    size_t passes = 0;
    do {
        for (size_t first = 0; first < ROWS; first += 137) {
            clo_bounded part = *all;
            part.cells += first * COLS;
            part.rows = ROWS - first < 137 ? ROWS - first : 137;
            clo_i_chooser_look(chooser, &part, table, first, nulls + first);
        }
        passes++;
    } while (!clo_i_chooser_end(chooser));
    return passes;
}

static void assert_same_rows(const clo_bounded *all, const uint8_t *bits, const clo_bounded *kept)
{
    size_t next = 0;
    for (size_t i = 0; i < ROWS; i++) {
        if (!(bits[i / 8] >> i % 8 & 1)) continue;
        assert_true(next < clo_i_bounded_rows(kept));
        assert_memory_equal(clo_i_bounded_row(all, i).cells, clo_i_bounded_row(kept, next++).cells,
                            COLS * sizeof(int32_t));
    }
    assert_int_equal(next, clo_i_bounded_rows(kept));
}

/* With room for so many candidates. */
static size_t choose_with(uint64_t most, size_t candidates, const clo_bounded *all,
                          const clo_bounded *kept, const clo_table *table)
{
    enum { CANDIDATE_BYTES = 36 };
    uint8_t bits[ROWS / 8 + 1] = { 0 };
    clo_i_chooser *chooser = NULL;
    clo_persons found, there = clo_i_bounded_persons(kept);
    clo_error err;
    assert_ok(
        clo_i_chooser_new((uint64_t)candidates * CANDIDATE_BYTES, ROWS, most, bits, &chooser, &err),
        err);
    const size_t passes = let_choose(chooser, all, table);
    assert_int_equal(clo_i_chooser_kept(chooser, &found), clo_i_bounded_rows(kept));
    assert_int_equal(found.count, there.count);
    assert_true(found.sum == there.sum);
    clo_i_chooser_free(chooser);
    assert_same_rows(all, bits, kept);
    return passes;
}

static void the_same_rows_stay_whatever_the_room(void **state)
{
    clo_domain domain = ball(COLS, 1, CLO_ADD_REMOVE);
    const clo_matrix view = { cells, ROWS, COLS, COLS };
    clo_table *table = NULL;
    clo_error err;
    (void)state;
    fill_cells();
    clo_bounded *const all = bounded_from(sound, ROWS, &domain);
    assert_ok(clo_table_wrap_units(view, persons, CLO_MISSING_NULL, &table, &err), err);
    domain.unit = "who";
    for (uint64_t most = 1; most <= 12; most += most / 4 + 1) {
        clo_bounded *kept = NULL;
        domain.rows_per_unit = most;
        assert_ok(clo_bound(table, &domain, &kept, &err), err);
        assert_int_equal(choose_with(most, ROWS, all, kept, table), 1);
        for (size_t candidates = 4 * (size_t)(most + 1); candidates < ROWS;
             candidates += candidates / 3)
            (void)choose_with(most, candidates, all, kept, table);
        assert_true(choose_with(most, 4 * (size_t)(most + 1), all, kept, table) > 3);
        clo_bounded_free(kept);
    }
    clo_table_free(table);
    clo_bounded_free(all);
}

/* ---- from files ----------------------------------------------------------------------------- */

typedef struct seen {
    size_t rows;
    uint64_t sum; /* which knows their order */
} seen;

static clo_status see(void *user, const clo_bounded *part, clo_error *err)
{
    seen *const s = user;
    (void)err;
    for (size_t i = 0; i < clo_i_bounded_rows(part); i++) {
        const clo_row row = clo_i_bounded_row(part, i);
        s->rows++;
        for (size_t e = 0; e < row.count; e++)
            s->sum += (uint64_t)(int64_t)row.cells[e] * (s->rows * 4 + e);
    }
    return CLO_OK;
}

static const uint8_t KEY[CLO_UNIT_KEY_BYTES] = { 5 };

static clo_table *scanned(const char *path)
{
    clo_read_options options = clo_read_options_default();
    clo_table *table = NULL;
    clo_error err;
    options.unit = "who";
    options.unit_key = KEY;
    assert_ok(clo_table_scan(&path, 1, &options, (uint64_t)LIMIT, &table, &err), err);
    return table;
}

static clo_domain of_persons(void)
{
    clo_domain domain = ball(COLS, 1, CLO_REPLACE);
    domain.unit = "who";
    domain.rows_per_unit = 2;
    return domain;
}

static clo_bounded *bounded_and_seen(clo_table *table, seen *found)
{
    const clo_domain domain = of_persons();
    clo_bounded *data = NULL;
    clo_error err;
    assert_ok(clo_bound(table, &domain, &data, &err), err);
    clo_table_free(table);
    *found = (seen){ 0, 0 };
    assert_ok(clo_i_bounded_each(data, see, found, &err), err);
    assert_int_equal(found->rows, clo_i_bounded_rows(data));
    assert_int_equal(found->rows, clo_i_bounded_slots(data));
    return data;
}

static clo_table *held(const char *path)
{
    clo_read_options options = clo_read_options_default();
    clo_table *table = NULL;
    clo_error err;
    options.unit = "who";
    options.unit_key = KEY;
    assert_ok(clo_table_read(path, &options, &table, &err), err);
    return table;
}

static void persons_are_counted_as_in_memory(void **state)
{
    const char *const path = at(*state, "all.csv");
    seen flowing, kept;
    clo_bounded *const one = bounded_and_seen(scanned(path), &flowing);
    clo_bounded *const other = bounded_and_seen(held(path), &kept);
    const clo_persons a = clo_i_bounded_persons(one), b = clo_i_bounded_persons(other);
    assert_true(a.count > 20 && a.count == b.count && a.sum == b.sum);
    assert_true(flowing.rows == kept.rows && flowing.sum == kept.sum);
    clo_bounded_free(one);
    clo_bounded_free(other);
}

/* fold.T5: each person with one of several ranks that share a file. */
static void parts_of_the_persons_are_those_persons(void **state)
{
    const char *const path = at(*state, "all.csv");
    const clo_domain domain = of_persons();
    clo_error err;
    for (size_t part = 0; part < 3; part++) {
        seen found[2];
        clo_table *const tables[] = { scanned(path), held(path) };
        clo_bounded *data[2];
        for (int i = 0; i < 2; i++) {
            assert_ok(clo_table_keep_persons(tables[i], part, 3, &err), err);
            data[i] = bounded_and_seen(tables[i], &found[i]);
        }
        assert_true(found[0].rows > 0 && found[0].rows == found[1].rows);
        assert_true(found[0].sum == found[1].sum);
        clo_bounded_free(data[0]);
        clo_bounded_free(data[1]);
    }
    clo_table *const table = scanned(path);
    clo_bounded *data = NULL;
    assert_fails(clo_table_keep_persons(table, 3, 3, &err), CLO_ARGUMENT, err, "none of them");
    assert_ok(clo_bound(table, &domain, &data, &err), err);
    assert_fails(clo_table_keep_persons(table, 0, 3, &err), CLO_ARGUMENT, err, "once");
    clo_bounded_free(data);
    clo_table_free(table);
}

/* flow.T2: what is found out about persons is of the rows that were scanned, or of none. */
static void a_file_that_changes_before_it_is_bounded_is_noticed(void **state)
{
    static const char *const more[] = { "0.5,3,0.1,0.2\n", "0.5,201,0.1,0.2\n0.5,202,0.1,0.2\n" };
    const clo_domain domain = of_persons();
    for (size_t i = 0; i < 2; i++) {
        const char *const path = at(*state, "few.csv");
        write_people(path, 0, i ? 0 : 30);
        clo_table *const table = scanned(path);
        FILE *const out = fopen(path, "a");
        clo_bounded *data = NULL;
        clo_error err;
        for (size_t repeat = 0; repeat < 20; repeat++) fputs(more[i], out);
        assert_int_equal(fclose(out), 0);
        assert_fails(clo_bound(table, &domain, &data, &err), CLO_IO, err, "were changed");
        assert_null(data);
        clo_table_free(table);
    }
}

static void a_file_that_changes_after_it_was_bounded_is_noticed(void **state)
{
    const char *const path = at(*state, "few.csv");
    write_people(path, 0, 30);
    seen found;
    clo_bounded *const data = bounded_and_seen(scanned(path), &found);
    FILE *const out = fopen(path, "a");
    clo_error err;
    for (size_t i = 0; i < 99; i++) fprintf(out, "0.5,77,0.1,0.2\n");
    assert_int_equal(fclose(out), 0);
    assert_fails(clo_i_bounded_each(data, see, &found, &err), CLO_IO, err, "were changed");
    clo_bounded_free(data);
}

/* ---- what is refused ------------------------------------------------------------------------- */

static void what_there_is_no_room_for_is_refused_before_the_charge(void **state)
{
    const place *const p = *state;
    const char *const rows = at(p, "rows.npy");
    char header[119];
    assert_refused(p, at(p, "all.csv"),
                   "mechanism=kmeans/lloyd clusters=2 norm=1 unit=who rows-per-unit=900000 "
                   "memory=64M yes=yes",
                   CLO_MEMORY, "so many rows per person need");
    /* 20,000,000 rows of two bytes, all zero, of which the disk knows nothing. */
    FILE *const out = fopen(rows, "w");
    snprintf(header, sizeof header, "%-117s\n",
             "{'descr': '|u1', 'fortran_order': False, 'shape': (20000000, 2), }");
    fwrite("\x93NUMPY\x01\x00\x76\x00", 1, 10, out);
    fwrite(header, 1, 118, out);
    assert_int_equal(fclose(out), 0);
    assert_int_equal(truncate(rows, 128 + 40000000), 0);
    assert_refused(p, rows,
                   "mechanism=kmeans/lloyd clusters=2 norm=1 unit=1 rows-per-unit=2 memory=64M "
                   "yes=yes",
                   CLO_MEMORY, "too small for so many rows with persons");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FILES(persons_give_the_same_bytes),
        WITH_FILES(persons_of_every_format_give_the_same_bytes),
        WITH_FILES(many_persons_give_the_same_bytes),
        cmocka_unit_test(the_same_rows_stay_whatever_the_room),
        WITH_FILES(persons_are_counted_as_in_memory),
        WITH_FILES(parts_of_the_persons_are_those_persons),
        WITH_FILES(a_file_that_changes_before_it_is_bounded_is_noticed),
        WITH_FILES(a_file_that_changes_after_it_was_bounded_is_noticed),
        WITH_FILES(what_there_is_no_room_for_is_refused_before_the_charge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
