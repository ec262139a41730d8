/*
 * missing_cells.c - how many rows have a missing cell, and the one rule by which a run on too many
 * of them is refused: the same for files of every format, read or scanned, for arrays, frames and
 * parts.
 *
 * A row with a missing cell counts for nothing (bound.T6).  A run on rows of which nearly all are
 * so would spend its budget on noise.  How many there are is as secret as what the rows say.  So
 * the rule is for runs whose number of rows is public; where that is hidden, nothing that a row
 * says may end a run (docs/security/what-can-end-a-run.md).
 */
#include "data/several_files.h"
#include <math.h>

enum { COUNTED_CELLS = 1 << 16, WHOLE_IN = 10 };

static bool is_real(clo_element element)
{
    return element == CLO_FLOAT64 || element == CLO_FLOAT32;
}

/* Of Arrow: an integer may be missing, too. */
static bool has_bitmaps(const clo_table *table)
{
    return table->block_count > 0 && table->blocks[0].batch;
}

static size_t null_rows(const clo_schema *schema, const double *cells, size_t rows, size_t cols)
{
    size_t null = 0;
    for (size_t i = 0; i < rows; i++) {
        bool bad = schema && clo_i_schema_is_null(schema, cells + i * cols);
        if (schema) {
            null += bad;
            continue;
        }
        for (size_t j = 0; j < cols; j++) bad = bad || !isfinite(cells[i * cols + j]);
        null += bad;
    }
    return null;
}

static size_t null_sparse_rows(const clo_table *part)
{
    size_t null = 0;
    for (size_t i = 0; i < part->rows; i++) {
        const uint32_t *columns;
        const double *values;
        size_t count;
        bool bad = false;
        clo_i_table_sparse_row(part, i, &columns, &values, &count);
        for (size_t e = 0; e < count; e++) bad = bad || !isfinite(values[e]);
        null += bad;
    }
    return null;
}

static clo_status null_dense_rows(const clo_table *part, uint64_t *out, clo_error *err)
{
    const size_t cols = part->cols, step = cols < COUNTED_CELLS ? COUNTED_CELLS / cols : 1;
    const size_t steps = part->rows / step + (part->rows % step != 0);
    size_t null = 0;
    _Atomic int failure = CLO_OK;
#pragma omp parallel reduction(+ : null)
    {
        double *cells = NULL;
        const clo_status mine = clo_i_alloc(step * cols, sizeof *cells, &cells, NULL);
#pragma omp for schedule(static)
        for (size_t s = 0; s < steps; s++) {
            const size_t first = s * step;
            const size_t count = part->rows - first < step ? part->rows - first : step;
            if (mine) continue;
            clo_i_table_rows(part, first, count, cells);
            null += null_rows(part->schema, cells, count, cols);
        }
        clo_i_wipe_free(cells, cells ? step * cols * sizeof *cells : 0);
        if (mine) atomic_store(&failure, (int)mine);
    }
    *out = null;
    if (!atomic_load(&failure)) return CLO_OK;
    return clo_i_fail(err, CLO_MEMORY, "out of memory while the records were counted");
}

clo_status clo_i_count_gaps(const clo_table *table, uint64_t *out, clo_error *err)
{
    *out = 0;
    if (table->rows == 0 || !(table->sparse || is_real(table->element) || has_bitmaps(table)))
        return CLO_OK;
    if (!table->sparse) return null_dense_rows(table, out, err);
    *out = null_sparse_rows(table);
    return CLO_OK;
}

clo_status clo_table_gaps(const clo_table *table, uint64_t *out, clo_error *err)
{
    uint64_t gaps = 0;
    if (table->recipe)
        gaps = table->null_rows;
    else if (table->missing != CLO_MISSING_FILL)
        CLO_TRY(clo_i_count_gaps(table, &gaps, err));
    *out = gaps;
    return CLO_OK;
}

bool clo_gaps_hide_all(uint64_t rows, uint64_t gaps)
{
    return rows > 0 && (rows - gaps) * WHOLE_IN < rows;
}
