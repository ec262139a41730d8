/* cmd_solve.c - cloister solve: the ordinary solvers.  What comes out is a plain function of the
 * data, and every output says so. */
#include "cli.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char notice[] = "not private: for those who may see the data";

static const cli_option start_rows[] = {
    CLI_OPTION("dims", 0, "Q1,Q2,...", "the dimension of each subspace, instead of --dim"),
    CLI_OPTION("start", 0, "FILE", "a solution to start from (kplanes, kmeans, kmedian)"),
    CLI_OPTION("bounds-file", 0, "FILE",
               "use the columns and the scale of a run: FILE is a release, or bounds as for 'run' "
               "(LO,HI or a CSV file with a line per column)"),
    CLI_ROWS_END,
};
static const cli_group start_group = { "Start", NULL, start_rows };
static const cli_option result_rows[] = {
    CLI_OPTION("output", 'o', "FILE",
               "write the solution as JSON to this file, whole or not at all"),
    CLI_OPTION("labels", 0, "FILE", "write the cluster of each row to this file, counted from 0"),
    CLI_OPTION("flats-file", 0, "FILE",
               "write the centers, or the bases one below the other, as CSV or NPY to this file"),
    CLI_OPTION("json", 0, NULL, "write the solution to standard output as JSON instead of text"),
    CLI_ROWS_END,
};
static const cli_group result_group = { "Result", NULL, result_rows };
static const cli_option running_rows[] = {
    CLI_OPTION("threads", 0, "N",
               "how many threads to use; the solution is the same with any number"),
    CLI_OPTION("seed", 0, "TEXT", "draw the starts from this seed; by default always the same"),
    CLI_OPTION("quiet", 'q', NULL, "print errors and warnings only"),
    CLI_ROWS_END,
};
static const cli_group running_group = { "Running", NULL, running_rows };

/* ---- options -------------------------------------------------------------------- */

typedef struct job {
    const cli_args *args;
    clo_params *params;
    clo_table *table;
    clo_solution *start, *solution;
    clo_rng *rng;
    size_t *dims;
    size_t dim_count;
    int threads;
    clo_release *like;
    double *lower, *upper;
} job;

static clo_status read_dims(const char *list, job *j, cli_error *err)
{
    char word[32];
    size_t room = 1;
    if (!list) return CLO_OK;
    for (const char *at = list; *at; at++) room += *at == ',';
    j->dims = cli_alloc(room, sizeof *j->dims);
    for (const char *at = list;;) {
        const size_t length = strcspn(at, ",");
        uint64_t value;
        snprintf(word, sizeof word, "%.*s", (int)length, at);
        const clo_status status =
            cli_parse_whole("each entry of --dims", word, 1, UINT32_MAX, &value, err);
        if (status != CLO_OK) return status;
        j->dims[j->dim_count++] = (size_t)value;
        if (!at[length]) return CLO_OK;
        at += length + 1;
    }
}

static clo_status read_running(job *j, cli_error *err)
{
    const char *const threads = cli_value(j->args, "threads");
    const char *const seed_text = cli_value(j->args, "seed");
    uint64_t count = 0;
    uint8_t seed[32];
    clo_status status = CLO_OK;
    if (threads) status = cli_parse_whole("--threads", threads, 1, 1024, &count, err);
    j->threads = (int)count;
    if (status != CLO_OK || !seed_text) return status;
    clo_seed_from_text(seed_text, seed);
    return clo_rng_new_seeded(seed, &j->rng, &err->error);
}

/* A release is JSON; bounds are not. */
static bool is_json(const char *path)
{
    const size_t length = strlen(path);
    return length > 5 && strcmp(path + length - 5, ".json") == 0;
}

static clo_status read_scale(job *j, cli_error *err)
{
    const char *const scale = cli_value(j->args, "bounds-file");
    const size_t cols = clo_table_cols(j->table);
    if (!scale || j->like) return CLO_OK;
    j->lower = cli_alloc(cols, sizeof *j->lower);
    j->upper = cli_alloc(cols, sizeof *j->upper);
    return clo_bounds_read(scale, j->table, j->lower, j->upper, &err->error);
}

static clo_status prepare(job *j, cli_error *err)
{
    const char *const scale = cli_value(j->args, "bounds-file");
    const char *const start = cli_value(j->args, "start");
    const clo_solver *solver = NULL;
    clo_read_options options;
    clo_status status = cli_solver(cli_word(j->args, 0), &solver, err);
    if (status == CLO_OK) {
        const cli_subject subject = cli_subject_of_solver(solver);
        status = cli_params(j->args, &subject, &j->params, err);
    }
    if (status == CLO_OK) status = read_dims(cli_value(j->args, "dims"), j, err);
    if (status == CLO_OK) status = read_running(j, err);
    if (status == CLO_OK && start) status = clo_solution_read(start, &j->start, &err->error);
    if (status == CLO_OK) status = cli_read_options(j->args, &options, err);
    if (status == CLO_OK && scale && is_json(scale))
        status = clo_release_read(scale, &j->like, &err->error);
    if (status != CLO_OK) return status;
    /* A made-up row would move the answer.  Of a release not every column need be taken: there
     * the solver looks at those that are. */
    if (j->like)
        options.text = CLO_TEXT_LATER;
    else
        options.missing = CLO_MISSING_REFUSE;
    status = clo_table_read(cli_word(j->args, 1), &options, &j->table, &err->error);
    return status == CLO_OK ? read_scale(j, err) : status;
}

static clo_status solve(job *j, cli_error *err)
{
    clo_solve_options how = clo_solve_options_default();
    cli_progress progress;
    cli_progress_start(&progress, "running", cli_given(j->args, "quiet"));
    cli_stop_words("stopped at the caller's request");
    how.threads = j->threads;
    how.rng = j->rng;
    how.progress = cli_progress_step;
    how.user = &progress;
    how.start = j->start;
    how.dims = j->dims;
    how.dim_count = j->dim_count;
    how.like = j->like;
    how.lower = j->lower;
    how.upper = j->upper;
    const clo_status status = clo_solve(j->params, j->table, &how, &j->solution, &err->error);
    cli_progress_end(&progress);
    return status;
}

/* ---- results -------------------------------------------------------------------- */

static void print_text(const clo_solution *solution)
{
    const size_t clusters = clo_solution_clusters(solution), rows = clo_solution_rows(solution);
    const uint32_t *const labels = clo_solution_labels(solution);
    size_t *const sizes = cli_alloc(clusters, sizeof *sizes);
    for (size_t i = 0; i < rows; i++) sizes[labels[i]]++;
    printf("%s (%s)\n", clo_solution_solver(solution), notice);
    printf("cost        %s\n", cli_rounded(clo_solution_cost(solution), 6).text);
    if (clo_solution_is_scaled(solution))
        printf("raw cost    %s\n", cli_rounded(clo_solution_raw_cost(solution), 6).text);
    putchar('\n');
    printf("%-10s%-12s%s\n", "cluster", "rows", "dimension");
    for (size_t c = 0; c < clusters; c++)
        printf("%-10zu%-12zu%zu\n", c, sizes[c], clo_solution_dim(solution, c));
    free(sizes);
}

static clo_status write_labels(const job *j, cli_error *err)
{
    static const char *const name = "cluster";
    const char *const path = cli_value(j->args, "labels");
    const size_t rows = clo_solution_rows(j->solution);
    if (!path) return CLO_OK;
    double *const values = cli_alloc(rows, sizeof *values);
    for (size_t i = 0; i < rows; i++) values[i] = clo_solution_labels(j->solution)[i];
    const clo_status status =
        clo_matrix_write(path, (clo_matrix){ values, rows, 1, 1 }, &name, &err->error);
    free(values);
    return status;
}

/* One below the other; one of a lower dimension ends in columns of zeros. */
static clo_status write_bases(const clo_solution *solution, const char *path, cli_error *err)
{
    const size_t clusters = clo_solution_clusters(solution), cols = clo_solution_cols(solution);
    size_t width = 0;
    for (size_t c = 0; c < clusters; c++)
        width = clo_solution_dim(solution, c) > width ? clo_solution_dim(solution, c) : width;
    double *const values = cli_alloc(clusters * cols * width, sizeof *values);
    for (size_t c = 0; c < clusters; c++) {
        const clo_matrix basis = clo_solution_basis(solution, c);
        for (size_t i = 0; i < basis.rows; i++)
            memcpy(values + (c * cols + i) * width, basis.data + i * basis.stride,
                   basis.cols * sizeof *values);
    }
    const clo_matrix all = { values, clusters * cols, width, width };
    const clo_status status = clo_matrix_write(path, all, NULL, &err->error);
    free(values);
    return status;
}

static clo_status write_flats(const job *j, cli_error *err)
{
    const char *const path = cli_value(j->args, "flats-file");
    if (!path) return CLO_OK;
    if (clo_solution_dim(j->solution, 0) > 0) return write_bases(j->solution, path, err);
    return clo_matrix_write(path, clo_solution_offsets(j->solution), NULL, &err->error);
}

static clo_status deliver(const job *j, clo_file *file, cli_error *err)
{
    const bool json = cli_given(j->args, "json") || cli_given(j->args, "output");
    clo_status status = CLO_OK;
    if (cli_given(j->args, "flats-file") && clo_solution_cols(j->solution) == 0)
        return cli_fail(err, CLO_ARGUMENT,
                        "--flats-file needs rows; from an affinity 'solve' "
                        "finds only labels");
    cli_warn("%s", notice);
    if (!json)
        print_text(j->solution);
    else if (file)
        status = clo_solution_write(j->solution, clo_file_write, file, &err->error);
    else
        status = clo_solution_write(j->solution, cli_stream_write, stdout, &err->error);
    if (status == CLO_OK) status = write_labels(j, err);
    if (status == CLO_OK) status = write_flats(j, err);
    if (status == CLO_OK && file) status = clo_file_commit(file, &err->error);
    return status;
}

static clo_status run(const cli_args *args, cli_error *err)
{
    cli_write_for_owner();
    const char *const output = cli_value(args, "output");
    job j = { .args = args };
    clo_file *file = NULL;
    clo_status status = cli_check_words(args, 2, 2, "a solver and a file", err);
    if (status == CLO_OK && output && strcmp(output, "-") != 0)
        status = clo_file_open(output, &file, &err->error);
    if (status == CLO_OK) status = prepare(&j, err);
    if (status == CLO_OK) status = solve(&j, err);
    if (status == CLO_OK) status = deliver(&j, file, err);
    clo_file_close(file);
    clo_solution_free(j.solution);
    clo_solution_free(j.start);
    clo_table_free(j.table);
    clo_params_free(j.params);
    clo_rng_free(j.rng);
    clo_release_free(j.like);
    free(j.dims);
    free(j.lower);
    free(j.upper);
    return status;
}

static void remarks(FILE *out)
{
    fprintf(out, "\n%sSolvers%s\n", cli_style_on(out, CLI_BOLD), cli_style_off(out));
    for (size_t i = 0; i < clo_solver_count(); i++) {
        fprintf(out, "  %-12s", clo_solver_name(clo_solver_at(i)));
        cli_wrap(out, 14, 14, clo_solver_summary(clo_solver_at(i)));
    }
}

static const cli_group *const groups[] = {
    &start_group, &cli_reading_group, &result_group, &running_group, NULL,
};

const cli_command cli_solve = {
    .usage = "SOLVER FILE [--clusters K] [--dim Q] [option ...]",
    .about = "Runs an ordinary, NON-PRIVATE solver, for example to measure what privacy costs.  A "
             "solution comes from the data without noise, so only people who may see the data may "
             "see it.  No ledger is charged.  Every cell must be a number.\n\n"
             "With --bounds-file it uses the scale of a run: each column is measured from the "
             "middle of its public bounds, in units of half their width.  The solution is written "
             "in the units of the data, and the cost is shown in both.",
    .examples =
        "Three planes, by the best of several solvers\n"
        "cloister solve auto sample.csv --clusters 3 --dim 2\n"
        "Sparse subspace clustering, with the clusters in a file of their own\n"
        "cloister solve ssc faces.npy --clusters 5 --dim 9 --flats affine --labels found.csv\n"
        "What would k-means find without privacy?\n"
        "cloister solve kmeans patients.csv --clusters 3 -o plain.json\n"
        "The same, in the columns and on the scale of a release\n"
        "cloister solve kmeans patients.csv --clusters 3 --bounds-file out.json -o plain.json",
    .groups = groups,
    .solvers = true,
    .run = run,
    .remarks = remarks,
};
