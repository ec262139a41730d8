/*
 * gaussian_moment3: every class of entries has noise of its planned law (gaussian_moment3.T2), and
 * the worst neighbours, opposite records, across the axes, or through a lens with a constant, are
 * told apart no better than mu allows (gaussian_moment3.T1).  Power as in test_gaussian_sum.c.
 */
#include "asking.h"
#include "query/gaussian_moment3.h"
#include "ask/lens.h"

enum { D = 4, ASKS = 1 << 14, TRIALS = 20000, SIZE = D * (D + 1) * (D + 2) / 6 };
static const double HEIGHT = 0.5;

static const unsigned classes[] = { 1, 3, 6 };
enum { CLASSES = sizeof classes / sizeof *classes };
static int64_t residuals[CLASSES][(size_t)ASKS * SIZE];
static size_t counts[CLASSES];

static clo_line planned(size_t cols, double height, clo_relation relation, double mu)
{
    clo_error err;
    clo_line line;
    const clo_domain domain = ball(cols, 1, relation);
    assert_ok(clo_i_plan_gaussian_moment3(&domain, height, mu, 1, "", &line, &err), err);
    return line;
}

static void ask(asking *a, const clo_bounded *data, double *moments)
{
    clo_error err;
    assert_ok(clo_i_ask_gaussian_moment3(&a->context, 0, data, moments, &err), err);
}

static size_t class_of(unsigned m)
{
    size_t c = 0;
    while (classes[c] != m) c++;
    return c;
}

/* One record (1/2, -1/2, 0 ...): the moments on its 2^3 corner are 1/8 each, up to a sign. */
static void fill_residuals(clo_line line, clo_rng *rng)
{
    const double record[D] = { 0.5, -0.5 };
    const clo_domain domain = ball(D, 1, CLO_REPLACE);
    clo_bounded *const data = bounded_from(record, 1, &domain);
    double moments[SIZE];
    asking a;
    start_asking(&a, line, rng);
    memset(counts, 0, sizeof counts);
    for (int i = 0; i < ASKS; i++) {
        size_t at = 0;
        ask(&a, data, moments);
        for (size_t p = 0; p < D; p++)
            for (size_t q = p; q < D; q++)
                for (size_t r = q; r < D; r++, at++) {
                    const size_t c = class_of(clo_i_moment3_multiplicity(p, q, r));
                    const double truth = r < 2 ? ((p + q + r) % 2 ? -1.0 : 1.0) / 8 : 0;
                    residuals[c][counts[c]++] = llround(3 * ldexp(moments[at] - truth, 30));
                }
    }
    stop_asking(&a);
    clo_bounded_free(data);
}

static void the_noise_has_the_planned_laws(void **state)
{
    const double alpha = stat_alpha(STAT_gaussian_moment3_law, CLASSES);
    const clo_line line = planned(D, 0, CLO_REPLACE, 0.5);
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

/* The matched filters, up to a factor: along the difference of the two tensors. */
static double first_entry(asking *a, const clo_bounded *data)
{
    double moments[SIZE];
    ask(a, data, moments);
    return moments[0];
}

/* (1, 1)/sqrt 2 against (1, -1)/sqrt 2: the entries 001, three times, and 111 differ. */
static double across_the_axes(asking *a, const clo_bounded *data)
{
    double moments[SIZE];
    ask(a, data, moments);
    return 3 * moments[1] + moments[D * (D + 1) / 2]; /* 111: behind all with a first index of 0 */
}

/* One column x and the constant c: the entries xxx and xcc differ. */
static double beside_the_constant(asking *a, const clo_bounded *data)
{
    double moments[SIZE];
    ask(a, data, moments);
    const double x = 1 / sqrt(1 + HEIGHT * HEIGHT), c = HEIGHT * x;
    return moments[0] * x * x * x + 3 * moments[2] * x * c * c;
}

static void opposite_records_are_the_worst_neighbours(void **state)
{
    const double left[D] = { 1 }, right[D] = { -1 };
    (void)state;
    const neighbours pair = { D, left, right, NULL, TRIALS, .85, 0 };
    are_told_apart_as_planned(&pair, planned(D, 0, CLO_REPLACE, 2), first_entry,
                              STAT_gaussian_moment3_opposite);
}

/* These are at half of the sensitivity's square: the tensors' difference has the square 2. */
static void entries_off_the_diagonal_count_as_often_as_they_stand(void **state)
{
    const double h = sqrt(0.5), left[D] = { h, h }, right[D] = { h, -h };
    clo_line line = planned(D, 0, CLO_REPLACE, 2);
    (void)state;
    line.event.parameter /= sqrt(2);
    const neighbours pair = { D, left, right, NULL, TRIALS, .85, 0 };
    are_told_apart_as_planned(&pair, line, across_the_axes, STAT_gaussian_moment3_across);
}

static void a_constant_keeps_records_from_being_opposite(void **state)
{
    const double left[1] = { 1 }, right[1] = { -1 };
    clo_error err;
    clo_lens lens;
    clo_line line = planned(2, HEIGHT, CLO_REPLACE, 2);
    const clo_line without = planned(2, 0, CLO_REPLACE, 2);
    (void)state;
    line.lens = true;
    assert_true((double)line.scale < 0.87 * (double)without.scale);
    assert_ok(clo_i_lens_make(NULL, NULL, 1, 1, HEIGHT, &lens, &err), err);
    const neighbours pair = { 1, left, right, &lens, TRIALS, .85, 0 };
    are_told_apart_as_planned(&pair, line, beside_the_constant, STAT_gaussian_moment3_lens);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_noise_has_the_planned_laws),
        cmocka_unit_test(opposite_records_are_the_worst_neighbours),
        cmocka_unit_test(entries_off_the_diagonal_count_as_often_as_they_stand),
        cmocka_unit_test(a_constant_keeps_records_from_being_opposite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
