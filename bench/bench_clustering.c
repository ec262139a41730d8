/*
 * bench_clustering.c - how long a solver takes on a file of doubles, in processor time, and at what
 * cost.
 *
 *   bench_clustering SOLVER DATA COLS THREADS SEED LABELS [NAME=VALUE …]
 *
 * Prints one JSON object; LABELS is written as one number a line ("-": nowhere).
 */
#include "bench.h"
#include "solver/solver.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double *read_doubles(const char *path, size_t cols, size_t *rows)
{
    FILE *const file = fopen(path, "rb");
    if (!file || cols == 0 || fseek(file, 0, SEEK_END) != 0) exit(4);
    *rows = (size_t)ftell(file) / sizeof(double) / cols;
    double *const values = malloc(*rows * cols * sizeof *values);
    rewind(file);
    if (!values || fread(values, sizeof *values, *rows * cols, file) != *rows * cols) exit(4);
    fclose(file);
    return values;
}

static void set(clo_params *params, char *text)
{
    clo_error err;
    char *const equals = strchr(text, '=');
    if (!equals) exit(2);
    *equals = '\0';
    must(clo_params_set_text(params, text, equals + 1, &err), &err);
}

int main(int argc, char **argv)
{
    clo_error err;
    clo_params *params = NULL;
    clo_rng *rng = NULL;
    uint8_t seed[32];
    clo_partition out = { 0 };
    if (argc < 7 || !clo_solver_find(argv[1]))
        return fprintf(stderr, "usage: bench_clustering SOLVER DATA COLS THREADS SEED LABELS "
                               "[NAME=VALUE …]\n"),
               2;
    const clo_solver *const solver = clo_solver_find(argv[1]);
    const size_t cols = (size_t)atol(argv[3]);
    size_t rows = 0;
    double *const values = read_doubles(argv[2], cols, &rows);
    must(clo_solver_params_new(solver, &params, &err), &err);
    for (int i = 7; i < argc; i++) set(params, argv[i]);
    clo_seed_from_text(argv[5], seed);
    must(clo_rng_new_seeded(seed, &rng, &err), &err);
    const clo_solver_input job = { .rows = values,
                                   .count = rows,
                                   .cols = cols,
                                   .rng = rng,
                                   .threads = atoi(argv[4]),
                                   .progress_to = 1 };
    const double before = process_seconds();
    must(solver->solve(&job, params->values, &out, &err), &err);
    printf("{\"cpu_s\": %.4f, \"cost\": %.17g}\n", process_seconds() - before, out.cost);
    FILE *const labels = strcmp(argv[6], "-") == 0 ? NULL : fopen(argv[6], "w");
    for (size_t i = 0; labels && i < out.count; i++) fprintf(labels, "%u\n", out.labels[i]);
    if (labels) fclose(labels);
    clo_i_partition_free(&out);
    clo_rng_free(rng);
    clo_params_free(params);
    free(values);
    return 0;
}
