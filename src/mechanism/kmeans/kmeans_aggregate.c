/*
 * kmeans_aggregate.c - k-means by sample and aggregate (Nissim, Raskhodnikova and Smith 2007, with
 * the smooth bound of aggregate.T1): ordinary k-means on each of many disjoint blocks of the
 * records, and one block's centres with noise in proportion to how much the blocks differ
 * (kmeans_aggregate.T1).
 *
 * It is here because others are compared with it, and because it says how hard the task is where
 * nothing is known of the solver: it needs very many records, and blocks whose centres agree.
 */
#include "domain/domain.h"
#include "mechanism/common/centers_common.h"
#include "solver/solver.h"
#include "query/aggregate.h"
#include <math.h>
#include <string.h>

enum { CLUSTERS, BLOCKS, RESTARTS, PARAM_COUNT };
enum { RECORDS_A_CENTER = 10, FEWEST_BLOCKS = 8, MOST_PRESET_BLOCKS = 400 };

static const clo_param params[PARAM_COUNT] = {
    [CLUSTERS] = CLO_CENTERS_ROW_CLUSTERS,
    [BLOCKS] = { "blocks", CLO_PARAM_INT, 0, 4096, 0, NULL,
                 "number of blocks that the records are divided into; 0: chosen from the public "
                 "facts" },
    [RESTARTS] = { "restarts", CLO_PARAM_INT, 1, 1000, 3, NULL,
                   "starts of k-means per block; the best one is kept" },
};

typedef struct aggregate_plan {
    size_t clusters, blocks, restarts;
} aggregate_plan;

/* Blocks as small as k-means can use. */
static size_t good_blocks(const clo_domain *domain, size_t clusters)
{
    const double rows = clo_i_guessed_rows(domain, clusters);
    const double blocks = rows / (double)(RECORDS_A_CENTER * clusters);
    return (size_t)fmax(FEWEST_BLOCKS, fmin(blocks, MOST_PRESET_BLOCKS));
}

static clo_status take_centers(const aggregate_plan *plan, const clo_domain *domain,
                               clo_workspace *space, double **centers, clo_error *err)
{
    return clo_i_take(space, plan->clusters * domain->cols, sizeof **centers, centers, err);
}

static clo_status make_plan(clo_draft *draft, void *state, clo_error *err)
{
    aggregate_plan *const plan = state;
    double *unused;
    clo_line line;
    *plan = (aggregate_plan){ .clusters = (size_t)draft->values[CLUSTERS],
                              .blocks = (size_t)draft->values[BLOCKS],
                              .restarts = (size_t)draft->values[RESTARTS] };
    if (draft->budget.delta <= 0)
        return clo_i_fail(err, CLO_BUDGET,
                          "this method needs a delta above 0: give one, or choose another method");
    if (plan->blocks == 0) plan->blocks = good_blocks(draft->domain, plan->clusters);
    CLO_TRY(clo_i_plan_aggregate_centers(draft->domain, plan->clusters, plan->blocks, draft->budget,
                                         "centers of the blocks, brought together", &line, err));
    CLO_TRY(take_centers(plan, draft->domain, draft->room, &unused, err));
    return clo_i_draft_add(draft, &line, err);
}

/* A function of the block and of its own public seed; on one thread, for others solve others. */
static clo_status solve_block(void *user, const clo_block *block, double *centers, clo_error *err)
{
    const aggregate_plan *const plan = user;
    clo_kmeans_options options = clo_i_kmeans_default(plan->clusters);
    clo_rng *rng = NULL;
    uint32_t *labels = NULL;
    double cost;
    if (block->count < plan->clusters)
        return clo_i_fail(err, CLO_ARGUMENT, "the block has too few records");
    options.restarts = plan->restarts;
    CLO_TRY(clo_rng_new_seeded(block->seed, &rng, err));
    const clo_solver_input job = { .rows = block->rows,
                                   .count = block->count,
                                   .cols = block->cols,
                                   .rng = rng,
                                   .threads = 1,
                                   .progress_to = 1 };
    clo_status status = clo_i_alloc(block->count, sizeof *labels, &labels, err);
    if (!status) status = clo_i_kmeans(&job, &options, centers, labels, &cost, err);
    clo_i_wipe_free(labels, block->count * sizeof *labels);
    clo_rng_free(rng);
    return status;
}

/* What a block is solved by is in the plan: there is nothing to tell. */
static clo_status open_blocks(const void *state, size_t cols, clo_context *context,
                              const uint64_t *words, size_t count, clo_block_work *out,
                              clo_error *err)
{
    (void)cols, (void)context, (void)words;
    if (count) return clo_i_fail(err, CLO_FORMAT, "these bytes are no ask of this plan");
    *out = (clo_block_work){ .solve = solve_block, .user = (void *)(uintptr_t)state };
    return CLO_OK;
}

static clo_status run(const void *state, const clo_domain *domain, const clo_bounded *data,
                      clo_context *context, clo_release *out, clo_error *err)
{
    aggregate_plan plan = *(const aggregate_plan *)state;
    const clo_i_center_noise unknown = { 0 }; /* its scale is a secret */
    double *centers = NULL;
    CLO_TRY(take_centers(&plan, domain, context->workspace, &centers, err));
    CLO_TRY(clo_i_ask_aggregate(context, 0, data, solve_block, &plan, centers, err));
    return clo_i_release_centers(domain, unknown, plan.clusters, centers, NULL, out, err);
}

extern const clo_mechanism clo_i_mechanism_kmeans_aggregate;
const clo_mechanism clo_i_mechanism_kmeans_aggregate = {
    .family = "kmeans",
    .method = "aggregate",
    .summary = "k centers, by ordinary k-means on disjoint blocks of the records",
    .proof = "proofs/kmeans_aggregate.md",
    .guarantee = CLO_IDEALIZED,
    .is_research = true,
    .params = params,
    .param_count = PARAM_COUNT,
    .plan_size = sizeof(aggregate_plan),
    .plan = make_plan,
    .run = run,
    .open_blocks = open_blocks,
};
