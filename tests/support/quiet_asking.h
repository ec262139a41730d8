/*
 * quiet_asking.h - one line of a plan, asked as often as a test likes and next to without noise.
 */
#ifndef CLO_TEST_QUIET_ASKING_H
#define CLO_TEST_QUIET_ASKING_H

#include "pipeline.h"
#include "parallel/parallel.h"
#include "query/query.h"

typedef struct asking {
    clo_line line;
    clo_meter meter;
    clo_context context;
} asking;

static inline void start(asking *a, clo_line line)
{
    clo_error err;
    *a = (asking){ .line = line, .meter = { .count = 1 } };
    a->line.event.count = UINT64_MAX;
    a->line.scale = 1; /* next to no noise */
    a->meter.lines = &a->line;
    a->context = (clo_context){ .rng = seeded("quiet"),
                                .comm = clo_i_comm_self(),
                                .threads = 1,
                                .block_rows = 8,
                                .progress_to = 1,
                                .meter = &a->meter };
    assert_ok(clo_workspace_new(1 << 16, &a->context.workspace, &err), err);
}

static inline void stop(asking *a)
{
    clo_workspace_free(a->context.workspace);
    clo_rng_free(a->context.rng);
}

#endif
