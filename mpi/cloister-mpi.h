/*
 * cloister-mpi.h - the ranks of an MPI program as a clo_comm, for clo_run_options.comm.
 *
 * A library of its own, libcloister-mpi, so that libcloister needs no MPI.
 *
 *   clo_mpi *ranks = NULL;
 *   if (!clo_mpi_new(MPI_COMM_WORLD, NULL, NULL, &ranks, &err)) {
 *       options.comm = clo_mpi_comm(ranks);
 *       ... clo_job_set_run_options, clo_job_release: on every rank
 *   }
 *   clo_mpi_leave(ranks, status, NULL);
 *   clo_mpi_free(ranks);
 */
#ifndef CLOISTER_MPI_H
#define CLOISTER_MPI_H

#include <cloister/run.h>
#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A communicator of our own, and whether it can still be used. */
typedef struct clo_mpi clo_mpi;

/* Duplicates the communicator, so that nobody else's messages are mistaken for ours; errors of the
 * copy are returned.  All of its ranks call this; MPI must be initialised, for the thread that
 * calls.  stopped: asked again and again while this rank waits for the others; true ends the wait
 * with CLO_CANCELLED.  NULL: nobody is asked.  CLO_IO where MPI fails. */
CLO_API CLO_CHECK clo_status clo_mpi_new(MPI_Comm from, bool (*stopped)(void *user), void *user,
                                         clo_mpi **out, clo_error *err);
/* For clo_run_options.  The ranks' own: it lives as long as they. */
CLO_API const clo_comm *clo_mpi_comm(const clo_mpi *ranks);
/* Says to the others that this rank is done, with this status; they must not be kept waiting, so
 * every rank calls it once, whatever happened.  True where all ranks have left in order, so that
 * MPI_Finalize will return; false where one is gone or this one was stopped: call MPI_Abort.
 * *alone: this rank has failed in its own way, and nobody else says so.  alone may be NULL. */
CLO_API bool clo_mpi_leave(clo_mpi *ranks, clo_status status, bool *alone);
/* Frees the handle, and the communicator where all have left in order.  NULL is fine. */
CLO_API void clo_mpi_free(clo_mpi *ranks);

#ifdef __cplusplus
}
#endif
#endif
