/*
 * solver.h - ordinary, non-private algorithms.  Plain matrices in, plain results out: nothing here
 * knows of privacy, of tables or of files.
 *
 * A solver is a row of table.def and a file of that name.  Whatever it does, the result is one
 * thing, a partition: k flats and a label a row.  With the same generator a solver gives the same
 * answer on any number of threads: a restart draws from the stream of its own number, and ties
 * go to the lower index.
 */
#ifndef CLO_SOLVER_H
#define CLO_SOLVER_H

#include "base/base.h"
#include "random/random.h"
#include <cloister/solve.h>

enum { CLO_SOLVER_CLUSTERS = 1024 }; /* the most that a solver looks for */

/* What is to be solved, and how to run; borrowed for the length of the call. */
typedef struct clo_solver_input {
    const double *rows; /* count x cols, dense, finite */
    size_t count, cols;
    clo_rng *rng;
    int threads; /* at least 1 */
    bool (*progress)(void *user, double done);
    void *user;
    double progress_from, progress_to; /* what share of the whole is under way */
    const struct clo_partition *start; /* a warm start, for solvers that can; NULL: none */
    const size_t *dims; /* of each flat, where they differ; NULL: as the settings say */
} clo_solver_input;

/* k flats and who is in which.  Zeroed, then filled by a solver; clo_i_partition_free gives its
 * arrays back, filled or not. */
typedef struct clo_partition {
    size_t count, clusters, cols;
    uint32_t *labels; /* count */
    size_t *dims;     /* clusters */
    size_t width;     /* the largest of dims */
    double *bases;   /* clusters x cols x width, orthonormal columns, zero beyond a flat's own; NULL
                         where width is 0 */
    double *offsets; /* clusters x cols: a point of each flat; NULL: through the origin */
    double cost;     /* mean squared distance to the own flat (of k-median: mean distance) */
} clo_partition;

/* Room for everything but what width 0 and linear leave out. */
CLO_CHECK clo_status clo_i_partition_new(size_t count, size_t clusters, size_t cols, size_t width,
                                         bool offsets, clo_partition *out, clo_error *err);
void clo_i_partition_free(clo_partition *partition);

/* Says how far the share under way has come; CLO_CANCELLED where the caller wants no more.  From
 * one thread at a time. */
CLO_CHECK clo_status clo_i_job_progress(const clo_solver_input *job, double done, clo_error *err);
/* The job that does the share from … to of this one. */
clo_solver_input clo_i_job_part(const clo_solver_input *job, double from, double to);

struct clo_solver {
    const char *name;
    const char *summary;
    const clo_param *params;
    size_t param_count;
    bool affinity; /* takes the affinity of the rows in place of the rows */
    bool warm;     /* can use job->start */
    bool unequal;  /* can use job->dims */
    clo_status (*solve)(const clo_solver_input *job, const double *values, clo_partition *out,
                        clo_error *err);
};

#define SOLVER(name) extern const clo_solver clo_i_solver_##name;
#include "solver/table.def"
#undef SOLVER

/* Rows that several solvers share, so that the same word means the same everywhere. */
#define CLO_SOLVER_ROW_CLUSTERS                                                                    \
    {                                                                                              \
        "clusters", CLO_PARAM_INT, 1, CLO_SOLVER_CLUSTERS, 8, NULL, "how many clusters to find"    \
    }
/* Of a solver that makes an affinity. */
#define CLO_SOLVER_ROW_CLUSTERS_OR_GAP                                                             \
    {                                                                                              \
        "clusters", CLO_PARAM_INT, 0, CLO_SOLVER_CLUSTERS, 8, NULL,                                \
            "how many clusters to find; 0 or auto: a guess, by the largest gap of the affinity's " \
            "eigenvalues, 20 at most"                                                              \
    }
#define CLO_SOLVER_ROW_DIM                                                                         \
    {                                                                                              \
        "dim", CLO_PARAM_INT, 0, 65536, 0, NULL,                                                   \
            "the dimension of each subspace; 0: by the eigenvalues"                                \
    }
#define CLO_SOLVER_ROW_FLATS                                                                       \
    {                                                                                              \
        "flats", CLO_PARAM_CHOICE, 0, 1, 0, "linear|affine",                                       \
            "linear: through the origin; affine: anywhere"                                         \
    }
#define CLO_SOLVER_ROW_RESTARTS(preset)                                                            \
    {                                                                                              \
        "restarts", CLO_PARAM_INT, 1, 1e6, (preset), NULL,                                         \
            "how many starts to try; the best answer is kept"                                      \
    }
#define CLO_SOLVER_ROW_ITERATIONS(preset)                                                          \
    {                                                                                              \
        "iterations", CLO_PARAM_INT, 1, 1e6, (preset), NULL, "the most steps from one start"       \
    }

/* ---- flats (flats_fit.c) ----------------------------------------------------------------- */

/* Which subspaces to fit. */
typedef struct clo_flat_shape {
    size_t clusters;
    size_t dim;         /* 0: by the eigenvalues, each its own */
    const size_t *dims; /* of each, or NULL */
    bool affine;
} clo_flat_shape;

/* The best flats for given labels (the top eigenvectors of each cluster's second moment, about its
 * mean where affine), and their cost.  A cluster without rows gets the flat of the rows least
 * explained.  out is made here; its labels are a copy of the given ones. */
CLO_CHECK clo_status clo_i_fit_flats(const clo_solver_input *job, const uint32_t *labels,
                                     const clo_flat_shape *shape, clo_partition *out,
                                     clo_error *err);

/* ---- k-planes (kplanes.c) ---------------------------------------------------------------- */

typedef struct clo_kplanes_options {
    clo_flat_shape shape;
    size_t restarts, iterations;
    const uint32_t *start_labels; /* a further start from these labels; NULL: none */
} clo_kplanes_options;

CLO_CHECK clo_status clo_i_kplanes(const clo_solver_input *job, const clo_kplanes_options *options,
                                   clo_partition *out, clo_error *err);

/* ---- centres (kmeans.c, kmedian.c) -------------------------------------------------------- */

typedef enum clo_kmeans_bounds {
    CLO_KMEANS_AUTO = 0,
    CLO_KMEANS_LLOYD,
    CLO_KMEANS_HAMERLY,
    CLO_KMEANS_ELKAN
} clo_kmeans_bounds;

typedef struct clo_kmeans_options {
    size_t clusters, restarts, iterations;
    double tolerance; /* stop when the centres' summed squared move is below this share of the
                         data's mean variance */
    clo_kmeans_bounds bounds;
    const double *weights; /* of the rows, not negative; NULL: all 1 */
    const double *start;   /* clusters x cols, one further start; NULL: none */
} clo_kmeans_options;

clo_kmeans_options clo_i_kmeans_default(size_t clusters);
/* centers: clusters x cols; labels: a row each; cost: weighted mean squared distance.  All three
 * are the caller's memory. */
CLO_CHECK clo_status clo_i_kmeans(const clo_solver_input *job, const clo_kmeans_options *options,
                                  double *centers, uint32_t *labels, double *cost, clo_error *err);
/* The same of medians; cost: weighted mean distance. */
CLO_CHECK clo_status clo_i_kmedian(const clo_solver_input *job, const clo_kmeans_options *options,
                                   double *centers, uint32_t *labels, double *cost, clo_error *err);

/* ---- affinities (affinity.c, spectral.c) -------------------------------------------------- */

/* A symmetric matrix without negative entries, dense or in compressed rows (both triangles). */
typedef struct clo_affinity {
    size_t count;
    double *dense;     /* count x count, or NULL */
    size_t *starts;    /* count + 1 */
    uint32_t *columns; /* increasing within a row */
    double *weights;
} clo_affinity;

void clo_i_affinity_free(clo_affinity *affinity);
/* |C| + |C|' from compressed rows of coefficients, of which row i expresses point i by the others,
 * each row first divided by its largest entry; borrows them. */
CLO_CHECK clo_status clo_i_affinity_from_sparse(const size_t *starts, const uint32_t *columns,
                                                const double *coefficients, size_t count,
                                                clo_affinity *out, clo_error *err);

/* Z + Z' from compressed rows of weights that are not negative, in any order within a row and none
 * twice; borrows them.  Zeros are left out. */
CLO_CHECK clo_status clo_i_affinity_symmetric(const size_t *starts, const uint32_t *columns,
                                              const double *weights, size_t count,
                                              clo_affinity *out, clo_error *err);

typedef struct clo_spectral_options {
    size_t clusters;
    size_t restarts; /* of the k-means that ends it */
} clo_spectral_options;

/* Normalised spectral clustering (Ng, Jordan and Weiss).  job->rows are not read.  What a point has
 * with itself does not count; a point that has nothing with any other goes to the largest
 * cluster (spectral.c says more). */
CLO_CHECK clo_status clo_i_spectral(const clo_solver_input *job, const clo_affinity *affinity,
                                    const clo_spectral_options *options, uint32_t *labels,
                                    clo_error *err);
/* How many clusters it has, by the largest gap of its eigenvalues (spectral_count.c). */
enum { CLO_SPECTRAL_MOST = 20 };
CLO_CHECK clo_status clo_i_spectral_count(const clo_solver_input *job, const clo_affinity *affinity,
                                          size_t *clusters, clo_error *err);
/* What ends every solver that makes an affinity: spectral clustering, then the best flats. */
CLO_CHECK clo_status clo_i_partition_from_affinity(const clo_solver_input *job,
                                                   const clo_affinity *affinity,
                                                   const clo_flat_shape *shape, size_t restarts,
                                                   clo_partition *out, clo_error *err);
/* Makes an affinity in the first `share` of the time, and parts the rows by it. */
typedef clo_status clo_make_affinity(const clo_solver_input *job, const double *values,
                                     clo_affinity *out, clo_error *err);
CLO_CHECK clo_status clo_i_solve_by_affinity(const clo_solver_input *job, double share,
                                             clo_make_affinity *make, const double *values,
                                             const clo_flat_shape *shape, size_t restarts,
                                             clo_partition *out, clo_error *err);

/* ---- self-expressive starts, for auto: an affinity at the solvers' own settings ------------ */

CLO_CHECK clo_status clo_i_tsc_affinity(const clo_solver_input *job, size_t clusters,
                                        clo_affinity *out, clo_error *err);
CLO_CHECK clo_status clo_i_ssc_affinity(const clo_solver_input *job, bool affine, clo_affinity *out,
                                        clo_error *err);
CLO_CHECK clo_status clo_i_ssc_omp_affinity(const clo_solver_input *job, size_t clusters,
                                            size_t dim, clo_affinity *out, clo_error *err);
CLO_CHECK clo_status clo_i_lrr_affinity(const clo_solver_input *job, size_t rank, clo_affinity *out,
                                        clo_error *err);

#endif
