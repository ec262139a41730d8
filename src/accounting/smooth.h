/*
 * smooth.h - Gaussian noise whose scale depends on the data (smooth sensitivity), exactly.
 */
#ifndef CLO_SMOOTH_H
#define CLO_SMOOTH_H

#include "base/base.h"

/* How noise may follow the data: in R^dimension, the answer plus N(0, (S/alpha)^2 I), where S is at
 * least the local sensitivity and changes between neighbours by a factor of at most e^beta, is
 * (epsilon, delta)-differentially private (aggregate.T3). */
typedef struct clo_smooth {
    double alpha, beta;
} clo_smooth;

CLO_CHECK clo_status clo_i_smooth_calibrate(double epsilon, double delta, size_t dimension,
                                            clo_smooth *out, clo_error *err);

/* The hockey-stick divergence at e^epsilon of N(0, I) from N(v, e^(2 lambda) I), |v| = alpha
 * min(1, e^lambda), in R^dimension (aggregate.T2). */
double clo_i_smooth_delta(double epsilon, size_t dimension, double alpha, double lambda);

#endif
