/*
 * subspaces.c - how far subspaces are apart, one from one and set from set.
 *
 * wang2015's eq. 1 equates ||sin Theta||_F with ||UU' - VV'||_F, which is sqrt 2 times as much; the
 * former is meant (its Lemma C.1 needs it), and half of the latter's square is what extends it to
 * unequal dimensions.
 *
 * Which subspace belongs to which comes out of one product of all bases: ||sin Theta||_F^2 is
 * q - ||U'V||_F^2.  That cancels for small angles, where it matters least, for nobody else is as
 * near; the distance of those that were matched is then measured by their sines.
 */
#include "measure/measure.h"
#include "linalg/linalg.h"
#include <math.h>

/* The columns of an orthonormal basis that are not padding. */
static size_t own_dim(const double *basis, size_t cols, size_t dim)
{
    size_t own = 0;
    for (size_t l = 0; l < dim; l++) {
        double square = 0;
        for (size_t c = 0; c < cols; c++) square += basis[c * dim + l] * basis[c * dim + l];
        own += square > 0.5;
    }
    return own;
}

/* The sines are those of what of the smaller subspace lies outside the larger: a column of padding
 * adds none.  angle: the largest there is, NULL where no one asks. */
static clo_status squared_distance(const double *a, const double *b, size_t cols, size_t dim,
                                   double *square, double *angle, clo_error *err)
{
    const size_t p = own_dim(a, cols, dim), q = own_dim(b, cols, dim);
    const double *larger = p < q ? b : a, *smaller = p < q ? a : b;
    double *sines = NULL, sum = 0;
    CLO_TRY(clo_i_alloc(dim, sizeof *sines, &sines, err));
    const clo_status status = clo_i_sin_angles(larger, smaller, cols, dim, sines, err);
    if (status == CLO_OK) {
        for (size_t j = dim; j-- > 0;) sum += sines[j] * sines[j]; /* smallest first */
        *square = sum + (double)(p < q ? q - p : p - q) / 2;
        if (angle) *angle = asin(sines[0]);
    }
    clo_i_free(sines);
    return status;
}

/* ---- sets ---------------------------------------------------------------- */

/* Every basis of b with its columns as rows, for the product; and every basis' own dimension. */
typedef struct products {
    size_t k, cols, dim;
    double *rows;   /* k dim x cols: b's */
    double *one;    /* dim x cols: one of a's */
    double *inside; /* dim x k dim: U'V for one U and all V */
} products;

static void transpose(const double *basis, size_t cols, size_t dim, double *out)
{
    for (size_t c = 0; c < cols; c++)
        for (size_t l = 0; l < dim; l++) out[l * cols + c] = basis[c * dim + l];
}

/* (p + q) / 2 - ||U'V||_F^2 for each pair. */
static void fill_costs(const products *w, const double *a, const double *b, double *cost)
{
    const size_t k = w->k, dim = w->dim, size = w->cols * dim;
    for (size_t j = 0; j < k; j++) transpose(b + j * size, w->cols, dim, w->rows + j * size);
    const int before = clo_i_blas_serial_begin();
    for (size_t i = 0; i < k; i++) {
        transpose(a + i * size, w->cols, dim, w->one);
        clo_i_multiply_transposed(w->one, dim, w->rows, k * dim, w->cols, w->inside);
        const size_t own = own_dim(a + i * size, w->cols, dim);
        for (size_t j = 0; j < k; j++) {
            double inside = 0;
            for (size_t l = 0; l < dim; l++)
                for (size_t m = 0; m < dim; m++) {
                    const double entry = w->inside[l * k * dim + j * dim + m];
                    inside += entry * entry;
                }
            cost[i * k + j] = (double)(own + own_dim(b + j * size, w->cols, dim)) / 2 - inside;
        }
    }
    clo_i_blas_serial_end(before);
}

static clo_status match_subspaces(const double *a, const double *b, size_t k, size_t cols,
                                  size_t dim, size_t *partner, clo_error *err)
{
    products w = { .k = k, .cols = cols, .dim = dim };
    double *cost = NULL;
    size_t pairs, numbers, inside;
    if (!clo_i_multiply(k, k, &pairs) || !clo_i_multiply(k * dim, cols, &numbers) ||
        !clo_i_multiply(k * dim, dim, &inside))
        return clo_i_fail(err, CLO_MEMORY, "a size is too large for this machine");
    clo_status status = clo_i_alloc(pairs, sizeof *cost, &cost, err);
    if (status == CLO_OK)
        status = clo_i_alloc(numbers + dim * cols + inside, sizeof *w.rows, &w.rows, err);
    if (status == CLO_OK) {
        w.one = w.rows + numbers;
        w.inside = w.one + dim * cols;
        fill_costs(&w, a, b, cost);
        status = clo_i_match(cost, k, partner, err);
    }
    clo_i_free(cost);
    clo_i_free(w.rows);
    return status;
}

clo_status clo_i_subspaces_compare(const double *a, const double *b, size_t k, size_t cols,
                                   size_t dim, double *distance, double *largest_angle,
                                   clo_error *err)
{
    const size_t size = cols * dim;
    size_t *partner = NULL;
    double sum = 0, largest = 0;
    CLO_TRY(clo_i_alloc(k, sizeof *partner, &partner, err));
    clo_status status = match_subspaces(a, b, k, cols, dim, partner, err);
    for (size_t i = 0; i < k && status == CLO_OK; i++) {
        double square = 0, angle = 0;
        status =
            squared_distance(a + i * size, b + partner[i] * size, cols, dim, &square, &angle, err);
        sum += square;
        largest = fmax(largest, angle);
    }
    if (status == CLO_OK) {
        *distance = sqrt(sum);
        *largest_angle = largest;
    }
    clo_i_free(partner);
    return status;
}

clo_status clo_i_subspaces_distance(const double *a, const double *b, size_t k, size_t cols,
                                    size_t dim, double *distance, clo_error *err)
{
    double ignored;
    return clo_i_subspaces_compare(a, b, k, cols, dim, distance, &ignored, err);
}
