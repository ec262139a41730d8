/*
 * sparse_rows.c - sums of sparse records over the clusters that a rule makes, in exact integers
 * (sparse_sum.T1).
 *
 * A record's entries are read where they lie; those that count are its largest, by a rule that
 * knows this record alone.  All threads add to one array: integers modulo 2^64 add up to the same
 * in any order.
 */
#include "query/parts.h"
#include "base/planted.h"
#include "bound/bound.h"
#include <math.h>
#include <stdlib.h>

typedef struct work {
    const clo_line *line;
    const clo_bounded *data;
    const clo_assign *rule;
    size_t cols, block_rows;
    double *scores;   /* a thread: block_rows x width */
    uint32_t *labels; /* a thread: block_rows */
    uint64_t *totals;
} work;

/* Which entries of a record count: those of larger magnitude than `least`, and the first `ties` of
 * that magnitude. */
typedef struct cut {
    int32_t least;
    size_t ties;
} cut;

static size_t count_above(clo_row row, int32_t magnitude)
{
    size_t count = 0;
    for (size_t e = 0; e < row.count; e++) count += abs(row.cells[e]) > magnitude;
    return count;
}

/* The magnitude that at most `entries` of the record exceed, by bisection over its bits: no room is
 * needed, however long the record. */
static cut make_cut(clo_row row, size_t entries)
{
    int32_t low = -1, high = INT32_MAX; /* more than `entries` exceed low, at most that high */
    if (entries == 0 || row.count <= entries || clo_i_planted(CLO_FAULT_CLIPPING_MISSING))
        return (cut){ .least = -1 };
    while (high - 1 > low) {
        const int32_t middle = low + (int32_t)(((int64_t)high - low) / 2);
        if (count_above(row, middle) > entries)
            low = middle;
        else
            high = middle;
    }
    return (cut){ .least = high, .ties = entries - count_above(row, high) };
}

static void add(uint64_t *total, uint64_t value)
{
#pragma omp atomic
    *total += value;
}

static void add_record(const work *w, clo_row row, uint64_t *totals)
{
    const int shift = CLO_GRID_BITS - w->line->bits;
    cut limit = make_cut(row, w->line->entries);
    for (size_t e = 0; e < row.count; e++) {
        const int32_t magnitude = abs(row.cells[e]);
        if (magnitude < limit.least || (magnitude == limit.least && limit.ties == 0)) continue;
        if (magnitude == limit.least) limit.ties--;
        const int64_t value = clo_i_coarser(row.cells[e], shift);
        if (value) add(totals + (row.columns ? row.columns[e] : e), (uint64_t)value);
    }
    add(totals + w->cols, w->line->count_unit);
}

static clo_status add_block(void *user, int thread, size_t block, const double *values, size_t rows)
{
    const work *const w = user;
    const size_t width = clo_i_assign_width(w->rule);
    uint32_t *const labels = w->labels + (size_t)thread * w->block_rows;
    clo_i_assign_rows(w->rule, values, rows,
                      width ? w->scores + (size_t)thread * w->block_rows * width : NULL, labels);
    for (size_t i = 0; i < rows; i++)
        add_record(w, clo_i_bounded_row(w->data, block * w->block_rows + i),
                   w->totals + labels[i] * (w->cols + 1));
    return CLO_OK;
}

size_t clo_i_sparse_totals_size(const clo_line *line, size_t seen, size_t rows, size_t threads)
{
    return clo_i_take_size(threads * rows * seen, sizeof(double)) +
           clo_i_take_size(threads * rows * line->groups, sizeof(double)) +
           clo_i_take_size(threads * rows, sizeof(uint32_t));
}

clo_status clo_i_sparse_totals(clo_context *context, const clo_line *line, const clo_bounded *data,
                               const clo_assign *rule, uint64_t *totals, clo_error *err)
{
    const size_t threads = (size_t)context->threads, width = clo_i_assign_width(rule);
    const size_t mark = clo_i_workspace_mark(context->workspace);
    clo_workspace *const space = context->workspace;
    double *scratch = NULL;
    work w = { .line = line,
               .data = data,
               .rule = rule,
               .cols = clo_i_bounded_domain(data)->cols,
               .block_rows = clo_i_pass_block_rows(context, data),
               .totals = totals };
    if (rule->clusters != line->groups || (rule->points && rule->bits != line->bits))
        return clo_i_fail(err, CLO_INTERNAL, "the clusters are not those of the plan");
    clo_status status = clo_i_take(space, clo_i_pass_scratch(context, data, context->threads),
                                   sizeof *scratch, &scratch, err);
    if (!status)
        status =
            clo_i_take(space, threads * w.block_rows * width, sizeof *w.scores, &w.scores, err);
    if (!status)
        status = clo_i_take(space, threads * w.block_rows, sizeof *w.labels, &w.labels, err);
    if (!status)
        status =
            clo_i_pass(context, data, line->bits, context->threads, scratch, add_block, &w, err);
    clo_i_workspace_release(space, mark);
    return status;
}

/* ---- what the noise does to the answers --------------------------------------------------- */

double clo_i_sparse_edge(const clo_line *line, double numbers)
{
    const bool laplace = line->event.kind == CLO_EVENT_PURE;
    const double deviations = laplace ? log(numbers) : sqrt(2 * log(numbers));
    return deviations * ldexp((double)line->scale, -line->bits);
}

double clo_i_sparse_count_deviation(const clo_line *line)
{
    const double deviations = line->event.kind == CLO_EVENT_PURE ? sqrt(2) : 1;
    return deviations * (double)line->scale / (double)line->count_unit;
}
