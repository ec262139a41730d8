/* spectral_graph.c - degrees, connected components and cuts of an affinity. */
#include "solver/affinity/spectral_graph.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static size_t row_length(const clo_affinity *a, size_t row)
{
    return a->dense ? a->count : a->starts[row + 1] - a->starts[row];
}

/* Entry number `at` of a row: whose it is, and its weight. */
static double entry(const clo_affinity *a, size_t row, size_t at, size_t *column)
{
    if (a->dense) {
        *column = at;
        return a->dense[row * a->count + at];
    }
    *column = a->columns[a->starts[row] + at];
    return a->weights[a->starts[row] + at];
}

static double degree(const clo_affinity *a, size_t row)
{
    const size_t length = row_length(a, row);
    double sum = 0;
    for (size_t at = 0; at < length; at++) {
        size_t column = 0;
        const double weight = entry(a, row, at, &column);
        if (column != row) sum += weight;
    }
    return sum;
}

/* ---- components ---------------------------------------------------------------------------- */

typedef struct component {
    uint32_t begin, count; /* in the order of visits */
} component;

/* Larger first; of equals the one that was found first. */
static int by_size(const void *left, const void *right)
{
    const component *const a = left, *const b = right;
    if (a->count != b->count) return a->count < b->count ? 1 : -1;
    return a->begin < b->begin ? -1 : a->begin > b->begin;
}

static int by_number(const void *left, const void *right)
{
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return a < b ? -1 : a > b;
}

/* Visits everything that is connected with the point at order[begin]; where the visit ends. */
static size_t visit(const clo_affinity *a, uint32_t *order, bool *seen, size_t begin)
{
    size_t end = begin + 1;
    for (size_t at = begin; at < end; at++) {
        const size_t row = order[at], length = row_length(a, row);
        for (size_t i = 0; i < length; i++) {
            size_t column = 0;
            if (!(entry(a, row, i, &column) > 0) || seen[column]) continue;
            seen[column] = true;
            order[end++] = (uint32_t)column;
        }
    }
    qsort(order + begin, end - begin, sizeof *order, by_number);
    return end;
}

/* All components, the largest first; how many. */
static size_t find_components(const clo_graph *graph, uint32_t *order, bool *seen,
                              component *components)
{
    const clo_affinity *const a = graph->affinity;
    size_t found = 0, visited = 0;
    for (size_t i = 0; i < a->count; i++) {
        if (seen[i] || !(graph->scale[i] > 0)) continue;
        const size_t begin = visited;
        seen[i] = true;
        order[begin] = (uint32_t)i;
        visited = visit(a, order, seen, begin);
        components[found++] = (component){ (uint32_t)begin, (uint32_t)(visited - begin) };
    }
    qsort(components, found, sizeof *components, by_size);
    return found;
}

/* How many of them are taken for clusters, or for parts of one. */
static size_t without_strays(const component *components, size_t found, size_t count, size_t k)
{
    size_t kept = found;
    if (found <= k) return found;
    while (kept > 1 && (double)components[kept - 1].count * 10 * (double)k < (double)count) kept--;
    return (double)components[0].count * 10 * (double)k < (double)count ? found : kept;
}

/* Lays the points out: the kept components, then whatever else there is. */
static clo_status lay_out(clo_graph *graph, const uint32_t *order, const component *components,
                          size_t kept, bool *placed, clo_error *err)
{
    const size_t n = graph->affinity->count;
    CLO_TRY(clo_i_alloc(kept + 1, sizeof *graph->first, &graph->first, err));
    CLO_TRY(clo_i_alloc(n, sizeof *graph->points, &graph->points, err));
    size_t at = 0;
    memset(placed, 0, n * sizeof *placed);
    for (size_t c = 0; c < kept; c++) {
        for (size_t i = 0; i < components[c].count; i++) {
            graph->points[at++] = order[components[c].begin + i];
            placed[graph->points[at - 1]] = true;
        }
        graph->first[c + 1] = at;
    }
    graph->components = kept;
    graph->connected = at;
    for (size_t i = 0; i < n; i++)
        if (!placed[i]) graph->points[at++] = (uint32_t)i;
    return CLO_OK;
}

clo_status clo_i_graph_new(const clo_affinity *affinity, size_t clusters, clo_graph *out,
                           clo_error *err)
{
    const size_t n = affinity->count;
    clo_graph graph = { .affinity = affinity };
    uint32_t *order = NULL;
    bool *seen = NULL;
    component *components = NULL;
    clo_status status = clo_i_alloc(n, sizeof *graph.scale, &graph.scale, err);
    if (!status) status = clo_i_alloc(n, sizeof *order, &order, err);
    if (!status) status = clo_i_alloc(n, sizeof *seen, &seen, err);
    if (!status) status = clo_i_alloc(n, sizeof *components, &components, err);
    for (size_t i = 0; i < n && !status; i++) {
        const double sum = degree(affinity, i);
        if (!isfinite(sum))
            status = clo_i_fail(err, CLO_ARGUMENT,
                                "the entries of an affinity must be finite, and so their sums");
        graph.scale[i] = sum > 0 ? 1 / sqrt(sum) : 0;
    }
    if (!status) {
        const size_t found = find_components(&graph, order, seen, components);
        const size_t kept = without_strays(components, found, n, clusters);
        status = lay_out(&graph, order, components, kept, seen, err);
    }
    clo_i_free(order);
    clo_i_free(seen);
    clo_i_free(components);
    if (status)
        clo_i_graph_free(&graph);
    else
        *out = graph;
    return status;
}

void clo_i_graph_free(clo_graph *graph)
{
    clo_i_free(graph->scale);
    clo_i_free(graph->points);
    clo_i_free(graph->first);
    memset(graph, 0, sizeof *graph);
}

clo_status clo_i_normalised_cut(const clo_affinity *affinity, const uint32_t *labels,
                                size_t clusters, double *cut, clo_error *err)
{
    double *sums = NULL; /* of each cluster: what leaves it, and all of it */
    CLO_TRY(clo_i_alloc(2 * clusters, sizeof *sums, &sums, err));
    for (size_t i = 0; i < affinity->count; i++) {
        double *const own = sums + (size_t)2 * labels[i];
        const size_t length = row_length(affinity, i);
        for (size_t at = 0; at < length; at++) {
            size_t column = 0;
            const double weight = entry(affinity, i, at, &column);
            if (column == i) continue;
            own[0] += labels[column] == labels[i] ? 0 : weight;
            own[1] += weight;
        }
    }
    *cut = 0;
    for (size_t c = 0; c < clusters; c++)
        *cut += sums[2 * c + 1] > 0 ? sums[2 * c] / sums[2 * c + 1] : 0;
    clo_i_free(sums);
    return CLO_OK;
}
