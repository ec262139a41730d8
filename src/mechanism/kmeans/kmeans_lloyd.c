/*
 * kmeans_lloyd.c - k-means by Lloyd's rounds on noisy sums and counts (SuLQ k-means).
 *
 * Each round asks one query: the sums and sizes of all clusters, whose members are decided by
 * the centres released in the round before (kmeans_lloyd.T1).  All else is post-processing: a
 * public start, a mean that is not trusted further than its noise allows, a pull back into the
 * ball.  A cluster without records gets noise like any other; nothing branches on it.  The noise is
 * Gaussian, or Laplace where the budget has no delta or so small a one that this errs less.
 *
 * Where there are many columns and the centres are nearly in a few directions, part of the budget
 * buys these directions first, and the rounds look at the records through them: the noise then
 * grows with the directions kept, and no longer with the columns.
 */
#include "domain/domain.h"
#include "mechanism/common/centers_common.h"
#include "mechanism/common/frame.h"
#include "mechanism/common/forecast.h"
#include "query/cluster_sum.h"
#include "query/gaussian_gram.h"
#include "query/gaussian_sum.h"
#include "ask/lens.h"
#include <math.h>
#include <string.h>

enum { CLUSTERS, ROUNDS, REDUCE, SHARE, NOISE, PARAM_COUNT };
enum { BY_CHOICE = -1, MOST_KEPT = 1024 };
/* What the last round leaves of a centre that has not settled (clo_i_center_forecast). */
static const double UNSETTLED = 0.0025;

static const clo_param params[PARAM_COUNT] = {
    [CLUSTERS] = CLO_CENTERS_ROW_CLUSTERS,
    [ROUNDS] = { "rounds", CLO_PARAM_INT, 1, 100, 5, NULL,
                 "passes over the data; they share the budget" },
    [REDUCE] = { "reduce", CLO_PARAM_INT, BY_CHOICE, MOST_KEPT, 0, NULL,
                 "number of directions to keep before the rounds; 0: all; -1: chosen from the "
                 "public facts" },
    [SHARE] = { "share", CLO_PARAM_REAL, 0.01, 0.95, 0.5, NULL,
                "share of the budget for choosing the directions" },
    [NOISE] = CLO_CENTERS_ROW_NOISE,
};

typedef struct lloyd_plan {
    size_t clusters;
    uint64_t rounds;
    size_t cols;     /* of the records */
    size_t frame;    /* directions kept; 0: the records themselves are looked at */
    size_t seen;     /* coordinates that the rounds see: one of the two above */
    double round_mu; /* of a round beside the choice of directions */
} lloyd_plan;

/* k centres span at most k directions.  Keeping these pays where the noise of a Gram matrix, whose
 * spectrum reaches to sqrt(2 d) of its standard deviation, would hide no direction of records that
 * fill half of the ball evenly in them. */
static size_t what_pays(const clo_domain *domain, size_t k, double noise)
{
    const double rows = clo_i_guessed_rows(domain, k);
    const double edge = noise * sqrt(2 * (double)domain->cols);
    return domain->cols > 2 * k && k <= MOST_KEPT && edge < rows / (4 * (double)k) ? k : 0;
}

/* The Gram matrix that the directions are taken from, and with it the number of them. */
static clo_status add_frame(clo_draft *draft, lloyd_plan *plan, clo_error *err)
{
    const clo_event once = { .kind = CLO_EVENT_GAUSSIAN, .parameter = 1, .count = 1 };
    const double wanted = draft->values[REDUCE];
    const bool pure = draft->values[NOISE] == CLO_SUM_LAPLACE || !(draft->budget.delta > 0);
    clo_line line;
    double mu;
    if (wanted > (double)plan->cols)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "reduce must be at most the number of columns, %zu, not %g", plan->cols,
                          wanted);
    if (wanted > 0 && pure)
        return clo_i_fail(err, CLO_BUDGET,
                          "reduce needs Gaussian noise, so a delta above 0 and noise other than "
                          "laplace: give them, or set reduce to 0");
    if (wanted == 0 || (wanted < 0 && (pure || plan->cols <= 2 * plan->clusters))) return CLO_OK;
    CLO_TRY(clo_calibrate(&once, 1, draft->budget, &mu, err));
    CLO_TRY(clo_i_plan_gaussian_gram(draft->domain, 1, mu * sqrt(draft->values[SHARE]), 1,
                                     "Gram matrix of the records, to choose directions", &line,
                                     err));
    plan->frame = wanted > 0 ? (size_t)wanted
                             : what_pays(draft->domain, plan->clusters,
                                         ldexp((double)line.scale, -2 * line.bits));
    if (plan->frame == 0) return CLO_OK;
    plan->seen = plan->frame;
    plan->round_mu = mu * sqrt((1 - draft->values[SHARE]) / (double)plan->rounds);
    return clo_i_draft_add(draft, &line, err);
}

/* The rounds: Gaussian beside the Gram matrix, otherwise with whatever noise errs less. */
static clo_status add_rounds(clo_draft *draft, const lloyd_plan *plan, clo_error *err)
{
    const char *const label = "sums and sizes of the clusters, one query per round";
    const clo_domain seen = clo_i_lens_domain(draft->domain, plan->seen);
    clo_line line;
    if (plan->frame)
        CLO_TRY(clo_i_plan_gaussian_sum(&seen, plan->clusters, plan->round_mu, plan->rounds, label,
                                        &line, err));
    else
        CLO_TRY(clo_i_plan_cluster_sum_within(draft->domain, plan->clusters,
                                              (clo_sum_noise)draft->values[NOISE], draft->budget,
                                              plan->rounds, label, &line, err));
    line.lens = plan->frame > 0;
    return clo_i_draft_add(draft, &line, err);
}

/* What a run keeps. */
typedef struct state {
    double *centers; /* clusters x cols */
    double *sizes;   /* clusters */
    double *sums;    /* clusters x seen */
    double *frame;   /* cols x frame, where directions are kept */
    double *seen;    /* clusters x seen: the centres in these directions; or in all */
} state;

static clo_status take_state(const lloyd_plan *plan, clo_workspace *space, state *s, clo_error *err)
{
    const size_t k = plan->clusters;
    CLO_TRY(clo_i_take(space, k * plan->cols, sizeof(double), &s->centers, err));
    CLO_TRY(clo_i_take(space, k, sizeof(double), &s->sizes, err));
    CLO_TRY(clo_i_take(space, k * plan->seen, sizeof(double), &s->sums, err));
    CLO_TRY(clo_i_take(space, plan->cols * plan->frame, sizeof(double), &s->frame, err));
    if (plan->frame) return clo_i_take(space, k * plan->frame, sizeof(double), &s->seen, err);
    s->seen = s->centers;
    return CLO_OK;
}

static clo_status count_run(const lloyd_plan *plan, clo_workspace *room, clo_error *err)
{
    const size_t k = plan->clusters, d = plan->cols;
    state unused;
    CLO_TRY(take_state(plan, room, &unused, err));
    if (plan->frame) CLO_TRY(clo_i_find_frame_room(room, d, plan->frame, err));
    CLO_TRY(clo_i_lens_room(room, d, plan->frame, 0, err));
    CLO_TRY(clo_i_start_centers_room(room, k, plan->seen, err));
    return clo_i_center_round_room(room, k, plan->seen, err);
}

static clo_status make_plan(clo_draft *draft, void *plan_state, clo_error *err)
{
    lloyd_plan plan = { .clusters = (size_t)draft->values[CLUSTERS],
                        .rounds = (uint64_t)draft->values[ROUNDS],
                        .cols = draft->domain->cols,
                        .seen = draft->domain->cols };
    CLO_TRY(add_frame(draft, &plan, err));
    CLO_TRY(add_rounds(draft, &plan, err));
    memcpy(plan_state, &plan, sizeof plan);
    return count_run(&plan, draft->room, err);
}

static size_t rounds_line(const lloyd_plan *plan)
{
    return plan->frame > 0;
}

/* ---- the run --------------------------------------------------------------------------- */

static void show_progress(clo_context *context, const lloyd_plan *plan, uint64_t pass)
{
    const double passes = (double)plan->rounds + (plan->frame > 0);
    context->progress_from = (double)pass / passes;
    context->progress_to = (double)(pass + 1) / passes;
}

/* The rounds, in the coordinates that they see. */
static clo_status search(const lloyd_plan *plan, const clo_bounded *data, clo_context *context,
                         const state *s, clo_error *err)
{
    const size_t k = plan->clusters, first = rounds_line(plan);
    const double weak = 2 * clo_i_line_count_deviation(&context->meter->lines[first]);
    CLO_TRY(clo_i_start_centers(context, k, plan->seen, s->seen, err));
    for (uint64_t round = 0; round < plan->rounds; round++) {
        show_progress(context, plan, first + round);
        CLO_TRY(
            clo_i_center_round(context, first, data, plan->seen, s->seen, s->sums, s->sizes, err));
        if (round + 2 < plan->rounds)
            CLO_TRY(clo_i_revive_centers(context, k, plan->seen, weak, s->seen, s->sizes, err));
    }
    return CLO_OK;
}

static clo_status search_in_frame(const lloyd_plan *plan, const clo_bounded *data,
                                  clo_context *context, const state *s, clo_error *err)
{
    const size_t d = plan->cols, r = plan->frame, k = plan->clusters;
    clo_lens lens;
    show_progress(context, plan, 0);
    CLO_TRY(clo_i_find_frame(context, 0, data, d, r, s->frame, err));
    CLO_TRY(clo_i_lens_make(context->workspace, s->frame, d, r, 0, &lens, err));
    context->lens = &lens;
    const clo_status status = search(plan, data, context, s, err);
    context->lens = NULL;
    for (size_t c = 0; !status && c < k; c++)
        clo_i_unfold_point(s->frame, d, r, lens.scale, s->seen + c * r, s->centers + c * d);
    return status;
}

static clo_status run(const void *plan_state, const clo_domain *domain, const clo_bounded *data,
                      clo_context *context, clo_release *out, clo_error *err)
{
    const lloyd_plan *const plan = plan_state;
    const clo_i_center_noise noise = clo_i_noise_of_sums(&context->meter->lines[rounds_line(plan)]);
    state s;
    CLO_TRY(take_state(plan, context->workspace, &s, err));
    if (plan->frame)
        CLO_TRY(search_in_frame(plan, data, context, &s, err));
    else
        CLO_TRY(search(plan, data, context, &s, err));
    return clo_i_release_centers(domain, noise, plan->clusters, s.centers, s.sizes, out, err);
}

/* With directions kept, the part of a centre that they miss is not counted: it depends on the
 * data's spectrum. */
static double predict(const void *plan_state, const clo_domain *domain, const clo_line *lines,
                      double rows)
{
    const lloyd_plan *const plan = plan_state;
    const clo_line *const line = &lines[rounds_line(plan)];
    (void)domain;
    const double noise =
        sqrt((double)plan->seen) * clo_i_line_deviation(line) * (double)plan->clusters / rows;
    return clo_i_center_forecast(noise, plan->clusters, UNSETTLED);
}

extern const clo_mechanism clo_i_mechanism_kmeans_lloyd;
const clo_mechanism clo_i_mechanism_kmeans_lloyd = {
    .family = "kmeans",
    .method = "lloyd",
    .summary = "k centers, by Lloyd's method on noisy sums and sizes",
    .proof = "proofs/kmeans_lloyd.md",
    .guarantee = CLO_EXACT,
    .is_research = true,
    .is_baseline = true,
    .params = params,
    .param_count = PARAM_COUNT,
    .plan_size = sizeof(lloyd_plan),
    .plan = make_plan,
    .run = run,
    .predict = predict,
    .prediction = "typical (root mean square) distance of a released center from the exact mean "
                  "of its cluster, as a share of the norm",
    .of_points = true,
    .hidden_from = clo_i_centers_hidden_from,
};
