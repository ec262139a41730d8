/*
 * privacy.h - losses, and what a list of them costs together.
 *
 * All numbers that leave this file are rounded toward more loss: a price is
 * never below the true one, a calibrated noise level never too small.
 */
#ifndef CLOISTER_PRIVACY_H
#define CLOISTER_PRIVACY_H

#include <cloister/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A guarantee: (epsilon, delta)-differential privacy.  delta 0 is pure.  Frozen. */
typedef struct clo_loss {
    double epsilon;
    double delta;
} clo_loss;

/* How far the proof reaches down to the machine. */
typedef enum clo_guarantee {
    CLO_EXACT = 1,     /* proven for the arithmetic that runs */
    CLO_IDEALIZED = 2, /* proven for real numbers, run in floating point */
    CLO_ASYMPTOTIC = 3 /* proven for the limit of a Markov chain only */
} clo_guarantee;

CLO_API const char *clo_guarantee_name(clo_guarantee guarantee); /* "exact" … */

/* What is known of the privacy of one thing that happens to the data. */
typedef enum clo_event_kind {
    CLO_EVENT_GAUSSIAN = 1,    /* parameter mu: sensitivity over standard deviation */
    CLO_EVENT_EXPONENTIAL = 2, /* parameter epsilon: exponential mechanism, epsilon-bounded-range */
    CLO_EVENT_PURE = 3,        /* parameter epsilon: any epsilon-DP mechanism */
    CLO_EVENT_APPROXIMATE = 4  /* parameter epsilon, and delta: any (epsilon, delta)-DP mechanism */
} clo_event_kind;

CLO_API const char *clo_event_name(clo_event_kind kind); /* "gaussian" …; NULL: no kind */

/* One thing that happens to the data, `count` times.  Frozen: callers have arrays of them. */
typedef struct clo_event {
    clo_event_kind kind;
    double parameter;
    double delta; /* of CLO_EVENT_APPROXIMATE, 0 otherwise */
    uint64_t count;
} clo_event;

/* What a list of events costs: the least of the bounds that apply, and its name, which is the
 * library's.  Frozen. */
typedef struct clo_price {
    clo_loss loss;
    const char *accounting; /* "gaussian-exact", "renyi", "basic", "mixed", "pld" */
} clo_price;

/* The least epsilon at this delta.  CLO_ARGUMENT where there is none (Gaussian events
 * at delta 0, or more delta spent than given) and for an unknown kind of event. */
CLO_API CLO_CHECK clo_status clo_price_epsilon(const clo_event *events, size_t count, double delta,
                                               clo_price *out, clo_error *err);
/* The least delta at this epsilon; at most 1. */
CLO_API CLO_CHECK clo_status clo_price_delta(const clo_event *events, size_t count, double epsilon,
                                             clo_price *out, clo_error *err);
/* The largest factor by which every event's parameter may be multiplied so that the
 * list costs at most the budget.  (The delta of an event is not scaled.)  CLO_ARGUMENT where no
 * factor does that, or where nothing is there to be scaled. */
CLO_API CLO_CHECK clo_status clo_calibrate(const clo_event *events, size_t count, clo_loss budget,
                                           double *factor, clo_error *err);

/* What one way of adding up says about a list, for comparison.  Frozen. */
typedef struct clo_comparison {
    const char *accounting; /* its name */
    double epsilon;         /* INFINITY where it does not know this kind of list */
    double lower; /* below which no finer grid, no more digits would bring it; 0: not known */
} clo_comparison;

/* The names to compare by, from the crudest to the finest; NULL after the last:
 *   basic           epsilons and deltas add; a Gaussian event counts with the exact epsilon of
 *                   its equal share of delta
 *   advanced        the same events, half of delta for a bound on the deviation of their sum
 *   renyi           Renyi divergences add, order by order (zCDP, bounded range)
 *   mixed           Gaussian events exactly, the others as a shift or as their Gaussian equals
 *   pld             the privacy loss distribution, with a lower bound
 *   gaussian-exact  Gaussian events alone */
CLO_API const char *clo_accounting_name(size_t i);
/* A price by that method alone; fails as clo_price_epsilon does, and for an unknown name.
 * clo_price_epsilon takes the least of them, but never "advanced", nor "basic" where there are
 * Gaussian events: those are for comparison. */
CLO_API CLO_CHECK clo_status clo_price_by(const char *accounting, const clo_event *events,
                                          size_t count, double delta, clo_comparison *out,
                                          clo_error *err);

#ifdef __cplusplus
}
#endif
#endif
