/*
 * quantile.c - a quantile of the record norms or of a column, on a public grid of thresholds, by
 * the exponential mechanism (quantile.T1).
 *
 * With c_i records at or below threshold i and n in all, the score of i for the quantile a/b is
 * -|(b - a) c_i - a (n - c_i)|: an integer, 0 where the share is exactly a/b.  One record more or
 * less changes it by at most max(a, b - a), a replaced one by at most b.  A public handicap is
 * taken off, which changes no difference between neighbours.
 */
#include "query/parts.h"
#include "bound/bound.h"
#include "parallel/parallel.h"

clo_status clo_i_plan_quantile(const clo_domain *domain, size_t candidates, uint64_t numerator,
                               uint64_t denominator, double epsilon, uint64_t times,
                               const char *label, clo_line *out, clo_error *err)
{
    clo_line line = { .query = CLO_QUERY_quantile,
                      .label = label,
                      .bits = CLO_GRID_BITS,
                      .groups = candidates,
                      .quantile_numerator = numerator,
                      .quantile_denominator = denominator };
    const uint64_t rest = denominator - numerator;
    uint64_t sensitivity = numerator > rest ? numerator : rest;
    if (candidates < 1 || numerator > denominator || denominator > 1000000)
        return clo_i_fail(err, CLO_ARGUMENT, "a quantile must lie between 0 and 1");
    if (domain->relation == CLO_REPLACE) sensitivity = denominator; /* quantile.T1 */
    CLO_TRY(
        clo_i_plan_exponential(sensitivity * domain->rows_per_unit, epsilon, times, &line, err));
    *out = line;
    return CLO_OK;
}

typedef struct work {
    const clo_bounded *data;
    const int64_t *thresholds;
    size_t candidates, column, cols, block_rows;
    uint64_t *squares; /* a thread: block_rows */
    int64_t *counts;   /* a thread: candidates + 1, by the first threshold not below */
} work;

static size_t first_not_below(const int64_t *thresholds, size_t count, int64_t value)
{
    size_t from = 0, to = count;
    while (from < to) {
        const size_t middle = from + (to - from) / 2;
        if (thresholds[middle] < value)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

static clo_status count_block(void *user, int thread, size_t block, const double *values,
                              size_t rows)
{
    const work *const w = user;
    int64_t *const counts = w->counts + (size_t)thread * (w->candidates + 1);
    uint64_t *const squares = w->squares + (size_t)thread * w->block_rows;
    if (!values) CLO_TRY(clo_i_block_norms(w->data, block, w->block_rows, squares, &rows, NULL));
    for (size_t i = 0; i < rows; i++) {
        const int64_t value =
            values ? (int64_t)values[i * w->cols + w->column] : (int64_t)squares[i];
        counts[first_not_below(w->thresholds, w->candidates, value)]++;
    }
    return CLO_OK;
}

/* Turns counts by bucket into scores by threshold, in place. */
static void score(const clo_line *line, const int64_t *handicaps, int64_t *counts,
                  size_t candidates)
{
    const int64_t a = (int64_t)line->quantile_numerator;
    const int64_t rest = (int64_t)(line->quantile_denominator - line->quantile_numerator);
    int64_t total = 0, below = 0;
    for (size_t i = 0; i <= candidates; i++) total += counts[i];
    for (size_t i = 0; i < candidates; i++) {
        below += counts[i];
        const int64_t off = rest * below - a * (total - below);
        counts[i] = (off < 0 ? off : -off) - handicaps[i];
    }
}

clo_status clo_i_ask_quantile(clo_context *context, size_t number, const clo_bounded *data,
                              size_t column, const int64_t *thresholds, const int64_t *handicaps,
                              size_t *chosen, clo_error *err)
{
    const clo_line *line;
    double *scratch = NULL;
    const size_t threads = (size_t)context->threads;
    clo_workspace *const space = context->workspace;
    const size_t mark = clo_i_workspace_mark(space);
    CLO_TRY(clo_i_meter_charge(context, number, CLO_QUERY_quantile, &line, err));
    const size_t buckets = line->groups + 1;
    const bool norms = column == SIZE_MAX;
    work w = { .data = data,
               .thresholds = thresholds,
               .candidates = line->groups,
               .column = column,
               .cols = clo_i_bounded_domain(data)->cols,
               .block_rows = clo_i_pass_block_rows(context, data) };
    clo_status status = clo_i_take(space, threads * buckets, sizeof(int64_t), &w.counts, err);
    if (!status)
        status = clo_i_take(space, threads * w.block_rows, sizeof(uint64_t), &w.squares, err);
    if (!status && !norms)
        status = clo_i_take(space, clo_i_pass_scratch(context, data, context->threads),
                            sizeof(double), &scratch, err);
    if (!status)
        status = clo_i_pass(context, data, norms ? 0 : line->bits, context->threads, scratch,
                            count_block, &w, err);
    if (!status) {
        for (size_t e = buckets; e < threads * buckets; e++) w.counts[e % buckets] += w.counts[e];
        status = clo_i_comm_sum(context->comm, w.counts, buckets, err);
    }
    if (!status) {
        score(line, handicaps, w.counts, w.candidates);
        status = clo_i_draw_exponential(context, line, w.counts, w.candidates, chosen, err);
    }
    clo_i_workspace_release(space, mark);
    return status;
}
