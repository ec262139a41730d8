/* cmd_evaluate.c - cloister evaluate: how good a release or a solution is on the operator's own
 * data.  What it prints comes from the data without noise, and every output says so. */
#include "cli.h"
#include <math.h>
#include <stdlib.h>

static const char notice[] = "not private: for the operator only";

static const cli_option evaluate_rows[] = {
    CLI_OPTION("truth", 0, "FILE",
               "the true centers or bases, as CSV or NPY from 'generate', to measure the distance "
               "from"),
    CLI_OPTION("offsets", 0, "FILE", "a point of each true subspace, if they are affine"),
    CLI_OPTION("labels", 0, "FILE",
               "the true cluster of each row, counted from 0, to measure the agreement"),
    CLI_OPTION("clusters", 0, "K",
               "how many true clusters there are; rows with a larger label are outliers and in no "
               "score; by default as many as were found"),
    CLI_OPTION("found", 0, "FILE",
               "the cluster of each row, from 'solve --labels'; by default the nearest one"),
    CLI_OPTION("json", 0, NULL, "write JSON"),
    CLI_ROWS_END,
};
static const cli_group evaluate_group = { "Evaluation", NULL, evaluate_rows };

/* ---- output ---------------------------------------------------------------------- */

static void print_row(const char *name, double value, const char *meaning)
{
    if (isnan(value)) return;
    printf("%-12s%-14s%s\n", name, cli_rounded(value, 6).text, meaning);
}

static void print_json(const clo_evaluation *result)
{
    clo_writer json = cli_json_begin(stdout);
    clo_json_text(&json, "schema", "cloister.evaluation/1");
    clo_json_bool(&json, "private", false);
    clo_json_text(&json, "notice", notice);
    clo_json_number(&json, "cost", result->cost);
    clo_json_number(&json, "raw_cost", result->raw_cost);
    clo_json_number(&json, "captured", result->captured);
    clo_json_number(&json, "truth_cost", result->truth_cost);
    clo_json_number(&json, "raw_truth_cost", result->raw_truth_cost);
    clo_json_number(&json, "distance", result->distance);
    clo_json_number(&json, "raw_distance", result->raw_distance);
    clo_json_bool(&json, "scaled", result->scaled);
    clo_json_count(&json, "rows", result->rows);
    clo_json_count(&json, "rows_left_out", result->rows_left_out);
    clo_json_number(&json, "largest_angle", result->largest_angle);
    clo_json_number(&json, "accuracy", result->accuracy);
    clo_json_number(&json, "nmi", result->nmi);
    clo_json_number(&json, "ari", result->ari);
    cli_json_end(&json);
}

static void print_text(const clo_evaluation *result, const char *found)
{
    static const char raw[] = "the same, in the units of the data";
    const double none = result->scaled ? 0 : NAN; /* without bounds the raw rows say it again */
    char meaning[120];
    snprintf(meaning, sizeof meaning, "mean %sdistance of the rows to what was %s%s",
             result->by_distance ? "" : "squared ", found,
             result->scaled ? ", columns by half their width" : "");
    print_row("cost", result->cost, meaning);
    print_row("raw cost", result->raw_cost + none, raw);
    print_row("captured", result->captured, "the share of the rows' variance that lies in it");
    print_row("truth cost", result->truth_cost, "the same for the truth");
    print_row("raw truth", result->raw_truth_cost + none, raw);
    snprintf(meaning, sizeof meaning, "distance of what was %s from the truth", found);
    print_row("distance", result->distance, meaning);
    print_row("raw dist.", result->raw_distance + none, raw);
    print_row("angle", result->largest_angle, "the largest between matched subspaces, in radians");
    print_row("accuracy", result->accuracy, "the share of rows in the right cluster");
    print_row("nmi", result->nmi, "normalized mutual information with the true clusters");
    print_row("ari", result->ari, "adjusted Rand index");
}

/* ---- input ----------------------------------------------------------------------- */

/* Everything that is read; freed by done. */
typedef struct inputs {
    clo_release *release; /* or */
    clo_solution *solution;
    clo_table *table;
    clo_matrix truth, offsets;
    uint32_t *true_labels, *labels;
} inputs;

static void done(inputs *in)
{
    clo_matrix_free(in->truth);
    clo_matrix_free(in->offsets);
    free(in->true_labels);
    free(in->labels);
    clo_table_free(in->table);
    clo_solution_free(in->solution);
    clo_release_free(in->release);
}

static clo_status read_matrix(const cli_args *args, const char *option, clo_matrix *out,
                              cli_error *err)
{
    const char *const path = cli_value(args, option);
    return path ? clo_matrix_read(path, out, &err->error) : CLO_OK;
}

static clo_status read_inputs(const cli_args *args, inputs *in, cli_error *err)
{
    const char *const path = cli_word(args, 0);
    clo_read_options options;
    clo_status status = cli_comparing_options(args, &options, err);
    if (status != CLO_OK) return status;
    if (clo_is_solution(path))
        status = clo_solution_read(path, &in->solution, &err->error);
    else
        status = clo_release_read(path, &in->release, &err->error);
    if (status == CLO_OK) {
        cli_read_with(in->release, &options);
        status = clo_table_read(cli_word(args, 1), &options, &in->table, &err->error);
    }
    if (status == CLO_OK) status = read_matrix(args, "truth", &in->truth, err);
    if (status == CLO_OK) status = read_matrix(args, "offsets", &in->offsets, err);
    if (status != CLO_OK) return status;
    const size_t rows = clo_table_rows(in->table);
    status = cli_read_labels(args, "labels", rows, &in->true_labels, err);
    if (status == CLO_OK) status = cli_read_labels(args, "found", rows, &in->labels, err);
    return status;
}

static clo_status evaluate(const cli_args *args, const inputs *in, cli_error *err)
{
    const char *const clusters = cli_value(args, "clusters");
    clo_evaluation result = { .struct_size = sizeof result };
    clo_evaluate_options options = clo_evaluate_options_default();
    clo_status status = CLO_OK;
    uint64_t count = 0;
    if (clusters) status = cli_parse_whole("--clusters", clusters, 1, 1 << 14, &count, err);
    options.truth = in->truth;
    options.truth_offsets = in->offsets;
    options.truth_labels = in->true_labels;
    options.truth_clusters = (size_t)count;
    options.labels = in->labels;
    if (status == CLO_OK && in->solution)
        status = clo_evaluate_solution(in->solution, in->table, &options, &result, &err->error);
    else if (status == CLO_OK)
        status = clo_evaluate_release(in->release, in->table, &options, &result, &err->error);
    if (status != CLO_OK) return status;
    cli_warn("%s", notice);
    cli_say_left_out(result.rows_left_out, "left out");
    if (cli_given(args, "json"))
        print_json(&result);
    else
        print_text(&result, in->solution ? "found" : "released");
    return CLO_OK;
}

static clo_status check_together(const cli_args *args, cli_error *err)
{
    const char *const needs[][2] = { { "offsets", "truth" },
                                     { "clusters", "labels" },
                                     { "found", "labels" } };
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
        if (cli_given(args, needs[i][0]) && !cli_given(args, needs[i][1]))
            return cli_fail(err, CLO_ARGUMENT, "--%s needs --%s", needs[i][0], needs[i][1]);
    return CLO_OK;
}

static clo_status run(const cli_args *args, cli_error *err)
{
    cli_write_for_owner();
    inputs in = { .release = NULL };
    clo_status status =
        cli_check_words(args, 2, 2, "a release or a solution, and a file of data", err);
    if (status == CLO_OK) status = check_together(args, err);
    if (status == CLO_OK) status = read_inputs(args, &in, err);
    if (status == CLO_OK) status = evaluate(args, &in, err);
    done(&in);
    return status;
}

static const cli_group *const groups[] = { &evaluate_group, &cli_comparing_group,
                                           &cli_reading_group, NULL };

const cli_command cli_evaluate = {
    .usage = "FILE.json DATA [--truth FILE] [--labels FILE] [option ...]",
    .about = "Measures a release or a solution on your own data: the mean squared distance of the "
             "rows from it (for k-median, the mean distance).  --truth adds the distance from the "
             "truth, and --labels the agreement with true labels.  The numbers are NOT private: "
             "they come from the data without noise, and are for your eyes only.\n\n"
             "Each row counts for the cluster that 'assign' finds.  Distances are shown as the "
             "run measured them (with --bounds each column is divided by half the width of its "
             "bounds), and in the units of the data.  Columns are found by name; other columns "
             "are ignored.  Rows with a missing cell are ignored, as in a run, and their number "
             "is shown.\n\n"
             "Clusters have no order, so centers, subspaces and labels are first matched as well "
             "as possible.",
    .examples = "How well do the centers fit?\n"
                "cloister evaluate out.json patients.csv\n"
                "How far are they from the truth that made the data?\n"
                "cloister evaluate out.json sample.csv --truth truth.npy\n"
                "How many rows are in the right cluster?\n"
                "cloister evaluate out.json sample.csv --labels labels.csv",
    .groups = groups,
    .run = run,
};
