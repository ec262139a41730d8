/*
 * moments_refine.c - from a fitted tensor and noisy Gram matrices to flats, and how far to trust
 * them.  Post-processing: only answers and public numbers are read here.
 */
#include "linalg/linalg.h"
#include "mechanism/subspaces/moments_internal.h"
#include "random/random.h"
#include "query/gaussian_moment.h"
#include <math.h>
#include <string.h>

size_t clo_i_moments_scratch(const clo_i_moments_plan *plan)
{
    const size_t c = plan->seen, sharpen = clo_i_moments_sharpen_scratch(plan);
    const size_t combine = c * c + plan->rank + clo_i_eigen_scratch(c, plan->rank);
    return combine > sharpen ? combine : sharpen;
}

double clo_i_moments_contraction(const clo_i_moments_plan *plan, const double *factor)
{
    const size_t c = plan->seen, q = plan->rank;
    const double off = plan->height > 0 ? 2.0 / 3 : 0;
    double trace = 0, square = 0, mean = 0;
    for (size_t e = 0; e < q; e++)
        for (size_t g = 0; g < q; g++) {
            double inner = 0;
            for (size_t i = 0; i < c; i++) inner += factor[i * q + e] * factor[i * q + g];
            trace += e == g ? inner : 0;
            square += inner * inner;
            if (e + g == 0) mean = inner;
        }
    return fmax((trace * trace + 2 * square) / 3 - off * mean * mean, 0);
}

static double energy_inside(const double *gram, const double *basis, size_t c, size_t q)
{
    double sum = 0;
    for (size_t i = 0; i < c; i++)
        for (size_t j = 0; j < c; j++)
            for (size_t e = 0; e < q; e++)
                sum += basis[i * q + e] * gram[i * c + j] * basis[j * q + e];
    return sum;
}

/* The Gram matrix that a flat of the tensor would have, of the size that the rounds saw in it (at
 * least that of a tenth of its share), added with its weight. */
static void add_flat(const clo_i_moments_plan *plan, uint64_t rounds, const double *factor,
                     const double *basis, const double *sum, double *out)
{
    const size_t c = plan->seen, q = plan->rank;
    const double least = 0.1 * plan->rows / (double)plan->clusters;
    const double seen = energy_inside(sum, basis, c, q) / (double)rounds;
    double size = 0;
    for (size_t i = 0; i < c * q; i++) size += factor[i] * factor[i];
    const double weight = clo_i_moments_worth(plan) * fmax(seen, least) / fmax(size, 1e-300);
    for (size_t i = 0; i < c; i++)
        for (size_t j = 0; j < c; j++)
            for (size_t e = 0; e < q; e++)
                out[i * c + j] += weight * factor[i * q + e] * factor[j * q + e];
}

/* The range of a factor: its q columns made orthonormal, along the axes of factor factor'. */
static clo_status range_of(const double *factor, size_t c, size_t q, double *scratch, double *basis,
                           clo_error *err)
{
    double *const square = scratch, *const values = square + c * c;
    for (size_t i = 0; i < c; i++)
        for (size_t j = 0; j < c; j++) {
            square[i * c + j] = 0;
            for (size_t e = 0; e < q; e++)
                square[i * c + j] += factor[i * q + e] * factor[j * q + e];
        }
    return clo_i_eigen_top(square, c, q, values, basis, values + q, err);
}

clo_status clo_i_moments_bases(const clo_i_moments_plan *plan, uint64_t rounds,
                               const clo_moment_model *model, const double *sums, double *scratch,
                               double *bases, clo_error *err)
{
    const size_t c = plan->seen, q = plan->rank;
    for (size_t l = 0; l < plan->clusters; l++) {
        const double *const factor = model->factors + l * c * q;
        double *const basis = bases + l * c * q, *const values = scratch + c * c;
        CLO_TRY(range_of(factor, c, q, scratch, basis, err));
        if (rounds == 0) continue;
        memcpy(scratch, sums + l * c * c, c * c * sizeof *scratch);
        add_flat(plan, rounds, factor, basis, sums + l * c * c, scratch);
        CLO_TRY(clo_i_eigen_top(scratch, c, q, values, basis, values + q, err));
    }
    return CLO_OK;
}

/* ---- doubt ------------------------------------------------------------------------------- */

/* The tensor of the model with fresh noise, of the law that the answer's had. */
static void noisy_moments(const clo_i_moments_plan *plan, const clo_moment_model *model,
                          clo_stream *stream, double *square, double *noise, double *moments)
{
    const size_t c = plan->seen, count = clo_i_moment_size(c);
    const clo_moment_even even = clo_i_moment_even(c, plan->even);
    double *at = noise;
    for (size_t i = 0; i < c; i++)
        for (size_t j = i; j < c; j++)
            for (size_t k = j; k < c; k++)
                for (size_t l = k; l < c; l++)
                    *at++ = plan->tensor_noise * clo_i_random_normal(stream) /
                            sqrt((double)clo_i_moment_multiplicity(i, j, k, l));
    clo_i_moment_restore(&even, c, square, noise);
    clo_i_moment_of_model(model, c, plan->clusters, plan->rank, plan->height > 0, moments);
    for (size_t e = 0; e < count; e++) moments[e] += noise[e];
    clo_i_moment_contract(moments, c, square);
}

/* What the rounds would have summed on the released flats, with fresh noise. */
static void noisy_sums(const clo_i_moments_plan *plan, const clo_i_moments_state *state,
                       clo_stream *stream, double *sums)
{
    const size_t c = plan->seen, q = plan->rank;
    const double noise = plan->round_noise * sqrt((double)plan->rounds);
    for (size_t l = 0; l < plan->clusters; l++) {
        const double *const basis = state->bases + l * c * q;
        double *const sum = sums + l * c * c;
        const double energy = fmax(energy_inside(state->sums + l * c * c, basis, c, q), 0);
        for (size_t i = 0; i < c; i++)
            for (size_t j = i; j < c; j++) {
                double inside = 0;
                for (size_t e = 0; e < q; e++) inside += basis[i * q + e] * basis[j * q + e];
                const double scale = i == j ? noise : noise * sqrt(0.5);
                sum[i * c + j] = sum[j * c + i] =
                    energy / (double)q * inside + scale * clo_i_random_normal(stream);
            }
    }
}

static double distance(const double *a, const double *b, size_t c, size_t q)
{
    double common = 0;
    for (size_t e = 0; e < q; e++)
        for (size_t f = 0; f < q; f++) {
            double cosine = 0;
            for (size_t i = 0; i < c; i++) cosine += a[i * q + e] * b[i * q + f];
            common += cosine * cosine;
        }
    return sqrt(fmax((double)q - common, 0));
}

/* One imagined run. */
static clo_status doubt_once(const clo_i_moments_plan *plan, clo_stream *stream,
                             const clo_moment_job *job, double *moments, double *factors,
                             double *sums, double *bases, clo_i_moments_state *state,
                             clo_error *err)
{
    const size_t c = plan->seen, q = plan->rank, k = plan->clusters;
    clo_moment_model again = { .factors = factors, .spread = state->model.spread };
    memcpy(factors, state->model.factors, k * c * q * sizeof *factors);
    noisy_moments(plan, &state->model, stream, state->contraction, state->moments, moments);
    if (plan->rounds) noisy_sums(plan, state, stream, sums);
    CLO_TRY(clo_i_moment_refit(job, &again, err));
    CLO_TRY(clo_i_moments_bases(plan, plan->rounds, &again, sums, state->scratch, bases, err));
    for (size_t l = 0; l < k && plan->sharpen; l++)
        CLO_TRY(clo_i_moments_imagine(plan, state, l, stream, bases + l * c * q, err));
    for (size_t l = 0; l < k; l++)
        state->uncertainty[l] +=
            distance(state->bases + l * c * q, bases + l * c * q, c, q) / (double)plan->doubts;
    return CLO_OK;
}

clo_status clo_i_moments_doubt(const clo_i_moments_plan *plan, clo_rng *rng, int threads,
                               clo_i_moments_state *state, clo_error *err)
{
    const size_t c = plan->seen, k = plan->clusters, thin = k * c * plan->rank;
    const size_t count = clo_i_moment_size(c), room = count + k * c * c + 2 * thin;
    const uint64_t ask = clo_i_rng_next_ask(rng);
    double *moments = NULL;
    clo_stream *stream = NULL;
    clo_status status = clo_i_alloc(room, sizeof *moments, &moments, err);
    if (!status) status = clo_i_stream_open(rng, ask, 0, &stream, err);
    const clo_moment_even even = clo_i_moment_even(c, plan->even);
    const clo_moment_job job = { .moments = moments,
                                 .second = even.second,
                                 .none = even.none,
                                 .contraction = plan->even > 0 ? state->contraction : NULL,
                                 .noise = plan->tensor_noise,
                                 .cols = c,
                                 .clusters = k,
                                 .dim = plan->rank,
                                 .means = plan->height > 0,
                                 .threads = threads };
    for (size_t turn = 0; !status && turn < plan->doubts; turn++)
        status = doubt_once(plan, stream, &job, moments, moments + count,
                            moments + count + 2 * thin, moments + count + thin, state, err);
    if (!status) status = clo_i_stream_check(stream, err);
    clo_i_stream_close(stream);
    clo_i_free(moments);
    return status;
}
