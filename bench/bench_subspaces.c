/*
 * bench_subspaces.c - what a method of the family `subspaces` finds, on data whose subspaces are
 * known.
 *
 *   bench_subspaces METHOD CASE EPSILON[,EPSILON...] FIRST-LAST [NAME=VALUE...]
 *
 * CASE: a (1000 x 10, k = q = 3, noise .1), b (5000 x 5, k = q = 3, noise .01), c (20000 x 16, k =
 * 5, q = 3, unbalanced 1/l, directions of energy 1, .7, .5, noise .05), d (20000 x 50, k = 5, q =
 * 4, noise .05), or rows,cols,clusters,dim,noise.
 *
 * Records are U y + noise with |y| = 1, clipped to norm 1; replace one; delta = 1/(n ln n).  One
 * line an epsilon: means over the seeds FIRST to LAST of the cost (mean squared distance to the
 * nearest subspace), of d_W, of the cost of the best subspaces (k-planes from the true ones), of
 * the predicted d_W and of what the release says of itself, and CPU seconds a run.
 */
#include "bench.h"
#include "linalg/linalg.h"
#include "measure/measure.h"
#include "random/random.h"
#include <cloister/cloister.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_CLUSTERS = 32, POLISH = 8 };

typedef struct task {
    const char *name;
    size_t rows, cols, clusters, dim;
    double noise, fall; /* the energy of a direction over that of the one before it */
    bool unbalanced;
} task;

static const task tasks[] = {
    { "a", 1000, 10, 3, 3, 0.1, 1, false },
    { "b", 5000, 5, 3, 3, 0.01, 1, false },
    { "c", 20000, 16, 5, 3, 0.05, 0.7, true },
    { "d", 20000, 50, 5, 4, 0.05, 1, false },
};

static void *room(size_t count)
{
    double *const got = calloc(count ? count : 1, sizeof *got);
    if (!got) exit(1);
    return got;
}

/* ---- data -------------------------------------------------------------------------------- */

static size_t pick(const task *t, size_t row, clo_stream *stream)
{
    double total = 0, at = clo_i_random_unit(stream);
    if (!t->unbalanced) return row % t->clusters;
    for (size_t l = 0; l < t->clusters; l++) total += 1 / (double)(l + 1);
    for (size_t l = 0; l < t->clusters; l++) {
        at -= 1 / (double)(l + 1) / total;
        if (at < 0) return l;
    }
    return t->clusters - 1;
}

static double norm(const double *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += x[i] * x[i];
    return sqrt(sum);
}

static void make_data(const task *t, unsigned seed, double *rows, double *truth)
{
    const size_t d = t->cols, q = t->dim;
    char name[64];
    uint8_t bytes[32];
    clo_error err;
    clo_rng *rng = NULL;
    clo_stream *stream = NULL;
    double y[64];
    snprintf(name, sizeof name, "data %u", seed);
    clo_seed_from_text(name, bytes);
    must(clo_rng_new_seeded(bytes, &rng, &err), &err);
    must(clo_i_stream_open(rng, 0, 0, &stream, &err), &err);
    for (size_t i = 0; i < t->clusters * d * q; i++) truth[i] = clo_i_random_normal(stream);
    for (size_t l = 0; l < t->clusters; l++)
        must(clo_i_orthonormalize(truth + l * d * q, d, q, &err), &err);
    for (size_t i = 0; i < t->rows; i++) {
        const double *const u = truth + pick(t, i, stream) * d * q;
        double *const x = rows + i * d;
        for (size_t e = 0; e < q; e++)
            y[e] = clo_i_random_normal(stream) * pow(t->fall, (double)e / 2);
        const double length = norm(y, q);
        for (size_t j = 0; j < d; j++) {
            x[j] = t->noise * clo_i_random_normal(stream);
            for (size_t e = 0; e < q; e++) x[j] += u[j * q + e] * y[e] / length;
        }
        const double far = fmax(1, norm(x, d));
        for (size_t j = 0; j < d; j++) x[j] /= far;
    }
    clo_i_stream_close(stream);
    clo_rng_free(rng);
}

static double cost_of(const task *t, const double *rows, const double *bases, uint32_t *labels)
{
    const clo_flats flats = { t->clusters, t->cols, t->dim, NULL, bases };
    double *const squared = room(t->rows), sum = 0;
    clo_error err;
    must(clo_i_flat_distances(&flats, rows, t->rows, squared, labels, &err), &err);
    for (size_t i = 0; i < t->rows; i++) sum += squared[i];
    free(squared);
    return sum / (double)t->rows;
}

/* k-planes from the true subspaces: as good as a method without noise can be. */
static double best_cost(const task *t, const double *rows, const double *truth)
{
    const size_t d = t->cols, q = t->dim, k = t->clusters;
    double *const bases = room(k * d * q), *const gram = room(d * d), *const values = room(q);
    double *const scratch = room(clo_i_eigen_scratch(d, q)), *const own = room(t->rows * d);
    uint32_t *const labels = room(t->rows);
    clo_error err;
    memcpy(bases, truth, k * d * q * sizeof *bases);
    double cost = cost_of(t, rows, bases, labels);
    for (int turn = 0; turn < POLISH; turn++) {
        for (size_t l = 0; l < k; l++) {
            size_t count = 0;
            for (size_t i = 0; i < t->rows; i++)
                if (labels[i] == l) memcpy(own + d * count++, rows + i * d, d * sizeof *own);
            memset(gram, 0, d * d * sizeof *gram);
            clo_i_gram_add(own, count, d, gram);
            for (size_t i = 0; i < d; i++)
                for (size_t j = 0; j < i; j++) gram[i * d + j] = gram[j * d + i];
            must(clo_i_eigen_top(gram, d, q, values, bases + l * d * q, scratch, &err), &err);
        }
        cost = cost_of(t, rows, bases, labels);
    }
    free(bases), free(gram), free(values), free(scratch), free(own), free(labels);
    return cost;
}

/* ---- one run ----------------------------------------------------------------------------- */

typedef struct numbers {
    double cost, distance, best, predicted, uncertainty, seconds;
} numbers;

static clo_plan *make_plan(const task *t, const char *method, double epsilon, int count,
                           char **settings)
{
    const clo_mechanism *const mechanism = clo_mechanism_find(method);
    clo_domain domain = clo_domain_default();
    const double n = (double)t->rows;
    char number[32];
    clo_params *params = NULL;
    clo_plan *plan = NULL;
    clo_error err;
    if (!mechanism) exit(2);
    domain.cols = t->cols;
    domain.norm = 1;
    domain.rows = t->rows;
    must(clo_params_new(mechanism, &params, &err), &err);
    snprintf(number, sizeof number, "%zu", t->clusters);
    must(clo_params_set_text(params, "clusters", number, &err), &err);
    snprintf(number, sizeof number, "%zu", t->dim);
    must(clo_params_set_text(params, "dim", number, &err), &err);
    for (int i = 0; i < count; i++) {
        char copy[128];
        snprintf(copy, sizeof copy, "%s", settings[i]);
        char *const equals = strchr(copy, '=');
        if (!equals) exit(2);
        *equals = 0;
        must(clo_params_set_text(params, copy, equals + 1, &err), &err);
    }
    const clo_loss budget = { epsilon, 1 / (n * log(n)) };
    must(clo_plan_new(params, &domain, budget, CLO_ASYMPTOTIC, &plan, &err), &err);
    clo_params_free(params);
    return plan;
}

static clo_bounded *bound(const task *t, const double *rows)
{
    clo_domain domain = clo_domain_default();
    const clo_matrix view = { rows, t->rows, t->cols, t->cols };
    clo_table *table = NULL;
    clo_bounded *data = NULL;
    clo_error err;
    domain.cols = t->cols;
    domain.norm = 1;
    domain.rows = t->rows;
    must(clo_table_wrap(view, CLO_MISSING_NULL, &table, &err), &err);
    must(clo_bound(table, &domain, &data, &err), &err);
    clo_table_free(table);
    return data;
}

static double now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &at);
    return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

static numbers run_once(const task *t, const clo_plan *plan, unsigned seed)
{
    numbers out = { 0 };
    char name[64];
    uint8_t bytes[32];
    double *const rows = room(t->rows * t->cols);
    double *const truth = room(t->clusters * t->cols * t->dim);
    clo_grant *grant = NULL;
    clo_release *release = NULL;
    clo_rng *rng = NULL;
    clo_array array;
    clo_error err;
    const char *meaning;
    make_data(t, seed, rows, truth);
    clo_bounded *const data = bound(t, rows);
    snprintf(name, sizeof name, "run %u", seed);
    clo_seed_from_text(name, bytes);
    must(clo_rng_new_seeded(bytes, &rng, &err), &err);
    must(clo_grant_unmetered(plan, &grant, &err), &err);
    const double before = now();
    must(clo_run(plan, grant, data, rng, NULL, &release, &err), &err);
    out.seconds = now() - before;
    if (!clo_release_find(release, "bases", &array)) exit(1);
    out.cost = cost_of(t, rows, array.data, NULL);
    must(clo_i_subspaces_distance(array.data, truth, t->clusters, t->cols, t->dim, &out.distance,
                                  &err),
         &err);
    if (clo_release_find(release, "uncertainty", &array))
        out.uncertainty = norm(array.data, t->clusters);
    out.best = best_cost(t, rows, truth);
    if (clo_plan_predict(plan, (double)t->rows, &out.predicted, &meaning, &err)) out.predicted = 0;
    clo_release_free(release);
    clo_grant_free(grant);
    clo_rng_free(rng);
    clo_bounded_free(data);
    free(rows), free(truth);
    return out;
}

static void bench(const task *t, const char *method, double epsilon, unsigned first, unsigned last,
                  int count, char **settings)
{
    clo_plan *const plan = make_plan(t, method, epsilon, count, settings);
    numbers sum = { 0 };
    double squares = 0, n = 0;
    printf("%s %s eps %g (", method, t->name, epsilon);
    for (size_t i = 0; i < clo_plan_line_count(plan); i++) {
        const clo_plan_line line = clo_plan_line_at(plan, i);
        printf("%s%llux%s %.2f", i ? ", " : "", (unsigned long long)line.event.count, line.query,
               line.share);
    }
    for (unsigned seed = first; seed <= last; seed++, n++) {
        const numbers one = run_once(t, plan, seed);
        if (getenv("EACH")) fprintf(stderr, "%u: %.4f %.3f\n", seed, one.cost, one.distance);
        sum.cost += one.cost;
        sum.distance += one.distance;
        sum.best += one.best;
        sum.predicted += one.predicted;
        sum.uncertainty += one.uncertainty;
        sum.seconds += one.seconds;
        squares += one.distance * one.distance;
    }
    const double mean = sum.distance / n;
    printf("): cost %.5f d_W %.4f +- %.4f best cost %.5f predicted %.4f uncertainty %.4f CPU s "
           "%.2f\n",
           sum.cost / n, mean, sqrt(fmax(squares / n - mean * mean, 0) / n), sum.best / n,
           sum.predicted / n, sum.uncertainty / n, sum.seconds / n);
    fflush(stdout);
    clo_plan_free(plan);
}

int main(int argc, char **argv)
{
    task own = { "own", 0, 0, 0, 0, 0, 1, false };
    const task *t = &own;
    char method[64];
    unsigned first = 0, last = 0;
    if (argc < 5 || sscanf(argv[4], "%u-%u", &first, &last) != 2) {
        fprintf(stderr,
                "usage: bench_subspaces METHOD CASE EPSILON[,...] FIRST-LAST [NAME=VALUE]\n");
        return 2;
    }
    snprintf(method, sizeof method, "subspaces/%s", argv[1]);
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++)
        if (strcmp(argv[2], tasks[i].name) == 0) t = &tasks[i];
    if (t == &own && sscanf(argv[2], "%zu,%zu,%zu,%zu,%lf", &own.rows, &own.cols, &own.clusters,
                            &own.dim, &own.noise) != 5)
        return 2;
    for (char *at = argv[3]; *at; at += *at == ',') {
        const double epsilon = strtod(at, &at);
        bench(t, method, epsilon, first, last, argc - 5, argv + 5);
    }
    return 0;
}
