/*
 * sparse_sum.c - for each cluster the sum of its sparse records over all columns, and their number
 * (sparse_sum.T1).
 *
 * Every one of the k (d + 1) numbers gets its noise, whether or not any record has an entry there:
 * so no column tells by its absence that nobody has it, and no delta is spent on a threshold.  That
 * a million draws cost a fraction of a second is what makes this the simplest way; what noise alone
 * would do is then cut off by whoever reads the answer, at about the logarithm of their number.
 *
 * Gaussian noise follows the L2 norm of a record and needs no sparsity.  Laplace noise follows the
 * L1 norm, which for s entries is at most sqrt(s) times the L2 norm.
 */
#include "query/sparse_sum.h"
#include "query/queries.h"
#include "bound/bound.h"
#include "query/sparse_internal.h"
#include "ask/assign.h"
#include <math.h>

enum { BITS = 20, USUAL_ENTRIES = 64 };
static const uint64_t R = (uint64_t)1 << BITS;

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* How heavily the count is weighed: as in gaussian_sum.c and laplace_sum.c, but for as many
 * coordinates as a mean will keep. */
static uint64_t count_unit(const clo_domain *domain, size_t entries, clo_event_kind kind)
{
    const double kept = (double)least(domain->cols, entries ? entries : USUAL_ENTRIES);
    if (kind == CLO_EVENT_PURE) return (uint64_t)((double)R * cbrt(0.25 / sqrt(kept)));
    if (domain->relation == CLO_REPLACE) return R;
    return (uint64_t)((double)R * sqrt(0.5 / sqrt(kept)));
}

/* sparse_sum.T1 */
static uint64_t sensitivity_of(const clo_domain *domain, const clo_line *line, clo_event_kind kind)
{
    typedef unsigned __int128 u128;
    const uint64_t unit = line->count_unit;
    const u128 square = (u128)R * R + (u128)unit * unit;
    const size_t asked = clo_i_sparse_sum_fields(line).entries;
    const size_t entries = asked ? least(asked, domain->cols) : domain->cols;
    if (kind == CLO_EVENT_PURE) {
        const uint64_t longest = clo_i_root_up((u128)R * R * entries + 1) - 1;
        return (longest + unit) * (domain->relation == CLO_REPLACE ? 2 : 1);
    }
    if (domain->relation == CLO_ADD_REMOVE) return clo_i_root_up(square);
    const uint64_t two_clusters = clo_i_root_up(2 * square);
    return two_clusters < 2 * R ? 2 * R : two_clusters;
}

clo_status clo_i_plan_sparse_sum(const clo_domain *domain, size_t seen, size_t clusters,
                                 size_t entries, clo_event_kind kind, double parameter,
                                 const char *label, clo_line *out, clo_error *err)
{
    clo_line line = { .query = &clo_i_query_sparse_sum,
                      .label = label,
                      .bits = BITS,
                      .cols = seen,
                      .groups = clusters,
                      .count_unit = count_unit(domain, entries, kind) };
    clo_i_sparse_sum_set_fields(&line, (clo_sparse_fields){ .entries = entries });
    CLO_TRY(clo_i_check_clusters(clusters, CLO_MAX_CLUSTERS, err));
    const uint64_t sensitivity = sensitivity_of(domain, &line, kind) * domain->rows_per_unit;
    if (kind == CLO_EVENT_PURE)
        CLO_TRY(clo_i_plan_laplace(sensitivity, parameter, 1, &line, err));
    else
        CLO_TRY(clo_i_plan_gaussian(sensitivity, parameter, 1, &line, err));
    line.noise = (double)line.scale / (double)R * clo_i_domain_radius(domain) *
                 (kind == CLO_EVENT_PURE ? sqrt(2) : 1);
    *out = line;
    return CLO_OK;
}

static clo_law law_of(const clo_line *line)
{
    if (line->event.kind == CLO_EVENT_PURE) return clo_i_laplace_law(1, line->scale);
    return clo_i_gaussian_law(line->scale);
}

/* Over all columns, of which the rule sees fewer. */
static clo_numbers numbers(const clo_line *line)
{
    (void)line;
    return (clo_numbers){ CLO_AS_TOLD, CLO_AS_TOLD };
}

clo_status clo_i_ask_sparse_sum(clo_context *context, size_t number, const clo_bounded *data,
                                const clo_assign *rule, double *sums, double *counts,
                                clo_error *err)
{
    const clo_ask told = { .rules = rule, .rule_count = 1 };
    clo_sum sum;
    CLO_TRY(clo_i_sum_begin(context, number, &clo_i_query_sparse_sum, data, &told, &sum, err));
    const size_t cols = sum.fold.cols, k = sum.line->groups;
    const clo_noise noise = { .count = sum.fold.entries,
                              .laws = { law_of(sum.line) },
                              .group = cols + 1 };
    clo_status status = clo_i_sum_fold(&sum, err);
    if (!status) status = clo_i_answer(context, sum.line, &noise, sum.fold.totals, err);
    if (!status) {
        for (size_t c = 0; c < k; c++) {
            const int64_t *const row = sum.fold.totals + c * (cols + 1);
            for (size_t j = 0; j < cols; j++) sums[c * cols + j] = (double)row[j] / (double)R;
            counts[c] = (double)row[cols] / (double)sum.line->count_unit;
        }
        clo_i_tell_answer(context, sum.line, sums, k * cols, (double)R);
        clo_i_tell_answer(context, sum.line, counts, k, (double)sum.line->count_unit);
    }
    clo_i_sum_end(&sum);
    return status;
}

const clo_query clo_i_query_sparse_sum = {
    .name = "sparse_sum",
    .reading = CLO_READING_SUM,
    .numbers = numbers,
    .lay_out = clo_i_sparse_lay_out,
    .sum = {
        .check = clo_i_cluster_sum_check,
        .entries = clo_i_sparse_numbers,
        .add = clo_i_sparse_add,
        .gather = clo_i_sparse_gather,
    },
};
