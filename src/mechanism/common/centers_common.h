/*
 * centers_common.h - what the methods that release centres share (centers_common.c).  Points are in
 * unit-ball coordinates, k x d, row-major; nothing here sees a record but through a query.
 */
#ifndef CLO_CENTERS_COMMON_H
#define CLO_CENTERS_COMMON_H

#include "plan/mechanism.h"
#include "query/cluster_sum.h"

/* The row that every such method has. */
#define CLO_CENTERS_ROW_CLUSTERS                                                                   \
    {                                                                                              \
        "clusters", CLO_PARAM_INT, 1, CLO_MAX_CLUSTERS, 8, NULL,                                   \
            "how many centers to find, or auto"                                                    \
    }

/* And the row of those that can do with either noise: its values are those of clo_sum_noise. */
#define CLO_CENTERS_ROW_NOISE                                                                      \
    {                                                                                              \
        "noise", CLO_PARAM_CHOICE, 0, 2, CLO_SUM_AUTO, "auto|gaussian|laplace",                    \
            "noise of sums and sizes; auto: the smaller error, which is laplace without a delta"   \
    }

/* How many records a plan counts with: the public number, or a guess that grows with k. */
double clo_i_guessed_rows(const clo_domain *domain, size_t clusters);

double clo_i_squared_distance(const double *a, const double *b, size_t d);

/* k public points of the ball that lie far apart, the same on all ranks. */
CLO_CHECK clo_status clo_i_start_centers(clo_context *context, size_t k, size_t d, double *centers,
                                         clo_error *err);
CLO_CHECK clo_status clo_i_start_centers_room(clo_workspace *space, size_t k, size_t d,
                                              clo_error *err);

/* One of Lloyd's rounds: asks for the sums and sizes of the clusters that the centres make, and
 * moves the centres.  line: a line of sums and sizes; d: the coordinates that it sees; sums: k x d,
 * sizes: k, both answered. */
CLO_CHECK clo_status clo_i_center_round(clo_context *context, size_t line, const clo_bounded *data,
                                        size_t d, double *centers, double *sums, double *sizes,
                                        clo_error *err);
CLO_CHECK clo_status clo_i_center_round_room(clo_workspace *space, size_t k, size_t d,
                                             clo_error *err);

/* A centre that seems to have no records, a size up to `weak`, is better used beside the one that
 * has the most: the two step apart along a random line, and the next round tells them apart. */
CLO_CHECK clo_status clo_i_revive_centers(clo_context *context, size_t k, size_t d, double weak,
                                          double *centers, double *sizes, clo_error *err);

/* From what a lens with a frame (d x r) and this scale shows back to all coordinates. */
void clo_i_unfold_point(const double *frame, size_t d, size_t r, double scale, const double *seen,
                        double *whole);

/* The noise of what is released, as standard deviations: of a coordinate of a cluster's sum, in
 * the ball, or in widths of the clusters, where those are given; and of its size.  0: not known. */
typedef struct clo_i_center_noise {
    double sum, size;
    const double *widths; /* k; NULL: all 1 */
} clo_i_center_noise;
/* Of a line of gaussian_sum, laplace_sum or gaussian_step. */
clo_i_center_noise clo_i_noise_of_sums(const clo_line *line);

/* Writes centres (taken over to the data's own units in place, and into the public bounds) and,
 * where the run paid for them (not NULL), noisy sizes, fitted to the public number of rows; both
 * with the digits that their noise leaves.  Of a projection centres keep all, to lie in it. */
CLO_CHECK clo_status clo_i_release_centers(const clo_domain *domain, clo_i_center_noise noise,
                                           size_t k, double *centers, double *sizes,
                                           clo_release *out, clo_error *err);

#endif
