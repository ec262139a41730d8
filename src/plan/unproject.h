/*
 * unproject.h - a release made in the coordinates of a subspace, back in the data's own.
 */
#ifndef CLO_UNPROJECT_H
#define CLO_UNPROJECT_H

#include "release/release.h"

/* Where the domain has a frame: points c become frame c + origin, directions U become frame U, and
 * flats without a point of their own get the origin's.  Post-processing. */
/* Where it has a schema: coordinates become numbers in their own units and shares of levels. */
CLO_CHECK clo_status clo_i_lift(const clo_domain *domain, clo_release *release, clo_error *err);

#endif
