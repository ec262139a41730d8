/*
 * tree_refine.c - the last rounds of kmeans/tree: sums and sizes of the clusters themselves, in all
 * columns, weighed against what is known already.
 *
 * What a centre was before the round has noise of its own, which is known, and an error of unknown
 * size, because the clusters were others.  Both are seen in how far the noisy mean lies from it:
 * that beyond the two noises is the error.  Inside the directions kept and outside of them the two
 * are quite different, and so they are weighed apart: outside, where the centre before is zero,
 * this is James and Stein's estimate, and a noise that hides everything leaves things as they are.
 */
#include "mechanism/kmeans/tree_internal.h"
#include "mechanism/common/centers_common.h"
#include "ask/assign.h"
#include "query/cluster_sum.h"
#include <math.h>

/* How far to go toward a noisy mean at this squared distance, in so many coordinates, whose noise
 * has the variance `fresh` in each, if what one comes from has `known`: 1 - fresh / (fresh + known
 * + error), with the error estimated and positive.  Where known is 0, James and Stein's factor. */
static double trust(double coordinates, double square, double known, double fresh)
{
    const double free = fmax(coordinates - 2, 0);
    const double expected = fmax(square, free * (known + fresh));
    return expected > 0 ? 1 - free * fresh / expected : 1;
}

static double updated(double share, double known, double fresh)
{
    return share * share * fresh + (1 - share) * (1 - share) * known;
}

typedef struct weighing {
    const double *frame;
    size_t d, r;
    double *sums;         /* clusters x d: the answer */
    double *step, *along; /* scratch: d, r */
} weighing;

/* step = mean - center, and along = its part in the frame; the squared norms of the part inside and
 * the rest. */
static void measure_step(const weighing *w, const double *center, const double *sum, double size,
                         double *in, double *out)
{
    double whole = 0;
    for (size_t j = 0; j < w->d; j++) {
        w->step[j] = sum[j] / size - center[j];
        whole += w->step[j] * w->step[j];
    }
    *in = 0;
    for (size_t i = 0; i < w->r; i++) w->along[i] = 0;
    for (size_t j = 0; w->frame && j < w->d; j++)
        for (size_t i = 0; i < w->r; i++) w->along[i] += w->frame[j * w->r + i] * w->step[j];
    for (size_t i = 0; w->frame && i < w->r; i++) *in += w->along[i] * w->along[i];
    if (!w->frame) *in = whole;
    *out = fmax(whole - *in, 0);
}

/* The centre goes its ways inside and outside of the frame. */
static void go(const weighing *w, double share_in, double share_out, double *center)
{
    const double rest = w->frame ? share_out : share_in;
    for (size_t j = 0; j < w->d; j++) {
        double inside = 0;
        for (size_t i = 0; w->frame && i < w->r; i++)
            inside += w->frame[j * w->r + i] * w->along[i];
        center[j] += share_in * inside + rest * (w->step[j] - inside);
    }
    clo_i_pull_into_ball(center, w->d);
}

static void move(const weighing *w, const clo_line *line, const double *sum, double size,
                 double *center, double *inside, double *outside)
{
    double in, out;
    if (clo_i_size_is_noise(line, size)) return;
    const double deviation = clo_i_line_deviation(line) / size;
    const double fresh = deviation * deviation, r = w->frame ? (double)w->r : (double)w->d;
    measure_step(w, center, sum, size, &in, &out);
    const double share_in = trust(r, in, *inside, fresh);
    const double share_out = trust((double)w->d - r, out, *outside, fresh);
    go(w, share_in, share_out, center);
    *inside = updated(share_in, *inside, fresh);
    *outside = updated(share_out, *outside, fresh);
}

static clo_status take_weighing(const clo_i_tree_plan *plan, clo_workspace *space, weighing *w,
                                clo_error *err)
{
    const size_t d = plan->cols;
    CLO_TRY(clo_i_take(space, plan->clusters * d, sizeof *w->sums, &w->sums, err));
    CLO_TRY(clo_i_take(space, d, sizeof *w->step, &w->step, err));
    return clo_i_take(space, plan->frame, sizeof *w->along, &w->along, err);
}

clo_status clo_i_tree_refine_room(const clo_i_tree_plan *plan, clo_workspace *space, clo_error *err)
{
    const size_t mark = clo_i_workspace_mark(space);
    weighing unused;
    CLO_TRY(take_weighing(plan, space, &unused, err));
    CLO_TRY(clo_i_assign_room(space, CLO_ASSIGN_CENTERS, plan->clusters, plan->cols, 0, err));
    clo_i_workspace_release(space, mark);
    return CLO_OK;
}

clo_status clo_i_tree_refine(clo_context *context, const clo_i_tree_plan *plan, size_t number,
                             const clo_bounded *data, const double *frame, double *centers,
                             double *sizes, double *inside, double *outside, clo_error *err)
{
    const clo_line *const line = &context->meter->lines[number];
    const size_t k = plan->clusters, d = plan->cols;
    clo_workspace *const space = context->workspace;
    const size_t mark = clo_i_workspace_mark(space);
    weighing w = { .frame = frame, .d = d, .r = plan->frame };
    clo_assign rule;
    clo_status status = take_weighing(plan, space, &w, err);
    if (!status) status = clo_i_assign_centers(space, centers, k, d, line->bits, &rule, err);
    if (!status) status = clo_i_ask_cluster_sum(context, number, data, &rule, w.sums, sizes, err);
    for (size_t c = 0; !status && c < k; c++)
        move(&w, line, w.sums + c * d, sizes[c], centers + c * d, &inside[c], &outside[c]);
    clo_i_workspace_release(space, mark);
    return status;
}
