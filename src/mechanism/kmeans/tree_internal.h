/*
 * tree_internal.h - what the files of kmeans/tree share: its plan, and the three steps of a run
 * between the asks.  All of it is public or post-processing of answers.
 */
#ifndef CLO_TREE_INTERNAL_H
#define CLO_TREE_INTERNAL_H

#include "plan/mechanism.h"

typedef struct clo_i_tree_plan {
    size_t clusters;
    size_t cells;            /* pieces that the coreset is made of */
    uint64_t passes, rounds; /* asks for the cells, and then for the clusters */
    bool pure;               /* without a delta: Laplace noise, and all columns */
    bool tree;               /* the first cells are the leaves of a tree of hyperplanes */
    size_t cols;             /* of the records */
    size_t frame;            /* directions kept for the cells; 0: all columns */
    size_t seen;             /* coordinates that the cells are made in: one of the two above */
} clo_i_tree_plan;

/* How many leaves a tree has that is to have at most so many. */
size_t clo_i_tree_leaves(size_t cells);

/* The first cells, cells x seen: leaves, or the nearest of random points.  spread: the standard
 * deviation of the records in each of the directions kept, or NULL where nothing is known.  The
 * same on all ranks. */
CLO_CHECK clo_status clo_i_tree_start(clo_context *context, const clo_i_tree_plan *plan,
                                      const double *spread, double *cells, clo_error *err);
CLO_CHECK clo_status clo_i_tree_start_room(const clo_i_tree_plan *plan, clo_workspace *space,
                                           clo_error *err);

/* The centres (clusters x seen) of the coreset, by k-means on the cells' noisy means, weighted with
 * their noisy sizes; of each the noisy size and the variance of a coordinate.  line: of the cells.
 * The same on all ranks. */
CLO_CHECK clo_status clo_i_tree_solve(clo_context *context, const clo_i_tree_plan *plan,
                                      size_t line, const double *cells, const double *sizes,
                                      double *centers, double *weights, double *variances,
                                      clo_error *err);
CLO_CHECK clo_status clo_i_tree_solve_room(const clo_i_tree_plan *plan, clo_workspace *space,
                                           clo_error *err);

/* One round on the records themselves from centres (clusters x cols), whose part inside the frame
 * (cols x frame; NULL: there is none) has the variances of a coordinate given in `inside`, and that
 * outside of it those in `outside`, 0 where unknown.  All three are brought up to date, and sizes
 * answered. */
CLO_CHECK clo_status clo_i_tree_refine(clo_context *context, const clo_i_tree_plan *plan,
                                       size_t line, const clo_bounded *data, const double *frame,
                                       double *centers, double *sizes, double *inside,
                                       double *outside, clo_error *err);
CLO_CHECK clo_status clo_i_tree_refine_room(const clo_i_tree_plan *plan, clo_workspace *space,
                                            clo_error *err);

#endif
