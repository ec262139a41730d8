/*
 * csv.c - the reader of CSV: text with one record a line and a character between its cells.
 *
 * What is read.  RFC 4180, and what is around in practice: line ends with or without CR, a byte
 * order mark, a last line without an end, blanks around a cell, another delimiter.  A quote opens a
 * cell only at its start; inside, "" is a quote, and delimiters and line ends are text.  Where the
 * delimiter is a blank, a run of blanks and tabs is one delimiter.  A line that holds nothing but
 * blanks is skipped, or, where that is what a record of missing cells looks like, is such a record.
 * All records have the same number of cells.
 *
 * What is a number is what clo_i_read_number reads, with nothing but blanks around it; everything
 * else, the empty cell included, is a missing cell.  How many there are of each kind is counted, a
 * column each, and a column of text is refused by text_columns.c.  The text of a cell is in no
 * message.
 *
 * A record is parsed in one pass over its bytes: a number is read where a cell starts, and where it
 * stops the delimiter should be.  Only if that fails is the cell looked at as text.
 */
#include "base/utf8.h"
#include "data/formats.h"
#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { FAULT_RAGGED = 1, FAULT_BAD_CELL, FAULT_NO_UNIT, FAULT_TOO_LONG, FAULT_OPEN_QUOTE };

typedef struct csv {
    const char *name; /* of the source */
    char delimiter;
    char also;  /* a second delimiter: a tab where it is a blank, else the same */
    char blank; /* besides the space, what may stand around a cell */
    bool runs;  /* several delimiters are one */
    bool refuse;
    bool comma;     /* is the decimal mark */
    bool marks;     /* a cell that is no number keeps a mark of its text */
    size_t cells;   /* of a record */
    char **names;   /* of the cells, or NULL */
    int32_t *slots; /* cell -> column of the table, or -1 */
    size_t cols;
    size_t unit;                /* the cell that is the unit, or SIZE_MAX */
    bool anonymous;             /* nobody asks whose rows they are */
    bool guessed;               /* a record alone has told how many cells there are */
    bool remark;                /* the first line begins with # */
    size_t blank_lines;         /* before the first record that is not */
    const clo_schema *schema;   /* of the columns that are read; NULL: none */
    const clo_i_field **fields; /* of each column that is not a plain number; NULL: there is none */
    uint8_t key[CLO_UNIT_KEY_BYTES];
} csv;

/* ---- cells and records as text --------------------------------------------------------------- */

static inline const char *skip_blanks(const csv *f, const char *text)
{
    while (*text == ' ' || *text == f->blank) text++;
    return text;
}

/* The quote that closes the one at text, or NULL. */
static const char *closing_quote(const char *text, const char *end)
{
    for (text++; text < end; text += 2) {
        text = memchr(text, '"', (size_t)(end - text));
        if (!text || text + 1 >= end || text[1] != '"') return text;
    }
    return NULL;
}

/* The delimiter or line end that ends the cell at text, or NULL where none comes before `end`. */
static const char *cell_end(const csv *f, const char *text, const char *end)
{
    text = skip_blanks(f, text);
    if (text < end && *text == '"') {
        text = closing_quote(text, end);
        if (!text) return NULL;
    }
    for (; text < end; text++)
        if (*text == f->delimiter || *text == '\n' || *text == f->also) return text;
    return NULL;
}

/* From where a cell ends to where the next one starts; at the record's line end it stays there
 * and says false. */
static inline bool to_next_cell(const csv *f, const char **at)
{
    if (f->runs) {
        *at = skip_blanks(f, *at);
        if (**at == '\r' && (*at)[1] == '\n') ++*at;
    }
    if (**at == '\n') return false;
    *at += !f->runs;
    return true;
}

static const char *record_end(const void *self, const char *text, const char *end)
{
    const csv *const f = self;
    const char *const line = memchr(text, '\n', (size_t)(end - text));
    if (!line || !memchr(text, '"', (size_t)(line - text))) return line ? line + 1 : NULL;
    for (const char *at = text;; at++) {
        at = cell_end(f, at, end);
        if (!at || *at == '\n') return at ? at + 1 : NULL;
    }
}

/* Behind the line that starts at text, where it holds nothing but blanks, or NULL. */
static inline const char *blank_line_end(const csv *f, const char *text)
{
    text = skip_blanks(f, text);
    if (*text == '\r') text++;
    return *text == '\n' ? text + 1 : NULL;
}

/* What a cell says: without blanks around it, without its quotes. */
typedef struct content {
    const char *from, *to;
    bool doubled; /* an inner quote stands there twice */
} content;

static content content_of(const csv *f, const char *text, const char *stop)
{
    text = skip_blanks(f, text);
    while (stop > text && (stop[-1] == ' ' || stop[-1] == '\t' || stop[-1] == '\r')) stop--;
    if (stop - text < 2 || *text != '"' || closing_quote(text, stop) != stop - 1)
        return (content){ text, stop, false };
    text++;
    stop--;
    return (content){ text, stop, memchr(text, '"', (size_t)(stop - text)) != NULL };
}

static inline const char *read_number(bool comma, const char *text, double *out)
{
    return comma ? clo_i_read_comma_number(text, out) : clo_i_read_number(text, out);
}

/* Inside quotes there may be some left. */
static content without_blanks(content c)
{
    while (c.from < c.to && *c.from == ' ') c.from++;
    while (c.from < c.to && c.to[-1] == ' ') c.to--;
    return c;
}

/* A number as it is written; one that is too large for a double comes out infinite. */
static bool is_numeral(bool comma, content c, double *out)
{
    c = without_blanks(c);
    return c.from < c.to && read_number(comma, c.from, out) == c.to;
}

static bool is_number(bool comma, content c, double *out)
{
    return is_numeral(comma, c, out) && isfinite(*out);
}

static clo_i_dress dress_of(const csv *f, content c)
{
    c = without_blanks(c);
    return clo_i_dress_of(c.from, c.to, f->comma);
}

/* What stands where a number is missing; it says no more than an empty cell. */
static bool is_missing_word(content c)
{
    static const char *const words[] = { "",     "?",    "na",  "n/a",     "nan",
                                         "null", "none", "inf", "infinity" };
    if (c.from < c.to && (*c.from == '-' || *c.from == '+')) c.from++;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const size_t length = strlen(words[i]);
        if (length == (size_t)(c.to - c.from) && strncasecmp(words[i], c.from, length) == 0)
            return true;
    }
    return false;
}

/* Up to the next inner quote and with it, without the one that doubles it. */
static size_t undoubled_part(content *c, const char **part)
{
    const char *const quote = memchr(c->from, '"', (size_t)(c->to - c->from));
    const size_t length = (size_t)((quote ? quote + 1 : c->to) - c->from);
    *part = c->from;
    c->from = quote ? quote + 2 : c->to;
    return length;
}

/* ---- records --------------------------------------------------------------------------------- */

static void hash_unit(const csv *f, content c, uint8_t *unit)
{
    crypto_generichash_state state;
    if (c.from == c.to) { /* nobody's row: `bound` leaves it out (bound.T3) */
        memset(unit, 0, CLO_UNIT_BYTES);
        return;
    }
    if (!c.doubled) {
        clo_i_unit_hash(f->key, c.from, (size_t)(c.to - c.from), unit);
        return;
    }
    (void)crypto_generichash_init(&state, f->key, sizeof f->key, CLO_UNIT_BYTES);
    while (c.from < c.to) {
        const char *part;
        const size_t length = undoubled_part(&c, &part);
        (void)crypto_generichash_update(&state, (const unsigned char *)part, length);
    }
    (void)crypto_generichash_final(&state, unit, CLO_UNIT_BYTES);
    clo_i_wipe(&state, sizeof state);
}

/* What a cell that is not a number becomes: a NaN; where texts are to be told apart, with a mark of
 * its text in the bits that a NaN leaves free. */
static double not_a_number(const csv *f, content c)
{
    static const uint64_t quiet = UINT64_C(0x7ff8000000000000);
    uint8_t hash[CLO_UNIT_BYTES];
    uint64_t bits;
    double cell;
    if (!f->marks) return NAN;
    hash_unit(f, c, hash);
    memcpy(&bits, hash, sizeof bits);
    bits |= quiet;
    memcpy(&cell, &bits, sizeof cell);
    return cell;
}

/* The counts of a column, which come into being with the first cell that is not a number. */
static clo_i_tally *tally_of(const csv *f, size_t column, clo_i_block *block, clo_i_fault *fault)
{
    if (!block->tallies) {
        fault->status = clo_i_alloc(f->cols, sizeof *block->tallies, &block->tallies, NULL);
        if (fault->status) return NULL;
        block->tally_count = f->cols;
    }
    return &block->tallies[column];
}

/* One more cell of the column that is not a number. */
static void count_bad_cell(const csv *f, size_t column, content c, clo_i_block *block,
                           clo_i_fault *fault)
{
    clo_i_tally *const tally = tally_of(f, column, block, fault);
    double value;
    if (!tally) return;
    block->bad_cells++;
    if (is_missing_word(c) || is_numeral(f->comma, c, &value)) {
        tally->missing++;
        return;
    }
    tally->text++;
    tally->dressed[dress_of(f, c)]++;
}

/* A cell that is not plainly a number, or not only one; where it ends, or NULL with a fault. */
static const char *parse_as_text(const csv *f, size_t cell, const char *text, const char *end,
                                 clo_i_block *block, double *row, uint8_t *unit, clo_i_fault *fault)
{
    const int32_t slot = f->slots[cell];
    const char *const stop = cell_end(f, text, end);
    fault->column = cell;
    if (!stop) {
        fault->kind = FAULT_OPEN_QUOTE;
        return NULL;
    }
    if (slot < 0 && cell != f->unit) return stop;
    const content c = content_of(f, text, stop);
    if (cell == f->unit) {
        if (unit) hash_unit(f, c, unit);
        if (f->refuse && c.from == c.to) fault->kind = FAULT_NO_UNIT;
    }
    if (slot >= 0 && !is_number(f->comma, c, &row[slot])) {
        row[slot] = not_a_number(f, c);
        count_bad_cell(f, (size_t)slot, c, block, fault);
        if (f->refuse) fault->kind = FAULT_BAD_CELL;
    }
    return fault->kind || fault->status ? NULL : stop;
}

/* ---- cells under a schema -------------------------------------------------------------------- */

/* What a cell in quotes says, where each inner quote stands twice. */
static double doubled_cell(const clo_i_field *field, content c)
{
    char text[CLO_SCHEMA_TEXT_BYTES + 1];
    size_t length = 0;
    while (c.from < c.to) {
        const char *part;
        const size_t here = undoubled_part(&c, &part);
        if (here > sizeof text - length) return CLO_OUTSIDE; /* longer than any level */
        memcpy(text + length, part, here);
        length += here;
    }
    return clo_i_field_cell(field, text, length);
}

static void count_cell_of(const csv *f, size_t column, const clo_i_field *field, double cell,
                          bool word, clo_i_block *block, clo_i_fault *fault)
{
    const bool outside = cell == CLO_OUTSIDE && field->type == CLO_TYPE_STRING;
    if (!(outside && field->outside == CLO_OUTSIDE_MISSING) && !isnan(cell)) return;
    clo_i_tally *const tally = tally_of(f, column, block, fault);
    if (!tally) return;
    block->bad_cells++;
    if (word && !outside)
        tally->missing++;
    else
        tally->text++;
}

/* A cell with quotes, blanks or what the list does not have as it stands. */
static const char *look_closer(const csv *f, size_t column, const char *text, const char *end,
                               const clo_i_field *field, clo_i_block *block, double *row,
                               clo_i_fault *fault)
{
    const char *const stop = cell_end(f, text, end);
    if (!stop) {
        fault->kind = FAULT_OPEN_QUOTE;
        return NULL;
    }
    const content c = content_of(f, text, stop);
    const double cell = c.doubled ? doubled_cell(field, c)
                                  : clo_i_field_cell(field, c.from, (size_t)(c.to - c.from));
    const double kept = cell == CLO_OUTSIDE && field->type == CLO_TYPE_BOOLEAN ? NAN : cell;
    const bool word = is_missing_word(c) || (isnan(cell) && field->type == CLO_TYPE_STRING);
    row[column] = kept;
    count_cell_of(f, column, field, kept, word, block, fault);
    return fault->status ? NULL : stop;
}

/* Up to the next delimiter, byte by byte: the hash of a cell without quotes comes with it. */
static const char *parse_level(const csv *f, size_t column, const char *text, const char *end,
                               const clo_i_field *field, clo_i_block *block, double *row,
                               clo_i_fault *fault)
{
    const char *at = text;
    uint64_t hash = CLO_TEXT_HASH;
    for (; at < end && *at != f->delimiter && *at != '\n' && *at != '\r' && *at != f->also; at++)
        hash = clo_i_text_hash_step(hash, (unsigned char)*at);
    const char *const stop = at < end && *at == '\r' && at[1] == '\n' ? at + 1 : at;
    double code;
    if (stop >= end || *stop == '\r' ||
        !clo_i_texts_find(&field->texts, text, (size_t)(at - text), hash, &code))
        return look_closer(f, column, text, end, field, block, row, fault);
    row[column] = code;
    if (isnan(code)) count_cell_of(f, column, field, code, true, block, fault);
    return fault->status ? NULL : stop;
}

/* A number with missing values that are numbers. */
static const char *parse_gapped(const csv *f, size_t column, size_t cell, const char *text,
                                const char *end, const clo_i_field *field, clo_i_block *block,
                                double *row, clo_i_fault *fault)
{
    const char *const stop = parse_as_text(f, cell, text, end, block, row, NULL, fault);
    if (!stop || isnan(row[column]) || !clo_i_field_lacks(field, row[column])) return stop;
    row[column] = NAN;
    count_cell_of(f, column, field, NAN, true, block, fault);
    return fault->status ? NULL : stop;
}

static const char *parse_by_field(const csv *f, size_t cell, const char *text, const char *end,
                                  clo_i_block *block, double *row, clo_i_fault *fault)
{
    const size_t column = (size_t)f->slots[cell];
    const clo_i_field *const field = f->fields[column];
    fault->column = cell;
    return clo_i_field_is_coded(field)
               ? parse_level(f, column, text, end, field, block, row, fault)
               : parse_gapped(f, column, cell, text, end, field, block, row, fault);
}

/* ---- records as rows ------------------------------------------------------------------------- */

/* The record has another number of cells than it should: `found` and those from here on. */
static const char *count_ragged(const csv *f, const char *at, const char *end, size_t found,
                                clo_i_fault *fault)
{
    while (to_next_cell(f, &at)) {
        found++;
        at = cell_end(f, at, end);
        if (!at) break;
    }
    fault->kind = at ? FAULT_RAGGED : FAULT_OPEN_QUOTE;
    fault->found = found;
    return NULL;
}

/* One record into one row; behind its line end, or NULL with a fault. */
static const char *parse_record(const csv *f, const char *text, const char *end, size_t number,
                                clo_i_block *block, clo_i_fault *fault)
{
    double *const row = block->values + number * f->cols;
    uint8_t *const unit = block->units ? block->units + number * CLO_UNIT_BYTES : NULL;
    const char *at = f->runs ? skip_blanks(f, text) : text;
    for (size_t cell = 0;; cell++) {
        const int32_t slot = f->slots[cell];
        const char *stop = NULL;
        const bool coded = f->fields && slot >= 0 && f->fields[slot] && cell != f->unit;
        if (coded) {
            stop = parse_by_field(f, cell, at, end, block, row, fault);
            if (!stop) return NULL;
        } else if (slot >= 0 && cell != f->unit) {
            stop = read_number(f->comma, at, &row[slot]);
        }
        if (stop && *stop == '\r') stop += stop[1] == '\n';
        if (!coded && (!stop || (*stop != f->delimiter && *stop != '\n') || !isfinite(row[slot]))) {
            stop = parse_as_text(f, cell, at, end, block, row, unit, fault);
            if (!stop) return NULL;
        }
        at = stop;
        const bool more = to_next_cell(f, &at), last = cell + 1 == f->cells;
        if (last && !more) return at + 1;
        if (last || !more) return count_ragged(f, stop, end, cell + 1, fault);
    }
}

static clo_status allocate_block(const csv *f, size_t rows, clo_i_block *block)
{
    size_t count;
    if (!clo_i_multiply(rows, f->cols, &count)) return CLO_MEMORY;
    CLO_TRY(clo_i_alloc(count, sizeof *block->values, &block->values, NULL));
    block->value_count = count;
    block->cells = (const uint8_t *)block->values;
    block->room = rows;
    if (f->unit == SIZE_MAX || f->anonymous) return CLO_OK;
    return clo_i_alloc(rows, CLO_UNIT_BYTES, &block->units, NULL);
}

/* A block with much room to spare (blank lines, line ends inside quotes) is made smaller. */
static clo_status trim_block(const csv *f, clo_i_block *block)
{
    const size_t room = block->room;
    if (block->rows >= room - room / 4 - 1) return CLO_OK;
    CLO_TRY(clo_i_resize(&block->values, block->value_count, block->rows * f->cols,
                         sizeof *block->values, NULL));
    block->value_count = block->rows * f->cols;
    block->cells = (const uint8_t *)block->values;
    if (!block->units) return CLO_OK;
    CLO_TRY(clo_i_resize(&block->units, room, block->rows, CLO_UNIT_BYTES, NULL));
    block->room = block->rows;
    return CLO_OK;
}

/* A record of which there is nothing. */
static void leave_blank(const csv *f, size_t row, clo_i_block *block, clo_i_fault *fault)
{
    for (size_t j = 0; j < f->cols; j++) {
        clo_i_tally *const tally = tally_of(f, j, block, fault);
        if (!tally) return;
        tally->missing++;
        block->values[row * f->cols + j] = NAN;
    }
    if (block->units) memset(block->units + row * CLO_UNIT_BYTES, 0, CLO_UNIT_BYTES);
    block->bad_rows++;
    fault->column = 0;
    if (f->refuse) fault->kind = FAULT_BAD_CELL;
}

/* Where a missing cell leaves nothing on the line, a blank line is a record like any other. */
static bool blank_is_record(const csv *f)
{
    return f->cells == 1 || f->runs;
}

static void parse(const void *self, const char *text, const char *end, size_t lines,
                  clo_i_block *block, clo_i_fault *fault)
{
    const csv *const f = self;
    const bool blanks = blank_is_record(f);
    /* A record has a line end and, but for such a blank one, at least a byte a cell. */
    const size_t most = (size_t)(end - text) / (blanks ? 1 : f->cells);
    const size_t rows = (lines < most ? lines : most) + 1;
    size_t done = 0;
    fault->status = allocate_block(f, rows, block);
    if (fault->status != CLO_OK) return;
    for (const char *at = text, *next; at < end; at = next) {
        next = blank_line_end(f, at);
        if (next && blanks) {
            leave_blank(f, done, block, fault);
            if (fault->status) return;
            if (fault->kind) fault->line = clo_i_count_bytes(text, at, '\n');
            if (fault->kind) return;
            done++;
        }
        if (next) continue;
        const size_t bad = block->bad_cells;
        next = parse_record(f, at, end, done, block, fault);
        if (fault->status) return;
        block->bad_rows += f->schema && next
                               ? clo_i_schema_is_null(f->schema, block->values + done * f->cols)
                               : block->bad_cells > bad;
        if (next && (size_t)(next - at) > CLO_LINE_BYTES) fault->kind = FAULT_TOO_LONG;
        if (fault->kind) {
            fault->line = clo_i_count_bytes(text, at, '\n');
            return;
        }
        done++;
    }
    block->rows = done;
    fault->status = trim_block(f, block);
}

/* What files of other programs do, and what to do about it. */
static const char *why_ragged(const csv *f, const clo_i_fault *fault, size_t line)
{
    if (f->names && line == 2 && fault->found == f->cells + 1)
        return ": if the header lacks a name (R writes row names without one), add it in front; "
               "if lines end with one delimiter too many, remove it";
    if (fault->found <= f->cells) return "";
    return line == 2 ? ": if the first line is a title, remove it"
                     : ": a cell that contains the delimiter must be in quotes";
}

static clo_status explain(const void *self, const clo_i_fault *fault, size_t line, clo_error *err)
{
    const csv *const f = self;
    char name[CLO_SHOWN_BYTES] = "", column[CLO_SHOWN_BYTES + 32];
    if (f->names && fault->column < f->cells) clo_i_show_name(f->names[fault->column], name);
    if (name[0])
        snprintf(column, sizeof column, "%zu ('%s')", fault->column + 1, name);
    else
        snprintf(column, sizeof column, "%zu", fault->column + 1);
    switch (fault->kind) {
    case FAULT_RAGGED:
        return clo_i_fail(err, CLO_FORMAT,
                          "%s, line %zu: %zu cell%s instead of %zu, as on the first line%s",
                          f->name, line, fault->found, fault->found == 1 ? "" : "s", f->cells,
                          why_ragged(f, fault, line));
    case FAULT_BAD_CELL:
        return clo_i_fail(
            err, CLO_FORMAT,
            "%s, line %zu, column %s: not a finite number, and missing cells are refused", f->name,
            line, column);
    case FAULT_NO_UNIT:
        return clo_i_fail(
            err, CLO_FORMAT,
            "%s, line %zu, column %s: the person is empty, and missing cells are refused", f->name,
            line, column);
    case FAULT_TOO_LONG:
        return clo_i_fail(err, CLO_FORMAT, "%s, line %zu: longer than %zu bytes", f->name, line,
                          CLO_LINE_BYTES);
    default:
        return clo_i_fail(err, CLO_FORMAT, "%s, line %zu: a quote is opened and never closed",
                          f->name, line);
    }
}

/* ---- the first line -------------------------------------------------------------------------- */

static void set_delimiter(csv *f, char delimiter)
{
    f->delimiter = delimiter;
    f->runs = delimiter == ' ';
    f->also = f->runs ? '\t' : delimiter;
    f->blank = delimiter == '\t' ? ' ' : '\t';
}

/* The most frequent of the usual ones outside quotes, but for the decimal mark; a blank only where
 * there is none of them. */
static char detect_delimiter(bool comma, const char *text, const char *end)
{
    static const char usual[] = { ',', ';', '\t', '|' };
    size_t counts[sizeof usual] = { 0 }, best = 0;
    bool quoted = false, blank = false;
    while (text < end && *text == ' ') text++;
    for (; text < end && (quoted || *text != '\n'); text++) {
        if (*text == '"') quoted = !quoted;
        if (quoted) continue;
        for (size_t i = 0; i < sizeof usual; i++) counts[i] += *text == usual[i];
        blank = blank || *text == ' ';
    }
    if (comma) counts[0] = 0;
    for (size_t i = 1; i < sizeof usual; i++)
        if (counts[i] > counts[best]) best = i;
    if (comma && best == 0) best = 1; /* one column */
    return counts[best] == 0 && blank ? ' ' : usual[best];
}

/* "sep=;": spreadsheets write and read it as a first line, which is neither header nor record. */
static bool skip_sep_line(clo_i_source *source, char *delimiter)
{
    const char *text = source->bytes + source->start, *const end = source->bytes + source->end;
    const bool quoted = *text == '"';
    text += quoted;
    if (end - text < 6 || strncasecmp(text, "sep=", 4) != 0) return false;
    const char found = text[4];
    text += 5 + quoted;
    if (*text == '\r') text++;
    if (found == '\r' || found == '\n' || text >= end || *text != '\n') return false;
    *delimiter = found;
    source->start = (size_t)(text + 1 - source->bytes);
    source->lines++;
    return true;
}

/* Brings the first record that is not blank to the start of the window, and settles the delimiter;
 * how long the record is, 0 where there is none, and how many blank lines came before it. */
static clo_status find_first_record(csv *f, clo_i_source *source, char delimiter, size_t *length,
                                    size_t *blank_lines, clo_error *err)
{
    const char *text, *end, *next;
    CLO_TRY(clo_i_source_fill(source, 2 * CLO_LINE_BYTES, err));
    clo_i_skip_mark(source);
    set_delimiter(f, delimiter ? delimiter : f->comma ? ';' : ',');
    for (*length = *blank_lines = 0;; ++*blank_lines) {
        CLO_TRY(clo_i_source_fill(source, 2 * CLO_LINE_BYTES, err));
        clo_i_end_last_line(source);
        if (source->start == source->end) return CLO_OK;
        text = source->bytes + source->start;
        end = source->bytes + source->end;
        if (!(next = blank_line_end(f, text))) break;
        source->start += (size_t)(next - text);
        source->lines++;
    }
    const bool told = !delimiter && skip_sep_line(source, &delimiter);
    if (told) {
        set_delimiter(f, delimiter);
        return find_first_record(f, source, delimiter, length, blank_lines, err);
    }
    if (!delimiter) set_delimiter(f, detect_delimiter(f->comma, text, end));
    next = record_end(f, text, end);
    if (!next || (size_t)(next - text) > CLO_LINE_BYTES)
        return clo_i_fail(err, CLO_FORMAT,
                          "%s, line %zu: longer than %zu bytes, or a quote is never closed",
                          f->name, source->lines + 1, CLO_LINE_BYTES);
    *length = (size_t)(next - text);
    return CLO_OK;
}

/* Calls visit with each cell of the record at text. */
static clo_status each_cell(csv *f, const char *text, const char *end,
                            clo_status (*visit)(csv *f, size_t cell, content c, void *user),
                            void *user)
{
    size_t cell = 0;
    const char *at = f->runs ? skip_blanks(f, text) : text;
    do {
        const char *const stop = cell_end(f, at, end);
        CLO_TRY(visit(f, cell++, content_of(f, at, stop), user));
        at = stop;
    } while (to_next_cell(f, &at));
    return CLO_OK;
}

static clo_status count_cell(csv *f, size_t cell, content c, void *user)
{
    f->cells = cell + 1;
    return CLO_OK;
}

/* A first line is a header when each of its cells is text, and a record when none is.  A missing
 * number says nothing, nor does the cell of a unit that is given by its number: there the people
 * are named.  A line that is partly one and partly the other is refused: names are published, and a
 * record that was taken for a header would be. */
typedef struct header_signs {
    size_t unit; /* as a number from 1, or 0 */
    bool text, number;
} header_signs;

static clo_status look_for_text(csv *f, size_t cell, content c, void *user)
{
    header_signs *const signs = user;
    double value;
    if (cell + 1 == signs->unit) return CLO_OK;
    if (is_number(f->comma, c, &value) || dress_of(f, c) != CLO_DRESS_NONE)
        signs->number = true;
    else if (!is_missing_word(c))
        signs->text = true;
    return CLO_OK;
}

static clo_status find_header(csv *f, const char *text, const char *end,
                              const clo_read_options *options, bool *found, clo_error *err)
{
    header_signs signs = { 0 };
    *found = options->header == CLO_HEADER_FIRST_LINE;
    if (options->header != CLO_HEADER_AUTO) return CLO_OK;
    if (f->remark) {
        (void)clo_i_fail(err, CLO_FORMAT,
                         "%s: the first line begins with #, so it may be a comment: remove it, or "
                         "state that it is the header (header yes)",
                         f->name);
        return clo_i_advise(err, CLO_FORMAT, "header yes");
    }
    if (options->unit && clo_i_is_column_number(options->unit))
        for (const char *d = options->unit; *d && signs.unit < CLO_MOST_COLS; d++)
            signs.unit = signs.unit * 10 + (size_t)(*d - '0');
    (void)each_cell(f, text, end, look_for_text, &signs);
    if (signs.text && signs.number) {
        (void)clo_i_fail(err, CLO_FORMAT,
                         "%s: the first line has numbers and text, so it may be a header or a "
                         "record: state which (header yes or no)",
                         f->name);
        return clo_i_advise(err, CLO_FORMAT, "header yes or no");
    }
    *found = signs.text;
    return CLO_OK;
}

static clo_status copy_name(csv *f, size_t cell, content c, void *user)
{
    size_t length = 0;
    CLO_TRY(clo_i_alloc((size_t)(c.to - c.from) + 1, 1, &f->names[cell], user));
    while (c.from < c.to) {
        const char *part = c.from;
        const size_t here = c.doubled ? undoubled_part(&c, &part) : (size_t)(c.to - c.from);
        memcpy(f->names[cell] + length, part, here);
        length += here;
        if (!c.doubled) break;
    }
    if (clo_i_is_utf8(f->names[cell])) return CLO_OK;
    char *const bytes = f->names[cell];
    const clo_status status = clo_i_copy_utf8(bytes, &f->names[cell], user);
    clo_i_free(status ? NULL : bytes);
    return status;
}

/* The names, from the header that the window begins with. */
static clo_status read_header(csv *f, clo_i_source *source, size_t length, clo_error *err)
{
    const char *const text = source->bytes + source->start, *const end = text + length;
    CLO_TRY(clo_i_alloc(f->cells, sizeof *f->names, &f->names, err));
    CLO_TRY(each_cell(f, text, end, copy_name, err));
    source->lines += clo_i_count_bytes(text, end, '\n');
    source->start += length;
    return CLO_OK;
}

/* How many cells a record has at least, as far as the options say; 0: they do not. */
static size_t public_cells(const clo_read_options *options)
{
    const size_t last = options->columns ? clo_i_last_column(options->columns) : 0;
    const size_t unit = options->unit ? clo_i_last_column(options->unit) : 1;
    if (options->cols) return options->cols;
    return last && unit && last <= CLO_MOST_COLS ? (last > unit ? last : unit) : 0;
}

/* Without a header, what is there decides nothing that the options do not say already, where it may
 * be a secret whether there is a record at all. */
static clo_status settle_cells(csv *f, const clo_read_options *options, bool header, bool record,
                               clo_error *err)
{
    const size_t known = public_cells(options);
    if (!header && options->rows_are_secret && !known)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "%s has no header, and the number of rows is secret, so cloister cannot "
                          "count the columns: give their number (cols)",
                          f->name);
    if (!header && !record && !known) return clo_i_fail(err, CLO_FORMAT, "%s is empty", f->name);
    if (record && options->cols && f->cells != options->cols)
        return clo_i_fail(err, CLO_FORMAT, "%s has %zu columns on its first line, but cols is %zu",
                          f->name, f->cells, options->cols);
    if (!record) f->cells = known;
    if (f->cells > CLO_MOST_COLS)
        return clo_i_fail(err, CLO_FORMAT, "%s has more than %zu columns, which is the limit",
                          f->name, CLO_MOST_COLS);
    f->guessed = !header && !known;
    return CLO_OK;
}

/* Counts the cells of the first record and, where it is a header, takes the names from it; the rest
 * is left to be read. */
static clo_status read_first_record(csv *f, clo_i_source *source, const clo_read_options *options,
                                    clo_error *err)
{
    size_t length = 0;
    bool header = false;
    CLO_TRY(find_first_record(f, source, options->delimiter, &length, &f->blank_lines, err));
    const char *const text = source->bytes + source->start, *const end = text + length;
    if (length > 0) {
        f->remark = *text == '#';
        (void)each_cell(f, text, end, count_cell, NULL);
        CLO_TRY(find_header(f, text, end, options, &header, err));
    }
    CLO_TRY(settle_cells(f, options, header, length > 0, err));
    if (!header) return CLO_OK;
    f->blank_lines = 0; /* nobody's: they came before the header */
    return read_header(f, source, length, err);
}

/* ---- the table ------------------------------------------------------------------------------- */

static clo_status copy_chosen_names(const csv *f, const uint32_t *chosen, clo_table *table,
                                    clo_error *err)
{
    if (!f->names && !table->schema) return CLO_OK;
    CLO_TRY(clo_i_alloc(table->cols, sizeof *table->names, &table->names, err));
    for (size_t j = 0; j < table->cols; j++)
        CLO_TRY(clo_i_copy_text(f->names ? f->names[chosen[j]] : table->schema->fields[j].name,
                                &table->names[j], err));
    return CLO_OK;
}

/* The column of this name; that there are two would leave open which one is meant. */
static clo_status find_named(const csv *f, const char *name, uint32_t *out, clo_error *err)
{
    size_t found = f->cells;
    char shown[CLO_SHOWN_BYTES];
    clo_i_show_name(name, shown);
    for (size_t cell = 0; cell < f->cells; cell++) {
        if (strcmp(f->names[cell], name) != 0) continue;
        if (found < f->cells)
            return clo_i_fail(err, CLO_FORMAT, "%s has two columns '%s'", f->name, shown);
        found = cell;
    }
    *out = (uint32_t)found;
    if (found < f->cells) return CLO_OK;
    return clo_i_fail(
        err, CLO_ARGUMENT,
        "%s has no column '%s', which the schema uses: choose other columns (columns), "
        "or change the schema",
        f->name, shown);
}

static bool is_used(const clo_schema *schema, const char *name)
{
    for (size_t j = 0; j < clo_i_schema_cells(schema); j++)
        if (strcmp(clo_i_schema_used(schema, j)->name, name) == 0) return true;
    return false;
}

/* A list that only leaves columns out leaves them out of those that the schema uses. */
static void keep_used(const csv *f, const clo_schema *schema, uint32_t *chosen, size_t *count)
{
    size_t kept = 0;
    for (size_t j = 0; j < *count; j++)
        if (is_used(schema, f->names[chosen[j]])) chosen[kept++] = chosen[j];
    *count = kept;
}

static clo_status choose_by_schema(csv *f, const clo_read_options *options, uint32_t **out,
                                   clo_error *err)
{
    const clo_schema *const schema = options->schema;
    const clo_i_columns columns = { f->cells, f->names, f->name };
    if (!f->names || options->columns) {
        CLO_TRY(clo_i_choose_columns(&columns, options->columns, f->unit, out, &f->cols, err));
        if (f->names && options->columns[strspn(options->columns, " ")] == '-')
            keep_used(f, schema, *out, &f->cols);
        return CLO_OK;
    }
    f->cols = clo_i_schema_cells(schema);
    CLO_TRY(clo_i_alloc(f->cols, sizeof **out, out, err));
    for (size_t j = 0; j < f->cols; j++)
        CLO_TRY(find_named(f, clo_i_schema_used(schema, j)->name, &(*out)[j], err));
    return CLO_OK;
}

/* The schema of the chosen columns, and which of them are no plain numbers. */
static clo_status bind_schema(csv *f, const clo_schema *schema, const uint32_t *chosen,
                              clo_table *table, clo_error *err)
{
    const char **names = NULL;
    clo_status status = CLO_OK;
    if (f->names) CLO_TRY(clo_i_alloc(f->cols, sizeof *names, &names, err));
    for (size_t j = 0; f->names && j < f->cols; j++) names[j] = f->names[chosen[j]];
    status = clo_schema_select(schema, names, f->cols, &table->schema, err);
    clo_i_free(names);
    if (status) return status;
    f->schema = table->schema;
    CLO_TRY(clo_i_alloc(f->cols, sizeof *f->fields, &f->fields, err));
    for (size_t j = 0; j < f->cols; j++) {
        const clo_i_field *const field = clo_i_schema_used(table->schema, j);
        if (clo_i_field_is_coded(field) || field->gap_count) f->fields[j] = field;
    }
    return CLO_OK;
}

/* What is known of the file is the table's, which frees it. */
static void hand_over(const csv *f, clo_table *table)
{
    table->file_cols = f->cells;
    table->file_names = f->names;
    table->delimiter = f->delimiter;
    table->comma = f->comma;
}

/* Which cells go into the table, and which one is the unit. */
static clo_status choose_cells(csv *f, const clo_i_source *source, const clo_read_options *options,
                               clo_table *table, clo_error *err)
{
    const clo_i_columns columns = { f->cells, f->names, f->name };
    uint32_t *chosen = NULL;
    f->unit = SIZE_MAX;
    if (options->unit || f->marks) CLO_TRY(clo_i_source_unit_key(source, f->key, err));
    if (options->unit)
        CLO_TRY(clo_i_find_column(&columns, options->unit, "unit column", &f->unit, err));
    CLO_TRY(clo_i_alloc(f->cells, sizeof *f->slots, &f->slots, err));
    clo_status status = options->schema ? choose_by_schema(f, options, &chosen, err)
                                        : clo_i_choose_columns(&columns, options->columns, f->unit,
                                                               &chosen, &f->cols, err);
    if (!status && options->schema) status = bind_schema(f, options->schema, chosen, table, err);
    table->file_columns = chosen;
    if (status) return status;
    for (size_t cell = 0; cell < f->cells; cell++) f->slots[cell] = -1;
    for (size_t j = 0; j < f->cols; j++) f->slots[chosen[j]] = (int32_t)j;
    table->cols = f->cols;
    table->has_unit = options->unit != NULL;
    table->guessed_cols = f->guessed;
    table->text_later = options->text == CLO_TEXT_LATER;
    table->col_step = sizeof(double);
    table->row_step = f->cols * sizeof(double);
    status = copy_chosen_names(f, chosen, table, err);
    if (!status && options->fill)
        status = clo_i_read_fill(&columns, chosen, f->cols, options->fill, &table->fill, err);
    return status;
}

/* The blank lines that were passed by before it was known that they are records. */
static clo_status add_blank_lines(const csv *f, clo_table *table, clo_error *err)
{
    clo_i_block block = { 0 };
    clo_i_fault fault = { 0 };
    if (f->blank_lines == 0 || !blank_is_record(f)) return CLO_OK;
    clo_status status = allocate_block(f, f->blank_lines, &block);
    if (status != CLO_OK)
        status = clo_i_fail(err, status, "out of memory while reading %s", f->name);
    for (size_t row = 0; row < f->blank_lines && status == CLO_OK; row++) {
        leave_blank(f, row, &block, &fault);
        if (fault.status)
            status = clo_i_fail(err, fault.status, "out of memory while reading %s", f->name);
        if (fault.kind) status = explain(f, &fault, row + 1, err);
    }
    block.rows = f->blank_lines;
    if (status == CLO_OK) status = clo_i_table_append(table, &block, err);
    clo_i_block_clear(&block);
    return status;
}

static clo_status check_delimiter(char delimiter, bool comma, clo_error *err)
{
    if (comma && delimiter == ',')
        return clo_i_fail(err, CLO_ARGUMENT,
                          "the comma cannot be both the decimal mark and the delimiter: choose "
                          "another delimiter");
    if (!delimiter || !strchr("\"\r\n.+-0123456789eE", delimiter)) return CLO_OK;
    return clo_i_fail(err, CLO_ARGUMENT,
                      "the delimiter must not be a quote, a line end or a part of a number");
}

clo_status clo_i_read_csv(clo_i_source *source, const clo_read_options *options, clo_table **out,
                          clo_error *err)
{
    csv f = { .name = source->name,
              .refuse = options->missing == CLO_MISSING_REFUSE,
              .comma = options->decimal == ',',
              .anonymous = source->sink && source->sink->anonymous,
              .marks = source->text_marks };
    const clo_i_text_format format = { record_end, parse, explain, &f, source->name };
    clo_table *table = NULL;
    CLO_TRY(check_delimiter(options->delimiter, f.comma, err));
    clo_status status = clo_i_table_new(&table, err);
    if (status == CLO_OK) status = clo_i_copy_text(source->name, &table->file, err);
    if (status == CLO_OK) status = read_first_record(&f, source, options, err);
    if (table) hand_over(&f, table);
    if (status == CLO_OK) status = choose_cells(&f, source, options, table, err);
    if (status == CLO_OK) status = add_blank_lines(&f, table, err);
    if (status == CLO_OK) status = clo_i_read_text(source, &format, table, err);
    clo_i_free(f.slots);
    clo_i_free(f.fields);
    clo_i_wipe(&f, sizeof f);
    if (status != CLO_OK) {
        clo_table_free(table);
        return status;
    }
    *out = table;
    return CLO_OK;
}
