/*
 * blocks_on_workers.c - blocks of records that workers hold: the same blocks as in one process,
 * bytes, order and seeds, each visited by one task, whoever that is given to (fold.T7).
 *
 * The driver draws, as a process alone would: which block each slot is in, and the seeds.  Blocks
 * go in groups: group g of G has the blocks g, g + G, …  A part puts its rows in the order of
 * their blocks, and those of one group are a packet: words, which travel as whoever deals likes,
 * and are as sensitive as the rows.  Who has the packets of one group from all parts, in their
 * order, shows its blocks to the visitor and gives what came of them, and zeros for all other
 * blocks; so that the sum over the groups is what one process has.
 *
 * A packet holds its share of the hash of all rows, too.  The driver adds those up: a row that came
 * twice, or not at all, because a part gave its rows in another order when it was read again, ends
 * the run.
 */
#include "ask/blocks.h"
#include "bound/bound.h"
#include "parallel/parallel.h"
#include "ask/fold.h"
#include <math.h>
#include <string.h>

/* Behind it: how many rows each block of the group has, a word each, and their cells, two a
 * word. */
typedef struct head {
    uint64_t form, blocks;
    uint64_t row_hash[CLO_ROW_HASH_NUMBERS];
} head;
static const uint64_t FORM = 0x31306c6372617020; /* " parcl01" */
enum { HEAD_WORDS = sizeof(head) / sizeof(uint64_t) };
_Static_assert(sizeof(head) % sizeof(uint64_t) == 0, "a head is whole words");

static size_t blocks_of(size_t blocks, size_t group, size_t groups)
{
    return group < blocks ? (blocks - group - 1) / groups + 1 : 0;
}

/* ---- a part deals its rows ------------------------------------------------------------------- */

static clo_status take_own(clo_workspace *space, clo_division *own, int32_t **cells, clo_error *err)
{
    CLO_TRY(clo_i_take(space, own->slots, sizeof *own->block_of, &own->block_of, err));
    CLO_TRY(clo_i_take(space, own->count, sizeof *own->places, &own->places, err));
    CLO_TRY(clo_i_take(space, own->blocks, sizeof *own->sizes, &own->sizes, err));
    CLO_TRY(clo_i_take(space, own->blocks, sizeof *own->begins, &own->begins, err));
    memset(own->sizes, 0, own->blocks * sizeof *own->sizes);
    return clo_i_take(space, own->count * own->cols, sizeof **cells, cells, err);
}

static clo_status take_block_numbers(const clo_dealing *how, const clo_division *own,
                                     clo_error *err)
{
    if (how->slots != own->slots)
        return clo_i_fail(err, CLO_FORMAT, "a part has another number of rows than was counted");
    for (size_t i = 0; i < own->slots; i++) {
        if (how->block_of[i] >= own->blocks)
            return clo_i_fail(err, CLO_FORMAT, "the driver told of a block too many");
        own->block_of[i] = how->block_of[i];
    }
    return CLO_OK;
}

/* What a group has of the rows: by the block numbers of slots, so before these are of rows. */
static void count_slots(const clo_dealing *how, clo_row_hash *hashes)
{
    for (size_t i = 0; i < how->slots; i++) {
        const size_t group = how->block_of[i] % how->groups;
        if (group >= how->first && group - how->first < how->count)
            hashes[group - how->first].numbers[0]++;
    }
}

static clo_status pack(const clo_division *own, const int32_t *cells, size_t group, size_t groups,
                       const clo_row_hash *row_hash, clo_packet *out, clo_error *err)
{
    const size_t count = blocks_of(own->blocks, group, groups);
    const head begin = { .form = FORM, .blocks = count };
    size_t rows = 0, at = HEAD_WORDS;
    for (size_t b = group; b < own->blocks; b += groups) rows += own->sizes[b];
    out->count = HEAD_WORDS + count + (rows * own->cols + 1) / 2;
    CLO_TRY(clo_i_alloc(out->count, sizeof *out->words, &out->words, err));
    memcpy(out->words, &begin, sizeof begin);
    memcpy(&((head *)(void *)out->words)->row_hash, row_hash->numbers, sizeof row_hash->numbers);
    for (size_t b = group; b < own->blocks; b += groups) out->words[at++] = own->sizes[b];
    uint8_t *to = (uint8_t *)(out->words + at);
    for (size_t b = group; b < own->blocks; b += groups) {
        const size_t bytes = own->sizes[b] * own->cols * sizeof *cells;
        if (bytes) memcpy(to, cells + own->begins[b], bytes);
        to += bytes;
    }
    return CLO_OK;
}

void clo_i_packets_free(clo_packet *packets, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        clo_i_wipe_free(packets[i].words, packets[i].count * sizeof *packets[i].words);
        packets[i] = (clo_packet){ .words = NULL };
    }
}

static clo_status deal(clo_context *context, const clo_ask *ask, const clo_bounded *seen,
                       const clo_bounded *rows, const clo_dealing *how, clo_row_hash *hashes,
                       clo_packet *out, clo_error *err)
{
    clo_division own = { .count = clo_i_bounded_rows(seen),
                         .slots = clo_i_bounded_slots(seen),
                         .cols = ask->line->cols,
                         .blocks = ask->line->query->blocks.count(ask->line),
                         .block_rows = clo_i_pass_block_rows(context, seen) };
    int32_t *cells = NULL;
    CLO_TRY(take_own(context->workspace, &own, &cells, err));
    CLO_TRY(take_block_numbers(how, &own, err));
    count_slots(how, hashes);
    CLO_TRY(clo_i_place_cells(context, seen, ask->line->bits, &own, cells, err));
    CLO_TRY(clo_i_hash_groups(rows, how, own.block_of, context->threads, hashes, err));
    clo_status status = CLO_OK;
    for (size_t i = 0; i < how->count && !status; i++)
        status = pack(&own, cells, how->first + i, how->groups, &hashes[i], &out[i], err);
    if (status) clo_i_packets_free(out, how->count);
    return status;
}

clo_status clo_i_deal_blocks(clo_context *context, const clo_ask *ask, const clo_bounded *seen,
                             const clo_bounded *rows, const clo_dealing *how, clo_packet *out,
                             clo_error *err)
{
    clo_row_hash *hashes = NULL;
    for (size_t i = 0; i < how->count; i++) out[i] = (clo_packet){ .words = NULL };
    CLO_TRY(clo_i_alloc(how->count, sizeof *hashes, &hashes, err));
    const clo_status status = deal(context, ask, seen, rows, how, hashes, out, err);
    clo_i_wipe_free(hashes, how->count * sizeof *hashes);
    return status;
}

/* ---- whoever solves a group ----------------------------------------------------------------- */

/* Whatever the words are: false where they are no packet of this group; otherwise sizes and cells
 * lie in them. */
static bool is_packet(const clo_packet *packet, size_t blocks, size_t cols)
{
    head begin;
    size_t rows = 0, cells = 0;
    if (packet->count < HEAD_WORDS) return false;
    memcpy(&begin, packet->words, sizeof begin);
    const size_t left = packet->count - HEAD_WORDS;
    if (begin.form != FORM || begin.blocks != blocks || blocks > left) return false;
    for (size_t i = 0; i < blocks; i++)
        if (!clo_i_add(rows, (size_t)packet->words[HEAD_WORDS + i], &rows)) return false;
    return clo_i_multiply(rows, cols, &cells) && cells < SIZE_MAX / 2 &&
           (cells + 1) / 2 == left - blocks;
}

/* How many rows each block has, and what share of all rows the packets are. */
static clo_status read_sizes(clo_packets *given, const clo_division *kept, clo_error *err)
{
    const size_t count = blocks_of(kept->blocks, given->group, given->groups);
    for (size_t p = 0; p < given->count; p++) {
        const clo_packet *const packet = &given->packets[p];
        head begin;
        if (!is_packet(packet, count, kept->cols))
            return clo_i_fail(err, CLO_FORMAT, "these bytes are no rows of these blocks");
        memcpy(&begin, packet->words, sizeof begin);
        for (size_t i = 0; i < CLO_ROW_HASH_NUMBERS; i++) given->row_hash[i] += begin.row_hash[i];
        for (size_t i = 0; i < count; i++)
            kept->sizes[given->group + i * given->groups] += (size_t)packet->words[HEAD_WORDS + i];
    }
    return CLO_OK;
}

/* Rows of a block come packet after packet.  begins: where the next ones go, and in the end where
 * the first one is again. */
static void unpack(const clo_packets *given, const clo_division *kept)
{
    const size_t count = blocks_of(kept->blocks, given->group, given->groups);
    for (size_t p = 0; p < given->count; p++) {
        const uint64_t *const sizes = given->packets[p].words + HEAD_WORDS;
        const uint8_t *from = (const uint8_t *)(sizes + count);
        for (size_t i = 0; i < count; i++) {
            size_t *const begin = &kept->begins[given->group + i * given->groups];
            for (size_t cells = (size_t)sizes[i] * kept->cols; cells > 0; cells--) {
                int32_t cell;
                memcpy(&cell, from, sizeof cell);
                kept->records[(*begin)++] = (double)cell * kept->unit;
                from += sizeof cell;
            }
        }
    }
    for (size_t b = given->group; b < kept->blocks; b += given->groups)
        kept->begins[b] -= kept->sizes[b] * kept->cols;
}

static clo_status keep_records(clo_packets *given, clo_division *kept, clo_workspace **space,
                               clo_error *err)
{
    size_t rows = 0, bytes = 0;
    CLO_TRY(read_sizes(given, kept, err));
    for (size_t b = given->group; b < kept->blocks; b += given->groups) rows += kept->sizes[b];
    if (!clo_i_multiply(rows, kept->cols * sizeof *kept->records, &bytes))
        return clo_i_fail(err, CLO_MEMORY, "a size is too large for this machine");
    const size_t cells = clo_i_lay_blocks(kept, given->group, given->groups, CLO_BLOCK_LINE);
    CLO_TRY(clo_workspace_new(cells * sizeof *kept->records, space, err));
    CLO_TRY(clo_i_take(*space, cells, sizeof *kept->records, &kept->records, err));
    unpack(given, kept);
    return CLO_OK;
}

/* Results are words, of which those of other groups are 0. */
static void add_results(clo_packets *given, const clo_each_block *how)
{
    const uint64_t *const results = how->results;
    for (size_t i = 0; i < given->entries; i++)
        given->totals[i] = (int64_t)((uint64_t)given->totals[i] + results[i]);
}

clo_status clo_i_visit_packets(clo_context *context, const clo_each_block *how, clo_error *err)
{
    clo_packets *const given = context->packets;
    clo_workspace *space = NULL;
    clo_division kept = { .cols = how->line->cols,
                          .blocks = how->blocks,
                          .unit = ldexp(1, -how->line->bits) };
    if (given->seed_bytes != how->blocks * CLO_BLOCK_SEED ||
        given->entries != how->blocks * how->each / sizeof(uint64_t))
        return clo_i_fail(err, CLO_FORMAT, "these bytes are no ask of this plan");
    clo_status status = clo_i_alloc(kept.blocks, sizeof *kept.sizes, &kept.sizes, err);
    if (!status) status = clo_i_alloc(kept.blocks, sizeof *kept.begins, &kept.begins, err);
    if (!status) status = keep_records(given, &kept, &space, err);
    if (!status)
        status = clo_i_visit_blocks(context, &kept, given->seeds, given->group, given->groups,
                                    how->visit, how->user, err);
    if (!status) add_results(given, how);
    clo_workspace_free(space);
    clo_i_wipe_free(kept.sizes, kept.blocks * sizeof *kept.sizes);
    clo_i_wipe_free(kept.begins, kept.blocks * sizeof *kept.begins);
    return status;
}

/* ---- the driver ------------------------------------------------------------------------------ */

static clo_status hand_out(clo_context *context, const clo_each_block *how, clo_handed *handed,
                           clo_error *err)
{
    const clo_elsewhere *const elsewhere = context->elsewhere;
    const size_t entries = how->blocks * how->each / sizeof(int64_t);
    const clo_ask ask = {
        .line = how->line, .lens = context->lens, .words = how->words, .word_count = how->word_count
    };
    const size_t number = context->meter->first + (size_t)(ask.line - context->meter->lines);
    uint8_t *bytes = NULL;
    CLO_TRY(clo_i_ask_encode(&ask, number, entries, &bytes, &handed->ask_bytes, err));
    handed->ask = bytes;
    const clo_status status = elsewhere->solve(elsewhere->user, handed, how->results, entries, err);
    clo_i_free(bytes);
    return status;
}

clo_status clo_i_blocks_elsewhere(clo_context *context, const clo_each_block *how,
                                  const clo_bounded *data, clo_error *err)
{
    const clo_elsewhere *const elsewhere = context->elsewhere;
    clo_handed handed = { .seed_bytes = how->blocks * CLO_BLOCK_SEED };
    uint32_t *block_of = NULL;
    uint8_t *seeds = NULL;
    CLO_TRY(elsewhere->count(elsewhere->user, &handed.slots, err));
    clo_status status = clo_i_alloc((size_t)handed.slots, sizeof *block_of, &block_of, err);
    if (!status) status = clo_i_alloc(how->blocks, CLO_BLOCK_SEED, &seeds, err);
    if (!status)
        status = clo_i_draw_all_block_numbers(context, how->blocks, (size_t)handed.slots,
                                              clo_i_divides_evenly(data), block_of, err);
    if (!status) status = clo_i_draw_seeds(context, how->blocks, seeds, err);
    handed.block_of = block_of;
    handed.seeds = seeds;
    if (!status) status = hand_out(context, how, &handed, err);
    clo_i_free(seeds);
    clo_i_free(block_of);
    return status;
}
