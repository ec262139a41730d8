/* help.c - the help texts, made from the same rows that the parser reads.  A long one shows what
 * most people need; --help=all shows the rest. */
#include "cli.h"
#include <stdlib.h>
#include <string.h>
#include <errno.h>

enum { HELP_COLUMN = 26 };

void cli_parameter_range(const clo_param *param, bool demanded, char *text, size_t size)
{
    if (demanded) {
        snprintf(text, size, "%s to %s; must be given", cli_number(param->lower).text,
                 cli_number(param->upper).text);
        return;
    }
    if (param->type != CLO_PARAM_CHOICE) {
        snprintf(text, size, "%s to %s, default %s", cli_number(param->lower).text,
                 cli_number(param->upper).text, cli_number(param->preset).text);
        return;
    }
    char said[200];
    const char *usual = param->choices;
    for (int i = 0; i < (int)param->preset; i++) usual += strcspn(usual, "|") + 1;
    cli_say_choices(param->choices, said, sizeof said);
    snprintf(text, size, "%s, default %.*s", said, (int)strcspn(usual, "|"), usual);
}

bool cli_is_demanded(const cli_subject *subject, const clo_param *param)
{
    return subject->mechanism && strcmp(param->name, "clusters") == 0;
}

void cli_option_range(const cli_option *option, char *text, size_t size)
{
    char said[200];
    text[0] = 0;
    if (!option->choices && !option->preset) return;
    cli_say_choices(option->choices ? option->choices : "", said, sizeof said);
    snprintf(text, size, "(%s%s%s%s)", said, option->choices && option->preset ? ", " : "",
             option->preset ? "default " : "", option->preset ? option->preset : "");
}

/* ---- text ----------------------------------------------------------------- */

void cli_help_heading(FILE *out, const char *title)
{
    fprintf(out, "\n%s%s%s\n", cli_style_on(out, CLI_BOLD), title, cli_style_off(out));
}

void cli_help_paragraphs(FILE *out, const char *text)
{
    while (*text) {
        const char *const end = strstr(text, "\n\n");
        const size_t length = end ? (size_t)(end - text) : strlen(text);
        char *const paragraph = cli_alloc(length + 1, 1);
        memcpy(paragraph, text, length);
        fputc('\n', out);
        cli_wrap(out, 0, 0, paragraph);
        free(paragraph);
        text += length + (end ? 2 : 0);
    }
}

void cli_help_row(FILE *out, const char *left, const char *help)
{
    const int written = fprintf(out, "  %s", left);
    if (written > HELP_COLUMN - 2)
        fprintf(out, "\n%*s", HELP_COLUMN, "");
    else
        fprintf(out, "%*s", HELP_COLUMN - written, "");
    cli_wrap(out, HELP_COLUMN, HELP_COLUMN, help);
}

void cli_help_option(FILE *out, const cli_option *option, const char *text)
{
    char left[80], help[600], range[300];
    char letter[8] = "";
    if (option->letter) snprintf(letter, sizeof letter, "-%c, ", option->letter);
    snprintf(left, sizeof left, "%s--%s%s%s", letter, option->name, option->argument ? " " : "",
             option->argument ? option->argument : "");
    cli_option_range(option, range, sizeof range);
    snprintf(help, sizeof help, "%s%s%s", text, range[0] ? " " : "", range);
    cli_help_row(out, left, help);
}

static const char *argument_of(const clo_param *param)
{
    return param->type == CLO_PARAM_INT ? "N" : param->type == CLO_PARAM_REAL ? "X" : "WORD";
}

static void print_parameters(FILE *out, const cli_subject *subject)
{
    char title[240];
    const clo_param *const rows = subject->rows;
    snprintf(title, sizeof title, "Parameters of %s%s", subject->name,
             subject->usual ? ", the method that cloister usually chooses" : "");
    cli_help_heading(out, title);
    for (size_t i = 0; i < subject->count; i++) {
        char left[80], range[300], help[600];
        cli_parameter_range(&rows[i], cli_is_demanded(subject, &rows[i]), range, sizeof range);
        snprintf(left, sizeof left, "--%s %s", rows[i].name, argument_of(&rows[i]));
        snprintf(help, sizeof help, "%s (%s)", rows[i].help, range);
        cli_help_row(out, left, help);
    }
}

/* How far the next word reaches; an option and its value stay together. */
static int shell_word(const char *line)
{
    const int length = (int)strcspn(line, " \n");
    const char *const next = line + length + 1;
    if (line[0] != '-' || line[length] != ' ' || next[0] == '-') return length;
    return length + 1 + (int)strcspn(next, " \n");
}

/* A long command is broken as one would in a shell. */
static void print_shell_line(FILE *out, const char *line, int length)
{
    const int width = cli_width(out) - 2;
    int column = fprintf(out, "      ");
    for (int i = 0; i < length;) {
        const int word = shell_word(line + i);
        if (column + word > width) column = fprintf(out, "\\\n          ") - 2;
        column += fprintf(out, "%.*s%s", word, line + i, i + word < length ? " " : "");
        i += word + 1;
    }
    fputc('\n', out);
}

void cli_help_examples(FILE *out, const char *examples, size_t most)
{
    cli_help_heading(out, "Examples");
    bool command = false;
    for (const char *line = examples; *line && most > 0;) {
        const int length = (int)strcspn(line, "\n");
        const bool asks = length > 0 && line[length - 1] == '?';
        if (command)
            print_shell_line(out, line, length);
        else
            fprintf(out, "  %.*s%s\n", length, line, asks ? "" : ":");
        most -= command;
        command = !command;
        line += length + (line[length] == '\n');
    }
}

static void print_usage(FILE *out, const cli_entry *entry)
{
    const char *word = "usage:";
    const char *line = entry->command->usage;
    do {
        const int length = (int)strcspn(line, "\n");
        fprintf(out, "%-6s cloister %s%s%.*s\n", word, entry->name, length ? " " : "", length,
                line);
        word = "";
        line += length + (line[length] == '\n');
    } while (*line);
}

/* ---- a command ------------------------------------------------------------- */

static void print_subject(FILE *out, const cli_topic *topic)
{
    const cli_command *const command = topic->entry->command;
    const size_t count = cli_subject_count(command);
    if (count == 1) {
        const cli_subject only = cli_subject_at(command, 0);
        print_parameters(out, &only);
    } else if (count > 1 && topic->subject) {
        print_parameters(out, topic->subject);
    }
}

/* Whether the parameters of the subject, which are shown before, have this option. */
static bool is_shown(const cli_subject *subject, const char *name)
{
    for (size_t i = 0; subject && i < subject->count; i++)
        if (strcmp(subject->rows[i].name, name) == 0) return true;
    return false;
}

static void print_group(FILE *out, const cli_group *group, const cli_topic *topic, bool few)
{
    const cli_option *option;
    if (!few) cli_help_heading(out, group->title);
    for (size_t i = 0; (option = cli_group_option(group, i)); i++)
        if ((!few || !option->rare) && !is_shown(topic->subject, option->name))
            cli_help_option(out, option, option->help);
}

static bool has_rare(const cli_command *command)
{
    const cli_option *option;
    for (const cli_group *const *group = command->groups; group && *group; group++)
        for (size_t i = 0; (option = cli_group_option(*group, i)); i++)
            if (option->rare) return true;
    return false;
}

static void print_about(FILE *out, const char *about, bool all)
{
    char first[1000];
    const char *const end = strstr(about, "\n\n");
    snprintf(first, sizeof first, "%.*s", end && !all ? (int)(end - about) : 999, about);
    cli_help_paragraphs(out, end && !all ? first : about);
}

static void print_more(FILE *out, const cli_topic *topic)
{
    const cli_command *const command = topic->entry->command;
    char text[200];
    if (cli_subject_count(command) <= 1 || topic->subject) return;
    snprintf(text, sizeof text, "'cloister %s %s --help' shows the parameters of a %s.",
             topic->entry->name, command->solvers ? "SOLVER" : "FAMILY[/METHOD]",
             command->solvers ? "solver" : "method");
    cli_help_paragraphs(out, text);
}

enum { FEW_EXAMPLES = 3 };

void cli_print_help(FILE *out, const cli_topic *topic)
{
    const cli_command *const command = topic->entry->command;
    const bool few = !topic->all && has_rare(command);
    if (topic->verb) {
        cli_print_verb(out, topic->entry, topic->verb);
        return;
    }
    print_usage(out, topic->entry);
    print_about(out, command->about, !few);
    if (command->verbs) cli_print_verbs(out, command);
    print_subject(out, topic);
    if (few) cli_help_heading(out, "Options");
    for (const cli_group *const *group = command->verbs ? NULL : command->groups; group && *group;
         group++)
        print_group(out, *group, topic, few);
    if (!few) cli_help_heading(out, cli_help_group.title);
    cli_help_option(out, cli_help_group.rows, cli_help_group.rows->help);
    print_more(out, topic);
    if (command->remarks) command->remarks(out);
    if (command->examples) cli_help_examples(out, command->examples, few ? FEW_EXAMPLES : SIZE_MAX);
}

void cli_print_overview(FILE *out)
{
    const char *group = "";
    fputs("usage: cloister COMMAND [word or option ...]\n", out);
    cli_help_paragraphs(out, "Finds clusters and subspaces in personal data with differential "
                             "privacy: epsilon limits how much a result can reveal about any one "
                             "person.");
    for (const cli_entry *entry = cli_commands; entry->name; entry++) {
        if (strcmp(entry->group, group) != 0) cli_help_heading(out, entry->group);
        group = entry->group;
        fprintf(out, "  %-12s%s\n", entry->name, entry->summary);
    }
    cli_help_examples(
        out,
        "What a run would cost\n"
        "cloister plan kmeans --clusters 3 --epsilon 1 --rows 5000 --bounds people-bounds.csv\n"
        "Once: a ledger, and the most that may ever be spent\n"
        "cloister ledger init --dataset people.csv --epsilon 3\n"
        "A private release, charged to it\n"
        "cloister run kmeans people.csv --clusters 3 --epsilon 1 --bounds people-bounds.csv",
        SIZE_MAX);
    cli_help_paragraphs(
        out, "'cloister COMMAND --help' explains a command.  'man cloister' explains all, with "
             "the exit codes.");
}
