/*
 * gibbs_start.c - where a chain begins: at uniform frames, or where an ordinary solver ends.
 *
 * A solver's answer is a plain function of the data.  In the limit a chain forgets it; the steps,
 * which are priced one by one, must not start from it.
 */
#include "query/gibbs_parts.h"
#include "linalg/linalg.h"
#include "solver/solver.h"
#include <math.h>
#include <string.h>

enum { MOST_SETTINGS = 64 };

static clo_status start_uniform(clo_i_gibbs_chain *c, clo_error *err)
{
    for (size_t l = 0; l < c->k; l++)
        CLO_TRY(clo_i_bingham_uniform(c->stream, c->d, c->q, c->frames + l * c->d * c->q, err));
    return clo_i_stream_check(c->stream, err);
}

/* The solver's presets, with this many clusters and this dimension. */
static clo_status settings_of(const clo_solver *solver, const clo_i_gibbs_chain *c,
                              double values[MOST_SETTINGS], clo_error *err)
{
    if (solver->param_count > MOST_SETTINGS)
        return clo_i_fail(err, CLO_INTERNAL, "the solver %s has too many settings", solver->name);
    for (size_t i = 0; i < solver->param_count; i++) {
        const clo_param *const row = &solver->params[i];
        values[i] = strcmp(row->name, "clusters") == 0 ? (double)c->k
                    : strcmp(row->name, "dim") == 0    ? (double)c->q
                                                       : row->preset;
    }
    return CLO_OK;
}

static clo_status start_solved(clo_context *context, const clo_solver *solver, clo_i_gibbs_chain *c,
                               clo_error *err)
{
    double values[MOST_SETTINGS];
    clo_partition found = { 0 };
    clo_job job = { .rows = c->rows,
                    .count = c->n,
                    .cols = c->d,
                    .rng = context->rng,
                    .threads = context->threads,
                    .progress_to = 0 };
    CLO_TRY(settings_of(solver, c, values, err));
    clo_status status = solver->solve(&job, values, &found, err);
    for (size_t l = 0; l < c->k && !status && found.bases; l++) {
        double *const frame = c->frames + l * c->d * c->q;
        for (size_t j = 0; j < c->d; j++)
            for (size_t r = 0; r < c->q; r++)
                frame[j * c->q + r] =
                    r < found.width ? found.bases[(l * c->d + j) * found.width + r] : 0;
        status = clo_i_orthonormalize(frame, c->d, c->q, err); /* completes what is missing */
    }
    clo_i_partition_free(&found);
    return status;
}

clo_status clo_i_gibbs_start(clo_context *context, const clo_gibbs *how, clo_i_gibbs_chain *c,
                             clo_error *err)
{
    const clo_solver *const solver = how->start ? clo_solver_find(how->start) : NULL;
    CLO_TRY(start_uniform(c, err));
    if (!how->start) return CLO_OK;
    if (!solver)
        return clo_i_fail(err, CLO_INTERNAL, "there is no solver %s to start from", how->start);
    /* Fewer records than subspaces have nothing to start from but chance. */
    return c->n < c->k * c->q ? CLO_OK : start_solved(context, solver, c, err);
}
