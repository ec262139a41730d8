/* kmeans/grid (kmeans_grid.T1): every cell is counted in integers and by its own record alone
 * (cell_counts.T1), centres come back in the data's own units at pure epsilon and with delta, and
 * every input succeeds. */
#include "found_centers.h"
#include "plan/mechanism.h"
#include "parallel/parallel.h"
#include "random/random.h"
#include "query/cell_counts.h"

enum { PER = 3000, K = 3, D = 2 };

static const double truth[K][D] = { { 10, 200 }, { 60, 900 }, { 95, 300 } };

static void fill(double *values)
{
    clo_rng *const rng = seeded("three");
    clo_error err;
    clo_stream *stream = NULL;
    assert_ok(clo_i_stream_open(rng, 1, 0, &stream, &err), err);
    for (size_t i = 0; i < PER * K; i++) {
        values[i * D] = truth[i % K][0] + 2 * clo_i_random_normal(stream);
        values[i * D + 1] = truth[i % K][1] + 20 * clo_i_random_normal(stream);
    }
    clo_i_stream_close(stream);
    clo_rng_free(rng);
}

static void centres_come_back_at_pure_epsilon_and_with_delta(void **state)
{
    static double values[PER * K * D];
    static const double lower[D] = { 0, 0 }, upper[D] = { 120, 1200 }, box[D] = { 60, 600 };
    (void)state;
    fill(values);
    for (int relation = CLO_REPLACE; relation <= CLO_ADD_REMOVE; relation++)
        for (int pure = 0; pure < 2; pure++) {
            clo_domain domain = clo_domain_default();
            clo_array weights;
            double total = 0;
            domain.relation = (clo_relation)relation;
            domain.cols = D;
            domain.lower = lower;
            domain.upper = upper;
            clo_plan *const plan =
                plan_for("kmeans/grid", "clusters=3", &domain, 1, pure ? 0 : 1e-6);
            assert_true(clo_plan_price(plan).loss.epsilon <= 1);
            assert_int_equal(plan->line_count, 1);
            clo_bounded *const data = bounded_from(values, PER * K, &domain);
            clo_release *const release = run_seeded(plan, data, "grid", NULL);
            assert_true(worst_miss(release, truth[0], box, K, D) < .05);
            assert_true(clo_release_find(release, "sizes", &weights));
            for (size_t c = 0; c < K; c++) total += weights.data[c];
            assert_close(total, PER * K, 500);
            clo_release_free(release);
            clo_bounded_free(data);
            clo_plan_free(plan);
        }
}

/* accounting.T9: pure noise needs no delta, and what is not needed is not charged; alone, and after
 * a norm that is learnt at pure epsilon.  Gaussian noise has its delta still. */
static void pure_noise_is_charged_no_delta(void **state)
{
    clo_domain domain = ball(D, 1, CLO_REPLACE);
    clo_error err;
    clo_loss rest;
    const clo_loss budget = { 1, 1e-6 };
    clo_learning learning = clo_learning_default();
    (void)state;
    learning.norm = true;
    domain.rows = 10000;
    clo_plan *plan = plan_for("kmeans/grid", "clusters=3", &domain, 1, 1e-6);
    assert_int_equal(plan->lines[0].event.kind, CLO_EVENT_PURE);
    assert_true(clo_plan_budget(plan).delta == 0 && clo_plan_price(plan).loss.delta == 0);
    assert_true(clo_plan_budget(plan).epsilon == 1 && clo_plan_price(plan).loss.epsilon > .999999);
    clo_plan_free(plan);
    assert_ok(clo_learning_rest(&learning, budget, &rest, &err), err);
    plan = plan_for("kmeans/grid", "clusters=3", &domain, rest.epsilon, rest.delta);
    assert_ok(clo_plan_learn(plan, &learning, budget, &err), err);
    assert_true(clo_plan_budget(plan).delta == 0 && clo_plan_budget(plan).epsilon == 1);
    clo_plan_free(plan);
    plan = plan_for("kmeans/lloyd", "clusters=3 noise=gaussian", &domain, 1, 1e-6);
    assert_true(clo_plan_budget(plan).delta == 1e-6 && clo_plan_price(plan).loss.delta > 0);
    clo_plan_free(plan);
}

/* cell_counts.T1: the sensitivities that are planned for. */
static void one_unit_moves_counts_as_far_as_planned(void **state)
{
    clo_error err;
    clo_line line;
    (void)state;
    for (uint64_t rows = 1; rows <= 3; rows++) {
        clo_domain domain = ball(D, 1, CLO_ADD_REMOVE);
        const double unit = 0x1p20 * (double)rows;
        domain.rows_per_unit = rows;
        domain.unit = "person";
        assert_ok(clo_i_plan_cell_counts(&domain, 4, CLO_EVENT_PURE, 1, 1, "", &line, &err), err);
        assert_int_equal(line.sensitivity, rows);
        assert_ok(clo_i_plan_cell_counts(&domain, 4, CLO_EVENT_GAUSSIAN, 1, 1, "", &line, &err),
                  err);
        assert_true((double)line.sensitivity == unit);
        domain.relation = CLO_REPLACE;
        assert_ok(clo_i_plan_cell_counts(&domain, 4, CLO_EVENT_PURE, 1, 1, "", &line, &err), err);
        assert_int_equal(line.sensitivity, 2 * rows);
        assert_ok(clo_i_plan_cell_counts(&domain, 4, CLO_EVENT_GAUSSIAN, 1, 1, "", &line, &err),
                  err);
        assert_true((double)line.sensitivity >= sqrt(2) * unit);
        assert_true((double)line.sensitivity <= sqrt(2) * unit + 1);
    }
}

/* cell_counts.T1: with next to no noise the counts are those of the cells, and a record far outside
 * is in the cell that its clipped self is in. */
static void every_record_is_in_the_cell_whose_middle_is_nearest(void **state)
{
    enum { SIDE = 5, CELLS = SIDE * SIDE, ROWS = 400 };
    static double rows[ROWS * D];
    const clo_domain domain = ball(D, 1, CLO_ADD_REMOVE);
    double counts[CELLS], expected[CELLS] = { 0 };
    clo_rng *const rng = seeded("cells");
    clo_context context = {
        .rng = rng, .comm = clo_i_comm_self(), .threads = 2, .block_rows = 7, .progress_to = 1
    };
    clo_stream *stream = NULL;
    clo_error err;
    clo_line line;
    (void)state;
    assert_ok(clo_i_stream_open(rng, clo_i_rng_next_ask(rng), 0, &stream, &err), err);
    for (size_t i = 0; i < ROWS * D; i++) rows[i] = .7 * (2 * clo_i_random_unit(stream) - 1);
    clo_i_stream_close(stream);
    rows[0] = 1e9;
    rows[1] = 0;
    assert_ok(clo_i_plan_cell_counts(&domain, SIDE, CLO_EVENT_PURE, 60, 1, "", &line, &err), err);
    assert_int_equal(line.groups, CELLS);
    for (size_t i = 0; i < ROWS; i++) {
        size_t nearest = 0;
        double least = INFINITY;
        for (size_t c = 0; c < CELLS; c++) {
            double middle[D];
            clo_i_cell_center(&line, c, middle);
            const double apart =
                hypot(fmin(rows[i * D], 1) - middle[0], rows[i * D + 1] - middle[1]);
            if (apart < least) nearest = c;
            least = fmin(least, apart);
        }
        expected[nearest]++;
    }
    clo_meter meter = { .lines = &line, .count = 1 };
    clo_bounded *const data = bounded_from(rows, ROWS, &domain);
    context.meter = &meter;
    assert_ok(clo_workspace_new(1 << 20, &context.workspace, &err), err);
    assert_ok(clo_i_ask_cell_counts(&context, 0, data, counts, &err), err);
    for (size_t c = 0; c < CELLS; c++) assert_true(counts[c] == expected[c]);
    clo_workspace_free(context.workspace);
    clo_bounded_free(data);
    clo_rng_free(rng);
}

static size_t side_for(size_t cols, uint64_t rows, double epsilon, int clusters)
{
    clo_domain domain = ball(cols, 1, CLO_REPLACE);
    char settings[32];
    domain.rows = rows;
    snprintf(settings, sizeof settings, "clusters=%d", clusters);
    clo_plan *const plan = plan_for("kmeans/grid", settings, &domain, epsilon, 0);
    const size_t side = clo_i_cell_counts_fields(&plan->lines[0]).side;
    clo_plan_free(plan);
    return side;
}

/* Su et al.: (N epsilon / 10)^(2 d / (d + 2)) cells; 1.4 to 3 times as many, in three columns 3
 * times that; and up to 20 times where there are few records, but 8 where there are many clusters.
 */
static void there_are_more_cells_than_by_the_published_rule(void **state)
{
    (void)state;
    assert_int_equal(side_for(2, 400, 1, 3), 12);       /* 3.46 * 40 cells */
    assert_int_equal(side_for(2, 400, 1, 12), 17);      /* 6.93 * 40 */
    assert_int_equal(side_for(2, 400, 1, 40), 18);      /* 8 * 40 */
    assert_int_equal(side_for(2, 40, 1, 3), 9);         /* 20 * 4 */
    assert_int_equal(side_for(2, 10000, 1, 3), 40);     /* 1.58 * 1000 */
    assert_int_equal(side_for(3, 10000, 1, 3), 27);     /* 4.73 * 3981 */
    assert_int_equal(side_for(3, 10000, .1, 3), 12);    /* 7.49 * 251 */
    assert_int_equal(side_for(10, 20000, 1, 3), 4);     /* 1.4 * 316,979 */
    assert_int_equal(side_for(1, 1000000, 1, 3), 3016); /* 1.4 * 2154 */
}

/* Records that are spread so thinly that hardly a cell stands out by itself, among many cells with
 * noise alone: with their neighbours they do, and are not lost. */
static void thin_records_are_told_by_their_neighbours(void **state)
{
    enum { ROWS = 6000 };
    static double values[ROWS * D];
    const clo_domain domain = ball(D, 1, CLO_REPLACE);
    clo_rng *const rng = seeded("thin");
    clo_stream *stream = NULL;
    clo_error err;
    clo_array weights, centers;
    (void)state;
    assert_ok(clo_i_stream_open(rng, 1, 0, &stream, &err), err);
    for (size_t i = 0; i < ROWS;
         i++) { /* a square of half a radius: 7.5 records a cell, noise 2.8 */
        values[i * D] = 0.5 * clo_i_random_unit(stream);
        values[i * D + 1] = 0.5 * clo_i_random_unit(stream);
    }
    clo_i_stream_close(stream);
    clo_plan *const plan = plan_for("kmeans/grid", "clusters=1 side=113", &domain, 1, 0);
    clo_bounded *const data = bounded_from(values, ROWS, &domain);
    clo_release *const release = run_seeded(plan, data, "thin", NULL);
    assert_true(clo_release_find(release, "sizes", &weights));
    assert_true(clo_release_find(release, "centers", &centers));
    /* by themselves, below a threshold of 18.9, next to none of them would count */
    assert_true(weights.data[0] > 0.8 * ROWS && weights.data[0] < 1.2 * ROWS);
    assert_close(centers.data[0], 0.25, 0.02);
    assert_close(centers.data[1], 0.25, 0.02);
    clo_release_free(release);
    clo_bounded_free(data);
    clo_plan_free(plan);
    clo_rng_free(rng);
}

static void refuses_more_cells_than_it_can_count(void **state)
{
    const clo_domain wide = ball(40, 1, CLO_REPLACE), narrow = ball(1, 1, CLO_REPLACE);
    clo_params *const params = params_for("kmeans/grid", "");
    clo_params *const many = params_for("kmeans/grid", "clusters=9 side=8");
    clo_plan *plan = NULL;
    clo_error err;
    (void)state;
    assert_int_equal(clo_plan_new(params, &wide, (clo_loss){ 1, 0 }, CLO_EXACT, &plan, &err),
                     CLO_ARGUMENT);
    assert_non_null(strstr(err.message, "too large"));
    assert_int_equal(clo_plan_new(many, &narrow, (clo_loss){ 1, 0 }, CLO_EXACT, &plan, &err),
                     CLO_ARGUMENT);
    assert_null(plan);
    clo_params_free(params);
    clo_params_free(many);
}

/* With a delta that is worth something Gaussian noise may be the lesser one. */
static void the_lesser_noise_is_taken(void **state)
{
    const clo_domain domain = ball(D, 1, CLO_REPLACE);
    (void)state;
    clo_plan *const usual = plan_for("kmeans/grid", "side=4", &domain, 1, 1e-6);
    assert_int_equal(usual->lines[0].event.kind, CLO_EVENT_PURE);
    clo_plan *const lax = plan_for("kmeans/grid", "side=4", &domain, .001, .01);
    assert_int_equal(lax->lines[0].event.kind, CLO_EVENT_GAUSSIAN);
    clo_plan_free(usual);
    clo_plan_free(lax);
}

static void runs_are_total_and_the_same_on_any_threads(void **state)
{
    static const char *const settings[] = { "clusters=5 side=3", "clusters=1 side=1",
                                            "clusters=27 side=3" };
    const double values[] = {
        0, 0, 0, 1, 0, 0, 1e300, -1e300, 5, NAN, 0, 0, .1, .2, .3, .3, .2, .1
    };
    (void)state;
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        for (size_t rows = 0; rows <= 6; rows += 3)
            for (int relation = CLO_REPLACE; relation <= CLO_ADD_REMOVE; relation++) {
                const clo_domain domain = ball(3, 1, (clo_relation)relation);
                clo_plan *const plan = plan_for("kmeans/grid", settings[i], &domain, .1, 0);
                clo_bounded *const data = bounded_from(values, rows, &domain);
                assert_same_on_any_threads(plan, data);
                clo_bounded_free(data);
                clo_plan_free(plan);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(centres_come_back_at_pure_epsilon_and_with_delta),
        cmocka_unit_test(pure_noise_is_charged_no_delta),
        cmocka_unit_test(one_unit_moves_counts_as_far_as_planned),
        cmocka_unit_test(every_record_is_in_the_cell_whose_middle_is_nearest),
        cmocka_unit_test(there_are_more_cells_than_by_the_published_rule),
        cmocka_unit_test(thin_records_are_told_by_their_neighbours),
        cmocka_unit_test(refuses_more_cells_than_it_can_count),
        cmocka_unit_test(the_lesser_noise_is_taken),
        cmocka_unit_test(runs_are_total_and_the_same_on_any_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
