/* gaussian_step.h - how the records of clusters pull at their centres, with Gaussian noise. */
#ifndef CLO_QUERY_GAUSSIAN_STEP_H
#define CLO_QUERY_GAUSSIAN_STEP_H

#include "ask/assign.h"

/* For each cluster the sum of (x - c) / max(|x - c|, width) over its records, of width / max(|x -
 * c|, width), and their number, all in one Gaussian query: what a step toward the cluster's median
 * takes.  gaussian_step.T1.  rule: centres c; width: in radii of the ball, from 2^-16 to 2. */
typedef struct clo_steps {
    double *pulls;             /* clusters x cols */
    double *stiffness, *sizes; /* clusters */
} clo_steps;

CLO_CHECK clo_status clo_i_plan_gaussian_step(const clo_domain *domain, size_t clusters, double mu,
                                              uint64_t times, const char *label, clo_line *out,
                                              clo_error *err);
CLO_CHECK clo_status clo_i_ask_gaussian_step(clo_context *context, size_t line,
                                             const clo_bounded *data, const clo_assign *rule,
                                             double width, clo_steps *out, clo_error *err);

#endif
