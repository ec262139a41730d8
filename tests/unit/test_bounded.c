/* Bounded data: blocks, coarser grids (bound.T2), column bounds, units (bound.T3), sparse rows. */
#include "pipeline.h"
#include "bytes_file.h"
#include "bound/bound.h"
#include <unistd.h>

enum { ROWS = 103, COLS = 3 };

static void fill(double *values, size_t count)
{
    for (size_t i = 0; i < count; i++) values[i] = sin((double)i * 12.9898) * 0.9;
}

static void load_all(const clo_bounded *data, size_t block_rows, int bits, double *out)
{
    const size_t cols = clo_i_bounded_domain(data)->cols;
    clo_error err;
    for (size_t b = 0; b < clo_i_block_count(data, block_rows); b++) {
        size_t rows = 0;
        assert_ok(
            clo_i_block_load(data, b, block_rows, bits, out + b * block_rows * cols, &rows, &err),
            err);
        assert_true(rows >= 1 && rows <= block_rows);
    }
}

static void blocks_of_any_size_hold_the_same_rows(void **state)
{
    double values[ROWS * COLS], whole[ROWS * COLS], pieces[ROWS * COLS];
    const clo_domain domain = ball(COLS, 1, CLO_REPLACE);
    (void)state;
    fill(values, ROWS * COLS);
    clo_bounded *const data = bounded_from(values, ROWS, &domain);
    assert_int_equal(clo_i_bounded_rows(data), ROWS);
    load_all(data, ROWS, 20, whole);
    for (size_t size = 1; size < 50; size += 7) {
        load_all(data, size, 20, pieces);
        assert_same_doubles(pieces, whole, ROWS * COLS);
    }
    clo_bounded_free(data);
}

static void a_coarser_grid_truncates_toward_zero(void **state)
{
    double values[ROWS * COLS], fine[ROWS * COLS], coarse[ROWS * COLS];
    const clo_domain domain = ball(COLS, 1, CLO_REPLACE);
    (void)state;
    fill(values, ROWS * COLS);
    clo_bounded *const data = bounded_from(values, ROWS, &domain);
    load_all(data, 50, CLO_GRID_BITS, fine);
    for (int bits = 1; bits < CLO_GRID_BITS; bits += 4) {
        load_all(data, 50, bits, coarse);
        for (size_t i = 0; i < ROWS; i++) {
            double square = 0;
            for (size_t j = 0; j < COLS; j++) {
                const double r = coarse[i * COLS + j];
                assert_true(r == trunc(ldexp(fine[i * COLS + j], bits - CLO_GRID_BITS)));
                square += r * r;
            }
            assert_true(square <= ldexp(1, 2 * bits)); /* bound.T2 */
        }
    }
    clo_bounded_free(data);
}

static void norms_are_exact(void **state)
{
    double values[ROWS * COLS], fine[ROWS * COLS];
    uint64_t squares[ROWS];
    size_t rows = 0;
    clo_error err;
    const clo_domain domain = ball(COLS, 1, CLO_REPLACE);
    (void)state;
    fill(values, ROWS * COLS);
    clo_bounded *const data = bounded_from(values, ROWS, &domain);
    load_all(data, ROWS, CLO_GRID_BITS, fine);
    assert_ok(clo_i_block_norms(data, 0, ROWS, squares, &rows, &err), err);
    assert_int_equal(rows, ROWS);
    for (size_t i = 0; i < ROWS; i++) {
        uint64_t twin = 0;
        for (size_t j = 0; j < COLS; j++)
            twin += (uint64_t)((int64_t)fine[i * COLS + j] * (int64_t)fine[i * COLS + j]);
        assert_true(squares[i] == twin);
    }
    clo_bounded_free(data);
}

static void column_bounds_map_the_box_into_the_ball_and_back(void **state)
{
    const double lower[2] = { 0, -1000 }, upper[2] = { 120, 3000 };
    const double values[] = { 120, 3000, 60, 1000, 0, -1000, 500, 1000, NAN, 5 };
    double grid[10], point[2];
    clo_domain domain = clo_domain_default();
    (void)state;
    domain.cols = 2;
    domain.lower = lower;
    domain.upper = upper;
    clo_bounded *const data = bounded_from(values, 5, &domain);
    load_all(data, 5, CLO_GRID_BITS, grid);
    const double corner = ldexp(1, CLO_GRID_BITS) / sqrt(2);
    assert_close(grid[0], corner, 2); /* the upper corner touches the sphere */
    assert_close(grid[1], corner, 2);
    assert_true(grid[2] == 0 && grid[3] == 0); /* the middle is the origin */
    assert_close(grid[4], -corner, 2);
    assert_close(grid[6], corner, 2); /* 500 is clipped to 120 */
    assert_true(grid[7] == 0);
    assert_int_equal(clo_i_bounded_rows(data), 4); /* a missing cell: nothing (bound.T6) */
    point[0] = grid[0] / ldexp(1, CLO_GRID_BITS);
    point[1] = grid[1] / ldexp(1, CLO_GRID_BITS);
    clo_i_domain_unmap_point(&domain, point);
    assert_close(point[0], 120, 1e-5);
    assert_close(point[1], 3000, 1e-4);
    clo_bounded_free(data);
}

/* A cell beyond an end is that end, in the first column, the last and between. */
static void every_column_is_clipped_at_both_its_ends(void **state)
{
    enum { WIDE = 5, CASES = 2 * WIDE };
    const double lower[WIDE] = { 0, -1, -4, 2, -10 }, upper[WIDE] = { 1, 1, 4, 3, 30 };
    double beyond[CASES * WIDE], at[CASES * WIDE], grid[2][CASES * WIDE];
    clo_domain domain = clo_domain_default();
    (void)state;
    domain.cols = WIDE;
    domain.lower = lower;
    domain.upper = upper;
    for (size_t i = 0; i < CASES; i++)
        for (size_t j = 0; j < WIDE; j++) {
            const bool high = i >= WIDE, here = j == i % WIDE;
            at[i * WIDE + j] = high ? upper[j] : lower[j];
            beyond[i * WIDE + j] = at[i * WIDE + j] + (here ? high ? 1000 : -1000 : 0);
        }
    clo_bounded *const far = bounded_from(beyond, CASES, &domain);
    clo_bounded *const near = bounded_from(at, CASES, &domain);
    load_all(far, CASES, CLO_GRID_BITS, grid[0]);
    load_all(near, CASES, CLO_GRID_BITS, grid[1]);
    assert_same_doubles(grid[0], grid[1], CASES * WIDE);
    clo_bounded_free(near);
    clo_bounded_free(far);
}

static void a_public_centre_is_taken_off(void **state)
{
    const double center[2] = { 10, 20 }, values[] = { 10.5, 20, 10, 19.5 };
    double grid[4];
    clo_domain domain = ball(2, 1, CLO_REPLACE);
    (void)state;
    domain.center = center;
    clo_bounded *const data = bounded_from(values, 2, &domain);
    load_all(data, 2, CLO_GRID_BITS, grid);
    assert_true(grid[0] == ldexp(1, 29) && grid[1] == 0);
    assert_true(grid[2] == 0 && grid[3] == -ldexp(1, 29));
    clo_bounded_free(data);
}

/* ---- files, for units and sparse rows ---------------------------------------------------- */

static clo_table *table_from(const char *content, const char *suffix, const char *unit, size_t cols)
{
    char path[64];
    clo_error err;
    clo_table *table = NULL;
    clo_read_options options = clo_read_options_default();
    snprintf(path, sizeof path, "/tmp/clo-bounded-XXXXXX%s", suffix);
    const int fd = mkstemps(path, (int)strlen(suffix));
    assert_true(fd >= 0);
    assert_int_equal(write(fd, content, strlen(content)), (ssize_t)strlen(content));
    close(fd);
    options.unit = unit;
    options.cols = cols;
    assert_ok(clo_table_read(path, &options, &table, &err), err);
    unlink(path);
    return table;
}

static double sum_of_first_column(const char *csv, uint64_t per_unit, size_t *rows)
{
    clo_error err;
    clo_bounded *data = NULL;
    double grid[64], total = 0;
    clo_domain domain = ball(1, 1, CLO_REPLACE);
    domain.rows_per_unit = per_unit;
    domain.unit = "who";
    clo_table *const table = table_from(csv, ".csv", "who", 0);
    assert_ok(clo_bound(table, &domain, &data, &err), err);
    *rows = clo_i_bounded_rows(data);
    load_all(data, 64, CLO_GRID_BITS, grid);
    for (size_t i = 0; i < *rows; i++) total += grid[i];
    clo_bounded_free(data);
    clo_table_free(table);
    return total;
}

static void a_unit_keeps_at_most_its_rows_whatever_their_order(void **state)
{
    size_t rows;
    (void)state;
    const double one = sum_of_first_column("who,x\nann,0.1\nbob,0.5\nann,0.2\nann,0.3\n", 2, &rows);
    assert_int_equal(rows, 3); /* two of ann's, one of bob's */
    const double other =
        sum_of_first_column("who,x\nann,0.3\nann,0.2\nann,0.1\nbob,0.5\n", 2, &rows);
    assert_int_equal(rows, 3);
    assert_true(one == other);
    (void)sum_of_first_column("who,x\nann,0.1\nbob,0.5\nann,0.2\nann,0.3\n", 1, &rows);
    assert_int_equal(rows, 2);
    (void)sum_of_first_column("who,x\nann,0.1\nbob,0.5\nann,0.2\nann,0.3\n", 9, &rows);
    assert_int_equal(rows, 4);
}

/* bound.T3: what is kept of ann does not depend on whether bob is there. */
static void a_unit_does_not_see_another(void **state)
{
    size_t rows;
    (void)state;
    const double alone = sum_of_first_column("who,x\nann,0.1\nann,0.2\nann,0.3\n", 2, &rows);
    const double both =
        sum_of_first_column("who,x\nbob,0.25\nann,0.1\nann,0.2\nbob,0.25\nann,0.3\n", 2, &rows);
    assert_true(both - alone == 2 * ldexp(0.25, CLO_GRID_BITS));
}

/* Rows that name nobody would be one unit of many people: they do not stay. */
/* So many units that any few bytes of what they are known by are alike in some: each is itself. */
static void units_that_are_nearly_alike_are_apart(void **state)
{
    enum { UNITS = 4096, EACH = 3 };
    static double values[UNITS * EACH];
    static uint64_t units[UNITS * EACH];
    clo_domain domain = ball(1, 1, CLO_ADD_REMOVE);
    (void)state;
    domain.unit = "person";
    for (size_t i = 0; i < (size_t)UNITS * EACH; i++) {
        values[i] = 0.5 + 1e-5 * (double)(i % UNITS);
        units[i] = 1 + i % UNITS;
    }
    for (uint64_t per_unit = 1; per_unit <= EACH + 1; per_unit++) {
        domain.rows_per_unit = per_unit;
        clo_bounded *const data = bounded_from_units(values, units, (size_t)UNITS * EACH, &domain);
        assert_int_equal(clo_i_bounded_rows(data), UNITS * (per_unit < EACH ? per_unit : EACH));
        clo_bounded_free(data);
    }
}

static void nobodys_rows_are_left_out(void **state)
{
    size_t rows;
    (void)state;
    const double with = sum_of_first_column("who,x\n,0.5\nann,0.25\n,-0.5\n", 1, &rows);
    assert_int_equal(rows, 1);
    const double without = sum_of_first_column("who,x\n,0.5\nann,0.25\n", 1, &rows);
    assert_int_equal(rows, 1);
    assert_true(with == without && with == ldexp(0.25, CLO_GRID_BITS));
}

static void units_need_their_column(void **state)
{
    const double values[] = { 0.5 };
    const clo_matrix view = { values, 1, 1, 1 };
    clo_error err;
    clo_table *table = NULL;
    clo_bounded *data = NULL;
    clo_domain domain = ball(1, 1, CLO_REPLACE);
    (void)state;
    assert_ok(clo_table_wrap(view, CLO_MISSING_NULL, &table, &err), err);
    domain.rows_per_unit = 2;
    assert_fails(clo_bound(table, &domain, &data, &err), CLO_DOMAIN, err, "column of persons");
    domain.unit = "who";
    assert_fails(clo_bound(table, &domain, &data, &err), CLO_DOMAIN, err, "no unit column");
    assert_null(data);
    clo_table_free(table);
    clo_table *const named = table_from("who,x\nann,0.1\n", ".csv", "who", 0);
    const clo_domain of_rows = ball(1, 1, CLO_REPLACE);
    assert_fails(clo_bound(named, &of_rows, &data, &err), CLO_DOMAIN, err, "must name");
    clo_table_free(named);
}

static void sparse_rows_bound_like_dense_ones(void **state)
{
    const double dense[] = { 0, 0.5, 0, 3, 0, 4, 0, 0, 0 };
    double expected[9], actual[9];
    clo_error err;
    clo_bounded *data = NULL;
    const clo_domain domain = ball(3, 1, CLO_REPLACE);
    (void)state;
    clo_table *const table = table_from("1 2:0.5\n-1 1:3 3:4\n1\n", ".svm", NULL, 3);
    assert_ok(clo_bound(table, &domain, &data, &err), err);
    load_all(data, 2, 20, actual);
    clo_bounded *const twin = bounded_from(dense, 3, &domain);
    load_all(twin, 3, 20, expected);
    assert_same_doubles(actual, expected, 9);
    uint64_t squares[3];
    size_t rows;
    assert_ok(clo_i_block_norms(data, 0, 3, squares, &rows, &err), err);
    assert_true(squares[0] == (uint64_t)1 << 58 && squares[2] == 0);
    clo_bounded_free(twin);
    clo_bounded_free(data);
    clo_table_free(table);
}

/* bound.T3 of sparse rows: 5 rows of ann's and one of bob's, in either order; of other values, or
 * of the same one in other columns. */
static void a_unit_keeps_at_most_its_sparse_rows(void **state)
{
    enum { VISITS = 6 };
    const int32_t starts[] = { 0, 1, 2, 3, 4, 5, 6 }, columns[] = { 0, 1, 2, 0, 1, 2 };
    const int32_t backwards[] = { 2, 1, 0, 2, 1, 0 };
    static const double cells[2][2][VISITS] = {
        { { 0.1, 0.2, 0.3, 0.4, 0.5, 0.6 }, { 0.6, 0.5, 0.4, 0.3, 0.2, 0.1 } },
        { { 0.1, 0.1, 0.1, 0.4, 0.1, 0.1 }, { 0.1, 0.1, 0.4, 0.1, 0.1, 0.1 } },
    };
    const uint64_t units[] = { 7, 7, 7, 8, 7, 7 }, units_turned[] = { 7, 7, 8, 7, 7, 7 };
    double grid[2][VISITS * 3];
    clo_domain domain = ball(3, 1, CLO_REPLACE);
    clo_error err;
    (void)state;
    domain.rows_per_unit = 2;
    domain.unit = "who";
    for (int alike = 0; alike < 2; alike++) {
        double sums[2][3] = { { 0 } };
        for (int turn = 0; turn < 2; turn++) {
            clo_view view = clo_view_default();
            clo_table *table = NULL;
            clo_bounded *data = NULL;
            view.data = cells[alike][turn];
            view.rows = VISITS;
            view.cols = 3;
            view.starts = starts;
            view.columns = turn ? backwards : columns;
            view.start_bytes = view.column_bytes = 4;
            view.units = turn ? units_turned : units;
            assert_ok(clo_table_wrap_view(&view, &table, &err), err);
            assert_ok(clo_bound(table, &domain, &data, &err), err);
            assert_true(clo_i_bounded_is_sparse(data));
            assert_int_equal(clo_i_bounded_rows(data), 3); /* two of ann's, one of bob's */
            load_all(data, VISITS, CLO_GRID_BITS, grid[turn]);
            for (size_t i = 0; i < 9; i++) sums[turn][i % 3] += grid[turn][i];
            clo_bounded_free(data);
            clo_table_free(table);
        }
        assert_same_doubles(sums[0], sums[1], 3);
    }
}

static void domains_that_make_no_sense_are_refused(void **state)
{
    const double lower[1] = { 1 }, upper[1] = { 1 }, center[1] = { NAN };
    clo_error err;
    clo_domain domain = ball(1, 0, CLO_REPLACE);
    (void)state;
    assert_fails(clo_domain_check(&domain, &err), CLO_DOMAIN, err, "public norm or public bounds");
    domain.norm = -1;
    assert_fails(clo_domain_check(&domain, &err), CLO_DOMAIN, err, "norm must be");
    domain.norm = 1;
    domain.lower = lower;
    assert_fails(clo_domain_check(&domain, &err), CLO_DOMAIN, err, "both");
    domain.upper = upper;
    assert_fails(clo_domain_check(&domain, &err), CLO_DOMAIN, err, "lower below the upper");
    domain.lower = domain.upper = NULL;
    domain.center = center;
    assert_fails(clo_domain_check(&domain, &err), CLO_DOMAIN, err, "center");
    domain.center = NULL;
    domain.cols = 0;
    assert_fails(clo_domain_check(&domain, &err), CLO_DOMAIN, err, "columns");
    domain.cols = 1;
    domain.rows_per_unit = 0;
    assert_fails(clo_domain_check(&domain, &err), CLO_DOMAIN, err, "rows of a unit");
    domain.rows_per_unit = 1;
    domain.relation = (clo_relation)7;
    assert_fails(clo_domain_check(&domain, &err), CLO_DOMAIN, err, "relation");
}

static void a_wrong_declared_number_of_rows_is_refused_under_replace(void **state)
{
    const double values[] = { 0.5, 0.25 };
    const clo_matrix view = { values, 2, 1, 1 };
    clo_error err;
    clo_table *table = NULL;
    clo_bounded *data = NULL;
    clo_domain domain = ball(1, 1, CLO_REPLACE);
    (void)state;
    domain.rows = 3;
    assert_ok(clo_table_wrap(view, CLO_MISSING_NULL, &table, &err), err);
    assert_fails(clo_bound(table, &domain, &data, &err), CLO_DOMAIN, err, "there are 2 rows");
    domain.relation = CLO_ADD_REMOVE; /* there the declared number is what is public */
    assert_ok(clo_bound(table, &domain, &data, &err), err);
    clo_bounded_free(data);
    clo_table_free(table);
}

/* Without a header and without `cols`, nobody would know the columns if there were no record. */
static void columns_that_a_record_told_are_refused_where_the_rows_are_a_secret(void **state)
{
    const bytes_file file = bytes_file_open("1,2\n", 4);
    clo_read_options options = clo_read_options_default();
    clo_table *table = NULL;
    clo_bounded *data = NULL;
    clo_error err;
    (void)state;
    for (size_t cols = 0; cols <= 2; cols += 2) {
        options.format = "csv";
        options.cols = cols;
        assert_ok(clo_table_read(file.path, &options, &table, &err), err);
        for (int relation = 0; relation < 2; relation++) {
            const clo_domain domain = ball(2, 1, relation ? CLO_ADD_REMOVE : CLO_REPLACE);
            if (relation && cols == 0)
                assert_fails(clo_bound(table, &domain, &data, &err), CLO_DOMAIN, err, "(cols)");
            else
                assert_ok(clo_bound(table, &domain, &data, &err), err);
            clo_bounded_free(data);
            data = NULL;
        }
        clo_table_free(table);
        table = NULL;
    }
    bytes_file_close(file);
}

/* Each thread has room for a block: it does not grow with the columns beyond 8 MB or a row. */
static void a_block_of_very_wide_rows_is_short(void **state)
{
    (void)state;
    assert_int_equal(clo_i_block_rows(1, 0), 2048);
    assert_int_equal(clo_i_block_rows(10000, 0), 16);
    assert_int_equal(clo_i_block_rows(1 << 16, 0), 16);
    assert_int_equal(clo_i_block_rows(100000, 0), 10);
    assert_int_equal(clo_i_block_rows(1000000, 0), 1);
    assert_int_equal(clo_i_block_rows((size_t)1 << 24, 0), 1);
    assert_int_equal(clo_i_block_rows(1000000, 5), 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_of_any_size_hold_the_same_rows),
        cmocka_unit_test(a_block_of_very_wide_rows_is_short),
        cmocka_unit_test(a_coarser_grid_truncates_toward_zero),
        cmocka_unit_test(norms_are_exact),
        cmocka_unit_test(column_bounds_map_the_box_into_the_ball_and_back),
        cmocka_unit_test(every_column_is_clipped_at_both_its_ends),
        cmocka_unit_test(a_public_centre_is_taken_off),
        cmocka_unit_test(a_unit_keeps_at_most_its_rows_whatever_their_order),
        cmocka_unit_test(a_unit_does_not_see_another),
        cmocka_unit_test(units_that_are_nearly_alike_are_apart),
        cmocka_unit_test(nobodys_rows_are_left_out),
        cmocka_unit_test(units_need_their_column),
        cmocka_unit_test(sparse_rows_bound_like_dense_ones),
        cmocka_unit_test(a_unit_keeps_at_most_its_sparse_rows),
        cmocka_unit_test(domains_that_make_no_sense_are_refused),
        cmocka_unit_test(a_wrong_declared_number_of_rows_is_refused_under_replace),
        cmocka_unit_test(columns_that_a_record_told_are_refused_where_the_rows_are_a_secret),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
