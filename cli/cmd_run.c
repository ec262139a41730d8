/* cmd_run.c - cloister run: make a private release from a file. */
#include "cli.h"
#include <string.h>

static const cli_option result_rows[] = {
    CLI_OPTION("output", 'o', "FILE",
               "write the release as JSON; the file appears whole or not at all"),
    CLI_OPTION("overwrite", 0, NULL,
               "write over a release that was paid for; without it a run is refused before it "
               "spends"),
    CLI_OPTION("json", 0, NULL, "write the release to standard output as JSON, not as text"),
    CLI_ROWS_END,
};
static const cli_group result_group = { "Result", result_rows };
static const cli_option token_rows[] = {
    CLI_OPTION("token", 0, "T",
               "name this run: repeated with the same token it gives the same release again and "
               "costs nothing"),
    CLI_ROWS_END,
};
static const cli_group token_group = { "Repeating", token_rows };
static const cli_option via_rows[] = {
    CLI_OPTION(
        "via", 0, "SOCKET",
        "ask the broker at this socket, which has the data: --dataset NAME in place of FILE"),
    CLI_ROWS_END,
};
static const cli_group via_group = { "Through a broker", via_rows };
static const cli_option method_rows[] = {
    CLI_OPTION("method", 0, "M", "the method of the family; the same as FAMILY/M; by default auto"),
    CLI_PROJECT_OPTION,
    CLI_ROWS_END,
};
static const cli_group method_group = { "Mechanism", method_rows };

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
        return cli_fail(err, CLO_IO, "the release could not be written");
    return file ? clo_file_commit(file, &err->error) : CLO_OK;
}

static clo_status release(cli_job *job, clo_file *file, cli_error *err)
{
    bool found = false;
    clo_status status;
    if (cli_given(job->args, "dry-run")) return cli_job_dry_run(job, err);
    if ((status = cli_job_release(job, &found, err))) return status;
    if ((status = write_release(job, file, err)) || (status = cli_flush(stdout, err)))
        return cli_job_undelivered(job, status, err);
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
    clo_status status = cli_check_words(args, 2, CLI_MOST_FILES, "a mechanism and a file", err);
    if (status == CLO_OK) status = cli_job_open(&job, args, cli_word(args, 0), 1, err);
    if (status == CLO_OK) status = cli_job_check(&job, err);
    /* Before anything is read: a place that cannot be written must not cost a budget. */
    const bool writes =
        cli_leads() && output && strcmp(output, "-") != 0 && !cli_given(args, "dry-run");
    if (status == CLO_OK && writes) status = cli_check_output(output, &job, err);
    if (status == CLO_OK && writes) status = clo_file_open(output, &file, &err->error);
    if (status == CLO_OK)
        status = cli_leads() ? release(&job, file, err) : cli_job_serve(&job, err);
    clo_file_close(file);
    cli_job_close(&job);
    return status;
}

static const cli_group *const groups[] = {
    &method_group,     &cli_privacy_group, &cli_domain_group,  &cli_learning_group,
    &cli_record_group, &cli_reading_group, &cli_ledger_group,  &token_group,
    &via_group,        &result_group,      &cli_running_group, NULL,
};

const cli_command cli_run = {
    .usage = "FAMILY[/METHOD] FILE ... --epsilon E (--norm R | --bounds LO,HI) [option ...]\n"
             "FAMILY[/METHOD] --via SOCKET --dataset NAME --epsilon E [option ...]",
    .about =
        "Reads FILE ('-' is standard input), moves every record into the public bounds, makes "
        "a plan, charges the ledger, and only then asks the data its questions.  The result "
        "is private: you may show it to anybody.\n\n"
        "Several files, or a quoted pattern such as 'part-*.csv', are one table: their columns "
        "must have the same names, and --dataset says what to charge.  With --memory the rows "
        "are not held: the files are read once before the charge, with persons or a cache at "
        "least twice, and again for each question after it.  Methods that ask for sums alone can "
        "do that; a file that changes in between ends the run.\n\n"
        "A mistake before the charge costs nothing.  After the charge the budget is gone, "
        "even if the run is stopped: noise that was drawn cannot be taken back.\n\n"
        "Every release is stored in the ledger under a token, the name of the run: that of "
        "--token, or else a random one ('cloister ledger history --json' lists them).  The "
        "same command with that token gives the stored release again.  So does 'cloister "
        "ledger fetch --token T', without the data.  If a run died before it had a result, "
        "its token cannot be used again: that would be a second draw for one charge.",
    .examples =
        "A ledger, once, and the most that may ever be spent on these data\n"
        "cloister ledger init --dataset patients.csv --epsilon 3\n"
        "Three centres of the records in the unit ball\n"
        "cloister run kmeans patients.csv --clusters 3 --epsilon 1 --norm 1\n"
        "Two columns of mixed units, written to a file\n"
        "cloister run kmeans people.csv --clusters 5 --columns age,income --bounds "
        "people-bounds.csv "
        "--epsilon 0.5 -o out.json\n"
        "Private per person, who has at most five visits\n"
        "cloister run subspace visits.csv --unit person --rows-per-unit 5 --dim 2 --epsilon 1 "
        "--norm 10\n"
        "A run that a script may repeat until it went well, and pays once\n"
        "cloister run kmeans patients.csv --clusters 3 --epsilon 1 --norm 1 --token may-report "
        "-o may.json\n"
        "Six directions of many columns\n"
        "cloister run subspace wide.csv --dim 6 --epsilon 0.5 --norm 1 -o six.json\n"
        "Centres, looked at in these directions alone\n"
        "cloister run kmeans wide.csv --clusters 8 --epsilon 0.5 --norm 1 --project "
        "six.json\n"
        "Neither the middle nor the radius of the records is known\n"
        "cloister run kmeans patients.csv --clusters 3 --epsilon 1 --center private --norm private "
        "--norm-at-most 1000\n"
        "More records than memory, in several files\n"
        "cloister run kmeans/lloyd 'part-*.csv' --dataset parts --memory 1G --clusters 3 "
        "--epsilon 1 --norm 1\n"
        "What would it cost?\n"
        "cloister run kmeans patients.csv --clusters 3 --epsilon 1 --norm 1 --dry-run",
    .groups = groups,
    .mechanism = "*",
    .ranks = true,
    .run = run,
};
