/* lens.h - what is seen of a record: a pure function of it and of released values. */
#ifndef CLO_ASK_LENS_H
#define CLO_ASK_LENS_H

#include "ask/query.h"

/* A public map that a query's records are seen through (lens.c). */
typedef struct clo_lens {
    size_t from, cols;      /* of the records, and of what is seen of them */
    const double *rows;     /* of a frame: cols x from, integer-valued; NULL: the record itself */
    double weight;          /* without a frame: what it is multiplied by, on the same grid */
    double scale;           /* a record x is seen as scale * frame' x ... */
    double constant;        /* ... and, last, this constant; 0: none */
    const uint32_t *places; /* of a sketch (sketch.c): where each column goes; NULL: it is none */
} clo_lens;

enum { CLO_LENS_MAP_BITS = 22 }; /* of the grid that a frame's rows are on */
/* What kind of glass it is; NULL: none. */
clo_glass clo_i_lens_glass(const clo_lens *lens);

/* A lens with an orthonormal frame (d x rank, a column a direction, released or public; NULL: all
 * coordinates), and with a constant appended where height > 0: what is seen of x is
 * (frame' x, height) / sqrt(1 + height^2), inside the unit ball (lens.T1).  To ask through it, plan
 * the query for clo_i_lens_domain, set the line's `lens` to CLO_LENS, and let context->lens point
 * to it. */
CLO_CHECK clo_status clo_i_lens_make(clo_workspace *workspace, const double *frame, size_t d,
                                     size_t rank, double height, clo_lens *out, clo_error *err);
/* rank: 0 without a frame. */
CLO_CHECK clo_status clo_i_lens_room(clo_workspace *space, size_t d, size_t rank, double height,
                                     clo_error *err);
/* A lens with a constant shows records smaller.  What a line states as its noise, of moments of
 * this order, becomes that of the records' own moments: (1 + height^2)^(order/2) times as much. */
void clo_i_lens_state_noise(clo_line *line, double height, int order);
/* The domain as it is seen: the unit ball's radius stays that of the data. */
clo_domain clo_i_lens_domain(const clo_domain *domain, size_t cols);
/* Records on the full grid (CLO_GRID_BITS) to what is seen of them on the grid of `bits`. */
void clo_i_lens_apply(const clo_lens *lens, const double *values, size_t rows, int bits,
                      double *seen);

/* A lens that is a public random sketch of `cols` coordinates (sketch.T1): what is seen of a record
 * is about as long as the record, and costs a few additions an entry, so that sparse records are
 * never written out.  cols: a multiple of CLO_SKETCH_COPIES, CLO_SKETCH_COLS at most.  The same on
 * all ranks.  To ask through it, set the line's `lens` to CLO_SKETCH. */
enum { CLO_SKETCH_COPIES = 4, CLO_SKETCH_COLS = 1024 };
CLO_CHECK clo_status clo_i_sketch_make(clo_context *context, size_t from, size_t cols,
                                       clo_lens *out, clo_error *err);
CLO_CHECK clo_status clo_i_sketch_room(clo_workspace *space, size_t from, clo_error *err);

/* Records first, first + 1, ... through a sketch, on the grid of `bits` (sketch.T1). */
void clo_i_sketch_rows(const clo_lens *lens, const clo_bounded *data, size_t first, size_t rows,
                       int bits, double *seen);

/* The records about another centre (shift, in ball coordinates; NULL: the same) within another
 * radius, those of the domain, by released values alone (bound.T5).  Into what clo_i_recenter_take
 * gave for them, as often as one likes: room for any shift, or for none; to be freed. */
CLO_CHECK clo_status clo_i_recenter(const clo_bounded *data, const clo_domain *domain,
                                    const double *shift, clo_bounded *moved, clo_error *err);
CLO_CHECK clo_status clo_i_recenter_take(clo_workspace *workspace, const clo_bounded *data,
                                         bool shifted, clo_bounded **out, clo_error *err);
CLO_CHECK clo_status clo_i_recenter_room(clo_workspace *space, const clo_bounded *data,
                                         bool shifted, clo_error *err);

/* Whether these records may be moved to any centre: sparse ones are written out in full for it.
 * Told by public facts alone, so that nobody's presence decides. */
CLO_CHECK clo_status clo_i_recenter_check(const clo_bounded *data, clo_error *err);

#endif
