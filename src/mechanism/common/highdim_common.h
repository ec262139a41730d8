/*
 * highdim_common.h - what kmeans/highdim and kmedian/highdim share (balcan2017, Algorithms 1-4,
 * corrected): public shape, plan and run.  They differ in what a record that is far from its centre
 * counts for: the square of its distance, or the distance.
 */
#ifndef CLO_HIGHDIM_COMMON_H
#define CLO_HIGHDIM_COMMON_H

#include "mechanism/common/centers_common.h"
#include "query/choose_centers.h"

enum {
    CLO_HIGHDIM_CLUSTERS,
    CLO_HIGHDIM_PRESET,
    CLO_HIGHDIM_DIRECTIONS,
    CLO_HIGHDIM_TREES,
    CLO_HIGHDIM_LEVELS,
    CLO_HIGHDIM_SWAPS,
    CLO_HIGHDIM_ROUNDS,
    CLO_HIGHDIM_PARAMS
};
extern const clo_param clo_i_highdim_params[CLO_HIGHDIM_PARAMS];

/* The shape of a plan: public, all of it. */
typedef struct clo_highdim {
    clo_center_loss loss;
    bool theory;
    size_t clusters;
    size_t cols;    /* of the records */
    size_t project; /* directions that the search looks at; 0: the records themselves */
    size_t seen;    /* coordinates that the search sees: one of the two above */
    size_t
        repeats; /* of everything, each in its own directions; one of them is chosen in the end */
    size_t trees, levels, swaps, rounds;
    size_t most;      /* cubes of a repeat */
    size_t few;       /* candidates that are made of them, at most */
    size_t visited;   /* sets to choose from after the swaps; 0: the last one is taken */
    double threshold; /* of records in a cube, in scales of its noise; 0: the least */
    double reach;     /* of the choice of centres, in radii */
    /* Lines of the plan. */
    size_t tree_line, swap_line, visited_line, round_line, final_line;
} clo_highdim;

CLO_CHECK clo_status clo_i_highdim_plan(clo_draft *draft, clo_center_loss loss, clo_highdim *out,
                                        clo_error *err);
/* Both as a clo_mechanism has them; state: a clo_highdim.  The run searches, refines, chooses and
 * releases. */
CLO_CHECK clo_status clo_i_highdim_run(const void *state, const clo_domain *domain,
                                       const clo_bounded *data, clo_context *context,
                                       clo_release *out, clo_error *err);
/* The error of a released centre that the noise of the last round makes, as a share of the norm,
 * for clusters of equal size whose records are within its width; and how likely they are missed. */
double clo_i_highdim_predict(const void *state, const clo_domain *domain, const clo_line *lines,
                             double rows);

/* k centres (k x seen) among the cubes of trees (highdim_search.c); the context's lens is set. */
CLO_CHECK clo_status clo_i_highdim_search(const clo_highdim *plan, clo_context *context,
                                          const clo_bounded *data, double *centers, clo_error *err);
CLO_CHECK clo_status clo_i_highdim_search_room(const clo_highdim *plan, clo_workspace *space,
                                               clo_error *err);

/* Moves centres (clusters x cols) that the search has found, round by round (highdim_refine.c);
 * sizes: clusters, the last round's. */
CLO_CHECK clo_status clo_i_highdim_refine(const clo_highdim *plan, clo_context *context,
                                          const clo_bounded *data, double *centers, double *sizes,
                                          clo_error *err);
CLO_CHECK clo_status clo_i_highdim_refine_room(const clo_highdim *plan, clo_workspace *space,
                                               clo_error *err);
double clo_i_highdim_width(const clo_highdim *plan); /* of the first round */

#endif
