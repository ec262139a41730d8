/*
 * plan.c - everything about a run that does not depend on the data.
 *
 * The mechanism drafts its lines; the accountant prices them.  What the mechanism believes about
 * its cost plays no part: lines that cost more than the budget are refused here.
 */
#include "plan/mechanism.h"
#include "base/planted.h"
#include "domain/domain.h"
#include "parallel/parallel.h"
#include "ask/lens_cache.h"
#include "ask/lens.h"
#include <math.h>
#include <sodium.h>
#include <string.h>

/* The ledger counts delta in units of 2^-62; and far below that the tail that the Gaussian sampler
 * leaves out would show (gaussian.T1). */
static const double SMALLEST_DELTA = 1e-18;
/* Above it the tail would show, too: a loss of e^epsilon magnifies it (gaussian.T1). */
const double clo_i_largest_epsilon = 300;

clo_status clo_i_draft_add(clo_draft *draft, const clo_line *line, clo_error *err)
{
    if (draft->line_count == CLO_MAX_LINES)
        return clo_i_fail(err, CLO_INTERNAL, "a plan has at most %d lines", (int)CLO_MAX_LINES);
    draft->lines[draft->line_count++] = *line;
    return CLO_OK;
}

clo_status clo_i_check_budget(clo_loss budget, const clo_line *lines, size_t count, clo_error *err)
{
    if (!isfinite(budget.epsilon) || budget.epsilon <= 0)
        return clo_i_fail(err, CLO_ARGUMENT, "epsilon must be a finite number above 0, not %g",
                          budget.epsilon);
    if (!(budget.delta >= 0 && budget.delta < 1))
        return clo_i_fail(err, CLO_ARGUMENT, "delta must be at least 0 and below 1, not %g",
                          budget.delta);
    if (budget.delta > 0 && budget.delta < SMALLEST_DELTA)
        return clo_i_fail(err, CLO_ARGUMENT, "delta must be 0 or at least %g, not %g",
                          SMALLEST_DELTA, budget.delta);
    for (size_t i = 0; i < count; i++)
        if (lines[i].event.kind == CLO_EVENT_GAUSSIAN && budget.epsilon > clo_i_largest_epsilon)
            return clo_i_fail(err, CLO_ARGUMENT,
                              "epsilon must be at most %g with Gaussian noise, not %g",
                              clo_i_largest_epsilon, budget.epsilon);
    return CLO_OK;
}

clo_status clo_i_price_lines(const clo_line *lines, size_t count, clo_loss budget, clo_price *price,
                             clo_error *err)
{
    clo_event events[CLO_MAX_LINES];
    clo_error unused;
    for (size_t i = 0; i < count; i++) events[i] = lines[i].event;
    const clo_status status = clo_price_epsilon(events, count, 0, price, &unused);
    if (status == CLO_MEMORY) return clo_i_fail(err, status, "%s", unused.message);
    if (!status && price->loss.epsilon <= budget.epsilon) return CLO_OK;
    return clo_price_epsilon(events, count, budget.delta, price, err);
}

/* ---- what makes a plan the one it is --------------------------------------------------- */

/* What two plans must have in common to ask the same. */
static bool ask_the_same(const clo_line *a, const clo_line *b)
{
    uint8_t bytes[CLO_LINE_BYTES];
    clo_i_line_write(a, bytes);
    return clo_i_line_is(b, bytes);
}

typedef crypto_generichash_state hash;

static void hash_bytes(hash *state, const void *bytes, size_t count)
{
    crypto_generichash_update(state, bytes, count);
}

static void hash_doubles(hash *state, const double *values, size_t count)
{
    const uint8_t present = values != NULL;
    hash_bytes(state, &present, 1);
    if (values) hash_bytes(state, values, count * sizeof *values);
}

static void hash_text(hash *state, const char *text)
{
    const uint8_t present = text != NULL;
    hash_bytes(state, &present, 1);
    if (text) hash_bytes(state, text, strlen(text) + 1);
}

static void hash_domain(hash *state, const clo_domain *domain)
{
    const uint64_t facts[] = { (uint64_t)domain->relation, domain->cols, domain->rows,
                               domain->rows_per_unit, domain->frame != NULL };
    hash_bytes(state, facts, sizeof facts);
    hash_text(state, domain->unit);
    hash_doubles(state, &domain->norm, 1);
    hash_doubles(state, domain->lower, domain->cols);
    hash_doubles(state, domain->upper, domain->cols);
    hash_doubles(state, domain->center, domain->cols);
    if (domain->schema) {
        hash_text(state, domain->schema->digest);
        hash_text(state, domain->schema->own);
    }
    if (!domain->frame) return;
    const clo_frame *const frame = domain->frame;
    const uint64_t origin[] = { frame->rows, (uint64_t)frame->relation, (uint64_t)frame->guarantee,
                                frame->not_private };
    hash_bytes(state, origin, sizeof origin);
    hash_text(state, frame->digest);
    hash_text(state, frame->unit);
    hash_doubles(state, frame->basis, frame->rows * frame->cols);
    hash_doubles(state, frame->origin, frame->rows);
}

static void hash_learning(hash *state, const clo_plan *plan)
{
    const clo_learning *const learning = &plan->learning;
    const uint64_t facts[] = { plan->steps, learning->norm, learning->center };
    const double reals[] = { learning->norm_share, learning->center_share, learning->quantile,
                             learning->norm_about };
    if (!plan->steps) return;
    hash_bytes(state, facts, sizeof facts);
    hash_doubles(state, reals, sizeof reals / sizeof *reals);
}

/* Field by field: a struct's padding is not part of a plan. */
void clo_i_plan_identify(clo_plan *plan)
{
    const double losses[] = { plan->budget.epsilon, plan->budget.delta, plan->rest.epsilon,
                              plan->rest.delta };
    const uint64_t counts[] = { plan->line_count, plan->steps };
    hash state;
    crypto_generichash_init(&state, NULL, 0, sizeof plan->id);
    hash_text(&state, plan->mechanism->family);
    hash_text(&state, plan->mechanism->method);
    hash_domain(&state, &plan->domain);
    hash_doubles(&state, losses, sizeof losses / sizeof *losses);
    hash_doubles(&state, plan->values, plan->mechanism->param_count);
    hash_bytes(&state, counts, sizeof counts);
    for (size_t i = 0; i < plan->line_count; i++) {
        uint8_t bytes[CLO_LINE_BYTES];
        clo_i_line_write(&plan->lines[i], bytes);
        hash_bytes(&state, bytes, sizeof bytes);
    }
    hash_learning(&state, plan);
    crypto_generichash_final(&state, plan->id, sizeof plan->id);
}

/* What the test build may have done wrong; narrow: room for a domain. */
static const clo_domain *planned_for(const clo_domain *domain, clo_domain *narrow)
{
    if (!clo_i_planted(CLO_FAULT_UNIT_FORGOTTEN)) return domain;
    *narrow = *domain;
    narrow->rows_per_unit = 1;
    return narrow;
}

/* ---- making it ------------------------------------------------------------------------- */

/* Gives the plan its own copies of what the draft holds. */
static clo_status settle(clo_plan *plan, const clo_draft *draft, clo_error *err)
{
    CLO_TRY(clo_i_alloc(draft->line_count, sizeof *plan->lines, &plan->lines, err));
    memcpy(plan->lines, draft->lines, draft->line_count * sizeof *plan->lines);
    plan->line_count = draft->line_count;
    plan->workspace = draft->workspace;
    return clo_i_check_budget(plan->budget, plan->lines, plan->line_count, err);
}

clo_status clo_i_plan_price(clo_plan *plan, clo_error *err)
{
    const clo_loss budget = clo_i_loss_on_grid(plan->budget);
    CLO_TRY(clo_i_price_lines(plan->lines, plan->line_count, budget, &plan->price, err));
    if (plan->price.loss.delta <= 0) plan->budget.delta = 0;
    if (plan->price.loss.epsilon > budget.epsilon)
        return clo_i_fail(err, CLO_INTERNAL, "the plan of %s/%s costs more than its budget",
                          plan->mechanism->family, plan->mechanism->method);
    clo_i_plan_identify(plan);
    return CLO_OK;
}

/* The mechanism's part of a plan; what it takes of the room is what its run will. */
static clo_status draft_it(const clo_mechanism *mechanism, clo_draft *draft, void *state,
                           clo_error *err)
{
    CLO_TRY(clo_i_workspace_counting(&draft->room, err));
    const clo_status status = mechanism->plan(draft, state, err);
    draft->workspace = clo_i_workspace_peak(draft->room);
    clo_workspace_free(draft->room);
    draft->room = NULL;
    return status;
}

static clo_status fill(clo_plan *plan, const clo_params *params, const clo_domain *domain,
                       clo_error *err)
{
    const clo_mechanism *const mechanism = params->owner;
    clo_draft *draft = NULL;
    clo_domain narrow;
    CLO_TRY(clo_i_domain_copy(domain, &plan->domain, err));
    CLO_TRY(clo_i_alloc(mechanism->param_count, sizeof(double), &plan->values, err));
    memcpy(plan->values, params->values, mechanism->param_count * sizeof(double));
    CLO_TRY(clo_i_alloc(1, mechanism->plan_size, &plan->state, err));
    CLO_TRY(clo_i_alloc(1, sizeof *draft, &draft, err));
    draft->domain = planned_for(&plan->domain, &narrow);
    draft->values = plan->values;
    /* What the ledger will count (ledger.T6): ten runs at 0.1 then fit under a cap of 1. */
    draft->budget = clo_i_loss_on_grid(plan->budget);
    clo_status status = draft_it(mechanism, draft, plan->state, err);
    if (!status) status = settle(plan, draft, err);
    clo_i_free(draft);
    return status;
}

clo_status clo_i_plan_again(const clo_plan *plan, const clo_domain *domain, void *state,
                            clo_line *lines, clo_error *err)
{
    const size_t count = plan->line_count - plan->steps;
    clo_draft *draft = NULL;
    clo_domain narrow;
    CLO_TRY(clo_i_alloc(1, sizeof *draft, &draft, err));
    draft->domain = planned_for(domain, &narrow);
    draft->values = plan->values;
    draft->budget = clo_i_loss_on_grid(plan->rest);
    clo_status status = draft_it(plan->mechanism, draft, state, err);
    bool same = draft->line_count == count && draft->workspace <= plan->workspace;
    for (size_t i = 0; same && i < count; i++)
        same = ask_the_same(&draft->lines[i], &plan->lines[plan->steps + i]);
    if (!status && !same)
        status = clo_i_fail(err, CLO_UNSUPPORTED,
                            "%s/%s cannot find a private norm in the same run: find one first with "
                            "'cloister bounds'",
                            plan->mechanism->family, plan->mechanism->method);
    if (!status) memcpy(lines, draft->lines, count * sizeof *lines);
    clo_i_free(draft);
    return status;
}

/* Levels are places, not directions: only what looks for centers makes sense of them. */
static clo_status check_schema(const clo_mechanism *mechanism, clo_error *err)
{
    const bool centers =
        strcmp(mechanism->family, "kmeans") == 0 || strcmp(mechanism->family, "kmedian") == 0;
    if (centers && strcmp(mechanism->method, "sparse") != 0) return CLO_OK;
    return clo_i_fail(
        err, CLO_UNSUPPORTED,
        "%s/%s does not work with a schema: use kmeans or kmedian, or give bounds and "
        "columns of numbers",
        mechanism->family, mechanism->method);
}

clo_status clo_i_plan_unpriced(const clo_params *params, const clo_domain *domain, clo_loss budget,
                               clo_guarantee accept, clo_plan **out, clo_error *err)
{
    const clo_mechanism *const mechanism = params->owner;
    clo_plan *plan = NULL;
    CLO_TRY(clo_domain_check(domain, err));
    CLO_TRY(clo_i_check_budget(budget, NULL, 0, err));
    const clo_guarantee guarantee =
        mechanism->guarantee_of ? mechanism->guarantee_of(params->values) : mechanism->guarantee;
    if (guarantee > accept) {
        (void)clo_i_fail(err, CLO_ARGUMENT,
                         "%s/%s has the guarantee %s, which is weaker than exact: choose another "
                         "method, or accept it (accept %s)",
                         mechanism->family, mechanism->method, clo_guarantee_name(guarantee),
                         clo_guarantee_name(guarantee));
        return clo_i_advise(err, CLO_ARGUMENT, "accept %s", clo_guarantee_name(guarantee));
    }
    clo_domain whole;
    CLO_TRY(clo_i_domain_take(domain, &whole, err));
    if (whole.frame && strcmp(mechanism->family, "bounds") == 0)
        return clo_i_fail(err, CLO_UNSUPPORTED,
                          "bounds are of the data's own columns, not of a subspace's coordinates");
    if (whole.schema) CLO_TRY(check_schema(mechanism, err));
    CLO_TRY(clo_i_alloc(1, sizeof *plan, &plan, err));
    plan->mechanism = mechanism;
    plan->guarantee = guarantee;
    plan->budget = plan->rest = budget;
    const clo_status status = fill(plan, params, domain, err);
    if (status)
        clo_plan_free(plan);
    else
        *out = plan;
    return status;
}

clo_status clo_plan_new(const clo_params *params, const clo_domain *domain, clo_loss budget,
                        clo_guarantee accept, clo_plan **out, clo_error *err)
{
    clo_plan *plan = NULL;
    CLO_TRY(clo_i_plan_unpriced(params, domain, budget, accept, &plan, err));
    const clo_status status = clo_i_plan_price(plan, err);
    if (status)
        clo_plan_free(plan);
    else
        *out = plan;
    return status;
}

void clo_plan_free(clo_plan *plan)
{
    if (!plan) return;
    clo_i_domain_clear(&plan->domain);
    clo_i_free(plan->values);
    clo_i_free(plan->state);
    clo_i_free(plan->lines);
    clo_i_free(plan);
}

const clo_mechanism *clo_plan_mechanism(const clo_plan *plan)
{
    return plan->mechanism;
}

double clo_plan_value(const clo_plan *plan, size_t i)
{
    return i < plan->mechanism->param_count ? plan->values[i] : NAN;
}

static clo_status find_value(const clo_plan *plan, const char *name, size_t *index, clo_error *err)
{
    const clo_mechanism *const m = plan->mechanism;
    if (clo_i_param_find(m->params, m->param_count, name, index)) return CLO_OK;
    return clo_i_fail(err, CLO_ARGUMENT, "%s/%s has no parameter '%s'", m->family, m->method, name);
}

clo_status clo_plan_value_of(const clo_plan *plan, const char *name, double *value, clo_error *err)
{
    size_t i = 0;
    CLO_TRY(find_value(plan, name, &i, err));
    *value = plan->values[i];
    return CLO_OK;
}

clo_status clo_plan_value_text(const clo_plan *plan, const char *name, char text[CLO_VALUE_SIZE],
                               clo_error *err)
{
    size_t i = 0;
    CLO_TRY(find_value(plan, name, &i, err));
    clo_i_param_word(&plan->mechanism->params[i], plan->values[i], text);
    return CLO_OK;
}

const clo_domain *clo_plan_domain(const clo_plan *plan)
{
    return &plan->domain;
}

clo_guarantee clo_plan_guarantee(const clo_plan *plan)
{
    return plan->guarantee;
}

clo_loss clo_plan_budget(const clo_plan *plan)
{
    return plan->budget;
}

clo_price clo_plan_price(const clo_plan *plan)
{
    return plan->price;
}

size_t clo_plan_workspace(const clo_plan *plan, int threads)
{
    return clo_i_plan_workspace(plan, NULL, NULL, clo_i_threads(threads), 0);
}

/* The records as they are seen, where a run learns first; what the mechanism takes; and the most
 * that a query does. */
static clo_status count_run(const clo_plan *plan, const clo_bounded *data, const clo_ranks *ranks,
                            int threads, size_t block_rows, clo_workspace *space, clo_error *err)
{
    char *mechanism;
    clo_kept kept = { .data = data };
    if (data) CLO_TRY(clo_i_kept_take(space, plan->lines, plan->line_count, data, &kept, err));
    if (data && plan->steps) CLO_TRY(clo_i_recenter_room(space, data, plan->learning.center, err));
    CLO_TRY(clo_i_take(space, plan->workspace, 1, &mechanism, err));
    const size_t mark = clo_i_workspace_mark(space);
    for (size_t i = 0; i < plan->line_count; i++) {
        CLO_TRY(clo_i_kept_room(space, &kept, &plan->lines[i], err));
        CLO_TRY(clo_i_query_room(space, &plan->lines[i], plan->domain.cols, data, ranks, block_rows,
                                 threads, err));
        clo_i_workspace_release(space, mark);
    }
    return CLO_OK;
}

size_t clo_i_plan_workspace(const clo_plan *plan, const clo_bounded *data, const clo_ranks *ranks,
                            int threads, size_t block_rows)
{
    clo_workspace *counting = NULL;
    size_t bytes = SIZE_MAX;
    if (clo_i_workspace_counting(&counting, NULL)) return SIZE_MAX;
    if (!count_run(plan, data, ranks, threads, block_rows, counting, NULL))
        bytes = clo_i_workspace_peak(counting);
    clo_workspace_free(counting);
    return bytes;
}

void clo_plan_digest(const clo_plan *plan, uint8_t out[CLO_PLAN_DIGEST_BYTES])
{
    _Static_assert(sizeof plan->id == CLO_PLAN_DIGEST_BYTES, "the same hash as a grant's");
    memcpy(out, plan->id, sizeof plan->id);
}

size_t clo_plan_line_count(const clo_plan *plan)
{
    return plan->line_count;
}

/* What an event weighs beside others, in zCDP's unit; for display only. */
static double weight(const clo_event *event)
{
    const double square = event->parameter * event->parameter * (double)event->count;
    return event->kind == CLO_EVENT_EXPONENTIAL ? square / 8 : square / 2;
}

void clo_plan_line_get(const clo_plan *plan, size_t i, clo_plan_line *out, size_t size)
{
    double all = 0;
    for (size_t j = 0; j < plan->line_count; j++) all += weight(&plan->lines[j].event);
    const clo_line *const line = &plan->lines[i];
    const clo_plan_line shown = { .query = clo_i_query_name(line->query),
                                  .label = line->label,
                                  .event = line->event,
                                  .noise = line->noise,
                                  .share = all > 0 ? weight(&line->event) / all : 0,
                                  .reading = clo_i_line_reading(line) };
    clo_i_give_presets(out, size, &shown, sizeof shown);
}

clo_reading clo_plan_reading(const clo_plan *plan)
{
    clo_reading most = CLO_READING_SUM;
    for (size_t i = 0; i < plan->line_count; i++) {
        const clo_reading reading = clo_i_line_reading(&plan->lines[i]);
        if (reading > most) most = reading;
    }
    return most;
}
