/*
 * sum_asks.h - one ask, and through a lens another, of every query that adds up: for the test and
 * the fuzz target of asks as bytes.  A query that is missing here fails that test.
 */
#ifndef CLO_TEST_SUM_ASKS_H
#define CLO_TEST_SUM_ASKS_H

#include "pipeline.h"
#include "parallel/parallel.h"
#include "query/cell_counts.h"
#include "query/choose_centers.h"
#include "query/choose_flats.h"
#include "query/count.h"
#include "query/fold.h"
#include "query/gaussian_gram.h"
#include "query/gaussian_moment.h"
#include "query/gaussian_moment3.h"
#include "query/gaussian_step.h"
#include "query/gaussian_sum.h"
#include "query/laplace_sum.h"
#include "query/cross_moment.h"
#include "query/local_gram.h"
#include "query/local_sum.h"
#include "query/partition_parts.h"
#include "query/peel.h"
#include "query/quantile.h"
#include "query/seed.h"
#include "query/sparse_sum.h"
#include "query/assign.h"
#include "query/lens.h"
#include <math.h>

enum { ASK_ROWS = 40, ASK_COLS = 4, ASK_SEEN = 2, ASK_SKETCH = 4, MOST_ASKS = 32 };

typedef struct sum_asks {
    clo_domain domain;
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

static inline void make_asks(sum_asks *a)
{
    const clo_domain *const d = &a->domain;
    const clo_domain through = clo_i_lens_domain(d, ASK_SEEN);
    const clo_center_choice swap = { 2, 2, 0, CLO_LOSS_SQUARED, 2 };
    const clo_center_choice sets = { 2, 2, 2, CLO_LOSS_DISTANCE, 2 };
    const clo_cube_tree tree = { .levels = 2, .trees = 1, .most = 8 };
    const clo_quantile radius = { 3, 1, 0.5 }, ends = { 3, 2, 0.5 };
    clo_line line;
    clo_error err;
#define ADD(plan, ...)                                                                             \
    do {                                                                                           \
        assert_ok(plan, err);                                                                      \
        add_ask(a, &line, __VA_ARGS__);                                                            \
    } while (0)
    ADD(clo_i_plan_gaussian_sum(d, 2, 1, 1, "", &line, &err), 0, &a->centers, 1, NULL, 0);
    ADD(clo_i_plan_gaussian_sum(&through, 2, 1, 1, "", &line, &err), CLO_LENS, &a->seen, 1, NULL,
        0);
    ADD(clo_i_plan_laplace_sum(d, 1, 1, 1, "", &line, &err), 0, &a->one, 1, NULL, 0);
    ADD(clo_i_plan_gaussian_step(d, 2, 1, 1, "", &line, &err), 0, &a->centers, 1, &a->width, 1);
    ADD(clo_i_plan_local_sum(d, 2, CLO_EVENT_GAUSSIAN, 1, 1, "", &line, &err), 0, &a->centers, 1,
        a->views, 4);
    ADD(clo_i_plan_local_sum(&through, 2, CLO_EVENT_PURE, 1, 1, "", &line, &err), CLO_LENS,
        &a->seen, 1, a->views, 4);
    ADD(clo_i_plan_gaussian_gram(d, 2, 1, 1, "", &line, &err), 0, &a->flats[1], 1, NULL, 0);
    ADD(clo_i_plan_gaussian_gram(&through, 1, 1, 1, "", &line, &err), CLO_LENS, &a->one, 1, NULL,
        0);
    ADD(clo_i_plan_local_gram(d, 1, 1, "", &line, &err), 0, &a->lone, 1, a->views, 1);
    ADD(clo_i_plan_local_gram(&through, 1, 1, "", &line, &err), CLO_LENS, &a->seen_lone, 1,
        a->views, 1);
    ADD(clo_i_plan_cross_moment(d, 2, 1, 1, 1, "", &line, &err), 0, &a->axes, 1, a->narrow, 4);
    ADD(clo_i_plan_cross_moment(&through, 2, 1, 1, 1, "", &line, &err), CLO_LENS, &a->seen_axes, 1,
        a->narrow, 4);
    ADD(clo_i_plan_even_moment(d, .5, 1, 1, "", &line, &err), 0, NULL, 0, NULL, 0);
    ADD(clo_i_plan_gaussian_moment3(d, 0, 1, 1, "", &line, &err), 0, NULL, 0, NULL, 0);
    ADD(clo_i_plan_count(d, 1, 1, "", &line, &err), 0, NULL, 0, NULL, 0);
    ADD(clo_i_plan_cell_counts(d, 3, CLO_EVENT_PURE, 1, 1, "", &line, &err), 0, NULL, 0, NULL, 0);
    ADD(clo_i_plan_choose_flats(d, 2, 4, 1, 1, "", &line, &err), 0, a->flats, 2, NULL, 0);
    ADD(clo_i_plan_choose_centers(d, &swap, 1, 1, "", &line, &err), 0, &a->centers, 1, NULL, 0);
    ADD(clo_i_plan_choose_centers(d, &sets, 1, 1, "", &line, &err), 0, &a->centers, 1, a->sets, 4);
    ADD(clo_i_plan_partition(d, &tree, 1, "", &line, &err), 0, NULL, 0, a->cubes, 9);
    ADD(clo_i_plan_partition(&through, &tree, 1, "", &line, &err), CLO_LENS, NULL, 0, a->seen_cubes,
        5);
    ADD(clo_i_plan_seed(d, 2, 2, 1, 1, "", &line, &err), 0, a->pair, 2, NULL, 0);
    ADD(clo_i_plan_sparse_sum(d, ASK_COLS, 2, 3, CLO_EVENT_GAUSSIAN, 1, "", &line, &err), 0,
        &a->centers, 1, NULL, 0);
    ADD(clo_i_plan_sparse_sum(d, ASK_SKETCH, 2, 3, CLO_EVENT_PURE, 1, "", &line, &err), CLO_SKETCH,
        &a->centers, 1, NULL, 0);
    ADD(clo_i_plan_peel(d, ASK_COLS, 2, 3, 2, 1, "", &line, &err), 0, &a->centers, 1, NULL, 0);
    ADD(clo_i_plan_quantile(d, &ends, 1, 1, "", &line, &err), 0, NULL, 0, a->column, 7);
    ADD(clo_i_plan_quantile(d, &radius, 1, 1, "", &line, &err), 0, NULL, 0, a->norms, 4);
#undef ADD
}

static inline void sum_asks_open(sum_asks *a)
{
    double values[ASK_ROWS * ASK_COLS];
    clo_error err;
    memset(a, 0, sizeof *a);
    for (size_t i = 0; i < ASK_ROWS * ASK_COLS; i++) values[i] = .5 * sin((double)i * .7);
    a->domain = ball(ASK_COLS, 1, CLO_ADD_REMOVE);
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
