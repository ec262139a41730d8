/*
 * learn.c - a norm, or a centre and a norm, that a run learns before its mechanism asks, out of one
 * budget: the lines that a plan gets in front of the mechanism's own (learn.T1).
 *
 * The mechanism's plan was made for the largest norm thinkable.  What it asks, in the unit ball, is
 * the same for every norm (clo_i_plan_again sees to that), so price and noise are fixed before
 * anything is spent; only the ball is not.
 */
#include "plan/norm_quantile.h"
#include "domain/domain.h"
#include "query/cluster_sum.h"
#include <math.h>
#include <string.h>

enum { STEPS = CLO_LEARN_STEPS, MOST_COLUMNS_ABOUT = 1 << 16 };
static const double LEAST_SHARE = 1e-3;
/* What a step leaves of its share, so that rounding adds up to no more than the budget. */
static const double HAIR = 1 - 0x1p-30;

void clo_learning_init(clo_learning *learning, size_t size)
{
    const clo_learning presets = { .norm_share = CLO_I_LEARNT_SHARE,
                                   .center_share = CLO_I_LEARNT_SHARE,
                                   .quantile = CLO_I_LEARNT_QUANTILE };
    clo_i_give_presets(learning, size, &presets, sizeof presets);
}

/* What the caller wants, over the presets, and whether that can be had. */
static clo_status take(const clo_learning *given, clo_learning *learning, clo_error *err)
{
    *learning = clo_learning_default();
    CLO_TRY(clo_i_take_options("clo_learning", given, learning, sizeof *learning, err));
    const double norm = learning->norm ? learning->norm_share : 0;
    const double center = learning->center ? learning->center_share : 0;
    if (!learning->norm && !learning->center)
        return clo_i_fail(err, CLO_ARGUMENT, "there is nothing to learn: ask for norm or center");
    if ((learning->norm && !(norm >= LEAST_SHARE)) ||
        (learning->center && !(center >= LEAST_SHARE)) || !(norm + center <= 1 - LEAST_SHARE))
        return clo_i_fail(err, CLO_ARGUMENT,
                          "the shares of norm and center must be at least %g and leave as much to "
                          "the mechanism, not %g and %g",
                          LEAST_SHARE, norm, center);
    if (!(learning->quantile >= 0.5 && learning->quantile <= 0.99999))
        return clo_i_fail(err, CLO_ARGUMENT,
                          "the quantile of the norms must be between 0.5 and 0.99999, not %g",
                          learning->quantile);
    if (learning->norm_about < 0 || !isfinite(learning->norm_about) ||
        (learning->norm && learning->norm_about > 0))
        return clo_i_fail(err, CLO_ARGUMENT,
                          "a norm about the center must be a finite number above 0, and is given "
                          "only where no norm is learnt");
    return CLO_OK;
}

clo_status clo_learning_rest(const clo_learning *given, clo_loss budget, clo_loss *out,
                             clo_error *err)
{
    clo_learning learning;
    CLO_TRY(take(given, &learning, err));
    CLO_TRY(clo_i_check_budget(budget, NULL, 0, err));
    const clo_loss whole = clo_i_loss_on_grid(budget);
    const double norm = learning.norm ? learning.norm_share : 0;
    const double center = learning.center ? learning.center_share : 0;
    *out = (clo_loss){ whole.epsilon * (1 - norm - center), whole.delta * (1 - center) };
    return CLO_OK;
}

/* ---- the lines ------------------------------------------------------------------------- */

typedef struct steps {
    clo_line lines[3];
    clo_loss losses[3]; /* that each is proved to stay within */
    size_t count;
} steps;

static clo_status add_quantile(const clo_plan *plan, const clo_learning *learning, double epsilon,
                               const char *label, steps *out, clo_error *err)
{
    CLO_TRY(clo_i_plan_norm_quantile(&plan->domain, STEPS, learning->quantile, epsilon * HAIR,
                                     label, &out->lines[out->count], err));
    out->losses[out->count++] = (clo_loss){ epsilon * HAIR, 0 };
    return CLO_OK;
}

static clo_status add_mean(const clo_plan *plan, clo_loss loss, steps *out, clo_error *err)
{
    const clo_loss spent = { loss.epsilon * HAIR, loss.delta * HAIR };
    CLO_TRY(clo_i_plan_cluster_sum_within(&plan->domain, 1, CLO_SUM_AUTO, spent, 1,
                                          "sum and number of the records, to learn their center",
                                          &out->lines[out->count], err));
    out->losses[out->count++] = spent;
    return CLO_OK;
}

static clo_status plan_steps(const clo_plan *plan, const clo_learning *learning, clo_loss whole,
                             steps *out, clo_error *err)
{
    const double each = whole.epsilon * learning->norm_share / (learning->center ? 2 : 1);
    const clo_loss mean = { whole.epsilon * learning->center_share,
                            whole.delta * learning->center_share };
    if (learning->norm && learning->center)
        CLO_TRY(add_quantile(plan, learning, each, "quantile of the row norms, to learn the center",
                             out, err));
    if (learning->center) CLO_TRY(add_mean(plan, mean, out, err));
    if (learning->norm)
        CLO_TRY(add_quantile(plan, learning, each, "quantile of the row norms, to learn the norm",
                             out, err));
    return CLO_OK;
}

/* The least that is proved: all lines composed by the accountant, or, where it knows no better, the
 * sum of what the steps and the mechanism stay within. */
static clo_status price_all(const clo_plan *plan, const steps *first, const clo_line *lines,
                            size_t count, clo_loss whole, clo_price *out, clo_error *err)
{
    clo_loss sum = plan->price.loss;
    clo_price price;
    for (size_t i = 0; i < first->count; i++) {
        sum.epsilon += first->losses[i].epsilon;
        sum.delta += first->losses[i].delta;
    }
    CLO_TRY(clo_i_price_lines(lines, count, whole, &price, err));
    if (price.loss.epsilon > sum.epsilon && sum.delta <= whole.delta)
        price = (clo_price){ { sum.epsilon * (1 + 0x1p-50), whole.delta }, "basic" };
    if (price.loss.epsilon > whole.epsilon)
        return clo_i_fail(err, CLO_BUDGET,
                          "the plan and what it learns first cost more than the budget together: "
                          "plan with what clo_learning_rest leaves of it");
    *out = price;
    return CLO_OK;
}

/* ---- the plan -------------------------------------------------------------------------- */

static clo_status check_domain(const clo_domain *domain, const clo_learning *learning,
                               clo_error *err)
{
    if (learning->center && domain->lower)
        return clo_i_fail(err, CLO_DOMAIN,
                          "a private center and column bounds exclude each other: bounds already "
                          "have a middle");
    if (domain->schema)
        return clo_i_fail(err, CLO_UNSUPPORTED,
                          "a schema says itself how far records reach: leave private norms and "
                          "centers out");
    if (learning->center && domain->frame)
        return clo_i_fail(err, CLO_DOMAIN,
                          "a center is learnt in the data's own columns, not in a subspace's "
                          "coordinates");
    /* About a centre no entry is zero: sparse records become dense ones (clo_i_recenter_check). */
    if (learning->center && domain->cols > MOST_COLUMNS_ABOUT)
        return clo_i_fail(err, CLO_UNSUPPORTED,
                          "a private center is possible in at most %d columns, not in %zu: give a "
                          "public one, or leave it out",
                          (int)MOST_COLUMNS_ABOUT, domain->cols);
    return CLO_OK;
}

/* Whether the domain is one, and the mechanism asks the same in it. */
static clo_status try_domain(const clo_plan *plan, const clo_domain *domain, clo_error *err)
{
    clo_line *lines = NULL;
    void *state = NULL;
    clo_error why;
    clo_status status = clo_domain_check(domain, &why);
    if (status)
        return clo_i_fail(err, status, "the run may come to a domain that is not allowed: %s",
                          why.message);
    CLO_TRY(clo_i_alloc(CLO_MAX_LINES, sizeof *lines, &lines, err));
    status = clo_i_alloc(1, plan->mechanism->plan_size, &state, err);
    if (!status) status = clo_i_plan_again(plan, domain, state, lines, err);
    clo_i_free(state);
    clo_i_free(lines);
    return status;
}

/* The centre farthest from the origin that can be learnt: the domain's own, a radius further out.
 * Nothing but its length matters to a plan, and less is easier. */
static void farthest_center(const clo_domain *domain, double radius, double *center)
{
    const size_t d = domain->cols;
    double largest = 0, square = 0;
    for (size_t j = 0; domain->center && j < d; j++)
        largest = fmax(largest, fabs(domain->center[j]));
    for (size_t j = 0; j < d; j++) {
        center[j] = largest > 0 ? domain->center[j] / largest : 1;
        square += center[j] * center[j];
    }
    for (size_t j = 0; j < d; j++)
        center[j] = (largest > 0 ? domain->center[j] : 0) + center[j] / sqrt(square) * radius;
}

/* The mechanism must ask the same in every domain that can be learnt: at the smallest norm as at
 * the largest, which about a learnt centre is twice the domain's, or at the norm that was given for
 * there; and with a centre as without one. */
static clo_status check_mechanism(const clo_plan *plan, const clo_learning *learning,
                                  clo_error *err)
{
    /* What a run computes of these may be rounded, but not by so much. */
    const double more = 1 + 0x1p-40, less = 1 - 0x1p-40;
    const double radius = clo_i_domain_radius(&plan->domain);
    const double about = learning->norm_about > 0 ? learning->norm_about : radius;
    clo_domain changed = plan->domain;
    double *center = NULL;
    if (strcmp(plan->mechanism->family, "bounds") == 0)
        return clo_i_fail(err, CLO_UNSUPPORTED,
                          "this run looks for bounds: leave out the private norm and center");
    changed.norm = learning->norm ? ldexp(radius * less, -CLO_QUANTILE_OCTAVES) : about;
    if (!learning->center) return try_domain(plan, &changed, err);
    CLO_TRY(clo_i_alloc(plan->domain.cols, sizeof *center, &center, err));
    farthest_center(&plan->domain, radius * more, center);
    changed.center = center;
    clo_status status = try_domain(plan, &changed, err);
    changed.norm = 2 * radius * more;
    if (!status && learning->norm) status = try_domain(plan, &changed, err);
    clo_i_free(center);
    return status;
}

/* What is taken to learn is given back before the mechanism runs. */
static clo_status widen_workspace(const clo_plan *plan, size_t *bytes, clo_error *err)
{
    clo_workspace *counting = NULL;
    CLO_TRY(clo_i_workspace_counting(&counting, err));
    const clo_status status = clo_i_learn_room(counting, &plan->domain, err);
    const size_t needed = clo_i_workspace_peak(counting);
    *bytes = needed > plan->workspace ? needed : plan->workspace;
    clo_workspace_free(counting);
    return status;
}

/* All that can fail is done before the plan is touched. */
static clo_status prepend(clo_plan *plan, const clo_learning *learning, clo_loss budget,
                          const steps *first, clo_error *err)
{
    const clo_loss whole = clo_i_loss_on_grid(budget);
    const size_t count = first->count + plan->line_count;
    clo_line *lines = NULL;
    clo_price price;
    size_t workspace;
    if (count > CLO_MAX_LINES)
        return clo_i_fail(err, CLO_UNSUPPORTED, "the plan has too many lines to learn more first");
    CLO_TRY(widen_workspace(plan, &workspace, err));
    CLO_TRY(clo_i_alloc(count, sizeof *lines, &lines, err));
    memcpy(lines, first->lines, first->count * sizeof *lines);
    memcpy(lines + first->count, plan->lines, plan->line_count * sizeof *lines);
    clo_status status = clo_i_check_budget(budget, lines, count, err);
    if (!status) status = price_all(plan, first, lines, count, whole, &price, err);
    if (status) {
        clo_i_free(lines);
        return status;
    }
    clo_i_free(plan->lines);
    plan->lines = lines;
    plan->line_count = count;
    plan->steps = first->count;
    plan->learning = *learning;
    plan->budget = budget;
    plan->price = price;
    if (price.loss.delta <= 0) plan->budget.delta = 0;
    plan->workspace = workspace;
    clo_i_plan_identify(plan);
    return CLO_OK;
}

clo_status clo_plan_learn(clo_plan *plan, const clo_learning *given, clo_loss budget,
                          clo_error *err)
{
    clo_learning learning;
    steps first = { .count = 0 };
    CLO_TRY(take(given, &learning, err));
    CLO_TRY(clo_i_check_budget(budget, NULL, 0, err));
    if (plan->steps)
        return clo_i_fail(err, CLO_ARGUMENT, "the plan learns something first already");
    CLO_TRY(check_domain(&plan->domain, &learning, err));
    CLO_TRY(check_mechanism(plan, &learning, err));
    CLO_TRY(plan_steps(plan, &learning, clo_i_loss_on_grid(budget), &first, err));
    return prepend(plan, &learning, budget, &first, err);
}

const clo_learning *clo_plan_learning(const clo_plan *plan)
{
    return plan->steps ? &plan->learning : NULL;
}
