/* ssc_dictionary.c - the atoms of sparse subspace clustering, and their eigenvectors. */
#include "solver/affinity/ssc_dictionary.h"
#include "linalg/linalg.h"
#include <cblas.h>
#include <float.h>
#include <math.h>

void clo_i_ssc_dictionary_free(clo_ssc_dictionary *p)
{
    clo_i_free(p->rows);
    clo_i_free(p->v);
    clo_i_free(p->strengths);
    clo_i_free(p->roots);
    clo_i_free(p->ones);
    clo_i_free(p->gram);
}

/* The points, of length 1 unless that would bend affine subspaces. */
static clo_status gather_points(const clo_solver_input *job, clo_ssc_dictionary *p, clo_error *err)
{
    p->points = job->count, p->cols = job->cols;
    if (!p->options->affine) return clo_i_unit_rows(job, &p->rows, err);
    return clo_i_even_rows(job, &p->rows, err);
}

clo_status clo_i_least_correlation(const double *rows, size_t points, size_t cols, double *out,
                                   clo_error *err)
{
    const size_t block = clo_i_points_at_once(points);
    double *products = NULL, least = INFINITY;
    CLO_TRY(clo_i_alloc(block * points, sizeof *products, &products, err));
    for (size_t first = 0; first < points; first += block) {
        const size_t here = points - first < block ? points - first : block;
        clo_i_multiply_transposed(rows + first * cols, here, rows, points, cols, products);
        for (size_t i = 0; i < here; i++) {
            double *const row = products + i * points, largest = 0;
            row[first + i] = 0;
            for (size_t j = 0; j < points; j++)
                largest = fabs(row[j]) > largest ? fabs(row[j]) : largest;
            if (largest > 0 && largest < least) least = largest;
        }
    }
    clo_i_free(products);
    *out = least;
    return CLO_OK;
}

/* Eigenvectors of the smaller of P'P and PP', n x n with n vectors. */
static clo_status decompose(const clo_ssc_dictionary *p, size_t n, double *values, double *vectors,
                            clo_error *err)
{
    double *gram = NULL, *scratch = NULL;
    clo_status status = clo_i_alloc(n * n, sizeof *gram, &gram, err);
    if (!status) status = clo_i_alloc(clo_i_eigen_scratch(n, n), sizeof *scratch, &scratch, err);
    if (!status) {
        if (n == p->cols)
            clo_i_gram_add(p->rows, p->points, n, gram);
        else
            clo_i_multiply_transposed(p->rows, n, p->rows, n, p->cols, gram);
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < i; j++) gram[i * n + j] = gram[j * n + i];
        status = clo_i_eigen_top(gram, n, n, values, vectors, scratch, err);
    }
    clo_i_free(gram);
    clo_i_free(scratch);
    return status;
}

/* v, from the eigenvectors of either side; a direction that is only rounding has no column. */
static clo_status fill_v(clo_ssc_dictionary *p, size_t n, const double *vectors, clo_error *err)
{
    const double *const s = p->strengths;
    while (p->rank < n && s[p->rank] > (double)n * DBL_EPSILON * s[0] * 16) p->rank++;
    p->width = p->rank + p->options->affine;
    if (p->width == 0) return CLO_OK;
    CLO_TRY(clo_i_alloc(p->points * p->width, sizeof *p->v, &p->v, err));
    if (n == p->cols && p->rank > 0)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)p->points, (int)p->rank, (int)n,
                    1.0, p->rows, (int)n, vectors, (int)n, 0.0, p->v, (int)p->width);
    for (size_t j = 0; j < p->points; j++) {
        double *const row = p->v + j * p->width;
        for (size_t r = 0; r < p->rank; r++)
            row[r] = n == p->cols ? row[r] / sqrt(s[r]) : vectors[j * n + r];
        if (p->options->affine) row[p->rank] = 1;
        for (size_t r = 0; r < p->rank; r++) p->ones[r] += row[r];
    }
    return CLO_OK;
}

/* lambda P'P, where it is not much larger than v: Newton then reads what it would compute. */
static clo_status keep_products(clo_ssc_dictionary *p, double lambda, clo_error *err)
{
    const size_t n = p->points;
    if (n > 2 * p->rank) return CLO_OK;
    CLO_TRY(clo_i_alloc(n * n, sizeof *p->gram, &p->gram, err));
    clo_i_multiply_transposed(p->rows, n, p->rows, n, p->cols, p->gram);
    for (size_t i = 0; i < n * n; i++) p->gram[i] *= lambda;
    return CLO_OK;
}

static clo_status build(const clo_solver_input *job, clo_ssc_dictionary *p, clo_error *err)
{
    double *vectors = NULL, least = 0;
    CLO_TRY(gather_points(job, p, err));
    CLO_TRY(clo_i_least_correlation(p->rows, p->points, p->cols, &least, err));
    const size_t n = p->cols <= p->points ? p->cols : p->points;
    CLO_TRY(clo_i_alloc(n, sizeof *p->strengths, &p->strengths, err));
    CLO_TRY(clo_i_alloc(n, sizeof *p->roots, &p->roots, err));
    CLO_TRY(clo_i_alloc(n, sizeof *p->ones, &p->ones, err));
    if (n == 0 || !isfinite(least)) return CLO_OK; /* no point helps another: all codes are 0 */
    CLO_TRY(clo_i_alloc(n * n, sizeof *vectors, &vectors, err));
    clo_status status = decompose(p, n, p->strengths, vectors, err);
    if (!status) status = fill_v(p, n, vectors, err);
    const double lambda = p->options->alpha / least;
    for (size_t r = 0; r < p->rank; r++) {
        p->strengths[r] *= lambda;
        p->roots[r] = sqrt(p->strengths[r]);
    }
    clo_i_free(vectors);
    return status ? status : keep_products(p, lambda, err);
}

clo_status clo_i_ssc_dictionary_new(const clo_solver_input *job, const clo_ssc_options *options,
                                    clo_ssc_dictionary *out, clo_error *err)
{
    clo_ssc_dictionary p = { .options = options };
    const int before = clo_i_blas_serial_begin();
    const clo_status status = build(job, &p, err);
    clo_i_blas_serial_end(before);
    if (status)
        clo_i_ssc_dictionary_free(&p);
    else
        *out = p;
    return status;
}
