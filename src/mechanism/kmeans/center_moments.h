/*
 * center_moments.h - what the files of kmeans/moments share: the public choices of a run, and how
 * far to trust what comes of it.  All of it is computed from public numbers or from answers.
 */
#ifndef CLO_MECHANISM_CENTER_MOMENTS_H
#define CLO_MECHANISM_CENTER_MOMENTS_H

#include "plan/mechanism.h"
#include "solver/centers/center_fit.h"

/* How a run goes about it, fixed by its plan. */
typedef struct clo_i_center_plan {
    size_t cols, clusters;
    int order;     /* of the tensor */
    size_t frame;  /* directions that the records are reduced to; 0: none */
    size_t own;    /* coordinates that the rounds see; the tensor has one more, the constant */
    double height; /* of the constant */
    size_t starts, doubts;
    uint64_t rounds;
    double rows;                      /* public, or a guess */
    double share_frame, share_rounds; /* of mu^2; the rest is the tensor's */
    double unit;         /* the noise of one query with the whole budget: sensitivity over mu */
    double tensor_noise; /* in unit-ball coordinates */
} clo_i_center_plan;

/* ---- center_split.c: what to expect, and the choices that follow --------------------------- */

/* How many directions to keep of so many columns; 0: all. */
size_t clo_i_center_frame(size_t cols, size_t clusters);
/* Which order suits so many coordinates and clusters: 3 or 4; and the height that goes with it. */
int clo_i_center_order(size_t own, size_t clusters);
double clo_i_center_height(int order);
/* How many starts of the fit are worth their time. */
size_t clo_i_center_starts(const clo_i_center_plan *plan);
/* Fills what was left to choose, rounds and shares, from the others. */
void clo_i_center_choose(clo_i_center_plan *plan, bool choose_rounds, bool choose_share);
/* The expected squared distance of a centre from its cluster's mean, in unit-ball coordinates;
 * INFINITY where the tensor cannot tell the clusters apart. */
double clo_i_center_error(const clo_i_center_plan *plan, double rows);

/* ---- center_refine.c: Lloyd's rounds that are averaged -------------------------------------- */

/* Moves a centre toward the noisy mean sum / size, as far as that can be trusted beside what is
 * known already; not at all where the size is within the noise of 0.  variance: of a coordinate of
 * the centre, before and after; INFINITY where nothing is known of it. */
void clo_i_center_step(const clo_line *line, size_t d, const double *sum, double size,
                       double *center, double *variance);
/* One round: asks for the sums and sizes of the clusters that the centres make, and moves them. */
CLO_CHECK clo_status clo_i_center_refine_once(clo_context *context, size_t line,
                                              const clo_bounded *data, size_t d, double *centers,
                                              double *variances, double *sums, double *sizes,
                                              clo_error *err);

/* ---- center_doubt.c: how far to trust the result -------------------------------------------- */

/* Fits and refines again, on what the model says plus fresh noise of the same law, plan->doubts
 * times: the root mean square of each coordinate's move.  rounds: the line of the rounds, or NULL;
 * sizes: of the last one; centers: as they are seen; moves: clusters x own. */
CLO_CHECK clo_status clo_i_center_doubt(const clo_i_center_plan *plan, const clo_center_job *job,
                                        const clo_center_model *model, const clo_line *rounds,
                                        const double *centers, const double *sizes, double *moves,
                                        clo_error *err);

#endif
