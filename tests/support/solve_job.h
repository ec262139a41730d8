/*
 * solve_job.h - jobs for the tests of solvers: a seeded generator, made-up data, progress that
 * stops, and allocations that fail one after the other.
 */
#ifndef CLO_TEST_SOLVE_JOB_H
#define CLO_TEST_SOLVE_JOB_H

#include "check.h"
#include "solver/solver.h"
#include <stdlib.h>

/* xorshift64*: the tests' own source of numbers. */
static inline double job_uniform(uint64_t *state) /* in (-1, 1) */
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (double)(int64_t)(*state * UINT64_C(0x2545F4914F6CDD1D)) * 0x1p-63;
}

static inline double job_normal(uint64_t *state) /* near enough */
{
    double sum = 0;
    for (int i = 0; i < 12; i++) sum += job_uniform(state);
    return sum / 2;
}

static inline void *job_need(size_t count, size_t size)
{
    void *block = calloc(count ? count : 1, size);
    assert_non_null(block);
    return block;
}

static inline clo_rng *job_rng(const char *seed)
{
    uint8_t bytes[32];
    clo_rng *rng = NULL;
    clo_seed_from_text(seed, bytes);
    assert_int_equal(clo_rng_new_seeded(bytes, &rng, NULL), CLO_OK);
    return rng;
}

static inline clo_solver_input job_of(const double *rows, size_t count, size_t cols, clo_rng *rng)
{
    return (clo_solver_input){
        .rows = rows, .count = count, .cols = cols, .rng = rng, .threads = 1, .progress_to = 1
    };
}

/* count rows about k random centres, spread apart; truth (or NULL) gets whose each is. */
static inline double *job_blobs(size_t count, size_t cols, size_t k, double noise, uint64_t seed,
                                uint32_t *truth)
{
    double *const centers = job_need(k * cols, sizeof *centers);
    double *const rows = job_need(count * cols, sizeof *rows);
    for (size_t i = 0; i < k * cols; i++) centers[i] = job_normal(&seed);
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < cols; j++)
            rows[i * cols + j] = centers[i % k * cols + j] + noise * job_normal(&seed);
        if (truth) truth[i] = (uint32_t)(i % k);
    }
    free(centers);
    return rows;
}

/* A progress function for `user`, a counter: false when it comes to 0. */
static inline bool job_countdown(void *user, double done)
{
    int *const left = user;
    assert_true(done >= 0 && done <= 1);
    return --*left > 0;
}

/* True where two labellings are the same but for the names. */
static inline bool job_same_partition(const uint32_t *a, const uint32_t *b, size_t count)
{
    uint32_t there[CLO_SOLVER_CLUSTERS], back[CLO_SOLVER_CLUSTERS];
    memset(there, 0xff, sizeof there);
    memset(back, 0xff, sizeof back);
    for (size_t i = 0; i < count; i++) {
        if (there[a[i]] == UINT32_MAX) there[a[i]] = b[i];
        if (back[b[i]] == UINT32_MAX) back[b[i]] = a[i];
        if (there[a[i]] != b[i] || back[b[i]] != a[i]) return false;
    }
    return true;
}

/* Runs a solver at its presets, but for the first `given` values. */
static inline clo_status job_solve(const clo_solver *solver, const clo_solver_input *job,
                                   const double *values, size_t given, clo_partition *out,
                                   clo_error *err)
{
    double *const all = job_need(solver->param_count, sizeof *all);
    for (size_t i = 0; i < solver->param_count; i++)
        all[i] = i < given ? values[i] : solver->params[i].preset;
    const clo_status status = solver->solve(job, all, out, err);
    free(all);
    return status;
}

/* Every allocation of a run fails once: each time the run says so and leaves its output alone. */
static inline void job_survives_failing_allocations(const clo_solver *solver,
                                                    const clo_solver_input *job,
                                                    const double *values, size_t given)
{
#ifdef CLO_FAULT_INJECTION
    for (uint64_t n = 1;; n++) {
        clo_partition out = { .cost = -1 };
        clo_error err;
        clo_i_fail_allocation(n);
        const clo_status status = job_solve(solver, job, values, given, &out, &err);
        clo_i_fail_allocation(0);
        if (status == CLO_OK) {
            clo_i_partition_free(&out);
            assert_true(n > 3);
            return;
        }
        assert_int_equal(status, CLO_MEMORY);
        assert_true(out.cost == -1 && !out.labels && !out.dims);
    }
#else
    (void)solver, (void)job, (void)values, (void)given;
#endif
}

#endif
