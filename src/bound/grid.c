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
static const double SMALL = 1e-140, LARGE = 1e140; /* squares between stay in a double's range */

static inline double larger(double a, double b)
{
    return a > b ? a : b;
}

/* The largest magnitude, or NaN where a value is not finite: 0 times that is NaN. */
static inline double largest_magnitude(const double *values, size_t cols)
{
    double most = 0, check = 0; /* the same in any order: the sum is 0 or NaN */
#pragma omp simd reduction(max : most) reduction(+ : check)
    for (size_t j = 0; j < cols; j++) {
        most = larger(fabs(values[j]), most);
        check += values[j] * 0;
    }
    return check == 0 ? most : NAN;
}

/* The length, and the largest magnitude on the way.  Four running sums break the chain of
 * additions; their number is part of the definition.  A length that is finite says that every value
 * is. */
static inline double length(const double *values, size_t cols, double *largest)
{
    double sums[4] = { 0, 0, 0, 0 }, most[4] = { 0, 0, 0, 0 };
    const size_t whole = cols & ~(size_t)3;
    for (size_t j = 0; j < whole; j += 4)
#pragma omp simd
        for (size_t lane = 0; lane < 4; lane++) {
            const double value = values[j + lane];
            sums[lane] += value * value;
            most[lane] = larger(fabs(value), most[lane]);
        }
    for (size_t j = whole; j < cols; j++) {
        sums[j & 3] += values[j] * values[j];
        most[j & 3] = larger(fabs(values[j]), most[j & 3]);
    }
    *largest = larger(larger(most[0], most[1]), larger(most[2], most[3]));
    return sqrt((sums[0] + sums[1]) + (sums[2] + sums[3]));
}

/* The same in units of `unit`, for values whose squares would leave the range of a double. */
static double length_in_units(const double *values, size_t cols, double unit)
{
    double sums[4] = { 0, 0, 0, 0 };
    for (size_t j = 0; j < cols; j++) {
        const double value = values[j] / unit;
        sums[j & 3] += value * value;
    }
    return sqrt((sums[0] + sums[1]) + (sums[2] + sums[3]));
}

/* Squares are at most 2^60, and are added by halves, neither of which overflows below 2^32
 * columns. */
__attribute__((always_inline)) static inline bool inside_ball(const int32_t *record, size_t cols)
{
    uint64_t low = 0, high = 0;
#pragma omp simd reduction(+ : low, high)
    for (size_t j = 0; j < cols; j++) {
        const int64_t r = record[j];
        const uint64_t square = (uint64_t)(r * r);
        low += square & UINT32_MAX;
        high += square >> 32;
    }
    const unsigned __int128 total = ((unsigned __int128)high << 32) + low;
    return total <= (unsigned __int128)1 << (2 * CLO_GRID_BITS);
}

static inline int32_t cell(double r)
{
    return (int32_t)(r > GRID ? GRID : r < -GRID ? -GRID : r);
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

/* Divided first: a record along an axis lands exactly on the sphere.  A power of two is multiplied
 * by instead, many times as fast: both are exact, but where a quotient is so small that its cell is
 * zero in either way. */
static inline void divide_into_cells(const double *values, size_t cols, double divisor,
                                     int32_t *out)
{
    int exponent;
    if (divisor > SMALL && divisor < LARGE && frexp(divisor, &exponent) == 0.5) {
        const double factor = GRID / divisor;
#pragma omp simd
        for (size_t j = 0; j < cols; j++) out[j] = cell(values[j] * factor);
    } else {
#pragma omp simd
        for (size_t j = 0; j < cols; j++) out[j] = cell(values[j] / divisor * GRID);
    }
}

CLO_WIDE void clo_i_to_grid(const double *values, size_t cols, double norm, int32_t *out)
{
    double largest, own = length(values, cols, &largest);
    if (!isfinite(own)) largest = largest_magnitude(values, cols);
    if (!(largest > 0)) { /* the zero record, or one out of range */
        for (size_t j = 0; j < cols; j++) out[j] = 0;
        return;
    }
    const bool usual = largest > SMALL && largest < LARGE;
    const double unit = usual ? 1 : largest, allowed = norm / unit;
    if (!usual) own = length_in_units(values, cols, unit);
    const bool outside = own > allowed && !clo_i_planted(CLO_FAULT_CLIPPING_MISSING);
    const double divisor = outside ? own : allowed;
    if (usual)
        divide_into_cells(values, cols, divisor, out);
    else
        for (size_t j = 0; j < cols; j++) out[j] = cell(values[j] / unit / divisor * GRID);
    if (clo_i_planted(CLO_FAULT_CLIPPING_MISSING)) return;
    while (!inside_ball(out, cols)) take_a_step_in(out, cols);
}
