/* laplace_sum.h - what tests of every query know of it (query_kinds.h). */
#include "query/laplace_sum.h"

#ifdef QUERY_LAW /* the forms in which its noise is looked at */

static inline void prepare_laplace_sum(noisy *n)
{
    clo_error err;
    n->domain = ball(n->form->cols, 1, CLO_REPLACE);
    assert_ok(
        clo_i_plan_laplace_sum(&n->domain, n->form->clusters, 0x1p27 / WIDE, 1, "", &n->line, &err),
        err);
    prepare_sums(n);
}

static const noisy_form forms_laplace_sum[] = {
    { "columns", prepare_laplace_sum, ask_cluster_sum, LAPLACE, 40, 3, 2775, NULL },
    { "clusters", prepare_laplace_sum, ask_cluster_sum, LAPLACE, 40, 683, 11, NULL },
    { "lens", prepare_laplace_sum, ask_cluster_sum, LAPLACE | LENS, 24, 683, 11, NULL },
    { 0 },
};

#endif

#ifdef QUERY_ORACLE /* what its lines must be, by the proof */

static inline void line_laplace_sum(const held *l)
{
    weighs(l, cbrt(0.25 / sqrt((double)l->line->cols)));
    HOLDS(l, l->line->sensitivity ==
                 sum_length(l, power_of_two(l->line->bits), l->line->count_unit, l->line->cols));
    priced_by_scale(l, CLO_EVENT_PURE);
}

#endif

#ifdef QUERY_LINES /* lines of it, by the number of a variant */

static bool make_laplace_sum(const clo_domain *domain, size_t variant, clo_line *out, double *asked)
{
    const size_t clusters[] = { 1, 4 };
    clo_error err;
    if (variant >= 6) return false;
    *asked = epsilons[variant / 2];
    return made(clo_i_plan_laplace_sum(domain, clusters[variant % 2], *asked, TIMES, "", out, &err),
                &err);
}

#endif

#ifdef QUERY_REACH /* how far the worst rows of a unit move its answer */

static clo_status reach_line_laplace_sum(const clo_domain *domain, clo_line *out, clo_error *err)
{
    return clo_i_plan_laplace_sum(domain, 2, 1, 1, "", out, err);
}

static clo_status reach_ask_laplace_sum(const question *q)
{
    const clo_assign rule = two_sides(q, 20);
    double sums[2 * D], counts[2];
    return clo_i_ask_laplace_sum(q->context, 0, q->data, &rule, sums, counts, q->err);
}

static const reach reach_laplace_sum = {
    .plan = reach_line_laplace_sum,
    .ask = reach_ask_laplace_sum,
    .length = of_two_sums,
    .least = 0.99999,
    .old = { DIAGONAL, DIAGONAL, DIAGONAL },
    .other = { -DIAGONAL, -DIAGONAL, -DIAGONAL },
};

#endif

#ifdef QUERY_CHANGE /* a search among small data for the largest change */

static bool change_line_laplace_sum(const clo_domain *domain, size_t v, clo_line *out)
{
    clo_error err;
    return v < 2 && made(clo_i_plan_laplace_sum(domain, v + 1, 1, 1, "", out, &err), &err);
}

static clo_status change_ask_laplace_sum(const question *q)
{
    double sums[2 * COLS], counts[2];
    const clo_assign rule = q->variant ? two_centers(q, 2) : everyone;
    return clo_i_ask_laplace_sum(q->context, 0, q->data, &rule, sums, counts, q->err);
}

PROBE(laplace_sum, 0.999, false);

#endif

#ifdef QUERY_SUMS /* asks of it, for what travels as bytes */

static inline void add_laplace_sum(sum_asks *a)
{
    ADD(clo_i_plan_laplace_sum(&a->domain, 1, 1, 1, "", &line, &err), 0, &a->one, 1, NULL, 0);
}

#endif

#ifdef QUERY_UNIT /* which power of the radius its noise is told in; -1: it has no unit */

enum { unit_laplace_sum = 1 };

#endif
