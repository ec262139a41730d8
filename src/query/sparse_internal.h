/*
 * sparse_internal.h - what the two queries for sums of sparse records share: their fold.  Their
 * asks are held to a line as those for sums of clusters are.  For their files alone.
 */
#ifndef CLO_QUERY_SPARSE_INTERNAL_H
#define CLO_QUERY_SPARSE_INTERNAL_H

#include "query/cluster_sum_internal.h"

/* The totals are clusters x (cols + 1): each record of cluster c adds its entries to row c and
 * line->count_unit to the last number of it, modulo 2^64 (sparse_sum.T1). */
size_t clo_i_sparse_numbers(const clo_line *line, size_t cols, const clo_ask *ask);
clo_status clo_i_sparse_lay_out(clo_fold *fold, clo_workspace *space, clo_error *err);
clo_visit clo_i_sparse_add;
void clo_i_sparse_gather(clo_fold *fold);

#endif
