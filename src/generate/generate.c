/*
 * generate.c - synthetic records around a known truth: k subspaces (wang2015, section 5) or k
 * centres.
 *
 * Every record chooses its cluster uniformly at random, as in the paper, so cluster sizes are
 * even only on average. The truth comes from the generator's stream 0 and each block of records
 * from a stream of its own: a seed gives the same data on any number of threads, and the first
 * records stay the same when more are asked for.
 */
#include <cloister/generate.h>
#include "linalg/linalg.h"
#include "parallel/parallel.h"
#include "random/random.h"
#include <math.h>
#include <stdatomic.h>
#include <string.h>

enum { MOST_COLUMNS = 1 << 20, MOST_CLUSTERS = 1 << 20, BLOCK_ROWS = 1024 };

/* Both models in one: a mixture has dimension 0, and its truth is the centres. */
typedef struct recipe {
    size_t rows, cols, clusters, dim;
    double noise, spread;
    double *truth; /* clusters x cols x dim, or clusters x cols */
    size_t truth_count;
} recipe;

clo_subspace_model clo_subspace_model_default(void)
{
    return (clo_subspace_model){ .struct_size = sizeof(clo_subspace_model),
                                 .rows = 1000,
                                 .cols = 10,
                                 .clusters = 3,
                                 .dim = 3,
                                 .noise = 0.1 };
}

clo_mixture_model clo_mixture_model_default(void)
{
    return (clo_mixture_model){ .struct_size = sizeof(clo_mixture_model),
                                .rows = 10000,
                                .cols = 2,
                                .clusters = 5,
                                .noise = 0.05,
                                .spread = 1 };
}

/* ---- checks -------------------------------------------------------------- */

static clo_status check_count(const char *name, size_t value, size_t most, clo_error *err)
{
    if (value < 1 || value > most)
        return clo_i_fail(err, CLO_ARGUMENT, "%s must be between 1 and %zu, not %zu", name, most,
                          value);
    return CLO_OK;
}

static clo_status check_length(const char *name, double value, clo_error *err)
{
    if (!isfinite(value) || value < 0)
        return clo_i_fail(err, CLO_ARGUMENT, "%s must be a finite number of at least 0, not %g",
                          name, value);
    return CLO_OK;
}

/* Of a subspace model, dim is checked by the caller, for 0 means a mixture here. */
static clo_status check(recipe *r, const clo_rng *rng, const double *records, clo_error *err)
{
    size_t ignored;
    if (!rng || !records)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "a random generator and memory for the records must be given");
    CLO_TRY(check_count("rows", r->rows, SIZE_MAX / BLOCK_ROWS, err));
    CLO_TRY(check_count("cols", r->cols, MOST_COLUMNS, err));
    CLO_TRY(check_count("clusters", r->clusters, MOST_CLUSTERS, err));
    CLO_TRY(check_length("noise", r->noise, err));
    CLO_TRY(check_length("spread", r->spread, err));
    if (!clo_i_multiply(r->rows, r->cols * sizeof(double), &ignored) ||
        !clo_i_multiply(r->clusters * r->cols, r->dim > 0 ? r->dim : 1, &r->truth_count))
        return clo_i_fail(err, CLO_ARGUMENT, "rows, cols and clusters are too large together");
    return CLO_OK;
}

/* ---- the truth ----------------------------------------------------------- */

/* A point of the unit sphere. A stream that has failed gives zeros; its owner will see that. */
static void draw_direction(clo_stream *stream, double *out, size_t count)
{
    double square = 0;
    for (size_t i = 0; i < count; i++) {
        out[i] = clo_i_random_normal(stream);
        square += out[i] * out[i];
    }
    const double length = sqrt(square);
    for (size_t i = 0; i < count && length > 0; i++) out[i] /= length;
}

/* The range of a normal matrix is uniformly distributed among all subspaces. */
static clo_status draw_bases(const recipe *r, clo_stream *stream, clo_error *err)
{
    for (size_t i = 0; i < r->truth_count; i++) r->truth[i] = clo_i_random_normal(stream);
    for (size_t k = 0; k < r->clusters; k++)
        CLO_TRY(clo_i_orthonormalize(r->truth + k * r->cols * r->dim, r->cols, r->dim, err));
    return CLO_OK;
}

/* The part of a ball within a share t of its radius has t^d of its volume. */
static void draw_centers(const recipe *r, clo_stream *stream)
{
    for (size_t k = 0; k < r->clusters; k++) {
        double *center = r->truth + k * r->cols;
        draw_direction(stream, center, r->cols);
        const double radius = r->spread * pow(clo_i_random_unit(stream), 1 / (double)r->cols);
        for (size_t c = 0; c < r->cols; c++) center[c] *= radius;
    }
}

static clo_status draw_truth(const recipe *r, const clo_rng *rng, uint64_t ask, clo_error *err)
{
    clo_stream *stream = NULL;
    clo_status status = clo_i_stream_open(rng, ask, 0, &stream, err);
    if (status == CLO_OK && r->dim > 0) status = draw_bases(r, stream, err);
    if (status == CLO_OK && r->dim == 0) draw_centers(r, stream);
    if (status == CLO_OK) status = clo_i_stream_check(stream, err);
    clo_i_stream_close(stream);
    return status;
}

/* ---- the records --------------------------------------------------------- */

/* weights: scratch for dim numbers, a point of the subspace in its basis. */
static void draw_record(const recipe *r, clo_stream *stream, double *weights, double *record,
                        uint32_t *label)
{
    const size_t k = clo_i_random_below(stream, r->clusters);
    const double *truth = r->truth + k * (r->truth_count / r->clusters);
    draw_direction(stream, weights, r->dim);
    for (size_t c = 0; c < r->cols; c++) {
        double value = r->dim > 0 ? 0 : truth[c];
        for (size_t l = 0; l < r->dim; l++) value += truth[c * r->dim + l] * weights[l];
        record[c] = value + r->noise * clo_i_random_normal(stream);
    }
    if (label) *label = (uint32_t)k;
}

static clo_status draw_block(const recipe *r, const clo_rng *rng, uint64_t ask, size_t block,
                             double *records, uint32_t *labels, clo_error *err)
{
    const size_t first = block * BLOCK_ROWS;
    const size_t end = r->rows - first < BLOCK_ROWS ? r->rows : first + BLOCK_ROWS;
    clo_stream *stream = NULL;
    double *weights = NULL;
    clo_status status = clo_i_alloc(r->dim, sizeof *weights, &weights, err);
    if (status == CLO_OK) status = clo_i_stream_open(rng, ask, 1 + block, &stream, err);
    for (size_t i = first; i < end && status == CLO_OK; i++)
        draw_record(r, stream, weights, records + i * r->cols, labels ? labels + i : NULL);
    if (status == CLO_OK) status = clo_i_stream_check(stream, err);
    clo_i_stream_close(stream);
    clo_i_free(weights);
    return status;
}

static clo_status draw_records(const recipe *r, const clo_rng *rng, uint64_t ask, double *records,
                               uint32_t *labels, clo_error *err)
{
    const size_t blocks = (r->rows + BLOCK_ROWS - 1) / BLOCK_ROWS;
    clo_status status = CLO_OK;
    atomic_flag failed = ATOMIC_FLAG_INIT; /* whoever sets it may write to status and err */
#pragma omp parallel for schedule(dynamic) num_threads(clo_i_threads(0))
    for (size_t block = 0; block < blocks; block++) {
        clo_error own = { .status = CLO_OK };
        if (draw_block(r, rng, ask, block, records, labels, &own) == CLO_OK) continue;
        if (!atomic_flag_test_and_set(&failed))
            status = clo_i_fail(err, own.status, "%s", own.message);
    }
    return status;
}

/* The truth is drawn first and handed out last, so that a failure leaves it untouched. */
static clo_status generate(recipe *r, clo_rng *rng, double *records, uint32_t *labels,
                           double *truth, clo_error *err)
{
    CLO_TRY(clo_i_alloc(r->truth_count, sizeof *r->truth, &r->truth, err));
    const uint64_t ask = clo_i_rng_next_ask(rng);
    clo_status status = draw_truth(r, rng, ask, err);
    if (status == CLO_OK) status = draw_records(r, rng, ask, records, labels, err);
    if (status == CLO_OK && truth) memcpy(truth, r->truth, r->truth_count * sizeof *truth);
    clo_i_free(r->truth);
    return status;
}

/* ---- the two models ------------------------------------------------------ */

clo_status clo_generate_subspaces(const clo_subspace_model *model, clo_rng *rng, double *records,
                                  uint32_t *labels, double *bases, clo_error *err)
{
    clo_subspace_model full = clo_subspace_model_default();
    if (!model || model->struct_size < offsetof(clo_subspace_model, noise))
        return clo_i_fail(err, CLO_ARGUMENT,
                          "the model must start from clo_subspace_model_default()");
    memcpy(&full, model, model->struct_size < sizeof full ? model->struct_size : sizeof full);
    recipe r = { .rows = full.rows,
                 .cols = full.cols,
                 .clusters = full.clusters,
                 .dim = full.dim,
                 .noise = full.noise };
    CLO_TRY(check(&r, rng, records, err));
    if (full.dim < 1 || full.dim > full.cols)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "dim must be between 1 and the %zu columns there are, not %zu", full.cols,
                          full.dim);
    return generate(&r, rng, records, labels, bases, err);
}

clo_status clo_generate_mixture(const clo_mixture_model *model, clo_rng *rng, double *records,
                                uint32_t *labels, double *centers, clo_error *err)
{
    clo_mixture_model full = clo_mixture_model_default();
    if (!model || model->struct_size < offsetof(clo_mixture_model, noise))
        return clo_i_fail(err, CLO_ARGUMENT,
                          "the model must start from clo_mixture_model_default()");
    memcpy(&full, model, model->struct_size < sizeof full ? model->struct_size : sizeof full);
    recipe r = { .rows = full.rows,
                 .cols = full.cols,
                 .clusters = full.clusters,
                 .noise = full.noise,
                 .spread = full.spread };
    CLO_TRY(check(&r, rng, records, err));
    return generate(&r, rng, records, labels, centers, err);
}
