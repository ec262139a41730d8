/*
 * compare_rows.c - the table, block by block, against flats: the one pass that assign, evaluate and
 * solve share.
 */
#include "not_private/scale.h"
#include <cloister/assign.h>
#include <math.h>

enum { BLOCK_ROWS = 4096, BLOCK_DOUBLES = 1 << 22 };

clo_status clo_i_pass_new(const clo_table *table, clo_i_scale *scale, const clo_target *target,
                          clo_i_pass *out, clo_error *err)
{
    clo_i_pass pass = { .table = table, .scale = scale };
    pass.sparse = clo_i_is_sparse_work(&target->flats, table) && !scale->places;
    const size_t cols = pass.sparse ? 0 : scale->cols * (scale->half ? 2 : 1);
    const size_t fit = BLOCK_DOUBLES / (cols + 1);
    pass.most = fit < 1 ? 1 : fit < BLOCK_ROWS ? fit : BLOCK_ROWS;
    pass.room_size = pass.most * (cols + 1);
    CLO_TRY(clo_i_alloc(pass.room_size, sizeof *pass.room, &pass.room, err));
    pass.own = pass.room;
    pass.raw = pass.room + pass.most;
    pass.rows = scale->half ? pass.raw + pass.most * scale->cols : pass.raw;
    *out = pass;
    return CLO_OK;
}

void clo_i_pass_clear(clo_i_pass *pass)
{
    clo_i_wipe_free(pass->room, pass->room ? pass->room_size * sizeof *pass->room : 0);
    pass->room = NULL;
}

bool clo_i_pass_next(clo_i_pass *pass)
{
    const size_t d = pass->scale->cols, all = clo_table_rows(pass->table);
    const double *const half = pass->scale->half;
    if (pass->count) clo_i_table_forget(pass->table, pass->first, pass->count);
    pass->first += pass->count;
    pass->count = all - pass->first < pass->most ? all - pass->first : pass->most;
    if (pass->count == 0) return false;
    if (pass->sparse) return true;
    clo_i_scale_load(pass->scale, pass->table, pass->first, pass->count, pass->raw);
    for (size_t i = 0; half && i < pass->count * d; i++) pass->rows[i] = pass->raw[i] / half[i % d];
    return true;
}

clo_status clo_i_pass_nearest(const clo_i_pass *pass, const clo_target *target, double *squared,
                              uint32_t *nearest, clo_error *err)
{
    if (pass->sparse)
        CLO_TRY(clo_i_sparse_distances(&target->flats, pass->table, pass->scale->half, pass->first,
                                       pass->count, squared, nearest, err));
    else
        CLO_TRY(
            clo_i_flat_distances(&target->flats, pass->rows, pass->count, squared, nearest, err));
    for (size_t i = 0; i < pass->count; i++)
        if (isnan(squared[i])) nearest[i] = CLO_NO_CLUSTER;
    return CLO_OK;
}

static clo_flats one_flat(const clo_flats *flats, size_t c)
{
    clo_flats one = *flats;
    one.count = 1;
    if (flats->offsets) one.offsets = flats->offsets + c * flats->cols;
    if (flats->dim) one.bases = flats->bases + c * flats->cols * flats->dim;
    return one;
}

clo_status clo_i_pass_raw(const clo_i_pass *pass, const clo_target *target, const uint32_t *flat,
                          double *squared, clo_error *err)
{
    for (size_t i = 0; i < pass->count; i++) squared[i] = NAN;
    for (size_t c = 0; c < target->raw.count; c++) {
        const clo_flats one = one_flat(&target->raw, c);
        if (pass->sparse)
            CLO_TRY(clo_i_sparse_distances(&one, pass->table, NULL, pass->first, pass->count,
                                           pass->own, NULL, err));
        else
            CLO_TRY(clo_i_flat_distances(&one, pass->raw, pass->count, pass->own, NULL, err));
        for (size_t i = 0; i < pass->count; i++)
            if (flat[i] == c) squared[i] = pass->own[i];
    }
    return CLO_OK;
}
