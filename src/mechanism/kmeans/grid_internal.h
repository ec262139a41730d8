/* grid_internal.h - what the cells of a noisy grid hold, for kmeans/grid.  Post-processing. */
#ifndef CLO_GRID_INTERNAL_H
#define CLO_GRID_INTERNAL_H

#include "plan/mechanism.h"

typedef struct clo_i_noisy_grid {
    size_t cells;
    double *counts;  /* cells: noisy; -INFINITY where a cell lies outside of the ball */
    double *weights; /* cells: what each is thought to hold */
    double *around;  /* cells: sums of the counts of a cell and of those around it */
    double *near;    /* cells: how many these are */
} clo_i_noisy_grid;

CLO_CHECK clo_status clo_i_grid_take(clo_workspace *space, size_t cells, clo_i_noisy_grid *out,
                                     clo_error *err);
/* Weights from counts; threshold: the least count of a cell that counts by itself; rows: their
 * public number, 0: none.  At least `least` cells get a weight above 0, if there are so many. */
CLO_CHECK clo_status clo_i_grid_weigh(const clo_line *line, double threshold, uint64_t rows,
                                      size_t least, clo_i_noisy_grid *grid, clo_error *err);
/* Where in its cell the records of one lie on average, as its neighbours tell; point: cols. */
void clo_i_grid_point(const clo_line *line, const clo_i_noisy_grid *grid, size_t cell,
                      double *point);

/* What a cell holds on average of which `mean` are expected, an exponential law, and of which a
 * noisy count was told. */
double clo_i_grid_given_laplace(double count, double mean, double scale);
double clo_i_grid_given_gaussian(double count, double mean, double deviation);

#endif
