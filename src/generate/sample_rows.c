/* sample_rows.c - what the models of synthetic data have in common. */
#include "generate/generate.h"
#include "parallel/parallel.h"
#include <math.h>
#include <stdatomic.h>

/* ---- checks -------------------------------------------------------------- */

clo_status clo_i_check_count(const char *name, size_t value, size_t least, size_t most,
                             clo_error *err)
{
    if (value < least || value > most)
        return clo_i_fail(err, CLO_ARGUMENT, "%s must be between %zu and %zu, not %zu", name, least,
                          most, value);
    return CLO_OK;
}

clo_status clo_i_check_length(const char *name, double value, clo_error *err)
{
    if (!isfinite(value) || value < 0)
        return clo_i_fail(err, CLO_ARGUMENT, "%s must be a finite number of at least 0, not %g",
                          name, value);
    return CLO_OK;
}

/* ---- which cluster ------------------------------------------------------- */

clo_status clo_i_picker_new(const double *shares, size_t clusters, double outliers, clo_picker *out,
                            clo_error *err)
{
    double sum = 0;
    *out = (clo_picker){ .clusters = clusters, .outliers = outliers };
    if (!(outliers >= 0 && outliers <= 1))
        return clo_i_fail(err, CLO_ARGUMENT, "outliers must be a share between 0 and 1, not %g",
                          outliers);
    if (!shares) return CLO_OK;
    CLO_TRY(clo_i_alloc(clusters, sizeof *out->sums, &out->sums, err));
    for (size_t k = 0; k < clusters; k++) {
        if (!(shares[k] >= 0)) sum = NAN;
        sum += shares[k];
        out->sums[k] = sum;
    }
    if (isfinite(sum) && sum > 0) return CLO_OK;
    clo_i_picker_free(out);
    return clo_i_fail(err, CLO_ARGUMENT,
                      "shares must be finite numbers of at least 0 that are not all 0");
}

void clo_i_picker_free(clo_picker *picker)
{
    clo_i_free(picker->sums);
    picker->sums = NULL;
}

size_t clo_i_pick(const clo_picker *picker, clo_stream *stream)
{
    if (picker->outliers > 0 && clo_i_random_unit(stream) < picker->outliers)
        return picker->clusters;
    if (!picker->sums) return clo_i_random_below(stream, picker->clusters);
    const double at = clo_i_random_unit(stream) * picker->sums[picker->clusters - 1];
    size_t low = 0, high = picker->clusters - 1;
    while (low < high) { /* the first cluster whose sum is above */
        const size_t middle = low + (high - low) / 2;
        if (picker->sums[middle] > at)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* ---- points -------------------------------------------------------------- */

void clo_i_draw_direction(clo_stream *stream, double *out, size_t count)
{
    double square = 0;
    for (size_t i = 0; i < count; i++) {
        out[i] = clo_i_random_normal(stream);
        square += out[i] * out[i];
    }
    const double length = sqrt(square);
    for (size_t i = 0; i < count && length > 0; i++) out[i] /= length;
}

/* The part of a ball within a share t of its radius has t^d of its volume. */
void clo_i_draw_in_ball(clo_stream *stream, double inner, double outer, double *out, size_t count)
{
    clo_i_draw_direction(stream, out, count);
    const double left_out = inner > 0 ? pow(inner / outer, (double)count) : 0;
    const double volume = left_out + clo_i_random_unit(stream) * (1 - left_out);
    const double radius = outer * pow(volume, 1 / (double)count);
    for (size_t c = 0; c < count; c++) out[c] *= radius;
}

/* ---- blocks -------------------------------------------------------------- */

static clo_status draw_block(size_t rows, const clo_rng *rng, uint64_t ask, size_t block,
                             clo_i_draw_block *draw, const void *context, clo_error *err)
{
    const size_t first = block * CLO_GENERATE_BLOCK;
    const size_t end = rows - first < CLO_GENERATE_BLOCK ? rows : first + CLO_GENERATE_BLOCK;
    clo_stream *stream = NULL;
    CLO_TRY(clo_i_stream_open(rng, ask, 1 + block, &stream, err));
    clo_status status = draw(context, stream, first, end, err);
    if (status == CLO_OK) status = clo_i_stream_check(stream, err);
    clo_i_stream_close(stream);
    return status;
}

clo_status clo_i_draw_blocks(size_t rows, const clo_rng *rng, uint64_t ask, clo_i_draw_block *draw,
                             const void *context, clo_error *err)
{
    const size_t blocks = (rows + CLO_GENERATE_BLOCK - 1) / CLO_GENERATE_BLOCK;
    clo_status status = CLO_OK;
    atomic_flag failed = ATOMIC_FLAG_INIT; /* whoever sets it may write to status and err */
#pragma omp parallel for schedule(dynamic) num_threads(clo_i_threads(0))
    for (size_t block = 0; block < blocks; block++) {
        clo_error own = { .status = CLO_OK };
        if (draw_block(rows, rng, ask, block, draw, context, &own) == CLO_OK) continue;
        if (!atomic_flag_test_and_set(&failed))
            status = clo_i_fail(err, own.status, "%s", own.message);
    }
    return status;
}
