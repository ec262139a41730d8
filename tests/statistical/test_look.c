/*
 * look: the noise has the planned law on every number of the answer, empty shells included, and the
 * worst neighbours of look.T1 are told apart no better than mu allows.  Power as in viewed_law.h.
 */
#include "asking.h"
#include "query/look.h"

enum { D = 2, ENTRIES = D + CLO_LOOK_SHELLS, ASKS = 1 << 13, TRIALS = 20000 };
static const double WIDTH = 0.25, origin[D];
static const double far[D] = { 1, 0 }, opposite[D] = { -0.5, 0 }; /* shells 2 and 4 */

static clo_line planned(clo_relation relation, double mu)
{
    const clo_domain domain = ball(D, 1, relation);
    clo_error err;
    clo_line line;
    assert_ok(clo_i_plan_look(&domain, mu, 1, "", &line, &err), err);
    return line;
}

static void ask(asking *a, const clo_bounded *data, double *sum, double *shells)
{
    clo_error err;
    assert_ok(clo_i_ask_look(&a->context, 0, data, origin, WIDTH, sum, shells, &err), err);
}

static void fill_residuals(clo_line line, clo_rng *rng, int64_t *residuals)
{
    const clo_domain domain = ball(D, 1, CLO_REPLACE);
    clo_bounded *const data = bounded_from(far, 1, &domain);
    double sum[D], shells[CLO_LOOK_SHELLS];
    asking a;
    start_asking(&a, line, rng);
    a.context.block_rows = 1;
    for (size_t i = 0, at = 0; i < ASKS; i++) {
        ask(&a, data, sum, shells);
        for (size_t j = 0; j < D; j++) residuals[at++] = llround(ldexp(sum[j] - (j == 0), 20));
        for (size_t j = 0; j < CLO_LOOK_SHELLS; j++)
            residuals[at++] = llround((shells[j] - (j == 2)) * (double)line.count_unit);
    }
    stop_asking(&a);
    clo_bounded_free(data);
}

static void the_noise_has_the_planned_law(void **state)
{
    static int64_t residuals[ASKS * ENTRIES];
    (void)state;
    noise_follows(planned(CLO_REPLACE, 0.5), fill_residuals, residuals, ASKS * ENTRIES,
                  stat_rounded_gaussian, stat_alpha(STAT_look_law, 1));
}

/* Matched filters, in units of the sums: a shell weighs half of a sum, squared. */
static double presence(asking *a, const clo_bounded *data)
{
    double sum[D], shells[CLO_LOOK_SHELLS];
    ask(a, data, sum, shells);
    return sum[0] + shells[2] / 4;
}

static double side(asking *a, const clo_bounded *data)
{
    double sum[D], shells[CLO_LOOK_SHELLS];
    ask(a, data, sum, shells);
    return 2 * sum[0] + (shells[2] - shells[4]) / 4;
}

static void the_worst_neighbours_are_told_apart_as_planned_and_no_better(void **state)
{
    const neighbours pair = {
        .cols = D, .left = far, .threshold = 1.25 / 2, .trials = TRIALS, .least = 0.9
    };
    (void)state;
    are_told_apart_as_planned(&pair, planned(CLO_ADD_REMOVE, 2), presence, STAT_look_privacy);
}

static void a_replaced_record_is_told_apart_as_planned_and_no_better(void **state)
{
    const neighbours pair = {
        .cols = D, .left = far, .right = opposite, .threshold = 0, .trials = TRIALS, .least = 0.88
    };
    (void)state;
    are_told_apart_as_planned(&pair, planned(CLO_REPLACE, 2), side, STAT_look_replace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_noise_has_the_planned_law),
        cmocka_unit_test(the_worst_neighbours_are_told_apart_as_planned_and_no_better),
        cmocka_unit_test(a_replaced_record_is_told_apart_as_planned_and_no_better),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
