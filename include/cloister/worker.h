/*
 * worker.h - rows that other processes hold, without ranks: for engines that map a function over
 * parts of the data and add up what it gives (processes, Dask, Spark).
 *
 * One process drives: it makes a job, or calls clo_run, with clo_run_options.workers.  For each ask
 * it hands out a task, some bytes: public, but for a key that is the workers' own.  Whoever holds a
 * part of the rows makes a worker of it and folds the task into a vector of integers.  The driver
 * gets the sum of all parts' vectors, modulo 2^64.  A fold is a pure function of the task and the
 * rows: it may be done twice, by two machines, in any order.
 *
 * Vectors are not noised.  What stores or carries them should see them under a pad (pad.T1).
 */
#ifndef CLOISTER_WORKER_H
#define CLOISTER_WORKER_H

#include <cloister/run.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A part of the rows, bounded, and the plan that it answers to: as sensitive as the rows. */
typedef struct clo_worker clo_worker;

/* For a plan like the driver's and for data bounded to its domain, but for the number of rows,
 * which a part does not declare.  Both are borrowed and must outlive the worker.  CLO_UNSUPPORTED
 * for a plan that cannot be spread over several processes.  For a worker out of settings see
 * clo_job_worker. */
CLO_API CLO_CHECK clo_status clo_worker_new(const clo_plan *plan, const clo_bounded *data,
                                            int threads, clo_worker **out, clo_error *err);
CLO_API void clo_worker_free(clo_worker *worker);

/* How many integers the sum for a task has; 0: the bytes are no task. */
CLO_API size_t clo_task_numbers(const void *task, size_t bytes);

/* Adds this part's integers to the totals, modulo 2^64; there are `count` of them, as
 * clo_task_numbers says.  task: 8-byte aligned.  CLO_FORMAT where it is no task of this worker's
 * plan; the totals are then as they were. */
CLO_API CLO_CHECK clo_status clo_worker_fold(clo_worker *worker, const void *task, size_t bytes,
                                             int64_t *totals, size_t count, clo_error *err);

/* ---- plans that ask in blocks (clo_workers.solve) ------------------------------------------ */

/* Blocks go in groups, as many as whoever deals likes: group g of G has the blocks g, g + G, …
 * The rows of one part that are in the blocks of one group are a packet: whole words, as sensitive
 * as the rows.  Frozen. */
typedef struct clo_packet {
    uint64_t *words;
    size_t count;
} clo_packet;

/* How many of the block numbers that clo_workers.solve is given are this part's: the first part has
 * the first ones.  As secret as the number of rows. */
CLO_API size_t clo_worker_slots(const clo_worker *worker);

/* Makes the packets of the groups first, first + 1, … first + count - 1 of so many: `out` has room
 * for `count`, each to be freed.  block_of: of this part, as many as clo_worker_slots says. */
CLO_API CLO_CHECK clo_status clo_worker_deal(clo_worker *worker, const void *task, size_t bytes,
                                             const uint32_t *block_of, size_t slots, size_t first,
                                             size_t count, size_t groups, clo_packet *out,
                                             clo_error *err);
/* Wipes the words and frees them. */
CLO_API void clo_packet_free(clo_packet *packet);

/* Solves the blocks of one group, of which `packets` has those of all parts in their order, and
 * adds to the totals, modulo 2^64.  The worker's own rows are not looked at: it may have none.
 * count, task: as with clo_worker_fold.  A pure function of the task and the packets, on processors
 * that compute the same. */
CLO_API CLO_CHECK clo_status clo_worker_solve(clo_worker *worker, const void *task, size_t bytes,
                                              size_t group, size_t groups,
                                              const clo_packet *packets, size_t packet_count,
                                              int64_t *totals, size_t count, clo_error *err);

/* ---- pads ---------------------------------------------------------------------------------- */

/* A pad of `count` integers that a key of CLO_PAD_BYTES makes, added to the values, and taken off
 * again, modulo 2^64 (pad.T1).  A key is for one vector: who adds it to two tells their
 * difference. */
enum { CLO_PAD_BYTES = 32 };
CLO_API void clo_pad_add(const uint8_t key[CLO_PAD_BYTES], int64_t *values, size_t count);
CLO_API void clo_pad_remove(const uint8_t key[CLO_PAD_BYTES], int64_t *values, size_t count);

#ifdef __cplusplus
}
#endif
#endif
