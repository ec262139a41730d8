/* local_sum.h - what tests of every query know of it (query_kinds.h). */
#include "query/local_sum.h"

#ifdef QUERY_LAW /* the forms in which its noise is looked at */

/* Records at their centres: no difference, no length, a size of one each, and all of them in the
 * first shell, where there are shells. */
static inline void prepare_local(noisy *n, size_t shells)
{
    const size_t d = n->domain.cols, width = d + 2, in_groups = n->line.groups * width;
    noisy_room(n, in_groups + shells, n->form->asks, SUM_ROWS);
    noisy_clusters(n, 0);
    noisy_by_cluster(n, width, 2);
    for (size_t c = 0; c < n->line.groups; c++) n->class_of[c * width + width - 1] = 2;
    for (size_t i = 0; i < n->rows; i++)
        n->truth[i % CLUSTERS * width + d + 1] += (double)n->line.count_unit;
    for (size_t i = in_groups; i < n->numbers; i++) {
        n->class_of[i] = 3;
        n->cluster_of[i] = 0;
    }
    if (shells)
        n->truth[in_groups] = (double)n->rows * (double)clo_i_local_sum_fields(&n->line).shell_unit;
    for (size_t c = 0; c < 4; c++) n->scales[c] = (double)n->line.scale;
}

static inline void prepare_local_of(noisy *n, clo_event_kind kind, double parameter)
{
    clo_error err;
    n->domain = ball(n->form->cols, 1, CLO_REPLACE);
    assert_ok(
        clo_i_plan_local_sum(&n->domain, n->form->clusters, kind, parameter, 1, "", &n->line, &err),
        err);
    prepare_local(n, 0);
}

static inline void prepare_local_gaussian(noisy *n)
{
    prepare_local_of(n, CLO_EVENT_GAUSSIAN, 0x1p21 / WIDE);
}

static inline void prepare_local_laplace(noisy *n)
{
    prepare_local_of(n, CLO_EVENT_PURE, 0x1p27 / WIDE);
}

static inline void prepare_local_shells(noisy *n)
{
    clo_error err;
    n->domain = ball(n->form->cols, 1, CLO_REPLACE);
    assert_ok(clo_i_plan_local_shells(&n->domain, n->form->clusters, 0x1p21 / WIDE, 1, "", &n->line,
                                      &err),
              err);
    prepare_local(n, CLO_LOCAL_SHELLS);
}

static inline void ask_local_sum(noisy *n, double *residual)
{
    clo_error err;
    double *const squares = n->sizes + n->numbers;
    const double unit = (double)n->line.count_unit;
    const double square_unit = (double)clo_i_local_sum_fields(&n->line).square_unit;
    const double shell_unit = (double)clo_i_local_sum_fields(&n->line).shell_unit;
    clo_local_sums sums = { n->sums, squares, n->sizes };
    clo_local_view views[CLO_MAX_CLUSTERS];
    double shells[CLO_LOCAL_SHELLS];
    const size_t d = n->domain.cols, width = d + 2, in_groups = n->line.groups * width;
    for (size_t c = 0; c < n->line.groups; c++) views[c] = (clo_local_view){ 0.25, 0.5 };
    assert_ok(shell_unit > 0 ? clo_i_ask_local_shells(&n->a.context, n->number, n->data, &n->rule,
                                                      views, &sums, shells, &err)
                             : clo_i_ask_local_sum(&n->a.context, n->number, n->data, &n->rule,
                                                   views, &sums, &err),
              err);
    for (size_t i = in_groups; i < n->numbers; i++)
        residual[i] = shells[i - in_groups] * shell_unit - n->truth[i];
    for (size_t i = 0; i < in_groups; i++) {
        const size_t c = i / width, j = i % width;
        residual[i] = (j < d    ? ldexp(n->sums[c * d + j], n->line.bits)
                       : j == d ? squares[c] * square_unit
                                : n->sizes[c] * unit) -
                      n->truth[i];
    }
}

static const noisy_form forms_local_sum[] = {
    { "columns", prepare_local_gaussian, ask_local_sum, 0, 40, 3, 2775, NULL },
    { "clusters", prepare_local_gaussian, ask_local_sum, 0, 40, 683, 11, NULL },
    { "Laplace", prepare_local_laplace, ask_local_sum, LAPLACE, 40, 683, 11, NULL },
    { "lens", prepare_local_gaussian, ask_local_sum, LENS, 24, 683, 11, NULL },
    { "shells", prepare_local_shells, ask_local_sum, 0, 40, 3, 2775, NULL },
    { 0 },
};

#endif

#ifdef QUERY_ORACLE /* what its lines must be, by the proof */

/* (v, q, u) with |v| <= R and 0 <= q <= Q, and h in one shell.  In one cluster sizes cancel and
 * squares need not; in two, nothing does; a record may change its shell in either.  In the 1-norm
 * |v| is up to sqrt(d) R, and a replaced record at its worst in two clusters. */
static inline void line_local_sum(const held *l)
{
    const u128 R = power_of_two(l->line->bits), u = l->line->count_unit;
    const u128 q = clo_i_local_sum_fields(l->line).square_unit, gone = R * R + q * q + u * u;
    const u128 h = clo_i_local_sum_fields(l->line).shell_unit, in_shells = h * h;
    HOLDS(l, u == (replaces(l) ? R / 8 * 7 : R * 2 / 5));
    HOLDS(l, q == (replaces(l) ? R / 2 : R / 4));
    HOLDS(l, h == 0 || h == R / 4);
    if (l->line->event.kind == CLO_EVENT_PURE) {
        HOLDS(l, h == 0);
        HOLDS(l, l->line->sensitivity == sum_length(l, R, u + q, l->line->cols));
        priced_by_scale(l, CLO_EVENT_PURE);
        return;
    }
    moves(l, replaces(l) ? larger(4 * R * R + q * q, 2 * gone) + 2 * in_shells : gone + in_shells);
    priced_by_scale(l, CLO_EVENT_GAUSSIAN);
}

#endif

#ifdef QUERY_LINES /* lines of it, by the number of a variant */

static bool make_local_sum(const clo_domain *domain, size_t variant, clo_line *out, double *asked)
{
    clo_error err;
    if (variant >= 18) return false;
    if (variant >= 12) {
        *asked = mus[variant / 2 % 3];
        return made(
            clo_i_plan_local_shells(domain, 1 + 3 * (variant % 2), *asked, TIMES, "", out, &err),
            &err);
    }
    const bool pure = variant % 2;
    *asked = (pure ? epsilons : mus)[variant / 4];
    return made(clo_i_plan_local_sum(domain, 1 + 3 * (variant / 2 % 2),
                                     pure ? CLO_EVENT_PURE : CLO_EVENT_GAUSSIAN, *asked, TIMES, "",
                                     out, &err),
                &err);
}

#endif

#ifdef QUERY_REACH /* how far the worst rows of a unit move its answer */

static clo_status reach_line_local_sum(const clo_domain *domain, clo_line *out, clo_error *err)
{
    return clo_i_plan_local_sum(domain, 1, CLO_EVENT_GAUSSIAN, 1, 1, "", out, err);
}

/* Sixteen steps of the grid wide, with a reach of half of the ball. */
static clo_status reach_ask_local_sum(const question *q)
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

static double of_local(const clo_line *s, const double *x)
{
    const double square_unit = (double)clo_i_local_sum_fields(s).square_unit;
    return sqrt(squares(x, D, 0x1p20) + squares(x + D, 1, square_unit) +
                squares(x + D + 1, 1, (double)s->count_unit));
}

/* as far as can be, and as far as the view is wide, which is next to no squared length */
static const reach reach_local_sum = {
    .plan = reach_line_local_sum,
    .ask = reach_ask_local_sum,
    .length = of_local,
    .least = 0.9999,
    .old = { -1, 0, 0 },
    .other = { 0x1p-16, 0, 0 },
};

#endif

#ifdef QUERY_CHANGE /* a search among small data for the largest change */

/* After those without shells as many with them. */
static bool change_line_local_sum(const clo_domain *domain, size_t v, clo_line *out)
{
    clo_error err;
    if (v >= 4 * WIDTHS)
        return v < 6 * WIDTHS &&
               made(clo_i_plan_local_shells(domain, 1 + v % 2, 1, 1, "", out, &err), &err);
    return v < 4 * WIDTHS && made(clo_i_plan_local_sum(domain, 1 + v / 2 % 2,
                                                       v % 2 ? CLO_EVENT_PURE : CLO_EVENT_GAUSSIAN,
                                                       1, 1, "", out, &err),
                                  &err);
}

static clo_status change_ask_local_sum(const question *q)
{
    double sums[2 * COLS], squares[2], sizes[2], shells[CLO_LOCAL_SHELLS];
    clo_local_sums out = { sums, squares, sizes };
    const bool in_shells = q->variant >= 4 * WIDTHS;
    const size_t w = in_shells ? (q->variant - 4 * WIDTHS) / 2 : q->variant / 4;
    const clo_local_view one = { STEPS[w] * STEP, STEPS[WIDTHS - 1 - w] * STEP };
    const clo_local_view views[] = { one, one };
    const clo_assign rule = two_centers(q, 1 + (in_shells ? q->variant : q->variant / 2) % 2);
    if (in_shells)
        return clo_i_ask_local_shells(q->context, 0, q->data, &rule, views, &out, shells, q->err);
    return clo_i_ask_local_sum(q->context, 0, q->data, &rule, views, &out, q->err);
}

PROBE(local_sum, 0.999, false);

#endif

#ifdef QUERY_SUMS /* asks of it, for what travels as bytes */

static inline void add_local_sum(sum_asks *a)
{
    ADD(clo_i_plan_local_sum(&a->domain, 2, CLO_EVENT_GAUSSIAN, 1, 1, "", &line, &err), 0,
        &a->centers, 1, a->views, 4);
    ADD(clo_i_plan_local_sum(&a->through, 2, CLO_EVENT_PURE, 1, 1, "", &line, &err), CLO_LENS,
        &a->seen, 1, a->views, 4);
    ADD(clo_i_plan_local_shells(&a->domain, 2, 1, 1, "", &line, &err), 0, &a->centers, 1, a->views,
        4);
}

#endif

#ifdef QUERY_UNIT /* which power of the radius its noise is told in; -1: it has no unit */

enum { unit_local_sum = 0 };

#endif
