/*
 * summing.h - what the tests of the queries that add up clusters share: three records in four
 * clusters, and what an answer has more than the truth.
 */
#ifndef CLO_TEST_SUMMING_H
#define CLO_TEST_SUMMING_H

#include "asking.h"
#include "ask/assign.h"

enum { D = 7, K = 4, PER_ASK = K * (D + 1) };

/* Asks of a line for the sums and sizes of clusters. */
typedef clo_status sum_ask(clo_context *context, size_t line, const clo_bounded *data,
                           const clo_assign *rule, double *sums, double *counts, clo_error *err);

static inline void ask_sums(asking *a, sum_ask *question, const clo_bounded *data,
                            const double *centers, double *sums, double *counts)
{
    clo_error err;
    clo_assign rule;
    const size_t mark = clo_i_workspace_mark(a->context.workspace);
    assert_ok(clo_i_assign_centers(a->context.workspace, centers, a->line.groups, a->line.cols,
                                   a->line.bits, &rule, &err),
              err);
    assert_ok(question(&a->context, 0, data, &rule, sums, counts, &err), err);
    clo_i_workspace_release(a->context.workspace, mark);
}

/* Answers less the truth, in integer units: two records in cluster 0, one in cluster 1, none in 2
 * and 3.  more: a further entry of the last record, which does not count. */
static inline void fill_sums(clo_line line, clo_rng *rng, sum_ask *question, double more,
                             size_t asks, int64_t *residuals)
{
    static const double centers[K * D] = { 0.5, [D] = -0.5, [3 * D - 1] = 0.9, [4 * D - 2] = 0.9 };
    static const double truth[K * D] = { 0.75, [D] = -0.5, [D + 1] = 0.25 };
    static const double sizes[K] = { 2, 1, 0, 0 };
    const double records[3 * D] = { 0.5, [D] = 0.25, [2 * D] = -0.5, [2 * D + 1] = 0.25,
                                    [2 * D + 3] = more };
    double sums[K * D], counts[K];
    const clo_domain domain = ball(D, 1, CLO_REPLACE);
    clo_bounded *const data = bounded_from(records, 3, &domain);
    asking a;
    start_asking(&a, line, rng);
    for (size_t i = 0, at = 0; i < asks; i++) {
        ask_sums(&a, question, data, centers, sums, counts);
        for (size_t e = 0; e < K * D; e++)
            residuals[at++] = llround(ldexp(sums[e] - truth[e], line.bits));
        for (size_t c = 0; c < K; c++)
            residuals[at++] = llround((counts[c] - sizes[c]) * (double)line.count_unit);
    }
    stop_asking(&a);
    clo_bounded_free(data);
}

#endif
