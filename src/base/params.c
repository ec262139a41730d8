/* params.c - named parameters, checked against their rows. */
#include "base/base.h"
#include <cloister/output.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

clo_status clo_i_params_new(const void *owner, const char *owner_name, const clo_param *rows,
                            size_t count, clo_params **out, clo_error *err)
{
    clo_params *params = NULL;
    CLO_TRY(clo_i_alloc(1, sizeof *params, &params, err));
    const clo_status status = clo_i_alloc(count, sizeof *params->values, &params->values, err);
    if (status) {
        clo_i_free(params);
        return status;
    }
    params->owner = owner;
    snprintf(params->owner_name, sizeof params->owner_name, "%s", owner_name);
    params->rows = rows;
    params->count = count;
    for (size_t i = 0; i < count; i++) params->values[i] = rows[i].preset;
    *out = params;
    return CLO_OK;
}

void clo_params_free(clo_params *params)
{
    if (!params) return;
    clo_i_free(params->values);
    clo_i_free(params);
}

bool clo_i_param_find(const clo_param *rows, size_t count, const char *name, size_t *index)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(rows[i].name, name) == 0) {
            *index = i;
            return true;
        }
    return false;
}

static clo_status find(const clo_params *params, const char *name, size_t *index, clo_error *err)
{
    if (clo_i_param_find(params->rows, params->count, name, index)) return CLO_OK;
    return clo_i_fail(err, CLO_ARGUMENT, "%s has no parameter '%s'", params->owner_name, name);
}

clo_status clo_params_set(clo_params *params, const char *name, double value, clo_error *err)
{
    size_t i = 0;
    CLO_TRY(find(params, name, &i, err));
    const clo_param *const row = &params->rows[i];
    if (!(value >= row->lower && value <= row->upper))
        return clo_i_fail(err, CLO_ARGUMENT, "%s must be between %g and %g, not %g", name,
                          row->lower, row->upper, value);
    if (row->type != CLO_PARAM_REAL && value != floor(value))
        return clo_i_fail(err, CLO_ARGUMENT, "%s must be a whole number, not %g", name, value);
    params->values[i] = value;
    return CLO_OK;
}

/* The index of a word in "one|two|three", or -1. */
static int choice_index(const char *choices, const char *word)
{
    const size_t length = strlen(word);
    int index = 0;
    for (const char *at = choices;; index++) {
        const size_t here = strcspn(at, "|");
        if (here == length && strncmp(at, word, length) == 0) return index;
        if (!at[here]) return -1;
        at += here + 1;
    }
}

clo_status clo_params_set_text(clo_params *params, const char *name, const char *text,
                               clo_error *err)
{
    size_t i = 0;
    double value = 0;
    CLO_TRY(find(params, name, &i, err));
    const clo_param *const row = &params->rows[i];
    if (row->type == CLO_PARAM_CHOICE) {
        const int index = choice_index(row->choices, text);
        if (index < 0)
            return clo_i_fail(err, CLO_ARGUMENT, "%s must be one of %s, not '%s'", name,
                              row->choices, text);
        params->values[i] = index;
        return CLO_OK;
    }
    const char *const end = clo_i_parse_double(text, &value);
    if (!end || *end)
        return clo_i_fail(err, CLO_ARGUMENT, "%s must be a number, not '%s'", name, text);
    return clo_params_set(params, name, value, err);
}

void clo_i_param_text(const clo_param *param, double value, char *buffer, size_t size)
{
    char word[CLO_VALUE_SIZE];
    const char *const quote = param->type == CLO_PARAM_CHOICE ? "\"" : "";
    clo_i_param_word(param, value, word);
    snprintf(buffer, size, "%s%s%s", quote, word, quote);
}

void clo_i_param_word(const clo_param *param, double value, char text[CLO_VALUE_SIZE])
{
    if (param->type != CLO_PARAM_CHOICE) {
        clo_number_text(value, text);
        return;
    }
    const char *at = param->choices;
    for (int skip = (int)value; skip > 0; skip--) at += strcspn(at, "|") + 1;
    snprintf(text, CLO_VALUE_SIZE, "%.*s", (int)strcspn(at, "|"), at);
}

clo_status clo_params_get(const clo_params *params, const char *name, double *value, clo_error *err)
{
    size_t i = 0;
    CLO_TRY(find(params, name, &i, err));
    *value = params->values[i];
    return CLO_OK;
}

clo_status clo_params_get_text(const clo_params *params, const char *name,
                               char text[CLO_VALUE_SIZE], clo_error *err)
{
    size_t i = 0;
    CLO_TRY(find(params, name, &i, err));
    clo_i_param_word(&params->rows[i], params->values[i], text);
    return CLO_OK;
}

clo_status clo_i_check_clusters(size_t clusters, int most, clo_error *err)
{
    if (clusters >= 1 && clusters <= (size_t)most) return CLO_OK;
    return clo_i_fail(err, CLO_ARGUMENT, "clusters must be between 1 and %d, not %zu", most,
                      clusters);
}
