/*
 * seed.c - one of many public cells, by the squared distances of its records from the seeds so far:
 * the step of k-means++, made private by a floor (seed.T1).
 *
 * A record weighs what it is away from the nearest seed, an integer from 0 to W, and a cell weighs
 * what its records do, plus the same floor F for every cell, with records or without.  A cell is
 * drawn in proportion to its weight.  One record changes one weight by W at most, which is a small
 * share of F or more: so the floor, not noise on the weights, is what hides it.  All weights are
 * integers, and so is the draw.
 */
#include "query/parts.h"
#include "base/planted.h"
#include "bound/bound.h"
#include "linalg/linalg.h"
#include "parallel/parallel.h"
#include "random/random.h"
#include <math.h>
#include <string.h>

enum { BITS = 20, UNIT_BITS = 20, MOST_CELLS = CLO_MAX_CLUSTERS };
static const uint64_t W = (uint64_t)1 << UNIT_BITS; /* the squared radius */
static const uint64_t MOST_FLOOR = (uint64_t)1 << 48;
static const uint64_t MOST_ROWS_A_UNIT = (uint64_t)1 << 20;

/* What one draw costs with this floor, rounded up: seed.T1. */
static double loss_of(const clo_domain *domain, uint64_t floor)
{
    return log1p((double)(W * domain->rows_per_unit) / (double)floor) * (1 + 0x1p-48);
}

static clo_status least_floor(const clo_domain *domain, double epsilon, uint64_t *floor,
                              clo_error *err)
{
    uint64_t low = 0, high = MOST_FLOOR; /* the loss is too large at low, not at high */
    if (!(epsilon <= 30))
        return clo_i_fail(err, CLO_ARGUMENT, "so large a budget protects nobody: lower epsilon");
    if (!(loss_of(domain, high) <= epsilon))
        return clo_i_fail(err, CLO_BUDGET,
                          "so small a budget cannot choose anything: raise epsilon");
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        *(loss_of(domain, middle) > epsilon ? &low : &high) = middle;
    }
    *floor = high;
    return CLO_OK;
}

clo_status clo_i_plan_seed(const clo_domain *domain, size_t cells, size_t seeds, double epsilon,
                           uint64_t times, const char *label, clo_slot *out, clo_error *err)
{
    clo_slot slot = { .query = CLO_QUERY_seed,
                      .label = label,
                      .bits = BITS,
                      .cols = domain->cols,
                      .groups = cells,
                      .vectors = seeds,
                      .count_unit = W,
                      .sensitivity = W * domain->rows_per_unit };
    if (seeds < 1 || cells < seeds || cells > MOST_CELLS)
        return clo_i_fail(err, CLO_ARGUMENT, "cells must be between %zu and %d, not %zu", seeds,
                          (int)MOST_CELLS, cells);
    if (domain->rows_per_unit > MOST_ROWS_A_UNIT)
        return clo_i_fail(err, CLO_ARGUMENT, "a unit may have at most %llu rows here",
                          (unsigned long long)MOST_ROWS_A_UNIT);
    CLO_TRY(least_floor(domain, epsilon, &slot.floor, err));
    slot.event = (clo_event){ .kind = domain->relation == CLO_REPLACE ? CLO_EVENT_PURE
                                                                      : CLO_EVENT_EXPONENTIAL,
                              .parameter = loss_of(domain, slot.floor),
                              .count = times };
    *out = slot;
    return CLO_OK;
}

/* ---- the weights --------------------------------------------------------------------------- */

typedef struct work {
    const clo_assign *cells, *seeds; /* seeds: NULL before the first */
    size_t cols, block_rows;
    double *scores;   /* a thread: block_rows x cells */
    uint32_t *labels; /* a thread: block_rows */
    int64_t *weights; /* a thread: cells */
} work;

/* The squared distance to the nearest seed in units of 1/W of the squared radius, rounded down and
 * capped at W; scores: the products of the record and the seeds.  Exact integers throughout. */
static int64_t distance(const clo_assign *seeds, const double *record, const double *scores)
{
    double norm = 0, nearest = INFINITY;
    for (size_t j = 0; j < seeds->cols; j++) norm += record[j] * record[j];
    for (size_t c = 0; c < seeds->clusters; c++)
        nearest = fmin(nearest, norm - 2 * scores[c] + seeds->offsets[c]);
    const uint64_t units = (uint64_t)nearest >> (2 * BITS - UNIT_BITS);
    return (int64_t)(units < W ? units : W);
}

static clo_status weigh_block(void *user, int thread, size_t block, const double *values,
                              size_t rows)
{
    const work *const w = user;
    const size_t cells = w->cells->clusters;
    double *const scores = w->scores + (size_t)thread * w->block_rows * cells;
    uint32_t *const labels = w->labels + (size_t)thread * w->block_rows;
    int64_t *const weights = w->weights + (size_t)thread * cells;
    (void)block;
    clo_i_assign_rows(w->cells, values, rows, scores, labels);
    if (w->seeds)
        clo_i_multiply_transposed(values, rows, w->seeds->points, w->seeds->clusters, w->cols,
                                  scores);
    for (size_t i = 0; i < rows; i++)
        weights[labels[i]] +=
            w->seeds ? distance(w->seeds, values + i * w->cols, scores + i * w->seeds->clusters)
                     : (int64_t)W;
    return CLO_OK;
}

static clo_status weigh(clo_context *context, const clo_bounded *data, int bits, work *w,
                        clo_error *err)
{
    const size_t threads = (size_t)context->threads, cells = w->cells->clusters;
    clo_workspace *const space = context->workspace;
    double *scratch = NULL;
    w->cols = clo_i_pass_cols(context, data);
    w->block_rows = clo_i_pass_block_rows(context, data);
    CLO_TRY(clo_i_take(space, clo_i_pass_scratch(context, data, context->threads), sizeof(double),
                       &scratch, err));
    CLO_TRY(clo_i_take(space, threads * w->block_rows * cells, sizeof(double), &w->scores, err));
    CLO_TRY(clo_i_take(space, threads * w->block_rows, sizeof(uint32_t), &w->labels, err));
    CLO_TRY(clo_i_take(space, threads * cells, sizeof(int64_t), &w->weights, err));
    CLO_TRY(clo_i_pass(context, data, bits, context->threads, scratch, weigh_block, w, err));
    for (size_t e = cells; e < threads * cells; e++) w->weights[e % cells] += w->weights[e];
    return clo_i_comm_sum(context->comm, w->weights, cells, err);
}

/* ---- the draw ------------------------------------------------------------------------------ */

/* seed.T2: a uniform integer below the sum of the weights lies in one cell's part of it. */
static clo_status draw(clo_context *context, uint64_t ask, const int64_t *weights, size_t cells,
                       size_t *chosen, clo_error *err)
{
    clo_stream *stream = NULL;
    uint64_t total = 0;
    for (size_t c = 0; c < cells; c++) total += (uint64_t)weights[c];
    CLO_TRY(clo_i_stream_open(context->rng, ask, 0, &stream, err));
    uint64_t left = clo_i_random_below(stream, total);
    size_t c = 0;
    while (c + 1 < cells && left >= (uint64_t)weights[c]) left -= (uint64_t)weights[c++];
    *chosen = c;
    const clo_status status = clo_i_stream_check(stream, err);
    clo_i_stream_close(stream);
    return status;
}

/* What the test build may have done wrong; there is always something to draw. */
static uint64_t planned_floor(const clo_slot *slot)
{
    return clo_i_planted(CLO_FAULT_FLOOR_MISSING) ? 1 : slot->floor;
}

static clo_status check(const clo_slot *slot, const clo_assign *cells, const clo_assign *seeds,
                        const bool *taken, clo_error *err)
{
    size_t closed = 0;
    for (size_t c = 0; c < slot->groups; c++) closed += taken[c];
    if (cells->kind != CLO_ASSIGN_CENTERS || cells->clusters != slot->groups ||
        cells->bits != slot->bits || closed >= slot->vectors ||
        (seeds && (seeds->kind != CLO_ASSIGN_CENTERS || seeds->clusters > slot->vectors ||
                   seeds->bits != slot->bits)))
        return clo_i_fail(err, CLO_INTERNAL, "the cells are not those of the plan");
    return CLO_OK;
}

clo_status clo_i_ask_seed(clo_context *context, size_t number, const clo_bounded *data,
                          const clo_assign *cells, const clo_assign *seeds, const bool *taken,
                          size_t *chosen, clo_error *err)
{
    const clo_slot *slot;
    const size_t mark = clo_i_workspace_mark(context->workspace);
    const uint64_t ask = clo_i_rng_next_ask(context->rng);
    uint64_t answer = 0;
    CLO_TRY(clo_i_meter_charge(context, number, CLO_QUERY_seed, &slot, err));
    CLO_TRY(check(slot, cells, seeds, taken, err));
    work w = { .cells = cells, .seeds = seeds };
    clo_status status = weigh(context, data, slot->bits, &w, err);
    if (!status && context->comm->rank == 0) {
        size_t index = 0;
        for (size_t c = 0; c < slot->groups; c++)
            w.weights[c] = taken[c] ? 0 : w.weights[c] + (int64_t)planned_floor(slot);
        status = draw(context, ask, w.weights, slot->groups, &index, err);
        answer = index;
    }
    clo_i_workspace_release(context->workspace, mark);
    if (!status) status = clo_i_comm_broadcast(context->comm, &answer, sizeof answer, err);
    if (status) return status;
    CLO_I_DECLASSIFY(&answer, sizeof answer);
    *chosen = (size_t)answer;
    clo_i_tell_choice(context, slot, *chosen);
    return CLO_OK;
}
