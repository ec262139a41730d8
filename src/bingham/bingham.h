/*
 * bingham.h (internal) - draws from Bingham distributions, for whoever has a stream.
 *
 * Everything happens in the eigenbasis of A, where the density is exp(-sum_r sum_i e_ri w_ir^2)
 * with energies e_ri = -weight_r lambda_i: one eigendecomposition serves all columns and all
 * sweeps. Draws are exact in real arithmetic and run in floating point.
 */
#ifndef CLO_BINGHAM_INTERNAL_H
#define CLO_BINGHAM_INTERNAL_H

#include "base/base.h"
#include "random/random.h"
#include <cloister/bingham.h>

/* ---- one column, given the others (column.c) ------------------------------------------------- */

/* An envelope for the law exp(-sum e_i x_i^2) on the unit sphere of the orthogonal complement of
 * `others` orthonormal vectors of R^d.  Its arrays are scratch: clo_i_envelope_init lays them
 * out. */
typedef struct clo_i_envelope {
    size_t d, others, soft;
    const double *energies;      /* d */
    const double *const *normal; /* the others, d each */
    double shift;                /* below the least energy of the complement */
    double *gap;                 /* d: energy - shift */
    double *inverse;             /* d: 1/gap, of the gaps that were raised where need be */
    double *root;                /* d: its square root */
    double *spread;              /* others x d */
    double *factor;              /* others x others */
    double *lift;                /* others x d, of which soft rows are used */
    double *small;               /* others x others */
    double *draw;                /* others */
    size_t *softs;               /* others */
} clo_i_envelope;

size_t clo_i_envelope_scratch(size_t d, size_t others); /* doubles */
void clo_i_envelope_init(clo_i_envelope *envelope, size_t d, size_t others, double *scratch);
/* Finds the shift that accepts most, from a guess (any number), for these energies and vectors. */
void clo_i_envelope_fit(clo_i_envelope *envelope, const double *energies,
                        const double *const *normal, double guess);
/* An exact draw (bingham.T1).  False: the stream has failed. */
bool clo_i_envelope_draw(clo_i_envelope *envelope, clo_stream *stream, double *x);

/* ---- frames (frames.c) ----------------------------------------------------------------------- */

struct clo_bingham {
    size_t d, q;
    double *weights; /* q */
    double *values;  /* d: eigenvalues of A, largest first */
    double *vectors; /* d x d: eigenvectors are its columns */
    double *columns; /* q x d: a frame in the eigenbasis, a vector a row */
    double *energies;
    double *scratch;
    const double **normal; /* q - 1 */
    clo_i_envelope envelope;
    void *memory; /* all of the above */
    size_t bytes;
};

/* Room for d x q frames; no A yet.  Freed by clo_bingham_free. */
CLO_CHECK clo_status clo_i_bingham_new(size_t d, size_t q, const double *weights, clo_bingham **out,
                                       clo_error *err);
/* Takes A in: d x d symmetric (both triangles), destroyed. */
CLO_CHECK clo_status clo_i_bingham_set(clo_bingham *bingham, double *a, clo_error *err);
/* Sweeps over the d x q frame, in place.  A failed stream is the caller's to check. */
void clo_i_bingham_sweep(clo_bingham *bingham, clo_stream *stream, uint64_t sweeps, double *frame);
/* clo_bingham_exact with its own word for a batch of `most` proposals of which none was kept: that
 * is no failure, and frame is left alone. */
CLO_CHECK clo_status clo_i_bingham_try(clo_bingham *bingham, clo_rng *rng, uint64_t most,
                                       double *frame, bool *kept, uint64_t *proposals,
                                       clo_error *err);
/* Another law: one vector after the other, each exactly from the vector Bingham law in what the
 * ones before it leave; of min(q, d - q) vectors, those of the frame or (with the opposite
 * energies) those that it leaves out.  With one of them it is the matrix law.  Equal weights. */
CLO_CHECK clo_status clo_i_bingham_sequence(clo_bingham *bingham, clo_stream *stream, double *frame,
                                            clo_error *err);
/* A uniform frame. */
CLO_CHECK clo_status clo_i_bingham_uniform(clo_stream *stream, size_t d, size_t q, double *frame,
                                           clo_error *err);

#endif
