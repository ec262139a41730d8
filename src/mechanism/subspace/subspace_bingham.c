/*
 * subspace_bingham.c - one subspace by the exponential mechanism: a frame U is drawn with a
 * probability that grows as exp(rate tr U'AU), A the Gram matrix of the records.
 *
 * draw sequence: one vector after the other, each exactly from its law in what the ones before it
 * leave, min(q, d - q) of them, each paid for (subspace_bingham.T1).  With one vector this is the
 * matrix law itself.  It takes about sqrt(4 d) proposals a vector, whatever the data.
 * draw matrix: the whole frame from the matrix law, for the price of one draw, by rejection.  No
 * useful number of proposals is enough for all data: where some directions dominate and the last
 * of the subspace hardly differs from those beside it, it may be beyond any.  A cap would have its
 * price in delta, and a choice that looks at the data is not private; so the caller chooses.
 * draw sweeps: the matrix law for the price of one draw again, as the limit of sweeps over the
 * frame's columns.  It ends whatever the data; how near the limit it is nobody can check, so it is
 * asymptotic and must be accepted by name (subspace_bingham.T2).
 *
 * Pure epsilon is possible, and draws are in floating point: idealized.
 */
#include "mechanism/subspace/subspace_units.h"
#include "mechanism/common/forecast.h"
#include "query/gibbs.h"
#include <math.h>

enum { DIM, DRAW, GAMMA, REACH, PARAM_COUNT };
enum { SEQUENCE, MATRIX, SWEEPS };
/* Means are flat from a tenth of them on, in the settings of bench/bench_subspace.c. */
enum { SWEEP_COUNT = 1000 };

static const clo_param params[PARAM_COUNT] = {
    [DIM] = { "dim", CLO_PARAM_INT, 1, 4096, 2, NULL, "dimension of the subspace" },
    [DRAW] = { "draw", CLO_PARAM_CHOICE, 0, 2, SEQUENCE, "sequence|matrix|sweeps",
               "sequence: one vector after the other, each from its share of the budget; matrix: "
               "all at once from the whole budget, for few dimensions that stand out (otherwise "
               "it may not end); sweeps: by a Markov chain, asymptotic" },
    [GAMMA] = { CLO_SUBSPACE_GAMMA, NULL,
                "only for the prediction: the largest spread of the records across the subspace, "
                "as a share of the smallest spread along it; -1: not stated" },
    [REACH] = { CLO_SUBSPACE_REACH, NULL,
                CLO_REACH_IS "only for the prediction; 0: not stated, and the prediction is a "
                             "range" },
};

typedef struct bingham_plan {
    clo_gibbs how;
    double gamma, reach;
} bingham_plan;

/* Beyond, the law of a frame is narrower than what its draws in doubles can follow. */
static const double LARGEST_EPSILON = 300;

/* Of p dimensions out of d about d^(-p (p + 1) / 4) of the proposals are kept, for data that spread
 * evenly in the subspace. */
static bool is_practical(size_t d, size_t p)
{
    const double power = (double)p * (double)(p + 1) / 4;
    return p <= 1 || power * log10((double)d) <= 6;
}

static clo_status check(const clo_draft *draft, size_t d, size_t q, bool whole, clo_error *err)
{
    const size_t drawn = q < d - q ? q : d - q;
    if (draft->budget.epsilon > LARGEST_EPSILON)
        return clo_i_fail(err, CLO_ARGUMENT, "epsilon must be at most %g for this method, not %g",
                          LARGEST_EPSILON, draft->budget.epsilon);
    if (whole && !is_practical(d, drawn))
        return clo_i_fail(err, CLO_ARGUMENT,
                          "draw=matrix takes too long for %zu of %zu dimensions: use draw=sequence",
                          drawn, d);
    return CLO_OK;
}

static clo_status take_basis(const bingham_plan *plan, clo_workspace *space, size_t d,
                             double **basis, clo_error *err)
{
    return clo_i_take(space, d * plan->how.dim, sizeof **basis, basis, err);
}

static clo_status make_plan(clo_draft *draft, void *state, clo_error *err)
{
    bingham_plan *const plan = state;
    const size_t d = draft->domain->cols, q = (size_t)draft->values[DIM];
    const bool whole = draft->values[DRAW] == MATRIX;
    clo_line line;
    double epsilon, *unused;
    if (q > d)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "dim must be at most the number of columns, %zu, not %zu", d, q);
    CLO_TRY(check(draft, d, q, whole, err));
    plan->gamma = draft->values[GAMMA];
    plan->reach = draft->values[REACH];
    CLO_TRY(clo_i_check_gamma(plan->gamma, err));
    plan->how = (clo_gibbs){ .clusters = 1,
                             .dim = q,
                             .sweeps = draft->values[DRAW] == SWEEPS ? SWEEP_COUNT : 1,
                             .steps = draft->values[DRAW] != SWEEPS,
                             .whole = whole,
                             .assign = CLO_GIBBS_NEAREST };
    const clo_event draws = { .kind = CLO_EVENT_EXPONENTIAL,
                              .parameter = 1,
                              .count = clo_i_gibbs_charges(&plan->how, d) };
    CLO_TRY(clo_calibrate(&draws, 1, draft->budget, &epsilon, err));
    CLO_TRY(clo_i_plan_gibbs(draft->domain, &plan->how, epsilon, draws.count,
                             draws.count == 1 ? "a subspace, in one draw"
                                              : "a subspace, one query per vector",
                             &line, err));
    CLO_TRY(take_basis(plan, draft->room, d, &unused, err));
    CLO_TRY(clo_i_subspace_release_room(draft->room, d, err));
    return clo_i_draft_add(draft, &line, err);
}

static clo_guarantee guarantee_of(const double *values)
{
    return values[DRAW] == SWEEPS ? CLO_ASYMPTOTIC : CLO_IDEALIZED;
}

static clo_status run(const void *state, const clo_domain *domain, const clo_bounded *data,
                      clo_context *context, clo_release *out, clo_error *err)
{
    const bingham_plan *const plan = state;
    double *basis = NULL;
    CLO_TRY(take_basis(plan, context->workspace, domain->cols, &basis, err));
    CLO_TRY(clo_i_ask_gibbs(context, 0, data, &plan->how, basis, NULL, err));
    return clo_i_subspace_release(context, domain, plan->how.dim, basis, out, err);
}

/* Where the law is narrow its tilts are Gaussian, with variance 1 / (2 rate gap). */
static double error_at(const void *state, const clo_domain *domain, const clo_line *lines,
                       double rows, double reach)
{
    const bingham_plan *const plan = state;
    const double rate = (double)lines[0].rate_numerator / (double)lines[0].rate_denominator;
    const double gap = clo_i_subspace_gap(domain->cols, plan->how.dim, plan->gamma, reach, rows);
    return clo_i_subspace_error(domain->cols, plan->how.dim, 1 / sqrt(2 * rate * gap));
}

static double predict(const void *state, const clo_domain *domain, const clo_line *lines,
                      double rows)
{
    const bingham_plan *const plan = state;
    return error_at(plan, domain, lines, rows, clo_i_subspace_reaches(plan->reach).usual);
}

static clo_between between(const void *state, const clo_domain *domain, const clo_line *lines,
                           double rows)
{
    const bingham_plan *const plan = state;
    return clo_i_subspace_between(error_at, plan, domain, lines, rows, plan->reach);
}

extern const clo_mechanism clo_i_mechanism_subspace_bingham;
const clo_mechanism clo_i_mechanism_subspace_bingham = {
    .family = "subspace",
    .method = "bingham",
    .summary = "one subspace (private PCA), by the exponential mechanism over subspaces",
    .proof = "proofs/subspace_bingham.md",
    .guarantee = CLO_ASYMPTOTIC,
    .is_research = true,
    .guarantee_of = guarantee_of,
    .params = params,
    .param_count = PARAM_COUNT,
    .plan_size = sizeof(bingham_plan),
    .plan = make_plan,
    .run = run,
    .predict = predict,
    .between = between,
    .prediction = "distance ||sin Theta||_F between the released and the true subspace",
    .hidden_from = clo_i_frames_hidden_from,
};
