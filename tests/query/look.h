/* look.h - what tests of every query know of it (query_kinds.h). */
#include "query/look.h"

#ifdef QUERY_LAW /* the forms in which its noise is looked at */

/* Records at the centre: no difference, and all of them in the last shell. */
static inline void prepare_look(noisy *n)
{
    const size_t d = n->form->cols;
    clo_error err;
    n->domain = ball(d, 1, CLO_REPLACE);
    assert_ok(clo_i_plan_look(&n->domain, 0x1p21 / WIDE, 1, "", &n->line, &err), err);
    noisy_room(n, d + CLO_LOOK_SHELLS, n->form->asks, SUM_ROWS);
    for (size_t j = 0; j < CLO_LOOK_SHELLS; j++) n->class_of[d + j] = 1;
    n->truth[n->numbers - 1] = SUM_ROWS * (double)n->line.count_unit;
    n->scales[0] = n->scales[1] = (double)n->line.scale;
}

static inline void ask_look(noisy *n, double *residual)
{
    const size_t d = n->domain.cols;
    double *const origin = n->sums + n->numbers; /* which is zero */
    clo_error err;
    assert_ok(
        clo_i_ask_look(&n->a.context, n->number, n->data, origin, 0.25, n->sums, n->sizes, &err),
        err);
    for (size_t i = 0; i < n->numbers; i++)
        residual[i] = (i < d ? ldexp(n->sums[i], n->line.bits)
                             : n->sizes[i - d] * (double)n->line.count_unit) -
                      n->truth[i];
}

static const noisy_form forms_look[] = {
    { "columns", prepare_look, ask_look, 0, 40, 1, 8300, NULL },
    { "lens", prepare_look, ask_look, LENS, 24, 1, 1000, NULL },
    { 0 },
};

#endif

#ifdef QUERY_ORACLE /* what its lines must be, by the proof */

/* (v, u e_j) with |v| <= R: a record that is replaced may turn round and change its shell. */
static inline void line_look(const held *l)
{
    const u128 R = power_of_two(l->line->bits), u = l->line->count_unit;
    HOLDS(l, l->line->bits == 20 && l->line->groups == 1 && u == R / 2);
    moves(l, replaces(l) ? 4 * R * R + 2 * u * u : R * R + u * u);
    priced_by_scale(l, CLO_EVENT_GAUSSIAN);
}

#endif

#ifdef QUERY_LINES /* lines of it, by the number of a variant */

static bool make_look(const clo_domain *domain, size_t variant, clo_line *out, double *asked)
{
    clo_error err;
    if (variant >= 3) return false;
    *asked = mus[variant];
    return made(clo_i_plan_look(domain, *asked, TIMES, "", out, &err), &err);
}

#endif

#ifdef QUERY_REACH /* how far the worst rows of a unit move its answer */

static clo_status reach_line_look(const clo_domain *domain, clo_line *out, clo_error *err)
{
    return clo_i_plan_look(domain, 1, 1, "", out, err);
}

static clo_status reach_ask_look(const question *q)
{
    static const double origin[D];
    double sum[D], shells[CLO_LOOK_SHELLS];
    return clo_i_ask_look(q->context, 0, q->data, origin, 0x1p-16, sum, shells, q->err);
}

static double of_look(const clo_line *s, const double *x)
{
    return sqrt(squares(x, D, 0x1p20) + squares(x + D, CLO_LOOK_SHELLS, (double)s->count_unit));
}

/* both beyond the width, on two sides and in two shells */
static const reach reach_look = {
    .plan = reach_line_look,
    .ask = reach_ask_look,
    .length = of_look,
    .least = 0.9999,
    .old = { 1, 0, 0 },
    .other = { -0.5, 0, 0 },
};

#endif

#ifdef QUERY_CHANGE /* a search among small data for the largest change */

static bool change_line_look(const clo_domain *domain, size_t v, clo_line *out)
{
    clo_error err;
    return v < 2 * WIDTHS && made(clo_i_plan_look(domain, 1, 1, "", out, &err), &err);
}

/* About the middle, and about a point near an end. */
static clo_status change_ask_look(const question *q)
{
    const double center[COLS] = { q->variant % 2 ? 0.75 : 0 };
    double sum[COLS], shells[CLO_LOOK_SHELLS];
    return clo_i_ask_look(q->context, 0, q->data, center, STEPS[q->variant / 2] * STEP, sum, shells,
                          q->err);
}

PROBE(look, 0.999, false);

#endif

#ifdef QUERY_SUMS /* asks of it, for what travels as bytes */

static inline void add_look(sum_asks *a)
{
    ADD(clo_i_plan_look(&a->domain, 1, 1, "", &line, &err), 0, &a->lone, 1, a->views, 1);
    ADD(clo_i_plan_look(&a->through, 1, 1, "", &line, &err), CLO_LENS, &a->seen_lone, 1, a->views,
        1);
}

#endif

#ifdef QUERY_UNIT /* which power of the radius its noise is told in; -1: it has no unit */

enum { unit_look = 0 };

#endif
