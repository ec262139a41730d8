/*
 * price.c - what a list of events costs: checks it, asks every method that applies, takes the
 * least answer and its name.
 */
#include "accounting/accountant.h"
#include "accounting/memo.h"
#include "accounting/pld.h"
#include <math.h>
#include <string.h>

/* ---- the list ------------------------------------------------------------ */

static bool is_kind(clo_event_kind kind)
{
    switch (kind) {
    case CLO_EVENT_GAUSSIAN:
    case CLO_EVENT_EXPONENTIAL:
    case CLO_EVENT_PURE:
    case CLO_EVENT_APPROXIMATE:
        return true;
    }
    return false; /* a caller can put any number into an enum */
}

static clo_status check_event(const clo_event *event, size_t number, clo_error *err)
{
    if (!is_kind(event->kind))
        return clo_i_fail(err, CLO_ARGUMENT,
                          "event %zu is of an unknown kind (%d): kinds are Gaussian, exponential, "
                          "pure and approximate",
                          number, (int)event->kind);
    if (!(event->parameter >= 0) || !isfinite(event->parameter))
        return clo_i_fail(
            err, CLO_ARGUMENT,
            "the parameter of event %zu must be a finite number of at least 0, not %g", number,
            event->parameter);
    if (event->kind == CLO_EVENT_APPROXIMATE && !(event->delta >= 0 && event->delta < 1))
        return clo_i_fail(err, CLO_ARGUMENT,
                          "the delta of event %zu must be at least 0 and below 1, not %g", number,
                          event->delta);
    if (event->kind != CLO_EVENT_APPROXIMATE && !(event->delta >= 0 && event->delta <= 0))
        return clo_i_fail(err, CLO_ARGUMENT,
                          "the delta of event %zu must be 0, not %g: only an approximate event has "
                          "one",
                          number, event->delta);
    return CLO_OK;
}

/* The probability of at least one reveal, 1 - prod (1 - delta)^count, or the plain sum where
 * rounding makes that the smaller (a single event's delta is then exact).  accounting.T8 */
static void set_reveal(mpfr_ptr out, const clo_event *events, size_t count)
{
    mpfr_t sum, logarithm, term, times;
    mpfr_inits2(CLO_I_PRECISION, sum, logarithm, term, times, (mpfr_ptr)0);
    mpfr_set_zero(sum, 1);
    mpfr_set_zero(logarithm, 1);
    for (size_t i = 0; i < count; i++) {
        if (!(events[i].delta > 0) || !events[i].count) continue;
        mpfr_set_uj(times, events[i].count, MPFR_RNDN); /* exact */
        mpfr_mul_d(term, times, events[i].delta, MPFR_RNDU);
        mpfr_add(sum, sum, term, MPFR_RNDU);
        mpfr_set_d(term, -events[i].delta, MPFR_RNDN); /* exact */
        mpfr_log1p(term, term, MPFR_RNDD);
        mpfr_mul(term, term, times, MPFR_RNDD);
        mpfr_add(logarithm, logarithm, term, MPFR_RNDD);
    }
    mpfr_expm1(logarithm, logarithm, MPFR_RNDD);
    mpfr_abs(logarithm, logarithm, MPFR_RNDN); /* not mpfr_neg, which makes -0 of 0 */
    mpfr_min(out, sum, logarithm, MPFR_RNDU);
    mpfr_clears(sum, logarithm, term, times, (mpfr_ptr)0);
}

static void set_sums(clo_i_composition *list)
{
    mpfr_t term, times;
    mpfr_inits2(CLO_I_PRECISION, term, times, (mpfr_ptr)0);
    mpfr_set_zero(list->square, 1);
    mpfr_set_zero(list->epsilon, 1);
    for (size_t i = 0; i < list->count; i++) {
        const clo_event *const event = &list->events[i];
        const bool gaussian = event->kind == CLO_EVENT_GAUSSIAN;
        const mpfr_ptr sum = gaussian ? list->square : list->epsilon;
        if (!event->count || !(event->parameter > 0)) continue;
        *(gaussian ? &list->gaussian : &list->other) = true;
        mpfr_set_d(term, event->parameter, MPFR_RNDN); /* exact */
        if (gaussian) mpfr_sqr(term, term, MPFR_RNDU); /* accounting.T1 */
        mpfr_set_uj(times, event->count, MPFR_RNDN);   /* exact */
        mpfr_mul(term, term, times, MPFR_RNDU);
        mpfr_add(sum, sum, term, MPFR_RNDU);
    }
    mpfr_clears(term, times, (mpfr_ptr)0);
}

/* The constants that MPFR keeps for a thread go with the last who holds them: a thread that ends
 * must leave nothing, and a search, which makes a list for each trial, need not find them again
 * each time. */
static _Thread_local size_t holders;

void clo_i_hold_constants(void)
{
    holders++;
}

void clo_i_release_constants(void)
{
    if (--holders == 0) mpfr_free_cache();
}

clo_status clo_i_composition_init(clo_i_composition *list, const clo_event *events, size_t count,
                                  clo_error *err)
{
    if (!events && count) return clo_i_fail(err, CLO_ARGUMENT, "the list of events is missing");
    for (size_t i = 0; i < count; i++) CLO_TRY(check_event(&events[i], i + 1, err));
    memset(list, 0, sizeof *list);
    list->events = events;
    list->count = count;
    clo_i_hold_constants();
    list->least_exponent = mpfr_get_emin();
    list->largest_exponent = mpfr_get_emax();
    mpfr_set_emin(mpfr_get_emin_min());
    mpfr_set_emax(mpfr_get_emax_max());
    mpfr_inits2(CLO_I_PRECISION, list->square, list->epsilon, list->reveal, (mpfr_ptr)0);
    set_sums(list);
    set_reveal(list->reveal, events, count);
    return CLO_OK;
}

void clo_i_composition_clear(clo_i_composition *list)
{
    mpfr_clears(list->square, list->epsilon, list->reveal, (mpfr_ptr)0);
    mpfr_set_emin(list->least_exponent);
    mpfr_set_emax(list->largest_exponent);
    clo_i_release_constants();
}

/* delta = reveal + (1 - reveal) * left, solved for what is left. accounting.T8 */
void clo_i_delta_left(mpfr_ptr out, const clo_i_composition *list, double delta)
{
    mpfr_t kept;
    mpfr_init2(kept, CLO_I_PRECISION);
    mpfr_ui_sub(kept, 1, list->reveal, MPFR_RNDU);
    mpfr_d_sub(out, delta, list->reveal, MPFR_RNDD);
    if (mpfr_sgn(out) > 0) mpfr_div(out, out, kept, MPFR_RNDD);
    mpfr_clear(kept);
}

static double delta_with_reveal(const clo_i_composition *list, mpfr_ptr rest)
{
    mpfr_t kept;
    mpfr_init2(kept, CLO_I_PRECISION);
    mpfr_ui_sub(kept, 1, list->reveal, MPFR_RNDU);
    mpfr_mul(rest, rest, kept, MPFR_RNDU);
    mpfr_add(rest, rest, list->reveal, MPFR_RNDU);
    const double delta = mpfr_get_d(rest, MPFR_RNDU);
    mpfr_clear(kept);
    return fmin(delta, 1); /* nothing is worse than everything */
}

/* ---- the methods --------------------------------------------------------- */

static const clo_i_accounting *const METHODS[] = {
    &clo_i_gaussian_exact, &clo_i_basic,     &clo_i_renyi,
    &clo_i_mixed_shift,    &clo_i_mixed_gdp, &clo_i_pld_accounting,
};

const clo_i_accounting *clo_i_accounting_at(size_t i)
{
    return i < sizeof METHODS / sizeof *METHODS ? METHODS[i] : NULL;
}

static clo_price least_epsilon(const clo_i_composition *list, mpfr_srcptr left, double delta)
{
    clo_price price = { { INFINITY, delta }, NULL };
    const clo_i_accounting *method;
    for (size_t i = 0; (method = clo_i_accounting_at(i)); i++) {
        if (!method->applies(list)) continue;
        if (method->costly && clo_i_memo_leaves_out()) continue;
        const double epsilon = method->epsilon(list, left);
        if (epsilon < price.loss.epsilon || !price.accounting) {
            price.loss.epsilon = epsilon;
            price.accounting = method->name;
        }
        if (method->exact) break;
    }
    return price;
}

static clo_price least_delta(const clo_i_composition *list, double epsilon)
{
    clo_price price = { { epsilon, 1 }, NULL };
    const clo_i_accounting *method;
    mpfr_t least, rest;
    mpfr_inits2(CLO_I_PRECISION, least, rest, (mpfr_ptr)0);
    for (size_t i = 0; (method = clo_i_accounting_at(i)); i++) {
        if (!method->applies(list)) continue;
        method->delta(rest, list, epsilon);
        if (!price.accounting || mpfr_less_p(rest, least)) {
            mpfr_set(least, rest, MPFR_RNDU);
            price.accounting = method->name;
        }
        if (method->exact) break;
    }
    price.loss.delta = delta_with_reveal(list, least);
    mpfr_clears(least, rest, (mpfr_ptr)0);
    return price;
}

clo_status clo_i_starved(clo_error *err)
{
    return clo_i_fail(err, CLO_MEMORY, "there is not enough memory to price these events");
}

static clo_status check_delta(double delta, clo_error *err)
{
    if (!(delta >= 0 && delta < 1))
        return clo_i_fail(err, CLO_ARGUMENT, "delta must be at least 0 and below 1, not %g", delta);
    return CLO_OK;
}

/* Fails where no epsilon at all goes with that delta. */
static clo_status check_left(const clo_i_composition *list, mpfr_srcptr left, double delta,
                             clo_error *err)
{
    if (mpfr_sgn(left) < 0)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "the approximate events spend a delta of %g themselves, more than the %g "
                          "given",
                          mpfr_get_d(list->reveal, MPFR_RNDU), delta);
    if (list->gaussian && mpfr_zero_p(left))
        return clo_i_fail(err, CLO_ARGUMENT,
                          mpfr_zero_p(list->reveal)
                              ? "a Gaussian event needs delta above 0"
                              : "a Gaussian event needs delta above what the approximate events "
                                "spend");
    return CLO_OK;
}

static clo_status price_epsilon(const clo_event *events, size_t count, double delta, clo_price *out,
                                clo_error *err)
{
    clo_i_composition list;
    mpfr_t left;
    CLO_TRY(check_delta(delta, err));
    CLO_TRY(clo_i_composition_init(&list, events, count, err));
    bool starved = false;
    list.starved = &starved;
    mpfr_init2(left, CLO_I_PRECISION);
    clo_i_delta_left(left, &list, delta);
    clo_status status = check_left(&list, left, delta, err);
    clo_price found;
    if (!status) found = least_epsilon(&list, left, delta);
    if (starved) status = clo_i_starved(err);
    if (!status) *out = found;
    mpfr_clear(left);
    clo_i_composition_clear(&list);
    return status;
}

clo_status clo_price_epsilon(const clo_event *events, size_t count, double delta, clo_price *out,
                             clo_error *err)
{
    clo_i_memo_question question;
    clo_i_memo_answer answer;
    const clo_loss asked = { 0, delta };
    const bool remembers = clo_i_memo_ask(CLO_I_MEMO_PRICE, events, count, asked, &question);
    if (!remembers || !clo_i_memo_recall(&question, &answer)) {
        CLO_TRY(price_epsilon(events, count, delta, &answer.price, err));
        if (remembers) clo_i_memo_keep(&question, answer);
    }
    *out = answer.price;
    return CLO_OK;
}

clo_status clo_price_delta(const clo_event *events, size_t count, double epsilon, clo_price *out,
                           clo_error *err)
{
    clo_i_composition list;
    if (!(epsilon >= 0) || !isfinite(epsilon))
        return clo_i_fail(err, CLO_ARGUMENT,
                          "epsilon must be a finite number of at least 0, not %g", epsilon);
    CLO_TRY(clo_i_composition_init(&list, events, count, err));
    bool starved = false;
    list.starved = &starved;
    const clo_price found = least_delta(&list, epsilon);
    clo_i_composition_clear(&list);
    if (starved) return clo_i_starved(err);
    *out = found;
    return CLO_OK;
}

/* ---- names ------------------------------------------------------------------ */

const char *clo_event_name(clo_event_kind kind)
{
    switch (kind) {
    case CLO_EVENT_GAUSSIAN:
        return "gaussian";
    case CLO_EVENT_EXPONENTIAL:
        return "exponential";
    case CLO_EVENT_PURE:
        return "pure";
    case CLO_EVENT_APPROXIMATE:
        return "approximate";
    }
    return NULL;
}

/* ---- one method by its name ------------------------------------------------ */

/* "mixed" has two ways, of which the better counts. */
static const clo_i_accounting *const COMPARED[][2] = {
    { &clo_i_naive, NULL },          { &clo_i_advanced, NULL },
    { &clo_i_renyi, NULL },          { &clo_i_mixed_shift, &clo_i_mixed_gdp },
    { &clo_i_pld_accounting, NULL }, { &clo_i_gaussian_exact, NULL },
};
enum { COMPARED_COUNT = sizeof COMPARED / sizeof *COMPARED };

const char *clo_accounting_name(size_t i)
{
    return i < COMPARED_COUNT ? COMPARED[i][0]->name : NULL;
}

static clo_status find_compared(const char *name, size_t *out, clo_error *err)
{
    for (size_t i = 0; name && i < COMPARED_COUNT; i++) {
        if (strcmp(name, COMPARED[i][0]->name)) continue;
        *out = i;
        return CLO_OK;
    }
    return clo_i_fail(err, CLO_ARGUMENT,
                      "there is no accounting of that name: there are basic, advanced, renyi, "
                      "mixed, pld and gaussian-exact");
}

static clo_status compare(const clo_i_composition *list, mpfr_srcptr left, size_t which,
                          clo_comparison *out, clo_error *err)
{
    out->accounting = COMPARED[which][0]->name;
    out->epsilon = list->gaussian || list->other ? INFINITY : 0;
    out->lower = 0;
    for (size_t i = 0; i < 2 && COMPARED[which][i]; i++)
        if (COMPARED[which][i]->applies(list))
            out->epsilon = fmin(out->epsilon, COMPARED[which][i]->epsilon(list, left));
    if (COMPARED[which][0] == &clo_i_gaussian_exact && isfinite(out->epsilon))
        out->lower = clo_i_just_below(out->epsilon);
    if (COMPARED[which][0] != &clo_i_pld_accounting) return CLO_OK;
    return clo_i_pld_epsilon_below(list, left, &out->lower, err);
}

clo_status clo_price_by(const char *accounting, const clo_event *events, size_t count, double delta,
                        clo_comparison *out, clo_error *err)
{
    clo_i_composition list;
    clo_comparison found;
    mpfr_t left;
    size_t which = 0;
    bool starved = false;
    CLO_TRY(find_compared(accounting, &which, err));
    CLO_TRY(check_delta(delta, err));
    CLO_TRY(clo_i_composition_init(&list, events, count, err));
    list.starved = &starved;
    mpfr_init2(left, CLO_I_PRECISION);
    clo_i_delta_left(left, &list, delta);
    clo_status status = check_left(&list, left, delta, err);
    if (!status) status = compare(&list, left, which, &found, err);
    if (!status && starved) status = clo_i_starved(err);
    if (!status) *out = found;
    mpfr_clear(left);
    clo_i_composition_clear(&list);
    return status;
}
