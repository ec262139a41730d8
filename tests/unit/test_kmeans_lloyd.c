/* kmeans/lloyd finds well-separated centres, in the data's own units, and says how it got there
 * (kmeans_lloyd.T1: one Gaussian query a round). */
#include "pipeline.h"
#include "mechanism/mechanism.h"

enum { PER = 4000, K = 3, D = 2 };

static const double truth[K][D] = { { 10, 200 }, { 60, 900 }, { 95, 300 } };

static void fill(double *values)
{
    clo_error err;
    clo_mixture_model model = clo_mixture_model_default();
    clo_rng *const rng = seeded("mixture");
    model.rows = PER * K;
    model.cols = D;
    model.clusters = 1;
    model.noise = 1;
    model.spread = 0;
    assert_ok(clo_generate_mixture(&model, rng, values, NULL, NULL, &err), err);
    for (size_t i = 0; i < PER * K; i++) {
        values[i * D] = truth[i % K][0] + 2 * values[i * D];
        values[i * D + 1] = truth[i % K][1] + 20 * values[i * D + 1];
    }
    clo_rng_free(rng);
}

static void centres_come_back_in_the_datas_own_units(void **state)
{
    static double values[PER * K * D];
    static const double lower[D] = { 0, 0 }, upper[D] = { 120, 1200 };
    clo_domain domain = clo_domain_default();
    clo_array centers, weights;
    (void)state;
    fill(values);
    domain.cols = D;
    domain.lower = lower;
    domain.upper = upper;
    clo_plan *const plan = plan_for("kmeans/lloyd", "clusters=3 rounds=8", &domain, 2, 1e-6);
    clo_bounded *const data = bounded_from(values, PER * K, &domain);
    int found = 0;
    for (int run = 0; run < 10; run++) {
        char seed[8];
        double worst = 0;
        snprintf(seed, sizeof seed, "%d", run);
        clo_release *const release = run_seeded(plan, data, seed, NULL);
        assert_true(clo_release_find(release, "centers", &centers));
        assert_true(clo_release_find(release, "weights", &weights));
        assert_int_equal(centers.shape[0], K);
        assert_int_equal(centers.shape[1], D);
        for (size_t t = 0; t < K; t++) {
            double nearest = INFINITY;
            for (size_t c = 0; c < K; c++)
                nearest = fmin(nearest, hypot((centers.data[c * D] - truth[t][0]) / 60,
                                              (centers.data[c * D + 1] - truth[t][1]) / 600));
            worst = fmax(worst, nearest);
        }
        found += worst < 0.03;
        clo_release_free(release);
    }
    assert_true(found >= 9); /* a start may still fall into one of Lloyd's local minima */
    clo_bounded_free(data);
    clo_plan_free(plan);
}

/* kmeans_lloyd.T1 */
static void a_plan_is_one_gaussian_query_a_round(void **state)
{
    const clo_domain domain = ball(D, 1, CLO_ADD_REMOVE);
    (void)state;
    clo_plan *const plan = plan_for("kmeans", "clusters=4 rounds=6", &domain, 1, 1e-6);
    assert_int_equal(plan->slot_count, 1);
    assert_int_equal(plan->slots[0].event.count, 6);
    assert_int_equal(plan->slots[0].event.kind, CLO_EVENT_GAUSSIAN);
    clo_plan_free(plan);
}

static void centres_stay_in_the_ball(void **state)
{
    static double values[PER * K * D];
    const clo_domain domain = ball(D, 0.5, CLO_REPLACE);
    clo_array centers;
    (void)state;
    fill(values); /* far outside of the ball */
    clo_plan *const plan = plan_for("kmeans/lloyd", "clusters=16 rounds=20", &domain, 0.05, 1e-9);
    clo_bounded *const data = bounded_from(values, 50, &domain);
    clo_release *const release = run_seeded(plan, data, "noise", NULL);
    assert_true(clo_release_find(release, "centers", &centers));
    for (size_t c = 0; c < 16; c++)
        assert_true(hypot(centers.data[c * D], centers.data[c * D + 1]) <= 0.5 * (1 + 1e-12));
    clo_release_free(release);
    clo_bounded_free(data);
    clo_plan_free(plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(centres_come_back_in_the_datas_own_units),
        cmocka_unit_test(a_plan_is_one_gaussian_query_a_round),
        cmocka_unit_test(centres_stay_in_the_ball),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
