/*
 * evaluate.c - how good a release is on the operator's own rows. What comes out is a plain function
 * of the data, without noise: for the operator, never for the world, and nothing here can write
 * into a release.
 *
 * A release and the truth both become flats (measure.h): k points, or one subspace through the
 * released centre. The table is then read once, in blocks, for both.
 */
#include <cloister/evaluate.h>
#include "data/data.h"
#include "linalg/linalg.h"
#include "measure/measure.h"
#include <math.h>
#include <string.h>

enum { BLOCK_ROWS = 4096, BLOCK_DOUBLES = 1 << 22 };

/* What rows are compared with; `memory` is its own, the rest points into it or into the release. */
typedef struct target {
    clo_flats flats; /* count 0: there is none */
    double *memory;
    double sum;
} target;

/* ---- from a release or a truth to flats ---------------------------------- */

static bool all_finite(const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!isfinite(values[i])) return false;
    return true;
}

/* A dense copy of the matrix, whoever it belongs to. */
static clo_status copy_matrix(clo_matrix from, const char *what, clo_status otherwise, double **out,
                              clo_error *err)
{
    double *copy = NULL;
    size_t count = 0;
    if (!clo_i_multiply(from.rows, from.cols, &count))
        return clo_i_fail(err, CLO_MEMORY, "a size is too large for this machine");
    CLO_TRY(clo_i_alloc(count, sizeof *copy, &copy, err));
    for (size_t i = 0; i < from.rows; i++)
        memcpy(copy + i * from.cols, from.data + i * from.stride, from.cols * sizeof *copy);
    if (!all_finite(copy, count)) {
        clo_i_free(copy);
        return clo_i_fail(err, otherwise, "%s must consist of finite numbers", what);
    }
    *out = copy;
    return CLO_OK;
}

/* Makes the columns orthonormal. A column that the earlier ones already span leaves a residual of
 * rounding errors alone, and its direction would be arbitrary. */
static clo_status make_basis(double *basis, size_t d, size_t q, const char *what,
                             clo_status otherwise, clo_error *err)
{
    double *given = NULL;
    CLO_TRY(clo_i_alloc(d * q, sizeof *given, &given, err));
    memcpy(given, basis, d * q * sizeof *given);
    clo_status status = clo_i_orthonormalize(basis, d, q, err);
    for (size_t j = 0; j < q && status == CLO_OK; j++) {
        double largest = 0, length = 0, fresh = 0;
        for (size_t i = 0; i < d; i++) largest = fmax(largest, fabs(given[i * q + j]));
        for (size_t i = 0; i < d && largest > 0; i++) {
            const double entry = given[i * q + j] / largest; /* whose square cannot overflow */
            length += entry * entry;
            fresh += entry * basis[i * q + j];
        }
        if (!(fresh > 1e-10 * sqrt(length)))
            status = clo_i_fail(err, otherwise,
                                "the %zu columns of %s are linearly dependent: they are no basis",
                                q, what);
    }
    clo_i_free(given);
    return status;
}

static clo_status find_array(const clo_release *release, const char *name, size_t dimensions,
                             clo_array *out, clo_error *err)
{
    if (!clo_release_find(release, name, out) || out->dimensions != dimensions ||
        out->shape[0] < 1 || (dimensions > 1 && out->shape[1] < 1))
        return clo_i_fail(err, CLO_FORMAT, "the release has no array \"%s\" of %zu dimension%s",
                          name, dimensions, dimensions == 1 ? "" : "s");
    return CLO_OK;
}

static clo_matrix matrix_of(clo_array array)
{
    return (clo_matrix){ array.data, array.shape[0], array.shape[1], array.shape[1] };
}

static clo_status released_centers(const clo_release *release, target *out, clo_error *err)
{
    clo_array centers;
    CLO_TRY(find_array(release, "centers", 2, &centers, err));
    CLO_TRY(copy_matrix(matrix_of(centers), "the released centres", CLO_FORMAT, &out->memory, err));
    out->flats =
        (clo_flats){ .count = centers.shape[0], .cols = centers.shape[1], .offsets = out->memory };
    return CLO_OK;
}

static clo_status true_centers(const clo_flats *released, clo_matrix truth, target *out,
                               clo_error *err)
{
    if (truth.rows != released->count || truth.cols != released->cols)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "the truth must be %zu centres of %zu columns, as the release has, not a "
                          "%zu x %zu matrix",
                          released->count, released->cols, truth.rows, truth.cols);
    CLO_TRY(copy_matrix(truth, "the truth", CLO_ARGUMENT, &out->memory, err));
    out->flats = *released;
    out->flats.offsets = out->memory;
    return CLO_OK;
}

static clo_status released_subspace(const clo_release *release, target *out, clo_error *err)
{
    const char *const what = "the released basis";
    clo_array basis, center = { .data = NULL };
    CLO_TRY(find_array(release, "basis", 2, &basis, err));
    const size_t d = basis.shape[0], q = basis.shape[1];
    if (q > d) return clo_i_fail(err, CLO_FORMAT, "%s has more columns than rows", what);
    if (clo_release_find(release, "center", &center)) {
        CLO_TRY(find_array(release, "center", 1, &center, err));
        if (center.shape[0] != d || !all_finite(center.data, d))
            return clo_i_fail(err, CLO_FORMAT,
                              "the released centre must be %zu finite numbers, as the basis has "
                              "rows",
                              d);
    }
    CLO_TRY(copy_matrix(matrix_of(basis), what, CLO_FORMAT, &out->memory, err));
    CLO_TRY(make_basis(out->memory, d, q, what, CLO_FORMAT, err));
    out->flats = (clo_flats){
        .count = 1, .cols = d, .dim = q, .offsets = center.data, .bases = out->memory
    };
    return CLO_OK;
}

/* The true directions are taken through the released centre, which is public and no estimate. */
static clo_status true_subspace(const clo_flats *released, clo_matrix truth, target *out,
                                clo_error *err)
{
    if (truth.rows != released->cols || truth.cols != released->dim)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "the truth must be a %zu x %zu basis (columns of the data x dimension), "
                          "as the release has, not a %zu x %zu matrix",
                          released->cols, released->dim, truth.rows, truth.cols);
    CLO_TRY(copy_matrix(truth, "the truth", CLO_ARGUMENT, &out->memory, err));
    CLO_TRY(make_basis(out->memory, truth.rows, truth.cols, "the truth", CLO_ARGUMENT, err));
    out->flats = *released;
    out->flats.bases = out->memory;
    return CLO_OK;
}

/* ---- families ------------------------------------------------------------ */

static clo_status centers_apart(const clo_flats *a, const clo_flats *b, double *distance,
                                clo_error *err)
{
    return clo_i_centers_distance(a->offsets, b->offsets, a->count, a->cols, distance, err);
}

static clo_status subspaces_apart(const clo_flats *a, const clo_flats *b, double *distance,
                                  clo_error *err)
{
    return clo_i_subspace_distance(a->bases, b->bases, a->cols, a->dim, distance, err);
}

typedef struct family {
    const char *name;
    clo_status (*released)(const clo_release *release, target *out, clo_error *err);
    clo_status (*truth)(const clo_flats *released, clo_matrix truth, target *out, clo_error *err);
    clo_status (*apart)(const clo_flats *a, const clo_flats *b, double *distance, clo_error *err);
} family;

static const family families[] = {
    { "kmeans", released_centers, true_centers, centers_apart },
    { "subspace", released_subspace, true_subspace, subspaces_apart },
};

static clo_status find_family(const clo_release *release, const family **out, clo_error *err)
{
    const char *const name = clo_release_family(release);
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (name && strcmp(families[i].name, name) == 0) {
            *out = &families[i];
            return CLO_OK;
        }
    return clo_i_fail(err, CLO_UNSUPPORTED,
                      "a release of the family \"%s\" cannot be evaluated: kmeans and subspace can",
                      name ? name : "");
}

/* ---- the pass over the rows ---------------------------------------------- */

static clo_status add_block(target *t, const double *rows, size_t count, double *squared,
                            size_t *counted, clo_error *err)
{
    double sum = 0;
    CLO_TRY(clo_i_flat_distances(&t->flats, rows, count, squared, NULL, err));
    *counted = 0;
    for (size_t i = 0; i < count; i++)
        if (!isnan(squared[i])) {
            sum += squared[i];
            ++*counted;
        }
    t->sum += sum; /* a sum of sums keeps digits that one long sum would lose */
    return CLO_OK;
}

/* Adds the squared distances up in both targets; counted: the rows without a bad cell. */
static clo_status pass(const clo_table *table, target targets[2], size_t *counted, clo_error *err)
{
    const size_t cols = clo_table_cols(table), rows = clo_table_rows(table);
    const size_t fit = BLOCK_DOUBLES / cols;
    const size_t most = fit < 1 ? 1 : fit < BLOCK_ROWS ? fit : BLOCK_ROWS;
    double *block = NULL;
    clo_status status = clo_i_alloc(most * (cols + 1), sizeof *block, &block, err);
    *counted = 0;
    for (size_t first = 0; first < rows && status == CLO_OK; first += most) {
        const size_t count = rows - first < most ? rows - first : most;
        size_t here = 0;
        clo_i_table_rows(table, first, count, block);
        for (size_t t = 0; t < 2 && targets[t].flats.count > 0 && status == CLO_OK; t++)
            status = add_block(&targets[t], block, count, block + most * cols, &here, err);
        clo_i_table_forget(table, first, count);
        *counted += here;
    }
    clo_i_wipe_free(block, most * (cols + 1) * sizeof *block);
    return status;
}

static clo_status evaluate(const family *kind, const clo_release *release, const clo_table *table,
                           clo_matrix truth, target targets[2], clo_evaluation *result,
                           clo_error *err)
{
    const clo_flats *const released = &targets[0].flats, *const true_ones = &targets[1].flats;
    size_t counted = 0;
    CLO_TRY(kind->released(release, &targets[0], err));
    if (clo_table_cols(table) != released->cols)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "the release is about %zu columns, and the table has %zu: choose the "
                          "columns it was made from",
                          released->cols, clo_table_cols(table));
    if (truth.rows > 0) {
        CLO_TRY(kind->truth(released, truth, &targets[1], err));
        CLO_TRY(kind->apart(released, true_ones, &result->distance, err));
    }
    CLO_TRY(pass(table, targets, &counted, err));
    if (counted == 0)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "the table has no row without a bad cell: there is nothing to evaluate "
                          "on");
    result->cost = targets[0].sum / (double)counted;
    if (truth.rows > 0) result->truth_cost = targets[1].sum / (double)counted;
    return CLO_OK;
}

clo_status clo_evaluate(const clo_release *release, const clo_table *table, clo_matrix truth,
                        clo_evaluation *out, clo_error *err)
{
    clo_evaluation result = {
        .struct_size = sizeof result, .cost = NAN, .truth_cost = NAN, .distance = NAN
    };
    target targets[2] = { { .sum = 0 }, { .sum = 0 } };
    const family *kind = NULL;
    if (!release || !table || !out)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "a release, a table and a place for the result must be given");
    if (truth.rows > 0 && (!truth.data || truth.stride < truth.cols))
        return clo_i_fail(err, CLO_ARGUMENT,
                          "the truth must have data, and a stride of at least its columns");
    CLO_TRY(find_family(release, &kind, err));
    const clo_status status = evaluate(kind, release, table, truth, targets, &result, err);
    if (status == CLO_OK) *out = result;
    for (size_t t = 0; t < 2; t++) clo_i_free(targets[t].memory);
    return status;
}
