/*
 * automatic.c - which method of a family to take, by public quantities alone: every method that can
 * serve makes its plan, and the one whose plan predicts the least error is taken.  Nothing here
 * sees data, so the choice costs nothing.  A plan is priced once it is taken: an error does not
 * depend on the exact price, which takes as long to find as the plan.
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
                                  "out",
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
    if (!status) status = clo_i_plan_unpriced(params, domain, budget, accept, out, err);
    clo_params_free(params);
    return status;
}

static double predicted(const clo_plan *plan)
{
    const double rows = plan->domain.rows > 0 ? (double)plan->domain.rows : USUAL_ROWS;
    const char *meaning;
    double error = INFINITY;
    const clo_mechanism *const mechanism = plan->mechanism;
    if (mechanism->is_baseline) return INFINITY;
    if (mechanism->presumes && mechanism->presumes(plan->values)) return INFINITY;
    if (clo_plan_predict(plan, rows, &error, &meaning, NULL) || isnan(error)) return INFINITY;
    return error;
}

/* ---- the contest ---------------------------------------------------------------------------- */

/* A method that serves, and its plan. */
typedef struct candidate {
    const clo_mechanism *mechanism;
    clo_plan *plan;
    double error;
    bool rough; /* accounting that takes long was left out: with it there may be less noise */
} candidate;

enum { MOST_CANDIDATES = 32 };
typedef struct contest {
    const clo_setting *settings;
    size_t setting_count;
    const clo_domain *domain;
    clo_loss budget;
    bool less; /* than was asked for */
    clo_guarantee accept;
    clo_reading most; /* a plan that wants more of its rows does not take part */
    size_t methods;   /* of the family */
    size_t count;     /* of those that serve */
    candidate candidates[MOST_CANDIDATES];
    const candidate *best, *next; /* by their errors; NULL: none */
    clo_error why;                /* why others do not serve: the most telling of them */
    bool why_of_a_plan;
    clo_i_memo rough, full;
} contest;

/* Accounting of all kinds makes no error smaller than by this: it saves some hundredths of noise
 * where few events are not Gaussian, and a fifth where many are. */
static const double SAVED_AT_MOST = 1.25;

/* A plan that takes part, or a failure that says why it does not. */
static clo_status admit(const contest *c, clo_plan **plan, clo_error *why)
{
    if (clo_plan_reading(*plan) <= c->most) return CLO_OK;
    const clo_mechanism *const m = (*plan)->mechanism;
    clo_plan_free(*plan);
    *plan = NULL;
    if (c->most == CLO_READING_BLOCKS)
        return clo_i_fail(why, CLO_UNSUPPORTED,
                          "no suitable method of %s can run on several ranks (%s/%s needs all "
                          "rows in one process): use one rank",
                          m->family, m->family, m->method);
    return clo_i_fail(
        why, CLO_UNSUPPORTED,
        "no suitable method of %s works with sums only, which rows in several parts or a limit of "
        "memory require (%s/%s needs more): run in one process without a limit",
        m->family, m->family, m->method);
}

/* Plans are compared roughly first: most of them are far from the best, and what the accountant
 * spends milliseconds on would not change that. */
static clo_status plan_method(contest *c, candidate *who, bool rough, bool *taken, clo_error *err)
{
    clo_i_memo *const memo = rough ? &c->rough : &c->full;
    clo_plan *plan = NULL;
    memo->left_out = false;
    clo_i_memo_begin(memo);
    clo_status status = plan_with(who->mechanism, c->settings, c->setting_count, c->domain,
                                  c->budget, c->accept, taken, &plan, err);
    who->rough = memo->left_out;
    clo_i_memo_end(memo);
    if (!status) status = admit(c, &plan, err);
    if (status) return status;
    clo_plan_free(who->plan);
    who->plan = plan;
    who->error = predicted(plan);
    return CLO_OK;
}

static void rank(contest *c)
{
    c->best = c->next = NULL;
    for (const candidate *who = c->candidates; who < c->candidates + c->count; who++) {
        if (!c->best || who->error < c->best->error) {
            c->next = c->best;
            c->best = who;
        } else if (!c->next || who->error < c->next->error) {
            c->next = who;
        }
    }
}

/* One that might be the best, or is, and was planned roughly; NULL: there is none left. */
static candidate *rough_contender(contest *c)
{
    rank(c);
    for (candidate *who = c->candidates; who < c->candidates + c->count; who++)
        if (who->rough && (who == c->best || who->error <= SAVED_AT_MOST * c->best->error))
            return who;
    return NULL;
}

/* One method more: it serves, or there is a reason why not. */
static clo_status enter(contest *c, const clo_mechanism *mechanism)
{
    candidate who = { .mechanism = mechanism };
    clo_error mine = { .status = CLO_OK };
    bool taken;
    clo_status status = plan_method(c, &who, true, &taken, &mine);
    if (status && who.rough) status = plan_method(c, &who, false, &taken, &mine);
    if (!status) {
        c->candidates[c->count++] = who;
    } else if (!c->why.status || (taken && !c->why_of_a_plan)) {
        c->why = mine; /* a range that only some methods have is no reason where others fail */
        c->why_of_a_plan = taken;
    }
    return status == CLO_MEMORY ? status : CLO_OK;
}

static clo_status find_best(contest *c, clo_error *err)
{
    candidate *who;
    bool taken;
    while ((who = rough_contender(c)) != NULL) CLO_TRY(plan_method(c, who, false, &taken, err));
    return CLO_OK;
}

/* The best, priced.  One that cannot be does not serve. */
static clo_status settle(contest *c, clo_error *err)
{
    while (c->count > 0) {
        CLO_TRY(find_best(c, err));
        candidate *const best = &c->candidates[c->best - c->candidates];
        const clo_status status = clo_i_plan_price(best->plan, &c->why);
        if (!status) return CLO_OK;
        if (status == CLO_MEMORY) break;
        clo_plan_free(best->plan);
        *best = c->candidates[--c->count];
    }
    return clo_i_fail(err, c->why.status, "%s", c->why.message);
}

static void give_reason(const contest *c)
{
    char *const text = c->best->plan->reason;
    const size_t room = sizeof c->best->plan->reason;
    const char *const method = c->best->mechanism->method;
    if (c->methods == 1)
        text[0] = 0; /* there was nothing to choose */
    else if (c->count == 1)
        snprintf(text, room, "only %s suits these settings and this budget", method);
    else if (isfinite(c->best->error) && isfinite(c->next->error))
        snprintf(text, room,
                 "of %zu suitable methods, %s has the smallest expected error: %.3g (%s: %.3g)",
                 c->count, method, c->best->error, c->next->mechanism->method, c->next->error);
    else if (isfinite(c->best->error))
        snprintf(text, room, "of %zu suitable methods, %s has the smallest expected error: %.3g",
                 c->count, method, c->best->error);
    else
        snprintf(text, room, "%s is the default of its family", method);
    const size_t length = strlen(text);
    if (c->less)
        snprintf(
            text + length, room - length,
            "%sonly epsilon %g is used and charged, because more would hardly change the result",
            length ? "; " : "", clo_i_largest_epsilon);
}

static clo_status choose(contest *c, const char *family, clo_error *err)
{
    for (size_t i = 0; i < clo_mechanism_count() && c->count < MOST_CANDIDATES; i++) {
        const clo_mechanism *const m = clo_mechanism_at(i);
        if (strcmp(m->family, family) != 0) continue;
        c->methods++;
        if (takes(m, c->settings, c->setting_count) && enter(c, m))
            return clo_i_fail(err, CLO_MEMORY, "%s", c->why.message);
    }
    if (c->methods == 0) return clo_i_fail(err, CLO_ARGUMENT, "there is no family '%s'", family);
    if (!c->count && c->why.status) return clo_i_fail(err, c->why.status, "%s", c->why.message);
    if (!c->count) return blame_settings(family, c->settings, c->setting_count, err);
    CLO_TRY(settle(c, err));
    give_reason(c);
    return CLO_OK;
}

/* Of a budget that no Gaussian noise may have, as much as it may: that noise is as good as none,
 * and without it the choice would be among the worst methods.  give_reason says so. */
static clo_loss worth_spending(clo_loss budget)
{
    if (isfinite(budget.epsilon)) budget.epsilon = fmin(budget.epsilon, clo_i_largest_epsilon);
    return budget;
}

clo_status clo_plan_auto_among(clo_reading most, const char *family, const clo_setting *settings,
                               size_t count, const clo_domain *domain, clo_loss budget,
                               clo_guarantee accept, clo_plan **out, clo_error *err)
{
    contest c = { .settings = settings,
                  .setting_count = count,
                  .domain = domain,
                  .budget = worth_spending(budget),
                  .less = worth_spending(budget).epsilon < budget.epsilon,
                  .accept = accept,
                  .most = most,
                  .rough.rough = true };
    const clo_mechanism *const called = strchr(family, '/') ? NULL : clo_mechanism_find(family);
    const clo_status status = choose(&c, called ? called->family : family, err);
    for (candidate *who = c.candidates; who < c.candidates + c.count; who++) {
        if (!status && who == c.best)
            *out = who->plan;
        else
            clo_plan_free(who->plan);
    }
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
