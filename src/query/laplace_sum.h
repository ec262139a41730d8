/* laplace_sum.h - sums and sizes of clusters, with discrete Laplace noise and no delta. */
#ifndef CLO_QUERY_LAPLACE_SUM_H
#define CLO_QUERY_LAPLACE_SUM_H

#include "ask/assign.h"

/* The same with discrete Laplace noise, and without a delta.  laplace_sum.T1.  epsilon: of one
 * ask. */
CLO_CHECK clo_status clo_i_plan_laplace_sum(const clo_domain *domain, size_t clusters,
                                            double epsilon, uint64_t times, const char *label,
                                            clo_line *out, clo_error *err);
CLO_CHECK clo_status clo_i_ask_laplace_sum(clo_context *context, size_t line,
                                           const clo_bounded *data, const clo_assign *rule,
                                           double *sums, double *counts, clo_error *err);

#endif
