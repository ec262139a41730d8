/*
 * laplace_sum: its noise has the planned law on every number of the answer, empty clusters
 * included; and the worst neighbours are told apart no better than epsilon allows (laplace_sum.T1).
 *
 * Power.  Noise 5 % small moves the Laplace law by .0092, and the radius at 2^18 samples and 1e-8
 * is .0061.  The event that every number is on the neighbour's far side has the odds e^epsilon
 * exactly: at 40,000 trials a world, evidence reaches .8 of epsilon or so, and a sensitivity that
 * was taken half as large shows 1.5 of it or more.
 */
#include "summing.h"
#include "query/cluster_sum.h"
#include "query/laplace_sum.h"

enum { ASKS = 1 << 13, TRIALS = 40000 };

static clo_line planned(size_t cols, size_t clusters, clo_relation relation, double epsilon)
{
    clo_error err;
    clo_line line;
    const clo_domain domain = ball(cols, 1, relation);
    assert_ok(clo_i_plan_laplace_sum(&domain, clusters, epsilon, 1, "", &line, &err), err);
    assert_int_equal(line.event.kind, CLO_EVENT_PURE);
    assert_true(line.event.parameter <= epsilon);
    return line;
}

static void fill_residuals(clo_line line, clo_rng *rng, int64_t *residuals)
{
    fill_sums(line, rng, clo_i_ask_cluster_sum, 0, ASKS, residuals);
}

static void the_noise_has_the_planned_law(void **state)
{
    static int64_t residuals[ASKS * PER_ASK];
    (void)state;
    noise_follows(planned(D, K, CLO_REPLACE, 0.5), fill_residuals, residuals, ASKS * PER_ASK,
                  stat_discrete_laplace, stat_alpha(STAT_laplace_sum_law, 1));
}

/* An answer of a first world, and on which side of each number of it the second world is not. */
typedef struct far_side {
    const double *sums, *sizes, *of_sums, *of_sizes;
} far_side;

/* The largest epsilon that the evidence supports, of the event that every number is at least as far
 * from the second world's as the first one's is. */
static double supported_epsilon(asking *a, const clo_bounded *const worlds[2],
                                const double *centers, const far_side *far, double alpha)
{
    uint64_t hits[2] = { 0, 0 };
    for (int i = 0; i < TRIALS; i++)
        for (int world = 0; world < 2; world++) {
            double sums[2], sizes[2];
            bool beyond = true;
            ask_sums(a, clo_i_ask_cluster_sum, worlds[world], centers, sums, sizes);
            for (size_t c = 0; c < a->line.groups; c++)
                beyond = beyond && far->of_sums[c] * (sums[c] - far->sums[c]) >= 0 &&
                         far->of_sizes[c] * (sizes[c] - far->sizes[c]) >= 0;
            hits[world] += beyond;
        }
    return log(stat_lower_bound(hits[0], TRIALS, alpha / 2) /
               stat_upper_bound(hits[1], TRIALS, alpha / 2));
}

/* One column: the sum and the size together are as far apart as any neighbours get. */
static void a_record_more_is_told_apart_as_planned_and_no_better(void **state)
{
    const double alpha = stat_alpha(STAT_laplace_sum_privacy, 1), here = 1;
    const far_side far = { &here, &here, &here, &here };
    const clo_domain domain = ball(1, 1, CLO_ADD_REMOVE);
    clo_bounded *const with = bounded_from(&here, 1, &domain);
    clo_bounded *const without = bounded_from(&here, 0, &domain);
    const clo_bounded *const worlds[] = { with, without };
    const clo_line line = planned(1, 1, CLO_ADD_REMOVE, 1);
    clo_rng *const rng = stat_rng();
    asking a;
    (void)state;
    start_asking(&a, line, rng);
    const double found = supported_epsilon(&a, worlds, &here, &far, alpha);
    assert_true(found <= line.event.parameter);
    assert_true(found > 0.8);
    a.line.scale /= 2; /* planted: the sensitivity was taken half as large */
    assert_true(supported_epsilon(&a, worlds, &here, &far, alpha) > 1.5);
    stop_asking(&a);
    clo_bounded_free(with);
    clo_bounded_free(without);
    clo_rng_free(rng);
}

/* A record that goes from one cluster into the other moves four numbers. */
static void a_replaced_record_is_told_apart_as_planned_and_no_better(void **state)
{
    const double alpha = stat_alpha(STAT_laplace_sum_replace, 1);
    static const double centers[] = { 1, -1 }, first[] = { 1, 0 };
    /* The second cluster's sum falls from 0 to -1 while its size rises. */
    static const double of_sums[] = { 1, 1 }, of_sizes[] = { 1, -1 };
    const far_side far = { first, first, of_sums, of_sizes };
    const clo_domain domain = ball(1, 1, CLO_REPLACE);
    clo_bounded *const right = bounded_from(&centers[0], 1, &domain);
    clo_bounded *const left = bounded_from(&centers[1], 1, &domain);
    const clo_bounded *const worlds[] = { right, left };
    const clo_line line = planned(1, 2, CLO_REPLACE, 2);
    clo_rng *const rng = stat_rng();
    asking a;
    (void)state;
    start_asking(&a, line, rng);
    const double found = supported_epsilon(&a, worlds, centers, &far, alpha);
    assert_true(found <= line.event.parameter);
    assert_true(found > 1.4);
    stop_asking(&a);
    clo_bounded_free(right);
    clo_bounded_free(left);
    clo_rng_free(rng);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_noise_has_the_planned_law),
        cmocka_unit_test(a_record_more_is_told_apart_as_planned_and_no_better),
        cmocka_unit_test(a_replaced_record_is_told_apart_as_planned_and_no_better),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
