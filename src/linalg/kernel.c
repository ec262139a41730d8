/* kernel.c - which OpenBLAS this is: its threads, the kernels that it took, and whether this
 * processor has better ones. */
#include "linalg/linalg.h"
#include <cblas.h>
#include <cloister/run.h>
#include <string.h>

const char *clo_blas_better_kernel(void)
{
#if defined(__x86_64__)
    const char *const taken = openblas_get_corename();
    /* What an unknown processor gets; everything newer is known, and chosen well. */
    if (strcmp(taken, "Prescott") != 0 && strcmp(taken, "Core2") != 0 &&
        strcmp(taken, "Generic") != 0)
        return NULL;
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq"))
        return "SkylakeX";
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return "Haswell";
#endif
    return NULL;
}

const char *clo_blas_threading(void)
{
    switch (openblas_get_parallel()) {
    case OPENBLAS_OPENMP:
        return "openmp";
    case OPENBLAS_THREAD:
        return "pthreads";
    default:
        return "none";
    }
}
