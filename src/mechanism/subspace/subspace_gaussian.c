/*
 * subspace_gaussian.c - one subspace, from a Gram matrix with Gaussian noise.
 *
 * The noisy Gram matrix is the only thing asked (subspace_gaussian.T1); its top eigenvectors are
 * post-processing, and so is what its spectrum says of them: which stand out of the noise, and what
 * energy the records have along each (subspace_gaussian.T2).  With column bounds the subspace is
 * found where all columns weigh alike, and carried back to the data's own units.
 *
 * Data away from the origin have a Gram matrix that shows where they are, not how they spread.  A
 * private centre is learnt before (plan/learn.c), with the norm about it, which is smaller, and the
 * noise with it: that is better wherever a centre pays than any that this query could find itself.
 */
#include "mechanism/subspace/signal.h"
#include "mechanism/subspace/subspace_units.h"
#include "mechanism/common/forecast.h"
#include "domain/domain.h"
#include "linalg/linalg.h"
#include "ask/assign.h"
#include "query/gaussian_gram.h"
#include <math.h>
#include <string.h>

enum { DIM, GAMMA, REACH, PARAM_COUNT };

static const clo_param params[PARAM_COUNT] = {
    [DIM] = { "dim", CLO_PARAM_INT, 0, 4096, 2, NULL,
              "dimension of the subspace; 0: as many directions as stand out from the noise" },
    [GAMMA] = { CLO_SUBSPACE_GAMMA, NULL,
                "only for the prediction: the largest spread of the records across the subspace, "
                "as a share of the smallest spread along it; -1: not stated" },
    [REACH] = { CLO_SUBSPACE_REACH, NULL,
                CLO_REACH_IS "only for the prediction; 0: not stated, and the prediction is a "
                             "range" },
};

typedef struct gaussian_plan {
    size_t dim; /* 0: found in the spectrum */
    double gamma, reach;
} gaussian_plan;

/* What a run works with. */
typedef struct state {
    double *gram;     /* cols x cols: the answer */
    double *again;    /* the same */
    double *spectrum; /* cols: its eigenvalues */
    double *basis;    /* cols x dim; where that is to be found, as many as there are columns */
    double *energy;   /* dim */
    double *stands;   /* dim: 1 where it stands out of the noise, otherwise 0 */
    double *eigen;    /* scratch */
} state;

static clo_status take_state(const gaussian_plan *plan, clo_workspace *space, size_t d, state *s,
                             clo_error *err)
{
    const size_t q = plan->dim ? plan->dim : d;
    *s = (state){ .gram = NULL };
    CLO_TRY(clo_i_take(space, d * d, sizeof(double), &s->gram, err));
    CLO_TRY(clo_i_take(space, d * d, sizeof(double), &s->again, err));
    CLO_TRY(clo_i_take(space, d, sizeof(double), &s->spectrum, err));
    CLO_TRY(clo_i_take(space, d * q, sizeof(double), &s->basis, err));
    CLO_TRY(clo_i_take(space, q, sizeof(double), &s->energy, err));
    CLO_TRY(clo_i_take(space, q, sizeof(double), &s->stands, err));
    return clo_i_take(space, clo_i_eigen_scratch(d, q), sizeof(double), &s->eigen, err);
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
    plan->gamma = draft->values[GAMMA];
    plan->reach = draft->values[REACH];
    CLO_TRY(clo_i_check_gamma(plan->gamma, err));
    if (plan->dim > d)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "dim must be at most the number of columns, %zu, not %zu", d, plan->dim);
    CLO_TRY(clo_calibrate(&once, 1, draft->budget, &mu, err));
    CLO_TRY(clo_i_plan_gaussian_gram(draft->domain, 1, mu, 1, "Gram matrix of the records", &line,
                                     err));
    CLO_TRY(take_state(plan, draft->room, d, &unused, err));
    CLO_TRY(clo_i_subspace_release_room(draft->room, d, err));
    return clo_i_draft_add(draft, &line, err);
}

/* As many as stand out of the noise, which all are signal with a probability of .999 at least
 * (subspace_gaussian.T2); where none does, one. */
static size_t dim_of(const double *spectrum, size_t d, double edge)
{
    size_t dim = 0;
    while (dim < d && spectrum[dim] > edge) dim++;
    return dim > 1 ? dim : 1;
}

/* The whole spectrum and the edge of the noise, by which the verdicts can be checked. */
static clo_status put_spectrum(size_t d, double edge, double unit, double noise, double *spectrum,
                               clo_release *out, clo_error *err)
{
    edge = clo_i_cut_digits(edge * unit, noise * unit, 0);
    for (size_t i = 0; i < d; i++)
        spectrum[i] = clo_i_cut_digits(spectrum[i] * unit, noise * unit, 0);
    CLO_TRY(clo_i_release_put(out, "spectrum", spectrum, 1, &d, err));
    return clo_i_release_put(out, "noise_edge", &edge, 1, (size_t[]){ 1 }, err);
}

/* What the spectrum says of the directions, into the release.  Energies are those of the records in
 * the data's units, and no more than there can be of so many. */
static clo_status put_signal(const clo_domain *domain, size_t q, double noise, const state *s,
                             clo_release *out, clo_error *err)
{
    const size_t d = domain->cols;
    const double radius = clo_i_domain_radius(domain), unit = radius * radius;
    const double edge = clo_i_signal_edge(noise, d);
    const double most = domain->rows ? (double)domain->rows : INFINITY;
    double count = 0;
    for (size_t i = 0; i < q; i++) {
        const double energy = clo_i_signal_energy(s->spectrum, d, noise, i);
        s->energy[i] = clo_i_cut_digits(fmin(energy, most) * unit, noise * unit, 0);
        s->stands[i] = s->spectrum[i] > edge;
        count += s->stands[i];
    }
    CLO_TRY(clo_i_release_put(out, "energy", s->energy, 1, (size_t[]){ q }, err));
    CLO_TRY(clo_i_release_put(out, "stands_out", s->stands, 1, (size_t[]){ q }, err));
    CLO_TRY(clo_i_release_put(out, "signal_dim", &count, 1, (size_t[]){ 1 }, err));
    return put_spectrum(d, edge, unit, noise, s->spectrum, out, err);
}

static clo_status run(const void *plan_state, const clo_domain *domain, const clo_bounded *data,
                      clo_context *context, clo_release *out, clo_error *err)
{
    const gaussian_plan *const plan = plan_state;
    const size_t d = domain->cols;
    const clo_line *const line = &context->meter->lines[0];
    const double noise = ldexp((double)line->scale, -2 * line->bits);
    const clo_assign all = { .kind = CLO_ASSIGN_ONE, .clusters = 1 };
    state s;
    CLO_TRY(take_state(plan, context->workspace, d, &s, err));
    CLO_TRY(clo_i_ask_gaussian_gram(context, 0, data, &all, s.gram, err));
    memcpy(s.again, s.gram, d * d * sizeof *s.again);
    CLO_TRY(clo_i_eigenvalues(s.again, d, s.spectrum, s.eigen, err));
    const size_t q = plan->dim ? plan->dim : dim_of(s.spectrum, d, clo_i_signal_edge(noise, d));
    CLO_TRY(clo_i_eigen_top(s.gram, d, q, s.energy, s.basis, s.eigen, err));
    CLO_TRY(clo_i_subspace_release(context, domain, q, s.basis, out, err));
    return put_signal(domain, q, noise, &s, out, err);
}

/* First-order perturbation: noisy entries between the subspace and its complement, over the gap of
 * the spectrum. */
static double error_at(const void *plan_state, const clo_domain *domain, const clo_line *lines,
                       double rows, double reach)
{
    const gaussian_plan *const plan = plan_state;
    const double noise = ldexp((double)lines[0].scale, -2 * lines[0].bits) / sqrt(2);
    if (plan->dim == 0) return NAN; /* which subspace it will be is not known beforehand */
    const double gap = clo_i_subspace_gap(domain->cols, plan->dim, plan->gamma, reach, rows);
    return clo_i_subspace_error(domain->cols, plan->dim, noise / gap);
}

static double predict(const void *plan_state, const clo_domain *domain, const clo_line *lines,
                      double rows)
{
    const gaussian_plan *const plan = plan_state;
    return error_at(plan, domain, lines, rows, clo_i_subspace_reaches(plan->reach).usual);
}

static clo_between between(const void *plan_state, const clo_domain *domain, const clo_line *lines,
                           double rows)
{
    const gaussian_plan *const plan = plan_state;
    return clo_i_subspace_between(error_at, plan, domain, lines, rows, plan->reach);
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
    .between = between,
    .prediction = "distance ||sin Theta||_F between the released and the true subspace",
    .hidden_from = clo_i_frames_hidden_from,
};
