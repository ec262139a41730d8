/*
 * lrr.c - low-rank representation: the points expressed by each other with the least nuclear norm.
 *
 * What the data's noise is said to be decides the problem, and two of the three have a closed form
 * in the skinny singular value decomposition X = U S V' (a point a column):
 *
 *   none      min |C|_*, X = XC                             C = V V'  (Costeira and Kanade's shape
 *                                                           interaction matrix; Liu et al., 2013)
 *   gaussian  min |C|_* + lambda/2 |X - XC|_F^2             C = V max(I - S^-2/lambda, 0) V'
 *                                                           (Favaro, Vidal and Ravichandran, 2011)
 *   outliers  min |C|_* + lambda |E|_{2,1}, X = XC + E      lrr_alm.c
 *
 * Lambda, where it is not given: for gaussian noise such that singular values up to the smallest of
 * all, or up to a thousandth of the largest, are noise; for outliers from the data (lrr_alm.c), or
 * by the rule of Liu et al. where a share of outliers is given.
 *
 * Where the subspaces' dimension is given, the data have no more rank than all of them together,
 * and what is beyond is left out first; `rank` overrides that.  The affinity is that of Liu et al.:
 * with C = P D Q', the cosines between rows of P D^(1/2), raised to a power; 2 in their text, 4 in
 * their program.  The sixth separates more data sets than either.
 */
#include "solver/affinity/lowrank.h"
#include <math.h>

enum { NOISE_NONE, NOISE_GAUSSIAN, NOISE_OUTLIERS };

/* In the order of the rows below. */
enum {
    CLUSTERS,
    DIM,
    FLATS,
    NOISE,
    LAMBDA,
    SHARE,
    RANK,
    POWER,
    SCALE,
    NEIGHBOURS,
    ITERATIONS,
    TOLERANCE,
    RESTARTS,
    PARAM_COUNT
};

static const clo_param params[] = {
    CLO_SOLVER_ROW_CLUSTERS_OR_GAP,
    CLO_SOLVER_ROW_DIM,
    CLO_SOLVER_ROW_FLATS,
    { "noise", CLO_PARAM_CHOICE, 0, 2, NOISE_GAUSSIAN, "none|gaussian|outliers",
      "the errors of the rows: none; gaussian: small everywhere; outliers: some rows completely "
      "wrong" },
    { "lambda", CLO_PARAM_REAL, 0, 1e30, 0, NULL, "the weight of errors; 0: chosen from the data" },
    { "share", CLO_PARAM_REAL, 0, 1, 0, NULL,
      "with outliers: the share of wrong rows, from which lambda follows; 0: chosen from the "
      "data" },
    { "rank", CLO_PARAM_INT, 0, 16384, 0, NULL,
      "the most directions of the data to use; 0: as many as clusters times dim, or all" },
    { "power", CLO_PARAM_INT, 1, 32, 6, NULL, "the power of the cosines that is the affinity" },
    CLO_LOWRANK_ROW_SCALE,
    CLO_LOWRANK_ROW_NEIGHBOURS,
    CLO_SOLVER_ROW_ITERATIONS(500),
    { "tolerance", CLO_PARAM_REAL, 1e-7, 1, 1e-4, NULL,
      "outliers: the share of the objective that may be missing to the optimum" },
    CLO_SOLVER_ROW_RESTARTS(10),
};
_Static_assert(sizeof params / sizeof *params == PARAM_COUNT, "a name for each row");

/* ---- the factor of C, over the vectors of the row space ---------------------------- */

void clo_i_lrr_weights(const clo_row_space *space, double lambda, double *weights)
{
    const double largest = space->values[0];
    const double found = fmax(space->noise / largest, 1e-3);
    const double cut = lambda > 0 ? 1 / (sqrt(lambda) * largest) : found; /* over the largest */
    for (size_t j = 0; j < space->rank; j++) {
        const double share = cut * (largest / space->values[j]);
        weights[j] = share < 1 ? (1 - share) * (1 + share) : 0;
    }
}

/* C = V D V' has the factor V D^(1/2). */
static clo_status represent_gaussian(const double *values, clo_row_space *space, clo_error *err)
{
    const size_t r = space->rank;
    double *weights = NULL;
    CLO_TRY(clo_i_alloc(r, sizeof *weights, &weights, err));
    clo_i_lrr_weights(space, values[LAMBDA], weights);
    for (size_t i = 0; i < space->count; i++)
        for (size_t j = 0; j < r; j++) space->vectors[i * r + j] *= sqrt(weights[j]);
    clo_i_free(weights);
    return CLO_OK;
}

/* Row by row V becomes V directions values^(1/2). */
static clo_status turn_columns(clo_row_space *space, const clo_lrr_fit *fit, clo_error *err)
{
    const size_t r = space->rank;
    double *turned = NULL;
    CLO_TRY(clo_i_alloc(r, sizeof *turned, &turned, err));
    for (size_t i = 0; i < space->count; i++) {
        double *const row = space->vectors + i * r;
        for (size_t j = 0; j < r; j++) turned[j] = 0;
        for (size_t c = 0; c < r; c++)
            for (size_t j = 0; j < r; j++) turned[j] += row[c] * fit->directions[c * r + j];
        for (size_t j = 0; j < r; j++) row[j] = turned[j] * sqrt(fit->values[j]);
    }
    clo_i_free(turned);
    return CLO_OK;
}

static clo_status represent_outliers(const clo_solver_input *job, const double *values,
                                     clo_row_space *space, clo_error *err)
{
    clo_lrr_options options = { .lambda = values[LAMBDA],
                                .iterations = (size_t)values[ITERATIONS],
                                .tolerance = values[TOLERANCE] };
    clo_lrr_fit fit = { 0 };
    if (options.lambda <= 0) CLO_TRY(clo_i_lrr_lambda(space, values[SHARE], &options.lambda, err));
    CLO_TRY(clo_i_lrr_alm(job, space, &options, &fit, err));
    const clo_status status = turn_columns(space, &fit, err);
    clo_i_lrr_fit_free(&fit);
    return status;
}

/* Cosines do not ask how long a row is.  A row of zeros has none, and no affinity. */
static void make_unit_rows(clo_row_space *space)
{
    for (size_t i = 0; i < space->count; i++) {
        double *const row = space->vectors + i * space->rank, square = 0;
        for (size_t j = 0; j < space->rank; j++) square += row[j] * row[j];
        const double scale = square > 0 ? 1 / sqrt(square) : 0;
        for (size_t j = 0; j < space->rank; j++) row[j] *= scale;
    }
}

/* ---- the affinity -------------------------------------------------------------------- */

static size_t rank_asked(const clo_solver_input *job, const double *values)
{
    size_t rank = 0;
    if (values[RANK] > 0) return (size_t)values[RANK];
    const size_t clusters = (size_t)values[CLUSTERS], further = values[FLATS] > 0;
    for (size_t k = 0; k < clusters && job->dims; k++) rank += job->dims[k] + further;
    if (!job->dims && values[DIM] > 0) rank = clusters * ((size_t)values[DIM] + further);
    return rank;
}

static clo_status make_affinity(const clo_solver_input *job, const double *values,
                                clo_affinity *out, clo_error *err)
{
    const clo_row_view view = { .affine = values[FLATS] > 0, .unit = values[SCALE] > 0 };
    const clo_solver_input middle = clo_i_job_part(job, 0.2, 0.8),
                           last = clo_i_job_part(job, 0.8, 1);
    clo_row_space space = { 0 };
    CLO_TRY(clo_i_job_progress(job, 0, err));
    CLO_TRY(clo_i_row_space_new(job, view, rank_asked(job, values), &space, err));
    clo_status status = CLO_OK;
    if (space.rank == 0)
        status = clo_i_fail(err, CLO_ARGUMENT, "all rows are zero; there is nothing to cluster");
    else if (values[NOISE] == NOISE_OUTLIERS)
        status = represent_outliers(&middle, values, &space, err);
    else if (values[NOISE] == NOISE_GAUSSIAN)
        status = represent_gaussian(values, &space, err);
    if (!status) {
        make_unit_rows(&space);
        const clo_factor factor = { .count = space.count,
                                    .width = space.rank,
                                    .rows = space.vectors,
                                    .power = (unsigned)values[POWER] };
        status = clo_i_factor_affinity(&last, &factor, (size_t)values[NEIGHBOURS], out, err);
    }
    clo_i_row_space_free(&space);
    return status;
}

clo_status clo_i_lrr_affinity(const clo_solver_input *job, size_t rank, clo_affinity *out,
                              clo_error *err)
{
    double values[PARAM_COUNT];
    for (size_t i = 0; i < PARAM_COUNT; i++) values[i] = params[i].preset;
    values[RANK] = (double)rank;
    return make_affinity(job, values, out, err);
}

static clo_status solve(const clo_solver_input *job, const double *values, clo_partition *out,
                        clo_error *err)
{
    const clo_flat_shape shape = { .clusters = (size_t)values[CLUSTERS],
                                   .dim = (size_t)values[DIM],
                                   .dims = job->dims,
                                   .affine = values[FLATS] > 0 };
    return clo_i_solve_by_affinity(job, 0.6, make_affinity, values, &shape,
                                   (size_t)values[RESTARTS], out, err);
}

const clo_solver clo_i_solver_lrr = {
    .name = "lrr",
    .summary = "low-rank representation, in closed form or with outliers, then spectral clustering",
    .params = params,
    .param_count = PARAM_COUNT,
    .unequal = true,
    .solve = solve,
};
