/*
 * gapmax_internal.h - what the files of the gapmax query share: integers modulo the prime 2^61 - 1,
 * canonical bases, and the score of one subspace.  For the files of gapmax alone.
 */
#ifndef CLO_QUERY_GAPMAX_INTERNAL_H
#define CLO_QUERY_GAPMAX_INTERNAL_H

#include "query/gapmax.h"
#include "ask/query_steps.h"
#include "random/random.h"

/* ---- the field ------------------------------------------------------------------------------- */

static const uint64_t CLO_PRIME = ((uint64_t)1 << 61) - 1;

uint64_t clo_i_field_multiply(uint64_t a, uint64_t b);
uint64_t clo_i_field_inverse(uint64_t a); /* of a != 0 */
uint64_t clo_i_field_from(int64_t value); /* |value| < CLO_PRIME */

/* Brings rows x cols residues to their reduced row echelon form, in place; the rank.  pivots: the
 * column of each leading one.  Two sets of rows have one span exactly where this is the same. */
size_t clo_i_field_reduce(uint64_t *matrix, size_t rows, size_t cols, size_t *pivots);

/* ---- records and a subspace ------------------------------------------------------------------ */

typedef struct clo_lattice {
    size_t count, cols;
    uint64_t *records; /* count x cols residues; zero records lie in no subspace here */
} clo_lattice;

typedef struct clo_span {
    size_t dim, cols;
    uint64_t rows[CLO_GAPMAX_DIM * CLO_GAPMAX_COLS]; /* reduced: dim x cols */
    size_t pivots[CLO_GAPMAX_DIM];
} clo_span;

/* How many records lie in the span, or 0 where more than `misses` do not.  coordinates: of those
 * that do, what they have at the pivots, dim numbers each. */
size_t clo_i_span_members(const clo_lattice *lattice, const clo_span *span, size_t misses,
                          int32_t *coordinates);
/* The fraction that a residue stands for, both parts below 2^30 in size (gapmax.T4). */
void clo_i_field_fraction(uint64_t residue, int64_t *numerator, int64_t *denominator);

/* gapmax.T1's score of a subspace with `members` of the records, of which `proper` lie in one of
 * its proper subspaces; at most cap. */
int64_t clo_i_gapmax_score(size_t count, size_t members, size_t proper, int64_t cap);
/* The same with `proper` looked for, so that the score is right but with probability e^-misses
 * (gapmax.T3).  keys: room for `members` words. */
int64_t clo_i_gapmax_value(clo_stream *stream, const int32_t *coordinates, size_t count,
                           size_t members, size_t dim, int64_t cap, double misses, uint64_t *keys);

#endif
