/*
 * local_internal.h - what kmeans/local and kmedian/local share: plan, run, and the steps of a run.
 * All of it is public or post-processing of answers; points are in unit-ball coordinates.
 */
#ifndef CLO_LOCAL_INTERNAL_H
#define CLO_LOCAL_INTERNAL_H

#include "plan/mechanism.h"
#include "query/local_sum.h"

enum {
    CLO_LOCAL_CLUSTERS,
    CLO_LOCAL_CHOOSE,
    CLO_LOCAL_CELLS,
    CLO_LOCAL_PASSES,
    CLO_LOCAL_ROUNDS,
    CLO_LOCAL_REDUCE,
    CLO_LOCAL_SHARE,
    CLO_LOCAL_PARAMS
};
extern const clo_param clo_i_local_params[CLO_LOCAL_PARAMS];

typedef struct clo_i_local_plan {
    bool median;             /* centres of least distances, not of least squares */
    size_t clusters;         /* at most */
    size_t cells;            /* at most: a run takes as many as its released number of rows feeds */
    uint64_t passes, rounds; /* asks for the cells, and then for the clusters */
    bool pure;               /* without a delta: Laplace noise, and all columns */
    size_t cols;             /* of the records */
    size_t frame;            /* directions kept for the cells; 0: all columns */
    bool pick;               /* at most so many: those that stand out of the Gram matrix's noise;
                                and the mean is looked for twice */
    size_t seen;             /* coordinates that the cells are made in: one of the two above */
    bool choose;             /* `clusters` is the most: their number is taken from the cells */
    uint64_t looks;          /* asks before the cells, but for the Gram matrix */
    size_t fewest;           /* cells that a run makes at least; 0: as few as ever */
    double whole;            /* deviation of a local sum that had the whole budget to itself */
} clo_i_local_plan;

CLO_CHECK clo_status clo_i_local_make_plan(clo_draft *draft, bool median, clo_i_local_plan *out,
                                           clo_error *err);
/* Whether cells count that noise may have made: with strong noise the sizes of true clusters may
 * not stand out of it, and a cluster without a centre costs more than a centre without a cluster.
 * Not where their number is to be chosen, which these would tell. */
static inline bool clo_i_local_keeps_poor(const clo_i_local_plan *plan)
{
    return plan->pick && !plan->choose;
}

/* The line of the cells; that of the rounds, where there are any, is the next. */
size_t clo_i_local_cells_line(const clo_i_local_plan *plan);
/* Centres, sizes and, where there are widths, radii; all by the noise of the last line that was
 * asked.  centers, in the ball, and widths, in radii of it, are taken over in place. */
CLO_CHECK clo_status clo_i_local_release(const clo_domain *domain, const clo_line *last, size_t k,
                                         double *centers, double *sizes, double *widths,
                                         clo_release *out, clo_error *err);
/* The losses of 1, 2, ... clusters over that of one. */
CLO_CHECK clo_status clo_i_local_release_curve(const clo_line *last, size_t k, const double *sizes,
                                               size_t tried, double *curve, clo_release *out,
                                               clo_error *err);
CLO_CHECK clo_status clo_i_local_run(const clo_i_local_plan *plan, const clo_domain *domain,
                                     const clo_bounded *data, clo_context *context,
                                     clo_release *out, clo_error *err);

/* Where the records are, from the first ask. */
typedef struct clo_i_local_start {
    double *mean;       /* cols: as it was answered */
    double *center;     /* cols: as far as noise lets one trust it */
    double variance;    /* of a coordinate of the mean */
    double doubt;       /* mean squared error of a coordinate of the centre */
    double rows;        /* noisy, at least 1 */
    double square;      /* mean squared distance of the records to the centre */
    double told;        /* clo_i_local_told of these rows */
    double *seen;       /* seen: the centre in the coordinates of the cells */
    double *spread;     /* frame: deviation of the records in each direction; NULL: no frame */
    double first;       /* width of the first cells */
    double seen_square; /* of square, what lies in the coordinates of the cells */
} clo_i_local_start;

CLO_CHECK clo_status clo_i_local_ask_start(clo_context *context, const clo_i_local_plan *plan,
                                           const clo_bounded *data, clo_i_local_start *start,
                                           clo_error *err);
CLO_CHECK clo_status clo_i_local_ask_start_room(const clo_i_local_plan *plan, clo_workspace *space,
                                                clo_error *err);

/* Cells and what is known of them; `used` of the plan's, the others take part in no step. */
typedef struct clo_i_local_cells {
    size_t used;
    double *places;         /* cells x seen: what the next ask is about */
    double *means;          /* cells x seen */
    double *sizes;          /* noisy */
    double *counted;        /* the same, but not below what noise alone would make */
    double *variances;      /* mean squared distance of a cell's records to its mean */
    double *deviations;     /* of a coordinate of a cell's mean */
    bool *strong;           /* whether its size is more than noise */
    double doubt;           /* of the place of a single cell: variance of a coordinate */
    double *middle;         /* seen: the mean of all */
    double *sums, *squares; /* cells x seen, cells: an answer */
    clo_local_view *views;
    /* Who else is told of each answer; NULL: nobody. */
    void (*listen)(void *user, const struct clo_i_local_cells *cells);
    void *listener;
} clo_i_local_cells;

/* Centres in all columns, `found` of them, and the variance of their coordinates. */
typedef struct clo_i_local_centers {
    size_t found;
    double *points;  /* clusters x cols */
    double *sizes;   /* clusters */
    double *known;   /* clusters: variance of a coordinate, in the frame where there is one */
    double *squares; /* clusters: mean squared distance of a cluster's records to its centre; of
                        medians the square of the mean distance, which records far away move less */
    double *sums, *lengths; /* clusters x cols, clusters: an answer */
    double *curve;          /* clusters: of the choice of their number */
    size_t tried;           /* so many of these */
    clo_local_view *views;
} clo_i_local_centers;

/* The cells that hold more than noise. */
typedef struct clo_i_local_reading {
    size_t count, cols;
    size_t cells, clusters;  /* the most that there may be of both: room is taken for these */
    const double *means;     /* count x cols */
    const double *sizes;     /* count, above 0 */
    const double *noise;     /* count: variance of a coordinate of a mean */
    const double *variances; /* count: mean squared distance of a cell's records to its mean */
} clo_i_local_reading;

/* The loss of 1, 2, ..., `most` clusters over that of one, as the cells tell it, and the number at
 * which it bends most; 1 where nothing stands out.  most: count at most. */
CLO_CHECK clo_status clo_i_local_choose(clo_context *context, const clo_i_local_reading *reading,
                                        size_t most, double *curve, clo_error *err);
CLO_CHECK clo_status clo_i_local_choose_room(clo_workspace *space, size_t cells, size_t cols,
                                             size_t most, clo_error *err);

CLO_CHECK clo_status clo_i_local_take_cells(const clo_i_local_plan *plan, clo_workspace *space,
                                            clo_i_local_cells *cells, clo_error *err);
CLO_CHECK clo_status clo_i_local_take_centers(const clo_i_local_plan *plan, clo_workspace *space,
                                              clo_i_local_centers *centers, clo_error *err);

/* Points one after the other, of `from` coordinates each: with `to` of them, in the same place.
 * What is added is 0; there must be room for it. */
void clo_i_local_restride(double *points, size_t count, size_t from, size_t to);
/* The passes over the cells; line: theirs, which may see more directions than the plan uses. */
CLO_CHECK clo_status clo_i_local_passes(clo_context *context, const clo_i_local_plan *plan,
                                        size_t line, const clo_bounded *data,
                                        const clo_i_local_start *start, clo_i_local_cells *cells,
                                        clo_error *err);
/* k-means, or k-median, on the cells: centres in their coordinates go to `found`, clusters x seen.
 */
CLO_CHECK clo_status clo_i_local_solve(clo_context *context, const clo_i_local_plan *plan,
                                       const clo_i_local_start *start,
                                       const clo_i_local_cells *cells, double *found,
                                       clo_i_local_centers *centers, clo_error *err);
CLO_CHECK clo_status clo_i_local_cells_room(const clo_i_local_plan *plan, clo_workspace *space,
                                            clo_error *err);
/* One round on the records themselves; frame: cols x frame, NULL: none. */
CLO_CHECK clo_status clo_i_local_round(clo_context *context, const clo_i_local_plan *plan,
                                       size_t line, const clo_bounded *data,
                                       const clo_i_local_start *start, const double *frame,
                                       clo_i_local_centers *centers, clo_error *err);
/* Whether a size that a round has told is more than noise. */
bool clo_i_local_stands_out(const clo_line *line, double size);
CLO_CHECK clo_status clo_i_local_round_room(const clo_i_local_plan *plan, clo_workspace *space,
                                            clo_error *err);

/* Points (count x cols) whose coordinates have these variances, brought nearer to `about` along
 * the directions that noise hides: the singular values of the matrix of points over their
 * deviations are shrunk as far as white noise asks.  room: the most points that there may be,
 * which is what the room is taken for. */
CLO_CHECK clo_status clo_i_local_shrink(clo_workspace *space, size_t room, double *points,
                                        size_t count, size_t cols, const double *variances,
                                        const double *about, clo_error *err);
CLO_CHECK clo_status clo_i_local_shrink_room(clo_workspace *space, size_t count, size_t cols,
                                             clo_error *err);

/* How far a mean of so many rows, with the whole budget, would stand above its noise. */
double clo_i_local_told(const clo_i_local_plan *plan, double rows);

/* Below this noise hides every cluster, and all asks go to one mean. */
#define CLO_LOCAL_HIDDEN 9.0

/* Progress of a run: from this step to the next. */
void clo_i_local_progress(clo_context *context, const clo_i_local_plan *plan, uint64_t step);

#endif
