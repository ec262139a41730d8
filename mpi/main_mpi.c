/*
 * main_mpi.c - the command on several ranks: the same program as `cloister`, started by mpirun or
 * srun.  Rank 0 speaks; the others answer for their rows, and say nothing unless one fails alone.
 */
#include "cli.h"
#include "cloister-mpi.h"
#include <stdlib.h>
#include <unistd.h>

enum { PATIENCE_SECONDS = 3 };

static bool stopped(void *user)
{
    (void)user;
    return cli_interrupted() != 0;
}

/* What others than rank 0 say goes to nobody. */
static void be_silent(const clo_comm *comm)
{
    if (comm->rank > 0 && !freopen("/dev/null", "w", stdout)) exit(clo_status_exit_code(CLO_IO));
}

static void speak(const cli_error *err, const clo_comm *comm, bool alone)
{
    if (comm->rank > 0 && !alone) return;
    if (comm->rank > 0) fprintf(stderr, "rank %d: ", comm->rank);
    cli_print_error(err);
}

/* The exit code of the run is that of rank 0, and of a rank that failed alone. */
static int end(clo_mpi *ranks, clo_status status, const cli_error *err)
{
    const clo_comm *const comm = clo_mpi_comm(ranks);
    const bool leads = comm->rank == 0;
    bool alone = false;
    fflush(stdout);
    const bool in_order = clo_mpi_leave(ranks, status, &alone);
    const int code = cli_exit_code(status, err);
    if (status != CLO_OK) speak(err, comm, alone || !in_order);
    fflush(stderr);
    if (!in_order) {
        /* A launcher that sees one more rank end kills the rest: rank 0 has something to say. */
        if (!leads) sleep(PATIENCE_SECONDS);
        (void)MPI_Abort(MPI_COMM_WORLD, code ? code : clo_status_exit_code(CLO_IO));
        _Exit(code ? code : clo_status_exit_code(CLO_IO));
    }
    clo_mpi_free(ranks);
    (void)MPI_Finalize();
    return leads || alone ? code : 0;
}

int main(int argc, char **argv)
{
    cli_error err = { .hint = "" };
    clo_mpi *ranks = NULL;
    int provided = 0;
    cli_keep_no_core();
    cli_outlive_limits();
    cli_fit_environment(argv);
    if (MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS)
        return clo_status_exit_code(CLO_IO);
    clo_status status = clo_mpi_new(MPI_COMM_WORLD, stopped, NULL, &ranks, &err.error);
    if (status != CLO_OK) {
        cli_print_error(&err);
        return clo_status_exit_code(status);
    }
    be_silent(clo_mpi_comm(ranks));
    cli_set_comm(clo_mpi_comm(ranks));
    status = cli_dispatch(argc, (const char **)argv, &err);
    return end(ranks, status, &err);
}
