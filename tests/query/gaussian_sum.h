/* gaussian_sum.h - what tests of every query know of it (query_kinds.h). */
#include "query/gaussian_sum.h"

#ifdef QUERY_LAW /* the forms in which its noise is looked at */

static inline void prepare_gaussian_sum(noisy *n)
{
    clo_error err;
    n->domain = ball(n->form->cols, 1, CLO_ADD_REMOVE);
    assert_ok(clo_i_plan_gaussian_sum(&n->domain, n->form->clusters, 0x1p20 / WIDE, 1, "", &n->line,
                                      &err),
              err);
    prepare_sums(n);
}

/* name, prepare, ask, traits; asks, clusters (of cells: along a side), columns */
static const noisy_form forms_gaussian_sum[] = {
    { "columns", prepare_gaussian_sum, ask_cluster_sum, 0, 40, 3, 2775, NULL },
    { "clusters", prepare_gaussian_sum, ask_cluster_sum, 0, 40, 683, 11, NULL },
    { "lens", prepare_gaussian_sum, ask_cluster_sum, LENS, 24, 683, 11, NULL },
    { 0 },
};

#endif

#ifdef QUERY_ORACLE /* what its lines must be, by the proof */

static inline void line_gaussian_sum(const held *l)
{
    weighs(l, replaces(l) ? 1 : sqrt(0.5 / sqrt((double)l->line->cols)));
    moves(l, sum_square(l, power_of_two(l->line->bits), l->line->count_unit));
    priced_by_scale(l, CLO_EVENT_GAUSSIAN);
}

#endif

#ifdef QUERY_LINES /* lines of it, by the number of a variant */

static bool make_gaussian_sum(const clo_domain *domain, size_t variant, clo_line *out,
                              double *asked)
{
    const size_t clusters[] = { 1, 4 };
    clo_error err;
    if (variant >= 6) return false;
    *asked = mus[variant / 2];
    return made(
        clo_i_plan_gaussian_sum(domain, clusters[variant % 2], *asked, TIMES, "", out, &err), &err);
}

#endif

#ifdef QUERY_REACH /* how far the worst rows of a unit move its answer */

static clo_status reach_line_gaussian_sum(const clo_domain *domain, clo_line *out, clo_error *err)
{
    return clo_i_plan_gaussian_sum(domain, 1, 1, 1, "", out, err);
}

static clo_status reach_ask_gaussian_sum(const question *q)
{
    double sums[D], count;
    return clo_i_ask_gaussian_sum(q->context, 0, q->data, &everyone, sums, &count, q->err);
}

static double of_sum(const clo_line *s, const double *x)
{
    return sqrt(squares(x, D, 0x1p20) + squares(x + D, 1, (double)s->count_unit));
}

static const reach reach_gaussian_sum = {
    .plan = reach_line_gaussian_sum,
    .ask = reach_ask_gaussian_sum,
    .length = of_sum,
    .least = 0.999999,
    .old = { 1, 0, 0 },
    .other = { -1, 0, 0 },
};

#endif

#ifdef QUERY_CHANGE /* a search among small data for the largest change */

static bool change_line_gaussian_sum(const clo_domain *domain, size_t v, clo_line *out)
{
    clo_error err;
    return v < 2 && made(clo_i_plan_gaussian_sum(domain, v + 1, 1, 1, "", out, &err), &err);
}

static clo_status change_ask_gaussian_sum(const question *q)
{
    double sums[2 * COLS], counts[2];
    const clo_assign rule = q->variant ? two_centers(q, 2) : everyone;
    return clo_i_ask_gaussian_sum(q->context, 0, q->data, &rule, sums, counts, q->err);
}

PROBE(gaussian_sum, 0.999, false);

#endif

#ifdef QUERY_SUMS /* asks of it, for what travels as bytes */

static inline void add_gaussian_sum(sum_asks *a)
{
    ADD(clo_i_plan_gaussian_sum(&a->domain, 2, 1, 1, "", &line, &err), 0, &a->centers, 1, NULL, 0);
    ADD(clo_i_plan_gaussian_sum(&a->through, 2, 1, 1, "", &line, &err), CLO_LENS, &a->seen, 1, NULL,
        0);
}

#endif

#ifdef QUERY_UNIT /* which power of the radius its noise is told in; -1: it has no unit */

enum { unit_gaussian_sum = 1 };

#endif
