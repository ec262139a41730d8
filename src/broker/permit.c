/*
 * permit.c - may this analyst ask this?
 *
 * From the policy and the message alone, so that a refusal tells nothing that is not public.  What
 * an analyst may say is listed; every other setting of a job is the steward's, and a new one is so
 * until somebody puts it here.  Parameters of a mechanism are numbers and choices, and always the
 * analyst's.
 */
#include "broker/broker.h"
#include <stdio.h>
#include <string.h>

static const char *const ANALYSTS[] = { "dataset", "mechanism", "method",           "epsilon",
                                        "delta",   "columns",   "clusters-at-most", "purpose",
                                        "token",   "yes" };

bool clo_i_permit_may_say(const char *name)
{
    for (size_t i = 0; i < sizeof ANALYSTS / sizeof *ANALYSTS; i++)
        if (strcmp(ANALYSTS[i], name) == 0) return true;
    return false;
}

static bool is_setting(const char *name)
{
    const char *known;
    for (size_t i = 0; (known = clo_job_setting_name(i)); i++)
        if (strcmp(known, name) == 0) return true;
    return false;
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
        if (is_setting(settings[i].name) && !clo_i_permit_may_say(settings[i].name))
            return clo_i_fail(err, CLO_ARGUMENT, "'%.64s' is the steward's to say: leave it out",
                              settings[i].name);
    return CLO_OK;
}

static clo_status check_family(const clo_i_served *served, const char *mechanism, clo_error *err)
{
    const size_t length = mechanism ? strcspn(mechanism, "/") : 0;
    for (const char *at = served->families; length > 0 && *at;) {
        at += strspn(at, " ,\t");
        const size_t here = strcspn(at, " ,\t");
        if (here == length && strncmp(at, mechanism, length) == 0) return CLO_OK;
        at += here;
    }
    return clo_i_fail(err, CLO_ARGUMENT, "of the data set '%.100s' may be asked: %.200s",
                      served->name, served->families);
}

static clo_status check_most(const clo_i_served *served, const char *name, const char *text,
                             double most, clo_error *err)
{
    double value;
    const char *const end = text ? clo_i_parse_double(text, &value) : NULL;
    if (!end || *end || !(value >= 0))
        return clo_i_fail(err, CLO_ARGUMENT, "%s must be given, as a number", name);
    if (value <= most) return CLO_OK;
    return clo_i_fail(err, CLO_BUDGET, "one run on '%.100s' may have %s %g at most", served->name,
                      name, most);
}

static clo_status check_budget(const clo_i_served *served, const clo_setting *settings,
                               size_t count, clo_error *err)
{
    const char *const delta = value_of(settings, count, "delta");
    CLO_TRY(check_most(served, "epsilon", value_of(settings, count, "epsilon"),
                       served->epsilon_at_most, err));
    if (!delta && served->delta_at_most >= 1) return CLO_OK;
    return check_most(served, "delta", delta, served->delta_at_most, err);
}

/* A token is its analyst's: another one neither fetches the release nor blocks the name. */
static clo_status name_token(const char *analyst, const char *token, char out[BROKER_NAME + 1],
                             clo_error *err)
{
    out[0] = 0;
    if (!token) return CLO_OK;
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
    if (!dataset) return clo_i_fail(err, CLO_ARGUMENT, "dataset must be given");
    permit.served = clo_i_policy_dataset(policy, dataset);
    permit.allowance = clo_i_policy_allowance(policy, analyst, dataset);
    if (!permit.served || !permit.allowance)
        return clo_i_fail(err, CLO_ARGUMENT, "there is no data set '%.100s' that you may ask",
                          dataset);
    CLO_TRY(check_family(permit.served, permit.mechanism, err));
    CLO_TRY(check_budget(permit.served, settings, count, err));
    if (permit.served->needs_purpose && (!purpose || !purpose[0]))
        return clo_i_fail(err, CLO_ARGUMENT, "purpose must be given: what the release is for");
    if (permit.served->fixed_columns && value_of(settings, count, "columns"))
        return clo_i_fail(err, CLO_ARGUMENT, "the columns of '%.100s' are the steward's to say",
                          dataset);
    CLO_TRY(name_token(analyst, value_of(settings, count, "token"), permit.token, err));
    CLO_TRY(clo_i_policy_account(analyst, dataset, permit.account, err));
    *out = permit;
    return CLO_OK;
}
