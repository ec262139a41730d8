/*
 * lsr.c - least squares representation (Lu et al., 2012): ridge regression of each point on all.
 *
 *   with the point itself     min |X - XC|_F^2 + lambda |C|_F^2,  C = (X'X + lambda I)^-1 X'X
 *   without (diag C = 0)      column j of the former over 1 - C_jj, and 0 on the diagonal
 *
 * The second is the identity by which leave-one-out residuals follow from one fit.  In the skinny
 * singular value decomposition X = U S V' the former is V S^2/(S^2 + lambda) V', so that neither an
 * n x n system nor C itself is ever made.  The affinity is |C| + |C|'.
 *
 * Lambda, where it is not given, is the smallest squared singular value, what noise has in every
 * direction, and at least 1e-5 of the largest; the paper leaves it to the user.
 */
#include "solver/affinity/lowrank.h"
#include <float.h>
#include <math.h>

/* In the order of the rows below. */
enum { CLUSTERS, DIM, FLATS, LAMBDA, DIAGONAL, POWER, SCALE, NEIGHBOURS, RESTARTS, PARAM_COUNT };

static const clo_param params[] = {
    CLO_SOLVER_ROW_CLUSTERS_OR_GAP,
    CLO_SOLVER_ROW_DIM,
    CLO_SOLVER_ROW_FLATS,
    { "lambda", CLO_PARAM_REAL, 0, 1e30, 0, NULL,
      "the ridge; 0: the smallest squared singular value, at least 1e-5 of the largest" },
    { "diagonal", CLO_PARAM_CHOICE, 0, 1, 0, "zero|free",
      "whether a row may take part in expressing itself" },
    { "power", CLO_PARAM_INT, 1, 32, 1, NULL,
      "the power of the coefficients that is the affinity" },
    CLO_LOWRANK_ROW_SCALE,
    CLO_LOWRANK_ROW_NEIGHBOURS,
    CLO_SOLVER_ROW_RESTARTS(10),
};
_Static_assert(sizeof params / sizeof *params == PARAM_COUNT, "a name for each row");

/* V becomes V S (S^2 + lambda)^(-1/2), whose rows have the inner products C. */
static void weigh_columns(clo_row_space *space, double lambda)
{
    const double largest = space->values[0];
    const double ridge = lambda > 0 ? sqrt(lambda) : fmax(space->noise, sqrt(1e-5) * largest);
    for (size_t j = 0; j < space->rank; j++) {
        const double weight = 1 / hypot(1, ridge / space->values[j]);
        for (size_t i = 0; i < space->count; i++) space->vectors[i * space->rank + j] *= weight;
    }
}

/* 1 / (1 - C_ii); a point alone in its direction has C_ii up to 1. */
static void leave_one_out(const clo_row_space *space, double *out)
{
    for (size_t i = 0; i < space->count; i++) {
        const double *const row = space->vectors + i * space->rank;
        double own = 0;
        for (size_t j = 0; j < space->rank; j++) own += row[j] * row[j];
        out[i] = 1 / fmax(1 - own, DBL_EPSILON);
    }
}

clo_status clo_i_lsr_affinity(const clo_solver_input *job, const double *values, clo_affinity *out,
                              clo_error *err)
{
    const clo_row_view view = { .affine = values[FLATS] > 0, .unit = values[SCALE] > 0 };
    const clo_solver_input rest = clo_i_job_part(job, 0.5, 1);
    clo_row_space space = { 0 };
    double *scale = NULL;
    CLO_TRY(clo_i_job_progress(job, 0, err));
    CLO_TRY(clo_i_row_space_new(job, view, 0, &space, err));
    clo_status status = clo_i_alloc(space.count, sizeof *scale, &scale, err);
    if (!status && space.rank == 0)
        status = clo_i_fail(err, CLO_ARGUMENT, "all rows are zero; there is nothing to cluster");
    if (!status) {
        weigh_columns(&space, values[LAMBDA]);
        leave_one_out(&space, scale);
        const clo_factor factor = { .count = space.count,
                                    .width = space.rank,
                                    .rows = space.vectors,
                                    .scale = values[DIAGONAL] > 0 ? NULL : scale,
                                    .power = (unsigned)values[POWER] };
        status = clo_i_factor_affinity(&rest, &factor, (size_t)values[NEIGHBOURS], out, err);
    }
    clo_i_free(scale);
    clo_i_row_space_free(&space);
    return status;
}

static clo_status solve(const clo_solver_input *job, const double *values, clo_partition *out,
                        clo_error *err)
{
    const clo_flat_shape shape = { .clusters = (size_t)values[CLUSTERS],
                                   .dim = (size_t)values[DIM],
                                   .dims = job->dims,
                                   .affine = values[FLATS] > 0 };
    return clo_i_solve_by_affinity(job, 0.4, clo_i_lsr_affinity, values, &shape,
                                   (size_t)values[RESTARTS], out, err);
}

const clo_solver clo_i_solver_lsr = {
    .name = "lsr",
    .summary = "least squares representation in closed form, then spectral clustering",
    .params = params,
    .param_count = PARAM_COUNT,
    .unequal = true,
    .solve = solve,
};
