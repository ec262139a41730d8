/*
 * dots.c - products of many rows with few others: exact integers, whose sums may take any order.
 *
 * BLAS copies both factors to lay them out for large squares, which for ten centres takes as long
 * as the product.  Here four rows and up to six others stay where they are, and a product of two is
 * added up over the columns, eight at a time; the eight are added at the end.  Products and sums
 * below 2^53 are exact, fused or not, so this is what BLAS gives, to the last bit.
 */
#include "linalg/linalg.h"
#if defined(__x86_64__)
#include <immintrin.h>

enum { ROWS = 4, OTHERS = 6, LANES = 8, FEW = 64, LONG = 128 };
#define WITH_512 __attribute__((target("avx512f")))

/* One step of eight columns, or of fewer. */
WITH_512 __attribute__((always_inline)) static inline void
add_step(__m512d sums[ROWS][OTHERS], const double *a, const size_t rows, const double *b,
         const size_t others, size_t d, __mmask8 here)
{
    __m512d x[ROWS];
#pragma GCC unroll 4
    for (size_t i = 0; i < rows; i++) x[i] = _mm512_maskz_loadu_pd(here, a + i * d);
#pragma GCC unroll 6
    for (size_t c = 0; c < others; c++) {
        const __m512d y = _mm512_maskz_loadu_pd(here, b + c * d);
#pragma GCC unroll 4
        for (size_t i = 0; i < rows; i++) sums[i][c] = _mm512_fmadd_pd(x[i], y, sums[i][c]);
    }
}

WITH_512 __attribute__((always_inline)) static inline void
multiply_group(const double *a, const size_t rows, const double *b, const size_t others, size_t d,
               double *c, size_t n)
{
    __m512d sums[ROWS][OTHERS];
    const size_t whole = d / LANES * LANES;
#pragma GCC unroll 4
    for (size_t i = 0; i < rows; i++)
#pragma GCC unroll 6
        for (size_t e = 0; e < others; e++) sums[i][e] = _mm512_setzero_pd();
    for (size_t j = 0; j < whole; j += LANES) add_step(sums, a + j, rows, b + j, others, d, 0xFF);
    if (whole < d)
        add_step(sums, a + whole, rows, b + whole, others, d, (__mmask8)((1U << (d - whole)) - 1));
#pragma GCC unroll 4
    for (size_t i = 0; i < rows; i++)
#pragma GCC unroll 6
        for (size_t e = 0; e < others; e++) c[i * n + e] = _mm512_reduce_add_pd(sums[i][e]);
}

WITH_512 static void multiply_four(const double *a, const double *b, size_t others, size_t d,
                                   double *c, size_t n)
{
    if (others == 6)
        multiply_group(a, ROWS, b, 6, d, c, n);
    else if (others == 5)
        multiply_group(a, ROWS, b, 5, d, c, n);
    else if (others == 4)
        multiply_group(a, ROWS, b, 4, d, c, n);
    else if (others == 3)
        multiply_group(a, ROWS, b, 3, d, c, n);
    else if (others == 2)
        multiply_group(a, ROWS, b, 2, d, c, n);
    else
        multiply_group(a, ROWS, b, 1, d, c, n);
}

/* The others in groups of about the same size. */
WITH_512 static void multiply_512(const double *a, size_t m, const double *b, size_t n, size_t d,
                                  double *c)
{
    const size_t groups = (n + OTHERS - 1) / OTHERS, whole = m / ROWS * ROWS;
    for (size_t i = 0; i < whole; i += ROWS)
        for (size_t g = 0; g < groups; g++) {
            const size_t first = g * n / groups, end = (g + 1) * n / groups;
            multiply_four(a + i * d, b + first * d, end - first, d, c + i * n + first, n);
        }
    for (size_t i = whole; i < m; i++)
        for (size_t e = 0; e < n; e++)
            multiply_group(a + i * d, 1, b + e * d, 1, d, c + i * n + e, n);
}

void clo_i_multiply_integers(const double *a, size_t m, const double *b, size_t n, size_t d,
                             double *c)
{
    __builtin_cpu_init();
    if (n <= FEW && d >= LONG && __builtin_cpu_supports("avx512f"))
        multiply_512(a, m, b, n, d, c);
    else
        clo_i_multiply_transposed(a, m, b, n, d, c);
}

#else

void clo_i_multiply_integers(const double *a, size_t m, const double *b, size_t n, size_t d,
                             double *c)
{
    clo_i_multiply_transposed(a, m, b, n, d, c);
}

#endif
