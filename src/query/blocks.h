/* blocks.h - the records divided at random into disjoint blocks, and something done with each. */
#ifndef CLO_QUERY_BLOCKS_H
#define CLO_QUERY_BLOCKS_H

#include "query/parts.h"

/* The records, in unit-ball coordinates, divided at random into so many disjoint blocks.  Each
 * block begins on a cache line, whatever lies before it: what a solver makes of it is then a
 * function of its bytes to the last bit, although BLAS treats what lies askew in another order. */
typedef struct clo_division {
    size_t count, cols, blocks;
    size_t slots;      /* rows that draw a block: null ones, too, where their number is public */
    size_t block_rows; /* of the pass */
    double unit;
    uint32_t *home;  /* slots: the block of each row */
    size_t *sizes;   /* blocks: how many rows it has */
    size_t *begins;  /* blocks: where its rows begin, in doubles */
    size_t *places;  /* count: where each row goes, in doubles */
    double *records; /* block after block, each a row after the other */
} clo_division;

/* From the workspace; lives as long as the caller's mark. */
CLO_CHECK clo_status clo_i_divide(clo_context *context, const clo_line *line, size_t blocks,
                                  const clo_bounded *data, clo_division *d, clo_error *err);
/* Shows each block, with a seed of its own, to `visit`, on some thread; BLAS is on one there. */
typedef clo_status clo_visit_block(void *user, int thread, size_t number, const clo_block *block);
CLO_CHECK clo_status clo_i_visit_blocks(clo_context *context, const clo_division *d,
                                        clo_visit_block *visit, void *user, clo_error *err);
/* Takes what of a division follows the number of rows. */
CLO_CHECK clo_status clo_i_division_room(const clo_line *line, size_t blocks, size_t rows,
                                         clo_workspace *space, clo_error *err);

#endif
