/*
 * data.h - step one: read.  A file, a stream or the caller's own memory becomes
 * a clo_table, which is sensitive: no function writes one out.
 */
#ifndef CLOISTER_DATA_H
#define CLOISTER_DATA_H

#include <cloister/schema.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Records as they were read: sensitive. */
typedef struct clo_table clo_table;

/* What to do with a cell that is missing: empty, text, NaN, Inf, or anything else that is not a
 * finite number. */
typedef enum clo_missing {
    CLO_MISSING_NULL = 1,   /* its record counts for nothing, silently (bound.T6) */
    CLO_MISSING_REFUSE = 2, /* CLO_FORMAT, with its place in the file; nothing was spent yet */
    CLO_MISSING_FILL = 3    /* the cell takes a public value: that of `fill`, or else the middle of
                               the domain in its column.  Not of LIBSVM, where what is not named is
                               zero */
} clo_missing;

/* What to do with a column of CSV that is text.  A column is text where more than half of its cells
 * that say anything are no numbers; it is refused, too, where at least one in a hundred of them
 * would be numbers with the other decimal mark ("1,5" for "1.5").  Words for a missing number
 * (empty, NA, nan, inf) say nothing.  Fewer such cells are missing cells and never a failure. */
typedef enum clo_text_columns {
    CLO_TEXT_REFUSE = 0,  /* CLO_FORMAT, with its name; nothing was spent yet */
    CLO_TEXT_MISSING = 1, /* its cells are missing cells, however many: then nothing that a record
                             says can keep a file from being read */
    CLO_TEXT_LATER = 2    /* refused only where it is used: by clo_assign_rows, clo_evaluate_… and
                             clo_solve, which need not take every column.  Not for a run: clo_bound
                             refuses such a table */
} clo_text_columns;

/* Of AUTO: the first line is a header when its cells are text, and a record when they are numbers;
 * words for a missing number (empty, NA, nan, inf) and the cell of a unit that is given by its
 * number count for neither.  CLO_FORMAT where it is partly text and partly numbers: names are
 * published, and a record that was taken for a header would be. */
typedef enum clo_header {
    CLO_HEADER_AUTO = 0,
    CLO_HEADER_NONE = 1,
    CLO_HEADER_FIRST_LINE = 2
} clo_header;

/* How long a key is under which persons are hashed. */
enum { CLO_UNIT_KEY_BYTES = 32 };

/* How to read; from clo_read_options_default.  Texts are not kept. */
typedef struct clo_read_options {
    size_t struct_size;
    const char *format; /* "csv", "npy", "libsvm"; NULL: by content, then by name, else CSV */
    /* "age,income", "2-7", "1,4-6": names first, then numbers from 1; "-id,-4-6": all but these;
     * NULL: all but the unit */
    const char *columns;
    /* The column that names the person a row belongs to; NULL: none.  A row that names nobody is
     * left out when the data are bounded.  LIBSVM has no such column. */
    const char *unit;
    clo_header header; /* of CSV */
    char delimiter;    /* of CSV; 0: by the first line, out of comma, semicolon, tab, bar, blank */
    clo_missing missing;
    /* How many columns the file has, that of the unit among them.  LIBSVM does not say, so it must
     * be given there; entries beyond are bad cells.  For CSV see below. */
    size_t cols;
    /* How many rows there are is not public (add-remove, or units): then nothing may depend on
     * there being any.  A CSV file without a header says how many columns there are by its first
     * record alone, so that `cols` must be given, or `columns` by their numbers; then no records at
     * all are data like others.  clo_bound refuses a table whose columns a record has told. */
    bool rows_are_secret;
    clo_text_columns text; /* of CSV */
    char decimal;          /* of CSV: the decimal mark, '.' or ','; 0: '.' */
    /* With CLO_MISSING_FILL: "age=40,income=0", columns by name or number, or one number for all;
     * what it does not name takes the middle of the domain.  NULL: all do. */
    const char *fill;
    /* Called now and then while a file is read, with the share that is done, or a negative number
     * where that is not known (a pipe); false stops it with CLO_CANCELLED.  NULL: nobody asks. */
    bool (*progress)(void *user, double done);
    void *user;
    bool digest; /* keep a digest of the bytes, for clo_table_digest */
    /* CLO_UNIT_KEY_BYTES under which persons are hashed, so that tables of several parts can be
     * compared (persons.h); not kept.  NULL: a random key of the table's own. */
    const uint8_t *unit_key;
    /* Of a scan: a folder in which clo_bound keeps the bounded rows, encrypted, in a file without a
     * name, so that a run need not parse the files again; see clo_bounded_is_cached.  NULL: none */
    const char *cache;
    /* Of a scan: clo_table_keep will follow, and looks at the rows that it keeps.  Of an array, NPY
     * that is not compressed, only the header is then read by clo_table_scan, and all bytes where
     * there is a digest; what is wrong with a row is told by clo_table_keep, and clo_bound refuses
     * a table of which nothing was kept.  Other files are read through as ever; so are all with a
     * unit, of which nothing need be kept. */
    bool rows_later;
    /* The schema of the columns: a CSV is then read with it, its columns in use are taken in the
     * schema's order unless `columns` names some of them, and a cell of text is the number of its
     * level, a date its days, a time its seconds (schema.h).  What a missing cell means, and what is
     * in no list, is the schema's to say: missing and fill stay at their presets.  Kept as long as
     * the table.  NULL: none */
    const clo_schema *schema;
} clo_read_options;

/* The presets; see "Structs that may grow" in cloister.h. */
CLO_API void clo_read_options_init(clo_read_options *options, size_t size);
static inline clo_read_options clo_read_options_default(void)
{
    clo_read_options options;
    clo_read_options_init(&options, sizeof options);
    return options;
}

/* Reads a whole file, or standard input where the path is "-"; options may be NULL.  What is
 * compressed with gzip or zstd is unpacked on the way.  An NPY file is mapped, not copied (a pipe
 * and a compressed file are), and must not change while the table lives.  CLO_IO
 * where it cannot be read, CLO_FORMAT where it is empty or not what it claims to be,
 * CLO_ARGUMENT where it has no such column. */
CLO_API CLO_CHECK clo_status clo_table_read(const char *path, const clo_read_options *options,
                                            clo_table **out, clo_error *err);
/* Reads several files as one table: the records of the first, then those of the next.  All of them
 * must have the columns that the first has: the same names where there are names, or else as many
 * (CLO_FORMAT).  One that names its people by the same text, or number, as another means the same
 * people. */
CLO_API CLO_CHECK clo_status clo_table_read_files(const char *const *paths, size_t count,
                                                  const clo_read_options *options, clo_table **out,
                                                  clo_error *err);
/* The same for data larger than memory: the files are read through once, so that what is wrong with
 * them is told now, and the table holds none of their rows.  clo_bound makes of it data that a run
 * reads again, part by part, for each of its questions; the release is the same, byte for byte, as
 * from a table in memory.  Such a run takes `memory` bytes at most, or is refused before it begins
 * (clo_workspace_for_run); so is a plan that is not of sums alone (clo_plan_reading).  A file that
 * changes meanwhile ends the run with CLO_IO.  With a unit clo_bound reads the files again, to find
 * out which rows of each person stay (flow.T3), and keeps one bit a row: CLO_MEMORY where there is
 * no room for that.  At least 32 MiB; CLO_UNSUPPORTED for pipes, which can be read only once.  The
 * table is for clo_bound alone: CLO_ARGUMENT elsewhere; what that makes of it serves one run at a
 * time. */
CLO_API CLO_CHECK clo_status clo_table_scan(const char *const *paths, size_t count,
                                            const clo_read_options *options, uint64_t memory,
                                            clo_table **out, clo_error *err);
enum { CLO_DIGEST_BYTES = 32 };
/* BLAKE2b-256 of the bytes that a table was read from, unpacked, where clo_read_options.digest
 * asked for it; false otherwise.  Of several files it is that of their digests, in order.  It is as
 * secret as the data: who sees it can check a guess of them.  It is for clo_ledger_spend_content,
 * which keeps it under the ledger's key alone. */
CLO_API CLO_CHECK bool clo_table_digest(const clo_table *table, uint8_t out[CLO_DIGEST_BYTES]);
/* The same of a file that is not read as a table, for clo_ledger_declare_data.  CLO_IO where it
 * cannot be read, CLO_FORMAT where its compressed bytes are damaged. */
CLO_API CLO_CHECK clo_status clo_file_digest(const char *path, uint8_t out[CLO_DIGEST_BYTES],
                                             clo_error *err);
/* Wraps the caller's own memory, which must outlive the table (NumPy, say).  With
 * CLO_MISSING_REFUSE a cell that is not finite is CLO_FORMAT; with CLO_MISSING_FILL it takes the
 * middle of the domain. */
CLO_API CLO_CHECK clo_status clo_table_wrap(clo_matrix values, clo_missing missing, clo_table **out,
                                            clo_error *err);
/* The same where row i belongs to the person units[i], whatever numbers those are: the guarantee
 * can then be for a person (clo_domain.unit, which names them for people to read).  The numbers
 * need not outlive the call. */
CLO_API CLO_CHECK clo_status clo_table_wrap_units(clo_matrix values, const uint64_t *units,
                                                  clo_missing missing, clo_table **out,
                                                  clo_error *err);

/* How a number lies in the caller's memory. */
typedef enum clo_element {
    CLO_FLOAT64 = 0,
    CLO_FLOAT32 = 1,
    CLO_INT64 = 2,
    CLO_INT32 = 3,
    CLO_INT16 = 4,
    CLO_INT8 = 5,
    CLO_UINT64 = 6,
    CLO_UINT32 = 7,
    CLO_UINT16 = 8,
    CLO_UINT8 = 9
} clo_element;

/* Numbers in the caller's memory, whatever their type and order, and what is said of them; from
 * clo_view_default.  Cell (i, j) lies at data + i * row_step + j * col_step, aligned or not.
 *
 * With `starts` the rows are sparse instead (CSR): row i has the entries starts[i] to
 * starts[i + 1] - 1, entry e is in column columns[e], which increase within a row, and its value is
 * the e-th of `data`; what is not named is zero.  These arrays must be aligned. */
typedef struct clo_view {
    size_t struct_size;
    const void *data;
    clo_element element;
    size_t rows, cols;
    size_t row_step, col_step; /* bytes from one row, and one column, to the next */
    const void *starts;        /* rows + 1 of them, from 0 on; NULL: dense */
    const void *columns;
    size_t start_bytes, column_bytes; /* of a signed number: 4 or 8 */
    const char *const *names;         /* one a column, copied; NULL: none */
    const uint64_t *units;            /* as in clo_table_wrap_units; NULL: none */
    clo_missing missing;              /* as in clo_table_wrap */
    const uint8_t *unit_key;          /* as in clo_read_options */
    /* With units, a byte a row: not 0 where the row names nobody, and is left out when the data are
     * bounded.  NULL: each row names somebody. */
    const uint8_t *nobody;
} clo_view;

/* The presets; see "Structs that may grow" in cloister.h. */
CLO_API void clo_view_init(clo_view *view, size_t size);
static inline clo_view clo_view_default(void)
{
    clo_view view;
    clo_view_init(&view, sizeof view);
    return view;
}
/* Wraps the memory, which must outlive the table and is not copied: but for sparse rows whose
 * numbers are not doubles and whose starts and columns are not of 4 bytes.  CLO_ARGUMENT where it
 * is no matrix. */
CLO_API CLO_CHECK clo_status clo_table_wrap_view(const clo_view *view, clo_table **out,
                                                 clo_error *err);
CLO_API size_t clo_table_cols(const clo_table *table);
/* How many columns the file has that it was read from, the unit's and those left out among them; 0:
 * it is no file's. */
CLO_API size_t clo_table_file_cols(const clo_table *table);
/* How many rows there are.  Public only where the relation is CLO_REPLACE and a
 * record is one row. */
CLO_API size_t clo_table_rows(const clo_table *table);
/* How many rows have a missing cell that is not filled, and so count for nothing: as secret as the
 * rows, under any relation.  Of a scan it is known; otherwise all rows are looked at. */
CLO_API CLO_CHECK clo_status clo_table_gaps(const clo_table *table, uint64_t *out, clo_error *err);
/* Whether fewer than one row in ten is left.  Where the number of rows is public a job then refuses
 * the run, before anything is spent, however the rows came in. */
CLO_API CLO_CHECK bool clo_gaps_hide_all(uint64_t rows, uint64_t gaps);
/* "age", or NULL where the columns have no names or there is no such column; borrowed. */
CLO_API const char *clo_table_column_name(const clo_table *table, size_t column);
CLO_API bool clo_table_has_unit(const clo_table *table);
/* The schema of the table's columns, in their order, where it was read with one; NULL; borrowed. */
CLO_API const clo_schema *clo_table_schema(const clo_table *table);
/* States the schema of a table in the caller's memory, found by the names of its columns, or by
 * their places where they have none.  A cell of a category of text is the number of its level, from
 * 0, of a boolean 0 or 1, of a date its days and of a time its seconds since 1970; NaN is missing.
 * Kept.  Fails as clo_schema_select does. */
CLO_API CLO_CHECK clo_status clo_table_describe(clo_table *table, const clo_schema *schema,
                                                clo_error *err);
/* Keeps `count` rows from row `first` on, and lets the others go: the part of the rows that one of
 * several ranks answers for.  Rows of a mapped file that are not kept are never read.  What
 * was found out of the file as a whole (its digest, which columns are text) stays.  Of a scan these
 * rows are read once more, now (or for the first time, clo_read_options.rows_later), and later
 * passes read an NPY file from where they begin; text and what is compressed is read from its
 * beginning.
 * CLO_ARGUMENT where there are no such rows, or the scan was bounded already; CLO_UNSUPPORTED for
 * sparse rows in the caller's own memory. */
CLO_API CLO_CHECK clo_status clo_table_keep(clo_table *table, size_t first, size_t count,
                                            clo_error *err);
CLO_API void clo_table_free(clo_table *table); /* wipes the cells it owns */

/* Writes a matrix that the caller has (synthetic data, a truth) to a file: CSV, or NPY where the
 * path ends in ".npy"; "-" is standard output as CSV.  names: one a column, for the header line of
 * a CSV; NULL: there is none.  A file comes into being whole or not at all (CLO_IO). */
CLO_API CLO_CHECK clo_status clo_matrix_write(const char *path, clo_matrix values,
                                              const char *const *names, clo_error *err);

/* Reads a small dense file (a truth) as a matrix that the caller frees with clo_matrix_free.  Fails
 * as clo_table_read does; a cell that is not a finite number is CLO_FORMAT. */
CLO_API CLO_CHECK clo_status clo_matrix_read(const char *path, clo_matrix *out, clo_error *err);
CLO_API void clo_matrix_free(clo_matrix matrix);

/* Sparse rows that all have the same number of entries: entry j of row i is in column
 * columns[i * width + j], counted from 0 and increasing within a row.  The memory is the
 * caller's.  Frozen. */
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
