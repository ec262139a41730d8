/* aggregate.h - what tests of every query know of it (query_kinds.h). */
#include "accounting/smooth.h"
#include "query/aggregate.h"

#ifdef QUERY_LAW /* the forms in which its noise is looked at */

enum { BLOCKS = 9 };

/* All blocks agree: t_0 = 6, and the first t beyond nine blocks is 10 = t_0 + 4, after three steps;
 * so that the noise has this deviation, of a coordinate (as in test_aggregate.c). */
static inline int noised_bits(const noisy *n)
{
    return (int)clo_i_aggregate_fields(&n->line).grid_bits;
}

static inline void set_deviation(noisy *n, double diameter, double deviation)
{
    const double beta = 1.5;
    change_fields(aggregate, &n->line, beta = beta);
    change_fields(aggregate, &n->line, alpha = 2 * diameter * exp(-beta * 3 / 2) / deviation);
    n->scales[0] = ldexp(deviation, noised_bits(n)) + 0x1p24;
}

static inline clo_status known_centers(void *user, const clo_block *block, double *centers,
                                       clo_error *err)
{
    for (size_t c = 0; c < CLUSTERS; c++)
        for (size_t j = 0; j < block->cols; j++)
            centers[c * block->cols + j] = j == 0 ? 0.5 * (double)c - 0.5 : 0;
    return CLO_OK;
}

/* In the order of their first columns, which noise does not change; and all inside of the ball. */
static inline void prepare_centers(noisy *n)
{
    clo_error err;
    n->domain = ball(n->form->cols, 1, CLO_REPLACE);
    assert_ok(clo_i_plan_aggregate_centers(&n->domain, CLUSTERS, BLOCKS, (clo_loss){ 12, 1e-5 }, "",
                                           &n->line, &err),
              err);
    noisy_room(n, CLUSTERS * n->form->cols, n->form->asks, BLOCKS);
    noisy_by_cluster(n, n->form->cols, 0);
    set_deviation(n, 2 * sqrt(CLUSTERS), 0x1p-8);
    for (size_t c = 0; c < CLUSTERS; c++)
        n->truth[c * n->form->cols] = ldexp(0.5 * (double)c - 0.5, noised_bits(n));
}

static inline void ask_centers(noisy *n, double *residual)
{
    clo_error err;
    assert_ok(
        clo_i_ask_aggregate(&n->a.context, n->number, n->data, known_centers, NULL, n->sums, &err),
        err);
    for (size_t i = 0; i < n->numbers; i++)
        residual[i] = ldexp(n->sums[i], noised_bits(n)) - n->truth[i];
}

enum { LINE_COLS = 24 };

static inline clo_status known_lines(void *user, const clo_block *block, double *bases,
                                     clo_error *err)
{
    for (size_t c = 0; c < CLUSTERS; c++)
        for (size_t j = 0; j < LINE_COLS; j++) bases[c * LINE_COLS + j] = j == c * 8;
    return CLO_OK;
}

/* Lines along axes: of the noise, what lies across a line can be seen of it, all but exactly. */
static inline void prepare_lines(noisy *n)
{
    clo_error err;
    n->domain = ball(LINE_COLS, 1, CLO_REPLACE);
    assert_ok(clo_i_plan_aggregate(&n->domain, CLUSTERS, 1, BLOCKS, (clo_loss){ 12, 1e-5 }, "",
                                   &n->line, &err),
              err);
    noisy_room(n, CLUSTERS * (LINE_COLS - 1), n->form->asks, BLOCKS);
    noisy_by_cluster(n, LINE_COLS - 1, 0);
    set_deviation(n, sqrt(2 * CLUSTERS), 0x1p-12);
}

static inline void ask_lines(noisy *n, double *residual)
{
    clo_error err;
    assert_ok(
        clo_i_ask_aggregate(&n->a.context, n->number, n->data, known_lines, NULL, n->sums, &err),
        err);
    for (size_t c = 0; c < CLUSTERS; c++) {
        const size_t axis = c * 8;
        size_t at = c * (LINE_COLS - 1), told = 0;
        while (fabs(n->sums[told * LINE_COLS + axis]) < 0.9) told++;
        assert_true(told < CLUSTERS);
        for (size_t j = 0; j < LINE_COLS; j++)
            if (j != axis)
                residual[at++] =
                    ldexp(n->sums[told * LINE_COLS + j] / n->sums[told * LINE_COLS + axis],
                          noised_bits(n));
    }
}

static const noisy_form forms_aggregate[] = {
    { "centres", prepare_centers, ask_centers, 0, 24, 3, 2775, NULL },
    { "lines", prepare_lines, ask_lines, COARSE, 512, 3, 0, NULL },
    { 0 },
};

#endif

#ifdef QUERY_ORACLE /* what its lines must be, by the proof */

static inline long double normal_below(long double z)
{
    return erfcl(-z / sqrtl(2)) / 2;
}

/* As many solutions change as a unit has rows.  They are averaged where enough agree; where there
 * are too few, the noise is that of the whole space, at a scale which is no secret. */
/* The scale is rounded to a whole number, of 2^24 at least, which the bound's beta must leave room
 * for (aggregate.T4). */
static inline void leaves_room_for_rounding(const held *l)
{
    const clo_line *const s = l->line;
    const size_t q = clo_i_aggregate_fields(s).dim, rest = s->cols - q;
    const size_t each = q == 0 ? 1 : q < rest ? q : rest;
    clo_smooth whole;
    clo_error err;
    assert_ok(clo_i_smooth_calibrate(s->event.parameter, s->event.delta, s->groups * s->cols * each,
                                     &whole, &err),
              err);
    HOLDS(l, clo_i_aggregate_fields(s).beta <= whole.beta - 0x1p-24);
}

static inline void line_aggregate(const held *l)
{
    const clo_line *const s = l->line;
    const double m = (double)clo_i_aggregate_fields(s).blocks, changed = (double)l->rows,
                 middle = ceil((m + changed) / 2) + 1;
    const double epsilon = s->event.parameter;
    HOLDS(l, s->event.kind == CLO_EVENT_APPROXIMATE);
    HOLDS(l, s->sensitivity == l->rows);
    HOLDS(l, clo_i_aggregate_fields(s).alpha > 0 && clo_i_aggregate_fields(s).beta >= 0);
    if (clo_i_aggregate_fields(s).beta > 0) {
        leaves_room_for_rounding(l);
        HOLDS(l, middle <= m && middle >= 2 * changed);
        HOLDS(l, (1 + changed / middle) / (1 - changed / (2 * middle)) <=
                     exp(clo_i_aggregate_fields(s).beta / 2));
    } else {
        const long double a = clo_i_aggregate_fields(s).alpha, e = epsilon;
        HOLDS(l, normal_below(a / 2 - e / a) - expl(e) * normal_below(-a / 2 - e / a) <=
                     s->event.delta * (1 + 1e-6L));
    }
}

#endif

#ifdef QUERY_LINES /* lines of it, by the number of a variant */

/* Its calibration takes a while, and does not look at the domain: two columns are enough. */
static bool make_aggregate(const clo_domain *domain, size_t variant, clo_line *out, double *asked)
{
    const size_t blocks[] = { 121, 2000 };
    const clo_loss loss = { 4, 1e-6 };
    clo_error err;
    if (variant >= COUNT(blocks) || domain->cols != 2 || domain->lower || domain->rows_per_unit > 7)
        return false;
    *asked = loss.epsilon;
    made(variant ? clo_i_plan_aggregate(domain, 1, 1, blocks[variant], loss, "", out, &err)
                 : clo_i_plan_aggregate_centers(domain, 1, blocks[variant], loss, "", out, &err),
         &err);
    out->event.count = TIMES; /* it is asked once; as the others are checked */
    assert_true(out->event.parameter == loss.epsilon && out->event.delta == loss.delta);
    return true;
}

#endif

#ifdef QUERY_REACH /* how far the worst rows of a unit move its answer */

static clo_status first_row(void *user, const clo_block *block, double *center, clo_error *err)
{
    (void)user;
    (void)err;
    for (size_t j = 0; j < D; j++) center[j] = block->count ? block->rows[j] : 0;
    return CLO_OK;
}

/* So many blocks that the noise follows the solutions, for units of three rows, too. */
static clo_status reach_line_aggregate(const clo_domain *domain, clo_line *out, clo_error *err)
{
    return clo_i_plan_aggregate_centers(domain, 1, 200, (clo_loss){ 8, 1e-6 }, "", out, err);
}

static clo_status reach_ask_aggregate(const question *q)
{
    double center[D];
    return clo_i_ask_aggregate(q->context, 0, q->data, first_row, NULL, center, q->err);
}

static void other_noise_of_aggregate(clo_line *line)
{
    change_fields(aggregate, line, alpha *= 3);
}

static const reach reach_aggregate = {
    .plan = reach_line_aggregate,
    .ask = reach_ask_aggregate,
    .held_by = "blocks: test_largest_change.c",
    .other_noise = other_noise_of_aggregate,
    .noise_by_sensitivity = true,
};

#endif

#ifdef QUERY_CHANGE /* a search among small data for the largest change */

static const probe probe_aggregate = { .held_by = "blocks, below" };

#endif

#ifdef QUERY_SUMS /* asks of it, for what travels as bytes */

static inline void add_aggregate(sum_asks *a)
{
    (void)a; /* it does not add up */
}

#endif

#ifdef QUERY_UNIT /* which power of the radius its noise is told in; -1: it has no unit */

enum { unit_aggregate = -1 };

#endif
