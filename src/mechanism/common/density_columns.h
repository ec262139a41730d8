/*
 * density_columns.h - kmeans/density in many columns: what a run has beside the density in a frame.
 * All of it is public or post-processing of answers; points are in unit-ball coordinates.
 */
#ifndef CLO_DENSITY_COLUMNS_H
#define CLO_DENSITY_COLUMNS_H

#include "mechanism/common/density_run.h"

/* One round that was asked, as far as it tells of what lies outside of the frame. */
typedef struct clo_columns_round {
    uint32_t *labels; /* points: the cluster that each was in */
    double *uncut;    /* points: what the cut has left of its difference, 1 at most */
    double *places;   /* clusters x cols: the centres that were asked about, outside */
    double *sums;     /* clusters x cols: the answer there, in widths */
    double *widths;   /* clusters */
    double noise;     /* of a number of the sums */
    double least;     /* size to divide by */
} clo_columns_round;

/* Equations for the clusters' means outside. */
typedef struct clo_columns_equations {
    double *matrix, *root; /* clusters x clusters: of precisions, and its lower Cholesky root */
    double *right;         /* clusters x cols; then the solution */
    double *overlap;       /* clusters x clusters: of a round's clusters with those of now */
    double *counted;       /* clusters */
    double *shares;        /* clusters: of the records */
    double *common;        /* cols: the mean of all */
    double *apart, *spent; /* clusters x cols */
    double *values, *left; /* of a singular value decomposition */
    double *solved;        /* clusters */
    double *doubts;        /* clusters: variance of a coordinate of a mean */
} clo_columns_equations;

typedef struct clo_columns {
    size_t cols, directions, clusters, points;
    size_t extra;            /* directions outside of the frame in which the clusters differ */
    size_t most_extra;       /* that there is room for */
    size_t rounds;           /* that have been asked */
    clo_density_start start; /* in all columns */
    double *frame;           /* cols x directions, a direction a column */
    double *spread;          /* directions: deviation of the records */
    double scale;            /* of what the lens shows over the records */
    double total, outside;  /* mean squared length about the start's centre; outside of the frame */
    double *seen;           /* points x (directions + extra): the density's, and where they are
                                outside, too */
    double *centers;        /* clusters x (directions + extra) */
    double *basis;          /* extra x cols: those directions */
    double *means;          /* clusters x cols: of the clusters, outside */
    double *rest;           /* clusters: mean squared length in the columns that are left */
    double *uneven;         /* points: how much more or less of that a point has, times */
    double *normal;         /* points x most_extra: where they are outside of their clusters */
    uint32_t *labels;       /* points: the cluster of each */
    double *squares;        /* points: from its centre, in all columns */
    clo_density_groups all; /* the clusters, in all columns */
    double *shells;         /* of a round */
    double *along;          /* clusters x directions */
    clo_columns_round round[CLO_DENSITY_MOST_ROUNDS];
    clo_columns_equations equations;
} clo_columns;

/* Lines of a plan in many columns, after the start's. */
CLO_CHECK clo_status clo_i_columns_add_lines(clo_draft *draft, double whole, clo_density_plan *plan,
                                             clo_error *err);
/* Whether it is better than kmeans/local, by public numbers. */
bool clo_i_columns_pay(const clo_density_plan *plan);
CLO_CHECK clo_status clo_i_columns_run(const clo_density_plan *plan, const clo_domain *domain,
                                       const clo_bounded *data, clo_context *context,
                                       clo_release *out, clo_error *err);
CLO_CHECK clo_status clo_i_columns_room(const clo_density_plan *plan, clo_workspace *space,
                                        clo_error *err);

/* ---- rounds (density_columns_rounds.c) ------------------------------------------------------ */

CLO_CHECK clo_status clo_i_columns_take_rounds(const clo_density_plan *plan, clo_workspace *space,
                                               clo_columns *c, clo_error *err);
CLO_CHECK clo_status clo_i_columns_begin_rounds(clo_context *context, const clo_density_state *s,
                                                clo_columns *c, clo_error *err);
/* Asks about the clusters in all columns; then all that has been answered is fitted, and the
 * clusters are where k-means of the density has converged.  line: the round's. */
CLO_CHECK clo_status clo_i_columns_go_round(clo_context *context, size_t line,
                                            const clo_bounded *data, clo_density_state *s,
                                            clo_columns *c, clo_error *err);
/* The clusters' centres and sizes, in all columns, to c->all. */
void clo_i_columns_place(const clo_density_state *s, clo_columns *c);

/* ---- outside of the frame (density_columns_outside.c) ---------------------------------------- */

CLO_CHECK clo_status clo_i_columns_take_equations(const clo_density_plan *plan,
                                                  clo_workspace *space, clo_columns_equations *e,
                                                  clo_error *err);
/* The clusters' means outside of the frame, by all rounds together, and the directions in which
 * they differ; c->equations.doubts: how well they are known.  c->labels: the clusters. */
CLO_CHECK clo_status clo_i_columns_find_means(const double *weights, clo_columns *c,
                                              clo_error *err);

#endif
