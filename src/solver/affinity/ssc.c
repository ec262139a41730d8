/*
 * ssc.c - sparse subspace clustering (Elhamifar and Vidal 2013): each row as a combination of few
 * others, then spectral clustering of who is expressed by whom.
 *
 * The weight of the error is alpha / mu, mu the smallest over the rows of the largest inner product
 * with another row: with alpha at 1 or less some row would be expressed by nothing.  The paper
 * takes 800 for motions, which have almost no noise, and 20 for faces; 20 is the preset.  Rows are
 * first scaled to length 1, except where the subspaces are affine or entries may be wrong.
 */
#include "solver/affinity/self_expression.h"

/* In the order of the rows below. */
enum { CLUSTERS, DIM, FLATS, ALPHA, OUTLIERS, TOLERANCE, ITERATIONS, RESTARTS, PARAM_COUNT };

static const clo_param params[] = {
    CLO_SOLVER_ROW_CLUSTERS_OR_GAP,
    CLO_SOLVER_ROW_DIM,
    CLO_SOLVER_ROW_FLATS,
    { "alpha", CLO_PARAM_REAL, 1, 1e9, 20, NULL,
      "the weight of the error, in units of the least that is useful" },
    { "outliers", CLO_PARAM_REAL, 0, 1e9, 0, NULL,
      "the weight of a sparse error, such as 20, for rows with wrong entries; 0: none" },
    { "tolerance", CLO_PARAM_REAL, 1e-12, 1, 2e-4, NULL,
      "how far from optimal a code may be, relative" },
    CLO_SOLVER_ROW_ITERATIONS(1000),
    CLO_SOLVER_ROW_RESTARTS(10),
};
_Static_assert(sizeof params / sizeof *params == PARAM_COUNT, "a name for each row");

clo_ssc_options clo_i_ssc_default(void)
{
    return (clo_ssc_options){ .alpha = params[ALPHA].preset,
                              .tolerance = params[TOLERANCE].preset,
                              .iterations = (size_t)params[ITERATIONS].preset };
}

clo_status clo_i_ssc_affinity(const clo_solver_input *job, bool affine, clo_affinity *out,
                              clo_error *err)
{
    clo_ssc_options options = clo_i_ssc_default();
    clo_codes codes = { .count = 0 };
    options.affine = affine;
    CLO_TRY(clo_i_ssc_codes(job, &options, &codes, err));
    return clo_i_affinity_from_codes(&codes, out, err);
}

static clo_status solve(const clo_solver_input *job, const double *values, clo_partition *out,
                        clo_error *err)
{
    const clo_ssc_options options = { .alpha = values[ALPHA],
                                      .outliers = values[OUTLIERS],
                                      .affine = values[FLATS] > 0,
                                      .tolerance = values[TOLERANCE],
                                      .iterations = (size_t)values[ITERATIONS] };
    const clo_self_ending ending =
        clo_i_self_ending(values[CLUSTERS], values[DIM], values[FLATS], values[RESTARTS]);
    const clo_solver_input first = clo_i_job_part(job, 0, 0.8);
    clo_codes codes = { .count = 0 };
    CLO_TRY(clo_i_ssc_codes(&first, &options, &codes, err));
    return clo_i_partition_from_codes(job, &codes, &ending, out, err);
}

const clo_solver clo_i_solver_ssc = {
    .name = "ssc",
    .summary = "sparse subspace clustering: writes each row as a sum of few others",
    .params = params,
    .param_count = PARAM_COUNT,
    .unequal = true,
    .solve = solve,
};
