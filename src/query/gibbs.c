/*
 * gibbs.c - k subspaces by the exponential mechanism, drawn by a Markov chain.
 *
 * Two scores of a set of subspaces, both of sensitivity 1 for records of the unit ball: the sum of
 * the squared projections onto subspaces that random labels choose (wang2015, Eq. 10), and the sum
 * of the squared projections onto the nearest ones (gibbs.T1).  Two claims:
 *
 *   the limit    one draw from the chain's limit is the exponential mechanism.  A chain that has
 *                run for so many sweeps is near it, nobody knows how near: asymptotic.
 *   the steps    from a public start, every draw of frames is an exponential mechanism of its own
 *                and is charged as one; labels are drawn in between and kept (gibbs.T2).
 *
 * What leaves is one sample of the subspaces, and its labels on request.  Averages over a chain, or
 * how well chains agree, are further functions of the data; they are not here.  The time that a
 * draw takes depends on the data (SECURITY.md).
 */
#include "query/gibbs_internal.h"
#include "query/queries.h"
#include "ask/fold.h"
#include "base/planted.h"
#include "bound/bound.h"
#include "linalg/linalg.h"
#include "query/gibbs.h"
#include <math.h>
#include <string.h>

static const uint64_t PARTS = (uint64_t)1 << 30; /* of an epsilon */

clo_status clo_i_plan_gibbs(const clo_domain *domain, const clo_gibbs *how, double epsilon,
                            uint64_t times, const char *label, clo_line *out, clo_error *err)
{
    const double parts = epsilon * (double)PARTS;
    clo_line line = { .query = &clo_i_query_gibbs,
                      .label = label,
                      .bits = CLO_GIBBS_BITS,
                      .cols = domain->cols,
                      .groups = how->clusters };
    CLO_TRY(clo_i_check_clusters(how->clusters, CLO_MAX_CLUSTERS, err));
    if (how->dim < 1 || how->dim > domain->cols)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "dim must be at most the number of columns, %zu, not %zu", domain->cols,
                          how->dim);
    if (how->labels && domain->relation != CLO_REPLACE)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "labels reveal the number of records: leave labels out, or use the "
                          "relation replace");
    if (how->labels && (domain->rows == 0 || domain->unit))
        return clo_i_fail(
            err, CLO_ARGUMENT,
            "labels need a public number of rows, each its own unit: declare the rows, "
            "and leave units out");
    if (!(parts >= 1))
        return clo_i_fail(err, CLO_BUDGET, "epsilon is too small for a choice: raise it");
    if (!(epsilon <= 1e6) || domain->rows_per_unit > (uint64_t)1 << 31)
        return clo_i_fail(err, CLO_ARGUMENT, "a choice needs an epsilon of at most 1e6");
    /* gibbs.T1: a record's part of the exponent lies in [0, rate]; one that is replaced moves it by
     * at most rate in either direction, one that comes or goes in one. */
    line.sensitivity = domain->rows_per_unit;
    line.rate_numerator = (uint64_t)parts;
    line.rate_denominator =
        (domain->relation == CLO_REPLACE ? 2 : 1) * domain->rows_per_unit * PARTS;
    line.event = (clo_event){ .kind = CLO_EVENT_EXPONENTIAL,
                              .parameter = (double)line.rate_numerator / (double)PARTS,
                              .count = times };
    *out = line;
    return CLO_OK;
}

static clo_status check(const clo_context *context, const clo_bounded *data, const clo_line *line,
                        const clo_gibbs *how, clo_error *err)
{
    if (how->clusters != line->groups || how->dim > clo_i_pass_cols(context, data) ||
        (how->labels && clo_i_bounded_slots(data) != clo_i_bounded_domain(data)->rows) ||
        (how->steps && (how->start || how->score == CLO_GIBBS_MIN)) ||
        (how->whole && (!how->steps || how->columns)))
        return clo_i_fail(err, CLO_INTERNAL, "the chain is not that of the plan");
    return CLO_OK;
}

clo_status clo_i_gibbs_tell(const clo_context *context, const clo_line *line,
                            const clo_i_gibbs_chain *chain, clo_error *err)
{
    const size_t d = chain->d, q = chain->q;
    double *projectors = NULL;
    if (!context->answer) return CLO_OK;
    CLO_TRY(clo_i_alloc(chain->k * d * d, sizeof *projectors, &projectors, err));
    for (size_t l = 0; l < chain->k; l++)
        for (size_t a = 0; a < d; a++)
            for (size_t b = 0; b < d; b++)
                for (size_t r = 0; r < q; r++)
                    projectors[(l * d + a) * d + b] +=
                        chain->frames[(l * d + a) * q + r] * chain->frames[(l * d + b) * q + r];
    CLO_I_DECLASSIFY(projectors, chain->k * d * d * sizeof *projectors);
    clo_i_tell_answer(context, line, projectors, chain->k * d * d, 0);
    clo_i_free(projectors);
    return CLO_OK;
}

static clo_status finish(const clo_gibbs *how, clo_i_gibbs_chain *chain, double *bases,
                         double *labels, clo_error *err)
{
    if (how->labels) {
        clo_i_gibbs_project_all(chain);
        clo_i_gibbs_draw_labels(chain, chain->rate);
    }
    CLO_TRY(clo_i_stream_check(chain->stream, err));
    memcpy(bases, chain->frames, chain->k * chain->d * chain->q * sizeof *bases);
    CLO_I_DECLASSIFY(bases, chain->k * chain->d * chain->q * sizeof *bases);
    for (size_t i = 0; i < chain->n && how->labels; i++) labels[i] = chain->labels[i];
    if (how->labels) CLO_I_DECLASSIFY(labels, chain->n * sizeof *labels);
    return CLO_OK;
}

clo_status clo_i_ask_gibbs(clo_context *context, size_t number, const clo_bounded *data,
                           const clo_gibbs *how, double *bases, double *labels, clo_error *err)
{
    const size_t mark = clo_i_workspace_begin_ask(context->workspace);
    const clo_line *line;
    clo_i_gibbs_chain chain = { 0 };
    CLO_TRY(clo_i_meter_charge(context, number, &clo_i_query_gibbs, &line, err));
    CLO_TRY(check(context, data, line, how, err));
    const int before = clo_i_blas_serial_begin();
    clo_status status = clo_i_gibbs_new(context, data, line, how, &chain, err);
    if (!status && clo_i_planted(CLO_FAULT_FACTOR_TWO_MISSING)) {
        chain.rate *= 2;
        for (size_t r = 0; r < chain.q; r++) chain.bingham->weights[r] *= 2;
    }
    if (!status) status = clo_i_gibbs_start(how, &chain, err);
    if (!status)
        status = how->steps ? clo_i_gibbs_steps(context, number, how, &chain, err)
                 : how->score == CLO_GIBBS_MIN ? clo_i_gibbs_min(context, how, &chain, err)
                                               : clo_i_gibbs_sum(context, how, &chain, err);
    if (!status) status = finish(how, &chain, bases, labels, err);
    if (!status && !how->steps) status = clo_i_gibbs_tell(context, line, &chain, err);
    clo_i_gibbs_free(&chain);
    clo_i_workspace_release(context->workspace, mark);
    clo_i_blas_serial_end(before);
    return status;
}

/* Its chain is as long as the data, which no plan knows. */
static clo_status lay_out(clo_fold *fold, clo_workspace *space, clo_error *err)
{
    (void)fold, (void)space, (void)err;
    return CLO_OK;
}

const clo_query clo_i_query_gibbs = {
    .name = "gibbs",
    .reading = CLO_READING_WHOLE,
    .numbers = clo_i_numbers_drawn,
    .lay_out = lay_out,
    .lay_out_rows = clo_i_gibbs_lay_out_rows,
};
