/*
 * spectral_count.c - how many clusters an affinity has: where its eigenvalues fall most.
 *
 * With k clusters that have nothing to do with each other, D^-1/2 A D^-1/2 has the eigenvalue 1 k
 * times, and what is next is less than 1 by how well the clusters hang together (von Luxburg 2007,
 * section 8.3).  Affinities of data come near it.  The steps between eigenvalues are compared as
 * shares of how far from 1 they are: clusters that are large or loose have long steps of their own
 * further down, which their difference would take for the gap.  Components that are too small to be
 * a cluster do not count.  One cluster is no answer: its step is always the longest.
 *
 * It is a guess.  On subspaces drawn at random, and on motions by tsc and ssc, it is right as a
 * rule; on faces it is up to two off, on objects that turn (COIL-20) of no use.
 */
#include "solver/affinity/spectral.h"
#include "solver/affinity/spectral_graph.h"
#include <math.h>
#include <string.h>

/* Keeps the `room` largest, falling. */
static void insert(double *values, size_t room, double value)
{
    if (!(value > values[room - 1])) return;
    size_t at = room - 1;
    for (; at > 0 && values[at - 1] < value; at--) values[at] = values[at - 1];
    values[at] = value;
}

static clo_status add_component(const clo_solver_input *job, const clo_graph *graph,
                                size_t component, uint64_t ask, size_t room, double *values,
                                clo_error *err)
{
    const size_t first = graph->first[component], count = graph->first[component + 1] - first;
    const size_t pairs = count < room ? count : room;
    const clo_graph_part part = { .affinity = graph->affinity,
                                  .points = graph->points + first,
                                  .count = count,
                                  .scale = graph->scale };
    double *found = NULL, *vectors = NULL;
    clo_stream *stream = NULL;
    clo_status status = clo_i_alloc(pairs, sizeof *found, &found, err);
    if (!status) status = clo_i_alloc(count * pairs, sizeof *vectors, &vectors, err);
    if (!status) status = clo_i_stream_open(job->rng, ask, component, &stream, err);
    if (!status)
        status = clo_i_graph_eigen(job, &part, pairs, CLO_EIGEN_AUTO, stream, found, vectors, err);
    clo_i_stream_close(stream);
    for (size_t i = 0; i < pairs && !status; i++) insert(values, room, found[i]);
    clo_i_free(found);
    clo_i_free(vectors);
    return status;
}

/* How many times farther from 1 the next eigenvalue is than the k-th.  What is nearer to 1 than the
 * floor counts as being there. */
static double step(const double *values, size_t k)
{
    static const double FLOOR = 1e-3;
    return (1 - values[k] + FLOOR) / (1 - values[k - 1] + FLOOR);
}

static size_t largest_step(const double *values, size_t most)
{
    size_t best = most < 2 ? most : 2;
    for (size_t k = 3; k <= most; k++)
        if (step(values, k) > step(values, best)) best = k;
    return best;
}

clo_status clo_i_spectral_count(const clo_solver_input *job, const clo_affinity *affinity,
                                size_t *clusters, clo_error *err)
{
    const size_t n = affinity->count;
    const size_t most = n > CLO_SPECTRAL_MOST ? CLO_SPECTRAL_MOST : n > 1 ? n - 1 : 1;
    double values[CLO_SPECTRAL_MOST + 1];
    clo_graph graph = { 0 };
    CLO_TRY(clo_i_graph_new(affinity, most, &graph, err));
    const uint64_t ask = clo_i_rng_next_ask(job->rng);
    clo_status status = CLO_OK;
    for (size_t i = 0; i <= CLO_SPECTRAL_MOST; i++) values[i] = -1;
    for (size_t c = 0; c < graph.components && !status; c++)
        status = add_component(job, &graph, c, ask, most + 1, values, err);
    /* More components than are looked for: each is a cluster, as far as the solvers go. */
    const size_t whole =
        graph.components < CLO_SOLVER_CLUSTERS ? graph.components : CLO_SOLVER_CLUSTERS;
    if (!status) *clusters = graph.components > most ? whole : largest_step(values, most);
    clo_i_graph_free(&graph);
    return status;
}
