/*
 * meeting.h - ranks as threads of one process, with a barrier between them: a clo_comm for tests.
 */
#ifndef MEETING_H
#define MEETING_H

#include <cloister/run.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_RANKS = 4 };

typedef struct meeting {
    pthread_barrier_t barrier;
    int64_t *values[MOST_RANKS];
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

static inline clo_status meet_and_sum(void *user, int64_t *values, size_t count)
{
    const seat *const self = user;
    meeting *const m = self->meeting;
    int64_t *const sum = malloc(count * sizeof *sum);
    if (!sum) return CLO_MEMORY;
    m->values[self->comm.rank] = values;
    pthread_barrier_wait(&m->barrier);
    for (size_t i = 0; i < count; i++) {
        uint64_t total = 0;
        for (int r = 0; r < m->size; r++) total += (uint64_t)m->values[r][i];
        sum[i] = (int64_t)total;
    }
    pthread_barrier_wait(&m->barrier);
    memcpy(values, sum, count * sizeof *sum);
    free(sum);
    return CLO_OK;
}

static inline clo_status meet_and_share(void *user, void *bytes, size_t count)
{
    const seat *const self = user;
    meeting *const m = self->meeting;
    if (self->comm.rank == 0) m->bytes = bytes;
    if (self->comm.rank == 0 && m->overhear) m->overhear(bytes, count);
    pthread_barrier_wait(&m->barrier);
    if (self->comm.rank != 0) memcpy(bytes, m->bytes, count);
    pthread_barrier_wait(&m->barrier);
    return CLO_OK;
}

static inline void take_seat(seat *self, meeting *m, int number)
{
    self->meeting = m;
    self->comm = (clo_comm){ number, m->size, meet_and_sum, meet_and_share, self };
}

#endif
