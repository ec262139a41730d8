/* choose_flats.h - one of several sets of subspaces, by how well the records lie on them. */
#ifndef CLO_QUERY_CHOOSE_FLATS_H
#define CLO_QUERY_CHOOSE_FLATS_H

#include "ask/assign.h"

typedef struct clo_flats_fields {
    size_t vectors; /* rows of a rule, at most */
} clo_flats_fields;
CLO_LINE_FIELDS(choose_flats, clo_flats_fields)

/* One of `candidates` sets of subspaces or flats, each of at most `vectors` rows
 * (clo_i_assign_width), by the exponential mechanism on minus the total of the records' squared
 * distances to the nearest of a set. choose_flats.T1. */
CLO_CHECK clo_status clo_i_plan_choose_flats(const clo_domain *domain, size_t candidates,
                                             size_t vectors, double epsilon, uint64_t times,
                                             const char *label, clo_line *out, clo_error *err);
CLO_CHECK clo_status clo_i_ask_choose_flats(clo_context *context, size_t line,
                                            const clo_bounded *data, const clo_assign *candidates,
                                            size_t *chosen, clo_error *err);

#endif
