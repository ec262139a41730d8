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

/* The cluster of a row with a bad cell. */
#define CLO_NO_CLUSTER UINT32_MAX

/* For each row of the table the released centre, subspace or flat that is nearest, counted from 0,
 * and its distance from it, as the mechanism measured: with column bounds in units of their half
 * widths, otherwise in the data's own.  clusters and distances have a place for each row; either
 * may be NULL.  A row with a bad cell has CLO_NO_CLUSTER and the distance NaN.  CLO_UNSUPPORTED for
 * a release of a family that has no clusters; after another failure the places may be partly
 * written. */
CLO_API CLO_CHECK clo_status clo_assign_rows(const clo_release *release, const clo_table *table,
                                             uint32_t *clusters, double *distances, clo_error *err);

#ifdef __cplusplus
}
#endif
#endif
