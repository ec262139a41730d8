/* ranks.c - the command as one of several ranks, which mpirun or srun has started.
 *
 * `cloister` itself knows no MPI.  Started several times by a launcher it must not run: each copy
 * would read all the data and charge the ledger for itself.  It hands over to `cloister-mpi`, the
 * same program with MPI, which lies beside it where it was built. */
#include "cli.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const clo_comm *ranks;

void cli_set_comm(const clo_comm *comm)
{
    ranks = comm;
}

const clo_comm *cli_comm(void)
{
    return ranks;
}

bool cli_leads(void)
{
    return !ranks || ranks->rank == 0;
}

static long number_in(const char *name)
{
    const char *const text = getenv(name);
    return text ? strtol(text, NULL, 10) : 0;
}

/* How many times a launcher has started this program: Open MPI's mpirun, one that speaks PMI
 * (MPICH's), or Slurm's srun with PMIx. */
static long launched(void)
{
    static const char *const sizes[] = { "OMPI_COMM_WORLD_SIZE", "PMI_SIZE" };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (number_in(sizes[i]) > 1) return number_in(sizes[i]);
    return getenv("PMIX_RANK") ? number_in("SLURM_STEP_NUM_TASKS") : 0;
}

clo_status cli_start_ranks(char **argv, cli_error *err)
{
    static const char TWIN[] = "cloister-mpi";
    char path[PATH_MAX];
    if (launched() < 2) return CLO_OK;
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - sizeof TWIN - 1);
    if (length > 0) {
        path[length] = 0;
        char *const slash = strrchr(path, '/');
        if (slash) {
            memcpy(slash + 1, TWIN, sizeof TWIN);
            execv(path, argv);
        }
    }
    return cli_fail(err, CLO_UNSUPPORTED,
                    "this was started on several ranks, and %s is not installed beside it: each "
                    "rank would charge the ledger for itself; nothing was read or spent",
                    TWIN);
}
