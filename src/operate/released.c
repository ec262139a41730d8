/*
 * released.c - from a release to flats (released.h).
 *
 * One row a family says which arrays hold the points and the bases of its clusters; all else is the
 * same for all of them.
 */
#include "operate/released.h"
#include "linalg/linalg.h"
#include "release/release.h"
#include <math.h>
#include <string.h>

typedef struct family {
    const char *name;
    const char *bases, *offsets; /* the names of the arrays; NULL: there is none */
    bool single;                 /* one basis, without a dimension for the cluster */
} family;

static const family families[] = {
    { "kmeans", NULL, "centers", false },
    { "subspace", "basis", "center", true },
    { "subspaces", "bases", "offsets", false },
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
                      "a release of the family \"%s\" has no clusters: kmeans, subspace and "
                      "subspaces have",
                      name ? name : "");
}

/* An array of so many dimensions and of finite numbers, copied. */
static clo_status copy_array(const clo_release *release, const char *name, size_t dimensions,
                             clo_array *array, double **out, clo_error *err)
{
    double *copy = NULL;
    size_t count = 1;
    if (!clo_release_find(release, name, array) || array->dimensions != dimensions)
        return clo_i_fail(err, CLO_FORMAT, "the release has no array \"%s\" of %zu dimension%s",
                          name, dimensions, dimensions == 1 ? "" : "s");
    for (size_t i = 0; i < dimensions; i++)
        if (array->shape[i] < 1 || !clo_i_multiply(count, array->shape[i], &count))
            return clo_i_fail(err, CLO_FORMAT, "the array \"%s\" of the release is empty", name);
    for (size_t i = 0; i < count; i++)
        if (!isfinite(array->data[i]))
            return clo_i_fail(err, CLO_FORMAT,
                              "the array \"%s\" of the release must consist of finite numbers",
                              name);
    CLO_TRY(clo_i_alloc(count, sizeof *copy, &copy, err));
    memcpy(copy, array->data, count * sizeof *copy);
    *out = copy;
    return CLO_OK;
}

static clo_status take_bases(const clo_release *release, const family *f, clo_i_released *r,
                             clo_error *err)
{
    clo_array array;
    CLO_TRY(copy_array(release, f->bases, f->single ? 2 : 3, &array, &r->bases, err));
    const size_t first = f->single ? 0 : 1;
    r->flats = (clo_flats){ .count = f->single ? 1 : array.shape[0],
                            .cols = array.shape[first],
                            .dim = array.shape[first + 1],
                            .bases = r->bases };
    if (r->flats.dim > r->flats.cols)
        return clo_i_fail(err, CLO_FORMAT, "the released %s has more columns than rows", f->bases);
    return CLO_OK;
}

/* Points: needed where there are no bases; otherwise of the bases' own shape. */
static clo_status take_offsets(const clo_release *release, const family *f, clo_i_released *r,
                               clo_error *err)
{
    clo_array array;
    if (r->bases && !clo_release_find(release, f->offsets, &array)) return CLO_OK;
    CLO_TRY(copy_array(release, f->offsets, f->single ? 1 : 2, &array, &r->offsets, err));
    const size_t count = f->single ? 1 : array.shape[0];
    const size_t cols = array.shape[f->single ? 0 : 1];
    if (!r->bases) r->flats = (clo_flats){ .count = count, .cols = cols };
    if (count != r->flats.count || cols != r->flats.cols)
        return clo_i_fail(err, CLO_FORMAT, "the released %s do not fit the bases", f->offsets);
    r->flats.offsets = r->offsets;
    return CLO_OK;
}

static clo_status take_scale(const clo_release *release, clo_i_released *r, clo_error *err)
{
    const clo_facts *const facts = &release->facts;
    if (!facts->lower || !facts->upper) return CLO_OK;
    if (facts->cols != r->flats.cols)
        return clo_i_fail(err, CLO_FORMAT, "the release has bounds of %zu columns, not of %zu",
                          facts->cols, r->flats.cols);
    CLO_TRY(clo_i_alloc(facts->cols, sizeof *r->scale, &r->scale, err));
    for (size_t j = 0; j < facts->cols; j++) {
        r->scale[j] = facts->upper[j] / 2 - facts->lower[j] / 2;
        if (!(r->scale[j] > 0 && isfinite(r->scale[j])))
            return clo_i_fail(err, CLO_FORMAT, "the bounds of column %zu of the release are none",
                              j + 1);
    }
    return CLO_OK;
}

/* Into the coordinates of the scale; bases become orthonormal there. */
static clo_status bring_to_scale(clo_i_released *r, clo_error *err)
{
    const size_t k = r->flats.count, d = r->flats.cols, q = r->flats.dim;
    for (size_t i = 0; r->scale && r->offsets && i < k * d; i++) r->offsets[i] /= r->scale[i % d];
    for (size_t i = 0; r->scale && r->bases && i < k * d * q; i++)
        r->bases[i] /= r->scale[i / q % d];
    for (size_t c = 0; r->bases && c < k; c++)
        CLO_TRY(clo_i_orthonormalize(r->bases + c * d * q, d, q, err));
    return CLO_OK;
}

clo_status clo_i_released_flats(const clo_release *release, clo_i_released *out, clo_error *err)
{
    clo_i_released r = { .bases = NULL };
    const family *f = NULL;
    CLO_TRY(find_family(release, &f, err));
    clo_status status = f->bases ? take_bases(release, f, &r, err) : CLO_OK;
    if (!status) status = take_offsets(release, f, &r, err);
    if (!status) status = take_scale(release, &r, err);
    if (!status) status = bring_to_scale(&r, err);
    if (status)
        clo_i_released_free(&r);
    else
        *out = r;
    return status;
}

void clo_i_released_free(clo_i_released *released)
{
    clo_i_free(released->offsets);
    clo_i_free(released->bases);
    clo_i_free(released->scale);
}
