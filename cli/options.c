/* options.c - from rows to a popt table to values.
 *
 * The table is made at run time: the command's own rows, the parameters of every mechanism that the
 * command can name, and --help.  One pass then reads the line whatever the order of its words, and
 * a parameter that the chosen mechanism does not have is told apart from one that nobody has. */
#include "cli.h"
#include <assert.h>
#include <popt.h>
#include <stdlib.h>
#include <string.h>

struct cli_args {
    const cli_entry *entry;
    poptContext context;
    struct poptOption *table;
    size_t count;        /* of options */
    cli_option *options; /* one a table row */
    bool *is_parameter;  /* checked by the mechanism, not here */
    char **values;       /* NULL: not given; a switch holds "" */
    const char **words;
    size_t word_count;
};

static const cli_option help_rows[] = {
    CLI_OPTION("help", 'h', NULL, "show this text; --help=all: every option"),
    CLI_ROWS_END,
};
const cli_group cli_help_group = { "Help", NULL, help_rows };

/* ---- the rows of a command ------------------------------------------------ */

static void add_option(cli_args *args, cli_option option, bool is_parameter)
{
    for (size_t i = 0; i < args->count; i++)
        if (strcmp(args->options[i].name, option.name) == 0) return;
    args->options[args->count] = option;
    args->is_parameter[args->count] = is_parameter;
    args->table[args->count] = (struct poptOption){
        .longName = option.name,
        .shortName = option.letter,
        .argInfo = option.letter == 'h' ? POPT_ARG_STRING | POPT_ARGFLAG_OPTIONAL
                   : option.argument    ? POPT_ARG_STRING
                                        : POPT_ARG_NONE,
        .val = (int)args->count + 1,
    };
    args->count++;
}

static void add_group(cli_args *args, const cli_group *group)
{
    const cli_option *option;
    for (size_t i = 0; (option = cli_group_option(group, i)); i++) add_option(args, *option, false);
}

static void build_table(cli_args *args)
{
    enum { ROOM = CLI_MAX_PARAMETERS + 128 };
    const clo_param *params[CLI_MAX_PARAMETERS];
    const cli_command *const command = args->entry->command;
    const size_t param_count = cli_parameters(command, params, CLI_MAX_PARAMETERS);
    args->options = cli_alloc(ROOM, sizeof *args->options);
    args->is_parameter = cli_alloc(ROOM, sizeof *args->is_parameter);
    args->table = cli_alloc(ROOM, sizeof *args->table);
    args->values = cli_alloc(ROOM, sizeof *args->values);
    for (const cli_group *const *group = command->groups; group && *group; group++)
        add_group(args, *group);
    for (size_t i = 0; i < param_count; i++)
        add_option(args, (cli_option){ .name = params[i]->name, .argument = "X" }, true);
    add_group(args, &cli_help_group);
}

/* ---- failures ------------------------------------------------------------- */

static clo_status unknown_option(const cli_args *args, const char *given, cli_error *err)
{
    char word[128];
    const char *const dashes = given + strspn(given, "-");
    const char **const names = cli_alloc(args->count, sizeof *names);
    snprintf(word, sizeof word, "%.*s", (int)strcspn(dashes, "="), dashes);
    for (size_t i = 0; i < args->count; i++) names[i] = args->options[i].name;
    const char *const meant = cli_nearest(word, names, args->count);
    free(names);
    cli_hint(err, "cloister %s --help", args->entry->name);
    const int shown = (int)strcspn(given, "=");
    if (meant)
        return cli_fail(err, CLO_ARGUMENT, "there is no option '%.*s'; did you mean '--%s'?", shown,
                        given, meant);
    return cli_fail(err, CLO_ARGUMENT, "'%s' has no option '%.*s'", args->entry->name, shown,
                    given);
}

static clo_status popt_failure(const cli_args *args, int code, cli_error *err)
{
    const char *const given = poptBadOption(args->context, POPT_BADOPTION_NOALIAS);
    const int shown = given ? (int)strcspn(given, "=") : 0;
    if (code == POPT_ERROR_BADOPT) return unknown_option(args, given, err);
    cli_hint(err, "cloister %s --help", args->entry->name);
    if (code == POPT_ERROR_NOARG)
        return cli_fail(err, CLO_ARGUMENT, "%.*s needs a value after it", shown, given);
    if (code == POPT_ERROR_UNWANTEDARG)
        return cli_fail(err, CLO_ARGUMENT, "%.*s takes no value", shown, given);
    return cli_fail(err, CLO_ARGUMENT, "%s: %s", given, poptStrerror(code));
}

static clo_status check_choice(const cli_option *option, const char *value, cli_error *err)
{
    char said[200];
    if (!option->choices || cli_in_choices(option->choices, value)) return CLO_OK;
    cli_say_choices(option->choices, said, sizeof said);
    return cli_fail(err, CLO_ARGUMENT, "--%s must be %s, not '%s'", option->name, said, value);
}

/* ---- parsing -------------------------------------------------------------- */

static clo_status take_option(cli_args *args, size_t i, cli_error *err)
{
    char *const value = poptGetOptArg(args->context);
    if (args->values[i] && args->options[i].argument) {
        free(value);
        return cli_fail(err, CLO_ARGUMENT, "--%s is given twice", args->options[i].name);
    }
    free(args->values[i]);
    args->values[i] = value ? value : cli_copy("");
    return value ? check_choice(&args->options[i], value, err) : CLO_OK;
}

static clo_status take_all(cli_args *args, cli_error *err)
{
    int code;
    while ((code = poptGetNextOpt(args->context)) > 0) {
        const clo_status status = take_option(args, (size_t)code - 1, err);
        if (status != CLO_OK) return status;
    }
    if (code < -1) return popt_failure(args, code, err);
    args->words = poptGetArgs(args->context);
    while (args->words && args->words[args->word_count]) args->word_count++;
    return CLO_OK;
}

clo_status cli_parse(const cli_entry *entry, int argc, const char **argv, cli_args **out,
                     cli_error *err)
{
    cli_args *const args = cli_alloc(1, sizeof *args);
    args->entry = entry;
    build_table(args);
    args->context = poptGetContext("cloister", argc, argv, args->table, 0);
    const clo_status status = take_all(args, err);
    if (status != CLO_OK) {
        cli_args_free(args);
        return status;
    }
    *out = args;
    return CLO_OK;
}

void cli_args_free(cli_args *args)
{
    if (!args) return;
    for (size_t i = 0; i < args->count; i++) free(args->values[i]);
    poptFreeContext(args->context);
    free(args->values);
    free(args->is_parameter);
    free(args->options);
    free(args->table);
    free(args);
}

/* ---- files that are written ------------------------------------------------- */

static bool is_written(const cli_option *option)
{
    return strcmp(option->name, "output") == 0 || (option->help && strstr(option->help, "write "));
}

static bool is_read(const cli_option *option)
{
    return option->argument && !is_written(option) && strcmp(option->name, "ledger") != 0 &&
           (strstr(option->argument, "FILE") || strcmp(option->name, "bounds") == 0);
}

/* What a command reads by an option, or as a word, is not written over; nor what it writes itself.
 * Commands that say more of their words (the data, a paid release) look at those themselves. */
static clo_status check_written(const cli_args *args, size_t k, cli_error *err)
{
    const char *const file = args->values[k], *const name = args->options[k].name;
    for (size_t i = 0; i < args->count; i++) {
        const char *const other = args->values[i];
        if (!other || i == k) continue;
        if (i > k && is_written(&args->options[i]) && strcmp(file, other) == 0 &&
            strcmp(file, "-") != 0 && strncmp(file, "/dev/", 5) != 0)
            return cli_fail(err, CLO_ARGUMENT, "--%s and --%s name the same file, %s", name,
                            args->options[i].name, file);
        if (is_read(&args->options[i]) && cli_same_file(file, other))
            return cli_fail(err, CLO_ARGUMENT, "--%s %s would overwrite the file of --%s", name,
                            file, args->options[i].name);
    }
    if (!cli_in_choices("assign|cut|solve|sweep", args->entry->name)) return CLO_OK;
    for (size_t i = strcmp(args->entry->name, "solve") == 0; i < args->word_count; i++)
        if (cli_same_file(file, args->words[i]))
            return cli_fail(err, CLO_ARGUMENT, "--%s %s would overwrite %s, which is read here",
                            name, file, args->words[i]);
    return CLO_OK;
}

clo_status cli_check_overwriting(const cli_args *args, cli_error *err)
{
    clo_status status = CLO_OK;
    for (size_t i = 0; i < args->count && status == CLO_OK; i++)
        if (args->values[i] && args->options[i].argument && is_written(&args->options[i]))
            status = check_written(args, i, err);
    return status;
}

/* ---- asking --------------------------------------------------------------- */

size_t cli_word_count(const cli_args *args)
{
    return args->word_count;
}

const char *cli_word(const cli_args *args, size_t i)
{
    return i < args->word_count ? args->words[i] : NULL;
}

const char *cli_value(const cli_args *args, const char *option)
{
    for (size_t i = 0; i < args->count; i++)
        if (strcmp(args->options[i].name, option) == 0) return args->values[i];
    return NULL;
}

bool cli_given(const cli_args *args, const char *option)
{
    return cli_value(args, option) != NULL;
}

const cli_entry *cli_args_entry(const cli_args *args)
{
    return args->entry;
}

clo_status cli_check_words(const cli_args *args, size_t least, size_t most, const char *needed,
                           cli_error *err)
{
    const char *const name = args->entry->name;
    if (args->word_count >= least && args->word_count <= most) return CLO_OK;
    cli_hint(err, "cloister %s --help", name);
    if (args->word_count > most)
        return cli_fail(err, CLO_ARGUMENT,
                        "'%s' does not expect '%s': put it in quotes if it is "
                        "part of an option's value",
                        name, args->words[most]);
    return cli_fail(err, CLO_ARGUMENT, "'%s' needs %s", name, needed);
}
