/*
 * kplanes_dim.c - k-planes where the dimensions are not given.
 *
 * The cost alone would always ask for more dimensions.  So first one dimension for all is chosen,
 * on a sample of the rows: the q where the cost's fall from q - 1 to q is the largest multiple of
 * its fall from q to q + 1, which is to say that the next dimension would explain no more than
 * noise.  With the clusters that are best at that q, each takes the dimension before the largest
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

/* costs[q] for q in 0 … last: the q after which the fall breaks off most sharply. */
static size_t sharpest_end(const double *costs, size_t last)
{
    size_t best = 1;
    double sharpest = -1;
    for (size_t q = 1; q < last; q++) {
        const double fall = fmax(costs[q - 1] - costs[q], 0);
        const double next = fmax(costs[q] - costs[q + 1], 0) + 1e-9 * costs[0];
        if (fall / next > sharpest) {
            sharpest = fall / next;
            best = q;
        }
    }
    return best;
}

static clo_status common_dim(const clo_job *job, const clo_kplanes_options *options, size_t *dim,
                             clo_error *err)
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
    if (!status) *dim = sharpest_end(costs, last);
    return status;
}

/* Dimensions as given; where 0, as the eigenvalues of the found clusters say. */
static clo_status own_dims(const clo_job *job, const clo_kplanes_options *options,
                           const clo_partition *found, size_t *dims, clo_error *err)
{
    clo_partition fitted = { 0 };
    CLO_TRY(clo_i_fit_flats(job, found->labels, &options->shape, &fitted, err));
    memcpy(dims, fitted.dims, options->shape.clusters * sizeof *dims);
    clo_i_partition_free(&fitted);
    return CLO_OK;
}

clo_status clo_i_search_dims(const clo_job *job, const clo_kplanes_options *options,
                             clo_partition *out, clo_error *err)
{
    const size_t k = options->shape.clusters;
    const clo_job first = clo_i_job_part(job, 0, 0.5), second = clo_i_job_part(job, 0.5, 0.9);
    clo_job third = clo_i_job_part(job, 0.9, 1);
    clo_kplanes_options at = *options;
    clo_partition found = { 0 };
    size_t *dims = NULL, common = 1;
    CLO_TRY(clo_i_alloc(k, sizeof *dims, &dims, err));
    clo_status status = common_dim(&first, options, &common, err);
    for (size_t l = 0; l < k; l++) {
        const size_t given = clo_i_shape_dim(&options->shape, l);
        dims[l] = given ? given : common;
    }
    at.shape.dims = dims;
    if (!status) status = clo_i_search_flats(&second, &at, &found, err);
    if (!status) status = own_dims(job, options, &found, dims, err);
    third.start = NULL;
    at.start_labels = found.labels;
    at.restarts = 0;
    if (!status) status = clo_i_search_flats(&third, &at, out, err);
    clo_i_partition_free(&found);
    clo_i_free(dims);
    return status;
}
