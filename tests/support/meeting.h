/*
 * meeting.h - ranks as threads of one process, with a barrier between them: a clo_comm for tests.
 *
 * It is as strict as MPI's: ranks that are not about to do the same fail together, and nobody waits
 * for one that has left.
 */
#ifndef MEETING_H
#define MEETING_H

#include <cloister/run.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_RANKS = 4 };

typedef struct meeting {
    pthread_mutex_t lock;
    pthread_cond_t turned;
    int arrived, gone;
    unsigned turn;
    int64_t *values[MOST_RANKS];
    size_t counts[MOST_RANKS]; /* what each is about to do: how many numbers, and which call */
    bool sums[MOST_RANKS];
    void *bytes;
    int size;
    /* Told of all bytes that rank 0 shares; NULL: nobody is. */
    void (*overhear)(const void *bytes, size_t count);
} meeting;

/* What a rank's comm has as its user. */
typedef struct seat {
    meeting *meeting;
    clo_comm comm;
} seat;

static inline void open_meeting(meeting *m, int size)
{
    m->size = size;
    m->arrived = m->gone = 0;
    pthread_mutex_init(&m->lock, NULL);
    pthread_cond_init(&m->turned, NULL);
}

static inline void close_meeting(meeting *m)
{
    pthread_cond_destroy(&m->turned);
    pthread_mutex_destroy(&m->lock);
}

/* False where one has left and will not come. */
static inline bool wait_for_all(meeting *m)
{
    pthread_mutex_lock(&m->lock);
    const unsigned turn = m->turn;
    if (!m->gone && ++m->arrived == m->size) {
        m->arrived = 0;
        m->turn++;
        pthread_cond_broadcast(&m->turned);
    }
    while (turn == m->turn && !m->gone) pthread_cond_wait(&m->turned, &m->lock);
    const bool all = turn != m->turn;
    pthread_mutex_unlock(&m->lock);
    return all;
}

/* Says that this rank makes no further call; from then on nobody's call succeeds. */
static inline void leave_meeting(const seat *self)
{
    meeting *const m = self->meeting;
    pthread_mutex_lock(&m->lock);
    m->gone++;
    pthread_cond_broadcast(&m->turned);
    pthread_mutex_unlock(&m->lock);
}

static inline bool is_over(meeting *m)
{
    pthread_mutex_lock(&m->lock);
    const bool over = m->gone > 0;
    pthread_mutex_unlock(&m->lock);
    return over;
}

/* Whether all ranks are about to do the same; if not, they never do anything together again. */
static inline bool meet(const seat *self, bool sum, size_t count)
{
    meeting *const m = self->meeting;
    bool same = true;
    if (is_over(m)) return false;
    m->counts[self->comm.rank] = count;
    m->sums[self->comm.rank] = sum;
    if (!wait_for_all(m)) return false;
    for (int r = 0; r < m->size; r++) same = same && m->counts[r] == count && m->sums[r] == sum;
    if (!same) leave_meeting(self);
    return same;
}

static inline clo_status meet_and_sum(void *user, int64_t *values, size_t count)
{
    const seat *const self = user;
    meeting *const m = self->meeting;
    int64_t *const sum = malloc((count + 1) * sizeof *sum);
    if (!sum) return CLO_MEMORY;
    m->values[self->comm.rank] = values;
    const bool same = meet(self, true, count);
    for (size_t i = 0; i < count && same; i++) {
        uint64_t total = 0;
        for (int r = 0; r < m->size; r++) total += (uint64_t)m->values[r][i];
        sum[i] = (int64_t)total;
    }
    const bool done = same && wait_for_all(m);
    if (done) memcpy(values, sum, count * sizeof *sum);
    free(sum);
    return done ? CLO_OK : CLO_IO;
}

static inline clo_status meet_and_share(void *user, void *bytes, size_t count)
{
    const seat *const self = user;
    meeting *const m = self->meeting;
    if (self->comm.rank == 0) m->bytes = bytes;
    if (self->comm.rank == 0 && m->overhear) m->overhear(bytes, count);
    if (!meet(self, false, count)) return CLO_IO;
    if (self->comm.rank != 0) memcpy(bytes, m->bytes, count);
    return wait_for_all(m) ? CLO_OK : CLO_IO;
}

static inline void take_seat(seat *self, meeting *m, int number)
{
    self->meeting = m;
    self->comm = (clo_comm){ number, m->size, meet_and_sum, meet_and_share, self };
}

#endif
