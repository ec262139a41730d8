/* cmd_serve.c - cloister serve: a broker between data and analysts. */
#include "serve.h"
#include <unistd.h>

static const cli_option rows[] = {
    CLI_OPTION("socket", 0, "PATH", "the local socket that analysts connect to"),
    CLI_OPTION("policy", 0, "FILE",
               "the policy file: who may run what; only its owner may have "
               "the right to write it"),
    CLI_OPTION("check", 0, NULL, "check the policy, summarize it, and end"),
    CLI_ROWS_END,
};
static const cli_group serve_group = { "Options", NULL, rows };
static const cli_group *const groups[] = { &serve_group, NULL };

static clo_status serve(const char *path, const clo_policy *policy, cli_error *err)
{
    int listener = -1, lock = -1;
    clo_status status = serve_listen(path, &listener, &lock, err);
    if (status == CLO_OK) status = serve_prepare(policy, err);
    if (status == CLO_OK) status = serve_loop(policy, path, listener, err);
    if (listener >= 0) unlink(path);
    if (lock >= 0) close(lock);
    return status;
}

static clo_status run(const cli_args *args, cli_error *err)
{
    const char *const path = cli_value(args, "socket"), *const file = cli_value(args, "policy");
    clo_policy_facts facts = { .struct_size = sizeof facts };
    clo_policy *policy = NULL;
    clo_status status = cli_check_words(args, 0, 0, "", err);
    if (status != CLO_OK) return status;
    if (!file) return cli_fail(err, CLO_ARGUMENT, "give --policy FILE: who may run what");
    if (!path && !cli_given(args, "check"))
        return cli_fail(err, CLO_ARGUMENT,
                        "give --socket PATH: the socket that analysts connect "
                        "to");
    if ((status = clo_policy_read(file, &policy, &err->error)) != CLO_OK) return status;
    status = clo_policy_describe(policy, &facts, &err->error);
    if (status == CLO_OK && cli_given(args, "check"))
        cli_print(
            "%s: %zu data set%s, %zu analyst%s; answers every %s s, %u runs at once, %u of one "
            "analyst, each at most %s s\n",
            file, facts.datasets, facts.datasets == 1 ? "" : "s", facts.analysts,
            facts.analysts == 1 ? "" : "s", cli_number(facts.tick).text, facts.workers, facts.share,
            cli_number(facts.tick * facts.ticks_at_most).text);
    else if (status == CLO_OK)
        status = serve(path, policy, err);
    clo_policy_free(policy);
    return status;
}

const cli_command cli_serve = {
    .usage = "--socket PATH --policy FILE\n"
             "--policy FILE --check",
    .about =
        "Lets other users of this machine make private releases of data that they cannot read.  "
        "It runs as the account that owns the data, the key and the ledger.  Analysts run "
        "'cloister run FAMILY --via PATH --dataset NAME ...', which sends their settings to the "
        "socket and gets the release.  The kernel identifies the user.\n\n"
        "The policy file has three kinds of sections.  [broker] names the ledger and the limits "
        "of the service.  [dataset NAME] has the file, its bounds, and the families that analysts "
        "may run.  [analyst NAME] has a line DATASET = EPSILON:DELTA for each data set that this "
        "user may run on.  'docs/guides/broker.md' lists every line.\n\n"
        "Every answer is sent a whole number of ticks after its run began, so the time of an "
        "answer "
        "reveals little about the data.  Choose a tick that is longer than your runs.  The broker "
        "ends a run that takes more than ticks-at-most ticks, and its charge stays.  An analyst "
        "gets at most 'share' of the workers, and may have 'waiting' open requests.  The broker "
        "refuses further ones with exit code 11.\n\n"
        "If something is wrong with the data, the cause is written to standard error, for the "
        "steward.  The analyst gets one fixed sentence.  After SIGTERM the broker finishes its "
        "runs and ends.  After a crash you can simply start it again.",
    .examples = "Is the policy correct?\n"
                "cloister serve --policy /etc/cloister/policy --check\n"
                "Serve, as the account that owns the data\n"
                "cloister serve --socket /run/cloister/socket --policy /etc/cloister/policy\n"
                "A run, as an analyst\n"
                "cloister run kmeans --via /run/cloister/socket --dataset people --clusters 3 "
                "--epsilon 0.5 --purpose 'yearbook'",
    .groups = groups,
    .run = run,
};
