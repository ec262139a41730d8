/*
 * textbook.c - naive and advanced composition, for comparison: what the same events would have
 * been charged by the ways that books teach first.  No price is ever taken from here, but both
 * are bounds (accounting.T21).
 *
 * Both first make an (epsilon_0, delta_0) event of every Gaussian one, by its exact profile, with
 * equal delta_0 that sum up to what is given (naive) or to half of it (advanced).
 */
#include "accounting/accountant.h"
#include <math.h>

static bool applies(const clo_i_composition *list)
{
    return list->gaussian || list->other;
}

/* The delta_0 of each Gaussian event, rounded down. */
static void set_share(mpfr_ptr out, const clo_i_composition *list, mpfr_srcptr delta)
{
    mpfr_t events;
    mpfr_init2(events, CLO_I_PRECISION);
    mpfr_set_zero(events, 1);
    for (size_t i = 0; i < list->count; i++) {
        if (list->events[i].kind != CLO_EVENT_GAUSSIAN || !(list->events[i].parameter > 0))
            continue;
        mpfr_set_uj(out, list->events[i].count, MPFR_RNDN); /* exact */
        mpfr_add(events, events, out, MPFR_RNDU);
    }
    mpfr_div(out, delta, events, MPFR_RNDD);
    mpfr_clear(events);
}

/* The epsilon of one ask of the event. */
static double epsilon_alone(const clo_event *event, mpfr_srcptr share)
{
    mpfr_t square;
    if (event->kind != CLO_EVENT_GAUSSIAN) return event->parameter;
    mpfr_init2(square, CLO_I_PRECISION);
    mpfr_set_d(square, event->parameter, MPFR_RNDN); /* exact */
    mpfr_sqr(square, square, MPFR_RNDU);
    const double epsilon = clo_i_gaussian_epsilon(square, share);
    mpfr_clear(square);
    return epsilon;
}

static double naive_epsilon(const clo_i_composition *list, mpfr_srcptr delta)
{
    mpfr_t share, sum, term;
    mpfr_inits2(CLO_I_PRECISION, share, sum, term, (mpfr_ptr)0);
    set_share(share, list, delta);
    mpfr_set_zero(sum, 1);
    for (size_t i = 0; i < list->count; i++) {
        if (!list->events[i].count) continue;
        mpfr_set_uj(term, list->events[i].count, MPFR_RNDN); /* exact */
        mpfr_mul_d(term, term, epsilon_alone(&list->events[i], share), MPFR_RNDU);
        mpfr_add(sum, sum, term, MPFR_RNDU);
    }
    const double epsilon = mpfr_get_d(sum, MPFR_RNDU);
    mpfr_clears(share, sum, term, (mpfr_ptr)0);
    return epsilon;
}

/* sum epsilon tanh(epsilon/2) + sqrt(2 log(1/delta) sum epsilon^2). */
static double advanced_epsilon(const clo_i_composition *list, mpfr_srcptr delta)
{
    mpfr_t slack, share, drift, squares, term;
    if (mpfr_sgn(delta) <= 0) return INFINITY;
    mpfr_inits2(CLO_I_PRECISION, slack, share, drift, squares, term, (mpfr_ptr)0);
    mpfr_div_2ui(slack, delta, list->gaussian ? 1 : 0, MPFR_RNDD);
    set_share(share, list, slack);
    mpfr_set_zero(drift, 1);
    mpfr_set_zero(squares, 1);
    for (size_t i = 0; i < list->count; i++) {
        const clo_event *const event = &list->events[i];
        if (!event->count) continue;
        const double epsilon = epsilon_alone(event, share);
        mpfr_set_d(term, epsilon / 2, MPFR_RNDU);
        mpfr_tanh(term, term, MPFR_RNDU);
        mpfr_mul_d(term, term, epsilon, MPFR_RNDU);
        mpfr_mul_ui(term, term, event->count, MPFR_RNDU);
        mpfr_add(drift, drift, term, MPFR_RNDU);
        mpfr_set_d(term, epsilon, MPFR_RNDN); /* exact */
        mpfr_sqr(term, term, MPFR_RNDU);
        mpfr_mul_ui(term, term, event->count, MPFR_RNDU);
        mpfr_add(squares, squares, term, MPFR_RNDU);
    }
    mpfr_log(term, slack, MPFR_RNDD);
    mpfr_mul_si(term, term, -2, MPFR_RNDU);
    mpfr_mul(term, term, squares, MPFR_RNDU);
    mpfr_sqrt(term, term, MPFR_RNDU);
    mpfr_add(term, term, drift, MPFR_RNDU);
    const double epsilon = mpfr_get_d(term, MPFR_RNDU);
    mpfr_clears(slack, share, drift, squares, term, (mpfr_ptr)0);
    return epsilon;
}

const clo_i_accounting clo_i_naive = {
    .name = "basic",
    .applies = applies,
    .epsilon = naive_epsilon,
};

const clo_i_accounting clo_i_advanced = {
    .name = "advanced",
    .applies = applies,
    .epsilon = advanced_epsilon,
};
