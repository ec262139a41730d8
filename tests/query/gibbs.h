/* gibbs.h - what tests of every query know of it (query_kinds.h). */
#include "query/gibbs.h"

#ifdef QUERY_LAW /* the forms in which its noise is looked at */

static const noisy_form forms_gibbs[] = {
    { .held_by = "a Markov chain adds noise to nothing; the law of what it draws: test_gibbs.c" },
    { 0 },
};

#endif

#ifdef QUERY_ORACLE /* what its lines must be, by the proof */

/* A record's part of the score lies between 0 and 1. */
static inline void line_gibbs(const held *l)
{
    HOLDS(l, l->line->sensitivity == l->rows);
    priced_by_rate(l, CLO_EVENT_EXPONENTIAL, (replaces(l) ? 2 : 1) * (u128)l->rows);
}

#endif

#ifdef QUERY_LINES /* lines of it, by the number of a variant */

static bool make_gibbs(const clo_domain *domain, size_t variant, clo_line *out, double *asked)
{
    const clo_gibbs how = { .clusters = 2, .dim = 1, .sweeps = 3, .steps = true };
    clo_error err;
    if (variant >= 3) return false;
    *asked = epsilons[variant];
    return made(clo_i_plan_gibbs(domain, &how, *asked, TIMES, "", out, &err), &err);
}

#endif

#ifdef QUERY_REACH /* how far the worst rows of a unit move its answer */

static const clo_gibbs one_draw = { .clusters = 1, .dim = 1, .sweeps = 1, .steps = true };

static clo_status reach_line_gibbs(const clo_domain *domain, clo_line *out, clo_error *err)
{
    return clo_i_plan_gibbs(domain, &one_draw, 1, clo_i_gibbs_charges(&one_draw, D), "", out, err);
}

static clo_status reach_ask_gibbs(const question *q)
{
    double basis[D];
    return clo_i_ask_gibbs(q->context, 0, q->data, &one_draw, basis, NULL, q->err);
}

static const reach reach_gibbs = {
    .plan = reach_line_gibbs,
    .ask = reach_ask_gibbs,
    .held_by = "the law of a chain, in test_unit_reach.c",
};

#endif

#ifdef QUERY_CHANGE /* a search among small data for the largest change */

static const probe probe_gibbs = { .held_by = "energies, below" };

#endif

#ifdef QUERY_SUMS /* asks of it, for what travels as bytes */

static inline void add_gibbs(sum_asks *a)
{
    (void)a; /* it does not add up */
}

#endif

#ifdef QUERY_UNIT /* which power of the radius its noise is told in; -1: it has no unit */

enum { unit_gibbs = -1 };

#endif
