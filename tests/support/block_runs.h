/*
 * block_runs.h - rows, and plans that ask in blocks of them, for tests of who solves these blocks:
 * ranks (fold.T6) or workers (fold.T7).
 */
#ifndef CLO_TEST_BLOCK_RUNS_H
#define CLO_TEST_BLOCK_RUNS_H

#include "pipeline.h"
#include <math.h>

enum { ROWS = 600, D = 4 };
static double values[ROWS * D];

/* Near a line, so that cells are found; some of them null. */
static int fill(void **state)
{
    static const double line[D] = { .6, -.5, .4, .3 };
    (void)state;
    for (size_t i = 0; i < ROWS * D; i++)
        values[i] = line[i % D] * cos((double)(i / D) * 1.7) + 0.005 * sin((double)i * 0.37);
    for (size_t i = 0; i < ROWS; i += 41) values[i * D + 2] = NAN;
    return 0;
}

/* Every method whose plan asks in blocks, and other ways of some. */
static const char *const methods[][2] = {
    { "kmeans/aggregate", "clusters=2 blocks=17" },
    { "kmeans/aggregate", "clusters=2 blocks=3" }, /* fewer blocks than ranks */
    { "subspaces/aggregate", "clusters=2 dim=1 blocks=20" },
    { "subspaces/aggregate", "clusters=2 dim=1 blocks=20 flats=affine" },
    { "subspaces/aggregate", "clusters=1 dim=2 blocks=9 solver=tsc" },
    { "subspace/approx", "dim=1 gamma=0.05 blocks=50" },
    { "subspace/boosted", "dim=1 gamma=0.05 blocks=20 parts=3" },
};
enum { METHODS = sizeof methods / sizeof *methods };

static clo_plan *planned(const char *method, const char *settings, const clo_domain *domain,
                         clo_loss budget)
{
    clo_params *const params = params_for(method, settings);
    clo_plan *plan = NULL;
    clo_error err;
    assert_ok(clo_plan_new(params, domain, budget, CLO_IDEALIZED, &plan, &err), err);
    clo_params_free(params);
    assert_int_equal(clo_plan_reading(plan), CLO_READING_BLOCKS);
    return plan;
}

#endif
