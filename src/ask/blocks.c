/*
 * blocks.c - the records divided at random into disjoint blocks, and something done with each: what
 * sample and aggregate and the histogram of cells stand on (aggregate.T4, histogram.T2).
 *
 * Which block a row is in does not depend on what it says, nor on other rows; so that of two
 * neighbours' blocks all but a few are the same, bytes and order.
 */
#include "ask/blocks.h"
#include "bound/bound.h"
#include "linalg/linalg.h"
#include "random/random.h"
#include <math.h>
#include <omp.h>
#include <stdatomic.h>
#include <string.h>

bool clo_i_divides_evenly(const clo_bounded *data)
{
    const clo_domain *const domain = clo_i_bounded_domain(data);
    return domain->relation == CLO_REPLACE && !domain->unit;
}

/* Where the number of rows is public all blocks get equally many, but for one row, and which rows
 * share one is a uniform draw; a null record's place in its block stays empty (bound.T6).  Under
 * add-remove, and where persons may have fewer rows or more, each row draws its block by itself, so
 * that one more row changes no other's (aggregate.T4). */
void clo_i_draw_block_numbers(clo_stream *stream, bool even, size_t blocks, size_t count,
                              uint32_t *block_of)
{
    for (size_t i = 0; i < count; i++)
        block_of[i] = even ? (uint32_t)(i % blocks) : (uint32_t)clo_i_random_below(stream, blocks);
    for (size_t i = count; even && i > 1; i--) {
        const size_t j = (size_t)clo_i_random_below(stream, i);
        const uint32_t swapped = block_of[i - 1];
        block_of[i - 1] = block_of[j];
        block_of[j] = swapped;
    }
}

clo_status clo_i_draw_all_block_numbers(clo_context *context, size_t blocks, size_t slots,
                                        bool even, uint32_t *block_of, clo_error *err)
{
    clo_stream *stream = NULL;
    CLO_TRY(clo_i_stream_open(context->rng, clo_i_rng_next_ask(context->rng), 0, &stream, err));
    clo_i_draw_block_numbers(stream, even, blocks, slots, block_of);
    const clo_status status = clo_i_stream_check(stream, err);
    clo_i_stream_close(stream);
    return status;
}

size_t clo_i_lay_blocks(const clo_division *d, size_t first, size_t step, size_t line)
{
    size_t end = 0;
    for (size_t b = first; b < d->blocks; b += step) {
        d->begins[b] = (end + line - 1) / line * line;
        end = d->begins[b] + d->sizes[b] * d->cols;
    }
    return end;
}

/* Where the rows of these data go, by the block numbers of their slots: in the order of the data,
 * and a block begins on a multiple of `line`. */
static void find_places(const clo_bounded *data, const clo_division *d, size_t line)
{
    for (size_t i = 0; i < d->count; i++) /* from slots to rows, which are never before them */
        d->block_of[i] = d->block_of[clo_i_bounded_slot(data, i)];
    for (size_t i = 0; i < d->count; i++) d->sizes[d->block_of[i]]++;
    (void)clo_i_lay_blocks(d, 0, 1, line);
    for (size_t i = 0; i < d->count; i++) {
        d->places[i] = d->begins[d->block_of[i]];
        d->begins[d->block_of[i]] += d->cols;
    }
    for (size_t b = 0; b < d->blocks; b++) d->begins[b] -= d->sizes[b] * d->cols;
}

static clo_status place_rows(void *user, int thread, size_t block, const double *values,
                             size_t rows)
{
    const clo_division *const d = user;
    (void)thread;
    for (size_t i = 0; i < rows; i++) {
        double *const to = d->records + d->places[block * d->block_rows + i];
        for (size_t j = 0; j < d->cols; j++) to[j] = values[i * d->cols + j] * d->unit;
    }
    return CLO_OK;
}

/* Between two blocks lies less than a line. */
static size_t record_cells(size_t rows, size_t cols, size_t blocks)
{
    return rows * cols + blocks * CLO_BLOCK_LINE;
}

static clo_status take(clo_workspace *space, clo_division *d, clo_error *err)
{
    CLO_TRY(clo_i_take(space, d->slots, sizeof *d->block_of, &d->block_of, err));
    CLO_TRY(clo_i_take(space, d->count, sizeof *d->places, &d->places, err));
    CLO_TRY(clo_i_take(space, d->blocks, sizeof *d->sizes, &d->sizes, err));
    CLO_TRY(clo_i_take(space, d->blocks, sizeof *d->begins, &d->begins, err));
    return clo_i_take(space, record_cells(d->count, d->cols, d->blocks), sizeof *d->records,
                      &d->records, err);
}

clo_status clo_i_division_room(const clo_line *line, size_t blocks, size_t rows,
                               clo_workspace *space, clo_error *err)
{
    clo_division unused = { .count = rows, .slots = rows, .cols = line->cols, .blocks = blocks };
    return take(space, &unused, err);
}

clo_status clo_i_divide(clo_context *context, const clo_line *line, size_t blocks,
                        const clo_bounded *data, clo_division *d, clo_error *err)
{
    double *scratch = NULL;
    *d = (clo_division){ .count = clo_i_bounded_rows(data),
                         .slots = clo_i_bounded_slots(data),
                         .cols = line->cols,
                         .blocks = blocks,
                         .block_rows = clo_i_pass_block_rows(context, data),
                         .unit = ldexp(1, -line->bits) };
    CLO_TRY(take(context->workspace, d, err));
    const size_t mark = clo_i_workspace_mark(context->workspace);
    CLO_TRY(clo_i_draw_all_block_numbers(context, blocks, d->slots, clo_i_divides_evenly(data),
                                         d->block_of, err));
    find_places(data, d, CLO_BLOCK_LINE);
    CLO_TRY(clo_i_take(context->workspace, clo_i_pass_scratch(context, data, context->threads),
                       sizeof *scratch, &scratch, err));
    const clo_status status =
        clo_i_pass(context, data, line->bits, context->threads, scratch, place_rows, d, err);
    clo_i_workspace_release(context->workspace, mark);
    return status;
}

typedef struct placing {
    const clo_division *d;
    int32_t *cells;
} placing;

static clo_status place_cells(void *user, int thread, size_t block, const double *values,
                              size_t rows)
{
    const placing *const p = user;
    const size_t cols = p->d->cols;
    (void)thread;
    for (size_t i = 0; i < rows; i++) {
        int32_t *const to = p->cells + p->d->places[block * p->d->block_rows + i];
        for (size_t j = 0; j < cols; j++) to[j] = (int32_t)values[i * cols + j];
    }
    return CLO_OK;
}

/* Integers of a grid of at most 30 bits, and no zero is negative: as doubles they are the same. */
clo_status clo_i_place_cells(clo_context *context, const clo_bounded *data, int bits,
                             const clo_division *d, int32_t *cells, clo_error *err)
{
    const size_t mark = clo_i_workspace_mark(context->workspace);
    placing p = { .d = d, .cells = cells };
    double *scratch = NULL;
    find_places(data, d, 1);
    CLO_TRY(clo_i_take(context->workspace, clo_i_pass_scratch(context, data, context->threads),
                       sizeof *scratch, &scratch, err));
    const clo_status status =
        clo_i_pass(context, data, bits, context->threads, scratch, place_cells, &p, err);
    clo_i_workspace_release(context->workspace, mark);
    return status;
}

/* ---- a visit to each ---------------------------------------------------------------------- */

clo_status clo_i_draw_seeds(clo_context *context, size_t blocks, uint8_t *seeds, clo_error *err)
{
    const uint64_t ask = clo_i_rng_next_ask(context->rng);
    clo_stream *stream = NULL;
    CLO_TRY(clo_i_stream_open(context->rng, ask, 0, &stream, err));
    for (size_t i = 0; i < CLO_BLOCK_SEED / sizeof(uint64_t) * blocks; i++) {
        const uint64_t word = clo_i_random_u64(stream);
        memcpy(seeds + 8 * i, &word, sizeof word);
    }
    const clo_status status = clo_i_stream_check(stream, err);
    clo_i_stream_close(stream);
    return status;
}

static clo_block block_at(const clo_division *d, size_t b, const uint8_t *seeds)
{
    clo_block block = { .rows = d->records + d->begins[b], .count = d->sizes[b], .cols = d->cols };
    memcpy(block.seed, seeds + CLO_BLOCK_SEED * b, sizeof block.seed);
    return block;
}

clo_status clo_i_visit_blocks(const clo_context *context, const clo_division *d,
                              const uint8_t *seeds, size_t first, size_t step,
                              clo_visit_block *visit, void *user, clo_error *err)
{
    _Atomic int failure = CLO_OK;
    const int serial = clo_i_blas_serial_begin();
#pragma omp parallel for schedule(dynamic) num_threads(context->threads)
    for (size_t b = first; b < d->blocks; b += step) {
        const int thread = omp_get_thread_num();
        if (atomic_load(&failure)) continue;
        const clo_block block = block_at(d, b, seeds);
        clo_status mine = visit(user, thread, b, &block);
        if (!mine && thread == 0)
            mine = clo_i_tell_progress(context, (double)b / (double)d->blocks, NULL);
        if (mine) atomic_store(&failure, (int)mine);
    }
    clo_i_blas_serial_end(serial);
    const clo_status status = (clo_status)atomic_load(&failure);
    return status ? clo_i_fail(err, status, "a block of the records could not be solved") : CLO_OK;
}

static clo_status visit_all(clo_context *context, const clo_each_block *how, const clo_division *d,
                            clo_error *err)
{
    uint8_t *seeds = NULL;
    CLO_TRY(clo_i_alloc(d->blocks, CLO_BLOCK_SEED, &seeds, err));
    clo_status status = clo_i_draw_seeds(context, d->blocks, seeds, err);
    if (!status) status = clo_i_visit_blocks(context, d, seeds, 0, 1, how->visit, how->user, err);
    clo_i_free(seeds);
    return status;
}

clo_status clo_i_open_blocks(clo_context *context, const clo_ask *ask, const clo_bounded *data,
                             clo_block_work *out, clo_error *err)
{
    if (!context->open_blocks)
        return clo_i_fail(err, CLO_FORMAT, "these bytes are no ask of this plan");
    return context->open_blocks(context->plan, clo_i_bounded_domain(data)->cols, context,
                                ask->words, ask->word_count, out, err);
}

clo_status clo_i_each_block(clo_context *context, const clo_each_block *how,
                            const clo_bounded *data, clo_status ready, clo_error *err)
{
    clo_division d;
    if (context->packets) return ready ? ready : clo_i_visit_packets(context, how, err);
    if (context->elsewhere) return ready ? ready : clo_i_blocks_elsewhere(context, how, data, err);
    if (context->comm->size > 1) return clo_i_blocks_on_ranks(context, how, data, ready, err);
    if (ready) return ready;
    CLO_TRY(clo_i_divide(context, how->line, how->blocks, data, &d, err));
    return visit_all(context, how, &d, err);
}
