/*
 * bench_read.c - how fast files become tables, and matrices become files.
 *
 *   bench_read [FOLDER [ROWS [COLS]]]
 *
 * Writes FOLDER/bench_read.csv and .npy (17 significant digits, the hardest case for a reader of
 * text), reads them back several times and prints, a line each: what, bytes of the file, seconds of
 * the best pass, MB/s.  bench_read.py times other readers on the same files.  Every pass
 * brings every cell into memory as a double, so that a map of a file has to be read.
 */
#include "data/data.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

enum { PASSES = 5, BLOCK_ROWS = 4096 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Of all threads: on a machine that is busy it tells more than the clock. */
static double processor(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void stop_on(clo_status status, const clo_error *err)
{
    if (status == CLO_OK) return;
    fprintf(stderr, "bench_read: %s\n", err->message);
    exit(clo_status_exit_code(status));
}

static double file_bytes(const char *path)
{
    struct stat facts;
    return stat(path, &facts) == 0 ? (double)facts.st_size : 0;
}

static void report(const char *what, const char *path, double seconds, double used)
{
    const double bytes = file_bytes(path);
    printf("%-10s %12.0f bytes  %8.4f s  %8.1f MB/s  %8.4f s of the processor\n", what, bytes,
           seconds, bytes / seconds / 1e6, used);
}

/* Sums about normal, from a generator that is the same everywhere. */
static double *make_values(size_t count)
{
    uint64_t state = 88172645463325252u;
    double *const values = malloc(count * sizeof *values);
    if (!values) exit(8);
    for (size_t i = 0; i < count; i++) {
        double sum = -2;
        for (int k = 0; k < 4; k++) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            sum += (double)(state >> 11) * 0x1p-53;
        }
        values[i] = sum;
    }
    return values;
}

static void time_write(const char *what, const char *path, clo_matrix values)
{
    clo_error err;
    const double start = now(), before = processor();
    stop_on(clo_matrix_write(path, values, NULL, &err), &err);
    report(what, path, now() - start, processor() - before);
}

static void time_read(const char *what, const char *path, double *block, double expected)
{
    double best = 1e300, least = 1e300;
    for (int pass = 0; pass < PASSES; pass++) {
        clo_error err;
        clo_table *table = NULL;
        double sum = 0;
        const double start = now(), before = processor();
        stop_on(clo_table_read(path, NULL, &table, &err), &err);
        const size_t rows = clo_table_rows(table), cols = clo_table_cols(table);
        for (size_t i = 0; i < rows; i += BLOCK_ROWS) {
            const size_t count = rows - i < BLOCK_ROWS ? rows - i : BLOCK_ROWS;
            clo_i_table_rows(table, i, count, block);
            for (size_t j = 0; j < count * cols; j += 8) sum += block[j];
        }
        const double seconds = now() - start, used = processor() - before;
        clo_table_free(table);
        if (sum != expected) {
            fprintf(stderr, "bench_read: %s was not read as it was written\n", path);
            exit(70);
        }
        if (seconds < best) best = seconds;
        if (used < least) least = used;
    }
    report(what, path, best, least);
}

/* In the order in which time_read adds, so that the two are equal to the last bit. */
static double sum_blocks(const double *values, size_t rows, size_t cols)
{
    double sum = 0;
    for (size_t i = 0; i < rows; i += BLOCK_ROWS) {
        const size_t count = rows - i < BLOCK_ROWS ? rows - i : BLOCK_ROWS;
        for (size_t j = 0; j < count * cols; j += 8) sum += values[i * cols + j];
    }
    return sum;
}

int main(int argc, char **argv)
{
    const char *const folder = argc > 1 ? argv[1] : "/tmp";
    const size_t rows = argc > 2 ? strtoul(argv[2], NULL, 10) : 200000;
    const size_t cols = argc > 3 ? strtoul(argv[3], NULL, 10) : 20;
    char csv[4096], npy[4096];
    struct rusage usage;
    if (rows == 0 || cols == 0 || argc > 4) {
        fprintf(stderr, "usage: bench_read [FOLDER [ROWS [COLS]]]\n");
        return 2;
    }
    snprintf(csv, sizeof csv, "%s/bench_read.csv", folder);
    snprintf(npy, sizeof npy, "%s/bench_read.npy", folder);
    double *const values = make_values(rows * cols);
    double *const block = malloc(BLOCK_ROWS * cols * sizeof *block);
    if (!block) return 8;
    const clo_matrix matrix = { values, rows, cols, cols };
    const double sum = sum_blocks(values, rows, cols);
    time_write("write-csv", csv, matrix);
    time_write("write-npy", npy, matrix);
    free(values);
    time_read("read-csv", csv, block, sum);
    time_read("read-npy", npy, block, sum);
    free(block);
    getrusage(RUSAGE_SELF, &usage);
    printf("peak memory %ld KiB, the table %zu KiB\n", usage.ru_maxrss, rows * cols * 8 / 1024);
    return 0;
}
