/*
 * solve.c - from a table to a solver and back.  NOT private: a solution is a plain function of the
 * records, for those who may see them.
 */
#include "data/data.h"
#include "not_private/scale.h"
#include "not_private/solution.h"
#include "not_private/solve_scale.h"
#include "parallel/parallel.h"
#include <math.h>
#include <string.h>

enum { BLOCK_ROWS = 4096 };
static const char PRESET_SEED[] = "cloister solve"; /* the same call gives the same answer */

void clo_solve_options_init(clo_solve_options *options, size_t size)
{
    clo_i_give_presets(options, size, &(clo_solve_options){ 0 }, sizeof *options);
}

/* ---- the rows -------------------------------------------------------------------------- */

/* The table's cells as one dense array: in place where they already are one and need no scale,
 * copied otherwise. */
typedef struct rows {
    const double *values;
    double *copy; /* NULL: they are the table's own */
    size_t bytes;
} rows;

static clo_status check_finite(const double *values, size_t count, size_t cols, clo_error *err)
{
    for (size_t i = 0; i < count * cols; i++)
        if (!isfinite(values[i]))
            return clo_i_fail(err, CLO_FORMAT,
                              "row %zu, column %zu is not a number: a solver needs complete rows, "
                              "so remove or fill it",
                              i / cols + 1, i % cols + 1);
    return CLO_OK;
}

static clo_status load(const clo_table *table, clo_i_scale *scale, rows *out, clo_error *err)
{
    const size_t count = clo_table_rows(table), cols = scale->cols;
    const bool as_they_are = !scale->half && !scale->places && !scale->fill;
    size_t cells = 0;
    *out = (rows){ .values = as_they_are ? clo_i_table_dense(table) : NULL };
    if (count < 1 || cols < 1) return clo_i_fail(err, CLO_FORMAT, "the table has no rows");
    if (!clo_i_multiply(count, cols, &cells) || cells > SIZE_MAX / sizeof(double))
        return clo_i_fail(err, CLO_MEMORY,
                          "there is not enough memory for so many rows and "
                          "columns");
    if (!out->values) {
        out->bytes = cells * sizeof(double);
        CLO_TRY(clo_i_alloc(cells, sizeof(double), &out->copy, err));
        for (size_t first = 0; first < count; first += BLOCK_ROWS) {
            const size_t here = count - first < BLOCK_ROWS ? count - first : BLOCK_ROWS;
            clo_i_scale_load(scale, table, first, here, out->copy + first * cols);
            clo_i_table_forget(table, first, here);
        }
        for (size_t i = 0; scale->half && i < cells; i++)
            out->copy[i] = (out->copy[i] - scale->middle[i % cols]) / scale->half[i % cols];
        out->values = out->copy;
    }
    return check_finite(out->values, count, cols, err);
}

static void unload(rows *loaded)
{
    clo_i_wipe_free(loaded->copy, loaded->bytes);
}

/* ---- options --------------------------------------------------------------------------- */

static clo_status take_options(const clo_solve_options *given, clo_solve_options *out,
                               clo_error *err)
{
    *out = clo_solve_options_default();
    CLO_TRY(clo_i_take_options("clo_solve_options", given, out, sizeof *out, err));
    if (out->threads < 0 || out->threads > 1024)
        return clo_i_fail(err, CLO_ARGUMENT, "threads must be between 0 and 1024, not %d",
                          out->threads);
    if (!out->lower != !out->upper)
        return clo_i_fail(err, CLO_ARGUMENT, "bounds need both ends: give both, or neither");
    return CLO_OK;
}

static double setting(const clo_params *params, const char *name, double otherwise)
{
    for (size_t i = 0; i < params->count; i++)
        if (strcmp(params->rows[i].name, name) == 0) return params->values[i];
    return otherwise;
}

static clo_status check_dims(const clo_solver *solver, const clo_params *params, size_t cols,
                             const clo_solve_options *options, clo_error *err)
{
    const double clusters = setting(params, "clusters", 0);
    if (!options->dims) return CLO_OK;
    if (!solver->unequal)
        return clo_i_fail(err, CLO_ARGUMENT, "%s does not take a dimension for each subspace",
                          solver->name);
    if ((double)options->dim_count != clusters)
        return clo_i_fail(err, CLO_ARGUMENT, "there are %zu dimensions for %g clusters",
                          options->dim_count, clusters);
    for (size_t c = 0; c < options->dim_count; c++)
        if (options->dims[c] < 1 || options->dims[c] > cols)
            return clo_i_fail(err, CLO_ARGUMENT,
                              "a dimension must be between 1 and the %zu columns, not %zu", cols,
                              options->dims[c]);
    return CLO_OK;
}

static clo_status check_start(const clo_solver *solver, const clo_params *params, size_t cols,
                              const clo_solution *start, clo_error *err)
{
    const double clusters = setting(params, "clusters", 0);
    if (!start) return CLO_OK;
    if (!solver->warm)
        return clo_i_fail(err, CLO_ARGUMENT, "%s cannot start from a solution", solver->name);
    if (start->partition.cols != cols || (double)start->partition.clusters != clusters)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "the start has %zu clusters in %zu columns, but you asked for %g "
                          "clusters in %zu columns",
                          start->partition.clusters, start->partition.cols, clusters, cols);
    return CLO_OK;
}

static clo_status check_sizes(const clo_solver *solver, const clo_params *params,
                              const clo_table *table, size_t cols, clo_error *err)
{
    const size_t count = clo_table_rows(table);
    const double clusters = setting(params, "clusters", 1), dim = setting(params, "dim", 0);
    if (clusters > (double)count)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "clusters must be at most the number of rows, %zu, "
                          "not %g",
                          count, clusters);
    if (solver->affinity && count != cols)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "%s takes the affinity of the rows, a square matrix, not %zu x %zu",
                          solver->name, count, cols);
    if (!solver->affinity && dim > (double)cols)
        return clo_i_fail(err, CLO_ARGUMENT, "dim must be at most the %zu columns, not %g", cols,
                          dim);
    return CLO_OK;
}

/* ---- solving --------------------------------------------------------------------------- */

static clo_status keep_settings(const clo_params *params, clo_solution *solution, clo_error *err)
{
    CLO_TRY(clo_i_alloc(params->count, sizeof(double), &solution->values, err));
    memcpy(solution->values, params->values, params->count * sizeof(double));
    solution->params = params->rows;
    solution->param_count = params->count;
    return CLO_OK;
}

/* Everything of a call; freed by close. */
typedef struct call {
    const clo_solver *solver;
    const clo_params *params;
    const clo_table *table;
    clo_solve_options how;
    clo_i_columns_known known;
    clo_i_scale scale;
    rows loaded;
    clo_partition start;
    clo_rng *own;
} call;

static void close_call(call *c)
{
    unload(&c->loaded);
    clo_i_scale_clear(&c->scale);
    clo_i_partition_free(&c->start);
    clo_rng_free(c->own);
}

static clo_status open_call(call *c, clo_error *err)
{
    const size_t cols = c->known.cols;
    uint8_t seed[32];
    CLO_TRY(check_sizes(c->solver, c->params, c->table, cols, err));
    CLO_TRY(check_dims(c->solver, c->params, cols, &c->how, err));
    CLO_TRY(check_start(c->solver, c->params, cols, c->how.start, err));
    CLO_TRY(clo_i_scale_fit(&c->known, c->table, &c->scale, err));
    if (c->scale.half && c->solver->affinity)
        return clo_i_fail(err, CLO_ARGUMENT, "%s takes an affinity, which has no scale",
                          c->solver->name);
    if (c->how.start && c->scale.half)
        CLO_TRY(clo_i_start_to_scale(&c->how.start->partition, &c->scale, &c->start, err));
    clo_seed_from_text(PRESET_SEED, seed);
    if (!c->how.rng) CLO_TRY(clo_rng_new_seeded(seed, &c->own, err));
    return load(c->table, &c->scale, &c->loaded, err);
}

static clo_status solve(call *c, clo_solution **out, clo_error *err)
{
    clo_partition partition = { .count = 0 };
    clo_solution *made = NULL;
    const clo_solver_input job = { .rows = c->loaded.values,
                                   .count = clo_table_rows(c->table),
                                   .cols = c->known.cols,
                                   .rng = c->how.rng ? c->how.rng : c->own,
                                   .threads = clo_i_threads(c->how.threads),
                                   .progress = c->how.progress,
                                   .user = c->how.user,
                                   .progress_to = 1,
                                   .start = !c->how.start   ? NULL
                                            : c->scale.half ? &c->start
                                                            : &c->how.start->partition,
                                   .dims = c->how.dims };
    CLO_TRY(c->solver->solve(&job, c->params->values, &partition, err));
    clo_status status = clo_i_partition_to_units(&partition, &c->scale, err);
    if (!status) status = clo_i_solution_new(c->solver->name, &partition, &made, err);
    if (!status) status = keep_settings(c->params, made, err);
    if (!status) status = clo_i_solution_finish(made, &c->known, c->table, &c->scale, err);
    clo_i_partition_free(&partition);
    if (status)
        clo_solution_free(made);
    else
        *out = made;
    return status;
}

static const clo_solver *solver_of(const clo_params *params)
{
    for (size_t i = 0; i < clo_solver_count(); i++)
        if (params->owner == clo_solver_at(i)) return clo_solver_at(i);
    return NULL;
}

clo_status clo_solve(const clo_params *params, const clo_table *table,
                     const clo_solve_options *options, clo_solution **out, clo_error *err)
{
    call c = { .params = params, .table = table };
    if (!params || !table || !out)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "parameters, a table and a place for the solution "
                          "must be given");
    c.solver = solver_of(params);
    if (!c.solver)
        return clo_i_fail(err, CLO_ARGUMENT, "there is no solver '%s'", params->owner_name);
    CLO_TRY(take_options(options, &c.how, err));
    CLO_TRY(clo_i_threads_fit(err));
    if (c.how.like)
        c.known = clo_i_columns_of_release(c.how.like);
    else
        c.known = (clo_i_columns_known){ .what = "scale",
                                         .cols = clo_table_cols(table),
                                         .lower = c.how.lower,
                                         .upper = c.how.upper };
    clo_status status = open_call(&c, err);
    if (!status) status = solve(&c, out, err);
    close_call(&c);
    return status;
}
