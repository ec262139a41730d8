/*
 * density_cloud.c - records from the density that the answers of a release tell: with its shape and
 * its correlations (kmeans_density.T2).
 *
 * The density is a few thousand points with weights.  A record is made of two points of one cell,
 * each drawn by its weight: mostly the first, and a little of the second.  So no record is a copy,
 * and mean and covariance of a cell stay what they are.
 *
 * Then it is pulled a little toward the nearest of the released centres.  The density has other
 * ways to be divided that are nearly as good, and noise may make one of them the best.  The
 * released centres are better than that: each round has asked about them.  So little is enough for
 * k-means of the records to find them again, and the marginals hardly show it.
 */
#include "generate/density_cloud.h"
#include <math.h>
#include <string.h>

static const double SMOOTH = 0.3; /* the share of the second point; squares add up to 1 */
static const double PULL = 0.05;  /* of the way to the nearest centre */

/* The cells are those of the answer with the most of them, the last of these. */
static const clo_density_answer *finest_of(const clo_density *density, const clo_release *release)
{
    const clo_density_answer *best = NULL;
    for (size_t a = 0; a < density->answered; a++)
        if (strcmp(release->answers[a].kind, "cells") == 0 &&
            (!best || density->answers[a].groups >= best->groups))
            best = &density->answers[a];
    return best;
}

/* Points in the order of their cells, the sums of their weights, and the mean of each cell. */
static void sort_points(clo_cloud *c)
{
    const clo_density *const density = &c->open.density;
    const size_t d = density->cols, cells = c->cells->groups;
    double sum = 0;
    for (size_t i = 0; i < density->count; i++) c->starts[c->cells->labels[i] + 1]++;
    for (size_t g = 0; g < cells; g++) c->starts[g + 1] += c->starts[g];
    for (size_t i = density->count; i-- > 0;) {
        const size_t g = c->cells->labels[i] + 1;
        c->points[--c->starts[g]] = (uint32_t)i; /* until it is where g begins */
    }
    /* Each start was moved to that of the cell before: back by one. */
    memmove(c->starts, c->starts + 1, cells * sizeof *c->starts);
    c->starts[cells] = density->count;
    for (size_t g = 0; g < cells; g++) {
        double *const mean = c->means + g * d, before = sum;
        for (size_t at = c->starts[g]; at < c->starts[g + 1]; at++) {
            const size_t i = c->points[at];
            c->sums[at] = sum += density->weights[i];
            for (size_t j = 0; j < d; j++)
                mean[j] += density->weights[i] * density->points[i * d + j];
        }
        for (size_t j = 0; j < d; j++) mean[j] /= fmax(sum - before, 1e-300);
    }
}

/* The released centres, as the points of the density are: in the ball. */
static clo_status take_centers(const clo_release *release, clo_cloud *c, clo_error *err)
{
    const size_t d = c->domain.cols;
    const double radius = clo_i_domain_radius(&c->domain);
    clo_array centers;
    if (!clo_release_find(release, "centers", &centers) || centers.dimensions != 2 ||
        centers.shape[1] != d)
        return CLO_OK;
    c->clusters = centers.shape[0];
    CLO_TRY(clo_i_take(c->open.space, c->clusters * d, sizeof(double), &c->centers, err));
    for (size_t e = 0; e < c->clusters * d; e++) {
        const clo_i_axis axis = clo_i_domain_axis(&c->domain, e % d);
        c->centers[e] = (centers.data[e] - axis.center) / (radius * axis.scale);
    }
    return CLO_OK;
}

clo_status clo_i_cloud_open(const clo_release *release, clo_cloud *c, clo_error *err)
{
    memset(c, 0, sizeof *c);
    CLO_TRY(clo_i_cut_open(release, &c->open, err));
    clo_workspace *const space = c->open.space;
    const clo_density *const density = &c->open.density;
    c->domain = clo_i_cut_domain(release);
    c->cells = finest_of(density, release);
    CLO_TRY(clo_i_take(space, density->count, sizeof *c->points, &c->points, err));
    CLO_TRY(clo_i_take(space, density->count, sizeof *c->sums, &c->sums, err));
    CLO_TRY(clo_i_take(space, c->cells->groups + 1, sizeof *c->starts, &c->starts, err));
    CLO_TRY(clo_i_take(space, c->cells->groups * density->cols, sizeof *c->means, &c->means, err));
    sort_points(c);
    return take_centers(release, c, err);
}

void clo_i_cloud_close(clo_cloud *cloud)
{
    clo_i_cut_close(&cloud->open);
}

/* One of the points first ... end - 1, by its weight. */
static size_t choose(const clo_cloud *c, clo_stream *stream, size_t first, size_t end)
{
    const double before = first ? c->sums[first - 1] : 0;
    const double at = before + clo_i_random_unit(stream) * (c->sums[end - 1] - before);
    size_t low = first, high = end - 1;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (c->sums[middle] > at)
            high = middle;
        else
            low = middle + 1;
    }
    return c->points[low];
}

static void pull(const clo_cloud *c, double *record)
{
    const size_t d = c->domain.cols;
    double square;
    if (!c->clusters) return;
    const size_t own = clo_i_density_nearest(record, c->centers, c->clusters, d, &square);
    for (size_t j = 0; j < d; j++) record[j] += PULL * (c->centers[own * d + j] - record[j]);
}

void clo_i_cloud_draw(const clo_cloud *c, clo_stream *stream, double *record)
{
    const clo_density *const density = &c->open.density;
    const size_t d = density->cols, one = choose(c, stream, 0, density->count);
    const size_t cell = c->cells->labels[one];
    const size_t other = choose(c, stream, c->starts[cell], c->starts[cell + 1]);
    const double *const mean = c->means + cell * d, most = sqrt(1 - SMOOTH * SMOOTH);
    for (size_t j = 0; j < d; j++)
        record[j] = mean[j] + most * (density->points[one * d + j] - mean[j]) +
                    SMOOTH * (density->points[other * d + j] - mean[j]);
    pull(c, record);
    clo_i_domain_unmap_point(&c->domain, record);
}
