/* count.h - what tests of every query know of it (query_kinds.h). */
#include "query/count.h"

#ifdef QUERY_LAW /* the forms in which its noise is looked at */

static inline void prepare_count(noisy *n)
{
    clo_error err;
    n->domain = ball(1, 1, CLO_ADD_REMOVE);
    assert_ok(clo_i_plan_count(&n->domain, 0x1p20 / WIDE, 1, "", &n->line, &err), err);
    noisy_room(n, 2 * 4096 + 137, n->form->asks, 3);
    n->scales[0] = (double)n->line.scale;
}

/* A number an ask. */
static inline void ask_count(noisy *n, double *residual)
{
    clo_error err;
    for (size_t i = 0; i < n->numbers; i++) {
        double count;
        assert_ok(clo_i_ask_count(&n->a.context, n->number, n->data, &count, &err), err);
        residual[i] = (count - 3) * (double)n->line.count_unit;
    }
}

static const noisy_form forms_count[] = {
    { "counts", prepare_count, ask_count, SINGLY, 8, 1, 1, NULL },
    { 0 },
};

#endif

#ifdef QUERY_ORACLE /* what its lines must be, by the proof */

static inline void line_count(const held *l)
{
    HOLDS(l, l->line->count_unit == 1 << 20);
    HOLDS(l, l->line->sensitivity == l->rows * l->line->count_unit);
    priced_by_scale(l, CLO_EVENT_GAUSSIAN);
}

#endif

#ifdef QUERY_LINES /* lines of it, by the number of a variant */

static bool make_count(const clo_domain *domain, size_t variant, clo_line *out, double *asked)
{
    clo_error err;
    if (variant >= 3) return false;
    *asked = mus[variant];
    return made(clo_i_plan_count(domain, *asked, TIMES, "", out, &err), &err);
}

#endif

#ifdef QUERY_REACH /* how far the worst rows of a unit move its answer */

static clo_status reach_line_count(const clo_domain *domain, clo_line *out, clo_error *err)
{
    return clo_i_plan_count(domain, 1, 1, "", out, err);
}

static clo_status reach_ask_count(const question *q)
{
    double count;
    return clo_i_ask_count(q->context, 0, q->data, &count, q->err);
}

static double of_count(const clo_line *s, const double *x)
{
    return lengths(x, 1, (double)s->count_unit);
}

static const reach reach_count = {
    .plan = reach_line_count,
    .ask = reach_ask_count,
    .length = of_count,
    .least = 1,
    .old = { 1, 0, 0 },
    .gone = true,
};

#endif

#ifdef QUERY_CHANGE /* a search among small data for the largest change */

static bool change_line_count(const clo_domain *domain, size_t v, clo_line *out)
{
    clo_error err;
    return v < 1 && made(clo_i_plan_count(domain, 1, 1, "", out, &err), &err);
}

static clo_status change_ask_count(const question *q)
{
    double count;
    return clo_i_ask_count(q->context, 0, q->data, &count, q->err);
}

PROBE(count, 0.999, false);

#endif

#ifdef QUERY_SUMS /* asks of it, for what travels as bytes */

static inline void add_count(sum_asks *a)
{
    ADD(clo_i_plan_count(&a->domain, 1, 1, "", &line, &err), 0, NULL, 0, NULL, 0);
}

#endif

#ifdef QUERY_UNIT /* which power of the radius its noise is told in; -1: it has no unit */

enum { unit_count = 0 };

#endif
