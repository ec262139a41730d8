/*
 * discrete_laplace.c - integers x with probability proportional to exp(-|x| p/q), exactly:
 * algorithm 2 of Canonne, Kamath and Steinke (2020).  samplers.T2
 *
 * An integer with law exp(-x/q), x >= 0, is u + q v with u below q accepted with exp(-u/q) and v
 * the number of heads of coins exp(-1).  Its quotient by p has the law exp(-y p/q), and a fair sign
 * makes it two-sided, once the second of the two zeros is thrown away.
 */
#include "random/stream.h"
#include <assert.h>

static clo_u128 quotient(clo_u128 a, uint64_t b)
{
    /* The wide division is several times as slow. */
    return a >> 64 ? a / b : (uint64_t)a / b;
}

bool clo_i_laplace_draw(clo_stream *stream, uint64_t numerator, uint64_t denominator,
                        clo_u128 *magnitude, bool *negative)
{
    while (!stream->failed) {
        const uint64_t rest = clo_i_random_below(stream, denominator);
        if (!clo_i_bernoulli_exp(stream, rest, denominator)) continue;
        uint64_t periods = 0;
        while (clo_i_bernoulli_inverse_e(stream)) periods++;
        const clo_u128 value = quotient((clo_u128)denominator * periods + rest, numerator);
        const bool sign = clo_i_random_bit(stream);
        if (stream->failed || (sign && value == 0)) continue;
        *magnitude = value;
        *negative = sign;
        return true;
    }
    return false;
}

int64_t clo_i_discrete_laplace(clo_stream *stream, uint64_t numerator, uint64_t denominator)
{
    clo_u128 magnitude;
    bool negative;
    assert(numerator > 0 && denominator > 0);
    if (!clo_i_laplace_draw(stream, numerator, denominator, &magnitude, &negative)) return 0;
    if (magnitude > INT64_MAX) { /* chance exp(-2^63 p/q): below 2^-180 for q/p up to 2^56 */
        clo_i_stream_fail(stream);
        return 0;
    }
    return negative ? -(int64_t)magnitude : (int64_t)magnitude;
}
