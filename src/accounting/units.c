/*
 * units.c - costs and caps in the ledger's additive integers.
 *
 * A ledger may only add: for sums of zCDP a fully adaptive filter is proved, for converted
 * (epsilon, delta) pairs none is.  So a charge becomes an integer rounded up, a cap one rounded
 * down, and what does not fit saturates to the side that refuses (accounting.T13).
 */
#include "accounting/accountant.h"
#include <math.h>

enum { RHO_BITS = 48, EPSILON_BITS = 48, DELTA_BITS = 62 };

/* UINT64_MAX as a cost means "too large to say", so no cap may reach it. */
static const uint64_t LARGEST_CAP = UINT64_MAX - 1;

/* ldexp, ceil and floor are exact here; a value that is no loss (NaN, below 0) costs all and
 * allows nothing. */
static uint64_t units_of(double value, int bits, bool up)
{
    if (!(value >= 0)) return up ? UINT64_MAX : 0;
    const double scaled = ldexp(value, bits);
    if (scaled >= 0x1p64) return up ? UINT64_MAX : LARGEST_CAP;
    return (uint64_t)(up ? ceil(scaled) : floor(scaled));
}

uint64_t clo_i_epsilon_units(double epsilon, bool up)
{
    return units_of(epsilon, EPSILON_BITS, up);
}

uint64_t clo_i_delta_units(double delta, bool up)
{
    return units_of(delta, DELTA_BITS, up);
}

/* Spoils x. */
static uint64_t units_up(mpfr_ptr x, int bits)
{
    mpfr_mul_2si(x, x, bits, MPFR_RNDU);
    return mpfr_fits_uintmax_p(x, MPFR_RNDU) ? mpfr_get_uj(x, MPFR_RNDU) : UINT64_MAX;
}

static uint64_t units_down(mpfr_ptr x, int bits)
{
    mpfr_mul_2si(x, x, bits, MPFR_RNDD);
    if (!(mpfr_sgn(x) > 0)) return 0;
    if (!mpfr_fits_uintmax_p(x, MPFR_RNDD)) return LARGEST_CAP;
    const uint64_t units = mpfr_get_uj(x, MPFR_RNDD);
    return units < LARGEST_CAP ? units : LARGEST_CAP;
}

clo_status clo_i_events_rho(const clo_event *events, size_t count, uint64_t *rho, uint64_t *delta,
                            clo_error *err)
{
    clo_i_composition list;
    mpfr_t sum, deltas, term, times;
    CLO_TRY(clo_i_composition_init(&list, events, count, err));
    mpfr_inits2(CLO_I_PRECISION, sum, deltas, term, times, (mpfr_ptr)0);
    mpfr_set_zero(sum, 1);
    mpfr_set_zero(deltas, 1);
    for (size_t i = 0; i < count; i++) {
        if (!events[i].count) continue;
        mpfr_set_uj(times, events[i].count, MPFR_RNDN); /* exact */
        clo_i_event_rho_up(term, &events[i]);
        mpfr_mul(term, term, times, MPFR_RNDU);
        mpfr_add(sum, sum, term, MPFR_RNDU);
        mpfr_mul_d(term, times, events[i].delta, MPFR_RNDU);
        mpfr_add(deltas, deltas, term, MPFR_RNDU);
    }
    *rho = units_up(sum, RHO_BITS);
    *delta = units_up(deltas, DELTA_BITS);
    mpfr_clears(sum, deltas, term, times, (mpfr_ptr)0);
    clo_i_composition_clear(&list);
    return CLO_OK;
}

/* accounting.T7 solved for rho, negated so that the best order is where it is least. */
static double negative_rho_near(double log_beta, const void *context)
{
    const clo_loss *const cap = context;
    const double beta = exp(log_beta), alpha = 1 + beta;
    return -(cap->epsilon + (log(cap->delta) + log_beta - alpha * log1p(-1 / alpha)) / beta) /
           alpha;
}

clo_status clo_i_capacity_rho(clo_loss cap, uint64_t *rho, clo_error *err)
{
    clo_i_order order;
    mpfr_t bound, term;
    if (!(cap.epsilon >= 0) || !isfinite(cap.epsilon))
        return clo_i_fail(err, CLO_ARGUMENT,
                          "the epsilon of a cap must be a finite number of at least 0, not %g",
                          cap.epsilon);
    if (!(cap.delta >= 0 && cap.delta < 1))
        return clo_i_fail(err, CLO_ARGUMENT,
                          "the delta of a cap must be at least 0 and below 1, not %g", cap.delta);
    if (!(cap.delta > 0)) {
        *rho = 0;
        return CLO_OK;
    }
    mpfr_inits2(CLO_I_PRECISION, bound, term, (mpfr_ptr)0);
    clo_i_order_init(&order, clo_i_best_order(negative_rho_near, &cap));
    mpfr_set_d(bound, cap.delta, MPFR_RNDN); /* exact */
    mpfr_log(bound, bound, MPFR_RNDD);
    mpfr_log(term, order.beta, MPFR_RNDD);
    mpfr_add(bound, bound, term, MPFR_RNDD);
    clo_i_order_tail_up(term, &order);
    mpfr_sub(bound, bound, term, MPFR_RNDD);
    mpfr_div(bound, bound, order.beta, MPFR_RNDD);
    mpfr_add_d(bound, bound, cap.epsilon, MPFR_RNDD);
    mpfr_div(bound, bound, order.up, MPFR_RNDD);
    *rho = units_down(bound, RHO_BITS);
    clo_i_order_clear(&order);
    mpfr_clears(bound, term, (mpfr_ptr)0);
    mpfr_free_cache();
    return CLO_OK;
}
