/*
 * ledger.h - step four: spend.  A durable record of what was spent on each data
 * set.  A grant is what comes out of it, good for one run.
 */
#ifndef CLOISTER_LEDGER_H
#define CLOISTER_LEDGER_H

#include <cloister/mechanism.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct clo_ledger clo_ledger;
typedef struct clo_grant clo_grant;

/* Opens the ledger, or creates it (and its folder) where there is none. */
CLO_API CLO_CHECK clo_status clo_ledger_open(const char *path, clo_ledger **out, clo_error *err);
/* Opens a ledger that exists, for reading. */
CLO_API CLO_CHECK clo_status clo_ledger_open_existing(const char *path, clo_ledger **out,
                                                      clo_error *err);
/* The user's own: $XDG_STATE_HOME/cloister/ledger.db or ~/.local/state/cloister/ledger.db. */
CLO_API CLO_CHECK clo_status clo_ledger_default_path(char *path, size_t size, clo_error *err);
CLO_API void clo_ledger_close(clo_ledger *ledger);

/* Names a data set and caps what may ever be spent on it.  A name can be declared once. */
CLO_API CLO_CHECK clo_status clo_ledger_declare(clo_ledger *ledger, const char *dataset,
                                                clo_loss cap, clo_error *err);

/* Records the plan's budget against the named data set, durably, and then gives the
 * grant: a run that dies half way has still spent it.  A data set that was not declared
 * is recorded without a cap.  CLO_BUDGET where the cap does not cover it: nothing is spent. */
CLO_API CLO_CHECK clo_status clo_ledger_spend(clo_ledger *ledger, const char *dataset,
                                              const clo_plan *plan, clo_grant **out,
                                              clo_error *err);
/* For a caller that accounts elsewhere; the release says "not metered". */
CLO_API CLO_CHECK clo_status clo_grant_unmetered(const clo_plan *plan, clo_grant **out,
                                                 clo_error *err);
CLO_API void clo_grant_free(clo_grant *grant);

typedef struct clo_account {
    const char *dataset; /* valid during the callback */
    bool capped;
    clo_loss cap;
    clo_loss spent; /* sums of the charges' epsilons and deltas */
    clo_loss left;  /* an epsilon that a run at the cap's delta could still ask; 0 without a cap */
    uint64_t charges;
    int64_t created;     /* seconds since 1970 */
    int64_t last_charge; /* 0: none */
} clo_account;

/* Calls visit for each data set by name, or for the named one alone; false stops. */
CLO_API CLO_CHECK clo_status clo_ledger_accounts(clo_ledger *ledger, const char *dataset,
                                                 bool (*visit)(void *user,
                                                               const clo_account *account),
                                                 void *user, clo_error *err);

typedef struct clo_charge {
    const char *dataset; /* valid during the callback */
    const char *mechanism;
    const char *relation;
    clo_loss loss;
    uint64_t sequence;
    int64_t time; /* seconds since 1970 */
} clo_charge;

/* Calls visit for each charge in order. */
CLO_API CLO_CHECK clo_status clo_ledger_history(clo_ledger *ledger, const char *dataset,
                                                bool (*visit)(void *user, const clo_charge *charge),
                                                void *user, clo_error *err);
/* Checks schema, totals and the chain of hashes from the first charge on.  CLO_LEDGER where
 * something does not fit, with what and where. */
CLO_API CLO_CHECK clo_status clo_ledger_verify(clo_ledger *ledger, clo_error *err);

#ifdef __cplusplus
}
#endif
#endif
