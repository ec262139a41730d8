/*
 * subspace_units.h - what the mechanisms of the family `subspace` share: the release of one
 * subspace in the data's own units, and what error to expect of it.
 */
#ifndef CLO_SUBSPACE_UNITS_H
#define CLO_SUBSPACE_UNITS_H

#include "plan/mechanism.h"

/* Puts "basis" (d x dim, orthonormal) into the release, and "center" where the domain has one,
 * public or learnt.  The basis comes in the coordinates of the unit ball: columns of different
 * units stretch the subspace. */
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

/* The parameter `reach`, which they have for the same reason: the mean square of the records along
 * the weakest direction of the subspace, times dim, as a share of the norm's square.  1: they fill
 * it evenly out to the norm.  What it is nobody can say who has not seen the data, and what noise
 * does depends on it; so where it is not stated the prediction is a range. */
enum { CLO_REACH_NOT_STATED = 0 };
#define CLO_SUBSPACE_REACH "reach", CLO_PARAM_REAL, 0, 1, CLO_REACH_NOT_STATED
#define CLO_REACH_IS                                                                               \
    "public knowledge, never from the data: the mean square of the records along the weakest "     \
    "direction of the subspace, times dim, as a share of the squared norm; "

/* Reaches to predict with: what is stated or, where nothing is, what is usual, and the ends of what
 * files have. */
typedef struct clo_reaches {
    double most, usual, least;
} clo_reaches;
clo_reaches clo_i_subspace_reaches(double stated);
/* The gap of the records' spectrum in the unit ball, where they reach so far in the subspace and
 * spread across it as gamma says, or not at all where it is not stated. */
double clo_i_subspace_gap(size_t cols, size_t dim, double gamma, double reach, double rows);

/* The expected ||sin Theta||_F of a subspace whose q (d - q) tilts against its complement have each
 * this standard deviation to first order: as large as that says while it is small, and never beyond
 * that of a random subspace. */
double clo_i_subspace_error(size_t cols, size_t dim, double tilt);

/* The error of a plan where records reach so far, and it where they reach most and least far. */
typedef double clo_subspace_error_at(const void *plan, const clo_domain *domain,
                                     const clo_line *lines, double rows, double reach);
clo_between clo_i_subspace_between(clo_subspace_error_at *error_at, const void *plan,
                                   const clo_domain *domain, const clo_line *lines, double rows,
                                   double stated);

#endif
