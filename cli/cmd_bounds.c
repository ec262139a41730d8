/* cmd_bounds.c - cloister bounds: where do my bounds come from?  A run of bounds/quantile whose
 * answer is given in the words of the next command's options. */
#include "cli.h"
#include <math.h>
#include <string.h>

static const cli_option domain_rows[] = {
    CLI_OPTION("norm", 0, "MAX",
               "a generous public radius that no record needs to exceed; must be given"),
    CLI_OPTION("center", 0, "V1,V2,...", "the public center of the ball; by default the origin"),
    CLI_OPTION("rows", 0, "N",
               "the public number of rows; a run counts them itself if their number is public: "
               "under replace, without --unit"),
    CLI_OPTION("rows-per-unit", 0, "M",
               "how many rows of one person count at most; the others are dropped"),
    CLI_ROWS_END,
};
static const cli_group domain_group = { "What is publicly known about the data", NULL,
                                        domain_rows };
static const cli_option result_rows[] = {
    CLI_OPTION("output", 'o', "FILE",
               "with --of columns: write the bounds file that --bounds reads"),
    CLI_OPTION("json", 0, NULL, "write the whole release as JSON"),
    CLI_ROWS_END,
};
static const cli_group result_group = { "Result", NULL, result_rows };

static bool of_columns(const cli_args *args)
{
    const char *const of = cli_value(args, "of");
    return of && strcmp(of, "columns") == 0;
}

/* ---- the answer ------------------------------------------------------------ */

static bool write_text(clo_write *write, void *to, const char *text)
{
    return write(to, text, strlen(text));
}

/* In quotes, with quotes inside doubled, where it would not read back otherwise; a column without
 * a name by its number. */
static bool write_name(clo_write *write, void *to, const char *name, size_t column)
{
    char number[32];
    snprintf(number, sizeof number, "%zu", column + 1);
    if (!name || !name[0]) return write_text(write, to, number);
    if (!strpbrk(name, ",\" \t")) return write_text(write, to, name);
    bool written = write_text(write, to, "\"");
    for (const char *c = name; *c && written; c++)
        written = write(to, c, 1) && (*c != '"' || write(to, c, 1));
    return written && write_text(write, to, "\"");
}

static clo_status write_bounds(const cli_job *job, clo_write *write, void *to, cli_error *err)
{
    const clo_release *const release = clo_job_result(job->job);
    clo_array lower, upper;
    bool written = write_text(write, to, "name,lower,upper\n");
    if (!clo_release_find(release, "lower", &lower) || !clo_release_find(release, "upper", &upper))
        return cli_fail(err, CLO_INTERNAL, "the release holds no bounds");
    for (size_t j = 0; j < clo_release_cols(release); j++) {
        const char *const name = clo_release_column_name(release, j);
        written = written && write_name(write, to, name, j) && write_text(write, to, ",") &&
                  write_text(write, to, cli_rounded(lower.data[j], 6).text) &&
                  write_text(write, to, ",") &&
                  write_text(write, to, cli_rounded(upper.data[j], 6).text) &&
                  write_text(write, to, "\n");
    }
    return written ? CLO_OK : cli_fail(err, CLO_IO, "the bounds could not be written");
}

/* What is true of the radius with the outlook's confidence, from public numbers alone: the share of
 * the rows that it holds, or, where their number is not public, how many it leaves out. */
static void say_held(double radius, const clo_plan *plan)
{
    clo_outlook seen;
    const cli_text text = cli_rounded(radius, 4);
    if (!clo_plan_outlook_get(plan, &seen, sizeof seen)) return;
    if (radius >= clo_plan_domain(plan)->norm)
        printf("radius %s: the largest that was allowed, because noise hides all smaller ones\n",
               text.text);
    else if (seen.rows > 0)
        printf("radius %s: with probability %s it holds at least %s%% of the %.0f rows\n",
               text.text, cli_number(seen.confidence).text,
               cli_rounded(100 * (1 - seen.share_out - seen.rows_out / seen.rows), 3).text,
               seen.rows);
    else
        printf("radius %s: with probability %s it leaves out at most %s%% of the rows and %.0f "
               "more\n",
               text.text, cli_number(seen.confidence).text,
               cli_rounded(100 * seen.share_out, 3).text, ceil(seen.rows_out));
}

static clo_status print_radius(const cli_job *job, cli_error *err)
{
    clo_array radius;
    if (!clo_release_find(clo_job_result(job->job), "radius", &radius))
        return cli_fail(err, CLO_INTERNAL, "the release holds no radius");
    const char *const center = cli_value(job->args, "center");
    const clo_plan *plan = NULL;
    const clo_status status = clo_job_plan(job->job, &plan, &err->error);
    if (status != CLO_OK) return status;
    say_held(radius.data[0], plan);
    if (!job->quiet)
        cli_note("next: cloister run ... --norm %s%s%s", cli_rounded(radius.data[0], 4).text,
                 center ? " --center " : "", center ? center : "");
    return CLO_OK;
}

static clo_status answer(const cli_job *job, clo_file *file, cli_error *err)
{
    const char *const output = cli_value(job->args, "output");
    clo_status status;
    if (cli_given(job->args, "json")) {
        status =
            clo_report(clo_job_result(job->job), CLO_JSON, cli_stream_write, stdout, &err->error);
        if (status != CLO_OK || !file) return status;
    }
    if (!of_columns(job->args))
        return cli_given(job->args, "json") ? CLO_OK : print_radius(job, err);
    if (!file) return write_bounds(job, cli_stream_write, stdout, err);
    status = write_bounds(job, clo_file_write, file, err);
    if (status == CLO_OK) status = clo_file_commit(file, &err->error);
    if (status == CLO_OK && !job->quiet) cli_note("next: cloister run ... --bounds %s", output);
    return status;
}

/* ---- the run ---------------------------------------------------------------- */

static clo_status find_bounds(cli_job *job, clo_file *file, cli_error *err)
{
    bool found = false;
    clo_status status;
    if (cli_given(job->args, "dry-run")) return cli_job_dry_run(job, err);
    if ((status = cli_job_release(job, &found, err))) return status;
    const bool both = file && cli_given(job->args, "json"); /* and standard output comes first */
    cli_job_deliver(job, file && !both ? cli_value(job->args, "output") : NULL);
    if ((status = answer(job, file, err)) || (status = cli_flush(stdout, err)))
        return cli_job_undelivered(job, status, err);
    cli_job_delivered();
    cli_job_sum_up(job, NULL);
    return CLO_OK;
}

static clo_status check(const cli_args *args, cli_error *err)
{
    const char *const norm = cli_value(args, "norm");
    double unused;
    const clo_status status = cli_check_words(args, 1, CLI_MOST_FILES, "a file", err);
    if (status != CLO_OK) return status;
    if (!norm) {
        cli_hint(err, "--norm 1000, or another radius that no record can exceed; a generous one "
                      "costs little");
        return cli_fail(err, CLO_DOMAIN,
                        "give --norm MAX: a generous radius that no record can exceed, from "
                        "public knowledge");
    }
    if (cli_given(args, "output") && !of_columns(args))
        return cli_fail(err, CLO_ARGUMENT, "-o writes bounds of columns: add --of columns");
    return cli_parse_positive("--norm", norm, &unused, err); /* "private" is for a run */
}

static clo_status run(const cli_args *args, cli_error *err)
{
    if (cli_given(args, "seed")) cli_write_for_owner();
    const char *const output = cli_value(args, "output");
    cli_job job = { .args = NULL };
    clo_file *file = NULL;
    clo_status status = check(args, err);
    if (status == CLO_OK) status = cli_job_open(&job, args, "bounds/quantile", 0, err);
    /* One choice by the exponential mechanism needs no delta; many are cheaper with one. */
    if (status == CLO_OK && !cli_given(args, "delta") && !of_columns(args))
        status = cli_job_set(&job, "delta", "0", err);
    if (status == CLO_OK) status = cli_job_check(&job, err);
    const bool writes = cli_leads() && output && !cli_given(args, "dry-run");
    if (status == CLO_OK && writes) status = cli_check_output(output, &job, err);
    if (status == CLO_OK && writes) status = clo_file_open(output, &file, &err->error);
    job.file = file;
    if (status == CLO_OK)
        status = cli_leads() ? find_bounds(&job, file, err) : cli_job_serve(&job, err);
    clo_file_close(file);
    cli_job_close(&job);
    return status;
}

static const cli_group *const groups[] = {
    &cli_privacy_group, &domain_group, &cli_record_group,  &cli_reading_group,
    &cli_ledger_group,  &result_group, &cli_running_group, NULL,
};

const cli_command cli_bounds = {
    .usage = "FILE ... --epsilon E --norm MAX [--of norm|columns] [--quantile P] [option ...]",
    .about = "Finds a radius, or bounds of each column, that hold most records.  A run needs such "
             "public limits, and limits that you read off the data would not be private.  This "
             "command finds them privately and charges the ledger.  For a radius delta is 0 by "
             "default.\n\n"
             "Spend a small part of the budget here: limits that fit mean less noise in every "
             "later run.",
    .examples =
        "A radius that holds 95% of the records\n"
        "cloister bounds patients.csv --epsilon 0.1 --norm 1000\n"
        "Bounds for each column, and a run that uses them\n"
        "cloister bounds patients.csv --epsilon 0.2 --norm 1000 --of columns -o bounds.csv\n"
        "Then\n"
        "cloister run kmeans patients.csv --clusters 3 --epsilon 1 --bounds bounds.csv",
    .groups = groups,
    .mechanism = "bounds/quantile",
    .ranks = true,
    .run = run,
};
