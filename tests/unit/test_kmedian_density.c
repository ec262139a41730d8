/* kmedian/density finds medians, which records far away do not move as they move means; its plan is
 * that of kmeans/density (kmedian_density.T1); and its bytes are the same on any number of
 * threads. */
#include "found_centers.h"
#include "plan/mechanism.h"

enum { D = 3, K = 2, ROWS = 8000, RUNS = 3 };

static const double truth[K][D] = { { 0.6, 0, 0 }, { -0.6, 0.2, 0 } };

/* Two clusters of deviation .02, and one record in eight of the first far off, on one side. */
static clo_bounded *drawn(const clo_domain *domain)
{
    static double values[ROWS * D];
    clo_error err;
    clo_mixture_model model = clo_mixture_model_default();
    clo_rng *const rng = seeded("kmedian density mixture");
    model.rows = ROWS;
    model.cols = D;
    model.clusters = 1;
    model.noise = 0.02;
    model.spread = 0;
    assert_ok(clo_generate_mixture(&model, rng, values, NULL, NULL, &err), err);
    for (size_t i = 0; i < ROWS; i++) {
        for (size_t j = 0; j < D; j++) values[i * D + j] += truth[i % K][j];
        if (i % 16 == 0) values[i * D + 2] += 0.6;
    }
    clo_rng_free(rng);
    return bounded_from(values, ROWS, domain);
}

static clo_domain of_rows(size_t cols, uint64_t rows)
{
    clo_domain domain = ball(cols, 1, CLO_ADD_REMOVE);
    domain.rows = rows;
    return domain;
}

static clo_release *run_of(const char *method, const char *seed, int threads)
{
    const clo_domain domain = of_rows(D, ROWS);
    clo_bounded *const data = drawn(&domain);
    clo_plan *const plan = plan_for(method, "clusters=2", &domain, 2, 1e-6);
    clo_run_options options = clo_run_options_default();
    options.threads = threads;
    clo_release *const release = run_seeded(plan, data, seed, &options);
    clo_plan_free(plan);
    clo_bounded_free(data);
    return release;
}

static double nearest(const clo_array *centers, const double *point)
{
    double least = INFINITY;
    for (size_t c = 0; c < centers->shape[0]; c++) {
        double square = 0;
        for (size_t j = 0; j < D; j++) square += pow(centers->data[c * D + j] - point[j], 2);
        least = fmin(least, sqrt(square));
    }
    return least;
}

static int runs_near(const char *method, double near)
{
    int found = 0;
    for (int run = 0; run < RUNS; run++) {
        char seed[16];
        clo_array centers;
        snprintf(seed, sizeof seed, "median %d", run);
        clo_release *const release = run_of(method, seed, 1);
        assert_true(clo_release_find(release, "centers", &centers));
        found += nearest(&centers, truth[0]) < near && nearest(&centers, truth[1]) < near;
        clo_release_free(release);
    }
    return found;
}

static void medians_stay_where_means_are_drawn_away(void **state)
{
    (void)state;
    assert_int_equal(runs_near("kmedian/density", 0.02), RUNS);
    assert_int_equal(runs_near("kmeans/density", 0.02), 0); /* .6/8 off */
}

/* kmedian_density.T1: in each way that the rows choose, to the last number. */
static void a_plan_is_that_of_kmeans_density(void **state)
{
    static const uint64_t rows[] = { 20000, 2000, 600, 300, 80 };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const clo_domain domain = of_rows(5, rows[i]);
        clo_plan *const plan = plan_for("kmedian/density", "clusters=4", &domain, 1, 1e-6);
        clo_plan *const other = plan_for("kmeans/density", "clusters=4", &domain, 1, 1e-6);
        assert_int_equal(plan->line_count, other->line_count);
        for (size_t l = 0; l < plan->line_count; l++) {
            assert_ptr_equal(plan->lines[l].query, other->lines[l].query);
            assert_int_equal(plan->lines[l].groups, other->lines[l].groups);
            assert_true(plan->lines[l].scale == other->lines[l].scale);
            assert_int_equal(plan->lines[l].event.count, other->lines[l].event.count);
        }
        assert_true(clo_plan_price(plan).loss.epsilon <= 1);
        clo_plan_free(plan);
        clo_plan_free(other);
    }
}

static void threads_do_not_change_a_release(void **state)
{
    clo_array a, b;
    (void)state;
    clo_release *const one = run_of("kmedian/density", "threads", 1);
    clo_release *const three = run_of("kmedian/density", "threads", 3);
    assert_true(clo_release_find(one, "centers", &a) && clo_release_find(three, "centers", &b));
    assert_int_equal(a.shape[0], b.shape[0]);
    assert_memory_equal(a.data, b.data, a.shape[0] * D * sizeof(double));
    clo_release_free(one);
    clo_release_free(three);
}

static void refuses_what_it_cannot_do(void **state)
{
    const clo_domain narrow = ball(2, 1, CLO_REPLACE);
    clo_params *const params = params_for("kmedian/density", "clusters=2");
    clo_plan *plan = NULL;
    clo_error err;
    (void)state;
    assert_fails(clo_plan_new(params, &narrow, (clo_loss){ 1, 0 }, CLO_EXACT, &plan, &err),
                 CLO_BUDGET, err,
                 "kmedian/density adds Gaussian noise, which needs a delta above 0: give one, or "
                 "choose kmedian/local");
    clo_params_free(params);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(medians_stay_where_means_are_drawn_away),
        cmocka_unit_test(a_plan_is_that_of_kmeans_density),
        cmocka_unit_test(threads_do_not_change_a_release),
        cmocka_unit_test(refuses_what_it_cannot_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
