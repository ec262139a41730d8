/* cross_moment.h - what tests of every query know of it (query_kinds.h). */
#include "query/cross_moment.h"

#ifdef QUERY_LAW /* the forms in which its noise is looked at */

/* Records on their lines: no residual, no length, and a size of one each. */
static inline void prepare_cross(noisy *n)
{
    clo_error err;
    n->domain = ball(n->form->cols, 1, CLO_REPLACE);
    assert_ok(clo_i_plan_cross_moment(&n->domain, n->form->clusters, 1, 0x1p21 / WIDE, 1, "",
                                      &n->line, &err),
              err);
    const size_t d = n->domain.cols, width = d + 2;
    noisy_room(n, n->line.groups * width, n->form->asks, SUM_ROWS);
    noisy_clusters(n, 0);
    noisy_by_cluster(n, width, 2);
    for (size_t c = 0; c < n->line.groups; c++) n->class_of[c * width + width - 1] = 2;
    for (size_t i = 0; i < n->rows; i++)
        n->truth[i % CLUSTERS * width + d + 1] += (double)n->line.count_unit;
    for (size_t c = 0; c < 3; c++) n->scales[c] = (double)n->line.scale;
}

/* The lines through the centres, which are half as long as a basis vector. */
static inline void ask_cross_moment(noisy *n, double *residual)
{
    clo_workspace *const space = n->a.context.workspace;
    const size_t d = n->domain.cols, k = n->line.groups, width = d + 2;
    const size_t mark = clo_i_workspace_mark(space);
    double *const squares = n->sizes + n->numbers, *const bases = n->sums + n->numbers;
    const double square_unit = (double)clo_i_cross_moment_fields(&n->line).square_unit;
    clo_cross_moments moments = { n->sums, squares, n->sizes };
    clo_cross_view views[CLO_MAX_CLUSTERS];
    clo_assign rule;
    clo_error err;
    for (size_t i = 0; i < k * d; i++) bases[i] = 2 * n->centers[i];
    for (size_t c = 0; c < k; c++) views[c] = (clo_cross_view){ 0.25, 0.5 };
    assert_ok(clo_i_assign_subspaces(space, bases, k, d, 1, n->line.bits, &rule, &err), err);
    assert_ok(
        clo_i_ask_cross_moment(&n->a.context, n->number, n->data, &rule, views, &moments, &err),
        err);
    for (size_t i = 0; i < n->numbers; i++) {
        const size_t c = i / width, j = i % width;
        residual[i] = (j < d    ? ldexp(n->sums[c * d + j], n->line.bits)
                       : j == d ? squares[c] * square_unit
                                : n->sizes[c] * (double)n->line.count_unit) -
                      n->truth[i];
    }
    clo_i_workspace_release(space, mark);
}

static const noisy_form forms_cross_moment[] = {
    { "columns", prepare_cross, ask_cross_moment, 0, 40, 9, 924, NULL },
    { "clusters", prepare_cross, ask_cross_moment, 0, 40, 683, 11, NULL },
    { "lens", prepare_cross, ask_cross_moment, LENS, 24, 683, 11, NULL },
    { 0 },
};

#endif

#ifdef QUERY_ORACLE /* what its lines must be, by the proof */

/* (V, t, u) with |V| <= R in the Frobenius norm and 0 <= t <= Q: at the same coordinates the
 * residual may be turned round, which leaves the length and the size. */
static inline void line_cross_moment(const held *l)
{
    const u128 R = power_of_two(l->line->bits), u = l->line->count_unit;
    const u128 q = clo_i_cross_moment_fields(l->line).square_unit, gone = R * R + q * q + u * u;
    HOLDS(l, u == (replaces(l) ? R / 8 * 7 : R * 2 / 5));
    HOLDS(l, q == (replaces(l) ? R / 2 : R / 4));
    HOLDS(l, clo_i_cross_moment_fields(l->line).dim >= 1);
    HOLDS(l, clo_i_cross_moment_fields(l->line).dim <= l->line->cols);
    moves(l, replaces(l) ? larger(4 * R * R + q * q, 2 * gone) : gone);
    priced_by_scale(l, CLO_EVENT_GAUSSIAN);
}

#endif

#ifdef QUERY_LINES /* lines of it, by the number of a variant */

static bool make_cross_moment(const clo_domain *domain, size_t variant, clo_line *out,
                              double *asked)
{
    clo_error err;
    if (variant >= 12) return false;
    *asked = mus[variant / 4];
    return made(clo_i_plan_cross_moment(domain, 1 + 3 * (variant / 2 % 2),
                                        variant % 2 ? domain->cols : 1, *asked, TIMES, "", out,
                                        &err),
                &err);
}

#endif

#ifdef QUERY_REACH /* how far the worst rows of a unit move its answer */

static clo_status reach_line_cross_moment(const clo_domain *domain, clo_line *out, clo_error *err)
{
    return clo_i_plan_cross_moment(domain, 1, 1, 1, 1, "", out, err);
}

/* Sixteen steps of the grid wide, with a reach of nearly all there is, about the first axis. */
static clo_status reach_ask_cross_moment(const question *q)
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

static double of_cross(const clo_line *s, const double *x)
{
    const double square_unit = (double)clo_i_cross_moment_fields(s).square_unit;
    return sqrt(squares(x, D, 0x1p20) + squares(x + D, 1, square_unit) +
                squares(x + D + 1, 1, (double)s->count_unit));
}

/* halfway between the line and its complement; just beyond the width on the other side */
static const reach reach_cross_moment = {
    .plan = reach_line_cross_moment,
    .ask = reach_ask_cross_moment,
    .length = of_cross,
    .least = 0.9999,
    .old = { 0.70710678, 0.70710678, 0 },
    .other = { 0.70710678, -0x1p-15, 0 },
};

#endif

#ifdef QUERY_CHANGE /* a search among small data for the largest change */

/* Lines, or planes where there is room for a residual; at once along an axis and across. */
static bool change_line_cross_moment(const clo_domain *domain, size_t v, clo_line *out)
{
    clo_error err;
    if (v >= 4 * WIDTHS) return false;
    const size_t dim = v % 2 && domain->cols > 2 ? 2 : 1;
    return made(clo_i_plan_cross_moment(domain, 1 + v / 2 % 2, dim, 1, 1, "", out, &err), &err);
}

static clo_status change_ask_cross_moment(const question *q)
{
    const size_t d = q->domain->cols, k = 1 + q->variant / 2 % 2;
    const size_t dim = q->variant % 2 && d > 2 ? 2 : 1, w = q->variant / 4;
    const double h = d > 1 ? sqrt(0.5) : 1;
    double bases[2 * 2 * COLS] = { 0 }, moments[2 * 2 * COLS], squares[2], sizes[2];
    clo_cross_moments out = { moments, squares, sizes };
    const clo_cross_view one = { STEPS[w] * STEP, STEPS[WIDTHS - 1 - w] * STEP };
    const clo_cross_view views[] = { one, one };
    clo_assign rule;
    for (size_t e = 0; e < dim; e++) bases[e * d + e] = 1;
    bases[dim * d] = h;
    if (d > 1) bases[dim * d + d - 1] = h;
    if (dim > 1) bases[(dim + 1) * d + 1] = 1;
    assert_ok(clo_i_assign_subspaces(q->context->workspace, bases, k, d, dim, 20, &rule, q->err),
              *q->err);
    return clo_i_ask_cross_moment(q->context, 0, q->data, &rule, views, &out, q->err);
}

PROBE(cross_moment, 0.99, false);

#endif

#ifdef QUERY_SUMS /* asks of it, for what travels as bytes */

static inline void add_cross_moment(sum_asks *a)
{
    ADD(clo_i_plan_cross_moment(&a->domain, 2, 1, 1, 1, "", &line, &err), 0, &a->axes, 1, a->narrow,
        4);
    ADD(clo_i_plan_cross_moment(&a->through, 2, 1, 1, 1, "", &line, &err), CLO_LENS, &a->seen_axes,
        1, a->narrow, 4);
}

#endif

#ifdef QUERY_UNIT /* which power of the radius its noise is told in; -1: it has no unit */

enum { unit_cross_moment = 2 };

#endif
