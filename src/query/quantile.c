/*
 * quantile.c - a bound that holds most records: of their norms, or both ends of a column, on a
 * public grid of thresholds, by the exponential mechanism (quantile.T1).  The scores, and why the
 * bound cannot collapse, are in quantile_score.c.
 */
#include "query/quantile.h"
#include "query/queries.h"
#include "bound/bound.h"
#include "ask/fold.h"
#include <math.h>

/* The chance of an answer that leaves out more than it must not (quantile.T2). */
static const double COLLAPSE = 1e-6;
/* By so many nats the right answer is ahead of all together that are too wide. */
static const double TIGHT = 5;
static const double LARGEST_SCORE = 0x1p56;

/* Scores of that many nats, in units. */
static double units_of(const clo_line *line, double nats)
{
    const double rate = (double)line->rate_numerator / (double)line->rate_denominator;
    return ceil(nats / rate * (1 + 0x1p-40));
}

static uint64_t most(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

clo_status clo_i_plan_quantile(const clo_domain *domain, const clo_quantile *how, double epsilon,
                               uint64_t times, const char *label, clo_line *out, clo_error *err)
{
    const uint64_t held = (uint64_t)llround(how->share * CLO_QUANTILE_PARTS);
    clo_quantile_fields fields = { .ends = how->ends, .record = how->ends * CLO_QUANTILE_PARTS };
    clo_line line = { .query = &clo_i_query_quantile,
                      .label = label,
                      .bits = CLO_GRID_BITS,
                      .groups = how->thresholds };
    if (how->thresholds < 1 || how->ends < 1 || how->ends > 2 || 2 * held < CLO_QUANTILE_PARTS ||
        held >= CLO_QUANTILE_PARTS)
        return clo_i_fail(err, CLO_ARGUMENT, "a bound must hold a share from 0.5 up to 0.99999");
    fields.left_out = CLO_QUANTILE_PARTS - held;
    fields.most_out = most(fields.record / 2, fields.record / 4 + fields.ends * fields.left_out);
    CLO_TRY(clo_i_plan_exponential(fields.record * domain->rows_per_unit, epsilon, times, &line,
                                   err)); /* quantile.T1 */
    clo_i_quantile_set_fields(&line, fields);
    const double candidates = (double)clo_i_quantile_candidates(&line);
    const double lead = units_of(&line, log(candidates / COLLAPSE)); /* quantile.T2 */
    const double least = units_of(&line, log((double)how->thresholds) + TIGHT);
    if (!(lead + least < LARGEST_SCORE))
        return clo_i_fail(err, CLO_BUDGET, "epsilon is too small for a choice: raise it");
    fields.lead = (uint64_t)lead;
    fields.floor = (uint64_t)least;
    clo_i_quantile_set_fields(&line, fields);
    *out = line;
    return CLO_OK;
}

typedef struct work {
    uint64_t *squares; /* a thread: block_rows */
    int64_t *counts;   /* a thread: a bucket each, by the first threshold not below */
} work;
CLO_FOLD_WORK_OF(work)

/* The words of an ask: the column, or NORMS, and then the thresholds to count at: with two ends
 * each of them twice, one less first, so that what lies at it is told from what lies below. */
static const uint64_t NORMS = UINT64_MAX;

static const int64_t *thresholds_of(const clo_ask *ask)
{
    return (const int64_t *)ask->words + 1;
}

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
    clo_fold *const fold = user;
    const work *const w = work_of(fold);
    const uint64_t column = fold->ask->words[0];
    int64_t *const counts = w->counts + (size_t)thread * fold->entries;
    uint64_t *const squares = w->squares + (size_t)thread * fold->block_rows;
    if (column == NORMS)
        CLO_TRY(clo_i_block_norms(fold->data, block, fold->block_rows, squares, &rows, NULL));
    for (size_t i = 0; i < rows; i++) {
        const int64_t value =
            column == NORMS ? (int64_t)squares[i] : (int64_t)values[i * fold->cols + column];
        counts[first_not_below(thresholds_of(fold->ask), fold->entries - 1, value)]++;
    }
    return CLO_OK;
}

static void gather(clo_fold *fold)
{
    const int64_t *const counts = work_of(fold)->counts;
    for (size_t e = 0; e < (size_t)fold->threads * fold->entries; e++)
        fold->totals[e % fold->entries] += counts[e];
}

static size_t entries(const clo_line *line, size_t cols, const clo_ask *ask)
{
    (void)cols, (void)ask;
    return clo_i_quantile_buckets(line);
}

static clo_status check(const clo_ask *ask, size_t cols, clo_error *err)
{
    if (!ask->lens && ask->word_count == clo_i_quantile_buckets(ask->line) &&
        (ask->words[0] == NORMS || ask->words[0] < cols))
        return CLO_OK;
    return clo_i_fail(err, CLO_INTERNAL, "the thresholds are not those of the plan");
}

static clo_status lay_out(clo_fold *fold, clo_workspace *space, clo_error *err)
{
    const size_t threads = (size_t)fold->threads;
    work *const w = work_of(fold);
    CLO_TRY(clo_i_take(space, threads * fold->block_rows, sizeof *w->squares, &w->squares, err));
    return clo_i_take(space, threads * clo_i_quantile_buckets(fold->line), sizeof *w->counts,
                      &w->counts, err);
}

/* Words and scores; of pairs, beside the scores, what lies below and above each threshold. */
static clo_status take_room(clo_workspace *space, const clo_line *line, uint64_t **words,
                            int64_t **scores, clo_error *err)
{
    CLO_TRY(clo_i_take(space, clo_i_quantile_buckets(line), sizeof **words, words, err));
    return clo_i_take(space, clo_i_quantile_candidates(line) + 2 * line->groups, sizeof **scores,
                      scores, err);
}

static clo_status lay_out_told(const clo_line *line, clo_workspace *space, clo_error *err)
{
    uint64_t *words;
    int64_t *scores;
    return take_room(space, line, &words, &scores, err);
}

/* Of norms no value is loaded: they are known of each block. */
static int bits_of(const clo_ask *ask)
{
    return ask->words[0] == NORMS ? 0 : ask->line->bits;
}

static void write_words(const clo_line *line, size_t column, const int64_t *thresholds,
                        uint64_t *words)
{
    const bool pairs = clo_i_quantile_fields(line).ends == 2;
    *words++ = column == SIZE_MAX ? NORMS : column;
    for (size_t i = 0; i < line->groups; i++) {
        if (pairs) *words++ = (uint64_t)(thresholds[i] - 1);
        *words++ = (uint64_t)thresholds[i];
    }
}

static clo_status choose(clo_context *context, size_t number, const clo_bounded *data,
                         const clo_ask *told, int64_t *scores, size_t *candidate, clo_error *err)
{
    clo_sum sum;
    CLO_TRY(clo_i_sum_begin(context, number, &clo_i_query_quantile, data, told, &sum, err));
    clo_status status = clo_i_sum_fold(&sum, err);
    if (!status) {
        clo_i_quantile_scores(sum.line, sum.fold.totals, scores);
        status = clo_i_draw_exponential(context, sum.line, scores,
                                        clo_i_quantile_candidates(sum.line), candidate, err);
    }
    clo_i_sum_end(&sum);
    return status;
}

clo_status clo_i_ask_quantile(clo_context *context, size_t number, const clo_bounded *data,
                              size_t column, const int64_t *thresholds, size_t *chosen,
                              clo_error *err)
{
    const size_t mark = clo_i_workspace_begin_ask(context->workspace);
    uint64_t *words = NULL;
    int64_t *scores = NULL;
    size_t candidate = 0;
    if (number >= context->meter->count ||
        context->meter->lines[number].query != &clo_i_query_quantile)
        return clo_i_fail(err, CLO_INTERNAL,
                          "a mechanism asked quantile, which its plan does not "
                          "list");
    const clo_line *const line = &context->meter->lines[number];
    CLO_TRY(take_room(context->workspace, line, &words, &scores, err));
    write_words(line, column, thresholds, words);
    const clo_ask told = { .words = words, .word_count = clo_i_quantile_buckets(line) };
    const clo_status status = choose(context, number, data, &told, scores, &candidate, err);
    if (!status) clo_i_quantile_unpack(line, candidate, chosen);
    clo_i_workspace_release(context->workspace, mark);
    return status;
}

const clo_query clo_i_query_quantile = {
    .name = "quantile",
    .reading = CLO_READING_SUM,
    .numbers = clo_i_numbers_drawn,
    .lay_out = lay_out,
    .sum = {
        .lay_out_told = lay_out_told,
        .bits = bits_of,
        .check = check,
        .entries = entries,
        .add = count_block,
        .gather = gather,
    },
};
