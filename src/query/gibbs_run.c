/*
 * gibbs_run.c - the Gibbs sampler of wang2015, Eq. 10, corrected: in its limit, or step by step.
 *
 * A sweep draws a label for each record given the subspaces, then each subspace given the labels of
 * its records, both exactly from their conditional laws.  The weight of a record is the same in
 * both (the appendix of the paper has twice that in the second: conditionals of no law at all).
 */
#include "query/gibbs_internal.h"
#include "query/queries.h"
#include "linalg/linalg.h"
#include "query/gibbs.h"
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
        const bool fresh = c->k > 1 || sweep == 0; /* the labels of one subspace never change */
        set_rate(c, rate * clo_i_gibbs_heat(how, sweep));
        if (fresh) clo_i_gibbs_project_all(c);
        if (fresh) clo_i_gibbs_draw_labels(c, c->rate);
        for (size_t l = 0; l < c->k; l++) {
            if (fresh) CLO_TRY(clo_i_gibbs_set_law(c, l, err));
            clo_i_bingham_sweep(c->bingham, c->stream, 1, c->frames + l * c->d * c->q);
        }
        CLO_TRY(clo_i_stream_check(c->stream, err));
        CLO_TRY(clo_i_gibbs_progress(context, sweep, how->sweeps, err));
    }
    set_rate(c, rate);
    return CLO_OK;
}

/* ---- step by step ------------------------------------------------------------------------ */

/* Vectors that are drawn for each subspace in a sweep. */
static uint64_t draws_a_sweep(const clo_gibbs *how, size_t cols)
{
    const size_t rest = cols - how->dim;
    if (how->whole) return 1;
    if (how->columns || rest >= how->dim) return how->dim;
    return rest > 1 ? rest : 1;
}

uint64_t clo_i_gibbs_charges(const clo_gibbs *how, size_t cols)
{
    return how->steps ? how->sweeps * draws_a_sweep(how, cols) + how->labels : 1;
}

/* All frames anew, one vector after the other. */
static clo_status draw_frames(clo_i_gibbs_chain *c, clo_error *err)
{
    for (size_t l = 0; l < c->k; l++) {
        CLO_TRY(clo_i_gibbs_set_law(c, l, err));
        CLO_TRY(clo_i_bingham_sequence(c->bingham, c->stream, c->frames + l * c->d * c->q, err));
    }
    return clo_i_stream_check(c->stream, err);
}

/* The frames' columns in turn, each given the others. */
static clo_status draw_columns(clo_i_gibbs_chain *c, clo_error *err)
{
    for (size_t l = 0; l < c->k; l++) {
        CLO_TRY(clo_i_gibbs_set_law(c, l, err));
        clo_i_bingham_sweep(c->bingham, c->stream, 1, c->frames + l * c->d * c->q);
    }
    return clo_i_stream_check(c->stream, err);
}

/* A frame from its matrix law, by rejection.  A batch that kept no proposal is forgotten, so that
 * batches, between which a cancel is obeyed, do not change the law: there is no cap. */
static clo_status draw_matrix(clo_context *context, clo_i_gibbs_chain *c, double *frame,
                              clo_error *err)
{
    enum { BATCH = 4096 };
    bool kept = false;
    uint64_t proposals;
    while (!kept) {
        CLO_TRY(clo_i_gibbs_progress(context, 0, 1, err));
        CLO_TRY(clo_i_bingham_try(c->bingham, context->rng, BATCH, frame, &kept, &proposals, err));
    }
    return CLO_OK;
}

static clo_status draw_matrices(clo_context *context, clo_i_gibbs_chain *c, clo_error *err)
{
    for (size_t l = 0; l < c->k; l++) {
        CLO_TRY(clo_i_gibbs_set_law(c, l, err));
        CLO_TRY(draw_matrix(context, c, c->frames + l * c->d * c->q, err));
    }
    return CLO_OK;
}

/* Any law of a label that only its record and the frames enter costs the same, nothing (gibbs.T2).
 * One that is vague at first and sharp in the end leads out of many a bad start. */
static void assign(clo_gibbs_assign rule, uint64_t sweep, clo_i_gibbs_chain *c)
{
    const double turn = (double)(sweep + 1);
    if (rule == CLO_GIBBS_NEAREST)
        clo_i_gibbs_nearest_labels(c);
    else
        clo_i_gibbs_draw_labels(c, rule == CLO_GIBBS_COOLING ? turn * turn : c->rate);
}

/* One record is in one cluster, so the j-th vectors of all subspaces are one draw (gibbs.T2): they
 * are charged together.  The ask itself has charged the first of all. */
clo_status clo_i_gibbs_steps(clo_context *context, size_t number, const clo_gibbs *how,
                             clo_i_gibbs_chain *c, clo_error *err)
{
    const uint64_t charges = clo_i_gibbs_charges(how, c->d);
    const clo_line *line = &context->meter->lines[number];
    for (uint64_t i = 1; i < charges; i++)
        CLO_TRY(clo_i_meter_charge(context, number, &clo_i_query_gibbs, &line, err));
    for (uint64_t sweep = 0; sweep < how->sweeps; sweep++) {
        clo_i_gibbs_project_all(c);
        assign(how->assign, sweep, c);
        CLO_TRY(how->whole     ? draw_matrices(context, c, err)
                : how->columns ? draw_columns(c, err)
                               : draw_frames(c, err));
        CLO_TRY(clo_i_gibbs_tell(context, line, c, err));
        CLO_TRY(clo_i_gibbs_progress(context, sweep, how->sweeps, err));
    }
    return CLO_OK;
}
