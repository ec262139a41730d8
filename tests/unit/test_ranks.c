/*
 * Several ranks, each with some of the rows: rank 0 asks and draws, the others fold, and the
 * release is that of one process, byte for byte.  The ranks are threads with a barrier between
 * them (fold.T1).
 */
#include "rank_runs.h"
#include "plan/mechanism.h"
#include <math.h>

enum { ROWS = 1200, D = 4, MANY = 20 };

static void fill(double *values, size_t cols)
{
    for (size_t i = 0; i < ROWS * cols; i++)
        values[i] = 0.3 * sin((double)i * 0.37) + ((i / cols) % 3 == 0 ? 0.3 : -0.2);
}

static const char *const sums[][2] = {
    { "kmeans/lloyd", "clusters=3 rounds=3 noise=gaussian" },
    { "kmeans/lloyd", "clusters=3 rounds=2 noise=laplace" },
    { "kmeans/lloyd", "clusters=2 rounds=2 reduce=2" },
    { "kmeans/highdim", "clusters=2" },
    { "kmedian/highdim", "clusters=2" },
    { "kmeans/grid", "clusters=3 side=4" },
    { "kmeans/density", "clusters=3 rounds=2" },
    { "kmedian/density", "clusters=3 rounds=2" },
    { "kmeans/sparse", "clusters=2" },
    { "subspaces/moments", "clusters=2 dim=1" },
    { "subspaces/moments", "clusters=2 dim=1 sharpen=2" },
    { "subspaces/sulq", "clusters=2 dim=1 rounds=3 restarts=2" },
    { "subspaces/sulq", "clusters=2 dim=1 rounds=2 flats=affine" },
    { "subspace/gaussian", "dim=2" },
    { "bounds/quantile", "quantile=0.9" },
    { "bounds/quantile", "quantile=0.9 of=columns" },
};
enum { SUMS = sizeof sums / sizeof *sums };

static clo_plan *planned(size_t m, const clo_domain *domain, bool learns)
{
    clo_learning learning = clo_learning_default();
    clo_error err;
    clo_plan *const plan = plan_for(sums[m][0], sums[m][1], domain, learns ? .5 : 1, 1e-6);
    learning.norm = learning.center = true;
    learning.norm_share = learning.center_share = .2;
    if (learns) assert_ok(clo_plan_learn(plan, &learning, (clo_loss){ 1, 2e-6 }, &err), err);
    return plan;
}

static void ranks_agree_with_one_process(const clo_plan *plan, const clo_domain *domain)
{
    static double values[ROWS * MANY];
    fill(values, domain->cols);
    clo_bounded *const data = bounded_from(values, ROWS, domain);
    clo_release *const alone = run_seeded(plan, data, "ranks", NULL);
    const text expected = json_of(alone);
    for (int size = 2; size <= MOST_RANKS; size += 2) {
        const clo_plan *const plans[MOST_RANKS] = { plan, plan, plan, plan };
        rank ranks[MOST_RANKS];
        run_ranks(ranks, size, plans, values, ROWS, domain, size / 2);
        assert_ranks_release(ranks, size, expected.bytes);
    }
    free(expected.bytes);
    clo_release_free(alone);
    clo_bounded_free(data);
}

static void the_release_is_that_of_one_process(size_t m, clo_relation relation, bool learns)
{
    const clo_domain domain = ball(D, learns ? 20 : 1.5, relation);
    clo_plan *const plan = planned(m, &domain, learns);
    ranks_agree_with_one_process(plan, &domain);
    clo_plan_free(plan);
}

static void ranks_make_the_release_of_one_process(void **state)
{
    (void)state;
    for (size_t m = 0; m < SUMS; m++) {
        the_release_is_that_of_one_process(m, CLO_REPLACE, false);
        the_release_is_that_of_one_process(m, CLO_ADD_REMOVE, false);
    }
}

/* In so many columns a density is asked about through a lens, and then in all of them. */
static void ranks_see_many_columns_as_one_process_does(void **state)
{
    static const clo_relation relations[] = { CLO_REPLACE, CLO_ADD_REMOVE };
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        const clo_domain domain = ball(MANY, 3, relations[i]);
        clo_plan *const plan = plan_for("kmeans/density", "clusters=3 rounds=2", &domain, 1, 1e-6);
        assert_int_equal(plan->lines[2].lens, CLO_LENS);
        ranks_agree_with_one_process(plan, &domain);
        clo_plan_free(plan);
    }
}

static void ranks_look_from_where_rank_0_learnt_to(void **state)
{
    (void)state;
    the_release_is_that_of_one_process(0, CLO_REPLACE, true);
    the_release_is_that_of_one_process(0, CLO_ADD_REMOVE, true);
}

static void a_rank_with_another_plan_ends_the_run_of_all(void **state)
{
    static double values[ROWS * D];
    const clo_domain domain = ball(D, 1.5, CLO_REPLACE);
    (void)state;
    fill(values, D);
    clo_plan *const plan = planned(0, &domain, false);
    clo_plan *const other = plan_for("kmeans/lloyd", "clusters=4 rounds=3", &domain, 1, 1e-6);
    const clo_plan *const plans[] = { plan, other };
    rank ranks[MOST_RANKS];
    run_ranks(ranks, 2, plans, values, ROWS, &domain, 1);
    assert_fails(ranks[0].status, CLO_IO, ranks[0].err, "another rank");
    assert_fails(ranks[1].status, CLO_FORMAT, ranks[1].err, "no ask of this plan");
    assert_null(ranks[0].release);
    assert_null(ranks[1].release);
    clo_plan_free(plan);
    clo_plan_free(other);
}

/* What needs all rows in one place is refused by the plan alone, and before the grant is used. */
static void a_plan_that_cannot_be_spread_is_refused_before_anything_is_asked(void **state)
{
    static const char *const whole[][4] = {
        { "subspace/exact", "dim=1", "needs all rows in one process: run on one rank",
          "needs only sums or blocks: subspace/gaussian" },
    };
    static double values[ROWS * D];
    const clo_domain domain = ball(D, 1.5, CLO_REPLACE);
    meeting nobody = { .size = 2 };
    seat self;
    clo_run_options options = clo_run_options_default();
    clo_error err;
    (void)state;
    fill(values, D);
    take_seat(&self, &nobody, 0);
    options.comm = &self.comm;
    clo_bounded *const data = bounded_from(values, ROWS, &domain);
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
        clo_grant *grant = NULL;
        clo_release *release = NULL;
        clo_rng *const rng = seeded("whole");
        clo_plan *const plan = plan_for(whole[i][0], whole[i][1], &domain, 1, 1e-6);
        assert_int_equal(clo_plan_reading(plan), CLO_READING_WHOLE);
        assert_fails(clo_run_check(plan, data, &options, &err), CLO_UNSUPPORTED, err, whole[i][2]);
        assert_non_null(strstr(err.message, whole[i][3])); /* what would serve */
        assert_ok(clo_grant_unmetered(plan, &grant, &err), err);
        assert_fails(clo_run(plan, grant, data, rng, &options, &release, &err), CLO_UNSUPPORTED,
                     err, whole[i][2]);
        assert_ok(clo_run(plan, grant, data, rng, NULL, &release, &err), err); /* still good */
        clo_release_free(release);
        clo_rng_free(rng);
        clo_grant_free(grant);
        clo_plan_free(plan);
    }
    clo_bounded_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_make_the_release_of_one_process),
        cmocka_unit_test(ranks_see_many_columns_as_one_process_does),
        cmocka_unit_test(ranks_look_from_where_rank_0_learnt_to),
        cmocka_unit_test(a_rank_with_another_plan_ends_the_run_of_all),
        cmocka_unit_test(a_plan_that_cannot_be_spread_is_refused_before_anything_is_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
