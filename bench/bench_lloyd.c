/*
 * bench_lloyd.c - how long kmeans/lloyd takes on an NPY file, step by step, and how much memory.
 *
 *   bench_lloyd DATA.npy CLUSTERS ROUNDS THREADS
 *
 * Prints one JSON object.  The shares of BLAS and of noise are measured apart, on the same number
 * of products and of draws as the run has: a clock inside the run would slow it.
 */
#include "bench.h"
#include "linalg/linalg.h"
#include "random/random.h"
#include <cloister/cloister.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Of all threads. */
static double processor(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
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

/* Seconds of the products records x centres of one round, as the run does them: by blocks. */
static double seconds_in_blas(size_t rows, size_t cols, size_t clusters, int threads)
{
    enum { BLOCK = 4096 };
    const size_t blocks = rows / BLOCK;
    double *const centers = calloc(clusters * cols, sizeof *centers);
    const double start = now();
#pragma omp parallel num_threads(threads)
    {
        double *const values = calloc(BLOCK * cols, sizeof *values);
        double *const scores = calloc(BLOCK * clusters, sizeof *scores);
#pragma omp for
        for (size_t b = 0; b < blocks; b++)
            clo_i_multiply_transposed(values, BLOCK, centers, clusters, cols, scores);
        free(values);
        free(scores);
    }
    free(centers);
    return now() - start;
}

static double seconds_in_noise(size_t count)
{
    clo_error err;
    clo_rng *rng = NULL;
    clo_stream *stream = NULL;
    int64_t *const noise = calloc(count, sizeof *noise);
    const double start = now();
    must(clo_rng_new(&rng, &err), &err);
    must(clo_i_stream_open(rng, 1, 0, &stream, &err), &err);
    clo_i_rounded_gaussian_fill(stream, 1 << 20, noise, count);
    clo_i_stream_close(stream);
    clo_rng_free(rng);
    const double taken = now() - start;
    free(noise);
    return taken;
}

int main(int argc, char **argv)
{
    if (argc != 5)
        return fprintf(stderr, "usage: bench_lloyd DATA.npy CLUSTERS ROUNDS THREADS\n"), 2;
    const double clusters = atof(argv[2]), rounds = atof(argv[3]);
    const int threads = atoi(argv[4]);
    clo_error err;
    clo_table *table = NULL;
    clo_bounded *data = NULL;
    clo_params *params = NULL;
    clo_plan *plan = NULL;
    clo_grant *grant = NULL;
    clo_rng *rng = NULL;
    clo_release *release = NULL;
    clo_domain domain = clo_domain_default();
    clo_run_options options = clo_run_options_default();
    omp_set_num_threads(threads);
    const double start = now();
    must(clo_table_read(argv[1], NULL, &table, &err), &err);
    const size_t rows = clo_table_rows(table), cols = clo_table_cols(table);
    const double read = now();
    domain.cols = cols;
    domain.norm = 1;
    must(clo_bound(table, &domain, &data, &err), &err);
    clo_table_free(table);
    const double bound = now();
    must(clo_params_new(clo_mechanism_find("kmeans/lloyd"), &params, &err), &err);
    must(clo_params_set(params, "clusters", clusters, &err), &err);
    must(clo_params_set(params, "rounds", rounds, &err), &err);
    must(clo_plan_new(params, &domain, (clo_loss){ 1, 1e-6 }, CLO_EXACT, &plan, &err), &err);
    must(clo_grant_unmetered(plan, &grant, &err), &err);
    must(clo_rng_new(&rng, &err), &err);
    options.threads = threads;
    const double planned = now(), used = processor();
    must(clo_run(plan, grant, data, rng, &options, &release, &err), &err);
    const double ran = now(), used_by_run = processor() - used;
    const long peak = peak_bytes();
    const double blas = rounds * seconds_in_blas(rows, cols, (size_t)clusters, threads);
    const double noise = rounds * seconds_in_noise((size_t)clusters * (cols + 1));
    printf("{\"read_s\": %.4f, \"bound_s\": %.4f, \"plan_s\": %.4f, \"run_s\": %.4f, "
           "\"per_round_s\": %.4f, \"per_round_cpu_s\": %.4f, \"blas_share\": %.3f, "
           "\"noise_share\": %.5f, "
           "\"peak_bytes\": %ld, \"data_bytes\": %zu}\n",
           read - start, bound - read, planned - bound, ran - planned, (ran - planned) / rounds,
           used_by_run / rounds, blas / (ran - planned), noise / (ran - planned), peak,
           rows * cols * sizeof(double));
    clo_release_free(release);
    clo_rng_free(rng);
    clo_grant_free(grant);
    clo_plan_free(plan);
    clo_params_free(params);
    clo_bounded_free(data);
    return 0;
}
