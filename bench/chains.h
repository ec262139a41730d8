/*
 * chains.h - whether chains of draws that started apart have come together.
 *
 * wang2015 (figure 3) watches the norm of the mean basis and expects it to vanish.  It does so for
 * chains that are stuck as well: the signs of a basis' columns are redrawn at every step, whatever
 * the subspace, and being a norm its mean is of order T^-1/2 and not zero.  What tells is the cost
 * across independent starts: the rank-normalised split R-hat of Vehtari, Gelman, Simpson, Carpenter
 * and Buerkner (2021), which sees chains that differ in place or in scale even where the draws have
 * heavy tails, and the plain gap between the means.
 */
#ifndef CLO_BENCH_CHAINS_H
#define CLO_BENCH_CHAINS_H

#include "base/base.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct chain_comparison {
    double rhat; /* the larger of the rank-normalised split R-hat of the draws and of their
                    distances from the median: near 1 where the chains agree */
    double gap;  /* between the highest and the lowest mean of a chain */
    double sd;   /* of the draws within a chain */
} chain_comparison;

/* The statistic of wang2015's figure 3, from the mean over the draws of each basis: mean is
 * clusters x cols x dim.  Between 0 and 1. */
static inline double mean_basis_norm(const double *mean, size_t clusters, size_t cols, size_t dim)
{
    double square = 0;
    for (size_t i = 0; i < clusters * cols * dim; i++) square += mean[i] * mean[i];
    return sqrt(square / (double)(clusters * dim));
}

/* ---- split R-hat --------------------------------------------------------- */

static inline void mean_and_variance(const double *values, size_t count, double *mean,
                                     double *variance)
{
    double sum = 0, square = 0;
    for (size_t i = 0; i < count; i++) sum += values[i];
    *mean = sum / (double)count;
    for (size_t i = 0; i < count; i++) square += (values[i] - *mean) * (values[i] - *mean);
    *variance = count > 1 ? square / (double)(count - 1) : 0;
}

/* The root of the between-chain estimate of the variance over the within-chain one, each chain
 * split in two; 1 where nothing varies, infinite where chains differ and none of them varies.
 * The halves are the first and the last length / 2 draws: of an odd number the middle one is left
 * out. */
static inline double split_rhat(const double *draws, size_t chains, size_t length)
{
    const size_t half = length / 2, halves = 2 * chains;
    double within = 0, sum = 0, square = 0;
    double first = 0; /* the means are added up from the first one on, which keeps their digits */
    for (size_t i = 0; i < halves; i++) {
        double mean, variance;
        const double *chain = draws + i / 2 * length + (i % 2 ? length - half : 0);
        mean_and_variance(chain, half, &mean, &variance);
        if (i == 0) first = mean;
        within += variance / (double)halves;
        sum += mean - first;
        square += (mean - first) * (mean - first);
    }
    const double between = fmax(square - sum * sum / (double)halves, 0) / (double)(halves - 1);
    if (!(within > 0)) return between > 0 ? INFINITY : 1;
    return sqrt((double)(half - 1) / (double)half + between / within);
}

/* ---- ranks --------------------------------------------------------------- */

/* The z with P[N(0,1) <= z] = p, p in (0, 1/2]: Newton's method on the logarithm, which is concave,
 * so that after the first step it comes from below and cannot miss. */
static inline double lower_quantile(double p)
{
    double z = 0;
    for (int i = 0; i < 64; i++) {
        const double below = erfc(-z * M_SQRT1_2) / 2;
        const double density = exp(-z * z / 2) / sqrt(2 * M_PI);
        const double step = log(below / p) * below / density;
        z -= step;
        if (fabs(step) < 1e-14 * (1 + fabs(z))) break;
    }
    return z;
}

typedef struct ranked {
    double value;
    size_t at;
} ranked;

static inline int by_value(const void *a, const void *b)
{
    const double x = ((const ranked *)a)->value, y = ((const ranked *)b)->value;
    return (x > y) - (x < y);
}

/* Each value becomes the normal quantile of its rank among all; equal ones share the mean rank. */
static inline void normalize_ranks(ranked *order, const double *values, size_t count, double *out)
{
    for (size_t i = 0; i < count; i++) order[i] = (ranked){ values[i], i };
    qsort(order, count, sizeof *order, by_value);
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && !(order[end].value > order[first].value);) end++;
        const double rank = (double)(first + 1 + end) / 2;
        const double p = (rank - 0.375) / ((double)count + 0.25);
        const double z = p <= 0.5 ? lower_quantile(p) : -lower_quantile(1 - p);
        for (size_t i = first; i < end; i++) out[order[i].at] = z;
    }
}

static inline double median_of(const ranked *order, size_t count)
{
    const size_t middle = count / 2;
    return count % 2 ? order[middle].value : order[middle - 1].value / 2 + order[middle].value / 2;
}

/* Compares independent chains by one number a draw, such as the cost: draws is chains x length. */
static inline clo_status compare_chains(const double *draws, size_t chains, size_t length,
                                        chain_comparison *out, clo_error *err)
{
    ranked *order = NULL;
    double *scores = NULL, within = 0, low = INFINITY, high = -INFINITY;
    size_t count = 0;
    clo_status status = CLO_OK;
    if (chains < 2 || length < 4 || !clo_i_multiply(chains, length, &count))
        return clo_i_fail(err, CLO_ARGUMENT,
                          "at least 2 chains of at least 4 draws are needed to compare them, not "
                          "%zu of %zu",
                          chains, length);
    for (size_t i = 0; i < count; i++)
        if (!isfinite(draws[i]))
            return clo_i_fail(err, CLO_ARGUMENT, "draws must be finite numbers to be compared");
    if ((status = clo_i_alloc(count, sizeof *order, &order, err)) != CLO_OK) goto done;
    if ((status = clo_i_alloc(count, sizeof *scores, &scores, err)) != CLO_OK) goto done;
    normalize_ranks(order, draws, count, scores);
    const double median = median_of(order, count);
    const double bulk = split_rhat(scores, chains, length);
    for (size_t i = 0; i < count; i++) scores[i] = fabs(draws[i] - median);
    normalize_ranks(order, scores, count, scores);
    const double scale = split_rhat(scores, chains, length);
    for (size_t i = 0; i < chains; i++) {
        double mean, variance;
        mean_and_variance(draws + i * length, length, &mean, &variance);
        within += variance / (double)chains;
        low = fmin(low, mean);
        high = fmax(high, mean);
    }
    *out = (chain_comparison){ fmax(bulk, scale), high - low, sqrt(within) };
done:
    clo_i_free(order);
    clo_i_free(scores);
    return status;
}

#endif
