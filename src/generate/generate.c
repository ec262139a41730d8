/*
 * generate.c - synthetic records around a known truth: k subspaces (wang2015, sections 3.3 and 5),
 * linear or affine, or k centres.
 *
 * Both are flats: a point plus the directions of a subspace.  A mixture has dimension 0 and its
 * points are the centres; a linear subspace has no point.  Every record chooses its cluster at
 * random, as in the paper, so that cluster sizes are as asked for only on average.
 */
#include "generate/generate.h"
#include "linalg/linalg.h"
#include "parallel/parallel.h"
#include <math.h>
#include <string.h>

enum { MOST_COLUMNS = 1 << 20, MOST_CLUSTERS = 1 << 20 };

/* Both models in one. */
typedef struct recipe {
    size_t rows, cols, clusters, dim;
    const size_t *dims;             /* or NULL */
    double noise;                   /* of each coordinate */
    double decay, shortest;         /* within a subspace */
    double inner, spread;           /* where the points lie */
    const double *given;            /* bases or centres, or NULL */
    clo_picker picker;              /* its own memory */
    double *bases;                  /* clusters x cols x dim; NULL where dim is 0 */
    double *offsets;                /* clusters x cols; NULL: the origin */
    size_t base_count, point_count; /* numbers in these */
} recipe;

/* Where the records go. */
typedef struct target {
    const recipe *recipe;
    double *records;
    uint32_t *labels; /* or NULL */
} target;

void clo_subspace_model_init(clo_subspace_model *model, size_t size)
{
    const clo_subspace_model presets = {
        .rows = 1000, .cols = 10, .clusters = 3, .dim = 3, .noise = 0.1, .decay = 1, .shortest = 1
    };
    clo_i_give_presets(model, size, &presets, sizeof presets);
}

void clo_mixture_model_init(clo_mixture_model *model, size_t size)
{
    const clo_mixture_model presets = {
        .rows = 10000, .cols = 2, .clusters = 5, .noise = 0.05, .spread = 1
    };
    clo_i_give_presets(model, size, &presets, sizeof presets);
}

/* ---- checks -------------------------------------------------------------- */

static clo_status check_given(const recipe *r, size_t count, clo_error *err)
{
    for (size_t i = 0; r->given && i < count; i++)
        if (!isfinite(r->given[i]))
            return clo_i_fail(err, CLO_ARGUMENT, "the given truth must consist of finite numbers");
    return CLO_OK;
}

/* Of a subspace model, dim is checked by the caller, for 0 means a mixture here. */
static clo_status check(recipe *r, const clo_rng *rng, const double *records, clo_error *err)
{
    size_t ignored;
    if (!rng || !records)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "a random generator and memory for the records must be given");
    CLO_TRY(clo_i_check_count("rows", r->rows, 1, SIZE_MAX / CLO_GENERATE_BLOCK, err));
    CLO_TRY(clo_i_check_count("cols", r->cols, 1, MOST_COLUMNS, err));
    CLO_TRY(clo_i_check_count("clusters", r->clusters, 1, MOST_CLUSTERS, err));
    CLO_TRY(clo_i_check_length("noise", r->noise, err));
    CLO_TRY(clo_i_check_length("spread", r->spread, err));
    r->point_count = r->clusters * r->cols;
    if (!clo_i_multiply(r->rows, r->cols * sizeof(double), &ignored) ||
        !clo_i_multiply(r->point_count, r->dim, &r->base_count))
        return clo_i_fail(err, CLO_ARGUMENT, "rows, cols and clusters are too large together");
    return CLO_OK;
}

static clo_status check_subspaces(const recipe *r, clo_error *err)
{
    if (r->dim < 1 || r->dim > r->cols)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "dim must be between 1 and the %zu columns there are, not %zu", r->cols,
                          r->dim);
    for (size_t k = 0; r->dims && k < r->clusters; k++)
        if (r->dims[k] < 1 || r->dims[k] > r->dim)
            return clo_i_fail(err, CLO_ARGUMENT,
                              "the dimension of each subspace must be between 1 and dim, which is "
                              "%zu, not %zu",
                              r->dim, r->dims[k]);
    if (!(r->decay > 0 && r->decay <= 1))
        return clo_i_fail(err, CLO_ARGUMENT, "decay must be above 0 and at most 1, not %g",
                          r->decay);
    if (!(r->shortest >= 0 && r->shortest <= 1))
        return clo_i_fail(err, CLO_ARGUMENT, "shortest must be between 0 and 1, not %g",
                          r->shortest);
    return check_given(r, r->base_count, err);
}

static clo_status check_mixture(const recipe *r, clo_error *err)
{
    if (!(r->inner >= 0 && (r->inner == 0 || r->inner < r->spread)))
        return clo_i_fail(err, CLO_ARGUMENT,
                          "inner must be at least 0 and less than spread, which is %g, not %g",
                          r->spread, r->inner);
    return check_given(r, r->point_count, err);
}

/* ---- the truth ----------------------------------------------------------- */

/* The range of a normal matrix is uniformly distributed among all subspaces, and so is that of its
 * first columns. */
static clo_status draw_bases(const recipe *r, clo_stream *stream, clo_error *err)
{
    for (size_t i = 0; i < r->base_count && !r->given; i++)
        r->bases[i] = clo_i_random_normal(stream);
    if (r->given) memcpy(r->bases, r->given, r->base_count * sizeof *r->bases);
    for (size_t k = 0; k < r->clusters; k++) {
        double *basis = r->bases + k * r->cols * r->dim;
        CLO_TRY(clo_i_orthonormalize(basis, r->cols, r->dim, err));
        for (size_t c = 0; r->dims && c < r->cols; c++)
            for (size_t l = r->dims[k]; l < r->dim; l++) basis[c * r->dim + l] = 0;
    }
    return CLO_OK;
}

static void draw_points(const recipe *r, clo_stream *stream)
{
    if (r->given && r->dim == 0) {
        memcpy(r->offsets, r->given, r->point_count * sizeof *r->offsets);
        return;
    }
    for (size_t k = 0; k < r->clusters; k++)
        clo_i_draw_in_ball(stream, r->inner, r->spread, r->offsets + k * r->cols, r->cols);
}

static clo_status draw_truth(const recipe *r, const clo_rng *rng, uint64_t ask, clo_error *err)
{
    clo_stream *stream = NULL;
    clo_status status = clo_i_stream_open(rng, ask, 0, &stream, err);
    if (status == CLO_OK && r->bases) status = draw_bases(r, stream, err);
    if (status == CLO_OK && r->offsets) draw_points(r, stream);
    if (status == CLO_OK) status = clo_i_stream_check(stream, err);
    clo_i_stream_close(stream);
    return status;
}

/* ---- the records --------------------------------------------------------- */

/* y: uniform on the sphere, or pulled towards the first directions, or shorter. */
static void draw_weights(const recipe *r, clo_stream *stream, double *weights, size_t count)
{
    double square = 0, share = 1;
    for (size_t l = 0; l < count; l++) {
        weights[l] = share * clo_i_random_normal(stream);
        square += weights[l] * weights[l];
        share *= r->decay;
    }
    const double length = sqrt(square);
    for (size_t l = 0; l < count && length > 0; l++) weights[l] /= length;
    if (r->shortest >= 1) return;
    const double shorter = r->shortest + (1 - r->shortest) * clo_i_random_unit(stream);
    for (size_t l = 0; l < count; l++) weights[l] *= shorter;
}

static void draw_outlier(const recipe *r, clo_stream *stream, double *record)
{
    if (r->dim == 0)
        clo_i_draw_in_ball(stream, 0, r->spread, record, r->cols);
    else if (r->spread > 0)
        clo_i_draw_in_ball(stream, 0, r->spread + 1, record, r->cols);
    else
        clo_i_draw_direction(stream, record, r->cols);
}

/* weights: scratch for dim numbers, a point of the subspace in its basis. */
static void draw_member(const recipe *r, clo_stream *stream, size_t k, double *weights,
                        double *record)
{
    const double *basis = r->dim > 0 ? r->bases + k * r->cols * r->dim : NULL;
    const double *point = r->offsets ? r->offsets + k * r->cols : NULL;
    const size_t dim = r->dims ? r->dims[k] : r->dim;
    if (dim > 0) draw_weights(r, stream, weights, dim);
    for (size_t c = 0; c < r->cols; c++) {
        double value = point ? point[c] : 0;
        for (size_t l = 0; l < dim; l++) value += basis[c * r->dim + l] * weights[l];
        record[c] = value;
    }
}

static clo_status draw_records(const void *context, clo_stream *stream, size_t first, size_t end,
                               clo_error *err)
{
    const target *to = context;
    const recipe *r = to->recipe;
    double *weights = NULL;
    CLO_TRY(clo_i_alloc(r->dim, sizeof *weights, &weights, err));
    for (size_t i = first; i < end; i++) {
        double *record = to->records + i * r->cols;
        const size_t k = clo_i_pick(&r->picker, stream);
        if (k < r->clusters)
            draw_member(r, stream, k, weights, record);
        else
            draw_outlier(r, stream, record);
        for (size_t c = 0; c < r->cols; c++) record[c] += r->noise * clo_i_random_normal(stream);
        if (to->labels) to->labels[i] = (uint32_t)k;
    }
    clo_i_free(weights);
    return CLO_OK;
}

static void hand_out(const double *from, size_t count, double *to)
{
    if (from && to) memcpy(to, from, count * sizeof *to);
    if (!from && to) memset(to, 0, count * sizeof *to);
}

/* The truth is drawn first and handed out last, so that a failure leaves it untouched. */
static clo_status generate(recipe *r, const double *shares, double outliers, clo_rng *rng,
                           target to, double *bases, double *offsets, clo_error *err)
{
    clo_status status = clo_i_picker_new(shares, r->clusters, outliers, &r->picker, err);
    if (status == CLO_OK && r->dim > 0)
        status = clo_i_alloc(r->base_count, sizeof *r->bases, &r->bases, err);
    if (status == CLO_OK && (r->dim == 0 || r->spread > 0))
        status = clo_i_alloc(r->point_count, sizeof *r->offsets, &r->offsets, err);
    if (status != CLO_OK) goto done;
    const uint64_t ask = clo_i_rng_next_ask(rng);
    if ((status = draw_truth(r, rng, ask, err)) != CLO_OK) goto done;
    if ((status = clo_i_draw_blocks(r->rows, rng, ask, draw_records, &to, err)) != CLO_OK)
        goto done;
    hand_out(r->bases, r->base_count, bases);
    hand_out(r->offsets, r->point_count, offsets);
done:
    clo_i_picker_free(&r->picker);
    clo_i_free(r->bases);
    clo_i_free(r->offsets);
    return status;
}

/* ---- the two models ------------------------------------------------------ */

clo_status clo_generate_flats(const clo_subspace_model *model, clo_rng *rng, double *records,
                              uint32_t *labels, double *bases, double *offsets, clo_error *err)
{
    clo_subspace_model full = clo_subspace_model_default();
    if (!model) return clo_i_fail(err, CLO_ARGUMENT, "a model must be given");
    CLO_TRY(clo_i_take_options("clo_subspace_model", model, &full, sizeof full, err));
    recipe r = { .rows = full.rows,
                 .cols = full.cols,
                 .clusters = full.clusters,
                 .dim = full.dim,
                 .dims = full.dims,
                 .noise = full.noise,
                 .decay = full.decay,
                 .shortest = full.shortest,
                 .spread = full.spread,
                 .given = full.given };
    CLO_TRY(check(&r, rng, records, err));
    CLO_TRY(clo_i_threads_fit(err));
    CLO_TRY(check_subspaces(&r, err));
    if (full.noise_whole) r.noise /= sqrt((double)r.cols);
    return generate(&r, full.shares, full.outliers, rng, (target){ &r, records, labels }, bases,
                    offsets, err);
}

clo_status clo_generate_subspaces(const clo_subspace_model *model, clo_rng *rng, double *records,
                                  uint32_t *labels, double *bases, clo_error *err)
{
    return clo_generate_flats(model, rng, records, labels, bases, NULL, err);
}

clo_status clo_generate_mixture(const clo_mixture_model *model, clo_rng *rng, double *records,
                                uint32_t *labels, double *centers, clo_error *err)
{
    clo_mixture_model full = clo_mixture_model_default();
    if (!model) return clo_i_fail(err, CLO_ARGUMENT, "a model must be given");
    CLO_TRY(clo_i_take_options("clo_mixture_model", model, &full, sizeof full, err));
    recipe r = { .rows = full.rows,
                 .cols = full.cols,
                 .clusters = full.clusters,
                 .noise = full.noise,
                 .inner = full.inner,
                 .spread = full.spread,
                 .given = full.given };
    CLO_TRY(check(&r, rng, records, err));
    CLO_TRY(clo_i_threads_fit(err));
    CLO_TRY(check_mixture(&r, err));
    return generate(&r, full.shares, full.outliers, rng, (target){ &r, records, labels }, NULL,
                    centers, err);
}
