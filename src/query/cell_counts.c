/*
 * cell_counts.c - how many records lie in each cell of a public grid, with noise on every one of
 * them, the empty ones too (cell_counts.T1).
 *
 * The grid divides a cube around the origin into side^cols equal cells.  Which cell a record is in
 * is settled in integers, by that record alone; one that lies outside of the cube counts in the
 * nearest cell.  Noise is discrete Laplace on the counts themselves, at a pure epsilon, or Gaussian
 * on counts in units of 2^-20.
 */
#include "query/parts.h"
#include "bound/bound.h"
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
                               clo_slot *slot, clo_error *err)
{
    const uint64_t moved = domain->relation == CLO_REPLACE ? 2 : 1; /* cell_counts.T1 */
    const double parts = epsilon * (double)PARTS;
    if (!(parts >= 1))
        return clo_i_fail(err, CLO_BUDGET,
                          "so small a budget needs more noise than any release could bear: raise "
                          "epsilon");
    if (!(epsilon <= 1e6) || domain->rows_per_unit > (uint64_t)1 << 31)
        return clo_i_fail(err, CLO_ARGUMENT, "counts of cells need an epsilon of at most 1e6");
    slot->sensitivity = moved * domain->rows_per_unit;
    slot->count_unit = 1;
    slot->rate_numerator = (uint64_t)parts;
    slot->rate_denominator = slot->sensitivity * PARTS;
    slot->event = (clo_event){ .kind = CLO_EVENT_PURE,
                               .parameter = (double)slot->rate_numerator / (double)PARTS,
                               .count = times };
    slot->noise = sqrt(2) * (double)slot->sensitivity / slot->event.parameter;
    return CLO_OK;
}

static clo_status plan_gaussian(const clo_domain *domain, double mu, uint64_t times, clo_slot *slot,
                                clo_error *err)
{
    const unsigned __int128 one = (unsigned __int128)RECORD * domain->rows_per_unit;
    const uint64_t moved =
        domain->relation == CLO_REPLACE ? clo_i_root_up(2 * one * one) : (uint64_t)one;
    CLO_TRY(clo_i_plan_gaussian(moved, mu, times, slot, err)); /* cell_counts.T1 */
    slot->count_unit = RECORD;
    slot->noise = (double)slot->scale / (double)RECORD;
    return CLO_OK;
}

clo_status clo_i_plan_cell_counts(const clo_domain *domain, size_t side, clo_event_kind kind,
                                  double parameter, uint64_t times, const char *label,
                                  clo_slot *out, clo_error *err)
{
    const size_t cells = clo_i_grid_cells(side, domain->cols);
    clo_slot slot = { .query = CLO_QUERY_cell_counts,
                      .label = label,
                      .bits = BITS,
                      .cols = domain->cols,
                      .groups = cells,
                      .side = side,
                      .reach = reach_of(domain) };
    if (side < 1 || cells == SIZE_MAX)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "a grid of %zu cells along each of %zu columns is too large: at most %d "
                          "cells are counted, and their number grows with the power of the columns",
                          side, domain->cols, (int)CLO_MAX_CELLS);
    if (kind == CLO_EVENT_PURE)
        CLO_TRY(plan_laplace(domain, parameter, times, &slot, err));
    else
        CLO_TRY(plan_gaussian(domain, parameter, times, &slot, err));
    *out = slot;
    return CLO_OK;
}

void clo_i_cell_center(const clo_slot *slot, size_t cell, double *center)
{
    const double half = ldexp((double)slot->reach, -slot->bits);
    for (size_t j = slot->cols; j-- > 0; cell /= slot->side)
        center[j] = half * ((double)(2 * (cell % slot->side) + 1) / (double)slot->side - 1);
}

/* ---- the ask ------------------------------------------------------------------------------- */

typedef struct work {
    const clo_slot *slot;
    int64_t *counts; /* a cell each, of all threads */
} work;

static size_t cell_of(const clo_slot *slot, const double *record)
{
    const int64_t reach = (int64_t)slot->reach;
    size_t cell = 0;
    for (size_t j = 0; j < slot->cols; j++) {
        int64_t place = (int64_t)record[j] + reach;
        if (place < 0) place = 0;
        if (place >= 2 * reach) place = 2 * reach - 1;
        cell = cell * slot->side + (size_t)((uint64_t)place * slot->side / (uint64_t)(2 * reach));
    }
    return cell;
}

/* Adding integers one by one gives the same sums in any order. */
static clo_status count_block(void *user, int thread, size_t block, const double *values,
                              size_t rows)
{
    const work *const w = user;
    (void)thread;
    (void)block;
    for (size_t i = 0; i < rows; i++) {
        int64_t *const count = &w->counts[cell_of(w->slot, values + i * w->slot->cols)];
#pragma omp atomic
        ++*count;
    }
    return CLO_OK;
}

static clo_status answer(clo_context *context, const clo_slot *slot, int64_t *counts,
                         clo_error *err)
{
    const bool gaussian = slot->event.kind == CLO_EVENT_GAUSSIAN;
    const clo_noise noise = { .count = slot->groups,
                              .laws = { gaussian ? clo_i_gaussian_law(slot->scale)
                                                 : clo_i_laplace_law(slot->rate_numerator,
                                                                     slot->rate_denominator) },
                              .group = 1 };
    for (size_t c = 0; c < slot->groups; c++)
        counts[c] = (int64_t)((uint64_t)counts[c] * slot->count_unit);
    return clo_i_answer(context, slot, &noise, counts, err);
}

clo_status clo_i_ask_cell_counts(clo_context *context, size_t number, const clo_bounded *data,
                                 double *counts, clo_error *err)
{
    const clo_slot *slot;
    const size_t mark = clo_i_workspace_mark(context->workspace);
    double *scratch = NULL;
    CLO_TRY(clo_i_meter_charge(context, number, CLO_QUERY_cell_counts, &slot, err));
    work w = { .slot = slot };
    clo_status status =
        clo_i_take(context->workspace, clo_i_pass_scratch(context, data, context->threads),
                   sizeof *scratch, &scratch, err);
    if (!status)
        status = clo_i_take(context->workspace, slot->groups, sizeof *w.counts, &w.counts, err);
    if (!status)
        status =
            clo_i_pass(context, data, slot->bits, context->threads, scratch, count_block, &w, err);
    if (!status) status = answer(context, slot, w.counts, err);
    if (!status) {
        for (size_t c = 0; c < slot->groups; c++)
            counts[c] = (double)w.counts[c] / (double)slot->count_unit;
        clo_i_tell_answer(context, slot, counts, slot->groups, (double)slot->count_unit);
    }
    clo_i_workspace_release(context->workspace, mark);
    return status;
}
