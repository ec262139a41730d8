/* views.h - how a cluster is looked at: what its records add is cut to a width, its squared length
 * at a reach.  Released or public, as the clusters are. */
#ifndef CLO_QUERY_VIEWS_H
#define CLO_QUERY_VIEWS_H

typedef struct clo_cluster_view {
    double width, reach;
} clo_cluster_view;

/* For each cluster what its records add, in widths; their squared lengths, in squared reaches; and
 * their number. */
typedef struct clo_view_sums {
    double *sums, *squares, *sizes;
} clo_view_sums;

#endif
