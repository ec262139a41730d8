/* cmd_report.c - cloister report: show a release, as text, as a page or as one chart. */
#include "cli.h"
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const cli_option rows[] = {
    CLI_OPTION("output", 'o', "FILE",
               "write to this file, whole or not at all; .html, .svg or .json says the format, "
               "too"),
    CLI_CHOICE("format", "F", "text|html|svg|vega-lite|json", NULL,
               "text; a page; one chart as a picture, or as data and a specification that others "
               "can restyle; the release again as JSON"),
    CLI_OPTION("open", 0, NULL, "show the page in the browser; needs -o"),
    CLI_OPTION("wide", 0, NULL, "text: show all rows and columns, however many"),
    CLI_OPTION("json", 0, NULL, "the same as --format json, in the canonical form"),
    CLI_ROWS_END,
};
static const cli_group output_group = { "Output", rows };
static const cli_option chart_rows[] = {
    CLI_OPTION("chart", 0, "NAME",
               "svg, vega-lite: which chart (map, centers, curve, loadings, spectrum, angles or "
               "ranges); by default the first that the release has"),
    CLI_OPTION("axes", 0, "X,Y",
               "the two columns, by name or by number, that the chart map shows; by default the "
               "two directions in which the centres differ most"),
    CLI_OPTION("compare", 0, NULL, "several releases, of the same columns, in the same charts"),
    CLI_OPTION("ledger", 0, "LEDGER", "html: what this ledger says was spent and is left"),
    CLI_OPTION("dataset", 0, "NAME", "html: of this data set of the ledger alone"),
    CLI_ROWS_END,
};
static const cli_group chart_group = { "Charts and pages", chart_rows };

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
        return cli_fail(err, CLO_ARGUMENT, "--wide is about text: leave it out");
    if (cli_given(args, "json") && !is(r, "json"))
        return cli_fail(err, CLO_ARGUMENT, "--json and --format %s are two forms: ask for one",
                        r->format);
    if (!one && cli_given(args, "chart"))
        return cli_fail(err, CLO_ARGUMENT,
                        "--chart is about one chart: add --format svg or vega-lite");
    if (!drawn && (cli_given(args, "axes") || cli_given(args, "compare")))
        return cli_fail(err, CLO_ARGUMENT,
                        "--axes and --compare are about charts: add --format html or svg");
    if (!is(r, "html") && (cli_given(args, "ledger") || cli_given(args, "open")))
        return cli_fail(err, CLO_ARGUMENT,
                        "--ledger and --open are about a page: add -o with a name in .html");
    if (cli_given(args, "dataset") && !cli_given(args, "ledger"))
        return cli_fail(err, CLO_ARGUMENT, "--dataset is one of a ledger: add --ledger");
    if (cli_given(args, "open") && !cli_given(args, "output"))
        return cli_fail(err, CLO_ARGUMENT, "--open shows a file: add -o with its name");
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

static clo_status check_seal(const clo_release *release, const char *path, cli_error *err)
{
    if (clo_release_seal(release) != CLO_SEAL_BROKEN) return CLO_OK;
    cli_hint(err, "cloister ledger fetch, which has it as it was");
    return cli_fail(err, CLO_SIGNATURE,
                    "%.300s was changed after it was signed: what it says is not what was released",
                    path);
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
        status = check_seal(r->releases[i], path, err);
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
        "Says in words what a release holds and what it promises, or draws it.  A release is "
        "public, and so is its report: it holds nothing else of the data.  A signed release that "
        "was changed since is refused; whose signature it is, 'cloister ledger check' says.\n\n"
        "A page is one file that needs no network and runs no script.  It says what was released "
        "in words that can be quoted, what the guarantee means, shows every chart with its "
        "numbers, how sure they are, how it was made and how to use it.  Of many columns it shows "
        "those in which the centres differ most, and says so.\n\n"
        "The charts: map has the centres on a plane (area: the released number of records; bars: "
        "one standard deviation of the noise; rings: how far about its centre records were counted "
        "in full), centers every centre in every column, curve the loss over the number of "
        "clusters that was chosen by it, loadings and angles the directions of subspaces, spectrum "
        "their energy beside the edge of the noise, ranges released bounds.\n\n"
        "At a terminal the centres are a table with bars: a bar goes from the lowest number of its "
        "column to the highest, and after a number stands by how much noise may have moved it.  To "
        "a file or a pipe, and with --wide, arrays are written as they are, and one of more than "
        "eight columns a column a line.",
    .examples = "Show a release as text\ncloister report out.json\n"
                "A page for people, in the browser\ncloister report out.json -o out.html --open\n"
                "The centres as a picture\ncloister report out.json -o centers.svg\n"
                "The same on two columns\ncloister report out.json --axes age,income -o two.svg\n"
                "Two releases side by side\n"
                "cloister report --compare may.json june.json -o both.html",
    .groups = groups,
    .run = run,
};
