/*
 * job_ranks.c - a job that several ranks do together, each with some of the rows.
 *
 * Every rank has the same settings and takes the same steps.  A step ends the same on all of them:
 * each says how its part went, and the first failure is everybody's, in the words of the rank that
 * failed.  So nothing is charged before all ranks are ready, and nobody waits for one that gave up
 * (fold.T3).
 * Rank 0 alone has the ledger, the randomness and the release.
 */
#include "job/job.h"
#include <cloister/persons.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

enum { WORDS = sizeof(clo_error) / sizeof(int64_t) + 1, DIGEST_WORDS = 4 };
_Static_assert(DIGEST_WORDS * sizeof(int64_t) == CLO_DIGEST_BYTES, "a digest is whole words");

int clo_i_job_ranks(const clo_job *job)
{
    return job->options.comm ? job->options.comm->size : 1;
}

bool clo_i_job_spreads(const clo_job *job)
{
    return clo_i_job_ranks(job) > 1 || job->options.workers || job->is_part;
}

bool clo_i_job_leads(const clo_job *job)
{
    return !job->options.comm || job->options.comm->rank == 0;
}

/* ---- what all of them know ------------------------------------------------- */

clo_status clo_i_job_sum(const clo_job *job, int64_t *values, size_t count, clo_error *err)
{
    const clo_comm *const comm = job->options.comm;
    const clo_status status = comm->sum(comm->user, values, count);
    return status ? clo_i_fail(err, status, "the ranks of this run have lost each other") : CLO_OK;
}

clo_status clo_i_job_broadcast(const clo_job *job, void *bytes, size_t count, clo_error *err)
{
    const clo_comm *const comm = job->options.comm;
    const clo_status status = comm->broadcast(comm->user, bytes, count);
    return status ? clo_i_fail(err, status, "the ranks of this run have lost each other") : CLO_OK;
}

/* Room for so many words of each rank, all zero, and where this rank's begin. */
static clo_status open_slots(const clo_job *job, size_t words, int64_t **out, int64_t **mine,
                             clo_error *err)
{
    int64_t *slots = NULL;
    CLO_TRY(clo_i_alloc((size_t)clo_i_job_ranks(job) * words, sizeof *slots, &slots, err));
    *mine = slots + (size_t)job->options.comm->rank * words;
    *out = slots;
    return CLO_OK;
}

/* What the rank that failed first says, on all of them. */
static clo_status quote(const clo_job *job, int rank, clo_status status, clo_error *err)
{
    int64_t words[WORDS] = { 0 };
    const bool own = rank == job->options.comm->rank;
    clo_error said;
    if (own && err) memcpy(words, err, sizeof *err);
    if (clo_i_job_sum(job, words, WORDS, NULL) || own) return status;
    memcpy(&said, words, sizeof said);
    said.message[sizeof said.message - 1] = said.advice[sizeof said.advice - 1] = 0;
    (void)(rank == 0 ? clo_i_fail(err, status, "%s", said.message)
                     : clo_i_fail(err, status, "rank %d: %s", rank, said.message));
    return clo_i_advise(err, status, "%s", said.advice);
}

clo_status clo_i_job_agree(const clo_job *job, clo_status mine, clo_error *err)
{
    const int ranks = clo_i_job_ranks(job);
    int64_t *slots = NULL, *own = NULL;
    clo_error unheard = { .status = CLO_OK };
    if (ranks == 1) return mine;
    if (!err) err = &unheard;
    const clo_status room = open_slots(job, 1, &slots, &own, mine ? NULL : err);
    if (room) return mine ? mine : room;
    *own = (int64_t)mine;
    clo_status status = clo_i_job_sum(job, slots, (size_t)ranks, mine ? NULL : err);
    if (status) status = mine ? mine : status;
    for (int r = 0; r < ranks && !status; r++)
        if (slots[r]) status = quote(job, r, (clo_status)slots[r], err);
    clo_i_free(slots);
    return status;
}

clo_status clo_i_job_hear(const clo_job *job, bool *fact, clo_error *err)
{
    uint64_t word = *fact;
    if (clo_i_job_ranks(job) == 1) return CLO_OK;
    CLO_TRY(clo_i_job_broadcast(job, &word, sizeof word, err));
    *fact = word != 0;
    return CLO_OK;
}

/* ---- which rows ------------------------------------------------------------ */

static const char RANK[] = "{rank}";

bool clo_i_job_has_own_rows(const clo_job *job)
{
    return job->table || strstr(clo_i_job_value(job, CLO_SET_DATA), RANK);
}

clo_status clo_i_job_path(const clo_job *job, int rank, char *out, size_t size, clo_error *err)
{
    const char *const path = clo_i_job_value(job, CLO_SET_DATA);
    const char *const place = clo_i_job_ranks(job) > 1 ? strstr(path, RANK) : NULL;
    const size_t before = place ? (size_t)(place - path) : 0;
    const size_t length = place ? (size_t)snprintf(out, size, "%.*s%d%s", (int)before, path, rank,
                                                   place + sizeof RANK - 1)
                                : (size_t)snprintf(out, size, "%s", path);
    return length < size ? CLO_OK : clo_i_fail(err, CLO_ARGUMENT, "the file's path is too long");
}

/* Rows of this rank's own: how many there are in all.  Of a file that all read: its share, the
 * first ranks with one more where they do not come out even; of persons, those that are its own. */
static clo_status take_rows(const clo_job *job, const int64_t *counts, clo_table *read,
                            uint64_t *rows, clo_error *err)
{
    const size_t ranks = (size_t)clo_i_job_ranks(job), rank = (size_t)job->options.comm->rank;
    uint64_t all = 0;
    if (clo_i_job_has_own_rows(job)) {
        for (size_t r = 0; r < ranks; r++) all += (uint64_t)counts[r];
        *rows = all;
        return CLO_OK;
    }
    all = (uint64_t)counts[0];
    for (size_t r = 1; r < ranks; r++)
        if ((uint64_t)counts[r] != all)
            return clo_i_fail(err, CLO_DOMAIN,
                              "the ranks have read different files under this name: all must read "
                              "the same file, or each one of its own ({rank} in the name)");
    const size_t each = (size_t)all / ranks, more = (size_t)all % ranks;
    *rows = all;
    if (clo_table_has_unit(read))
        return clo_table_keep_persons(read, rank, ranks, err); /* fold.T5 */
    return clo_table_keep(read, rank * each + (rank < more ? rank : more), each + (rank < more),
                          err);
}

clo_status clo_i_job_share_rows(const clo_job *job, clo_table *read, uint64_t *rows, clo_error *err)
{
    int64_t *counts = NULL, *own = NULL;
    *rows = clo_table_rows(read ? read : job->table);
    if (job->options.workers) *rows = job->workers.rows;
    if (job->is_part) *rows = job->part_of;
    if (clo_i_job_ranks(job) == 1) return CLO_OK;
    const clo_status room = open_slots(job, 1, &counts, &own, err);
    CLO_TRY(clo_i_job_agree(job, room, err));
    *own = (int64_t)*rows;
    clo_status status = clo_i_job_sum(job, counts, (size_t)clo_i_job_ranks(job), err);
    if (!status) status = take_rows(job, counts, read, rows, err);
    clo_i_wipe_free(counts, (size_t)clo_i_job_ranks(job) * sizeof *counts);
    return status;
}

bool clo_i_job_takes_digest(const clo_job *job)
{
    return job->metered &&
           (clo_i_job_leads(job) || strstr(clo_i_job_value(job, CLO_SET_DATA), RANK));
}

/* Of one file a rank: the digest of all digests, and each of them for the ledger to know again. */
clo_status clo_i_job_share_digest(clo_job *job, clo_error *err)
{
    const size_t ranks = (size_t)clo_i_job_ranks(job);
    int64_t *slots = NULL, *own = NULL;
    if (ranks == 1 || !job->metered || job->table || !clo_i_job_has_own_rows(job)) return CLO_OK;
    const clo_status room = open_slots(job, DIGEST_WORDS, &slots, &own, err);
    CLO_TRY(clo_i_job_agree(job, room, err));
    if (job->has_content) memcpy(own, job->content, sizeof job->content);
    const clo_status status = clo_i_job_sum(job, slots, ranks * DIGEST_WORDS, err);
    if (!status && clo_i_job_leads(job)) {
        crypto_generichash(job->content, sizeof job->content, (const uint8_t *)slots,
                           ranks * CLO_DIGEST_BYTES, NULL, 0);
        job->parts = slots;
        return CLO_OK;
    }
    clo_i_wipe_free(slots, ranks * CLO_DIGEST_BYTES);
    return status;
}

clo_status clo_i_job_recognise_parts(clo_job *job, clo_error *err)
{
    const size_t ranks = (size_t)clo_i_job_ranks(job);
    const uint8_t *const digests = (const uint8_t *)job->parts;
    for (size_t r = 0; job->parts && r < ranks && !job->known_as[0]; r++)
        CLO_TRY(clo_ledger_known_as(job->ledger, job->dataset, digests + r * CLO_DIGEST_BYTES,
                                    job->known_as, sizeof job->known_as, err));
    return CLO_OK;
}

clo_status clo_i_job_check_spread(const clo_job *job, clo_error *err)
{
    const clo_run_options options = clo_i_job_run_options(job);
    if (job->is_part) return CLO_OK; /* clo_worker_new looks for itself */
    return clo_i_job_spreads(job) ? clo_run_check(job->plan, job->data, &options, err)
                                  : clo_plan_check_data(job->plan, job->data, err);
}

/* ---- the same plan --------------------------------------------------------- */

/* Of the version, the plan and the columns' names: what must be the same on all ranks. */
static void identify(const clo_job *job, uint8_t out[CLO_DIGEST_BYTES])
{
    const char *const version = clo_version();
    uint8_t plan[CLO_PLAN_DIGEST_BYTES];
    crypto_generichash_state state;
    clo_plan_digest(job->plan, plan);
    (void)crypto_generichash_init(&state, NULL, 0, CLO_DIGEST_BYTES);
    (void)crypto_generichash_update(&state, (const uint8_t *)version, strlen(version) + 1);
    (void)crypto_generichash_update(&state, plan, sizeof plan);
    for (size_t j = 0; j < job->name_count; j++)
        (void)crypto_generichash_update(&state, (const uint8_t *)job->names[j],
                                        strlen(job->names[j]) + 1);
    (void)crypto_generichash_final(&state, out, CLO_DIGEST_BYTES);
}

clo_status clo_i_job_compare_plans(const clo_job *job, clo_error *err)
{
    uint8_t own[CLO_DIGEST_BYTES], first[CLO_DIGEST_BYTES];
    if (clo_i_job_ranks(job) == 1) return CLO_OK;
    identify(job, own);
    memcpy(first, own, sizeof own);
    CLO_TRY(clo_i_job_broadcast(job, first, sizeof first, err));
    if (memcmp(first, own, sizeof own) == 0) return CLO_OK;
    return clo_i_fail(err, CLO_ARGUMENT,
                      "this rank and rank 0 have different plans or columns: give all ranks the "
                      "same settings, columns and version of cloister");
}
