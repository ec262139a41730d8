/*
 * cluster_sum_internal.h - what the two queries for sums and sizes of clusters share: their fold,
 * and an ask with the noise of either.  For their files alone.
 */
#ifndef CLO_QUERY_CLUSTER_SUM_INTERNAL_H
#define CLO_QUERY_CLUSTER_SUM_INTERNAL_H

#include "query/cluster_sum.h"
#include "query/grouped.h"
#include "ask/assign.h"

size_t clo_i_cluster_sum_entries(const clo_line *line, size_t cols, const clo_ask *ask);
clo_status clo_i_cluster_sum_check(const clo_ask *ask, size_t cols, clo_error *err);
clo_status clo_i_cluster_sum_lay_out(clo_fold *fold, clo_workspace *space, clo_error *err);
clo_visit clo_i_cluster_sum_add;
void clo_i_cluster_sum_gather(clo_fold *fold);

CLO_CHECK clo_status clo_i_noisy_cluster_sums(clo_context *context, size_t number,
                                              const clo_query *query, const clo_bounded *data,
                                              const clo_assign *rule, double *sums, double *counts,
                                              clo_error *err);

#endif
