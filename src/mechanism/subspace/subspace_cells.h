/*
 * subspace_cells.h - what subspace/approx and subspace/boosted share: blocks of records that each
 * name a cell of subspaces, and the subspace at the centre of a cell.
 *
 * A block finds the subspace of its own records.  What it says of it is where it projects a few
 * public reference points to, rounded to a lattice with a random offset.  Blocks of records near a
 * common subspace often name the same cell.
 */
#ifndef CLO_SUBSPACE_CELLS_H
#define CLO_SUBSPACE_CELLS_H

#include "plan/mechanism.h"
#include "query/histogram.h"

/* The part of a plan that both have. */
typedef struct clo_cells_plan {
    size_t dim, parts, references;
    size_t blocks; /* of one part; 0 before planning: by the public facts */
    double rows;   /* that a block is counted on to have: the width of the cells follows */
    double unit;   /* of the lattice */
} clo_cells_plan;

/* Completes a plan whose dim, parts and blocks are set, and adds its one line to the draft.
 * narrow: 1, or less for cells as much narrower, which are found less often. */
CLO_CHECK clo_status clo_i_cells_plan(clo_draft *draft, double gamma, double narrow,
                                      clo_cells_plan *plan, clo_error *err);
/* The expected ||sin Theta||_F of one part's subspace where one is found. */
double clo_i_cells_error(const clo_cells_plan *plan, const clo_domain *domain,
                         const clo_line *lines, double rows);

/* The cells of one part.  All public: drawn before the records are looked at. */
typedef struct clo_cells {
    size_t dim, cols, references;
    double unit;
    double *points;  /* references x cols */
    double *offsets; /* one a coordinate of a cell */
} clo_cells;

/* The answer of each part: its cells, and which was found. */
typedef struct clo_cells_found {
    clo_cells *cells;
    clo_cell *found;
} clo_cells_found;

/* Draws the cells, one kind a part, and asks the line 0 for the fullest of each. */
CLO_CHECK clo_status clo_i_cells_ask(clo_context *context, const clo_cells_plan *plan,
                                     const clo_bounded *data, size_t cols, clo_cells_found *out,
                                     clo_error *err);
/* The same cells on another rank, from the words that it is told (clo_block_open). */
CLO_CHECK clo_status clo_i_cells_open(const clo_cells_plan *plan, size_t cols, clo_context *context,
                                      const uint64_t *words, size_t count, clo_block_work *out,
                                      clo_error *err);
/* The subspace, cols x dim, that the centre of a cell spans. */
CLO_CHECK clo_status clo_i_cells_span(clo_context *context, const clo_cells *cells,
                                      const int64_t *place, double *basis, clo_error *err);
CLO_CHECK clo_status clo_i_cells_room(const clo_cells_plan *plan, size_t cols, clo_workspace *space,
                                      clo_error *err); /* of asking and spanning */

/* The top `dim` directions, cols x dim, of `count` vectors, the columns of cols x count, which are
 * destroyed.  CLO_FORMAT where they span less. */
CLO_CHECK clo_status clo_i_top_directions(double *columns, size_t cols, size_t count, size_t dim,
                                          double *basis, clo_error *err);

#endif
