/*
 * local_common.c - how a plan of kmeans/local or kmedian/local is laid out and runs: centres by
 * sums with noise at the width of each cluster.
 *
 * Noise scaled to the ball pays for a record that could be anywhere.  So the first ask finds where
 * the records are and how far they spread; passes over cells follow, each at the widths that the
 * one before has found; centres of the cells are free; and rounds with the clusters themselves, at
 * the width of each, finish.  Every ask is a local_sum, whose squared lengths tell the next widths
 * (kmeans_local.T1).  Where there are many columns, a noisy Gram matrix tells in which directions
 * to make cells.
 *
 * Where public numbers say that noise is strong, but not that it hides everything, cells pay in
 * very few directions: those are picked by what the Gram matrix shows beyond the edge of its noise,
 * which is free; and so that it does not show where noise has put the mean, the mean is looked for
 * twice.
 *
 * The number of cells follows the released number of rows.  Where even one mean with the whole
 * budget would be little better than its noise, there is one cell, and all asks go to one mean:
 * the release then holds one centre, which is all that can be told.
 */
#include "mechanism/common/local_internal.h"
#include "domain/domain.h"
#include "linalg/linalg.h"
#include "mechanism/common/centers_common.h"
#include "mechanism/common/frame.h"
#include "ask/assign.h"
#include "ask/lens.h"
#include "query/local_gram.h"
#include <math.h>
#include <string.h>

enum { BY_CHOICE = -1, MOST_KEPT = 1024, GRAM_COLUMNS = 4096, USUAL_CELLS = 128 };
enum { MOST_CELL_NUMBERS = 1 << 22 }; /* where cells are by choice */

static const double SHARE_CELLS = 0.7, SHARE_CELLS_WITH_FRAME = 0.4; /* of what is left */
/* What the Gram matrix is cut at, in root mean square distances: below most of them, so that it is
 * the records' directions that it tells; and the least that is left of their squares, which is 1
 * where all are cut. */
static const double GRAM_WIDTH = 0.75, LEAST_WHOLE = 0.25;
/* The first mean is to be this near, in radii; its share of the budget is between the two. */
static const double NEAR_ENOUGH = 0.07, LEAST_START = 0.01, MOST_START = 0.15;
/* Where a mean stands less than this above its noise, noise is strong, and more so for a cluster
 * the more of them there are: the run looks twice for the mean, and makes cells in the few
 * directions only that stand out of the noise of the Gram matrix.  Where the number of clusters is
 * to be chosen it must be stronger, as it must be in few columns: what is left out may be what a
 * cluster more is told by.  And with so many columns that most are left to the rounds, where no
 * more was measured. */
static const double STRONG_NOISE = 50, STRONG_A_CLUSTER = 2.5, STRONG_AT_MOST = 110;
static const double STRONG_TO_CHOOSE = 40, STRONG_A_COLUMN = 4, MOST_START_TWICE = 0.25;
/* Where it stands less than this above it for each cluster, one pass is all that there is budget
 * for. */
static const double ONE_PASS_A_CLUSTER = 2;
enum { COLUMNS_TO_PICK_FROM = 5, LEAST_PICKED = 2, PASSES_PICKED = 2 };

const clo_param clo_i_local_params[CLO_LOCAL_PARAMS] = {
    [CLO_LOCAL_CLUSTERS] = CLO_CENTERS_ROW_CLUSTERS,
    [CLO_LOCAL_CHOOSE] = { "choose", CLO_PARAM_CHOICE, 0, 1, 0, "given|elbow",
                           "given: find that many clusters; elbow: find at most that many, where "
                           "the curve of the loss bends" },
    [CLO_LOCAL_CELLS] = { "cells", CLO_PARAM_INT, 0, CLO_MAX_CLUSTERS, 0, NULL,
                          "the most cells to divide the data into; 0: chosen from the public "
                          "facts" },
    [CLO_LOCAL_PASSES] = { "passes", CLO_PARAM_INT, 0, 20, 0, NULL,
                           "passes over the cells, each with the widths of the pass before; 0: "
                           "chosen from the public facts" },
    [CLO_LOCAL_ROUNDS] = { "rounds", CLO_PARAM_INT, BY_CHOICE, 100, BY_CHOICE, NULL,
                           "rounds that refine the clusters in all columns; -1: chosen from the "
                           "public facts" },
    [CLO_LOCAL_REDUCE] = { "reduce", CLO_PARAM_INT, BY_CHOICE, MOST_KEPT, BY_CHOICE, NULL,
                           "number of directions to make cells in; 0: all columns; -1: chosen "
                           "from the public facts" },
    [CLO_LOCAL_SHARE] = { "share", CLO_PARAM_REAL, 0.01, 0.95, 0.2, NULL,
                          "share of the budget for choosing the directions" },
};

/* ---- the plan ---------------------------------------------------------------------------- */

double clo_i_local_told(const clo_i_local_plan *plan, double rows)
{
    return rows / (sqrt((double)plan->cols) * plan->whole);
}

/* k centres span k directions, and their cells want a few more: what the cells see is cheap, and
 * what they do not is left to the rounds. */
static size_t most_directions(size_t k)
{
    return k < 8 ? 16 : k < 22 ? 3 * k : k < 64 ? 64 : k;
}

/* Whether the cells do not see most of the columns. */
static bool is_far(size_t cols, size_t directions)
{
    return cols >= 5 * directions;
}

static size_t directions_that_pay(const clo_domain *domain, const clo_i_local_plan *plan,
                                  double noise)
{
    const double rows = clo_i_guessed_rows(domain, plan->clusters);
    const size_t d = plan->cols, r = most_directions(plan->clusters);
    if (plan->pick) return r < d ? r : d;
    return 2 * d >= 3 * r && r <= MOST_KEPT && noise * sqrt(2 * (double)d) < rows / 6 ? r : 0;
}

static clo_status add_frame(clo_draft *draft, double mu, clo_i_local_plan *plan, clo_error *err)
{
    const double wanted = draft->values[CLO_LOCAL_REDUCE];
    const size_t d = plan->cols;
    clo_line gram;
    if (wanted > 0 && plan->pure)
        return clo_i_fail(err, CLO_BUDGET,
                          "reduce needs Gaussian noise, so a delta above 0: give one, or set "
                          "reduce to 0");
    if (wanted > (double)d)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "reduce must be at most the number of columns, %zu, not %g", d, wanted);
    if (plan->pure || wanted == 0 || (wanted < 0 && d > GRAM_COLUMNS)) return CLO_OK;
    CLO_TRY(clo_i_plan_local_gram(draft->domain, mu * sqrt(draft->values[CLO_LOCAL_SHARE]), 1,
                                  "Gram matrix about the mean, to choose directions", &gram, err));
    plan->frame = wanted > 0
                      ? (size_t)wanted
                      : directions_that_pay(draft->domain, plan, clo_i_local_gram_deviation(&gram));
    if (plan->frame == 0) return CLO_OK;
    plan->seen = plan->frame;
    return clo_i_draft_add(draft, &gram, err);
}

/* Of a whole mu or epsilon, what one of `times` asks with this share of the budget has: losses of
 * Gaussian asks add by their squares. */
static double of_one(const clo_i_local_plan *plan, double whole, double share, uint64_t times)
{
    return whole * (plan->pure ? share / (double)times : sqrt(share / (double)times));
}

static clo_status plan_sums(const clo_i_local_plan *plan, const clo_domain *domain, size_t groups,
                            double parameter, uint64_t times, const char *label, clo_line *out,
                            clo_error *err)
{
    return clo_i_plan_local_sum(domain, groups, plan->pure ? CLO_EVENT_PURE : CLO_EVENT_GAUSSIAN,
                                parameter, times, label, out, err);
}

/* How far a mean stands above strong noise, at most. */
static double strong_noise(const clo_i_local_plan *plan)
{
    const double k = (double)plan->clusters, d = (double)plan->cols;
    if (plan->choose || is_far(plan->cols, most_directions(plan->clusters)))
        return fmin(STRONG_TO_CHOOSE, STRONG_A_COLUMN * d);
    return fmin(STRONG_NOISE + STRONG_A_CLUSTER * k, STRONG_AT_MOST);
}

/* Whether noise is so strong that a run picks its directions by what the Gram matrix shows of them:
 * in any other one a cell would get noise and little else.  Not by a guess of the rows: more of
 * them than guessed would want other shares. */
static bool picks_directions(const clo_draft *draft, const clo_i_local_plan *plan)
{
    const double told = clo_i_local_told(plan, (double)draft->domain->rows);
    if (plan->median || plan->pure || plan->clusters < 2 || draft->values[CLO_LOCAL_REDUCE] >= 0)
        return false;
    return plan->cols >= COLUMNS_TO_PICK_FROM && plan->cols <= GRAM_COLUMNS &&
           told >= CLO_LOCAL_HIDDEN && told < strong_noise(plan);
}

/* The first ask, or the first two, and the share of the budget that it takes: as much as finds a
 * mean that is near enough among the public number of rows, or a guess of it. */
static clo_status add_start(clo_draft *draft, double whole, clo_i_local_plan *plan, double *share,
                            clo_error *err)
{
    const double rows = clo_i_guessed_rows(draft->domain, plan->clusters);
    clo_line line;
    CLO_TRY(plan_sums(plan, draft->domain, 1, whole, 1, "", &line, err));
    plan->whole = clo_i_local_deviation(&line);
    const double off = sqrt((double)plan->cols) * plan->whole / (NEAR_ENOUGH * rows);
    plan->pick = picks_directions(draft, plan);
    const uint64_t looks = plan->looks = plan->pick ? 2 : 1;
    *share = fmin(fmax(plan->pure ? off : off * off, LEAST_START),
                  plan->pick ? MOST_START_TWICE : MOST_START);
    CLO_TRY(plan_sums(plan, draft->domain, 1, of_one(plan, whole, *share, looks), looks,
                      "mean, spread and number of the records", &line, err));
    return clo_i_draft_add(draft, &line, err);
}

/* Each pass makes the cells narrower; where noise leaves room for it, more of them pay. */
static uint64_t passes_that_pay(const clo_domain *domain, const clo_i_local_plan *plan)
{
    const double rows = clo_i_guessed_rows(domain, plan->clusters);
    const double told = clo_i_local_told(plan, rows);
    if (clo_i_local_keeps_poor(plan) && told < ONE_PASS_A_CLUSTER * (double)plan->clusters)
        return 1;
    if (plan->pick) return PASSES_PICKED;
    return told < 1500 ? 3 : told < 3000 ? 4 : 5;
}

/* A second round sets right what the cells have misplaced, where there is budget for it, and where
 * the cells have not seen most of the columns. */
static uint64_t rounds_that_pay(const clo_domain *domain, const clo_i_local_plan *plan, bool far)
{
    const double rows = clo_i_guessed_rows(domain, plan->clusters);
    return far || clo_i_local_told(plan, rows) >= 500 ? 2 : 1;
}

/* More cells than records tell nothing; and a cell is as long as a record, so that in very many
 * columns cells would take more memory than the data.  Both numbers are public. */
static size_t usual_cells(const clo_domain *domain, const clo_i_local_plan *plan)
{
    const size_t k = plan->clusters;
    size_t cells = k > USUAL_CELLS / 4 ? 4 * k : USUAL_CELLS;
    if (cells > CLO_MAX_CLUSTERS) cells = CLO_MAX_CLUSTERS;
    if (cells > MOST_CELL_NUMBERS / plan->seen) cells = MOST_CELL_NUMBERS / plan->seen;
    if (domain->rows && cells > domain->rows) cells = (size_t)domain->rows;
    return cells > k ? cells : k;
}

static clo_status add_cells(clo_draft *draft, double parameter, clo_i_local_plan *plan,
                            clo_error *err)
{
    const clo_domain through = clo_i_lens_domain(draft->domain, plan->seen);
    const clo_domain *const domain = plan->frame ? &through : draft->domain;
    clo_line line;
    if (plan->cells == 0) plan->cells = usual_cells(draft->domain, plan);
    CLO_TRY(plan_sums(plan, domain, plan->cells, parameter, plan->passes,
                      "local sums, squares and sizes of the cells, one query per pass", &line,
                      err));
    line.lens = plan->frame > 0;
    return clo_i_draft_add(draft, &line, err);
}

/* What a run works with. */
typedef struct state {
    clo_i_local_start start;
    clo_i_local_cells cells;
    clo_i_local_centers centers;
    double *frame; /* cols x frame; NULL: all columns are looked at */
    double *found; /* clusters x seen: the centres of the cells */
} state;

static clo_status take_state(const clo_i_local_plan *plan, clo_workspace *space, state *s,
                             clo_error *err)
{
    const size_t d = plan->cols, c = plan->seen;
    *s = (state){ .frame = NULL };
    CLO_TRY(clo_i_take(space, d, sizeof(double), &s->start.mean, err));
    CLO_TRY(clo_i_take(space, d, sizeof(double), &s->start.center, err));
    CLO_TRY(clo_i_take(space, c, sizeof(double), &s->start.seen, err));
    CLO_TRY(clo_i_local_take_cells(plan, space, &s->cells, err));
    CLO_TRY(clo_i_local_take_centers(plan, space, &s->centers, err));
    CLO_TRY(clo_i_take(space, plan->clusters * c, sizeof(double), &s->found, err));
    if (!plan->frame) return CLO_OK;
    CLO_TRY(clo_i_take(space, d * c, sizeof(double), &s->frame, err));
    return clo_i_take(space, c, sizeof(double), &s->start.spread, err);
}

/* The Gram matrix and what its eigenvectors take. */
typedef struct directions {
    double *gram;   /* cols x cols */
    double *values; /* frame */
    double *eigen;
} directions;

static clo_status take_directions(const clo_i_local_plan *plan, clo_workspace *space, directions *s,
                                  clo_error *err)
{
    const size_t d = plan->cols, r = plan->frame;
    CLO_TRY(clo_i_take(space, d * d, sizeof(double), &s->gram, err));
    CLO_TRY(clo_i_take(space, r, sizeof(double), &s->values, err));
    return clo_i_take(space, clo_i_eigen_scratch(d, r), sizeof(double), &s->eigen, err);
}

static clo_status count_run(const clo_i_local_plan *plan, clo_workspace *room, clo_error *err)
{
    state unused;
    directions none;
    CLO_TRY(take_state(plan, room, &unused, err));
    const size_t mark = clo_i_workspace_mark(room);
    CLO_TRY(clo_i_local_ask_start_room(plan, room, err));
    if (plan->frame) CLO_TRY(take_directions(plan, room, &none, err));
    clo_i_workspace_release(room, mark);
    CLO_TRY(clo_i_lens_room(room, plan->cols, plan->frame, 0, err));
    CLO_TRY(clo_i_local_cells_room(plan, room, err));
    CLO_TRY(clo_i_local_round_room(plan, room, err));
    return CLO_OK;
}

static clo_status add_rounds(clo_draft *draft, double whole, double share, clo_i_local_plan *plan,
                             clo_error *err)
{
    clo_line line;
    if (plan->rounds == 0) return CLO_OK;
    CLO_TRY(plan_sums(
        plan, draft->domain, plan->clusters, of_one(plan, whole, share, plan->rounds), plan->rounds,
        "local sums, squares and sizes of the clusters, one query per round", &line, err));
    return clo_i_draft_add(draft, &line, err);
}

clo_status clo_i_local_make_plan(clo_draft *draft, bool median, clo_i_local_plan *out,
                                 clo_error *err)
{
    const double *const values = draft->values;
    clo_i_local_plan plan = { .median = median,
                              .clusters = (size_t)values[CLO_LOCAL_CLUSTERS],
                              .cells = (size_t)values[CLO_LOCAL_CELLS],
                              .passes = (uint64_t)values[CLO_LOCAL_PASSES],
                              .choose = values[CLO_LOCAL_CHOOSE] == 1,
                              .pure = !(draft->budget.delta > 0),
                              .cols = draft->domain->cols,
                              .seen = draft->domain->cols };
    const clo_event once = { .kind = CLO_EVENT_GAUSSIAN, .parameter = 1, .count = 1 };
    double whole = draft->budget.epsilon, start; /* or a mu */
    if (!plan.pure) CLO_TRY(clo_calibrate(&once, 1, draft->budget, &whole, err));
    CLO_TRY(add_start(draft, whole, &plan, &start, err));
    CLO_TRY(add_frame(draft, whole, &plan, err));
    if (plan.passes == 0) plan.passes = passes_that_pay(draft->domain, &plan);
    const bool far = plan.frame && !plan.pick && is_far(plan.cols, plan.frame);
    const double left = (plan.frame ? 1 - values[CLO_LOCAL_SHARE] : 1) - start;
    if (!(left > 0.01))
        return clo_i_fail(err, CLO_ARGUMENT, "share must be at most %.3g here, not %g",
                          0.99 - start, values[CLO_LOCAL_SHARE]);
    plan.rounds = values[CLO_LOCAL_ROUNDS] >= 0 ? (uint64_t)values[CLO_LOCAL_ROUNDS]
                                                : rounds_that_pay(draft->domain, &plan, far);
    const double in_cells =
        !plan.rounds ? left : left * (far ? SHARE_CELLS_WITH_FRAME : SHARE_CELLS);
    CLO_TRY(add_cells(draft, of_one(&plan, whole, in_cells, plan.passes), &plan, err));
    CLO_TRY(add_rounds(draft, whole, left - in_cells, &plan, err));
    CLO_TRY(count_run(&plan, draft->room, err));
    *out = plan;
    return CLO_OK;
}

size_t clo_i_local_cells_line(const clo_i_local_plan *plan)
{
    return plan->frame ? 2 : 1;
}

/* ---- the run ----------------------------------------------------------------------------- */

void clo_i_local_progress(clo_context *context, const clo_i_local_plan *plan, uint64_t step)
{
    const uint64_t steps = plan->looks + plan->passes + plan->rounds + (plan->frame > 0);
    context->progress_from = (double)step / (double)steps;
    context->progress_to = (double)(step + 1) / (double)steps;
}

/* How many of the directions a run looks at: those that the matrix shows beyond the edge of its
 * noise, where they are picked at all. */
static size_t directions_to_use(const clo_i_local_plan *plan, const double *values, double edge)
{
    size_t count = LEAST_PICKED;
    if (!plan->pick) return plan->frame;
    while (count < plan->frame && values[count] > edge) count++;
    return count;
}

/* The directions in which the records differ most from their mean, and how far they do: of all of
 * their spread the share that the matrix has there, as it has cut what is longer than its width.
 * Those that are not used are nothing: then the lens shows nothing there. */
static clo_status find_frame(clo_context *context, const clo_i_local_plan *plan,
                             const clo_bounded *data, state *s, size_t *used, clo_error *err)
{
    const clo_line *const line = &context->meter->lines[1];
    const size_t d = plan->cols, r = plan->frame, mark = clo_i_workspace_mark(context->workspace);
    const double edge = clo_i_local_gram_deviation(line) * sqrt(2 * (double)d);
    const double rows = s->start.rows, width = GRAM_WIDTH * sqrt(s->start.square);
    double whole = 0, square = 0;
    directions found;
    CLO_TRY(take_directions(plan, context->workspace, &found, err));
    clo_status status =
        clo_i_ask_local_gram(context, 1, data, s->start.center, width, found.gram, err);
    for (size_t j = 0; !status && j < d; j++) whole += found.gram[j * d + j] / rows;
    if (!status)
        status = clo_i_eigen_top(found.gram, d, r, found.values, s->frame, found.eigen, err);
    const double spread = s->start.square / fmin(fmax(whole, LEAST_WHOLE), 1);
    *used = status ? 0 : directions_to_use(plan, found.values, edge);
    for (size_t j = 0; !status && j < d; j++)
        for (size_t i = *used; i < r; i++) s->frame[j * r + i] = 0;
    for (size_t i = 0; i < *used; i++) {
        const double energy = spread * fmax(found.values[i] - edge, 0.1 * edge) / rows;
        s->start.spread[i] = fmin(sqrt(energy), 1);
        square += s->start.spread[i] * s->start.spread[i];
    }
    clo_i_workspace_release(context->workspace, mark);
    s->start.seen_square = fmin(square, s->start.square);
    return status;
}

/* The centre as the lens shows it, and points that the cells have found back in all columns. */
static void fold_center(const clo_i_local_plan *plan, const double *frame, double scale,
                        clo_i_local_start *start)
{
    const size_t d = plan->cols, r = plan->frame;
    for (size_t i = 0; i < r; i++) {
        start->seen[i] = 0;
        for (size_t j = 0; j < d; j++) start->seen[i] += frame[j * r + i] * start->center[j];
        start->seen[i] *= scale;
    }
}

static void unfold_centers(const clo_i_local_plan *plan, double scale, state *s)
{
    const size_t d = plan->cols, r = plan->frame;
    for (size_t c = 0; c < s->centers.found; c++) {
        double *const point = s->centers.points + c * d;
        const double *const seen = s->found + c * r;
        for (size_t j = 0; j < d; j++) {
            point[j] = s->start.center[j];
            for (size_t i = 0; i < r; i++)
                point[j] += s->frame[j * r + i] * (seen[i] - s->start.seen[i]) / scale;
        }
        clo_i_pull_into_ball(point, d);
    }
}

static clo_status find_centers(clo_context *context, const clo_i_local_plan *plan,
                               const clo_bounded *data, state *s, clo_error *err)
{
    const size_t line = clo_i_local_cells_line(plan);
    const double grown = fmin(fmax(1.1 + 0.2 * log10(s->start.told / 27), 1.1), 1.8);
    s->start.first = grown * sqrt(s->start.seen_square);
    CLO_TRY(clo_i_local_passes(context, plan, line, data, &s->start, &s->cells, err));
    CLO_TRY(clo_i_local_solve(context, plan, &s->start, &s->cells, s->found, &s->centers, err));
    for (size_t c = 0; c < s->centers.found; c++)
        clo_i_pull_into_ball(s->found + c * plan->seen, plan->seen);
    return CLO_OK;
}

/* plan: from here on with the directions alone that the run uses. */
static clo_status find_centers_in_frame(clo_context *context, clo_i_local_plan *plan,
                                        const clo_bounded *data, state *s, clo_error *err)
{
    size_t used;
    clo_lens lens;
    clo_i_local_progress(context, plan, plan->looks);
    CLO_TRY(find_frame(context, plan, data, s, &used, err));
    CLO_TRY(clo_i_lens_make(context->workspace, s->frame, plan->cols, plan->frame, 0, &lens, err));
    clo_i_local_restride(s->frame, plan->cols, plan->frame, used);
    plan->frame = plan->seen = used;
    fold_center(plan, s->frame, lens.scale, &s->start);
    context->lens = &lens;
    const clo_status status = find_centers(context, plan, data, s, err);
    context->lens = NULL;
    if (!status) unfold_centers(plan, lens.scale, s);
    return status;
}

/* A centre that the last round has found without any record, noise or not, tells nothing, and is
 * left out; but for the largest.  (A small one is kept, even where its size may be noise: it costs
 * nothing, and where it is none the loss is less.) */
static void leave_out_empty(const clo_i_local_plan *plan, clo_i_local_centers *centers)
{
    const size_t d = plan->cols;
    size_t kept = 0, largest = 0;
    for (size_t c = 1; c < centers->found; c++)
        if (centers->sizes[c] > centers->sizes[largest]) largest = c;
    for (size_t c = 0; c < centers->found; c++) {
        if (c != largest && centers->sizes[c] <= 0) continue;
        memmove(centers->points + kept * d, centers->points + c * d, d * sizeof(double));
        centers->views[kept] = centers->views[c];
        centers->sizes[kept++] = centers->sizes[c];
    }
    centers->found = kept;
}

/* How many of the clusters can be told apart: all that are left, or, where some are kept that
 * noise may have made, those whose size stands out of the noise of the last round. */
static double told_apart(const clo_i_local_plan *plan, const clo_line *round,
                         const clo_i_local_centers *centers)
{
    size_t told = 0;
    if (!plan->rounds || !clo_i_local_keeps_poor(plan)) return (double)centers->found;
    for (size_t c = 0; c < centers->found; c++)
        told += clo_i_local_stands_out(round, centers->sizes[c]);
    return (double)(told ? told : 1);
}

clo_status clo_i_local_release(const clo_domain *domain, const clo_line *last, size_t k,
                               double *centers, double *sizes, double *widths, clo_release *out,
                               clo_error *err)
{
    const double radius = clo_i_domain_radius(domain), sum = clo_i_local_deviation(last);
    const clo_i_center_noise noise = { widths ? sum : 0, clo_i_local_size_deviation(last), widths };
    CLO_TRY(clo_i_release_centers(domain, noise, k, centers, sizes, out, err));
    if (!widths) return CLO_OK;
    for (size_t c = 0; c < k; c++) {
        const double width = radius * widths[c];
        widths[c] = clo_i_cut_digits(width, width * sum / fmax(sizes[c], 1), 0);
    }
    return clo_i_release_put(out, "radii", widths, 1, &k, err);
}

clo_status clo_i_local_release_curve(const clo_line *last, size_t k, const double *sizes,
                                     size_t tried, double *curve, clo_release *out, clo_error *err)
{
    double all = 0;
    for (size_t c = 0; c < k; c++) all += sizes[c];
    const double deviation = clo_i_local_size_deviation(last) / fmax(all, 1);
    for (size_t i = 0; i < tried; i++) curve[i] = clo_i_cut_digits(curve[i], deviation, 0);
    return clo_i_release_put(out, "curve", curve, 1, &tried, err);
}

/* And how many of the clusters that were asked for can be told apart. */
static clo_status release(const clo_i_local_plan *plan, const clo_domain *domain,
                          const clo_line *round, clo_i_local_centers *centers, clo_release *out,
                          clo_error *err)
{
    const size_t k = centers->found;
    const double told = told_apart(plan, round, centers);
    double *const widths = centers->lengths;
    for (size_t c = 0; c < k; c++) widths[c] = centers->views[c].width;
    CLO_TRY(clo_i_local_release(domain, round, k, centers->points, centers->sizes,
                                plan->rounds ? widths : NULL, out, err));
    if (centers->tried)
        CLO_TRY(clo_i_local_release_curve(round, k, centers->sizes, centers->tried, centers->curve,
                                          out, err));
    return clo_i_release_put(out, "distinct_clusters", &told, 1, (size_t[]){ 1 }, err);
}

clo_status clo_i_local_run(const clo_i_local_plan *whole, const clo_domain *domain,
                           const clo_bounded *data, clo_context *context, clo_release *out,
                           clo_error *err)
{
    const size_t line = clo_i_local_cells_line(whole);
    clo_i_local_plan used = *whole;
    const clo_i_local_plan *const plan = &used;
    state s;
    CLO_TRY(take_state(plan, context->workspace, &s, err));
    CLO_TRY(clo_i_local_ask_start(context, plan, data, &s.start, err));
    if (plan->frame) {
        CLO_TRY(find_centers_in_frame(context, &used, data, &s, err));
    } else {
        CLO_TRY(find_centers(context, plan, data, &s, err));
        memcpy(s.centers.points, s.found, s.centers.found * plan->cols * sizeof(double));
    }
    for (uint64_t round = 0; round < plan->rounds; round++) {
        clo_i_local_progress(context, plan, plan->looks + (plan->frame > 0) + plan->passes + round);
        CLO_TRY(
            clo_i_local_round(context, plan, line + 1, data, &s.start, s.frame, &s.centers, err));
    }
    if (plan->rounds) leave_out_empty(plan, &s.centers);
    return release(plan, domain, &context->meter->lines[line + (plan->rounds > 0)], &s.centers, out,
                   err);
}
