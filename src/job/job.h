/*
 * job.h (internal) - what a job holds between its settings and its release.
 *
 *   settings.def       the table of settings
 *   settings.c         ... as an array; texts in, failures and advice out
 *   domain_settings.c  what is publicly known: read before the data are
 *   bounds_file.c      the bounds of columns, from a text or a file
 *   domain_fit.c       ... fitted to the columns afterwards
 *   choose_method.c           which mechanism is meant, and its plan, with what is learnt before it
 *   refuse_too_noisy.c         whether what it asks for can be told at all
 *   job.c              the steps, in their order
 *   data_files.c       which files the data are, and how much memory a run over them may take
 *   prepare.c          the longest of them: ledger, table, bounded data, plan, memory, randomness
 *   job_ranks.c        ... on several ranks, each with some of the rows: what they agree on
 *
 * Everything but texts and memory goes through the public headers, as a caller would go.
 */
#ifndef CLO_JOB_INTERNAL_H
#define CLO_JOB_INTERNAL_H

#include "base/base.h"
#include <cloister/job.h>
#include <cloister/persons.h>
#include <limits.h>

/* How far a job is.  The order is that of the steps. */
typedef enum clo_i_step {
    CLO_STEP_NEW = 0,
    CLO_STEP_CHECKED,
    CLO_STEP_PREPARED,
    CLO_STEP_FETCHED, /* and there was nothing to fetch */
    CLO_STEP_SPENT,
    CLO_STEP_RAN,
    CLO_STEP_DONE,
    CLO_STEP_REHEARSED, /* ends without a release */
    CLO_STEP_OVER       /* failed after the spend */
} clo_i_step;

/* The settings by name, CLO_SET_EPSILON: what code says that looks one up. */
typedef enum clo_i_setting {
#define SETTING(id, text, ...) CLO_SET_##id,
#include "job/settings.def"
#undef SETTING
    CLO_SET_COUNT
} clo_i_setting;

enum { CLO_MAX_PARAMETERS = 256 };

/* What the texts say of the mechanism. */
typedef struct clo_i_choice {
    bool named;
    const char *family;
    clo_params *params; /* of the named one; otherwise of one that has these settings */
    clo_setting settings[CLO_MAX_PARAMETERS];
    size_t setting_count;
} clo_i_choice;

typedef struct clo_i_bound {
    char *name; /* NULL: the file has no names */
    double lower, upper;
} clo_i_bound;

/* What the texts say of the domain, before the number of columns is known. */
typedef struct clo_i_spec {
    clo_relation relation;
    double norm; /* 0: not given */
    double *center;
    size_t center_count;
    clo_i_bound *bounds; /* one for all columns, or one a column out of bounds_file */
    size_t bound_count;
    const char *bounds_file; /* NULL: "LO,HI" */
    uint64_t rows;           /* 0: not given */
    uint64_t rows_per_unit;  /* 0: not given */
    const char *unit;        /* NULL: not given */
    bool learns;             /* whether norm or center is private */
    clo_learning learning;   /* what of it, and at what share of the budget */
    clo_schema *schema;      /* of the columns; NULL: not given */
    const char *project;     /* the file of the release to project on; NULL: none */
    clo_release *subspace;   /* what it holds */
} clo_i_spec;

struct clo_job {
    clo_i_step step;
    char prefix[8];
    clo_advice advice;
    char advice_text[256];
    /* The settings. */
    char *values[CLO_SET_COUNT];                 /* in the order of the table; NULL: not given */
    const char *param_names[CLO_MAX_PARAMETERS]; /* of the mechanisms' own rows */
    char *param_values[CLO_MAX_PARAMETERS];
    size_t param_count;
    const clo_table *table;
    bool has_domain, has_budget;
    clo_domain given_domain; /* a copy */
    clo_loss given_budget;
    clo_run_options options;
    clo_workers workers; /* what options.workers points to */
    uint64_t all_rows;   /* of all ranks or parts together */
    clo_persons persons; /* what options.persons points to, or what the ranks have found */
    uint8_t unit_key[CLO_UNIT_KEY_BYTES]; /* of all ranks */
    bool is_part;                         /* it makes a worker (clo_job_worker) */
    uint64_t part_of;                     /* ... of so many rows */
    clo_job_confirm *confirm;
    void *confirm_user;
    clo_job_anyway *anyway;
    void *anyway_user;
    bool (*reading)(void *user, double done);
    void *reading_user;
    char user[201], along[201]; /* who is charged; "": this user, nobody along */
    /* Out of check. */
    clo_loss budget; /* delta < 0: not given */
    clo_i_choice choice;
    clo_i_spec spec;
    bool metered;
    uint64_t threads; /* 0: as the run options say */
    const char *dataset, *token;
    char origin[PATH_MAX]; /* where the data lie; "": the data set was named by the user */
    char ledger_path[1024];
    bool has_content; /* a digest of the data, as secret as they are */
    uint8_t content[CLO_DIGEST_BYTES];
    int64_t *parts;     /* such a digest of each rank's file, on rank 0; NULL: there is one file */
    char known_as[201]; /* another name under which the ledger has charged them; "": none */
    /* Out of prepare and of what follows. */
    clo_domain domain; /* a copy */
    char **names;      /* of the columns; NULL: they have none */
    size_t name_count;
    size_t file_cols, taken_cols; /* of the file */
    clo_bounded *data;
    clo_plan *plan;
    clo_ledger *ledger;
    clo_workspace *workspace;
    clo_rng *rng;
    clo_grant *grant;
    clo_release *release;
    clo_i_growing json;
    char trouble[sizeof((clo_error *)0)->message];
};

/* ---- settings.c ------------------------------------------------------------ */

const char *clo_i_job_value(const clo_job *job, clo_i_setting setting); /* NULL: not given */
const char *clo_i_job_default(clo_i_setting setting);
bool clo_i_job_says(const clo_job *job, clo_i_setting setting, const char *word);
/* Of a parameter of a mechanism. */
const char *clo_i_job_param(const clo_job *job, const char *name);
/* As clo_i_fail; an @ of the format stands for what the caller puts before a setting's name. */
clo_status clo_i_job_fail(const clo_job *job, clo_error *err, clo_status status, const char *format,
                          ...) __attribute__((format(printf, 4, 5)));
void clo_i_job_advise(clo_job *job, clo_advice advice, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* A decimal number, finite and nothing else: no blanks, no "inf", no hexadecimal. */
bool clo_i_scan_decimal(const char *text, size_t length, double *out);
/* The setting of that name, where it is given; *out is left alone where not. */
CLO_CHECK clo_status clo_i_job_positive(const clo_job *job, clo_i_setting setting, double *out,
                                        clo_error *err);
CLO_CHECK clo_status clo_i_job_whole(const clo_job *job, clo_i_setting setting, uint64_t *out,
                                     clo_error *err);
CLO_CHECK clo_status clo_i_job_list(const clo_job *job, clo_i_setting setting, double **out,
                                    size_t *out_count, clo_error *err);

/* ---- the domain ------------------------------------------------------------ */

CLO_CHECK clo_status clo_i_spec_read(clo_job *job, clo_error *err);
CLO_CHECK clo_status clo_i_bounds_read(const clo_job *job, const char *text, clo_i_spec *spec,
                                       clo_error *err);
void clo_i_spec_clear(clo_i_spec *spec);
/* A domain of so many columns with arrays of its own, for clo_i_domain_clear; table may be NULL (a
 * plan). */
CLO_CHECK clo_status clo_i_spec_fit(const clo_job *job, size_t cols, const clo_table *table,
                                    clo_domain *out, clo_error *err);

/* ---- choose_method.c -------------------------------------------------------------- */

CLO_CHECK clo_status clo_i_choice_read(clo_job *job, clo_error *err);
/* Refuses a choice that leaves out what has no sensible preset: how many clusters there are. */
CLO_CHECK clo_status clo_i_choice_complete(clo_job *job, clo_error *err);
void clo_i_choice_clear(clo_i_choice *choice);
/* refuse_too_noisy.c: a plan whose bounds the rows cannot tell, or that noise hides; unless
 * `yes`. */
CLO_CHECK clo_status clo_i_job_refuse_hopeless(clo_job *job, clo_error *err);
/* refuse_too_noisy.c: where nearly all rows, of all ranks or parts together, have a missing cell
 * and their number is public; unless `yes` or `text-columns missing`.  table: of this rank. */
CLO_CHECK clo_status clo_i_job_refuse_gaps(const clo_job *job, const clo_table *table,
                                           clo_error *err);
/* The plan of the job's choice and budget in this domain, with what is learnt before it. */
CLO_CHECK clo_status clo_i_job_make_plan(const clo_job *job, const clo_domain *domain,
                                         clo_plan **out, clo_error *err);

/* ---- data_files.c ---------------------------------------------------------- */

/* The setting `memory` in bytes, which goes with the others; 0: not given. */
CLO_CHECK clo_status clo_i_job_memory(const clo_job *job, uint64_t *out, clo_error *err);
/* All files as a table: in memory, or, with a limit of it, as a scan. */
CLO_CHECK clo_status clo_i_job_read_files(const clo_job *job, const clo_read_options *options,
                                          clo_table **out, clo_error *err);
/* Whether one of the files lies where the ledger knows another data set; into known_as. */
CLO_CHECK clo_status clo_i_job_known_place(clo_job *job, clo_error *err);

/* ---- prepare.c ------------------------------------------------------------- */

CLO_CHECK clo_status clo_i_job_read_options(const clo_job *job, clo_read_options *out,
                                            clo_error *err);
/* As the caller has them, with the setting `threads` and the memory that was gathered. */
clo_run_options clo_i_job_run_options(const clo_job *job);
/* Whether the ledger has charged these data under another name. */
CLO_CHECK clo_status clo_i_job_recognise(clo_job *job, clo_error *err);
/* A seeded release is not private: who knows the seed takes the noise away.  A cap bounds what may
 * ever be learnt of the data, so that such a run is refused where there is one. */
CLO_CHECK clo_status clo_i_job_refuse_seed(const clo_job *job, clo_error *err);
CLO_CHECK clo_status clo_i_job_prepare(clo_job *job, bool rehearsal, clo_error *err);
/* ---- job_persons.c --------------------------------------------------------- */

/* The key under which all ranks hash persons; `ready`: how it went so far, which is returned where
 * it is a failure. */
CLO_CHECK clo_status clo_i_job_share_unit_key(clo_job *job, clo_status ready, clo_error *err);
/* Refuses persons that have rows on two ranks; into job->persons.  read: NULL where the table is
 * the caller's. */
CLO_CHECK clo_status clo_i_job_compare_persons(clo_job *job, const clo_table *read, clo_error *err);

/* ---- job_ranks.c --------------------------------------------------------------- */

/* Over all ranks, in place; and from rank 0 to all. */
CLO_CHECK clo_status clo_i_job_sum(const clo_job *job, int64_t *values, size_t count,
                                   clo_error *err);
CLO_CHECK clo_status clo_i_job_broadcast(const clo_job *job, void *bytes, size_t count,
                                         clo_error *err);
/* Whether each rank has rows of its own: in memory, or in a file that its number names. */
bool clo_i_job_has_own_rows(const clo_job *job);

int clo_i_job_ranks(const clo_job *job); /* 1: it is alone */
/* Whether the rows are with several processes: ranks, or a driver's workers. */
bool clo_i_job_spreads(const clo_job *job);
bool clo_i_job_leads(const clo_job *job); /* whether this is rank 0 */
/* How a step went on all ranks: the first failure, in the words of the rank that failed.  With one
 * rank, and where that is this one, `mine` and what `err` holds. */
CLO_CHECK clo_status clo_i_job_agree(const clo_job *job, clo_status mine, clo_error *err);
/* What rank 0 has found out. */
CLO_CHECK clo_status clo_i_job_hear(const clo_job *job, bool *fact, clo_error *err);
/* The file that a rank reads: "{rank}" in the path is its number, where there are several. */
CLO_CHECK clo_status clo_i_job_path(const clo_job *job, int rank, char *out, size_t size,
                                    clo_error *err);
/* Keeps this rank's share of a file that all of them read.  *rows: how many all have together. */
CLO_CHECK clo_status clo_i_job_share_rows(const clo_job *job, clo_table *read, uint64_t *rows,
                                          clo_error *err);
bool clo_i_job_takes_digest(const clo_job *job);
/* With one file a rank the content is that of all files. */
CLO_CHECK clo_status clo_i_job_share_digest(clo_job *job, clo_error *err);
CLO_CHECK clo_status clo_i_job_recognise_parts(clo_job *job, clo_error *err);
/* Refuses, while nothing is said or spent, what several ranks cannot do. */
CLO_CHECK clo_status clo_i_job_check_spread(const clo_job *job, clo_error *err);
/* Refuses ranks that would not answer the same asks. */
CLO_CHECK clo_status clo_i_job_compare_plans(const clo_job *job, clo_error *err);

/* Everything that prepare and what follows have made; the settings stay. */
void clo_i_job_drop(clo_job *job);

#endif
