/*
 * choose_flats.c - one of several sets of subspaces or flats, by the exponential mechanism on how
 * well the records lie on them (choose_flats.T1).
 *
 * A record's part in a set's cost is its squared distance to the nearest flat of the set, an
 * integer from 0 to 2^b (assign.T2).  Replacing a record changes a cost by at most 2^b; adding one
 * raises all costs at once, by 0 to 2^b, so that they change by a range of 2^b, not of twice that,
 * and the same epsilon buys a choice that is twice as sharp.
 */
#include "query/choose_flats.h"
#include "query/queries.h"
#include "bound/bound.h"
#include "ask/fold.h"
#include "ask/assign.h"

enum { BITS = 15, FINEST_UNIT = 20, MOST_CANDIDATES = 1024 };
/* The largest sensitivity that a choice takes. */
static const uint64_t MOST_SENSITIVITY = (uint64_t)1 << 31;

clo_status clo_i_plan_choose_flats(const clo_domain *domain, size_t candidates, size_t vectors,
                                   double epsilon, uint64_t times, const char *label, clo_line *out,
                                   clo_error *err)
{
    clo_line line = { .query = &clo_i_query_choose_flats,
                      .label = label,
                      .bits = BITS,
                      .cols = domain->cols,
                      .groups = candidates };
    clo_i_choose_flats_set_fields(&line, (clo_flats_fields){ .vectors = vectors });
    uint64_t unit = (uint64_t)1 << FINEST_UNIT;
    if (candidates < 1 || candidates > MOST_CANDIDATES)
        return clo_i_fail(err, CLO_ARGUMENT, "candidates must be between 1 and %d, not %zu",
                          (int)MOST_CANDIDATES, candidates);
    while (unit * domain->rows_per_unit > MOST_SENSITIVITY) unit /= 2;
    line.count_unit = unit;
    /* Half of the range by which the costs of one unit's records may change: choose_flats.T1. */
    const uint64_t sensitivity = domain->relation == CLO_REPLACE ? unit : unit / 2;
    CLO_TRY(
        clo_i_plan_exponential(sensitivity * domain->rows_per_unit, epsilon, times, &line, err));
    *out = line;
    return CLO_OK;
}

typedef struct work {
    double *scores;      /* a thread: block_rows x vectors */
    uint64_t *distances; /* a thread: block_rows */
    int64_t *costs;      /* a thread: one a candidate */
} work;
CLO_FOLD_WORK_OF(work)

static int unit_bits(const clo_line *line)
{
    int bits = 0;
    while (((uint64_t)1 << bits) < line->count_unit) bits++;
    return bits;
}

static clo_status add_block(void *user, int thread, size_t block, const double *values, size_t rows)
{
    clo_fold *const fold = user;
    const work *const w = work_of(fold);
    const size_t count = fold->entries, t = (size_t)thread;
    const size_t vectors = clo_i_choose_flats_fields(fold->line).vectors;
    double *const scores = w->scores + t * fold->block_rows * vectors;
    uint64_t *const distances = w->distances + t * fold->block_rows;
    (void)block;
    for (size_t c = 0; c < count; c++) {
        int64_t *const cost = &w->costs[t * count + c];
        clo_i_assign_distances(&fold->ask->rules[c], values, rows, unit_bits(fold->line), scores,
                               distances);
        for (size_t i = 0; i < rows; i++) *cost += (int64_t)distances[i];
    }
    return CLO_OK;
}

static void gather(clo_fold *fold)
{
    const int64_t *const costs = work_of(fold)->costs;
    for (size_t e = 0; e < (size_t)fold->threads * fold->entries; e++)
        fold->totals[e % fold->entries] += costs[e];
}

static size_t entries(const clo_line *line, size_t cols, const clo_ask *ask)
{
    (void)cols, (void)ask;
    return line->groups;
}

static clo_status check(const clo_ask *ask, size_t cols, clo_error *err)
{
    const clo_line *const line = ask->line;
    const size_t vectors = clo_i_choose_flats_fields(line).vectors;
    bool fits = ask->rule_count == line->groups;
    (void)cols;
    for (size_t c = 0; fits && c < line->groups; c++) {
        const clo_assign *const rule = &ask->rules[c];
        fits = (rule->kind == CLO_ASSIGN_SUBSPACES || rule->kind == CLO_ASSIGN_FLATS) &&
               rule->bits == line->bits && rule->cols == line->cols &&
               clo_i_assign_width(rule) <= vectors;
    }
    if (fits) return CLO_OK;
    return clo_i_fail(err, CLO_INTERNAL, "the candidates are not those of the plan");
}

static clo_status lay_out(clo_fold *fold, clo_workspace *space, clo_error *err)
{
    const size_t rows = (size_t)fold->threads * fold->block_rows;
    const size_t vectors = clo_i_choose_flats_fields(fold->line).vectors;
    work *const w = work_of(fold);
    CLO_TRY(clo_i_take(space, rows * vectors, sizeof *w->scores, &w->scores, err));
    CLO_TRY(clo_i_take(space, rows, sizeof *w->distances, &w->distances, err));
    return clo_i_take(space, (size_t)fold->threads * fold->line->groups, sizeof *w->costs,
                      &w->costs, err);
}

clo_status clo_i_ask_choose_flats(clo_context *context, size_t number, const clo_bounded *data,
                                  const clo_assign *candidates, size_t *chosen, clo_error *err)
{
    const size_t count = number < context->meter->count ? context->meter->lines[number].groups : 0;
    const clo_ask told = { .rules = candidates, .rule_count = count };
    clo_sum sum;
    CLO_TRY(clo_i_sum_begin(context, number, &clo_i_query_choose_flats, data, &told, &sum, err));
    int64_t *const costs = sum.fold.totals;
    clo_status status = clo_i_sum_fold(&sum, err);
    if (!status) {
        for (size_t c = 0; c < count; c++) costs[c] = -costs[c];
        status = clo_i_draw_exponential(context, sum.line, costs, count, chosen, err);
    }
    clo_i_sum_end(&sum);
    return status;
}

const clo_query clo_i_query_choose_flats = {
    .name = "choose_flats",
    .reading = CLO_READING_SUM,
    .numbers = clo_i_numbers_drawn,
    .lay_out = lay_out,
    .sum = {
        .check = check,
        .entries = entries,
        .add = add_block,
        .gather = gather,
    },
};
