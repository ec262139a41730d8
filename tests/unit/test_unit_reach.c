/*
 * What a unit of M rows really does to the answer of each query (bound.T3 and the T1 of each
 * query): the query is asked twice with the same seed, with the unit's rows and without them or
 * with others in their place, so that the noise cancels and the difference is that of the exact
 * integers.  It is no longer than the line's sensitivity, and for the worst rows as long.
 *
 * And the noise of an ask is that of its line alone: data that were bounded for units of another
 * size, or under another relation, get the same answer to the bit.
 *
 * One row for each query of the table, asked for by name: a new query does not compile without.
 */
#include "pipeline.h"
#include "query/aggregate.h"
#include "query/assign.h"
#include "query/cell_counts.h"
#include "query/choose_centers.h"
#include "query/choose_flats.h"
#include "query/count.h"
#include "query/gapmax.h"
#include "query/gaussian_gram.h"
#include "query/gaussian_moment.h"
#include "query/gaussian_moment3.h"
#include "query/gaussian_step.h"
#include "query/gaussian_sum.h"
#include "query/gibbs.h"
#include "query/gibbs_parts.h"
#include "query/histogram.h"
#include "query/laplace_sum.h"
#include "query/cross_moment.h"
#include "query/local_gram.h"
#include "query/local_sum.h"
#include "query/partition.h"
#include "query/peel.h"
#include "query/quantile.h"
#include "query/seed.h"
#include "query/sparse_sum.h"
#include "line_oracle.h"
#include "query_kinds.h"
#include "parallel/parallel.h"

enum { D = 3, MOST_ROWS = 64, MOST_TOLD = 256, FEW = 6, ROUNDS = D };
static const double SHARE = 0.5; /* of the traces that are left out of fourth moments */

typedef struct world {
    double rows[MOST_ROWS * D];
    uint64_t units[MOST_ROWS];
    size_t count;
} world;

typedef struct told {
    double values[MOST_TOLD];
    size_t count;
} told;

static void listen(void *user, const char *query, const double *values, size_t count)
{
    told *const t = user;
    (void)query;
    assert_true(t->count + count <= MOST_TOLD);
    memcpy(t->values + t->count, values, count * sizeof *values);
    t->count += count;
}

/* ---- a line and an ask of each query --------------------------------------------------------- */

typedef struct question {
    clo_context *context;
    const clo_bounded *data;
    clo_error *err;
} question;

static clo_assign two_sides(const question *q, int bits)
{
    static const double sides[2 * D] = { 0.9, 0, 0, -0.9, 0, 0 };
    clo_assign rule;
    assert_ok(clo_i_assign_centers(q->context->workspace, sides, 2, D, bits, &rule, q->err),
              *q->err);
    return rule;
}

static const clo_assign everyone = { .kind = CLO_ASSIGN_ONE, .clusters = 1 };

static clo_status plan_gaussian_sum(const clo_domain *domain, clo_line *out, clo_error *err)
{
    return clo_i_plan_gaussian_sum(domain, 1, 1, 1, "", out, err);
}

static clo_status ask_gaussian_sum(const question *q)
{
    double sums[D], count;
    return clo_i_ask_gaussian_sum(q->context, 0, q->data, &everyone, sums, &count, q->err);
}

static clo_status plan_laplace_sum(const clo_domain *domain, clo_line *out, clo_error *err)
{
    return clo_i_plan_laplace_sum(domain, 2, 1, 1, "", out, err);
}

static clo_status ask_laplace_sum(const question *q)
{
    const clo_assign rule = two_sides(q, 20);
    double sums[2 * D], counts[2];
    return clo_i_ask_laplace_sum(q->context, 0, q->data, &rule, sums, counts, q->err);
}

static clo_status plan_sparse_sum(const clo_domain *domain, clo_line *out, clo_error *err)
{
    return clo_i_plan_sparse_sum(domain, D, 2, 0, CLO_EVENT_PURE, 1, "", out, err);
}

static clo_status ask_sparse_sum(const question *q)
{
    const clo_assign rule = two_sides(q, 20);
    double sums[2 * D], counts[2];
    return clo_i_ask_sparse_sum(q->context, 0, q->data, &rule, sums, counts, q->err);
}

/* So large a budget that the order of the columns is that of their sums. */
static clo_status plan_peel(const clo_domain *domain, clo_line *out, clo_error *err)
{
    return clo_i_plan_peel(domain, D, 2, 0, ROUNDS, 1e4, "", out, err);
}

static clo_status ask_peel(const question *q)
{
    const clo_assign rule = two_sides(q, 20);
    size_t columns[2 * ROUNDS];
    double values[2 * ROUNDS], counts[2];
    return clo_i_ask_peel(q->context, 0, q->data, &rule, columns, values, counts, q->err);
}

static clo_status plan_gaussian_step(const clo_domain *domain, clo_line *out, clo_error *err)
{
    return clo_i_plan_gaussian_step(domain, 1, 1, 1, "", out, err);
}

/* Sixteen steps of the grid wide. */
static clo_status ask_gaussian_step(const question *q)
{
    static const double origin[D];
    double pulls[D], stiffness, size;
    clo_steps steps = { pulls, &stiffness, &size };
    clo_assign rule;
    assert_ok(clo_i_assign_centers(q->context->workspace, origin, 1, D, 20, &rule, q->err),
              *q->err);
    return clo_i_ask_gaussian_step(q->context, 0, q->data, &rule, 0x1p-16, &steps, q->err);
}

static clo_status plan_local_sum(const clo_domain *domain, clo_line *out, clo_error *err)
{
    return clo_i_plan_local_sum(domain, 1, CLO_EVENT_GAUSSIAN, 1, 1, "", out, err);
}

/* Sixteen steps of the grid wide, with a reach of half of the ball. */
static clo_status ask_local_sum(const question *q)
{
    static const double origin[D];
    static const clo_local_view view = { 0x1p-16, 0.5 };
    double sums[D], square, size;
    clo_local_sums out = { sums, &square, &size };
    clo_assign rule;
    assert_ok(clo_i_assign_centers(q->context->workspace, origin, 1, D, 20, &rule, q->err),
              *q->err);
    return clo_i_ask_local_sum(q->context, 0, q->data, &rule, &view, &out, q->err);
}

static clo_status plan_local_gram(const clo_domain *domain, clo_line *out, clo_error *err)
{
    return clo_i_plan_local_gram(domain, 1, 1, "", out, err);
}

static clo_status ask_local_gram(const question *q)
{
    static const double origin[D];
    double gram[D * D];
    return clo_i_ask_local_gram(q->context, 0, q->data, origin, 0x1p-16, gram, q->err);
}

static clo_status plan_cross_moment(const clo_domain *domain, clo_line *out, clo_error *err)
{
    return clo_i_plan_cross_moment(domain, 1, 1, 1, 1, "", out, err);
}

/* Sixteen steps of the grid wide, with a reach of nearly all there is, about the first axis. */
static clo_status ask_cross_moment(const question *q)
{
    static const double axis[D] = { 1 };
    static const clo_cross_view view = { 0x1p-16, 0.4375 };
    double moments[D], square, size;
    clo_cross_moments out = { moments, &square, &size };
    clo_assign rule;
    assert_ok(clo_i_assign_subspaces(q->context->workspace, axis, 1, D, 1, 20, &rule, q->err),
              *q->err);
    return clo_i_ask_cross_moment(q->context, 0, q->data, &rule, &view, &out, q->err);
}

static clo_status plan_gaussian_gram(const clo_domain *domain, clo_line *out, clo_error *err)
{
    return clo_i_plan_gaussian_gram(domain, 1, 1, 1, "", out, err);
}

static clo_status ask_gaussian_gram(const question *q)
{
    double gram[D * D];
    return clo_i_ask_gaussian_gram(q->context, 0, q->data, &everyone, gram, q->err);
}

static clo_status plan_gaussian_moment(const clo_domain *domain, clo_line *out, clo_error *err)
{
    return clo_i_plan_even_moment(domain, SHARE, 1, 1, "", out, err);
}

static clo_status ask_gaussian_moment(const question *q)
{
    double moments[MOST_TOLD];
    return clo_i_ask_gaussian_moment(q->context, 0, q->data, moments, q->err);
}

static clo_status plan_gaussian_moment3(const clo_domain *domain, clo_line *out, clo_error *err)
{
    return clo_i_plan_gaussian_moment3(domain, 0, 1, 1, "", out, err);
}

static clo_status ask_gaussian_moment3(const question *q)
{
    double moments[MOST_TOLD];
    return clo_i_ask_gaussian_moment3(q->context, 0, q->data, moments, q->err);
}

static clo_status plan_count(const clo_domain *domain, clo_line *out, clo_error *err)
{
    return clo_i_plan_count(domain, 1, 1, "", out, err);
}

static clo_status ask_count(const question *q)
{
    double count;
    return clo_i_ask_count(q->context, 0, q->data, &count, q->err);
}

static clo_status plan_cell_counts(const clo_domain *domain, clo_line *out, clo_error *err)
{
    return clo_i_plan_cell_counts(domain, 2, CLO_EVENT_GAUSSIAN, 1, 1, "", out, err);
}

static clo_status ask_cell_counts(const question *q)
{
    double counts[1 << D];
    return clo_i_ask_cell_counts(q->context, 0, q->data, counts, q->err);
}

static clo_status plan_choose_flats(const clo_domain *domain, clo_line *out, clo_error *err)
{
    return clo_i_plan_choose_flats(domain, 2, 1, 1, 1, "", out, err);
}

static clo_status ask_choose_flats(const question *q)
{
    static const double axes[2][D] = { { 1, 0, 0 }, { 0, 1, 0 } };
    clo_assign rules[2];
    size_t chosen;
    for (size_t i = 0; i < 2; i++)
        assert_ok(
            clo_i_assign_subspaces(q->context->workspace, axes[i], 1, D, 1, 15, &rules[i], q->err),
            *q->err);
    return clo_i_ask_choose_flats(q->context, 0, q->data, rules, &chosen, q->err);
}

static clo_status plan_seed(const clo_domain *domain, clo_line *out, clo_error *err)
{
    return clo_i_plan_seed(domain, 2, 1, 1, 1, "", out, err);
}

static clo_status ask_seed(const question *q)
{
    const clo_assign cells = two_sides(q, 20);
    const bool taken[2] = { false, false };
    size_t chosen;
    return clo_i_ask_seed(q->context, 0, q->data, &cells, NULL, taken, &chosen, q->err);
}

static clo_status plan_choose_centers(const clo_domain *domain, clo_line *out, clo_error *err)
{
    const clo_center_choice how = {
        .candidates = 2, .clusters = 1, .loss = CLO_LOSS_SQUARED, .reach = 2
    };
    return clo_i_plan_choose_centers(domain, &how, 1, 1, "", out, err);
}

static clo_status ask_choose_centers(const question *q)
{
    static const double points[2 * D] = { 1, 0, 0, -1, 0, 0 };
    const clo_candidates candidates = { points, 2 };
    size_t set = 0;
    return clo_i_ask_swaps(q->context, 0, q->data, &candidates, 1, 1, &set, q->err);
}

static clo_status plan_partition(const clo_domain *domain, clo_line *out, clo_error *err)
{
    const clo_cube_tree how = { .levels = 2, .trees = 1, .most = 8 };
    return clo_i_plan_partition(domain, &how, 1, "", out, err);
}

static clo_status ask_partition(const question *q)
{
    double centers[8 * D];
    clo_cubes cubes = { .centers = centers };
    const clo_status status = clo_i_ask_partition(q->context, 0, q->data, &cubes, q->err);
    listen(q->context->user, "", centers, cubes.count * D);
    return status;
}

static clo_status first_row(void *user, const clo_block *block, double *center, clo_error *err)
{
    (void)user;
    (void)err;
    for (size_t j = 0; j < D; j++) center[j] = block->count ? block->rows[j] : 0;
    return CLO_OK;
}

/* So many blocks that the noise follows the solutions, for units of three rows, too. */
static clo_status plan_aggregate(const clo_domain *domain, clo_line *out, clo_error *err)
{
    return clo_i_plan_aggregate_centers(domain, 1, 200, (clo_loss){ 8, 1e-6 }, "", out, err);
}

static clo_status ask_aggregate(const question *q)
{
    double center[D];
    return clo_i_ask_aggregate(q->context, 0, q->data, first_row, NULL, center, q->err);
}

static clo_status name_size(void *user, size_t part, const clo_block *block, int64_t *place,
                            clo_error *err)
{
    (void)user;
    (void)part;
    (void)err;
    place[0] = block->count;
    return block->count ? CLO_OK : CLO_FORMAT; /* no rows, no cell */
}

static clo_status plan_histogram(const clo_domain *domain, clo_line *out, clo_error *err)
{
    return clo_i_plan_histogram(domain, 1, 1, 40, (clo_loss){ 8, 0.01 }, "", out, err);
}

static clo_status ask_histogram(const question *q)
{
    int64_t place;
    clo_cell cell = { .place = &place };
    return clo_i_ask_histogram(q->context, 0, q->data, name_size, NULL, NULL, 0, &cell, q->err);
}

static clo_status plan_quantile(const clo_domain *domain, clo_line *out, clo_error *err)
{
    static const clo_quantile how = { 2, 1, 0.75 };
    return clo_i_plan_quantile(domain, &how, 1, 1, "", out, err);
}

static clo_status ask_quantile(const question *q)
{
    static const int64_t thresholds[] = { 0, 1 << 30 };
    size_t chosen;
    return clo_i_ask_quantile(q->context, 0, q->data, 0, thresholds, &chosen, q->err);
}

static const clo_gibbs one_draw = { .clusters = 1, .dim = 1, .sweeps = 1, .steps = true };

static clo_status plan_gibbs(const clo_domain *domain, clo_line *out, clo_error *err)
{
    return clo_i_plan_gibbs(domain, &one_draw, 1, clo_i_gibbs_charges(&one_draw, D), "", out, err);
}

static clo_status ask_gibbs(const question *q)
{
    double basis[D];
    return clo_i_ask_gibbs(q->context, 0, q->data, &one_draw, basis, NULL, q->err);
}

static const clo_gapmax on_a_line = { .dim = 1, .scale = 3, .share = 0.1 };

static clo_status plan_gapmax(const clo_domain *domain, clo_line *out, clo_error *err)
{
    return clo_i_plan_gapmax(domain, &on_a_line, (clo_loss){ 4, 0.01 }, "", out, err);
}

static clo_status ask_gapmax(const question *q)
{
    int64_t numerators[D], denominators[D];
    bool found;
    return clo_i_ask_gapmax(q->context, 0, q->data, &on_a_line, &found, numerators, denominators,
                            q->err);
}

typedef struct query_row {
    clo_status (*plan)(const clo_domain *domain, clo_line *out, clo_error *err);
    clo_status (*ask)(const question *q);
} query_row;

static const query_row queries[KINDS] = {
#define QUERY(name) [KIND_##name] = { plan_##name, ask_##name },
#include "query/table.def"
#undef QUERY
};

/* ---- asking ---------------------------------------------------------------------------------- */

static clo_domain domain_for(clo_relation relation, uint64_t rows, const char *unit)
{
    clo_domain domain = ball(D, 1, relation);
    domain.rows_per_unit = rows;
    domain.unit = unit;
    return domain;
}

static clo_bounded *bounded_world(const world *w, const clo_domain *domain)
{
    return domain->unit ? bounded_from_units(w->rows, w->units, w->count, domain)
                        : bounded_from(w->rows, w->count, domain);
}

static told answer_of(query_kind kind, const clo_line *line, const clo_bounded *data,
                      const char *seed)
{
    clo_meter meter = { .lines = line, .count = 1 };
    told heard = { .count = 0 };
    clo_error err;
    clo_context context = { .rng = seeded(seed),
                            .comm = clo_i_comm_self(),
                            .threads = 1,
                            .progress_to = 1,
                            .answer = listen,
                            .user = &heard,
                            .meter = &meter };
    const question q = { &context, data, &err };
    assert_ok(clo_workspace_new(1 << 22, &context.workspace, &err), err);
    assert_ok(queries[kind].ask(&q), err);
    clo_workspace_free(context.workspace);
    clo_rng_free(context.rng);
    return heard;
}

static void add_rows(world *w, size_t count, const double row[D], uint64_t unit)
{
    for (size_t i = 0; i < count; i++, w->count++) {
        memcpy(w->rows + w->count * D, row, D * sizeof *row);
        w->units[w->count] = unit;
    }
}

/* A few people of one row each, who are there in every world. */
static void add_others(world *w)
{
    for (size_t i = 0; i < FEW; i++) {
        const double row[D] = { 0.3, 0.1 * (double)(i % 2), 0 };
        add_rows(w, 1, row, 1000 + i);
    }
}

/* ---- how far a unit moves the exact answer --------------------------------------------------- */

/* From the difference of two answers to the length that the line's sensitivity bounds. */
typedef double measure(const clo_line *line, const double *difference);

static double squares(const double *difference, size_t count, double unit)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += pow(difference[i] * unit, 2);
    return sum;
}

static double lengths(const double *difference, size_t count, double unit)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += fabs(difference[i] * unit);
    return sum;
}

static double of_sum(const clo_line *s, const double *x)
{
    return sqrt(squares(x, D, 0x1p20) + squares(x + D, 1, (double)s->count_unit));
}

static double of_two_sums(const clo_line *s, const double *x)
{
    return lengths(x, 2 * D, 0x1p20) + lengths(x + 2 * D, 2, (double)s->count_unit);
}

/* peel.T1: (1 + w) |x|_1 + T |x|_inf + w u, of each cluster.  All choices are told first. */
static double of_peel(const clo_line *s, const double *x)
{
    const clo_peel_part how = clo_i_peel_part(s);
    const double w = (double)how.weight, T = (double)how.rounds;
    double total = 0;
    x += 2 * ROUNDS;
    for (size_t c = 0; c < 2; c++) {
        double largest = 0;
        for (size_t t = 0; t < ROUNDS; t++) largest = fmax(largest, fabs(x[c * ROUNDS + t]));
        total += (1 + w) * lengths(x + c * ROUNDS, ROUNDS, 0x1p20) + T * largest * 0x1p20 +
                 w * lengths(x + 2 * ROUNDS + c, 1, (double)s->count_unit);
    }
    return total;
}

static double of_step(const clo_line *s, const double *x)
{
    return sqrt(squares(x, D, 0x1p20) + squares(x + D, 2, (double)s->count_unit));
}

static double of_local(const clo_line *s, const double *x)
{
    const double square_unit = (double)clo_i_local_sum_part(s).square_unit;
    return sqrt(squares(x, D, 0x1p20) + squares(x + D, 1, square_unit) +
                squares(x + D + 1, 1, (double)s->count_unit));
}

static double of_cross(const clo_line *s, const double *x)
{
    const double square_unit = (double)clo_i_cross_moment_part(s).square_unit;
    return sqrt(squares(x, D, 0x1p20) + squares(x + D, 1, square_unit) +
                squares(x + D + 1, 1, (double)s->count_unit));
}

static double of_gram(const clo_line *s, const double *x)
{
    (void)s;
    return sqrt(squares(x, D * D, 0x1p30));
}

static double of_local_gram(const clo_line *s, const double *x)
{
    (void)s;
    return sqrt(squares(x, D * D, 0x1p16));
}

/* Of each entry once, in the order of the tensor: how many orders its indices have. */
static double of_moment(const clo_line *s, const double *x)
{
    double sum = 0;
    (void)s;
    for (size_t i = 0; i < D; i++)
        for (size_t j = i; j < D; j++)
            for (size_t k = j; k < D; k++)
                for (size_t l = k; l < D; l++, x++) {
                    const size_t at[] = { i, j, k, l };
                    double orders = 24, run = 1;
                    for (size_t e = 1; e < 4; e++) {
                        run = at[e] == at[e - 1] ? run + 1 : 1;
                        orders /= run;
                    }
                    sum += orders * squares(x, 1, 3 * 0x1p30);
                }
    return sqrt(sum);
}

static double of_moment3(const clo_line *s, const double *x)
{
    double sum = 0;
    (void)s;
    for (size_t i = 0; i < D; i++)
        for (size_t j = i; j < D; j++)
            for (size_t k = j; k < D; k++, x++) {
                const double orders = i == j && j == k ? 1 : i == j || j == k ? 3 : 6;
                sum += orders * squares(x, 1, 3 * 0x1p30);
            }
    return sqrt(sum);
}

static double of_count(const clo_line *s, const double *x)
{
    return lengths(x, 1, (double)s->count_unit);
}

static double of_cells(const clo_line *s, const double *x)
{
    return sqrt(squares(x, 1 << D, (double)s->count_unit));
}

/* The worst rows: what the unit's are, and what they are replaced by (NULL: no row at all, which a
 * unit may have under replace, too). */
typedef struct worst {
    query_kind query;
    measure *length;
    double least; /* share of the sensitivity that they must reach */
    double old[D];
    bool gone;
    double other[D];
} worst;

#define DIAGONAL 0.57735026918962573
static const worst cases[] = {
    { KIND_gaussian_sum, of_sum, 0.999999, { 1, 0, 0 }, false, { -1, 0, 0 } },
    { KIND_laplace_sum,
      of_two_sums,
      0.99999,
      { DIAGONAL, DIAGONAL, DIAGONAL },
      false,
      { -DIAGONAL, -DIAGONAL, -DIAGONAL } },
    { KIND_sparse_sum,
      of_two_sums,
      0.99999,
      { DIAGONAL, DIAGONAL, DIAGONAL },
      false,
      { -DIAGONAL, -DIAGONAL, -DIAGONAL } },
    /* (T + 1 + w, 1 + w, 1 + w) with T = 3 and w = 1, of length 1 */
    { KIND_peel,
      of_peel,
      0.9999,
      { 0.87038828, 0.34815531, 0.34815531 },
      false,
      { -0.87038828, -0.34815531, -0.34815531 } },
    /* as far as the step is wide, and as far as can be */
    { KIND_gaussian_step, of_step, 0.9999, { 0x1p-16, 0, 0 }, false, { -1, 0, 0 } },
    /* as far as can be, and as far as the view is wide, which is next to no squared length */
    { KIND_local_sum, of_local, 0.9999, { -1, 0, 0 }, false, { 0x1p-16, 0, 0 } },
    /* halfway between the line and its complement; just beyond the width on the other side */
    { KIND_cross_moment,
      of_cross,
      0.9999,
      { 0.70710678, 0.70710678, 0 },
      false,
      { 0.70710678, -0x1p-15, 0 } },
    { KIND_gaussian_gram, of_gram, 0.999999, { 1, 0, 0 }, false, { 0, 1, 0 } },
    /* both far beyond the width */
    { KIND_local_gram, of_local_gram, 0.9999, { 1, 0, 0 }, false, { 0, 0.5, 0 } },
    /* cos^2 = 3 share (2 - share) / (d + 4) = 9/28: gaussian_moment.T3 */
    { KIND_gaussian_moment, of_moment, 0.998, { 1, 0, 0 }, false, { 0.56694671, 0.82375447, 0 } },
    { KIND_gaussian_moment3, of_moment3, 0.999999, { 1, 0, 0 }, false, { -1, 0, 0 } },
    { KIND_count, of_count, 1, { 1, 0, 0 }, true, { 0 } },
    { KIND_cell_counts, of_cells, 0.999999, { 0.5, 0.5, 0.5 }, false, { -0.5, 0.5, 0.5 } },
};

static double unit_reach(const worst *c, clo_relation relation, uint64_t rows, const clo_line *line)
{
    const clo_domain domain = domain_for(relation, rows, "person");
    told answers[2];
    for (int w = 0; w < 2; w++) {
        world here = { .count = 0 };
        add_others(&here);
        if (w == 0) add_rows(&here, rows, c->old, 7);
        if (w == 1 && relation == CLO_REPLACE && !c->gone) add_rows(&here, rows, c->other, 7);
        clo_bounded *const data = bounded_world(&here, &domain);
        answers[w] = answer_of(c->query, line, data, "reach");
        clo_bounded_free(data);
    }
    assert_int_equal(answers[0].count, answers[1].count);
    for (size_t i = 0; i < answers[0].count; i++) answers[0].values[i] -= answers[1].values[i];
    return c->length(line, answers[0].values);
}

static void a_unit_moves_an_answer_as_far_as_its_line_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int relation = CLO_REPLACE; relation <= CLO_ADD_REMOVE; relation++)
            for (uint64_t rows = 1; rows <= 3; rows++) {
                const clo_domain domain = domain_for((clo_relation)relation, rows, "person");
                clo_error err;
                clo_line line;
                assert_ok(queries[cases[i].query].plan(&domain, &line, &err), err);
                const double reach = unit_reach(&cases[i], (clo_relation)relation, rows, &line);
                const held l = { &line, (clo_relation)relation, rows, D, NAN };
                HOLDS(&l, reach <= (double)line.sensitivity + 1e-3);
                HOLDS(&l, reach >= cases[i].least * (double)line.sensitivity);
            }
}

/* gibbs.T1: with every record along the subspace a unit's part of the score is M, at the rate that
 * the chain runs at. */
static void a_unit_moves_the_law_of_a_chain_as_far_as_its_line_says(void **state)
{
    (void)state;
    for (int relation = CLO_REPLACE; relation <= CLO_ADD_REMOVE; relation++)
        for (uint64_t rows = 1; rows <= 3; rows++) {
            static const double along[D] = { 1, 0, 0 };
            const clo_domain domain = domain_for((clo_relation)relation, rows, "person");
            world here = { .count = 0 };
            clo_error err;
            clo_line line;
            assert_ok(plan_gibbs(&domain, &line, &err), err);
            add_rows(&here, rows, along, 7);
            clo_bounded *const data = bounded_world(&here, &domain);
            clo_context context = {
                .rng = seeded("chain"), .comm = clo_i_comm_self(), .threads = 1, .progress_to = 1
            };
            assert_ok(clo_workspace_new(1 << 20, &context.workspace, &err), err);
            clo_i_gibbs_chain chain = { 0 };
            assert_ok(clo_i_gibbs_new(&context, data, &line, &one_draw, &chain, &err), err);
            double energies[3], score = 0;
            clo_i_gibbs_project(&chain, along, energies);
            for (uint64_t i = 0; i < rows; i++) score += energies[i];
            assert_relatively_close(chain.rate * score * (relation == CLO_REPLACE ? 2 : 1),
                                    line.event.parameter, 1e-9);
            clo_i_gibbs_free(&chain);
            clo_workspace_free(context.workspace);
            clo_rng_free(context.rng);
            clo_bounded_free(data);
        }
}

/* --- noise is a matter of the line ------------------------------------------------------------ */

/* Of a choice, one answer says little: the answers of many seeds. */
enum { SEEDS = 24 };

static void answers_of(query_kind kind, const clo_line *line, const clo_domain *domain,
                       told out[SEEDS])
{
    world here = { .count = 0 };
    add_others(&here);
    clo_bounded *const data = bounded_world(&here, domain);
    for (int s = 0; s < SEEDS; s++) {
        char seed[32];
        snprintf(seed, sizeof seed, "line %d", s);
        out[s] = answer_of(kind, line, data, seed);
        assert_true(out[s].count > 0);
    }
    clo_bounded_free(data);
}

static bool same_answers(const told a[SEEDS], const told b[SEEDS])
{
    for (int s = 0; s < SEEDS; s++)
        if (a[s].count != b[s].count ||
            memcmp(a[s].values, b[s].values, a[s].count * sizeof *a[s].values) != 0)
            return false;
    return true;
}

/* gapmax is for rows alone. */
static clo_domain widest_domain(size_t kind, clo_relation relation)
{
    const bool rows_only = kind == KIND_gapmax;
    return domain_for(relation, rows_only ? 1 : 3, rows_only ? NULL : "person");
}

/* Units of a row each, or of three, no units at all, and the other relation. */
static void an_ask_takes_its_noise_from_its_line_alone(void **state)
{
    static told first[SEEDS], again[SEEDS];
    (void)state;
    for (size_t k = 0; k < KINDS; k++) {
        const clo_domain planned = widest_domain(k, CLO_ADD_REMOVE);
        const clo_domain others[] = { domain_for(CLO_ADD_REMOVE, 1, planned.unit),
                                      domain_for(CLO_ADD_REMOVE, 1, NULL),
                                      widest_domain(k, CLO_REPLACE) };
        clo_error err;
        clo_line line;
        assert_ok(queries[k].plan(&planned, &line, &err), err);
        answers_of((query_kind)k, &line, &planned, first);
        for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
            answers_of((query_kind)k, &line, &others[i], again);
            if (!same_answers(first, again))
                fail_msg("%s", clo_i_query_name(query_of((query_kind)k)));
        }
    }
}

/* ... and of the line from its scale, rates, threshold and floor, whose laws are tested for units
 * of one row: sensitivity and price are for the plan. An aggregate's noise follows how many blocks
 * may change (tests/unit/test_blocks.c). */
static void an_ask_does_not_look_at_sensitivity_and_price(void **state)
{
    static told first[SEEDS], again[SEEDS];
    (void)state;
    for (size_t k = 0; k < KINDS; k++) {
        const clo_domain domain = widest_domain(k, CLO_ADD_REMOVE);
        clo_error err;
        clo_line line;
        assert_ok(queries[k].plan(&domain, &line, &err), err);
        answers_of((query_kind)k, &line, &domain, first);
        for (uint64_t s = 1; s <= 5; s += 4) {
            line.event.parameter *= 3;
            line.event.delta /= 3;
            line.noise *= 3;
            if (k != KIND_aggregate) line.sensitivity = s == 1 ? 1 : s * line.sensitivity + 2;
            answers_of((query_kind)k, &line, &domain, again);
            if (!same_answers(first, again))
                fail_msg("%s", clo_i_query_name(query_of((query_kind)k)));
        }
        line.scale *= 3; /* the control: what it does look at */
        line.rate_numerator *= 3;
        if (k == KIND_seed) change_part(seed, &line, floor *= 3);
        if (k == KIND_quantile) { /* which few rows cannot tell otherwise */
            change_part(quantile, &line, floor = 0);
            change_part(quantile, &line, lead = 0);
        }
        if (k == KIND_aggregate) change_part(aggregate, &line, alpha *= 3);
        answers_of((query_kind)k, &line, &domain, again);
        if (same_answers(first, again))
            fail_msg("%s: no other noise", clo_i_query_name(query_of((query_kind)k)));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_unit_moves_an_answer_as_far_as_its_line_says),
        cmocka_unit_test(a_unit_moves_the_law_of_a_chain_as_far_as_its_line_says),
        cmocka_unit_test(an_ask_takes_its_noise_from_its_line_alone),
        cmocka_unit_test(an_ask_does_not_look_at_sensitivity_and_price),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
