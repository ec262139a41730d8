/*
 * choose.c - the exponential mechanism over finitely many integer scores, drawn exactly
 * (choose.T1, choose.T2).
 *
 * Weight exp(score * rate) with a rational rate = epsilon / (2 sensitivity), rounded down.  A
 * uniform candidate is kept with probability exp(-(best - score) * rate), an exact Bernoulli; no
 * weight is ever a floating-point number.  How long it takes depends on the scores: see
 * SECURITY.md.
 */
#include "query/parts.h"
#include "base/planted.h"
#include "parallel/parallel.h"
#include "random/random.h"

static const uint64_t PARTS = (uint64_t)1 << 30; /* of an epsilon */

clo_status clo_i_plan_exponential(uint64_t sensitivity, double epsilon, uint64_t times,
                                  clo_slot *slot, clo_error *err)
{
    const double parts = epsilon * (double)PARTS;
    if (!(parts >= 1))
        return clo_i_fail(err, CLO_BUDGET,
                          "so small a budget cannot choose anything: raise epsilon");
    if (!(epsilon <= 1e6) || sensitivity == 0 || sensitivity > (uint64_t)1 << 31)
        return clo_i_fail(err, CLO_ARGUMENT, "a choice needs an epsilon of at most 1e6");
    slot->sensitivity = sensitivity;
    slot->rate_numerator = (uint64_t)parts;
    slot->rate_denominator = 2 * sensitivity * PARTS;
    slot->event = (clo_event){ .kind = CLO_EVENT_EXPONENTIAL,
                               .parameter = (double)slot->rate_numerator / (double)PARTS,
                               .count = times };
    return CLO_OK;
}

clo_status clo_i_plan_choose(const clo_domain *domain, size_t candidates,
                             uint64_t record_sensitivity, double epsilon, uint64_t times,
                             const char *label, clo_slot *out, clo_error *err)
{
    clo_slot slot = { .query = CLO_QUERY_choose, .label = label, .groups = candidates };
    if (candidates < 1)
        return clo_i_fail(err, CLO_ARGUMENT, "there must be something to choose from");
    if (record_sensitivity > (uint64_t)1 << 31)
        return clo_i_fail(err, CLO_ARGUMENT, "the scores of a choice are too large");
    CLO_TRY(clo_i_plan_exponential(record_sensitivity * domain->rows_per_unit, epsilon, times,
                                   &slot, err));
    *out = slot;
    return CLO_OK;
}

static clo_status draw(clo_stream *stream, const clo_slot *slot, const int64_t *scores,
                       size_t count, size_t *chosen, clo_error *err)
{
    int64_t best = scores[0];
    for (size_t i = 1; i < count; i++)
        if (scores[i] > best) best = scores[i];
    for (;;) {
        const size_t i = (size_t)clo_i_random_below(stream, count);
        const clo_u128 behind = (clo_u128)((uint64_t)best - (uint64_t)scores[i]);
        const uint64_t factor = clo_i_planted(CLO_FAULT_FACTOR_TWO_MISSING) ? 2 : 1;
        const bool kept = clo_i_bernoulli_exp(stream, behind * slot->rate_numerator * factor,
                                              slot->rate_denominator);
        CLO_TRY(clo_i_stream_check(stream, err));
        if (kept) {
            *chosen = i;
            return CLO_OK;
        }
    }
}

clo_status clo_i_draw_exponential(clo_context *context, const clo_slot *slot, const int64_t *scores,
                                  size_t count, size_t *chosen, clo_error *err)
{
    const uint64_t ask = clo_i_rng_next_ask(context->rng);
    uint64_t answer = 0;
    if (context->comm->rank == 0) {
        clo_stream *stream = NULL;
        size_t index = 0;
        CLO_TRY(clo_i_stream_open(context->rng, ask, 0, &stream, err));
        const clo_status status = draw(stream, slot, scores, count, &index, err);
        clo_i_stream_close(stream);
        CLO_TRY(status);
        answer = index;
    }
    CLO_TRY(clo_i_comm_broadcast(context->comm, &answer, sizeof answer, err));
    CLO_I_DECLASSIFY(&answer, sizeof answer);
    *chosen = (size_t)answer;
    clo_i_tell_choice(context, slot, *chosen);
    return CLO_OK;
}

clo_status clo_i_ask_choose(clo_context *context, size_t number, const int64_t *scores,
                            size_t *chosen, clo_error *err)
{
    const clo_slot *slot;
    CLO_TRY(clo_i_meter_charge(context, number, CLO_QUERY_choose, &slot, err));
    return clo_i_draw_exponential(context, slot, scores, slot->groups, chosen, err);
}
