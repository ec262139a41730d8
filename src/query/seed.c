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
#include "query/seed.h"
#include "query/queries.h"
#include "base/planted.h"
#include "bound/bound.h"
#include "linalg/linalg.h"
#include "ask/fold.h"
#include "random/random.h"
#include "ask/assign.h"
#include "ask/witness.h"
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
        return clo_i_fail(err, CLO_ARGUMENT,
                          "epsilon is so large that it protects nobody: lower "
                          "it");
    if (!(loss_of(domain, high) <= epsilon))
        return clo_i_fail(err, CLO_BUDGET, "epsilon is too small for a choice: raise it");
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        *(loss_of(domain, middle) > epsilon ? &low : &high) = middle;
    }
    *floor = high;
    return CLO_OK;
}

clo_status clo_i_plan_seed(const clo_domain *domain, size_t cells, size_t seeds, double epsilon,
                           uint64_t times, const char *label, clo_line *out, clo_error *err)
{
    clo_line line = { .query = &clo_i_query_seed,
                      .label = label,
                      .bits = BITS,
                      .cols = domain->cols,
                      .groups = cells,
                      .count_unit = W,
                      .sensitivity = W * domain->rows_per_unit };
    if (seeds < 1 || cells < seeds || cells > MOST_CELLS)
        return clo_i_fail(err, CLO_ARGUMENT, "cells must be between %zu and %d, not %zu", seeds,
                          (int)MOST_CELLS, cells);
    if (domain->rows_per_unit > MOST_ROWS_A_UNIT)
        return clo_i_fail(err, CLO_ARGUMENT, "a unit may have at most %llu rows here",
                          (unsigned long long)MOST_ROWS_A_UNIT);
    clo_seed_fields fields = { .seeds = seeds };
    CLO_TRY(least_floor(domain, epsilon, &fields.floor, err));
    clo_i_seed_set_fields(&line, fields);
    line.event = (clo_event){ .kind = domain->relation == CLO_REPLACE ? CLO_EVENT_PURE
                                                                      : CLO_EVENT_EXPONENTIAL,
                              .parameter = loss_of(domain, fields.floor),
                              .count = times };
    *out = line;
    return CLO_OK;
}

/* ---- the weights --------------------------------------------------------------------------- */

typedef struct work {
    double *scores;   /* a thread: block_rows x cells */
    uint32_t *labels; /* a thread: block_rows */
    int64_t *weights; /* a thread: cells */
} work;
CLO_FOLD_WORK_OF(work)

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

/* The rules of an ask: the cells, and the seeds where there are any yet. */
static clo_status weigh_block(void *user, int thread, size_t block, const double *values,
                              size_t rows)
{
    clo_fold *const fold = user;
    const work *const w = work_of(fold);
    const clo_assign *const seeds = fold->ask->rule_count > 1 ? &fold->ask->rules[1] : NULL;
    const size_t cells = fold->entries, cols = fold->seen, t = (size_t)thread;
    double *const scores = w->scores + t * fold->block_rows * cells;
    uint32_t *const labels = w->labels + t * fold->block_rows;
    int64_t *const weights = w->weights + t * cells;
    clo_i_fold_assign(fold, block, values, rows, scores, labels);
    if (seeds)
        clo_i_multiply_transposed(values, rows, seeds->points, seeds->clusters, cols, scores);
    for (size_t i = 0; i < rows; i++)
        weights[labels[i]] +=
            seeds ? distance(seeds, values + i * cols, scores + i * seeds->clusters) : (int64_t)W;
    return CLO_OK;
}

static void gather(clo_fold *fold)
{
    const int64_t *const weights = work_of(fold)->weights;
    for (size_t e = 0; e < (size_t)fold->threads * fold->entries; e++)
        fold->totals[e % fold->entries] += weights[e];
}

static size_t entries(const clo_line *line, size_t cols, const clo_ask *ask)
{
    (void)cols, (void)ask;
    return line->groups;
}

static bool is_rule(const clo_line *line, const clo_assign *rule, size_t clusters)
{
    return rule->kind == CLO_ASSIGN_CENTERS &&
           clo_i_assign_fits(rule, clusters, line->cols, line->bits);
}

static clo_status check(const clo_ask *ask, size_t cols, clo_error *err)
{
    const clo_line *const line = ask->line;
    const clo_assign *const rules = ask->rules;
    (void)cols;
    if (ask->rule_count >= 1 && ask->rule_count <= 2 && is_rule(line, &rules[0], line->groups) &&
        (ask->rule_count == 1 || (rules[1].clusters <= clo_i_seed_fields(line).seeds &&
                                  is_rule(line, &rules[1], rules[1].clusters))))
        return CLO_OK;
    return clo_i_fail(err, CLO_INTERNAL, "the cells are not those of the plan");
}

static clo_status lay_out(clo_fold *fold, clo_workspace *space, clo_error *err)
{
    const size_t rows = (size_t)fold->threads * fold->block_rows, cells = fold->line->groups;
    work *const w = work_of(fold);
    CLO_TRY(clo_i_take(space, rows * cells, sizeof *w->scores, &w->scores, err));
    CLO_TRY(clo_i_take(space, rows, sizeof *w->labels, &w->labels, err));
    return clo_i_take(space, (size_t)fold->threads * cells, sizeof *w->weights, &w->weights, err);
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
static uint64_t planned_floor(const clo_line *line)
{
    return clo_i_planted(CLO_FAULT_FLOOR_MISSING) ? 1 : clo_i_seed_fields(line).floor;
}

static clo_status check_taken(const clo_line *line, const bool *taken, clo_error *err)
{
    size_t closed = 0;
    for (size_t c = 0; c < line->groups; c++) closed += taken[c];
    if (closed < clo_i_seed_fields(line).seeds) return CLO_OK;
    return clo_i_fail(err, CLO_INTERNAL, "the cells are not those of the plan");
}

static clo_status publish(clo_sum *sum, uint64_t ask, const bool *taken, size_t *chosen,
                          clo_error *err)
{
    int64_t *const weights = sum->fold.totals;
    size_t answer = 0;
    for (size_t c = 0; c < sum->line->groups; c++)
        weights[c] = taken[c] ? 0 : weights[c] + (int64_t)planned_floor(sum->line);
    const clo_exact exact = { CLO_EXACT_WEIGHTS, sum->line, weights, sum->line->groups, NULL };
    CLO_TRY(draw(sum->context, ask, weights, sum->line->groups, &answer, err));
    (void)clo_i_witness_exact(&exact, &answer);
    CLO_I_DECLASSIFY(&answer, sizeof answer);
    *chosen = answer;
    clo_i_tell_choice(sum->context, sum->line, answer);
    return CLO_OK;
}

clo_status clo_i_ask_seed(clo_context *context, size_t number, const clo_bounded *data,
                          const clo_assign *cells, const clo_assign *seeds, const bool *taken,
                          size_t *chosen, clo_error *err)
{
    const uint64_t ask = clo_i_rng_next_ask(context->rng);
    const clo_assign rules[] = { *cells, seeds ? *seeds : *cells };
    const clo_ask told = { .rules = rules, .rule_count = seeds ? 2 : 1 };
    clo_sum sum;
    CLO_TRY(clo_i_sum_begin(context, number, &clo_i_query_seed, data, &told, &sum, err));
    clo_status status = check_taken(sum.line, taken, err);
    if (!status) status = clo_i_sum_fold(&sum, err);
    if (!status) status = publish(&sum, ask, taken, chosen, err);
    clo_i_sum_end(&sum);
    return status;
}

const clo_query clo_i_query_seed = {
    .name = "seed",
    .reading = CLO_READING_SUM,
    .numbers = clo_i_numbers_drawn,
    .sampler = "exact draws by integer weights",
    .lay_out = lay_out,
    .sum = {
        .labels = CLO_LABELS_KEPT,
        .check = check,
        .entries = entries,
        .add = weigh_block,
        .gather = gather,
    },
};
