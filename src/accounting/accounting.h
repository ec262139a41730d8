/*
 * accounting.h (internal) - what lists of events cost in additive integer units, for those who add
 * them up.
 */
#ifndef CLO_ACCOUNTING_INTERNAL_H
#define CLO_ACCOUNTING_INTERNAL_H

#include "base/base.h"
#include <cloister/privacy.h>

/* What a list of events costs in the ledger's additive integer units, rounded up. */
typedef struct clo_units {
    uint64_t rho;     /* zCDP, in 2^-48 */
    uint64_t epsilon; /* in 2^-48: the sum of the asked-for epsilons */
    uint64_t delta;   /* in 2^-62 */
} clo_units;

/* The zCDP rho of the events together, in units of 2^-48, rounded up, plus the deltas of their
 * approximate parts in `delta`. UINT64_MAX: too large to say. */
CLO_CHECK clo_status clo_i_events_rho(const clo_event *events, size_t count, uint64_t *rho,
                                      uint64_t *delta, clo_error *err);
/* The largest rho, in units of 2^-48 and rounded down, that the cap (epsilon, delta) allows. */
CLO_CHECK clo_status clo_i_capacity_rho(clo_loss cap, uint64_t *rho, clo_error *err);
uint64_t clo_i_epsilon_units(double epsilon, bool up); /* 2^-48; saturates */
uint64_t clo_i_delta_units(double delta, bool up);     /* 2^-62 */

#endif
