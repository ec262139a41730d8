/* terminal.c - what depends on who reads: a person at a terminal, or a file. */
#include "cli.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* A dumb terminal knows no control sequences: neither colours nor lines that are drawn anew. */
static bool is_dumb(void)
{
    const char *const term = getenv("TERM");
    return !term || strcmp(term, "dumb") == 0;
}

/* no-color.org: any NO_COLOR that is not empty means none. */
static bool takes_colour(FILE *stream)
{
    const char *const none = getenv("NO_COLOR");
    if (none && none[0]) return false;
    return !is_dumb() && isatty(fileno(stream)) == 1;
}

bool cli_can_redraw(void)
{
    return !is_dumb() && isatty(STDERR_FILENO) == 1;
}

const char *cli_style_on(FILE *stream, cli_style style)
{
    static const char *const codes[] = { "", "\033[1m", "\033[1;31m", "\033[33m" };
    return takes_colour(stream) ? codes[style] : "";
}

const char *cli_style_off(FILE *stream)
{
    return takes_colour(stream) ? "\033[0m" : "";
}

/* Lines longer than a hundred columns are hard to read, whatever the window's size. */
int cli_width(FILE *stream)
{
    struct winsize size;
    int width = 80;
    if (isatty(fileno(stream)) && ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        width = size.ws_col;
    return width < 40 ? 40 : width > 100 ? 100 : width;
}

bool cli_is_terminal(FILE *stream)
{
    return isatty(fileno(stream)) == 1;
}

bool cli_takes_unicode(void)
{
    static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *const value = getenv(names[i]);
        if (!value || !value[0]) continue; /* the first that is set decides */
        const char *const code = strchr(value, '.');
        return code && (strncasecmp(code, ".utf-8", 6) == 0 || strncasecmp(code, ".utf8", 5) == 0);
    }
    return false;
}

clo_report_format cli_text_format(FILE *stream)
{
    if (!cli_is_terminal(stream)) return CLO_TEXT;
    return cli_takes_unicode() ? CLO_TEXT_BARS : CLO_TEXT_BARS_ASCII;
}

void cli_wrap(FILE *out, int at, int indent, const char *text)
{
    const int width = cli_width(out);
    int column = at;
    bool fresh = true;
    while (*text) {
        const int length = (int)strcspn(text, " ");
        if (!fresh && column + 1 + length > width) {
            fprintf(out, "\n%*s", indent, "");
            column = indent;
            fresh = true;
        }
        fprintf(out, "%s%.*s", fresh ? "" : " ", length, text);
        column += length + !fresh;
        fresh = false;
        text += length;
        text += strspn(text, " ");
    }
    fputc('\n', out);
}

/* The lines of a note may be several. */
static void print_lines(const char *format, va_list list)
{
    char *text = NULL, *rest;
    if (vasprintf(&text, format, list) < 0) return;
    rest = text;
    for (char *line; (line = strsep(&rest, "\n"));) {
        cli_print_visible(stderr, line);
        fputc('\n', stderr);
    }
    free(text);
}

void cli_note(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    print_lines(format, list);
    va_end(list);
}

void cli_warn(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    fprintf(stderr, "%swarning:%s ", cli_style_on(stderr, CLI_YELLOW), cli_style_off(stderr));
    print_lines(format, list);
    va_end(list);
}

bool cli_can_ask(void)
{
    return isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
}

bool cli_ask(const char *question)
{
    char answer[16];
    fprintf(stderr, "%s [y/N] ", question);
    if (!fgets(answer, sizeof answer, stdin)) return false;
    return answer[0] == 'y' || answer[0] == 'Y';
}
