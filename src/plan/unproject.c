/*
 * unproject.c - a release made in the coordinates of a subspace, back in the data's own.
 *
 * Frame and origin are public and the release is out, so this is post-processing.  It is done here,
 * once and by the names of the arrays, so that no mechanism knows whether its columns are those of
 * the table.
 */
#include "plan/unproject.h"
#include "domain/domain.h"
#include <string.h>

typedef enum meaning { NUMBERS, POINTS, DIRECTIONS } meaning;

static meaning meaning_of(const char *name)
{
    static const struct {
        const char *name;
        meaning meaning;
    } known[] = { { "centers", POINTS },
                  { "center", POINTS },
                  { "offsets", POINTS },
                  { "basis", DIRECTIONS },
                  { "bases", DIRECTIONS } };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].name, name) == 0) return known[i].meaning;
    return NUMBERS;
}

/* One cols x count matrix, of which each column is a vector in the frame's coordinates. */
static void lift_matrix(const clo_domain *domain, const double *seen, size_t count,
                        const double *origin, double *whole)
{
    for (size_t j = 0; j < domain->frame->rows; j++)
        for (size_t e = 0; e < count; e++) {
            double sum = 0;
            for (size_t i = 0; i < domain->cols; i++)
                sum += domain->frame->basis[j * domain->cols + i] * seen[i * count + e];
            whole[j * count + e] = sum + (origin ? origin[j] : 0);
        }
}

static clo_status lift_array(const clo_domain *domain, clo_array *array, clo_error *err)
{
    const meaning kind = meaning_of(array->name);
    const size_t along = array->dimensions - (kind == DIRECTIONS ? 2 : 1);
    const size_t count = kind == DIRECTIONS ? array->shape[along + 1] : 1;
    const double *const origin = kind == POINTS ? domain->frame->origin : NULL;
    double *whole = NULL;
    size_t matrices = 1, size;
    if (kind == NUMBERS) return CLO_OK;
    if (array->dimensions <= (kind == DIRECTIONS) || array->shape[along] != domain->cols)
        return clo_i_fail(err, CLO_INTERNAL, "the array \"%s\" cannot be lifted", array->name);
    for (size_t i = 0; i < along; i++) matrices *= array->shape[i];
    if (!clo_i_multiply(matrices * count, domain->frame->rows, &size))
        return clo_i_fail(err, CLO_MEMORY, "an array is too large for this machine");
    CLO_TRY(clo_i_alloc(size, sizeof *whole, &whole, err));
    for (size_t m = 0; m < matrices; m++)
        lift_matrix(domain, array->data + m * domain->cols * count, count, origin,
                    whole + m * domain->frame->rows * count);
    clo_i_free((void *)(uintptr_t)array->data);
    array->data = whole;
    array->shape[along] = domain->frame->rows;
    return CLO_OK;
}

/* A flat that went through the zero of the frame's coordinates goes through the origin. */
static clo_status add_points(const clo_domain *domain, clo_release *release, const char *flats,
                             const char *points, clo_error *err)
{
    const size_t d = domain->frame->rows;
    clo_array array;
    double *values = NULL;
    if (!clo_release_find(release, flats, &array)) return CLO_OK;
    const size_t dimensions = array.dimensions - 1, count = dimensions > 1 ? array.shape[0] : 1;
    const size_t shape[2] = { dimensions > 1 ? count : d, d };
    if (clo_release_find(release, points, &array)) return CLO_OK;
    CLO_TRY(clo_i_alloc(count * d, sizeof *values, &values, err));
    for (size_t c = 0; c < count; c++)
        memcpy(values + c * d, domain->frame->origin, d * sizeof *values);
    const clo_status status = clo_i_release_put(release, points, values, dimensions, shape, err);
    clo_i_free(values);
    return status;
}

/* Centres in the coordinates of a schema: numbers and shares (bound.T7). */
static clo_status lift_by_schema(const clo_schema *schema, clo_array *array, clo_error *err)
{
    double *whole = NULL;
    if (meaning_of(array->name) == NUMBERS) return CLO_OK;
    if (array->dimensions != 2 || array->shape[1] != schema->coords)
        return clo_i_fail(err, CLO_INTERNAL, "the array \"%s\" cannot be lifted", array->name);
    CLO_TRY(clo_i_alloc(array->shape[0] * schema->outputs, sizeof *whole, &whole, err));
    for (size_t c = 0; c < array->shape[0]; c++)
        clo_i_schema_point(schema, array->data + c * schema->coords, whole + c * schema->outputs);
    clo_i_free((void *)(uintptr_t)array->data);
    array->data = whole;
    array->shape[1] = schema->outputs;
    return CLO_OK;
}

clo_status clo_i_lift(const clo_domain *domain, clo_release *release, clo_error *err)
{
    for (size_t i = 0; domain->schema && i < release->count; i++)
        CLO_TRY(lift_by_schema(domain->schema, &release->arrays[i], err));
    if (!domain->frame) return CLO_OK;
    for (size_t i = 0; i < release->count; i++)
        CLO_TRY(lift_array(domain, &release->arrays[i], err));
    if (!domain->frame->origin) return CLO_OK;
    CLO_TRY(add_points(domain, release, "basis", "center", err));
    return add_points(domain, release, "bases", "offsets", err);
}
