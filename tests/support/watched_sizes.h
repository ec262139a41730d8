/* watched_sizes.h - the sizes of all that is asked of the system for a while, on all threads. */
#ifndef CLO_TEST_WATCHED_SIZES_H
#define CLO_TEST_WATCHED_SIZES_H

#include "check.h"
#include "base/base.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { MOST_SIZES = 1 << 16 };

typedef struct sizes {
    size_t bytes[MOST_SIZES];
    size_t count;
} sizes;

static sizes *watched;
static const _Atomic bool *watched_from; /* nothing before it is true; NULL: from the beginning */
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

static inline void note_size(size_t bytes)
{
    if (watched_from && !*watched_from) return;
    pthread_mutex_lock(&one_at_a_time);
    if (watched->count < MOST_SIZES) watched->bytes[watched->count] = bytes;
    watched->count++;
    pthread_mutex_unlock(&one_at_a_time);
}

static inline int compare_sizes(const void *a, const void *b)
{
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

static inline void watch_into(sizes *out, const _Atomic bool *from)
{
    out->count = 0;
    watched = out;
    watched_from = from;
    clo_i_watch_allocations(note_size);
}

static inline void stop_watching(void)
{
    clo_i_watch_allocations(NULL);
    assert_true(watched->count <= MOST_SIZES);
    qsort(watched->bytes, watched->count, sizeof *watched->bytes, compare_sizes);
}

/* The same ones, each as often. */
static inline bool same_sizes(const sizes *a, const sizes *b)
{
    return a->count == b->count && memcmp(a->bytes, b->bytes, a->count * sizeof *a->bytes) == 0;
}

#endif
