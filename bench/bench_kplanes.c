/*
 * bench_kplanes.c - how long k-planes takes, what it finds, and what a second thread gains.
 *
 *   bench_kplanes CASE [SEEDS [RESTARTS [THREADS]]]
 *
 * CASE: s1, s2, s3, large, or N,D,K,Q,NOISE.
 *
 * One line of JSON a seed: CPU seconds on one thread, cost, accuracy; and, where THREADS (1 unless
 * told) is more than 1, what they gain in wall time beside what they gain a matrix product.
 */
#include "bench.h"
#include "linalg/linalg.h"
#include "measure/measure.h"
#include "solver/solver.h"
#include <cblas.h>
#include <cloister/generate.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct task {
    const char *name;
    size_t rows, cols, clusters, dim;
    double noise;
} task;

static const task tasks[] = {
    { "s1", 5000, 5, 3, 3, 0.01 },
    { "s2", 1000, 10, 3, 3, 0.1 },
    { "s3", 2000, 50, 10, 5, 0.05 },
    { "large", 200000, 50, 10, 5, 0.05 },
};

static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Of this program alone: getrusage's figure is inherited from whoever started it. */
static long peak_bytes(void)
{
    char line[256];
    long kilobytes = 0;
    FILE *const status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status))
        if (sscanf(line, "VmHWM: %ld", &kilobytes) == 1) break;
    if (status) fclose(status);
    return kilobytes * 1024;
}

static double accuracy(const uint32_t *a, const uint32_t *b, size_t count, size_t k)
{
    double *const table = calloc(k * k, sizeof *table);
    size_t *const partner = calloc(k, sizeof *partner);
    double right = 0;
    clo_error err;
    for (size_t i = 0; i < count; i++) table[a[i] * k + b[i]] -= 1;
    must(clo_i_match(table, k, partner, &err), &err);
    for (size_t l = 0; l < k; l++) right -= table[l * k + partner[l]];
    free(table);
    free(partner);
    return right / (double)count;
}

/* Wall seconds of products of about a tenth of a second. */
static double seconds_of_product(int threads)
{
    enum { SIZE = 800 };
    double *const a = calloc((size_t)SIZE * SIZE, sizeof *a);
    double *const c = calloc((size_t)SIZE * SIZE, sizeof *c);
    for (size_t i = 0; i < (size_t)SIZE * SIZE; i++) a[i] = (double)(i % 17);
    omp_set_num_threads(threads);
    const double start = seconds(CLOCK_MONOTONIC);
    for (int i = 0; i < 2; i++)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, SIZE, SIZE, SIZE, 1.0, a, SIZE, a,
                    SIZE, 0.0, c, SIZE);
    const double taken = seconds(CLOCK_MONOTONIC) - start;
    free(a);
    free(c);
    return taken;
}

/* What k-planes comes to from the planted labels: the optimum, or nearly. */
static double cost_from_truth(const clo_solver_input *job, const clo_kplanes_options *options,
                              const uint32_t *truth)
{
    clo_kplanes_options warm = *options;
    clo_partition found = { 0 };
    clo_error err;
    warm.restarts = 0;
    warm.start_labels = truth;
    must(clo_i_kplanes(job, &warm, &found, &err), &err);
    const double cost = found.cost;
    clo_i_partition_free(&found);
    return cost;
}

static double least(double a, double b)
{
    return a < b ? a : b;
}

static void bench_seed(const task *t, int seed, size_t restarts, int most)
{
    double *const rows = calloc(t->rows * t->cols, sizeof *rows);
    uint32_t *const truth = calloc(t->rows, sizeof *truth);
    clo_subspace_model model = clo_subspace_model_default();
    clo_rng *rng = NULL;
    clo_error err;
    uint8_t bytes[32];
    char text[32];
    snprintf(text, sizeof text, "%d", seed);
    clo_seed_from_text(text, bytes);
    must(clo_rng_new_seeded(bytes, &rng, &err), &err);
    model.rows = t->rows;
    model.cols = t->cols;
    model.clusters = t->clusters;
    model.dim = t->dim;
    model.noise = t->noise;
    must(clo_generate_subspaces(&model, rng, rows, truth, NULL, &err), &err);
    const clo_kplanes_options options = { .shape = { .clusters = t->clusters, .dim = t->dim },
                                          .restarts = restarts,
                                          .iterations = 200 };
    double cpu = 1e9, wall[2] = { 1e9, 1e9 }, product[2] = { 1e9, 1e9 };
    const long before = peak_bytes();
    for (int turn = 0; turn < 3; turn++)
        for (int many = 0; many < (most > 1 ? 2 : 1); many++) {
            const int threads = many ? most : 1;
            clo_partition found = { 0 };
            clo_solver_input job = { .rows = rows,
                                     .count = t->rows,
                                     .cols = t->cols,
                                     .rng = rng,
                                     .threads = threads,
                                     .progress_to = 1 };
            const double cpu_start = seconds(CLOCK_PROCESS_CPUTIME_ID);
            const double start = seconds(CLOCK_MONOTONIC);
            must(clo_rng_new_seeded(bytes, &job.rng, &err), &err);
            must(clo_i_kplanes(&job, &options, &found, &err), &err);
            wall[many] = least(wall[many], seconds(CLOCK_MONOTONIC) - start);
            const double used = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu_start;
            if (threads == 1) cpu = least(cpu, used);
            if (turn == 0 && threads == 1)
                printf("{\"case\": \"%s\", \"seed\": %d, \"cost\": %.6g, \"optimum\": %.6g, "
                       "\"accuracy\": %.5f, "
                       "\"scratch_bytes\": %ld, ",
                       t->name, seed, found.cost, cost_from_truth(&job, &options, truth),
                       accuracy(found.labels, truth, t->rows, t->clusters), peak_bytes() - before);
            clo_rng_free(job.rng);
            clo_i_partition_free(&found);
            if (most > 1) product[many] = least(product[many], seconds_of_product(threads));
        }
    printf("\"cpu_s\": %.5f", cpu);
    if (most > 1)
        printf(", \"gain\": %.2f, \"gain_dgemm\": %.2f", wall[0] / wall[1],
               product[0] / product[1]);
    printf("}\n");
    fflush(stdout);
    clo_rng_free(rng);
    free(rows);
    free(truth);
}

int main(int argc, char **argv)
{
    if (argc < 2 || argc > 5)
        return fprintf(stderr, "usage: bench_kplanes CASE [SEEDS [RESTARTS [THREADS]]]\n"), 2;
    const int seeds = argc > 2 ? atoi(argv[2]) : 5;
    const size_t restarts = argc > 3 ? strtoul(argv[3], NULL, 10) : 10;
    const int threads = argc > 4 ? atoi(argv[4]) : 1;
    task own = { .name = argv[1] };
    const task *chosen = NULL;
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++)
        if (strcmp(tasks[i].name, argv[1]) == 0) chosen = &tasks[i];
    if (!chosen && sscanf(argv[1], "%zu,%zu,%zu,%zu,%lf", &own.rows, &own.cols, &own.clusters,
                          &own.dim, &own.noise) == 5)
        chosen = &own;
    if (!chosen) return fprintf(stderr, "bench_kplanes: no such case: %s\n", argv[1]), 2;
    for (int seed = 1; seed <= seeds; seed++) bench_seed(chosen, seed, restarts, threads);
    return 0;
}
