/*
 * sparse_distances.c - how far sparse rows are from centres, without writing the rows out: the work
 * follows the entries that there are, and not the columns.
 *
 * |x - c|^2 is |c|^2 and, over the entries of x alone, the sum of x (x - 2 c).
 */
#include "data/data.h"
#include "not_private/evaluate.h"
#include <math.h>

bool clo_i_is_sparse_work(const clo_flats *flats, const clo_table *table)
{
    return clo_i_table_is_sparse(table) && flats->dim == 0 && flats->offsets;
}

/* The nearest centre of one row; NaN where an entry is not finite. */
static double nearest_center(const clo_flats *flats, const double *norms, const double *scale,
                             const clo_table *table, size_t row, uint32_t *nearest)
{
    const uint32_t *columns;
    const double *values;
    size_t count;
    double best = INFINITY;
    clo_i_table_sparse_row(table, row, &columns, &values, &count);
    for (size_t c = 0; c < flats->count; c++) {
        const double *const center = flats->offsets + c * flats->cols;
        double square = norms[c];
        for (size_t e = 0; e < count; e++) {
            const double x = values[e] / (scale ? scale[columns[e]] : 1);
            square += x * (x - 2 * center[columns[e]]);
        }
        if (!isfinite(square)) return NAN;
        if (square < best) {
            best = square;
            if (nearest) *nearest = (uint32_t)c;
        }
    }
    return fmax(best, 0);
}

clo_status clo_i_sparse_distances(const clo_flats *flats, const clo_table *table,
                                  const double *scale, size_t first, size_t count, double *squared,
                                  uint32_t *nearest, clo_error *err)
{
    double *norms = NULL;
    CLO_TRY(clo_i_alloc(flats->count, sizeof *norms, &norms, err));
    for (size_t i = 0; i < flats->count * flats->cols; i++)
        norms[i / flats->cols] += flats->offsets[i] * flats->offsets[i];
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < count; i++)
        squared[i] =
            nearest_center(flats, norms, scale, table, first + i, nearest ? nearest + i : NULL);
    clo_i_free(norms);
    return CLO_OK;
}
