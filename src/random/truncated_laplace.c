/*
 * truncated_laplace.c - the discrete Laplace law on |x| <= bound, exactly.  samplers.T3
 *
 * Two ways to reject, each good where the other is slow: where the bound lies beyond one scale q/p,
 * draw from the whole law until a sample falls inside (at least half of them do); where it is
 * closer, draw uniformly inside and accept with exp(-|x| p/q) >= exp(-1).
 */
#include "random/stream.h"
#include <assert.h>

static int64_t from_whole_law(clo_stream *stream, uint64_t numerator, uint64_t denominator,
                              uint64_t bound)
{
    clo_u128 magnitude;
    bool negative;
    while (clo_i_laplace_draw(stream, numerator, denominator, &magnitude, &negative))
        if (magnitude <= bound) return negative ? -(int64_t)magnitude : (int64_t)magnitude;
    return 0;
}

static int64_t from_uniform(clo_stream *stream, uint64_t numerator, uint64_t denominator,
                            uint64_t bound)
{
    while (!stream->failed) {
        const uint64_t place = clo_i_random_below(stream, 2 * bound + 1);
        const uint64_t magnitude = place > bound ? place - bound : bound - place;
        if (clo_i_bernoulli_exp(stream, (clo_u128)magnitude * numerator, denominator))
            return place > bound ? (int64_t)magnitude : -(int64_t)magnitude;
    }
    return 0;
}

int64_t clo_i_truncated_laplace(clo_stream *stream, uint64_t numerator, uint64_t denominator,
                                uint64_t bound)
{
    assert(numerator > 0 && denominator > 0 && bound <= INT64_MAX);
    const bool within_one_scale = (clo_u128)bound * numerator <= denominator;
    return within_one_scale ? from_uniform(stream, numerator, denominator, bound)
                            : from_whole_law(stream, numerator, denominator, bound);
}
