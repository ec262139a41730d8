/* local_sum.h - sums, squared lengths and sizes of clusters, at the width of each cluster. */
#ifndef CLO_QUERY_LOCAL_SUM_H
#define CLO_QUERY_LOCAL_SUM_H

#include "ask/assign.h"
#include "query/views.h"
#include <math.h>

typedef struct clo_local_fields {
    uint64_t square_unit; /* what a record far away adds to a noised sum of squares */
    uint64_t shell_unit;  /* and what every record adds to its shell; 0: there are no shells */
} clo_local_fields;
CLO_LINE_FIELDS(local_sum, clo_local_fields)

/* How a cluster of centre c is looked at, in radii of the ball (rounded to its grid, and from one
 * step of it to CLO_LOCAL_WIDEST): differences to c longer than the width are cut to it, squared
 * lengths are cut at the reach.  Released or public, as the centres are. */
typedef clo_cluster_view clo_local_view;
enum { CLO_LOCAL_WIDEST = 4, CLO_LOCAL_BITS = 20 };

/* Shells of |x - c| / width, each wider than the one before by the fourth root of 2: shell 6 begins
 * at 1; the first has all that are nearer, the last all that are farther. */
enum { CLO_LOCAL_SHELLS = 20 };

/* For each cluster the sum of (x - c) / max(|x - c|, width) over its records, of
 * min(|x - c| / reach, 1)^2, and their number, all in one query (local_sum.T1). */
typedef struct clo_local_sums {
    double *sums;            /* clusters x cols, in widths */
    double *squares, *sizes; /* clusters: in squared reaches, in records */
} clo_local_sums;

/* kind, parameter: CLO_EVENT_GAUSSIAN and mu, or CLO_EVENT_PURE and epsilon, of one ask. */
CLO_CHECK clo_status clo_i_plan_local_sum(const clo_domain *domain, size_t clusters,
                                          clo_event_kind kind, double parameter, uint64_t times,
                                          const char *label, clo_line *out, clo_error *err);
/* The same, and how many records are in each shell, of all clusters together. */
CLO_CHECK clo_status clo_i_plan_local_shells(const clo_domain *domain, size_t clusters, double mu,
                                             uint64_t times, const char *label, clo_line *out,
                                             clo_error *err);
/* rule: centres, none farther out than twice the radius; views: one a cluster. */
CLO_CHECK clo_status clo_i_ask_local_sum(clo_context *context, size_t line, const clo_bounded *data,
                                         const clo_assign *rule, const clo_local_view *views,
                                         clo_local_sums *out, clo_error *err);
/* Of a line with shells.  shells: CLO_LOCAL_SHELLS, in records. */
CLO_CHECK clo_status clo_i_ask_local_shells(clo_context *context, size_t line,
                                            const clo_bounded *data, const clo_assign *rule,
                                            const clo_local_view *views, clo_local_sums *out,
                                            double *shells, clo_error *err);

/* Standard deviations of a line's noise: of a coordinate of a sum, in widths; of a sum of squares,
 * in squared reaches; of a size, in records. */
double clo_i_local_deviation(const clo_line *line);
double clo_i_local_square_deviation(const clo_line *line);
double clo_i_local_size_deviation(const clo_line *line);
double clo_i_local_shell_deviation(const clo_line *line); /* in records, too */

/* The shell of a squared distance over a squared width. */
size_t clo_i_local_shell(double squares);

/* The squared distance of whole numbers, below 2^53: exact in any order, and so in four sums side
 * by side, none of which waits for another.  In line, to be compiled for its caller's vectors. */
__attribute__((always_inline)) static inline double
clo_i_square_apart(const double *record, const double *center, size_t cols)
{
    const size_t part = cols / 32 * 8;
    double first = 0, second = 0, third = 0, fourth = 0;
#pragma omp simd reduction(+ : first, second, third, fourth)
    for (size_t j = 0; j < part; j++) {
        const double *const r = record + j, *const c = center + j;
        first += (r[0] - c[0]) * (r[0] - c[0]);
        second += (r[part] - c[part]) * (r[part] - c[part]);
        third += (r[2 * part] - c[2 * part]) * (r[2 * part] - c[2 * part]);
        fourth += (r[3 * part] - c[3 * part]) * (r[3 * part] - c[3 * part]);
    }
#pragma omp simd reduction(+ : first)
    for (size_t j = 4 * part; j < cols; j++)
        first += (record[j] - center[j]) * (record[j] - center[j]);
    return first + second + third + fourth;
}

/* Adds the difference to the centre, cut to the width, in whole steps of 2^-CLO_LOCAL_BITS of the
 * width (local_sum.T2); gives its squared length before the cut.  In line for the same reason. */
__attribute__((always_inline)) static inline uint64_t
clo_i_add_cut(const double *record, const double *center, size_t cols, uint64_t width, double *sum)
{
    const double square = clo_i_square_apart(record, center, cols);
    const uint64_t distance = (uint64_t)ceil(sqrt(square));
    const uint64_t divisor = distance > width ? distance : width;
    const double factor = (double)(((uint64_t)1 << 50) / divisor) * 0x1p-30; /* exact */
#pragma omp simd
    for (size_t j = 0; j < cols; j++) sum[j] += (double)(int32_t)((record[j] - center[j]) * factor);
    return (uint64_t)square;
}

#endif
