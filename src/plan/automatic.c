/*
 * automatic.c - which method of a family to take, by public quantities alone: every method that can
 * serve makes its plan, and the one whose plan predicts the least error is taken.  Nothing here
 * sees data, so the choice costs nothing.
 */
#include "plan/mechanism.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Where the number of rows is not public, methods are compared at this one. */
static const double USUAL_ROWS = 10000;

static bool takes(const clo_mechanism *mechanism, const clo_setting *settings, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        bool known = false;
        for (size_t j = 0; j < mechanism->param_count && !known; j++)
            known = strcmp(mechanism->params[j].name, settings[i].name) == 0;
        if (!known) return false;
    }
    return true;
}

static clo_status plan_with(const clo_mechanism *mechanism, const clo_setting *settings,
                            size_t count, const clo_domain *domain, clo_loss budget,
                            clo_guarantee accept, clo_plan **out, clo_error *err)
{
    clo_params *params = NULL;
    CLO_TRY(clo_params_new(mechanism, &params, err));
    clo_status status = CLO_OK;
    for (size_t i = 0; i < count && !status; i++)
        status = clo_params_set_text(params, settings[i].name, settings[i].value, err);
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

clo_status clo_plan_auto(const char *family, const clo_setting *settings, size_t count,
                         const clo_domain *domain, clo_loss budget, clo_guarantee accept,
                         clo_plan **out, clo_error *err)
{
    contest c = { .best = NULL };
    clo_status first = CLO_OK;
    for (size_t i = 0; i < clo_mechanism_count(); i++) {
        const clo_mechanism *const m = clo_mechanism_at(i);
        clo_error mine = { .status = CLO_OK };
        clo_plan *plan = NULL;
        if (strcmp(m->family, family) != 0) continue;
        c.methods++;
        if (!takes(m, settings, count)) continue;
        const clo_status status =
            plan_with(m, settings, count, domain, budget, accept, &plan, &mine);
        if (!status) {
            enter(&c, plan);
        } else if (!first) {
            first = status;
            if (err) *err = mine;
        }
        if (status == CLO_MEMORY) {
            clo_plan_free(c.best);
            return clo_i_fail(err, CLO_MEMORY, "%s", mine.message);
        }
    }
    if (c.methods == 0) return clo_i_fail(err, CLO_ARGUMENT, "there is no family '%s'", family);
    if (!c.best && first) return first;
    if (!c.best)
        return clo_i_fail(err, CLO_ARGUMENT, "no method of %s has all of these parameters", family);
    give_reason(&c);
    *out = c.best;
    return CLO_OK;
}

const char *clo_plan_reason(const clo_plan *plan)
{
    return plan->reason[0] ? plan->reason : NULL;
}
