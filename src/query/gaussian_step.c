/*
 * gaussian_step.c - for each cluster which way its records pull at its centre, and how stiffly, as
 * one Gaussian query: what a step of Weiszfeld's toward the cluster's median takes
 * (gaussian_step.T1).
 *
 * A record x in the cluster of centre c adds the vector (x - c) / max(|x - c|, width), which is no
 * longer than 1 wherever x lies, the number width / max(|x - c|, width) and 1 to the cluster's
 * size.  Their quotient, pull times width over stiffness, is the step that lowers the total of the
 * distances, those below the width counted as squares (Huber's loss); its noise is that of a sum of
 * vectors of the cluster's own width, not of the ball's.
 */
#include "query/parts.h"
#include "bound/bound.h"
#include <math.h>

enum { BITS = 20, R = 1 << BITS, UNIT = R / 4 };

clo_status clo_i_plan_gaussian_step(const clo_domain *domain, size_t clusters, double mu,
                                    uint64_t times, const char *label, clo_slot *out,
                                    clo_error *err)
{
    const unsigned __int128 length = (unsigned __int128)R * R;
    const unsigned __int128 side = (unsigned __int128)UNIT * UNIT;
    const bool replace = domain->relation == CLO_REPLACE;
    clo_slot slot = { .query = CLO_QUERY_gaussian_step,
                      .label = label,
                      .bits = BITS,
                      .cols = domain->cols,
                      .groups = clusters,
                      .count_unit = UNIT };
    if (clusters < 1 || clusters > CLO_MAX_CLUSTERS)
        return clo_i_fail(err, CLO_ARGUMENT, "clusters must be between 1 and %d, not %zu",
                          (int)CLO_MAX_CLUSTERS, clusters);
    /* gaussian_step.T1 */
    const uint64_t sensitivity = clo_i_root_up(replace ? 4 * length + side : length + 2 * side);
    CLO_TRY(clo_i_plan_gaussian(sensitivity * domain->rows_per_unit, mu, times, &slot, err));
    slot.noise = (double)slot.scale / R;
    *out = slot;
    return CLO_OK;
}

/* ---- what a record adds --------------------------------------------------------------------- */

static void take_a_step_in(double *pull, size_t cols)
{
    size_t largest = 0;
    for (size_t j = 1; j < cols; j++)
        if (fabs(pull[j]) > fabs(pull[largest])) largest = j;
    pull[largest] -= copysign(1, pull[largest]);
}

static int64_t square_of(const double *vector, size_t cols)
{
    int64_t total = 0;
    for (size_t j = 0; j < cols; j++) total += (int64_t)vector[j] * (int64_t)vector[j];
    return total;
}

/* pull: cols; at most R long.  Returns how stiffly, at most UNIT (gaussian_step.T2). */
static double pull_of(const double *record, const double *center, size_t cols, double width,
                      double *pull)
{
    for (size_t j = 0; j < cols; j++) pull[j] = record[j] - center[j];
    const double apart = fmax(sqrt((double)square_of(pull, cols)), width);
    const double factor = R / apart;
    for (size_t j = 0; j < cols; j++) pull[j] = (double)(int32_t)(pull[j] * factor);
    while (square_of(pull, cols) > (int64_t)R * R) take_a_step_in(pull, cols);
    return (double)(int32_t)(UNIT * (width / apart));
}

typedef struct work {
    const clo_assign *rule;
    size_t cols, clusters, block_rows;
    double width;     /* on the grid */
    double *scores;   /* a thread: block_rows x clusters */
    uint32_t *labels; /* a thread: block_rows */
    double *pulls;    /* a thread: cols */
    double *sums;     /* a thread: clusters x (cols + 2): pull, stiffness, size */
} work;

static clo_status add_block(void *user, int thread, size_t block, const double *values, size_t rows)
{
    const work *const w = user;
    const size_t cols = w->cols, t = (size_t)thread;
    uint32_t *const labels = w->labels + t * w->block_rows;
    double *const pull = w->pulls + t * cols;
    double *const sums = w->sums + t * w->clusters * (cols + 2);
    (void)block;
    clo_i_assign_rows(w->rule, values, rows, w->scores + t * w->block_rows * w->clusters, labels);
    for (size_t i = 0; i < rows; i++) {
        double *const sum = sums + labels[i] * (cols + 2);
        sum[cols] +=
            pull_of(values + i * cols, w->rule->points + labels[i] * cols, cols, w->width, pull);
        sum[cols + 1] += UNIT;
        for (size_t j = 0; j < cols; j++) sum[j] += pull[j];
    }
    return CLO_OK;
}

/* ---- asking --------------------------------------------------------------------------------- */

static clo_status take_work(clo_context *context, const clo_bounded *data, work *w,
                            double **scratch, int64_t **totals, clo_error *err)
{
    const size_t threads = (size_t)context->threads, entries = w->clusters * (w->cols + 2);
    clo_workspace *const space = context->workspace;
    w->block_rows = clo_i_pass_block_rows(context, data);
    CLO_TRY(clo_i_take(space, clo_i_pass_scratch(context, data, context->threads), sizeof(double),
                       scratch, err));
    CLO_TRY(
        clo_i_take(space, threads * w->block_rows * w->clusters, sizeof(double), &w->scores, err));
    CLO_TRY(clo_i_take(space, threads * w->block_rows, sizeof(uint32_t), &w->labels, err));
    CLO_TRY(clo_i_take(space, threads * w->cols, sizeof(double), &w->pulls, err));
    CLO_TRY(clo_i_take(space, threads * entries, sizeof(double), &w->sums, err));
    return clo_i_take(space, entries, sizeof(int64_t), totals, err);
}

size_t clo_i_step_workspace(const clo_slot *slot, size_t rows, size_t threads)
{
    const size_t k = slot->groups, entries = k * (slot->cols + 2);
    return clo_i_take_size(threads * rows * k, 8) + clo_i_take_size(threads * rows, 4) +
           clo_i_take_size(threads * slot->cols, 8) + clo_i_take_size(threads * entries, 8) +
           clo_i_take_size(entries, 8) + clo_i_answer_workspace(entries);
}

static void publish(const clo_context *context, const clo_slot *slot, const int64_t *totals,
                    clo_steps *out)
{
    const size_t k = slot->groups, cols = slot->cols;
    for (size_t c = 0; c < k; c++) {
        const int64_t *const total = totals + c * (cols + 2);
        for (size_t j = 0; j < cols; j++) out->pulls[c * cols + j] = (double)total[j] / R;
        out->stiffness[c] = (double)total[cols] / UNIT;
        out->sizes[c] = (double)total[cols + 1] / UNIT;
    }
    clo_i_tell_answer(context, slot, out->pulls, k * cols, R);
    clo_i_tell_answer(context, slot, out->stiffness, k, UNIT);
    clo_i_tell_answer(context, slot, out->sizes, k, UNIT);
}

clo_status clo_i_ask_gaussian_step(clo_context *context, size_t number, const clo_bounded *data,
                                   const clo_assign *rule, double width, clo_steps *out,
                                   clo_error *err)
{
    const clo_slot *slot;
    double *scratch = NULL;
    int64_t *totals = NULL;
    CLO_TRY(clo_i_meter_charge(context, number, CLO_QUERY_gaussian_step, &slot, err));
    if (rule->kind != CLO_ASSIGN_CENTERS || rule->clusters != slot->groups || rule->bits != BITS ||
        !(width >= 0x1p-16 && width <= 2))
        return clo_i_fail(err, CLO_INTERNAL, "the centres are not those of the plan");
    work w = { .rule = rule, .cols = slot->cols, .clusters = slot->groups, .width = width * R };
    const size_t mark = clo_i_workspace_mark(context->workspace);
    const size_t entries = w.clusters * (w.cols + 2);
    const clo_noise noise = { .count = entries,
                              .laws = { clo_i_gaussian_law(slot->scale) },
                              .group = w.cols + 2 };
    clo_status status = take_work(context, data, &w, &scratch, &totals, err);
    if (!status)
        status = clo_i_pass(context, data, BITS, context->threads, scratch, add_block, &w, err);
    if (!status) {
        for (size_t e = 0; e < (size_t)context->threads * entries; e++)
            totals[e % entries] += (int64_t)w.sums[e];
        status = clo_i_answer(context, slot, &noise, totals, err);
    }
    if (!status) publish(context, slot, totals, out);
    clo_i_workspace_release(context->workspace, mark);
    return status;
}
