/* cmd_serve.c - cloister serve: a broker between data and analysts. */
#include "serve.h"
#include <unistd.h>

static const cli_option rows[] = {
    CLI_OPTION("socket", 0, "PATH",
               "where analysts ask; a socket of this machine, and nothing else"),
    CLI_OPTION("policy", 0, "FILE", "who may ask what; only its owner may be able to write it"),
    CLI_OPTION("check", 0, NULL, "read the policy, say what is in it, and end"),
    CLI_ROWS_END,
};
static const cli_group serve_group = { "Options", rows };
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
    if (!file) return cli_fail(err, CLO_ARGUMENT, "--policy FILE must be given: who may ask what");
    if (!path && !cli_given(args, "check"))
        return cli_fail(err, CLO_ARGUMENT, "--socket PATH must be given: where analysts ask");
    if ((status = clo_policy_read(file, &policy, &err->error)) != CLO_OK) return status;
    status = clo_policy_describe(policy, &facts, &err->error);
    if (status == CLO_OK && cli_given(args, "check"))
        printf("%s: %zu data set%s, %zu analyst%s; answers every %s s, %u runs at once\n", file,
               facts.datasets, facts.datasets == 1 ? "" : "s", facts.analysts,
               facts.analysts == 1 ? "" : "s", cli_number(facts.tick).text, facts.workers);
    else if (status == CLO_OK)
        status = serve(path, policy, err);
    clo_policy_free(policy);
    return status;
}

const cli_command cli_serve = {
    .usage = "--socket PATH --policy FILE\n"
             "--policy FILE --check",
    .about =
        "Runs as the account that owns data, key and ledger, and answers analysts on the same "
        "machine: 'cloister run FAMILY --via PATH --dataset NAME ...' sends settings and gets a "
        "release.  Who asks is the kernel's word.  Which data sets there are, how they are read "
        "and "
        "bounded, who may ask which families and how much each may ever spend stands in the "
        "policy, "
        "a file of sections: [broker] with ledger, tick, workers, waiting and patience; [dataset "
        "NAME] with data, families, norm or bounds, epsilon-at-most, purpose and how it is read; "
        "[analyst NAME] with a line DATASET = EPSILON:DELTA for each data set that they may "
        "ask.\n\n"
        "Answers leave at whole ticks after their run began, so that the time tells nothing of the "
        "data; choose a tick that is longer than your runs.  What goes wrong with the data is told "
        "on standard error, to the steward, with how long each run took; the analyst hears one "
        "fixed "
        "sentence.  A cap of an analyst is an account of the ledger (NAME@ANALYST), which is "
        "charged "
        "along with the data set.\n\n"
        "SIGTERM ends it when its runs have ended.  A broker that was killed leaves nothing behind "
        "that keeps the next one from its socket, and nothing uncharged.",
    .examples = "Is the policy well formed?\n"
                "cloister serve --policy /etc/cloister/policy --check\n"
                "Serve, as the account that owns the data\n"
                "cloister serve --socket /run/cloister/socket --policy /etc/cloister/policy\n"
                "Ask, as an analyst\n"
                "cloister run kmeans --via /run/cloister/socket --dataset people --clusters 3 "
                "--epsilon 0.5 --purpose 'yearbook'",
    .groups = groups,
    .run = run,
};
