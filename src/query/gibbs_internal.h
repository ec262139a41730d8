/*
 * gibbs_internal.h - the state of a chain over k subspaces, for the files gibbs*.c alone.
 */
#ifndef CLO_GIBBS_INTERNAL_H
#define CLO_GIBBS_INTERNAL_H

#include "query/gibbs.h"
#include "ask/lens.h"
#include "ask/query_steps.h"
#include "bingham/bingham.h"

/* Data as the chain reads them, twice: by rows on the integer grid, for exact sums; by columns in
 * units of the ball, so that projections run over records side by side, each by the same operations
 * whatever its place. */
typedef struct clo_i_gibbs_chain {
    size_t n, d, k, q;
    bool slotted;         /* every row has its place, for its label; a null one's is all zero */
    double rate;          /* weight of one record's score in the exponent */
    double *rows;         /* n x d, integers */
    double *across;       /* d x n */
    double *energies;     /* k x n: |U_l' x_i|^2 */
    double *trial;        /* n: of a proposed subspace */
    uint32_t *labels;     /* n */
    double *gathered;     /* n x d: the rows of one cluster */
    double *frames;       /* k x d x q */
    double *gram;         /* d x d */
    double *proposal;     /* d x q */
    clo_bingham *bingham; /* the law of one frame */
    clo_stream *stream;
} clo_i_gibbs_chain;

/* Reads the data once.  What is as long as they are is the workspace's, and lives as long as the
 * caller's mark; the rest is freed, and wiped, by clo_i_gibbs_free. */
CLO_CHECK clo_status clo_i_gibbs_new(clo_context *context, const clo_bounded *data,
                                     const clo_line *line, const clo_gibbs *how,
                                     clo_i_gibbs_chain *out, clo_error *err);
void clo_i_gibbs_free(clo_i_gibbs_chain *chain);

/* energies[i] = |frame' x_i|^2, a pure function of the record and the frame. */
void clo_i_gibbs_project(const clo_i_gibbs_chain *chain, const double *frame, double *energies);
void clo_i_gibbs_project_all(const clo_i_gibbs_chain *chain);

/* Says how far the run is and obeys a cancel. */
CLO_CHECK clo_status clo_i_gibbs_progress(const clo_context *context, uint64_t done, uint64_t all,
                                          clo_error *err);

/* Labels from the energies: at random, P[l] proportional to exp(rate energy_l), or the largest. */
void clo_i_gibbs_draw_labels(clo_i_gibbs_chain *chain, double rate);
void clo_i_gibbs_nearest_labels(clo_i_gibbs_chain *chain);
/* The law of cluster l's frame given the labels, into chain->bingham. */
CLO_CHECK clo_status clo_i_gibbs_set_law(clo_i_gibbs_chain *chain, size_t l, clo_error *err);

/* The share of its weight that the data have in this sweep: a public schedule by which a chain from
 * a uniform start warms up to its law, over the first three eighths of the run.  It finds its way
 * while subspaces can still pass each other. */
double clo_i_gibbs_heat(const clo_gibbs *how, uint64_t sweep);

/* The three ways to run it. */
CLO_CHECK clo_status clo_i_gibbs_sum(clo_context *context, const clo_gibbs *how,
                                     clo_i_gibbs_chain *chain, clo_error *err);
CLO_CHECK clo_status clo_i_gibbs_min(clo_context *context, const clo_gibbs *how,
                                     clo_i_gibbs_chain *chain, clo_error *err);
/* number: of the line, which every draw charges. */
CLO_CHECK clo_status clo_i_gibbs_steps(clo_context *context, size_t number, const clo_gibbs *how,
                                       clo_i_gibbs_chain *chain, clo_error *err);

/* Frames to start from: uniform, or by a solver (not private: for the limit alone). */
CLO_CHECK clo_status clo_i_gibbs_start(const clo_gibbs *how, clo_i_gibbs_chain *chain,
                                       clo_error *err);

/* Tells whoever listens the projectors U_l U_l': a frame's own basis is redrawn at random. */
CLO_CHECK clo_status clo_i_gibbs_tell(const clo_context *context, const clo_line *line,
                                      const clo_i_gibbs_chain *chain, clo_error *err);

/* Takes what of a chain follows the number of rows. */
CLO_CHECK clo_status clo_i_gibbs_lay_out_rows(const clo_line *line, size_t rows,
                                              clo_workspace *space, clo_error *err);

#endif
