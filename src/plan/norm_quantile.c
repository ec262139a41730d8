/*
 * norm_quantile.c - a private radius: below the largest one thinkable lies a public grid of
 * thresholds that fall by equal factors, and the exponential mechanism chooses the one nearest to
 * the quantile (bounds_quantile.T1).  For bounds/quantile, and for runs that learn their norm.
 */
#include "plan/norm_quantile.h"
#include "query/quantile.h"
#include <math.h>

enum { GRID = 30 };

static size_t threshold_count(size_t steps)
{
    return CLO_QUANTILE_OCTAVES * steps + 1;
}

double clo_i_threshold_share(size_t steps, size_t from_top)
{
    return exp2(-(double)from_top / (double)steps);
}

/* On a full grid the last handicap weighs as much as 52 nats, about 100/epsilon records. */
void clo_i_threshold_handicaps(const clo_line *line, size_t steps, size_t thresholds, bool upper,
                               int64_t *out)
{
    const double nat = (double)line->rate_denominator / (double)line->rate_numerator;
    const double step = fmin(2 * nat / (double)steps, 0x1p40);
    for (size_t i = 0; i < thresholds; i++)
        out[upper ? i : thresholds - 1 - i] = (int64_t)((double)i * step);
}

clo_status clo_i_plan_norm_quantile(const clo_domain *domain, size_t steps, double quantile,
                                    double epsilon, const char *label, clo_line *out,
                                    clo_error *err)
{
    return clo_i_plan_quantile(domain, threshold_count(steps),
                               (uint64_t)llround(quantile * CLO_QUANTILE_PARTS), CLO_QUANTILE_PARTS,
                               epsilon, 1, label, out, err);
}

clo_status clo_i_thresholds_take(clo_workspace *space, size_t count, clo_i_thresholds *out,
                                 clo_error *err)
{
    CLO_TRY(clo_i_take(space, count, sizeof *out->values, &out->values, err));
    return clo_i_take(space, count, sizeof *out->handicaps, &out->handicaps, err);
}

clo_status clo_i_norm_quantile_room(clo_workspace *space, size_t steps, clo_error *err)
{
    const size_t mark = clo_i_workspace_mark(space);
    clo_i_thresholds unused;
    CLO_TRY(clo_i_thresholds_take(space, threshold_count(steps), &unused, err));
    clo_i_workspace_release(space, mark);
    return CLO_OK;
}

clo_status clo_i_ask_norm_quantile(clo_context *context, size_t number, const clo_bounded *data,
                                   size_t steps, double *share, clo_error *err)
{
    const size_t count = threshold_count(steps), mark = clo_i_workspace_mark(context->workspace);
    clo_i_thresholds grid;
    size_t chosen = 0;
    CLO_TRY(clo_i_thresholds_take(context->workspace, count, &grid, err));
    for (size_t i = 0; i < count; i++) /* squared norms on the full grid, increasing */
        grid.values[i] =
            (int64_t)ldexp(pow(clo_i_threshold_share(steps, count - 1 - i), 2), 2 * GRID);
    clo_i_threshold_handicaps(&context->meter->lines[number], steps, count, true, grid.handicaps);
    const clo_status status = clo_i_ask_quantile(context, number, data, SIZE_MAX, grid.values,
                                                 grid.handicaps, &chosen, err);
    clo_i_workspace_release(context->workspace, mark);
    if (!status) *share = clo_i_threshold_share(steps, count - 1 - chosen);
    return status;
}
