/* help.c - the help texts and the manual, made from the same rows that the parser reads. */
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
        snprintf(text, size, "%s to %s, preset %s", cli_number(param->lower).text,
                 cli_number(param->upper).text, cli_number(param->preset).text);
        return;
    }
    char said[200];
    const char *preset = param->choices;
    for (int i = 0; i < (int)param->preset; i++) preset += strcspn(preset, "|") + 1;
    cli_say_choices(param->choices, said, sizeof said);
    snprintf(text, size, "%s, preset %.*s", said, (int)strcspn(preset, "|"), preset);
}

bool cli_is_demanded(const cli_subject *subject, const clo_param *param)
{
    return subject->mechanism && strcmp(param->name, "clusters") == 0;
}

void cli_option_range(const cli_option *option, char *text, size_t size)
{
    char said[200];
    text[0] = 0;
    if (!option->choices) return;
    cli_say_choices(option->choices, said, sizeof said);
    snprintf(text, size, "(%s%s%s)", said, option->preset ? ", preset " : "",
             option->preset ? option->preset : "");
}

/* ---- text ----------------------------------------------------------------- */

static void heading(FILE *out, const char *title)
{
    fprintf(out, "\n%s%s%s\n", cli_style_on(out, CLI_BOLD), title, cli_style_off(out));
}

static void print_paragraphs(FILE *out, const char *text)
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

static void print_row(FILE *out, const char *left, const char *help)
{
    const int written = fprintf(out, "  %s", left);
    if (written > HELP_COLUMN - 2)
        fprintf(out, "\n%*s", HELP_COLUMN, "");
    else
        fprintf(out, "%*s", HELP_COLUMN - written, "");
    cli_wrap(out, HELP_COLUMN, HELP_COLUMN, help);
}

static void print_option(FILE *out, const cli_option *option)
{
    char left[80], help[600], range[300];
    char letter[8] = "";
    if (option->letter) snprintf(letter, sizeof letter, "-%c, ", option->letter);
    snprintf(left, sizeof left, "%s--%s%s%s", letter, option->name, option->argument ? " " : "",
             option->argument ? option->argument : "");
    cli_option_range(option, range, sizeof range);
    snprintf(help, sizeof help, "%s%s%s", option->help, range[0] ? " " : "", range);
    print_row(out, left, help);
}

static const char *argument_of(const clo_param *param)
{
    return param->type == CLO_PARAM_INT ? "N" : param->type == CLO_PARAM_REAL ? "X" : "WORD";
}

static void print_parameters(FILE *out, const cli_subject *subject)
{
    char title[160];
    const clo_param *const rows = subject->rows;
    snprintf(title, sizeof title, "Parameters of %s", subject->name);
    heading(out, title);
    for (size_t i = 0; i < subject->count; i++) {
        char left[80], range[300], help[600];
        cli_parameter_range(&rows[i], cli_is_demanded(subject, &rows[i]), range, sizeof range);
        snprintf(left, sizeof left, "--%s %s", rows[i].name, argument_of(&rows[i]));
        snprintf(help, sizeof help, "%s (%s)", rows[i].help, range);
        print_row(out, left, help);
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

static void print_examples(FILE *out, const char *examples)
{
    heading(out, "Examples");
    bool command = false;
    for (const char *line = examples; *line;) {
        const int length = (int)strcspn(line, "\n");
        const bool asks = length > 0 && line[length - 1] == '?';
        if (command)
            print_shell_line(out, line, length);
        else
            fprintf(out, "  %.*s%s\n", length, line, asks ? "" : ":");
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

void cli_print_help(FILE *out, const cli_entry *entry, const cli_subject *subject)
{
    const cli_command *const command = entry->command;
    const bool several = cli_subject_count(command) > 1;
    cli_subject only;
    print_usage(out, entry);
    print_paragraphs(out, command->about);
    if (cli_subject_count(command) == 1) {
        only = cli_subject_at(command, 0);
        subject = &only;
    }
    if (cli_subject_count(command) > 0 && subject) print_parameters(out, subject);
    for (const cli_group *const *group = command->groups; group && *group; group++) {
        heading(out, (*group)->title);
        for (const cli_option *row = (*group)->rows; row->name; row++) print_option(out, row);
    }
    heading(out, cli_help_group.title);
    print_option(out, cli_help_group.rows);
    if (several && !subject)
        print_paragraphs(out, command->solvers
                                  ? "The parameters (such as --clusters) depend on the solver: "
                                    "name one before --help to see them."
                                  : "The parameters (such as --clusters) depend on the mechanism: "
                                    "name one before --help to see them, or ask 'cloister "
                                    "methods'.");
    if (command->remarks) command->remarks(out);
    if (command->examples) print_examples(out, command->examples);
}

void cli_print_overview(FILE *out)
{
    fputs("usage: cloister COMMAND [word or option ...]\n", out);
    print_paragraphs(out, "Differentially private clustering and subspace learning: what comes out "
                          "says little about any one record, and how little is proven.");
    heading(out, "Commands");
    for (const cli_entry *entry = cli_commands; entry->name; entry++)
        fprintf(out, "  %-12s%s\n", entry->name, entry->summary);
    print_examples(out,
                   "What a run would cost\n"
                   "cloister plan kmeans --clusters 3 --epsilon 1 --rows 5000 --cols 10 --norm 1\n"
                   "A ledger, once, and the most that may ever be spent\n"
                   "cloister ledger init --dataset patients.csv --epsilon 3\n"
                   "A private release, charged to it\n"
                   "cloister run kmeans patients.csv --clusters 3 --epsilon 1 --norm 1");
    print_paragraphs(out, "'cloister help COMMAND' says more; 'man cloister' says all.");
}
