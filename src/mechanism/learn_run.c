/*
 * learn_run.c - the steps of a run that learns its norm and centre first (learn.T1): asks for them,
 * puts the records about the centre and inside the norm, and makes the plan to go on with.
 */
#include "mechanism/centers_common.h"
#include "mechanism/norm_quantile.h"
#include "domain/domain.h"
#include <math.h>
#include <string.h>

/* Where the records are looked at from, in ball coordinates of the plan's domain. */
typedef struct place {
    double *shift; /* cols */
    bool moved;
    double radius;
    double narrowed; /* the radius within which the centre was asked for, as a share of the first */
} place;

/* The domain of a place: the arrays are its own. */
static clo_status domain_at(const clo_domain *domain, const place *at, clo_domain *out,
                            clo_error *err)
{
    clo_domain copy;
    double *center = NULL;
    CLO_TRY(clo_i_domain_copy(domain, &copy, err));
    copy.norm = at->radius;
    if (at->moved) {
        const clo_status status = clo_i_alloc(domain->cols, sizeof *center, &center, err);
        if (status) {
            clo_i_domain_clear(&copy);
            return status;
        }
        for (size_t j = 0; j < domain->cols; j++)
            center[j] = (domain->center ? domain->center[j] : 0) + at->shift[j];
        clo_i_free((void *)(uintptr_t)copy.center);
        copy.center = center;
    }
    *out = copy;
    return CLO_OK;
}

static clo_status look_from(const clo_plan *plan, const clo_bounded *data, const place *at,
                            clo_bounded *seen, clo_error *err)
{
    clo_domain domain;
    CLO_TRY(domain_at(&plan->domain, at, &domain, err));
    const clo_status status =
        clo_i_recenter(data, &domain, at->moved ? at->shift : NULL, seen, err);
    clo_i_domain_clear(&domain);
    return status;
}

/* ---- the steps ------------------------------------------------------------------------- */

/* The records as they came, and room for them as they are seen from a place. */
typedef struct records {
    const clo_bounded *data;
    clo_bounded *seen;
} records;

/* Narrows the place's radius to the quantile of the norms about it. */
static clo_status learn_norm(const clo_plan *plan, size_t slot, const records *r,
                             clo_context *context, place *at, clo_error *err)
{
    double share = 1;
    CLO_TRY(look_from(plan, r->data, at, r->seen, err));
    CLO_TRY(clo_i_ask_norm_quantile(context, slot, r->seen, CLO_LEARN_STEPS, &share, err));
    at->radius *= share;
    return CLO_OK;
}

/* Moves the place to the noisy mean of the records inside it, unless their number is noise. */
static clo_status learn_center(const clo_plan *plan, size_t slot, const records *r,
                               clo_context *context, place *at, clo_error *err)
{
    const clo_assign all = { .kind = CLO_ASSIGN_ONE, .clusters = 1 };
    const size_t d = plan->domain.cols;
    double size = 0;
    CLO_TRY(look_from(plan, r->data, at, r->seen, err));
    CLO_TRY(clo_i_ask_cluster_sum(context, slot, r->seen, &all, at->shift, &size, err));
    const bool told = !clo_i_size_is_noise(&plan->slots[slot], size);
    for (size_t j = 0; j < d; j++) at->shift[j] = told ? at->shift[j] / size : 0;
    clo_i_pull_into_ball(at->shift, d);
    for (size_t j = 0; j < d; j++) at->shift[j] *= at->radius;
    at->narrowed = at->radius / clo_i_domain_radius(&plan->domain);
    at->moved = true;
    return CLO_OK;
}

static double length(const double *vector, size_t d)
{
    double square = 0;
    for (size_t j = 0; j < d; j++) square += vector[j] * vector[j];
    return sqrt(square);
}

static clo_status take_steps(const clo_plan *plan, const records *r, clo_context *context,
                             place *at, clo_error *err)
{
    const clo_learning *const learning = &plan->learning;
    const double widest = clo_i_domain_radius(&plan->domain);
    size_t slot = 0;
    if (learning->norm && learning->center) CLO_TRY(learn_norm(plan, slot++, r, context, at, err));
    if (learning->center) {
        CLO_TRY(learn_center(plan, slot++, r, context, at, err));
        /* About the centre, a record may lie as far out as this. */
        at->radius = widest + length(at->shift, plan->domain.cols);
    }
    if (learning->norm) return learn_norm(plan, slot, r, context, at, err);
    at->radius = learning->norm_about > 0 ? learning->norm_about : widest;
    return CLO_OK;
}

/* ---- what comes of them ---------------------------------------------------------------- */

/* The plan in the domain that was learnt: what the mechanism asks is what was paid for. */
static clo_status make_plan(const clo_plan *plan, const place *at, clo_plan *out, clo_error *err)
{
    clo_plan learnt = *plan;
    learnt.state = NULL;
    learnt.slots = NULL;
    CLO_TRY(domain_at(&plan->domain, at, &learnt.domain, err));
    clo_status status = clo_i_alloc(1, plan->mechanism->plan_size, &learnt.state, err);
    if (!status) status = clo_i_alloc(plan->slot_count, sizeof *learnt.slots, &learnt.slots, err);
    if (!status) {
        memcpy(learnt.slots, plan->slots, plan->steps * sizeof *learnt.slots);
        for (size_t i = 0; i < plan->steps; i++) learnt.slots[i].noise *= at->narrowed;
        status =
            clo_i_plan_again(plan, &learnt.domain, learnt.state, learnt.slots + plan->steps, err);
    }
    if (status) {
        clo_i_domain_clear(&learnt.domain);
        clo_i_free(learnt.state);
        clo_i_free(learnt.slots);
        return status;
    }
    *out = learnt;
    return CLO_OK;
}

static clo_status tell(const clo_plan *learnt, const place *at, clo_release *release,
                       clo_error *err)
{
    if (at->moved)
        CLO_TRY(clo_i_release_put(release, "learnt_center", learnt->domain.center, 1,
                                  (size_t[]){ learnt->domain.cols }, err));
    if (!learnt->learning.norm) return CLO_OK;
    return clo_i_release_put(release, "learnt_norm", &at->radius, 1, (size_t[]){ 1 }, err);
}

size_t clo_i_learn_rows_workspace(const clo_plan *plan, const clo_bounded *data)
{
    return plan->steps ? clo_i_recenter_size(data, plan->learning.center) : 0;
}

/* The records as they are seen stay in the workspace until the run ends. */
clo_status clo_i_learn(const clo_plan *plan, const clo_bounded *data, clo_context *context,
                       clo_release *release, clo_i_learnt *out, clo_error *err)
{
    clo_i_learnt learnt = { .data = NULL };
    clo_meter meter = { .slots = plan->slots, .count = plan->steps };
    clo_meter *const later = context->meter;
    place at = { .radius = clo_i_domain_radius(&plan->domain), .narrowed = 1 };
    CLO_TRY(
        clo_i_recenter_take(context->workspace, data, plan->learning.center, &learnt.data, err));
    const size_t mark = clo_i_workspace_mark(context->workspace);
    const records r = { data, learnt.data };
    clo_status status =
        clo_i_take(context->workspace, plan->domain.cols, sizeof *at.shift, &at.shift, err);
    context->meter = &meter;
    context->progress_to = 0; /* the steps are short, and what follows counts from the start */
    if (!status) status = take_steps(plan, &r, context, &at, err);
    context->meter = later;
    context->progress_to = 1;
    if (!status) status = look_from(plan, data, &at, learnt.data, err);
    if (!status) status = make_plan(plan, &at, &learnt.plan, err);
    if (!status) {
        *out = learnt;
        status = tell(&learnt.plan, &at, release, err);
        if (status) clo_i_learnt_free(out);
    } else {
        clo_bounded_free(learnt.data);
    }
    clo_i_workspace_release(context->workspace, mark);
    return status;
}

void clo_i_learnt_free(clo_i_learnt *learnt)
{
    clo_bounded_free(learnt->data);
    clo_i_domain_clear(&learnt->plan.domain);
    clo_i_free(learnt->plan.state);
    clo_i_free(learnt->plan.slots);
}
