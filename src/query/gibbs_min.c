/*
 * gibbs_min.c - subspaces with the density exp(rate sum_i max_l |U_l' x_i|^2), by Metropolis's
 * rule.
 *
 * No labels take part, so the score is that of the nearest subspaces and does not reward them for
 * lying together, as Eq. 10 of wang2015 does where epsilon is small.  A proposal turns one of the
 * subspaces by a Gaussian step in its tangent space; its law does not change when the whole space
 * is turned, and a pair of subspaces can be turned into the same pair exchanged, so it is symmetric
 * (gibbs.T3).
 *
 * In the first half of the run the step is fitted to the share of proposals that are taken; from
 * then on nothing is adapted.
 */
#include "query/gibbs_internal.h"
#include "query/gibbs.h"
#include <math.h>
#include <string.h>

static const double TAKEN = 0.27;     /* the share of proposals to aim at */
static const double WIDE_SHARE = 0.1; /* of proposals, with a longer step: ways out of a mode */

/* Takes what lies along the first `count` columns of the frame off column r. */
static void take_off(const double *frame, size_t count, size_t d, size_t q, double *of, size_t r)
{
    for (size_t s = 0; s < count; s++) {
        double inside = 0;
        for (size_t j = 0; j < d; j++) inside += frame[j * q + s] * of[j * q + r];
        for (size_t j = 0; j < d; j++) of[j * q + r] -= inside * frame[j * q + s];
    }
}

/* range(U + step (I - U U') G).  Its columns are independent, as U' times it is the identity, and
 * Gram's and Schmidt's way, gone twice, makes them orthonormal. */
static void propose(clo_i_gibbs_chain *c, const double *frame, double step)
{
    const size_t d = c->d, q = c->q;
    for (size_t i = 0; i < d * q; i++) c->proposal[i] = clo_i_random_normal(c->stream);
    for (size_t r = 0; r < q; r++) take_off(frame, q, d, q, c->proposal, r);
    for (size_t i = 0; i < d * q; i++) c->proposal[i] = frame[i] + step * c->proposal[i];
    for (size_t r = 0; r < q; r++) {
        double square = 0;
        take_off(c->proposal, r, d, q, c->proposal, r);
        take_off(c->proposal, r, d, q, c->proposal, r);
        for (size_t j = 0; j < d; j++) square += c->proposal[j * q + r] * c->proposal[j * q + r];
        for (size_t j = 0; j < d; j++) c->proposal[j * q + r] /= sqrt(square);
    }
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

static bool move(clo_i_gibbs_chain *c, size_t l, double step, double rate)
{
    double *const frame = c->frames + l * c->d * c->q;
    propose(c, frame, step);
    clo_i_gibbs_project(c, c->proposal, c->trial);
    if (log(clo_i_random_unit(c->stream)) > rate * gain(c, l)) return false;
    memcpy(frame, c->proposal, c->d * c->q * sizeof *frame);
    memcpy(c->energies + l * c->n, c->trial, c->n * sizeof *c->trial);
    return true;
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
            const bool taken = move(c, l, wide ? 4 * step : step, heat * c->rate);
            if (sweep < burn && !wide) step *= exp(0.05 * ((taken ? 1 : 0) - TAKEN));
            step = fmin(step, 3);
        }
        CLO_TRY(clo_i_stream_check(c->stream, err));
        CLO_TRY(clo_i_gibbs_progress(context, sweep, how->sweeps, err));
    }
    return CLO_OK;
}
