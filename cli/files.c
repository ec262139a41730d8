/* files.c - streams and texts that reports are written to. */
#include "cli.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

bool cli_stream_write(void *stream, const char *bytes, size_t count)
{
    return fwrite(bytes, 1, count, stream) == count;
}

clo_status cli_flush(FILE *out, cli_error *err)
{
    if (fflush(out) == 0 && !ferror(out)) return CLO_OK;
    return cli_fail(err, CLO_IO, "cannot write to standard output: %s", strerror(errno));
}
