/*
 * highdim_search.c - k centres among the cubes of private trees: balcan2017's Algorithms 2 and 3,
 * corrected.
 *
 * Trees of cubes at random places give candidates; those outside of the ball are pulled into it, as
 * the choice that follows is priced for points of the ball; public points fill up where there are
 * fewer than k.  Then one centre after another is swapped for the candidate that brings the records
 * nearest, by the exponential mechanism.  The set that the swaps start from has one candidate k
 * times: so the first of them only add, each where it is needed most.
 */
#include "mechanism/common/highdim_common.h"
#include "mechanism/common/solver_job.h"
#include "parallel/parallel.h"
#include "random/random.h"
#include "query/choose_centers.h"
#include "query/partition.h"
#include "solver/solver.h"
#include <math.h>
#include <string.h>

enum { THINNING_STEPS = 4 };

/* Sets of candidates that are kept: those to choose from, or the last one. */
static size_t kept_sets(const clo_highdim *plan)
{
    return plan->visited > 1 ? plan->visited : 1;
}

/* What thinning out takes. */
typedef struct thinning {
    double *kept;     /* few x seen */
    uint32_t *labels; /* most */
} thinning;

static clo_status take_thinning(const clo_highdim *plan, clo_workspace *space, thinning *t,
                                clo_error *err)
{
    CLO_TRY(clo_i_take(space, plan->few * plan->seen, sizeof *t->kept, &t->kept, err));
    return clo_i_take(space, plan->most, sizeof *t->labels, &t->labels, err);
}

static clo_status take_search(const clo_highdim *plan, clo_workspace *space, double **points,
                              size_t **sets, clo_error *err)
{
    const size_t k = plan->clusters;
    CLO_TRY(clo_i_take(space, (plan->most + k) * plan->seen, sizeof **points, points, err));
    return clo_i_take(space, kept_sets(plan) * k, sizeof **sets, sets, err);
}

clo_status clo_i_highdim_search_room(const clo_highdim *plan, clo_workspace *space, clo_error *err)
{
    double *points;
    size_t *sets;
    thinning unused;
    CLO_TRY(take_search(plan, space, &points, &sets, err));
    const size_t mark = clo_i_workspace_mark(space);
    CLO_TRY(take_thinning(plan, space, &unused, err));
    clo_i_workspace_release(space, mark);
    return clo_i_start_centers_room(space, plan->clusters, plan->seen, err);
}

/* Where the data are many, so are the cubes, and the time of what follows would grow with both.
 * Cubes lie densely where records do: the centres of a few steps of k-means among them stand for
 * them all, as many as public numbers say. */
static clo_status thin_out(const clo_highdim *plan, clo_context *context, double *points,
                           size_t *count, clo_error *err)
{
    const size_t d = plan->seen, few = plan->few, mark = clo_i_workspace_mark(context->workspace);
    const clo_solver_input job = clo_i_solver_job(context, points, *count, d);
    clo_kmeans_options options = clo_i_kmeans_default(few);
    thinning t;
    double cost;
    if (*count <= few) return CLO_OK;
    CLO_TRY(take_thinning(plan, context->workspace, &t, err));
    for (size_t i = 0; i < few; i++) /* in their order, which runs through space */
        memcpy(t.kept + i * d, points + i * *count / few * d, d * sizeof *points);
    options.restarts = 0;
    options.iterations = THINNING_STEPS;
    options.start = t.kept;
    CLO_TRY(clo_i_kmeans(&job, &options, points, t.labels, &cost, err));
    *count = few;
    clo_i_workspace_release(context->workspace, mark);
    return CLO_OK;
}

static clo_status collect(const clo_highdim *plan, clo_context *context, const clo_bounded *data,
                          double *points, size_t *count, clo_error *err)
{
    const size_t d = plan->seen;
    *count = 0;
    for (size_t t = 0; t < plan->trees; t++) {
        clo_cubes cubes = { .centers = points + *count * d };
        CLO_TRY(clo_i_ask_partition(context, plan->tree_line, data, &cubes, err));
        *count += cubes.count;
    }
    for (size_t i = 0; i < *count; i++) clo_i_pull_into_ball(points + i * d, d);
    CLO_TRY(thin_out(plan, context, points, count, err));
    if (*count >= plan->clusters) return CLO_OK;
    CLO_TRY(clo_i_start_centers(context, plan->clusters, d, points + *count * d, err));
    *count += plan->clusters;
    return CLO_OK;
}

/* One public candidate, k times. */
static clo_status start_set(clo_context *context, size_t count, size_t k, size_t *set,
                            clo_error *err)
{
    clo_stream *stream = NULL;
    CLO_TRY(clo_i_stream_open(context->rng, clo_i_rng_next_ask(context->rng), 0, &stream, err));
    uint64_t first = clo_i_random_below(stream, count);
    const clo_status status = clo_i_stream_check(stream, err);
    clo_i_stream_close(stream);
    if (status) return status;
    for (size_t c = 0; c < k; c++) set[c] = (size_t)first;
    return CLO_OK;
}

/* The last plan->visited sets of all that the swaps pass through; without, the last one. */
static clo_status swap(const clo_highdim *plan, clo_context *context, const clo_bounded *data,
                       const clo_candidates *candidates, size_t *sets, clo_error *err)
{
    const size_t k = plan->clusters, kept = kept_sets(plan);
    CLO_TRY(start_set(context, candidates->count, k, sets, err));
    return clo_i_ask_swaps(context, plan->swap_line, data, candidates, plan->swaps, kept, sets,
                           err);
}

clo_status clo_i_highdim_search(const clo_highdim *plan, clo_context *context,
                                const clo_bounded *data, double *centers, clo_error *err)
{
    const size_t k = plan->clusters, d = plan->seen;
    double *points = NULL;
    size_t *sets = NULL, chosen = 0;
    clo_candidates candidates = { .points = NULL };
    CLO_TRY(take_search(plan, context->workspace, &points, &sets, err));
    CLO_TRY(collect(plan, context, data, points, &candidates.count, err));
    candidates.points = points;
    CLO_TRY(swap(plan, context, data, &candidates, sets, err));
    if (plan->visited > 1)
        CLO_TRY(
            clo_i_ask_best_set(context, plan->visited_line, data, &candidates, sets, &chosen, err));
    for (size_t c = 0; c < k; c++)
        memcpy(centers + c * d, points + sets[chosen * k + c] * d, d * sizeof *centers);
    return CLO_OK;
}
