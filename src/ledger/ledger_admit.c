/*
 * ledger_admit.c - may this charge be made?
 *
 * The whole privacy argument of the ledger is in this file, in integers, without SQL or I/O, so
 * that it can be proved (proofs/ledger.md), tested and replayed by the verification as it stands.
 *
 * An account under a cap (E, D) goes through two stages.
 *   open   Charges without a delta: their epsilons are added and stay within E.
 *   fixed  The first charge with a delta decides, once and for good, how the rest of the cap is
 *          counted: by adding epsilons and deltas (basic), or by adding rhos up to the capacity of
 *          what is left (zcdp).
 * "Either sum may admit", decided anew at each charge, would be more generous and wrong: an
 * analyst who sees the answers could steer between the two (ledger.T5).  For the same reason a cap
 * that is declared on a data set with deltas in its past counts by adding.
 */
#include "ledger/ledger_internal.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const rule_names[] = { "open", "basic", "zcdp" };

const char *clo_i_rule_name(clo_i_rule rule)
{
    return rule_names[rule];
}

bool clo_i_rule_find(const char *name, clo_i_rule *out)
{
    for (int i = 0; i < 3; i++)
        if (strcmp(name, rule_names[i]) == 0) {
            *out = (clo_i_rule)i;
            return true;
        }
    return false;
}

/* ---- units: ledger.T1 ----------------------------------------------------- */

static uint64_t within_limit(uint64_t units)
{
    return units < LEDGER_UNITS_LIMIT ? units : LEDGER_UNITS_LIMIT;
}

/* A sum that reaches the limit stays there: it means "at least". */
static uint64_t add_units(uint64_t a, uint64_t b)
{
    return within_limit(within_limit(a) + within_limit(b));
}

/* The double just at or below so many units: a nearest conversion may lie above. */
static double number_below(uint64_t units, int exponent)
{
    double number = (double)units;
    if (number >= 0x1p64 || (uint64_t)number > units) number = nextafter(number, 0);
    return ldexp(number, exponent);
}

clo_loss clo_i_loss_on_grid(clo_loss asked)
{
    return (clo_loss){ number_below(clo_i_epsilon_units(asked.epsilon, false), -48),
                       number_below(clo_i_delta_units(asked.delta, false), -62) };
}

clo_i_cost clo_i_cost_of(const clo_i_charge *charge)
{
    const clo_loss grid = clo_i_loss_on_grid(charge->loss);
    const clo_loss price = charge->price;
    const bool up = !(price.epsilon > 0 && price.epsilon <= grid.epsilon && price.delta >= 0 &&
                      price.delta <= grid.delta);
    return (clo_i_cost){ .epsilon = within_limit(clo_i_epsilon_units(charge->loss.epsilon, up)),
                         .delta = within_limit(clo_i_delta_units(charge->loss.delta, up)),
                         /* Every charge has a rho: a missing one must not be free. */
                         .rho = charge->rho ? within_limit(charge->rho) : LEDGER_UNITS_LIMIT,
                         .rho_delta = within_limit(charge->rho_delta) };
}

/* A loss that people can read, and not above the units: for entries that nobody asked for. */
clo_loss clo_i_cost_asked(const clo_i_cost *cost)
{
    return (clo_loss){ number_below(cost->epsilon, -48), number_below(cost->delta, -62) };
}

clo_i_cost clo_i_account_rest(const clo_i_account *account)
{
    const clo_i_cost *const spent = &account->spent;
    clo_i_cost rest = { .rho = LEDGER_UNITS_LIMIT };
    if (!account->capped) return rest;
    if (account->rule == CLO_RULE_ZCDP) {
        const uint64_t used = spent->rho - account->base_rho;
        rest.rho = used < account->capacity ? account->capacity - used : 0;
        rest.epsilon = rest.rho ? 1 : 0;
        return rest;
    }
    if (spent->epsilon < account->cap_epsilon) rest.epsilon = account->cap_epsilon - spent->epsilon;
    if (spent->delta < account->cap_delta) rest.delta = account->cap_delta - spent->delta;
    return rest;
}

/* ---- the rules: ledger.T2, ledger.T3, ledger.T4 ---------------------------- */

void clo_i_account_add(clo_i_account *account, const char *relation, clo_loss asked,
                       const clo_i_cost *cost)
{
    if (account->charges == 0) {
        account->first = asked;
        memcpy(account->relation, relation, strlen(relation) + 1);
    } else if (strcmp(account->relation, relation) != 0) {
        memcpy(account->relation, "mixed", 6);
    }
    account->charges++;
    account->spent.epsilon = add_units(account->spent.epsilon, cost->epsilon);
    account->spent.delta = add_units(account->spent.delta, cost->delta);
    account->spent.rho = add_units(account->spent.rho, cost->rho);
    account->spent.rho_delta = add_units(account->spent.rho_delta, cost->rho_delta);
}

/* ledger.T2.  One charge alone is compared as it was asked for: a run at exactly the cap is
 * covered, wherever the cap lies between two units. */
static bool covered_basic(const clo_i_account *account)
{
    if (account->charges <= 1)
        return account->first.epsilon <= account->cap.epsilon &&
               account->first.delta <= account->cap.delta;
    return account->spent.epsilon <= account->cap_epsilon &&
           account->spent.delta <= account->cap_delta;
}

/* ledger.T3 */
static bool covered_zcdp(const clo_i_account *account)
{
    return account->spent.rho_delta == 0 && account->spent.rho < LEDGER_UNITS_LIMIT &&
           account->base_rho <= account->spent.rho &&
           account->spent.rho - account->base_rho <= account->capacity;
}

bool clo_i_account_covered(const clo_i_account *account)
{
    if (!account->capped) return true;
    /* Losses under two relations do not add up to a loss under either. */
    if (strcmp(account->relation, "mixed") == 0) return false;
    return account->rule == CLO_RULE_ZCDP ? covered_zcdp(account) : covered_basic(account);
}

clo_status clo_i_account_capacity(const clo_i_account *account, uint64_t *rho, clo_error *err)
{
    clo_loss left = account->cap;
    uint64_t capacity = 0;
    if (account->base_epsilon > 0) {
        if (account->base_epsilon >= account->cap_epsilon) {
            *rho = 0;
            return CLO_OK;
        }
        left.epsilon = number_below(account->cap_epsilon - account->base_epsilon, -48);
    }
    if (left.delta > 0) CLO_TRY(clo_i_capacity_rho(left, &capacity, err));
    *rho = capacity < LEDGER_UNITS_LIMIT ? capacity : LEDGER_UNITS_LIMIT - 1;
    return CLO_OK;
}

enum { ZCDP_LARGEST_EPSILON = 300 }; /* beyond, the sampler's missing tail shows: gaussian.T1 */

/* The zcdp rule where the charge then takes the smaller share of what is left.  A charge that
 * asks for all of the epsilon that is left takes the cap at its word and uses it up (ledger.T6). */
static bool better_as_zcdp(const clo_i_account *account, const clo_i_cost *cost, uint64_t capacity)
{
    typedef unsigned __int128 wide;
    const uint64_t left = account->cap_epsilon - account->base_epsilon;
    if (account->base_epsilon >= account->cap_epsilon || cost->epsilon >= left) return false;
    if (account->cap_epsilon > clo_i_epsilon_units(ZCDP_LARGEST_EPSILON, false)) return false;
    if (account->spent.rho_delta > 0 || cost->rho_delta > 0 || cost->rho > capacity) return false;
    if (add_units(account->base_rho, cost->rho) == LEDGER_UNITS_LIMIT) return false;
    return (wide)cost->rho * left < (wide)cost->epsilon * capacity ||
           (wide)cost->rho * account->cap_delta < (wide)cost->delta * capacity;
}

clo_status clo_i_account_settle(clo_i_account *account, const clo_i_cost *cost, clo_error *err)
{
    if (!account->capped || account->rule != CLO_RULE_OPEN || cost->delta == 0) return CLO_OK;
    clo_i_account fixed = *account;
    uint64_t capacity = 0;
    fixed.base_epsilon = account->spent.epsilon;
    fixed.base_rho = account->spent.rho;
    CLO_TRY(clo_i_account_capacity(&fixed, &capacity, err));
    if (better_as_zcdp(&fixed, cost, capacity)) {
        *account = fixed;
        account->rule = CLO_RULE_ZCDP;
        account->capacity = capacity;
    } else {
        account->rule = CLO_RULE_BASIC;
    }
    return CLO_OK;
}

/* ledger.T4: both continuations are within the rest of the cap, so the choice may be made by
 * anybody, also before the first charge. */
clo_status clo_i_account_settle_as(clo_i_account *account, clo_i_rule chosen,
                                   const clo_i_cost *cost, clo_error *err)
{
    uint64_t capacity = 0;
    if (chosen == CLO_RULE_OPEN) return clo_i_account_settle(account, cost, err);
    if (!account->capped || account->rule != CLO_RULE_OPEN || cost->delta == 0) return CLO_OK;
    account->rule = chosen;
    if (chosen == CLO_RULE_BASIC) return CLO_OK;
    account->base_epsilon = account->spent.epsilon;
    account->base_rho = account->spent.rho;
    if (account->cap_epsilon <= clo_i_epsilon_units(ZCDP_LARGEST_EPSILON, false))
        CLO_TRY(clo_i_account_capacity(account, &capacity, err));
    account->capacity = capacity;
    return CLO_OK;
}

void clo_i_account_cap(clo_i_account *account, clo_loss cap)
{
    account->capped = true;
    account->cap = cap;
    account->cap_epsilon = clo_i_epsilon_units(cap.epsilon, false);
    account->cap_delta = clo_i_delta_units(cap.delta, false);
    /* Who chose between the sums now would choose after the answers were seen (ledger.T5). */
    if (account->spent.delta > 0) account->rule = CLO_RULE_BASIC;
}

/* ---- for people ------------------------------------------------------------ */

/* 0.1 in units is not 0.1.  Every number within the rounding is as true as any other, so the
 * shortest is shown. */
static double shortest_between(double low, double high)
{
    const double middle = low + (high - low) / 2;
    for (int digits = 0; digits < 17; digits++) {
        char text[40];
        snprintf(text, sizeof text, "%.*e", digits, middle);
        const double number = strtod(text, NULL);
        if (number >= low && number <= high) return number;
    }
    return low;
}

static double spent_number(uint64_t units, uint64_t charges, int exponent)
{
    const double sum = ldexp((double)units, exponent);
    const double error = ldexp((double)charges, exponent);
    return units == 0 ? 0 : shortest_between(fmax(sum - error, 0), sum + error);
}

clo_loss clo_i_account_spent(const clo_i_account *account)
{
    return (clo_loss){ spent_number(account->spent.epsilon, account->charges, -48),
                       spent_number(account->spent.delta, account->charges, -62) };
}

/* The least epsilon, rounded up, at which this rho is private with this delta: by bisection,
 * because the capacity grows with epsilon.  Infinite where there is none. */
static double epsilon_of_rho(uint64_t rho, double delta)
{
    double low = 0, high = LEDGER_CAP_EPSILON;
    uint64_t capacity = 0;
    if (clo_i_capacity_rho((clo_loss){ high, delta }, &capacity, NULL) || capacity < rho)
        return INFINITY;
    while (high - low > 1e-7 * high) {
        const double middle = low + (high - low) / 2;
        if (clo_i_capacity_rho((clo_loss){ middle, delta }, &capacity, NULL)) return INFINITY;
        if (capacity >= rho)
            high = middle;
        else
            low = middle;
    }
    return high;
}

/* ledger.T11: the charges as their rhos compose, after those that were there before the rule; six
 * digits, rounded up. */
static clo_loss composed_as_zcdp(const clo_i_account *account)
{
    const double delta = account->capped ? account->cap.delta : clo_i_account_spent(account).delta;
    const uint64_t rho = account->spent.rho, base = account->base_rho;
    if (account->spent.rho_delta > 0 || rho >= LEDGER_UNITS_LIMIT || base > rho || !(delta > 0))
        return (clo_loss){ INFINITY, 1 };
    const double epsilon = ldexp((double)account->base_epsilon, -48) +
                           (rho > base ? epsilon_of_rho(rho - base, delta) : 0);
    if (!(epsilon > 0) || isinf(epsilon)) return (clo_loss){ INFINITY, 1 };
    const double scale = pow(10, 5 - floor(log10(epsilon)));
    return (clo_loss){ ceil(epsilon * (1 + 1e-9) * scale) / scale, delta };
}

clo_loss clo_i_account_composed(const clo_i_account *account)
{
    const clo_loss sum = clo_i_account_spent(account);
    clo_loss composed = sum;
    if (strcmp(account->relation, "mixed") == 0) return (clo_loss){ INFINITY, 1 };
    if (account->rule == CLO_RULE_ZCDP || (!account->capped && sum.delta > 0)) {
        const clo_loss other = composed_as_zcdp(account);
        if (other.epsilon < sum.epsilon || other.delta < sum.delta) composed = other;
    }
    if (!account->capped) return composed;
    return (clo_loss){ fmin(composed.epsilon, account->cap.epsilon),
                       fmin(composed.delta, account->cap.delta) };
}

/* Whatever counts for no more units than are left can be asked for: so 1e-6 of which nothing is
 * spent is 1e-6, and not the 9.999999999998e-7 that its units come to. */
static double left_number(uint64_t cap, uint64_t spent, uint64_t charges, int exponent,
                          uint64_t (*units)(double number, bool up))
{
    if (spent >= cap) return 0;
    const double left = number_below(cap - spent, exponent);
    const double low = fmax(left - ldexp((double)charges, exponent), 0);
    const double number = shortest_between(low, left + ldexp(1, exponent));
    return units(number, false) <= cap - spent ? number : shortest_between(low, left);
}

void clo_i_left_text(double left, char text[CLO_NUMBER_SIZE])
{
    enum { SHOWN = 5, ALL = 17 }; /* digits behind the first */
    char digits[40];
    snprintf(digits, sizeof digits, "%.*e", SHOWN, left);
    if (strtod(digits, NULL) > left) { /* the others are left away */
        snprintf(digits, sizeof digits, "%.*e", ALL, left);
        char *const exponent = strchr(digits, 'e');
        memmove(exponent - (ALL - SHOWN), exponent, strlen(exponent) + 1);
    }
    clo_number_text(strtod(digits, NULL), text);
}

/* Of the rho that is left: what a run of Gaussian queries could ask at the cap's delta.  Six
 * digits, rounded down, so that rounding on the way back does not take it over the edge. */
static double left_as_zcdp(const clo_i_account *account)
{
    const uint64_t used = account->spent.rho - account->base_rho;
    if (!covered_zcdp(account) || used >= account->capacity) return 0;
    const clo_event event = { .kind = CLO_EVENT_GAUSSIAN,
                              .parameter = sqrt(ldexp((double)(account->capacity - used), -47)),
                              .count = 1 };
    clo_price price;
    if (clo_price_epsilon(&event, 1, account->cap.delta, &price, NULL) || !(price.loss.epsilon > 0))
        return 0;
    const double scale = pow(10, 5 - floor(log10(price.loss.epsilon)));
    return fmin(floor(price.loss.epsilon * (1 - 1e-9) * scale) / scale, account->cap.epsilon);
}

clo_loss clo_i_account_left(const clo_i_account *account)
{
    if (!account->capped) return (clo_loss){ 0, 0 };
    if (account->charges == 0) return account->cap;
    if (account->rule == CLO_RULE_ZCDP) {
        const double epsilon = left_as_zcdp(account);
        return (clo_loss){ epsilon, epsilon > 0 ? account->cap.delta : 0 };
    }
    const uint64_t charges = account->charges;
    return (clo_loss){
        left_number(account->cap_epsilon, account->spent.epsilon, charges, -48,
                    clo_i_epsilon_units),
        left_number(account->cap_delta, account->spent.delta, charges, -62, clo_i_delta_units),
    };
}
