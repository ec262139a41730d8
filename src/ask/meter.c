/* meter.c - holds a run to its plan (meter.T1): a query that the plan did not list is an internal
 * fault, not an extra release. */
#include "ask/lens.h"
#include "ask/query_steps.h"
#include "ask/witness.h"
#include "bound/bound.h"

static const uint64_t MOST_CELLS = (uint64_t)1 << 28; /* of sparse records that are written out */
enum { LENS_BITS = 20 }; /* of what a lens shows, at most: lens.T1, sketch.T1 */

clo_status clo_i_meter_charge(clo_context *context, size_t line, const clo_query *query,
                              const clo_line **out, clo_error *err)
{
    clo_meter *const meter = context->meter;
    if (line >= meter->count || meter->lines[line].query != query)
        return clo_i_fail(err, CLO_INTERNAL, "a mechanism asked %s, which its plan does not list",
                          clo_i_query_name(query));
    if (meter->asked[line] >= meter->lines[line].event.count)
        return clo_i_fail(err, CLO_INTERNAL, "a mechanism asked %s more often than its plan says",
                          clo_i_query_name(query));
    if (meter->lines[line].lens != (int32_t)clo_i_lens_glass(context->lens) ||
        (context->lens && meter->lines[line].cols != context->lens->cols))
        return clo_i_fail(err, CLO_INTERNAL,
                          "a mechanism asked %s through another lens than its "
                          "plan says",
                          clo_i_query_name(query));
    if (context->lens && meter->lines[line].bits > LENS_BITS)
        return clo_i_fail(err, CLO_INTERNAL,
                          "a mechanism asked %s through a lens on a grid of %d bits, of which a "
                          "lens has at most %d",
                          clo_i_query_name(query), meter->lines[line].bits, (int)LENS_BITS);
    meter->asked[line]++;
    clo_i_witness_charged(meter, &meter->lines[line]);
    *out = &meter->lines[line];
    return CLO_OK;
}

void clo_i_tell_answer(const clo_context *context, const clo_line *line, const double *values,
                       size_t count, double unit)
{
    clo_i_witness_told(context->meter, line, values, count, unit);
    if (context->answer)
        context->answer(context->user, clo_i_query_name(line->query), values, count);
}

void clo_i_tell_choice(const clo_context *context, const clo_line *line, size_t chosen)
{
    const double value = (double)chosen;
    if (context->answer) context->answer(context->user, clo_i_query_name(line->query), &value, 1);
}

void clo_i_meter_finish(const clo_meter *meter)
{
    clo_i_witness_finished(meter);
}

bool clo_i_data_fit(const clo_bounded *data, const clo_domain *domain)
{
    return clo_i_domain_equal(clo_i_bounded_domain(data), domain);
}

bool clo_i_data_is_streamed(const clo_bounded *data)
{
    return clo_i_bounded_is_streamed(data);
}

clo_status clo_i_data_check_memory(const clo_bounded *data, size_t workspace, int threads,
                                   clo_error *err)
{
    return clo_i_bounded_check_memory(data, workspace, threads, err);
}

clo_status clo_i_recenter_check(const clo_bounded *data, clo_error *err)
{
    const clo_domain *const domain = clo_i_bounded_domain(data);
    const bool known = domain->relation == CLO_REPLACE && !domain->unit;
    const uint64_t rows = known ? clo_i_bounded_slots(data) : domain->rows;
    if (clo_i_bounded_is_sparse(data) && clo_i_bounded_is_streamed(data))
        return clo_i_fail(err, CLO_UNSUPPORTED,
                          "a private center needs sparse rows written out in all columns, which a "
                          "run with a limit of memory cannot do: leave out the private center");
    if (clo_i_bounded_is_sparse(data) && rows > MOST_CELLS / domain->cols)
        return clo_i_fail(err, CLO_UNSUPPORTED,
                          "a private center needs %llu sparse rows written out in all %zu "
                          "columns, which is more than %llu numbers: leave out the private center",
                          (unsigned long long)rows, domain->cols, (unsigned long long)MOST_CELLS);
    return CLO_OK;
}

clo_status clo_i_recenter_take(clo_workspace *workspace, const clo_bounded *data, bool shifted,
                               clo_bounded **out, clo_error *err)
{
    return clo_i_rebound_take(workspace, data, shifted, out, err);
}

clo_status clo_i_recenter_room(clo_workspace *space, const clo_bounded *data, bool shifted,
                               clo_error *err)
{
    return clo_i_rebound_room(space, data, shifted, err);
}

clo_status clo_i_recenter(const clo_bounded *data, const clo_domain *domain, const double *shift,
                          clo_bounded *moved, clo_error *err)
{
    return clo_i_rebound(data, domain, shift, moved, err);
}
