/*
 * moment_fit.h - k flats from a tensor of fourth moments.
 *
 * A cluster of records that lies about a subspace has fourth moments near sym(S x S), S positive
 * semidefinite with that subspace as its range: exactly so for elliptical clusters
 * (subspaces_moments.T2).  So the tensor of all records is fitted by the sum of k such terms.  A
 * cluster that lies about a mean, as those of affine flats do in homogeneous coordinates, has a
 * term less for that.  Plain numbers in, plain numbers out.
 */
#ifndef CLO_SOLVER_MOMENT_FIT_H
#define CLO_SOLVER_MOMENT_FIT_H

#include "base/base.h"
#include "random/random.h"

typedef struct clo_moment_job {
    const double *moments; /* entries i <= j <= k <= l, l fastest */
    double noise;          /* standard deviation of an entry, times the root of its multiplicity */
    size_t cols, clusters, dim;
    bool means; /* clusters lie about means, the first columns of their factors */
    /* The parts of the tensor that have traces may be less certain: the part sym(I x X), X
     * traceless, counts second^2 as much, and sym(I x I) none^2 as much; 1: as the rest. */
    double second, none;
    const double *contraction; /* of the moments, cols x cols; read where they are not 1 */
    size_t starts;
    uint64_t ask; /* start number i draws from the stream (ask, i) */
    clo_rng *rng;
    int threads;
} clo_moment_job;

/* S_l = factor factor' + spread I. */
typedef struct clo_moment_model {
    double *factors; /* clusters x cols x dim; the caller's room */
    double spread;   /* what every cluster has in all directions */
    double loss;
} clo_moment_model;

/* The best of many starts: the same for any number of threads. */
CLO_CHECK clo_status clo_i_moment_fit(const clo_moment_job *job, clo_moment_model *out,
                                      clo_error *err);
/* The best and, from the next best on, others that the starts ended in: at most `most` of them, in
 * the order of their losses, for as long as the noise makes them less likely by no more than a
 * factor of e^within.  out: `most` models with room for their factors. */
CLO_CHECK clo_status clo_i_moment_fit_several(const clo_moment_job *job, size_t most, double within,
                                              clo_moment_model *out, size_t *found, clo_error *err);
/* From the model that is already there, one start: for other noise on the same moments. */
CLO_CHECK clo_status clo_i_moment_refit(const clo_moment_job *job, clo_moment_model *model,
                                        clo_error *err);
/* The moments that the model stands for, in the order of a job's. */
void clo_i_moment_of_model(const clo_moment_model *model, size_t cols, size_t clusters, size_t dim,
                           bool means, double *moments);

#endif
