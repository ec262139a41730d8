/*
 * subspaces_moments.c - k subspaces from one noisy tensor of fourth moments.
 *
 * One look at the data, then think: the tensor is asked for once (subspaces_moments.T1), and all
 * restarts of the fit are free, because they are post-processing.  Where there are many columns, a
 * noisy Gram matrix first tells which directions to look at.  Where the tensor can spare half of
 * the budget, a few passes sharpen the flats, with noise at the width of the residuals
 * (moments_sharpen.c); where it cannot, rounds of noisy Gram matrices of the clusters do, if they
 * pay.  All are weighed by their noise.  Which of these, and with what share of the budget, is
 * decided from public quantities.
 */
#include "mechanism/subspaces/moments_internal.h"
#include "mechanism/subspaces/subspaces_common.h"
#include "domain/domain.h"
#include "mechanism/common/frame.h"
#include "release/public_fit.h"
#include "mechanism/common/forecast.h"
#include "linalg/linalg.h"
#include "ask/assign.h"
#include "query/gaussian_gram.h"
#include "query/gaussian_moment.h"
#include "ask/lens.h"
#include <math.h>
#include <string.h>

enum { CLUSTERS, DIM, FLATS, ROUNDS, SHARPEN, SHARE, REDUCE, STARTS, DOUBTS, PARAM_COUNT };
enum { MOST_DIM = 32, BY_CHOICE = -1 };
static const double HEIGHT = 0.7; /* of the constant, where flats are affine */
static const double EVEN = 0.5;   /* of the traces, left out where flats are linear */
static const double GUESSED_ROWS_A_CLUSTER = 5000;

static const clo_param params[PARAM_COUNT] = {
    [CLUSTERS] = CLO_SUBSPACES_ROW_CLUSTERS(256),
    [DIM] = CLO_SUBSPACES_ROW_DIM(MOST_DIM),
    [FLATS] = CLO_SUBSPACES_ROW_FLATS,
    [ROUNDS] = { "rounds", CLO_PARAM_INT, BY_CHOICE, 10, BY_CHOICE, NULL,
                 "passes over the data that refine the first answer; -1: chosen from the public "
                 "facts" },
    [SHARPEN] = { "sharpen", CLO_PARAM_INT, BY_CHOICE, 10, BY_CHOICE, NULL,
                  "further passes, with noise as small as the residuals; -1: chosen from the "
                  "public facts, or none if rounds are given" },
    [SHARE] = { "share", CLO_PARAM_REAL, 0, 0.95, 0, NULL,
                "share of the budget for the refining passes; 0: chosen from the public facts" },
    [REDUCE] = { "reduce", CLO_PARAM_INT, BY_CHOICE, CLO_MOMENTS_MOST_SEEN, BY_CHOICE, NULL,
                 "number of directions to keep before the tensor; 0: all; -1: chosen from the "
                 "public facts" },
    [STARTS] = { "starts", CLO_PARAM_INT, 1, 10000, 24, NULL,
                 "number of random starts of the fit; they cost time but no budget" },
    [DOUBTS] = { "doubts", CLO_PARAM_INT, 0, 1000, 6, NULL,
                 "number of simulated runs that the uncertainty is computed from; they cost time "
                 "but no budget" },
};

/* ---- the plan ---------------------------------------------------------------------------- */

static clo_status check(const clo_i_moments_plan *plan, clo_error *err)
{
    if (plan->dim > plan->cols)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "dim must be at most the number of columns, %zu, not %zu", plan->cols,
                          plan->dim);
    if (plan->frame > plan->cols)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "reduce must be at most the number of columns, %zu, not %zu", plan->cols,
                          plan->frame);
    if (plan->rank > plan->seen)
        return clo_i_fail(err, CLO_ARGUMENT, "reduce must keep at least %zu directions, not %zu",
                          plan->dim, plan->frame);
    if (plan->seen > CLO_MOMENTS_MOST_SEEN)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "a tensor of %zu columns is too large: reduce to %d or fewer", plan->seen,
                          (int)CLO_MOMENTS_MOST_SEEN);
    return CLO_OK;
}

static clo_i_moments_plan settle(const clo_draft *draft)
{
    const double *const values = draft->values;
    const clo_domain *const domain = draft->domain;
    clo_i_moments_plan plan = { .cols = domain->cols,
                                .clusters = (size_t)values[CLUSTERS],
                                .dim = (size_t)values[DIM],
                                .starts = (size_t)values[STARTS],
                                .doubts = (size_t)values[DOUBTS] };
    const bool affine = values[FLATS] == 1;
    plan.height = affine ? HEIGHT : 0;
    plan.even = affine ? 0 : EVEN;
    plan.rank = plan.dim + affine;
    plan.rows =
        domain->rows ? (double)domain->rows : GUESSED_ROWS_A_CLUSTER * (double)plan.clusters;
    plan.frame = values[REDUCE] >= 0
                     ? (size_t)values[REDUCE]
                     : clo_i_moments_frame(plan.cols, plan.clusters, plan.rank, affine);
    plan.seen = (plan.frame ? plan.frame : plan.cols) + affine;
    return plan;
}

static clo_status add_rounds(clo_draft *draft, const clo_domain *seen, double mu,
                             clo_i_moments_plan *plan, clo_error *err)
{
    clo_line line;
    CLO_TRY(clo_i_plan_gaussian_gram(
        seen, plan->clusters, mu * sqrt(plan->share_rounds / (double)plan->rounds), plan->rounds,
        "Gram matrices of the clusters, one query per round", &line, err));
    line.lens = plan->frame || plan->height > 0;
    clo_i_lens_state_noise(&line, plan->height, 2);
    plan->round_noise = ldexp((double)line.scale, -2 * line.bits);
    return clo_i_draft_add(draft, &line, err);
}

/* The noise of cross moments with the whole budget. */
static clo_status price_passes(const clo_domain *seen, double mu, clo_i_moments_plan *plan,
                               clo_error *err)
{
    clo_line line;
    CLO_TRY(clo_i_plan_cross_moment(seen, plan->clusters, plan->rank, mu, 1, "", &line, err));
    plan->cross_unit = clo_i_cross_deviation(&line);
    plan->square_unit = clo_i_cross_square_deviation(&line);
    return CLO_OK;
}

static clo_status add_passes(clo_draft *draft, const clo_domain *seen, double mu,
                             clo_i_moments_plan *plan, clo_error *err)
{
    clo_line line;
    CLO_TRY(clo_i_plan_cross_moment(
        seen, plan->clusters, plan->rank, mu * sqrt(plan->share_sharpen / (double)plan->sharpen),
        plan->sharpen, "cross moments of residuals and coordinates, one query per pass", &line,
        err));
    line.lens = plan->frame || plan->height > 0;
    clo_i_lens_state_noise(&line, plan->height, 2);
    plan->cross_noise = clo_i_cross_deviation(&line);
    plan->square_noise = clo_i_cross_square_deviation(&line);
    plan->size_noise = clo_i_cross_size_deviation(&line);
    return clo_i_draft_add(draft, &line, err);
}

static clo_status add_lines(clo_draft *draft, const clo_domain *seen, double mu,
                            clo_i_moments_plan *plan, clo_error *err)
{
    const bool lens = plan->frame || plan->height > 0;
    const double share = 1 - plan->share_frame - plan->share_rounds - plan->share_sharpen;
    clo_line line;
    if (plan->frame) {
        CLO_TRY(clo_i_plan_gaussian_gram(draft->domain, 1, mu * sqrt(plan->share_frame), 1,
                                         "Gram matrix of the records, to choose directions", &line,
                                         err));
        plan->frame_noise = ldexp((double)line.scale, -2 * line.bits);
        CLO_TRY(clo_i_draft_add(draft, &line, err));
    }
    CLO_TRY(clo_i_plan_even_moment(seen, plan->even, mu * sqrt(share), 1,
                                   "fourth moments of the records", &line, err));
    line.lens = lens;
    clo_i_lens_state_noise(&line, plan->height, 4);
    plan->tensor_noise = clo_i_moment_noise(&line);
    CLO_TRY(clo_i_draft_add(draft, &line, err));
    if (plan->rounds) CLO_TRY(add_rounds(draft, seen, mu, plan, err));
    return plan->sharpen ? add_passes(draft, seen, mu, plan, err) : CLO_OK;
}

/* What a run works with. */
typedef struct state {
    double *frame;         /* cols x frame: the directions to look in; NULL: all */
    clo_i_moments_state s; /* what the answers have said so far */
    clo_i_moments_rivals rivals;
    double *bases;          /* clusters x cols x dim: what is released, in all columns */
    double *points;         /* clusters x cols */
    double *weights;        /* clusters */
    double *whole;          /* cols x rank of scratch */
    double *scale, *center; /* cols, each */
} state;

static clo_status take_answers(const clo_i_moments_plan *plan, clo_workspace *space,
                               clo_i_moments_state *s, clo_error *err)
{
    const size_t c = plan->seen, k = plan->clusters, thin = k * c * plan->rank;
    CLO_TRY(clo_i_take(space, clo_i_moment_size(c), sizeof(double), &s->moments, err));
    CLO_TRY(clo_i_take(space, c * c, sizeof(double), &s->contraction, err));
    CLO_TRY(clo_i_take(space, thin, sizeof(double), &s->model.factors, err));
    CLO_TRY(clo_i_take(space, k * c * c, sizeof(double), &s->grams, err));
    CLO_TRY(clo_i_take(space, k * c * c, sizeof(double), &s->sums, err));
    CLO_TRY(clo_i_take(space, thin, sizeof(double), &s->bases, err));
    CLO_TRY(clo_i_take(space, k, sizeof(double), &s->variance, err));
    CLO_TRY(clo_i_take(space, (plan->sharpen + 1) * k, sizeof(double), &s->widths, err));
    CLO_TRY(clo_i_take(space, k, sizeof *s->views, &s->views, err));
    CLO_TRY(clo_i_take(space, plan->sharpen ? thin : 0, sizeof(double), &s->cross, err));
    CLO_TRY(clo_i_take(space, k, sizeof(double), &s->squares, err));
    CLO_TRY(clo_i_take(space, k, sizeof(double), &s->sizes, err));
    CLO_TRY(clo_i_take(space, k, sizeof(double), &s->counts, err));
    CLO_TRY(clo_i_take(space, k, sizeof(double), &s->uncertainty, err));
    return clo_i_take(space, clo_i_moments_scratch(plan), sizeof(double), &s->scratch, err);
}

static clo_status take_state(const clo_i_moments_plan *plan, clo_workspace *space, state *out,
                             clo_error *err)
{
    const size_t d = plan->cols, k = plan->clusters;
    *out = (state){ .frame = NULL };
    if (plan->frame) CLO_TRY(clo_i_take(space, d * plan->frame, sizeof(double), &out->frame, err));
    CLO_TRY(take_answers(plan, space, &out->s, err));
    CLO_TRY(clo_i_moments_take_rivals(plan, space, &out->rivals, err));
    CLO_TRY(clo_i_take(space, k * d * plan->dim, sizeof(double), &out->bases, err));
    CLO_TRY(clo_i_take(space, k * d, sizeof(double), &out->points, err));
    CLO_TRY(clo_i_take(space, k, sizeof(double), &out->weights, err));
    CLO_TRY(clo_i_take(space, d * plan->rank, sizeof(double), &out->whole, err));
    CLO_TRY(clo_i_take(space, d, sizeof(double), &out->scale, err));
    return clo_i_take(space, d, sizeof(double), &out->center, err);
}

static clo_status count_run(const clo_i_moments_plan *plan, clo_workspace *room, clo_error *err)
{
    state unused;
    CLO_TRY(take_state(plan, room, &unused, err));
    if (plan->frame) CLO_TRY(clo_i_find_frame_room(room, plan->cols, plan->frame, err));
    CLO_TRY(clo_i_lens_room(room, plan->cols, plan->frame, plan->height, err));
    return clo_i_assign_room(room, CLO_ASSIGN_SUBSPACES, plan->clusters, plan->seen, plan->rank,
                             err);
}

static clo_status make_plan(clo_draft *draft, void *plan_state, clo_error *err)
{
    clo_i_moments_plan plan = settle(draft);
    const clo_event once = { .kind = CLO_EVENT_GAUSSIAN, .parameter = 1, .count = 1 };
    const clo_domain seen = clo_i_lens_domain(draft->domain, plan.seen);
    const double spread = draft->domain->relation == CLO_REPLACE ? sqrt(2) : 1;
    const double *const values = draft->values;
    const clo_i_moments_asked asked = { .rounds = (int64_t)values[ROUNDS],
                                        .sharpen = (int64_t)values[SHARPEN],
                                        .share = values[SHARE] };
    double mu;
    CLO_TRY(check(&plan, err));
    CLO_TRY(clo_calibrate(&once, 1, draft->budget, &mu, err));
    plan.unit = spread * (double)draft->domain->rows_per_unit / mu;
    CLO_TRY(price_passes(&seen, mu, &plan, err));
    clo_i_moments_choose(&plan, &asked);
    CLO_TRY(
        add_lines(draft, plan.height > 0 || plan.frame ? &seen : draft->domain, mu, &plan, err));
    memcpy(plan_state, &plan, sizeof plan);
    return count_run(&plan, draft->room, err);
}

/* ---- the run ----------------------------------------------------------------------------- */

static clo_status fit(const clo_i_moments_plan *plan, clo_context *context, state *f,
                      clo_error *err)
{
    clo_i_moments_state *const s = &f->s;
    const clo_moment_even even = clo_i_moment_even(plan->seen, plan->even);
    const clo_moment_job job = { .moments = s->moments,
                                 .second = even.second,
                                 .none = even.none,
                                 .contraction = plan->even > 0 ? s->contraction : NULL,
                                 .noise = plan->tensor_noise,
                                 .cols = plan->seen,
                                 .clusters = plan->clusters,
                                 .dim = plan->rank,
                                 .means = plan->height > 0,
                                 .starts = plan->starts,
                                 .ask = clo_i_rng_next_ask(context->rng),
                                 .rng = context->rng,
                                 .threads = context->threads };
    clo_i_moment_contract(s->moments, plan->seen, s->contraction);
    return clo_i_moments_fit_rivals(plan, &job, &f->rivals, s, err);
}

static clo_status one_round(const clo_i_moments_plan *plan, size_t line, uint64_t round,
                            const clo_bounded *data, clo_context *context, clo_i_moments_state *s,
                            clo_error *err)
{
    const size_t c = plan->seen, k = plan->clusters;
    const size_t mark = clo_i_workspace_mark(context->workspace);
    const int bits = context->meter->lines[line].bits;
    clo_assign rule;
    clo_status status =
        clo_i_assign_subspaces(context->workspace, s->bases, k, c, plan->rank, bits, &rule, err);
    if (!status) status = clo_i_ask_gaussian_gram(context, line, data, &rule, s->grams, err);
    clo_i_workspace_release(context->workspace, mark);
    if (status) return status;
    for (size_t i = 0; i < k * c * c; i++) s->sums[i] += s->grams[i];
    return clo_i_moments_bases(plan, round + 1, &s->model, s->sums, s->scratch, s->bases, err);
}

/* A pass with noise at the width of the residuals. */
static clo_status sharpen_once(const clo_i_moments_plan *plan, size_t line, uint64_t pass,
                               const clo_bounded *data, clo_context *context, state *f,
                               clo_error *err)
{
    clo_i_moments_state *const s = &f->s;
    const size_t k = plan->clusters, mark = clo_i_workspace_mark(context->workspace);
    const int bits = context->meter->lines[line].bits;
    clo_cross_moments out = { s->cross, s->squares, s->sizes };
    clo_assign rule;
    for (size_t l = 0; l < k; l++) {
        const double width = s->widths[pass * k + l];
        s->views[l] = (clo_cross_view){ width, clo_i_moments_reach(width) };
    }
    clo_status status = clo_i_assign_subspaces(context->workspace, s->bases, k, plan->seen,
                                               plan->rank, bits, &rule, err);
    if (!status) status = clo_i_ask_cross_moment(context, line, data, &rule, s->views, &out, err);
    clo_i_workspace_release(context->workspace, mark);
    bool changed = false;
    if (!status && clo_i_moments_judges(plan, pass))
        status = clo_i_moments_judge(plan, pass, context->rng, &f->rivals, s, &changed, err);
    return status || changed ? status : clo_i_moments_turn(plan, pass, s, err);
}

static void show_progress(clo_context *context, const clo_i_moments_plan *plan, uint64_t pass)
{
    const double passes = 1 + (double)(plan->rounds + plan->sharpen) + (plan->frame > 0);
    context->progress_from = (double)pass / passes;
    context->progress_to = (double)(pass + 1) / passes;
}

static clo_status look(const clo_i_moments_plan *plan, const clo_bounded *data,
                       clo_context *context, state *f, clo_error *err)
{
    clo_i_moments_state *const s = &f->s;
    const size_t first = plan->frame > 0;
    const bool through = plan->frame || plan->height > 0;
    clo_lens lens;
    if (through)
        CLO_TRY(clo_i_lens_make(context->workspace, f->frame, plan->cols, plan->frame, plan->height,
                                &lens, err));
    context->lens = through ? &lens : NULL;
    show_progress(context, plan, first);
    clo_status status = clo_i_ask_gaussian_moment(context, first, data, s->moments, err);
    if (!status) status = fit(plan, context, f, err);
    if (!status)
        status = clo_i_moments_bases(plan, 0, &s->model, s->sums, s->scratch, s->bases, err);
    for (uint64_t round = 0; !status && round < plan->rounds; round++) {
        show_progress(context, plan, first + 1 + round);
        status = one_round(plan, first + 1, round, data, context, s, err);
    }
    if (!status && plan->sharpen) clo_i_moments_start_passes(plan, 0, s);
    for (uint64_t pass = 0; !status && pass < plan->sharpen; pass++) {
        show_progress(context, plan, first + 1 + plan->rounds + pass);
        status = sharpen_once(plan, first + 1 + (plan->rounds > 0), pass, data, context, f, err);
    }
    context->lens = NULL;
    return status;
}

/* ---- the release ------------------------------------------------------------------------- */

/* A flat as it is seen, in all coordinates of the ball: frame times basis. */
static void unfold(const clo_i_moments_plan *plan, const double *frame, const double *seen,
                   double *whole)
{
    const size_t d = plan->cols, r = plan->frame, q = plan->rank;
    for (size_t j = 0; j < d; j++)
        for (size_t e = 0; e < q; e++) {
            double sum = r ? 0 : seen[j * q + e];
            for (size_t i = 0; i < r; i++) sum += frame[j * r + i] * seen[i * q + e];
            whole[j * q + e] = sum;
        }
}

/* An affine flat is what a linear one has in common with the plane at the height of the constant:
 * the last row of its basis, made one entry by a reflection of the columns, tells its point; the
 * other columns are its directions. */
static void cut_at_height(const clo_i_moments_plan *plan, const double *last, double *whole,
                          double *basis, double *point)
{
    const size_t d = plan->cols, q = plan->rank;
    double mirror[MOST_DIM + 1], length = 0, square = 0;
    for (size_t e = 0; e < q; e++) length += last[e] * last[e];
    length = sqrt(length);
    memcpy(mirror, last, q * sizeof *mirror);
    const double sign = last[q - 1] < 0 ? -1 : 1;
    mirror[q - 1] += sign * length;
    for (size_t e = 0; e < q; e++) square += mirror[e] * mirror[e];
    for (size_t j = 0; j < d; j++) {
        double along = 0, *const row = whole + j * q;
        for (size_t e = 0; e < q; e++) along += row[e] * mirror[e];
        for (size_t e = 0; e < q && square > 0; e++) row[e] -= 2 * along / square * mirror[e];
        for (size_t e = 0; e + 1 < q; e++) basis[j * (q - 1) + e] = row[e];
        point[j] = length > 1e-6 ? -sign * row[q - 1] / length * plan->height : 0;
    }
}

static void pull_into_ball(double *point, size_t d)
{
    double norm = 0;
    for (size_t j = 0; j < d; j++) norm += point[j] * point[j];
    for (size_t j = 0; j < d && norm > 1; j++) point[j] /= sqrt(norm);
}

/* From ball coordinates to the data's own. */
static clo_status carry_back(const clo_domain *domain, size_t dim, const double *scale,
                             double *basis, double *point, clo_error *err)
{
    const size_t d = domain->cols;
    for (size_t j = 0; j < d; j++)
        for (size_t e = 0; e < dim; e++) basis[j * dim + e] *= scale[j];
    clo_i_domain_unmap_point(domain, point);
    return clo_i_orthonormalize(basis, d, dim, err);
}

/* Of what a flat is weighed by, in the ball. */
static double size_deviation(const clo_i_moments_plan *plan)
{
    return plan->sharpen ? plan->size_noise : plan->rounds ? plan->round_noise : plan->tensor_noise;
}

static clo_status put_flats(const clo_i_moments_plan *plan, const clo_domain *domain,
                            const state *f, clo_release *out, clo_error *err)
{
    const size_t d = plan->cols, k = plan->clusters, q = plan->rank, c = plan->seen;
    clo_i_domain_map(domain, f->scale, f->center);
    for (size_t l = 0; l < k; l++) {
        const double *const seen = f->s.bases + l * c * q;
        double *const basis = f->bases + l * d * plan->dim, *const point = f->points + l * d;
        unfold(plan, f->frame, seen, f->whole);
        if (plan->height > 0)
            cut_at_height(plan, seen + (c - 1) * q, f->whole, basis, point);
        else
            memcpy(basis, f->whole, d * q * sizeof *basis);
        pull_into_ball(point, d);
        CLO_TRY(carry_back(domain, plan->dim, f->scale, basis, point, err));
        if (plan->height > 0)
            clo_i_cut_point(domain, size_deviation(plan) / fmax(f->weights[l], 1), point);
    }
    CLO_TRY(clo_i_release_put(out, "bases", f->bases, 3, (size_t[]){ k, d, plan->dim }, err));
    if (plan->height > 0 || domain->center || domain->lower)
        CLO_TRY(clo_i_release_put(out, "offsets", f->points, 2, (size_t[]){ k, d }, err));
    return CLO_OK;
}

/* About how many records a flat has, up to a common factor.  From the last passes: how many these
 * counted.  From the rounds: the energy of its members or, where a constant was appended, that of
 * the constant, which counts them whatever their norm.  From the tensor alone: the full contraction
 * of its term. */
static double weigh(const clo_i_moments_plan *plan, const clo_i_moments_state *s, size_t l)
{
    const size_t c = plan->seen;
    const double *const sum = s->sums + l * c * c;
    double trace = 0;
    if (plan->sharpen) return fmax(s->counts[l] / (double)(plan->sharpen - s->first), 0);
    for (size_t i = plan->height > 0 ? c - 1 : 0; plan->rounds && i < c; i++)
        trace += sum[i * c + i];
    if (plan->rounds) return fmax(trace, 0);
    return clo_i_moments_contraction(plan, s->model.factors + l * c * plan->rank);
}

static void find_weights(const clo_i_moments_plan *plan, const clo_domain *domain,
                         const clo_i_moments_state *s, double *weights)
{
    const size_t k = plan->clusters;
    double total = 0;
    for (size_t l = 0; l < k; l++) total += weights[l] = weigh(plan, s, l);
    const double factor = domain->rows && total > 0 ? (double)domain->rows / total : 1;
    for (size_t l = 0; l < k; l++)
        weights[l] = clo_i_cut_digits(weights[l] * factor, factor * size_deviation(plan), 0);
}

static clo_status run(const void *plan_state, const clo_domain *domain, const clo_bounded *data,
                      clo_context *context, clo_release *out, clo_error *err)
{
    const clo_i_moments_plan *const plan = plan_state;
    const size_t k = plan->clusters;
    state f;
    CLO_TRY(take_state(plan, context->workspace, &f, err));
    if (plan->frame) {
        show_progress(context, plan, 0);
        CLO_TRY(clo_i_find_frame(context, 0, data, plan->cols, plan->frame, f.frame, err));
    }
    CLO_TRY(look(plan, data, context, &f, err));
    find_weights(plan, domain, &f.s, f.weights);
    CLO_TRY(put_flats(plan, domain, &f, out, err));
    CLO_TRY(clo_i_release_put(out, "sizes", f.weights, 1, (size_t[]){ k }, err));
    if (plan->doubts == 0) return CLO_OK;
    CLO_TRY(clo_i_moments_doubt(plan, context->rng, context->threads, &f.s, err));
    for (size_t l = 0; l < k; l++)
        f.s.uncertainty[l] = clo_i_cut_digits(f.s.uncertainty[l], f.s.uncertainty[l], 0);
    return clo_i_release_put(out, "uncertainty", f.s.uncertainty, 1, (size_t[]){ k }, err);
}

static double expect(const clo_i_moments_plan *plan, double rows, double residual)
{
    const double q = (double)plan->rank, error = clo_i_moments_error(plan, rows, residual);
    const double most = fmin(q, (double)plan->cols - q);
    return sqrt((double)plan->clusters * fmin(q * error, fmax(most, 0)));
}

static double predict(const void *plan_state, const clo_domain *domain, const clo_line *lines,
                      double rows)
{
    (void)domain;
    (void)lines;
    return expect(plan_state, rows, CLO_MOMENTS_RESIDUAL);
}

/* From records that lie on their flats to such that are hardly nearer to them than to others. */
static clo_between between(const void *plan_state, const clo_domain *domain, const clo_line *lines,
                           double rows)
{
    (void)domain;
    (void)lines;
    return (clo_between){ expect(plan_state, rows, 0),
                          expect(plan_state, rows, 2 * CLO_MOMENTS_RESIDUAL) };
}

extern const clo_mechanism clo_i_mechanism_subspaces_moments;
const clo_mechanism clo_i_mechanism_subspaces_moments = {
    .family = "subspaces",
    .method = "moments",
    .summary = "k subspaces, from one noisy tensor of fourth moments",
    .proof = "proofs/subspaces_moments.md",
    .guarantee = CLO_EXACT,
    .params = params,
    .param_count = PARAM_COUNT,
    .plan_size = sizeof(clo_i_moments_plan),
    .plan = make_plan,
    .run = run,
    .predict = predict,
    .between = between,
    .prediction = "distance d_W between the released and the true subspaces, for clusters of equal "
                  "size that fill their subspaces evenly out to the norm, with residuals of a "
                  "quarter of it",
    .hidden_from = clo_i_frames_hidden_from,
};
