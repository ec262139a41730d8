/* job.c - one run, in the order that makes mistakes free.
 *
 *   check    the options, alone
 *   prepare  open the ledger, read, bound, plan, gather memory and randomness.  Reading may take
 *            hours: a bad ledger is refused before it, and what a good one said then counts for
 *            nothing, since the spend reads everything anew
 *   fetch    the release of an earlier run with the same token, if there is one: all is done then
 *   spend    charge the ledger, durably: from here on the budget is gone
 *   run      ask the queries, and store the release under the token before anybody sees it
 *
 * All that can go wrong with a file, an option or a machine goes wrong before the spend. */
#include "cli.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- check ---------------------------------------------------------------- */

static const char *base_name(const char *path)
{
    const char *const slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static clo_status check_ledger(cli_job *job, cli_error *err)
{
    const char *const path = cli_value(job->args, "ledger");
    job->metered = !cli_given(job->args, "no-ledger");
    job->dataset = cli_value(job->args, "dataset");
    job->token = cli_value(job->args, "token");
    if (!job->metered) {
        if (job->token)
            return cli_fail(err, CLO_ARGUMENT,
                            "--no-ledger excludes --token, which is kept in the ledger");
        if (path || job->dataset)
            return cli_fail(err, CLO_ARGUMENT, "--no-ledger excludes --ledger and --dataset");
        return CLO_OK;
    }
    if (!job->dataset && strcmp(job->path, "-") == 0)
        return cli_fail(err, CLO_ARGUMENT,
                        "data from standard input have no name to charge: give --dataset NAME");
    if (!job->dataset) {
        job->dataset = base_name(job->path);
        job->origin = realpath(job->path, NULL);
    }
    if (!job->dataset[0]) return cli_fail(err, CLO_ARGUMENT, "--dataset must not be empty");
    if (!path)
        return clo_ledger_default_path(job->ledger_path, sizeof job->ledger_path, &err->error);
    if ((size_t)snprintf(job->ledger_path, sizeof job->ledger_path, "%s", path) >=
        sizeof job->ledger_path)
        return cli_fail(err, CLO_LEDGER, "the ledger's path is too long");
    return CLO_OK;
}

static clo_status check_unit(const cli_job *job, cli_error *err)
{
    const bool unit = cli_given(job->args, "unit");
    if (unit && job->spec.rows_per_unit == 0) {
        cli_hint(err, "--rows-per-unit 1");
        return cli_fail(err, CLO_DOMAIN,
                        "--unit needs --rows-per-unit M: how many rows one person may have decides "
                        "how much noise hides that person");
    }
    if (!unit && job->spec.rows_per_unit > 0)
        return cli_fail(err, CLO_DOMAIN,
                        "--rows-per-unit needs --unit COLUMN, which says whose row it is");
    return CLO_OK;
}

clo_status cli_job_check(cli_job *job, const cli_args *args, const char *name, const char *method,
                         const char *path, cli_error *err)
{
    const char *const threads = cli_value(args, "threads");
    clo_read_options unused;
    uint64_t count = 0;
    clo_status status;
    *job = (cli_job){ .args = args, .path = path, .quiet = cli_given(args, "quiet") };
    if ((status = cli_budget(args, &job->budget, err)) ||
        (status = cli_choice_read(args, name, method, &job->choice, err)) ||
        (status = cli_domain_read(args, &job->spec, err)) || (status = check_unit(job, err)) ||
        (status = cli_read_options(args, &unused, err)) || (status = check_ledger(job, err)))
        return status;
    if (threads && (status = cli_parse_whole("--threads", threads, 1, 1024, &count, err)))
        return status;
    job->threads = (int)count;
    return CLO_OK;
}

static bool same_file(const char *a, const char *b)
{
    struct stat first, second;
    return stat(a, &first) == 0 && stat(b, &second) == 0 && S_ISREG(first.st_mode) &&
           first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

clo_status cli_check_output(const char *output, const cli_job *job, cli_error *err)
{
    if (same_file(output, job->path))
        return cli_fail(err, CLO_ARGUMENT, "-o %s would overwrite the data", output);
    if (job->metered && same_file(output, job->ledger_path))
        return cli_fail(err, CLO_ARGUMENT, "-o %s would overwrite the ledger", output);
    return CLO_OK;
}

/* ---- prepare -------------------------------------------------------------- */

/* The names outlive the table, which is freed before the run. */
static void keep_names(cli_job *job, const clo_table *table)
{
    const size_t cols = clo_table_cols(table);
    if (cols == 0 || !clo_table_column_name(table, 0)) return;
    job->names = cli_alloc(cols, sizeof *job->names);
    job->name_count = cols;
    for (size_t j = 0; j < cols; j++) {
        const char *const name = clo_table_column_name(table, j);
        job->names[j] = cli_copy(name ? name : "");
    }
}

/* Under replace, with one row a record, how many there are is public; otherwise only what the user
 * declares is. */
static clo_status settle_rows(cli_job *job, const clo_table *table, cli_error *err)
{
    const size_t there = clo_table_rows(table);
    if (job->spec.relation != CLO_REPLACE || clo_table_has_unit(table)) return CLO_OK;
    if (job->spec.rows != 0 && job->spec.rows != there)
        return cli_fail(err, CLO_DOMAIN,
                        "--rows says %llu, but '%s' has %zu: under replace leave --rows out",
                        (unsigned long long)job->spec.rows, job->path, there);
    /* Only where their number is public may an empty table be refused. */
    if (there == 0) return cli_fail(err, CLO_FORMAT, "%s has no rows", job->path);
    job->spec.rows = there;
    return CLO_OK;
}

static clo_status read_and_bound(cli_job *job, cli_error *err)
{
    clo_read_options options;
    clo_table *table = NULL;
    clo_status status = cli_read_options(job->args, &options, err);
    if (status != CLO_OK) return status;
    options.rows_are_secret = job->spec.relation != CLO_REPLACE || options.unit;
    status = clo_table_read(job->path, &options, &table, &err->error);
    if (status == CLO_OK) status = settle_rows(job, table, err);
    if (status == CLO_OK)
        status = cli_domain_fit(&job->spec, clo_table_cols(table), table, &job->domain, err);
    if (status == CLO_OK) status = clo_bound(table, &job->domain, &job->data, &err->error);
    if (status == CLO_OK) keep_names(job, table);
    clo_table_free(table);
    return status;
}

static clo_status make_plan(cli_job *job, cli_error *err)
{
    if (job->budget.delta < 0) job->budget.delta = cli_default_delta(job->domain.rows);
    return cli_learning_plan(&job->choice, &job->spec, &job->domain, job->budget,
                             cli_accept(job->args), &job->plan, err);
}

/* Memory is gathered here and not by the run: how much it is follows the number of rows, and after
 * the charge a lack of it would tell of them. */
static clo_status gather(cli_job *job, cli_error *err)
{
    const char *const seed_text = cli_value(job->args, "seed");
    clo_run_options options = clo_run_options_default();
    uint8_t seed[32];
    options.threads = job->threads;
    const clo_status status =
        clo_workspace_for_run(job->plan, job->data, &options, &job->workspace, &err->error);
    if (status != CLO_OK) return status;
    if (!seed_text) return clo_rng_new(&job->rng, &err->error);
    cli_warn("--seed: this release is reproducible, not private");
    clo_seed_from_text(seed_text, seed);
    return clo_rng_new_seeded(seed, &job->rng, &err->error);
}

clo_status cli_job_prepare(cli_job *job, cli_error *err)
{
    const bool dry = cli_given(job->args, "dry-run");
    clo_status status = CLO_OK;
    if (job->metered && !dry)
        status = clo_ledger_open(job->ledger_path, &job->ledger, &err->error);
    else if (job->metered && access(job->ledger_path, F_OK) == 0)
        status = clo_ledger_open_existing(job->ledger_path, &job->ledger, &err->error);
    if (status == CLO_OK) status = read_and_bound(job, err);
    if (status == CLO_OK) status = make_plan(job, err);
    if (status == CLO_OK && !dry) status = gather(job, err);
    return status;
}

/* One sentence for lines that differ in their noise alone; where the next ones start. */
static size_t announce_lines(const clo_plan *plan, size_t first)
{
    const clo_plan_line line = clo_plan_line_at(plan, first);
    clo_plan_line last = line;
    uint64_t count = line.event.count;
    size_t next = first + 1;
    char noise[128] = "", times[32] = "once";
    for (; next < clo_plan_line_count(plan); next++) {
        const clo_plan_line other = clo_plan_line_at(plan, next);
        if (strcmp(other.query, line.query) != 0 || strcmp(other.label, line.label) != 0) break;
        count += other.event.count;
        last = other;
    }
    if (line.noise > 0)
        snprintf(noise, sizeof noise, ", noise %s%s%s%s", clo_plan_learning(plan) ? "at most " : "",
                 cli_rounded(line.noise, 4).text, next > first + 1 ? " to " : "",
                 next > first + 1 ? cli_rounded(last.noise, 4).text : "");
    if (count > 1) snprintf(times, sizeof times, "%llu times", (unsigned long long)count);
    cli_note("  asks %s (%s) %s%s", line.query, line.label, times, noise);
    return next;
}

void cli_job_announce(const cli_job *job)
{
    char name[128];
    const clo_loss budget = clo_plan_budget(job->plan);
    if (job->quiet) return;
    cli_mechanism_name(clo_plan_mechanism(job->plan), name, sizeof name);
    cli_note("%s on '%s': epsilon %s, delta %s, %s", name, job->path,
             cli_number(budget.epsilon).text, cli_number(budget.delta).text,
             clo_relation_name(job->domain.relation));
    for (size_t i = 0; i < clo_plan_line_count(job->plan);) i = announce_lines(job->plan, i);
}

/* ---- the account ---------------------------------------------------------- */

typedef struct standing {
    bool known, capped;
    clo_loss cap, left;
    int64_t last_charge;
} standing;

static bool take_standing(void *user, const clo_account *account)
{
    *(standing *)user =
        (standing){ true, account->capped, account->cap, account->left, account->last_charge };
    return true;
}

static standing standing_of(const cli_job *job)
{
    standing out = { false, false, { 0, 0 }, { 0, 0 }, 0 };
    if (job->ledger && clo_ledger_accounts(job->ledger, job->dataset, take_standing, &out, NULL))
        out.known = false;
    return out;
}

static void say_left(const standing *account, char *text, size_t size)
{
    if (!account->capped)
        snprintf(text, size, "no cap set");
    else if (account->left.epsilon <= 0)
        snprintf(text, size, "nothing is left under its cap");
    else
        snprintf(text, size, "epsilon %s is left at delta %s",
                 cli_rounded(account->left.epsilon, 6).text,
                 cli_rounded(account->left.delta, 3).text);
}

clo_status cli_job_dry_run(const cli_job *job, cli_error *err)
{
    const cli_prediction prediction = cli_predict(job->plan, (double)job->domain.rows);
    const standing account = standing_of(job);
    char left[128];
    say_left(&account, left, sizeof left);
    if (cli_given(job->args, "json")) {
        cli_json json = cli_json_begin(stdout);
        cli_plan_json(&json, job->plan, &job->domain, prediction);
        cli_json_bool(&json, "metered", job->metered);
        if (job->metered) {
            cli_json_text(&json, "ledger", job->ledger_path);
            cli_json_text(&json, "dataset", job->dataset);
        }
        if (account.capped) cli_json_loss(&json, "left", account.left);
        cli_json_end(&json);
        return cli_flush(stdout, err);
    }
    cli_plan_text(stdout, job->plan, &job->domain, prediction);
    if (job->metered)
        printf("\n  Would charge '%s' in %s (%s); nothing was spent.\n", job->dataset,
               job->ledger_path, left);
    else
        printf("\n  Would charge no ledger; nothing was spent.\n");
    return cli_flush(stdout, err);
}

/* ---- spend and run -------------------------------------------------------- */

/* A cap is the user's standing word.  Without one, a person at a terminal is asked each time;
 * a script is never kept waiting. */
static clo_status confirm(const cli_job *job, cli_error *err)
{
    char question[512];
    const clo_loss budget = clo_plan_budget(job->plan);
    if (cli_given(job->args, "yes") || !cli_can_ask() || standing_of(job).capped) return CLO_OK;
    snprintf(question, sizeof question,
             "'%s' has no cap.  Spend epsilon %s, delta %s on it for good?", job->dataset,
             cli_number(budget.epsilon).text, cli_number(budget.delta).text);
    if (cli_ask(question)) return CLO_OK;
    return cli_fail(err, CLO_CANCELLED, "stopped before the spend: nothing was spent");
}

clo_status cli_job_fetch(cli_job *job, bool *found, cli_error *err)
{
    char *bytes = NULL;
    size_t length = 0;
    *found = false;
    if (!job->token) return CLO_OK;
    clo_status status = clo_ledger_fetch(job->ledger, job->dataset, job->plan, job->token, &bytes,
                                         &length, &err->error);
    if (status == CLO_OK && bytes) {
        cli_bytes_write(&job->json, bytes, length);
        status = clo_release_parse(bytes, length, &job->release, &err->error);
        *found = status == CLO_OK;
    }
    clo_ledger_bytes_free(bytes);
    if (*found && !job->quiet)
        cli_note("token '%s': the release that was stored for it; nothing was spent", job->token);
    return status;
}

/* Nothing goes wrong where the clock does; but who reads the history should know. */
static void warn_of_the_clock(const cli_job *job)
{
    const int64_t now = (int64_t)time(NULL), last = standing_of(job).last_charge;
    if (now < last)
        cli_warn("the clock says %s, which is before the last charge (%s): the history is in the "
                 "order of its numbers, not of its times",
                 cli_time(now).text, cli_time(last).text);
}

clo_status cli_job_spend(cli_job *job, cli_error *err)
{
    const clo_status fit = clo_plan_check_data(job->plan, job->data, &err->error);
    if (fit != CLO_OK) return fit;
    if (!job->metered) return clo_grant_unmetered(job->plan, &job->grant, &err->error);
    clo_status status = CLO_OK;
    if (job->origin) status = clo_ledger_claim(job->ledger, job->dataset, job->origin, &err->error);
    if (status != CLO_OK) cli_hint(err, "--dataset NAME");
    if (status == CLO_OK) status = confirm(job, err);
    if (status != CLO_OK) return status;
    warn_of_the_clock(job);
    if (job->token)
        status = clo_ledger_spend_token(job->ledger, job->dataset, job->plan, job->token,
                                        &job->grant, &err->error);
    else
        status = clo_ledger_spend(job->ledger, job->dataset, job->plan, &job->grant, &err->error);
    if (status == CLO_BUDGET) cli_hint(err, "cloister ledger show %s", job->ledger_path);
    return status;
}

/* The release as bytes, stored under the run's token before they are delivered.  Where that fails
 * the run was still paid for, and is delivered; only its token is of no further use. */
static clo_status keep(cli_job *job, cli_error *err)
{
    clo_error trouble;
    const clo_status status =
        clo_report(job->release, CLO_JSON, cli_bytes_write, &job->json, &err->error);
    if (status != CLO_OK || !job->metered) return status;
    if (clo_ledger_store(job->ledger, job->grant, job->json.data, job->json.length, &trouble))
        cli_warn("the release could not be stored for later, so keep it yourself: %s",
                 trouble.message);
    if (job->origin) /* now that the data set is there */
        (void)!clo_ledger_claim(job->ledger, job->dataset, job->origin, NULL);
    return CLO_OK;
}

clo_status cli_job_run(cli_job *job, cli_error *err)
{
    clo_run_options options = clo_run_options_default();
    cli_progress progress;
    options.threads = job->threads;
    options.workspace = job->workspace;
    options.progress = cli_progress_step;
    options.user = &progress;
    cli_progress_start(&progress, job->quiet);
    clo_status status =
        clo_run(job->plan, job->grant, job->data, job->rng, &options, &job->release, &err->error);
    cli_progress_end(&progress);
    if (status == CLO_OK && job->names)
        status = clo_release_name_columns(job->release, (const char *const *)job->names,
                                          job->name_count, &err->error);
    if (status == CLO_OK) status = keep(job, err);
    if (status == CLO_CANCELLED && job->metered)
        return cli_fail(err, status, "stopped; the budget of this run stays spent");
    return status;
}

void cli_job_sum_up(const cli_job *job, const char *written_to)
{
    const clo_loss budget = clo_plan_budget(job->plan);
    const standing account = standing_of(job);
    char left[128];
    if (job->quiet) return;
    if (written_to) cli_note("release written to '%s'", written_to);
    if (!job->metered) {
        cli_note("not metered: no ledger knows of this release");
        return;
    }
    say_left(&account, left, sizeof left);
    cli_note("spent epsilon %s, delta %s on '%s': %s", cli_number(budget.epsilon).text,
             cli_number(budget.delta).text, job->dataset, left);
}

void cli_job_free(cli_job *job)
{
    free(job->json.data);
    free(job->origin);
    clo_release_free(job->release);
    clo_grant_free(job->grant);
    clo_rng_free(job->rng);
    clo_workspace_free(job->workspace);
    clo_ledger_close(job->ledger);
    clo_plan_free(job->plan);
    clo_bounded_free(job->data);
    for (size_t j = 0; j < job->name_count; j++) free(job->names[j]);
    free(job->names);
    cli_domain_free(&job->domain);
    cli_domain_spec_free(&job->spec);
    cli_choice_free(&job->choice);
}
