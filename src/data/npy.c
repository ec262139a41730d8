/*
 * npy.c - the reader of NPY, the file of one NumPy array.
 *
 *   magic | version | length | {'descr': '<f8', 'fortran_order': False, 'shape': (3, 2), } | data
 *
 * The header is a Python dictionary on paper; here it is a fixed grammar of three keys, and what
 * does not fit it is refused: nothing is evaluated, objects are never unpickled.
 *
 * A file is mapped and stays on the disk; cells become doubles when rows are asked for.  A mapped
 * file must not shrink while the table lives: reading behind its new end is a SIGBUS, which a
 * library cannot turn into a status.  The length is checked against the header when it is opened.
 * Where rows are shown and not kept (a run larger than memory) the file is therefore read, a part
 * at a time, and one that shrinks is just shorter.
 */
#include "data/formats.h"
#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/mman.h>
#ifdef CLO_TAINT
#include <valgrind/memcheck.h>
#endif

enum { MAGIC_BYTES = 6, CHUNK_BYTES = 1 << 20, SCAN_CELLS = 1 << 15 };

typedef struct npy {
    const char *name; /* of the source */
    clo_element element;
    size_t item; /* bytes of an element */
    bool fortran;
    size_t rows, cols;
    size_t header; /* bytes before the data */
    size_t data;   /* bytes of data */
} npy;

/* ---- the header ------------------------------------------------------------------------------ */

typedef struct cursor {
    const char *at, *end;
} cursor;

static void skip_space(cursor *c)
{
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\t' || *c->at == '\n' || *c->at == '\r'))
        c->at++;
}

static bool accept(cursor *c, char wanted)
{
    skip_space(c);
    if (c->at == c->end || *c->at != wanted) return false;
    c->at++;
    return true;
}

static bool accept_word(cursor *c, const char *word)
{
    const size_t length = strlen(word);
    skip_space(c);
    if ((size_t)(c->end - c->at) < length || memcmp(c->at, word, length) != 0) return false;
    c->at += length;
    return true;
}

/* 'text' or "text" without escapes, shorter than 16. */
static bool read_string(cursor *c, char out[16])
{
    size_t length = 0;
    const char quote = accept(c, '\'') ? '\'' : '"';
    if (quote == '"' && !accept(c, '"')) return false;
    for (; c->at < c->end && *c->at != quote; c->at++) {
        if (length == 15 || *c->at == '\\' || (unsigned char)*c->at < 32) return false;
        out[length++] = *c->at;
    }
    out[length] = 0;
    if (c->at == c->end) return false;
    c->at++;
    return true;
}

static bool read_size(cursor *c, size_t *out)
{
    size_t value = 0;
    skip_space(c);
    const char *const first = c->at;
    for (; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++)
        if (!clo_i_multiply(value, 10, &value) || !clo_i_add(value, (size_t)(*c->at - '0'), &value))
            return false;
    if (c->at == first) return false;
    if (c->at < c->end && *c->at == 'L') c->at++; /* as Python 2 wrote it */
    *out = value;
    return true;
}

static clo_status refuse_type(const npy *f, const char *type, clo_error *err)
{
    char shown[CLO_SHOWN_BYTES];
    if (strchr(type, 'O'))
        return clo_i_fail(err, CLO_FORMAT,
                          "%s holds Python objects, which cloister does not read: save it as "
                          "float64",
                          f->name);
    if (type[0] == '>')
        return clo_i_fail(err, CLO_FORMAT,
                          "%s is big-endian: save it as little-endian, astype('<f8')", f->name);
    clo_i_show_name(type, shown);
    return clo_i_fail(err, CLO_FORMAT,
                      "%s has cells of type '%s': save it as float64, float32, int32, int64 or "
                      "uint8",
                      f->name, shown);
}

static clo_status read_type(npy *f, cursor *c, clo_error *err)
{
    static const struct {
        const char *type;
        clo_element element;
        size_t item;
    } known[] = { { "f8", CLO_FLOAT64, 8 },
                  { "f4", CLO_FLOAT32, 4 },
                  { "i8", CLO_INT64, 8 },
                  { "i4", CLO_INT32, 4 },
                  { "u1", CLO_UINT8, 1 } };
    char type[16];
    skip_space(c);
    if (c->at < c->end && *c->at == '[')
        return clo_i_fail(err, CLO_FORMAT,
                          "%s has named fields (a structured type): save a plain matrix", f->name);
    if (!read_string(c, type))
        return clo_i_fail(err, CLO_FORMAT, "%s: the NPY header has no readable descr", f->name);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const bool order =
            type[0] == '<' || type[0] == '=' || (type[0] == '|' && known[i].item == 1);
        if (!order || strcmp(type + 1, known[i].type) != 0) continue;
        f->element = known[i].element;
        f->item = known[i].item;
        return CLO_OK;
    }
    return refuse_type(f, type, err);
}

/* (n,) is one column, (n, d) is a matrix. */
static clo_status read_shape(npy *f, cursor *c, clo_error *err)
{
    size_t shape[2] = { 0, 1 }, count = 0;
    bool closed = false;
    if (!accept(c, '('))
        return clo_i_fail(err, CLO_FORMAT, "%s: the NPY header has no readable shape", f->name);
    while (!(closed = accept(c, ')')) && count < 2) {
        if (!read_size(c, &shape[count]))
            return clo_i_fail(err, CLO_FORMAT, "%s: the shape in the NPY header is impossible",
                              f->name);
        count++;
        if (!accept(c, ',')) {
            closed = accept(c, ')');
            break;
        }
    }
    if (!closed || count == 0)
        return clo_i_fail(err, CLO_FORMAT, "%s is not a matrix: its shape must be (n,) or (n, d)",
                          f->name);
    f->rows = shape[0];
    f->cols = shape[1];
    return CLO_OK;
}

static clo_status read_order(npy *f, cursor *c, clo_error *err)
{
    f->fortran = accept_word(c, "True");
    if (f->fortran || accept_word(c, "False")) return CLO_OK;
    return clo_i_fail(err, CLO_FORMAT,
                      "%s: fortran_order in the NPY header is neither True nor False", f->name);
}

static clo_status read_dictionary(npy *f, cursor *c, clo_error *err)
{
    static const struct {
        const char *key;
        clo_status (*read)(npy *f, cursor *c, clo_error *err);
    } entries[] = { { "descr", read_type },
                    { "fortran_order", read_order },
                    { "shape", read_shape } };
    bool seen[3] = { false }, closed = false;
    bool more = accept(c, '{');
    while (more && !(closed = accept(c, '}'))) {
        char key[16];
        size_t i = 0;
        if (!read_string(c, key) || !accept(c, ':')) break;
        while (i < 3 && strcmp(key, entries[i].key) != 0) i++;
        if (i == 3 || seen[i]) break;
        CLO_TRY(entries[i].read(f, c, err));
        seen[i] = true;
        more = accept(c, ',');
        if (!more) closed = accept(c, '}');
    }
    skip_space(c);
    if (closed && seen[0] && seen[1] && seen[2] && c->at == c->end) return CLO_OK;
    return clo_i_fail(err, CLO_FORMAT,
                      "%s: the NPY header is not a dictionary of descr, fortran_order and shape",
                      f->name);
}

static clo_status check_shape(npy *f, clo_error *err)
{
    size_t cells;
    if (f->cols == 0 || f->cols > CLO_MOST_COLS)
        return clo_i_fail(err, CLO_FORMAT, "%s has %zu columns; between 1 and %zu can be read",
                          f->name, f->cols, CLO_MOST_COLS);
    if (f->rows > CLO_MOST_ROWS)
        return clo_i_fail(err, CLO_FORMAT, "%s has more than %zu rows, which is the limit", f->name,
                          CLO_MOST_ROWS);
    if (!clo_i_multiply(f->rows, f->cols, &cells) || !clo_i_multiply(cells, f->item, &f->data))
        return clo_i_fail(err, CLO_FORMAT, "%s is larger than this machine's memory", f->name);
    return CLO_OK;
}

static clo_status read_header(npy *f, clo_i_source *source, clo_error *err)
{
    CLO_TRY(clo_i_source_fill(source, CLO_HEADER_BYTES + 16, err));
    const uint8_t *const bytes = (const uint8_t *)source->bytes + source->start;
    const size_t held = source->end - source->start;
    if (held < MAGIC_BYTES + 4 || memcmp(bytes, "\x93NUMPY", MAGIC_BYTES) != 0)
        return clo_i_fail(err, CLO_FORMAT, "%s is not an NPY file", f->name);
    const unsigned version = bytes[MAGIC_BYTES];
    if (version < 1 || version > 3)
        return clo_i_fail(err, CLO_FORMAT, "%s is NPY version %u; versions 1 to 3 can be read",
                          f->name, version);
    const size_t start = version == 1 ? MAGIC_BYTES + 4 : MAGIC_BYTES + 6;
    uint32_t length = bytes[MAGIC_BYTES + 2] | (uint32_t)bytes[MAGIC_BYTES + 3] << 8;
    if (version > 1 && held >= start)
        length |= (uint32_t)bytes[MAGIC_BYTES + 4] << 16 | (uint32_t)bytes[MAGIC_BYTES + 5] << 24;
    if (length > CLO_HEADER_BYTES)
        return clo_i_fail(err, CLO_FORMAT, "%s: the NPY header is longer than %zu bytes", f->name,
                          CLO_HEADER_BYTES);
    if (held < start + length)
        return clo_i_fail(err, CLO_FORMAT, "%s ends within its NPY header", f->name);
    cursor c = { (const char *)bytes + start, (const char *)bytes + start + length };
    CLO_TRY(read_dictionary(f, &c, err));
    f->header = start + length;
    return check_shape(f, err);
}

/* ---- the data -------------------------------------------------------------------------------- */

static clo_status wrong_length(const npy *f, const char *what, clo_error *err)
{
    return clo_i_fail(err, CLO_FORMAT,
                      "%s is %s than its header says: %zu x %zu cells of %zu bytes", f->name, what,
                      f->rows, f->cols, f->item);
}

static clo_status map_data(const npy *f, clo_i_source *source, clo_table *table,
                           const uint8_t **cells, clo_error *err)
{
    const uint64_t data = source->size > f->header ? source->size - f->header : 0;
    if (data != f->data) return wrong_length(f, data < f->data ? "shorter" : "longer", err);
    const size_t bytes = (size_t)source->size;
    void *const mapping = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, source->file, 0);
    if (mapping == MAP_FAILED)
        return clo_i_fail(err, CLO_IO, "%s cannot be mapped: %s", f->name, strerror(errno));
    table->mapping = mapping;
    table->mapping_bytes = bytes;
    *cells = (const uint8_t *)mapping + f->header;
    if (source->taken < source->size) /* what came before lies in the window */
        clo_i_source_digest_more(source, (const uint8_t *)mapping + source->taken,
                                 bytes - (size_t)source->taken);
    return CLO_OK;
}

/* Makes room for `wanted` bytes, by doubling: what the header says is believed only as far as
 * bytes come. */
static clo_status reserve(const npy *f, clo_table *table, size_t wanted, clo_error *err)
{
    size_t capacity = table->byte_count ? table->byte_count : CHUNK_BYTES;
    if (wanted <= table->byte_count) return CLO_OK;
    while (capacity < wanted) capacity *= 2;
    if (capacity > f->data) capacity = f->data;
    CLO_TRY(clo_i_resize(&table->bytes, table->byte_count, capacity, 1, err));
    table->byte_count = capacity;
    return CLO_OK;
}

static clo_status copy_data(const npy *f, clo_i_source *source, clo_table *table,
                            const uint8_t **cells, clo_error *err)
{
    size_t done = 0;
    source->start += f->header;
    for (;;) {
        CLO_TRY(clo_i_source_fill(source, CHUNK_BYTES, err));
        const size_t held = source->end - source->start;
        if (held == 0) break;
        if (held > f->data - done) return wrong_length(f, "longer", err);
        CLO_TRY(reserve(f, table, done + held, err));
        memcpy(table->bytes + done, source->bytes + source->start, held);
        done += held;
        source->start = source->end;
    }
    if (done < f->data) return wrong_length(f, "shorter", err);
    *cells = table->bytes;
    return CLO_OK;
}

/* ---- columns and units ----------------------------------------------------------------------- */

/* before: rows of the file that were shown already. */
static clo_status hash_units(const npy *f, const clo_i_source *source, const clo_table *table,
                             size_t unit, bool refuse, uint64_t before, clo_i_block *block,
                             clo_error *err)
{
    const bool anonymous = source->sink && source->sink->anonymous;
    uint8_t key[CLO_UNIT_KEY_BYTES];
    clo_status status = CLO_OK;
    if (!anonymous) CLO_TRY(clo_i_alloc(block->rows, CLO_UNIT_BYTES, &block->units, err));
    CLO_TRY(clo_i_source_unit_key(source, key, err));
    for (size_t i = 0; (!anonymous || refuse) && i < block->rows && status == CLO_OK; i++) {
        char name[CLO_UNIT_NAME_BYTES];
        const uint8_t *const cell = block->cells + i * table->row_step + unit * table->col_step;
        const size_t length = clo_i_unit_number(cell, f->element, name);
        if (length == 0 && refuse)
            status = clo_i_fail(err, CLO_FORMAT,
                                "%s, row %llu, column %zu: the unit is not a number, and missing "
                                "cells are refused",
                                f->name, (unsigned long long)before + i + 1, unit + 1);
        /* A row that is nobody's keeps its zeros, and `bound` leaves it out (bound.T3). */
        if (length && !anonymous)
            clo_i_unit_hash(key, name, length, block->units + i * CLO_UNIT_BYTES);
    }
    clo_i_wipe(key, sizeof key);
    return status;
}

static clo_status refuse_bad_cells(const npy *f, const clo_table *table, uint64_t before,
                                   clo_error *err)
{
    const size_t cols = table->cols, step = cols < SCAN_CELLS ? SCAN_CELLS / cols : 1;
    double *cells = NULL;
    clo_status status = CLO_OK;
    if (f->element != CLO_FLOAT64 && f->element != CLO_FLOAT32) return CLO_OK;
    CLO_TRY(clo_i_alloc(step * cols, sizeof *cells, &cells, err));
    for (size_t first = 0; first < table->rows && status == CLO_OK; first += step) {
        const size_t count = table->rows - first < step ? table->rows - first : step;
        clo_i_table_rows(table, first, count, cells);
        for (size_t i = 0; i < count * cols && status == CLO_OK; i++) {
            const size_t column = table->picked ? table->picked[i % cols] : i % cols;
            if (isnan(cells[i]))
                status = clo_i_fail(err, CLO_FORMAT,
                                    "%s, row %llu, column %zu: not a finite number, and missing "
                                    "cells are refused",
                                    f->name, (unsigned long long)before + first + i / cols + 1,
                                    column + 1);
        }
        clo_i_table_forget(table, first, count);
    }
    clo_i_wipe_free(cells, step * cols * sizeof *cells);
    return status;
}

static clo_status choose(const npy *f, const clo_read_options *options, clo_table *table,
                         size_t *unit, clo_error *err)
{
    const clo_i_columns columns = { f->cols, NULL, f->name };
    *unit = SIZE_MAX;
    table->cols = table->file_cols = f->cols;
    table->element = f->element;
    table->row_step = f->fortran ? f->item : f->cols * f->item;
    table->col_step = f->fortran ? f->rows * f->item : f->item;
    if (options->unit)
        CLO_TRY(clo_i_find_column(&columns, options->unit, "unit column", unit, err));
    table->has_unit = options->unit != NULL;
    if (options->columns || options->unit)
        CLO_TRY(clo_i_choose_columns(&columns, options->columns, *unit, &table->picked,
                                     &table->cols, err));
    if (!options->fill) return CLO_OK;
    return clo_i_read_fill(&columns, table->picked, table->cols, options->fill, &table->fill, err);
}

/* Rows become a block of the table, whose cells lie where the reader has put them. */
typedef struct rows_way {
    size_t unit; /* its column; SIZE_MAX: none */
    bool refuse;
} rows_way;

static clo_status add_rows(const npy *f, const clo_i_source *source, const rows_way *way,
                           const uint8_t *cells, size_t rows, uint64_t before, clo_table *table,
                           clo_error *err)
{
    clo_i_block block = { .cells = cells, .rows = rows, .room = rows };
    clo_status status = CLO_OK;
    if (way->unit != SIZE_MAX)
        status = hash_units(f, source, table, way->unit, way->refuse, before, &block, err);
    if (status == CLO_OK) status = clo_i_table_append(table, &block, err);
    if (status == CLO_OK && way->refuse) status = refuse_bad_cells(f, table, before, err);
    clo_i_block_clear(&block);
    return status;
}

/* ---- rows that are not kept ------------------------------------------------------------------ */

static clo_status show_rows(const npy *f, clo_i_source *source, const rows_way *way,
                            const uint8_t *cells, size_t rows, uint64_t before, clo_table *table,
                            clo_error *err)
{
    CLO_TRY(add_rows(f, source, way, cells, rows, before, table, err));
#ifdef CLO_TAINT
    if (source->sink->marks) (void)VALGRIND_MAKE_MEM_UNDEFINED(cells, rows * f->cols * f->item);
#endif
    return clo_i_sink_show(source->sink, table, err);
}

/* How many rows a part has: as many as there is room for, and at least one. */
static size_t part_rows(const npy *f, const clo_i_source *source, const clo_table *table)
{
    const bool persons = table->has_unit && !source->sink->anonymous;
    const size_t row = f->cols * f->item + (persons ? CLO_UNIT_BYTES : 0);
    const size_t fit = source->sink->matrix_bytes / row;
    return fit ? fit : 1;
}

/* Row after row, out of the window: compressed or not. */
static clo_status show_by_rows(const npy *f, clo_i_source *source, const rows_way *way,
                               clo_table *table, clo_error *err)
{
    const size_t row = f->cols * f->item, wanted = part_rows(f, source, table) * row;
    uint64_t done = 0;
    source->start += f->header;
    for (;;) {
        CLO_TRY(clo_i_source_fill(source, wanted, err));
        const size_t held = source->end - source->start;
        size_t rows = held / row;
        if (held == 0) break;
        if (held > (f->rows - done) * row) return wrong_length(f, "longer", err);
        if (rows > wanted / row) rows = wanted / row;
        if (rows == 0) return wrong_length(f, "shorter", err);
        CLO_TRY(show_rows(f, source, way, (const uint8_t *)source->bytes + source->start, rows,
                          done, table, err));
        source->start += rows * row;
        done += rows;
    }
    return done < f->rows ? wrong_length(f, "shorter", err) : CLO_OK;
}

/* All bytes in their order, for the digest alone: they were looked at, or will be, in another. */
static clo_status digest_rest(clo_i_source *source, clo_error *err)
{
    clo_i_pass_hash *const pass_hash = source->pass_hash;
    clo_status status = CLO_OK;
    source->pass_hash = NULL;
    do {
        source->start = source->end;
        status = clo_i_source_fill(source, CHUNK_BYTES, err);
    } while (status == CLO_OK && source->end > source->start);
    source->pass_hash = pass_hash;
    return status;
}

/* Some rows, or some rows of every column. */
static clo_status read_some_rows(const npy *f, clo_i_source *source, uint64_t first, size_t rows,
                                 uint8_t *to, clo_error *err)
{
    const size_t row = f->cols * f->item;
    if (!f->fortran)
        return clo_i_source_read_at(source, f->header + first * row, to, rows * row, err);
    for (size_t j = 0; j < f->cols; j++)
        CLO_TRY(clo_i_source_read_at(source, f->header + (j * f->rows + first) * f->item,
                                     to + j * rows * f->item, rows * f->item, err));
    return CLO_OK;
}

/* Which of the file's rows the sink wants. */
static uint64_t inside(const npy *f, const clo_i_sink *sink, uint64_t row)
{
    const uint64_t here = row > sink->rows ? row - sink->rows : 0;
    return here < f->rows ? here : f->rows;
}

/* By their places in the file: of columns one after the other, or where some rows are wanted. */
static clo_status show_by_places(const npy *f, clo_i_source *source, const rows_way *way,
                                 clo_table *table, clo_error *err)
{
    clo_i_sink *const sink = source->sink;
    const size_t most = part_rows(f, source, table), room = most * f->cols * f->item;
    const uint64_t from = sink->end ? inside(f, sink, sink->first) : 0;
    const uint64_t to = sink->end ? inside(f, sink, sink->end) : f->rows;
    clo_status status = CLO_OK;
    uint8_t *cells = NULL;
    if (source->unpacker)
        return clo_i_fail(err, CLO_UNSUPPORTED,
                          "%s is compressed and in Fortran order, so it cannot be read in parts: "
                          "unpack it, or save it in C order",
                          f->name);
    if (source->size != f->header + f->data)
        return wrong_length(f, source->size < f->header + f->data ? "shorter" : "longer", err);
    CLO_TRY(clo_i_alloc(room, 1, &cells, err));
    sink->rows += from;
    for (uint64_t done = from; done < to && status == CLO_OK; done += most) {
        const size_t rows = to - done < most ? (size_t)(to - done) : most;
        if (f->fortran) table->col_step = rows * f->item;
        status = read_some_rows(f, source, done, rows, cells, err);
        if (status == CLO_OK) status = show_rows(f, source, way, cells, rows, done, table, err);
    }
    sink->rows += f->rows - to;
    clo_i_wipe_free(cells, room);
    if (status == CLO_OK && source->digests) status = digest_rest(source, err);
    return status;
}

/* ---- the table ------------------------------------------------------------------------------- */

static clo_status fill_table(npy *f, clo_i_source *source, const clo_read_options *options,
                             clo_table *table, clo_error *err)
{
#ifdef CLO_TAINT
    const bool map = false; /* only memory of our own can be marked */
#else
    const bool map = source->opened && source->regular;
#endif
    rows_way way = { SIZE_MAX, options->missing == CLO_MISSING_REFUSE };
    const uint8_t *cells = NULL;
    CLO_TRY(read_header(f, source, err));
    CLO_TRY(choose(f, options, table, &way.unit, err));
    if (source->sink) CLO_TRY(clo_i_table_reserve(table, err));
    if (source->sink) {
        const bool places = f->fortran || (source->sink->end && map && !source->unpacker);
        return (places ? show_by_places : show_by_rows)(f, source, &way, table, err);
    }
    CLO_TRY((map ? map_data : copy_data)(f, source, table, &cells, err));
    return add_rows(f, source, &way, cells, f->rows, 0, table, err);
}

clo_status clo_i_read_npy(clo_i_source *source, const clo_read_options *options, clo_table **out,
                          clo_error *err)
{
    npy f = { .name = source->name };
    clo_table *table = NULL;
    CLO_TRY(clo_i_table_new(&table, err));
    clo_status status = clo_i_copy_text(source->name, &table->file, err);
    if (!status) status = fill_table(&f, source, options, table, err);
    if (status != CLO_OK) {
        clo_table_free(table);
        return status;
    }
    *out = table;
    return CLO_OK;
}
