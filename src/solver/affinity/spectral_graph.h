/*
 * spectral_graph.h - an affinity as a graph: degrees, connected components, cuts.
 */
#ifndef CLO_SPECTRAL_GRAPH_H
#define CLO_SPECTRAL_GRAPH_H

#include "solver/solver.h"

typedef struct clo_graph {
    const clo_affinity *affinity;
    double *scale;     /* count: 1 / sqrt(degree), 0 where there is none; without the diagonal */
    uint32_t *points;  /* count: component by component, then the unconnected and the strays */
    size_t *first;     /* components + 1: where each begins in points, in falling order of size */
    size_t components; /* without the unconnected and the strays */
    size_t connected;  /* first[components] */
} clo_graph;

/* clusters: how many are looked for, which says what a stray is. */
CLO_CHECK clo_status clo_i_graph_new(const clo_affinity *affinity, size_t clusters, clo_graph *out,
                                     clo_error *err);
void clo_i_graph_free(clo_graph *graph);

/* The sum over the clusters of what leaves it, as a share of what its points have in all. */
CLO_CHECK clo_status clo_i_normalised_cut(const clo_affinity *affinity, const uint32_t *labels,
                                          size_t clusters, double *cut, clo_error *err);

#endif
