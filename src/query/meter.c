/* meter.c - holds a run to its plan (meter.T1): a query that the plan did not list is an internal
 * fault, not an extra release. */
#include "query/parts.h"
#include "query/witness.h"
#include "bound/bound.h"

static const uint64_t MOST_CELLS = (uint64_t)1 << 28; /* of sparse records that are written out */
enum { LENS_BITS = 20 }; /* of what a lens shows, at most: lens.T1, sketch.T1 */

const char *clo_i_query_name(clo_query_kind kind)
{
    static const char *const names[] = {
#define QUERY(name, summary) #name,
#include "query/table.def"
#undef QUERY
    };
    return (unsigned)kind < CLO_QUERY_KINDS ? names[kind] : "?";
}

clo_status clo_i_meter_charge(clo_context *context, size_t slot, clo_query_kind query,
                              const clo_slot **out, clo_error *err)
{
    clo_meter *const meter = context->meter;
    if (slot >= meter->count || meter->slots[slot].query != query)
        return clo_i_fail(err, CLO_INTERNAL, "a mechanism asked %s, which its plan does not list",
                          clo_i_query_name(query));
    if (meter->asked[slot] >= meter->slots[slot].event.count)
        return clo_i_fail(err, CLO_INTERNAL, "a mechanism asked %s more often than its plan says",
                          clo_i_query_name(query));
    if (meter->slots[slot].lens != (context->lens != NULL) ||
        (context->lens && meter->slots[slot].cols != context->lens->cols) ||
        (context->lens && meter->slots[slot].sketch != (context->lens->places != NULL)))
        return clo_i_fail(err, CLO_INTERNAL,
                          "a mechanism asked %s through another lens than its "
                          "plan says",
                          clo_i_query_name(query));
    if (context->lens && meter->slots[slot].bits > LENS_BITS)
        return clo_i_fail(err, CLO_INTERNAL,
                          "a mechanism asked %s through a lens on a grid of %d bits, of which a "
                          "lens has at most %d",
                          clo_i_query_name(query), meter->slots[slot].bits, (int)LENS_BITS);
    meter->asked[slot]++;
    clo_i_witness_charged(meter, &meter->slots[slot]);
    *out = &meter->slots[slot];
    return CLO_OK;
}

void clo_i_tell_answer(const clo_context *context, const clo_slot *slot, const double *values,
                       size_t count, double unit)
{
    clo_i_witness_told(context->meter, slot, values, count, unit);
    if (context->answer)
        context->answer(context->user, clo_i_query_name(slot->query), values, count);
}

void clo_i_tell_choice(const clo_context *context, const clo_slot *slot, size_t chosen)
{
    const double value = (double)chosen;
    if (context->answer) context->answer(context->user, clo_i_query_name(slot->query), &value, 1);
}

void clo_i_meter_finish(const clo_meter *meter)
{
    clo_i_witness_finished(meter);
}

bool clo_i_data_fit(const clo_bounded *data, const clo_domain *domain)
{
    return clo_i_domain_equal(clo_i_bounded_domain(data), domain);
}

clo_status clo_i_recenter_check(const clo_bounded *data, clo_error *err)
{
    const clo_domain *const domain = clo_i_bounded_domain(data);
    const bool known = domain->relation == CLO_REPLACE && !domain->unit;
    const uint64_t rows = known ? clo_i_bounded_rows(data) : domain->rows;
    if (clo_i_bounded_is_sparse(data) && rows > MOST_CELLS / domain->cols)
        return clo_i_fail(err, CLO_UNSUPPORTED,
                          "to learn a centre, %llu sparse rows would be written out in all %zu "
                          "columns, more than %llu numbers: leave the centre at 0",
                          (unsigned long long)rows, domain->cols, (unsigned long long)MOST_CELLS);
    return CLO_OK;
}

clo_status clo_i_recenter(const clo_bounded *data, const clo_domain *domain, const double *shift,
                          clo_bounded **out, clo_error *err)
{
    return clo_i_rebound(data, domain, shift, out, err);
}
