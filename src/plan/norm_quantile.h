/*
 * norm_quantile.h - a radius that holds a given share of the records, chosen privately among public
 * thresholds that fall by equal factors (norm_quantile.c).
 */
#ifndef CLO_NORM_QUANTILE_H
#define CLO_NORM_QUANTILE_H

#include "plan/mechanism.h"

enum {
    CLO_QUANTILE_OCTAVES = 26,
    CLO_QUANTILE_MOST_STEPS = 32, /* thresholds between a radius and its double */
    CLO_LEARN_STEPS = 8           /* of a run that learns its norm */
};

/* A threshold so many below the largest, as a share of that. */
double clo_i_threshold_share(size_t steps, size_t from_top);

CLO_CHECK clo_status clo_i_plan_norm_quantile(const clo_domain *domain, size_t steps,
                                              double quantile, double epsilon, const char *label,
                                              clo_line *out, clo_error *err);
/* The radius that was chosen, as a share of the domain's. */
CLO_CHECK clo_status clo_i_ask_norm_quantile(clo_context *context, size_t line,
                                             const clo_bounded *data, size_t steps, double *share,
                                             clo_error *err);
CLO_CHECK clo_status clo_i_norm_quantile_room(clo_workspace *space, size_t steps, clo_error *err);

#endif
