/*
 * segments.c - text in pieces of whole records, parsed by several threads.
 *
 *   window   |record|record|record|record|record|rec
 *   pieces   [ piece 0    ][ piece 1   ][ piece 2 ]  the rest waits for more bytes
 *
 * A piece is cut where a record ends, which for CSV is not every line end: a quoted cell may hold
 * one.  The cuts are found from the start of the window by the same rule that parses, never
 * guessed, so that the table is the same on any number of threads.
 */
#include "data/formats.h"
#include <omp.h>
#include <string.h>

#define PIECE_BYTES ((size_t)1 << 19)
enum { LEAST_PIECES = 4 }; /* a window holds the longest line */

typedef struct piece {
    const char *text, *end;
    size_t lines;
    clo_i_block block;
    clo_i_fault fault;
} piece;

size_t clo_i_count_bytes(const char *text, const char *end, char wanted)
{
    size_t count = 0;
    while (text < end && (text = memchr(text, wanted, (size_t)(end - text)))) {
        count++;
        text++;
    }
    return count;
}

void clo_i_skip_mark(clo_i_source *source)
{
    if (source->end - source->start >= 3 &&
        memcmp(source->bytes + source->start, "\xef\xbb\xbf", 3) == 0)
        source->start += 3;
}

void clo_i_end_last_line(clo_i_source *source)
{
    /* There is room for it in the padding. */
    if (source->at_end && source->start < source->end && source->bytes[source->end - 1] != '\n')
        source->bytes[source->end++] = '\n';
}

/* Where the first record ends that ends at `least` or later, or the last that ends before `end`;
 * text where none does.  plain: every line end ends a record. */
static const char *find_cut(const clo_i_text_format *format, bool plain, const char *text,
                            const char *least, const char *end)
{
    const char *cut = text;
    if (plain) {
        const char *line = least < end ? memchr(least, '\n', (size_t)(end - least)) : NULL;
        if (!line) line = memrchr(text, '\n', (size_t)(end - text));
        return line ? line + 1 : text;
    }
    while (cut <= least && cut < end) {
        const char *const next = format->record_end(format->self, cut, end);
        if (!next) break;
        cut = next;
    }
    return cut;
}

/* Cuts the window into pieces; *rest is where the records end that are whole. */
static size_t cut_pieces(const clo_i_text_format *format, const clo_i_source *source, piece *pieces,
                         size_t most, const char **rest)
{
    const char *text = source->bytes + source->start, *const end = source->bytes + source->end;
    const bool plain = !format->record_end || !memchr(text, '"', (size_t)(end - text));
    size_t count = 0;
    while (text < end && count < most) {
        const char *const least = (size_t)(end - text) > PIECE_BYTES ? text + PIECE_BYTES - 1 : end;
        const char *const cut = find_cut(format, plain, text, least, end);
        if (cut == text) break;
        pieces[count++] = (piece){ .text = text, .end = cut };
        text = cut;
    }
    *rest = text;
    return count;
}

static void parse_pieces(const clo_i_text_format *format, piece *pieces, size_t count)
{
#pragma omp parallel for schedule(dynamic, 1) if (count > 1)
    for (size_t i = 0; i < count; i++) {
        piece *const p = &pieces[i];
        p->lines = clo_i_count_bytes(p->text, p->end, '\n');
        format->parse(format->self, p->text, p->end, p->lines, &p->block, &p->fault);
    }
}

/* In order, so that of several faults the first in the file is the one reported. */
static clo_status append_pieces(const clo_i_text_format *format, clo_i_source *source,
                                piece *pieces, size_t count, clo_table *table, clo_error *err)
{
    for (size_t i = 0; i < count; i++) {
        const clo_i_fault *const fault = &pieces[i].fault;
        if (fault->status == CLO_MEMORY)
            return clo_i_fail(err, CLO_MEMORY, "out of memory while reading %s", format->name);
        if (fault->kind)
            return format->explain(format->self, fault, source->lines + fault->line + 1, err);
        CLO_TRY(clo_i_table_append(table, &pieces[i].block, err));
        if (table->rows + (source->sink ? source->sink->rows : 0) > CLO_MOST_ROWS)
            return clo_i_fail(err, CLO_FORMAT, "%s has more than %zu rows, which is the limit",
                              format->name, CLO_MOST_ROWS);
        source->lines += pieces[i].lines;
    }
    return CLO_OK;
}

/* One window: what is whole in it becomes blocks; what is left stays in the window. */
static clo_status read_window(clo_i_source *source, const clo_i_text_format *format, piece *pieces,
                              size_t most, clo_table *table, clo_error *err)
{
    const char *rest;
    size_t count = cut_pieces(format, source, pieces, most, &rest);
    const char *const end = source->bytes + source->end;
    if (count == 0 && !source->at_end)
        return clo_i_fail(err, CLO_FORMAT, "%s, line %zu: longer than %zu bytes%s", format->name,
                          source->lines + 1, CLO_LINE_BYTES,
                          format->record_end ? "; is a quote left open?" : "");
    if (count < most && source->at_end && rest < end) { /* a quote that is never closed */
        pieces[count++] = (piece){ .text = rest, .end = end };
        rest = end;
    }
    parse_pieces(format, pieces, count);
    const clo_status status = append_pieces(format, source, pieces, count, table, err);
    for (size_t i = 0; i < count; i++) clo_i_block_clear(&pieces[i].block);
    source->start = (size_t)(rest - source->bytes);
    return status;
}

/* Some for each thread; and of rows that are not kept, as many as there is room for. */
static size_t most_pieces(const clo_i_source *source)
{
    const size_t usual = 4 * (size_t)omp_get_max_threads() + 4;
    const size_t room = source->sink ? source->sink->text_bytes / PIECE_BYTES : usual;
    const size_t most = room < usual ? room : usual;
    return most < LEAST_PIECES ? LEAST_PIECES : most;
}

clo_status clo_i_read_text(clo_i_source *source, const clo_i_text_format *format, clo_table *table,
                           clo_error *err)
{
    const size_t most = most_pieces(source);
    clo_status status = CLO_OK;
    piece *pieces = NULL;
    CLO_TRY(clo_i_alloc(most, sizeof *pieces, &pieces, err));
    for (;;) {
        status = clo_i_source_fill(source, most * PIECE_BYTES, err);
        if (status != CLO_OK || source->start == source->end) break;
        clo_i_end_last_line(source);
        status = read_window(source, format, pieces, most, table, err);
        if (status == CLO_OK && source->sink) status = clo_i_sink_show(source->sink, table, err);
        if (status != CLO_OK) break;
    }
    clo_i_free(pieces);
    return status;
}
