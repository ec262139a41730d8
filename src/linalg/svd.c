/*
 * svd.c - the skinny singular value decomposition of a tall or wide row-major matrix.
 *
 * A row-major rows x cols matrix is, to LAPACK, its column-major transpose; what LAPACK then calls
 * the right vectors are the left ones of the original, and come out row-major without a copy.  Not
 * by the Gram matrix, although that is faster: squaring loses every singular value below 1e-8 of
 * the largest, and who asks for a rank wants to see those.
 */
#include "linalg/linalg.h"
#include "linalg/lapack.h"
#include <limits.h>
#include <math.h>

/* The work of dgesdd grows with the square of the shorter side and is counted in int. */
enum { MOST_SHORT_SIDE = 16384 };

static int decompose(double *a, int cols, int rows, int rank, double *values, double *left,
                     double *right, double *work, int work_size, int *integers)
{
    int info = 0;
    dgesdd_("S", &cols, &rows, a, &cols, values, right, &cols, left, &rank, work, &work_size,
            integers, &info, 1);
    return info;
}

clo_status clo_i_thin_svd(double *a, size_t rows, size_t cols, double *values, double *left,
                          clo_error *err)
{
    const size_t rank = rows < cols ? rows : cols;
    double wanted = 0, *right = NULL, *work = NULL;
    int *integers = NULL, info = 0;
    if (rank < 1 || rank > MOST_SHORT_SIDE || rows > INT_MAX || cols > INT_MAX)
        return clo_i_fail(err, CLO_ARGUMENT, "singular values need at most %d rows, or columns",
                          (int)MOST_SHORT_SIDE);
    for (size_t i = 0; i < rows * cols; i++)
        if (!isfinite(a[i]))
            return clo_i_fail(err, CLO_INTERNAL, "singular values: a number is not finite");
    const int tall = (int)rows, wide = (int)cols, least = (int)rank;

    const int threads = clo_i_blas_serial_begin();
    clo_status status = clo_i_alloc(cols * rank, sizeof *right, &right, err);
    if (!status) status = clo_i_alloc(8 * rank, sizeof *integers, &integers, err);
    if (!status) info = decompose(a, wide, tall, least, values, left, right, &wanted, -1, integers);
    if (!status && !info) status = clo_i_alloc((size_t)wanted, sizeof *work, &work, err);
    if (!status && !info)
        info = decompose(a, wide, tall, least, values, left, right, work, (int)wanted, integers);
    clo_i_blas_serial_end(threads);
    clo_i_free(right);
    clo_i_free(integers);
    clo_i_free(work);
    if (!status && info)
        status = clo_i_fail(err, CLO_INTERNAL, "singular values: LAPACK's dgesdd did not end well");
    return status;
}
