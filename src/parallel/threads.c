/*
 * threads.c - how many threads a run uses. A choice that changes the speed and nothing else, so
 * that an unreasonable one is quietly made reasonable.
 */
#include "parallel/parallel.h"
#include <cblas.h>
#include <omp.h>

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
