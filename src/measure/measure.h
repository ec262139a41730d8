/*
 * measure.h - how far data are from a result, and two results from each other.  Plain matrices
 * in, plain numbers out; nothing here is private.
 *
 * A centre and a subspace are both flats: a point plus a q-dimensional direction.  k-means
 * centres are k flats of dimension 0, a principal subspace is one flat through the origin, and
 * k affine subspaces are the general case, so one distance serves every family.  Where dimensions
 * differ, the bases of all have the columns of the largest, and those beyond a flat's own are zero.
 */
#ifndef CLO_MEASURE_H
#define CLO_MEASURE_H

#include "base/base.h"

/* ---- rows and flats (flats.c) -------------------------------------------- */

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

/* ---- sets without an order (matching.c) ---------------------------------- */

/* The permutation that makes the sum over i of cost[i][partner[i]] least; cost is k x k. */
CLO_CHECK clo_status clo_i_match(const double *cost, size_t k, size_t *partner, clo_error *err);
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
/* ---- subspaces (subspaces.c) --------------------------------------------- */

/* d_W between two sets of k subspaces, each k x cols x dim: the root of the least sum, over all
 * matchings, of the squared distance of a pair (wang2015, eq. 2); and the largest principal angle,
 * in radians, between two subspaces of that matching.
 *
 * The distance of a pair is ||sin Theta||_F between the ranges of two cols x dim orthonormal
 * matrices.  Where the dimensions p and q differ it is the root of sum sin^2 + |p - q| / 2, which
 * in all cases is ||UU' - VV'||_F / sqrt 2 and a metric. */
CLO_CHECK clo_status clo_i_subspaces_compare(const double *a, const double *b, size_t k,
                                             size_t cols, size_t dim, double *distance,
                                             double *largest_angle, clo_error *err);
/* The first of the two alone. */
CLO_CHECK clo_status clo_i_subspaces_distance(const double *a, const double *b, size_t k,
                                              size_t cols, size_t dim, double *distance,
                                              clo_error *err);

/* ---- labels (labels.c) --------------------------------------------------- */

typedef struct clo_label_scores {
    double accuracy; /* the share of rows whose label is right, under the best matching */
    double nmi;      /* mutual information over the mean of the two entropies */
    double ari;      /* the Rand index, adjusted for chance */
    size_t counted;  /* rows that had both labels; where 0, the scores are NaN */
} clo_label_scores;

/* How well two clusterings agree, whatever their labels are called.  found must be below
 * found_clusters and truth below true_clusters; other rows (outliers, rows with a bad cell) are
 * left out. */
CLO_CHECK clo_status clo_i_label_scores(const uint32_t *found, size_t found_clusters,
                                        const uint32_t *truth, size_t true_clusters, size_t count,
                                        clo_label_scores *out, clo_error *err);

#endif
