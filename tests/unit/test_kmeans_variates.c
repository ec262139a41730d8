/* kmeans/variates (kmeans_variates.T1): seeds and rounds find well-separated centres, at a pure
 * epsilon near ones; the price of a draw is the exact loss of the worst neighbours (seed.T1); and
 * what the printed D^2 draw does to a lone record (kmeans_variates.T2) is shown beside it. */
#include "found_centers.h"
#include "plan/mechanism.h"
#include "random/random.h"
#include "query/seed.h"

enum { PER = 3000, K = 3, D = 3 };

static const double truth[K][D] = { { .6, 0, 0 }, { -.3, .5, 0 }, { -.3, -.5, .2 } };

static void fill(double *values)
{
    clo_rng *const rng = seeded("three");
    clo_error err;
    clo_stream *stream = NULL;
    assert_ok(clo_i_stream_open(rng, 1, 0, &stream, &err), err);
    for (size_t i = 0; i < PER * K * D; i++)
        values[i] = truth[i / D % K][i % D] + .05 * clo_i_random_normal(stream);
    clo_i_stream_close(stream);
    clo_rng_free(rng);
}

static void seeds_and_rounds_find_the_centres(void **state)
{
    static double values[PER * K * D];
    (void)state;
    fill(values);
    for (int relation = CLO_REPLACE; relation <= CLO_ADD_REMOVE; relation++)
        for (int pure = 0; pure < 2; pure++) {
            clo_domain domain = ball(D, 1, (clo_relation)relation);
            clo_array weights;
            int found = 0;
            domain.rows = relation == CLO_REPLACE ? PER * K : 0;
            clo_plan *const plan =
                plan_for("kmeans/variates", "clusters=3", &domain, 4, pure ? 0 : 1e-6);
            assert_true(clo_plan_price(plan).loss.epsilon <= 4);
            assert_true(clo_plan_price(plan).loss.epsilon > 3.9);
            clo_bounded *const data = bounded_from(values, PER * K, &domain);
            for (int i = 0; i < 8; i++) {
                char seed[8];
                snprintf(seed, sizeof seed, "%d", i);
                clo_release *const release = run_seeded(plan, data, seed, NULL);
                found += worst_miss(release, truth[0], NULL, K, D) < (pure ? .6 : .03);
                assert_int_equal(clo_release_find(release, "sizes", &weights), !pure);
                clo_release_free(release);
            }
            /* D^2 draws miss now and then, and without rounds nothing makes up for it. */
            assert_true(found >= (pure ? 5 : 8));
            clo_bounded_free(data);
            clo_plan_free(plan);
        }
}

/* ---- the price of a draw -------------------------------------------------------------------- */

/* The loss of two lists of weights, exactly: the largest logarithm of a ratio of chances. */
static double loss(const double *a, const double *b, size_t cells, double floor, double *range)
{
    double total_a = 0, total_b = 0, least = INFINITY, most = -INFINITY;
    for (size_t c = 0; c < cells; c++) {
        total_a += a[c] + floor;
        total_b += b[c] + floor;
    }
    for (size_t c = 0; c < cells; c++) {
        const double ratio = log((a[c] + floor) / total_a / ((b[c] + floor) / total_b));
        least = fmin(least, ratio);
        most = fmax(most, ratio);
    }
    *range = most - least;
    return fmax(most, -least);
}

/* seed.T1, by search among neighbours: none loses more than the plan charges, the worst does. */
static void no_neighbours_lose_more_than_a_draw_is_charged(void **state)
{
    enum { CELLS = 5 };
    clo_rng *const rng = seeded("weights");
    clo_stream *stream = NULL;
    clo_error err;
    (void)state;
    assert_ok(clo_i_stream_open(rng, 1, 0, &stream, &err), err);
    for (int relation = CLO_REPLACE; relation <= CLO_ADD_REMOVE; relation++)
        for (uint64_t rows = 1; rows <= 2; rows++) {
            clo_domain domain = ball(1, 1, (clo_relation)relation);
            clo_line line;
            double worst = 0;
            domain.rows_per_unit = rows;
            domain.unit = "person";
            assert_ok(clo_i_plan_seed(&domain, CELLS, 1, .7, 1, "", &line, &err), err);
            const double unit = (double)line.count_unit,
                         floor = (double)clo_i_seed_fields(&line).floor;
            assert_true(line.event.parameter <= .7 && line.event.parameter > .6999);
            for (int trial = 0; trial < 5000; trial++) {
                double a[CELLS] = { 0 }, b[CELLS], range;
                const bool heavy = clo_i_random_bit(stream), full = clo_i_random_bit(stream);
                for (size_t c = 0; c < CELLS; c++)
                    b[c] = a[c] = heavy ? 9 * unit * clo_i_random_unit(stream) : 0;
                for (uint64_t i = 0; i < rows; i++) {
                    a[clo_i_random_below(stream, CELLS)] +=
                        full ? unit : unit * clo_i_random_unit(stream);
                    if (relation == CLO_REPLACE)
                        b[clo_i_random_below(stream, CELLS)] +=
                            full ? unit : unit * clo_i_random_unit(stream);
                }
                const double most = loss(a, b, CELLS, floor, &range);
                worst = fmax(worst, relation == CLO_REPLACE ? most : range);
            }
            assert_true(worst <= line.event.parameter);
            assert_true(worst > line.event.parameter * .999);
        }
    clo_i_stream_close(stream);
    clo_rng_free(rng);
}

/* kmeans_variates.T2: without the floor a lone record is drawn for certain where it is there, and
 * never where it is not; with it, at most e^epsilon times as often. */
static void a_lone_record_is_not_drawn_for_certain(void **state)
{
    const clo_domain domain = ball(1, 1, CLO_REPLACE);
    double range;
    clo_line line;
    clo_error err;
    (void)state;
    assert_ok(clo_i_plan_seed(&domain, 2, 1, 1, 1, "", &line, &err), err);
    const double here[] = { (double)line.count_unit, 0 }, there[] = { 0, (double)line.count_unit };
    assert_true(loss(here, there, 2, (double)clo_i_seed_fields(&line).floor, &range) <= 1);
    assert_true(isinf(loss(here, there, 2, 0, &range)));
}

/* ---- plans and inputs ----------------------------------------------------------------------- */

static void a_plan_lists_draws_cells_and_rounds(void **state)
{
    const clo_domain domain = ball(D, 1, CLO_ADD_REMOVE);
    (void)state;
    clo_plan *const plan = plan_for("kmeans/variates", "clusters=4 rounds=3", &domain, 1, 1e-6);
    assert_int_equal(plan->line_count, 3);
    assert_int_equal(plan->lines[0].event.kind, CLO_EVENT_EXPONENTIAL);
    assert_int_equal(plan->lines[0].event.count, 4);
    assert_int_equal(plan->lines[2].event.count, 3);
    clo_plan_free(plan);
    clo_plan *const seeds = plan_for("kmeans/variates", "clusters=4", &domain, 1, 0);
    assert_int_equal(seeds->line_count, 1);
    clo_plan_free(seeds);
}

/* A cell is as long as a record: in very many columns no more than there is room for. */
static void cells_are_few_in_very_many_columns(void **state)
{
    const clo_domain wide = ball(1 << 20, 1, CLO_ADD_REMOVE), narrow = ball(3, 1, CLO_ADD_REMOVE);
    (void)state;
    clo_plan *plan = plan_for("kmeans/variates", "clusters=2", &wide, 1, 1e-6);
    assert_int_equal(plan->lines[1].groups, 4);
    clo_plan_free(plan);
    plan = plan_for("kmeans/variates", "clusters=7", &wide, 1, 1e-6);
    assert_int_equal(plan->lines[1].groups, 7);
    clo_plan_free(plan);
    plan = plan_for("kmeans/variates", "clusters=7", &narrow, 1, 1e-6);
    assert_true(plan->lines[1].groups >= 28);
    clo_plan_free(plan);
}

static void refuses_rounds_at_a_pure_epsilon_and_fewer_cells_than_seeds(void **state)
{
    const clo_domain domain = ball(D, 1, CLO_REPLACE);
    clo_params *const rounds = params_for("kmeans/variates", "rounds=2");
    clo_params *const few = params_for("kmeans/variates", "clusters=5 cells=4");
    clo_plan *plan = NULL;
    clo_error err;
    (void)state;
    assert_int_equal(clo_plan_new(rounds, &domain, (clo_loss){ 1, 0 }, CLO_EXACT, &plan, &err),
                     CLO_ARGUMENT);
    assert_int_equal(clo_plan_new(few, &domain, (clo_loss){ 1, 1e-6 }, CLO_EXACT, &plan, &err),
                     CLO_ARGUMENT);
    assert_null(plan);
    clo_params_free(rounds);
    clo_params_free(few);
}

static void runs_are_total_and_the_same_on_any_threads(void **state)
{
    static const char *const settings[] = { "clusters=3 cells=3 rounds=0", "clusters=2",
                                            "clusters=1 cells=1 rounds=3" };
    const double values[] = {
        0, 0, 0, 1, 0, 0, 1e300, -1e300, 5, NAN, 0, 0, .1, .2, .3, .3, .2, .1
    };
    (void)state;
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        for (size_t rows = 0; rows <= 6; rows += 3)
            for (int relation = CLO_REPLACE; relation <= CLO_ADD_REMOVE; relation++) {
                const clo_domain domain = ball(3, 1, (clo_relation)relation);
                clo_plan *const plan = plan_for("kmeans/variates", settings[i], &domain, .5, 1e-6);
                clo_bounded *const data = bounded_from(values, rows, &domain);
                assert_same_on_any_threads(plan, data);
                clo_bounded_free(data);
                clo_plan_free(plan);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(seeds_and_rounds_find_the_centres),
        cmocka_unit_test(no_neighbours_lose_more_than_a_draw_is_charged),
        cmocka_unit_test(a_lone_record_is_not_drawn_for_certain),
        cmocka_unit_test(a_plan_lists_draws_cells_and_rounds),
        cmocka_unit_test(cells_are_few_in_very_many_columns),
        cmocka_unit_test(refuses_rounds_at_a_pure_epsilon_and_fewer_cells_than_seeds),
        cmocka_unit_test(runs_are_total_and_the_same_on_any_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
