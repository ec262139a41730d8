/*
 * domain_settings.c - what the caller says is publicly known of the data, and what the run is to
 * learn of it first: read and doubted before the data are.
 */
#include "job/job.h"
#include <string.h>

/* ---- what is learnt first -------------------------------------------------- */

/* A setting that says something about what is not learnt is a mistake. */
static clo_status refuse_idle(const clo_job *job, const clo_i_spec *spec, clo_error *err)
{
    static const struct {
        clo_i_setting setting;
        bool norm, center;
    } rows[] = { { CLO_SET_NORM_AT_MOST, true, true },
                 { CLO_SET_NORM_QUANTILE, true, false },
                 { CLO_SET_SHARE_NORM, true, false },
                 { CLO_SET_SHARE_CENTER, false, true } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *const name = clo_job_setting(rows[i].setting)->name;
        if (!clo_i_job_value(job, rows[i].setting)) continue;
        if ((rows[i].norm && spec->learning.norm) || (rows[i].center && spec->learning.center))
            continue;
        if (!rows[i].center)
            return clo_i_job_fail(job, err, CLO_ARGUMENT, "@%s needs @norm private", name);
        if (!rows[i].norm)
            return clo_i_job_fail(job, err, CLO_ARGUMENT, "@%s needs @center private", name);
        return clo_i_job_fail(job, err, CLO_ARGUMENT, "@%s needs @norm private or @center private",
                              name);
    }
    return CLO_OK;
}

static clo_status read_learning(clo_job *job, clo_i_spec *spec, clo_error *err)
{
    double most = 0;
    spec->learning = clo_learning_default();
    spec->learning.norm = clo_i_job_says(job, CLO_SET_NORM, "private");
    spec->learning.center = clo_i_job_says(job, CLO_SET_CENTER, "private");
    spec->learns = spec->learning.norm || spec->learning.center;
    CLO_TRY(refuse_idle(job, spec, err));
    if (!spec->learns) return CLO_OK;
    CLO_TRY(clo_i_job_positive(job, CLO_SET_NORM_AT_MOST, &most, err));
    CLO_TRY(clo_i_job_positive(job, CLO_SET_NORM_QUANTILE, &spec->learning.quantile, err));
    CLO_TRY(clo_i_job_positive(job, CLO_SET_SHARE_NORM, &spec->learning.norm_share, err));
    CLO_TRY(clo_i_job_positive(job, CLO_SET_SHARE_CENTER, &spec->learning.center_share, err));
    if (most > 0) {
        spec->learning.norm_about = spec->norm; /* 0 where that is private, too */
        spec->norm = most;
    }
    if (spec->norm > 0 || spec->bounds) return CLO_OK;
    clo_i_job_advise(job, CLO_ADVICE_SET,
                     "norm-at-most 1000, or another radius that no record can exceed; a generous "
                     "one costs little");
    return clo_i_job_fail(job, err, CLO_DOMAIN,
                          "@norm private needs a generous public radius that no record can "
                          "exceed: give @norm-at-most MAX, or @bounds");
}

/* ---- the subspace to project on -------------------------------------------- */

static clo_status check_subspace(const clo_job *job, const clo_i_spec *spec, const char *path,
                                 const clo_release *release, clo_error *err)
{
    clo_array basis;
    if (strcmp(clo_release_family(release), "subspace") != 0)
        return clo_i_job_fail(job, err, CLO_ARGUMENT,
                              "@project needs a release of the family subspace, but '%s' is one "
                              "of %s",
                              path, clo_release_family(release));
    if (!clo_release_find(release, "basis", &basis))
        return clo_i_job_fail(job, err, CLO_ARGUMENT,
                              "@project: '%s' has no subspace, because its run found none", path);
    if (!clo_release_is_private(release) && !clo_i_job_value(job, CLO_SET_SEED))
        return clo_i_job_fail(
            job, err, CLO_ARGUMENT,
            "@project: '%s' is not private, so this run would not be private either", path);
    if (clo_release_relation(release) != spec->relation)
        return clo_i_job_fail(
            job, err, CLO_DOMAIN,
            "@project: '%s' was released under %s, and this run would be under %s: use the same "
            "@relation for both",
            path, clo_relation_name(clo_release_relation(release)),
            clo_relation_name(spec->relation));
    if (spec->bounds || spec->center || spec->learning.center)
        return clo_i_job_fail(
            job, err, CLO_DOMAIN,
            "@project excludes @bounds and @center: give @norm R, a public radius within the "
            "subspace");
    return CLO_OK;
}

static clo_status read_projection(const clo_job *job, clo_i_spec *spec, clo_error *err)
{
    spec->project = clo_i_job_value(job, CLO_SET_PROJECT);
    if (!spec->project) return CLO_OK;
    CLO_TRY(clo_release_read(spec->project, &spec->subspace, err));
    return check_subspace(job, spec, spec->project, spec->subspace, err);
}

/* ---- the schema ------------------------------------------------------------ */

/* What the schema states is stated once. */
static clo_status refuse_beside_schema(const clo_job *job, clo_error *err)
{
    static const clo_i_setting stated[] = { CLO_SET_NORM,         CLO_SET_BOUNDS,  CLO_SET_CENTER,
                                            CLO_SET_NORM_AT_MOST, CLO_SET_PROJECT, CLO_SET_FILL,
                                            CLO_SET_TEXT_COLUMNS, CLO_SET_MISSING };
    for (size_t i = 0; i < sizeof stated / sizeof *stated; i++)
        if (clo_i_job_value(job, stated[i]))
            return clo_i_job_fail(job, err, CLO_ARGUMENT,
                                  "@%s and @schema exclude each other: state it in the schema",
                                  clo_job_setting(stated[i])->name);
    return CLO_OK;
}

/* A person, a relation and numbers that the command states too must be the same. */
static clo_status take_facts(const clo_job *job, clo_i_spec *spec, clo_error *err)
{
    const clo_schema *const schema = spec->schema;
    const char *const person = clo_schema_person(schema);
    const char *const relation = clo_schema_relation(schema);
    const uint64_t each = clo_schema_rows_per_person(schema), rows = clo_schema_rows(schema);
    if (relation && clo_i_job_value(job, CLO_SET_RELATION) &&
        !clo_i_job_says(job, CLO_SET_RELATION, relation))
        return clo_i_job_fail(job, err, CLO_DOMAIN, "@relation is not the schema's, which is %s",
                              relation);
    if (person && spec->unit && strcmp(person, spec->unit) != 0)
        return clo_i_job_fail(job, err, CLO_DOMAIN,
                              "@unit is '%.60s', but the schema names its persons in '%.60s'",
                              spec->unit, person);
    if (each && spec->rows_per_unit && each != spec->rows_per_unit)
        return clo_i_job_fail(job, err, CLO_DOMAIN,
                              "@rows-per-unit is %llu, but the schema states %llu",
                              (unsigned long long)spec->rows_per_unit, (unsigned long long)each);
    if (relation && strcmp(relation, clo_relation_name(CLO_ADD_REMOVE)) == 0)
        spec->relation = CLO_ADD_REMOVE;
    if (person) spec->unit = person;
    if (each) spec->rows_per_unit = each;
    /* Under replace, with one row a record, a run counts them itself. */
    if (!spec->rows && (spec->relation != CLO_REPLACE || spec->unit)) spec->rows = rows;
    return CLO_OK;
}

static clo_status read_schema(const clo_job *job, clo_i_spec *spec, clo_error *err)
{
    const char *const path = clo_i_job_value(job, CLO_SET_SCHEMA);
    if (!path) return CLO_OK;
    CLO_TRY(refuse_beside_schema(job, err));
    CLO_TRY(clo_schema_read(path, &spec->schema, err));
    return take_facts(job, spec, err);
}

/* ---- all of it ------------------------------------------------------------- */

static clo_status read_counts(const clo_job *job, clo_i_spec *spec, clo_error *err)
{
    spec->unit = clo_i_job_value(job, CLO_SET_UNIT);
    CLO_TRY(clo_i_job_whole(job, CLO_SET_ROWS, &spec->rows, err));
    return clo_i_job_whole(job, CLO_SET_ROWS_PER_UNIT, &spec->rows_per_unit, err);
}

static clo_status read_ball(clo_job *job, clo_i_spec *spec, clo_error *err)
{
    const char *const norm = clo_i_job_value(job, CLO_SET_NORM);
    const char *const bounds = clo_i_job_value(job, CLO_SET_BOUNDS);
    const char *const center = clo_i_job_value(job, CLO_SET_CENTER);
    if (spec->schema) return CLO_OK;
    if (!norm && !bounds && !clo_i_job_value(job, CLO_SET_NORM_AT_MOST)) {
        clo_i_job_advise(job, CLO_ADVICE_BOUNDS, "%s", "");
        return clo_i_job_fail(
            job, err, CLO_DOMAIN,
            "give @bounds or @norm: the range that values can have, from public knowledge and "
            "never from the data; it decides how much noise is needed");
    }
    if (norm && strcmp(norm, "private") != 0)
        CLO_TRY(clo_i_job_positive(job, CLO_SET_NORM, &spec->norm, err));
    if (bounds && center)
        return clo_i_job_fail(job, err, CLO_DOMAIN,
                              "@center and @bounds exclude each other: bounds already have a "
                              "middle");
    if (bounds) CLO_TRY(clo_i_bounds_read(job, bounds, spec, err));
    if (center && strcmp(center, "private") != 0)
        CLO_TRY(clo_i_job_list(job, CLO_SET_CENTER, &spec->center, &spec->center_count, err));
    return CLO_OK;
}

/* A domain that was given whole leaves nothing to say about it. */
static clo_status take_given(const clo_job *job, clo_i_spec *spec, clo_error *err)
{
    static const clo_i_setting replaced[] = {
        CLO_SET_RELATION,     CLO_SET_NORM,          CLO_SET_BOUNDS,        CLO_SET_CENTER,
        CLO_SET_NORM_AT_MOST, CLO_SET_NORM_QUANTILE, CLO_SET_SHARE_NORM,    CLO_SET_SHARE_CENTER,
        CLO_SET_PROJECT,      CLO_SET_ROWS,          CLO_SET_ROWS_PER_UNIT, CLO_SET_UNIT,
        CLO_SET_SCHEMA
    };
    const clo_domain *const given = &job->given_domain;
    for (size_t i = 0; i < sizeof replaced / sizeof *replaced; i++)
        if (clo_i_job_value(job, replaced[i]))
            return clo_i_job_fail(job, err, CLO_ARGUMENT,
                                  "@%s and a whole domain exclude each other",
                                  clo_job_setting(replaced[i])->name);
    spec->relation = given->relation;
    spec->rows = given->rows;
    spec->rows_per_unit = given->unit ? given->rows_per_unit : 0;
    spec->unit = given->unit;
    return CLO_OK;
}

clo_status clo_i_spec_read(clo_job *job, clo_error *err)
{
    clo_i_spec *const spec = &job->spec;
    clo_i_spec_clear(spec);
    if (job->has_domain) return take_given(job, spec, err);
    CLO_TRY(read_counts(job, spec, err));
    if (clo_i_job_says(job, CLO_SET_RELATION, clo_relation_name(CLO_ADD_REMOVE)))
        spec->relation = CLO_ADD_REMOVE;
    CLO_TRY(read_schema(job, spec, err));
    CLO_TRY(read_ball(job, spec, err));
    CLO_TRY(read_learning(job, spec, err));
    return read_projection(job, spec, err);
}

void clo_i_spec_clear(clo_i_spec *spec)
{
    for (size_t i = 0; i < spec->bound_count; i++) clo_i_free(spec->bounds[i].name);
    clo_i_free(spec->bounds);
    clo_i_free(spec->center);
    clo_release_free(spec->subspace);
    clo_schema_free(spec->schema);
    *spec = (clo_i_spec){ .relation = CLO_REPLACE };
}
