/*
 * kmeans_local.c - k-means with noise at the width of each cluster (kmeans_local.T1): the cells,
 * passes and rounds of mechanism/common/local_common.c, toward means.
 */
#include "mechanism/common/forecast.h"
#include "mechanism/common/local_internal.h"
#include <math.h>

static clo_status make_plan(clo_draft *draft, void *plan_state, clo_error *err)
{
    return clo_i_local_make_plan(draft, false, plan_state, err);
}

static size_t cells_line(const clo_i_local_plan *plan)
{
    return clo_i_local_cells_line(plan);
}

static clo_status run(const void *plan_state, const clo_domain *domain, const clo_bounded *data,
                      clo_context *context, clo_release *out, clo_error *err)
{
    return clo_i_local_run(plan_state, domain, data, context, out, err);
}

/* The deviation that all local sums together would have as one ask: the Gram matrix tells nothing
 * of means.  Where it picks directions, what it takes is won back by cells in those alone. */
static double deviation_of_all(const clo_i_local_plan *plan, const clo_line *lines)
{
    if (plan->pick) return plan->whole;
    const size_t count = cells_line(plan) + (plan->rounds > 0) + 1;
    double precision = 0;
    for (size_t i = 0; i < count; i++) {
        if (plan->frame && i == 1) continue;
        const double deviation = clo_i_local_deviation(&lines[i]);
        precision += (double)lines[i].event.count / (deviation * deviation);
    }
    return 1 / sqrt(precision);
}

/* What the mean of an average cluster would have of noise in the ball, in all columns. */
static double noise_of_mean(const clo_i_local_plan *plan, const clo_line *lines, double rows)
{
    const double k = (double)plan->clusters;
    const double sums = plan->rounds ? 1 : (double)plan->cells / k; /* that a mean is made of */
    return sqrt((double)plan->cols * sums) * deviation_of_all(plan, lines) * k / rows;
}

/* Whether noise hides what the clusters are, so that one mean is all that can be told. */
static bool hidden(const clo_i_local_plan *plan, double rows)
{
    return plan->clusters > 1 && clo_i_local_told(plan, rows) < CLO_LOCAL_HIDDEN;
}

/* Where centres count that noise may have made, the error is larger by so much than elsewhere (in
 * the middle of 60 files); of two clusters there are as many cells as ever. */
static const double OF_POOR = 1.2;

/* In one column, as that of kmeans/density. */
static const double IN_ONE_COLUMN = 2.1;

static double times_usual(const clo_i_local_plan *plan)
{
    if (plan->cols == 1 && plan->clusters > 1) return IN_ONE_COLUMN;
    return clo_i_local_keeps_poor(plan) && plan->clusters > 2 ? OF_POOR : 1;
}

static double predict(const void *plan_state, const clo_domain *domain, const clo_line *lines,
                      double rows)
{
    const clo_i_local_plan *const plan = plan_state;
    (void)domain;
    return clo_i_local_forecast(noise_of_mean(plan, lines, rows), times_usual(plan), plan->cols,
                                plan->clusters, hidden(plan, rows));
}

static clo_between between(const void *plan_state, const clo_domain *domain, const clo_line *lines,
                           double rows)
{
    const clo_i_local_plan *const plan = plan_state;
    (void)domain;
    return clo_i_local_forecast_between(noise_of_mean(plan, lines, rows), times_usual(plan),
                                        plan->cols, plan->clusters, hidden(plan, rows));
}

extern const clo_mechanism clo_i_mechanism_kmeans_local;
const clo_mechanism clo_i_mechanism_kmeans_local = {
    .family = "kmeans",
    .method = "local",
    .summary = "k centers, with noise as small as each cluster is wide",
    .proof = "proofs/kmeans_local.md",
    .guarantee = CLO_EXACT,
    .params = clo_i_local_params,
    .param_count = CLO_LOCAL_PARAMS,
    .plan_size = sizeof(clo_i_local_plan),
    .plan = make_plan,
    .run = run,
    .predict = predict,
    .between = between,
    .prediction = "typical (root mean square) distance of a released center from the exact mean "
                  "of its cluster, as a share of the norm",
    .of_points = true,
    .hidden_from = clo_i_centers_hidden_from,
};
