/*
 * bench_gibbs.c - subspaces/gibbs on the synthetic data of wang2015, section 5: cost and d_W (mean
 * and standard deviation over data sets), CPU seconds, and how far chains from different starts on
 * the same data agree.
 *
 * The data are clipped to the unit ball; their generators have the seeds FIRST, FIRST + 1, …
 * Agreement is the standard deviation of the cost between the chains on one data set, averaged over
 * the data sets: a chain that is stuck shows in it.  It is a function of the data, and so here and
 * in no release (proofs/gibbs.md).
 *
 *   bench_gibbs A|B|T EPSILONS FIRST SETS CHAINS [PARAMETER=VALUE ...]
 *   bench_gibbs A 1,3,10 2000 5 1 score=min
 *   bench_gibbs T 10 2000 1 1 sweeps=10000        (T: setting A, for its time)
 */
#include "bench.h"
#include "measure/measure.h"
#include <cloister/cloister.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct setting {
    size_t rows, cols, clusters, dim;
    double noise;
} setting;

static void make_data(const setting *s, int number, double *rows, double *truth)
{
    clo_subspace_model model = clo_subspace_model_default();
    clo_rng *const rng = seeded_rng("", number);
    clo_error err;
    model.rows = s->rows;
    model.cols = s->cols;
    model.clusters = s->clusters;
    model.dim = s->dim;
    model.noise = s->noise;
    must(clo_generate_subspaces(&model, rng, rows, NULL, truth, &err), &err);
    clo_rng_free(rng);
    for (size_t i = 0; i < s->rows; i++) {
        double *const x = rows + i * s->cols, square = 0;
        for (size_t j = 0; j < s->cols; j++) square += x[j] * x[j];
        for (size_t j = 0; j < s->cols && square > 1; j++) x[j] /= sqrt(square);
    }
}

static clo_plan *make_plan(const setting *s, const clo_domain *domain, double epsilon, double delta,
                           int count, char **words)
{
    clo_params *params = NULL;
    clo_plan *plan = NULL;
    clo_error err;
    char number[32];
    must(clo_params_new(clo_mechanism_find("subspaces/gibbs"), &params, &err), &err);
    snprintf(number, sizeof number, "%zu", s->clusters);
    must(clo_params_set_text(params, "clusters", number, &err), &err);
    snprintf(number, sizeof number, "%zu", s->dim);
    must(clo_params_set_text(params, "dim", number, &err), &err);
    for (int i = 0; i < count; i++) {
        char name[64];
        const char *const equals = strchr(words[i], '=');
        if (!equals) exit(2);
        snprintf(name, sizeof name, "%.*s", (int)(equals - words[i]), words[i]);
        must(clo_params_set_text(params, name, equals + 1, &err), &err);
    }
    must(clo_plan_new(params, domain, (clo_loss){ epsilon, delta }, CLO_ASYMPTOTIC, &plan, &err),
         &err);
    clo_params_free(params);
    return plan;
}

/* One chain: its cost and its distance from the truth. */
static void run_chain(const setting *s, const clo_plan *plan, const clo_bounded *data,
                      const double *rows, const double *truth, int number, double *cost,
                      double *distance)
{
    clo_rng *const rng = seeded_rng("chain", number);
    clo_run_options options = clo_run_options_default();
    clo_grant *grant = NULL;
    clo_release *release = NULL;
    clo_array bases;
    clo_error err;
    options.threads = 1;
    must(clo_grant_unmetered(plan, &grant, &err), &err);
    must(clo_run(plan, grant, data, rng, &options, &release, &err), &err);
    if (!clo_release_find(release, "bases", &bases)) exit(1);
    const clo_flats flats = { s->clusters, s->cols, s->dim, NULL, bases.data };
    must(clo_i_flat_cost(&flats, rows, s->rows, cost, &err), &err);
    must(clo_i_subspaces_distance(bases.data, truth, s->clusters, s->cols, s->dim, distance, &err),
         &err);
    clo_release_free(release);
    clo_grant_free(grant);
    clo_rng_free(rng);
}

typedef struct moments {
    double count, sum, square;
} moments;

static void add(moments *m, double value)
{
    m->count++;
    m->sum += value;
    m->square += value * value;
}

static double deviation(const moments *m)
{
    const double mean = m->sum / m->count;
    return m->count > 1 ? sqrt(fmax(m->square - m->count * mean * mean, 0) / (m->count - 1)) : 0;
}

static void measure(const setting *s, double epsilon, int first, int sets, int chains, int count,
                    char **words)
{
    const double n = (double)s->rows;
    double *const rows = calloc(s->rows * s->cols, sizeof *rows);
    double *const truth = calloc(s->clusters * s->cols * s->dim, sizeof *truth);
    moments cost = { 0 }, distance = { 0 };
    double within = 0, seconds = 0;
    clo_domain domain = clo_domain_default();
    clo_error err;
    if (!rows || !truth) exit(1);
    domain.cols = s->cols;
    domain.norm = 1;
    domain.rows = s->rows;
    bool steps = false;
    for (int i = 0; i < count; i++) steps = steps || strcmp(words[i], "mode=steps") == 0;
    clo_plan *const plan =
        make_plan(s, &domain, epsilon, steps ? 1 / (n * log(n)) : 0, count, words);
    for (int set = 0; set < sets; set++) {
        clo_table *table = NULL;
        clo_bounded *data = NULL;
        moments mine = { 0 };
        make_data(s, first + set, rows, truth);
        must(clo_table_wrap((clo_matrix){ rows, s->rows, s->cols, s->cols }, CLO_MISSING_NULL,
                            &table, &err),
             &err);
        must(clo_bound(table, &domain, &data, &err), &err);
        for (int chain = 0; chain < chains; chain++) {
            double c, w;
            const double before = process_seconds();
            run_chain(s, plan, data, rows, truth, 100 * set + chain, &c, &w);
            seconds += process_seconds() - before;
            add(&cost, c);
            add(&distance, w);
            add(&mine, c);
        }
        within += deviation(&mine) / sets;
        clo_bounded_free(data);
        clo_table_free(table);
    }
    const double runs = (double)sets * chains;
    printf("%8g  cost %.5f +- %.5f  d_W %.4f +- %.4f  between chains %.5f  CPU s a run %.3f\n",
           epsilon, cost.sum / runs, deviation(&cost), distance.sum / runs, deviation(&distance),
           within, seconds / runs);
    fflush(stdout);
    clo_plan_free(plan);
    free(rows);
    free(truth);
}

int main(int argc, char **argv)
{
    static const setting a = { 1000, 10, 3, 3, 0.1 }, b = { 5000, 5, 3, 3, 0.01 };
    if (argc < 6) {
        fprintf(stderr,
                "usage: bench_gibbs A|B|T EPSILONS FIRST SETS CHAINS [PARAMETER=VALUE ...]\n");
        return 2;
    }
    char *rest = argv[2], *word;
    while ((word = strtok_r(rest, ",", &rest)))
        measure(argv[1][0] == 'B' ? &b : &a, atof(word), atoi(argv[3]), atoi(argv[4]),
                atoi(argv[5]), argc - 6, argv + 6);
    return 0;
}
