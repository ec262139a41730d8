/*
 * quiet_asking.h - one line of a plan, asked as often as a test likes and next to without noise.
 */
#ifndef CLO_TEST_QUIET_ASKING_H
#define CLO_TEST_QUIET_ASKING_H

#include "pipeline.h"
#include "parallel/parallel.h"
#include "ask/query.h"
#include "random/random.h"

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

/* ---- a random search ------------------------------------------------------------------------- */

static inline clo_stream *start_search(clo_rng **rng)
{
    clo_stream *stream = NULL;
    clo_error err;
    *rng = seeded("search");
    assert_ok(clo_i_stream_open(*rng, clo_i_rng_next_ask(*rng), 0, &stream, &err), err);
    return stream;
}

static inline void stop_search(clo_stream *stream, clo_rng *rng)
{
    clo_i_stream_close(stream);
    clo_rng_free(rng);
}

/* A vector of this length in a random direction. */
static inline void draw_vector(clo_stream *stream, double length, size_t cols, double *out)
{
    double square = 0;
    for (size_t j = 0; j < cols; j++) {
        out[j] = clo_i_random_normal(stream);
        square += out[j] * out[j];
    }
    for (size_t j = 0; j < cols; j++) out[j] *= length / sqrt(square);
}

static inline double distance_between(const double *one, const double *other, size_t count)
{
    double square = 0;
    for (size_t e = 0; e < count; e++) square += (one[e] - other[e]) * (one[e] - other[e]);
    return sqrt(square);
}

#endif
