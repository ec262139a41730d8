/* files.c - streams and texts that reports are written to. */
#include "cli.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool cli_bytes_write(void *text, const char *bytes, size_t count)
{
    cli_bytes *const to = text;
    if (to->room - to->length < count) {
        const size_t room = 2 * to->room + count;
        char *const grown = cli_alloc(room, 1);
        if (to->length) memcpy(grown, to->data, to->length);
        free(to->data);
        to->data = grown;
        to->room = room;
    }
    memcpy(to->data + to->length, bytes, count);
    to->length += count;
    return true;
}

void cli_quote(cli_bytes *to, const char *text)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-";
    if (text[0] && text[strspn(text, plain)] == 0) {
        cli_bytes_write(to, text, strlen(text));
        return;
    }
    cli_bytes_write(to, "'", 1);
    for (const char *c = text; *c; c++)
        if (*c == '\'')
            cli_bytes_write(to, "'\\''", 4);
        else
            cli_bytes_write(to, c, 1);
    cli_bytes_write(to, "'", 1);
}

bool cli_same_file(const char *a, const char *b)
{
    struct stat first, second;
    return stat(a, &first) == 0 && stat(b, &second) == 0 && S_ISREG(first.st_mode) &&
           first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

bool cli_stream_write(void *stream, const char *bytes, size_t count)
{
    return fwrite(bytes, 1, count, stream) == count;
}

clo_status cli_flush(FILE *out, cli_error *err)
{
    if (fflush(out) == 0 && !ferror(out)) return CLO_OK;
    return cli_fail(err, CLO_IO, "cannot write to standard output: %s", strerror(errno));
}
