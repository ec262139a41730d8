/*
 * bench_tree.c - the loss and the time of a method of k-means on an NPY file, over some runs.
 *
 *   bench_tree DATA.npy METHOD "NAME=VALUE …" EPSILON NORM SEED RUNS
 *
 * Prints one JSON object a run: the mean squared distance of all rows, as they are in the file, to
 * the nearest centre, and the processor's seconds of bounding and of the run.  delta is 1e-6, the
 * relation add-remove, the generator seeded: this is a measurement, not a release.
 */
#include "bench.h"
#include <cloister/cloister.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

static clo_plan *make_plan(const char *method, char *settings, const clo_domain *domain,
                           double epsilon)
{
    clo_error err;
    clo_params *params = NULL;
    clo_plan *plan = NULL;
    must(clo_params_new(clo_mechanism_find(method), &params, &err), &err);
    for (char *word = strtok(settings, " "); word; word = strtok(NULL, " ")) {
        char *const equals = strchr(word, '=');
        if (!equals) exit(2);
        *equals = 0;
        must(clo_params_set_text(params, word, equals + 1, &err), &err);
    }
    must(clo_plan_new(params, domain, (clo_loss){ epsilon, 1e-6 }, CLO_EXACT, &plan, &err), &err);
    clo_params_free(params);
    return plan;
}

static void measure_run(const clo_plan *plan, const clo_bounded *data, const clo_table *table,
                        const char *seed, double bounding)
{
    clo_error err;
    clo_grant *grant = NULL;
    clo_rng *rng = NULL;
    clo_release *release = NULL;
    clo_run_options options = clo_run_options_default();
    clo_evaluation found = { .struct_size = sizeof found };
    uint8_t bytes[32];
    options.threads = 1;
    clo_seed_from_text(seed, bytes);
    must(clo_rng_new_seeded(bytes, &rng, &err), &err);
    must(clo_grant_unmetered(plan, &grant, &err), &err);
    const double start = seconds();
    must(clo_run(plan, grant, data, rng, &options, &release, &err), &err);
    const double taken = seconds() - start;
    must(clo_evaluate(release, table, (clo_matrix){ 0 }, &found, &err), &err);
    printf("{\"seed\": \"%s\", \"loss\": %.8g, \"bound_s\": %.4f, \"run_s\": %.4f}\n", seed,
           found.cost, bounding, taken);
    clo_release_free(release);
    clo_grant_free(grant);
    clo_rng_free(rng);
}

int main(int argc, char **argv)
{
    if (argc != 8)
        return fprintf(stderr,
                       "usage: bench_tree DATA.npy METHOD SETTINGS EPSILON NORM SEED RUNS\n"),
               2;
    clo_error err;
    clo_table *table = NULL;
    clo_bounded *data = NULL;
    clo_domain domain = clo_domain_default();
    must(clo_table_read(argv[1], NULL, &table, &err), &err);
    domain.cols = clo_table_cols(table);
    domain.norm = atof(argv[5]);
    domain.relation = CLO_ADD_REMOVE;
    const double start = seconds();
    must(clo_bound(table, &domain, &data, &err), &err);
    const double bounding = seconds() - start;
    clo_plan *const plan = make_plan(argv[2], argv[3], &domain, atof(argv[4]));
    for (int run = 0; run < atoi(argv[7]); run++) {
        char seed[64];
        snprintf(seed, sizeof seed, "%s-%d", argv[6], run);
        measure_run(plan, data, table, seed, bounding);
    }
    clo_plan_free(plan);
    clo_bounded_free(data);
    clo_table_free(table);
    return 0;
}
