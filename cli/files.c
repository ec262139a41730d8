/* files.c - streams and texts that reports are written to, and files of labels. */
#include "cli.h"
#include <errno.h>
#include <math.h>
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
clo_status cli_read_labels(const cli_args *args, const char *option, size_t rows, uint32_t **out,
                           cli_error *err)
{
    clo_matrix matrix = { NULL, 0, 0, 0 };
    if (!cli_given(args, option)) return CLO_OK;
    clo_status status = clo_matrix_read(cli_value(args, option), &matrix, &err->error);
    if (status != CLO_OK) return status;
    if (matrix.rows != rows || matrix.cols != 1)
        status = cli_fail(err, CLO_ARGUMENT,
                          "--%s must be one column with a label for each of the %zu rows of the "
                          "data, not %zu rows of %zu",
                          option, rows, matrix.rows, matrix.cols);
    uint32_t *const labels = cli_alloc(rows, sizeof *labels);
    for (size_t i = 0; i < rows && status == CLO_OK; i++) {
        const double value = matrix.data[i * matrix.stride];
        if (value == -1) /* as assign says it of a row that counts for nothing */
            labels[i] = CLO_NO_CLUSTER;
        else if (!(value >= 0 && value < UINT32_MAX) || value != floor(value))
            status =
                cli_fail(err, CLO_FORMAT, "label %zu of --%s is not a whole number of at least 0",
                         i + 1, option);
        else
            labels[i] = (uint32_t)value;
    }
    clo_matrix_free(matrix);
    if (status == CLO_OK)
        *out = labels;
    else
        free(labels);
    return status;
}

clo_status cli_check_seal(const clo_release *release, const char *path, cli_error *err)
{
    if (clo_release_seal(release) != CLO_SEAL_BROKEN) return CLO_OK;
    cli_hint(err, "cloister ledger fetch --token T, which writes the original again");
    return cli_fail(err, CLO_SIGNATURE,
                    "%.300s was changed after it was signed: do not trust its numbers", path);
}
