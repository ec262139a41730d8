/* curve.h - a number of clusters, from the loss of 1, 2, 3, ... of them over that of one. */
#ifndef CLO_SOLVER_CURVE_H
#define CLO_SOLVER_CURVE_H

#include <stddef.h>

/* Of 1, ..., most: where the logarithm of a curve over 1, ..., count bends most, of the numbers
 * after which there is little more to win; 1 where there is none. */
size_t clo_i_curve_elbow(const double *curve, size_t count, size_t most);
/* The least number from 2 on after which three falls of the logarithm are little, in the middle; or
 * the most. */
size_t clo_i_curve_share(const double *curve, size_t count, size_t most);

#endif
