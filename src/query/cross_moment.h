/* cross_moment.h - for each subspace the cross moments of what its records have outside of it and
 * inside of it, at the width of what is outside. */
#ifndef CLO_QUERY_CROSS_MOMENT_H
#define CLO_QUERY_CROSS_MOMENT_H

#include "ask/assign.h"
#include "query/views.h"

typedef struct clo_cross_fields {
    uint64_t square_unit; /* what a record beyond the reach adds to a noised sum of squares */
    uint64_t dim;         /* of the subspaces that the line is asked with */
} clo_cross_fields;
CLO_LINE_FIELDS(cross_moment, clo_cross_fields)

/* How a subspace with the orthonormal basis U is looked at.  A record x of it has coordinates
 * y = U'x and a residual r = x - U y; its cross moment is the matrix r y', of length |r||y|, which
 * is half a squared radius at most, for |r|^2 + |y|^2 = |x|^2.  Matrices longer than the width are
 * cut to it, squared lengths are cut at the reach: in squared radii of the ball, rounded to the
 * grid, from one step of it to CLO_CROSS_WIDEST.  Released or public, as the bases are. */
typedef clo_cluster_view clo_cross_view;
#define CLO_CROSS_WIDEST 0.5

/* For each subspace the sum of r y' / max(|r||y|, width) over its records, of
 * min(|r||y| / reach, 1)^2, and their number, all in one query (cross_moment.T1). */
typedef struct clo_cross_moments {
    double *moments;         /* clusters x dim x cols: y r', in widths */
    double *squares, *sizes; /* clusters: in squared reaches, in records */
} clo_cross_moments;

CLO_CHECK clo_status clo_i_plan_cross_moment(const clo_domain *domain, size_t clusters, size_t dim,
                                             double mu, uint64_t times, const char *label,
                                             clo_line *out, clo_error *err);
/* rule: subspaces; views: one a cluster. */
CLO_CHECK clo_status clo_i_ask_cross_moment(clo_context *context, size_t line,
                                            const clo_bounded *data, const clo_assign *rule,
                                            const clo_cross_view *views, clo_cross_moments *out,
                                            clo_error *err);

/* Standard deviations of a line's noise: of an entry of a cross moment, in widths; of a sum of
 * squares, in squared reaches; of a size, in records. */
double clo_i_cross_deviation(const clo_line *line);
double clo_i_cross_square_deviation(const clo_line *line);
double clo_i_cross_size_deviation(const clo_line *line);

#endif
