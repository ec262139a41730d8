/*
 * run_on_workers.h - rows that workers hold: the driver's side as a comm, and the worker's.
 *
 * A task is bytes: what is asked and from where the rows are looked at, both public, and the key by
 * which rows are known again.  The numbers of its sum are those of the ask, and behind them the
 * hash of the rows (clo_i_hash_rows), so that rows which change between passes are noticed.  A task
 * without an ask is for the hash alone; one that asks in blocks has their seeds behind it.
 */
#ifndef CLO_RUN_ON_WORKERS_H
#define CLO_RUN_ON_WORKERS_H

#include "plan/mechanism.h"
#include <cloister/worker.h>

/* Before what a task holds: all of it in whole words. */
typedef struct clo_i_task_head {
    uint64_t form;        /* CLO_TASK_FORM */
    uint64_t place_bytes; /* from where the rows are looked at; 0: as they are */
    uint64_t ask_bytes;   /* 0: nothing is asked */
    uint64_t seed_bytes;  /* of the blocks; 0: it is a sum */
    uint8_t row_hash_key[CLO_ROW_HASH_KEY_BYTES];
} clo_i_task_head;
enum { CLO_TASK_FORM = 0x636c6f32 };

/* The driver of one run, as rank 0 of two: the other one is all workers together. */
typedef struct clo_i_driver {
    clo_comm comm;
    clo_elsewhere elsewhere; /* where blocks are solved */
    const clo_workers *workers;
    uint64_t rows; /* that there must be; 0: their number is not public */
    bool has_units;
    clo_persons persons; /* that were found in one part each (fold.T5) */
    uint8_t row_hash_key[CLO_ROW_HASH_KEY_BYTES];
    bool hashed;
    uint64_t row_hash[CLO_ROW_HASH_NUMBERS]; /* of the first pass */
    uint64_t kind, expected;                 /* of the message under way; 0: a header comes next */
    uint8_t *place, *ask;
    size_t place_bytes, ask_bytes;
    const char *trouble; /* what went wrong, in words; NULL: nothing */
} clo_i_driver;

/* persons: NULL without units. */
CLO_CHECK clo_status clo_i_driver_open(clo_i_driver *driver, const clo_workers *workers,
                                       const clo_domain *domain, const clo_persons *persons,
                                       const clo_rng *rng, clo_error *err);
void clo_i_driver_close(clo_i_driver *driver);

#endif
