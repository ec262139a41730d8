/*
 * planted.h - faults that someone could really make, for the audits to find.  They exist only in a
 * build with -Dfault_injection=true, and there only while one is switched on; everywhere else
 * clo_i_planted is the constant false and nothing of this is compiled.
 */
#ifndef CLO_FAULT_H
#define CLO_FAULT_H

#include <stdbool.h>

/* One row a fault: name, what was done wrong. */
#define CLO_FAULT_LIST(X)                                                                          \
    X(NOISE_HALVED, "noise of half the planned scale")                                             \
    X(NOISE_TENTH_LOW, "noise a tenth below the planned scale")                                    \
    X(NOISE_TWENTIETH_LOW, "noise a twentieth below the planned scale")                            \
    X(SENSITIVITY_ROOT_TWO, "a sensitivity that is sqrt 2 too small")                              \
    X(CLIPPING_MISSING, "records clipped by the column, not by the norm")                          \
    X(SPLIT_IGNORED, "each round with the noise of the whole budget")                              \
    X(SEED_REUSED, "each ask with the noise of the first")                                         \
    X(EMPTY_SKIPPED, "no noise for a cluster without records")                                     \
    X(FACTOR_TWO_MISSING, "an exponential mechanism without its factor 2")                         \
    X(COUNT_LEAKED, "counts without noise")                                                        \
    X(SYMMETRIC_TWICE, "both triangles of a symmetric matrix noised, and averaged")                \
    X(LOCAL_NOISE, "noise in proportion to the local sensitivity, which is no secret then")        \
    X(HISTOGRAM_LAX, "a cell of a histogram told of at a tenth of its threshold")                  \
    X(NOISE_FROM_SIZE, "noise divided by the exact size of its cluster")                           \
    X(RADIUS_FROM_DATA, "the largest record's norm taken for the public one")                      \
    X(PARTS_SHARED, "parts of the records that are not disjoint")                                  \
    X(EMPTY_CUBES_SKIPPED, "no empty cube of a tree ever active")                                  \
    X(UNIT_FORGOTTEN, "lines planned as if a unit had one row")                                    \
    X(PRINTED_ARGMAX, "singhal2021's Algorithm 1 as printed: the largest noisy score of all "      \
                      "spans")                                                                     \
    X(FALLBACK_CERTAIN, "too few records: the widest bound answered without a draw")

typedef enum clo_planted {
    CLO_FAULT_NONE,
#define X(name, what) CLO_FAULT_##name,
    CLO_FAULT_LIST(X)
#undef X
        CLO_FAULT_COUNT
} clo_planted;

#ifdef CLO_FAULT_INJECTION
bool clo_i_planted(clo_planted fault);
void clo_i_plant(clo_planted fault); /* one at a time; CLO_FAULT_NONE: none */
const char *clo_i_planted_name(clo_planted fault);
#else
static inline bool clo_i_planted(clo_planted fault)
{
    (void)fault;
    return false;
}
#endif

#endif
