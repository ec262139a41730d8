/* cmd_help.c - cloister help: an overview, or one command in full. */
#include "cli.h"
#include <string.h>

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
    const clo_mechanism *mechanism = NULL;
    if (cli_word(args, 1)) {
        const clo_status found = cli_mechanism(cli_word(args, 1), NULL, &mechanism, err);
        if (found != CLO_OK) return found;
    }
    cli_print_help(stdout, entry, mechanism);
    return CLO_OK;
}

const cli_command cli_help = {
    .usage = "[COMMAND [FAMILY[/METHOD]]]",
    .about = "Explains a command; with a mechanism, its parameters too.",
    .examples = "All options of run\ncloister help run\n"
                "And the parameters of k-means\ncloister help run kmeans",
    .run = run,
};
