/*
 * parallel.h - threads and ranks.
 */
#ifndef CLO_PARALLEL_H
#define CLO_PARALLEL_H

#include "base/base.h"
#include <cloister/run.h>

/* How many threads a run with this option uses: itself, or what OpenMP says for 0. */
int clo_i_threads(int asked);

/* The one-process form of the contract. */
const clo_comm *clo_i_comm_self(void);
/* Adds the ranks' values, or fails with a message. */
CLO_CHECK clo_status clo_i_comm_sum(const clo_comm *comm, int64_t *values, size_t count,
                                    clo_error *err);
CLO_CHECK clo_status clo_i_comm_broadcast(const clo_comm *comm, void *bytes, size_t count,
                                          clo_error *err);

#endif
