/*
 * arrow.h - tables from other programs and languages, by the Arrow C data interface: pandas,
 * polars, pyarrow, DuckDB and R give their tables as such a stream.
 *
 * The three structs are that interface's own, word for word; no library of Arrow's is needed.
 */
#ifndef CLOISTER_ARROW_H
#define CLOISTER_ARROW_H

#include <cloister/data.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE
#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE           2
#define ARROW_FLAG_MAP_KEYS_SORTED    4

/* What a column is.  Frozen, by Arrow. */
struct ArrowSchema {
    const char *format;
    const char *name;
    const char *metadata;
    int64_t flags;
    int64_t n_children;
    struct ArrowSchema **children;
    struct ArrowSchema *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};

/* Some rows of it.  Frozen, by Arrow. */
struct ArrowArray {
    int64_t length;
    int64_t null_count;
    int64_t offset;
    int64_t n_buffers;
    int64_t n_children;
    const void **buffers;
    struct ArrowArray **children;
    struct ArrowArray *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};
#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

/* Batches of rows, one after the other.  Frozen, by Arrow. */
struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};
#endif

/* Reads a stream of record batches to its end.  The batches stay as they are, where they are: the
 * table holds them until it is freed, and copies no cell.  A null is a missing cell; a truth value
 * is 0 or 1.  The stream is released, whatever comes of it.
 *
 * Of the options columns, unit, missing, fill and text count, as for a file with a header; a unit
 * may be of numbers or of text, and a null names nobody.  CLO_FORMAT where a column that is taken
 * is not of numbers (text: as the options say), CLO_ARGUMENT where there is no such column, CLO_IO
 * where the stream fails. */
CLO_API CLO_CHECK clo_status clo_table_from_arrow(struct ArrowArrayStream *stream,
                                                  const clo_read_options *options, clo_table **out,
                                                  clo_error *err);

#ifdef __cplusplus
}
#endif
#endif
