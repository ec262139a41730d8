/* running.c - a job of the library, and what the command says to the operator about it: what it is
 * about to ask, the question before a spend without a cap, how far it is, what is left. */
#include "cli.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

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
        cli_hint(err,
                 strcmp(text, "yes") == 0 ? "the same with --%s, which runs it anyway" : "--%s",
                 text);
        break;
    case CLO_ADVICE_BOUNDS:
        cli_hint(err, "cloister bounds --help, which finds a radius privately");
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
    const char *name;
    for (size_t i = 0; (name = clo_job_setting_name(i)) && status == CLO_OK; i++) {
        const char *const value = cli_value(job->args, name);
        const bool flag =
            strcmp(name, "no-ledger") == 0 || strcmp(name, "yes") == 0 || strcmp(name, "new") == 0;
        if (value) status = cli_job_set(job, name, flag ? "yes" : value, err);
    }
    for (size_t i = 0; i < count && status == CLO_OK; i++) {
        const char *const value = cli_value(job->args, params[i]->name);
        if (value) status = cli_job_set(job, params[i]->name, value, err);
    }
    return status;
}

/* A cap is the user's standing word.  Without one, a person at a terminal is asked each time;
 * a script is never kept waiting, and spends on a word only (check_cap). */
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
        cli_warn("the clock says %s, which is before the last charge (%s): the history is in the "
                 "order of its numbers, not of its times",
                 cli_time(now).text, cli_time(account->last_charge).text);
    return true;
}

/* Noise hides what is looked for: a person may want it all the same. */
static bool spend_anyway(void *user, const char *why)
{
    cli_job *const job = user;
    char question[640];
    if (cli_interrupted() || !cli_can_ask()) return false;
    snprintf(question, sizeof question, "This will not work: %s.  Spend anyway?", why);
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
                        "--solver caller is for programs that bring a function of their own; the "
                        "command has none");
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
    cli_note("  asks %s (%s) %s%s", line.query, line.label, times, noise);
    return next;
}

/* To a person: which columns, where that is a matter of the header and of the options. */
static void say_columns(const cli_job *job)
{
    const size_t all = clo_job_file_cols(job->job), taken = clo_job_taken_cols(job->job);
    const bool unit = cli_given(job->args, "unit");
    if (!isatty(STDERR_FILENO) || all == 0) return;
    if (taken + unit == all)
        cli_note("  uses all %zu column%s%s", taken, taken == 1 ? "" : "s",
                 unit ? " but that of the unit" : "");
    else
        cli_note("  uses %zu of %zu columns; %zu left out by --columns", taken, all,
                 all - taken - unit);
}

/* What a person is told beforehand where the number of rows is not public: how many it would take,
 * and that nothing else can be said. */
static void announce_unknown(const clo_plan *plan)
{
    char needed[600];
    cli_told_text(plan, needed, sizeof needed);
    if (needed[0]) cli_note("  %s", needed);
    cli_note("  cannot say what to expect, as the number of rows is not public: --rows N states "
             "one that everybody may know, roughly");
}

static void announce(const cli_job *job, const clo_plan *plan)
{
    char name[128], files[512], expected[800];
    const clo_loss budget = clo_plan_budget(plan);
    if (job->quiet) return;
    cli_mechanism_name(clo_plan_mechanism(plan), name, sizeof name);
    cli_note("%s on '%s': epsilon %s, delta %s, %s", name, called(job, files, sizeof files),
             cli_number(budget.epsilon).text, cli_number(budget.delta).text,
             clo_relation_name(clo_plan_domain(plan)->relation));
    say_columns(job);
    for (size_t i = 0; i < clo_plan_line_count(plan);) i = announce_lines(plan, i);
    cli_expect_text(job->job, plan, expected, sizeof expected);
    if (expected[0]) cli_note("  %s", expected);
    if (clo_plan_domain(plan)->rows == 0) announce_unknown(plan);
}

static void say_left(const clo_account *account, char *text, size_t size)
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

static void dry_run_json(const clo_plan *plan, const char *ledger, const clo_account *account,
                         const char *refused)
{
    clo_writer json = cli_plan_json(stdout, plan);
    clo_json_bool(&json, "metered", ledger != NULL);
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
    char left[128];
    if (job->quiet) return;
    if (written_to) cli_note("release written to '%s'", written_to);
    if (!clo_job_ledger_path(job->job)) {
        cli_note("not metered: no ledger knows of this release");
        return;
    }
    clo_job_account(job->job, &account, sizeof account);
    say_left(&account, left, sizeof left);
    cli_note("spent epsilon %s, delta %s on '%s': %s", cli_number(budget.epsilon).text,
             cli_number(budget.delta).text, account.dataset, left);
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
                        "%.300s; the ledger could not keep the release either: it is lost, and "
                        "its budget stays spent",
                        why);
    if (cli_given(job->args, "ledger")) cli_quote(&command, ledger);
    cli_bytes_write(&command, " --token ", 9);
    cli_quote(&command, token);
    cli_hint(err, "cloister ledger fetch%s%.*s", command.data[0] == ' ' ? "" : " ",
             (int)command.length, command.data);
    free(command.data);
    return cli_fail(err, CLO_UNDELIVERED,
                    "%.300s; the release is safe in the ledger, and to fetch it costs nothing",
                    why);
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
        cli_warn("--cache: it could not be written, so that the files are read again; is the disk "
                 "full?");
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
        cli_hint(err, "the same with --yes, which runs it anyway");
        return cli_fail(err, CLO_BUDGET, "a run would be refused: %s", why);
    }
    const clo_status status = told(job, clo_job_would_spend(job->job, &err->error), err);
    if (status == CLO_OK) return CLO_OK;
    snprintf(why, sizeof why, "%.390s", err->error.message);
    return cli_fail(err, status, "a run would be refused: %s", why);
}

/* How charges with a delta are counted there: it decides which runs still fit. */
static const char *say_rule(const clo_account *account)
{
    if (!account->capped || !account->rule) return "";
    if (strcmp(account->rule, "basic") == 0) return "; losses are added";
    if (strcmp(account->rule, "zcdp") == 0) return "; rhos are added (zcdp)";
    return "";
}

clo_status cli_job_dry_run(cli_job *job, cli_error *err)
{
    const char *const ledger = clo_job_ledger_path(job->job);
    const clo_plan *plan = NULL;
    clo_account account;
    char left[128];
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
        printf("\n  %s charge '%s' in %s (%s%s); nothing was spent.\n",
               refused == CLO_OK ? "Would" : "Would not", account.dataset, ledger, left,
               say_rule(&account));
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
                    "'%.200s' has no cap, and there is no terminal to ask at: give it one, or say "
                    "--yes; nothing was spent",
                    account.dataset);
}

static clo_status spend_and_run(cli_job *job, cli_error *err)
{
    /* Before the charge: whoever stops it right after hears that it is spent. */
    cli_progress_start(&job->progress, "running", job->quiet);
    clo_status status = clo_job_spend(job->job, &err->error);
    if (status == CLO_OK) status = clo_job_run(job->job, &err->error);
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
        if (status == CLO_OK) status = spend_and_run(job, err);
    }
    return told(job, status, err);
}
