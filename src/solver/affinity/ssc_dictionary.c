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
}

/* The points, of length 1 unless that would bend affine subspaces, and below them the unit vectors
 * divided by the weight of the sparse error: outliers / (the largest 1-norm of a point). */
static clo_status gather_atoms(const clo_job *job, clo_ssc_dictionary *p, clo_error *err)
{
    const size_t n = job->count, d = job->cols;
    size_t cells = 0;
    p->points = n, p->cols = d;
    p->atoms = n + (p->options->outliers > 0 ? d : 0);
    if (!clo_i_multiply(p->atoms, d, &cells))
        return clo_i_fail(err, CLO_MEMORY, "so many rows and columns do not fit in memory");
    if (!p->options->affine) {
        CLO_TRY(clo_i_unit_rows(job, &p->rows, err));
        if (p->atoms > n) CLO_TRY(clo_i_resize(&p->rows, n * d, cells, sizeof *p->rows, err));
    } else {
        double largest = 0;
        CLO_TRY(clo_i_alloc(cells, sizeof *p->rows, &p->rows, err));
        for (size_t i = 0; i < n * d; i++) largest = fmax(largest, fabs(job->rows[i]));
        for (size_t i = 0; i < n * d; i++) p->rows[i] = largest > 0 ? job->rows[i] / largest : 0;
    }
    double weight = 0;
    for (size_t i = 0; i < n; i++) weight = fmax(weight, cblas_dasum((int)d, p->rows + i * d, 1));
    for (size_t c = 0; p->atoms > n && c < d; c++)
        p->rows[(n + c) * d + c] = weight / p->options->outliers;
    return CLO_OK;
}

/* The smallest over the points of the largest |p_j'x_i|, j != i: below its inverse, lambda gives
 * some point the code 0.  Points that nothing is correlated with do not count. */
static clo_status least_correlation(const clo_ssc_dictionary *p, double *out, clo_error *err)
{
    const size_t block = clo_i_points_at_once(p->atoms);
    double *products = NULL, least = INFINITY;
    CLO_TRY(clo_i_alloc(block * p->atoms, sizeof *products, &products, err));
    for (size_t first = 0; first < p->points; first += block) {
        const size_t rows = p->points - first < block ? p->points - first : block;
        clo_i_multiply_transposed(p->rows + first * p->cols, rows, p->rows, p->atoms, p->cols,
                                  products);
        for (size_t i = 0; i < rows; i++) {
            double *const row = products + i * p->atoms, largest = 0;
            row[first + i] = 0;
            for (size_t j = 0; j < p->atoms; j++)
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
            clo_i_gram_add(p->rows, p->atoms, n, gram);
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
    CLO_TRY(clo_i_alloc(p->atoms * p->width, sizeof *p->v, &p->v, err));
    if (n == p->cols && p->rank > 0)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)p->atoms, (int)p->rank, (int)n,
                    1.0, p->rows, (int)n, vectors, (int)n, 0.0, p->v, (int)p->width);
    for (size_t j = 0; j < p->atoms; j++) {
        double *const row = p->v + j * p->width;
        for (size_t r = 0; r < p->rank; r++)
            row[r] = n == p->cols ? row[r] / sqrt(s[r]) : vectors[j * n + r];
        if (p->options->affine) row[p->rank] = j < p->points;
        for (size_t r = 0; j < p->points && r < p->rank; r++) p->ones[r] += row[r];
    }
    return CLO_OK;
}

static clo_status build(const clo_job *job, clo_ssc_dictionary *p, clo_error *err)
{
    double *vectors = NULL, least = 0;
    CLO_TRY(gather_atoms(job, p, err));
    CLO_TRY(least_correlation(p, &least, err));
    const size_t n = p->cols <= p->atoms ? p->cols : p->atoms;
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
    return status;
}

clo_status clo_i_ssc_dictionary_new(const clo_job *job, const clo_ssc_options *options,
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
