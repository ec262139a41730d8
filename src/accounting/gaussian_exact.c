/*
 * gaussian_exact.c - what Gaussian events cost together, exactly.
 *
 * n Gaussian events, also adaptive ones (accounting.T2), are one with mu = sqrt(sum mu_i^2)
 * (accounting.T1), and its profile is
 *
 *     delta(epsilon) = Q(a) - e^epsilon Q(b),   a = epsilon/mu - mu/2,   b = epsilon/mu + mu/2,
 *
 * Q the upper tail of the normal law (accounting.T3).  The first term is rounded up and the
 * second down, so the difference is a bound at every precision; they nearly cancel where mu is
 * small, so the precision doubles until the bound is also tight (accounting.T12).
 */
#include "accounting/accountant.h"
#include <float.h>
#include <math.h>

/* A bound is tight at 2^-TIGHT of its value.  Below 2^SMALLEST no double can tell values apart.
 * At the largest precision every pair of doubles whose delta is a double is resolved. */
enum { FIRST_PRECISION = 160, LARGEST_PRECISION = 2560, TIGHT = 70, SMALLEST = -1080 };

/* x / sqrt(2), rounded as asked; the root goes the way that does the same. */
static void over_root_two(mpfr_ptr out, mpfr_srcptr x, mpfr_rnd_t round)
{
    const bool enlarge = (round == MPFR_RNDU) == (mpfr_sgn(x) >= 0);
    mpfr_t root;
    mpfr_init2(root, mpfr_get_prec(out));
    mpfr_sqrt_ui(root, 2, enlarge ? MPFR_RNDD : MPFR_RNDU);
    mpfr_div(out, x, root, round);
    mpfr_clear(root);
}

void clo_i_normal_tail_up(mpfr_ptr out, mpfr_srcptr x)
{
    over_root_two(out, x, MPFR_RNDD); /* the tail falls */
    mpfr_erfc(out, out, MPFR_RNDU);
    mpfr_div_2ui(out, out, 1, MPFR_RNDU);
}

void clo_i_normal_tail_down(mpfr_ptr out, mpfr_srcptr x)
{
    over_root_two(out, x, MPFR_RNDU);
    mpfr_erfc(out, out, MPFR_RNDD);
    mpfr_div_2ui(out, out, 1, MPFR_RNDD);
}

/* One evaluation of the profile, at the precision of these numbers. */
typedef struct profile {
    mpfr_t quotient, half, a, b;
    mpfr_t first;  /* Q(a), from above */
    mpfr_t second; /* e^epsilon Q(b), from below */
    mpfr_t delta;  /* from above */
} profile;

static void profile_init(profile *p, mpfr_prec_t precision)
{
    mpfr_inits2(precision, p->quotient, p->half, p->a, p->b, p->first, p->second, p->delta,
                (mpfr_ptr)0);
}

static void profile_clear(profile *p)
{
    mpfr_clears(p->quotient, p->half, p->a, p->b, p->first, p->second, p->delta, (mpfr_ptr)0);
}

/* accounting.T3: a from below and b from above, since tails fall. */
static void evaluate(profile *p, mpfr_srcptr mu, mpfr_srcptr epsilon)
{
    mpfr_div_2ui(p->half, mu, 1, MPFR_RNDU);
    mpfr_div(p->quotient, epsilon, mu, MPFR_RNDU);
    mpfr_add(p->b, p->quotient, p->half, MPFR_RNDU);
    mpfr_div(p->quotient, epsilon, mu, MPFR_RNDD);
    mpfr_sub(p->a, p->quotient, p->half, MPFR_RNDD);
    clo_i_normal_tail_up(p->first, p->a);
    clo_i_normal_tail_down(p->second, p->b);
    mpfr_exp(p->quotient, epsilon, MPFR_RNDD);
    mpfr_mul(p->second, p->second, p->quotient, MPFR_RNDD);
    mpfr_sub(p->delta, p->first, p->second, MPFR_RNDU);
}

/* The rounding errors together are below 32 (1 + b^2) 2^-precision of the first term
 * (accounting.T12); compared by exponents. */
static bool is_tight(const profile *p, mpfr_prec_t precision)
{
    if (mpfr_zero_p(p->delta) || mpfr_get_exp(p->delta) < SMALLEST) return true;
    const mpfr_exp_t argument = mpfr_get_exp(p->b) > 0 ? 2 * mpfr_get_exp(p->b) : 0;
    const mpfr_exp_t error = mpfr_get_exp(p->first) + 6 + argument - precision;
    return error <= mpfr_get_exp(p->delta) - 1 - TIGHT;
}

/* The terms agree in about log2(b / mu) bits, which need not be found out by trying. */
static mpfr_prec_t first_precision(mpfr_srcptr mu, mpfr_srcptr epsilon)
{
    const mpfr_exp_t large = mpfr_zero_p(epsilon) ? 0 : mpfr_get_exp(epsilon) - mpfr_get_exp(mu);
    const mpfr_exp_t agreeing = (large > 0 ? 3 * large : 0) - mpfr_get_exp(mu);
    if (agreeing <= FIRST_PRECISION - TIGHT - 20) return FIRST_PRECISION;
    const mpfr_exp_t wanted = agreeing + TIGHT + 20;
    return wanted < LARGEST_PRECISION ? wanted : LARGEST_PRECISION;
}

/* Leaves the profile at a precision at which it is tight, or the largest. */
static void evaluate_tightly(profile *p, mpfr_srcptr mu, mpfr_srcptr epsilon)
{
    mpfr_prec_t precision = first_precision(mu, epsilon);
    profile_init(p, precision);
    for (;;) {
        evaluate(p, mu, epsilon);
        if (is_tight(p, precision) || precision >= LARGEST_PRECISION) return;
        precision = 2 * precision < LARGEST_PRECISION ? 2 * precision : LARGEST_PRECISION;
        profile_clear(p);
        profile_init(p, precision);
    }
}

void clo_i_gaussian_delta(mpfr_ptr out, mpfr_srcptr square, mpfr_srcptr epsilon)
{
    profile p;
    mpfr_t mu;
    if (mpfr_zero_p(square)) {
        mpfr_set_zero(out, 1);
        return;
    }
    mpfr_init2(mu, CLO_I_PRECISION);
    mpfr_sqrt(mu, square, MPFR_RNDU); /* the profile rises with mu */
    evaluate_tightly(&p, mu, epsilon);
    mpfr_set(out, p.delta, MPFR_RNDU);
    if (mpfr_cmp_ui(out, 1) > 0) mpfr_set_ui(out, 1, MPFR_RNDU);
    profile_clear(&p);
    mpfr_clear(mu);
}

/* ---- hints --------------------------------------------------------------- */

static double log_of(mpfr_srcptr x)
{
    long exponent;
    const double digits = mpfr_get_d_2exp(&exponent, x, MPFR_RNDN);
    return log(digits) + (double)exponent * 0.69314718055994531;
}

/* At these doubles: log(delta / wanted), whose digits are good near 0, and log(Q(a) / delta). */
static void log_profile(double mu, double epsilon, mpfr_srcptr wanted, double *excess,
                        double *first)
{
    profile p;
    mpfr_t mean, level;
    mpfr_inits2(DBL_MANT_DIG, mean, level, (mpfr_ptr)0);
    mpfr_set_d(mean, mu, MPFR_RNDN);
    mpfr_set_d(level, epsilon, MPFR_RNDN);
    evaluate_tightly(&p, mean, level);
    mpfr_div(p.first, p.first, p.delta, MPFR_RNDN);
    mpfr_div(p.delta, p.delta, wanted, MPFR_RNDN);
    *excess = log_of(p.delta);
    *first = log_of(p.first);
    profile_clear(&p);
    mpfr_clears(mean, level, (mpfr_ptr)0);
}

/* The same in double, which is a hundred times faster; false where too many digits cancel. */
static bool log_profile_near(double mu, double epsilon, double log_wanted, double *excess,
                             double *first)
{
    const double root_half = 0.70710678118654752, middle = epsilon / mu;
    const double above = erfc((middle - mu / 2) * root_half) / 2;
    const double below = exp(epsilon) * erfc((middle + mu / 2) * root_half) / 2;
    const double delta = above - below;
    if (!(delta > 1e-6 * above && above > 0x1p-1000 && isfinite(below))) return false;
    *excess = log(delta) - log_wanted;
    *first = log(above / delta);
    return true;
}

/* Newton's steps go in double until they are small, then with all digits. */
typedef struct newton {
    mpfr_srcptr delta;
    double log_delta;
    bool rough;
} newton;

static void newton_profile(newton *n, double mu, double epsilon, double *excess, double *first)
{
    if (n->rough) n->rough = log_profile_near(mu, epsilon, n->log_delta, excess, first);
    if (!n->rough) log_profile(mu, epsilon, n->delta, excess, first);
}

/* Whether a step ends it: a relative one that all digits have made.  The error after a step is
 * about its square, so that one this small leaves nothing that a double could hold. */
static bool newton_ends(newton *n, double step)
{
    const double small = 1e-7, enough = 1e-8;
    const bool rough = n->rough;
    if (fabs(step) <= small) n->rough = false;
    return !rough && fabs(step) <= enough;
}

enum { NEWTON_STEPS = 40 };

/* Newton's steps on log delta, which is concave in epsilon: every step lands at or above the
 * root, and so does the start, because delta <= min(1, mu phi(0)) exp(-a^2/2) where a >= 0. */
static double epsilon_near(double mu, mpfr_srcptr delta)
{
    newton n = { delta, log_of(delta), true };
    const double tail = fmin(log(0.4 * mu), 0) - n.log_delta;
    double epsilon = mu * sqrt(2 * fmax(tail, 0)) + mu * mu / 2;
    for (int i = 0; i < NEWTON_STEPS && isfinite(epsilon); i++) {
        double excess, first;
        newton_profile(&n, mu, epsilon, &excess, &first);
        /* minus the slope is Q(a)/delta - 1 */
        const double step = first > 100 ? excess * exp(-first) : excess / expm1(first);
        if (!isfinite(step)) break;
        epsilon = fmax(epsilon + step, 0);
        if (!(epsilon > 0) || newton_ends(&n, step / epsilon)) break;
    }
    return epsilon;
}

/* The same in log mu, with d delta / d mu = phi(a) (accounting.T3). */
double clo_i_gaussian_mu_near(double epsilon, mpfr_srcptr delta)
{
    newton n = { delta, log_of(delta), true };
    const double tail = sqrt(-2 * n.log_delta);
    double mu = 2 * epsilon / (tail + sqrt(tail * tail + 2 * epsilon));
    for (int i = 0; i < NEWTON_STEPS && isfinite(mu) && mu > 0; i++) {
        double excess, first;
        newton_profile(&n, mu, epsilon, &excess, &first);
        const double a = epsilon / mu - mu / 2;
        const double log_density = -a * a / 2 - 0.91893853320467274;
        const double step = -excess / (mu * exp(log_density - n.log_delta - excess));
        if (!isfinite(step)) break;
        mu *= exp(fmin(step, 1));
        if (newton_ends(&n, step)) break;
    }
    return mu;
}

/* ---- the method ---------------------------------------------------------- */

typedef struct target {
    mpfr_srcptr square, delta;
} target;

static bool pays(double epsilon, void *context)
{
    const target *const t = context;
    mpfr_t level, cost;
    mpfr_init2(level, DBL_MANT_DIG);
    mpfr_init2(cost, CLO_I_PRECISION);
    mpfr_set_d(level, epsilon, MPFR_RNDN); /* exact */
    clo_i_gaussian_delta(cost, t->square, level);
    const bool paid = mpfr_lessequal_p(cost, t->delta);
    mpfr_clears(level, cost, (mpfr_ptr)0);
    return paid;
}

double clo_i_gaussian_epsilon(mpfr_srcptr square, mpfr_srcptr delta)
{
    target t = { square, delta };
    if (mpfr_zero_p(square)) return 0;
    if (mpfr_sgn(delta) <= 0) return INFINITY;
    const double mu = exp(log_of(square) / 2);
    return clo_i_search_least(pays, &t, epsilon_near(mu, delta));
}

static bool applies(const clo_i_composition *list)
{
    return list->gaussian && !list->other;
}

static double epsilon_of(const clo_i_composition *list, mpfr_srcptr delta)
{
    return clo_i_gaussian_epsilon(list->square, delta);
}

static void delta_of(mpfr_ptr out, const clo_i_composition *list, double epsilon)
{
    mpfr_t level;
    mpfr_init2(level, DBL_MANT_DIG);
    mpfr_set_d(level, epsilon, MPFR_RNDN); /* exact */
    clo_i_gaussian_delta(out, list->square, level);
    mpfr_clear(level);
}

const clo_i_accounting clo_i_gaussian_exact = {
    .name = "gaussian-exact",
    .exact = true,
    .applies = applies,
    .epsilon = epsilon_of,
    .delta = delta_of,
};
