/*
 * test_pld.c - the privacy loss distribution by itself: the laws that every price obeys, mechanisms
 * whose loss can be summed up, its pieces (worst pairs, grid, transform), and its lower bound.
 */
#include "check.h"
#include "events.h"
#include "accounting/pld.h"
#include <complex.h>
#include <float.h>
#include <stdlib.h>

static const clo_event GAUSSIAN = { CLO_EVENT_GAUSSIAN, 0.2, 0, 1 };
static const clo_event EXPONENTIAL = { CLO_EVENT_EXPONENTIAL, 0.3, 0, 1 };
static const clo_event PURE = { CLO_EVENT_PURE, 0.15, 0, 1 };
static const clo_event APPROXIMATE = { CLO_EVENT_APPROXIMATE, 0.1, 1e-9, 1 };
#define EVERY_KIND                                                                                 \
    {                                                                                              \
        GAUSSIAN, EXPONENTIAL, PURE, APPROXIMATE                                                   \
    }
enum { KINDS = 4 };

static clo_comparison by(const char *name, const clo_event *events, size_t count, double delta)
{
    clo_comparison out = { NULL, NAN, NAN };
    clo_error err;
    assert_ok(clo_price_by(name, events, count, delta, &out, &err), err);
    return out;
}

static double pld(const clo_event *events, size_t count, double delta)
{
    return by("pld", events, count, delta).epsilon;
}

/* delta by the distribution alone, with no event that reveals. */
static double pld_delta(const clo_event *events, size_t count, double epsilon)
{
    clo_i_composition list;
    clo_error err;
    mpfr_t delta;
    assert_ok(clo_i_composition_init(&list, events, count, &err), err);
    mpfr_init2(delta, CLO_I_PRECISION);
    clo_i_pld_accounting.delta(delta, &list, epsilon);
    const double value = mpfr_get_d(delta, MPFR_RNDU);
    mpfr_clear(delta);
    clo_i_composition_clear(&list);
    return value;
}

static double positive(double x)
{
    return x > 0 ? x : 0;
}

/* ---- laws ----------------------------------------------------------------- */

static void n_asks_of_one_event_are_a_list_of_n(void **state)
{
    const clo_event kinds[] = EVERY_KIND;
    for (size_t k = 0; k < KINDS; k++) {
        for (size_t n = 1; n <= 12; n += n < 3 ? 1 : 9) {
            const clo_event once[2] = { times(kinds[k], n), GAUSSIAN };
            clo_event listed[16];
            for (size_t i = 0; i < n; i++) listed[i] = kinds[k];
            listed[n] = GAUSSIAN;
            for (size_t beside = 0; beside < 2; beside++)
                assert_relatively_close(pld(once, 1 + beside, 1e-6), pld(listed, n + beside, 1e-6),
                                        1e-13);
        }
    }
}

static void rises_with_counts_and_parameters_and_falls_with_delta(void **state)
{
    const clo_event kinds[] = EVERY_KIND;
    for (size_t k = 0; k < KINDS; k++) {
        double last = 0;
        for (uint64_t n = 1; n < 100000; n *= 3) {
            const clo_event list[] = { times(kinds[k], n), scaled(GAUSSIAN, 0.1) };
            const double epsilon = pld(list, 2, 1e-3);
            assert_true(epsilon > last);
            last = epsilon;
        }
        last = 0;
        for (double factor = 0.01; factor < 40; factor *= 1.07) {
            const clo_event list[] = { times(scaled(kinds[k], factor), 10), times(PURE, 3) };
            const double epsilon = pld(list, 2, 1e-5);
            assert_true(epsilon > last);
            last = epsilon;
        }
        last = INFINITY;
        for (double delta = 1e-7; delta < 0.5; delta *= 1.5) {
            const clo_event list[] = { times(kinds[k], 50), EXPONENTIAL };
            const double epsilon = pld(list, 2, delta);
            assert_true(epsilon < last || epsilon <= 0);
            last = epsilon;
        }
    }
}

static void does_not_depend_on_the_order_of_events(void **state)
{
    const clo_event forth[] = EVERY_KIND;
    const clo_event back[] = { APPROXIMATE, PURE, EXPONENTIAL, GAUSSIAN };
    assert_relatively_close(pld(forth, KINDS, 1e-6), pld(back, KINDS, 1e-6), 1e-13);
}

/* accounting.T3, accounting.T18: a Gaussian event comes in exactly, and rounding only adds. */
static void is_never_below_the_exact_gaussian_and_hardly_above(void **state)
{
    for (double mu = 1e-4; mu < 200; mu *= 3) {
        for (double delta = 1e-15; delta < 0.01; delta *= 30) {
            const clo_event event = { CLO_EVENT_GAUSSIAN, mu, 0, 3 };
            const double exact = by("gaussian-exact", &event, 1, delta).epsilon;
            const clo_comparison found = by("pld", &event, 1, delta);
            assert_true(found.epsilon >= exact && found.lower <= exact);
            if (exact > 1e-3 * mu) assert_true(found.epsilon <= exact * (1 + 1e-6));
        }
    }
}

static void is_never_above_basic_composition(void **state)
{
    const clo_event others[] = { EXPONENTIAL, PURE, APPROXIMATE };
    uint64_t seed = 3;
    for (int trial = 0; trial < 200; trial++) {
        clo_event list[3];
        for (size_t i = 0; i < 3; i++)
            list[i] = times(scaled(others[i], 4 * draw(&seed)), 1 + (uint64_t)(9 * draw(&seed)));
        assert_true(pld(list, 3, 1e-7) <= by("basic", list, 3, 1e-7).epsilon);
    }
}

/* accounting.T21: each of these is a bound, so it lies above the distribution's lower one. */
static void lies_below_what_books_teach(void **state)
{
    const clo_event list[] = { times(GAUSSIAN, 30), times(scaled(PURE, 0.2), 2000) };
    const clo_comparison found = by("pld", list, 2, 1e-6);
    assert_true(found.lower <= found.epsilon && found.lower > 0.99 * found.epsilon);
    assert_true(found.epsilon < by("renyi", list, 2, 1e-6).epsilon);
    assert_true(by("renyi", list, 2, 1e-6).epsilon < by("advanced", list, 2, 1e-6).epsilon);
    assert_true(by("advanced", list, 2, 1e-6).epsilon < by("basic", list, 2, 1e-6).epsilon);
}

/* ---- truths --------------------------------------------------------------- */

/* accounting.T15, accounting.T16, accounting.T18: n randomised responses, summed over how many
 * lied.  On the grid: hardly above; beside a second kind, off the grid: never below. */
static double responses_delta(double e, int n, double other, double epsilon)
{
    double sum = 0, ways = 1;
    const double p = 1 / (1 + exp(-e)), q = 1 / (1 + exp(e)), top = 1 / (1 + exp(-other));
    for (int i = 0; i <= n; i++) {
        const double loss = (n - 2 * i) * e, mass = ways * pow(p, n - i) * pow(q, i);
        sum += mass * top * positive(-expm1(epsilon - loss - other));
        sum += mass * (1 - top) * positive(-expm1(epsilon - loss + other));
        ways *= (double)(n - i) / (i + 1);
    }
    return sum;
}

static void sums_up_randomised_responses(void **state)
{
    uint64_t seed = 5;
    for (int trial = 0; trial < 200; trial++) {
        const int n = 1 + trial % 40;
        const double e = 0.01 + 2 * draw(&seed), other = trial % 2 ? e * (0.2 + draw(&seed)) : 0;
        const clo_event list[] = { { CLO_EVENT_PURE, e, 0, (uint64_t)n },
                                   { CLO_EVENT_PURE, other, 0, 1 } };
        const double epsilon = n * e * draw(&seed);
        const double truth = responses_delta(e, n, other, epsilon);
        const double found = pld_delta(list, 2, epsilon);
        assert_true(found >= truth * (1 - 1e-12));
        if (trial % 2 == 0 && truth > 1e-200) assert_true(found <= truth * (1 + 1e-5));
    }
}

/* accounting.T15: at every level the worst pair of bounded range is as bad as the worst mechanism
 * of that range, and no better. */
static void the_pair_of_bounded_range_is_the_envelope(void **state)
{
    const double e = 0.8;
    for (double epsilon = 0.01; epsilon < e; epsilon += 0.03) {
        double worst = 0;
        for (double t = e / 4000; t < e; t += e / 4000)
            worst = fmax(worst, -expm1(t - e) * positive(-expm1(epsilon - t)) / -expm1(-e));
        const clo_event event = { CLO_EVENT_EXPONENTIAL, e, 0, 1 };
        const double found = pld_delta(&event, 1, epsilon);
        assert_true(found >= worst);
        assert_true(found <= worst * (1 + 1e-3) + 1e-6);
    }
}

/* accounting.T1, accounting.T15: choices of bounded range whose offsets depend on what came
 * before, and a Gaussian at the end. */
static double adaptive_delta(double range, int steps, double p, double q, double level, double mu,
                             uint64_t *seed)
{
    if (steps == 0) {
        if (!(p > 0)) return 0;
        const double gap = log(level * q / p), a = gap / mu - mu / 2, b = gap / mu + mu / 2;
        return p * (erfc(a / sqrt(2)) - exp(gap) * erfc(b / sqrt(2))) / 2;
    }
    const double t = range * draw(seed);
    const double high_q = (1 - exp(t - range)) / (exp(t) - exp(t - range)),
                 high_p = high_q * exp(t);
    return adaptive_delta(range, steps - 1, p * high_p, q * high_q, level, mu, seed) +
           adaptive_delta(range, steps - 1, p * (1 - high_p), q * (1 - high_q), level, mu, seed);
}

static void never_undercuts_adaptive_choices_beside_a_gaussian(void **state)
{
    uint64_t seed = 7;
    for (int trial = 0; trial < 200; trial++) {
        const int steps = 1 + trial % 6;
        const double range = 0.05 + 2 * draw(&seed), mu = 0.1 + draw(&seed);
        const clo_event list[] = { { CLO_EVENT_EXPONENTIAL, range, 0, (uint64_t)steps },
                                   { CLO_EVENT_GAUSSIAN, mu, 0, 1 } };
        const double epsilon = range * steps * draw(&seed);
        const double truth = adaptive_delta(range, steps, 1, 1, exp(epsilon), mu, &seed);
        assert_true(pld_delta(list, 2, epsilon) >= truth * (1 - 1e-9));
    }
}

/* ---- pieces --------------------------------------------------------------- */

/* accounting.T16: both laws keep their mass, and doubles are within the slack of MPFR. */
static void the_grid_keeps_the_mass_of_both_laws(void **state)
{
    uint64_t seed = 11;
    for (int trial = 0; trial < 200; trial++) {
        const clo_i_pair pair = { trial % 2, 0.001 + 3 * draw(&seed), 1 };
        const double step = pair.epsilon * (0.002 + (trial % 5 ? 0.1 : 2) * draw(&seed));
        const double tilts[] = { 0, -1, 7 }; /* -1: the second law */
        for (size_t i = 0; i < 3; i++) {
            clo_i_grid_pair grid;
            clo_error err;
            assert_ok(clo_i_grid_pair_init(&grid, &pair, step, tilts[i], &err), err);
            double sum = 0, ends = grid.mass[0] + grid.mass[2 * grid.reach];
            for (size_t j = 0; j <= 2 * grid.reach; j++) sum += grid.mass[j];
            assert_true(sum <= 1 && sum > 1 - 1e-9 && ends >= 0);
            const double moment = exp(grid.exponent) * grid.total;
            if (i < 2) assert_relatively_close(moment, 1, 1e-9);
            if (i == 2) /* a tilted moment can only rise on the grid */
                assert_true(log(moment) >= clo_i_pair_log_moment(&pair, 7) * (1 - 1e-9));
            assert_true(grid.slack < 1e-11);
            clo_i_grid_pair_clear(&grid);
        }
    }
}

/* The claim of accounting.T16 about the library's functions, against MPFR. */
static void hyperbolic_functions_are_good_to_a_few_roundings(void **state)
{
    uint64_t seed = 13;
    mpfr_t x, y;
    mpfr_inits2(120, x, y, (mpfr_ptr)0);
    for (int trial = 0; trial < 20000; trial++) {
        const double at = exp(40 * draw(&seed) - 35);
        const double found[] = {
            sinh(at), tanh(at), cosh(at), exp(-at), -expm1(-at), erfc(at / 8)
        };
        int (*const exact[])(mpfr_t, const mpfr_t,
                             mpfr_rnd_t) = { mpfr_sinh, mpfr_tanh,  mpfr_cosh,
                                             mpfr_exp,  mpfr_expm1, mpfr_erfc };
        for (size_t i = 0; i < 6; i++) {
            mpfr_set_d(x, i == 3 || i == 4 ? -at : i == 5 ? at / 8 : at, MPFR_RNDN);
            exact[i](y, x, MPFR_RNDN);
            if (i == 4) mpfr_neg(y, y, MPFR_RNDN);
            assert_relatively_close(found[i], mpfr_get_d(y, MPFR_RNDN), 8 * CLO_I_ROUNDING);
        }
    }
    mpfr_clears(x, y, (mpfr_ptr)0);
    mpfr_free_cache();
}

/* accounting.T17: against sums in long double. */
static void the_transform_is_within_its_error(void **state)
{
    enum { SIZE = 512 };
    static clo_i_complex x[SIZE], y[SIZE], roots[SIZE / 2];
    uint64_t seed = 17;
    for (size_t j = 0; j < SIZE; j++)
        x[j] = y[j] = (clo_i_complex){ draw(&seed) - 0.3, draw(&seed) };
    clo_i_fft_roots(roots, SIZE);
    clo_i_fft(y, roots, SIZE);
    long double error = 0, norm = 0;
    for (size_t k = 0; k < SIZE; k++) {
        long double complex sum = 0;
        for (size_t j = 0; j < SIZE; j++)
            sum += ((long double)x[j].re + (long double)x[j].im * I) *
                   cexpl(-2 * acosl(-1) * I * (long double)(j * k % SIZE) / SIZE);
        error += powl(cabsl(sum - (y[k].re + y[k].im * (long double complex)I)), 2);
        norm += powl(cabsl(sum), 2);
    }
    assert_true(sqrtl(error / norm) > 0);
    assert_true(sqrtl(error / norm) <= clo_i_fft_error(SIZE));
}

/* ---- masses that come together in a cell (accounting.T17) ------------------------------------ */

enum { MOST_WINDOW = 4096 };

/* The masses of a pair modulo the window, in long double; their norm. */
static long double lay_out_exactly(const clo_i_grid_pair *pair, size_t size, long double *out)
{
    long double square = 0;
    for (size_t k = 0; k < size; k++) out[k] = 0;
    for (size_t j = 0; j <= 2 * pair->reach; j++)
        out[(j + (size - 1) * (pair->reach % size)) % size] += pair->mass[j];
    for (size_t k = 0; k < size; k++) square += out[k] * out[k];
    return sqrtl(square);
}

static void convolve(const long double *a, const long double *b, size_t size, long double *out)
{
    for (size_t k = 0; k < size; k++) {
        out[k] = 0;
        for (size_t j = 0; j < size; j++) out[k] += a[j] * b[(k + size - j) % size];
    }
}

static size_t in_window(int64_t cell, size_t size)
{
    const int64_t rest = cell % (int64_t)size;
    return (size_t)(rest < 0 ? rest + (int64_t)size : rest);
}

/* A loss that reaches far beyond the window, since its tilted mass lies at one end: two of it. */
static void masses_that_come_together_in_a_cell_are_charged(void **state)
{
    static long double one[MOST_WINDOW], two[MOST_WINDOW];
    const clo_event kinds[] = { { CLO_EVENT_EXPONENTIAL, 100, 0, 2 },
                                { CLO_EVENT_PURE, 40, 0, 2 } };
    const double tilt = 20;
    for (size_t i = 0; i < 2; i++) {
        clo_i_composition composition;
        clo_i_pairs pairs;
        clo_i_grid_pair pair;
        clo_i_pld made;
        clo_error err;
        assert_ok(clo_i_composition_init(&composition, &kinds[i], 1, &err), err);
        assert_true(clo_i_pairs_of(&pairs, &composition));
        assert_ok(clo_i_pld_init(&made, &pairs, tilt, &err), err);
        assert_ok(clo_i_grid_pair_init(&pair, &pairs.pair[0], made.step, tilt, &err), err);
        const double together = ceil((double)(2 * pair.reach + 1) / (double)made.size);
        assert_true(made.size <= MOST_WINDOW && together >= 8);

        const long double norm = lay_out_exactly(&pair, made.size, one);
        long double error = 0;
        convolve(one, one, made.size, two);
        for (size_t j = 0; j < made.size; j++)
            error += fabsl(made.mass[j] - two[in_window(made.first + (int64_t)j, made.size)]);
        assert_true(error <= made.error);

        /* The terms of the theorem, from what is in the window. */
        const double each =
            1.5 * (clo_i_fft_error(made.size) + (together - 1) * CLO_I_ROUNDING) * 2;
        const double last = 1.5 * clo_i_fft_error(made.size) + 9 * CLO_I_ROUNDING;
        assert_true(made.error >=
                    1.25 * sqrt((double)made.size) * (double)norm * (each + last) * (1 - 1e-9));
        clo_i_grid_pair_clear(&pair);
        clo_i_pld_clear(&made);
        clo_i_composition_clear(&composition);
    }
}

/* ---- the edges ------------------------------------------------------------ */

static void refuses_what_is_no_event_or_no_name(void **state)
{
    const clo_event bad = { (clo_event_kind)9, 1, 0, 1 };
    clo_comparison out = { NULL, -7, -7 };
    clo_error err;
    assert_fails(clo_price_by("pld", &bad, 1, 0.1, &out, &err), CLO_ARGUMENT, err, "unknown kind");
    assert_fails(clo_price_by("guess", &PURE, 1, 0.1, &out, &err), CLO_ARGUMENT, err, "advanced");
    assert_fails(clo_price_by(NULL, &PURE, 1, 0.1, &out, &err), CLO_ARGUMENT, err, "advanced");
    assert_fails(clo_price_by("pld", &PURE, 1, 1, &out, &err), CLO_ARGUMENT, err, "delta");
    assert_fails(clo_price_by("pld", &GAUSSIAN, 1, 0, &out, &err), CLO_ARGUMENT, err, "above 0");
    assert_true(out.epsilon == -7 && out.lower == -7);
    size_t names = 0;
    while (clo_accounting_name(names)) names++;
    assert_int_equal(names, 6);
}

/* What no grid can hold is left to the other methods, and says so. */
static void leaves_what_is_too_large_or_too_small_to_the_others(void **state)
{
    const clo_event many = times(PURE, UINT64_C(1) << 40), large = scaled(PURE, 1e4);
    const clo_event small = scaled(EXPONENTIAL, 1e-30);
    const clo_event lists[] = { many, large, small };
    for (size_t i = 0; i < 3; i++) {
        const double sum = by("basic", &lists[i], 1, 1e-6).epsilon;
        assert_true(isinf(pld(&lists[i], 1, 1e-6)) || pld(&lists[i], 1, 1e-6) <= sum);
    }
    assert_true(isinf(pld(&many, 1, 1e-6)));
    assert_true(isinf(pld(&PURE, 1, 0)));
    assert_true(pld(NULL, 0, 1e-6) == 0);
}

/* accounting.T19: losses that do not all fit into the window; what the window leaves out
 * is charged, so that even then nothing is undercut. */
static void a_window_charges_what_it_leaves_out(void **state)
{
    const clo_event list[] = { { CLO_EVENT_PURE, 0.05, 0, 3000 } };
    clo_i_composition composition;
    clo_i_pairs pairs;
    clo_i_pld made;
    clo_error err;
    assert_ok(clo_i_composition_init(&composition, list, 1, &err), err);
    assert_true(clo_i_pairs_of(&pairs, &composition));
    assert_ok(clo_i_pld_init(&made, &pairs, 2, &err), err);
    assert_true((double)made.size * made.step < 2 * 3000 * 0.05 && made.error > 0);
    double inside = 0;
    for (size_t j = 0; j < made.size; j++) inside += made.mass[j];
    assert_true(fabs(inside - 1) < made.error + 1e-9 && made.error < 1e-6);
    clo_i_pld_clear(&made);
    clo_i_composition_clear(&composition);
}

/* Deltas far below what transforms without a tilt can tell from 0. */
static void holds_for_deltas_of_any_size(void **state)
{
    for (double delta = 1e-10; delta > 1e-290; delta *= 1e-28) {
        const clo_event list[] = { times(PURE, 60), times(GAUSSIAN, 4) };
        const clo_comparison found = by("pld", list, 2, delta);
        assert_true(found.epsilon <= by("renyi", list, 2, delta).epsilon);
        assert_true(found.lower <= found.epsilon && found.lower > 0.99 * found.epsilon);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(n_asks_of_one_event_are_a_list_of_n),
        cmocka_unit_test(rises_with_counts_and_parameters_and_falls_with_delta),
        cmocka_unit_test(does_not_depend_on_the_order_of_events),
        cmocka_unit_test(is_never_below_the_exact_gaussian_and_hardly_above),
        cmocka_unit_test(is_never_above_basic_composition),
        cmocka_unit_test(lies_below_what_books_teach),
        cmocka_unit_test(sums_up_randomised_responses),
        cmocka_unit_test(the_pair_of_bounded_range_is_the_envelope),
        cmocka_unit_test(never_undercuts_adaptive_choices_beside_a_gaussian),
        cmocka_unit_test(the_grid_keeps_the_mass_of_both_laws),
        cmocka_unit_test(hyperbolic_functions_are_good_to_a_few_roundings),
        cmocka_unit_test(the_transform_is_within_its_error),
        cmocka_unit_test(masses_that_come_together_in_a_cell_are_charged),
        cmocka_unit_test(refuses_what_is_no_event_or_no_name),
        cmocka_unit_test(leaves_what_is_too_large_or_too_small_to_the_others),
        cmocka_unit_test(a_window_charges_what_it_leaves_out),
        cmocka_unit_test(holds_for_deltas_of_any_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
