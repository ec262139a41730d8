/*
 * bench_subspace_approx.c - how well subspace/approx and subspace/boosted do on Gaussian data with
 * spread 1 along k random directions and gamma across them.
 *
 *   bench_subspace_approx METHOD SEED ROWS COLS DIM GAMMA RUNS [NAME=VALUE...]
 *
 * METHOD: approx or boosted; SEED: any word; NAME=VALUE: further parameters of the method, and
 * stated=X: the gamma that it is told, as a multiple of the true one.  Epsilon 1, delta 1e-6,
 * replace.  Prints one line: how many runs found a subspace and, of those, the median and the 90th
 * of a hundred sines of the largest angle, and the root of the mean ||sin Theta||_F^2 beside what
 * the plan predicts; and seconds of processor time a run.
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

typedef struct setting {
    size_t rows, cols, dim;
    double gamma, stated;
    const char *method;
    char **settings;
    int count;
    double *values, *truth; /* rows x cols; cols x dim */
} setting;

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void draw(const setting *s, clo_stream *stream)
{
    const size_t d = s->cols, k = s->dim;
    clo_error err;
    for (size_t i = 0; i < d * k; i++) s->truth[i] = clo_i_random_normal(stream);
    must(clo_i_orthonormalize(s->truth, d, k, &err), &err);
    for (size_t i = 0; i < s->rows; i++) {
        double *const row = s->values + i * d;
        for (size_t j = 0; j < d; j++) row[j] = s->gamma * clo_i_random_normal(stream);
        for (size_t e = 0; e < k; e++) {
            const double along = clo_i_random_normal(stream);
            for (size_t j = 0; j < d; j++) row[j] += along * s->truth[j * k + e];
        }
    }
}

static clo_plan *make_plan(const setting *s, const clo_domain *domain)
{
    clo_error err;
    clo_params *params = NULL;
    clo_plan *plan = NULL;
    char name[64];
    snprintf(name, sizeof name, "subspace/%s", s->method);
    must(clo_params_new(clo_mechanism_find(name), &params, &err), &err);
    must(clo_params_set(params, "dim", (double)s->dim, &err), &err);
    must(clo_params_set(params, "gamma", s->gamma * s->stated, &err), &err);
    for (int i = 0; i < s->count; i++) {
        const char *const equals = strchr(s->settings[i], '=');
        if (!equals || strncmp(s->settings[i], "stated=", 7) == 0) continue;
        snprintf(name, sizeof name, "%.*s", (int)(equals - s->settings[i]), s->settings[i]);
        must(clo_params_set_text(params, name, equals + 1, &err), &err);
    }
    must(clo_plan_new(params, domain, (clo_loss){ 1, 1e-6 }, CLO_EXACT, &plan, &err), &err);
    clo_params_free(params);
    return plan;
}

/* The sine of the largest angle, and the sum of all squares; -1 where no subspace was found. */
static double run_once(const setting *s, const clo_domain *domain, const clo_plan *plan,
                       clo_rng *rng, double *square)
{
    clo_error err;
    clo_table *table = NULL;
    clo_bounded *data = NULL;
    clo_grant *grant = NULL;
    clo_release *release = NULL;
    clo_array basis;
    double *const sines = calloc(s->dim, sizeof *sines), worst = -1;
    const clo_matrix view = { s->values, s->rows, s->cols, s->cols };
    must(clo_table_wrap(view, CLO_MISSING_NULL, &table, &err), &err);
    must(clo_bound(table, domain, &data, &err), &err);
    must(clo_grant_unmetered(plan, &grant, &err), &err);
    must(clo_run(plan, grant, data, rng, NULL, &release, &err), &err);
    if (clo_release_find(release, "basis", &basis)) {
        must(clo_i_sin_angles(basis.data, s->truth, s->cols, s->dim, sines, &err), &err);
        worst = sines[0];
        for (size_t i = 0; i < s->dim; i++) *square += sines[i] * sines[i];
    }
    free(sines);
    clo_release_free(release);
    clo_grant_free(grant);
    clo_bounded_free(data);
    clo_table_free(table);
    return worst;
}

int main(int argc, char **argv)
{
    if (argc < 8)
        return fprintf(stderr, "usage: bench_subspace_approx METHOD SEED ROWS COLS DIM GAMMA RUNS "
                               "[NAME=VALUE...]\n"),
               2;
    setting s = { .method = argv[1],
                  .rows = (size_t)atol(argv[3]),
                  .cols = (size_t)atol(argv[4]),
                  .dim = (size_t)atol(argv[5]),
                  .gamma = atof(argv[6]),
                  .stated = 1,
                  .settings = argv + 8,
                  .count = argc - 8 };
    const size_t runs = (size_t)atol(argv[7]);
    uint8_t seed[32];
    clo_error err;
    clo_rng *rng = NULL;
    clo_stream *stream = NULL;
    clo_domain domain = clo_domain_default();
    double *const errors = calloc(runs, sizeof *errors), predicted = 0, taken = 0, square = 0;
    const char *meaning;
    size_t found = 0, near = 0;
    for (int i = 0; i < s.count; i++) (void)sscanf(s.settings[i], "stated=%lf", &s.stated);
    s.values = calloc(s.rows * s.cols, sizeof *s.values);
    s.truth = calloc(s.cols * s.dim, sizeof *s.truth);
    domain.cols = s.cols;
    domain.rows = s.rows;
    domain.norm = 6 * sqrt((double)s.dim); /* clips next to nothing */
    clo_seed_from_text(argv[2], seed);
    must(clo_rng_new_seeded(seed, &rng, &err), &err);
    must(clo_i_stream_open(rng, 1u << 30, 0, &stream, &err), &err);
    clo_plan *const plan = make_plan(&s, &domain);
    must(clo_plan_predict(plan, (double)s.rows, &predicted, &meaning, &err), &err);
    for (size_t i = 0; i < runs; i++) {
        draw(&s, stream);
        const clock_t start = clock();
        const double error = run_once(&s, &domain, plan, rng, &square);
        taken += (double)(clock() - start) / CLOCKS_PER_SEC;
        if (error >= 0) errors[found++] = error;
        near += error >= 0 && error <= 2 * predicted;
    }
    qsort(errors, found, sizeof *errors, ascending);
    printf("%s, rows %zu cols %zu dim %zu gamma %g: found %zu of %zu, %zu within twice the "
           "prediction, median %.3g, 90%% %.3g, Frobenius %.3g, predicted %.3g, %.3g s\n",
           s.method, s.rows, s.cols, s.dim, s.gamma, found, runs, near,
           found ? errors[found / 2] : NAN, found ? errors[found * 9 / 10] : NAN,
           sqrt(square / (double)found), predicted, taken / (double)runs);
    clo_plan_free(plan);
    clo_i_stream_close(stream);
    clo_rng_free(rng);
    free(s.truth);
    free(s.values);
    free(errors);
    return 0;
}
