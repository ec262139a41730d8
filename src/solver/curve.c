/*
 * curve.c - how many clusters there are, by a curve of the loss over their number: where its
 * logarithm bends most, or, if it does not bend, where one more begins to win little.
 */
#include "solver/curve.h"
#include <math.h>

enum { LOOK_AHEAD = 3 };
static const double LEAST_BEND = 0.1;  /* of the logarithm, for an elbow */
static const double LEAST_FALL = 3;    /* times the falls that follow, for an elbow */
static const double LITTLE = 0.08;     /* of the logarithm: what one cluster more is to win */
static const double LEAST_LOSS = 1e-3; /* of that of one cluster: below it is noise */

static double log_of(double loss)
{
    return log(fmax(loss, LEAST_LOSS));
}

/* The mean fall of the curve's logarithm over the numbers that follow one, a few of them. */
static double fall_after(const double *curve, size_t count, size_t i)
{
    const size_t last = i + LOOK_AHEAD < count ? i + LOOK_AHEAD : count - 1;
    return (log_of(curve[i]) - log_of(curve[last])) / (double)(last - i);
}

/* Records that are spread evenly bend, too, but go on falling.  The last number of the curve cannot
 * be a bend: nobody knows how it goes on. */
size_t clo_i_curve_elbow(const double *curve, size_t count, size_t most)
{
    size_t best = 1;
    double sharpest = LEAST_BEND;
    for (size_t i = 0; i + 2 < count && i + 2 <= most; i++) {
        const double fall = log_of(curve[i]) - log_of(curve[i + 1]);
        const double bend = fall - log_of(curve[i + 1]) + log_of(curve[i + 2]);
        if (bend > sharpest && fall >= LEAST_FALL * fall_after(curve, count, i + 1)) {
            sharpest = bend;
            best = i + 2;
        }
    }
    return best;
}

static double median_of_three(double a, double b, double c)
{
    return fmax(fmin(a, b), fmin(fmax(a, b), c));
}

size_t clo_i_curve_share(const double *curve, size_t count, size_t most)
{
    double falls[LOOK_AHEAD];
    for (size_t k = 2; k < most && k + LOOK_AHEAD <= count; k++) {
        for (size_t i = 0; i < LOOK_AHEAD; i++)
            falls[i] = log_of(curve[k + i - 1]) - log_of(curve[k + i]);
        if (median_of_three(falls[0], falls[1], falls[2]) < LITTLE) return k;
    }
    return most;
}
