/*
 * kmeans_tree.c - k-means on a private coreset: noisy means and sizes of more cells than there are
 * to be centres, ordinary k-means on these, and a round with the centres found.
 *
 * Cells outnumber the clusters, so that hardly any holds two of them unnoticed; between passes the
 * cells that hold nothing are used to split those that hold the most.  What is found then on the
 * noisy cells is free: k-means may start as often as it likes (kmeans_tree.T1).  Where there are
 * many columns, a noisy Gram matrix first tells in which directions to make cells, and how far the
 * records spread in each; the last round sees all columns again, and of what it says about the
 * others no more is believed than its noise allows (tree_refine.c).
 *
 * The well-known forms are settings of this one: `start=tree passes=1 rounds=0 reduce=0` is a tree
 * of random hyperplanes with noisy leaves and k-means on them, and nothing else.
 */
#include "mechanism/kmeans/tree_internal.h"
#include "domain/domain.h"
#include "mechanism/common/centers_common.h"
#include "mechanism/common/frame.h"
#include "mechanism/common/forecast.h"
#include "query/cluster_sum.h"
#include "query/count.h"
#include "query/gaussian_gram.h"
#include "ask/lens.h"
#include <math.h>
#include <string.h>

enum { CLUSTERS, CELLS, START, PASSES, ROUNDS, REDUCE, SHARE, PARAM_COUNT };
enum { BY_CHOICE = -1, MOST_KEPT = 1024, GRAM_COLUMNS = 4096 };

static const double SHARE_COUNT = 0.001; /* of the budget, where directions are chosen */
/* What a round leaves of a centre that has not settled (clo_i_center_forecast). */
static const double UNSETTLED = 0.0015;
static const double SHARE_ROUNDS = 0.5; /* of what is left, where there are rounds */

static const clo_param params[PARAM_COUNT] = {
    [CLUSTERS] = CLO_CENTERS_ROW_CLUSTERS,
    [CELLS] = { "cells", CLO_PARAM_INT, 0, CLO_MAX_CLUSTERS, 0, NULL,
                "number of cells; 0: chosen from the public facts" },
    [START] = { "start", CLO_PARAM_CHOICE, 0, 1, 0, "points|tree",
                "cells about random points, or leaves of a tree of hyperplanes" },
    [PASSES] = { "passes", CLO_PARAM_INT, 1, 20, 3, NULL,
                 "passes over the cells; between them the largest cells are split" },
    [ROUNDS] = { "rounds", CLO_PARAM_INT, 0, 100, 1, NULL,
                 "Lloyd's rounds on all columns, from the centers of the coreset" },
    [REDUCE] = { "reduce", CLO_PARAM_INT, BY_CHOICE, MOST_KEPT, BY_CHOICE, NULL,
                 "number of directions to make cells in; 0: all columns; -1: chosen from the "
                 "public facts" },
    [SHARE] = { "share", CLO_PARAM_REAL, 0.01, 0.95, 0.1, NULL,
                "share of the budget for choosing the directions" },
};

/* ---- what pays --------------------------------------------------------------------------- */

/* k centres span k directions, and their cells want a few more.  Keeping these pays where the noise
 * of the Gram matrix, whose spectrum reaches to sqrt(2 d) of its standard deviation, does not hide
 * even a direction that holds a quarter of all energy. */
static size_t directions_that_pay(const clo_domain *domain, size_t k, double noise)
{
    const double rows = clo_i_guessed_rows(domain, k);
    const size_t d = domain->cols, r = k < 8 ? 16 : k < 32 ? 2 * k : k < 64 ? 64 : k;
    return 2 * d >= 3 * r && r <= MOST_KEPT && noise * sqrt(2 * (double)d) < rows / 4 ? r : 0;
}

/* As many cells as keep the noise of a cell's mean well below the radius. */
static size_t cells_that_pay(const clo_domain *domain, size_t k, size_t seen, double noise)
{
    const double rows = clo_i_guessed_rows(domain, k), least = 1.5 * (double)k;
    const double most = fmin(fmax(128, 4 * (double)k), CLO_MAX_CLUSTERS);
    const double cells = rows / (8 * sqrt((double)seen) * noise);
    return (size_t)fmin(fmax(ceil(least), cells), most);
}

/* ---- the plan ---------------------------------------------------------------------------- */

/* The Gram matrix that the directions are taken from, the number of them, and that of the records,
 * to tell the spread by. */
static clo_status add_frame(clo_draft *draft, double mu, clo_i_tree_plan *plan, clo_error *err)
{
    const double wanted = draft->values[REDUCE];
    const size_t d = plan->cols;
    clo_line gram, count;
    if (wanted > 0 && plan->pure)
        return clo_i_fail(err, CLO_BUDGET,
                          "reduce needs Gaussian noise, so a delta above 0: give one, or set "
                          "reduce to 0");
    if (wanted > (double)d)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "reduce must be at most the number of columns, %zu, not %g", d, wanted);
    if (plan->pure || wanted == 0 || (wanted < 0 && d > GRAM_COLUMNS)) return CLO_OK;
    CLO_TRY(clo_i_plan_gaussian_gram(draft->domain, 1, mu * sqrt(draft->values[SHARE]), 1,
                                     "Gram matrix of the records, to choose directions", &gram,
                                     err));
    CLO_TRY(clo_i_plan_count(draft->domain, mu * sqrt(SHARE_COUNT), 1,
                             "number of records, to compute their spread", &count, err));
    plan->frame = wanted > 0 ? (size_t)wanted
                             : directions_that_pay(draft->domain, plan->clusters,
                                                   ldexp((double)gram.scale, -2 * gram.bits));
    if (plan->frame == 0) return CLO_OK;
    plan->seen = plan->frame;
    CLO_TRY(clo_i_draft_add(draft, &gram, err));
    return clo_i_draft_add(draft, &count, err);
}

/* Of a whole mu or epsilon, what one of `times` asks with this share of the budget has: losses of
 * Gaussian asks add by their squares. */
static double of_one(const clo_i_tree_plan *plan, double whole, double share, uint64_t times)
{
    return whole * (plan->pure ? share / (double)times : sqrt(share / (double)times));
}

static clo_status plan_sums(const clo_i_tree_plan *plan, const clo_domain *domain, size_t groups,
                            double parameter, uint64_t times, const char *label, clo_line *out,
                            clo_error *err)
{
    return clo_i_plan_cluster_sum(domain, groups, plan->pure ? CLO_EVENT_PURE : CLO_EVENT_GAUSSIAN,
                                  parameter, times, label, out, err);
}

/* The passes over the cells, and with their noise the number of cells.  parameter: of one ask. */
static clo_status add_cells(clo_draft *draft, double parameter, clo_i_tree_plan *plan,
                            clo_error *err)
{
    const char *const label = "sums and sizes of the cells, one query per pass";
    const clo_domain through = clo_i_lens_domain(draft->domain, plan->seen);
    const clo_domain *const domain = plan->frame ? &through : draft->domain;
    const size_t k = plan->clusters;
    clo_line line;
    if (plan->cells == 0) {
        CLO_TRY(plan_sums(plan, domain, 1, parameter, plan->passes, label, &line, err));
        plan->cells = cells_that_pay(draft->domain, k, plan->seen, clo_i_line_deviation(&line));
    }
    if (plan->tree) plan->cells = clo_i_tree_leaves(plan->cells < k ? k : plan->cells);
    while (plan->tree && plan->cells < k) plan->cells *= 2;
    if (plan->cells < k)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "cells must be 0 or at least the number of clusters, %zu, not %zu", k,
                          plan->cells);
    CLO_TRY(plan_sums(plan, domain, plan->cells, parameter, plan->passes, label, &line, err));
    line.lens = plan->frame > 0;
    return clo_i_draft_add(draft, &line, err);
}

/* What a run works with. */
typedef struct state {
    double *centers;          /* clusters x cols */
    double *sizes;            /* clusters */
    double *inside, *outside; /* clusters: variances of a coordinate, in the frame and out of it */
    double *cells, *sums;     /* cells x seen: the coreset */
    double *cell_sizes;       /* cells */
    double *frame;            /* cols x frame; NULL: all columns are looked at */
    double *spread;           /* frame; NULL: nothing is known of it */
    double *found;            /* clusters x seen: the centres of the coreset */
} state;

static clo_status take_state(const clo_i_tree_plan *plan, clo_workspace *space, state *s,
                             clo_error *err)
{
    const size_t k = plan->clusters, m = plan->cells, d = plan->cols, c = plan->seen;
    CLO_TRY(clo_i_take(space, k * d, sizeof(double), &s->centers, err));
    CLO_TRY(clo_i_take(space, k, sizeof(double), &s->sizes, err));
    CLO_TRY(clo_i_take(space, k, sizeof(double), &s->inside, err));
    CLO_TRY(clo_i_take(space, k, sizeof(double), &s->outside, err));
    CLO_TRY(clo_i_take(space, m * c, sizeof(double), &s->cells, err));
    CLO_TRY(clo_i_take(space, m * c, sizeof(double), &s->sums, err));
    CLO_TRY(clo_i_take(space, m, sizeof(double), &s->cell_sizes, err));
    s->frame = s->spread = NULL;
    s->found = s->centers;
    if (!plan->frame) return CLO_OK;
    CLO_TRY(clo_i_take(space, d * c, sizeof(double), &s->frame, err));
    CLO_TRY(clo_i_take(space, c, sizeof(double), &s->spread, err));
    return clo_i_take(space, k * c, sizeof(double), &s->found, err);
}

static clo_status count_run(const clo_i_tree_plan *plan, clo_workspace *room, clo_error *err)
{
    state unused;
    CLO_TRY(take_state(plan, room, &unused, err));
    if (plan->frame) CLO_TRY(clo_i_find_frame_room(room, plan->cols, plan->frame, err));
    CLO_TRY(clo_i_lens_room(room, plan->cols, plan->frame, 0, err));
    CLO_TRY(clo_i_tree_start_room(plan, room, err));
    CLO_TRY(clo_i_center_round_room(room, plan->cells, plan->seen, err));
    CLO_TRY(clo_i_tree_solve_room(plan, room, err));
    return plan->rounds ? clo_i_tree_refine_room(plan, room, err) : CLO_OK;
}

static clo_status make_plan(clo_draft *draft, void *plan_state, clo_error *err)
{
    const double *const values = draft->values;
    const size_t k = (size_t)values[CLUSTERS];
    clo_i_tree_plan plan = { .clusters = k,
                             .cells = (size_t)values[CELLS],
                             .passes = (uint64_t)values[PASSES],
                             .rounds = (uint64_t)values[ROUNDS],
                             .pure = !(draft->budget.delta > 0),
                             .tree = values[START] == 1,
                             .cols = draft->domain->cols,
                             .seen = draft->domain->cols };
    const clo_event once = { .kind = CLO_EVENT_GAUSSIAN, .parameter = 1, .count = 1 };
    clo_line line;
    double whole = draft->budget.epsilon; /* or a mu */
    if (!plan.pure) CLO_TRY(clo_calibrate(&once, 1, draft->budget, &whole, err));
    CLO_TRY(add_frame(draft, whole, &plan, err));
    const double left = plan.frame ? 1 - values[SHARE] - SHARE_COUNT : 1;
    const double in_rounds = plan.rounds ? SHARE_ROUNDS * left : 0;
    CLO_TRY(add_cells(draft, of_one(&plan, whole, left - in_rounds, plan.passes), &plan, err));
    CLO_TRY(count_run(&plan, draft->room, err));
    memcpy(plan_state, &plan, sizeof plan);
    if (plan.rounds == 0) return CLO_OK;
    CLO_TRY(plan_sums(&plan, draft->domain, k, of_one(&plan, whole, in_rounds, plan.rounds),
                      plan.rounds, "sums and sizes of the clusters, one query per round", &line,
                      err));
    return clo_i_draft_add(draft, &line, err);
}

static size_t cells_line(const clo_i_tree_plan *plan)
{
    return plan->frame ? 2 : 0;
}

/* ---- the run ----------------------------------------------------------------------------- */

static void show_progress(clo_context *context, const clo_i_tree_plan *plan, uint64_t pass)
{
    const double passes = (double)(plan->passes + plan->rounds) + (plan->frame > 0);
    context->progress_from = (double)pass / passes;
    context->progress_to = (double)(pass + 1) / passes;
}

/* The standard deviation of the records in each direction kept: what the noisy eigenvalues say,
 * less the edge of the noise, but never nothing. */
static clo_status find_spread(const clo_i_tree_plan *plan, const clo_bounded *data,
                              clo_context *context, double *frame, double *spread, clo_error *err)
{
    const clo_line *const line = &context->meter->lines[0];
    const double edge = ldexp((double)line->scale, -2 * line->bits) * sqrt(2 * (double)plan->cols);
    double rows;
    CLO_TRY(clo_i_find_spectrum(context, 0, data, plan->cols, plan->frame, frame, spread, err));
    CLO_TRY(clo_i_ask_count(context, 1, data, &rows, err));
    for (size_t i = 0; i < plan->frame; i++)
        spread[i] = fmin(sqrt(fmax(spread[i] - edge, 0.1 * edge) / fmax(rows, 1)), 1);
    return CLO_OK;
}

/* The coreset and its centres, in the coordinates that are seen. */
static clo_status make_coreset(const clo_i_tree_plan *plan, const clo_bounded *data,
                               clo_context *context, const state *s, clo_error *err)
{
    const size_t m = plan->cells, d = plan->seen, line = cells_line(plan);
    const double weak = 2 * clo_i_line_count_deviation(&context->meter->lines[line]);
    CLO_TRY(clo_i_tree_start(context, plan, s->spread, s->cells, err));
    for (uint64_t pass = 0; pass < plan->passes; pass++) {
        show_progress(context, plan, pass + (plan->frame > 0));
        if (pass) CLO_TRY(clo_i_revive_centers(context, m, d, weak, s->cells, s->cell_sizes, err));
        CLO_TRY(clo_i_center_round(context, line, data, d, s->cells, s->sums, s->cell_sizes, err));
    }
    return clo_i_tree_solve(context, plan, line, s->cells, s->cell_sizes, s->found, s->sizes,
                            s->inside, err);
}

/* The same through the directions that are worth it, and back to all columns. */
static clo_status make_reduced_coreset(const clo_i_tree_plan *plan, const clo_bounded *data,
                                       clo_context *context, const state *s, clo_error *err)
{
    const size_t d = plan->cols, r = plan->frame, k = plan->clusters;
    clo_lens lens;
    show_progress(context, plan, 0);
    CLO_TRY(find_spread(plan, data, context, s->frame, s->spread, err));
    CLO_TRY(clo_i_lens_make(context->workspace, s->frame, d, r, 0, &lens, err));
    context->lens = &lens;
    const clo_status status = make_coreset(plan, data, context, s, err);
    context->lens = NULL;
    for (size_t c = 0; !status && c < k; c++)
        clo_i_unfold_point(s->frame, d, r, lens.scale, s->found + c * r, s->centers + c * d);
    return status;
}

static clo_status run(const void *plan_state, const clo_domain *domain, const clo_bounded *data,
                      clo_context *context, clo_release *out, clo_error *err)
{
    const clo_i_tree_plan *const plan = plan_state;
    const size_t line = cells_line(plan) + 1;
    const clo_line *const last = &context->meter->lines[line - (plan->rounds == 0)];
    state s;
    CLO_TRY(take_state(plan, context->workspace, &s, err));
    CLO_TRY(plan->frame ? make_reduced_coreset(plan, data, context, &s, err)
                        : make_coreset(plan, data, context, &s, err));
    for (uint64_t round = 0; round < plan->rounds; round++) {
        show_progress(context, plan, (plan->frame > 0) + plan->passes + round);
        CLO_TRY(clo_i_tree_refine(context, plan, line, data, s.frame, s.centers, s.sizes, s.inside,
                                  s.outside, err));
    }
    return clo_i_release_centers(domain, clo_i_noise_of_sums(last), plan->clusters, s.centers,
                                 s.sizes, out, err);
}

/* Without a round, what the directions kept miss of a centre is not counted: it depends on the
 * data's spectrum. */
static double predict(const void *plan_state, const clo_domain *domain, const clo_line *lines,
                      double rows)
{
    const clo_i_tree_plan *const plan = plan_state;
    const clo_line *const line = &lines[cells_line(plan) + (plan->rounds > 0)];
    const double noise = clo_i_line_deviation(line), k = (double)plan->clusters;
    const double sums = plan->rounds ? 1 : (double)plan->cells / k; /* that a mean is made of */
    (void)domain;
    const double columns = (double)(plan->rounds ? plan->cols : plan->seen);
    return clo_i_center_forecast(sqrt(columns * sums) * noise * k / rows, plan->clusters,
                                 UNSETTLED);
}

extern const clo_mechanism clo_i_mechanism_kmeans_tree;
const clo_mechanism clo_i_mechanism_kmeans_tree = {
    .family = "kmeans",
    .method = "tree",
    .summary = "k centers, by k-means on noisy means and sizes of many cells",
    .proof = "proofs/kmeans_tree.md",
    .guarantee = CLO_EXACT,
    .is_research = true,
    .params = params,
    .param_count = PARAM_COUNT,
    .plan_size = sizeof(clo_i_tree_plan),
    .plan = make_plan,
    .run = run,
    .predict = predict,
    .prediction = "typical (root mean square) distance of a released center from the exact mean "
                  "of its cluster, as a share of the norm",
    .of_points = true,
    .hidden_from = clo_i_centers_hidden_from,
};
