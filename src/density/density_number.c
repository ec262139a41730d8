/*
 * density_number.c - how many clusters there are, read from the density, at no cost.
 *
 * The density is a smooth copy of the records with little of their noise, so k-means of it tells
 * how the loss falls with the number of clusters.  That curve goes a few numbers beyond the most
 * that is allowed, so that the most can be found, too.  The number is where the curve bends; where
 * it does not, the least after which one cluster more wins little of what is left; or the least
 * that explains the share of the spread that the user asks for.
 */
#include "density/density.h"
#include "solver/curve.h"
#include <math.h>

static const double NOTHING = 1e-300; /* no loss is divided by less */

/* The least number that explains the share; the most where none does. */
static size_t explaining(const double *curve, size_t most, double share)
{
    size_t k = 1;
    while (k < most && 1 - curve[k - 1] < share) k++;
    return k;
}

static double least_of(const double *sizes, size_t count)
{
    double least = INFINITY;
    for (size_t c = 0; c < count; c++) least = fmin(least, sizes[c]);
    return least;
}

clo_status clo_i_density_number(clo_density *density, const clo_density_solver *how,
                                const clo_density_choice *choice, clo_density_chosen *out,
                                clo_error *err)
{
    const size_t most = choice->most, count = most + CLO_DENSITY_BEYOND;
    double *const curve = out->curve;
    CLO_TRY(
        clo_i_density_find_curve(density, how->rng, how->threads, count, out->centers, curve, err));
    const double one = fmax(curve[0], NOTHING);
    for (size_t k = 0; k < count; k++) curve[k] /= one;
    out->elbow = clo_i_curve_elbow(curve, count, most);
    out->clusters = choice->explain > 0 ? explaining(curve, most, choice->explain)
                    : out->elbow > 1    ? out->elbow
                                        : clo_i_curve_share(curve, count, most);
    /* Fewer, until the density has enough records in each. */
    for (;; out->clusters--) {
        CLO_TRY(clo_i_density_centers(density, how, out->clusters, out->centers, out->sizes,
                                      out->squares, err));
        if (out->clusters == 1 || least_of(out->sizes, out->clusters) >= choice->smallest)
            return CLO_OK;
    }
}
