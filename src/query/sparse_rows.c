/*
 * sparse_rows.c - sums of sparse records over the clusters that a rule makes, in exact integers
 * (sparse_sum.T1).
 *
 * A record's entries are read where they lie; those that count are its largest, by a rule that
 * knows this record alone.  All threads add to one array: integers modulo 2^64 add up to the same
 * in any order.
 */
#include "query/sparse_internal.h"
#include "query/queries.h"
#include "base/planted.h"
#include "bound/bound.h"
#include "query/peel.h"
#include "query/sparse_sum.h"
#include "ask/assign.h"
#include <math.h>
#include <stdlib.h>

typedef struct work {
    double *scores;   /* a thread: block_rows x clusters */
    uint32_t *labels; /* a thread: block_rows */
} work;
CLO_FOLD_WORK_OF(work)

/* Of a line of either query: how many entries of a record count, the largest; 0: all. */
static size_t entries_that_count(const clo_line *line)
{
    return line->query == &clo_i_query_peel ? clo_i_peel_fields(line).entries
                                            : clo_i_sparse_sum_fields(line).entries;
}

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

static void add_record(const clo_fold *fold, clo_row row, uint64_t *totals)
{
    const int shift = CLO_GRID_BITS - fold->line->bits;
    cut limit = make_cut(row, entries_that_count(fold->line));
    for (size_t e = 0; e < row.count; e++) {
        const int32_t magnitude = abs(row.cells[e]);
        if (magnitude < limit.least || (magnitude == limit.least && limit.ties == 0)) continue;
        if (magnitude == limit.least) limit.ties--;
        const int64_t value = clo_i_coarser(row.cells[e], shift);
        if (value) add(totals + (row.columns ? row.columns[e] : e), (uint64_t)value);
    }
    add(totals + fold->cols, fold->line->count_unit);
}

clo_status clo_i_sparse_add(void *user, int thread, size_t block, const double *values, size_t rows)
{
    clo_fold *const fold = user;
    const work *const w = work_of(fold);
    const size_t k = fold->line->groups, t = (size_t)thread;
    uint32_t *const labels = w->labels + t * fold->block_rows;
    uint64_t *const totals = (uint64_t *)fold->totals;
    clo_i_assign_rows(fold->ask->rules, values, rows, w->scores + t * fold->block_rows * k, labels);
    for (size_t i = 0; i < rows; i++)
        add_record(fold, clo_i_bounded_row(fold->data, block * fold->block_rows + i),
                   totals + labels[i] * (fold->cols + 1));
    return CLO_OK;
}

/* All threads have added to the totals themselves. */
void clo_i_sparse_gather(clo_fold *fold)
{
    (void)fold;
}

size_t clo_i_sparse_numbers(const clo_line *line, size_t cols, const clo_ask *ask)
{
    (void)ask;
    return line->groups * (cols + 1);
}

clo_status clo_i_sparse_lay_out(clo_fold *fold, clo_workspace *space, clo_error *err)
{
    const size_t rows = (size_t)fold->threads * fold->block_rows;
    work *const w = work_of(fold);
    CLO_TRY(clo_i_take(space, rows * fold->line->groups, sizeof *w->scores, &w->scores, err));
    return clo_i_take(space, rows, sizeof *w->labels, &w->labels, err);
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
