/*
 * center_fit.h - k centres from a tensor of third or fourth moments.
 *
 * Records are seen with a constant appended, z = (x, constant), so that a tensor of order p holds
 * all moments of x up to the p-th.  A cluster of w records about the centre c, spread evenly in
 * all directions with variance t, has for its moments those of a normal law (kmeans_moments.T2):
 *   order 3: w (a^3 + 3 t sym(a x P)),  order 4: w (a^4 + 6 t sym(aa' x P) + 3 t^2 sym(P x P)),
 * a = (c, constant), P the projection off the constant.  The tensor of all records is fitted by the
 * sum of k such terms with one t in common.  Plain numbers in, plain numbers out.
 */
#ifndef CLO_SOLVER_CENTER_FIT_H
#define CLO_SOLVER_CENTER_FIT_H

#include "base/base.h"
#include "random/random.h"

typedef struct clo_center_job {
    int order;             /* 3 or 4 */
    const double *moments; /* different entries, i <= j <= k (<= l), the last index fastest */
    double noise;          /* standard deviation of an entry, times the root of its multiplicity */
    size_t cols;           /* with the constant, which is the last */
    double constant;
    double radius; /* of the ball that the other columns are in */
    size_t clusters;
    size_t starts;
    uint64_t ask; /* start number i draws from the stream (ask, i) */
    clo_rng *rng;
    int threads;
} clo_center_job;

typedef struct clo_center_model {
    double *centers; /* clusters x (cols - 1), in the tensor's coordinates; the caller's room */
    double *weights; /* clusters: how many records; the caller's room */
    double spread;   /* t */
    double loss;
} clo_center_model;

/* The best of many starts: the same for any number of threads. */
CLO_CHECK clo_status clo_i_center_fit(const clo_center_job *job, clo_center_model *out,
                                      clo_error *err);
/* From the model that is already there, one start: for other noise on the same moments. */
CLO_CHECK clo_status clo_i_center_refit(const clo_center_job *job, clo_center_model *model,
                                        clo_error *err);
/* The moments that the model stands for, in the order of a job's. */
CLO_CHECK clo_status clo_i_center_moments(const clo_center_job *job, const clo_center_model *model,
                                          double *moments, clo_error *err);

#endif
