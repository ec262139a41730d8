/*
 * test_blocks_on_ranks_memory.c - blocks over ranks and memory (fold.T6, meter.T2): an allocation
 * that fails on one rank ends the run of all; and what ranks ask the system for, once they have
 * their workspace, does not tell how many rows count.  The ranks are threads (meeting.h).
 */
#include "rank_runs.h"
#include "watched_sizes.h"
#include <math.h>

enum { COLS = 3, MOST_ROWS = 400, RANKS = 3 };
static double values[MOST_ROWS * COLS];

static int fill(void **state)
{
    (void)state;
    for (size_t i = 0; i < MOST_ROWS * COLS; i++) values[i] = 0.5 * sin((double)i);
    return 0;
}

static clo_status solve_by_heart(void *user, const clo_block *block, double *bases, clo_error *err)
{
    (void)user, (void)err;
    for (size_t j = 0; j < block->cols; j++) bases[j] = j == 0;
    return CLO_OK;
}

static clo_plan *planned(const char *method, const char *settings, const clo_domain *domain)
{
    clo_params *const params = params_for(method, settings);
    clo_plan *plan = NULL;
    clo_error err;
    assert_ok(clo_plan_new(params, domain, (clo_loss){ 20, 1e-3 }, CLO_IDEALIZED, &plan, &err),
              err);
    clo_params_free(params);
    return plan;
}

static void seat_all(rank *ranks, meeting *m, const clo_plan *plan, size_t rows,
                     const clo_domain *domain)
{
    const clo_plan *const plans[RANKS] = { plan, plan, plan };
    clo_run_options options = clo_run_options_default();
    options.threads = 1; /* which of several threads gets to start its work is chance */
    options.solve_block = solve_by_heart;
    seat_ranks(ranks, RANKS, m, plans, values, rows, domain, &options);
}

/* ---- allocations that fail ------------------------------------------------------------------ */

/* n: 0 where none fails.  all: how many there were. */
static clo_status run_failing_at(const clo_plan *plan, const clo_domain *domain, uint64_t n,
                                 uint64_t *all)
{
    rank ranks[RANKS];
    meeting m = { .size = 0 };
    clo_status worst = CLO_OK;
    seat_all(ranks, &m, plan, 60, domain);
    clo_i_fail_allocation(n);
    run_seated(ranks, RANKS, &m);
    *all = clo_i_allocation_count();
    clo_i_fail_allocation(0);
    for (int r = 0; r < RANKS; r++) {
        if (ranks[r].status == CLO_MEMORY || !worst) worst = ranks[r].status;
        assert_int_equal(ranks[r].status != CLO_OK, ranks[0].status != CLO_OK);
        assert_int_equal(ranks[r].release != NULL, r == 0 && !ranks[r].status);
        if (ranks[r].status) assert_true(ranks[r].err.message[0] != 0);
    }
    clo_release_free(ranks[0].release);
    return worst;
}

/* Whichever rank it hits: nobody waits, nobody has a release, and one says why. */
static void an_allocation_that_fails_on_one_rank_ends_the_run_of_all(void **state)
{
    static const char *const methods[][2] = {
        { "subspaces/aggregate", "clusters=1 dim=1 blocks=4 solver=caller" },
        { "kmeans/aggregate", "clusters=1 blocks=4 restarts=1" },
        { "subspace/approx", "dim=1 gamma=0.5 blocks=4" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        for (int relation = CLO_REPLACE; relation <= CLO_ADD_REMOVE; relation++) {
            const clo_domain domain = ball(COLS, 1, (clo_relation)relation);
            clo_plan *const plan = planned(methods[i][0], methods[i][1], &domain);
            uint64_t all = 0, until_it_fails;
            assert_int_equal(run_failing_at(plan, &domain, 0, &all), CLO_OK);
            assert_true(all > 20);
            for (uint64_t n = 1; n <= all; n++)
                assert_int_equal(run_failing_at(plan, &domain, n, &until_it_fails), CLO_MEMORY);
            clo_plan_free(plan);
        }
}

/* ---- sizes ---------------------------------------------------------------------------------- */

static void sizes_of_a_run(const clo_plan *plan, size_t rows, const clo_domain *domain, sizes *out)
{
    rank ranks[RANKS];
    meeting m = { .size = 0 };
    clo_error err;
    seat_all(ranks, &m, plan, rows, domain);
    for (int r = 0; r < RANKS; r++) {
        ranks[r].options.comm = &ranks[r].seat.comm;
        assert_ok(clo_workspace_for_run(plan, ranks[r].data, &ranks[r].options,
                                        &ranks[r].options.workspace, &err),
                  err);
    }
    watch_into(out, NULL);
    run_seated(ranks, RANKS, &m);
    stop_watching();
    for (int r = 0; r < RANKS; r++) {
        assert_ok(ranks[r].status, ranks[r].err);
        clo_workspace_free(ranks[r].options.workspace);
    }
    clo_release_free(ranks[0].release);
}

static const char CALLER[] = "clusters=1 dim=1 blocks=5 solver=caller";

static void how_many_rows_there_are_shows_in_no_allocation(void **state)
{
    static const size_t lengths[] = { 200, 201, MOST_ROWS };
    static sizes found[3];
    const clo_domain domain = ball(COLS, 1, CLO_ADD_REMOVE);
    clo_plan *const plan = planned("subspaces/aggregate", CALLER, &domain);
    (void)state;
    for (size_t l = 0; l < 3; l++) {
        sizes_of_a_run(plan, lengths[l], &domain, &found[l]);
        assert_true(found[l].count > 0 && same_sizes(&found[0], &found[l]));
    }
    clo_plan_free(plan);
}

/* Where the number of rows is public, how many of them count is not (bound.T6). */
static void how_many_rows_are_null_shows_in_no_allocation(void **state)
{
    static sizes found[2];
    const clo_domain domain = ball(COLS, 1, CLO_REPLACE);
    clo_plan *const plan = planned("subspaces/aggregate", CALLER, &domain);
    (void)state;
    sizes_of_a_run(plan, MOST_ROWS, &domain, &found[0]);
    for (size_t i = 0; i < MOST_ROWS / 2; i++) values[2 * i * COLS] = NAN;
    sizes_of_a_run(plan, MOST_ROWS, &domain, &found[1]);
    assert_true(same_sizes(&found[0], &found[1]));
    clo_plan_free(plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_allocation_that_fails_on_one_rank_ends_the_run_of_all),
        cmocka_unit_test(how_many_rows_there_are_shows_in_no_allocation),
        cmocka_unit_test(how_many_rows_are_null_shows_in_no_allocation),
    };
    return cmocka_run_group_tests(tests, fill, NULL);
}
