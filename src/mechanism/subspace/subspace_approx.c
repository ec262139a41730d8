/*
 * subspace_approx.c - one subspace of data that nearly lie on one (singhal2021, Algorithm 2, with
 * its constants put right): how many records it takes depends on the subspace's dimension, not on
 * that of the data.
 *
 * The records are divided into many blocks, and each block names the cell that its own subspace is
 * in (subspace_cells.h).  Where the data are as near to a subspace as gamma says, many blocks name
 * the same cell, and a histogram finds it (histogram.T2); the subspace of that cell's centre is
 * released (subspace_approx.T1).  Where they are not, no cell is found, and the release says so.
 */
#include "mechanism/subspace/subspace_cells.h"
#include "mechanism/subspace/subspace_units.h"
#include "mechanism/common/forecast.h"
#include "query/histogram.h"

enum { DIM, GAMMA, BLOCKS, REACH, PARAM_COUNT };

static const clo_param params[PARAM_COUNT] = {
    [DIM] = { "dim", CLO_PARAM_INT, 1, 4096, 2, NULL, "dimension of the subspace" },
    [GAMMA] = { CLO_SUBSPACE_GAMMA, NULL,
                "public knowledge, never from the data: the largest spread of the records across "
                "the subspace, as a share of the smallest spread along it" },
    [BLOCKS] = { "blocks", CLO_PARAM_INT, 0, 65536, 0, NULL,
                 "number of blocks that the records are divided into; 0: chosen from the public "
                 "facts" },
    [REACH] = { CLO_SUBSPACE_REACH, NULL,
                CLO_REACH_IS "only for the choice of a method; 0: not stated" },
};

static clo_status take_basis(const clo_cells_plan *plan, clo_workspace *space, size_t d,
                             double **basis, clo_error *err)
{
    return clo_i_take(space, d * plan->dim, sizeof **basis, basis, err);
}

static clo_status make_plan(clo_draft *draft, void *state, clo_error *err)
{
    clo_cells_plan *const plan = state;
    const size_t d = draft->domain->cols;
    double *unused;
    *plan = (clo_cells_plan){ .dim = (size_t)draft->values[DIM],
                              .parts = 1,
                              .blocks = (size_t)draft->values[BLOCKS] };
    CLO_TRY(clo_i_cells_plan(draft, draft->values[GAMMA], 1, plan, err));
    CLO_TRY(take_basis(plan, draft->room, d, &unused, err));
    CLO_TRY(clo_i_cells_room(plan, d, draft->room, err));
    return clo_i_subspace_release_room(draft->room, d, err);
}

static clo_status run(const void *state, const clo_domain *domain, const clo_bounded *data,
                      clo_context *context, clo_release *out, clo_error *err)
{
    const clo_cells_plan *const plan = state;
    const size_t d = domain->cols;
    clo_cells_found answer = { .cells = NULL };
    double *basis = NULL;
    CLO_TRY(take_basis(plan, context->workspace, d, &basis, err));
    CLO_TRY(clo_i_cells_ask(context, plan, data, d, &answer, err));
    const clo_cell *const cell = answer.found;
    CLO_TRY(clo_i_release_put(out, "found", &(double){ cell->found }, 1, (size_t[]){ 1 }, err));
    if (!cell->found) return CLO_OK;
    CLO_TRY(clo_i_cells_span(context, answer.cells, cell->place, basis, err));
    return clo_i_subspace_release(context, domain, plan->dim, basis, out, err);
}

static clo_status open_blocks(const void *state, size_t cols, clo_context *context,
                              const uint64_t *words, size_t count, clo_block_work *out,
                              clo_error *err)
{
    return clo_i_cells_open(state, cols, context, words, count, out, err);
}

static double predict(const void *state, const clo_domain *domain, const clo_line *lines,
                      double rows)
{
    return clo_i_cells_error(state, domain, lines, rows);
}

extern const clo_mechanism clo_i_mechanism_subspace_approx;
const clo_mechanism clo_i_mechanism_subspace_approx = {
    .family = "subspace",
    .method = "approx",
    .summary = "one subspace that the records nearly lie on, whatever the number of columns",
    .proof = "proofs/subspace_approx.md",
    .guarantee = CLO_EXACT,
    .is_research = true,
    .params = params,
    .param_count = PARAM_COUNT,
    .plan_size = sizeof(clo_cells_plan),
    .plan = make_plan,
    .run = run,
    .open_blocks = open_blocks,
    .predict = predict,
    .prediction = "distance ||sin Theta||_F between the released and the true subspace, where the "
                  "records are as near to one as gamma says",
    .hidden_from = clo_i_frames_hidden_from,
};
