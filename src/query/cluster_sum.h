/* cluster_sum.h - sums and sizes of clusters, with whichever noise a line has. */
#ifndef CLO_QUERY_CLUSTER_SUM_H
#define CLO_QUERY_CLUSTER_SUM_H

#include "ask/assign.h"

/* Either of the two.  clo_i_plan_cluster_sum: by the kind of one ask's event (CLO_EVENT_GAUSSIAN
 * with mu, CLO_EVENT_PURE with epsilon).  clo_i_plan_cluster_sum_within: `times` asks spend this
 * budget, and CLO_SUM_AUTO takes what errs less: Laplace noise where there is no delta, and where
 * delta is tiny or there are very few columns. */
typedef enum clo_sum_noise { CLO_SUM_AUTO, CLO_SUM_GAUSSIAN, CLO_SUM_LAPLACE } clo_sum_noise;
CLO_CHECK clo_status clo_i_plan_cluster_sum(const clo_domain *domain, size_t clusters,
                                            clo_event_kind kind, double parameter, uint64_t times,
                                            const char *label, clo_line *out, clo_error *err);
CLO_CHECK clo_status clo_i_plan_cluster_sum_within(const clo_domain *domain, size_t clusters,
                                                   clo_sum_noise noise, clo_loss budget,
                                                   uint64_t times, const char *label, clo_line *out,
                                                   clo_error *err);
CLO_CHECK clo_status clo_i_ask_cluster_sum(clo_context *context, size_t line,
                                           const clo_bounded *data, const clo_assign *rule,
                                           double *sums, double *counts, clo_error *err);
/* Standard deviation of a noisy coordinate of a sum, in unit-ball coordinates, and of a noisy size,
 * in records: of a line of either kind. */
double clo_i_line_deviation(const clo_line *line);
double clo_i_line_count_deviation(const clo_line *line);

/* Whether a noisy size tells nothing from 0. */
bool clo_i_size_is_noise(const clo_line *line, double size);
/* Noise may take a point out of the unit ball, where all records are: back to its surface. */
void clo_i_pull_into_ball(double *point, size_t d);

#endif
