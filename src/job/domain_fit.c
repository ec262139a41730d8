/*
 * domain_fit.c - what is publicly known, fitted to the columns: by their names where both sides
 * have names, by their places otherwise.
 */
#include "domain/domain.h"
#include "job/job.h"
#include <stdio.h>
#include <string.h>

enum { MOST_COLUMNS = 1 << 20 };

static const clo_i_bound *bound_named(const clo_i_spec *spec, const char *name)
{
    for (size_t i = 0; i < spec->bound_count; i++)
        if (spec->bounds[i].name && strcmp(spec->bounds[i].name, name) == 0)
            return &spec->bounds[i];
    return NULL;
}

/* The columns that have bounds, as a list to choose by; "" where there is none, or it is long. */
static void name_bounded(const clo_i_spec *spec, const clo_table *table, char *out, size_t size)
{
    size_t used = 0;
    out[0] = 0;
    for (size_t j = 0; j < clo_table_cols(table); j++) {
        const char *const name = clo_table_column_name(table, j);
        if (!name || !bound_named(spec, name)) continue;
        const int more = snprintf(out + used, size - used, "%s%s", used ? "," : "", name);
        if (more < 0 || used + (size_t)more >= size || strpbrk(name, ",()")) {
            out[0] = 0;
            return;
        }
        used += (size_t)more;
    }
}

static clo_status fail_unbounded(const clo_i_spec *spec, const clo_table *table, const char *name,
                                 clo_error *err)
{
    char bounded[200];
    name_bounded(spec, table, bounded, sizeof bounded);
    if (!bounded[0])
        return clo_i_fail(err, CLO_DOMAIN, "'%s' has no bounds for the column '%s'",
                          spec->bounds_file, name);
    (void)clo_i_fail(err, CLO_DOMAIN,
                     "'%s' has no bounds for the column '%s': add a line for it, or use only the "
                     "columns with bounds (columns %s)",
                     spec->bounds_file, name, bounded);
    return clo_i_advise(err, CLO_DOMAIN, "columns %s", bounded);
}

static clo_status bound_of_column(const clo_i_spec *spec, size_t cols, size_t column,
                                  const clo_table *table, const clo_i_bound **out, clo_error *err)
{
    const char *const name = table ? clo_table_column_name(table, column) : NULL;
    if (!spec->bounds_file) {
        *out = &spec->bounds[0];
        return CLO_OK;
    }
    if (name && spec->bounds[0].name) {
        *out = bound_named(spec, name);
        if (*out) return CLO_OK;
        return fail_unbounded(spec, table, name, err);
    }
    if (spec->bound_count != cols)
        return clo_i_fail(err, CLO_DOMAIN, "'%s' has bounds for %zu columns, but the data have %zu",
                          spec->bounds_file, spec->bound_count, cols);
    *out = &spec->bounds[column];
    return CLO_OK;
}

static clo_status fit_bounds(const clo_i_spec *spec, size_t cols, const clo_table *table,
                             double *ends, clo_domain *domain, clo_error *err)
{
    for (size_t j = 0; j < cols; j++) {
        const clo_i_bound *bound = NULL;
        CLO_TRY(bound_of_column(spec, cols, j, table, &bound, err));
        ends[j] = bound->lower;
        ends[cols + j] = bound->upper;
    }
    domain->lower = ends;
    domain->upper = ends + cols;
    return CLO_OK;
}

static clo_status read_bounds(clo_job *job, const char *text, const clo_table *table, double *ends,
                              clo_error *err)
{
    clo_domain domain = clo_domain_default();
    CLO_TRY(clo_i_bounds_read(job, text, &job->spec, err));
    domain.cols = clo_table_cols(table);
    CLO_TRY(fit_bounds(&job->spec, domain.cols, table, ends, &domain, err));
    return clo_domain_check(&domain, err);
}

clo_status clo_bounds_read(const char *text, const clo_table *table, double *lower, double *upper,
                           clo_error *err)
{
    clo_job *job = NULL;
    double *ends = NULL;
    if (!text || !table || !lower || !upper)
        return clo_i_fail(err, CLO_ARGUMENT, "bounds, a table and places for both must be given");
    const size_t cols = clo_table_cols(table);
    CLO_TRY(clo_job_new(&job, err));
    clo_status status = clo_i_alloc(2 * cols, sizeof *ends, &ends, err);
    if (!status) status = read_bounds(job, text, table, ends, err);
    for (size_t j = 0; j < cols && !status; j++) {
        lower[j] = ends[j];
        upper[j] = ends[cols + j];
    }
    clo_i_free(ends);
    clo_i_spec_clear(&job->spec);
    clo_job_free(job);
    return status;
}

static clo_status fit_center(const clo_job *job, size_t cols, clo_domain *domain, clo_error *err)
{
    if (job->spec.center_count != cols)
        return clo_i_job_fail(job, err, CLO_DOMAIN,
                              "@center has %zu entries, but the data have %zu columns",
                              job->spec.center_count, cols);
    domain->center = job->spec.center;
    return CLO_OK;
}

/* The frame is the caller's to free. */
static clo_status fit_projection(const clo_job *job, size_t cols, const clo_table *table,
                                 clo_domain *domain, clo_frame **frame, clo_error *err)
{
    const clo_i_spec *const spec = &job->spec;
    const size_t own = clo_release_cols(spec->subspace);
    if (own != cols)
        return clo_i_job_fail(job, err, CLO_DOMAIN,
                              "@project: '%s' is a subspace of %zu columns, but the data have %zu",
                              spec->project, own, cols);
    for (size_t j = 0; table && j < cols; j++) {
        const char *const theirs = clo_release_column_name(spec->subspace, j);
        const char *const here = clo_table_column_name(table, j);
        if (theirs && here && strcmp(theirs, here) != 0)
            return clo_i_job_fail(
                job, err, CLO_DOMAIN,
                "@project: column %zu of '%s' is '%.60s', but that of the data is '%.60s'", j + 1,
                spec->project, theirs, here);
    }
    CLO_TRY(clo_frame_of_release(spec->subspace, frame, err));
    return clo_domain_project(domain, *frame, err);
}

/* The schema of these columns: the table's own, where it was read with one. */
static clo_status fit_schema(const clo_job *job, size_t cols, const clo_table *table,
                             clo_domain *domain, clo_schema **out, clo_error *err)
{
    const clo_schema *const own = table ? clo_table_schema(table) : NULL;
    const char **names = NULL;
    if (own) return clo_domain_describe(domain, own, err);
    if (table && cols && clo_table_column_name(table, 0)) {
        CLO_TRY(clo_i_alloc(cols, sizeof *names, &names, err));
        for (size_t j = 0; j < cols; j++) names[j] = clo_table_column_name(table, j);
    }
    clo_status status = clo_schema_select(job->spec.schema, names, cols, out, err);
    if (!status) status = clo_domain_describe(domain, *out, err);
    clo_i_free(names);
    return status;
}

/* ends: room for both ends of every column. */
static clo_status fit(const clo_job *job, size_t cols, const clo_table *table, double *ends,
                      clo_domain *out, clo_error *err)
{
    const clo_i_spec *const spec = &job->spec;
    clo_domain domain = clo_domain_default();
    domain.relation = spec->relation;
    domain.cols = cols;
    domain.norm = spec->norm;
    domain.rows = spec->rows;
    domain.rows_per_unit = spec->rows_per_unit ? spec->rows_per_unit : 1;
    domain.unit = spec->unit ? spec->unit : spec->rows_per_unit ? "unit" : NULL;
    if (spec->bounds) CLO_TRY(fit_bounds(spec, cols, table, ends, &domain, err));
    if (spec->center) CLO_TRY(fit_center(job, cols, &domain, err));
    clo_frame *frame = NULL;
    clo_schema *schema = NULL;
    clo_status status = CLO_OK;
    if (spec->schema) status = fit_schema(job, cols, table, &domain, &schema, err);
    if (!status && spec->subspace) status = fit_projection(job, cols, table, &domain, &frame, err);
    if (!status) status = clo_domain_check(&domain, err);
    if (!status) status = clo_i_domain_copy(&domain, out, err);
    clo_frame_free(frame);
    clo_schema_free(schema);
    return status;
}

clo_status clo_i_spec_fit(const clo_job *job, size_t cols, const clo_table *table, clo_domain *out,
                          clo_error *err)
{
    double *ends = NULL;
    if (cols < 1 || cols > MOST_COLUMNS)
        return clo_i_fail(err, CLO_DOMAIN, "the number of columns must be between 1 and %d",
                          MOST_COLUMNS);
    if (job->has_domain) {
        clo_domain domain = job->given_domain;
        domain.rows = job->spec.rows;
        return clo_i_domain_copy(&domain, out, err);
    }
    CLO_TRY(clo_i_alloc(2 * cols, sizeof *ends, &ends, err));
    const clo_status status = fit(job, cols, table, ends, out, err);
    clo_i_free(ends);
    return status;
}
