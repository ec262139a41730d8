/*
 * kmeans_highdim.c - k-means by candidates from private trees of cubes, a private local search
 * among them, and rounds on noisy sums and sizes in all columns: balcan2017, Algorithms 1-4,
 * corrected (kmeans_highdim.T1; what differs from the paper is said in the proof).
 */
#include "mechanism/highdim_common.h"
#include <math.h>

enum { ROUNDS = 3 }; /* of the preset practical */

static clo_status plan_rounds(const clo_domain *domain, size_t clusters, double mu, uint64_t times,
                              clo_slot *out, clo_error *err)
{
    return clo_i_plan_gaussian_sum(domain, clusters, mu, times,
                                   "sums and sizes of the clusters, one ask a round", out, err);
}

static clo_status make_plan(clo_draft *draft, void *state, clo_error *err)
{
    return clo_i_highdim_plan(draft, CLO_LOSS_SQUARED, ROUNDS, plan_rounds, state, err);
}

static clo_status refine(const clo_highdim *plan, clo_context *context, const clo_bounded *data,
                         double *centers, double *sizes, clo_error *err)
{
    double *sums = NULL;
    CLO_TRY(clo_i_take(context->workspace, plan->clusters * plan->cols, sizeof *sums, &sums, err));
    for (size_t round = 0; round < plan->rounds; round++)
        CLO_TRY(clo_i_center_round(context, plan->round_line, data, plan->cols, centers, sums,
                                   sizes, err));
    return CLO_OK;
}

static clo_status run(const void *state, const clo_domain *domain, const clo_bounded *data,
                      clo_context *context, clo_release *out, clo_error *err)
{
    return clo_i_highdim_run(state, domain, data, context, refine, out, err);
}

static double predict(const void *state, const clo_domain *domain, const clo_slot *slots,
                      double rows)
{
    const clo_highdim *const plan = state;
    const clo_slot *const slot = &slots[plan->round_line];
    const double d = (double)plan->cols;
    (void)domain;
    if (plan->rounds == 0) return ldexp(1, 1 - (int)plan->levels) * sqrt(d); /* half a cube */
    return sqrt(d) * ldexp((double)slot->scale, -slot->bits) * (double)plan->clusters / rows;
}

extern const clo_mechanism clo_i_mechanism_kmeans_highdim;
const clo_mechanism clo_i_mechanism_kmeans_highdim = {
    .family = "kmeans",
    .method = "highdim",
    .summary = "k centres, by private trees of cubes, a private local search and noisy sums",
    .proof = "proofs/kmeans_highdim.md",
    .guarantee = CLO_EXACT,
    .params = clo_i_highdim_params,
    .param_count = CLO_HIGHDIM_PARAMS,
    .plan_size = sizeof(clo_highdim),
    .plan = make_plan,
    .run = run,
    .predict = predict,
    .prediction = "root mean square distance of a released centre from the exact mean of its "
                  "cluster, as a share of the norm, for clusters of equal size",
};
