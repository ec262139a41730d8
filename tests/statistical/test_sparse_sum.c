/*
 * sparse_sum: its noise has the planned law on every number of the answer, those of columns that no
 * record touches and of empty clusters included; and the worst neighbours are told apart no better
 * than epsilon allows, which stands on the cut (sparse_sum.T1).
 *
 * Power.  Noise 5 % small moves the Laplace law by .0092 and the normal one by .0124; the radius at
 * 2^18 samples and 5e-9 is .0062.  At 40,000 trials a world evidence reaches .8 of epsilon 1, and a
 * cut that is left out shows 1.1 of it or more.
 */
#include "summing.h"
#include "query/sparse_sum.h"

enum { ASKS = 1 << 13, TRIALS = 40000 };

static clo_line planned(size_t cols, size_t clusters, size_t entries, clo_relation relation,
                        clo_event_kind kind, double parameter)
{
    clo_error err;
    clo_line line;
    const clo_domain domain = ball(cols, 1, relation);
    assert_ok(
        clo_i_plan_sparse_sum(&domain, cols, clusters, entries, kind, parameter, "", &line, &err),
        err);
    assert_int_equal(line.event.kind, kind);
    assert_true(line.event.parameter <= parameter);
    return line;
}

/* One entry of the last record is cut off. */
static void fill_residuals(clo_line line, clo_rng *rng, int64_t *residuals)
{
    fill_sums(line, rng, clo_i_ask_sparse_sum, 0.125, ASKS, residuals);
}

static void the_noise_has_the_planned_law_on_every_number(void **state)
{
    static int64_t residuals[ASKS * PER_ASK];
    const double alpha = stat_alpha(STAT_sparse_sum_law, 2);
    (void)state;
    noise_follows(planned(D, K, 2, CLO_REPLACE, CLO_EVENT_GAUSSIAN, 0.5), fill_residuals, residuals,
                  ASKS * PER_ASK, stat_rounded_gaussian, alpha);
    noise_follows(planned(D, K, 2, CLO_REPLACE, CLO_EVENT_PURE, 0.5), fill_residuals, residuals,
                  ASKS * PER_ASK, stat_discrete_laplace, alpha);
}

/* The largest epsilon that the evidence supports, of the event that all numbers are at least what
 * the first world's are. */
static double supported_epsilon(asking *a, const clo_bounded *const worlds[2], const double *least,
                                double alpha)
{
    static const double centers[2] = { 0 };
    uint64_t hits[2] = { 0, 0 };
    for (int i = 0; i < TRIALS; i++)
        for (int world = 0; world < 2; world++) {
            double sums[2], size;
            ask_sums(a, clo_i_ask_sparse_sum, worlds[world], centers, sums, &size);
            hits[world] += sums[0] >= least[0] && sums[1] >= least[1] && size >= 1;
        }
    return log(stat_lower_bound(hits[0], TRIALS, alpha / 2) /
               stat_upper_bound(hits[1], TRIALS, alpha / 2));
}

/* sparse_sum.T1: where one entry counts, a record on an axis is as far as any gets. */
static void a_record_more_is_told_apart_as_planned_and_no_better(void **state)
{
    const double alpha = stat_alpha(STAT_sparse_sum_privacy, 1), h = sqrt(0.5) * (1 - 1e-9);
    const double axis[2] = { 1, 0 }, both[2] = { h, h };
    const double of_axis[2] = { 1, -INFINITY }, of_both[2] = { h - 1e-5, h - 1e-5 };
    const clo_domain domain = ball(2, 1, CLO_ADD_REMOVE);
    clo_bounded *const along = bounded_from(axis, 1, &domain);
    clo_bounded *const across = bounded_from(both, 1, &domain);
    clo_bounded *const none = bounded_from(both, 0, &domain);
    const clo_bounded *const axis_worlds[] = { along, none }, *const both_worlds[] = { across,
                                                                                       none };
    const clo_line line = planned(2, 1, 1, CLO_ADD_REMOVE, CLO_EVENT_PURE, 1);
    clo_rng *const rng = stat_rng();
    asking a;
    (void)state;
    start_asking(&a, line, rng);
    const double found = supported_epsilon(&a, axis_worlds, of_axis, alpha);
    assert_true(found <= line.event.parameter);
    assert_true(found > 0.8);
    assert_true(supported_epsilon(&a, both_worlds, of_both, alpha) <= line.event.parameter);
    change_fields(sparse_sum, &a.line, entries = 0); /* planted: nothing is cut off */
    assert_true(supported_epsilon(&a, both_worlds, of_both, alpha) > line.event.parameter);
    stop_asking(&a);
    clo_bounded_free(along);
    clo_bounded_free(across);
    clo_bounded_free(none);
    clo_rng_free(rng);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_noise_has_the_planned_law_on_every_number),
        cmocka_unit_test(a_record_more_is_told_apart_as_planned_and_no_better),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
