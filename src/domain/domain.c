/* domain.c - what is publicly known of the data: checks, copies, and the change of coordinates
 * between the data's own units and the ball that the mechanisms work in. */
#include "domain/domain.h"
#include <math.h>
#include <string.h>

enum { MOST_ROWS_PER_UNIT = 1 << 20 };

void clo_domain_init(clo_domain *domain, size_t size)
{
    const clo_domain presets = { .relation = CLO_REPLACE, .rows_per_unit = 1 };
    clo_i_give_presets(domain, size, &presets, sizeof presets);
}

const char *clo_relation_name(clo_relation relation)
{
    return relation == CLO_REPLACE ? "replace" : relation == CLO_ADD_REMOVE ? "add-remove" : "?";
}

clo_status clo_i_domain_take(const clo_domain *given, clo_domain *out, clo_error *err)
{
    clo_domain full = clo_domain_default();
    CLO_TRY(clo_i_take_options("clo_domain", given, &full, sizeof full, err));
    *out = full;
    return CLO_OK;
}

static clo_status check_bounds(const clo_domain *domain, clo_error *err)
{
    for (size_t j = 0; j < domain->cols; j++) {
        const double lower = domain->lower[j], upper = domain->upper[j];
        if (!isfinite(lower) || !isfinite(upper) || !(lower < upper) || !isfinite(upper - lower))
            return clo_i_fail(err, CLO_DOMAIN,
                              "the bounds of column %zu must be finite, the lower below the upper",
                              j + 1);
    }
    return CLO_OK;
}

/* The rows of a unit that are kept may differ: both releases are for all that a unit has. */
static clo_status check_what_is_hidden(const clo_domain *domain, clo_error *err)
{
    const char *const theirs = domain->frame->unit, *const here = domain->unit;
    const clo_relation relation = domain->frame->relation;
    if (!relation) return CLO_OK;
    if (relation != domain->relation)
        return clo_i_fail(err, CLO_DOMAIN,
                          "the subspace to project on was released under %s, and this run would "
                          "be under %s: use the same relation for both",
                          clo_relation_name(relation), clo_relation_name(domain->relation));
    if (!theirs != !here || (theirs && strcmp(theirs, here) != 0))
        return clo_i_fail(err, CLO_DOMAIN,
                          "the subspace to project on protects %s%.60s%s, and this run would "
                          "protect %s%.60s%s: use the same unit for both",
                          theirs ? "a '" : "a ", theirs ? theirs : "row", theirs ? "'" : "",
                          here ? "a '" : "a ", here ? here : "row", here ? "'" : "");
    return CLO_OK;
}

static clo_status check_frame(const clo_domain *domain, clo_error *err)
{
    if (domain->lower || domain->center)
        return clo_i_fail(err, CLO_DOMAIN,
                          "a frame excludes column bounds and a center: give the norm in the "
                          "coordinates of the frame");
    if (domain->frame->cols != domain->cols)
        return clo_i_fail(err, CLO_DOMAIN,
                          "a frame of %zu coordinates needs a domain of as many columns, not %zu",
                          domain->frame->cols, domain->cols);
    return check_what_is_hidden(domain, err);
}

static clo_status check_schema(const clo_domain *domain, clo_error *err)
{
    const clo_schema *const schema = domain->schema;
    if (domain->lower || domain->center || domain->frame)
        return clo_i_fail(err, CLO_DOMAIN,
                          "a schema excludes column bounds, a center and a projection");
    if (domain->cols != schema->coords || domain->norm != schema->radius)
        return clo_i_fail(err, CLO_DOMAIN,
                          "a schema of %zu coordinates and radius %g needs a domain of as many "
                          "columns and this norm (clo_domain_describe)",
                          schema->coords, schema->radius);
    return CLO_OK;
}

clo_status clo_domain_check(const clo_domain *given, clo_error *err)
{
    clo_domain full;
    const clo_domain *const domain = &full;
    CLO_TRY(clo_i_domain_take(given, &full, err));
    if (domain->relation != CLO_REPLACE && domain->relation != CLO_ADD_REMOVE)
        return clo_i_fail(err, CLO_DOMAIN, "the relation must be replace or add-remove");
    if (domain->cols < 1 || domain->cols > CLO_MOST_COLUMNS)
        return clo_i_fail(err, CLO_DOMAIN,
                          "the number of columns must be between 1 and %d, not %zu",
                          (int)CLO_MOST_COLUMNS, domain->cols);
    if (!domain->lower != !domain->upper)
        return clo_i_fail(err, CLO_DOMAIN, "column bounds need both their lower and upper ends");
    if (!isfinite(domain->norm) || domain->norm < 0)
        return clo_i_fail(err, CLO_DOMAIN, "the norm must be a finite number above 0, not %g",
                          domain->norm);
    if (domain->norm == 0 && !domain->lower)
        return clo_i_fail(err, CLO_DOMAIN,
                          "give a public norm or public bounds: without them no amount of noise "
                          "is enough");
    if (domain->norm > 0 && (domain->norm < 1e-150 || domain->norm > 1e150))
        return clo_i_fail(err, CLO_DOMAIN, "the norm must be between 1e-150 and 1e150, not %g",
                          domain->norm);
    if (domain->center && domain->lower)
        return clo_i_fail(err, CLO_DOMAIN,
                          "a center and column bounds exclude each other: bounds already have a "
                          "middle");
    if (domain->rows_per_unit < 1 || domain->rows_per_unit > MOST_ROWS_PER_UNIT)
        return clo_i_fail(err, CLO_DOMAIN, "the rows of a unit must be between 1 and %d",
                          (int)MOST_ROWS_PER_UNIT);
    if (domain->rows_per_unit > 1 && !domain->unit)
        return clo_i_fail(err, CLO_DOMAIN, "rows per unit need a unit: name the column of persons");
    if (domain->center)
        for (size_t j = 0; j < domain->cols; j++)
            if (!isfinite(domain->center[j]))
                return clo_i_fail(err, CLO_DOMAIN, "entry %zu of the center is not finite", j + 1);
    if (domain->schema) CLO_TRY(check_schema(domain, err));
    if (domain->frame) return check_frame(domain, err);
    return domain->lower ? check_bounds(domain, err) : CLO_OK;
}

size_t clo_i_domain_table_cols(const clo_domain *domain)
{
    return domain->schema  ? clo_i_schema_cells(domain->schema)
           : domain->frame ? domain->frame->rows
                           : domain->cols;
}

size_t clo_domain_columns(const clo_domain *domain)
{
    clo_domain full;
    if (clo_i_domain_take(domain, &full, NULL)) return 0;
    return full.schema ? clo_schema_outputs(full.schema) : clo_i_domain_table_cols(&full);
}

double clo_i_domain_radius(const clo_domain *domain)
{
    return domain->norm > 0 ? domain->norm : sqrt((double)domain->cols);
}

clo_i_axis clo_i_domain_axis(const clo_domain *domain, size_t j)
{
    if (!domain->lower) return (clo_i_axis){ 1, domain->center ? domain->center[j] : 0 };
    return (clo_i_axis){ domain->upper[j] / 2 - domain->lower[j] / 2,
                         domain->lower[j] / 2 + domain->upper[j] / 2 };
}

void clo_i_domain_map(const clo_domain *domain, double *scale, double *center)
{
    for (size_t j = 0; j < domain->cols; j++) {
        const clo_i_axis axis = clo_i_domain_axis(domain, j);
        scale[j] = axis.scale;
        center[j] = axis.center;
    }
}

void clo_i_domain_unmap_point(const clo_domain *domain, double *point)
{
    const double radius = clo_i_domain_radius(domain);
    for (size_t j = 0; j < domain->cols; j++) {
        const clo_i_axis axis = clo_i_domain_axis(domain, j);
        point[j] = axis.center + point[j] * radius * axis.scale;
    }
}

static bool equal_arrays(const double *a, const double *b, size_t count)
{
    if (!a || !b) return !a && !b;
    for (size_t i = 0; i < count; i++)
        if (a[i] != b[i]) return false;
    return true;
}

static bool equal_texts(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool equal_frames(const clo_frame *a, const clo_frame *b)
{
    if (!a || !b) return !a && !b;
    return a->rows == b->rows && a->cols == b->cols &&
           equal_arrays(a->basis, b->basis, a->rows * a->cols) &&
           equal_arrays(a->origin, b->origin, a->rows);
}

static bool equal_schemas(const clo_schema *a, const clo_schema *b)
{
    if (!a || !b) return !a && !b;
    return strcmp(a->own, b->own) == 0 && strcmp(a->digest, b->digest) == 0;
}

bool clo_i_domain_equal(const clo_domain *a, const clo_domain *b)
{
    return a->relation == b->relation && a->cols == b->cols && a->norm == b->norm &&
           a->rows == b->rows && a->rows_per_unit == b->rows_per_unit &&
           equal_texts(a->unit, b->unit) && equal_arrays(a->lower, b->lower, a->cols) &&
           equal_arrays(a->upper, b->upper, a->cols) &&
           equal_arrays(a->center, b->center, a->cols) && equal_frames(a->frame, b->frame) &&
           equal_schemas(a->schema, b->schema);
}

static clo_status copy_array(const double *values, size_t count, const double **out, clo_error *err)
{
    double *copy = NULL;
    if (!values) return CLO_OK;
    CLO_TRY(clo_i_alloc(count, sizeof *copy, &copy, err));
    memcpy(copy, values, count * sizeof *copy);
    *out = copy;
    return CLO_OK;
}

clo_status clo_i_domain_copy(const clo_domain *domain, clo_domain *out, clo_error *err)
{
    clo_domain full;
    CLO_TRY(clo_i_domain_take(domain, &full, err));
    clo_domain copy = full;
    clo_status status = CLO_OK;
    char *unit = NULL;
    copy.lower = copy.upper = copy.center = NULL;
    copy.frame = NULL;
    copy.schema = NULL;
    copy.unit = NULL;
    if (full.unit) CLO_TRY(clo_i_copy_text(full.unit, &unit, err));
    copy.unit = unit;
    if ((status = copy_array(full.lower, full.cols, &copy.lower, err)) ||
        (status = copy_array(full.upper, full.cols, &copy.upper, err)) ||
        (status = copy_array(full.center, full.cols, &copy.center, err)) ||
        (status = full.frame ? clo_i_frame_copy(full.frame, &copy.frame, err) : CLO_OK)) {
        clo_i_domain_clear(&copy);
        return status;
    }
    copy.schema = clo_i_schema_keep(full.schema);
    *out = copy;
    return CLO_OK;
}

void clo_i_domain_clear(clo_domain *domain)
{
    clo_i_free((void *)(uintptr_t)domain->lower);
    clo_i_free((void *)(uintptr_t)domain->upper);
    clo_i_free((void *)(uintptr_t)domain->center);
    clo_i_free((void *)(uintptr_t)domain->unit);
    clo_frame_free((clo_frame *)(uintptr_t)domain->frame);
    domain->lower = domain->upper = domain->center = NULL;
    domain->unit = NULL;
    clo_schema_free((clo_schema *)(uintptr_t)domain->schema);
    domain->frame = NULL;
    domain->schema = NULL;
}

clo_status clo_domain_describe(clo_domain *domain, const clo_schema *schema, clo_error *err)
{
    clo_domain seen;
    CLO_TRY(clo_i_domain_take(domain, &seen, err));
    if (domain->struct_size < offsetof(clo_domain, schema) + sizeof domain->schema)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "a clo_domain of this length has no place for a schema");
    seen.cols = schema->coords;
    seen.norm = schema->radius;
    seen.schema = schema;
    CLO_TRY(clo_domain_check(&seen, err));
    domain->cols = seen.cols;
    domain->norm = seen.norm;
    domain->schema = schema;
    return CLO_OK;
}

clo_status clo_domain_project(clo_domain *domain, const clo_frame *frame, clo_error *err)
{
    clo_domain seen;
    CLO_TRY(clo_i_domain_take(domain, &seen, err));
    if (domain->struct_size < offsetof(clo_domain, frame) + sizeof domain->frame)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "a clo_domain of this length has no place for a frame");
    seen.cols = frame->cols;
    seen.frame = frame;
    if (seen.norm > 0) CLO_TRY(clo_domain_check(&seen, err));
    domain->cols = seen.cols;
    domain->frame = frame;
    return CLO_OK;
}
