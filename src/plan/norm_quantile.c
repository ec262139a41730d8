/*
 * norm_quantile.c - a private radius: below the largest one thinkable lies a public grid of
 * thresholds that fall by equal factors, and the exponential mechanism chooses one that holds most
 * records (bounds_quantile.T1), or the largest where they are too few to tell (quantile.T2).  For
 * bounds/quantile, and for runs that learn their norm.
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

clo_status clo_i_plan_norm_quantile(const clo_domain *domain, size_t steps, double quantile,
                                    double epsilon, const char *label, clo_line *out,
                                    clo_error *err)
{
    const clo_quantile how = { threshold_count(steps), 1, quantile };
    return clo_i_plan_quantile(domain, &how, epsilon, 1, label, out, err);
}

size_t clo_i_norm_quantile_size(size_t steps)
{
    return clo_i_take_size(threshold_count(steps), sizeof(int64_t));
}

clo_status clo_i_ask_norm_quantile(clo_context *context, size_t number, const clo_bounded *data,
                                   size_t steps, double *share, clo_error *err)
{
    const size_t count = threshold_count(steps), mark = clo_i_workspace_mark(context->workspace);
    int64_t *thresholds = NULL;
    size_t chosen = 0;
    CLO_TRY(clo_i_take(context->workspace, count, sizeof *thresholds, &thresholds, err));
    for (size_t i = 0; i < count; i++) /* squared norms on the full grid, increasing */
        thresholds[i] =
            (int64_t)ldexp(pow(clo_i_threshold_share(steps, count - 1 - i), 2), 2 * GRID);
    const clo_status status =
        clo_i_ask_quantile(context, number, data, SIZE_MAX, thresholds, &chosen, err);
    clo_i_workspace_release(context->workspace, mark);
    if (!status) *share = clo_i_threshold_share(steps, count - 1 - chosen);
    return status;
}
