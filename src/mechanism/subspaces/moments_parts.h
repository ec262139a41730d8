/*
 * moments_parts.h - what the files of subspaces/moments share: the public choices of a run, and
 * what is made of the answers.  All of it is computed from public numbers or from answers.
 */
#ifndef CLO_MECHANISM_MOMENTS_PARTS_H
#define CLO_MECHANISM_MOMENTS_PARTS_H

#include "plan/mechanism.h"
#include "solver/planes/moment_fit.h"

/* Columns that a tensor may have, a constant beside the records included. */
enum { CLO_MOMENTS_MOST_SEEN = 64 };

/* How a run goes about it, fixed by its plan. */
typedef struct clo_i_moments_plan {
    size_t cols, clusters, dim; /* of the flats, as asked for */
    size_t rank;                /* of a flat as it is seen: one more where it is affine */
    size_t frame;               /* directions that the records are reduced to; 0: none */
    size_t seen;                /* columns that the tensor and the rounds see */
    double height;              /* the constant appended to a record; 0: flats are linear */
    size_t starts, doubts;
    uint64_t rounds;
    double rows;                      /* public, or a guess */
    double share_frame, share_rounds; /* of mu^2; the rest is the tensor's */
    double unit; /* the noise of one query with the whole budget: sensitivity over mu */
    double even; /* the share of the tensor's traces that is left out */
    double tensor_noise, round_noise, frame_noise; /* in unit-ball coordinates */
} clo_i_moments_plan;

/* ---- moments_split.c: what to expect, and the choices that follow -------------------------- */

/* Fills what was left to choose, rounds and shares, from the others. */
void clo_i_moments_choose(clo_i_moments_plan *plan, bool choose_rounds, bool choose_share);
/* How many directions to keep of so many columns; 0: all. */
size_t clo_i_moments_frame(size_t cols, size_t clusters, size_t rank, bool affine);
/* The expected squared sine of one direction of a flat, over all directions outside of it. */
double clo_i_moments_error(const clo_i_moments_plan *plan, double rows);
/* How much of an own round a flat from the tensor is worth. */
double clo_i_moments_worth(const clo_i_moments_plan *plan);

/* ---- moments_refine.c: rounds, and how far to trust the result ------------------------------ */

/* The state of a run: what the answers have said so far. */
typedef struct clo_i_moments_state {
    double *moments;        /* the tensor's entries */
    double *contraction;    /* seen x seen, of the tensor */
    clo_moment_model model; /* clusters x seen x rank */
    double *grams;          /* clusters x seen x seen: the last answer */
    double *sums;           /* of all rounds */
    double *bases;          /* clusters x seen x rank, orthonormal */
    double *uncertainty;    /* clusters */
    double *scratch;        /* clo_i_moments_scratch doubles */
} clo_i_moments_state;

size_t clo_i_moments_scratch(const clo_i_moments_plan *plan);
/* Bases from the tensor alone, or together with `rounds` rounds in state->sums. */
CLO_CHECK clo_status clo_i_moments_bases(const clo_i_moments_plan *plan, uint64_t rounds,
                                         const clo_moment_model *model, const double *sums,
                                         double *scratch, double *bases, clo_error *err);
/* Fits and combines again, on what the model says plus fresh noise of the same law, a few times:
 * the mean distance from the released flats. */
CLO_CHECK clo_status clo_i_moments_doubt(const clo_i_moments_plan *plan, clo_rng *rng, int threads,
                                         clo_i_moments_state *state, clo_error *err);

#endif
