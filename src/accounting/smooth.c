/*
 * smooth.c - the exact price of a Gaussian whose scale depends on the data.
 *
 * Between neighbours the answer moves by at most S and the scale by a factor of at most e^beta.
 * The usual constants (Nissim, Raskhodnikova and Smith 2007) bound the two apart, waste a factor
 * of two to four at small epsilon, and are too small at large.  Here the pair is taken as it is:
 * N(0, I) against N(v, e^(2 lambda) I).  Where one density outweighs the other is a ball or its
 * outside, and its mass is an integral over the coordinate along v of a chi-square distribution
 * function (aggregate.T2).  The shift at its largest is the worst one; between neighbouring
 * lambdas of a fine grid, one density is at most e^(dimension * step) times the other
 * (aggregate.T3).
 */
#include "accounting/smooth.h"
#include <math.h>

enum { PANELS = 40, SHRINKING = 16, BISECTIONS = 40, GRID = 256 };
static const double SHRINK = .4;
static const double REACH = 38; /* standard deviations: beyond, a density is 0 in doubles */
static const double DILATION_SHARE =
    .5;                                /* of the largest beta that epsilon and delta allow alone */
static const double GRID_PRICE = .004; /* of epsilon, for what lies between grid points */

/* ---- chi-square ------------------------------------------------------------------------ */

static double gamma_series(double shape, double x, double front)
{
    double term = 1 / shape, sum = term;
    for (int n = 1; n < 10000 && term > 1e-17 * sum; n++) {
        term *= x / (shape + n);
        sum += term;
    }
    return front * sum;
}

/* Lentz's continued fraction of the upper tail. */
static double gamma_fraction(double shape, double x, double front)
{
    const double tiny = 1e-300;
    double b = x + 1 - shape, c = 1 / tiny, d = 1 / b, h = d;
    for (int n = 1; n < 10000; n++) {
        const double a = -n * (n - shape);
        b += 2;
        d = a * d + b;
        c = b + a / c;
        if (fabs(d) < tiny) d = tiny;
        if (fabs(c) < tiny) c = tiny;
        d = 1 / d;
        h *= d * c;
        if (fabs(d * c - 1) < 1e-15) break;
    }
    return front * h;
}

/* The lower part of the gamma distribution, or the upper one; each to its own last digits. */
static double gamma_part(double shape, double x, bool upper)
{
    int sign;
    if (!(x > 0)) return upper ? 1 : 0;
    if (isinf(x)) return upper ? 0 : 1;
    const double front = exp(shape * log(x) - x - lgamma_r(shape, &sign));
    if (x < shape + 1) {
        const double lower = fmin(1, gamma_series(shape, x, front));
        return upper ? 1 - lower : lower;
    }
    const double rest = fmin(1, fmax(0, gamma_fraction(shape, x, front)));
    return upper ? rest : 1 - rest;
}

/* Gauss's rule of order 16 on (-1, 1): the positive half. */
static const double NODE[8] = { 0.095012509837637454, 0.28160355077925892, 0.45801677765722737,
                                0.61787624440264377,  0.755404408355003,   0.86563120238783176,
                                0.9445750230732326,   0.98940093499164994 };
static const double WEIGHT[8] = { 0.18945061045506859,  0.18260341504492361, 0.16915651939500262,
                                  0.14959598881657676,  0.12462897125553403, 0.095158511682492591,
                                  0.062253523938647706, 0.027152459411754037 };

typedef struct ball {
    size_t dimension; /* at least 2 */
    double far, radius;
    bool outside;
} ball;

/* At angle u, where the coordinate along the line to the centre is far + radius sin u: the density
 * there, times the mass of the slice inside (or outside), times the change of variable.  It is
 * smooth up to the ends, which the same in the coordinate is not. */
static double slice(const ball *b, double u)
{
    const double t = b->far + b->radius * sin(u), across = b->radius * cos(u);
    const double density = exp(-t * t / 2);
    if (density == 0) return 0;
    return density * across *
           gamma_part((double)(b->dimension - 1) / 2, across * across / 2, b->outside);
}

static double panel(const ball *b, double from, double to)
{
    const double middle = (from + to) / 2, half = (to - from) / 2;
    double sum = 0;
    for (int i = 0; i < 8; i++)
        sum += WEIGHT[i] * (slice(b, middle - half * NODE[i]) + slice(b, middle + half * NODE[i]));
    return sum * half;
}

/* From one end of the interval toward the other: a large ball fills its slices right behind its
 * edge, so the first of the panels is divided into ever smaller ones. */
static double toward_end(const ball *b, double end, double inner)
{
    double mass = 0, away = inner - end;
    for (int i = 0; i < SHRINKING; i++, away *= SHRINK)
        mass += panel(b, end + (i + 1 < SHRINKING ? away * SHRINK : 0), end + away);
    return mass;
}

/* The mass that N(0, I) gives to the ball of that squared radius whose centre is `far` away, or to
 * its outside; either to its own last digits, since e^epsilon multiplies one of them. */
static double ball_mass(size_t dimension, double far, double squared_radius, bool outside)
{
    if (!(squared_radius > 0)) return outside ? 1 : 0;
    const double radius = sqrt(squared_radius), root = sqrt(2);
    const ball b = { dimension, far, radius, outside };
    const double beyond = .5 * (erfc((far + radius) / root) + erfc((radius - far) / root));
    if (dimension == 1 && outside) return beyond;
    if (dimension == 1) return .5 * (erfc((far - radius) / root) - erfc((far + radius) / root));
    const double from = asin(fmin(1, fmax(-1, (-REACH - far) / radius)));
    const double to = asin(fmin(1, fmax(-1, (REACH - far) / radius)));
    const double width = (to - from) / PANELS;
    double mass = toward_end(&b, from, from + width) - toward_end(&b, to, to - width);
    for (int i = 1; i + 1 < PANELS; i++)
        mass += panel(&b, from + i * width, from + (i + 1) * width);
    return mass / sqrt(2 * acos(-1)) + (outside ? beyond : 0);
}

/* ---- the pair -------------------------------------------------------------------------- */

static double gaussian_delta(double epsilon, double alpha)
{
    if (!(alpha > 0)) return epsilon >= 0 ? 0 : 1 - exp(epsilon);
    const double a = epsilon / alpha - alpha / 2, b = epsilon / alpha + alpha / 2;
    return .5 * (erfc(a / sqrt(2)) - exp(epsilon) * erfc(b / sqrt(2)));
}

double clo_i_smooth_delta(double epsilon, size_t dimension, double alpha, double lambda)
{
    const double n = (double)dimension, variance = exp(2 * lambda);
    const double v = alpha * fmin(1, exp(lambda));
    if (fabs(lambda) < 1e-7) return gaussian_delta(epsilon - n * fabs(lambda), alpha);
    /* log p - log q > epsilon is |x - centre|^2 < or > a squared radius; centre = -v / (variance -
     * 1), on the side away from v where the second is wider. */
    const double excess = variance - 1;
    const double centre = v / excess;
    const double squared =
        variance * (2 * (n * lambda - epsilon) / excess + v * v / (excess * excess));
    const bool outside = lambda < 0;
    const double here = ball_mass(dimension, fabs(centre), squared, outside);
    const double there =
        ball_mass(dimension, fabs(v + centre) / sqrt(variance), squared / variance, outside);
    const double delta = here - exp(epsilon) * there;
    return isfinite(delta) ? fmax(0, delta) : 1; /* what cannot be computed is not private */
}

/* The largest over all |lambda| <= beta and both signs, by aggregate.T3; `points` of a grid. */
static double worst_delta(double epsilon, size_t dimension, double alpha, double beta, int points)
{
    const double slack = (double)dimension * beta / points;
    double worst = 0;
    for (int i = -points; i <= points; i++) {
        const double delta =
            clo_i_smooth_delta(epsilon - slack, dimension, alpha, beta * i / points);
        worst = fmax(worst, i < 0 ? exp(slack) * delta : delta);
    }
    return worst;
}

/* A guess at it, for the search: at the ends and in the middle, without slack. */
static double usual_delta(double epsilon, size_t dimension, double alpha, double beta)
{
    double worst = 0;
    for (int i = -2; i <= 2; i++)
        worst = fmax(worst, clo_i_smooth_delta(epsilon, dimension, alpha, beta * i / 2));
    return worst;
}

typedef struct search {
    double epsilon, delta, beta;
    size_t dimension;
} search;

/* The largest value in 0 … upper that is private enough, by bisection in the logarithm. */
static double largest(const search *s, bool of_beta, double upper)
{
    double low = upper * 1e-9, high = upper;
    for (int i = 0; i < BISECTIONS; i++) {
        const double middle = sqrt(low * high);
        const double delta = of_beta
                                 ? fmax(clo_i_smooth_delta(s->epsilon, s->dimension, 0, middle),
                                        clo_i_smooth_delta(s->epsilon, s->dimension, 0, -middle))
                                 : usual_delta(s->epsilon, s->dimension, middle, s->beta);
        if (delta <= s->delta)
            low = middle;
        else
            high = middle;
    }
    return low;
}

clo_status clo_i_smooth_calibrate(double epsilon, double delta, size_t dimension, clo_smooth *out,
                                  clo_error *err)
{
    search s = { .epsilon = epsilon, .delta = delta, .dimension = dimension };
    if (!(delta > 1e-18))
        return clo_i_fail(err, CLO_ARGUMENT,
                          "noise that follows the data needs a delta above 0, such as 1e-6");
    s.beta = DILATION_SHARE * largest(&s, true, 5);
    /* So many points that what lies between them costs little (aggregate.T3). */
    const double wanted = (double)dimension * s.beta / (GRID_PRICE * epsilon);
    const int points = (int)fmin(GRID, fmax(8, ceil(wanted)));
    double alpha = largest(&s, false, 100);
    for (int tries = 0; tries < 200; tries++, alpha *= .99)
        if (worst_delta(epsilon, dimension, alpha, s.beta, points) <= delta) {
            *out = (clo_smooth){ .alpha = alpha, .beta = s.beta };
            return CLO_OK;
        }
    return clo_i_fail(err, CLO_ARGUMENT,
                      "epsilon %g and delta %g are too small for this method in %zu "
                      "dimensions: raise them, or choose another method",
                      epsilon, delta, dimension);
}
