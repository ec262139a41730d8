/* cmd_completion.c - cloister completion: scripts for bash, zsh and fish, made from the same rows
 * that the parser reads, so that they cannot fall behind. */
#include "cli.h"
#include <string.h>

/* ---- words of the tables ------------------------------------------------------ */

typedef void visit_option(void *user, const cli_option *option);

/* Whether the command has a row of its own for a parameter. */
static bool in_groups(const cli_command *command, const char *name)
{
    const cli_option *option;
    for (const cli_group *const *group = command->groups; group && *group; group++)
        for (size_t i = 0; (option = cli_group_option(*group, i)); i++)
            if (strcmp(option->name, name) == 0) return true;
    return false;
}

static void each_option(const cli_entry *entry, visit_option *visit, void *user)
{
    const clo_param *params[CLI_MAX_PARAMETERS];
    const size_t count = cli_parameters(entry->command, params, CLI_MAX_PARAMETERS);
    for (const cli_group *const *group = entry->command->groups; group && *group; group++) {
        const cli_option *option;
        for (size_t i = 0; (option = cli_group_option(*group, i)); i++) visit(user, option);
    }
    for (size_t i = 0; i < count; i++) {
        const cli_option row = { .name = params[i]->name,
                                 .argument = "X",
                                 .choices = params[i]->choices,
                                 .help = params[i]->help };
        if (!in_groups(entry->command, row.name)) visit(user, &row);
    }
    visit(user, cli_help_group.rows);
}

static void print_choices(const char *choices, const char *between)
{
    for (const char *c = choices; *c; c++)
        if (*c == '|')
            fputs(between, stdout);
        else
            putchar(*c);
}

static void print_mechanisms(const char *between)
{
    for (size_t i = 0; i < clo_mechanism_count(); i++) {
        const clo_mechanism *const m = clo_mechanism_at(i);
        char name[128];
        const bool first = i == 0 || strcmp(clo_mechanism_family(m),
                                            clo_mechanism_family(clo_mechanism_at(i - 1))) != 0;
        if (i) fputs(between, stdout);
        if (first) printf("%s%s", clo_mechanism_family(m), between);
        if (first && clo_mechanism_alias(m)) printf("%s%s", clo_mechanism_alias(m), between);
        cli_mechanism_typed(m, name, sizeof name);
        fputs(name, stdout);
    }
}

static bool has_first_words(const char *name)
{
    return cli_in_choices("methods|plan|run|audit|solve|ledger|generate|completion|help", name);
}

/* The first words of a command, where they come from a list. */
static void print_first_words(const char *name, const char *between)
{
    if (cli_in_choices("methods|plan|run|audit", name))
        print_mechanisms(between);
    else if (strcmp(name, "solve") == 0)
        for (size_t i = 0; i < clo_solver_count(); i++)
            printf("%s%s", i ? between : "", clo_solver_name(clo_solver_at(i)));
    else if (strcmp(name, "ledger") == 0)
        print_choices("init|show|history|verify|export|fetch|check|key", between);
    else if (strcmp(name, "generate") == 0)
        print_choices("subspaces|mixture", between);
    else if (strcmp(name, "completion") == 0)
        print_choices("bash|zsh|fish", between);
    else if (strcmp(name, "help") == 0)
        for (const cli_entry *entry = cli_commands; entry->name; entry++)
            printf("%s%s", entry == cli_commands ? "" : between, entry->name);
}

/* ---- bash ---------------------------------------------------------------------- */

static void bash_name(void *user, const cli_option *option)
{
    (void)user;
    printf(" --%s", option->name);
}

static void bash_value(void *user, const cli_option *option)
{
    if (!option->choices) return;
    printf("        %s:--%s) words=\"", (const char *)user, option->name);
    print_choices(option->choices, " ");
    fputs("\" ;;\n", stdout);
}

static void print_bash(void)
{
    fputs("# bash completion for cloister\n"
          "_cloister() {\n"
          "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
          "    local command=${COMP_WORDS[1]} words=\n"
          "    COMPREPLY=()\n"
          "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
          "        words=\"",
          stdout);
    print_first_words("help", " ");
    fputs("\"\n"
          "        COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
          "        return\n"
          "    fi\n"
          "    case \"$command:$before\" in\n",
          stdout);
    for (const cli_entry *entry = cli_commands; entry->name; entry++)
        each_option(entry, bash_value, (void *)(uintptr_t)entry->name);
    fputs("    esac\n"
          "    if [ -z \"$words\" ]; then case \"$word\" in\n"
          "    -*) case \"$command\" in\n",
          stdout);
    for (const cli_entry *entry = cli_commands; entry->name; entry++) {
        printf("        %s) words=\"", entry->name);
        each_option(entry, bash_name, NULL);
        fputs("\" ;;\n", stdout);
    }
    fputs("        esac ;;\n"
          "    *) [ \"$COMP_CWORD\" -eq 2 ] && case \"$command\" in\n",
          stdout);
    for (const cli_entry *entry = cli_commands; entry->name; entry++) {
        printf("        %s) words=\"", entry->name);
        print_first_words(entry->name, " ");
        fputs("\" ;;\n", stdout);
    }
    fputs("        esac ;;\n"
          "    esac; fi\n"
          "    if [ -n \"$words\" ]; then\n"
          "        COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
          "    else\n"
          "        COMPREPLY=($(compgen -f -- \"$word\"))\n"
          "    fi\n"
          "}\n"
          "complete -o filenames -F _cloister cloister\n",
          stdout);
}

/* ---- zsh ----------------------------------------------------------------------- */

/* In a zsh specification ':' and brackets have a meaning; in single quotes, the quote itself. */
static void print_zsh(const char *text)
{
    for (const char *c = text; *c; c++) {
        if (*c == '\'') {
            fputs("'\\''", stdout);
            continue;
        }
        if (strchr(":[]\\", *c)) putchar('\\');
        putchar(*c);
    }
}

static void zsh_option(void *user, const cli_option *option)
{
    (void)user;
    printf("            '--%s%s[", option->name, option->argument ? "=" : "");
    print_zsh(option->help);
    putchar(']');
    if (option->argument) {
        const bool file =
            strcmp(option->argument, "FILE") == 0 || strcmp(option->name, "bounds") == 0;
        printf(":%s:", option->name);
        if (option->choices) {
            putchar('(');
            print_choices(option->choices, " ");
            putchar(')');
        } else if (file) {
            fputs("_files", stdout);
        }
    }
    fputs("' \\\n", stdout);
}

static void print_zsh_script(void)
{
    fputs("#compdef cloister\n"
          "_cloister() {\n"
          "    local -a commands\n"
          "    commands=(\n",
          stdout);
    for (const cli_entry *entry = cli_commands; entry->name; entry++) {
        printf("        '%s:", entry->name);
        print_zsh(entry->summary);
        fputs("'\n", stdout);
    }
    fputs("    )\n"
          "    if (( CURRENT == 2 )); then\n"
          "        _describe command commands\n"
          "        return\n"
          "    fi\n"
          "    local command=$words[2]\n"
          "    shift words\n"
          "    (( CURRENT-- ))\n"
          "    case $command in\n",
          stdout);
    for (const cli_entry *entry = cli_commands; entry->name; entry++) {
        printf("    %s)\n        _arguments \\\n", entry->name);
        each_option(entry, zsh_option, NULL);
        if (has_first_words(entry->name)) {
            fputs("            '1:word:(", stdout);
            print_first_words(entry->name, " ");
            fputs(")' \\\n", stdout);
        }
        fputs("            '*:file:_files' ;;\n", stdout);
    }
    fputs("    esac\n"
          "}\n"
          "_cloister \"$@\"\n",
          stdout);
}

/* ---- fish ---------------------------------------------------------------------- */

static void print_fish(const char *text)
{
    for (const char *c = text; *c; c++) {
        if (*c == '\'' || *c == '\\') putchar('\\');
        putchar(*c);
    }
}

static void fish_option(void *user, const cli_option *option)
{
    printf("complete -c cloister -n '__fish_seen_subcommand_from %s' -l %s", (const char *)user,
           option->name);
    if (option->letter) printf(" -s %c", option->letter);
    if (option->choices) {
        fputs(" -x -a '", stdout);
        print_choices(option->choices, " ");
        putchar('\'');
    } else if (option->argument) {
        fputs(" -r", stdout);
    }
    fputs(" -d '", stdout);
    print_fish(option->help);
    fputs("'\n", stdout);
}

static void print_fish_script(void)
{
    fputs("# fish completion for cloister\n", stdout);
    for (const cli_entry *entry = cli_commands; entry->name; entry++) {
        printf("complete -c cloister -n __fish_use_subcommand -f -a %s -d '", entry->name);
        print_fish(entry->summary);
        fputs("'\n", stdout);
    }
    for (const cli_entry *entry = cli_commands; entry->name; entry++) {
        printf("complete -c cloister -n '__fish_seen_subcommand_from %s' -a '", entry->name);
        print_first_words(entry->name, " ");
        fputs("'\n", stdout);
        each_option(entry, fish_option, (void *)(uintptr_t)entry->name);
    }
}

static clo_status run(const cli_args *args, cli_error *err)
{
    const char *const shell = cli_word(args, 0);
    const clo_status status = cli_check_words(args, 1, 1, "a shell: bash, zsh or fish", err);
    if (status != CLO_OK) return status;
    if (strcmp(shell, "bash") == 0)
        print_bash();
    else if (strcmp(shell, "zsh") == 0)
        print_zsh_script();
    else if (strcmp(shell, "fish") == 0)
        print_fish_script();
    else
        return cli_fail(err, CLO_ARGUMENT, "the shell must be bash, zsh or fish, not '%s'", shell);
    return CLO_OK;
}

const cli_command cli_completion = {
    .usage = "bash|zsh|fish",
    .about = "Prints a script that teaches your shell the commands, options and mechanisms.",
    .examples = "For this bash session\nsource <(cloister completion bash)\n"
                "For fish, for good\ncloister completion fish > "
                "~/.config/fish/completions/cloister.fish",
    .run = run,
};
