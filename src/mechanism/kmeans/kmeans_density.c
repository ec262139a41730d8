/*
 * kmeans_density.c - k-means of a density that is fitted to every answer of a run
 * (kmeans_density.T1).
 *
 * A method that keeps the last answer alone pays for the others without using them.  Here each
 * answer counts, however early it was asked: a cloud of weighted points is fitted to all of them at
 * once, which is free, and the next question is asked where k-means of that cloud has converged.
 * The cloud is cut and counted as the records are, so that narrow widths are no bias, and noise is
 * averaged over all rounds.
 *
 * First where the records are, on whatever scale (three looks).  Then, if there are rows enough to
 * feed cells about random points, as kmeans/local makes them, those; otherwise cells of what a Gram
 * matrix tells.  Then rounds with the clusters.  Where even one mean with the whole budget would be
 * little better than its noise, the mean is all that is released.
 */
#include "mechanism/common/density_run.h"
#include "mechanism/common/forecast.h"
#include <math.h>

static clo_status make_plan(clo_draft *draft, void *out, clo_error *err)
{
    return clo_i_density_make_plan(draft, false, out, err);
}

static clo_status run(const void *plan, const clo_domain *domain, const clo_bounded *data,
                      clo_context *context, clo_release *out, clo_error *err)
{
    return clo_i_density_run(plan, domain, data, context, out, err);
}

/* Beside that of kmeans/local, whose error has the same causes.  Fitted to 23 files whose bounds
 * are a third too wide (bench/bench_density.py); of 23 others 81 % of the errors are within a
 * factor 2.  In many columns: in the middle of 8 sets in 27 to 500. */
static const double OF_LOCAL = 0.98, OF_LOCAL_IN_FEW = 0.75, OF_LOCAL_IN_MANY = 0.85;
enum { FEW_COLUMNS = 3 }; /* in which a grid may serve as well */
/* In one column, where records often share a value and the clusters are of very unequal widths: in
 * the middle of 7 columns of real files at two budgets.  A grid is finer there than any cells. */
static const double OF_LOCAL_IN_ONE = 3.2;

static double times_local(const clo_density_plan *plan)
{
    return plan->frame                 ? OF_LOCAL_IN_MANY
           : plan->cols == 1           ? OF_LOCAL_IN_ONE
           : plan->cols <= FEW_COLUMNS ? OF_LOCAL_IN_FEW
                                       : OF_LOCAL;
}

static double predict(const void *plan_state, const clo_domain *domain, const clo_line *lines,
                      double rows)
{
    const clo_density_plan *const plan = plan_state;
    const clo_density_outlook seen = clo_i_density_outlook(plan, rows);
    (void)domain, (void)lines;
    if (!seen.measured) return NAN;
    return clo_i_local_forecast(seen.noise, times_local(plan), plan->cols, seen.clusters,
                                seen.hidden);
}

static clo_between between(const void *plan_state, const clo_domain *domain, const clo_line *lines,
                           double rows)
{
    const clo_density_plan *const plan = plan_state;
    const clo_density_outlook seen = clo_i_density_outlook(plan, rows);
    (void)domain, (void)lines;
    if (!seen.measured) return (clo_between){ NAN, NAN };
    return clo_i_local_forecast_between(seen.noise, times_local(plan), plan->cols, seen.clusters,
                                        seen.hidden);
}

extern const clo_mechanism clo_i_mechanism_kmeans_density;
const clo_mechanism clo_i_mechanism_kmeans_density = {
    .family = "kmeans",
    .method = "density",
    .summary = "k centers, by fitting a density to every noisy answer of the run",
    .proof = "proofs/kmeans_density.md",
    .guarantee = CLO_EXACT,
    .params = clo_i_density_params,
    .param_count = CLO_DENSITY_PARAMS,
    .plan_size = sizeof(clo_density_plan),
    .plan = make_plan,
    .run = run,
    .predict = predict,
    .between = between,
    .prediction = "typical (root mean square) distance of a released center from the exact mean "
                  "of its cluster, as a share of the norm",
    .of_points = true,
    .hidden_from = clo_i_centers_hidden_from,
};
