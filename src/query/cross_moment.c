/*
 * cross_moment.c - for each subspace the cross moments of its records' residuals and coordinates,
 * their squared lengths and the number of records, as one query whose noise is at the width of the
 * residuals (cross_moment.T1).
 *
 * Which way a subspace should turn is told by the part of its Gram matrix that leads from inside of
 * it to the outside, the sum of r y'.  In a whole Gram matrix the noise of that part pays for a
 * record that could be anywhere in the ball; once it is known how far from the subspace its records
 * are, r y' cut to that width says as much and costs far less.  At the greatest width, which cuts
 * nothing, it costs what it costs in the Gram matrix.  The squared length tells the next width.
 *
 * Integers end to end: coordinates and residuals are truncated to the grid, their lengths are
 * rounded up, the division by the product of both is one of integers, and every result is cut
 * toward zero.  So no rounding makes a cross moment longer than 1 (cross_moment.T2).
 */
#include "query/cross_moment.h"
#include "query/queries.h"
#include "bound/bound.h"
#include "query/grouped.h"
#include <math.h>

enum { BITS = 20, FRACTION_BITS = 22, MOST_COLUMNS = 1024 };
static const uint64_t R = (uint64_t)1 << BITS;
static const uint64_t WIDEST = (uint64_t)1 << (BITS - 1);

/* ---- the plan ------------------------------------------------------------------------------- */

/* What sizes and squares weigh beside the moments, as for local sums: under replace a record that
 * stays in its cluster leaves the size alone, and a heavy size is free. */
static void set_units(const clo_domain *domain, size_t dim, clo_line *line)
{
    const bool replace = domain->relation == CLO_REPLACE;
    line->count_unit = replace ? R - R / 8 : R * 2 / 5;
    clo_i_cross_moment_set_fields(
        line, (clo_cross_fields){ .square_unit = replace ? R / 2 : R / 4, .dim = dim });
}

/* cross_moment.T1 */
static uint64_t sensitivity_of(const clo_domain *domain, const clo_line *line)
{
    typedef unsigned __int128 u128;
    const u128 size = line->count_unit, square = clo_i_cross_moment_fields(line).square_unit;
    const u128 length = (u128)R * R, one = length + square * square + size * size;
    const u128 within = 4 * length + square * square, across = 2 * one;
    if (domain->relation != CLO_REPLACE) return clo_i_root_up(one);
    return clo_i_root_up(within > across ? within : across);
}

clo_status clo_i_plan_cross_moment(const clo_domain *domain, size_t clusters, size_t dim, double mu,
                                   uint64_t times, const char *label, clo_line *out, clo_error *err)
{
    const double radius = clo_i_domain_radius(domain);
    clo_line line = { .query = &clo_i_query_cross_moment,
                      .label = label,
                      .bits = BITS,
                      .cols = domain->cols,
                      .groups = clusters };
    CLO_TRY(clo_i_check_clusters(clusters, CLO_MAX_CLUSTERS, err));
    if (domain->cols > MOST_COLUMNS)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "cross moments take at most %d columns, not %zu: choose fewer of them",
                          (int)MOST_COLUMNS, domain->cols);
    if (dim < 1 || dim > domain->cols)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "dim must be between 1 and the number of columns, %zu, not %zu",
                          domain->cols, dim);
    set_units(domain, dim, &line);
    CLO_TRY(clo_i_plan_gaussian(sensitivity_of(domain, &line) * domain->rows_per_unit, mu, times,
                                &line, err));
    /* At the greatest width, which is the most that it can be. */
    line.noise = clo_i_cross_deviation(&line) * CLO_CROSS_WIDEST * radius * radius;
    *out = line;
    return CLO_OK;
}

double clo_i_cross_deviation(const clo_line *line)
{
    return (double)line->scale / (double)R;
}

double clo_i_cross_square_deviation(const clo_line *line)
{
    return (double)line->scale / (double)clo_i_cross_moment_fields(line).square_unit;
}

double clo_i_cross_size_deviation(const clo_line *line)
{
    return (double)line->scale / (double)line->count_unit;
}

/* ---- what a record adds --------------------------------------------------------------------- */

/* Toward zero to a step of the grid, and into the ball: bases that are not quite orthonormal, or
 * not at all, must not matter. */
static double to_step(double products)
{
    const double step = trunc(products * 0x1p-20), most = (double)R;
    return step > most ? most : step < -most ? -most : step;
}

static uint64_t length_of(const double *vector, size_t count)
{
    double square = 0; /* of whole numbers below 2^53: exact in any order */
#pragma omp simd reduction(+ : square)
    for (size_t i = 0; i < count; i++) square += vector[i] * vector[i];
    return (uint64_t)ceil(sqrt(square));
}

/* A record, its products with the basis vectors of its subspace, and what both come to. */
typedef struct seen_record {
    const double *record, *products, *basis; /* cols; dim; dim x cols */
    double *inside, *outside;                /* scratch: dim, cols */
    size_t cols, dim;
} seen_record;

static void split_record(const seen_record *s)
{
    for (size_t j = 0; j < s->cols; j++) s->outside[j] = 0;
    for (size_t e = 0; e < s->dim; e++) {
        s->inside[e] = to_step(s->products[e]);
        for (size_t j = 0; j < s->cols; j++)
            s->outside[j] += s->basis[e * s->cols + j] * s->inside[e];
    }
    for (size_t j = 0; j < s->cols; j++)
        s->outside[j] = to_step(s->record[j] * (double)R - s->outside[j]);
}

/* cross_moment.T2.  sum: dim x cols moments, then that of the squares, then the size. */
static void add_record(const seen_record *s, uint64_t width, uint64_t reach, uint64_t square_unit,
                       double *sum)
{
    split_record(s);
    const uint64_t length = length_of(s->inside, s->dim) * length_of(s->outside, s->cols);
    const uint64_t divisor = length > width * R ? length : width * R;
    for (size_t e = 0; e < s->dim; e++) {
        const int64_t grown = (int64_t)s->inside[e] * ((int64_t)1 << (BITS + FRACTION_BITS));
        const double factor = (double)(grown / (int64_t)divisor);
#pragma omp simd
        for (size_t j = 0; j < s->cols; j++)
            sum[e * s->cols + j] += (double)(int32_t)(s->outside[j] * factor * 0x1p-22);
    }
    const uint64_t steps = length >> BITS, cut = steps < reach ? steps : reach;
    sum[s->cols * s->dim] += (double)(cut * cut * square_unit / (reach * reach));
    sum[s->cols * s->dim + 1] += 1;
}

typedef struct work {
    double *scores;   /* a thread: block_rows x (clusters * dim) */
    uint32_t *labels; /* a thread: block_rows */
    double *split;    /* a thread: dim + cols */
    double *sums;     /* a thread: clusters x (dim * cols + 2): moments, squares, size */
} work;
CLO_FOLD_WORK_OF(work)

static size_t numbers_each(const clo_line *line)
{
    return line->cols * (size_t)clo_i_cross_moment_fields(line).dim + 2;
}

static clo_status add_block(void *user, int thread, size_t block, const double *values, size_t rows)
{
    clo_fold *const fold = user;
    const work *const w = work_of(fold);
    const clo_assign *const rule = fold->ask->rules;
    const uint64_t *const widths = fold->ask->words, *const reaches = widths + fold->line->groups;
    const uint64_t square_unit = clo_i_cross_moment_fields(fold->line).square_unit;
    const size_t cols = fold->seen, k = fold->line->groups, q = rule->dim, t = (size_t)thread;
    const size_t each = numbers_each(fold->line);
    double *const scores = w->scores + t * fold->block_rows * k * q;
    uint32_t *const labels = w->labels + t * fold->block_rows;
    double *const split = w->split + t * (q + cols);
    (void)block;
    clo_i_assign_rows(rule, values, rows, scores, labels);
    for (size_t i = 0; i < rows; i++) {
        const size_t c = labels[i];
        const seen_record seen = { .record = values + i * cols,
                                   .products = scores + (i * k + c) * q,
                                   .basis = rule->points + c * q * cols,
                                   .inside = split,
                                   .outside = split + q,
                                   .cols = cols,
                                   .dim = q };
        add_record(&seen, widths[c], reaches[c], square_unit, w->sums + (t * k + c) * each);
    }
    return CLO_OK;
}

/* ---- asking --------------------------------------------------------------------------------- */

static size_t entries(const clo_line *line, size_t cols, const clo_ask *ask)
{
    (void)cols, (void)ask;
    return line->groups * numbers_each(line);
}

static clo_status check(const clo_ask *ask, size_t cols, clo_error *err)
{
    const clo_line *const line = ask->line;
    (void)cols;
    if (ask->rule_count == 1 && ask->rules->kind == CLO_ASSIGN_SUBSPACES &&
        clo_i_assign_fits(ask->rules, line->groups, line->cols, line->bits) &&
        ask->rules->dim == clo_i_cross_moment_fields(line).dim && clo_i_views_fit(ask, WIDEST))
        return CLO_OK;
    return clo_i_fail(err, CLO_INTERNAL, "the subspaces are not those of the plan");
}

static clo_status lay_out(clo_fold *fold, clo_workspace *space, clo_error *err)
{
    const size_t threads = (size_t)fold->threads, k = fold->line->groups;
    const size_t q = (size_t)clo_i_cross_moment_fields(fold->line).dim;
    const size_t rows = threads * fold->block_rows;
    work *const w = work_of(fold);
    CLO_TRY(clo_i_take(space, rows * k * q, sizeof(double), &w->scores, err));
    CLO_TRY(clo_i_take(space, rows, sizeof(uint32_t), &w->labels, err));
    CLO_TRY(clo_i_take(space, threads * (q + fold->seen), sizeof(double), &w->split, err));
    return clo_i_take(space, threads * k * numbers_each(fold->line), sizeof(double), &w->sums, err);
}

static void gather(clo_fold *fold)
{
    clo_i_gather_groups(fold, work_of(fold)->sums);
}

static uint64_t square_unit_of(const clo_line *line)
{
    return clo_i_cross_moment_fields(line).square_unit;
}

clo_status clo_i_ask_cross_moment(clo_context *context, size_t number, const clo_bounded *data,
                                  const clo_assign *rule, const clo_cross_view *views,
                                  clo_cross_moments *out, clo_error *err)
{
    const clo_viewer viewer = { &clo_i_query_cross_moment, BITS, WIDEST, square_unit_of };
    const clo_view_sums told = { out->moments, out->squares, out->sizes };
    return clo_i_ask_views(context, number, &viewer, data, rule, views, told, NULL, err);
}

const clo_query clo_i_query_cross_moment = {
    .name = "cross_moment",
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
