/*
 * local_sum.c - for each cluster the sum of its records' differences to its centre, their squared
 * lengths and their number, as one query whose noise is at the width of the cluster (local_sum.T1).
 *
 * Noise scaled to the ball pays for a record that could be anywhere.  Once it is known about where
 * a cluster is, and how wide, a record's difference to the centre, cut to that width, says as much
 * about the centre and costs far less: in widths it is no longer than 1, wherever the record lies.
 * The squared length tells the next width, so that it takes no ask of its own.
 *
 * Integers end to end: the distance is rounded up to a whole number of steps of the grid, the
 * division by it is a product with a fraction of the denominator 2^30 that is rounded down, and its
 * result is cut toward zero.  So no rounding makes a difference longer than 1 (local_sum.T2).
 */
#include "query/local_sum.h"
#include "bound/bound.h"
#include "query/assign.h"
#include "query/grouped.h"
#include <math.h>

enum { BITS = 20, FRACTION_BITS = 30 };
static const uint64_t R = (uint64_t)1 << BITS;
static const uint64_t WIDEST = (uint64_t)CLO_LOCAL_WIDEST << BITS;
static const double FARTHEST_CENTER = 2; /* in radii: distances stay below CLO_LOCAL_WIDEST */

/* ---- the plan ------------------------------------------------------------------------------- */

/* What sizes and squares weigh beside the sum: the heavier, the less noise they have, and the more
 * the sums.  Under replace a record that stays in its cluster leaves the size alone, and a heavy
 * size is free. */
static void set_units(const clo_domain *domain, clo_line *line)
{
    const bool replace = domain->relation == CLO_REPLACE;
    line->count_unit = replace ? R - R / 8 : R * 2 / 5;
    clo_i_local_sum_set_part(line, (clo_local_part){ .square_unit = replace ? R / 2 : R / 4 });
}

/* local_sum.T1 */
static uint64_t sensitivity_of(const clo_domain *domain, const clo_line *line, clo_event_kind kind)
{
    typedef unsigned __int128 u128;
    const bool replace = domain->relation == CLO_REPLACE;
    const uint64_t size = line->count_unit, square = clo_i_local_sum_part(line).square_unit;
    const u128 length = (u128)R * R, one = length + (u128)square * square + (u128)size * size;
    if (kind == CLO_EVENT_PURE) {
        const uint64_t longest = clo_i_root_up(length * domain->cols + 1) - 1;
        return (longest + square + size) * (replace ? 2 : 1);
    }
    const u128 within = 4 * length + (u128)square * square;
    return clo_i_root_up(!replace ? one : within > 2 * one ? within : 2 * one);
}

clo_status clo_i_plan_local_sum(const clo_domain *domain, size_t clusters, clo_event_kind kind,
                                double parameter, uint64_t times, const char *label, clo_line *out,
                                clo_error *err)
{
    clo_line line = { .query = &clo_i_query_local_sum,
                      .label = label,
                      .bits = BITS,
                      .cols = domain->cols,
                      .groups = clusters };
    CLO_TRY(clo_i_check_clusters(clusters, CLO_MAX_CLUSTERS, err));
    set_units(domain, &line);
    const uint64_t sensitivity = sensitivity_of(domain, &line, kind) * domain->rows_per_unit;
    if (kind == CLO_EVENT_PURE)
        CLO_TRY(clo_i_plan_laplace(sensitivity, parameter, times, &line, err));
    else
        CLO_TRY(clo_i_plan_gaussian(sensitivity, parameter, times, &line, err));
    line.noise = clo_i_local_deviation(&line); /* in widths, which the run finds */
    *out = line;
    return CLO_OK;
}

static double deviation_in_steps(const clo_line *line)
{
    return (double)line->scale * (line->event.kind == CLO_EVENT_PURE ? sqrt(2) : 1);
}

double clo_i_local_deviation(const clo_line *line)
{
    return deviation_in_steps(line) / (double)R;
}

double clo_i_local_square_deviation(const clo_line *line)
{
    return deviation_in_steps(line) / (double)clo_i_local_sum_part(line).square_unit;
}

double clo_i_local_size_deviation(const clo_line *line)
{
    return deviation_in_steps(line) / (double)line->count_unit;
}

/* ---- what a record adds --------------------------------------------------------------------- */

/* local_sum.T2.  sum: cols sums, then that of the squares. */
__attribute__((always_inline)) static inline void add_record(const double *record,
                                                             const double *center, size_t cols,
                                                             uint64_t width, uint64_t reach,
                                                             uint64_t square_unit, double *sum)
{
    const double square = clo_i_square_apart(record, center, cols);
    const uint64_t distance = (uint64_t)ceil(sqrt(square));
    const uint64_t divisor = distance > width ? distance : width;
    const double factor = (double)((R << FRACTION_BITS) / divisor) * 0x1p-30; /* exact */
#pragma omp simd
    for (size_t j = 0; j < cols; j++) sum[j] += (double)(int32_t)((record[j] - center[j]) * factor);
    const uint64_t length = (uint64_t)square, most = reach * reach;
    sum[cols] += (double)((length < most ? length : most) * square_unit / most);
}

/* Each record to the sums of its cluster: cols sums, that of the squares, and their number. */
CLO_WIDE static void add_records(const clo_ask *ask, const double *values, const uint32_t *labels,
                                 size_t rows, size_t cols, double *sums)
{
    const uint64_t *const widths = ask->words, *const reaches = widths + ask->line->groups;
    const uint64_t square_unit = clo_i_local_sum_part(ask->line).square_unit;
    const double *const centers = ask->rules->points;
    for (size_t i = 0; i < rows; i++) {
        const size_t c = labels[i];
        double *const sum = sums + c * (cols + 2);
        add_record(values + i * cols, centers + c * cols, cols, widths[c], reaches[c], square_unit,
                   sum);
        sum[cols + 1] += 1;
    }
}

typedef struct work {
    double *scores;   /* a thread: block_rows x clusters */
    uint32_t *labels; /* a thread: block_rows */
    double *sums;     /* a thread: clusters x (cols + 2): sum, squares, size */
} work;
CLO_FOLD_WORK_OF(work)

static clo_status add_block(void *user, int thread, size_t block, const double *values, size_t rows)
{
    clo_fold *const fold = user;
    const work *const w = work_of(fold);
    const clo_assign *const rule = fold->ask->rules;
    const size_t cols = fold->seen, k = fold->line->groups, t = (size_t)thread;
    uint32_t *const labels = w->labels + t * fold->block_rows;
    double *const sums = w->sums + t * k * (cols + 2);
    (void)block;
    clo_i_assign_rows(rule, values, rows, w->scores + t * fold->block_rows * k, labels);
    add_records(fold->ask, values, labels, rows, cols, sums);
    return CLO_OK;
}

/* ---- asking --------------------------------------------------------------------------------- */

static size_t entries(const clo_line *line, size_t cols, const clo_ask *ask)
{
    (void)cols, (void)ask;
    return line->groups * (line->cols + 2);
}

static bool centers_fit(const clo_assign *rule)
{
    const double most = FARTHEST_CENTER * (double)R;
    for (size_t c = 0; c < rule->clusters; c++)
        if (rule->offsets[c] > most * most) return false;
    return true;
}

static clo_status check(const clo_ask *ask, size_t cols, clo_error *err)
{
    const clo_line *const line = ask->line;
    (void)cols;
    if (ask->rule_count == 1 && ask->rules->kind == CLO_ASSIGN_CENTERS &&
        clo_i_assign_fits(ask->rules, line->groups, line->cols, line->bits) &&
        clo_i_views_fit(ask, WIDEST) && centers_fit(ask->rules))
        return CLO_OK;
    return clo_i_fail(err, CLO_INTERNAL, "the centres are not those of the plan");
}

static clo_status lay_out(clo_fold *fold, clo_workspace *space, clo_error *err)
{
    const size_t threads = (size_t)fold->threads, k = fold->line->groups, cols = fold->seen;
    work *const w = work_of(fold);
    CLO_TRY(clo_i_take(space, threads * fold->block_rows * k, sizeof(double), &w->scores, err));
    CLO_TRY(clo_i_take(space, threads * fold->block_rows, sizeof(uint32_t), &w->labels, err));
    return clo_i_take(space, threads * k * (cols + 2), sizeof(double), &w->sums, err);
}

static void gather(clo_fold *fold)
{
    clo_i_gather_groups(fold, work_of(fold)->sums);
}

static uint64_t square_unit_of(const clo_line *line)
{
    return clo_i_local_sum_part(line).square_unit;
}

clo_status clo_i_ask_local_sum(clo_context *context, size_t number, const clo_bounded *data,
                               const clo_assign *rule, const clo_local_view *views,
                               clo_local_sums *out, clo_error *err)
{
    const clo_viewer viewer = { &clo_i_query_local_sum, BITS, WIDEST, square_unit_of };
    const clo_view_sums told = { out->sums, out->squares, out->sizes };
    return clo_i_ask_views(context, number, &viewer, data, rule, views, told, err);
}

const clo_query clo_i_query_local_sum = {
    .name = "local_sum",
    .reading = CLO_READING_SUM,
    .numbers = clo_i_numbers_added,
    .check = check,
    .entries = entries,
    .lay_out = lay_out,
    .lay_out_told = clo_i_views_lay_out,
    .add = add_block,
    .gather = gather,
};
