/* cmd_plan.c - cloister plan: what a run would ask, cost and deliver.  It reads no data, so it can
 * be asked as often as one likes. */
#include "cli.h"

static const cli_option plan_rows[] = {
    CLI_OPTION("cols", 0, "D", "how many columns the data have; a bounds file says so too"),
    CLI_OPTION("target", 0, "X", "say how many rows are needed for an error of at most X"),
    CLI_OPTION("method", 0, "M", "the method of the family; the same as FAMILY/M; by default auto"),
    CLI_PROJECT_OPTION,
    CLI_OPTION("explain", 0, NULL,
               "show what naive (epsilons and deltas of single asks added up; a Gaussian ask has "
               "the exact epsilon of its equal share of delta), advanced, Renyi and exact "
               "composition would charge for the same noise"),
    CLI_OPTION("json", 0, NULL, "write JSON"),
    CLI_ROWS_END,
};
static const cli_group plan_group = { "Plan", plan_rows };

/* ---- --target -------------------------------------------------------------- */

static clo_status plan_with(cli_job *job, uint64_t rows, const clo_plan **out, cli_error *err)
{
    char text[32];
    snprintf(text, sizeof text, "%llu", (unsigned long long)rows);
    const clo_status status = cli_job_set(job, "rows", text, err);
    return status == CLO_OK ? cli_job_plan(job, out, err) : status;
}

static clo_status error_with(cli_job *job, uint64_t rows, cli_prediction *out, cli_error *err)
{
    const clo_plan *plan = NULL;
    const clo_status status = plan_with(job, rows, &plan, err);
    if (status != CLO_OK) return status;
    out->rows = (double)rows;
    return clo_plan_predict(plan, (double)rows, &out->error, &out->meaning, &err->error);
}

/* The fewest rows whose predicted error is at most the target: doubling, then halving. */
static clo_status rows_for(cli_job *job, double target, cli_prediction *out, cli_error *err)
{
    const uint64_t most = UINT64_C(1) << 31;
    uint64_t enough = 1, too_few = 0;
    cli_prediction best;
    for (;;) {
        const clo_status status = error_with(job, enough, &best, err);
        if (status != CLO_OK) return status;
        if (best.error <= target) break;
        if (enough >= most)
            return cli_fail(err, CLO_ARGUMENT,
                            "no number of rows up to %llu brings the error down to %s; allow more "
                            "epsilon or a larger error",
                            (unsigned long long)most, cli_number(target).text);
        too_few = enough;
        enough *= 2;
    }
    while (enough - too_few > 1) {
        const uint64_t middle = too_few + (enough - too_few) / 2;
        cli_prediction there;
        const clo_status status = error_with(job, middle, &there, err);
        if (status != CLO_OK) return status;
        if (there.error <= target) {
            enough = middle;
            best = there;
        } else {
            too_few = middle;
        }
    }
    *out = best;
    return CLO_OK;
}

static clo_status answer_target(cli_job *job, const char *text, cli_error *err)
{
    double target = 0;
    cli_prediction found = { 0, 0, NULL };
    const clo_plan *plan = NULL;
    clo_status status = cli_parse_positive("--target", text, &target, err);
    if (status == CLO_OK) status = rows_for(job, target, &found, err);
    if (status == CLO_OK) status = plan_with(job, (uint64_t)found.rows, &plan, err);
    if (status != CLO_OK) return status;
    const clo_loss budget = clo_plan_budget(plan);
    if (cli_given(job->args, "json")) {
        clo_writer json = cli_plan_json(stdout, plan);
        clo_json_number(&json, "target", target);
        cli_json_end(&json);
    } else {
        printf("An error of at most %s (%s) needs about %s rows at epsilon %s, delta %s.\n",
               cli_number(target).text, found.meaning, cli_number(found.rows).text,
               cli_number(budget.epsilon).text, cli_rounded(budget.delta, 3).text);
    }
    return CLO_OK;
}

/* ---- the plan ---------------------------------------------------------------- */

static clo_status answer_plan(cli_job *job, cli_error *err)
{
    const clo_plan *plan = NULL;
    const bool explain = cli_given(job->args, "explain");
    clo_status status = cli_job_plan(job, &plan, err);
    if (status != CLO_OK) return status;
    if (cli_given(job->args, "json")) {
        clo_writer json = cli_plan_json(stdout, plan);
        if (explain) status = cli_explain_json(&json, plan, err);
        cli_json_end(&json);
    } else {
        cli_plan_text(stdout, plan);
        if (explain) status = cli_explain_text(stdout, plan, err);
    }
    return status;
}

static clo_status check_target(const cli_args *args, cli_error *err)
{
    if (!cli_given(args, "target")) return CLO_OK;
    if (cli_given(args, "rows"))
        return cli_fail(err, CLO_ARGUMENT,
                        "--target looks for the number of rows: leave --rows out");
    if (cli_given(args, "explain"))
        return cli_fail(err, CLO_ARGUMENT,
                        "--explain is about one plan: leave --target out, and give the rows that "
                        "it names with --rows");
    return CLO_OK;
}

static clo_status run(const cli_args *args, cli_error *err)
{
    const char *const target = cli_value(args, "target");
    cli_job job = { .args = NULL };
    clo_status status = cli_check_words(args, 1, 1, "a mechanism", err);
    if (status == CLO_OK) status = check_target(args, err);
    if (status == CLO_OK) status = cli_job_open(&job, args, cli_word(args, 0), NULL, err);
    if (status == CLO_OK)
        status = target ? answer_target(&job, target, err) : answer_plan(&job, err);
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
                "cloister plan kmeans --clusters 3 --epsilon 1 --cols 10 --norm 1 --target 0.05",
    .groups = groups,
    .mechanism = "*",
    .run = run,
};
