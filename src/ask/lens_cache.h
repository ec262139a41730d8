/* lens_cache.h - what a lens has shown of the records, kept from one ask to the next. */
#ifndef CLO_ASK_LENS_CACHE_H
#define CLO_ASK_LENS_CACHE_H

#include "ask/assign.h"
#include "ask/lens.h"

/* Of one run: what is seen of all rows through one lens at a time, which lies in the spare room of
 * the workspace and gives way to asks that need it. */
typedef struct clo_kept {
    const clo_bounded *data; /* the only records that it is kept of; they stay as they are */
    clo_workspace *space;    /* where it lies */
    double *map;             /* what they were seen through: the rows of the lens; NULL: nothing */
    int32_t *cells;          /* rows x cols, integers of the grid */
    size_t map_room, room;   /* numbers of the two that pay */
    size_t from, cols;       /* of that lens */
    double constant;
    int bits;
    bool whole; /* all rows are there */
} clo_kept;

/* Finds how much room pays for what is seen: it follows the number of rows, and so is counted
 * before a run asks anything (meter.T2).  Nothing where nothing is asked twice through a frame of
 * few directions, or the rows are not held. */
CLO_CHECK clo_status clo_i_kept_take(clo_workspace *space, const clo_line *lines, size_t count,
                                     const clo_bounded *data, clo_kept *out, clo_error *err);

/* Counts the room of a line that is asked while something is kept; nothing for other lines, to
 * which it gives way. */
CLO_CHECK clo_status clo_i_kept_room(clo_workspace *space, const clo_kept *kept,
                                     const clo_line *line, clo_error *err);
/* Nothing is kept any longer. */
void clo_i_kept_end(clo_kept *kept);

/* What a pass does with it: nothing, read it, or fill it; after `fill` and no failure it is
 * whole. */
typedef enum clo_keeping { CLO_KEEP_NOTHING, CLO_KEEP_READ, CLO_KEEP_FILL } clo_keeping;
clo_keeping clo_i_kept_begin(clo_kept *kept, const clo_lens *lens, const clo_bounded *data,
                             int bits);
/* Rows first, first + 1, ...: to be kept, or as they were. */
void clo_i_kept_fill(clo_kept *kept, size_t first, size_t rows, const double *seen);
void clo_i_kept_read(const clo_kept *kept, size_t first, size_t rows, double *seen);

#endif
