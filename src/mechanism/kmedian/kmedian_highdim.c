/*
 * kmedian_highdim.c - k-median by candidates from private trees of cubes, a private local search
 * among them by distances, and noisy steps toward the median of each cluster (balcan2017, section
 * 6.2, corrected; kmedian_highdim.T1).
 *
 * The paper samples a 1-median from a log-concave law by a Markov chain, whose guarantee holds in
 * the limit only.  Here each cluster's median is approached by Weiszfeld's steps, of which each is
 * one Gaussian query of vectors no longer than 1: proven for the arithmetic that runs.
 */
#include "mechanism/common/highdim_common.h"
#include "mechanism/common/forecast.h"
#include "query/choose_centers.h"

static clo_status make_plan(clo_draft *draft, void *state, clo_error *err)
{
    return clo_i_highdim_plan(draft, CLO_LOSS_DISTANCE, state, err);
}

extern const clo_mechanism clo_i_mechanism_kmedian_highdim;
const clo_mechanism clo_i_mechanism_kmedian_highdim = {
    .family = "kmedian",
    .method = "highdim",
    .summary = "k medians, by private trees of cubes, a private local search and noisy steps",
    .proof = "proofs/kmedian_highdim.md",
    .guarantee = CLO_EXACT,
    .is_research = true,
    .is_baseline = true,
    .params = clo_i_highdim_params,
    .param_count = CLO_HIGHDIM_PARAMS,
    .plan_size = sizeof(clo_highdim),
    .plan = make_plan,
    .run = clo_i_highdim_run,
    .predict = clo_i_highdim_predict,
    .prediction = "typical (root mean square) distance of a released center from the exact median "
                  "of its cluster, as a share of the norm",
    .of_points = true,
    .hidden_from = clo_i_centers_hidden_from,
};
