/*
 * prepare.c - everything that can go wrong with a file, a setting or a machine, before anything is
 * spent: the ledger, the table, the bounded data, the plan, memory and randomness.
 */
#include "domain/domain.h"
#include "job/job.h"
#include "parallel/parallel.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- reading --------------------------------------------------------------- */

static clo_status read_delimiter(const clo_job *job, char *out, clo_error *err)
{
    const char *const text = clo_i_job_value(job, CLO_SET_DELIMITER);
    if (!text) return CLO_OK;
    if (strcmp(text, "tab") == 0 || strcmp(text, "\\t") == 0)
        *out = '\t';
    else if (text[0] && !text[1])
        *out = text[0];
    else
        return clo_i_job_fail(job, err, CLO_ARGUMENT,
                              "@delimiter must be one character or 'tab', not '%s'", text);
    return CLO_OK;
}

clo_status clo_i_job_read_options(const clo_job *job, clo_read_options *out, clo_error *err)
{
    clo_read_options options = clo_read_options_default();
    uint64_t cols = 0;
    options.format = clo_i_job_value(job, CLO_SET_FORMAT);
    options.columns = clo_i_job_value(job, CLO_SET_COLUMNS);
    options.unit = job->spec.unit;
    options.schema = job->spec.schema;
    options.fill = clo_i_job_value(job, CLO_SET_FILL);
    options.cache = clo_i_job_value(job, CLO_SET_CACHE);
    if (clo_i_job_says(job, CLO_SET_MISSING, "refuse")) options.missing = CLO_MISSING_REFUSE;
    if (clo_i_job_says(job, CLO_SET_MISSING, "fill")) options.missing = CLO_MISSING_FILL;
    if (clo_i_job_says(job, CLO_SET_TEXT_COLUMNS, "missing")) options.text = CLO_TEXT_MISSING;
    if (clo_i_job_says(job, CLO_SET_DECIMAL, ",")) options.decimal = ',';
    if (clo_i_job_says(job, CLO_SET_HEADER, "yes")) options.header = CLO_HEADER_FIRST_LINE;
    if (clo_i_job_says(job, CLO_SET_HEADER, "no")) options.header = CLO_HEADER_NONE;
    CLO_TRY(read_delimiter(job, &options.delimiter, err));
    CLO_TRY(clo_i_job_whole(job, CLO_SET_COLS, &cols, err));
    options.cols = (size_t)cols;
    *out = options;
    return CLO_OK;
}

/* The names outlive the table, which is freed before the run. */
static clo_status keep_names(clo_job *job, const clo_table *table, clo_error *err)
{
    const clo_schema *const schema = job->domain.schema; /* names the columns of a release itself */
    const size_t cols = schema ? clo_schema_outputs(schema) : clo_table_cols(table);
    if (cols == 0 || (!schema && !clo_table_column_name(table, 0))) return CLO_OK;
    CLO_TRY(clo_i_alloc(cols, sizeof *job->names, &job->names, err));
    job->name_count = cols;
    for (size_t j = 0; j < cols; j++) {
        const char *const name =
            schema ? clo_schema_output_name(schema, j) : clo_table_column_name(table, j);
        CLO_TRY(clo_i_copy_text(name ? name : "", &job->names[j], err));
    }
    return CLO_OK;
}

/* Under replace, with one row a record, how many there are is public; otherwise only what the
 * caller declares is. */
static clo_status settle_rows(clo_job *job, const clo_table *table, uint64_t there, clo_error *err)
{
    const char *const path = job->table ? "the table" : clo_i_job_value(job, CLO_SET_DATA);
    const char *const quote = job->table ? "" : "'";
    if (job->spec.relation != CLO_REPLACE || clo_table_has_unit(table)) return CLO_OK;
    if (job->spec.rows != 0 && job->spec.rows != there)
        return clo_i_job_fail(job, err, CLO_DOMAIN,
                              "@rows is %llu, but %s%s%s has %llu: under replace leave @rows out",
                              (unsigned long long)job->spec.rows, quote, path, quote,
                              (unsigned long long)there);
    /* Only where their number is public may an empty table be refused. */
    if (there == 0) return clo_i_fail(err, CLO_FORMAT, "%s has no rows", path);
    job->spec.rows = there;
    return CLO_OK;
}

/* rows: of all ranks or parts together.  Where there are several, a bounded part declares none. */
static clo_status bound(clo_job *job, const clo_table *table, uint64_t rows, clo_error *err)
{
    CLO_TRY(settle_rows(job, table, rows, err));
    CLO_TRY(clo_i_spec_fit(job, clo_table_cols(table), table, &job->domain, err));
    clo_domain part = job->domain;
    if (clo_i_job_spreads(job)) part.rows = 0;
    CLO_TRY(clo_bound(table, &part, &job->data, err));
    return keep_names(job, table, err);
}

/* What one of several ranks reads: the file of all, or one of its own. */
static clo_status read_part(const clo_job *job, const clo_read_options *options, clo_table **out,
                            clo_error *err)
{
    char path[PATH_MAX];
    CLO_TRY(clo_i_job_path(job, job->options.comm->rank, path, sizeof path, err));
    if (strcmp(path, "-") == 0)
        return clo_i_fail(err, CLO_UNSUPPORTED,
                          "several ranks cannot share standard input: give a file");
    if (strchr(path, '\n'))
        return clo_i_fail(err, CLO_UNSUPPORTED,
                          "several ranks need one file, or one file per rank with {rank} in its "
                          "name");
    const char *const one = path;
    uint64_t memory = 0; /* of each rank */
    CLO_TRY(clo_i_job_memory(job, &memory, err));
    return memory ? clo_table_scan(&one, 1, options, memory, out, err)
                  : clo_table_read(path, options, out, err);
}

static clo_status read_table(clo_job *job, clo_table **out, clo_error *err)
{
    clo_read_options options;
    CLO_TRY(clo_i_job_read_options(job, &options, err));
    options.rows_are_secret = job->spec.relation != CLO_REPLACE || options.unit;
    /* Shares of cells are public nowhere that the number of rows is hidden: there a column of text
     * ends a run on request only (docs/security/what-can-end-a-run.md). */
    if (options.rows_are_secret && !clo_i_job_value(job, CLO_SET_TEXT_COLUMNS))
        options.text = CLO_TEXT_MISSING;
    options.digest = clo_i_job_takes_digest(job); /* for the ledger to know them again */
    options.progress = job->reading;
    options.user = job->reading_user;
    if (clo_i_job_ranks(job) > 1) options.unit_key = job->unit_key;
    /* Of one file for all ranks each looks at its share alone. */
    options.rows_later = clo_i_job_ranks(job) > 1 && !clo_i_job_has_own_rows(job);
    CLO_TRY(clo_i_job_ranks(job) > 1 ? read_part(job, &options, out, err)
                                     : clo_i_job_read_files(job, &options, out, err));
    job->file_cols = clo_table_file_cols(*out);
    job->taken_cols = clo_table_cols(*out);
    job->has_content = clo_table_digest(*out, job->content);
    return CLO_OK;
}

static clo_status read_and_bound(clo_job *job, clo_status ready, clo_error *err)
{
    clo_table *read = NULL;
    uint64_t rows = 0;
    clo_status status = clo_i_job_share_unit_key(job, ready, err);
    if (!status && !job->table) status = read_table(job, &read, err);
    if (!status && job->table) job->has_content = clo_table_digest(job->table, job->content);
    status = clo_i_job_agree(job, status, err);
    if (!status) status = clo_i_job_share_rows(job, read, &rows, err);
    status = clo_i_job_agree(job, status, err);
    job->all_rows = rows;
    if (!status) status = clo_i_job_compare_persons(job, read, err);
    if (!status) status = clo_i_job_share_digest(job, err);
    if (!status) status = clo_i_job_refuse_gaps(job, read ? read : job->table, err);
    if (!status) status = bound(job, read ? read : job->table, rows, err);
    clo_table_free(read);
    return status;
}

/* ---- the rest -------------------------------------------------------------- */

/* In a closed ledger which names stand for which data is its steward's word. */
static clo_status check_closed(clo_job *job, clo_error *err)
{
    clo_ledger_facts facts = { .struct_size = sizeof facts };
    const clo_status status = clo_ledger_check_dataset(job->ledger, job->dataset, err);
    if (status == CLO_ARGUMENT) clo_i_job_advise(job, CLO_ADVICE_DECLARE, "%s", job->dataset);
    if (status) return status;
    CLO_TRY(clo_ledger_describe(job->ledger, &facts, err));
    if (facts.closed && clo_i_job_says(job, CLO_SET_NEW, "yes"))
        return clo_i_job_fail(job, err, CLO_ARGUMENT,
                              "the ledger %.160s is closed, so a run cannot add names: leave @new "
                              "out",
                              job->ledger_path);
    return CLO_OK;
}

/* A rehearsal writes to none. */
static clo_status open_ledger(clo_job *job, bool rehearsal, clo_error *err)
{
    if (!job->metered) return CLO_OK;
    if (access(job->ledger_path, F_OK) != 0)
        clo_i_job_advise(job, CLO_ADVICE_DECLARE, "%s", job->dataset);
    CLO_TRY(rehearsal ? clo_ledger_open_existing(job->ledger_path, &job->ledger, err)
                      : clo_ledger_open(job->ledger_path, &job->ledger, err));
    return check_closed(job, err);
}

clo_status clo_i_job_recognise(clo_job *job, clo_error *err)
{
    job->known_as[0] = 0;
    if (!job->ledger || clo_i_job_says(job, CLO_SET_NEW, "yes")) return CLO_OK;
    CLO_TRY(clo_i_job_recognise_parts(job, err));
    if (!job->known_as[0]) CLO_TRY(clo_i_job_known_place(job, err));
    if (job->known_as[0] || !job->has_content) return CLO_OK;
    return clo_ledger_known_as(job->ledger, job->dataset, job->content, job->known_as,
                               sizeof job->known_as, err);
}

clo_status clo_i_job_refuse_seed(const clo_job *job, clo_error *err)
{
    clo_account account;
    if (!clo_i_job_value(job, CLO_SET_SEED)) return CLO_OK;
    if (!clo_job_account(job, &account, sizeof account) || !account.capped) return CLO_OK;
    return clo_i_job_fail(job, err, CLO_ARGUMENT,
                          "@seed makes a release that is not private, and '%s' has a cap in this "
                          "ledger: leave @seed out, or pass @no-ledger; nothing was spent",
                          job->dataset);
}

clo_run_options clo_i_job_run_options(const clo_job *job)
{
    clo_run_options options = job->options;
    if (job->threads) options.threads = (int)job->threads;
    if (!options.workspace) options.workspace = job->workspace;
    if (clo_i_job_ranks(job) > 1) {
        options.persons = &job->persons; /* which have been compared */
        options.all_rows = job->all_rows;
    }
    return options;
}

/* Memory is gathered here and not by the run: how much it is follows the number of rows, and after
 * the charge a lack of it would tell of them. */
static clo_status gather_memory(clo_job *job, clo_error *err)
{
    int threads = clo_i_threads(clo_i_job_run_options(job).threads);
    CLO_TRY(clo_i_threads_prepare(&threads, err));
    job->threads = (uint64_t)threads;
    const clo_run_options options = clo_i_job_run_options(job);
    if (options.workspace) return CLO_OK;
    return clo_workspace_for_run(job->plan, job->data, &options, &job->workspace, err);
}

static clo_status gather_randomness(clo_job *job, clo_error *err)
{
    const char *const text = clo_i_job_value(job, CLO_SET_SEED);
    uint8_t seed[32];
    if (!text) return clo_rng_new(&job->rng, err);
    clo_seed_from_text(text, seed);
    return clo_rng_new_seeded(seed, &job->rng, err);
}

/* Rank 0 alone has the ledger and the randomness. */
static clo_status open_books(clo_job *job, bool rehearsal, clo_error *err)
{
    if (!clo_i_job_leads(job)) return CLO_OK;
    CLO_TRY(open_ledger(job, rehearsal, err));
    return clo_i_job_refuse_seed(job, err);
}

static clo_status plan_and_gather(clo_job *job, bool rehearsal, clo_error *err)
{
    CLO_TRY(clo_i_job_recognise(job, err));
    CLO_TRY(clo_i_job_make_plan(job, &job->domain, &job->plan, err));
    CLO_TRY(clo_i_job_check_spread(job, err));
    if (rehearsal) return CLO_OK;
    CLO_TRY(gather_memory(job, err));
    return clo_i_job_leads(job) ? gather_randomness(job, err) : CLO_OK;
}

static clo_status prepare(clo_job *job, bool rehearsal, clo_error *err)
{
    clo_plan_free(job->plan); /* of an earlier look */
    job->plan = NULL;
    clo_status status = read_and_bound(job, open_books(job, rehearsal, err), err);
    if (!status) status = plan_and_gather(job, rehearsal, err);
    CLO_TRY(clo_i_job_agree(job, status, err));
    return clo_i_job_compare_plans(job, err);
}

clo_status clo_i_job_prepare(clo_job *job, bool rehearsal, clo_error *err)
{
    const uint64_t rows = job->spec.rows;
    /* A limit of threads holds for reading, too: several ranks may share a machine. */
    const int asked = clo_i_threads(clo_i_job_run_options(job).threads);
    const int threads = clo_i_threads_startable(asked), before = clo_i_threads_set(threads);
    if (threads < asked) job->threads = (uint64_t)threads;
    const clo_status status = prepare(job, rehearsal, err);
    (void)clo_i_threads_set(before);
    if (status == CLO_OK) return CLO_OK;
    clo_i_job_drop(job);
    job->spec.rows = rows; /* as it was said, for another try */
    return status;
}

void clo_i_job_drop(clo_job *job)
{
    clo_i_free(job->json.bytes);
    clo_release_free(job->release);
    clo_grant_free(job->grant);
    clo_rng_free(job->rng);
    clo_workspace_free(job->workspace);
    clo_ledger_close(job->ledger);
    clo_plan_free(job->plan);
    clo_bounded_free(job->data);
    for (size_t j = 0; j < job->name_count; j++) clo_i_free(job->names[j]);
    clo_i_free(job->names);
    clo_i_domain_clear(&job->domain);
    clo_i_wipe(job->content, sizeof job->content);
    clo_i_wipe(job->unit_key, sizeof job->unit_key);
    job->has_content = false;
    clo_i_wipe_free(job->parts, job->parts ? (size_t)clo_i_job_ranks(job) * CLO_DIGEST_BYTES : 0);
    job->parts = NULL;
    job->json = (clo_i_growing){ .bytes = NULL };
    job->release = NULL;
    job->grant = NULL;
    job->rng = NULL;
    job->workspace = NULL;
    job->ledger = NULL;
    job->plan = NULL;
    job->data = NULL;
    job->names = NULL;
    job->name_count = 0;
    memset(&job->domain, 0, sizeof job->domain);
}
