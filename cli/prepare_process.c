/* prepare_process.c - what the command asks of its process before it reads anything. */
#include "cli.h"
#include <malloc.h>
#include <signal.h>
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

/* A write beyond a limit of a file's size (ulimit -f) fails like one on a full disk. */
void cli_outlive_limits(void)
{
    (void)signal(SIGXFSZ, SIG_IGN);
}

/* From here on memory that is given back is kept, and what is taken comes from one heap: what the
 * library tries before a charge is there after it, and the system is not asked again.  The stack
 * grows by being written to. */
void cli_keep_memory(void)
{
    volatile char stack[1 << 20];
    for (size_t i = 0; i < sizeof stack; i += 1024) stack[i] = 0;
    (void)mallopt(M_MMAP_MAX, 0);
    (void)mallopt(M_TRIM_THRESHOLD, -1);
    (void)mallopt(M_ARENA_MAX, 1);
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

/* A limit of the stack (ulimit -s) is one of each thread, too.  Raised where that is allowed, and
 * then it holds for a program that starts anew. */
static bool raise_stack(void)
{
    static const rlim_t least = (rlim_t)2 << 20, usual = (rlim_t)8 << 20;
    static const char none[] = "cloister: the limit of the stack (ulimit -s) must be 2048 KiB or "
                               "more: ask for more where the limit is set\n";
    struct rlimit stack;
    if (getrlimit(RLIMIT_STACK, &stack) != 0 || stack.rlim_cur >= least) return false;
    stack.rlim_cur = stack.rlim_max < usual ? stack.rlim_max : usual;
    if (stack.rlim_cur >= least && setrlimit(RLIMIT_STACK, &stack) == 0) return true;
    (void)!write(STDERR_FILENO, none, sizeof none - 1);
    _exit(clo_status_exit_code(CLO_MEMORY));
}

/* OpenBLAS looks at the processor when it is loaded, and one that is newer than the library gets
 * kernels for the oldest one of its line: a quarter of the speed.  Which kernels to take, and how
 * many threads, is said in the environment, before the program starts.  So the command, where it
 * finds itself on such a machine, says it and starts once more. */
void cli_fit_environment(char **argv)
{
    const char *const better = getenv(KERNEL) ? NULL : clo_blas_better_kernel();
    const bool many = too_many_threads(), shallow = raise_stack();
    char cores[32];
    if ((!better && !many && !shallow) || getenv(ONCE)) return;
    snprintf(cores, sizeof cores, "%ld", sysconf(_SC_NPROCESSORS_ONLN));
    if (many && setenv(THREADS, cores, 1)) return; /* it knows no better number either */
    if ((better && setenv(KERNEL, better, 1)) || setenv(ONCE, "1", 1)) return;
    execv("/proc/self/exe", argv); /* where that fails, the slow kernels do as well */
    if (better) unsetenv(KERNEL);
    unsetenv(ONCE);
}
