/* shared_options.c - the options that mean the same in every command, and what they are turned
 * into. */
#include "cli.h"
#include <stdlib.h>
#include <string.h>

/* ---- groups of options ------------------------------------------------------ */

/* Parameters of most methods, so that they are in every help text. */
static const cli_option method_rows[] = {
    CLI_OPTION(
        "clusters", 0, "K",
        "how many clusters to find, or 'auto'; kmeans, kmedian and subspace-clusters need it"),
    CLI_OPTION("dim", 0, "Q", "the dimension of a subspace, or 'auto'"),
    CLI_ROWS_END,
};
const cli_group cli_method_group = { "Method", "method", method_rows };
const cli_group cli_privacy_group = { .title = "Privacy", .settings = "privacy" };
const cli_group cli_domain_group = { .title = "What is publicly known about the data",
                                     .settings = "domain" };
const cli_group cli_learning_group = { .title = "What the run finds out first",
                                       .settings = "learning" };
const cli_group cli_reading_group = { .title = "Reading", .settings = "reading" };
const cli_group cli_record_group = { .title = "Records", .settings = "records" };

static const cli_option comparing_rows[] = {
    CLI_OPTION("unit", 0, "COLUMN", "the column that names the person; it is not measured"),
    CLI_CHOICE("missing", "RULE", "null|fill", "null",
               "what to do with a row that has a missing cell: ignore the row, as a run does, or "
               "fill the cell, as a run with --missing fill does"),
    CLI_OPTION("fill", 0, "COLUMN=V,...",
               "with --missing fill: the value for missing cells, one for each column or one for "
               "all; by default the middle of the bounds in the release"),
    CLI_ROWS_END,
};
const cli_group cli_comparing_group = { "Records", NULL, comparing_rows };

const cli_group cli_ledger_group = { .title = "Ledger", .settings = "ledger" };
const cli_group cli_repeating_group = { .title = "Repeating", .settings = "repeating" };

static const cli_option running_rows[] = {
    CLI_OPTION("dry-run", 0, NULL, "show what the run would spend, and stop"),
    CLI_OPTION("verbose", 'v', NULL, "also print the queries of the run and their noise"),
    CLI_RARE("quiet", 'q', NULL, "print errors and warnings only"),
    CLI_ROWS_END,
};
const cli_group cli_running_group = { "Running", "running", running_rows };

/* ---- options that are settings of a job --------------------------------------- */

/* The text with -- in place of each @. */
static char *spelled(const char *help)
{
    cli_bytes text = { NULL, 0, 0 };
    for (const char *c = help; *c; c++) {
        const char *const part = *c == '@' ? "--" : c;
        if (!cli_bytes_write(&text, part, *c == '@' ? 2 : 1)) abort();
    }
    if (!cli_bytes_write(&text, "", 1)) abort();
    return text.data;
}

/* Made once, from the library's rows. */
static const cli_option *setting_options(void)
{
    static cli_option *options;
    const clo_setting_info *row;
    size_t count = 0;
    if (options) return options;
    while (clo_job_setting(count)) count++;
    options = cli_alloc(count, sizeof *options);
    for (size_t i = 0; (row = clo_job_setting(i)); i++)
        options[i] = (cli_option){ row->name,          row->letter, row->argument, row->choices,
                                   spelled(row->help), row->preset, row->rare };
    return options;
}

const cli_option *cli_group_option(const cli_group *group, size_t i)
{
    const clo_setting_info *row;
    size_t rest = i;
    for (size_t k = 0; group->settings && (row = clo_job_setting(k)); k++)
        if (row->group && strcmp(row->group, group->settings) == 0 && rest-- == 0)
            return &setting_options()[k];
    const cli_option *own = group->rows;
    while (own && own->name && rest > 0) own++, rest--;
    return own && own->name ? own : NULL;
}

const char *cli_setting_value(const cli_args *args, const clo_setting_info *setting)
{
    const char *const value = cli_value(args, setting->name);
    return value && setting->kind == CLO_SETTING_FLAG ? "yes" : value;
}

/* ---- mechanisms ----------------------------------------------------------- */

void cli_mechanism_name(const clo_mechanism *mechanism, char *text, size_t size)
{
    snprintf(text, size, "%s/%s", clo_mechanism_family(mechanism), clo_mechanism_method(mechanism));
}

void cli_mechanism_typed(const clo_mechanism *mechanism, char *text, size_t size)
{
    const char *const family = clo_mechanism_family(mechanism);
    const bool by_alias = strcmp(family, "subspaces") == 0;
    snprintf(text, size, "%s/%s", by_alias ? clo_mechanism_alias(mechanism) : family,
             clo_mechanism_method(mechanism));
}

static clo_status unknown_mechanism(const char *name, cli_error *err)
{
    const size_t count = clo_mechanism_count();
    const char *candidates[3 * 256], *alias;
    char full[256][64];
    size_t used = 0;
    for (size_t i = 0; i < count && i < 256; i++) {
        cli_mechanism_name(clo_mechanism_at(i), full[i], sizeof full[i]);
        candidates[used++] = clo_mechanism_family(clo_mechanism_at(i));
        candidates[used++] = full[i];
        if ((alias = clo_mechanism_alias(clo_mechanism_at(i)))) candidates[used++] = alias;
    }
    const char *const meant = cli_nearest(name, candidates, used);
    cli_hint(err, "cloister methods");
    if (clo_mechanism_retired(name))
        return cli_fail(err, CLO_ARGUMENT, "%s", clo_mechanism_retired(name));
    if (meant)
        return cli_fail(err, CLO_ARGUMENT, "there is no method '%s'; did you mean '%s'?", name,
                        meant);
    return cli_fail(err, CLO_ARGUMENT, "there is no method '%s'", name);
}

clo_status cli_mechanism(const char *name, const char *method, const clo_mechanism **out,
                         cli_error *err)
{
    char full[256];
    snprintf(full, sizeof full, "%s", name);
    if (method && strcmp(method, "auto") != 0) {
        const char *const slash = strchr(name, '/');
        if (slash && strcmp(slash + 1, method) != 0)
            return cli_fail(err, CLO_ARGUMENT,
                            "'%s' and --method %s name two methods: leave out one of them", name,
                            method);
        snprintf(full, sizeof full, "%.*s/%s", (int)strcspn(name, "/"), name, method);
    }
    const clo_mechanism *const found = clo_mechanism_find(full);
    if (!found) return unknown_mechanism(full, err);
    *out = found;
    return CLO_OK;
}

/* ---- budget --------------------------------------------------------------- */

clo_status cli_budget(const cli_args *args, clo_loss *out, cli_error *err)
{
    const char *const epsilon = cli_value(args, "epsilon");
    const char *const delta = cli_value(args, "delta");
    clo_loss loss = { 0, -1 };
    clo_status status;
    if (!epsilon) {
        cli_hint(err, "--epsilon 1");
        return cli_fail(err, CLO_ARGUMENT,
                        "give --epsilon: the most that this run may reveal about one record");
    }
    if ((status = cli_parse_positive("--epsilon", epsilon, &loss.epsilon, err)) != CLO_OK)
        return status;
    if (delta &&
        (!cli_scan_real(delta, strlen(delta), &loss.delta) || loss.delta < 0 || loss.delta >= 1))
        return cli_fail(err, CLO_ARGUMENT,
                        "--delta must be a number of at least 0 and below 1, not '%s'", delta);
    *out = loss;
    return CLO_OK;
}

/* ---- reading -------------------------------------------------------------- */

static clo_status delimiter_of(const char *text, char *out, cli_error *err)
{
    if (strcmp(text, "tab") == 0 || strcmp(text, "\\t") == 0)
        *out = '\t';
    else if (text[0] && !text[1])
        *out = text[0];
    else
        return cli_fail(err, CLO_ARGUMENT, "--delimiter must be one character or 'tab', not '%s'",
                        text);
    return CLO_OK;
}

static bool says(const cli_args *args, const char *option, const char *word)
{
    const char *const value = cli_value(args, option);
    return value && strcmp(value, word) == 0;
}

void cli_say_left_out(size_t rows, const char *what)
{
    if (rows)
        cli_warn("%zu row%s with a missing cell %s %s; a run ignores such rows, unless --missing "
                 "is fill",
                 rows, rows == 1 ? "" : "s", rows == 1 ? "is" : "are", what);
}

clo_status cli_comparing_options(const cli_args *args, clo_read_options *out, cli_error *err)
{
    const clo_status status = cli_read_options(args, out, err);
    if (status == CLO_OK && !cli_given(args, "text-columns")) out->text = CLO_TEXT_LATER;
    return status;
}

void cli_read_with(const clo_release *release, clo_read_options *options)
{
    options->schema = release ? clo_release_schema(release) : NULL;
    if (options->schema) options->text = CLO_TEXT_MISSING; /* which the schema settles itself */
}

clo_status cli_read_options(const cli_args *args, clo_read_options *out, cli_error *err)
{
    clo_read_options options = clo_read_options_default();
    const char *const delimiter = cli_value(args, "delimiter");
    const char *const cols = cli_value(args, "cols");
    clo_status status;
    uint64_t count = 0;
    options.format = cli_value(args, "format");
    options.columns = cli_value(args, "columns");
    options.unit = cli_value(args, "unit");
    options.fill = cli_value(args, "fill");
    if (says(args, "missing", "refuse")) options.missing = CLO_MISSING_REFUSE;
    if (says(args, "missing", "fill")) options.missing = CLO_MISSING_FILL;
    if (says(args, "text-columns", "missing")) options.text = CLO_TEXT_MISSING;
    if (says(args, "decimal", ",")) options.decimal = ',';
    if (says(args, "header", "yes")) options.header = CLO_HEADER_FIRST_LINE;
    if (says(args, "header", "no")) options.header = CLO_HEADER_NONE;
    if (delimiter && (status = delimiter_of(delimiter, &options.delimiter, err)) != CLO_OK)
        return status;
    if (cols && (status = cli_parse_whole("--cols", cols, 1, 1 << 20, &count, err)) != CLO_OK)
        return status;
    options.cols = (size_t)count;
    *out = options;
    return CLO_OK;
}
