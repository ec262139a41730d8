/* moment_internal.h - what the files of the two moment queries share. */
#ifndef CLO_QUERY_MOMENT_INTERNAL_H
#define CLO_QUERY_MOMENT_INTERNAL_H

#include "query/triangle.h"

/* A record r on the grid of CLO_LIFT_READ_BITS bits becomes the matrix v = trunc((r r' - taken
 * |r|^2 I) / 2^25), in its cols (cols + 1) / 2 different entries: integers, and |v| is at most
 * 2^CLO_LIFT_BITS. */
enum { CLO_LIFT_READ_BITS = 20, CLO_LIFT_BITS = 15 };
void clo_i_moment_lift(const double *values, size_t rows, size_t cols, double taken,
                       double *matrices);

/* A sum of so many products of what is lifted stays below 2^53 and so is exact in a double. */
#define CLO_LIFT_SQUARE     ((uint64_t)1 << (2 * CLO_LIFT_BITS))
#define CLO_LIFT_EXACT_ROWS ((size_t)1 << (53 - 2 * CLO_LIFT_BITS - 1))
/* Where v_ij stands among the lifted entries, i <= j. */
static inline size_t clo_i_lifted_place(size_t cols, size_t i, size_t j)
{
    return i * cols - i * (i + 1) / 2 + j;
}
/* Of an entry that stands m times in a tensor with this scale: the least t with
 * m t^2 >= scale^2. */
uint64_t clo_i_moment_class_scale(uint64_t scale, unsigned m);
/* Noises the totals of a sum, which are three times the different entries of a symmetric tensor,
 * each class of entries by a scale of its own (gaussian_moment.T2), and tells the entries.
 * classes: how often each entry stands in the tensor, one of the `count` multiplicities; it is
 * overwritten. */
CLO_CHECK clo_status clo_i_answer_tensor(clo_sum *sum, uint8_t *classes,
                                         const unsigned *multiplicities, size_t count,
                                         double *entries, clo_error *err);
/* Of a clo_query: wide matrices have one accumulator, and the threads are inside BLAS. */
int clo_i_moment_threads(const clo_line *line, int threads);

/* How far one record of norm 1 can move the fourth moments, less a share of their traces. */
double clo_i_moment_reach(size_t cols, double share, bool replace);

#endif
