/*
 * gibbs_min.c - subspaces with the density exp(rate sum_i max_l |U_l' x_i|^2), by Metropolis's rule.
 *
 * No labels take part, so the score is that of the nearest subspaces and does not reward them for
 * lying together, as Eq. 10 of wang2015 does where epsilon is small.  A proposal turns one of the
 * subspaces by a Gaussian step in its tangent space; its law does not change when the whole space is
 * turned, and a pair of subspaces can be turned into the same pair exchanged, so it is symmetric
 * (gibbs.T3).
 *
 * In the first half of the run the weight of the data rises to its place, from a start that cannot
 * see them, and the step is fitted to the share of proposals that are taken.  From then on nothing
 * is adapted.
 */
#include "query/gibbs_parts.h"
#include "linalg/linalg.h"
#include <math.h>
#include <string.h>

static const double TAKEN = 0.27;     /* the share of proposals to aim at */
static const double WIDE_SHARE = 0.1; /* of proposals, with a longer step: ways out of a mode */

/* range(U + step (I - U U') G) */
static clo_status propose(clo_i_gibbs_chain *c, const double *frame, double step, clo_error *err)
{
    const size_t d = c->d, q = c->q;
    for (size_t i = 0; i < d * q; i++) c->proposal[i] = clo_i_random_normal(c->stream);
    for (size_t r = 0; r < q; r++)
        for (size_t s = 0; s < q; s++) {
            double inside = 0;
            for (size_t j = 0; j < d; j++) inside += frame[j * q + s] * c->proposal[j * q + r];
            for (size_t j = 0; j < d; j++) c->proposal[j * q + r] -= inside * frame[j * q + s];
        }
    for (size_t i = 0; i < d * q; i++) c->proposal[i] = frame[i] + step * c->proposal[i];
    return clo_i_orthonormalize(c->proposal, d, q, err);
}

/* How much the score gains where subspace l becomes the proposed one. */
static double gain(const clo_i_gibbs_chain *c, size_t l)
{
    double sum = 0;
    for (size_t i = 0; i < c->n; i++) {
        double others = 0;
        for (size_t m = 0; m < c->k; m++)
            if (m != l) others = fmax(others, c->energies[m * c->n + i]);
        sum += fmax(others, c->trial[i]) - fmax(others, c->energies[l * c->n + i]);
    }
    return sum;
}

static clo_status move(clo_i_gibbs_chain *c, size_t l, double step, double rate, bool *taken,
                       clo_error *err)
{
    double *const frame = c->frames + l * c->d * c->q;
    CLO_TRY(propose(c, frame, step, err));
    clo_i_gibbs_project(c, c->proposal, c->trial);
    *taken = log(clo_i_random_unit(c->stream)) <= rate * gain(c, l);
    if (*taken) {
        memcpy(frame, c->proposal, c->d * c->q * sizeof *frame);
        memcpy(c->energies + l * c->n, c->trial, c->n * sizeof *c->trial);
    }
    return CLO_OK;
}

clo_status clo_i_gibbs_min(clo_context *context, const clo_gibbs *how, clo_i_gibbs_chain *c,
                           clo_error *err)
{
    const uint64_t burn = how->sweeps / 2;
    double step = 0.5;
    clo_i_gibbs_project_all(c);
    for (uint64_t sweep = 0; sweep < how->sweeps; sweep++) {
        const double heat = clo_i_gibbs_heat(how, sweep);
        for (size_t l = 0; l < c->k; l++) {
            const bool wide = clo_i_random_unit(c->stream) < WIDE_SHARE;
            bool taken = false;
            CLO_TRY(move(c, l, wide ? 4 * step : step, heat * c->rate, &taken, err));
            if (sweep < burn && !wide) step *= exp(0.05 * ((taken ? 1 : 0) - TAKEN));
            step = fmin(step, 3);
        }
        CLO_TRY(clo_i_stream_check(c->stream, err));
        CLO_TRY(clo_i_gibbs_progress(context, sweep, how->sweeps, err));
    }
    return CLO_OK;
}
