/* triangle.h - symmetric matrices as packed upper triangles: their noise, and the way back.  For
 * the files of this folder only. */
#ifndef CLO_QUERY_TRIANGLE_H
#define CLO_QUERY_TRIANGLE_H

#include "ask/fold.h"

/* Numbers of the upper triangle. */
size_t clo_i_triangle(size_t cols);
/* Noises the totals of a sum, which are the packed triangles of line->groups matrices, and tells
 * the matrices, each entry over `unit`, to whoever listens (gaussian_gram.T2).  classes: room for
 * one byte a number. */
CLO_CHECK clo_status clo_i_answer_triangles(clo_sum *sum, uint8_t *classes, double unit,
                                            double *matrices, clo_error *err);

/* A plan for such a query: at most CLO_TRIANGLE_COLS columns, and a record adds a matrix of
 * Frobenius norm `reach`, positive semidefinite, so that a replaced one moves the sum by sqrt(2) of
 * that (gaussian_gram.T1).  Fills event, sensitivity and scale. */
enum { CLO_TRIANGLE_COLS = 4096 };
CLO_CHECK clo_status clo_i_plan_triangles(const clo_domain *domain, uint64_t reach, double mu,
                                          uint64_t times, clo_line *line, clo_error *err);
/* Of a clo_query. */
size_t clo_i_triangles_entries(const clo_line *line, size_t cols, const clo_ask *ask);
clo_numbers clo_i_triangles_numbers(const clo_line *line);
int clo_i_triangles_threads(const clo_line *line, int threads);

#endif
