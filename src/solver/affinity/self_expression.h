/*
 * self_expression.h - each point as a combination of few others: what ssc, ssc-omp and ensc have in
 * common.
 *
 * The three differ in what they ask of the coefficients of one point; that each point is a problem
 * of its own is common to them.  So all walk through blocks of points: a block's points share their
 * products with the data as one matrix product, blocks share nothing and go to the threads, and
 * what is the answer for a block does not depend on who computed it.  The coefficients are sparse,
 * so they are kept sparse: memory follows what is not zero, not the square of the points.
 */
#ifndef CLO_SELF_EXPRESSION_H
#define CLO_SELF_EXPRESSION_H

#include "solver/solver.h"

/* Compressed rows: row i has the coefficients that express point i, columns increasing. */
typedef struct clo_codes {
    size_t count;
    size_t *starts; /* count + 1 */
    uint32_t *columns;
    double *values;
} clo_codes;

void clo_i_codes_free(clo_codes *codes);

/* The codes of a block under way; a block's rows may be added in any order, each once at most. */
typedef struct clo_code_block {
    size_t first, rows; /* of the block */
    size_t *starts, *lengths;
    uint32_t *columns;
    double *values;
    size_t used, room;
    const struct clo_encoding *work; /* whose block it is */
} clo_code_block;

/* Adds row (counted from the block's first), columns increasing. */
CLO_CHECK clo_status clo_i_code_add(clo_code_block *block, size_t row, const uint32_t *columns,
                                    const double *values, size_t count, clo_error *err);

/* For encoders that take long over a block: says progress, and CLO_CANCELLED where the caller wants
 * no more or another thread has failed. */
CLO_CHECK clo_status clo_i_code_pause(const clo_code_block *block, clo_error *err);

/* Finds the codes of the rows block->first … +block->rows; on one thread, BLAS too. */
typedef clo_status clo_encoder(const void *context, clo_code_block *block, clo_error *err);

/* All points, in blocks of at most block_rows.  Says progress, and hears a cancel, between blocks.
 */
CLO_CHECK clo_status clo_i_encode(const clo_solver_input *job, size_t block_rows,
                                  clo_encoder *encoder, const void *context, clo_codes *out,
                                  clo_error *err);

/* A copy of the rows, each divided by its length; a row of zeros stays. */
CLO_CHECK clo_status clo_i_unit_rows(const clo_solver_input *job, double **out, clo_error *err);
/* A copy of the rows, all divided by the largest entry. */
CLO_CHECK clo_status clo_i_even_rows(const clo_solver_input *job, double **out, clo_error *err);
/* How many rows a block should have, so that count numbers for each stay in a core's cache. */
size_t clo_i_points_at_once(size_t count);

/* The affinity of codes, which are given back, whatever happens. */
CLO_CHECK clo_status clo_i_affinity_from_codes(clo_codes *codes, clo_affinity *out, clo_error *err);

/* How a solver ends. */
typedef struct clo_self_ending {
    clo_flat_shape shape;
    size_t restarts;
} clo_self_ending;

/* From the values of its parameters. */
clo_self_ending clo_i_self_ending(double clusters, double dim, double flats, double restarts);
/* Codes to affinity, affinity to partition; the codes are given back, whatever happens.  The last
 * fifth of the job. */
CLO_CHECK clo_status clo_i_partition_from_codes(const clo_solver_input *job, clo_codes *codes,
                                                const clo_self_ending *ending, clo_partition *out,
                                                clo_error *err);

/* ---- the three ----------------------------------------------------------------------------- */

typedef struct clo_ssc_options {
    double alpha;     /* how many times the least weight of the error that gives a code; over 1 */
    double outliers;  /* the same for sparse errors; 0: there are none */
    bool affine;      /* coefficients sum to 1 */
    double tolerance; /* of the residuals, relative */
    size_t iterations;
} clo_ssc_options;

clo_ssc_options clo_i_ssc_default(void);
/* min |c|_1 + weight |e|_1 + lambda/2 |x - Xc - e|^2 for each point x, without x itself. */
CLO_CHECK clo_status clo_i_ssc_codes(const clo_solver_input *job, const clo_ssc_options *options,
                                     clo_codes *out, clo_error *err);

typedef struct clo_omp_options {
    size_t sparsity;  /* the most points in a combination */
    double tolerance; /* a rest this short, of length 1 before, is none */
    size_t groups;    /* of points, each of which expresses all; 0: one */
} clo_omp_options;

clo_omp_options clo_i_ssc_omp_default(void);
/* What suits so many subspaces of so many dimensions; dim 0: not known. */
clo_omp_options clo_i_ssc_omp_for(const clo_solver_input *job, size_t clusters, size_t dim);
CLO_CHECK clo_status clo_i_ssc_omp_codes(const clo_solver_input *job,
                                         const clo_omp_options *options, clo_codes *out,
                                         clo_error *err);

typedef struct clo_ensc_options {
    double mixing;    /* lambda: 1 is the lasso */
    double gamma;     /* how many times the least weight of the error that gives a code; over 1 */
    double tolerance; /* of the conditions of optimality */
} clo_ensc_options;

/* min lambda |c|_1 + (1 - lambda)/2 |c|^2 + gamma/2 |x - Xc|^2, the same way. */
CLO_CHECK clo_status clo_i_ensc_codes(const clo_solver_input *job, const clo_ensc_options *options,
                                      clo_codes *out, clo_error *err);

#endif
