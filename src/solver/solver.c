/* solver.c - which solvers there are, and what they share: partitions, progress. */
#include "solver/solver.h"
#include <string.h>

static const clo_solver *const table[] = {
#define SOLVER(name) &clo_i_solver_##name,
#include "solver/table.def"
#undef SOLVER
    NULL,
};

size_t clo_solver_count(void)
{
    return sizeof table / sizeof *table - 1;
}

const clo_solver *clo_solver_at(size_t i)
{
    return i < clo_solver_count() ? table[i] : NULL;
}

const clo_solver *clo_solver_find(const char *name)
{
    for (size_t i = 0; i < clo_solver_count(); i++)
        if (strcmp(table[i]->name, name) == 0) return table[i];
    return NULL;
}

const char *clo_solver_name(const clo_solver *solver)
{
    return solver->name;
}

const char *clo_solver_summary(const clo_solver *solver)
{
    return solver->summary;
}

const clo_param *clo_solver_params(const clo_solver *solver, size_t *count)
{
    *count = solver->param_count;
    return solver->params;
}

clo_status clo_solver_params_new(const clo_solver *solver, clo_params **out, clo_error *err)
{
    if (!solver) return clo_i_fail(err, CLO_ARGUMENT, "there is no such solver");
    return clo_i_params_new(solver, solver->name, solver->params, solver->param_count, out, err);
}

/* ---- partitions ---------------------------------------------------------------------------- */

clo_status clo_i_partition_new(size_t count, size_t clusters, size_t cols, size_t width,
                               bool offsets, clo_partition *out, clo_error *err)
{
    clo_partition made = { .count = count, .clusters = clusters, .cols = cols, .width = width };
    size_t points = 0, cells = 0;
    if (!clo_i_multiply(clusters, cols, &points) || !clo_i_multiply(points, width, &cells))
        return clo_i_fail(err, CLO_MEMORY,
                          "there is not enough memory for so many clusters and "
                          "columns");
    clo_status status = clo_i_alloc(count, sizeof *made.labels, &made.labels, err);
    if (!status) status = clo_i_alloc(clusters, sizeof *made.dims, &made.dims, err);
    if (!status && width > 0) status = clo_i_alloc(cells, sizeof *made.bases, &made.bases, err);
    if (!status && offsets) status = clo_i_alloc(points, sizeof *made.offsets, &made.offsets, err);
    if (status)
        clo_i_partition_free(&made);
    else
        *out = made;
    return status;
}

void clo_i_partition_free(clo_partition *partition)
{
    clo_i_free(partition->labels);
    clo_i_free(partition->dims);
    clo_i_free(partition->bases);
    clo_i_free(partition->offsets);
    memset(partition, 0, sizeof *partition);
}

/* ---- jobs ---------------------------------------------------------------------------------- */

clo_status clo_i_job_progress(const clo_solver_input *job, double done, clo_error *err)
{
    const double at = job->progress_from + done * (job->progress_to - job->progress_from);
    if (job->progress && !job->progress(job->user, at))
        return clo_i_fail(err, CLO_CANCELLED, "stopped at the caller's request");
    return CLO_OK;
}

clo_solver_input clo_i_job_part(const clo_solver_input *job, double from, double to)
{
    const double length = job->progress_to - job->progress_from;
    clo_solver_input part = *job;
    part.progress_from = job->progress_from + from * length;
    part.progress_to = job->progress_from + to * length;
    return part;
}
