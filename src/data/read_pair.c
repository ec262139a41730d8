/*
 * read_pair.c - two files whose rows are to be compared, each with all that stands in it.
 *
 * A run takes numbers, and to it every text is the same missing cell.  Here two texts differ: what
 * is no number becomes a NaN that carries a mark of its text (51 bits of a keyed hash), so that two
 * rows are the same where their numbers and their texts are.  Such a table is for comparing alone.
 */
#include "data/formats.h"
#include <string.h>

_Static_assert((int)CLO_ROW_KEY_BYTES == (int)CLO_UNIT_KEY_BYTES, "one hash for both");

static clo_status read_both(const char *const paths[2], const clo_read_options *options,
                            clo_table *tables[2], clo_error *err)
{
    uint8_t key[CLO_UNIT_KEY_BYTES];
    CLO_TRY(clo_i_unit_key(NULL, key, err));
    for (int i = 0; i < 2; i++) {
        const clo_i_file_way way = {
            .unit_key = key, .progress_from = 0.5 * i, .progress_share = 0.5, .text_marks = true
        };
        CLO_TRY(clo_i_file_read(paths[i], options, &way, &tables[i], err));
    }
    return clo_i_check_alike(tables[0], tables[1], err);
}

clo_status clo_i_read_pair(const char *const paths[2], const clo_read_options *given,
                           clo_table *out[2], clo_error *err)
{
    clo_read_options options;
    CLO_TRY(clo_i_read_options_take(given, &options, err));
    const clo_status status = read_both(paths, &options, out, err);
    for (int i = 0; i < 2 && status; i++) {
        clo_table_free(out[i]);
        out[i] = NULL;
    }
    return status;
}

/* The cells as they lie in the block where these may hold marks, which a copy would lose. */
static const double *cells_of(const clo_table *table, size_t row, double *room)
{
    for (size_t b = 0; b < table->block_count && !table->picked; b++) {
        const clo_i_block *const block = &table->blocks[b];
        if (row - block->first_row < block->rows && block->values)
            return block->values + (row - block->first_row) * table->cols;
    }
    clo_i_table_rows(table, row, 1, room);
    return room;
}

void clo_i_table_hash_row(const clo_table *table, size_t row, const uint8_t key[CLO_ROW_KEY_BYTES],
                          double *room, uint8_t out[CLO_UNIT_BYTES])
{
    const double *const cells = cells_of(table, row, room);
    for (size_t j = 0; j < table->cols; j++) room[j] = cells[j] == 0 ? 0 : cells[j]; /* no -0 */
    clo_i_unit_hash(key, room, table->cols * sizeof *room, out);
}
