/*
 * test_linalg.c - the calls on BLAS and LAPACK against oracles that share no code with them:
 * integer loops for what must be exact, a Jacobi iteration in long double for the angles.
 */
#include "check.h"
#include "linalg/linalg.h"
#include <float.h>
#include <omp.h>
#include <stdlib.h>

/* ---- small tools --------------------------------------------------------- */

static void *need(size_t count, size_t size)
{
    void *block = calloc(count ? count : 1, size);
    assert_non_null(block);
    return block;
}

/* xorshift64*: the tests' own source of numbers. */
static uint64_t next(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(0x2545F4914F6CDD1D);
}

static double uniform(uint64_t *state) /* in (-1, 1) */
{
    return (double)(int64_t)next(state) * 0x1p-63;
}

static double *random_matrix(size_t count, uint64_t seed)
{
    double *a = need(count, sizeof *a);
    for (size_t i = 0; i < count; i++) a[i] = uniform(&seed);
    return a;
}

static double *random_integers(size_t count, int64_t bound, uint64_t seed)
{
    double *a = need(count, sizeof *a);
    for (size_t i = 0; i < count; i++)
        a[i] = (double)((int64_t)(next(&seed) % (uint64_t)(2 * bound + 1)) - bound);
    return a;
}

static double *random_symmetric(size_t n, uint64_t seed)
{
    double *a = random_matrix(n * n, seed);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++) a[i * n + j] = a[j * n + i];
    return a;
}

static void assert_orthonormal_columns(const double *a, size_t n, size_t q)
{
    for (size_t i = 0; i < q; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = 0;
            for (size_t r = 0; r < n; r++) sum += a[r * q + i] * a[r * q + j];
            assert_close(sum, i == j, 1e-14 * (double)n);
        }
}

/* ---- exactness on integers ----------------------------------------------- */

static void assert_gram_is(const double *a, size_t rows, size_t cols, const double *gram)
{
    for (size_t i = 0; i < cols; i++)
        for (size_t j = i; j < cols; j++) {
            __int128 sum = 0;
            for (size_t r = 0; r < rows; r++)
                sum += (__int128)a[r * cols + i] * (__int128)a[r * cols + j];
            assert_true((__int128)gram[i * cols + j] == sum);
        }
}

static void gram_of_blocks(const double *a, size_t rows, size_t cols, size_t block, double *gram)
{
    memset(gram, 0, cols * cols * sizeof *gram);
    for (size_t first = 0; first < rows; first += block)
        clo_i_gram_add(a + first * cols, block < rows - first ? block : rows - first, cols, gram);
}

/* 4000 products of 20-bit numbers stay below 2^53. */
static void a_gram_matrix_of_integers_is_exact_in_any_order(void **state)
{
    const size_t rows = 4000, cols = 37, blocks[] = { 1, 7, 64, 1000, 4000 };
    double *a = random_integers(rows * cols, 1 << 20, 1);
    double *expected = need(cols * cols, sizeof *expected), *gram = need(cols * cols, sizeof *gram);
    uint64_t shuffle = 2;
    (void)state;
    gram_of_blocks(a, rows, cols, rows, expected);
    assert_gram_is(a, rows, cols, expected);
    for (int threads = 1; threads <= 2; threads++)
        for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++) {
            for (size_t i = rows - 1; i > 0; i--) {
                const size_t j = next(&shuffle) % (i + 1);
                for (size_t c = 0; c < cols; c++) {
                    const double swapped = a[i * cols + c];
                    a[i * cols + c] = a[j * cols + c];
                    a[j * cols + c] = swapped;
                }
            }
            omp_set_num_threads(threads);
            gram_of_blocks(a, rows, cols, blocks[b], gram);
            assert_memory_equal(gram, expected, cols * cols * sizeof *gram);
        }
    free(a), free(expected), free(gram);
}

static void a_gram_matrix_is_added_to_what_is_there_above_the_diagonal_only(void **state)
{
    const double a[] = { 1, 2, 3, 4, 5, 6 }; /* 2 x 3 */
    double gram[] = { 100, 200, 300, -1, 400, 500, -2, -3, 600 };
    const double expected[] = { 117, 222, 327, -1, 429, 536, -2, -3, 645 };
    (void)state;
    clo_i_gram_add(a, 2, 3, gram);
    assert_memory_equal(gram, expected, sizeof gram);
    clo_i_gram_add(a, 0, 3, gram);
    assert_memory_equal(gram, expected, sizeof gram);
}

static void more_rows_than_one_block_are_all_counted(void **state)
{
    const size_t rows = (1 << 20) + 3, cols = 3;
    double *a = random_integers(rows * cols, 1000, 3);
    double gram[9] = { 0 }, *product = need(rows, sizeof *product);
    const double b[] = { 2, -3, 5 };
    (void)state;
    clo_i_gram_add(a, rows, cols, gram);
    assert_gram_is(a, rows, cols, gram);
    clo_i_multiply_transposed(a, rows, b, 1, cols, product);
    for (size_t i = 0; i < rows; i++)
        assert_true(product[i] == 2 * a[3 * i] - 3 * a[3 * i + 1] + 5 * a[3 * i + 2]);
    free(a), free(product);
}

static void a_product_of_integers_is_exact_in_any_order(void **state)
{
    const size_t m = 531, n = 19, d = 203, blocks[] = { 1, 5, 64, 531 };
    double *a = random_integers(m * d, 1 << 22, 4), *b = random_integers(n * d, 1 << 22, 5);
    double *c = need(m * n, sizeof *c);
    (void)state;
    for (int threads = 1; threads <= 2; threads++)
        for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++) {
            omp_set_num_threads(threads);
            for (size_t i = 0; i < m * n; i++) c[i] = NAN; /* what is there must not matter */
            for (size_t first = 0; first < m; first += blocks[k])
                clo_i_multiply_transposed(a + first * d,
                                          blocks[k] < m - first ? blocks[k] : m - first, b, n, d,
                                          c + first * n);
            for (size_t i = 0; i < m; i++)
                for (size_t j = 0; j < n; j++) {
                    int64_t sum = 0;
                    for (size_t l = 0; l < d; l++)
                        sum += (int64_t)a[i * d + l] * (int64_t)b[j * d + l];
                    assert_true(c[i * n + j] == (double)sum);
                }
        }
    free(a), free(b), free(c);
}

/* Few rows and many, whole vectors and what is left of one, on both sides of the sizes for which it
 * takes another way; sums up to 2^52, the largest of lens.T1. */
static void a_product_with_few_rows_is_exact(void **state)
{
    static const size_t sizes[][3] = { { 9, 10, 784 }, { 4, 1, 128 },   { 5, 6, 129 },
                                       { 3, 7, 135 },  { 13, 64, 130 }, { 2, 65, 131 },
                                       { 8, 30, 127 }, { 1, 5, 151 } };
    (void)state;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        const size_t m = sizes[s][0], n = sizes[s][1], d = sizes[s][2];
        double *a = random_integers(m * d, 1 << 26, 40 + s);
        double *b = random_integers(n * d, 1 << 18, 60 + s), *c = need(m * n, sizeof *c);
        for (size_t j = 0; j < d; j++) a[j] = b[j] = 0;
        a[d - 1] = 0x1p30; /* the first of both: as far as they go, in the last column */
        b[d - 1] = -0x1p22;
        for (size_t i = 0; i < m * n; i++) c[i] = NAN;
        clo_i_multiply_integers(a, m, b, n, d, c);
        for (size_t i = 0; i < m * n; i++) {
            int64_t sum = 0;
            for (size_t l = 0; l < d; l++)
                sum += (int64_t)a[i / n * d + l] * (int64_t)b[i % n * d + l];
            assert_true(c[i] == (double)sum);
        }
        assert_true(c[0] == -0x1p52);
        free(a), free(b), free(c);
    }
}

/* Of numbers that are not integers, too: as near as their order of summing leaves it, which is
 * another one in some kernels of OpenBLAS (those for small matrices on AVX-512). */
static void a_symmetric_product_is_that_with_its_transpose(void **state)
{
    static const size_t sizes[] = { 1, 7, 66, 210, 703 };
    (void)state;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        const size_t d = sizes[s], m = 1 + 3 * s;
        double *a = random_integers(m * d, 1 << 22, 6), *b = random_integers(d * d, 1 << 22, 7);
        double *c = need(m * d, sizeof *c), *other = need(m * d, sizeof *other);
        for (size_t i = 0; i < m * d; i++) a[i] = sin(a[i]);
        for (size_t i = 0; i < d; i++)
            for (size_t j = 0; j <= i; j++) b[i * d + j] = b[j * d + i] = sin(b[i * d + j]);
        clo_i_multiply_symmetric(a, m, b, d, c);
        clo_i_multiply_transposed(a, m, b, d, d, other);
        for (size_t e = 0; e < m * d; e++)
            assert_true(fabs(c[e] - other[e]) <= (double)d * (double)d * DBL_EPSILON);
        free(a), free(b), free(c), free(other);
    }
}

/* ---- eigenvectors -------------------------------------------------------- */

static clo_status eigen(const double *a, size_t n, size_t q, double *values, double *vectors,
                        clo_error *err)
{
    double *copy = need(n * n, sizeof *copy);
    double *scratch = need(clo_i_eigen_scratch(n, q), sizeof *scratch);
    memcpy(copy, a, n * n * sizeof *copy);
    const clo_status status = clo_i_eigen_top(copy, n, q, values, vectors, scratch, err);
    free(copy), free(scratch);
    return status;
}

/* The two ways agree, and the sum of all is the trace. */
static void assert_all_eigenvalues_begin_with(const double *a, size_t n, size_t q,
                                              const double *values, double tolerance)
{
    double *copy = need(n * n, sizeof *copy), *all = need(n, sizeof *all), left = 0;
    double *scratch = need(clo_i_eigen_scratch(n, 1), sizeof *scratch);
    memcpy(copy, a, n * n * sizeof *copy);
    assert_int_equal(clo_i_eigenvalues(copy, n, all, scratch, NULL), CLO_OK);
    for (size_t j = 0; j < q; j++) assert_close(all[j], values[j], tolerance);
    for (size_t j = 0; j < n; j++) left += a[j * n + j] - all[j];
    assert_close(left, 0, tolerance * (double)n);
    free(copy), free(all), free(scratch);
}

static void assert_eigenpairs(const double *a, size_t n, size_t q, double tolerance)
{
    double *values = need(q, sizeof *values), *vectors = need(n * q, sizeof *vectors);
    assert_int_equal(eigen(a, n, q, values, vectors, NULL), CLO_OK);
    assert_all_eigenvalues_begin_with(a, n, q, values, tolerance);
    assert_orthonormal_columns(vectors, n, q);
    for (size_t j = 0; j < q; j++) {
        double largest = 0;
        for (size_t i = 0; i < n; i++) {
            double image = 0;
            for (size_t l = 0; l < n; l++) image += a[i * n + l] * vectors[l * q + j];
            assert_close(image, values[j] * vectors[i * q + j], tolerance);
            if (fabs(vectors[i * q + j]) > fabs(largest)) largest = vectors[i * q + j];
        }
        assert_true(largest > 0);
        assert_true(j == 0 || values[j] <= values[j - 1]);
    }
    free(values), free(vectors);
}

static void eigenpairs_solve_their_equation_largest_first(void **state)
{
    const size_t sizes[] = { 1, 2, 3, 10, 61 };
    (void)state;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (size_t q = 1; q <= sizes[s]; q += 1 + q / 2) {
            double *a = random_symmetric(sizes[s], 10 + s);
            assert_eigenpairs(a, sizes[s], q, 1e-13 * (double)sizes[s]);
            free(a);
        }
}

/* -5 is the largest in magnitude and must not come. */
static void the_algebraically_largest_are_chosen_not_the_largest_in_magnitude(void **state)
{
    double a[16] = { 0 }, values[2], vectors[8];
    const double diagonal[] = { -5, 3, 1, 3.5 };
    const double expected[] = { 0, 0, 0, 1, 0, 0, 1, 0 };
    (void)state;
    for (size_t i = 0; i < 4; i++) a[5 * i] = diagonal[i];
    assert_int_equal(eigen(a, 4, 2, values, vectors, NULL), CLO_OK);
    assert_close(values[0], 3.5, 1e-14);
    assert_close(values[1], 3, 1e-14);
    for (size_t i = 0; i < 8; i++) assert_close(vectors[i], expected[i], 1e-14);
}

static void repeated_zero_and_extreme_eigenvalues_still_give_orthonormal_vectors(void **state)
{
    enum { N = 40 };
    double *a = need(N * N, sizeof *a);
    (void)state;
    assert_eigenpairs(a, N, 7, 0); /* the zero matrix */
    for (size_t i = 0; i < N; i++) a[i * N + i] = 1;
    assert_eigenpairs(a, N, 7, 1e-13); /* the identity */
    for (size_t i = 0; i < N * N; i++) a[i] = 2.5;
    assert_eigenpairs(a, N, 7, 1e-12); /* one eigenvalue, and 39 zeros */
    double *b = random_symmetric(N, 20);
    const double scales[] = { 0x1p900, 0x1p-900, 0x1p-1060 };
    for (size_t s = 0; s < 3; s++) {
        for (size_t i = 0; i < N * N; i++) a[i] = b[i] * scales[s];
        assert_eigenpairs(a, N, 7, scales[s] * 1e-12 + 0x1p-1070);
    }
    free(a), free(b);
}

static void of_two_largest_entries_the_first_is_positive(void **state)
{
    const double a[] = { 1, -1, -1, 1 }; /* (1, -1)/sqrt 2 belongs to 2 */
    double values[1], vectors[2];
    (void)state;
    assert_int_equal(eigen(a, 2, 1, values, vectors, NULL), CLO_OK);
    assert_close(vectors[0] * vectors[1], -0.5, 1e-15);
    assert_true((fabs(vectors[0]) >= fabs(vectors[1]) ? vectors[0] : vectors[1]) > 0);
}

static void eigenvectors_are_the_same_bits_on_one_and_two_threads(void **state)
{
    const size_t sizes[] = { 50, 300, 700 }, q = 5;
    (void)state;
    for (size_t s = 0; s < 3; s++) {
        const size_t n = sizes[s];
        double *a = random_symmetric(n, 30 + s);
        double values[2][5], *vectors[2];
        for (int t = 0; t < 2; t++) {
            vectors[t] = need(n * q, sizeof **vectors);
            omp_set_num_threads(t + 1);
            assert_int_equal(eigen(a, n, q, values[t], vectors[t], NULL), CLO_OK);
            assert_int_equal(omp_get_max_threads(), t + 1);
        }
        assert_memory_equal(values[0], values[1], sizeof values[0]);
        assert_memory_equal(vectors[0], vectors[1], n * q * sizeof **vectors);
        free(vectors[0]), free(vectors[1]), free(a);
    }
}

static void numbers_that_are_not_finite_are_refused_and_nothing_is_written(void **state)
{
    const double bad[] = { NAN, INFINITY, -INFINITY };
    (void)state;
    for (size_t k = 0; k < 3; k++) {
        double a[4] = { 1, bad[k], bad[k], 1 }, values[1] = { 7 }, vectors[2] = { 7, 7 };
        double scratch[1024], u[2] = { 1, 0 }, sines[1] = { 7 };
        clo_error err = { 0 };
        assert_true(clo_i_eigen_scratch(2, 1) <= 1024);
        assert_int_equal(clo_i_eigen_top(a, 2, 1, values, vectors, scratch, &err), CLO_INTERNAL);
        assert_true(values[0] == 7 && vectors[0] == 7 && vectors[1] == 7);
        assert_string_equal(err.message, "eigenvectors: a number is not finite");
        assert_int_equal(clo_i_orthonormalize(a, 2, 2, &err), CLO_INTERNAL);
        assert_int_equal(clo_i_sin_angles(u, a, 2, 1, sines, &err), CLO_INTERNAL);
        assert_int_equal(clo_i_sin_angles(a, u, 2, 1, sines, NULL), CLO_INTERNAL);
        assert_true(sines[0] == 7);
    }
}

static void shapes_out_of_range_are_refused(void **state)
{
    double a[4] = { 1, 0, 0, 1 }, out[4];
    clo_error err;
    (void)state;
    assert_int_equal(clo_i_eigen_top(a, 2, 3, out, out, out, &err), CLO_INTERNAL);
    assert_int_equal(clo_i_eigen_top(a, 2, 0, out, out, out, &err), CLO_INTERNAL);
    assert_int_equal(clo_i_orthonormalize(a, 1, 2, &err), CLO_INTERNAL);
    assert_int_equal(clo_i_sin_angles(a, a, 1, 2, out, &err), CLO_INTERNAL);
    assert_int_equal(clo_i_eigen_top(a, (size_t)1 << 40, 1, out, out, out, &err), CLO_INTERNAL);
}

/* ---- orthonormal bases --------------------------------------------------- */

static void a_basis_is_orthonormal_and_spans_the_same_range(void **state)
{
    const size_t shapes[][2] = { { 1, 1 }, { 5, 5 }, { 30, 4 }, { 500, 80 } };
    (void)state;
    for (size_t s = 0; s < 4; s++) {
        const size_t n = shapes[s][0], q = shapes[s][1];
        double *a = random_matrix(n * q, 40 + s), *basis = need(n * q, sizeof *basis);
        memcpy(basis, a, n * q * sizeof *a);
        assert_int_equal(clo_i_orthonormalize(basis, n, q, NULL), CLO_OK);
        assert_orthonormal_columns(basis, n, q);
        for (size_t j = 0; j < q; j++) { /* column j of A is what its projection is */
            double *coefficients = need(q, sizeof *coefficients);
            for (size_t l = 0; l < q; l++)
                for (size_t i = 0; i < n; i++) coefficients[l] += basis[i * q + l] * a[i * q + j];
            assert_true(coefficients[j] > 0); /* R's diagonal */
            for (size_t i = 0; i < n; i++) {
                double image = 0;
                for (size_t l = 0; l < q; l++) image += basis[i * q + l] * coefficients[l];
                assert_close(image, a[i * q + j], 1e-13);
            }
            free(coefficients);
        }
        memcpy(a, basis, n * q * sizeof *a);
        assert_int_equal(clo_i_orthonormalize(a, n, q, NULL), CLO_OK);
        for (size_t i = 0; i < n * q; i++) assert_close(a[i], basis[i], 1e-14);
        free(a), free(basis);
    }
}

static void a_rank_deficient_matrix_is_completed(void **state)
{
    const size_t n = 6, q = 3;
    double zero[18] = { 0 }, twice[18];
    (void)state;
    assert_int_equal(clo_i_orthonormalize(zero, n, q, NULL), CLO_OK);
    assert_orthonormal_columns(zero, n, q);
    for (size_t i = 0; i < n * q; i++) twice[i] = (double)(i / q + 1);
    assert_int_equal(clo_i_orthonormalize(twice, n, q, NULL), CLO_OK);
    assert_orthonormal_columns(twice, n, q);
    assert_close(twice[0], 1 / sqrt(91), 1e-15);
}

/* ---- principal angles ---------------------------------------------------- */

/* Columns of the n x q matrix, orthonormal to the precision of long double. */
static void gram_schmidt(long double *a, size_t n, size_t q)
{
    for (size_t j = 0; j < q; j++)
        for (int pass = 0; pass < 3; pass++) {
            for (size_t l = 0; l < j; l++) {
                long double along = 0;
                for (size_t i = 0; i < n; i++) along += a[i * q + l] * a[i * q + j];
                for (size_t i = 0; i < n; i++) a[i * q + j] -= along * a[i * q + l];
            }
            long double square = 0;
            for (size_t i = 0; i < n; i++) square += a[i * q + j] * a[i * q + j];
            for (size_t i = 0; i < n; i++) a[i * q + j] /= sqrtl(square);
        }
}

/* Singular values by one-sided Jacobi rotations, largest first. */
static void jacobi(long double *a, size_t n, size_t q, double *values)
{
    for (int sweep = 0; sweep < 60; sweep++)
        for (size_t j = 1; j < q; j++)
            for (size_t l = 0; l < j; l++) {
                long double ll = 0, jj = 0, lj = 0;
                for (size_t i = 0; i < n; i++) {
                    ll += a[i * q + l] * a[i * q + l];
                    jj += a[i * q + j] * a[i * q + j];
                    lj += a[i * q + l] * a[i * q + j];
                }
                const long double angle = 0.5L * atan2l(2 * lj, ll - jj);
                for (size_t i = 0; i < n; i++) {
                    const long double x = a[i * q + l], y = a[i * q + j];
                    a[i * q + l] = cosl(angle) * x + sinl(angle) * y;
                    a[i * q + j] = cosl(angle) * y - sinl(angle) * x;
                }
            }
    for (size_t j = 0; j < q; j++) {
        long double square = 0;
        for (size_t i = 0; i < n; i++) square += a[i * q + j] * a[i * q + j];
        values[j] = (double)sqrtl(square);
    }
    for (size_t j = 0; j < q; j++)
        for (size_t l = 1; l < q; l++)
            if (values[l] > values[l - 1]) {
                const double swapped = values[l];
                values[l] = values[l - 1];
                values[l - 1] = swapped;
            }
}

static void sines_in_long_double(const double *u, const double *v, size_t n, size_t q,
                                 double *sines)
{
    long double *a = need(n * q, sizeof *a), *b = need(n * q, sizeof *b);
    long double *inside = need(q, sizeof *inside);
    for (size_t i = 0; i < n * q; i++) a[i] = u[i], b[i] = v[i];
    gram_schmidt(a, n, q);
    gram_schmidt(b, n, q);
    for (size_t j = 0; j < q; j++) {
        for (size_t l = 0; l < q; l++) {
            inside[l] = 0;
            for (size_t i = 0; i < n; i++) inside[l] += a[i * q + l] * b[i * q + j];
        }
        for (size_t i = 0; i < n; i++)
            for (size_t l = 0; l < q; l++) b[i * q + j] -= a[i * q + l] * inside[l];
    }
    jacobi(b, n, q, sines);
    free(a), free(b), free(inside);
}

/* Two bases at angles that go from none to a right angle, 1e-12 among them: an arc cosine would
 * be wrong by 1e-8 here. */
static void sines_agree_with_a_long_double_oracle_down_to_tiny_angles(void **state)
{
    const size_t shapes[][2] = { { 2, 1 }, { 7, 3 }, { 20, 5 }, { 60, 30 }, { 9, 7 } };
    const double tilts[] = { 0, 1e-12, 1e-9, 1e-6, 1e-3, 0.3, 1e6 };
    (void)state;
    for (size_t s = 0; s < 5; s++)
        for (size_t t = 0; t < sizeof tilts / sizeof *tilts; t++) {
            const size_t n = shapes[s][0], q = shapes[s][1];
            double *u = random_matrix(n * q, 50 + s), *v = random_matrix(n * q, 60 + s);
            double *sines = need(q, sizeof *sines), *expected = need(q, sizeof *expected);
            for (size_t i = 0; i < n * q; i++) v[i] = u[i] + tilts[t] * v[i];
            assert_int_equal(clo_i_orthonormalize(u, n, q, NULL), CLO_OK);
            assert_int_equal(clo_i_orthonormalize(v, n, q, NULL), CLO_OK);
            assert_int_equal(clo_i_sin_angles(u, v, n, q, sines, NULL), CLO_OK);
            sines_in_long_double(u, v, n, q, expected);
            for (size_t j = 0; j < q; j++) assert_close(sines[j], expected[j], 5e-15);
            free(u), free(v), free(sines), free(expected);
        }
}

/* On coordinate planes nothing is rounded, and a sine of 1e-14 keeps its digits. */
static void sines_of_known_planes_are_what_they_are(void **state)
{
    const double angles[] = { 1.2, 0.5, 1e-5, 1e-14 };
    double u[32] = { 0 }, v[32] = { 0 }, sines[4];
    (void)state;
    for (size_t j = 0; j < 4; j++) {
        u[j * 4 + j] = 1;
        v[j * 4 + j] = cos(angles[j]);
        v[(4 + j) * 4 + j] = sin(angles[j]);
    }
    assert_int_equal(clo_i_sin_angles(u, v, 8, 4, sines, NULL), CLO_OK);
    for (size_t j = 0; j < 4; j++) assert_close(sines[j] / sin(angles[j]), 1, j < 3 ? 1e-14 : 0.1);
    assert_int_equal(clo_i_sin_angles(u, u, 8, 4, sines, NULL), CLO_OK);
    for (size_t j = 0; j < 4; j++) assert_true(sines[j] == 0);
}

/* Left vectors are orthonormal, and their inner products with the columns have the values as their
 * lengths: that is what makes them singular. */
static void check_thin_svd(size_t rows, size_t cols)
{
    const size_t rank = rows < cols ? rows : cols;
    double *const a = random_matrix(rows * cols, 7 + rows), *const left = need(rows * rank, 8);
    double *const copy = need(rows * cols, 8), *const values = need(rank, 8);
    clo_error err;
    memcpy(copy, a, rows * cols * sizeof *a);
    assert_ok(clo_i_thin_svd(copy, rows, cols, values, left, &err), err);
    for (size_t p = 0; p < rank; p++)
        for (size_t q = 0; q <= p; q++) {
            double product = 0, along = 0;
            for (size_t i = 0; i < rows; i++) product += left[i * rank + p] * left[i * rank + q];
            for (size_t c = 0; c < cols; c++) {
                double x = 0, y = 0;
                for (size_t i = 0; i < rows; i++) x += left[i * rank + p] * a[i * cols + c];
                for (size_t i = 0; i < rows; i++) y += left[i * rank + q] * a[i * cols + c];
                along += x * y;
            }
            assert_close(product, p == q, 1e-13);
            assert_close(along, p == q ? values[p] * values[p] : 0, 1e-12);
            assert_true(values[q] >= values[p]);
        }
    free(a);
    free(copy);
    free(left);
    free(values);
}

static void a_thin_svd_is_one_of_tall_and_of_wide_matrices(void **state)
{
    double a[2] = { 1, NAN }, values[2], left[2];
    clo_error err;
    (void)state;
    check_thin_svd(40, 6);
    check_thin_svd(6, 40);
    check_thin_svd(7, 7);
    check_thin_svd(3, 1);
    assert_fails(clo_i_thin_svd(a, 2, 1, values, left, &err), CLO_INTERNAL, err, "not finite");
    assert_fails(clo_i_thin_svd(a, 20000, 20000, values, left, &err), CLO_ARGUMENT, err, "16384");
}

/* ---- small integers ------------------------------------------------------ */

static int16_t *short_block(const int16_t *rows, size_t count, size_t cols)
{
    int16_t *const block = aligned_alloc(64, clo_i_short_width(cols) * CLO_SHORT_ROWS * 2);
    int16_t *const none = need(cols, sizeof *none);
    assert_non_null(block);
    memset(block, 0, clo_i_short_width(cols) * CLO_SHORT_ROWS * 2);
    for (size_t i = 0; i < count; i += 2)
        clo_i_short_pair(rows + i * cols, i + 1 < count ? rows + (i + 1) * cols : none, i / 2, cols,
                         block);
    free(none);
    return block;
}

/* What is there already stays; the odd row out has an empty one beside it.  Largest: all entries
 * are of the largest magnitude, so that sums reach 2^24 and more bits than that are never asked of
 * single precision (local_gram.T3). */
static void check_short_gram(size_t count, size_t cols, bool largest, clo_short_kernel kernel,
                             int threads)
{
    const size_t width = clo_i_short_width(cols);
    uint64_t seed = count * 1000 + cols;
    int16_t *const rows = need(count * cols, sizeof *rows);
    int32_t *const gram = aligned_alloc(64, width * width * sizeof *gram);
    assert_non_null(gram);
    for (size_t e = 0; e < count * cols; e++) rows[e] = (int16_t)((int)(next(&seed) % 513) - 256);
    for (size_t e = 0; largest && e < count * cols; e++) rows[e] = e % 3 ? 256 : -256;
    for (size_t i = 0; largest && i < count; i++) rows[i * cols] = 255; /* odd sums */
    for (size_t e = 0; e < width * width; e++) gram[e] = 7;
    int16_t *const block = short_block(rows, count, cols);
    clo_i_gram_short_add(block, (count + 1) / 2, cols, threads, kernel, gram);
    for (size_t i = 0; i < cols; i++)
        for (size_t j = i; j < cols; j++) {
            int64_t sum = 7;
            for (size_t r = 0; r < count; r++) sum += rows[r * cols + i] * rows[r * cols + j];
            assert_int_equal(gram[i * width + j], sum);
        }
    free(block);
    free(gram);
    free(rows);
}

static void every_kernel_gives_the_gram_matrix_of_small_integers(void **state)
{
    (void)state;
    for (clo_short_kernel kernel = CLO_SHORT_PLAIN; kernel <= clo_i_short_best(); kernel++)
        for (int threads = 1; threads <= 2; threads++) {
            check_short_gram(CLO_SHORT_ROWS, 100, false, kernel, threads);
            check_short_gram(CLO_SHORT_ROWS, 50, true, kernel, threads);
            check_short_gram(CLO_SHORT_ROWS - 1, 33, true, kernel, threads);
            check_short_gram(7, 33, false, kernel, threads);
            check_short_gram(33, 48, false, kernel, threads);
            check_short_gram(2, 16, false, kernel, threads);
            check_short_gram(1, 1, false, kernel, threads);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gram_matrix_of_integers_is_exact_in_any_order),
        cmocka_unit_test(a_gram_matrix_is_added_to_what_is_there_above_the_diagonal_only),
        cmocka_unit_test(more_rows_than_one_block_are_all_counted),
        cmocka_unit_test(a_product_of_integers_is_exact_in_any_order),
        cmocka_unit_test(a_product_with_few_rows_is_exact),
        cmocka_unit_test(a_symmetric_product_is_that_with_its_transpose),
        cmocka_unit_test(eigenpairs_solve_their_equation_largest_first),
        cmocka_unit_test(the_algebraically_largest_are_chosen_not_the_largest_in_magnitude),
        cmocka_unit_test(repeated_zero_and_extreme_eigenvalues_still_give_orthonormal_vectors),
        cmocka_unit_test(of_two_largest_entries_the_first_is_positive),
        cmocka_unit_test(eigenvectors_are_the_same_bits_on_one_and_two_threads),
        cmocka_unit_test(numbers_that_are_not_finite_are_refused_and_nothing_is_written),
        cmocka_unit_test(shapes_out_of_range_are_refused),
        cmocka_unit_test(a_basis_is_orthonormal_and_spans_the_same_range),
        cmocka_unit_test(a_rank_deficient_matrix_is_completed),
        cmocka_unit_test(sines_agree_with_a_long_double_oracle_down_to_tiny_angles),
        cmocka_unit_test(sines_of_known_planes_are_what_they_are),
        cmocka_unit_test(a_thin_svd_is_one_of_tall_and_of_wide_matrices),
        cmocka_unit_test(every_kernel_gives_the_gram_matrix_of_small_integers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
