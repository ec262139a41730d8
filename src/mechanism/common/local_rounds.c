/*
 * local_rounds.c - the last rounds of a local method: differences of the records to their centres,
 * in all columns, cut to each cluster's own width and weighed against what is known already.
 *
 * As in tree_refine.c the known noise of both says how far to trust the new mean; and what the
 * clusters have in common says more: the singular values of the matrix of centres are shrunk as far
 * as noise asks (local_shrink.c), about the mean of all, which the first ask has told, too.
 */
#include "mechanism/common/local_internal.h"
#include "mechanism/common/centers_common.h"
#include "ask/assign.h"
#include "release/release.h"
#include <math.h>
#include <string.h>

static const double WEAK = 2;    /* deviations of a size that may be noise */
static const double REACH = 1.5; /* of squared lengths, in widths */
static const double MEDIAN_WIDTH =
    0.5; /* of the mean distance: below it pulls grow with distance */

clo_status clo_i_local_take_centers(const clo_i_local_plan *plan, clo_workspace *space,
                                    clo_i_local_centers *centers, clo_error *err)
{
    const size_t k = plan->clusters, d = plan->cols;
    double **const narrow[] = { &centers->sizes, &centers->known, &centers->squares,
                                &centers->lengths, &centers->curve };
    CLO_TRY(clo_i_take(space, k * d, sizeof(double), &centers->points, err));
    CLO_TRY(clo_i_take(space, k * d, sizeof(double), &centers->sums, err));
    for (size_t i = 0; i < sizeof narrow / sizeof *narrow; i++)
        CLO_TRY(clo_i_take(space, k, sizeof(double), narrow[i], err));
    return clo_i_take(space, k, sizeof *centers->views, &centers->views, err);
}

/* ---- one ask ------------------------------------------------------------------------------- */

/* A width of its own for each cluster.  Of means: the wider, the fewer records are cut and the more
 * noise there is; so the better it is fed.  Of medians: what pulls is a record's direction, however
 * far it is, so the width is a part of the mean distance (kmedian_local.T1). */
static void choose_views(const clo_i_local_plan *plan, const clo_line *line,
                         clo_i_local_centers *centers)
{
    const double noise = sqrt((double)plan->cols) * clo_i_local_deviation(line);
    for (size_t c = 0; c < centers->found; c++) {
        const double nu = noise / fmax(centers->sizes[c], 1);
        const double wide = plan->median ? MEDIAN_WIDTH : clo_i_widths_a_spread(nu);
        const double width = fmin(wide * sqrt(centers->squares[c]), 2);
        centers->views[c] = (clo_local_view){ width, REACH * width };
    }
}

static clo_status ask_clusters(clo_context *context, const clo_i_local_plan *plan, size_t number,
                               const clo_bounded *data, clo_i_local_centers *centers,
                               clo_error *err)
{
    const clo_line *const line = &context->meter->lines[number];
    const size_t d = plan->cols, k = plan->clusters;
    const size_t mark = clo_i_workspace_mark(context->workspace);
    clo_local_sums answer = { centers->sums, centers->lengths, centers->sizes };
    clo_assign rule;
    choose_views(plan, line, centers);
    for (size_t c = centers->found; c < k; c++) { /* they get no record */
        memcpy(centers->points + c * d, centers->points, d * sizeof(double));
        centers->views[c] = centers->views[0];
    }
    clo_status status =
        clo_i_assign_centers(context->workspace, centers->points, k, d, line->bits, &rule, err);
    if (!status)
        status = clo_i_ask_local_sum(context, number, data, &rule, centers->views, &answer, err);
    clo_i_workspace_release(context->workspace, mark);
    return status;
}

/* ---- weighing ------------------------------------------------------------------------------ */

/* How far to go toward a noisy mean at this squared distance: see tree_refine.c. */
static double trust(double coordinates, double square, double known, double fresh)
{
    const double free = fmax(coordinates - 2, 0);
    const double expected = fmax(square, free * (known + fresh));
    return expected > 0 ? 1 - free * fresh / expected : 1;
}

typedef struct weighing {
    double *step;    /* clusters x cols: from the centres before to the noisy means */
    double *along;   /* frame: of one step, the part inside */
    double *fresh;   /* clusters: variance of a coordinate of the noisy mean */
    double *middle;  /* cols */
    double *counted; /* clusters: sizes, not below what noise alone would make */
} weighing;

static clo_status take_weighing(const clo_i_local_plan *plan, clo_workspace *space, weighing *w,
                                clo_error *err)
{
    const size_t k = plan->clusters, d = plan->cols;
    CLO_TRY(clo_i_take(space, k * d, sizeof(double), &w->step, err));
    CLO_TRY(clo_i_take(space, plan->frame, sizeof(double), &w->along, err));
    CLO_TRY(clo_i_take(space, k, sizeof(double), &w->fresh, err));
    CLO_TRY(clo_i_take(space, d, sizeof(double), &w->middle, err));
    return clo_i_take(space, k, sizeof(double), &w->counted, err);
}

clo_status clo_i_local_round_room(const clo_i_local_plan *plan, clo_workspace *space,
                                  clo_error *err)
{
    const size_t k = plan->clusters, d = plan->cols, mark = clo_i_workspace_mark(space);
    weighing unused;
    CLO_TRY(clo_i_assign_room(space, CLO_ASSIGN_CENTERS, k, d, 0, err));
    clo_i_workspace_release(space, mark);
    CLO_TRY(take_weighing(plan, space, &unused, err));
    CLO_TRY(clo_i_local_shrink_room(space, k, d, err));
    clo_i_workspace_release(space, mark);
    return CLO_OK;
}

/* How far one record that pulls with all its strength moves a centre, times the number of records.
 * Of medians: the mean distance, which is a Weiszfeld step where all are about so far, and a little
 * less than Newton's in general. */
static double reached(const clo_i_local_plan *plan, double width)
{
    return plan->median ? width / MEDIAN_WIDTH : width;
}

bool clo_i_local_stands_out(const clo_line *line, double size)
{
    return size > WEAK * clo_i_local_size_deviation(line);
}

/* A centre whose size is noise stays where it is. */
static void measure_steps(const clo_i_local_plan *plan, const clo_line *line,
                          const clo_i_local_centers *centers, weighing *w)
{
    const size_t d = plan->cols;
    const double weak = WEAK * clo_i_local_size_deviation(line);
    for (size_t c = 0; c < centers->found; c++) {
        const bool strong = clo_i_local_stands_out(line, centers->sizes[c]);
        w->counted[c] = fmax(centers->sizes[c], weak);
        const double scale = reached(plan, centers->views[c].width) / w->counted[c];
        const double noise = scale * clo_i_local_deviation(line);
        w->fresh[c] = noise * noise;
        for (size_t j = 0; j < d; j++)
            w->step[c * d + j] = strong ? scale * centers->sums[c * d + j] : 0;
    }
}

/* The weighted mean of some points. */
static void middle_of(const double *points, const weighing *w, size_t count, size_t d)
{
    double total = 0;
    memset(w->middle, 0, d * sizeof(double));
    for (size_t c = 0; c < count; c++) {
        total += w->counted[c];
        for (size_t j = 0; j < d; j++) w->middle[j] += w->counted[c] * points[c * d + j];
    }
    for (size_t j = 0; j < d; j++) w->middle[j] /= total;
}

/* The variance of a coordinate of that mean. */
static double doubt_of_middle(const weighing *w, const double *variances, size_t count)
{
    double sum = 0, total = 0;
    for (size_t c = 0; c < count; c++) {
        sum += w->counted[c] * w->counted[c] * variances[c];
        total += w->counted[c];
    }
    return sum / (total * total);
}

/* In all columns: each centre goes as far as it trusts its step; what all have in common, as far as
 * the matrix of them tells; and their mean is weighed against that of the first ask. */
static clo_status go(clo_context *context, const clo_i_local_plan *plan,
                     const clo_i_local_start *start, const weighing *w,
                     clo_i_local_centers *centers, clo_error *err)
{
    const size_t d = plan->cols, k = centers->found;
    for (size_t c = 0; c < k; c++) {
        double square = 0;
        for (size_t j = 0; j < d; j++) square += w->step[c * d + j] * w->step[c * d + j];
        const double share =
            square > 0 ? trust((double)d, square, centers->known[c], w->fresh[c]) : 0;
        for (size_t j = 0; j < d; j++) centers->points[c * d + j] += share * w->step[c * d + j];
        centers->known[c] =
            share * share * w->fresh[c] + (1 - share) * (1 - share) * centers->known[c];
    }
    if (k == 1) return CLO_OK; /* its cell began where the first ask said */
    middle_of(centers->points, w, k, d);
    const double doubt = doubt_of_middle(w, centers->known, k);
    /* Of medians it is not the records' mean, of which the first ask tells. */
    const double share = plan->median ? 0 : doubt / (doubt + start->variance);
    CLO_TRY(clo_i_local_shrink(context->workspace, plan->clusters, centers->points, k, d,
                               centers->known, w->middle, err));
    for (size_t c = 0; c < k; c++)
        for (size_t j = 0; j < d; j++)
            centers->points[c * d + j] += share * (start->mean[j] - w->middle[j]);
    return CLO_OK;
}

/* The part of a step inside of the frame is taken off it and gone at once, as far as it is trusted;
 * what is left of the step lies outside. */
static void go_inside(const clo_i_local_plan *plan, const double *frame, const weighing *w,
                      size_t c, clo_i_local_centers *centers)
{
    const size_t d = plan->cols, r = plan->frame;
    double square = 0, *const step = w->step + c * d;
    for (size_t i = 0; i < r; i++) w->along[i] = 0;
    for (size_t j = 0; j < d; j++)
        for (size_t i = 0; i < r; i++) w->along[i] += frame[j * r + i] * step[j];
    for (size_t i = 0; i < r; i++) square += w->along[i] * w->along[i];
    const double share = square > 0 ? trust((double)r, square, centers->known[c], w->fresh[c]) : 0;
    for (size_t j = 0; j < d; j++) {
        double inside = 0;
        for (size_t i = 0; i < r; i++) inside += frame[j * r + i] * w->along[i];
        step[j] -= inside;
        centers->points[c * d + j] += share * inside;
    }
    centers->known[c] = share * share * w->fresh[c] + (1 - share) * (1 - share) * centers->known[c];
}

/* Outside of the frame the centres are all where the records' mean is, as far as is known: their
 * common step is James and Stein's, and the rest that of the matrix of steps. */
static clo_status go_with_frame(clo_context *context, const clo_i_local_plan *plan,
                                const double *frame, const weighing *w,
                                clo_i_local_centers *centers, clo_error *err)
{
    const size_t d = plan->cols, k = centers->found;
    double square = 0;
    for (size_t c = 0; c < k; c++) go_inside(plan, frame, w, c, centers);
    middle_of(w->step, w, k, d);
    for (size_t j = 0; j < d; j++) square += w->middle[j] * w->middle[j];
    const double doubt = doubt_of_middle(w, w->fresh, k);
    const double free = fmax((double)(d - plan->frame) - 2, 0);
    const double share = square > 0 ? fmax(0, 1 - free * doubt / square) : 0;
    if (k > 1)
        CLO_TRY(clo_i_local_shrink(context->workspace, plan->clusters, w->step, k, d, w->fresh,
                                   w->middle, err));
    for (size_t c = 0; c < k; c++)
        for (size_t j = 0; j < d; j++)
            centers->points[c * d + j] += w->step[c * d + j] - (1 - share) * w->middle[j];
    return CLO_OK;
}

clo_status clo_i_local_round(clo_context *context, const clo_i_local_plan *plan, size_t number,
                             const clo_bounded *data, const clo_i_local_start *start,
                             const double *frame, clo_i_local_centers *centers, clo_error *err)
{
    const clo_line *const line = &context->meter->lines[number];
    const size_t d = plan->cols, mark = clo_i_workspace_mark(context->workspace);
    weighing w;
    CLO_TRY(ask_clusters(context, plan, number, data, centers, err));
    clo_status status = take_weighing(plan, context->workspace, &w, err);
    if (!status) {
        measure_steps(plan, line, centers, &w);
        status = frame ? go_with_frame(context, plan, frame, &w, centers, err)
                       : go(context, plan, start, &w, centers, err);
    }
    for (size_t c = 0; !status && c < centers->found; c++)
        clo_i_pull_into_ball(centers->points + c * d, d);
    clo_i_workspace_release(context->workspace, mark);
    return status;
}
