/*
 * flats.c - distances of many rows to the nearest of a few flats.
 *
 * Which flat is nearest comes out of one matrix product a tile of rows: with p a flat's point and
 * U its directions, |y-p|^2 - |U'(y-p)|^2 needs only y's products with p and with U's columns.
 * That difference of squares cancels, so the distance itself is then measured along the residual
 * vector of the flat that was chosen, and everything is first moved to the points' mean, so that
 * data far from the origin (years, prices) choose as well as centred ones.
 *
 * A tile belongs to one thread and calls BLAS on that thread alone: the result does not depend on
 * how many there are.
 */
#include "measure/measure.h"
#include "linalg/linalg.h"
#include "parallel/parallel.h"
#include <math.h>
#include <omp.h>
#include <string.h>

/* What of the flats a tile needs, made once a call. */
typedef struct prepared {
    const clo_flats *flats;
    size_t width; /* products a row: (1 + dim) for each flat, its point's first */
    size_t tile_rows;
    size_t tile_size; /* doubles of scratch for each thread */
    double *shift;    /* cols: the mean of the points */
    double *factors;  /* width x cols: each flat's point, shifted, then its directions */
    double *own;      /* width: the same products of the flat's own point */
} prepared;

/* 256 rows make BLAS efficient; a tile of very long rows is made shorter to stay in some MiB. */
enum { TILE_ROWS = 256, TILE_DOUBLES = 1 << 20 };

static size_t tile_rows_for(size_t row_doubles)
{
    const size_t rows = TILE_DOUBLES / row_doubles;
    return rows < 8 ? 8 : rows > TILE_ROWS ? TILE_ROWS : rows;
}

static double dot(const double *a, const double *b, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += a[i] * b[i];
    return sum;
}

static void fill(prepared *p)
{
    const clo_flats *flats = p->flats;
    const size_t d = flats->cols, q = flats->dim;
    for (size_t j = 0; j < flats->count && flats->offsets; j++)
        for (size_t c = 0; c < d; c++)
            p->shift[c] += flats->offsets[j * d + c] / (double)flats->count;
    for (size_t j = 0; j < flats->count; j++) {
        double *point = p->factors + j * (1 + q) * d, *own = p->own + j * (1 + q);
        for (size_t c = 0; c < d && flats->offsets; c++)
            point[c] = flats->offsets[j * d + c] - p->shift[c];
        for (size_t l = 0; l < q; l++)
            for (size_t c = 0; c < d; c++)
                point[(1 + l) * d + c] = flats->bases[(j * d + c) * q + l];
        for (size_t l = 0; l <= q; l++) own[l] = dot(point, point + l * d, d);
    }
}

/* Everything in one block, which starts at p->shift. */
static clo_status prepare(const clo_flats *flats, prepared *p, size_t *size, clo_error *err)
{
    const size_t d = flats->cols;
    size_t factors = 0, all = 0;
    memset(p, 0, sizeof *p);
    p->flats = flats;
    if (!clo_i_multiply(flats->count, 1 + flats->dim, &p->width) ||
        !clo_i_multiply(p->width, d, &factors) || !clo_i_add(factors, p->width + d, &all))
        return clo_i_fail(err, CLO_MEMORY, "a size is too large for this machine");
    p->tile_rows = tile_rows_for(d + p->width);
    p->tile_size = p->tile_rows * (d + p->width) + d;
    CLO_TRY(clo_i_alloc(all, sizeof(double), &p->shift, err));
    p->factors = p->shift + d;
    p->own = p->factors + factors;
    fill(p);
    *size = all * sizeof(double);
    return CLO_OK;
}

/* The flat with the least squared distance, less |y|^2, which is the same for all. */
static size_t choose_flat(const prepared *p, const double *products)
{
    size_t best = 0;
    double least = INFINITY;
    for (size_t j = 0; j < p->flats->count; j++) {
        const size_t at = j * (1 + p->flats->dim);
        double score = p->own[at] - 2 * products[at];
        for (size_t l = 1; l <= p->flats->dim; l++) {
            const double along = products[at + l] - p->own[at + l];
            score -= along * along;
        }
        if (score < least) {
            least = score;
            best = j;
        }
    }
    return best;
}

/* |y - p - UU'(y - p)|^2.  An error e in the products adds e^2 here: e lies along the flat,
 * at a right angle to the residual. */
static double residual_square(const prepared *p, size_t flat, const double *y,
                              const double *products, double *residual)
{
    const size_t d = p->flats->cols, at = flat * (1 + p->flats->dim);
    const double *factor = p->factors + at * d;
    for (size_t c = 0; c < d; c++) residual[c] = y[c] - factor[c];
    for (size_t l = 1; l <= p->flats->dim; l++) {
        const double along = products[at + l] - p->own[at + l];
        for (size_t c = 0; c < d; c++) residual[c] -= along * factor[l * d + c];
    }
    return dot(residual, residual, d);
}

static bool has_nan(const double *row, size_t cols)
{
    for (size_t c = 0; c < cols; c++)
        if (isnan(row[c])) return true;
    return false;
}

static void measure_tile(const prepared *p, const double *rows, size_t count, double *squared,
                         uint32_t *nearest, double *scratch)
{
    const size_t d = p->flats->cols;
    double *y = scratch, *products = y + p->tile_rows * d;
    double *residual = products + p->tile_rows * p->width;
    for (size_t i = 0; i < count; i++)
        for (size_t c = 0; c < d; c++) y[i * d + c] = rows[i * d + c] - p->shift[c];
    clo_i_multiply_transposed(y, count, p->factors, p->width, d, products);
    for (size_t i = 0; i < count; i++) {
        const double *row_products = products + i * p->width;
        const size_t flat = choose_flat(p, row_products);
        squared[i] = residual_square(p, flat, y + i * d, row_products, residual);
        if (isnan(squared[i]) && !has_nan(rows + i * d, d)) squared[i] = INFINITY; /* overflow */
        if (nearest) nearest[i] = (uint32_t)flat;
    }
}

clo_status clo_i_flat_distances(const clo_flats *flats, const double *rows, size_t count,
                                double *squared, uint32_t *nearest, clo_error *err)
{
    prepared p;
    double *scratch = NULL;
    size_t size = 0, all = 0;
    if (flats->count < 1 || flats->count > UINT32_MAX || flats->cols < 1)
        return clo_i_fail(err, CLO_INTERNAL, "distances: there is nothing to be near to");
    CLO_TRY(prepare(flats, &p, &size, err));
    const size_t tiles = count / p.tile_rows + (count % p.tile_rows > 0);
    const size_t most = (size_t)clo_i_threads(0);
    const int threads = (int)(tiles < 1 ? 1 : tiles < most ? tiles : most);
    clo_status status = clo_i_multiply(p.tile_size, (size_t)threads, &all)
                            ? clo_i_alloc(all, sizeof *scratch, &scratch, err)
                            : clo_i_fail(err, CLO_MEMORY, "a size is too large for this machine");
    if (status != CLO_OK) goto done;

#pragma omp parallel num_threads(threads)
    {
        const int before = clo_i_blas_serial_begin();
        double *own = scratch + (size_t)omp_get_thread_num() * p.tile_size;
#pragma omp for schedule(static)
        for (size_t t = 0; t < tiles; t++) {
            const size_t first = t * p.tile_rows;
            const size_t rest = count - first;
            measure_tile(&p, rows + first * flats->cols, rest < p.tile_rows ? rest : p.tile_rows,
                         squared + first, nearest ? nearest + first : NULL, own);
        }
        clo_i_blas_serial_end(before);
    }
    clo_i_wipe_free(scratch, all * sizeof *scratch);
done:
    clo_i_wipe_free(p.shift, size);
    return status;
}

clo_status clo_i_flat_cost(const clo_flats *flats, const double *rows, size_t count, double *mean,
                           clo_error *err)
{
    double *squared = NULL, sum = 0;
    size_t counted = 0;
    CLO_TRY(clo_i_alloc(count, sizeof *squared, &squared, err));
    const clo_status status = clo_i_flat_distances(flats, rows, count, squared, NULL, err);
    for (size_t i = 0; i < count && status == CLO_OK; i++)
        if (!isnan(squared[i])) {
            sum += squared[i];
            counted++;
        }
    if (status == CLO_OK) *mean = counted ? sum / (double)counted : NAN;
    clo_i_wipe_free(squared, count * sizeof *squared);
    return status;
}
