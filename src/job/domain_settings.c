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
        const char *name;
        bool norm, center;
    } rows[] = { { "norm-at-most", true, true },
                 { "norm-quantile", true, false },
                 { "share-norm", true, false },
                 { "share-center", false, true } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!clo_i_job_value(job, rows[i].name)) continue;
        if ((rows[i].norm && spec->learning.norm) || (rows[i].center && spec->learning.center))
            continue;
        if (!rows[i].center)
            return clo_i_job_fail(job, err, CLO_ARGUMENT, "@%s needs @norm private", rows[i].name);
        if (!rows[i].norm)
            return clo_i_job_fail(job, err, CLO_ARGUMENT, "@%s needs @center private",
                                  rows[i].name);
        return clo_i_job_fail(job, err, CLO_ARGUMENT, "@%s needs @norm private or @center private",
                              rows[i].name);
    }
    return CLO_OK;
}

static clo_status read_learning(clo_job *job, clo_i_spec *spec, clo_error *err)
{
    double most = 0;
    spec->learning = clo_learning_default();
    spec->learning.norm = clo_i_job_says(job, "norm", "private");
    spec->learning.center = clo_i_job_says(job, "center", "private");
    spec->learns = spec->learning.norm || spec->learning.center;
    CLO_TRY(refuse_idle(job, spec, err));
    if (!spec->learns) return CLO_OK;
    CLO_TRY(clo_i_job_positive(job, "norm-at-most", &most, err));
    CLO_TRY(clo_i_job_positive(job, "norm-quantile", &spec->learning.quantile, err));
    CLO_TRY(clo_i_job_positive(job, "share-norm", &spec->learning.norm_share, err));
    CLO_TRY(clo_i_job_positive(job, "share-center", &spec->learning.center_share, err));
    if (most > 0) {
        spec->learning.norm_about = spec->norm; /* 0 where that is private, too */
        spec->norm = most;
    }
    if (spec->norm > 0 || spec->bounds) return CLO_OK;
    clo_i_job_advise(job, CLO_ADVICE_SET,
                     "norm-at-most 1000, or whatever no record can exceed; too much costs little");
    return clo_i_job_fail(job, err, CLO_DOMAIN,
                          "@norm private needs a public radius to look under: give @norm-at-most "
                          "MAX, or @bounds");
}

/* ---- the subspace to project on -------------------------------------------- */

static clo_status check_subspace(const clo_job *job, const clo_i_spec *spec, const char *path,
                                 const clo_release *release, clo_error *err)
{
    clo_array basis;
    if (strcmp(clo_release_family(release), "subspace") != 0)
        return clo_i_job_fail(job, err, CLO_ARGUMENT,
                              "@project wants a release of the family subspace; '%s' is one of %s",
                              path, clo_release_family(release));
    if (!clo_release_find(release, "basis", &basis))
        return clo_i_job_fail(job, err, CLO_ARGUMENT,
                              "@project: the run behind '%s' found no subspace to project on",
                              path);
    if (!clo_release_is_private(release) && !clo_i_job_value(job, "seed"))
        return clo_i_job_fail(
            job, err, CLO_ARGUMENT,
            "@project: '%s' is not private, and nothing that is made of it would be", path);
    if (clo_release_relation(release) != spec->relation)
        return clo_i_job_fail(
            job, err, CLO_DOMAIN,
            "@project: '%s' was released under %s, and this run would be under %s: two losses add "
            "up only under one relation",
            path, clo_relation_name(clo_release_relation(release)),
            clo_relation_name(spec->relation));
    if (spec->bounds || spec->center || spec->learning.center)
        return clo_i_job_fail(
            job, err, CLO_DOMAIN,
            "@project excludes @bounds and @center: @norm R says how far the records reach in the "
            "subspace, from its centre");
    return CLO_OK;
}

static clo_status read_projection(const clo_job *job, clo_i_spec *spec, clo_error *err)
{
    spec->project = clo_i_job_value(job, "project");
    if (!spec->project) return CLO_OK;
    CLO_TRY(clo_release_read(spec->project, &spec->subspace, err));
    return check_subspace(job, spec, spec->project, spec->subspace, err);
}

/* ---- all of it ------------------------------------------------------------- */

static clo_status read_counts(const clo_job *job, clo_i_spec *spec, clo_error *err)
{
    spec->unit = clo_i_job_value(job, "unit");
    CLO_TRY(clo_i_job_whole(job, "rows", UINT64_C(1) << 31, &spec->rows, err));
    return clo_i_job_whole(job, "rows-per-unit", 1 << 20, &spec->rows_per_unit, err);
}

static clo_status read_ball(clo_job *job, clo_i_spec *spec, clo_error *err)
{
    const char *const norm = clo_i_job_value(job, "norm");
    const char *const bounds = clo_i_job_value(job, "bounds");
    const char *const center = clo_i_job_value(job, "center");
    if (!norm && !bounds && !clo_i_job_value(job, "norm-at-most")) {
        clo_i_job_advise(job, CLO_ADVICE_BOUNDS, "%s", "");
        return clo_i_job_fail(
            job, err, CLO_DOMAIN,
            "@norm R or @bounds LO,HI must be given: how far a record can reach decides how much "
            "noise hides it, and must be known without the data");
    }
    if (norm && strcmp(norm, "private") != 0)
        CLO_TRY(clo_i_job_positive(job, "norm", &spec->norm, err));
    if (bounds && center)
        return clo_i_job_fail(job, err, CLO_DOMAIN,
                              "@center and @bounds exclude each other: bounds already say where "
                              "the middle is");
    if (bounds) CLO_TRY(clo_i_bounds_read(job, bounds, spec, err));
    if (center && strcmp(center, "private") != 0)
        CLO_TRY(clo_i_job_list(job, "center", &spec->center, &spec->center_count, err));
    return CLO_OK;
}

/* A domain that was given whole leaves nothing to say about it. */
static clo_status take_given(const clo_job *job, clo_i_spec *spec, clo_error *err)
{
    static const char *const replaced[] = { "relation",   "norm",          "bounds",
                                            "center",     "norm-at-most",  "norm-quantile",
                                            "share-norm", "share-center",  "project",
                                            "rows",       "rows-per-unit", "unit" };
    const clo_domain *const given = &job->given_domain;
    for (size_t i = 0; i < sizeof replaced / sizeof *replaced; i++)
        if (clo_i_job_value(job, replaced[i]))
            return clo_i_job_fail(job, err, CLO_ARGUMENT,
                                  "@%s is given, and a whole domain, which says it too",
                                  replaced[i]);
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
    if (clo_i_job_says(job, "relation", clo_relation_name(CLO_ADD_REMOVE)))
        spec->relation = CLO_ADD_REMOVE;
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
    *spec = (clo_i_spec){ .relation = CLO_REPLACE };
}
