/*
 * calibrate.c - the least noise that a budget pays for: the largest factor on every event's
 * parameter.
 *
 * The price rises with the factor, so the factor is searched (accounting.T14).  A trial asks only
 * whether some method keeps delta at the budget's epsilon, one evaluation each, instead of
 * solving for epsilon; epsilon itself has the last word on the answer.  A costly method, the
 * tightest, is asked for epsilon at a few factors only; where it has an answer, the others are
 * asked whether they allow more.
 */
#include "accounting/accountant.h"
#include "accounting/memo.h"
#include <float.h>
#include <math.h>

typedef struct trial {
    const clo_event *events;
    size_t count;
    clo_event *scaled; /* as many, ours */
    clo_loss budget;
    mpfr_t left;     /* the delta that the reveals leave; they are not scaled */
    double log_left; /* of it, about */
    bool starved;
} trial;

/* About; -INFINITY of 0. */
static double log_of(mpfr_srcptr x)
{
    long exponent;
    const double digits = mpfr_get_d_2exp(&exponent, x, MPFR_RNDN);
    return log(digits) + (double)exponent * 0.69314718055994531;
}

/* Rounded up, so that a factor is good for a caller who multiplies in double as well. */
static bool scale_events(trial *t, double factor)
{
    mpfr_t product;
    mpfr_init2(product, 2 * DBL_MANT_DIG);
    bool finite = true;
    for (size_t i = 0; i < t->count; i++) {
        t->scaled[i] = t->events[i];
        mpfr_set_d(product, t->events[i].parameter, MPFR_RNDN);
        mpfr_mul_d(product, product, factor, MPFR_RNDN); /* both exact */
        t->scaled[i].parameter = mpfr_get_d(product, MPFR_RNDU);
        finite = finite && isfinite(t->scaled[i].parameter);
    }
    mpfr_clear(product);
    return finite;
}

/* Whether the method leaves a delta at epsilon that is paid for. */
static bool keeps_delta(const clo_i_accounting *method, const clo_i_composition *list,
                        const trial *t, double epsilon)
{
    mpfr_t delta;
    mpfr_init2(delta, CLO_I_PRECISION);
    method->delta(delta, list, epsilon);
    const bool kept = mpfr_lessequal_p(delta, t->left);
    mpfr_clear(delta);
    return kept;
}

/* The same, where a hint tells it without any doubt. */
static bool keeps_delta_quickly(const clo_i_accounting *method, const clo_i_composition *list,
                                const trial *t, double epsilon)
{
    double error = 0, excess = NAN;
    if (method->log_delta_near)
        excess = method->log_delta_near(list, epsilon, &error) - t->log_left;
    return fabs(excess) > error ? excess < 0 : keeps_delta(method, list, t, epsilon);
}

/* By its epsilon, with its slack, so that the caller finds a price within the budget for these
 * events and for any lesser ones.  An epsilon that is the least to keep delta is not looked for:
 * it is within the budget where the budget's own keeps it (accounting.T14). */
static bool keeps_epsilon(const clo_i_accounting *method, const clo_i_composition *list,
                          const trial *t)
{
    const double most = t->budget.epsilon * (1 - method->slack);
    return method->least ? mpfr_sgn(t->left) > 0 && keeps_delta(method, list, t, most)
                         : method->epsilon(list, t->left) <= most;
}

/* Whether some method keeps the budget; `finally`: by its epsilon. */
static bool some_method_affords(const clo_i_composition *list, const trial *t, bool finally)
{
    const clo_i_accounting *method;
    bool afforded = false;
    for (size_t i = 0; !afforded && (method = clo_i_accounting_at(i)); i++) {
        if (method->costly || !method->applies(list)) continue;
        afforded = finally ? keeps_epsilon(method, list, t)
                           : keeps_delta_quickly(method, list, t, t->budget.epsilon);
        if (method->exact) break;
    }
    return afforded;
}

static bool affords(trial *t, double factor, bool finally)
{
    clo_i_composition list;
    if (!scale_events(t, factor)) return false;
    if (clo_i_composition_init(&list, t->scaled, t->count, NULL) != CLO_OK) return false;
    const bool afforded = some_method_affords(&list, t, finally);
    clo_i_composition_clear(&list);
    return afforded;
}

static bool exceeds(double factor, void *context)
{
    return !affords(context, factor, false);
}

/* Where to look first: each part alone, and both as if their shares of the budget added. */
static double factor_near(const clo_i_composition *list, const trial *t)
{
    double inverse = mpfr_get_d(list->epsilon, MPFR_RNDN) / t->budget.epsilon;
    if (list->gaussian) {
        mpfr_t mu;
        mpfr_init2(mu, DBL_MANT_DIG);
        mpfr_sqrt(mu, list->square, MPFR_RNDN);
        inverse += mpfr_get_d(mu, MPFR_RNDN) / clo_i_gaussian_mu_near(t->budget.epsilon, t->left);
        mpfr_clear(mu);
    }
    return 1 / inverse;
}

/* The first of ever smaller factors that keeps the budget by its epsilon. */
static double afforded_below(trial *t, double factor, double step)
{
    for (; factor > 0 && !affords(t, factor, true); step *= 16)
        factor = clo_i_just_below(factor * fmax(1 - step, 0));
    return factor;
}

static double largest_factor(const clo_i_composition *list, trial *t)
{
    const double least = clo_i_search_least(exceeds, t, factor_near(list, t));
    return afforded_below(t, clo_i_just_below(least), 0x1p-52);
}

/* The same within a few hundredths, by a few trials, for plans that are only compared. */
static double rough_factor(const clo_i_composition *list, trial *t)
{
    const double close = 1.05, stride = 1.2;
    double good = 0, bad = INFINITY, factor = factor_near(list, t);
    for (int i = 0; i < 64 && isfinite(factor) && factor > 0 && bad > close * good; i++) {
        *(affords(t, factor, false) ? &good : &bad) = factor;
        if (isinf(bad))
            factor = good * stride;
        else
            factor = good > 0 ? sqrt(good * bad) : bad / stride;
    }
    return afforded_below(t, good, 0x1p-10);
}

/* ---- the costly methods ---------------------------------------------------- */

/* What the method says, relative to the budget. */
static double share_of_budget(trial *t, const clo_i_accounting *method, double factor)
{
    clo_i_composition list;
    double epsilon = INFINITY;
    if (!scale_events(t, factor)) return INFINITY;
    if (clo_i_composition_init(&list, t->scaled, t->count, NULL) != CLO_OK) return INFINITY;
    list.starved = &t->starved;
    if (method->applies(&list)) epsilon = method->epsilon(&list, t->left);
    clo_i_composition_clear(&list);
    return epsilon / (t->budget.epsilon * (1 - method->slack));
}

enum { MOST_TRIALS = 40 };
static const double CLOSE = 0x1p-21; /* relative: less noise than that is not worth a trial */

/* Factors that were tried, and what they cost. */
typedef struct bracket {
    double good, at_good; /* the largest that is afforded, 0: none yet */
    double bad, at_bad;   /* the least that is not, INFINITY: none yet */
} bracket;

/* The share grows like a power of the factor, nearly, and that power is at least 1: secants in the
 * logarithms, kept between a factor that is afforded and one that is not. */
static double next_factor(const bracket *b, bool halve)
{
    if (isinf(b->bad)) return b->good * fmax(1 / b->at_good, 1 + CLOSE);
    if (!(b->good > 0)) return b->bad * fmin((1 - CLOSE / 2) / b->at_bad, 0.999);
    const double power = log(b->bad / b->good) / log(b->at_bad / b->at_good);
    const double next = b->good * exp(power * log((1 - CLOSE / 2) / b->at_good));
    return next > b->good && next < b->bad && !halve ? next : b->good + (b->bad - b->good) / 2;
}

/* The largest factor that the method affords, or nearly; 0 where it knows none near the start. */
static double factor_by(trial *t, const clo_i_accounting *method, double start)
{
    bracket b = { .bad = INFINITY };
    double factor = start;
    for (int i = 0; i < MOST_TRIALS && factor > 0; i++) {
        const double share = share_of_budget(t, method, factor);
        if (share <= 1) {
            b.good = factor;
            b.at_good = share;
        } else {
            b.bad = factor;
            b.at_bad = share;
        }
        if (!isfinite(share) || b.good * (1 + CLOSE) >= b.bad) break;
        if (b.good > 0 && b.at_good >= 1 - CLOSE) break;
        factor = next_factor(&b, i % 4 == 3);
    }
    return b.good;
}

/* Where a costly method applies it has the largest factor nearly always: it is asked first, and the
 * others only whether they allow more than that, which takes one test and not a search. */
static double factor_by_all(const clo_i_composition *list, trial *t)
{
    const clo_i_accounting *method;
    double factor = 0;
    if (list->other && clo_i_memo_leaves_out()) return rough_factor(list, t);
    for (size_t i = 0; list->other && (method = clo_i_accounting_at(i)); i++)
        if (method->costly) factor = fmax(factor, factor_by(t, method, factor_near(list, t)));
    if (factor > 0 && !affords(t, factor * (1 + 2 * CLOSE), false)) return factor;
    return fmax(factor, largest_factor(list, t));
}

static clo_status check_budget(clo_loss budget, clo_error *err)
{
    if (!(budget.epsilon > 0) || !isfinite(budget.epsilon))
        return clo_i_fail(err, CLO_ARGUMENT, "epsilon must be a finite number above 0, not %g",
                          budget.epsilon);
    if (!(budget.delta >= 0 && budget.delta < 1))
        return clo_i_fail(err, CLO_ARGUMENT, "delta must be at least 0 and below 1, not %g",
                          budget.delta);
    return CLO_OK;
}

/* What no factor can mend. */
static clo_status check_list(const clo_i_composition *list, const trial *t, clo_error *err)
{
    if (mpfr_sgn(t->left) < 0)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "the approximate events spend a delta of %g themselves, more than the "
                          "budget's %g",
                          mpfr_get_d(list->reveal, MPFR_RNDU), t->budget.delta);
    if (list->gaussian && mpfr_zero_p(t->left))
        return clo_i_fail(err, CLO_ARGUMENT, "a budget for Gaussian events needs delta above %g",
                          mpfr_get_d(list->reveal, MPFR_RNDU));
    if (!list->gaussian && !list->other)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "there is nothing to scale: no event has a parameter above 0 and a "
                          "count above 0");
    return CLO_OK;
}

static clo_status calibrate(const clo_event *events, size_t count, clo_loss budget, double *factor,
                            clo_error *err)
{
    trial t = { .events = events, .count = count, .budget = budget };
    clo_i_composition list;
    CLO_TRY(check_budget(budget, err));
    CLO_TRY(clo_i_composition_init(&list, events, count, err));
    mpfr_init2(t.left, CLO_I_PRECISION);
    clo_i_delta_left(t.left, &list, budget.delta);
    t.log_left = log_of(t.left);
    clo_status status = check_list(&list, &t, err);
    if (!status) status = clo_i_alloc(count, sizeof *t.scaled, &t.scaled, err);
    if (!status) {
        const double found = factor_by_all(&list, &t);
        if (t.starved)
            status = clo_i_starved(err);
        else if (found > 0)
            *factor = found;
        else
            status = clo_i_fail(err, CLO_ARGUMENT,
                                "no factor brings these events into the budget: their parameters "
                                "are too large");
    }
    clo_i_free(t.scaled);
    mpfr_clear(t.left);
    clo_i_composition_clear(&list);
    return status;
}

clo_status clo_calibrate(const clo_event *events, size_t count, clo_loss budget, double *factor,
                         clo_error *err)
{
    clo_i_memo_question question;
    clo_i_memo_answer answer;
    const bool remembers = clo_i_memo_ask(CLO_I_MEMO_FACTOR, events, count, budget, &question);
    if (!remembers || !clo_i_memo_recall(&question, &answer)) {
        CLO_TRY(calibrate(events, count, budget, &answer.factor, err));
        if (remembers) clo_i_memo_keep(&question, answer);
    }
    *factor = answer.factor;
    return CLO_OK;
}
