/*
 * fuzz_samplers.c - the samplers on bits that an adversary chose.  They must end on any, stay in
 * their ranges, and give 0 from the call on in which the bits run out.
 *
 * Input: one byte chooses the sampler, three words of eight bytes its parameters, the rest is
 * played.
 */
#include "random/random.h"
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PARAMETERS = 3, HEADER = 1 + 8 * PARAMETERS, CALLS = 4096 };

static void demand(bool holds)
{
    if (!holds) __builtin_trap();
}

static uint64_t magnitude_of(int64_t x)
{
    return x < 0 ? 0 - (uint64_t)x : (uint64_t)x;
}

/* One call with parameters brought into the ranges of its contract; nothing but 0 after a
 * failure. */
static int64_t draw(clo_stream *stream, unsigned which, const uint64_t p[PARAMETERS])
{
    const uint64_t one = p[0] | 1, two = p[1] | 1;
    const uint64_t bound = p[2] >> 1, scale = 1 + (p[0] >> 9);
    int64_t x;
    switch (which % 7) {
    case 0:
        return clo_i_bernoulli_exp(stream, (clo_u128)p[0] << 64 | p[1], (clo_u128)p[2] << 63 | one);
    case 1:
        return clo_i_bernoulli_exp(stream, p[0] % 1000, 1 + p[1] % 1000);
    case 2:
        return clo_i_discrete_laplace(stream, one, two);
    case 3:
        x = clo_i_truncated_laplace(stream, one, two, bound);
        demand(magnitude_of(x) <= bound);
        return x;
    case 4:
        x = clo_i_rounded_gaussian(stream, scale);
        demand(magnitude_of(x) <= 32 * scale);
        return x;
    default:
        x = (int64_t)clo_i_random_below(stream, one);
        demand((uint64_t)x < one);
        return x;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t parameters[PARAMETERS];
    clo_stream *stream = NULL;
    if (size < HEADER) return 0;
    memcpy(parameters, data + 1, sizeof parameters);
    if (clo_i_stream_open_bytes(data + HEADER, size - HEADER, &stream, NULL) != CLO_OK) return 0;
    for (int i = 0; i < CALLS; i++) {
        const int64_t x = draw(stream, data[0], parameters);
        if (clo_i_stream_check(stream, NULL) == CLO_OK) continue;
        demand(x == 0 && draw(stream, data[0], parameters) == 0);
        break;
    }
    clo_i_stream_close(stream);
    return 0;
}
