/*
 * bench_samplers.c - how many samples a second each sampler gives on one core, beside peers that
 * run in the same program on the same stream of random words: Box-Muller, the plain way to a
 * Gaussian in floating point (which is not private), and Karney's algorithm N as it was printed,
 * with cells of width one and a coin exp(-1/2) made of comparisons (as exact as ours).
 *
 *   bench_samplers [SECONDS-PER-LINE]
 */
#include "random/stream.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { BATCH = 1 << 14 };

typedef void batch(clo_stream *stream, int64_t *out);

/* ---- the peers ----------------------------------------------------------- */

static void peer_box_muller(clo_stream *stream, int64_t *out)
{
    for (size_t i = 0; i < BATCH; i += 2) {
        const double radius = sqrt(-2 * log(clo_i_random_unit(stream))) * 1048576;
        const double angle = 6.283185307179586477 * clo_i_random_unit(stream);
        out[i] = llrint(radius * cos(angle));
        out[i + 1] = llrint(radius * sin(angle));
    }
}

/* True with probability exp(-1/2): the length of 1/2 > u1 > u2 > … is even. */
static bool karney_half(clo_stream *stream)
{
    uint64_t smallest = UINT64_C(1) << 63;
    for (bool even = true;; even = !even) {
        const uint64_t next = next_word(stream);
        if (next >= smallest) return even;
        smallest = next;
    }
}

/* True with probability exp(-x (2k + x)/(2k + 2)). */
static bool karney_place(clo_stream *stream, uint64_t x, uint64_t k)
{
    uint64_t smallest = x;
    for (bool even = true;; even = !even) {
        const uint64_t next = next_word(stream);
        if (next >= smallest) return even;
        const uint64_t lot = clo_i_random_below(stream, 2 * k + 2);
        if (lot > 2 * k || (lot == 2 * k && next_word(stream) >= x)) return even;
        smallest = next;
    }
}

static bool karney_try(clo_stream *stream, int64_t *out)
{
    uint64_t k = 0;
    while (karney_half(stream)) k++;
    for (uint64_t i = 0; k > 1 && i < k * (k - 1); i++)
        if (!karney_half(stream)) return false;
    const uint64_t x = next_word(stream);
    for (uint64_t i = 0; i <= k; i++)
        if (!karney_place(stream, x, k)) return false;
    const int64_t value = (int64_t)((k << 20) + (((x >> 43) + 1) >> 1));
    *out = clo_i_random_bit(stream) ? -value : value;
    return true;
}

static void peer_karney(clo_stream *stream, int64_t *out)
{
    for (size_t i = 0; i < BATCH; i++)
        while (!karney_try(stream, &out[i]))
            ;
}

/* ---- ours ---------------------------------------------------------------- */

static void words(clo_stream *stream, int64_t *out)
{
    for (size_t i = 0; i < BATCH; i++) out[i] = (int64_t)clo_i_random_u64(stream);
}

static void below(clo_stream *stream, int64_t *out)
{
    for (size_t i = 0; i < BATCH; i++) out[i] = (int64_t)clo_i_random_below(stream, 1000003);
}

static void bernoulli(clo_stream *stream, int64_t *out)
{
    for (size_t i = 0; i < BATCH; i++) out[i] = clo_i_bernoulli_exp(stream, 1000, 3001);
}

static void bernoulli_wide(clo_stream *stream, int64_t *out)
{
    const clo_u128 wide = (clo_u128)1 << 100;
    for (size_t i = 0; i < BATCH; i++) out[i] = clo_i_bernoulli_exp(stream, wide, 3 * wide + 1);
}

static void laplace(clo_stream *stream, int64_t *out)
{
    for (size_t i = 0; i < BATCH; i++) out[i] = clo_i_discrete_laplace(stream, 3, 1 << 20);
}

static void truncated(clo_stream *stream, int64_t *out)
{
    for (size_t i = 0; i < BATCH; i++)
        out[i] = clo_i_truncated_laplace(stream, 1, 1 << 20, 14 << 20);
}

static void gaussian_one(clo_stream *stream, int64_t *out)
{
    for (size_t i = 0; i < BATCH; i++) out[i] = clo_i_rounded_gaussian(stream, 1 << 20);
}

static void gaussian(clo_stream *stream, int64_t *out)
{
    clo_i_rounded_gaussian_fill(stream, 1 << 20, out, BATCH);
}

static void gaussian_wide(clo_stream *stream, int64_t *out)
{
    clo_i_rounded_gaussian_fill(stream, UINT64_C(1) << 55, out, BATCH);
}

/* ---- the clock ----------------------------------------------------------- */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double rate(batch *run, clo_stream *stream, int64_t *out, double seconds)
{
    run(stream, out); /* warms the tables up */
    size_t batches = 0;
    const double start = now();
    double elapsed;
    do {
        run(stream, out);
        batches++;
        elapsed = now() - start;
    } while (elapsed < seconds);
    return (double)batches * BATCH / elapsed;
}

static double opens(const clo_rng *rng, double seconds)
{
    size_t count = 0;
    const double start = now();
    double elapsed;
    do {
        clo_stream *stream = NULL;
        if (clo_i_stream_open(rng, 0, count, &stream, NULL)) return 0;
        clo_i_random_u64(stream);
        clo_i_stream_close(stream);
        count++;
        elapsed = now() - start;
    } while (elapsed < seconds);
    return (double)count / elapsed;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        batch *run;
    } lines[] = {
        { "peer: Box-Muller, double, rounded", peer_box_muller },
        { "peer: Karney 2016, algorithm N", peer_karney },
        { "rounded gaussian, 2^20, fill", gaussian },
        { "rounded gaussian, 2^20, one by one", gaussian_one },
        { "rounded gaussian, 2^55, fill", gaussian_wide },
        { "discrete laplace, 3/2^20", laplace },
        { "truncated laplace, 1/2^20, 14 scales", truncated },
        { "bernoulli exp(-1000/3001)", bernoulli },
        { "bernoulli exp(-2^100/(3 2^100+1))", bernoulli_wide },
        { "uniform below 1000003", below },
        { "uniform words", words },
    };
    const double seconds = argc > 1 ? strtod(argv[1], NULL) : 0.5;
    static int64_t out[BATCH];
    clo_rng *rng = NULL;
    clo_stream *stream = NULL;
    double peer = 0;
    if (clo_rng_new(&rng, NULL) || clo_i_stream_open(rng, 0, 0, &stream, NULL)) return 1;
    printf("%-38s %14s %10s\n", "one core, secure stream", "M samples/s", "/ peer 1");
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        const double speed = rate(lines[i].run, stream, out, seconds);
        if (i == 0) peer = speed;
        printf("%-38s %14.2f %10.2f\n", lines[i].name, speed * 1e-6, speed / peer);
    }
    printf("%-38s %14.3f\n", "streams opened, drawn from and closed", opens(rng, seconds) * 1e-6);
    clo_i_stream_close(stream);
    clo_rng_free(rng);
    return 0;
}
