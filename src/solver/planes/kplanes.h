/*
 * kplanes.h - what the files of k-planes share.
 *
 * A search has the data; a start is k flats and their cost, all that is kept of it between its
 * turns; a worker takes a start through some steps and has the room for that.  Either several
 * workers with one thread each work at different starts, or one worker uses all threads for one
 * start.  Which of the two changes no result: rows are scored in blocks, moments are summed in
 * cells, and both are cut by the size of the task alone.
 */
#ifndef CLO_KPLANES_H
#define CLO_KPLANES_H

#include "solver/planes/flats.h"

typedef struct clo_search {
    const clo_solver_input *job;
    size_t clusters;
    size_t *dims;   /* of each flat */
    size_t *firsts; /* clusters + 1: where the directions of each begin in a stack */
    bool affine;
    size_t stack_rows; /* directions of all flats; affine: then a point of each */
    double *shift;     /* cols: the mean of all rows, which affine work is done about; or NULL */
    double *norms;     /* count: squared lengths, less the shift */
    size_t height;     /* rows of a block */
    size_t slices; /* cells a cluster; 0: no moments are kept, each flat is fitted to its rows */
    size_t iterations;
    uint64_t ask; /* of the random generator */
} clo_search;

/* How a start is made. */
typedef enum clo_start_kind {
    CLO_START_LIKELY, /* rows drawn by their distance to the flats so far, and what is near them */
    CLO_START_FURTHEST, /* the furthest rows, and what is near them */
    CLO_START_RANDOM,   /* random directions */
    CLO_START_LABELS,   /* given labels */
    CLO_START_FLATS     /* given flats: its stack is filled already */
} clo_start_kind;

typedef struct clo_start {
    clo_start_kind kind;
    uint64_t stream;        /* its random numbers */
    const uint32_t *labels; /* of CLO_START_LABELS */
    double *stack;          /* stack_rows x cols */
    double cost;            /* the sum over all rows; infinite before the first step */
    size_t steps;
    bool seeded, converged;
} clo_start;

/* What one thread works in. */
typedef struct clo_lane {
    double *block;   /* height x cols */
    double *scores;  /* stack_rows x height */
    double *moment;  /* cols x cols */
    double *values;  /* cols */
    double *vectors; /* cols x the widest flat, twice */
    double *eigen;
} clo_lane;

typedef struct clo_worker {
    const clo_search *search;
    int threads;
    clo_lane *lanes;
    clo_start *start;       /* at work */
    uint32_t *labels;       /* count; CLO_SOLVER_CLUSTERS: none yet */
    uint32_t *next;         /* count */
    uint32_t *moved;        /* count: rows whose label changed */
    clo_members members;    /* of moved rows, by the old or the new label */
    double *squared;        /* count: to the nearest flat */
    double *likeness;       /* count: of seeding */
    double *block_costs;    /* a block each */
    double *offset_squares; /* clusters */
    double *cells;          /* clusters x slices: a second moment's upper triangle */
    double *sums;           /* clusters x slices x cols */
    size_t *sizes;          /* clusters */
    bool *stale;            /* clusters: not the best flat for its rows */
} clo_worker;

CLO_CHECK clo_status clo_i_worker_new(const clo_search *search, int threads, clo_worker *out,
                                      clo_error *err);
void clo_i_worker_free(clo_worker *worker);
size_t clo_i_worker_bytes(const clo_search *search, int threads);

/* Of the calling thread. */
clo_lane *clo_i_lane(const clo_worker *worker);

/* The nearest flat of each row into next; the sum of the squared distances.  Offsets' squares are
 * made anew. */
double clo_i_assign(clo_worker *worker);
/* Makes the flats of the start (kplanes_seed.c). */
CLO_CHECK clo_status clo_i_seed(clo_worker *worker, clo_error *err);
/* Takes a start on, until it has done `most` steps or can get no better. */
CLO_CHECK clo_status clo_i_advance(clo_worker *worker, clo_start *start, size_t most,
                                   bool (*go_on)(void *), void *user, clo_error *err);

/* The best flats for the moments as they are (kplanes_fit.c). */
void clo_i_count_moved(clo_worker *worker, size_t moved, bool afresh);
CLO_CHECK clo_status clo_i_improve(clo_worker *worker, bool exactly, clo_error *err);
/* Puts a flat into the stack: directions (dim x cols) and, where affine, a point (unshifted). */
void clo_i_set_flat(const clo_search *search, double *stack, size_t cluster,
                    const double *directions, const double *offset);
/* Turns the rows of a count x cols matrix into orthonormal ones; those that vanish are replaced. */
void clo_i_orthonormal_rows(double *rows, size_t count, size_t cols);

/* A whole search at the dimensions of the shape, none of which is 0 (kplanes.c). */
CLO_CHECK clo_status clo_i_search_flats(const clo_solver_input *job,
                                        const clo_kplanes_options *options, clo_partition *out,
                                        clo_error *err);
/* One where some are 0 (kplanes_dim.c). */
CLO_CHECK clo_status clo_i_search_dims(const clo_solver_input *job,
                                       const clo_kplanes_options *options, clo_partition *out,
                                       clo_error *err);

/* One dimension for all flats. */
typedef struct clo_common_dim {
    clo_dim_choice choice; /* dim 0: none yet */
    double left;           /* the share of the energy beyond CLO_MOST_DIMS */
} clo_common_dim;

/* Says a more than b?  A plain gap does, then the larger one; without, what leaves less. */
bool clo_i_plainer(const clo_common_dim *a, const clo_common_dim *b);
/* What random starts cost at each dimension, 1 to `last`; the first is costs[1]. */
typedef struct clo_dim_costs {
    size_t last;
    double costs[CLO_MOST_DIMS + 1];
} clo_dim_costs;

/* From random starts at each dimension. */
CLO_CHECK clo_status clo_i_common_dim_of(const clo_solver_input *job,
                                         const clo_kplanes_options *options, clo_common_dim *out,
                                         clo_dim_costs *costs, clo_error *err);
/* Takes one dimension more, and again, where that leaves but a small part of what was left. */
void clo_i_widen_dim(const clo_dim_costs *costs, clo_common_dim *common);
/* The same for clusters that are known. */
CLO_CHECK clo_status clo_i_dim_of_labels(const clo_solver_input *job,
                                         const clo_kplanes_options *options, const uint32_t *labels,
                                         clo_common_dim *out, clo_error *err);
/* Each cluster of those labels gets the dimension that it has by its eigenvalues (where the shape
 * says 0), or the common one, and a search from there ends it. */
CLO_CHECK clo_status clo_i_settle_dims(const clo_solver_input *job,
                                       const clo_kplanes_options *options, const uint32_t *labels,
                                       const clo_common_dim *common, clo_partition *out,
                                       clo_error *err);

#endif
