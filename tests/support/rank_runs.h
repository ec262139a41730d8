/* rank_runs.h - one run on several ranks, which are threads (meeting.h). */
#ifndef CLO_TEST_RANK_RUNS_H
#define CLO_TEST_RANK_RUNS_H

#include "meeting.h"
#include "pipeline.h"

typedef struct rank {
    seat seat;
    const clo_plan *plan;
    clo_bounded *data;
    clo_run_options options; /* but for the comm */
    clo_release *release;
    clo_status status;
    clo_error err;
} rank;

static inline void *be_a_rank(void *user)
{
    rank *const self = user;
    clo_grant *grant = NULL;
    clo_rng *rng = NULL;
    uint8_t seed[32];
    /* Nobody asks for the randomness of another rank than the first. */
    clo_seed_from_text(self->seat.comm.rank == 0 ? "ranks" : "nobody asks for it", seed);
    self->options.comm = &self->seat.comm;
    self->status = clo_rng_new_seeded(seed, &rng, &self->err);
    if (!self->status) self->status = clo_grant_unmetered(self->plan, &grant, &self->err);
    if (!self->status)
        self->status =
            clo_run(self->plan, grant, self->data, rng, &self->options, &self->release, &self->err);
    leave_meeting(&self->seat);
    clo_grant_free(grant);
    clo_rng_free(rng);
    return NULL;
}

/* Rows are dealt out unevenly, and one rank may have none. */
static inline size_t rank_share(int r, int size, size_t left)
{
    return r == size - 1 ? left : r == 1 && size > 2 ? 0 : left / 3 + 1;
}

/* Each rank with its rows and options. */
static inline void seat_ranks(rank *ranks, int size, meeting *m, const clo_plan *const *plans,
                              const double *values, size_t rows, const clo_domain *domain,
                              const clo_run_options *options)
{
    size_t first = 0;
    open_meeting(m, size);
    for (int r = 0; r < size; r++) {
        const size_t share = rank_share(r, size, rows - first);
        ranks[r] = (rank){ .plan = plans[r],
                           .data = bounded_from(values + first * domain->cols, share, domain),
                           .options = *options };
        ranks[r].options.all_rows = rows;
        take_seat(&ranks[r].seat, m, r);
        first += share;
    }
}

static inline void run_seated(rank *ranks, int size, meeting *m)
{
    pthread_t tasks[MOST_RANKS];
    for (int r = 0; r < size; r++)
        assert_int_equal(pthread_create(&tasks[r], NULL, be_a_rank, &ranks[r]), 0);
    for (int r = 0; r < size; r++) assert_int_equal(pthread_join(tasks[r], NULL), 0);
    close_meeting(m);
    for (int r = 0; r < size; r++) clo_bounded_free(ranks[r].data);
}

static inline void run_ranks(rank *ranks, int size, const clo_plan *const *plans,
                             const double *values, size_t rows, const clo_domain *domain,
                             int threads)
{
    meeting m = { .size = 0 };
    clo_run_options options = clo_run_options_default();
    options.threads = threads;
    seat_ranks(ranks, size, &m, plans, values, rows, domain, &options);
    run_seated(ranks, size, &m);
}

/* The release of rank 0 is this text, and the others have none. */
static inline void assert_ranks_release(rank *ranks, int size, const char *expected)
{
    for (int r = 0; r < size; r++) assert_ok(ranks[r].status, ranks[r].err);
    for (int r = 1; r < size; r++) assert_null(ranks[r].release);
    const text actual = json_of(ranks[0].release);
    assert_string_equal(actual.bytes, expected);
    free(actual.bytes);
    clo_release_free(ranks[0].release);
}

#endif
