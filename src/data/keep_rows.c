/*
 * keep_rows.c - some rows of a table, and the others gone: the part of a file that one of several
 * ranks answers for.
 *
 * Blocks outside of the part are freed, those at its ends are cut.  Of a mapped file nothing is
 * touched: rows that nobody reads are never in memory.
 */
#include "data/several_files.h"
#include <string.h>

/* Entries of other rows go, so that the first one kept is entry 0. */
static void cut_sparse(clo_i_block *block, size_t skip, size_t rows)
{
    const uint32_t from = block->starts[skip], to = block->starts[skip + rows];
    memmove(block->values, block->values + from, (to - from) * sizeof *block->values);
    memmove(block->columns, block->columns + from, (to - from) * sizeof *block->columns);
    clo_i_wipe(block->values + (to - from),
               (block->value_count - (to - from)) * sizeof *block->values);
    for (size_t i = 0; i <= rows; i++) block->starts[i] = block->starts[skip + i] - from;
}

static void cut_dense(const clo_table *table, clo_i_block *block, size_t skip)
{
    if (!block->batch) {
        block->cells += skip * table->row_step;
        return;
    }
    for (size_t j = 0; j < table->cols; j++) block->batch_columns[j].offset += skip;
    block->batch_offset += skip;
}

static void cut_block(const clo_table *table, clo_i_block *block, size_t skip, size_t rows)
{
    if (table->sparse)
        cut_sparse(block, skip, rows);
    else
        cut_dense(table, block, skip);
    if (block->units)
        memmove(block->units, block->units + skip * CLO_UNIT_BYTES, rows * CLO_UNIT_BYTES);
    block->rows = rows;
}

/* Which rows of a block are in first ... end: how many to skip, and how many stay. */
static size_t overlap(const clo_i_block *block, size_t first, size_t end, size_t *skip)
{
    const size_t from = block->first_row > first ? block->first_row : first;
    const size_t stop = block->first_row + block->rows;
    const size_t to = stop < end ? stop : end;
    *skip = from - block->first_row;
    return to > from ? to - from : 0;
}

clo_status clo_table_keep(clo_table *table, size_t first, size_t count, clo_error *err)
{
    size_t kept = 0, rows = 0;
    if (first > table->rows || count > table->rows - first)
        return clo_i_fail(err, CLO_ARGUMENT, "the table has no such rows");
    if (table->recipe) return clo_i_scan_keep(table, first, count, err);
    for (size_t b = 0; b < table->block_count; b++)
        if (table->sparse && table->blocks[b].borrowed)
            return clo_i_fail(err, CLO_UNSUPPORTED,
                              "sparse rows of the caller's own memory are not cut: wrap a part");
    for (size_t b = 0; b < table->block_count; b++) {
        clo_i_block block = table->blocks[b];
        size_t skip;
        const size_t here = overlap(&block, first, first + count, &skip);
        if (here == 0) {
            clo_i_block_clear(&block);
            continue;
        }
        if (here < block.rows) cut_block(table, &block, skip, here);
        block.first_row = rows;
        rows += here;
        table->blocks[kept++] = block;
    }
    table->block_count = kept;
    table->rows = rows;
    return CLO_OK;
}
