/*
 * density.h - a weighted cloud of points that explains noisy answers, from which everything else of
 * a release is read.  It is made of answers and of public numbers alone, never of records.
 *
 * An answer is a sum over records of what each of them adds.  The same sum over the points, each
 * times its weight, is what the density answers; weights are fitted so that it answers what was
 * answered, as far as noise lets one trust that.  As the points are cut, labelled and counted just
 * as the records were, cutting is no bias, and answers about different cells add up.
 *
 * Points are in unit-ball coordinates.  One thread, fixed orders: the same bytes everywhere.
 */
#ifndef CLO_DENSITY_H
#define CLO_DENSITY_H

#include "base/base.h"
#include "random/random.h"
#include <cloister/run.h>

enum { CLO_DENSITY_ANSWERS = 32, CLO_DENSITY_COLUMNS = 64 };
/* Of the grid that places and widths are rounded to before they are asked about; and of that of
 * answers: they are told in whole steps of 2^-10 of the deviation of their noise. */
enum { CLO_DENSITY_BITS = 20, CLO_DENSITY_TOLD_BITS = 10 };

/* What is asked of cells: the sums of (x - z) / max(|x - z|, width), of min(|x - z| / reach, 1)^2,
 * and of 1, over the points nearest to z; the deviation of the noise of each.  Borrowed. */
typedef struct clo_cells_told {
    size_t count;
    const double *places;           /* count x cols */
    const double *widths, *reaches; /* count */
    const double *sums, *squares, *sizes;
    double noise, square_noise, size_noise;
} clo_cells_told;

/* Of a look: the sum of the same differences about one point, and how many points are in each of
 * so many shells: shell j ends at 2^(1 - j/2). */
typedef struct clo_look_told {
    const double *center; /* cols */
    double width;
    const double *sum, *shells;
    size_t shell_count;
    double noise, shell_noise;
} clo_look_told;

/* Of a Gram matrix of these differences; the noise is that of its diagonal, and off it there is
 * less by the root of 2. */
typedef struct clo_gram_told {
    const double *center;
    double width;
    const double *gram; /* cols x cols */
    double noise;
} clo_gram_told;

/* What is told, for room: so many answers of so many groups and of so many numbers each. */
typedef struct clo_density_shape {
    size_t points, cols;
    size_t looks, shells, grams;
    size_t passes, cells;    /* of cells */
    size_t rounds, clusters; /* of clusters */
} clo_density_shape;

/* One answer, and the same features of the points. */
typedef struct clo_density_answer {
    int kind;
    size_t groups, stride; /* numbers of a group, filled up to whole fours with zeros */
    size_t most;           /* groups that there is room for */
    double *places, *widths, *reaches;
    double noise[3];  /* of differences, squares and sizes */
    double *told;     /* groups x stride, in deviations of their noise */
    double *off;      /* groups x stride: what the density answers less that */
    uint32_t *labels; /* points: the group of each */
    float *features;  /* points x stride, in deviations of the noise */
} clo_density_answer;

typedef struct clo_density {
    size_t count, cols;
    double *points;  /* count x cols */
    double *base;    /* count: weights before the fit */
    double *logs;    /* count: of the weights over that */
    double *weights; /* count: the fitted ones, in records */
    double strength; /* of the pull toward the base */
    clo_density_answer answers[CLO_DENSITY_ANSWERS];
    size_t answered;
    bool drawn;              /* there are points, whose features are those of all answers so far */
    double *moved, *scratch; /* count x cols; of the fit */
    uint32_t *labels;        /* count */
} clo_density;

/* Room for all that the shape says; the density has no points yet and has been told nothing. */
CLO_CHECK clo_status clo_i_density_take(clo_workspace *space, const clo_density_shape *shape,
                                        clo_density *out, clo_error *err);
/* From now on, before it is told anything, fewer columns than there is room for. */
void clo_i_density_narrow(clo_density *density, size_t cols);

/* ---- answers (density_answers.c) ----------------------------------------------------------- */

/* To be told in the order of the shape: looks, Gram matrices, passes, rounds. */
void clo_i_density_tell_look(clo_density *density, const clo_look_told *told);
void clo_i_density_tell_gram(clo_density *density, const clo_gram_told *told);
void clo_i_density_tell_cells(clo_density *density, const clo_cells_told *told);
/* The same where more was asked about than the columns of the density: each point is in the cell of
 * its label, and so far from its place in all that was asked about (a square).  After it the points
 * are not to change. */
void clo_i_density_tell_labelled(clo_density *density, const clo_cells_told *told,
                                 const uint32_t *labels, const double *squares);
/* The features of all answers anew, for points that have changed. */
void clo_i_density_see(clo_density *density);

/* ---- answers in whole numbers (density_kept.c) ----------------------------------------------- */

/* All that the density was told by one answer: places, widths and reaches (of cells alone) of each
 * group in steps of the grid, then what was answered.  One place, but for cells. */
typedef struct clo_density_kept {
    const char *kind; /* "sum", "shells", "gram", "cells" */
    size_t groups;
    double noise[3];
    size_t noise_count;
    const int64_t *asked, *answered;
    size_t asked_count, answered_count;
} clo_density_kept;

/* Of answer a (below density->answered), with how many numbers; without them. */
clo_density_kept clo_i_density_kept(const clo_density *density, size_t a);
void clo_i_density_keep(const clo_density *density, size_t a, int64_t *asked, int64_t *answered);
/* Whether these can be told to a density of so many columns: they may come from anywhere. */
bool clo_i_density_kept_fits(const clo_density_kept *kept, size_t cols);

/* ---- a density of kept answers (density_rebuild.c) ------------------------------------------- */

/* A density that is told all of these answers in their order, and fitted to them; the space grows
 * as it needs.  They must fit.  rows: how many there are, by public knowledge; 0: that is not
 * public.  CLO_FORMAT where no points can be drawn from them. */
CLO_CHECK clo_status clo_i_density_rebuild(clo_workspace *space, clo_rng *rng,
                                           const clo_density_kept *kept, size_t count, size_t cols,
                                           double rows, clo_density *out, clo_error *err);
/* The nearest of some places to a point; of equals the first. */
size_t clo_i_density_nearest(const double *point, const double *places, size_t count, size_t cols,
                             double *square);

/* ---- weights (density_fit.c) ---------------------------------------------------------------- */

/* The weights w = base e^g with the least of: half of the squared distances from what was answered,
 * in deviations of the noise, plus strength times the sum of (w g - w + base). */
void clo_i_density_fit(clo_density *density, size_t most_steps);
/* The mean square of what the last answer's numbers are off, in deviations of their noise: 1 or
 * less where the points can explain it. */
double clo_i_density_misfit(const clo_density *density);

/* ---- points (density_points.c) --------------------------------------------------------------- */

/* Points to draw: each from one of some places, chosen by its share; about it as far as a normal
 * law of this root of its covariance (cols x cols, of trace 1) and this deviation.  One in so many
 * is drawn twice as wide.  Each second point lies across from the one before: then the mean of a
 * cell's points is its place, however few there are. */
typedef struct clo_density_cells {
    size_t count;
    const double *places, *shares, *deviations;
    const double *root;
    double wide;
} clo_density_cells;
/* records: their number, spread evenly over the points. */
void clo_i_density_draw(clo_density *density, clo_stream *stream, const clo_density_cells *cells,
                        double records);
/* Normal points about a centre, whose lengths are spread by e^(tail N(0, 1)); root: of their
 * covariance; paired: as those of cells are. */
void clo_i_density_draw_normal(clo_density *density, clo_stream *stream, const double *center,
                               const double *root, double tail, bool paired, double records);
/* Moves the points of each cell to where the last answer says they are, as far as it can be
 * trusted, and draws them anew from there, smoothly, with even weights: `records` in all. */
CLO_CHECK clo_status clo_i_density_follow(clo_density *density, clo_workspace *space,
                                          clo_stream *stream, double records, clo_error *err);
CLO_CHECK clo_status clo_i_density_follow_room(clo_workspace *space, size_t cells, size_t cols,
                                               clo_error *err);
/* root (cols x cols) with root root' = the matrix, which is destroyed, after its eigenvalues, the
 * largest first, were changed by a function (NULL: none); those below 0 count as 0. */
typedef void clo_density_reshape(void *user, double *values, size_t cols);
CLO_CHECK clo_status clo_i_density_root(clo_workspace *space, double *matrix, size_t cols,
                                        clo_density_reshape *reshape, void *user, double *root,
                                        clo_error *err);
CLO_CHECK clo_status clo_i_density_root_room(clo_workspace *space, size_t cols, clo_error *err);

/* ---- shapes of first points (density_shapes.c) ----------------------------------------------- */

/* The covariance (cols x cols) of the means of cells, by their shares of the records. */
void clo_i_density_covariance(const double *means, const double *shares, size_t count, size_t cols,
                              double *matrix);
/* Of its eigenvalues: less their noise, a double, of trace 1, and partly round. */
clo_density_reshape clo_i_density_shape_of_cells;
/* Of those of a Gram matrix: beyond the edge they are too large by what noise adds; the others
 * share what is left. */
typedef struct clo_density_edge {
    double noise; /* the largest eigenvalue that noise alone has */
    double trace; /* at least */
} clo_density_edge;
clo_density_reshape clo_i_density_shape_of_gram;

/* ---- centres (density_centers.c) ------------------------------------------------------------- */

typedef struct clo_density_solver {
    clo_rng *rng;
    int threads;
    size_t starts; /* the best of these is taken; 0: from the centres that are given */
    bool median;   /* k-median, not k-means */
} clo_density_solver;
/* k-means of the density, or k-median, until nothing moves.  Then sizes, in records, and mean
 * squared distances of each cluster; NULL: not. */
CLO_CHECK clo_status clo_i_density_centers(clo_density *density, const clo_density_solver *how,
                                           size_t clusters, double *centers, double *sizes,
                                           double *squares, clo_error *err);
/* The loss of k-means of the density with 1, 2, ..., count centres, none above the one before;
 * centers: room for count x cols. */
CLO_CHECK clo_status clo_i_density_find_curve(clo_density *density, clo_rng *rng, int threads,
                                              size_t count, double *centers, double *curve,
                                              clo_error *err);

/* How far noise may have moved each of these centres, which are of this density: a standard
 * deviation of the whole distance (density_doubt.c).  The space grows as it needs. */
CLO_CHECK clo_status clo_i_density_doubt(clo_density *density, clo_workspace *space,
                                         const clo_density_solver *how, size_t clusters,
                                         const double *centers, double *doubts, clo_error *err);

/* ---- how many (density_number.c) ------------------------------------------------------------- */

enum { CLO_DENSITY_BEYOND = 3 }; /* numbers of the curve beyond the most clusters */

typedef struct clo_density_choice {
    size_t most;     /* clusters */
    double explain;  /* share of the spread that the number explains; 0: what the curve says */
    double smallest; /* records that each cluster has at least */
} clo_density_choice;

/* Room is the caller's, for CLO_DENSITY_BEYOND more than the most. */
typedef struct clo_density_chosen {
    size_t clusters;
    size_t elbow;            /* where the curve bends; 1: nowhere */
    double *curve;           /* loss over that of one */
    double *centers;         /* of so many clusters */
    double *sizes, *squares; /* as clo_i_density_centers gives them */
} clo_density_chosen;

CLO_CHECK clo_status clo_i_density_number(clo_density *density, const clo_density_solver *how,
                                          const clo_density_choice *choice, clo_density_chosen *out,
                                          clo_error *err);

#endif
