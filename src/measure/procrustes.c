/*
 * procrustes.c - how far two sets of subspaces are apart when each may choose its bases and its
 * order: the least Frobenius distance between the two lists of bases, over all rotations of each
 * basis and all matchings.  For one pair of subspaces that is the root of the sum of 2 (1 - cos) of
 * their principal angles.
 */
#include "measure/measure.h"
#include <math.h>

enum { SWEEPS = 30 };

/* Turns columns a and b of the n x n matrix so that they are orthogonal; false: they were. */
static bool turn(double *m, size_t n, size_t a, size_t b)
{
    double aa = 0, bb = 0, ab = 0;
    for (size_t i = 0; i < n; i++) {
        aa += m[i * n + a] * m[i * n + a];
        bb += m[i * n + b] * m[i * n + b];
        ab += m[i * n + a] * m[i * n + b];
    }
    if (fabs(ab) <= 1e-15 * sqrt(aa * bb)) return false;
    const double ratio = (bb - aa) / (2 * ab);
    const double t = copysign(1, ratio) / (fabs(ratio) + sqrt(1 + ratio * ratio));
    const double cosine = 1 / sqrt(1 + t * t), sine = t * cosine;
    for (size_t i = 0; i < n; i++) {
        const double left = m[i * n + a], right = m[i * n + b];
        m[i * n + a] = cosine * left - sine * right;
        m[i * n + b] = sine * left + cosine * right;
    }
    return true;
}

/* The sum of the singular values, by one-sided Jacobi rotations; the matrix is destroyed.  Small
 * matrices, and many: a call of LAPACK for each would cost more than the work. */
static double nuclear_norm(double *m, size_t n)
{
    bool moved = true;
    double sum = 0;
    for (int sweep = 0; sweep < SWEEPS && moved; sweep++) {
        moved = false;
        for (size_t a = 0; a < n; a++)
            for (size_t b = a + 1; b < n; b++) moved |= turn(m, n, a, b);
    }
    for (size_t j = 0; j < n; j++) {
        double square = 0;
        for (size_t i = 0; i < n; i++) square += m[i * n + j] * m[i * n + j];
        sum += sqrt(square);
    }
    return sum;
}

size_t clo_i_procrustes_scratch(size_t k, size_t dim)
{
    return k * k + dim * dim;
}

clo_status clo_i_procrustes_distance(const double *a, const double *b, size_t k, size_t cols,
                                     size_t dim, size_t *partner, double *scratch, double *distance,
                                     clo_error *err)
{
    double *const cost = scratch, *const product = scratch + k * k;
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j < k; j++) {
            const double *const u = a + i * cols * dim, *const v = b + j * cols * dim;
            for (size_t e = 0; e < dim * dim; e++) product[e] = 0;
            for (size_t row = 0; row < cols; row++)
                for (size_t e = 0; e < dim; e++)
                    for (size_t f = 0; f < dim; f++)
                        product[e * dim + f] += u[row * dim + e] * v[row * dim + f];
            const double apart = 2 * ((double)dim - nuclear_norm(product, dim));
            /* What is not a number is as far as can be, and not near. */
            cost[i * k + j] = apart >= 0 ? apart : isnan(apart) ? 2 * (double)dim : 0;
        }
    CLO_TRY(clo_i_match(cost, k, partner, err));
    double total = 0;
    for (size_t i = 0; i < k; i++) total += cost[i * k + partner[i]];
    *distance = sqrt(total);
    return CLO_OK;
}
