/*
 * kmeans_grid.c - k-means on noisy counts of the cells of a uniform grid (EUGkM of Su, Cao, Li,
 * Bertino and Jin 2016), for a few columns.
 *
 * One query asks how many records lie in each cell (kmeans_grid.T1).  The rest is post-processing:
 * what each cell is thought to hold (grid_weights.c), and ordinary weighted k-means on points of
 * the cells.  There are more of them than by the authors' rule, (N epsilon / 10)^(2d / (d + 2)) for
 * N records of d columns: the more cells, the less a record is moved to the middle of its own, and
 * the more noise is counted along, of which neighbours tell a part.
 */
#include "domain/domain.h"
#include "mechanism/common/centers_common.h"
#include "mechanism/common/forecast.h"
#include "mechanism/common/local_internal.h"
#include "mechanism/common/solver_job.h"
#include "mechanism/kmeans/grid_internal.h"
#include "parallel/parallel.h"
#include "solver/solver.h"
#include "query/cell_counts.h"
#include <math.h>

enum { CLUSTERS, SIDE, PARAM_COUNT };
enum { MOST_SIDE = 65536, FEW_COLUMNS = 3 };

static const clo_param params[PARAM_COUNT] = {
    [CLUSTERS] = CLO_CENTERS_ROW_CLUSTERS,
    [SIDE] = { "side", CLO_PARAM_INT, 0, MOST_SIDE, 0, NULL,
               "cells along each column; 0: chosen from the public facts" },
};

/* Than the authors take, who look at each cell by itself: three times as many cells where rows
 * times epsilon is 400, and fewer where there is more to see of each. */
static const double MOST_MORE = 3, LEAST_MORE = 1.4, FEW_RECORDS = 400, MORE_POWER = 0.2;
/* Where there are fewer records, or more centres to be told apart, neighbours tell enough of a cell
 * for more of them: so many times the number of columns for four clusters. */
static const double MORE = 2, FEW_CLUSTERS = 4;
/* In three columns, where a cell has 26 neighbours to tell of it, each of both times this. */
static const double THREE_COLUMNS = 3;
/* But no more than this: among many clusters of few records noise is soon taken for one. */
static const double MOST_OF_MANY = 8, MOST_OF_ALL = 20, SHARED = 100;

/* Where there are so few cells, as many tries of k-means on them take no time. */
enum { FEW_CELLS = 1 << 14, MANY_TRIES = 30 };

/* Of the prediction, as measured on real data that are not in bench/bench_real.py.  In one column,
 * or of one cluster, of a cell's width, of the noise of a count over the members, and what is left
 * however many cells and records there are: */
static const double OF_A_WIDTH = 0.16, OF_A_COUNT = 0.12, UNEVENNESS = 0.004;
static const double CAUTIOUS = 0.45, FEWEST = 21; /* … more where there are fewer rows than so many
                                                    times the noise, as those were not measured */
/* In two and three columns, where the width of the cells follows the same numbers: a share of the
 * norm, by powers of that noise and of the number of clusters; of that noise itself, where members
 * are few; and what is left.  Fitted to 66 files of R's and centred on 66 others; in the number of
 * clusters it is steeper than their errors are, as kmeans/local, beside which it is weighed, misses
 * some of many clusters, which no error of a centre tells (bench/LABBOOK.md). */
static const struct {
    double scale, noise, clusters;
} FITTED[] = { [2] = { 0.2475, 0.397, -0.65 }, [3] = { 0.267, 0.448, -0.251 } };
static const double OF_MEMBERS = 0.2, LEFT = 0.002;
static const double HIDING = 0.225; /* that noise, over the members, from which on it hides them */
/* In more of them, on those of bench_real.py: */
static const double COARSE = 0.85; /* of a cell's deviation, where cells are wide ... */
static const double FINE = 3.5;    /* ... and by how much less where they are narrow: a width */
static const double USUAL_SPREAD = 0.2; /* of a cluster's cells, as a share of the norm */
static const double THINNED = 0.035;    /* moved by the cells below the threshold, if all are ... */
static const double THIN = 30;          /* ... which is so where it is so many mean counts */
static const double UNEVEN = 0.022;     /* what an even grid misses of clusters that are not */

/* Against one private mean with the same budget, which is what kmeans/local makes where noise hides
 * clusters (CLO_LOCAL_HIDDEN).  In four and five columns, on 14 files of R's with bounds of two
 * kinds: where a mean stands less than so many times above its noise the grid's loss was the lower
 * one in 31 of 31 settings, .32 times that of the mean; from there on it depends on where in the
 * bounds the records lie, which no public number tells, and was up to 1.5 times on another, and in
 * three columns up to 3 times.  In two columns it was at most 1.02 times, in 48 settings. */
enum { MEASURED_COLUMNS = 5 };
static const double MEAN_IN_NOISE = 5;
static const double JUST_BELOW = 0.99, JUST_ABOVE = 1.01;

typedef struct grid_plan {
    size_t clusters, cells;
    double threshold;  /* the least noisy count of a cell that counts */
    double mean_noise; /* of one mean with the whole budget: times the rows, in radii */
} grid_plan;

/* Su et al., rule for the number of cells, times some more, as a number along each column. */
static size_t good_side(const clo_domain *domain, size_t clusters, double epsilon)
{
    const double d = (double)domain->cols;
    const double told = clo_i_guessed_rows(domain, clusters) * epsilon;
    const double few = FEW_RECORDS / told;
    const double factor = domain->cols == 3 ? THREE_COLUMNS : 1;
    const double most = fmin(fmax(SHARED / (double)clusters, MOST_OF_MANY), MOST_OF_ALL);
    const double usual =
        fmin(fmax(factor * MOST_MORE * pow(few, MORE_POWER), LEAST_MORE), factor * MOST_MORE);
    const double finer =
        factor * MORE * fmin(d, FEW_COLUMNS) * few * sqrt((double)clusters / FEW_CLUSTERS);
    const double more = fmax(usual, fmin(finer, most));
    const double side = round(pow(more, 1 / d) * pow(fmax(told / 10, 1), 2 / (d + 2)));
    return side < 2 ? 2 : side > MOST_SIDE ? MOST_SIDE : (size_t)side;
}

/* What the noise of one in so many cells exceeds. */
static double noise_reach(const clo_line *line, size_t cells)
{
    const double log_cells = log(fmax((double)cells, 2));
    if (line->event.kind == CLO_EVENT_GAUSSIAN) return line->noise * sqrt(2 * log_cells);
    return log_cells * (double)line->rate_denominator / (double)line->rate_numerator;
}

/* Laplace noise at the pure epsilon, or Gaussian noise where there is a delta and it needs less. */
static clo_status plan_counts(clo_draft *draft, size_t side, clo_line *out, clo_error *err)
{
    static const char label[] = "counts of all cells of the grid";
    const clo_event pure = { .kind = CLO_EVENT_PURE, .parameter = 1, .count = 1 };
    const clo_event gaussian = { .kind = CLO_EVENT_GAUSSIAN, .parameter = 1, .count = 1 };
    clo_line other;
    clo_error unused;
    double epsilon, mu;
    const clo_loss no_delta = { draft->budget.epsilon, 0 };
    CLO_TRY(clo_calibrate(&pure, 1, no_delta, &epsilon, err));
    CLO_TRY(
        clo_i_plan_cell_counts(draft->domain, side, CLO_EVENT_PURE, epsilon, 1, label, out, err));
    if (draft->budget.delta <= 0) return CLO_OK;
    /* A budget too large or too small for Gaussian noise is no fault: there is the other. */
    clo_status status = clo_calibrate(&gaussian, 1, draft->budget, &mu, &unused);
    if (!status)
        status = clo_i_plan_cell_counts(draft->domain, side, CLO_EVENT_GAUSSIAN, mu, 1, label,
                                        &other, &unused);
    if (status == CLO_MEMORY) return clo_i_fail(err, status, "%s", unused.message);
    if (!status && other.noise < out->noise) *out = other;
    return CLO_OK;
}

/* Of the sum that kmeans/local would ask for with the whole budget. */
static clo_status find_mean_noise(const clo_draft *draft, double *out, clo_error *err)
{
    const clo_event gaussian = { .kind = CLO_EVENT_GAUSSIAN, .parameter = 1, .count = 1 };
    clo_line line;
    double mu = 0;
    bool pure = draft->budget.delta <= 0;
    if (!pure) {
        const clo_status status = clo_calibrate(&gaussian, 1, draft->budget, &mu, NULL);
        if (status == CLO_MEMORY) return clo_i_fail(err, status, "out of memory");
        pure = status != CLO_OK;
    }
    CLO_TRY(clo_i_plan_local_sum(draft->domain, 1, pure ? CLO_EVENT_PURE : CLO_EVENT_GAUSSIAN,
                                 pure ? draft->budget.epsilon : mu, 1, "", &line, err));
    *out = sqrt((double)draft->domain->cols) * clo_i_local_deviation(&line);
    return CLO_OK;
}

typedef struct state {
    clo_i_noisy_grid grid;
    double *centers; /* clusters x cols */
    double *sizes;   /* clusters */
} state;

static clo_status take_state(const grid_plan *plan, const clo_domain *domain, clo_workspace *space,
                             state *s, clo_error *err)
{
    const size_t k = plan->clusters;
    CLO_TRY(clo_i_grid_take(space, plan->cells, &s->grid, err));
    CLO_TRY(clo_i_take(space, k * domain->cols, sizeof *s->centers, &s->centers, err));
    return clo_i_take(space, k, sizeof *s->sizes, &s->sizes, err);
}

static clo_status make_plan(clo_draft *draft, void *plan_state, clo_error *err)
{
    grid_plan *const plan = plan_state;
    const clo_domain *const domain = draft->domain;
    size_t side = (size_t)draft->values[SIDE];
    state unused;
    clo_line line;
    plan->clusters = (size_t)draft->values[CLUSTERS];
    if (side == 0) side = good_side(domain, plan->clusters, draft->budget.epsilon);
    if (clo_i_grid_cells(side, domain->cols) == SIZE_MAX)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "a grid of %zu cells along each of %zu columns is too large, because "
                          "this method counts at most %d cells: choose another method or fewer "
                          "columns",
                          side, domain->cols, (int)CLO_MAX_CELLS);
    CLO_TRY(find_mean_noise(draft, &plan->mean_noise, err));
    CLO_TRY(plan_counts(draft, side, &line, err));
    plan->cells = line.groups;
    plan->threshold = noise_reach(&line, plan->cells);
    if (plan->clusters > plan->cells)
        return clo_i_fail(err, CLO_ARGUMENT, "clusters must be at most the number of cells, %zu",
                          plan->cells);
    CLO_TRY(take_state(plan, domain, draft->room, &unused, err));
    return clo_i_draft_add(draft, &line, err);
}

/* ---- the cells that count ------------------------------------------------------------------ */

/* The cells with their weights, as k-means takes them. */
typedef struct weighed {
    size_t count;
    double *points;   /* count x cols */
    double *weights;  /* count */
    uint32_t *labels; /* count */
} weighed;

static void weighed_free(weighed *w)
{
    clo_i_free(w->points);
    clo_i_free(w->weights);
    clo_i_free(w->labels);
}

/* A cell that the ball does not reach holds no record, and what it seems to hold is noise. */
static bool outside_ball(const clo_line *line, const double *center)
{
    const clo_cell_grid grid = clo_i_cell_counts_fields(line);
    const double half = ldexp((double)grid.reach, -line->bits) / (double)grid.side;
    double square = 0;
    for (size_t j = 0; j < line->cols; j++) {
        const double near = fmax(fabs(center[j]) - half, 0);
        square += near * near;
    }
    return square > 1;
}

static clo_status gather(const clo_line *line, const clo_i_noisy_grid *grid, weighed *out,
                         clo_error *err)
{
    const size_t d = line->cols;
    size_t kept = 0;
    for (size_t c = 0; c < grid->cells; c++) kept += grid->weights[c] > 0;
    CLO_TRY(clo_i_alloc(kept * d, sizeof *out->points, &out->points, err));
    CLO_TRY(clo_i_alloc(kept, sizeof *out->weights, &out->weights, err));
    CLO_TRY(clo_i_alloc(kept, sizeof *out->labels, &out->labels, err));
    for (size_t c = 0; c < grid->cells; c++) {
        if (!(grid->weights[c] > 0)) continue;
        clo_i_grid_point(line, grid, c, out->points + out->count * d);
        out->weights[out->count++] = grid->weights[c];
    }
    return CLO_OK;
}

/* ---- the run ------------------------------------------------------------------------------- */

static clo_status solve(clo_context *context, size_t k, size_t d, const weighed *w, double *centers,
                        double *sizes, clo_error *err)
{
    clo_kmeans_options options = clo_i_kmeans_default(k);
    const clo_solver_input job = clo_i_solver_job(context, w->points, w->count, d);
    double cost;
    options.weights = w->weights;
    if (w->count <= FEW_CELLS) options.restarts = MANY_TRIES;
    CLO_TRY(clo_i_kmeans(&job, &options, centers, w->labels, &cost, err));
    for (size_t i = 0; i < w->count; i++) sizes[w->labels[i]] += w->weights[i];
    for (size_t c = 0; c < k; c++) clo_i_pull_into_ball(centers + c * d, d);
    return CLO_OK;
}

static clo_status run(const void *plan_state, const clo_domain *domain, const clo_bounded *data,
                      clo_context *context, clo_release *out, clo_error *err)
{
    const grid_plan *const plan = plan_state;
    const clo_line *const line = &context->meter->lines[0];
    const size_t k = plan->clusters, d = domain->cols;
    weighed w = { .count = 0 };
    state s;
    CLO_TRY(take_state(plan, domain, context->workspace, &s, err));
    const uint64_t rows = domain->relation == CLO_REPLACE ? domain->rows : 0;
    CLO_TRY(clo_i_ask_cell_counts(context, 0, data, s.grid.counts, err));
    for (size_t c = 0; c < plan->cells; c++) {
        clo_i_cell_center(line, c, s.centers);
        if (outside_ball(line, s.centers)) s.grid.counts[c] = -INFINITY;
    }
    CLO_TRY(clo_i_grid_weigh(line, plan->threshold, rows, k, &s.grid, err));
    clo_status status = gather(line, &s.grid, &w, err);
    if (!status) status = solve(context, k, d, &w, s.centers, s.sizes, err);
    weighed_free(&w);
    if (status) return status;
    /* A record that noise adds to a cell moves the sum of its cluster by about a cell. */
    const clo_i_center_noise noise = {
        2 * line->noise / (double)clo_i_cell_counts_fields(line).side, line->noise, NULL
    };
    return clo_i_release_centers(domain, noise, k, s.centers, s.sizes, out, err);
}

/* Four errors.  That a grid is even, and clusters are not: one that is narrower than a cell, or a
 * heap of which most lies in a few cells, is not told apart (measured, as the others).  A record
 * is moved to the middle of its cell, which averages out over a cluster that spreads over many.
 * The noise of the cells that count.  What is lost below the threshold. */
static double error_in_many_columns(const grid_plan *plan, const clo_line *line, double width,
                                    double rows)
{
    const double members = rows / (double)plan->clusters, cells = (double)plan->cells;
    const double moved = width * sqrt((double)line->cols / 12) * fmin(COARSE, FINE * width);
    const double counted = fmin(cells / (double)plan->clusters, members / plan->threshold);
    const double noise = sqrt(counted) * line->noise * USUAL_SPREAD / members;
    const double lost = THINNED * fmin(1, plan->threshold * cells / rows / THIN);
    return hypot(hypot(moved, noise), hypot(lost, UNEVEN));
}

/* Where noise hides clusters from sums, the choice is between one mean and the grid: this keeps
 * auto from being worse than the mean. */
static double beside_one_mean(const grid_plan *plan, size_t cols, double rows, double error)
{
    const double told = rows / plan->mean_noise, hidden = clo_i_centers_hidden_from(NULL);
    if (plan->clusters == 1 || cols == 1 || told >= CLO_LOCAL_HIDDEN) return error;
    const bool better = cols == 2 || told < MEAN_IN_NOISE;
    if (better && cols <= MEASURED_COLUMNS) return fmin(error, JUST_BELOW * hidden);
    return fmax(error, JUST_ABOVE * hidden);
}

static double hidden_from(const clo_plan *plan)
{
    return JUST_BELOW * JUST_BELOW * clo_i_centers_hidden_from(plan);
}

static double error_by_width(const clo_line *line, double width, double share, double rows)
{
    const double of_a_count = rows < FEWEST * line->noise ? CAUTIOUS : OF_A_COUNT;
    const double told = hypot(OF_A_WIDTH * width, of_a_count * share);
    return hypot(sqrt((double)line->cols) * told, UNEVENNESS);
}

static double error_in_few_columns(const grid_plan *plan, const clo_line *line, double width,
                                   double rows)
{
    const double k = (double)plan->clusters, share = line->noise * k / rows;
    const size_t d = line->cols;
    if (d == 1 || plan->clusters == 1) return error_by_width(line, width, share, rows);
    const double usual = FITTED[d].scale * pow(share, FITTED[d].noise) * pow(k, FITTED[d].clusters);
    return hypot(hypot(usual, OF_MEMBERS * share), LEFT);
}

/* Nothing is found where a cluster's records are fewer than the threshold, and little where they
 * are but a few times the noise. */
static bool too_few(const grid_plan *plan, const clo_line *line, double rows)
{
    const double members = rows / (double)plan->clusters;
    const bool measured = plan->clusters > 1 && line->cols > 1 && line->cols <= FEW_COLUMNS;
    return members < plan->threshold || (measured && line->noise > HIDING * members);
}

static double predict(const void *plan_state, const clo_domain *domain, const clo_line *lines,
                      double rows)
{
    const grid_plan *const plan = plan_state;
    const clo_cell_grid grid = clo_i_cell_counts_fields(&lines[0]);
    const double width = 2 * ldexp((double)grid.reach, -lines[0].bits) / (double)grid.side;
    const bool many = domain->cols > FEW_COLUMNS;
    const double error = many ? error_in_many_columns(plan, &lines[0], width, rows)
                              : error_in_few_columns(plan, &lines[0], width, rows);
    const double worst = clo_i_center_forecast_worst();
    return beside_one_mean(plan, domain->cols, rows,
                           too_few(plan, &lines[0], rows) ? worst : fmin(worst, error));
}

extern const clo_mechanism clo_i_mechanism_kmeans_grid;
const clo_mechanism clo_i_mechanism_kmeans_grid = {
    .family = "kmeans",
    .method = "grid",
    .summary = "k centers, by k-means on noisy counts of a grid; for few columns",
    .proof = "proofs/kmeans_grid.md",
    .guarantee = CLO_EXACT,
    .params = params,
    .param_count = PARAM_COUNT,
    .plan_size = sizeof(grid_plan),
    .plan = make_plan,
    .run = run,
    .predict = predict,
    .prediction = "typical (root mean square) distance of a released center from the exact mean "
                  "of its cluster, as a share of the norm",
    .of_points = true,
    .hidden_from = hidden_from,
};
