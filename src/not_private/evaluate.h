/*
 * evaluate.h (internal) - a release, a solution and a truth all become flats (measure.h): k points,
 * or k subspaces, each through a point of its own.
 */
#ifndef CLO_EVALUATE_INTERNAL_H
#define CLO_EVALUATE_INTERNAL_H

#include "measure/measure.h"
#include <cloister/evaluate.h>

/* What rows are compared with; the memory is its own. */
typedef struct clo_target {
    const char *what; /* for messages: "release" or "solution" */
    clo_flats flats;  /* count 0: there is none */
    clo_flats raw;    /* in the data's own units, once flats are on a scale (scale.h) */
    double *bases, *offsets;
    double *scaled_bases, *scaled_offsets;
    bool one;         /* a single subspace, whose truth goes through its own point */
    bool by_distance; /* of k-median: distances count, not their squares */
    double sum;       /* of squared distances, or of distances */
    double raw_sum;   /* the same in the data's own units */
} clo_target;

void clo_i_target_free(clo_target *target);
CLO_CHECK clo_status clo_i_target_of_release(const clo_release *release, clo_target *out,
                                             clo_error *err);
CLO_CHECK clo_status clo_i_target_of_solution(const clo_solution *solution, clo_target *out,
                                              clo_error *err);
/* How many columns of a basis there are before those at the end that are zero; at least 1. */
size_t clo_i_own_dim(const double *basis, size_t d, size_t width);
/* The truth in the form that the result has. */
CLO_CHECK clo_status clo_i_target_of_truth(const clo_target *result, clo_matrix truth,
                                           clo_matrix offsets, clo_target *out, clo_error *err);
/* How far the two are apart: as distance and largest_angle of clo_evaluation. */
CLO_CHECK clo_status clo_i_flats_apart(const clo_flats *a, const clo_flats *b, double *distance,
                                       double *largest_angle, clo_error *err);

/* Whether these rows are sparse, and compared with centres: then they need not be written out. */
bool clo_i_is_sparse_work(const clo_flats *flats, const clo_table *table);
/* As clo_i_flat_distances, for the table's rows from `first` on, each entry divided by its column's
 * scale, where there is one. */
CLO_CHECK clo_status clo_i_sparse_distances(const clo_flats *flats, const clo_table *table,
                                            const double *scale, size_t first, size_t count,
                                            double *squared, uint32_t *nearest, clo_error *err);

#endif
