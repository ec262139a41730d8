/*
 * assign_rows.c - which released cluster each of the operator's own rows is in: a plain function of
 * the data, without noise, and so never for the world.
 *
 * Distances are measured where the mechanism measured them: with public column bounds, each column
 * in units of the half width of its own.  In the data's units a column of large numbers would
 * decide alone.
 */
#include <cloister/assign.h>
#include "data/data.h"
#include "linalg/linalg.h"
#include "operate/evaluate.h"
#include "release/release.h"
#include <math.h>

enum { BLOCK_ROWS = 4096, BLOCK_DOUBLES = 1 << 22 };

/* What rows are compared with; scale: what each of their columns is divided by before, or NULL. */
typedef struct yardstick {
    clo_target target;
    double *scale;
} yardstick;

static clo_status take_scale(const clo_release *release, yardstick *y, clo_error *err)
{
    const clo_facts *const facts = &release->facts;
    if (!facts->lower || !facts->upper) return CLO_OK;
    if (facts->cols != y->target.flats.cols)
        return clo_i_fail(err, CLO_FORMAT, "the release has bounds of %zu columns, not of %zu",
                          facts->cols, y->target.flats.cols);
    CLO_TRY(clo_i_alloc(facts->cols, sizeof *y->scale, &y->scale, err));
    for (size_t j = 0; j < facts->cols; j++) {
        y->scale[j] = facts->upper[j] / 2 - facts->lower[j] / 2;
        if (!(y->scale[j] > 0 && isfinite(y->scale[j])))
            return clo_i_fail(err, CLO_FORMAT, "the bounds of column %zu of the release are none",
                              j + 1);
    }
    return CLO_OK;
}

/* Brings points and bases into those units; bases are orthonormal there. */
static clo_status bring_to_scale(yardstick *y, clo_error *err)
{
    const clo_flats *const flats = &y->target.flats;
    const size_t k = flats->count, d = flats->cols, q = flats->dim;
    double *const bases = y->target.bases, *const offsets = y->target.offsets;
    if (!y->scale) return CLO_OK;
    for (size_t i = 0; offsets && i < k * d; i++) offsets[i] /= y->scale[i % d];
    for (size_t i = 0; bases && i < k * d * q; i++) bases[i] /= y->scale[i / q % d];
    for (size_t c = 0; bases && c < k; c++)
        CLO_TRY(clo_i_orthonormalize(bases + c * d * q, d, q, err));
    return CLO_OK;
}

/* Distances of `count` rows of the table; block: room for them, NULL where they are sparse and are
 * not written out. */
static clo_status assign_block(const yardstick *y, const clo_table *table, size_t first,
                               size_t count, double *block, double *squared, uint32_t *nearest,
                               clo_error *err)
{
    const size_t d = y->target.flats.cols;
    if (block) {
        clo_i_table_rows(table, first, count, block);
        for (size_t i = 0; y->scale && i < count * d; i++) block[i] /= y->scale[i % d];
        CLO_TRY(clo_i_flat_distances(&y->target.flats, block, count, squared, nearest, err));
    } else {
        CLO_TRY(clo_i_sparse_distances(&y->target.flats, table, y->scale, first, count, squared,
                                       nearest, err));
    }
    for (size_t i = 0; i < count; i++)
        if (isnan(squared[i])) nearest[i] = CLO_NO_CLUSTER;
    return CLO_OK;
}

static clo_status pass(const yardstick *y, const clo_table *table, uint32_t *clusters,
                       double *distances, clo_error *err)
{
    const bool sparse = clo_i_is_sparse_work(&y->target.flats, table);
    const size_t cols = sparse ? 0 : clo_table_cols(table), rows = clo_table_rows(table);
    const size_t fit = BLOCK_DOUBLES / (cols + 1);
    const size_t most = fit < 1 ? 1 : fit < BLOCK_ROWS ? fit : BLOCK_ROWS;
    double *block = NULL;
    uint32_t *nearest = NULL;
    clo_status status = clo_i_alloc(most * (cols + 1), sizeof *block, &block, err);
    if (!status) status = clo_i_alloc(most, sizeof *nearest, &nearest, err);
    for (size_t first = 0; first < rows && !status; first += most) {
        const size_t count = rows - first < most ? rows - first : most;
        double *const squared = block + most * cols;
        status = assign_block(y, table, first, count, sparse ? NULL : block, squared, nearest, err);
        clo_i_table_forget(table, first, count);
        for (size_t i = 0; i < count && !status; i++) {
            if (clusters) clusters[first + i] = nearest[i];
            if (distances) distances[first + i] = sqrt(squared[i]);
        }
    }
    clo_i_wipe_free(block, block ? most * (cols + 1) * sizeof *block : 0);
    clo_i_wipe_free(nearest, nearest ? most * sizeof *nearest : 0);
    return status;
}

clo_status clo_assign_rows(const clo_release *release, const clo_table *table, uint32_t *clusters,
                           double *distances, clo_error *err)
{
    yardstick y = { .scale = NULL };
    if (!release || !table)
        return clo_i_fail(err, CLO_ARGUMENT, "a release and a table must be given");
    clo_status status = clo_i_target_of_release(release, &y.target, err);
    if (!status && clo_table_cols(table) != y.target.flats.cols)
        status = clo_i_fail(err, CLO_ARGUMENT,
                            "the release is about %zu columns, and the table has %zu: choose the "
                            "columns it was made from",
                            y.target.flats.cols, clo_table_cols(table));
    if (!status) status = take_scale(release, &y, err);
    if (!status) status = bring_to_scale(&y, err);
    if (!status) status = pass(&y, table, clusters, distances, err);
    clo_i_target_free(&y.target);
    clo_i_free(y.scale);
    return status;
}
