/*
 * test_accountant.c - what every price must obey, whatever the numbers: laws that relate prices
 * to each other, and small mechanisms whose true loss can be summed up, which no price may
 * undercut.  The numbers themselves are in tests/golden.
 */
#include "check.h"
#include "events.h"
#include "accounting/memo.h"
#include "accounting/accountant.h"
#include <float.h>

static const clo_event GAUSSIAN = { CLO_EVENT_GAUSSIAN, 0.2, 0, 1 };
static const clo_event EXPONENTIAL = { CLO_EVENT_EXPONENTIAL, 0.3, 0, 1 };
static const clo_event PURE = { CLO_EVENT_PURE, 0.15, 0, 1 };
static const clo_event APPROXIMATE = { CLO_EVENT_APPROXIMATE, 0.1, 1e-9, 1 };
#define EVERY_KIND                                                                                 \
    {                                                                                              \
        GAUSSIAN, EXPONENTIAL, PURE, APPROXIMATE                                                   \
    }
enum { KINDS = 4 };

static clo_price price_at(const clo_event *events, size_t count, double delta)
{
    clo_price price = { { NAN, NAN }, NULL };
    clo_error err;
    assert_ok(clo_price_epsilon(events, count, delta, &price, &err), err);
    return price;
}

static double epsilon_at(const clo_event *events, size_t count, double delta)
{
    return price_at(events, count, delta).loss.epsilon;
}

static double delta_at(const clo_event *events, size_t count, double epsilon)
{
    clo_price price = { { NAN, NAN }, NULL };
    clo_error err;
    assert_ok(clo_price_delta(events, count, epsilon, &price, &err), err);
    return price.loss.delta;
}

static double factor_for(const clo_event *events, size_t count, clo_loss budget)
{
    double factor = NAN;
    clo_error err;
    assert_ok(clo_calibrate(events, count, budget, &factor, &err), err);
    return factor;
}

/* ---- laws ----------------------------------------------------------------- */

static void prices_n_asks_of_one_event_like_a_list_of_n(void **state)
{
    const clo_event kinds[] = EVERY_KIND;
    for (size_t k = 0; k < KINDS; k++) {
        for (size_t n = 1; n <= 12; n += n < 3 ? 1 : 9) {
            const clo_event once[2] = { times(kinds[k], n), GAUSSIAN };
            clo_event listed[16];
            for (size_t i = 0; i < n; i++) listed[i] = kinds[k];
            listed[n] = GAUSSIAN;
            for (size_t beside = 0; beside < 2; beside++) { /* alone, and beside a Gaussian */
                assert_relatively_close(epsilon_at(once, 1 + beside, 1e-6),
                                        epsilon_at(listed, n + beside, 1e-6), 1e-12);
                assert_relatively_close(delta_at(once, 1 + beside, 0.4),
                                        delta_at(listed, n + beside, 0.4), 1e-9);
            }
        }
    }
}

static void rises_with_the_count(void **state)
{
    const clo_event kinds[] = EVERY_KIND;
    for (size_t k = 0; k < KINDS; k++) {
        double last = 0;
        for (uint64_t n = 1; n < 900; n *= 3) {
            const clo_event event = times(kinds[k], n);
            const double epsilon = epsilon_at(&event, 1, 1e-5);
            assert_true(epsilon > last);
            last = epsilon;
        }
    }
}

/* accounting.T3: the profile rises with mu; the curves of the others with epsilon. */
static void rises_with_the_parameter(void **state)
{
    const clo_event kinds[] = EVERY_KIND;
    for (size_t k = 0; k < KINDS; k++) {
        double last = 0;
        for (double factor = 0.01; factor < 300; factor *= 2.7) {
            const clo_event event = times(scaled(kinds[k], factor), 10);
            const double epsilon = epsilon_at(&event, 1, 1e-5);
            assert_true(epsilon > last);
            last = epsilon;
        }
    }
}

/* accounting.T3: the profile falls with epsilon; more delta never costs more. */
static void falls_with_delta(void **state)
{
    const clo_event kinds[] = EVERY_KIND;
    for (size_t k = 0; k < KINDS; k++) {
        const clo_event event = times(kinds[k], 50);
        double last = INFINITY;
        for (double delta = 1e-7; delta < 0.5; delta *= 7) {
            const double epsilon = epsilon_at(&event, 1, delta);
            assert_true(epsilon <= last);
            last = epsilon;
        }
    }
}

static void does_not_depend_on_the_order_of_events(void **state)
{
    const clo_event forth[] = EVERY_KIND;
    const clo_event back[] = { APPROXIMATE, PURE, EXPONENTIAL, GAUSSIAN };
    const clo_price one = price_at(forth, KINDS, 1e-6), other = price_at(back, KINDS, 1e-6);
    assert_relatively_close(one.loss.epsilon, other.loss.epsilon, 1e-14);
    assert_string_equal(one.accounting, other.accounting);
}

/* accounting.T9: two parts never cost more together than one by one. */
static void two_parts_cost_no_more_together_than_apart(void **state)
{
    const clo_event kinds[] = EVERY_KIND;
    for (size_t a = 0; a < KINDS; a++) {
        for (size_t b = 0; b < KINDS; b++) {
            for (uint64_t n = 1; n <= 64; n *= 8) {
                const clo_event both[] = { times(kinds[a], n), times(scaled(kinds[b], 0.7), n) };
                const double apart = epsilon_at(&both[0], 1, 5e-6) + epsilon_at(&both[1], 1, 5e-6);
                assert_true(epsilon_at(both, 2, 1e-5) <= apart * (1 + 1e-12));
            }
        }
    }
}

/* accounting.T1: n Gaussians are one, along the diagonal. */
static void n_gaussians_are_one_of_root_n_times_the_mean(void **state)
{
    const clo_event many = { CLO_EVENT_GAUSSIAN, 0.25, 0, 16 },
                    one = { CLO_EVENT_GAUSSIAN, 1, 0, 1 };
    const clo_event parts[] = { { CLO_EVENT_GAUSSIAN, 0.6, 0, 1 },
                                { CLO_EVENT_GAUSSIAN, 0.8, 0, 1 } };
    assert_relatively_close(epsilon_at(&many, 1, 1e-6), epsilon_at(&one, 1, 1e-6), 1e-15);
    assert_relatively_close(epsilon_at(parts, 2, 1e-6), epsilon_at(&one, 1, 1e-6), 1e-14);
}

static double bound_by(const clo_i_accounting *method, const clo_event *events, size_t count,
                       double delta)
{
    clo_i_composition list;
    clo_error err;
    mpfr_t left;
    assert_ok(clo_i_composition_init(&list, events, count, &err), err);
    assert_true(method->applies(&list));
    mpfr_init2(left, CLO_I_PRECISION);
    clo_i_delta_left(left, &list, delta);
    const double epsilon = method->epsilon(&list, left);
    mpfr_clear(left);
    clo_i_composition_clear(&list);
    return epsilon;
}

/* accounting.T4, accounting.T7: Renyi is a bound, so it lies above the exact loss; and the
 * conversion is good enough to lie close above it. */
static void renyi_lies_a_little_above_the_exact_gaussian(void **state)
{
    for (double mu = 1e-3; mu < 40; mu *= 3) {
        for (double delta = 1e-12; delta < 0.01; delta *= 100) {
            const clo_event event = { CLO_EVENT_GAUSSIAN, mu, 0, 1 };
            const double renyi = bound_by(&clo_i_renyi, &event, 1, delta);
            const double exact = bound_by(&clo_i_gaussian_exact, &event, 1, delta);
            assert_true(exact > 0 || delta > mu / 3);
            assert_true(renyi >= exact);
            if (delta < mu / 100) assert_true(renyi <= exact * 1.5);
        }
    }
}

/* accounting.T7 as it is printed, at every order of a fine list: the bound is the least of them. */
static void renyi_is_the_least_over_the_orders(void **state)
{
    for (double mu = 0.05; mu < 20; mu *= 4) {
        for (double delta = 1e-12; delta < 0.1; delta *= 100) {
            const clo_event event = { CLO_EVENT_GAUSSIAN, mu, 0, 1 };
            double least = INFINITY;
            for (double beta = 1e-4; beta < 1e6; beta *= 1.001)
                least = fmin(least, (1 + beta) * mu * mu / 2 + log(beta / (1 + beta)) -
                                        (log(delta) + log1p(beta)) / beta);
            assert_relatively_close(bound_by(&clo_i_renyi, &event, 1, delta), fmax(least, 0), 1e-6);
        }
    }
}

static void the_price_is_the_least_bound_and_carries_its_name(void **state)
{
    const clo_event few[] = { times(GAUSSIAN, 4), scaled(EXPONENTIAL, 0.5) };
    const clo_event many[] = { times(GAUSSIAN, 2), times(PURE, 40) };
    const clo_event choices = times(EXPONENTIAL, 100);
    assert_string_equal(price_at(&GAUSSIAN, 1, 1e-6).accounting, "gaussian-exact");
    assert_string_equal(price_at(&PURE, 1, 0).accounting, "basic");
    assert_string_equal(price_at(&APPROXIMATE, 1, APPROXIMATE.delta).accounting, "basic");
    assert_string_equal(price_at(&choices, 1, 1e-6).accounting, "renyi");
    assert_string_equal(price_at(few, 2, 1e-6).accounting, "pld");
    assert_string_equal(price_at(many, 2, 1e-6).accounting, "pld");
    const clo_i_accounting *method;
    for (size_t i = 1; (method = clo_i_accounting_at(i)); i++) {
        if (method == &clo_i_basic) continue; /* knows no Gaussians */
        assert_true(epsilon_at(few, 2, 1e-6) <= bound_by(method, few, 2, 1e-6));
        assert_true(epsilon_at(many, 2, 1e-6) <= bound_by(method, many, 2, 1e-6));
    }
}

static void epsilon_and_delta_are_each_others_inverse(void **state)
{
    const clo_event kinds[] = EVERY_KIND;
    for (size_t k = 0; k < KINDS; k++) {
        const clo_event event = times(kinds[k], 40);
        for (double delta = 1e-7; delta < 0.1; delta *= 30) {
            const double epsilon = epsilon_at(&event, 1, delta);
            const double back = delta_at(&event, 1, epsilon);
            assert_true(back <= delta * (1 + 1e-9));
            if (kinds[k].kind == CLO_EVENT_GAUSSIAN && epsilon > 0) {
                assert_true(back <= delta);
                assert_true(delta_at(&event, 1, epsilon * (1 - 1e-12)) > delta);
            }
        }
    }
}

/* ---- truths: mechanisms small enough to be summed up ----------------------- */

static double positive(double x)
{
    return x > 0 ? x : 0;
}

static double normal_tail(double x)
{
    return erfc(x / sqrt(2)) / 2;
}

static double gaussian_profile(double mu, double epsilon)
{
    return normal_tail(epsilon / mu - mu / 2) - exp(epsilon) * normal_tail(epsilon / mu + mu / 2);
}

/* The hockey stick of `steps` choices of bounded range; which offset of the range a step has
 * depends on what was chosen before, so this is adaptive (accounting.T2, accounting.T6). */
static double choices_delta(double range, int steps, double p, double q, double level,
                            uint64_t *seed)
{
    if (steps == 0) return positive(p - level * q);
    const double t = range * draw(seed);
    const double high_q = (1 - exp(t - range)) / (exp(t) - exp(t - range));
    const double high_p = high_q * exp(t);
    return choices_delta(range, steps - 1, p * high_p, q * high_q, level, seed) +
           choices_delta(range, steps - 1, p * (1 - high_p), q * (1 - high_q), level, seed);
}

static void never_undercuts_adaptive_exponential_choices(void **state)
{
    uint64_t seed = 7;
    for (int trial = 0; trial < 400; trial++) {
        const int steps = 1 + trial % 6;
        const clo_event event = { CLO_EVENT_EXPONENTIAL, 0.05 + 3 * draw(&seed), 0, steps };
        const double epsilon = event.parameter * steps * draw(&seed);
        const double truth = choices_delta(event.parameter, steps, 1, 1, exp(epsilon), &seed);
        assert_true(delta_at(&event, 1, epsilon) >= truth * (1 - 1e-12));
    }
}

/* A list that loses its count would pass the laws above but not this: the sum is reached. */
static double responses_delta(double e, double d, int steps, double p, double q, double level)
{
    if (steps == 0) return positive(p - level * q);
    const double high = (1 - d) * exp(e) / (1 + exp(e)), low = (1 - d) / (1 + exp(e));
    return responses_delta(e, d, steps - 1, p * d, 0, level) +
           responses_delta(e, d, steps - 1, p * high, q * low, level) +
           responses_delta(e, d, steps - 1, p * low, q * high, level);
}

/* accounting.T5, accounting.T8, accounting.T9: randomised response that now and then reveals all
 * is the worst (epsilon, delta) mechanism there is. */
static void never_undercuts_randomised_response_with_reveals(void **state)
{
    uint64_t seed = 11;
    for (int trial = 0; trial < 300; trial++) {
        const int steps = 1 + trial % 5;
        const double e = 0.05 + 2 * draw(&seed), d = trial % 3 ? 0.2 * draw(&seed) : 0;
        const clo_event event = { CLO_EVENT_APPROXIMATE, e, d, steps };
        const clo_event pure = { CLO_EVENT_PURE, e, 0, steps };
        const double epsilon = e * steps * draw(&seed);
        const double truth = responses_delta(e, d, steps, 1, 1, exp(epsilon));
        assert_true(delta_at(&event, 1, epsilon) >= truth * (1 - 1e-12));
        if (!(d > 0)) assert_true(delta_at(&pure, 1, epsilon) >= truth * (1 - 1e-12));
        /* and at the sum of the epsilons the price is the truth */
        const double sum = epsilon_at(&pure, 1, 0);
        assert_relatively_close(delta_at(&event, 1, sum), -expm1(steps * log1p(-d)), 1e-12);
    }
}

/* accounting.T10, accounting.T11: a Gaussian beside a choice of bounded range or a randomised
 * response, summed over the outcomes of the latter, against both mixed methods each by itself. */
static void neither_mixed_bound_undercuts_a_gaussian_beside_a_choice(void **state)
{
    const clo_i_accounting *const methods[] = { &clo_i_mixed_shift, &clo_i_mixed_gdp };
    uint64_t seed = 13;
    for (int trial = 0; trial < 300; trial++) {
        const bool choice = trial % 2;
        const double mu = (trial % 3 ? 0.01 : 2) * (0.05 + draw(&seed)), e = 0.05 + 2 * draw(&seed);
        const double t = choice ? e * draw(&seed) : e, range = choice ? e : 2 * e;
        const double q = (1 - exp(t - range)) / (exp(t) - exp(t - range)), p = q * exp(t);
        const clo_event events[] = { { CLO_EVENT_GAUSSIAN, mu, 0, 1 },
                                     { choice ? CLO_EVENT_EXPONENTIAL : CLO_EVENT_PURE, e, 0, 1 } };
        const double epsilon = (trial % 5 ? e : 3) * draw(&seed); /* most of it below e */
        const double truth = p * gaussian_profile(mu, epsilon - t) +
                             (1 - p) * gaussian_profile(mu, epsilon - t + range);
        for (size_t i = 0; i < 2; i++) {
            clo_i_composition list;
            clo_error err;
            mpfr_t delta;
            assert_ok(clo_i_composition_init(&list, events, 2, &err), err);
            mpfr_init2(delta, CLO_I_PRECISION);
            methods[i]->delta(delta, &list, epsilon);
            assert_true(mpfr_get_d(delta, MPFR_RNDU) >= truth * (1 - 1e-9));
            mpfr_clear(delta);
            clo_i_composition_clear(&list);
        }
    }
}

/* accounting.T5: the line epsilon tanh(epsilon/2) lies above the curve at every order;
 * accounting.T6: epsilon^2/8 above that of every offset. */
static void the_zcdp_lines_lie_above_the_curves(void **state)
{
    for (double e = 0.01; e < 12; e *= 1.7) {
        const clo_event pure = { CLO_EVENT_PURE, e, 0, 1 };
        const clo_event choice = { CLO_EVENT_EXPONENTIAL, e, 0, 1 };
        uint64_t pure_rho = 0, choice_rho = 0, delta;
        clo_error err;
        assert_ok(clo_i_events_rho(&pure, 1, &pure_rho, &delta, &err), err);
        assert_ok(clo_i_events_rho(&choice, 1, &choice_rho, &delta, &err), err);
        assert_relatively_close(ldexp((double)pure_rho, -48), e * tanh(e / 2), 1e-9);
        assert_relatively_close(ldexp((double)choice_rho, -48), fmin(e * e / 8, e * tanh(e / 2)),
                                1e-9);
        for (double alpha = 1.01; alpha < 1000; alpha = 1 + (alpha - 1) * 2.3) {
            const double curve =
                log((exp(alpha * e) + exp((1 - alpha) * e)) / (1 + exp(e))) / (alpha - 1);
            if (alpha * e < 600)
                assert_true(curve <= alpha * ldexp((double)pure_rho, -48) * (1 + 1e-9) + 1e-12);
            for (double t = e / 16; t < e; t += e / 16) {
                const double q = (1 - exp(t - e)) / (exp(t) - exp(t - e));
                const double worst =
                    log(q * exp(alpha * t) + (1 - q) * exp(alpha * (t - e))) / (alpha - 1);
                if (alpha * e < 600)
                    assert_true(worst <= alpha * ldexp((double)choice_rho, -48) + 1e-12);
            }
        }
    }
}

/* ---- calibration ------------------------------------------------------------ */

/* accounting.T14, for a caller who multiplies in double. */
static void check_factor(const clo_event *events, size_t count, clo_loss budget)
{
    const double factor = factor_for(events, count, budget);
    clo_event at[KINDS], beyond[KINDS];
    for (size_t i = 0; i < count; i++) {
        at[i] = scaled(events[i], factor);
        beyond[i] = scaled(events[i], factor * (1 + 1e-6)); /* a costly method is asked seldom */
    }
    assert_true(factor > 0);
    assert_true(epsilon_at(at, count, budget.delta) <= budget.epsilon);
    assert_true(epsilon_at(beyond, count, budget.delta) > budget.epsilon);
}

static void a_calibrated_list_fits_the_budget_and_hardly_more_would(void **state)
{
    const clo_event kinds[] = EVERY_KIND;
    const clo_loss budgets[] = { { 0.05, 1e-9 + 1e-12 }, { 1, 1e-6 }, { 8, 1e-3 }, { 300, 0.2 } };
    for (size_t b = 0; b < sizeof budgets / sizeof *budgets; b++) {
        for (size_t k = 0; k < KINDS; k++) {
            const clo_event many = times(kinds[k], 200);
            check_factor(&kinds[k], 1, budgets[b]);
            if (b > 0) check_factor(&many, 1, budgets[b]); /* 200 reveals of 1e-9 */
        }
        check_factor(kinds, KINDS, budgets[b]);
    }
    check_factor(&PURE, 1, (clo_loss){ 1, 0 });
}

/* What the search takes in place of a certified delta, where it says that it knows. */
static void hints_are_as_near_to_the_certified_delta_as_they_say(void **state)
{
    const clo_event kinds[] = EVERY_KIND;
    const double factors[] = { 1e-3, 0.1, 1, 3, 20 }, epsilons[] = { 0.01, 0.5, 1, 5, 40 };
    const clo_i_accounting *method;
    size_t known = 0;
    (void)state;
    for (size_t m = 0; (method = clo_i_accounting_at(m)) != NULL; m++) {
        for (size_t i = 0; method->log_delta_near && i < 3 * 3 * 5 * 5; i++) {
            clo_event events[2] = { kinds[i % 3], kinds[i / 3 % 3] };
            const double epsilon = epsilons[i / 45], factor = factors[i / 9 % 5];
            double error = NAN;
            clo_i_composition list;
            clo_error err;
            mpfr_t delta;
            events[0].parameter *= factor;
            events[1].parameter *= factor;
            events[1].count = 1 + i % 7;
            assert_ok(clo_i_composition_init(&list, events, 2, &err), err);
            mpfr_init2(delta, CLO_I_PRECISION);
            const double hint =
                method->applies(&list) ? method->log_delta_near(&list, epsilon, &error) : NAN;
            if (!isnan(hint)) {
                known++;
                method->delta(delta, &list, epsilon);
                mpfr_log(delta, delta, MPFR_RNDN);
                assert_true(fabs(mpfr_get_d(delta, MPFR_RNDN) - hint) <= error / 4);
            }
            mpfr_clear(delta);
            clo_i_composition_clear(&list);
        }
    }
    assert_true(known > 200); /* it is not that they know nothing */
}

/* Of those that say so, epsilon is within a level where delta at that level is paid for. */
static void an_epsilon_that_is_the_least_is_where_delta_is_paid_for(void **state)
{
    const clo_event kinds[] = EVERY_KIND;
    const clo_i_accounting *method;
    (void)state;
    for (size_t m = 0; (method = clo_i_accounting_at(m)) != NULL; m++) {
        for (size_t i = 0; method->least && i < 3 * 12; i++) {
            clo_event event = kinds[i % 3];
            clo_i_composition list;
            clo_error err;
            mpfr_t delta, left;
            event.parameter *= exp2((double)i / 4 - 4);
            assert_ok(clo_i_composition_init(&list, &event, 1, &err), err);
            mpfr_inits2(CLO_I_PRECISION, delta, left, (mpfr_ptr)0);
            mpfr_set_d(left, 1e-7, MPFR_RNDN);
            if (method->applies(&list)) {
                const double epsilon = method->epsilon(&list, left);
                method->delta(delta, &list, epsilon);
                assert_true(mpfr_lessequal_p(delta, left));
                method->delta(delta, &list, clo_i_just_below(epsilon));
                assert_true(!(epsilon > 0) || !mpfr_lessequal_p(delta, left));
            }
            mpfr_clears(delta, left, (mpfr_ptr)0);
            clo_i_composition_clear(&list);
        }
    }
}

static void one_event_at_the_budget_has_the_factor_one(void **state)
{
    const clo_event pure = { CLO_EVENT_PURE, 0.7, 0, 1 };
    const clo_event approximate = { CLO_EVENT_APPROXIMATE, 0.7, 1e-6, 1 };
    assert_true(factor_for(&pure, 1, (clo_loss){ 0.7, 0 }) == 1);
    assert_true(factor_for(&approximate, 1, (clo_loss){ 0.7, 1e-6 }) == 1);
}

static void refuses_a_budget_that_no_factor_can_meet(void **state)
{
    const clo_event nothing = times(GAUSSIAN, 0), reveals = times(APPROXIMATE, 100);
    clo_error err;
    double factor = -7;
    assert_fails(clo_calibrate(&GAUSSIAN, 1, (clo_loss){ 1, 0 }, &factor, &err), CLO_ARGUMENT, err,
                 "needs delta above 0");
    assert_fails(clo_calibrate(&GAUSSIAN, 1, (clo_loss){ 0, 1e-6 }, &factor, &err), CLO_ARGUMENT,
                 err, "epsilon");
    assert_fails(clo_calibrate(&GAUSSIAN, 1, (clo_loss){ -1, 1e-6 }, &factor, &err), CLO_ARGUMENT,
                 err, "epsilon");
    assert_fails(clo_calibrate(&GAUSSIAN, 1, (clo_loss){ INFINITY, 1e-6 }, &factor, &err),
                 CLO_ARGUMENT, err, "epsilon");
    assert_fails(clo_calibrate(&GAUSSIAN, 1, (clo_loss){ 1, 1 }, &factor, &err), CLO_ARGUMENT, err,
                 "delta");
    assert_fails(clo_calibrate(&GAUSSIAN, 1, (clo_loss){ 1, NAN }, &factor, &err), CLO_ARGUMENT,
                 err, "delta");
    assert_fails(clo_calibrate(&reveals, 1, (clo_loss){ 1, 5e-8 }, &factor, &err), CLO_ARGUMENT,
                 err, "more than the budget's");
    assert_fails(clo_calibrate(&nothing, 1, (clo_loss){ 1, 1e-6 }, &factor, &err), CLO_ARGUMENT,
                 err, "nothing to scale");
    assert_true(factor == -7);
}

/* ---- units -------------------------------------------------------------------- */

static void units_round_a_cost_up_and_a_cap_down(void **state)
{
    assert_int_equal(clo_i_epsilon_units(1, true), UINT64_C(1) << 48);
    assert_int_equal(clo_i_epsilon_units(1, false), UINT64_C(1) << 48);
    assert_int_equal(clo_i_epsilon_units(0x1p-50, true), 1);
    assert_int_equal(clo_i_epsilon_units(0x1p-50, false), 0);
    assert_int_equal(clo_i_epsilon_units(DBL_TRUE_MIN, true), 1);
    assert_int_equal(clo_i_delta_units(0.5, true), UINT64_C(1) << 61);
    assert_int_equal(clo_i_delta_units(1e-6, true) - clo_i_delta_units(1e-6, false), 1);
    assert_int_equal(clo_i_epsilon_units(0, true), 0);
}

/* What is no loss, or does not fit, goes to the side that refuses: no cap pays such a cost. */
static void units_that_do_not_fit_refuse(void **state)
{
    const double bad[] = { 65536, 1e308, INFINITY };
    for (size_t i = 0; i < 3; i++) {
        assert_true(clo_i_epsilon_units(bad[i], true) == UINT64_MAX);
        assert_true(clo_i_epsilon_units(bad[i], false) == UINT64_MAX - 1);
    }
    assert_true(clo_i_epsilon_units(NAN, true) == UINT64_MAX);
    assert_true(clo_i_epsilon_units(-1, true) == UINT64_MAX);
    assert_int_equal(clo_i_epsilon_units(NAN, false), 0);
    assert_int_equal(clo_i_delta_units(-1, false), 0);
    const clo_event huge[] = { { CLO_EVENT_GAUSSIAN, 1e308, 0, UINT64_MAX },
                               { CLO_EVENT_APPROXIMATE, 0, 0.5, 100 } };
    uint64_t rho = 0, delta = 0;
    clo_error err;
    assert_ok(clo_i_events_rho(huge, 2, &rho, &delta, &err), err);
    assert_true(rho == UINT64_MAX && delta == UINT64_MAX);
}

static void rho_of_events_adds(void **state)
{
    const clo_event kinds[] = EVERY_KIND;
    uint64_t together = 0, sum = 0, delta = 0, deltas = 0;
    clo_error err;
    for (size_t k = 0; k < KINDS; k++) {
        uint64_t rho;
        assert_ok(clo_i_events_rho(&kinds[k], 1, &rho, &delta, &err), err);
        sum += rho;
        deltas += delta;
    }
    assert_ok(clo_i_events_rho(kinds, KINDS, &together, &delta, &err), err);
    assert_true(together <= sum && together + KINDS > sum);
    assert_int_equal(delta, deltas);
    assert_int_equal(delta, clo_i_delta_units(APPROXIMATE.delta, true));
    assert_ok(clo_i_events_rho(NULL, 0, &together, &delta, &err), err);
    assert_int_equal(together, 0);
}

/* accounting.T13 */
static void a_capacity_converted_back_stays_within_its_cap(void **state)
{
    for (double epsilon = 0.01; epsilon < 60; epsilon *= 2.3) {
        for (double delta = 1e-12; delta < 0.3; delta *= 40) {
            uint64_t units = 0;
            clo_error err;
            assert_ok(clo_i_capacity_rho((clo_loss){ epsilon, delta }, &units, &err), err);
            if (units == 0) continue;
            const double mu = sqrt(2 * ldexp((double)units, -48)) * (1 - 1e-15);
            const clo_event spent = { CLO_EVENT_GAUSSIAN, mu, 0, 1 };
            const clo_event more = { CLO_EVENT_GAUSSIAN, mu * (1 + 1e-5), 0, 1 };
            assert_true(epsilon_at(&spent, 1, delta) <= epsilon);
            assert_true(bound_by(&clo_i_renyi, &spent, 1, delta) <= epsilon * (1 + 1e-12));
            if (units > UINT64_C(1) << 30)
                assert_true(bound_by(&clo_i_renyi, &more, 1, delta) > epsilon);
        }
    }
}

static void a_cap_without_delta_has_no_capacity_for_rho(void **state)
{
    uint64_t units = 5;
    clo_error err;
    assert_ok(clo_i_capacity_rho((clo_loss){ 3, 0 }, &units, &err), err);
    assert_int_equal(units, 0);
    assert_fails(clo_i_capacity_rho((clo_loss){ NAN, 0.1 }, &units, &err), CLO_ARGUMENT, err,
                 "epsilon");
    assert_fails(clo_i_capacity_rho((clo_loss){ 1, 1 }, &units, &err), CLO_ARGUMENT, err, "delta");
    assert_ok(clo_i_capacity_rho((clo_loss){ 1e300, 0.1 }, &units, &err), err);
    assert_true(units == UINT64_MAX - 1);
}

/* ---- search ------------------------------------------------------------------- */

typedef struct threshold {
    double at;
    int asked;
} threshold;

static bool reaches(double x, void *context)
{
    threshold *const t = context;
    t->asked++;
    return x >= t->at;
}

/* accounting.T14 */
static void the_search_finds_the_very_double_from_any_guess(void **state)
{
    const double places[] = { 0, DBL_TRUE_MIN, 1e-310, 1e-9, 1, 1.5, 7e77, DBL_MAX };
    const double guesses[] = { 0, -0.0, NAN, -3, DBL_TRUE_MIN, 1e-9, 1, 1.5, 1e80, INFINITY };
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        for (size_t j = 0; j < sizeof guesses / sizeof *guesses; j++) {
            threshold t = { places[i], 0 };
            assert_true(clo_i_search_least(reaches, &t, guesses[j]) == places[i]);
            assert_in_range(t.asked, 1, 100);
        }
    }
    threshold never = { INFINITY, 0 }, near = { 0.3, 0 };
    assert_true(clo_i_search_least(reaches, &never, 1) == INFINITY);
    assert_true(clo_i_search_least(reaches, &near, nextafter(0.3, 1)) == 0.3);
    assert_in_range(near.asked, 1, 6);
}

/* ---- bad and extreme input ------------------------------------------------------ */

static void refuses_what_is_not_an_event(void **state)
{
    const clo_event bad[] = {
        { 0, 1, 0, 1 },
        { (clo_event_kind)5, 1, 0, 1 },
        { (clo_event_kind)-1, 1, 0, 1 },
        { CLO_EVENT_GAUSSIAN, NAN, 0, 1 },
        { CLO_EVENT_PURE, -0.1, 0, 1 },
        { CLO_EVENT_EXPONENTIAL, INFINITY, 0, 1 },
        { CLO_EVENT_GAUSSIAN, 1, 0.1, 1 },
        { CLO_EVENT_PURE, 1, NAN, 1 },
        { CLO_EVENT_APPROXIMATE, 1, 1, 1 },
        { CLO_EVENT_APPROXIMATE, 1, -1e-9, 1 },
        { CLO_EVENT_APPROXIMATE, 1, NAN, 0 },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const clo_event list[] = { PURE, bad[i] };
        clo_price price = { { -7, -7 }, NULL };
        uint64_t rho = 7, delta = 7;
        double factor = -7;
        clo_error err;
        assert_fails(clo_price_epsilon(list, 2, 0.1, &price, &err), CLO_ARGUMENT, err, "event 2");
        assert_fails(clo_price_delta(list, 2, 0.1, &price, &err), CLO_ARGUMENT, err, "event 2");
        assert_fails(clo_calibrate(list, 2, (clo_loss){ 1, 0.1 }, &factor, &err), CLO_ARGUMENT, err,
                     "event 2");
        assert_fails(clo_i_events_rho(list, 2, &rho, &delta, &err), CLO_ARGUMENT, err, "event 2");
        assert_true(price.loss.epsilon == -7 && factor == -7 && rho == 7 && delta == 7);
        assert_int_equal(clo_price_epsilon(list, 2, 0.1, &price, NULL), CLO_ARGUMENT);
    }
}

static void refuses_a_delta_or_epsilon_that_is_none(void **state)
{
    const double bad_delta[] = { -1e-9, 1, 2, NAN, INFINITY };
    const double bad_epsilon[] = { -1e-9, NAN, INFINITY };
    clo_price price;
    clo_error err;
    for (size_t i = 0; i < 5; i++)
        assert_fails(clo_price_epsilon(&PURE, 1, bad_delta[i], &price, &err), CLO_ARGUMENT, err,
                     "delta must be");
    for (size_t i = 0; i < 3; i++)
        assert_fails(clo_price_delta(&PURE, 1, bad_epsilon[i], &price, &err), CLO_ARGUMENT, err,
                     "epsilon must be");
    assert_fails(clo_price_epsilon(NULL, 1, 0.1, &price, &err), CLO_ARGUMENT, err, "missing");
}

static void refuses_a_price_where_there_is_none(void **state)
{
    const clo_event both[] = { GAUSSIAN, APPROXIMATE };
    clo_price price;
    clo_error err;
    assert_fails(clo_price_epsilon(&GAUSSIAN, 1, 0, &price, &err), CLO_ARGUMENT, err,
                 "needs delta above 0");
    assert_fails(clo_price_epsilon(both, 2, APPROXIMATE.delta, &price, &err), CLO_ARGUMENT, err,
                 "above what the approximate events spend");
    assert_fails(clo_price_epsilon(&APPROXIMATE, 1, 1e-10, &price, &err), CLO_ARGUMENT, err,
                 "more than");
}

static void costs_nothing_where_nothing_happens(void **state)
{
    const clo_event none[] = { times(GAUSSIAN, 0), scaled(PURE, 0), times(APPROXIMATE, 0),
                               scaled(GAUSSIAN, 0) };
    assert_true(epsilon_at(NULL, 0, 0) == 0 && delta_at(NULL, 0, 0) == 0);
    assert_true(epsilon_at(none, 4, 0) == 0 && delta_at(none, 4, 0) == 0);
    assert_true(epsilon_at(none, 4, 0.1) == 0);
}

static void pure_events_need_no_delta(void **state)
{
    const clo_event list[] = { times(PURE, 3), times(EXPONENTIAL, 2) };
    const clo_price price = price_at(list, 2, 0);
    assert_string_equal(price.accounting, "basic");
    assert_relatively_close(price.loss.epsilon, 3 * 0.15 + 2 * 0.3, 1e-15);
    assert_true(price.loss.delta == 0 && delta_at(list, 2, price.loss.epsilon) == 0);
    assert_true(delta_at(list, 2, price.loss.epsilon * (1 - 1e-9)) > 0);
}

/* accounting.T12: the two roundings of a tail enclose it, seen where they differ. */
static void the_roundings_of_a_normal_tail_enclose_it(void **state)
{
    uint64_t seed = 17;
    mpfr_t x, up, down, reference;
    mpfr_inits2(DBL_MANT_DIG, x, up, down, (mpfr_ptr)0);
    mpfr_init2(reference, 400);
    for (int trial = 0; trial < 400; trial++) {
        mpfr_set_d(x, 60 * draw(&seed) - 15, MPFR_RNDN);
        clo_i_normal_tail_up(reference, x); /* good to a hundred digits */
        clo_i_normal_tail_up(up, x);
        clo_i_normal_tail_down(down, x);
        assert_true(mpfr_greater_p(up, reference));
        assert_true(mpfr_less_p(down, reference));
        mpfr_sub(up, up, down, MPFR_RNDU);
        mpfr_mul_d(down, down, 1e-12, MPFR_RNDD);
        assert_true(mpfr_less_p(up, down));
    }
    mpfr_clears(x, up, down, reference, (mpfr_ptr)0);
    mpfr_free_cache();
}

/* accounting.T12: no input crashes, and none is priced on the wrong side of what is obvious. */
static void extreme_parameters_are_priced_without_a_lie(void **state)
{
    const double sizes[] = { DBL_TRUE_MIN, 1e-310, DBL_MIN, 1e-160, 1e-30, 1e30, 1e160, DBL_MAX };
    const clo_event kinds[] = EVERY_KIND;
    for (size_t k = 0; k < KINDS; k++) {
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            clo_event event = times(kinds[k], i % 2 ? UINT64_MAX : 1);
            event.parameter = sizes[i];
            event.delta = 0;
            const double epsilon = epsilon_at(&event, 1, 1e-6), delta = delta_at(&event, 1, 1);
            assert_true(epsilon >= 0 && delta >= 0 && delta <= 1);
            if (sizes[i] > 1) assert_true(epsilon >= sizes[i] * 0.99 && delta > 0.9);
            if (sizes[i] < 1 && event.count == 1) assert_true(epsilon <= 1e-15 && delta <= 1e-15);
            const double factor = factor_for(&event, 1, (clo_loss){ 1, 1e-6 });
            event.parameter *= factor;
            assert_true(factor > 0 && epsilon_at(&event, 1, 1e-6) <= 1);
        }
    }
    const clo_event small = { CLO_EVENT_GAUSSIAN, 1e-300, 0, 1 };
    assert_true(epsilon_at(&small, 1, DBL_TRUE_MIN) > 1e-300);
    assert_true(epsilon_at(&GAUSSIAN, 1, 1 - 0x1p-53) == 0);
}

/* memo.h: what is remembered is what would be found again, and no other question's answer. */
static void remembers_answers_for_equal_questions_alone(void **state)
{
    static const clo_event_kind kinds[] = { CLO_EVENT_PURE, CLO_EVENT_EXPONENTIAL,
                                            CLO_EVENT_GAUSSIAN };
    clo_event lists[40][2];
    double factors[40];
    clo_price prices[40];
    clo_error err;
    clo_i_memo memo = { .used = 0 }, inner = { .used = 0 };
    for (size_t i = 0; i < 40; i++) {
        /* neighbours differ in one field each */
        lists[i][0] = (clo_event){ kinds[i % 3], 0.1 + 0.1 * (double)(i / 3 % 2), 0, 1 };
        lists[i][1] = (clo_event){ CLO_EVENT_GAUSSIAN, 0.3, 0, 1 + i / 6 % 2 };
    }
    for (int remembered = 0; remembered < 2; remembered++) {
        if (remembered) clo_i_memo_begin(&memo);
        for (size_t i = 0; i < 40; i++) {
            const size_t count = 1 + i / 12 % 2;
            const clo_loss budget = { i < 24 ? 1 : 2, 1e-6 };
            const double delta = i < 24 ? 1e-6 : 1e-7;
            double factor;
            clo_price price;
            assert_ok(clo_calibrate(lists[i], count, budget, &factor, &err), err);
            assert_ok(clo_price_epsilon(lists[i], count, delta, &price, &err), err);
            if (remembered) {
                assert_true(factor == factors[i] && price.loss.epsilon == prices[i].loss.epsilon);
                assert_string_equal(price.accounting, prices[i].accounting);
            }
            factors[i] = factor;
            prices[i] = price;
        }
    }
    assert_int_equal(memo.used, CLO_I_MEMO_ANSWERS);
    clo_i_memo_begin(&inner);
    assert_ok(clo_price_epsilon(lists[0], 1, 1e-6, &prices[0], &err), err);
    assert_int_equal(inner.used, 1);
    clo_i_memo_end(&inner);
    clo_i_memo_end(&memo);
    assert_ok(clo_price_epsilon(lists[1], 1, 1e-6, &prices[1], &err), err);
    assert_int_equal(inner.used, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(remembers_answers_for_equal_questions_alone),
        cmocka_unit_test(prices_n_asks_of_one_event_like_a_list_of_n),
        cmocka_unit_test(rises_with_the_count),
        cmocka_unit_test(rises_with_the_parameter),
        cmocka_unit_test(falls_with_delta),
        cmocka_unit_test(does_not_depend_on_the_order_of_events),
        cmocka_unit_test(two_parts_cost_no_more_together_than_apart),
        cmocka_unit_test(n_gaussians_are_one_of_root_n_times_the_mean),
        cmocka_unit_test(renyi_lies_a_little_above_the_exact_gaussian),
        cmocka_unit_test(renyi_is_the_least_over_the_orders),
        cmocka_unit_test(the_price_is_the_least_bound_and_carries_its_name),
        cmocka_unit_test(epsilon_and_delta_are_each_others_inverse),
        cmocka_unit_test(never_undercuts_adaptive_exponential_choices),
        cmocka_unit_test(never_undercuts_randomised_response_with_reveals),
        cmocka_unit_test(neither_mixed_bound_undercuts_a_gaussian_beside_a_choice),
        cmocka_unit_test(the_zcdp_lines_lie_above_the_curves),
        cmocka_unit_test(a_calibrated_list_fits_the_budget_and_hardly_more_would),
        cmocka_unit_test(hints_are_as_near_to_the_certified_delta_as_they_say),
        cmocka_unit_test(an_epsilon_that_is_the_least_is_where_delta_is_paid_for),
        cmocka_unit_test(one_event_at_the_budget_has_the_factor_one),
        cmocka_unit_test(refuses_a_budget_that_no_factor_can_meet),
        cmocka_unit_test(units_round_a_cost_up_and_a_cap_down),
        cmocka_unit_test(units_that_do_not_fit_refuse),
        cmocka_unit_test(rho_of_events_adds),
        cmocka_unit_test(a_capacity_converted_back_stays_within_its_cap),
        cmocka_unit_test(a_cap_without_delta_has_no_capacity_for_rho),
        cmocka_unit_test(the_search_finds_the_very_double_from_any_guess),
        cmocka_unit_test(refuses_what_is_not_an_event),
        cmocka_unit_test(refuses_a_delta_or_epsilon_that_is_none),
        cmocka_unit_test(refuses_a_price_where_there_is_none),
        cmocka_unit_test(costs_nothing_where_nothing_happens),
        cmocka_unit_test(pure_events_need_no_delta),
        cmocka_unit_test(the_roundings_of_a_normal_tail_enclose_it),
        cmocka_unit_test(extreme_parameters_are_priced_without_a_lie),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
