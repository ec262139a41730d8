/*
 * blocks.c - the records divided at random into disjoint blocks, and something done with each: what
 * sample and aggregate and the histogram of cells stand on (aggregate.T4, histogram.T2).
 *
 * Which block a row is in does not depend on what it says, nor on other rows; so that of two
 * neighbours' blocks all but a few are the same, bytes and order.
 */
#include "query/blocks.h"
#include "bound/bound.h"
#include "linalg/linalg.h"
#include "random/random.h"
#include <math.h>
#include <omp.h>
#include <stdatomic.h>
#include <string.h>

enum { LINE = 8 }; /* doubles of a cache line, which every block begins on */

/* Where the number of rows is public all blocks get equally many, but for one row, and which rows
 * share one is a uniform draw; a null record's place in its block stays empty (bound.T6).  Under
 * add-remove, and where persons may have fewer rows or more, each row draws its block by itself, so
 * that one more row changes no other's (aggregate.T4). */
static clo_status draw_homes(clo_context *context, const clo_division *d, bool even, clo_error *err)
{
    clo_stream *stream = NULL;
    CLO_TRY(clo_i_stream_open(context->rng, clo_i_rng_next_ask(context->rng), 0, &stream, err));
    for (size_t i = 0; i < d->slots; i++)
        d->home[i] =
            even ? (uint32_t)(i % d->blocks) : (uint32_t)clo_i_random_below(stream, d->blocks);
    for (size_t i = d->slots; even && i > 1; i--) {
        const size_t j = (size_t)clo_i_random_below(stream, i);
        const uint32_t swapped = d->home[i - 1];
        d->home[i - 1] = d->home[j];
        d->home[j] = swapped;
    }
    const clo_status status = clo_i_stream_check(stream, err);
    clo_i_stream_close(stream);
    return status;
}

/* Rows stand in a block in the order of the data. */
static void find_places(const clo_bounded *data, const clo_division *d)
{
    for (size_t i = 0; i < d->count; i++) /* from slots to rows, which are never before them */
        d->home[i] = d->home[clo_i_bounded_slot(data, i)];
    for (size_t i = 0; i < d->count; i++) d->sizes[d->home[i]]++;
    for (size_t b = 1; b < d->blocks; b++) {
        const size_t end = d->begins[b - 1] + d->sizes[b - 1] * d->cols;
        d->begins[b] = (end + LINE - 1) / LINE * LINE;
    }
    for (size_t i = 0; i < d->count; i++) {
        d->places[i] = d->begins[d->home[i]];
        d->begins[d->home[i]] += d->cols;
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
    return rows * cols + blocks * LINE;
}

static clo_status take(clo_workspace *space, clo_division *d, clo_error *err)
{
    CLO_TRY(clo_i_take(space, d->slots, sizeof *d->home, &d->home, err));
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
    const clo_domain *const domain = clo_i_bounded_domain(data);
    const bool even = domain->relation == CLO_REPLACE && !domain->unit;
    double *scratch = NULL;
    *d = (clo_division){ .count = clo_i_bounded_rows(data),
                         .slots = clo_i_bounded_slots(data),
                         .cols = line->cols,
                         .blocks = blocks,
                         .block_rows = clo_i_pass_block_rows(context, data),
                         .unit = ldexp(1, -line->bits) };
    CLO_TRY(take(context->workspace, d, err));
    const size_t mark = clo_i_workspace_mark(context->workspace);
    CLO_TRY(draw_homes(context, d, even, err));
    find_places(data, d);
    CLO_TRY(clo_i_take(context->workspace, clo_i_pass_scratch(context, data, context->threads),
                       sizeof *scratch, &scratch, err));
    const clo_status status =
        clo_i_pass(context, data, line->bits, context->threads, scratch, place_rows, d, err);
    clo_i_workspace_release(context->workspace, mark);
    return status;
}

/* ---- a visit to each ---------------------------------------------------------------------- */

static clo_status draw_seeds(clo_context *context, size_t blocks, uint8_t *seeds, clo_error *err)
{
    const uint64_t ask = clo_i_rng_next_ask(context->rng);
    clo_stream *stream = NULL;
    CLO_TRY(clo_i_stream_open(context->rng, ask, 0, &stream, err));
    for (size_t i = 0; i < 4 * blocks; i++) {
        const uint64_t word = clo_i_random_u64(stream);
        memcpy(seeds + 8 * i, &word, sizeof word);
    }
    const clo_status status = clo_i_stream_check(stream, err);
    clo_i_stream_close(stream);
    return status;
}

static bool tell(const clo_context *context, double share)
{
    const double from = context->progress_from, to = context->progress_to;
    return !context->progress || context->progress(context->user, from + share * (to - from));
}

static clo_block block_at(const clo_division *d, size_t b, const uint8_t *seeds)
{
    clo_block block = { .rows = d->records + d->begins[b], .count = d->sizes[b], .cols = d->cols };
    memcpy(block.seed, seeds + 32 * b, sizeof block.seed);
    return block;
}

clo_status clo_i_visit_blocks(clo_context *context, const clo_division *d, clo_visit_block *visit,
                              void *user, clo_error *err)
{
    _Atomic int failure = CLO_OK;
    uint8_t *seeds = NULL;
    clo_status status = clo_i_alloc(d->blocks, 32, &seeds, err);
    if (!status) status = draw_seeds(context, d->blocks, seeds, err);
    const int serial = clo_i_blas_serial_begin();
#pragma omp parallel for schedule(dynamic) num_threads(context->threads) if (!status)
    for (size_t b = 0; b < d->blocks; b++) {
        const int thread = omp_get_thread_num();
        if (status || atomic_load(&failure)) continue;
        const clo_block block = block_at(d, b, seeds);
        clo_status mine = visit(user, thread, b, &block);
        if (!mine && thread == 0 && !tell(context, (double)b / (double)d->blocks))
            mine = CLO_CANCELLED;
        if (mine) atomic_store(&failure, (int)mine);
    }
    clo_i_blas_serial_end(serial);
    clo_i_free(seeds);
    if (status) return status;
    status = (clo_status)atomic_load(&failure);
    return status ? clo_i_fail(err, status, "a block of the records could not be solved") : CLO_OK;
}
