/*
 * every_mechanism.h - the mechanisms as they are listed, each with settings that run fast: those of
 * its first audit pair, which no mechanism is without.  So a test over all of them has the next one
 * the day it comes.
 */
#ifndef CLO_TEST_EVERY_MECHANISM_H
#define CLO_TEST_EVERY_MECHANISM_H

#include "pipeline.h"
#include "audit/audit_internal.h"

static inline bool is_pair_of(const clo_i_pair *pair, const clo_mechanism *mechanism)
{
    return strcmp(pair->family, clo_mechanism_family(mechanism)) == 0 &&
           strcmp(pair->method, clo_mechanism_method(mechanism)) == 0;
}

static inline const clo_i_pair *first_pair_of(const clo_mechanism *mechanism)
{
    for (size_t i = 0; i < clo_i_pair_count(); i++)
        if (is_pair_of(clo_i_pair_at(i), mechanism)) return clo_i_pair_at(i);
    fail_msg("a mechanism has no audit pair");
    return NULL;
}

/* subspace/exact is proved for rows alone, and refuses units. */
static inline bool takes_units(const clo_mechanism *mechanism)
{
    return strcmp(clo_mechanism_method(mechanism), "exact") != 0;
}

static inline void name_of(const clo_mechanism *mechanism, char name[128])
{
    snprintf(name, 128, "%s/%s", clo_mechanism_family(mechanism), clo_mechanism_method(mechanism));
}

/* A ball of as many columns as the settings are for. */
static inline clo_domain domain_of(const clo_mechanism *mechanism, clo_relation relation,
                                   const char *unit, uint64_t rows)
{
    clo_domain domain = ball(first_pair_of(mechanism)->cols, 1, relation);
    domain.unit = unit;
    domain.rows_per_unit = rows;
    return domain;
}

static inline clo_status try_plan_of(const clo_mechanism *mechanism, const clo_domain *domain,
                                     clo_loss budget, clo_plan **out, clo_error *err)
{
    char name[128];
    name_of(mechanism, name);
    clo_params *const params = params_for(name, clo_i_pair_parameters(first_pair_of(mechanism)));
    const clo_status status =
        clo_plan_new(params, domain, budget, clo_mechanism_guarantee(mechanism), out, err);
    clo_params_free(params);
    return status;
}

static inline clo_plan *plan_of(const clo_mechanism *mechanism, const clo_domain *domain,
                                clo_loss budget)
{
    clo_plan *plan = NULL;
    clo_error err;
    assert_ok(try_plan_of(mechanism, domain, budget, &plan, &err), err);
    return plan;
}

#endif
