/*
 * cut.h (internal) - the density of a release that holds its answers.
 */
#ifndef CLO_CUT_INTERNAL_H
#define CLO_CUT_INTERNAL_H

#include "density/density.h"
#include "domain/domain.h"
#include "release/release.h"

/* A density that was made again from a release.  The space is its own. */
typedef struct clo_cut_density {
    clo_density density;
    clo_workspace *space;
    clo_rng *rng; /* seeded: what is drawn is the same each time */
} clo_cut_density;

/* Whether it holds answers, unchanged: CLO_UNSUPPORTED, CLO_SIGNATURE. */
CLO_CHECK clo_status clo_i_cut_check(const clo_release *release, clo_error *err);
/* The same, and CLO_FORMAT where the answers do not fit each other.  To be closed, whatever comes
 * of it. */
CLO_CHECK clo_status clo_i_cut_open(const clo_release *release, clo_cut_density *out,
                                    clo_error *err);
void clo_i_cut_close(clo_cut_density *density);
/* What the method knew of the data, learnt or stated: borrowed from the release. */
clo_domain clo_i_cut_domain(const clo_release *release);

#endif
