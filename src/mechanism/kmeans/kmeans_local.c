/*
 * kmeans_local.c - k-means with noise at the width of each cluster (kmeans_local.T1): the cells,
 * passes and rounds of mechanism/common/local_common.c, toward means.
 */
#include "mechanism/common/forecast.h"
#include "mechanism/common/local_parts.h"
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

/* Measured on real data (bench/bench_real.py): widths shrink with the noise, and so the error falls
 * less than the noise of the ball does. */
static double predict(const void *plan_state, const clo_domain *domain, const clo_line *lines,
                      double rows)
{
    const clo_i_local_plan *const plan = plan_state;
    const clo_line *const line = &lines[cells_line(plan) + (plan->rounds > 0)];
    const double k = (double)plan->clusters;
    const double sums = plan->rounds ? 1 : (double)plan->cells / k; /* that a mean is made of */
    const double columns = (double)(plan->rounds ? plan->cols : plan->seen);
    const double noise = sqrt(columns * sums) * clo_i_local_deviation(line) * k / rows;
    (void)domain;
    return clo_i_local_forecast(noise, plan->clusters,
                                clo_i_local_told(plan, rows) < CLO_LOCAL_HIDDEN);
}

extern const clo_mechanism clo_i_mechanism_kmeans_local;
const clo_mechanism clo_i_mechanism_kmeans_local = {
    .family = "kmeans",
    .method = "local",
    .summary = "k centres by sums with noise at the width of each cluster",
    .proof = "proofs/kmeans_local.md",
    .guarantee = CLO_EXACT,
    .params = clo_i_local_params,
    .param_count = CLO_LOCAL_PARAMS,
    .plan_size = sizeof(clo_i_local_plan),
    .plan = make_plan,
    .run = run,
    .predict = predict,
    .prediction = "root mean square distance of a released centre from the exact mean of its "
                  "cluster, as a share of the norm",
    .of_points = true,
    .hidden_from = clo_i_centers_hidden_from,
};
