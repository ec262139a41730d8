/*
 * assign.h - which released cluster each of the operator's own rows is in.  What comes out of here
 * is NOT private: it is for the operator's eyes, and no release holds it.
 */
#ifndef CLOISTER_ASSIGN_H
#define CLOISTER_ASSIGN_H

#include <cloister/data.h>
#include <cloister/release.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The cluster of a row that a run counts for nothing: one with a missing cell. */
#define CLO_NO_CLUSTER UINT32_MAX

/* For each row of the table the released centre, subspace or flat that is nearest, counted from 0
 * as the arrays of the release are, and its distance from it, as the mechanism measured: with
 * column bounds in units of their half widths, otherwise in the data's own; rows are not clipped.
 *
 * Columns are found by name where release and table have names: other columns are ignored (text in
 * them, too, where the table was read with CLO_TEXT_LATER), and one that is not there is
 * CLO_ARGUMENT.  Otherwise they are taken by place, and there must be as many.
 *
 * clusters and distances have a place for each row; either may be NULL.  A row with a missing cell
 * has CLO_NO_CLUSTER and the distance NaN; with CLO_MISSING_FILL its cell takes the value that a
 * run would give it.  CLO_UNSUPPORTED for a release of a family that has no clusters, CLO_FORMAT
 * where one of its columns is text here; after another failure the places may be partly written. */
CLO_API CLO_CHECK clo_status clo_assign_rows(const clo_release *release, const clo_table *table,
                                             uint32_t *clusters, double *distances, clo_error *err);

#ifdef __cplusplus
}
#endif
#endif
