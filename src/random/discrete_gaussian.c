/*
 * discrete_gaussian.c - integers x with probability proportional to exp(-x^2/(2 s^2)), exactly:
 * algorithm 3 of Canonne, Kamath and Steinke (2020).  samplers.T5
 *
 * A discrete Laplace sample y of scale s is accepted with exp(-(|y| - s)^2/(2 s^2)).  The paper
 * takes the scale floor(s) + 1 and shows that any scale will do; s itself keeps the fraction
 * short.  This law is not the noise of the library (rounded_gaussian.c is, and its privacy needs no
 * new proof); it is the second implementation that the first is held against.
 */
#include "random/stream.h"
#include <assert.h>

int64_t clo_i_discrete_gaussian(clo_stream *stream, uint64_t scale)
{
    assert(scale > 0 && scale <= UINT64_C(1) << 30);
    clo_u128 magnitude;
    bool negative;
    while (clo_i_laplace_draw(stream, 1, scale, &magnitude, &negative)) {
        /* At most 2^30 times the heads that a stream can give in a row: far from 2^63. */
        const uint64_t y = (uint64_t)magnitude;
        const uint64_t distance = y > scale ? y - scale : scale - y;
        if (clo_i_bernoulli_exp(stream, (clo_u128)distance * distance, 2 * scale * scale))
            return negative ? -(int64_t)y : (int64_t)y;
    }
    return 0;
}
