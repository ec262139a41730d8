/* density_centers.c - k-means and k-median of a density, by the library's own solver. */
#include "density/density.h"
#include "density/density_internal.h"
#include "solver/solver.h"
#include <math.h>

/* Starts are compared before they have converged, and the best goes on. */
enum { LOOSE_STEPS = 30, STEPS = 200 };
static const double LOOSE = 1e-4, TIGHT = 1e-8; /* of the variance */

static clo_status solve(clo_density *density, const clo_density_solver *how,
                        const clo_kmeans_options *options, double *centers, double *cost,
                        clo_error *err)
{
    const clo_solver_input job = { .rows = density->points,
                                   .count = density->count,
                                   .cols = density->cols,
                                   .rng = how->rng,
                                   .threads = how->threads };
    return (how->median ? clo_i_kmedian : clo_i_kmeans)(&job, options, centers, density->labels,
                                                        cost, err);
}

static void measure(const clo_density *density, size_t clusters, const double *centers,
                    double *sizes, double *squares)
{
    for (size_t c = 0; c < clusters; c++) sizes[c] = squares[c] = 0;
    for (size_t i = 0; i < density->count; i++) {
        const size_t own = density->labels[i], d = density->cols;
        double square = 0;
        for (size_t j = 0; j < d; j++) {
            const double apart = density->points[i * d + j] - centers[own * d + j];
            square += apart * apart;
        }
        sizes[own] += density->weights[i];
        squares[own] += density->weights[i] * square;
    }
    for (size_t c = 0; c < clusters; c++) squares[c] /= fmax(sizes[c], 1e-9);
}

clo_status clo_i_density_centers(clo_density *density, const clo_density_solver *how,
                                 size_t clusters, double *centers, double *sizes, double *squares,
                                 clo_error *err)
{
    clo_kmeans_options options = { .clusters = clusters,
                                   .restarts = how->starts,
                                   .iterations = LOOSE_STEPS,
                                   .tolerance = LOOSE,
                                   .weights = density->weights };
    double cost;
    if (how->starts) CLO_TRY(solve(density, how, &options, centers, &cost, err));
    options.restarts = 0;
    options.start = centers;
    options.iterations = STEPS;
    options.tolerance = TIGHT;
    CLO_TRY(solve(density, how, &options, centers, &cost, err));
    if (sizes) measure(density, clusters, centers, sizes, squares);
    return CLO_OK;
}

/* Of the curve a number is asked that is right to some percent. */
enum { CURVE_STARTS = 3 };

clo_status clo_i_density_find_curve(clo_density *density, clo_rng *rng, int threads, size_t count,
                                    double *centers, double *curve, clo_error *err)
{
    const clo_density_solver how = { .rng = rng, .threads = threads };
    for (size_t k = 1; k <= count; k++) {
        const clo_kmeans_options options = { .clusters = k,
                                             .restarts = k > 1 ? CURVE_STARTS : 1,
                                             .iterations = LOOSE_STEPS,
                                             .tolerance = LOOSE,
                                             .weights = density->weights };
        double cost;
        CLO_TRY(solve(density, &how, &options, centers, &cost, err));
        curve[k - 1] = k > 1 ? fmin(cost, curve[k - 2]) : cost;
    }
    return CLO_OK;
}
