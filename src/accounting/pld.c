/*
 * pld.c - prices by the privacy loss distribution.
 *
 * With the composed, tilted masses m(l) of all events but the Gaussian ones, and G the exact
 * profile of the Gaussian ones (they are one event, accounting.T2),
 *
 *     delta(epsilon) = sum_l m(l) e^(scale - tilt l) G(epsilon - l)              (accounting.T18)
 *
 * and e^(-tilt (l - epsilon)) G(epsilon - l) never exceeds e^cap, the Renyi bound's constant, so
 * that an error of the masses costs at most that share of the Renyi bound.  Terms are summed up
 * divided by e^cap, between 0 and 1; whatever tilt is chosen, the bound holds.
 */
#include "accounting/pld.h"
#include <float.h>
#include <math.h>

/* ---- one term ------------------------------------------------------------- */

/* Where a delta is summed up, and which way it is rounded. */
typedef struct level {
    const clo_i_pld *pld;
    double epsilon, mu, cap;
    bool up;
} level;

/* log of (1 - 1/alpha)^alpha / beta * e^(beta alpha mu^2/2), alpha = 1 + tilt (accounting.T7),
 * with room for its own rounding. */
static double log_cap(double tilt, double mu)
{
    const double constant = -tilt * log1p(1 / tilt) - log1p(tilt);
    const double gaussian = tilt * (1 + tilt) * mu * mu / 2;
    return constant + gaussian + 0x1p-45 * (1 + gaussian - constant);
}

static level level_at(const clo_i_pld *pld, double epsilon, bool up)
{
    const double mu = up ? pld->mu_up : pld->mu_down;
    return (level){ pld, epsilon, mu, log_cap(pld->tilt, mu), up };
}

/* e^log_weight P[N(0,1) > x], but for rounding; beyond 36 by the two sides of Mills' ratio. */
static double weighted_tail(double log_weight, double x, bool up)
{
    const double root_half = 0.70710678118654752, density_at_0 = 0.3989422804014327;
    if (x > 36) return exp(log_weight - x * x / 2) * density_at_0 * (up ? 1 / x : x / (1 + x * x));
    const double tail = erfc(x * root_half) / 2;
    return fabs(log_weight) < 600 ? exp(log_weight) * tail : exp(log_weight + log(tail));
}

/* A term and, for the slope, its second part.  `gap` is epsilon less the loss. */
typedef struct term {
    double value, second;
} term;

static term gaussian_term(const level *at, double gap)
{
    const double tilt = at->pld->tilt, quotient = gap / at->mu;
    const double a = quotient - at->mu / 2, b = quotient + at->mu / 2;
    const double weight = tilt * gap - at->cap, moved = fabs(quotient) + at->mu;
    const double common = 32 + 8 * (tilt + 1) * fabs(gap) + 8 * fabs(at->cap);
    const double first_error = CLO_I_ROUNDING * (common + 8 * (1 + fabs(a)) * moved);
    const double second_error = CLO_I_ROUNDING * (common + 8 * (1 + fabs(b)) * moved);
    const double sign = at->up ? 1 : -1;
    const double first = weighted_tail(weight, a, at->up) * (1 + sign * first_error);
    const double second = weighted_tail(weight + gap, b, !at->up) * (1 - sign * second_error);
    return (term){ first - second, second };
}

/* Without a Gaussian event G(x) = (1 - e^x) below 0. */
static term plain_term(const level *at, double gap)
{
    const double tilt = at->pld->tilt, sign = at->up ? 1 : -1;
    if (!(gap < 0)) return (term){ 0, 0 };
    const double error = CLO_I_ROUNDING * (32 + 8 * tilt * -gap + 8 * fabs(at->cap));
    const double weight = exp(tilt * gap - at->cap) * (1 + sign * error);
    return (term){ -expm1(gap) * weight, exp(gap) * weight };
}

/* Losses are products of a cell's number and its width, off by a rounding: the gap goes the safe
 * way by four of them.  What that does to the weight is within its error. */
static term term_of(const level *at, double loss)
{
    const double moved = 4 * CLO_I_ROUNDING * (fabs(loss) + at->epsilon);
    const double gap = at->epsilon - loss + (at->up ? -moved : moved);
    const double weight = 1 + (at->up ? 4 : -4) * at->pld->tilt * moved;
    term t = at->mu > 0 ? gaussian_term(at, gap) : plain_term(at, gap);
    t.value = fmin(fmax(t.value * weight, 0), 1);
    return t;
}

/* ---- delta ---------------------------------------------------------------- */

/* Masses that are far below the error are left out and charged with it.  Terms that vanish because
 * no double is that small are charged as well: far from the tilt's best epsilon that is all of
 * them, and the bound that they are a share of is large. */
static const double LEFT_OUT = 0.05, VANISHED = 0x1p-900;

static term sum_at(const level *at)
{
    const clo_i_pld *const pld = at->pld;
    const double least = LEFT_OUT * pld->error / (double)pld->size;
    term sum = { 0, 0 };
    for (size_t j = 0; j < pld->size; j++) {
        if (!(pld->mass[j] > least)) continue;
        const term t = term_of(at, (double)(pld->first + (int64_t)j) * pld->step);
        sum.value += pld->mass[j] * t.value;
        sum.second += pld->mass[j] * t.second;
    }
    const double error = (1 + 2 * LEFT_OUT) * pld->error + VANISHED, summation = 0x1p-32;
    sum.value = at->up ? sum.value * (1 + summation) + error : sum.value * (1 - summation) - error;
    return sum;
}

/* log of the Renyi bound that the sum is a share of. */
static void log_bound(mpfr_ptr out, const level *at)
{
    const mpfr_rnd_t round = at->up ? MPFR_RNDU : MPFR_RNDD;
    mpfr_set_d(out, at->pld->tilt, MPFR_RNDN); /* exact */
    mpfr_mul_d(out, out, -at->epsilon, round);
    mpfr_add(out, out, at->up ? at->pld->scale_up : at->pld->scale_down, round);
    mpfr_add_d(out, out, at->cap, round);
}

/* delta at this epsilon, from above; and from below for the grid's law. */
static void delta_at(mpfr_ptr out, const clo_i_pld *pld, double epsilon, bool up)
{
    const level at = level_at(pld, epsilon, up);
    const mpfr_rnd_t round = up ? MPFR_RNDU : MPFR_RNDD;
    const term sum = sum_at(&at);
    mpfr_t bound;
    if (!(sum.value > 0)) { /* or no number, where nothing is known */
        mpfr_set_ui(out, up && isnan(sum.value), MPFR_RNDU);
        return;
    }
    mpfr_init2(bound, CLO_I_PRECISION);
    log_bound(bound, &at);
    mpfr_exp(bound, bound, round);
    mpfr_mul_d(out, bound, sum.value, round);
    if (mpfr_cmp_ui(out, 1) > 0) mpfr_set_ui(out, 1, MPFR_RNDU);
    mpfr_clear(bound);
}

/* ---- epsilon: Newton's steps, kept between two sides, then a certificate --- */

enum { MOST_STEPS = 60 };
static const double NEAR = 1e-11;

/* log(delta / wanted), and where the tangent meets 0. */
static double excess_at(const clo_i_pld *pld, double epsilon, double log_wanted, bool up,
                        double *tangent)
{
    const level at = level_at(pld, epsilon, up);
    const term sum = sum_at(&at);
    mpfr_t bound;
    mpfr_init2(bound, CLO_I_PRECISION);
    log_bound(bound, &at);
    const double excess = mpfr_get_d(bound, MPFR_RNDN) + log(fmax(sum.value, 0)) - log_wanted;
    mpfr_clear(bound);
    *tangent = epsilon + excess * sum.value / sum.second;
    return excess;
}

/* Whether all of delta at epsilon 0 is below the wanted one: no epsilon is needed.  It is not where
 * that of the Gaussian events alone, 1 - 2 Q(mu/2), is above already. */
static bool none_needed(const clo_i_pld *pld, double log_wanted)
{
    const double root_eighth = 0.35355339059327376;
    double tangent;
    if (log(erf(pld->mu_down * root_eighth)) > log_wanted + 1e-3) return false;
    return !(excess_at(pld, 0, log_wanted, true, &tangent) > 0);
}

/* About where delta comes down to the wanted one, from above. */
static double epsilon_near(const clo_i_pld *pld, double log_wanted, bool up, double start,
                           double high)
{
    double low = 0, epsilon = start < high ? start : high * (1 - 0x1p-20), tangent;
    /* from below, the errors drown a delta that is far from where the tilt is best */
    if (up && none_needed(pld, log_wanted)) return 0;
    for (int i = 0; i < MOST_STEPS && (isinf(high) || high - low > NEAR * high); i++) {
        const double excess = excess_at(pld, epsilon, log_wanted, up, &tangent);
        if (excess > 0)
            low = epsilon;
        else
            high = epsilon;
        const bool close = fabs(tangent - epsilon) <= NEAR * epsilon;
        if (close) return tangent;
        if (tangent > low && tangent < high)
            epsilon = tangent;
        else
            epsilon = isfinite(high) ? low + (high - low) / 2 : 2 * epsilon;
    }
    return up ? high : low;
}

/* ---- the tilt: the best Renyi order, a hint -------------------------------- */

typedef struct aim {
    const clo_i_pairs *pairs;
    double log_delta, epsilon;
} aim;

/* The tilt is at most this over the largest parameter: beyond, the top of that event is all. */
static const double LARGEST_TILT = 200;

static double divergence_near(const aim *a, double tilt)
{
    double sum = tilt * (1 + tilt) * a->pairs->mu_up * a->pairs->mu_up / 2;
    for (size_t i = 0; i < a->pairs->count; i++)
        sum += (double)a->pairs->pair[i].count * clo_i_pair_log_moment(&a->pairs->pair[i], tilt);
    return sum;
}

static double epsilon_by_order(double log_tilt, const void *context)
{
    const aim *const a = context;
    const double tilt = exp(log_tilt);
    return (divergence_near(a, tilt) - a->log_delta - log1p(tilt)) / tilt - log1p(1 / tilt);
}

static double log_delta_by_order(double log_tilt, const void *context)
{
    const aim *const a = context;
    const double tilt = exp(log_tilt);
    return divergence_near(a, tilt) - tilt * a->epsilon + log_cap(tilt, 0);
}

static double tilt_for(double (*bound)(double, const void *), const aim *a)
{
    const double tilt = exp(clo_i_best_order(bound, a));
    const double largest = LARGEST_TILT / fmax(a->pairs->largest_epsilon, a->pairs->mu_up);
    return fmin(tilt, largest);
}

/* ---- the method ------------------------------------------------------------ */

static double log_of(mpfr_srcptr x)
{
    mpfr_t logarithm;
    mpfr_init2(logarithm, DBL_MANT_DIG);
    mpfr_log(logarithm, x, MPFR_RNDN);
    const double value = mpfr_get_d(logarithm, MPFR_RNDN);
    mpfr_clear(logarithm);
    return value;
}

/* Without Gaussian events no loss exceeds the sum (accounting.T9). */
static double largest_loss(const clo_i_composition *list)
{
    return list->gaussian ? INFINITY : mpfr_get_d(list->epsilon, MPFR_RNDU);
}

static bool applies(const clo_i_composition *list)
{
    return list->gaussian || list->other;
}

static void starve(const clo_i_composition *list)
{
    if (list->starved) *list->starved = true;
}

/* Moved up until delta, rounded up, is paid: whatever was found is then a price. */
static double certified(const clo_i_pld *pld, mpfr_srcptr delta, double near, double largest)
{
    double found = INFINITY;
    mpfr_t cost;
    mpfr_init2(cost, CLO_I_PRECISION);
    for (double room = 0x1p-34; room < 0.1 && isinf(found); room *= 64) {
        const double epsilon = near + room * (near + NEAR);
        delta_at(cost, pld, near > 0 ? epsilon : 0, true);
        if (mpfr_lessequal_p(cost, delta)) found = near > 0 ? epsilon : 0;
    }
    mpfr_clear(cost);
    return fmin(found, largest);
}

static double epsilon_of(const clo_i_composition *list, mpfr_srcptr delta)
{
    clo_i_pairs pairs;
    clo_i_pld pld;
    if (mpfr_sgn(delta) <= 0 || !clo_i_pairs_of(&pairs, list)) return INFINITY;
    aim a = { .pairs = &pairs, .log_delta = log_of(delta) };
    const double tilt = tilt_for(epsilon_by_order, &a), largest = largest_loss(list);
    const double start = epsilon_by_order(log(tilt), &a);
    if (clo_i_pld_init(&pld, &pairs, tilt, NULL) != CLO_OK) {
        starve(list);
        return INFINITY;
    }
    double epsilon = largest;
    if (isfinite(pld.error)) {
        const double near = epsilon_near(&pld, a.log_delta, true, start, largest);
        epsilon = certified(&pld, delta, near, largest);
    }
    clo_i_pld_clear(&pld);
    return epsilon;
}

static void delta_of(mpfr_ptr out, const clo_i_composition *list, double epsilon)
{
    clo_i_pairs pairs;
    clo_i_pld pld;
    mpfr_set_ui(out, epsilon >= largest_loss(list) ? 0 : 1, MPFR_RNDU);
    if (mpfr_zero_p(out) || !clo_i_pairs_of(&pairs, list)) return;
    const aim a = { .pairs = &pairs, .epsilon = epsilon };
    if (clo_i_pld_init(&pld, &pairs, tilt_for(log_delta_by_order, &a), NULL) != CLO_OK) {
        starve(list);
        return;
    }
    delta_at(out, &pld, epsilon, true);
    clo_i_pld_clear(&pld);
}

const clo_i_accounting clo_i_pld_accounting = {
    .name = "pld",
    .exact = false,
    .costly = true,
    .slack = 0x1p-28,
    .applies = applies,
    .epsilon = epsilon_of,
    .delta = delta_of,
};

/* ---- from below -------------------------------------------------------------- */

/* The share of delta that is set apart for the grid having moved the losses far. */
static double share_of(const clo_i_pld *pld)
{
    return pld->split > 0 ? 0x1p-10 : 0;
}

/* Moved down until delta, rounded down, is more than asked for; 0 where it never is. */
static double certified_below(const clo_i_pld *pld, mpfr_srcptr delta, double near)
{
    double found = 0;
    mpfr_t left, wanted;
    mpfr_inits2(CLO_I_PRECISION, left, wanted, (mpfr_ptr)0);
    mpfr_mul_d(wanted, delta, 1 + share_of(pld), MPFR_RNDU);
    for (double room = 0x1p-34; room < 0.1 && !(found > 0); room *= 64) {
        delta_at(left, pld, near * (1 - room), false);
        if (mpfr_greaterequal_p(left, wanted)) found = near * (1 - room);
    }
    mpfr_clears(left, wanted, (mpfr_ptr)0);
    return found;
}

/* accounting.T20: the grid moved each split event by less than a cell, up a little on average;
 * all of them by more than `moved` only with a probability of delta / 1024. */
clo_status clo_i_pld_epsilon_below(const clo_i_composition *list, mpfr_srcptr delta, double *out,
                                   clo_error *err)
{
    clo_i_pairs pairs;
    clo_i_pld pld;
    *out = 0;
    if (mpfr_sgn(delta) <= 0 || !clo_i_pairs_of(&pairs, list)) return CLO_OK;
    pairs.finely = true;
    aim a = { .pairs = &pairs, .log_delta = log_of(delta) };
    const double tilt = tilt_for(epsilon_by_order, &a), largest = largest_loss(list);
    CLO_TRY(clo_i_pld_init(&pld, &pairs, tilt, err));
    const double start = epsilon_by_order(log(tilt), &a),
                 wanted = a.log_delta + log1p(share_of(&pld));
    const double near = epsilon_near(&pld, wanted, false, start, largest);
    const double spread = sqrt(pld.split * (log(0x1p10) - a.log_delta) / 2);
    const double moved = pld.step * (pld.split * pld.step / 8 + spread);
    *out = fmax(certified_below(&pld, delta, near) - moved * (1 + 0x1p-40), 0);
    clo_i_pld_clear(&pld);
    return CLO_OK;
}
