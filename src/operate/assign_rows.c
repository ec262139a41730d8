/*
 * assign_rows.c - which released cluster each of the operator's own rows is in: a plain function of
 * the data, without noise, and so never for the world.
 */
#include <cloister/assign.h>
#include "data/data.h"
#include "operate/released.h"
#include <math.h>

enum { BLOCK_ROWS = 4096, BLOCK_DOUBLES = 1 << 22 };

/* Distances of the block's rows, which are brought to scale in place. */
static clo_status assign_block(const clo_i_released *released, double *rows, size_t count,
                               double *squared, uint32_t *nearest, clo_error *err)
{
    const size_t d = released->flats.cols;
    for (size_t i = 0; released->scale && i < count * d; i++) rows[i] /= released->scale[i % d];
    CLO_TRY(clo_i_flat_distances(&released->flats, rows, count, squared, nearest, err));
    for (size_t i = 0; i < count; i++)
        if (isnan(squared[i])) nearest[i] = CLO_NO_CLUSTER;
    return CLO_OK;
}

static clo_status pass(const clo_i_released *released, const clo_table *table, uint32_t *clusters,
                       double *distances, clo_error *err)
{
    const size_t cols = clo_table_cols(table), rows = clo_table_rows(table);
    const size_t fit = BLOCK_DOUBLES / cols;
    const size_t most = fit < 1 ? 1 : fit < BLOCK_ROWS ? fit : BLOCK_ROWS;
    double *block = NULL;
    uint32_t *nearest = NULL;
    clo_status status = clo_i_alloc(most * (cols + 1), sizeof *block, &block, err);
    if (!status) status = clo_i_alloc(most, sizeof *nearest, &nearest, err);
    for (size_t first = 0; first < rows && !status; first += most) {
        const size_t count = rows - first < most ? rows - first : most;
        double *const squared = block + most * cols;
        clo_i_table_rows(table, first, count, block);
        status = assign_block(released, block, count, squared, nearest, err);
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
    clo_i_released released;
    if (!release || !table)
        return clo_i_fail(err, CLO_ARGUMENT, "a release and a table must be given");
    CLO_TRY(clo_i_released_flats(release, &released, err));
    clo_status status = CLO_OK;
    if (clo_table_cols(table) != released.flats.cols)
        status = clo_i_fail(err, CLO_ARGUMENT,
                            "the release is about %zu columns, and the table has %zu: choose the "
                            "columns it was made from",
                            released.flats.cols, clo_table_cols(table));
    if (!status) status = pass(&released, table, clusters, distances, err);
    clo_i_released_free(&released);
    return status;
}
