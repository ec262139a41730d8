/*
 * cell_counts.c - how many records lie in each cell of a public grid, with noise on every one of
 * them, the empty ones too (cell_counts.T1).
 *
 * The grid divides a cube around the origin into side^cols equal cells.  Which cell a record is in
 * is settled in integers, by that record alone; one that lies outside of the cube counts in the
 * nearest cell.  Noise is discrete Laplace on the counts themselves, at a pure epsilon, or Gaussian
 * on counts in units of 2^-20.
 */
#include "query/cell_counts.h"
#include "query/queries.h"
#include "bound/bound.h"
#include "ask/fold.h"
#include <math.h>

enum { BITS = 20 };
static const uint64_t RECORD = (uint64_t)1 << 20; /* of a Gaussian count */
static const uint64_t PARTS = (uint64_t)1 << 30;  /* of an epsilon */

size_t clo_i_grid_cells(size_t side, size_t cols)
{
    size_t cells = 1;
    for (size_t j = 0; j < cols; j++)
        if (!clo_i_multiply(cells, side, &cells) || cells > CLO_MAX_CELLS) return SIZE_MAX;
    return cells;
}

/* With bounds of columns the box is a cube inside the ball, and the grid need not be wider. */
static uint64_t reach_of(const clo_domain *domain)
{
    const double radius = clo_i_domain_radius(domain), grid = ldexp(1, BITS);
    return domain->lower && radius > 1 ? (uint64_t)ceil(grid / radius) : (uint64_t)grid;
}

static clo_status plan_laplace(const clo_domain *domain, double epsilon, uint64_t times,
                               clo_line *line, clo_error *err)
{
    const uint64_t moved = domain->relation == CLO_REPLACE ? 2 : 1; /* cell_counts.T1 */
    const double parts = epsilon * (double)PARTS;
    if (!(parts >= 1))
        return clo_i_fail(err, CLO_BUDGET,
                          "epsilon is so small that the noise would exceed every number: raise it");
    if (!(epsilon <= 1e6) || domain->rows_per_unit > (uint64_t)1 << 31)
        return clo_i_fail(err, CLO_ARGUMENT, "counts of cells need an epsilon of at most 1e6");
    line->sensitivity = moved * domain->rows_per_unit;
    line->count_unit = 1;
    line->rate_numerator = (uint64_t)parts;
    line->rate_denominator = line->sensitivity * PARTS;
    line->event = (clo_event){ .kind = CLO_EVENT_PURE,
                               .parameter = (double)line->rate_numerator / (double)PARTS,
                               .count = times };
    line->noise = sqrt(2) * (double)line->sensitivity / line->event.parameter;
    return CLO_OK;
}

static clo_status plan_gaussian(const clo_domain *domain, double mu, uint64_t times, clo_line *line,
                                clo_error *err)
{
    const unsigned __int128 one = (unsigned __int128)RECORD * domain->rows_per_unit;
    const uint64_t moved =
        domain->relation == CLO_REPLACE ? clo_i_root_up(2 * one * one) : (uint64_t)one;
    CLO_TRY(clo_i_plan_gaussian(moved, mu, times, line, err)); /* cell_counts.T1 */
    line->count_unit = RECORD;
    line->noise = (double)line->scale / (double)RECORD;
    return CLO_OK;
}

clo_status clo_i_plan_cell_counts(const clo_domain *domain, size_t side, clo_event_kind kind,
                                  double parameter, uint64_t times, const char *label,
                                  clo_line *out, clo_error *err)
{
    const size_t cells = clo_i_grid_cells(side, domain->cols);
    clo_line line = { .query = &clo_i_query_cell_counts,
                      .label = label,
                      .bits = BITS,
                      .cols = domain->cols,
                      .groups = cells };
    clo_i_cell_counts_set_fields(&line, (clo_cell_grid){ .side = side, .reach = reach_of(domain) });
    if (side < 1 || cells == SIZE_MAX)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "a grid of %zu cells along each of %zu columns is too large: at most %d "
                          "cells are counted, and their number grows with the power of the columns",
                          side, domain->cols, (int)CLO_MAX_CELLS);
    if (kind == CLO_EVENT_PURE)
        CLO_TRY(plan_laplace(domain, parameter, times, &line, err));
    else
        CLO_TRY(plan_gaussian(domain, parameter, times, &line, err));
    *out = line;
    return CLO_OK;
}

void clo_i_cell_center(const clo_line *line, size_t cell, double *center)
{
    const clo_cell_grid grid = clo_i_cell_counts_fields(line);
    const double half = ldexp((double)grid.reach, -line->bits);
    for (size_t j = line->cols; j-- > 0; cell /= grid.side)
        center[j] = half * ((double)(2 * (cell % grid.side) + 1) / (double)grid.side - 1);
}

/* ---- the ask ------------------------------------------------------------------------------- */

typedef struct work {
    int64_t *counts; /* a cell each, of all threads */
} work;
CLO_FOLD_WORK_OF(work)

static size_t entries(const clo_line *line, size_t cols, const clo_ask *ask)
{
    (void)cols, (void)ask;
    return line->groups;
}

static clo_status check(const clo_ask *ask, size_t cols, clo_error *err)
{
    if (ask->line->cols == cols && !ask->lens) return CLO_OK;
    return clo_i_fail(err, CLO_INTERNAL, "the columns are not those of the plan");
}

static clo_status lay_out(clo_fold *fold, clo_workspace *space, clo_error *err)
{
    work *const w = work_of(fold);
    return clo_i_take(space, fold->line->groups, sizeof *w->counts, &w->counts, err);
}

static size_t cell_of(const clo_line *line, const clo_cell_grid *grid, const double *record)
{
    const int64_t reach = (int64_t)grid->reach;
    size_t cell = 0;
    for (size_t j = 0; j < line->cols; j++) {
        int64_t place = (int64_t)record[j] + reach;
        if (place < 0) place = 0;
        if (place >= 2 * reach) place = 2 * reach - 1;
        cell = cell * grid->side + (size_t)((uint64_t)place * grid->side / (uint64_t)(2 * reach));
    }
    return cell;
}

/* Adding integers one by one gives the same sums in any order. */
static clo_status count_block(void *user, int thread, size_t block, const double *values,
                              size_t rows)
{
    clo_fold *const fold = user;
    const clo_cell_grid grid = clo_i_cell_counts_fields(fold->line);
    (void)thread;
    (void)block;
    for (size_t i = 0; i < rows; i++) {
        const double *const record = values + i * fold->line->cols;
        int64_t *const count = &work_of(fold)->counts[cell_of(fold->line, &grid, record)];
#pragma omp atomic
        ++*count;
    }
    return CLO_OK;
}

static void gather(clo_fold *fold)
{
    const int64_t *const counts = work_of(fold)->counts;
    for (size_t c = 0; c < fold->entries; c++)
        fold->totals[c] =
            (int64_t)((uint64_t)fold->totals[c] + (uint64_t)counts[c] * fold->line->count_unit);
}

static clo_law law_of(const clo_line *line)
{
    if (line->event.kind == CLO_EVENT_GAUSSIAN) return clo_i_gaussian_law(line->scale);
    return clo_i_laplace_law(line->rate_numerator, line->rate_denominator);
}

static clo_numbers numbers(const clo_line *line)
{
    return (clo_numbers){ line->groups, line->groups };
}

clo_status clo_i_ask_cell_counts(clo_context *context, size_t number, const clo_bounded *data,
                                 double *counts, clo_error *err)
{
    clo_sum sum;
    CLO_TRY(clo_i_sum_begin(context, number, &clo_i_query_cell_counts, data, &(clo_ask){ 0 }, &sum,
                            err));
    int64_t *const totals = sum.fold.totals;
    const clo_noise noise = { .count = sum.fold.entries, .laws = { law_of(sum.line) }, .group = 1 };
    clo_status status = clo_i_sum_fold(&sum, err);
    if (!status) status = clo_i_answer(context, sum.line, &noise, totals, err);
    if (!status) {
        for (size_t c = 0; c < sum.fold.entries; c++)
            counts[c] = (double)totals[c] / (double)sum.line->count_unit;
        clo_i_tell_answer(context, sum.line, counts, sum.fold.entries,
                          (double)sum.line->count_unit);
    }
    clo_i_sum_end(&sum);
    return status;
}

const clo_query clo_i_query_cell_counts = {
    .name = "cell_counts",
    .reading = CLO_READING_SUM,
    .numbers = numbers,
    .lay_out = lay_out,
    .sum = {
        .check = check,
        .entries = entries,
        .add = count_block,
        .gather = gather,
    },
};
