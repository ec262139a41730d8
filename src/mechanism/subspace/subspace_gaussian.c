/*
 * subspace_gaussian.c - one subspace, from a Gram matrix with Gaussian noise.
 *
 * The noisy Gram matrix is the only thing asked (subspace_gaussian.T1); its top eigenvectors are
 * post-processing.  With column bounds the subspace is found where all columns weigh alike, and
 * carried back to the data's own units.
 *
 * Data away from the origin have a Gram matrix that shows where they are, not how they spread.  A
 * private centre costs no query of its own: through a lens that shows a constant beside each
 * record, one Gram matrix holds their number, their sum and their second moments, with noise that
 * is half as large again (subspace_gaussian.T2).
 */
#include "mechanism/subspace/subspace_units.h"
#include "mechanism/common/split_moments.h"
#include "mechanism/common/forecast.h"
#include "domain/domain.h"
#include "linalg/linalg.h"
#include "query/assign.h"
#include "query/gaussian_gram.h"
#include "query/lens.h"
#include <math.h>

enum { DIM, CENTERING, GAMMA, PARAM_COUNT };
enum { NONE, PRIVATE };

static const double HEIGHT = 0.7; /* of the constant beside a record, where a centre is sought */

static const clo_param params[PARAM_COUNT] = {
    [DIM] = { "dim", CLO_PARAM_INT, 1, 4096, 2, NULL, "dimension of the subspace" },
    [CENTERING] = { "centering", CLO_PARAM_CHOICE, 0, 1, NONE, "none|private",
                    "none: the subspace passes through the origin, or the public centre of the "
                    "bounds; private: through a noisy mean of the records, which is released" },
    [GAMMA] = { CLO_SUBSPACE_GAMMA, NULL,
                "for the prediction alone: the most spread of the records across the subspace, as "
                "a "
                "share of the least along it; -1: not stated" },
};

typedef struct gaussian_plan {
    size_t dim;
    bool centered;
    double gamma;
} gaussian_plan;

/* What a run works with. */
typedef struct state {
    double *gram;    /* cols x cols: the answer, or the scatter that it holds */
    double *moments; /* the answer, one wider, where a centre is sought */
    double *point;   /* cols: that centre; otherwise NULL */
    double *basis;   /* cols x dim */
    double *energy;  /* dim */
    double *eigen;   /* scratch */
} state;

static clo_status take_state(const gaussian_plan *plan, clo_workspace *space, size_t d, state *s,
                             clo_error *err)
{
    const size_t q = plan->dim;
    *s = (state){ .gram = NULL };
    CLO_TRY(clo_i_take(space, d * d, sizeof(double), &s->gram, err));
    CLO_TRY(clo_i_take(space, d * q, sizeof(double), &s->basis, err));
    CLO_TRY(clo_i_take(space, q, sizeof(double), &s->energy, err));
    CLO_TRY(clo_i_take(space, clo_i_eigen_scratch(d, q), sizeof(double), &s->eigen, err));
    if (!plan->centered) return CLO_OK;
    CLO_TRY(clo_i_take(space, (d + 1) * (d + 1), sizeof(double), &s->moments, err));
    return clo_i_take(space, d, sizeof(double), &s->point, err);
}

static clo_status make_plan(clo_draft *draft, void *plan_state, clo_error *err)
{
    gaussian_plan *const plan = plan_state;
    const size_t d = draft->domain->cols;
    const clo_event once = { .kind = CLO_EVENT_GAUSSIAN, .parameter = 1, .count = 1 };
    state unused;
    clo_line line;
    double mu;
    plan->dim = (size_t)draft->values[DIM];
    plan->centered = draft->values[CENTERING] == PRIVATE;
    plan->gamma = draft->values[GAMMA];
    CLO_TRY(clo_i_check_gamma(plan->gamma, err));
    if (plan->dim > d)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "dim must be at most the number of columns, %zu, not %zu", d, plan->dim);
    const clo_domain seen =
        plan->centered ? clo_i_lens_domain(draft->domain, d + 1) : *draft->domain;
    CLO_TRY(clo_calibrate(&once, 1, draft->budget, &mu, err));
    CLO_TRY(clo_i_plan_gaussian_gram(&seen, 1, mu, 1, "Gram matrix of the records", &line, err));
    line.lens = plan->centered;
    CLO_TRY(take_state(plan, draft->room, d, &unused, err));
    CLO_TRY(clo_i_subspace_release_room(draft->room, d, err));
    return clo_i_draft_add(draft, &line, err);
}

/* The scatter (d x d) of the records about their noisy mean, the point. */
static clo_status ask_centered(clo_context *context, const clo_bounded *data, size_t d,
                               const state *s, clo_error *err)
{
    const clo_assign all = { .kind = CLO_ASSIGN_ONE, .clusters = 1 };
    const clo_line *const line = &context->meter->lines[0];
    clo_lens lens;
    CLO_TRY(clo_i_lens_make(context->workspace, NULL, d, 0, HEIGHT, &lens, err));
    context->lens = &lens;
    const clo_status status = clo_i_ask_gaussian_gram(context, 0, data, &all, s->moments, err);
    context->lens = NULL;
    CLO_TRY(status);
    clo_i_split_moments(s->moments, &lens, ldexp((double)line->scale, -2 * line->bits), d, s->point,
                        s->gram);
    return CLO_OK;
}

static clo_status ask_plain(clo_context *context, const clo_bounded *data, double *gram,
                            clo_error *err)
{
    const clo_assign all = { .kind = CLO_ASSIGN_ONE, .clusters = 1 };
    return clo_i_ask_gaussian_gram(context, 0, data, &all, gram, err);
}

static clo_status run(const void *plan_state, const clo_domain *domain, const clo_bounded *data,
                      clo_context *context, clo_release *out, clo_error *err)
{
    const gaussian_plan *const plan = plan_state;
    const size_t d = domain->cols, q = plan->dim;
    const double radius = clo_i_domain_radius(domain);
    state s;
    CLO_TRY(take_state(plan, context->workspace, d, &s, err));
    CLO_TRY(plan->centered ? ask_centered(context, data, d, &s, err)
                           : ask_plain(context, data, s.gram, err));
    CLO_TRY(clo_i_eigen_top(s.gram, d, q, s.energy, s.basis, s.eigen, err));
    for (size_t i = 0; i < q; i++) s.energy[i] *= radius * radius;
    CLO_TRY(clo_i_subspace_release(context, domain, q, s.basis, s.point, out, err));
    return clo_i_release_put(out, "energy", s.energy, 1, (size_t[]){ q }, err);
}

/* First-order perturbation: noisy entries between the subspace and its complement, over the gap of
 * the spectrum. */
static double predict(const void *plan_state, const clo_domain *domain, const clo_line *lines,
                      double rows)
{
    const gaussian_plan *const plan = plan_state;
    const double smaller = plan->centered ? 1 + HEIGHT * HEIGHT : 1; /* what the lens shows */
    const double noise = ldexp((double)lines[0].scale, -2 * lines[0].bits) / sqrt(2) * smaller;
    const double gap = clo_i_subspace_gap(domain->cols, plan->dim, plan->gamma, rows);
    return clo_i_subspace_error(domain->cols, plan->dim, noise / gap);
}

extern const clo_mechanism clo_i_mechanism_subspace_gaussian;
const clo_mechanism clo_i_mechanism_subspace_gaussian = {
    .family = "subspace",
    .method = "gaussian",
    .summary = "one subspace (private PCA), from a noisy Gram matrix",
    .proof = "proofs/subspace_gaussian.md",
    .guarantee = CLO_EXACT,
    .params = params,
    .param_count = PARAM_COUNT,
    .plan_size = sizeof(gaussian_plan),
    .plan = make_plan,
    .run = run,
    .predict = predict,
    .prediction = "distance ||sin Theta||_F between the released and the true subspace, for rows "
                  "that fill it evenly out to the norm",
    .hidden_from = clo_i_frames_hidden_from,
};
