/*
 * audit.c - the audit of a mechanism: its pairs, run as a stranger would run it, through plan,
 * grant and run, and listening to every answer.
 */
#include "audit/audit_internal.h"
#include <cloister/run.h>
#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One pair at one group: all that its runs share. */
typedef struct bench {
    const clo_i_pair *pair;
    clo_plan *plan;
    clo_bounded *worlds[2];
    const uint8_t *seed;
    uint64_t number; /* of this pair and group: part of each run's seed */
    size_t outputs;
} bench;

/* What a run has answered so far. */
typedef struct transcript {
    double *values;
    size_t count, room;
} transcript;

static void listen(void *user, const char *query, const double *values, size_t count)
{
    transcript *const t = user;
    (void)query;
    for (size_t i = 0; i < count; i++, t->count++)
        if (t->count < t->room) t->values[t->count] = values[i];
}

static void trial_seed(const bench *b, int world, uint64_t trial, uint8_t out[32])
{
    const uint64_t name[3] = { b->number, (uint64_t)world, trial };
    crypto_generichash(out, 32, (const uint8_t *)name, sizeof name, b->seed, 32);
}

static clo_status run_once(const bench *b, const clo_bounded *data, clo_rng *rng, transcript *heard,
                           clo_error *err)
{
    clo_run_options options = clo_run_options_default();
    clo_grant *grant = NULL;
    clo_release *release = NULL;
    options.threads = 1;
    options.block_rows =
        CLO_AUDIT_ROWS; /* all of a world; larger ones cost time and show nothing */
    options.answer = listen;
    options.user = heard;
    CLO_TRY(clo_grant_unmetered(b->plan, &grant, err));
    const clo_status status = clo_run(b->plan, grant, data, rng, &options, &release, err);
    clo_release_free(release);
    clo_grant_free(grant);
    return status;
}

static clo_status draw(void *user, int world, uint64_t trial, double *outputs, clo_error *err)
{
    const bench *const b = user;
    transcript heard = { outputs, 0, b->outputs };
    uint8_t seed[32];
    clo_rng *rng = NULL;
    trial_seed(b, world, trial, seed);
    CLO_TRY(clo_rng_new_seeded(seed, &rng, err));
    clo_status status = run_once(b, b->worlds[world], rng, &heard, err);
    if (!status && b->pair->twice) status = run_once(b, b->worlds[1], rng, &heard, err);
    clo_rng_free(rng);
    if (!status && heard.count != b->outputs)
        return clo_i_fail(err, CLO_INTERNAL, "a run gave %zu answers, not %zu", heard.count,
                          b->outputs);
    return status;
}

/* ---- setting a pair up ----------------------------------------------------------------------- */

static clo_status set_parameters(clo_params *params, const char *settings, clo_error *err)
{
    char copy[128], *rest = copy, *word;
    snprintf(copy, sizeof copy, "%s", settings);
    while ((word = strtok_r(rest, " ", &rest))) {
        char *const equals = strchr(word, '=');
        if (!equals) return clo_i_fail(err, CLO_INTERNAL, "a pair's settings are not name=value");
        *equals = 0;
        CLO_TRY(clo_params_set_text(params, word, equals + 1, err));
    }
    return CLO_OK;
}

static const char PUBLIC_ROWS[] = "rows=";

/* The number of rows that the settings begin with; 0: none is public. */
static uint64_t public_rows(const char *settings)
{
    const size_t name = sizeof PUBLIC_ROWS - 1;
    return strncmp(settings, PUBLIC_ROWS, name) == 0 ? strtoull(settings + name, NULL, 10) : 0;
}

/* Of pairs whose settings begin with "mixed": a category of three levels, and no number, so that a
 * level is all there is of a record. */
static const char MIXED[] = "mixed";
static const char SCHEMA[] = "{\"fields\": [{\"name\": \"level\", \"type\": \"string\", "
                             "\"categories\": [\"a\", \"b\", \"c\"]}]}";

static bool is_mixed(const char *settings)
{
    return strncmp(settings, MIXED, sizeof MIXED - 1) == 0;
}

const char *clo_i_pair_parameters(const clo_i_pair *pair)
{
    const char *const all = pair->settings;
    return public_rows(all) || is_mixed(all) ? all + strcspn(all, " ") : all;
}

clo_status clo_i_pair_schema(const clo_i_pair *pair, clo_schema **out, clo_error *err)
{
    *out = NULL;
    return is_mixed(pair->settings) ? clo_schema_read(SCHEMA, out, err) : CLO_OK;
}

clo_domain clo_i_pair_domain(const clo_i_pair *pair, const clo_schema *schema,
                             clo_relation relation)
{
    clo_domain domain = clo_domain_default();
    domain.cols = pair->cols;
    domain.norm = 1;
    if (schema) (void)!clo_domain_describe(&domain, schema, NULL); /* it fits itself */
    domain.relation = relation;
    domain.rows = public_rows(pair->settings);
    if (pair->per_unit) {
        domain.unit = "person";
        domain.rows_per_unit = pair->per_unit;
    }
    return domain;
}

clo_status clo_i_pair_plan(const clo_i_pair *pair, const clo_mechanism *mechanism,
                           const clo_domain *domain, clo_loss budget, clo_plan **out,
                           clo_error *err)
{
    clo_params *params = NULL;
    CLO_TRY(clo_params_new(mechanism, &params, err));
    clo_status status = set_parameters(params, clo_i_pair_parameters(pair), err);
    if (!status)
        status = clo_plan_new(params, domain, budget, clo_mechanism_guarantee(mechanism), out, err);
    clo_params_free(params);
    return status;
}

/* Whose each row is: those that differ come first, per_unit of a person; all others are alone. */
static void name_units(const clo_i_pair *pair, size_t differ, size_t rows, uint64_t *units)
{
    for (size_t i = 0; i < rows; i++) units[i] = i < differ ? i / pair->per_unit : rows + i;
}

static clo_status make_world(const clo_domain *domain, unsigned group, int world, bench *b,
                             clo_error *err)
{
    double rows[CLO_AUDIT_ROWS * CLO_AUDIT_COLS];
    uint64_t units[CLO_AUDIT_ROWS];
    clo_table *table = NULL;
    clo_matrix view = { rows, 0, b->pair->cols, b->pair->cols };
    const unsigned differ = group * (unsigned)domain->rows_per_unit;
    /* A person who is gone takes the rows along; one whose rows are null is still there. */
    const size_t before = b->pair->rows(domain->relation, differ, 0, rows);
    view.rows = b->pair->rows(domain->relation, differ, world, rows);
    const bool gone = view.rows < before;
    if (view.rows > CLO_AUDIT_ROWS)
        return clo_i_fail(err, CLO_INTERNAL, "a pair has more than %d rows", (int)CLO_AUDIT_ROWS);
    if (domain->unit) {
        name_units(b->pair, gone ? 0 : differ, view.rows, units);
        CLO_TRY(clo_table_wrap_units(view, units, CLO_MISSING_NULL, &table, err));
    } else {
        CLO_TRY(clo_table_wrap(view, CLO_MISSING_NULL, &table, err));
    }
    const clo_status status = clo_bound(table, domain, &b->worlds[world], err);
    clo_table_free(table);
    return status;
}

/* One run, only to see how many numbers an answer has. */
static clo_status count_outputs(bench *b, clo_error *err)
{
    double room[CLO_AUDIT_OUTPUTS];
    transcript heard = { room, 0, CLO_AUDIT_OUTPUTS };
    uint8_t seed[32] = { 0 };
    clo_rng *rng = NULL;
    CLO_TRY(clo_rng_new_seeded(seed, &rng, err));
    const clo_status status = run_once(b, b->worlds[1], rng, &heard, err);
    clo_rng_free(rng);
    b->outputs = heard.count * (b->pair->twice ? 2 : 1);
    return status;
}

static clo_status set_up(const clo_mechanism *mechanism, clo_relation relation, clo_loss budget,
                         unsigned group, bench *b, clo_error *err)
{
    clo_schema *schema = NULL;
    CLO_TRY(clo_i_pair_schema(b->pair, &schema, err));
    const clo_domain domain = clo_i_pair_domain(b->pair, schema, relation);
    clo_status status = clo_i_pair_plan(b->pair, mechanism, &domain, budget, &b->plan, err);
    for (int world = 0; world < 2 && !status; world++)
        status = make_world(&domain, group, world, b, err);
    clo_schema_free(schema); /* plan and worlds hold it */
    return status ? status : count_outputs(b, err);
}

static void take_down(bench *b)
{
    clo_plan_free(b->plan);
    clo_bounded_free(b->worlds[0]);
    clo_bounded_free(b->worlds[1]);
}

/* ---- the claim ------------------------------------------------------------------------------- */

/* A plan of Gaussian events claims its mu, which a group of g multiplies by g; any other one claims
 * (epsilon, delta), which becomes (g epsilon, delta (e^(g epsilon) - 1)/(e^epsilon - 1))
 * (audit.T3). */
static void state_claim(const clo_plan *plan, unsigned group, clo_audit_subject *subject)
{
    const double g = group, epsilon = clo_plan_price(plan).loss.epsilon;
    double square = 0;
    bool gaussian = true;
    for (size_t i = 0; i < clo_plan_line_count(plan); i++) {
        const clo_event event = clo_plan_line_at(plan, i).event;
        gaussian &= event.kind == CLO_EVENT_GAUSSIAN;
        square += event.parameter * event.parameter * (double)event.count;
    }
    subject->unit = gaussian ? CLO_AUDIT_MU : CLO_AUDIT_EPSILON;
    subject->claim = g * (gaussian ? sqrt(square) : epsilon);
    subject->delta =
        gaussian ? 0 : clo_plan_price(plan).loss.delta * expm1(g * epsilon) / expm1(epsilon);
}

static clo_status audit_pair(const clo_mechanism *mechanism, clo_relation relation, clo_loss budget,
                             unsigned group, bench *b, const clo_audit_options *options,
                             clo_audit_finding *out, clo_error *err)
{
    clo_status status = set_up(mechanism, relation, budget, group, b, err);
    if (!status) {
        clo_audit_subject subject = { .struct_size = sizeof subject,
                                      .pair = b->pair->name,
                                      .what = b->pair->what,
                                      .outputs = b->outputs,
                                      .categorical = b->pair->categorical,
                                      .parallel = true,
                                      .draw = draw,
                                      .user = b };
        state_claim(b->plan, group, &subject);
        status = clo_audit_subject_run(&subject, options, out, err);
        out->group = group;
    }
    take_down(b);
    return status;
}

static bool belongs(const clo_i_pair *pair, const clo_mechanism *mechanism, const char *name)
{
    return (!name || strcmp(pair->name, name) == 0) &&
           strcmp(pair->family, clo_mechanism_family(mechanism)) == 0 &&
           strcmp(pair->method, clo_mechanism_method(mechanism)) == 0;
}

/* Progress over all pairs, from that of one. */
typedef struct stage {
    const clo_audit_options *options;
    double before, all;
} stage;

static bool pass_on(void *user, double done)
{
    const stage *const s = user;
    return s->options->progress(s->options->user, (s->before + done) / s->all);
}

clo_status clo_audit(const clo_mechanism *mechanism, clo_relation relation, clo_loss budget,
                     const clo_audit_options *given,
                     bool (*visit)(void *user, const clo_audit_finding *finding), void *user,
                     clo_error *err)
{
    static const unsigned groups[] = { 1, 2, 4 };
    clo_audit_options options = clo_audit_options_default();
    size_t parts = 0;
    CLO_TRY(clo_i_take_options("clo_audit_options", given, &options, sizeof options, err));
    if (options.group != 0 && options.group != 1 && options.group != 2 && options.group != 4)
        return clo_i_fail(err, CLO_ARGUMENT, "group must be 1, 2 or 4, or 0 for each, not %u",
                          options.group);
    const size_t each = options.group ? 1 : 3;
    for (size_t i = 0; i < clo_i_pair_count(); i++)
        parts += belongs(clo_i_pair_at(i), mechanism, options.pair);
    if (parts == 0)
        return clo_i_fail(err, CLO_ARGUMENT, "this mechanism has no such pair to audit");
    clo_audit_options of_a_part = options;
    of_a_part.alpha = options.alpha / (double)(parts * each); /* Bonferroni: audit.T2 */
    stage s = { &options, 0, (double)(parts * each) };
    of_a_part.progress = options.progress ? pass_on : NULL;
    of_a_part.user = &s;
    for (size_t i = 0; i < clo_i_pair_count(); i++)
        for (size_t g = 0; g < each && belongs(clo_i_pair_at(i), mechanism, options.pair); g++) {
            const unsigned group = options.group ? options.group : groups[g];
            const clo_i_pair *const pair = clo_i_pair_at(i);
            bench b = { .pair = pair, .seed = options.seed, .number = pair->place * 8 + group };
            clo_audit_finding finding = { .struct_size = sizeof finding };
            CLO_TRY(audit_pair(mechanism, relation, budget, group, &b, &of_a_part, &finding, err));
            finding.confidence = 1 - options.alpha;
            s.before++;
            if (!visit(user, &finding)) return CLO_OK;
        }
    return CLO_OK;
}
