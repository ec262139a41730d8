/* kmeans/tree finds every one of many centres, in the data's own units; its plan is made of
 * Gaussian lines alone and keeps to the budget (kmeans_tree.T1); and its well-known special case is
 * one setting away. */
#include "found_centers.h"
#include "query/queries.h"
#include "mechanism/common/centers_common.h"
#include "mechanism/kmeans/tree_internal.h"
#include "parallel/parallel.h"

enum { RUNS = 3 };

static int runs_that_come_near(clo_loss budget, const char *settings, size_t rows, size_t d,
                               size_t k, double near)
{
    return runs_within(RUNS, "kmeans/tree", budget, settings, rows, d, k, near);
}

static int runs_that_find_all(const char *settings, size_t rows, size_t d, size_t k, double epsilon,
                              double near)
{
    return runs_that_come_near((clo_loss){ epsilon, 1e-6 }, settings, rows, d, k, near);
}

static void every_one_of_many_centres_is_found(void **state)
{
    (void)state;
    assert_int_equal(runs_that_find_all("clusters=12", 18000, 6, 12, 1, 0.05), RUNS);
}

/* In 60 columns the cells are made in fewer directions, and the round sees all columns again. */
static void centres_come_back_whole_from_fewer_directions(void **state)
{
    (void)state;
    assert_true(runs_that_find_all("clusters=6 reduce=4 share=0.2", 12000, 60, 6, 2, 0.1) >= 2);
    assert_int_equal(runs_that_find_all("clusters=6 reduce=4 rounds=0", 12000, 60, 6, 2, 0.1), 0);
}

static void a_tree_of_hyperplanes_finds_what_lies_far_apart(void **state)
{
    (void)state;
    assert_true(runs_that_find_all("clusters=4 cells=64 start=tree passes=1 rounds=0 reduce=0",
                                   20000, 5, 4, 4, 0.2) >= 2);
}

/* Nearest to which leaf a point is: its side of each level's hyperplane, bit by bit. */
static void leaves_are_told_apart_by_one_hyperplane_a_level(void **state)
{
    enum { LEVELS = 4, LEAVES = 1 << LEVELS, COLS = 9, POINTS = 200 };
    const clo_i_tree_plan plan = {
        .clusters = 2, .cells = LEAVES, .tree = true, .cols = COLS, .seen = COLS
    };
    double leaves[LEAVES * COLS], points[POINTS * COLS];
    clo_context context = { .threads = 1, .comm = clo_i_comm_self(), .rng = seeded("leaves") };
    clo_mixture_model model = clo_mixture_model_default();
    clo_error err;
    (void)state;
    assert_ok(clo_workspace_new(1 << 16, &context.workspace, &err), err);
    assert_ok(clo_i_tree_start(&context, &plan, NULL, leaves, &err), err);
    model.rows = POINTS;
    model.cols = COLS;
    model.clusters = 1;
    model.noise = 0.3;
    model.spread = 0;
    assert_ok(clo_generate_mixture(&model, context.rng, points, NULL, NULL, &err), err);
    size_t homes[LEAVES] = { 0 };
    for (size_t i = 0; i < POINTS; i++) {
        const double *const x = points + i * COLS;
        size_t nearest = 0, side = 0;
        for (size_t c = 1; c < LEAVES; c++)
            if (clo_i_squared_distance(x, leaves + c * COLS, COLS) <
                clo_i_squared_distance(x, leaves + nearest * COLS, COLS))
                nearest = c;
        for (size_t level = 0; level < LEVELS; level++) {
            double along = 0;
            for (size_t j = 0; j < COLS; j++)
                along += x[j] * (leaves[((size_t)1 << level) * COLS + j] - leaves[j]);
            side |= (size_t)(along > 0) << level;
        }
        assert_int_equal(nearest, side);
        homes[nearest]++;
    }
    for (size_t c = 0; c < LEAVES; c++) assert_true(homes[c] > 0);
    clo_workspace_free(context.workspace);
    clo_rng_free(context.rng);
}

/* kmeans_tree.T1 */
static void a_plan_holds_gaussian_lines_within_the_budget(void **state)
{
    clo_domain domain = ball(300, 1, CLO_ADD_REMOVE);
    (void)state;
    clo_plan *plan = plan_for("kmeans/tree", "clusters=10 passes=4 rounds=2", &domain, 1, 1e-6);
    assert_int_equal(plan->line_count, 4);
    assert_int_equal(plan->lines[0].query, &clo_i_query_gaussian_gram);
    assert_int_equal(plan->lines[1].query, &clo_i_query_count);
    assert_int_equal(plan->lines[2].query, &clo_i_query_gaussian_sum);
    assert_int_equal(plan->lines[2].event.count, 4);
    assert_true(plan->lines[2].lens);
    assert_int_equal(plan->lines[2].cols, 20);
    assert_int_equal(plan->lines[3].event.count, 2);
    assert_int_equal(plan->lines[3].groups, 10);
    assert_int_equal(plan->lines[3].cols, 300);
    assert_false(plan->lines[3].lens);
    for (size_t i = 0; i < 4; i++) assert_int_equal(plan->lines[i].event.kind, CLO_EVENT_GAUSSIAN);
    assert_true(clo_plan_price(plan).loss.epsilon <= 1);
    assert_true(clo_plan_price(plan).loss.epsilon > 0.995);
    clo_plan_free(plan);
    plan = plan_for("kmeans/tree", "clusters=10 start=tree passes=1 rounds=0 reduce=0", &domain, 1,
                    1e-6);
    assert_int_equal(plan->line_count, 1);
    assert_int_equal(plan->lines[0].event.count, 1);
    assert_int_equal(plan->lines[0].cols, 300);
    assert_true(clo_plan_price(plan).loss.epsilon > 0.995);
    clo_plan_free(plan);
}

/* kmeans_tree.T1 */
static void without_a_delta_the_lines_are_pure(void **state)
{
    clo_domain domain = ball(300, 1, CLO_REPLACE);
    clo_params *const params = params_for("kmeans/tree", "clusters=10 reduce=20");
    clo_plan *plan = plan_for("kmeans/tree", "clusters=10 passes=2", &domain, 1, 0), *none = NULL;
    clo_error err;
    (void)state;
    assert_int_equal(plan->line_count, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(plan->lines[i].query, &clo_i_query_laplace_sum);
        assert_int_equal(plan->lines[i].event.kind, CLO_EVENT_PURE);
        assert_int_equal(plan->lines[i].cols, 300);
    }
    assert_true(clo_plan_price(plan).loss.epsilon <= 1);
    assert_true(clo_plan_price(plan).loss.epsilon > 0.995);
    assert_int_equal(clo_plan_new(params, &domain, (clo_loss){ 1, 0 }, CLO_EXACT, &none, &err),
                     CLO_BUDGET);
    assert_int_equal(runs_that_come_near((clo_loss){ 1, 0 }, "clusters=5", 20000, 4, 5, 0.05),
                     RUNS);
    clo_params_free(params);
    clo_plan_free(plan);
}

static const clo_i_tree_plan *choice(clo_plan **plan, size_t cols, const char *settings,
                                     double epsilon)
{
    const clo_domain domain = ball(cols, 1, CLO_ADD_REMOVE);
    clo_plan_free(*plan);
    *plan = plan_for("kmeans/tree", settings, &domain, epsilon, 1e-6);
    return (*plan)->state;
}

static void public_quantities_decide_what_pays(void **state)
{
    clo_plan *plan = NULL;
    (void)state;
    assert_int_equal(choice(&plan, 10, "clusters=8", 1)->frame, 0);
    assert_int_equal(choice(&plan, 784, "clusters=10", 1)->frame, 20);
    assert_int_equal(choice(&plan, 784, "clusters=10", 0.001)->frame, 0); /* noise hides all */
    assert_int_equal(choice(&plan, 5000, "clusters=10", 1)->frame, 0);
    assert_int_equal(choice(&plan, 100, "clusters=64", 1)->cells, 256);
    assert_int_equal(choice(&plan, 10, "clusters=8", 0.01)->cells, 12);
    assert_true(choice(&plan, 10, "clusters=8", 1)->cells >
                choice(&plan, 10, "clusters=8", 0.1)->cells);
    assert_int_equal(choice(&plan, 10, "clusters=5 start=tree cells=100", 1)->cells, 64);
    assert_int_equal(choice(&plan, 10, "clusters=5 start=tree cells=5", 1)->cells, 8);
    assert_int_equal(choice(&plan, 10, "clusters=1024", 1)->cells, 1024);
    clo_plan_free(plan);
}

static void must_be_refused(const char *settings)
{
    const clo_domain domain = ball(6, 1, CLO_REPLACE);
    clo_params *const params = params_for("kmeans/tree", settings);
    clo_plan *plan = NULL;
    clo_error err;
    assert_int_equal(clo_plan_new(params, &domain, (clo_loss){ 1, 1e-6 }, CLO_EXACT, &plan, &err),
                     CLO_ARGUMENT);
    assert_null(plan);
    clo_params_free(params);
}

static void refuses_what_cannot_be(void **state)
{
    (void)state;
    must_be_refused("clusters=3 reduce=7");
    must_be_refused("clusters=3 cells=2");
}

/* No records, or records that noise hides: a run succeeds, and centres stay in the ball. */
static void any_data_give_centres_in_the_ball(void **state)
{
    static const double values[] = { 3, -4, 0.1, 0.2 };
    static const char *const settings[] = { "clusters=7", "clusters=7 start=tree rounds=3",
                                            "clusters=7 reduce=1 passes=3",
                                            "clusters=7 reduce=2 rounds=0 start=tree" };
    (void)state;
    for (size_t i = 0; i < 4; i++)
        for (size_t rows = 0; rows <= 2; rows++) {
            const clo_domain domain = ball(2, 0.5, CLO_ADD_REMOVE);
            clo_array centers, weights;
            clo_plan *const plan = plan_for("kmeans/tree", settings[i], &domain, 0.05, 1e-9);
            clo_bounded *const data = bounded_from(values, rows, &domain);
            clo_release *const release = run_seeded(plan, data, "noise", NULL);
            assert_true(clo_release_find(release, "centers", &centers));
            assert_true(clo_release_find(release, "sizes", &weights));
            for (size_t c = 0; c < 7; c++) {
                assert_true(hypot(centers.data[2 * c], centers.data[2 * c + 1]) <=
                            0.5 * (1 + 1e-12));
                assert_true(weights.data[c] >= 0);
            }
            clo_release_free(release);
            clo_bounded_free(data);
            clo_plan_free(plan);
        }
}

static void threads_and_blocks_do_not_show(void **state)
{
    double truth[6 * 30];
    double *const values = scattered_mixture(900, 30, 6, 0.05, truth);
    const clo_domain domain = ball(30, 1, CLO_REPLACE);
    clo_plan *const plan =
        plan_for("kmeans/tree", "clusters=6 reduce=5 rounds=2", &domain, 2, 1e-6);
    clo_bounded *const data = bounded_from(values, 900, &domain);
    clo_run_options options = clo_run_options_default();
    text texts[2];
    (void)state;
    for (int i = 0; i < 2; i++) {
        options.threads = i ? 3 : 1;
        options.block_rows = i ? 37 : 0;
        clo_release *const release = run_seeded(plan, data, "same", &options);
        texts[i] = json_of(release);
        clo_release_free(release);
    }
    assert_string_equal(texts[0].bytes, texts[1].bytes);
    free(texts[0].bytes);
    free(texts[1].bytes);
    clo_bounded_free(data);
    clo_plan_free(plan);
    free(values);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_one_of_many_centres_is_found),
        cmocka_unit_test(centres_come_back_whole_from_fewer_directions),
        cmocka_unit_test(a_tree_of_hyperplanes_finds_what_lies_far_apart),
        cmocka_unit_test(leaves_are_told_apart_by_one_hyperplane_a_level),
        cmocka_unit_test(a_plan_holds_gaussian_lines_within_the_budget),
        cmocka_unit_test(without_a_delta_the_lines_are_pure),
        cmocka_unit_test(public_quantities_decide_what_pays),
        cmocka_unit_test(refuses_what_cannot_be),
        cmocka_unit_test(any_data_give_centres_in_the_ball),
        cmocka_unit_test(threads_and_blocks_do_not_show),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
