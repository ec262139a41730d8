/*
 * tree_cells.c - the coreset of kmeans/tree: which cells it starts with, and which centres it has.
 *
 * A cell is what is nearest to one of finitely many points: one rule for all kinds of cells.  The
 * leaves of a tree that halves the space by hyperplanes, level by level and perpendicular to one
 * direction after the other, are cells of that kind, too: those of a grid along these directions.
 * Where the records' spread is known (from a released Gram matrix), points drawn with it cut up
 * the space where the records are.  Everything here is public randomness or post-processing.
 */
#include "mechanism/common/solver_job.h"
#include "mechanism/kmeans/tree_internal.h"
#include "linalg/linalg.h"
#include "mechanism/common/centers_common.h"
#include "parallel/parallel.h"
#include "random/random.h"
#include "solver/solver.h"
#include "query/cluster_sum.h"
#include <math.h>
#include <string.h>

enum { LEVELS = 10, RESTARTS = 16, FEW_COLUMNS = 16 };
static const double HALF_WAY = 0.5; /* a norm in the middle of the ball */

/* ---- the first cells --------------------------------------------------------------------- */

static size_t levels_of(size_t cells)
{
    size_t levels = 0;
    while (levels < LEVELS && (size_t)2 << levels <= cells) levels++;
    return levels;
}

size_t clo_i_tree_leaves(size_t cells)
{
    return (size_t)1 << levels_of(cells);
}

static size_t direction_count(const clo_i_tree_plan *plan)
{
    const size_t levels = levels_of(plan->cells);
    return levels < plan->seen ? levels : plan->seen;
}

/* Leaf `leaf` lies, along direction i, in that of 2^bits intervals which the bits i, i +
 * directions, i + 2 directions, … of its number name. */
static void place_leaf(size_t leaf, size_t levels, const double *directions, size_t count, size_t d,
                       double *point)
{
    const double reach = fmin(1, 2 / sqrt((double)d));
    memset(point, 0, d * sizeof *point);
    for (size_t i = 0; i < count; i++) {
        double at = 0, width = reach;
        for (size_t level = i; level < levels; level += count) {
            width /= 2;
            at += leaf >> level & 1 ? width : -width;
        }
        for (size_t j = 0; j < d; j++) point[j] += at * directions[j * count + i];
    }
}

static clo_status draw_leaves(clo_stream *stream, const clo_i_tree_plan *plan, double *directions,
                              double *cells, clo_error *err)
{
    const size_t d = plan->seen, count = direction_count(plan), levels = levels_of(plan->cells);
    for (size_t i = 0; i < d * count; i++) directions[i] = clo_i_random_normal(stream);
    if (count) CLO_TRY(clo_i_orthonormalize(directions, d, count, err));
    for (size_t leaf = 0; leaf < plan->cells; leaf++)
        place_leaf(leaf, levels, directions, count, d, cells + leaf * d);
    return CLO_OK;
}

/* In few columns records may be anywhere in the ball; in many, points at different distances from
 * the origin would leave all records to the nearest of them. */
static double drawn_norm(clo_stream *stream, size_t d)
{
    return d <= FEW_COLUMNS ? pow(clo_i_random_unit(stream), 1 / fmin((double)d, 3)) : HALF_WAY;
}

static void draw_points(clo_stream *stream, const clo_i_tree_plan *plan, const double *spread,
                        double *cells)
{
    const size_t d = plan->seen;
    for (size_t c = 0; c < plan->cells; c++) {
        double square = 0, *const point = cells + c * d;
        for (size_t j = 0; j < d; j++) {
            point[j] = clo_i_random_normal(stream) * (spread ? spread[j] : 1);
            square += point[j] * point[j];
        }
        if (!spread) {
            const double norm = drawn_norm(stream, d) / sqrt(square);
            for (size_t j = 0; j < d; j++) point[j] *= norm;
        }
        clo_i_pull_into_ball(point, d);
    }
}

/* None where there is no tree. */
static clo_status take_directions(const clo_i_tree_plan *plan, clo_workspace *space,
                                  double **directions, clo_error *err)
{
    const size_t count = plan->tree ? direction_count(plan) : 0;
    return clo_i_take(space, plan->seen * count, sizeof **directions, directions, err);
}

clo_status clo_i_tree_start_room(const clo_i_tree_plan *plan, clo_workspace *space, clo_error *err)
{
    const size_t mark = clo_i_workspace_mark(space);
    double *unused;
    CLO_TRY(take_directions(plan, space, &unused, err));
    clo_i_workspace_release(space, mark);
    return CLO_OK;
}

clo_status clo_i_tree_start(clo_context *context, const clo_i_tree_plan *plan, const double *spread,
                            double *cells, clo_error *err)
{
    clo_workspace *const space = context->workspace;
    const size_t mark = clo_i_workspace_mark(space);
    const uint64_t ask = clo_i_rng_next_ask(context->rng);
    double *directions = NULL;
    clo_stream *stream = NULL;
    CLO_TRY(clo_i_stream_open(context->rng, ask, 0, &stream, err));
    clo_status status = take_directions(plan, space, &directions, err);
    if (!status && plan->tree)
        status = draw_leaves(stream, plan, directions, cells, err);
    else if (!status)
        draw_points(stream, plan, spread, cells);
    if (!status) status = clo_i_stream_check(stream, err);
    clo_i_stream_close(stream);
    clo_i_workspace_release(space, mark);
    return status;
}

/* ---- the centres of the coreset ----------------------------------------------------------- */

/* A cell counts with its noisy size, if that is more than noise; where none is, all count alike. */
static void weigh(const clo_line *line, const double *sizes, size_t count, double *weights)
{
    double total = 0;
    for (size_t c = 0; c < count; c++) {
        weights[c] = clo_i_size_is_noise(line, sizes[c]) ? 0 : sizes[c];
        total += weights[c];
    }
    for (size_t c = 0; c < count && !(total > 0); c++) weights[c] = 1;
}

/* The sum of some cells has their noises added up: its mean, divided by their size. */
static void gather(const clo_line *line, const clo_i_tree_plan *plan, const double *cell_weights,
                   const uint32_t *labels, double *weights, double *variances)
{
    const size_t k = plan->clusters;
    const double noise = clo_i_line_deviation(line);
    for (size_t c = 0; c < k; c++) weights[c] = variances[c] = 0;
    for (size_t i = 0; i < plan->cells; i++)
        if (cell_weights[i] > 0) {
            weights[labels[i]] += cell_weights[i];
            variances[labels[i]] += noise * noise;
        }
    for (size_t c = 0; c < k; c++)
        variances[c] = weights[c] > 0 ? variances[c] / (weights[c] * weights[c]) : 0;
}

/* Of each cell: what it counts for, and whose it is. */
static clo_status take_cells(const clo_i_tree_plan *plan, clo_workspace *space, double **weights,
                             uint32_t **labels, clo_error *err)
{
    CLO_TRY(clo_i_take(space, plan->cells, sizeof **weights, weights, err));
    return clo_i_take(space, plan->cells, sizeof **labels, labels, err);
}

clo_status clo_i_tree_solve_room(const clo_i_tree_plan *plan, clo_workspace *space, clo_error *err)
{
    const size_t mark = clo_i_workspace_mark(space);
    double *weights;
    uint32_t *labels;
    CLO_TRY(take_cells(plan, space, &weights, &labels, err));
    clo_i_workspace_release(space, mark);
    return CLO_OK;
}

clo_status clo_i_tree_solve(clo_context *context, const clo_i_tree_plan *plan, size_t number,
                            const double *cells, const double *sizes, double *centers,
                            double *weights, double *variances, clo_error *err)
{
    const clo_line *const line = &context->meter->lines[number];
    const size_t k = plan->clusters, mark = clo_i_workspace_mark(context->workspace);
    const clo_solver_input job = clo_i_solver_job(context, cells, plan->cells, plan->seen);
    clo_kmeans_options options = clo_i_kmeans_default(k);
    double *cell_weights = NULL, cost;
    uint32_t *labels = NULL;
    CLO_TRY(take_cells(plan, context->workspace, &cell_weights, &labels, err));
    weigh(line, sizes, plan->cells, cell_weights);
    options.weights = cell_weights;
    options.restarts = k > 1 && plan->cells > k ? RESTARTS : 1;
    CLO_TRY(clo_i_kmeans(&job, &options, centers, labels, &cost, err));
    gather(line, plan, cell_weights, labels, weights, variances);
    for (size_t c = 0; c < k; c++) clo_i_pull_into_ball(centers + c * plan->seen, plan->seen);
    clo_i_workspace_release(context->workspace, mark);
    return CLO_OK;
}
