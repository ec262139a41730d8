/*
 * allowances.c - before the first question: what each analyst may spend becomes an account of the
 * ledger, with a cap that holds as every cap does (ledger.T16).
 *
 * The policy is a file that is edited, and a cap does not grow.  What the policy has lowered is
 * lowered; what it has raised is refused, since what an analyst has learnt cannot be raised back.
 */
#include "broker/broker.h"
#include <cloister/steward.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct found {
    bool there;
    bool lowered;
    clo_loss cap;
} found;

static bool note(void *user, const clo_account *account)
{
    found *const f = user;
    f->there = account->capped;
    f->cap = account->lowered ? account->limit : account->cap;
    return false;
}

static bool is_declared(clo_ledger *ledger, const char *name, found *f)
{
    f->there = false;
    (void)!clo_ledger_accounts(ledger, name, note, f, NULL); /* CLO_ARGUMENT: there is none */
    return f->there;
}

static clo_status declare(clo_ledger *ledger, const clo_i_allowance *allowance, clo_error *err)
{
    char name[BROKER_NAME + 1];
    found f;
    CLO_TRY(clo_i_policy_account(allowance->analyst, allowance->dataset, name, err));
    if (!is_declared(ledger, name, &f)) {
        clo_error why;
        const clo_status status = clo_ledger_declare(ledger, name, allowance->cap, &why);
        if (!status) return CLO_OK;
        /* A second broker of this ledger may have declared it just now: then its cap counts. */
        if (!is_declared(ledger, name, &f)) return clo_i_fail(err, status, "%s", why.message);
    }
    if (allowance->cap.epsilon == f.cap.epsilon && allowance->cap.delta == f.cap.delta)
        return CLO_OK;
    if (allowance->cap.epsilon > f.cap.epsilon || allowance->cap.delta > f.cap.delta)
        return clo_i_fail(err, CLO_LEDGER,
                          "the policy gives '%.80s' more of '%.80s' than before (epsilon %g, "
                          "delta %g), but a cap cannot be raised",
                          allowance->analyst, allowance->dataset, f.cap.epsilon, f.cap.delta);
    return clo_ledger_lower(ledger, name, allowance->cap, "the policy was changed", err);
}

static clo_status check_files(const clo_i_served *served, clo_error *err)
{
    char why[128];
    for (size_t i = 0; i < served->setting_count; i++) {
        const clo_i_setting *const setting = &served->settings[i];
        if (setting->value[0] != '/' || access(setting->value, R_OK) == 0) continue;
        return clo_i_fail(err, CLO_IO, "%.160s of the data set '%.80s' cannot be read: %s",
                          setting->value, served->name, strerror_r(errno, why, sizeof why));
    }
    return CLO_OK;
}

clo_status clo_policy_prepare(const clo_policy *policy, clo_error *err)
{
    clo_ledger *ledger = NULL;
    clo_ledger_facts facts = { .struct_size = sizeof facts };
    CLO_TRY(clo_ledger_open(policy->ledger, &ledger, err));
    clo_status status = clo_ledger_describe(ledger, &facts, err);
    if (!status && !facts.closed)
        status = clo_i_fail(err, CLO_LEDGER,
                            "the ledger %.160s is open, and a broker needs a closed one: make one "
                            "with 'cloister ledger init'",
                            policy->ledger);
    for (size_t i = 0; !status && i < policy->served_count; i++) {
        status = clo_ledger_check_dataset(ledger, policy->served[i].name, err);
        if (!status) status = check_files(&policy->served[i], err);
    }
    for (size_t i = 0; !status && i < policy->allowance_count; i++)
        status = declare(ledger, &policy->allowances[i], err);
    clo_ledger_close(ledger);
    return status;
}
