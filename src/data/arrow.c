/*
 * arrow.c - a table from an Arrow C stream: batches that lie column by column in the memory of
 * whoever made them, and stay there.
 *
 * Each batch is a block that knows where its columns are; clo_i_table_rows turns cells into doubles
 * when rows are asked for, as for every other table.  What the stream says in words about a failure
 * is not repeated: it is not known whether it holds a value.
 */
#include "base/utf8.h"
#include "data/formats.h"
#include <stdio.h>
#include <string.h>

/* What is needed while a stream is read. */
typedef struct reading {
    const clo_read_options *options;
    struct ArrowSchema schema;
    char **names; /* of all its columns; the table's, once it has them */
    uint32_t *chosen;
    size_t chosen_count;
    size_t unit; /* SIZE_MAX: none */
    uint8_t key[CLO_UNIT_KEY_BYTES];
} reading;

/* ---- what a column is ------------------------------------------------------------------------ */

/* Formats of one letter; the rest of Arrow's types are not numbers. */
static bool element_of(const char *format, clo_element *out)
{
    static const char letters[] = "gflisc" /* doubles to int8 */
                                  "LISC";
    static const clo_element elements[] = { CLO_FLOAT64, CLO_FLOAT32, CLO_INT64,  CLO_INT32,
                                            CLO_INT16,   CLO_INT8,    CLO_UINT64, CLO_UINT32,
                                            CLO_UINT16,  CLO_UINT8 };
    const char *const at = format[0] && !format[1] ? strchr(letters, format[0]) : NULL;
    if (!at) return false;
    *out = elements[at - letters];
    return true;
}

static bool is_format(const struct ArrowSchema *schema, const char *format)
{
    return !schema->dictionary && strcmp(schema->format, format) == 0;
}

static bool is_number(const struct ArrowSchema *schema)
{
    clo_element unused;
    return is_format(schema, "b") || is_format(schema, "n") ||
           (!schema->dictionary && element_of(schema->format, &unused));
}

/* What a type of Arrow's is called; NULL: by its own letters. */
static const char *kind_of(const struct ArrowSchema *schema)
{
    static const struct {
        const char *begins, *kind;
    } kinds[] = { { "u", "text" },
                  { "U", "text" },
                  { "vu", "text" },
                  { "z", "bytes" },
                  { "Z", "bytes" },
                  { "vz", "bytes" },
                  { "td", "dates" },
                  { "tt", "times" },
                  { "ts", "points in time" },
                  { "tD", "durations" },
                  { "ti", "intervals" },
                  { "d:", "decimals" },
                  { "e", "half floats" },
                  { "b", "booleans" },
                  { "w:", "bytes" },
                  { "+", "lists or structs" } };
    if (schema->dictionary) return "categories";
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strncmp(schema->format, kinds[i].begins, strlen(kinds[i].begins)) == 0)
            return kinds[i].kind;
    return NULL;
}

/* What the column is called, and what it holds. */
static void describe(const reading *r, size_t column, char name[CLO_SHOWN_BYTES],
                     char kind[CLO_SHOWN_BYTES])
{
    const struct ArrowSchema *const schema = r->schema.children[column];
    const char *const words = kind_of(schema);
    clo_i_show_name(r->names[column], name);
    clo_i_show_name(words ? words : schema->format, kind);
}

/* Of the persons' column, which is none of the chosen. */
static clo_status no_persons(const reading *r, clo_error *err)
{
    char name[CLO_SHOWN_BYTES], kind[CLO_SHOWN_BYTES];
    describe(r, r->unit, name, kind);
    return clo_i_fail(err, CLO_FORMAT,
                      "the column '%s' cannot name persons (it is of %s): turn it into text or "
                      "whole numbers",
                      name, kind);
}

/* The first of them (a place among the chosen), and which others are none either: who leaves out
 * one at a time is refused for each. */
static clo_status not_numbers(const reading *r, size_t first, clo_error *err)
{
    enum { SHOWN = 4 };
    char shown[CLO_SHOWN_BYTES], kind[CLO_SHOWN_BYTES], others[SHOWN * (CLO_SHOWN_BYTES + 8)];
    size_t count = 0, used = 0;
    others[0] = 0;
    for (size_t j = first + 1; j < r->chosen_count; j++) {
        if (is_number(r->schema.children[r->chosen[j]]) || count++ >= SHOWN) continue;
        clo_i_show_name(r->names[r->chosen[j]], shown);
        used += (size_t)snprintf(others + used, sizeof others - used, "%s'%s'",
                                 count > 1 ? ", " : ", and neither does ", shown);
    }
    if (count > SHOWN)
        snprintf(others + used, sizeof others - used, " and %zu more", count - SHOWN);
    describe(r, r->chosen[first], shown, kind);
    return clo_i_fail(err, CLO_FORMAT,
                      "the column '%s' does not hold numbers (it holds %s)%s: leave %s out, or "
                      "turn %s into numbers",
                      shown, kind, others, count ? "them" : "it", count ? "them" : "it");
}

/* ---- the schema ------------------------------------------------------------------------------ */

static clo_status read_names(reading *r, clo_error *err)
{
    const size_t cols = (size_t)r->schema.n_children;
    CLO_TRY(clo_i_alloc(cols, sizeof *r->names, &r->names, err));
    for (size_t j = 0; j < cols; j++) {
        const char *const name = r->schema.children[j]->name;
        CLO_TRY(clo_i_copy_utf8(name ? name : "", &r->names[j], err));
    }
    return CLO_OK;
}

static clo_status read_schema(reading *r, struct ArrowArrayStream *stream, clo_error *err)
{
    if (stream->get_schema(stream, &r->schema) != 0)
        return clo_i_fail(err, CLO_IO, "the stream does not state its columns");
    if (strcmp(r->schema.format, "+s") != 0)
        return clo_i_fail(err, CLO_FORMAT, "the stream is not one of rows with columns");
    if (r->schema.n_children < 1 || r->schema.n_children > (int64_t)CLO_MOST_COLS)
        return clo_i_fail(err, CLO_FORMAT,
                          "the stream has %lld columns; between 1 and %zu can be read",
                          (long long)r->schema.n_children, CLO_MOST_COLS);
    return read_names(r, err);
}

/* Columns that are no numbers: refused, or noted as text. */
static clo_status settle_types(const reading *r, clo_table *table, clo_error *err)
{
    for (size_t j = 0; j < r->chosen_count; j++) {
        if (is_number(r->schema.children[r->chosen[j]])) continue;
        if (r->options->text == CLO_TEXT_REFUSE) return not_numbers(r, j, err);
        if (r->options->text == CLO_TEXT_LATER && !table->tallies)
            CLO_TRY(clo_i_alloc(table->cols, sizeof *table->tallies, &table->tallies, err));
    }
    return CLO_OK;
}

/* As many as there are rows, once that is known: then the column is text (text_columns.c). */
static void count_text(const reading *r, clo_table *table)
{
    for (size_t j = 0; table->tallies && j < r->chosen_count; j++)
        if (!is_number(r->schema.children[r->chosen[j]])) table->tallies[j].text = table->rows;
}

static clo_status name_columns(reading *r, clo_table *table, clo_error *err)
{
    table->cols = r->chosen_count;
    table->file_cols = (size_t)r->schema.n_children;
    CLO_TRY(clo_i_alloc(table->cols, sizeof *table->names, &table->names, err));
    for (size_t j = 0; j < table->cols; j++)
        CLO_TRY(clo_i_copy_text(r->names[r->chosen[j]], &table->names[j], err));
    CLO_TRY(clo_i_alloc(table->cols, sizeof *table->file_columns, &table->file_columns, err));
    memcpy(table->file_columns, r->chosen, table->cols * sizeof *r->chosen);
    return clo_i_copy_text("the table", &table->file, err);
}

static clo_status choose(reading *r, clo_table *table, clo_error *err)
{
    const clo_read_options *const options = r->options;
    const clo_i_columns columns = { (size_t)r->schema.n_children, r->names, "the table" };
    r->unit = SIZE_MAX;
    if (options->unit)
        CLO_TRY(clo_i_find_column(&columns, options->unit, "unit column", &r->unit, err));
    CLO_TRY(clo_i_choose_columns(&columns, options->columns, r->unit, &r->chosen, &r->chosen_count,
                                 err));
    CLO_TRY(name_columns(r, table, err));
    table->missing = options->missing;
    table->has_unit = options->unit != NULL;
    table->text_later = options->text == CLO_TEXT_LATER;
    CLO_TRY(settle_types(r, table, err));
    if (!options->fill) return CLO_OK;
    return clo_i_read_fill(&columns, r->chosen, r->chosen_count, options->fill, &table->fill, err);
}

/* ---- persons --------------------------------------------------------------------------------- */

typedef struct text {
    const void *bytes;
    size_t count;
} text;

static bool bit_is_set(const uint8_t *bits, size_t i)
{
    return bits[i / 8] >> (i % 8) & 1;
}

static bool is_null(const struct ArrowArray *array, size_t at)
{
    const uint8_t *const valid = array->n_buffers > 0 ? array->buffers[0] : NULL;
    return valid && !bit_is_set(valid, at);
}

/* A short text lies in its view, a long one in the buffer that it names. */
static text viewed_text(const struct ArrowArray *array, size_t at)
{
    const uint8_t *const view = (const uint8_t *)array->buffers[1] + 16 * at;
    int32_t length, buffer, offset;
    memcpy(&length, view, sizeof length);
    if (length <= 12) return (text){ view + 4, (size_t)length };
    memcpy(&buffer, view + 8, sizeof buffer);
    memcpy(&offset, view + 12, sizeof offset);
    return (text){ (const uint8_t *)array->buffers[2 + buffer] + offset, (size_t)length };
}

static text plain_text(const struct ArrowArray *array, size_t at, bool wide)
{
    const uint8_t *const bytes = array->buffers[2];
    const int64_t *const far = array->buffers[1];
    const int32_t *const near = array->buffers[1];
    const size_t from = wide ? (size_t)far[at] : (size_t)near[at];
    const size_t to = wide ? (size_t)far[at + 1] : (size_t)near[at + 1];
    return (text){ bytes + from, to - from };
}

/* The bytes that name a person, some of them in `room`.  False: it names nobody. */
static bool unit_bytes(const struct ArrowSchema *schema, const struct ArrowArray *array, size_t at,
                       char room[CLO_UNIT_NAME_BYTES], text *out)
{
    const char kind = schema->format[0];
    const bool wide = kind == 'U' || kind == 'Z';
    clo_element element = CLO_INT64;
    if (is_null(array, at)) return false;
    if (element_of(schema->format, &element)) {
        const uint8_t *const cell =
            (const uint8_t *)array->buffers[1] + at * clo_i_element_bytes(element);
        const struct ArrowArray *const words = array->dictionary;
        if (!schema->dictionary) {
            *out = (text){ (const uint8_t *)room, clo_i_unit_number(cell, element, room) };
            return out->count > 0;
        }
        const double index = clo_i_element_load(cell, element);
        if (!(index >= 0 && index < (double)words->length)) return false;
        return unit_bytes(schema->dictionary, words, (size_t)words->offset + (size_t)index, room,
                          out);
    }
    *out = kind == 'v' ? viewed_text(array, at) : plain_text(array, at, wide);
    return true;
}

static bool can_name(const struct ArrowSchema *schema)
{
    clo_element unused;
    if (schema->dictionary)
        return element_of(schema->format, &unused) && !schema->dictionary->dictionary &&
               can_name(schema->dictionary);
    static const char *const texts[] = { "u", "U", "z", "Z", "vu", "vz" };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (strcmp(schema->format, texts[i]) == 0) return true;
    return element_of(schema->format, &unused);
}

static clo_status hash_units(const reading *r, const struct ArrowArray *batch, clo_i_block *block,
                             size_t rows_before, clo_error *err)
{
    const struct ArrowSchema *const schema = r->schema.children[r->unit];
    const struct ArrowArray *const array = batch->children[r->unit];
    CLO_TRY(clo_i_alloc(block->rows, CLO_UNIT_BYTES, &block->units, err));
    block->room = block->rows;
    for (size_t i = 0; i < block->rows; i++) {
        const size_t row = (size_t)batch->offset + i;
        char room[CLO_UNIT_NAME_BYTES];
        text name;
        const bool named = !is_null(batch, row) &&
                           unit_bytes(schema, array, (size_t)array->offset + row, room, &name);
        /* A row that is nobody's keeps its zeros, and `bound` leaves it out (bound.T3). */
        if (named)
            clo_i_unit_hash(r->key, name.bytes, name.count, block->units + i * CLO_UNIT_BYTES);
        else if (r->options->missing == CLO_MISSING_REFUSE)
            return clo_i_fail(err, CLO_FORMAT,
                              "row %zu of the table names no person, and missing cells are "
                              "refused: use missing=null",
                              rows_before + i + 1);
    }
    return CLO_OK;
}

/* ---- batches --------------------------------------------------------------------------------- */

/* How long a buffer is, nobody says: what can be seen is that the numbers fit each other. */
static clo_status check_length(const struct ArrowArray *batch, const struct ArrowArray *array,
                               clo_error *err)
{
    if (array->length < 0 || array->offset < 0 || array->length < batch->length ||
        array->length - batch->length < batch->offset)
        return clo_i_fail(err, CLO_FORMAT, "a column of the stream is shorter than its batch");
    return CLO_OK;
}

/* Of the column that names persons, and of the words that its numbers may stand for. */
static clo_status check_names(const struct ArrowSchema *schema, const struct ArrowArray *array,
                              clo_error *err)
{
    clo_element element;
    const bool number = element_of(schema->format, &element), view = schema->format[0] == 'v';
    bool there = array->length >= 0 && array->offset >= 0 &&
                 array->n_buffers >= (number || view ? 2 : 3) && array->buffers;
    if (there && array->length > 0) there = array->buffers[1] != NULL;
    if (there && schema->dictionary) {
        if (array->dictionary) return check_names(schema->dictionary, array->dictionary, err);
        there = false;
    }
    return there ? CLO_OK : clo_i_fail(err, CLO_FORMAT, "the column of persons has no names in it");
}

static clo_status look_at_column(const struct ArrowSchema *schema, const struct ArrowArray *batch,
                                 const struct ArrowArray *array, clo_i_column *out, clo_error *err)
{
    *out = (clo_i_column){ .offset = (size_t)batch->offset + (size_t)array->offset };
    CLO_TRY(check_length(batch, array, err));
    if (!is_number(schema) || is_format(schema, "n")) return CLO_OK;
    if (array->n_buffers < 2 || (!array->buffers[1] && batch->length > 0))
        return clo_i_fail(err, CLO_FORMAT, "a column of the stream has no numbers in it");
    out->valid = array->buffers[0];
    out->cells = array->buffers[1];
    out->bits = is_format(schema, "b");
    if (!out->bits) (void)element_of(schema->format, &out->element);
    return CLO_OK;
}

static clo_status fill_block(const reading *r, const struct ArrowArray *batch, size_t rows_before,
                             clo_i_block *block, clo_error *err)
{
    block->rows = (size_t)batch->length;
    if (batch->n_children != r->schema.n_children)
        return clo_i_fail(err, CLO_FORMAT, "a batch of the stream has other columns than it says");
    if (r->unit != SIZE_MAX) {
        const struct ArrowArray *const persons = batch->children[r->unit];
        CLO_TRY(check_length(batch, persons, err));
        CLO_TRY(check_names(r->schema.children[r->unit], persons, err));
    }
    CLO_TRY(clo_i_alloc(r->chosen_count, sizeof *block->batch_columns, &block->batch_columns, err));
    for (size_t j = 0; j < r->chosen_count; j++)
        CLO_TRY(look_at_column(r->schema.children[r->chosen[j]], batch,
                               batch->children[r->chosen[j]], &block->batch_columns[j], err));
    block->batch_valid = batch->n_buffers > 0 ? batch->buffers[0] : NULL;
    block->batch_offset = (size_t)batch->offset;
    return r->unit == SIZE_MAX ? CLO_OK : hash_units(r, batch, block, rows_before, err);
}

/* Takes the batch over, whatever comes of it. */
static clo_status add_batch(const reading *r, struct ArrowArray *batch, clo_table *table,
                            clo_error *err)
{
    clo_i_block block = { 0 };
    clo_status status = clo_i_alloc(1, sizeof *block.batch, &block.batch, err);
    if (status) {
        batch->release(batch);
        return status;
    }
    *block.batch = *batch; /* moved: the one that is copied from no longer counts */
    if (batch->length < 0 || batch->offset < 0)
        status = clo_i_fail(err, CLO_FORMAT, "a batch of the stream has no length");
    else if ((uint64_t)batch->length > CLO_MOST_ROWS - table->rows)
        status = clo_i_fail(err, CLO_FORMAT,
                            "the stream has more than %zu rows, which is the limit", CLO_MOST_ROWS);
    if (!status) status = fill_block(r, block.batch, table->rows, &block, err);
    if (!status) status = clo_i_table_append(table, &block, err);
    clo_i_block_clear(&block);
    return status;
}

static clo_status read_batches(const reading *r, struct ArrowArrayStream *stream, clo_table *table,
                               clo_error *err)
{
    for (;;) {
        struct ArrowArray batch = { .release = NULL };
        if (stream->get_next(stream, &batch) != 0)
            return clo_i_fail(err, CLO_IO, "the stream ended too early");
        if (!batch.release) return CLO_OK;
        CLO_TRY(add_batch(r, &batch, table, err));
    }
}

static clo_status read_stream(reading *r, struct ArrowArrayStream *stream, clo_table *table,
                              clo_error *err)
{
    CLO_TRY(clo_i_check_missing(r->options->missing, err));
    CLO_TRY(read_schema(r, stream, err));
    CLO_TRY(choose(r, table, err));
    if (r->unit != SIZE_MAX) {
        if (!can_name(r->schema.children[r->unit])) return no_persons(r, err);
        CLO_TRY(clo_i_unit_key(r->options->unit_key, r->key, err));
    }
    CLO_TRY(read_batches(r, stream, table, err));
    count_text(r, table);
    if (r->options->missing != CLO_MISSING_REFUSE) return CLO_OK;
    return clo_i_table_refuse_missing(table, "the table", err);
}

static void end_reading(reading *r, clo_table *table)
{
    const size_t cols = r->names ? (size_t)r->schema.n_children : 0;
    if (table && table->file_cols == cols && cols)
        table->file_names = r->names; /* freed with it */
    else
        for (size_t j = 0; j < cols; j++) clo_i_free(r->names[j]);
    if (!table || !table->file_names) clo_i_free(r->names);
    clo_i_free(r->chosen);
    clo_i_wipe(r->key, sizeof r->key);
    if (r->schema.release) r->schema.release(&r->schema);
}

clo_status clo_table_from_arrow(struct ArrowArrayStream *stream, const clo_read_options *options,
                                clo_table **out, clo_error *err)
{
    clo_read_options full = clo_read_options_default();
    reading r = { .options = &full };
    clo_table *table = NULL;
    clo_status status = clo_i_take_options("clo_read_options", options, &full, sizeof full, err);
    if (!status) status = clo_i_table_new(&table, err);
    if (!status) status = read_stream(&r, stream, table, err);
    end_reading(&r, table);
    if (stream->release) stream->release(stream);
    if (status) {
        clo_table_free(table);
        return status;
    }
    *out = table;
    return CLO_OK;
}
