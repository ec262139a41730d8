/*
 * lapack.h - the routines of LAPACK that are called, by the names that Fortran gives them.
 *
 * OpenBLAS has them all.  LAPACKE, their wrapper for C, would bring a second LAPACK and three more
 * libraries into every process.  Everything goes by address, matrices lie column after column, and
 * the lengths of the texts come last, as gfortran passes them.
 */
#ifndef CLO_LAPACK_H
#define CLO_LAPACK_H

#include <stddef.h>

/* Eigenvalues, and eigenvectors, of a symmetric matrix. */
void dsyevr_(const char *job, const char *range, const char *triangle, const int *n, double *a,
             const int *a_step, const double *low, const double *high, const int *first,
             const int *last, const double *tolerance, int *found, double *values, double *vectors,
             const int *vectors_step, int *supports, double *work, const int *work_size,
             int *integers, const int *integers_size, int *info, size_t job_length,
             size_t range_length, size_t triangle_length);

/* A = L Q, and then Q from its reflectors. */
void dgelqf_(const int *rows, const int *cols, double *a, const int *a_step, double *scale,
             double *work, const int *work_size, int *info);
void dorglq_(const int *rows, const int *cols, const int *reflectors, double *a, const int *a_step,
             const double *scale, double *work, const int *work_size, int *info);

/* Singular values and vectors: by QR steps, and by divide and conquer. */
void dgesvd_(const char *left_job, const char *right_job, const int *rows, const int *cols,
             double *a, const int *a_step, double *values, double *left, const int *left_step,
             double *right, const int *right_step, double *work, const int *work_size, int *info,
             size_t left_job_length, size_t right_job_length);
void dgesdd_(const char *job, const int *rows, const int *cols, double *a, const int *a_step,
             double *values, double *left, const int *left_step, double *right,
             const int *right_step, double *work, const int *work_size, int *integers, int *info,
             size_t job_length);

/* A positive definite matrix: its Cholesky factor, solving with that, and both at once. */
void dpotrf_(const char *triangle, const int *n, double *a, const int *a_step, int *info,
             size_t triangle_length);
void dpotrs_(const char *triangle, const int *n, const int *sides, const double *a,
             const int *a_step, double *b, const int *b_step, int *info, size_t triangle_length);
void dposv_(const char *triangle, const int *n, const int *sides, double *a, const int *a_step,
            double *b, const int *b_step, int *info, size_t triangle_length);

#endif
