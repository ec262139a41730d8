/* cmd_evaluate.c - cloister evaluate: how good a release is on the operator's own data.  What it
 * prints comes from the data without noise, and every output says so. */
#include "cli.h"
#include <math.h>

static const char notice[] = "not private: for the operator only";

static const cli_option evaluate_rows[] = {
    CLI_OPTION("truth", 0, "FILE",
               "the true centres or basis (CSV or NPY), to measure the distance to"),
    CLI_OPTION("unit", 0, "COLUMN", "the column that named the person, which is no data"),
    CLI_OPTION("json", 0, NULL, "write JSON"),
    CLI_ROWS_END,
};
static const cli_group evaluate_group = { "Evaluation", evaluate_rows };

static void print_row(const char *name, double value, const char *meaning)
{
    if (isnan(value)) return;
    printf("%-12s%-14s%s\n", name, cli_rounded(value, 6).text, meaning);
}

static void print(const clo_evaluation *result, bool as_json)
{
    if (as_json) {
        cli_json json = cli_json_begin(stdout);
        cli_json_text(&json, "schema", "cloister.evaluation/1");
        cli_json_bool(&json, "private", false);
        cli_json_text(&json, "notice", notice);
        cli_json_number(&json, "cost", result->cost);
        cli_json_number(&json, "truth_cost", result->truth_cost);
        cli_json_number(&json, "distance", result->distance);
        cli_json_end(&json);
        return;
    }
    print_row("cost", result->cost, "mean squared distance of the rows to what was released");
    print_row("truth cost", result->truth_cost, "the same for the truth");
    print_row("distance", result->distance, "of what was released from the truth");
}

static clo_status evaluate(const cli_args *args, clo_release *release, clo_table *table,
                           cli_error *err)
{
    clo_matrix truth = { NULL, 0, 0, 0 };
    clo_evaluation result = { .struct_size = sizeof result };
    const char *const path = cli_value(args, "truth");
    clo_status status = path ? clo_matrix_read(path, &truth, &err->error) : CLO_OK;
    if (status != CLO_OK) return status;
    status = clo_evaluate(release, table, truth, &result, &err->error);
    clo_matrix_free(truth);
    if (status != CLO_OK) return status;
    cli_warn("%s", notice);
    print(&result, cli_given(args, "json"));
    return CLO_OK;
}

static clo_status run(const cli_args *args, cli_error *err)
{
    clo_release *release = NULL;
    clo_table *table = NULL;
    clo_read_options options;
    clo_status status = cli_check_words(args, 2, 2, "a release and a file of data", err);
    if (status == CLO_OK) status = cli_read_options(args, &options, err);
    if (status == CLO_OK) status = clo_release_read(cli_word(args, 0), &release, &err->error);
    if (status == CLO_OK) status = clo_table_read(cli_word(args, 1), &options, &table, &err->error);
    if (status == CLO_OK) status = evaluate(args, release, table, err);
    clo_table_free(table);
    clo_release_free(release);
    return status;
}

static const cli_group *const groups[] = { &evaluate_group, &cli_reading_group, NULL };

const cli_command cli_evaluate = {
    .usage = "RELEASE.json DATA [--truth FILE] [option ...]",
    .about =
        "Measures a release on your own data: the mean squared distance of the rows to it, and "
        "with a truth the distance from that.  The numbers are NOT private: they come from the "
        "data without noise and are for your eyes only.",
    .examples = "How well do the centres fit?\n"
                "cloister evaluate out.json patients.csv\n"
                "How far are they from the truth that made the data?\n"
                "cloister evaluate out.json sample.csv --truth truth.npy",
    .groups = groups,
    .run = run,
};
