/*
 * laplace_sum.c - for each cluster the sum of its records and their number, with discrete Laplace
 * noise: epsilon-DP, without any delta (laplace_sum.T1).
 *
 * As in gaussian_sum.c a record r in cluster c adds the vector (r, count_unit) to block c, on the
 * grid of 20 bits with R = 2^20.  An integer vector of L2 norm R at most has an L1 norm of at most
 * sqrt(d) R, rounded down.
 */
#include "query/laplace_sum.h"
#include "query/queries.h"
#include "query/cluster_sum_internal.h"
#include "ask/assign.h"
#include "query/cluster_sum.h"
#include <math.h>

enum { BITS = 20 };
static const uint64_t R = (uint64_t)1 << BITS;

/* How heavily the count is weighed.  The error of a mean, (sqrt(d) + w)^2 (d + |m|^2 / w^2) with
 * w = unit/R, is least at w^3 = |m|^2 / sqrt(d), under both relations; half of the radius stands
 * for |m|. */
static uint64_t count_unit(const clo_domain *domain)
{
    return (uint64_t)((double)R * cbrt(0.25 / sqrt((double)domain->cols)));
}

clo_status clo_i_plan_laplace_sum(const clo_domain *domain, size_t clusters, double epsilon,
                                  uint64_t times, const char *label, clo_line *out, clo_error *err)
{
    const unsigned __int128 square = (unsigned __int128)R * R * domain->cols;
    const uint64_t longest = clo_i_root_up(square + 1) - 1; /* sqrt(d) R, rounded down */
    clo_line line = { .query = &clo_i_query_laplace_sum,
                      .label = label,
                      .bits = BITS,
                      .cols = domain->cols,
                      .groups = clusters,
                      .count_unit = count_unit(domain) };
    uint64_t sensitivity = longest + line.count_unit; /* laplace_sum.T1 */
    CLO_TRY(clo_i_check_clusters(clusters, CLO_MAX_CLUSTERS, err));
    if (domain->relation == CLO_REPLACE) sensitivity *= 2;
    CLO_TRY(clo_i_plan_laplace(sensitivity * domain->rows_per_unit, epsilon, times, &line, err));
    line.noise = clo_i_line_deviation(&line) * clo_i_domain_radius(domain);
    *out = line;
    return CLO_OK;
}

clo_status clo_i_ask_laplace_sum(clo_context *context, size_t number, const clo_bounded *data,
                                 const clo_assign *rule, double *sums, double *counts,
                                 clo_error *err)
{
    return clo_i_noisy_cluster_sums(context, number, &clo_i_query_laplace_sum, data, rule, sums,
                                    counts, err);
}

const clo_query clo_i_query_laplace_sum = {
    .name = "laplace_sum",
    .reading = CLO_READING_SUM,
    .numbers = clo_i_numbers_added,
    .lay_out = clo_i_cluster_sum_lay_out,
    .sum = {
        .check = clo_i_cluster_sum_check,
        .entries = clo_i_cluster_sum_entries,
        .add = clo_i_cluster_sum_add,
        .gather = clo_i_cluster_sum_gather,
    },
};
