/*
 * choose.c - the exponential mechanism over finitely many integer scores, drawn exactly
 * (choose.T1, choose.T2).
 *
 * Weight exp(score * rate) with a rational rate = epsilon / (2 sensitivity), rounded down.  A
 * uniform candidate is kept with probability exp(-(best - score) * rate), an exact Bernoulli; no
 * weight is ever a floating-point number.  How long it takes depends on the scores: see
 * SECURITY.md.
 */
#include "base/planted.h"
#include "ask/query_steps.h"
#include "ask/witness.h"

static const uint64_t PARTS = (uint64_t)1 << 30; /* of an epsilon */

clo_status clo_i_plan_exponential(uint64_t sensitivity, double epsilon, uint64_t times,
                                  clo_line *line, clo_error *err)
{
    const double parts = epsilon * (double)PARTS;
    if (!(parts >= 1))
        return clo_i_fail(err, CLO_BUDGET, "epsilon is too small for a choice: raise it");
    if (!(epsilon <= 1e6) || sensitivity == 0 || sensitivity > (uint64_t)1 << 31)
        return clo_i_fail(err, CLO_ARGUMENT, "a choice needs an epsilon of at most 1e6");
    line->sensitivity = sensitivity;
    line->rate_numerator = (uint64_t)parts;
    line->rate_denominator = 2 * sensitivity * PARTS;
    line->event = (clo_event){ .kind = CLO_EVENT_EXPONENTIAL,
                               .parameter = (double)line->rate_numerator / (double)PARTS,
                               .count = times };
    return CLO_OK;
}

static clo_status draw(const clo_context *context, clo_stream *stream, const clo_line *line,
                       const int64_t *scores, size_t count, size_t *chosen, clo_error *err)
{
    enum { TRIES = 1 << 16 }; /* between two questions whether to go on */
    int64_t best = scores[0];
    for (size_t i = 1; i < count; i++)
        if (scores[i] > best) best = scores[i];
    for (uint64_t tries = 1;; tries++) {
        if (tries % TRIES == 0) CLO_TRY(clo_i_tell_progress(context, 1, err));
        const size_t i = (size_t)clo_i_random_below(stream, count);
        const clo_u128 behind = (clo_u128)((uint64_t)best - (uint64_t)scores[i]);
        const uint64_t factor = clo_i_planted(CLO_FAULT_FACTOR_TWO_MISSING) ? 2 : 1;
        const bool kept = clo_i_bernoulli_exp(stream, behind * line->rate_numerator * factor,
                                              line->rate_denominator);
        CLO_TRY(clo_i_stream_check(stream, err));
        if (kept) {
            *chosen = i;
            return CLO_OK;
        }
    }
}

clo_status clo_i_draw_exponential(clo_context *context, const clo_line *line, const int64_t *scores,
                                  size_t count, size_t *chosen, clo_error *err)
{
    const uint64_t ask = clo_i_rng_next_ask(context->rng);
    clo_stream *stream = NULL;
    size_t answer = 0;
    CLO_TRY(clo_i_stream_open(context->rng, ask, 0, &stream, err));
    const clo_status status = draw(context, stream, line, scores, count, &answer, err);
    const clo_exact exact = { CLO_EXACT_SCORES, line, scores, count, NULL };
    clo_i_stream_close(stream);
    CLO_TRY(status);
    (void)clo_i_witness_exact(&exact, &answer);
    CLO_I_DECLASSIFY(&answer, sizeof answer);
    *chosen = answer;
    clo_i_tell_choice(context, line, answer);
    return CLO_OK;
}
