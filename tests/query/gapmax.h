/* gapmax.h - what tests of every query know of it (query_kinds.h). */
#include "query/gapmax.h"

#ifdef QUERY_LAW /* the forms in which its noise is looked at */

static const noisy_form forms_gapmax[] = {
    { .held_by = "one draw decides whether there is an answer; its law: test_gapmax.c" },
    { 0 },
};

#endif

#ifdef QUERY_ORACLE /* what its lines must be, by the proof */

/* P[T > A - 2] for noise of e^-(a |x|) on |x| <= A. */
static inline long double beyond(long double a, uint64_t A)
{
    long double all = 1;
    for (uint64_t x = 1; x <= A; x++) all += 2 * expl(-a * (long double)x);
    return (expl(-a * (long double)A) + expl(-a * ((long double)A - 1))) / all;
}

/* Proved for a row alone; a score moves by 2 under both relations. */
static inline void line_gapmax(const held *l)
{
    const clo_line *const s = l->line;
    const long double e = s->event.parameter,
                      missed = (1 + expl(e)) * (long double)clo_i_gapmax_fields(s).beta;
    HOLDS(l, l->rows == 1);
    HOLDS(l, s->sensitivity == 2);
    priced_by_rate(l, CLO_EVENT_APPROXIMATE, 2);
    HOLDS(l, missed > 0 && missed + beyond(e / 2, s->scale) <= s->event.delta * (1 + 1e-8L));
    HOLDS(l, missed + beyond(e / 2, s->scale - 1) > s->event.delta * (1 - 1e-6L));
    HOLDS(l, (long double)s->groups >= powl(4, (long double)clo_i_gapmax_fields(s).dim) *
                                           logl(2 / clo_i_gapmax_fields(s).beta) * (1 - 1e-12L));
}

#endif

#ifdef QUERY_LINES /* lines of it, by the number of a variant */

/* Proved for rows; refused for units, even of one row. */
static bool make_gapmax(const clo_domain *domain, size_t variant, clo_line *out, double *asked)
{
    const double shares[] = { 0.1, 0.5 };
    const clo_gapmax how = { .dim = 1, .scale = 4, .share = shares[variant / 4 % 2] };
    const clo_loss loss = { epsilons[1 + variant % 2], variant / 2 % 2 ? 1e-6 : 0.01 };
    clo_error err;
    const clo_status status = clo_i_plan_gapmax(domain, &how, loss, "", out, &err);
    if (domain->unit) assert_fails(status, CLO_UNSUPPORTED, err, "not for a unit");
    if (variant >= 8 || domain->unit) return false;
    assert_int_equal(out->event.count, 1);
    out->event.count = TIMES;
    assert_true(out->event.delta == loss.delta);
    *asked = loss.epsilon;
    return made(status, &err);
}

#endif

#ifdef QUERY_REACH /* how far the worst rows of a unit move its answer */

static const clo_gapmax on_a_line = { .dim = 1, .scale = 3, .share = 0.1 };

static clo_status reach_line_gapmax(const clo_domain *domain, clo_line *out, clo_error *err)
{
    return clo_i_plan_gapmax(domain, &on_a_line, (clo_loss){ 4, 0.01 }, "", out, err);
}

static clo_status reach_ask_gapmax(const question *q)
{
    int64_t numerators[D], denominators[D];
    bool found;
    return clo_i_ask_gapmax(q->context, 0, q->data, &on_a_line, &found, numerators, denominators,
                            q->err);
}

static const reach reach_gapmax = {
    .plan = reach_line_gapmax,
    .ask = reach_ask_gapmax,
    .held_by = "its score moves by two: test_gapmax.c",
    .rows_only = true,
};

#endif

#ifdef QUERY_CHANGE /* a search among small data for the largest change */

static const probe probe_gapmax = { .held_by = "its score moves by two: test_gapmax.c" };

#endif

#ifdef QUERY_SUMS /* asks of it, for what travels as bytes */

static inline void add_gapmax(sum_asks *a)
{
    (void)a; /* it does not add up */
}

#endif

#ifdef QUERY_UNIT /* which power of the radius its noise is told in; -1: it has no unit */

enum { unit_gapmax = 0 };

#endif
