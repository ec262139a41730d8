/*
 * random.h - where random numbers come from.  The secure generator has the short
 * name; the seeded one has the longer name and stamps its releases.
 */
#ifndef CLOISTER_RANDOM_H
#define CLOISTER_RANDOM_H

#include <cloister/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A generator; calls that share one must not run at once. */
typedef struct clo_rng clo_rng;

/* Keyed by the operating system: the only kind whose releases are private.  CLO_ENTROPY where the
 * system gives no key. */
CLO_API CLO_CHECK clo_status clo_rng_new(clo_rng **out, clo_error *err);
/* The same stream for the same seed on any number of threads and ranks.  For tests
 * and reproduction: its releases say "reproducible, not private". */
CLO_API CLO_CHECK clo_status clo_rng_new_seeded(const uint8_t seed[32], clo_rng **out,
                                                clo_error *err);
CLO_API bool clo_rng_is_secure(const clo_rng *rng);
CLO_API void clo_rng_free(clo_rng *rng); /* wipes it */

/* A 32-byte seed from a text such as "42": its BLAKE2b hash. */
CLO_API void clo_seed_from_text(const char *text, uint8_t seed[32]);

#ifdef __cplusplus
}
#endif
#endif
