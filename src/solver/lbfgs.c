/*
 * lbfgs.c - limited-memory BFGS with a bisecting line search for the weak Wolfe conditions, which
 * asks nothing of the function but that it falls along a descent direction and is bounded below.
 */
#include "solver/lbfgs.h"
#include <math.h>
#include <string.h>

enum { MEMORY = 8, MOST_TRIALS = 40, PATIENCE = 3, LANES = 8 };
static const double ENOUGH_FALL = 1e-4, ENOUGH_BEND = 0.9;

/* The last steps and what they changed in the gradient, the newest last. */
typedef struct memory {
    size_t n, count;
    double *steps, *changes; /* MEMORY x n */
    double curvature[MEMORY];
} memory;

typedef struct point {
    double *x, *gradient;
    double value;
} point;

size_t clo_i_descend_scratch(size_t n)
{
    return (2 * MEMORY + 5) * n;
}

/* Eight sums, each of every eighth product, until the end: so vectors of any length give the same
 * bytes. */
CLO_WIDE static double dot(const double *a, const double *b, size_t n)
{
    double sums[LANES] = { 0 }, rest = 0;
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
#pragma omp simd
        for (size_t l = 0; l < LANES; l++) sums[l] += a[i + l] * b[i + l];
    for (; i < n; i++) rest += a[i] * b[i];
    return ((sums[0] + sums[1]) + (sums[2] + sums[3])) +
           ((sums[4] + sums[5]) + (sums[6] + sums[7])) + rest;
}

CLO_WIDE static void add(double *to, double factor, const double *what, size_t n)
{
#pragma omp simd
    for (size_t i = 0; i < n; i++) to[i] += factor * what[i];
}

static void remember(memory *m, const point *from, const point *to)
{
    const size_t n = m->n;
    if (m->count == MEMORY) {
        memmove(m->steps, m->steps + n, (MEMORY - 1) * n * sizeof *m->steps);
        memmove(m->changes, m->changes + n, (MEMORY - 1) * n * sizeof *m->changes);
        memmove(m->curvature, m->curvature + 1, (MEMORY - 1) * sizeof *m->curvature);
        m->count--;
    }
    double *const step = m->steps + m->count * n, *const change = m->changes + m->count * n;
    for (size_t i = 0; i < n; i++) {
        step[i] = to->x[i] - from->x[i];
        change[i] = to->gradient[i] - from->gradient[i];
    }
    m->curvature[m->count] = dot(step, change, n);
    const double length = dot(step, step, n);
    if (m->curvature[m->count] > 1e-14 * length) m->count++;
}

/* The two-loop recursion: -H gradient. */
static void aim(const memory *m, const double *gradient, double *direction)
{
    const size_t n = m->n;
    double share[MEMORY];
    for (size_t i = 0; i < n; i++) direction[i] = -gradient[i];
    for (size_t j = m->count; j-- > 0;) {
        share[j] = dot(m->steps + j * n, direction, n) / m->curvature[j];
        add(direction, -share[j], m->changes + j * n, n);
    }
    if (m->count) {
        const double *const last = m->changes + (m->count - 1) * n;
        const double scale = m->curvature[m->count - 1] / dot(last, last, n);
        for (size_t i = 0; i < n; i++) direction[i] *= scale;
    }
    for (size_t j = 0; j < m->count; j++) {
        const double back = dot(m->changes + j * n, direction, n) / m->curvature[j];
        add(direction, share[j] - back, m->steps + j * n, n);
    }
}

/* Brackets a step that falls enough and bends enough, doubling and halving; false: none found. */
static bool search(clo_i_objective *objective, void *user, size_t n, const point *from,
                   const double *direction, double first, point *to)
{
    const double slope = dot(from->gradient, direction, n);
    double low = 0, high = INFINITY, step = first;
    for (int trial = 0; trial < MOST_TRIALS; trial++) {
        for (size_t i = 0; i < n; i++) to->x[i] = from->x[i] + step * direction[i];
        to->value = objective(user, to->x, to->gradient);
        if (!(to->value <= from->value + ENOUGH_FALL * step * slope))
            high = step;
        else if (dot(to->gradient, direction, n) < ENOUGH_BEND * slope)
            low = step;
        else
            return true;
        step = isinf(high) ? 2 * low : (low + high) / 2;
    }
    return to->value < from->value;
}

double clo_i_descend(clo_i_objective *objective, void *user, size_t n, double *x,
                     clo_i_descent options, double *scratch)
{
    memory m = { .n = n, .steps = scratch, .changes = scratch + MEMORY * n };
    double *const direction = m.changes + MEMORY * n;
    point here = { direction + n, direction + 2 * n, 0 };
    point there = { direction + 3 * n, direction + 4 * n, 0 };
    memcpy(here.x, x, n * sizeof *x);
    here.value = objective(user, here.x, here.gradient);
    int idle = 0;
    for (size_t step = 0; step < options.most_steps && idle < PATIENCE; step++) {
        const double size = sqrt(dot(here.gradient, here.gradient, n));
        if (!(size > 0)) break;
        aim(&m, here.gradient, direction);
        if (!(dot(direction, here.gradient, n) < 0)) {
            m.count = 0; /* rounding has spoilt the memory: start again from the gradient */
            aim(&m, here.gradient, direction);
        }
        const double start =
            options.first > 0 ? options.first / size : sqrt(dot(here.x, here.x, n)) / size / 10;
        const double first = m.count ? 1 : start + 1e-300;
        if (!search(objective, user, n, &here, direction, first, &there)) {
            if (m.count == 0) break;
            m.count = 0;
            continue;
        }
        idle = here.value - there.value <= options.tolerance ? idle + 1 : 0;
        remember(&m, &here, &there);
        const point swap = here;
        here = there;
        there = swap;
    }
    memcpy(x, here.x, n * sizeof *x);
    return here.value;
}
