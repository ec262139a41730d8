/*
 * aggregate_space.h - what sample and aggregate (aggregate.c) must know of the solutions that it
 * brings together: a metric space of finite diameter, whose points are given by coordinates in R^n.
 *
 * Several coordinates may stand for one point: those that a group of isometries of R^n takes into
 * each other (turns of a basis, orders of a list).  The distance of two points is the least one of
 * their coordinates, and what is published must be the same for all coordinates of a point; that is
 * all that the proof needs (aggregate.T4).  For the files of this folder only.
 */
#ifndef CLO_AGGREGATE_SPACE_H
#define CLO_AGGREGATE_SPACE_H

#include "ask/query.h"

typedef struct clo_space clo_space;
struct clo_space {
    size_t clusters, cols;
    size_t dim, small; /* of subspaces, and of whichever is smaller of one and its complement */
    size_t given;      /* how many numbers a solver writes, and how many are answered */
    size_t length;     /* how many coordinates there are */
    size_t room;       /* doubles of scratch that a distance needs */
    double diameter;
    /* The solution of a block that has no other. */
    void (*fix)(const clo_space *space, double *given);
    /* From finite numbers to coordinates; CLO_FORMAT where they are no point.  May change what is
     * given. */
    clo_status (*settle)(const clo_space *space, double *given, double *coordinates);
    /* partner: clusters. */
    clo_status (*distance)(const clo_space *space, const double *a, const double *b,
                           size_t *partner, double *scratch, double *out);
    /* From noisy coordinates, which it may change, to the answer. */
    clo_status (*publish)(const clo_space *space, double *noisy, double *answer, clo_error *err);
};

/* k subspaces of this dimension, at least 1 and less than cols (aggregate_subspaces.c). */
void clo_i_subspace_space(size_t clusters, size_t cols, size_t dim, clo_space *out);
/* k points of the unit ball (aggregate_centers.c). */
void clo_i_center_space(size_t clusters, size_t cols, clo_space *out);

bool clo_i_all_finite(const double *values, size_t count);

#endif
