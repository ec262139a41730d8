/* bench.h - what programs that measure share. */
#ifndef CLO_BENCH_H
#define CLO_BENCH_H

#include <cloister/cloister.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

/* Ends the program, with the message, where something failed. */
static inline void must(clo_status status, const clo_error *err)
{
    if (status == CLO_OK) return;
    fprintf(stderr, "%s: %s\n", program_invocation_short_name, err->message);
    exit(clo_status_exit_code(status));
}

/* A generator of its own for each kind and number. */
static inline clo_rng *seeded_rng(const char *kind, int number)
{
    char text[64];
    uint8_t seed[32];
    clo_rng *rng = NULL;
    clo_error err;
    snprintf(text, sizeof text, "%s%d", kind, number);
    clo_seed_from_text(text, seed);
    must(clo_rng_new_seeded(seed, &rng, &err), &err);
    return rng;
}

/* What this process has taken of all cores. */
static inline double process_seconds(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

#endif
