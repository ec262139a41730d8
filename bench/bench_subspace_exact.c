/*
 * bench_subspace_exact.c - how often subspace/exact finds the subspace, and how long it takes.
 *
 *   bench_subspace_exact general  DIM EPSILON RUNS
 *   bench_subspace_exact outliers DIM EPSILON RUNS ROWS OUTLIERS
 *   bench_subspace_exact time     ROWS COLS OUTLIERS RUNS [FLAT]
 *
 * general: rows in general position in a subspace (any DIM of them independent), new ones in each
 * run, as many as the threshold A suggests: A/2, A, 3A/2, and one and five more than 2A + DIM
 * (subspace_exact.T2).  outliers: ROWS of which so many lie anywhere.  time: dimension 3, with FLAT
 * of the rows in one plane of the subspace, which is what the score has to find.  delta = 1e-6,
 * replace one.
 */
#include "bench.h"
#include "plan/mechanism.h"
#include "query/gapmax_internal.h"
#include "random/random.h"
#include "query/gapmax.h"
#include <cloister/cloister.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PRIME = 127, REACH = 1000, MOST_COLS = 64 };

typedef struct task {
    size_t dim, cols, rows, outliers, flat;
    double epsilon;
} task;

typedef struct tally {
    size_t found, wrong;
    double seconds;
} tally;

static clo_rng *seeded(const char *what, size_t run)
{
    char name[64];
    uint8_t bytes[32];
    clo_error err;
    clo_rng *rng = NULL;
    snprintf(name, sizeof name, "%s %zu", what, run);
    clo_seed_from_text(name, bytes);
    must(clo_rng_new_seeded(bytes, &rng, &err), &err);
    return rng;
}

/* On the curve (1, t, t^2) modulo a prime any three points are independent, and so they are over
 * the integers; residues about 0 keep the rows short.  In one dimension: t itself.  More rows than
 * the curve has points are drawn at random. */
static void coordinates(const task *t, clo_stream *stream, size_t i, int64_t c[3])
{
    const int64_t at = (int64_t)(i % PRIME), square = at * at % PRIME;
    c[0] = t->dim == 1 ? 1 + (int64_t)i : 1;
    c[1] = at > PRIME / 2 ? at - PRIME : at;
    c[2] = square > PRIME / 2 ? square - PRIME : square;
    for (size_t e = 0; e < 3 && t->rows > PRIME; e++)
        c[e] = (int64_t)clo_i_random_below(stream, 121) - 60;
}

static void draw_base(const task *t, clo_stream *stream, int64_t *base, uint64_t *truth)
{
    size_t pivots[3];
    do {
        for (size_t i = 0; i < t->dim * t->cols; i++) {
            base[i] = (int64_t)clo_i_random_below(stream, 3) - 1;
            truth[i] = clo_i_field_from(base[i]);
        }
    } while (clo_i_field_reduce(truth, t->dim, t->cols, pivots) < t->dim);
}

static void make_rows(const task *t, size_t run, double *rows, uint64_t *truth)
{
    clo_rng *const rng = seeded("data", run);
    clo_stream *stream = NULL;
    clo_error err;
    int64_t base[3 * MOST_COLS], c[3];
    must(clo_i_stream_open(rng, 0, 0, &stream, &err), &err);
    draw_base(t, stream, base, truth);
    for (size_t i = 0; i < t->rows; i++) {
        double *const row = rows + i * t->cols;
        coordinates(t, stream, i, c);
        if (i >= t->rows - t->flat) c[2] = 0;
        for (size_t j = 0; j < t->cols; j++) {
            row[j] = 0;
            for (size_t e = 0; e < t->dim; e++) row[j] += (double)(c[e] * base[e * t->cols + j]);
            if (i < t->outliers) row[j] = (double)clo_i_random_below(stream, 201) - 100;
        }
    }
    clo_i_stream_close(stream);
    clo_rng_free(rng);
}

static clo_plan *plan_of(const task *t, clo_domain *domain)
{
    char dim[32];
    clo_error err;
    clo_params *params = NULL;
    clo_plan *plan = NULL;
    *domain = clo_domain_default();
    domain->cols = t->cols;
    domain->norm = REACH;
    snprintf(dim, sizeof dim, "%zu", t->dim);
    must(clo_params_new(clo_mechanism_find("subspace/exact"), &params, &err), &err);
    must(clo_params_set_text(params, "dim", dim, &err), &err);
    must(clo_plan_new(params, domain, (clo_loss){ t->epsilon, 1e-6 }, CLO_EXACT, &plan, &err),
         &err);
    clo_params_free(params);
    return plan;
}

/* Whether the fractions that were released are the truth's, modulo p. */
static bool is_true(const task *t, const clo_release *release, const uint64_t *truth)
{
    clo_array tops, bottoms;
    if (!clo_release_find(release, "numerators", &tops) ||
        !clo_release_find(release, "denominators", &bottoms))
        return false;
    for (size_t i = 0; i < t->dim * t->cols; i++) {
        const uint64_t bottom = clo_i_field_from((int64_t)bottoms.data[i]);
        if (clo_i_field_multiply(truth[i], bottom) != clo_i_field_from((int64_t)tops.data[i]))
            return false;
    }
    return true;
}

static void one_run(const task *t, const clo_plan *plan, const clo_domain *domain, size_t run,
                    double *rows, tally *sum)
{
    uint64_t truth[3 * MOST_COLS];
    const clo_matrix view = { rows, t->rows, t->cols, t->cols };
    clo_rng *const rng = seeded("run", run);
    clo_table *table = NULL;
    clo_bounded *data = NULL;
    clo_grant *grant = NULL;
    clo_release *release = NULL;
    clo_array found;
    clo_error err;
    make_rows(t, run, rows, truth);
    must(clo_table_wrap(view, CLO_MISSING_NULL, &table, &err), &err);
    must(clo_bound(table, domain, &data, &err), &err);
    must(clo_grant_unmetered(plan, &grant, &err), &err);
    const clock_t start = clock();
    must(clo_run(plan, grant, data, rng, NULL, &release, &err), &err);
    sum->seconds += (double)(clock() - start) / CLOCKS_PER_SEC;
    if (clo_release_find(release, "found", &found) && found.data[0] > 0) {
        sum->found++;
        sum->wrong += !is_true(t, release, truth);
    }
    clo_release_free(release);
    clo_grant_free(grant);
    clo_bounded_free(data);
    clo_table_free(table);
    clo_rng_free(rng);
}

static void measure(const task *t, size_t runs)
{
    tally sum = { 0 };
    clo_domain domain;
    clo_plan *const plan = plan_of(t, &domain);
    const clo_line *const line = &plan->lines[0];
    double *const rows = calloc(t->rows * t->cols, sizeof *rows);
    if (!rows) exit(1);
    for (size_t run = 0; run < runs; run++) one_run(t, plan, &domain, run, rows, &sum);
    printf("k=%zu d=%zu epsilon=%g A=%llu beta=%.2e spans=%zu  n=%zu outliers=%zu flat=%zu: "
           "true %zu, wrong %zu, none %zu of %zu; %.5f s a run\n",
           t->dim, t->cols, t->epsilon, (unsigned long long)line->scale,
           clo_i_gapmax_fields(line).beta, line->groups, t->rows, t->outliers, t->flat,
           sum.found - sum.wrong, sum.wrong, runs - sum.found, runs, sum.seconds / (double)runs);
    free(rows);
    clo_plan_free(plan);
}

static void general(task t, size_t runs)
{
    clo_domain domain;
    clo_plan *const plan = plan_of(&t, &domain);
    const size_t a = (size_t)plan->lines[0].scale;
    const size_t rows[] = { a / 2, a, a + a / 2, 2 * a + t.dim + 1, 2 * a + t.dim + 5 };
    clo_plan_free(plan);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        t.rows = rows[i];
        measure(&t, runs);
    }
}

static size_t number(const char *word)
{
    return (size_t)strtoull(word, NULL, 10);
}

int main(int count, char **words)
{
    const char *const what = count > 1 ? words[1] : "";
    task t = { .dim = 3, .epsilon = 1 };
    if (strcmp(what, "time") == 0 && count >= 6) {
        t.rows = number(words[2]);
        t.cols = number(words[3]);
        t.outliers = number(words[4]);
        t.flat = count > 6 ? number(words[6]) : 0;
        if (t.cols < 3 || t.cols > MOST_COLS || t.outliers + t.flat > t.rows) return 2;
        measure(&t, number(words[5]));
        return 0;
    }
    if (count < 5 || number(words[2]) < 1 || number(words[2]) > 3) {
        fputs("bench_subspace_exact general DIM EPSILON RUNS | outliers DIM EPSILON RUNS ROWS "
              "OUTLIERS | time ROWS COLS OUTLIERS RUNS [FLAT]\n",
              stderr);
        return 2;
    }
    t.dim = number(words[2]);
    t.cols = 2 + 2 * t.dim;
    t.epsilon = strtod(words[3], NULL);
    if (strcmp(what, "general") == 0) general(t, number(words[4]));
    if (strcmp(what, "outliers") != 0 || count < 7) return 0;
    t.rows = number(words[5]);
    t.outliers = number(words[6]);
    measure(&t, number(words[4]));
    return 0;
}
