/* gaussian_moment.h - the tensor of fourth moments, with Gaussian noise. */
#ifndef CLO_QUERY_GAUSSIAN_MOMENT_H
#define CLO_QUERY_GAUSSIAN_MOMENT_H

#include "ask/query.h"

/* The tensor of fourth moments, the sums of x_i x_j x_k x_l over all records, as one Gaussian
 * query. gaussian_moment.T1.  Answers: its clo_i_moment_size(cols) different entries, those with
 * i <= j <= k <= l, l fastest, in unit-ball coordinates to the fourth. */
CLO_CHECK clo_status clo_i_plan_gaussian_moment(const clo_domain *domain, double mu, uint64_t times,
                                                const char *label, clo_line *out, clo_error *err);
CLO_CHECK clo_status clo_i_ask_gaussian_moment(clo_context *context, size_t line,
                                               const clo_bounded *data, double *moments,
                                               clo_error *err);
typedef struct clo_moment_fields {
    double even; /* the share of the traces that is left out */
} clo_moment_fields;
CLO_LINE_FIELDS(gaussian_moment, clo_moment_fields)
size_t clo_i_moment_size(size_t cols);
/* How often the entry i <= j <= k <= l stands in the tensor: 1, 4, 6, 12 or 24. */
unsigned clo_i_moment_multiplicity(size_t i, size_t j, size_t k, size_t l);
/* The noise of an entry, times the root of its multiplicity. */
double clo_i_moment_noise(const clo_line *line);

/* The same with a share of the traces left out, which lowers the sensitivity: a tensor's part
 * sym(I x X), X traceless, is answered with noise 1/second times as large as the part without
 * traces, and its multiple of sym(I x I) with noise 1/none times as large.  gaussian_moment.T3 */
typedef struct clo_moment_even {
    double taken, second, none;
} clo_moment_even;
CLO_CHECK clo_status clo_i_plan_even_moment(const clo_domain *domain, double share, double mu,
                                            uint64_t times, const char *label, clo_line *out,
                                            clo_error *err);
clo_moment_even clo_i_moment_even(size_t cols, double share);
/* Puts the traces back, each part divided by its factor.  square: cols x cols of scratch. */
void clo_i_moment_restore(const clo_moment_even *even, size_t cols, double *square,
                          double *moments);
/* The sums over k of the entries ijkk: cols x cols. */
void clo_i_moment_contract(const double *moments, size_t cols, double *out);

#endif
