/*
 * gaussian_moment: every class of entries has noise of its planned law (gaussian_moment.T2), and
 * the worst neighbours, along the axes and across them, are told apart no better than mu allows
 * (gaussian_moment.T1). Power as in test_gaussian_sum.c.
 */
#include "asking.h"
#include "query/gaussian_moment.h"

enum { D = 4, ASKS = 1 << 14, TRIALS = 20000, SIZE = D * (D + 1) * (D + 2) * (D + 3) / 24 };

static const unsigned classes[] = { 1, 4, 6, 12, 24 };
enum { CLASSES = sizeof classes / sizeof *classes };
static int64_t residuals[CLASSES][(size_t)ASKS * SIZE];
static size_t counts[CLASSES];

static clo_line planned(double mu)
{
    clo_error err;
    clo_line line;
    const clo_domain domain = ball(D, 1, CLO_REPLACE);
    assert_ok(clo_i_plan_gaussian_moment(&domain, mu, 1, "", &line, &err), err);
    return line;
}

static void ask(asking *a, const clo_bounded *data, double *moments)
{
    clo_error err;
    assert_ok(clo_i_ask_gaussian_moment(&a->context, 0, data, moments, &err), err);
}

static size_t class_of(unsigned m)
{
    size_t c = 0;
    while (classes[c] != m) c++;
    return c;
}

/* One record (1/2, -1/2, 0 ...): the moments on its 2^4 corner are 1/16 each, up to a sign. */
static void fill_residuals(clo_line line, clo_rng *rng)
{
    const double record[D] = { 0.5, -0.5 };
    const clo_domain domain = ball(D, 1, CLO_REPLACE);
    clo_bounded *const data = bounded_from(record, 1, &domain);
    double moments[SIZE];
    asking a;
    memset(counts, 0, sizeof counts);
    start_asking(&a, line, rng);
    for (size_t t = 0; t < ASKS; t++) {
        size_t at = 0;
        ask(&a, data, moments);
        for (size_t i = 0; i < D; i++)
            for (size_t j = i; j < D; j++)
                for (size_t k = j; k < D; k++)
                    for (size_t l = k; l < D; l++, at++) {
                        const size_t c = class_of(clo_i_moment_multiplicity(i, j, k, l));
                        const double sign = (i + j + k + l) % 2 ? -1 : 1;
                        const double truth = l < 2 ? sign / 16 : 0;
                        residuals[c][counts[c]++] = llround(3 * ldexp(moments[at] - truth, 30));
                    }
    }
    stop_asking(&a);
    clo_bounded_free(data);
}

static void the_noise_has_the_planned_laws(void **state)
{
    const double alpha = stat_alpha(STAT_gaussian_moment_law, CLASSES);
    const clo_line line = planned(0.5);
    clo_rng *const rng = stat_rng();
    (void)state;
    fill_residuals(line, rng);
    for (size_t c = 0; c < CLASSES; c++) {
        const double scale = ceil((double)line.scale / sqrt((double)classes[c]));
        assert_true(stat_follows(residuals[c], counts[c], stat_rounded_gaussian, &scale, alpha));
    }
    clo_line small = line;
    small.scale = line.scale * 7 / 8;
    fill_residuals(small, rng);
    for (size_t c = 0; c < CLASSES; c++) {
        const double scale = ceil((double)line.scale / sqrt((double)classes[c]));
        assert_false(stat_follows(residuals[c], counts[c], stat_rounded_gaussian, &scale, alpha));
    }
    clo_rng_free(rng);
}

/* The matched filter, up to a factor: along the difference of the two tensors. */
static double along_the_axes(asking *a, const clo_bounded *data)
{
    double moments[SIZE];
    ask(a, data, moments);
    size_t second = 0; /* the place of 1111: behind all entries with a first index of 0 */
    for (size_t j = 0; j < D; j++)
        for (size_t k = j; k < D; k++) second += D - k;
    return moments[0] - moments[second];
}

/* (1, 1)/sqrt 2 against (1, -1)/sqrt 2: the entries 0001 and 0111 differ, four times each. */
static double across_the_axes(asking *a, const clo_bounded *data)
{
    double moments[SIZE];
    ask(a, data, moments);
    const size_t third = (size_t)D * (D + 1) / 2; /* 0111: behind all 00kl */
    return moments[1] + moments[third];
}

static void the_worst_neighbours_along_the_axes(void **state)
{
    const double left[D] = { 1 }, right[D] = { 0, 1 };
    const neighbours pair = { D, left, right, NULL, TRIALS, .9, 0 };
    (void)state;
    are_told_apart_as_planned(&pair, planned(2), along_the_axes, STAT_gaussian_moment_axes);
}

static void the_worst_neighbours_across_the_axes(void **state)
{
    const double h = sqrt(0.5), left[D] = { h, h }, right[D] = { h, -h };
    const neighbours pair = { D, left, right, NULL, TRIALS, .9, 0 };
    (void)state;
    are_told_apart_as_planned(&pair, planned(2), across_the_axes, STAT_gaussian_moment_across);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_noise_has_the_planned_laws),
        cmocka_unit_test(the_worst_neighbours_along_the_axes),
        cmocka_unit_test(the_worst_neighbours_across_the_axes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
