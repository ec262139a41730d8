/*
 * run.c - the only caller of a mechanism's run: where a plan, a grant, the data and randomness
 * meet, and where the release is given its facts.
 */
#include "domain/domain.h"
#include <cloister/output.h>
#include "plan/run_on_workers.h"
#include "plan/unproject.h"
#include "plan/mechanism.h"
#include "parallel/parallel.h"
#include "random/random.h"
#include "ask/lens_cache.h"
#include "ask/lens.h"
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORTH_ASKING = 1 << 26 }; /* bytes: below, what is left is not looked up */

void clo_run_options_init(clo_run_options *options, size_t size)
{
    clo_i_give_presets(options, size, &(clo_run_options){ 0 }, sizeof *options);
}

void clo_workers_init(clo_workers *workers, size_t size)
{
    clo_i_give_presets(workers, size, &(clo_workers){ 0 }, sizeof *workers);
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

/* The columns of such a release are of the schema's making, and so are their names. */
static clo_status name_outputs(const clo_schema *schema, clo_facts *facts, clo_error *err)
{
    CLO_TRY(clo_i_alloc(facts->cols, sizeof(char *), &facts->column_names, err));
    for (size_t j = 0; j < facts->cols; j++)
        CLO_TRY(clo_i_copy_text(clo_schema_output_name(schema, j), &facts->column_names[j], err));
    return CLO_OK;
}

static clo_status describe_domain(const clo_domain *domain, clo_facts *facts, clo_error *err)
{
    const clo_schema *const schema = domain->schema;
    const size_t cols = schema ? clo_schema_outputs(schema) : clo_i_domain_table_cols(domain);
    const double *const center = domain->frame ? domain->frame->origin : domain->center;
    facts->cols = cols;
    facts->seen_cols = domain->frame ? domain->cols : 0;
    if (domain->frame) CLO_TRY(clo_i_copy_text(domain->frame->digest, &facts->seen_in, err));
    if (domain->frame && domain->frame->guarantee)
        CLO_TRY(clo_i_copy_text(clo_guarantee_name(domain->frame->guarantee),
                                &facts->seen_guarantee, err));
    facts->schema = clo_i_schema_keep(schema);
    if (schema) CLO_TRY(name_outputs(schema, facts, err));
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
    const size_t count = plan->line_count;
    CLO_TRY(clo_i_alloc(count, sizeof(char *), &facts->query_names, err));
    CLO_TRY(clo_i_alloc(count, sizeof(char *), &facts->query_labels, err));
    CLO_TRY(clo_i_alloc(count, sizeof(clo_event), &facts->query_events, err));
    CLO_TRY(clo_i_alloc(count, sizeof(double), &facts->query_noise, err));
    facts->query_count = count;
    for (size_t i = 0; i < count; i++) {
        const clo_line *const line = &plan->lines[i];
        CLO_TRY(clo_i_copy_text(clo_i_query_name(line->query), &facts->query_names[i], err));
        CLO_TRY(clo_i_copy_text(line->label, &facts->query_labels[i], err));
        facts->query_events[i] = line->event;
        facts->query_noise[i] = line->noise;
    }
    return CLO_OK;
}

static void name_samplers(const clo_plan *plan, bool secure, char *text, size_t size)
{
    size_t length = 0;
    text[0] = 0;
    for (size_t i = 0; i < plan->line_count; i++) {
        const char *const name = clo_i_query_sampler(&plan->lines[i], plan->guarantee == CLO_EXACT);
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
                 "Reproducible, not private: it was made from a seed, and whoever knows the seed "
                 "can take the noise away.");
        return;
    }
    if (domain->frame && domain->frame->not_private) {
        snprintf(text, size,
                 "Not private: it was made in the coordinates of a subspace whose release is not "
                 "private.");
        return;
    }
    if (domain->unit)
        snprintf(who, sizeof who, "the rows of one '%.60s' (%llu at most)", domain->unit,
                 (unsigned long long)domain->rows_per_unit);
    clo_number_text(plan->budget.epsilon, epsilon);
    clo_number_text(plan->budget.delta, number);
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
    facts->is_private = secure && !(plan->domain.frame && plan->domain.frame->not_private);
    facts->metered = grant->metered;
    facts->capped = grant->capped;
    CLO_TRY(describe_parameters(plan, facts, err));
    CLO_TRY(describe_domain(&plan->domain, facts, err));
    return describe_queries(plan, facts, err);
}

/* ---- the run --------------------------------------------------------------------------- */

/* Rows that are not held are added up as they go by: by a public fact of the plan. */
static clo_status check_sums(const clo_plan *plan, const clo_bounded *data, clo_error *err)
{
    char methods[160];
    if (!clo_i_data_is_streamed(data)) return CLO_OK;
    for (size_t i = 0; i < plan->line_count; i++) {
        const clo_query *const query = plan->lines[i].query;
        if (clo_i_line_reading(&plan->lines[i]) == CLO_READING_SUM) continue;
        clo_i_name_sums(plan, methods, sizeof methods);
        return clo_i_fail(err, CLO_UNSUPPORTED,
                          "%s/%s needs all rows in memory (query %s): run without a limit of "
                          "memory%s%s",
                          plan->mechanism->family, plan->mechanism->method, clo_i_query_name(query),
                          methods[0] ? ", or choose a method that needs only sums: " : "", methods);
    }
    return CLO_OK;
}

/* Of several ranks each has bounded some of the rows, whose number is not the plan's. */
static bool fits(const clo_plan *plan, const clo_bounded *data, const clo_comm *comm)
{
    clo_domain part = plan->domain;
    part.rows = 0;
    return clo_i_data_fit(data, &plan->domain) ||
           (comm && comm->size > 1 && clo_i_data_fit(data, &part));
}

static clo_status check_data(const clo_plan *plan, const clo_bounded *data, const clo_comm *comm,
                             clo_error *err)
{
    if (!fits(plan, data, comm))
        return clo_i_fail(err, CLO_ARGUMENT,
                          "the data were bounded to another domain than the plan's");
    CLO_TRY(check_sums(plan, data, err));
    return plan->steps && plan->learning.center ? clo_i_recenter_check(data, err) : CLO_OK;
}

clo_status clo_plan_check_data(const clo_plan *plan, const clo_bounded *data, clo_error *err)
{
    return check_data(plan, data, NULL, err);
}

/* Whether the method, at its presets, would serve with readings of that kind. */
static bool is_spread(const clo_mechanism *mechanism, const clo_plan *plan, clo_reading most)
{
    clo_params *params = NULL;
    clo_plan *other = NULL;
    if (clo_params_new(mechanism, &params, NULL)) return false;
    const bool made =
        !clo_plan_new(params, &plan->domain, plan->budget, CLO_ASYMPTOTIC, &other, NULL);
    const bool spread = made && clo_plan_reading(other) <= most;
    clo_plan_free(other);
    clo_params_free(params);
    return spread;
}

/* Why a line of that reading cannot be asked of rows that lie in several places, and what to do. On
 * ranks only units are in the way of blocks. */
static const char *why_not(clo_reading reading, clo_places places)
{
    const bool ranks = places == CLO_AT_RANKS;
    if (reading == CLO_READING_WHOLE)
        return ranks ? "needs all rows in one process: run on one rank"
                     : "needs all rows in one process: run in one";
    return ranks ? "works on blocks of rows, which several ranks cannot form with persons: run on "
                   "one rank"
                 : "works on blocks of rows, which these workers cannot solve: run in one "
                   "process, on MPI ranks, or on workers with clo_workers.solve";
}

/* Persons keep to their parts, whose rows have an order; ranks deal them out. */
static clo_reading most_at(const clo_plan *plan, clo_places places)
{
    const bool ordered = places == CLO_AT_WORKERS || (places == CLO_AT_RANKS && !plan->domain.unit);
    return ordered ? CLO_READING_BLOCKS : CLO_READING_SUM;
}

clo_status clo_i_check_reading(const clo_plan *plan, clo_places places, clo_error *err)
{
    const clo_mechanism *const own = plan->mechanism;
    const clo_reading most = most_at(plan, places);
    const clo_line *first = NULL;
    char others[300] = "";
    for (size_t i = 0; i < plan->line_count && !first; i++)
        if (clo_i_line_reading(&plan->lines[i]) > most) first = &plan->lines[i];
    if (!first) return CLO_OK;
    for (size_t i = 0; i < clo_mechanism_count(); i++) {
        const clo_mechanism *const m = clo_mechanism_at(i);
        const size_t used = strlen(others);
        if (m == own || strcmp(m->family, own->family) != 0 || !is_spread(m, plan, most)) continue;
        snprintf(others + used, sizeof others - used, "%s%s/%s", used ? ", " : "", m->family,
                 m->method);
    }
    return clo_i_fail(err, CLO_UNSUPPORTED, "%s/%s (query %s) %s, or choose a method that %s%s%s",
                      own->family, own->method, clo_i_query_name(first->query),
                      why_not(clo_i_line_reading(first), places),
                      most == CLO_READING_SUM ? "needs only sums" : "needs only sums or blocks",
                      others[0] ? ": " : "", others);
}

static clo_status check_workers(const clo_plan *plan, const clo_run_options *options,
                                clo_error *err)
{
    clo_workers workers = clo_workers_default();
    CLO_TRY(clo_i_take_options("clo_workers", options->workers, &workers, sizeof workers, err));
    CLO_TRY(clo_i_check_reading(plan, workers.solve ? CLO_AT_WORKERS : CLO_AT_FOLDERS, err));
    if (options->solve_block)
        return clo_i_fail(err, CLO_UNSUPPORTED,
                          "a solver of your own can run in one process or on MPI ranks, not on "
                          "workers");
    return CLO_OK;
}

/* What several ranks, or workers, cannot do, by public facts of the plan. */
static clo_status check_ranks(const clo_plan *plan, const clo_run_options *options, clo_error *err)
{
    if (!options->comm || options->comm->size == 1) return CLO_OK;
    if (plan->domain.unit && !options->persons)
        return clo_i_fail(err, CLO_UNSUPPORTED,
                          "units are kept to their rows by whoever holds all of a person's: over "
                          "several parts persons must be compared first (clo_persons_compare)");
    if (options->workers) return check_workers(plan, options, err);
    CLO_TRY(clo_i_check_reading(plan, CLO_AT_RANKS, err));
    if (clo_plan_reading(plan) == CLO_READING_BLOCKS && !options->all_rows)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "a plan that asks in blocks needs memory for the rows of all ranks: say "
                          "how many they are (clo_run_options.all_rows)");
    return CLO_OK;
}

static clo_status take_options(const clo_run_options *given, clo_run_options *out, clo_error *err)
{
    *out = clo_run_options_default();
    CLO_TRY(clo_i_take_options("clo_run_options", given, out, sizeof *out, err));
    if (out->threads < 0 || out->threads > 4096)
        return clo_i_fail(err, CLO_ARGUMENT, "threads must be between 0 and 4096, not %d",
                          out->threads);
    /* To what follows, workers are the other one of two ranks. */
    static const clo_comm driver = { .rank = 0, .size = 2 };
    if (out->workers && out->comm)
        return clo_i_fail(err, CLO_ARGUMENT, "rows are with workers or with ranks, not with both");
    if (out->workers) out->comm = &driver;
    return CLO_OK;
}

static clo_status check_driver(const clo_run_options *options, const clo_bounded *data,
                               clo_error *err)
{
    if (!options->workers || clo_i_has_no_rows(data)) return CLO_OK;
    return clo_i_fail(err, CLO_ARGUMENT,
                      "the rows of this run are with its workers, so its own data must have none");
}

clo_status clo_i_check_part(const clo_plan *plan, const clo_bounded *data, int threads,
                            clo_error *err)
{
    static const clo_comm others = { .rank = 1, .size = 2 };
    CLO_TRY(clo_i_check_reading(plan, CLO_AT_WORKERS, err));
    CLO_TRY(check_data(plan, data, &others, err));
    return clo_i_check_float_state(clo_i_threads(threads), err);
}

clo_status clo_run_check(const clo_plan *plan, const clo_bounded *data,
                         const clo_run_options *given, clo_error *err)
{
    clo_run_options options;
    CLO_TRY(take_options(given, &options, err));
    CLO_TRY(check_data(plan, data, options.comm, err));
    CLO_TRY(check_ranks(plan, &options, err));
    CLO_TRY(check_driver(&options, data, err));
    return clo_i_check_float_state(clo_i_threads(options.threads), err);
}

static clo_status check(const clo_plan *plan, const clo_grant *grant, const clo_bounded *data,
                        const clo_run_options *given, clo_error *err)
{
    if (memcmp(grant->plan_id, plan->id, sizeof plan->id) != 0)
        return clo_i_fail(err, CLO_ARGUMENT, "the grant was given for another plan");
    return clo_run_check(plan, data, given, err);
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
    clo_i_learnt learnt;
    clo_kept kept;
    CLO_TRY(clo_i_kept_take(context->workspace, plan->lines, plan->line_count, data, &kept, err));
    context->kept = &kept;
    if (plan->steps) CLO_TRY(clo_i_learn(plan, data, context, release, &learnt, err));
    if (plan->steps) kept.data = learnt.data; /* which it has learnt to look at from now on */
    const clo_status status =
        run_mechanism(plan->steps ? &learnt.plan : plan, grant, kept.data, context, release, err);
    if (plan->steps) clo_i_learnt_free(&learnt);
    clo_i_kept_end(&kept);
    context->kept = NULL;
    return status;
}

static size_t count_workspace(const clo_plan *plan, const clo_bounded *data,
                              const clo_run_options *options, int threads)
{
    const clo_comm *const comm = options->comm ? options->comm : clo_i_comm_self();
    const clo_ranks ranks = { .rank = (size_t)comm->rank,
                              .size = (size_t)comm->size,
                              .rows = options->all_rows };
    /* A driver has no rows, and solves no blocks. */
    return clo_i_plan_workspace(plan, data, options->workers ? NULL : &ranks, threads,
                                options->block_rows);
}

/* By the part that follows from the plan alone, whatever the rows: so the words may say how much it
 * is.  Where the system cannot give it, a process that takes it is ended. */
static clo_status check_room(const clo_plan *plan, const clo_run_options *options, int threads,
                             clo_error *err)
{
    const size_t needed = clo_i_plan_workspace(plan, NULL, NULL, threads, options->block_rows);
    if (needed < WORTH_ASKING || needed == SIZE_MAX) return CLO_OK;
    const uint64_t left = clo_i_memory_left("");
    if (needed <= left) return CLO_OK;
    return clo_i_fail(err, CLO_MEMORY,
                      "this run needs %.1f GiB of memory besides its rows, and %.1f GiB are free: "
                      "use fewer columns, clusters or threads; nothing was spent",
                      ldexp((double)needed, -30), ldexp((double)left, -30));
}

clo_status clo_workspace_for_run(const clo_plan *plan, const clo_bounded *data,
                                 const clo_run_options *given, clo_workspace **out, clo_error *err)
{
    clo_run_options options;
    CLO_TRY(take_options(given, &options, err));
    CLO_TRY(check_data(plan, data, options.comm, err));
    const int threads = clo_i_threads(options.threads);
    const size_t bytes = count_workspace(plan, data, &options, threads);
    CLO_TRY(check_room(plan, &options, threads, err));
    CLO_TRY(clo_i_data_check_memory(data, bytes, threads, err));
    return clo_workspace_new(bytes, out, err);
}

/* All memory that follows the number of rows is there before the grant is used (meter.T2): in a
 * workspace of the run's own, or in the caller's, which is made larger where it is too small. */
static clo_status prepare_workspace(const clo_plan *plan, const clo_bounded *data,
                                    const clo_run_options *options, int threads,
                                    clo_workspace **own, clo_error *err)
{
    const size_t bytes = count_workspace(plan, data, options, threads);
    CLO_TRY(clo_i_data_check_memory(data, bytes, threads, err));
    if (options->workspace) return clo_i_workspace_reserve(options->workspace, bytes, err);
    return clo_workspace_new(bytes, own, err);
}

/* Whatever went wrong once the data were asked is told by its status and by words.  A number might
 * be that of the rows, or follow from it: then the words are those of the status (meter.T2). */
static clo_status say_without_numbers(clo_status status, const clo_error *why, clo_error *err)
{
    const bool words = why->status == status && !strpbrk(why->message, "0123456789");
    return clo_i_fail(err, status, "%s", words ? why->message : clo_status_text(status));
}

/* ---- ranks ----------------------------------------------------------------------------- */

/* Rank 0 runs the plan, and says in the end how that went. */
static clo_status run_and_end(const clo_plan *plan, const clo_grant *grant, const clo_bounded *data,
                              clo_context *context, clo_release *release, clo_error *err)
{
    const clo_status status = run_in(plan, grant, data, context, release, err);
    if (!status) clo_i_meter_finish(context->meter);
    const uint64_t told = (uint64_t)status;
    const clo_status ended =
        clo_i_comm_send(context->comm, CLO_MESSAGE_END, &told, sizeof told, status ? NULL : err);
    return status ? status : ended;
}

static clo_status end_as_told(const uint8_t *bytes, size_t count, clo_error *err)
{
    uint64_t status = CLO_INTERNAL;
    if (count == sizeof status) memcpy(&status, bytes, sizeof status);
    if (!status) return CLO_OK;
    return clo_i_fail(err, (clo_status)status, "rank 0 ended the run");
}

/* Any other rank does what rank 0 says, until it says that the run is over: it draws no noise,
 * makes no choice and has no release.  One that has failed still takes part in the sums, to say so:
 * nobody is kept waiting. */
static clo_status serve(const clo_plan *plan, const clo_bounded *data, clo_context *context,
                        clo_error *err)
{
    clo_bounded *seen = NULL;
    bool looked = false;
    clo_status failed = CLO_OK;
    if (plan->steps)
        failed = clo_i_recenter_take(context->workspace, data, plan->learning.center, &seen, err);
    for (;;) {
        clo_message message;
        uint8_t *bytes = NULL;
        size_t count = 0;
        clo_error *const told = failed ? NULL : err; /* the first failure is the one to be told */
        clo_status status = clo_i_comm_receive(context->comm, &message, &bytes, &count, told);
        if (status) {
            failed = failed ? failed : status;
            break;
        }
        const clo_bounded *const rows = failed ? NULL : looked ? seen : data;
        if (message == CLO_MESSAGE_ASK) {
            status = clo_i_fold_for_rank_0(context, rows, bytes, count, told);
        } else if (message == CLO_MESSAGE_LOOK) {
            looked = seen != NULL;
            status = looked ? clo_i_look_for_rank_0(plan, data, bytes, count, seen, told)
                            : clo_i_fail(told, CLO_FORMAT, "this plan learns nothing");
        } else {
            status = end_as_told(bytes, count, told);
        }
        clo_i_free(bytes);
        failed = failed ? failed : status;
        if (message == CLO_MESSAGE_END) break;
    }
    clo_bounded_free(seen);
    return failed;
}

/* ---- one run --------------------------------------------------------------------------- */

clo_status clo_run(const clo_plan *plan, clo_grant *grant, const clo_bounded *data, clo_rng *rng,
                   const clo_run_options *given, clo_release **out, clo_error *err)
{
    clo_run_options options;
    clo_i_driver driver = { .workers = NULL };
    clo_workspace *own = NULL;
    clo_release *release = NULL;
    clo_status status = CLO_OK;
    CLO_TRY(take_options(given, &options, err));
    CLO_TRY(check(plan, grant, data, given, err));
    clo_workers workers = clo_workers_default();
    if (options.workers) {
        CLO_TRY(clo_i_take_options("clo_workers", options.workers, &workers, sizeof workers, err));
        CLO_TRY(clo_i_driver_open(&driver, &workers, &plan->domain, options.persons, rng, err));
        options.comm = &driver.comm;
    }
    const clo_comm *const comm = options.comm ? options.comm : clo_i_comm_self();
    const int threads = clo_i_threads(options.threads);
    /* Rank 0 learns with a meter of its own, and the plan's others are of the mechanism. */
    clo_meter meter = { .lines = plan->lines, .count = plan->line_count };
    if (comm->rank == 0)
        meter = (clo_meter){ .lines = plan->lines + plan->steps,
                             .count = plan->line_count - plan->steps,
                             .first = plan->steps };
    if ((status = prepare_workspace(plan, data, &options, threads, &own, err)) ||
        (status = clo_i_release_new(&release, err)))
        goto done;
    /* From here on the data are asked; of two runs at once, one gets the grant. */
    if (atomic_exchange(&grant->used, true)) {
        status =
            clo_i_fail(err, CLO_ARGUMENT, "the grant is used up: one grant is good for one run");
        goto done;
    }
    clo_context context = { .rng = rng,
                            .workspace = own ? own : options.workspace,
                            .comm = comm,
                            .threads = threads,
                            .block_rows = options.block_rows,
                            .progress = options.progress,
                            .answer = options.answer,
                            .solve_block = options.solve_block,
                            .solve_user = options.solve_user,
                            .user = options.user,
                            .progress_to = 1,
                            .meter = &meter,
                            .all_rows = options.all_rows,
                            .open_blocks = plan->mechanism->open_blocks,
                            .plan = plan->state,
                            .elsewhere = options.workers ? &driver.elsewhere : NULL };
    const size_t mark = clo_i_workspace_mark(context.workspace);
    clo_error why = { .status = CLO_OK };
    const int before = clo_i_threads_set(threads);
    status = comm->rank == 0 ? run_and_end(plan, grant, data, &context, release, &why)
                             : serve(plan, data, &context, &why);
    (void)clo_i_threads_set(before);
    clo_i_workspace_release(context.workspace, mark);
    if (status && driver.trouble) (void)clo_i_fail(&why, status, "%s", driver.trouble);
    if (status) status = say_without_numbers(status, &why, err);
done:
    clo_i_driver_close(&driver);
    clo_workspace_free(own);
    if (status || comm->rank != 0) {
        clo_release_free(release);
        release = NULL;
    }
    if (!status) *out = release;
    return status;
}
