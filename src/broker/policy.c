/*
 * policy.c - the steward's file: who may ask what.
 *
 *   [broker]
 *   ledger = /var/lib/cloister/ledger.db
 *   tick = 2
 *
 *   [dataset people]
 *   data = /srv/people.csv
 *   families = kmeans subspace
 *   bounds = /srv/people-bounds.csv
 *   epsilon-at-most = 0.5
 *
 *   [analyst alice]
 *   people = 1:1e-6
 *
 * Lines of "name = value" under headings, '#' before remarks.  A name that is not known, a heading
 * that comes twice, a value that is none: each is an error with its line, since what a steward
 * meant to forbid and mistyped would be allowed.
 */
#include "broker/broker.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { POLICY_BYTES = 1 << 20, LINE = 4096 };

/* How data are read and bounded, and what is learnt of them first. */
static const char *const STEWARDS[] = {
    "relation",      "accept",        "norm",       "bounds",      "center",  "rows",
    "rows-per-unit", "unit",          "data",       "columns",     "header",  "delimiter",
    "format",        "cols",          "missing",    "fill",        "decimal", "threads",
    "norm-at-most",  "norm-quantile", "share-norm", "share-center"
};

/* Whether a steward may: those of how data are read and bounded. */
static bool steward_may_say(const char *name)
{
    for (size_t i = 0; i < sizeof STEWARDS / sizeof *STEWARDS; i++)
        if (strcmp(STEWARDS[i], name) == 0) return true;
    return false;
}

/* ---- what is there --------------------------------------------------------------- */

void clo_policy_free(clo_policy *policy)
{
    if (!policy) return;
    for (size_t i = 0; i < policy->served_count; i++) {
        clo_i_free(policy->served[i].families);
        for (size_t j = 0; j < policy->served[i].setting_count; j++) {
            clo_i_free(policy->served[i].settings[j].name);
            clo_i_free(policy->served[i].settings[j].value);
        }
    }
    clo_i_free(policy->served);
    clo_i_free(policy->allowances);
    clo_i_free(policy->ledger);
    clo_i_free(policy);
}

const clo_i_served *clo_i_policy_dataset(const clo_policy *policy, const char *name)
{
    for (size_t i = 0; i < policy->served_count; i++)
        if (strcmp(policy->served[i].name, name) == 0) return &policy->served[i];
    return NULL;
}

const clo_i_allowance *clo_i_policy_allowance(const clo_policy *policy, const char *analyst,
                                              const char *dataset)
{
    for (size_t i = 0; i < policy->allowance_count; i++)
        if (strcmp(policy->allowances[i].analyst, analyst) == 0 &&
            strcmp(policy->allowances[i].dataset, dataset) == 0)
            return &policy->allowances[i];
    return NULL;
}

bool clo_policy_knows(const clo_policy *policy, const char *analyst)
{
    for (size_t i = 0; i < policy->allowance_count; i++)
        if (strcmp(policy->allowances[i].analyst, analyst) == 0) return true;
    return false;
}

clo_status clo_i_policy_account(const char *analyst, const char *dataset, char out[BROKER_NAME + 1],
                                clo_error *err)
{
    const int length = snprintf(out, BROKER_NAME + 1, "%s@%s", dataset, analyst);
    if (length > 0 && length <= BROKER_NAME) return CLO_OK;
    return clo_i_fail(err, CLO_ARGUMENT, "the names of an analyst and a data set are too long");
}

clo_status clo_policy_describe(const clo_policy *policy, clo_policy_facts *out, clo_error *err)
{
    clo_policy_facts facts = { .tick = policy->tick,
                               .workers = policy->workers,
                               .waiting = policy->waiting,
                               .patience = policy->patience,
                               .datasets = policy->served_count,
                               .analysts = 0 };
    CLO_TRY(clo_i_check_result("clo_policy_facts", out, err));
    for (size_t i = 0; i < policy->allowance_count; i++) {
        size_t j = 0;
        while (strcmp(policy->allowances[j].analyst, policy->allowances[i].analyst) != 0) j++;
        facts.analysts += j == i;
    }
    clo_i_give_result(out, &facts, sizeof facts);
    return CLO_OK;
}

/* ---- reading ------------------------------------------------------------------------ */

typedef enum section { NOWHERE, BROKER, DATASET, ANALYST } section;

typedef struct reading {
    clo_policy *policy;
    section section;
    char name[BROKER_NAME + 1]; /* of the section */
    size_t line;
} reading;

static clo_status wrong(const reading *r, const char *what, const char *text, clo_error *err)
{
    return clo_i_fail(err, CLO_FORMAT, "line %zu of the policy: %s '%.100s'", r->line, what, text);
}

static clo_status read_number(const reading *r, const char *text, double least, double most,
                              double *out, clo_error *err)
{
    const char *const end = clo_i_parse_double(text, out);
    if (end && *end == 0 && *out >= least && *out <= most) return CLO_OK;
    return clo_i_fail(err, CLO_FORMAT, "line %zu of the policy: '%.60s' is no number from %g to %g",
                      r->line, text, least, most);
}

static clo_status read_count(const reading *r, const char *text, double most, uint32_t *out,
                             clo_error *err)
{
    double number;
    CLO_TRY(read_number(r, text, 1, most, &number, err));
    if (number != floor(number)) return wrong(r, "not a whole number:", text, err);
    *out = (uint32_t)number;
    return CLO_OK;
}

static clo_status take_broker(reading *r, const char *name, const char *value, clo_error *err)
{
    clo_policy *const policy = r->policy;
    if (strcmp(name, "ledger") == 0) {
        if (policy->ledger) return wrong(r, "said twice:", name, err);
        if (value[0] != '/') return wrong(r, "not a whole path:", value, err);
        return clo_i_copy_text(value, &policy->ledger, err);
    }
    if (strcmp(name, "tick") == 0) return read_number(r, value, 0.001, 86400, &policy->tick, err);
    if (strcmp(name, "patience") == 0)
        return read_number(r, value, 0.1, 3600, &policy->patience, err);
    if (strcmp(name, "workers") == 0) return read_count(r, value, 256, &policy->workers, err);
    if (strcmp(name, "waiting") == 0) return read_count(r, value, 64, &policy->waiting, err);
    return wrong(r, "a broker has no", name, err);
}

static clo_status take_setting(reading *r, clo_i_served *served, const char *name,
                               const char *value, clo_error *err)
{
    if (!steward_may_say(name)) return wrong(r, "a data set has no", name, err);
    if (strcmp(name, "missing") == 0 && strcmp(value, "refuse") == 0)
        return wrong(r, "a record may not end a run of the broker's: not", "missing = refuse", err);
    if (strcmp(name, "data") == 0 && value[0] != '/')
        return wrong(r, "not a whole path:", value, err);
    for (size_t i = 0; i < served->setting_count; i++)
        if (strcmp(served->settings[i].name, name) == 0) return wrong(r, "said twice:", name, err);
    if (served->setting_count == BROKER_SETTINGS) return wrong(r, "too many settings:", name, err);
    clo_i_setting *const setting = &served->settings[served->setting_count];
    CLO_TRY(clo_i_copy_text(name, &setting->name, err));
    served->setting_count++; /* so that it is freed */
    return clo_i_copy_text(value, &setting->value, err);
}

static clo_status take_dataset(reading *r, const char *name, const char *value, clo_error *err)
{
    clo_i_served *const served = &r->policy->served[r->policy->served_count - 1];
    if (strcmp(name, "families") == 0) {
        if (served->families) return wrong(r, "said twice:", name, err);
        return clo_i_copy_text(value, &served->families, err);
    }
    if (strcmp(name, "epsilon-at-most") == 0)
        return read_number(r, value, 0, 1e4, &served->epsilon_at_most, err);
    if (strcmp(name, "delta-at-most") == 0)
        return read_number(r, value, 0, 1, &served->delta_at_most, err);
    if (strcmp(name, "purpose") == 0) {
        served->needs_purpose = strcmp(value, "required") == 0;
        if (served->needs_purpose || strcmp(value, "optional") == 0) return CLO_OK;
        return wrong(r, "a purpose is required or optional, not", value, err);
    }
    if (strcmp(name, "columns") == 0) served->fixed_columns = true;
    return take_setting(r, served, name, value, err);
}

/* "E" or "E:D" */
static clo_status read_cap(const reading *r, const char *text, clo_loss *out, clo_error *err)
{
    const char *end = clo_i_parse_double(text, &out->epsilon);
    out->delta = 0;
    if (end && *end == ':') end = clo_i_parse_double(end + 1, &out->delta);
    if (end && *end == 0 && out->epsilon > 0 && out->epsilon <= 1e4 && out->delta >= 0 &&
        out->delta < 1)
        return CLO_OK;
    return wrong(r, "a cap is EPSILON or EPSILON:DELTA, not", text, err);
}

static clo_status take_analyst(reading *r, const char *name, const char *value, clo_error *err)
{
    clo_policy *const policy = r->policy;
    clo_i_allowance next = { .cap = { 0, 0 } }, *larger = NULL;
    if (clo_i_policy_allowance(policy, r->name, name)) return wrong(r, "said twice:", name, err);
    snprintf(next.analyst, sizeof next.analyst, "%s", r->name);
    if (strlen(name) > BROKER_NAME) return wrong(r, "too long:", name, err);
    snprintf(next.dataset, sizeof next.dataset, "%.200s", name);
    CLO_TRY(read_cap(r, value, &next.cap, err));
    CLO_TRY(clo_i_alloc(policy->allowance_count + 1, sizeof *larger, &larger, err));
    if (policy->allowance_count > 0)
        memcpy(larger, policy->allowances, policy->allowance_count * sizeof *larger);
    larger[policy->allowance_count++] = next;
    clo_i_free(policy->allowances);
    policy->allowances = larger;
    return CLO_OK;
}

static clo_status begin_dataset(reading *r, clo_error *err)
{
    clo_policy *const policy = r->policy;
    clo_i_served *larger = NULL;
    if (clo_i_policy_dataset(policy, r->name)) return wrong(r, "said twice:", r->name, err);
    CLO_TRY(clo_i_alloc(policy->served_count + 1, sizeof *larger, &larger, err));
    if (policy->served_count > 0)
        memcpy(larger, policy->served, policy->served_count * sizeof *larger);
    clo_i_free(policy->served);
    policy->served = larger;
    clo_i_served *const served = &larger[policy->served_count++];
    served->epsilon_at_most = INFINITY;
    served->delta_at_most = 1;
    served->needs_purpose = true;
    snprintf(served->name, sizeof served->name, "%s", r->name);
    return CLO_OK;
}

/* "[dataset people]" */
static clo_status begin_section(reading *r, char *line, clo_error *err)
{
    static const char *const kinds[] = { NULL, "broker", "dataset", "analyst" };
    const size_t length = strlen(line);
    if (length < 3 || line[length - 1] != ']') return wrong(r, "not a heading:", line, err);
    line[length - 1] = 0;
    char *const name = strchr(line, ' ');
    if (name) *name = 0;
    r->section = NOWHERE;
    for (int i = BROKER; i <= ANALYST; i++)
        if (strcmp(line + 1, kinds[i]) == 0) r->section = (section)i;
    if (r->section == NOWHERE || (r->section == BROKER) != !name || (name && !name[1]) ||
        (name && strlen(name + 1) > BROKER_NAME))
        return wrong(r, "not a heading:", line, err);
    snprintf(r->name, sizeof r->name, "%.200s", name ? name + 1 : "");
    if (r->section == ANALYST && clo_policy_knows(r->policy, r->name))
        return wrong(r, "said twice:", r->name, err);
    return r->section == DATASET ? begin_dataset(r, err) : CLO_OK;
}

static char *trim(char *text)
{
    text += strspn(text, " \t");
    size_t length = strlen(text);
    while (length > 0 && strchr(" \t\r", text[length - 1])) text[--length] = 0;
    return text;
}

static clo_status take_line(reading *r, char *line, clo_error *err)
{
    line = trim(line);
    if (!line[0] || line[0] == '#') return CLO_OK;
    if (line[0] == '[') return begin_section(r, line, err);
    char *const equal = strchr(line, '=');
    if (!equal) return wrong(r, "neither a heading nor 'name = value':", line, err);
    *equal = 0;
    const char *const name = trim(line), *const value = trim(equal + 1);
    if (!name[0] || !value[0]) return wrong(r, "a name or a value is missing near", name, err);
    switch (r->section) {
    case BROKER:
        return take_broker(r, name, value, err);
    case DATASET:
        return take_dataset(r, name, value, err);
    case ANALYST:
        return take_analyst(r, name, value, err);
    case NOWHERE:
        break;
    }
    return wrong(r, "before the first heading:", name, err);
}

/* ---- as a whole --------------------------------------------------------------------- */

static bool has_setting(const clo_i_served *served, const char *name)
{
    for (size_t i = 0; i < served->setting_count; i++)
        if (strcmp(served->settings[i].name, name) == 0) return true;
    return false;
}

static clo_status check_whole(const clo_policy *policy, clo_error *err)
{
    if (!policy->ledger)
        return clo_i_fail(err, CLO_FORMAT, "the policy names no ledger under [broker]");
    if (policy->served_count == 0 || policy->allowance_count == 0)
        return clo_i_fail(err, CLO_FORMAT, "the policy names no data set, or no analyst");
    for (size_t i = 0; i < policy->served_count; i++) {
        const clo_i_served *const served = &policy->served[i];
        if (!has_setting(served, "data") || !served->families)
            return clo_i_fail(err, CLO_FORMAT, "the data set '%.100s' needs a file (data) and %s",
                              served->name, "families that may be asked");
        if (!has_setting(served, "norm") && !has_setting(served, "bounds"))
            return clo_i_fail(err, CLO_FORMAT,
                              "the data set '%.100s' needs a norm or bounds, which are public",
                              served->name);
    }
    for (size_t i = 0; i < policy->allowance_count; i++)
        if (!clo_i_policy_dataset(policy, policy->allowances[i].dataset))
            return clo_i_fail(err, CLO_FORMAT,
                              "there is no data set '%.80s', which '%.80s' may ask",
                              policy->allowances[i].dataset, policy->allowances[i].analyst);
    return CLO_OK;
}

static clo_status parse(reading *r, const char *text, size_t length, clo_error *err)
{
    if (memchr(text, 0, length)) return clo_i_fail(err, CLO_FORMAT, "the policy is no text");
    for (size_t at = 0; at < length;) {
        const char *const end = memchr(text + at, '\n', length - at);
        const size_t size = end ? (size_t)(end - text) - at : length - at;
        char line[LINE + 1];
        r->line++;
        if (size > LINE) return wrong(r, "too long", "", err);
        memcpy(line, text + at, size);
        line[size] = 0;
        CLO_TRY(take_line(r, line, err));
        at += size + 1;
    }
    return check_whole(r->policy, err);
}

clo_status clo_policy_parse(const char *text, size_t length, clo_policy **out, clo_error *err)
{
    reading r = { .section = NOWHERE };
    if (length > POLICY_BYTES) return clo_i_fail(err, CLO_FORMAT, "the policy is too long");
    CLO_TRY(clo_i_alloc(1, sizeof *r.policy, &r.policy, err));
    r.policy->tick = 2;
    r.policy->patience = 10;
    r.policy->workers = 2;
    r.policy->waiting = 4;
    const clo_status status = parse(&r, text, length, err);
    if (status)
        clo_policy_free(r.policy);
    else
        *out = r.policy;
    return status;
}

static clo_status check_owner(int file, const char *path, size_t *size, clo_error *err)
{
    struct stat facts;
    if (fstat(file, &facts) != 0 || !S_ISREG(facts.st_mode) || facts.st_size > POLICY_BYTES)
        return clo_i_fail(err, CLO_IO, "the policy %.160s is not a plain file of at most 1 MiB",
                          path);
    if ((facts.st_mode & 022) || (facts.st_uid != geteuid() && facts.st_uid != 0))
        return clo_i_fail(
            err, CLO_IO, "the policy %.160s can be written by others: run chmod go-w, as its owner",
            path);
    *size = (size_t)facts.st_size;
    return CLO_OK;
}

clo_status clo_policy_read(const char *path, clo_policy **out, clo_error *err)
{
    char *text = NULL, why[128];
    size_t size = 0;
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return clo_i_fail(err, CLO_IO, "the policy %.160s cannot be read: %s", path,
                          strerror_r(errno, why, sizeof why));
    clo_status status = check_owner(file, path, &size, err);
    if (!status) status = clo_i_alloc(size + 1, 1, &text, err);
    const ssize_t count = status ? 0 : read(file, text, size);
    close(file);
    if (!status && count != (ssize_t)size)
        status = clo_i_fail(err, CLO_IO, "the policy %.160s cannot be read", path);
    if (!status) status = clo_policy_parse(text, size, out, err);
    clo_i_free(text);
    return status;
}
