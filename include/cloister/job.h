/*
 * job.h - all six steps as one: from settings to a stored release, in the only order in which a
 * mistake costs nothing.
 *
 *   check    the settings, alone
 *   prepare  open the ledger, read, bound, plan, gather memory and randomness
 *   fetch    the release of an earlier run with the same token, if there is one: all is done then
 *   spend    charge the ledger, durably: from here on the budget is gone
 *   run      ask the queries
 *   store    keep the release under the run's token; only then is it handed out
 *
 * clo_job_release does all of it.  Who wants to speak in between takes the steps one by one; a step
 * out of order is refused with CLO_ARGUMENT and changes nothing.  A step before the spend that
 * fails has spent nothing, and may be tried again, with other settings too; one after it has spent
 * the budget, and the job is over.
 *
 *   clo_job *job = NULL;
 *   clo_error err;
 *   const clo_release *release;
 *   if (!clo_job_new(&job, &err) && !clo_job_set(job, "mechanism", "kmeans", &err) &&
 *       !clo_job_set(job, "data", "people.csv", &err) && !clo_job_set(job, "norm", "1", &err) &&
 *       !clo_job_set(job, "clusters", "8", &err) && !clo_job_set(job, "epsilon", "1", &err) &&
 *       !clo_job_release(job, &release, &err))
 *       ... what the release holds is private
 *   clo_job_free(job);
 */
#ifndef CLOISTER_JOB_H
#define CLOISTER_JOB_H

#include <cloister/run.h>
#include <cloister/worker.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Settings, and how far it has come. */
typedef struct clo_job clo_job;

/* A job without settings, to be freed with clo_job_free. */
CLO_API CLO_CHECK clo_status clo_job_new(clo_job **out, clo_error *err);
/* Wipes and frees all that the job holds: data, plan, ledger, release.  NULL is fine. */
CLO_API void clo_job_free(clo_job *job);

/* ---- settings -------------------------------------------------------------- */

/* How the value of a setting is written. */
typedef enum clo_setting_kind {
    CLO_SETTING_TEXT = 0,
    CLO_SETTING_CHOICE = 1, /* one of the words in `choices` */
    CLO_SETTING_FLAG = 2,   /* yes or no; not given is no */
    CLO_SETTING_NUMBER = 3, /* greater than 0 */
    CLO_SETTING_WHOLE = 4   /* a whole number from 1 to `upper` */
} clo_setting_kind;

/* What there is to say about a setting.  The options of the command and the arguments of Python's
 * estimators are made from these rows.  Frozen: the library gives pointers to them. */
typedef struct clo_setting_info {
    const char *name;
    clo_setting_kind kind;
    const char *group;    /* of options that belong together: "privacy"; NULL: it is no option */
    const char *argument; /* what stands for the value in a help text: "E"; NULL: a flag */
    char letter;          /* of a short option; 0: none */
    const char *choices;  /* "replace|add-remove" */
    const char *preset;   /* the default; NULL: there is none, or help says it */
    double upper;
    bool analyst;       /* whether an analyst may set it through a broker */
    bool rare;          /* whether few people need it */
    const char *python; /* its name as an argument of an estimator; NULL: it is none */
    const char *help;   /* no capital, no full stop; an @ before the name of another setting */
} clo_setting_info;

/* Row i of all settings; NULL after the last. */
CLO_API const clo_setting_info *clo_job_setting(size_t i);

/* Settings are texts by name, copied; a later one replaces an earlier one, and NULL takes it back.
 * The names are those of clo_job_setting and of every parameter of the mechanism ("clusters");
 * `cloister run --help` shows what each of them does.  CLO_ARGUMENT if there is no such setting or
 * the value is none of its choices; all else is looked at when the job is checked or planned, in an
 * order of its own.
 *
 * Some settings take more than a command line can give:
 *
 *   bounds     also the lines of a bounds file, each with its end
 *   data       also several files, each on a line of its own (clo_table_read_files)
 *   memory     also a number of bytes; the rows are then a scan (clo_table_scan)
 *   new        not in a closed ledger, whose steward alone allows a second name
 *              (clo_ledger_known_as)
 *   seed       is refused if the ledger has a cap on the data set
 *   yes        also without clo_job_set_anyway and clo_job_set_confirm, where nobody is asked */
CLO_API CLO_CHECK clo_status clo_job_set(clo_job *job, const char *name, const char *value,
                                         clo_error *err);

/* Data in memory in place of the file; borrowed until the job is prepared. */
CLO_API CLO_CHECK clo_status clo_job_set_table(clo_job *job, const clo_table *table,
                                               clo_error *err);
/* In place of relation, norm, bounds, center, rows and rows-per-unit; copied.  Where rows is 0 and
 * their number is public, the job counts them. */
CLO_API CLO_CHECK clo_status clo_job_set_domain(clo_job *job, const clo_domain *domain,
                                                clo_error *err);
/* In place of epsilon and delta; a negative delta is clo_default_delta. */
CLO_API CLO_CHECK clo_status clo_job_set_budget(clo_job *job, clo_loss budget, clo_error *err);
/* How to run: progress, a solver of blocks, a listener, ranks.  Copied; what it points to must live
 * as long as the job.  Without a workspace the job makes one before it spends.
 *
 * With a comm of several ranks each of them makes a job with the same settings and takes the same
 * steps; each step ends the same on all of them, with the words of the rank that failed first.
 * Rank 0 alone opens the ledger, charges it, draws and has the release (elsewhere
 * clo_job_result is NULL).  Of one file for all, rank r takes the r-th share of the rows; with
 * "{rank}" in the name of the file, or a table, each has rows of its own.  Plans that need all rows
 * in one process are refused before anything is spent, and with units or a limit of memory those
 * that ask in blocks, too (clo_plan_reading); without a method, one is chosen among the others.
 * With units, of one file for all each rank keeps some of the persons; with a file a rank, a person
 * that is in two of them is refused (CLO_DOMAIN), and tables are.
 *
 * With workers the job is the driver's: its data have the columns and no rows (a table, or a file
 * without records), and the number of rows, where it is public, is that of the workers; with units
 * the options say what their persons come to (clo_run_options.persons). */
CLO_API CLO_CHECK clo_status clo_job_set_run_options(clo_job *job, const clo_run_options *options,
                                                     clo_error *err);

/* Asked right before a ledger is charged, with what the ledger says of the data set (all zero but
 * its name where it knows nothing); false stops the job with CLO_CANCELLED, and nothing is spent.
 * NULL: nobody is asked. */
typedef bool clo_job_confirm(void *user, const clo_account *account, clo_loss budget);
CLO_API void clo_job_set_confirm(clo_job *job, clo_job_confirm *confirm, void *user);

/* Asked before anything is spent where public numbers say that noise will hide what is looked for:
 * `why` says so in a sentence (clo_plan_hidden_text).  true: spend all the same.  NULL, the preset:
 * nobody is asked, and the job is refused with CLO_BUDGET.  Neither happens where `yes` is
 * set, with a seed, or where no ledger is charged. */
typedef bool clo_job_anyway(void *user, const char *why);
CLO_API void clo_job_set_anyway(clo_job *job, clo_job_anyway *anyway, void *user);

/* Called now and then while the data are read, as `progress` of clo_read_options; false stops the
 * job with CLO_CANCELLED, and nothing is spent.  NULL: nobody asks. */
CLO_API void clo_job_set_reading(clo_job *job, bool (*progress)(void *user, double done),
                                 void *user);

/* For a program that asks for others: who asks, and a declared name whose cap must cover the run
 * too (clo_spending); copied, NULL: its own user, none.  CLO_ARGUMENT where one is too long. */
CLO_API CLO_CHECK clo_status clo_job_charge_for(clo_job *job, const char *user, const char *along,
                                                clo_error *err);

/* What stands before the name of a setting where a failure names one: "" (preset), or "--" for a
 * command; at most seven bytes of it. */
CLO_API void clo_job_spell(clo_job *job, const char *prefix);

/* What might help after a step failed, for callers who say more than the failure itself. */
typedef enum clo_advice {
    CLO_ADVICE_NONE = 0,
    CLO_ADVICE_SET = 1,    /* a setting and its value: "rows-per-unit 1" */
    CLO_ADVICE_BOUNDS = 2, /* find a radius privately first, by the mechanism bounds/quantile */
    CLO_ADVICE_METHOD = 3, /* look up what a mechanism can be told; its name */
    CLO_ADVICE_LEDGER = 4, /* look into the ledger; its file */
    CLO_ADVICE_DECLARE = 5 /* declare the data set in the ledger; its name */
} clo_advice;

/* *text is the job's until its next step; "" where there is none. */
CLO_API clo_advice clo_job_advice(const clo_job *job, const char **text);

/* ---- steps ----------------------------------------------------------------- */

/* The smaller of 1e-6 and rows^-1.5, rounded down to two digits so that people can say it; 1e-6
 * where the number of rows is not public (0). */
CLO_API double clo_default_delta(uint64_t public_rows);

/* What a run with these settings would ask and cost.  It is free and reads no data, so that the
 * number of columns must be known: by cols, a bounds file, a centre, a projection, a table or a
 * domain.  Once the job is prepared it is the plan that will run.  The plan is the job's, until
 * this is called again or the job is prepared. */
CLO_API CLO_CHECK clo_status clo_job_plan(clo_job *job, const clo_plan **out, clo_error *err);

/* All settings, alone and together, before anything is read but the files that settings name. */
CLO_API CLO_CHECK clo_status clo_job_check(clo_job *job, clo_error *err);
/* Checks where that was not done.  The table is free to go afterwards. */
CLO_API CLO_CHECK clo_status clo_job_prepare(clo_job *job, clo_error *err);
/* The same for a look at what would be spent: the ledger is not changed, nothing is gathered, and
 * the job ends here. */
CLO_API CLO_CHECK clo_status clo_job_rehearse(clo_job *job, clo_error *err);
/* Of a job that was rehearsed: fails as its spend would now, for its names, its caps and what
 * public numbers say; nothing is spent. */
CLO_API CLO_CHECK clo_status clo_job_would_spend(clo_job *job, clo_error *err);
/* *found: an earlier run with this token has a release; the job then has it, and is done. */
CLO_API CLO_CHECK clo_status clo_job_fetch(clo_job *job, bool *found, clo_error *err);
CLO_API CLO_CHECK clo_status clo_job_spend(clo_job *job, clo_error *err);
CLO_API CLO_CHECK clo_status clo_job_run(clo_job *job, clo_error *err);
/* Succeeds where the ledger cannot keep the release, too, since it was paid for: see
 * clo_job_trouble. */
CLO_API CLO_CHECK clo_status clo_job_store(clo_job *job, clo_error *err);

/* A worker for the rows of this job's data, which are a part of the driver's (cloister/worker.h).
 * The settings must be the driver's but for the data, and for ledger, token and seed, which a
 * worker has none of.  rows: of all parts together, as the driver was told (clo_workers.rows).
 * Reads, bounds and plans, and charges nothing.  The worker borrows the job, which does nothing
 * else afterwards and must outlive it. */
CLO_API CLO_CHECK clo_status clo_job_worker(clo_job *job, uint64_t rows, clo_worker **out,
                                            clo_error *err);

/* Every step that is still to be taken.  The release is the job's. */
CLO_API CLO_CHECK clo_status clo_job_release(clo_job *job, const clo_release **out, clo_error *err);

/* Public bounds of the table's columns, as the setting `bounds` has them: "LO,HI", or a CSV file
 * whose lines are found by name where both have names.  lower and upper have a place for each
 * column of the table.  For clo_solve_options, so that a solution is on the scale of a run. */
CLO_API CLO_CHECK clo_status clo_bounds_read(const char *text, const clo_table *table,
                                             double *lower, double *upper, clo_error *err);

/* ---- what a job knows -------------------------------------------------------- */

/* Of a job that is done: its release, and the bytes of its JSON as they are stored.  NULL before.
 * Both are the job's. */
CLO_API const clo_release *clo_job_result(const clo_job *job);
CLO_API const char *clo_job_json(const clo_job *job, size_t *length);
/* Why the ledger could not keep the release, so that the caller should; NULL: it could. */
CLO_API const char *clo_job_trouble(const clo_job *job);
/* Of a job that is done: the token under which the ledger has its release, for clo_ledger_result;
 * NULL where it has none.  The job's. */
CLO_API const char *clo_job_token(const clo_job *job);
/* Of a job that was checked: the ledger's file and the name that is charged; NULL: not metered. */
CLO_API const char *clo_job_ledger_path(const clo_job *job);
CLO_API const char *clo_job_dataset(const clo_job *job);
/* Of a job that was prepared or rehearsed, with the setting cache: false where the cache could not
 * be written, the disk being full, say, so that the files are read again. */
CLO_API bool clo_job_is_cached(const clo_job *job);
/* Of a job that was prepared or rehearsed: another name under which its ledger has charged these
 * data, so that the spend will be refused; NULL: none.  The job's. */
CLO_API const char *clo_job_known_as(const clo_job *job);
/* Of a job that was prepared: how many columns the file has, the unit's among them, and how many of
 * them the run takes.  Both follow from the file's header and the settings; 0: the data are not a
 * file's. */
CLO_API size_t clo_job_file_cols(const clo_job *job);
CLO_API size_t clo_job_taken_cols(const clo_job *job);
/* Of a job that was prepared: at most so many bytes are its release as JSON, by public numbers
 * alone. */
CLO_API uint64_t clo_job_release_bytes(const clo_job *job);
/* Of a job that was planned or prepared: the name of a column, where the data or the bounds file
 * name it; NULL otherwise.  The job's. */
CLO_API const char *clo_job_column_name(const clo_job *job, size_t column);
/* Of a job that was prepared: what its ledger says of the data set now, into the caller's struct of
 * `size` bytes and no further.  False, and all zero but for the name, where it does not know it. */
CLO_API bool clo_job_account(const clo_job *job, clo_account *out, size_t size);

#ifdef __cplusplus
}
#endif
#endif
