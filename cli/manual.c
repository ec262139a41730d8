/* manual.c - the parts of the manual page that are tables in the code: commands with their options,
 * mechanisms with their parameters, exit codes.
 *
 * The page itself is written by hand (docs/man/cloister.1.in); where a line of it reads
 * .\"@commands@ (or @methods@, @exit-codes@), the rows are put in.  The build calls this through
 * the hidden 'cloister help manual-page FILE'. */
#include "cli.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* roff reads a leading '.' or quote as a request and a bare '-' as a hyphen. */
static void print_roff(FILE *out, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        const bool first = i == 0 || text[i - 1] == '\n';
        if (first && (text[i] == '.' || text[i] == '\'')) fputs("\\&", out);
        if (text[i] == '\\')
            fputs("\\e", out);
        else if (text[i] == '-')
            fputs("\\-", out);
        else
            fputc(text[i], out);
    }
}

static void print_line(FILE *out, const char *text)
{
    print_roff(out, text, strlen(text));
    fputc('\n', out);
}

static void print_option(FILE *out, const cli_option *option)
{
    char range[300];
    fputs(".TP\n", out);
    if (option->letter) fprintf(out, "\\fB\\-%c\\fR, ", option->letter);
    fputs("\\fB\\-\\-", out);
    print_roff(out, option->name, strlen(option->name));
    fputs("\\fR", out);
    if (option->argument) fprintf(out, " \\fI%s\\fR", option->argument);
    fputc('\n', out);
    print_roff(out, option->help, strlen(option->help));
    cli_option_range(option, range, sizeof range);
    if (range[0]) fputc(' ', out);
    print_line(out, range);
}

static void print_about(FILE *out, const char *about)
{
    while (*about) {
        const char *const end = strstr(about, "\n\n");
        const size_t length = end ? (size_t)(end - about) : strlen(about);
        fputs(".PP\n", out);
        print_roff(out, about, length);
        fputc('\n', out);
        about += length + (end ? 2 : 0);
    }
}

static void print_verb(FILE *out, const cli_entry *entry, const cli_verb *verb)
{
    fprintf(out, ".PP\n\\fBcloister %s %s\\fR ", entry->name, verb->name);
    print_line(out, verb->usage);
    fputs(".br\n", out);
    fprintf(out, "%c", verb->summary[0] - 'a' + 'A');
    print_roff(out, verb->summary + 1, strlen(verb->summary + 1));
    fputs(".\n", out);
    print_about(out, verb->about);
}

static void print_command(FILE *out, const cli_entry *entry)
{
    const cli_command *const command = entry->command;
    fprintf(out, ".SS cloister %s\n", entry->name);
    for (const char *line = command->usage;;) {
        const size_t length = strcspn(line, "\n");
        fprintf(out, "\\fBcloister %s\\fR ", entry->name);
        print_roff(out, line, length);
        fputs("\n.br\n", out);
        line += length + (line[length] == '\n');
        if (!*line) break;
    }
    print_about(out, command->about);
    for (const cli_verb *verb = command->verbs; verb && verb->name; verb++)
        print_verb(out, entry, verb);
    for (const cli_group *const *group = command->groups; group && *group; group++) {
        const cli_option *option;
        for (size_t i = 0; (option = cli_group_option(*group, i)); i++) print_option(out, option);
    }
}

static void print_subject(FILE *out, const cli_subject *subject, const char *summary)
{
    fprintf(out, ".SS %s\n", subject->name);
    print_line(out, summary);
    for (size_t i = 0; i < subject->count; i++) {
        const clo_param *const row = &subject->rows[i];
        char range[300];
        cli_parameter_range(row, cli_is_demanded(subject, row), range, sizeof range);
        fputs(".TP\n\\fB\\-\\-", out);
        print_roff(out, row->name, strlen(row->name));
        fputs("\\fR\n", out);
        print_roff(out, row->help, strlen(row->help));
        fputs(" (", out);
        print_roff(out, range, strlen(range));
        fputs(")\n", out);
    }
}

static void print_methods(FILE *out)
{
    for (size_t i = 0; i < clo_mechanism_count(); i++) {
        const cli_subject subject = cli_subject_of_mechanism(clo_mechanism_at(i));
        print_subject(out, &subject, clo_mechanism_summary(clo_mechanism_at(i)));
    }
}

static void print_solvers(FILE *out)
{
    for (size_t i = 0; i < clo_solver_count(); i++) {
        const cli_subject subject = cli_subject_of_solver(clo_solver_at(i));
        print_subject(out, &subject, clo_solver_summary(clo_solver_at(i)));
    }
}

static void print_exit_codes(FILE *out)
{
    static const struct {
        int code;
        const char *text;
    } rows[] = {
#define X(name, value, exit_code, text) { exit_code, text },
        CLO_STATUS_LIST(X)
#undef X
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (i == 0 || rows[i].code != rows[i - 1].code)
            fprintf(out, ".TP\n\\fB%d\\fR\n", rows[i].code);
        else
            fputs(".br\n", out);
        print_line(out, rows[i].text);
    }
}

/* The line, with @version@ filled in. */
static void print_own(FILE *out, const char *line)
{
    static const char mark[] = "@version@";
    const char *const at = strstr(line, mark);
    if (at)
        fprintf(out, "%.*s%s%s", (int)(at - line), line, clo_version(), at + strlen(mark));
    else
        fputs(line, out);
}

static bool print_insertion(FILE *out, const char *line)
{
    if (strcmp(line, ".\\\"@commands@\n") == 0) {
        for (const cli_entry *entry = cli_commands; entry->name; entry++) print_command(out, entry);
    } else if (strcmp(line, ".\\\"@methods@\n") == 0) {
        print_methods(out);
    } else if (strcmp(line, ".\\\"@solvers@\n") == 0) {
        print_solvers(out);
    } else if (strcmp(line, ".\\\"@exit-codes@\n") == 0) {
        print_exit_codes(out);
    } else {
        return false;
    }
    return true;
}

clo_status cli_print_manual(FILE *out, const char *template_path, cli_error *err)
{
    char line[1024];
    FILE *const in = fopen(template_path, "r");
    if (!in) return cli_fail(err, CLO_IO, "cannot read '%s': %s", template_path, strerror(errno));
    while (fgets(line, sizeof line, in))
        if (!print_insertion(out, line)) print_own(out, line);
    fclose(in);
    return CLO_OK;
}
