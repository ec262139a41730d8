/* count.h - the number of records, with Gaussian noise. */
#ifndef CLO_QUERY_COUNT_H
#define CLO_QUERY_COUNT_H

#include "ask/query.h"

/* How many records there are, with Gaussian noise. count.T1 */
CLO_CHECK clo_status clo_i_plan_count(const clo_domain *domain, double mu, uint64_t times,
                                      const char *label, clo_line *out, clo_error *err);
CLO_CHECK clo_status clo_i_ask_count(clo_context *context, size_t line, const clo_bounded *data,
                                     double *count, clo_error *err);

#endif
