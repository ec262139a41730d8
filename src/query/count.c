/*
 * count.c - how many records there are, with Gaussian noise (count.T1).
 *
 * A record counts 2^20, so that the noise has a fine grid.  Under replace the number of records
 * is public and a mechanism has no need to ask; asked all the same, it is noised as if it were not.
 */
#include "query/parts.h"
#include "bound/bound.h"

static const uint64_t RECORD = (uint64_t)1 << 20;

clo_status clo_i_plan_count(const clo_domain *domain, double mu, uint64_t times, const char *label,
                            clo_slot *out, clo_error *err)
{
    clo_slot slot = { .query = CLO_QUERY_count, .label = label, .groups = 1, .count_unit = RECORD };
    CLO_TRY(clo_i_plan_gaussian(RECORD * domain->rows_per_unit, mu, times, &slot, err));
    slot.noise = (double)slot.scale / (double)RECORD;
    *out = slot;
    return CLO_OK;
}

clo_status clo_i_ask_count(clo_context *context, size_t number, const clo_bounded *data,
                           double *count, clo_error *err)
{
    const clo_slot *slot;
    CLO_TRY(clo_i_meter_charge(context, number, CLO_QUERY_count, &slot, err));
    const clo_noise noise = { .count = 1, .laws = { clo_i_gaussian_law(slot->scale) } };
    int64_t total = (int64_t)((uint64_t)clo_i_bounded_rows(data) * RECORD);
    CLO_TRY(clo_i_answer(context, slot, &noise, &total, err));
    *count = (double)total / (double)RECORD;
    clo_i_tell_answer(context, slot, count, 1, (double)RECORD);
    return CLO_OK;
}
