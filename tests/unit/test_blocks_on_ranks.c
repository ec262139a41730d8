/*
 * test_blocks_on_ranks.c - blocks of records over several ranks (fold.T6): the release of one
 * process, byte for byte, whatever the ranks and threads, with null records, under both relations;
 * each block is solved once, by the rank that its number says, from the bytes that one process
 * would show; and a rank that cannot do its part ends the run of all.  The ranks are threads
 * (meeting.h).
 */
#include "rank_runs.h"
#include "block_runs.h"
#include "mechanism/subspace/subspace_cells.h"
#include "parallel/parallel.h"
#include "plan/mechanism.h"
#include "query/aggregate.h"
#include "ask/blocks.h"
#include <math.h>

static text alone(const clo_plan *plan, const clo_domain *domain, const clo_run_options *options)
{
    clo_bounded *const data = bounded_from(values, ROWS, domain);
    clo_release *const release = run_seeded(plan, data, "ranks", options);
    const text json = json_of(release);
    clo_release_free(release);
    clo_bounded_free(data);
    return json;
}

static void same_on_any_ranks(const clo_plan *plan, const clo_domain *domain)
{
    const clo_plan *const plans[MOST_RANKS] = { plan, plan, plan, plan };
    const text expected = alone(plan, domain, NULL);
    assert_null(strstr(expected.bytes, "\"found\": [0]")); /* there is something to be the same */
    for (int size = 2; size <= MOST_RANKS; size++)
        for (int threads = 1; threads <= 2; threads++) {
            rank ranks[MOST_RANKS];
            run_ranks(ranks, size, plans, values, ROWS, domain, threads);
            assert_ranks_release(ranks, size, expected.bytes);
        }
    free(expected.bytes);
}

static void the_release_is_that_of_one_process(void **state)
{
    (void)state;
    check_every_method(same_on_any_ranks);
}

static void blocks_are_looked_at_from_where_rank_0_learnt_to(void **state)
{
    (void)state;
    check_every_method_that_learns(same_on_any_ranks);
}

/* Every method with a query that reads blocks is above, and knows how another rank does it. */
static void every_method_that_asks_in_blocks_is_spread(void **state)
{
    (void)state;
    for (size_t i = 0; i < clo_mechanism_count(); i++) {
        const clo_mechanism *const m = clo_mechanism_at(i);
        char name[128];
        bool listed = false;
        snprintf(name, sizeof name, "%s/%s", m->family, m->method);
        for (size_t j = 0; j < METHODS; j++) listed = listed || strcmp(methods[j][0], name) == 0;
        assert_int_equal(listed, m->open_blocks != NULL);
        const clo_domain domain = ball(D, 1, CLO_REPLACE);
        clo_params *params = NULL;
        clo_plan *plan = NULL;
        clo_error err;
        assert_ok(clo_params_new(m, &params, &err), err);
        if (!clo_plan_new(params, &domain, (clo_loss){ 1, 1e-6 }, CLO_ASYMPTOTIC, &plan, &err))
            assert_int_equal(clo_plan_reading(plan) == CLO_READING_BLOCKS, listed);
        clo_plan_free(plan);
        clo_params_free(params);
    }
}

/* ---- what each block is shown --------------------------------------------------------------- */

enum { BLOCKS = 11 };

/* By whom each block was solved, which is known by its seed, and a hash of what it was shown. */
typedef struct sight {
    uint64_t seed, hash;
} sight;

typedef struct witness {
    sight seen[BLOCKS];
    size_t count;
} witness;

static clo_status look(void *user, const clo_block *block, double *bases, clo_error *err)
{
    witness *const w = user;
    sight s = { .hash = 14695981039346656037ULL };
    (void)err;
    assert_true((uintptr_t)block->rows % 64 == 0); /* a block lies as in one process */
    memcpy(&s.seed, block->seed, sizeof s.seed);
    const uint8_t *const bytes = (const uint8_t *)block->rows;
    for (size_t i = 0; i < block->count * block->cols * sizeof(double); i++)
        s.hash = (s.hash ^ bytes[i]) * 1099511628211ULL;
    s.hash += block->count;
    assert_true(w->count < BLOCKS);
    w->seen[w->count++] = s;
    for (size_t j = 0; j < D; j++) bases[j] = j == 0;
    return CLO_OK;
}

/* On one thread blocks are shown in their order, so that the n-th of rank r is r + n * ranks. */
static void block_b_is_shown_to_rank_b_modulo_their_number(void **state)
{
    (void)state;
    for (int relation = CLO_REPLACE; relation <= CLO_ADD_REMOVE; relation++) {
        const clo_domain domain = ball(D, 1.5, (clo_relation)relation);
        clo_run_options options = clo_run_options_default();
        witness one = { .count = 0 };
        clo_plan *const plan =
            planned("subspaces/aggregate", "clusters=1 dim=1 blocks=11 solver=caller", &domain,
                    (clo_loss){ 50, 1e-3 });
        const clo_plan *const plans[MOST_RANKS] = { plan, plan, plan, plan };
        options.threads = 1;
        options.solve_block = look;
        options.solve_user = &one;
        free(alone(plan, &domain, &options).bytes);
        assert_int_equal(one.count, BLOCKS);
        for (int size = 2; size <= MOST_RANKS; size++) {
            witness each[MOST_RANKS] = { { .count = 0 } };
            rank ranks[MOST_RANKS];
            meeting m = { .size = 0 };
            seat_ranks(ranks, size, &m, plans, values, ROWS, &domain, &options);
            for (int r = 0; r < size; r++) ranks[r].options.solve_user = &each[r];
            run_seated(ranks, size, &m);
            size_t all = 0;
            for (int r = 0; r < size; r++) {
                assert_ok(ranks[r].status, ranks[r].err);
                for (size_t n = 0; n < each[r].count; n++)
                    assert_memory_equal(&each[r].seen[n], &one.seen[(size_t)r + n * (size_t)size],
                                        sizeof(sight));
                all += each[r].count;
            }
            assert_int_equal(all, BLOCKS);
            clo_release_free(ranks[0].release);
        }
        clo_plan_free(plan);
    }
}

/* ---- ends ----------------------------------------------------------------------------------- */

static clo_status run_out(void *user, const clo_block *block, double *bases, clo_error *err)
{
    (void)user, (void)block, (void)bases;
    return clo_i_fail(err, CLO_MEMORY, "out of memory");
}

static bool stop_at_once(void *user, double done)
{
    (void)user, (void)done;
    return false;
}

static bool stop_while_blocks_are_solved(void *user, double done)
{
    int *const calls = user;
    (void)done;
    return ++*calls < 3;
}

typedef struct trouble {
    clo_block_solve *solve;
    bool (*progress)(void *user, double done);
    clo_status status;
} trouble;

/* One rank of three fails where no other does: it says how, and the others that one did. */
static void the_failure_of_one_rank_ends_the_run_of_all(void **state)
{
    static const trouble troubles[] = { { run_out, NULL, CLO_MEMORY },
                                        { look, stop_at_once, CLO_CANCELLED },
                                        { look, stop_while_blocks_are_solved, CLO_CANCELLED } };
    const clo_domain domain = ball(D, 1.5, CLO_ADD_REMOVE);
    (void)state;
    clo_plan *const plan =
        planned("subspaces/aggregate", "clusters=1 dim=1 blocks=11 solver=caller", &domain,
                (clo_loss){ 50, 1e-3 });
    const clo_plan *const plans[MOST_RANKS] = { plan, plan, plan };
    for (size_t t = 0; t < sizeof troubles / sizeof *troubles; t++)
        for (int who = 0; who < 3; who += 2) { /* rank 1 of three has no rows to be stopped at */
            clo_run_options options = clo_run_options_default();
            witness each[MOST_RANKS] = { { .count = 0 } };
            rank ranks[MOST_RANKS];
            meeting m = { .size = 0 };
            int calls = 0;
            options.threads = 1;
            options.solve_block = look;
            seat_ranks(ranks, 3, &m, plans, values, ROWS, &domain, &options);
            for (int r = 0; r < 3; r++) ranks[r].options.solve_user = &each[r];
            ranks[who].options.solve_block = troubles[t].solve;
            ranks[who].options.progress = troubles[t].progress;
            ranks[who].options.user = &calls;
            run_seated(ranks, 3, &m);
            for (int r = 0; r < 3; r++) {
                assert_int_equal(ranks[r].status, r == who ? troubles[t].status : CLO_IO);
                assert_null(ranks[r].release);
            }
        }
    clo_plan_free(plan);
}

static void more_rows_than_were_said_end_the_run_of_all(void **state)
{
    const clo_domain domain = ball(D, 1.5, CLO_ADD_REMOVE);
    rank ranks[MOST_RANKS];
    meeting m = { .size = 0 };
    (void)state;
    clo_plan *const plan = planned(methods[0][0], methods[0][1], &domain, (clo_loss){ 50, 1e-3 });
    const clo_plan *const plans[] = { plan, plan };
    clo_run_options options = clo_run_options_default();
    seat_ranks(ranks, 2, &m, plans, values, ROWS, &domain, &options);
    for (int r = 0; r < 2; r++) ranks[r].options.all_rows = ROWS / 2;
    run_seated(ranks, 2, &m);
    for (int r = 0; r < 2; r++)
        assert_fails(ranks[r].status, CLO_ARGUMENT, ranks[r].err, "more rows than");
    clo_plan_free(plan);
}

/* Before the grant is used: by public facts. */
static void what_cannot_be_spread_is_refused_before_anything_is_asked(void **state)
{
    static const clo_comm two = { .rank = 0, .size = 2 };
    static const clo_workers some = { .struct_size = sizeof some };
    const clo_persons found = { 0, 0 };
    clo_domain domain = ball(D, 1.5, CLO_ADD_REMOVE);
    clo_run_options options = clo_run_options_default();
    clo_error err;
    (void)state;
    clo_plan *plan = planned(methods[0][0], methods[0][1], &domain, (clo_loss){ 1, 1e-3 });
    clo_bounded *data = bounded_from(values, ROWS, &domain);
    options.comm = &two;
    assert_fails(clo_run_check(plan, data, &options, &err), CLO_ARGUMENT, err, "all_rows");
    options.all_rows = ROWS;
    assert_ok(clo_run_check(plan, data, &options, &err), err);
    options.comm = NULL;
    options.workers = &some;
    assert_fails(clo_run_check(plan, data, &options, &err), CLO_UNSUPPORTED, err,
                 "which these workers cannot solve: run in one process, on MPI ranks, or on");
    clo_plan_free(plan);
    clo_bounded_free(data);
    domain.unit = "who";
    plan = planned(methods[0][0], methods[0][1], &domain, (clo_loss){ 1, 1e-3 });
    uint64_t units[ROWS];
    for (size_t i = 0; i < ROWS; i++) units[i] = i;
    data = bounded_from_units(values, units, ROWS, &domain);
    options.workers = NULL;
    options.comm = &two;
    options.persons = &found;
    assert_fails(clo_run_check(plan, data, &options, &err), CLO_UNSUPPORTED, err,
                 "which several ranks cannot form with persons");
    clo_plan_free(plan);
    clo_bounded_free(data);
}

/* ---- what a rank is told -------------------------------------------------------------------- */

/* Words that no run of this plan would tell are refused, before they are used for anything. */
static void a_rank_opens_only_what_its_own_plan_would_tell(void **state)
{
    const clo_domain domain = ball(D, 1.5, CLO_REPLACE);
    clo_plan *const plan =
        planned("subspace/approx", "dim=1 gamma=0.5 blocks=50", &domain, (clo_loss){ 50, 1e-3 });
    const size_t points = 3 * D, count = points + 16; /* three points, and sixteens of a lattice */
    uint64_t words[64] = { 0 };
    const double nan = NAN;
    clo_block_work work = { .locate = NULL };
    clo_context context = { .threads = 1 };
    clo_error err;
    (void)state;
    assert_ok(clo_workspace_new(1 << 16, &context.workspace, &err), err);
    clo_block_open *const open = plan->mechanism->open_blocks;
    assert_ok(open(plan->state, D, &context, words, count, &work, &err), err);
    assert_non_null(work.locate);
    assert_fails(open(plan->state, D, &context, words, count - 1, &work, &err), CLO_FORMAT, err,
                 "no ask of this plan");
    assert_fails(open(plan->state, D, &context, words, 0, &work, &err), CLO_FORMAT, err,
                 "no ask of this plan");
    memcpy(&words[count - 1], &nan, sizeof nan);
    assert_fails(open(plan->state, D, &context, words, count, &work, &err), CLO_FORMAT, err,
                 "no ask of this plan");
    clo_plan_free(plan);
    clo_plan *const other = planned(methods[0][0], methods[0][1], &domain, (clo_loss){ 50, 1e-3 });
    assert_fails(other->mechanism->open_blocks(other->state, D, &context, words, 1, &work, &err),
                 CLO_FORMAT, err, "no ask of this plan");
    clo_plan_free(other);
    clo_workspace_free(context.workspace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_release_is_that_of_one_process),
        cmocka_unit_test(blocks_are_looked_at_from_where_rank_0_learnt_to),
        cmocka_unit_test(every_method_that_asks_in_blocks_is_spread),
        cmocka_unit_test(block_b_is_shown_to_rank_b_modulo_their_number),
        cmocka_unit_test(the_failure_of_one_rank_ends_the_run_of_all),
        cmocka_unit_test(more_rows_than_were_said_end_the_run_of_all),
        cmocka_unit_test(what_cannot_be_spread_is_refused_before_anything_is_asked),
        cmocka_unit_test(a_rank_opens_only_what_its_own_plan_would_tell),
    };
    return cmocka_run_group_tests(tests, fill, NULL);
}
