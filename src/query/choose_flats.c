/*
 * choose_flats.c - one of several sets of subspaces or flats, by the exponential mechanism on how
 * well the records lie on them (choose_flats.T1).
 *
 * A record's part in a set's cost is its squared distance to the nearest flat of the set, an
 * integer from 0 to 2^b (assign.T2).  Replacing a record changes a cost by at most 2^b; adding one
 * raises all costs at once, by 0 to 2^b, so that they change by a range of 2^b, not of twice that,
 * and the same epsilon buys a choice that is twice as sharp.
 */
#include "query/parts.h"
#include "bound/bound.h"
#include "parallel/parallel.h"

enum { BITS = 15, FINEST_UNIT = 20, MOST_CANDIDATES = 1024 };
/* The largest sensitivity that a choice takes. */
static const uint64_t MOST_SENSITIVITY = (uint64_t)1 << 31;

clo_status clo_i_plan_choose_flats(const clo_domain *domain, size_t candidates, size_t vectors,
                                   double epsilon, uint64_t times, const char *label, clo_line *out,
                                   clo_error *err)
{
    clo_line line = { .query = CLO_QUERY_choose_flats,
                      .label = label,
                      .bits = BITS,
                      .cols = domain->cols,
                      .groups = candidates,
                      .vectors = vectors };
    uint64_t unit = (uint64_t)1 << FINEST_UNIT;
    if (candidates < 1 || candidates > MOST_CANDIDATES)
        return clo_i_fail(err, CLO_ARGUMENT, "candidates must be between 1 and %d, not %zu",
                          (int)MOST_CANDIDATES, candidates);
    while (unit * domain->rows_per_unit > MOST_SENSITIVITY) unit /= 2;
    line.count_unit = unit;
    /* Half of the range by which the costs of one unit's records may change: choose_flats.T1. */
    const uint64_t sensitivity = domain->relation == CLO_REPLACE ? unit : unit / 2;
    CLO_TRY(
        clo_i_plan_exponential(sensitivity * domain->rows_per_unit, epsilon, times, &line, err));
    *out = line;
    return CLO_OK;
}

typedef struct work {
    const clo_assign *candidates;
    size_t count, vectors, block_rows;
    int unit_bits;
    double *scores;      /* a thread: block_rows x vectors */
    uint64_t *distances; /* a thread: block_rows */
    int64_t *costs;      /* a thread: count */
} work;

static clo_status add_block(void *user, int thread, size_t block, const double *values, size_t rows)
{
    const work *const w = user;
    double *const scores = w->scores + (size_t)thread * w->block_rows * w->vectors;
    uint64_t *const distances = w->distances + (size_t)thread * w->block_rows;
    (void)block;
    for (size_t c = 0; c < w->count; c++) {
        int64_t *const cost = &w->costs[(size_t)thread * w->count + c];
        clo_i_assign_distances(&w->candidates[c], values, rows, w->unit_bits, scores, distances);
        for (size_t i = 0; i < rows; i++) *cost += (int64_t)distances[i];
    }
    return CLO_OK;
}

static clo_status check(const clo_line *line, const clo_assign *candidates, size_t cols,
                        clo_error *err)
{
    for (size_t c = 0; c < line->groups; c++) {
        const clo_assign *const rule = &candidates[c];
        const bool flats = rule->kind == CLO_ASSIGN_SUBSPACES || rule->kind == CLO_ASSIGN_FLATS;
        if (!flats || rule->bits != line->bits || rule->cols != cols ||
            clo_i_assign_width(rule) > line->vectors)
            return clo_i_fail(err, CLO_INTERNAL, "the candidates are not those of the plan");
    }
    return CLO_OK;
}

clo_status clo_i_ask_choose_flats(clo_context *context, size_t number, const clo_bounded *data,
                                  const clo_assign *candidates, size_t *chosen, clo_error *err)
{
    const size_t threads = (size_t)context->threads;
    clo_workspace *const space = context->workspace;
    const size_t mark = clo_i_workspace_mark(space);
    const clo_line *line;
    double *scratch = NULL;
    CLO_TRY(clo_i_meter_charge(context, number, CLO_QUERY_choose_flats, &line, err));
    CLO_TRY(check(line, candidates, clo_i_pass_cols(context, data), err));
    work w = { .candidates = candidates,
               .count = line->groups,
               .vectors = line->vectors,
               .block_rows = clo_i_pass_block_rows(context, data) };
    while (((uint64_t)1 << w.unit_bits) < line->count_unit) w.unit_bits++;
    clo_status status = clo_i_take(space, threads * w.count, sizeof(int64_t), &w.costs, err);
    if (!status)
        status =
            clo_i_take(space, threads * w.block_rows * w.vectors, sizeof(double), &w.scores, err);
    if (!status)
        status = clo_i_take(space, threads * w.block_rows, sizeof(uint64_t), &w.distances, err);
    if (!status)
        status = clo_i_take(space, clo_i_pass_scratch(context, data, context->threads),
                            sizeof(double), &scratch, err);
    if (!status)
        status =
            clo_i_pass(context, data, line->bits, context->threads, scratch, add_block, &w, err);
    if (!status) {
        for (size_t e = w.count; e < threads * w.count; e++) w.costs[e % w.count] += w.costs[e];
        status = clo_i_comm_sum(context->comm, w.costs, w.count, err);
    }
    if (!status) {
        for (size_t c = 0; c < w.count; c++) w.costs[c] = -w.costs[c];
        status = clo_i_draw_exponential(context, line, w.costs, w.count, chosen, err);
    }
    clo_i_workspace_release(space, mark);
    return status;
}
