/* cmd_report.c - cloister report: show a release, as text, as a page or as one chart. */
#include "cli.h"
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const cli_option rows[] = {
    CLI_OPTION("output", 'o', "FILE",
               "write to this file, whole or not at all; .html, .svg or .json chooses the format"),
    CLI_CHOICE("format", "F", "text|html|svg|vega-lite|json", NULL,
               "text; an HTML page; one chart as an SVG picture or as a Vega-Lite specification; "
               "the release as JSON"),
    CLI_OPTION("open", 0, NULL, "show the page in the browser; needs -o"),
    CLI_OPTION("wide", 0, NULL, "text: show all rows and columns, however many"),
    CLI_OPTION("json", 0, NULL, "the same as --format json, in the canonical form"),
    CLI_ROWS_END,
};
static const cli_group output_group = { "Output", NULL, rows };
static const cli_option chart_rows[] = {
    CLI_OPTION("chart", 0, "NAME",
               "svg, vega-lite: which chart (map, centers, curve, loadings, spectrum, angles or "
               "ranges); by default the first that the release has"),
    CLI_OPTION("axes", 0, "X,Y",
               "the two columns, by name or by number, that the chart map shows; by default the "
               "two directions in which the centers differ most"),
    CLI_OPTION("compare", 0, NULL, "several releases, of the same columns, in the same charts"),
    CLI_OPTION("ledger", 0, "LEDGER", "html: also show the budget in this ledger"),
    CLI_OPTION("dataset", 0, "NAME", "html: only this data set of the ledger"),
    CLI_ROWS_END,
};
static const cli_group chart_group = { "Charts and pages", NULL, chart_rows };

enum { MOST_RELEASES = 26 };

typedef struct request {
    const cli_args *args;
    const char *format;
    clo_release *releases[MOST_RELEASES];
    const char *names[MOST_RELEASES];
    size_t count;
    clo_ledger *ledger;
    char *axes;
    clo_page_options options;
} request;

/* ---- what is asked for ----------------------------------------------------------------------- */

/* The format that is asked for, or that the file's name has; "text" otherwise. */
static const char *format_of(const cli_args *args)
{
    static const char *const ends[][2] = {
        { ".svg", "svg" }, { ".html", "html" }, { ".htm", "html" }, { ".json", "json" }
    };
    const char *const given = cli_value(args, "format"), *const output = cli_value(args, "output");
    const char *const end = output ? strrchr(output, '.') : NULL;
    if (given) return given;
    if (cli_given(args, "json")) return "json";
    for (size_t i = 0; end && i < sizeof ends / sizeof *ends; i++)
        if (strcmp(end, ends[i][0]) == 0) return ends[i][1];
    return "text";
}

static bool is(const request *r, const char *format)
{
    return strcmp(r->format, format) == 0;
}

static clo_status check_options(const request *r, cli_error *err)
{
    const cli_args *const args = r->args;
    const bool one = is(r, "svg") || is(r, "vega-lite"), drawn = one || is(r, "html");
    if (cli_given(args, "wide") && !is(r, "text"))
        return cli_fail(err, CLO_ARGUMENT, "--wide is only for text: leave it out");
    if (cli_given(args, "json") && !is(r, "json"))
        return cli_fail(err, CLO_ARGUMENT, "choose --json or --format %s, not both", r->format);
    if (!one && cli_given(args, "chart"))
        return cli_fail(err, CLO_ARGUMENT, "--chart needs --format svg or --format vega-lite");
    if (!drawn && (cli_given(args, "axes") || cli_given(args, "compare")))
        return cli_fail(err, CLO_ARGUMENT,
                        "--axes and --compare need --format html or --format svg");
    if (!is(r, "html") && (cli_given(args, "ledger") || cli_given(args, "open")))
        return cli_fail(err, CLO_ARGUMENT, "--ledger and --open need a page: add -o PAGE.html");
    if (cli_given(args, "dataset") && !cli_given(args, "ledger"))
        return cli_fail(err, CLO_ARGUMENT, "--dataset names a data set of a ledger: add --ledger");
    if (cli_given(args, "open") && !cli_given(args, "output"))
        return cli_fail(err, CLO_ARGUMENT, "--open needs a file: add -o PAGE.html");
    return CLO_OK;
}

/* "X,Y" in two; a name that has a comma in it can be given by its number. */
static clo_status take_axes(request *r, cli_error *err)
{
    const char *const given = cli_value(r->args, "axes");
    if (!given) return CLO_OK;
    r->axes = cli_copy(given);
    char *const comma = strchr(r->axes, ',');
    if (!comma || strchr(comma + 1, ','))
        return cli_fail(err, CLO_ARGUMENT, "--axes must be two columns, as in age,income, not '%s'",
                        given);
    *comma = 0;
    r->options.x_column = r->axes;
    r->options.y_column = comma + 1;
    return CLO_OK;
}

static clo_status read_all(request *r, cli_error *err)
{
    const size_t count = cli_word_count(r->args);
    for (size_t i = 0; i < count; i++) {
        const char *const path = cli_word(r->args, i), *const slash = strrchr(path, '/');
        clo_status status = clo_release_read(path, &r->releases[i], &err->error);
        if (status != CLO_OK) return status;
        r->names[i] = slash ? slash + 1 : path;
        r->count++;
        status = cli_check_seal(r->releases[i], path, err);
        if (status != CLO_OK) return status;
    }
    r->options.others = (const clo_release *const *)(r->releases + 1);
    r->options.other_count = count - 1;
    r->options.names = r->names;
    return CLO_OK;
}

static clo_status take(request *r, cli_error *err)
{
    const char *const ledger = cli_value(r->args, "ledger");
    clo_status status = take_axes(r, err);
    r->options.chart = cli_value(r->args, "chart");
    r->options.dataset = cli_value(r->args, "dataset");
    if (status == CLO_OK) status = read_all(r, err);
    if (status == CLO_OK && ledger)
        status = clo_ledger_open_existing(ledger, &r->ledger, &err->error);
    r->options.ledger = r->ledger;
    return status;
}

/* ---- writing --------------------------------------------------------------------------------- */

static clo_status write_to(const request *r, clo_write *to, void *user, cli_error *err)
{
    const clo_release *const release = r->releases[0];
    if (is(r, "html")) return clo_release_html(release, &r->options, to, user, &err->error);
    if (is(r, "svg")) return clo_release_svg(release, &r->options, to, user, &err->error);
    if (is(r, "vega-lite")) return clo_release_vega(release, &r->options, to, user, &err->error);
    return clo_report(release,
                      is(r, "json")                ? CLO_JSON
                      : cli_given(r->args, "wide") ? CLO_TEXT_WIDE
                      : user == stdout             ? cli_text_format(stdout)
                                                   : CLO_TEXT,
                      to, user, &err->error);
}

static clo_status write_out(const request *r, cli_error *err)
{
    const char *const output = cli_value(r->args, "output");
    clo_file *file = NULL;
    if (!output || strcmp(output, "-") == 0) return write_to(r, cli_stream_write, stdout, err);
    for (size_t i = 0; i < r->count; i++)
        if (cli_same_file(output, cli_word(r->args, i)))
            return cli_fail(err, CLO_ARGUMENT, "-o %s would overwrite the release", output);
    if (r->ledger && cli_same_file(output, cli_value(r->args, "ledger")))
        return cli_fail(err, CLO_ARGUMENT, "-o %s would overwrite the ledger", output);
    clo_status status = clo_file_open(output, &file, &err->error);
    if (status == CLO_OK) status = write_to(r, clo_file_write, file, err);
    if (status == CLO_OK) status = clo_file_commit(file, &err->error);
    clo_file_close(file);
    return status;
}

/* The desktop knows which browser it is; the report is written all the same. */
static void open_page(const char *path)
{
    int code = 0;
    const pid_t child = fork();
    if (child == 0) {
        execlp("xdg-open", "xdg-open", path, (char *)NULL);
        execlp("open", "open", path, (char *)NULL);
        _exit(127);
    }
    if (child < 0 || waitpid(child, &code, 0) < 0 || code != 0)
        cli_warn("the page is written, but no browser could be opened: open %s yourself", path);
}

static clo_status run(const cli_args *args, cli_error *err)
{
    request r = { .args = args, .format = format_of(args), .options = clo_page_options_default() };
    const size_t most = cli_given(args, "compare") ? MOST_RELEASES : 1;
    clo_status status = cli_check_words(args, 1, most, "a release", err);
    if (status != CLO_OK && cli_word_count(args) > 1 && most == 1)
        cli_hint(err, "cloister report --compare A.json B.json -o both.html");
    if (status == CLO_OK) status = check_options(&r, err);
    if (status == CLO_OK) status = take(&r, err);
    if (status == CLO_OK) status = write_out(&r, err);
    if (status == CLO_OK && cli_given(args, "open")) open_page(cli_value(args, "output"));
    for (size_t i = 0; i < r.count; i++) clo_release_free(r.releases[i]);
    clo_ledger_close(r.ledger);
    free(r.axes);
    return status;
}

static const cli_group *const groups[] = { &output_group, &chart_group, NULL };

const cli_command cli_report = {
    .usage = "RELEASE.json [--wide]\n"
             "RELEASE.json -o PAGE.html [--ledger LEDGER] [--open]\n"
             "RELEASE.json -o CHART.svg [--chart NAME] [--axes X,Y]\n"
             "--compare RELEASE.json RELEASE.json ... -o PAGE.html",
    .about =
        "Shows a release as text, as a page or as a picture.  A release is public, and so is its "
        "report: it uses only the release.  It refuses a signed release that somebody changed.  "
        "'cloister ledger check' shows who signed it.\n\n"
        "A page is one HTML file that needs no network and runs no script.  It states what was "
        "released and what the guarantee means, in sentences that you can quote.  It shows every "
        "chart with its numbers, and how far noise may have moved them.\n\n"
        "There are these charts.  map: the centers on a plane, with their sizes and noise.  "
        "centers: every center in every column.  curve: the loss for each number of clusters.  "
        "loadings and angles: the directions of subspaces.  spectrum: the energy of directions, "
        "and that of noise.  ranges: released bounds.\n\n"
        "At a terminal the centers are a table with bars from the lowest to the highest value of "
        "a column.  After ± is the standard deviation of the noise.  In a file or a pipe, and "
        "with --wide, all arrays are written completely.",
    .examples = "Show a release as text\n"
                "cloister report out.json\n"
                "A page, in the browser\n"
                "cloister report out.json -o out.html --open\n"
                "The centers as a picture\n"
                "cloister report out.json -o centers.svg\n"
                "The same on two columns\n"
                "cloister report out.json --axes age,income -o two.svg\n"
                "Two releases side by side\n"
                "cloister report --compare may.json june.json -o both.html",
    .groups = groups,
    .run = run,
};
