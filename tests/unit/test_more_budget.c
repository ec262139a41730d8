/*
 * More budget never makes `subspaces` worse: the method that public facts choose is not one whose
 * rounds end in a local minimum, and flats that a frame has no room for are not promised.
 *
 * Eight planes in ten columns: rounds of k-planes from random starts mix some of them up in nearly
 * every run, at any epsilon (subspaces/sulq here: d_W above 1), and a fit of fourth moments does
 * not.
 */
#include "pipeline.h"
#include "measure/measure.h"

enum { ROWS = 8000, D = 10, K = 8, Q = 2 };

static const clo_setting settings[] = { { "clusters", "8" }, { "dim", "2" } };

static clo_plan *automatic(const clo_domain *domain, double epsilon)
{
    clo_error err;
    clo_plan *plan = NULL;
    assert_ok(clo_plan_auto("subspaces", settings, 2, domain, (clo_loss){ epsilon, 1e-6 },
                            CLO_EXACT, &plan, &err),
              err);
    return plan;
}

static double error_of(const clo_plan *plan, const clo_bounded *data, const double *truth)
{
    clo_release *const release = run_seeded(plan, data, "more", NULL);
    clo_array bases;
    clo_error err;
    double distance;
    assert_true(clo_release_find(release, "bases", &bases));
    assert_ok(clo_i_subspaces_distance(bases.data, truth, K, D, Q, &distance, &err), err);
    clo_release_free(release);
    return distance;
}

static void more_budget_is_never_worse(void **state)
{
    static double values[ROWS * D], truth[K * D * Q];
    clo_subspace_model model = clo_subspace_model_default();
    clo_domain domain = ball(D, 1, CLO_REPLACE);
    clo_rng *const rng = seeded("eight planes");
    double before = INFINITY;
    clo_error err;
    (void)state;
    domain.rows = model.rows = ROWS;
    model.cols = D;
    model.clusters = K;
    model.dim = Q;
    model.noise = 0.02;
    assert_ok(clo_generate_subspaces(&model, rng, values, NULL, truth, &err), err);
    clo_rng_free(rng);
    clo_bounded *const data = bounded_from(values, ROWS, &domain);
    clo_plan *const stuck = plan_for("subspaces/sulq", "clusters=8 dim=2", &domain, 30, 1e-6);
    assert_true(error_of(stuck, data, truth) > 0.5); /* otherwise this test shows nothing */
    clo_plan_free(stuck);
    for (double epsilon = 1; epsilon < 100; epsilon *= 3) {
        clo_plan *const plan = automatic(&domain, epsilon);
        const double error = error_of(plan, data, truth);
        assert_true(error < before + 0.01);
        before = error;
        clo_plan_free(plan);
    }
    assert_true(before < 0.05);
    clo_bounded_free(data);
}

static double predicted(const char *chosen, const char *values, size_t cols, double epsilon)
{
    clo_domain domain = ball(cols, 1, CLO_REPLACE);
    const char *meaning;
    clo_error err;
    double error;
    domain.rows = 1000000;
    clo_plan *const plan = plan_for(chosen, values, &domain, epsilon, 1e-6);
    assert_ok(clo_plan_predict(plan, 1e6, &error, &meaning, &err), err);
    clo_plan_free(plan);
    return error;
}

/* 80 directions do not fit into a frame of 64: measured 1.70 where this promises 1.45 (20,000 rows,
 * epsilon 3).  50 do. */
static void directions_that_a_frame_has_no_room_for_are_not_promised(void **state)
{
    (void)state;
    assert_true(predicted("subspaces/moments", "clusters=8 dim=10", 100, 100) > 1);
    assert_true(predicted("subspaces/moments", "clusters=10 dim=5", 100, 100) < 0.1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(more_budget_is_never_worse),
        cmocka_unit_test(directions_that_a_frame_has_no_room_for_are_not_promised),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
