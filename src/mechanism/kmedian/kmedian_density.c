/*
 * kmedian_density.c - k-median of a density that is fitted to every answer of a run
 * (kmedian_density.T1).
 *
 * The answers are those of kmeans/density, and the density does not know what it is for: its
 * centres of least distances are free, as its means are.  What differs is where the next question
 * is asked.
 */
#include "mechanism/common/density_run.h"
#include "mechanism/common/forecast.h"
#include <math.h>

static clo_status make_plan(clo_draft *draft, void *out, clo_error *err)
{
    return clo_i_density_make_plan(draft, true, out, err);
}

static clo_status run(const void *plan, const clo_domain *domain, const clo_bounded *data,
                      clo_context *context, clo_release *out, clo_error *err)
{
    return clo_i_density_run(plan, domain, data, context, out, err);
}

static double predict(const void *plan_state, const clo_domain *domain, const clo_line *lines,
                      double rows)
{
    const clo_density_outlook seen = clo_i_density_outlook(plan_state, rows);
    (void)domain, (void)lines;
    if (!seen.measured) return NAN;
    return clo_i_median_forecast(seen.noise, seen.clusters, seen.hidden);
}

extern const clo_mechanism clo_i_mechanism_kmedian_density;
const clo_mechanism clo_i_mechanism_kmedian_density = {
    .family = "kmedian",
    .method = "density",
    .summary = "k medians, by fitting a density to every noisy answer of the run",
    .proof = "proofs/kmedian_density.md",
    .guarantee = CLO_EXACT,
    .params = clo_i_density_params,
    .param_count = CLO_DENSITY_PARAMS,
    .plan_size = sizeof(clo_density_plan),
    .plan = make_plan,
    .run = run,
    .predict = predict,
    .prediction = "typical (root mean square) distance of a released center from the exact median "
                  "of its cluster, as a share of the norm",
    .of_points = true,
    .hidden_from = clo_i_centers_hidden_from,
};
