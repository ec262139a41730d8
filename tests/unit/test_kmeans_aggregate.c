/* kmeans/aggregate (kmeans_aggregate.T1): centres are found where there is budget enough, the order
 * in which a block's centres come does not show (aggregate.T5), whatever a solver writes becomes a
 * point of the space, and every input succeeds. */
#include "pipeline.h"
#include "plan/mechanism.h"
#include "parallel/parallel.h"
#include "query/aggregate_space.h"
#include "random/random.h"
#include "query/aggregate.h"

enum { ROWS = 3000, D = 2, K = 3 };

static const double truth[K][D] = { { .6, 0 }, { -.3, .5 }, { -.3, -.5 } };

static clo_plan *plan_with(const char *settings, const clo_domain *domain, double epsilon)
{
    clo_error err;
    clo_params *const params = params_for("kmeans/aggregate", settings);
    clo_plan *plan = NULL;
    assert_int_equal(
        clo_plan_new(params, domain, (clo_loss){ epsilon, 1e-5 }, CLO_EXACT, &plan, &err),
        CLO_ARGUMENT); /* idealized, and to be accepted by name */
    assert_ok(clo_plan_new(params, domain, (clo_loss){ epsilon, 1e-5 }, CLO_IDEALIZED, &plan, &err),
              err);
    clo_params_free(params);
    return plan;
}

static void fill(double *rows)
{
    clo_rng *const rng = seeded("three");
    clo_error err;
    clo_stream *stream = NULL;
    assert_ok(clo_i_stream_open(rng, 1, 0, &stream, &err), err);
    for (size_t i = 0; i < ROWS * D; i++)
        rows[i] = truth[i / D % K][i % D] + .03 * clo_i_random_normal(stream);
    clo_i_stream_close(stream);
    clo_rng_free(rng);
}

static void centres_are_found_where_there_is_budget_enough(void **state)
{
    static double rows[ROWS * D];
    (void)state;
    fill(rows);
    for (int relation = CLO_REPLACE; relation <= CLO_ADD_REMOVE; relation++) {
        const clo_domain domain = ball(D, 1, (clo_relation)relation);
        clo_array centers;
        clo_plan *const plan = plan_with("clusters=3 blocks=100", &domain, 100);
        clo_bounded *const data = bounded_from(rows, ROWS, &domain);
        clo_release *const release = run_seeded(plan, data, "blocks", NULL);
        assert_true(clo_release_find(release, "centers", &centers));
        assert_false(clo_release_find(release, "sizes", &(clo_array){ 0 }));
        for (size_t t = 0; t < K; t++) {
            double nearest = INFINITY;
            for (size_t c = 0; c < K; c++)
                nearest = fmin(nearest, hypot(centers.data[c * D] - truth[t][0],
                                              centers.data[c * D + 1] - truth[t][1]));
            assert_true(nearest < .1);
        }
        clo_release_free(release);
        clo_bounded_free(data);
        clo_plan_free(plan);
    }
}

/* ---- the space ------------------------------------------------------------------------------- */

static double distance_in_order(const double *a, const double *b, const size_t *order, size_t k)
{
    double square = 0;
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j < D; j++) square += pow(a[i * D + j] - b[order[i] * D + j], 2);
    return sqrt(square);
}

/* aggregate.T5: the least distance over all orders, and never more than the diameter. */
static void the_distance_is_that_of_the_best_order(void **state)
{
    static const size_t orders[6][K] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 },
                                         { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };
    double given[2][K * D], points[2][K * D], scratch[K * K], found;
    size_t partner[K];
    clo_rng *const rng = seeded("orders");
    clo_stream *stream = NULL;
    clo_error err;
    clo_space space;
    (void)state;
    assert_ok(clo_i_stream_open(rng, 1, 0, &stream, &err), err);
    clo_i_center_space(K, D, &space);
    assert_int_equal(space.room, K * K);
    for (int trial = 0; trial < 500; trial++) {
        double least = INFINITY;
        for (size_t i = 0; i < 2 * K * D; i++)
            given[i / (K * D)][i % (K * D)] = 2 * clo_i_random_normal(stream);
        for (int side = 0; side < 2; side++)
            assert_int_equal(space.settle(&space, given[side], points[side]), CLO_OK);
        for (size_t o = 0; o < 6; o++)
            least = fmin(least, distance_in_order(points[0], points[1], orders[o], K));
        assert_int_equal(space.distance(&space, points[0], points[1], partner, scratch, &found),
                         CLO_OK);
        assert_close(found, least, 1e-12);
        assert_true(found <= space.diameter);
    }
    clo_i_stream_close(stream);
    clo_rng_free(rng);
}

static void what_is_settled_lies_in_the_ball(void **state)
{
    double given[K * D] = { 1.5e308, -1.5e308, 3, 4, .3, -.4 }, points[K * D];
    clo_space space;
    (void)state;
    clo_i_center_space(K, D, &space);
    assert_int_equal(space.settle(&space, given, points), CLO_OK);
    const double expected[K * D] = { sqrt(.5), -sqrt(.5), .6, .8, .3, -.4 };
    for (size_t i = 0; i < K * D; i++) assert_close(points[i], expected[i], 1e-15);
}

/* ---- solvers that misbehave ------------------------------------------------------------------ */

typedef struct solver {
    bool turned, fails, endless;
} solver;

static clo_status constant(void *user, const clo_block *block, double *centers, clo_error *err)
{
    const solver *const s = user;
    (void)block;
    (void)err;
    if (s->fails) return CLO_INTERNAL;
    for (size_t c = 0; c < K; c++)
        for (size_t j = 0; j < D; j++)
            centers[(s->turned ? K - 1 - c : c) * D + j] = s->endless ? INFINITY : truth[c][j];
    return CLO_OK;
}

static void ask(solver *s, double *centers)
{
    static double rows[ROWS * D];
    const clo_domain domain = ball(D, 1, CLO_ADD_REMOVE);
    clo_rng *const rng = seeded("ask");
    clo_context context = { .rng = rng, .comm = clo_i_comm_self(), .threads = 2, .progress_to = 1 };
    clo_error err;
    clo_line line;
    fill(rows);
    assert_ok(
        clo_i_plan_aggregate_centers(&domain, K, 101, (clo_loss){ 290, 1e-5 }, "", &line, &err),
        err);
    clo_meter meter = { .lines = &line, .count = 1 };
    clo_bounded *const data = bounded_from(rows, ROWS, &domain);
    context.meter = &meter;
    assert_ok(clo_workspace_new(1 << 22, &context.workspace, &err), err);
    assert_ok(clo_i_ask_aggregate(&context, 0, data, constant, s, centers, &err), err);
    clo_workspace_free(context.workspace);
    clo_bounded_free(data);
    clo_rng_free(rng);
}

/* aggregate.T5: at next to no noise the answers are the same, in whatever order centres come. */
static void the_order_of_centres_does_not_show(void **state)
{
    solver plain = { .turned = false }, turned = { .turned = true };
    double a[K * D], b[K * D];
    (void)state;
    ask(&plain, a);
    ask(&turned, b);
    for (size_t i = 0; i < K * D; i++) assert_close(a[i], b[i], .02);
    for (size_t c = 1; c < K; c++) assert_true(a[(c - 1) * D] <= a[c * D] + .02);
}

static void a_solver_that_fails_is_not_heard_of(void **state)
{
    solver failing = { .fails = true }, endless = { .endless = true };
    double a[K * D], b[K * D];
    (void)state;
    ask(&failing, a);
    ask(&endless, b);
    for (size_t i = 0; i < K * D; i++) {
        assert_close(a[i], 0, .02); /* the fixed solution */
        assert_close(b[i], 0, .02);
    }
}

/* ---- plans and inputs ------------------------------------------------------------------------ */

static void a_plan_needs_a_delta(void **state)
{
    const clo_domain domain = ball(D, 1, CLO_REPLACE);
    clo_params *const params = params_for("kmeans/aggregate", "");
    clo_plan *plan = NULL;
    clo_error err;
    (void)state;
    assert_int_equal(clo_plan_new(params, &domain, (clo_loss){ 1, 0 }, CLO_IDEALIZED, &plan, &err),
                     CLO_BUDGET);
    assert_non_null(strstr(err.message, "delta"));
    assert_int_equal(
        clo_plan_new(params, &domain, (clo_loss){ 301, 1e-6 }, CLO_IDEALIZED, &plan, &err),
        CLO_ARGUMENT);
    assert_null(plan);
    clo_params_free(params);
}

static void the_audited_plan_is_not_the_constant_one(void **state)
{
    const clo_domain domain = ball(2, 1, CLO_REPLACE);
    (void)state;
    clo_plan *const plan = plan_with("clusters=1 blocks=121 restarts=1", &domain, 2);
    assert_true(clo_i_aggregate_fields(&plan->lines[0]).beta > 0);
    clo_plan_free(plan);
}

static void runs_are_total_and_the_same_on_any_threads(void **state)
{
    static const char *const settings[] = { "clusters=3 blocks=5", "clusters=1 blocks=8" };
    const double values[] = {
        0, 0, 0, 1, 0, 0, 1e300, -1e300, 5, NAN, 0, 0, .1, .2, .3, .3, .2, .1
    };
    (void)state;
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        for (int relation = CLO_REPLACE; relation <= CLO_ADD_REMOVE; relation++) {
            const clo_domain domain = ball(3, 1, (clo_relation)relation);
            clo_plan *const plan = plan_with(settings[i], &domain, 1);
            for (size_t rows = 0; rows <= 6; rows += 3) {
                clo_bounded *const data = bounded_from(values, rows, &domain);
                assert_same_on_any_threads(plan, data);
                clo_bounded_free(data);
            }
            clo_plan_free(plan);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(centres_are_found_where_there_is_budget_enough),
        cmocka_unit_test(the_distance_is_that_of_the_best_order),
        cmocka_unit_test(what_is_settled_lies_in_the_ball),
        cmocka_unit_test(the_order_of_centres_does_not_show),
        cmocka_unit_test(a_solver_that_fails_is_not_heard_of),
        cmocka_unit_test(a_plan_needs_a_delta),
        cmocka_unit_test(the_audited_plan_is_not_the_constant_one),
        cmocka_unit_test(runs_are_total_and_the_same_on_any_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
