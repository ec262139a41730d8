/*
 * kplanes_dim.c - k-planes where the dimensions are not given.
 *
 * The cost alone would always ask for more dimensions.  So first one dimension for all is chosen,
 * on a sample of the rows: what the cost falls by from q - 1 dimensions to q is the mean of the
 * clusters' q-th eigenvalues, and the largest gap between those is looked for.  With the clusters that are best at that q, each takes the dimension before the largest
 * gap between its own eigenvalues, and a last search from there settles who belongs where.
 */
#include "solver/kplanes.h"
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

/* What the rows cost when nothing explains them: their squared length, about the mean if affine. */
static double cost_of_nothing(const clo_job *job, bool affine)
{
    const double n = (double)job->count;
    double total = 0;
    for (size_t c = 0; c < job->cols; c++) {
        double mean = 0;
        for (size_t i = 0; i < job->count && affine; i++) mean += job->rows[i * job->cols + c] / n;
        for (size_t i = 0; i < job->count; i++) {
            const double x = job->rows[i * job->cols + c] - mean;
            total += x * x / n;
        }
    }
    return total;
}

/* costs[q] for q in 0 … last: the q before the largest gap between the cost's falls. */
static size_t before_gap(const double *costs, size_t last, size_t cols, double *sharpness)
{
    double falls[MOST_TRIED];
    for (size_t q = 1; q <= last; q++) falls[q - 1] = fmax(costs[q - 1] - costs[q], 0);
    return clo_i_eigengap(falls, last, costs[0] / (double)cols, sharpness);
}

clo_status clo_i_dim_of_labels(const clo_job *job, const clo_kplanes_options *options,
                               const uint32_t *labels, size_t *dim, double *sharpness,
                               clo_error *err)
{
    const size_t last = smaller(job->cols, MOST_TRIED);
    double costs[MOST_TRIED + 1] = { cost_of_nothing(job, options->shape.affine) };
    for (size_t q = 1; q <= last; q++) {
        const clo_flat_shape shape = { .clusters = options->shape.clusters,
                                       .dim = q,
                                       .affine = options->shape.affine };
        clo_partition fitted = { 0 };
        CLO_TRY(clo_i_fit_flats(job, labels, &shape, &fitted, err));
        costs[q] = fitted.cost;
        clo_i_partition_free(&fitted);
    }
    *dim = before_gap(costs, last, job->cols, sharpness);
    return CLO_OK;
}

clo_status clo_i_common_dim(const clo_job *job, const clo_kplanes_options *options, size_t *dim,
                            double *sharpness, clo_error *err)
{
    const size_t last = smaller(job->cols, MOST_TRIED);
    double costs[MOST_TRIED + 1], *rows = NULL;
    clo_job sample;
    CLO_TRY(take_sample(job, options->shape.clusters, &sample, &rows, err));
    clo_status status = CLO_OK;
    costs[0] = cost_of_nothing(&sample, options->shape.affine);
    for (size_t q = 1; q <= last && !status; q++) {
        clo_kplanes_options attempt = *options;
        clo_partition found = { 0 };
        const clo_job part =
            clo_i_job_part(&sample, (double)(q - 1) / (double)last, (double)q / (double)last);
        attempt.shape.dims = NULL;
        attempt.shape.dim = q;
        attempt.start_labels = NULL;
        attempt.restarts = TRY_RESTARTS;
        status = clo_i_search_flats(&part, &attempt, &found, err);
        costs[q] = found.cost;
        clo_i_partition_free(&found);
    }
    clo_i_free(rows);
    if (!status) *dim = before_gap(costs, last, job->cols, sharpness);
    return status;
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
