/* sparse_sum.h - what tests of every query know of it (query_kinds.h). */
#include "query/sparse_sum.h"

#ifdef QUERY_LAW /* the forms in which its noise is looked at */

static inline void prepare_sparse_sum(noisy *n, clo_event_kind kind, double parameter)
{
    clo_error err;
    n->domain = ball(n->form->cols, 1, CLO_REPLACE);
    assert_ok(clo_i_plan_sparse_sum(&n->domain, n->form->cols, n->form->clusters, 0, kind,
                                    parameter, "", &n->line, &err),
              err);
    prepare_sums(n);
}

static inline void prepare_sparse_gaussian(noisy *n)
{
    prepare_sparse_sum(n, CLO_EVENT_GAUSSIAN, 0x1p21 / WIDE);
}

static inline void prepare_sparse_laplace(noisy *n)
{
    prepare_sparse_sum(n, CLO_EVENT_PURE, 0x1p27 / WIDE);
}

static inline void ask_sparse_sum(noisy *n, double *residual)
{
    clo_error err;
    assert_ok(
        clo_i_ask_sparse_sum(&n->a.context, n->number, n->data, &n->rule, n->sums, n->sizes, &err),
        err);
    residual_sums(n, residual);
}

static const noisy_form forms_sparse_sum[] = {
    { "normal", prepare_sparse_gaussian, ask_sparse_sum, 0, 40, 3, 2775, NULL },
    { "Laplace", prepare_sparse_laplace, ask_sparse_sum, LAPLACE, 40, 3, 2775, NULL },
    { "clusters", prepare_sparse_gaussian, ask_sparse_sum, 0, 40, 683, 11, NULL },
    { 0 },
};

#endif

#ifdef QUERY_ORACLE /* what its lines must be, by the proof */

static inline void line_sparse_sum(const held *l)
{
    const u128 R = power_of_two(l->line->bits), u = l->line->count_unit;
    HOLDS(l, u > 0 && u <= R);
    if (l->line->event.kind == CLO_EVENT_PURE) {
        HOLDS(l, l->line->sensitivity == sum_length(l, R, u, entries_of(l)));
        priced_by_scale(l, CLO_EVENT_PURE);
    } else {
        moves(l, sum_square(l, R, u));
        priced_by_scale(l, CLO_EVENT_GAUSSIAN);
    }
}

#endif

#ifdef QUERY_LINES /* lines of it, by the number of a variant */

static bool make_sparse_sum(const clo_domain *domain, size_t variant, clo_line *out, double *asked)
{
    const size_t entries[] = { 0, 1, 2, 100 };
    clo_error err;
    if (variant >= 24) return false;
    const bool pure = variant % 2;
    *asked = (pure ? epsilons : mus)[variant / 8];
    made(clo_i_plan_sparse_sum(domain, 2, 3, entries[variant / 2 % 4],
                               pure ? CLO_EVENT_PURE : CLO_EVENT_GAUSSIAN, *asked, "", out, &err),
         &err);
    assert_int_equal(out->event.count, 1);
    out->event.count = TIMES; /* it is asked once; as the others are checked */
    return true;
}

#endif

#ifdef QUERY_REACH /* how far the worst rows of a unit move its answer */

static clo_status reach_line_sparse_sum(const clo_domain *domain, clo_line *out, clo_error *err)
{
    return clo_i_plan_sparse_sum(domain, D, 2, 0, CLO_EVENT_PURE, 1, "", out, err);
}

static clo_status reach_ask_sparse_sum(const question *q)
{
    const clo_assign rule = two_sides(q, 20);
    double sums[2 * D], counts[2];
    return clo_i_ask_sparse_sum(q->context, 0, q->data, &rule, sums, counts, q->err);
}

static const reach reach_sparse_sum = {
    .plan = reach_line_sparse_sum,
    .ask = reach_ask_sparse_sum,
    .length = of_two_sums,
    .least = 0.99999,
    .old = { DIAGONAL, DIAGONAL, DIAGONAL },
    .other = { -DIAGONAL, -DIAGONAL, -DIAGONAL },
};

#endif

#ifdef QUERY_CHANGE /* a search among small data for the largest change */

/* Both prices, and with fewer entries than there are columns. */
static bool change_line_sparse_sum(const clo_domain *domain, size_t v, clo_line *out)
{
    clo_error err;
    return v < 4 && made(clo_i_plan_sparse_sum(domain, domain->cols, 2, v / 2,
                                               v % 2 ? CLO_EVENT_PURE : CLO_EVENT_GAUSSIAN, 1, "",
                                               out, &err),
                         &err);
}

static clo_status change_ask_sparse_sum(const question *q)
{
    double sums[2 * COLS], counts[2];
    const clo_assign rule = two_centers(q, 2);
    return clo_i_ask_sparse_sum(q->context, 0, q->data, &rule, sums, counts, q->err);
}

PROBE(sparse_sum, 0.999, false);

#endif

#ifdef QUERY_SUMS /* asks of it, for what travels as bytes */

static inline void add_sparse_sum(sum_asks *a)
{
    ADD(clo_i_plan_sparse_sum(&a->domain, ASK_COLS, 2, 3, CLO_EVENT_GAUSSIAN, 1, "", &line, &err),
        0, &a->centers, 1, NULL, 0);
    ADD(clo_i_plan_sparse_sum(&a->domain, ASK_SKETCH, 2, 3, CLO_EVENT_PURE, 1, "", &line, &err),
        CLO_SKETCH, &a->centers, 1, NULL, 0);
}

#endif

#ifdef QUERY_UNIT /* which power of the radius its noise is told in; -1: it has no unit */

enum { unit_sparse_sum = 1 };

#endif
