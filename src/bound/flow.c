/*
 * flow.c - bounded data that are not held: read, bounded and shown part by part, in every pass.
 *
 *   files ──► part of a table ──bound──► part of the bounded data ──► whoever adds up
 *
 * A record goes the way it would go in memory, alone (bound.T1), so that the parts of a pass are
 * the bounded data cut into pieces, and a sum over them is the sum (flow.T1).  The grid of a part
 * lies in memory that is taken once, of a public size, before anything is spent.
 *
 * Of persons, which rows stay is found out here, once and before anything is spent; what is kept of
 * that is one bit a row, by which every pass leaves the others out (flow.T3).
 *
 * With a cache the parts of one pass are written down, encrypted, before anything is spent, and
 * every later pass shows them again without the files (flow.T4).
 */
#include "bound/bounded.h"
#include <stdatomic.h>
#include <string.h>
#ifdef CLO_TAINT
#include <valgrind/memcheck.h>
#endif

enum {
    PART_CELLS = 1 << 21,   /* of dense rows */
    PART_ENTRIES = 1 << 18, /* of sparse ones: more than the longest line of text has */
    PART_ROWS = 1 << 17,
    SHARE = 16,    /* of the memory that a part may have, in cells: a quarter of it in bytes */
    BIT_SHARE = 32 /* of the memory: a bit a row, where there are persons */
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
    uint8_t *nulls; /* rows of the part that go */
    uint8_t *stays; /* a bit a row of the table; NULL: there are no persons */
    size_t table_rows;
    clo_i_cache *cache;     /* of all parts; NULL: they are made of the files */
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

static size_t bit_bytes(size_t rows)
{
    return rows / 8 + 1;
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

static clo_status choose_rows(clo_bounded *data, clo_error *err);
static clo_status fill_cache(clo_bounded *data, const char *folder, clo_error *err);

clo_status clo_i_flow_open(const clo_table *scan, clo_bounded *data, clo_error *err)
{
    const bool sparse = clo_i_way_keeps_sparse(&data->domain, clo_i_table_is_sparse(scan));
    clo_i_flow *flow = NULL;
    CLO_TRY(clo_i_table_refuse_unkept(scan, err));
    CLO_TRY(clo_i_alloc(1, sizeof *flow, &flow, err));
    data->flow = flow; /* which is freed with the data */
    data->sparse = sparse;
    flow->table_rows = clo_table_rows(scan);
    flow->recipe = clo_i_table_recipe(scan);
    CLO_TRY(clo_i_way_make(&data->domain, scan, &flow->way, err));
    size_part(flow, sparse);
    CLO_TRY(take_part(flow, sparse, err));
    if (data->domain.unit)
        CLO_TRY(choose_rows(data, err));
    else
        data->rows = clo_table_rows(scan) - clo_i_table_null_rows(scan);
    const char *const folder = clo_i_recipe_cache(flow->recipe);
    return folder ? fill_cache(data, folder, err) : CLO_OK;
}

void clo_i_flow_free(clo_i_flow *flow)
{
    if (!flow) return;
    clo_bounded *const part = &flow->part;
    if (!flow->from) {
        clo_i_wipe_free(flow->nulls, flow->nulls ? flow->room_rows : 0);
        clo_i_wipe_free(flow->stays, flow->stays ? bit_bytes(flow->table_rows) : 0);
        clo_i_wipe_free(part->cells, flow->room_cells * sizeof *part->cells);
        clo_i_wipe_free(part->columns,
                        part->columns ? flow->room_cells * sizeof *part->columns : 0);
        clo_i_wipe_free(part->starts,
                        part->starts ? (flow->room_rows + 1) * sizeof *part->starts : 0);
        clo_i_cache_free(flow->cache);
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
    size_t row;             /* of the table, that comes next */
    clo_i_chooser *chooser; /* who looks at all rows; NULL: those that stay are taken */
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
}

/* Null records go (bound.T6), and those that a person has too many of (flow.T3).  A row that was
 * not there before has no bit, and its pass will fail. */
static void close_part(clo_i_flow *flow, size_t row)
{
    clo_bounded *const part = &flow->part;
    for (size_t i = 0; flow->stays && i < part->rows; i++, row++)
        if (row >= flow->table_rows || !(flow->stays[row / 8] >> row % 8 & 1))
            flow->nulls[i] = true;
    if (memchr(flow->nulls, true, part->rows)) clo_i_close_up(part, flow->nulls);
    part->slots = part->rows;
}

static clo_status take_table(void *user, const clo_table *table, clo_error *err)
{
    pass *const p = user;
    clo_i_flow *const flow = p->flow;
    for (size_t first = 0, rows; first < clo_table_rows(table); first += rows, p->row += rows) {
        rows = rows_that_fit(flow, table, first);
        if (rows == 0) return clo_i_fail(err, CLO_INTERNAL, "a record is longer than a line");
        bound_part(flow, table, first, rows);
        if (p->chooser) {
            clo_i_chooser_look(p->chooser, &flow->part, table, first, flow->nulls);
            continue;
        }
        close_part(flow, p->row);
        CLO_TRY(p->take(p->user, &flow->part, err));
    }
    return CLO_OK;
}

/* ---- a cache (flow.T4) ------------------------------------------------------------------- */

bool clo_bounded_is_cached(const clo_bounded *data)
{
    return data->flow && data->flow->cache;
}

/* What stands before each part: how many rows, and entries, it has. */
typedef struct part_sizes {
    uint64_t rows, cells;
} part_sizes;
static const uint64_t NO_MORE = UINT64_MAX;

static clo_status put_part(void *user, const clo_bounded *part, clo_error *err)
{
    clo_i_cache *const cache = user;
    const size_t cells = part->sparse ? part->starts[part->rows] : part->rows * part->domain.cols;
    const part_sizes sizes = { part->rows, cells };
    CLO_TRY(clo_i_cache_put(cache, &sizes, sizeof sizes, err));
    if (part->sparse) {
        CLO_TRY(clo_i_cache_put(cache, part->starts, (part->rows + 1) * sizeof *part->starts, err));
        CLO_TRY(clo_i_cache_put(cache, part->columns, cells * sizeof *part->columns, err));
    }
    return clo_i_cache_put(cache, part->cells, cells * sizeof *part->cells, err);
}

static clo_status get_part(clo_i_flow *flow, const part_sizes *sizes, clo_error *err)
{
    clo_bounded *const part = &flow->part;
    clo_i_cache *const cache = flow->cache;
    if (sizes->rows > flow->room_rows || sizes->cells > flow->room_cells)
        return clo_i_fail(err, CLO_INTERNAL, "the cache has parts that nobody wrote");
    part->rows = part->slots = (size_t)sizes->rows;
    part->cell_count = (size_t)sizes->cells;
    if (part->sparse) {
        CLO_TRY(clo_i_cache_get(cache, part->starts, (part->rows + 1) * sizeof *part->starts, err));
        CLO_TRY(
            clo_i_cache_get(cache, part->columns, part->cell_count * sizeof *part->columns, err));
    }
    return clo_i_cache_get(cache, part->cells, part->cell_count * sizeof *part->cells, err);
}

static clo_status take_cached(clo_i_flow *flow, clo_i_take_rows *take, void *user, clo_error *err)
{
    part_sizes sizes;
    CLO_TRY(clo_i_cache_begin(flow->cache, err));
    for (;;) {
        CLO_TRY(clo_i_cache_get(flow->cache, &sizes, sizeof sizes, err));
        if (sizes.rows == NO_MORE) return clo_i_cache_end(flow->cache, err);
        CLO_TRY(get_part(flow, &sizes, err));
        CLO_TRY(take(user, &flow->part, err));
    }
}

/* A cache that cannot be written, on a disk that is full, say, is done without. */
static clo_status fill_cache(clo_bounded *data, const char *folder, clo_error *err)
{
    const part_sizes end = { NO_MORE, 0 };
    clo_i_cache *cache = NULL;
    clo_error why;
    CLO_TRY(clo_i_cache_new(folder, &cache, err));
    clo_status status = clo_i_bounded_each(data, put_part, cache, &why);
    if (!status) status = clo_i_cache_put(cache, &end, sizeof end, &why);
    if (!status) status = clo_i_cache_finish(cache, &why);
    if (!status) {
        data->flow->cache = cache;
        return CLO_OK;
    }
    const bool failed = clo_i_cache_failed(cache);
    clo_i_cache_free(cache);
    return failed ? CLO_OK : clo_i_fail(err, status, "%s", why.message);
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
        return clo_i_fail(err, CLO_INTERNAL,
                          "sparse rows cannot be read with a limit of memory: run without one");
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
    pass p = { .flow = flow, .take = take, .user = user };
    if (!flow) return take(user, data, err);
    if (flow->from) return clo_i_bounded_each(flow->from, take_moved, &p, err);
    if (atomic_exchange(&flow->under_way, true)) /* there is memory for one part */
        return clo_i_fail(err, CLO_ARGUMENT, "rows that are not held serve one run at a time");
    const clo_status status = flow->cache
                                  ? take_cached(flow, take, user, err)
                                  : clo_i_recipe_read(flow->recipe, false, take_table, &p, err);
    atomic_store(&flow->under_way, false);
    return status;
}

/* ---- memory ------------------------------------------------------------------------------ */

/* What all passes take, whatever is done with the rows.  All of it is public: of the bits there is
 * counted what they may take. */
static uint64_t pass_bytes(const clo_bounded *data, bool persons)
{
    const clo_i_flow *const flow = data->flow;
    const uint64_t row_bytes = data->sparse ? sizeof *flow->part.starts + 1 : 1;
    const uint64_t cell_bytes = data->sparse ? 8 : 4;
    const uint64_t scratch = (uint64_t)flow->way.threads * flow->way.room * sizeof(double);
    const uint64_t bits = data->domain.unit ? clo_i_recipe_memory(flow->recipe) / BIT_SHARE : 0;
    const uint64_t cache = clo_i_recipe_cache(flow->recipe) ? clo_i_cache_room() : 0;
    return PROGRAM + scratch + bits + cache + clo_i_recipe_room(flow->recipe, persons) +
           flow->room_rows * row_bytes + flow->room_cells * cell_bytes;
}

clo_status clo_i_bounded_check_memory(const clo_bounded *data, size_t workspace, int threads,
                                      clo_error *err)
{
    const clo_i_flow *const flow = data->flow;
    if (!flow) return CLO_OK;
    const uint64_t needed = pass_bytes(data, false) + (uint64_t)threads * THREAD + workspace;
    const uint64_t allowed = clo_i_recipe_memory(flow->recipe);
    if (needed <= allowed) return CLO_OK;
    return clo_i_fail(err, CLO_MEMORY,
                      "this run needs %llu MiB of memory on %d thread%s, and the limit is %llu "
                      "MiB: raise the limit, or use fewer threads",
                      (unsigned long long)((needed + MIB - 1) / MIB), threads,
                      threads == 1 ? "" : "s", (unsigned long long)(allowed / MIB));
}

/* ---- persons (flow.T3) --------------------------------------------------------------------- */

/* A bit a row, kept out of swap where it may be.  Only how many rows there are can be too much. */
static clo_status take_bits(clo_i_flow *flow, clo_error *err)
{
    const size_t bytes = bit_bytes(flow->table_rows);
    if (bytes > clo_i_recipe_memory(flow->recipe) / BIT_SHARE)
        return clo_i_fail(err, CLO_MEMORY,
                          "the limit of memory is too small for so many rows with persons: raise "
                          "it");
    CLO_TRY(clo_i_alloc(bytes, 1, &flow->stays, err));
    if (clo_i_may_lock(bytes)) (void)!clo_i_lock(flow->stays, bytes);
    return CLO_OK;
}

/* For the information-flow test: they were set where a secret said so, which leaves no mark. */
static void mark_bits(clo_i_flow *flow)
{
#ifdef CLO_TAINT
    (void)VALGRIND_MAKE_MEM_UNDEFINED(flow->stays, bit_bytes(flow->table_rows));
#else
    (void)flow;
#endif
}

/* Beside what a pass takes, the chooser has all memory: the run takes its own afterwards. */
static clo_status open_chooser(const clo_bounded *data, clo_i_chooser **out, clo_error *err)
{
    const clo_i_flow *const flow = data->flow;
    const uint64_t most = data->domain.rows_per_unit, least = clo_i_chooser_least(most);
    const uint64_t needed = pass_bytes(data, true) + THREAD + least;
    const uint64_t allowed = clo_i_recipe_memory(flow->recipe);
    if (needed > allowed)
        return clo_i_fail(err, CLO_MEMORY,
                          "so many rows per person need %llu MiB of memory, and the limit is %llu "
                          "MiB: raise the limit, or lower rows-per-unit",
                          (unsigned long long)((needed + MIB - 1) / MIB),
                          (unsigned long long)(allowed / MIB));
    return clo_i_chooser_new(allowed - needed + least, flow->table_rows, most, flow->stays, out,
                             err);
}

static clo_status choose_rows(clo_bounded *data, clo_error *err)
{
    clo_i_flow *const flow = data->flow;
    clo_i_chooser *chooser = NULL;
    clo_status status;
    CLO_TRY(take_bits(flow, err));
    CLO_TRY(open_chooser(data, &chooser, err));
    do {
        pass p = { .flow = flow, .chooser = chooser };
        status = clo_i_recipe_read(flow->recipe, true, take_table, &p, err);
    } while (!status && !clo_i_chooser_end(chooser));
    data->rows = clo_i_chooser_kept(chooser, &data->persons);
    clo_i_chooser_free(chooser);
    mark_bits(flow);
    return status;
}
