/*
 * exercise.h - what the fuzz targets of the readers share: bytes as a file, read under some
 * options; a table that comes out is looked at in every way that there is, and must keep its word.
 */
#ifndef CLO_FUZZ_EXERCISE_H
#define CLO_FUZZ_EXERCISE_H

#include "bytes_file.h"
#include "data/data.h"
#include <math.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

/* A broken promise ends the program, whatever NDEBUG says. */
#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition);          \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

enum { MOST_CELLS = 1 << 13 };

static inline void exercise_sparse(const clo_table *table)
{
    size_t entries = 0;
    for (size_t i = 0; i < clo_table_rows(table); i++) {
        const uint32_t *columns;
        const double *values;
        size_t count;
        clo_i_table_sparse_row(table, i, &columns, &values, &count);
        for (size_t e = 0; e < count; e++) {
            MUST(columns[e] < clo_table_cols(table));
            MUST(e == 0 || columns[e - 1] < columns[e]);
            MUST(isfinite(values[e]) || (isnan(values[e]) && count == 1));
        }
        entries += count;
    }
    MUST(entries == clo_i_table_entries(table));
}

static inline void exercise_table(const clo_table *table, bool refused)
{
    const size_t rows = clo_table_rows(table), cols = clo_table_cols(table);
    double *const cells = malloc((MOST_CELLS + cols) * sizeof *cells);
    const size_t step = MOST_CELLS / cols ? MOST_CELLS / cols : 1;
    MUST(cells && cols > 0);
    if (clo_i_table_is_sparse(table)) exercise_sparse(table);
    for (size_t first = 0; first < rows && first < 4 * step; first += step) {
        const size_t count = rows - first < step ? rows - first : step;
        clo_i_table_rows(table, first, count, cells);
        for (size_t i = 0; i < count * cols; i++)
            MUST(isfinite(cells[i]) || (isnan(cells[i]) && !refused));
        clo_i_table_forget(table, first, count);
    }
    for (size_t i = 0; i < rows; i++) {
        const uint8_t *const unit = clo_i_table_unit(table, i);
        MUST((unit != NULL) == clo_table_has_unit(table));
        if (unit) MUST(memcmp(unit, unit, CLO_UNIT_BYTES) == 0);
    }
    for (size_t j = 0; j < cols && clo_table_column_name(table, j); j++)
        MUST(strlen(clo_table_column_name(table, j)) < 1 << 16);
    free(cells);
}

/* Returns how many rows there are, or -1 where the bytes are refused. */
static inline long exercise(const uint8_t *bytes, size_t count, clo_read_options options)
{
    const bytes_file file = bytes_file_open(bytes, count);
    clo_table *table = NULL;
    clo_error err = { .status = CLO_OK };
    long rows = -1;
    const clo_status status = clo_table_read(file.path, &options, &table, &err);
    bytes_file_close(file);
    if (status == CLO_OK) {
        exercise_table(table, options.missing == CLO_MISSING_REFUSE);
        rows = (long)clo_table_rows(table);
    } else {
        MUST(!table && err.status == status && err.message[0]);
        MUST(status == CLO_FORMAT || status == CLO_ARGUMENT);
    }
    clo_table_free(table);
    return rows;
}

#endif
