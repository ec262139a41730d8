/*
 * solution_read.c - a solution read back from JSON, as a start or to be evaluated.  The file may
 * come from anywhere: each member is checked before it is believed.
 */
#include "base/text_file.h"
#include "linalg/linalg.h"
#include "not_private/solution.h"
#include <math.h>
#include <string.h>

enum { MOST_COLS = 1 << 20, MOST_BYTES = 1 << 30 };

static clo_status bad(clo_error *err, const char *what)
{
    return clo_i_fail(err, CLO_FORMAT, "this is not a solution of cloister: %s", what);
}

/* A matrix of exactly this shape into rows `stride` apart. */
static clo_status get_matrix(const json_t *from, size_t rows, size_t cols, size_t stride,
                             double *out, clo_error *err)
{
    if (json_array_size(from) != rows) return bad(err, "an array has the wrong shape");
    for (size_t i = 0; i < rows; i++) {
        const json_t *const row = json_array_get(from, i);
        if (json_array_size(row) != cols) return bad(err, "an array has the wrong shape");
        for (size_t j = 0; j < cols; j++) {
            const json_t *const cell = json_array_get(row, j);
            const double value = json_number_value(cell);
            if (!json_is_number(cell) || !isfinite(value))
                return bad(err, "an array holds something that is not a number");
            out[i * stride + j] = value;
        }
    }
    return CLO_OK;
}

static clo_status check_orthonormal(const double *basis, size_t cols, size_t dim, size_t stride,
                                    clo_error *err)
{
    for (size_t a = 0; a < dim; a++)
        for (size_t b = a; b < dim; b++) {
            double dot = 0;
            for (size_t j = 0; j < cols; j++) dot += basis[j * stride + a] * basis[j * stride + b];
            if (!(fabs(dot - (a == b)) < 1e-6))
                return bad(err, "the columns of a basis are not orthonormal");
        }
    return CLO_OK;
}

static clo_status get_dims(const json_t *from, size_t clusters, size_t cols, size_t *dims,
                           size_t *width, clo_error *err)
{
    *width = 0;
    for (size_t c = 0; c < clusters; c++) {
        const json_t *const cell = json_array_get(from, c);
        const json_int_t dim = json_integer_value(cell);
        if (!json_is_integer(cell) || dim < 0 || (size_t)dim > cols)
            return bad(err, "\"dims\" must be whole numbers up to the number of columns");
        dims[c] = (size_t)dim;
        if (dims[c] > *width) *width = dims[c];
    }
    return CLO_OK;
}

static clo_status fill(const json_t *values, clo_partition *p, clo_error *err)
{
    const json_t *const bases = json_object_get(values, "bases");
    const json_t *offsets = json_object_get(values, "offsets");
    if (!offsets) offsets = json_object_get(values, "centers");
    if (p->width > 0 && json_array_size(bases) != p->clusters)
        return bad(err, "\"bases\" must have one for each cluster");
    for (size_t c = 0; c < p->clusters && p->width > 0; c++) {
        double *const basis = p->bases + c * p->cols * p->width;
        CLO_TRY(get_matrix(json_array_get(bases, c), p->dims[c] ? p->cols : 0, p->dims[c], p->width,
                           basis, err));
        CLO_TRY(check_orthonormal(basis, p->cols, p->dims[c], p->width, err));
    }
    if (p->offsets) return get_matrix(offsets, p->clusters, p->cols, p->cols, p->offsets, err);
    return CLO_OK;
}

static clo_status make(const json_t *root, clo_partition *out, clo_error *err)
{
    const json_t *const values = json_object_get(root, "values");
    const json_t *const dims = json_object_get(values, "dims");
    const json_int_t cols = json_integer_value(json_object_get(root, "cols"));
    const size_t clusters = json_array_size(dims);
    const bool offsets =
        json_object_get(values, "offsets") != NULL || json_object_get(values, "centers") != NULL;
    size_t *own = NULL, width = 0;
    if (cols < 1 || cols > MOST_COLS)
        return bad(err, "\"cols\" must be a whole number of at least 1");
    if (clusters < 1 || clusters > CLO_SOLVER_CLUSTERS)
        return bad(err, "\"dims\" must have one for each cluster");
    CLO_TRY(clo_i_alloc(clusters, sizeof *own, &own, err));
    clo_status status = get_dims(dims, clusters, (size_t)cols, own, &width, err);
    if (!status && width == 0 && !offsets) status = bad(err, "it has neither bases nor centers");
    if (!status) status = clo_i_partition_new(0, clusters, (size_t)cols, width, offsets, out, err);
    if (!status) {
        memcpy(out->dims, own, clusters * sizeof *own);
        clo_i_free(out->labels);
        out->labels = NULL;
        out->cost = json_number_value(json_object_get(root, "cost"));
        status = fill(values, out, err);
    }
    clo_i_free(own);
    return status;
}

/* ---- what is known of the columns ------------------------------------------------------------ */

static clo_status get_names(const json_t *from, size_t cols, char ***out, clo_error *err)
{
    if (!from) return CLO_OK;
    if (json_array_size(from) != cols) return bad(err, "\"columns\" must have one name per column");
    CLO_TRY(clo_i_alloc(cols, sizeof **out, out, err));
    for (size_t j = 0; j < cols; j++) {
        const char *const name = json_string_value(json_array_get(from, j));
        if (!name) return bad(err, "\"columns\" must have one name per column");
        CLO_TRY(clo_i_copy_text(name, &(*out)[j], err));
    }
    return CLO_OK;
}

static clo_status get_ends(const json_t *from, const char *which, size_t cols, double **out,
                           clo_error *err)
{
    const json_t *const ends = json_object_get(from, which);
    CLO_TRY(clo_i_alloc(cols, sizeof **out, out, err));
    if (json_array_size(ends) != cols)
        return bad(err, "\"bounds\" must have two numbers per "
                        "column");
    for (size_t j = 0; j < cols; j++) {
        (*out)[j] = json_number_value(json_array_get(ends, j));
        if (!json_is_number(json_array_get(ends, j)) || !isfinite((*out)[j]))
            return bad(err, "\"bounds\" must be numbers");
    }
    return CLO_OK;
}

static clo_status get_columns(const json_t *root, clo_solution *solution, clo_error *err)
{
    const size_t cols = solution->partition.cols;
    const json_t *const bounds = json_object_get(root, "bounds");
    const json_t *const raw = json_object_get(root, "raw_cost");
    if (raw) solution->raw_cost = json_number_value(raw);
    CLO_TRY(get_names(json_object_get(root, "columns"), cols, &solution->names, err));
    if (!bounds) return CLO_OK;
    CLO_TRY(get_ends(bounds, "lower", cols, &solution->lower, err));
    CLO_TRY(get_ends(bounds, "upper", cols, &solution->upper, err));
    for (size_t j = 0; j < cols; j++)
        if (!(solution->lower[j] < solution->upper[j]))
            return bad(err, "a lower end of \"bounds\" must be below the upper");
    return CLO_OK;
}

/* Whether it could be the name of a solver, of this version or another: it is printed. */
static bool is_name(const char *text)
{
    const size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_-");
    return length > 0 && length < 64 && text[length] == 0;
}

static clo_status parse(const json_t *root, clo_solution **out, clo_error *err)
{
    clo_partition partition = { .count = 0 };
    clo_solution *made = NULL;
    const char *const schema = json_string_value(json_object_get(root, "schema"));
    const char *const solver = json_string_value(json_object_get(root, "solver"));
    clo_status status = CLO_OK;
    if (!schema || strcmp(schema, "cloister.solution/1") != 0)
        status = bad(err, "its schema is not cloister.solution/1");
    else if (!solver || !is_name(solver))
        status = bad(err, "\"solver\" is missing");
    if (!status) status = make(root, &partition, err);
    if (!status) status = clo_i_solution_new(solver, &partition, &made, err);
    if (!status) status = get_columns(root, made, err);
    if (!status)
        *out = made;
    else
        clo_solution_free(made);
    clo_i_partition_free(&partition);
    return status;
}

clo_status clo_solution_read(const char *path, clo_solution **out, clo_error *err)
{
    char *bytes = NULL;
    size_t length = 0;
    json_t *root = NULL;
    clo_error detail = { .status = CLO_OK };
    CLO_TRY(clo_i_read_whole(path, MOST_BYTES, "a solution", &bytes, &length, err));
    clo_status status = clo_i_parse_json(bytes, length, &root, &detail);
    if (!status) status = parse(root, out, &detail);
    json_decref(root);
    clo_i_free(bytes);
    if (status) return clo_i_fail(err, status, "%.200s: %.280s", path, detail.message);
    return CLO_OK;
}
