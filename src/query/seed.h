/* seed.h - one of many public cells, by how far its records are from the seeds so far. */
#ifndef CLO_QUERY_SEED_H
#define CLO_QUERY_SEED_H

#include "ask/assign.h"

typedef struct clo_seed_fields {
    size_t seeds;   /* at most */
    uint64_t floor; /* what a cell weighs beside its records */
} clo_seed_fields;
CLO_LINE_FIELDS(seed, clo_seed_fields)

/* One of `cells` cells, in proportion to a floor and the squared distances of its records to the
 * nearest seed: the step of k-means++, made private.  seed.T1.  The cells are those of a rule of
 * centres on the line's grid; seeds: a rule of at most `seeds` centres, NULL before the first;
 * taken: a cell each, those that are drawn no more, fewer than `seeds`. */
CLO_CHECK clo_status clo_i_plan_seed(const clo_domain *domain, size_t cells, size_t seeds,
                                     double epsilon, uint64_t times, const char *label,
                                     clo_line *out, clo_error *err);
CLO_CHECK clo_status clo_i_ask_seed(clo_context *context, size_t line, const clo_bounded *data,
                                    const clo_assign *cells, const clo_assign *seeds,
                                    const bool *taken, size_t *chosen, clo_error *err);

#endif
