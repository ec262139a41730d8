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

/* Something that must hold of a plan. */
typedef void check_plan(const clo_plan *plan, const clo_domain *domain);

static inline void check_every_method(check_plan *check)
{
    for (size_t m = 0; m < METHODS; m++)
        for (int relation = CLO_REPLACE; relation <= CLO_ADD_REMOVE; relation++) {
            const clo_domain domain = ball(D, 1.5, (clo_relation)relation);
            clo_plan *const plan =
                planned(methods[m][0], methods[m][1], &domain, (clo_loss){ 50, 1e-3 });
            check(plan, &domain);
            clo_plan_free(plan);
        }
}

/* The same with a centre and a norm that are learnt first. */
static inline void check_every_method_that_learns(check_plan *check)
{
    clo_learning learning = clo_learning_default();
    learning.norm = learning.center = true;
    learning.norm_share = learning.center_share = .2;
    for (size_t m = 0; m < METHODS; m++) {
        const clo_domain domain = ball(D, 20, CLO_ADD_REMOVE);
        clo_error err;
        clo_plan *const plan =
            planned(methods[m][0], methods[m][1], &domain, (clo_loss){ 25, 1e-3 });
        assert_ok(clo_plan_learn(plan, &learning, (clo_loss){ 50, 2e-3 }, &err), err);
        check(plan, &domain);
        clo_plan_free(plan);
    }
}

#endif
