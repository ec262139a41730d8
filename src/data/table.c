/*
 * table.c - the table itself: what it owns and how its rows are looked at.
 *
 * Cells are turned into doubles when a row is asked for, so that a mapped file stays as it is on
 * the disk and a table in memory is copied out once, block by block, by the one reader that there
 * is (bound).
 */
#include "data/formats.h"
#include "base/key.h"
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { TILE_ROWS = 64 };

/* ---- blocks ---------------------------------------------------------------------------------- */

clo_status clo_i_table_new(clo_table **out, clo_error *err)
{
    return clo_i_alloc(1, sizeof **out, out, err);
}

void clo_i_block_clear(clo_i_block *block)
{
    const size_t entries = block->starts ? block->value_count : 0;
    if (block->borrowed) {
        block->values = NULL;
        block->columns = block->starts = NULL;
    }
    if (block->batch) block->batch->release(block->batch);
    clo_i_free(block->batch);
    clo_i_free(block->batch_columns);
    clo_i_wipe_free(block->values, block->value_count * sizeof *block->values);
    clo_i_wipe_free(block->columns, entries * sizeof *block->columns);
    clo_i_wipe_free(block->starts, block->starts ? (block->room + 1) * sizeof *block->starts : 0);
    clo_i_wipe_free(block->units, block->units ? block->room * CLO_UNIT_BYTES : 0);
    clo_i_wipe_free(block->tallies, block->tally_count * sizeof *block->tallies);
    *block = (clo_i_block){ 0 };
}

/* What was counted in a block goes to the table's counts. */
static clo_status add_tallies(clo_table *table, clo_i_block *block, clo_error *err)
{
    table->bad_rows += block->bad_rows;
    if (!block->tallies) return CLO_OK;
    if (!table->tallies)
        CLO_TRY(clo_i_alloc(table->cols, sizeof *table->tallies, &table->tallies, err));
    clo_i_tally_add(table->tallies, block->tallies, block->tally_count);
    clo_i_wipe_free(block->tallies, block->tally_count * sizeof *block->tallies);
    block->tallies = NULL;
    block->tally_count = 0;
    return CLO_OK;
}

clo_status clo_i_table_reserve(clo_table *table, clo_error *err)
{
    const size_t capacity = 2 * table->block_capacity + 8;
    if (table->block_count < table->block_capacity) return CLO_OK;
    CLO_TRY(
        clo_i_resize(&table->blocks, table->block_capacity, capacity, sizeof *table->blocks, err));
    table->block_capacity = capacity;
    return CLO_OK;
}

clo_status clo_i_table_append(clo_table *table, clo_i_block *block, clo_error *err)
{
    if (block->rows == 0) {
        clo_i_block_clear(block);
        return CLO_OK;
    }
    CLO_TRY(add_tallies(table, block, err));
    CLO_TRY(clo_i_table_reserve(table, err));
    block->first_row = table->rows;
    table->rows += block->rows;
    table->blocks[table->block_count++] = *block;
    *block = (clo_i_block){ 0 };
    return CLO_OK;
}

/* Of the rows that the table has, those in the sink's range; the others count as having come. */
static clo_status keep_range(clo_i_sink *sink, clo_table *table, clo_error *err)
{
    const uint64_t before = sink->rows, after = before + table->rows;
    const uint64_t from = sink->first > before ? sink->first : before;
    const uint64_t to = sink->end < after ? sink->end : after;
    const size_t count = to > from ? (size_t)(to - from) : 0;
    CLO_TRY(clo_table_keep(table, count ? (size_t)(from - before) : 0, count, err));
    sink->rows = after - count;
    return CLO_OK;
}

clo_status clo_i_sink_show(clo_i_sink *sink, clo_table *table, clo_error *err)
{
    clo_status status = CLO_OK;
    if (table->rows == 0) return CLO_OK;
    if (sink->end) CLO_TRY(keep_range(sink, table, err));
    sink->rows += table->rows;
    if (sink->marks) clo_i_table_taint(table, sink->rows_are_secret || table->has_unit);
    if (table->rows) status = sink->take(sink->user, table, err);
    for (size_t i = 0; i < table->block_count; i++) clo_i_block_clear(&table->blocks[i]);
    table->block_count = 0;
    table->rows = 0;
    return status;
}

/* Shows each block of rows that the table owns, until visit says false (NULL: none is shown), and
 * says how many bytes there are in all. */
static size_t each_row_block(const clo_table *table, bool (*visit)(void *block, size_t bytes))
{
    size_t all = table->bytes ? table->byte_count : 0;
    bool more = !visit || visit(table->bytes, all);
    for (size_t i = 0; i < table->block_count; i++) {
        const clo_i_block *const b = &table->blocks[i];
        const size_t values = b->borrowed ? 0 : b->value_count * sizeof *b->values;
        const size_t entries = b->borrowed || !b->starts ? 0 : b->value_count * sizeof *b->columns;
        const size_t units = b->units ? b->room * CLO_UNIT_BYTES : 0;
        all += values + entries + units;
        if (visit && values) more = more && visit(b->values, values);
        if (visit && entries) more = more && visit(b->columns, entries);
        if (visit && units) more = more && visit(b->units, units);
    }
    return all;
}

void clo_i_table_lock(const clo_table *table)
{
    if (clo_i_may_lock(each_row_block(table, NULL))) (void)each_row_block(table, clo_i_lock);
}

bool clo_table_digest(const clo_table *table, uint8_t out[CLO_DIGEST_BYTES])
{
    if (table->has_digest) memcpy(out, table->digest, CLO_DIGEST_BYTES);
    return table->has_digest;
}

void clo_table_free(clo_table *table)
{
    if (!table) return;
    clo_i_wipe(table->digest, sizeof table->digest);
    for (size_t i = 0; i < table->block_count; i++) clo_i_block_clear(&table->blocks[i]);
    clo_i_free(table->blocks);
    for (size_t j = 0; table->names && j < table->cols; j++) clo_i_free(table->names[j]);
    clo_i_free(table->names);
    clo_i_free(table->picked);
    clo_i_free(table->fill);
    clo_i_free(table->file);
    clo_i_free(table->file_columns);
    for (size_t j = 0; table->file_names && j < table->file_cols; j++)
        clo_i_free(table->file_names[j]);
    clo_i_free(table->file_names);
    clo_i_wipe_free(table->tallies, table->tallies ? table->cols * sizeof *table->tallies : 0);
    clo_i_wipe_free(table->bytes, table->byte_count);
    if (table->mapping) munmap(table->mapping, table->mapping_bytes);
    clo_i_recipe_release(table->recipe);
    clo_schema_free(table->schema);
    clo_i_free(table);
}

/* The last block that starts at this row or before it. */
static const clo_i_block *block_of(const clo_table *table, size_t row)
{
    size_t low = 0, high = table->block_count;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (table->blocks[middle].first_row <= row)
            low = middle;
        else
            high = middle;
    }
    return &table->blocks[low];
}

/* ---- dense rows ------------------------------------------------------------------------------ */

#define EACH_ELEMENT(X)                                                                            \
    X(CLO_FLOAT64, double)                                                                         \
    X(CLO_FLOAT32, float)                                                                          \
    X(CLO_INT64, int64_t)                                                                          \
    X(CLO_INT32, int32_t)                                                                          \
    X(CLO_INT16, int16_t)                                                                          \
    X(CLO_INT8, int8_t)                                                                            \
    X(CLO_UINT64, uint64_t)                                                                        \
    X(CLO_UINT32, uint32_t)                                                                        \
    X(CLO_UINT16, uint16_t)                                                                        \
    X(CLO_UINT8, uint8_t)

/* A number of the type, wherever it lies: memory need not be aligned. */
#define LOAD(kind, type)                                                                           \
    case kind: {                                                                                   \
        type value;                                                                                \
        memcpy(&value, cell, sizeof value);                                                        \
        return (double)value;                                                                      \
    }

static inline double load_cell(const uint8_t *cell, clo_element element)
{
    switch (element) {
        EACH_ELEMENT(LOAD)
    }
    return NAN;
}

#define BYTES(kind, type)                                                                          \
    case kind:                                                                                     \
        return sizeof(type);

size_t clo_i_element_bytes(clo_element element)
{
    switch (element) {
        EACH_ELEMENT(BYTES)
    }
    return 0;
}

double clo_i_element_load(const uint8_t *cell, clo_element element)
{
    return load_cell(cell, element);
}

/* `count` cells, `step` bytes apart, to places `out_step` doubles apart.  The element is a constant
 * where this is called, so that each element has a loop of its own. */
static inline void load_run(const uint8_t *cell, size_t step, size_t count, clo_element element,
                            double *out, size_t out_step)
{
    for (size_t i = 0; i < count; i++, cell += step, out += out_step) {
        const double value = load_cell(cell, element);
        *out = isfinite(value) ? value : NAN;
    }
}

/* The usual case. */
CLO_WIDE static void load_doubles(const uint8_t *cell, size_t count, double *out)
{
    for (size_t i = 0; i < count; i++, cell += sizeof(double)) {
        double value;
        memcpy(&value, cell, sizeof value);
        out[i] = fabs(value) <= DBL_MAX ? value : NAN;
    }
}

#define RUN(kind, type)                                                                            \
    case kind:                                                                                     \
        load_run(cell, step, count, kind, out, out_step);                                          \
        break;

static void load_cells(const uint8_t *cell, size_t step, size_t count, clo_element element,
                       double *out, size_t out_step)
{
    if (element == CLO_FLOAT64 && out_step == 1 && step == sizeof(double)) {
        load_doubles(cell, count, out);
        return;
    }
    switch (element) {
        EACH_ELEMENT(RUN)
    }
}

/* In the order in which memory lies: all at once where the rows follow each other without a gap,
 * row by row, or down the columns, some rows at a time, so that a row that is read for one column
 * is still in the cache for the next. */
static void load_rows(const clo_table *table, const uint8_t *cells, size_t count, double *out)
{
    const size_t cols = table->cols, row_step = table->row_step, col_step = table->col_step;
    const size_t tile = col_step > row_step ? count : TILE_ROWS;
    if (!table->picked && row_step == cols * col_step) {
        load_cells(cells, col_step, count * cols, table->element, out, 1);
        return;
    }
    for (size_t i = 0; i < count; i += tile) {
        const size_t here = count - i < tile ? count - i : tile;
        for (size_t j = 0; j < cols; j++) {
            const size_t column = table->picked ? table->picked[j] : j;
            load_cells(cells + i * row_step + column * col_step, row_step, here, table->element,
                       out + i * cols + j, cols);
        }
    }
}

static bool bit_is_set(const uint8_t *bits, size_t i)
{
    return bits[i / 8] >> (i % 8) & 1;
}

/* A column of a batch that lies in somebody else's memory. */
static void load_column(const clo_i_column *column, size_t first, size_t count, double *out,
                        size_t out_step)
{
    const size_t from = column->offset + first, bytes = clo_i_element_bytes(column->element);
    if (column->cells && !column->bits)
        load_cells(column->cells + from * bytes, bytes, count, column->element, out, out_step);
    for (size_t i = 0; i < count; i++) {
        double *const cell = out + i * out_step;
        if (column->bits) *cell = bit_is_set(column->cells, from + i);
        if (!column->cells || (column->valid && !bit_is_set(column->valid, from + i))) *cell = NAN;
    }
}

/* Some rows at a time, so that what is written for one column is still in the cache for the next.
 */
static void load_batch(const clo_table *table, const clo_i_block *block, size_t skip, size_t count,
                       double *out)
{
    const size_t cols = table->cols;
    for (size_t i = 0; i < count; i += TILE_ROWS) {
        const size_t here = count - i < TILE_ROWS ? count - i : TILE_ROWS;
        for (size_t j = 0; j < cols; j++)
            load_column(&block->batch_columns[j], skip + i, here, out + i * cols + j, cols);
        for (size_t r = 0; block->batch_valid && r < here; r++)
            for (size_t j = 0; j < cols; j++)
                if (!bit_is_set(block->batch_valid, block->batch_offset + skip + i + r))
                    out[(i + r) * cols + j] = NAN;
    }
}

static void spread_row(const clo_table *table, const clo_i_block *block, size_t row, double *out)
{
    memset(out, 0, table->cols * sizeof *out);
    for (uint32_t e = block->starts[row]; e < block->starts[row + 1]; e++)
        out[block->columns[e]] = block->values[e];
}

void clo_i_table_rows(const clo_table *table, size_t first, size_t count, double *out)
{
    while (count > 0) {
        const clo_i_block *const block = block_of(table, first);
        const size_t skip = first - block->first_row;
        const size_t here = block->rows - skip < count ? block->rows - skip : count;
        if (table->sparse)
            for (size_t i = 0; i < here; i++)
                spread_row(table, block, skip + i, out + i * table->cols);
        else if (block->batch)
            load_batch(table, block, skip, here, out);
        else
            load_rows(table, block->cells + skip * table->row_step, here, out);
        out += here * table->cols;
        first += here;
        count -= here;
    }
}

const double *clo_i_table_dense(const clo_table *table)
{
    const bool plain = !table->sparse && !table->picked && table->element == CLO_FLOAT64 &&
                       table->block_count == 1 && !table->blocks[0].batch &&
                       table->col_step == sizeof(double) &&
                       table->row_step == table->cols * sizeof(double);
    if (!plain || (uintptr_t)table->blocks[0].cells % _Alignof(double) != 0) return NULL;
    return (const double *)(const void *)table->blocks[0].cells;
}

/* ---- the rest of what a table says ----------------------------------------------------------- */

clo_status clo_table_describe(clo_table *table, const clo_schema *schema, clo_error *err)
{
    clo_schema *own = NULL;
    if (!table || !schema)
        return clo_i_fail(err, CLO_ARGUMENT, "a table and a schema must be given");
    if (table->sparse || table->recipe || table->file_cols)
        return clo_i_fail(err, CLO_UNSUPPORTED,
                          "a schema is stated for dense rows in memory; a file is read with one");
    CLO_TRY(clo_schema_select(schema, (const char *const *)table->names, table->cols, &own, err));
    clo_schema_free(table->schema);
    table->schema = own;
    return CLO_OK;
}

const clo_schema *clo_table_schema(const clo_table *table)
{
    return table->schema;
}

size_t clo_table_cols(const clo_table *table)
{
    return table->cols;
}

size_t clo_table_file_cols(const clo_table *table)
{
    return table->file_cols;
}

size_t clo_table_rows(const clo_table *table)
{
    return table->rows;
}

const char *clo_table_column_name(const clo_table *table, size_t column)
{
    return table->names && column < table->cols ? table->names[column] : NULL;
}

bool clo_table_has_unit(const clo_table *table)
{
    return table->has_unit;
}

clo_missing clo_i_table_missing(const clo_table *table)
{
    return table->missing;
}

const double *clo_i_table_fill(const clo_table *table)
{
    return table->fill;
}

clo_file_facts clo_i_table_file(const clo_table *table)
{
    return (clo_file_facts){ .format = table->format,
                             .packing = table->packing,
                             .delimiter = table->delimiter,
                             .cols = table->file_cols,
                             .names = table->file_names };
}

size_t clo_i_table_file_column(const clo_table *table, size_t column)
{
    if (table->file_columns) return table->file_columns[column];
    return table->picked ? table->picked[column] : column;
}

clo_status clo_i_table_choose(const clo_table *table, const char *list, bool *chosen,
                              clo_error *err)
{
    const clo_i_columns columns = { table->file_cols, table->file_names, table->file };
    uint32_t *found = NULL;
    bool *marked = NULL;
    size_t count;
    CLO_TRY(clo_i_alloc(table->file_cols, sizeof *marked, &marked, err));
    const clo_status status = clo_i_choose_columns(&columns, list, SIZE_MAX, &found, &count, err);
    for (size_t i = 0; !status && i < count; i++) marked[found[i]] = true;
    for (size_t j = 0; !status && j < table->cols; j++)
        chosen[j] = marked[clo_i_table_file_column(table, j)];
    clo_i_free(found);
    clo_i_free(marked);
    return status;
}

bool clo_i_table_is_sparse(const clo_table *table)
{
    return table->sparse;
}

bool clo_i_table_text_later(const clo_table *table)
{
    return table->text_later;
}

bool clo_i_table_guessed_cols(const clo_table *table)
{
    return table->guessed_cols;
}

void clo_i_table_sparse_row(const clo_table *table, size_t row, const uint32_t **columns,
                            const double **values, size_t *count)
{
    const clo_i_block *const block = block_of(table, row);
    const uint32_t *const starts = block->starts + (row - block->first_row);
    *columns = block->columns + starts[0];
    *values = block->values + starts[0];
    *count = starts[1] - starts[0];
}

size_t clo_i_table_entries(const clo_table *table)
{
    size_t entries = 0;
    for (size_t i = 0; table->sparse && i < table->block_count; i++)
        entries += table->blocks[i].starts[table->blocks[i].rows];
    return entries;
}

const uint8_t *clo_i_table_unit(const clo_table *table, size_t row)
{
    if (!table->has_unit) return NULL;
    const clo_i_block *const block = block_of(table, row);
    return block->units + (row - block->first_row) * CLO_UNIT_BYTES;
}

/* With the page that the range begins in, or one would stay for every range; who still reads it has
 * it again from the file.  Ranges shorter than a page are too many to tell the system of each. */
static void forget_bytes(const uint8_t *from, const uint8_t *to)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t start = (uintptr_t)from / page * page, stop = (uintptr_t)to / page * page;
    if ((uintptr_t)(to - from) >= page) (void)madvise((void *)start, stop - start, MADV_DONTNEED);
}

void clo_i_table_forget(const clo_table *table, size_t first, size_t count)
{
    if (!table->mapping || count == 0) return;
    const uint8_t *const cells = table->blocks[0].cells + first * table->row_step;
    if (table->col_step <= table->row_step) {
        forget_bytes(cells, cells + count * table->row_step);
        return;
    }
    for (size_t j = 0; j < table->cols; j++) {
        const size_t column = table->picked ? table->picked[j] : j;
        const uint8_t *const run = cells + column * table->col_step;
        forget_bytes(run, run + count * table->row_step);
    }
}

/* ---- units ----------------------------------------------------------------------------------- */

clo_status clo_i_unit_key(const uint8_t *told, uint8_t key[CLO_UNIT_KEY_BYTES], clo_error *err)
{
    if (sodium_init() < 0)
        return clo_i_fail(err, CLO_ENTROPY, "the operating system provides no secure randomness");
    if (told) {
        memcpy(key, told, CLO_UNIT_KEY_BYTES);
        clo_i_key_told(key, CLO_UNIT_KEY_BYTES);
    } else if (!clo_i_key_draw(CLO_KEY_PERSONS, key, CLO_UNIT_KEY_BYTES)) {
        return clo_i_fail(err, CLO_ENTROPY, "the operating system provides no secure randomness");
    } else {
        clo_i_key_take(CLO_KEY_PERSONS, key, CLO_UNIT_KEY_BYTES);
    }
    return CLO_OK;
}

void clo_i_unit_hash(const uint8_t key[CLO_UNIT_KEY_BYTES], const void *bytes, size_t count,
                     uint8_t out[CLO_UNIT_BYTES])
{
    clo_i_key_know(key, CLO_UNIT_KEY_BYTES);
    (void)crypto_generichash(out, CLO_UNIT_BYTES, bytes, count, key, CLO_UNIT_KEY_BYTES);
}

size_t clo_i_unit_number(const uint8_t *cell, clo_element element, char out[CLO_UNIT_NAME_BYTES])
{
    const double real = load_cell(cell, element);
    const bool whole = fabs(real) < 0x1p53; /* where every integer is a double */
    int64_t far;
    if (isnan(real)) return 0;
    if (element == CLO_INT64 || element == CLO_UINT64) {
        memcpy(&far, cell, sizeof far);
        return (size_t)(element == CLO_INT64
                            ? snprintf(out, CLO_UNIT_NAME_BYTES, "%" PRId64, far)
                            : snprintf(out, CLO_UNIT_NAME_BYTES, "%" PRIu64, (uint64_t)far));
    }
    if (whole && real == floor(real)) /* and -0 is 0 */
        return (size_t)snprintf(out, CLO_UNIT_NAME_BYTES, "%" PRId64, (int64_t)real);
    return (size_t)(clo_i_write_number(real, out) - out);
}
