/*
 * learn_run.c - the steps of a run that learns its norm and centre first (learn.T1): asks for them,
 * puts the records about the centre and inside the norm, and makes the plan to go on with.
 */
#include "plan/norm_quantile.h"
#include "domain/domain.h"
#include "parallel/parallel.h"
#include "ask/assign.h"
#include "query/cluster_sum.h"
#include "ask/lens.h"
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

/* The records as they came, and room for them as they are seen from a place. */
typedef struct records {
    const clo_bounded *data;
    clo_bounded *seen;
} records;

/* A place as the other ranks are told it: radius, whether it was moved, and the shift. */
enum { PLACE_WORDS = 2 };

static clo_status look_everywhere(const clo_plan *plan, const records *r, clo_context *context,
                                  const place *at, clo_error *err)
{
    const size_t cols = plan->domain.cols;
    double *told = NULL;
    if (context->comm->size > 1) {
        CLO_TRY(clo_i_alloc(PLACE_WORDS + cols, sizeof *told, &told, err));
        told[0] = at->radius;
        told[1] = at->moved;
        memcpy(told + PLACE_WORDS, at->shift, cols * sizeof *told);
        const clo_status status = clo_i_comm_send(context->comm, CLO_MESSAGE_LOOK, told,
                                                  (PLACE_WORDS + cols) * sizeof *told, err);
        clo_i_free(told);
        CLO_TRY(status);
    }
    return look_from(plan, r->data, at, r->seen, err);
}

clo_status clo_i_look_for_rank_0(const clo_plan *plan, const clo_bounded *data,
                                 const uint8_t *bytes, size_t count, clo_bounded *seen,
                                 clo_error *err)
{
    const double *const told = (const double *)(const void *)bytes;
    const size_t cols = plan->domain.cols;
    if (count != (PLACE_WORDS + cols) * sizeof *told || !(told[0] > 0) || !isfinite(told[0]))
        return clo_i_fail(err, CLO_FORMAT, "rank 0 looks at the rows from no place at all");
    for (size_t j = 0; j < cols; j++)
        if (!isfinite(told[PLACE_WORDS + j]))
            return clo_i_fail(err, CLO_FORMAT, "rank 0 looks at the rows from no place at all");
    const place at = { .shift = (double *)(uintptr_t)(told + PLACE_WORDS),
                       .moved = told[1] != 0,
                       .radius = told[0] };
    return look_from(plan, data, &at, seen, err);
}

/* ---- the steps ------------------------------------------------------------------------- */

/* Narrows the place's radius to the quantile of the norms about it. */
static clo_status learn_norm(const clo_plan *plan, size_t line, const records *r,
                             clo_context *context, place *at, clo_error *err)
{
    double share = 1;
    CLO_TRY(look_everywhere(plan, r, context, at, err));
    CLO_TRY(clo_i_ask_norm_quantile(context, line, r->seen, CLO_LEARN_STEPS, &share, err));
    at->radius *= share;
    return CLO_OK;
}

/* Moves the place to the noisy mean of the records inside it, unless their number is noise. */
static clo_status learn_center(const clo_plan *plan, size_t line, const records *r,
                               clo_context *context, place *at, clo_error *err)
{
    const clo_assign all = { .kind = CLO_ASSIGN_ONE, .clusters = 1 };
    const size_t d = plan->domain.cols;
    double size = 0;
    CLO_TRY(look_everywhere(plan, r, context, at, err));
    CLO_TRY(clo_i_ask_cluster_sum(context, line, r->seen, &all, at->shift, &size, err));
    const bool told = !clo_i_size_is_noise(&plan->lines[line], size);
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
    size_t line = 0;
    if (learning->norm && learning->center) CLO_TRY(learn_norm(plan, line++, r, context, at, err));
    if (learning->center) {
        CLO_TRY(learn_center(plan, line++, r, context, at, err));
        /* About the centre, a record may lie as far out as this. */
        at->radius = widest + length(at->shift, plan->domain.cols);
    }
    if (learning->norm) return learn_norm(plan, line, r, context, at, err);
    at->radius = learning->norm_about > 0 ? learning->norm_about : widest;
    return CLO_OK;
}

/* ---- what comes of them ---------------------------------------------------------------- */

/* The plan in the domain that was learnt: what the mechanism asks is what was paid for. */
static clo_status make_plan(const clo_plan *plan, const place *at, clo_plan *out, clo_error *err)
{
    clo_plan learnt = *plan;
    learnt.state = NULL;
    learnt.lines = NULL;
    CLO_TRY(domain_at(&plan->domain, at, &learnt.domain, err));
    clo_status status = clo_i_alloc(1, plan->mechanism->plan_size, &learnt.state, err);
    if (!status) status = clo_i_alloc(plan->line_count, sizeof *learnt.lines, &learnt.lines, err);
    if (!status) {
        memcpy(learnt.lines, plan->lines, plan->steps * sizeof *learnt.lines);
        for (size_t i = 0; i < plan->steps; i++) learnt.lines[i].noise *= at->narrowed;
        status =
            clo_i_plan_again(plan, &learnt.domain, learnt.state, learnt.lines + plan->steps, err);
    }
    if (status) {
        clo_i_domain_clear(&learnt.domain);
        clo_i_free(learnt.state);
        clo_i_free(learnt.lines);
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

static clo_status take_place(clo_workspace *space, const clo_domain *domain, place *at,
                             clo_error *err)
{
    return clo_i_take(space, domain->cols, sizeof *at->shift, &at->shift, err);
}

clo_status clo_i_learn_room(clo_workspace *space, const clo_domain *domain, clo_error *err)
{
    const size_t mark = clo_i_workspace_mark(space);
    place unused;
    CLO_TRY(take_place(space, domain, &unused, err));
    CLO_TRY(clo_i_norm_quantile_room(space, CLO_LEARN_STEPS, err));
    clo_i_workspace_release(space, mark);
    return CLO_OK;
}

/* The records as they are seen stay in the workspace until the run ends. */
clo_status clo_i_learn(const clo_plan *plan, const clo_bounded *data, clo_context *context,
                       clo_release *release, clo_i_learnt *out, clo_error *err)
{
    clo_i_learnt learnt = { .data = NULL };
    clo_meter meter = { .lines = plan->lines, .count = plan->steps };
    clo_meter *const later = context->meter;
    place at = { .radius = clo_i_domain_radius(&plan->domain), .narrowed = 1 };
    CLO_TRY(
        clo_i_recenter_take(context->workspace, data, plan->learning.center, &learnt.data, err));
    const size_t mark = clo_i_workspace_mark(context->workspace);
    const records r = { data, learnt.data };
    clo_status status = take_place(context->workspace, &plan->domain, &at, err);
    context->meter = &meter;
    context->progress_to = 0; /* the steps are short, and what follows counts from the start */
    if (!status) status = take_steps(plan, &r, context, &at, err);
    if (!status) clo_i_meter_finish(&meter);
    context->meter = later;
    context->progress_to = 1;
    if (!status) status = look_everywhere(plan, &r, context, &at, err);
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
    clo_i_free(learnt->plan.lines);
}
