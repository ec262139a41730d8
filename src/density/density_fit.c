/*
 * density_fit.c - the weights of a density: regularised least squares over all answers, by L-BFGS.
 *
 * A pass adds up what each group answers, and a second one brings back to each point how far that
 * is off.  A point touches one group an answer.  Four numbers at a time, each in a place of its own
 * until the end, so that vectors of any length give the same bytes.
 */
#include "density/density.h"
#include "density/density_internal.h"
#include "solver/lbfgs.h"
#include <math.h>
#include <string.h>

/* Weights change by no more than these factors' logarithms. */
static const double LEAST_LOG = -8, MOST_LOG = 5;
static const double TOLERANCE = 1e-3; /* of half a sum of squares in deviations */
static const double FIRST_STEP = 0.1; /* length of the first step in the logarithms */

clo_status clo_i_density_take_points(clo_workspace *space, size_t n, size_t cols, clo_density *out,
                                     clo_error *err)
{
    *out = (clo_density){ .count = n, .cols = cols };
    CLO_TRY(clo_i_take(space, n * cols, sizeof(double), &out->points, err));
    CLO_TRY(clo_i_take(space, n * cols, sizeof(double), &out->moved, err));
    CLO_TRY(clo_i_take(space, n, sizeof(double), &out->base, err));
    CLO_TRY(clo_i_take(space, n, sizeof(double), &out->logs, err));
    CLO_TRY(clo_i_take(space, n, sizeof(double), &out->weights, err));
    CLO_TRY(clo_i_take(space, n, sizeof *out->labels, &out->labels, err));
    return clo_i_take(space, clo_i_descend_scratch(n), sizeof(double), &out->scratch, err);
}

clo_status clo_i_density_take(clo_workspace *space, const clo_density_shape *shape,
                              clo_density *out, clo_error *err)
{
    CLO_TRY(clo_i_density_take_points(space, shape->points, shape->cols, out, err));
    return clo_i_density_take_answers(space, shape, out, err);
}

/* off += weight * features, of each point in its group. */
CLO_WIDE static void add_up(const clo_density_answer *a, const double *weights, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        double *const to = a->off + a->labels[i] * a->stride;
        const float *const from = a->features + i * a->stride;
        const double weight = weights[i];
#pragma omp simd
        for (size_t j = 0; j < a->stride; j++) to[j] += weight * (double)from[j];
    }
}

/* gradient += weight * features . off, of each point. */
CLO_WIDE static void bring_back(const clo_density_answer *a, const double *weights, size_t count,
                                double *gradient)
{
    for (size_t i = 0; i < count; i++) {
        const double *const off = a->off + a->labels[i] * a->stride;
        const float *const from = a->features + i * a->stride;
        double lane[4] = { 0 };
        for (size_t j = 0; j < a->stride; j += 4)
#pragma omp simd
            for (size_t l = 0; l < 4; l++) lane[l] += off[j + l] * (double)from[j + l];
        gradient[i] += weights[i] * ((lane[0] + lane[1]) + (lane[2] + lane[3]));
    }
}

/* How far the density is off what was answered: the sum of squares, in deviations of the noise. */
static double miss(const clo_density_answer *a, const double *weights, size_t count)
{
    const size_t numbers = a->groups * a->stride;
    double squares = 0;
    memset(a->off, 0, numbers * sizeof *a->off);
    add_up(a, weights, count);
    for (size_t e = 0; e < numbers; e++) {
        a->off[e] -= a->told[e];
        squares += a->off[e] * a->off[e];
    }
    return squares;
}

static double within(double log)
{
    return fmin(fmax(log, LEAST_LOG), MOST_LOG);
}

static double objective(void *user, const double *logs, double *gradient)
{
    clo_density *const density = user;
    const double strength = density->strength;
    double value = 0;
    for (size_t i = 0; i < density->count; i++) {
        const double weight = density->base[i] * exp(within(logs[i]));
        density->weights[i] = weight;
        gradient[i] = strength * weight * logs[i];
        value += strength * (weight * logs[i] - weight + density->base[i]);
    }
    const clo_density_answer *const end = density->answers + density->answered;
    for (const clo_density_answer *a = density->answers; a < end; a++) {
        value += miss(a, density->weights, density->count) / 2;
        bring_back(a, density->weights, density->count, gradient);
    }
    return value;
}

void clo_i_density_fit(clo_density *density, size_t most_steps)
{
    const clo_i_descent how = { .most_steps = most_steps,
                                .tolerance = TOLERANCE,
                                .first = FIRST_STEP };
    clo_i_descend(objective, density, density->count, density->logs, how, density->scratch);
    for (size_t i = 0; i < density->count; i++) {
        density->logs[i] = within(density->logs[i]);
        density->weights[i] = density->base[i] * exp(density->logs[i]);
    }
}

double clo_i_density_misfit(const clo_density *density)
{
    const clo_density_answer *const last = &density->answers[density->answered - 1];
    const size_t numbers = last->groups * clo_i_density_features(last->kind, density->cols);
    return miss(last, density->weights, density->count) / (double)numbers;
}
