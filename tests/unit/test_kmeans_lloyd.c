/* kmeans/lloyd finds well-separated centres, in the data's own units, and says how it got there
 * (kmeans_lloyd.T1: one Gaussian query a round). */
#include "pipeline.h"
#include "plan/mechanism.h"

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
        assert_true(clo_release_find(release, "sizes", &weights));
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
    clo_plan *const plan = plan_for("kmeans/lloyd", "clusters=4 rounds=6", &domain, 1, 1e-6);
    assert_int_equal(plan->line_count, 1);
    assert_int_equal(plan->lines[0].event.count, 6);
    assert_int_equal(plan->lines[0].event.kind, CLO_EVENT_GAUSSIAN);
    clo_plan_free(plan);
}

/* kmeans_lloyd.T1, laplace_sum.T2 */
static void a_budget_without_delta_is_spent_on_laplace_noise(void **state)
{
    static double values[PER * K * D];
    static const double lower[D] = { 0, 0 }, upper[D] = { 120, 1200 };
    clo_domain domain = clo_domain_default();
    clo_array centers, weights;
    int found = 0;
    (void)state;
    fill(values);
    domain.cols = D;
    domain.lower = lower;
    domain.upper = upper;
    clo_plan *const plan = plan_for("kmeans/lloyd", "clusters=3 rounds=5", &domain, 2, 0);
    clo_bounded *const data = bounded_from(values, PER * K, &domain);
    assert_int_equal(plan->line_count, 1);
    assert_int_equal(plan->lines[0].event.kind, CLO_EVENT_PURE);
    assert_true(clo_plan_price(plan).loss.epsilon <= 2 && clo_plan_price(plan).loss.epsilon > 1.99);
    assert_true(clo_plan_price(plan).loss.delta <= 0);
    for (int run = 0; run < 5; run++) {
        char seed[8];
        int near = 0;
        snprintf(seed, sizeof seed, "%d", run);
        clo_release *const release = run_seeded(plan, data, seed, NULL);
        assert_true(clo_release_find(release, "centers", &centers));
        assert_true(clo_release_find(release, "sizes", &weights));
        for (size_t t = 0; t < K; t++)
            for (size_t c = 0; c < K; c++)
                near += hypot((centers.data[c * D] - truth[t][0]) / 60,
                              (centers.data[c * D + 1] - truth[t][1]) / 600) < 0.05 &&
                        fabs(weights.data[c] - PER) < 200;
        found += near == K;
        clo_release_free(release);
    }
    assert_true(found >= 4);
    clo_bounded_free(data);
    clo_plan_free(plan);
}

static clo_event_kind noise_of(size_t cols, const char *settings, double delta)
{
    const clo_domain domain = ball(cols, 1, CLO_ADD_REMOVE);
    clo_plan *const plan = plan_for("kmeans/lloyd", settings, &domain, 1, delta);
    const clo_event_kind kind = plan->lines[0].event.kind;
    clo_plan_free(plan);
    return kind;
}

/* laplace_sum.T2 */
static void the_noise_that_errs_less_is_taken(void **state)
{
    (void)state;
    assert_int_equal(noise_of(1, "rounds=1", 1e-6), CLO_EVENT_PURE);
    assert_int_equal(noise_of(2, "rounds=5", 1e-6), CLO_EVENT_GAUSSIAN);
    assert_int_equal(noise_of(2, "rounds=5", 1e-18), CLO_EVENT_PURE);
    assert_int_equal(noise_of(50, "rounds=5", 1e-18), CLO_EVENT_GAUSSIAN);
    assert_int_equal(noise_of(50, "rounds=5 reduce=-1", 0), CLO_EVENT_PURE);
}

static void refuses_to_choose_directions_without_delta(void **state)
{
    const clo_domain domain = ball(D, 1, CLO_REPLACE);
    clo_params *params = NULL;
    clo_plan *plan = NULL;
    clo_error err;
    (void)state;
    assert_ok(clo_params_new(clo_mechanism_find("kmeans/lloyd"), &params, &err), err);
    assert_ok(clo_params_set(params, "reduce", 1, &err), err);
    assert_int_equal(clo_plan_new(params, &domain, (clo_loss){ 1, 0 }, CLO_EXACT, &plan, &err),
                     CLO_BUDGET);
    assert_non_null(strstr(err.message, "delta above 0"));
    clo_params_free(params);
}

/* Three centres on axes of 60 columns, of which all others are noise: the centres come back near
 * through three directions, and one budget pays for these and for the rounds. */
static void directions_are_chosen_first_where_one_asks_for_them(void **state)
{
    enum { WIDE = 60, ROWS = 6000, AT = 20 };
    static double values[ROWS * WIDE];
    const clo_domain domain = ball(WIDE, 1, CLO_REPLACE);
    const char *const settings = "clusters=3 rounds=6 reduce=3 share=0.4";
    clo_error err;
    clo_array centers;
    clo_rng *const rng = seeded("wide");
    clo_mixture_model model = clo_mixture_model_default();
    int found = 0;
    (void)state;
    model.rows = ROWS;
    model.cols = WIDE;
    model.clusters = 1;
    model.noise = 0.01;
    model.spread = 0;
    assert_ok(clo_generate_mixture(&model, rng, values, NULL, NULL, &err), err);
    clo_rng_free(rng);
    for (size_t i = 0; i < ROWS; i++) values[i * WIDE + AT * (i % K)] += 0.8;
    clo_plan *const plan = plan_for("kmeans/lloyd", settings, &domain, 4, 1e-6);
    clo_bounded *const data = bounded_from(values, ROWS, &domain);
    assert_int_equal(plan->line_count, 2);
    assert_true(plan->lines[1].lens);
    assert_int_equal(plan->lines[1].cols, K);
    assert_true(clo_plan_price(plan).loss.epsilon <= 4);
    assert_true(clo_plan_price(plan).loss.epsilon > 3.99);
    for (int run = 0; run < 5; run++) {
        char seed[8];
        double worst = 0;
        snprintf(seed, sizeof seed, "%d", run);
        clo_release *const release = run_seeded(plan, data, seed, NULL);
        assert_true(clo_release_find(release, "centers", &centers));
        assert_int_equal(centers.shape[1], WIDE);
        for (size_t t = 0; t < K; t++) {
            double nearest = INFINITY;
            for (size_t c = 0; c < K; c++) {
                double square = 0;
                for (size_t j = 0; j < WIDE; j++) {
                    const double off = centers.data[c * WIDE + j] - (j == AT * t ? 0.8 : 0);
                    square += off * off;
                }
                nearest = fmin(nearest, sqrt(square));
            }
            worst = fmax(worst, nearest);
        }
        found += worst < 0.1;
        clo_release_free(release);
    }
    assert_true(found >= 4);
    clo_bounded_free(data);
    clo_plan_free(plan);
}

static size_t kept(size_t cols, uint64_t rows, const char *settings)
{
    clo_domain domain = ball(cols, 1, CLO_REPLACE);
    domain.rows = rows;
    clo_plan *const plan = plan_for("kmeans/lloyd", settings, &domain, 1, 1e-6);
    const size_t count = plan->line_count > 1 ? plan->lines[1].cols : 0;
    clo_plan_free(plan);
    return count;
}

static void public_quantities_decide_what_pays(void **state)
{
    (void)state;
    assert_int_equal(kept(500, 20000, "clusters=8 reduce=-1"), 8);
    assert_int_equal(kept(500, 200, "clusters=8 reduce=-1"), 0); /* the noise would hide all */
    assert_int_equal(kept(16, 20000, "clusters=8 reduce=-1"), 0);
    assert_int_equal(kept(500, 20000, "clusters=8"), 0);
    assert_int_equal(kept(500, 200, "clusters=8 reduce=6"), 6);
}

static void refuses_to_keep_more_directions_than_there_are(void **state)
{
    const clo_domain domain = ball(D, 1, CLO_REPLACE);
    clo_params *params = NULL;
    clo_plan *plan = NULL;
    clo_error err;
    (void)state;
    assert_ok(clo_params_new(clo_mechanism_find("kmeans/lloyd"), &params, &err), err);
    assert_ok(clo_params_set(params, "reduce", 3, &err), err);
    assert_int_equal(clo_plan_new(params, &domain, (clo_loss){ 1, 1e-6 }, CLO_EXACT, &plan, &err),
                     CLO_ARGUMENT);
    assert_null(plan);
    clo_params_free(params);
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
        cmocka_unit_test(a_budget_without_delta_is_spent_on_laplace_noise),
        cmocka_unit_test(the_noise_that_errs_less_is_taken),
        cmocka_unit_test(refuses_to_choose_directions_without_delta),
        cmocka_unit_test(directions_are_chosen_first_where_one_asks_for_them),
        cmocka_unit_test(public_quantities_decide_what_pays),
        cmocka_unit_test(refuses_to_keep_more_directions_than_there_are),
        cmocka_unit_test(centres_stay_in_the_ball),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
