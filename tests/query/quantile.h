/* quantile.h - what tests of every query know of it (query_kinds.h). */
#include "query/quantile.h"

#ifdef QUERY_LAW /* the forms in which its noise is looked at */

static inline void prepare_quantile(noisy *n)
{
    const clo_quantile how = { CANDIDATES, 1, 0.5 };
    clo_error err;
    prepare_choices(n);
    assert_ok(clo_i_plan_quantile(&n->domain, &how, 1, 1, "", &n->line, &err), err);
    /* Nothing is to be left out, and there is no lead: all scores are 0. */
    clo_quantile_fields part = clo_i_quantile_fields(&n->line);
    part.left_out = part.floor = part.lead = 0;
    clo_i_quantile_set_fields(&n->line, part);
}

static inline void ask_quantile(noisy *n, double *residual)
{
    int64_t thresholds[CANDIDATES];
    clo_error err;
    for (int64_t c = 0; c < CANDIDATES; c++) thresholds[c] = c;
    for (size_t i = 0; i < n->numbers; i++) {
        size_t chosen;
        assert_ok(clo_i_ask_quantile(&n->a.context, n->number, n->data, SIZE_MAX, thresholds,
                                     &chosen, &err),
                  err);
        residual[i] = laplace_of_choice(n, chosen, CANDIDATES);
    }
}

static const noisy_form forms_quantile[] = {
    { "choices", prepare_quantile, ask_quantile, LAPLACE | COARSE | SINGLY, 4, 0, 0, NULL },
    { 0 },
};

#endif

#ifdef QUERY_ORACLE /* what its lines must be, by the proof */

/* Whatever is counted, and what should be left out, moves by a record at most; a record counts that
 * many units. */
static inline void line_quantile(const held *l)
{
    const uint64_t one = clo_i_quantile_fields(l->line).ends * CLO_QUANTILE_PARTS;
    HOLDS(l, l->line->sensitivity == l->rows * one);
    priced_by_rate(l, CLO_EVENT_EXPONENTIAL, 2 * (u128)l->rows * one);
}

#endif

#ifdef QUERY_LINES /* lines of it, by the number of a variant */

static bool make_quantile(const clo_domain *domain, size_t variant, clo_line *out, double *asked)
{
    static const double shares[] = { 0.5, 0.95, 0.75, 0.99999, 7 / 9.0 };
    clo_error err;
    if (variant >= 30) return false;
    const clo_quantile how = { 7, 1 + variant / 15, shares[variant % 5] };
    *asked = epsilons[variant / 5 % 3];
    return made(clo_i_plan_quantile(domain, &how, *asked, TIMES, "", out, &err), &err);
}

#endif

#ifdef QUERY_REACH /* how far the worst rows of a unit move its answer */

static clo_status reach_line_quantile(const clo_domain *domain, clo_line *out, clo_error *err)
{
    static const clo_quantile how = { 2, 1, 0.75 };
    return clo_i_plan_quantile(domain, &how, 1, 1, "", out, err);
}

static clo_status reach_ask_quantile(const question *q)
{
    static const int64_t thresholds[] = { 0, 1 << 30 };
    size_t chosen;
    return clo_i_ask_quantile(q->context, 0, q->data, 0, thresholds, &chosen, q->err);
}

/* Few rows cannot tell it otherwise. */
static void other_noise_of_quantile(clo_line *line)
{
    change_fields(quantile, line, floor = 0);
    change_fields(quantile, line, lead = 0);
}

static const reach reach_quantile = {
    .plan = reach_line_quantile,
    .ask = reach_ask_quantile,
    .held_by = "a choice shows no number: test_largest_change.c",
    .other_noise = other_noise_of_quantile,
};

#endif

#ifdef QUERY_CHANGE /* a search among small data for the largest change */

/* So large a budget that a few records tell something.  Bounds of norms, of a column from one side,
 * and both ends of it. */
static bool change_line_quantile(const clo_domain *domain, size_t v, clo_line *out)
{
    static const double shares[] = { 0.5, 0.75, 0.95 };
    clo_error err;
    if (v >= 9) return false;
    const clo_quantile how = { 4, 1 + v / 6, shares[v % 3] };
    return made(clo_i_plan_quantile(domain, &how, 300, 1, "", out, &err), &err);
}

static clo_status change_ask_quantile(const question *q)
{
    static const int64_t norms[] = { 0, 64, INT64_C(1) << 58, INT64_C(1) << 60 };
    static const int64_t cells[] = { -(1 << 29), 0, 3 << 10, 1 << 30 };
    const bool of_norms = q->variant / 3 == 0;
    size_t chosen[2];
    return clo_i_ask_quantile(q->context, 0, q->data, of_norms ? SIZE_MAX : 0,
                              of_norms ? norms : cells, chosen, q->err);
}

PROBE(quantile, 0.5, true);

#endif

#ifdef QUERY_SUMS /* asks of it, for what travels as bytes */

static inline void add_quantile(sum_asks *a)
{
    const clo_quantile radius = { 3, 1, 0.5 }, ends = { 3, 2, 0.5 };
    ADD(clo_i_plan_quantile(&a->domain, &ends, 1, 1, "", &line, &err), 0, NULL, 0, a->column, 7);
    ADD(clo_i_plan_quantile(&a->domain, &radius, 1, 1, "", &line, &err), 0, NULL, 0, a->norms, 4);
}

#endif

#ifdef QUERY_UNIT /* which power of the radius its noise is told in; -1: it has no unit */

enum { unit_quantile = -1 };

#endif
