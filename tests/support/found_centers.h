/*
 * found_centers.h - whether a release has found the centres that the data were made of.
 */
#ifndef CLO_TEST_FOUND_CENTERS_H
#define CLO_TEST_FOUND_CENTERS_H

#include "pipeline.h"

/* The distance of the true centre (k x d) that is worst off to the nearest released one, with
 * column j in units of unit[j]; NULL: of 1. */
static inline double worst_miss(const clo_release *release, const double *truth, const double *unit,
                                size_t k, size_t d)
{
    clo_array found;
    double worst = 0;
    assert_true(clo_release_find(release, "centers", &found));
    assert_int_equal(found.shape[0], k);
    assert_int_equal(found.shape[1], d);
    for (size_t t = 0; t < k; t++) {
        double nearest = INFINITY;
        for (size_t c = 0; c < k; c++) {
            double square = 0;
            for (size_t j = 0; j < d; j++)
                square += pow((found.data[c * d + j] - truth[t * d + j]) / (unit ? unit[j] : 1), 2);
            nearest = fmin(nearest, sqrt(square));
        }
        worst = fmax(worst, nearest);
    }
    return worst;
}

#endif
