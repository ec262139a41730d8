/*
 * matrix_file.c - plain matrices as files: what the caller has (synthetic data, a truth) goes out
 * and comes back.  No clo_table is written here, nor can be.
 *
 * A file is written under another name beside its place and renamed when it is whole, so that a
 * write that fails or is killed leaves no half of a file behind a good name.
 */
#include "data/formats.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUFFER_BYTES = 1 << 20, NUMBER_BYTES = 32, TRIES = 16 };

/* ---- a file that is there whole or not at all ------------------------------------------------ */

typedef struct sink {
    const char *name; /* for messages */
    int file;
    char *target;    /* the name that it gets, or NULL: it has it already */
    char *temporary; /* the name until then */
    char *buffer;
    size_t used;
} sink;

static clo_status cannot_write(const sink *s, int number, clo_error *err)
{
    return clo_i_fail(err, CLO_IO, "%s cannot be written: %s", s->name, strerror(number));
}

static clo_status write_bytes(const sink *s, const void *bytes, size_t count, clo_error *err)
{
    const char *at = bytes;
    while (count > 0) {
        const ssize_t put = write(s->file, at, count);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return cannot_write(s, errno, err);
        at += put;
        count -= (size_t)put;
    }
    return CLO_OK;
}

static clo_status flush(sink *s, clo_error *err)
{
    const size_t count = s->used;
    s->used = 0;
    return write_bytes(s, s->buffer, count, err);
}

/* Room for so many bytes in the buffer, which is larger than any piece that is asked for. */
static clo_status make_room(sink *s, size_t bytes, clo_error *err)
{
    return BUFFER_BYTES - s->used >= bytes ? CLO_OK : flush(s, err);
}

static clo_status open_temporary(sink *s, clo_error *err)
{
    const size_t size = strlen(s->target) + 24;
    if (sodium_init() < 0) return clo_i_fail(err, CLO_ENTROPY, "the system gives no randomness");
    CLO_TRY(clo_i_alloc(size, 1, &s->temporary, err));
    for (int i = 0; i < TRIES; i++) {
        snprintf(s->temporary, size, "%s.%08x.part", s->target, randombytes_random());
        s->file = open(s->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (s->file >= 0) return CLO_OK;
        if (errno != EEXIST) break;
    }
    const int number = errno;
    clo_i_free(s->temporary);
    s->temporary = NULL;
    return cannot_write(s, number, err);
}

/* Opens what the path means.  A device or a pipe is written to as it is: a rename would put a file
 * in its place.  A link keeps being a link: the file that it leads to is replaced. */
static clo_status open_path(sink *s, const char *path, clo_error *err)
{
    struct stat facts;
    char resolved[PATH_MAX];
    const bool exists = stat(path, &facts) == 0;
    if (exists && S_ISDIR(facts.st_mode)) return cannot_write(s, EISDIR, err);
    if (exists && !S_ISREG(facts.st_mode)) {
        s->file = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
        return s->file >= 0 ? CLO_OK : cannot_write(s, errno, err);
    }
    if (exists && !realpath(path, resolved)) return cannot_write(s, errno, err);
    CLO_TRY(clo_i_copy_text(exists ? resolved : path, &s->target, err));
    return open_temporary(s, err);
}

static clo_status open_sink(const char *path, sink *s, clo_error *err)
{
    const bool standard = strcmp(path, "-") == 0;
    *s = (sink){ .name = standard ? "standard output" : clo_i_displayed(path),
                 .file = STDOUT_FILENO };
    CLO_TRY(clo_i_alloc(BUFFER_BYTES, 1, &s->buffer, err));
    const clo_status status = standard ? CLO_OK : open_path(s, path, err);
    if (status != CLO_OK) {
        clo_i_free(s->buffer);
        clo_i_free(s->target);
    }
    return status;
}

/* Ends the writing, well or badly, and gives the file its name if all went well. */
static clo_status close_sink(sink *s, clo_status status, clo_error *err)
{
    if (status == CLO_OK) status = flush(s, err);
    if (s->file != STDOUT_FILENO && close(s->file) != 0 && status == CLO_OK)
        status = cannot_write(s, errno, err);
    if (s->temporary && status == CLO_OK && rename(s->temporary, s->target) != 0)
        status = cannot_write(s, errno, err);
    if (s->temporary && status != CLO_OK) (void)unlink(s->temporary);
    clo_i_wipe_free(s->buffer, BUFFER_BYTES);
    clo_i_free(s->temporary);
    clo_i_free(s->target);
    return status;
}

/* ---- CSV ------------------------------------------------------------------------------------- */

/* A name as a cell: in quotes where it holds something that would end it. */
static clo_status put_name(sink *s, const char *name, char after, clo_error *err)
{
    const bool quoted = strpbrk(name, ",\"\r\n;|\t") || name[0] == ' ' || name[0] == 0;
    CLO_TRY(make_room(s, 4, err));
    if (quoted) s->buffer[s->used++] = '"';
    for (; *name; name++) {
        CLO_TRY(make_room(s, 4, err));
        if (*name == '"') s->buffer[s->used++] = '"';
        s->buffer[s->used++] = *name;
    }
    CLO_TRY(make_room(s, 4, err));
    if (quoted) s->buffer[s->used++] = '"';
    s->buffer[s->used++] = after;
    return CLO_OK;
}

static clo_status write_csv(sink *s, clo_matrix values, const char *const *names, clo_error *err)
{
    for (size_t j = 0; names && j < values.cols; j++)
        CLO_TRY(put_name(s, names[j] ? names[j] : "", j + 1 < values.cols ? ',' : '\n', err));
    for (size_t i = 0; i < values.rows; i++) {
        const double *const row = values.data + i * values.stride;
        for (size_t j = 0; j < values.cols; j++) {
            CLO_TRY(make_room(s, NUMBER_BYTES + 1, err));
            char *end = clo_i_write_number(row[j], s->buffer + s->used);
            *end++ = j + 1 < values.cols ? ',' : '\n';
            s->used = (size_t)(end - s->buffer);
        }
    }
    return CLO_OK;
}

/* ---- NPY ------------------------------------------------------------------------------------- */

/* The data start at a multiple of 64, so that a map of the file is aligned. */
static clo_status write_npy_header(sink *s, clo_matrix values, clo_error *err)
{
    char header[192];
    const size_t start = 10;
    memcpy(header, "\x93NUMPY\x01\x00", 8);
    size_t length = start + (size_t)snprintf(header + start, sizeof header - start,
                                             "{'descr': '<f8', 'fortran_order': False, "
                                             "'shape': (%zu, %zu), }",
                                             values.rows, values.cols);
    while ((length + 1) % 64 != 0) header[length++] = ' ';
    header[length++] = '\n';
    header[8] = (char)((length - start) & 0xff);
    header[9] = (char)((length - start) >> 8);
    return write_bytes(s, header, length, err);
}

static clo_status write_npy(sink *s, clo_matrix values, clo_error *err)
{
    CLO_TRY(write_npy_header(s, values, err));
    if (values.stride == values.cols)
        return write_bytes(s, values.data, values.rows * values.cols * sizeof(double), err);
    for (size_t i = 0; i < values.rows; i++) {
        const double *const row = values.data + i * values.stride;
        for (size_t j = 0; j < values.cols; j++) {
            CLO_TRY(make_room(s, sizeof *row, err));
            memcpy(s->buffer + s->used, &row[j], sizeof *row);
            s->used += sizeof *row;
        }
    }
    return CLO_OK;
}

clo_status clo_matrix_write(const char *path, clo_matrix values, const char *const *names,
                            clo_error *err)
{
    sink s;
    CLO_TRY(clo_i_check_matrix(values, err));
    if (!path) return clo_i_fail(err, CLO_ARGUMENT, "no file is named");
    const size_t length = strlen(path);
    const bool npy = length >= 4 && strcasecmp(path + length - 4, ".npy") == 0;
    CLO_TRY(open_sink(path, &s, err));
    const clo_status status = npy ? write_npy(&s, values, err) : write_csv(&s, values, names, err);
    return close_sink(&s, status, err);
}

/* ---- LIBSVM ---------------------------------------------------------------------------------- */

static clo_status write_libsvm(sink *s, const clo_sparse_rows *rows, const uint32_t *labels,
                               clo_error *err)
{
    for (size_t i = 0; i < rows->rows; i++) {
        CLO_TRY(make_room(s, NUMBER_BYTES, err));
        const size_t label = labels ? labels[i] : i;
        s->used += (size_t)sprintf(s->buffer + s->used, "%zu", label);
        for (size_t j = 0; j < rows->width; j++) {
            const size_t at = i * rows->width + j;
            CLO_TRY(make_room(s, 2 * NUMBER_BYTES, err));
            char *end = s->buffer + s->used;
            end += sprintf(end, " %zu:", (size_t)rows->columns[at] + 1);
            end = clo_i_write_number(rows->values[at], end);
            s->used = (size_t)(end - s->buffer);
        }
        CLO_TRY(make_room(s, 1, err));
        s->buffer[s->used++] = '\n';
    }
    return CLO_OK;
}

clo_status clo_sparse_write(const char *path, const clo_sparse_rows *rows, const uint32_t *labels,
                            clo_error *err)
{
    sink s;
    if (!path) return clo_i_fail(err, CLO_ARGUMENT, "no file is named");
    if (!rows || !rows->columns || !rows->values || rows->rows < 1 || rows->width < 1)
        return clo_i_fail(err, CLO_ARGUMENT, "there are no sparse rows to write");
    CLO_TRY(open_sink(path, &s, err));
    return close_sink(&s, write_libsvm(&s, rows, labels, err), err);
}

/* ---- reading --------------------------------------------------------------------------------- */

clo_status clo_matrix_read(const char *path, clo_matrix *out, clo_error *err)
{
    clo_read_options options = clo_read_options_default();
    clo_table *table = NULL;
    double *data = NULL;
    size_t cells;
    options.missing = CLO_MISSING_REFUSE;
    CLO_TRY(clo_table_read(path, &options, &table, err));
    const size_t rows = clo_table_rows(table), cols = clo_table_cols(table);
    clo_status status = CLO_OK;
    if (clo_i_multiply(rows, cols, &cells))
        status = clo_i_alloc(cells, sizeof *data, &data, err);
    else
        status = clo_i_fail(err, CLO_MEMORY, "the matrix is too large for this machine");
    if (status == CLO_OK) {
        clo_i_table_rows(table, 0, rows, data);
        *out = (clo_matrix){ .data = data, .rows = rows, .cols = cols, .stride = cols };
    }
    clo_table_free(table);
    return status;
}

void clo_matrix_free(clo_matrix matrix)
{
    clo_i_wipe_free((void *)(uintptr_t)matrix.data,
                    matrix.rows * matrix.stride * sizeof *matrix.data);
}
