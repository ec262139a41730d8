/*
 * public_fit.h - what a release can be brought to by public facts alone, at no cost: centres inside
 * of the public bounds, sizes that the public number of rows allows (public_fit.T1, T2).
 */
#ifndef CLO_PUBLIC_FIT_H
#define CLO_PUBLIC_FIT_H

#include "base/base.h"
#include <cloister/domain.h>

/* A point in the data's own units, moved into the column bounds, where there are any. */
void clo_i_fit_point(const clo_domain *domain, double *point);
/* The same point with the digits that noise leaves, of so many radii in each coordinate of the ball
 * (0: all digits): cut toward the center of the domain, so that it stays in ball and bounds.  Of a
 * projection it keeps them, to lie in the subspace.  public_fit.T3. */
void clo_i_cut_point(const clo_domain *domain, double noise, double *point);
/* Sizes of k clusters: none below 0 and, where the number of rows is public (replace, no unit), not
 * more than that in all. */
void clo_i_fit_sizes(const clo_domain *domain, size_t k, double *sizes);

#endif
