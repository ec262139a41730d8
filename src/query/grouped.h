/*
 * grouped.h - what queries share whose answer is a row of numbers for each cluster, the number of
 * its records last.  For the files of this folder only.
 */
#ifndef CLO_QUERY_GROUPED_H
#define CLO_QUERY_GROUPED_H

#include "ask/fold.h"
#include "query/views.h"

/* Adds the threads' sums, threads x entries, to the totals, modulo 2^64.  The last number of each
 * cluster is one of records, and each of them counts line->count_unit. */
void clo_i_gather_groups(clo_fold *fold, const double *sums);

/* As many numbers are noised and told as are added up. */
clo_numbers clo_i_numbers_added(const clo_line *line);

/* Charges and folds, and adds to each number noise of the law of the line.  Where it fails there is
 * nothing to end. */
CLO_CHECK clo_status clo_i_sum_answer(clo_context *context, size_t number, const clo_query *query,
                                      const clo_bounded *data, const clo_ask *told, clo_sum *out,
                                      clo_error *err);

/* Some numbers of each cluster, one after the other: where they go, and over which unit. */
typedef struct clo_share {
    double *to; /* clusters x count */
    size_t count;
    double unit;
} clo_share;
/* Tells the answer, which all shares together are, and ends the sum.  pooled: numbers of all
 * clusters together, so many in all, behind those of each; NULL: none. */
void clo_i_sum_tell(clo_sum *sum, const clo_share *shares, size_t count, const clo_share *pooled);

/* A query that looks at clusters through views: its grid, of which width and reach are 1 to
 * `widest` steps, and what a squared length counts for. */
typedef struct clo_viewer {
    const clo_query *query;
    int bits;
    uint64_t widest;
    uint64_t (*square_unit)(const clo_line *line);
} clo_viewer;
/* Charges, folds, adds noise and tells.  The views are words of the ask: the widths of all
 * clusters, then their reaches; taken of the workspace, as clo_i_views_lay_out does for a plan. */
CLO_CHECK clo_status clo_i_ask_views(clo_context *context, size_t number, const clo_viewer *viewer,
                                     const clo_bounded *data, const clo_assign *rule,
                                     const clo_cluster_view *views, clo_view_sums out,
                                     const clo_share *pooled, clo_error *err);
CLO_CHECK clo_status clo_i_views_lay_out(const clo_line *line, clo_workspace *space,
                                         clo_error *err);
bool clo_i_views_fit(const clo_ask *ask, uint64_t widest);

#endif
