/*
 * test_comm.c - threads and ranks. The ranks are two threads with a barrier between them, the
 * smallest thing that keeps the contract of clo_comm.
 */
#include "check.h"
#include "parallel/parallel.h"
#include <omp.h>
#include <pthread.h>

/* ---- two ranks in one process -------------------------------------------- */

enum { RANKS = 2, MOST = 8 };

typedef struct meeting {
    pthread_barrier_t barrier;
    int64_t values[RANKS][MOST];
    unsigned char bytes[MOST * sizeof(int64_t)];
} meeting;

typedef struct rank {
    meeting *meeting;
    clo_comm comm;
    int64_t values[3];
    double released;
    clo_status status[2];
} rank;

static clo_status meet_and_sum(void *user, int64_t *values, size_t count)
{
    rank *self = user;
    meeting *m = self->meeting;
    memcpy(m->values[self->comm.rank], values, count * sizeof *values);
    pthread_barrier_wait(&m->barrier);
    for (size_t i = 0; i < count; i++) values[i] = m->values[0][i] + m->values[1][i];
    pthread_barrier_wait(&m->barrier);
    return CLO_OK;
}

static clo_status meet_and_share(void *user, void *bytes, size_t count)
{
    rank *self = user;
    meeting *m = self->meeting;
    if (self->comm.rank == 0) memcpy(m->bytes, bytes, count);
    pthread_barrier_wait(&m->barrier);
    memcpy(bytes, m->bytes, count);
    pthread_barrier_wait(&m->barrier);
    return CLO_OK;
}

/* What a query does: each rank brings its sums, rank 0 alone makes the released value. */
static void *be_a_rank(void *user)
{
    rank *self = user;
    self->status[0] = clo_i_comm_sum(&self->comm, self->values, 3, NULL);
    if (self->comm.rank == 0) self->released = 0.5 * (double)self->values[0];
    self->status[1] =
        clo_i_comm_broadcast(&self->comm, &self->released, sizeof self->released, NULL);
    return NULL;
}

static void two_ranks_add_their_sums_and_share_what_rank_0_released(void **state)
{
    meeting m;
    rank ranks[RANKS];
    pthread_t threads[RANKS];
    (void)state;
    memset(&m, 0, sizeof m);
    assert_int_equal(pthread_barrier_init(&m.barrier, NULL, RANKS), 0);
    for (int r = 0; r < RANKS; r++) {
        ranks[r] = (rank){ .meeting = &m,
                           .comm = { r, RANKS, meet_and_sum, meet_and_share, &ranks[r] },
                           .values = { 10 + r, -(INT64_C(1) << 60), r },
                           .released = -1 };
        assert_int_equal(pthread_create(&threads[r], NULL, be_a_rank, &ranks[r]), 0);
    }
    for (int r = 0; r < RANKS; r++) assert_int_equal(pthread_join(threads[r], NULL), 0);
    pthread_barrier_destroy(&m.barrier);
    for (int r = 0; r < RANKS; r++) {
        assert_int_equal(ranks[r].status[0], CLO_OK);
        assert_int_equal(ranks[r].status[1], CLO_OK);
        assert_true(ranks[r].values[0] == 21);
        assert_true(ranks[r].values[1] == -(INT64_C(1) << 61));
        assert_true(ranks[r].values[2] == 1);
        assert_true(ranks[r].released == 10.5);
    }
}

/* ---- one process --------------------------------------------------------- */

static void alone_nothing_changes(void **state)
{
    const clo_comm *comms[] = { clo_i_comm_self(), NULL };
    (void)state;
    assert_int_equal(comms[0]->rank, 0);
    assert_int_equal(comms[0]->size, 1);
    for (size_t i = 0; i < 2; i++) {
        int64_t values[] = { 3, INT64_MIN, INT64_MAX };
        const int64_t before[] = { 3, INT64_MIN, INT64_MAX };
        assert_int_equal(clo_i_comm_sum(comms[i], values, 3, NULL), CLO_OK);
        assert_int_equal(clo_i_comm_broadcast(comms[i], values, sizeof values, NULL), CLO_OK);
        assert_memory_equal(values, before, sizeof values);
    }
}

/* ---- failures ------------------------------------------------------------ */

static clo_status refuse_sum(void *user, int64_t *values, size_t count)
{
    (void)user, (void)values, (void)count;
    return CLO_IO;
}

static clo_status refuse_broadcast(void *user, void *bytes, size_t count)
{
    (void)user, (void)bytes, (void)count;
    return CLO_CANCELLED;
}

static void a_failure_between_ranks_keeps_its_status_and_gets_a_sentence(void **state)
{
    const clo_comm comm = { 1, 2, refuse_sum, refuse_broadcast, NULL };
    int64_t values[2] = { 0 };
    clo_error err;
    (void)state;
    assert_int_equal(clo_i_comm_sum(&comm, values, 2, &err), CLO_IO);
    assert_int_equal(err.status, CLO_IO);
    assert_string_equal(err.message, "this rank could not add its sums to the others'");
    assert_int_equal(clo_i_comm_broadcast(&comm, values, 16, &err), CLO_CANCELLED);
    assert_string_equal(err.message, "this rank could not share what the first one has");
    assert_int_equal(clo_i_comm_sum(&comm, values, 2, NULL), CLO_IO);
}

static void a_comm_that_cannot_be_is_refused_before_it_is_called(void **state)
{
    const clo_comm comms[] = { { 2, 2, refuse_sum, refuse_broadcast, NULL },
                               { -1, 2, refuse_sum, refuse_broadcast, NULL },
                               { 0, 0, refuse_sum, refuse_broadcast, NULL },
                               { 0, 2, NULL, refuse_broadcast, NULL },
                               { 0, 2, refuse_sum, NULL, NULL } };
    int64_t value = 0;
    (void)state;
    for (size_t i = 0; i < sizeof comms / sizeof *comms; i++) {
        assert_int_equal(clo_i_comm_sum(&comms[i], &value, 1, NULL), CLO_ARGUMENT);
        assert_int_equal(clo_i_comm_broadcast(&comms[i], &value, 8, NULL), CLO_ARGUMENT);
    }
}

/* ---- threads ------------------------------------------------------------- */

static void as_many_threads_as_asked_for_or_as_openmp_says(void **state)
{
    (void)state;
    omp_set_num_threads(3);
    assert_int_equal(clo_i_threads(0), 3);
    assert_int_equal(clo_i_threads(-5), 3);
    assert_int_equal(clo_i_threads(1), 1);
    assert_int_equal(clo_i_threads(7), 7);
    assert_in_range(clo_i_threads(INT32_MAX), 1, 1024);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_ranks_add_their_sums_and_share_what_rank_0_released),
        cmocka_unit_test(alone_nothing_changes),
        cmocka_unit_test(a_failure_between_ranks_keeps_its_status_and_gets_a_sentence),
        cmocka_unit_test(a_comm_that_cannot_be_is_refused_before_it_is_called),
        cmocka_unit_test(as_many_threads_as_asked_for_or_as_openmp_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
