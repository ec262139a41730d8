/*
 * made_stream.h - an Arrow stream of a test's own: columns of given formats and buffers, in as many
 * batches as are asked for, which counts what was released.
 */
#ifndef CLO_TEST_MADE_STREAM_H
#define CLO_TEST_MADE_STREAM_H

#include <cloister/arrow.h>
#include <stdlib.h>
#include <string.h>

enum { MADE_COLUMNS = 6, MADE_BATCHES = 3 };

typedef struct made_column {
    const char *name, *format;
    const void *buffers[4]; /* validity, cells or offsets, text */
    int64_t n_buffers, offset;
    const struct made_column *dictionary;
    int64_t length; /* of a dictionary; 0: the batch's */
} made_column;

typedef struct made_stream {
    const made_column *columns;
    int64_t column_count;
    int64_t rows[MADE_BATCHES], offsets[MADE_BATCHES]; /* of each batch */
    int batches;
    const void *row_valid; /* of every batch; NULL: all rows are there */
    const char *format;    /* NULL: "+s" */
    bool no_schema, breaks;
    int given, schemas_out, batches_out; /* handed over and not yet released */
    bool released;
} made_stream;

static inline void free_made_schema(struct ArrowSchema *schema)
{
    for (int64_t j = 0; j < schema->n_children; j++) {
        free(schema->children[j]->dictionary);
        free(schema->children[j]);
    }
    free(schema->children);
    ((made_stream *)schema->private_data)->schemas_out--;
    schema->release = NULL;
}

static inline struct ArrowSchema *made_schema(const made_column *column)
{
    struct ArrowSchema *const schema = calloc(1, sizeof *schema);
    schema->format = column->format;
    schema->name = column->name;
    if (column->dictionary) schema->dictionary = made_schema(column->dictionary);
    return schema;
}

static inline int give_made_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    made_stream *const s = stream->private_data;
    if (s->no_schema) return 5;
    *out = (struct ArrowSchema){ .format = s->format ? s->format : "+s",
                                 .n_children = s->column_count,
                                 .release = free_made_schema,
                                 .private_data = s };
    out->children = calloc((size_t)s->column_count + 1, sizeof *out->children);
    for (int64_t j = 0; j < s->column_count; j++) out->children[j] = made_schema(&s->columns[j]);
    s->schemas_out++;
    return 0;
}

static inline void free_made_batch(struct ArrowArray *batch)
{
    for (int64_t j = 0; j < batch->n_children; j++) {
        free(batch->children[j]->dictionary);
        free(batch->children[j]);
    }
    free(batch->children);
    free(batch->buffers);
    ((made_stream *)batch->private_data)->batches_out--;
    batch->release = NULL;
}

static inline struct ArrowArray *made_array(const made_column *column, int64_t length)
{
    struct ArrowArray *const array = calloc(1, sizeof *array);
    array->length = column->length ? column->length : length;
    array->offset = column->offset;
    array->n_buffers = column->n_buffers ? column->n_buffers : 2;
    array->buffers = (const void **)(uintptr_t)column->buffers;
    if (column->dictionary) array->dictionary = made_array(column->dictionary, 0);
    return array;
}

static inline int give_made_batch(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    made_stream *const s = stream->private_data;
    *out = (struct ArrowArray){ .release = NULL };
    if (s->given == s->batches) return s->breaks ? 5 : 0;
    const int64_t offset = s->offsets[s->given], rows = s->rows[s->given];
    s->given++;
    *out = (struct ArrowArray){ .length = rows,
                                .offset = offset,
                                .n_buffers = 1,
                                .n_children = s->column_count,
                                .release = free_made_batch,
                                .private_data = s };
    out->buffers = calloc(1, sizeof *out->buffers);
    out->buffers[0] = s->row_valid;
    out->children = calloc((size_t)s->column_count + 1, sizeof *out->children);
    for (int64_t j = 0; j < s->column_count; j++)
        out->children[j] = made_array(&s->columns[j], offset + rows);
    s->batches_out++;
    return 0;
}

static inline void release_made_stream(struct ArrowArrayStream *stream)
{
    ((made_stream *)stream->private_data)->released = true;
    stream->release = NULL;
}

static inline struct ArrowArrayStream open_made_stream(made_stream *s)
{
    s->given = 0;
    s->released = false;
    return (struct ArrowArrayStream){ .get_schema = give_made_schema,
                                      .get_next = give_made_batch,
                                      .release = release_made_stream,
                                      .private_data = s };
}

#endif
