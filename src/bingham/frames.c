/*
 * frames.c - Gibbs sweeps over the columns of a frame, in the eigenbasis of A (bingham.T3).
 *
 * A sweep from any frame costs O(d q^3) and no eigendecomposition; changing A costs one.  The frame
 * is carried into the eigenbasis and back once a call, not once a sweep.
 */
#include "bingham/bingham.h"
#include "linalg/linalg.h"
#include "parallel/parallel.h"
#include <math.h>
#include <string.h>

static const double LARGEST_EXPONENT = 1e9;

/* More than this no matrix that LAPACK could decompose would need. */
static const size_t MOST_DIMENSIONS = 1 << 14;

/* ---- memory ------------------------------------------------------------------------------ */

static size_t scratch_count(size_t d, size_t q)
{
    const size_t eigen = clo_i_eigen_scratch(d, d), envelope = clo_i_envelope_scratch(d, q - 1);
    return eigen > envelope ? eigen : envelope;
}

clo_status clo_i_bingham_new(size_t d, size_t q, const double *weights, clo_bingham **out,
                             clo_error *err)
{
    if (q < 1 || q > d || d > MOST_DIMENSIONS)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "a frame must have between 1 and d columns and d be at most %zu, not %zu "
                          "of %zu",
                          MOST_DIMENSIONS, q, d);
    for (size_t r = 0; r < q; r++)
        if (!isfinite(weights[r]))
            return clo_i_fail(err, CLO_ARGUMENT, "a weight must be a finite number");
    const size_t count = 2 * d + q + d * d + q * d + scratch_count(d, q) + q;
    clo_bingham *made = NULL;
    double *at = NULL;
    CLO_TRY(clo_i_alloc(1, sizeof *made, &made, err));
    const clo_status status = clo_i_alloc(count, sizeof *at, &at, err);
    if (status) {
        clo_i_free(made);
        return status;
    }
    made->d = d;
    made->q = q;
    made->memory = at;
    made->bytes = count * sizeof *at;
    made->weights = at;
    made->values = made->weights + q;
    made->energies = made->values + d;
    made->vectors = made->energies + d;
    made->columns = made->vectors + d * d;
    made->scratch = made->columns + q * d;
    made->normal = (const double **)(made->scratch + scratch_count(d, q));
    memcpy(made->weights, weights, q * sizeof *weights);
    *out = made;
    return CLO_OK;
}

void clo_bingham_free(clo_bingham *bingham)
{
    if (!bingham) return;
    clo_i_wipe_free(bingham->memory, bingham->bytes);
    clo_i_free(bingham);
}

clo_status clo_i_bingham_set(clo_bingham *bingham, double *a, clo_error *err)
{
    const size_t d = bingham->d;
    CLO_TRY(clo_i_eigen_top(a, d, d, bingham->values, bingham->vectors, bingham->scratch, err));
    clo_i_envelope_init(&bingham->envelope, d, bingham->q - 1, bingham->scratch);
    return CLO_OK;
}

/* A law so narrow that doubles cannot follow it would be proposed to for ever. */
static clo_status check_size(clo_matrix a, const double *weights, size_t q, clo_error *err)
{
    double size = 0, weight = 0;
    for (size_t i = 0; i < a.rows; i++) {
        double sum = 0;
        for (size_t j = 0; j < a.rows; j++)
            sum += fabs(a.data[i >= j ? i * a.stride + j : j * a.stride + i]);
        size = fmax(size, sum); /* a bound of the eigenvalues (Gershgorin) */
    }
    for (size_t r = 0; r < q; r++) weight = fmax(weight, fabs(weights[r]));
    if (!(size * weight <= LARGEST_EXPONENT))
        return clo_i_fail(err, CLO_ARGUMENT,
                          "the exponent of a Bingham distribution must be at most %g, by the "
                          "largest row sum of the matrix times the largest weight",
                          LARGEST_EXPONENT);
    return CLO_OK;
}

clo_status clo_bingham_new(clo_matrix a, const double *weights, size_t q, clo_bingham **out,
                           clo_error *err)
{
    const size_t d = a.rows;
    clo_bingham *made = NULL;
    double *copy = NULL;
    if (a.rows != a.cols || d < 1 || a.stride < a.cols)
        return clo_i_fail(err, CLO_ARGUMENT, "a Bingham distribution needs a square matrix");
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j <= i; j++)
            if (!isfinite(a.data[i * a.stride + j]))
                return clo_i_fail(err, CLO_ARGUMENT,
                                  "the matrix of a Bingham distribution must be finite");
    CLO_TRY(check_size(a, weights, q, err));
    CLO_TRY(clo_i_threads_fit(err));
    CLO_TRY(clo_i_bingham_new(d, q, weights, &made, err));
    clo_status status = clo_i_alloc(d * d, sizeof *copy, &copy, err);
    if (!status) {
        for (size_t i = 0; i < d; i++)
            for (size_t j = 0; j <= i; j++)
                copy[i * d + j] = copy[j * d + i] = a.data[i * a.stride + j];
        status = clo_i_bingham_set(made, copy, err);
    }
    clo_i_wipe_free(copy, d * d * sizeof *copy);
    if (status)
        clo_bingham_free(made);
    else
        *out = made;
    return status;
}

/* ---- sweeps ------------------------------------------------------------------------------ */

/* Into the eigenbasis, a vector a row: W' = U'V. */
static void carry_in(const clo_bingham *b, const double *frame)
{
    const size_t d = b->d, q = b->q;
    memset(b->columns, 0, q * d * sizeof *b->columns);
    for (size_t i = 0; i < d; i++)
        for (size_t r = 0; r < q; r++) {
            const double entry = frame[i * q + r], *const row = b->vectors + i * d;
            double *const column = b->columns + r * d;
            for (size_t j = 0; j < d; j++) column[j] += entry * row[j];
        }
}

static void carry_out(const clo_bingham *b, double *frame)
{
    const size_t d = b->d, q = b->q;
    for (size_t i = 0; i < d; i++)
        for (size_t r = 0; r < q; r++) {
            const double *const row = b->vectors + i * d, *const column = b->columns + r * d;
            double sum = 0;
            for (size_t j = 0; j < d; j++) sum += row[j] * column[j];
            frame[i * q + r] = sum;
        }
}

/* One column from its law given the others.  The old one only says where to look for the shift:
 * it has an energy of m/2 or so above it. */
static bool draw_column(clo_bingham *b, clo_stream *stream, size_t r)
{
    const size_t d = b->d, q = b->q;
    double *const column = b->columns + r * d, level = 0;
    for (size_t j = 0, at = 0; j < q; j++)
        if (j != r) b->normal[at++] = b->columns + j * d;
    for (size_t i = 0; i < d; i++) {
        b->energies[i] = -b->weights[r] * b->values[i];
        level += b->energies[i] * column[i] * column[i];
    }
    clo_i_envelope_fit(&b->envelope, b->energies, b->normal, level - 0.5 * (double)(d - q + 1));
    return clo_i_envelope_draw(&b->envelope, stream, column);
}

void clo_i_bingham_sweep(clo_bingham *b, clo_stream *stream, uint64_t sweeps, double *frame)
{
    bool going = true;
    carry_in(b, frame);
    for (uint64_t sweep = 0; sweep < sweeps && going; sweep++)
        for (size_t r = 0; r < b->q && going; r++) going = draw_column(b, stream, r);
    carry_out(b, frame);
}

/* A frame that is not one would be swept into something else, quietly. */
static clo_status check_frame(const clo_bingham *b, const double *frame, clo_error *err)
{
    for (size_t r = 0; r < b->q; r++)
        for (size_t s = 0; s <= r; s++) {
            double sum = r == s ? -1 : 0;
            for (size_t i = 0; i < b->d; i++) sum += frame[i * b->q + r] * frame[i * b->q + s];
            if (!(fabs(sum) <= 1e-8))
                return clo_i_fail(err, CLO_ARGUMENT,
                                  "a sweep must start from a frame with orthonormal columns");
        }
    return CLO_OK;
}

clo_status clo_bingham_sweep(clo_bingham *bingham, clo_rng *rng, uint64_t sweeps, double *frame,
                             clo_error *err)
{
    const size_t count = bingham->d * bingham->q;
    const uint64_t ask = clo_i_rng_next_ask(rng);
    double *swept = NULL;
    clo_stream *stream = NULL;
    CLO_TRY(check_frame(bingham, frame, err));
    clo_status status = clo_i_alloc(count, sizeof *swept, &swept, err);
    if (!status) status = clo_i_stream_open(rng, ask, 0, &stream, err);
    if (!status) {
        memcpy(swept, frame, count * sizeof *swept);
        clo_i_bingham_sweep(bingham, stream, sweeps, swept);
        status = clo_i_stream_check(stream, err);
    }
    if (!status) memcpy(frame, swept, count * sizeof *swept);
    clo_i_stream_close(stream);
    clo_i_wipe_free(swept, count * sizeof *swept);
    return status;
}

/* ---- the uniform law --------------------------------------------------------------------- */

clo_status clo_i_bingham_uniform(clo_stream *stream, size_t d, size_t q, double *frame,
                                 clo_error *err)
{
    for (size_t i = 0; i < d * q; i++) frame[i] = clo_i_random_normal(stream);
    return clo_i_orthonormalize(frame, d, q, err);
}

clo_status clo_bingham_uniform(size_t d, size_t q, clo_rng *rng, double *frame, clo_error *err)
{
    const uint64_t ask = clo_i_rng_next_ask(rng);
    double *drawn = NULL;
    clo_stream *stream = NULL;
    if (q < 1 || q > d || d > MOST_DIMENSIONS)
        return clo_i_fail(err, CLO_ARGUMENT, "a frame must have between 1 and d columns, not %zu",
                          q);
    CLO_TRY(clo_i_alloc(d * q, sizeof *drawn, &drawn, err));
    clo_status status = clo_i_stream_open(rng, ask, 0, &stream, err);
    if (!status) status = clo_i_bingham_uniform(stream, d, q, drawn, err);
    if (!status) status = clo_i_stream_check(stream, err);
    if (!status) memcpy(frame, drawn, d * q * sizeof *drawn);
    clo_i_stream_close(stream);
    clo_i_wipe_free(drawn, d * q * sizeof *drawn);
    return status;
}
