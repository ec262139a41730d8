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
#include "query/peel.h"
#include "query/queries.h"
#include "bound/bound.h"
#include "query/sparse_internal.h"
#include "random/random.h"
#include "ask/assign.h"
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
                           size_t rounds, double epsilon, const char *label, clo_line *out,
                           clo_error *err)
{
    const size_t cols = domain->cols;
    const size_t most = entries && entries < cols ? entries : cols;
    const double parts = epsilon * (double)PARTS;
    clo_line line = { .query = &clo_i_query_peel,
                      .label = label,
                      .bits = BITS,
                      .cols = seen,
                      .groups = clusters,
                      .count_unit = R };
    clo_peel_fields fields = { .entries = entries, .rounds = rounds < cols ? rounds : cols };
    CLO_TRY(clo_i_check_clusters(clusters, CLO_MAX_CLUSTERS, err));
    if (rounds < 1 || rounds > 1 << 20)
        return clo_i_fail(err, CLO_ARGUMENT, "a peel has between 1 and %d rounds, not %zu", 1 << 20,
                          rounds);
    if (!(parts >= 1))
        return clo_i_fail(err, CLO_BUDGET, "epsilon is too small for a choice: raise it");
    if (!(epsilon <= 1e6))
        return clo_i_fail(err, CLO_ARGUMENT, "a peel needs an epsilon of at most 1e6");
    const uint64_t rows = domain->rows_per_unit * (domain->relation == CLO_REPLACE ? 2 : 1);
    fields.weight = weigh_values(fields.rounds, most);
    clo_i_peel_set_fields(&line, fields);
    const uint64_t one = reach(fields.rounds, most, fields.weight, line.count_unit);
    if (one > MOST_SENSITIVE / rows)
        return clo_i_fail(err, CLO_BUDGET,
                          "sparsity is too large for recover=peel with so many rows per unit: "
                          "lower it, or use recover=sums");
    line.sensitivity = one * rows;
    line.rate_numerator = (uint64_t)parts;
    line.rate_denominator = line.sensitivity * PARTS;
    line.event = (clo_event){ .kind = CLO_EVENT_PURE,
                              .parameter = (double)line.rate_numerator / (double)PARTS,
                              .count = 1 };
    const double scale =
        ceil((double)line.rate_denominator / (double)line.rate_numerator / (double)fields.weight);
    if (!(scale <= LARGEST_SCALE))
        return clo_i_fail(err, CLO_BUDGET,
                          "epsilon is so small that the noise would exceed every number: raise it");
    line.scale = (uint64_t)scale;
    line.noise = sqrt(2) * (double)line.scale / (double)R * clo_i_domain_radius(domain);
    *out = line;
    return CLO_OK;
}

/* What is left of one cluster's columns. */
typedef struct candidates {
    size_t count;
    int64_t *scores; /* magnitudes of the sum */
    size_t *columns;
    int64_t *numbers; /* what is noised of all clusters: the chosen values and the count of each */
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
static clo_status peel_cluster(clo_context *context, const clo_line *line, const uint64_t *sum,
                               size_t cols, candidates *left, size_t *columns, int64_t *numbers,
                               clo_error *err)
{
    const uint64_t ask = clo_i_rng_next_ask(context->rng);
    const clo_peel_fields fields = clo_i_peel_fields(line);
    const clo_law law =
        clo_i_laplace_law(line->rate_numerator * fields.weight, line->rate_denominator);
    clo_stream *stream = NULL;
    start(sum, cols, left);
    for (size_t t = 0; t < fields.rounds; t++) {
        size_t chosen = 0;
        CLO_TRY(clo_i_draw_exponential(context, line, left->scores, left->count, &chosen, err));
        columns[t] = take_out(left, chosen);
        numbers[t] = (int64_t)sum[columns[t]];
    }
    numbers[fields.rounds] = (int64_t)sum[cols];
    CLO_TRY(clo_i_stream_open(context->rng, ask, 0, &stream, err));
    clo_i_add_noise_from(context, line, stream, law, numbers, fields.rounds + 1);
    const clo_status status = clo_i_stream_check(stream, err);
    clo_i_stream_close(stream);
    return status;
}

static void publish(const clo_context *context, const clo_line *line, int64_t *numbers,
                    double *values, double *counts)
{
    const size_t k = line->groups, rounds = clo_i_peel_fields(line).rounds;
    clo_i_publish_answer(context, numbers, k * (rounds + 1));
    for (size_t c = 0; c < k; c++) {
        const int64_t *const own = numbers + c * (rounds + 1);
        for (size_t t = 0; t < rounds; t++) values[c * rounds + t] = (double)own[t] / (double)R;
        counts[c] = (double)own[rounds] / (double)line->count_unit;
    }
    clo_i_tell_answer(context, line, values, k * rounds, (double)R);
    clo_i_tell_answer(context, line, counts, k, (double)line->count_unit);
}

static clo_status take_candidates(clo_workspace *space, const clo_line *line, size_t cols,
                                  candidates *left, clo_error *err)
{
    const size_t all = line->groups * (clo_i_peel_fields(line).rounds + 1);
    CLO_TRY(clo_i_take(space, all, sizeof *left->numbers, &left->numbers, err));
    CLO_TRY(clo_i_take(space, cols, sizeof *left->scores, &left->scores, err));
    return clo_i_take(space, cols, sizeof *left->columns, &left->columns, err);
}

static clo_status lay_out(clo_fold *fold, clo_workspace *space, clo_error *err)
{
    candidates unused;
    CLO_TRY(clo_i_sparse_lay_out(fold, space, err));
    return fold->data ? CLO_OK : take_candidates(space, fold->line, fold->cols, &unused, err);
}

clo_status clo_i_ask_peel(clo_context *context, size_t number, const clo_bounded *data,
                          const clo_assign *rule, size_t *columns, double *values, double *counts,
                          clo_error *err)
{
    const clo_ask told = { .rules = rule, .rule_count = 1 };
    candidates left = { .count = 0 };
    clo_sum sum;
    CLO_TRY(clo_i_sum_begin(context, number, &clo_i_query_peel, data, &told, &sum, err));
    const size_t cols = sum.fold.cols, rounds = clo_i_peel_fields(sum.line).rounds;
    const uint64_t *const totals = (const uint64_t *)sum.fold.totals;
    clo_status status = take_candidates(context->workspace, sum.line, cols, &left, err);
    if (!status) status = clo_i_sum_fold(&sum, err);
    for (size_t c = 0; !status && c < sum.line->groups; c++)
        status = peel_cluster(context, sum.line, totals + c * (cols + 1), cols, &left,
                              columns + c * rounds, left.numbers + c * (rounds + 1), err);
    if (!status) publish(context, sum.line, left.numbers, values, counts);
    clo_i_sum_end(&sum);
    return status;
}

static clo_numbers numbers(const clo_line *line)
{
    const size_t all = line->groups * (clo_i_peel_fields(line).rounds + 1);
    return (clo_numbers){ all, all };
}

const clo_query clo_i_query_peel = {
    .name = "peel",
    .reading = CLO_READING_SUM,
    .numbers = numbers,
    .lay_out = lay_out,
    .sum = {
        .check = clo_i_cluster_sum_check,
        .entries = clo_i_sparse_numbers,
        .add = clo_i_sparse_add,
        .gather = clo_i_sparse_gather,
    },
};
