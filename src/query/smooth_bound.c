/*
 * smooth_bound.c - how far the middle one of m points can move when s of them change, by a bound
 * that itself changes little (aggregate.T1; wang2015, Algorithm 1, repaired: the printed formula is
 * not smooth, and is undefined where all points agree).
 */
#include "query/smooth_bound.h"
#include "base/planted.h"
#include <math.h>
#include <stdlib.h>

static int ascending(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

void clo_i_sort(double *values, size_t count)
{
    qsort(values, count, sizeof *values, ascending);
}

/* The mean of the a smallest r_i(t). */
static double smallest_mean(const double *sorted, size_t points, size_t t, size_t a,
                            double *scratch)
{
    double sum = 0;
    for (size_t i = 0; i < points; i++) scratch[i] = sorted[i * points + t - 1];
    clo_i_sort(scratch, points);
    for (size_t i = 0; i < a; i++) sum += scratch[i];
    return sum / (double)a;
}

/* The least a for which the proof's ratio is at most e^(beta/2); 3 s / beta or a few more. */
static size_t averaged(size_t changed, double beta)
{
    const double s = (double)changed;
    size_t a = (size_t)fmin(0x1p40, ceil(3 * s / beta)); /* beta is above 3 s / majority */
    if (a < 2 * changed) a = 2 * changed;
    while ((1 + s / (double)a) / (1 - s / (2 * (double)a)) > exp(beta / 2)) a++;
    return a;
}

bool clo_i_smooth_is_constant(size_t points, size_t changed, double beta)
{
    const size_t majority = (points + changed + 1) / 2 + 1;
    return majority > points || !(3 * (double)changed / (double)majority < beta) ||
           averaged(changed, beta) > majority;
}

double clo_i_smooth_bound(const double *sorted, size_t points, size_t changed, double beta,
                          double diameter, size_t *center, double *scratch)
{
    const size_t majority = (points + changed + 1) / 2 + 1;
    const bool local = clo_i_planted(CLO_FAULT_LOCAL_NOISE);
    double bound = 0;
    *center = 0;
    if (majority > points) return diameter;
    for (size_t i = 1; i < points; i++)
        if (sorted[i * points + majority - 1] < sorted[*center * points + majority - 1])
            *center = i;
    if (local) return 2 * smallest_mean(sorted, points, majority + changed, 1, scratch);
    if (clo_i_smooth_is_constant(points, changed, beta)) return diameter;
    const size_t a = averaged(changed, beta);
    for (size_t step = 0;; step++) {
        const size_t t = majority + (step + 1) * changed;
        const double radius = t > points ? diameter : smallest_mean(sorted, points, t, a, scratch);
        bound = fmax(bound, 2 * radius * exp(-beta * (double)step / 2));
        if (t > points) break; /* all later terms are smaller than this one */
    }
    return fmin(bound, diameter);
}
