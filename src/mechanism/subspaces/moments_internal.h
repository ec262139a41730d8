/*
 * moments_internal.h - what the files of subspaces/moments share: the public choices of a run, and
 * what is made of the answers.  All of it is computed from public numbers or from answers.
 */
#ifndef CLO_MECHANISM_MOMENTS_INTERNAL_H
#define CLO_MECHANISM_MOMENTS_INTERNAL_H

#include "plan/mechanism.h"
#include "query/cross_moment.h"
#include "solver/planes/moment_fit.h"

/* Columns that a tensor may have, a constant beside the records included. */
enum { CLO_MOMENTS_MOST_SEEN = 64 };

/* What a cut of cross moments to their width leaves of a turn.  Measured. */
#define CLO_MOMENTS_CUT 0.7

/* How a run goes about it, fixed by its plan. */
typedef struct clo_i_moments_plan {
    size_t cols, clusters, dim; /* of the flats, as asked for */
    size_t rank;                /* of a flat as it is seen: one more where it is affine */
    size_t frame;               /* directions that the records are reduced to; 0: none */
    size_t seen;                /* columns that the tensor and the rounds see */
    double height;              /* the constant appended to a record; 0: flats are linear */
    size_t starts, doubts;
    uint64_t rounds, sharpen;
    double rows;                                     /* public, or a guess */
    double share_frame, share_rounds, share_sharpen; /* of mu^2; the rest is the tensor's */
    double unit; /* the noise of one query with the whole budget: sensitivity over mu */
    double even; /* the share of the tensor's traces that is left out */
    double cross_unit, square_unit; /* the same for a cross moment and its squares, in widths */
    double tensor_noise, round_noise, frame_noise; /* in unit-ball coordinates */
    double cross_noise, square_noise;              /* of a cross moment: in widths, in reaches */
    double size_noise;                             /* of a size: in records */
} clo_i_moments_plan;

/* ---- moments_split.c: what to expect, and the choices that follow -------------------------- */

/* What was asked for: numbers of passes, below 0 where they are to be chosen, and the share of the
 * budget for them, 0 likewise. */
typedef struct clo_i_moments_asked {
    int64_t rounds, sharpen;
    double share;
} clo_i_moments_asked;
/* Fills in what was left to choose, from the others. */
void clo_i_moments_choose(clo_i_moments_plan *plan, const clo_i_moments_asked *asked);
/* How many directions to keep of so many columns; 0: all. */
size_t clo_i_moments_frame(size_t cols, size_t clusters, size_t rank, bool affine);
/* The expected squared sine of one direction of a flat, over all directions outside of it;
 * residual: how far from its flat a record is, over the radius. */
#define CLO_MOMENTS_RESIDUAL 0.25
double clo_i_moments_error(const clo_i_moments_plan *plan, double rows, double residual);
/* The expected squared turn of one direction of a flat toward one outside of it, before the passes
 * of moments_sharpen.c. */
double clo_i_moments_turned(const clo_i_moments_plan *plan, double rows);
/* How much of an own round a flat from the tensor is worth. */
double clo_i_moments_worth(const clo_i_moments_plan *plan);

/* ---- moments_refine.c: rounds, and how far to trust the result ------------------------------ */

/* The state of a run: what the answers have said so far. */
typedef struct clo_i_moments_state {
    double *moments;         /* the tensor's entries */
    double *contraction;     /* seen x seen, of the tensor */
    clo_moment_model model;  /* clusters x seen x rank */
    double *grams;           /* clusters x seen x seen: the last answer */
    double *sums;            /* of all rounds */
    double *bases;           /* clusters x seen x rank, orthonormal */
    double *variance;        /* clusters: what is known of an entry of a cross moment */
    double *widths;          /* (sharpen + 1) x clusters: each pass's, and those of one more */
    clo_cross_view *views;   /* clusters: those of the pass under way */
    double *cross;           /* clusters x rank x seen: the last answer */
    double *squares, *sizes; /* clusters: its squares and sizes */
    double *counts;          /* clusters: sizes, of all passes from the first one on */
    uint64_t first;          /* the pass that first looked at the present flats */
    double *uncertainty;     /* clusters */
    double *scratch;         /* clo_i_moments_scratch doubles */
} clo_i_moments_state;

size_t clo_i_moments_scratch(const clo_i_moments_plan *plan);
/* The full contraction of a flat's term: the sum of its records' |x|^4. */
double clo_i_moments_contraction(const clo_i_moments_plan *plan, const double *factor);
/* Bases from the tensor alone, or together with `rounds` rounds in state->sums. */
CLO_CHECK clo_status clo_i_moments_bases(const clo_i_moments_plan *plan, uint64_t rounds,
                                         const clo_moment_model *model, const double *sums,
                                         double *scratch, double *bases, clo_error *err);
/* Fits and combines again, on what the model says plus fresh noise of the same law, a few times:
 * the mean distance from the released flats. */
CLO_CHECK clo_status clo_i_moments_doubt(const clo_i_moments_plan *plan, clo_rng *rng, int threads,
                                         clo_i_moments_state *state, clo_error *err);

/* ---- moments_sharpen.c: passes with noise at the width of the residuals ---------------------- */

size_t clo_i_moments_sharpen_scratch(const clo_i_moments_plan *plan);
/* The width after this one, by the mean square of the cross moments' lengths and its doubt. */
double clo_i_moments_next_width(double square, double doubt, double width);
/* How far squared lengths are told of at this width. */
double clo_i_moments_reach(double width);
/* What is known before the first pass over these flats, which is pass number `first`. */
void clo_i_moments_start_passes(const clo_i_moments_plan *plan, uint64_t first,
                                clo_i_moments_state *state);
/* Turns the bases by the answer of a pass, and finds the next one's widths. */
CLO_CHECK clo_status clo_i_moments_turn(const clo_i_moments_plan *plan, uint64_t pass,
                                        clo_i_moments_state *state, clo_error *err);
/* Turns the imagined basis of a flat as all passes would, were the released one the truth. */
CLO_CHECK clo_status clo_i_moments_imagine(const clo_i_moments_plan *plan,
                                           const clo_i_moments_state *state, size_t flat,
                                           clo_stream *stream, double *basis, clo_error *err);

/* ---- moments_rivals.c: fits that the tensor alone cannot tell apart -------------------------- */

/* The fits of the tensor that are about as likely as the best.  The first passes say which of them
 * is the better one. */
enum { CLO_MOMENTS_RIVALS = 8 };
typedef struct clo_i_moments_rivals {
    size_t count, chosen; /* how many there are, and whose flats the passes look at */
    clo_moment_model models[CLO_MOMENTS_RIVALS];
    double against[CLO_MOMENTS_RIVALS]; /* minus the logarithm of how likely each is */
    double *factors;                    /* clusters x seen x rank: of the world under way */
    double *cross, *sizes;              /* what it would have answered, as in the state */
    double *record;                     /* seen + rank */
} clo_i_moments_rivals;

CLO_CHECK clo_status clo_i_moments_take_rivals(const clo_i_moments_plan *plan, clo_workspace *space,
                                               clo_i_moments_rivals *out, clo_error *err);
/* Fits the tensor; the best becomes the state's model. */
CLO_CHECK clo_status clo_i_moments_fit_rivals(const clo_i_moments_plan *plan,
                                              const clo_moment_job *job,
                                              clo_i_moments_rivals *rivals,
                                              clo_i_moments_state *state, clo_error *err);
/* Whether a pass is asked for its word on them: a function of the plan alone. */
bool clo_i_moments_judges(const clo_i_moments_plan *plan, uint64_t pass);
/* Weighs the rivals by the answer of this pass.  Where another one is clearly more likely than
 * the one that was looked at, its flats become the state's and *changed is set: the next pass is
 * the first one over them. */
CLO_CHECK clo_status clo_i_moments_judge(const clo_i_moments_plan *plan, uint64_t pass,
                                         clo_rng *rng, clo_i_moments_rivals *rivals,
                                         clo_i_moments_state *state, bool *changed, clo_error *err);

#endif
