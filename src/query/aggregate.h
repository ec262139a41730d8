/* aggregate.h - solutions of disjoint blocks, brought together by smooth sensitivity. */
#ifndef CLO_QUERY_AGGREGATE_H
#define CLO_QUERY_AGGREGATE_H

#include "ask/query.h"

typedef struct clo_aggregate_fields {
    size_t dim, blocks; /* dim: of each subspace, 0: centres */
    double alpha, beta; /* how its noise follows the data (aggregate.T3) */
    int64_t grid_bits;  /* of what is noised */
} clo_aggregate_fields;
CLO_LINE_FIELDS(aggregate, clo_aggregate_fields)

/* k subspaces of the records of each of `blocks` random disjoint blocks, by whatever solver,
 * brought together by the sample-and-aggregate framework: one of them, plus noise that follows how
 * far they differ (aggregate.T4).  Answers: k x cols x dim, a basis of each that is a function of
 * its range alone, in an order that is a function of the set alone. */
CLO_CHECK clo_status clo_i_plan_aggregate(const clo_domain *domain, size_t clusters, size_t dim,
                                          size_t blocks, clo_loss loss, const char *label,
                                          clo_line *out, clo_error *err);

/* The same for k centres, points of the unit ball: clusters x cols (aggregate.T5). */
CLO_CHECK clo_status clo_i_plan_aggregate_centers(const clo_domain *domain, size_t clusters,
                                                  size_t blocks, clo_loss loss, const char *label,
                                                  clo_line *out, clo_error *err);
CLO_CHECK clo_status clo_i_ask_aggregate(clo_context *context, size_t line, const clo_bounded *data,
                                         clo_block_solve *solve, void *user, double *answer,
                                         clo_error *err);

#endif
