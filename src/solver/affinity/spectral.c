/*
 * spectral.c - normalised spectral clustering (Ng, Jordan and Weiss): the leading eigenvectors of
 * D^-1/2 A D^-1/2, each row of them scaled to length 1, then k-means.
 *
 * What the graph itself says is taken from the graph.  Its connected components are found first,
 * and eigenvectors are computed component by component, so that an eigenvalue 1 of any
 * multiplicity is exact.
 *   - As many components as clusters: they are the clusters.
 *   - More: those smaller than a tenth of the mean cluster are strays (below), as long as others
 *     remain; if still too many, the largest come first and each joins the smallest cluster.
 *   - A point without affinity to any other, and every stray, goes to the largest cluster, where
 *     it does least harm.  Of fewer connected points than clusters each is its own cluster, and the
 *     unconnected ones take the other labels in turn.
 */
#include "solver/affinity/spectral.h"
#include "solver/affinity/spectral_graph.h"
#include <math.h>
#include <string.h>

/* ---- from the components to the embedding -------------------------------------------------- */

/* The eigenpairs of one component, and how many of them have been taken. */
typedef struct spectrum {
    size_t first, count, pairs, taken;
    double *values, *vectors;
} spectrum;

static clo_status component_spectrum(const clo_solver_input *job, const clo_graph *graph,
                                     size_t component, uint64_t ask, size_t most, spectrum *out,
                                     clo_error *err)
{
    clo_stream *stream = NULL;
    out->first = graph->first[component];
    out->count = graph->first[component + 1] - out->first;
    out->pairs = out->count < most ? out->count : most;
    const clo_graph_part part = { .affinity = graph->affinity,
                                  .points = graph->points + out->first,
                                  .count = out->count,
                                  .scale = graph->scale };
    const double all = (double)graph->connected;
    const clo_solver_input share =
        clo_i_job_part(job, (double)out->first / all, (double)(out->first + out->count) / all);
    CLO_TRY(clo_i_alloc(out->pairs, sizeof(double), &out->values, err));
    CLO_TRY(clo_i_alloc(out->count * out->pairs, sizeof(double), &out->vectors, err));
    CLO_TRY(clo_i_stream_open(job->rng, ask, component, &stream, err));
    const clo_status status = clo_i_graph_eigen(&share, &part, out->pairs, CLO_EIGEN_AUTO, stream,
                                                out->values, out->vectors, err);
    clo_i_stream_close(stream);
    return status;
}

/* The k largest eigenvalues of all components, and the rows of their vectors at length 1. */
static void embed(spectrum *spectra, size_t components, size_t k, size_t rows, double *embedding)
{
    for (size_t column = 0; column < k; column++) {
        spectrum *next = NULL;
        for (size_t c = 0; c < components; c++) {
            spectrum *const s = &spectra[c];
            if (s->taken < s->pairs && (!next || s->values[s->taken] > next->values[next->taken]))
                next = s;
        }
        for (size_t i = 0; next && i < next->count; i++)
            embedding[(next->first + i) * k + column] =
                next->vectors[i * next->pairs + next->taken];
        if (next) next->taken++;
    }
    for (size_t i = 0; i < rows; i++) {
        double square = 0;
        for (size_t j = 0; j < k; j++) square += embedding[i * k + j] * embedding[i * k + j];
        const double scale = square > 0 ? 1 / sqrt(square) : 0;
        for (size_t j = 0; j < k; j++) embedding[i * k + j] *= scale;
    }
}

static clo_status make_embedding(const clo_solver_input *job, const clo_graph *graph, size_t k,
                                 double *embedding, clo_error *err)
{
    const size_t components = graph->components, most = k - components + 1;
    const uint64_t ask = clo_i_rng_next_ask(job->rng);
    spectrum *spectra = NULL;
    clo_status status = clo_i_alloc(components, sizeof *spectra, &spectra, err);
    for (size_t c = 0; c < components && !status; c++) {
        status = component_spectrum(job, graph, c, ask, most, &spectra[c], err);
        if (!status)
            status = clo_i_job_progress(job, (double)graph->first[c + 1] / (double)graph->connected,
                                        err);
    }
    if (!status) embed(spectra, components, k, graph->connected, embedding);
    for (size_t c = 0; spectra && c < components; c++) {
        clo_i_free(spectra[c].values);
        clo_i_free(spectra[c].vectors);
    }
    clo_i_free(spectra);
    return status;
}

/* ---- from the embedding to labels ---------------------------------------------------------- */

static clo_status label_connected(const clo_solver_input *job, const clo_graph *graph,
                                  const clo_spectral_options *options, uint32_t *found,
                                  clo_error *err)
{
    const size_t k = options->clusters;
    clo_kmeans_options kmeans = clo_i_kmeans_default(k);
    double *embedding = NULL, *centers = NULL, cost = 0;
    clo_solver_input part = clo_i_job_part(job, 0, 0.7);
    size_t cells = 0;
    kmeans.restarts = options->restarts;
    if (!clo_i_multiply(graph->connected, k, &cells))
        return clo_i_fail(err, CLO_MEMORY, "there is not enough memory for so many points");
    clo_status status = clo_i_alloc(cells, sizeof *embedding, &embedding, err);
    if (!status) status = clo_i_alloc(k * k, sizeof *centers, &centers, err);
    if (!status) status = make_embedding(&part, graph, k, embedding, err);
    if (!status) {
        part = clo_i_job_part(job, 0.7, 1);
        part.rows = embedding;
        part.count = graph->connected;
        part.cols = k;
        status = clo_i_kmeans(&part, &kmeans, centers, found, &cost, err);
    }
    clo_i_free(embedding);
    clo_i_free(centers);
    return status;
}

/* The components are in falling order of size: each joins what is smallest so far. */
static clo_status label_components(const clo_graph *graph, size_t k, uint32_t *found,
                                   clo_error *err)
{
    size_t *sizes = NULL;
    CLO_TRY(clo_i_alloc(k, sizeof *sizes, &sizes, err));
    for (size_t c = 0; c < graph->components; c++) {
        size_t smallest = 0;
        for (size_t l = 1; l < k; l++)
            if (sizes[l] < sizes[smallest]) smallest = l;
        sizes[smallest] += graph->first[c + 1] - graph->first[c];
        for (size_t i = graph->first[c]; i < graph->first[c + 1]; i++)
            found[i] = (uint32_t)smallest;
    }
    clo_i_free(sizes);
    return CLO_OK;
}

/* The label for the points that are not connected. */
static uint32_t largest_cluster(const uint32_t *found, size_t count, size_t k)
{
    size_t sizes[CLO_SOLVER_CLUSTERS] = { 0 }, largest = 0;
    for (size_t i = 0; i < count; i++) sizes[found[i]]++;
    for (size_t c = 1; c < k; c++)
        if (sizes[c] > sizes[largest]) largest = c;
    return (uint32_t)largest;
}

static clo_status label_graph(const clo_solver_input *job, const clo_graph *graph,
                              const clo_spectral_options *options, uint32_t *labels, clo_error *err)
{
    const size_t k = options->clusters, m = graph->connected, n = graph->affinity->count;
    uint32_t *found = NULL;
    clo_status status = CLO_OK;
    CLO_TRY(clo_i_alloc(n, sizeof *found, &found, err));
    if (m <= k)
        for (size_t i = 0; i < m; i++) found[i] = (uint32_t)i;
    else if (graph->components >= k)
        status = label_components(graph, k, found, err);
    else
        status = label_connected(job, graph, options, found, err);
    if (!status) {
        const uint32_t rest = largest_cluster(found, m, k);
        for (size_t i = m; i < n; i++) found[i] = m < k ? (uint32_t)(m + (i - m) % (k - m)) : rest;
        for (size_t i = 0; i < n; i++) labels[graph->points[i]] = found[i];
    }
    clo_i_free(found);
    return status;
}

clo_status clo_i_spectral(const clo_solver_input *job, const clo_affinity *affinity,
                          const clo_spectral_options *options, uint32_t *labels, clo_error *err)
{
    const size_t k = options->clusters;
    clo_graph graph = { 0 };
    CLO_TRY(clo_i_check_clusters(k, CLO_SOLVER_CLUSTERS, err));
    if (affinity->count < k)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "there are %zu rows, fewer than the %zu clusters to find",
                          affinity->count, k);
    CLO_TRY(clo_i_graph_new(affinity, k, &graph, err));
    clo_status status = label_graph(job, &graph, options, labels, err);
    clo_i_graph_free(&graph);
    return status;
}

/* ---- the solver ---------------------------------------------------------------------------- */

enum { CLUSTERS, RESTARTS, PARAM_COUNT };

static const clo_param params[PARAM_COUNT] = {
    [CLUSTERS] = CLO_SOLVER_ROW_CLUSTERS_OR_GAP,
    [RESTARTS] = CLO_SOLVER_ROW_RESTARTS(10),
};

static clo_status check_affinity(const clo_solver_input *job, clo_error *err)
{
    const size_t n = job->count;
    double largest = 0;
    if (job->cols != n)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "an affinity must have as many columns as rows, not %zu and %zu",
                          job->cols, n);
    for (size_t at = 0; at < n * n; at++) {
        if (!(job->rows[at] >= 0))
            return clo_i_fail(err, CLO_ARGUMENT,
                              "an affinity must not be negative; row %zu holds a negative entry",
                              at / n + 1);
        largest = fmax(largest, job->rows[at]);
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            if (!(fabs(job->rows[i * n + j] - job->rows[j * n + i]) <= 1e-9 * largest))
                return clo_i_fail(err, CLO_ARGUMENT,
                                  "an affinity must be symmetric; rows %zu and %zu are not", i + 1,
                                  j + 1);
    return CLO_OK;
}

static clo_status solve(const clo_solver_input *job, const double *values, clo_partition *out,
                        clo_error *err)
{
    clo_spectral_options options = { .clusters = (size_t)values[CLUSTERS],
                                     .restarts = (size_t)values[RESTARTS] };
    /* Read only: nothing in here writes through it. */
    const clo_affinity affinity = { .count = job->count, .dense = (double *)(uintptr_t)job->rows };
    clo_partition made = { 0 };
    CLO_TRY(check_affinity(job, err));
    if (options.clusters == 0)
        CLO_TRY(clo_i_spectral_count(job, &affinity, &options.clusters, err));
    CLO_TRY(clo_i_partition_new(job->count, options.clusters, 0, 0, false, &made, err));
    clo_status status = clo_i_spectral(job, &affinity, &options, made.labels, err);
    if (!status)
        status = clo_i_normalised_cut(&affinity, made.labels, options.clusters, &made.cost, err);
    if (status)
        clo_i_partition_free(&made);
    else
        *out = made;
    return status;
}

const clo_solver clo_i_solver_spectral = {
    .name = "spectral",
    .summary = "spectral clustering of an affinity matrix that you give",
    .params = params,
    .param_count = PARAM_COUNT,
    .affinity = true,
    .solve = solve,
};
