/*
 * renyi.c - Renyi divergences add, order by order, and convert to (epsilon, delta).
 *
 * Each kind of event has its exact curve (accounting.T4 Gaussian, accounting.T5 pure,
 * accounting.T6 bounded range), and the conversion is that of Canonne, Kamath and Steinke 2020
 * (accounting.T7).  Every order gives a valid bound, so the order is chosen in double, quickly
 * and without proof, and only the bound at the chosen order is computed with directed rounding.
 */
#include "accounting/accountant.h"
#include <float.h>
#include <math.h>

/* ---- the order, in double ------------------------------------------------ */

/* Orders from 1 + e^-28 to e^700: beyond lie only costs and deltas that no double holds. */
static const double FIRST_LOG_BETA = -28, LAST_LOG_BETA = 700;
enum { GRID = 104, GOLDEN_STEPS = 48 };

double clo_i_best_order(double (*bound)(double log_beta, const void *context), const void *context)
{
    const double golden = 0.61803398874989485;
    const double spacing = (LAST_LOG_BETA - FIRST_LOG_BETA) / GRID;
    double best = FIRST_LOG_BETA, least = INFINITY;
    for (int i = 0; i <= GRID; i++) {
        const double value = bound(FIRST_LOG_BETA + spacing * i, context);
        if (value < least) {
            least = value;
            best = FIRST_LOG_BETA + spacing * i;
        }
    }
    double low = fmax(best - spacing, FIRST_LOG_BETA), high = fmin(best + spacing, LAST_LOG_BETA);
    double left = high - golden * (high - low), right = low + golden * (high - low);
    double at_left = bound(left, context), at_right = bound(right, context);
    for (int i = 0; i < GOLDEN_STEPS; i++) {
        if (at_left <= at_right) {
            high = right;
            right = left;
            at_right = at_left;
            left = high - golden * (high - low);
            at_left = bound(left, context);
        } else {
            low = left;
            left = right;
            at_left = at_right;
            right = low + golden * (high - low);
            at_right = bound(right, context);
        }
    }
    const double middle = (low + high) / 2;
    return bound(middle, context) <= least ? middle : best;
}

/* log(sinh(x/2) / (x/2)), for x >= 0, to nearly all digits of a double. */
static double log_sinhc_near(double x)
{
    const double y = x / 2, z = y * y;
    if (x > 0.5) return y + log1p(-exp(-x)) - log(x);
    return z * (1.0 / 6 -
                z * (1.0 / 180 -
                     z * (1.0 / 2835 -
                          z * (1.0 / 37800 - z * (1.0 / 467775 - z * (691.0 / 3831077250))))));
}

/* accounting.T6 in double: a power series for small losses, and otherwise the differences of
 * the logarithms taken before the logarithms. */
static double range_curve_near(double epsilon, double alpha, double beta)
{
    if (alpha * epsilon < 0.1) {
        const double v = alpha * epsilon * (beta * epsilon), w = v + epsilon * epsilon;
        return alpha * epsilon * epsilon *
               (1.0 / 8 - w * (5.0 / 2880 - w * (7.0 / 181440)) -
                3 * (3 * w * w * w + v * v * (w - v)) / 9676800);
    }
    return (log_sinhc_near(alpha * epsilon) - log_sinhc_near(epsilon)) / beta + epsilon / 2 -
           log1p(1 / beta) + log1p(-expm1(-epsilon) / expm1(beta * epsilon));
}

/* accounting.T5 in double. */
static double pure_curve_near(double epsilon, double alpha, double beta)
{
    if (alpha * epsilon < 20)
        return log1p(2 * sinh(alpha * epsilon / 2) * sinh(beta * epsilon / 2) / cosh(epsilon / 2)) /
               beta;
    return epsilon + (log1p(exp(-(alpha + beta) * epsilon)) - log1p(exp(-epsilon))) / beta;
}

/* These keep their digits for all losses, because a hint that jitters makes a price that does;
 * but for orders close to 1, where the curves are flat and any near order will do. */
static double curve_near(const clo_event *event, double order_less_1)
{
    const double beta = fmax(order_less_1, 1e-3), alpha = 1 + beta;
    const double curve = event->kind == CLO_EVENT_EXPONENTIAL
                             ? range_curve_near(event->parameter, alpha, beta)
                             : pure_curve_near(event->parameter, alpha, beta);
    return fmin(curve, event->parameter); /* also where the curve is no number */
}

typedef struct aim {
    const clo_i_composition *list;
    double mu;        /* of the Gaussian events */
    double log_delta; /* asked for: epsilon_near */
    double epsilon;   /* asked for: log_delta_near */
} aim;

static double divergence_near(const aim *a, double alpha, double beta)
{
    double sum = alpha * a->mu * a->mu / 2; /* in this order: the square may underflow */
    for (size_t i = 0; i < a->list->count; i++) {
        const clo_event *const event = &a->list->events[i];
        if (event->kind != CLO_EVENT_GAUSSIAN && event->count)
            sum += (double)event->count * curve_near(event, beta);
    }
    return sum;
}

static double epsilon_near(double log_beta, const void *context)
{
    const aim *const a = context;
    const double beta = exp(log_beta), alpha = 1 + beta;
    return divergence_near(a, alpha, beta) + log1p(-1 / alpha) - (a->log_delta + log(alpha)) / beta;
}

/* A large beta would turn the divergence's last digit into a promise of a tiny delta that the
 * certified bound then breaks; a margin on it keeps the choice away from there. */
static double log_delta_near(double log_beta, const void *context)
{
    const aim *const a = context;
    const double beta = exp(log_beta), alpha = 1 + beta, margin = 1 + 1e-14;
    return beta * (margin * divergence_near(a, alpha, beta) - a->epsilon) - log_beta +
           alpha * log1p(-1 / alpha);
}

/* ---- the bound at that order, rounded up --------------------------------- */

void clo_i_order_init(clo_i_order *order, double log_beta)
{
    mpfr_inits2(CLO_I_PRECISION, order->beta, order->up, order->down, (mpfr_ptr)0);
    mpfr_set_d(order->beta, exp(log_beta), MPFR_RNDN); /* whatever double it is, it is exact */
    mpfr_add_ui(order->up, order->beta, 1, MPFR_RNDU);
    mpfr_add_ui(order->down, order->beta, 1, MPFR_RNDD);
}

void clo_i_order_clear(clo_i_order *order)
{
    mpfr_clears(order->beta, order->up, order->down, (mpfr_ptr)0);
}

/* log(1 - 1/alpha), rounded up; it rises with alpha. */
static void log_share_up(mpfr_ptr out, const clo_i_order *order)
{
    mpfr_si_div(out, -1, order->up, MPFR_RNDU);
    mpfr_log1p(out, out, MPFR_RNDU);
}

void clo_i_order_tail_up(mpfr_ptr out, const clo_i_order *order)
{
    log_share_up(out, order); /* alpha log(1 - 1/alpha) rises with alpha: all of it at `up` */
    mpfr_mul(out, out, order->up, MPFR_RNDU);
}

/* log(sinh(x/2) / (x/2)) for x > 0, rounded as asked; it rises with x. */
static void log_sinhc(mpfr_ptr out, mpfr_srcptr x, mpfr_rnd_t round)
{
    mpfr_t half;
    mpfr_init2(half, CLO_I_PRECISION);
    mpfr_div_2ui(half, x, 1, MPFR_RNDN); /* exact */
    mpfr_sinh(out, half, round);
    mpfr_div(out, out, half, round);
    mpfr_log(out, out, round);
    mpfr_clear(half);
}

/* accounting.T5: log(1 + 2 sinh(alpha epsilon/2) sinh(beta epsilon/2) / cosh(epsilon/2)) / beta. */
static void pure_curve_up(mpfr_ptr out, mpfr_srcptr epsilon, const clo_i_order *order)
{
    mpfr_t half, term;
    mpfr_inits2(CLO_I_PRECISION, half, term, (mpfr_ptr)0);
    mpfr_div_2ui(half, epsilon, 1, MPFR_RNDN); /* exact */
    mpfr_mul(term, order->up, half, MPFR_RNDU);
    mpfr_sinh(out, term, MPFR_RNDU);
    mpfr_mul(term, order->beta, half, MPFR_RNDU);
    mpfr_sinh(term, term, MPFR_RNDU);
    mpfr_mul(out, out, term, MPFR_RNDU);
    mpfr_cosh(term, half, MPFR_RNDD);
    mpfr_div(out, out, term, MPFR_RNDU);
    mpfr_mul_2ui(out, out, 1, MPFR_RNDU);
    mpfr_log1p(out, out, MPFR_RNDU);
    mpfr_div(out, out, order->beta, MPFR_RNDU);
    mpfr_clears(half, term, (mpfr_ptr)0);
}

/* accounting.T6, in the form that needs no digits of alpha - beta; s(x) = log(sinh(x/2) / (x/2)):
 * (s(alpha epsilon) - s(epsilon)) / beta + epsilon/2
 *     - log(1 + 1/beta) + log(1 + (1 - e^-epsilon) / (e^(beta epsilon) - 1)). */
static void range_curve_up(mpfr_ptr out, mpfr_srcptr epsilon, const clo_i_order *order)
{
    mpfr_t term, divisor;
    mpfr_inits2(CLO_I_PRECISION, term, divisor, (mpfr_ptr)0);
    mpfr_mul(term, order->up, epsilon, MPFR_RNDU);
    log_sinhc(out, term, MPFR_RNDU);
    log_sinhc(term, epsilon, MPFR_RNDD);
    mpfr_sub(out, out, term, MPFR_RNDU);
    mpfr_div(out, out, order->beta, MPFR_RNDU);

    mpfr_div_2ui(term, epsilon, 1, MPFR_RNDU);
    mpfr_add(out, out, term, MPFR_RNDU);
    mpfr_ui_div(term, 1, order->beta, MPFR_RNDD);
    mpfr_log1p(term, term, MPFR_RNDD);
    mpfr_sub(out, out, term, MPFR_RNDU);

    mpfr_mul(divisor, order->beta, epsilon, MPFR_RNDD);
    mpfr_expm1(divisor, divisor, MPFR_RNDD);
    mpfr_neg(term, epsilon, MPFR_RNDN); /* exact */
    mpfr_expm1(term, term, MPFR_RNDD);
    mpfr_neg(term, term, MPFR_RNDN);
    mpfr_div(term, term, divisor, MPFR_RNDU);
    mpfr_log1p(term, term, MPFR_RNDU);
    mpfr_add(out, out, term, MPFR_RNDU);
    mpfr_clears(term, divisor, (mpfr_ptr)0);
}

/* epsilon tanh(epsilon/2): the zCDP of a pure event (accounting.T5). */
static void pure_rho_up(mpfr_ptr out, mpfr_srcptr epsilon)
{
    mpfr_div_2ui(out, epsilon, 1, MPFR_RNDU);
    mpfr_tanh(out, out, MPFR_RNDU);
    mpfr_mul(out, out, epsilon, MPFR_RNDU);
}

void clo_i_event_rho_up(mpfr_ptr out, const clo_event *event)
{
    mpfr_t parameter, square;
    mpfr_inits2(CLO_I_PRECISION, parameter, square, (mpfr_ptr)0);
    mpfr_set_d(parameter, event->parameter, MPFR_RNDN); /* exact */
    mpfr_sqr(square, parameter, MPFR_RNDU);
    switch (event->kind) {
    case CLO_EVENT_GAUSSIAN: /* accounting.T4 */
        mpfr_div_2ui(out, square, 1, MPFR_RNDU);
        break;
    case CLO_EVENT_EXPONENTIAL: /* accounting.T6; what has bounded range is also pure */
        mpfr_div_2ui(square, square, 3, MPFR_RNDU);
        pure_rho_up(out, parameter);
        mpfr_min(out, out, square, MPFR_RNDU);
        break;
    case CLO_EVENT_PURE:
    case CLO_EVENT_APPROXIMATE: /* once its reveal is set apart, accounting.T8 */
        pure_rho_up(out, parameter);
        break;
    }
    mpfr_clears(parameter, square, (mpfr_ptr)0);
}

/* The least of the curve, the straight line of zCDP (which wins where the curve's differences
 * have lost their digits), and the loss at order infinity. */
static void curve_up(mpfr_ptr out, const clo_event *event, const clo_i_order *order)
{
    mpfr_t epsilon, line;
    mpfr_inits2(CLO_I_PRECISION, epsilon, line, (mpfr_ptr)0);
    mpfr_set_d(epsilon, event->parameter, MPFR_RNDN); /* exact */
    clo_i_event_rho_up(line, event);
    mpfr_mul(line, line, order->up, MPFR_RNDU);
    if (event->kind == CLO_EVENT_EXPONENTIAL)
        range_curve_up(out, epsilon, order);
    else
        pure_curve_up(out, epsilon, order);
    mpfr_min(out, out, line, MPFR_RNDU); /* mpfr_min passes over a NaN (inf - inf) */
    mpfr_min(out, out, epsilon, MPFR_RNDU);
    mpfr_clears(epsilon, line, (mpfr_ptr)0);
}

/* The whole list's divergence at this order: they add (accounting.T4). */
static void divergence_up(mpfr_ptr out, const clo_i_composition *list, const clo_i_order *order)
{
    mpfr_t term, times;
    mpfr_inits2(CLO_I_PRECISION, term, times, (mpfr_ptr)0);
    mpfr_mul(out, order->up, list->square, MPFR_RNDU);
    mpfr_div_2ui(out, out, 1, MPFR_RNDU);
    for (size_t i = 0; i < list->count; i++) {
        const clo_event *const event = &list->events[i];
        if (event->kind == CLO_EVENT_GAUSSIAN || !event->count || !(event->parameter > 0)) continue;
        curve_up(term, event, order);
        mpfr_set_uj(times, event->count, MPFR_RNDN); /* exact */
        mpfr_mul(term, term, times, MPFR_RNDU);
        mpfr_add(out, out, term, MPFR_RNDU);
    }
    mpfr_clears(term, times, (mpfr_ptr)0);
}

/* ---- the method ---------------------------------------------------------- */

static bool applies(const clo_i_composition *list)
{
    return list->gaussian || list->other;
}

static aim aim_at(const clo_i_composition *list)
{
    aim a = { .list = list };
    mpfr_t mu;
    mpfr_init2(mu, DBL_MANT_DIG);
    mpfr_sqrt(mu, list->square, MPFR_RNDN);
    a.mu = mpfr_get_d(mu, MPFR_RNDN);
    mpfr_clear(mu);
    return a;
}

/* accounting.T7, solved for epsilon:
 * divergence + log(1 - 1/alpha) - (log delta + log alpha) / beta. */
static double epsilon_of(const clo_i_composition *list, mpfr_srcptr delta)
{
    mpfr_t bound, term;
    clo_i_order order;
    if (mpfr_sgn(delta) <= 0) return INFINITY;
    mpfr_inits2(CLO_I_PRECISION, bound, term, (mpfr_ptr)0);
    mpfr_log(term, delta, MPFR_RNDD);
    aim a = aim_at(list);
    a.log_delta = mpfr_get_d(term, MPFR_RNDN);
    clo_i_order_init(&order, clo_i_best_order(epsilon_near, &a));

    mpfr_log(bound, order.down, MPFR_RNDD);
    mpfr_add(bound, bound, term, MPFR_RNDD);
    mpfr_neg(bound, bound, MPFR_RNDN);
    mpfr_div(bound, bound, order.beta, MPFR_RNDU);
    log_share_up(term, &order);
    mpfr_add(bound, bound, term, MPFR_RNDU);
    divergence_up(term, list, &order);
    mpfr_add(bound, bound, term, MPFR_RNDU);
    const double epsilon = mpfr_nan_p(bound) ? INFINITY : fmax(mpfr_get_d(bound, MPFR_RNDU), 0);
    clo_i_order_clear(&order);
    mpfr_clears(bound, term, (mpfr_ptr)0);
    return epsilon;
}

/* accounting.T7: exp(beta (divergence - epsilon)) / beta * (1 - 1/alpha)^alpha. */
static void delta_of(mpfr_ptr out, const clo_i_composition *list, double epsilon)
{
    mpfr_t bound, term;
    clo_i_order order;
    aim a = aim_at(list);
    a.epsilon = epsilon;
    mpfr_inits2(CLO_I_PRECISION, bound, term, (mpfr_ptr)0);
    clo_i_order_init(&order, clo_i_best_order(log_delta_near, &a));

    divergence_up(bound, list, &order);
    mpfr_sub_d(bound, bound, epsilon, MPFR_RNDU);
    mpfr_mul(bound, bound, order.beta, MPFR_RNDU);
    mpfr_log(term, order.beta, MPFR_RNDD);
    mpfr_sub(bound, bound, term, MPFR_RNDU);
    clo_i_order_tail_up(term, &order);
    mpfr_add(bound, bound, term, MPFR_RNDU);
    if (mpfr_sgn(bound) >= 0)
        mpfr_set_ui(out, 1, MPFR_RNDU);
    else
        mpfr_exp(out, bound, MPFR_RNDU);
    clo_i_order_clear(&order);
    mpfr_clears(bound, term, (mpfr_ptr)0);
}

/* The margin of log_delta_near, and rounding, are a hundredth of this error. */
static double log_delta_of_near(const clo_i_composition *list, double epsilon, double *error)
{
    aim a = aim_at(list);
    a.epsilon = epsilon;
    const double log_beta = clo_i_best_order(log_delta_near, &a), beta = exp(log_beta);
    const double size = beta * (divergence_near(&a, 1 + beta, beta) + epsilon);
    *error = 1e-9 + 1e-11 * size;
    /* from curve_near's least order on, and as far as deltas are numbers */
    return beta > 1e-3 && size < 1e12 ? fmin(log_delta_near(log_beta, &a), 0) : NAN;
}

const clo_i_accounting clo_i_renyi = {
    .name = "renyi",
    .exact = false,
    .slack = 0x1p-40,
    .applies = applies,
    .epsilon = epsilon_of,
    .delta = delta_of,
    .log_delta_near = log_delta_of_near,
};
