/*
 * kmeans/moments finds centres that Lloyd's rounds from a public start would miss, says how far it
 * is to be trusted, and pays for its queries alone (kmeans_moments.T1).
 */
#include "pipeline.h"
#include "query/queries.h"
#include "mechanism/kmeans/center_moments.h"
#include "random/random.h"

enum { D = 6, K = 5, ROWS = 15000 };

/* Round clusters about centres of norm .5 to .8, of which two are near to each other. */
static void fill(size_t rows, size_t cols, double *values, double *centers)
{
    clo_error err;
    clo_rng *const rng = seeded("clusters");
    clo_stream *stream = NULL;
    assert_ok(clo_i_stream_open(rng, clo_i_rng_next_ask(rng), 0, &stream, &err), err);
    for (size_t c = 0; c < K; c++)
        for (size_t j = 0; j < cols; j++)
            centers[c * cols + j] = j == c ? 0.8 : j == K ? -0.2 * (double)(c % 2) : 0;
    for (size_t j = 0; j < cols; j++) centers[cols + j] = centers[j] + (j == 3 ? 0.3 : 0);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols; j++)
            values[i * cols + j] = centers[i % K * cols + j] + 0.04 * clo_i_random_normal(stream);
    clo_i_stream_close(stream);
    clo_rng_free(rng);
}

static double farthest(const double *found, const double *centers, size_t cols)
{
    double worst = 0;
    for (size_t t = 0; t < K; t++) {
        double nearest = INFINITY;
        for (size_t c = 0; c < K; c++) {
            double square = 0;
            for (size_t j = 0; j < cols; j++)
                square += pow(found[c * cols + j] - centers[t * cols + j], 2);
            nearest = fmin(nearest, sqrt(square));
        }
        worst = fmax(worst, nearest);
    }
    return worst;
}

static void finds_every_centre_in_every_run(void **state)
{
    static double values[ROWS * D];
    static const char *const settings[] = { "clusters=5", "clusters=5 order=third rounds=0",
                                            "clusters=5 order=fourth rounds=0",
                                            "clusters=5 order=fourth rounds=1 starts=6" };
    double centers[K * D];
    const clo_domain domain = ball(D, 1, CLO_ADD_REMOVE);
    clo_array found, weights, said;
    (void)state;
    fill(ROWS, D, values, centers);
    clo_bounded *const data = bounded_from(values, ROWS, &domain);
    for (size_t s = 0; s < sizeof settings / sizeof *settings; s++) {
        clo_plan *const plan = plan_for("kmeans/moments", settings[s], &domain, 1, 1e-6);
        for (int run = 0; run < 4; run++) {
            char seed[8];
            double total = 0;
            snprintf(seed, sizeof seed, "%d", run);
            clo_release *const release = run_seeded(plan, data, seed, NULL);
            assert_true(clo_release_find(release, "centers", &found));
            assert_true(clo_release_find(release, "sizes", &weights));
            assert_true(clo_release_find(release, "uncertainty", &said));
            assert_true(farthest(found.data, centers, D) < 0.1);
            for (size_t c = 0; c < K; c++) {
                total += weights.data[c];
                assert_true(said.data[c] > 0.001 && said.data[c] < 0.1);
            }
            assert_true(fabs(total - ROWS) < 500);
            clo_release_free(release);
        }
        clo_plan_free(plan);
    }
    clo_bounded_free(data);
}

/* In the data's own units, under replace, with a box for a domain. */
static void centres_come_back_in_the_datas_own_units(void **state)
{
    static double values[ROWS * D];
    double centers[K * D], lower[D], upper[D];
    clo_domain domain = ball(D, 1, CLO_REPLACE);
    clo_array found;
    (void)state;
    fill(ROWS, D, values, centers);
    for (size_t e = 0; e < ROWS * D; e++) values[e] = 100 + 10 * values[e];
    for (size_t e = 0; e < K * D; e++) centers[e] = 100 + 10 * centers[e];
    for (size_t j = 0; j < D; j++) {
        lower[j] = 90;
        upper[j] = 110;
    }
    domain.lower = lower;
    domain.upper = upper;
    clo_bounded *const data = bounded_from(values, ROWS, &domain);
    clo_plan *const plan = plan_for("kmeans/moments", "clusters=5", &domain, 6, 1e-6);
    clo_release *const release = run_seeded(plan, data, "units", NULL);
    assert_true(clo_release_find(release, "centers", &found));
    assert_true(farthest(found.data, centers, D) < 2);
    clo_release_free(release);
    clo_plan_free(plan);
    clo_bounded_free(data);
}

/* kmeans_moments.T1 */
static void a_plan_is_its_gaussian_queries(void **state)
{
    const clo_domain domain = ball(60, 1, CLO_ADD_REMOVE);
    (void)state;
    clo_plan *const plan =
        plan_for("kmeans/moments", "clusters=3 reduce=5 rounds=2", &domain, 1, 1e-6);
    assert_int_equal(plan->line_count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(plan->lines[i].event.kind, CLO_EVENT_GAUSSIAN);
        assert_int_equal(plan->lines[i].event.count, i == 2 ? 2 : 1);
    }
    assert_int_equal(plan->lines[1].query, &clo_i_query_gaussian_moment3);
    assert_int_equal(plan->lines[1].cols, 6);
    assert_int_equal(plan->lines[2].cols, 5);
    assert_true(clo_plan_price(plan).loss.epsilon <= 1);
    assert_true(clo_plan_price(plan).loss.epsilon > 0.99);
    clo_plan_free(plan);
}

static void many_columns_are_reduced_first(void **state)
{
    enum { WIDE = 60 };
    static double values[ROWS * WIDE];
    double centers[K * WIDE];
    const clo_domain domain = ball(WIDE, 1, CLO_ADD_REMOVE);
    clo_array found;
    (void)state;
    fill(ROWS, WIDE, values, centers);
    clo_bounded *const data = bounded_from(values, ROWS, &domain);
    clo_plan *const plan = plan_for("kmeans/moments", "clusters=5 doubts=2", &domain, 2, 1e-6);
    assert_int_equal(plan->line_count, 3);
    clo_release *const release = run_seeded(plan, data, "wide", NULL);
    assert_true(clo_release_find(release, "centers", &found));
    assert_int_equal(found.shape[1], WIDE);
    assert_true(farthest(found.data, centers, WIDE) < 0.15);
    clo_release_free(release);
    clo_plan_free(plan);
    clo_bounded_free(data);
}

static double predicted(const char *settings, size_t cols, double rows, double epsilon)
{
    clo_error err;
    double error = NAN; /* no prediction */
    const char *meaning;
    clo_domain domain = ball(cols, 1, CLO_ADD_REMOVE);
    domain.rows = 0;
    clo_plan *const plan = plan_for("kmeans/moments", settings, &domain, epsilon, 1e-6);
    const clo_status status = clo_plan_predict(plan, rows, &error, &meaning, &err);
    assert_true(status == CLO_OK || status == CLO_UNSUPPORTED);
    clo_plan_free(plan);
    return error;
}

static void predicts_nothing_where_the_tensor_tells_nothing(void **state)
{
    (void)state;
    const double usual = predicted("clusters=8", 10, 20000, 1);
    assert_true(usual > 0.005 && usual < 0.03);
    assert_true(predicted("clusters=8", 10, 20000, 0.3) > 1.5 * usual);
    /* What rounds leave undone stays, however many rows there are. */
    const double settled = predicted("clusters=8", 10, 2e7, 1);
    assert_true(settled > 0.005 && settled < predicted("clusters=16", 10, 2e7, 1));
    assert_true(isnan(predicted("clusters=40", 2, 1e6, 1)));   /* more centres than entries */
    assert_true(isnan(predicted("clusters=8", 10, 100, 0.1))); /* all noise */
}

static void the_order_follows_from_public_quantities(void **state)
{
    (void)state;
    assert_int_equal(clo_i_center_order(10, 8), 3);
    assert_int_equal(clo_i_center_order(20, 10), 3);
    assert_int_equal(clo_i_center_order(2, 4), 4); /* too few third moments for so many centres */
    assert_int_equal(clo_i_center_frame(10, 8), 0);
    assert_int_equal(clo_i_center_frame(784, 10), 20);
}

static void nonsense_is_refused(void **state)
{
    clo_error err;
    clo_plan *plan = NULL;
    const clo_domain domain = ball(70, 1, CLO_REPLACE);
    clo_params *params = params_for("kmeans/moments", "clusters=3");
    (void)state;
    assert_fails(clo_plan_new(params, &domain, (clo_loss){ 1, 0 }, CLO_EXACT, &plan, &err),
                 CLO_ARGUMENT, err, "delta above 0");
    clo_params_free(params);
    params = params_for("kmeans/moments", "clusters=3 reduce=71");
    assert_fails(clo_plan_new(params, &domain, (clo_loss){ 1, 1e-6 }, CLO_EXACT, &plan, &err),
                 CLO_ARGUMENT, err, "reduce must be at most");
    clo_params_free(params);
    params = params_for("kmeans/moments", "clusters=3 reduce=0 order=fourth");
    assert_fails(clo_plan_new(params, &domain, (clo_loss){ 1, 1e-6 }, CLO_EXACT, &plan, &err),
                 CLO_ARGUMENT, err, "at most 64 columns");
    clo_params_free(params);
    assert_null(plan);
}

static void few_records_and_much_noise_still_give_centres_of_the_ball(void **state)
{
    const double values[4 * 2] = { 0.1, 0.2, -0.3, 0.1, 0, 0, 0.9, 0 };
    static const char *const settings[] = { "clusters=6 order=third", "clusters=6 order=fourth",
                                            "clusters=1 rounds=3", "clusters=2 rounds=0" };
    const clo_domain domain = ball(2, 1, CLO_ADD_REMOVE);
    clo_bounded *const data = bounded_from(values, 4, &domain);
    clo_bounded *const nobody = bounded_from(values, 0, &domain);
    clo_array found;
    (void)state;
    for (size_t s = 0; s < 2 * sizeof settings / sizeof *settings; s++) {
        clo_plan *const plan = plan_for("kmeans/moments", settings[s / 2], &domain, 0.05, 1e-9);
        clo_release *const release = run_seeded(plan, s % 2 ? data : nobody, "few", NULL);
        assert_true(clo_release_find(release, "centers", &found));
        for (size_t c = 0; c < found.shape[0]; c++)
            assert_true(hypot(found.data[2 * c], found.data[2 * c + 1]) <= 1 + 1e-12);
        clo_release_free(release);
        clo_plan_free(plan);
    }
    clo_bounded_free(data);
    clo_bounded_free(nobody);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_every_centre_in_every_run),
        cmocka_unit_test(centres_come_back_in_the_datas_own_units),
        cmocka_unit_test(a_plan_is_its_gaussian_queries),
        cmocka_unit_test(many_columns_are_reduced_first),
        cmocka_unit_test(predicts_nothing_where_the_tensor_tells_nothing),
        cmocka_unit_test(the_order_follows_from_public_quantities),
        cmocka_unit_test(nonsense_is_refused),
        cmocka_unit_test(few_records_and_much_noise_still_give_centres_of_the_ball),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
