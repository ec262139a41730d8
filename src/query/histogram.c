/*
 * histogram.c - where most blocks of records agree: each of many disjoint blocks names a cell of a
 * partition, a tuple of integers, or none; the cell that most of them name is released if it is
 * large enough, with noise, to be there in every neighbour's data too (histogram.T1).
 *
 * The partition may be as fine as one likes, for only cells that some block names are looked at.
 * They are put in order and compared integer by integer: nothing is hashed, so that no two cells
 * are ever taken for one, and the order in which noise is drawn says nothing.  "No cell" is an
 * answer like any other, and costs as much.  How a block names its cell may be as inexact as
 * floating point is: it is the same function of the same bytes, and from there on all numbers are
 * integers (histogram.T2).
 *
 * The blocks may fall into several parts, each with a largest cell of its own: a record is in one
 * block of one part, so that all parts together cost what one does (histogram.T3).
 */
#include "query/histogram.h"
#include "query/queries.h"
#include "base/planted.h"
#include "ask/blocks.h"
#include "ask/fold.h"
#include "parallel/parallel.h"
#include "random/random.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BITS = 30, MOST_BLOCKS = 1 << 16 };
static const uint64_t PIECES = (uint64_t)1 << 30; /* of an epsilon */

/* The least tau with exp(-rate tau) max(exp(rate s), s exp(rate)) / (1 + exp(-rate)) at most
 * delta, rounded up (histogram.T1). */
static double least_threshold(double rate, double changed, double delta)
{
    const double most = fmax(rate * changed, rate + log(changed));
    const double spared = fmin(delta, -expm1(-rate));
    const double exact = (most - log(spared) - log1p(exp(-rate))) / rate;
    return fmax(1, ceil(exact * (1 + 1e-12) + 1e-9));
}

clo_status clo_i_plan_histogram(const clo_domain *domain, size_t width, size_t parts, size_t blocks,
                                clo_loss loss, const char *label, clo_line *out, clo_error *err)
{
    const double pieces = loss.epsilon * (double)PIECES, changed = (double)domain->rows_per_unit;
    size_t all = 0;
    if (!(loss.delta > 0))
        return clo_i_fail(err, CLO_BUDGET, "a histogram of cells needs a delta above 0");
    if (!(pieces >= 1))
        return clo_i_fail(err, CLO_BUDGET, "so small a budget finds no cell: raise epsilon");
    if (!(loss.epsilon <= 1e6) || domain->rows_per_unit > (uint64_t)1 << 31)
        return clo_i_fail(err, CLO_ARGUMENT, "a histogram needs an epsilon of at most 1e6");
    if (width < 1 || blocks < 1 || blocks > MOST_BLOCKS)
        return clo_i_fail(err, CLO_ARGUMENT, "blocks must be between 1 and %d, not %zu",
                          (int)MOST_BLOCKS, blocks);
    if (parts < 1 || !clo_i_multiply(parts, blocks, &all) || all > MOST_BLOCKS)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "parts of %zu blocks must be between 1 and %zu, not %zu", blocks,
                          MOST_BLOCKS / blocks, parts);
    clo_line line = { .query = &clo_i_query_histogram,
                      .label = label,
                      .bits = BITS,
                      .cols = domain->cols,
                      .sensitivity = 2 * domain->rows_per_unit,
                      .rate_numerator = (uint64_t)pieces,
                      .rate_denominator = 2 * domain->rows_per_unit * PIECES };
    const double rate = (double)line.rate_numerator / (double)line.rate_denominator;
    const double threshold = least_threshold(rate, changed, loss.delta);
    if (!(threshold <= 0x1p53))
        return clo_i_fail(err, CLO_BUDGET, "so small a budget finds no cell: raise epsilon");
    line.event = (clo_event){ .kind = CLO_EVENT_APPROXIMATE,
                              .parameter = (double)line.rate_numerator / (double)PIECES,
                              .delta = loss.delta,
                              .count = 1 };
    clo_i_histogram_set_fields(&line, (clo_histogram_fields){ .blocks = all,
                                                              .parts = parts,
                                                              .width = width,
                                                              .threshold = (uint64_t)threshold });
    line.noise = sqrt(2) / rate;
    *out = line;
    return CLO_OK;
}

/* ---- the cells that there are --------------------------------------------------------------- */

typedef struct entry {
    const int64_t *cell; /* NULL: the block names none */
    size_t width;
} entry;

typedef struct locating {
    clo_block_locate *locate;
    void *user;
    size_t width, parts, blocks; /* blocks: of a part */
    int64_t *named; /* all blocks, part after part: whether it names a cell, and the cell */
} locating;

static int64_t *named_by(const locating *l, size_t b)
{
    return l->named + b * (1 + l->width);
}

/* A block that cannot be told a cell for, a matter of its records alone, has none. */
static clo_status locate_in(const locating *l, size_t part, size_t number, const clo_block *block)
{
    int64_t *const named = named_by(l, part * l->blocks + number);
    clo_error unseen;
    const clo_status status = l->locate(l->user, part, block, named + 1, &unseen);
    if (status == CLO_MEMORY || status == CLO_CANCELLED) return status;
    named[0] = status == CLO_OK;
    return CLO_OK;
}

static clo_status locate_one(void *user, int thread, size_t b, const clo_block *block)
{
    const locating *const l = user;
    (void)thread;
    if (!clo_i_planted(CLO_FAULT_PARTS_SHARED))
        return locate_in(l, b / l->blocks, b % l->blocks, block);
    for (size_t part = 0; part < l->parts; part++) CLO_TRY(locate_in(l, part, b, block));
    return CLO_OK;
}

static int compare(const void *left, const void *right)
{
    const entry *const a = left, *const b = right;
    if (!a->cell || !b->cell) return (a->cell == NULL) - (b->cell == NULL);
    for (size_t i = 0; i < a->width; i++)
        if (a->cell[i] != b->cell[i]) return a->cell[i] < b->cell[i] ? -1 : 1;
    return 0;
}

/* The cells of one part that are named, and how many blocks name each. */
typedef struct census {
    size_t count;
    const entry **cells; /* blocks of a part: the first that names the cell */
    int64_t *sizes;      /* the same */
} census;

static void take_census(size_t blocks, const entry *sorted, census *c)
{
    size_t end;
    c->count = 0;
    for (size_t first = 0; first < blocks && sorted[first].cell; first = end) {
        for (end = first + 1; end < blocks; end++)
            if (compare(sorted + first, sorted + end) != 0) break;
        c->cells[c->count] = sorted + first;
        c->sizes[c->count++] = (int64_t)(end - first);
    }
}

/* Of one part: noise on the size of every cell that is named; of those that reach the threshold the
 * largest, the first in the order of the cells on a tie (histogram.T1). */
static clo_status find_largest(const clo_context *context, clo_stream *stream, const clo_line *line,
                               census *c, const entry **found, int64_t *size, clo_error *err)
{
    const uint64_t lax = clo_i_planted(CLO_FAULT_HISTOGRAM_LAX) ? 10 : 1;
    const int64_t threshold = (int64_t)(clo_i_histogram_fields(line).threshold / lax);
    *found = NULL;
    clo_i_add_noise_from(context, line, stream,
                         clo_i_laplace_law(line->rate_numerator, line->rate_denominator), c->sizes,
                         c->count);
    for (size_t i = 0; i < c->count; i++) {
        if (c->sizes[i] < threshold || (*found && c->sizes[i] <= *size)) continue;
        *found = c->cells[i];
        *size = c->sizes[i];
    }
    return clo_i_stream_check(stream, err);
}

static void publish(const clo_line *line, const entry *found, int64_t size, double *told,
                    clo_cell *out)
{
    const size_t width = clo_i_histogram_fields(line).width;
    memset(out->place, 0, width * sizeof *out->place);
    if (found) memcpy(out->place, found->cell, width * sizeof *out->place);
    out->found = found != NULL;
    out->size = found ? size : 0;
    CLO_I_DECLASSIFY(&out->found, sizeof out->found);
    CLO_I_DECLASSIFY(&out->size, sizeof out->size);
    CLO_I_DECLASSIFY(out->place, width * sizeof *out->place);
    told[0] = out->found;
    told[1] = (double)out->size;
    for (size_t i = 0; i < width; i++) told[2 + i] = (double)out->place[i];
}

static clo_status answer_part(const clo_context *context, clo_stream *stream, const clo_line *line,
                              entry *own, census *c, double *told, clo_cell *out, clo_error *err)
{
    const clo_histogram_fields how = clo_i_histogram_fields(line);
    const entry *found = NULL;
    int64_t size = 0;
    qsort(own, how.blocks / how.parts, sizeof *own, compare);
    take_census(how.blocks / how.parts, own, c);
    CLO_TRY(find_largest(context, stream, line, c, &found, &size, err));
    publish(line, found, size, told, out);
    return CLO_OK;
}

static clo_status answer(clo_context *context, const clo_line *line, entry *entries, clo_cell *out,
                         clo_error *err)
{
    const clo_histogram_fields how = clo_i_histogram_fields(line);
    const size_t blocks = how.blocks / how.parts, numbers = 2 + how.width;
    clo_stream *stream = NULL;
    double *told = NULL;
    census c = { .count = 0 };
    clo_status status = clo_i_alloc(how.parts * numbers, sizeof *told, &told, err);
    if (!status) status = clo_i_alloc(blocks, sizeof *c.cells, &c.cells, err);
    if (!status) status = clo_i_alloc(blocks, sizeof *c.sizes, &c.sizes, err);
    if (!status)
        status = clo_i_stream_open(context->rng, clo_i_rng_next_ask(context->rng), 0, &stream, err);
    for (size_t part = 0; part < how.parts && !status; part++)
        status = answer_part(context, stream, line, entries + part * blocks, &c,
                             told + part * numbers, out + part, err);
    if (!status) clo_i_tell_answer(context, line, told, how.parts * numbers, 0);
    clo_i_stream_close(stream);
    clo_i_wipe_free(c.sizes, blocks * sizeof *c.sizes);
    clo_i_wipe_free(c.cells, blocks * sizeof *c.cells);
    clo_i_free(told);
    return status;
}

static size_t named_count(const locating *l)
{
    return l->parts * l->blocks * (1 + l->width);
}

static void forget(locating *l)
{
    clo_i_wipe_free(l->named, named_count(l) * sizeof *l->named);
}

/* What all blocks name, by this process or by all ranks; to be forgotten, also where it fails.
 * told: its words.  ready: whether cells can be named. */
static clo_status locate_blocks(clo_context *context, const clo_ask *told, const clo_bounded *data,
                                clo_status ready, locating *l, clo_error *err)
{
    const clo_histogram_fields how = clo_i_histogram_fields(told->line);
    size_t count = 0;
    l->width = how.width;
    l->parts = how.parts;
    l->blocks = how.blocks / how.parts;
    if (!ready && !clo_i_multiply(how.blocks, 1 + how.width, &count))
        ready = clo_i_fail(err, CLO_MEMORY, "so many cells do not fit into memory");
    if (!ready) ready = clo_i_alloc(count, sizeof *l->named, &l->named, err);
    const clo_each_block each = { .line = told->line,
                                  .blocks = clo_i_planted(CLO_FAULT_PARTS_SHARED) ? l->blocks
                                                                                  : how.blocks,
                                  .visit = locate_one,
                                  .user = l,
                                  .results = l->named,
                                  .each = (1 + l->width) * sizeof *l->named,
                                  .words = told->words,
                                  .word_count = told->word_count };
    return clo_i_each_block(context, &each, data, ready, err);
}

static clo_status list_entries(const locating *l, entry **out, clo_error *err)
{
    entry *entries = NULL;
    CLO_TRY(clo_i_alloc(l->parts * l->blocks, sizeof *entries, &entries, err));
    for (size_t b = 0; b < l->parts * l->blocks; b++) {
        const int64_t *const named = named_by(l, b);
        entries[b] = (entry){ named[0] ? named + 1 : NULL, l->width };
    }
    *out = entries;
    return CLO_OK;
}

clo_status clo_i_ask_histogram(clo_context *context, size_t number, const clo_bounded *data,
                               clo_block_locate *locate, void *user, const uint64_t *words,
                               size_t word_count, clo_cell *out, clo_error *err)
{
    const size_t mark = clo_i_workspace_begin_ask(context->workspace);
    locating l = { .locate = locate, .user = user };
    clo_ask told = { .words = words, .word_count = word_count };
    entry *entries = NULL;
    CLO_TRY(clo_i_meter_charge(context, number, &clo_i_query_histogram, &told.line, err));
    clo_status status = locate_blocks(context, &told, data, CLO_OK, &l, err);
    clo_i_workspace_release(context->workspace, mark);
    if (!status) status = list_entries(&l, &entries, err);
    if (!status) status = answer(context, told.line, entries, out, err);
    clo_i_wipe_free(entries, l.parts * l.blocks * sizeof *entries);
    forget(&l);
    return status;
}

/* Another rank names the cells of its blocks, and forgets those of all. */
static clo_status help(clo_context *context, const clo_ask *ask, const clo_bounded *data,
                       clo_error *err)
{
    clo_block_work work = { .locate = NULL };
    clo_status status = clo_i_open_blocks(context, ask, data, &work, err);
    if (!status && !work.locate) status = clo_i_fail(err, CLO_FORMAT, "this plan names no cells");
    locating l = { .locate = work.locate, .user = work.user };
    status = locate_blocks(context, ask, data, status, &l, err);
    forget(&l);
    return status;
}

/* The rest of its room follows the number of rows, which no plan knows. */
static clo_status lay_out(clo_fold *fold, clo_workspace *space, clo_error *err)
{
    (void)fold, (void)space, (void)err;
    return CLO_OK;
}

static size_t count_blocks(const clo_line *line)
{
    return clo_i_histogram_fields(line).blocks;
}

const clo_query clo_i_query_histogram = {
    .name = "histogram",
    .reading = CLO_READING_BLOCKS,
    .numbers = clo_i_numbers_drawn,
    .lay_out = lay_out,
    .blocks = {
        .count = count_blocks,
        .help = help,
    },
};
