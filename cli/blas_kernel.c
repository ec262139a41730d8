/* blas_kernel.c - OpenBLAS looks at the processor when it is loaded, and one that is newer than the
 * library gets kernels for the oldest one of its line: a quarter of the speed.  Which kernels to take
 * can be said in the environment, but only before the program starts.  So the command, where it
 * finds itself on such a machine, says it and starts once more. */
#include "cli.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char VARIABLE[] = "OPENBLAS_CORETYPE";
static const char ONCE[] = "CLOISTER_STARTED_AGAIN"; /* whatever happens, never a third time */

void cli_fit_blas_kernel(char **argv)
{
    const char *const better = clo_blas_better_kernel();
    if (!better || getenv(VARIABLE) || getenv(ONCE)) return;
    if (setenv(VARIABLE, better, 1) || setenv(ONCE, "1", 1)) return;
    execv("/proc/self/exe", argv); /* where that fails, the slow kernels do as well */
    unsetenv(VARIABLE);
    unsetenv(ONCE);
}
