/*
 * center_refine.c - from the tensor's centres to the means of their members, by Lloyd's rounds on
 * noisy sums and sizes, in which no round is lost on the next.  Post-processing, but for the ask.
 *
 * A step that the noise explains is weighed by what is known of both its ends, so that the rounds
 * are averaged; a longer one by its own length, as James and Stein do, so that a centre goes where
 * its members are.
 */
#include "mechanism/kmeans/center_moments.h"
#include "mechanism/common/centers_common.h"
#include "ask/assign.h"
#include "query/gaussian_sum.h"
#include <math.h>

static const double LEAST_TRUST = 0.1; /* for how little a round counts in what is known after it */

void clo_i_center_step(const clo_line *line, size_t d, const double *sum, double size,
                       double *center, double *variance)
{
    if (clo_i_size_is_noise(line, size)) return;
    const double noise = ldexp((double)line->scale, -line->bits) / size, fresh = noise * noise;
    const double wide = 1 + 2 * sqrt(2 / (double)d);
    double step = 0;
    for (size_t j = 0; j < d; j++)
        step += (sum[j] / size - center[j]) * (sum[j] / size - center[j]);
    double trust = *variance / (*variance + fresh);
    if (!isfinite(*variance) || step > (double)d * (*variance + fresh) * wide)
        trust = d > 2 && step > 0 ? fmax(0, 1 - ((double)d - 2) * fresh / step) : 1;
    for (size_t j = 0; j < d; j++) center[j] += trust * (sum[j] / size - center[j]);
    clo_i_pull_into_ball(center, d);
    *variance = fresh * fmax(trust, LEAST_TRUST);
}

clo_status clo_i_center_refine_once(clo_context *context, size_t ask, const clo_bounded *data,
                                    size_t d, double *centers, double *variances, double *sums,
                                    double *sizes, clo_error *err)
{
    const clo_line *const line = &context->meter->lines[ask];
    const size_t k = line->groups, mark = clo_i_workspace_mark(context->workspace);
    clo_assign rule;
    clo_status status =
        clo_i_assign_centers(context->workspace, centers, k, d, line->bits, &rule, err);
    if (!status) status = clo_i_ask_gaussian_sum(context, ask, data, &rule, sums, sizes, err);
    for (size_t c = 0; !status && c < k; c++)
        clo_i_center_step(line, d, sums + c * d, sizes[c], centers + c * d, variances + c);
    clo_i_workspace_release(context->workspace, mark);
    return status;
}
