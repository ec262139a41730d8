/*
 * column.c - an exact draw from exp(-sum e_i x_i^2) on the unit sphere of a subspace of R^d: the
 * vector Bingham distribution, and one column of the matrix one given the others.
 *
 * The subspace is what is orthogonal to p given vectors N, m = d - p dimensions.  With C the form
 * diag(e) on it and any shift s below C's least eigenvalue, a Gaussian vector of precision C - s,
 * taken to length 1, is a proposal, and x is kept with probability
 *
 *   exp(m/2 - h) (2h/m)^(m/2),   h = x'(C - s)x,
 *
 * which is at most 1 whatever s is (bingham.T1; the angular central Gaussian envelope of Kent,
 * Ganeiber and Mardia, whose b is 2(c_1 - s)).  The best s solves trace((C - s)^-1) = 2.
 *
 * No basis of the complement is made and nothing of size m is decomposed.  Where all gaps e_i - s
 * are positive, the Gaussian is one of R^d with the diagonal precision D^-1 = diag(e - s),
 * conditioned on N'x = 0: covariance D - Y Y', Y = D N L^-T, L L' = N'D N.  By interlacing up to p
 * gaps may be small or negative.  Those are raised first; taking the excess off again is a downdate
 * by as many ranks, that is, a few more normal variates along the rows of Z (bingham.T2):
 * covariance D - Y Y' + Z Z'.  All of it costs O(d p^2).
 */
#include "bingham/bingham.h"
#include <math.h>
#include <string.h>

/* No eigenvalue of C - s is below this at the best shift, so gaps are raised to it. */
static const double LEAST_GAP = 0.5;
enum { MOST_TURNS = 60 };

size_t clo_i_envelope_scratch(size_t d, size_t others)
{
    return 3 * d + 2 * others * d + 2 * others * others + 2 * others;
}

void clo_i_envelope_init(clo_i_envelope *envelope, size_t d, size_t others, double *scratch)
{
    *envelope = (clo_i_envelope){ .d = d, .others = others };
    envelope->gap = scratch;
    envelope->inverse = envelope->gap + d;
    envelope->root = envelope->inverse + d;
    envelope->spread = envelope->root + d;
    envelope->factor = envelope->spread + others * d;
    envelope->lift = envelope->factor + others * others;
    envelope->small = envelope->lift + others * d;
    envelope->draw = envelope->small + others * others;
    envelope->softs = (size_t *)(envelope->draw + others);
}

static double dot(const double *a, const double *b, size_t n)
{
    double sum[4] = { 0, 0, 0, 0 };
    size_t i = 0;
    for (; i + 4 <= n; i += 4) {
#pragma omp simd
        for (size_t j = 0; j < 4; j++) sum[j] += a[i + j] * b[i + j];
    }
    for (; i < n; i++) sum[0] += a[i] * b[i];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

static void subtract(double *y, double factor, const double *x, size_t n)
{
#pragma omp simd
    for (size_t i = 0; i < n; i++) y[i] -= factor * x[i];
}

/* The lower Cholesky factor in place of the n x n matrix; false where it is not positive. */
static bool factorize(double *a, size_t n)
{
    for (size_t j = 0; j < n; j++)
        for (size_t i = j; i < n; i++) {
            const double rest = a[i * n + j] - dot(a + i * n, a + j * n, j);
            if (i > j)
                a[i * n + j] = rest / a[j * n + j];
            else if (rest > 0)
                a[j * n + j] = sqrt(rest);
            else
                return false;
        }
    return true;
}

/* X <- L^-1 X, X of n rows of length d. */
static void solve_rows(const double *factor, size_t n, double *x, size_t d)
{
    for (size_t j = 0; j < n; j++) {
        double *const row = x + j * d;
        for (size_t l = 0; l < j; l++) subtract(row, factor[j * n + l], x + l * d, d);
        for (size_t i = 0; i < d; i++) row[i] /= factor[j * n + j];
    }
}

/* Gaps, and which of them are soft; false: more than there are vectors, so that the shift cannot
 * lie LEAST_GAP below C. */
static bool open_gaps(clo_i_envelope *v, double shift)
{
    v->shift = shift;
    v->soft = 0;
    for (size_t i = 0; i < v->d; i++) {
        double raised = v->gap[i] = v->energies[i] - shift;
        if (raised < LEAST_GAP) {
            if (v->soft == v->others) return false;
            v->softs[v->soft++] = i;
            raised = fmax(fabs(raised), LEAST_GAP);
        }
        v->inverse[i] = 1 / raised;
    }
    return true;
}

/* The rows of Z: the covariance's columns at the soft coordinates, times what takes the excess of
 * their gaps off again. */
static bool lift(clo_i_envelope *v)
{
    const size_t d = v->d, n = v->soft;
    for (size_t t = 0; t < n; t++) {
        const size_t at = v->softs[t];
        double *const row = v->lift + t * d;
        memset(row, 0, d * sizeof *row);
        row[at] = v->inverse[at];
        for (size_t j = 0; j < v->others; j++)
            subtract(row, v->spread[j * d + at], v->spread + j * d, d);
        const double excess = sqrt(1 / v->inverse[at] - v->gap[at]);
        for (size_t i = 0; i < d; i++) row[i] *= excess;
        for (size_t u = 0; u <= t; u++) {
            const size_t other = v->softs[u];
            const double shared = row[other] * sqrt(1 / v->inverse[other] - v->gap[other]);
            v->small[t * n + u] = (t == u ? 1.0 : 0.0) - shared;
        }
    }
    if (!factorize(v->small, n)) return false;
    solve_rows(v->small, n, v->lift, d);
    return true;
}

/* Everything for one shift, and the trace of (C - s)^-1.  False: s is not below C. */
static bool prepare(clo_i_envelope *v, double shift, double *trace)
{
    const size_t d = v->d, p = v->others;
    double sum = 0;
    if (!open_gaps(v, shift)) return false;
    for (size_t j = 0; j < p; j++) {
        double *const row = v->spread + j * d;
        for (size_t i = 0; i < d; i++) row[i] = v->inverse[i] * v->normal[j][i];
        for (size_t l = 0; l <= j; l++) v->factor[j * p + l] = dot(row, v->normal[l], d);
    }
    if (!factorize(v->factor, p)) return false;
    solve_rows(v->factor, p, v->spread, d);
    if (!lift(v)) return false;
    for (size_t i = 0; i < d; i++) sum += v->inverse[i];
    *trace = sum - dot(v->spread, v->spread, p * d) + dot(v->lift, v->lift, v->soft * d);
    return *trace > 0;
}

/* sum of squared inner products of the rows. */
static double cross(const double *x, size_t rows, const double *y, size_t others, size_t d)
{
    double sum = 0;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < others; j++) {
            const double product = dot(x + i * d, y + j * d, d);
            sum += product * product;
        }
    return sum;
}

static double weighted(const double *weights, const double *x, size_t rows, size_t d)
{
    double sum = 0;
    for (size_t j = 0; j < rows; j++)
        for (size_t i = 0; i < d; i++) sum += weights[i] * x[j * d + i] * x[j * d + i];
    return sum;
}

/* The trace of (C - s)^-2, from what prepare left: that of (D - Y Y' + Z Z')^2. */
static double square_trace(const clo_i_envelope *v)
{
    const size_t d = v->d, p = v->others, t = v->soft;
    const double *const y = v->spread, *const z = v->lift;
    return dot(v->inverse, v->inverse, d) - 2 * weighted(v->inverse, y, p, d) +
           cross(y, p, y, p, d) + 2 * (weighted(v->inverse, z, t, d) - cross(y, p, z, t, d)) +
           cross(z, t, z, t, d);
}

/* Newton's rule on the harmonic mean g(s) = 2/trace, which is concave and decreases: a step from
 * the right of the root stays there, one from the left may overshoot C and is then halved. */
void clo_i_envelope_fit(clo_i_envelope *v, const double *energies, const double *const *normal,
                        double guess)
{
    const double m = (double)(v->d - v->others), near = 0.5 / sqrt(m);
    double least = INFINITY, high = INFINITY, step = 0.5 * sqrt(m), trace = 0;
    v->energies = energies;
    v->normal = normal;
    for (size_t i = 0; i < v->d; i++) least = fmin(least, energies[i]);
    double low = least - m / 2; /* there all gaps are at least m/2, and g >= 1 */
    double s = guess > low ? guess : low;
    bool ready = false;
    for (int turn = 0; turn < MOST_TURNS; turn++) {
        ready = prepare(v, s, &trace);
        if (!ready) {
            high = s;
            s = fmax(s - step, 0.5 * (low + s));
            step *= 2;
            continue;
        }
        const double g = 2 / trace;
        if (fabs(g - 1) <= near) break;
        if (g > 1) low = s;
        if (turn + 1 == MOST_TURNS) break;
        const double next = s + (g - 1) * trace * trace / (2 * square_trace(v));
        s = next < high ? fmax(next, low) : 0.5 * (s + high);
    }
    if (!ready) (void)prepare(v, least - m / 2, &trace); /* never fails: no gap is soft there */
    for (size_t i = 0; i < v->d; i++) v->root[i] = sqrt(v->inverse[i]);
}

/* A Gaussian vector with covariance (C - s)^-1, taken to length 1. */
static bool propose(const clo_i_envelope *v, clo_stream *stream, double *x)
{
    const size_t d = v->d, p = v->others;
    double *const inner = v->draw;
    for (size_t i = 0; i < d; i++) x[i] = v->root[i] * clo_i_random_normal(stream);
    for (size_t j = 0; j < p; j++) inner[j] = dot(v->normal[j], x, d);
    solve_rows(v->factor, p, inner, 1);
    for (size_t j = 0; j < p; j++) subtract(x, inner[j], v->spread + j * d, d);
    for (size_t t = 0; t < v->soft; t++)
        subtract(x, clo_i_random_normal(stream), v->lift + t * d, d);
    /* Once more, against rounding. */
    for (size_t j = 0; j < p; j++) subtract(x, dot(v->normal[j], x, d), v->normal[j], d);
    const double length = sqrt(dot(x, x, d));
    if (!(length > 0) || !isfinite(length)) return false;
    for (size_t i = 0; i < d; i++) x[i] /= length;
    return true;
}

bool clo_i_envelope_draw(clo_i_envelope *v, clo_stream *stream, double *x)
{
    const double half = 0.5 * (double)(v->d - v->others);
    for (;;) {
        const bool proposed = propose(v, stream, x);
        const double u = clo_i_random_unit(stream);
        if (clo_i_stream_check(stream, NULL)) return false;
        if (!proposed) continue;
        double h = 0;
        for (size_t i = 0; i < v->d; i++) h += v->gap[i] * x[i] * x[i];
        if (h > 0 && log(u) <= half - h + half * log(h / half)) return true; /* bingham.T1 */
    }
}
