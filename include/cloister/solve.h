/*
 * solve.h - ordinary, NON-PRIVATE clustering and subspace clustering: what the private mechanisms
 * are measured against, and useful by itself.  A solution is a plain function of the data; it is
 * for those who may see the data, and everything that is written out says so.
 */
#ifndef CLOISTER_SOLVE_H
#define CLOISTER_SOLVE_H

#include <cloister/data.h>
#include <cloister/params.h>
#include <cloister/random.h>
#include <cloister/release.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A way to cluster, which is not private: the library's, never freed. */
typedef struct clo_solver clo_solver;

/* Which there are.  Texts and rows are the library's. */
CLO_API size_t clo_solver_count(void);
CLO_API const clo_solver *clo_solver_at(size_t i);           /* NULL: there are not so many */
CLO_API const clo_solver *clo_solver_find(const char *name); /* "kplanes"; NULL: none */
CLO_API const char *clo_solver_name(const clo_solver *solver);
CLO_API const char *clo_solver_summary(const clo_solver *solver);
CLO_API const clo_param *clo_solver_params(const clo_solver *solver, size_t *count);
/* The parameters of a solver, at their presets. */
CLO_API CLO_CHECK clo_status clo_solver_params_new(const clo_solver *solver, clo_params **out,
                                                   clo_error *err);

/* k flats: points, subspaces or affine subspaces, and which of them each row is in. */
typedef struct clo_solution clo_solution;

/* How to solve; from clo_solve_options_default. */
typedef struct clo_solve_options {
    size_t struct_size;
    int threads;  /* 0: as OpenMP says */
    clo_rng *rng; /* NULL: a seeded one of its own, so that the same call gives the same answer */
    bool (*progress)(void *user, double done); /* false stops it: CLO_CANCELLED; may be NULL */
    void *user;
    /* CLO_ARGUMENT with a solver that cannot take one of these. */
    const clo_solution *start; /* where to start from; NULL: from nothing */
    const size_t *dims; /* the dimension of each subspace, where they differ; NULL: the same */
    size_t dim_count;
    /* The scale: with public bounds a column counts in units of its half width and from its middle,
     * as for a run with these bounds; the solution is in the data's own units all the same.
     * CLO_ARGUMENT with a solver of affinities, and with a start of subspaces. */
    const double *lower, *upper; /* one a column of the table; both or none */
    const clo_release *like;     /* the columns of this release, found by name as in
                                    clo_assign_rows, and its bounds in place of those; NULL: none */
} clo_solve_options;

/* The presets; see "Structs that may grow" in cloister.h. */
CLO_API void clo_solve_options_init(clo_solve_options *options, size_t size);
static inline clo_solve_options clo_solve_options_default(void)
{
    clo_solve_options options;
    clo_solve_options_init(&options, sizeof options);
    return options;
}

/* Runs the solver that the parameters were made for; options may be NULL.  A row with a bad cell is
 * CLO_FORMAT; more clusters than rows, or more dimensions than columns, are CLO_ARGUMENT.  A solver
 * of affinities (spectral) takes the table as the affinity of its rows. */
CLO_API CLO_CHECK clo_status clo_solve(const clo_params *params, const clo_table *table,
                                       const clo_solve_options *options, clo_solution **out,
                                       clo_error *err);

/* Facts of a solution: which solver made it, and how many clusters it has. */
CLO_API const char *clo_solution_solver(const clo_solution *solution);
CLO_API size_t clo_solution_clusters(const clo_solution *solution);
CLO_API size_t clo_solution_rows(const clo_solution *solution); /* 0 after clo_solution_read */
CLO_API size_t clo_solution_cols(const clo_solution *solution); /* 0: of an affinity alone */
/* The dimension of a flat; 0 for a centre. */
CLO_API size_t clo_solution_dim(const clo_solution *solution, size_t cluster);
/* The mean squared distance, on the scale where there is one; of k-median the mean distance, of a
 * given affinity the normalised cut. */
CLO_API double clo_solution_cost(const clo_solution *solution);
/* The same of the same rows in the same clusters, in the data's own units. */
CLO_API double clo_solution_raw_cost(const clo_solution *solution);
/* Whether it was found with public bounds of its columns. */
CLO_API bool clo_solution_is_scaled(const clo_solution *solution);
/* Borrowed.  The basis has cols rows and dim columns, orthonormal; of a centre it has no rows. */
CLO_API clo_matrix clo_solution_basis(const clo_solution *solution, size_t cluster);
/* clusters x cols: the centres, or a point of each affine subspace; rows 0: all go through the
 * origin. */
CLO_API clo_matrix clo_solution_offsets(const clo_solution *solution);
/* The cluster of each row; NULL after clo_solution_read.  Borrowed. */
CLO_API const uint32_t *clo_solution_labels(const clo_solution *solution);
/* As JSON ("cloister.solution/1", "private": false), the labels among the values. */
CLO_API CLO_CHECK clo_status clo_solution_write(const clo_solution *solution, clo_write *write,
                                                void *user, clo_error *err);
/* Reads one back; without its labels.  CLO_IO, or CLO_FORMAT where it is none. */
CLO_API CLO_CHECK clo_status clo_solution_read(const char *path, clo_solution **out,
                                               clo_error *err);
CLO_API void clo_solution_free(clo_solution *solution);

#ifdef __cplusplus
}
#endif
#endif
