/*
 * job.c - one run, in the order that makes mistakes free: check, prepare, fetch, spend, run, store.
 *
 * All that can go wrong with a file, a setting or a machine goes wrong before the spend, and the
 * release is stored under the run's token before anybody sees it.  This is the only place that
 * knows the order; whoever calls the library for a release (the command, another language) calls
 * this.
 */
#include "job/job.h"
#include "domain/domain.h"
#include <cloister/output.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

clo_status clo_job_new(clo_job **out, clo_error *err)
{
    clo_job *job = NULL;
    CLO_TRY(clo_i_alloc(1, sizeof *job, &job, err));
    job->options = clo_run_options_default();
    *out = job;
    return CLO_OK;
}

void clo_job_free(clo_job *job)
{
    if (!job) return;
    clo_i_job_drop(job);
    clo_i_spec_clear(&job->spec);
    clo_i_choice_clear(&job->choice);
    clo_i_domain_clear(&job->given_domain);
    for (size_t i = 0; i < CLO_SET_COUNT; i++) clo_i_free(job->values[i]);
    for (size_t i = 0; i < job->param_count; i++) clo_i_free(job->param_values[i]);
    clo_i_wipe_free(job, sizeof *job);
}

/* The only step after which this one may be taken. */
static clo_status after(clo_job *job, clo_i_step before, const char *name, clo_error *err)
{
    static const char *const states[] = {
        "new",     "checked",     "prepared",
        "fetched", "paid",        "run",
        "done",    "a rehearsal", "over: it failed after the spend",
    };
    job->advice = CLO_ADVICE_NONE;
    job->advice_text[0] = 0;
    if (job->step == before) return CLO_OK;
    return clo_i_fail(err, CLO_ARGUMENT, "the step '%s' is out of order: the job is %s", name,
                      states[job->step]);
}

/* ---- check ----------------------------------------------------------------- */

static clo_status read_budget(clo_job *job, clo_error *err)
{
    const char *const delta = clo_i_job_value(job, CLO_SET_DELTA);
    clo_loss loss = { 0, -1 };
    if (job->has_budget) {
        if (clo_i_job_value(job, CLO_SET_EPSILON) || delta)
            return clo_i_job_fail(job, err, CLO_ARGUMENT,
                                  "@epsilon or @delta and a budget exclude each other");
        job->budget = job->given_budget;
        return CLO_OK;
    }
    if (!clo_i_job_value(job, CLO_SET_EPSILON)) {
        clo_i_job_advise(job, CLO_ADVICE_SET, "epsilon 1");
        return clo_i_job_fail(job, err, CLO_ARGUMENT,
                              "give @epsilon: the most that this run may reveal about one record");
    }
    CLO_TRY(clo_i_job_positive(job, CLO_SET_EPSILON, &loss.epsilon, err));
    if (delta && (!clo_i_scan_decimal(delta, strlen(delta), &loss.delta) || loss.delta < 0 ||
                  loss.delta >= 1))
        return clo_i_job_fail(job, err, CLO_ARGUMENT,
                              "@delta must be a number of at least 0 and below 1, not '%s'", delta);
    job->budget = loss;
    return CLO_OK;
}

static clo_status check_unit(clo_job *job, clo_error *err)
{
    if (job->has_domain) return CLO_OK;
    if (job->spec.unit && job->spec.rows_per_unit == 0) {
        clo_i_job_advise(job, CLO_ADVICE_SET, "rows-per-unit 1");
        return clo_i_job_fail(job, err, CLO_DOMAIN,
                              "@unit needs @rows-per-unit M: the most rows of one person that "
                              "count, which decides how much noise is needed");
    }
    if (!job->spec.unit && job->spec.rows_per_unit > 0)
        return clo_i_job_fail(job, err, CLO_DOMAIN,
                              "@rows-per-unit needs @unit COLUMN, the column that names the "
                              "person of a row");
    return CLO_OK;
}

static clo_status check_data(const clo_job *job, clo_error *err)
{
    clo_read_options unused;
    uint64_t memory;
    const char *const path = clo_i_job_value(job, CLO_SET_DATA);
    CLO_TRY(clo_i_job_read_options(job, &unused, err));
    if (!path && !job->table)
        return clo_i_job_fail(job, err, CLO_ARGUMENT, "give @data: a file, or a table");
    if (path && job->table)
        return clo_i_job_fail(job, err, CLO_ARGUMENT,
                              "@data names a file, but a table was given "
                              "too: leave out one of them");
    return clo_i_job_memory(job, &memory, err);
}

/* A run would find out too late. */
static clo_status check_solver(const clo_job *job, clo_error *err)
{
    const char *const solver = clo_i_job_param(job, "solver");
    if (!solver || strcmp(solver, "caller") != 0 || job->options.solve_block) return CLO_OK;
    return clo_i_job_fail(job, err, CLO_ARGUMENT,
                          "@solver caller needs a function: clo_run_options.solve_block");
}

/* By default the file's name; and then where it lies, since two files of one name are two. */
static clo_status settle_dataset(clo_job *job, clo_error *err)
{
    const char *const path = clo_i_job_value(job, CLO_SET_DATA);
    job->origin[0] = 0;
    job->dataset = clo_i_job_value(job, CLO_SET_DATASET);
    if (!job->dataset && !path)
        return clo_i_job_fail(job, err, CLO_ARGUMENT,
                              "data in memory have no name for the ledger: give @dataset NAME");
    if (!job->dataset && strcmp(path, "-") == 0)
        return clo_i_job_fail(
            job, err, CLO_ARGUMENT,
            "data from standard input have no name for the ledger: give @dataset NAME");
    if (!job->dataset && strpbrk(path, "\n*?[") && access(path, F_OK) != 0)
        return clo_i_job_fail(job, err, CLO_ARGUMENT,
                              "several files have no common name for the ledger: give @dataset "
                              "NAME");
    if (!job->dataset) {
        const char *const slash = strrchr(path, '/');
        job->dataset = slash ? slash + 1 : path;
        if (!realpath(path, job->origin)) job->origin[0] = 0;
    }
    if (!job->dataset[0])
        return clo_i_job_fail(job, err, CLO_ARGUMENT, "@dataset must not be empty");
    return CLO_OK;
}

static clo_status check_ledger(clo_job *job, clo_error *err)
{
    const char *const path = clo_i_job_value(job, CLO_SET_LEDGER);
    job->metered = !clo_i_job_says(job, CLO_SET_NO_LEDGER, "yes");
    job->token = clo_i_job_value(job, CLO_SET_TOKEN);
    if (!job->metered) {
        if (job->token)
            return clo_i_job_fail(job, err, CLO_ARGUMENT,
                                  "@no-ledger and @token exclude each other: a token is kept in a "
                                  "ledger");
        if (clo_i_job_value(job, CLO_SET_PURPOSE))
            return clo_i_job_fail(job, err, CLO_ARGUMENT,
                                  "@no-ledger and @purpose exclude each other: a purpose is kept "
                                  "in a ledger");
        if (path || clo_i_job_value(job, CLO_SET_DATASET) ||
            clo_i_job_says(job, CLO_SET_NEW, "yes"))
            return clo_i_job_fail(job, err, CLO_ARGUMENT,
                                  "@no-ledger excludes @ledger, @dataset and @new");
        return CLO_OK;
    }
    CLO_TRY(settle_dataset(job, err));
    if (!path) return clo_ledger_default_path(job->ledger_path, sizeof job->ledger_path, err);
    if ((size_t)snprintf(job->ledger_path, sizeof job->ledger_path, "%s", path) >=
        sizeof job->ledger_path)
        return clo_i_fail(err, CLO_LEDGER, "the ledger's path is too long");
    return CLO_OK;
}

/* What a plan needs, too. */
static clo_status read_settings(clo_job *job, clo_error *err)
{
    CLO_TRY(read_budget(job, err));
    CLO_TRY(clo_i_choice_read(job, err));
    return clo_i_spec_read(job, err);
}

static clo_status check(clo_job *job, clo_error *err)
{
    CLO_TRY(read_settings(job, err));
    CLO_TRY(check_solver(job, err));
    CLO_TRY(check_unit(job, err));
    CLO_TRY(check_data(job, err));
    CLO_TRY(check_ledger(job, err));
    CLO_TRY(clo_i_choice_complete(job, err));
    job->threads = 0;
    return clo_i_job_whole(job, CLO_SET_THREADS, &job->threads, err);
}

clo_status clo_job_check(clo_job *job, clo_error *err)
{
    CLO_TRY(after(job, CLO_STEP_NEW, "check", err));
    CLO_TRY(clo_i_job_agree(job, check(job, err), err));
    job->step = CLO_STEP_CHECKED;
    return CLO_OK;
}

/* ---- plan ------------------------------------------------------------------ */

static uint64_t used_columns(const clo_schema *schema)
{
    clo_field field = { .struct_size = sizeof field };
    uint64_t used = 0;
    for (size_t i = 0; clo_schema_field(schema, i, &field); i++)
        used += field.kind != CLO_FIELD_UNUSED;
    return used;
}

/* How many columns there are, without a look at the data. */
static clo_status count_cols(const clo_job *job, size_t *out, clo_error *err)
{
    const clo_i_spec *const spec = &job->spec;
    uint64_t cols = 0;
    if (clo_i_job_value(job, CLO_SET_COLS))
        CLO_TRY(clo_i_job_whole(job, CLO_SET_COLS, &cols, err));
    else if (spec->schema)
        cols = used_columns(spec->schema);
    else if (spec->subspace)
        cols = clo_release_cols(spec->subspace);
    else if (spec->center)
        cols = spec->center_count;
    else if (spec->bounds_file)
        cols = spec->bound_count;
    else if (job->has_domain)
        cols = job->given_domain.cols;
    else if (job->table)
        cols = clo_table_cols(job->table);
    if (cols == 0)
        return clo_i_job_fail(
            job, err, CLO_ARGUMENT,
            "give @cols D, the number of columns: a plan reads no data, so it cannot count them");
    *out = (size_t)cols;
    return CLO_OK;
}

static clo_status plan_without_data(clo_job *job, clo_error *err)
{
    clo_domain domain;
    clo_plan *plan = NULL;
    size_t cols = 0;
    CLO_TRY(read_settings(job, err));
    CLO_TRY(count_cols(job, &cols, err));
    if (job->spec.schema && !job->spec.rows) job->spec.rows = clo_schema_rows(job->spec.schema);
    CLO_TRY(clo_i_spec_fit(job, cols, NULL, &domain, err));
    clo_status status = clo_i_choice_complete(job, err);
    if (!status) status = clo_i_job_make_plan(job, &domain, &plan, err);
    clo_i_domain_clear(&domain);
    if (status) return status;
    clo_plan_free(job->plan);
    job->plan = plan;
    return CLO_OK;
}

clo_status clo_job_plan(clo_job *job, const clo_plan **out, clo_error *err)
{
    if (job->step < CLO_STEP_PREPARED) {
        job->step = CLO_STEP_NEW; /* its words are read again */
        CLO_TRY(after(job, CLO_STEP_NEW, "plan", err));
        CLO_TRY(plan_without_data(job, err));
    }
    *out = job->plan;
    return CLO_OK;
}

/* ---- prepare and fetch ----------------------------------------------------- */

static clo_status prepare(clo_job *job, bool rehearsal, clo_error *err)
{
    if (job->step == CLO_STEP_NEW) CLO_TRY(clo_job_check(job, err));
    CLO_TRY(after(job, CLO_STEP_CHECKED, "prepare", err));
    CLO_TRY(clo_i_job_agree(job, clo_i_job_prepare(job, rehearsal, err), err));
    job->step = rehearsal ? CLO_STEP_REHEARSED : CLO_STEP_PREPARED;
    return CLO_OK;
}

clo_status clo_job_prepare(clo_job *job, clo_error *err)
{
    return prepare(job, false, err);
}

clo_status clo_job_rehearse(clo_job *job, clo_error *err)
{
    return prepare(job, true, err);
}

clo_status clo_job_worker(clo_job *job, uint64_t rows, clo_worker **out, clo_error *err)
{
    if (clo_i_job_spreads(job))
        return clo_i_fail(err, CLO_ARGUMENT, "a worker has neither ranks nor workers of its own");
    if (!clo_i_job_says(job, CLO_SET_NO_LEDGER, "yes") || clo_i_job_value(job, CLO_SET_SEED))
        return clo_i_fail(err, CLO_ARGUMENT,
                          "a worker charges no ledger and draws nothing: it must be without");
    job->is_part = true;
    job->part_of = rows;
    clo_status status = prepare(job, true, err);
    if (!status) status = clo_worker_new(job->plan, job->data, (int)job->threads, out, err);
    if (status) job->is_part = false;
    return status;
}

static clo_status take_stored(clo_job *job, const char *bytes, size_t length, clo_error *err)
{
    if (!clo_i_growing_write(&job->json, bytes, length))
        return clo_i_fail(err, CLO_MEMORY, "out of memory for a release of %zu bytes", length);
    return clo_release_parse(bytes, length, &job->release, err);
}

/* Whether the caller still wants it: who may stop the run may stop its charge. */
static bool go_on(void *user)
{
    const clo_job *const job = user;
    return !job->options.progress || job->options.progress(job->options.user, 0);
}

static clo_spending spending_of(clo_job *job)
{
    clo_spending spending = clo_spending_default();
    spending.dataset = job->dataset;
    spending.plan = job->plan;
    spending.token = job->token;
    spending.content = job->has_content ? job->content : NULL;
    spending.purpose = clo_i_job_value(job, CLO_SET_PURPOSE);
    spending.user = job->user[0] ? job->user : NULL;
    spending.along = job->along[0] ? job->along : NULL;
    spending.go_on = go_on;
    spending.go_on_user = job;
    spending.release_bytes = clo_job_release_bytes(job);
    return spending;
}

clo_status clo_job_charge_for(clo_job *job, const char *user, const char *along, clo_error *err)
{
    if ((user && strlen(user) >= sizeof job->user) || (along && strlen(along) >= sizeof job->along))
        return clo_i_fail(err, CLO_ARGUMENT, "the name of a data set must have at most 200 bytes");
    snprintf(job->user, sizeof job->user, "%s", user ? user : "");
    snprintf(job->along, sizeof job->along, "%s", along ? along : "");
    return CLO_OK;
}

static clo_status fetch(clo_job *job, bool *found, clo_error *err)
{
    const clo_spending spending = spending_of(job);
    char *bytes = NULL;
    size_t length = 0;
    if (job->token) CLO_TRY(clo_ledger_fetch_for(job->ledger, &spending, &bytes, &length, err));
    const clo_status status = bytes ? take_stored(job, bytes, length, err) : CLO_OK;
    *found = bytes && status == CLO_OK;
    clo_ledger_bytes_free(bytes);
    if (status) job->json.length = 0;
    return status;
}

clo_status clo_job_fetch(clo_job *job, bool *found, clo_error *err)
{
    bool there = false;
    CLO_TRY(after(job, CLO_STEP_PREPARED, "fetch", err));
    const clo_status status = clo_i_job_leads(job) ? fetch(job, &there, err) : CLO_OK;
    CLO_TRY(clo_i_job_agree(job, status, err));
    CLO_TRY(clo_i_job_hear(job, &there, err));
    *found = there;
    job->step = there ? CLO_STEP_DONE : CLO_STEP_FETCHED;
    return CLO_OK;
}

/* ---- the account ----------------------------------------------------------- */

typedef struct sighting {
    bool seen;
    clo_account account;
} sighting;

static bool see(void *user, const clo_account *account)
{
    *(sighting *)user = (sighting){ true, *account };
    return true;
}

size_t clo_job_file_cols(const clo_job *job)
{
    return job->file_cols;
}

size_t clo_job_taken_cols(const clo_job *job)
{
    return job->taken_cols;
}

static double value_or(const clo_plan *plan, const char *name, double other)
{
    double value = other;
    return clo_plan_value_of(plan, name, &value, NULL) == CLO_OK ? value : other;
}

/* Of a release: centres, bases and points in the columns of the file, what there is per cluster and
 * direction, bounds, and where it was projected the frame; per line of the plan its query. */
uint64_t clo_job_release_bytes(const clo_job *job)
{
    enum { NUMBER = 27, LINE = 800, REST = 1 << 14, PER_CLUSTER = 8, PER_COLUMN = 16 };
    enum { PER_SCHEMA_COLUMN = 5000 };
    if (!job->plan) return 0;
    const clo_domain *const domain = clo_plan_domain(job->plan);
    const double k = value_or(job->plan, "clusters", 1), q = value_or(job->plan, "dim", 0),
                 labels = value_or(job->plan, "labels", 0) > 0 ? (double)domain->rows : 0;
    const double seen = (double)domain->cols;
    const double columns = (double)job->taken_cols + (domain->schema ? (double)job->name_count : 0);
    const double d = fmax(columns, seen);
    const double frame = d > seen && !domain->schema ? d * seen : 0;
    double names = domain->schema ? PER_SCHEMA_COLUMN * d : 0;
    for (size_t j = 0; j < job->name_count; j++) names += 6 * (double)strlen(job->names[j]) + 4;
    const double numbers =
        k * d * (q + 1) + (k + 2) * (q + PER_CLUSTER) + d * (PER_COLUMN + 2 * q) + frame + labels;
    return (uint64_t)(numbers * NUMBER + names + REST) +
           (uint64_t)LINE * clo_plan_line_count(job->plan);
}

bool clo_job_account(const clo_job *job, clo_account *out, size_t size)
{
    sighting here = { .seen = false };
    if (job->ledger && clo_ledger_accounts(job->ledger, job->dataset, see, &here, NULL))
        here = (sighting){ .seen = false };
    here.account.dataset = job->dataset; /* the ledger's own text is gone by now */
    clo_i_give_presets(out, size, &here.account, sizeof here.account);
    return here.seen;
}

/* ---- spend ----------------------------------------------------------------- */

static clo_status confirm(clo_job *job, clo_error *err)
{
    clo_account account;
    (void)clo_job_account(job, &account, sizeof account);
    if (!job->confirm && !account.capped && !clo_i_job_says(job, CLO_SET_YES, "yes")) {
        clo_i_job_advise(job, CLO_ADVICE_DECLARE, "%s", job->dataset);
        return clo_i_job_fail(job, err, CLO_BUDGET,
                              "'%s' has no cap in this ledger: declare one, or pass @yes to spend "
                              "without a cap; nothing was spent",
                              job->dataset);
    }
    if (!job->confirm) return CLO_OK;
    if (job->confirm(job->confirm_user, &account, clo_plan_budget(job->plan))) return CLO_OK;
    return clo_i_fail(err, CLO_CANCELLED, "stopped before the spend: nothing was spent");
}

/* Looked up again: while the data were read, somebody else may have charged them. */
static clo_status refuse_other_name(clo_job *job, clo_error *err)
{
    CLO_TRY(clo_i_job_recognise(job, err));
    if (!job->known_as[0]) return CLO_OK;
    clo_i_job_advise(job, CLO_ADVICE_SET, "dataset %s", job->known_as);
    return clo_i_job_fail(job, err, CLO_ARGUMENT,
                          "this ledger knows these data as '%s', not as '%s': pass @dataset %s, "
                          "or, for a second account with a cap of its own, @dataset %s and @new; "
                          "nothing was spent",
                          job->known_as, job->dataset, job->known_as, job->dataset);
}

/* What a run that does not fit may ask for, rounded down; nobody is advised to take an epsilon
 * above 10, which protects hardly anybody. */
static void advise_less(clo_job *job)
{
    clo_account account;
    (void)clo_job_account(job, &account, sizeof account);
    const double left = account.left.epsilon;
    if (!(left > 0 && left < clo_plan_budget(job->plan).epsilon && left <= 10)) {
        clo_i_job_advise(job, CLO_ADVICE_LEDGER, "%s", job->ledger_path);
        return;
    }
    const double unit = pow(10, floor(log10(left)) - 3);
    clo_i_job_advise(job, CLO_ADVICE_SET, "epsilon %.4g", floor(left / unit) * unit);
}

static clo_status charge(clo_job *job, clo_error *err)
{
    const clo_spending spending = spending_of(job);
    clo_status status;
    if (job->origin[0]) {
        status = clo_ledger_claim(job->ledger, job->dataset, job->origin, err);
        if (status == CLO_ARGUMENT) clo_i_job_advise(job, CLO_ADVICE_SET, "dataset NAME");
        if (status) return status;
    }
    CLO_TRY(refuse_other_name(job, err));
    CLO_TRY(clo_i_job_refuse_seed(job, err)); /* a cap may have been declared meanwhile */
    CLO_TRY(confirm(job, err));
    status = clo_ledger_spend_for(job->ledger, &spending, &job->grant, err);
    if (status == CLO_BUDGET) advise_less(job);
    return status;
}

static clo_status check_run(clo_job *job, clo_error *err)
{
    const clo_run_options options = clo_i_job_run_options(job);
    CLO_TRY(clo_i_job_refuse_hopeless(job, err));
    CLO_TRY(clo_i_check_spare_memory(err));
    return clo_run_check(job->plan, job->data, &options, err);
}

/* Ranks that only fold are granted what rank 0 has paid for. */
clo_status clo_job_spend(clo_job *job, clo_error *err)
{
    CLO_TRY(after(job, CLO_STEP_FETCHED, "spend", err));
    CLO_TRY(clo_i_job_agree(job, check_run(job, err), err));
    const clo_status status = job->metered && clo_i_job_leads(job)
                                  ? charge(job, err)
                                  : clo_grant_unmetered(job->plan, &job->grant, err);
    CLO_TRY(clo_i_job_agree(job, status, err));
    job->step = CLO_STEP_SPENT;
    return CLO_OK;
}

clo_status clo_job_would_spend(clo_job *job, clo_error *err)
{
    const clo_spending spending = spending_of(job);
    CLO_TRY(after(job, CLO_STEP_REHEARSED, "would spend", err));
    CLO_TRY(clo_i_job_refuse_hopeless(job, err));
    if (!job->metered) return CLO_OK;
    CLO_TRY(refuse_other_name(job, err));
    const clo_status status = clo_ledger_rehearse(job->ledger, &spending, err);
    if (status == CLO_BUDGET) advise_less(job);
    return status;
}

/* ---- run and store --------------------------------------------------------- */

static clo_status run(clo_job *job, clo_error *err)
{
    const clo_run_options options = clo_i_job_run_options(job);
    CLO_TRY(clo_run(job->plan, job->grant, job->data, job->rng, &options, &job->release, err));
    if (!job->names || !job->release) return CLO_OK;
    return clo_release_name_columns(job->release, (const char *const *)job->names, job->name_count,
                                    err);
}

static clo_status fail_stopped(const clo_job *job, bool several, clo_error *err)
{
    const clo_loss budget = clo_plan_budget(job->plan);
    char epsilon[CLO_NUMBER_SIZE], delta[CLO_NUMBER_SIZE];
    clo_number_text(budget.epsilon, epsilon);
    clo_number_text(budget.delta, delta);
    return clo_i_fail(err, CLO_CANCELLED,
                      "stopped%s before there was a release; its charge stays: epsilon %s, delta "
                      "%s on '%.200s'",
                      several ? ", or a rank of this run is gone," : "", epsilon, delta,
                      job->dataset);
}

clo_status clo_job_run(clo_job *job, clo_error *err)
{
    clo_error why = { .status = CLO_OK };
    CLO_TRY(after(job, CLO_STEP_SPENT, "run", err));
    job->step = CLO_STEP_OVER; /* unless it goes well */
    const clo_status status = clo_i_job_agree(job, run(job, &why), &why);
    const bool several = clo_i_job_ranks(job) > 1;
    if (status == CLO_CANCELLED && job->metered) return fail_stopped(job, several, err);
    if (status && job->metered && several)
        return clo_i_fail(err, status, "%.300s; the budget of this run stays spent", why.message);
    if (status) return clo_i_fail(err, status, "%s", why.message);
    job->step = CLO_STEP_RAN;
    return CLO_OK;
}

/* Where the ledger cannot keep it the run was still paid for, and is delivered; only its token is
 * of no further use. */
static void keep(clo_job *job)
{
    clo_error why;
    if (clo_ledger_store(job->ledger, job->grant, job->json.bytes, job->json.length, &why))
        snprintf(job->trouble, sizeof job->trouble, "%s", why.message);
    if (job->origin[0]) /* now that the data set is there */
        (void)!clo_ledger_claim(job->ledger, job->dataset, job->origin, NULL);
}

/* It was paid for: where it cannot be signed, it is delivered unsigned. */
static void certify(clo_job *job)
{
    clo_error why;
    if (clo_ledger_certify(job->ledger, job->grant, job->release, &why))
        snprintf(job->trouble, sizeof job->trouble, "%s", why.message);
}

static clo_status store(clo_job *job, clo_error *err)
{
    job->json.length = 0;
    if (job->metered) certify(job);
    if (clo_report(job->release, CLO_JSON, clo_i_growing_write, &job->json, NULL))
        return clo_i_fail(err, CLO_MEMORY, "out of memory for the release as JSON");
    if (job->metered) keep(job);
    return CLO_OK;
}

/* Nobody is asked whether that went well: what rank 0 has is stored, whatever the others do. */
clo_status clo_job_store(clo_job *job, clo_error *err)
{
    CLO_TRY(after(job, CLO_STEP_RAN, "store", err));
    if (clo_i_job_leads(job)) CLO_TRY(store(job, err));
    job->step = CLO_STEP_DONE;
    return CLO_OK;
}

clo_status clo_job_release(clo_job *job, const clo_release **out, clo_error *err)
{
    bool found = false;
    if (job->step <= CLO_STEP_CHECKED) CLO_TRY(clo_job_prepare(job, err));
    if (job->step == CLO_STEP_PREPARED) CLO_TRY(clo_job_fetch(job, &found, err));
    if (job->step == CLO_STEP_FETCHED) CLO_TRY(clo_job_spend(job, err));
    if (job->step == CLO_STEP_SPENT) CLO_TRY(clo_job_run(job, err));
    if (job->step == CLO_STEP_RAN) CLO_TRY(clo_job_store(job, err));
    CLO_TRY(after(job, CLO_STEP_DONE, "release", err));
    *out = job->release;
    return CLO_OK;
}

/* ---- what it knows --------------------------------------------------------- */

const clo_release *clo_job_result(const clo_job *job)
{
    return job->step == CLO_STEP_DONE ? job->release : NULL;
}

const char *clo_job_json(const clo_job *job, size_t *length)
{
    const bool done = job->step == CLO_STEP_DONE;
    if (length) *length = done ? job->json.length : 0;
    return done && job->release ? job->json.bytes : NULL;
}

const char *clo_job_trouble(const clo_job *job)
{
    return job->trouble[0] ? job->trouble : NULL;
}

const char *clo_job_token(const clo_job *job)
{
    if (job->step != CLO_STEP_DONE || !job->metered || job->trouble[0]) return NULL;
    return job->grant ? clo_grant_token(job->grant) : job->token; /* fetched: nothing was granted */
}

bool clo_job_is_cached(const clo_job *job)
{
    return job->step >= CLO_STEP_PREPARED && job->data && clo_bounded_is_cached(job->data);
}

const char *clo_job_known_as(const clo_job *job)
{
    return job->step >= CLO_STEP_PREPARED && job->known_as[0] ? job->known_as : NULL;
}

const char *clo_job_ledger_path(const clo_job *job)
{
    return job->step >= CLO_STEP_CHECKED && job->metered ? job->ledger_path : NULL;
}

const char *clo_job_dataset(const clo_job *job)
{
    return job->step >= CLO_STEP_CHECKED && job->metered ? job->dataset : NULL;
}

const char *clo_job_column_name(const clo_job *job, size_t column)
{
    const char *name = NULL;
    if (job->names)
        name = column < job->name_count ? job->names[column] : NULL;
    else if (job->spec.schema)
        name = clo_schema_output_name(job->spec.schema, column);
    else if (job->spec.bounds_file)
        name = column < job->spec.bound_count ? job->spec.bounds[column].name : NULL;
    return name && name[0] ? name : NULL;
}
