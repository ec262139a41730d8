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
#include "base/text_file.h"
#include "broker/broker.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { POLICY_BYTES = 1 << 20, LINE = 4096, SAID = 48, SAID_NAME = 24 };

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

/* The data set's name has no '@' (check_name), so that the first one ends it: no two pairs have one
 * account, and no account is called as a data set that is served. */
clo_status clo_i_policy_account(const char *analyst, const char *dataset, char out[BROKER_NAME + 1],
                                clo_error *err)
{
    const int length = snprintf(out, BROKER_NAME + 1, "%s@%s", dataset, analyst);
    if (length > 0 && length <= BROKER_NAME) return CLO_OK;
    return clo_i_fail(err, CLO_ARGUMENT, "the names of an analyst and a data set are too long");
}

static size_t count_analysts(const clo_policy *policy)
{
    size_t count = 0;
    for (size_t i = 0; i < policy->allowance_count; i++) {
        size_t j = 0;
        while (strcmp(policy->allowances[j].analyst, policy->allowances[i].analyst) != 0) j++;
        count += j == i;
    }
    return count;
}

/* Half of the places; who is alone keeps nobody waiting, and has all. */
static uint32_t share_of(const clo_policy *policy)
{
    if (policy->share > 0) return policy->share;
    return count_analysts(policy) == 1 ? policy->workers : (policy->workers + 1) / 2;
}

clo_status clo_policy_describe(const clo_policy *policy, clo_policy_facts *out, clo_error *err)
{
    const clo_policy_facts facts = { .tick = policy->tick,
                                     .workers = policy->workers,
                                     .waiting = policy->waiting,
                                     .patience = policy->patience,
                                     .datasets = policy->served_count,
                                     .analysts = count_analysts(policy),
                                     .share = share_of(policy),
                                     .ticks_at_most = policy->ticks_at_most };
    CLO_TRY(clo_i_check_result("clo_policy_facts", out, err));
    clo_i_give_result(out, &facts, sizeof facts);
    return CLO_OK;
}

/* ---- reading ------------------------------------------------------------------------ */

typedef enum section { NOWHERE, BROKER, DATASET, ANALYST } section;

typedef struct reading {
    clo_policy *policy;
    section section;
    char name[BROKER_NAME + 1]; /* of the section */
    char said[SAID][SAID_NAME]; /* names that the section has had */
    size_t said_count, line;
    bool has_broker;
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
    return clo_i_fail(err, CLO_FORMAT,
                      "line %zu of the policy: '%.60s' must be a number from %g "
                      "to %g",
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

/* Of two lines with one name the steward means one, and cannot know which of them counts. */
static clo_status say_once(reading *r, const char *name, clo_error *err)
{
    for (size_t i = 0; i < r->said_count; i++)
        if (strcmp(r->said[i], name) == 0) return wrong(r, "said twice:", name, err);
    if (strlen(name) >= SAID_NAME || r->said_count == SAID)
        return CLO_OK; /* no name that is known */
    snprintf(r->said[r->said_count++], SAID_NAME, "%s", name);
    return CLO_OK;
}

static clo_status take_broker(reading *r, const char *name, const char *value, clo_error *err)
{
    clo_policy *const policy = r->policy;
    if (strcmp(name, "ledger") == 0) {
        if (value[0] != '/') return wrong(r, "the path must begin with /:", value, err);
        return clo_i_copy_text(value, &policy->ledger, err);
    }
    if (strcmp(name, "tick") == 0) return read_number(r, value, 0.001, 86400, &policy->tick, err);
    if (strcmp(name, "patience") == 0)
        return read_number(r, value, 0.1, 3600, &policy->patience, err);
    if (strcmp(name, "workers") == 0) return read_count(r, value, 256, &policy->workers, err);
    if (strcmp(name, "waiting") == 0) return read_count(r, value, 64, &policy->waiting, err);
    if (strcmp(name, "share") == 0) return read_count(r, value, 256, &policy->share, err);
    if (strcmp(name, "ticks-at-most") == 0)
        return read_count(r, value, 1e6, &policy->ticks_at_most, err);
    return wrong(r, "[broker] has no setting", name, err);
}

static clo_status take_setting(reading *r, clo_i_served *served, const char *name,
                               const char *value, clo_error *err)
{
    if (!steward_may_say(name)) return wrong(r, "[dataset] has no setting", name, err);
    if (strcmp(name, "missing") == 0 && strcmp(value, "refuse") == 0)
        return wrong(r, "a record must not end a run of a broker, so this value is not allowed:",
                     "missing = refuse", err);
    if (strcmp(name, "data") == 0 && value[0] != '/')
        return wrong(r, "the path must begin with /:", value, err);
    if (served->setting_count == BROKER_SETTINGS) return wrong(r, "too many settings:", name, err);
    clo_i_setting *const setting = &served->settings[served->setting_count];
    CLO_TRY(clo_i_copy_text(name, &setting->name, err));
    served->setting_count++; /* so that it is freed */
    return clo_i_copy_text(value, &setting->value, err);
}

static clo_status take_dataset(reading *r, const char *name, const char *value, clo_error *err)
{
    clo_i_served *const served = &r->policy->served[r->policy->served_count - 1];
    if (strcmp(name, "families") == 0) return clo_i_copy_text(value, &served->families, err);
    if (strcmp(name, "epsilon-at-most") == 0)
        return read_number(r, value, 0, 1e4, &served->epsilon_at_most, err);
    if (strcmp(name, "delta-at-most") == 0)
        return read_number(r, value, 0, 1, &served->delta_at_most, err);
    if (strcmp(name, "purpose") == 0) {
        served->needs_purpose = strcmp(value, "required") == 0;
        if (served->needs_purpose || strcmp(value, "optional") == 0) return CLO_OK;
        return wrong(r, "purpose must be required or optional, not", value, err);
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
    return wrong(r, "a cap must be EPSILON or EPSILON:DELTA, not", text, err);
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

/* Names become parts of names in the ledger: an account is DATASET@ANALYST, a token ANALYST:TOKEN.
 * What parts them is in no name that stands before it. */
static clo_status check_name(reading *r, clo_error *err)
{
    if (r->section == BROKER && r->has_broker) return wrong(r, "said twice:", "[broker]", err);
    if (r->section == ANALYST && clo_policy_knows(r->policy, r->name))
        return wrong(r, "said twice:", r->name, err);
    if (r->section == DATASET && strchr(r->name, '@'))
        return wrong(r, "the name of a data set must not have an '@':", r->name, err);
    if (r->section == ANALYST && strchr(r->name, ':'))
        return wrong(r, "the name of a user must not have a ':':", r->name, err);
    r->has_broker |= r->section == BROKER;
    return CLO_OK;
}

/* "[dataset people]" */
static clo_status begin_section(reading *r, char *line, clo_error *err)
{
    static const char *const kinds[] = { NULL, "broker", "dataset", "analyst" };
    const size_t length = strlen(line);
    if (length < 3 || line[length - 1] != ']')
        return wrong(r,
                     "a heading must be [broker], "
                     "[dataset NAME] or [analyst NAME], "
                     "not",
                     line, err);
    line[length - 1] = 0;
    char *const name = strchr(line, ' ');
    if (name) *name = 0;
    r->section = NOWHERE;
    for (int i = BROKER; i <= ANALYST; i++)
        if (strcmp(line + 1, kinds[i]) == 0) r->section = (section)i;
    if (r->section == NOWHERE || (r->section == BROKER) != !name || (name && !name[1]) ||
        (name && strlen(name + 1) > BROKER_NAME))
        return wrong(r, "a heading must be [broker], [dataset NAME] or [analyst NAME], not", line,
                     err);
    snprintf(r->name, sizeof r->name, "%.200s", name ? name + 1 : "");
    r->said_count = 0;
    CLO_TRY(check_name(r, err));
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
    if (!equal) return wrong(r, "a line must be a heading or 'name = value', not", line, err);
    *equal = 0;
    const char *const name = trim(line), *const value = trim(equal + 1);
    if (!name[0] || !value[0]) return wrong(r, "a name or a value is missing near", name, err);
    CLO_TRY(say_once(r, name, err));
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

/* With one place, whoever has it keeps the others waiting, however the rest is shared. */
static clo_status check_share(const clo_policy *policy, clo_error *err)
{
    if (count_analysts(policy) == 1) {
        if (policy->share <= policy->workers) return CLO_OK;
        return clo_i_fail(err, CLO_FORMAT, "the policy has a share of %u of %u workers",
                          policy->share, policy->workers);
    }
    if (policy->workers < 2)
        return clo_i_fail(err, CLO_FORMAT,
                          "with one worker an analyst could block all others: write 'workers = 2' "
                          "or more under [broker]");
    if (policy->share < policy->workers) return CLO_OK;
    return clo_i_fail(err, CLO_FORMAT,
                      "the share of one analyst must be less than all %u workers: write 'share = "
                      "%u' or less under [broker]",
                      policy->workers, policy->workers - 1);
}

static clo_status check_whole(const clo_policy *policy, clo_error *err)
{
    if (!policy->ledger)
        return clo_i_fail(err, CLO_FORMAT,
                          "the policy names no ledger: write 'ledger = PATH' "
                          "under [broker]");
    if (policy->served_count == 0 || policy->allowance_count == 0)
        return clo_i_fail(err, CLO_FORMAT,
                          "the policy needs at least one [dataset NAME] and one "
                          "[analyst NAME]");
    for (size_t i = 0; i < policy->served_count; i++) {
        const clo_i_served *const served = &policy->served[i];
        if (!has_setting(served, "data") || !served->families)
            return clo_i_fail(err, CLO_FORMAT,
                              "[dataset %.100s] needs 'data = PATH' and 'families = ...'",
                              served->name);
        if (!has_setting(served, "norm") && !has_setting(served, "bounds"))
            return clo_i_fail(err, CLO_FORMAT,
                              "[dataset %.100s] needs a public 'norm = ...' or 'bounds = ...'",
                              served->name);
    }
    for (size_t i = 0; i < policy->allowance_count; i++)
        if (!clo_i_policy_dataset(policy, policy->allowances[i].dataset))
            return clo_i_fail(err, CLO_FORMAT,
                              "[analyst %.80s] names '%.80s', but there is no such [dataset]",
                              policy->allowances[i].analyst, policy->allowances[i].dataset);
    return check_share(policy, err);
}

static clo_status parse(reading *r, const char *text, size_t length, clo_error *err)
{
    const char *fault = clo_i_encoding_fault(text, length);
    if (!fault) fault = clo_i_line_end_fault(text, length);
    if (!fault && memchr(text, 0, length)) fault = "is not a text file";
    if (fault) return clo_i_fail(err, CLO_FORMAT, "the policy %s", fault);
    for (size_t at = clo_i_mark_length(text, length); at < length;) {
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
    r.policy->ticks_at_most = 30;
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
        return clo_i_fail(err, CLO_IO,
                          "the policy %.160s must be an ordinary file of at most 1 "
                          "MiB",
                          path);
    if ((facts.st_mode & 022) || (facts.st_uid != geteuid() && facts.st_uid != 0))
        return clo_i_fail(err, CLO_IO,
                          "other users can write the policy %.160s: run chmod go-w on it, as its "
                          "owner",
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
