/*
 * row_space.c - the skinny singular value decomposition X = U S V' of the points, V and S of it.
 *
 * The rank is what is left above rounding: max(n, d) ulps of the largest singular value, the usual
 * measure of how far a computed zero is from zero.
 *
 * The smallest singular value is kept whatever the rank.  Noise of variance v in every coordinate
 * gives n points a singular value of about sqrt(n v) in the directions where there is nothing else;
 * the smallest is that, unless it is so large that the points must fill all directions.
 */
#include "solver/affinity/lowrank.h"
#include "linalg/linalg.h"
#include <float.h>
#include <math.h>
#include <string.h>

static double length_of(const double *row, size_t cols)
{
    double square = 0;
    for (size_t c = 0; c < cols; c++) square += row[c] * row[c];
    return sqrt(square);
}

/* The constant of the affine column is the usual length of a row, so that it neither drowns the
 * others nor drowns in them. */
static double usual_length(const clo_solver_input *job, clo_row_view view)
{
    double sum = 0;
    if (view.unit) return 1;
    for (size_t i = 0; i < job->count; i++) sum += length_of(job->rows + i * job->cols, job->cols);
    return sum > 0 ? sum / (double)job->count : 1;
}

static void copy_rows(const clo_solver_input *job, clo_row_view view, size_t cols, double *out)
{
    const double constant = view.affine ? usual_length(job, view) : 0;
    for (size_t i = 0; i < job->count; i++) {
        const double *const row = job->rows + i * job->cols;
        double *const copy = out + i * cols;
        const double length = view.unit ? length_of(row, job->cols) : 1;
        for (size_t c = 0; c < job->cols; c++) copy[c] = length > 0 ? row[c] / length : row[c];
        if (view.affine) copy[job->cols] = constant;
    }
}

/* Drops the columns from rank on, in place. */
static void narrow(double *vectors, size_t count, size_t width, size_t rank)
{
    for (size_t i = 1; i < count && rank < width; i++)
        memmove(vectors + i * rank, vectors + i * width, rank * sizeof *vectors);
}

static size_t rank_of(const double *values, size_t width, size_t longer, size_t most)
{
    const double rounding = (double)longer * DBL_EPSILON * values[0];
    size_t rank = 0;
    while (rank < width && values[rank] > rounding && (most == 0 || rank < most)) rank++;
    return rank;
}

clo_status clo_i_row_space_new(const clo_solver_input *job, clo_row_view view, size_t most,
                               clo_row_space *out, clo_error *err)
{
    const size_t cols = job->cols + view.affine;
    const size_t width = job->count < cols ? job->count : cols;
    const size_t longer = job->count < cols ? cols : job->count;
    clo_row_space made = { .count = job->count };
    double *copy = NULL;
    size_t cells, vectors;
    if (!clo_i_multiply(job->count, cols, &cells) || !clo_i_multiply(job->count, width, &vectors))
        return clo_i_fail(err, CLO_MEMORY,
                          "there is not enough memory for so many rows and "
                          "columns");
    clo_status status = clo_i_alloc(cells, sizeof *copy, &copy, err);
    if (!status) status = clo_i_alloc(vectors, sizeof *made.vectors, &made.vectors, err);
    if (!status) status = clo_i_alloc(width, sizeof *made.values, &made.values, err);
    if (status) goto done;
    copy_rows(job, view, cols, copy);
    status = clo_i_thin_svd(copy, job->count, cols, made.values, made.vectors, err);
    if (status) goto done;
    made.rank = rank_of(made.values, width, longer, most);
    made.noise = made.values[width - 1] <= made.values[0] / 2 ? made.values[width - 1] : 0;
    narrow(made.vectors, job->count, width, made.rank);
done:
    clo_i_free(copy);
    if (status)
        clo_i_row_space_free(&made);
    else
        *out = made;
    return status;
}

void clo_i_row_space_free(clo_row_space *space)
{
    clo_i_free(space->vectors);
    clo_i_free(space->values);
    memset(space, 0, sizeof *space);
}
