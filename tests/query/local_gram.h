/* local_gram.h - what tests of every query know of it (query_kinds.h). */
#include "query/local_gram.h"

#ifdef QUERY_LAW /* the forms in which its noise is looked at */

/* Records at the centre: nothing but noise. */
static inline void prepare_local_gram(noisy *n)
{
    const size_t d = n->form->cols;
    clo_error err;
    n->domain = ball(d, 1, CLO_REPLACE);
    assert_ok(clo_i_plan_local_gram(&n->domain, 0x1p16 / WIDE, 1, "", &n->line, &err), err);
    noisy_room(n, d * (d + 1) / 2, n->form->asks, 4);
    for (size_t i = 0, at = 0; i < d; i++)
        for (size_t j = i; j < d; j++) n->class_of[at++] = i != j;
    n->scales[0] = (double)n->line.scale;
    n->scales[1] = ceil((double)n->line.scale / sqrt(2));
}

static inline void ask_local_gram(noisy *n, double *residual)
{
    const size_t d = n->domain.cols;
    double *const gram = n->sums, *const origin = n->sizes; /* which is zero */
    clo_error err;
    assert_ok(clo_i_ask_local_gram(&n->a.context, n->number, n->data, origin, 0.25, gram, &err),
              err);
    for (size_t i = 0, at = 0; i < d; i++)
        for (size_t j = i; j < d; j++, at++) {
            assert_true(gram[i * d + j] == gram[j * d + i]);
            residual[at] = gram[i * d + j] * 0x1p16 - n->truth[at];
        }
}

static const noisy_form forms_local_gram[] = {
    { "matrix", prepare_local_gram, ask_local_gram, 0, 40, 1, 130, NULL },
    { "lens", prepare_local_gram, ask_local_gram, LENS, 24, 1, 130, NULL },
    { 0 },
};

#endif

#ifdef QUERY_ORACLE /* what its lines must be, by the proof */

/* The same of differences on a grid of 8 bits, which is not the one that it reads. */
static inline void line_local_gram(const held *l)
{
    const u128 R = power_of_two(8);
    HOLDS(l, l->line->bits == 20 && l->line->groups == 1);
    moves(l, (replaces(l) ? 2 : 1) * R * R * R * R);
    priced_by_scale(l, CLO_EVENT_GAUSSIAN);
}

#endif

#ifdef QUERY_LINES /* lines of it, by the number of a variant */

static bool make_local_gram(const clo_domain *domain, size_t variant, clo_line *out, double *asked)
{
    clo_error err;
    if (variant >= 3) return false;
    *asked = mus[variant];
    return made(clo_i_plan_local_gram(domain, *asked, TIMES, "", out, &err), &err);
}

#endif

#ifdef QUERY_REACH /* how far the worst rows of a unit move its answer */

static clo_status reach_line_local_gram(const clo_domain *domain, clo_line *out, clo_error *err)
{
    return clo_i_plan_local_gram(domain, 1, 1, "", out, err);
}

static clo_status reach_ask_local_gram(const question *q)
{
    static const double origin[D];
    double gram[D * D];
    return clo_i_ask_local_gram(q->context, 0, q->data, origin, 0x1p-16, gram, q->err);
}

static double of_local_gram(const clo_line *s, const double *x)
{
    (void)s;
    return sqrt(squares(x, D * D, 0x1p16));
}

/* both far beyond the width */
static const reach reach_local_gram = {
    .plan = reach_line_local_gram,
    .ask = reach_ask_local_gram,
    .length = of_local_gram,
    .least = 0.9999,
    .old = { 1, 0, 0 },
    .other = { 0, 0.5, 0 },
};

#endif

#ifdef QUERY_CHANGE /* a search among small data for the largest change */

static bool change_line_local_gram(const clo_domain *domain, size_t v, clo_line *out)
{
    clo_error err;
    return v < WIDTHS && made(clo_i_plan_local_gram(domain, 1, 1, "", out, &err), &err);
}

static clo_status change_ask_local_gram(const question *q)
{
    static const double origin[COLS];
    double gram[COLS * COLS];
    return clo_i_ask_local_gram(q->context, 0, q->data, origin, STEPS[q->variant] * STEP, gram,
                                q->err);
}

PROBE(local_gram, 0.99, false);

#endif

#ifdef QUERY_SUMS /* asks of it, for what travels as bytes */

static inline void add_local_gram(sum_asks *a)
{
    ADD(clo_i_plan_local_gram(&a->domain, 1, 1, "", &line, &err), 0, &a->lone, 1, a->views, 1);
    ADD(clo_i_plan_local_gram(&a->through, 1, 1, "", &line, &err), CLO_LENS, &a->seen_lone, 1,
        a->views, 1);
}

#endif

#ifdef QUERY_UNIT /* which power of the radius its noise is told in; -1: it has no unit */

enum { unit_local_gram = 0 };

#endif
