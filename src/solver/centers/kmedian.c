/*
 * kmedian.c - k-median: centres with the least mean distance, by turns of labels and Weiszfeld
 * steps.
 *
 * Weiszfeld's step divides by the distances to the rows, and stands still for ever on a row that is
 * not the median.  Vardi and Zhang's form does neither: the rows at the centre are left out of the
 * step and weighed against the pull of the others.  Where the median is a row, the steps approach
 * it ever more slowly; so the nearest row is tried in the end, by the same weighing.
 */
#include "solver/centers/kmeans.h"
#include <math.h>
#include <string.h>

enum { CLUSTERS, RESTARTS, ITERATIONS, TOLERANCE, PARAM_COUNT };
enum { STEPS = 100 }; /* of Weiszfeld, between two labellings */

static const clo_param params[PARAM_COUNT] = {
    [CLUSTERS] = CLO_SOLVER_ROW_CLUSTERS,
    [RESTARTS] = CLO_SOLVER_ROW_RESTARTS(10),
    [ITERATIONS] = CLO_SOLVER_ROW_ITERATIONS(300),
    [TOLERANCE] = { "tolerance", CLO_PARAM_REAL, 0, 1, 1e-6, NULL,
                    "stop when the centers' summed squared moves are below this share of the "
                    "columns' mean variance" },
};

/* How the rows of one cluster pull at a place: each with force 1 times its weight. */
typedef struct pull {
    double force; /* the length of their sum, of the rows elsewhere */
    double stiff; /* the sum of weight / distance */
    double held;  /* the weight of the rows at the place itself */
    uint32_t nearest;
} pull;

/* total: cols, becomes the sum of the unit vectors towards the rows. */
static pull pull_at(const clo_kmeans_run *run, size_t cluster, const double *place, double *total)
{
    const clo_points *const p = run->points;
    const size_t d = p->cols;
    pull at = { .nearest = run->order[run->begins[cluster]] };
    double least = INFINITY, square = 0;
    memset(total, 0, d * sizeof *total);
    for (size_t i = run->begins[cluster]; i < run->begins[cluster + 1]; i++) {
        const double *const x = p->rows + run->order[i] * d;
        const double weight = clo_i_point_weight(p, run->order[i]);
        double apart = 0;
        for (size_t j = 0; j < d; j++) {
            const double step = (x[j] - p->mean[j]) - place[j];
            apart += step * step;
        }
        if (weight > 0 && apart < least) {
            least = apart;
            at.nearest = run->order[i];
        }
        if (!(apart > 0)) {
            at.held += weight;
            continue;
        }
        const double share = weight / sqrt(apart);
        for (size_t j = 0; j < d; j++) total[j] += share * ((x[j] - p->mean[j]) - place[j]);
        at.stiff += share;
    }
    for (size_t j = 0; j < d; j++) square += total[j] * total[j];
    at.force = sqrt(square);
    return at;
}

/* The median of a cluster's rows, from where its centre is; scratch: 2 cols. */
static void find_median(clo_kmeans_run *run, size_t cluster, double *scratch)
{
    const clo_points *const p = run->points;
    const size_t d = p->cols;
    const double still = 1e-24 * p->variance * (double)d;
    double *const center = run->centers + cluster * d, *const total = scratch;
    double *const row = scratch + d;
    for (int step = 0; step < STEPS; step++) {
        const pull at = pull_at(run, cluster, center, total);
        if (at.force <= at.held || !(at.stiff > 0)) return; /* the median, exactly */
        const double part = (1 - at.held / at.force) / at.stiff;
        double moved = 0;
        for (size_t j = 0; j < d; j++) {
            center[j] += part * total[j];
            moved += part * total[j] * part * total[j];
        }
        if (moved > still && step + 1 < STEPS) continue;
        for (size_t j = 0; j < d; j++) row[j] = p->rows[at.nearest * d + j] - p->mean[j];
        const pull there = pull_at(run, cluster, row, total);
        if (there.force <= there.held) memcpy(center, row, d * sizeof *row);
        return;
    }
}

static double update(clo_kmeans_run *run)
{
    const size_t d = run->points->cols;
    clo_i_kmeans_repair(run);
    clo_i_kmeans_list(run);
#pragma omp parallel for num_threads(run->threads) schedule(dynamic, 1)
    for (size_t c = 0; c < run->clusters; c++)
        if (run->sizes[c] > 0) find_median(run, c, run->scratch + 2 * c * d);
    return clo_i_kmeans_measure_moves(run);
}

static double cost(const clo_kmeans_run *run)
{
    const clo_points *const p = run->points;
    double sum = 0;
    for (size_t i = 0; i < p->count; i++)
        sum += clo_i_point_weight(p, i) * sqrt(clo_i_own_distance(run, i));
    return sum / p->total;
}

static const clo_center_rule medians = { .power = 1, .update = update, .cost = cost };

clo_status clo_i_kmedian(const clo_solver_input *job, const clo_kmeans_options *options,
                         double *centers, uint32_t *labels, double *cost, clo_error *err)
{
    return clo_i_centers(job, options, &medians, centers, labels, cost, err);
}

static clo_status solve(const clo_solver_input *job, const double *values, clo_partition *out,
                        clo_error *err)
{
    clo_kmeans_options options = clo_i_kmeans_default((size_t)values[CLUSTERS]);
    options.restarts = (size_t)values[RESTARTS];
    options.iterations = (size_t)values[ITERATIONS];
    options.tolerance = values[TOLERANCE];
    return clo_i_centers_solve(job, options, &medians, out, err);
}

const clo_solver clo_i_solver_kmedian = {
    .name = "kmedian",
    .summary = "k-median: centers with the smallest mean distance",
    .params = params,
    .param_count = PARAM_COUNT,
    .warm = true,
    .solve = solve,
};
