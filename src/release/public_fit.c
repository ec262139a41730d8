/*
 * public_fit.c - the nearest values that public facts allow.  Post-processing: the facts are those
 * of the domain, and the values are released ones.
 */
#include "release/public_fit.h"
#include "domain/domain.h"
#include "release/release.h"
#include <math.h>

/* public_fit.T1 */
void clo_i_fit_point(const clo_domain *domain, double *point)
{
    for (size_t j = 0; domain->lower && j < domain->cols; j++)
        point[j] = fmin(fmax(point[j], domain->lower[j]), domain->upper[j]);
}

/* public_fit.T3.  Noise beyond the radius leaves as many digits as noise of the radius. */
void clo_i_cut_point(const clo_domain *domain, double noise, double *point)
{
    const double radius = clo_i_domain_radius(domain) * fmin(noise, 1);
    for (size_t j = 0; !domain->frame && j < domain->cols; j++) {
        const clo_i_axis axis = clo_i_domain_axis(domain, j);
        point[j] = clo_i_cut_digits(point[j], radius * axis.scale, axis.center);
    }
}

/* What is left of the sum when each size is lowered by `step`, but not below 0. */
static double lowered(const double *sizes, size_t k, double step, size_t *above)
{
    double sum = 0;
    *above = 0;
    for (size_t c = 0; c < k; c++)
        if (sizes[c] > step) {
            sum += sizes[c] - step;
            ++*above;
        }
    return sum;
}

/* public_fit.T2.  Fewer rows than the public number may be in clusters, as records with a missing
 * cell count for nothing (bound.T6), so that a sum below it is left alone. */
void clo_i_fit_sizes(const clo_domain *domain, size_t k, double *sizes)
{
    const double rows = (double)domain->rows;
    const bool known = domain->relation == CLO_REPLACE && !domain->unit && domain->rows > 0;
    double step = 0;
    size_t above = 0;
    for (size_t c = 0; c < k; c++) sizes[c] = fmax(sizes[c], 0);
    double sum = lowered(sizes, k, 0, &above);
    if (!known || !(sum > rows)) return;
    /* Newton's steps on a convex function that falls: from above, and each but the last one lets a
     * size fall to 0, so that k + 1 are enough. */
    for (size_t round = 0; round <= k && sum > rows && above > 0; round++) {
        step += (sum - rows) / (double)above;
        sum = lowered(sizes, k, step, &above);
    }
    for (size_t c = 0; c < k; c++) sizes[c] = fmax(sizes[c] - step, 0);
}
