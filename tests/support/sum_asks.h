/*
 * sum_asks.h - one ask, and through a lens another, of every query that adds up: for the test and
 * the fuzz target of asks as bytes.  They are added in tests/query/NAME.h.
 */
#ifndef CLO_TEST_SUM_ASKS_H
#define CLO_TEST_SUM_ASKS_H

#include "pipeline.h"
#include "parallel/parallel.h"
#include "ask/fold.h"
#include "query/partition_internal.h"
#include "ask/assign.h"
#include "ask/lens.h"
#include <math.h>

enum { ASK_ROWS = 40, ASK_COLS = 4, ASK_SEEN = 2, ASK_SKETCH = 4, MOST_ASKS = 32 };

typedef struct sum_asks {
    clo_domain domain, through; /* through a lens of ASK_SEEN columns */
    clo_bounded *data;
    clo_rng *rng;
    clo_workspace *workspace;
    clo_meter meter;
    clo_context context;
    clo_lens frame, sketch;
    clo_line lines[MOST_ASKS];
    clo_ask asks[MOST_ASKS];
    size_t count;
    clo_assign one, centers, seen, lone, seen_lone, flats[2], pair[2], axes, seen_axes;
    uint64_t width, views[4], narrow[4], column[7], norms[4], sets[4];
    uint64_t cubes[1 + 2 * ASK_COLS], seen_cubes[1 + 2 * ASK_SEEN];
} sum_asks;

static inline void add_ask(sum_asks *a, const clo_line *line, clo_glass glass,
                           const clo_assign *rules, size_t rule_count, const uint64_t *words,
                           size_t word_count)
{
    assert_true(a->count < MOST_ASKS);
    a->lines[a->count] = *line;
    a->lines[a->count].lens = glass;
    a->lines[a->count].event.count = UINT32_MAX; /* asked as often as a test likes */
    a->asks[a->count] = (clo_ask){ .line = &a->lines[a->count],
                                   .lens = glass == CLO_LENS     ? &a->frame
                                           : glass == CLO_SKETCH ? &a->sketch
                                                                 : NULL,
                                   .rules = rules,
                                   .rule_count = rule_count,
                                   .words = words,
                                   .word_count = word_count };
    a->count++;
}

static inline void make_rules(sum_asks *a)
{
    static const double points[] = { .2, .1, 0, -.3, -.4, .2, .1, .1 };
    static const double bases[] = { 1, 0, 0, 0, 0, 1, 0, 0 };
    static const double frame[ASK_COLS * ASK_SEEN] = { 1, 0, 0, 1, 0, 0, 0, 0 };
    clo_error err;
    assert_ok(clo_i_lens_make(a->workspace, frame, ASK_COLS, ASK_SEEN, 0, &a->frame, &err), err);
    assert_ok(clo_i_sketch_make(&a->context, ASK_COLS, ASK_SKETCH, &a->sketch, &err), err);
    a->one = (clo_assign){ .kind = CLO_ASSIGN_ONE, .clusters = 1 };
    assert_ok(clo_i_assign_centers(a->workspace, points, 2, ASK_COLS, 20, &a->centers, &err), err);
    assert_ok(clo_i_assign_centers(a->workspace, points, 2, ASK_SEEN, 20, &a->seen, &err), err);
    assert_ok(clo_i_assign_subspaces(a->workspace, bases, 2, ASK_COLS, 1, 15, &a->flats[0], &err),
              err);
    assert_ok(
        clo_i_assign_flats(a->workspace, bases, points, 2, ASK_COLS, 1, 15, &a->flats[1], &err),
        err);
    assert_ok(clo_i_assign_subspaces(a->workspace, bases, 2, ASK_COLS, 1, 20, &a->axes, &err), err);
    assert_ok(clo_i_assign_subspaces(a->workspace, bases, 2, ASK_SEEN, 1, 20, &a->seen_axes, &err),
              err);
    assert_ok(clo_i_assign_centers(a->workspace, points, 1, ASK_COLS, 20, &a->lone, &err), err);
    assert_ok(clo_i_assign_centers(a->workspace, points, 1, ASK_SEEN, 20, &a->seen_lone, &err),
              err);
    a->pair[0] = a->pair[1] = a->centers;
    memcpy(&a->width, &(double){ .25 }, sizeof a->width);
    for (size_t i = 0; i < 4; i++) {
        a->norms[i] = i ? (uint64_t)1 << (50 + 2 * i) : UINT64_MAX;
        a->sets[i] = i % 2;
        a->views[i] = (uint64_t)1 << (18 + i);
        a->narrow[i] = (uint64_t)1 << (16 + i);
    }
    /* Of level 2, whose edges are twice the radius: two neighbours along the first axis. */
    a->cubes[0] = a->seen_cubes[0] = 2;
    for (size_t i = 0; i < 2 * ASK_COLS; i++)
        a->cubes[i + 1] = i == ASK_COLS ? 0 : (uint64_t)(int64_t) - (2 << CLO_PARTITION_BITS);
    for (size_t i = 0; i < 2 * ASK_SEEN; i++)
        a->seen_cubes[i + 1] = i == ASK_SEEN ? 0 : (uint64_t)(int64_t) - (2 << CLO_PARTITION_BITS);
    a->column[0] = 1;
    for (size_t i = 0; i < 6; i++)
        a->column[i + 1] = (uint64_t)(((int64_t)(i / 2) - 1) * (1 << 28) - (i % 2 == 0));
}

/* Adds an ask of the line that the plan makes: what follows is as for add_ask. */
#define ADD(plan, ...)                                                                             \
    do {                                                                                           \
        clo_line line;                                                                             \
        clo_error err;                                                                             \
        assert_ok(plan, err);                                                                      \
        add_ask(a, &line, __VA_ARGS__);                                                            \
    } while (0)
#define QUERY_SUMS
#include "every_query.h"
#undef QUERY_SUMS
#undef ADD

static inline void make_asks(sum_asks *a)
{
#define QUERY(name) add_##name(a);
#include "query/table.def"
#undef QUERY
}

static inline void sum_asks_open(sum_asks *a)
{
    double values[ASK_ROWS * ASK_COLS];
    clo_error err;
    memset(a, 0, sizeof *a);
    for (size_t i = 0; i < ASK_ROWS * ASK_COLS; i++) values[i] = .5 * sin((double)i * .7);
    a->domain = ball(ASK_COLS, 1, CLO_ADD_REMOVE);
    a->through = clo_i_lens_domain(&a->domain, ASK_SEEN);
    a->data = bounded_from(values, ASK_ROWS, &a->domain);
    a->rng = seeded("asks");
    assert_ok(clo_workspace_new(1 << 20, &a->workspace, &err), err);
    a->context = (clo_context){ .rng = a->rng,
                                .workspace = a->workspace,
                                .comm = clo_i_comm_self(),
                                .threads = 1,
                                .block_rows = 16,
                                .progress_to = 1,
                                .meter = &a->meter };
    make_rules(a);
    make_asks(a);
    a->meter = (clo_meter){ .lines = a->lines, .count = a->count, .first = 3 };
}

static inline void sum_asks_close(sum_asks *a)
{
    clo_workspace_free(a->workspace);
    clo_rng_free(a->rng);
    clo_bounded_free(a->data);
}

#endif
