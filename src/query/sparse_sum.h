/* sparse_sum.h - sums and sizes of clusters of sparse records, with noise on every column. */
#ifndef CLO_QUERY_SPARSE_SUM_H
#define CLO_QUERY_SPARSE_SUM_H

#include "ask/assign.h"

typedef struct clo_sparse_fields {
    size_t entries; /* of a record, that count; 0: all */
} clo_sparse_fields;
CLO_LINE_FIELDS(sparse_sum, clo_sparse_fields)

/* For each cluster the sum of its records over all columns and their number, the records read as
 * sparse rows.  The rule looks through the line's lens, and the sums do not (sparse_sum.T1).  Of a
 * record the `entries` of largest magnitude count, all where that is 0.  kind, parameter:
 * CLO_EVENT_GAUSSIAN and mu, or CLO_EVENT_PURE and epsilon, of the one ask.  seen: columns that the
 * rule looks at.  Answers: sums k x d in unit-ball coordinates, counts k in records. */
CLO_CHECK clo_status clo_i_plan_sparse_sum(const clo_domain *domain, size_t seen, size_t clusters,
                                           size_t entries, clo_event_kind kind, double parameter,
                                           const char *label, clo_line *out, clo_error *err);
CLO_CHECK clo_status clo_i_ask_sparse_sum(clo_context *context, size_t line,
                                          const clo_bounded *data, const clo_assign *rule,
                                          double *sums, double *counts, clo_error *err);

/* Of a line of either kind: what noise alone exceeds about once in so many numbers, in unit-ball
 * coordinates; and the standard deviation of a noisy count, in records. */
double clo_i_sparse_edge(const clo_line *line, double numbers);
double clo_i_sparse_count_deviation(const clo_line *line);

#endif
