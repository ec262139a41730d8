/*
 * test_threads.c - what a run's linear algebra needs is there before the charge: with no address
 * space left, threads and OpenBLAS go on; with too little beforehand there are fewer threads, or a
 * refusal, and never a search without end.  Each case is a process, which an alarm ends.
 */
#include "check.h"
#include "parallel/parallel.h"
#include <cblas.h>
#include <omp.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECONDS = 20, THREADS = 4, WIDE = 64, WELL = 0 };

static size_t address_space(void)
{
    unsigned long pages = 0;
    FILE *const file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%lu", &pages), 1);
    fclose(file);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

static void allow(size_t more)
{
    const size_t all = address_space() + more;
    const struct rlimit limit = { all, all };
    assert_int_equal(setrlimit(RLIMIT_AS, &limit), 0);
}

static int in_a_process(int (*work)(void))
{
    int status = 0;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(SECONDS);
        _exit(work());
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 200 + WTERMSIG(status);
}

/* Every thread calls at once, each for itself; and then all of them together. */
static int calls(int threads)
{
    static double a[THREADS][WIDE * WIDE], c[THREADS][WIDE * WIDE], large[512 * 512],
        sums[512 * 512];
    _Atomic int made = 0;
    omp_set_num_threads(threads);
#pragma omp parallel
    {
        const int me = omp_get_thread_num();
        for (int i = 0; i < WIDE * WIDE; i++) a[me][i] = i % 7;
#pragma omp barrier
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, WIDE, WIDE, WIDE, 1.0, a[me], WIDE,
                    a[me], WIDE, 0.0, c[me], WIDE);
        atomic_fetch_add(&made, 1);
    }
    cblas_dsyrk(CblasRowMajor, CblasUpper, CblasTrans, 512, 512, 1.0, large, 512, 0.0, sums, 512);
    return made == threads ? WELL : 1;
}

static int calls_without_room(void)
{
    int threads = THREADS;
    if (clo_i_threads_prepare(&threads, NULL) != CLO_OK || threads != THREADS) return 2;
    allow((size_t)16 << 20); /* for small things, and less than a buffer */
    return calls(threads);
}

static void what_was_prepared_needs_no_more_address_space(void **state)
{
    assert_int_equal(in_a_process(calls_without_room), WELL);
}

static int prepare_for_fewer(void)
{
    int threads = THREADS;
    allow((size_t)600 << 20);
    if (clo_i_threads_prepare(&threads, NULL) != CLO_OK) return 2;
    if (threads >= THREADS || threads < 1) return 3;
    return calls(threads);
}

static void little_room_makes_fewer_threads(void **state)
{
    assert_int_equal(in_a_process(prepare_for_fewer), WELL);
}

static int prepare_for_none(void)
{
    clo_error err = { 0 };
    int threads = THREADS;
    allow((size_t)100 << 20);
    if (clo_i_threads_prepare(&threads, &err) != CLO_MEMORY) return 2;
    return strstr(err.message, "address space") && threads == THREADS ? WELL : 3;
}

static void no_room_is_refused(void **state)
{
    assert_int_equal(in_a_process(prepare_for_none), WELL);
}

static int look_for_spare_memory(void)
{
    if (clo_i_check_spare_memory(NULL) != CLO_OK) return 2;
    allow((size_t)32 << 20);
    return clo_i_check_spare_memory(NULL) == CLO_MEMORY ? WELL : 3;
}

static void spare_memory_is_looked_for(void **state)
{
    assert_int_equal(in_a_process(look_for_spare_memory), WELL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_prepared_needs_no_more_address_space),
        cmocka_unit_test(little_room_makes_fewer_threads),
        cmocka_unit_test(no_room_is_refused),
        cmocka_unit_test(spare_memory_is_looked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
