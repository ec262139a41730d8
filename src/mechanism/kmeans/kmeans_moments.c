/*
 * kmeans_moments.c - k centres from one noisy tensor of moments.
 *
 * One look at the data, then think: the tensor of third or fourth moments, of records with a
 * constant appended, is asked for once (kmeans_moments.T1), and all restarts of the fit are free,
 * because they are post-processing: no local minimum has to be paid for.  Where there are many
 * columns, a noisy Gram matrix first tells which directions to look at; a few of Lloyd's rounds
 * then move the centres to the means of their members, as far as the noise of a mean allows.  Which
 * of these, and with what share of the budget, is decided from public quantities.
 */
#include "mechanism/kmeans/center_moments.h"
#include "domain/domain.h"
#include "mechanism/common/centers_common.h"
#include "mechanism/common/frame.h"
#include "mechanism/common/forecast.h"
#include "parallel/parallel.h"
#include "query/gaussian_gram.h"
#include "query/gaussian_moment.h"
#include "query/gaussian_moment3.h"
#include "query/gaussian_sum.h"
#include "ask/lens.h"
#include <math.h>
#include <string.h>

enum { CLUSTERS, ORDER, ROUNDS, SHARE, REDUCE, STARTS, DOUBTS, PARAM_COUNT };
enum { MOST_CLUSTERS = 256, BY_CHOICE = -1 };

/* What the last round leaves of a centre that has not settled (clo_i_center_forecast). */
static const double UNSETTLED = 0.003;
static const double ONE_HEAP =
    0.05; /* how far it puts one centre of records that are no Gaussian */

static const clo_param params[PARAM_COUNT] = {
    [CLUSTERS] = { "clusters", CLO_PARAM_INT, 1, MOST_CLUSTERS, 8, NULL,
                   "how many centers to find" },
    [ORDER] = { "order", CLO_PARAM_CHOICE, 0, 2, 0, "auto|third|fourth",
                "order of the moments; auto: by the number of columns" },
    [ROUNDS] = { "rounds", CLO_PARAM_INT, BY_CHOICE, 10, BY_CHOICE, NULL,
                 "passes over the data that refine the first answer; -1: chosen from the public "
                 "facts" },
    [SHARE] = { "share", CLO_PARAM_REAL, 0, 0.95, 0, NULL,
                "share of the budget for the refining passes; 0: chosen from the public facts" },
    [REDUCE] = { "reduce", CLO_PARAM_INT, BY_CHOICE, CLO_MOMENT3_COLS - 1, BY_CHOICE, NULL,
                 "number of directions to keep before the tensor; 0: all; -1: chosen from the "
                 "public facts" },
    [STARTS] = { "starts", CLO_PARAM_INT, 0, 10000, 0, NULL,
                 "number of starts of the fit, which cost time but no budget; 0: chosen from the "
                 "public facts" },
    [DOUBTS] = { "doubts", CLO_PARAM_INT, 0, 1000, 6, NULL,
                 "number of simulated runs that the uncertainty is computed from; they cost time "
                 "but no budget" },
};

/* ---- the plan ---------------------------------------------------------------------------- */

static clo_i_center_plan settle(const clo_draft *draft)
{
    const double *const values = draft->values;
    clo_i_center_plan plan = { .cols = draft->domain->cols,
                               .clusters = (size_t)values[CLUSTERS],
                               .doubts = (size_t)values[DOUBTS],
                               .rounds = values[ROUNDS] > 0 ? (uint64_t)values[ROUNDS] : 0,
                               .share_rounds = values[SHARE],
                               .starts = (size_t)values[STARTS] };
    plan.rows = clo_i_guessed_rows(draft->domain, plan.clusters);
    plan.frame =
        values[REDUCE] >= 0 ? (size_t)values[REDUCE] : clo_i_center_frame(plan.cols, plan.clusters);
    plan.own = plan.frame ? plan.frame : plan.cols;
    plan.order =
        values[ORDER] > 0 ? 2 + (int)values[ORDER] : clo_i_center_order(plan.own, plan.clusters);
    plan.height = clo_i_center_height(plan.order);
    if (plan.starts == 0) plan.starts = clo_i_center_starts(&plan);
    return plan;
}

static clo_status check(const clo_draft *draft, const clo_i_center_plan *plan, clo_error *err)
{
    if (draft->budget.delta <= 0)
        return clo_i_fail(
            err, CLO_ARGUMENT,
            "kmeans/moments adds Gaussian noise, which needs a delta above 0: give one, or choose "
            "kmeans/local");
    if (plan->frame > plan->cols)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "reduce must be at most the number of columns, %zu, not %zu", plan->cols,
                          plan->frame);
    return CLO_OK; /* the queries say how many columns a tensor takes */
}

static clo_status plan_tensor(const clo_domain *seen, double mu, clo_i_center_plan *plan,
                              clo_line *line, clo_error *err)
{
    if (plan->order == 3) {
        CLO_TRY(clo_i_plan_gaussian_moment3(seen, plan->height, mu, 1,
                                            "third moments of the records", line, err));
        plan->tensor_noise = clo_i_moment3_noise(line);
    } else {
        CLO_TRY(
            clo_i_plan_gaussian_moment(seen, mu, 1, "fourth moments of the records", line, err));
        plan->tensor_noise = clo_i_moment_noise(line);
    }
    line->lens = true;
    return CLO_OK;
}

static clo_status add_lines(clo_draft *draft, double mu, clo_i_center_plan *plan, clo_error *err)
{
    const double share = 1 - plan->share_frame - plan->share_rounds;
    const clo_domain raised = clo_i_lens_domain(draft->domain, plan->own + 1);
    const clo_domain flat = clo_i_lens_domain(draft->domain, plan->own);
    clo_line line;
    if (plan->frame) {
        CLO_TRY(clo_i_plan_gaussian_gram(draft->domain, 1, mu * sqrt(plan->share_frame), 1,
                                         "Gram matrix of the records, to choose directions", &line,
                                         err));
        CLO_TRY(clo_i_draft_add(draft, &line, err));
    }
    CLO_TRY(plan_tensor(&raised, mu * sqrt(share), plan, &line, err));
    CLO_TRY(clo_i_draft_add(draft, &line, err));
    if (plan->rounds == 0) return CLO_OK;
    CLO_TRY(clo_i_plan_gaussian_sum(plan->frame ? &flat : draft->domain, plan->clusters,
                                    mu * sqrt(plan->share_rounds / (double)plan->rounds),
                                    plan->rounds,
                                    "sums and sizes of the clusters, one query per "
                                    "round",
                                    &line, err));
    line.lens = plan->frame > 0;
    return clo_i_draft_add(draft, &line, err);
}

static size_t tensor_size(const clo_i_center_plan *plan)
{
    return plan->order == 3 ? clo_i_moment3_size(plan->own + 1) : clo_i_moment_size(plan->own + 1);
}

/* What the answers have said so far. */
typedef struct state {
    double *frame;          /* cols x frame; NULL: the records themselves are looked at */
    double *moments;        /* the tensor's entries */
    clo_center_job job;     /* what was fitted */
    clo_center_model model; /* in the tensor's coordinates */
    double *centers;        /* clusters x own, in unit-ball coordinates */
    double *sizes;          /* clusters */
    double *variances;      /* clusters: of a coordinate of each centre, as far as it is known */
    double *sums;           /* clusters x own: the last round's answer */
    double scale;           /* of the lens with the frame alone */
    double *whole;          /* clusters x cols: the centres in all columns */
    double *moves;          /* clusters x own: how far each was moved in doubt */
    double *map[2];         /* cols, each: from the ball to the data's own units */
    double *uncertainty;    /* clusters */
} state;

static clo_status take_state(const clo_i_center_plan *plan, clo_workspace *space, state *s,
                             clo_error *err)
{
    const size_t k = plan->clusters, own = plan->own, d = plan->cols;
    if (plan->frame) CLO_TRY(clo_i_take(space, d * plan->frame, sizeof(double), &s->frame, err));
    CLO_TRY(clo_i_take(space, tensor_size(plan), sizeof(double), &s->moments, err));
    CLO_TRY(clo_i_take(space, k * own, sizeof(double), &s->model.centers, err));
    CLO_TRY(clo_i_take(space, k, sizeof(double), &s->model.weights, err));
    CLO_TRY(clo_i_take(space, k * own, sizeof(double), &s->centers, err));
    CLO_TRY(clo_i_take(space, k, sizeof(double), &s->sizes, err));
    CLO_TRY(clo_i_take(space, k, sizeof(double), &s->variances, err));
    CLO_TRY(clo_i_take(space, k * own, sizeof(double), &s->sums, err));
    CLO_TRY(clo_i_take(space, k * d, sizeof(double), &s->whole, err));
    CLO_TRY(clo_i_take(space, k * own, sizeof(double), &s->moves, err));
    CLO_TRY(clo_i_take(space, d, sizeof(double), &s->map[0], err));
    CLO_TRY(clo_i_take(space, d, sizeof(double), &s->map[1], err));
    return clo_i_take(space, k, sizeof(double), &s->uncertainty, err);
}

static clo_status count_run(const clo_i_center_plan *plan, clo_workspace *room, clo_error *err)
{
    const size_t d = plan->cols, frame = plan->frame;
    state unused;
    CLO_TRY(take_state(plan, room, &unused, err));
    if (frame) CLO_TRY(clo_i_find_frame_room(room, d, frame, err));
    CLO_TRY(clo_i_lens_room(room, d, frame, plan->height, err));
    CLO_TRY(clo_i_lens_room(room, d, frame, 0, err));
    return plan->rounds ? clo_i_center_round_room(room, plan->clusters, plan->own, err) : CLO_OK;
}

static clo_status make_plan(clo_draft *draft, void *plan_state, clo_error *err)
{
    clo_i_center_plan plan = settle(draft);
    const clo_event once = { .kind = CLO_EVENT_GAUSSIAN, .parameter = 1, .count = 1 };
    const double spread = draft->domain->relation == CLO_REPLACE ? sqrt(2) : 1;
    double mu;
    CLO_TRY(check(draft, &plan, err));
    CLO_TRY(clo_calibrate(&once, 1, draft->budget, &mu, err));
    plan.unit = spread * (double)draft->domain->rows_per_unit / mu;
    clo_i_center_choose(&plan, draft->values[ROUNDS] < 0, draft->values[SHARE] == 0);
    CLO_TRY(add_lines(draft, mu, &plan, err));
    memcpy(plan_state, &plan, sizeof plan);
    return count_run(&plan, draft->room, err);
}

/* ---- the run ----------------------------------------------------------------------------- */

static void show_progress(clo_context *context, const clo_i_center_plan *plan, uint64_t pass)
{
    const double passes = 1 + (double)plan->rounds + (plan->frame > 0);
    context->progress_from = (double)pass / passes;
    context->progress_to = (double)(pass + 1) / passes;
}

static clo_status fit(const clo_i_center_plan *plan, clo_context *context, const clo_lens *lens,
                      state *s, clo_error *err)
{
    const size_t k = plan->clusters, own = plan->own;
    s->job = (clo_center_job){ .order = plan->order,
                               .moments = s->moments,
                               .noise = plan->tensor_noise,
                               .cols = own + 1,
                               .constant = lens->constant,
                               .radius = lens->scale,
                               .clusters = k,
                               .starts = plan->starts,
                               .ask = clo_i_rng_next_ask(context->rng),
                               .rng = context->rng,
                               .threads = context->threads };
    CLO_TRY(clo_i_center_fit(&s->job, &s->model, err));
    for (size_t l = 0; l < k; l++) {
        for (size_t j = 0; j < own; j++)
            s->centers[l * own + j] = s->model.centers[l * own + j] / lens->scale;
        clo_i_pull_into_ball(s->centers + l * own, own);
        s->sizes[l] = s->model.weights[l];
        s->variances[l] = INFINITY;
    }
    return CLO_OK;
}

static clo_status look(const clo_i_center_plan *plan, const clo_bounded *data, clo_context *context,
                       state *s, clo_error *err)
{
    const size_t first = plan->frame > 0;
    clo_lens lens;
    CLO_TRY(clo_i_lens_make(context->workspace, s->frame, plan->cols, plan->frame, plan->height,
                            &lens, err));
    context->lens = &lens;
    show_progress(context, plan, first);
    clo_status status = plan->order == 3
                            ? clo_i_ask_gaussian_moment3(context, first, data, s->moments, err)
                            : clo_i_ask_gaussian_moment(context, first, data, s->moments, err);
    context->lens = NULL;
    return status ? status : fit(plan, context, &lens, s, err);
}

static clo_status refine(const clo_i_center_plan *plan, const clo_bounded *data,
                         clo_context *context, state *s, clo_error *err)
{
    const size_t first = 1 + (plan->frame > 0);
    clo_lens lens = { .scale = 1 };
    if (plan->frame)
        CLO_TRY(
            clo_i_lens_make(context->workspace, s->frame, plan->cols, plan->frame, 0, &lens, err));
    s->scale = lens.scale;
    context->lens = plan->frame ? &lens : NULL;
    clo_status status = CLO_OK;
    for (uint64_t round = 0; !status && round < plan->rounds; round++) {
        show_progress(context, plan, first + round);
        status = clo_i_center_refine_once(context, first, data, plan->own, s->centers, s->variances,
                                          s->sums, s->sizes, err);
    }
    context->lens = NULL;
    return status;
}

/* ---- the release ------------------------------------------------------------------------- */

/* The root mean square move of each centre, in the data's own units. */
static void measure(const clo_i_center_plan *plan, const double *frame, const double *scale,
                    const double *moves, double *out)
{
    const size_t d = plan->cols, own = plan->own;
    for (size_t l = 0; l < plan->clusters; l++) {
        double square = 0;
        for (size_t i = 0; i < own; i++) {
            double length = frame ? 0 : scale[i] * scale[i];
            for (size_t j = 0; frame && j < d; j++)
                length += scale[j] * frame[j * own + i] * scale[j] * frame[j * own + i];
            square += length * moves[l * own + i] * moves[l * own + i];
        }
        out[l] = clo_i_cut_digits(sqrt(square), sqrt(square), 0);
    }
}

static clo_status put_uncertainty(const clo_i_center_plan *plan, const clo_domain *domain,
                                  const clo_line *rounds, const state *s, clo_release *out,
                                  clo_error *err)
{
    CLO_TRY(
        clo_i_center_doubt(plan, &s->job, &s->model, rounds, s->centers, s->sizes, s->moves, err));
    clo_i_domain_map(domain, s->map[0], s->map[1]);
    measure(plan, s->frame, s->map[0], s->moves, s->uncertainty);
    return clo_i_release_put(out, "uncertainty", s->uncertainty, 1, (size_t[]){ plan->clusters },
                             err);
}

static clo_status run(const void *plan_state, const clo_domain *domain, const clo_bounded *data,
                      clo_context *context, clo_release *out, clo_error *err)
{
    const clo_i_center_plan *const plan = plan_state;
    const size_t k = plan->clusters, d = plan->cols, own = plan->own;
    const size_t line = 1 + (plan->frame > 0);
    const clo_line *const rounds = plan->rounds ? &context->meter->lines[line] : NULL;
    state s = { 0 };
    CLO_TRY(take_state(plan, context->workspace, &s, err));
    if (plan->frame) {
        show_progress(context, plan, 0);
        CLO_TRY(clo_i_find_frame(context, 0, data, d, plan->frame, s.frame, err));
    }
    CLO_TRY(look(plan, data, context, &s, err));
    CLO_TRY(refine(plan, data, context, &s, err));
    for (size_t l = 0; l < k; l++)
        if (plan->frame)
            clo_i_unfold_point(s.frame, d, own, s.scale, s.centers + l * own, s.whole + l * d);
        else
            memcpy(s.whole + l * d, s.centers + l * own, d * sizeof *s.whole);
    if (plan->doubts) CLO_TRY(put_uncertainty(plan, domain, rounds, &s, out, err));
    const clo_i_center_noise noise =
        plan->rounds ? clo_i_noise_of_sums(rounds)
                     : (clo_i_center_noise){ plan->tensor_noise, plan->tensor_noise, NULL };
    return clo_i_release_centers(domain, noise, k, s.whole, s.sizes, out, err);
}

static double predict(const void *plan_state, const clo_domain *domain, const clo_line *lines,
                      double rows)
{
    const clo_i_center_plan *const plan = plan_state;
    (void)domain;
    (void)lines;
    const double square = clo_i_center_error(plan, rows);
    if (!isfinite(square)) return NAN; /* the tensor cannot tell the clusters apart */
    const double error = clo_i_center_forecast(sqrt(square), plan->clusters, UNSETTLED);
    return plan->clusters > 1 ? error : hypot(error, ONE_HEAP);
}

extern const clo_mechanism clo_i_mechanism_kmeans_moments;
const clo_mechanism clo_i_mechanism_kmeans_moments = {
    .family = "kmeans",
    .method = "moments",
    .summary = "k centers, by one noisy tensor of moments and a few rounds of Lloyd's method",
    .proof = "proofs/kmeans_moments.md",
    .guarantee = CLO_EXACT,
    .is_research = true,
    .params = params,
    .param_count = PARAM_COUNT,
    .plan_size = sizeof(clo_i_center_plan),
    .plan = make_plan,
    .run = run,
    .predict = predict,
    .prediction = "typical (root mean square) distance of a released center from the exact mean "
                  "of its cluster, as a share of the norm",
    .of_points = true,
    .hidden_from = clo_i_centers_hidden_from,
};
