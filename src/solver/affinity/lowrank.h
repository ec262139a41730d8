/*
 * lowrank.h - what the low-rank solvers (lrr, lsr) share: the row space of the data, affinities
 * that are made of inner products, and the augmented Lagrangian method.
 *
 * All of them express the points by each other, X = XC with a point a column, and for all of them
 * C lies in the row space of X.  So nothing here ever works on the n x n matrix C, but on its
 * coordinates in that space: a row of numbers a point, as many as X has rank.
 */
#ifndef CLO_LOWRANK_H
#define CLO_LOWRANK_H

#include "solver/solver.h"

/* How the rows are read before anything is made of them. */
typedef struct clo_row_view {
    bool affine; /* with a further, constant column: an affine subspace becomes a linear one */
    bool unit;   /* each row scaled to length 1, zero rows left alone */
} clo_row_view;

/* X = U S V': V and S. */
typedef struct clo_row_space {
    size_t count, rank;
    double *vectors; /* count x rank: V */
    double *values;  /* rank: S, positive, largest first */
    double noise;    /* the smallest of all singular values, where that can be noise; or 0 */
} clo_row_space;

/* rank: the number of singular values above rounding, and at most `most` of them (0: all). */
CLO_CHECK clo_status clo_i_row_space_new(const clo_solver_input *job, clo_row_view view,
                                         size_t most, clo_row_space *out, clo_error *err);
void clo_i_row_space_free(clo_row_space *space);

/* The closed form for Gaussian noise: C = V diag(weights) V' minimises
 * |C|_* + lambda/2 |X - XC|_F^2.  lambda 0: singular values up to space->noise, or up to a
 * thousandth of the largest, are noise.  weights: rank. */
void clo_i_lrr_weights(const clo_row_space *space, double lambda, double *weights);

/* The affinity |<f_i, f_j>|^power (scale_i + scale_j) / 2 of rows f, zero on the diagonal. */
typedef struct clo_factor {
    size_t count, width;
    const double *rows;  /* count x width */
    const double *scale; /* count, or NULL: 1 */
    unsigned power;
} clo_factor;

enum { CLO_FACTOR_DENSE_ROWS = 5000, CLO_FACTOR_NEIGHBOURS = 64 };

/* neighbours: how many of each point's largest entries to keep.  0: all of them up to
 * CLO_FACTOR_DENSE_ROWS points, CLO_FACTOR_NEIGHBOURS beyond, where the whole would not fit. */
CLO_CHECK clo_status clo_i_factor_affinity(const clo_solver_input *job, const clo_factor *factor,
                                           size_t neighbours, clo_affinity *out, clo_error *err);

typedef struct clo_lrr_options {
    double lambda; /* what a unit of column error costs */
    size_t iterations;
    double tolerance; /* stop when the duality gap is below this share of the objective */
} clo_lrr_options;

/* The answer of the augmented Lagrangian method, C = V Z'. */
typedef struct clo_lrr_fit {
    double *coefficients; /* count x rank: Z, row i for point i */
    double *errors;       /* count: the length of each point's error, 0 for most */
    double *directions;   /* rank x rank, columns: with values, C = (V directions) values (...)' */
    double *values;       /* rank: the singular values of C, largest first */
    double objective;     /* the sum of the values and of lambda times the errors */
    double bound;         /* no C at all has a lower objective than this */
    size_t iterations;
} clo_lrr_fit;

/* What lrr takes for lambda where outliers are expected.  share: of the points, as Liu et al. have
 * it; 0: twice the median price of a point, see lrr_alm.c. */
CLO_CHECK clo_status clo_i_lrr_lambda(const clo_row_space *space, double share, double *out,
                                      clo_error *err);
/* min |C|_* + lambda |E|_{2,1}, X = XC + E. */
CLO_CHECK clo_status clo_i_lrr_alm(const clo_solver_input *job, const clo_row_space *space,
                                   const clo_lrr_options *options, clo_lrr_fit *out,
                                   clo_error *err);
void clo_i_lrr_fit_free(clo_lrr_fit *fit);

/* The affinity of lsr, of a value for each of the solver's parameters. */
CLO_CHECK clo_status clo_i_lsr_affinity(const clo_solver_input *job, const double *values,
                                        clo_affinity *out, clo_error *err);

/* Rows of parameters that both solvers have. */
#define CLO_LOWRANK_ROW_SCALE                                                                      \
    {                                                                                              \
        "scale", CLO_PARAM_CHOICE, 0, 1, 0, "as-is|unit",                                          \
            "take the rows as they are, or each scaled to length 1"                                \
    }
#define CLO_LOWRANK_ROW_NEIGHBOURS                                                                 \
    {                                                                                              \
        "neighbors", CLO_PARAM_INT, 0, 4096, 0, NULL,                                              \
            "how many of each row's largest affinities to keep; 0: all up to 5000 rows, 64 beyond" \
    }

#endif
