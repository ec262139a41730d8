/*
 * cluster_sum.c - what the two queries for sums and sizes of clusters share: the sums themselves,
 * in exact integers, with the noise of whichever query drew it; and the choice between the two.
 *
 * Gaussian noise follows the L2 norm of a record, Laplace noise its L1 norm, which is up to sqrt(d)
 * times as long: so the latter is for budgets without a delta, or with a tiny one, or for very few
 * columns.
 */
#include "query/cluster_sum_internal.h"
#include "query/queries.h"
#include "query/gaussian_sum.h"
#include "query/laplace_sum.h"
#include "linalg/linalg.h"
#include "bound/bound.h"
#include "parallel/parallel.h"
#include "ask/assign.h"
#include "query/cluster_sum.h"
#include <math.h>

/* One thread's part of the sums: doubles that hold integers below 2^53 (2^31 rows of 2^20). */
typedef struct work {
    double *scores;   /* a thread: block_rows x clusters */
    uint32_t *labels; /* a thread: block_rows */
    double *sums;     /* a thread: clusters x (seen + 1), the count last */
} work;
CLO_FOLD_WORK_OF(work)

size_t clo_i_cluster_sum_entries(const clo_line *line, size_t cols, const clo_ask *ask)
{
    (void)cols, (void)ask;
    return line->groups * (line->cols + 1);
}

clo_status clo_i_cluster_sum_check(const clo_ask *ask, size_t cols, clo_error *err)
{
    const clo_line *const line = ask->line;
    (void)cols;
    if (ask->rule_count == 1 && clo_i_assign_width(ask->rules) <= line->groups &&
        clo_i_assign_fits(ask->rules, line->groups, line->cols, line->bits))
        return CLO_OK;
    return clo_i_fail(err, CLO_INTERNAL, "the clusters are not those of the plan");
}

clo_status clo_i_cluster_sum_lay_out(clo_fold *fold, clo_workspace *space, clo_error *err)
{
    const size_t threads = (size_t)fold->threads, k = fold->line->groups;
    work *const w = work_of(fold);
    CLO_TRY(clo_i_take(space, threads * fold->block_rows * k, sizeof(double), &w->scores, err));
    CLO_TRY(clo_i_take(space, threads * fold->block_rows, sizeof(uint32_t), &w->labels, err));
    return clo_i_take(space, threads * k * (fold->seen + 1), sizeof(double), &w->sums, err);
}

clo_status clo_i_cluster_sum_add(void *user, int thread, size_t block, const double *values,
                                 size_t rows)
{
    clo_fold *const fold = user;
    const work *const w = work_of(fold);
    const size_t cols = fold->seen, k = fold->line->groups, t = (size_t)thread;
    uint32_t *const labels = w->labels + t * fold->block_rows;
    double *const sums = w->sums + t * k * (cols + 1);
    clo_i_assign_rows(fold->ask->rules, values, rows, w->scores + t * fold->block_rows * k, labels);
    for (size_t i = 0; i < rows; i++) {
        double *const sum = sums + labels[i] * (cols + 1);
        const double *const row = values + i * cols;
        for (size_t j = 0; j < cols; j++) sum[j] += row[j];
        sum[cols] += 1;
    }
    return CLO_OK;
}

void clo_i_cluster_sum_gather(clo_fold *fold)
{
    clo_i_gather_groups(fold, work_of(fold)->sums);
}

/* In the answer's units: records, and the coordinates of the unit ball. */
clo_status clo_i_noisy_cluster_sums(clo_context *context, size_t number, const clo_query *query,
                                    const clo_bounded *data, const clo_assign *rule, double *sums,
                                    double *counts, clo_error *err)
{
    const clo_ask told = { .rules = rule, .rule_count = 1 };
    clo_sum sum;
    CLO_TRY(clo_i_sum_answer(context, number, query, data, &told, &sum, err));
    const clo_share shares[] = { { sums, sum.line->cols, ldexp(1, sum.line->bits) },
                                 { counts, 1, (double)sum.line->count_unit } };
    clo_i_sum_tell(&sum, shares, 2, NULL);
    return CLO_OK;
}

/* ---- either query ---------------------------------------------------------------------- */

double clo_i_line_deviation(const clo_line *line)
{
    const double deviation = line->query == &clo_i_query_laplace_sum ? sqrt(2) : 1;
    return ldexp(deviation * (double)line->scale, -line->bits);
}

double clo_i_line_count_deviation(const clo_line *line)
{
    return ldexp(clo_i_line_deviation(line), line->bits) / (double)line->count_unit;
}

bool clo_i_size_is_noise(const clo_line *line, double size)
{
    return size <= 2 * clo_i_line_count_deviation(line);
}

void clo_i_pull_into_ball(double *center, size_t d)
{
    double norm = 0;
    for (size_t j = 0; j < d; j++) norm += center[j] * center[j];
    if (norm > 1)
        for (size_t j = 0; j < d; j++) center[j] /= sqrt(norm);
}

clo_status clo_i_plan_cluster_sum(const clo_domain *domain, size_t clusters, clo_event_kind kind,
                                  double parameter, uint64_t times, const char *label,
                                  clo_line *out, clo_error *err)
{
    if (kind == CLO_EVENT_PURE)
        return clo_i_plan_laplace_sum(domain, clusters, parameter, times, label, out, err);
    return clo_i_plan_gaussian_sum(domain, clusters, parameter, times, label, out, err);
}

/* Mean squared error of a cluster's mean half-way to the sphere, but for a factor that both queries
 * have in common. */
static double error_of_mean(const clo_line *line)
{
    const double sum = clo_i_line_deviation(line), count = clo_i_line_count_deviation(line);
    return (double)line->cols * sum * sum + count * count / 4;
}

static clo_status plan_gaussian_within(const clo_domain *domain, size_t clusters, clo_loss budget,
                                       uint64_t times, const char *label, clo_line *out,
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
                                         const char *label, clo_line *out, clo_error *err)
{
    const double epsilon = budget.epsilon / (double)times;
    clo_line gaussian, laplace;
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
    if (number < meter->count && meter->lines[number].query == &clo_i_query_laplace_sum)
        return clo_i_ask_laplace_sum(context, number, data, rule, sums, counts, err);
    return clo_i_ask_gaussian_sum(context, number, data, rule, sums, counts, err);
}
