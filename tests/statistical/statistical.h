/*
 * statistical.h - tests of random things whose rate of false alarms is proved for every sample
 * size: the inequality of Dvoretzky, Kiefer and Wolfowitz with Massart's constant for a whole law,
 * the interval of Clopper and Pearson for an event, the Gamma law for the scale of many numbers.
 * No asymptotics, no p-value that only tends to be one.
 *
 * A test function owns a row of alpha.def and splits its rate among its checks:
 *
 *   const double alpha = stat_alpha(STAT_discrete_laplace_law, 3);
 *   assert_true(stat_follows(sample, count, law, &parameters, alpha));    the truth is accepted
 *   assert_false(stat_follows(faulty, count, law, &parameters, alpha));   the planted fault is not
 *
 * Every test has such a planted fault beside it, large enough to be found and no larger.  The seed
 * is fixed; STAT_SEED=random takes a fresh one and prints it, STAT_SEED=that text takes it again.
 */
#ifndef CLO_TEST_STATISTICAL_H
#define CLO_TEST_STATISTICAL_H

#include "random/random.h"

typedef enum stat_test {
#define ALPHA(name, billionths) STAT_##name,
#include "alpha.def"
#undef ALPHA
    STAT_TESTS
} stat_test;

#define ALPHA(name, billionths) _Static_assert((billionths) >= 1, #name " is in billionths");
#include "alpha.def"
#undef ALPHA
#define ALPHA(name, billionths) +(billionths)
_Static_assert(0
#include "alpha.def"
                   <= 10000,
               "the statistical tests together may fail by chance once in 100,000 runs");
#undef ALPHA

/* The rate of one of a test's checks. */
double stat_alpha(stat_test test, unsigned checks);

/* 32 bytes, the same for the whole program. */
const uint8_t *stat_seed(void);
/* A stream of the generator with that seed; fails the test where there is none. */
clo_stream *stat_stream(uint64_t ask, uint64_t index);
/* Fails the test if the stream has failed, and closes it. */
void stat_close(clo_stream *stream);

/* ---- whole laws ---------------------------------------------------------- */

/* P[X <= x] of an integer law. */
typedef long double stat_law(int64_t x, const void *parameters);

/* The largest distance between the law and the sample's steps.  Sorts the sample. */
double stat_distance(int64_t *sample, size_t count, stat_law *law, const void *parameters);
/* What a true sample exceeds with probability alpha at most: sqrt(ln(2/alpha)/(2 count)). */
double stat_radius(size_t count, double alpha);
bool stat_follows(int64_t *sample, size_t count, stat_law *law, const void *parameters,
                  double alpha);

/* round(scale N(0, 1)), and discrete Laplace; parameters: the scale, a double. */
long double stat_rounded_gaussian(int64_t x, const void *scale);
long double stat_discrete_laplace(int64_t x, const void *scale);

/* ---- events -------------------------------------------------------------- */

/* One-sided bounds of Clopper and Pearson: the probability is above (below) this unless
 * something of probability alpha has happened. */
double stat_lower_bound(uint64_t hits, uint64_t trials, double alpha);
double stat_upper_bound(uint64_t hits, uint64_t trials, double alpha);
/* The two-sided interval holds the probability. */
bool stat_is_probable(uint64_t hits, uint64_t trials, double probability, double alpha);

/* A fair coin would show as many heads, give or take: by Hoeffding's inequality, which is quick
 * where there are thousands of coins. */
bool stat_is_fair(uint64_t hits, uint64_t trials, double alpha);

/* ---- scales --------------------------------------------------------------- */

/* A value lies between the two quantiles that a Gamma law of this shape leaves alpha outside of:
 * what n squares of N(0, 1) add up to, halved (shape n/2), or n magnitudes of the unit Laplace
 * law (shape n). */
bool stat_is_gamma(double value, double shape, double alpha);

/* ---- the normal law ------------------------------------------------------ */

long double stat_normal(long double z); /* P[N(0, 1) <= z] */
double stat_normal_quantile(double p);

#endif
