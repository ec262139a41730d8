/*
 * kmeans_grid.c - k-means on noisy counts of the cells of a uniform grid (EUGkM of Su, Cao, Li,
 * Bertino and Jin 2016), for a few columns.
 *
 * One query asks how many records lie in each cell (kmeans_grid.T1).  The rest is post-processing:
 * ordinary weighted k-means on the middles of the cells.  There are up to three times as many as by
 * the authors' rule, (N epsilon / 10)^(2d / (d + 2)) for N records of d columns: the more cells,
 * the less a record is moved to the middle of its own, and the more noise is counted along.
 *
 * Most cells hold no record and noise alone, which clipping at 0 would turn into records all over
 * the ball.  So a cell counts only where its noisy count is above what noise reaches among so many
 * cells, a public threshold; or where the sum over it and the cells around it is: records have
 * neighbours, and noise has none.  Such a count is brought nearer to that of its neighbours, as far
 * as they are alike.  Cells that lie outside of the ball never count.
 */
#include "domain/domain.h"
#include "mechanism/common/centers_common.h"
#include "mechanism/common/forecast.h"
#include "parallel/parallel.h"
#include "solver/solver.h"
#include "query/cell_counts.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CLUSTERS, SIDE, PARAM_COUNT };
enum { MOST_SIDE = 65536 };

static const clo_param params[PARAM_COUNT] = {
    [CLUSTERS] = CLO_CENTERS_ROW_CLUSTERS,
    [SIDE] = { "side", CLO_PARAM_INT, 0, MOST_SIDE, 0, NULL,
               "cells along each column; 0: by the public number of rows and the budget" },
};

/* Than the authors take, who look at each cell by itself: three times as many cells where rows
 * times epsilon is 400, and fewer where there is more to see of each. */
static const double MOST_MORE = 3, LEAST_MORE = 1.4, FEW_RECORDS = 400, MORE_POWER = 0.2;
/* Of what the noise of one in so many sums would exceed. */
static const double AROUND = 0.8;

/* Of the prediction, as measured on real data.  In a few columns, on files that are not in
 * bench/bench_real.py: */
enum { FEW_COLUMNS = 3 };
static const double OF_A_WIDTH = 0.2;   /* how far a centre is off, of a cell's width … */
static const double OF_A_COUNT = 0.4;   /* … of the noise of a count, over the members … */
static const double UNEVENNESS = 0.008; /* … and however many cells and records there are */
/* In more of them, on those of bench_real.py: */
static const double COARSE = 0.85; /* of a cell's deviation, where cells are wide ... */
static const double FINE = 3.5;    /* ... and by how much less where they are narrow: a width */
static const double USUAL_SPREAD = 0.2; /* of a cluster's cells, as a share of the norm */
static const double THINNED = 0.035;    /* moved by the cells below the threshold, if all are ... */
static const double THIN = 30;          /* ... which is so where it is so many mean counts */
static const double UNEVEN = 0.022;     /* what an even grid misses of clusters that are not */

typedef struct grid_plan {
    size_t clusters, cells;
    double threshold; /* the least noisy count of a cell that counts */
} grid_plan;

/* Su et al., rule for the number of cells, times some more, as a number along each column. */
static size_t good_side(const clo_domain *domain, size_t clusters, double epsilon)
{
    const double d = (double)domain->cols;
    const double told = clo_i_guessed_rows(domain, clusters) * epsilon;
    const double more =
        fmin(fmax(MOST_MORE * pow(FEW_RECORDS / told, MORE_POWER), LEAST_MORE), MOST_MORE);
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

typedef struct state {
    double *counts;  /* cells */
    double *around;  /* cells: sums of the counts of a cell and of those around it */
    double *near;    /* cells: how many these are */
    double *centers; /* clusters x cols */
    double *sizes;   /* clusters */
} state;

static clo_status take_state(const grid_plan *plan, const clo_domain *domain, clo_workspace *space,
                             state *s, clo_error *err)
{
    const size_t k = plan->clusters;
    CLO_TRY(clo_i_take(space, plan->cells, sizeof *s->counts, &s->counts, err));
    CLO_TRY(clo_i_take(space, plan->cells, sizeof *s->around, &s->around, err));
    CLO_TRY(clo_i_take(space, plan->cells, sizeof *s->near, &s->near, err));
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
                          "a grid of %zu cells along each of %zu columns is too large: this method "
                          "counts at most %d cells; take another, or look at fewer columns",
                          side, domain->cols, (int)CLO_MAX_CELLS);
    CLO_TRY(plan_counts(draft, side, &line, err));
    plan->cells = line.groups;
    plan->threshold = noise_reach(&line, plan->cells);
    if (plan->clusters > plan->cells)
        return clo_i_fail(err, CLO_ARGUMENT, "clusters must be at most the number of cells, %zu",
                          plan->cells);
    CLO_TRY(take_state(plan, domain, draft->room, &unused, err));
    return clo_i_draft_add(draft, &line, err);
}

/* ---- neighbours ---------------------------------------------------------------------------- */

/* Of each cell, the sum over it and the two beside it along one column. */
static void add_beside(double *values, size_t cells, size_t side, size_t step)
{
    for (size_t first = 0; first < cells; first++) {
        if (first / step % side) continue; /* not the first cell of a row along this column */
        double before = 0;
        for (size_t i = 0; i < side; i++) {
            double *const here = values + first + i * step;
            const double own = *here;
            *here += before + (i + 1 < side ? here[step] : 0);
            before = own;
        }
    }
}

/* A cell outside of the ball is no neighbour. */
static void look_around(const grid_plan *plan, const clo_line *line, state *s)
{
    const size_t side = (size_t)clo_i_cell_counts_part(line).side;
    for (size_t c = 0; c < plan->cells; c++) {
        s->near[c] = s->counts[c] > -INFINITY;
        s->around[c] = s->near[c] > 0 ? s->counts[c] : 0;
    }
    for (size_t step = 1; step < plan->cells; step *= side) {
        add_beside(s->around, plan->cells, side, step);
        add_beside(s->near, plan->cells, side, step);
    }
}

/* Whether a cell and those around it hold more than noise. */
static bool stands_out(const grid_plan *plan, const clo_line *line, const state *s, size_t c)
{
    const double noise = line->noise * sqrt(s->near[c]);
    const double reach = AROUND * noise * sqrt(2 * log(fmax((double)plan->cells, 2)));
    return s->counts[c] > -INFINITY && s->around[c] >= reach;
}

/* The mean squared difference of a count to that of its neighbours, less what noise makes, as a
 * share of the square of the latter: over all cells that stand out. */
static double unlikeness(const grid_plan *plan, const clo_line *line, const state *s)
{
    double square = 0, all = 0;
    for (size_t c = 0; c < plan->cells; c++) {
        if (!stands_out(plan, line, s, c)) continue;
        const double mean = s->around[c] / s->near[c], off = s->counts[c] - mean;
        square += off * off - line->noise * line->noise * (1 - 1 / s->near[c]);
        all += mean * mean;
    }
    return all > 0 ? fmax(square / all, 0) : 0;
}

/* What a cell counts with; 0: not at all.  One that stands out with its neighbours counts with what
 * is known of it and of them; one that does by itself, or that is needed, with its noisy count. */
static double weight_of(const grid_plan *plan, const clo_line *line, const state *s, double unlike,
                        double threshold, size_t c)
{
    const double alone = s->counts[c] >= threshold ? fmax(s->counts[c], 1) : 0;
    if (!stands_out(plan, line, s, c)) return alone;
    const double mean = s->around[c] / s->near[c], spread = unlike * mean * mean;
    const double trust = spread / (spread + line->noise * line->noise);
    return fmax(mean + trust * (s->counts[c] - mean), alone > 0);
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
    const clo_cell_grid grid = clo_i_cell_counts_part(line);
    const double half = ldexp((double)grid.reach, -line->bits) / (double)grid.side;
    double square = 0;
    for (size_t j = 0; j < line->cols; j++) {
        const double near = fmax(fabs(center[j]) - half, 0);
        square += near * near;
    }
    return square > 1;
}

static int descending(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return (a < b) - (a > b);
}

static size_t count_weighed(const grid_plan *plan, const clo_line *line, const state *s,
                            double unlike, double threshold)
{
    size_t count = 0;
    for (size_t c = 0; c < plan->cells; c++)
        count += weight_of(plan, line, s, unlike, threshold, c) > 0;
    return count;
}

/* Lower than the plan's, where fewer cells than centres count.  Noisy counts alone decide. */
static clo_status lower_threshold(const grid_plan *plan, const double *counts, double *threshold,
                                  clo_error *err)
{
    double *sorted = NULL;
    CLO_TRY(clo_i_alloc(plan->cells, sizeof *sorted, &sorted, err));
    memcpy(sorted, counts, plan->cells * sizeof *sorted);
    qsort(sorted, plan->cells, sizeof *sorted, descending);
    *threshold = fmin(*threshold, sorted[plan->clusters - 1]);
    clo_i_free(sorted);
    return CLO_OK;
}

/* Cells outside of the ball have been given counts below all others. */
static clo_status weigh(const grid_plan *plan, const clo_line *line, const state *s, weighed *out,
                        clo_error *err)
{
    const size_t d = line->cols;
    const double unlike = unlikeness(plan, line, s);
    double threshold = plan->threshold;
    size_t kept = count_weighed(plan, line, s, unlike, threshold);
    if (kept < plan->clusters) {
        CLO_TRY(lower_threshold(plan, s->counts, &threshold, err));
        kept = count_weighed(plan, line, s, unlike, threshold);
    }
    CLO_TRY(clo_i_alloc(kept * d, sizeof *out->points, &out->points, err));
    CLO_TRY(clo_i_alloc(kept, sizeof *out->weights, &out->weights, err));
    CLO_TRY(clo_i_alloc(kept, sizeof *out->labels, &out->labels, err));
    for (size_t c = 0; c < plan->cells; c++) {
        const double weight = weight_of(plan, line, s, unlike, threshold, c);
        if (!(weight > 0)) continue;
        clo_i_cell_center(line, c, out->points + out->count * d);
        out->weights[out->count++] = weight;
    }
    return CLO_OK;
}

/* ---- the run ------------------------------------------------------------------------------- */

static clo_status solve(clo_context *context, size_t k, size_t d, const weighed *w, double *centers,
                        double *sizes, clo_error *err)
{
    clo_kmeans_options options = clo_i_kmeans_default(k);
    const clo_job job = { .rows = w->points,
                          .count = w->count,
                          .cols = d,
                          .rng = context->rng,
                          .threads = context->threads,
                          .progress = context->progress,
                          .user = context->user,
                          .progress_from = 1,
                          .progress_to = 1 };
    double cost;
    options.weights = w->weights;
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
    CLO_TRY(clo_i_ask_cell_counts(context, 0, data, s.counts, err));
    for (size_t c = 0; c < plan->cells; c++) {
        clo_i_cell_center(line, c, s.centers);
        if (outside_ball(line, s.centers)) s.counts[c] = -INFINITY;
    }
    look_around(plan, line, &s);
    clo_status status = weigh(plan, line, &s, &w, err);
    if (!status) status = solve(context, k, d, &w, s.centers, s.sizes, err);
    weighed_free(&w);
    if (status) return status;
    return clo_i_release_centers(domain, k, s.centers, s.sizes, out, err);
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

/* Nothing is found where a cluster's records are fewer than the threshold. */
static double predict(const void *plan_state, const clo_domain *domain, const clo_line *lines,
                      double rows)
{
    const grid_plan *const plan = plan_state;
    const clo_cell_grid grid = clo_i_cell_counts_part(&lines[0]);
    const double width = 2 * ldexp((double)grid.reach, -lines[0].bits) / (double)grid.side;
    const double members = rows / (double)plan->clusters;
    if (members < plan->threshold) return clo_i_center_forecast_worst();
    const double error =
        domain->cols <= FEW_COLUMNS
            ? hypot(hypot(OF_A_WIDTH * width, OF_A_COUNT * lines[0].noise / members), UNEVENNESS)
            : error_in_many_columns(plan, &lines[0], width, rows);
    return fmin(clo_i_center_forecast_worst(), error);
}

extern const clo_mechanism clo_i_mechanism_kmeans_grid;
const clo_mechanism clo_i_mechanism_kmeans_grid = {
    .family = "kmeans",
    .method = "grid",
    .summary = "k centres, by k-means on noisy counts of a uniform grid; for a few columns",
    .proof = "proofs/kmeans_grid.md",
    .guarantee = CLO_EXACT,
    .params = params,
    .param_count = PARAM_COUNT,
    .plan_size = sizeof(grid_plan),
    .plan = make_plan,
    .run = run,
    .predict = predict,
    .prediction = "root mean square distance of a released centre from the exact mean of its "
                  "cluster, as a share of the norm",
    .of_points = true,
    .hidden_from = clo_i_centers_hidden_from,
};
