/*
 * density_run.h - what kmeans/density and kmedian/density share: plan, run, and the steps of a run.
 * All of it is public or post-processing of answers; points are in unit-ball coordinates.
 */
#ifndef CLO_DENSITY_RUN_H
#define CLO_DENSITY_RUN_H

#include "density/density.h"
#include "mechanism/common/local_internal.h"
#include "plan/mechanism.h"

/* What the public number of rows can feed: cells about random points; cells of a density that a
 * Gram matrix tells first, in two passes or in one; or one mean alone. */
typedef enum clo_density_way {
    CLO_DENSITY_FED,
    CLO_DENSITY_HALF_FED,
    CLO_DENSITY_POORLY_FED,
    CLO_DENSITY_HIDDEN
} clo_density_way;

enum { CLO_DENSITY_PARAMS = 7 };
extern const clo_param clo_i_density_params[CLO_DENSITY_PARAMS];

typedef struct clo_density_plan {
    bool median; /* centres of least distances, not of least squares */
    clo_density_way way;
    size_t clusters, cols;
    size_t frame;         /* directions that the density is made in, at most; 0: in all columns */
    size_t likely;        /* clusters that the cells are made for */
    bool choose;          /* `clusters` is the most: their number is read from the density */
    double explain;       /* share of the spread that the chosen number explains; 0: a curve */
    double smallest;      /* records that each chosen cluster has at least */
    size_t cells, points; /* cells: at most */
    uint64_t looks, passes, rounds;
    double rows;     /* public, or a guess */
    bool rows_known; /* they are public */
    double whole;    /* deviation of a local sum that had the whole budget to itself */
    double strength; /* of the fit, a cell and a row */
} clo_density_plan;

CLO_CHECK clo_status clo_i_density_make_plan(clo_draft *draft, bool median, clo_density_plan *out,
                                             clo_error *err);
CLO_CHECK clo_status clo_i_density_run(const clo_density_plan *plan, const clo_domain *domain,
                                       const clo_bounded *data, clo_context *context,
                                       clo_release *out, clo_error *err);

/* Whether there are many columns, in which means are looked for in another way. */
enum { CLO_DENSITY_FEW_COLUMNS = 12 };
static inline bool clo_i_density_is_wide(const clo_density_plan *plan)
{
    return !plan->median && plan->cols > CLO_DENSITY_FEW_COLUMNS;
}

/* How far a mean of so many rows, with the whole budget, would stand above its noise; below the
 * bound noise hides every cluster. */
double clo_i_density_told(const clo_density_plan *plan, double rows);
extern const double clo_i_density_hidden;

/* What can be said of a run with so many rows before it. */
typedef struct clo_density_outlook {
    bool measured;   /* on data of such a shape */
    bool hidden;     /* noise hides every cluster */
    size_t clusters; /* to expect */
    double noise;    /* of the mean of such a cluster that had the whole budget to itself */
} clo_density_outlook;
clo_density_outlook clo_i_density_outlook(const clo_density_plan *plan, double rows);

/* Lines of a plan.  Where noise hides all clusters there is one, of local sums. */
static inline bool clo_i_density_has_gram(const clo_density_plan *plan)
{
    return plan->frame || plan->way == CLO_DENSITY_HALF_FED || plan->way == CLO_DENSITY_POORLY_FED;
}
static inline size_t clo_i_density_cells_line(const clo_density_plan *plan)
{
    return clo_i_density_has_gram(plan) ? 2 : 1;
}

/* Where the records are. */
typedef struct clo_density_start {
    double *center;      /* cols */
    double radius;       /* 70 % of the records are within 1.4 of it */
    double rows, doubt;  /* how many there are, and the variance of that number */
    double center_doubt; /* variance of a coordinate of the centre */
} clo_density_start;

/* Clusters, and what the next ask about them is told. */
typedef struct clo_density_groups {
    size_t used;     /* the others take part in no step */
    double *places;  /* most x cols */
    double *sizes;   /* in records */
    double *squares; /* mean squared distances */
    double *widths, *reaches;
    double *sums, *told_squares, *told_sizes; /* an answer */
    clo_local_view *views;
} clo_density_groups;

typedef struct clo_density_state {
    clo_density density;
    size_t clusters; /* that the released number of rows can tell: all, or one */
    clo_density_start start;
    clo_density_groups groups;
    clo_i_local_cells cells;     /* of random points; none in the other ways */
    double *seen;                /* cols: what they take for the centre */
    double *spread;              /* cols: deviation of the records in each; NULL: none is known */
    double *matrix, *root;       /* cols x cols */
    double *deviations, *shares; /* cells */
    double *curve;               /* clusters and a few beyond: loss over that of one */
    double elbow;                /* where it bends; 1: nowhere, 0: there is no curve */
} clo_density_state;

enum { CLO_DENSITY_MOST_ROUNDS = 12 };

CLO_CHECK clo_status clo_i_density_take_state(const clo_density_plan *plan, clo_workspace *space,
                                              clo_density_state *s, clo_error *err);
/* What the steps of a run take beyond the state, for a plan. */
CLO_CHECK clo_status clo_i_density_steps_room(const clo_density_plan *plan, clo_workspace *space,
                                              clo_error *err);
/* The plan of kmeans/local's cells that the fed way runs. */
clo_i_local_plan clo_i_density_local_plan(const clo_density_plan *plan);

/* Of a mu, what each of `times` asks with this share of the budget has. */
double clo_i_density_of_each(double whole, double share, uint64_t times);
/* The looks, and the share of the budget that they take together: as much as brings the first to
 * within `near` radii of the mean; and a Gram matrix, whose share is added. */
CLO_CHECK clo_status clo_i_density_add_looks(clo_draft *draft, double whole, double near,
                                             const clo_density_plan *plan, double *share,
                                             clo_error *err);
CLO_CHECK clo_status clo_i_density_add_gram(clo_draft *draft, double whole, double gram,
                                            double *share, clo_error *err);
CLO_CHECK clo_status clo_i_density_release(const clo_domain *domain, const clo_line *last,
                                           clo_density_groups *g, clo_release *out, clo_error *err);

void clo_i_density_progress(clo_context *context, const clo_density_plan *plan, uint64_t step);
/* Three looks: a centre, a radius, a number of records. */
CLO_CHECK clo_status clo_i_density_look(clo_context *context, const clo_density_plan *plan,
                                        const clo_bounded *data, clo_density_state *s,
                                        clo_error *err);
CLO_CHECK clo_status clo_i_density_look_room(const clo_density_plan *plan, clo_workspace *space,
                                             clo_error *err);
/* In many columns: cells that a run makes at least, if there is room for so many. */
size_t clo_i_columns_fewest_cells(const clo_density_plan *plan);
/* The points of the density, by cells about random points, or by a Gram matrix and cells of what it
 * tells; all answers so far are fitted. */
CLO_CHECK clo_status clo_i_density_find_cells(clo_context *context, const clo_density_plan *plan,
                                              const clo_bounded *data, clo_density_state *s,
                                              clo_error *err);
CLO_CHECK clo_status clo_i_density_find_shape(clo_context *context, const clo_density_plan *plan,
                                              const clo_bounded *data, clo_density_state *s,
                                              clo_error *err);
/* One ask about the first `used` groups, of which the density is told; line: that of so many
 * groups. */
CLO_CHECK clo_status clo_i_density_ask(clo_context *context, size_t line, const clo_bounded *data,
                                       clo_density_state *s, clo_error *err);
/* The fit to all answers, after an ask.  Where no weights of the points explain the last one, the
 * points are moved to where it says they are. */
CLO_CHECK clo_status clo_i_density_explain(clo_context *context, clo_density_state *s,
                                           clo_error *err);
/* Pull toward the base, with so many cells. */
void clo_i_density_set_strength(const clo_density_plan *plan, size_t cells, clo_density_state *s);
enum { CLO_DENSITY_STEPS = 24 }; /* of a fit; with 60 it is no better */
/* Centres, sizes and spreads of s->clusters clusters: k-means of the density, of several starts. */
CLO_CHECK clo_status clo_i_density_find_centers(clo_context *context, const clo_density_plan *plan,
                                                clo_density_state *s, clo_error *err);
/* The one mean, where noise hides all clusters. */
CLO_CHECK clo_status clo_i_density_one_mean(clo_context *context, const clo_density_plan *plan,
                                            const clo_bounded *data, clo_density_state *s,
                                            clo_error *err);
/* All answers that the density was told, into the release: every number of clusters can be read
 * from them (kmeans_density.T2). */
CLO_CHECK clo_status clo_i_density_release_answers(const clo_density *density, clo_release *out,
                                                   clo_error *err);

#endif
