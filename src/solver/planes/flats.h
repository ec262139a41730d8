/*
 * flats.h - the pieces that fitting flats and k-planes share: rows by cluster, the best flat for
 * some rows, the rows furthest from theirs.
 *
 * A flat is held here by its directions, one a row, since the products with the data then read
 * both sides along memory; a clo_partition holds the same basis by columns.
 */
#ifndef CLO_FLATS_H
#define CLO_FLATS_H

#include "solver/solver.h"

/* Rows are worked on so many at a time: a block and what is made of it stay in the cache, and sums
 * by blocks have the same order on any number of threads. */
enum { CLO_FLAT_BLOCK = 256 };

/* Which rows are in which cluster. */
typedef struct clo_members {
    uint32_t *rows;  /* count: row numbers, cluster by cluster, increasing within one */
    size_t *starts;  /* clusters + 1 */
    size_t clusters; /* those without rows included */
} clo_members;

CLO_CHECK clo_status clo_i_members_new(const uint32_t *labels, size_t count, size_t clusters,
                                       clo_members *out, clo_error *err);
void clo_i_members_sort(clo_members *members, const uint32_t *labels, size_t count);
void clo_i_members_free(clo_members *members);

/* One flat.  Zeroed at first; the fit makes room for its directions. */
typedef struct clo_flat {
    size_t dim;
    double *directions; /* dim x cols, orthonormal rows */
    double *offset;     /* cols, or NULL: through the origin */
    bool plain;         /* its dimension was given, or its eigenvalues say it plainly */
} clo_flat;

CLO_CHECK clo_status clo_i_flats_new(size_t clusters, size_t cols, bool affine, clo_flat **out,
                                     clo_error *err);
void clo_i_flats_free(clo_flat *flats, size_t clusters);

/* The best flat for those rows.  dim 0: by the eigenvalues.  Where there are too few rows to span
 * dim dimensions, the basis is completed by what lies at right angles. */
CLO_CHECK clo_status clo_i_fit_rows(const clo_solver_input *job, const uint32_t *rows, size_t count,
                                    size_t dim, clo_flat *flat, clo_error *err);

/* Where the largest gap is: how many values, largest first, come before it; at least 1, at most
 * count - 1 where count > 1.  A gap is measured by what is left after it, (a - b) / b: eigenvalues
 * often fall by steps that shrink as they do, and the end of the signal is where the next one is
 * small beside the last.  a thousandth of the mean is added to b (total / cols), so that
 * rounding and the last crumbs of noise make no gap. sharpness, the gap, may be NULL. */
size_t clo_i_eigengap(const double *values, size_t count, double mean, double *sharpness);

enum { CLO_MOST_DIMS = 16 }; /* that are chosen where no gap is plain */

/* Of a cluster, or the mean of several. */
typedef struct clo_eigenvalues {
    const double *values; /* the count largest, falling */
    size_t count;
    double total;      /* of all */
    size_t rows, cols; /* that they are made of */
} clo_eigenvalues;

typedef struct clo_dim_choice {
    size_t dim;
    double gap; /* after it, or, where it is not plain, the largest that there is */
    bool plain;
} clo_dim_choice;

/* How many dimensions they speak for (flats_dim.c); at least 1. */
clo_dim_choice clo_i_choose_dim(const clo_eigenvalues *of);

/* The numbers of the `wanted` rows with the largest distances, largest first, ties to the lower
 * number; wanted <= count. */
void clo_i_furthest(const double *squared, size_t count, size_t wanted, uint32_t *rows);

/* Copies rows (NULL: count rows from `first` on), less the offset where there is one. */
void clo_i_gather(const clo_solver_input *job, const uint32_t *rows, size_t first, size_t count,
                  const double *offset, double *out);

/* Is the shape one that these rows can have? */
CLO_CHECK clo_status clo_i_check_shape(const clo_solver_input *job, const clo_flat_shape *shape,
                                       clo_error *err);
size_t clo_i_shape_dim(const clo_flat_shape *shape, size_t cluster);

/* Fits every cluster that has rows, and puts the rest where the fit is worst. squared: count. */
CLO_CHECK clo_status clo_i_fit_members(const clo_solver_input *job, const clo_members *members,
                                       const clo_flat_shape *shape, clo_flat *flats,
                                       double *squared, clo_error *err);
/* The squared distance of each row to its own flat. */
CLO_CHECK clo_status clo_i_own_distances(const clo_solver_input *job, const clo_members *members,
                                         const clo_flat *flats, double *squared, clo_error *err);
/* A partition of these flats; cost: the mean of squared. */
CLO_CHECK clo_status clo_i_partition_of(const clo_solver_input *job, const uint32_t *labels,
                                        const clo_flat *flats, size_t clusters,
                                        const double *squared, clo_partition *out, clo_error *err);

#endif
