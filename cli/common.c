/* common.c - the options that mean the same in every command, and what they are turned into. */
#include "cli.h"
#include <string.h>

static const cli_option privacy_rows[] = {
    CLI_OPTION("epsilon", 0, "E",
               "the privacy loss to spend; smaller is more private; must be given"),
    CLI_OPTION(
        "delta", 0, "D",
        "the small probability with which epsilon may not hold; by default the smaller of 1e-6 and "
        "rows^-1.5 (rounded down) if the number of rows is public, otherwise 1e-6"),
    CLI_CHOICE("relation", "R", "replace|add-remove", "replace",
               "what is hidden: what a record says, or also whether it is there at all"),
    CLI_CHOICE("accept", "G", "exact|idealized|asymptotic", "exact",
               "the weakest guarantee that you accept"),
    CLI_ROWS_END,
};
const cli_group cli_privacy_group = { "Privacy", privacy_rows };

static const cli_option domain_rows[] = {
    CLI_OPTION("norm", 0, "R",
               "a public radius: a record farther out is moved to the nearest point within it; "
               "'private': the run finds one first"),
    CLI_OPTION("bounds", 0, "LO,HI",
               "public bounds of every column, or a CSV file with a line for each: "
               "name,lower,upper or lower,upper; columns of different units are put on one scale"),
    CLI_OPTION("center", 0, "V1,V2,...",
               "a public point that the radius is measured from; by default the origin; 'private': "
               "the run finds one first"),
    CLI_OPTION("rows", 0, "N",
               "the public number of rows; a run counts them itself if their number is public: "
               "under replace, without --unit"),
    CLI_OPTION("rows-per-unit", 0, "M",
               "how many rows of one person are kept at most; the others are dropped"),
    CLI_ROWS_END,
};
const cli_group cli_domain_group = { "What is publicly known about the data", domain_rows };

static const cli_option learning_rows[] = {
    CLI_OPTION("clusters-at-most", 0, "K",
               "with --clusters auto: the most clusters to try; by default 20"),
    CLI_OPTION(
        "norm-at-most", 0, "MAX",
        "with --norm private or --center private: a generous public radius that no record needs to "
        "exceed; one that is far too large costs little; not needed with column bounds"),
    CLI_OPTION("norm-quantile", 0, "P",
               "the share of the records that a private norm should hold; by default 0.98"),
    CLI_OPTION("share-norm", 0, "S", "the share of epsilon for a private norm; by default 0.1"),
    CLI_OPTION("share-center", 0, "S",
               "the share of the budget for a private centre; by default 0.1"),
    CLI_ROWS_END,
};
const cli_group cli_learning_group = { "What the run finds out about the data first",
                                       learning_rows };

static const cli_option reading_rows[] = {
    CLI_OPTION("columns", 0, "LIST",
               "the columns to use, by name or number: age,income or 2-7; or all but some: "
               "-id,-4-6"),
    CLI_CHOICE("header", "WORD", "yes|no|auto", "auto",
               "whether the first line of a CSV holds names"),
    CLI_OPTION("delimiter", 0, "C", "what separates the cells of a CSV: one character, or 'tab'"),
    CLI_CHOICE("decimal", "C", ".|,", ".", "the decimal mark of a CSV"),
    CLI_CHOICE("text-columns", "RULE", "refuse|missing", "refuse",
               "what to do with a CSV that has a column of text: refuse it before anything is "
               "spent, or treat every text cell as missing"),
    CLI_CHOICE("format", "F", "csv|npy|libsvm", NULL,
               "the format of the file; by default found from its content"),
    CLI_OPTION("cols", 0, "D",
               "how many columns the file has: needed for LIBSVM, and for CSV without a header if "
               "the number of rows is not public"),
    CLI_ROWS_END,
};
const cli_group cli_reading_group = { "Reading", reading_rows };

static const cli_option record_rows[] = {
    CLI_OPTION("unit", 0, "COLUMN",
               "the column that names the person a row belongs to: the guarantee is then per "
               "person"),
    CLI_CHOICE("missing", "RULE", "null|fill|refuse", "null",
               "what to do with a record that has a cell which is not a number: ignore the record, "
               "put a public value into the cell, or refuse the run before anything is spent"),
    CLI_OPTION("fill", 0, "COLUMN=V,...",
               "with --missing fill: the public value for missing cells, one for each column or "
               "one for all; by default the middle of the public bounds"),
    CLI_ROWS_END,
};
const cli_group cli_record_group = { "Records", record_rows };

static const cli_option comparing_rows[] = {
    CLI_OPTION("unit", 0, "COLUMN", "the column that named the person; it is not measured"),
    CLI_CHOICE("missing", "RULE", "null|fill", "null",
               "what to do with a row that has a cell which is not a number: ignore the row, as a "
               "run does, or put the value into the cell that a run would put there"),
    CLI_OPTION("fill", 0, "COLUMN=V,...",
               "with --missing fill: the value for missing cells, one for each column or one for "
               "all; by default the middle of the bounds in the release"),
    CLI_ROWS_END,
};
const cli_group cli_comparing_group = { "Records", comparing_rows };

static const cli_option ledger_rows[] = {
    CLI_OPTION("ledger", 0, "FILE", "the ledger file to charge; by default your own"),
    CLI_OPTION("dataset", 0, "NAME",
               "the name under which the data are charged; by default the name of the file"),
    CLI_OPTION("new", 0, NULL,
               "charge these data under a second name, with a cap of its own, although the ledger "
               "knows them under another"),
    CLI_OPTION("purpose", 0, "TEXT",
               "what the release is for; the ledger keeps it with the charge"),
    CLI_OPTION("no-ledger", 0, NULL,
               "charge nothing; the release then says that it is not metered"),
    CLI_ROWS_END,
};
const cli_group cli_ledger_group = { "Ledger", ledger_rows };

static const cli_option running_rows[] = {
    CLI_OPTION("dry-run", 0, NULL, "stop before anything is spent, and show what would be spent"),
    CLI_OPTION("yes", 'y', NULL,
               "do not ask before spending on a data set without a cap; spend also if noise would "
               "hide the result, or if the rows are too few to find a private norm or bounds"),
    CLI_OPTION("threads", 0, "N",
               "how many threads to use; the release is the same with any number"),
    CLI_OPTION("memory", 0, "SIZE",
               "take at most that much memory, such as 512M or 2G: the rows are not held but read "
               "again for each question; the release is the same"),
    CLI_OPTION(
        "cache", 0, "DIR",
        "with --memory: keep the bounded rows in DIR, encrypted and without a name, and read "
        "them there in place of the files; the release is the same"),
    CLI_OPTION("seed", 0, "TEXT", "draw the noise from this seed: reproducible, not private"),
    CLI_OPTION("quiet", 'q', NULL, "print errors and warnings only"),
    CLI_ROWS_END,
};
const cli_group cli_running_group = { "Running", running_rows };

/* ---- mechanisms ----------------------------------------------------------- */

void cli_mechanism_name(const clo_mechanism *mechanism, char *text, size_t size)
{
    snprintf(text, size, "%s/%s", clo_mechanism_family(mechanism), clo_mechanism_method(mechanism));
}

static clo_status unknown_mechanism(const char *name, cli_error *err)
{
    const size_t count = clo_mechanism_count();
    const char *candidates[2 * 256];
    char full[256][64];
    size_t used = 0;
    for (size_t i = 0; i < count && i < 256; i++) {
        cli_mechanism_name(clo_mechanism_at(i), full[i], sizeof full[i]);
        candidates[used++] = clo_mechanism_family(clo_mechanism_at(i));
        candidates[used++] = full[i];
    }
    const char *const meant = cli_nearest(name, candidates, used);
    cli_hint(err, "cloister methods");
    if (meant)
        return cli_fail(err, CLO_ARGUMENT, "there is no mechanism '%s'; did you mean '%s'?", name,
                        meant);
    return cli_fail(err, CLO_ARGUMENT, "there is no mechanism '%s'", name);
}

clo_status cli_mechanism(const char *name, const char *method, const clo_mechanism **out,
                         cli_error *err)
{
    char full[256];
    snprintf(full, sizeof full, "%s", name);
    if (method && strcmp(method, "auto") != 0) {
        const char *const slash = strchr(name, '/');
        if (slash && strcmp(slash + 1, method) != 0)
            return cli_fail(err, CLO_ARGUMENT, "'%s' and --method %s name two methods", name,
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
                        "--epsilon must be given: you decide how much privacy this may cost");
    }
    if ((status = cli_parse_positive("--epsilon", epsilon, &loss.epsilon, err)) != CLO_OK)
        return status;
    if (delta &&
        (!cli_scan_real(delta, strlen(delta), &loss.delta) || loss.delta < 0 || loss.delta >= 1))
        return cli_fail(err, CLO_ARGUMENT,
                        "--delta must be a number from 0 up to, but not including, 1, not '%s'",
                        delta);
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
        cli_warn("%zu row%s with a missing cell, which a run without --missing fill ignores, %s %s",
                 rows, rows == 1 ? "" : "s", rows == 1 ? "is" : "are", what);
}

clo_status cli_comparing_options(const cli_args *args, clo_read_options *out, cli_error *err)
{
    const clo_status status = cli_read_options(args, out, err);
    if (status == CLO_OK && !cli_given(args, "text-columns")) out->text = CLO_TEXT_LATER;
    return status;
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
