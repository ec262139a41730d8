/*
 * evaluate.h - how good a release or a solution is on the operator's own data.  What comes out of
 * here is NOT private: it is for the operator's eyes, and no release holds it.
 */
#ifndef CLOISTER_EVALUATE_H
#define CLOISTER_EVALUATE_H

#include <cloister/data.h>
#include <cloister/release.h>
#include <cloister/solve.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What was measured; NaN where there was nothing to measure by.  Rows belong to the nearest centre
 * or flat of the result, as clo_assign_rows says.  Distances and costs are in its coordinates: with
 * column bounds each column in units of half its width.  The raw ones are in the data's own units,
 * of the same rows in the same places; without column bounds both are the same.  The caller sets
 * struct_size to sizeof(clo_evaluation), and no more than that is written. */
typedef struct clo_evaluation {
    size_t struct_size;
    double cost;       /* mean squared distance of the rows to the result; of k-median the mean
                          distance */
    double truth_cost; /* the same for the truth */
    double distance;   /* from the truth, under the best matching: the root mean square distance of
                          centres; of subspaces the root of the summed squares of ||sin Theta||_F,
                          to which dimensions that differ by m add m / 2 */
    double accuracy;   /* the share of rows in the right cluster, under the best matching */
    double nmi;        /* normalised mutual information (by the arithmetic mean of the entropies) */
    double ari;        /* adjusted Rand index */
    double largest_angle; /* between two matched subspaces, in radians */
    bool by_distance;     /* the costs are mean distances: of k-median */
    bool scaled;          /* the result has column bounds */
    double raw_cost, raw_truth_cost, raw_distance;
    size_t rows;          /* that were measured */
    size_t rows_left_out; /* those with a missing cell, which a run counts for nothing */
    double captured;      /* of subspaces: the share of the rows' variance that lies in them, on the
                        scale; about the rows' mean where they are affine, about the origin of the
                        scale where they go through it.  NaN: of centres, and of sparse rows */
} clo_evaluation;

/* What a result is compared with. */
typedef struct clo_evaluate_options {
    size_t struct_size;
    clo_matrix truth;         /* k x d centres; the d x q basis of one subspace; or the bases of k
                                 subspaces on top of each other, k d x q, where one of a lower
                                 dimension ends in columns of zeros.  rows 0: none */
    clo_matrix truth_offsets; /* k x d, a point of each of k true subspaces; rows 0: the origin */
    const uint32_t *truth_labels; /* the true cluster of each row of the table; NULL: not known */
    size_t truth_clusters;  /* how many there are: rows whose true label is not below are outliers
                               and in no score; 0: as many as the result has */
    const uint32_t *labels; /* the cluster that each row was put in, or CLO_NO_CLUSTER (assign.h);
                               NULL: the solution's own, where it has them for as many rows, or else
                               the nearest */
} clo_evaluate_options;

/* The presets; see "Structs that may grow" in cloister.h. */
CLO_API void clo_evaluate_options_init(clo_evaluate_options *options, size_t size);
static inline clo_evaluate_options clo_evaluate_options_default(void)
{
    clo_evaluate_options options;
    clo_evaluate_options_init(&options, sizeof options);
    return options;
}

/* Columns are found by name, as in clo_assign_rows.  Rows with a missing cell are left out, with
 * their labels, unless the table was read with CLO_MISSING_FILL; options may be NULL.  CLO_ARGUMENT
 * where table, truth or labels do not fit the result, CLO_UNSUPPORTED where there is nothing to
 * measure rows by. */
CLO_API CLO_CHECK clo_status clo_evaluate_release(const clo_release *release,
                                                  const clo_table *table,
                                                  const clo_evaluate_options *options,
                                                  clo_evaluation *out, clo_error *err);
CLO_API CLO_CHECK clo_status clo_evaluate_solution(const clo_solution *solution,
                                                   const clo_table *table,
                                                   const clo_evaluate_options *options,
                                                   clo_evaluation *out, clo_error *err);
/* A release and nothing but a truth, as in the options. */
CLO_API CLO_CHECK clo_status clo_evaluate(const clo_release *release, const clo_table *table,
                                          clo_matrix truth, clo_evaluation *out, clo_error *err);
/* Whether this file is a solution in JSON, and not a release or something else; false too where it
 * cannot be read, or is standard input. */
CLO_API bool clo_is_solution(const char *path);

#ifdef __cplusplus
}
#endif
#endif
