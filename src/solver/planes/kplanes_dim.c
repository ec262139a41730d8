/*
 * kplanes_dim.c - k-planes where the dimensions are not given.
 *
 * The cost alone would always ask for more dimensions.  So first one dimension for all is chosen,
 * on a sample of the rows, and in their leading directions where there are many columns.  Each q is
 * tried; of the clusters that are best at it the mean eigenvalues are taken, and they speak for q
 * where they say the same number plainly (flats_dim.c): the largest gap counts.  Then each cluster
 * takes the dimension that its own eigenvalues say plainly, or the common one, and a last search
 * from there settles who belongs where.  Where no gap is plain all keep the common dimension, that
 * of the clusters which leave least.
 */
#include "linalg/linalg.h"
#include "solver/planes/kplanes.h"
#include <cblas.h>
#include <math.h>
#include <string.h>

enum { SAMPLE_ROWS = 4000, TRY_RESTARTS = 6, MOST_COLS = 4 * CLO_MOST_DIMS };

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Rows at even steps through the table, enough for every cluster to have some. */
static clo_status take_sample(const clo_solver_input *job, size_t clusters,
                              clo_solver_input *sample, double **rows, clo_error *err)
{
    const size_t wanted = SAMPLE_ROWS > 50 * clusters ? SAMPLE_ROWS : 50 * clusters;
    *sample = *job;
    sample->start = NULL;
    if (job->count <= wanted) return CLO_OK;
    CLO_TRY(clo_i_alloc(wanted * job->cols, sizeof **rows, rows, err));
    for (size_t i = 0; i < wanted; i++) {
        const size_t from = (size_t)((double)i / (double)wanted * (double)job->count);
        memcpy(*rows + i * job->cols, job->rows + from * job->cols, job->cols * sizeof **rows);
    }
    sample->rows = *rows;
    sample->count = wanted;
    return CLO_OK;
}

/* ---- leading directions -------------------------------------------------------------------- */

/* The rows' mean goes, where the flats need not pass through the origin. */
static void centre(double *rows, size_t n, size_t d, double *mean)
{
    memset(mean, 0, d * sizeof *mean);
    for (size_t i = 0; i < n * d; i++) mean[i % d] += rows[i] / (double)n;
    for (size_t i = 0; i < n * d; i++) rows[i] -= mean[i % d];
}

/* out: n x q, the rows' coordinates in their q leading directions; by the smaller of the second
 * moment and the products. */
static clo_status lead(const double *rows, size_t n, size_t d, size_t q, double *out,
                       clo_error *err)
{
    const size_t size = smaller(n, d);
    double *moment = NULL, *values = NULL, *vectors = NULL, *scratch = NULL;
    clo_status status = clo_i_alloc(size, size * sizeof *moment, &moment, err);
    if (!status) status = clo_i_alloc(size, sizeof *values, &values, err);
    if (!status) status = clo_i_alloc(size, q * sizeof *vectors, &vectors, err);
    if (!status) status = clo_i_alloc(clo_i_eigen_scratch(size, q), sizeof *scratch, &scratch, err);
    const int before = clo_i_blas_serial_begin();
    if (!status && size == d) clo_i_gram_add(rows, n, d, moment);
    if (!status && size < d) clo_i_multiply_transposed(rows, n, rows, n, d, moment);
    if (!status) status = clo_i_eigen_top(moment, size, q, values, vectors, scratch, err);
    if (!status && size == d)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)n, (int)q, (int)d, 1.0, rows,
                    (int)d, vectors, (int)q, 0.0, out, (int)q);
    for (size_t i = 0; !status && size < d && i < n * q; i++)
        out[i] = vectors[i] * sqrt(fmax(values[i % q], 0));
    clo_i_blas_serial_end(before);
    clo_i_free(moment);
    clo_i_free(values);
    clo_i_free(vectors);
    clo_i_free(scratch);
    return status;
}

/* Many columns become few; *rows, which may be NULL, are replaced. */
static clo_status take_leading(bool affine, clo_solver_input *sample, double **rows, clo_error *err)
{
    const size_t n = sample->count, d = sample->cols, q = smaller(MOST_COLS, n);
    double *scores = NULL, *copy = NULL, *mean = NULL;
    if (d <= MOST_COLS) return CLO_OK;
    clo_status status = clo_i_alloc(n * q, sizeof *scores, &scores, err);
    if (!status) status = clo_i_alloc(d, sizeof *mean, &mean, err);
    if (!status && affine) status = clo_i_alloc(n * d, sizeof *copy, &copy, err);
    if (!status && affine) {
        memcpy(copy, sample->rows, n * d * sizeof *copy);
        centre(copy, n, d, mean);
    }
    if (!status) status = lead(affine ? copy : sample->rows, n, d, q, scores, err);
    clo_i_free(copy);
    clo_i_free(mean);
    if (status) {
        clo_i_free(scores);
        return status;
    }
    clo_i_free(*rows);
    *rows = scores;
    sample->rows = scores;
    sample->cols = q;
    return CLO_OK;
}

/* ---- what eigenvalues say ------------------------------------------------------------------ */

/* The leading eigenvalues of the clusters, in the mean over the rows. */
static void mean_eigenvalues(const clo_solver_input *job, const clo_partition *fitted, size_t count,
                             double *values, double *total)
{
    const size_t d = job->cols, width = fitted->width;
    memset(values, 0, count * sizeof *values);
    *total = 0;
    for (size_t i = 0; i < job->count; i++) {
        const double *const row = job->rows + i * d;
        const size_t cluster = fitted->labels[i];
        const double *const basis = fitted->bases + cluster * d * width;
        double scores[CLO_MOST_DIMS] = { 0 }, square = 0;
        for (size_t c = 0; c < d; c++) {
            const double x = row[c] - (fitted->offsets ? fitted->offsets[cluster * d + c] : 0);
            square += x * x;
            for (size_t j = 0; j < count; j++) scores[j] += x * basis[c * width + j];
        }
        *total += square / (double)job->count;
        for (size_t j = 0; j < count; j++) values[j] += scores[j] * scores[j] / (double)job->count;
    }
}

clo_status clo_i_dim_of_labels(const clo_solver_input *job, const clo_kplanes_options *options,
                               const uint32_t *labels, clo_common_dim *out, clo_error *err)
{
    const size_t count = smaller(job->cols, CLO_MOST_DIMS);
    const clo_flat_shape at = { .clusters = options->shape.clusters,
                                .dim = count,
                                .affine = options->shape.affine };
    const size_t rows = job->count / at.clusters;
    double values[CLO_MOST_DIMS], total = 0;
    clo_partition fitted = { 0 };
    CLO_TRY(clo_i_fit_flats(job, labels, &at, &fitted, err));
    mean_eigenvalues(job, &fitted, count, values, &total);
    double left = total;
    clo_i_partition_free(&fitted);
    const clo_eigenvalues of = { .values = values,
                                 .count = smaller(count, rows),
                                 .total = total,
                                 .rows = rows ? rows : 1,
                                 .cols = job->cols };
    for (size_t j = 0; j < count; j++) left -= values[j];
    *out =
        (clo_common_dim){ .choice = clo_i_choose_dim(&of), .left = total > 0 ? left / total : 0 };
    return CLO_OK;
}

bool clo_i_plainer(const clo_common_dim *a, const clo_common_dim *b)
{
    if (b->choice.dim == 0) return true;
    if (a->choice.plain != b->choice.plain) return a->choice.plain;
    return a->choice.plain ? a->choice.gap > b->choice.gap : a->left < b->left;
}

clo_status clo_i_common_dim_of(const clo_solver_input *job, const clo_kplanes_options *options,
                               clo_common_dim *out, clo_dim_costs *costs, clo_error *err)
{
    clo_common_dim best = { .left = 0 };
    double *rows = NULL;
    clo_solver_input sample;
    CLO_TRY(take_sample(job, options->shape.clusters, &sample, &rows, err));
    clo_status status = take_leading(options->shape.affine, &sample, &rows, err);
    const size_t last = smaller(sample.cols, CLO_MOST_DIMS);
    for (size_t q = 1; q <= last && !status; q++) {
        const clo_solver_input part =
            clo_i_job_part(&sample, (double)(q - 1) / (double)last, (double)q / (double)last);
        clo_kplanes_options attempt = *options;
        clo_partition found = { 0 };
        clo_common_dim here = { .left = 0 };
        attempt.shape.dims = NULL;
        attempt.shape.dim = q;
        attempt.start_labels = NULL;
        attempt.restarts = TRY_RESTARTS;
        status = clo_i_search_flats(&part, &attempt, &found, err);
        if (!status) status = clo_i_dim_of_labels(&part, options, found.labels, &here, err);
        costs->costs[q] = found.cost;
        costs->last = q;
        /* what is best at another dimension speaks for none */
        if (here.choice.plain && here.choice.dim != q) here.choice.plain = false;
        if (!status && clo_i_plainer(&here, &best)) best = here;
        clo_i_partition_free(&found);
    }
    clo_i_free(rows);
    if (!status) *out = best;
    return status;
}

/* Two motions may have two large directions in common and differ in a small third one: flats of two
 * dimensions have the largest gap, but those of three leave next to nothing. */
void clo_i_widen_dim(const clo_dim_costs *costs, clo_common_dim *common)
{
    enum { PART = 20 };
    const double *const at = costs->costs;
    size_t q = common->choice.dim;
    if (!common->choice.plain || q == 0) return;
    while (q < costs->last && at[q] > 1e-9 * at[1] && PART * at[q + 1] < at[q]) q++;
    common->choice.dim = q;
}

/* ---- each its own -------------------------------------------------------------------------- */

/* dims: one a cluster; those that are given, those that are plain, or the common one. */
static clo_status own_dims(const clo_solver_input *job, const clo_kplanes_options *options,
                           const uint32_t *labels, const clo_common_dim *common, size_t *dims,
                           clo_error *err)
{
    const clo_flat_shape *const shape = &options->shape;
    clo_members members = { 0 };
    clo_flat *flats = NULL;
    double *squared = NULL;
    clo_status status = clo_i_members_new(labels, job->count, shape->clusters, &members, err);
    if (!status) status = clo_i_flats_new(shape->clusters, job->cols, shape->affine, &flats, err);
    if (!status) status = clo_i_alloc(job->count, sizeof *squared, &squared, err);
    if (!status) status = clo_i_fit_members(job, &members, shape, flats, squared, err);
    for (size_t l = 0; l < shape->clusters && !status; l++) {
        const bool own = flats[l].plain && common->choice.plain;
        dims[l] = clo_i_shape_dim(shape, l) || own ? flats[l].dim : common->choice.dim;
    }
    clo_i_members_free(&members);
    clo_i_flats_free(flats, shape->clusters);
    clo_i_free(squared);
    return status;
}

clo_status clo_i_settle_dims(const clo_solver_input *job, const clo_kplanes_options *options,
                             const uint32_t *labels, const clo_common_dim *common,
                             clo_partition *out, clo_error *err)
{
    clo_kplanes_options at = *options;
    clo_solver_input cold = *job;
    size_t *dims = NULL;
    CLO_TRY(clo_i_alloc(options->shape.clusters, sizeof *dims, &dims, err));
    clo_status status = own_dims(job, options, labels, common, dims, err);
    cold.start = NULL;
    at.shape.dims = dims;
    at.start_labels = labels;
    at.restarts = 0;
    if (!status) status = clo_i_search_flats(&cold, &at, out, err);
    clo_i_free(dims);
    return status;
}

clo_status clo_i_search_dims(const clo_solver_input *job, const clo_kplanes_options *options,
                             clo_partition *out, clo_error *err)
{
    const size_t k = options->shape.clusters;
    const clo_solver_input first = clo_i_job_part(job, 0, 0.5),
                           second = clo_i_job_part(job, 0.5, 0.9);
    const clo_solver_input third = clo_i_job_part(job, 0.9, 1);
    clo_kplanes_options at = *options;
    clo_partition found = { 0 };
    clo_common_dim common = { .left = 0 };
    clo_dim_costs costs = { .last = 0 };
    size_t *dims = NULL;
    CLO_TRY(clo_i_alloc(k, sizeof *dims, &dims, err));
    clo_status status = clo_i_common_dim_of(&first, options, &common, &costs, err);
    clo_i_widen_dim(&costs, &common);
    for (size_t l = 0; l < k; l++) {
        const size_t given = clo_i_shape_dim(&options->shape, l);
        dims[l] = given ? given : common.choice.dim;
    }
    at.shape.dims = dims;
    if (!status) status = clo_i_search_flats(&second, &at, &found, err);
    if (!status) status = clo_i_settle_dims(&third, options, found.labels, &common, out, err);
    clo_i_partition_free(&found);
    clo_i_free(dims);
    return status;
}
