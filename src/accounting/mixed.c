/*
 * mixed.c - Gaussian events beside others, with the Gaussian part kept exact.
 *
 * Two ways, both called "mixed".  Shift: the others have a likelihood ratio of at most
 * e^(sum epsilon), so they move the Gaussian profile along by that sum (accounting.T10); best
 * where they are few and small.  GDP: an epsilon-pure event is no easier to tell apart than a
 * Gaussian pair of a certain mu, an exponential one than that of epsilon/2 (accounting.T11), and
 * then all is Gaussian; best where they are many but not most of the cost.
 */
#include "accounting/accountant.h"
#include <float.h>
#include <math.h>

/* ---- shift --------------------------------------------------------------- */

static bool shift_applies(const clo_i_composition *list)
{
    return list->gaussian && list->other;
}

static double shifted_epsilon(const clo_i_composition *list, mpfr_srcptr delta)
{
    mpfr_t sum;
    mpfr_init2(sum, CLO_I_PRECISION);
    mpfr_add_d(sum, list->epsilon, clo_i_gaussian_epsilon(list->square, delta), MPFR_RNDU);
    const double epsilon = mpfr_get_d(sum, MPFR_RNDU);
    mpfr_clear(sum);
    return epsilon;
}

static void shifted_delta(mpfr_ptr out, const clo_i_composition *list, double epsilon)
{
    mpfr_t rest;
    mpfr_init2(rest, CLO_I_PRECISION);
    mpfr_d_sub(rest, epsilon, list->epsilon, MPFR_RNDD); /* the profile falls */
    if (mpfr_sgn(rest) < 0)
        mpfr_set_ui(out, 1, MPFR_RNDU);
    else
        clo_i_gaussian_delta(out, list->square, rest);
    mpfr_clear(rest);
}

const clo_i_accounting clo_i_mixed_shift = {
    .name = "mixed",
    .exact = false,
    .applies = shift_applies,
    .epsilon = shifted_epsilon,
    .delta = shifted_delta,
};

/* ---- GDP ----------------------------------------------------------------- */

/* Also without a Gaussian event: a price must not rise when the last of them is taken away. */
static bool gdp_applies(const clo_i_composition *list)
{
    return list->other;
}

/* What mu has to reach for log odds of x: Q(mu/2) <= 1/(1 + e^x) (accounting.T11), or the same
 * as erf(mu/sqrt(8)) >= tanh(x/2), which keeps its digits where the former is close to 1/2. */
typedef struct reach {
    bool small;
    mpfr_t mark; /* tanh(x/2) from above, or 1/(1 + e^x) from below */
} reach;

static void reach_init(reach *r, mpfr_srcptr x)
{
    mpfr_init2(r->mark, CLO_I_PRECISION);
    r->small = mpfr_cmp_ui(x, 1) < 0;
    if (r->small) {
        mpfr_div_2ui(r->mark, x, 1, MPFR_RNDU);
        mpfr_tanh(r->mark, r->mark, MPFR_RNDU);
    } else {
        mpfr_exp(r->mark, x, MPFR_RNDU);
        mpfr_add_ui(r->mark, r->mark, 1, MPFR_RNDU);
        mpfr_ui_div(r->mark, 1, r->mark, MPFR_RNDD);
    }
}

static bool covers(double mu, void *context)
{
    const reach *const r = context;
    mpfr_t half, value;
    mpfr_inits2(CLO_I_PRECISION, half, value, (mpfr_ptr)0);
    mpfr_set_d(half, mu, MPFR_RNDN);
    mpfr_div_2ui(half, half, 1, MPFR_RNDN); /* both exact */
    if (r->small) {
        mpfr_sqrt_ui(value, 2, MPFR_RNDU);
        mpfr_div(value, half, value, MPFR_RNDD);
        mpfr_erf(value, value, MPFR_RNDD);
    } else {
        clo_i_normal_tail_up(value, half);
    }
    const bool enough =
        r->small ? mpfr_greaterequal_p(value, r->mark) != 0 : mpfr_lessequal_p(value, r->mark) != 0;
    mpfr_clears(half, value, (mpfr_ptr)0);
    return enough;
}

/* 2 Q^-1(1/(1 + e^x)) in double.  Newton's steps on log Q; close to one half, where Q has no
 * digits left for the difference, on erf. */
static double gdp_near(double x)
{
    const double root_half = 0.70710678118654752, density_at_0 = 0.3989422804014327;
    if (x > 600) return 2 * sqrt(2 * x);
    double z = x < 1 ? x / (4 * density_at_0) : 0.8 * sqrt(2 * x);
    for (int i = 0; i < 30; i++) {
        const double density = density_at_0 * exp(-z * z / 2);
        const double tail = erfc(z * root_half) / 2;
        const double step = x < 1e-3 ? (tanh(x / 2) - erf(z * root_half)) / (2 * density)
                                     : (log(tail) + x + log1p(exp(-x))) * tail / density;
        z += step;
        if (!(fabs(step) > 2e-16 * z)) break;
    }
    return 2 * z;
}

/* The square of the mu to which one ask of the event is equivalent at worst: the least mu that
 * covers x = epsilon, or epsilon/2 for bounded range.  accounting.T11 */
static void gdp_square_up(mpfr_ptr out, const clo_event *event)
{
    const unsigned halvings = event->kind == CLO_EVENT_EXPONENTIAL;
    mpfr_t x;
    reach r;
    mpfr_init2(x, CLO_I_PRECISION);
    mpfr_set_d(x, event->parameter, MPFR_RNDN);
    mpfr_div_2ui(x, x, halvings, MPFR_RNDN); /* both exact */
    reach_init(&r, x);
    /* A hair above the hint nearly always covers; the search is for where the hint is poor. */
    double mu = gdp_near(mpfr_get_d(x, MPFR_RNDN)) * (1 + 0x1p-46);
    if (!isfinite(mu) || !covers(mu, &r)) mu = clo_i_search_least(covers, &r, mu);
    mpfr_set_d(out, mu, MPFR_RNDU);
    mpfr_sqr(out, out, MPFR_RNDU);
    mpfr_clears(x, r.mark, (mpfr_ptr)0);
}

static void gdp_square(mpfr_ptr out, const clo_i_composition *list)
{
    mpfr_t term, times;
    mpfr_inits2(CLO_I_PRECISION, term, times, (mpfr_ptr)0);
    mpfr_set(out, list->square, MPFR_RNDU);
    for (size_t i = 0; i < list->count; i++) {
        const clo_event *const event = &list->events[i];
        if (event->kind == CLO_EVENT_GAUSSIAN || !event->count || !(event->parameter > 0)) continue;
        gdp_square_up(term, event);
        mpfr_set_uj(times, event->count, MPFR_RNDN); /* exact */
        mpfr_mul(term, term, times, MPFR_RNDU);
        mpfr_add(out, out, term, MPFR_RNDU);
    }
    mpfr_clears(term, times, (mpfr_ptr)0);
}

static double gdp_epsilon(const clo_i_composition *list, mpfr_srcptr delta)
{
    mpfr_t square;
    mpfr_init2(square, CLO_I_PRECISION);
    gdp_square(square, list);
    const double epsilon = mpfr_inf_p(square) ? INFINITY : clo_i_gaussian_epsilon(square, delta);
    mpfr_clear(square);
    return epsilon;
}

static void gdp_delta(mpfr_ptr out, const clo_i_composition *list, double epsilon)
{
    mpfr_t square, level;
    mpfr_inits2(CLO_I_PRECISION, square, level, (mpfr_ptr)0);
    gdp_square(square, list);
    mpfr_set_d(level, epsilon, MPFR_RNDN); /* exact */
    if (mpfr_inf_p(square))
        mpfr_set_ui(out, 1, MPFR_RNDU);
    else
        clo_i_gaussian_delta(out, square, level);
    mpfr_clears(square, level, (mpfr_ptr)0);
}

/* Where the hint of every event is as good as the search for it. */
static double gdp_log_delta_near(const clo_i_composition *list, double epsilon, double *error)
{
    *error = 1e-8;
    double square = mpfr_get_d(list->square, MPFR_RNDN);
    for (size_t i = 0; i < list->count; i++) {
        const clo_event *const event = &list->events[i];
        if (event->kind == CLO_EVENT_GAUSSIAN || !event->count || !(event->parameter > 0)) continue;
        const double x =
            event->kind == CLO_EVENT_EXPONENTIAL ? event->parameter / 2 : event->parameter;
        if (!(x > 1e-6 && x < 100)) return NAN;
        const double mu = gdp_near(x);
        square += (double)event->count * mu * mu;
    }
    return clo_i_gaussian_log_delta_near(sqrt(square), epsilon);
}

const clo_i_accounting clo_i_mixed_gdp = {
    .name = "mixed",
    .exact = false,
    .least = true,
    .slack = 0x1p-40,
    .applies = gdp_applies,
    .epsilon = gdp_epsilon,
    .delta = gdp_delta,
    .log_delta_near = gdp_log_delta_near,
};
