/*
 * gaussian_step.c - for each cluster which way its records pull at its centre, and how stiffly, as
 * one Gaussian query: what a step of Weiszfeld's toward the cluster's median takes
 * (gaussian_step.T1).
 *
 * A record x in the cluster of centre c adds the vector (x - c) / max(|x - c|, width), which is no
 * longer than 1 wherever x lies, the number width / max(|x - c|, width) and 1 to the cluster's
 * size.  Their quotient, pull times width over stiffness, is the step that lowers the total of the
 * distances, those below the width counted as squares (Huber's loss); its noise is that of a sum of
 * vectors of the cluster's own width, not of the ball's.
 */
#include "query/gaussian_step.h"
#include "query/queries.h"
#include "bound/bound.h"
#include "query/grouped.h"
#include "ask/assign.h"
#include <math.h>
#include <string.h>

enum { BITS = 20, R = 1 << BITS, UNIT = R / 4 };

clo_status clo_i_plan_gaussian_step(const clo_domain *domain, size_t clusters, double mu,
                                    uint64_t times, const char *label, clo_line *out,
                                    clo_error *err)
{
    const unsigned __int128 length = (unsigned __int128)R * R;
    const unsigned __int128 side = (unsigned __int128)UNIT * UNIT;
    const bool replace = domain->relation == CLO_REPLACE;
    clo_line line = { .query = &clo_i_query_gaussian_step,
                      .label = label,
                      .bits = BITS,
                      .cols = domain->cols,
                      .groups = clusters,
                      .count_unit = UNIT };
    CLO_TRY(clo_i_check_clusters(clusters, CLO_MAX_CLUSTERS, err));
    /* gaussian_step.T1 */
    const uint64_t sensitivity = clo_i_root_up(replace ? 4 * length + side : length + 2 * side);
    CLO_TRY(clo_i_plan_gaussian(sensitivity * domain->rows_per_unit, mu, times, &line, err));
    line.noise = (double)line.scale / R;
    *out = line;
    return CLO_OK;
}

/* ---- what a record adds --------------------------------------------------------------------- */

static void take_a_step_in(double *pull, size_t cols)
{
    size_t largest = 0;
    for (size_t j = 1; j < cols; j++)
        if (fabs(pull[j]) > fabs(pull[largest])) largest = j;
    pull[largest] -= copysign(1, pull[largest]);
}

static int64_t square_of(const double *vector, size_t cols)
{
    int64_t total = 0;
    for (size_t j = 0; j < cols; j++) total += (int64_t)vector[j] * (int64_t)vector[j];
    return total;
}

/* pull: cols; at most R long.  Returns how stiffly, at most UNIT (gaussian_step.T2). */
static double pull_of(const double *record, const double *center, size_t cols, double width,
                      double *pull)
{
    for (size_t j = 0; j < cols; j++) pull[j] = record[j] - center[j];
    const double apart = fmax(sqrt((double)square_of(pull, cols)), width);
    const double factor = R / apart;
    for (size_t j = 0; j < cols; j++) pull[j] = (double)(int32_t)(pull[j] * factor);
    while (square_of(pull, cols) > (int64_t)R * R) take_a_step_in(pull, cols);
    return (double)(int32_t)(UNIT * (width / apart));
}

typedef struct work {
    double *scores;   /* a thread: block_rows x clusters */
    uint32_t *labels; /* a thread: block_rows */
    double *pulls;    /* a thread: cols */
    double *sums;     /* a thread: clusters x (cols + 2): pull, stiffness, size */
} work;
CLO_FOLD_WORK_OF(work)

/* The one word of an ask: the width, in radii of the ball. */
static double width_of(const clo_ask *ask)
{
    double width;
    memcpy(&width, ask->words, sizeof width);
    return width;
}

static clo_status add_block(void *user, int thread, size_t block, const double *values, size_t rows)
{
    clo_fold *const fold = user;
    const work *const w = work_of(fold);
    const clo_assign *const rule = fold->ask->rules;
    const double width = width_of(fold->ask) * R; /* on the grid */
    const size_t cols = fold->seen, k = fold->line->groups, t = (size_t)thread;
    uint32_t *const labels = w->labels + t * fold->block_rows;
    double *const pull = w->pulls + t * cols;
    double *const sums = w->sums + t * k * (cols + 2);
    (void)block;
    clo_i_assign_rows(rule, values, rows, w->scores + t * fold->block_rows * k, labels);
    for (size_t i = 0; i < rows; i++) {
        double *const sum = sums + labels[i] * (cols + 2);
        sum[cols] += pull_of(values + i * cols, rule->points + labels[i] * cols, cols, width, pull);
        sum[cols + 1] += 1;
        for (size_t j = 0; j < cols; j++) sum[j] += pull[j];
    }
    return CLO_OK;
}

/* ---- asking --------------------------------------------------------------------------------- */

static size_t entries(const clo_line *line, size_t cols, const clo_ask *ask)
{
    (void)cols, (void)ask;
    return line->groups * (line->cols + 2);
}

static clo_status check(const clo_ask *ask, size_t cols, clo_error *err)
{
    const clo_line *const line = ask->line;
    (void)cols;
    if (ask->rule_count == 1 && ask->rules->kind == CLO_ASSIGN_CENTERS && ask->word_count == 1 &&
        clo_i_assign_fits(ask->rules, line->groups, line->cols, line->bits) &&
        width_of(ask) >= 0x1p-16 && width_of(ask) <= 2)
        return CLO_OK;
    return clo_i_fail(err, CLO_INTERNAL, "the centers are not those of the plan");
}

static clo_status lay_out(clo_fold *fold, clo_workspace *space, clo_error *err)
{
    const size_t threads = (size_t)fold->threads, k = fold->line->groups, cols = fold->seen;
    work *const w = work_of(fold);
    CLO_TRY(clo_i_take(space, threads * fold->block_rows * k, sizeof(double), &w->scores, err));
    CLO_TRY(clo_i_take(space, threads * fold->block_rows, sizeof(uint32_t), &w->labels, err));
    CLO_TRY(clo_i_take(space, threads * cols, sizeof(double), &w->pulls, err));
    return clo_i_take(space, threads * k * (cols + 2), sizeof(double), &w->sums, err);
}

static void gather(clo_fold *fold)
{
    clo_i_gather_groups(fold, work_of(fold)->sums);
}

clo_status clo_i_ask_gaussian_step(clo_context *context, size_t number, const clo_bounded *data,
                                   const clo_assign *rule, double width, clo_steps *out,
                                   clo_error *err)
{
    uint64_t word;
    memcpy(&word, &width, sizeof word);
    const clo_ask told = { .rules = rule, .rule_count = 1, .words = &word, .word_count = 1 };
    clo_sum sum;
    CLO_TRY(clo_i_sum_answer(context, number, &clo_i_query_gaussian_step, data, &told, &sum, err));
    const clo_share shares[] = {
        { out->pulls, sum.line->cols, R },
        { out->stiffness, 1, UNIT },
        { out->sizes, 1, UNIT },
    };
    clo_i_sum_tell(&sum, shares, 3, NULL);
    return CLO_OK;
}

const clo_query clo_i_query_gaussian_step = {
    .name = "gaussian_step",
    .reading = CLO_READING_SUM,
    .numbers = clo_i_numbers_added,
    .lay_out = lay_out,
    .sum = {
        .check = check,
        .entries = entries,
        .add = add_block,
        .gather = gather,
    },
};
