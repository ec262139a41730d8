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
    err->error.advice[0] = 0;
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

/* How many bytes the UTF-8 character has; 0: it is none.  (Its shortest form, and no surrogate.) */
static size_t well_formed(const unsigned char *c)
{
    static const uint32_t least[5] = { 0, 0, 0x80, 0x800, 0x10000 };
    const size_t length = *c < 0x80 ? 1 : *c < 0xc2 ? 0 : *c < 0xe0 ? 2 : *c < 0xf0 ? 3 : 4;
    uint32_t point = length > 1 ? *c & (0xffU >> (length + 1)) : *c;
    if (*c > 0xf4 || length == 0) return 0;
    for (size_t i = 1; i < length; i++) {
        if ((c[i] & 0xc0) != 0x80) return 0;
        point = point << 6 | (c[i] & 0x3f);
    }
    const bool surrogate = point >= 0xd800 && point < 0xe000;
    return point < least[length] || point > 0x10ffff || surrogate ? 0 : length;
}

/* A message may hold a file's name, and a file's name may hold anything: control characters would
 * let it write on the operator's terminal, and what is no UTF-8 ends programs that read it. */
void cli_print_visible(FILE *out, const char *text)
{
    for (const unsigned char *c = (const unsigned char *)text; *c;) {
        const size_t length = well_formed(c);
        const bool control = *c < 0x20 || *c == 0x7f || (length == 2 && *c == 0xc2 && c[1] < 0xa0);
        if (length == 0 || control)
            fputc('?', out);
        else
            fwrite(c, 1, length, out);
        c += length ? length : 1;
    }
}

void cli_print(const char *format, ...)
{
    va_list list, again;
    va_start(list, format);
    va_copy(again, list);
    const int length = vsnprintf(NULL, 0, format, list);
    char *const text = cli_alloc(length < 0 ? 1 : (size_t)length + 1, 1);
    if (length >= 0) vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    va_end(list);
    for (char *line = text, *end; *line; line = end) {
        end = line + strcspn(line, "\n");
        const bool ends = *end == '\n';
        *end = 0;
        cli_print_visible(stdout, line);
        if (ends) putchar('\n');
        end += ends;
    }
    free(text);
}

/* Columns that are left out are left out of those that were chosen. */
void cli_advised_option(const cli_args *args, const char *advice, char *out, size_t size)
{
    const char *const chosen =
        strncmp(advice, "columns -", 9) == 0 ? cli_value(args, "columns") : NULL;
    out[0] = 0;
    if (chosen)
        snprintf(out, size, "--columns %s,%s", chosen, advice + 8);
    else if (advice[0])
        snprintf(out, size, "--%s", advice);
}

/* Where the word of a setting ends that stands alone in brackets, with or without its value. */
static const char *end_of_setting(const char *word)
{
    const clo_setting_info *setting;
    for (size_t i = 0; (setting = clo_job_setting(i)); i++) {
        const size_t length = strlen(setting->name);
        if (strncmp(word, setting->name, length) != 0) continue;
        const size_t value = word[length] == ' ' ? 1 + strcspn(word + length + 1, " )") : 0;
        if (word[length + value] == ')') return word + length + value;
    }
    return NULL;
}

/* "(cols)" and "(missing fill)" with the dashes that they have here. */
static void add_dashes(char *message, size_t size)
{
    char text[sizeof((cli_error *)0)->error.message];
    size_t used = 0;
    for (const char *c = message; *c && used + 3 < sizeof text; c++) {
        text[used++] = *c;
        if (*c != '(' || !end_of_setting(c + 1)) continue;
        text[used++] = '-';
        text[used++] = '-';
    }
    text[used] = 0;
    snprintf(message, size, "%s", text);
}

void cli_spell_options(cli_error *err)
{
    char ending[sizeof err->error.advice + 4], *const message = err->error.message;
    const size_t length = strlen(message);
    const int more = snprintf(ending, sizeof ending, " (%s)", err->error.advice);
    if (err->error.advice[0] && more > 0 && length > (size_t)more &&
        strcmp(message + length - (size_t)more, ending) == 0)
        message[length - (size_t)more] = 0; /* the next line has it */
    add_dashes(message, sizeof err->error.message);
}

static void write_error(FILE *out, const cli_error *err)
{
    const char *const message = err->error.message;
    fprintf(out, "%scloister:%s ", cli_style_on(stderr, CLI_RED), cli_style_off(stderr));
    cli_print_visible(out, message[0] ? message : clo_status_text(err->error.status));
    fputc('\n', out);
    if (!err->hint[0]) return;
    fprintf(out, "%stry:%s ", cli_style_on(stderr, CLI_BOLD), cli_style_off(stderr));
    cli_print_visible(out, err->hint);
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
