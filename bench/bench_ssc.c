/*
 * bench_ssc.c - the self-expressive solvers on random subspaces: CPU seconds of one thread, for the
 * codes and for the whole with spectral clustering, and the rate of dgemm in the same run.
 *
 *   bench_ssc [SEEDS]
 */
#include "bench.h"
#include "linalg/linalg.h"
#include "solver/affinity/self_expression.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct shape {
    const char *name;
    size_t count, cols, clusters, dim;
    double noise;
} shape;

static double cpu(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *need(size_t count, size_t size)
{
    void *const block = calloc(count, size);
    if (block) return block;
    fprintf(stderr, "bench_ssc: no memory\n");
    exit(70);
}

static void time_dgemm(void)
{
    enum { N = 1000 };
    double *const a = need(N * N, sizeof *a), *const c = need(N * N, sizeof *c);
    for (size_t i = 0; i < N * N; i++) a[i] = (double)(i % 17);
    const double start = cpu();
    for (int n = 0; n < 5; n++) clo_i_multiply_transposed(a, N, a, N, N, c);
    printf("dgemm %.1f Gflop/s on one thread\n", 5 * 2e-9 * N * N * N / (cpu() - start));
    free(a);
    free(c);
}

/* Unit coefficients on random bases, and noise in every entry; row i is of subspace i mod k. */
static double *make_rows(const shape *s, clo_rng *rng)
{
    clo_error err;
    clo_stream *stream = NULL;
    double *const rows = need(s->count * s->cols, sizeof *rows);
    double *const bases = need(s->clusters * s->cols * s->dim, sizeof *bases);
    double y[64];
    must(clo_i_stream_open(rng, clo_i_rng_next_ask(rng), 0, &stream, &err), &err);
    for (size_t l = 0; l < s->clusters; l++) {
        double *const basis = bases + l * s->cols * s->dim;
        for (size_t j = 0; j < s->cols * s->dim; j++) basis[j] = clo_i_random_normal(stream);
        must(clo_i_orthonormalize(basis, s->cols, s->dim, &err), &err);
    }
    for (size_t i = 0; i < s->count; i++) {
        double square = 0;
        for (size_t q = 0; q < s->dim; q++) {
            y[q] = clo_i_random_normal(stream);
            square += y[q] * y[q];
        }
        for (size_t c = 0; c < s->cols; c++) {
            const double *const at = bases + ((i % s->clusters) * s->cols + c) * s->dim;
            double sum = 0;
            for (size_t q = 0; q < s->dim; q++) sum += at[q] * y[q];
            rows[i * s->cols + c] =
                sum / __builtin_sqrt(square) + s->noise * clo_i_random_normal(stream);
        }
    }
    clo_i_stream_close(stream);
    free(bases);
    return rows;
}

/* The share of rows that are in their cluster's most frequent subspace. */
static double purity(const shape *s, const uint32_t *labels)
{
    size_t right = 0, *const counts = need(s->clusters * s->clusters, sizeof *counts);
    for (size_t i = 0; i < s->count; i++) counts[labels[i] * s->clusters + i % s->clusters]++;
    for (size_t l = 0; l < s->clusters; l++) {
        size_t most = 0;
        for (size_t t = 0; t < s->clusters; t++)
            if (counts[l * s->clusters + t] > most) most = counts[l * s->clusters + t];
        right += most;
    }
    free(counts);
    return (double)right / (double)s->count;
}

static void run(const clo_solver *solver, const shape *s, int seed)
{
    clo_error err;
    clo_rng *rng = NULL;
    clo_partition out = { 0 };
    double values[16];
    const uint8_t bytes[32] = { (uint8_t)seed };
    must(clo_rng_new_seeded(bytes, &rng, &err), &err);
    double *const rows = make_rows(s, rng);
    const clo_solver_input job = {
        .rows = rows, .count = s->count, .cols = s->cols, .rng = rng, .threads = 1, .progress_to = 1
    };
    for (size_t i = 0; i < solver->param_count; i++) values[i] = solver->params[i].preset;
    values[0] = (double)s->clusters, values[1] = (double)s->dim;
    const double start = cpu();
    must(solver->solve(&job, values, &out, &err), &err);
    printf("%-8s %-3s seed %d  %7.3f s  %.4f\n", solver->name, s->name, seed, cpu() - start,
           purity(s, out.labels));
    clo_i_partition_free(&out);
    clo_rng_free(rng);
    free(rows);
}

int main(int argc, char **argv)
{
    static const shape shapes[] = { { "s1", 5000, 5, 3, 3, .01 },
                                    { "s2", 1000, 10, 3, 3, .1 },
                                    { "s3", 2000, 50, 10, 5, .05 } };
    const clo_solver *const solvers[] = { &clo_i_solver_ssc, &clo_i_solver_ssc_omp,
                                          &clo_i_solver_ensc };
    const int seeds = argc > 1 ? atoi(argv[1]) : 5;
    const int before = clo_i_blas_serial_begin();
    time_dgemm();
    for (size_t m = 0; m < 3; m++)
        for (size_t s = 0; s < 3; s++)
            for (int seed = 1; seed <= seeds; seed++) run(solvers[m], &shapes[s], seed);
    clo_i_blas_serial_end(before);
    return 0;
}
