/*
 * highdim_refine.c - rounds that move centres to the means or the medians of their clusters, in all
 * columns, by one query each (gaussian_step).
 *
 * A noisy sum of records has noise in proportion to the ball.  What pulls at a centre that is
 * already near is short: differences from the centre, cut at a width, are summed with noise in
 * proportion to the width.  For a median a small width is right in itself.  For a mean it must not
 * cut: how many records it cuts shows in the answer (the stiffness falls behind the size), and then
 * the next round takes twice the width.  All of that is post-processing of noisy answers.
 */
#include "mechanism/common/highdim_common.h"
#include "ask/assign.h"
#include "query/choose_centers.h"
#include "query/gaussian_step.h"
#include <math.h>

static const double MEDIAN_WIDTH = 0.1; /* of the radius: distances below it count as squares */
static const double MEAN_WIDTH = 0.5;
static const double CUT_BELOW = 0.95; /* the share of stiffness below which a width is too small */

double clo_i_highdim_width(const clo_highdim *plan)
{
    if (plan->loss == CLO_LOSS_DISTANCE) return MEDIAN_WIDTH;
    return plan->theory ? 2 : MEAN_WIDTH;
}

/* As far as the step can be trusted: not at all where size or stiffness are within the noise of 0,
 * and otherwise by the positive-part James-Stein factor. */
static void move(const clo_line *line, size_t d, double width, const clo_steps *steps, size_t c,
                 double *center)
{
    const double *const pull = steps->pulls + c * d;
    if (clo_i_size_is_noise(line, steps->sizes[c])) return;
    if (clo_i_size_is_noise(line, steps->stiffness[c])) return;
    const double unit = width / steps->stiffness[c];
    const double noise = unit * ldexp((double)line->scale, -line->bits);
    double square = 0, trust = 1;
    for (size_t j = 0; j < d; j++) square += unit * pull[j] * unit * pull[j];
    if (d > 2 && square > 0) trust = fmax(0, 1 - ((double)d - 2) * noise * noise / square);
    for (size_t j = 0; j < d; j++) center[j] += trust * unit * pull[j];
    clo_i_pull_into_ball(center, d);
}

static clo_status ask(const clo_highdim *plan, clo_context *context, const clo_bounded *data,
                      double width, const double *centers, clo_steps *steps, clo_error *err)
{
    const size_t mark = clo_i_workspace_mark(context->workspace);
    const int bits = context->meter->lines[plan->round_line].bits;
    clo_assign rule;
    clo_status status = clo_i_assign_centers(context->workspace, centers, plan->clusters,
                                             plan->cols, bits, &rule, err);
    if (!status)
        status = clo_i_ask_gaussian_step(context, plan->round_line, data, &rule, width, steps, err);
    clo_i_workspace_release(context->workspace, mark);
    return status;
}

static bool cuts(const clo_highdim *plan, const clo_steps *steps)
{
    double stiffness = 0, size = 0;
    for (size_t c = 0; c < plan->clusters; c++) {
        stiffness += steps->stiffness[c];
        size += steps->sizes[c];
    }
    return stiffness < CUT_BELOW * size;
}

/* Without the sizes, which the caller has. */
static clo_status take_steps(const clo_highdim *plan, clo_workspace *space, clo_steps *out,
                             clo_error *err)
{
    const size_t k = plan->clusters;
    CLO_TRY(clo_i_take(space, k * plan->cols, sizeof(double), &out->pulls, err));
    return clo_i_take(space, k, sizeof(double), &out->stiffness, err);
}

clo_status clo_i_highdim_refine(const clo_highdim *plan, clo_context *context,
                                const clo_bounded *data, double *centers, double *sizes,
                                clo_error *err)
{
    const size_t k = plan->clusters, d = plan->cols;
    double width = clo_i_highdim_width(plan);
    clo_steps steps = { .sizes = sizes };
    CLO_TRY(take_steps(plan, context->workspace, &steps, err));
    for (size_t round = 0; round < plan->rounds; round++) {
        CLO_TRY(ask(plan, context, data, width, centers, &steps, err));
        for (size_t c = 0; c < k; c++)
            move(&context->meter->lines[plan->round_line], d, width, &steps, c, centers + c * d);
        if (plan->loss == CLO_LOSS_SQUARED && cuts(plan, &steps)) width = fmin(2, 2 * width);
    }
    return CLO_OK;
}

clo_status clo_i_highdim_refine_room(const clo_highdim *plan, clo_workspace *space, clo_error *err)
{
    clo_steps unused;
    CLO_TRY(take_steps(plan, space, &unused, err));
    return clo_i_center_round_room(space, plan->clusters, plan->cols, err);
}
