/*
 * released.h - what a release says, as flats: k centres, one subspace, or k subspaces or flats.
 */
#ifndef CLO_RELEASED_H
#define CLO_RELEASED_H

#include "base/base.h"
#include "measure/measure.h"
#include <cloister/release.h>

typedef struct clo_i_released {
    clo_flats flats; /* points into the rest */
    double *offsets; /* or NULL */
    double *bases;   /* or NULL: centres */
    double *scale;   /* cols: what a column of a row is divided by before it is compared; or NULL */
} clo_i_released;

/* In the coordinates where the mechanism measured distances: with public column bounds, each
 * column in units of the half width of its own.  A release that was read may hold anything:
 * CLO_FORMAT where its arrays do not fit each other.  To be given back by clo_i_released_free. */
CLO_CHECK clo_status clo_i_released_flats(const clo_release *release, clo_i_released *out,
                                          clo_error *err);
void clo_i_released_free(clo_i_released *released);

#endif
