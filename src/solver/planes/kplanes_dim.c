/*
 * kplanes_dim.c - k-planes where the dimensions are not given.
 *
 * The cost alone would always ask for more dimensions.  So first one dimension for all is chosen,
 * on a sample of the rows.  Of given clusters, what the cost falls by from q - 1 dimensions to q is
 * the mean of their q-th eigenvalues; each q is judged by the clusters that are best at that q, and
 * by how large the gap after their q-th eigenvalue is.  With the clusters of the best q, each takes
 * the dimension before the largest gap between its own eigenvalues, and a last search from there
 * settles who belongs where.
 */
#include "solver/planes/kplanes.h"
#include <math.h>
#include <string.h>

enum { MOST_TRIED = 16, SAMPLE_ROWS = 4000, TRY_RESTARTS = 6 };

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Rows at even steps through the table, enough for every cluster to have some. */
static clo_status take_sample(const clo_job *job, size_t clusters, clo_job *sample, double **rows,
                              clo_error *err)
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

/* What those clusters cost at dimension q; at 0: the squares of the rows, or about the means. */
static clo_status cost_at(const clo_job *job, const clo_flat_shape *shape, const uint32_t *labels,
                          size_t q, double *cost, clo_error *err)
{
    const size_t n = job->count, d = job->cols;
    const clo_flat_shape at = { .clusters = shape->clusters,
                                .dim = q ? q : 1,
                                .affine = shape->affine };
    clo_partition fitted = { 0 };
    CLO_TRY(clo_i_fit_flats(job, labels, &at, &fitted, err));
    double total = 0;
    for (size_t i = 0; i < n * d && q == 0; i++) {
        const double mean = fitted.offsets ? fitted.offsets[labels[i / d] * d + i % d] : 0;
        total += (job->rows[i] - mean) * (job->rows[i] - mean);
    }
    *cost = q ? fitted.cost : total / (double)n;
    clo_i_partition_free(&fitted);
    return CLO_OK;
}

clo_status clo_i_dim_of_labels(const clo_job *job, const clo_kplanes_options *options,
                               const uint32_t *labels, size_t *dim, double *sharpness,
                               clo_error *err)
{
    const size_t last = smaller(job->cols, MOST_TRIED);
    double falls[MOST_TRIED], whole = 0, before = 0, after = 0;
    CLO_TRY(cost_at(job, &options->shape, labels, 0, &whole, err));
    before = whole;
    for (size_t q = 1; q <= last; q++) {
        CLO_TRY(cost_at(job, &options->shape, labels, q, &after, err));
        falls[q - 1] = fmax(before - after, 0);
        before = after;
    }
    *dim = clo_i_eigengap(falls, last, whole / (double)job->cols, sharpness);
    return CLO_OK;
}

/* The gap after the q-th of the mean eigenvalues of what is best at dimension q. */
static clo_status gap_at(const clo_job *job, const clo_kplanes_options *options, size_t q,
                         double *gap, clo_error *err)
{
    const clo_flat_shape *const shape = &options->shape;
    clo_kplanes_options attempt = *options;
    clo_partition found = { 0 };
    double whole = 0, before = 0, after = 0;
    attempt.shape.dims = NULL;
    attempt.shape.dim = q;
    attempt.start_labels = NULL;
    attempt.restarts = TRY_RESTARTS;
    CLO_TRY(clo_i_search_flats(job, &attempt, &found, err));
    clo_status status = cost_at(job, shape, found.labels, 0, &whole, err);
    if (!status) status = cost_at(job, shape, found.labels, q - 1, &before, err);
    if (!status) status = cost_at(job, shape, found.labels, q + 1, &after, err);
    if (!status) {
        const double falls[] = { before - found.cost, found.cost - after };
        (void)clo_i_eigengap(falls, 2, whole / (double)job->cols, gap);
    }
    clo_i_partition_free(&found);
    return status;
}

clo_status clo_i_common_dim(const clo_job *job, const clo_kplanes_options *options, size_t *dim,
                            double *sharpness, clo_error *err)
{
    const size_t last = smaller(job->cols, MOST_TRIED);
    double *rows = NULL, largest = -1;
    size_t best = 1;
    clo_job sample;
    CLO_TRY(take_sample(job, options->shape.clusters, &sample, &rows, err));
    clo_status status = CLO_OK;
    for (size_t q = 1; q < last && !status; q++) {
        const clo_job part =
            clo_i_job_part(&sample, (double)(q - 1) / (double)last, (double)q / (double)last);
        double gap = 0;
        status = gap_at(&part, options, q, &gap, err);
        if (!status && gap > largest) {
            largest = gap;
            best = q;
        }
    }
    clo_i_free(rows);
    if (status) return status;
    *dim = best;
    if (sharpness) *sharpness = largest;
    return CLO_OK;
}

clo_status clo_i_settle_dims(const clo_job *job, const clo_kplanes_options *options,
                             const uint32_t *labels, clo_partition *out, clo_error *err)
{
    clo_partition fitted = { 0 };
    clo_kplanes_options at = *options;
    clo_job cold = *job;
    CLO_TRY(clo_i_fit_flats(job, labels, &options->shape, &fitted, err));
    cold.start = NULL;
    at.shape.dims = fitted.dims;
    at.start_labels = labels;
    at.restarts = 0;
    const clo_status status = clo_i_search_flats(&cold, &at, out, err);
    clo_i_partition_free(&fitted);
    return status;
}

clo_status clo_i_search_dims(const clo_job *job, const clo_kplanes_options *options,
                             clo_partition *out, clo_error *err)
{
    const size_t k = options->shape.clusters;
    const clo_job first = clo_i_job_part(job, 0, 0.5), second = clo_i_job_part(job, 0.5, 0.9);
    const clo_job third = clo_i_job_part(job, 0.9, 1);
    clo_kplanes_options at = *options;
    clo_partition found = { 0 };
    size_t *dims = NULL, common = 1;
    CLO_TRY(clo_i_alloc(k, sizeof *dims, &dims, err));
    clo_status status = clo_i_common_dim(&first, options, &common, NULL, err);
    for (size_t l = 0; l < k; l++) {
        const size_t given = clo_i_shape_dim(&options->shape, l);
        dims[l] = given ? given : common;
    }
    at.shape.dims = dims;
    if (!status) status = clo_i_search_flats(&second, &at, &found, err);
    if (!status) status = clo_i_settle_dims(&third, options, found.labels, out, err);
    clo_i_partition_free(&found);
    clo_i_free(dims);
    return status;
}
