/*
 * choose_flats: the choice has the law of its costs (choose.T2), and the worst neighbours are told
 * apart no better than epsilon allows, under both relations (choose_flats.T1).
 *
 * Power.  Three candidates of costs .86, 1.25 and .89 at a rate of 2: the planted law, a rate twice
 * too large, is .08 away; 2^16 draws put a radius of .012 around the law.
 */
#include "asking.h"
#include "ask/assign.h"
#include "query/choose_flats.h"

enum { D = 3, CANDIDATES = 3, DRAWS = 1 << 16, MANY = 8, TRIALS = 1 << 16 };

static int64_t drawn[DRAWS];
static const double costs[CANDIDATES] = { 0.86, 1.25, 0.89 };

static long double law(int64_t x, const void *parameters)
{
    const double rate = *(const double *)parameters;
    long double below = 0, all = 0;
    for (int64_t i = 0; i < CANDIDATES; i++) {
        const long double weight = expl(-(long double)costs[i] * rate);
        all += weight;
        if (i <= x) below += weight;
    }
    return below / all;
}

/* The line along axis j. */
static clo_assign axis(clo_workspace *space, size_t j, int bits)
{
    clo_error err;
    double basis[D] = { 0 };
    clo_assign rule;
    basis[j] = 1;
    assert_ok(clo_i_assign_subspaces(space, basis, 1, D, 1, bits, &rule, &err), err);
    return rule;
}

static void draw_all(clo_line line, clo_rng *rng)
{
    const double records[2 * D] = { .8, 0, .6, 0, .5, .5 };
    const clo_domain domain = ball(D, 1, CLO_REPLACE);
    clo_bounded *const data = bounded_from(records, 2, &domain);
    clo_assign rules[CANDIDATES];
    clo_error err;
    asking a;
    start_asking(&a, line, rng);
    a.context.block_rows = 2;
    for (size_t j = 0; j < CANDIDATES; j++) rules[j] = axis(a.context.workspace, j, line.bits);
    for (size_t i = 0; i < DRAWS; i++) {
        size_t chosen;
        assert_ok(clo_i_ask_choose_flats(&a.context, 0, data, rules, &chosen, &err), err);
        drawn[i] = (int64_t)chosen;
    }
    stop_asking(&a);
    clo_bounded_free(data);
}

static void the_choice_has_the_law_of_its_costs(void **state)
{
    const double alpha = stat_alpha(STAT_choose_flats_law, 1), rate = 2;
    const clo_domain domain = ball(D, 1, CLO_REPLACE);
    clo_rng *const rng = stat_rng();
    clo_error err;
    clo_line line;
    (void)state;
    assert_ok(clo_i_plan_choose_flats(&domain, CANDIDATES, 1, 2 * rate, 1, "", &line, &err), err);
    draw_all(line, rng);
    assert_true(stat_follows(drawn, DRAWS, law, &rate, alpha));
    line.rate_numerator *= 2; /* planted: the factor 2 forgotten */
    draw_all(line, rng);
    assert_false(stat_follows(drawn, DRAWS, law, &rate, alpha));
    clo_rng_free(rng);
}

/* One candidate along the first axis, the rest along the second; and a record on the first axis in
 * one world, in the other on the second or not there: all of the range. */
static double shown(clo_line line, clo_relation relation, clo_rng *rng, double alpha)
{
    const double first[D] = { 1 }, second[D] = { 0, 1 };
    const clo_domain domain = ball(D, 1, relation);
    clo_bounded *const worlds[2] = {
        bounded_from(first, 1, &domain),
        bounded_from(second, relation == CLO_REPLACE ? 1 : 0, &domain),
    };
    clo_assign rules[MANY];
    uint64_t hits[2] = { 0, 0 };
    clo_error err;
    asking a;
    start_asking(&a, line, rng);
    a.context.block_rows = 2;
    for (size_t j = 0; j < MANY; j++)
        rules[j] = axis(a.context.workspace, j == 0 ? 0 : 1, line.bits);
    for (size_t i = 0; i < TRIALS; i++)
        for (int world = 0; world < 2; world++) {
            size_t chosen;
            assert_ok(clo_i_ask_choose_flats(&a.context, 0, worlds[world], rules, &chosen, &err),
                      err);
            hits[world] += chosen == 0;
        }
    stop_asking(&a);
    clo_bounded_free(worlds[0]);
    clo_bounded_free(worlds[1]);
    return log(stat_lower_bound(hits[0], TRIALS, alpha / 2) /
               stat_upper_bound(hits[1], TRIALS, alpha / 2));
}

static void the_worst_neighbours_are_told_apart_as_planned_and_no_better(void **state)
{
    const double alpha = stat_alpha(STAT_choose_flats_privacy, 4);
    clo_rng *const rng = stat_rng();
    clo_error err;
    (void)state;
    for (int relation = CLO_REPLACE; relation <= CLO_ADD_REMOVE; relation++) {
        const clo_domain domain = ball(D, 1, (clo_relation)relation);
        clo_line line;
        assert_ok(clo_i_plan_choose_flats(&domain, MANY, 1, 1, 1, "", &line, &err), err);
        const double right = shown(line, (clo_relation)relation, rng, alpha);
        assert_true(right <= line.event.parameter && right > 0.65);
        line.rate_numerator *= 2; /* planted: the gain of add-remove taken under replace, too */
        assert_true(shown(line, (clo_relation)relation, rng, alpha) > line.event.parameter);
    }
    clo_rng_free(rng);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_choice_has_the_law_of_its_costs),
        cmocka_unit_test(the_worst_neighbours_are_told_apart_as_planned_and_no_better),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
