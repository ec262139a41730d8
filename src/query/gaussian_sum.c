/*
 * gaussian_sum.c - for each cluster the sum of its records and their number, as one Gaussian
 * query (gaussian_sum.T1).
 *
 * A record r in cluster c adds the vector (r, count_unit) to block c.  On the grid of 20 bits with
 * R = 2^20, one record fewer or more moves the whole k(d+1)-vector by at most sqrt(R^2 + unit^2);
 * a replaced one by at most max(2R, sqrt(2R^2 + 2 unit^2)).
 */
#include "query/gaussian_sum.h"
#include "query/queries.h"
#include "query/cluster_sum_internal.h"
#include "ask/assign.h"
#include <math.h>

enum { BITS = 20 };
static const uint64_t R = (uint64_t)1 << BITS;

/* How heavily the count is weighed.  Under replace a unit up to R is free.  Under add-remove the
 * error of a mean, (1 + w^2)(d + |m|^2 / w^2) with w = unit/R, is least at w^2 = |m| / sqrt(d);
 * half of the radius stands for |m|. */
static uint64_t count_unit(const clo_domain *domain)
{
    if (domain->relation == CLO_REPLACE) return R;
    const double w = sqrt(0.5 / sqrt((double)domain->cols));
    return (uint64_t)((double)R * w);
}

clo_status clo_i_plan_gaussian_sum(const clo_domain *domain, size_t clusters, double mu,
                                   uint64_t times, const char *label, clo_line *out, clo_error *err)
{
    const uint64_t unit = count_unit(domain);
    const unsigned __int128 square = (unsigned __int128)R * R + (unsigned __int128)unit * unit;
    uint64_t sensitivity = clo_i_root_up(square); /* gaussian_sum.T1 */
    clo_line line = { .query = &clo_i_query_gaussian_sum,
                      .label = label,
                      .bits = BITS,
                      .cols = domain->cols,
                      .groups = clusters,
                      .count_unit = unit };
    CLO_TRY(clo_i_check_clusters(clusters, CLO_MAX_CLUSTERS, err));
    if (domain->relation == CLO_REPLACE) {
        sensitivity = clo_i_root_up(2 * square);
        if (sensitivity < 2 * R) sensitivity = 2 * R;
    }
    CLO_TRY(clo_i_plan_gaussian(sensitivity * domain->rows_per_unit, mu, times, &line, err));
    line.noise = (double)line.scale / (double)R * clo_i_domain_radius(domain);
    *out = line;
    return CLO_OK;
}

clo_status clo_i_ask_gaussian_sum(clo_context *context, size_t number, const clo_bounded *data,
                                  const clo_assign *rule, double *sums, double *counts,
                                  clo_error *err)
{
    return clo_i_noisy_cluster_sums(context, number, &clo_i_query_gaussian_sum, data, rule, sums,
                                    counts, err);
}

const clo_query clo_i_query_gaussian_sum = {
    .name = "gaussian_sum",
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
