/* moment_parts.h - what the files of the two moment queries share. */
#ifndef CLO_QUERY_MOMENT_PARTS_H
#define CLO_QUERY_MOMENT_PARTS_H

#include "query/query.h"

/* A record r on the grid of CLO_LIFT_READ_BITS bits becomes the matrix v = trunc((r r' - taken
 * |r|^2 I) / 2^25), in its cols (cols + 1) / 2 different entries: integers, and |v| is at most
 * 2^CLO_LIFT_BITS. */
enum { CLO_LIFT_READ_BITS = 20, CLO_LIFT_BITS = 15 };
void clo_i_moment_lift(const double *values, size_t rows, size_t cols, double taken,
                       double *matrices);
/* The scale of an entry that stands m times in a tensor with this scale: the least t with
 * m t^2 >= scale^2. */
uint64_t clo_i_moment_class_scale(uint64_t scale, unsigned m);

/* How far one record of norm 1 can move the fourth moments, less a share of their traces. */
double clo_i_moment_reach(size_t cols, double share, bool replace);

#endif
