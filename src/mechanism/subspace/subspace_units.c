/* subspace_units.c - one subspace, from the unit ball to the data's own units. */
#include "mechanism/subspace/subspace_units.h"
#include "domain/domain.h"
#include "linalg/linalg.h"
#include <math.h>

static clo_status take_map(clo_workspace *space, size_t d, double **scale, double **center,
                           clo_error *err)
{
    CLO_TRY(clo_i_take(space, d, sizeof **scale, scale, err));
    return clo_i_take(space, d, sizeof **center, center, err);
}

clo_status clo_i_subspace_release_room(clo_workspace *space, size_t cols, clo_error *err)
{
    double *scale, *center;
    return take_map(space, cols, &scale, &center, err);
}

clo_status clo_i_subspace_release(clo_context *context, const clo_domain *domain, size_t dim,
                                  double *basis, clo_release *out, clo_error *err)
{
    const size_t d = domain->cols;
    double *scale = NULL, *center = NULL;
    CLO_TRY(take_map(context->workspace, d, &scale, &center, err));
    clo_i_domain_map(domain, scale, center);
    if (domain->lower) {
        for (size_t j = 0; j < d; j++)
            for (size_t i = 0; i < dim; i++) basis[j * dim + i] *= scale[j];
        CLO_TRY(clo_i_orthonormalize(basis, d, dim, err));
    }
    CLO_TRY(clo_i_release_put(out, "basis", basis, 2, (size_t[]){ d, dim }, err));
    if (domain->lower || domain->center)
        CLO_TRY(clo_i_release_put(out, "center", center, 1, (size_t[]){ d }, err));
    return CLO_OK;
}

clo_status clo_i_check_gamma(double gamma, clo_error *err)
{
    if (gamma < 0 && gamma != CLO_GAMMA_NOT_STATED)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "gamma must be between 0 and 1, or %d if you do not know it, not %g",
                          (int)CLO_GAMMA_NOT_STATED, gamma);
    return CLO_OK;
}

/* Of rows that are normal in a subspace of 2, 5, 10 dimensions, the longest of 20,000 at the norm,
 * .08, .18, .24; of MNIST, digits and five tables with bounds that somebody might state, q = 2, 5,
 * 10, .002 to .2, half of them above .04 (bench/bench_pca.py --gaps). */
static const double USUAL_REACH = 0.1, LEAST_REACH = 0.01;

clo_reaches clo_i_subspace_reaches(double stated)
{
    if (stated > 0) return (clo_reaches){ stated, stated, stated };
    return (clo_reaches){ 1, USUAL_REACH, LEAST_REACH };
}

/* With a mean square of l along each direction of the subspace and gamma^2 l along each of the
 * others, the squared norms of the rows have a mean of (q + (d - q) gamma^2) l, and that is at most
 * 1; reach is q l. */
double clo_i_subspace_gap(size_t cols, size_t dim, double gamma, double reach, double rows)
{
    const double q = (double)dim, d = (double)cols, across = gamma > 0 ? gamma * gamma : 0;
    const double along = fmin(reach / q, 1 / (q + (d - q) * across));
    return rows * along * (1 - across);
}

/* Of a random subspace E ||sin Theta||_F^2 = q (d - q) / d. */
double clo_i_subspace_error(size_t cols, size_t dim, double tilt)
{
    const double q = (double)dim, d = (double)cols;
    return sqrt(q * (d - q) / (1 / (tilt * tilt) + d));
}

clo_between clo_i_subspace_between(clo_subspace_error_at *error_at, const void *plan,
                                   const clo_domain *domain, const clo_line *lines, double rows,
                                   double stated)
{
    const clo_reaches reaches = clo_i_subspace_reaches(stated);
    return (clo_between){ error_at(plan, domain, lines, rows, reaches.most),
                          error_at(plan, domain, lines, rows, reaches.least) };
}
