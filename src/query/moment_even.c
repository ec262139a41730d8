/*
 * moment_even.c - fourth moments with less of their traces, which take much of the sensitivity and
 * say little (gaussian_moment.T3).
 *
 * A symmetric tensor of order four is the sum of three parts that rotations do not mix: one without
 * traces, sym(I x X) with X traceless, and a multiple of sym(I x I).  Lifting x to xx' - t |x|^2 I
 * keeps the first and shrinks the others by the factors that are computed here.
 */
#include "query/gaussian_moment.h"
#include "query/moment_internal.h"
#include <math.h>
#include <string.h>

clo_moment_even clo_i_moment_even(size_t cols, double share)
{
    const double d = (double)cols, t = 3 * share / (d + 4);
    return (clo_moment_even){ .taken = t,
                              .second = 1 - share,
                              .none = 1 - (d + 2) * t * (2 - d * t) / 3 };
}

double clo_i_moment_reach(size_t cols, double share, bool replace)
{
    const double d = (double)cols, t = 3 * share / (d + 4),
                 least = 3 * share * (2 - share) / (d + 4);
    const double two = (1 - t) * (1 - t) + (d - 1) * t * t;
    const double four = pow(1 - t, 4) + (d - 1) * pow(t, 4);
    const double alone = sqrt((two * two + 2 * four) / 3);
    return replace ? fmax(alone, sqrt(2) * (1 - least)) : alone;
}

/* Where the entry with these indices, in any order, stands. */
static size_t place(size_t d, size_t i, size_t j, size_t k, size_t l)
{
    size_t at[4] = { i, j, k, l };
    for (int a = 1; a < 4; a++)
        for (int b = a; b > 0 && at[b] < at[b - 1]; b--) {
            const size_t swap = at[b];
            at[b] = at[b - 1];
            at[b - 1] = swap;
        }
#define TWO(n)   ((n) * ((n) + 1) / 2)
#define THREE(n) (TWO(n) * ((n) + 2) / 3)
#define FOUR(n)  (THREE(n) * ((n) + 3) / 4)
    return FOUR(d) - FOUR(d - at[0]) + THREE(d - at[0]) - THREE(d - at[1]) + TWO(d - at[1]) -
           TWO(d - at[2]) + at[3] - at[2];
}

void clo_i_moment_contract(const double *moments, size_t d, double *out)
{
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < d; j++) {
            out[i * d + j] = 0;
            for (size_t k = 0; k < d; k++) out[i * d + j] += moments[place(d, i, j, k, k)];
        }
}

void clo_i_moment_restore(const clo_moment_even *even, size_t d, double *square, double *moments)
{
    const double n = (double)d, more = 1 / even->second - 1, most = 1 / even->none - 1;
    double total = 0, *at = moments;
    clo_i_moment_contract(moments, d, square);
    for (size_t i = 0; i < d; i++) total += square[i * d + i];
    for (size_t i = 0; i < d; i++) square[i * d + i] -= total / n;
    const double whole = most * total / (n * (n + 2)), part = more / (n + 4);
    for (size_t i = 0; i < d; i++)
        for (size_t j = i; j < d; j++)
            for (size_t k = j; k < d; k++)
                for (size_t l = k; l < d; l++, at++) {
                    const double ij = i == j, ik = i == k, il = i == l, jk = j == k, jl = j == l,
                                 kl = k == l;
                    *at += whole * (ij * kl + ik * jl + il * jk) +
                           part * (ij * square[k * d + l] + kl * square[i * d + j] +
                                   ik * square[j * d + l] + jl * square[i * d + k] +
                                   il * square[j * d + k] + jk * square[i * d + l]);
                }
}
