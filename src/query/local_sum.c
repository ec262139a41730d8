/*
 * local_sum.c - for each cluster the sum of its records' differences to its centre, their squared
 * lengths and their number, as one query whose noise is at the width of the cluster (local_sum.T1).
 *
 * Noise scaled to the ball pays for a record that could be anywhere.  Once it is known about where
 * a cluster is, and how wide, a record's difference to the centre, cut to that width, says as much
 * about the centre and costs far less: in widths it is no longer than 1, wherever the record lies.
 * The squared length tells the next width, so that it takes no ask of its own.  Where most of the
 * columns have never been looked at, it is cut too early to tell: then shells of lengths, in widths
 * and of all clusters together, say on any scale how wide they are.
 *
 * Integers end to end: the distance is rounded up to a whole number of steps of the grid, the
 * division by it is a product with a fraction of the denominator 2^30 that is rounded down, and its
 * result is cut toward zero.  So no rounding makes a difference longer than 1 (local_sum.T2).
 */
#include "query/local_sum.h"
#include "query/queries.h"
#include "bound/bound.h"
#include "ask/assign.h"
#include "query/grouped.h"
#include <math.h>

enum { BITS = CLO_LOCAL_BITS };
static const uint64_t R = (uint64_t)1 << BITS;
static const uint64_t WIDEST = (uint64_t)CLO_LOCAL_WIDEST << BITS;
static const double FARTHEST_CENTER = 2; /* in radii: distances stay below CLO_LOCAL_WIDEST */

/* ---- the plan ------------------------------------------------------------------------------- */

/* What sizes and squares weigh beside the sum: the heavier, the less noise they have, and the more
 * the sums.  Under replace a record that stays in its cluster leaves the size alone, and a heavy
 * size is free. */
static void set_units(const clo_domain *domain, bool shells, clo_line *line)
{
    const bool replace = domain->relation == CLO_REPLACE;
    line->count_unit = replace ? R - R / 8 : R * 2 / 5;
    clo_i_local_sum_set_fields(line, (clo_local_fields){ .square_unit = replace ? R / 2 : R / 4,
                                                         .shell_unit = shells ? R / 4 : 0 });
}

/* local_sum.T1 */
static uint64_t sensitivity_of(const clo_domain *domain, const clo_line *line, clo_event_kind kind)
{
    typedef unsigned __int128 u128;
    const bool replace = domain->relation == CLO_REPLACE;
    const clo_local_fields fields = clo_i_local_sum_fields(line);
    const uint64_t size = line->count_unit, square = fields.square_unit;
    const u128 length = (u128)R * R, one = length + (u128)square * square + (u128)size * size;
    const u128 shell = (u128)fields.shell_unit * fields.shell_unit;
    if (kind == CLO_EVENT_PURE) {
        const uint64_t longest = clo_i_root_up(length * domain->cols + 1) - 1;
        return (longest + square + size) * (replace ? 2 : 1);
    }
    const u128 within = 4 * length + (u128)square * square;
    const u128 worst = !replace ? one : within > 2 * one ? within : 2 * one;
    return clo_i_root_up(worst + (replace ? 2 : 1) * shell);
}

static clo_status plan(const clo_domain *domain, size_t clusters, clo_event_kind kind,
                       double parameter, uint64_t times, bool shells, const char *label,
                       clo_line *out, clo_error *err)
{
    clo_line line = { .query = &clo_i_query_local_sum,
                      .label = label,
                      .bits = BITS,
                      .cols = domain->cols,
                      .groups = clusters };
    CLO_TRY(clo_i_check_clusters(clusters, CLO_MAX_CLUSTERS, err));
    set_units(domain, shells, &line);
    const uint64_t sensitivity = sensitivity_of(domain, &line, kind) * domain->rows_per_unit;
    if (kind == CLO_EVENT_PURE)
        CLO_TRY(clo_i_plan_laplace(sensitivity, parameter, times, &line, err));
    else
        CLO_TRY(clo_i_plan_gaussian(sensitivity, parameter, times, &line, err));
    line.noise = clo_i_local_deviation(&line); /* in widths, which the run finds */
    *out = line;
    return CLO_OK;
}

clo_status clo_i_plan_local_sum(const clo_domain *domain, size_t clusters, clo_event_kind kind,
                                double parameter, uint64_t times, const char *label, clo_line *out,
                                clo_error *err)
{
    return plan(domain, clusters, kind, parameter, times, false, label, out, err);
}

clo_status clo_i_plan_local_shells(const clo_domain *domain, size_t clusters, double mu,
                                   uint64_t times, const char *label, clo_line *out, clo_error *err)
{
    return plan(domain, clusters, CLO_EVENT_GAUSSIAN, mu, times, true, label, out, err);
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
    return deviation_in_steps(line) / (double)clo_i_local_sum_fields(line).square_unit;
}

double clo_i_local_size_deviation(const clo_line *line)
{
    return deviation_in_steps(line) / (double)line->count_unit;
}

double clo_i_local_shell_deviation(const clo_line *line)
{
    return deviation_in_steps(line) / (double)clo_i_local_sum_fields(line).shell_unit;
}

/* ---- what a record adds --------------------------------------------------------------------- */

/* local_sum.T2.  sum: cols sums, then that of the squares.  Gives the squared length. */
__attribute__((always_inline)) static inline uint64_t add_record(const double *record,
                                                                 const double *center, size_t cols,
                                                                 uint64_t width, uint64_t reach,
                                                                 uint64_t square_unit, double *sum)
{
    const uint64_t length = clo_i_add_cut(record, center, cols, width, sum), most = reach * reach;
    sum[cols] += (double)((length < most ? length : most) * square_unit / most);
    return length;
}

/* Two shells a factor 2 of the squared length: where it is 2^e to 2^(e + 1/2), and where more. */
size_t clo_i_local_shell(double squares)
{
    enum { BEGIN = 6 };
    int exponent;
    const double half = frexp(squares, &exponent);
    const int shell = BEGIN + 2 * (exponent - 1) + (half * half >= 0.5);
    if (!(squares >= 0x1p-3)) return 0; /* of a shell before the first, or of no length at all */
    return squares < 0x1p7 && shell < CLO_LOCAL_SHELLS ? (size_t)shell : CLO_LOCAL_SHELLS - 1;
}

/* Each record to the sums of its cluster: cols sums, that of the squares, and their number; and to
 * the shells, which are behind all of these. */
CLO_WIDE static void add_records(const clo_ask *ask, const double *values, const uint32_t *labels,
                                 size_t rows, size_t cols, double *sums)
{
    const size_t k = ask->line->groups;
    const uint64_t *const widths = ask->words, *const reaches = widths + k;
    const clo_local_fields fields = clo_i_local_sum_fields(ask->line);
    const double *const centers = ask->rules->points;
    double *const shells = sums + k * (cols + 2);
    for (size_t i = 0; i < rows; i++) {
        const size_t c = labels[i];
        double *const sum = sums + c * (cols + 2);
        const uint64_t length = add_record(values + i * cols, centers + c * cols, cols, widths[c],
                                           reaches[c], fields.square_unit, sum);
        sum[cols + 1] += 1;
        if (fields.shell_unit)
            shells[clo_i_local_shell((double)length / (double)(widths[c] * widths[c]))] += 1;
    }
}

static size_t numbers_of(const clo_line *line, size_t cols)
{
    return line->groups * (cols + 2) +
           (clo_i_local_sum_fields(line).shell_unit ? CLO_LOCAL_SHELLS : 0);
}

typedef struct work {
    double *scores;   /* a thread: block_rows x clusters */
    uint32_t *labels; /* a thread: block_rows */
    double *sums;     /* a thread: clusters x (cols + 2): sum, squares, size; and the shells */
} work;
CLO_FOLD_WORK_OF(work)

static clo_status add_block(void *user, int thread, size_t block, const double *values, size_t rows)
{
    clo_fold *const fold = user;
    const work *const w = work_of(fold);
    const clo_assign *const rule = fold->ask->rules;
    const size_t cols = fold->seen, k = fold->line->groups, t = (size_t)thread;
    uint32_t *const labels = w->labels + t * fold->block_rows;
    double *const sums = w->sums + t * numbers_of(fold->line, cols);
    (void)block;
    clo_i_assign_rows(rule, values, rows, w->scores + t * fold->block_rows * k, labels);
    add_records(fold->ask, values, labels, rows, cols, sums);
    return CLO_OK;
}

/* ---- asking --------------------------------------------------------------------------------- */

static size_t entries(const clo_line *line, size_t cols, const clo_ask *ask)
{
    (void)cols, (void)ask;
    return numbers_of(line, line->cols);
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
    return clo_i_fail(err, CLO_INTERNAL, "the centers are not those of the plan");
}

static clo_status lay_out(clo_fold *fold, clo_workspace *space, clo_error *err)
{
    const size_t threads = (size_t)fold->threads, k = fold->line->groups, cols = fold->seen;
    work *const w = work_of(fold);
    CLO_TRY(clo_i_take(space, threads * fold->block_rows * k, sizeof(double), &w->scores, err));
    CLO_TRY(clo_i_take(space, threads * fold->block_rows, sizeof(uint32_t), &w->labels, err));
    return clo_i_take(space, threads * numbers_of(fold->line, cols), sizeof(double), &w->sums, err);
}

/* What one of a number counts for: differences and squares are in units already. */
static uint64_t unit_of(const clo_line *line, size_t number)
{
    const size_t each = line->cols + 2;
    if (number >= line->groups * each) return clo_i_local_sum_fields(line).shell_unit;
    return number % each == each - 1 ? line->count_unit : 1;
}

static void gather(clo_fold *fold)
{
    const double *const sums = work_of(fold)->sums;
    for (size_t e = 0; e < (size_t)fold->threads * fold->entries; e++) {
        const size_t number = e % fold->entries;
        const uint64_t added = (uint64_t)(int64_t)sums[e] * unit_of(fold->line, number);
        fold->totals[number] = (int64_t)((uint64_t)fold->totals[number] + added);
    }
}

static uint64_t square_unit_of(const clo_line *line)
{
    return clo_i_local_sum_fields(line).square_unit;
}

static uint64_t shell_unit_of(const clo_context *context, size_t number)
{
    const clo_meter *const meter = context->meter;
    return number < meter->count ? clo_i_local_sum_fields(&meter->lines[number]).shell_unit : 0;
}

static clo_status ask(clo_context *context, size_t number, const clo_bounded *data,
                      const clo_assign *rule, const clo_local_view *views,
                      const clo_local_sums *out, const clo_share *shells, clo_error *err)
{
    const clo_viewer viewer = { &clo_i_query_local_sum, BITS, WIDEST, square_unit_of };
    const clo_view_sums told = { out->sums, out->squares, out->sizes };
    if (!shells != !shell_unit_of(context, number))
        return clo_i_fail(err, CLO_INTERNAL, "only lines with shells have them");
    return clo_i_ask_views(context, number, &viewer, data, rule, views, told, shells, err);
}

clo_status clo_i_ask_local_sum(clo_context *context, size_t number, const clo_bounded *data,
                               const clo_assign *rule, const clo_local_view *views,
                               clo_local_sums *out, clo_error *err)
{
    return ask(context, number, data, rule, views, out, NULL, err);
}

clo_status clo_i_ask_local_shells(clo_context *context, size_t number, const clo_bounded *data,
                                  const clo_assign *rule, const clo_local_view *views,
                                  clo_local_sums *out, double *shells, clo_error *err)
{
    const double unit = (double)shell_unit_of(context, number);
    const clo_share pooled = { shells, CLO_LOCAL_SHELLS, unit };
    return ask(context, number, data, rule, views, out, &pooled, err);
}

const clo_query clo_i_query_local_sum = {
    .name = "local_sum",
    .reading = CLO_READING_SUM,
    .numbers = clo_i_numbers_added,
    .lay_out = lay_out,
    .sum = {
        .check = check,
        .entries = entries,
        .lay_out_told = clo_i_views_lay_out,
        .add = add_block,
        .gather = gather,
    },
};
