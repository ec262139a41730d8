/*
 * signal.h - what the spectrum of a noisy Gram matrix says of the records, and what of it is noise.
 *
 * The noise and the number of columns are public, so that all of it is post-processing
 * (subspace_gaussian.T2).
 */
#ifndef CLO_SUBSPACE_SIGNAL_H
#define CLO_SUBSPACE_SIGNAL_H

#include "plan/mechanism.h"

/* A direction stands out of the noise where its eigenvalue is above this.  Whatever the data, with
 * a probability of at least 1 - CLO_SIGNAL_DOUBT every one that does has energy: so many directions
 * of the records do (subspace_gaussian.T2).  noise: of a diagonal entry. */
#define CLO_SIGNAL_DOUBT 0.001
double clo_i_signal_edge(double noise, size_t cols);

/* The energy that the records have along the released direction i of so many, of whose noisy matrix
 * all eigenvalues are known, largest first: without what the noise added, and what the direction
 * took of it.  Not below 0. */
double clo_i_signal_energy(const double *eigenvalues, size_t cols, double noise, size_t i);

#endif
