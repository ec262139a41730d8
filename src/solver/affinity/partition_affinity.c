/* partition_affinity.c - what ends every solver that makes an affinity of its rows. */
#include "solver/solver.h"

clo_status clo_i_partition_from_affinity(const clo_solver_input *job, const clo_affinity *affinity,
                                         const clo_flat_shape *shape, size_t restarts,
                                         clo_partition *out, clo_error *err)
{
    clo_flat_shape found = *shape;
    clo_solver_input part = clo_i_job_part(job, 0, 0.95);
    uint32_t *labels = NULL;
    if (found.clusters == 0) CLO_TRY(clo_i_spectral_count(&part, affinity, &found.clusters, err));
    CLO_TRY(clo_i_alloc(job->count, sizeof *labels, &labels, err));
    const clo_spectral_options options = { .clusters = found.clusters, .restarts = restarts };
    clo_status status = clo_i_spectral(&part, affinity, &options, labels, err);
    if (!status) {
        part = clo_i_job_part(job, 0.95, 1);
        status = clo_i_fit_flats(&part, labels, &found, out, err);
    }
    clo_i_free(labels);
    return status;
}

clo_status clo_i_solve_by_affinity(const clo_solver_input *job, double share,
                                   clo_make_affinity *make, const double *values,
                                   const clo_flat_shape *shape, size_t restarts, clo_partition *out,
                                   clo_error *err)
{
    const clo_solver_input first = clo_i_job_part(job, 0, share),
                           rest = clo_i_job_part(job, share, 1);
    clo_affinity affinity = { 0 };
    clo_status status = make(&first, values, &affinity, err);
    if (!status)
        status = clo_i_partition_from_affinity(&rest, &affinity, shape, restarts, out, err);
    clo_i_affinity_free(&affinity);
    return status;
}
