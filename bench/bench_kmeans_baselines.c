/*
 * bench_kmeans_baselines.c - how much more the centres of the baselines of k-means cost than those
 * of ordinary k-means, and how long they take.
 *
 *   bench_kmeans_baselines SEED COUNT EPSILON [METHOD [SETTING=VALUE …]]
 *
 * Data sets SEED … SEED + COUNT - 1 of two kinds, 20,000 x 10 with 8 Gaussians (sd .05, centres of
 * norm .85 U(.4, 1)) and 10,000 x 3 with 3 (sd .1, .8 U(.4, 1)), clipped to the unit ball; one run
 * each with a seed of its own, add-remove, delta 1e-6, rows not public.  Prints, for each kind and
 * method, the mean ratio of the losses with its standard error, the median, and CPU seconds a run.
 * Without a method: all baselines at their presets.
 */
#include "bench.h"
#include "random/random.h"
#include "solver/solver.h"
#include <cloister/cloister.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct kind {
    size_t rows, cols, clusters;
    double sd, radius;
} kind;

static const kind kinds[] = { { 20000, 10, 8, .05, .85 }, { 10000, 3, 3, .1, .8 } };
static const double DELTA = 1e-6;
enum { MOST_SETS = 1000 };

static clo_rng *seeded(const char *what, long seed)
{
    uint8_t bytes[32];
    char text[64];
    clo_error err;
    clo_rng *rng = NULL;
    snprintf(text, sizeof text, "%s %ld", what, seed);
    clo_seed_from_text(text, bytes);
    must(clo_rng_new_seeded(bytes, &rng, &err), &err);
    return rng;
}

static double norm_of(const double *x, size_t d)
{
    double square = 0;
    for (size_t j = 0; j < d; j++) square += x[j] * x[j];
    return sqrt(square);
}

static void make_data(const kind *k, long seed, double *rows)
{
    clo_rng *const rng = seeded("data", seed);
    double *const centers = malloc(k->clusters * k->cols * sizeof *centers);
    clo_stream *stream = NULL;
    clo_error err;
    must(clo_i_stream_open(rng, 1, 0, &stream, &err), &err);
    for (size_t c = 0; c < k->clusters; c++) {
        double *const center = centers + c * k->cols;
        for (size_t j = 0; j < k->cols; j++) center[j] = clo_i_random_normal(stream);
        const double length = (.4 + .6 * clo_i_random_unit(stream)) * k->radius;
        const double factor = length / norm_of(center, k->cols);
        for (size_t j = 0; j < k->cols; j++) center[j] *= factor;
    }
    for (size_t i = 0; i < k->rows; i++) {
        const double *const center = centers + clo_i_random_below(stream, k->clusters) * k->cols;
        double *const row = rows + i * k->cols;
        for (size_t j = 0; j < k->cols; j++)
            row[j] = center[j] + k->sd * clo_i_random_normal(stream);
        const double norm = norm_of(row, k->cols);
        for (size_t j = 0; j < k->cols && norm > 1; j++) row[j] /= norm;
    }
    clo_i_stream_close(stream);
    free(centers);
    clo_rng_free(rng);
}

static double loss_of(const kind *k, const double *rows, const double *centers)
{
    double total = 0;
    for (size_t i = 0; i < k->rows; i++) {
        double least = INFINITY;
        for (size_t c = 0; c < k->clusters; c++) {
            double square = 0;
            for (size_t j = 0; j < k->cols; j++) {
                const double apart = rows[i * k->cols + j] - centers[c * k->cols + j];
                square += apart * apart;
            }
            least = fmin(least, square);
        }
        total += least;
    }
    return total;
}

static double best_loss(const kind *k, const double *rows, long seed)
{
    clo_rng *const rng = seeded("solve", seed);
    const clo_kmeans_options options = clo_i_kmeans_default(k->clusters);
    const clo_solver_input job = {
        .rows = rows, .count = k->rows, .cols = k->cols, .rng = rng, .threads = 1, .progress_to = 1
    };
    double *const centers = calloc(k->clusters * k->cols, sizeof *centers), cost;
    uint32_t *const labels = calloc(k->rows, sizeof *labels);
    clo_error err;
    must(clo_i_kmeans(&job, &options, centers, labels, &cost, &err), &err);
    const double loss = loss_of(k, rows, centers);
    free(labels);
    free(centers);
    clo_rng_free(rng);
    return loss;
}

typedef struct way {
    const char *method;
    char **settings;
    int count;
} way;

static clo_plan *plan_of(const kind *k, const way *w, const clo_domain *domain, double epsilon)
{
    clo_params *params = NULL;
    clo_plan *plan = NULL;
    clo_error err;
    char name[64];
    snprintf(name, sizeof name, "kmeans/%s", w->method);
    if (!clo_mechanism_find(name)) {
        fprintf(stderr, "bench_kmeans_baselines: there is no %s\n", name);
        exit(2);
    }
    must(clo_params_new(clo_mechanism_find(name), &params, &err), &err);
    must(clo_params_set(params, "clusters", (double)k->clusters, &err), &err);
    for (int i = 0; i < w->count; i++) {
        char text[128];
        snprintf(text, sizeof text, "%s", w->settings[i]);
        char *const equals = strchr(text, '=');
        if (!equals) {
            fprintf(stderr, "bench_kmeans_baselines: a setting is NAME=VALUE, not %s\n", text);
            exit(2);
        }
        *equals = 0;
        must(clo_params_set_text(params, text, equals + 1, &err), &err);
    }
    must(clo_plan_new(params, domain, (clo_loss){ epsilon, DELTA }, CLO_IDEALIZED, &plan, &err),
         &err);
    clo_params_free(params);
    return plan;
}

/* The loss of one run; adds its CPU seconds. */
static double run_once(const kind *k, const clo_plan *plan, const clo_domain *domain,
                       const double *rows, long seed, double *seconds)
{
    clo_rng *const rng = seeded("run", seed);
    clo_run_options options = clo_run_options_default();
    clo_table *table = NULL;
    clo_bounded *data = NULL;
    clo_grant *grant = NULL;
    clo_release *release = NULL;
    clo_array centers;
    clo_error err;
    const clo_matrix view = { rows, k->rows, k->cols, k->cols };
    options.threads = 1;
    must(clo_table_wrap(view, CLO_MISSING_NULL, &table, &err), &err);
    must(clo_bound(table, domain, &data, &err), &err);
    must(clo_grant_unmetered(plan, &grant, &err), &err);
    const clock_t start = clock();
    must(clo_run(plan, grant, data, rng, &options, &release, &err), &err);
    *seconds += (double)(clock() - start) / CLOCKS_PER_SEC;
    if (!clo_release_find(release, "centers", &centers)) exit(1);
    const double loss = loss_of(k, rows, centers.data);
    clo_release_free(release);
    clo_grant_free(grant);
    clo_bounded_free(data);
    clo_table_free(table);
    clo_rng_free(rng);
    return loss;
}

static int ascending(const void *x, const void *y)
{
    const double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

static void report(const kind *k, const way *w, double *ratios, size_t count, double seconds)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < count; i++) sum += ratios[i];
    const double mean = sum / (double)count;
    for (size_t i = 0; i < count; i++) squares += (ratios[i] - mean) * (ratios[i] - mean);
    qsort(ratios, count, sizeof *ratios, ascending);
    printf("%zu x %zu, k = %zu, %-9s mean %.4f +- %.4f, median %.4f, %.3f s\n", k->rows, k->cols,
           k->clusters, w->method, mean,
           count > 1 ? sqrt(squares / (double)(count - 1) / (double)count) : 0,
           (ratios[(count - 1) / 2] + ratios[count / 2]) / 2, seconds / (double)count);
    fflush(stdout);
}

static void measure(const kind *k, const way *w, long seed, size_t count, double epsilon)
{
    static double ratios[MOST_SETS];
    clo_domain domain = clo_domain_default();
    double *const rows = malloc(k->rows * k->cols * sizeof *rows), seconds = 0;
    domain.cols = k->cols;
    domain.norm = 1;
    domain.relation = CLO_ADD_REMOVE;
    clo_plan *const plan = plan_of(k, w, &domain, epsilon);
    for (size_t i = 0; i < count; i++) {
        make_data(k, seed + (long)i, rows);
        ratios[i] = run_once(k, plan, &domain, rows, seed + (long)i, &seconds) /
                    best_loss(k, rows, seed + (long)i);
    }
    report(k, w, ratios, count, seconds);
    clo_plan_free(plan);
    free(rows);
}

int main(int argc, char **argv)
{
    static const char *const baselines[] = { "lloyd", "aggregate", "grid" };
    if (argc < 4)
        return fprintf(stderr, "usage: bench_kmeans_baselines SEED COUNT EPSILON [METHOD "
                               "[SETTING=VALUE …]]\n"),
               2;
    const long seed = atol(argv[1]), count = atol(argv[2]);
    const double epsilon = atof(argv[3]);
    if (count < 1 || count > MOST_SETS) return fprintf(stderr, "COUNT is 1 to 1000\n"), 2;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (argc > 4) {
            const way one = { argv[4], argv + 5, argc - 5 };
            measure(&kinds[i], &one, seed, (size_t)count, epsilon);
            continue;
        }
        for (size_t b = 0; b < sizeof baselines / sizeof *baselines; b++)
            measure(&kinds[i], &(way){ baselines[b], NULL, 0 }, seed, (size_t)count, epsilon);
    }
    return 0;
}
