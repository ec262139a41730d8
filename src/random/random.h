/*
 * random.h (internal) - bit streams and exact samplers.
 *
 * A clo_rng hands out streams.  A stream belongs to one thread.  Every ask of a query takes
 * a fresh ask number, and each independent piece of its noise (a row of a matrix, say) its own
 * index: with a seeded generator, stream = (seed, ask, index), so that a release does not
 * depend on threads or ranks; with the secure one, each stream has its own key, the next words
 * of a stream that the operating system keyed when the generator was made.  After that nothing is
 * asked of the system: a paid run does not end for lack of randomness.
 */
#ifndef CLO_RANDOM_INTERNAL_H
#define CLO_RANDOM_INTERNAL_H

#include "base/base.h"
#include "base/key.h"
#include <cloister/random.h>

typedef unsigned __int128 clo_u128;
typedef struct clo_stream clo_stream;

/* A number that no earlier call on this generator gave. */
uint64_t clo_i_rng_next_ask(clo_rng *rng);
/* CLO_ENTROPY only in a forked child that the operating system gives no key.  Safe to call from
 * several threads. */
CLO_CHECK clo_status clo_i_stream_open(const clo_rng *rng, uint64_t ask, uint64_t index,
                                       clo_stream **out, clo_error *err);
/* Bytes that are no noise and secret all the same (a key of a run), from the same keys; of a seeded
 * generator, from the operating system. */
CLO_CHECK clo_status clo_i_rng_key(const clo_rng *rng, clo_key_use use, uint8_t *key, size_t bytes,
                                   clo_error *err);
/* CLO_ENTROPY where a re-keying inside the stream failed (after a fork, say): to be asked
 * before anything drawn from it is released.  The samplers themselves cannot fail; on a failed
 * stream they end and return 0. */
CLO_CHECK clo_status clo_i_stream_check(const clo_stream *stream, clo_error *err);
void clo_i_stream_close(clo_stream *stream); /* wipes it; NULL is fine */

/* For tests: a stream that plays back count bytes, eight a word, lowest first, and then fails.  The
 * bytes are borrowed until it is closed. */
CLO_CHECK clo_status clo_i_stream_open_bytes(const uint8_t *bytes, size_t count, clo_stream **out,
                                             clo_error *err);
uint64_t clo_i_random_u64(clo_stream *stream);
uint64_t clo_i_random_below(clo_stream *stream, uint64_t bound); /* exactly uniform, 0 … bound-1 */
bool clo_i_random_bit(clo_stream *stream);

/* Floating point, for public starts, synthetic data, and draws whose guarantee says no more than
 * idealized (bingham).  Never for noise that is added to a value. */
double clo_i_random_unit(clo_stream *stream);   /* in (0, 1) */
double clo_i_random_normal(clo_stream *stream); /* N(0, 1) */

/* ---- exact samplers (proofs/samplers.md) --------------------------------- */

/* True with probability exp(-numerator/denominator), exactly. samplers.T1 */
bool clo_i_bernoulli_exp(clo_stream *stream, clo_u128 numerator, clo_u128 denominator);
/* P[x] proportional to exp(-|x| numerator/denominator). samplers.T2 */
int64_t clo_i_discrete_laplace(clo_stream *stream, uint64_t numerator, uint64_t denominator);
/* The same, conditioned on |x| <= bound. samplers.T3 */
int64_t clo_i_truncated_laplace(clo_stream *stream, uint64_t numerator, uint64_t denominator,
                                uint64_t bound);
/* round(scale * N(0,1)), ties away from zero; scale in 1 … 2^55 (Karney 2016); at most 32 scales in
 * size.  samplers.T4.  On an integer of sensitivity D it costs mu = D/scale.  samplers.T5 */
int64_t clo_i_rounded_gaussian(clo_stream *stream, uint64_t scale);
void clo_i_rounded_gaussian_fill(clo_stream *stream, uint64_t scale, int64_t *out, size_t count);

#endif
