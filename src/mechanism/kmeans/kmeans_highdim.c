/*
 * kmeans_highdim.c - k-means by candidates from private trees of cubes, a private local search
 * among them, and noisy steps to the means in all columns: balcan2017, Algorithms 1-4, corrected
 * (kmeans_highdim.T1; what differs from the paper is said in the proof).
 */
#include "mechanism/common/highdim_common.h"
#include "mechanism/common/forecast.h"
#include "query/choose_centers.h"

static clo_status make_plan(clo_draft *draft, void *state, clo_error *err)
{
    return clo_i_highdim_plan(draft, CLO_LOSS_SQUARED, state, err);
}

extern const clo_mechanism clo_i_mechanism_kmeans_highdim;
const clo_mechanism clo_i_mechanism_kmeans_highdim = {
    .family = "kmeans",
    .method = "highdim",
    .summary = "k centers, by private trees of cubes, a private local search and noisy steps",
    .proof = "proofs/kmeans_highdim.md",
    .guarantee = CLO_EXACT,
    .is_research = true,
    .is_baseline = true,
    .params = clo_i_highdim_params,
    .param_count = CLO_HIGHDIM_PARAMS,
    .plan_size = sizeof(clo_highdim),
    .plan = make_plan,
    .run = clo_i_highdim_run,
    .predict = clo_i_highdim_predict,
    .prediction = "typical (root mean square) distance of a released center from the exact mean "
                  "of its cluster, as a share of the norm",
    .of_points = true,
    .hidden_from = clo_i_centers_hidden_from,
};
