/*
 * lattice.h - the Barnes-Wall lattice of 16 dimensions: a partition of space into cells that are
 * rounder than cubes.
 *
 * What falls near a cell's wall is what two blocks of records disagree on.  At the same volume
 * these cells have 1.7 times less wall than cubes, and their points lie nearer to the centre: cells
 * that as many blocks agree on can be smaller.
 */
#ifndef CLO_LATTICE_H
#define CLO_LATTICE_H

#include <stddef.h>
#include <stdint.h>

enum { CLO_LATTICE_DIM = 16, CLO_LATTICE_PERIOD = 4 }; /* it contains 4 Z^16 */
/* The 16th root of a cell's volume, 2^12; and, for a point uniform in the cell, the mean square of
 * each coordinate's distance from the centre over the square of that root. */
#define CLO_LATTICE_WIDTH  1.681792830507429
#define CLO_LATTICE_MOMENT 0.068299
/* No point is further than sqrt 6 from the centre of its cell. */
#define CLO_LATTICE_REACH 2.449489742783178

/* How many coordinates groups of 16 take that hold this many. */
size_t clo_i_lattice_padded(size_t count);
/* The lattice point nearest to 16 coordinates: the centre of their cell.  Any double has one; those
 * beyond 2^50 are taken for that. */
void clo_i_lattice_nearest(const double point[CLO_LATTICE_DIM], int64_t nearest[CLO_LATTICE_DIM]);

#endif
