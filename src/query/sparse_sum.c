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
#include "query/parts.h"
#include "bound/bound.h"
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
static uint64_t sensitivity_of(const clo_domain *domain, const clo_slot *slot, clo_event_kind kind)
{
    typedef unsigned __int128 u128;
    const uint64_t unit = slot->count_unit;
    const u128 square = (u128)R * R + (u128)unit * unit;
    const size_t entries = slot->entries ? least(slot->entries, domain->cols) : domain->cols;
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
                                 const char *label, clo_slot *out, clo_error *err)
{
    clo_slot slot = { .query = CLO_QUERY_sparse_sum,
                      .label = label,
                      .bits = BITS,
                      .cols = seen,
                      .groups = clusters,
                      .entries = entries,
                      .count_unit = count_unit(domain, entries, kind) };
    if (clusters < 1 || clusters > CLO_MAX_CLUSTERS)
        return clo_i_fail(err, CLO_ARGUMENT, "clusters must be between 1 and %d, not %zu",
                          (int)CLO_MAX_CLUSTERS, clusters);
    const uint64_t sensitivity = sensitivity_of(domain, &slot, kind) * domain->rows_per_unit;
    if (kind == CLO_EVENT_PURE)
        CLO_TRY(clo_i_plan_laplace(sensitivity, parameter, 1, &slot, err));
    else
        CLO_TRY(clo_i_plan_gaussian(sensitivity, parameter, 1, &slot, err));
    slot.noise = (double)slot.scale / (double)R * clo_i_domain_radius(domain) *
                 (kind == CLO_EVENT_PURE ? sqrt(2) : 1);
    *out = slot;
    return CLO_OK;
}

static clo_law law_of(const clo_slot *slot)
{
    if (slot->event.kind == CLO_EVENT_PURE) return clo_i_laplace_law(1, slot->scale);
    return clo_i_gaussian_law(slot->scale);
}

/* Sums modulo 2^64: wrapping is post-processing. */
static clo_status fill(clo_context *context, const clo_slot *slot, const clo_bounded *data,
                       const clo_assign *rule, size_t cols, int64_t *totals, clo_error *err)
{
    const clo_noise noise = { .count = slot->groups * (cols + 1),
                              .laws = { law_of(slot) },
                              .group = cols + 1 };
    CLO_TRY(clo_i_sparse_totals(context, slot, data, rule, (uint64_t *)totals, err));
    return clo_i_answer(context, slot, &noise, totals, err);
}

clo_status clo_i_ask_sparse_sum(clo_context *context, size_t number, const clo_bounded *data,
                                const clo_assign *rule, double *sums, double *counts,
                                clo_error *err)
{
    const size_t cols = clo_i_bounded_domain(data)->cols;
    const size_t mark = clo_i_workspace_mark(context->workspace);
    const clo_slot *slot;
    int64_t *totals = NULL;
    CLO_TRY(clo_i_meter_charge(context, number, CLO_QUERY_sparse_sum, &slot, err));
    clo_status status =
        clo_i_take(context->workspace, slot->groups * (cols + 1), sizeof *totals, &totals, err);
    if (!status) status = fill(context, slot, data, rule, cols, totals, err);
    if (!status) {
        for (size_t c = 0; c < slot->groups; c++) {
            const int64_t *const row = totals + c * (cols + 1);
            for (size_t j = 0; j < cols; j++) sums[c * cols + j] = (double)row[j] / (double)R;
            counts[c] = (double)row[cols] / (double)slot->count_unit;
        }
        clo_i_tell_answer(context, slot, sums, slot->groups * cols, (double)R);
        clo_i_tell_answer(context, slot, counts, slot->groups, (double)slot->count_unit);
    }
    clo_i_workspace_release(context->workspace, mark);
    return status;
}
