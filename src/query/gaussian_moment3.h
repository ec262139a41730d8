/* gaussian_moment3.h - the tensor of third moments, with Gaussian noise. */
#ifndef CLO_QUERY_GAUSSIAN_MOMENT3_H
#define CLO_QUERY_GAUSSIAN_MOMENT3_H

#include "ask/query.h"

/* The tensor of third moments, the sums of x_i x_j x_k over all records, as one Gaussian query.
 * gaussian_moment3.T1.  height > 0: it will be asked through a lens with a constant of this height,
 * which lowers the sensitivity where records are replaced.  Answers: its clo_i_moment3_size(cols)
 * different entries, those with i <= j <= k, k fastest, in unit-ball coordinates to the third. */
CLO_CHECK clo_status clo_i_plan_gaussian_moment3(const clo_domain *domain, double height, double mu,
                                                 uint64_t times, const char *label, clo_line *out,
                                                 clo_error *err);
CLO_CHECK clo_status clo_i_ask_gaussian_moment3(clo_context *context, size_t line,
                                                const clo_bounded *data, double *moments,
                                                clo_error *err);
typedef struct clo_moment3_fields {
    double constant; /* every record's last coordinate; 0: none is known */
} clo_moment3_fields;
CLO_LINE_FIELDS(gaussian_moment3, clo_moment3_fields)
enum { CLO_MOMENT3_COLS = 128 }; /* at most */
size_t clo_i_moment3_size(size_t cols);
/* How often the entry i <= j <= k stands in the tensor: 1, 3 or 6. */
unsigned clo_i_moment3_multiplicity(size_t i, size_t j, size_t k);
/* The noise of an entry, times the root of its multiplicity. */
double clo_i_moment3_noise(const clo_line *line);

#endif
