/* cmd_help.c - cloister help: an overview, or one command in full. */
#include "cli.h"
#include <string.h>

static clo_status find_subject(const cli_entry *entry, const char *name, cli_subject *out,
                               cli_error *err)
{
    const clo_mechanism *mechanism = NULL;
    const clo_solver *solver = NULL;
    if (entry->command->solvers) {
        const clo_status status = cli_solver(name, &solver, err);
        if (status == CLO_OK) *out = cli_subject_of_solver(solver);
        return status;
    }
    const clo_status status = cli_mechanism(name, NULL, &mechanism, err);
    if (status == CLO_OK) *out = cli_subject_of_mechanism(mechanism);
    return status;
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
    if (cli_word(args, 1)) {
        const clo_status found = find_subject(entry, cli_word(args, 1), &subject, err);
        if (found != CLO_OK) return found;
    }
    cli_print_help(stdout, entry, cli_word(args, 1) ? &subject : NULL);
    return CLO_OK;
}

const cli_command cli_help = {
    .usage = "[COMMAND [FAMILY[/METHOD] | SOLVER]]",
    .about = "Explains a command; with a mechanism or a solver, its parameters too.",
    .examples = "All options of run\ncloister help run\n"
                "And the parameters of k-means\ncloister help run kmeans",
    .run = run,
};
