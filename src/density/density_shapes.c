/*
 * density_shapes.c - the shape that first points are drawn in: the covariance of cells' means, and
 * what becomes of the eigenvalues of that or of a Gram matrix, which noise has made too large.
 */
#include "density/density.h"
#include <math.h>
#include <string.h>

static const double ROUND = 0.3, LEAST_OF_LARGEST = 0.02;  /* of cells' means */
static const double LEAST_REST = 0.02, LEAST_VALUE = 0.01; /* of a Gram matrix */

void clo_i_density_covariance(const double *means, const double *shares, size_t count, size_t cols,
                              double *matrix)
{
    double total = 0, mean[CLO_DENSITY_COLUMNS] = { 0 };
    memset(matrix, 0, cols * cols * sizeof *matrix);
    for (size_t c = 0; c < count; c++) {
        total += shares[c];
        for (size_t j = 0; j < cols; j++) mean[j] += shares[c] * means[c * cols + j];
    }
    for (size_t j = 0; j < cols; j++) mean[j] /= total;
    for (size_t c = 0; c < count; c++)
        for (size_t e = 0; e < cols * cols; e++) {
            const double *const at = means + c * cols;
            matrix[e] += shares[c] / total * (at[e / cols] - mean[e / cols]) *
                         (at[e % cols] - mean[e % cols]);
        }
}

void clo_i_density_shape_of_cells(void *user, double *values, size_t cols)
{
    const double noise = *(const double *)user;
    const double least = LEAST_OF_LARGEST * fmax(values[0] - noise, 1e-300);
    double trace = 0;
    for (size_t j = 0; j < cols; j++) trace += values[j] = fmax(values[j] - noise, least);
    for (size_t j = 0; j < cols; j++)
        values[j] = (1 - ROUND) * values[j] / trace + ROUND / (double)cols;
}

void clo_i_density_shape_of_gram(void *user, double *values, size_t cols)
{
    const clo_density_edge *const e = user;
    double trace = 0, kept = 0;
    size_t count = 0;
    for (size_t j = 0; j < cols; j++) {
        const double value = values[j];
        trace += value;
        values[j] =
            value > e->noise ? (value + sqrt(fmax(value * value - e->noise * e->noise, 0))) / 2 : 0;
        kept += values[j];
        count += values[j] > 0;
    }
    trace = fmax(trace, e->trace);
    const double rest = fmax(trace - kept, LEAST_REST * trace) / fmax((double)(cols - count), 1);
    for (size_t j = count; j < cols; j++) values[j] = rest;
    const double least = LEAST_VALUE * fmax(values[0], rest);
    for (size_t j = 0; j < cols; j++) values[j] = fmax(values[j], least);
}
