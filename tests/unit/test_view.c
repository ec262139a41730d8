/* test_view.c - the caller's memory as a table: every type of number, either order, steps between
 * rows, sparse rows; nothing is copied that lies right, and what is no matrix is refused. */
#include "check.h"
#include "data/data.h"
#include <cloister/cloister.h>
#include <stdlib.h>

enum { ROWS = 300, COLS = 3 };
static clo_error err;

static clo_view view_of(const void *data, clo_element element, size_t rows, size_t cols)
{
    clo_view view = clo_view_default();
    view.data = data;
    view.element = element;
    view.rows = rows;
    view.cols = cols;
    return view;
}

static clo_table *wrapped(const clo_view *view)
{
    clo_table *table = NULL;
    assert_ok(clo_table_wrap_view(view, &table, &err), err);
    return table;
}

/* ---- dense ----------------------------------------------------------------------------------- */

/* Cell (i, j) is (7 i + j) modulo 100, which every type can hold, in both orders. */
#define HOLDS(type, element)                                                                       \
    static void holds_##type(void **state)                                                         \
    {                                                                                              \
        static type cells[2][ROWS * COLS];                                                         \
        for (size_t i = 0; i < ROWS; i++)                                                          \
            for (size_t j = 0; j < COLS; j++)                                                      \
                cells[0][i * COLS + j] = cells[1][j * ROWS + i] = (type)((7 * i + j) % 100);       \
        assert_both_orders(cells[0], cells[1], element, sizeof(type));                             \
    }

static void assert_both_orders(const void *rows, const void *columns, clo_element element,
                               size_t bytes)
{
    static double got[ROWS * COLS];
    for (int order = 0; order < 2; order++) {
        clo_view view = view_of(order ? columns : rows, element, ROWS, COLS);
        view.row_step = order ? bytes : COLS * bytes;
        view.col_step = order ? ROWS * bytes : bytes;
        clo_table *const table = wrapped(&view);
        clo_i_table_rows(table, 0, ROWS, got);
        for (size_t i = 0; i < ROWS * COLS; i++)
            assert_true(got[i] == (double)((7 * (i / COLS) + i % COLS) % 100));
        clo_i_table_rows(table, ROWS - 1, 1, got);
        assert_true(got[1] == (double)((7 * (ROWS - 1) + 1) % 100));
        clo_table_free(table);
    }
}

HOLDS(double, CLO_FLOAT64)
HOLDS(float, CLO_FLOAT32)
HOLDS(int64_t, CLO_INT64)
HOLDS(int32_t, CLO_INT32)
HOLDS(int16_t, CLO_INT16)
HOLDS(int8_t, CLO_INT8)
HOLDS(uint64_t, CLO_UINT64)
HOLDS(uint32_t, CLO_UINT32)
HOLDS(uint16_t, CLO_UINT16)
HOLDS(uint8_t, CLO_UINT8)

static void signs_and_ends_of_ranges_are_kept(void **state)
{
    const int8_t small[] = { -128, 127 };
    const uint64_t large[] = { UINT64_MAX, 0 };
    const int16_t negative[] = { -1, INT16_MIN };
    double got[2];
    const struct {
        const void *data;
        clo_element element;
        double expected[2];
    } cases[] = { { small, CLO_INT8, { -128, 127 } },
                  { large, CLO_UINT64, { 0x1p64, 0 } },
                  { negative, CLO_INT16, { -1, -32768 } } };
    for (size_t i = 0; i < 3; i++) {
        clo_view view = view_of(cases[i].data, cases[i].element, 1, 2);
        view.col_step = cases[i].element == CLO_INT8 ? 1 : cases[i].element == CLO_INT16 ? 2 : 8;
        clo_table *const table = wrapped(&view);
        clo_i_table_rows(table, 0, 1, got);
        assert_same_doubles(got, cases[i].expected, 2);
        clo_table_free(table);
    }
}

static void memory_is_looked_at_and_not_copied(void **state)
{
    double cells[4] = { 1, 2, 3, 4 }, got[4];
    clo_view view = view_of(cells, CLO_FLOAT64, 2, 2);
    view.row_step = 16;
    view.col_step = 8;
    clo_table *const table = wrapped(&view);
    assert_ptr_equal(clo_i_table_dense(table), cells);
    cells[3] = 9;
    clo_i_table_rows(table, 0, 2, got);
    assert_true(got[3] == 9);
    clo_table_free(table);
    assert_true(cells[0] == 1); /* it is not wiped: it is not ours */
}

static void names_and_units_are_copied(void **state)
{
    const float cells[] = { 1, 2, 3 };
    const uint64_t units[] = { 5, 6, 5 };
    char first[] = "age";
    const char *const names[] = { first };
    clo_view view = view_of(cells, CLO_FLOAT32, 3, 1);
    view.row_step = view.col_step = sizeof(float);
    view.names = names;
    view.units = units;
    clo_table *const table = wrapped(&view);
    first[0] = '?';
    assert_string_equal(clo_table_column_name(table, 0), "age");
    assert_true(clo_table_has_unit(table));
    assert_memory_equal(clo_i_table_unit(table, 0), clo_i_table_unit(table, 2), CLO_UNIT_BYTES);
    assert_memory_not_equal(clo_i_table_unit(table, 0), clo_i_table_unit(table, 1), CLO_UNIT_BYTES);
    clo_table_free(table);
}

static void missing_cells_are_nan_or_refused(void **state)
{
    const float cells[] = { 1, INFINITY, NAN, 4 };
    double got[4];
    clo_table *table = NULL;
    clo_view view = view_of(cells, CLO_FLOAT32, 2, 2); /* down the columns */
    view.row_step = sizeof(float);
    view.col_step = 2 * sizeof(float);
    table = wrapped(&view);
    clo_i_table_rows(table, 0, 2, got);
    assert_true(got[0] == 1 && isnan(got[1]) && isnan(got[2]) && got[3] == 4);
    clo_table_free(table);
    table = NULL;
    view.missing = CLO_MISSING_REFUSE;
    assert_fails(clo_table_wrap_view(&view, &table, &err), CLO_FORMAT, err, "row 1, column 2");
    assert_null(table);
}

static void what_is_no_matrix_is_refused(void **state)
{
    const double cell = 1;
    clo_table *table = NULL;
    clo_view view = view_of(&cell, CLO_FLOAT64, 1, 0);
    assert_fails(clo_table_wrap_view(&view, &table, &err), CLO_ARGUMENT, err, "columns");
    view = view_of(&cell, (clo_element)10, 1, 1);
    assert_fails(clo_table_wrap_view(&view, &table, &err), CLO_ARGUMENT, err, "clo_element");
    view = view_of(NULL, CLO_FLOAT64, 1, 1);
    assert_fails(clo_table_wrap_view(&view, &table, &err), CLO_ARGUMENT, err, "no data");
    view = view_of(&cell, CLO_FLOAT64, (size_t)1 << 40, 1);
    assert_fails(clo_table_wrap_view(&view, &table, &err), CLO_ARGUMENT, err, "rows");
    view = view_of(&cell, CLO_FLOAT64, (size_t)1 << 31, 1);
    view.row_step = SIZE_MAX / 4;
    assert_fails(clo_table_wrap_view(&view, &table, &err), CLO_ARGUMENT, err, "larger than");
    view = view_of(&cell, CLO_FLOAT64, 1, 1);
    view.missing = (clo_missing)9;
    assert_fails(clo_table_wrap_view(&view, &table, &err), CLO_ARGUMENT, err, "missing must be");
    view = (clo_view){ .data = &cell };
    assert_fails(clo_table_wrap_view(&view, &table, &err), CLO_ARGUMENT, err, "clo_view_default");
    assert_null(table);
}

/* ---- sparse ---------------------------------------------------------------------------------- */

/* 0 5 0 | nothing | 1 0 2 */
static const int32_t starts4[] = { 0, 1, 1, 3 }, columns4[] = { 1, 0, 2 };
static const int64_t starts8[] = { 0, 1, 1, 3 }, columns8[] = { 1, 0, 2 };
static const double values8[] = { 5, 1, 2 };
static const float values4[] = { 5, 1, 2 };
static const double sparse_rows[] = { 0, 5, 0, 0, 0, 0, 1, 0, 2 };

static clo_view sparse_view(bool wide, bool single)
{
    clo_view view =
        view_of(single ? (const void *)values4 : values8, single ? CLO_FLOAT32 : CLO_FLOAT64, 3, 3);
    view.starts = wide ? (const void *)starts8 : starts4;
    view.columns = wide ? (const void *)columns8 : columns4;
    view.start_bytes = view.column_bytes = wide ? 8 : 4;
    return view;
}

static void sparse_rows_of_every_width_are_the_same_rows(void **state)
{
    double got[9];
    for (int i = 0; i < 4; i++) {
        const clo_view view = sparse_view(i & 1, i & 2);
        clo_table *const table = wrapped(&view);
        assert_true(clo_i_table_is_sparse(table));
        assert_int_equal(clo_i_table_entries(table), 3);
        clo_i_table_rows(table, 0, 3, got);
        assert_same_doubles(got, sparse_rows, 9);
        const uint32_t *columns;
        const double *values;
        size_t count;
        clo_i_table_sparse_row(table, 2, &columns, &values, &count);
        assert_int_equal(count, 2);
        if (i == 0) assert_ptr_equal(values, values8 + 1); /* lies right: looked at, not copied */
        clo_table_free(table);
    }
}

static void sparse_rows_have_units(void **state)
{
    const uint64_t units[] = { 5, 6, 5 };
    for (int i = 0; i < 4; i++) {
        clo_view view = sparse_view(i & 1, i & 2);
        view.units = units;
        clo_table *const table = wrapped(&view);
        assert_true(clo_table_has_unit(table));
        assert_memory_equal(clo_i_table_unit(table, 0), clo_i_table_unit(table, 2), CLO_UNIT_BYTES);
        assert_memory_not_equal(clo_i_table_unit(table, 0), clo_i_table_unit(table, 1),
                                CLO_UNIT_BYTES);
        clo_table_free(table);
    }
    clo_view none = sparse_view(true, false);
    none.units = units;
    none.rows = 0;
    clo_table *const table = wrapped(&none);
    assert_true(clo_table_has_unit(table));
    clo_table_free(table);
}

/* As in a file: a row without a name neither ends anything nor is anybody's (bound.T3). */
static void a_row_of_nobody_is_nobodys(void **state)
{
    const uint64_t units[] = { 5, 5, 5 };
    const uint8_t nobody[] = { 0, 1, 0 }, zeros[CLO_UNIT_BYTES] = { 0 };
    const double cells[3] = { 1, 2, 3 };
    clo_view dense = view_of(cells, CLO_FLOAT64, 3, 1);
    dense.row_step = dense.col_step = sizeof(double);
    const clo_view views[] = { sparse_view(true, false), sparse_view(false, true), dense };
    for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
        clo_view view = views[i];
        clo_table *none = NULL;
        view.units = units;
        view.nobody = nobody;
        clo_table *const table = wrapped(&view);
        assert_memory_equal(clo_i_table_unit(table, 1), zeros, CLO_UNIT_BYTES);
        assert_memory_not_equal(clo_i_table_unit(table, 0), zeros, CLO_UNIT_BYTES);
        assert_memory_equal(clo_i_table_unit(table, 0), clo_i_table_unit(table, 2), CLO_UNIT_BYTES);
        clo_table_free(table);
        view.missing = CLO_MISSING_REFUSE;
        assert_fails(clo_table_wrap_view(&view, &none, &err), CLO_FORMAT, err,
                     "row 2 of the matrix names no person");
    }
}

/* Of every form: doubles, floats, integers, which have none, and sparse rows. */
static void rows_with_gaps_are_counted(void **state)
{
    const double cells[] = { 1, NAN, INFINITY, 2, 3, 4 };
    const float floats[] = { 1, 2, 3, 4, NAN, NAN };
    const int32_t wholes[] = { 1, 2, 3, 4, 5, 6 };
    const int32_t starts[] = { 0, 1, 2, 2 }, columns[] = { 0, 1 };
    clo_view sparse = view_of(cells, CLO_FLOAT64, 3, 2);
    sparse.starts = starts;
    sparse.columns = columns;
    sparse.start_bytes = sparse.column_bytes = 4;
    const struct {
        clo_view view;
        size_t bytes;
        uint64_t gaps;
    } all[] = { { view_of(cells, CLO_FLOAT64, 3, 2), 8, 2 },
                { view_of(floats, CLO_FLOAT32, 3, 2), 4, 1 },
                { view_of(wholes, CLO_INT32, 3, 2), 4, 0 },
                { view_of(cells, CLO_FLOAT64, 0, 2), 8, 0 },
                { sparse, 8, 1 } };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        clo_view view = all[i].view;
        uint64_t gaps = 99;
        view.row_step = 2 * all[i].bytes;
        view.col_step = all[i].bytes;
        clo_table *const table = wrapped(&view);
        assert_ok(clo_table_gaps(table, &gaps, &err), err);
        assert_int_equal(gaps, all[i].gaps);
        clo_table_free(table);
    }
    clo_view filled = view_of(cells, CLO_FLOAT64, 3, 2);
    filled.row_step = 16;
    filled.col_step = 8;
    filled.missing = CLO_MISSING_FILL;
    uint64_t gaps = 99;
    clo_table *const table = wrapped(&filled);
    assert_ok(clo_table_gaps(table, &gaps, &err), err);
    assert_int_equal(gaps, 0);
    clo_table_free(table);
    assert_false(clo_gaps_hide_all(0, 0));
    assert_false(clo_gaps_hide_all(100, 90));
    assert_true(clo_gaps_hide_all(100, 91));
    assert_true(clo_gaps_hide_all(1, 1));
    assert_false(clo_gaps_hide_all(UINT32_MAX, 0));
}

/* Which person has which rows is one matter over all pieces: who is in two of them is one. */
static void many_sparse_rows_are_copied_piece_by_piece(void **state)
{
    enum { MANY = (1 << 16) + 5 };
    int64_t *const starts = calloc(MANY + 1, sizeof *starts);
    int32_t *const columns = calloc(MANY, sizeof *columns);
    int16_t *const values = calloc(MANY, sizeof *values);
    for (size_t i = 0; i < MANY; i++) {
        starts[i + 1] = (int64_t)i + 1;
        columns[i] = (int32_t)(i % 7);
        values[i] = (int16_t)(i % 1000);
    }
    clo_view view = view_of(values, CLO_INT16, MANY, 7);
    view.starts = starts;
    view.columns = columns;
    view.start_bytes = 8;
    view.column_bytes = 4;
    uint64_t *const units = calloc(MANY, sizeof *units);
    for (size_t i = 0; i < MANY; i++) units[i] = i % 3;
    view.units = units;
    clo_table *const table = wrapped(&view);
    for (size_t i = 0; i < MANY; i += MANY - 1) /* the first and the last piece */
        for (size_t j = 0; j < 3; j++)
            assert_int_equal(
                memcmp(clo_i_table_unit(table, i), clo_i_table_unit(table, j), CLO_UNIT_BYTES) == 0,
                i % 3 == j);
    double row[7];
    for (size_t i = MANY - 10; i < MANY; i++) {
        clo_i_table_rows(table, i, 1, row);
        for (size_t j = 0; j < 7; j++) assert_true(row[j] == (j == i % 7 ? (double)(i % 1000) : 0));
    }
    clo_table_free(table);
    free(units);
    free(starts);
    free(columns);
    free(values);
}

static void sparse_rows_that_are_none_are_refused(void **state)
{
    static const int32_t twice[] = { 1, 2, 2 }, negative[] = { -1, 0, 2 }, far[] = { 3, 0, 2 };
    static const int32_t backwards[] = { 0, 1 << 30, 1, 3 }, late[] = { 1, 1, 1, 3 };
    clo_table *table = NULL;
    const int32_t *const bad_columns[] = { twice, negative, far };
    const int32_t *const bad_starts[] = { backwards, late };
    for (size_t i = 0; i < 3; i++) {
        clo_view view = sparse_view(false, false);
        view.columns = bad_columns[i];
        assert_fails(clo_table_wrap_view(&view, &table, &err), CLO_ARGUMENT, err, "increase");
    }
    for (size_t i = 0; i < 2; i++) {
        clo_view view = sparse_view(false, false);
        view.starts = bad_starts[i];
        assert_fails(clo_table_wrap_view(&view, &table, &err), CLO_ARGUMENT, err,
                     i ? "entry 0" : "ends before");
    }
    clo_view view = sparse_view(false, false);
    view.start_bytes = 2;
    assert_fails(clo_table_wrap_view(&view, &table, &err), CLO_ARGUMENT, err, "4 or 8 bytes");
    view = sparse_view(false, false);
    view.missing = CLO_MISSING_FILL;
    assert_fails(clo_table_wrap_view(&view, &table, &err), CLO_ARGUMENT, err,
                 "no missing cells to fill");
    view = sparse_view(false, false);
    view.columns = NULL;
    assert_fails(clo_table_wrap_view(&view, &table, &err), CLO_ARGUMENT, err, "no columns");
    const double bad[] = { 5, NAN, 2 };
    view = sparse_view(false, false);
    view.data = bad;
    view.missing = CLO_MISSING_REFUSE;
    assert_fails(clo_table_wrap_view(&view, &table, &err), CLO_FORMAT, err, "row 3, column 1");
    assert_null(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(holds_double),
        cmocka_unit_test(holds_float),
        cmocka_unit_test(holds_int64_t),
        cmocka_unit_test(holds_int32_t),
        cmocka_unit_test(holds_int16_t),
        cmocka_unit_test(holds_int8_t),
        cmocka_unit_test(holds_uint64_t),
        cmocka_unit_test(holds_uint32_t),
        cmocka_unit_test(holds_uint16_t),
        cmocka_unit_test(holds_uint8_t),
        cmocka_unit_test(signs_and_ends_of_ranges_are_kept),
        cmocka_unit_test(memory_is_looked_at_and_not_copied),
        cmocka_unit_test(names_and_units_are_copied),
        cmocka_unit_test(missing_cells_are_nan_or_refused),
        cmocka_unit_test(what_is_no_matrix_is_refused),
        cmocka_unit_test(sparse_rows_of_every_width_are_the_same_rows),
        cmocka_unit_test(sparse_rows_have_units),
        cmocka_unit_test(a_row_of_nobody_is_nobodys),
        cmocka_unit_test(rows_with_gaps_are_counted),
        cmocka_unit_test(many_sparse_rows_are_copied_piece_by_piece),
        cmocka_unit_test(sparse_rows_that_are_none_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
