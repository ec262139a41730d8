/*
 * inspect.c - what a file holds and what a run would take of it, for the operator: plain counts of
 * the data, without noise.  No value of a cell leaves it, nor how large any is.
 */
#include <cloister/inspect.h>
#include "data/data.h"
#include <math.h>
#include <string.h>

enum { BLOCK_CELLS = 1 << 16 };

struct clo_inspection {
    clo_table *table;
    clo_file_facts facts;
    bool *taken;        /* one a column of the table */
    uint64_t *missing;  /* the same */
    uint64_t null_rows; /* with a missing cell in a column that is taken */
    clo_error refusal;  /* status CLO_OK: none */
};

/* ---- looking --------------------------------------------------------------------------------- */

static bool look_at_row(clo_inspection *found, const double *row, size_t cols)
{
    bool null = false;
    for (size_t j = 0; j < cols; j++) {
        const bool missing = !isfinite(row[j]);
        found->missing[j] += missing;
        null = null || (missing && found->taken[j]);
    }
    return null;
}

static clo_status count_missing(clo_inspection *found, clo_error *err)
{
    const clo_table *const table = found->table;
    const size_t rows = clo_table_rows(table), cols = clo_table_cols(table);
    const size_t block = cols < BLOCK_CELLS ? BLOCK_CELLS / cols : 1;
    double *cells = NULL;
    CLO_TRY(clo_i_alloc(block * cols, sizeof *cells, &cells, err));
    for (size_t first = 0; first < rows; first += block) {
        const size_t count = rows - first < block ? rows - first : block;
        clo_i_table_rows(table, first, count, cells);
        for (size_t i = 0; i < count; i++)
            found->null_rows += look_at_row(found, cells + i * cols, cols);
        clo_i_table_forget(table, first, count);
    }
    clo_i_wipe_free(cells, block * cols * sizeof *cells);
    return CLO_OK;
}

/* Sparse rows are not written out: a bad one is one entry that is not a number. */
static void count_bad_rows(clo_inspection *found)
{
    for (size_t i = 0; i < clo_table_rows(found->table); i++) {
        const uint32_t *columns;
        const double *values;
        size_t count;
        clo_i_table_sparse_row(found->table, i, &columns, &values, &count);
        found->null_rows += count == 1 && !isfinite(values[0]);
    }
}

static clo_status look(clo_inspection *found, const char *path, const clo_read_options *options,
                       clo_error *err)
{
    clo_read_options all = clo_read_options_default();
    CLO_TRY(clo_i_take_options("clo_read_options", options, &all, sizeof all, err));
    const clo_text_columns text = all.text;
    const char *const columns = all.columns;
    const clo_missing missing = all.missing;
    all.text = CLO_TEXT_MISSING;
    if (missing == CLO_MISSING_REFUSE) all.missing = CLO_MISSING_NULL;
    all.columns = all.fill = NULL;
    CLO_TRY(clo_table_read(path, &all, &found->table, err));
    const size_t cols = clo_table_cols(found->table);
    found->facts = clo_i_table_file(found->table);
    CLO_TRY(clo_i_alloc(cols, sizeof *found->taken, &found->taken, err));
    CLO_TRY(clo_i_alloc(cols, sizeof *found->missing, &found->missing, err));
    CLO_TRY(clo_i_table_choose(found->table, columns, found->taken, err));
    if (clo_i_table_is_sparse(found->table))
        count_bad_rows(found);
    else
        CLO_TRY(count_missing(found, err));
    if (text == CLO_TEXT_REFUSE)
        (void)clo_i_table_refuse_text(found->table, found->taken, NULL, &found->refusal);
    if (!found->refusal.status && text == CLO_TEXT_REFUSE)
        (void)clo_i_table_refuse_gaps(found->table, found->null_rows, &found->refusal);
    if (!found->refusal.status && missing == CLO_MISSING_REFUSE && found->null_rows)
        (void)clo_i_fail(&found->refusal, CLO_FORMAT,
                         "some cells are missing, and missing is refuse");
    return CLO_OK;
}

clo_status clo_inspect(const char *path, const clo_read_options *options, clo_inspection **out,
                       clo_error *err)
{
    clo_inspection *found = NULL;
    CLO_TRY(clo_i_alloc(1, sizeof *found, &found, err));
    const clo_status status = look(found, path, options, err);
    if (status)
        clo_inspection_free(found);
    else
        *out = found;
    return status;
}

void clo_inspection_free(clo_inspection *inspection)
{
    if (!inspection) return;
    clo_i_free(inspection->taken);
    clo_i_free(inspection->missing);
    clo_table_free(inspection->table);
    clo_i_wipe_free(inspection, sizeof *inspection);
}

/* ---- what there is to say -------------------------------------------------------------------- */

const char *clo_inspection_format(const clo_inspection *inspection)
{
    return inspection->facts.format;
}

const char *clo_inspection_packing(const clo_inspection *inspection)
{
    return inspection->facts.packing;
}

bool clo_inspection_has_header(const clo_inspection *inspection)
{
    return inspection->facts.names != NULL;
}

char clo_inspection_delimiter(const clo_inspection *inspection)
{
    return inspection->facts.delimiter;
}

uint64_t clo_inspection_rows(const clo_inspection *inspection)
{
    return clo_table_rows(inspection->table);
}

uint64_t clo_inspection_null_rows(const clo_inspection *inspection)
{
    return inspection->null_rows;
}

size_t clo_inspection_cols(const clo_inspection *inspection)
{
    return inspection->facts.cols;
}

const char *clo_inspection_refusal(const clo_inspection *inspection)
{
    return inspection->refusal.status ? inspection->refusal.message : NULL;
}

const char *clo_inspection_advice(const clo_inspection *inspection)
{
    return inspection->refusal.status ? inspection->refusal.advice : "";
}

static clo_column_kind kind_of(const clo_table *table, size_t column)
{
    switch (clo_i_table_kind(table, column)) {
    case CLO_KIND_TEXT:
        return CLO_COLUMN_TEXT;
    case CLO_KIND_OTHER_MARK:
        return CLO_COLUMN_OTHER_DECIMAL;
    case CLO_KIND_THOUSANDS:
        return CLO_COLUMN_THOUSANDS;
    case CLO_KIND_SIGNS:
        return CLO_COLUMN_SIGNS;
    case CLO_KIND_EMPTY:
        return CLO_COLUMN_EMPTY;
    default:
        return CLO_COLUMN_NUMBERS;
    }
}

/* Which column of the table the file's is: all were read, so they rise, and the person's alone is
 * not among them. */
static bool find_column(const clo_table *table, size_t index, size_t *out)
{
    const size_t cols = clo_table_cols(table);
    size_t j = index < cols ? index + 1 : cols;
    while (j > 0 && clo_i_table_file_column(table, j - 1) > index) j--;
    if (j == 0 || clo_i_table_file_column(table, j - 1) != index) return false;
    *out = j - 1;
    return true;
}

void clo_inspection_column(const clo_inspection *inspection, size_t index, clo_column *out)
{
    clo_column column = { .struct_size = sizeof column, .kind = CLO_COLUMN_UNIT };
    size_t j = 0;
    if (inspection->facts.names && index < inspection->facts.cols)
        column.name = inspection->facts.names[index];
    if (find_column(inspection->table, index, &j)) {
        const uint64_t rows = clo_table_rows(inspection->table);
        column.taken = inspection->taken[j];
        column.missing = inspection->missing[j];
        column.kind = kind_of(inspection->table, j);
        if (column.kind == CLO_COLUMN_TEXT)
            column.missing = clo_i_table_empty_cells(inspection->table, j);
        if (column.kind == CLO_COLUMN_NUMBERS && column.missing == rows && rows)
            column.kind = CLO_COLUMN_EMPTY; /* of NPY, which is not counted as text is */
    }
    clo_i_give_result(out, &column, sizeof column);
}
