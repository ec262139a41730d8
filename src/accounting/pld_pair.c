/*
 * pld_pair.c - the worst pairs of events, and how they come onto the grid.
 *
 * Pure: randomised response, losses +-epsilon.  Bounded range: the law with density proportional
 * to e^(l/2) against that with e^(-l/2) on [-epsilon, epsilon], whose hockey stick is the
 * envelope of all mechanisms of that range (accounting.T15).  Both are their own mirror images,
 * so that the mass at the loss l is g(l) e^(l/2) with an even g, also on the grid.
 *
 * A loss between two cells is split between them so that both laws keep their total mass
 * (accounting.T16): the hockey stick rises, and only by what the chord of a convex curve does.
 * Every g below is a product of positive factors; nothing cancels.
 */
#include "accounting/pld.h"
#include <float.h>
#include <math.h>

/* Beyond, hyperbolic functions and the grid's arithmetic leave the range that was proved. */
static const double LARGEST_EPSILON = 300, SMALLEST_EPSILON = 1e-12, LARGEST_MU = 300;

/* A parameter this far below the largest is raised to it: its square would vanish in a double. */
static const double TINY = 0x1p-80;

/* ---- the list ------------------------------------------------------------ */

static bool add_event(clo_i_pairs *out, const clo_event *event)
{
    const bool range = event->kind == CLO_EVENT_EXPONENTIAL;
    if (event->parameter > LARGEST_EPSILON || event->count >> CLO_I_MOST_EVENTS_LOG2) return false;
    out->events += (double)event->count;
    out->largest_epsilon = fmax(out->largest_epsilon, event->parameter);
    for (size_t i = 0; i < out->count; i++) {
        clo_i_pair *const pair = &out->pair[i];
        const bool equal = !(pair->epsilon < event->parameter || pair->epsilon > event->parameter);
        if (pair->range != range || !equal) continue;
        pair->count += event->count;
        return true;
    }
    if (out->count == CLO_I_MOST_PAIRS) return false;
    out->pair[out->count++] = (clo_i_pair){ range, event->parameter, event->count };
    return true;
}

bool clo_i_pairs_of(clo_i_pairs *out, const clo_i_composition *list)
{
    mpfr_t mu;
    *out = (clo_i_pairs){ .count = 0 };
    mpfr_init2(mu, DBL_MANT_DIG);
    mpfr_sqrt(mu, list->square, MPFR_RNDU);
    out->mu_up = mpfr_get_d(mu, MPFR_RNDU);
    mpfr_sqrt(mu, list->square, MPFR_RNDD);
    out->mu_down = mpfr_get_d(mu, MPFR_RNDD);
    mpfr_clear(mu);
    if (out->mu_up > LARGEST_MU || (list->gaussian && out->mu_down < SMALLEST_EPSILON))
        return false;
    for (size_t i = 0; i < list->count; i++) {
        const clo_event *const event = &list->events[i];
        if (event->kind == CLO_EVENT_GAUSSIAN || !event->count || !(event->parameter > 0)) continue;
        if (!add_event(out, event)) return false;
    }
    if (out->events > ldexp(1, CLO_I_MOST_EVENTS_LOG2)) return false;
    for (size_t i = 0; i < out->count; i++)
        out->pair[i].epsilon = fmax(out->pair[i].epsilon, out->largest_epsilon * TINY);
    return out->count == 0 || out->largest_epsilon >= SMALLEST_EPSILON;
}

/* The grid adds less than (step/2)^2 of variance an event, so its width is measured by the root
 * mean square of the parameters; finer where events are few, since that is cheap.  The width
 * grows as the parameters do, so that a price is continuous in a factor on all of them. */
double clo_i_pairs_step(const clo_i_pairs *pairs)
{
    double sum = 0, most = 0, step = 1;
    for (size_t i = 0; i < pairs->count; i++) {
        const clo_i_pair *const pair = &pairs->pair[i];
        const double relative = pair->epsilon / pairs->largest_epsilon;
        const double weight = (double)pair->count * relative * relative;
        sum += weight;
        if (!(weight > most)) continue;
        most = weight;
        step = pair->epsilon;
    }
    double cells = 512;
    for (double n = 16; n < pairs->events && cells > 8; n *= cells > 32 ? 4 : 16) cells /= 2;
    /* of several, a quarter: that costs less than 10^-4 of the price, and saves most of the time */
    if (pairs->events > 1 && !pairs->finely) cells = fmin(cells, fmax(cells / 4, 32));
    const double wanted = pairs->largest_epsilon * sqrt(sum / pairs->events) / cells;
    while (step > wanted) step /= 2;
    return step;
}

/* ---- moments, in double -------------------------------------------------- */

static double log_sinhc_near(double x)
{
    if (x < 0.05) return x * x * (1.0 / 6 - x * x / 180);
    return x + log1p(-exp(-2 * x)) - log(2 * x);
}

static double log_cosh_near(double x)
{
    if (x < 0.05) return x * x * (1.0 / 2 - x * x / 12);
    return x + log1p(exp(-2 * x)) - 0.69314718055994531;
}

double clo_i_pair_log_moment(const clo_i_pair *pair, double tilt)
{
    const double half = pair->epsilon / 2, tilted = (tilt + 0.5) * pair->epsilon;
    return pair->range ? log_sinhc_near(tilted) - log_sinhc_near(half)
                       : log_cosh_near(tilted) - log_cosh_near(half);
}

/* ---- on the grid --------------------------------------------------------- */

/* g at the cells 0 .. reach, up to the factor that is the same for all (accounting.T16): reach
 * is the cell above epsilon, and over how far epsilon lies above the one before. */
static double even_part(const clo_i_pair *pair, double step, double over, size_t reach, size_t k)
{
    const bool last = k == reach, edge = k + 1 == reach;
    if (!pair->range) {
        if (last) return sinh(over / 2) / sinh(step / 2);
        if (edge) return (k ? 1 : 2) * sinh((step - over) / 2) / sinh(step / 2);
        return 0;
    }
    const double ratio = sinh(over / 4) / sinh(step / 2);
    const double partial = ratio * sinh((step - over / 2) / 2);
    if (last) return ratio * sinh(over / 4);
    if (edge) return k ? tanh(step / 4) / 2 + partial : 2 * partial;
    return tanh(step / 4);
}

/* log of that factor: 1 / sinh(epsilon/2), or 1 / (2 cosh(epsilon/2)). */
static double factor_of(const clo_i_pair *pair)
{
    return pair->range ? 1 / sinh(pair->epsilon / 2) : 0.5 / cosh(pair->epsilon / 2);
}

static void fill_masses(clo_i_grid_pair *out, const clo_i_pair *pair, double step, double over,
                        double rate)
{
    const size_t reach = out->reach;
    const double factor = factor_of(pair);
    double total = 0;
    for (size_t k = 0; k <= reach; k++) {
        const double even = even_part(pair, step, over, reach, k) * factor;
        const double above = even * exp(rate * (double)k - rate * (double)reach);
        const double below = even * exp(-rate * (double)k - rate * (double)reach);
        out->mass[reach + k] = above;
        out->mass[reach - k] = below;
        total += k ? above + below : above;
    }
    out->total = total * (1 + 4 * (double)(reach + 4) * CLO_I_ROUNDING);
}

static void measure(clo_i_grid_pair *out)
{
    double squares = 0, first = 0, second = 0;
    for (size_t i = 0; i <= 2 * out->reach; i++) {
        const double mass = out->mass[i] /= out->total, k = (double)i - (double)out->reach;
        squares += mass * mass;
        first += mass * k;
        second += mass * k * k;
    }
    out->norm = sqrt(squares) * (1 + 0x1p-20);
    out->mean = first;
    out->variance = fmax(second - first * first, 0);
}

clo_status clo_i_grid_pair_init(clo_i_grid_pair *out, const clo_i_pair *pair, double step,
                                double tilt, clo_error *err)
{
    const double over = fmod(pair->epsilon, step); /* exact */
    const double rate = (tilt + 0.5) * step;
    *out = (clo_i_grid_pair){ .reach = (size_t)nearbyint((pair->epsilon - over) / step) + 1 };
    CLO_TRY(clo_i_alloc(2 * out->reach + 1, sizeof *out->mass, &out->mass, err));
    out->split = pair->range || over > 0;
    fill_masses(out, pair, step, over, rate);
    measure(out);
    out->exponent = rate * (double)out->reach;
    /* some thirty roundings, and the exponents', each of a number below 2 rate reach */
    out->slack = CLO_I_ROUNDING * (64 + 16 * rate * (double)out->reach);
    return CLO_OK;
}

void clo_i_grid_pair_clear(clo_i_grid_pair *pair)
{
    clo_i_free(pair->mass);
}
