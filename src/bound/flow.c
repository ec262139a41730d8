/*
 * flow.c - bounded data that are not held: read, bounded and shown part by part, in every pass.
 *
 *   files ──► part of a table ──bound──► part of the bounded data ──► whoever adds up
 *
 * A record goes the way it would go in memory, alone (bound.T1), so that the parts of a pass are
 * the bounded data cut into pieces, and a sum over them is the sum (flow.T1).  The grid of a part
 * lies in memory that is taken once, of a public size, before anything is spent.
 */
#include "bound/bounded.h"
#include <stdatomic.h>
#include <string.h>

enum {
    PART_CELLS = 1 << 21,   /* of dense rows */
    PART_ENTRIES = 1 << 18, /* of sparse ones: more than the longest line of text has */
    PART_ROWS = 1 << 17,
    SHARE = 16 /* of the memory that a part may have, in cells: a quarter of it in bytes */
};
#define MIB ((uint64_t)1 << 20)
/* The program itself, and what BLAS and the system take for each thread. */
static const uint64_t PROGRAM = 16 * MIB, THREAD = 3 * MIB;

typedef struct clo_i_flow {
    /* Of data as they were bounded. */
    clo_recipe *recipe;
    clo_i_way way;
    size_t room_rows, room_cells; /* of a part */
    clo_bounded part;
    uint8_t *nulls;
    _Atomic bool under_way; /* a pass */
    /* Of data that are seen from elsewhere. */
    const clo_bounded *from; /* the above; NULL: this is it */
    double *shift;           /* cols, the workspace's */
    bool shifted;
} clo_i_flow;

bool clo_i_bounded_is_streamed(const clo_bounded *data)
{
    return data->flow != NULL;
}

/* ---- making it ------------------------------------------------------------------------- */

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void size_part(clo_i_flow *flow, bool sparse)
{
    const size_t cols = flow->way.domain->cols;
    const uint64_t share = clo_i_recipe_memory(flow->recipe) / SHARE / sizeof(int32_t);
    const size_t cells = share < PART_CELLS ? (size_t)share : PART_CELLS;
    const size_t rows = cells / cols ? cells / cols : 1;
    flow->room_rows = sparse ? PART_ROWS : smaller(rows, PART_ROWS);
    flow->room_cells = sparse ? PART_ENTRIES : flow->room_rows * cols;
}

static clo_status take_part(clo_i_flow *flow, bool sparse, clo_error *err)
{
    clo_bounded *const part = &flow->part;
    part->domain = *flow->way.domain; /* whose arrays belong to the data */
    part->sparse = sparse;
    CLO_TRY(clo_i_alloc(flow->room_rows, 1, &flow->nulls, err));
    CLO_TRY(clo_i_alloc(flow->room_cells, sizeof *part->cells, &part->cells, err));
    if (!sparse) return CLO_OK;
    CLO_TRY(clo_i_alloc(flow->room_cells, sizeof *part->columns, &part->columns, err));
    return clo_i_alloc(flow->room_rows + 1, sizeof *part->starts, &part->starts, err);
}

clo_status clo_i_flow_open(const clo_table *scan, clo_bounded *data, clo_error *err)
{
    const bool sparse = clo_i_way_keeps_sparse(&data->domain, clo_i_table_is_sparse(scan));
    clo_i_flow *flow = NULL;
    CLO_TRY(clo_i_alloc(1, sizeof *flow, &flow, err));
    data->flow = flow; /* which is freed with the data */
    data->sparse = sparse;
    flow->recipe = clo_i_table_recipe(scan);
    CLO_TRY(clo_i_way_make(&data->domain, scan, &flow->way, err));
    size_part(flow, sparse);
    return take_part(flow, sparse, err);
}

void clo_i_flow_free(clo_i_flow *flow)
{
    if (!flow) return;
    clo_bounded *const part = &flow->part;
    if (!flow->from) {
        clo_i_wipe_free(flow->nulls, flow->room_rows);
        clo_i_wipe_free(part->cells, flow->room_cells * sizeof *part->cells);
        clo_i_wipe_free(part->columns,
                        part->columns ? flow->room_cells * sizeof *part->columns : 0);
        clo_i_wipe_free(part->starts,
                        part->starts ? (flow->room_rows + 1) * sizeof *part->starts : 0);
        clo_i_way_clear(&flow->way);
        clo_i_recipe_release(flow->recipe);
    }
    clo_i_free(flow);
}

/* ---- one pass -------------------------------------------------------------------------- */

typedef struct pass {
    clo_i_flow *flow;
    clo_i_take_rows *take;
    void *user;
} pass;

/* How many rows from the first on there is room for. */
static size_t rows_that_fit(const clo_i_flow *flow, const clo_table *table, size_t first)
{
    const size_t most = smaller(flow->room_rows, clo_table_rows(table) - first);
    size_t rows = 0, entries = 0;
    if (!flow->part.sparse) return most;
    for (; rows < most; rows++) {
        const uint32_t *columns;
        const double *values;
        size_t count;
        clo_i_table_sparse_row(table, first + rows, &columns, &values, &count);
        if (count > flow->room_cells - entries) break;
        entries += count;
    }
    return rows;
}

static void bound_part(clo_i_flow *flow, const clo_table *table, size_t first, size_t rows)
{
    clo_bounded *const part = &flow->part;
    if (part->sparse) {
        clo_i_bound_sparse(&flow->way, table, first, rows, part, flow->nulls);
    } else {
        clo_i_bound_dense(&flow->way, table, first, rows, part->cells, flow->nulls);
        part->rows = rows;
        part->cell_count = rows * part->domain.cols;
    }
    if (memchr(flow->nulls, true, rows)) clo_i_close_up(part, flow->nulls); /* bound.T6 */
    part->slots = part->rows;
}

static clo_status take_table(void *user, const clo_table *table, clo_error *err)
{
    const pass *const p = user;
    for (size_t first = 0, rows; first < clo_table_rows(table); first += rows) {
        rows = rows_that_fit(p->flow, table, first);
        if (rows == 0) return clo_i_fail(err, CLO_INTERNAL, "a record is longer than a line");
        bound_part(p->flow, table, first, rows);
        CLO_TRY(p->take(p->user, &p->flow->part, err));
    }
    return CLO_OK;
}

/* ---- seen from elsewhere ------------------------------------------------------------------ */

clo_status clo_i_flow_take(struct clo_workspace *space, const clo_bounded *data, clo_bounded *out,
                           clo_error *err)
{
    const clo_i_flow *const from = data->flow;
    const size_t cols = data->domain.cols;
    clo_bounded part = { .borrowed = true };
    double *shift = NULL;
    CLO_TRY(clo_i_take(space, cols, sizeof *shift, &shift, err));
    CLO_TRY(clo_i_take(space, from->room_cells, sizeof *part.cells, &part.cells, err));
    if (data->sparse) {
        CLO_TRY(clo_i_take(space, from->room_cells, sizeof *part.columns, &part.columns, err));
        CLO_TRY(clo_i_take(space, from->room_rows + 1, sizeof *part.starts, &part.starts, err));
    }
    if (!shift) return CLO_OK; /* it was only counted */
    CLO_TRY(clo_i_alloc(1, sizeof *out->flow, &out->flow, err));
    out->flow->from = data;
    out->flow->shift = shift;
    out->flow->part = part;
    return CLO_OK;
}

clo_status clo_i_flow_look(const clo_bounded *data, const double *shift, clo_bounded *moved,
                           clo_error *err)
{
    clo_i_flow *const flow = moved->flow;
    if (shift && data->sparse)
        return clo_i_fail(err, CLO_INTERNAL, "sparse rows are not held, and cannot be moved");
    flow->shifted = shift != NULL;
    if (shift) memcpy(flow->shift, shift, data->domain.cols * sizeof *shift);
    flow->part.domain = moved->domain; /* whose arrays belong to it */
    moved->rows = data->rows;
    moved->sparse = data->sparse;
    return CLO_OK;
}

static clo_status take_moved(void *user, const clo_bounded *part, clo_error *err)
{
    const pass *const p = user;
    clo_i_flow *const flow = p->flow;
    CLO_TRY(clo_i_move_rows(part, flow->shifted ? flow->shift : NULL, &flow->part, err));
    flow->part.slots = part->slots;
    return p->take(p->user, &flow->part, err);
}

clo_status clo_i_bounded_each(const clo_bounded *data, clo_i_take_rows *take, void *user,
                              clo_error *err)
{
    clo_i_flow *const flow = data->flow;
    pass p = { flow, take, user };
    if (!flow) return take(user, data, err);
    if (flow->from) return clo_i_bounded_each(flow->from, take_moved, &p, err);
    if (atomic_exchange(&flow->under_way, true)) /* there is memory for one part */
        return clo_i_fail(err, CLO_ARGUMENT, "rows that are not held serve one run at a time");
    const clo_status status = clo_i_recipe_read(flow->recipe, take_table, &p, err);
    atomic_store(&flow->under_way, false);
    return status;
}

/* ---- memory ------------------------------------------------------------------------------ */

clo_status clo_i_bounded_check_memory(const clo_bounded *data, size_t workspace, int threads,
                                      clo_error *err)
{
    const clo_i_flow *const flow = data->flow;
    if (!flow) return CLO_OK;
    const uint64_t row_bytes = data->sparse ? sizeof *flow->part.starts + 1 : 1;
    const uint64_t cell_bytes = data->sparse ? 8 : 4;
    const uint64_t scratch = (uint64_t)flow->way.threads * flow->way.room * sizeof(double);
    const uint64_t needed = PROGRAM + (uint64_t)threads * THREAD + scratch + workspace +
                            clo_i_recipe_room(flow->recipe) + flow->room_rows * row_bytes +
                            flow->room_cells * cell_bytes;
    const uint64_t allowed = clo_i_recipe_memory(flow->recipe);
    if (needed <= allowed) return CLO_OK;
    return clo_i_fail(err, CLO_MEMORY,
                      "this run needs %llu MiB of memory on %d thread%s, and may take %llu MiB",
                      (unsigned long long)((needed + MIB - 1) / MIB), threads,
                      threads == 1 ? "" : "s", (unsigned long long)(allowed / MIB));
}
