/*
 * kmedian_highdim.c - k-median: candidates from private trees of cubes, a private local search
 * among them by distances, and noisy steps toward the median of each cluster (balcan2017, section
 * 6.2, corrected; kmedian_highdim.T1).
 *
 * The paper samples a 1-median from a log-concave law by a Markov chain, whose guarantee holds in
 * the limit only.  Here each cluster's median is approached by Weiszfeld's steps, of which each is
 * one Gaussian query of vectors no longer than 1: proven for the arithmetic that runs.
 */
#include "mechanism/highdim_common.h"
#include <math.h>

enum { ROUNDS = 3 };             /* of the preset practical */
static const double WIDTH = 0.1; /* of the radius: distances below count as squares */

static clo_status plan_rounds(const clo_domain *domain, size_t clusters, double mu, uint64_t times,
                              clo_slot *out, clo_error *err)
{
    return clo_i_plan_gaussian_step(domain, clusters, mu, times,
                                    "how the records pull at the centres, one ask a round", out,
                                    err);
}

static clo_status make_plan(clo_draft *draft, void *state, clo_error *err)
{
    return clo_i_highdim_plan(draft, CLO_LOSS_DISTANCE, ROUNDS, plan_rounds, state, err);
}

/* As far as the step can be trusted: not at all where size or stiffness are within the noise of 0,
 * and otherwise by the positive-part James-Stein factor. */
static void move(const clo_slot *slot, size_t d, const double *pull, double stiffness, double size,
                 double *center)
{
    if (clo_i_size_is_noise(slot, size) || clo_i_size_is_noise(slot, stiffness)) return;
    const double unit = WIDTH / stiffness, noise = unit * ldexp((double)slot->scale, -slot->bits);
    double step = 0, trust = 1;
    for (size_t j = 0; j < d; j++) step += unit * pull[j] * unit * pull[j];
    if (d > 2 && step > 0) trust = fmax(0, 1 - ((double)d - 2) * noise * noise / step);
    for (size_t j = 0; j < d; j++) center[j] += trust * unit * pull[j];
    clo_i_pull_into_ball(center, d);
}

static clo_status step(const clo_highdim *plan, clo_context *context, const clo_bounded *data,
                       const clo_steps *steps, double *centers, clo_error *err)
{
    const clo_slot *const slot = &context->meter->slots[plan->round_line];
    const size_t k = plan->clusters, d = plan->cols;
    const size_t mark = clo_i_workspace_mark(context->workspace);
    clo_steps answer = *steps;
    clo_assign rule;
    clo_status status =
        clo_i_assign_centers(context->workspace, centers, k, d, slot->bits, &rule, err);
    if (!status)
        status =
            clo_i_ask_gaussian_step(context, plan->round_line, data, &rule, WIDTH, &answer, err);
    for (size_t c = 0; c < k && !status; c++)
        move(slot, d, answer.pulls + c * d, answer.stiffness[c], answer.sizes[c], centers + c * d);
    clo_i_workspace_release(context->workspace, mark);
    return status;
}

static clo_status refine(const clo_highdim *plan, clo_context *context, const clo_bounded *data,
                         double *centers, double *sizes, clo_error *err)
{
    const size_t k = plan->clusters, d = plan->cols;
    clo_steps steps = { .sizes = sizes };
    CLO_TRY(clo_i_take(context->workspace, k * d, sizeof(double), &steps.pulls, err));
    CLO_TRY(clo_i_take(context->workspace, k, sizeof(double), &steps.stiffness, err));
    for (size_t round = 0; round < plan->rounds; round++)
        CLO_TRY(step(plan, context, data, &steps, centers, err));
    return CLO_OK;
}

static clo_status run(const void *state, const clo_domain *domain, const clo_bounded *data,
                      clo_context *context, clo_release *out, clo_error *err)
{
    return clo_i_highdim_run(state, domain, data, context, refine, out, err);
}

/* As if all records were at a width's distance of their centres, or less. */
static double predict(const void *state, const clo_domain *domain, const clo_slot *slots,
                      double rows)
{
    const clo_highdim *const plan = state;
    const clo_slot *const slot = &slots[plan->round_line];
    const double d = (double)plan->cols;
    (void)domain;
    if (plan->rounds == 0) return ldexp(1, 1 - (int)plan->levels) * sqrt(d); /* half a cube */
    return WIDTH * sqrt(d) * ldexp((double)slot->scale, -slot->bits) * (double)plan->clusters /
           rows;
}

extern const clo_mechanism clo_i_mechanism_kmedian_highdim;
const clo_mechanism clo_i_mechanism_kmedian_highdim = {
    .family = "kmedian",
    .method = "highdim",
    .summary = "k centres of least distances, by private trees of cubes, a private local search "
               "and noisy steps toward the medians",
    .proof = "proofs/kmedian_highdim.md",
    .guarantee = CLO_EXACT,
    .params = clo_i_highdim_params,
    .param_count = CLO_HIGHDIM_PARAMS,
    .plan_size = sizeof(clo_highdim),
    .plan = make_plan,
    .run = run,
    .predict = predict,
    .prediction = "root mean square distance of a released centre from the exact median of its "
                  "cluster, as a share of the norm, for clusters of equal size within a tenth of "
                  "it",
};
