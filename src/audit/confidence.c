/*
 * confidence.c - how sure one may be: exact binomial bounds, and the losses they show (audit.T1).
 */
#include "audit/audit_internal.h"
#include <float.h>
#include <math.h>

/* Lentz's continued fraction for the incomplete beta function; quick where x is below the mean. */
static double beta_fraction(double a, double b, double x)
{
    double c = 1, d = 1 - (a + b) * x / (a + 1), value;
    d = 1 / (fabs(d) < DBL_MIN ? DBL_MIN : d);
    value = d;
    for (int m = 1; m < 100000; m++) {
        const double two = 2.0 * m;
        double step = m * (b - m) * x / ((a + two - 1) * (a + two));
        d = 1 + step * d;
        c = 1 + step / c;
        d = 1 / (fabs(d) < DBL_MIN ? DBL_MIN : d);
        c = fabs(c) < DBL_MIN ? DBL_MIN : c;
        value *= d * c;
        step = -(a + m) * (a + b + m) * x / ((a + two) * (a + two + 1));
        d = 1 + step * d;
        c = 1 + step / c;
        d = 1 / (fabs(d) < DBL_MIN ? DBL_MIN : d);
        c = fabs(c) < DBL_MIN ? DBL_MIN : c;
        value *= d * c;
        if (fabs(d * c - 1) < 1e-15) break;
    }
    return value;
}

/* P[Beta(a, b) <= x], or P[Beta(a, b) > x]: the smaller of the two without cancellation. */
static double beta_law(double a, double b, double x, bool above)
{
    if (x <= 0 || x >= 1) return (x >= 1) != above ? 1 : 0;
    const double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    const bool left = x < (a + 1) / (a + b + 2);
    const double tail =
        left ? front * beta_fraction(a, b, x) / a : front * beta_fraction(b, a, 1 - x) / b;
    return left != above ? tail : 1 - tail;
}

/* The largest x known to have P[Beta <= x] <= p, or the smallest known to have P[Beta > x] <= p. */
static double beta_quantile(double a, double b, double p, bool above)
{
    double low = 0, high = 1;
    for (int i = 0; i < 200 && high - low > 1e-15 * high; i++) {
        const double middle = low > 0 && high / low > 4 ? sqrt(low * high) : (low + high) / 2;
        if (above ? beta_law(a, b, middle, true) > p : beta_law(a, b, middle, false) <= p)
            low = middle;
        else
            high = middle;
    }
    return above ? high : low;
}

/* What lgamma and the fraction may be off by, many times over. */
static const double SLACK = 1e-9;

double clo_i_probability_at_least(uint64_t hits, uint64_t trials, double alpha)
{
    if (hits == 0) return 0;
    const double k = (double)hits, n = (double)trials;
    return beta_quantile(k, n - k + 1, alpha * (1 - SLACK), false) * (1 - SLACK);
}

double clo_i_probability_at_most(uint64_t hits, uint64_t trials, double alpha)
{
    if (hits == trials) return 1;
    const double k = (double)hits, n = (double)trials;
    return fmin(1, beta_quantile(k + 1, n - k, alpha * (1 - SLACK), true) * (1 + SLACK));
}

double clo_i_normal_quantile(double p)
{
    double low = -40, high = 40;
    if (p <= 0) return -INFINITY;
    if (p >= 1) return INFINITY;
    for (int i = 0; i < 100; i++) {
        const double middle = (low + high) / 2;
        if (0.5 * erfc(-middle / sqrt(2)) < p)
            low = middle;
        else
            high = middle;
    }
    return (low + high) / 2;
}

double clo_i_shown_loss(clo_audit_unit unit, double delta, double p, double q)
{
    double loss;
    if (unit == CLO_AUDIT_MU)
        loss = p > 0 && q < 1 ? clo_i_normal_quantile(p) - clo_i_normal_quantile(q) : 0;
    else
        loss = p > delta && q > 0 ? log((p - delta) / q) : p > delta ? INFINITY : 0;
    return loss > 0 ? loss : 0;
}
