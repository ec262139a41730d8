/*
 * libsvm.c - the reader of LIBSVM (svmlight) text: "label index:value index:value ... # comment".
 *
 * Indices count from 1 and increase; what is not named is zero.  The label, and a qid after it, are
 * not part of the record: they are skipped.  A line without anything but a comment is skipped.
 * The records stay sparse, four bytes for a column and eight for a value.
 *
 * How many columns there are is public knowledge and must be given (options.cols).  The highest
 * index in the file would be a function of the data: two neighbours may differ in it.
 *
 * A value that is not a number and an index beyond the columns are missing cells.  By the public
 * rule the whole record is then null, so that it is kept as one entry, a NaN.
 */
#include "data/formats.h"
#include <math.h>
#include <string.h>

enum { FAULT_SYNTAX = 1, FAULT_ORDER, FAULT_LABEL, FAULT_BAD_CELL, FAULT_TOO_LONG };
#define NOT_CHOSEN UINT32_MAX

typedef struct libsvm {
    const char *name; /* of the source */
    bool refuse;
    size_t limit;      /* the highest index that is not a bad cell */
    uint32_t *slots;   /* index - 1 -> column of the table or NOT_CHOSEN; NULL: the same */
    bool sorted_slots; /* they increase, so that a record's columns do too */
} libsvm;

static inline bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static inline bool ends_record(char c)
{
    return c == '\n' || c == '#';
}

static const char *skip_blanks(const char *text)
{
    while (is_blank(*text)) text++;
    return text;
}

static const char *token_end(const char *text, const char *end)
{
    while (text < end && !is_blank(*text) && !ends_record(*text)) text++;
    return text;
}

/* "12:" as 12, which stops growing where no file can follow; behind the colon, or NULL. */
static const char *read_index(const char *text, size_t *index)
{
    const char *const first = text;
    *index = 0;
    for (; *text >= '0' && *text <= '9'; text++)
        if (*index <= UINT32_MAX) *index = *index * 10 + (size_t)(*text - '0');
    return text > first && *text == ':' ? text + 1 : NULL;
}

/* ---- one record ------------------------------------------------------------------------------ */

typedef struct record {
    uint32_t *columns;
    double *values;
    uint32_t count;
    size_t last_index;
    bool bad;
} record;

static int add_entry(const libsvm *f, size_t index, const char *value, const char *stop, record *r)
{
    double number;
    if (index == 0 || index <= r->last_index) return FAULT_ORDER;
    r->last_index = index;
    const uint32_t slot = index > f->limit ? 0
                          : f->slots       ? f->slots[index - 1]
                                           : (uint32_t)index - 1;
    if (slot == NOT_CHOSEN) return 0;
    if (index > f->limit || value == stop || clo_i_read_number(value, &number) != stop ||
        !isfinite(number)) {
        r->bad = true;
        return f->refuse ? FAULT_BAD_CELL : 0;
    }
    r->columns[r->count] = slot;
    r->values[r->count++] = number;
    return 0;
}

/* By insertion: columns that were chosen out of order are few. */
static void sort_entries(record *r)
{
    for (uint32_t i = 1; i < r->count; i++) {
        const uint32_t column = r->columns[i];
        const double value = r->values[i];
        uint32_t j = i;
        for (; j > 0 && r->columns[j - 1] > column; j--) {
            r->columns[j] = r->columns[j - 1];
            r->values[j] = r->values[j - 1];
        }
        r->columns[j] = column;
        r->values[j] = value;
    }
}

/* The entries behind the label; where they end, or NULL with a fault. */
static const char *parse_entries(const libsvm *f, const char *text, const char *end, record *r,
                                 clo_i_fault *fault)
{
    text = skip_blanks(text);
    if (memcmp(text, "qid:", 4) == 0) text = skip_blanks(token_end(text, end));
    while (!ends_record(*text)) {
        size_t index;
        const char *const value = read_index(text, &index), *const stop = token_end(text, end);
        fault->kind = value ? add_entry(f, index, value, stop, r) : FAULT_SYNTAX;
        fault->column = index;
        if (fault->kind) return NULL;
        text = skip_blanks(stop);
    }
    return text;
}

/* ---- pieces of text -------------------------------------------------------------------------- */

static clo_status allocate_block(const char *text, const char *end, size_t lines,
                                 clo_i_block *block)
{
    /* An entry has a colon; a bad record is one entry and may have none that counts. */
    const size_t entries = clo_i_count_bytes(text, end, ':') + 1;
    if (entries > UINT32_MAX) return CLO_MEMORY;
    CLO_TRY(clo_i_alloc(entries, sizeof *block->values, &block->values, NULL));
    block->value_count = entries;
    CLO_TRY(clo_i_alloc(entries, sizeof *block->columns, &block->columns, NULL));
    block->room = lines + 1;
    return clo_i_alloc(block->room + 1, sizeof *block->starts, &block->starts, NULL);
}

/* The line at text into the block's next row, if it holds a record; behind its end, or NULL. */
static const char *parse_line(const libsvm *f, const char *text, const char *end,
                              clo_i_block *block, clo_i_fault *fault)
{
    const char *at = skip_blanks(text);
    if (!ends_record(*at)) {
        const uint32_t start = block->starts[block->rows];
        record r = { .columns = block->columns + start, .values = block->values + start };
        const char *const label = at;
        at = token_end(at, end);
        if (memchr(label, ':', (size_t)(at - label))) {
            fault->kind = FAULT_LABEL;
            return NULL;
        }
        at = parse_entries(f, at, end, &r, fault);
        if (!at) return NULL;
        if (f->slots && !f->sorted_slots) sort_entries(&r);
        if (r.bad) {
            r.columns[0] = 0;
            r.values[0] = NAN;
            r.count = 1;
        }
        block->starts[++block->rows] = start + r.count;
    }
    at = memchr(at, '\n', (size_t)(end - at));
    if (at && (size_t)(at - text) < CLO_LINE_BYTES) return at + 1;
    fault->kind = FAULT_TOO_LONG;
    return NULL;
}

static void parse(const void *self, const char *text, const char *end, size_t lines,
                  clo_i_block *block, clo_i_fault *fault)
{
    const libsvm *const f = self;
    fault->status = allocate_block(text, end, lines, block);
    if (fault->status != CLO_OK) return;
    for (const char *at = text, *next; at < end; at = next) {
        next = parse_line(f, at, end, block, fault);
        if (next) continue;
        fault->line = clo_i_count_bytes(text, at, '\n');
        return;
    }
}

static clo_status explain(const void *self, const clo_i_fault *fault, size_t line, clo_error *err)
{
    const libsvm *const f = self;
    switch (fault->kind) {
    case FAULT_SYNTAX:
        return clo_i_fail(err, CLO_FORMAT, "%s, line %zu: every entry must be index:value", f->name,
                          line);
    case FAULT_ORDER:
        return clo_i_fail(err, CLO_FORMAT,
                          "%s, line %zu: the indices must increase and start at 1 or later",
                          f->name, line);
    case FAULT_LABEL:
        return clo_i_fail(err, CLO_FORMAT,
                          "%s, line %zu: a label must come before the first index:value", f->name,
                          line);
    case FAULT_BAD_CELL:
        return clo_i_fail(err, CLO_FORMAT,
                          "%s, line %zu, index %zu: not a finite number or beyond the %zu columns, "
                          "and missing cells are refused",
                          f->name, line, fault->column, f->limit);
    default:
        return clo_i_fail(err, CLO_FORMAT, "%s, line %zu: longer than %zu bytes", f->name, line,
                          CLO_LINE_BYTES);
    }
}

/* ---- the table ------------------------------------------------------------------------------- */

static clo_status check_options(const libsvm *f, const clo_read_options *options, clo_error *err)
{
    if (options->unit)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "%s is LIBSVM, which has no column of persons: write the data as CSV",
                          f->name);
    if (options->missing == CLO_MISSING_FILL)
        return clo_i_fail(
            err, CLO_ARGUMENT,
            "%s is LIBSVM, which has no missing cells to fill: a cell without an entry is zero; "
            "missing must be null or refuse",
            f->name);
    if (options->cols > CLO_MOST_INDEX)
        return clo_i_fail(err, CLO_ARGUMENT, "cols must be at most %zu, not %zu", CLO_MOST_INDEX,
                          options->cols);
    if (options->cols == 0)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "%s is LIBSVM, which does not state its number of columns: give the "
                          "public number (cols)",
                          f->name);
    return CLO_OK;
}

static clo_status choose(libsvm *f, const clo_read_options *options, clo_table *table,
                         clo_error *err)
{
    const clo_i_columns columns = { options->cols, NULL, f->name };
    uint32_t *chosen = NULL;
    f->limit = options->cols;
    table->sparse = true;
    table->cols = table->file_cols = options->cols;
    if (!options->columns) return CLO_OK;
    CLO_TRY(clo_i_alloc(f->limit, sizeof *f->slots, &f->slots, err));
    CLO_TRY(clo_i_choose_columns(&columns, options->columns, SIZE_MAX, &chosen, &table->cols, err));
    memset(f->slots, 0xff, f->limit * sizeof *f->slots); /* NOT_CHOSEN */
    f->sorted_slots = true;
    for (size_t j = 0; j < table->cols; j++) {
        f->slots[chosen[j]] = (uint32_t)j;
        if (j > 0 && chosen[j] < chosen[j - 1]) f->sorted_slots = false;
    }
    clo_i_free(chosen);
    return CLO_OK;
}

clo_status clo_i_read_libsvm(clo_i_source *source, const clo_read_options *options, clo_table **out,
                             clo_error *err)
{
    libsvm f = { .name = source->name, .refuse = options->missing == CLO_MISSING_REFUSE };
    const clo_i_text_format format = { NULL, parse, explain, &f, source->name };
    clo_table *table = NULL;
    CLO_TRY(check_options(&f, options, err));
    clo_status status = clo_i_table_new(&table, err);
    if (status == CLO_OK) status = clo_i_copy_text(source->name, &table->file, err);
    if (status == CLO_OK) status = choose(&f, options, table, err);
    if (status == CLO_OK) {
        clo_i_skip_mark(source);
        status = clo_i_read_text(source, &format, table, err);
    }
    clo_i_free(f.slots);
    if (status != CLO_OK) {
        clo_table_free(table);
        return status;
    }
    *out = table;
    return CLO_OK;
}

bool clo_i_is_libsvm_line(const char *line, size_t length)
{
    const char *const end = line + length;
    double number;
    size_t last = 0, index;
    const char *at = clo_i_read_number(line, &number); /* the label */
    while (at && at < end && (*at == ' ' || *at == '\t')) {
        at = skip_blanks(at);
        if (at >= end || ends_record(*at)) return last > 0;
        at = read_index(at, &index);
        if (!at || index <= last) return false;
        last = index;
        at = clo_i_read_number(at, &number);
    }
    return at && last > 0 && (at >= end || *at == '\r' || ends_record(*at));
}
