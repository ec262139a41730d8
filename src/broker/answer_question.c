/*
 * answer_question.c - the run that an analyst asked for, and what they are told of its end.
 *
 * Two texts come out.  The log is the steward's, and says what happened.  The answer is the
 * analyst's, and may depend on the policy, on their own message, on the ledger's books (which are a
 * function of what was asked) and on noise; on nothing else.  So a step's own words are passed on
 * only where the step has not seen the data: the settings, the plan that is made without data, the
 * refusal of a cap.  Every other failure has one fixed sentence and one code for each side of the
 * charge, whatever went wrong.
 *
 * Text in a cell, missing cells, too few records: none of them ends a run here (text-columns is
 * "missing", and "missing = refuse" is no policy), so that the fixed sentence is said where the
 * file cannot be read as a table, and not because of what a record says (SECURITY.md).
 */
#include "broker/broker.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define NO_POLICY "the broker's policy cannot be applied; the steward's log has the cause"
#define UNPREPARED                                                                                 \
    "the run could not be prepared, because a column does not exist or the data cannot be read; "  \
    "the steward's log has the cause; nothing was spent"
#define UNSPENT  "the ledger could not be charged now; the steward's log has the cause"
#define UNUSABLE "the token cannot be used for this run: choose another one"
#define FAILED   "the run failed after the charge, which stays; the steward's log has the cause"

typedef struct asked {
    const clo_policy *policy;
    const char *analyst;
    clo_setting settings[CLO_MESSAGE_SETTINGS];
    size_t count;
    clo_i_permit permit;
    clo_job *job;
    char told[sizeof((clo_error *)0)->message]; /* what the analyst is told; "": nothing is wrong */
    clo_status status;
} asked;

/* Public: the step has seen nothing of the data. */
static clo_status tell(asked *a, clo_status status, const clo_error *why)
{
    a->status = status;
    snprintf(a->told, sizeof a->told, "%s", why->message);
    return status;
}

/* Whatever it was, this is what is said. */
static clo_status tell_fixed(asked *a, clo_status as, const char *sentence)
{
    a->status = as;
    snprintf(a->told, sizeof a->told, "%s", sentence);
    return as;
}

/* A '/' that does not stand between the two words of a mechanism. */
static bool names_a_path(const char *words)
{
    for (const char *at = words; (at = strchr(at, '/')); at++)
        if (at == words || !isalnum((unsigned char)at[-1])) return true;
    return false;
}

/* Public too, but for the places of the steward's files. */
static clo_status tell_of_plan(asked *a, clo_status status, const clo_error *why)
{
    return names_a_path(why->message) ? tell_fixed(a, CLO_INTERNAL, NO_POLICY)
                                      : tell(a, status, why);
}

/* ---- settings --------------------------------------------------------------------- */

static clo_status set_stewards(asked *a, clo_error *err)
{
    const clo_i_served *const served = a->permit.served;
    for (size_t i = 0; i < served->setting_count; i++)
        CLO_TRY(clo_job_set(a->job, served->settings[i].name, served->settings[i].value, err));
    CLO_TRY(clo_job_set(a->job, "text-columns", "missing", err));
    CLO_TRY(clo_job_set(a->job, "ledger", a->policy->ledger, err));
    CLO_TRY(clo_job_set(a->job, "dataset", served->name, err));
    return clo_job_charge_for(a->job, a->analyst, a->permit.account, err);
}

static clo_status set_analysts(asked *a, clo_error *err)
{
    for (size_t i = 0; i < a->count; i++) {
        const bool is_token = strcmp(a->settings[i].name, "token") == 0;
        CLO_TRY(clo_job_set(a->job, a->settings[i].name,
                            is_token ? a->permit.token : a->settings[i].value, err));
    }
    return CLO_OK;
}

/* Where the columns are known without the data, all that is wrong with a plan can be said. */
static bool plans_alone(const clo_i_served *served)
{
    for (size_t i = 0; i < served->setting_count; i++)
        if (strcmp(served->settings[i].name, "cols") == 0 ||
            (strcmp(served->settings[i].name, "bounds") == 0 &&
             served->settings[i].value[0] == '/'))
            return true;
    return false;
}

static bool is_plain(const char *mechanism)
{
    return mechanism[strspn(mechanism, "abcdefghijklmnopqrstuvwxyz0123456789/_-")] == 0;
}

/* ---- steps ------------------------------------------------------------------------ */

static clo_status before_the_data(asked *a, const char *bytes, size_t length, clo_error *err)
{
    const clo_plan *plan = NULL;
    clo_status status = clo_message_decode(bytes, length, a->settings, &a->count, err);
    if (!status)
        status = clo_i_permit_check(a->policy, a->analyst, a->settings, a->count, &a->permit, err);
    if (status) return tell(a, status, err);
    status = set_stewards(a, err);
    if (status) return tell_fixed(a, CLO_INTERNAL, NO_POLICY);
    if ((status = set_analysts(a, err)) || (status = clo_job_check(a->job, err)))
        return tell_of_plan(a, status, err);
    if (!plans_alone(a->permit.served)) return CLO_OK;
    if ((status = clo_job_plan(a->job, &plan, err)) ||
        (status = clo_i_permit_check_plan(&a->permit, plan, err)))
        return tell_of_plan(a, status, err);
    return CLO_OK;
}

static clo_status with_the_data(asked *a, clo_error *err)
{
    const clo_plan *plan = NULL;
    bool found = false;
    clo_status status;
    if (clo_job_prepare(a->job, err) || clo_job_plan(a->job, &plan, err))
        return tell_fixed(a, CLO_FORMAT, UNPREPARED);
    /* The plan follows from public facts, with the number of rows where that is one. */
    if ((status = clo_i_permit_check_plan(&a->permit, plan, err))) return tell(a, status, err);
    if (clo_job_fetch(a->job, &found, err)) return tell_fixed(a, CLO_ARGUMENT, UNUSABLE);
    if (found) return CLO_OK;
    status = clo_job_spend(a->job, err);
    if (status == CLO_BUDGET) return tell(a, status, err); /* caps, charges and public numbers */
    if (status) return tell_fixed(a, CLO_LEDGER, UNSPENT);
    if (clo_job_run(a->job, err) || clo_job_store(a->job, err))
        return tell_fixed(a, CLO_INTERNAL, FAILED);
    return CLO_OK;
}

/* ---- what comes out ------------------------------------------------------------------ */

static clo_status give(asked *a, const clo_error *why, clo_answer *out, clo_error *err)
{
    clo_answer answer = { .status = a->status };
    size_t length = 0;
    const char *const json = a->status ? NULL : clo_job_json(a->job, &length);
    const char *const trouble = a->status ? NULL : clo_job_trouble(a->job);
    const char *const mechanism = a->permit.mechanism;
    answer.length = json ? length : strlen(a->told);
    CLO_TRY(clo_i_alloc(answer.length + 1, 1, &answer.bytes, err));
    memcpy(answer.bytes, json ? json : a->told, answer.length);
    snprintf(answer.log, sizeof answer.log, "%.100s asked %.60s on %.100s: %s%s%.400s", a->analyst,
             mechanism && is_plain(mechanism) ? mechanism : "?", /* no sentences of the analyst's */
             a->permit.served ? a->permit.served->name : "?", clo_status_text(a->status),
             a->status || trouble ? ": " : "",
             a->status ? why->message
             : trouble ? trouble
                       : "");
    clo_i_give_result(out, &answer, sizeof answer);
    return CLO_OK;
}

clo_status clo_policy_answer(const clo_policy *policy, const char *analyst, const char *bytes,
                             size_t length, clo_answer *out, clo_error *err)
{
    asked a = { .policy = policy, .analyst = analyst };
    clo_error why = { .message = "" };
    CLO_TRY(clo_i_check_result("clo_answer", out, err));
    CLO_TRY(clo_job_new(&a.job, err));
    if (before_the_data(&a, bytes, length, &why) == CLO_OK) (void)!with_the_data(&a, &why);
    const clo_status status = give(&a, &why, out, err);
    clo_job_free(a.job);
    return status;
}
