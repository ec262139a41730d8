/*
 * quantile.c - a quantile of the record norms or of a column, on a public grid of thresholds, by
 * the exponential mechanism (quantile.T1).
 *
 * With c_i records at or below threshold i and n in all, the score of i for the quantile a/b is
 * -|(b - a) c_i - a (n - c_i)|: an integer, 0 where the share is exactly a/b.  One record more or
 * less changes it by at most max(a, b - a), a replaced one by at most b.  A public handicap is
 * taken off, which changes no difference between neighbours.
 */
#include "query/quantile.h"
#include "bound/bound.h"
#include "query/fold.h"

clo_status clo_i_plan_quantile(const clo_domain *domain, size_t candidates, uint64_t numerator,
                               uint64_t denominator, double epsilon, uint64_t times,
                               const char *label, clo_line *out, clo_error *err)
{
    clo_line line = {
        .query = &clo_i_query_quantile, .label = label, .bits = CLO_GRID_BITS, .groups = candidates
    };
    clo_i_quantile_set_part(&line, (clo_share){ numerator, denominator });
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
    uint64_t *squares; /* a thread: block_rows */
    int64_t *counts;   /* a thread: candidates + 1, by the first threshold not below */
} work;
CLO_FOLD_WORK_OF(work)

/* The words of an ask: the column, or NORMS, and then the thresholds. */
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
        counts[first_not_below(thresholds_of(fold->ask), fold->line->groups, value)]++;
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
    return line->groups + 1;
}

static clo_status check(const clo_ask *ask, size_t cols, clo_error *err)
{
    if (!ask->lens && ask->word_count == ask->line->groups + 1 &&
        (ask->words[0] == NORMS || ask->words[0] < cols))
        return CLO_OK;
    return clo_i_fail(err, CLO_INTERNAL, "the thresholds are not those of the plan");
}

static clo_status lay_out(clo_fold *fold, clo_workspace *space, clo_error *err)
{
    const size_t threads = (size_t)fold->threads;
    work *const w = work_of(fold);
    CLO_TRY(clo_i_take(space, threads * fold->block_rows, sizeof *w->squares, &w->squares, err));
    return clo_i_take(space, threads * (fold->line->groups + 1), sizeof *w->counts, &w->counts,
                      err);
}

/* Turns counts by bucket into scores by threshold, in place. */
static void score(const clo_line *line, const int64_t *handicaps, int64_t *counts,
                  size_t candidates)
{
    const clo_share share = clo_i_quantile_part(line);
    const int64_t a = (int64_t)share.numerator;
    const int64_t rest = (int64_t)(share.denominator - share.numerator);
    int64_t total = 0, below = 0;
    for (size_t i = 0; i <= candidates; i++) total += counts[i];
    for (size_t i = 0; i < candidates; i++) {
        below += counts[i];
        const int64_t off = rest * below - a * (total - below);
        counts[i] = (off < 0 ? off : -off) - handicaps[i];
    }
}

static clo_status take_words(clo_workspace *space, size_t candidates, uint64_t **words,
                             clo_error *err)
{
    return clo_i_take(space, candidates + 1, sizeof **words, words, err);
}

static clo_status lay_out_told(const clo_line *line, clo_workspace *space, clo_error *err)
{
    uint64_t *words;
    return take_words(space, line->groups, &words, err);
}

/* Of norms no value is loaded: they are known of each block. */
static int bits_of(const clo_ask *ask)
{
    return ask->words[0] == NORMS ? 0 : ask->line->bits;
}

clo_status clo_i_ask_quantile(clo_context *context, size_t number, const clo_bounded *data,
                              size_t column, const int64_t *thresholds, const int64_t *handicaps,
                              size_t *chosen, clo_error *err)
{
    const size_t mark = clo_i_workspace_begin_ask(context->workspace);
    const size_t candidates =
        number < context->meter->count ? context->meter->lines[number].groups : 0;
    uint64_t *words = NULL;
    clo_sum sum;
    CLO_TRY(take_words(context->workspace, candidates, &words, err));
    words[0] = column == SIZE_MAX ? NORMS : column;
    for (size_t i = 0; i < candidates; i++) words[i + 1] = (uint64_t)thresholds[i];
    const clo_ask told = { .words = words, .word_count = candidates + 1 };
    clo_status status =
        clo_i_sum_begin(context, number, &clo_i_query_quantile, data, &told, &sum, err);
    if (!status) {
        status = clo_i_sum_fold(&sum, err);
        if (!status) {
            score(sum.line, handicaps, sum.fold.totals, candidates);
            status =
                clo_i_draw_exponential(context, sum.line, sum.fold.totals, candidates, chosen, err);
        }
        clo_i_sum_end(&sum);
    }
    clo_i_workspace_release(context->workspace, mark);
    return status;
}

const clo_query clo_i_query_quantile = {
    .name = "quantile",
    .reading = CLO_READING_SUM,
    .numbers = clo_i_numbers_drawn,
    .lay_out_told = lay_out_told,
    .bits = bits_of,
    .check = check,
    .entries = entries,
    .lay_out = lay_out,
    .add = count_block,
    .gather = gather,
};
