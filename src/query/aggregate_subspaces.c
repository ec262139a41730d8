/*
 * aggregate_subspaces.c - sets of k subspaces as sample and aggregate sees them (aggregate.T4): a
 * list of bases, at the distance of two lists after the best turn of each basis and the best order.
 * Isotropic noise has the same law after every turn and in every order, and only what does not
 * depend on either is published.
 */
#include "query/aggregate_space.h"
#include "linalg/linalg.h"
#include "measure/measure.h"
#include <math.h>
#include <string.h>

/* A subspace of more than half the dimension is known by its complement, which has fewer
 * coordinates to noise. */
static size_t coordinates_dim(size_t cols, size_t dim)
{
    return dim < cols - dim ? dim : cols - dim;
}

/* The basis of the orthogonal complement, cols x (cols - dim), out of a full orthonormal frame. */
static clo_status complement(const double *basis, size_t cols, size_t dim, double *out,
                             clo_error *err)
{
    double *frame = NULL;
    CLO_TRY(clo_i_alloc(cols * cols, sizeof *frame, &frame, err));
    for (size_t i = 0; i < cols; i++)
        memcpy(frame + i * cols, basis + i * dim, dim * sizeof *frame);
    const clo_status status = clo_i_orthonormalize(frame, cols, cols, err);
    for (size_t i = 0; i < cols && !status; i++)
        memcpy(out + i * (cols - dim), frame + i * cols + dim, (cols - dim) * sizeof *out);
    clo_i_free(frame);
    return status;
}

/* The same for every block that has no other. */
static void fix(const clo_space *s, double *bases)
{
    memset(bases, 0, s->given * sizeof *bases);
    for (size_t c = 0; c < s->clusters; c++)
        for (size_t e = 0; e < s->dim; e++)
            bases[(c * s->cols + (c + e) % s->cols) * s->dim + e] = 1;
}

/* Columns are first brought to a size whose squares cannot overflow. */
static clo_status make_orthonormal(const clo_space *s, double *bases)
{
    for (size_t c = 0; c < s->clusters; c++) {
        double *const basis = bases + c * s->cols * s->dim;
        for (size_t e = 0; e < s->dim; e++) {
            double largest = 0;
            for (size_t j = 0; j < s->cols; j++)
                largest = fmax(largest, fabs(basis[j * s->dim + e]));
            for (size_t j = 0; j < s->cols && largest > 0; j++) basis[j * s->dim + e] /= largest;
        }
        CLO_TRY(clo_i_orthonormalize(basis, s->cols, s->dim, NULL));
    }
    return clo_i_all_finite(bases, s->given) ? CLO_OK : CLO_FORMAT;
}

static clo_status settle(const clo_space *s, double *bases, double *coordinates)
{
    const size_t d = s->cols, w = s->small;
    CLO_TRY(make_orthonormal(s, bases));
    for (size_t c = 0; c < s->clusters; c++) {
        const double *const basis = bases + c * d * s->dim;
        double *const to = coordinates + c * d * w;
        if (w == s->dim)
            memcpy(to, basis, d * s->dim * sizeof *to);
        else
            CLO_TRY(complement(basis, d, s->dim, to, NULL));
    }
    return CLO_OK;
}

static clo_status distance(const clo_space *s, const double *a, const double *b, size_t *partner,
                           double *scratch, double *out)
{
    return clo_i_procrustes_distance(a, b, s->clusters, s->cols, s->small, partner, scratch, out,
                                     NULL);
}

/* ---- what is published ---------------------------------------------------------------------- */

/* A basis that is a function of the range alone: eigenvectors of P C P with a fixed diagonal C,
 * where P projects on the range (or off it, where the coordinates are those of the complement). */
static clo_status canonical_basis(double *coordinates, const clo_space *s, double *square,
                                  double *values, double *scratch, double *basis, clo_error *err)
{
    const size_t d = s->cols, w = s->small;
    const double sign = w == s->dim ? 1 : -1;
    double *const projector = square + d * d;
    CLO_TRY(clo_i_orthonormalize(coordinates, d, w, err));
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < d; j++) {
            double dot = 0;
            for (size_t e = 0; e < w; e++) dot += coordinates[i * w + e] * coordinates[j * w + e];
            projector[i * d + j] = (sign < 0 && i == j) + sign * dot;
        }
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < d; j++) {
            double entry = 0;
            for (size_t e = 0; e < d; e++)
                entry += projector[i * d + e] * (2 + (double)e / (double)d) * projector[e * d + j];
            square[i * d + j] = entry;
        }
    return clo_i_eigen_top(square, d, s->dim, values, basis, scratch, err);
}

/* The order of the set: by the largest eigenvalue above, which depends on the range alone. */
static void put_in_order(const clo_space *s, const double *keys, const double *found, double *bases)
{
    const size_t cells = s->cols * s->dim;
    for (size_t c = 0; c < s->clusters; c++) {
        size_t place = 0;
        for (size_t other = 0; other < s->clusters; other++)
            place += keys[other] > keys[c] || (keys[other] == keys[c] && other < c);
        memcpy(bases + place * cells, found + c * cells, cells * sizeof *bases);
    }
}

static clo_status publish(const clo_space *s, double *noisy, double *bases, clo_error *err)
{
    const size_t d = s->cols, cells = d * s->dim;
    double *square = NULL, *values = NULL, *scratch = NULL, *found = NULL, *keys = NULL;
    clo_status status = clo_i_alloc(2 * d * d, sizeof *square, &square, err);
    if (!status) status = clo_i_alloc(s->dim, sizeof *values, &values, err);
    if (!status)
        status = clo_i_alloc(clo_i_eigen_scratch(d, s->dim), sizeof *scratch, &scratch, err);
    if (!status) status = clo_i_alloc(s->clusters * cells, sizeof *found, &found, err);
    if (!status) status = clo_i_alloc(s->clusters, sizeof *keys, &keys, err);
    for (size_t c = 0; c < s->clusters && !status; c++) {
        status = canonical_basis(noisy + c * d * s->small, s, square, values, scratch,
                                 found + c * cells, err);
        keys[c] = values[0];
    }
    if (!status) put_in_order(s, keys, found, bases);
    clo_i_free(keys);
    clo_i_free(found);
    clo_i_free(scratch);
    clo_i_free(values);
    clo_i_free(square);
    return status;
}

void clo_i_subspace_space(size_t clusters, size_t cols, size_t dim, clo_space *out)
{
    const size_t small = coordinates_dim(cols, dim);
    *out = (clo_space){ .clusters = clusters,
                        .cols = cols,
                        .dim = dim,
                        .small = small,
                        .given = clusters * cols * dim,
                        .length = clusters * cols * small,
                        .room = clo_i_procrustes_scratch(clusters, small),
                        .diameter = sqrt(2 * (double)(clusters * small)),
                        .fix = fix,
                        .settle = settle,
                        .distance = distance,
                        .publish = publish };
}
