/*
 * float_state.c - whether the processor computes as the proofs say: rounding to nearest, and tiny
 * numbers kept.
 *
 * A library that was built for speed may switch both off for the whole thread that loads it, and
 * for those that the thread makes afterwards.  Sums of integers would not notice; but what a record
 * becomes on the grid would then depend on the thread that looked at it.
 */
#include "base/base.h"
#include <float.h>
#include <omp.h>

/* Volatile: the compiler must not know the answer. */
static bool is_plain(void)
{
    volatile double least = DBL_MIN, one = 1, step = DBL_EPSILON;
    const double half = least / 2; /* subnormal: 0 where results are flushed */
    volatile double tiny = half;
    const double twice = tiny * 2; /* 0 where operands are taken for zero */
    const double up = one + step / 4, down = -one - step / 4; /* both stay, to nearest */
    return half > 0 && twice >= least && twice <= least && up <= one && down >= -one &&
           one - step / 8 >= one;
}

clo_status clo_i_check_float_state(int threads, clo_error *err)
{
    const int count = threads > 0 ? threads : omp_get_max_threads();
    bool plain = is_plain();
    /* A team of one is not asked for: within another parallel region the runtime makes it anew. */
    if (count > 1) {
#pragma omp parallel num_threads(count) reduction(&& : plain)
        plain = plain && is_plain();
    }
    if (plain) return CLO_OK;
    return clo_i_fail(err, CLO_UNSUPPORTED,
                      "this process has changed its floating-point rounding, as a library built "
                      "with -ffast-math does: run without that library");
}
