/* kmedian/local finds medians, which records far away do not move as they move means, nearer than
 * noise of the ball would let it; its plan is made of local sums and keeps to the budget
 * (kmedian_local.T1). */
#include "pipeline.h"
#include "plan/mechanism.h"
#include "query/local_sum.h"

enum { D = 3, K = 2, ROWS = 8000, RUNS = 3 };

static const double truth[K][D] = { { 0.6, 0, 0 }, { -0.6, 0.2, 0 } };

/* Two clusters of deviation .02, and one record in eight of the first far off, on one side. */
static void fill(double *values)
{
    clo_error err;
    clo_mixture_model model = clo_mixture_model_default();
    clo_rng *const rng = seeded("kmedian local mixture");
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

static int runs_near(const char *method, clo_loss budget, double near)
{
    static double values[ROWS * D];
    const clo_domain domain = ball(D, 1, CLO_ADD_REMOVE);
    fill(values);
    clo_bounded *const data = bounded_from(values, ROWS, &domain);
    clo_plan *const plan = plan_for(method, "clusters=2", &domain, budget.epsilon, budget.delta);
    int found = 0;
    for (int run = 0; run < RUNS; run++) {
        char seed[16];
        clo_array centers;
        snprintf(seed, sizeof seed, "median %d", run);
        clo_release *const release = run_seeded(plan, data, seed, NULL);
        assert_true(clo_release_find(release, "centers", &centers));
        found += nearest(&centers, truth[0]) < near && nearest(&centers, truth[1]) < near;
        clo_release_free(release);
    }
    clo_plan_free(plan);
    clo_bounded_free(data);
    return found;
}

static void medians_stay_where_means_are_drawn_away(void **state)
{
    (void)state;
    assert_int_equal(runs_near("kmedian/local", (clo_loss){ 2, 1e-6 }, 0.02), RUNS);
    assert_int_equal(runs_near("kmeans/local", (clo_loss){ 2, 1e-6 }, 0.02), 0); /* .6/8 off */
}

static void a_pure_budget_finds_medians_too(void **state)
{
    (void)state;
    assert_true(runs_near("kmedian/local", (clo_loss){ 4, 0 }, 0.04) >= 2);
}

/* kmedian_local.T1: the lines of kmeans/local, to the last number. */
static void a_plan_is_that_of_kmeans_local(void **state)
{
    static const size_t columns[] = { 3, 300 };
    (void)state;
    for (int i = 0; i < 4; i++) {
        const clo_domain domain = ball(columns[i % 2], 1, i / 2 ? CLO_REPLACE : CLO_ADD_REMOVE);
        clo_plan *const plan = plan_for("kmedian/local", "clusters=10", &domain, 1, 1e-6);
        clo_plan *const other = plan_for("kmeans/local", "clusters=10", &domain, 1, 1e-6);
        assert_int_equal(plan->line_count, other->line_count);
        for (size_t l = 0; l < plan->line_count; l++) {
            assert_ptr_equal(plan->lines[l].query, other->lines[l].query);
            assert_true(plan->lines[l].scale == other->lines[l].scale);
            assert_int_equal(plan->lines[l].event.count, other->lines[l].event.count);
        }
        assert_true(clo_plan_price(plan).loss.epsilon <= 1);
        clo_plan_free(plan);
        clo_plan_free(other);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(medians_stay_where_means_are_drawn_away),
        cmocka_unit_test(a_pure_budget_finds_medians_too),
        cmocka_unit_test(a_plan_is_that_of_kmeans_local),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
