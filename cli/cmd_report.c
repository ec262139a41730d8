/* cmd_report.c - cloister report: show a release, as text, as a page or as one chart. */
#include "cli.h"
#include <stdlib.h>
#include <string.h>

static const cli_option rows[] = {
    CLI_OPTION("output", 'o', "FILE",
               "write to this file, whole or not at all; .svg or .json says the format, too"),
    CLI_CHOICE("format", "F", "text|json|svg", NULL,
               "text for people, JSON for programs, or one chart as SVG"),
    CLI_OPTION("wide", 0, NULL, "text: show all rows and columns, however many"),
    CLI_OPTION("json", 0, NULL, "write the release again as JSON, in the canonical form"),
    CLI_OPTION("chart", 0, "NAME", "svg: which chart; by default the first that there is"),
    CLI_OPTION("axes", 0, "X,Y",
               "svg: the two columns, by name or by number, that the chart map shows; by default "
               "the two directions in which the centres differ most"),
    CLI_ROWS_END,
};
static const cli_group output_group = { "Output", rows };

/* The format that is asked for, or that the file's name has; "text" otherwise. */
static const char *format_of(const cli_args *args)
{
    const char *const given = cli_value(args, "format"), *const output = cli_value(args, "output");
    const char *const end = output ? strrchr(output, '.') : NULL;
    if (given) return given;
    if (cli_given(args, "json")) return "json";
    if (!end) return "text";
    return strcmp(end, ".svg") == 0 ? "svg" : strcmp(end, ".json") == 0 ? "json" : "text";
}

static clo_status check_options(const cli_args *args, const char *format, cli_error *err)
{
    const bool charts = strcmp(format, "svg") == 0;
    if (cli_given(args, "wide") && strcmp(format, "text") != 0)
        return cli_fail(err, CLO_ARGUMENT, "--wide is about text: leave it out");
    if (cli_given(args, "json") && strcmp(format, "json") != 0)
        return cli_fail(err, CLO_ARGUMENT, "--json and --format %s are two forms: ask for one",
                        format);
    if (!charts && (cli_given(args, "chart") || cli_given(args, "axes")))
        return cli_fail(err, CLO_ARGUMENT,
                        "--chart and --axes are about one chart: add --format "
                        "svg");
    return CLO_OK;
}

/* "X,Y" in two; a name that has a comma in it can be given by its number. */
static clo_status take_axes(const cli_args *args, char **copy, clo_page_options *options,
                            cli_error *err)
{
    const char *const given = cli_value(args, "axes");
    if (!given) return CLO_OK;
    *copy = cli_copy(given);
    char *const comma = strchr(*copy, ',');
    if (!comma || strchr(comma + 1, ','))
        return cli_fail(err, CLO_ARGUMENT, "--axes must be two columns, as in age,income, not '%s'",
                        given);
    *comma = 0;
    options->x_column = *copy;
    options->y_column = comma + 1;
    return CLO_OK;
}

static clo_status write_to(const cli_args *args, const clo_release *release, const char *format,
                           clo_write *to, void *user, cli_error *err)
{
    clo_page_options options = clo_page_options_default();
    char *axes = NULL;
    clo_status status;
    if (strcmp(format, "svg") != 0)
        return clo_report(release,
                          strcmp(format, "json") == 0 ? CLO_JSON
                          : cli_given(args, "wide")   ? CLO_TEXT_WIDE
                                                      : CLO_TEXT,
                          to, user, &err->error);
    options.chart = cli_value(args, "chart");
    status = take_axes(args, &axes, &options, err);
    if (status == CLO_OK) status = clo_release_svg(release, &options, to, user, &err->error);
    free(axes);
    return status;
}

static clo_status write_release(const cli_args *args, const clo_release *release,
                                const char *format, cli_error *err)
{
    const char *const output = cli_value(args, "output");
    clo_file *file = NULL;
    if (!output || strcmp(output, "-") == 0)
        return write_to(args, release, format, cli_stream_write, stdout, err);
    if (cli_same_file(output, cli_word(args, 0)))
        return cli_fail(err, CLO_ARGUMENT, "-o %s would overwrite the release", output);
    clo_status status = clo_file_open(output, &file, &err->error);
    if (status == CLO_OK) status = write_to(args, release, format, clo_file_write, file, err);
    if (status == CLO_OK) status = clo_file_commit(file, &err->error);
    clo_file_close(file);
    return status;
}

static clo_status run(const cli_args *args, cli_error *err)
{
    clo_release *release = NULL;
    const char *const format = format_of(args);
    clo_status status = cli_check_words(args, 1, 1, "a release", err);
    if (status == CLO_OK) status = check_options(args, format, err);
    if (status == CLO_OK) status = clo_release_read(cli_word(args, 0), &release, &err->error);
    if (status == CLO_OK) status = write_release(args, release, format, err);
    clo_release_free(release);
    return status;
}

static const cli_group *const groups[] = { &output_group, NULL };

const cli_command cli_report = {
    .usage = "RELEASE.json [-o FILE] [--format F] [option ...]",
    .about =
        "Says in words what a release holds and what it promises, or draws it.  A release is "
        "public, and so is its report.  As text, an array of more than eight columns is shown a "
        "column a line.\n\n"
        "The chart map has the centres on a plane: the area of a mark is the released number of "
        "records, bars are one standard deviation of the noise, rings how far about its centre "
        "records were counted in full, where the release tells them.",
    .examples = "Show a release as text\ncloister report out.json\n"
                "The centres as a picture\ncloister report out.json -o centers.svg\n"
                "The same on two columns\ncloister report out.json --axes age,income -o two.svg",
    .groups = groups,
    .run = run,
};
