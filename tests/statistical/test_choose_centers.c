/*
 * choose_centers: the choice among swaps has the law of their losses (choose.T2), and the worst
 * neighbours are told apart as planned and no better (choose_centers.T1).
 *
 * Power.  The radius at 2^16 draws and 1e-8 is .012; the factor 2 forgotten moves the law below by
 * more than .1.  At epsilon' = 1 with 64 candidates the chance of the one that the record is at
 * changes by a factor of e^.98, and 60,000 trials show at least .65 of that.
 */
#include "asking.h"
#include "query/choose_centers.h"

enum { D = 2, POINTS = 4, DRAWS = 1 << 16, MANY = 64, TRIALS = 60000 };

static int64_t drawn[DRAWS];

/* Candidates on the first axis; a record at (1, 0) loses (1 - c)^2 / 4, of W, to the point c. */
static const double points[POINTS * D] = { 1, 0, 0.5, 0, 0, 0, -1, 0 };
static const double costs[POINTS] = { 0, 0.0625, 0.25, 1 };

static long double law(int64_t x, const void *parameters)
{
    const double rate = *(const double *)parameters;
    long double below = 0, all = 0;
    for (int64_t i = 0; i < POINTS; i++) {
        const long double weight = expl(-2 * (long double)costs[i] * rate); /* of two records */
        all += weight;
        if (i <= x) below += weight;
    }
    return below / all;
}

static clo_line planned(size_t candidates, clo_relation relation, double epsilon)
{
    const clo_center_choice how = { candidates, 1, 0, CLO_LOSS_SQUARED, 2 };
    const clo_domain domain = ball(D, 1, relation);
    clo_error err;
    clo_line line;
    assert_ok(clo_i_plan_choose_centers(&domain, &how, epsilon, 1, "", &line, &err), err);
    return line;
}

static void draw_all(clo_line line, clo_rng *rng)
{
    const double records[2 * D] = { 1, 0, 1, 0 };
    const clo_domain domain = ball(D, 1, CLO_REPLACE);
    const clo_candidates all = { points, POINTS };
    clo_bounded *const data = bounded_from(records, 2, &domain);
    clo_error err;
    asking a;
    start_asking(&a, line, rng);
    a.context.block_rows = 2;
    for (size_t i = 0; i < DRAWS; i++) {
        size_t set[1] = { 3 };
        assert_ok(clo_i_ask_swaps(&a.context, 0, data, &all, 1, 1, set, &err), err);
        drawn[i] = (int64_t)set[0];
    }
    stop_asking(&a);
    clo_bounded_free(data);
}

static void the_choice_has_the_law_of_its_losses(void **state)
{
    const double alpha = stat_alpha(STAT_choose_centers_law, 1), rate = 2;
    clo_line line = planned(POINTS, CLO_REPLACE, 2 * rate);
    clo_rng *const rng = stat_rng();
    (void)state;
    draw_all(line, rng);
    assert_true(stat_follows(drawn, DRAWS, law, &rate, alpha));
    line.rate_numerator *= 2; /* planted: the factor 2 forgotten */
    draw_all(line, rng);
    assert_false(stat_follows(drawn, DRAWS, law, &rate, alpha));
    clo_rng_free(rng);
}

/* One candidate at one end of the ball, the rest at the other; a record at the first in one world,
 * in the other at the second or not there: all of the range. */
static double shown(clo_line line, clo_relation relation, clo_rng *rng, double alpha)
{
    const double here[D] = { 1 }, there[D] = { -1 };
    const clo_domain domain = ball(D, 1, relation);
    clo_bounded *const worlds[2] = { bounded_from(here, 1, &domain),
                                     bounded_from(there, relation == CLO_REPLACE ? 1 : 0,
                                                  &domain) };
    double ends[MANY * D] = { 1 };
    const clo_candidates all = { ends, MANY };
    uint64_t hits[2] = { 0, 0 };
    clo_error err;
    asking a;
    for (size_t i = 1; i < MANY; i++) ends[i * D] = -1;
    start_asking(&a, line, rng);
    a.context.block_rows = 2;
    for (size_t i = 0; i < TRIALS; i++)
        for (int world = 0; world < 2; world++) {
            size_t set[1] = { 5 };
            assert_ok(clo_i_ask_swaps(&a.context, 0, worlds[world], &all, 1, 1, set, &err), err);
            hits[world] += set[0] == 0;
        }
    stop_asking(&a);
    clo_bounded_free(worlds[0]);
    clo_bounded_free(worlds[1]);
    return log(stat_lower_bound(hits[0], TRIALS, alpha / 2) /
               stat_upper_bound(hits[1], TRIALS, alpha / 2));
}

static void the_worst_neighbours_are_told_apart_as_planned_and_no_better(void **state)
{
    const double alpha = stat_alpha(STAT_choose_centers_privacy, 4);
    clo_rng *const rng = stat_rng();
    (void)state;
    for (int relation = CLO_REPLACE; relation <= CLO_ADD_REMOVE; relation++) {
        clo_line line = planned(MANY, (clo_relation)relation, 1);
        const double right = shown(line, (clo_relation)relation, rng, alpha);
        assert_true(right <= line.event.parameter && right > 0.55);
        line.rate_numerator *= 2; /* planted: the gain of add-remove taken under replace, too */
        assert_true(shown(line, (clo_relation)relation, rng, alpha) > line.event.parameter);
    }
    clo_rng_free(rng);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_choice_has_the_law_of_its_losses),
        cmocka_unit_test(the_worst_neighbours_are_told_apart_as_planned_and_no_better),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
