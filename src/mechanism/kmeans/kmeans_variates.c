/*
 * kmeans_variates.c - k-means from seeds that are drawn as in k-means++ and put somewhere near the
 * records that they were drawn by: k-variates++ of Nock, Canyasse, Boreli and Nielsen (2016), made
 * private for all data (kmeans_variates.T1; kmeans_variates.T2 says why the printed form is not).
 *
 * The ball is divided into public cells.  Every cell has its variate, a draw about the mean of its
 * records: their noisy mean, from one Gaussian query for all cells.  Then k cells are drawn one
 * after the other, each in proportion to the squared distances of its records from the seeds so far
 * plus a floor, and the variate of a drawn cell is a seed.  Lloyd's rounds on noisy sums end it,
 * all of them paid for.  At a pure epsilon there are the draws alone, and a cell's variate is its
 * middle.
 */
#include "domain/domain.h"
#include "mechanism/common/centers_common.h"
#include "mechanism/common/forecast.h"
#include "ask/assign.h"
#include "query/cluster_sum.h"
#include "query/gaussian_sum.h"
#include "query/seed.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CLUSTERS, CELLS, ROUNDS, PARAM_COUNT };
enum { BY_BUDGET = -1, USUAL_ROUNDS = 6, FEWEST_CELLS_A_SEED = 4, MOST_PRESET_CELLS = 256 };
enum { MOST_CELL_NUMBERS = 1 << 22 }; /* where the number of cells is chosen here */
/* Of the budget; what is left is the rounds'. */
static const double CELL_SHARE = 0.15, SEED_SHARE = 0.35;
/* What the last round leaves of a centre that has not settled (clo_i_center_forecast). */
static const double UNSETTLED = 0.002;

static const clo_param params[PARAM_COUNT] = {
    [CLUSTERS] = CLO_CENTERS_ROW_CLUSTERS,
    [CELLS] = { "cells", CLO_PARAM_INT, 0, CLO_MAX_CLUSTERS, 0, NULL,
                "number of public cells that starting points are drawn from; 0: chosen from the "
                "public facts" },
    [ROUNDS] = { "rounds", CLO_PARAM_INT, BY_BUDGET, 100, BY_BUDGET, NULL,
                 "passes over the data after the start; -1: 6, or none without a delta" },
};

typedef struct variates_plan {
    size_t clusters, cells, cols;
    uint64_t rounds;
    bool pure; /* draws of seeds and nothing else */
} variates_plan;

enum { SEED_LINE, CELL_LINE, ROUND_LINE }; /* the order of the plan's lines */

/* ---- the plan ------------------------------------------------------------------------------ */

/* rho of a draw: epsilon^2/8 where it has bounded range, epsilon^2/2 where it is only pure; of a
 * Gaussian query mu^2/2 (accounting). */
static size_t list_events(const variates_plan *plan, const clo_domain *domain, clo_event *events)
{
    const bool replace = domain->relation == CLO_REPLACE;
    const double seeds = plan->pure          ? 1
                         : plan->rounds == 0 ? SEED_SHARE / (SEED_SHARE + CELL_SHARE)
                                             : SEED_SHARE;
    const double cells = plan->rounds == 0 ? 1 - seeds : CELL_SHARE;
    events[SEED_LINE] = (clo_event){
        .kind = replace ? CLO_EVENT_PURE : CLO_EVENT_EXPONENTIAL,
        .parameter = (replace ? 1 : 2) * sqrt(seeds / (double)plan->clusters),
        .count = plan->clusters,
    };
    if (plan->pure) return 1;
    events[CELL_LINE] =
        (clo_event){ .kind = CLO_EVENT_GAUSSIAN, .parameter = sqrt(cells), .count = 1 };
    if (plan->rounds == 0) return 2;
    events[ROUND_LINE] = (clo_event){ .kind = CLO_EVENT_GAUSSIAN,
                                      .parameter = sqrt((1 - seeds - cells) / (double)plan->rounds),
                                      .count = plan->rounds };
    return 3;
}

/* As many that the floors of all of them together weigh half of what one cluster does, half a
 * radius away: with more, the floor draws seeds where there are no records. */
static size_t good_cells(const variates_plan *plan, const clo_domain *domain, double epsilon)
{
    const double a_cluster = clo_i_guessed_rows(domain, plan->clusters) / (double)plan->clusters;
    const double balance = a_cluster / 8 * expm1(fmin(epsilon, 30)) / (double)domain->rows_per_unit;
    const double least = fmin((double)(FEWEST_CELLS_A_SEED * plan->clusters), CLO_MAX_CLUSTERS);
    /* A cell is as long as a record: in very many columns there is no room for more. */
    const double room = fmax((double)plan->clusters, MOST_CELL_NUMBERS / (double)plan->cols);
    return (size_t)fmin(fmax(least, fmin(balance, MOST_PRESET_CELLS)), room);
}

static clo_status add_lines(clo_draft *draft, const variates_plan *plan, const clo_event *events,
                            double factor, clo_error *err)
{
    clo_line line;
    CLO_TRY(clo_i_plan_seed(draft->domain, plan->cells, plan->clusters,
                            events[SEED_LINE].parameter * factor, plan->clusters,
                            "which cell the next starting point is in, one query per point", &line,
                            err));
    CLO_TRY(clo_i_draft_add(draft, &line, err));
    if (plan->pure) return CLO_OK;
    CLO_TRY(clo_i_plan_gaussian_sum(draft->domain, plan->cells,
                                    events[CELL_LINE].parameter * factor, 1,
                                    "sums and sizes of the cells", &line, err));
    CLO_TRY(clo_i_draft_add(draft, &line, err));
    if (plan->rounds == 0) return CLO_OK;
    CLO_TRY(clo_i_plan_gaussian_sum(
        draft->domain, plan->clusters, events[ROUND_LINE].parameter * factor, plan->rounds,
        "sums and sizes of the clusters, one query per round", &line, err));
    return clo_i_draft_add(draft, &line, err);
}

/* What a run works with. */
typedef struct state {
    double *centers, *sums; /* clusters x cols */
    double *sizes;          /* clusters */
    double *variates;       /* cells x cols */
    double *cell_sums;      /* cells x cols: what their noisy means are made of; and ... */
    double *cell_sizes;     /* ... cells; neither where the budget is pure */
    bool *taken;            /* cells */
} state;

static clo_status take_state(const variates_plan *plan, clo_workspace *space, state *s,
                             clo_error *err)
{
    const size_t k = plan->clusters, m = plan->cells, d = plan->cols, asked = plan->pure ? 0 : m;
    CLO_TRY(clo_i_take(space, k * d, sizeof *s->centers, &s->centers, err));
    CLO_TRY(clo_i_take(space, k * d, sizeof *s->sums, &s->sums, err));
    CLO_TRY(clo_i_take(space, k, sizeof *s->sizes, &s->sizes, err));
    CLO_TRY(clo_i_take(space, m * d, sizeof *s->variates, &s->variates, err));
    CLO_TRY(clo_i_take(space, asked * d, sizeof *s->cell_sums, &s->cell_sums, err));
    CLO_TRY(clo_i_take(space, asked, sizeof *s->cell_sizes, &s->cell_sizes, err));
    return clo_i_take(space, m, sizeof *s->taken, &s->taken, err);
}

static clo_status count_run(const variates_plan *plan, clo_workspace *room, clo_error *err)
{
    const size_t k = plan->clusters, m = plan->cells, d = plan->cols;
    state unused;
    CLO_TRY(take_state(plan, room, &unused, err));
    const size_t mark = clo_i_workspace_mark(room);
    CLO_TRY(clo_i_start_centers_room(room, m, d, err));
    CLO_TRY(clo_i_assign_room(room, CLO_ASSIGN_CENTERS, m, d, 0, err));
    for (size_t seeds = 1; seeds < k; seeds++)
        CLO_TRY(clo_i_center_round_room(room, seeds, d, err));
    clo_i_workspace_release(room, mark);
    return plan->rounds ? clo_i_center_round_room(room, k, d, err) : CLO_OK;
}

static clo_status make_plan(clo_draft *draft, void *plan_state, clo_error *err)
{
    const clo_domain *const domain = draft->domain;
    const double rounds = draft->values[ROUNDS];
    variates_plan plan = { .clusters = (size_t)draft->values[CLUSTERS],
                           .cells = (size_t)draft->values[CELLS],
                           .cols = domain->cols,
                           .pure = draft->budget.delta <= 0 };
    clo_event events[CLO_MAX_LINES];
    double factor;
    if (plan.pure && rounds > 0)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "rounds need Gaussian noise, so a delta above 0: give one, or leave "
                          "rounds out");
    plan.rounds = plan.pure ? 0 : rounds < 0 ? USUAL_ROUNDS : (uint64_t)rounds;
    const size_t count = list_events(&plan, domain, events);
    CLO_TRY(clo_calibrate(events, count, draft->budget, &factor, err));
    if (plan.cells == 0)
        plan.cells = good_cells(&plan, domain, events[SEED_LINE].parameter * factor);
    if (plan.cells < plan.clusters)
        return clo_i_fail(err, CLO_ARGUMENT, "cells must be at least as many as clusters, %zu",
                          plan.clusters);
    CLO_TRY(count_run(&plan, draft->room, err));
    memcpy(plan_state, &plan, sizeof plan);
    return add_lines(draft, &plan, events, factor, err);
}

/* ---- the run ------------------------------------------------------------------------------- */

/* The middles of the cells become their variates: moved toward the noisy mean of the cell, as far
 * as that can be trusted. */
static clo_status draw_variates(const variates_plan *plan, const clo_bounded *data,
                                clo_context *context, const clo_assign *rule, const state *s,
                                clo_error *err)
{
    const clo_line *const line = &context->meter->lines[CELL_LINE];
    const size_t d = plan->cols;
    CLO_TRY(
        clo_i_ask_gaussian_sum(context, CELL_LINE, data, rule, s->cell_sums, s->cell_sizes, err));
    for (size_t c = 0; c < plan->cells; c++)
        clo_i_move_center(line, d, s->cell_sums + c * d, s->cell_sizes[c], s->variates + c * d);
    return CLO_OK;
}

static clo_status draw_seeds(const variates_plan *plan, const clo_bounded *data,
                             clo_context *context, const clo_assign *rule, const state *s,
                             clo_error *err)
{
    const size_t d = plan->cols;
    const int bits = context->meter->lines[SEED_LINE].bits;
    for (size_t t = 0; t < plan->clusters; t++) {
        const size_t mark = clo_i_workspace_mark(context->workspace);
        clo_assign seeds;
        size_t chosen = 0;
        if (t > 0)
            CLO_TRY(clo_i_assign_centers(context->workspace, s->centers, t, d, bits, &seeds, err));
        CLO_TRY(clo_i_ask_seed(context, SEED_LINE, data, rule, t > 0 ? &seeds : NULL, s->taken,
                               &chosen, err));
        clo_i_workspace_release(context->workspace, mark);
        s->taken[chosen] = true;
        memcpy(s->centers + t * d, s->variates + chosen * d, d * sizeof *s->centers);
    }
    return CLO_OK;
}

/* By their first column, so that the number of a cell says something of where it is to whoever
 * listens to the answers, the audits among them. */
static int by_first_column(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static clo_status find_seeds(const variates_plan *plan, const clo_bounded *data,
                             clo_context *context, const state *s, clo_error *err)
{
    const size_t m = plan->cells, d = plan->cols;
    const int bits = context->meter->lines[SEED_LINE].bits;
    const size_t mark = clo_i_workspace_mark(context->workspace);
    clo_assign rule;
    CLO_TRY(clo_i_start_centers(context, m, d, s->variates, err));
    qsort(s->variates, m, d * sizeof *s->variates, by_first_column);
    CLO_TRY(clo_i_assign_centers(context->workspace, s->variates, m, d, bits, &rule, err));
    if (!plan->pure) CLO_TRY(draw_variates(plan, data, context, &rule, s, err));
    CLO_TRY(draw_seeds(plan, data, context, &rule, s, err));
    clo_i_workspace_release(context->workspace, mark);
    return CLO_OK;
}

static clo_status run(const void *plan_state, const clo_domain *domain, const clo_bounded *data,
                      clo_context *context, clo_release *out, clo_error *err)
{
    const variates_plan *const plan = plan_state;
    const size_t k = plan->clusters, d = plan->cols;
    clo_i_center_noise noise = { 0 }; /* of points that are drawn */
    state s;
    CLO_TRY(take_state(plan, context->workspace, &s, err));
    CLO_TRY(find_seeds(plan, data, context, &s, err));
    if (plan->rounds > 0) noise = clo_i_noise_of_sums(&context->meter->lines[ROUND_LINE]);
    for (uint64_t round = 0; round < plan->rounds; round++) {
        CLO_TRY(clo_i_center_round(context, ROUND_LINE, data, d, s.centers, s.sums, s.sizes, err));
        if (round + 2 < plan->rounds)
            CLO_TRY(clo_i_revive_centers(context, k, d, 2 * noise.size, s.centers, s.sizes, err));
    }
    return clo_i_release_centers(domain, noise, k, s.centers, plan->rounds > 0 ? s.sizes : NULL,
                                 out, err);
}

/* After rounds, what the noise of the last one does; without, how far cells are apart. */
static double predict(const void *plan_state, const clo_domain *domain, const clo_line *lines,
                      double rows)
{
    const variates_plan *const plan = plan_state;
    const double d = (double)domain->cols;
    if (plan->rounds == 0) return pow((double)plan->cells, -1 / d);
    const clo_line *const line = &lines[ROUND_LINE];
    const double noise =
        sqrt(d) * ldexp((double)line->scale, -line->bits) * (double)plan->clusters / rows;
    return clo_i_center_forecast(noise, plan->clusters, UNSETTLED);
}

extern const clo_mechanism clo_i_mechanism_kmeans_variates;
const clo_mechanism clo_i_mechanism_kmeans_variates = {
    .family = "kmeans",
    .method = "variates",
    .summary = "k centers, by starting points as in k-means++ and rounds of Lloyd's method",
    .proof = "proofs/kmeans_variates.md",
    .guarantee = CLO_EXACT,
    .is_research = true,
    .params = params,
    .param_count = PARAM_COUNT,
    .plan_size = sizeof(variates_plan),
    .plan = make_plan,
    .run = run,
    .predict = predict,
    .prediction = "typical (root mean square) distance of a released center from the exact mean "
                  "of its cluster, as a share of the norm",
    .of_points = true,
    .hidden_from = clo_i_centers_hidden_from,
};
