/*
 * permit.c - may this analyst ask this?
 *
 * From the policy, the message and the plan only, so that a refusal tells nothing that is not
 * public.  The table of settings says which of them an analyst may set; every other one is the
 * steward's, and a new one is so until its row says otherwise.  Parameters of a mechanism are
 * numbers and choices, and always the analyst's.
 */
#include "broker/broker.h"
#include <stdio.h>
#include <string.h>

static const clo_setting_info *setting_named(const char *name)
{
    const clo_setting_info *row;
    for (size_t i = 0; (row = clo_job_setting(i)); i++)
        if (strcmp(row->name, name) == 0) return row;
    return NULL;
}

bool clo_i_permit_may_say(const char *name)
{
    const clo_setting_info *const row = setting_named(name);
    return row && row->analyst;
}

static const char *value_of(const clo_setting *settings, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(settings[i].name, name) == 0) return settings[i].value;
    return NULL;
}

static clo_status check_names(const clo_setting *settings, size_t count, clo_error *err)
{
    for (size_t i = 0; i < count; i++)
        if (setting_named(settings[i].name) && !clo_i_permit_may_say(settings[i].name))
            return clo_i_fail(err, CLO_ARGUMENT, "'%.64s' is set by the steward: leave it out",
                              settings[i].name);
    return CLO_OK;
}

/* The family of these bytes, a name or an alias of it; NULL: none. */
static const char *family_of(const char *name, size_t length)
{
    char text[64];
    if (length == 0 || length >= sizeof text) return NULL;
    snprintf(text, sizeof text, "%.*s", (int)length, name);
    const clo_mechanism *const found = clo_mechanism_find(text);
    return found ? clo_mechanism_family(found) : NULL;
}

static clo_status check_family(const clo_i_served *served, const char *mechanism, clo_error *err)
{
    const char *const asked = mechanism ? family_of(mechanism, strcspn(mechanism, "/")) : NULL;
    for (const char *at = served->families; asked && *at;) {
        at += strspn(at, " ,\t");
        const size_t here = strcspn(at, " ,\t");
        const char *const allowed = family_of(at, here);
        if (allowed && strcmp(allowed, asked) == 0) return CLO_OK;
        at += here;
    }
    return clo_i_fail(err, CLO_ARGUMENT, "on '%.100s' you may run: %.200s", served->name,
                      served->families);
}

static clo_status check_most(const clo_i_served *served, const char *name, const char *text,
                             double most, clo_error *err)
{
    double value;
    const char *const end = text ? clo_i_parse_double(text, &value) : NULL;
    if (!end || *end || !(value >= 0))
        return clo_i_fail(err, CLO_ARGUMENT, "give %s, as a number", name);
    if (value <= most) return CLO_OK;
    return clo_i_fail(err, CLO_BUDGET, "a run on '%.100s' may have at most %s %g", served->name,
                      name, most);
}

static clo_status check_budget(const clo_i_served *served, const clo_setting *settings,
                               size_t count, clo_error *err)
{
    const char *const delta = value_of(settings, count, "delta");
    CLO_TRY(check_most(served, "epsilon", value_of(settings, count, "epsilon"),
                       served->epsilon_at_most, err));
    if (!delta) return CLO_OK; /* a preset takes its place, which the plan has */
    return check_most(served, "delta", delta, served->delta_at_most, err);
}

/* What was asked for is one thing, and what will be charged the one that counts. */
clo_status clo_i_permit_check_plan(const clo_i_permit *permit, const clo_plan *plan, clo_error *err)
{
    const clo_i_served *const served = permit->served;
    const clo_loss spent = clo_plan_budget(plan);
    CLO_TRY(check_family(served, clo_mechanism_family(clo_plan_mechanism(plan)), err));
    if (!(spent.epsilon <= served->epsilon_at_most))
        return clo_i_fail(err, CLO_BUDGET,
                          "a run on '%.100s' may spend at most epsilon %g, and this one would "
                          "spend %g",
                          served->name, served->epsilon_at_most, spent.epsilon);
    if (!(spent.delta <= served->delta_at_most))
        return clo_i_fail(err, CLO_BUDGET,
                          "a run on '%.100s' may spend at most delta %g, and this one would spend "
                          "%g: give a smaller delta",
                          served->name, served->delta_at_most, spent.delta);
    return CLO_OK;
}

/* A token is its analyst's: another one neither fetches the release nor blocks the name. */
static clo_status name_token(const char *analyst, const char *token, char out[BROKER_NAME + 1],
                             clo_error *err)
{
    out[0] = 0;
    if (!token) return CLO_OK;
    /* The first ':' ends the analyst's name, which has none (check_name of policy.c). */
    const int length = snprintf(out, BROKER_NAME + 1, "%s:%s", analyst, token);
    if (token[0] && length <= BROKER_NAME) return CLO_OK;
    return clo_i_fail(err, CLO_ARGUMENT, "a token must have 1 to 100 bytes");
}

clo_status clo_i_permit_check(const clo_policy *policy, const char *analyst,
                              const clo_setting *settings, size_t count, clo_i_permit *out,
                              clo_error *err)
{
    const char *const dataset = value_of(settings, count, "dataset");
    const char *const purpose = value_of(settings, count, "purpose");
    clo_i_permit permit = { .mechanism = value_of(settings, count, "mechanism") };
    *out = permit;
    CLO_TRY(check_names(settings, count, err));
    if (!dataset) return clo_i_fail(err, CLO_ARGUMENT, "give dataset, the name of the data set");
    permit.served = clo_i_policy_dataset(policy, dataset);
    permit.allowance = clo_i_policy_allowance(policy, analyst, dataset);
    if (!permit.served || !permit.allowance)
        return clo_i_fail(err, CLO_ARGUMENT, "there is no data set '%.100s' that you may run on",
                          dataset);
    CLO_TRY(check_family(permit.served, permit.mechanism, err));
    CLO_TRY(check_budget(permit.served, settings, count, err));
    if (permit.served->needs_purpose && (!purpose || !purpose[0]))
        return clo_i_fail(err, CLO_ARGUMENT, "give purpose: what the release is for");
    if (permit.served->fixed_columns && value_of(settings, count, "columns"))
        return clo_i_fail(err, CLO_ARGUMENT,
                          "the columns of '%.100s' are set by the steward: "
                          "leave columns out",
                          dataset);
    CLO_TRY(name_token(analyst, value_of(settings, count, "token"), permit.token, err));
    CLO_TRY(clo_i_policy_account(analyst, dataset, permit.account, err));
    *out = permit;
    return CLO_OK;
}
