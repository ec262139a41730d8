/*
 * subspaces_aggregate.c - k subspaces by sample and aggregate (wang2015, Algorithm 1, repaired): an
 * ordinary solver on each of many disjoint blocks of the records, and one of its answers, with
 * noise in proportion to how much the answers differ (subspaces_aggregate.T1).
 *
 * It is here because the paper has it, and for solvers that nothing is known of: whatever the
 * solver does, the guarantee holds.  It needs many blocks that agree, and so many records: the
 * plan's prediction says how far from useful a given budget is.
 */
#include "domain/domain.h"
#include "mechanism/subspaces/subspaces_common.h"
#include "mechanism/common/forecast.h"
#include "linalg/linalg.h"
#include "solver/solver.h"
#include "query/aggregate.h"
#include "ask/lens.h"
#include <math.h>
#include <string.h>

enum { CLUSTERS, DIM, FLATS, SOLVER_NAME, BLOCKS, PARAM_COUNT };
enum { KPLANES, TSC, SSC, LRR, CALLER };
enum { USUAL_BLOCKS = 100, FEWEST_BLOCKS = 8, MOST_PRESET_BLOCKS = 400 };
static const double HEIGHT = 0.7; /* of the constant beside each record, where affine */

static const clo_param params[PARAM_COUNT] = {
    [CLUSTERS] = CLO_SUBSPACES_ROW_CLUSTERS(CLO_MAX_CLUSTERS),
    [DIM] = CLO_SUBSPACES_ROW_DIM(4096),
    [FLATS] = CLO_SUBSPACES_ROW_FLATS,
    [SOLVER_NAME] = { "solver", CLO_PARAM_CHOICE, 0, 4, KPLANES, "kplanes|tsc|ssc|lrr|caller",
                      "the solver of a block; caller: a function of the program that calls the "
                      "library" },
    [BLOCKS] = { "blocks", CLO_PARAM_INT, 0, 4096, 0, NULL,
                 "number of blocks that the records are divided into; 0: chosen from the public "
                 "facts" },
};

typedef struct aggregate_plan {
    size_t clusters, dim, blocks;
    bool affine;
    int solver;
} aggregate_plan;

/* Blocks as small as a solver can use: each subspace should be there about 4 dim + 1 times. */
static size_t good_blocks(const aggregate_plan *plan, const clo_domain *domain)
{
    const size_t rows = plan->clusters * (4 * plan->dim + 1);
    if (domain->rows == 0) return USUAL_BLOCKS;
    const size_t blocks = (size_t)(domain->rows / rows);
    return blocks < FEWEST_BLOCKS        ? FEWEST_BLOCKS
           : blocks > MOST_PRESET_BLOCKS ? MOST_PRESET_BLOCKS
                                         : blocks;
}

/* The fit, and the answer that it is made of. */
static clo_status take_state(const aggregate_plan *plan, clo_workspace *space, size_t d,
                             clo_flat_fit *fit, double **bases, clo_error *err)
{
    const size_t k = plan->clusters, q = plan->dim, affine = plan->affine;
    CLO_TRY(clo_i_flat_fit_take(space, k, d, q, plan->affine, fit, err));
    return clo_i_take(space, k * (d + affine) * (q + affine), sizeof **bases, bases, err);
}

static clo_status make_plan(clo_draft *draft, void *state, clo_error *err)
{
    aggregate_plan *const plan = state;
    const size_t d = draft->domain->cols;
    clo_flat_fit fit;
    double *bases;
    clo_line line;
    *plan = (aggregate_plan){ .clusters = (size_t)draft->values[CLUSTERS],
                              .dim = (size_t)draft->values[DIM],
                              .blocks = (size_t)draft->values[BLOCKS],
                              .affine = draft->values[FLATS] > 0,
                              .solver = (int)draft->values[SOLVER_NAME] };
    if (plan->blocks == 0) plan->blocks = good_blocks(plan, draft->domain);
    const size_t k = plan->clusters, q = plan->dim + plan->affine, width = d + plan->affine;
    const clo_domain seen = clo_i_lens_domain(draft->domain, width);
    CLO_TRY(clo_i_plan_aggregate(plan->affine ? &seen : draft->domain, k, q, plan->blocks,
                                 draft->budget, "solutions of the blocks, brought together", &line,
                                 err));
    line.lens = plan->affine;
    CLO_TRY(take_state(plan, draft->room, d, &fit, &bases, err));
    CLO_TRY(clo_i_subspaces_release_room(draft->room, d, plan->dim, err));
    return clo_i_draft_add(draft, &line, err);
}

/* ---- solving a block --------------------------------------------------------------------- */

static clo_status solve_with(const aggregate_plan *plan, const clo_solver_input *job,
                             clo_partition *out, clo_error *err)
{
    static const char *const names[] = { "kplanes", "tsc", "ssc", "lrr" };
    const clo_solver *const solver = clo_solver_find(names[plan->solver]);
    clo_params *settings = NULL;
    CLO_TRY(clo_solver_params_new(solver, &settings, err));
    clo_status status = clo_params_set(settings, "clusters", (double)plan->clusters, err);
    if (!status) status = clo_params_set(settings, "dim", (double)(plan->dim + plan->affine), err);
    if (!status) status = solver->solve(job, settings->values, out, err);
    clo_params_free(settings);
    return status;
}

/* A function of the block and of its own public seed; on one thread, for others solve others. */
static clo_status solve_block(void *user, const clo_block *block, double *bases, clo_error *err)
{
    const aggregate_plan *const plan = user;
    const size_t cells = plan->clusters * block->cols * (plan->dim + plan->affine);
    clo_partition found = { .count = 0 };
    clo_rng *rng = NULL;
    if (block->count < plan->clusters)
        return clo_i_fail(err, CLO_ARGUMENT, "the block has too few records");
    CLO_TRY(clo_rng_new_seeded(block->seed, &rng, err));
    const clo_solver_input job = { .rows = block->rows,
                                   .count = block->count,
                                   .cols = block->cols,
                                   .rng = rng,
                                   .threads = 1,
                                   .progress_to = 1 };
    const clo_status status = solve_with(plan, &job, &found, err);
    if (!status) memcpy(bases, found.bases, cells * sizeof *bases);
    clo_i_partition_free(&found);
    clo_rng_free(rng);
    return status;
}

/* The solver of the plan, or the caller's own, which every rank has been given. */
static clo_status choose_solver(const void *state, const clo_context *context, clo_block_work *out,
                                clo_error *err)
{
    const aggregate_plan *const plan = state;
    *out = (clo_block_work){ .solve = solve_block, .user = (void *)(uintptr_t)state };
    if (plan->solver == CALLER)
        *out = (clo_block_work){ .solve = context->solve_block, .user = context->solve_user };
    if (out->solve) return CLO_OK;
    return clo_i_fail(err, CLO_ARGUMENT,
                      "solver=caller needs a function: set clo_run_options.solve_block");
}

static clo_status open_blocks(const void *state, size_t cols, clo_context *context,
                              const uint64_t *words, size_t count, clo_block_work *out,
                              clo_error *err)
{
    (void)cols, (void)words;
    if (count) return clo_i_fail(err, CLO_FORMAT, "these bytes are no ask of this plan");
    return choose_solver(state, context, out, err);
}

/* ---- the run ----------------------------------------------------------------------------- */

/* A linear subspace of dimension q + 1 of what the lens shows, (x, h) up to a factor, meets the
 * plane of all (x, h) in an affine one: its directions are those without a last coordinate. */
static clo_status to_affine(double *seen, size_t d, size_t q, double *basis, double *point,
                            clo_error *err)
{
    const size_t width = q + 1;
    double *const last = seen + d * width, length = 0;
    double *frame = NULL;
    CLO_TRY(clo_i_alloc(width * width, sizeof *frame, &frame, err));
    for (size_t e = 0; e < width; e++) {
        frame[e * width] = last[e];
        length += last[e] * last[e];
    }
    /* The first column of the frame along `last`, so that the others are across it. */
    const clo_status status = clo_i_orthonormalize(frame, width, width, err);
    for (size_t j = 0; j < d && !status; j++) {
        double along = 0;
        for (size_t e = 0; e < width; e++) along += seen[j * width + e] * last[e];
        point[j] = length > 1e-12 ? HEIGHT * along / length : 0;
        for (size_t f = 0; f < q; f++) {
            double entry = 0;
            for (size_t e = 0; e < width; e++)
                entry += seen[j * width + e] * frame[e * width + f + 1];
            basis[j * q + f] = entry;
        }
    }
    clo_i_free(frame);
    if (status) return status;
    return clo_i_orthonormalize(basis, d, q, err);
}

static void pull_into_ball(double *point, size_t d)
{
    double square = 0;
    for (size_t j = 0; j < d; j++) square += point[j] * point[j];
    for (size_t j = 0; j < d && square > 1; j++) point[j] /= sqrt(square);
}

static clo_status run(const void *state, const clo_domain *domain, const clo_bounded *data,
                      clo_context *context, clo_release *out, clo_error *err)
{
    const aggregate_plan plan = *(const aggregate_plan *)state;
    const size_t k = plan.clusters, d = domain->cols, q = plan.dim;
    const size_t width = d + plan.affine, wide = q + plan.affine;
    clo_block_work work;
    clo_flat_fit fit;
    clo_lens lens;
    double *bases = NULL;
    CLO_TRY(choose_solver(state, context, &work, err));
    CLO_TRY(take_state(&plan, context->workspace, d, &fit, &bases, err));
    if (plan.affine) {
        CLO_TRY(clo_i_lens_make(context->workspace, NULL, d, d, HEIGHT, &lens, err));
        context->lens = &lens;
    }
    const clo_status status =
        clo_i_ask_aggregate(context, 0, data, work.solve, work.user, bases, err);
    context->lens = NULL;
    if (status) return status;
    for (size_t c = 0; c < k; c++) {
        double *const point = fit.points + c * d, *const basis = fit.bases + c * d * q;
        if (plan.affine) {
            CLO_TRY(to_affine(bases + c * width * wide, d, q, basis, point, err));
            pull_into_ball(point, d);
        } else {
            memcpy(basis, bases + c * d * q, d * q * sizeof *basis);
        }
    }
    fit.shapes_only = true;
    return clo_i_subspaces_release(context, domain, 0, &fit, out, err);
}

/* Where all blocks agree, the noise is what is left of the diameter after so many steps; that is
 * how well it can go at best. */
static double predict(const void *state, const clo_domain *domain, const clo_line *lines,
                      double rows)
{
    const aggregate_plan *const plan = state;
    const size_t width = domain->cols + plan->affine, wide = plan->dim + plan->affine;
    const double k = (double)plan->clusters;
    const double small = (double)(wide < width - wide ? wide : width - wide);
    const double diameter = sqrt(2 * k * small), beta = clo_i_aggregate_fields(&lines[0]).beta;
    const double steps = ((double)plan->blocks - 1) / (2 * (double)lines[0].sensitivity);
    const bool few = 3 * (double)lines[0].sensitivity / beta > (double)plan->blocks / 2;
    const double left = few ? diameter : fmin(diameter, 2 * diameter * exp(-beta * steps / 2));
    const double noise =
        left / clo_i_aggregate_fields(&lines[0]).alpha * sqrt(k * (double)width * small);
    (void)rows;
    return fmin(noise, sqrt(k * small * (1 - small / (double)width)));
}

extern const clo_mechanism clo_i_mechanism_subspaces_aggregate;
const clo_mechanism clo_i_mechanism_subspaces_aggregate = {
    .family = "subspaces",
    .method = "aggregate",
    .summary = "k subspaces, by an ordinary solver on disjoint blocks of the records",
    .proof = "proofs/subspaces_aggregate.md",
    .guarantee = CLO_IDEALIZED,
    .is_research = true,
    .params = params,
    .param_count = PARAM_COUNT,
    .plan_size = sizeof(aggregate_plan),
    .plan = make_plan,
    .run = run,
    .open_blocks = open_blocks,
    .predict = predict,
    .prediction = "distance d_W between the released and the true subspaces, where the solutions "
                  "of all blocks agree",
    .hidden_from = clo_i_frames_hidden_from,
};
