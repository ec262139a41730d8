/*
 * matrix_file.c - plain matrices as files: what the caller has (synthetic data, a truth) goes out
 * and comes back.  No clo_table is written here, nor can be.
 */
#include "data/formats.h"
#include <cloister/output.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { NUMBER_BYTES = 32 };

/* A file remembers its first failure, and tells it when it is committed. */
static void put(clo_file *file, const void *bytes, size_t count)
{
    (void)clo_file_write(file, bytes, count);
}

static void put_number(clo_file *file, double value, char after)
{
    char text[NUMBER_BYTES + 1];
    char *end = clo_i_write_number(value, text);
    *end++ = after;
    put(file, text, (size_t)(end - text));
}

static clo_status finish(clo_file *file, clo_error *err)
{
    const clo_status status = clo_file_commit(file, err);
    clo_file_close(file);
    return status;
}

/* ---- CSV ------------------------------------------------------------------------------------- */

/* A name as a cell: in quotes where it holds something that would end it. */
static void put_name(clo_file *file, const char *name, char after)
{
    const bool quoted = strpbrk(name, ",\"\r\n;|\t") || name[0] == ' ' || name[0] == 0;
    if (quoted) put(file, "\"", 1);
    for (; *name; name++) {
        if (*name == '"') put(file, "\"", 1);
        put(file, name, 1);
    }
    if (quoted) put(file, "\"", 1);
    put(file, &after, 1);
}

static void write_csv(clo_file *file, clo_matrix values, const char *const *names)
{
    for (size_t j = 0; names && j < values.cols; j++)
        put_name(file, names[j] ? names[j] : "", j + 1 < values.cols ? ',' : '\n');
    for (size_t i = 0; i < values.rows; i++)
        for (size_t j = 0; j < values.cols; j++)
            put_number(file, values.data[i * values.stride + j], j + 1 < values.cols ? ',' : '\n');
}

/* ---- NPY ------------------------------------------------------------------------------------- */

/* The data start at a multiple of 64, so that a map of the file is aligned. */
static void write_npy_header(clo_file *file, clo_matrix values)
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
    put(file, header, length);
}

static void write_npy(clo_file *file, clo_matrix values)
{
    write_npy_header(file, values);
    for (size_t i = 0; i < values.rows; i++)
        put(file, values.data + i * values.stride, values.cols * sizeof *values.data);
}

clo_status clo_matrix_write(const char *path, clo_matrix values, const char *const *names,
                            clo_error *err)
{
    clo_file *file = NULL;
    CLO_TRY(clo_i_check_matrix(values, err));
    CLO_TRY(clo_file_open(path, &file, err));
    const size_t length = strlen(path);
    if (length >= 4 && strcasecmp(path + length - 4, ".npy") == 0)
        write_npy(file, values);
    else
        write_csv(file, values, names);
    return finish(file, err);
}

/* ---- LIBSVM ---------------------------------------------------------------------------------- */

static void write_libsvm(clo_file *file, const clo_sparse_rows *rows, const uint32_t *labels)
{
    char text[NUMBER_BYTES];
    for (size_t i = 0; i < rows->rows; i++) {
        const size_t label = labels ? labels[i] : i;
        put(file, text, (size_t)snprintf(text, sizeof text, "%zu", label));
        for (size_t j = 0; j < rows->width; j++) {
            const size_t at = i * rows->width + j, index = (size_t)rows->columns[at] + 1;
            char number[NUMBER_BYTES];
            put(file, text, (size_t)snprintf(text, sizeof text, " %zu:", index));
            put(file, number, (size_t)(clo_i_write_number(rows->values[at], number) - number));
        }
        put(file, "\n", 1);
    }
}

clo_status clo_sparse_write(const char *path, const clo_sparse_rows *rows, const uint32_t *labels,
                            clo_error *err)
{
    clo_file *file = NULL;
    if (!rows || !rows->columns || !rows->values || rows->rows < 1 || rows->width < 1)
        return clo_i_fail(err, CLO_ARGUMENT, "there are no sparse rows to write");
    CLO_TRY(clo_file_open(path, &file, err));
    write_libsvm(file, rows, labels);
    return finish(file, err);
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
