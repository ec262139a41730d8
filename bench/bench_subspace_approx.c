/*
 * bench_subspace_approx.c - how well subspace/approx does on Gaussian data with spread 1 along k
 * random directions and gamma across them.
 *
 *   bench_subspace_approx ROWS COLS DIM GAMMA RUNS [BLOCKS] [STATED]
 *
 * Epsilon 1, delta 1e-6, replace.  BLOCKS 0: the preset.  STATED: the gamma that the mechanism is
 * told, as a multiple of the true one (1).  Prints one line: how many runs found a subspace and, of
 * those, the median sine of the largest angle, beside what the plan predicts and seconds of
 * processor time a run.
 */
#include "linalg/linalg.h"
#include "random/random.h"
#include <cloister/cloister.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef struct setting {
    size_t rows, cols, dim;
    double gamma, blocks, stated;
    double *values, *truth; /* rows x cols; cols x dim */
} setting;

static void must(clo_status status, const clo_error *err)
{
    if (status == CLO_OK) return;
    fprintf(stderr, "bench_subspace_approx: %s\n", err->message);
    exit(clo_status_exit_code(status));
}

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
    must(clo_params_new(clo_mechanism_find("subspace/approx"), &params, &err), &err);
    must(clo_params_set(params, "dim", (double)s->dim, &err), &err);
    must(clo_params_set(params, "gamma", s->gamma * s->stated, &err), &err);
    must(clo_params_set(params, "blocks", s->blocks, &err), &err);
    must(clo_plan_new(params, domain, (clo_loss){ 1, 1e-6 }, CLO_EXACT, &plan, &err), &err);
    clo_params_free(params);
    return plan;
}

/* The sine of the largest angle; -1 where no subspace was found. */
static double run_once(const setting *s, const clo_domain *domain, const clo_plan *plan,
                       clo_rng *rng)
{
    clo_error err;
    clo_table *table = NULL;
    clo_bounded *data = NULL;
    clo_grant *grant = NULL;
    clo_release *release = NULL;
    clo_array basis;
    double *const sines = calloc(s->dim, sizeof *sines), worst = -1;
    const clo_matrix view = { s->values, s->rows, s->cols, s->cols };
    must(clo_table_wrap(view, CLO_MISSING_ZERO, &table, &err), &err);
    must(clo_bound(table, domain, &data, &err), &err);
    must(clo_grant_unmetered(plan, &grant, &err), &err);
    must(clo_run(plan, grant, data, rng, NULL, &release, &err), &err);
    if (clo_release_find(release, "basis", &basis)) {
        must(clo_i_sin_angles(basis.data, s->truth, s->cols, s->dim, sines, &err), &err);
        worst = sines[0];
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
    if (argc < 6)
        return fprintf(stderr, "usage: bench_subspace_approx ROWS COLS DIM GAMMA RUNS [BLOCKS] "
                               "[STATED]\n"),
               2;
    setting s = { .rows = (size_t)atol(argv[1]),
                  .cols = (size_t)atol(argv[2]),
                  .dim = (size_t)atol(argv[3]),
                  .gamma = atof(argv[4]),
                  .blocks = argc > 6 ? atof(argv[6]) : 0,
                  .stated = argc > 7 ? atof(argv[7]) : 1 };
    const size_t runs = (size_t)atol(argv[5]);
    uint8_t seed[32];
    clo_error err;
    clo_rng *rng = NULL;
    clo_stream *stream = NULL;
    clo_domain domain = clo_domain_default();
    double *const errors = calloc(runs, sizeof *errors), predicted = 0;
    const char *meaning;
    size_t found = 0;
    s.values = calloc(s.rows * s.cols, sizeof *s.values);
    s.truth = calloc(s.cols * s.dim, sizeof *s.truth);
    domain.cols = s.cols;
    domain.rows = s.rows;
    domain.norm = 6 * sqrt((double)s.dim); /* clips next to nothing */
    clo_seed_from_text("bench", seed);
    must(clo_rng_new_seeded(seed, &rng, &err), &err);
    must(clo_i_stream_open(rng, 1u << 30, 0, &stream, &err), &err);
    clo_plan *const plan = make_plan(&s, &domain);
    must(clo_plan_predict(plan, (double)s.rows, &predicted, &meaning, &err), &err);
    double taken = 0;
    for (size_t i = 0; i < runs; i++) {
        draw(&s, stream);
        const clock_t start = clock();
        const double error = run_once(&s, &domain, plan, rng);
        taken += (double)(clock() - start) / CLOCKS_PER_SEC;
        if (error >= 0) errors[found++] = error;
    }
    qsort(errors, found, sizeof *errors, ascending);
    printf("rows %zu cols %zu dim %zu gamma %g: found %zu of %zu, median %.3g, predicted %.3g, "
           "%.3g s\n",
           s.rows, s.cols, s.dim, s.gamma, found, runs, found ? errors[found / 2] : NAN, predicted,
           taken / (double)runs);
    clo_plan_free(plan);
    clo_i_stream_close(stream);
    clo_rng_free(rng);
    free(s.truth);
    free(s.values);
    free(errors);
    return 0;
}
