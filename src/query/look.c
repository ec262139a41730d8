/*
 * look.c - all records about one released centre: the sum of their differences to it, cut to a
 * released width, and how many of them lie in each shell of distances, as one Gaussian query
 * (look.T1).
 *
 * A mean squared length says how far records spread only where the width fits already.  Counts of
 * geometric shells say it on any scale, as each record is in one shell only: so a look finds data
 * that are a thousand times smaller than their bounds.
 *
 * The sum is that of local_sum.  A shell is told by the exact squared distance, and its edges are
 * powers of two: no root, no logarithm, no rounding (look.T2).
 */
#include "query/look.h"
#include "query/grouped.h"
#include "query/local_sum.h"
#include "query/queries.h"
#include <math.h>

enum { BITS = CLO_LOCAL_BITS, SHELLS = CLO_LOOK_SHELLS };
static const uint64_t R = (uint64_t)1 << BITS;
static const uint64_t WIDEST = (uint64_t)CLO_LOCAL_WIDEST << BITS;
static const double FARTHEST_CENTER = 2; /* in radii: distances stay below CLO_LOCAL_WIDEST */

/* ---- the plan -------------------------------------------------------------------------------- */

/* look.T1 */
static uint64_t sensitivity_of(const clo_domain *domain, uint64_t unit)
{
    typedef unsigned __int128 u128;
    const u128 length = (u128)R * R, shell = (u128)unit * unit;
    const u128 square = domain->relation == CLO_REPLACE ? 4 * length + 2 * shell : length + shell;
    return clo_i_root_up(square);
}

clo_status clo_i_plan_look(const clo_domain *domain, double mu, uint64_t times, const char *label,
                           clo_line *out, clo_error *err)
{
    clo_line line = { .query = &clo_i_query_look,
                      .label = label,
                      .bits = BITS,
                      .cols = domain->cols,
                      .groups = 1,
                      .count_unit = R / 2 };
    const uint64_t one = sensitivity_of(domain, line.count_unit);
    CLO_TRY(clo_i_plan_gaussian(one * domain->rows_per_unit, mu, times, &line, err));
    line.noise = clo_i_look_deviation(&line); /* in widths, which the run finds */
    *out = line;
    return CLO_OK;
}

double clo_i_look_deviation(const clo_line *line)
{
    return (double)line->scale / (double)R;
}

double clo_i_look_shell_deviation(const clo_line *line)
{
    return (double)line->scale / (double)line->count_unit;
}

/* ---- what a record adds ---------------------------------------------------------------------- */

/* look.T2: a square of up to 2^b steps, and of more than half of that, is in shell 2 BITS + 2 - b.
 */
static inline size_t shell_of(uint64_t square)
{
    const int bits = square > 1 ? 64 - __builtin_clzll(square - 1) : 0;
    const int shell = 2 * BITS + 2 - bits;
    return (size_t)(shell < 0 ? 0 : shell < SHELLS ? shell : SHELLS - 1);
}

typedef struct work {
    double *sums; /* a thread: cols sums, and the number of records in each shell */
} work;
CLO_FOLD_WORK_OF(work)

static size_t entries_of(size_t cols)
{
    return cols + SHELLS;
}

CLO_WIDE static void add_records(const double *center, uint64_t width, const double *values,
                                 size_t rows, size_t cols, double *sum)
{
    for (size_t i = 0; i < rows; i++) {
        const uint64_t square = clo_i_add_cut(values + i * cols, center, cols, width, sum);
        sum[cols + shell_of(square)] += 1;
    }
}

static clo_status add_block(void *user, int thread, size_t block, const double *values, size_t rows)
{
    clo_fold *const fold = user;
    const size_t cols = fold->seen;
    (void)block;
    add_records(fold->ask->rules->points, fold->ask->words[0], values, rows, cols,
                work_of(fold)->sums + (size_t)thread * entries_of(cols));
    return CLO_OK;
}

static void gather(clo_fold *fold)
{
    const size_t cols = fold->seen, each = entries_of(cols);
    const double *const sums = work_of(fold)->sums;
    for (size_t e = 0; e < (size_t)fold->threads * each; e++) {
        const uint64_t weight = e % each < cols ? 1 : fold->line->count_unit;
        int64_t *const total = &fold->totals[e % each];
        *total = (int64_t)((uint64_t)*total + (uint64_t)(int64_t)sums[e] * weight);
    }
}

/* ---- asking ---------------------------------------------------------------------------------- */

static size_t entries(const clo_line *line, size_t cols, const clo_ask *ask)
{
    (void)cols, (void)ask;
    return entries_of(line->cols);
}

static clo_status check(const clo_ask *ask, size_t cols, clo_error *err)
{
    const clo_line *const line = ask->line;
    const double most = FARTHEST_CENTER * (double)R;
    (void)cols;
    if (ask->rule_count == 1 && ask->rules->kind == CLO_ASSIGN_CENTERS &&
        clo_i_assign_fits(ask->rules, 1, line->cols, line->bits) &&
        ask->rules->offsets[0] <= most * most && ask->word_count == 1 && ask->words[0] >= 1 &&
        ask->words[0] <= WIDEST)
        return CLO_OK;
    return clo_i_fail(err, CLO_INTERNAL, "the center or the width is not one of the plan's");
}

static clo_status lay_out(clo_fold *fold, clo_workspace *space, clo_error *err)
{
    return clo_i_take(space, (size_t)fold->threads * entries_of(fold->seen), sizeof(double),
                      &work_of(fold)->sums, err);
}

static clo_status lay_out_told(const clo_line *line, clo_workspace *space, clo_error *err)
{
    return clo_i_assign_room(space, CLO_ASSIGN_CENTERS, 1, line->cols, 0, err);
}

clo_status clo_i_ask_look(clo_context *context, size_t number, const clo_bounded *data,
                          const double *center, double width, double *sum, double *shells,
                          clo_error *err)
{
    const size_t mark = clo_i_workspace_begin_ask(context->workspace);
    const size_t cols = context->meter->lines[number].cols;
    const double steps = fmin(fmax(nearbyint(ldexp(width, BITS)), 1), (double)WIDEST);
    const uint64_t word = (uint64_t)steps;
    clo_assign rule;
    clo_sum answer;
    clo_status status = clo_i_assign_centers(context->workspace, center, 1, cols, BITS, &rule, err);
    const clo_ask told = { .rules = &rule, .rule_count = 1, .words = &word, .word_count = 1 };
    if (!status)
        status = clo_i_sum_answer(context, number, &clo_i_query_look, data, &told, &answer, err);
    if (!status) {
        const clo_share shares[] = { { sum, cols, (double)R },
                                     { shells, SHELLS, (double)answer.line->count_unit } };
        clo_i_sum_tell(&answer, shares, 2, NULL);
    }
    clo_i_workspace_release(context->workspace, mark);
    return status;
}

const clo_query clo_i_query_look = {
    .name = "look",
    .reading = CLO_READING_SUM,
    .numbers = clo_i_numbers_added,
    .lay_out = lay_out,
    .sum = {
        .check = check,
        .entries = entries,
        .lay_out_told = lay_out_told,
        .add = add_block,
        .gather = gather,
    },
};
