/*
 * bingham.h - random orthonormal frames U (d x q, U'U = I) with the density of the matrix Bingham
 * distribution,
 *
 *   p(U) proportional to exp( sum_r weight_r u_r' A u_r ),     A symmetric,
 *
 * and its relatives: the vector Bingham distribution (q = 1) and the law of one squared coordinate.
 * Equal weights c make it exp(c tr U'AU), a law of subspaces, which is what the exponential
 * mechanism over subspaces draws from.
 *
 * By itself a draw is NOT private: the caller's A is what it is.
 */
#ifndef CLOISTER_BINGHAM_H
#define CLOISTER_BINGHAM_H

#include <cloister/random.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A law to draw frames from: A, its eigenvectors and the weights. */
typedef struct clo_bingham clo_bingham;

/* A d x d symmetric (its lower triangle is read), weights q numbers of either sign, q from 1 to d
 * and d at most 16384.  Both are copied; A is diagonalised here, once for all draws.  CLO_ARGUMENT
 * where the largest row sum of A times the largest weight is above 1e9: doubles cannot follow so
 * narrow a law. */
CLO_API CLO_CHECK clo_status clo_bingham_new(clo_matrix a, const double *weights, size_t q,
                                             clo_bingham **out, clo_error *err);
CLO_API void clo_bingham_free(clo_bingham *bingham); /* wipes it */

/* A frame that is uniformly distributed: d x q, row-major. */
CLO_API CLO_CHECK clo_status clo_bingham_uniform(size_t d, size_t q, clo_rng *rng, double *frame,
                                                 clo_error *err);

/* Gibbs sweeps from the given frame, in place: each column in turn is drawn anew, exactly, from its
 * law given the others.  With q = 1 one sweep is an exact draw; otherwise the law is reached in the
 * limit of many sweeps. */
CLO_API CLO_CHECK clo_status clo_bingham_sweep(clo_bingham *bingham, clo_rng *rng, uint64_t sweeps,
                                               double *frame, clo_error *err);

/* An exact draw, by rejection.  It takes q or d - q dimensions, whichever is less; with one of them
 * it always is practical (more than one proposal in sqrt(4 d) or so is kept), and for more the
 * share falls about as a power of that dimension: .26, .05, .008, .0005 for 1, 2, 3, 5 of 10 where
 * the law is concentrated.  CLO_UNSUPPORTED where the weights are not all equal, and after `most`
 * proposals without success.  proposals (how many it took) may be NULL. */
CLO_API CLO_CHECK clo_status clo_bingham_exact(clo_bingham *bingham, clo_rng *rng, uint64_t most,
                                               double *frame, uint64_t *proposals, clo_error *err);
/* A proved lower bound of the share of proposals that clo_bingham_exact keeps; close to the truth
 * where the law is nearly uniform, and far too low where it is concentrated. */
CLO_API CLO_CHECK clo_status clo_bingham_acceptance(clo_bingham *bingham, double *share,
                                                    clo_error *err);

/* count exact draws of x in (0, 1) with density proportional to x^(-1/2) (1-x)^k exp(a x), k from
 * -1/2 to 1e9 and a from -1e15 to 1e15: the square of one coordinate of a vector Bingham draw in
 * 2k + 3 dimensions, given the ratios of the others. */
CLO_API CLO_CHECK clo_status clo_bingham_coordinate(double k, double a, clo_rng *rng, size_t count,
                                                    double *out, clo_error *err);

#ifdef __cplusplus
}
#endif
#endif
