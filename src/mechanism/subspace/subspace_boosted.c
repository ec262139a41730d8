/*
 * subspace_boosted.c - subspace/approx on several disjoint parts of the records, and of their
 * answers one that most agree with (singhal2021, Algorithm 3, with the test of closeness that it
 * forgets): how often that goes wrong falls exponentially with the number of parts.
 *
 * A record is in one part, so that all of them cost what one does (subspace_boosted.T1); what
 * follows is a vote among released subspaces.  Where most parts are within alpha of the truth, the
 * answer is within 3 alpha (subspace_boosted.T2).  The parts' errors are independent of each other;
 * so the mean of those that agree is usually much better than any of them, and it is what is
 * released unless one of them is asked for (subspace_boosted.T4).
 */
#include "mechanism/subspace/subspace_cells.h"
#include "mechanism/subspace/subspace_units.h"
#include "mechanism/subspace/subspace_vote.h"
#include "mechanism/common/forecast.h"
#include <math.h>

enum { DIM, GAMMA, BETA, ALPHA, PARTS, BLOCKS, ANSWER, REACH, PARAM_COUNT };
enum { MEAN, ONE };
enum { MOST_PARTS = 1024 };
/* What the presets count on: how many parts of a hundred find a subspace within alpha, where alpha
 * is so many expected errors of a part; and how much narrower cells may be where not every part
 * needs to find one.  By measurement (bench/bench_subspace_approx.c). */
static const double SUCCESS = .8, ALPHA_ERRORS = 2.5, NARROW = .6;

/* Below it, sines are what rounding says. */
static const double LEAST_ALPHA = 1e-9;

static const clo_param params[PARAM_COUNT] = {
    [DIM] = { "dim", CLO_PARAM_INT, 1, 4096, 2, NULL, "dimension of the subspace" },
    [GAMMA] = { CLO_SUBSPACE_GAMMA, NULL,
                "public knowledge, never from the data: the largest spread of the records across "
                "the subspace, as a share of the smallest spread along it" },
    [BETA] = { "beta", CLO_PARAM_REAL, 1e-12, 0.5, 0.01, NULL,
               "the probability with which the vote may fail; it decides the number of parts" },
    [ALPHA] = { "alpha", CLO_PARAM_REAL, 0, 0.5, 0, NULL,
                "how far off a part may be, as the sine of an angle; parts within twice that "
                "agree; 0: chosen from the public facts" },
    [PARTS] = { "parts", CLO_PARAM_INT, 0, MOST_PARTS, 0, NULL,
                "number of parts of the records that vote; 0: follows from beta" },
    [BLOCKS] = { "blocks", CLO_PARAM_INT, 0, 65536, 0, NULL,
                 "number of blocks that each part is divided into; 0: chosen from the public "
                 "facts" },
    [ANSWER] = { "answer", CLO_PARAM_CHOICE, 0, 1, MEAN, "mean|one",
                 "mean: of the parts that agree; one: one of them" },
    [REACH] = { CLO_SUBSPACE_REACH, NULL,
                CLO_REACH_IS "only for the choice of a method; 0: not stated" },
};

typedef struct boosted_plan {
    clo_cells_plan cells;
    double alpha;
    bool mean;
} boosted_plan;

/* The chance that of so many parts, each right with probability SUCCESS by itself, no majority is
 * (subspace_boosted.T3). */
static double minority(size_t parts)
{
    double total = 0;
    for (size_t right = 0; right <= parts / 2; right++) {
        const double n = (double)parts, i = (double)right;
        total += exp(lgamma(n + 1) - lgamma(i + 1) - lgamma(n - i + 1) + i * log(SUCCESS) +
                     (n - i) * log1p(-SUCCESS));
    }
    return total;
}

/* An even number is no better than the odd one below it. */
static size_t good_parts(double beta)
{
    size_t parts = 1;
    while (minority(parts) > beta && parts + 2 <= MOST_PARTS) parts += 2;
    return parts;
}

/* Of the parts, and what they vote for. */
static clo_status take_bases(const boosted_plan *plan, clo_workspace *space, size_t d,
                             double **bases, double **basis, clo_error *err)
{
    const size_t cells = d * plan->cells.dim;
    CLO_TRY(clo_i_take(space, plan->cells.parts * cells, sizeof **bases, bases, err));
    return clo_i_take(space, cells, sizeof **basis, basis, err);
}

static clo_status count_run(const boosted_plan *plan, size_t d, clo_workspace *room, clo_error *err)
{
    double *bases, *basis;
    CLO_TRY(take_bases(plan, room, d, &bases, &basis, err));
    CLO_TRY(clo_i_cells_room(&plan->cells, d, room, err));
    CLO_TRY(clo_i_subspace_vote_room(room, plan->cells.parts, d, plan->cells.dim, err));
    return clo_i_subspace_release_room(room, d, err);
}

static clo_status make_plan(clo_draft *draft, void *state, clo_error *err)
{
    boosted_plan *const plan = state;
    const double *const values = draft->values;
    const size_t d = draft->domain->cols, k = (size_t)values[DIM];
    const size_t parts = values[PARTS] > 0 ? (size_t)values[PARTS] : good_parts(values[BETA]);
    *plan = (boosted_plan){ .cells = { .dim = k, .parts = parts, .blocks = (size_t)values[BLOCKS] },
                            .alpha = values[ALPHA],
                            .mean = values[ANSWER] == MEAN };
    CLO_TRY(clo_i_cells_plan(draft, values[GAMMA], NARROW, &plan->cells, err));
    if (!(plan->alpha > 0)) {
        const double error = clo_i_cells_error(&plan->cells, draft->domain, draft->lines, INFINITY);
        plan->alpha = fmax(fmin(ALPHA_ERRORS * error, .5), LEAST_ALPHA);
    }
    return count_run(plan, d, draft->room, err);
}

/* The subspaces of the parts that found one, one after the other. */
static clo_status span_found(clo_context *context, const clo_cells_found *answer, size_t parts,
                             clo_vote *vote, double *bases, clo_error *err)
{
    vote->bases = bases;
    for (size_t p = 0; p < parts; p++) {
        if (!answer->found[p].found) continue;
        CLO_TRY(clo_i_cells_span(context, &answer->cells[p], answer->found[p].place,
                                 bases + vote->count * vote->cols * vote->dim, err));
        vote->count++;
    }
    return CLO_OK;
}

static clo_status run(const void *state, const clo_domain *domain, const clo_bounded *data,
                      clo_context *context, clo_release *out, clo_error *err)
{
    const boosted_plan *const plan = state;
    const size_t parts = plan->cells.parts;
    clo_vote vote = {
        .cols = domain->cols, .dim = plan->cells.dim, .alpha = plan->alpha, .mean = plan->mean
    };
    clo_cells_found answer = { .cells = NULL };
    double *bases = NULL, *basis = NULL;
    size_t agreeing = 0;
    CLO_TRY(take_bases(plan, context->workspace, vote.cols, &bases, &basis, err));
    CLO_TRY(clo_i_cells_ask(context, &plan->cells, data, vote.cols, &answer, err));
    CLO_TRY(span_found(context, &answer, parts, &vote, bases, err));
    CLO_TRY(clo_i_subspace_vote(context->workspace, &vote, basis, &agreeing, err));
    const bool found = 2 * agreeing > vote.count;
    const double votes[] = { (double)parts, (double)vote.count, (double)agreeing };
    CLO_TRY(clo_i_release_put(out, "found", &(double){ found }, 1, (size_t[]){ 1 }, err));
    CLO_TRY(clo_i_release_put(out, "votes", votes, 1, (size_t[]){ 3 }, err));
    if (!found) return CLO_OK;
    return clo_i_subspace_release(context, domain, vote.dim, basis, out, err);
}

static clo_status open_blocks(const void *state, size_t cols, clo_context *context,
                              const uint64_t *words, size_t count, clo_block_work *out,
                              clo_error *err)
{
    const boosted_plan *const plan = state;
    return clo_i_cells_open(&plan->cells, cols, context, words, count, out, err);
}

/* The mean of as many independent errors as parts are counted on to agree. */
static double predict(const void *state, const clo_domain *domain, const clo_line *lines,
                      double rows)
{
    const boosted_plan *const plan = state;
    const double k = (double)plan->cells.dim, all = sqrt(fmin(k, (double)domain->cols - k));
    const double one = clo_i_cells_error(&plan->cells, domain, lines, rows);
    const double agreeing = fmax(SUCCESS * (double)plan->cells.parts, 1);
    return one < all && plan->mean ? one / sqrt(agreeing) : one;
}

extern const clo_mechanism clo_i_mechanism_subspace_boosted;
const clo_mechanism clo_i_mechanism_subspace_boosted = {
    .family = "subspace",
    .method = "boosted",
    .summary = "one subspace that the records nearly lie on, by a vote of several parts",
    .proof = "proofs/subspace_boosted.md",
    .guarantee = CLO_EXACT,
    .is_research = true,
    .params = params,
    .param_count = PARAM_COUNT,
    .plan_size = sizeof(boosted_plan),
    .plan = make_plan,
    .run = run,
    .open_blocks = open_blocks,
    .predict = predict,
    .prediction = "distance ||sin Theta||_F between the released and the true subspace, where the "
                  "records are as near to one as gamma says",
    .hidden_from = clo_i_frames_hidden_from,
};
