/* look.h - all records about one point: where they are, and how many lie how far away. */
#ifndef CLO_QUERY_LOOK_H
#define CLO_QUERY_LOOK_H

#include "ask/query.h"

/* Shell 0 has the records farther than sqrt(2) radii from the centre, shell j those farther than
 * 2^((1 - j)/2) and at most 2^(1 - j/2), the last one all that are nearer. */
enum { CLO_LOOK_SHELLS = 24 };

/* The sum of (x - c) / max(|x - c|, width) over all records x, and the number of records in each
 * shell about c, in one Gaussian query (look.T1). */
CLO_CHECK clo_status clo_i_plan_look(const clo_domain *domain, double mu, uint64_t times,
                                     const char *label, clo_line *out, clo_error *err);
/* center: d numbers in unit-ball coordinates, no farther out than twice the radius; width: in radii
 * (rounded to the grid, and from one step of it to CLO_LOCAL_WIDEST).  Both released or public.
 * sum: d, in widths; shells: CLO_LOOK_SHELLS, in records. */
CLO_CHECK clo_status clo_i_ask_look(clo_context *context, size_t line, const clo_bounded *data,
                                    const double *center, double width, double *sum, double *shells,
                                    clo_error *err);

/* Standard deviations of a line's noise: of a coordinate of the sum, in widths; of a shell, in
 * records. */
double clo_i_look_deviation(const clo_line *line);
double clo_i_look_shell_deviation(const clo_line *line);

#endif
