/* cell_counts.h - the number of records in each cell of a public grid, with noise. */
#ifndef CLO_QUERY_CELL_COUNTS_H
#define CLO_QUERY_CELL_COUNTS_H

#include "ask/query.h"

/* How many records lie in each cell of a public grid, side cells along each column of a cube that
 * holds the ball, or the box inside of it: all cells, also the empty ones.  cell_counts.T1.  kind
 * CLO_EVENT_PURE: discrete Laplace noise at that epsilon; CLO_EVENT_GAUSSIAN: Gaussian noise at
 * that mu.  Answers: line->groups numbers, the last column's place fastest. */
typedef struct clo_cell_grid {
    uint64_t side;  /* how many cells lie along each column … */
    uint64_t reach; /* … of a cube of twice this width, in units of the line's grid */
} clo_cell_grid;
CLO_LINE_FIELDS(cell_counts, clo_cell_grid)
enum { CLO_MAX_CELLS = 1 << 22 };
CLO_CHECK clo_status clo_i_plan_cell_counts(const clo_domain *domain, size_t side,
                                            clo_event_kind kind, double parameter, uint64_t times,
                                            const char *label, clo_line *out, clo_error *err);
CLO_CHECK clo_status clo_i_ask_cell_counts(clo_context *context, size_t line,
                                           const clo_bounded *data, double *counts, clo_error *err);
/* side to the power of cols; SIZE_MAX where that is above CLO_MAX_CELLS. */
size_t clo_i_grid_cells(size_t side, size_t cols);
/* The middle of a cell, in unit-ball coordinates. */
void clo_i_cell_center(const clo_line *line, size_t cell, double *center);

#endif
