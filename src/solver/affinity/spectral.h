/*
 * spectral.h - what the files of spectral clustering share: the graph's parts, and their
 * eigenvectors.
 */
#ifndef CLO_SPECTRAL_H
#define CLO_SPECTRAL_H

#include "solver/solver.h"

/* Some of the points of an affinity, all connected with each other. */
typedef struct clo_graph_part {
    const clo_affinity *affinity;
    const uint32_t *points; /* increasing */
    size_t count;
    const double *scale; /* of all points of the affinity: 1 / sqrt(degree) */
} clo_graph_part;

typedef enum clo_eigen_method {
    CLO_EIGEN_AUTO = 0,
    CLO_EIGEN_LAPACK,
    CLO_EIGEN_LANCZOS
} clo_eigen_method;

/* The q largest eigenvalues of D^-1/2 A D^-1/2 without its diagonal, largest first, and their
 * vectors as the columns of `vectors`, count x q.  1 <= q <= count.  The stream starts Lanczos; of
 * the job, only threads and progress are used. */
CLO_CHECK clo_status clo_i_graph_eigen(const clo_solver_input *job, const clo_graph_part *part,
                                       size_t q, clo_eigen_method method, clo_stream *stream,
                                       double *values, double *vectors, clo_error *err);

#endif
