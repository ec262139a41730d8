/*
 * predict.c - what can be said of a run before it costs anything: the error to expect, in the units
 * of each column, too; whether noise hides what is looked for; and what would bring it out.  All of
 * it follows from public numbers: nothing here sees data.
 */
#include "accounting/memo.h"
#include "domain/domain.h"
#include "plan/mechanism.h"
#include <math.h>
#include <string.h>

static const double MOST_EPSILON = 100, MOST_ROWS = 1e12;

/* Fewer rows than clusters have no such clusters, whatever the budget; at most so many they may. */
static bool outnumber(const clo_plan *plan, double rows)
{
    double clusters = 0, at_most = 0;
    if (clo_plan_value_of(plan, "clusters", &clusters, NULL)) return false;
    if (clo_plan_value_of(plan, "choose", &at_most, NULL)) at_most = 0;
    return !(at_most > 0) && clusters > rows;
}

clo_status clo_plan_predict(const clo_plan *plan, double rows, double *error, const char **meaning,
                            clo_error *err)
{
    const clo_mechanism *const mechanism = plan->mechanism;
    if (!mechanism->predict)
        return clo_i_fail(err, CLO_UNSUPPORTED, "%s/%s has no prediction of its error",
                          mechanism->family, mechanism->method);
    if (!(rows >= 1)) return clo_i_fail(err, CLO_ARGUMENT, "rows must be at least 1, not %g", rows);
    const double predicted =
        mechanism->predict(plan->state, &plan->domain, plan->lines + plan->steps, rows);
    if (isnan(predicted))
        return clo_i_fail(err, CLO_UNSUPPORTED,
                          "%s/%s has no prediction of its error with these parameters",
                          mechanism->family, mechanism->method);
    const double hidden_from = clo_plan_hidden_from(plan);
    const bool none = outnumber(plan, rows) && isfinite(hidden_from);
    *error = none ? fmax(predicted, hidden_from) : predicted;
    *meaning = mechanism->prediction;
    return CLO_OK;
}

clo_status clo_plan_predict_range(const clo_plan *plan, double rows, double *least, double *most,
                                  clo_error *err)
{
    const clo_mechanism *const mechanism = plan->mechanism;
    const char *meaning;
    double error;
    CLO_TRY(clo_plan_predict(plan, rows, &error, &meaning, err));
    clo_between ends = { error, error };
    if (mechanism->between)
        ends = mechanism->between(plan->state, &plan->domain, plan->lines + plan->steps, rows);
    *least = ends.least;
    *most = fmax(ends.most, error);
    return CLO_OK;
}

clo_status clo_plan_predict_columns(const clo_plan *plan, double rows, double *errors,
                                    clo_error *err)
{
    const clo_domain *const domain = &plan->domain;
    const char *meaning;
    double error;
    CLO_TRY(clo_plan_predict(plan, rows, &error, &meaning, err));
    if (!plan->mechanism->of_points || domain->frame)
        return clo_i_fail(err, CLO_UNSUPPORTED, "the error of %s/%s cannot be stated per column",
                          plan->mechanism->family, plan->mechanism->method);
    const double each = error * clo_i_domain_radius(domain) / sqrt((double)domain->cols);
    for (size_t j = 0; domain->schema && j < clo_schema_outputs(domain->schema); j++)
        errors[j] = each * clo_i_schema_spread(domain->schema, j);
    for (size_t j = 0; !domain->schema && j < domain->cols; j++)
        errors[j] = each * (domain->lower ? domain->upper[j] / 2 - domain->lower[j] / 2 : 1);
    return CLO_OK;
}

double clo_plan_hidden_from(const clo_plan *plan)
{
    return plan->mechanism->hidden_from ? plan->mechanism->hidden_from(plan) : INFINITY;
}

bool clo_plan_hidden(const clo_plan *plan, double rows)
{
    const char *meaning;
    double error;
    if (clo_plan_predict(plan, rows, &error, &meaning, NULL)) return false;
    return error >= clo_plan_hidden_from(plan);
}

/* ---- what would be enough ------------------------------------------------------------------ */

/* A plan like the given one, but for these. */
typedef struct variation {
    double epsilon, rows, clusters; /* of the whole budget; clusters 0: as they are */
} variation;

/* The plan's values, for its own method or another that has all parameters which are not at their
 * presets. */
static clo_status set_values(const clo_plan *plan, double clusters, const clo_mechanism *taken,
                             clo_params *params, clo_error *err)
{
    const clo_mechanism *const m = plan->mechanism;
    for (size_t i = 0; i < m->param_count; i++) {
        const clo_param *const param = &m->params[i];
        const bool other = clusters > 0 && strcmp(param->name, "clusters") == 0;
        const double value = other ? clusters : plan->values[i];
        if (taken != m && !(value < param->preset || value > param->preset)) continue;
        CLO_TRY(clo_params_set(params, param->name, value, err));
    }
    return CLO_OK;
}

/* Its error by this method, infinite where there is no such plan or no prediction; of the
 * mechanism's part of the budget where something is learnt first. */
static clo_status error_by(const clo_mechanism *taken, const clo_plan *plan, const variation *v,
                           double *out, clo_error *err)
{
    const double part = plan->rest.epsilon / plan->budget.epsilon;
    const clo_loss budget = { v->epsilon * part, plan->rest.delta };
    const char *meaning;
    clo_domain domain = plan->domain;
    clo_error unused;
    clo_params *params = NULL;
    clo_plan *other = NULL;
    if (domain.rows) domain.rows = (uint64_t)v->rows;
    *out = INFINITY;
    CLO_TRY(clo_params_new(taken, &params, err));
    clo_status status = set_values(plan, v->clusters, taken, params, &unused);
    if (!status)
        status = clo_i_plan_unpriced(params, &domain, budget, plan->guarantee, &other, &unused);
    const bool presumes =
        !status && taken != plan->mechanism && taken->presumes && taken->presumes(other->values);
    if (!status && !presumes) status = clo_plan_predict(other, v->rows, out, &meaning, &unused);
    if (isnan(*out)) *out = INFINITY;
    clo_plan_free(other);
    clo_params_free(params);
    return status == CLO_MEMORY ? clo_i_fail(err, status, "%s", unused.message) : CLO_OK;
}

/* The least error; of a plan whose method was chosen, of all methods that could be.  Those are
 * planned roughly, as in the choice. */
static clo_status error_of(const clo_plan *plan, const variation *v, double *out, clo_error *err)
{
    clo_status status = error_by(plan->mechanism, plan, v, out, err);
    clo_i_memo memo = { .rough = true };
    if (!plan->reason[0]) return status;
    clo_i_memo_begin(&memo);
    for (size_t i = 0; !status && i < clo_mechanism_count(); i++) {
        const clo_mechanism *const m = clo_mechanism_at(i);
        double error;
        if (m == plan->mechanism || strcmp(m->family, plan->mechanism->family) != 0) continue;
        status = error_by(m, plan, v, &error, err);
        if (!status) *out = fmin(*out, error);
    }
    clo_i_memo_end(&memo);
    return status;
}

/* The least number from *field up, to two digits, at which the error is at most the target; 0 where
 * there is none up to `most`.  *field is the part of the variation that varies. */
static clo_status least(const clo_plan *plan, variation *v, double *field, double most,
                        double target, double *out, clo_error *err)
{
    double low = *field, high = *field, error;
    *out = 0;
    for (;;) { /* too little at low, or low is where the search began */
        *field = high;
        CLO_TRY(error_of(plan, v, &error, err));
        if (error <= target) break;
        if (high >= most) return CLO_OK;
        low = high;
        high = fmin(2 * high, most);
    }
    while (high > 1.01 * low) {
        const double middle = sqrt(low * high);
        *field = middle;
        CLO_TRY(error_of(plan, v, &error, err));
        if (error <= target)
            high = middle;
        else
            low = middle;
    }
    const double zeros = floor(log10(high)) - 1, unit = pow(10, fabs(zeros)); /* exact, both */
    const double digits = ceil((zeros < 0 ? high * unit : high / unit) * (1 - 1e-9));
    *out = zeros < 0 ? digits / unit : digits * unit;
    return CLO_OK;
}

/* The most clusters, fewer than there are, with which the error is at most the target; 0: none. */
static clo_status most_clusters(const clo_plan *plan, variation v, double target, uint64_t *out,
                                clo_error *err)
{
    double now, error;
    *out = 0;
    if (clo_plan_value_of(plan, "clusters", &now, NULL)) return CLO_OK;
    uint64_t enough = 0, too_many = (uint64_t)now;
    while (too_many - enough > 1) {
        const uint64_t middle = enough + (too_many - enough) / 2;
        v.clusters = (double)middle;
        CLO_TRY(error_of(plan, &v, &error, err));
        if (error <= target)
            enough = middle;
        else
            too_many = middle;
    }
    *out = enough;
    return CLO_OK;
}

clo_status clo_plan_needs_get(const clo_plan *plan, double rows, double error, clo_needs *out,
                              size_t size, clo_error *err)
{
    const variation now = { plan->budget.epsilon, rows, 0 };
    clo_needs needs = { .epsilon = 0 };
    variation v = now;
    clo_i_memo memo = { .used = 0 };
    if (!(rows >= 1)) return clo_i_fail(err, CLO_ARGUMENT, "rows must be at least 1, not %g", rows);
    if (!(error > 0)) return clo_i_fail(err, CLO_ARGUMENT, "the error must be greater than 0");
    CLO_TRY(least(plan, &v, &v.epsilon, MOST_EPSILON, error, &needs.epsilon, err));
    v = now;
    clo_i_memo_begin(&memo); /* other rows and other clusters often have the price of before */
    clo_status status = least(plan, &v, &v.rows, MOST_ROWS, error, &needs.rows, err);
    if (!status) status = most_clusters(plan, now, error, &needs.clusters, err);
    clo_i_memo_end(&memo);
    if (status) return status;
    needs.rows = ceil(needs.rows);
    clo_i_give_presets(out, size, &needs, sizeof needs);
    return CLO_OK;
}
