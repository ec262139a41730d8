/* fail.c - how the command says that something went wrong: one line, and a second one with what to
 * try where there is something to try. */
#include "cli.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

clo_status cli_fail(cli_error *err, clo_status status, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(err->error.message, sizeof err->error.message, format, list);
    va_end(list);
    err->error.status = status;
    return status;
}

void cli_hint(cli_error *err, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(err->hint, sizeof err->hint, format, list);
    va_end(list);
}

/* A message may hold a file's name, and a file's name may hold anything: control characters would
 * let it write on the operator's terminal. */
static void print_visible(FILE *out, const char *text)
{
    for (const char *c = text; *c; c++) {
        const unsigned char byte = (unsigned char)*c;
        fputc(byte < 0x20 || byte == 0x7f ? '?' : byte, out);
    }
}

/* Columns that are left out are left out of those that were chosen. */
static void write_option(const cli_args *args, const char *text, int length, char *out, size_t size)
{
    const char *const chosen =
        strncmp(text, "columns -", 9) == 0 ? cli_value(args, "columns") : NULL;
    if (chosen)
        snprintf(out, size, "--columns %s,%.*s", chosen, length - 8, text + 8);
    else
        snprintf(out, size, "--%.*s", length, text);
}

/* The library names parameters: a message that ends with one and its value, "(columns -cut)", is an
 * option to try here. */
void cli_option_in(const cli_args *args, const char *message, char *out, size_t size)
{
    static const char *const names[] = { "columns ", "decimal ", "missing ", "header " };
    const char *const open = strrchr(message, '(');
    const size_t length = open ? strlen(open) : 0;
    out[0] = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names && length > 2; i++)
        if (strncmp(open + 1, names[i], strlen(names[i])) == 0 && open[length - 1] == ')')
            write_option(args, open + 1, (int)length - 2, out, size);
}

static void write_error(FILE *out, const cli_error *err)
{
    const char *const message = err->error.message;
    fprintf(out, "%scloister:%s ", cli_style_on(stderr, CLI_RED), cli_style_off(stderr));
    print_visible(out, message[0] ? message : clo_status_text(err->error.status));
    fputc('\n', out);
    if (!err->hint[0]) return;
    fprintf(out, "%stry:%s ", cli_style_on(stderr, CLI_BOLD), cli_style_off(stderr));
    print_visible(out, err->hint);
    fputc('\n', out);
}

/* In one write: whoever ends this process next cannot cut the sentence short, and several ranks do
 * not speak into each other. */
void cli_print_error(const cli_error *err)
{
    char *text = NULL;
    size_t length = 0;
    FILE *const whole = open_memstream(&text, &length);
    if (!whole) {
        write_error(stderr, err);
        return;
    }
    write_error(whole, err);
    fclose(whole);
    fwrite(text, 1, length, stderr);
    free(text);
}

void *cli_alloc(size_t count, size_t size)
{
    void *const memory = calloc(count ? count : 1, size);
    if (!memory) {
        fprintf(stderr, "cloister: out of memory\n");
        exit(clo_status_exit_code(CLO_MEMORY));
    }
    return memory;
}

char *cli_copy(const char *text)
{
    const size_t size = strlen(text) + 1;
    return memcpy(cli_alloc(size, 1), text, size);
}
