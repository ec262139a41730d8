/* process.c - what the command asks of its process before it reads anything. */
#include "cli.h"
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* A core would hold the data and the ledger's key.  A limit of one byte rather than none: where
 * cores go to a program, the kernel asks it whatever the limit, unless that is 1. */
void cli_keep_no_core(void)
{
    const struct rlimit none = { 1, 1 };
    if (setrlimit(RLIMIT_CORE, &none) != 0) {
        const struct rlimit less = { 0, 0 };
        (void)!setrlimit(RLIMIT_CORE, &less);
    }
}

/* What is not private is for its owner's eyes. */
void cli_write_for_owner(void)
{
    umask(077);
}

static const char KERNEL[] = "OPENBLAS_CORETYPE", THREADS[] = "OMP_NUM_THREADS";
static const char ONCE[] = "CLOISTER_STARTED_AGAIN"; /* whatever happens, never a third time */
enum { MOST_THREADS = 1024 };

/* An OpenMP runtime that is asked for more threads than the system has ends the process. */
static bool too_many_threads(void)
{
    const char *const threads = getenv(THREADS);
    return threads && strtol(threads, NULL, 10) > MOST_THREADS;
}

/* OpenBLAS looks at the processor when it is loaded, and one that is newer than the library gets
 * kernels for the oldest one of its line: a quarter of the speed.  Which kernels to take, and how
 * many threads, is said in the environment, before the program starts.  So the command, where it
 * finds itself on such a machine, says it and starts once more. */
void cli_fit_environment(char **argv)
{
    const char *const better = getenv(KERNEL) ? NULL : clo_blas_better_kernel();
    const bool many = too_many_threads();
    char cores[32];
    if ((!better && !many) || getenv(ONCE)) return;
    snprintf(cores, sizeof cores, "%ld", sysconf(_SC_NPROCESSORS_ONLN));
    if (many && setenv(THREADS, cores, 1)) return; /* it knows no better number either */
    if ((better && setenv(KERNEL, better, 1)) || setenv(ONCE, "1", 1)) return;
    execv("/proc/self/exe", argv); /* where that fails, the slow kernels do as well */
    if (better) unsetenv(KERNEL);
    unsetenv(ONCE);
}
