/*
 * bench_kmeans_moments.c - the loss of a method of the family `kmeans`, over that of non-private
 * k-means++ with restarts on the same records.
 *
 *   bench_kmeans_moments METHOD CASE EPSILON[,EPSILON...] FIRST-LAST [NAME=VALUE...]
 *
 * CASE: a (20000 x 10, 8 Gaussians, centres of norm .34 to .85, deviation .05), b (10000 x 3, 3
 * Gaussians, .32 to .8, .1), c (100000 x 100, 64 Gaussians, .0125), rows,cols,gaussians,radius,
 * deviation, or FILE.npy.  Of NAME=VALUE, norm (of a file's records), loss (of the non-private
 * centres, if it is known) and delta are the program's, all others the method's.
 *
 * Add-remove, delta = 1e-6.  Gaussians are drawn and clipped to norm 1 for each of the seeds; a
 * file is the same for all of them, the noise is not.  One line an epsilon: mean and largest ratio,
 * how many of the runs are above 1.2, what was predicted, what the release says of itself, the
 * centres' true error, and CPU seconds a run.
 */
#include "bench.h"
#include "data/data.h"
#include "linalg/linalg.h"
#include "random/random.h"
#include <cloister/cloister.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BLOCK = 1024, RESTARTS = 10, MOST_SETTINGS = 16 };

typedef struct task {
    const char *name;
    size_t rows, cols, clusters;
    double radius, deviation;
} task;

static const task tasks[] = {
    { "a", 20000, 10, 8, 0.85, 0.05 },
    { "b", 10000, 3, 3, 0.8, 0.1 },
    { "c", 100000, 100, 64, 0.85, 0.0125 },
};

static void *room(size_t count)
{
    double *const got = calloc(count ? count : 1, sizeof *got);
    if (!got) exit(1);
    return got;
}

/* ---- data -------------------------------------------------------------------------------- */

static double draw(clo_stream *stream, size_t d, double *out)
{
    double square = 0;
    for (size_t j = 0; j < d; j++) {
        out[j] = clo_i_random_normal(stream);
        square += out[j] * out[j];
    }
    return sqrt(square);
}

static double *fill(const task *t, const char *seed)
{
    clo_error err;
    uint8_t bytes[32];
    clo_rng *rng = NULL;
    clo_stream *stream = NULL;
    const size_t d = t->cols;
    double *const centers = room(t->clusters * d), *const values = room(t->rows * d);
    clo_seed_from_text(seed, bytes);
    must(clo_rng_new_seeded(bytes, &rng, &err), &err);
    must(clo_i_stream_open(rng, clo_i_rng_next_ask(rng), 0, &stream, &err), &err);
    for (size_t c = 0; c < t->clusters; c++) {
        const double length = draw(stream, d, centers + c * d);
        const double wanted = t->radius * (0.4 + 0.6 * clo_i_random_unit(stream));
        for (size_t j = 0; j < d; j++) centers[c * d + j] *= wanted / length;
    }
    for (size_t i = 0; i < t->rows; i++) {
        double *const x = values + i * d, square = 0;
        const double *const c = centers + d * clo_i_random_below(stream, t->clusters);
        draw(stream, d, x);
        for (size_t j = 0; j < d; j++) {
            x[j] = c[j] + t->deviation * x[j];
            square += x[j] * x[j];
        }
        for (size_t j = 0; j < d && square > 1; j++) x[j] /= sqrt(square);
    }
    clo_i_stream_close(stream);
    clo_rng_free(rng);
    free(centers);
    return values;
}

/* ---- measures ---------------------------------------------------------------------------- */

/* The mean squared distance to the nearest centre; the means of the centres' members, if asked. */
static double loss_of(const double *values, size_t n, size_t d, const double *centers, size_t k,
                      double *means)
{
    double *const products = room(BLOCK * k), *const lengths = room(k), *const sizes = room(k);
    double total = 0;
    for (size_t c = 0; c < k; c++)
        for (size_t j = 0; j < d; j++) lengths[c] += centers[c * d + j] * centers[c * d + j];
    for (size_t first = 0; first < n; first += BLOCK) {
        const size_t rows = n - first < BLOCK ? n - first : BLOCK;
        clo_i_multiply_transposed(values + first * d, rows, centers, k, d, products);
        for (size_t i = 0; i < rows; i++) {
            const double *const x = values + (first + i) * d, *const p = products + i * k;
            size_t best = 0;
            for (size_t c = 1; c < k; c++)
                if (lengths[c] - 2 * p[c] < lengths[best] - 2 * p[best]) best = c;
            total += lengths[best] - 2 * p[best];
            sizes[best]++;
            for (size_t j = 0; j < d; j++) total += x[j] * x[j];
            for (size_t j = 0; means && j < d; j++) means[best * d + j] += x[j];
        }
    }
    for (size_t e = 0; means && e < k * d; e++) means[e] /= fmax(sizes[e / d], 1);
    free(products);
    free(lengths);
    free(sizes);
    return total / (double)n;
}

static double best_loss(const clo_table *table, size_t clusters)
{
    clo_error err;
    clo_params *params = NULL;
    clo_solution *solution = NULL;
    clo_solve_options options = clo_solve_options_default();
    must(clo_solver_params_new(clo_solver_find("kmeans"), &params, &err), &err);
    must(clo_params_set(params, "clusters", (double)clusters, &err), &err);
    must(clo_params_set(params, "restarts", RESTARTS, &err), &err);
    must(clo_solve(params, table, &options, &solution, &err), &err);
    const double cost = clo_solution_cost(solution);
    clo_solution_free(solution);
    clo_params_free(params);
    return cost;
}

typedef struct result {
    double ratio, predicted, said, error, seconds;
} result;

typedef struct setup {
    const char *method, *settings[MOST_SETTINGS];
    size_t setting_count, clusters;
    double norm, loss, epsilon, delta;
} setup;

static clo_plan *plan_of(const setup *s, const clo_domain *domain)
{
    clo_error err;
    clo_params *params = NULL;
    clo_plan *plan = NULL;
    must(clo_params_new(clo_mechanism_find(s->method), &params, &err), &err);
    must(clo_params_set(params, "clusters", (double)s->clusters, &err), &err);
    for (size_t i = 0; i < s->setting_count; i++) {
        char copy[64];
        snprintf(copy, sizeof copy, "%s", s->settings[i]);
        char *const equals = strchr(copy, '=');
        *equals = 0;
        must(clo_params_set_text(params, copy, equals + 1, &err), &err);
    }
    must(clo_plan_new(params, domain, (clo_loss){ s->epsilon, s->delta }, CLO_EXACT, &plan, &err),
         &err);
    clo_params_free(params);
    return plan;
}

static result run_once(const setup *s, const clo_table *table, const double *values,
                       const char *seed, double best)
{
    const size_t n = clo_table_rows(table), d = clo_table_cols(table);
    clo_error err;
    clo_domain domain = clo_domain_default();
    clo_bounded *data = NULL;
    clo_grant *grant = NULL;
    clo_release *release = NULL;
    clo_rng *rng = NULL;
    clo_array centers, said;
    uint8_t bytes[32];
    const char *meaning;
    result r = { 0 };
    domain.cols = d;
    domain.norm = s->norm;
    domain.relation = CLO_ADD_REMOVE;
    clo_plan *const plan = plan_of(s, &domain);
    const clock_t start = clock();
    must(clo_bound(table, &domain, &data, &err), &err);
    must(clo_grant_unmetered(plan, &grant, &err), &err);
    clo_seed_from_text(seed, bytes);
    must(clo_rng_new_seeded(bytes, &rng, &err), &err);
    must(clo_run(plan, grant, data, rng, NULL, &release, &err), &err);
    r.seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    must(clo_plan_predict(plan, (double)n, &r.predicted, &meaning, &err), &err);
    if (!clo_release_find(release, "centers", &centers)) exit(1);
    double *const means = room(s->clusters * d);
    r.ratio = loss_of(values, n, d, centers.data, s->clusters, means) / best;
    for (size_t e = 0; e < s->clusters * d; e++)
        r.error += pow((means[e] - centers.data[e]) / s->norm, 2) / (double)s->clusters;
    if (clo_release_find(release, "uncertainty", &said))
        for (size_t c = 0; c < s->clusters; c++)
            r.said += pow(said.data[c] / s->norm, 2) / (double)s->clusters;
    free(means);
    clo_release_free(release);
    clo_grant_free(grant);
    clo_rng_free(rng);
    clo_bounded_free(data);
    clo_plan_free(plan);
    return r;
}

/* ---- the program ------------------------------------------------------------------------- */

static task find_task(const char *name)
{
    task t = { .name = name };
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++)
        if (strcmp(tasks[i].name, name) == 0) return tasks[i];
    if (sscanf(name, "%zu,%zu,%zu,%lf,%lf", &t.rows, &t.cols, &t.clusters, &t.radius,
               &t.deviation) == 5)
        return t;
    t.rows = 0; /* a file */
    return t;
}

static void read_settings(int count, char **words, setup *s)
{
    for (int i = 0; i < count; i++) {
        if (sscanf(words[i], "norm=%lf", &s->norm) == 1) continue;
        if (sscanf(words[i], "loss=%lf", &s->loss) == 1) continue;
        if (sscanf(words[i], "delta=%lf", &s->delta) == 1) continue;
        if (sscanf(words[i], "clusters=%zu", &s->clusters) == 1) continue;
        if (s->setting_count == MOST_SETTINGS || !strchr(words[i], '=')) exit(2);
        s->settings[s->setting_count++] = words[i];
    }
}

static clo_table *table_of(const task *t, const char *seed, double **values)
{
    clo_error err;
    clo_table *table = NULL;
    if (t->rows) {
        *values = fill(t, seed);
        const clo_matrix view = { *values, t->rows, t->cols, t->cols };
        must(clo_table_wrap(view, CLO_MISSING_NULL, &table, &err), &err);
        return table;
    }
    const clo_read_options options = clo_read_options_default();
    must(clo_table_read(t->name, &options, &table, &err), &err);
    *values = room(clo_table_rows(table) * clo_table_cols(table));
    clo_i_table_rows(table, 0, clo_table_rows(table), *values);
    return table;
}

int main(int count, char **words)
{
    unsigned first, last;
    if (count < 5 || sscanf(words[4], "%u-%u", &first, &last) != 2) return 2;
    const task t = find_task(words[2]);
    setup s = { .method = words[1], .norm = 1, .delta = 1e-6, .clusters = t.clusters };
    read_settings(count - 5, words + 5, &s);
    const double runs = (double)(last - first + 1);
    double *values = NULL, known = s.loss;
    for (char *word = strtok(words[3], ","); word; word = strtok(NULL, ",")) {
        result sum = { 0 };
        double worst = 0, above = 0;
        s.epsilon = strtod(word, NULL);
        clo_table *table = t.rows ? NULL : table_of(&t, NULL, &values);
        for (unsigned seed = first; seed <= last; seed++) {
            char text[32];
            snprintf(text, sizeof text, "%u", seed);
            if (t.rows) table = table_of(&t, text, &values);
            if (s.loss == 0 && (t.rows || known == 0)) known = best_loss(table, s.clusters);
            const result r = run_once(&s, table, values, text, known);
            sum.ratio += r.ratio / runs;
            sum.predicted += r.predicted / runs;
            sum.said += r.said / runs;
            sum.error += r.error / runs;
            sum.seconds += r.seconds / runs;
            worst = fmax(worst, r.ratio);
            above += r.ratio > 1.2;
            if (!t.rows) continue;
            clo_table_free(table);
            free(values);
        }
        printf("%s %s eps %g: ratio %.4f, worst %.4f, %g above 1.2; error %.4f, predicted %.4f, "
               "said %.4f; loss %.6g, %.2f s\n",
               s.method, t.name, s.epsilon, sum.ratio, worst, above, sqrt(sum.error), sum.predicted,
               sqrt(sum.said), known, sum.seconds);
        fflush(stdout);
        if (t.rows) continue;
        clo_table_free(table);
        free(values);
    }
    return 0;
}
