/*
 * evaluate_targets.c - from a release, a solution or a truth to flats.  Files come from anywhere:
 * arrays are copied, checked and their bases made orthonormal before anything is measured by them.
 */
#include "not_private/evaluate.h"
#include "linalg/linalg.h"
#include <math.h>
#include <string.h>

void clo_i_target_free(clo_target *target)
{
    clo_i_free(target->bases);
    clo_i_free(target->offsets);
    clo_i_free(target->scaled_bases);
    clo_i_free(target->scaled_offsets);
    target->bases = target->offsets = target->scaled_bases = target->scaled_offsets = NULL;
}

/* ---- matrices ------------------------------------------------------------ */

/* Whose fault it is where something is wrong. */
typedef struct source {
    const char *what; /* "the truth" */
    clo_status otherwise;
} source;

/* A dense copy of the matrix, whoever it belongs to. */
static clo_status copy_matrix(clo_matrix from, source whose, double **out, clo_error *err)
{
    double *copy = NULL;
    size_t count = 0;
    if (!clo_i_multiply(from.rows, from.cols, &count))
        return clo_i_fail(err, CLO_MEMORY, "a size is too large for this machine");
    CLO_TRY(clo_i_alloc(count, sizeof *copy, &copy, err));
    for (size_t i = 0; i < from.rows; i++)
        memcpy(copy + i * from.cols, from.data + i * from.stride, from.cols * sizeof *copy);
    for (size_t i = 0; i < count; i++)
        if (!isfinite(copy[i])) {
            clo_i_free(copy);
            return clo_i_fail(err, whose.otherwise, "%s must consist of finite numbers",
                              whose.what);
        }
    *out = copy;
    return CLO_OK;
}

/* Makes the columns orthonormal. A column that the earlier ones already span leaves a residual of
 * rounding errors alone, and its direction would be arbitrary. */
static clo_status make_basis(double *basis, size_t d, size_t q, source whose, clo_error *err)
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
            status = clo_i_fail(err, whose.otherwise,
                                "the %zu columns of %s are linearly dependent: they are no basis",
                                q, whose.what);
    }
    clo_i_free(given);
    return status;
}

size_t clo_i_own_dim(const double *basis, size_t d, size_t width)
{
    for (size_t q = width; q > 1; q--)
        for (size_t c = 0; c < d; c++)
            if (basis[c * width + q - 1] != 0) return q;
    return 1;
}

static void copy_columns(const double *from, size_t from_width, size_t d, size_t q, double *to,
                         size_t to_width)
{
    for (size_t c = 0; c < d; c++)
        for (size_t l = 0; l < q; l++) to[c * to_width + l] = from[c * from_width + l];
}

/* The same for k bases on top of each other, each with the columns that are its own. */
static clo_status make_bases(double *bases, size_t k, size_t d, size_t width, source whose,
                             clo_error *err)
{
    double *own = NULL;
    clo_status status = clo_i_alloc(d * width, sizeof *own, &own, err);
    for (size_t j = 0; j < k && status == CLO_OK; j++) {
        double *const basis = bases + j * d * width;
        const size_t q = clo_i_own_dim(basis, d, width);
        copy_columns(basis, width, d, q, own, q);
        status = make_basis(own, d, q, whose, err);
        copy_columns(own, q, d, q, basis, width);
    }
    clo_i_free(own);
    return status;
}

/* ---- releases ------------------------------------------------------------ */

static clo_status find_array(const clo_release *release, const char *name, size_t dimensions,
                             clo_array *out, clo_error *err)
{
    bool there = clo_release_find(release, name, out) && out->dimensions == dimensions;
    for (size_t i = 0; there && i < dimensions; i++) there = out->shape[i] >= 1;
    if (!there)
        return clo_i_fail(err, CLO_FORMAT, "the release has no array \"%s\" of %zu dimension%s",
                          name, dimensions, dimensions == 1 ? "" : "s");
    return CLO_OK;
}

static clo_matrix matrix_of(clo_array array)
{
    return (clo_matrix){ array.data, array.shape[0], array.shape[1], array.shape[1] };
}

/* Whether the lists of a release's sparse centres are lists of k centres with d columns. */
static bool are_lists(clo_array starts, clo_array columns, clo_array values, size_t d)
{
    const size_t k = starts.shape[0] - 1, entries = columns.shape[0];
    if (k < 1 || values.shape[0] != entries || starts.data[0] != 0) return false;
    for (size_t c = 0; c < k; c++)
        if (!(starts.data[c] <= starts.data[c + 1]) ||
            starts.data[c + 1] != floor(starts.data[c + 1]))
            return false;
    if (starts.data[k] != (double)entries) return false;
    for (size_t e = 0; e < entries; e++)
        if (!(columns.data[e] >= 0 && columns.data[e] < (double)d) ||
            columns.data[e] != floor(columns.data[e]) || !isfinite(values.data[e]))
            return false;
    return true;
}

static clo_status released_lists(const clo_release *release, clo_target *out, clo_error *err)
{
    clo_array starts, columns, values;
    const size_t d = clo_release_cols(release);
    size_t size = 0;
    CLO_TRY(find_array(release, "centers_starts", 1, &starts, err));
    CLO_TRY(find_array(release, "centers_columns", 1, &columns, err));
    CLO_TRY(find_array(release, "centers_values", 1, &values, err));
    if (!are_lists(starts, columns, values, d))
        return clo_i_fail(err, CLO_FORMAT, "the lists of the released centers do not fit together");
    const size_t k = starts.shape[0] - 1;
    if (!clo_i_multiply(k, d, &size))
        return clo_i_fail(err, CLO_MEMORY, "a size is too large for this machine");
    CLO_TRY(clo_i_alloc(size, sizeof *out->offsets, &out->offsets, err));
    for (size_t c = 0; c < k; c++)
        for (size_t e = (size_t)starts.data[c]; e < (size_t)starts.data[c + 1]; e++)
            out->offsets[c * d + (size_t)columns.data[e]] = values.data[e];
    out->flats = (clo_flats){ .count = k, .cols = d, .offsets = out->offsets };
    return CLO_OK;
}

static clo_status released_centers(const clo_release *release, clo_target *out, clo_error *err)
{
    const source whose = { "the released centers", CLO_FORMAT };
    clo_array centers;
    if (clo_release_find(release, "centers_starts", &centers))
        return released_lists(release, out, err);
    CLO_TRY(find_array(release, "centers", 2, &centers, err));
    CLO_TRY(copy_matrix(matrix_of(centers), whose, &out->offsets, err));
    out->flats =
        (clo_flats){ .count = centers.shape[0], .cols = centers.shape[1], .offsets = out->offsets };
    return CLO_OK;
}

static clo_status released_subspace(const clo_release *release, clo_target *out, clo_error *err)
{
    const source whose = { "the released basis", CLO_FORMAT };
    clo_array basis, center = { .data = NULL };
    CLO_TRY(find_array(release, "basis", 2, &basis, err));
    const size_t d = basis.shape[0], q = basis.shape[1];
    if (q > d) return clo_i_fail(err, CLO_FORMAT, "%s has more columns than rows", whose.what);
    if (clo_release_find(release, "center", &center)) {
        CLO_TRY(find_array(release, "center", 1, &center, err));
        if (center.shape[0] != d)
            return clo_i_fail(err, CLO_FORMAT,
                              "the released center must be %zu finite numbers, as the basis has "
                              "rows",
                              d);
        CLO_TRY(copy_matrix((clo_matrix){ center.data, 1, d, d },
                            (source){ "the released center", CLO_FORMAT }, &out->offsets, err));
    }
    CLO_TRY(copy_matrix(matrix_of(basis), whose, &out->bases, err));
    CLO_TRY(make_basis(out->bases, d, q, whose, err));
    out->one = true;
    out->flats = (clo_flats){
        .count = 1, .cols = d, .dim = q, .offsets = out->offsets, .bases = out->bases
    };
    return CLO_OK;
}

static clo_status released_subspaces(const clo_release *release, clo_target *out, clo_error *err)
{
    const source whose = { "a released basis", CLO_FORMAT };
    clo_array bases, offsets = { .data = NULL };
    CLO_TRY(find_array(release, "bases", 3, &bases, err));
    const size_t k = bases.shape[0], d = bases.shape[1], q = bases.shape[2];
    if (q > d) return clo_i_fail(err, CLO_FORMAT, "%s has more columns than rows", whose.what);
    if (clo_release_find(release, "offsets", &offsets)) {
        CLO_TRY(find_array(release, "offsets", 2, &offsets, err));
        if (offsets.shape[0] != k || offsets.shape[1] != d)
            return clo_i_fail(err, CLO_FORMAT,
                              "the released offsets must be %zu x %zu, as the bases are", k, d);
        CLO_TRY(copy_matrix(matrix_of(offsets), (source){ "the released offsets", CLO_FORMAT },
                            &out->offsets, err));
    }
    CLO_TRY(copy_matrix((clo_matrix){ bases.data, k * d, q, q }, whose, &out->bases, err));
    CLO_TRY(make_bases(out->bases, k, d, q, whose, err));
    out->flats = (clo_flats){
        .count = k, .cols = d, .dim = q, .offsets = out->offsets, .bases = out->bases
    };
    return CLO_OK;
}

clo_status clo_i_target_of_release(const clo_release *release, clo_target *out, clo_error *err)
{
    const char *const family = clo_release_family(release);
    out->what = "release";
    out->by_distance = family && strcmp(family, "kmedian") == 0;
    if (out->by_distance || (family && strcmp(family, "kmeans") == 0))
        return released_centers(release, out, err);
    if (family && strcmp(family, "subspace") == 0) return released_subspace(release, out, err);
    if (family && strcmp(family, "subspaces") == 0) return released_subspaces(release, out, err);
    return clo_i_fail(err, CLO_UNSUPPORTED,
                      "a release of the family \"%s\" has no clusters: use one of kmeans, "
                      "kmedian, subspace or subspaces",
                      family ? family : "");
}

/* ---- solutions ----------------------------------------------------------- */

clo_status clo_i_target_of_solution(const clo_solution *solution, clo_target *out, clo_error *err)
{
    const size_t k = clo_solution_clusters(solution), d = clo_solution_cols(solution);
    const clo_matrix offsets = clo_solution_offsets(solution);
    size_t width = 0;
    out->what = "solution";
    out->by_distance = strcmp(clo_solution_solver(solution), "kmedian") == 0;
    if (k < 1 || d < 1)
        return clo_i_fail(err, CLO_UNSUPPORTED,
                          "a solution of an affinity has only labels, so rows cannot be measured");
    for (size_t c = 0; c < k; c++) {
        const size_t dim = clo_solution_dim(solution, c);
        width = dim > width ? dim : width;
    }
    if (offsets.rows > 0)
        CLO_TRY(copy_matrix(offsets, (source){ "the solution", CLO_FORMAT }, &out->offsets, err));
    if (width > 0) {
        CLO_TRY(clo_i_alloc(k * d * width, sizeof *out->bases, &out->bases, err));
        for (size_t c = 0; c < k; c++) {
            const clo_matrix basis = clo_solution_basis(solution, c);
            if (basis.cols > 0)
                copy_columns(basis.data, basis.stride, d, basis.cols, out->bases + c * d * width,
                             width);
        }
    }
    out->flats = (clo_flats){
        .count = k, .cols = d, .dim = width, .offsets = out->offsets, .bases = out->bases
    };
    return CLO_OK;
}

/* ---- the truth ----------------------------------------------------------- */

static const source true_source = { "the truth", CLO_ARGUMENT };

static clo_status true_centers(const clo_target *result, clo_matrix truth, clo_target *out,
                               clo_error *err)
{
    const clo_flats *found = &result->raw;
    if (truth.rows != found->count || truth.cols != found->cols)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "the truth must be %zu centers of %zu columns, as the %s has, not a "
                          "%zu x %zu matrix",
                          found->count, found->cols, result->what, truth.rows, truth.cols);
    CLO_TRY(copy_matrix(truth, true_source, &out->offsets, err));
    out->by_distance = result->by_distance;
    out->flats = *found;
    out->flats.offsets = out->offsets;
    return CLO_OK;
}

/* The true directions are taken through the released centre, which is public and no estimate. */
static clo_status true_subspace(const clo_target *result, clo_matrix truth, clo_target *out,
                                clo_error *err)
{
    const clo_flats *found = &result->raw;
    if (truth.rows != found->cols || truth.cols != found->dim)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "the truth must be a %zu x %zu basis (columns of the data x dimension), "
                          "as the release has, not a %zu x %zu matrix",
                          found->cols, found->dim, truth.rows, truth.cols);
    CLO_TRY(copy_matrix(truth, true_source, &out->bases, err));
    CLO_TRY(make_basis(out->bases, truth.rows, truth.cols, true_source, err));
    out->flats = *found;
    out->flats.bases = out->bases;
    return CLO_OK;
}

static clo_status true_subspaces(const clo_target *result, clo_matrix truth, clo_target *out,
                                 clo_error *err)
{
    const size_t k = result->raw.count, d = result->raw.cols;
    if (truth.rows / d != k || truth.rows % d != 0 || truth.cols > d || truth.cols < 1)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "the truth must be the bases of %zu subspaces on top of each other, as "
                          "the %s has (%zu rows, at most %zu columns), not a %zu x %zu matrix",
                          k, result->what, k * d, d, truth.rows, truth.cols);
    CLO_TRY(copy_matrix(truth, true_source, &out->bases, err));
    CLO_TRY(make_bases(out->bases, k, d, truth.cols, true_source, err));
    out->flats = (clo_flats){ .count = k, .cols = d, .dim = truth.cols, .bases = out->bases };
    return CLO_OK;
}

clo_status clo_i_target_of_truth(const clo_target *result, clo_matrix truth, clo_matrix offsets,
                                 clo_target *out, clo_error *err)
{
    const clo_flats *found = &result->raw;
    if (result->one) return true_subspace(result, truth, out, err);
    if (found->dim == 0) return true_centers(result, truth, out, err);
    CLO_TRY(true_subspaces(result, truth, out, err));
    if (offsets.rows == 0) return CLO_OK;
    if (offsets.rows != found->count || offsets.cols != found->cols)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "the true offsets must be %zu points of %zu columns, not a %zu x %zu "
                          "matrix",
                          found->count, found->cols, offsets.rows, offsets.cols);
    CLO_TRY(copy_matrix(offsets, (source){ "the true offsets", CLO_ARGUMENT }, &out->offsets, err));
    out->flats.offsets = out->offsets;
    return CLO_OK;
}

/* ---- distances ----------------------------------------------------------- */

clo_status clo_i_flats_apart(const clo_flats *a, const clo_flats *b, double *distance,
                             double *largest_angle, clo_error *err)
{
    const size_t k = a->count, d = a->cols, p = a->dim, q = b->dim;
    const size_t width = p > q ? p : q;
    double *both = NULL;
    if (width == 0) return clo_i_centers_distance(a->offsets, b->offsets, k, d, distance, err);
    CLO_TRY(clo_i_alloc(2 * k * d * width, sizeof *both, &both, err));
    copy_columns(a->bases, p, k * d, p, both, width);
    copy_columns(b->bases, q, k * d, q, both + k * d * width, width);
    const clo_status status = clo_i_subspaces_compare(both, both + k * d * width, k, d, width,
                                                      distance, largest_angle, err);
    clo_i_free(both);
    return status;
}
