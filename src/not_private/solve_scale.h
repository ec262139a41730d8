/*
 * solve_scale.h - a partition between the scale, where a solver works, and the data's own units,
 * where people read it.  On the scale a column counts from its middle, so that subspaces through
 * the origin are those of a run with the same bounds.
 */
#ifndef CLO_SOLVE_SCALE_H
#define CLO_SOLVE_SCALE_H

#include "not_private/scale.h"
#include "not_private/solution.h"

/* A start on the scale: a copy, without labels.  CLO_ARGUMENT for subspaces. */
CLO_CHECK clo_status clo_i_start_to_scale(const clo_partition *start, const clo_i_scale *scale,
                                          clo_partition *out, clo_error *err);
/* What was found, in the data's units; flats through the origin then go through the middle. */
CLO_CHECK clo_status clo_i_partition_to_units(clo_partition *partition, const clo_i_scale *scale,
                                              clo_error *err);
/* Keeps what is known of the columns, and counts the cost in the data's units. */
CLO_CHECK clo_status clo_i_solution_finish(clo_solution *solution, const clo_i_columns_known *known,
                                           const clo_table *table, clo_i_scale *scale,
                                           clo_error *err);

#endif
