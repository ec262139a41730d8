/*
 * job_persons.c - persons over several ranks: each with all of its rows on one of them.
 *
 * All ranks hash persons under one key, which rank 0 draws.  Of a file that all of them read each
 * keeps the persons that are its own by their hash, so that nobody is on two.  With a file a rank
 * the persons are compared, before anything is spent: ranks show each other their hashes, a range
 * of them at a time, so that memory is bounded; a person on two ranks ends the job (fold.T5).
 */
#include "job/job.h"
#include "base/key.h"
#include <cloister/persons.h>
#include <sodium.h>
#include <string.h>

enum { AT_ONCE = 1 << 18, MOST_RANGES = 1 << 16, WORDS = CLO_PERSON_BYTES / sizeof(int64_t) };

clo_status clo_i_job_share_unit_key(clo_job *job, clo_status ready, clo_error *err)
{
    if (clo_i_job_ranks(job) == 1) return ready;
    uint8_t key[CLO_UNIT_KEY_BYTES] = { 0 };
    bool drawn = false;
    /* Whoever is not ready takes part all the same: nobody is kept waiting. */
    if (clo_i_job_leads(job)) {
        drawn = clo_i_key_draw(CLO_KEY_PERSONS, key, sizeof key);
        if (drawn)
            clo_i_key_take(CLO_KEY_PERSONS, key, sizeof key);
        else
            memset(key, 0, sizeof key);
    }
    const clo_status shared = clo_i_job_broadcast(job, key, sizeof key, ready ? NULL : err);
    memcpy(job->unit_key, key, sizeof key);
    if (drawn) clo_i_key_know(job->unit_key, sizeof job->unit_key); /* to readers it is told */
    clo_i_wipe(key, sizeof key);
    if (ready) return ready;
    if (!shared && sodium_is_zero(job->unit_key, sizeof job->unit_key))
        return clo_i_fail(err, CLO_ENTROPY, "the operating system provides no secure randomness");
    return shared;
}

/* ---- their lists ----------------------------------------------------------- */

typedef struct lists {
    uint8_t *own; /* of this rank, in increasing order */
    size_t own_count;
    size_t ranks, rank;
    size_t ranges;
    int64_t *counts; /* ranges x ranks: how many each rank has in each */
    size_t most;     /* of all ranks in one range */
    int64_t *shown;  /* most x WORDS */
} lists;

static size_t range_of(const lists *l, size_t i)
{
    const uint8_t *const hash = l->own + i * CLO_PERSON_BYTES;
    return ((size_t)hash[0] << 8 | hash[1]) * l->ranges / MOST_RANGES;
}

static void lists_clear(lists *l)
{
    clo_persons_free(l->own, l->own_count);
    clo_i_wipe_free(l->counts, l->counts ? l->ranges * l->ranks * sizeof *l->counts : 0);
    clo_i_wipe_free(l->shown, l->shown ? l->most * CLO_PERSON_BYTES : 0);
}

/* How many persons all ranks have, and then how many in each range. */
static clo_status count_all(const clo_job *job, lists *l, clo_error *err)
{
    int64_t all = (int64_t)l->own_count;
    CLO_TRY(clo_i_job_sum(job, &all, 1, err));
    for (l->ranges = 1; l->ranges < MOST_RANGES && (uint64_t)all / l->ranges > AT_ONCE;)
        l->ranges *= 2;
    const clo_status room = clo_i_alloc(l->ranges * l->ranks, sizeof *l->counts, &l->counts, err);
    CLO_TRY(clo_i_job_agree(job, room, err));
    for (size_t i = 0; i < l->own_count; i++) l->counts[range_of(l, i) * l->ranks + l->rank]++;
    return clo_i_job_sum(job, l->counts, l->ranges * l->ranks, err);
}

static size_t in_range(const lists *l, size_t range, size_t before_rank)
{
    size_t count = 0;
    for (size_t r = 0; r < before_rank; r++) count += (size_t)l->counts[range * l->ranks + r];
    return count;
}

static clo_status take_room(const clo_job *job, lists *l, clo_error *err)
{
    for (size_t range = 0; range < l->ranges; range++)
        if (in_range(l, range, l->ranks) > l->most) l->most = in_range(l, range, l->ranks);
    const clo_status room = clo_i_alloc(l->most * WORDS, sizeof *l->shown, &l->shown, err);
    return clo_i_job_agree(job, room, err);
}

/* All ranks see the same hashes, and so come to the same end. */
static clo_status compare_range(clo_job *job, lists *l, size_t range, size_t first, clo_error *err)
{
    const size_t count = in_range(l, range, l->ranks), before = in_range(l, range, l->rank);
    const size_t here = in_range(l, range, l->rank + 1) - before;
    clo_persons found;
    memset(l->shown, 0, count * CLO_PERSON_BYTES);
    if (here)
        memcpy(l->shown + before * WORDS, l->own + first * CLO_PERSON_BYTES,
               here * CLO_PERSON_BYTES);
    CLO_TRY(clo_i_job_sum(job, l->shown, count * WORDS, err));
    CLO_TRY(clo_persons_compare((uint8_t *)l->shown, count, &found, err));
    job->persons.count += found.count;
    job->persons.sum += found.sum;
    return CLO_OK;
}

static clo_status compare(clo_job *job, lists *l, clo_error *err)
{
    size_t first = 0;
    CLO_TRY(count_all(job, l, err));
    CLO_TRY(take_room(job, l, err));
    for (size_t range = 0; range < l->ranges; range++) {
        CLO_TRY(compare_range(job, l, range, first, err));
        first += (size_t)l->counts[range * l->ranks + l->rank];
    }
    return CLO_OK;
}

/* Tables of the caller's own have keys of their own, under which nobody is ever the same. */
static clo_status list_own(const clo_job *job, const clo_table *read, lists *l, clo_error *err)
{
    const clo_table *const table = read ? read : job->table;
    if (!clo_table_has_unit(table)) return CLO_OK;
    if (!read)
        return clo_i_fail(err, CLO_UNSUPPORTED,
                          "persons of several ranks are compared where they are read from files: "
                          "tables in memory cannot be");
    return clo_table_persons(read, &l->own, &l->own_count, err);
}

clo_status clo_i_job_compare_persons(clo_job *job, const clo_table *read, clo_error *err)
{
    lists l = { .own = NULL };
    if (clo_i_job_ranks(job) == 1 || !clo_i_job_has_own_rows(job)) return CLO_OK;
    l.ranks = (size_t)clo_i_job_ranks(job);
    l.rank = (size_t)job->options.comm->rank;
    job->persons = (clo_persons){ 0, 0 };
    clo_status status = clo_i_job_agree(job, list_own(job, read, &l, err), err);
    if (!status) status = compare(job, &l, err);
    lists_clear(&l);
    return status;
}
