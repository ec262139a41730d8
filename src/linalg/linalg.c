/*
 * linalg.c - thin calls on CBLAS and LAPACK, for row-major matrices.
 *
 * LAPACK thinks in columns, but nothing need be transposed to please it: a symmetric matrix is its
 * own transpose, and a row-major n x q matrix *is* the column-major q x n transpose, whose LQ
 * factors are the QR factors of the original. So everything below calls LAPACK in place.
 *
 * Sums over many rows come from bounded records, which are integers held in doubles; every order of
 * summation then gives the same result and BLAS may use all its threads. The factorizations work on
 * reals, where the order is visible in the last bit, and run on one thread.
 */
#include "linalg/linalg.h"
#include "linalg/lapack.h"
#include <cblas.h>
#include <limits.h>
#include <math.h>
#include <omp.h>
#include <string.h>

/* BLAS counts in int. Blocks this tall keep it in range however many rows there are. */
enum { BLOCK_ROWS = 1 << 20 };
/* The widest panel that LAPACK's own block-size tables ask for. */
enum { PANEL = 64 };

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* n x q with 1 <= q <= n, small enough that LAPACK's int work sizes hold.  No message of this file
 * holds a number: matrices may be made of a secret number of rows, and how LAPACK ended on records
 * is a function of theirs. */
static clo_status check_shape(const char *what, size_t n, size_t q, clo_error *err)
{
    if (q < 1 || q > n || n > INT_MAX / (2 * PANEL))
        return clo_i_fail(err, CLO_INTERNAL, "%s: a matrix is out of range", what);
    return CLO_OK;
}

/* LAPACK iterates until a comparison holds; on NaN none ever may. */
static clo_status check_finite(const char *what, const double *values, size_t count, clo_error *err)
{
    for (size_t i = 0; i < count; i++)
        if (!isfinite(values[i]))
            return clo_i_fail(err, CLO_INTERNAL, "%s: a number is not finite", what);
    return CLO_OK;
}

int clo_i_blas_serial_begin(void)
{
    const int before = omp_get_max_threads();
    omp_set_num_threads(1); /* of the calling thread alone; OpenBLAS asks OpenMP at each call */
    return before;
}

void clo_i_blas_serial_end(int before)
{
    omp_set_num_threads(before);
}

/* ---- exact on integers --------------------------------------------------- */

void clo_i_gram_add(const double *a, size_t rows, size_t cols, double *c)
{
    const int d = (int)cols;
    for (size_t first = 0; first < rows && d > 0; first += BLOCK_ROWS) {
        const int count = (int)smaller(BLOCK_ROWS, rows - first);
        cblas_dsyrk(CblasRowMajor, CblasUpper, CblasTrans, d, count, 1.0, a + first * cols, d, 1.0,
                    c, d);
    }
}

void clo_i_cross_add(const double *a, size_t m, const double *b, size_t n, size_t rows, double *c)
{
    for (size_t first = 0; first < rows && m > 0 && n > 0; first += BLOCK_ROWS) {
        const int count = (int)smaller(BLOCK_ROWS, rows - first);
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)m, (int)n, count, 1.0,
                    a + first * m, (int)m, b + first * n, (int)n, 1.0, c, (int)n);
    }
}

void clo_i_multiply_transposed(const double *a, size_t m, const double *b, size_t n, size_t d,
                               double *c)
{
    if (d == 0) {
        memset(c, 0, m * n * sizeof *c);
        return;
    }
    for (size_t first = 0; first < m && n > 0; first += BLOCK_ROWS) {
        const int count = (int)smaller(BLOCK_ROWS, m - first);
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, count, (int)n, (int)d, 1.0,
                    a + first * d, (int)d, b, (int)d, 0.0, c + first * n, (int)n);
    }
}

void clo_i_multiply_symmetric(const double *a, size_t m, const double *b, size_t d, double *c)
{
    for (size_t first = 0; first < m && d > 0; first += BLOCK_ROWS) {
        const int count = (int)smaller(BLOCK_ROWS, m - first);
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, count, (int)d, (int)d, 1.0,
                    a + first * d, (int)d, b, (int)d, 0.0, c + first * d, (int)d);
    }
}

/* ---- eigenvectors -------------------------------------------------------- */

/* The scratch of clo_i_eigen_top, in this order; the integers share the doubles' storage. */
typedef struct eigen_space {
    double *values;  /* n: LAPACK writes all of them, though q are asked for */
    double *vectors; /* q x n: row i is vector i, smallest eigenvalue first */
    double *work;    /* work_count(n) */
    int *integers;   /* 10 n */
    int *supports;   /* 2 q */
} eigen_space;

/* dsyevr needs 26 n, and (panel + 6) n to use its blocked reduction. */
static size_t work_count(size_t n)
{
    return (PANEL + 6) * n;
}

static size_t doubles_for_integers(size_t count)
{
    return (count * sizeof(int) + sizeof(double) - 1) / sizeof(double);
}

size_t clo_i_eigen_scratch(size_t n, size_t q)
{
    return n + n * q + work_count(n) + doubles_for_integers(10 * n) + doubles_for_integers(2 * q);
}

static eigen_space split_scratch(double *scratch, size_t n, size_t q)
{
    eigen_space space;
    space.values = scratch;
    space.vectors = space.values + n;
    space.work = space.vectors + n * q;
    space.integers = (int *)(space.work + work_count(n));
    space.supports = (int *)(space.work + work_count(n) + doubles_for_integers(10 * n));
    return space;
}

/* The eigenpairs from the first-th smallest on, or all values, into the space; LAPACK's info. */
static int decompose(const char *job, const char *range, double *a, int size, int first,
                     const eigen_space *space, int *found)
{
    const double unused = 0, finest = 0;
    const int work_size = (int)work_count((size_t)size), integers_size = 10 * size;
    int info = 0;
    const int threads = clo_i_blas_serial_begin();
    dsyevr_(job, range, "L", &size, a, &size, &unused, &unused, &first, &size, &finest, found,
            space->values, space->vectors, &size, space->supports, space->work, &work_size,
            space->integers, &integers_size, &info, 1, 1, 1);
    clo_i_blas_serial_end(threads);
    return info;
}

/* An eigenvector is known up to its sign: the first entry of largest magnitude is positive. */
static double sign_of(const double *vector, size_t n)
{
    size_t largest = 0;
    for (size_t i = 1; i < n; i++)
        if (fabs(vector[i]) > fabs(vector[largest])) largest = i;
    return vector[largest] < 0 ? -1.0 : 1.0;
}

clo_status clo_i_eigen_top(double *a, size_t n, size_t q, double *values, double *vectors,
                           double *scratch, clo_error *err)
{
    CLO_TRY(check_shape("eigenvectors", n, q, err));
    CLO_TRY(check_finite("eigenvectors", a, n * n, err));
    const eigen_space space = split_scratch(scratch, n, q);
    const int size = (int)n, first = (int)(n - q + 1);
    int found = 0;
    const int info = decompose("V", "I", a, size, first, &space, &found);
    if (info != 0 || found != (int)q)
        return clo_i_fail(err, CLO_INTERNAL, "eigenvectors: LAPACK's dsyevr did not end well");

    for (size_t j = 0; j < q; j++) {
        const double *vector = space.vectors + (q - 1 - j) * n;
        const double sign = sign_of(vector, n);
        values[j] = space.values[q - 1 - j];
        for (size_t i = 0; i < n; i++) vectors[i * q + j] = sign * vector[i];
    }
    return CLO_OK;
}

clo_status clo_i_eigenvalues(double *a, size_t n, double *values, double *scratch, clo_error *err)
{
    CLO_TRY(check_finite("eigenvalues", a, n * n, err));
    const eigen_space space = split_scratch(scratch, n, 1);
    const int size = (int)n;
    int found = 0;
    const int info = decompose("N", "A", a, size, 1, &space, &found);
    if (info != 0 || found != size)
        return clo_i_fail(err, CLO_INTERNAL, "eigenvalues: LAPACK's dsyevr did not end well");
    for (size_t j = 0; j < n; j++) values[j] = space.values[n - 1 - j];
    return CLO_OK;
}

/* ---- orthonormal bases --------------------------------------------------- */

clo_status clo_i_orthonormalize(double *a, size_t n, size_t q, clo_error *err)
{
    double *scale = NULL; /* of the q reflectors; then the signs of R's diagonal, then the work */
    CLO_TRY(check_shape("orthonormal basis", n, q, err));
    CLO_TRY(check_finite("orthonormal basis", a, n * q, err));
    CLO_TRY(clo_i_alloc((2 + PANEL) * q, sizeof *scale, &scale, err));
    double *sign = scale + q, *work = sign + q;
    const int height = (int)q, length = (int)n, space = PANEL * height;
    int info = 0;

    const int threads = clo_i_blas_serial_begin();
    dgelqf_(&height, &length, a, &height, scale, work, &space, &info);
    for (size_t j = 0; j < q; j++) sign[j] = a[j * q + j] < 0 ? -1.0 : 1.0;
    if (info == 0) dorglq_(&height, &length, &height, a, &height, scale, work, &space, &info);
    clo_i_blas_serial_end(threads);

    /* With R's diagonal positive a basis that is orthonormal already stays what it is, and one made
     * from normal variates is uniformly distributed. */
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < q; j++) a[i * q + j] *= sign[j];
    clo_i_wipe_free(scale, (2 + PANEL) * q * sizeof *scale);
    if (info != 0)
        return clo_i_fail(err, CLO_INTERNAL, "orthonormal basis: LAPACK did not end well");
    return CLO_OK;
}

/* ---- principal angles ---------------------------------------------------- */

/* The singular values of the n x q matrix, largest first; destroys it. */
static clo_status singular_values(double *a, size_t n, size_t q, double *values, clo_error *err)
{
    const int height = (int)q, length = (int)n, ask = -1, one = 1;
    double wanted = 0, unused = 0, *work = NULL;
    int info = 0;
    dgesvd_("N", "N", &height, &length, a, &height, values, &unused, &one, &unused, &one, &wanted,
            &ask, &info, 1, 1);
    if (info == 0) {
        const int size = (int)wanted;
        CLO_TRY(clo_i_alloc((size_t)size, sizeof *work, &work, err));
        dgesvd_("N", "N", &height, &length, a, &height, values, &unused, &one, &unused, &one, work,
                &size, &info, 1, 1);
        clo_i_wipe_free(work, (size_t)size * sizeof *work);
    }
    if (info != 0)
        return clo_i_fail(err, CLO_INTERNAL, "principal angles: LAPACK's dgesvd did not end well");
    return CLO_OK;
}

/* The cosines are the singular values of U'V, but a cosine within 1e-16 of one says nothing about
 * an angle below 1e-8. The sines are those of V - U(U'V), what of V lies outside U's range. */
clo_status clo_i_sin_angles(const double *u, const double *v, size_t n, size_t q, double *sines,
                            clo_error *err)
{
    double *rest = NULL, *inside, *found; /* n x q, q x q, q */
    CLO_TRY(check_shape("principal angles", n, q, err));
    CLO_TRY(check_finite("principal angles", u, n * q, err));
    CLO_TRY(check_finite("principal angles", v, n * q, err));
    const size_t count = n * q + q * q + q;
    CLO_TRY(clo_i_alloc(count, sizeof *rest, &rest, err));
    inside = rest + n * q;
    found = inside + q * q;
    memcpy(rest, v, n * q * sizeof *rest);
    const int height = (int)n, width = (int)q;

    const int threads = clo_i_blas_serial_begin();
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, width, width, height, 1.0, u, width, v,
                width, 0.0, inside, width);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, height, width, width, -1.0, u, width,
                inside, width, 1.0, rest, width);
    const clo_status status = singular_values(rest, n, q, found, err);
    clo_i_blas_serial_end(threads);

    for (size_t j = 0; j < q && status == CLO_OK; j++) sines[j] = fmin(found[j], 1.0);
    clo_i_wipe_free(rest, count * sizeof *rest);
    return status;
}

clo_status clo_i_solve_positive(double *a, size_t n, double *b, clo_error *err)
{
    const int size = (int)n, sides = 1;
    int info = 0;
    CLO_TRY(check_finite("a positive definite system", a, n * n, err));
    CLO_TRY(check_finite("a positive definite system", b, n, err));
    const int before = clo_i_blas_serial_begin();
    dposv_("U", &size, &sides, a, &size, b, &size, &info, 1);
    clo_i_blas_serial_end(before);
    if (info != 0) return clo_i_fail(err, CLO_INTERNAL, "a matrix is not positive definite");
    return CLO_OK;
}
