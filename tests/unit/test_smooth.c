/*
 * Noise whose scale follows the data: the divergence of its pair against an independent
 * implementation of the non-central chi-square law (aggregate.T2), and calibrations that hold for
 * every shift and every dilation they allow (aggregate.T3).
 */
#include "check.h"
#include "accounting/smooth.h"
#include "random/random.h"
#include <math.h>

/* From SciPy's ncx2. */
static void the_divergence_is_that_of_other_software(void **state)
{
    static const struct {
        double epsilon;
        size_t dimension;
        double alpha, lambda, delta;
    } known[] = {
        { 1, 30, 0.2, -0.03, 0.000643222916878 },
        { 10, 90, 2, 0.05, 3.84784639559e-07 },
        { 1, 2, 0.5, -0.1, 0.0281777240723 },
        { 0.1, 90, 0.03, 0.0015, 7.96073995524e-06 },
        { 3, 10, 0.8, 0.2, 0 },
        { 3, 10, 0.8, -0.2, 0.0404844209787 },
        { 1, 3, 0.6, -0.2, 0.0919504257025 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const double delta = clo_i_smooth_delta(known[i].epsilon, known[i].dimension,
                                                known[i].alpha, known[i].lambda);
        assert_close(delta, known[i].delta, 1e-8 * known[i].delta + 1e-14);
    }
}

/* From sums of incomplete gamma functions over Poisson's law, with 50 digits (mpmath).
 * aggregate.T3 says twelve. */
static void the_divergence_has_twelve_digits(void **state)
{
    static const struct {
        double epsilon;
        size_t dimension;
        double alpha, lambda, delta;
    } known[] = {
        { 0.035444, 2, 0.00611849, 0.0281314, 0.00356247161909666018 },
        { 0.142659, 2, 0.079988, -0.124925, 0.0593177889331571607 },
        { 0.22055, 30, 0.0234799, -0.00135853, 2.76696456525086272e-13 },
        { 0.158487, 11, 0.0892943, 0.00147713, 0.00125488613152504843 },
        { 0.852937, 4, 0.398849, -0.0890792, 0.025106626701724343 },
        { 0.166153, 30, 0.0213881, -0.00158875, 8.26961141666089226e-10 },
        { 4.52114, 30, 0.217228, -0.0411635, 2.59586325379584437e-13 },
        { 4.50228, 11, 2.02614, -0.11276, 0.0988353443386137858 },
        { 9.00268, 11, 1.06755, -0.121173, 2.20938598589369384e-6 },
        { 0.0390854, 2, 0.00278162, -0.0281487, 0.0105657362570303998 },
        { 0.819144, 4, 0.52964, 0.3, 0.0573690548141795195 },
        { 0.109168, 30, 0.0400673, 0.00117157, 0.0000219563909001444068 },
        { 0.095092, 90, 0.0103339, -0.00149325, 1.19098348554682886e-6 },
        { 1.00575, 90, 0.162021, -0.00462396, 8.3506523852478665e-9 },
        { 0.087937, 30, 0.0436052, 0.000579804, 0.000318964768042466428 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const double delta = clo_i_smooth_delta(known[i].epsilon, known[i].dimension,
                                                known[i].alpha, known[i].lambda);
        assert_close(delta, known[i].delta, 3e-12 * known[i].delta);
    }
}

/* aggregate.T2: without a change of scale it is the Gaussian mechanism, and it grows with the
 * shift. */
static void small_dilations_lead_to_the_gaussian_mechanism(void **state)
{
    (void)state;
    const double gaussian = clo_i_smooth_delta(1, 10, .7, 0);
    assert_close(gaussian,
                 .5 * (erfc((1 / .7 - .35) / sqrt(2)) - exp(1) * erfc((1 / .7 + .35) / sqrt(2))),
                 1e-12);
    for (double epsilon = -1; epsilon <= 1; epsilon += 1) /* no shift at all */
        assert_close(clo_i_smooth_delta(epsilon, 10, 0, 0), fmax(0, -expm1(epsilon)), 1e-15);
    assert_close(clo_i_smooth_delta(1, 10, .7, 1e-5), gaussian, 1e-4);
    assert_close(clo_i_smooth_delta(1, 10, .7, -1e-5), gaussian, 1e-4);
    for (double lambda = -.21; lambda < .3; lambda += .06) {
        double before = 0;
        for (double alpha = .05; alpha < 2; alpha *= 1.2) {
            const double delta = clo_i_smooth_delta(1, 10, alpha, lambda);
            assert_true(delta >= before - 1e-13);
            before = delta;
        }
    }
}

/* aggregate.T3, at shifts and dilations between the points that the calibration looks at. */
static void calibrations_hold_wherever_one_looks(void **state)
{
    static const double epsilons[] = { .1, 1, 10, 100 };
    static const size_t dimensions[] = { 1, 2, 30, 90 };
    const double delta = 1e-5;
    clo_error err;
    clo_rng *rng = NULL;
    clo_stream *stream = NULL;
    (void)state;
    assert_ok(clo_rng_new_seeded((const uint8_t[32]){ 7 }, &rng, &err), err);
    assert_ok(clo_i_stream_open(rng, 1, 1, &stream, &err), err);
    for (size_t i = 0; i < 16; i++) {
        const double epsilon = epsilons[i / 4];
        const size_t n = dimensions[i % 4];
        clo_smooth found;
        assert_ok(clo_i_smooth_calibrate(epsilon, delta, n, &found, &err), err);
        double worst = 0;
        for (int t = 0; t < 60; t++) {
            const double lambda = found.beta * (2 * clo_i_random_unit(stream) - 1);
            const double alpha = found.alpha * (t % 2 ? 1 : clo_i_random_unit(stream));
            worst = fmax(worst, clo_i_smooth_delta(epsilon, n, alpha, lambda));
        }
        worst = fmax(worst, clo_i_smooth_delta(epsilon, n, found.alpha, -found.beta));
        assert_true(worst <= delta);
        /* ... and are not far from the edge. */
        worst = fmax(worst, clo_i_smooth_delta(epsilon, n, 1.1 * found.alpha, -found.beta));
        worst = fmax(worst, clo_i_smooth_delta(epsilon, n, 1.1 * found.alpha, found.beta));
        worst = fmax(worst, clo_i_smooth_delta(epsilon, n, 1.1 * found.alpha, 0));
        assert_true(worst > delta);
    }
    clo_i_stream_close(stream);
    clo_rng_free(rng);
}

/* aggregate.T3 word by word: on its grid, with what it charges for all that lies between two points
 * on either side.  The grid is so fine that this is a share of epsilon, and no finer than it must
 * be: on a finer one the same alpha would pass with less of a margin. */
static void calibrations_pay_for_what_lies_between_the_points(void **state)
{
    static const double epsilons[] = { .05, .3, 1, 3, 10, 50 };
    static const size_t dimensions[] = { 1, 2, 6, 30, 90, 300 };
    const double deltas[] = { 1e-5, 1e-9 };
    clo_error err;
    (void)state;
    for (size_t i = 0; i < 72; i++) {
        const double epsilon = epsilons[i % 6], delta = deltas[i / 36];
        const size_t n = dimensions[i / 6 % 6];
        clo_smooth found;
        if (clo_i_smooth_calibrate(epsilon, delta, n, &found, &err)) continue;
        const double wanted = (double)n * found.beta / (.004 * epsilon);
        const int points = (int)fmin(256, fmax(8, ceil(wanted)));
        const double slack = (double)n * found.beta / points;
        for (int p = 0; p <= points; p++) {
            const double lambda = found.beta * p / points;
            assert_true(clo_i_smooth_delta(epsilon - slack, n, found.alpha, lambda) <= delta);
            assert_true(exp(slack) * clo_i_smooth_delta(epsilon - slack, n, found.alpha, -lambda) <=
                        (p ? delta : exp(slack) * delta));
        }
    }
}

/* The constants in print, beta = epsilon / (4 (D + ln(2/delta))), alpha = epsilon / (5 sqrt(2
 * ln(2/delta))): wasteful at epsilon 1, and half of
 * epsilon 100 does not pay for the change of scale. */
static void the_printed_constants_waste_and_then_fail(void **state)
{
    const double delta = 1e-9;
    clo_error err;
    clo_smooth found;
    (void)state;
    assert_ok(clo_i_smooth_calibrate(1, delta, 90, &found, &err), err);
    assert_true(found.alpha > 2 / (5 * sqrt(2 * log(2 / delta))));
    assert_true(clo_i_smooth_delta(50, 5, 0, -100 / (4 * (5 + log(2 / delta)))) > 1000 * delta);
}

/* Beyond what doubles hold, a divergence is taken for the largest. */
static void what_cannot_be_computed_is_not_private(void **state)
{
    (void)state;
    assert_true(clo_i_smooth_delta(750, 90, 100, 2.5) >= .99);
    assert_true(clo_i_smooth_delta(750, 90, 100, -2.5) >= .99);
}

static void no_delta_is_refused(void **state)
{
    clo_error err;
    clo_smooth found;
    (void)state;
    assert_int_equal(clo_i_smooth_calibrate(1, 0, 10, &found, &err), CLO_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_divergence_is_that_of_other_software),
        cmocka_unit_test(the_divergence_has_twelve_digits),
        cmocka_unit_test(small_dilations_lead_to_the_gaussian_mechanism),
        cmocka_unit_test(calibrations_hold_wherever_one_looks),
        cmocka_unit_test(calibrations_pay_for_what_lies_between_the_points),
        cmocka_unit_test(the_printed_constants_waste_and_then_fail),
        cmocka_unit_test(what_cannot_be_computed_is_not_private),
        cmocka_unit_test(no_delta_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
