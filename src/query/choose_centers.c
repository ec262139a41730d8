/*
 * choose_centers.c - k centres out of many candidate points, by the exponential mechanism on how
 * near the records are to them (choose_centers.T1): the steps of balcan2017's Algorithm 3, and the
 * choice among sets that it ends with.
 *
 * What a record adds to the loss of a set is its distance, or squared distance, to the nearest
 * point of the set: an integer from 0 to W, a function of the record and of released points alone
 * (choose_centers.T2).  Replacing a record changes a loss by at most W; adding one raises all
 * losses at once, by 0 to W, so that they change by a range of W, not of twice that.
 *
 * Steps look at all swaps of one of k centres for one of m candidates, and a record then counts as
 * if it were at the candidate nearest to it.  So how many records each candidate has is all that
 * any number of steps needs: the rows are read once, and a step takes O(m^2), however many there
 * are.  With a point's losses d1 and d2 to its nearest and second nearest centre, a swap of centre
 * x for y makes it min(d(y), d1), or min(d(y), d2) where x is the nearest: so O(m) a point gives
 * the totals of all m k swaps.
 */
#include "query/choose_centers.h"
#include "query/queries.h"
#include "bound/bound.h"
#include "linalg/linalg.h"
#include "ask/fold.h"
#include "ask/assign.h"
#include <math.h>
#include <string.h>

enum { BITS = 20, FINEST_UNIT = 20, STRIP = 32, MOST_CANDIDATES = 1 << 16, MOST_SWAPS = 1 << 24 };
/* The largest sensitivity that a choice takes. */
static const uint64_t MOST_SENSITIVITY = (uint64_t)1 << 31;

clo_status clo_i_plan_choose_centers(const clo_domain *domain, const clo_center_choice *how,
                                     double epsilon, uint64_t times, const char *label,
                                     clo_line *out, clo_error *err)
{
    clo_line line = { .query = &clo_i_query_choose_centers,
                      .label = label,
                      .bits = BITS,
                      .cols = domain->cols,
                      .groups = how->candidates };
    clo_i_choose_centers_set_fields(&line, (clo_centers_fields){ .clusters = how->clusters,
                                                                 .sets = how->sets,
                                                                 .loss = (uint64_t)how->loss,
                                                                 .reach = how->reach });
    uint64_t unit = (uint64_t)1 << FINEST_UNIT;
    if (how->candidates < 1 || how->candidates > MOST_CANDIDATES || how->clusters < 1 ||
        how->candidates > MOST_SWAPS / how->clusters || how->sets > MOST_CANDIDATES)
        return clo_i_fail(err, CLO_ARGUMENT, "there must be between 1 and %d candidates, not %zu",
                          (int)MOST_CANDIDATES, how->candidates);
    if (!(how->reach >= 0x1p-10 && how->reach <= 2))
        return clo_i_fail(err, CLO_INTERNAL,
                          "a choice of centers reaches at most through the ball");
    while (unit * domain->rows_per_unit > MOST_SENSITIVITY) unit /= 2;
    line.count_unit = unit;
    /* Half of the range by which the losses of one unit's records may change: choose_centers.T1. */
    const uint64_t sensitivity = domain->relation == CLO_REPLACE ? unit : unit / 2;
    CLO_TRY(
        clo_i_plan_exponential(sensitivity * domain->rows_per_unit, epsilon, times, &line, err));
    *out = line;
    return CLO_OK;
}

/* ---- the losses of a record ----------------------------------------------------------------- */

typedef struct work {
    double *losses;  /* a thread: STRIP x points */
    double *totals;  /* a thread: entries */
    double *swaps;   /* of swaps: clusters x points, and points; what one thread adds up */
    int64_t *scores; /* clusters x points */
} work;
CLO_FOLD_WORK_OF(work)

/* One ask: what its line says of it, and the points and sets that it was told. */
typedef struct choice {
    clo_centers_fields how;
    double unit;
    size_t cols;
    const clo_assign *points; /* on the grid */
    const uint64_t *sets;     /* the words: all sets that are compared */
} choice;

static choice choice_of(const clo_ask *ask)
{
    return (choice){ .how = clo_i_choose_centers_fields(ask->line),
                     .unit = (double)ask->line->count_unit,
                     .cols = ask->line->cols,
                     .points = ask->rules,
                     .sets = ask->words };
}

/* All losses of one record, from its products with the points, in place (choose_centers.T2). */
static void weigh(const choice *w, const double *record, double *losses)
{
    const size_t count = w->points->clusters;
    const double *const offsets = w->points->offsets;
    const double far = w->how.reach * (1 << BITS), farthest = far * far;
    const bool distance = w->how.loss == CLO_LOSS_DISTANCE;
    const double factor = distance ? w->unit / far : w->unit / farthest;
    double square = 0;
    for (size_t j = 0; j < w->cols; j++) square += record[j] * record[j];
#pragma omp simd
    for (size_t c = 0; c < count; c++) { /* no fmin: several at a time are compared */
        const double there = square + offsets[c] - 2 * losses[c];
        losses[c] = there < farthest ? there : farthest;
    }
    if (distance)
        for (size_t c = 0; c < count; c++) losses[c] = sqrt(losses[c]);
#pragma omp simd
    for (size_t c = 0; c < count; c++) losses[c] = (double)(int32_t)(losses[c] * factor);
}

/* A point with so many records, and its losses to all points; set: the one that is swapped. */
static void add_swaps(const choice *w, const size_t *set, double records, const double *losses,
                      double *totals)
{
    const size_t count = w->points->clusters, k = w->how.clusters;
    double nearest = INFINITY, second = w->unit;
    size_t place = 0;
    for (size_t c = 0; c < k; c++) {
        const double loss = losses[set[c]];
        if (loss < nearest) {
            if (c > 0) second = nearest;
            nearest = loss;
            place = c;
        } else if (loss < second) {
            second = loss;
        }
    }
    double *const all = totals + k * count, *const own = totals + place * count;
#pragma omp simd
    for (size_t y = 0; y < count; y++) {
        const double with = losses[y] < nearest ? losses[y] : nearest;
        const double without = losses[y] < second ? losses[y] : second;
        all[y] += records * with;
        own[y] += records * (without - with);
    }
}

static void add_sets(const choice *w, const double *losses, double *totals)
{
    const size_t k = w->how.clusters;
    for (size_t s = 0; s < w->how.sets; s++) {
        double nearest = INFINITY;
        for (size_t c = 0; c < k; c++) {
            const double loss = losses[w->sets[s * k + c]];
            if (loss < nearest) nearest = loss;
        }
        totals[s] += nearest;
    }
}

/* The point that each record is nearest to counts it. */
static void count_nearest(const choice *w, const double *values, size_t rows, double *scores,
                          double *totals)
{
    uint32_t labels[STRIP];
    clo_i_assign_rows(w->points, values, rows, scores, labels);
    for (size_t i = 0; i < rows; i++) totals[labels[i]] += 1;
}

static clo_status add_block(void *user, int thread, size_t block, const double *values, size_t rows)
{
    clo_fold *const fold = user;
    const choice w = choice_of(fold->ask);
    const size_t count = w.points->clusters, cols = w.cols;
    double *const losses = work_of(fold)->losses + (size_t)thread * STRIP * count;
    double *const totals = work_of(fold)->totals + (size_t)thread * fold->entries;
    (void)block;
    for (size_t first = 0; first < rows; first += STRIP) {
        const size_t here = rows - first < STRIP ? rows - first : STRIP;
        const double *const strip = values + first * cols;
        if (w.how.sets == 0) {
            count_nearest(&w, strip, here, losses, totals);
            continue;
        }
        clo_i_multiply_transposed(strip, here, w.points->points, count, cols, losses);
        for (size_t i = 0; i < here; i++) {
            weigh(&w, strip + i * cols, losses + i * count);
            add_sets(&w, losses + i * count, totals);
        }
    }
    return CLO_OK;
}

static void gather(clo_fold *fold)
{
    const double *const totals = work_of(fold)->totals;
    for (size_t e = 0; e < (size_t)fold->threads * fold->entries; e++)
        fold->totals[e % fold->entries] += (int64_t)totals[e];
}

/* ---- the choice ----------------------------------------------------------------------------- */

/* Of swaps: how many records are nearest to each point. */
static size_t entries(const clo_line *line, size_t cols, const clo_ask *ask)
{
    const clo_centers_fields how = clo_i_choose_centers_fields(line);
    const size_t points = ask ? ask->rules->clusters : line->groups;
    (void)cols;
    return how.sets ? how.sets : points;
}

static clo_status check(const clo_ask *ask, size_t cols, clo_error *err)
{
    const clo_line *const line = ask->line;
    const clo_centers_fields how = clo_i_choose_centers_fields(line);
    bool fits = ask->rule_count == 1 && ask->rules->kind == CLO_ASSIGN_CENTERS &&
                ask->rules->clusters <= line->groups &&
                clo_i_assign_fits(ask->rules, ask->rules->clusters, line->cols, line->bits) &&
                ask->word_count == how.clusters * how.sets;
    (void)cols;
    for (size_t i = 0; fits && i < ask->word_count; i++)
        fits = ask->words[i] < ask->rules->clusters;
    if (fits) return CLO_OK;
    return clo_i_fail(err, CLO_INTERNAL, "the candidates are not those of the plan");
}

static clo_status lay_out(clo_fold *fold, clo_workspace *space, clo_error *err)
{
    const size_t threads = (size_t)fold->threads;
    const size_t points = fold->ask ? fold->ask->rules->clusters : fold->line->groups;
    const size_t numbers = entries(fold->line, fold->cols, fold->ask);
    work *const w = work_of(fold);
    CLO_TRY(clo_i_take(space, threads * STRIP * points, sizeof *w->losses, &w->losses, err));
    CLO_TRY(clo_i_take(space, threads * numbers, sizeof *w->totals, &w->totals, err));
    if (clo_i_choose_centers_fields(fold->line).sets) return CLO_OK;
    const size_t k = clo_i_choose_centers_fields(fold->line).clusters;
    CLO_TRY(clo_i_take(space, (k + 1) * points, sizeof *w->swaps, &w->swaps, err));
    return clo_i_take(space, k * points, sizeof *w->scores, &w->scores, err);
}

/* Minus the totals of all swaps of a set: what all records lose to y, and what those that were
 * nearest to x lose besides.  A point without records adds nothing. */
static void score_swaps(clo_fold *fold, const size_t *set, int64_t *scores)
{
    const choice w = choice_of(fold->ask);
    const size_t count = w.points->clusters, k = w.how.clusters, cols = w.cols;
    double *const totals = work_of(fold)->swaps, *const losses = work_of(fold)->losses;
    memset(totals, 0, (k + 1) * count * sizeof *totals);
    for (size_t first = 0; first < count; first += STRIP) {
        const size_t here = count - first < STRIP ? count - first : STRIP;
        const double *const strip = w.points->points + first * cols;
        clo_i_multiply_transposed(strip, here, w.points->points, count, cols, losses);
        for (size_t i = 0; i < here; i++) {
            const double records = (double)fold->totals[first + i];
            if (!(records > 0)) continue;
            weigh(&w, strip + i * cols, losses + i * count);
            add_swaps(&w, set, records, losses + i * count, totals);
        }
    }
    for (size_t e = 0; e < k * count; e++)
        scores[e] = -(int64_t)(totals[e] + totals[k * count + e % count]);
}

/* The ask's rule and words: points on the grid, and a word for each member of a set. */
static clo_status take_words(clo_workspace *space, const clo_line *line, uint64_t **words,
                             size_t *count, clo_error *err)
{
    const clo_centers_fields how = clo_i_choose_centers_fields(line);
    *count = how.clusters * how.sets;
    return clo_i_take(space, *count, sizeof **words, words, err);
}

static clo_status lay_out_told(const clo_line *line, clo_workspace *space, clo_error *err)
{
    double *points, *offsets;
    uint64_t *words;
    size_t count;
    CLO_TRY(clo_i_take(space, line->groups * line->cols, sizeof *points, &points, err));
    CLO_TRY(clo_i_take(space, line->groups, sizeof *offsets, &offsets, err));
    return take_words(space, line, &words, &count, err);
}

/* The candidates as a rule; swaps: whether the line must be one of swaps, and not of sets. */
static clo_status make_rule(clo_context *context, size_t number, const clo_candidates *candidates,
                            bool swaps, clo_assign *rule, clo_error *err)
{
    const clo_meter *const meter = context->meter;
    if (number >= meter->count || meter->lines[number].query != &clo_i_query_choose_centers ||
        swaps != (clo_i_choose_centers_fields(&meter->lines[number]).sets == 0) ||
        candidates->count < 1 || candidates->count > meter->lines[number].groups)
        return clo_i_fail(err, CLO_INTERNAL, "the candidates are not those of the plan");
    return clo_i_assign_centers(context->workspace, candidates->points, candidates->count,
                                meter->lines[number].cols, BITS, rule, err);
}

static bool in_range(const size_t *set, size_t k, size_t points)
{
    for (size_t c = 0; c < k; c++)
        if (set[c] >= points) return false;
    return true;
}

/* One draw a step from the same counts; sets: as clo_i_ask_swaps. */
static clo_status draw_swaps(clo_context *context, clo_sum *sum, size_t steps, size_t kept,
                             size_t *sets, clo_error *err)
{
    const size_t k = clo_i_choose_centers_fields(sum->line).clusters;
    const size_t count = sum->ask.rules->clusters;
    int64_t *const scores = work_of(&sum->fold)->scores;
    for (size_t step = 0, at = 0; step < steps; step++) {
        const size_t next = step % kept;
        size_t swap = 0;
        CLO_TRY(clo_i_tell_progress(context, (double)step / (double)steps, err));
        score_swaps(&sum->fold, sets + at * k, scores);
        CLO_TRY(clo_i_draw_exponential(context, sum->line, scores, k * count, &swap, err));
        memmove(sets + next * k, sets + at * k, k * sizeof *sets);
        sets[next * k + swap / count] = swap % count;
        at = next;
    }
    return CLO_OK;
}

/* Charged a step, before the rows are read: choose_centers.T3. */
static clo_status swap_with(clo_context *context, size_t number, const clo_bounded *data,
                            const clo_assign *rule, size_t steps, size_t kept, size_t *sets,
                            clo_error *err)
{
    const clo_ask told = { .rules = rule, .rule_count = 1 };
    const clo_line *line;
    clo_sum sum;
    for (size_t step = 1; step < steps; step++)
        CLO_TRY(clo_i_meter_charge(context, number, &clo_i_query_choose_centers, &line, err));
    CLO_TRY(clo_i_sum_begin(context, number, &clo_i_query_choose_centers, data, &told, &sum, err));
    clo_status status = clo_i_sum_fold(&sum, err);
    if (!status) status = draw_swaps(context, &sum, steps, kept, sets, err);
    clo_i_sum_end(&sum);
    return status;
}

clo_status clo_i_ask_swaps(clo_context *context, size_t number, const clo_bounded *data,
                           const clo_candidates *candidates, size_t steps, size_t kept,
                           size_t *sets, clo_error *err)
{
    const size_t mark = clo_i_workspace_begin_ask(context->workspace);
    clo_assign rule;
    CLO_TRY(make_rule(context, number, candidates, true, &rule, err));
    const size_t k = clo_i_choose_centers_fields(&context->meter->lines[number]).clusters;
    if (steps < 1 || kept < 1 || !in_range(sets, k, candidates->count))
        return clo_i_fail(err, CLO_INTERNAL, "the swaps are not those of the plan");
    const clo_status status = swap_with(context, number, data, &rule, steps, kept, sets, err);
    clo_i_workspace_release(context->workspace, mark);
    return status;
}

static clo_status choose_set(clo_context *context, size_t number, const clo_bounded *data,
                             const clo_ask *told, size_t *chosen, clo_error *err)
{
    clo_sum sum;
    CLO_TRY(clo_i_sum_begin(context, number, &clo_i_query_choose_centers, data, told, &sum, err));
    const size_t sets = clo_i_choose_centers_fields(sum.line).sets;
    int64_t *const scores = sum.fold.totals;
    clo_status status = clo_i_sum_fold(&sum, err);
    for (size_t s = 0; s < sets && !status; s++) scores[s] = -scores[s];
    if (!status) status = clo_i_draw_exponential(context, sum.line, scores, sets, chosen, err);
    clo_i_sum_end(&sum);
    return status;
}

clo_status clo_i_ask_best_set(clo_context *context, size_t number, const clo_bounded *data,
                              const clo_candidates *candidates, const size_t *sets, size_t *chosen,
                              clo_error *err)
{
    const size_t mark = clo_i_workspace_begin_ask(context->workspace);
    clo_assign rule;
    clo_ask told = { .rules = &rule, .rule_count = 1 };
    uint64_t *words = NULL;
    CLO_TRY(make_rule(context, number, candidates, false, &rule, err));
    CLO_TRY(take_words(context->workspace, &context->meter->lines[number], &words, &told.word_count,
                       err));
    for (size_t i = 0; i < told.word_count; i++) words[i] = sets[i];
    told.words = words;
    const clo_status status = choose_set(context, number, data, &told, chosen, err);
    clo_i_workspace_release(context->workspace, mark);
    return status;
}

const clo_query clo_i_query_choose_centers = {
    .name = "choose_centers",
    .reading = CLO_READING_SUM,
    .numbers = clo_i_numbers_drawn,
    .lay_out = lay_out,
    .sum = {
        .lay_out_told = lay_out_told,
        .check = check,
        .entries = entries,
        .add = add_block,
        .gather = gather,
    },
};
