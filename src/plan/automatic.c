/*
 * automatic.c - which method of a family to take, by public quantities alone: every method that can
 * serve makes its plan, and the one whose plan predicts the least error is taken.  Nothing here
 * sees data, so the choice costs nothing.
 */
#include "accounting/memo.h"
#include "plan/mechanism.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Where the number of rows is not public, methods are compared at this one. */
static const double USUAL_ROWS = 10000;

static bool has(const clo_mechanism *mechanism, const char *name)
{
    size_t ignored;
    return clo_i_param_find(mechanism->params, mechanism->param_count, name, &ignored);
}

static bool takes(const clo_mechanism *mechanism, const clo_setting *settings, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!has(mechanism, settings[i].name)) return false;
    return true;
}

/* Whether a method of the family has the parameter, or both of them. */
static bool someone_has(const char *family, const char *one, const char *other)
{
    for (size_t i = 0; i < clo_mechanism_count(); i++) {
        const clo_mechanism *const m = clo_mechanism_at(i);
        if (strcmp(m->family, family) == 0 && has(m, one) && (!other || has(m, other))) return true;
    }
    return false;
}

/* No method has all of the settings: the ones to blame. */
static clo_status blame_settings(const char *family, const clo_setting *settings, size_t count,
                                 clo_error *err)
{
    for (size_t i = 0; i < count; i++)
        if (!someone_has(family, settings[i].name, NULL))
            return clo_i_fail(err, CLO_ARGUMENT, "no method of %s has a parameter '%.60s'", family,
                              settings[i].name);
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++)
            if (!someone_has(family, settings[i].name, settings[j].name))
                return clo_i_fail(err, CLO_ARGUMENT,
                                  "no method of %s has both '%.60s' and '%.60s': leave one of them "
                                  "away",
                                  family, settings[j].name, settings[i].name);
    return clo_i_fail(err, CLO_ARGUMENT, "no method of %s has all of these parameters", family);
}

/* taken: whether the settings were, so that a failure is one of the plan. */
static clo_status plan_with(const clo_mechanism *mechanism, const clo_setting *settings,
                            size_t count, const clo_domain *domain, clo_loss budget,
                            clo_guarantee accept, bool *taken, clo_plan **out, clo_error *err)
{
    clo_params *params = NULL;
    *taken = false;
    CLO_TRY(clo_params_new(mechanism, &params, err));
    clo_status status = CLO_OK;
    for (size_t i = 0; i < count && !status; i++)
        status = clo_params_set_text(params, settings[i].name, settings[i].value, err);
    *taken = status == CLO_OK;
    if (!status) status = clo_plan_new(params, domain, budget, accept, out, err);
    clo_params_free(params);
    return status;
}

static double predicted(const clo_plan *plan)
{
    const double rows = plan->domain.rows > 0 ? (double)plan->domain.rows : USUAL_ROWS;
    const char *meaning;
    double error = INFINITY;
    const clo_mechanism *const mechanism = plan->mechanism;
    if (mechanism->presumes && mechanism->presumes(plan->values)) return INFINITY;
    if (clo_plan_predict(plan, rows, &error, &meaning, NULL) || isnan(error)) return INFINITY;
    return error;
}

/* The best of the candidates so far, and the runner-up for the reason. */
typedef struct contest {
    clo_plan *best;
    double best_error, next_error;
    const char *next;
    size_t methods, candidates;
} contest;

static void enter(contest *c, clo_plan *plan)
{
    const double error = predicted(plan);
    c->candidates++;
    if (c->best && !(error < c->best_error)) {
        if (!c->next || error < c->next_error) {
            c->next = plan->mechanism->method;
            c->next_error = error;
        }
        clo_plan_free(plan);
        return;
    }
    if (c->best) {
        c->next = c->best->mechanism->method;
        c->next_error = c->best_error;
        clo_plan_free(c->best);
    }
    c->best = plan;
    c->best_error = error;
}

static void give_reason(contest *c)
{
    char *const text = c->best->reason;
    const size_t room = sizeof c->best->reason;
    const char *const method = c->best->mechanism->method;
    if (c->methods == 1)
        text[0] = 0; /* there was nothing to choose */
    else if (c->candidates == 1)
        snprintf(text, room, "%s is the one method that serves these parameters and this budget",
                 method);
    else if (isfinite(c->best_error) && isfinite(c->next_error))
        snprintf(text, room,
                 "of %zu methods that serve, %s promises the least error: %.3g, and %s %.3g",
                 c->candidates, method, c->best_error, c->next, c->next_error);
    else if (isfinite(c->best_error))
        snprintf(text, room, "of %zu methods that serve, %s promises the least error: %.3g",
                 c->candidates, method, c->best_error);
    else
        snprintf(text, room, "%s is the family's preset", method);
}

/* A plan that takes part, or a failure that says why it does not. */
static clo_status admit(clo_reading most, clo_plan **plan, clo_error *why)
{
    if (clo_plan_reading(*plan) <= most) return CLO_OK;
    const clo_mechanism *const m = (*plan)->mechanism;
    clo_plan_free(*plan);
    *plan = NULL;
    return clo_i_fail(why, CLO_UNSUPPORTED,
                      "no method of %s serves this with sums alone, as several ranks must: %s/%s "
                      "needs all rows in one process",
                      m->family, m->family, m->method);
}

static clo_status choose(clo_reading most, const char *family, const clo_setting *settings,
                         size_t count, const clo_domain *domain, clo_loss budget,
                         clo_guarantee accept, clo_plan **out, clo_error *err)
{
    contest c = { .best = NULL };
    clo_error why = { .status = CLO_OK };
    bool why_of_a_plan = false;
    for (size_t i = 0; i < clo_mechanism_count(); i++) {
        const clo_mechanism *const m = clo_mechanism_at(i);
        clo_error mine = { .status = CLO_OK };
        clo_plan *plan = NULL;
        bool taken;
        if (strcmp(m->family, family) != 0) continue;
        c.methods++;
        if (!takes(m, settings, count)) continue;
        clo_status status =
            plan_with(m, settings, count, domain, budget, accept, &taken, &plan, &mine);
        if (!status) status = admit(most, &plan, &mine);
        if (!status) {
            enter(&c, plan);
        } else if (!why.status || (taken && !why_of_a_plan)) {
            why = mine; /* a range that only some methods have is no reason where others fail */
            why_of_a_plan = taken;
        }
        if (status == CLO_MEMORY) {
            clo_plan_free(c.best);
            return clo_i_fail(err, CLO_MEMORY, "%s", mine.message);
        }
    }
    if (c.methods == 0) return clo_i_fail(err, CLO_ARGUMENT, "there is no family '%s'", family);
    if (!c.best && why.status) return clo_i_fail(err, why.status, "%s", why.message);
    if (!c.best) return blame_settings(family, settings, count, err);
    give_reason(&c);
    *out = c.best;
    return CLO_OK;
}

clo_status clo_plan_auto_among(clo_reading most, const char *family, const clo_setting *settings,
                               size_t count, const clo_domain *domain, clo_loss budget,
                               clo_guarantee accept, clo_plan **out, clo_error *err)
{
    clo_i_memo memo;
    clo_i_memo_begin(&memo);
    const clo_status status =
        choose(most, family, settings, count, domain, budget, accept, out, err);
    clo_i_memo_end(&memo);
    return status;
}

clo_status clo_plan_auto(const char *family, const clo_setting *settings, size_t count,
                         const clo_domain *domain, clo_loss budget, clo_guarantee accept,
                         clo_plan **out, clo_error *err)
{
    return clo_plan_auto_among(CLO_READING_WHOLE, family, settings, count, domain, budget, accept,
                               out, err);
}

const char *clo_plan_reason(const clo_plan *plan)
{
    return plan->reason[0] ? plan->reason : NULL;
}
