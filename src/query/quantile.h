/* quantile.h - a quantile of a column or of the record norms, by the exponential mechanism. */
#ifndef CLO_QUERY_QUANTILE_H
#define CLO_QUERY_QUANTILE_H

#include "query/query.h"

typedef struct clo_share {
    uint64_t numerator, denominator;
} clo_share;
CLO_LINE_PART(quantile, clo_share)

/* The quantile numerator/denominator of the record norms (column SIZE_MAX) or of one column, by
 * choosing among increasing public thresholds, of squared norms or of column values on the full
 * grid of bound.h. quantile.T1.  handicaps are public and taken off the scores; they decide among
 * thresholds that the data hold for equal.  The answer is the index of a threshold. */
CLO_CHECK clo_status clo_i_plan_quantile(const clo_domain *domain, size_t candidates,
                                         uint64_t numerator, uint64_t denominator, double epsilon,
                                         uint64_t times, const char *label, clo_line *out,
                                         clo_error *err);
CLO_CHECK clo_status clo_i_ask_quantile(clo_context *context, size_t line, const clo_bounded *data,
                                        size_t column, const int64_t *thresholds,
                                        const int64_t *handicaps, size_t *chosen, clo_error *err);

#endif
