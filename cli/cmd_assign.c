/* cmd_assign.c - cloister assign: which released cluster each of the operator's own rows is in.
 * What it writes comes from the data without noise, and it says so. */
#include "cli.h"
#include <stdlib.h>

static const char notice[] = "not private: for the operator only";

static const cli_option assign_rows[] = {
    CLI_OPTION("output", 'o', "FILE",
               "write the clusters to this file, as CSV or, if its name ends in .npy, as NPY; by "
               "default CSV to standard output"),
    CLI_OPTION("distance", 0, NULL, "also write the distance of each row from its cluster"),
    CLI_ROWS_END,
};
static const cli_group assign_group = { "Assignment", NULL, assign_rows };

static clo_status assign(const cli_args *args, const clo_release *release, const clo_table *table,
                         cli_error *err)
{
    static const char *const names[] = { "cluster", "distance" };
    const char *const output = cli_value(args, "output");
    const size_t rows = clo_table_rows(table), width = cli_given(args, "distance") ? 2 : 1;
    uint32_t *const clusters = cli_alloc(rows, sizeof *clusters);
    double *const distances = cli_alloc(rows, sizeof *distances);
    double *const cells = cli_alloc(rows, width * sizeof *cells);
    clo_status status = clo_assign_rows(release, table, clusters, distances, &err->error);
    size_t none = 0;
    for (size_t i = 0; i < rows && status == CLO_OK; i++) {
        none += clusters[i] == CLO_NO_CLUSTER;
        cells[i * width] = clusters[i] == CLO_NO_CLUSTER ? -1 : (double)clusters[i];
        if (width == 2) cells[i * width + 1] = distances[i];
    }
    if (status == CLO_OK) {
        cli_warn("%s", notice);
        cli_say_left_out(none, "in no cluster: -1");
        status = clo_matrix_write(output ? output : "-", (clo_matrix){ cells, rows, width, width },
                                  names, &err->error);
    }
    free(clusters);
    free(distances);
    free(cells);
    return status;
}

static clo_status run(const cli_args *args, cli_error *err)
{
    cli_write_for_owner();
    clo_release *release = NULL;
    clo_table *table = NULL;
    clo_read_options options;
    clo_status status = cli_check_words(args, 2, 2, "a release and a file of data", err);
    if (status == CLO_OK) status = cli_comparing_options(args, &options, err);
    if (status == CLO_OK) status = clo_release_read(cli_word(args, 0), &release, &err->error);
    if (status == CLO_OK) {
        cli_read_with(release, &options);
        status = clo_table_read(cli_word(args, 1), &options, &table, &err->error);
    }
    if (status == CLO_OK) status = assign(args, release, table, err);
    clo_table_free(table);
    clo_release_free(release);
    return status;
}

static const cli_group *const groups[] = { &assign_group, &cli_comparing_group, &cli_reading_group,
                                           NULL };

const cli_command cli_assign = {
    .usage = "RELEASE.json DATA [-o FILE] [option ...]",
    .about = "Finds the released cluster of each of your own rows: the nearest center or "
             "subspace.  Clusters are counted from 0, as in the report.  The result is NOT "
             "private: it comes from the data without noise, and is for your eyes only.\n\n"
             "Distances are measured as in the run: with --bounds each column is divided by half "
             "the width of its bounds.  'evaluate' does the same.  A row with a missing cell is "
             "in cluster -1.\n\n"
             "Columns are found by the names that the release has.  Other columns are ignored, "
             "and their order does not matter.  If the release or the file has no names, columns "
             "are taken in order.",
    .examples = "In which cluster is each patient?\n"
                "cloister assign out.json patients.csv -o clusters.csv\n"
                "And how far from it?\n"
                "cloister assign out.json patients.csv --distance",
    .groups = groups,
    .run = run,
};
