/* cmd_plan.c - cloister plan: what a run would ask, cost and deliver.  It reads no data, so it can
 * be asked as often as one likes. */
#include "cli.h"
#include <string.h>

static const cli_option plan_rows[] = {
    CLI_OPTION("cols", 0, "D", "how many columns the data have; not needed with a bounds file"),
    CLI_OPTION(
        "target", 0, "X",
        "find the number of rows that --epsilon needs for an error of at most X; with --rows "
        "instead of --epsilon: find the epsilon"),
    CLI_OPTION("curve", 0, NULL,
               "show the expected error for many epsilons, also with half and twice the clusters"),
    CLI_OPTION("accountants", 0, NULL,
               "show what other ways of adding up would charge for the same noise: naive, "
               "advanced, Renyi and exact"),
    CLI_OPTION("output", 'o', "PAGE.html",
               "write the plan as an HTML page, with the expected error for other epsilons and "
               "numbers of rows"),
    CLI_OPTION("json", 0, NULL, "write JSON"),
    CLI_ROWS_END,
};
static const cli_group plan_group = { "Plan", NULL, plan_rows };

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
    const bool accountants = cli_given(job->args, "accountants");
    clo_status status = cli_job_plan(job, &plan, err);
    if (status != CLO_OK) return status;
    if (cli_given(job->args, "output"))
        return write_page(plan, cli_value(job->args, "output"), err);
    if (cli_given(job->args, "json")) {
        clo_writer json = cli_plan_json(stdout, plan);
        if (accountants) status = cli_accountants_json(&json, plan, err);
        cli_json_end(&json);
    } else {
        cli_plan_text(stdout, job->job, plan);
        if (accountants) status = cli_accountants_text(stdout, plan, err);
    }
    return status;
}

static clo_status check_words(const cli_args *args, cli_error *err)
{
    const bool target = cli_given(args, "target"), curve = cli_given(args, "curve");
    const bool rows = cli_given(args, "rows"), epsilon = cli_given(args, "epsilon");
    if (cli_given(args, "output") &&
        (target || curve || cli_given(args, "json") || cli_given(args, "accountants")))
        return cli_fail(err, CLO_ARGUMENT,
                        "-o writes one plan as a page: leave out --target, --curve, --accountants "
                        "and --json");
    if (!target && !curve) return CLO_OK;
    if (target && curve) return cli_fail(err, CLO_ARGUMENT, "choose --target or --curve, not both");
    if (cli_given(args, "accountants"))
        return cli_fail(err, CLO_ARGUMENT, "--accountants shows one plan: leave out %s",
                        target ? "--target" : "--curve");
    if (curve && !rows)
        return cli_fail(err, CLO_ARGUMENT, "--curve needs the number of rows: give --rows");
    if (curve && epsilon)
        return cli_fail(err, CLO_ARGUMENT, "--curve shows many epsilons: leave out --epsilon");
    if (target && rows == epsilon)
        return cli_fail(err, CLO_ARGUMENT,
                        "--target finds the rows for an epsilon, or the epsilon for a number of "
                        "rows: give either --epsilon or --rows");
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
                        "a plan reads no data, so leave out '%s': give --cols (or a file of "
                        "bounds) and --rows instead",
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

static const cli_group *const groups[] = { &cli_method_group,   &plan_group,
                                           &cli_privacy_group,  &cli_domain_group,
                                           &cli_learning_group, NULL };

const cli_command cli_plan = {
    .usage = "FAMILY[/METHOD] --epsilon E --cols D (--norm R | --bounds LO,HI) [option ...]",
    .about =
        "Shows everything about a run that does not depend on the data: the queries, their noise, "
        "the cost, and with --rows the expected error.  It reads no data and charges nothing.",
    .examples = "What would three centers of 5000 records cost?\n"
                "cloister plan kmeans --clusters 3 --epsilon 1 --rows 5000 --cols 10 --norm 1\n"
                "What would other ways of adding up charge?\n"
                "cloister plan kmeans --clusters 3 --epsilon 1 --rows 5000 --cols 10 --norm 1 "
                "--accountants\n"
                "How many rows do I need?\n"
                "cloister plan kmeans --clusters 3 --epsilon 1 --cols 10 --norm 1 --target 0.05\n"
                "How much epsilon do my rows need?\n"
                "cloister plan kmeans --clusters 3 --rows 5000 --cols 10 --norm 1 --target 0.05\n"
                "Which error does each epsilon give?\n"
                "cloister plan kmeans --clusters 4 --rows 5000 --cols 10 --norm 1 --curve\n"
                "The same as a page, with curves\n"
                "cloister plan kmeans --clusters 4 --epsilon 1 --rows 5000 --cols 10 --norm 1 -o "
                "plan.html",
    .groups = groups,
    .mechanism = "*",
    .run = run,
};
