/*
 * search.c - the least double that passes a monotone, certified test.
 *
 * Non-negative doubles are ordered as their bit patterns are, so the search walks and bisects
 * over integers: it ends after at most some hundred tests whatever the range, it resolves to
 * neighbouring doubles, and an answer was always itself tested (accounting.T14).
 */
#include "accounting/accountant.h"
#include <float.h>
#include <math.h>
#include <string.h>

static uint64_t ordinal_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static double double_at(uint64_t ordinal)
{
    double x;
    memcpy(&x, &ordinal, sizeof x);
    return x;
}

double clo_i_just_below(double x)
{
    return x > 0 ? double_at(ordinal_of(x) - 1) : 0;
}

/* Steps start at one place in the last digit and grow fourfold: a guess that is right to a few
 * places costs a few tests, and one that is wrong by hundreds of decades some thirty. */
static uint64_t larger_step(uint64_t step)
{
    return step < UINT64_C(1) << 60 ? step * 4 : step;
}

double clo_i_search_least(bool (*enough)(double x, void *context), void *context, double guess)
{
    const uint64_t last = ordinal_of(DBL_MAX);
    uint64_t low, high; /* not enough; enough */
    uint64_t step = 1;
    if (!(guess > 0)) guess = 0;
    if (guess > DBL_MAX) guess = DBL_MAX;
    low = high = ordinal_of(fabs(guess)); /* -0.0 is 0 */
    if (enough(double_at(high), context)) {
        for (;; step = larger_step(step)) {
            if (high == 0) return 0;
            low = high > step ? high - step : 0;
            if (!enough(double_at(low), context)) break;
            high = low;
        }
    } else {
        for (;; step = larger_step(step)) {
            if (low == last) return INFINITY;
            high = last - low > step ? low + step : last;
            if (enough(double_at(high), context)) break;
            low = high;
        }
    }
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        if (enough(double_at(middle), context))
            high = middle;
        else
            low = middle;
    }
    return double_at(high);
}
