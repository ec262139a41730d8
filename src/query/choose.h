/* choose.h - one of finitely many candidates, by the exponential mechanism. */
#ifndef CLO_QUERY_CHOOSE_H
#define CLO_QUERY_CHOOSE_H

#include "query/query.h"

/* The exponential mechanism over `candidates` integer scores (higher is better), drawn exactly.
 * choose.T1.  record_sensitivity: the most by which one record changes any score, under the
 * domain's relation. */
CLO_CHECK clo_status clo_i_plan_choose(const clo_domain *domain, size_t candidates,
                                       uint64_t record_sensitivity, double epsilon, uint64_t times,
                                       const char *label, clo_line *out, clo_error *err);
CLO_CHECK clo_status clo_i_ask_choose(clo_context *context, size_t line, const int64_t *scores,
                                      size_t *chosen, clo_error *err);

#endif
