/*
 * pca.c - principal components: the one flat that is nearest to all rows.  What the private methods
 * of `subspace` are measured against.
 */
#include "solver/planes/flats.h"

enum { DIM, FLATS, PARAM_COUNT };

static const clo_param params[PARAM_COUNT] = {
    [DIM] = { "dim", CLO_PARAM_INT, 0, 65536, 0, NULL,
              "how many components; 0: by the eigenvalues" },
    [FLATS] = { "flats", CLO_PARAM_CHOICE, 0, 1, 1, "linear|affine",
                "about the origin, or about the rows' mean" },
};

static clo_status solve(const clo_solver_input *job, const double *values, clo_partition *out,
                        clo_error *err)
{
    const clo_flat_shape shape = { .clusters = 1,
                                   .dim = (size_t)values[DIM],
                                   .affine = values[FLATS] > 0 };
    uint32_t *labels = NULL;
    CLO_TRY(clo_i_alloc(job->count, sizeof *labels, &labels, err));
    clo_status status = clo_i_job_progress(job, 0, err);
    if (!status) status = clo_i_fit_flats(job, labels, &shape, out, err);
    clo_i_free(labels);
    return status;
}

const clo_solver clo_i_solver_pca = {
    .name = "pca",
    .summary = "principal components: one subspace for all rows",
    .params = params,
    .param_count = PARAM_COUNT,
    .solve = solve,
};
