/*
 * choose.c, which four queries draw with: the exponential mechanism has exactly its law (choose.T2)
 * and its worst pair no more than its epsilon (choose.T1).
 *
 * Power.  Six candidates with weights from 1 to e^-3; 2^19 draws put a radius of .0043 around the
 * law. A rate twice too large (the factor 2 forgotten) moves it by more than .1, one 5 % large by
 * .012.
 */
#include "asking.h"
#include "ask/query_steps.h"

enum { CANDIDATES = 6, DRAWS = 1 << 19, TRIALS = 1 << 17 };

static int64_t drawn[DRAWS];
static const int64_t scores[CANDIDATES] = { -3, 0, -1, -6, 0, -2 };

typedef struct weights {
    double rate;
} weights;

static long double law(int64_t x, const void *parameters)
{
    const weights *const w = parameters;
    long double below = 0, all = 0;
    for (int64_t i = 0; i < CANDIDATES; i++) {
        const long double weight = expl((long double)scores[i] * w->rate);
        all += weight;
        if (i <= x) below += weight;
    }
    return below / all;
}

static void draw_all(clo_line line, clo_rng *rng)
{
    clo_error err;
    asking a;
    start_asking(&a, line, rng);
    for (size_t i = 0; i < DRAWS; i++) {
        size_t chosen;
        assert_ok(clo_i_draw_exponential(&a.context, &a.line, scores, CANDIDATES, &chosen, &err),
                  err);
        drawn[i] = (int64_t)chosen;
    }
    stop_asking(&a);
}

static void the_choice_has_its_law(void **state)
{
    const double alpha = stat_alpha(STAT_choose_law, 1), epsilon = 1;
    const weights planned = { epsilon / 2 };
    clo_rng *const rng = stat_rng();
    clo_error err;
    clo_line line = { .label = "" };
    (void)state;
    assert_ok(clo_i_plan_exponential(1, epsilon, 1, &line, &err), err);
    assert_true(line.event.parameter == epsilon);
    draw_all(line, rng);
    assert_true(stat_follows(drawn, DRAWS, law, &planned, alpha));
    clo_line fault = line;
    fault.rate_numerator = line.rate_numerator * 2; /* planted: the factor 2 forgotten */
    draw_all(fault, rng);
    assert_false(stat_follows(drawn, DRAWS, law, &planned, alpha));
    fault.rate_numerator = line.rate_numerator * 11 / 10; /* planted: 10 % too sharp */
    draw_all(fault, rng);
    assert_false(stat_follows(drawn, DRAWS, law, &planned, alpha));
    clo_rng_free(rng);
}

/* Scores +1 on candidate 0 and -1 on the rest, against their opposite: the worst pair. */
static void the_worst_neighbours_are_told_apart_as_planned_and_no_better(void **state)
{
    enum { MANY = 64 };
    const double alpha = stat_alpha(STAT_choose_privacy, 2);
    int64_t worlds[2][MANY];
    uint64_t hits[2] = { 0, 0 };
    clo_rng *const rng = stat_rng();
    clo_error err;
    clo_line line = { .label = "" };
    asking a;
    (void)state;
    assert_ok(clo_i_plan_exponential(1, 1, 1, &line, &err), err);
    for (size_t i = 0; i < MANY; i++) {
        worlds[0][i] = i == 0 ? 1 : 0;
        worlds[1][i] = i == 0 ? 0 : 1;
    }
    for (int faulty = 0; faulty < 2; faulty++) {
        start_asking(&a, line, rng);
        if (faulty) a.line.rate_numerator *= 2;
        hits[0] = hits[1] = 0;
        for (size_t i = 0; i < TRIALS; i++)
            for (int world = 0; world < 2; world++) {
                size_t chosen;
                assert_ok(
                    clo_i_draw_exponential(&a.context, &a.line, worlds[world], MANY, &chosen, &err),
                    err);
                hits[world] += chosen == 0;
            }
        const double ratio = log(stat_lower_bound(hits[0], TRIALS, alpha / 2) /
                                 stat_upper_bound(hits[1], TRIALS, alpha / 2));
        if (faulty)
            assert_true(ratio > line.event.parameter);
        else
            assert_true(ratio <= line.event.parameter && ratio > 0.7);
        stop_asking(&a);
    }
    clo_rng_free(rng);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_choice_has_its_law),
        cmocka_unit_test(the_worst_neighbours_are_told_apart_as_planned_and_no_better),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
