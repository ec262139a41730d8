/*
 * gaussian_step: its noise has the planned law on every number of the answer, empty clusters
 * included, and the worst neighbours are told apart no better than mu allows (gaussian_step.T1).
 *
 * Power.  Noise 5 % small moves the normal law by .0124, and the radius at 2^17 samples and 1e-8 is
 * .0085.  At mu = 2 and 20,000 trials a world evidence reaches 1.86 or so, and a sensitivity that
 * was taken half as large shows 3.5 or more.
 */
#include "asking.h"
#include "ask/assign.h"
#include "query/gaussian_step.h"

enum { D = 2, K = 2, PER_ASK = K * (D + 2), ASKS = 1 << 14, TRIALS = 20000 };

static const double centers[K * D] = { 0, 0, 0, 1 };

static clo_line planned(clo_relation relation, double mu)
{
    const clo_domain domain = ball(D, 1, relation);
    clo_error err;
    clo_line line;
    assert_ok(clo_i_plan_gaussian_step(&domain, K, mu, 1, "", &line, &err), err);
    return line;
}

static void ask(asking *a, const clo_bounded *data, clo_steps *steps)
{
    const size_t mark = clo_i_workspace_mark(a->context.workspace);
    clo_error err;
    clo_assign rule;
    assert_ok(clo_i_assign_centers(a->context.workspace, centers, K, D, a->line.bits, &rule, &err),
              err);
    assert_ok(clo_i_ask_gaussian_step(&a->context, 0, data, &rule, 0.25, steps, &err), err);
    clo_i_workspace_release(a->context.workspace, mark);
}

/* One record at a distance of .5 of the first centre, none at the second. */
static void fill_residuals(clo_line line, clo_rng *rng, int64_t *residuals)
{
    const double record[D] = { 0.5, 0 };
    const clo_domain domain = ball(D, 1, CLO_REPLACE);
    clo_bounded *const data = bounded_from(record, 1, &domain);
    double pulls[K * D], stiffness[K], sizes[K];
    clo_steps steps = { pulls, stiffness, sizes };
    asking a;
    start_asking(&a, line, rng);
    a.context.block_rows = 1;
    for (size_t i = 0, at = 0; i < ASKS; i++) {
        ask(&a, data, &steps);
        for (size_t e = 0; e < K * D; e++)
            residuals[at++] = llround(ldexp(pulls[e] - (e == 0), line.bits));
        for (size_t c = 0; c < K; c++) {
            const double unit = (double)line.count_unit;
            residuals[at++] = llround((stiffness[c] - (c == 0 ? 0.5 : 0)) * unit);
            residuals[at++] = llround((sizes[c] - (c == 0)) * unit);
        }
    }
    stop_asking(&a);
    clo_bounded_free(data);
}

static void the_noise_has_the_planned_law(void **state)
{
    static int64_t residuals[ASKS * PER_ASK];
    (void)state;
    noise_follows(planned(CLO_REPLACE, 0.5), fill_residuals, residuals, ASKS * PER_ASK,
                  stat_rounded_gaussian, stat_alpha(STAT_gaussian_step_law, 1));
}

/* A record at a width from its centre, or not there: the matched filter of all that it adds. */
static double presence(asking *a, const clo_bounded *data)
{
    double pulls[K * D], stiffness[K], sizes[K];
    const double w = ldexp((double)a->line.count_unit, -a->line.bits);
    clo_steps steps = { pulls, stiffness, sizes };
    ask(a, data, &steps);
    return (pulls[0] + w * w * (stiffness[0] + sizes[0])) / sqrt(1 + 2 * w * w);
}

static void the_worst_neighbours_are_told_apart_as_planned_and_no_better(void **state)
{
    static const double far[D] = { 0.25, 0 };
    const clo_line line = planned(CLO_ADD_REMOVE, 2);
    const double w = ldexp((double)line.count_unit, -line.bits);
    const neighbours pair = {
        .cols = D, .left = far, .threshold = sqrt(1 + 2 * w * w) / 2, .trials = TRIALS, .least = 0.9
    };
    (void)state;
    are_told_apart_as_planned(&pair, line, presence, STAT_gaussian_step_privacy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_noise_has_the_planned_law),
        cmocka_unit_test(the_worst_neighbours_are_told_apart_as_planned_and_no_better),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
