/* cmd_plan.c - cloister plan: what a run would ask, cost and deliver.  It reads no data, so it can
 * be asked as often as one likes. */
#include "cli.h"
#include <string.h>

static const cli_option plan_rows[] = {
    CLI_OPTION("cols", 0, "D", "how many columns the data have; a bounds file says so too"),
    CLI_OPTION(
        "target", 0, "X",
        "say how many rows an epsilon needs for an error of at most X; with --rows: how much "
        "epsilon they need"),
    CLI_OPTION(
        "curve", 0, NULL,
        "a table of the error to expect over epsilon, with half and twice the clusters, too"),
    CLI_OPTION("method", 0, "M", "the method of the family; the same as FAMILY/M; by default auto"),
    CLI_PROJECT_OPTION,
    CLI_OPTION("explain", 0, NULL,
               "show what naive (epsilons and deltas of single asks added up; a Gaussian ask has "
               "the exact epsilon of its equal share of delta), advanced, Renyi and exact "
               "composition would charge for the same noise"),
    CLI_OPTION("output", 'o', "PAGE.html",
               "write the plan as a page, with the error to expect over epsilon and over rows"),
    CLI_OPTION("json", 0, NULL, "write JSON"),
    CLI_ROWS_END,
};
static const cli_group plan_group = { "Plan", plan_rows };

/* ---- the plan ---------------------------------------------------------------- */

static clo_status write_page(const clo_plan *plan, const char *path, cli_error *err)
{
    clo_file *file = NULL;
    if (strcmp(path, "-") == 0) return clo_plan_html(plan, cli_stream_write, stdout, &err->error);
    clo_status status = clo_file_open(path, &file, &err->error);
    if (status == CLO_OK) status = clo_plan_html(plan, clo_file_write, file, &err->error);
    if (status == CLO_OK) status = clo_file_commit(file, &err->error);
    clo_file_close(file);
    return status;
}

static clo_status answer_plan(cli_job *job, cli_error *err)
{
    const clo_plan *plan = NULL;
    const bool explain = cli_given(job->args, "explain");
    clo_status status = cli_job_plan(job, &plan, err);
    if (status != CLO_OK) return status;
    if (cli_given(job->args, "output"))
        return write_page(plan, cli_value(job->args, "output"), err);
    if (cli_given(job->args, "json")) {
        clo_writer json = cli_plan_json(stdout, plan);
        if (explain) status = cli_explain_json(&json, plan, err);
        cli_json_end(&json);
    } else {
        cli_plan_text(stdout, job->job, plan);
        if (explain) status = cli_explain_text(stdout, plan, err);
    }
    return status;
}

static clo_status check_words(const cli_args *args, cli_error *err)
{
    const bool target = cli_given(args, "target"), curve = cli_given(args, "curve");
    const bool rows = cli_given(args, "rows"), epsilon = cli_given(args, "epsilon");
    if (cli_given(args, "output") &&
        (target || curve || cli_given(args, "json") || cli_given(args, "explain")))
        return cli_fail(err, CLO_ARGUMENT,
                        "-o writes one plan as a page: leave --target, --curve, --explain and "
                        "--json out");
    if (!target && !curve) return CLO_OK;
    if (target && curve)
        return cli_fail(err, CLO_ARGUMENT, "--target and --curve are two questions: ask one");
    if (cli_given(args, "explain"))
        return cli_fail(err, CLO_ARGUMENT, "--explain is about one plan: leave %s out",
                        target ? "--target" : "--curve");
    if (curve && !rows)
        return cli_fail(err, CLO_ARGUMENT, "--curve needs the number of rows: give --rows");
    if (curve && epsilon)
        return cli_fail(err, CLO_ARGUMENT, "--curve goes through many an epsilon: leave it out");
    if (target && rows == epsilon)
        return cli_fail(err, CLO_ARGUMENT,
                        "--target looks for the rows that an --epsilon needs, or for the epsilon "
                        "that --rows need: give one of the two");
    return CLO_OK;
}

static clo_status run(const cli_args *args, cli_error *err)
{
    const char *const target = cli_value(args, "target");
    cli_job job = { .args = NULL };
    clo_status status = cli_check_words(args, 1, 1, "a mechanism", err);
    if (status != CLO_OK && cli_word(args, 1)) {
        cli_hint(err,
                 "cloister run %s FILE ... --dry-run, which plans for a file and spends nothing",
                 cli_word(args, 0));
        return cli_fail(err, CLO_ARGUMENT,
                        "a plan reads no data, so '%s' is not for it: say with --cols and --rows "
                        "what it is for",
                        cli_word(args, 1));
    }
    if (status == CLO_OK) status = check_words(args, err);
    if (status == CLO_OK) status = cli_job_open(&job, args, cli_word(args, 0), CLI_NO_FILES, err);
    if (status == CLO_OK)
        status = target                     ? cli_plan_target(&job, target, err)
                 : cli_given(args, "curve") ? cli_plan_curve(&job, err)
                                            : answer_plan(&job, err);
    cli_job_close(&job);
    return status;
}

static const cli_group *const groups[] = { &plan_group, &cli_privacy_group, &cli_domain_group,
                                           &cli_learning_group, NULL };

const cli_command cli_plan = {
    .usage = "FAMILY[/METHOD] --epsilon E --cols D (--norm R | --bounds LO,HI) [option ...]",
    .about =
        "Fixes everything that does not depend on the data: the queries, their noise, the price, "
        "and with --rows the error to expect.  It reads no data and charges nothing.",
    .examples = "What would three centres of 5000 records cost?\n"
                "cloister plan kmeans --clusters 3 --epsilon 1 --rows 5000 --cols 10 --norm 1\n"
                "What would other ways of adding up have charged?\n"
                "cloister plan kmeans --clusters 3 --epsilon 1 --rows 5000 --cols 10 --norm 1 "
                "--explain\n"
                "How many rows do I need?\n"
                "cloister plan kmeans --clusters 3 --epsilon 1 --cols 10 --norm 1 --target 0.05\n"
                "How much epsilon do my rows need?\n"
                "cloister plan kmeans --clusters 3 --rows 5000 --cols 10 --norm 1 --target 0.05\n"
                "What does each epsilon buy?\n"
                "cloister plan kmeans --clusters 4 --rows 5000 --cols 10 --norm 1 --curve\n"
                "The same as a page, with curves\n"
                "cloister plan kmeans --clusters 4 --epsilon 1 --rows 5000 --cols 10 --norm 1 -o "
                "plan.html",
    .groups = groups,
    .mechanism = "*",
    .run = run,
};
