/*
 * threads.c - how many threads a run uses. A choice that changes the speed and nothing else, so
 * that an unreasonable one is quietly made reasonable.
 *
 * OpenBLAS maps a large buffer the first time that one more thread calls it, and where the system
 * refuses, it tries again without end; the OpenMP runtime that is refused a thread ends the
 * process.  Both keep what they have.  So a run has them take all that it can need before the
 * charge, and only after it has seen that there is room.
 */
#include "parallel/parallel.h"
#include <cblas.h>
#include <omp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* OpenBLAS's own, beneath its public names.  Without them nothing is taken beforehand. */
extern void *blas_memory_alloc(int kind) __attribute__((weak));
extern void blas_memory_free(void *buffer) __attribute__((weak));

enum { MOST_BUFFERS = 256 };                    /* of more threads it is not asked for them */
static const size_t BUFFER = (size_t)128 << 20; /* what it maps, or more than that */
static const size_t STACK = (size_t)16 << 20;   /* of a thread, and what its libraries keep */

/* Far above any machine where more would help; without a limit the OpenMP runtime itself ends the
 * process when the system refuses it a thread. */
enum { MOST_THREADS = 1024 };

int clo_i_threads(int asked)
{
    int threads = asked > 0 ? asked : omp_get_max_threads();
    if (threads > omp_get_thread_limit()) threads = omp_get_thread_limit();
    if (threads > MOST_THREADS) threads = MOST_THREADS;
    /* A BLAS with threads of its own, or with none and no locks, is not safe inside of ours. */
    if (openblas_get_parallel() != OPENBLAS_OPENMP) return 1;
    return threads < 1 ? 1 : threads;
}

int clo_i_threads_set(int threads)
{
    const int before = omp_get_max_threads();
    omp_set_num_threads(threads);
    return before;
}

static void *wait_at(void *gate)
{
    pthread_mutex_lock(gate);
    pthread_mutex_unlock(gate);
    return NULL;
}

int clo_i_threads_startable(int wanted)
{
    pthread_t ids[MOST_THREADS];
    pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    int count = 0;
    pthread_mutex_lock(&gate);
    while (count + 1 < wanted && count < MOST_THREADS &&
           pthread_create(&ids[count], NULL, wait_at, &gate) == 0)
        count++;
    pthread_mutex_unlock(&gate);
    for (int i = 0; i < count; i++) pthread_join(ids[i], NULL);
    return 1 + count;
}

static bool has_room(size_t bytes)
{
    void *const room = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED) return false;
    munmap(room, bytes);
    return true;
}

/* Its table has two places for each thread that it was built for; if it is full, OpenBLAS writes a
 * warning to standard error.  A few are left free for what the process has in use. */
static int most_buffers(void)
{
    static const char key[] = "MAX_THREADS=";
    const char *const found = strstr(openblas_get_config(), key);
    const long built_for = found ? strtol(found + sizeof key - 1, NULL, 10) : 0;
    return built_for > 4 && built_for < MOST_BUFFERS / 2 ? (int)(2 * built_for) - 8 : MOST_BUFFERS;
}

/* One for each thread that calls OpenBLAS, and one for each that it has not had as yet. */
static int buffers_for(int threads)
{
    const int had = openblas_get_num_threads(), most = most_buffers();
    const int count = threads + (threads > had ? threads - had : 0);
    return count < most ? count : most;
}

/* All at once, so that none is the same. */
static void take_buffers(int count)
{
    void *taken[MOST_BUFFERS];
    if (!blas_memory_alloc || !blas_memory_free) return;
    for (int i = 0; i < count; i++) taken[i] = blas_memory_alloc(0);
    for (int i = 0; i < count; i++) blas_memory_free(taken[i]);
}

/* What a thread will need of its stack is there, or the process ends here. */
static void touch_stack(void)
{
    volatile char stack[256 << 10];
    for (size_t i = 0; i < sizeof stack; i += 1024) stack[i] = 0;
}

clo_status clo_i_threads_prepare(int *threads, clo_error *err)
{
    _Atomic int started = 0;
    int count = *threads;
    while (!has_room((size_t)buffers_for(count) * BUFFER + (size_t)(count - 1) * STACK)) {
        if (count == 1)
            return clo_i_fail(
                err, CLO_MEMORY,
                "the limit of address space (ulimit -v) is too low: a run needs 400 MB, and "
                "memory for its data; nothing was spent");
        count /= 2;
    }
    count = clo_i_threads_startable(count);
#pragma omp parallel num_threads(count)
    {
        touch_stack();
        atomic_fetch_add(&started, 1);
    }
    take_buffers(buffers_for(count));
    *threads = count;
    return CLO_OK;
}

clo_status clo_i_threads_fit(clo_error *err)
{
    const int most = clo_i_threads(0);
    int threads = most;
    CLO_TRY(clo_i_threads_prepare(&threads, err));
    if (threads < most) (void)clo_i_threads_set(threads);
    return CLO_OK;
}
