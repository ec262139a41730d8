/*
 * floating.c - random doubles, for public starting points and synthetic data.  Never for noise: a
 * double's grid depends on its value, and with it on the data it was added to.
 *
 * No function of the C library is called, so that the same seed gives the same bits on every
 * machine.
 */
#include "random/stream.h"

double clo_i_random_unit(clo_stream *stream)
{
    /* The midpoints of 2^52 equal parts: all of them doubles, none of them 0 or 1. */
    return ((double)(next_word(stream) >> 12) + 0.5) * 0x1p-52;
}

double clo_i_random_normal(clo_stream *stream)
{
    return (double)clo_i_rounded_gaussian(stream, UINT64_C(1) << 53) * 0x1p-53;
}
