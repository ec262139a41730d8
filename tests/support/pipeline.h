/*
 * pipeline.h - the way of data in a few calls, for tests: a matrix in memory becomes bounded data,
 * a mechanism runs on it with a seed, the release becomes text.
 */
#ifndef CLO_TEST_PIPELINE_H
#define CLO_TEST_PIPELINE_H

#include "check.h"
#include <cloister/cloister.h>
#include <stdlib.h>

typedef struct text {
    char *bytes;
    size_t length;
} text;

static inline bool append_text(void *user, const char *bytes, size_t count)
{
    text *const t = user;
    char *const grown = realloc(t->bytes, t->length + count + 1);
    if (!grown) return false;
    memcpy(grown + t->length, bytes, count);
    t->bytes = grown;
    t->length += count;
    grown[t->length] = 0;
    return true;
}

static inline clo_bounded *bounded_from(const double *values, size_t rows, const clo_domain *domain)
{
    clo_error err;
    clo_table *table = NULL;
    clo_bounded *data = NULL;
    const clo_matrix view = { values, rows, domain->cols, domain->cols };
    assert_ok(clo_table_wrap(view, CLO_MISSING_NULL, &table, &err), err);
    assert_ok(clo_bound(table, domain, &data, &err), err);
    clo_table_free(table);
    return data;
}

/* The same where row i belongs to the person units[i], which the domain must have a name for. */
static inline clo_bounded *bounded_from_units(const double *values, const uint64_t *units,
                                              size_t rows, const clo_domain *domain)
{
    clo_error err;
    clo_table *table = NULL;
    clo_bounded *data = NULL;
    const clo_matrix view = { values, rows, domain->cols, domain->cols };
    assert_ok(clo_table_wrap_units(view, units, CLO_MISSING_NULL, &table, &err), err);
    assert_ok(clo_bound(table, domain, &data, &err), err);
    clo_table_free(table);
    return data;
}

/* Rows with a person each, hashed under a key that several tables share. */
static inline clo_table *table_of_persons(const double *values, const uint64_t *units, size_t rows,
                                          size_t cols)
{
    static const uint8_t key[CLO_UNIT_KEY_BYTES] = { 7 };
    clo_view view = clo_view_default();
    clo_table *table = NULL;
    clo_error err;
    view.data = values;
    view.rows = rows;
    view.cols = cols;
    view.row_step = cols * sizeof *values;
    view.col_step = sizeof *values;
    view.units = units;
    view.unit_key = key;
    assert_ok(clo_table_wrap_view(&view, &table, &err), err);
    return table;
}

static inline clo_domain ball(size_t cols, double norm, clo_relation relation)
{
    clo_domain domain = clo_domain_default();
    domain.cols = cols;
    domain.norm = norm;
    domain.relation = relation;
    return domain;
}

/* "clusters=3 rounds=2" on top of the presets. */
static inline clo_params *params_for(const char *mechanism, const char *settings)
{
    clo_error err;
    clo_params *params = NULL;
    char copy[256], *rest = copy, *word;
    snprintf(copy, sizeof copy, "%s", settings);
    assert_non_null(clo_mechanism_find(mechanism));
    assert_ok(clo_params_new(clo_mechanism_find(mechanism), &params, &err), err);
    while ((word = strtok_r(rest, " ", &rest))) {
        char *const equals = strchr(word, '=');
        *equals = 0;
        assert_ok(clo_params_set_text(params, word, equals + 1, &err), err);
    }
    return params;
}

static inline clo_plan *plan_for(const char *mechanism, const char *settings,
                                 const clo_domain *domain, double epsilon, double delta)
{
    clo_error err;
    clo_params *const params = params_for(mechanism, settings);
    clo_plan *plan = NULL;
    assert_ok(clo_plan_new(params, domain, (clo_loss){ epsilon, delta }, CLO_EXACT, &plan, &err),
              err);
    clo_params_free(params);
    return plan;
}

static inline clo_rng *seeded(const char *seed)
{
    clo_error err;
    uint8_t bytes[32];
    clo_rng *rng = NULL;
    clo_seed_from_text(seed, bytes);
    assert_ok(clo_rng_new_seeded(bytes, &rng, &err), err);
    return rng;
}

static inline clo_release *run_seeded(const clo_plan *plan, const clo_bounded *data,
                                      const char *seed, const clo_run_options *options)
{
    clo_error err;
    clo_grant *grant = NULL;
    clo_release *release = NULL;
    clo_rng *const rng = seeded(seed);
    assert_ok(clo_grant_unmetered(plan, &grant, &err), err);
    assert_ok(clo_run(plan, grant, data, rng, options, &release, &err), err);
    clo_grant_free(grant);
    clo_rng_free(rng);
    return release;
}

static inline text json_of(const clo_release *release)
{
    clo_error err;
    text t = { 0 };
    assert_ok(clo_report(release, CLO_JSON, append_text, &t, &err), err);
    return t;
}

/* A run succeeds, and neither threads nor blocks show in what it releases. */
static inline void assert_same_on_any_threads(const clo_plan *plan, const clo_bounded *data)
{
    text seen[2];
    for (int threads = 1; threads <= 2; threads++) {
        clo_run_options options = clo_run_options_default();
        options.threads = threads;
        options.block_rows = (size_t)threads + 1;
        clo_release *const release = run_seeded(plan, data, "total", &options);
        seen[threads - 1] = json_of(release);
        clo_release_free(release);
    }
    assert_string_equal(seen[0].bytes, seen[1].bytes);
    free(seen[0].bytes);
    free(seen[1].bytes);
}

#endif
