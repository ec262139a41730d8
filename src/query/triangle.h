/* triangle.h - symmetric matrices as packed upper triangles: their noise, and the way back.  For
 * the files of this folder only. */
#ifndef CLO_QUERY_TRIANGLE_H
#define CLO_QUERY_TRIANGLE_H

#include "query/fold.h"

/* Numbers of the upper triangle. */
size_t clo_i_triangle(size_t cols);
/* Noises the totals of a sum, which are the packed triangles of line->groups matrices, and tells
 * the matrices, each entry over `unit`, to whoever listens (gaussian_gram.T2).  classes: room for
 * one byte a number. */
CLO_CHECK clo_status clo_i_answer_triangles(clo_sum *sum, uint8_t *classes, double unit,
                                            double *matrices, clo_error *err);

#endif
