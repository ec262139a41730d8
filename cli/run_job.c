/* run_job.c - a job of the library, and what the command says to the operator about it: what it is
 * about to ask, the question before a spend without a cap, how far it is, what is left. */
#include "cli.h"
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MOST_USEFUL = 10 /* epsilon */ };

/* ---- from options to settings ---------------------------------------------- */

/* How the ledger's steward declares the data set. */
static void hint_at_init(const cli_job *job, const char *dataset, cli_error *err)
{
    cli_bytes command = { NULL, 0, 0 };
    const char *const ledger = cli_value(job->args, "ledger");
    if (ledger) cli_bytes_write(&command, " ", 1);
    if (ledger) cli_quote(&command, ledger);
    cli_bytes_write(&command, " --dataset ", 11);
    cli_quote(&command, dataset);
    cli_hint(err, "cloister ledger init%.*s --epsilon E", (int)command.length, command.data);
    free(command.data);
}

/* A failure, with what to try after it in the command's own words. */
static clo_status told(const cli_job *job, clo_status status, cli_error *err)
{
    const char *text;
    switch (status == CLO_OK ? CLO_ADVICE_NONE : clo_job_advice(job->job, &text)) {
    case CLO_ADVICE_SET:
        cli_hint(err, strcmp(text, "yes") == 0 ? "--%s, which runs it anyway" : "--%s", text);
        break;
    case CLO_ADVICE_BOUNDS:
        cli_hint(err, "--bounds FILE, with a line name,lower,upper per column; or 'cloister "
                      "bounds', which finds "
                      "bounds privately");
        break;
    case CLO_ADVICE_METHOD:
        cli_hint(err, "cloister methods%s%s", text[0] ? " " : "", text);
        break;
    case CLO_ADVICE_LEDGER:
        cli_hint(err, "cloister ledger show %s", text);
        break;
    case CLO_ADVICE_DECLARE:
        hint_at_init(job, text, err);
        break;
    case CLO_ADVICE_NONE:
        break;
    }
    return status;
}

clo_status cli_job_set(cli_job *job, const char *name, const char *value, cli_error *err)
{
    return told(job, clo_job_set(job->job, name, value, &err->error), err);
}

static clo_status set_all(cli_job *job, cli_error *err)
{
    const clo_param *params[CLI_MAX_PARAMETERS];
    const size_t count =
        cli_parameters(cli_args_entry(job->args)->command, params, CLI_MAX_PARAMETERS);
    clo_status status = CLO_OK;
    const clo_setting_info *setting;
    for (size_t i = 0; (setting = clo_job_setting(i)) && status == CLO_OK; i++) {
        const char *const value = cli_setting_value(job->args, setting);
        if (value) status = cli_job_set(job, setting->name, value, err);
    }
    for (size_t i = 0; i < count && status == CLO_OK; i++) {
        const char *const value = cli_value(job->args, params[i]->name);
        if (value) status = cli_job_set(job, params[i]->name, value, err);
    }
    return status;
}

/* A cap is the user's standing word.  Without one, a person at a terminal is asked each time;
 * a script is never kept waiting, and spends on a word only (check_cap). */
/* From the last "yes" on signals are held (stop.c). */
static bool confirm(void *user, const clo_account *account, clo_loss budget)
{
    cli_job *const job = user;
    const int64_t now = (int64_t)time(NULL);
    char question[512];
    snprintf(question, sizeof question,
             "'%s' has no cap.  Spend epsilon %s, delta %s on it for good?", account->dataset,
             cli_number(budget.epsilon).text, cli_number(budget.delta).text);
    if (cli_interrupted()) return false;
    if (!cli_given(job->args, "yes") && cli_can_ask() && !account->capped) {
        cli_progress_end(&job->progress); /* Ctrl-C at a question ends the command */
        if (!cli_ask(question)) return false;
        cli_progress_start(&job->progress, "running", job->quiet);
    }
    /* Nothing goes wrong where the clock does; but who reads the history should know. */
    if (now < account->last_charge)
        cli_warn("the clock of this machine (%s) is before the last charge (%s): go by the "
                 "numbers of charges, not by their times",
                 cli_time(now).text, cli_time(account->last_charge).text);
    signal(SIGPIPE, SIG_IGN); /* a reader who is gone does not end what is paid for */
    cli_stop_hold();
    return !cli_interrupted();
}

/* Noise hides what is looked for: a person may want it all the same. */
static bool spend_anyway(void *user, const char *why)
{
    cli_job *const job = user;
    char question[640];
    if (cli_interrupted() || !cli_can_ask()) return false;
    snprintf(question, sizeof question, "This will not work: %s.  Spend the budget anyway?", why);
    cli_progress_end(&job->progress);
    if (!cli_ask(question)) return false;
    cli_progress_start(&job->progress, "running", job->quiet);
    return true;
}

/* The library takes several files as lines. */
static clo_status set_files(cli_job *job, cli_error *err)
{
    cli_bytes lines = { .data = NULL };
    bool there = true;
    for (size_t i = job->word; i <= job->word + job->more && there; i++) {
        const char *const path = cli_word(job->args, i);
        there = (i == job->word || cli_bytes_write(&lines, "\n", 1)) &&
                cli_bytes_write(&lines, path, strlen(path));
    }
    const clo_status status = there && cli_bytes_write(&lines, "", 1)
                                  ? cli_job_set(job, "data", lines.data, err)
                                  : cli_fail(err, CLO_MEMORY, "out of memory");
    free(lines.data);
    return status;
}

/* The data as people call them: by their file, or by the first of them. */
static const char *called(const cli_job *job, char *text, size_t size)
{
    if (job->more == 0) return job->path;
    snprintf(text, size, "%s and %zu more", job->path, job->more);
    return text;
}

clo_status cli_job_open(cli_job *job, const cli_args *args, const char *name, int word,
                        cli_error *err)
{
    const clo_mechanism *unused;
    const char *const solver = cli_value(args, "solver");
    clo_run_options options = clo_run_options_default();
    *job = (cli_job){ .args = args, .quiet = cli_given(args, "quiet") };
    if (word >= 0) {
        job->path = cli_word(args, (size_t)word);
        job->word = (size_t)word;
        job->more = cli_word_count(args) - job->word - 1;
    }
    clo_status status = clo_job_new(&job->job, &err->error);
    if (status != CLO_OK) return status;
    options.comm = cli_comm();
    options.progress = cli_progress_step;
    options.user = &job->progress;
    clo_job_set_reading(job->job, cli_progress_step, &job->progress);
    clo_job_spell(job->job, "--");
    clo_job_set_confirm(job->job, confirm, job);
    clo_job_set_anyway(job->job, spend_anyway, job);
    if ((status = cli_mechanism(name, cli_value(args, "method"), &unused, err))) return status;
    if (solver && strcmp(solver, "caller") == 0)
        return cli_fail(err, CLO_ARGUMENT,
                        "--solver caller is only for C programs: choose another solver");
    if ((status = clo_job_set_run_options(job->job, &options, &err->error)) ||
        (status = set_all(job, err)) || (status = cli_job_set(job, "mechanism", name, err)))
        return status;
    return job->path ? set_files(job, err) : CLO_OK;
}

void cli_job_close(cli_job *job)
{
    clo_job_free(job->job);
    job->job = NULL;
}

clo_status cli_job_plan(cli_job *job, const clo_plan **out, cli_error *err)
{
    return told(job, clo_job_plan(job->job, out, &err->error), err);
}

clo_status cli_job_check(cli_job *job, cli_error *err)
{
    return told(job, clo_job_check(job->job, &err->error), err);
}

clo_status cli_check_output(const char *output, const cli_job *job, cli_error *err)
{
    const char *const ledger = clo_job_ledger_path(job->job);
    for (size_t i = job->word; i <= job->word + job->more; i++)
        if (cli_same_file(output, cli_word(job->args, i)))
            return cli_fail(err, CLO_ARGUMENT, "-o %s would overwrite the data", output);
    if (ledger && cli_same_file(output, ledger))
        return cli_fail(err, CLO_ARGUMENT, "-o %s would overwrite the ledger", output);
    return CLO_OK;
}

/* ---- what there is to say --------------------------------------------------- */

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
    cli_note("  query %s (%s) %s%s", line.query, line.label, times, noise);
    return next;
}

static void say_columns(const cli_job *job)
{
    const size_t all = clo_job_file_cols(job->job), taken = clo_job_taken_cols(job->job);
    const bool unit = cli_given(job->args, "unit");
    if (all == 0) return;
    if (taken + unit == all)
        cli_note("  uses all %zu column%s%s", taken, taken == 1 ? "" : "s",
                 unit ? " except that of the person" : "");
    else
        cli_note("  uses %zu of %zu columns; %zu left out by --columns", taken, all,
                 all - taken - unit);
}

/* Where the number of rows is secret, no error can be predicted. */
static void announce_unknown(void)
{
    cli_note(
        "  the number of rows is secret, so no error can be predicted: give a rough public one "
        "with --rows N");
}

/* Of an epsilon with which noise is as good as none a choice of methods takes less. */
static void warn_of_less(const cli_job *job, clo_loss budget)
{
    const char *const epsilon = cli_value(job->args, "epsilon");
    if (!epsilon || !(strtod(epsilon, NULL) > budget.epsilon)) return;
    cli_warn(
        "only %s of epsilon %s is used and charged: a larger one would hardly change the result",
        cli_number(budget.epsilon).text, epsilon);
}

/* An epsilon that hides hardly anything is accepted, but not in silence. */
static void warn_of_much(clo_loss budget)
{
    if (budget.epsilon > MOST_USEFUL)
        cli_warn("epsilon %s hides hardly anything about a person; 1 is usual: see "
                 "docs/guides/choose-epsilon.md",
                 cli_number(budget.epsilon).text);
}

static void announce_memory(const cli_job *job, const clo_plan *plan)
{
    const char *const threads = cli_value(job->args, "threads");
    char text[64];
    if (cli_memory_text(plan, threads ? (int)strtol(threads, NULL, 10) : 0, text, sizeof text))
        cli_note("  takes memory: %s", text);
}

/* For --verbose: what the data will be asked. */
static void announce_queries(const cli_job *job, const clo_plan *plan)
{
    char needed[600];
    say_columns(job);
    for (size_t i = 0; i < clo_plan_line_count(plan);) i = announce_lines(plan, i);
    cli_told_text(plan, needed, sizeof needed);
    if (needed[0]) cli_note("  %s", needed);
}

/* One line with what is run, and one with what to expect of it. */
/* What the schema makes of the promise, and few rows of its levels. */
static void warn_of_schema(const clo_plan *plan)
{
    const clo_schema *const schema = clo_plan_domain(plan)->schema;
    char text[400];
    if (schema && clo_schema_is_from_data(schema))
        cli_warn("the schema has bounds or levels that come from the data: the release is private "
                 "only for anyone who knows them already");
    if (clo_plan_schema_text(plan, text, sizeof text)) cli_warn("%s", text);
}

static void announce(const cli_job *job, const clo_plan *plan)
{
    char name[128], files[512], expected[800];
    const clo_loss budget = clo_plan_budget(plan);
    warn_of_less(job, budget);
    warn_of_much(budget);
    if (job->quiet) return;
    cli_mechanism_name(clo_plan_mechanism(plan), name, sizeof name);
    cli_note("%s on '%s': epsilon %s, delta %s, %s", name, called(job, files, sizeof files),
             cli_number(budget.epsilon).text, cli_number(budget.delta).text,
             clo_plan_domain(plan)->relation == CLO_REPLACE ? "hides the values of a record"
                                                            : "hides whether a record is there");
    if (cli_given(job->args, "verbose")) announce_queries(job, plan);
    announce_memory(job, plan);
    cli_expect_text(job->job, plan, expected, sizeof expected);
    if (expected[0]) cli_note("  %s", expected);
    warn_of_schema(plan);
    if (clo_plan_domain(plan)->rows == 0) announce_unknown();
}

/* Where charges compose, more is left than a subtraction says. */
static bool is_more_than_the_rest(const clo_account *account, double cap)
{
    return account->left.epsilon > 1.001 * (cap - account->spent.epsilon);
}

static void say_left(const clo_account *account, char *text, size_t size)
{
    const double cap = account->lowered ? account->limit.epsilon : account->cap.epsilon;
    if (!account->capped)
        snprintf(text, size, "there is no cap");
    else if (account->left.epsilon <= 0)
        snprintf(text, size, "nothing is left of epsilon %s", cli_number(cap).text);
    else
        snprintf(text, size, "epsilon %s of %s is left%s",
                 cli_rounded(account->left.epsilon, 4).text, cli_number(cap).text,
                 is_more_than_the_rest(account, cap) ? " (runs together cost less than their sum)"
                                                     : "");
}

static void dry_run_json(const clo_plan *plan, const char *ledger, const clo_account *account,
                         const char *refused)
{
    clo_writer json = cli_plan_json(stdout, plan);
    clo_json_bool(&json, "charged_to_ledger", ledger != NULL);
    if (ledger) {
        clo_json_text(&json, "ledger", ledger);
        clo_json_text(&json, "dataset", account->dataset);
    }
    if (account->capped) cli_json_loss(&json, "left", account->left);
    if (account->capped) clo_json_text(&json, "rule", account->rule);
    clo_json_text(&json, "refused", refused);
    cli_json_end(&json);
}

/* Reads, or rehearses, and shows how far it is. */
static clo_status read_data(cli_job *job, clo_status (*step)(clo_job *job, clo_error *err),
                            cli_error *err)
{
    char files[512];
    cli_progress_start(&job->progress, "reading", job->quiet);
    cli_stop_catch(true);
    cli_stop_words("stopped while '%s' was read: nothing was spent",
                   called(job, files, sizeof files));
    const clo_status status = step(job->job, &err->error);
    cli_progress_end(&job->progress);
    if (status == CLO_CANCELLED)
        return cli_fail(err, status, "stopped while '%s' was read: nothing was spent",
                        called(job, files, sizeof files));
    return status;
}

void cli_job_sum_up(const cli_job *job, const char *written_to)
{
    const clo_loss budget = clo_release_loss(clo_job_result(job->job));
    clo_account account;
    char left[200];
    const char *const join = written_to ? "; " : "";
    char wrote[300] = "";
    if (job->quiet) return;
    if (written_to) snprintf(wrote, sizeof wrote, "wrote '%.280s'", written_to);
    if (!clo_job_ledger_path(job->job)) {
        cli_note("%s%sno ledger was charged", wrote, join);
        return;
    }
    clo_job_account(job->job, &account, sizeof account);
    say_left(&account, left, sizeof left);
    cli_note("%s%sspent epsilon %s, delta %s on '%s': %s", wrote, join,
             cli_number(budget.epsilon).text, cli_number(budget.delta).text, account.dataset, left);
}

/* How to get a release that is in the ledger. */
static void write_fetch(const cli_job *job, cli_bytes *command)
{
    cli_bytes_write(command, "cloister ledger fetch", 21);
    if (cli_given(job->args, "ledger")) {
        cli_bytes_write(command, " ", 1);
        cli_quote(command, clo_job_ledger_path(job->job));
    }
    cli_bytes_write(command, " --token ", 9);
    cli_quote(command, clo_job_token(job->job));
}

/* A file on a disk takes what it takes, and then is there.  A reader of a pipe may never read. */
static bool waits_for_nobody(const char *output)
{
    struct stat there;
    return output && strcmp(output, "-") != 0 &&
           (stat(output, &there) != 0 || S_ISREG(there.st_mode));
}

void cli_job_deliver(const cli_job *job, const char *output)
{
    cli_bytes command = { NULL, 0, 0 };
    if (clo_job_token(job->job)) {
        write_fetch(job, &command);
        cli_stop_words("stopped while the release was written; the ledger has it, and fetching it "
                       "is free\n"
                       "try: %.*s",
                       (int)command.length, command.data);
        free(command.data);
    } else {
        cli_stop_words("stopped while the release was written");
    }
    if (!waits_for_nobody(output)) cli_stop_release();
}

void cli_job_delivered(void)
{
    cli_stop_words("stopped after the release was written");
    cli_stop_release();
    if (cli_interrupted()) cli_note("the stop came after the last query: the release is complete");
}

clo_status cli_job_undelivered(const cli_job *job, clo_status status, cli_error *err)
{
    const char *const ledger = clo_job_ledger_path(job->job), *const token =
                                                                  clo_job_token(job->job);
    cli_bytes command = { NULL, 0, 0 };
    char why[sizeof err->error.message];
    if (!ledger) return status;
    snprintf(why, sizeof why, "%s", err->error.message);
    if (!token)
        return cli_fail(err, CLO_UNDELIVERED,
                        "%.300s; the ledger could not store the release either: it is lost, and "
                        "its budget stays spent",
                        why);
    write_fetch(job, &command);
    cli_hint(err, "%.*s", (int)command.length, command.data);
    free(command.data);
    return cli_fail(err, CLO_UNDELIVERED,
                    "%.300s; the ledger has the release, and fetching it is free", why);
}

/* ---- the steps --------------------------------------------------------------- */

clo_status cli_job_serve(cli_job *job, cli_error *err)
{
    const clo_release *nothing = NULL;
    cli_progress_start(&job->progress, "serving", true); /* to be stopped in order */
    const clo_status status = cli_given(job->args, "dry-run")
                                  ? clo_job_rehearse(job->job, &err->error)
                                  : clo_job_release(job->job, &nothing, &err->error);
    cli_progress_end(&job->progress);
    return status;
}

static clo_status prepare(cli_job *job, bool *found, cli_error *err)
{
    const clo_status status = read_data(job, clo_job_prepare, err);
    if (status != CLO_OK) return status;
    if (cli_given(job->args, "seed")) cli_warn("--seed: this release is reproducible, not private");
    if (cli_given(job->args, "cache") && !clo_job_is_cached(job->job))
        cli_warn("the cache could not be written (--cache), so the files are read again: is the "
                 "disk full?");
    return clo_job_fetch(job->job, found, &err->error);
}

/* Runs that charge nothing may try, but not in silence; who gives a seed makes experiments. */
static void warn_of_noise(const cli_job *job, const clo_plan *plan)
{
    char why[512];
    if (clo_job_ledger_path(job->job) || cli_given(job->args, "seed") ||
        cli_given(job->args, "yes") || !clo_plan_hidden_text(plan, why, sizeof why))
        return;
    cli_warn("%s", why);
}

/* Whether a run would be refused, with what it would say. */
static clo_status would_refuse(cli_job *job, const clo_plan *plan, cli_error *err)
{
    char why[400];
    if (!cli_given(job->args, "yes") && clo_job_ledger_path(job->job) &&
        !cli_given(job->args, "seed") && clo_plan_hidden_text(plan, why, sizeof why)) {
        cli_hint(err, "--yes, which runs it anyway");
        return cli_fail(err, CLO_BUDGET, "a run would be refused: %s", why);
    }
    const clo_status status = told(job, clo_job_would_spend(job->job, &err->error), err);
    if (status == CLO_OK) return CLO_OK;
    snprintf(why, sizeof why, "%.390s", err->error.message);
    return cli_fail(err, status, "a run would be refused: %s", why);
}

clo_status cli_job_dry_run(cli_job *job, cli_error *err)
{
    const char *const ledger = clo_job_ledger_path(job->job);
    const clo_plan *plan = NULL;
    clo_account account;
    char left[200];
    clo_status status = told(job, read_data(job, clo_job_rehearse, err), err);
    if (status == CLO_OK) status = cli_job_plan(job, &plan, err);
    if (status != CLO_OK) return status;
    clo_job_account(job->job, &account, sizeof account);
    say_left(&account, left, sizeof left);
    const clo_status refused = would_refuse(job, plan, err);
    if (cli_given(job->args, "json")) {
        dry_run_json(plan, ledger, &account, refused == CLO_OK ? NULL : err->error.message);
        status = cli_flush(stdout, err);
        return status == CLO_OK ? refused : status;
    }
    cli_plan_text(stdout, job->job, plan);
    if (ledger)
        printf("\n  %s charge '%s' in %s, where %s; nothing was spent.\n",
               refused == CLO_OK ? "Would" : "Would not", account.dataset, ledger, left);
    else
        printf("\n  Would charge no ledger; nothing was spent.\n");
    status = cli_flush(stdout, err);
    return status == CLO_OK ? refused : status;
}

/* A cap is somebody's word.  Without one a person is asked (confirm); where there is none to ask,
 * nothing is spent. */
static clo_status check_cap(const cli_job *job, cli_error *err)
{
    clo_account account;
    if (!clo_job_ledger_path(job->job) || cli_given(job->args, "yes") || cli_can_ask())
        return CLO_OK;
    if (clo_job_known_as(job->job)) return CLO_OK; /* refused in other words, which say more */
    if (clo_job_account(job->job, &account, sizeof account) && account.capped) return CLO_OK;
    hint_at_init(job, account.dataset, err);
    return cli_fail(err, CLO_BUDGET,
                    "'%.200s' has no cap, and nobody can be asked without a terminal: declare a "
                    "cap, or pass --yes; nothing was spent",
                    account.dataset);
}

/* Now that it is charged.  A stop that came too late to take the charge back would leave nothing
 * for it, so that the run goes on; who stops it once more means it.  Without a ledger nothing is
 * lost, and the first stop ends the run. */
static void go_on(cli_job *job)
{
    const char *const dataset = clo_job_dataset(job->job);
    const clo_plan *plan = NULL;
    const bool late = dataset && cli_stop_forgive();
    if (clo_job_plan(job->job, &plan, NULL) != CLO_OK) return;
    const clo_loss budget = clo_plan_budget(plan);
    if (late)
        cli_warn("the stop came after the charge, so the run goes on: stop it again to end it "
                 "without a release");
    if (dataset)
        cli_stop_words("stopped before there was a release; its charge stays: epsilon %s, delta "
                       "%s on '%.200s'",
                       cli_number(budget.epsilon).text, cli_number(budget.delta).text, dataset);
    else
        cli_stop_words("stopped before there was a release; no ledger was charged");
    cli_stop_release();
}

static clo_status spend_and_run(cli_job *job, cli_error *err)
{
    cli_progress_start(&job->progress, "running", job->quiet);
    cli_stop_words("stopped before the charge: nothing was spent");
    cli_keep_memory();
    clo_status status = clo_job_spend(job->job, &err->error);
    if (status == CLO_OK) {
        go_on(job);
        status = clo_job_run(job->job, &err->error);
    }
    if (status == CLO_OK)
        cli_stop_hold(); /* until it is delivered (cli_job_deliver) */
    else
        cli_stop_release();
    cli_progress_end(&job->progress);
    if (status == CLO_OK) status = clo_job_store(job->job, &err->error);
    if (status == CLO_OK && clo_job_trouble(job->job))
        cli_warn("the release could not be stored for later, so keep it yourself: %s",
                 clo_job_trouble(job->job));
    return status;
}

/* A release that was paid for is not lost to the next one's file in silence. */
clo_status cli_keep_release(const cli_args *args, cli_error *err)
{
    const char *const output = cli_value(args, "output");
    clo_release *old = NULL;
    struct stat there;
    if (!output || cli_given(args, "overwrite") || stat(output, &there) != 0 ||
        !S_ISREG(there.st_mode) || clo_release_read(output, &old, NULL) != CLO_OK)
        return CLO_OK;
    const bool paid = clo_release_is_metered(old);
    clo_release_free(old);
    if (!paid) return CLO_OK;
    cli_hint(err, "another name, or --overwrite");
    return cli_fail(err, CLO_ARGUMENT,
                    "-o %s would overwrite a release that was paid for; nothing was spent", output);
}

clo_status cli_job_release(cli_job *job, bool *found, cli_error *err)
{
    const clo_plan *plan = NULL;
    clo_status status = prepare(job, found, err);
    if (status == CLO_OK && *found && !job->quiet)
        cli_note("token '%s': this is the release that was stored for it; nothing was spent",
                 cli_value(job->args, "token"));
    if (status == CLO_OK && !*found) {
        if ((status = cli_keep_release(job->args, err)) != CLO_OK) return status;
        status = clo_job_plan(job->job, &plan, &err->error);
        if (status == CLO_OK) announce(job, plan);
        if (status == CLO_OK) warn_of_noise(job, plan);
        if (status == CLO_OK && (status = check_cap(job, err)) != CLO_OK) return status;
        if (status == CLO_OK && job->file)
            status = clo_file_reserve(job->file, clo_job_release_bytes(job->job), &err->error);
        if (status == CLO_OK) status = spend_and_run(job, err);
    }
    return told(job, status, err);
}
