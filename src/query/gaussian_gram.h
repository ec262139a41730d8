/* gaussian_gram.h - Gram matrices of clusters, with Gaussian noise. */
#ifndef CLO_QUERY_GAUSSIAN_GRAM_H
#define CLO_QUERY_GAUSSIAN_GRAM_H

#include "ask/assign.h"

/* For each cluster the Gram matrix of its records, all in one Gaussian query.
 * gaussian_gram.T1.  Answers: k symmetric d x d matrices, in squared unit-ball coordinates. */
CLO_CHECK clo_status clo_i_plan_gaussian_gram(const clo_domain *domain, size_t clusters, double mu,
                                              uint64_t times, const char *label, clo_line *out,
                                              clo_error *err);
CLO_CHECK clo_status clo_i_ask_gaussian_gram(clo_context *context, size_t line,
                                             const clo_bounded *data, const clo_assign *rule,
                                             double *grams, clo_error *err);

#endif
