/*
 * subspaces_common.h - what the mechanisms of the family `subspaces` share: a fit of k subspaces or
 * flats, the rounds that better it, and what of it is released.
 *
 * A fit lives in the coordinates of the unit ball.  Its moments are the noisy Gram matrices of the
 * clusters; everything else in it follows from them, by post-processing.
 */
#ifndef CLO_SUBSPACES_COMMON_H
#define CLO_SUBSPACES_COMMON_H

#include "plan/mechanism.h"
#include "ask/assign.h"
#include "ask/lens.h"

/* The rows that every method of the family has. */
#define CLO_SUBSPACES_ROW_CLUSTERS(most)                                                           \
    {                                                                                              \
        "clusters", CLO_PARAM_INT, 1, most, 3, NULL, "how many subspaces to find"                  \
    }
#define CLO_SUBSPACES_ROW_DIM(most)                                                                \
    {                                                                                              \
        "dim", CLO_PARAM_INT, 1, most, 2, NULL, "dimension of each subspace"                       \
    }
#define CLO_SUBSPACES_ROW_FLATS                                                                    \
    {                                                                                              \
        "flats", CLO_PARAM_CHOICE, 0, 1, 0, "linear|affine",                                       \
            "linear: through the origin; affine: anywhere"                                         \
    }

typedef struct clo_flat_fit {
    size_t clusters, cols, dim;
    bool affine;         /* flats may miss the origin */
    const double *frame; /* whole x cols, released: the directions that records are seen in; NULL:
                            they are seen as they are */
    size_t whole;        /* columns of the records, where there is a frame; otherwise 0 */
    double *bases;       /* clusters x cols x dim, orthonormal columns, the largest energy first */
    double *points;      /* clusters x cols: each flat passes through its own; zeros where linear */
    double *energies;    /* clusters x dim: of the records along each basis vector (sum of squares),
                          about the point where affine */
    double *residuals;   /* clusters: the energy off the flat */
    double *weights;     /* clusters: the number of records where affine, their energy otherwise */
    double *moments;     /* clusters x width x width: averaged noisy Gram matrices */
    bool shapes_only;    /* sizes and energies were not asked for, and are not released */
    double trust;        /* in that average: sum of 1/variance, older rounds discounted; 0: none */
} clo_flat_fit;

CLO_CHECK clo_status clo_i_flat_fit_take(clo_workspace *workspace, size_t clusters, size_t cols,
                                         size_t dim, bool affine, clo_flat_fit *out,
                                         clo_error *err);

/* Public and random: uniform subspaces; for affine ones, points in the ball. */
CLO_CHECK clo_status clo_i_subspaces_start(clo_context *context, clo_flat_fit *fit, clo_error *err);

/* The line of a plan for one round: the Gram matrices of all clusters (gaussian_gram.T1), seen
 * through a lens that shows `frame` directions of the records, if not 0, and a constant beside them
 * where the flats are affine. */
CLO_CHECK clo_status clo_i_subspaces_plan_round(const clo_domain *domain, size_t clusters,
                                                size_t frame, bool affine, double mu,
                                                uint64_t times, const char *label, clo_line *out,
                                                clo_error *err);
/* Asks that line: the records of each cluster, as the fit divides them, give it new moments, which
 * are averaged with `memory` (0 … 1) of the trust in the old ones; and the fit follows. */
CLO_CHECK clo_status clo_i_subspaces_round(clo_context *context, size_t line,
                                           const clo_bounded *data, double memory,
                                           clo_flat_fit *fit, clo_error *err);
CLO_CHECK clo_status clo_i_subspaces_round_room(clo_workspace *space, const clo_flat_fit *fit,
                                                clo_error *err);

/* The rule by which the fit divides the records themselves, not seen through a lens. */
CLO_CHECK clo_status clo_i_subspaces_rule(clo_workspace *workspace, const clo_flat_fit *fit,
                                          int bits, clo_assign *out, clo_error *err);
CLO_CHECK clo_status clo_i_subspaces_rule_room(clo_workspace *space, const clo_flat_fit *fit,
                                               clo_error *err);

/* Takes memory for the fit as it is in all coordinates of the ball: bases and points; the rest it
 * has in common with the fit in the frame. */
CLO_CHECK clo_status clo_i_subspaces_unfold(clo_workspace *workspace, const clo_flat_fit *seen,
                                            clo_flat_fit *out, clo_error *err);
CLO_CHECK clo_status clo_i_subspaces_unfold_room(clo_workspace *space, const clo_flat_fit *seen,
                                                 clo_error *err);

/* Puts the fit into the release, in the data's own coordinates and units, with the digits that
 * noise leaves, whose standard deviation in an entry of a Gram matrix is given (in the ball; 0: not
 * known): "bases" k x d x q, which keeps all to be orthonormal,
 * "offsets" k x d (a point of each flat; left out where all pass through the origin), "sizes" k,
 * "energies" k x q and "residuals" k. */
CLO_CHECK clo_status clo_i_subspaces_release(clo_context *context, const clo_domain *domain,
                                             double noise, clo_flat_fit *fit, clo_release *out,
                                             clo_error *err);
CLO_CHECK clo_status clo_i_subspaces_release_room(clo_workspace *space, size_t cols, size_t dim,
                                                  clo_error *err);

#endif
