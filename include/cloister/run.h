/*
 * run.h - step five: run.  The only place where a plan, a grant and the data meet.
 */
#ifndef CLOISTER_RUN_H
#define CLOISTER_RUN_H

#include <cloister/ledger.h>
#include <cloister/persons.h>
#include <cloister/random.h>
#include <cloister/release.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct clo_workspace clo_workspace; /* scratch memory, wiped when freed */

/* Of so many bytes, as clo_plan_workspace counts them; it grows where they are too few.  For one
 * run at a time, and any number of them one after the other. */
CLO_API CLO_CHECK clo_status clo_workspace_new(size_t bytes, clo_workspace **out, clo_error *err);
CLO_API void clo_workspace_free(clo_workspace *workspace);

/* How the ranks of one run talk: each holds some of the rows.  All of them make the same plan and
 * call clo_run; rank 0 asks, draws the noise and gets the release, the others fold their rows for
 * it and get NULL.  The library brings the one-process form (comm NULL) and calls no MPI itself.
 * Frozen. */
typedef struct clo_comm {
    int rank;
    int size;
    clo_status (*sum)(void *user, int64_t *values, size_t count);   /* in place, on all ranks */
    clo_status (*broadcast)(void *user, void *bytes, size_t count); /* from rank 0 */
    void *user;
} clo_comm;

/* Others who hold the rows, in place of ranks (cloister/worker.h): the run has none of its own but
 * asks for sums.  From clo_workers_default. */
typedef struct clo_workers {
    size_t struct_size;
    /* Of all parts together.  Where the number of rows is public it must be right, and a job plans
     * with it; elsewhere it is not looked at. */
    uint64_t rows;
    /* Sets the `count` totals to the sum of what every part's worker gives for the task
     * (clo_worker_fold), modulo 2^64, each part counted once.  A status other than CLO_OK ends the
     * run. */
    clo_status (*fold)(void *user, const void *task, size_t bytes, int64_t *totals, size_t count);
    void *user;
    /* Of a plan that asks in blocks: sets the totals to the sum of what clo_worker_solve gives over
     * all groups, each with the packets of all parts.  block_of: `slots` of them, first those of
     * the first part; the caller's own, and gone once it returns.  NULL: such a plan is refused. */
    clo_status (*solve)(void *user, const void *task, size_t bytes, const uint32_t *block_of,
                        uint64_t slots, int64_t *totals, size_t count);
    /* Of all parts together, where the number of rows is public: rows with a missing cell
     * (clo_table_gaps).  A job refuses a run of which too few rows are left. */
    uint64_t gaps;
} clo_workers;

/* The presets; see "Structs that may grow" in cloister.h. */
CLO_API void clo_workers_init(clo_workers *workers, size_t size);
static inline clo_workers clo_workers_default(void)
{
    clo_workers workers;
    clo_workers_init(&workers, sizeof workers);
    return workers;
}

/* The records of one block in unit-ball coordinates, and public randomness of its own.  Frozen. */
typedef struct clo_block {
    const double *rows;
    size_t count, cols;
    uint8_t seed[32];
} clo_block;

/* Fills clusters x cols x dim bases, each row-major, as a function of the block alone.  A failure
 * other than CLO_MEMORY and CLO_CANCELLED makes the block's solution a fixed one, and is not told:
 * it would be a release of its own.  Called from several threads. */
typedef clo_status clo_block_solve(void *user, const clo_block *block, double *bases,
                                   clo_error *err);

/* How to run; never what is released: any choice here but solve_block gives the same release. */
typedef struct clo_run_options {
    size_t struct_size;
    int threads;                               /* 0: as OpenMP says */
    size_t block_rows;                         /* 0: chosen from the number of columns */
    const clo_comm *comm;                      /* NULL: one process */
    clo_workspace *workspace;                  /* clo_workspace_for_run; NULL: made by the run */
    bool (*progress)(void *user, double done); /* false stops the run; may be NULL */
    void *user;
    /* Told every answer as it was noised, before anything is made of it; may be NULL.  The price of
     * the plan covers all answers, so that whoever hears them learns no more than was paid for. */
    void (*answer)(void *user, const char *query, const double *values, size_t count);
    clo_block_solve *solve_block; /* for the method "aggregate" with solver=caller */
    void *solve_user;
    /* Who holds the rows; NULL: this process, or its ranks.  Not together with a comm.  The data of
     * the run must then have no rows.  Rows that change between two asks end the run. */
    const clo_workers *workers;
    /* Of units over several ranks or workers: what clo_persons_compare found of all parts together.
     * With workers every pass must find the same again, or the run ends.  NULL: such a plan is
     * refused. */
    const clo_persons *persons;
    /* Of several ranks: how many rows all of them have together, at most, null ones among them; the
     * same number on every rank.  A plan that asks in blocks takes memory by it before the grant is
     * used.  0: such a plan is refused on several ranks. */
    uint64_t all_rows;
} clo_run_options;

/* What the environment variable OPENBLAS_CORETYPE should say before a program starts, so that the
 * BLAS is fast on this processor; NULL: nothing, it already is.  A BLAS that is older than the
 * processor does not know it and takes the slowest kernels. */
CLO_API const char *clo_blas_better_kernel(void);

/* How OpenBLAS was built to work on several processors: "openmp", "pthreads" or "none".  Only the
 * first is safe inside of the library's own threads; with another one everything runs on one. */
CLO_API const char *clo_blas_threading(void);

/* The presets; see "Structs that may grow" in cloister.h. */
CLO_API void clo_run_options_init(clo_run_options *options, size_t size);
static inline clo_run_options clo_run_options_default(void)
{
    clo_run_options options;
    clo_run_options_init(&options, sizeof options);
    return options;
}

/* All the scratch memory that a run of the plan on these data takes, with these options (of which
 * the workspace is not looked at; NULL: the presets).  To be asked for before the ledger is charged
 * and given to clo_run as options.workspace: how much it is follows the number of rows, which may
 * be a secret, and CLO_MEMORY tells of it only while nothing is spent.  Who leaves it out gets the
 * same memory from clo_run itself, before the grant is used, but after the charge. */
CLO_API CLO_CHECK clo_status clo_workspace_for_run(const clo_plan *plan, const clo_bounded *data,
                                                   const clo_run_options *options,
                                                   clo_workspace **out, clo_error *err);
/* Whether a run of the plan takes these data: what clo_run would refuse, by public facts alone.  To
 * be asked before anything is spent. */
CLO_API CLO_CHECK clo_status clo_plan_check_data(const clo_plan *plan, const clo_bounded *data,
                                                 clo_error *err);
/* The same with the options of the run: also whether so many ranks can serve the plan, and whether
 * the process computes as the proofs assume.  options may be NULL. */
CLO_API CLO_CHECK clo_status clo_run_check(const clo_plan *plan, const clo_bounded *data,
                                           const clo_run_options *options, clo_error *err);
/* Asks the plan's queries and makes the release; options may be NULL.  What does not fit together
 * (grant and plan, data and plan, options) is refused before anything is asked, and leaves the
 * grant as it was.  From then on the grant is used up, whatever comes of it: a run that is
 * cancelled, or that lacks memory or randomness, has spent it all the same; and a failure's
 * message holds no number, since it might follow from the data. */
CLO_API CLO_CHECK clo_status clo_run(const clo_plan *plan, clo_grant *grant,
                                     const clo_bounded *data, clo_rng *rng,
                                     const clo_run_options *options, clo_release **out,
                                     clo_error *err);

#ifdef __cplusplus
}
#endif
#endif
