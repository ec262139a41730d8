/*
 * local_start.c - where the records are: the first ask of a local method, and the second one where
 * noise is strong.
 */
#include "mechanism/common/centers_common.h"
#include "mechanism/common/local_internal.h"
#include "ask/assign.h"
#include <math.h>
#include <string.h>

/* The width of the second look, in root mean square distances, and its reach in widths. */
static const double AGAIN = 0.9, AGAIN_REACH = 1.5;

/* From the mean that the first look has found to that of the second. */
static clo_status take_step(const clo_i_local_plan *plan, clo_workspace *space, double **step,
                            clo_error *err)
{
    return clo_i_take(space, plan->pick ? plan->cols : 0, sizeof(double), step, err);
}

clo_status clo_i_local_ask_start_room(const clo_i_local_plan *plan, clo_workspace *space,
                                      clo_error *err)
{
    const size_t mark = clo_i_workspace_mark(space);
    double *step;
    CLO_TRY(take_step(plan, space, &step, err));
    CLO_TRY(clo_i_assign_room(space, CLO_ASSIGN_CENTERS, 1, plan->cols, 0, err));
    clo_i_workspace_release(space, mark);
    return CLO_OK;
}

/* From the first answer: the mean, brought nearer to the origin as far as its noise asks (James and
 * Stein), and how far the records lie from there. */
static void read_start(const clo_i_local_plan *plan, const clo_line *line, double square,
                       clo_i_local_start *start)
{
    const size_t d = plan->cols;
    const double noise = clo_i_local_deviation(line) / start->rows;
    const double doubt = clo_i_local_square_deviation(line) / start->rows;
    double norm = 0, trust = 1;
    start->variance = noise * noise;
    for (size_t j = 0; j < d; j++) {
        start->mean[j] /= start->rows;
        norm += start->mean[j] * start->mean[j];
    }
    if (d > 2) trust = fmax(0, 1 - ((double)d - 2) * start->variance / fmax(norm, 1e-300));
    for (size_t j = 0; j < d; j++) start->center[j] = trust * start->mean[j];
    clo_i_pull_into_ball(start->center, d);
    const double noisy = (double)d * start->variance;
    const double off = (1 - trust) * (1 - trust) * norm + trust * trust * noisy;
    const double about = fmin(square / start->rows, 1) - fmax(norm - noisy, 0) + off;
    start->doubt = off / (double)d;
    start->square = fmin(fmax(about, fmax(0.5 * doubt, 1e-6)), 1);
    start->seen_square = start->square;
    start->told = clo_i_local_told(plan, start->rows);
}

/* All records as one group about the centre. */
static clo_status ask_all(clo_context *context, const clo_i_local_plan *plan,
                          const clo_bounded *data, const double *center, clo_local_view view,
                          clo_local_sums *answer, clo_error *err)
{
    const clo_line *const line = &context->meter->lines[0];
    const size_t mark = clo_i_workspace_mark(context->workspace);
    clo_assign rule;
    clo_status status =
        clo_i_assign_centers(context->workspace, center, 1, plan->cols, line->bits, &rule, err);
    if (!status) status = clo_i_ask_local_sum(context, 0, data, &rule, &view, answer, err);
    clo_i_workspace_release(context->workspace, mark);
    return status;
}

/* From the second answer: the two means are weighed by their noise, but where they lie farther
 * apart than that tells, the first was off by more. */
static void read_again(const clo_i_local_plan *plan, const clo_line *line, clo_local_view view,
                       const double *step, double square, double rows, clo_i_local_start *start)
{
    const size_t d = plan->cols;
    start->rows = fmax((start->rows + rows) / 2, 1);
    const double scale = view.width / start->rows, reach = view.reach * view.reach / start->rows;
    const double noise = scale * clo_i_local_deviation(line), fresh = noise * noise;
    double apart = 0;
    for (size_t j = 0; j < d; j++) apart += scale * step[j] * scale * step[j];
    const double known = fmax(start->doubt, apart / (double)d - fresh);
    const double share = known / (known + fresh);
    for (size_t j = 0; j < d; j++) start->center[j] += share * scale * step[j];
    clo_i_pull_into_ball(start->center, d);
    start->doubt = share * share * fresh + (1 - share) * (1 - share) * known;
    const double spread = reach * square - fmax(apart - (double)d * fresh, 0);
    const double least = fmax(0.5 * reach * clo_i_local_square_deviation(line), 1e-6);
    start->square = fmin(fmax(spread + (double)d * start->doubt, least), 1);
    start->seen_square = start->square;
    start->told = clo_i_local_told(plan, start->rows);
}

/* With strong noise the first look, at the whole ball, may find the mean no nearer than the records
 * are to each other, and then the directions to it are those of its noise.  A second one, about
 * there and at the width that the first has found, is as much nearer as that width is smaller. */
static clo_status look_again(clo_context *context, const clo_i_local_plan *plan,
                             const clo_bounded *data, clo_i_local_start *start, clo_error *err)
{
    const double width = fmin(AGAIN * sqrt(start->square), CLO_LOCAL_WIDEST / 2);
    const clo_local_view view = { width, AGAIN_REACH * width };
    const size_t mark = clo_i_workspace_mark(context->workspace);
    double square, rows, *step = NULL;
    CLO_TRY(take_step(plan, context->workspace, &step, err));
    clo_local_sums answer = { step, &square, &rows };
    clo_i_local_progress(context, plan, 1);
    const clo_status status = ask_all(context, plan, data, start->center, view, &answer, err);
    if (!status) read_again(plan, &context->meter->lines[0], view, step, square, rows, start);
    clo_i_workspace_release(context->workspace, mark);
    return status;
}

clo_status clo_i_local_ask_start(clo_context *context, const clo_i_local_plan *plan,
                                 const clo_bounded *data, clo_i_local_start *start, clo_error *err)
{
    double square;
    clo_local_sums answer = { start->mean, &square, &start->rows };
    clo_i_local_progress(context, plan, 0);
    memset(start->center, 0, plan->cols * sizeof(double));
    CLO_TRY(ask_all(context, plan, data, start->center, (clo_local_view){ 1, 1 }, &answer, err));
    start->rows = fmax(start->rows, 1);
    read_start(plan, &context->meter->lines[0], square, start);
    if (plan->pick) CLO_TRY(look_again(context, plan, data, start, err));
    if (!plan->frame) memcpy(start->seen, start->center, plan->cols * sizeof(double));
    return CLO_OK;
}
