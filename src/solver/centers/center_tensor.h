/*
 * center_tensor.h - a symmetric tensor of order three or four as a matrix, and what a model of k
 * centres leaves of it.  For the files of the centre fit only.
 *
 * The columns of the matrix are the pairs i <= j, in packed form with off-diagonals times sqrt 2;
 * its rows are the other index (order 3) or the other pair (order 4).  So its Frobenius norm is the
 * tensor's, and it acts on all centres in one matrix product.
 */
#ifndef CLO_SOLVER_CENTER_TENSOR_H
#define CLO_SOLVER_CENTER_TENSOR_H

#include "base/base.h"

typedef struct clo_center_shape {
    int order;
    size_t cols, pairs, rows; /* of a record; i <= j; of the matrix */
    size_t clusters;
} clo_center_shape;

clo_center_shape clo_i_center_shape(int order, size_t cols, size_t clusters);
size_t clo_i_center_entries(const clo_center_shape *shape); /* different ones, of the tensor */
/* From the different entries to the matrix, each divided by unit, and back. */
void clo_i_center_spread_out(const clo_center_shape *shape, const double *entries, double unit,
                             double *matrix);
void clo_i_center_gather(const clo_center_shape *shape, const double *matrix, double unit,
                         double *entries);

/* What the tensor would be if the constant of the records were `factor` times as large. */
void clo_i_center_rescale(const clo_center_shape *shape, double factor, double *matrix);

/* A model: z is clusters x cols with the constant in place, weights, and the common variance. */
typedef struct clo_center_point {
    const double *z, *weights;
    double variance;
} clo_center_point;

/* Scratch of the calls below. */
typedef struct clo_center_bench {
    double *residual; /* rows x pairs */
    double *lifted;   /* clusters x pairs: zz' of each */
    double *right;    /* clusters x rows: weighted z, or weighted zz' */
    double *images;   /* clusters x rows: the residual at zz' of each */
    double *trace;    /* rows: the residual's trace over P */
    double *square;   /* cols x cols */
    double *mean;     /* cols */
} clo_center_bench;

size_t clo_i_center_bench_size(const clo_center_shape *shape); /* doubles */
clo_center_bench clo_i_center_bench(const clo_center_shape *shape, double *room);

/* residual = target - model. */
void clo_i_center_residual(const clo_center_shape *shape, const double *target,
                           clo_center_point point, clo_center_bench *bench);
/* Half of the residual's square, and its derivatives: by z (clusters x cols), weights, variance. */
double clo_i_center_loss(const clo_center_shape *shape, const double *target,
                         clo_center_point point, clo_center_bench *bench, double *by_z,
                         double *by_weight, double *by_variance);
/* images = a tensor at z z (z), one vector of cols for each of `count` rows of z: order - 1 times z
 * put in. lifted: count x pairs, products: count x rows, both scratch. */
void clo_i_center_apply(const clo_center_shape *shape, const double *tensor, const double *z,
                        size_t count, double *lifted, double *products, double *images);

#endif
