/* local_gram.h - the Gram matrix of the records about a released centre, cut to a width. */
#ifndef CLO_QUERY_LOCAL_GRAM_H
#define CLO_QUERY_LOCAL_GRAM_H

#include "ask/assign.h"

/* The sum of v v' over all records x, v = (x - c) / max(|x - c|, width), in one Gaussian query
 * (local_gram.T1). */
CLO_CHECK clo_status clo_i_plan_local_gram(const clo_domain *domain, double mu, uint64_t times,
                                           const char *label, clo_line *out, clo_error *err);
/* center: d numbers in unit-ball coordinates, no farther out than twice the radius; width: in radii
 * (rounded to the grid, and from one step of it to CLO_LOCAL_WIDEST).  Both released or public.
 * Answers: a symmetric d x d matrix, in squared widths. */
CLO_CHECK clo_status clo_i_ask_local_gram(clo_context *context, size_t line,
                                          const clo_bounded *data, const double *center,
                                          double width, double *gram, clo_error *err);
/* Standard deviation of an entry of the diagonal, in squared widths. */
double clo_i_local_gram_deviation(const clo_line *line);

#endif
