/* peel.h - the largest entries of clusters' sums, one by one by the exponential mechanism. */
#ifndef CLO_QUERY_PEEL_H
#define CLO_QUERY_PEEL_H

#include "ask/assign.h"

typedef struct clo_peel_fields {
    size_t entries;  /* of a record, that count; 0: all */
    size_t rounds;   /* entries told of a cluster */
    uint64_t weight; /* the rate of a value's noise over that of a choice */
} clo_peel_fields;
CLO_LINE_FIELDS(peel, clo_peel_fields)

/* For each cluster `rounds` columns, one after the other by the exponential mechanism on the
 * magnitudes of its records' sum, each with its noisy value, and the noisy number of records:
 * balcan2017's Algorithm 5 with the constants that it needs (peel.T1).  Answers: columns and values
 * k x the line's rounds in the order of choice, counts k. */
CLO_CHECK clo_status clo_i_plan_peel(const clo_domain *domain, size_t seen, size_t clusters,
                                     size_t entries, size_t rounds, double epsilon,
                                     const char *label, clo_line *out, clo_error *err);
CLO_CHECK clo_status clo_i_ask_peel(clo_context *context, size_t line, const clo_bounded *data,
                                    const clo_assign *rule, size_t *columns, double *values,
                                    double *counts, clo_error *err);

#endif
