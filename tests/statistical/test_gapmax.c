/*
 * gapmax: a subspace that is ahead by g is found with probability P[noise > A - g], exactly
 * (gapmax.T2), for every g from nothing to certainty; also with so large a delta that the noise
 * often comes near its bound.  Control: noise of another rate.
 */
#include "asking.h"
#include "query/gapmax_internal.h"
#include "query/gapmax.h"

enum { ASKS = 10000, ROWS = 41, LEADS = 6, CASES = 2 * LEADS };

static const clo_gapmax one_line = { .dim = 1, .scale = 1, .share = 0.01 };

/* P[noise > A - g] of the law that the line says. */
static double expected(const clo_line *line, int64_t lead)
{
    const double rate = (double)line->rate_numerator / (double)line->rate_denominator;
    const int64_t bound = (int64_t)line->scale;
    double sum = 0, above = 0;
    for (int64_t x = -bound; x <= bound; x++) {
        const double weight = exp(-rate * fabs((double)x));
        sum += weight;
        if (lead > 0 && lead + x > bound) above += weight;
    }
    return above / sum;
}

static uint64_t count_found(asking *a, size_t members)
{
    double rows[2 * ROWS] = { 0 };
    const clo_domain domain = ball(2, 8, CLO_REPLACE);
    uint64_t hits = 0;
    clo_error err;
    for (size_t i = 0; i < ROWS; i++) {
        rows[2 * i] = i < members ? 3 : 1 + (double)(i % 4);
        rows[2 * i + 1] = i < members ? 6 : 1;
    }
    clo_bounded *const data = bounded_from(rows, ROWS, &domain);
    for (int t = 0; t < ASKS; t++) {
        int64_t numerators[2], denominators[2];
        bool found = false;
        assert_ok(clo_i_ask_gapmax(&a->context, 0, data, &one_line, &found, numerators,
                                   denominators, &err),
                  err);
        if (!found) continue;
        hits++;
        assert_true(numerators[0] == 1 && numerators[1] == 2 && denominators[1] == 1);
    }
    clo_bounded_free(data);
    return hits;
}

static bool fits(uint64_t hits, double probability, double alpha)
{
    return stat_lower_bound(hits, ASKS, alpha / 2) <= probability &&
           probability <= stat_upper_bound(hits, ASKS, alpha / 2);
}

/* drawn: whose noise is drawn; line: whose law is expected. */
static bool leads_fit(const clo_line *line, const clo_line *drawn, clo_rng *rng)
{
    const double alpha = stat_alpha(STAT_gapmax_law, CASES);
    bool all = true;
    asking a;
    start_asking(&a, *drawn, rng);
    for (size_t i = 0; i < LEADS; i++) {
        const size_t members = 22 + 2 * i;
        const int64_t lead = clo_i_gapmax_score(ROWS, members, 0, INT64_MAX);
        all &= fits(count_found(&a, members), expected(line, lead), alpha);
    }
    stop_asking(&a);
    return all;
}

static void a_lead_is_found_as_often_as_the_noise_says(void **state)
{
    static const clo_loss losses[CASES / LEADS] = { { 2, 1e-6 }, { 1, 0.05 } };
    const clo_domain domain = ball(2, 8, CLO_REPLACE);
    clo_rng *const rng = stat_rng();
    clo_line line;
    clo_error err;
    (void)state;
    for (size_t i = 0; i < CASES / LEADS; i++) {
        assert_ok(clo_i_plan_gapmax(&domain, &one_line, losses[i], "", &line, &err), err);
        clo_line right = line;
        right.groups = 60; /* of 41 records more than half are hit: enough here */
        clo_line another_rate = right;
        another_rate.rate_numerator *= 2;
        assert_true(leads_fit(&line, &right, rng));
        assert_false(leads_fit(&line, &another_rate, rng));
    }
    clo_rng_free(rng);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lead_is_found_as_often_as_the_noise_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
