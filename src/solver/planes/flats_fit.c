/*
 * flats_fit.c - the best flats for given labels: what ends every solver that only says which rows
 * belong together.
 *
 * Clusters are fitted by several threads, each cluster by one of them, and the distances are taken
 * from the residuals themselves, not from a difference of squares: what noiseless data cost is then
 * zero to rounding.
 */
#include "solver/planes/flats.h"
#include "linalg/linalg.h"
#include <cblas.h>
#include <string.h>

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t clo_i_shape_dim(const clo_flat_shape *shape, size_t cluster)
{
    return shape->dims ? shape->dims[cluster] : shape->dim;
}

clo_status clo_i_check_shape(const clo_solver_input *job, const clo_flat_shape *shape,
                             clo_error *err)
{
    if (job->count < 1 || job->cols < 1)
        return clo_i_fail(err, CLO_ARGUMENT, "there is nothing to cluster: the table is empty");
    CLO_TRY(clo_i_check_clusters(shape->clusters, CLO_SOLVER_CLUSTERS, err));
    if (shape->clusters > job->count)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "clusters must be at most the number of rows, %zu, not %zu", job->count,
                          shape->clusters);
    for (size_t l = 0; l < shape->clusters; l++)
        if (clo_i_shape_dim(shape, l) > job->cols)
            return clo_i_fail(err, CLO_ARGUMENT,
                              "dim must be at most the number of columns, %zu, not %zu", job->cols,
                              clo_i_shape_dim(shape, l));
    return CLO_OK;
}

/* ---- distances ------------------------------------------------------------------------------ */

/* block: height x cols, the rows less the offset, becomes the residuals; scores: height x dim. */
static void take_residuals(const clo_flat *flat, size_t height, size_t cols, double *block,
                           double *scores)
{
    const int m = (int)height, d = (int)cols, q = (int)flat->dim;
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, m, q, d, 1.0, block, d, flat->directions,
                d, 0.0, scores, q);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, d, q, -1.0, scores, q,
                flat->directions, d, 1.0, block, d);
}

static clo_status cluster_distances(const clo_solver_input *job, const uint32_t *rows, size_t count,
                                    const clo_flat *flat, double *squared, clo_error *err)
{
    const size_t d = job->cols, height = smaller(count, CLO_FLAT_BLOCK);
    double *block = NULL;
    if (count == 0) return CLO_OK;
    CLO_TRY(clo_i_alloc(height * (d + flat->dim), sizeof *block, &block, err));
    const int threads = clo_i_blas_serial_begin();
    for (size_t first = 0; first < count; first += height) {
        const size_t here = smaller(height, count - first);
        clo_i_gather(job, rows, first, here, flat->offset, block);
        take_residuals(flat, here, d, block, block + height * d);
        for (size_t i = 0; i < here; i++) {
            const double *const residual = block + i * d;
            squared[rows[first + i]] = cblas_ddot((int)d, residual, 1, residual, 1);
        }
    }
    clo_i_blas_serial_end(threads);
    clo_i_free(block);
    return CLO_OK;
}

clo_status clo_i_own_distances(const clo_solver_input *job, const clo_members *members,
                               const clo_flat *flats, double *squared, clo_error *err)
{
    clo_status status = CLO_OK;
#pragma omp parallel for num_threads(job->threads) schedule(dynamic)
    for (size_t l = 0; l < members->clusters; l++) {
        clo_error local;
        const size_t first = members->starts[l], last = members->starts[l + 1];
        const clo_status here =
            cluster_distances(job, members->rows + first, last - first, &flats[l], squared, &local);
#pragma omp critical
        if (here && !status) status = clo_i_fail(err, here, "%s", local.message);
    }
    return status;
}

/* ---- all flats ------------------------------------------------------------------------------ */

static clo_status fit_full(const clo_solver_input *job, const clo_members *members,
                           const clo_flat_shape *shape, clo_flat *flats, clo_error *err)
{
    clo_status status = CLO_OK;
#pragma omp parallel for num_threads(job->threads) schedule(dynamic)
    for (size_t l = 0; l < members->clusters; l++) {
        clo_error local;
        const size_t first = members->starts[l], last = members->starts[l + 1];
        if (first == last) continue;
        const clo_status here = clo_i_fit_rows(job, members->rows + first, last - first,
                                               clo_i_shape_dim(shape, l), &flats[l], &local);
#pragma omp critical
        if (here && !status) status = clo_i_fail(err, here, "%s", local.message);
    }
    return status;
}

/* A cluster without rows gets the flat of the rows that are explained least, each such cluster of
 * other rows. */
static clo_status fit_empty(const clo_solver_input *job, const clo_members *members,
                            const clo_flat_shape *shape, const double *squared, clo_flat *flats,
                            clo_error *err)
{
    uint32_t *worst = NULL;
    size_t used = 0, wanted = 0;
    for (size_t l = 0; l < members->clusters; l++)
        if (members->starts[l] == members->starts[l + 1])
            wanted += smaller(clo_i_shape_dim(shape, l) + 1, job->count);
    if (wanted == 0) return CLO_OK;
    wanted = smaller(wanted, job->count);
    CLO_TRY(clo_i_alloc(wanted, sizeof *worst, &worst, err));
    clo_i_furthest(squared, job->count, wanted, worst);
    clo_status status = CLO_OK;
    for (size_t l = 0; l < members->clusters && !status; l++) {
        if (members->starts[l] != members->starts[l + 1]) continue;
        const size_t share = smaller(clo_i_shape_dim(shape, l) + 1, wanted);
        if (used + share > wanted) used = 0; /* all rows have served: begin again */
        status =
            clo_i_fit_rows(job, worst + used, share, clo_i_shape_dim(shape, l), &flats[l], err);
        used += share;
    }
    clo_i_free(worst);
    return status;
}

clo_status clo_i_fit_members(const clo_solver_input *job, const clo_members *members,
                             const clo_flat_shape *shape, clo_flat *flats, double *squared,
                             clo_error *err)
{
    CLO_TRY(fit_full(job, members, shape, flats, err));
    CLO_TRY(clo_i_own_distances(job, members, flats, squared, err));
    return fit_empty(job, members, shape, squared, flats, err);
}

/* ---- the partition -------------------------------------------------------------------------- */

static double mean_by_blocks(const double *values, size_t count)
{
    double sum = 0;
    for (size_t first = 0; first < count; first += CLO_FLAT_BLOCK) {
        double part = 0;
        for (size_t i = first; i < smaller(first + CLO_FLAT_BLOCK, count); i++) part += values[i];
        sum += part;
    }
    return sum / (double)count;
}

clo_status clo_i_partition_of(const clo_solver_input *job, const uint32_t *labels,
                              const clo_flat *flats, size_t clusters, const double *squared,
                              clo_partition *out, clo_error *err)
{
    const size_t d = job->cols;
    clo_partition made;
    size_t width = 0;
    for (size_t l = 0; l < clusters; l++) width = flats[l].dim > width ? flats[l].dim : width;
    CLO_TRY(
        clo_i_partition_new(job->count, clusters, d, width, flats[0].offset != NULL, &made, err));
    memcpy(made.labels, labels, job->count * sizeof *labels);
    for (size_t l = 0; l < clusters; l++) {
        double *const basis = made.bases + l * d * width;
        made.dims[l] = flats[l].dim;
        for (size_t j = 0; j < flats[l].dim; j++)
            for (size_t c = 0; c < d; c++) basis[c * width + j] = flats[l].directions[j * d + c];
        if (flats[l].offset)
            memcpy(made.offsets + l * d, flats[l].offset, d * sizeof *made.offsets);
    }
    made.cost = mean_by_blocks(squared, job->count);
    *out = made;
    return CLO_OK;
}

clo_status clo_i_fit_flats(const clo_solver_input *job, const uint32_t *labels,
                           const clo_flat_shape *shape, clo_partition *out, clo_error *err)
{
    clo_members members = { 0 };
    clo_flat *flats = NULL;
    double *squared = NULL;
    CLO_TRY(clo_i_check_shape(job, shape, err));
    for (size_t i = 0; i < job->count; i++)
        if (labels[i] >= shape->clusters)
            return clo_i_fail(err, CLO_ARGUMENT, "a label must be below the clusters, %zu",
                              shape->clusters);
    clo_status status = clo_i_members_new(labels, job->count, shape->clusters, &members, err);
    if (!status) status = clo_i_flats_new(shape->clusters, job->cols, shape->affine, &flats, err);
    if (!status) status = clo_i_alloc(job->count, sizeof *squared, &squared, err);
    if (!status) status = clo_i_fit_members(job, &members, shape, flats, squared, err);
    if (!status)
        status = clo_i_partition_of(job, labels, flats, shape->clusters, squared, out, err);
    clo_i_members_free(&members);
    clo_i_flats_free(flats, shape->clusters);
    clo_i_free(squared);
    return status;
}
