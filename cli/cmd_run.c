/* cmd_run.c - cloister run: make a private release from a file. */
#include "cli.h"
#include <string.h>

static const cli_option result_rows[] = {
    CLI_OPTION("output", 'o', "FILE",
               "write the release as JSON to this file, whole or not at all"),
    CLI_RARE(
        "overwrite", 0, NULL,
        "overwrite a paid release; without it such a run is refused before it spends anything"),
    CLI_OPTION("json", 0, NULL, "write the release to standard output as JSON instead of text"),
    CLI_ROWS_END,
};
static const cli_group result_group = { "Result", NULL, result_rows };
static const cli_option via_rows[] = {
    CLI_RARE("via", 0, "SOCKET",
             "send the run to the broker at this socket, which has the data; give --dataset NAME "
             "instead of FILE"),
    CLI_ROWS_END,
};
static const cli_group via_group = { "Through a broker", NULL, via_rows };
/* JSON is delivered as it is stored, byte for byte. */
static clo_status write_release(const cli_job *job, clo_file *file, cli_error *err)
{
    const bool json = cli_given(job->args, "json") || cli_given(job->args, "output");
    size_t length;
    const char *const bytes = clo_job_json(job->job, &length);
    if (!json)
        return clo_report(clo_job_result(job->job), cli_text_format(stdout), cli_stream_write,
                          stdout, &err->error);
    clo_write *const to = file ? clo_file_write : cli_stream_write;
    if (!to(file ? (void *)file : stdout, bytes, length))
        return file ? cli_fail(err, CLO_IO, "the release could not be written")
                    : cli_flush(stdout, err);
    return file ? clo_file_commit(file, &err->error) : CLO_OK;
}

static clo_status release(cli_job *job, clo_file *file, cli_error *err)
{
    bool found = false;
    clo_status status;
    if (cli_given(job->args, "dry-run")) return cli_job_dry_run(job, err);
    if ((status = cli_job_release(job, &found, err))) return status;
    cli_job_deliver(job, file ? cli_value(job->args, "output") : NULL);
    if ((status = write_release(job, file, err)) || (status = cli_flush(stdout, err)))
        return cli_job_undelivered(job, status, err);
    cli_job_delivered();
    if (!found) cli_job_sum_up(job, file ? cli_value(job->args, "output") : NULL);
    return CLO_OK;
}

static clo_status run(const cli_args *args, cli_error *err)
{
    if (cli_given(args, "via")) return cli_run_via(args, err);
    if (cli_given(args, "seed")) cli_write_for_owner();
    const char *const output = cli_value(args, "output");
    cli_job job = { .args = NULL };
    clo_file *file = NULL;
    clo_status status = cli_check_words(args, 2, CLI_MOST_FILES,
                                        "a family, such as kmeans, and a "
                                        "file",
                                        err);
    if (status == CLO_OK) status = cli_job_open(&job, args, cli_word(args, 0), 1, err);
    if (status == CLO_OK) status = cli_job_check(&job, err);
    /* Before anything is read: a place that cannot be written must not cost a budget. */
    const bool writes =
        cli_leads() && output && strcmp(output, "-") != 0 && !cli_given(args, "dry-run");
    if (status == CLO_OK && writes) status = cli_check_output(output, &job, err);
    if (status == CLO_OK && writes) status = clo_file_open(output, &file, &err->error);
    job.file = file;
    if (status == CLO_OK)
        status = cli_leads() ? release(&job, file, err) : cli_job_serve(&job, err);
    clo_file_close(file);
    cli_job_close(&job);
    return status;
}

static const cli_group *const groups[] = {
    &cli_method_group, &cli_privacy_group, &cli_domain_group,  &cli_learning_group,
    &cli_record_group, &cli_reading_group, &cli_ledger_group,  &cli_repeating_group,
    &via_group,        &result_group,      &cli_running_group, NULL,
};

const cli_command cli_run = {
    .usage = "FAMILY[/METHOD] FILE ... --epsilon E (--bounds LO,HI | --norm R) [option ...]\n"
             "FAMILY[/METHOD] --via SOCKET --dataset NAME --epsilon E [option ...]",
    .about =
        "Makes a private release of FILE ('-' is standard input), which you may show to anybody.  "
        "FAMILY is kmeans, kmedian, subspace-clusters, subspace (also pca) or bounds.  A mistake "
        "before the charge costs nothing.  After the charge the budget is spent, even if you stop "
        "the run.\n\n"
        "Several files, or a quoted pattern such as 'part-*.csv', are one table: their columns "
        "must have the same names, and --dataset names the data set to charge.  With --memory the "
        "run does not hold the rows.  It reads the files before the charge and again for each "
        "query.  Only methods that need sums can do that, and a file that changes in between ends "
        "the run.\n\n"
        "A run that you stop before the charge costs nothing.  A run that you stop after its last "
        "query still stores its release and writes its file.  The exit code is then 128 plus the "
        "number of the signal: 130 after Ctrl-C, 143 after SIGTERM.\n\n"
        "The ledger stores every release under a token, the name of the run.  --token gives one; "
        "otherwise it is random, and 'cloister ledger history --json' lists it.  The same command "
        "with that token gives the stored release again, free of charge.  So does 'cloister "
        "ledger fetch --token T', without the data.  If a run died before it had a result, its "
        "token is used up.",
    .examples =
        "Once: a ledger, and the most that may ever be spent on these data\n"
        "cloister ledger init --dataset people.csv --epsilon 3\n"
        "Five centers of two columns, within public bounds\n"
        "cloister run kmeans people.csv --clusters 5 --columns age,income --bounds "
        "people-bounds.csv --epsilon 1 -o release.json\n"
        "What would it cost?\n"
        "cloister run kmeans people.csv --clusters 5 --columns age,income --bounds "
        "people-bounds.csv --epsilon 1 --dry-run\n"
        "Private per person, with at most five visits each\n"
        "cloister run subspace visits.csv --unit person --rows-per-unit 5 --dim 2 --epsilon 1 "
        "--bounds visits-bounds.csv\n"
        "A run that a script may repeat, and that is charged once\n"
        "cloister run kmeans people.csv --clusters 3 --epsilon 1 --bounds people-bounds.csv "
        "--token may-report -o may.json\n"
        "Six directions of many columns on one scale\n"
        "cloister run subspace wide.csv --dim 6 --epsilon 0.5 --norm 1 -o six.json\n"
        "Centers in these directions only\n"
        "cloister run kmeans wide.csv --clusters 8 --epsilon 0.5 --norm 1 --project six.json\n"
        "If you know neither the middle nor the radius of the records\n"
        "cloister run kmeans wide.csv --clusters 3 --epsilon 1 --center private --norm private "
        "--norm-at-most 1000\n"
        "More records than memory, in several files\n"
        "cloister run kmeans/lloyd 'part-*.csv' --dataset parts --memory 1G --clusters 3 "
        "--epsilon 1 --bounds parts-bounds.csv",
    .groups = groups,
    .mechanism = "*",
    .ranks = true,
    .run = run,
};
