/*
 * bernoulli_exp.c - a coin that falls on heads with probability exp(-p/q), exactly: algorithm 1 of
 * Canonne, Kamath and Steinke, "The discrete Gaussian for differential privacy" (2020).
 * samplers.T1
 *
 * For p <= q toss coins of probability (p/q)/k, k = 1, 2, …, until one fails.  The k-th is reached
 * with probability (p/q)^(k-1)/(k-1)!, so that the chance of failing at an odd k is the alternating
 * series of exp(-p/q).  A coin of probability (p/q)/k is one of p/q and one of 1/k together, which
 * needs no product q k and so lets p and q be any 128-bit numbers.
 */
#include "random/stream.h"
#include <assert.h>

/* floor(2^64/e) */
static const scaled_exp inverse_e = {
    .digit = UINT64_C(0x5e2d58d8b3bcdf1a), .factor = 1, .numerator = 1, .denominator = 1
};

bool clo_i_bernoulli_inverse_e(clo_stream *stream)
{
    return clo_i_uniform_below_exp(stream, &inverse_e);
}

/* Exactly uniform in 0 … bound-1: words cut to the length of bound-1 until one is below it. */
static clo_u128 wide_below(clo_stream *stream, clo_u128 bound)
{
    const uint64_t high = (uint64_t)((bound - 1) >> 64);
    if (high == 0 && (uint64_t)bound != 0) return clo_i_random_below(stream, (uint64_t)bound);
    const uint64_t mask = high ? UINT64_MAX >> __builtin_clzll(high) : 0;
    clo_u128 drawn;
    do {
        const uint64_t top = mask ? next_word(stream) & mask : 0;
        drawn = (clo_u128)top << 64 | next_word(stream);
    } while (drawn >= bound && !stream->failed);
    return drawn;
}

bool clo_i_bernoulli_exp(clo_stream *stream, clo_u128 numerator, clo_u128 denominator)
{
    assert(denominator > 0);
    /* exp(-p/q) = exp(-1) exp(-(p-q)/q); this ends at the first tails, soon for a large p/q too. */
    for (; numerator >= denominator; numerator -= denominator)
        if (!clo_i_bernoulli_inverse_e(stream)) return false;
    if (numerator == 0) return !stream->failed;
    for (uint64_t k = 1; !stream->failed; k++) {
        const bool falls =
            wide_below(stream, denominator) < numerator && clo_i_random_below(stream, k) == 0;
        if (!falls) return k % 2 == 1 && !stream->failed;
    }
    return false;
}
