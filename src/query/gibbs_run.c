/*
 * gibbs_run.c - the Gibbs sampler of wang2015, Eq. 10, corrected: in its limit, or step by step.
 *
 * A sweep draws a label for each record given the subspaces, then each subspace given the labels of
 * its records, both exactly from their conditional laws.  The weight of a record is the same in both
 * (the paper's appendix has twice that in the second: then they are the conditionals of no law).
 */
#include "query/gibbs_parts.h"
#include "linalg/linalg.h"
#include <math.h>
#include <string.h>

/* ---- the limit --------------------------------------------------------------------------- */

static void set_rate(clo_i_gibbs_chain *c, double rate)
{
    c->rate = rate;
    for (size_t r = 0; r < c->q; r++) c->bingham->weights[r] = rate;
}

double clo_i_gibbs_heat(const clo_gibbs *how, uint64_t sweep)
{
    const uint64_t rise = how->sweeps / 8 * 3;
    const double share = (double)(sweep + 1) / (double)(rise + 1);
    return how->start || share >= 1 ? 1 : pow(share, 4);
}

clo_status clo_i_gibbs_sum(clo_context *context, const clo_gibbs *how, clo_i_gibbs_chain *c,
                           clo_error *err)
{
    const double rate = c->rate;
    for (uint64_t sweep = 0; sweep < how->sweeps; sweep++) {
        set_rate(c, rate * clo_i_gibbs_heat(how, sweep));
        clo_i_gibbs_project_all(c);
        clo_i_gibbs_draw_labels(c);
        for (size_t l = 0; l < c->k; l++) {
            CLO_TRY(clo_i_gibbs_set_law(c, l, err));
            clo_i_bingham_sweep(c->bingham, c->stream, 1, c->frames + l * c->d * c->q);
        }
        CLO_TRY(clo_i_stream_check(c->stream, err));
        CLO_TRY(clo_i_gibbs_progress(context, sweep, how->sweeps, err));
    }
    set_rate(c, rate);
    return CLO_OK;
}

/* ---- step by step ------------------------------------------------------------------------ */

uint64_t clo_i_gibbs_charges(const clo_gibbs *how)
{
    if (!how->steps) return 1;
    return how->sweeps * (how->frames ? 1 : how->dim) + how->labels;
}

/* A charge for each draw but the first, which the ask itself has made. */
static clo_status charge(clo_context *context, size_t number, bool *first, const clo_slot **slot,
                         clo_error *err)
{
    if (*first) {
        *first = false;
        *slot = &context->meter->slots[number];
        return CLO_OK;
    }
    return clo_i_meter_charge(context, number, CLO_QUERY_gibbs, slot, err);
}

/* All frames anew: one record is in one cluster, so together they are one draw (gibbs.T2). */
static clo_status draw_frames(clo_i_gibbs_chain *c, clo_error *err)
{
    for (size_t l = 0; l < c->k; l++) {
        CLO_TRY(clo_i_gibbs_set_law(c, l, err));
        CLO_TRY(clo_i_bingham_exact(c->bingham, c->stream, UINT64_MAX, c->frames + l * c->d * c->q,
                                    NULL, err));
    }
    return CLO_OK;
}

/* Column r of every frame anew, given the other columns. */
static clo_status draw_columns(clo_i_gibbs_chain *c, size_t r, clo_error *err)
{
    for (size_t l = 0; l < c->k; l++) {
        CLO_TRY(clo_i_gibbs_set_law(c, l, err));
        clo_i_bingham_column(c->bingham, c->stream, r, c->frames + l * c->d * c->q);
    }
    return clo_i_stream_check(c->stream, err);
}

clo_status clo_i_gibbs_steps(clo_context *context, size_t number, const clo_gibbs *how,
                             clo_i_gibbs_chain *c, clo_error *err)
{
    const size_t draws = how->frames ? 1 : how->dim;
    const clo_slot *slot = NULL;
    bool first = true;
    for (uint64_t sweep = 0; sweep < how->sweeps; sweep++) {
        clo_i_gibbs_project_all(c);
        if (how->hard)
            clo_i_gibbs_nearest_labels(c);
        else
            clo_i_gibbs_draw_labels(c);
        for (size_t r = 0; r < draws; r++) {
            CLO_TRY(charge(context, number, &first, &slot, err));
            CLO_TRY(how->frames ? draw_frames(c, err) : draw_columns(c, r, err));
            CLO_TRY(clo_i_gibbs_tell(context, slot, c, err));
        }
        CLO_TRY(clo_i_gibbs_progress(context, sweep, how->sweeps, err));
    }
    if (how->labels) CLO_TRY(charge(context, number, &first, &slot, err));
    return CLO_OK;
}
