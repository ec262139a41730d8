/*
 * pld_compose.c - the tilted losses of all events together, by Fourier transform.
 *
 * Independent losses add, so their transforms multiply.  The transform is circular: a loss
 * outside of the window comes back in on the other side.  How much mass that is has a Chernoff
 * bound; how far rounding moves the masses is accounting.T17.  Both are in `error`, and
 * accounting.T18 says what that does to delta: thanks to the tilt, no more than the same share of
 * the Renyi bound, however small delta is.
 */
#include "accounting/pld.h"
#include <math.h>
#include <string.h>

enum { SMALLEST_SIZE_LOG2 = 4, LARGEST_SIZE_LOG2 = 19 };
static const double TAIL = 0x1p-36;      /* of the mass may lie outside of the window */
static const double DEVIATIONS = 7.5;    /* where the search for a window starts */
static const double LARGEST_DRIFT = 0.1; /* of a transform to the power of its count */

typedef struct grid {
    const clo_i_pairs *pairs;
    clo_i_grid_pair pair[CLO_I_MOST_PAIRS];
    size_t made;
    double centre, deviation, reach; /* of all events, in cells */
} grid;

static double count_of(const grid *g, size_t i)
{
    return (double)g->pairs->pair[i].count;
}

static void grid_clear(grid *g)
{
    for (size_t i = 0; i < g->made; i++) clo_i_grid_pair_clear(&g->pair[i]);
}

static clo_status grid_init(grid *g, const clo_i_pairs *pairs, double step, double tilt,
                            clo_error *err)
{
    double variance = 0;
    g->pairs = pairs;
    g->made = 0;
    g->centre = g->reach = 0;
    for (size_t i = 0; i < pairs->count; i++) {
        clo_i_grid_pair *const pair = &g->pair[i];
        const clo_status status = clo_i_grid_pair_init(pair, &pairs->pair[i], step, tilt, err);
        if (status) {
            grid_clear(g);
            return status;
        }
        g->made++;
        g->centre += count_of(g, i) * pair->mean;
        g->reach += count_of(g, i) * (double)pair->reach;
        variance += count_of(g, i) * pair->variance;
    }
    g->centre = nearbyint(g->centre);
    g->deviation = sqrt(variance);
    return CLO_OK;
}

/* ---- the window ---------------------------------------------------------- */

/* log of Chernoff's bound for the mass at least `half` cells beyond the centre, on the side of
 * the sign of `rate`. */
static double log_tail(const grid *g, double half, double rate)
{
    double log_moment = 0;
    for (size_t i = 0; i < g->made; i++) {
        const clo_i_grid_pair *const pair = &g->pair[i];
        double moment = 0;
        for (size_t j = 0; j <= 2 * pair->reach; j++)
            moment += pair->mass[j] * exp(rate * ((double)j - (double)pair->reach - pair->mean));
        log_moment += count_of(g, i) * (log(moment) + rate * pair->mean);
    }
    const double size = fabs(log_moment) + fabs(rate) * (fabs(g->centre) + half);
    return log_moment - rate * g->centre - fabs(rate) * half + 0x1p-30 * (1 + size);
}

/* The mass outside of the window of so many cells: nothing, or the better of some rates
 * (accounting.T19). */
static double tail_outside(const grid *g, double size)
{
    const double half = size / 2 - 1;
    if (fabs(g->centre) + g->reach < half) return 0;
    double tail = 0;
    for (int side = -1; side <= 1; side += 2) {
        double best = 0;
        for (double rate = half / (g->deviation * g->deviation); rate * half > 20; rate *= 0.7)
            best = fmin(best, log_tail(g, half, side * rate));
        tail += exp(best);
    }
    return tail;
}

/* The mass of a single event that is outside of the window: what tail_outside is a bound of, and
 * found at a thousandth of its time. */
static bool leaves_too_much_outside(const grid *g, double size)
{
    if (g->made != 1 || g->pairs->pair[0].count != 1) return false;
    const clo_i_grid_pair *const pair = &g->pair[0];
    double outside = 0;
    for (size_t j = 0; j <= 2 * pair->reach; j++) {
        const double cell = (double)j - (double)pair->reach;
        if (fabs(cell - g->centre) > size / 2) outside += pair->mass[j];
    }
    return outside > 2 * TAIL;
}

static size_t window_size(const grid *g, double *tail)
{
    const double wanted = fmin(2 * DEVIATIONS * g->deviation, 2 * (fabs(g->centre) + g->reach));
    size_t size = (size_t)1 << SMALLEST_SIZE_LOG2;
    const size_t largest = (size_t)1 << LARGEST_SIZE_LOG2;
    while (size < largest && (double)size < wanted + 4) size *= 2;
    while (size < largest && leaves_too_much_outside(g, (double)size)) size *= 2;
    *tail = tail_outside(g, (double)size);
    for (; *tail > TAIL && size < largest; *tail = tail_outside(g, (double)size)) size *= 2;
    return size;
}

/* ---- the product of the transforms ---------------------------------------- */

static clo_i_complex times(clo_i_complex a, clo_i_complex b)
{
    return (clo_i_complex){ a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re };
}

static clo_i_complex power(clo_i_complex base, uint64_t exponent)
{
    clo_i_complex result = { 1, 0 };
    for (; exponent; exponent /= 2) {
        if (exponent & 1) result = times(result, base);
        if (exponent > 1) base = times(base, base);
    }
    return result;
}

/* The masses modulo the window's size: circular anyway, and a reach may exceed the window.  Then
 * several are added up in a cell, which rounds. */
static void lay_out(clo_i_complex *x, size_t size, const clo_i_grid_pair *pair)
{
    memset(x, 0, size * sizeof *x);
    for (size_t j = 0; j <= 2 * pair->reach; j++)
        x[(j + (size - 1) * (pair->reach % size)) % size].re += pair->mass[j];
}

/* Transforms of real numbers come in conjugate pairs, so half of them is enough. */
static void multiply_by(clo_i_complex *product, const clo_i_complex *spectrum, size_t size,
                        uint64_t count)
{
    for (size_t k = 0; k <= size / 2; k++)
        product[k] = times(product[k], power(spectrum[k], count));
}

static void mirror(clo_i_complex *product, size_t size)
{
    for (size_t k = size / 2 + 1; k < size; k++)
        product[k] = (clo_i_complex){ product[size - k].re, -product[size - k].im };
}

/* How many of a pair's masses may come together in one cell. */
static double most_in_a_cell(const clo_i_grid_pair *pair, size_t size)
{
    return ceil((2 * (double)pair->reach + 1) / (double)size);
}

double clo_i_norm_in_window(const clo_i_grid_pair *pair, size_t size)
{
    const double together = most_in_a_cell(pair, size), slack = 1 + 0x1p-20;
    if (together > 1) return fmin(sqrt(together) * pair->norm, 1) * slack;
    return pair->norm * slack;
}

double clo_i_transform_error(const clo_i_grid_pair *pair, const clo_i_pairs *pairs, size_t size)
{
    const double transform = 1.5 * clo_i_fft_error(size), root = sqrt((double)size);
    double drift = 0, norms = 0, sums = 0, largest = 0, events = 0;
    for (size_t i = 0; i < pairs->count; i++) {
        const double count = (double)pairs->pair[i].count;
        const double norm = clo_i_norm_in_window(&pair[i], size);
        const double layout = 1.5 * (most_in_a_cell(&pair[i], size) - 1) * CLO_I_ROUNDING;
        drift += count * (transform + layout) * root * norm;
        norms += count * norm;
        sums += count * layout * norm;
        largest = fmax(largest, norm);
        events += count + 1;
    }
    if (drift > LARGEST_DRIFT) return INFINITY;
    const double products = 3 * events * CLO_I_ROUNDING;
    return 1.25 * root * (transform * norms + sums + (products + transform) * largest) +
           0x1p-900; /* underflow */
}

static clo_status transform_all(clo_i_pld *out, const grid *g, clo_error *err)
{
    const size_t size = out->size;
    clo_i_complex *product = NULL;
    CLO_TRY(clo_i_alloc(2 * size + size / 2, sizeof *product, &product, err));
    clo_i_complex *const spectrum = product + size, *const roots = spectrum + size;
    const clo_status status = clo_i_alloc(size, sizeof *out->mass, &out->mass, err);
    if (status) goto done;
    clo_i_fft_roots(roots, size);
    for (size_t k = 0; k < size; k++) product[k] = (clo_i_complex){ 1, 0 };
    for (size_t i = 0; i < g->made; i++) {
        lay_out(spectrum, size, &g->pair[i]);
        clo_i_fft(spectrum, roots, size);
        multiply_by(product, spectrum, size, g->pairs->pair[i].count);
    }
    mirror(product, size);
    clo_i_fft(product, roots, size); /* the inverse, but for the direction and the size */
    for (size_t j = 0; j < size; j++) {
        const int64_t cell = (out->first + (int64_t)j) % (int64_t)size;
        const size_t at = (size_t)(cell < 0 ? cell + (int64_t)size : cell);
        out->mass[j] = fmax(product[(size - at) % size].re / (double)size, 0);
    }
done:
    clo_i_free(product);
    return status;
}

/* ---- the whole ----------------------------------------------------------- */

/* sum count * (exponent + log(total) +- slack), each way. */
static void set_scale(clo_i_pld *out, const grid *g)
{
    mpfr_t term;
    mpfr_inits2(CLO_I_PRECISION, out->scale_up, out->scale_down, term, (mpfr_ptr)0);
    mpfr_set_zero(out->scale_up, 1);
    mpfr_set_zero(out->scale_down, 1);
    for (size_t i = 0; i < g->made; i++) {
        const clo_i_grid_pair *const pair = &g->pair[i];
        for (int up = 0; up < 2; up++) {
            const mpfr_rnd_t round = up ? MPFR_RNDU : MPFR_RNDD;
            const mpfr_ptr sum = up ? out->scale_up : out->scale_down;
            mpfr_set_d(term, pair->total, MPFR_RNDN); /* exact */
            mpfr_log(term, term, round);
            mpfr_add_d(term, term, pair->exponent, round);
            mpfr_add_d(term, term, up ? pair->slack : -2 * pair->slack, round);
            mpfr_mul_ui(term, term, g->pairs->pair[i].count, round);
            mpfr_add(sum, sum, term, round);
        }
        if (pair->split) out->split += count_of(g, i);
    }
    mpfr_clear(term);
}

clo_status clo_i_pld_init(clo_i_pld *out, const clo_i_pairs *pairs, double tilt, clo_error *err)
{
    grid g;
    double tail = 0;
    *out = (clo_i_pld){ .tilt = tilt, .mu_up = pairs->mu_up, .mu_down = pairs->mu_down };
    out->step = pairs->count ? clo_i_pairs_step(pairs) : 1;
    CLO_TRY(grid_init(&g, pairs, out->step, tilt, err));
    const bool holds = fabs(g.centre) < 0x1p52; /* also no NaN */
    if (!holds) g.centre = g.deviation = 0;
    out->size = window_size(&g, &tail);
    out->first = (int64_t)g.centre - (int64_t)(out->size / 2);
    out->error = pairs->count ? tail + clo_i_transform_error(g.pair, pairs, out->size) : 0;
    if (!holds) out->error = INFINITY;
    const clo_status status = transform_all(out, &g, err);
    if (!status) set_scale(out, &g);
    if (status) clo_i_free(out->mass);
    grid_clear(&g);
    return status;
}

void clo_i_pld_clear(clo_i_pld *pld)
{
    clo_i_free(pld->mass);
    mpfr_clears(pld->scale_up, pld->scale_down, (mpfr_ptr)0);
}
