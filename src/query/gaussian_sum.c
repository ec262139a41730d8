/*
 * gaussian_sum.c - for each cluster the sum of its records and their number, as one Gaussian
 * query (gaussian_sum.T1).
 *
 * A record r in cluster c adds the vector (r, count_unit) to block c.  On the grid of 20 bits with
 * R = 2^20, one record fewer or more moves the whole k(d+1)-vector by at most sqrt(R^2 + unit^2);
 * a replaced one by at most max(2R, sqrt(2R^2 + 2 unit^2)).
 */
#include "query/parts.h"
#include "base/planted.h"
#include "linalg/linalg.h"
#include "bound/bound.h"
#include "parallel/parallel.h"
#include <math.h>

enum { BITS = 20 };
static const uint64_t R = (uint64_t)1 << BITS;

/* How heavily the count is weighed.  Under replace a unit up to R is free.  Under add-remove the
 * error of a mean, (1 + w^2)(d + |m|^2 / w^2) with w = unit/R, is least at w^2 = |m| / sqrt(d);
 * half of the radius stands for |m|. */
static uint64_t count_unit(const clo_domain *domain)
{
    if (domain->relation == CLO_REPLACE) return R;
    const double w = sqrt(0.5 / sqrt((double)domain->cols));
    return (uint64_t)((double)R * w);
}

clo_status clo_i_plan_gaussian_sum(const clo_domain *domain, size_t clusters, double mu,
                                   uint64_t times, const char *label, clo_slot *out, clo_error *err)
{
    const uint64_t unit = count_unit(domain);
    const unsigned __int128 square = (unsigned __int128)R * R + (unsigned __int128)unit * unit;
    uint64_t sensitivity = clo_i_root_up(square); /* gaussian_sum.T1 */
    clo_slot slot = { .query = CLO_QUERY_gaussian_sum,
                      .label = label,
                      .bits = BITS,
                      .cols = domain->cols,
                      .groups = clusters,
                      .count_unit = unit };
    if (clusters < 1 || clusters > CLO_MAX_CLUSTERS)
        return clo_i_fail(err, CLO_ARGUMENT, "clusters must be between 1 and %d, not %zu",
                          (int)CLO_MAX_CLUSTERS, clusters);
    if (domain->relation == CLO_REPLACE) {
        sensitivity = clo_i_root_up(2 * square);
        if (sensitivity < 2 * R) sensitivity = 2 * R;
    }
    CLO_TRY(clo_i_plan_gaussian(sensitivity * domain->rows_per_unit, mu, times, &slot, err));
    slot.noise = (double)slot.scale / (double)R * clo_i_domain_radius(domain);
    *out = slot;
    return CLO_OK;
}

/* One thread's part of the sums: doubles that hold integers below 2^53 (2^31 rows of 2^20). */
typedef struct work {
    const clo_assign *rule;
    size_t cols, clusters, block_rows;
    double *scores;   /* a thread: block_rows x width */
    uint32_t *labels; /* a thread: block_rows */
    double *sums;     /* a thread: clusters x (cols + 1), the count last */
} work;

static clo_status add_block(void *user, int thread, size_t block, const double *values, size_t rows)
{
    const work *const w = user;
    const size_t width = clo_i_assign_width(w->rule), cols = w->cols;
    uint32_t *const labels = w->labels + (size_t)thread * w->block_rows;
    double *const sums = w->sums + (size_t)thread * w->clusters * (cols + 1);
    (void)block;
    clo_i_assign_rows(w->rule, values, rows,
                      width ? w->scores + (size_t)thread * w->block_rows * width : NULL, labels);
    for (size_t i = 0; i < rows; i++) {
        double *const sum = sums + labels[i] * (cols + 1);
        const double *const row = values + i * cols;
        for (size_t j = 0; j < cols; j++) sum[j] += row[j];
        sum[cols] += 1;
    }
    return CLO_OK;
}

static clo_status take_work(clo_context *context, const clo_bounded *data, work *w,
                            double **scratch, int64_t **totals, clo_error *err)
{
    const size_t threads = (size_t)context->threads, entries = w->clusters * (w->cols + 1);
    clo_workspace *const space = context->workspace;
    w->block_rows = clo_i_pass_block_rows(context, data);
    CLO_TRY(clo_i_take(space, clo_i_pass_scratch(context, data, context->threads), sizeof(double),
                       scratch, err));
    CLO_TRY(clo_i_take(space, threads * w->block_rows * clo_i_assign_width(w->rule), sizeof(double),
                       &w->scores, err));
    CLO_TRY(clo_i_take(space, threads * w->block_rows, sizeof(uint32_t), &w->labels, err));
    CLO_TRY(clo_i_take(space, threads * entries, sizeof(double), &w->sums, err));
    return clo_i_take(space, entries, sizeof(int64_t), totals, err);
}

/* What the test build may have done wrong with the noise, now that the sums are known. */
static void plant(const work *w, int threads, int64_t *noise)
{
    const size_t width = w->cols + 1, entries = w->clusters * width;
    for (size_t c = 0; c < w->clusters; c++) {
        double size = 0;
        for (int thread = 0; thread < threads; thread++)
            size += w->sums[(size_t)thread * entries + c * width + w->cols];
        if (clo_i_planted(CLO_FAULT_EMPTY_SKIPPED) && size == 0)
            for (size_t j = 0; j < width; j++) noise[c * width + j] = 0;
        if (clo_i_planted(CLO_FAULT_COUNT_LEAKED)) noise[c * width + w->cols] = 0;
    }
}

/* Adds the threads' sums to the noise that is already there.  Wrapping is harmless: it is
 * post-processing of the integer sum, and no sum of real data comes near it. */
static void add_up(const work *w, int threads, uint64_t unit, int64_t *totals)
{
    const size_t entries = w->clusters * (w->cols + 1);
    for (int thread = 0; thread < threads; thread++)
        for (size_t e = 0; e < entries; e++) {
            const int64_t value = (int64_t)w->sums[(size_t)thread * entries + e];
            const uint64_t weight = e % (w->cols + 1) == w->cols ? unit : 1;
            totals[e] = (int64_t)((uint64_t)totals[e] + (uint64_t)value * weight);
        }
}

static uint64_t planned_scale(const clo_slot *slot)
{
    if (!clo_i_planted(CLO_FAULT_SPLIT_IGNORED)) return slot->scale;
    return (uint64_t)((double)slot->scale / sqrt((double)slot->event.count));
}

clo_status clo_i_ask_gaussian_sum(clo_context *context, size_t number, const clo_bounded *data,
                                  const clo_assign *rule, double *sums, double *counts,
                                  clo_error *err)
{
    const size_t cols = clo_i_pass_cols(context, data);
    const clo_slot *slot;
    double *scratch = NULL;
    int64_t *totals = NULL;
    CLO_TRY(clo_i_meter_charge(context, number, CLO_QUERY_gaussian_sum, &slot, err));
    if (rule->clusters != slot->groups || (rule->points && rule->bits != slot->bits))
        return clo_i_fail(err, CLO_INTERNAL, "the clusters are not those of the plan");
    work w = { .rule = rule, .cols = cols, .clusters = slot->groups };
    const size_t mark = clo_i_workspace_mark(context->workspace), entries = w.clusters * (cols + 1);
    clo_status status = take_work(context, data, &w, &scratch, &totals, err);
    if (!status) status = clo_i_draw_gaussian(context, planned_scale(slot), entries, totals, err);
    if (!status)
        status =
            clo_i_pass(context, data, slot->bits, context->threads, scratch, add_block, &w, err);
    if (!status) {
        plant(&w, context->threads, totals);
        add_up(&w, context->threads, slot->count_unit, totals);
        status = clo_i_comm_sum(context->comm, totals, entries, err);
    }
    if (!status) {
        CLO_I_DECLASSIFY(totals, entries * sizeof *totals);
        for (size_t c = 0; c < w.clusters; c++) {
            for (size_t j = 0; j < cols; j++)
                sums[c * cols + j] = (double)totals[c * (cols + 1) + j] / (double)R;
            counts[c] = (double)totals[c * (cols + 1) + cols] / (double)slot->count_unit;
        }
        clo_i_tell_answer(context, slot, sums, w.clusters * cols);
        clo_i_tell_answer(context, slot, counts, w.clusters);
    }
    clo_i_workspace_release(context->workspace, mark);
    return status;
}
