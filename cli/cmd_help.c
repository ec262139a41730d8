/* cmd_help.c - cloister help: an overview, or one command in full. */
#include "cli.h"
#include <string.h>

static clo_status find_subject(const cli_entry *entry, const char *name, cli_subject *out,
                               cli_error *err)
{
    const clo_mechanism *mechanism = NULL;
    const clo_solver *solver = NULL;
    if (cli_subject_named(entry->command, name, out)) return CLO_OK;
    return entry->command->solvers ? cli_solver(name, &solver, err)
                                   : cli_mechanism(name, NULL, &mechanism, err);
}

static clo_status run(const cli_args *args, cli_error *err)
{
    const char *const name = cli_word(args, 0);
    const clo_status status = cli_check_words(args, 0, 2, NULL, err);
    if (status != CLO_OK) return status;
    if (!name) {
        cli_print_overview(stdout);
        return CLO_OK;
    }
    /* For the build alone: the manual page around the rows of the tables. */
    if (strcmp(name, "manual-page") == 0 && cli_word(args, 1))
        return cli_print_manual(stdout, cli_word(args, 1), err);
    const cli_entry *const entry = cli_find_command(name);
    if (!entry) return cli_unknown_command(name, err);
    cli_subject subject;
    cli_topic topic = { .entry = entry };
    const char *const word = cli_word(args, 1);
    if (word && !(topic.verb = cli_find_verb(entry->command, word))) {
        const clo_status found = find_subject(entry, word, &subject, err);
        if (found != CLO_OK) return found;
        topic.subject = &subject;
    }
    cli_print_help(stdout, &topic);
    return CLO_OK;
}

const cli_command cli_help = {
    .usage = "[COMMAND [FAMILY[/METHOD] | SOLVER | VERB]]",
    .about = "Explains a command, the parameters of a method or a solver, or a verb of a command.",
    .examples = "The options of run\n"
                "cloister help run\n"
                "The parameters of k-means\n"
                "cloister help run kmeans\n"
                "How to make a ledger\n"
                "cloister help ledger init",
    .run = run,
};
