/*
 * grid.c - one record onto the integer grid (bound.T1).
 *
 * Everything before the truncation is floating point and serves accuracy alone; the bound on the
 * norm is then enforced on the integers, in integers.  The result is a pure function of this
 * record: the order of operations is fixed, and nothing here knows another record.
 */
#include "bound/bound.h"
#include "base/planted.h"
#include <math.h>
#include <stdlib.h>

static const double GRID = (double)(1 << CLO_GRID_BITS);

/* The largest magnitude, or NaN where a value is not finite. */
static double largest_magnitude(const double *values, size_t cols)
{
    double largest = 0;
    for (size_t j = 0; j < cols; j++) {
        const double magnitude = fabs(values[j]);
        if (!(magnitude <= __DBL_MAX__)) return NAN;
        if (magnitude > largest) largest = magnitude;
    }
    return largest;
}

/* The length, in units of `unit`.  Four running sums break the chain of additions; their number is
 * part of the definition. */
static double length(const double *values, size_t cols, double unit)
{
    double sums[4] = { 0, 0, 0, 0 };
    for (size_t j = 0; j < cols; j++) {
        const double value = values[j] / unit;
        sums[j & 3] += value * value;
    }
    return sqrt((sums[0] + sums[1]) + (sums[2] + sums[3]));
}

static bool inside_ball(const int32_t *record, size_t cols)
{
    unsigned __int128 total = 0;
    for (size_t j = 0; j < cols; j++) {
        const int64_t r = record[j];
        total += (uint64_t)(r * r);
    }
    return total <= (unsigned __int128)1 << (2 * CLO_GRID_BITS);
}

/* The length was rounded, and so a record on the sphere can stick out by a few units of its square:
 * its largest entry goes one step toward zero.  That one step is nearly always enough, and none is
 * ever wrong. */
static void take_a_step_in(int32_t *record, size_t cols)
{
    size_t largest = 0;
    for (size_t j = 1; j < cols; j++)
        if (abs(record[j]) > abs(record[largest])) largest = j;
    record[largest] += record[largest] > 0 ? -1 : 1;
}

void clo_i_to_grid(const double *values, size_t cols, double norm, int32_t *out)
{
    const double largest = largest_magnitude(values, cols);
    if (!(largest > 0)) { /* the zero record, or one with a bad cell */
        for (size_t j = 0; j < cols; j++) out[j] = 0;
        return;
    }
    /* Squares of very large or very small values would leave the range of a double. */
    const double unit = largest > 1e-140 && largest < 1e140 ? 1 : largest;
    const double own = length(values, cols, unit), allowed = norm / unit;
    const bool outside = own > allowed && !clo_i_planted(CLO_FAULT_CLIPPING_MISSING);
    const double divisor = outside ? own : allowed;
    for (size_t j = 0; j < cols; j++) {
        /* Divided first: a record along an axis lands exactly on the sphere. */
        const double r = values[j] / unit / divisor * GRID;
        out[j] = (int32_t)(r > GRID ? GRID : r < -GRID ? -GRID : r);
    }
    if (clo_i_planted(CLO_FAULT_CLIPPING_MISSING)) return;
    while (!inside_ball(out, cols)) take_a_step_in(out, cols);
}
