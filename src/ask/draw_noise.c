/*
 * draw_noise.c - Gaussian and Laplace noise: their plans and their draws.  add_noise.c adds them.
 *
 * Noise is drawn in chunks, each from a stream of its own, so that a seeded run gives the same
 * noise on any number of threads.  A draw is shown a law and a number, never a sum: how long it
 * takes has nothing to do with the data.
 */
#include "ask/query_steps.h"
#include "base/planted.h"
#include "parallel/parallel.h"
#include "random/random.h"
#include <math.h>
#include <stdatomic.h>

enum { CHUNK = 4096, WAVE_CHUNKS = CLO_NOISE_WAVE / CHUNK };
_Static_assert(CLO_NOISE_WAVE % CHUNK == 0, "a wave is whole chunks");
static const double LARGEST_MU = 30;
static const double LARGEST_EPSILON = 300;
static const uint64_t LARGEST_SCALE = (uint64_t)1 << 55;

uint64_t clo_i_root_up(unsigned __int128 square)
{
    uint64_t root = (uint64_t)ceil(sqrt((double)square));
    /* The double is off by a few at most; settle it in integers. */
    while ((unsigned __int128)root * root < square) root++;
    while (root && (unsigned __int128)(root - 1) * (root - 1) >= square) root--;
    return root;
}

/* parameter: the mu or epsilon that is asked for; beyond `largest` there is no privacy at all. */
static clo_status plan_noise(clo_event_kind kind, double largest, uint64_t sensitivity,
                             double parameter, uint64_t times, clo_line *line, clo_error *err)
{
    const double wanted = ceil((double)sensitivity / parameter * (1 + 0x1p-50)) + 1;
    if (parameter > largest)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "epsilon is so large that it protects nobody: lower "
                          "it");
    if (!(parameter > 0) || !(wanted <= (double)LARGEST_SCALE))
        return clo_i_fail(err, CLO_BUDGET,
                          "epsilon is so small that the noise would exceed every number: raise it");
    line->sensitivity = sensitivity;
    line->scale = (uint64_t)wanted;
    /* Rounded up twice over: the price is of this or more (gaussian.T1, samplers.T2). */
    const double exact = (double)line->sensitivity / (double)line->scale;
    line->event = (clo_event){ .kind = kind, .parameter = exact * (1 + 0x1p-51), .count = times };
    return CLO_OK;
}

/* The proof of the tail ends at LARGEST_MU (gaussian.T1). */
clo_status clo_i_plan_gaussian(uint64_t sensitivity, double mu, uint64_t times, clo_line *line,
                               clo_error *err)
{
    return plan_noise(CLO_EVENT_GAUSSIAN, LARGEST_MU, sensitivity, mu, times, line, err);
}

/* Above LARGEST_SCALE a draw might not fit into 64 bits (samplers.T2). */
clo_status clo_i_plan_laplace(uint64_t sensitivity, double epsilon, uint64_t times, clo_line *line,
                              clo_error *err)
{
    return plan_noise(CLO_EVENT_PURE, LARGEST_EPSILON, sensitivity, epsilon, times, line, err);
}

/* ---- draws --------------------------------------------------------------------------------- */

clo_law clo_i_gaussian_law(uint64_t scale)
{
    return (clo_law){ .scale = scale };
}

clo_law clo_i_laplace_law(uint64_t rate_numerator, uint64_t rate_denominator)
{
    return (clo_law){ .rate_numerator = rate_numerator, .rate_denominator = rate_denominator };
}

/* What the test build may have done wrong. */
static uint64_t planted_scale(uint64_t scale)
{
    if (clo_i_planted(CLO_FAULT_NOISE_HALVED)) return scale / 2;
    if (clo_i_planted(CLO_FAULT_NOISE_TENTH_LOW)) return scale - scale / 10;
    if (clo_i_planted(CLO_FAULT_NOISE_TWENTIETH_LOW)) return scale - scale / 20;
    if (clo_i_planted(CLO_FAULT_SENSITIVITY_ROOT_TWO)) return (uint64_t)((double)scale / sqrt(2));
    return scale;
}

void clo_i_draw_from(clo_stream *stream, clo_law law, size_t count, int64_t *out)
{
    const uint64_t denominator = planted_scale(law.rate_denominator);
    if (law.scale)
        clo_i_rounded_gaussian_fill(stream, planted_scale(law.scale), out, count);
    else
        for (size_t i = 0; i < count; i++)
            out[i] = clo_i_discrete_laplace(stream, law.rate_numerator, denominator);
}

uint64_t clo_i_noise_ask(clo_context *context)
{
    const uint64_t fresh = clo_i_rng_next_ask(context->rng);
    return clo_i_planted(CLO_FAULT_SEED_REUSED) ? 0 : fresh;
}

static clo_status draw_chunk(const clo_rng *rng, clo_law law, uint64_t ask, size_t chunk,
                             size_t count, int64_t *out)
{
    clo_stream *stream = NULL;
    CLO_TRY(clo_i_stream_open(rng, ask, chunk, &stream, NULL));
    clo_i_draw_from(stream, law, count, out);
    const clo_status status = clo_i_stream_check(stream, NULL);
    clo_i_stream_close(stream);
    return status;
}

clo_status clo_i_draw_wave(clo_context *context, clo_law law, uint64_t ask, size_t wave,
                           size_t count, int64_t *out, clo_error *err)
{
    const size_t chunks = count / CHUNK + (count % CHUNK != 0);
    clo_status status = CLO_OK;
    if (chunks == 1) { /* no team of one: within another region the runtime makes it anew */
        status = draw_chunk(context->rng, law, ask, wave * WAVE_CHUNKS, count, out);
    } else {
        _Atomic int failure = CLO_OK;
#pragma omp parallel for num_threads(context->threads) schedule(static)
        for (size_t c = 0; c < chunks; c++) {
            const size_t first = c * CHUNK, here = count - first < CHUNK ? count - first : CHUNK;
            const clo_status mine =
                draw_chunk(context->rng, law, ask, wave * WAVE_CHUNKS + c, here, out + first);
            if (mine) atomic_store(&failure, (int)mine);
        }
        status = (clo_status)atomic_load(&failure);
    }
    if (status == CLO_MEMORY) return clo_i_fail(err, status, "out of memory while drawing noise");
    if (status)
        return clo_i_fail(err, status, "the operating system provides no secure randomness");
    return CLO_OK;
}
