/*
 * choose_method.c - the mechanism that the settings ask for: one by name, or, where only the family
 * is named, whichever of its methods promises the least error; and its plan, with what is learnt
 * before it out of one budget.
 */
#include "job/job.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- which ----------------------------------------------------------------- */

static clo_status find_mechanism(clo_job *job, const char *name, const char *method,
                                 const clo_mechanism **out, clo_error *err)
{
    char full[256];
    snprintf(full, sizeof full, "%s", name);
    if (method) {
        const char *const slash = strchr(name, '/');
        if (slash && strcmp(slash + 1, method) != 0)
            return clo_i_job_fail(job, err, CLO_ARGUMENT,
                                  "'%s' and @method %s name two methods: leave out one of them",
                                  name, method);
        snprintf(full, sizeof full, "%.*s/%s", (int)strcspn(name, "/"), name, method);
    }
    *out = clo_mechanism_find(full);
    if (*out) return CLO_OK;
    clo_i_job_advise(job, CLO_ADVICE_METHOD, "%s", "");
    if (clo_mechanism_retired(full))
        return clo_i_fail(err, CLO_ARGUMENT, "%s", clo_mechanism_retired(full));
    return clo_i_fail(err, CLO_ARGUMENT, "there is no method '%s'", full);
}

static bool has_parameter(const clo_mechanism *mechanism, const char *name)
{
    size_t count;
    const clo_param *const rows = clo_mechanism_params(mechanism, &count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(rows[i].name, name) == 0) return true;
    return false;
}

/* The parameters that are given, in the order of the mechanisms' rows whatever the caller's. */
static void collect_settings(const clo_job *job, clo_i_choice *choice)
{
    for (size_t m = 0; m < clo_mechanism_count(); m++) {
        size_t count, known = 0;
        const clo_param *const rows = clo_mechanism_params(clo_mechanism_at(m), &count);
        for (size_t i = 0; i < count; i++) {
            const char *const value = clo_i_job_param(job, rows[i].name);
            for (known = 0; known < choice->setting_count; known++)
                if (strcmp(choice->settings[known].name, rows[i].name) == 0) break;
            if (value && known == choice->setting_count)
                choice->settings[choice->setting_count++] = (clo_setting){ rows[i].name, value };
        }
    }
}

/* Whether a method has all the settings. */
static bool has_all(const clo_i_choice *choice, const clo_mechanism *m)
{
    size_t had = 0;
    while (had < choice->setting_count && has_parameter(m, choice->settings[had].name)) had++;
    return had == choice->setting_count;
}

/* And takes their values. */
static bool takes_all(const clo_i_choice *choice, const clo_mechanism *m)
{
    clo_params *params = NULL;
    if (!has_all(choice, m) || clo_params_new(m, &params, NULL)) return false;
    size_t taken = 0;
    while (taken < choice->setting_count &&
           !clo_params_set_text(params, choice->settings[taken].name, choice->settings[taken].value,
                                NULL))
        taken++;
    clo_params_free(params);
    return taken == choice->setting_count;
}

/* The first method of the family that takes all the settings, or has them all, to check their
 * values before anything is read; or the family's first, whose words about the one it lacks are as
 * good as any. */
static const clo_mechanism *spokesman(const clo_i_choice *choice, const clo_mechanism *first)
{
    for (int only_has = 0; only_has < 2; only_has++)
        for (size_t i = 0; i < clo_mechanism_count(); i++) {
            const clo_mechanism *const m = clo_mechanism_at(i);
            if (strcmp(clo_mechanism_family(m), clo_mechanism_family(first)) == 0 &&
                (only_has ? has_all : takes_all)(choice, m))
                return m;
        }
    return first;
}

/* A dimension is found where 0 is one that the method takes. */
static bool cannot_find(const clo_mechanism *mechanism, const clo_setting *setting)
{
    size_t count;
    const clo_param *const rows = clo_mechanism_params(mechanism, &count);
    if (strcmp(setting->name, "dim") != 0 || strcmp(setting->value, "0") != 0) return false;
    for (size_t i = 0; i < count; i++)
        if (strcmp(rows[i].name, "dim") == 0) return rows[i].lower > 0;
    return true;
}

static clo_status set_parameters(clo_job *job, const clo_mechanism *mechanism, clo_error *err)
{
    clo_i_choice *const choice = &job->choice;
    char name[128];
    snprintf(name, sizeof name, "%s/%s", clo_mechanism_family(mechanism),
             clo_mechanism_method(mechanism));
    for (size_t i = 0; i < choice->setting_count; i++) {
        if (has_parameter(mechanism, choice->settings[i].name)) continue;
        clo_i_job_advise(job, CLO_ADVICE_METHOD, "%s", name);
        if (strcmp(choice->settings[i].name, "choose") == 0)
            return clo_i_job_fail(job, err, CLO_ARGUMENT,
                                  "%s cannot choose the number of clusters: give @clusters as a "
                                  "number",
                                  name);
        return clo_i_job_fail(job, err, CLO_ARGUMENT, "%s has no parameter @%s", name,
                              choice->settings[i].name);
    }
    for (size_t i = 0; i < choice->setting_count; i++)
        if (cannot_find(mechanism, &choice->settings[i])) {
            clo_i_job_advise(job, CLO_ADVICE_METHOD, "%s", name);
            return clo_i_job_fail(job, err, CLO_ARGUMENT,
                                  "%s cannot choose the dimension: give @dim as a number", name);
        }
    CLO_TRY(clo_params_new(mechanism, &choice->params, err));
    for (size_t i = 0; i < choice->setting_count; i++)
        CLO_TRY(clo_params_set_text(choice->params, choice->settings[i].name,
                                    choice->settings[i].value, err));
    return CLO_OK;
}

clo_status clo_i_choice_read(clo_job *job, clo_error *err)
{
    const char *const name = clo_i_job_value(job, CLO_SET_MECHANISM);
    const char *method = clo_i_job_value(job, CLO_SET_METHOD);
    const clo_mechanism *mechanism = NULL;
    clo_i_choice *const choice = &job->choice;
    clo_i_choice_clear(choice);
    if (!name)
        return clo_i_job_fail(job, err, CLO_ARGUMENT,
                              "give a family, such as kmeans, or a family and a method, such as "
                              "kmeans/local");
    if (method && strcmp(method, "auto") == 0) method = NULL;
    CLO_TRY(find_mechanism(job, name, method, &mechanism, err));
    choice->family = clo_mechanism_family(mechanism);
    choice->named = strchr(name, '/') || method;
    const char *const clusters = clo_i_job_param(job, "clusters");
    if (clo_i_job_value(job, CLO_SET_CLUSTERS_AT_MOST) && !clo_i_job_param(job, "choose"))
        return clo_i_job_fail(job, err, CLO_ARGUMENT,
                              "@clusters-at-most needs @clusters auto, but @clusters is %s",
                              clusters ? clusters : "a number");
    collect_settings(job, choice);
    if (!choice->named) mechanism = spokesman(choice, mechanism);
    return set_parameters(job, mechanism, err);
}

clo_status clo_i_choice_complete(clo_job *job, clo_error *err)
{
    bool counts = false; /* some method of the choice looks for a number of clusters */
    for (size_t i = 0; i < clo_mechanism_count(); i++) {
        const clo_mechanism *const m = clo_mechanism_at(i);
        counts = counts || (strcmp(clo_mechanism_family(m), job->choice.family) == 0 &&
                            has_parameter(m, "clusters"));
    }
    if (!counts || clo_i_job_param(job, "clusters")) return CLO_OK;
    clo_i_job_advise(job, CLO_ADVICE_SET, "clusters 5");
    return clo_i_job_fail(job, err, CLO_ARGUMENT,
                          "give @clusters, the number of clusters to find, or @clusters auto");
}

void clo_i_choice_clear(clo_i_choice *choice)
{
    clo_params_free(choice->params);
    *choice = (clo_i_choice){ .named = false };
}

/* ---- the plan -------------------------------------------------------------- */

double clo_default_delta(uint64_t public_rows)
{
    const double usual = 1e-6;
    if (public_rows == 0) return usual;
    const double of_rows = pow((double)public_rows, -1.5);
    if (of_rows >= usual) return usual;
    char text[32];
    const int exponent = (int)floor(log10(of_rows)) - 1;
    snprintf(text, sizeof text, "%de%d", (int)floor(of_rows / pow(10, exponent)), exponent);
    return strtod(text, NULL); /* which has no decimal point, whatever the locale's */
}

static clo_guarantee accepted(const clo_job *job)
{
    for (int i = CLO_EXACT; i <= CLO_ASYMPTOTIC; i++)
        if (clo_i_job_says(job, CLO_SET_ACCEPT, clo_guarantee_name((clo_guarantee)i)))
            return (clo_guarantee)i;
    return CLO_EXACT;
}

/* Ranks, workers, and rows that are not held, choose among what they can do (clo_run_check). */
static clo_reading most_reading(const clo_job *job)
{
    const bool ranks = clo_i_job_ranks(job) > 1 && !job->spec.unit;
    const bool blocks = ranks || (job->options.workers && job->workers.solve);
    if (!clo_i_job_spreads(job) && !clo_i_job_value(job, CLO_SET_MEMORY)) return CLO_READING_WHOLE;
    return blocks && !clo_i_job_value(job, CLO_SET_MEMORY) ? CLO_READING_BLOCKS : CLO_READING_SUM;
}

static clo_status plan_choice(const clo_job *job, const clo_domain *domain, clo_loss budget,
                              clo_plan **out, clo_error *err)
{
    const clo_i_choice *const choice = &job->choice;
    if (choice->named) return clo_plan_new(choice->params, domain, budget, accepted(job), out, err);
    return clo_plan_auto_among(most_reading(job), choice->family, choice->settings,
                               choice->setting_count, domain, budget, accepted(job), out, err);
}

/* The choice with that much for itself, and the learning before it. */
static clo_status plan_beside(const clo_job *job, const clo_domain *domain, clo_loss rest,
                              clo_loss budget, clo_plan **out, clo_error *err)
{
    clo_plan *plan = NULL;
    clo_status status = plan_choice(job, domain, rest, &plan, err);
    if (status == CLO_OK) status = clo_plan_learn(plan, &job->spec.learning, budget, err);
    if (status == CLO_OK)
        *out = plan;
    else
        clo_plan_free(plan);
    return status;
}

enum { MOST_TRIALS = 3 };

clo_status clo_i_job_make_plan(const clo_job *job, const clo_domain *domain, clo_plan **out,
                               clo_error *err)
{
    clo_loss budget = job->budget, rest;
    clo_plan *plan = NULL;
    clo_error why;
    if (budget.delta < 0) budget.delta = clo_default_delta(domain->rows);
    if (!job->spec.learns) return plan_choice(job, domain, budget, out, err);
    CLO_TRY(clo_learning_rest(&job->spec.learning, budget, &rest, err));
    CLO_TRY(plan_beside(job, domain, rest, budget, &plan, err));
    /* Composed, the steps cost less than their sum: what that leaves is the mechanism's. */
    for (int i = 0; i < MOST_TRIALS; i++) {
        const double left = budget.epsilon - clo_plan_price(plan).loss.epsilon;
        clo_plan *better = NULL;
        if (left < 0.005 * budget.epsilon) break;
        rest.epsilon += 0.95 * left;
        const clo_status status = plan_beside(job, domain, rest, budget, &better, &why);
        if (status == CLO_MEMORY) { /* the plan must not depend on how much there is */
            clo_plan_free(plan);
            return clo_i_fail(err, status, "%s", why.message);
        }
        if (status != CLO_OK) break;
        clo_plan_free(plan);
        plan = better;
    }
    *out = plan;
    return CLO_OK;
}
