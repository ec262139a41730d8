/*
 * density_plan.c - what a method of the density asks: looks, one Gram matrix where cells about
 * random points would starve, cells, and rounds with the clusters.  Public numbers choose among the
 * ways; all noise, groups and times are fixed here.
 */
#include "mechanism/common/centers_common.h"
#include "mechanism/common/density_columns.h"
#include "query/local_gram.h"
#include "query/look.h"
#include <math.h>

enum { CLUSTERS, CHOOSE, EXPLAIN, SMALLEST, CELLS, ROUNDS, POINTS };
enum { MOST_TO_CHOOSE = 64 };
enum { MOST_ROUNDS = CLO_DENSITY_MOST_ROUNDS, MOST_POINTS = 100000 };

const clo_param clo_i_density_params[CLO_DENSITY_PARAMS] = {
    [CLUSTERS] = CLO_CENTERS_ROW_CLUSTERS,
    [CHOOSE] = { "choose", CLO_PARAM_CHOICE, 0, 1, 0, "given|elbow",
                 "given: find that many clusters; elbow: find at most that many, where the curve "
                 "of the loss bends" },
    [EXPLAIN] = { "explain", CLO_PARAM_REAL, 0, 1, 0, NULL,
                  "with clusters auto: the share of the spread that the clusters must explain; 0: "
                  "the bend of the curve decides" },
    [SMALLEST] = { "smallest", CLO_PARAM_REAL, 0, 1e12, 0, NULL,
                   "with clusters auto: the least number of records of a cluster" },
    [CELLS] = { "cells", CLO_PARAM_INT, 0, CLO_MAX_CLUSTERS, 0, NULL,
                "the most cells to divide the data into; 0: chosen from the public facts" },
    [ROUNDS] = { "rounds", CLO_PARAM_INT, 0, MOST_ROUNDS, 0, NULL,
                 "rounds that refine the clusters; 0: chosen from the public facts" },
    [POINTS] = { "points", CLO_PARAM_INT, 0, MOST_POINTS, 0, NULL,
                 "number of points of the density; 0: chosen from the public facts" },
};

/* ---- the plan -------------------------------------------------------------------------------- */

enum { LOOKS = 3, MEANS = 2, MEANS_IN_MANY = 3, LEAST_POINTS = 6000, LEAST_POINTS_OF_SHAPE = 4000 };
enum { POINTS_A_CELL = 8, FEWEST_CELLS = 4, USUAL_CELLS = 128, MANY_CELLS_A_CLUSTER = 4 };
/* Of a number that is to be chosen. */
enum { LIKELY = 8 };
/* What a way asks. */
static const struct {
    uint64_t passes, rounds;
    double cells;    /* share of what the looks and the Gram matrix leave */
    double strength; /* of the fit */
} ways[] = {
    [CLO_DENSITY_FED] = { 3, 6, 0.45, 3 },
    [CLO_DENSITY_HALF_FED] = { 2, 8, 0.3, 5 },
    [CLO_DENSITY_POORLY_FED] = { 1, 6, 0.3, 3 },
};
static const double CELLS_TO_CHOOSE = 0.6; /* where they tell how many clusters there are, too */
static const double GRAM = 0.1;            /* share of the budget */
/* A look's share is such that the first finds the mean so near, in radii. */
static const double NEAR = 0.05, LEAST_LOOK = 0.003, MOST_LOOK = 0.05;
static const double ROWS_A_CELL = 3, CELLS_A_CLUSTER = 1.5; /* the latter of a density */
/* Cells that the rows feed, a cluster, in passes of this share. */
static const double FED = 2.5, HALF_FED = 1, PASS = 0.15;
/* A mean of all records that stands less than this above its noise hides every cluster. */
const double clo_i_density_hidden = 8.1;

double clo_i_density_told(const clo_density_plan *plan, double rows)
{
    return rows / (sqrt((double)plan->cols) * plan->whole);
}

static clo_density_way way_of(const clo_density_plan *plan)
{
    const double fed = clo_i_density_told(plan, plan->rows) * sqrt(PASS) / ROWS_A_CELL;
    const double k = (double)plan->likely;
    if (clo_i_density_told(plan, plan->rows) < clo_i_density_hidden) return CLO_DENSITY_HIDDEN;
    return fed >= FED * k        ? CLO_DENSITY_FED
           : fed >= HALF_FED * k ? CLO_DENSITY_HALF_FED
                                 : CLO_DENSITY_POORLY_FED;
}

double clo_i_density_of_each(double whole, double share, uint64_t times)
{
    return whole * sqrt(share / (double)times);
}

static clo_status add_sums(clo_draft *draft, size_t groups, double mu, uint64_t times,
                           const char *label, clo_error *err)
{
    clo_line line;
    CLO_TRY(clo_i_plan_local_sum(draft->domain, groups, CLO_EVENT_GAUSSIAN, mu, times, label, &line,
                                 err));
    return clo_i_draft_add(draft, &line, err);
}

clo_status clo_i_density_add_looks(clo_draft *draft, double whole, double near,
                                   const clo_density_plan *plan, double *share, clo_error *err)
{
    clo_line line;
    CLO_TRY(clo_i_plan_look(draft->domain, whole, 1, "", &line, err));
    const double off = sqrt((double)plan->cols) * clo_i_look_deviation(&line) / (near * plan->rows);
    *share = (double)plan->looks * fmin(fmax(off * off, LEAST_LOOK), MOST_LOOK);
    CLO_TRY(clo_i_plan_look(
        draft->domain, clo_i_density_of_each(whole, *share, plan->looks), plan->looks,
        "center, radius and number of the records, from coarse to fine", &line, err));
    return clo_i_draft_add(draft, &line, err);
}

clo_status clo_i_density_add_gram(clo_draft *draft, double whole, double gram, double *share,
                                  clo_error *err)
{
    clo_line line;
    CLO_TRY(clo_i_plan_local_gram(draft->domain, clo_i_density_of_each(whole, gram, 1), 1,
                                  "Gram matrix about the center", &line, err));
    *share += gram;
    return clo_i_draft_add(draft, &line, err);
}

/* As many cells as the public rows feed, or room for as many as there may be. */
static clo_status count_cells(const clo_draft *draft, double mu, clo_density_plan *plan,
                              clo_error *err)
{
    const size_t k = plan->likely;
    const double most = fmax(USUAL_CELLS, (double)(MANY_CELLS_A_CLUSTER * k));
    const double least =
        plan->way == CLO_DENSITY_FED ? FEWEST_CELLS : ceil(CELLS_A_CLUSTER * (double)k);
    clo_line line;
    CLO_TRY(clo_i_plan_local_sum(draft->domain, 1, CLO_EVENT_GAUSSIAN, mu, 1, "", &line, err));
    const double noise = sqrt((double)plan->cols) * clo_i_local_deviation(&line);
    const double fed = plan->rows_known ? ceil(plan->rows / (ROWS_A_CELL * noise)) : most;
    const double cells = fmin(fmax(fed, least), most), given = (double)plan->cells;
    plan->cells = (size_t)fmin(given > 0 ? fmin(given, cells) : cells, CLO_MAX_CLUSTERS);
    return CLO_OK;
}

static clo_status add_cells_and_rounds(clo_draft *draft, double whole, double left,
                                       clo_density_plan *plan, clo_error *err)
{
    const double in_cells = left * (plan->choose ? CELLS_TO_CHOOSE : ways[plan->way].cells);
    const double mu = clo_i_density_of_each(whole, in_cells, plan->passes);
    CLO_TRY(count_cells(draft, mu, plan, err));
    CLO_TRY(add_sums(draft, plan->cells, mu, plan->passes,
                     "local sums, squares and sizes of the cells, one query per pass", err));
    return add_sums(draft, plan->clusters,
                    clo_i_density_of_each(whole, left - in_cells, plan->rounds), plan->rounds,
                    "local sums, squares and sizes of the clusters, one query per round", err);
}

static void count_points(clo_density_plan *plan)
{
    const size_t usual = plan->way == CLO_DENSITY_FED ? LEAST_POINTS : LEAST_POINTS_OF_SHAPE;
    const size_t groups = plan->cells > plan->clusters ? plan->cells : plan->clusters;
    const size_t wanted = plan->points;
    const size_t least = wanted ? groups : POINTS_A_CELL * groups;
    plan->points = wanted ? wanted : usual;
    if (plan->points < least) plan->points = least;
}

static clo_status check_choice(const clo_draft *draft, const char *family, clo_error *err)
{
    const double *const v = draft->values;
    if (v[CHOOSE] == 0 && (v[EXPLAIN] > 0 || v[SMALLEST] > 0))
        return clo_i_fail(err, CLO_ARGUMENT, "%s needs clusters auto: pass that, or leave it out",
                          v[EXPLAIN] > 0 ? "explain" : "smallest");
    if (v[CHOOSE] == 1 && v[CLUSTERS] > MOST_TO_CHOOSE)
        return clo_i_fail(err, CLO_UNSUPPORTED,
                          "%s/density chooses among at most %d clusters, not %g", family,
                          (int)MOST_TO_CHOOSE, v[CLUSTERS]);
    return CLO_OK;
}

/* In more than a few columns the density is made in a frame; but in all of them where there are
 * more clusters than were measured, their number is to be chosen, or they are medians. */
enum { GRAM_COLUMNS = 4096, MOST_IN_FRAME = 128 };

static bool in_frame(const clo_draft *draft, bool median)
{
    const double *const v = draft->values;
    return !median && draft->domain->cols > CLO_DENSITY_FEW_COLUMNS && v[CHOOSE] == 0 &&
           v[CLUSTERS] <= MOST_IN_FRAME;
}

static clo_status check_size(const clo_draft *draft, bool median, clo_error *err)
{
    const char *const family = median ? "kmedian" : "kmeans";
    const size_t most = in_frame(draft, median) ? GRAM_COLUMNS : CLO_DENSITY_COLUMNS;
    if (draft->domain->cols <= most) return CLO_OK;
    return clo_i_fail(err, CLO_UNSUPPORTED,
                      "%s/density takes at most %zu columns%s, not %zu: choose %s/local", family,
                      most,
                      median                                    ? ""
                      : draft->values[CHOOSE] == 1              ? " where it chooses the clusters"
                      : draft->values[CLUSTERS] > MOST_IN_FRAME ? " with more than 128 clusters"
                                                                : "",
                      draft->domain->cols, family);
}

static clo_status check(const clo_draft *draft, bool median, clo_error *err)
{
    const char *const family = median ? "kmedian" : "kmeans";
    CLO_TRY(check_choice(draft, family, err));
    if (!(draft->budget.delta > 0))
        return clo_i_fail(err, CLO_BUDGET,
                          "%s/density adds Gaussian noise, which needs a delta above 0: give "
                          "one, or choose %s/local",
                          family, family);
    return check_size(draft, median, err);
}

static clo_status count_run(const clo_density_plan *plan, clo_workspace *room, clo_error *err)
{
    clo_density_state unused;
    if (plan->frame) return clo_i_columns_room(plan, room, err);
    CLO_TRY(clo_i_density_take_state(plan, room, &unused, err));
    return clo_i_density_steps_room(plan, room, err);
}

static clo_status add_lines(clo_draft *draft, double whole, clo_density_plan *plan, clo_error *err)
{
    double share;
    if (plan->way == CLO_DENSITY_HIDDEN) {
        plan->passes = clo_i_density_is_wide(plan) ? MEANS_IN_MANY : MEANS;
        plan->cells = plan->points = 0;
        plan->rounds = 0;
        return add_sums(draft, 1, clo_i_density_of_each(whole, 1, plan->passes), plan->passes,
                        "local sums, squares and sizes of the clusters, one query per round", err);
    }
    if (in_frame(draft, plan->median)) return clo_i_columns_add_lines(draft, whole, plan, err);
    plan->looks = LOOKS;
    plan->passes = ways[plan->way].passes;
    if (!plan->rounds) plan->rounds = ways[plan->way].rounds;
    plan->strength = ways[plan->way].strength;
    CLO_TRY(clo_i_density_add_looks(draft, whole, NEAR, plan, &share, err));
    if (clo_i_density_has_gram(plan))
        CLO_TRY(clo_i_density_add_gram(draft, whole, GRAM, &share, err));
    CLO_TRY(add_cells_and_rounds(draft, whole, 1 - share, plan, err));
    count_points(plan);
    return CLO_OK;
}

clo_status clo_i_density_make_plan(clo_draft *draft, bool median, clo_density_plan *out,
                                   clo_error *err)
{
    const size_t clusters = (size_t)draft->values[CLUSTERS];
    const bool choose = draft->values[CHOOSE] == 1;
    clo_density_plan plan = { .median = median,
                              .clusters = clusters,
                              .likely = choose && clusters > LIKELY ? LIKELY : clusters,
                              .choose = choose,
                              .explain = draft->values[EXPLAIN],
                              .smallest = draft->values[SMALLEST],
                              .cols = draft->domain->cols,
                              .cells = (size_t)draft->values[CELLS],
                              .rounds = (uint64_t)draft->values[ROUNDS],
                              .points = (size_t)draft->values[POINTS],
                              .rows_known = draft->domain->rows > 0 };
    const clo_event once = { .kind = CLO_EVENT_GAUSSIAN, .parameter = 1, .count = 1 };
    double whole;
    clo_line line;
    CLO_TRY(check(draft, median, err));
    CLO_TRY(clo_calibrate(&once, 1, draft->budget, &whole, err));
    CLO_TRY(clo_i_plan_local_sum(draft->domain, 1, CLO_EVENT_GAUSSIAN, whole, 1, "", &line, err));
    plan.rows = clo_i_guessed_rows(draft->domain, plan.clusters);
    plan.whole = clo_i_local_deviation(&line);
    plan.way = way_of(&plan);
    CLO_TRY(add_lines(draft, whole, &plan, err));
    CLO_TRY(count_run(&plan, draft->room, err));
    *out = plan;
    return CLO_OK;
}

/* ---- what to expect -------------------------------------------------------------------------- */

enum { MEASURED_COLUMNS = 12, MEASURED_CLUSTERS = 20 };

/* A number of clusters is to be chosen by this method wherever it serves: the local one finds none
 * at its limit, and one where there are many. */
static bool was_measured(const clo_density_plan *plan)
{
    if (plan->clusters == 1) return true; /* in 2 to 784 columns better than the local one */
    if (plan->frame) return clo_i_columns_pay(plan);
    /* One mean of three asks is better than that of others. */
    if (plan->way == CLO_DENSITY_HIDDEN && clo_i_density_is_wide(plan)) return true;
    return plan->choose || (plan->cols <= MEASURED_COLUMNS && plan->clusters <= MEASURED_CLUSTERS);
}

clo_density_outlook clo_i_density_outlook(const clo_density_plan *plan, double rows)
{
    /* Of a number that is chosen, as many as were measured. */
    const bool most = plan->choose && plan->clusters > MEASURED_CLUSTERS;
    const size_t clusters = most ? MEASURED_CLUSTERS : plan->clusters;
    const double told = clo_i_density_told(plan, rows);
    return (clo_density_outlook){ .measured = was_measured(plan),
                                  .hidden = plan->clusters > 1 && told < clo_i_density_hidden,
                                  .clusters = clusters,
                                  .noise = sqrt((double)plan->cols) * plan->whole *
                                           (double)clusters / rows };
}
