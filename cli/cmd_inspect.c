/* cmd_inspect.c - cloister inspect: what a file holds, and what a run would take of it.  What it
 * prints comes from the data without noise, and it says so; of how large the numbers are it says
 * nothing: bounds must not come from the data. */
#include "cli.h"
#include <string.h>

static const char notice[] = "not private: for the operator only";

static const cli_option inspect_rows[] = {
    CLI_OPTION("unit", 0, "COLUMN", "the column that names the person of a row"),
    CLI_CHOICE("missing", "RULE", "null|fill|refuse", "null",
               "what a run would do with a record that has a missing cell"),
    CLI_OPTION("json", 0, NULL, "write JSON"),
    CLI_ROWS_END,
};
static const cli_group inspect_group = { "Inspection", NULL, inspect_rows };

static const char *kind_name(clo_column_kind kind)
{
    switch (kind) {
    case CLO_COLUMN_NUMBERS:
        return "numbers";
    case CLO_COLUMN_TEXT:
        return "text";
    case CLO_COLUMN_OTHER_DECIMAL:
        return "decimal mark";
    case CLO_COLUMN_THOUSANDS:
        return "thousands";
    case CLO_COLUMN_SIGNS:
        return "%, currency";
    case CLO_COLUMN_EMPTY:
        return "empty";
    case CLO_COLUMN_UNIT:
        return "unit";
    }
    return "?";
}

static const char *delimiter_name(char delimiter)
{
    static const struct {
        char delimiter;
        const char *name;
    } names[] = {
        { ',', "comma" }, { ';', "semicolon" }, { '\t', "tab" }, { '|', "bar" }, { ' ', "blank" }
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].delimiter == delimiter) return names[i].name;
    return "another character";
}

clo_column cli_column_at(const clo_inspection *found, size_t j)
{
    clo_column column = { .struct_size = sizeof column };
    clo_inspection_column(found, j, &column);
    return column;
}

/* ---- as text ----------------------------------------------------------------------- */

enum { LONGEST_NAME = 32, SHARE_BYTES = 16 };

/* "2.8 %" of the rows; one that is small is not none. */
static void show_share(uint64_t part, uint64_t all, char out[SHARE_BYTES])
{
    const double percent = all ? 100.0 * (double)part / (double)all : 0;
    if (part == 0)
        snprintf(out, SHARE_BYTES, "none");
    else if (percent < 0.05)
        snprintf(out, SHARE_BYTES, "< 0.1 %%");
    else
        snprintf(out, SHARE_BYTES, "%.1f %%", percent);
}

static void print_file(const clo_inspection *found, const char *path)
{
    const char *const packing = clo_inspection_packing(found);
    const char delimiter = clo_inspection_delimiter(found);
    cli_print("%s: %s", path, clo_inspection_format(found));
    if (packing) printf(", compressed with %s", packing);
    if (delimiter)
        printf(", cells separated by a %s, %s header", delimiter_name(delimiter),
               clo_inspection_has_header(found) ? "a" : "no");
    printf(", %llu row%s, %zu column%s\n\n", (unsigned long long)clo_inspection_rows(found),
           clo_inspection_rows(found) == 1 ? "" : "s", clo_inspection_cols(found),
           clo_inspection_cols(found) == 1 ? "" : "s");
}

/* What a run would do with the column. */
static const char *fate(const clo_inspection *found, clo_column column)
{
    const bool numbers = column.kind == CLO_COLUMN_NUMBERS || column.kind == CLO_COLUMN_EMPTY;
    if (column.kind == CLO_COLUMN_UNIT) return "uses it as the person";
    if (!column.taken) return "leaves it out";
    return numbers || !clo_inspection_refusal(found) ? "uses it" : "refuses it";
}

static void print_columns(const clo_inspection *found)
{
    const size_t cols = clo_inspection_cols(found);
    const uint64_t rows = clo_inspection_rows(found);
    clo_writer out = { .write = cli_stream_write, .user = stdout };
    size_t width = 6;
    char share[SHARE_BYTES];
    for (size_t j = 0; j < cols; j++) {
        const char *const name = cli_column_at(found, j).name;
        const size_t here = name ? clo_text_width(name) : 0;
        if (here > width) width = here < LONGEST_NAME ? here : LONGEST_NAME;
    }
    printf("%6s  %-*s  %-12s  %8s  %s\n", "", (int)width, "column", "holds", "missing", "a run");
    for (size_t j = 0; j < cols; j++) {
        const clo_column column = cli_column_at(found, j);
        show_share(column.missing, rows, share);
        printf("%6zu  ", j + 1);
        clo_writer_cell(&out, column.name ? column.name : "", width, false);
        printf("  %-12s  %8s  %s\n", kind_name(column.kind), share, fate(found, column));
    }
}

static size_t count_taken(const clo_inspection *found)
{
    size_t taken = 0;
    for (size_t j = 0; j < clo_inspection_cols(found); j++) taken += cli_column_at(found, j).taken;
    return taken;
}

static void print_sum(const cli_args *args, const clo_inspection *found)
{
    const uint64_t null_rows = clo_inspection_null_rows(found);
    const char *const refusal = clo_inspection_refusal(found), *rule = cli_value(args, "missing");
    if (refusal) {
        printf("\nA run with these options would be refused, before anything is spent:\n%s\n",
               refusal);
        return;
    }
    printf("\nA run with these options uses %zu of %zu columns.  Rows with a missing cell in "
           "them: %llu of %llu%s.\n",
           count_taken(found), clo_inspection_cols(found), (unsigned long long)null_rows,
           (unsigned long long)clo_inspection_rows(found),
           null_rows == 0                      ? ""
           : rule && strcmp(rule, "fill") == 0 ? ", filled with public values"
                                               : ", which are ignored");
}

/* ---- as JSON ----------------------------------------------------------------------- */

static void print_json(const clo_inspection *found)
{
    const char *const packing = clo_inspection_packing(found);
    const char *const refusal = clo_inspection_refusal(found);
    const char delimiter[2] = { clo_inspection_delimiter(found), 0 };
    clo_writer json = cli_json_begin(stdout);
    clo_json_text(&json, "schema", "cloister.inspection/1");
    clo_json_bool(&json, "private", false);
    clo_json_text(&json, "notice", notice);
    clo_json_text(&json, "format", clo_inspection_format(found));
    if (packing) clo_json_text(&json, "packing", packing);
    if (delimiter[0]) {
        clo_json_text(&json, "delimiter", delimiter);
        clo_json_bool(&json, "header", clo_inspection_has_header(found));
    }
    clo_json_count(&json, "rows", clo_inspection_rows(found));
    clo_json_count(&json, "null_rows", clo_inspection_null_rows(found));
    clo_json_count(&json, "taken", count_taken(found));
    if (refusal) clo_json_text(&json, "refusal", refusal);
    clo_json_open(&json, "columns", '[');
    for (size_t j = 0; j < clo_inspection_cols(found); j++) {
        const clo_column column = cli_column_at(found, j);
        clo_json_open(&json, NULL, '{');
        if (column.name) clo_json_text(&json, "name", column.name);
        clo_json_text(&json, "holds", kind_name(column.kind));
        clo_json_count(&json, "missing", column.missing);
        clo_json_bool(&json, "taken", column.taken);
        clo_json_close(&json, '}');
    }
    clo_json_close(&json, ']');
    cli_json_end(&json);
}

/* ---- the command ------------------------------------------------------------------- */

static clo_status run(const cli_args *args, cli_error *err)
{
    cli_write_for_owner();
    clo_inspection *found = NULL;
    clo_read_options options;
    cli_progress progress;
    clo_status status = cli_check_words(args, 1, 1, "a file", err);
    if (status == CLO_OK) status = cli_read_options(args, &options, err);
    if (status != CLO_OK) return status;
    cli_progress_start(&progress, "reading", false);
    cli_stop_catch(true);
    cli_stop_words("stopped while the data were read");
    options.progress = cli_progress_step;
    options.user = &progress;
    status = clo_inspect(cli_word(args, 0), &options, &found, &err->error);
    cli_progress_end(&progress);
    if (status != CLO_OK) return status;
    cli_warn("%s", notice);
    if (cli_given(args, "json")) {
        print_json(found);
    } else {
        print_file(found, cli_word(args, 0));
        print_columns(found);
        print_sum(args, found);
        cli_inspect_hints(args, found);
    }
    clo_inspection_free(found);
    return cli_flush(stdout, err);
}

static const cli_group *const groups[] = { &inspect_group, &cli_reading_group, NULL };

const cli_command cli_inspect = {
    .usage = "FILE [option ...]",
    .about = "Shows what is in FILE ('-' is standard input): its format, rows and columns, which "
             "columns are numbers, and how many cells are missing.  It also shows what a run with "
             "the same options would use.  The result is NOT private: it comes from the data "
             "without noise, and is for your eyes only.\n\n"
             "It does not show how large the numbers are.  Bounds that come from the data are not "
             "public, and a release that uses them is not private.  Take bounds from general "
             "knowledge, or find them with 'cloister bounds'.",
    .examples = "Before the first run\n"
                "cloister inspect diamonds.csv\n"
                "What would be used then?\n"
                "cloister inspect diamonds.csv --columns -cut,-color,-clarity",
    .groups = groups,
    .run = run,
};
