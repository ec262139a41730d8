/*
 * subspaces_release.c - a fit of k subspaces, in the data's own coordinates, becomes a release.
 *
 * With column bounds the fit was made where all columns weigh alike.  Back in the data's units the
 * columns stretch each subspace, and its energies with it: U diag(e) U' becomes D U diag(e) U' D,
 * whose eigenvectors are the released basis.
 */
#include "mechanism/subspaces/subspaces_common.h"
#include "domain/domain.h"
#include "linalg/linalg.h"
#include "release/public_fit.h"
#include <math.h>
#include <string.h>

/* A share of the largest energy below which a direction only counts as being in the subspace. */
static const double LEAST_ENERGY = 1e-12;

typedef struct stretch {
    double *scale;  /* d: what a unit of the ball is in each column */
    double *center; /* d */
    double *factor; /* d x q: D U diag(sqrt e) */
    double *square; /* q x q: its Gram matrix */
    double *turn;   /* q x q: the eigenvectors of that */
    double *scratch;
} stretch;

static clo_status take_stretch(clo_workspace *workspace, size_t d, size_t q, stretch *out,
                               clo_error *err)
{
    CLO_TRY(clo_i_take(workspace, d, sizeof(double), &out->scale, err));
    CLO_TRY(clo_i_take(workspace, d, sizeof(double), &out->center, err));
    CLO_TRY(clo_i_take(workspace, d * q, sizeof(double), &out->factor, err));
    CLO_TRY(clo_i_take(workspace, q * q, sizeof(double), &out->square, err));
    CLO_TRY(clo_i_take(workspace, q * q, sizeof(double), &out->turn, err));
    return clo_i_take(workspace, clo_i_eigen_scratch(q, q), sizeof(double), &out->scratch, err);
}

clo_status clo_i_subspaces_release_room(clo_workspace *space, size_t cols, size_t dim,
                                        clo_error *err)
{
    stretch unused;
    return take_stretch(space, cols, dim, &unused, err);
}

static void fill_factor(const stretch *s, size_t d, size_t q, const double *basis,
                        const double *energies)
{
    double largest = 0;
    for (size_t i = 0; i < q; i++) largest = fmax(largest, energies[i]);
    const double least = largest > 0 ? largest * LEAST_ENERGY : 1;
    for (size_t j = 0; j < d; j++)
        for (size_t i = 0; i < q; i++)
            s->factor[j * q + i] = s->scale[j] * basis[j * q + i] * sqrt(fmax(energies[i], least));
    for (size_t a = 0; a < q; a++)
        for (size_t b = 0; b < q; b++) {
            double dot = 0;
            for (size_t j = 0; j < d; j++) dot += s->factor[j * q + a] * s->factor[j * q + b];
            s->square[a * q + b] = dot;
        }
}

static clo_status stretch_basis(const stretch *s, size_t d, size_t q, double *basis,
                                double *energies, clo_error *err)
{
    fill_factor(s, d, q, basis, energies);
    CLO_TRY(clo_i_eigen_top(s->square, q, q, energies, s->turn, s->scratch, err));
    for (size_t j = 0; j < d; j++)
        for (size_t i = 0; i < q; i++) {
            double entry = 0;
            for (size_t e = 0; e < q; e++) entry += s->factor[j * q + e] * s->turn[e * q + i];
            basis[j * q + i] = entry / sqrt(fmax(energies[i], 1e-300));
        }
    return clo_i_orthonormalize(basis, d, q, err);
}

static void scale_all(double *values, size_t count, double factor, double noise)
{
    for (size_t i = 0; i < count; i++)
        values[i] = clo_i_cut_digits(fmax(values[i], 0) * factor, noise * factor, 0);
}

clo_status clo_i_subspaces_release(clo_context *context, const clo_domain *domain, double noise,
                                   clo_flat_fit *fit, clo_release *out, clo_error *err)
{
    const size_t k = fit->clusters, d = fit->cols, q = fit->dim;
    const double radius = clo_i_domain_radius(domain), square = radius * radius;
    stretch s;
    CLO_TRY(take_stretch(context->workspace, d, q, &s, err));
    clo_i_domain_map(domain, s.scale, s.center);
    for (size_t c = 0; c < k && domain->lower; c++)
        CLO_TRY(stretch_basis(&s, d, q, fit->bases + c * d * q, fit->energies + c * q, err));
    if (fit->affine) clo_i_fit_sizes(domain, k, fit->weights);
    for (size_t c = 0; c < k; c++) {
        double *const point = fit->points + c * d;
        clo_i_domain_unmap_point(domain, point);
        if (fit->affine) clo_i_cut_point(domain, noise / fmax(fit->weights[c], 1), point);
    }
    scale_all(fit->energies, k * q, square, noise);
    scale_all(fit->residuals, k, square, noise);
    scale_all(fit->weights, k, fit->affine ? 1 : square, noise); /* of linear flats energies */
    CLO_TRY(clo_i_release_put(out, "bases", fit->bases, 3, (size_t[]){ k, d, q }, err));
    if (fit->affine || domain->lower || domain->center)
        CLO_TRY(clo_i_release_put(out, "offsets", fit->points, 2, (size_t[]){ k, d }, err));
    if (fit->shapes_only) return CLO_OK;
    CLO_TRY(clo_i_release_put(out, "sizes", fit->weights, 1, (size_t[]){ k }, err));
    CLO_TRY(clo_i_release_put(out, "energies", fit->energies, 2, (size_t[]){ k, q }, err));
    return clo_i_release_put(out, "residuals", fit->residuals, 1, (size_t[]){ k }, err);
}
