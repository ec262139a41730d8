/* count.T1: the noise of a count has its planned law. Power as in test_gaussian_sum.c. */
#include "asking.h"
#include "query/count.h"

enum { ASKS = 1 << 18, ROWS = 5 };

static int64_t residuals[ASKS];

static void fill_residuals(clo_line line, clo_rng *rng)
{
    const double records[ROWS] = { 0 };
    const clo_domain domain = ball(1, 1, CLO_ADD_REMOVE);
    clo_bounded *const data = bounded_from(records, ROWS, &domain);
    clo_error err;
    asking a;
    start_asking(&a, line, rng);
    for (size_t i = 0; i < ASKS; i++) {
        double count;
        assert_ok(clo_i_ask_count(&a.context, 0, data, &count, &err), err);
        residuals[i] = llround((count - ROWS) * (double)line.count_unit);
    }
    stop_asking(&a);
    clo_bounded_free(data);
}

static void the_noise_has_the_planned_law(void **state)
{
    const double alpha = stat_alpha(STAT_count_law, 1);
    const clo_domain domain = ball(1, 1, CLO_ADD_REMOVE);
    clo_rng *const rng = stat_rng();
    clo_error err;
    clo_line line;
    (void)state;
    assert_ok(clo_i_plan_count(&domain, 0.25, 1, "", &line, &err), err);
    assert_true(line.sensitivity == line.count_unit); /* one record is one record */
    const double scale = (double)line.scale;
    fill_residuals(line, rng);
    assert_true(stat_follows(residuals, ASKS, stat_rounded_gaussian, &scale, alpha));
    line.scale = line.scale * 19 / 20;
    fill_residuals(line, rng);
    assert_false(stat_follows(residuals, ASKS, stat_rounded_gaussian, &scale, alpha));
    clo_rng_free(rng);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(the_noise_has_the_planned_law) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
