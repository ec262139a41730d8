/*
 * scale.c - the columns and the scale of a result, found in a table.
 */
#include "not_private/scale.h"
#include "linalg/linalg.h"
#include <math.h>
#include <string.h>

void clo_i_scale_clear(clo_i_scale *scale)
{
    clo_i_free(scale->half);
    clo_i_free(scale->middle);
    clo_i_free(scale->places);
    clo_i_free(scale->fill);
    clo_i_wipe_free(scale->cells,
                    scale->cells ? clo_i_schema_cells(scale->schema) * sizeof *scale->cells : 0);
    clo_i_wipe_free(scale->wide, scale->wide ? scale->wide_cols * sizeof *scale->wide : 0);
    *scale = (clo_i_scale){ 0 };
}

/* ---- columns ------------------------------------------------------------------------------ */

static bool named(const clo_table *table, size_t column, const char *name)
{
    const char *const own = clo_table_column_name(table, column);
    return own && strcmp(own, name) == 0;
}

/* A name that is there twice means nothing. */
static clo_status find_column(const clo_i_columns_known *known, const clo_table *table,
                              const char *name, size_t *out, clo_error *err)
{
    const size_t cols = clo_table_cols(table);
    size_t found = cols;
    for (size_t j = 0; j < cols; j++) {
        if (!named(table, j, name)) continue;
        if (found < cols)
            return clo_i_fail(err, CLO_ARGUMENT, "the data have several columns '%.60s'", name);
        found = j;
    }
    if (found == cols)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "the %s needs the column '%.60s', which the data do not have",
                          known->what, name);
    *out = found;
    return CLO_OK;
}

static bool in_place(const clo_i_columns_known *known, const clo_table *table)
{
    if (clo_table_cols(table) != known->cols) return false;
    for (size_t j = 0; j < known->cols; j++)
        if (!named(table, j, known->names[j])) return false;
    return true;
}

static clo_status find_places(const clo_i_columns_known *known, const clo_table *table,
                              clo_i_scale *scale, clo_error *err)
{
    const size_t cols = clo_table_cols(table);
    const bool names = known->names && cols > 0 && clo_table_column_name(table, 0);
    if (!names && cols != known->cols)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "the %s has %zu columns, but the data have %zu: choose the same columns "
                          "with columns",
                          known->what, known->cols, cols);
    if (!names || in_place(known, table)) return CLO_OK;
    CLO_TRY(clo_i_alloc(known->cols, sizeof *scale->places, &scale->places, err));
    for (size_t j = 0; j < known->cols; j++)
        CLO_TRY(find_column(known, table, known->names[j], &scale->places[j], err));
    scale->wide_cols = cols;
    return clo_i_alloc(cols, sizeof *scale->wide, &scale->wide, err);
}

static size_t place(const clo_i_scale *scale, size_t column)
{
    return scale->places ? scale->places[column] : column;
}

/* Text in a column that is not compared is nobody's trouble. */
static clo_status refuse_text(const clo_i_scale *scale, const clo_table *table, const char *what,
                              clo_error *err)
{
    const size_t cols = clo_table_cols(table);
    bool *used = NULL;
    if (!clo_i_table_text_later(table)) return CLO_OK;
    CLO_TRY(clo_i_alloc(cols, sizeof *used, &used, err));
    for (size_t j = 0; j < scale->cols; j++) used[place(scale, j)] = true;
    const clo_status status = clo_i_table_refuse_text(table, used, what, err);
    clo_i_free(used);
    return status;
}

/* ---- units -------------------------------------------------------------------------------- */

static clo_status take_bounds(const clo_i_columns_known *known, clo_i_scale *scale, clo_error *err)
{
    if (!known->lower || !known->upper) return CLO_OK;
    CLO_TRY(clo_i_alloc(known->cols, sizeof *scale->half, &scale->half, err));
    CLO_TRY(clo_i_alloc(known->cols, sizeof *scale->middle, &scale->middle, err));
    for (size_t j = 0; j < known->cols; j++) {
        scale->half[j] = known->upper[j] / 2 - known->lower[j] / 2;
        scale->middle[j] = known->upper[j] / 2 + known->lower[j] / 2;
        if (!(scale->half[j] > 0 && isfinite(scale->half[j])))
            return clo_i_fail(err, CLO_FORMAT, "the bounds of column %zu of the %s are none", j + 1,
                              known->what);
    }
    return CLO_OK;
}

/* What a run would put into a missing cell (find_fill of src/bound). */
static clo_status take_fill(const clo_i_columns_known *known, const clo_table *table,
                            clo_i_scale *scale, clo_error *err)
{
    const double *const told = clo_i_table_fill(table);
    if (clo_i_table_missing(table) != CLO_MISSING_FILL) return CLO_OK;
    CLO_TRY(clo_i_alloc(known->cols, sizeof *scale->fill, &scale->fill, err));
    for (size_t j = 0; j < known->cols; j++) {
        const double *const origin = scale->middle ? scale->middle : known->center;
        const double own = told ? told[place(scale, j)] : NAN;
        scale->fill[j] = isfinite(own) ? own : origin ? origin[j] : 0;
    }
    return CLO_OK;
}

clo_status clo_i_known_fits(clo_i_columns_known *known, const clo_target *target, clo_error *err)
{
    const size_t cols = target->flats.cols;
    if (known->cols != cols && (known->names || known->lower))
        return clo_i_fail(err, CLO_FORMAT, "the %s names %zu columns, and its values have %zu",
                          known->what, known->cols, cols);
    known->cols = cols;
    return CLO_OK;
}

/* Columns of the schema in the table, and the units of its outputs: distances there are those of
 * the run (bound.T7). */
static clo_status fit_schema(const clo_i_columns_known *known, const clo_table *table,
                             clo_i_scale *scale, clo_error *err)
{
    const clo_schema *const schema = known->schema;
    const size_t cells = clo_i_schema_cells(schema);
    clo_i_columns_known own = { .what = known->what, .cols = cells };
    char **names = NULL;
    scale->schema = schema;
    CLO_TRY(clo_i_alloc(cells, sizeof *scale->cells, &scale->cells, err));
    CLO_TRY(clo_i_alloc(known->cols, sizeof *scale->half, &scale->half, err));
    CLO_TRY(clo_i_alloc(known->cols, sizeof *scale->middle, &scale->middle, err));
    for (size_t j = 0; j < known->cols; j++) {
        scale->half[j] = clo_i_schema_unit(schema, j);
        scale->middle[j] = clo_i_schema_middle(schema, j);
    }
    CLO_TRY(clo_i_alloc(cells, sizeof *names, &names, err));
    for (size_t j = 0; j < cells; j++) names[j] = clo_i_schema_used(schema, j)->name;
    own.names = names;
    const clo_status status = find_places(&own, table, scale, err);
    clo_i_free(names);
    return status;
}

clo_status clo_i_scale_fit(const clo_i_columns_known *known, const clo_table *table,
                           clo_i_scale *out, clo_error *err)
{
    *out = (clo_i_scale){ .cols = known->cols };
    CLO_TRY(clo_i_table_refuse_scan(table, err));
    if (known->schema && clo_table_file_cols(table) && !clo_table_schema(table))
        return clo_i_fail(
            err, CLO_ARGUMENT,
            "the %s was made with a schema: read the data with it (clo_release_schema)",
            known->what);
    if (known->schema) return fit_schema(known, table, out, err);
    CLO_TRY(find_places(known, table, out, err));
    CLO_TRY(refuse_text(out, table, known->what, err));
    CLO_TRY(take_bounds(known, out, err));
    return take_fill(known, table, out, err);
}

static void load_by_schema(clo_i_scale *scale, const clo_table *table, size_t row, double *out)
{
    const size_t cells = clo_i_schema_cells(scale->schema);
    clo_i_table_rows(table, row, 1, scale->places ? scale->wide : scale->cells);
    for (size_t j = 0; scale->places && j < cells; j++)
        scale->cells[j] = scale->wide[scale->places[j]];
    const bool null = clo_i_schema_is_null(scale->schema, scale->cells);
    if (!null) clo_i_schema_expand(scale->schema, scale->cells, out);
    for (size_t j = 0; null && j < scale->cols; j++) out[j] = NAN;
}

void clo_i_scale_load(clo_i_scale *scale, const clo_table *table, size_t first, size_t count,
                      double *rows)
{
    const size_t d = scale->cols;
    if (scale->schema) {
        for (size_t i = 0; i < count; i++) load_by_schema(scale, table, first + i, rows + i * d);
        return;
    }
    if (!scale->places) clo_i_table_rows(table, first, count, rows);
    for (size_t i = 0; scale->places && i < count; i++) {
        clo_i_table_rows(table, first + i, 1, scale->wide);
        for (size_t j = 0; j < d; j++) rows[i * d + j] = scale->wide[scale->places[j]];
    }
    for (size_t i = 0; scale->fill && i < count * d; i++)
        if (!isfinite(rows[i])) rows[i] = scale->fill[i % d];
}

/* ---- flats -------------------------------------------------------------------------------- */

static clo_status copy(const double *from, size_t count, double **out, clo_error *err)
{
    if (!from) return CLO_OK;
    CLO_TRY(clo_i_alloc(count, sizeof **out, out, err));
    memcpy(*out, from, count * sizeof **out);
    return CLO_OK;
}

clo_status clo_i_scale_basis(double *basis, const double *half, size_t d, size_t q, clo_error *err)
{
    double *own = NULL;
    const size_t dim = clo_i_own_dim(basis, d, q);
    bool point = true; /* a flat of dimension 0 among others has no columns at all */
    for (size_t j = 0; j < d; j++) point = point && basis[j * q] == 0;
    if (point) return CLO_OK;
    CLO_TRY(clo_i_alloc(d * dim, sizeof *own, &own, err));
    for (size_t j = 0; j < d; j++)
        for (size_t l = 0; l < dim; l++) own[j * dim + l] = basis[j * q + l] / half[j];
    const clo_status status = clo_i_orthonormalize(own, d, dim, err);
    for (size_t j = 0; j < d; j++) memcpy(basis + j * q, own + j * dim, dim * sizeof *own);
    clo_i_free(own);
    return status;
}

clo_status clo_i_target_to_scale(clo_target *target, const clo_i_scale *scale, clo_error *err)
{
    clo_flats *const flats = &target->flats;
    const size_t k = flats->count, d = flats->cols, q = flats->dim;
    target->raw = *flats;
    if (!scale->half) return CLO_OK;
    /* The target's own memory stays the raw one; flats get memory of theirs. */
    CLO_TRY(copy(flats->offsets, k * d, &target->scaled_offsets, err));
    CLO_TRY(copy(q ? flats->bases : NULL, k * d * q, &target->scaled_bases, err));
    for (size_t i = 0; target->scaled_offsets && i < k * d; i++)
        target->scaled_offsets[i] /= scale->half[i % d];
    for (size_t c = 0; target->scaled_bases && c < k; c++)
        CLO_TRY(clo_i_scale_basis(target->scaled_bases + c * d * q, scale->half, d, q, err));
    flats->offsets = target->scaled_offsets;
    flats->bases = target->scaled_bases;
    return CLO_OK;
}
