/*
 * caller_memory.c - tables over the caller's own memory: matrices of any type and order, and sparse
 * rows.
 *
 * What lies there as a table reads it is left where it is.  Sparse rows are read as doubles with
 * numbers of four bytes; others are brought into that form, some rows at a time.
 */
#include "base/utf8.h"
#include "data/formats.h"
#include <math.h>
#include <string.h>

enum { SCAN_CELLS = 1 << 14, COPIED_ROWS = 1 << 16 };

/* ---- what is refused ------------------------------------------------------------------------- */

static clo_status missing_at(size_t row, size_t column, const char *where, clo_error *err)
{
    return clo_i_fail(
        err, CLO_FORMAT,
        "row %zu, column %zu of %s: not a finite number, and missing cells are refused", row + 1,
        column + 1, where);
}

static clo_status refuse_missing_entries(const clo_table *table, const char *where, clo_error *err)
{
    for (size_t i = 0; i < table->rows; i++) {
        const uint32_t *columns;
        const double *values;
        size_t count;
        clo_i_table_sparse_row(table, i, &columns, &values, &count);
        for (size_t e = 0; e < count; e++)
            if (!isfinite(values[e])) return missing_at(i, columns[e], where, err);
    }
    return CLO_OK;
}

clo_status clo_i_table_refuse_missing(const clo_table *table, const char *where, clo_error *err)
{
    const size_t cols = table->cols, step = cols < SCAN_CELLS ? SCAN_CELLS / cols : 1;
    double *cells = NULL;
    clo_status status = CLO_OK;
    if (table->sparse) return refuse_missing_entries(table, where, err);
    CLO_TRY(clo_i_alloc(step * cols, sizeof *cells, &cells, err));
    for (size_t first = 0; first < table->rows && status == CLO_OK; first += step) {
        const size_t count = table->rows - first < step ? table->rows - first : step;
        clo_i_table_rows(table, first, count, cells);
        for (size_t i = 0; i < count * cols && status == CLO_OK; i++)
            if (isnan(cells[i])) status = missing_at(first + i / cols, i % cols, where, err);
    }
    clo_i_wipe_free(cells, step * cols * sizeof *cells);
    return status;
}

clo_status clo_i_check_matrix(clo_matrix values, clo_error *err)
{
    size_t cells;
    if (values.cols == 0 || values.cols > CLO_MOST_COLS)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "a matrix must have between 1 and %zu columns, not %zu", CLO_MOST_COLS,
                          values.cols);
    if (values.rows > CLO_MOST_ROWS)
        return clo_i_fail(err, CLO_ARGUMENT, "a matrix may have at most %zu rows, not %zu",
                          CLO_MOST_ROWS, values.rows);
    if (values.stride < values.cols)
        return clo_i_fail(err, CLO_ARGUMENT, "the stride must be at least the %zu columns, not %zu",
                          values.cols, values.stride);
    if (!values.data && values.rows > 0)
        return clo_i_fail(err, CLO_ARGUMENT, "a matrix of %zu rows has no data", values.rows);
    if (!clo_i_multiply(values.rows, values.stride, &cells) || cells > SIZE_MAX / sizeof(double))
        return clo_i_fail(err, CLO_ARGUMENT, "the matrix is larger than this machine's memory");
    return CLO_OK;
}

clo_status clo_i_check_missing(clo_missing missing, clo_error *err)
{
    if (missing == CLO_MISSING_NULL || missing == CLO_MISSING_REFUSE || missing == CLO_MISSING_FILL)
        return CLO_OK;
    return clo_i_fail(err, CLO_ARGUMENT, "missing must be one of clo_missing, not %d",
                      (int)missing);
}

/* Whether the last cell can be reached at all. */
static bool spans_memory(const clo_view *view)
{
    size_t down, across, both;
    return clo_i_multiply(view->rows, view->row_step, &down) &&
           clo_i_multiply(view->cols, view->col_step, &across) && clo_i_add(down, across, &both);
}

static clo_status check_view(const clo_view *view, clo_error *err)
{
    const size_t bytes = clo_i_element_bytes(view->element);
    const size_t most = view->starts ? CLO_MOST_INDEX : CLO_MOST_COLS;
    CLO_TRY(clo_i_check_missing(view->missing, err));
    if (bytes == 0)
        return clo_i_fail(err, CLO_ARGUMENT, "element must be one of clo_element, not %d",
                          (int)view->element);
    if (view->cols == 0 || view->cols > most)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "a matrix must have between 1 and %zu columns, not %zu", most,
                          view->cols);
    if (view->rows > CLO_MOST_ROWS)
        return clo_i_fail(err, CLO_ARGUMENT, "a matrix may have at most %zu rows, not %zu",
                          CLO_MOST_ROWS, view->rows);
    if (view->starts) {
        if (view->missing == CLO_MISSING_FILL)
            return clo_i_fail(err, CLO_ARGUMENT,
                              "sparse rows have no missing cells to fill: a cell without an entry "
                              "is zero");
        if ((view->start_bytes != 4 && view->start_bytes != 8) ||
            (view->column_bytes != 4 && view->column_bytes != 8))
            return clo_i_fail(err, CLO_ARGUMENT, "starts and columns must be of 4 or 8 bytes");
        return CLO_OK;
    }
    if (!view->data && view->rows > 0)
        return clo_i_fail(err, CLO_ARGUMENT, "a matrix of %zu rows has no data", view->rows);
    if (!spans_memory(view))
        return clo_i_fail(err, CLO_ARGUMENT, "the matrix is larger than this machine's memory");
    return CLO_OK;
}

/* ---- persons --------------------------------------------------------------------------------- */

/* Hashes, as of every unit: equality is all that anybody sees of them.  One key serves all pieces
 * of a table, or a person with rows in two of them would be two.  Without rows there is room for
 * one, so that the table has units all the same.  key NULL: there are no units. */
static clo_status hash_units(const uint8_t *key, const clo_view *view, size_t first, size_t rows,
                             clo_i_block *block, clo_error *err)
{
    if (!key) return CLO_OK;
    block->room = rows ? rows : 1;
    CLO_TRY(clo_i_alloc(block->room, CLO_UNIT_BYTES, &block->units, err));
    for (size_t i = 0; i < rows; i++) {
        const size_t row = first + i;
        /* A row that is nobody's keeps its zeros, and `bound` leaves it out (bound.T3). */
        if (!view->nobody || !view->nobody[row])
            clo_i_unit_hash(key, &view->units[row], sizeof *view->units,
                            block->units + i * CLO_UNIT_BYTES);
        else if (view->missing == CLO_MISSING_REFUSE)
            return clo_i_fail(err, CLO_FORMAT,
                              "row %zu of the matrix names no person, and missing cells are "
                              "refused",
                              row + 1);
    }
    return CLO_OK;
}

/* ---- sparse rows ----------------------------------------------------------------------------- */

static int64_t signed_at(const void *array, size_t bytes, size_t i)
{
    return bytes == 4 ? ((const int32_t *)array)[i] : ((const int64_t *)array)[i];
}

/* All starts first, so that nothing beyond the last of them is ever looked at. */
static clo_status check_starts(const clo_view *view, clo_error *err)
{
    if (signed_at(view->starts, view->start_bytes, 0) != 0)
        return clo_i_fail(err, CLO_ARGUMENT, "the first row must start at entry 0");
    for (size_t i = 0; i < view->rows; i++)
        if (signed_at(view->starts, view->start_bytes, i + 1) <
            signed_at(view->starts, view->start_bytes, i))
            return clo_i_fail(err, CLO_ARGUMENT, "row %zu ends before it starts", i + 1);
    if (signed_at(view->starts, view->start_bytes, view->rows) > 0 &&
        (!view->data || !view->columns))
        return clo_i_fail(err, CLO_ARGUMENT, "there are entries, but no data or no columns");
    return CLO_OK;
}

static clo_status check_entries(const clo_view *view, clo_error *err)
{
    CLO_TRY(check_starts(view, err));
    for (size_t i = 0; i < view->rows; i++) {
        const int64_t end = signed_at(view->starts, view->start_bytes, i + 1);
        int64_t last = -1;
        for (int64_t e = signed_at(view->starts, view->start_bytes, i); e < end; e++) {
            const int64_t column = signed_at(view->columns, view->column_bytes, (size_t)e);
            if (column <= last || column >= (int64_t)view->cols)
                return clo_i_fail(err, CLO_ARGUMENT,
                                  "the columns of row %zu must increase and be below %zu", i + 1,
                                  view->cols);
            last = column;
        }
    }
    return CLO_OK;
}

static clo_status copy_entries(const clo_view *view, size_t first, size_t rows, clo_i_block *block,
                               clo_error *err)
{
    const size_t bytes = clo_i_element_bytes(view->element);
    const size_t from = (size_t)signed_at(view->starts, view->start_bytes, first);
    const size_t to = (size_t)signed_at(view->starts, view->start_bytes, first + rows);
    if (to - from > UINT32_MAX)
        return clo_i_fail(err, CLO_ARGUMENT, "the sparse rows have too many entries");
    CLO_TRY(clo_i_alloc(rows + 1, sizeof *block->starts, &block->starts, err));
    block->rows = block->room = rows;
    CLO_TRY(clo_i_alloc(to - from, sizeof *block->columns, &block->columns, err));
    block->value_count = to - from;
    CLO_TRY(clo_i_alloc(to - from, sizeof *block->values, &block->values, err));
    for (size_t i = 0; i <= rows; i++)
        block->starts[i] =
            (uint32_t)((size_t)signed_at(view->starts, view->start_bytes, first + i) - from);
    for (size_t e = from; e < to; e++) {
        block->columns[e - from] = (uint32_t)signed_at(view->columns, view->column_bytes, e);
        block->values[e - from] =
            clo_i_element_load((const uint8_t *)view->data + e * bytes, view->element);
    }
    return CLO_OK;
}

/* A caller's numbers that are never written to. */
static void *untouched(const void *memory)
{
    return (void *)(uintptr_t)memory;
}

/* As they lie, where they lie as a table's own do. */
static void borrow_entries(const clo_view *view, clo_i_block *block)
{
    *block = (clo_i_block){ .rows = view->rows,
                            .room = view->rows,
                            .borrowed = true,
                            .values = untouched(view->data),
                            .starts = untouched(view->starts),
                            .columns = untouched(view->columns) };
}

static clo_status append_entries(const clo_view *view, const uint8_t *key, clo_table *table,
                                 clo_error *err)
{
    const bool as_they_lie =
        view->element == CLO_FLOAT64 && view->start_bytes == 4 && view->column_bytes == 4;
    const size_t most = as_they_lie ? view->rows : COPIED_ROWS;
    clo_status status = CLO_OK;
    for (size_t first = 0; first < view->rows && !status; first += most) {
        const size_t left = view->rows - first, rows = left < most ? left : most;
        clo_i_block block = { 0 };
        if (as_they_lie)
            borrow_entries(view, &block);
        else
            status = copy_entries(view, first, rows, &block, err);
        if (!status) status = hash_units(key, view, first, rows, &block, err);
        if (!status) status = clo_i_table_append(table, &block, err);
        clo_i_block_clear(&block);
    }
    return status;
}

/* ---- tables ---------------------------------------------------------------------------------- */

static clo_status copy_names(const clo_view *view, clo_table *table, clo_error *err)
{
    if (!view->names) return CLO_OK;
    CLO_TRY(clo_i_alloc(view->cols, sizeof *table->names, &table->names, err));
    for (size_t j = 0; j < view->cols; j++)
        CLO_TRY(clo_i_copy_utf8(view->names[j] ? view->names[j] : "", &table->names[j], err));
    return CLO_OK;
}

static clo_status append_cells(const clo_view *view, const uint8_t *key, clo_table *table,
                               clo_error *err)
{
    clo_i_block block = { .rows = view->rows, .cells = view->data };
    table->element = view->element;
    table->row_step = view->row_step;
    table->col_step = view->col_step;
    clo_status status = hash_units(key, view, 0, view->rows, &block, err);
    if (!status) status = clo_i_table_append(table, &block, err);
    clo_i_block_clear(&block);
    return status;
}

static clo_status fill_table(const clo_view *view, clo_table *table, clo_error *err)
{
    uint8_t key[CLO_UNIT_KEY_BYTES];
    table->cols = view->cols;
    table->missing = view->missing;
    table->sparse = view->starts != NULL;
    CLO_TRY(copy_names(view, table, err));
    if (table->has_unit) CLO_TRY(clo_i_unit_key(view->unit_key, key, err));
    const clo_status status = (view->starts ? append_entries : append_cells)(
        view, table->has_unit ? key : NULL, table, err);
    clo_i_wipe(key, sizeof key);
    CLO_TRY(status);
    if (view->missing != CLO_MISSING_REFUSE) return CLO_OK;
    return clo_i_table_refuse_missing(table, "the matrix", err);
}

/* units says that there are persons, also where there are no rows to name them. */
static clo_status make_table(const clo_view *view, bool units, clo_table **out, clo_error *err)
{
    clo_table *table = NULL;
    CLO_TRY(clo_i_table_new(&table, err));
    table->has_unit = units;
    const clo_status status = fill_table(view, table, err);
    if (status != CLO_OK) {
        clo_table_free(table);
        return status;
    }
    *out = table;
    return CLO_OK;
}

void clo_view_init(clo_view *view, size_t size)
{
    const clo_view presets = { .missing = CLO_MISSING_NULL };
    clo_i_give_presets(view, size, &presets, sizeof presets);
}

clo_status clo_table_wrap_view(const clo_view *given, clo_table **out, clo_error *err)
{
    clo_view view = clo_view_default();
    CLO_TRY(clo_i_take_options("clo_view", given, &view, sizeof view, err));
    CLO_TRY(check_view(&view, err));
    if (view.starts) CLO_TRY(check_entries(&view, err));
    return make_table(&view, view.units != NULL, out, err);
}

static clo_view view_of(clo_matrix values, clo_missing missing)
{
    clo_view view = clo_view_default();
    view.data = values.data;
    view.rows = values.rows;
    view.cols = values.cols;
    view.row_step = values.stride * sizeof(double);
    view.col_step = sizeof(double);
    view.missing = missing;
    return view;
}

clo_status clo_table_wrap(clo_matrix values, clo_missing missing, clo_table **out, clo_error *err)
{
    const clo_view view = view_of(values, missing);
    CLO_TRY(clo_i_check_matrix(values, err));
    CLO_TRY(clo_i_check_missing(missing, err));
    return make_table(&view, false, out, err);
}

clo_status clo_table_wrap_units(clo_matrix values, const uint64_t *units, clo_missing missing,
                                clo_table **out, clo_error *err)
{
    clo_view view = view_of(values, missing);
    CLO_TRY(clo_i_check_matrix(values, err));
    CLO_TRY(clo_i_check_missing(missing, err));
    view.units = units;
    return make_table(&view, true, out, err);
}
