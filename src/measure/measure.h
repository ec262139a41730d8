/*
 * measure.h - how far data are from a result, and two results from each other.  Plain matrices
 * in, plain numbers out; nothing here is private.
 *
 * A centre and a subspace are both flats: a point plus a q-dimensional direction.  k-means
 * centres are k flats of dimension 0, a principal subspace is one flat through the origin, and
 * k affine subspaces are the general case, so one distance serves every family.
 */
#ifndef CLO_MEASURE_H
#define CLO_MEASURE_H

#include "base/base.h"

/* k flats of R^d, borrowed. */
typedef struct clo_flats {
    size_t count, cols, dim;
    const double *offsets; /* count x cols, a point of each; NULL: the origin */
    const double *bases;   /* count x cols x dim, orthonormal columns; not read where dim is 0 */
} clo_flats;

/* The squared distance of each row to the nearest flat, and which one that is (nearest may be
 * NULL).  A row with a NaN has the distance NaN; no other row has. */
CLO_CHECK clo_status clo_i_flat_distances(const clo_flats *flats, const double *rows, size_t count,
                                          double *squared, uint32_t *nearest, clo_error *err);
/* The mean of those distances over the rows without a NaN; NaN where there is none. */
CLO_CHECK clo_status clo_i_flat_cost(const clo_flats *flats, const double *rows, size_t count,
                                     double *mean, clo_error *err);

/* The permutation that makes the sum over i of cost[i][partner[i]] least; cost is k x k. */
CLO_CHECK clo_status clo_i_match(const double *cost, size_t k, size_t *partner, clo_error *err);

/* ||sin Theta||_F between the ranges of two cols x dim orthonormal matrices. */
CLO_CHECK clo_status clo_i_subspace_distance(const double *a, const double *b, size_t cols,
                                             size_t dim, double *distance, clo_error *err);
/* d_W between two sets of k subspaces, each k x cols x dim: the root of the least sum, over all
 * matchings, of ||sin Theta||_F^2 (wang2015, eq. 2). */
CLO_CHECK clo_status clo_i_subspaces_distance(const double *a, const double *b, size_t k,
                                              size_t cols, size_t dim, double *distance,
                                              clo_error *err);
/* The root mean square distance of the best matching of two sets of k centres, each k x cols. */
CLO_CHECK clo_status clo_i_centers_distance(const double *a, const double *b, size_t k, size_t cols,
                                            double *distance, clo_error *err);

/* The least Frobenius distance between the bases of two sets of k subspaces, each k x cols x dim,
 * over all orders and all rotations of each basis (procrustes.c).  partner: k; scratch:
 * clo_i_procrustes_scratch doubles. */
CLO_CHECK clo_status clo_i_procrustes_distance(const double *a, const double *b, size_t k,
                                               size_t cols, size_t dim, size_t *partner,
                                               double *scratch, double *distance, clo_error *err);
size_t clo_i_procrustes_scratch(size_t k, size_t dim);

#endif
