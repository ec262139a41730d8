/*
 * peel.c - the largest entries of each cluster's sum, one after the other: balcan2017's Algorithm 5
 * (peel.T1).
 *
 * In each round a column is chosen among those left by the exponential mechanism on the magnitude
 * of the sum there, and told of with a noisy value.  What is printed divides by the exact number of
 * records, and its constants are not enough where a record is replaced; here the number is noisy,
 * and one rate is made so that all rounds, all values and the number cost epsilon together.  Every
 * draw is exact, as choose.c makes it.
 */
#include "query/parts.h"
#include "bound/bound.h"
#include "parallel/parallel.h"
#include <math.h>
#include <stdlib.h>

enum { BITS = 20 };
static const uint64_t R = (uint64_t)1 << BITS;
static const uint64_t PARTS = (uint64_t)1 << 30; /* of an epsilon */
static const uint64_t MOST_SENSITIVE = (uint64_t)1 << 33;
static const double LARGEST_SCALE = 0x1p55; /* above it a draw might not fit (samplers.T2) */

/* Rounds cost the rate once each and a value its own rate along one record's entries: this weighs
 * the two about equally for records whose entries are of one size. */
static uint64_t weigh_values(size_t rounds, size_t entries)
{
    const double weight = floor((double)rounds / (2 * sqrt((double)entries)));
    return weight > 1 ? (uint64_t)weight : 1;
}

/* R sqrt((T + 1 + w)^2 + (s - 1) (1 + w)^2) + w u, rounded up: peel.T1 */
static uint64_t reach(size_t rounds, size_t entries, uint64_t weight, uint64_t unit)
{
    typedef unsigned __int128 u128;
    const u128 first = (u128)rounds + 1 + weight, other = 1 + weight;
    const u128 square = first * first + (u128)(entries - 1) * other * other;
    return clo_i_root_up(square * R * R) + weight * unit;
}

clo_status clo_i_plan_peel(const clo_domain *domain, size_t seen, size_t clusters, size_t entries,
                           size_t rounds, double epsilon, const char *label, clo_slot *out,
                           clo_error *err)
{
    const size_t cols = domain->cols;
    const size_t most = entries && entries < cols ? entries : cols;
    const double parts = epsilon * (double)PARTS;
    clo_slot slot = { .query = CLO_QUERY_peel,
                      .label = label,
                      .bits = BITS,
                      .cols = seen,
                      .groups = clusters,
                      .entries = entries,
                      .rounds = rounds < cols ? rounds : cols,
                      .count_unit = R };
    if (clusters < 1 || clusters > CLO_MAX_CLUSTERS)
        return clo_i_fail(err, CLO_ARGUMENT, "clusters must be between 1 and %d, not %zu",
                          (int)CLO_MAX_CLUSTERS, clusters);
    if (rounds < 1 || rounds > 1 << 20)
        return clo_i_fail(err, CLO_ARGUMENT, "a peel has between 1 and %d rounds, not %zu", 1 << 20,
                          rounds);
    if (!(parts >= 1))
        return clo_i_fail(err, CLO_BUDGET,
                          "so small a budget cannot choose anything: raise epsilon");
    if (!(epsilon <= 1e6))
        return clo_i_fail(err, CLO_ARGUMENT, "a peel needs an epsilon of at most 1e6");
    const uint64_t rows = domain->rows_per_unit * (domain->relation == CLO_REPLACE ? 2 : 1);
    slot.rate_weight = weigh_values(slot.rounds, most);
    const uint64_t one = reach(slot.rounds, most, slot.rate_weight, slot.count_unit);
    if (one > MOST_SENSITIVE / rows)
        return clo_i_fail(err, CLO_BUDGET,
                          "so many entries, of so many rows a unit, cannot be told one by one: "
                          "lower sparsity, or recover by sums");
    slot.sensitivity = one * rows;
    slot.rate_numerator = (uint64_t)parts;
    slot.rate_denominator = slot.sensitivity * PARTS;
    slot.event = (clo_event){ .kind = CLO_EVENT_PURE,
                              .parameter = (double)slot.rate_numerator / (double)PARTS,
                              .count = 1 };
    const double scale = ceil((double)slot.rate_denominator / (double)slot.rate_numerator /
                              (double)slot.rate_weight);
    if (!(scale <= LARGEST_SCALE))
        return clo_i_fail(err, CLO_BUDGET,
                          "so small a budget needs more noise than any release could bear: raise "
                          "epsilon");
    slot.scale = (uint64_t)scale;
    slot.noise = sqrt(2) * (double)slot.scale / (double)R * clo_i_domain_radius(domain);
    *out = slot;
    return CLO_OK;
}

/* What is left of one cluster's columns. */
typedef struct candidates {
    size_t count;
    int64_t *scores; /* magnitudes of the sum */
    size_t *columns;
} candidates;

static void start(const uint64_t *sum, size_t cols, candidates *left)
{
    left->count = cols;
    for (size_t j = 0; j < cols; j++) {
        left->scores[j] = llabs((int64_t)sum[j]);
        left->columns[j] = j;
    }
}

/* The chosen one leaves; the last takes its place.  Choices are public, and so is this order. */
static size_t take_out(candidates *left, size_t chosen)
{
    const size_t column = left->columns[chosen];
    left->count--;
    left->scores[chosen] = left->scores[left->count];
    left->columns[chosen] = left->columns[left->count];
    return column;
}

/* All choices of a cluster, and then the noise of all values and of the count: that is the same law
 * as value after choice, for no choice looks at a value.  numbers: rounds + 1, the count last. */
static clo_status peel_cluster(clo_context *context, const clo_slot *slot, const uint64_t *sum,
                               size_t cols, candidates *left, size_t *columns, int64_t *numbers,
                               clo_error *err)
{
    const uint64_t ask = clo_i_rng_next_ask(context->rng);
    const clo_law law =
        clo_i_laplace_law(slot->rate_numerator * slot->rate_weight, slot->rate_denominator);
    const size_t rounds = slot->rounds;
    clo_stream *stream = NULL;
    start(sum, cols, left);
    for (size_t t = 0; t < rounds; t++) {
        size_t chosen = 0;
        CLO_TRY(clo_i_draw_exponential(context, slot, left->scores, left->count, &chosen, err));
        columns[t] = take_out(left, chosen);
        numbers[t] = (int64_t)sum[columns[t]];
    }
    numbers[rounds] = (int64_t)sum[cols];
    CLO_TRY(clo_i_stream_open(context->rng, ask, 0, &stream, err));
    clo_i_add_noise_from(context, slot, stream, law, numbers, rounds + 1);
    const clo_status status = clo_i_stream_check(stream, err);
    clo_i_stream_close(stream);
    return status;
}

static clo_status publish(const clo_context *context, const clo_slot *slot, int64_t *numbers,
                          double *values, double *counts, clo_error *err)
{
    const size_t k = slot->groups, rounds = slot->rounds;
    CLO_TRY(clo_i_share_answer(context, numbers, k * (rounds + 1), err));
    for (size_t c = 0; c < k; c++) {
        const int64_t *const own = numbers + c * (rounds + 1);
        for (size_t t = 0; t < rounds; t++) values[c * rounds + t] = (double)own[t] / (double)R;
        counts[c] = (double)own[rounds] / (double)slot->count_unit;
    }
    clo_i_tell_answer(context, slot, values, k * rounds, (double)R);
    clo_i_tell_answer(context, slot, counts, k, (double)slot->count_unit);
    return CLO_OK;
}

static clo_status peel_all(clo_context *context, const clo_slot *slot, const clo_bounded *data,
                           const clo_assign *rule, size_t *columns, double *values, double *counts,
                           clo_error *err)
{
    const size_t k = slot->groups, rounds = slot->rounds, cols = clo_i_bounded_domain(data)->cols;
    clo_workspace *const space = context->workspace;
    candidates left = { .count = 0 };
    uint64_t *totals = NULL;
    int64_t *numbers = NULL;
    CLO_TRY(clo_i_take(space, k * (cols + 1), sizeof *totals, &totals, err));
    CLO_TRY(clo_i_take(space, cols, sizeof *left.scores, &left.scores, err));
    CLO_TRY(clo_i_take(space, cols, sizeof *left.columns, &left.columns, err));
    CLO_TRY(clo_i_take(space, k * (rounds + 1), sizeof *numbers, &numbers, err));
    CLO_TRY(clo_i_sparse_totals(context, slot, data, rule, totals, err));
    CLO_TRY(clo_i_comm_sum(context->comm, (int64_t *)totals, k * (cols + 1), err));
    for (size_t c = 0; c < k; c++)
        CLO_TRY(peel_cluster(context, slot, totals + c * (cols + 1), cols, &left,
                             columns + c * rounds, numbers + c * (rounds + 1), err));
    return publish(context, slot, numbers, values, counts, err);
}

clo_status clo_i_ask_peel(clo_context *context, size_t number, const clo_bounded *data,
                          const clo_assign *rule, size_t *columns, double *values, double *counts,
                          clo_error *err)
{
    const size_t mark = clo_i_workspace_mark(context->workspace);
    const clo_slot *slot;
    CLO_TRY(clo_i_meter_charge(context, number, CLO_QUERY_peel, &slot, err));
    const clo_status status = peel_all(context, slot, data, rule, columns, values, counts, err);
    clo_i_workspace_release(context->workspace, mark);
    return status;
}
