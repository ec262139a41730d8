/*
 * broker.h (internal) - what the files of the broker share.
 *
 *   message.c   headers and settings: the only bytes of an analyst that are ever parsed
 *   policy.c    the steward's file, as lines of sections
 *   permit.c    may this be asked?  From policy, message and plan alone
 *   answer_question.c     the run, and what of its end the analyst is told
 *   allowances.c caps of analysts, before the first question
 *   client.c      the analyst's side of the socket
 */
#ifndef CLO_BROKER_H
#define CLO_BROKER_H

#include "base/base.h"
#include <cloister/broker.h>
#include <limits.h>

enum { BROKER_NAME = 200, BROKER_SETTINGS = 32 };

typedef struct clo_i_setting {
    char *name, *value;
} clo_i_setting;

/* A data set, and what may be asked of it. */
typedef struct clo_i_served {
    char name[BROKER_NAME + 1];
    char *families;                        /* blanks between them */
    double epsilon_at_most, delta_at_most; /* of one run; infinite, 1: not limited */
    bool needs_purpose, fixed_columns;
    clo_i_setting settings[BROKER_SETTINGS]; /* of each of its jobs: the steward's */
    size_t setting_count;
} clo_i_served;

/* What one analyst may spend on one data set, ever. */
typedef struct clo_i_allowance {
    char analyst[BROKER_NAME + 1], dataset[BROKER_NAME + 1];
    clo_loss cap;
} clo_i_allowance;

struct clo_policy {
    char *ledger;
    double tick, patience;
    uint32_t workers, waiting;
    uint32_t share; /* of the workers, for one analyst; 0: not said */
    uint32_t ticks_at_most;
    clo_i_served *served;
    size_t served_count;
    clo_i_allowance *allowances;
    size_t allowance_count;
};

const clo_i_served *clo_i_policy_dataset(const clo_policy *policy, const char *name);
const clo_i_allowance *clo_i_policy_allowance(const clo_policy *policy, const char *analyst,
                                              const char *dataset);
/* The name of what an analyst may spend on a data set, in the ledger. */
CLO_CHECK clo_status clo_i_policy_account(const char *analyst, const char *dataset,
                                          char out[BROKER_NAME + 1], clo_error *err);

/* A message that the policy allows. */
typedef struct clo_i_permit {
    const clo_i_served *served;
    const clo_i_allowance *allowance;
    const char *mechanism;       /* for the log; NULL: not said */
    char token[BROKER_NAME + 1]; /* "": none */
    char account[BROKER_NAME + 1];
} clo_i_permit;

/* Refuses with a sentence that may be told. */
CLO_CHECK clo_status clo_i_permit_check(const clo_policy *policy, const char *analyst,
                                        const clo_setting *settings, size_t count,
                                        clo_i_permit *out, clo_error *err);
/* The same of what would be charged: a preset may have taken the place of what was not said. */
CLO_CHECK clo_status clo_i_permit_check_plan(const clo_i_permit *permit, const clo_plan *plan,
                                             clo_error *err);
/* Whether an analyst may say this setting; the mechanism's parameters are always theirs. */
bool clo_i_permit_may_say(const char *name);

#endif
