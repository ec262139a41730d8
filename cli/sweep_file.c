/* sweep_file.c - the rows of cloister sweep: a CSV file that grows by whole lines, so that a sweep
 * that was stopped can go on, and two that share a file do not write into each other's lines. */
#include "cli_sweep.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

struct cli_rows {
    char *path;
    int file;
    char *text;  /* what was in the file, cut into keys */
    char **keys; /* sorted */
    size_t count;
};

/* ---- fields --------------------------------------------------------------------------------- */

void cli_csv_field(cli_bytes *line, const char *text)
{
    if (line->length) cli_bytes_write(line, ",", 1);
    if (!text[strcspn(text, ",\"\n\r")]) {
        cli_bytes_write(line, text, strlen(text));
        return;
    }
    cli_bytes_write(line, "\"", 1);
    for (const char *c = text; *c; c++) {
        if (*c == '"') cli_bytes_write(line, "\"", 1);
        cli_bytes_write(line, *c == '\n' || *c == '\r' ? " " : c, 1); /* a row is a line */
    }
    cli_bytes_write(line, "\"", 1);
}

void cli_csv_number(cli_bytes *line, double value)
{
    cli_csv_field(line, isfinite(value) ? cli_number(value).text : "");
}

/* Where the first so many fields of a line end. */
static char *after_fields(char *line, size_t fields)
{
    bool quoted = false;
    for (; *line; line++) {
        if (*line == '"') quoted = !quoted;
        if (*line == ',' && !quoted && --fields == 0) break;
    }
    return line;
}

/* ---- what is there -------------------------------------------------------------------------- */

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static clo_status io_failure(const cli_rows *rows, const char *what, cli_error *err)
{
    return cli_fail(err, CLO_IO, "'%s' cannot be %s: %s", rows->path, what, strerror(errno));
}

static clo_status read_text(cli_rows *rows, size_t *length, cli_error *err)
{
    const off_t size = lseek(rows->file, 0, SEEK_END);
    if (size < 0) return io_failure(rows, "read", err);
    rows->text = cli_alloc((size_t)size + 1, 1);
    *length = 0;
    while (*length < (size_t)size) {
        const ssize_t got =
            pread(rows->file, rows->text + *length, (size_t)size - *length, (off_t)*length);
        if (got <= 0) return io_failure(rows, "read", err);
        *length += (size_t)got;
    }
    return CLO_OK;
}

static clo_status take_rows(cli_rows *rows, const char *header, size_t key_fields, cli_error *err)
{
    size_t length = 0;
    clo_status status = read_text(rows, &length, err);
    if (status != CLO_OK) return status;
    if (length == 0) {
        cli_bytes line = { NULL, 0, 0 };
        cli_bytes_write(&line, header, strlen(header));
        status = cli_rows_append(rows, &line, err);
        free(line.data);
        return status;
    }
    const size_t first = strlen(header);
    if (length < first + 1 || memcmp(rows->text, header, first) != 0 || rows->text[first] != '\n')
        return cli_fail(err, CLO_FORMAT, "'%s' is not a file of this command: choose another -o",
                        rows->path);
    size_t whole = length;
    while (rows->text[whole - 1] != '\n') whole--;
    if (whole < length && ftruncate(rows->file, (off_t)whole) != 0)
        return io_failure(rows, "written", err);
    size_t lines = 0;
    for (size_t i = first + 1; i < whole; i++) lines += rows->text[i] == '\n';
    rows->keys = cli_alloc(lines, sizeof *rows->keys);
    for (char *at = rows->text + first + 1; rows->count < lines;) {
        char *const end = strchr(at, '\n');
        *end = 0;
        *after_fields(at, key_fields) = 0;
        rows->keys[rows->count++] = at;
        at = end + 1;
    }
    qsort(rows->keys, rows->count, sizeof *rows->keys, by_text);
    return CLO_OK;
}

clo_status cli_rows_open(const char *path, const char *header, size_t key_fields, cli_rows **out,
                         cli_error *err)
{
    cli_rows *const rows = cli_alloc(1, sizeof *rows);
    clo_status status;
    rows->path = cli_copy(path);
    rows->file = STDOUT_FILENO;
    if (strcmp(path, "-") == 0) {
        cli_bytes line = { NULL, 0, 0 };
        cli_bytes_write(&line, header, strlen(header));
        status = cli_rows_append(rows, &line, err);
        free(line.data);
    } else if ((rows->file = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600)) < 0) {
        status = io_failure(rows, "opened", err);
    } else {
        flock(rows->file, LOCK_EX);
        status = take_rows(rows, header, key_fields, err);
        flock(rows->file, LOCK_UN);
    }
    if (status != CLO_OK)
        cli_rows_close(rows);
    else
        *out = rows;
    return status;
}

void cli_rows_close(cli_rows *rows)
{
    if (!rows) return;
    if (rows->file > STDOUT_FILENO) close(rows->file);
    free(rows->keys);
    free(rows->text);
    free(rows->path);
    free(rows);
}

size_t cli_rows_before(const cli_rows *rows)
{
    return rows->count;
}

bool cli_rows_has(const cli_rows *rows, const char *key)
{
    return rows->count && bsearch(&key, rows->keys, rows->count, sizeof *rows->keys, by_text);
}

/* One call: a line is there whole, or, where the disk is full, cut off by the next open. */
clo_status cli_rows_append(cli_rows *rows, const cli_bytes *line, cli_error *err)
{
    cli_bytes whole = { NULL, 0, 0 };
    cli_bytes_write(&whole, line->data, line->length);
    cli_bytes_write(&whole, "\n", 1);
    const bool file = rows->file != STDOUT_FILENO;
    if (file) flock(rows->file, LOCK_EX);
    const ssize_t written = write(rows->file, whole.data, whole.length);
    if (file) flock(rows->file, LOCK_UN);
    const bool failed = written != (ssize_t)whole.length;
    if (failed && written >= 0) errno = ENOSPC;
    free(whole.data);
    return failed ? io_failure(rows, "written", err) : CLO_OK;
}
