/* cmd_plan.c - cloister plan: what a run would ask, cost and deliver.  It reads no data, so it can
 * be asked as often as one likes. */
#include "cli.h"
#include <math.h>
#include <string.h>

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

typedef struct question {
    const cli_args *args;
    cli_choice choice;
    cli_domain_spec spec;
    size_t cols;
    clo_loss budget; /* delta < 0: by default */
} question;

static clo_status read_cols(question *ask, cli_error *err)
{
    const char *const text = cli_value(ask->args, "cols");
    uint64_t cols = 0;
    if (text) {
        const clo_status status = cli_parse_whole("--cols", text, 1, 1 << 20, &cols, err);
        if (status != CLO_OK) return status;
    }
    if (!text && ask->spec.bounds_file) cols = ask->spec.bound_count;
    if (!text && ask->spec.center) cols = ask->spec.center_count;
    if (!text && ask->spec.subspace) cols = clo_release_cols(ask->spec.subspace);
    if (cols == 0)
        return cli_fail(err, CLO_ARGUMENT,
                        "--cols D must be given: a plan reads no data and cannot "
                        "count the columns itself");
    ask->cols = (size_t)cols;
    return CLO_OK;
}

static clo_status read_question(const cli_args *args, question *ask, cli_error *err)
{
    clo_status status = cli_check_words(args, 1, 1, "a mechanism", err);
    *ask = (question){ .args = args };
    if (status == CLO_OK) status = cli_budget(args, &ask->budget, err);
    if (status == CLO_OK)
        status =
            cli_choice_read(args, cli_word(args, 0), cli_value(args, "method"), &ask->choice, err);
    if (status == CLO_OK) status = cli_domain_read(args, &ask->spec, err);
    if (status == CLO_OK) status = read_cols(ask, err);
    return status;
}

/* The plan that a run with so many public rows would make; 0: not public. */
static clo_status plan_for(const question *ask, uint64_t rows, clo_domain *domain, clo_plan **out,
                           cli_error *err)
{
    cli_domain_spec spec = ask->spec;
    clo_loss budget = ask->budget;
    spec.rows = rows;
    if (budget.delta < 0) budget.delta = cli_default_delta(rows);
    clo_status status = cli_domain_fit(&spec, ask->cols, NULL, domain, err);
    if (status != CLO_OK) return status;
    status =
        cli_learning_plan(&ask->choice, &spec, domain, budget, cli_accept(ask->args), out, err);
    if (status != CLO_OK) cli_domain_free(domain);
    return status;
}

/* ---- --target -------------------------------------------------------------- */

static clo_status error_with(const question *ask, uint64_t rows, cli_prediction *out,
                             cli_error *err)
{
    clo_domain domain;
    clo_plan *plan = NULL;
    clo_status status = plan_for(ask, rows, &domain, &plan, err);
    if (status != CLO_OK) return status;
    out->rows = (double)rows;
    status = clo_plan_predict(plan, (double)rows, &out->error, &out->meaning, &err->error);
    clo_plan_free(plan);
    cli_domain_free(&domain);
    return status;
}

/* The fewest rows whose predicted error is at most the target: doubling, then halving. */
static clo_status rows_for(const question *ask, double target, cli_prediction *out, cli_error *err)
{
    const uint64_t most = UINT64_C(1) << 31;
    uint64_t enough = 1, too_few = 0;
    cli_prediction best;
    for (;;) {
        const clo_status status = error_with(ask, enough, &best, err);
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
        const clo_status status = error_with(ask, middle, &there, err);
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

static clo_status answer_target(const question *ask, const char *text, cli_error *err)
{
    double target = 0;
    cli_prediction found = { 0, 0, NULL };
    clo_domain domain;
    clo_plan *plan = NULL;
    clo_status status = cli_parse_positive("--target", text, &target, err);
    if (status == CLO_OK) status = rows_for(ask, target, &found, err);
    if (status != CLO_OK) return status;
    status = plan_for(ask, (uint64_t)found.rows, &domain, &plan, err);
    if (status != CLO_OK) return status;
    const clo_loss budget = clo_plan_budget(plan);
    if (cli_given(ask->args, "json")) {
        cli_json json = cli_json_begin(stdout);
        cli_plan_json(&json, plan, &domain, found);
        cli_json_number(&json, "target", target);
        cli_json_end(&json);
    } else {
        printf("An error of at most %s (%s) needs about %s rows at epsilon %s, delta %s.\n",
               cli_number(target).text, found.meaning, cli_number(found.rows).text,
               cli_number(budget.epsilon).text, cli_rounded(budget.delta, 3).text);
    }
    clo_plan_free(plan);
    cli_domain_free(&domain);
    return CLO_OK;
}

static clo_status answer_plan(const question *ask, cli_error *err)
{
    clo_domain domain;
    clo_plan *plan = NULL;
    const bool explain = cli_given(ask->args, "explain");
    clo_status status = plan_for(ask, ask->spec.rows, &domain, &plan, err);
    if (status != CLO_OK) return status;
    const cli_prediction prediction = cli_predict(plan, (double)ask->spec.rows);
    if (cli_given(ask->args, "json")) {
        cli_json json = cli_json_begin(stdout);
        cli_plan_json(&json, plan, &domain, prediction);
        if (explain) status = cli_explain_json(&json, plan, err);
        cli_json_end(&json);
    } else {
        cli_plan_text(stdout, plan, &domain, prediction);
        if (explain) status = cli_explain_text(stdout, plan, err);
    }
    clo_plan_free(plan);
    cli_domain_free(&domain);
    return status;
}

static clo_status run(const cli_args *args, cli_error *err)
{
    question ask;
    const char *const target = cli_value(args, "target");
    clo_status status = read_question(args, &ask, err);
    if (status == CLO_OK && target && ask.spec.rows > 0)
        status =
            cli_fail(err, CLO_ARGUMENT, "--target looks for the number of rows: leave --rows out");
    if (status == CLO_OK && target && cli_given(args, "explain"))
        status = cli_fail(err, CLO_ARGUMENT,
                          "--explain is about one plan: leave --target out, and give the rows that "
                          "it names with --rows");
    if (status == CLO_OK)
        status = target ? answer_target(&ask, target, err) : answer_plan(&ask, err);
    cli_choice_free(&ask.choice);
    cli_domain_spec_free(&ask.spec);
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
