/*
 * sparse_centers.h - the release of centres most of whose entries are zero (sparse_centers.c).
 */
#ifndef CLO_SPARSE_CENTERS_H
#define CLO_SPARSE_CENTERS_H

#include "mechanism/common/centers_common.h"
#include "plan/mechanism.h"

/* Writes k centres of the unit ball, k x d, which are changed, and their noisy sizes.  "centers" as
 * one k x d array where that is short, or where zero is not what most entries are (a centre, column
 * bounds, a frame); otherwise "centers_starts" (k + 1), "centers_columns" (from 0) and
 * "centers_values": centre c has the entries from starts[c] to starts[c + 1] - 1. */
CLO_CHECK clo_status clo_i_release_sparse_centers(const clo_domain *domain,
                                                  clo_i_center_noise noise, size_t k,
                                                  double *centers, double *sizes, clo_release *out,
                                                  clo_error *err);

#endif
