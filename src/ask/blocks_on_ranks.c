/*
 * blocks_on_ranks.c - blocks of records over several ranks: the same blocks as in one process,
 * bytes, order and seeds, each visited by one rank, and what comes of them on all of them
 * (fold.T6).
 *
 * Rank 0 draws, as it would alone: which block each slot is in, and the seeds.  Every rank puts its
 * own rows in the order of their blocks.  Then they show them to each other, rank after rank: a sum
 * in which all but one add zeros is what that one has.  So the rows of a block come in the order of
 * the data.  Block b is kept, and visited, by rank b modulo their number; what it gave is shared by
 * another such sum.
 *
 * Numbers that travel are exact and un-noised, as folds are: they stay with the ranks.  A rank that
 * cannot go on says so in the next sum, where all of them end together; what can fail is done
 * before one, and what follows the number of rows was taken before the grant was used (meter.T2).
 */
#include "ask/blocks.h"
#include "bound/bound.h"
#include "parallel/parallel.h"
#include "ask/fold.h"
#include <math.h>
#include <string.h>

enum { WINDOW = 1 << 17, CHUNK = 1 << 16 }; /* numbers, and block numbers, that travel at a time */

typedef struct rank_blocks {
    clo_context *context;
    const clo_each_block *how;
    const clo_bounded *data;
    size_t rank, ranks;
    size_t first,
        all; /* slots: where this rank's begin among those of all, and how many those are */
    clo_division own;  /* this rank's rows, and where in `cells` each goes */
    int32_t *cells;    /* own.count x cols, block after block, on the grid */
    clo_division kept; /* the blocks that this rank visits */
    size_t room;       /* doubles of its records ... */
    size_t *filled;    /* ... and how many of each block are there */
    int64_t *numbers;  /* that are added up: one a rank or a block, and one more */
    int64_t *window;
    uint32_t *chunk;
    uint8_t *seeds;
    clo_status mine; /* how this rank fares, which the next sum tells */
    clo_error *err;
} rank_blocks;

/* ---- room ---------------------------------------------------------------------------------- */

/* How many rows the blocks of a rank have, at most, of so many that all ranks have.  Where each row
 * draws its block the mean m is passed by 16 sqrt(m) + 256 with a chance below exp(-100), whatever
 * m is (Bernstein); where blocks are even, by no more than 2. */
static uint64_t most_rows(uint64_t all, size_t own, size_t blocks)
{
    const double mean = (double)all * ((double)own / (double)blocks);
    const double most = ceil(mean + 16 * sqrt(mean) + 256);
    return most < (double)all ? (uint64_t)most : all;
}

static size_t own_blocks(const rank_blocks *s)
{
    const size_t blocks = s->how->blocks;
    return s->rank < blocks ? (blocks - s->rank - 1) / s->ranks + 1 : 0;
}

static clo_status take_kept(clo_workspace *space, uint64_t all_rows, rank_blocks *s, clo_error *err)
{
    const size_t blocks = s->how->blocks, own = own_blocks(s);
    const uint64_t rows = most_rows(all_rows, own, blocks);
    size_t cells = 0;
    if (rows > SIZE_MAX || !clo_i_multiply((size_t)rows, s->how->line->cols, &cells) ||
        !clo_i_add(cells, own * CLO_BLOCK_LINE, &s->room))
        return clo_i_fail(err, CLO_MEMORY, "a size is too large for this machine");
    CLO_TRY(clo_i_take(space, blocks, sizeof *s->kept.sizes, &s->kept.sizes, err));
    CLO_TRY(clo_i_take(space, blocks, sizeof *s->kept.begins, &s->kept.begins, err));
    CLO_TRY(clo_i_take(space, blocks, sizeof *s->filled, &s->filled, err));
    return clo_i_take(space, s->room, sizeof *s->kept.records, &s->kept.records, err);
}

static clo_status take_own(clo_workspace *space, rank_blocks *s, clo_error *err)
{
    clo_division *const own = &s->own;
    CLO_TRY(clo_i_take(space, own->slots, sizeof *own->block_of, &own->block_of, err));
    CLO_TRY(clo_i_take(space, own->count, sizeof *own->places, &own->places, err));
    CLO_TRY(clo_i_take(space, own->blocks, sizeof *own->sizes, &own->sizes, err));
    CLO_TRY(clo_i_take(space, own->blocks, sizeof *own->begins, &own->begins, err));
    return clo_i_take(space, own->count * own->cols, sizeof *s->cells, &s->cells, err);
}

static clo_status take(clo_workspace *space, uint64_t all_rows, rank_blocks *s, clo_error *err)
{
    CLO_TRY(take_own(space, s, err));
    CLO_TRY(take_kept(space, all_rows, s, err));
    CLO_TRY(clo_i_take(space, WINDOW, sizeof *s->window, &s->window, err));
    CLO_TRY(clo_i_take(space, CHUNK, sizeof *s->chunk, &s->chunk, err));
    return clo_i_take(space, s->how->blocks, CLO_BLOCK_SEED, &s->seeds, err);
}

/* What a rank needs to take part in any of the sums; so it comes first. */
static clo_status take_numbers(clo_workspace *space, rank_blocks *s, clo_error *err)
{
    const size_t most = s->ranks > s->how->blocks ? s->ranks : s->how->blocks;
    return clo_i_take(space, most + 1, sizeof *s->numbers, &s->numbers, err);
}

clo_status clo_i_rank_blocks_room(const clo_line *line, size_t blocks, size_t rows,
                                  const clo_ranks *ranks, clo_workspace *space, clo_error *err)
{
    const clo_each_block how = { .line = line, .blocks = blocks };
    rank_blocks s = { .how = &how,
                      .rank = ranks->rank,
                      .ranks = ranks->size,
                      .own = {
                          .count = rows, .slots = rows, .cols = line->cols, .blocks = blocks } };
    CLO_TRY(take_numbers(space, &s, err));
    return take(space, ranks->rows, &s, err);
}

/* ---- what travels --------------------------------------------------------------------------- */

/* The first failure of this rank, in its words. */
static void fail(rank_blocks *s, clo_status status, const char *why)
{
    if (!s->mine) s->mine = clo_i_fail(s->err, status, "%s", why);
}

/* Adds the first `count` numbers up, and one more that says whether all ranks can go on. */
static clo_status add_up(rank_blocks *s, size_t count)
{
    s->numbers[count] = s->mine != CLO_OK;
    const clo_status status =
        clo_i_comm_sum(s->context->comm, s->numbers, count + 1, s->mine ? NULL : s->err);
    if (s->mine) return s->mine;
    if (status) return status;
    if (s->numbers[count])
        return clo_i_fail(s->err, CLO_IO, "another rank could not do its part of the blocks");
    return CLO_OK;
}

/* Rank 0 says what is asked.  The first sum is of a number a rank: also for one that cannot read
 * the ask (clo_i_fold_for_rank_0). */
static clo_status tell(const rank_blocks *s)
{
    clo_context *const context = s->context;
    const clo_ask ask = { .line = s->how->line,
                          .lens = context->lens,
                          .words = s->how->words,
                          .word_count = s->how->word_count };
    const size_t number = context->meter->first + (size_t)(ask.line - context->meter->lines);
    uint8_t *bytes = NULL;
    size_t count = 0;
    CLO_TRY(clo_i_ask_encode(&ask, number, s->ranks, &bytes, &count, s->err));
    const clo_status status = clo_i_comm_send(context->comm, CLO_MESSAGE_ASK, bytes, count, s->err);
    clo_i_free(bytes);
    return status;
}

/* How many slots each rank has: the data are those of rank 0, then of rank 1, … */
static clo_status share_slots(rank_blocks *s)
{
    memset(s->numbers, 0, s->ranks * sizeof *s->numbers);
    s->numbers[s->rank] = (int64_t)s->own.slots;
    CLO_TRY(add_up(s, s->ranks));
    for (size_t r = 0; r < s->ranks; r++) {
        if (r < s->rank) s->first += (size_t)s->numbers[r];
        s->all += (size_t)s->numbers[r];
    }
    if (s->all > s->context->all_rows)
        fail(s, CLO_ARGUMENT, "the ranks have more rows than clo_run_options.all_rows says");
    return CLO_OK;
}

/* ---- which block each slot is in ------------------------------------------------------------- */

/* An even division is drawn all at once: of as many slots as are public. */
static void open_lots(rank_blocks *s, clo_stream **stream, uint32_t **even)
{
    clo_context *const context = s->context;
    const uint64_t ask = clo_i_rng_next_ask(context->rng);
    if (!s->mine) s->mine = clo_i_stream_open(context->rng, ask, 0, stream, s->err);
    if (s->mine || !clo_i_divides_evenly(s->data)) return;
    s->mine = clo_i_alloc(s->all, sizeof **even, even, s->err);
    if (!s->mine) clo_i_draw_block_numbers(*stream, true, s->how->blocks, s->all, *even);
}

/* What of the slots at, at + 1, … is this rank's. */
static void keep_block_numbers(rank_blocks *s, size_t at, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const size_t slot = at + i;
        if (slot < s->first || slot - s->first >= s->own.slots) continue;
        if (s->chunk[i] >= s->how->blocks) fail(s, CLO_FORMAT, "rank 0 told of a block too many");
        s->own.block_of[slot - s->first] = s->mine ? 0 : s->chunk[i];
    }
}

/* From the same stream, in the same order, as in one process.  Rank 0 goes on if it fails: the
 * others wait for as many block numbers as there are. */
static clo_status deal_block_numbers(rank_blocks *s)
{
    clo_stream *stream = NULL;
    uint32_t *even = NULL;
    clo_status status = CLO_OK;
    const bool leads = s->rank == 0;
    if (leads) open_lots(s, &stream, &even);
    for (size_t at = 0; at < s->all && !status; at += CHUNK) {
        const size_t here = s->all - at < CHUNK ? s->all - at : CHUNK;
        if (leads && even && !s->mine) memcpy(s->chunk, even + at, here * sizeof *even);
        if (leads && !even && !s->mine)
            clo_i_draw_block_numbers(stream, false, s->how->blocks, here, s->chunk);
        status = clo_i_comm_broadcast(s->context->comm, s->chunk, here * sizeof *s->chunk,
                                      s->mine ? NULL : s->err);
        if (!status) keep_block_numbers(s, at, here);
    }
    if (stream && !s->mine) s->mine = clo_i_stream_check(stream, s->err);
    clo_i_stream_close(stream);
    clo_i_free(even);
    return status;
}

/* ---- this rank's rows ------------------------------------------------------------------------ */

static clo_status place_own(rank_blocks *s)
{
    return clo_i_place_cells(s->context, s->data, s->how->line->bits, &s->own, s->cells, s->err);
}

/* ---- the rows of all, block by block --------------------------------------------------------- */

static clo_status share_sizes(rank_blocks *s)
{
    const size_t blocks = s->how->blocks;
    for (size_t b = 0; b < blocks; b++) s->numbers[b] = (int64_t)s->own.sizes[b];
    CLO_TRY(add_up(s, blocks));
    for (size_t b = 0; b < blocks; b++) s->kept.sizes[b] = (size_t)s->numbers[b];
    if (clo_i_lay_blocks(&s->kept, s->rank, s->ranks, CLO_BLOCK_LINE) > s->room)
        fail(s, CLO_MEMORY, "out of memory");
    return CLO_OK;
}

/* Cells of a block, some of which may be there already, from whichever rank. */
static void fill(rank_blocks *s, size_t block, const uint8_t *from, size_t cells)
{
    double *const to = s->kept.records + s->kept.begins[block] + s->filled[block];
    if (s->mine || cells > s->kept.sizes[block] * s->kept.cols - s->filled[block]) {
        fail(s, CLO_INTERNAL, "a block has more rows than its ranks said");
        return;
    }
    for (size_t i = 0; i < cells; i++) {
        int32_t cell;
        memcpy(&cell, from + i * sizeof cell, sizeof cell);
        to[i] = (double)cell * s->kept.unit;
    }
    s->filled[block] += cells;
}

/* Where in the rows of one rank a window is: so many cells are left of that block. */
typedef struct walk {
    size_t block, left;
} walk;

static void hand_out(rank_blocks *s, walk *w, size_t cells)
{
    const uint8_t *from = (const uint8_t *)s->window;
    while (cells > 0) {
        while (w->left == 0) w->left = (size_t)s->numbers[++w->block] * s->kept.cols;
        const size_t here = cells < w->left ? cells : w->left;
        if (w->block % s->ranks == s->rank) fill(s, w->block, from, here);
        from += here * sizeof(int32_t);
        w->left -= here;
        cells -= here;
    }
}

/* The rows of one rank, of which numbers[b] are in block b, on all of them: two cells a number. */
static clo_status show_rows(rank_blocks *s, size_t from)
{
    const size_t most = WINDOW * sizeof *s->window / sizeof *s->cells, cols = s->kept.cols;
    walk w = { .block = 0, .left = (size_t)s->numbers[0] * cols };
    const int32_t *next = s->cells;
    size_t left = 0;
    for (size_t b = 0; b < s->how->blocks; b++) left += (size_t)s->numbers[b] * cols;
    while (left > 0) {
        const size_t here = left < most ? left : most, words = (here + 1) / 2;
        memset(s->window, 0, words * sizeof *s->window);
        if (from == s->rank) memcpy(s->window, next, here * sizeof *next);
        CLO_TRY(clo_i_comm_sum(s->context->comm, s->window, words, s->mine ? NULL : s->err));
        hand_out(s, &w, here);
        next += from == s->rank ? here : 0;
        left -= here;
    }
    return CLO_OK;
}

static clo_status gather_blocks(rank_blocks *s)
{
    for (size_t from = 0; from < s->ranks; from++) {
        for (size_t b = 0; b < s->how->blocks; b++)
            s->numbers[b] = from == s->rank ? (int64_t)s->own.sizes[b] : 0;
        CLO_TRY(add_up(s, s->how->blocks));
        CLO_TRY(show_rows(s, from));
    }
    return CLO_OK;
}

/* ---- what came of them ----------------------------------------------------------------------- */

/* Results of blocks that this rank has not visited are zeros. */
static clo_status share_results(rank_blocks *s)
{
    const size_t bytes = s->how->blocks * s->how->each, most = WINDOW * sizeof *s->window;
    uint8_t *const results = s->how->results;
    CLO_TRY(add_up(s, 0));
    for (size_t at = 0; at < bytes; at += most) {
        const size_t here = bytes - at < most ? bytes - at : most;
        memcpy(s->window, results + at, here);
        CLO_TRY(clo_i_comm_sum(s->context->comm, s->window, here / sizeof *s->window, s->err));
        memcpy(results + at, s->window, here);
    }
    return CLO_OK;
}

static clo_status visit(rank_blocks *s)
{
    return clo_i_visit_blocks(s->context, &s->kept, s->seeds, s->rank, s->ranks, s->how->visit,
                              s->how->user, s->err);
}

/* fold.T6.  A status that is returned at once is one that all ranks have, or that of a comm that is
 * no more. */
static clo_status go(rank_blocks *s)
{
    const size_t blocks = s->how->blocks;
    CLO_TRY(share_slots(s));
    CLO_TRY(deal_block_numbers(s));
    if (!s->mine) s->mine = place_own(s);
    if (!s->mine && s->rank == 0) s->mine = clo_i_draw_seeds(s->context, blocks, s->seeds, s->err);
    CLO_TRY(share_sizes(s));
    CLO_TRY(clo_i_comm_broadcast(s->context->comm, s->seeds, blocks * CLO_BLOCK_SEED,
                                 s->mine ? NULL : s->err));
    CLO_TRY(gather_blocks(s));
    if (!s->mine) s->mine = visit(s);
    return share_results(s);
}

clo_status clo_i_blocks_on_ranks(clo_context *context, const clo_each_block *how,
                                 const clo_bounded *data, clo_status ready, clo_error *err)
{
    const clo_comm *const comm = context->comm;
    clo_division own = { .count = clo_i_bounded_rows(data),
                         .slots = clo_i_bounded_slots(data),
                         .cols = how->line->cols,
                         .blocks = how->blocks,
                         .block_rows = clo_i_pass_block_rows(context, data),
                         .unit = ldexp(1, -how->line->bits) };
    rank_blocks s = { .context = context,
                      .how = how,
                      .data = data,
                      .rank = (size_t)comm->rank,
                      .ranks = (size_t)comm->size,
                      .own = own,
                      .kept = own,
                      .mine = ready,
                      .err = err };
    CLO_TRY(take_numbers(context->workspace, &s, ready ? NULL : err));
    if (!s.mine) s.mine = take(context->workspace, context->all_rows, &s, err);
    if (comm->rank == 0) {
        if (s.mine) return s.mine; /* nobody was told */
        CLO_TRY(tell(&s));
    }
    return go(&s);
}
