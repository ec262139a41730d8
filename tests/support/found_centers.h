/*
 * found_centers.h - data about centres, and whether a release has found these.
 */
#ifndef CLO_TEST_FOUND_CENTERS_H
#define CLO_TEST_FOUND_CENTERS_H

#include "pipeline.h"

/* The distance of the true centre (k x d) that is worst off to the nearest released one, with
 * column j in units of unit[j]; NULL: of 1. */
static inline double worst_miss(const clo_release *release, const double *truth, const double *unit,
                                size_t k, size_t d)
{
    clo_array found;
    double worst = 0;
    assert_true(clo_release_find(release, "centers", &found));
    assert_int_equal(found.shape[0], k);
    assert_int_equal(found.shape[1], d);
    for (size_t t = 0; t < k; t++) {
        double nearest = INFINITY;
        for (size_t c = 0; c < k; c++) {
            double square = 0;
            for (size_t j = 0; j < d; j++)
                square += pow((found.data[c * d + j] - truth[t * d + j]) / (unit ? unit[j] : 1), 2);
            nearest = fmin(nearest, sqrt(square));
        }
        worst = fmax(worst, nearest);
    }
    return worst;
}

/* k centres on random public places of the ball in d columns, and rows about them, in turn. */
static inline double *scattered_mixture(size_t rows, size_t d, size_t k, double deviation,
                                        double *truth)
{
    clo_error err;
    clo_rng *const rng = seeded("truth");
    clo_mixture_model model = clo_mixture_model_default();
    double *const values = calloc(rows * d, sizeof *values);
    double *const places = calloc(k * d, sizeof *places);
    assert_non_null(values);
    assert_non_null(places);
    model.rows = rows;
    model.cols = d;
    model.clusters = 1;
    model.noise = deviation;
    model.spread = 0;
    assert_ok(clo_generate_mixture(&model, rng, values, NULL, NULL, &err), err);
    model.rows = k;
    model.noise = 1;
    assert_ok(clo_generate_mixture(&model, rng, places, NULL, NULL, &err), err);
    for (size_t c = 0; c < k; c++) {
        double square = 0;
        for (size_t j = 0; j < d; j++) square += places[c * d + j] * places[c * d + j];
        for (size_t j = 0; j < d; j++) truth[c * d + j] = 0.8 * places[c * d + j] / sqrt(square);
    }
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < d; j++) values[i * d + j] += truth[i % k * d + j];
    clo_rng_free(rng);
    free(places);
    return values;
}

/* How many of so many runs bring all of k centres nearer than `near`. */
static inline int runs_within(int runs, const char *method, clo_loss budget, const char *settings,
                              size_t rows, size_t d, size_t k, double near)
{
    double *const truth = calloc(k * d, sizeof *truth);
    assert_non_null(truth);
    double *const values = scattered_mixture(rows, d, k, 0.02, truth);
    const clo_domain domain = ball(d, 1, CLO_ADD_REMOVE);
    clo_plan *const plan = plan_for(method, settings, &domain, budget.epsilon, budget.delta);
    clo_bounded *const data = bounded_from(values, rows, &domain);
    int found = 0;
    for (int run = 0; run < runs; run++) {
        char seed[8];
        snprintf(seed, sizeof seed, "%d", run);
        clo_release *const release = run_seeded(plan, data, seed, NULL);
        found += worst_miss(release, truth, NULL, k, d) < near;
        clo_release_free(release);
    }
    clo_bounded_free(data);
    clo_plan_free(plan);
    free(values);
    free(truth);
    return found;
}

#endif
