/*
 * cluster_sum.c - what the two queries for sums and sizes of clusters share: the sums themselves,
 * in exact integers, with the noise of whichever query drew it; and the choice between the two.
 *
 * Gaussian noise follows the L2 norm of a record, Laplace noise its L1 norm, which is up to sqrt(d)
 * times as long: so the latter is for budgets without a delta, or with a tiny one, or for very few
 * columns.
 */
#include "query/parts.h"
#include "linalg/linalg.h"
#include "bound/bound.h"
#include <math.h>

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

/* Adds the threads' sums up. */
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

/* In the answer's units: records, and the coordinates of the unit ball. */
static void tell(const clo_context *context, const clo_slot *slot, const int64_t *totals,
                 size_t cols, double *sums, double *counts)
{
    for (size_t c = 0; c < slot->groups; c++) {
        for (size_t j = 0; j < cols; j++)
            sums[c * cols + j] = ldexp((double)totals[c * (cols + 1) + j], -slot->bits);
        counts[c] = (double)totals[c * (cols + 1) + cols] / (double)slot->count_unit;
    }
    clo_i_tell_answer(context, slot, sums, slot->groups * cols, ldexp(1, slot->bits));
    clo_i_tell_answer(context, slot, counts, slot->groups, (double)slot->count_unit);
}

clo_status clo_i_noisy_cluster_sums(clo_context *context, const clo_slot *slot,
                                    const clo_bounded *data, const clo_assign *rule, clo_law law,
                                    double *sums, double *counts, clo_error *err)
{
    const size_t cols = clo_i_pass_cols(context, data);
    double *scratch = NULL;
    int64_t *totals = NULL;
    if (rule->clusters != slot->groups || (rule->points && rule->bits != slot->bits))
        return clo_i_fail(err, CLO_INTERNAL, "the clusters are not those of the plan");
    work w = { .rule = rule, .cols = cols, .clusters = slot->groups };
    const clo_noise noise = { .count = w.clusters * (cols + 1),
                              .laws = { law },
                              .group = cols + 1 };
    const size_t mark = clo_i_workspace_mark(context->workspace);
    clo_status status = take_work(context, data, &w, &scratch, &totals, err);
    if (!status)
        status =
            clo_i_pass(context, data, slot->bits, context->threads, scratch, add_block, &w, err);
    if (!status) {
        add_up(&w, context->threads, slot->count_unit, totals);
        status = clo_i_answer(context, slot, &noise, totals, err);
    }
    if (!status) tell(context, slot, totals, cols, sums, counts);
    clo_i_workspace_release(context->workspace, mark);
    return status;
}

/* ---- either query ---------------------------------------------------------------------- */

double clo_i_slot_deviation(const clo_slot *slot)
{
    const double deviation = slot->query == CLO_QUERY_laplace_sum ? sqrt(2) : 1;
    return ldexp(deviation * (double)slot->scale, -slot->bits);
}

double clo_i_slot_count_deviation(const clo_slot *slot)
{
    return ldexp(clo_i_slot_deviation(slot), slot->bits) / (double)slot->count_unit;
}

clo_status clo_i_plan_cluster_sum(const clo_domain *domain, size_t clusters, clo_event_kind kind,
                                  double parameter, uint64_t times, const char *label,
                                  clo_slot *out, clo_error *err)
{
    if (kind == CLO_EVENT_PURE)
        return clo_i_plan_laplace_sum(domain, clusters, parameter, times, label, out, err);
    return clo_i_plan_gaussian_sum(domain, clusters, parameter, times, label, out, err);
}

/* Mean squared error of a cluster's mean half-way to the sphere, but for a factor that both queries
 * have in common. */
static double error_of_mean(const clo_slot *slot)
{
    const double sum = clo_i_slot_deviation(slot), count = clo_i_slot_count_deviation(slot);
    return (double)slot->cols * sum * sum + count * count / 4;
}

static clo_status plan_gaussian_within(const clo_domain *domain, size_t clusters, clo_loss budget,
                                       uint64_t times, const char *label, clo_slot *out,
                                       clo_error *err)
{
    const clo_event asks = { .kind = CLO_EVENT_GAUSSIAN, .parameter = 1, .count = times };
    double mu;
    CLO_TRY(clo_calibrate(&asks, 1, budget, &mu, err));
    return clo_i_plan_gaussian_sum(domain, clusters, mu, times, label, out, err);
}

/* laplace_sum.T2 */
clo_status clo_i_plan_cluster_sum_within(const clo_domain *domain, size_t clusters,
                                         clo_sum_noise noise, clo_loss budget, uint64_t times,
                                         const char *label, clo_slot *out, clo_error *err)
{
    const double epsilon = budget.epsilon / (double)times;
    clo_slot gaussian, laplace;
    if (noise == CLO_SUM_LAPLACE || (noise == CLO_SUM_AUTO && !(budget.delta > 0)))
        return clo_i_plan_laplace_sum(domain, clusters, epsilon, times, label, out, err);
    CLO_TRY(plan_gaussian_within(domain, clusters, budget, times, label, &gaussian, err));
    const bool pure =
        noise == CLO_SUM_AUTO &&
        !clo_i_plan_laplace_sum(domain, clusters, epsilon, times, label, &laplace, NULL) &&
        error_of_mean(&laplace) < error_of_mean(&gaussian);
    *out = pure ? laplace : gaussian;
    return CLO_OK;
}

clo_status clo_i_ask_cluster_sum(clo_context *context, size_t number, const clo_bounded *data,
                                 const clo_assign *rule, double *sums, double *counts,
                                 clo_error *err)
{
    const clo_meter *const meter = context->meter;
    if (number < meter->count && meter->slots[number].query == CLO_QUERY_laplace_sum)
        return clo_i_ask_laplace_sum(context, number, data, rule, sums, counts, err);
    return clo_i_ask_gaussian_sum(context, number, data, rule, sums, counts, err);
}
