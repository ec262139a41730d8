/*
 * subspace_gaussian.c - one subspace, from a Gram matrix with Gaussian noise.
 *
 * The noisy Gram matrix is the only thing asked (subspace_gaussian.T1); its top eigenvectors are
 * post-processing.  With column bounds the subspace is found where all columns weigh alike, and
 * carried back to the data's own units.
 */
#include "mechanism/mechanism.h"
#include "domain/domain.h"
#include "linalg/linalg.h"
#include <math.h>

enum { DIM, PARAM_COUNT };

static const clo_param params[PARAM_COUNT] = {
    [DIM] = { "dim", CLO_PARAM_INT, 1, 4096, 2, NULL, "dimension of the subspace" },
};

typedef struct gaussian_plan {
    size_t dim;
} gaussian_plan;

static clo_status make_plan(clo_draft *draft, void *state, clo_error *err)
{
    gaussian_plan *const plan = state;
    const size_t d = draft->domain->cols;
    const clo_event once = { .kind = CLO_EVENT_GAUSSIAN, .parameter = 1, .count = 1 };
    clo_slot slot;
    double mu;
    plan->dim = (size_t)draft->values[DIM];
    if (plan->dim > d)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "dim must be at most the number of columns, %zu, not %zu", d, plan->dim);
    CLO_TRY(clo_calibrate(&once, 1, draft->budget, &mu, err));
    CLO_TRY(clo_i_plan_gaussian_gram(draft->domain, 1, mu, 1, "Gram matrix of the records", &slot,
                                     err));
    draft->workspace = clo_i_take_size(d * d, sizeof(double)) +
                       clo_i_take_size(d * plan->dim, sizeof(double)) +
                       clo_i_take_size(plan->dim, sizeof(double)) +
                       clo_i_take_size(clo_i_eigen_scratch(d, plan->dim), sizeof(double)) +
                       2 * clo_i_take_size(d, sizeof(double));
    return clo_i_draft_add(draft, &slot, err);
}

/* From ball coordinates to the data's own: columns of different units stretch the subspace, and a
 * centre shifts it. */
static clo_status carry_back(clo_context *context, const clo_domain *domain, size_t dim,
                             double *basis, clo_release *out, clo_error *err)
{
    const size_t d = domain->cols;
    double *scale = NULL, *center = NULL;
    CLO_TRY(clo_i_take(context->workspace, d, sizeof *scale, &scale, err));
    CLO_TRY(clo_i_take(context->workspace, d, sizeof *center, &center, err));
    clo_i_domain_map(domain, scale, center);
    if (domain->lower) {
        for (size_t j = 0; j < d; j++)
            for (size_t i = 0; i < dim; i++) basis[j * dim + i] *= scale[j];
        CLO_TRY(clo_i_orthonormalize(basis, d, dim, err));
    }
    CLO_TRY(clo_i_release_put(out, "basis", basis, 2, (size_t[]){ d, dim }, err));
    if (domain->lower || domain->center)
        CLO_TRY(clo_i_release_put(out, "center", center, 1, (size_t[]){ d }, err));
    return CLO_OK;
}

static clo_status run(const void *state, const clo_domain *domain, const clo_bounded *data,
                      clo_context *context, clo_release *out, clo_error *err)
{
    const gaussian_plan *const plan = state;
    const size_t d = domain->cols, q = plan->dim;
    const double radius = clo_i_domain_radius(domain);
    const clo_assign all = { .kind = CLO_ASSIGN_ONE, .clusters = 1 };
    double *gram = NULL, *basis = NULL, *energy = NULL, *scratch = NULL;
    CLO_TRY(clo_i_take(context->workspace, d * d, sizeof *gram, &gram, err));
    CLO_TRY(clo_i_take(context->workspace, d * q, sizeof *basis, &basis, err));
    CLO_TRY(clo_i_take(context->workspace, q, sizeof *energy, &energy, err));
    CLO_TRY(clo_i_ask_gaussian_gram(context, 0, data, &all, gram, err));
    CLO_TRY(
        clo_i_take(context->workspace, clo_i_eigen_scratch(d, q), sizeof *scratch, &scratch, err));
    CLO_TRY(clo_i_eigen_top(gram, d, q, energy, basis, scratch, err));
    for (size_t i = 0; i < q; i++) energy[i] *= radius * radius;
    CLO_TRY(carry_back(context, domain, q, basis, out, err));
    return clo_i_release_put(out, "energy", energy, 1, (size_t[]){ q }, err);
}

/* First-order perturbation: q(d-q) noisy entries between the subspace and its complement, over the
 * gap of the spectrum. */
static double predict(const void *state, const clo_domain *domain, const clo_slot *slots,
                      double rows)
{
    const gaussian_plan *const plan = state;
    const double q = (double)plan->dim, d = (double)domain->cols;
    const double noise = ldexp((double)slots[0].scale, -2 * slots[0].bits) / sqrt(2);
    return fmin(noise * sqrt(q * (d - q)) * q / rows, sqrt(fmin(q, d - q)));
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
};
