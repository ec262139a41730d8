/* histogram.h - the cell that most of many disjoint blocks of records name, or none. */
#ifndef CLO_QUERY_HISTOGRAM_H
#define CLO_QUERY_HISTOGRAM_H

#include "ask/query.h"

/* The cell of a partition that most of `blocks` random disjoint blocks of the records name, if
 * enough do: by noise on the sizes of those cells and a threshold (histogram.T1).  A cell is
 * `width` integers.  That none is found is a normal answer.  The same for each of several disjoint
 * `parts` of the records, at the price of one (histogram.T3). */
typedef struct clo_cell {
    bool found;
    int64_t size;   /* how many blocks name it, with noise; 0 where none is found */
    int64_t *place; /* width, the caller's; zeros where none is found */
} clo_cell;

typedef struct clo_histogram_fields {
    size_t blocks;      /* of all parts */
    size_t parts;       /* into how many the blocks fall, a cell each */
    size_t width;       /* the integers of a cell */
    uint64_t threshold; /* the least noisy size of a cell that is told of */
} clo_histogram_fields;
CLO_LINE_FIELDS(histogram, clo_histogram_fields)
/* blocks: of one part. */
CLO_CHECK clo_status clo_i_plan_histogram(const clo_domain *domain, size_t width, size_t parts,
                                          size_t blocks, clo_loss loss, const char *label,
                                          clo_line *out, clo_error *err);
/* out: one for each part.  words: what other ranks must be told to name the same cells
 * (clo_block_open). */
CLO_CHECK clo_status clo_i_ask_histogram(clo_context *context, size_t line, const clo_bounded *data,
                                         clo_block_locate *locate, void *user,
                                         const uint64_t *words, size_t word_count, clo_cell *out,
                                         clo_error *err);

#endif
