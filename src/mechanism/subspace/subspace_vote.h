/*
 * subspace_vote.h - of several released subspaces the one that most agree with: post-processing.
 */
#ifndef CLO_SUBSPACE_VOTE_H
#define CLO_SUBSPACE_VOTE_H

#include "plan/mechanism.h"

typedef struct clo_vote {
    size_t cols, dim, count;
    const double *bases; /* count x cols x dim, orthonormal */
    double alpha;        /* subspaces within twice this sine agree */
    bool mean;           /* of those that agree with the chosen one; otherwise that one */
} clo_vote;

/* agreeing: with how many, itself included, the one that is chosen agrees.  Where that is more than
 * half, the answer is in basis, cols x dim (subspace_boosted.T2); otherwise basis is untouched. */
CLO_CHECK clo_status clo_i_subspace_vote(clo_workspace *workspace, const clo_vote *vote,
                                         double *basis, size_t *agreeing, clo_error *err);
/* Of so many subspaces. */
CLO_CHECK clo_status clo_i_subspace_vote_room(clo_workspace *space, size_t count, size_t cols,
                                              size_t dim, clo_error *err);

#endif
