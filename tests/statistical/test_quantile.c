/*
 * quantile: the choice has the law of its scores (quantile.T1, choose.T2), for norms and for a
 * column. Power: the law of the right scores and that of a median read one threshold off differ by
 * more than .05; the radius at 2^17 draws is .009.
 */
#include "asking.h"
#include "query/quantile.h"

enum { CANDIDATES = 5, DRAWS = 1 << 17, ROWS = 6 };

static int64_t drawn[DRAWS];

/* P[chosen <= x] for scores given by parameters, at rate 1/8 each. */
typedef struct scored {
    int64_t scores[CANDIDATES];
    double rate;
} scored;

static long double law(int64_t x, const void *parameters)
{
    const scored *const s = parameters;
    long double below = 0, all = 0;
    for (int64_t i = 0; i < CANDIDATES; i++) {
        const long double weight = expl((long double)s->scores[i] * s->rate);
        all += weight;
        if (i <= x) below += weight;
    }
    return below / all;
}

static void draw_all(const clo_line *line, clo_rng *rng, size_t column, const int64_t *thresholds)
{
    /* norms and first coordinates .1 .2 .3 .4 .5 .6 */
    const double records[2 * ROWS] = { .1, 0, .2, 0, .3, 0, .4, 0, .5, 0, .6, 0 };
    const clo_domain domain = ball(2, 1, CLO_ADD_REMOVE);
    clo_bounded *const data = bounded_from(records, ROWS, &domain);
    const int64_t handicaps[CANDIDATES] = { 0 };
    clo_error err;
    asking a;
    start_asking(&a, *line, rng);
    for (size_t i = 0; i < DRAWS; i++) {
        size_t chosen;
        assert_ok(
            clo_i_ask_quantile(&a.context, 0, data, column, thresholds, handicaps, &chosen, &err),
            err);
        drawn[i] = (int64_t)chosen;
    }
    stop_asking(&a);
    clo_bounded_free(data);
}

static void the_choice_has_the_law_of_its_scores(void **state)
{
    const double alpha = stat_alpha(STAT_quantile_law, 2);
    static const double at[CANDIDATES] = { .05, .25, .35, .55, .9 };
    /* below: 0 2 3 5 6 of 6; quantile 2/3: -|1 c - 2 (6 - c)| */
    const scored right = { { -12, -6, -3, -3, -6 }, 0.75 / 4 },
                 off = { { -6, -3, -3, -6, -12 }, 0.75 / 4 };
    const clo_domain domain = ball(2, 1, CLO_ADD_REMOVE);
    int64_t norms[CANDIDATES], values[CANDIDATES];
    clo_rng *const rng = stat_rng();
    clo_error err;
    clo_line line;
    (void)state;
    for (size_t i = 0; i < CANDIDATES; i++) {
        norms[i] = (int64_t)ldexp(at[i] * at[i], 60);
        values[i] = (int64_t)ldexp(at[i], 30);
    }
    assert_ok(clo_i_plan_quantile(&domain, CANDIDATES, 2, 3, 0.75, 1, "", &line, &err), err);
    assert_int_equal(line.sensitivity, 2);
    draw_all(&line, rng, SIZE_MAX, norms);
    assert_true(stat_follows(drawn, DRAWS, law, &right, alpha));
    assert_false(stat_follows(drawn, DRAWS, law, &off, alpha));
    draw_all(&line, rng, 0, values);
    assert_true(stat_follows(drawn, DRAWS, law, &right, alpha));
    clo_line fault = line;
    fault.rate_numerator *= 2; /* planted: sensitivity taken half as large */
    draw_all(&fault, rng, 0, values);
    assert_false(stat_follows(drawn, DRAWS, law, &right, alpha));
    clo_rng_free(rng);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(the_choice_has_the_law_of_its_scores) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
