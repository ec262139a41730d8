/* cmd_schema.c - cloister schema: a first schema for a file, and what of a file does not fit one.
 * Both look at the operator's own data, and say so. */
#include "cli.h"
#include <stdlib.h>
#include <string.h>

static const char notice[] = "not private: for the operator only";

static const cli_option schema_rows[] = {
    CLI_OPTION("output", 'o', "FILE", "write the schema to this file; by default standard output"),
    CLI_OPTION("from-data", 0, NULL,
               "read bounds and levels from the data, for data that are public anyway; every run, "
               "report and release will say so"),
    CLI_OPTION("json", 0, NULL, "write JSON"),
    CLI_ROWS_END,
};
static const cli_group schema_group = { "Schema", NULL, schema_rows };

static const cli_verb verbs[] = {
    { .name = "draft",
      .group = "Verbs",
      .usage = "FILE.csv [--from-data] [-o FILE]",
      .options = "output|from-data",
      .summary = "write a first schema from names and types",
      .about = "Writes a schema with the name and the type of each column.  If a run needs a "
               "public fact, a bound or a list of levels, it writes null: state the fact from a "
               "codebook, a law or general knowledge.  What you read off the data is not public.",
      .examples = "A first schema, to be completed by hand\n"
                  "cloister schema draft people.csv -o people.schema.json" },
    { .name = "check",
      .group = "Verbs",
      .usage = "SCHEMA.json [FILE.csv] [--json]",
      .options = "json",
      .summary = "say what is wrong with a schema, or what of a file does not fit it",
      .about = "Without a file, says whether a run can use the schema.  With one, counts the cells "
               "that are missing, outside of bounds or lists, or not readable.  The counts come "
               "from the data without noise and are for your eyes only.  Correct mistakes by them, "
               "but do not tune bounds: a bound that follows the data is not public.",
      .examples = "Does the file fit?\n"
                  "cloister schema check people.schema.json people.csv" },
    { .name = NULL },
};

/* ---- draft ------------------------------------------------------------------------- */

static clo_status draft(const cli_args *args, cli_error *err)
{
    const char *const output = cli_value(args, "output");
    const bool from_data = cli_given(args, "from-data");
    clo_read_options options;
    clo_file *file = NULL;
    clo_status status = cli_check_words(args, 2, 2, "a CSV file", err);
    if (status == CLO_OK) status = cli_read_options(args, &options, err);
    if (status == CLO_OK) status = clo_file_open(output ? output : "-", &file, &err->error);
    if (status == CLO_OK)
        status = clo_schema_draft(cli_word(args, 1), &options, from_data, clo_file_write, file,
                                  &err->error);
    if (status == CLO_OK) status = clo_file_commit(file, &err->error);
    clo_file_close(file);
    if (status != CLO_OK) return status;
    if (from_data)
        cli_warn(
            "bounds and levels come from the data: use this schema only if the data are public");
    else
        cli_note(
            "next: state what is null from public knowledge, then: cloister schema check %s %s",
            output ? output : "SCHEMA.json", cli_word(args, 1));
    return CLO_OK;
}

/* ---- check ------------------------------------------------------------------------- */

static void say_share(uint64_t part, uint64_t all)
{
    const double percent = all ? 100.0 * (double)part / (double)all : 0;
    if (part == 0)
        printf("  %9s", "none");
    else if (percent < 0.05)
        printf("  %9s", "< 0.1 %");
    else
        printf("  %7.1f %%", percent);
}

static void print_fits(const clo_column_fit *fits, size_t count, uint64_t rows)
{
    clo_writer out = { .write = cli_stream_write, .user = stdout };
    printf("%-24s  %9s  %9s  %9s\n", "column", "missing", "outside", "unread");
    for (size_t j = 0; j < count; j++) {
        clo_writer_cell(&out, fits[j].name, 24, false);
        say_share(fits[j].missing, rows);
        say_share(fits[j].outside, rows);
        say_share(fits[j].unread, rows);
        putchar('\n');
    }
    fputs("\noutside: beyond the bounds, or in no list.  unread: text where a number, a date or a "
          "truth value\nshould be.  Do not tune bounds by these shares: a bound that follows the "
          "data is not public.\n",
          stdout);
}

static void print_json(const clo_column_fit *fits, size_t count, uint64_t rows)
{
    clo_writer json = cli_json_begin(stdout);
    clo_json_text(&json, "schema", "cloister.schema-check/1");
    clo_json_bool(&json, "private", false);
    clo_json_text(&json, "notice", notice);
    clo_json_count(&json, "rows", rows);
    clo_json_open(&json, "columns", '[');
    for (size_t j = 0; j < count; j++) {
        clo_json_open(&json, NULL, '{');
        clo_json_text(&json, "name", fits[j].name);
        clo_json_count(&json, "missing", fits[j].missing);
        clo_json_count(&json, "outside", fits[j].outside);
        clo_json_count(&json, "unread", fits[j].unread);
        clo_json_close(&json, '}');
    }
    clo_json_close(&json, ']');
    cli_json_end(&json);
}

static clo_status compare(const cli_args *args, const clo_schema *schema, cli_error *err)
{
    const size_t count = cli_used_columns(schema);
    clo_column_fit *const fits = cli_alloc(count, sizeof *fits);
    clo_read_options options;
    uint64_t rows = 0;
    for (size_t j = 0; j < count; j++) fits[j].struct_size = sizeof *fits;
    clo_status status = cli_read_options(args, &options, err);
    if (status == CLO_OK)
        status =
            clo_schema_try(schema, cli_word(args, 2), &options, fits, count, &rows, &err->error);
    if (status == CLO_OK) {
        cli_warn("%s", notice);
        (cli_given(args, "json") ? print_json : print_fits)(fits, count, rows);
    }
    free(fits);
    return status;
}

/* What makes a schema good for little, by public facts alone. */
static void warn_of_traps(const clo_schema *schema)
{
    enum { MANY = 30 };
    clo_field field = { .struct_size = sizeof field };
    for (size_t i = 0; clo_schema_field(schema, i, &field); i++)
        if (field.kind == CLO_FIELD_LEVELS && field.levels > MANY)
            cli_warn(
                "'%s' has %zu levels, each seldom seen in a cluster: group them, by chapter or "
                "region, from public knowledge",
                field.name, field.levels);
    if (clo_schema_is_from_data(schema))
        cli_warn(
            "bounds or levels come from the data: a release is private only for anyone who knows "
            "them already");
}

static clo_status check(const cli_args *args, cli_error *err)
{
    clo_schema *schema = NULL;
    clo_status status = cli_check_words(args, 2, 3, "a schema, and perhaps a CSV file", err);
    if (status == CLO_OK) status = clo_schema_read(cli_word(args, 1), &schema, &err->error);
    if (status != CLO_OK) return status;
    warn_of_traps(schema);
    if (cli_word(args, 2))
        status = compare(args, schema, err);
    else
        printf("%zu columns in %zu coordinates, digest %s\n", cli_used_columns(schema),
               clo_schema_coordinates(schema), clo_schema_digest(schema));
    clo_schema_free(schema);
    return status;
}

/* ---- the command ------------------------------------------------------------------- */

static clo_status check_options(const cli_args *args, const cli_verb *verb, cli_error *err)
{
    for (const cli_option *option = schema_rows; option->name; option++)
        if (cli_given(args, option->name) && !cli_in_choices(verb->options, option->name))
            return cli_fail(err, CLO_ARGUMENT, "'schema %s' has no option --%s", verb->name,
                            option->name);
    return CLO_OK;
}

extern const cli_command cli_schema;

static clo_status run(const cli_args *args, cli_error *err)
{
    const char *const word = cli_word(args, 0);
    cli_write_for_owner();
    clo_status status = cli_check_words(args, 1, 3, "a verb: draft or check", err);
    if (status != CLO_OK) return status;
    const cli_verb *const verb = cli_find_verb(&cli_schema, word);
    if (!verb) {
        cli_hint(err, "cloister schema --help");
        return cli_fail(err, CLO_ARGUMENT, "'schema' has no verb '%s'", word);
    }
    status = check_options(args, verb, err);
    if (status == CLO_OK) status = (verb == verbs ? draft : check)(args, err);
    return status == CLO_OK ? cli_flush(stdout, err) : status;
}

static const cli_group *const groups[] = { &schema_group, &cli_reading_group, NULL };

const cli_command cli_schema = {
    .usage = "VERB FILE [option ...]",
    .about =
        "A schema is a file beside the data that states their columns once: names, types, "
        "bounds, levels, dates, the person of a row.  A run with --schema takes categories and "
        "dates, and needs neither --bounds nor --norm.  Its form is the Table Schema standard; "
        "docs/guides/schema.md lists the keys.",
    .examples = "A first schema, to be completed by hand\n"
                "cloister schema draft people.csv -o people.schema.json\n"
                "Does the file fit?\n"
                "cloister schema check people.schema.json people.csv\n"
                "Then\n"
                "cloister run kmeans people.csv --schema people.schema.json --clusters 3 "
                "--epsilon 1",
    .verbs = verbs,
    .groups = groups,
    .run = run,
};
