/*
 * subspaces_gibbs.c - k subspaces by the exponential mechanism (wang2015, section 4), drawn by a
 * Markov chain; its corrections are in gibbs.md.
 *
 * mode limit: the budget buys one draw from the chain's limit.  That the chain has reached it is
 * not proved, so the guarantee is asymptotic and must be accepted by name (subspaces_gibbs.T1).
 * mode steps: a public start, and each draw of frames paid for; no more than the arithmetic is
 * idealized (subspaces_gibbs.T2).
 *
 * Affine subspaces are linear ones, one dimension up, of records seen with a constant beside them.
 */
#include "mechanism/subspaces/subspaces_common.h"
#include "plan/mechanism.h"
#include "domain/domain.h"
#include "linalg/linalg.h"
#include "solver/solver.h"
#include "query/gibbs.h"
#include "ask/lens.h"
#include <math.h>
#include <string.h>

enum { CLUSTERS, DIM, FLATS, MODE, SCORE, SWEEPS, START, DRAW, ASSIGN, LABELS, PARAM_COUNT };
enum { LINEAR, AFFINE };
enum { LIMIT, STEPS };
enum { SUM, MIN };
enum { SEQUENCE, COLUMNS };

static const double HEIGHT = 0.7; /* of the constant beside a record, where flats are affine */
/* Sweeps that are enough for the means to be flat on data of the paper's kind. */
static const double LIMIT_SWEEPS = 2000, MIN_SWEEPS = 8000, STEP_SWEEPS = 8;

static const clo_param params[PARAM_COUNT] = {
    [CLUSTERS] = CLO_SUBSPACES_ROW_CLUSTERS(CLO_MAX_CLUSTERS),
    [DIM] = CLO_SUBSPACES_ROW_DIM(4096),
    [FLATS] = CLO_SUBSPACES_ROW_FLATS,
    [MODE] = { "mode", CLO_PARAM_CHOICE, 0, 1, LIMIT, "limit|steps",
               "limit: private if the chain has reached its limit, which nobody can check "
               "(asymptotic); steps: from a public start, each draw from its share of the budget "
               "(idealized)" },
    [SCORE] = { "score", CLO_PARAM_CHOICE, 0, 1, SUM, "sum|min",
                "sum: the score of the paper (wang2015), over random labels; min: over the "
                "nearest subspaces, more accurate, only for mode=limit" },
    [SWEEPS] = { "sweeps", CLO_PARAM_INT, 0, 1e8, 0, NULL,
                 "how often everything is drawn again; 0: 2000, 8000 with score=min, 8 with "
                 "mode=steps" },
    [START] = { "start", CLO_PARAM_CHOICE, 0, 3, 0, "uniform|kplanes|ssc|lrr",
                "where the chain starts; a solver's answer is not private, so only mode=limit "
                "allows it" },
    [DRAW] = { "draw", CLO_PARAM_CHOICE, 0, 1, SEQUENCE, "sequence|columns",
               "with mode=steps: sequence draws a subspace vector by vector; columns redraws one "
               "column at a time" },
    [ASSIGN] = { "assign", CLO_PARAM_CHOICE, 0, 2, CLO_GIBBS_COOLING, "cooling|nearest|random",
                 "with mode=steps: cooling assigns a record at random, more and more to the "
                 "nearest subspace; nearest, always to the nearest; random, as in the limit" },
    [LABELS] = { "labels", CLO_PARAM_CHOICE, 0, 1, 0, "no|yes",
                 "also release the subspace of each row, in the order of the rows; only under "
                 "replace" },
};
static const char *const solvers[] = { NULL, "kplanes", "ssc", "lrr" };

typedef struct gibbs_plan {
    clo_gibbs how;      /* its start is set where a run begins */
    const char *solver; /* to start from, or NULL */
    bool affine;
} gibbs_plan;

static clo_guarantee guarantee_of(const double *values)
{
    return values[MODE] == STEPS ? CLO_IDEALIZED : CLO_ASYMPTOTIC;
}

/* ---- the plan ---------------------------------------------------------------------------- */

static clo_status check_limit(const clo_gibbs *how, const char *solver, clo_error *err)
{
    if (how->score == CLO_GIBBS_MIN && how->labels)
        return clo_i_fail(err, CLO_ARGUMENT, "score=min has no labels to release: use score=sum");
    if (solver && !clo_solver_find(solver))
        return clo_i_fail(err, CLO_UNSUPPORTED, "this build has no solver %s to start from",
                          solver);
    return CLO_OK;
}

static clo_status check_steps(const clo_gibbs *how, const char *solver, clo_error *err)
{
    if (solver)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "mode=steps needs start=uniform, because the answer of a solver is not "
                          "private");
    if (how->score == CLO_GIBBS_MIN)
        return clo_i_fail(err, CLO_ARGUMENT, "score=min needs mode=limit: use score=sum");
    return CLO_OK;
}

static clo_status choose_shape(const clo_draft *draft, gibbs_plan *plan, clo_error *err)
{
    const double *const v = draft->values;
    clo_gibbs *const how = &plan->how;
    if (v[DIM] > (double)draft->domain->cols)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "dim must be at most the number of columns, %zu, not %g",
                          draft->domain->cols, v[DIM]);
    plan->affine = v[FLATS] == AFFINE;
    *how = (clo_gibbs){ .clusters = (size_t)v[CLUSTERS],
                        .dim = (size_t)v[DIM] + plan->affine,
                        .score = v[SCORE] == MIN ? CLO_GIBBS_MIN : CLO_GIBBS_SUM,
                        .steps = v[MODE] == STEPS,
                        .labels = v[LABELS] > 0 };
    plan->solver = solvers[(int)v[START]];
    const double usual = how->steps                    ? STEP_SWEEPS
                         : how->score == CLO_GIBBS_MIN ? MIN_SWEEPS
                                                       : LIMIT_SWEEPS;
    how->sweeps = (uint64_t)(v[SWEEPS] > 0 ? v[SWEEPS] : usual);
    if (!how->steps) return check_limit(how, plan->solver, err);
    how->assign = (clo_gibbs_assign)v[ASSIGN];
    how->columns = v[DRAW] == COLUMNS;
    return check_steps(how, plan->solver, err);
}

/* Beyond, the law of a frame is narrower than what its draws in doubles can follow. */
static const double LARGEST_EPSILON = 300;

/* What a run works with. */
typedef struct state {
    double *frames;         /* clusters x cols x dim: the answer; one more column where affine */
    double *labels;         /* rows, where they are released */
    double *points;         /* clusters x cols */
    double *bases;          /* clusters x cols x dim; without a constant, the answer itself */
    double *turn;           /* dim x dim of scratch, where affine */
    double *scale, *center; /* cols, each */
} state;

static size_t labels_of(const gibbs_plan *plan, const clo_domain *domain)
{
    return plan->how.labels ? (size_t)domain->rows : 0;
}

static clo_status take_state(const gibbs_plan *plan, const clo_domain *domain, clo_workspace *space,
                             state *s, clo_error *err)
{
    const size_t k = plan->how.clusters, w = plan->how.dim, q = w - plan->affine, d = domain->cols;
    CLO_TRY(clo_i_take(space, k * (d + plan->affine) * w, sizeof(double), &s->frames, err));
    CLO_TRY(clo_i_take(space, labels_of(plan, domain), sizeof(double), &s->labels, err));
    CLO_TRY(clo_i_take(space, k * d, sizeof(double), &s->points, err));
    CLO_TRY(clo_i_take(space, d, sizeof(double), &s->scale, err));
    CLO_TRY(clo_i_take(space, d, sizeof(double), &s->center, err));
    s->bases = s->frames;
    s->turn = NULL;
    if (!plan->affine) return CLO_OK;
    CLO_TRY(clo_i_take(space, k * d * q, sizeof(double), &s->bases, err));
    return clo_i_take(space, w * w, sizeof(double), &s->turn, err);
}

static clo_status make_plan(clo_draft *draft, void *plan_state, clo_error *err)
{
    gibbs_plan *const plan = plan_state;
    const size_t d = draft->domain->cols;
    clo_domain seen;
    state unused;
    clo_line line;
    double epsilon;
    if (draft->budget.epsilon > LARGEST_EPSILON)
        return clo_i_fail(err, CLO_ARGUMENT, "epsilon must be at most %g for this method, not %g",
                          LARGEST_EPSILON, draft->budget.epsilon);
    CLO_TRY(choose_shape(draft, plan, err));
    const clo_gibbs *const how = &plan->how;
    const clo_event draws = { .kind = CLO_EVENT_EXPONENTIAL,
                              .parameter = 1,
                              .count = clo_i_gibbs_charges(how, d + plan->affine) };
    CLO_TRY(clo_calibrate(&draws, 1, draft->budget, &epsilon, err));
    seen = plan->affine ? clo_i_lens_domain(draft->domain, d + 1) : *draft->domain;
    CLO_TRY(clo_i_plan_gibbs(&seen, how, epsilon, draws.count,
                             how->steps ? "frames of the subspaces, one query per draw"
                                        : "subspaces, one draw from the limit of a chain",
                             &line, err));
    line.lens = plan->affine;
    CLO_TRY(take_state(plan, draft->domain, draft->room, &unused, err));
    return clo_i_draft_add(draft, &line, err);
}

/* ---- the start --------------------------------------------------------------------------- */

/* A function of the records and of public randomness, by the solver's presets. */
static clo_status solve(void *user, const clo_block *block, double *bases, clo_error *err)
{
    const gibbs_plan *const plan = user;
    const size_t k = plan->how.clusters, q = plan->how.dim;
    const clo_solver *const solver = clo_solver_find(plan->solver);
    clo_partition found = { .count = 0 };
    clo_params *settings = NULL;
    clo_rng *rng = NULL;
    if (block->count < k * q) return clo_i_fail(err, CLO_ARGUMENT, "there are too few records");
    clo_status status = clo_solver_params_new(solver, &settings, err);
    if (!status) status = clo_params_set(settings, "clusters", (double)k, err);
    if (!status) status = clo_params_set(settings, "dim", (double)q, err);
    if (!status) status = clo_rng_new_seeded(block->seed, &rng, err);
    if (!status) {
        const clo_solver_input job = { .rows = block->rows,
                                       .count = block->count,
                                       .cols = block->cols,
                                       .rng = rng,
                                       .threads = 1,
                                       .progress_to = 1 };
        status = solver->solve(&job, settings->values, &found, err);
    }
    if (!status && found.width == q)
        memcpy(bases, found.bases, k * block->cols * q * sizeof *bases);
    else if (!status)
        status = clo_i_fail(err, CLO_INTERNAL, "the solver has found other dimensions");
    clo_i_partition_free(&found);
    clo_params_free(settings);
    clo_rng_free(rng);
    return status;
}

/* ---- the release ------------------------------------------------------------------------- */

/* A subspace V of the records with their constant, (d + 1) x (q + 1), meets the height of the
 * constant in the flat through `point` along `basis` (d x q). */
static clo_status cut(const double *v, size_t d, size_t q, const clo_lens *lens, double *turn,
                      double *basis, double *point, clo_error *err)
{
    const size_t w = q + 1;
    const double *const last = v + d * w;
    double square = 0, length = 0;
    for (size_t r = 0; r < w; r++) square += last[r] * last[r];
    square = fmax(square, 1e-12); /* a flat that passes the ball by, very far out */
    /* An orthonormal basis of R^(q+1) that begins with the last row's direction. */
    for (size_t r = 0; r < w; r++)
        for (size_t s = 0; s < w; s++) turn[r * w + s] = s == 0 ? last[r] : (r + 1 == s);
    CLO_TRY(clo_i_orthonormalize(turn, w, w, err));
    for (size_t j = 0; j < d; j++) {
        point[j] = 0;
        for (size_t r = 0; r < w; r++)
            point[j] += v[j * w + r] * last[r] * lens->constant / (square * lens->scale);
        for (size_t s = 1; s < w; s++) {
            basis[j * q + s - 1] = 0;
            for (size_t r = 0; r < w; r++) basis[j * q + s - 1] += v[j * w + r] * turn[r * w + s];
        }
    }
    for (size_t j = 0; j < d; j++) length += point[j] * point[j];
    for (size_t j = 0; j < d && length > 1; j++) point[j] /= sqrt(length);
    return clo_i_orthonormalize(basis, d, q, err);
}

/* From the ball to the data's own units: columns of different units stretch the subspaces. */
static clo_status put(const gibbs_plan *plan, const clo_domain *domain, const state *s,
                      clo_release *out, clo_error *err)
{
    const size_t k = plan->how.clusters, q = plan->how.dim - plan->affine, d = domain->cols;
    clo_i_domain_map(domain, s->scale, s->center);
    for (size_t l = 0; l < k; l++) {
        double *const basis = s->bases + l * d * q;
        clo_i_domain_unmap_point(domain, s->points + l * d);
        if (!domain->lower) continue;
        for (size_t j = 0; j < d; j++)
            for (size_t r = 0; r < q; r++) basis[j * q + r] *= s->scale[j];
        CLO_TRY(clo_i_orthonormalize(basis, d, q, err));
    }
    CLO_TRY(clo_i_release_put(out, "bases", s->bases, 3, (size_t[]){ k, d, q }, err));
    if (plan->affine || domain->lower || domain->center)
        CLO_TRY(clo_i_release_put(out, "offsets", s->points, 2, (size_t[]){ k, d }, err));
    return CLO_OK;
}

static clo_status release_flats(const gibbs_plan *plan, const clo_domain *domain,
                                const clo_lens *lens, const state *s, clo_release *out,
                                clo_error *err)
{
    const size_t k = plan->how.clusters, w = plan->how.dim, q = w - plan->affine, d = domain->cols;
    for (size_t l = 0; plan->affine && l < k; l++)
        CLO_TRY(cut(s->frames + l * (d + 1) * w, d, q, lens, s->turn, s->bases + l * d * q,
                    s->points + l * d, err));
    return put(plan, domain, s, out, err);
}

static clo_status run(const void *plan_state, const clo_domain *domain, const clo_bounded *data,
                      clo_context *context, clo_release *out, clo_error *err)
{
    const gibbs_plan *const plan = plan_state;
    gibbs_plan starting = *plan;
    const clo_gibbs *const how = &starting.how;
    clo_lens lens = { 0 };
    state s;
    CLO_TRY(take_state(plan, domain, context->workspace, &s, err));
    starting.how.start = plan->solver ? solve : NULL;
    starting.how.start_user = &starting;
    if (plan->affine) {
        CLO_TRY(clo_i_lens_make(context->workspace, NULL, domain->cols, 0, HEIGHT, &lens, err));
        context->lens = &lens;
    }
    const clo_status status = clo_i_ask_gibbs(context, 0, data, how, s.frames, s.labels, err);
    context->lens = NULL;
    CLO_TRY(status);
    CLO_TRY(release_flats(plan, domain, &lens, &s, out, err));
    if (!how->labels) return CLO_OK;
    return clo_i_release_put(out, "labels", s.labels, 1, (size_t[]){ labels_of(plan, domain) },
                             err);
}

extern const clo_mechanism clo_i_mechanism_subspaces_gibbs;
const clo_mechanism clo_i_mechanism_subspaces_gibbs = {
    .family = "subspaces",
    .method = "gibbs",
    .summary = "k subspaces by the exponential mechanism, drawn by a Markov chain",
    .proof = "proofs/subspaces_gibbs.md",
    .guarantee = CLO_ASYMPTOTIC,
    .is_research = true,
    .guarantee_of = guarantee_of,
    .params = params,
    .param_count = PARAM_COUNT,
    .plan_size = sizeof(gibbs_plan),
    .plan = make_plan,
    .run = run,
};
