/*
 * bounded.c - the bounded data: integer records, dense or sparse, and their blocks.
 *
 * A cell takes four bytes, half of what a table's cell takes, so that table and bounded data
 * together stay under twice the data.  Sparse records stay sparse where the domain keeps zero
 * at zero and the columns as they are (no centre, no column bounds, no frame).
 */
#include "bound/bounded.h"
#include "base/planted.h"
#include <math.h>
#include <omp.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#ifdef CLO_TAINT
#include <valgrind/memcheck.h>
#endif

enum { BLOCK_CELLS = 1 << 17, MOST_BLOCK_ROWS = 2048, LEAST_BLOCK_ROWS = 16 };
enum { MOST_BLOCK_CELLS = 1 << 20 }; /* each thread has a block: of very wide rows fewer */

const clo_domain *clo_i_bounded_domain(const clo_bounded *data)
{
    return &data->domain;
}

size_t clo_i_bounded_rows(const clo_bounded *data)
{
    return data->rows;
}

size_t clo_i_bounded_slots(const clo_bounded *data)
{
    return data->slots;
}

size_t clo_i_bounded_slot(const clo_bounded *data, size_t row)
{
    return data->slot_of ? data->slot_of[row] : row;
}

clo_persons clo_i_bounded_persons(const clo_bounded *data)
{
    return data->persons;
}

bool clo_i_bounded_is_sparse(const clo_bounded *data)
{
    return data->sparse;
}

static void free_arrays(clo_bounded *data)
{
    clo_i_wipe_free(data->cells, data->cell_count * sizeof *data->cells);
    clo_i_wipe_free(data->columns, data->columns ? data->cell_count * sizeof *data->columns : 0);
    clo_i_wipe_free(data->starts, data->starts ? (data->rows + 1) * sizeof *data->starts : 0);
    clo_i_wipe_free(data->slot_of, data->slot_of ? data->rows * sizeof *data->slot_of : 0);
}

void clo_bounded_free(clo_bounded *data)
{
    if (!data) return;
    if (!data->borrowed) free_arrays(data);
    clo_i_flow_free(data->flow);
    clo_i_domain_clear(&data->domain);
    clo_i_free(data);
}

size_t clo_i_block_rows(size_t cols, size_t asked)
{
    size_t rows = asked ? asked : BLOCK_CELLS / cols;
    if (rows > MOST_BLOCK_ROWS) rows = MOST_BLOCK_ROWS; /* sums of a block stay exact */
    if (asked || rows >= LEAST_BLOCK_ROWS) return rows;
    const size_t fit = MOST_BLOCK_CELLS / cols;
    return fit < 1 ? 1 : fit < LEAST_BLOCK_ROWS ? fit : LEAST_BLOCK_ROWS;
}

size_t clo_i_block_count(const clo_bounded *data, size_t block_rows)
{
    return data->rows / block_rows + (data->rows % block_rows != 0);
}

/* ---- making it ------------------------------------------------------------------------- */

/* From the data's own units to ball coordinates. */
static void map_row(const clo_domain *domain, const double *scale, const double *center,
                    double *row)
{
    for (size_t j = 0; j < domain->cols; j++) {
        double x = row[j];
        if (domain->lower) x = fmin(fmax(x, domain->lower[j]), domain->upper[j]);
        row[j] = (x - center[j]) / scale[j];
    }
}

/* The record's coordinates in the frame, in an order of additions that knows this record alone
 * (bound.T4): a matrix product of a whole block need not keep to one. */
static void look_in_frame(const clo_frame *frame, const double *row, double *seen)
{
    const size_t r = frame->cols;
    for (size_t i = 0; i < r; i++) seen[i] = 0;
    for (size_t j = 0; j < frame->rows; j++) {
        const double x = row[j] - (frame->origin ? frame->origin[j] : 0);
        const double *const direction = frame->basis + j * r;
        for (size_t i = 0; i < r; i++) seen[i] += x * direction[i];
    }
}

CLO_WIDE static bool is_finite(const double *row, size_t cols)
{
    double finite = 0; /* 0 times a value that is not, is not 0 */
#pragma omp simd reduction(+ : finite)
    for (size_t j = 0; j < cols; j++) finite += row[j] * 0;
    return finite == 0;
}

/* Whether a cell is missing and stays so; those that a public value stands in for get it. */
static bool is_null(const double *fill, double *row, size_t cols)
{
    bool null = false;
    if (is_finite(row, cols)) return false;
    for (size_t j = 0; j < cols; j++) {
        if (isfinite(row[j])) continue;
        if (fill)
            row[j] = fill[j];
        else
            null = true;
    }
    return null;
}

/* The same under a schema, which says of each column what a missing cell means (bound.T7). */
static bool bound_by_schema(const clo_i_way *w, const double *row, double *room, int32_t *out)
{
    const clo_schema *const schema = w->domain->schema;
    const bool null = clo_i_schema_is_null(schema, row);
    if (null) {
        memset(out, 0, w->domain->cols * sizeof *out);
        return true;
    }
    clo_i_schema_encode(schema, row, room);
    clo_i_to_grid(room, w->domain->cols, w->radius, out);
    return false;
}

/* One row as it is in the table, onto the grid, or whether it is a null record, whose cells are 0
 * until it goes; room: cols numbers for what is seen of it. */
static bool bound_row(const clo_i_way *w, double *row, double *room, int32_t *out)
{
    const clo_domain *const domain = w->domain;
    const size_t cols = domain->cols;
    if (domain->schema) return bound_by_schema(w, row, room, out);
    if (is_null(w->fill, row, clo_i_domain_table_cols(domain))) {
        memset(out, 0, cols * sizeof *out);
        return true;
    }
    if (domain->frame)
        look_in_frame(domain->frame, row, room);
    else if (domain->lower || domain->center)
        map_row(domain, w->scale, w->center, row);
    clo_i_to_grid(domain->frame ? room : row, cols, w->radius, out);
    return false;
}

/* The public value of each column of the table that stands in for a missing cell: that which the
 * reader was told, or the middle of the domain. */
static void find_fill(const clo_domain *domain, const clo_table *table, const double *center,
                      double *fill)
{
    const double *const told = clo_i_table_fill(table);
    for (size_t j = 0; !domain->schema && j < clo_i_domain_table_cols(domain); j++) {
        const double *const origin = domain->frame ? domain->frame->origin : center;
        fill[j] = origin ? origin[j] : 0;
        if (told && isfinite(told[j])) fill[j] = told[j];
    }
}

static clo_status take_scratch(clo_i_way *way, clo_error *err)
{
    const size_t width = clo_i_domain_table_cols(way->domain);
    way->threads = omp_get_max_threads();
    way->room = clo_i_block_rows(width, 0) * width + way->domain->cols;
    return clo_i_alloc((size_t)way->threads * way->room, sizeof *way->scratch, &way->scratch, err);
}

clo_status clo_i_way_make(const clo_domain *domain, const clo_table *table, clo_i_way *out,
                          clo_error *err)
{
    const size_t cols = domain->cols, width = clo_i_domain_table_cols(domain);
    const bool fills = clo_i_table_missing(table) == CLO_MISSING_FILL;
    double *map = NULL;
    CLO_TRY(clo_i_alloc(2 * cols + width, sizeof *map, &map, err));
    clo_i_domain_map(domain, map, map + cols);
    find_fill(domain, table, map + cols, map + 2 * cols);
    clo_i_way way = { .domain = domain,
                      .scale = map,
                      .center = map + cols,
                      .radius = clo_i_domain_radius(domain),
                      .fill = fills ? map + 2 * cols : NULL,
                      .numbers = map };
    const bool sparse = clo_i_way_keeps_sparse(domain, clo_i_table_is_sparse(table));
    const clo_status status = sparse ? CLO_OK : take_scratch(&way, err);
    if (status)
        clo_i_way_clear(&way);
    else
        *out = way;
    return status;
}

void clo_i_way_clear(clo_i_way *way)
{
    clo_i_free(way->numbers);
    clo_i_wipe_free(way->scratch,
                    way->scratch ? (size_t)way->threads * way->room * sizeof *way->scratch : 0);
    *way = (clo_i_way){ .numbers = NULL };
}

bool clo_i_way_keeps_sparse(const clo_domain *domain, bool sparse)
{
    return sparse && !domain->lower && !domain->center && !domain->frame && !domain->schema;
}

void clo_i_bound_dense(const clo_i_way *way, const clo_table *table, size_t first, size_t count,
                       int32_t *cells, uint8_t *nulls)
{
    const size_t cols = way->domain->cols, width = clo_i_domain_table_cols(way->domain);
    const size_t block = clo_i_block_rows(width, 0), blocks = count / block + (count % block != 0);
    const int most = omp_get_max_threads(), team = most < way->threads ? most : way->threads;
#pragma omp parallel for schedule(static) num_threads(team)
    for (size_t b = 0; b < blocks; b++) {
        double *const rows = way->scratch + (size_t)omp_get_thread_num() * way->room;
        const size_t from = b * block, here = count - from < block ? count - from : block;
        clo_i_table_rows(table, first + from, here, rows);
        for (size_t i = 0; i < here; i++)
            nulls[from + i] =
                bound_row(way, rows + i * width, rows + block * width, cells + (from + i) * cols);
        clo_i_table_forget(table, first + from, here);
    }
}

static clo_status bound_dense(clo_bounded *data, const clo_i_way *way, const clo_table *table,
                              uint8_t *nulls, clo_error *err)
{
    size_t cells;
    if (!clo_i_multiply(data->rows, data->domain.cols, &cells))
        return clo_i_fail(err, CLO_MEMORY, "the data are too large for this machine");
    CLO_TRY(clo_i_alloc_unset(cells, sizeof *data->cells, &data->cells, err));
    data->cell_count = cells;
    clo_i_bound_dense(way, table, 0, data->rows, data->cells, nulls);
    return CLO_OK;
}

/* A bad record of a sparse table has an entry that is not finite. */
static bool has_bad_entry(const double *values, size_t count)
{
    bool bad = false;
    for (size_t e = 0; e < count; e++) bad = bad || !isfinite(values[e]);
    return bad;
}

void clo_i_bound_sparse(const clo_i_way *way, const clo_table *table, size_t first, size_t count,
                        clo_bounded *data, uint8_t *nulls)
{
    size_t at = 0;
    data->starts[0] = 0;
    for (size_t i = 0; i < count; i++) {
        const uint32_t *columns;
        const double *values;
        size_t entries;
        clo_i_table_sparse_row(table, first + i, &columns, &values, &entries);
        nulls[i] = has_bad_entry(values, entries);
        clo_i_to_grid(values, entries, way->radius, data->cells + at); /* 0 where it is null */
        if (entries) memcpy(data->columns + at, columns, entries * sizeof *columns);
        at += entries;
        data->starts[i + 1] = at;
    }
    data->rows = count;
    data->cell_count = at;
}

static clo_status bound_sparse(clo_bounded *data, const clo_i_way *way, const clo_table *table,
                               uint8_t *nulls, clo_error *err)
{
    const size_t entries = clo_i_table_entries(table);
    data->sparse = true;
    CLO_TRY(clo_i_alloc(entries, sizeof *data->cells, &data->cells, err));
    data->cell_count = entries;
    CLO_TRY(clo_i_alloc(entries, sizeof *data->columns, &data->columns, err));
    CLO_TRY(clo_i_alloc(data->rows + 1, sizeof *data->starts, &data->starts, err));
    clo_i_bound_sparse(way, table, 0, data->rows, data, nulls);
    return CLO_OK;
}

/* ---- rows that go ------------------------------------------------------------------------ */

void clo_i_row_range(const clo_bounded *data, size_t row, size_t *first, size_t *count)
{
    *first = data->sparse ? data->starts[row] : row * data->domain.cols;
    *count = data->sparse ? data->starts[row + 1] - data->starts[row] : data->domain.cols;
}

/* Row `from` takes the place of row `to`, at most that far; at: where its cells begin. */
static size_t move_down(clo_bounded *data, size_t from, size_t to, size_t at)
{
    size_t first, cells;
    clo_i_row_range(data, from, &first, &cells);
    memmove(data->cells + at, data->cells + first, cells * sizeof *data->cells);
    if (data->sparse) {
        memmove(data->columns + at, data->columns + first, cells * sizeof *data->columns);
        data->starts[to + 1] = at + cells; /* where row `to` began is known already */
    }
    return at + cells;
}

/* Rows are fewer from now on: what lay behind them is wiped, as free_arrays wipes the rest. */
static void end_at(clo_bounded *data, size_t rows, size_t cells)
{
    clo_i_wipe(data->cells + cells, (data->cell_count - cells) * sizeof *data->cells);
    if (data->sparse)
        clo_i_wipe(data->starts + rows + 1, (data->rows - rows) * sizeof *data->starts);
    data->rows = rows;
}

void clo_i_close_up(clo_bounded *data, const uint8_t *gone)
{
    size_t kept = 0, at = 0;
    for (size_t i = 0; i < data->rows; i++)
        if (!gone[i]) at = move_down(data, i, kept++, at);
    end_at(data, kept, at);
}

/* Null records go (bound.T6).  Where each record of a known number has a place of its own, the
 * others remember theirs. */
static clo_status drop_nulls(clo_bounded *data, const uint8_t *nulls, clo_error *err)
{
    const bool placed = data->domain.relation == CLO_REPLACE && !data->domain.unit;
    size_t kept = 0;
    for (size_t i = 0; i < data->rows; i++) kept += !nulls[i];
    if (kept == data->rows) return CLO_OK;
    if (placed) CLO_TRY(clo_i_alloc(kept, sizeof *data->slot_of, &data->slot_of, err));
    for (size_t i = 0, to = 0; placed && i < data->rows; i++)
        if (!nulls[i]) data->slot_of[to++] = (uint32_t)i;
    clo_i_close_up(data, nulls);
    return CLO_OK;
}

/* A table and a domain are of one schema, or both of none; rows in the caller's memory have none of
 * their own. */
static clo_status check_schemas(const clo_table *table, const clo_domain *domain, clo_error *err)
{
    const clo_schema *const own = clo_table_schema(table), *const schema = domain->schema;
    if (own && !schema)
        return clo_i_fail(err, CLO_DOMAIN,
                          "the table was read with a schema, which the domain must have too");
    if (own && strcmp(own->own, schema->own) != 0)
        return clo_i_fail(err, CLO_DOMAIN, "the table was read with another schema");
    if (schema && !own && clo_table_file_cols(table))
        return clo_i_fail(err, CLO_DOMAIN,
                          "the domain has a schema, without which the table was read");
    return CLO_OK;
}

static clo_status check_table(const clo_table *table, const clo_domain *domain, clo_error *err)
{
    CLO_TRY(check_schemas(table, domain, err));
    if (clo_table_cols(table) != clo_i_domain_table_cols(domain))
        return clo_i_fail(err, CLO_DOMAIN, "the domain has %zu columns and the table %zu",
                          clo_i_domain_table_cols(domain), clo_table_cols(table));
    if (clo_i_table_text_later(table))
        return clo_i_fail(err, CLO_DOMAIN,
                          "the table was read for comparing (CLO_TEXT_LATER), not for a run");
    if (clo_i_table_guessed_cols(table) && (domain->relation != CLO_REPLACE || domain->unit))
        return clo_i_fail(err, CLO_DOMAIN,
                          "the number of columns was read from the first record, and the number "
                          "of records is secret here: give the number of columns (cols)");
    if (!domain->unit != !clo_table_has_unit(table))
        return clo_i_fail(err, CLO_DOMAIN, "%s",
                          domain->unit ? "the domain names a unit, and the table has no unit column"
                                       : "the table has a unit column, which the domain must name");
    if (domain->relation == CLO_REPLACE && !clo_table_has_unit(table) && domain->rows &&
        domain->rows != clo_table_rows(table))
        return clo_i_fail(err, CLO_DOMAIN,
                          "rows is %llu, but there are %zu rows: under replace leave rows out, or "
                          "give the exact number",
                          (unsigned long long)domain->rows, clo_table_rows(table));
    return CLO_OK;
}

/* What the test build may have done wrong: every record is divided by the longest one's length. */
static void plant_radius(clo_bounded *data)
{
    double longest = 0;
    if (!clo_i_planted(CLO_FAULT_RADIUS_FROM_DATA)) return;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < data->rows; i++) {
            size_t first, count;
            double square = 0;
            clo_i_row_range(data, i, &first, &count);
            for (size_t e = first; e < first + count; e++)
                square += (double)data->cells[e] * data->cells[e];
            longest = fmax(longest, sqrt(square));
            for (size_t e = first; pass && longest > 0 && e < first + count; e++)
                data->cells[e] = (int32_t)ldexp(data->cells[e] / longest, CLO_GRID_BITS);
        }
}

/* For the information-flow test: how many records count is followed like any other secret, under
 * replace too, where a record may be null; how many rows there were, where it is one.  (Where a row
 * of a sparse table begins is marked in the table already.) */
static void taint(clo_bounded *data, bool placed)
{
#ifdef CLO_TAINT
    (void)VALGRIND_MAKE_MEM_UNDEFINED(&data->rows, sizeof data->rows);
    (void)VALGRIND_MAKE_MEM_UNDEFINED(&data->cell_count, sizeof data->cell_count);
    if (!placed) (void)VALGRIND_MAKE_MEM_UNDEFINED(&data->slots, sizeof data->slots);
#else
    (void)data;
    (void)placed;
#endif
}

static clo_status bound_rows(clo_bounded *data, const clo_table *table, uint8_t *nulls,
                             clo_error *err)
{
    clo_i_way way;
    CLO_TRY(clo_i_way_make(&data->domain, table, &way, err));
    const bool sparse = clo_i_way_keeps_sparse(&data->domain, clo_i_table_is_sparse(table));
    const clo_status status = (sparse ? bound_sparse : bound_dense)(data, &way, table, nulls, err);
    clo_i_way_clear(&way);
    return status;
}

/* Records are kept out of swap where all of them may be. */
static void lock_records(const clo_bounded *data)
{
    const size_t cells = data->cell_count * sizeof *data->cells;
    const size_t columns = data->columns ? data->cell_count * sizeof *data->columns : 0;
    const size_t starts = data->starts ? (data->rows + 1) * sizeof *data->starts : 0;
    if (!clo_i_may_lock(cells + columns + starts)) return;
    (void)!(clo_i_lock(data->cells, cells) && clo_i_lock(data->columns, columns) &&
            clo_i_lock(data->starts, starts));
}

static clo_status bound_table(clo_bounded *data, const clo_table *table, clo_error *err)
{
    const bool placed = data->domain.relation == CLO_REPLACE && !data->domain.unit;
    const size_t rows = clo_table_rows(table);
    uint8_t *nulls = NULL;
    CLO_TRY(clo_i_alloc(rows, 1, &nulls, err));
    data->rows = rows;
    clo_status status = bound_rows(data, table, nulls, err);
    if (!status) plant_radius(data);
    if (!status)
        status = clo_table_has_unit(table) ? clo_i_limit_units(data, table, nulls, err)
                                           : drop_nulls(data, nulls, err);
    data->slots = placed ? rows : data->rows;
    if (!status) lock_records(data);
    if (!status) taint(data, placed);
    clo_i_wipe_free(nulls, rows);
    return status;
}

/* Rows that are not held (flow.T1). */
static clo_status bound_scan(clo_bounded *data, const clo_table *table, clo_error *err)
{
    const bool placed = data->domain.relation == CLO_REPLACE && !data->domain.unit;
    CLO_TRY(clo_i_flow_open(table, data, err));
    data->slots = placed ? clo_table_rows(table) : data->rows;
    taint(data, placed);
    return CLO_OK;
}

clo_status clo_bound(const clo_table *table, const clo_domain *domain, clo_bounded **out,
                     clo_error *err)
{
    clo_bounded *data = NULL;
    clo_status status;
    CLO_TRY(clo_i_check_float_state(0, err));
    CLO_TRY(clo_domain_check(domain, err));
    CLO_TRY(clo_i_alloc(1, sizeof *data, &data, err));
    status = clo_i_domain_copy(domain, &data->domain, err);
    if (!status) status = check_table(table, &data->domain, err);
    if (!status) status = (clo_i_table_is_scan(table) ? bound_scan : bound_table)(data, table, err);
    if (status)
        clo_bounded_free(data);
    else
        *out = data;
    return status;
}

/* ---- the same rows in another ball --------------------------------------------------------- */

/* From the grid to ball coordinates, about the shift, and onto the new grid. */
static void move_row(const clo_bounded *from, size_t row, const double *shift, double radius,
                     double *values, int32_t *out)
{
    const double unit = ldexp(clo_i_domain_radius(&from->domain), -CLO_GRID_BITS);
    const size_t cols = from->domain.cols;
    size_t first, count;
    clo_i_row_range(from, row, &first, &count);
    if (from->sparse && shift) {
        for (size_t j = 0; j < cols; j++) values[j] = 0;
        for (size_t e = first; e < first + count; e++)
            values[from->columns[e]] = from->cells[e] * unit;
        count = cols;
    } else {
        for (size_t e = 0; e < count; e++) values[e] = from->cells[first + e] * unit;
    }
    for (size_t j = 0; shift && j < cols; j++) values[j] -= shift[j];
    clo_i_to_grid(values, count, radius, out);
}

/* What of `data` the moved records must have room for: as they are, and, where they may be
 * shifted, written out in full.  Rows are fewer than 2^32 and columns than 2^25: no overflow. */
static size_t moved_cells(const clo_bounded *data, bool shifted)
{
    const size_t full = data->rows * data->domain.cols;
    return data->sparse && (!shifted || data->cell_count > full) ? data->cell_count : full;
}

static clo_status take_arrays(struct clo_workspace *workspace, const clo_bounded *data,
                              bool shifted, clo_bounded *out, clo_error *err)
{
    if (data->flow) return clo_i_flow_take(workspace, data, out, err);
    const size_t cells = moved_cells(data, shifted);
    CLO_TRY(clo_i_take(workspace, cells, sizeof *out->cells, &out->cells, err));
    if (!data->sparse) return CLO_OK;
    CLO_TRY(clo_i_take(workspace, data->cell_count, sizeof *out->columns, &out->columns, err));
    return clo_i_take(workspace, data->rows + 1, sizeof *out->starts, &out->starts, err);
}

clo_status clo_i_rebound_room(struct clo_workspace *space, const clo_bounded *data, bool shifted,
                              clo_error *err)
{
    clo_bounded unused = { .rows = 0 };
    return take_arrays(space, data, shifted, &unused, err);
}

clo_status clo_i_rebound_take(struct clo_workspace *workspace, const clo_bounded *data,
                              bool shifted, clo_bounded **out, clo_error *err)
{
    clo_bounded *moved = NULL;
    CLO_TRY(clo_i_alloc(1, sizeof *moved, &moved, err));
    moved->borrowed = true;
    const clo_status status = take_arrays(workspace, data, shifted, moved, err);
    if (status)
        clo_bounded_free(moved);
    else
        *out = moved;
    return status;
}

static void copy_places(const clo_bounded *from, clo_bounded *to)
{
    if (to->cell_count) memcpy(to->columns, from->columns, to->cell_count * sizeof *to->columns);
    memcpy(to->starts, from->starts, (from->rows + 1) * sizeof *to->starts);
}

clo_status clo_i_move_rows(const clo_bounded *data, const double *shift, clo_bounded *moved,
                           clo_error *err)
{
    const size_t cols = data->domain.cols;
    const double radius = clo_i_domain_radius(&moved->domain);
    _Atomic int failure = CLO_OK;
    moved->rows = data->rows;
    moved->sparse = data->sparse && !shift;
    moved->cell_count = moved->sparse ? data->cell_count : data->rows * cols;
    if (moved->sparse) copy_places(data, moved);
#pragma omp parallel
    {
        double *values = NULL;
        const clo_status mine = clo_i_alloc(cols, sizeof *values, &values, NULL);
#pragma omp for schedule(static)
        for (size_t i = 0; i < data->rows; i++)
            if (!mine)
                move_row(data, i, shift, radius, values,
                         moved->cells + (moved->sparse ? moved->starts[i] : i * cols));
        clo_i_wipe_free(values, values ? cols * sizeof *values : 0);
        if (mine) atomic_store(&failure, (int)mine);
    }
    if (!atomic_load(&failure)) return CLO_OK;
    return clo_i_fail(err, CLO_MEMORY, "out of memory");
}

clo_status clo_i_rebound(const clo_bounded *data, const clo_domain *domain, const double *shift,
                         clo_bounded *moved, clo_error *err)
{
    CLO_TRY(clo_domain_check(domain, err));
    clo_i_domain_clear(&moved->domain);
    CLO_TRY(clo_i_domain_copy(domain, &moved->domain, err));
    moved->slots = data->slots;
    moved->persons = data->persons;
    moved->slot_of = data->slot_of; /* which outlives it */
    if (data->flow) return clo_i_flow_look(data, shift, moved, err);
    return clo_i_move_rows(data, shift, moved, err);
}

/* ---- reading it ------------------------------------------------------------------------ */

clo_row clo_i_bounded_row(const clo_bounded *data, size_t row)
{
    size_t first, count;
    clo_i_row_range(data, row, &first, &count);
    return (clo_row){ count, data->sparse ? data->columns + first : NULL, data->cells + first };
}

static size_t block_size(const clo_bounded *data, size_t index, size_t block_rows)
{
    const size_t first = index * block_rows;
    return data->rows - first < block_rows ? data->rows - first : block_rows;
}

CLO_WIDE static void load_dense(const int32_t *cells, size_t count, int shift, double *values)
{
#pragma omp simd
    for (size_t i = 0; i < count; i++) values[i] = clo_i_coarser(cells[i], shift);
}

clo_status clo_i_block_load(const clo_bounded *data, size_t index, size_t block_rows, int bits,
                            double *values, size_t *rows, clo_error *err)
{
    const size_t cols = data->domain.cols, first = index * block_rows;
    const size_t count = block_size(data, index, block_rows);
    const int shift = CLO_GRID_BITS - bits;
    if (bits < 1 || shift < 0)
        return clo_i_fail(err, CLO_INTERNAL, "a grid of %d bits does not exist", bits);
    if (!data->sparse) {
        load_dense(data->cells + first * cols, count * cols, shift, values);
    } else {
        memset(values, 0, count * cols * sizeof *values);
        for (size_t i = 0; i < count; i++)
            for (size_t e = data->starts[first + i]; e < data->starts[first + i + 1]; e++)
                values[i * cols + data->columns[e]] = clo_i_coarser(data->cells[e], shift);
    }
    *rows = count;
    return CLO_OK;
}

clo_status clo_i_block_norms(const clo_bounded *data, size_t index, size_t block_rows,
                             uint64_t *squares, size_t *rows, clo_error *err)
{
    const size_t first = index * block_rows, count = block_size(data, index, block_rows);
    (void)err;
    for (size_t i = 0; i < count; i++) {
        size_t at, cells;
        uint64_t total = 0; /* at most 4^CLO_GRID_BITS: no overflow */
        clo_i_row_range(data, first + i, &at, &cells);
        for (size_t e = at; e < at + cells; e++) {
            const int64_t r = data->cells[e];
            total += (uint64_t)(r * r);
        }
        squares[i] = total;
    }
    *rows = count;
    return CLO_OK;
}
