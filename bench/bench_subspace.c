/*
 * bench_subspace.c - how far a method of the family `subspace` is from a subspace that is known.
 *
 *   bench_subspace METHOD ROWS,COLS,DIM,NOISE EPSILON SETS [NAME=VALUE]
 *
 * Records are U y + noise with |y| = 1, clipped to norm 1; replace one; delta = 1/(n ln n).  Prints
 * the mean over SETS data sets of ||sin Theta||_F, what was predicted, and CPU seconds a run.
 */
#include "bench.h"
#include "linalg/linalg.h"
#include "random/random.h"
#include <cloister/cloister.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct task {
    size_t rows, cols, dim;
    double noise;
} task;

static double *room(size_t count)
{
    double *const got = calloc(count ? count : 1, sizeof *got);
    if (!got) exit(1);
    return got;
}

static clo_rng *seeded(const char *what, int set)
{
    char name[64];
    uint8_t bytes[32];
    clo_error err;
    clo_rng *rng = NULL;
    snprintf(name, sizeof name, "%s %d", what, set);
    clo_seed_from_text(name, bytes);
    must(clo_rng_new_seeded(bytes, &rng, &err), &err);
    return rng;
}

static double norm(const double *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += x[i] * x[i];
    return sqrt(sum);
}

static void make_data(const task *t, int set, double *rows, double *truth)
{
    const size_t d = t->cols, q = t->dim;
    clo_error err;
    clo_stream *stream = NULL;
    clo_rng *const rng = seeded("data", set);
    double *const y = room(q);
    must(clo_i_stream_open(rng, 0, 0, &stream, &err), &err);
    for (size_t i = 0; i < d * q; i++) truth[i] = clo_i_random_normal(stream);
    must(clo_i_orthonormalize(truth, d, q, &err), &err);
    for (size_t i = 0; i < t->rows; i++) {
        double *const x = rows + i * d;
        for (size_t e = 0; e < q; e++) y[e] = clo_i_random_normal(stream);
        const double length = norm(y, q);
        for (size_t j = 0; j < d; j++) {
            x[j] = t->noise * clo_i_random_normal(stream);
            for (size_t e = 0; e < q; e++) x[j] += truth[j * q + e] * y[e] / length;
        }
        const double far = fmax(1, norm(x, d));
        for (size_t j = 0; j < d; j++) x[j] /= far;
    }
    free(y);
    clo_i_stream_close(stream);
    clo_rng_free(rng);
}

/* ||sin Theta||_F^2 = q - ||U'V||_F^2. */
static double distance(const task *t, const double *u, const double *v)
{
    double total = (double)t->dim;
    for (size_t a = 0; a < t->dim; a++)
        for (size_t b = 0; b < t->dim; b++) {
            double dot = 0;
            for (size_t j = 0; j < t->cols; j++) dot += u[j * t->dim + a] * v[j * t->dim + b];
            total -= dot * dot;
        }
    return sqrt(fmax(total, 0));
}

static clo_plan *plan_of(char **words, int count, const task *t, double epsilon)
{
    clo_domain domain = clo_domain_default();
    const double n = (double)t->rows;
    char name[64], dim[32];
    clo_error err;
    clo_params *params = NULL;
    clo_plan *plan = NULL;
    snprintf(name, sizeof name, "subspace/%s", words[1]);
    snprintf(dim, sizeof dim, "%zu", t->dim);
    if (!clo_mechanism_find(name)) exit(1);
    must(clo_params_new(clo_mechanism_find(name), &params, &err), &err);
    must(clo_params_set_text(params, "dim", dim, &err), &err);
    for (int i = 5; i < count; i++) {
        char *const equals = strchr(words[i], '=');
        if (!equals) exit(1);
        *equals = 0;
        must(clo_params_set_text(params, words[i], equals + 1, &err), &err);
    }
    domain.cols = t->cols;
    domain.norm = 1;
    const clo_loss budget = { epsilon, 1 / (n * log(n)) };
    must(clo_plan_new(params, &domain, budget, CLO_ASYMPTOTIC, &plan, &err), &err);
    clo_params_free(params);
    return plan;
}

static double one_run(const task *t, const clo_plan *plan, const clo_domain *domain, int set,
                      double *rows, double *truth, double *seconds)
{
    clo_error err;
    clo_table *table = NULL;
    clo_bounded *data = NULL;
    clo_grant *grant = NULL;
    clo_release *release = NULL;
    clo_array basis;
    clo_rng *const rng = seeded("run", set);
    const clo_matrix view = { rows, t->rows, t->cols, t->cols };
    make_data(t, set, rows, truth);
    must(clo_table_wrap(view, CLO_MISSING_NULL, &table, &err), &err);
    must(clo_bound(table, domain, &data, &err), &err);
    must(clo_grant_unmetered(plan, &grant, &err), &err);
    const clock_t start = clock();
    must(clo_run(plan, grant, data, rng, NULL, &release, &err), &err);
    *seconds += (double)(clock() - start) / CLOCKS_PER_SEC;
    if (!clo_release_find(release, "basis", &basis)) exit(1);
    const double far = distance(t, basis.data, truth);
    clo_release_free(release);
    clo_grant_free(grant);
    clo_bounded_free(data);
    clo_table_free(table);
    clo_rng_free(rng);
    return far;
}

int main(int count, char **words)
{
    task t;
    if (count < 5 || sscanf(words[2], "%zu,%zu,%zu,%lf", &t.rows, &t.cols, &t.dim, &t.noise) != 4) {
        fputs("bench_subspace METHOD ROWS,COLS,DIM,NOISE EPSILON SETS [NAME=VALUE]\n", stderr);
        return 2;
    }
    const double epsilon = strtod(words[3], NULL);
    const int sets = (int)strtol(words[4], NULL, 10);
    clo_plan *const plan = plan_of(words, count, &t, epsilon);
    clo_domain domain = clo_domain_default();
    double *const rows = room(t.rows * t.cols), *const truth = room(t.cols * t.dim);
    double mean = 0, seconds = 0, predicted = 0;
    const char *meaning;
    clo_error err;
    domain.cols = t.cols;
    domain.norm = 1;
    must(clo_plan_predict(plan, (double)t.rows, &predicted, &meaning, &err), &err);
    for (int set = 0; set < sets; set++)
        mean += one_run(&t, plan, &domain, set, rows, truth, &seconds) / sets;
    printf("%-9s %-16s epsilon %-4g  distance %.3f  predicted %.3f  %.4f s\n", words[1], words[2],
           epsilon, mean, predicted, seconds / sets);
    free(rows);
    free(truth);
    clo_plan_free(plan);
    return 0;
}
