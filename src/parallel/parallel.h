/*
 * parallel.h - threads and ranks.
 */
#ifndef CLO_PARALLEL_H
#define CLO_PARALLEL_H

#include "base/base.h"
#include <cloister/run.h>

/* How many threads a run with this option uses: itself, or what OpenMP says for 0. */
int clo_i_threads(int asked);
/* From now on the calling thread's parallel regions, and BLAS within it, have so many threads.
 * Returns how many they had, for whoever puts it back. */
int clo_i_threads_set(int threads);
/* So many threads, or as many as the system starts now: it may refuse some by a limit (ulimit -u,
 * pids.max), at which the OpenMP runtime would end the process. */
int clo_i_threads_startable(int wanted);
/* Starts so many threads, and takes the buffers that linear algebra on them can need; fewer where a
 * limit of address space has no room for them.  CLO_MEMORY: none for one.  Afterwards calls on at
 * most so many ask the system for nothing. */
CLO_CHECK clo_status clo_i_threads_prepare(int *threads, clo_error *err);
/* The same for what spends nothing, on as many threads as there are: where there is room for fewer,
 * the calling thread has fewer from now on. */
CLO_CHECK clo_status clo_i_threads_fit(clo_error *err);

/* The one-process form of the contract. */
const clo_comm *clo_i_comm_self(void);
/* Adds the ranks' values, or fails with a message. */
CLO_CHECK clo_status clo_i_comm_sum(const clo_comm *comm, int64_t *values, size_t count,
                                    clo_error *err);
CLO_CHECK clo_status clo_i_comm_broadcast(const clo_comm *comm, void *bytes, size_t count,
                                          clo_error *err);

/* Rank 0 says to all others what to do next; they wait for it.  A message is a kind and bytes. */
typedef enum clo_message {
    CLO_MESSAGE_END = 1, /* the run is over; the bytes are its status */
    CLO_MESSAGE_ASK,     /* fold your rows for this ask */
    CLO_MESSAGE_LOOK     /* look at your rows from another place from now on */
} clo_message;
CLO_CHECK clo_status clo_i_comm_send(const clo_comm *comm, clo_message message, const void *bytes,
                                     size_t count, clo_error *err);
/* bytes: to be freed with clo_i_free. */
CLO_CHECK clo_status clo_i_comm_receive(const clo_comm *comm, clo_message *message, uint8_t **bytes,
                                        size_t *count, clo_error *err);

#endif
