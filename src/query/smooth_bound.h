/* smooth_bound.h - how far the middle one of many points can move, smoothly. */
#ifndef CLO_QUERY_SMOOTH_BOUND_H
#define CLO_QUERY_SMOOTH_BOUND_H

#include "ask/query.h"

/* Of `points` points of a metric space of that diameter, `sorted` has in row i the distances of all
 * from point i, increasing: which of them is the middle one, and a bound, smooth with beta, of how
 * far that one moves when `changed` points do (aggregate.T1).  scratch: a double a point. */
double clo_i_smooth_bound(const double *sorted, size_t points, size_t changed, double beta,
                          double diameter, size_t *center, double *scratch);
/* Whether that bound is the diameter, whatever the points. */
bool clo_i_smooth_is_constant(size_t points, size_t changed, double beta);
void clo_i_sort(double *values, size_t count); /* increasing */

#endif
