/* plan_expected.c - what a plan lets one expect, in words: the error, in the units of the columns,
 * too; whether noise hides what is looked for, and what would bring it out.  All is public. */
#include "cli.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SHOWN = 8 /* columns */, LONGEST_NAME = 40 };

cli_prediction cli_predict(const clo_plan *plan)
{
    const double rows = (double)clo_plan_domain(plan)->rows;
    cli_prediction out = { .rows = rows, .error = NAN, .meaning = NULL };
    if (!(rows > 0)) return out;
    if (clo_plan_predict(plan, rows, &out.error, &out.meaning, NULL) != CLO_OK) out.meaning = NULL;
    return out;
}

/* ---- in the units of the columns ----------------------------------------------- */

size_t cli_used_columns(const clo_schema *schema)
{
    clo_field field = { .struct_size = sizeof field };
    size_t used = 0;
    for (size_t i = 0; clo_schema_field(schema, i, &field); i++)
        used += field.kind != CLO_FIELD_UNUSED;
    return used;
}

/* "sex ± 1.4 points", "born ± 13 days": one number a column of the schema. */
static void add_field(const clo_field *field, double error, bool first, char *text, size_t size)
{
    const size_t used = strlen(text);
    const char *unit = "";
    double shown = error;
    char name[LONGEST_NAME + 4];
    if (field->kind == CLO_FIELD_LEVELS) {
        shown = 100 * error;
        unit = " points";
    } else if (field->kind == CLO_FIELD_CYCLIC) {
        shown = error * field->period / (2 * acos(-1));
    } else if (field->kind == CLO_FIELD_DATETIME) {
        shown = error / 86400;
    }
    if (field->kind == CLO_FIELD_DATE || field->kind == CLO_FIELD_DATETIME) unit = " days";
    snprintf(name, sizeof name, "%.*s", (int)LONGEST_NAME, field->name);
    for (char *c = name; *c; c++)
        if ((unsigned char)*c < 32 || *c == 127) *c = '?';
    snprintf(text + used, size - used, "%s%s \u00b1 %s%s", first ? "" : ", ", name,
             cli_rounded(shown, 2).text, unit);
}

static void say_fields(const clo_schema *schema, const double *errors, char *text, size_t size)
{
    clo_field field = { .struct_size = sizeof field };
    size_t output = 0, shown = 0;
    for (size_t i = 0; clo_schema_field(schema, i, &field); i++) {
        if (field.kind == CLO_FIELD_UNUSED) continue;
        if (shown == MOST_SHOWN) {
            const size_t used = strlen(text);
            snprintf(text + used, size - used, ", ... (--json has all)");
            return;
        }
        add_field(&field, errors[output], shown++ == 0, text, size);
        output += field.kind == CLO_FIELD_LEVELS   ? field.levels
                  : field.kind == CLO_FIELD_CYCLIC ? 2
                                                   : 1;
    }
}

static void add_column(const clo_job *job, size_t j, double error, char *text, size_t size)
{
    const char *const name = job ? clo_job_column_name(job, j) : NULL;
    const size_t used = strlen(text);
    char number[32];
    cli_bytes shown = { NULL, 0, 0 };
    clo_writer to_shown = { .write = cli_bytes_write, .user = &shown };
    snprintf(number, sizeof number, "column %zu", j + 1);
    const char *const called = name && name[0] ? name : number;
    const size_t width = clo_text_width(called);
    /* A header may hold anything, terminal controls too. */
    clo_writer_cell(&to_shown, called, width < LONGEST_NAME ? width : LONGEST_NAME, false);
    snprintf(text + used, size - used, "%s%.*s \u00b1 %s", j ? ", " : "", (int)shown.length,
             shown.data ? shown.data : "", cli_rounded(error, 2).text);
    free(shown.data);
}

/* "carat ± 0.12, price ± 310"; without a job, columns go without names; "" where the error is not
 * one of points. */
static void say_columns(const clo_job *job, const clo_plan *plan, double rows, char *text,
                        size_t size)
{
    const clo_schema *const schema = clo_plan_domain(plan)->schema;
    const size_t cols = clo_domain_columns(clo_plan_domain(plan));
    double *const errors = calloc(cols, sizeof *errors);
    text[0] = 0;
    if (errors && clo_plan_predict_columns(plan, rows, errors, NULL) == CLO_OK) {
        if (schema) {
            say_fields(schema, errors, text, size);
            free(errors);
            return;
        }
        bool same = !job || !clo_job_column_name(job, 0);
        for (size_t j = 1; j < cols && same; j++) same = errors[j] == errors[0];
        if (same) {
            snprintf(text, size, "\u00b1 %s", cli_rounded(errors[0], 2).text);
            free(errors);
            return;
        }
        for (size_t j = 0; j < cols && j < MOST_SHOWN; j++)
            add_column(job, j, errors[j], text, size);
        if (cols > MOST_SHOWN) {
            const size_t used = strlen(text);
            snprintf(text + used, size - used, ", ... (--json has all)");
        }
    }
    free(errors);
}

void cli_expect_text(const clo_job *job, const clo_plan *plan, char *text, size_t size)
{
    const cli_prediction prediction = cli_predict(plan);
    const clo_domain *const domain = clo_plan_domain(plan);
    char columns[600], unused[512];
    text[0] = 0;
    if (!prediction.meaning || clo_plan_learning(plan) || /* the norm may turn out far smaller */
        clo_plan_hidden_text(plan, unused, sizeof unused))
        return;
    say_columns(domain->lower ? job : NULL, plan, prediction.rows, columns, sizeof columns);
    if (!columns[0]) return;
    const cli_text norm = cli_number(domain->norm);
    const bool named = domain->lower || domain->schema;
    const int used = snprintf(text, size, "expects centers off by about %s%s", columns,
                              named ? "" : " in each column");
    if (!named && used > 0 && (size_t)used < size)
        snprintf(text + used, size - (size_t)used,
                 "; moves records farther than %s from %s to distance %s", norm.text,
                 domain->center ? "the center" : "the origin", norm.text);
}

/* "about 0.3", and between what where that depends on what nobody stated. */
static void say_error(const clo_plan *plan, const cli_prediction *prediction, char *text,
                      size_t size)
{
    double least, most, reach;
    const int used = snprintf(text, size, "about %s", cli_rounded(prediction->error, 3).text);
    if (used < 0 || (size_t)used >= size ||
        clo_plan_predict_range(plan, prediction->rows, &least, &most, NULL) || !(least < most))
        return;
    const bool stated = clo_plan_value_of(plan, "reach", &reach, NULL) == CLO_OK;
    snprintf(text + used, size - (size_t)used, " (between %s and %s, depending on %s)",
             cli_rounded(least, 2).text, cli_rounded(most, 2).text,
             stated ? "the length of the records along the subspace, which --reach states"
                    : "how narrow the clusters are, and how far apart");
}

void cli_outlook_text(FILE *out, const clo_job *job, const clo_plan *plan)
{
    const cli_prediction prediction = cli_predict(plan);
    char sentence[1200], columns[600], error[200];
    if (!prediction.meaning) return;
    /* Of centres that noise hides, a number would say nothing. */
    if (clo_plan_hidden_text(plan, sentence, sizeof sentence - 1)) {
        sentence[0] = 'N';
        strcat(sentence, ".");
        fputs("\n  ", out);
        cli_wrap(out, 2, 2, sentence);
        return;
    }
    say_columns(job, plan, prediction.rows, columns, sizeof columns);
    say_error(plan, &prediction, error, sizeof error);
    snprintf(sentence, sizeof sentence, "With %s rows, expect an error of %s: %s.%s%s%s",
             cli_number(prediction.rows).text, error, prediction.meaning,
             columns[0] ? "  In each column: " : "", columns, columns[0] ? "." : "");
    fputs("\n  ", out);
    cli_wrap(out, 2, 2, sentence);
}
