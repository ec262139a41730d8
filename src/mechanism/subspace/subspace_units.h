/*
 * subspace_units.h - what the mechanisms of the family `subspace` share: the release of one
 * subspace in the data's own units, and what error to expect of it.
 */
#ifndef CLO_SUBSPACE_UNITS_H
#define CLO_SUBSPACE_UNITS_H

#include "plan/mechanism.h"

/* Puts "basis" (d x dim, orthonormal) into the release, and "center" where the domain has one, public
 * or learnt.  The basis comes in the coordinates of the unit ball: columns of different units
 * stretch the subspace. */
CLO_CHECK clo_status clo_i_subspace_release(clo_context *context, const clo_domain *domain,
                                            size_t dim, double *basis, clo_release *out,
                                            clo_error *err);
CLO_CHECK clo_status clo_i_subspace_release_room(clo_workspace *space, size_t cols, clo_error *err);

/* The parameter `gamma`, which all methods of the family have, so that it can be stated before one
 * of them is chosen: the most spread of the records across the subspace, as a share of the least
 * along it. */
enum { CLO_GAMMA_NOT_STATED = -1 };
#define CLO_SUBSPACE_GAMMA "gamma", CLO_PARAM_REAL, CLO_GAMMA_NOT_STATED, 1, CLO_GAMMA_NOT_STATED

/* Fails where it is neither a share nor the word that it is not stated. */
CLO_CHECK clo_status clo_i_check_gamma(double gamma, clo_error *err);
/* The gap of the records' spectrum in the unit ball, where they fill the subspace evenly out to the
 * norm and spread across it as gamma says, or not at all where it is not stated. */
double clo_i_subspace_gap(size_t cols, size_t dim, double gamma, double rows);

/* The expected ||sin Theta||_F of a subspace whose q (d - q) tilts against its complement have each
 * this standard deviation to first order: as large as that says while it is small, and never beyond
 * that of a random subspace. */
double clo_i_subspace_error(size_t cols, size_t dim, double tilt);

#endif
