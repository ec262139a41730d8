/*
 * split_moments.h - number, mean and scatter of records out of one noisy Gram matrix of them.
 */
#ifndef CLO_SPLIT_MOMENTS_H
#define CLO_SPLIT_MOMENTS_H

#include "ask/query.h"
#include "ask/lens.h"

/* Of a Gram matrix (d + 1 wide) of records seen with a constant, with that noise: their number,
 * which is returned, their mean as a point of the ball, and the scatter about it (d x d). */
double clo_i_split_moments(const double *moments, const clo_lens *lens, double noise, size_t d,
                           double *point, double *scatter);

#endif
