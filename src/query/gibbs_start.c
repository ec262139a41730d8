/*
 * gibbs_start.c - where a chain begins: at uniform frames, or at what a solver of the caller's
 * makes of the records.
 *
 * A solver's answer is a plain function of the data.  In the limit a chain forgets it; the steps,
 * which are priced one by one, must not start from it.
 */
#include "query/gibbs_internal.h"
#include "linalg/linalg.h"
#include "query/gibbs.h"
#include <math.h>
#include <string.h>

static clo_status start_uniform(clo_i_gibbs_chain *c, clo_error *err)
{
    for (size_t l = 0; l < c->k; l++)
        CLO_TRY(clo_i_bingham_uniform(c->stream, c->d, c->q, c->frames + l * c->d * c->q, err));
    return clo_i_stream_check(c->stream, err);
}

/* Whatever the solver says of itself beyond a lack of memory stays here: the chain then begins at
 * the uniform frames. */
static clo_status start_solved(const clo_gibbs *how, clo_i_gibbs_chain *c, double *bases,
                               clo_error *err)
{
    const size_t cells = c->d * c->q;
    clo_block block = { .rows = c->gathered, .count = c->n, .cols = c->d };
    clo_error unseen = { .status = CLO_OK };
    for (size_t i = 0; i < sizeof block.seed; i++)
        block.seed[i] = (uint8_t)clo_i_random_u64(c->stream);
    for (size_t i = 0; i < c->n * c->d; i++) c->gathered[i] = ldexp(c->rows[i], -CLO_GIBBS_BITS);
    const clo_status status = how->start(how->start_user, &block, bases, &unseen);
    if (status == CLO_MEMORY) return clo_i_fail(err, status, "out of memory in the chain's start");
    if (status == CLO_CANCELLED) return clo_i_fail(err, status, "the run was stopped on request");
    for (size_t i = 0; i < c->k * cells; i++)
        if (status || !isfinite(bases[i])) return CLO_OK;
    memcpy(c->frames, bases, c->k * cells * sizeof *bases);
    for (size_t l = 0; l < c->k; l++) /* completes what is missing */
        CLO_TRY(clo_i_orthonormalize(c->frames + l * cells, c->d, c->q, err));
    return CLO_OK;
}

clo_status clo_i_gibbs_start(const clo_gibbs *how, clo_i_gibbs_chain *c, clo_error *err)
{
    const size_t bytes = c->k * c->d * c->q * sizeof(double);
    double *bases = NULL;
    CLO_TRY(start_uniform(c, err));
    if (!how->start) return CLO_OK;
    CLO_TRY(clo_i_alloc(1, bytes, &bases, err));
    const clo_status status = start_solved(how, c, bases, err);
    clo_i_wipe_free(bases, bytes);
    return status;
}
