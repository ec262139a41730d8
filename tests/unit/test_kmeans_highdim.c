/* kmeans/highdim finds the centres of well-separated clusters, also through random directions; its
 * plan lists what the run asks and costs no more than its budget; the paper's own constants run
 * (kmeans_highdim.T1). */
#include "found_centers.h"
#include "base/base.h"
#include "plan/mechanism.h"

enum { D = 6, K = 5, ROWS = 3000 };

static double values[ROWS * 30];

/* K clusters of deviation .04; center: K x d, filled. */
static void fill(size_t d, double *centers)
{
    clo_error err;
    clo_mixture_model model = clo_mixture_model_default();
    clo_rng *const rng = seeded("highdim mixture");
    model.rows = ROWS;
    model.cols = d;
    model.clusters = 1;
    model.noise = 0.04;
    model.spread = 0;
    assert_ok(clo_generate_mixture(&model, rng, values, NULL, NULL, &err), err);
    for (size_t c = 0; c < K; c++)
        for (size_t j = 0; j < d; j++) {
            centers[c * d + j] = j == c ? 0.7 : 0;
            for (size_t i = c; i < ROWS; i += K) values[i * d + j] += centers[c * d + j];
        }
    clo_rng_free(rng);
}

static int runs_that_find(size_t d, const char *settings, double epsilon, double within)
{
    static double centers[K * 30];
    clo_domain domain = ball(d, 1, CLO_ADD_REMOVE);
    int found = 0;
    domain.rows = ROWS;
    fill(d, centers);
    clo_plan *const plan = plan_for("kmeans/highdim", settings, &domain, epsilon, 1e-6);
    clo_bounded *const data = bounded_from(values, ROWS, &domain);
    assert_true(clo_plan_price(plan).loss.epsilon <= epsilon);
    for (int run = 0; run < 3; run++) {
        char seed[16];
        clo_array weights;
        snprintf(seed, sizeof seed, "highdim %d", run);
        clo_release *const release = run_seeded(plan, data, seed, NULL);
        assert_true(clo_release_find(release, "sizes", &weights));
        found += worst_miss(release, centers, NULL, K, d) < within;
        clo_release_free(release);
    }
    clo_bounded_free(data);
    clo_plan_free(plan);
    return found;
}

static void centres_are_found_in_all_columns(void **state)
{
    (void)state;
    assert_true(runs_that_find(D, "clusters=5", 4, 0.02) >= 2);
}

static void centres_are_found_through_random_directions(void **state)
{
    (void)state;
    assert_true(runs_that_find(30, "clusters=5 swaps=10", 20, 0.05) >= 2);
}

/* kmeans_highdim.T1 */
static void a_plan_is_trees_swaps_and_rounds(void **state)
{
    const clo_domain domain = ball(D, 1, CLO_REPLACE);
    (void)state;
    clo_plan *plan = plan_for("kmeans/highdim", "clusters=8 trees=2 levels=3 swaps=7 rounds=2",
                              &domain, 1, 1e-6);
    assert_int_equal(plan->line_count, 3);
    assert_int_equal(plan->lines[0].event.kind, CLO_EVENT_PURE);
    assert_int_equal(plan->lines[0].event.count, 6);
    assert_int_equal(plan->lines[1].event.kind, CLO_EVENT_EXPONENTIAL);
    assert_int_equal(plan->lines[1].event.count, 7);
    assert_int_equal(plan->lines[2].event.kind, CLO_EVENT_GAUSSIAN);
    assert_int_equal(plan->lines[2].event.count, 2);
    assert_true(clo_plan_price(plan).loss.epsilon <= 1);
    assert_true(clo_plan_price(plan).loss.epsilon > 0.99);
    clo_plan_free(plan);
    plan = plan_for("kmeans/highdim", "directions=2", &domain, 1, 1e-6);
    assert_true(plan->lines[0].lens && plan->lines[1].lens && !plan->lines[2].lens);
    assert_int_equal(plan->lines[0].cols, 2);
    clo_plan_free(plan);
}

static void without_a_delta_there_are_no_rounds(void **state)
{
    const clo_domain domain = ball(D, 1, CLO_REPLACE);
    clo_params *params = params_for("kmeans/highdim", "clusters=3 rounds=2");
    clo_plan *plan = NULL;
    clo_error err;
    (void)state;
    assert_fails(clo_plan_new(params, &domain, (clo_loss){ 1, 0 }, CLO_EXACT, &plan, &err),
                 CLO_ARGUMENT, err, "set rounds to 0");
    clo_params_free(params);
    plan = plan_for("kmeans/highdim", "clusters=3", &domain, 1, 0);
    assert_true(clo_plan_price(plan).loss.epsilon <= 1);
    assert_true(clo_plan_price(plan).loss.epsilon > 0.999);
    clo_plan_free(plan);
}

/* As many trees and swaps would take minutes; a run has fewer. */
static void the_papers_constants_are_planned_and_run(void **state)
{
    clo_domain domain = ball(60, 1, CLO_ADD_REMOVE);
    (void)state;
    domain.rows = 50;
    clo_plan *plan = plan_for("kmeans/highdim", "clusters=1 preset=theory", &domain, 1, 1e-6);
    assert_int_equal(plan->line_count, 5); /* with both choices */
    assert_int_equal(plan->lines[0].event.count,
                     3 * (uint64_t)ceil(27 * log(500)) * 8); /* repeats, trees, levels */
    assert_int_equal(plan->lines[1].event.count, 3 * (uint64_t)ceil(100 * log(500)));
    assert_int_equal(plan->lines[0].cols, 32); /* 8 log n */
    clo_plan_free(plan);
    plan = plan_for("kmeans/highdim", "clusters=2 preset=theory trees=3 levels=2 swaps=4", &domain,
                    1, 1e-6);
    clo_bounded *const data = bounded_from(values, 50, &domain);
    clo_release_free(run_seeded(plan, data, "theory", NULL));
    clo_bounded_free(data);
    clo_plan_free(plan);
}

static void every_input_has_an_answer(void **state)
{
    const clo_domain domain = ball(D, 1, CLO_ADD_REMOVE);
    clo_plan *const plan = plan_for("kmeans/highdim", "clusters=20 swaps=5", &domain, 0.05, 1e-6);
    (void)state;
    for (size_t rows = 0; rows <= 2; rows++) {
        clo_bounded *const data = bounded_from(values, rows, &domain);
        clo_array centers;
        clo_release *const release = run_seeded(plan, data, "few", NULL);
        assert_true(clo_release_find(release, "centers", &centers));
        for (size_t c = 0; c < 20; c++) {
            double square = 0;
            for (size_t j = 0; j < D; j++) square += pow(centers.data[c * D + j], 2);
            assert_true(square <= 1 + 1e-12);
        }
        clo_release_free(release);
        clo_bounded_free(data);
    }
    clo_plan_free(plan);
}

/* Two methods, of which one looks through directions. */
static const char *const cases[][2] = {
    { "kmeans/highdim", "clusters=4 trees=2 levels=3 swaps=3 rounds=2" },
    { "kmedian/highdim", "clusters=3 directions=2 trees=1 levels=2 swaps=2 rounds=1" },
};

static text released(const char *const which[2], const double *rows, int threads, size_t block_rows)
{
    const clo_domain domain = ball(D, 1, CLO_REPLACE);
    clo_plan *const plan = plan_for(which[0], which[1], &domain, 2, 1e-6);
    clo_bounded *const data = bounded_from(rows, 500, &domain);
    clo_run_options options = clo_run_options_default();
    clo_error err;
    options.threads = threads;
    options.block_rows = block_rows;
    const size_t planned = clo_i_plan_workspace(plan, data, NULL, threads, block_rows);
    assert_ok(clo_workspace_new(planned, &options.workspace, &err), err);
    clo_release *const release = run_seeded(plan, data, "same", &options);
    assert_true(clo_i_workspace_peak(options.workspace) <= planned);
    const text t = json_of(release);
    clo_workspace_free(options.workspace);
    clo_release_free(release);
    clo_bounded_free(data);
    clo_plan_free(plan);
    return t;
}

static void threads_blocks_and_row_order_do_not_show(void **state)
{
    static double turned[500 * D], centers[K * D];
    (void)state;
    fill(D, centers);
    for (size_t i = 0; i < 500; i++)
        memcpy(turned + i * D, values + i * 277 % 500 * D, D * sizeof *values);
    for (size_t c = 0; c < 2; c++) {
        const text expected = released(cases[c], values, 1, 0);
        const text actual = released(cases[c], turned, 3, 17);
        assert_string_equal(actual.bytes, expected.bytes);
        free(actual.bytes);
        free(expected.bytes);
    }
}

static void refuses_more_directions_than_columns(void **state)
{
    clo_domain domain = ball(D, 1, CLO_REPLACE);
    clo_params *params = params_for("kmeans/highdim", "directions=7");
    clo_plan *plan = NULL;
    clo_error err;
    (void)state;
    assert_fails(clo_plan_new(params, &domain, (clo_loss){ 1, 1e-6 }, CLO_EXACT, &plan, &err),
                 CLO_ARGUMENT, err, "directions must be at most");
    clo_params_free(params);
    params = params_for("kmeans/highdim", "directions=0");
    domain.cols = 200;
    assert_fails(clo_plan_new(params, &domain, (clo_loss){ 1, 1e-6 }, CLO_EXACT, &plan, &err),
                 CLO_ARGUMENT, err, "cubes have at most");
    clo_params_free(params);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(centres_are_found_in_all_columns),
        cmocka_unit_test(centres_are_found_through_random_directions),
        cmocka_unit_test(a_plan_is_trees_swaps_and_rounds),
        cmocka_unit_test(without_a_delta_there_are_no_rounds),
        cmocka_unit_test(the_papers_constants_are_planned_and_run),
        cmocka_unit_test(every_input_has_an_answer),
        cmocka_unit_test(threads_blocks_and_row_order_do_not_show),
        cmocka_unit_test(refuses_more_directions_than_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
