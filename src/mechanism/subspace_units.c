/* subspace_units.c - one subspace, from the unit ball to the data's own units. */
#include "mechanism/subspace_units.h"
#include "domain/domain.h"
#include "linalg/linalg.h"
#include <math.h>

clo_status clo_i_subspace_release(clo_context *context, const clo_domain *domain, size_t dim,
                                  double *basis, double *point, clo_release *out, clo_error *err)
{
    const size_t d = domain->cols;
    double *scale = NULL, *center = NULL;
    CLO_TRY(clo_i_take(context->workspace, d, sizeof *scale, &scale, err));
    CLO_TRY(clo_i_take(context->workspace, d, sizeof *center, &center, err));
    clo_i_domain_map(domain, scale, center);
    if (domain->lower) {
        for (size_t j = 0; j < d; j++)
            for (size_t i = 0; i < dim; i++) basis[j * dim + i] *= scale[j];
        CLO_TRY(clo_i_orthonormalize(basis, d, dim, err));
    }
    CLO_TRY(clo_i_release_put(out, "basis", basis, 2, (size_t[]){ d, dim }, err));
    if (point) {
        clo_i_domain_unmap_point(domain, point);
        center = point;
    }
    if (point || domain->lower || domain->center)
        CLO_TRY(clo_i_release_put(out, "center", center, 1, (size_t[]){ d }, err));
    return CLO_OK;
}

size_t clo_i_subspace_release_size(size_t cols)
{
    return 2 * clo_i_take_size(cols, sizeof(double));
}

/* Of a random subspace E ||sin Theta||_F^2 = q (d - q) / d. */
double clo_i_subspace_error(size_t cols, size_t dim, double tilt)
{
    const double q = (double)dim, d = (double)cols;
    return sqrt(q * (d - q) / (1 / (tilt * tilt) + d));
}
