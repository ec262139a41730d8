/*
 * run.c - the only caller of a mechanism's run: where a plan, a grant, the data and randomness
 * meet, and where the release is given its facts.
 */
#include "domain/domain.h"
#include "mechanism/lift.h"
#include "mechanism/mechanism.h"
#include "parallel/parallel.h"
#include "random/random.h"
#include <math.h>
#include <omp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

clo_run_options clo_run_options_default(void)
{
    return (clo_run_options){ .struct_size = sizeof(clo_run_options) };
}

/* ---- the facts of a release ------------------------------------------------------------ */

static clo_status copy_doubles(const double *from, size_t count, double **to, clo_error *err)
{
    if (!from) return CLO_OK;
    CLO_TRY(clo_i_alloc(count, sizeof **to, to, err));
    memcpy(*to, from, count * sizeof **to);
    return CLO_OK;
}

static clo_status describe_parameters(const clo_plan *plan, clo_facts *facts, clo_error *err)
{
    const clo_mechanism *const m = plan->mechanism;
    CLO_TRY(clo_i_alloc(m->param_count, sizeof(char *), &facts->parameter_names, err));
    CLO_TRY(clo_i_alloc(m->param_count, sizeof(char *), &facts->parameter_values, err));
    facts->parameter_count = m->param_count;
    for (size_t i = 0; i < m->param_count; i++) {
        char text[80];
        clo_i_param_text(&m->params[i], plan->values[i], text, sizeof text);
        CLO_TRY(clo_i_copy_text(m->params[i].name, &facts->parameter_names[i], err));
        CLO_TRY(clo_i_copy_text(text, &facts->parameter_values[i], err));
    }
    return CLO_OK;
}

static clo_status describe_domain(const clo_domain *domain, clo_facts *facts, clo_error *err)
{
    const size_t cols = clo_i_domain_table_cols(domain);
    const double *const center = domain->frame ? domain->origin : domain->center;
    facts->cols = cols;
    facts->seen_cols = domain->frame ? domain->cols : 0;
    if (domain->frame) CLO_TRY(clo_i_copy_text(domain->frame_digest, &facts->seen_in, err));
    if (domain->frame && domain->frame_guarantee)
        CLO_TRY(clo_i_copy_text(clo_guarantee_name((clo_guarantee)domain->frame_guarantee),
                                &facts->seen_guarantee, err));
    facts->norm = clo_i_domain_radius(domain);
    facts->relation = domain->relation;
    facts->rows = domain->rows;
    facts->rows_per_unit = domain->rows_per_unit;
    if (domain->unit) CLO_TRY(clo_i_copy_text(domain->unit, &facts->unit, err));
    CLO_TRY(copy_doubles(domain->lower, domain->cols, &facts->lower, err));
    CLO_TRY(copy_doubles(domain->upper, domain->cols, &facts->upper, err));
    return copy_doubles(center, cols, &facts->center, err);
}

static clo_status describe_queries(const clo_plan *plan, clo_facts *facts, clo_error *err)
{
    const size_t count = plan->slot_count;
    CLO_TRY(clo_i_alloc(count, sizeof(char *), &facts->query_names, err));
    CLO_TRY(clo_i_alloc(count, sizeof(char *), &facts->query_labels, err));
    CLO_TRY(clo_i_alloc(count, sizeof(clo_event), &facts->query_events, err));
    CLO_TRY(clo_i_alloc(count, sizeof(double), &facts->query_noise, err));
    facts->query_count = count;
    for (size_t i = 0; i < count; i++) {
        const clo_slot *const slot = &plan->slots[i];
        CLO_TRY(clo_i_copy_text(clo_i_query_name(slot->query), &facts->query_names[i], err));
        CLO_TRY(clo_i_copy_text(slot->label, &facts->query_labels[i], err));
        facts->query_events[i] = slot->event;
        facts->query_noise[i] = slot->noise;
    }
    return CLO_OK;
}

/* What a line draws.  Most queries have the noise that their event is named after. */
static const char *sampler_of(const clo_plan *plan, const clo_slot *slot)
{
    if (slot->query == CLO_QUERY_seed) return "exact draws by integer weights";
    if (slot->query == CLO_QUERY_aggregate) return "exactly rounded Gaussian";
    if (slot->query == CLO_QUERY_gapmax) return "exact truncated discrete Laplace";
    if (slot->event.kind == CLO_EVENT_GAUSSIAN) return "exactly rounded Gaussian";
    if (slot->event.kind == CLO_EVENT_EXPONENTIAL)
        return plan->guarantee == CLO_EXACT ? "exact exponential mechanism"
                                            : "exponential mechanism in floating point";
    return "exact discrete Laplace";
}

static void name_samplers(const clo_plan *plan, bool secure, char *text, size_t size)
{
    size_t length = 0;
    text[0] = 0;
    for (size_t i = 0; i < plan->slot_count; i++) {
        const char *const name = sampler_of(plan, &plan->slots[i]);
        if (strstr(text, name) || length + strlen(name) + 64 > size) continue;
        length += (size_t)snprintf(text + length, size - length, "%s%s", length ? ", " : "", name);
    }
    snprintf(text + length, size - length, "; %s",
             secure ? "ChaCha20 keyed by the operating system" : "ChaCha20 from a seed");
}

/* "2.719": e^epsilon, rounded up at the digits that are shown. */
static void write_factor(double epsilon, char *text, size_t size)
{
    const double factor = exp(epsilon) * (1 + 1e-14);
    double shown = factor;
    do {
        snprintf(text, size, "%.4g", shown);
        shown *= 1 + 1e-4;
    } while (isfinite(shown) && strtod(text, NULL) < factor);
}

/* One plain sentence (or two) on what the numbers mean. */
static void state(const clo_plan *plan, bool secure, char *text, size_t size)
{
    const clo_domain *const domain = &plan->domain;
    char who[128] = "one record", delta[96] = "", more[128] = "", epsilon[32], number[32],
         factor[32];
    if (!secure) {
        snprintf(text, size,
                 "Reproducible, not private: it was made from a seed, and whoever knows "
                 "the seed can take the noise away.");
        return;
    }
    if (domain->frame && domain->frame_not_private) {
        snprintf(text, size,
                 "Not private: it was made in the coordinates of a subspace whose release is not "
                 "private.");
        return;
    }
    if (domain->unit)
        snprintf(who, sizeof who, "the rows of one '%.60s' (%llu at most)", domain->unit,
                 (unsigned long long)domain->rows_per_unit);
    clo_i_format_double(plan->budget.epsilon, epsilon);
    clo_i_format_double(plan->budget.delta, number);
    write_factor(plan->budget.epsilon, factor, sizeof factor);
    if (plan->budget.delta > 0)
        snprintf(delta, sizeof delta, ", apart from a probability of %s", number);
    if (plan->guarantee == CLO_IDEALIZED)
        snprintf(more, sizeof more,
                 " This is proven for real numbers, and it ran in floating point.");
    if (plan->guarantee == CLO_ASYMPTOTIC)
        snprintf(more, sizeof more, " This is proven only for a sampler that runs for ever.");
    snprintf(text, size,
             "Had %s been %s, any outcome of this release would have been as likely up to a factor "
             "of %s (e to the epsilon %s)%s.%s",
             who, domain->relation == CLO_REPLACE ? "replaced by any other" : "left out or added",
             factor, epsilon, delta, more);
}

static clo_status describe(const clo_plan *plan, const clo_grant *grant, bool secure,
                           clo_release *release, clo_error *err)
{
    clo_facts *const facts = &release->facts;
    char sampler[160], statement[400];
    name_samplers(plan, secure, sampler, sizeof sampler);
    state(plan, secure, statement, sizeof statement);
    CLO_TRY(clo_i_copy_text(clo_version(), &facts->version, err));
    CLO_TRY(clo_i_copy_text(plan->mechanism->family, &facts->family, err));
    CLO_TRY(clo_i_copy_text(plan->mechanism->method, &facts->method, err));
    CLO_TRY(clo_i_copy_text(plan->price.accounting, &facts->accounting, err));
    CLO_TRY(clo_i_copy_text(sampler, &facts->sampler, err));
    CLO_TRY(clo_i_copy_text(statement, &facts->statement, err));
    CLO_TRY(clo_i_copy_text(clo_guarantee_name(plan->guarantee), &facts->guarantee, err));
    facts->loss = plan->budget;
    facts->price = plan->price;
    facts->price.accounting = facts->accounting;
    facts->is_private = secure && !(plan->domain.frame && plan->domain.frame_not_private);
    facts->metered = grant->metered;
    facts->capped = grant->capped;
    CLO_TRY(describe_parameters(plan, facts, err));
    CLO_TRY(describe_domain(&plan->domain, facts, err));
    return describe_queries(plan, facts, err);
}

/* ---- the run --------------------------------------------------------------------------- */

clo_status clo_plan_check_data(const clo_plan *plan, const clo_bounded *data, clo_error *err)
{
    if (!clo_i_data_fit(data, &plan->domain))
        return clo_i_fail(err, CLO_ARGUMENT,
                          "the data were bounded to another domain than the plan's");
    return plan->steps && plan->learning.center ? clo_i_recenter_check(data, err) : CLO_OK;
}

static clo_status check(const clo_plan *plan, const clo_grant *grant, const clo_bounded *data,
                        clo_error *err)
{
    if (memcmp(grant->plan_id, plan->id, sizeof plan->id) != 0)
        return clo_i_fail(err, CLO_ARGUMENT, "the grant was given for another plan");
    return clo_plan_check_data(plan, data, err);
}

/* The mechanism, in the domain of the plan, and the facts of what it released. */
static clo_status run_mechanism(const clo_plan *plan, const clo_grant *grant,
                                const clo_bounded *data, clo_context *context, clo_release *release,
                                clo_error *err)
{
    CLO_TRY(plan->mechanism->run(plan->state, &plan->domain, data, context, release, err));
    CLO_TRY(clo_i_lift(&plan->domain, release, err));
    return describe(plan, grant, clo_rng_is_secure(context->rng), release, err);
}

static clo_status run_in(const clo_plan *plan, const clo_grant *grant, const clo_bounded *data,
                         clo_context *context, clo_release *release, clo_error *err)
{
    const int before = omp_get_max_threads();
    clo_i_learnt learnt;
    clo_status status;
    /* BLAS takes its number of threads from here; it is put back below. */
    omp_set_num_threads(context->threads);
    if (!plan->steps) {
        status = run_mechanism(plan, grant, data, context, release, err);
    } else if (!(status = clo_i_learn(plan, data, context, release, &learnt, err))) {
        status = run_mechanism(&learnt.plan, grant, learnt.data, context, release, err);
        clo_i_learnt_free(&learnt);
    }
    omp_set_num_threads(before);
    return status;
}

/* The caller's options over the presets: an older caller has fewer of them. */
static clo_status take_options(const clo_run_options *given, clo_run_options *out, clo_error *err)
{
    *out = clo_run_options_default();
    if (given)
        memcpy(out, given, given->struct_size < sizeof *out ? given->struct_size : sizeof *out);
    if (out->threads >= 0 && out->threads <= 4096) return CLO_OK;
    return clo_i_fail(err, CLO_ARGUMENT, "threads must be between 0 and 4096, not %d",
                      out->threads);
}

clo_status clo_workspace_for_run(const clo_plan *plan, const clo_bounded *data,
                                 const clo_run_options *given, clo_workspace **out, clo_error *err)
{
    clo_run_options options;
    CLO_TRY(take_options(given, &options, err));
    CLO_TRY(clo_plan_check_data(plan, data, err));
    const int threads = clo_i_threads(options.threads);
    return clo_workspace_new(clo_i_plan_workspace(plan, data, threads, options.block_rows), out,
                             err);
}

/* All memory that follows the number of rows is there before the grant is used (meter.T2): in a
 * workspace of the run's own, or in the caller's, which is made larger where it is too small. */
static clo_status prepare_workspace(const clo_plan *plan, const clo_bounded *data,
                                    const clo_run_options *options, int threads,
                                    clo_workspace **own, clo_error *err)
{
    const size_t bytes = clo_i_plan_workspace(plan, data, threads, options->block_rows);
    if (options->workspace) return clo_i_workspace_reserve(options->workspace, bytes, err);
    return clo_workspace_new(bytes, own, err);
}

static clo_status check_run(const clo_plan *plan, const clo_grant *grant, const clo_bounded *data,
                            const clo_run_options *options, clo_error *err)
{
    CLO_TRY(check(plan, grant, data, err));
    if (options->comm && options->comm->size > 1 && plan->domain.unit)
        return clo_i_fail(
            err, CLO_UNSUPPORTED,
            "units cannot be kept to their rows over several ranks (bound.T3): run on "
            "one rank");
    return CLO_OK;
}

/* Whatever went wrong once the data were asked is told by its status and by words.  A number might
 * be that of the rows, or follow from it: then the words are those of the status (meter.T2). */
static clo_status say_without_numbers(clo_status status, const clo_error *why, clo_error *err)
{
    const bool words = why->status == status && !strpbrk(why->message, "0123456789");
    return clo_i_fail(err, status, "%s", words ? why->message : clo_status_text(status));
}

clo_status clo_run(const clo_plan *plan, clo_grant *grant, const clo_bounded *data, clo_rng *rng,
                   const clo_run_options *given, clo_release **out, clo_error *err)
{
    clo_run_options options;
    clo_workspace *own = NULL;
    clo_release *release = NULL;
    clo_status status = CLO_OK;
    clo_meter meter = { .slots = plan->slots + plan->steps,
                        .count = plan->slot_count - plan->steps };
    CLO_TRY(take_options(given, &options, err));
    CLO_TRY(check_run(plan, grant, data, &options, err));
    const int threads = clo_i_threads(options.threads);
    CLO_TRY(clo_i_check_float_state(threads, err));
    CLO_TRY(prepare_workspace(plan, data, &options, threads, &own, err));
    if ((status = clo_i_release_new(&release, err))) goto done;
    /* From here on the data are asked; of two runs at once, one gets the grant. */
    if (atomic_exchange(&grant->used, true)) {
        status =
            clo_i_fail(err, CLO_ARGUMENT, "the grant is used up: one grant is good for one run");
        goto done;
    }
    clo_context context = { .rng = rng,
                            .workspace = own ? own : options.workspace,
                            .comm = options.comm ? options.comm : clo_i_comm_self(),
                            .threads = threads,
                            .block_rows = options.block_rows,
                            .progress = options.progress,
                            .answer = options.answer,
                            .solve_block = options.solve_block,
                            .solve_user = options.solve_user,
                            .user = options.user,
                            .progress_to = 1,
                            .meter = &meter };
    const size_t mark = clo_i_workspace_mark(context.workspace);
    clo_error why = { .status = CLO_OK };
    status = run_in(plan, grant, data, &context, release, &why);
    clo_i_workspace_release(context.workspace, mark);
    if (status) status = say_without_numbers(status, &why, err);
done:
    clo_workspace_free(own);
    if (status)
        clo_release_free(release);
    else
        *out = release;
    return status;
}
