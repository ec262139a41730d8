/* kmedian/highdim finds medians, which records far away do not move as they move means; its plan
 * costs no more than its budget (kmedian_highdim.T1). */
#include "pipeline.h"
#include "plan/mechanism.h"
#include "query/choose_centers.h"
#include "query/queries.h"

enum { D = 3, K = 2, ROWS = 4000 };

static const double truth[K][D] = { { 0.6, 0, 0 }, { -0.6, 0.2, 0 } };

/* Two clusters of deviation .02, and one record in eight of the first far off, on one side. */
static void fill(double *values)
{
    clo_error err;
    clo_mixture_model model = clo_mixture_model_default();
    clo_rng *const rng = seeded("kmedian mixture");
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
    for (size_t c = 0; c < K; c++) {
        double square = 0;
        for (size_t j = 0; j < D; j++) square += pow(centers->data[c * D + j] - point[j], 2);
        least = fmin(least, sqrt(square));
    }
    return least;
}

static int runs_near(const char *method, const clo_bounded *data, const clo_domain *domain)
{
    int near = 0;
    clo_plan *const plan = plan_for(method, "clusters=2", domain, 4, 1e-6);
    for (int run = 0; run < 3; run++) {
        char seed[16];
        clo_array centers;
        snprintf(seed, sizeof seed, "median %d", run);
        clo_release *const release = run_seeded(plan, data, seed, NULL);
        assert_true(clo_release_find(release, "centers", &centers));
        near += nearest(&centers, truth[0]) < 0.04 && nearest(&centers, truth[1]) < 0.04;
        clo_release_free(release);
    }
    clo_plan_free(plan);
    return near;
}

static void medians_stay_where_means_are_drawn_away(void **state)
{
    static double values[ROWS * D];
    clo_domain domain = ball(D, 1, CLO_ADD_REMOVE);
    (void)state;
    domain.rows = ROWS;
    fill(values);
    clo_bounded *const data = bounded_from(values, ROWS, &domain);
    assert_true(runs_near("kmedian/highdim", data, &domain) >= 2);
    assert_true(runs_near("kmeans/highdim", data, &domain) <= 1); /* .6/8 off, less what is cut */
    clo_bounded_free(data);
}

/* kmedian_highdim.T1 */
static void a_plan_is_trees_swaps_and_steps(void **state)
{
    const clo_domain domain = ball(D, 1, CLO_REPLACE);
    (void)state;
    clo_plan *const plan = plan_for("kmedian", "clusters=4 rounds=5", &domain, 1, 1e-6);
    assert_int_equal(plan->line_count, 3);
    assert_int_equal(clo_i_choose_centers_fields(&plan->lines[1]).loss, CLO_LOSS_DISTANCE);
    assert_int_equal(plan->lines[2].query, &clo_i_query_gaussian_step);
    assert_int_equal(plan->lines[2].event.count, 5);
    assert_true(clo_plan_price(plan).loss.epsilon <= 1);
    clo_plan_free(plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(medians_stay_where_means_are_drawn_away),
        cmocka_unit_test(a_plan_is_trees_swaps_and_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
