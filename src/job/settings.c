/*
 * settings.c - the settings of a job: the rows of settings.def, texts that are kept as they come,
 * and the ways to read a number out of one.  Numbers are read strictly, the same in every locale.
 */
#include "domain/domain.h"
#include "job/job.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define AS_TEXT(number) #number
#define TEXT_OF(number) AS_TEXT(number)
static const clo_setting_info ROWS[] = {
#define SETTING(id, text, ...) [CLO_SET_##id] = { .name = text, __VA_ARGS__ },
#include "job/settings.def"
#undef SETTING
};

/* ---- failing --------------------------------------------------------------- */

clo_status clo_i_job_fail(const clo_job *job, clo_error *err, clo_status status, const char *format,
                          ...)
{
    char spelled[sizeof err->message];
    size_t used = 0;
    va_list arguments;
    if (!err) return status;
    for (const char *c = format; *c && used + sizeof job->prefix < sizeof spelled; c++) {
        if (*c == '@')
            used += (size_t)snprintf(spelled + used, sizeof spelled - used, "%s", job->prefix);
        else
            spelled[used++] = *c;
    }
    spelled[used] = 0;
    va_start(arguments, format);
    vsnprintf(err->message, sizeof err->message, spelled, arguments);
    va_end(arguments);
    err->advice[0] = 0;
    err->status = status;
    return status;
}

void clo_i_job_advise(clo_job *job, clo_advice advice, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    job->advice = advice;
    vsnprintf(job->advice_text, sizeof job->advice_text, format, arguments);
    va_end(arguments);
}

clo_advice clo_job_advice(const clo_job *job, const char **text)
{
    if (text) *text = job->advice_text;
    return job->advice;
}

void clo_job_spell(clo_job *job, const char *prefix)
{
    /* It becomes part of a format. */
    if (!strchr(prefix, '%')) snprintf(job->prefix, sizeof job->prefix, "%s", prefix);
}

/* ---- setting --------------------------------------------------------------- */

static bool among(const char *choices, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = choices;; at++) {
        const size_t here = strcspn(at, "|");
        if (here == length && memcmp(at, word, length) == 0) return true;
        at += here;
        if (!*at) return false;
    }
}

static const char *choices_of(const clo_setting_info *row)
{
    return row->kind == CLO_SETTING_FLAG ? "yes|no" : row->choices;
}

/* The name as the mechanisms' own rows have it, which outlives the job; NULL: nobody has it. */
static const char *parameter_named(const char *name)
{
    for (size_t m = 0; m < clo_mechanism_count(); m++) {
        size_t count;
        const clo_param *const rows = clo_mechanism_params(clo_mechanism_at(m), &count);
        for (size_t i = 0; i < count; i++)
            if (strcmp(rows[i].name, name) == 0) return rows[i].name;
    }
    return NULL;
}

static clo_status keep(char **place, const char *value, clo_error *err)
{
    char *copy = NULL;
    if (value) CLO_TRY(clo_i_copy_text(value, &copy, err));
    clo_i_free(*place);
    *place = copy;
    return CLO_OK;
}

static clo_status set_parameter(clo_job *job, const char *name, const char *value, clo_error *err)
{
    size_t i = 0;
    while (i < job->param_count && strcmp(job->param_names[i], name) != 0) i++;
    if (i == CLO_MAX_PARAMETERS)
        return clo_i_fail(err, CLO_ARGUMENT, "there are more than %d parameters", (int)i);
    CLO_TRY(keep(&job->param_values[i], value, err));
    job->param_names[i] = name;
    if (i == job->param_count) job->param_count++;
    return CLO_OK;
}

/* What was found out about other settings no longer counts. */
static clo_status open_settings(clo_job *job, clo_error *err)
{
    job->advice = CLO_ADVICE_NONE;
    job->advice_text[0] = 0;
    if (job->step > CLO_STEP_CHECKED)
        return clo_i_fail(err, CLO_ARGUMENT, "the job is prepared, so its settings cannot change");
    job->step = CLO_STEP_NEW;
    return CLO_OK;
}

clo_status clo_job_set(clo_job *job, const char *name, const char *value, clo_error *err)
{
    CLO_TRY(open_settings(job, err));
    for (size_t i = 0; i < CLO_SET_COUNT; i++) {
        if (strcmp(ROWS[i].name, name) != 0) continue;
        const char *const choices = choices_of(&ROWS[i]);
        if (value && choices && !among(choices, value))
            return clo_i_job_fail(job, err, CLO_ARGUMENT, "@%s must be one of %s, not '%s'", name,
                                  choices, value);
        return keep(&job->values[i], value, err);
    }
    const char *const parameter = parameter_named(name);
    if (parameter) return set_parameter(job, parameter, value, err);
    return clo_i_fail(err, CLO_ARGUMENT, "there is no setting '%s'", name);
}

const clo_setting_info *clo_job_setting(size_t i)
{
    return i < CLO_SET_COUNT ? &ROWS[i] : NULL;
}

clo_status clo_job_set_table(clo_job *job, const clo_table *table, clo_error *err)
{
    CLO_TRY(open_settings(job, err));
    job->table = table;
    return CLO_OK;
}

clo_status clo_job_set_domain(clo_job *job, const clo_domain *domain, clo_error *err)
{
    clo_domain copy;
    CLO_TRY(open_settings(job, err));
    CLO_TRY(clo_domain_check(domain, err));
    CLO_TRY(clo_i_domain_copy(domain, &copy, err));
    clo_i_domain_clear(&job->given_domain);
    job->given_domain = copy;
    job->has_domain = true;
    return CLO_OK;
}

clo_status clo_job_set_budget(clo_job *job, clo_loss budget, clo_error *err)
{
    CLO_TRY(open_settings(job, err));
    job->given_budget = budget;
    job->has_budget = true;
    return CLO_OK;
}

clo_status clo_job_set_run_options(clo_job *job, const clo_run_options *options, clo_error *err)
{
    clo_run_options full = clo_run_options_default();
    CLO_TRY(open_settings(job, err));
    CLO_TRY(clo_i_take_options("clo_run_options", options, &full, sizeof full, err));
    job->options = full;
    if (full.workers) {
        job->workers = clo_workers_default();
        CLO_TRY(clo_i_take_options("clo_workers", full.workers, &job->workers, sizeof job->workers,
                                   err));
        job->options.workers = &job->workers;
    }
    if (full.persons) {
        job->persons = *full.persons;
        job->options.persons = &job->persons;
    }
    return CLO_OK;
}

void clo_job_set_confirm(clo_job *job, clo_job_confirm *confirm, void *user)
{
    job->confirm = confirm;
    job->confirm_user = user;
}

void clo_job_set_anyway(clo_job *job, clo_job_anyway *anyway, void *user)
{
    job->anyway = anyway;
    job->anyway_user = user;
}

void clo_job_set_reading(clo_job *job, bool (*progress)(void *user, double done), void *user)
{
    job->reading = progress;
    job->reading_user = user;
}

/* ---- reading --------------------------------------------------------------- */

const char *clo_i_job_value(const clo_job *job, clo_i_setting setting)
{
    return job->values[setting];
}

const char *clo_i_job_default(clo_i_setting setting)
{
    return ROWS[setting].preset;
}

bool clo_i_job_says(const clo_job *job, clo_i_setting setting, const char *word)
{
    const char *const value = clo_i_job_value(job, setting);
    return value && strcmp(value, word) == 0;
}

static const char *given_param(const clo_job *job, const char *name)
{
    for (size_t i = 0; i < job->param_count; i++)
        if (strcmp(job->param_names[i], name) == 0) return job->param_values[i];
    return NULL;
}

/* `clusters auto` is short for a choice among 1, 2, ... of them, and `dim auto` for a dimension of
 * 0, which says to find one. */
static const char TO_BE_FOUND[] = "0";

const char *clo_i_job_param(const clo_job *job, const char *name)
{
    const char *const given = given_param(job, name), *const clusters =
                                                          given_param(job, "clusters");
    const bool automatic = clusters && strcmp(clusters, "auto") == 0;
    if (given && strcmp(name, "dim") == 0 && strcmp(given, "auto") == 0) return TO_BE_FOUND;
    if (!automatic) return given;
    if (strcmp(name, "choose") == 0) return given ? given : "elbow";
    if (strcmp(name, "clusters") != 0) return given;
    const char *const most = clo_i_job_value(job, CLO_SET_CLUSTERS_AT_MOST);
    return most ? most : clo_i_job_default(CLO_SET_CLUSTERS_AT_MOST);
}

bool clo_i_scan_decimal(const char *text, size_t length, double *out)
{
    char copy[128];
    double value;
    if (length >= sizeof copy) return false;
    memcpy(copy, text, length);
    copy[length] = 0;
    if (strspn(copy, "+-.0123456789eE") != length) return false;
    const char *const end = clo_i_parse_double(copy, &value);
    if (!end || *end || !isfinite(value)) return false;
    *out = value;
    return true;
}

clo_status clo_i_job_positive(const clo_job *job, clo_i_setting setting, double *out,
                              clo_error *err)
{
    const char *const text = clo_i_job_value(job, setting);
    double value;
    if (!text) return CLO_OK;
    if (!clo_i_scan_decimal(text, strlen(text), &value) || !(value > 0))
        return clo_i_job_fail(job, err, CLO_ARGUMENT,
                              "@%s must be a number greater than 0, not '%s'", ROWS[setting].name,
                              text);
    *out = value;
    return CLO_OK;
}

clo_status clo_i_job_whole(const clo_job *job, clo_i_setting setting, uint64_t *out, clo_error *err)
{
    const clo_setting_info *const row = &ROWS[setting];
    const char *const text = clo_i_job_value(job, setting);
    double value;
    if (!text) return CLO_OK;
    if (!clo_i_scan_decimal(text, strlen(text), &value) || value != floor(value))
        return clo_i_job_fail(job, err, CLO_ARGUMENT, "@%s must be a whole number, not '%s'",
                              row->name, text);
    if (value < 1 || value > row->upper)
        return clo_i_job_fail(job, err, CLO_ARGUMENT, "@%s must be between 1 and %.0f, not %s",
                              row->name, row->upper, text);
    *out = (uint64_t)value;
    return CLO_OK;
}

clo_status clo_i_job_list(const clo_job *job, clo_i_setting setting, double **out,
                          size_t *out_count, clo_error *err)
{
    const char *text = clo_i_job_value(job, setting);
    size_t count = 1;
    double *values = NULL;
    if (!text) return CLO_OK;
    for (const char *c = text; *c; c++) count += *c == ',';
    CLO_TRY(clo_i_alloc(count, sizeof *values, &values, err));
    for (size_t i = 0; i < count; i++) {
        const size_t length = strcspn(text, ",");
        if (!clo_i_scan_decimal(text, length, &values[i])) {
            clo_i_free(values);
            return clo_i_job_fail(job, err, CLO_ARGUMENT,
                                  "entry %zu of @%s must be a finite number, not '%.*s'", i + 1,
                                  ROWS[setting].name, (int)(length < 100 ? length : 100), text);
        }
        text += length + 1;
    }
    *out = values;
    *out_count = count;
    return CLO_OK;
}
