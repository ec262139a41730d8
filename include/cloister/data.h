/*
 * data.h - step one: read.  A file, a stream or the caller's own memory becomes
 * a clo_table, which is sensitive: no function writes one out.
 */
#ifndef CLOISTER_DATA_H
#define CLOISTER_DATA_H

#include <cloister/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct clo_table clo_table;

/* What to do with a cell that is not a finite number (empty, text, NaN, Inf). */
typedef enum clo_missing {
    CLO_MISSING_ZERO = 1,  /* its record becomes the zero record, silently */
    CLO_MISSING_REFUSE = 2 /* CLO_FORMAT, with line and column; nothing was spent yet */
} clo_missing;

typedef enum clo_header {
    CLO_HEADER_AUTO =
        0, /* the first line is a header when one of its cells is neither a number nor a
                            word for a missing one (empty, NA, nan, inf) */
    CLO_HEADER_NONE = 1,
    CLO_HEADER_FIRST_LINE = 2
} clo_header;

typedef struct clo_read_options {
    size_t struct_size; /* set by the default; fields are only ever added */
    const char *format; /* "csv", "npy", "libsvm"; NULL: by content, then by name */
    const char
        *columns; /* "age,income", "2-7", "1,4-6"; numbers count from 1; NULL: all but the unit */
    const char *unit;  /* the column that names the person a row belongs to; NULL: none */
    clo_header header; /* of CSV */
    char delimiter;    /* of CSV; 0: by the first line, out of comma, semicolon, tab, bar, blank */
    clo_missing missing;
    size_t
        cols; /* of LIBSVM, where it must be given: how many columns there are; entries beyond are
                            bad cells */
} clo_read_options;

CLO_API clo_read_options clo_read_options_default(void);

/* Reads a whole file, or standard input where the path is "-".  An NPY file
 * whose layout allows it is mapped, not copied, and must not change while the
 * table lives. */
CLO_API CLO_CHECK clo_status clo_table_read(const char *path, const clo_read_options *options,
                                            clo_table **out, clo_error *err);
/* Wraps the caller's own memory, which must outlive the table (NumPy, say). */
CLO_API CLO_CHECK clo_status clo_table_wrap(clo_matrix values, clo_missing missing, clo_table **out,
                                            clo_error *err);
/* The same where row i belongs to the person units[i], whatever numbers those are: the guarantee
 * can then be for a person (clo_domain.unit, which names them for people to read).  The numbers
 * need not outlive the call. */
CLO_API CLO_CHECK clo_status clo_table_wrap_units(clo_matrix values, const uint64_t *units,
                                                  clo_missing missing, clo_table **out,
                                                  clo_error *err);
CLO_API size_t clo_table_cols(const clo_table *table);
/* How many rows there are.  Public only where the relation is CLO_REPLACE and a
 * record is one row. */
CLO_API size_t clo_table_rows(const clo_table *table);
/* "age", or NULL where the columns have no names; borrowed. */
CLO_API const char *clo_table_column_name(const clo_table *table, size_t column);
CLO_API bool clo_table_has_unit(const clo_table *table);
CLO_API void clo_table_free(clo_table *table); /* wipes what it owns */

/* Writes a matrix that the caller has (synthetic data, a truth) to a file: CSV,
 * or NPY where the path ends in ".npy"; "-" is standard output as CSV.  names may
 * be NULL: then there is no header line. */
CLO_API CLO_CHECK clo_status clo_matrix_write(const char *path, clo_matrix values,
                                              const char *const *names, clo_error *err);

/* Sparse rows that all have the same number of entries: entry j of row i is in column
 * columns[i * width + j], counted from 0 and increasing within a row. */
typedef struct clo_sparse_rows {
    uint32_t *columns;
    double *values;
    size_t rows, cols, width;
} clo_sparse_rows;

/* Writes sparse rows to a file in the LIBSVM form, each line with its label first (NULL: the row's
 * number); "-" is standard output. */
CLO_API CLO_CHECK clo_status clo_sparse_write(const char *path, const clo_sparse_rows *rows,
                                              const uint32_t *labels, clo_error *err);

#ifdef __cplusplus
}
#endif
#endif
