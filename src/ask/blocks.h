/* blocks.h - the records divided at random into disjoint blocks, and something done with each. */
#ifndef CLO_ASK_BLOCKS_H
#define CLO_ASK_BLOCKS_H

#include "ask/fold.h"

/* The records, in unit-ball coordinates, divided at random into so many disjoint blocks.  Each
 * block begins on a cache line, whatever lies before it: what a solver makes of it is then a
 * function of its bytes to the last bit, although BLAS treats what lies askew in another order. */
typedef struct clo_division {
    size_t count, cols, blocks;
    size_t slots;      /* rows that draw a block: null ones, too, where their number is public */
    size_t block_rows; /* of the pass */
    double unit;
    uint32_t *block_of; /* slots: the block of each row */
    size_t *sizes;      /* blocks: how many rows it has */
    size_t *begins;     /* blocks: where its rows begin, in doubles */
    size_t *places;     /* count: where each row goes, in doubles */
    double *records;    /* block after block, each a row after the other */
} clo_division;

/* Shown each block, with a seed of its own, on some thread; BLAS is on one there. */
typedef clo_status clo_visit_block(void *user, int thread, size_t number, const clo_block *block);

/* Into how many blocks the records are divided, and what is made of each. */
typedef struct clo_each_block {
    const clo_line *line;
    size_t blocks;
    clo_visit_block *visit;
    void *user;
    void *results;         /* blocks x each bytes, all 0: a visit writes those of its own block */
    size_t each;           /* a multiple of 8 */
    const uint64_t *words; /* what the other ranks are told (clo_block_open) */
    size_t word_count;
} clo_each_block;

/* Divides the records and visits every block: by this process; or by all ranks, each of which
 * visits those whose number is its own modulo their number (fold.T6), where every rank calls it,
 * rank 0 first, and has all results afterwards; or by workers, for whom the driver calls it, and
 * each who visits some (fold.T7).  ready: whether this one can; if not, a rank says so to the
 * others and they end together. */
CLO_CHECK clo_status clo_i_each_block(clo_context *context, const clo_each_block *how,
                                      const clo_bounded *data, clo_status ready, clo_error *err);
/* How another rank than the first does its part of that ask. */
CLO_CHECK clo_status clo_i_open_blocks(clo_context *context, const clo_ask *ask,
                                       const clo_bounded *data, clo_block_work *out,
                                       clo_error *err);
/* Takes what of it follows the number of rows: of one process, and of one of several ranks. */
CLO_CHECK clo_status clo_i_division_room(const clo_line *line, size_t blocks, size_t rows,
                                         clo_workspace *space, clo_error *err);
CLO_CHECK clo_status clo_i_rank_blocks_room(const clo_line *line, size_t blocks, size_t rows,
                                            const clo_ranks *ranks, clo_workspace *space,
                                            clo_error *err);

/* ---- what the two ways share ----------------------------------------------------------------- */

enum { CLO_BLOCK_LINE = 8, CLO_BLOCK_SEED = 32 }; /* doubles of a cache line; bytes */

/* From the workspace; lives as long as the caller's mark. */
CLO_CHECK clo_status clo_i_divide(clo_context *context, const clo_line *line, size_t blocks,
                                  const clo_bounded *data, clo_division *d, clo_error *err);
/* Whether all blocks get equally many of a public number of rows. */
bool clo_i_divides_evenly(const clo_bounded *data);
/* The blocks of the next `count` slots; where it is even, of all of them at once. */
void clo_i_draw_block_numbers(clo_stream *stream, bool even, size_t blocks, size_t count,
                              uint32_t *block_of);
/* All of them at once, from a stream of their own. */
CLO_CHECK clo_status clo_i_draw_all_block_numbers(clo_context *context, size_t blocks, size_t slots,
                                                  bool even, uint32_t *block_of, clo_error *err);
CLO_CHECK clo_status clo_i_draw_seeds(clo_context *context, size_t blocks, uint8_t *seeds,
                                      clo_error *err);
/* The rows as integers of the grid, in the order of their blocks; home is of slots, and of rows
 * afterwards. */
CLO_CHECK clo_status clo_i_place_cells(clo_context *context, const clo_bounded *data, int bits,
                                       const clo_division *d, int32_t *cells, clo_error *err);
/* Where the blocks first, first + step, … begin, by their sizes; and where the last one ends. */
size_t clo_i_lay_blocks(const clo_division *d, size_t first, size_t step, size_t line);
/* Visits the blocks first, first + step, …, which lie in the division. */
CLO_CHECK clo_status clo_i_visit_blocks(const clo_context *context, const clo_division *d,
                                        const uint8_t *seeds, size_t first, size_t step,
                                        clo_visit_block *visit, void *user, clo_error *err);
/* The whole of it on several ranks: blocks_on_ranks.c. */
CLO_CHECK clo_status clo_i_blocks_on_ranks(clo_context *context, const clo_each_block *how,
                                           const clo_bounded *data, clo_status ready,
                                           clo_error *err);
/* The same where workers hold the rows: the driver's side, one task's, and that of a part, of which
 * a fold sees `seen`; blocks_on_workers.c. */
CLO_CHECK clo_status clo_i_blocks_elsewhere(clo_context *context, const clo_each_block *how,
                                            const clo_bounded *data, clo_error *err);
CLO_CHECK clo_status clo_i_visit_packets(clo_context *context, const clo_each_block *how,
                                         clo_error *err);
CLO_CHECK clo_status clo_i_deal_blocks(clo_context *context, const clo_ask *ask,
                                       const clo_bounded *seen, const clo_bounded *rows,
                                       const clo_dealing *how, clo_packet *out, clo_error *err);

/* The hash of the rows of each group; block_of: of rows.  row_hash.c. */
typedef struct clo_row_hash {
    uint64_t numbers[CLO_ROW_HASH_NUMBERS];
} clo_row_hash;
CLO_CHECK clo_status clo_i_hash_groups(const clo_bounded *rows, const clo_dealing *how,
                                       const uint32_t *block_of, int threads, clo_row_hash *hashes,
                                       clo_error *err);

#endif
