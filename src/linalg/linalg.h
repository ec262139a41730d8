/*
 * linalg.h - thin calls on CBLAS and LAPACK.  Row-major throughout.
 *
 * What is post-processed must come out the same to the last bit on any number of threads;
 * LAPACK promises that only on one, so the calls here that are not exact on integers run
 * on one thread.
 */
#ifndef CLO_LINALG_H
#define CLO_LINALG_H

#include "base/base.h"

/* C += A'A over the upper triangle; A is rows x cols. Exact on integers below 2^53. */
void clo_i_gram_add(const double *a, size_t rows, size_t cols, double *c);
/* ---- small integers (gram_short.c) ---- */

/* Blocks of at most CLO_SHORT_ROWS rows of 16-bit integers: for each panel of columns all pairs of
 * rows.  Room: clo_i_short_width(cols) x CLO_SHORT_ROWS, 64-byte aligned, and zero at first. */
enum { CLO_SHORT_PANEL = 16, CLO_SHORT_ROWS = 256 };
size_t clo_i_short_width(size_t cols);
/* Two rows into their place in a block. */
void clo_i_short_pair(const int16_t *even, const int16_t *odd, size_t pair, size_t cols,
                      int16_t *a);
/* The kernel to take at most: all give the same.  That of tiles only where clo_i_short_best says
 * so, which asks the system for it. */
typedef enum clo_short_kernel {
    CLO_SHORT_PLAIN,
    CLO_SHORT_256,
    CLO_SHORT_512,
    CLO_SHORT_DOTS,
    CLO_SHORT_TILES
} clo_short_kernel;
clo_short_kernel clo_i_short_best(void);
/* C += A'A over the upper triangle; C is square, of clo_i_short_width(cols) columns, 64-byte
 * aligned, and holds anything below it.  The caller sees to it that no entry is above 2^8 in
 * magnitude and no sum leaves 32 bits.  A may be written over: it is to be laid anew. */
void clo_i_gram_short_add(int16_t *a, size_t pairs, size_t cols, int threads,
                          clo_short_kernel kernel, int32_t *c);

/* ---- exact on integers ---- */

/* C += A'B; A is rows x m, B is rows x n. Exact on integers below 2^53. */
void clo_i_cross_add(const double *a, size_t m, const double *b, size_t n, size_t rows, double *c);
/* C = A B', A is m x d, B is n x d. Exact on integers below 2^53. */
void clo_i_multiply_transposed(const double *a, size_t m, const double *b, size_t n, size_t d,
                               double *c);
/* The same for integers, of which every sum of products is below 2^53, in the order that is the
 * quickest for few rows of B. */
void clo_i_multiply_integers(const double *a, size_t m, const double *b, size_t n, size_t d,
                             double *c);

/* C = A B, A is m x d, B is d x d and symmetric, with both triangles: the same to the last bit as
 * with its transpose, and quicker where m is small, since B is then read along its rows. */
void clo_i_multiply_symmetric(const double *a, size_t m, const double *b, size_t d, double *c);

/* The q algebraically largest eigenvalues, largest first, and their vectors as the columns of
 * the n x q matrix `vectors`, each with its largest entry positive.  `a` is n x n symmetric (both
 * triangles) and is destroyed.  scratch: clo_i_eigen_scratch(n, q) doubles. */
CLO_CHECK clo_status clo_i_eigen_top(double *a, size_t n, size_t q, double *values, double *vectors,
                                     double *scratch, clo_error *err);
size_t clo_i_eigen_scratch(size_t n, size_t q);
/* All eigenvalues, largest first.  scratch: clo_i_eigen_scratch(n, 1) doubles. */
CLO_CHECK clo_status clo_i_eigenvalues(double *a, size_t n, double *values, double *scratch,
                                       clo_error *err);
/* Makes the columns of the n x q matrix orthonormal, in place (Householder QR; a rank-deficient
 * matrix is completed). */
CLO_CHECK clo_status clo_i_orthonormalize(double *a, size_t n, size_t q, clo_error *err);
/* Solves a x = b for a symmetric positive definite n x n matrix; a is destroyed, b becomes x. */
CLO_CHECK clo_status clo_i_solve_positive(double *a, size_t n, double *b, clo_error *err);
/* sin of the principal angles between the ranges of two n x q orthonormal matrices, largest
 * first; accurate for small angles too. */
CLO_CHECK clo_status clo_i_sin_angles(const double *u, const double *v, size_t n, size_t q,
                                      double *sines, clo_error *err);
/* The singular values of the rows x cols matrix, largest first, as many as its shorter side, and
 * the left vectors as the columns of the row-major matrix `left`; a is destroyed.  CLO_ARGUMENT
 * where the shorter side is above 16384. */
CLO_CHECK clo_status clo_i_thin_svd(double *a, size_t rows, size_t cols, double *values,
                                    double *left, clo_error *err);

/* Between the two, BLAS and LAPACK on this thread use one thread. */
int clo_i_blas_serial_begin(void);
void clo_i_blas_serial_end(int before);

#endif
