/*
 * kmeans.h - what the files of k-means share: the points as every start sees them, and the run from
 * one start.
 *
 * Distances come from matrix products, |x|^2 - 2 x.c + |c|^2, which cancel badly where the data lie
 * far from the origin.  So centres are held less the data's mean, c' = c - m, and rows are read as
 * they are: |x - c|^2 = |x - m|^2 - 2 (x.c' - bias) with bias = m.c' + |c'|^2 / 2.  That needs no
 * copy of the data.
 *
 * The rows are cut into slices, as many as their number asks for and not the threads', and each
 * slice keeps its own sums: so the answer is the same on any number of threads.
 */
#ifndef CLO_KMEANS_H
#define CLO_KMEANS_H

#include "solver/solver.h"

enum {
    CLO_KMEANS_BLOCK = 256, /* rows of one matrix product */
    CLO_KMEANS_SLICES = 32, /* at most */
};

#define CLO_KMEANS_NONE UINT32_MAX /* the label of a row that has none yet */

/* The data, and what is computed of them once. */
typedef struct clo_points {
    const double *rows; /* count x cols */
    size_t count, cols;
    const double *weights; /* NULL: all 1 */
    double *mean;          /* cols */
    double *norms;         /* count: |x - mean|^2 */
    double variance;       /* the mean of the columns' variances */
    double total;          /* of the weights */
    size_t slices;
} clo_points;

/* Checks the weights too.  clo_i_points_free gives back what was made, made or not. */
CLO_CHECK clo_status clo_i_points_new(const clo_solver_input *job, const double *weights,
                                      size_t clusters, clo_points *out, clo_error *err);
void clo_i_points_free(clo_points *points);

static inline size_t clo_i_slice_begin(const clo_points *points, size_t slice)
{
    return (size_t)((unsigned __int128)points->count * slice / points->slices);
}

static inline double clo_i_point_weight(const clo_points *points, size_t row)
{
    return points->weights ? points->weights[row] : 1.0;
}

/* Chooses rows to start from: greedy k-means++ (power 2), or the same by plain distances (power 1).
 * The threads share the slices. */
CLO_CHECK clo_status clo_i_seed_rows(const clo_points *points, size_t clusters, int power,
                                     clo_stream *stream, int threads, size_t *chosen,
                                     clo_error *err);

/* What one thread needs to score a block of rows. */
typedef struct clo_block {
    double *scores;   /* clusters x CLO_KMEANS_BLOCK: x.c' of each */
    double *gathered; /* rows that do not lie together, as many as there are, or a block of them */
    double best[CLO_KMEANS_BLOCK], second[CLO_KMEANS_BLOCK];
    int64_t winner[CLO_KMEANS_BLOCK];
    size_t queue[CLO_KMEANS_BLOCK]; /* which rows are in the block, where they are gathered */
    size_t queued;
} clo_block;

/* The run from one start. */
typedef struct clo_kmeans_run {
    const clo_points *points;
    size_t clusters;
    clo_kmeans_bounds bounds; /* not AUTO */
    int threads;
    double *centers;   /* clusters x cols, less the mean */
    double *previous;  /* clusters x cols: the centres before the last step */
    double *bias;      /* clusters */
    uint32_t *labels;  /* count */
    double *sums;      /* slices x clusters x (cols + 1): of the rows, and of their weights */
    size_t *members;   /* slices x clusters: rows with a weight above 0 */
    size_t *sizes;     /* clusters: the same over all slices, at the last update */
    double *moves;     /* clusters: how far each went in the last step */
    double *upper;     /* count: at least the distance to the own centre; not of LLOYD */
    double *lower;     /* HAMERLY: count, at most the distance to any other centre; ELKAN: count x
                         clusters, to each */
    double *gaps;      /* ELKAN: clusters x clusters, half the distances of the centres */
    double *nearest;   /* clusters: half the distance to the nearest other centre */
    size_t *changed;   /* slices: rows whose label changed in the last step */
    clo_block *blocks; /* threads */
    uint32_t *order;   /* count: the rows, cluster by cluster (clo_i_kmeans_list) */
    size_t *begins;    /* clusters + 1: where each begins there */
    double *scratch;   /* 2 clusters x cols, for the rule */
    double cost;
} clo_kmeans_run;

/* What tells k-means and k-median apart. */
typedef struct clo_center_rule {
    int power; /* of the distance in the cost */
    /* Moves the centres to where they cost less, sets run->moves; the sum of the squared moves. */
    double (*update)(clo_kmeans_run *run);
    double (*cost)(const clo_kmeans_run *run);
} clo_center_rule;

CLO_CHECK clo_status clo_i_centers(const clo_solver_input *job, const clo_kmeans_options *options,
                                   const clo_center_rule *rule, double *centers, uint32_t *labels,
                                   double *cost, clo_error *err);
/* The same as a solver gives it. */
CLO_CHECK clo_status clo_i_centers_solve(const clo_solver_input *job, clo_kmeans_options options,
                                         const clo_center_rule *rule, clo_partition *out,
                                         clo_error *err);

CLO_CHECK clo_status clo_i_kmeans_run_new(const clo_points *points, size_t clusters,
                                          clo_kmeans_bounds bounds, int threads,
                                          clo_kmeans_run *out, clo_error *err);
void clo_i_kmeans_run_free(clo_kmeans_run *run);
/* Forgets labels, sums and bounds: the next step starts from the centres alone. */
void clo_i_kmeans_begin(clo_kmeans_run *run);
/* Labels every row by its nearest centre, keeps the sums in step; how many labels changed. */
size_t clo_i_kmeans_assign(clo_kmeans_run *run);
/* Gives each empty cluster a row that lies far from its centre, if there is one; run->sizes then
 * says how many rows each has.  The centres as they were are left in run->previous. */
void clo_i_kmeans_repair(clo_kmeans_run *run);
/* How far the centres are from run->previous: run->moves, and the sum of their squares. */
double clo_i_kmeans_measure_moves(clo_kmeans_run *run);
/* Fills run->order and run->begins. */
void clo_i_kmeans_list(clo_kmeans_run *run);
/* Moves the centres to the means of their rows, after the repair; the sum of the squared moves. */
double clo_i_kmeans_update(clo_kmeans_run *run);
/* The squared distance of a row to its own centre, by differences and not by products. */
double clo_i_own_distance(const clo_kmeans_run *run, size_t row);
/* The weighted mean of them. */
double clo_i_kmeans_cost(const clo_kmeans_run *run);

/* The products of `count` rows that lie together, into block->scores. */
void clo_i_block_score(const clo_kmeans_run *run, const double *rows, size_t count,
                       clo_block *block);
/* The largest score x.c' - bias of each, whose it is (ties: the lower index), and the second
 * largest. */
void clo_i_block_best(const clo_kmeans_run *run, size_t count, clo_block *block);
void clo_i_block_best_two(const clo_kmeans_run *run, size_t count, clo_block *block);
/* Gives a row a label and tells the slice's sums. */
void clo_i_relabel(clo_kmeans_run *run, size_t slice, size_t row, uint32_t label);

/* One slice of a step with bounds (kmeans_bounds.c), after what all slices share. */
void clo_i_bounds_prepare(clo_kmeans_run *run);
void clo_i_hamerly_slice(clo_kmeans_run *run, size_t slice, clo_block *block);
void clo_i_elkan_slice(clo_kmeans_run *run, size_t slice, clo_block *block);

#endif
