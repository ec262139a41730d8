/*
 * coordinate.c - the law of one squared coordinate, x^(-1/2) (1-x)^k exp(a x) on (0, 1), exactly,
 * for every a and every k >= -1/2 (bingham.T5).
 *
 * It is the vector Bingham law of p = 2k + 3 dimensions with two energies, -a once and 0 for the
 * rest; the envelope of column.c then is x = G/(G + H) with two gamma variates, and its shift the
 * root of a quadratic.  (wang2015's sampler for a > 0 draws from the part of its mixture that lacks
 * the singularity at 0, and is biased: errors of half the mass for k = 19.5.)
 */
#include "bingham/bingham.h"
#include <math.h>

typedef struct coordinate {
    double half;        /* p/2 */
    double shape;       /* k + 1 */
    double first, rest; /* gaps of the two energies */
} coordinate;

/* The larger root of 4 w^2 - 2 middle w - last = 0, last >= 0, without cancellation. */
static double gap_of(double middle, double last)
{
    const double root = sqrt(middle * middle + 4 * last);
    return middle >= 0 ? (middle + root) / 4 : last / (root - middle);
}

/* 1/(2 first) + (p-1)/(2 rest) = 1 with rest = first + a. */
static coordinate prepare(double k, double a)
{
    const double p = 2 * k + 3;
    coordinate c = { .half = p / 2, .shape = k + 1 };
    if (a >= 0) {
        c.first = gap_of(p - 2 * a, 2 * a);
        c.rest = c.first + a;
    } else {
        c.rest = gap_of(p + 2 * a, -2 * a * (p - 1));
        c.first = c.rest - a;
    }
    return c;
}

/* Marsaglia and Tsang's method; a shape below one through the one above it. */
static double gamma_variate(clo_stream *stream, double shape)
{
    const double raised = shape < 1 ? shape + 1 : shape;
    const double d = raised - 1.0 / 3, c = 1 / sqrt(9 * d);
    while (!clo_i_stream_check(stream, NULL)) {
        const double z = clo_i_random_normal(stream), root = 1 + c * z;
        const double v = root * root * root, u = clo_i_random_unit(stream);
        if (root <= 0 || log(u) > z * z / 2 + d - d * v + d * log(v)) continue;
        return shape < 1 ? d * v * pow(clo_i_random_unit(stream), 1 / shape) : d * v;
    }
    return 0;
}

static double draw(clo_stream *stream, const coordinate *c)
{
    while (!clo_i_stream_check(stream, NULL)) {
        const double z = clo_i_random_normal(stream);
        const double g = 0.5 * z * z / c->first, t = gamma_variate(stream, c->shape) / c->rest;
        const double x = g / (g + t), h = c->first * x + c->rest * (t / (g + t));
        const double u = clo_i_random_unit(stream);
        if (!(x > 0 && x < 1)) continue; /* rounding, or a failed stream */
        if (log(u) <= c->half - h + c->half * log(h / c->half)) return x; /* bingham.T5 */
    }
    return 0;
}

clo_status clo_bingham_coordinate(double k, double a, clo_rng *rng, size_t count, double *out,
                                  clo_error *err)
{
    const uint64_t ask = clo_i_rng_next_ask(rng);
    clo_stream *stream = NULL;
    double *drawn = NULL;
    if (!(k >= -0.5 && k <= 1e9))
        return clo_i_fail(err, CLO_ARGUMENT, "k must be between -0.5 and 1e9, not %g", k);
    if (!(fabs(a) <= 1e15))
        return clo_i_fail(err, CLO_ARGUMENT, "a must be between -1e15 and 1e15, not %g", a);
    const coordinate prepared = prepare(k, a);
    CLO_TRY(clo_i_alloc(count, sizeof *drawn, &drawn, err));
    clo_status status = clo_i_stream_open(rng, ask, 0, &stream, err);
    if (!status) {
        for (size_t i = 0; i < count; i++) drawn[i] = draw(stream, &prepared);
        status = clo_i_stream_check(stream, err);
    }
    for (size_t i = 0; i < count && !status; i++) out[i] = drawn[i];
    clo_i_stream_close(stream);
    clo_i_wipe_free(drawn, count * sizeof *drawn);
    return status;
}
