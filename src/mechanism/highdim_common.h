/*
 * highdim_common.h - what kmeans/highdim and kmedian/highdim share (balcan2017, Algorithms 1-4,
 * corrected): public shape, plan and search for k centres among the cubes of private trees.  What
 * makes of them the centres that are released is each method's own.
 */
#ifndef CLO_HIGHDIM_COMMON_H
#define CLO_HIGHDIM_COMMON_H

#include "mechanism/centers_common.h"

enum {
    CLO_HIGHDIM_CLUSTERS,
    CLO_HIGHDIM_PRESET,
    CLO_HIGHDIM_PROJECT,
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
    size_t clusters;
    size_t cols;    /* of the records */
    size_t project; /* directions that the search looks at; 0: the records themselves */
    size_t seen;    /* coordinates that the search sees: one of the two above */
    size_t
        repeats; /* of everything, each in its own directions; one of them is chosen in the end */
    size_t trees, levels, swaps, rounds;
    size_t most;      /* candidates of a repeat */
    size_t visited;   /* sets to choose from after the swaps; 0: the last one is taken */
    double threshold; /* of records in a cube, in scales of its noise; 0: the least */
    double reach;     /* of the choice of centres, in radii */
    /* Lines of the plan. */
    size_t tree_line, swap_line, visited_line, round_line, final_line;
} clo_highdim;

/* Adds the line of the rounds, at most this mu each. */
typedef clo_status clo_highdim_plan_rounds(const clo_domain *domain, size_t clusters, double mu,
                                           uint64_t times, clo_slot *out, clo_error *err);
/* The whole plan but the rounds' line, which is the method's own. */
CLO_CHECK clo_status clo_i_highdim_plan(clo_draft *draft, clo_center_loss loss, size_t rounds,
                                        clo_highdim_plan_rounds *plan_rounds, clo_highdim *out,
                                        clo_error *err);

/* Moves centres (clusters x cols) that the search has found; sizes: clusters, or NULL where the
 * rounds tell none. */
typedef clo_status clo_highdim_refine(const clo_highdim *plan, clo_context *context,
                                      const clo_bounded *data, double *centers, double *sizes,
                                      clo_error *err);
/* Searches, refines, chooses and releases. */
CLO_CHECK clo_status clo_i_highdim_run(const clo_highdim *plan, const clo_domain *domain,
                                       const clo_bounded *data, clo_context *context,
                                       clo_highdim_refine *refine, clo_release *out,
                                       clo_error *err);

/* k centres (k x seen) among the cubes of trees (highdim_search.c); the context's lens is set. */
CLO_CHECK clo_status clo_i_highdim_search(const clo_highdim *plan, clo_context *context,
                                          const clo_bounded *data, double *centers, clo_error *err);
size_t clo_i_highdim_search_size(const clo_highdim *plan); /* bytes of workspace */

#endif
