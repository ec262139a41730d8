/*
 * bench_highdim.c - how good the centres of a method are, on mixtures of Gaussians.
 *
 *   bench_highdim METHOD CASE EPSILON[,EPSILON...] FIRST-LAST [NAME=VALUE...]
 *
 * METHOD: kmeans/highdim, kmedian/highdim, kmeans/lloyd ...  CASE: a (20,000 x 10, 8 Gaussians,
 * centres of norm .34 to .85, deviation .05), b (10,000 x 3, 3 Gaussians, centres of norm .32 to
 * .8, deviation .1), or rows,cols,clusters,radius,deviation.
 *
 * Records are clipped to norm 1; add-remove, the number of rows is public; delta = 1e-6.  One line
 * an epsilon: over the seeds FIRST to LAST, a mixture and a run each, the mean and the deviation of
 * the loss (mean squared distance; of kmedian the mean distance) over that of the non-private
 * solver with 10 restarts, the largest of these ratios, and CPU seconds a run.
 */
#include "bench.h"
#include "random/random.h"
#include <cloister/cloister.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct task {
    const char *name;
    size_t rows, cols, clusters;
    double radius, deviation;
} task;

static const task tasks[] = {
    { "a", 20000, 10, 8, 0.85, 0.05 },
    { "b", 10000, 3, 3, 0.8, 0.1 },
};

static void *room(size_t count)
{
    double *const got = calloc(count, sizeof *got);
    if (!got) exit(1);
    return got;
}

static double cpu_seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

static clo_rng *seeded(const char *what, int seed)
{
    clo_error err;
    clo_rng *rng = NULL;
    uint8_t bytes[32];
    char text[64];
    snprintf(text, sizeof text, "bench_highdim %s %d", what, seed);
    clo_seed_from_text(text, bytes);
    must(clo_rng_new_seeded(bytes, &rng, &err), &err);
    return rng;
}

/* ---- data ------------------------------------------------------------------------------------ */

static void direction(clo_stream *stream, size_t d, double length, double *out)
{
    double square = 0;
    for (size_t j = 0; j < d; j++) {
        out[j] = clo_i_random_normal(stream);
        square += out[j] * out[j];
    }
    for (size_t j = 0; j < d; j++) out[j] *= length / sqrt(square);
}

static double *make_rows(const task *t, int seed)
{
    const size_t d = t->cols;
    clo_error err;
    clo_stream *stream = NULL;
    clo_rng *const rng = seeded("data", seed);
    double *const rows = room(t->rows * d), *const centers = room(t->clusters * d);
    must(clo_i_stream_open(rng, 0, 0, &stream, &err), &err);
    for (size_t c = 0; c < t->clusters; c++)
        direction(stream, d, t->radius * (0.4 + 0.6 * clo_i_random_unit(stream)), centers + c * d);
    for (size_t i = 0; i < t->rows; i++) {
        const double *const center = centers + clo_i_random_below(stream, t->clusters) * d;
        double *const row = rows + i * d, square = 0;
        for (size_t j = 0; j < d; j++) {
            row[j] = center[j] + t->deviation * clo_i_random_normal(stream);
            square += row[j] * row[j];
        }
        for (size_t j = 0; j < d && square > 1; j++) row[j] /= sqrt(square);
    }
    clo_i_stream_close(stream);
    clo_rng_free(rng);
    free(centers);
    return rows;
}

static double loss(const task *t, const double *rows, const double *centers, size_t count,
                   bool squared)
{
    double total = 0;
    for (size_t i = 0; i < t->rows; i++) {
        double nearest = INFINITY;
        for (size_t c = 0; c < count; c++) {
            double square = 0;
            for (size_t j = 0; j < t->cols; j++) {
                const double off = rows[i * t->cols + j] - centers[c * t->cols + j];
                square += off * off;
            }
            nearest = fmin(nearest, square);
        }
        total += squared ? nearest : sqrt(nearest);
    }
    return total / (double)t->rows;
}

/* ---- runs ------------------------------------------------------------------------------------ */

typedef struct job {
    const task *task;
    const char *method;
    char **settings;
    int count;
} job;

static double plain_loss(const job *j, const clo_table *table, int seed)
{
    const bool squared = strncmp(j->method, "kmedian", 7) != 0;
    clo_error err;
    clo_params *params = NULL;
    clo_solution *solution = NULL;
    clo_rng *const rng = seeded("solver", seed);
    clo_solve_options options = clo_solve_options_default();
    options.rng = rng;
    must(clo_solver_params_new(clo_solver_find(squared ? "kmeans" : "kmedian"), &params, &err),
         &err);
    must(clo_params_set(params, "clusters", (double)j->task->clusters, &err), &err);
    must(clo_params_set(params, "restarts", 10, &err), &err);
    must(clo_solve(params, table, &options, &solution, &err), &err);
    const double cost = clo_solution_cost(solution);
    clo_solution_free(solution);
    clo_params_free(params);
    clo_rng_free(rng);
    return cost;
}

static clo_plan *make_plan(const job *j, double epsilon, const clo_domain *domain)
{
    clo_error err;
    clo_params *params = NULL;
    clo_plan *plan = NULL;
    if (!clo_mechanism_find(j->method)) exit(fprintf(stderr, "no method %s\n", j->method) > 0);
    must(clo_params_new(clo_mechanism_find(j->method), &params, &err), &err);
    must(clo_params_set(params, "clusters", (double)j->task->clusters, &err), &err);
    for (int s = 0; s < j->count; s++) {
        char name[64];
        const char *const equals = strchr(j->settings[s], '=');
        snprintf(name, sizeof name, "%.*s", (int)(equals - j->settings[s]), j->settings[s]);
        must(clo_params_set_text(params, name, equals + 1, &err), &err);
    }
    must(clo_plan_new(params, domain, (clo_loss){ epsilon, 1e-6 }, CLO_EXACT, &plan, &err), &err);
    clo_params_free(params);
    return plan;
}

typedef struct tally {
    double sum, square, worst, seconds;
    int count;
} tally;

static void run_once(const job *j, double epsilon, int seed, const double *rows,
                     const clo_table *table, double plain, tally *total)
{
    const bool squared = strncmp(j->method, "kmedian", 7) != 0;
    clo_error err;
    clo_bounded *data = NULL;
    clo_grant *grant = NULL;
    clo_release *release = NULL;
    clo_array centers;
    clo_rng *const rng = seeded("run", seed);
    clo_domain domain = clo_domain_default();
    clo_run_options options = clo_run_options_default();
    options.threads = 1;
    domain.cols = j->task->cols;
    domain.norm = 1;
    domain.relation = CLO_ADD_REMOVE;
    domain.rows = j->task->rows;
    clo_plan *const plan = make_plan(j, epsilon, &domain);
    must(clo_bound(table, &domain, &data, &err), &err);
    must(clo_grant_unmetered(plan, &grant, &err), &err);
    const double start = cpu_seconds();
    must(clo_run(plan, grant, data, rng, &options, &release, &err), &err);
    total->seconds += cpu_seconds() - start;
    if (!clo_release_find(release, "centers", &centers)) exit(1);
    const double ratio = loss(j->task, rows, centers.data, centers.shape[0], squared) / plain;
    total->sum += ratio;
    total->square += ratio * ratio;
    total->worst = fmax(total->worst, ratio);
    total->count++;
    clo_release_free(release);
    clo_grant_free(grant);
    clo_plan_free(plan);
    clo_bounded_free(data);
    clo_rng_free(rng);
}

static task find_task(const char *name)
{
    task t = { .name = name };
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++)
        if (strcmp(tasks[i].name, name) == 0) return tasks[i];
    if (sscanf(name, "%zu,%zu,%zu,%lf,%lf", &t.rows, &t.cols, &t.clusters, &t.radius,
               &t.deviation) != 5)
        exit(fprintf(stderr, "no case %s\n", name) > 0);
    return t;
}

int main(int argc, char **argv)
{
    enum { MOST = 16 };
    int first, last, count = 0;
    double epsilons[MOST];
    tally totals[MOST] = { { 0 } };
    if (argc < 5 || sscanf(argv[4], "%d-%d", &first, &last) != 2)
        return fprintf(stderr, "usage: bench_highdim METHOD CASE EPSILONS FIRST-LAST [N=V...]\n"),
               2;
    const task t = find_task(argv[2]);
    const job j = { &t, argv[1], argv + 5, argc - 5 };
    for (char *word = strtok(argv[3], ","); word && count < MOST; word = strtok(NULL, ","))
        epsilons[count++] = atof(word);
    for (int seed = first; seed <= last; seed++) {
        clo_error err;
        clo_table *table = NULL;
        double *const rows = make_rows(&t, seed);
        const clo_matrix view = { rows, t.rows, t.cols, t.cols };
        must(clo_table_wrap(view, CLO_MISSING_REFUSE, &table, &err), &err);
        const double plain = plain_loss(&j, table, seed);
        for (int e = 0; e < count; e++)
            run_once(&j, epsilons[e], seed, rows, table, plain, &totals[e]);
        clo_table_free(table);
        free(rows);
    }
    for (int e = 0; e < count; e++) {
        const tally *const got = &totals[e];
        const double mean = got->sum / got->count;
        const double spread = sqrt(fmax(0, got->square / got->count - mean * mean));
        printf("%s %s eps %g: ratio %.4f +- %.4f, worst %.4f, %.3f s\n", j.method, t.name,
               epsilons[e], mean, spread, got->worst, got->seconds / got->count);
    }
    return 0;
}
