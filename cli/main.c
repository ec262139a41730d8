/* main.c - finds the command that argv names and runs it; the one place that turns a failure into
 * an exit code. */
#include "cli.h"
#include <string.h>

#define COMMAND(name, group, summary) extern const cli_command cli_##name;
#include "commands.def"
#undef COMMAND

const cli_entry cli_commands[] = {
#define COMMAND(name, group, summary) { #name, group, summary, &cli_##name },
#include "commands.def"
#undef COMMAND
    { NULL, NULL, NULL, NULL },
};

const cli_entry *cli_find_command(const char *name)
{
    for (const cli_entry *entry = cli_commands; entry->name; entry++)
        if (strcmp(entry->name, name) == 0) return entry;
    return NULL;
}

clo_status cli_unknown_command(const char *name, cli_error *err)
{
    const char *names[64];
    size_t count = 0;
    for (const cli_entry *entry = cli_commands; entry->name; entry++) names[count++] = entry->name;
    const char *const meant = cli_nearest(name, names, count);
    cli_hint(err, "cloister help");
    if (meant)
        return cli_fail(err, CLO_ARGUMENT, "there is no command '%s'; did you mean '%s'?", name,
                        meant);
    return cli_fail(err, CLO_ARGUMENT, "there is no command '%s'", name);
}

/* With the verb, or the first mechanism or solver among the words, so that "run kmeans --help"
 * shows its parameters. */
static clo_status print_help(const cli_entry *entry, const cli_args *args, cli_error *err)
{
    const char *const more = cli_value(args, "help");
    cli_topic topic = { .entry = entry, .all = strcmp(more, "all") == 0 };
    cli_subject subject;
    if (more[0] && !topic.all)
        return cli_fail(err, CLO_ARGUMENT, "--help takes nothing after it, or =all");
    for (size_t i = 0; i < cli_word_count(args) && !topic.subject; i++)
        if (cli_subject_named(entry->command, cli_word(args, i), &subject))
            topic.subject = &subject;
    if (cli_word(args, 0)) topic.verb = cli_find_verb(entry->command, cli_word(args, 0));
    cli_print_help(stdout, &topic);
    return CLO_OK;
}

static clo_status run_command(const cli_entry *entry, int argc, const char **argv, cli_error *err)
{
    cli_args *args = NULL;
    clo_status status = cli_parse(entry, argc, argv, &args, err);
    if (status != CLO_OK) return status;
    const bool helps = cli_given(args, "help");
    status = helps ? print_help(entry, args, err) : cli_check_overwriting(args, err);
    if (status == CLO_OK && !helps) status = entry->command->run(args, err);
    if (status == CLO_OK) status = cli_flush(stdout, err);
    if (status != CLO_OK && !err->hint[0])
        cli_advised_option(args, err->error.advice, err->hint, sizeof err->hint);
    if (status != CLO_OK) cli_spell_options(err);
    cli_args_free(args);
    return status;
}

/* Others than rank 0 answer for their rows in a run, and have no part in anything else. */
static bool has_part(const cli_entry *entry, int argc, const char **argv)
{
    if (cli_leads()) return true;
    for (int i = 2; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) return false;
    return entry->command->ranks;
}

clo_status cli_dispatch(int argc, const char **argv, cli_error *err)
{
    if (argc < 2) {
        if (cli_leads()) cli_print_overview(stderr);
        return cli_fail(err, CLO_ARGUMENT, "no command was given");
    }
    const char *name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) name = "help";
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) name = "version";
    const cli_entry *const entry = cli_find_command(name);
    if (entry && !has_part(entry, argc, argv)) return CLO_OK;
    if (entry) return run_command(entry, argc - 1, argv + 1, err);
    if (name[0] == '-') {
        cli_hint(err, "cloister help");
        return cli_fail(err, CLO_ARGUMENT,
                        "'%s' comes before the command: put options after it, "
                        "as in cloister run --help",
                        name);
    }
    return cli_unknown_command(name, err);
}

int cli_exit_code(clo_status status, const cli_error *err)
{
    if (status == CLO_CANCELLED && cli_interrupted()) return 128 + cli_interrupted();
    return status == CLO_OK ? err->verdict : clo_status_exit_code(status);
}
