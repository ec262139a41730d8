/* gaussian_sum.h - sums and sizes of clusters, with Gaussian noise. */
#ifndef CLO_QUERY_GAUSSIAN_SUM_H
#define CLO_QUERY_GAUSSIAN_SUM_H

#include "ask/assign.h"

/* For each cluster the sum of its records and their number, all in one Gaussian query.
 * gaussian_sum.T1.  Answers: sums k x d in unit-ball coordinates, counts k in records. */
CLO_CHECK clo_status clo_i_plan_gaussian_sum(const clo_domain *domain, size_t clusters, double mu,
                                             uint64_t times, const char *label, clo_line *out,
                                             clo_error *err);
CLO_CHECK clo_status clo_i_ask_gaussian_sum(clo_context *context, size_t line,
                                            const clo_bounded *data, const clo_assign *rule,
                                            double *sums, double *counts, clo_error *err);

#endif
