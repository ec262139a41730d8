/* bases.h - the directions of a release of one subspace or of several.  For the files of this
 * folder. */
#ifndef CLO_REPORT_BASES_H
#define CLO_REPORT_BASES_H

#include "release/release.h"

typedef struct clo_bases {
    size_t count, cols, dim;
    const double *at; /* count x cols x dim; columns beyond a flat's own dimension are 0 */
} clo_bases;

/* False: the release has none. */
static inline bool clo_i_find_bases(const clo_release *release, clo_bases *out)
{
    clo_array a;
    if (clo_release_find(release, "bases", &a) && a.dimensions == 3 &&
        a.shape[1] == release->facts.cols) {
        *out = (clo_bases){ a.shape[0], a.shape[1], a.shape[2], a.data };
        return true;
    }
    if (clo_release_find(release, "basis", &a) && a.dimensions == 2 &&
        a.shape[0] == release->facts.cols) {
        *out = (clo_bases){ 1, a.shape[0], a.shape[1], a.data };
        return true;
    }
    return false;
}

static inline double clo_i_loading(const clo_bases *b, size_t flat, size_t column, size_t direction)
{
    return b->at[(flat * b->cols + column) * b->dim + direction];
}

/* How many of its directions are not 0 throughout. */
static inline size_t clo_i_own_dim(const clo_bases *b, size_t flat)
{
    size_t own = 0;
    for (size_t q = 0; q < b->dim; q++) {
        bool zero = true;
        for (size_t j = 0; j < b->cols && zero; j++) zero = clo_i_loading(b, flat, j, q) == 0;
        if (!zero) own = q + 1;
    }
    return own;
}

#endif
