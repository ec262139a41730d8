/* help_verbs.c - help for a command with verbs: a list of them, and each with its own options. */
#include "cli.h"
#include <string.h>

const cli_verb *cli_find_verb(const cli_command *command, const char *name)
{
    for (const cli_verb *verb = command->verbs; verb && verb->name; verb++)
        if (strcmp(verb->name, name) == 0) return verb;
    return NULL;
}

void cli_print_verbs(FILE *out, const cli_command *command)
{
    const char *group = "";
    for (const cli_verb *verb = command->verbs; verb->name; verb++) {
        if (strcmp(verb->group, group) != 0) cli_help_heading(out, verb->group);
        group = verb->group;
        fprintf(out, "  %-10s%s\n", verb->name, verb->summary);
    }
}

/* Whether "init, lower" has the verb. */
static bool lists(const char *names, size_t length, const char *verb)
{
    const size_t size = strlen(verb);
    for (size_t i = 0; i + size <= length; i++) {
        const bool begins = i == 0 || names[i - 1] == ' ';
        const bool ends = i + size == length || names[i + size] == ',';
        if (begins && ends && memcmp(names + i, verb, size) == 0) return true;
    }
    return false;
}

/* Of "init: this; lower, adopt: that" what is said of the verb; all of a text without names. */
static void text_for(const char *help, const char *verb, char *text, size_t size)
{
    snprintf(text, size, "%s", help);
    for (const char *at = help; *at;) {
        const char *const end = strstr(at, "; "), *const colon = strstr(at, ": ");
        const size_t length = end ? (size_t)(end - at) : strlen(at);
        if (colon && colon < at + length && lists(at, (size_t)(colon - at), verb)) {
            snprintf(text, size, "%.*s", (int)(at + length - colon - 2), colon + 2);
            return;
        }
        at += length + (end ? 2 : 0);
    }
}

void cli_print_verb(FILE *out, const cli_entry *entry, const cli_verb *verb)
{
    const cli_option *option;
    char text[600];
    fprintf(out, "usage: cloister %s %s %s\n", entry->name, verb->name, verb->usage);
    snprintf(text, sizeof text, "%c%s.", verb->summary[0] - 'a' + 'A', verb->summary + 1);
    cli_help_paragraphs(out, text);
    cli_help_paragraphs(out, verb->about);
    cli_help_heading(out, "Options");
    for (const cli_group *const *group = entry->command->groups; *group; group++)
        for (size_t i = 0; (option = cli_group_option(*group, i)); i++) {
            if (!cli_in_choices(verb->options, option->name)) continue;
            text_for(option->help, verb->name, text, sizeof text);
            cli_help_option(out, option, text);
        }
    cli_help_option(out, cli_help_group.rows, cli_help_group.rows->help);
    cli_help_examples(out, verb->examples, SIZE_MAX);
}
