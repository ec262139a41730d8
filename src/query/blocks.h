/* blocks.h - the records divided at random into disjoint blocks, and something done with each. */
#ifndef CLO_QUERY_BLOCKS_H
#define CLO_QUERY_BLOCKS_H

#include "query/parts.h"

/* The records, in unit-ball coordinates, divided at random into so many disjoint blocks. */
typedef struct clo_division {
    size_t count, cols, blocks;
    size_t block_rows; /* of the pass */
    double unit;
    uint32_t *home;  /* count: the block of each row */
    size_t *starts;  /* blocks + 1: where its rows begin */
    size_t *places;  /* count: where each row goes */
    double *records; /* count x cols, block after block */
} clo_division;

/* Whatever comes of it, to be freed. */
CLO_CHECK clo_status clo_i_divide(clo_context *context, const clo_line *line, size_t blocks,
                                  const clo_bounded *data, clo_division *d, clo_error *err);
void clo_i_division_free(clo_division *d);
/* Shows each block, with a seed of its own, to `visit`, on some thread; BLAS is on one there. */
typedef clo_status clo_visit_block(void *user, int thread, size_t number, const clo_block *block);
CLO_CHECK clo_status clo_i_visit_blocks(clo_context *context, const clo_division *d,
                                        clo_visit_block *visit, void *user, clo_error *err);

#endif
