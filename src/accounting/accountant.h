/*
 * accountant.h - what the files of the accountant share.
 *
 * A composition is a checked list of events with the sums that every method needs.  A method
 * (clo_i_accounting) bounds what a composition costs; each has a file of its own and a row in
 * the table of price.c, and the price is the least of the bounds.  A new method is one file
 * and one row.
 *
 * Every quantity below is a bound on the safe side (proofs/accounting.md, T12): a loss is
 * never below the true one.  The arithmetic is MPFR with the rounding named at each operation;
 * doubles are exact inputs, certified results, or hints (a Renyi order, where a search starts)
 * whose quality decides how tight a bound is and never whether it holds.
 */
#ifndef CLO_ACCOUNTANT_H
#define CLO_ACCOUNTANT_H

#include "accounting/accounting.h"
#define MPFR_USE_INTMAX_T /* counts are 64 bits wide everywhere */
#include <mpfr.h>

/* Bits of the numbers that are handed around.  The square of a double times a 64-bit count is
 * exact in it; the cancelling differences raise their own precision above it. */
enum { CLO_I_PRECISION = 256 };

typedef struct clo_i_composition {
    const clo_event *events; /* borrowed */
    size_t count;
    bool gaussian;  /* some Gaussian event costs something */
    bool other;     /* some other event does */
    mpfr_t square;  /* sum of count * mu^2 over the Gaussian events */
    mpfr_t epsilon; /* sum of count * epsilon over the others */
    mpfr_t reveal;  /* the probability that an approximate event gives everything away */
    mpfr_exp_t least_exponent, largest_exponent; /* this thread's, to be put back */
    bool *starved; /* where it is set: told that a method found no memory and said nothing */
} clo_i_composition;

/* CLO_ARGUMENT, and nothing to clear, where an event is not one.  Between init and clear the
 * thread's exponents range as far as MPFR allows, so that e^epsilon is a number for every epsilon
 * below 10^18, whatever the program around has set. */
CLO_CHECK clo_status clo_i_composition_init(clo_i_composition *list, const clo_event *events,
                                            size_t count, clo_error *err);
void clo_i_composition_clear(clo_i_composition *list);
/* This thread goes on asking: what MPFR has found for it, such as pi, is kept until the last who
 * holds it lets go.  A list holds it by itself. */
void clo_i_hold_constants(void);
void clo_i_release_constants(void);
/* The delta that is left for all but the reveals, rounded down; negative: there is none. */
void clo_i_delta_left(mpfr_ptr out, const clo_i_composition *list, double delta);

/* CLO_MEMORY, in words. */
clo_status clo_i_starved(clo_error *err);

/* One way to bound a composition in which no approximate event has revealed anything. */
typedef struct clo_i_accounting {
    const char *name;
    bool exact;   /* where it applies, no bound is lower */
    bool costly;  /* takes milliseconds: a search asks it seldom */
    bool least;   /* epsilon is the least that delta() brings to what is asked */
    double slack; /* how far, relative, hints may move epsilon: a lesser loss may be priced that
                     much higher, never below the truth */
    bool (*applies)(const clo_i_composition *list);
    /* An epsilon that this delta (0 or more) pays for; INFINITY where the method knows none. */
    double (*epsilon)(const clo_i_composition *list, mpfr_srcptr delta);
    /* A delta that this epsilon leaves; 1 where the method knows nothing better. */
    void (*delta)(mpfr_ptr out, const clo_i_composition *list, double epsilon);
    /* log of that delta in double, many times faster, and how far it may be off; NAN where nobody
     * knows.  NULL: there is none. */
    double (*log_delta_near)(const clo_i_composition *list, double epsilon, double *error);
} clo_i_accounting;

extern const clo_i_accounting clo_i_gaussian_exact; /* gaussian_exact.c */
extern const clo_i_accounting clo_i_basic;          /* basic.c */
extern const clo_i_accounting clo_i_renyi;          /* renyi.c */
extern const clo_i_accounting clo_i_mixed_shift;    /* mixed.c */
extern const clo_i_accounting clo_i_mixed_gdp;      /* mixed.c */
extern const clo_i_accounting clo_i_pld_accounting; /* pld.c */
/* For comparison; they have no delta and are in no table of price.c that a price comes from. */
extern const clo_i_accounting clo_i_naive;    /* textbook.c */
extern const clo_i_accounting clo_i_advanced; /* textbook.c */

/* The methods in the order in which they are asked, which also settles ties. */
const clo_i_accounting *clo_i_accounting_at(size_t i); /* NULL after the last */

/* ---- Gaussian profiles (gaussian_exact.c) -------------------------------- */

/* Upper and lower bounds of P[N(0,1) > x], for x taken as exact. */
void clo_i_normal_tail_up(mpfr_ptr out, mpfr_srcptr x);
void clo_i_normal_tail_down(mpfr_ptr out, mpfr_srcptr x);
/* delta(epsilon) of a Gaussian pair whose squared mean is at most `square`, from above. */
void clo_i_gaussian_delta(mpfr_ptr out, mpfr_srcptr square, mpfr_srcptr epsilon);
/* The least double that clo_i_gaussian_delta brings to delta. */
double clo_i_gaussian_epsilon(mpfr_srcptr square, mpfr_srcptr delta);
/* A hint, not a bound: log delta of this mu in double, good to 10^-9; NAN where it may not be. */
double clo_i_gaussian_log_delta_near(double mu, double epsilon);
/* A hint, not a bound: the mu that costs about (epsilon, delta). */
double clo_i_gaussian_mu_near(double epsilon, mpfr_srcptr delta);

/* ---- Renyi orders (renyi.c) ---------------------------------------------- */

/* Where the bound, given log(alpha - 1), is least; a hint, found in double. */
double clo_i_best_order(double (*bound)(double log_beta, const void *context), const void *context);
/* An order alpha = 1 + beta; beta is exact, alpha lies between its two neighbours. */
typedef struct clo_i_order {
    mpfr_t beta, up, down;
} clo_i_order;
void clo_i_order_init(clo_i_order *order, double log_beta);
void clo_i_order_clear(clo_i_order *order);
/* alpha log(1 - 1/alpha), rounded up. */
void clo_i_order_tail_up(mpfr_ptr out, const clo_i_order *order);

/* The zCDP parameter of one ask of an event, rounded up. */
void clo_i_event_rho_up(mpfr_ptr out, const clo_event *event);

/* ---- search (search.c) --------------------------------------------------- */

/* The least double x >= 0 that is enough, where all above an enough one are: enough(x) was
 * seen true, and false just below.  INFINITY where no finite one is.  A near guess is quick. */
double clo_i_search_least(bool (*enough)(double x, void *context), void *context, double guess);
/* The double just below a positive one. */
double clo_i_just_below(double x);

#endif
