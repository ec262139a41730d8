/*
 * choose_centers.c - k centres out of many candidate points, by the exponential mechanism on how
 * near the records are to them (choose_centers.T1): the step of balcan2017's Algorithm 3, and the
 * choice among sets that it ends with.
 *
 * What a record adds to the loss of a set is its distance, or squared distance, to the nearest
 * point of the set: an integer from 0 to W, a function of the record and of released points alone
 * (choose_centers.T2).  Replacing a record changes a loss by at most W; adding one raises all
 * losses at once, by 0 to W, so that they change by a range of W, not of twice that.
 *
 * A step looks at all swaps of one of k centres for one of m candidates.  With a record's losses d1
 * and d2 to its nearest and second nearest centre, a swap of centre x for y makes it
 * min(d(y), d1), or min(d(y), d2) where x is the nearest: so one pass of O(m) a record gives the
 * totals of all m k swaps.
 */
#include "query/parts.h"
#include "bound/bound.h"
#include "linalg/linalg.h"
#include "parallel/parallel.h"
#include <math.h>

enum { BITS = 20, FINEST_UNIT = 20, STRIP = 32, MOST_CANDIDATES = 1 << 16, MOST_SWAPS = 1 << 24 };
/* The largest sensitivity that a choice takes. */
static const uint64_t MOST_SENSITIVITY = (uint64_t)1 << 31;

clo_status clo_i_plan_choose_centers(const clo_domain *domain, const clo_center_choice *how,
                                     double epsilon, uint64_t times, const char *label,
                                     clo_line *out, clo_error *err)
{
    clo_line line = { .query = CLO_QUERY_choose_centers,
                      .label = label,
                      .bits = BITS,
                      .cols = domain->cols,
                      .groups = how->candidates,
                      .vectors = how->clusters,
                      .blocks = how->sets,
                      .farthest = how->reach,
                      .dim = (size_t)how->loss };
    uint64_t unit = (uint64_t)1 << FINEST_UNIT;
    if (how->candidates < 1 || how->candidates > MOST_CANDIDATES || how->clusters < 1 ||
        how->candidates > MOST_SWAPS / how->clusters || how->sets > MOST_CANDIDATES)
        return clo_i_fail(err, CLO_ARGUMENT, "there must be between 1 and %d candidates, not %zu",
                          (int)MOST_CANDIDATES, how->candidates);
    if (!(how->reach >= 0x1p-10 && how->reach <= 2))
        return clo_i_fail(err, CLO_INTERNAL,
                          "a choice of centres reaches at most through the ball");
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
    const clo_line *line;
    clo_assign points; /* on the grid */
    const size_t *sets;
    size_t cols, block_rows, entries;
    double *losses; /* a thread: STRIP x points */
    double *totals; /* a thread: entries */
} work;

/* All losses of one record, from its products with the points, in place (choose_centers.T2). */
static void weigh(const work *w, const double *record, double *losses)
{
    const size_t count = w->points.clusters;
    const double *const offsets = w->points.offsets;
    const double far = w->line->farthest * (1 << BITS), unit = (double)w->line->count_unit;
    double square = 0;
    for (size_t j = 0; j < w->cols; j++) square += record[j] * record[j];
    for (size_t c = 0; c < count; c++)
        losses[c] = fmin(square + offsets[c] - 2 * losses[c], far * far);
    const double factor = w->line->dim == CLO_LOSS_DISTANCE ? unit / far : unit / (far * far);
    if (w->line->dim == CLO_LOSS_DISTANCE)
        for (size_t c = 0; c < count; c++) losses[c] = sqrt(losses[c]);
    for (size_t c = 0; c < count; c++) losses[c] = (double)(int32_t)(losses[c] * factor);
}

static void add_swaps(const work *w, const double *losses, double *totals)
{
    const size_t count = w->points.clusters, k = w->line->vectors;
    double nearest = INFINITY, second = (double)w->line->count_unit;
    size_t place = 0;
    for (size_t c = 0; c < k; c++) {
        const double loss = losses[w->sets[c]];
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
        all[y] += with;
        own[y] += without - with;
    }
}

static void add_sets(const work *w, const double *losses, double *totals)
{
    const size_t k = w->line->vectors;
    for (size_t s = 0; s < w->line->blocks; s++) {
        double nearest = INFINITY;
        for (size_t c = 0; c < k; c++) nearest = fmin(nearest, losses[w->sets[s * k + c]]);
        totals[s] += nearest;
    }
}

static clo_status add_block(void *user, int thread, size_t block, const double *values, size_t rows)
{
    const work *const w = user;
    const size_t count = w->points.clusters, cols = w->cols;
    double *const losses = w->losses + (size_t)thread * STRIP * count;
    double *const totals = w->totals + (size_t)thread * w->entries;
    (void)block;
    for (size_t first = 0; first < rows; first += STRIP) {
        const size_t here = rows - first < STRIP ? rows - first : STRIP;
        clo_i_multiply_transposed(values + first * cols, here, w->points.points, count, cols,
                                  losses);
        for (size_t i = 0; i < here; i++) {
            weigh(w, values + (first + i) * cols, losses + i * count);
            if (w->line->blocks)
                add_sets(w, losses + i * count, totals);
            else
                add_swaps(w, losses + i * count, totals);
        }
    }
    return CLO_OK;
}

/* ---- the choice ----------------------------------------------------------------------------- */

static clo_status take_work(clo_context *context, const clo_bounded *data,
                            const clo_candidates *candidates, work *w, double **scratch,
                            int64_t **scores, clo_error *err)
{
    const size_t threads = (size_t)context->threads, count = candidates->count;
    clo_workspace *const space = context->workspace;
    w->cols = clo_i_pass_cols(context, data);
    w->entries = w->line->blocks ? w->line->blocks : (w->line->vectors + 1) * count;
    CLO_TRY(clo_i_assign_centers(space, candidates->points, count, w->cols, BITS, &w->points, err));
    CLO_TRY(clo_i_take(space, clo_i_pass_scratch(context, data, context->threads), sizeof(double),
                       scratch, err));
    CLO_TRY(clo_i_take(space, threads * STRIP * count, sizeof(double), &w->losses, err));
    CLO_TRY(clo_i_take(space, threads * w->entries, sizeof(double), &w->totals, err));
    return clo_i_take(space, w->entries, sizeof(int64_t), scores, err);
}

/* Minus the totals; those of a swap are what all records lose to y, and what those that were
 * nearest to x lose besides. */
static void finish_scores(const work *w, int64_t *scores)
{
    const size_t count = w->points.clusters, k = w->line->vectors;
    if (w->line->blocks) {
        for (size_t s = 0; s < w->line->blocks; s++) scores[s] = -scores[s];
        return;
    }
    for (size_t e = 0; e < k * count; e++) scores[e] = -scores[e] - scores[k * count + e % count];
}

static clo_status choose(clo_context *context, const clo_line *line, const clo_bounded *data,
                         const clo_candidates *candidates, const size_t *sets, size_t *chosen,
                         clo_error *err)
{
    const size_t mark = clo_i_workspace_mark(context->workspace),
                 threads = (size_t)context->threads;
    work w = { .line = line, .sets = sets };
    double *scratch = NULL;
    int64_t *scores = NULL;
    clo_status status = take_work(context, data, candidates, &w, &scratch, &scores, err);
    if (!status)
        status = clo_i_pass(context, data, BITS, context->threads, scratch, add_block, &w, err);
    if (!status) {
        for (size_t e = 0; e < threads * w.entries; e++)
            scores[e % w.entries] += (int64_t)w.totals[e];
        status = clo_i_comm_sum(context->comm, scores, w.entries, err);
    }
    if (!status) {
        finish_scores(&w, scores);
        const size_t answers = line->blocks ? line->blocks : line->vectors * candidates->count;
        status = clo_i_draw_exponential(context, line, scores, answers, chosen, err);
    }
    clo_i_workspace_release(context->workspace, mark);
    return status;
}

static clo_status check(const clo_line *line, const clo_candidates *candidates, const size_t *sets,
                        bool swaps, clo_error *err)
{
    const size_t numbers = line->vectors * (swaps ? 1 : line->blocks);
    bool fits =
        swaps == (line->blocks == 0) && candidates->count >= 1 && candidates->count <= line->groups;
    for (size_t i = 0; fits && i < numbers; i++) fits = sets[i] < candidates->count;
    if (!fits) return clo_i_fail(err, CLO_INTERNAL, "the candidates are not those of the plan");
    return CLO_OK;
}

clo_status clo_i_ask_best_swap(clo_context *context, size_t number, const clo_bounded *data,
                               const clo_candidates *candidates, size_t *set, clo_error *err)
{
    const clo_line *line;
    size_t swap = 0;
    CLO_TRY(clo_i_meter_charge(context, number, CLO_QUERY_choose_centers, &line, err));
    CLO_TRY(check(line, candidates, set, true, err));
    CLO_TRY(choose(context, line, data, candidates, set, &swap, err));
    set[swap / candidates->count] = swap % candidates->count;
    return CLO_OK;
}

clo_status clo_i_ask_best_set(clo_context *context, size_t number, const clo_bounded *data,
                              const clo_candidates *candidates, const size_t *sets, size_t *chosen,
                              clo_error *err)
{
    const clo_line *line;
    CLO_TRY(clo_i_meter_charge(context, number, CLO_QUERY_choose_centers, &line, err));
    CLO_TRY(check(line, candidates, sets, false, err));
    return choose(context, line, data, candidates, sets, chosen, err);
}

size_t clo_i_choose_centers_workspace(const clo_line *line, size_t threads)
{
    const size_t points = line->groups, k = line->vectors;
    const size_t entries = line->blocks ? line->blocks : (k + 1) * points;
    return clo_i_take_size(points * line->cols, 8) + clo_i_take_size(points, 8) +
           clo_i_take_size(threads * STRIP * points, 8) + clo_i_take_size(threads * entries, 8) +
           clo_i_take_size(entries, 8);
}
