/*
 * test_account_rounding.c - directions of rounding: what must be an upper bound is never below the
 * true value, nor far above it, whatever the digits.  The truth is found with ten times the digits,
 * by other formulas where there are any; a rounding that goes the wrong way shows in some of the
 * many draws, in digits that no double holds.
 */
#include "check.h"
#include "accounting/accountant.h"
#include <math.h>

enum { TRUTH = 3000, DRAWS = 400 };

/* ---- numbers with many digits, from a fixed stream ---------------------------------------- */

static uint64_t stream = 0x9e3779b97f4a7c15;

static uint64_t next_word(void) /* splitmix64 */
{
    uint64_t z = stream += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

/* All bits of its fraction are drawn, and its exponent between these two. */
static double draw(int least, int most)
{
    const int exponent = least + (int)(next_word() % (uint64_t)(most - least + 1));
    return ldexp(1 + ldexp((double)(next_word() >> 12), -52), exponent);
}

static clo_event draw_event(void)
{
    static const clo_event_kind kinds[] = { CLO_EVENT_GAUSSIAN, CLO_EVENT_EXPONENTIAL,
                                            CLO_EVENT_PURE, CLO_EVENT_APPROXIMATE };
    clo_event event = { .kind = kinds[next_word() % 4],
                        .parameter = draw(-150, 3),
                        .count = 1 + next_word() % 1000003 };
    if (event.kind == CLO_EVENT_APPROXIMATE) event.delta = draw(-150, -40);
    return event;
}

/* ---- comparing ---------------------------------------------------------------------------- */

/* truth <= bound <= truth (1 + 2^-bits) */
static void assert_just_above(mpfr_srcptr bound, mpfr_srcptr truth, int bits)
{
    mpfr_t excess;
    mpfr_init2(excess, TRUTH);
    mpfr_sub(excess, bound, truth, MPFR_RNDN);
    assert_true(mpfr_sgn(excess) >= 0);
    mpfr_mul_2si(excess, excess, bits, MPFR_RNDN);
    assert_true(mpfr_cmpabs(excess, truth) <= 0);
    mpfr_clear(excess);
}

static void assert_just_below(mpfr_srcptr bound, mpfr_srcptr truth, int bits)
{
    mpfr_t other, true_other;
    mpfr_inits2(TRUTH, other, true_other, (mpfr_ptr)0);
    mpfr_ui_div(other, 1, bound, MPFR_RNDN);
    mpfr_ui_div(true_other, 1, truth, MPFR_RNDN);
    assert_just_above(other, true_other, bits);
    mpfr_clears(other, true_other, (mpfr_ptr)0);
}

/* ---- sums of a list (accounting.T1, accounting.T8) ---------------------------------------- */

typedef struct sums {
    mpfr_t square, epsilon, rho, deltas, revealed;
} sums;

/* epsilon tanh(epsilon/2) as epsilon (1 - e^-epsilon) / (1 + e^-epsilon) */
static void true_pure_rho(mpfr_ptr out, double epsilon)
{
    mpfr_t above, below;
    mpfr_inits2(TRUTH, above, below, (mpfr_ptr)0);
    mpfr_set_d(above, -epsilon, MPFR_RNDN);
    mpfr_exp(below, above, MPFR_RNDN);
    mpfr_add_ui(below, below, 1, MPFR_RNDN);
    mpfr_expm1(above, above, MPFR_RNDN);
    mpfr_neg(above, above, MPFR_RNDN);
    mpfr_div(out, above, below, MPFR_RNDN);
    mpfr_mul_d(out, out, epsilon, MPFR_RNDN);
    mpfr_clears(above, below, (mpfr_ptr)0);
}

static void true_rho(mpfr_ptr out, const clo_event *event)
{
    mpfr_t square;
    mpfr_init2(square, TRUTH);
    mpfr_set_d(square, event->parameter, MPFR_RNDN);
    mpfr_sqr(square, square, MPFR_RNDN);
    if (event->kind == CLO_EVENT_GAUSSIAN)
        mpfr_div_ui(out, square, 2, MPFR_RNDN);
    else
        true_pure_rho(out, event->parameter);
    mpfr_div_ui(square, square, 8, MPFR_RNDN);
    if (event->kind == CLO_EVENT_EXPONENTIAL) mpfr_min(out, out, square, MPFR_RNDN);
    mpfr_clear(square);
}

static void true_sums(sums *t, const clo_event *events, size_t count)
{
    mpfr_t term, kept;
    mpfr_inits2(TRUTH, t->square, t->epsilon, t->rho, t->deltas, t->revealed, term, kept,
                (mpfr_ptr)0);
    for (mpfr_ptr *sum = (mpfr_ptr[]){ t->square, t->epsilon, t->rho, t->deltas, NULL }; *sum;
         sum++)
        mpfr_set_zero(*sum, 1);
    mpfr_set_ui(kept, 1, MPFR_RNDN);
    for (size_t i = 0; i < count; i++) {
        const bool gaussian = events[i].kind == CLO_EVENT_GAUSSIAN;
        const mpfr_ptr sum = gaussian ? t->square : t->epsilon;
        mpfr_set_d(term, events[i].parameter, MPFR_RNDN);
        if (gaussian) mpfr_sqr(term, term, MPFR_RNDN);
        mpfr_mul_ui(term, term, events[i].count, MPFR_RNDN);
        mpfr_add(sum, sum, term, MPFR_RNDN);
        true_rho(term, &events[i]);
        mpfr_mul_ui(term, term, events[i].count, MPFR_RNDN);
        mpfr_add(t->rho, t->rho, term, MPFR_RNDN);
        mpfr_set_d(term, events[i].delta, MPFR_RNDN);
        mpfr_mul_ui(term, term, events[i].count, MPFR_RNDN);
        mpfr_add(t->deltas, t->deltas, term, MPFR_RNDN);
        mpfr_set_d(term, events[i].delta, MPFR_RNDN);
        mpfr_ui_sub(term, 1, term, MPFR_RNDN);
        mpfr_pow_ui(term, term, events[i].count, MPFR_RNDN);
        mpfr_mul(kept, kept, term, MPFR_RNDN);
    }
    mpfr_ui_sub(t->revealed, 1, kept, MPFR_RNDN);
    mpfr_clears(term, kept, (mpfr_ptr)0);
}

static void sums_free(sums *t)
{
    mpfr_clears(t->square, t->epsilon, t->rho, t->deltas, t->revealed, (mpfr_ptr)0);
}

enum { MOST_EVENTS = 6 };
static size_t draw_list(clo_event events[MOST_EVENTS])
{
    const size_t count = 1 + next_word() % MOST_EVENTS;
    for (size_t i = 0; i < count; i++) events[i] = draw_event();
    return count;
}

static void sums_and_reveals_are_rounded_up(void **state)
{
    (void)state;
    for (int i = 0; i < DRAWS; i++) {
        clo_event events[MOST_EVENTS];
        clo_error err;
        clo_i_composition list;
        sums t;
        const size_t count = draw_list(events);
        assert_ok(clo_i_composition_init(&list, events, count, &err), err);
        true_sums(&t, events, count);
        assert_just_above(list.square, t.square, CLO_I_PRECISION - 8);
        assert_just_above(list.epsilon, t.epsilon, CLO_I_PRECISION - 8);
        if (mpfr_zero_p(t.deltas))
            assert_true(mpfr_zero_p(list.reveal));
        else
            assert_just_above(list.reveal, t.revealed, CLO_I_PRECISION - 8);
        sums_free(&t);
        clo_i_composition_clear(&list);
    }
    mpfr_free_cache();
}

/* What is left of a delta is rounded down: (delta - reveal) / (1 - reveal). */
static void what_reveals_leave_is_rounded_down(void **state)
{
    (void)state;
    for (int i = 0; i < DRAWS; i++) {
        clo_event events[MOST_EVENTS + 1];
        clo_error err;
        clo_i_composition list;
        sums t;
        mpfr_t left, truth, kept;
        const size_t count = draw_list(events);
        events[count] = (clo_event){ CLO_EVENT_APPROXIMATE, 0.5, draw(-90, -20), 1 };
        const double delta = draw(-6, -3);
        mpfr_inits2(TRUTH, truth, kept, (mpfr_ptr)0);
        mpfr_init2(left, CLO_I_PRECISION);
        assert_ok(clo_i_composition_init(&list, events, count + 1, &err), err);
        true_sums(&t, events, count + 1);
        clo_i_delta_left(left, &list, delta);
        mpfr_d_sub(truth, delta, t.revealed, MPFR_RNDN);
        mpfr_ui_sub(kept, 1, t.revealed, MPFR_RNDN);
        mpfr_div(truth, truth, kept, MPFR_RNDN);
        assert_just_below(left, truth, CLO_I_PRECISION - 40);
        mpfr_clears(left, truth, kept, (mpfr_ptr)0);
        sums_free(&t);
        clo_i_composition_clear(&list);
    }
    mpfr_free_cache();
}

/* ---- what a ledger adds (accounting.T13) -------------------------------------------------- */

/* Every event as often as it is asked, in units of 2^-48 and 2^-62, rounded up by less than two. */
static void assert_units(uint64_t units, mpfr_srcptr value, int bits)
{
    mpfr_t truth, rest;
    mpfr_inits2(TRUTH, truth, rest, (mpfr_ptr)0);
    mpfr_mul_2si(truth, value, bits, MPFR_RNDN);
    mpfr_ui_sub(rest, units, truth, MPFR_RNDN);
    assert_true(mpfr_sgn(rest) >= 0 && mpfr_cmp_ui(rest, 1) <= 0);
    mpfr_clears(truth, rest, (mpfr_ptr)0);
}

static void costs_in_units_are_rounded_up(void **state)
{
    (void)state;
    for (int i = 0; i < DRAWS; i++) {
        clo_event events[MOST_EVENTS];
        clo_error err;
        uint64_t rho, delta;
        sums t;
        const size_t count = draw_list(events);
        for (size_t j = 0; j < count;
             j++) { /* so that all of them matter, and nothing is too large */
            events[j].parameter = draw(-24, -6);
            events[j].count %= 5000;
        }
        true_sums(&t, events, count);
        assert_ok(clo_i_events_rho(events, count, &rho, &delta, &err), err);
        assert_units(rho, t.rho, 48);
        assert_units(delta, t.deltas, 62);
        sums_free(&t);
    }
    mpfr_free_cache();
}

static void the_cost_of_one_event_is_rounded_up(void **state)
{
    (void)state;
    for (int i = 0; i < DRAWS; i++) {
        const clo_event event = draw_event();
        mpfr_t bound, truth;
        mpfr_init2(bound, CLO_I_PRECISION);
        mpfr_init2(truth, TRUTH);
        clo_i_event_rho_up(bound, &event);
        true_rho(truth, &event);
        assert_just_above(bound, truth, CLO_I_PRECISION - 8);
        mpfr_clears(bound, truth, (mpfr_ptr)0);
    }
    mpfr_free_cache();
}

/* ---- Gaussian profiles (accounting.T3, accounting.T12) ------------------------------------ */

static void true_tail(mpfr_ptr out, mpfr_srcptr x)
{
    mpfr_t root;
    mpfr_init2(root, TRUTH);
    mpfr_sqrt_ui(root, 2, MPFR_RNDN);
    mpfr_div(out, x, root, MPFR_RNDN);
    mpfr_erfc(out, out, MPFR_RNDN);
    mpfr_div_2ui(out, out, 1, MPFR_RNDN);
    mpfr_clear(root);
}

static void tails_are_between_their_bounds(void **state)
{
    (void)state;
    for (int i = 0; i < DRAWS / 4; i++) {
        mpfr_t x, bound, truth;
        mpfr_inits2(CLO_I_PRECISION, x, bound, (mpfr_ptr)0);
        mpfr_init2(truth, TRUTH);
        mpfr_set_d(x, (i % 2 ? 1 : -1) * draw(-8, 3), MPFR_RNDN);
        mpfr_div_ui(x, x, 3, MPFR_RNDN); /* digits to the end */
        true_tail(truth, x);
        clo_i_normal_tail_up(bound, x);
        assert_just_above(bound, truth, CLO_I_PRECISION - 16);
        clo_i_normal_tail_down(bound, x);
        assert_just_below(bound, truth, CLO_I_PRECISION - 16);
        mpfr_clears(x, bound, truth, (mpfr_ptr)0);
    }
    mpfr_free_cache();
}

/* Q(epsilon/mu - mu/2) - e^epsilon Q(epsilon/mu + mu/2) */
static void true_profile(mpfr_ptr out, mpfr_srcptr square, mpfr_srcptr epsilon)
{
    mpfr_t mu, middle, at, term;
    mpfr_inits2(TRUTH, mu, middle, at, term, (mpfr_ptr)0);
    mpfr_sqrt(mu, square, MPFR_RNDN);
    mpfr_div(middle, epsilon, mu, MPFR_RNDN);
    mpfr_div_2ui(mu, mu, 1, MPFR_RNDN);
    mpfr_add(at, middle, mu, MPFR_RNDN);
    true_tail(term, at);
    mpfr_exp(at, epsilon, MPFR_RNDN);
    mpfr_mul(term, term, at, MPFR_RNDN);
    mpfr_sub(at, middle, mu, MPFR_RNDN);
    true_tail(out, at);
    mpfr_sub(out, out, term, MPFR_RNDN);
    mpfr_clears(mu, middle, at, term, (mpfr_ptr)0);
}

/* Small means as well, where the two terms agree in many digits. */
static void profiles_are_rounded_up_and_tight(void **state)
{
    (void)state;
    for (int i = 0; i < DRAWS; i++) {
        mpfr_t square, epsilon, bound, truth;
        mpfr_inits2(CLO_I_PRECISION, square, bound, (mpfr_ptr)0);
        mpfr_init2(epsilon, 53);
        mpfr_init2(truth, TRUTH);
        const double mu = i % 2 ? draw(-6, 2) : draw(-40, -6);
        mpfr_set_d(square, mu, MPFR_RNDN);
        mpfr_sqr(square, square, MPFR_RNDN);
        mpfr_set_d(epsilon, mu * draw(-4, 3), MPFR_RNDN);
        clo_i_gaussian_delta(bound, square, epsilon);
        true_profile(truth, square, epsilon);
        assert_just_above(bound, truth, 68);
        mpfr_clears(square, epsilon, bound, truth, (mpfr_ptr)0);
    }
    mpfr_free_cache();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_and_reveals_are_rounded_up),
        cmocka_unit_test(what_reveals_leave_is_rounded_down),
        cmocka_unit_test(costs_in_units_are_rounded_up),
        cmocka_unit_test(the_cost_of_one_event_is_rounded_up),
        cmocka_unit_test(tails_are_between_their_bounds),
        cmocka_unit_test(profiles_are_rounded_up_and_tight),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
