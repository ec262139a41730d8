/*
 * test_blocks_on_workers.c - blocks of records that workers hold (fold.T7): the release of one
 * process, byte for byte, whatever the parts, the groups and the threads; a row that is in two
 * blocks, or in none, ends the run; and bytes that are no packet are refused.
 */
#include "block_crew.h"
#include "plan/mechanism.h"
#include "ask/blocks.h"

static void same_with_any_groups(const clo_plan *plan, const clo_domain *domain, bool learns)
{
    static const size_t groups[] = { 7, 1, MOST_GROUPS }; /* the last: some have no block */
    const size_t ways = learns ? 1 : sizeof groups / sizeof *groups;
    clo_bounded *const all = bounded_from(values, ROWS, domain);
    clo_release *const alone = run_seeded(plan, all, "workers", NULL);
    const text expected = json_of(alone);
    assert_null(strstr(expected.bytes, "\"found\": [0]")); /* there is something to be the same */
    for (size_t i = 0; i < ways; i++) {
        clo_release *release = NULL;
        clo_error err;
        crew c;
        hire(&c, plan, domain, i == 1 ? 2 : 1);
        c.groups = groups[i];
        assert_ok(drive(&c, plan, NULL, &release, &err), err);
        const text actual = json_of(release);
        assert_string_equal(actual.bytes, expected.bytes);
        assert_true(c.solved >= 1);
        assert_true(learns ? c.passes > 1
                           : c.passes == 1); /* one for the row hash, if nothing else */
        free(actual.bytes);
        clo_release_free(release);
        dismiss(&c);
    }
    free(expected.bytes);
    clo_release_free(alone);
    clo_bounded_free(all);
}

static void same_as_alone(const clo_plan *plan, const clo_domain *domain)
{
    same_with_any_groups(plan, domain, false);
}

static void same_after_learning(const clo_plan *plan, const clo_domain *domain)
{
    same_with_any_groups(plan, domain, true);
}

static void the_release_is_that_of_one_process(void **state)
{
    (void)state;
    check_every_method(same_as_alone);
}

static void blocks_are_looked_at_from_where_the_driver_learnt_to(void **state)
{
    (void)state;
    check_every_method_that_learns(same_after_learning);
}

/* ---- rows that change ------------------------------------------------------------------------ */

/* The rows of the last part in another order: turned round, or some of them in the place of those
 * four further on, among rows of which none is null. */
static void move_rows(double *rows, size_t count, bool far)
{
    const double *const from = values + starts[2] * D;
    for (size_t i = 0; i < count; i++) {
        const size_t near = i < 32 ? i ^ 4 : i;
        memcpy(rows + i * D, from + (far ? count - 1 - i : near) * D, D * sizeof *rows);
    }
}

/* For all groups from one on: then a row is in a block of one group by the first order, and in a
 * block of another one by the second, or in none. */
static void a_row_in_two_blocks_ends_the_run(void **state)
{
    static double moved[ROWS * D];
    const clo_domain domain = ball(D, 1.5, CLO_ADD_REMOVE);
    const size_t count = ROWS - starts[2];
    clo_plan *const plan = planned(methods[0][0], methods[0][1], &domain, (clo_loss){ 50, 1e-3 });
    (void)state;
    for (size_t how = 0; how < 4; how++) {
        const size_t from = how / 2;
        clo_release *release = NULL;
        clo_error err;
        crew c;
        move_rows(moved, count, how % 2);
        hire(&c, plan, &domain, 1);
        c.groups = 4;
        c.moved_for = from;
        c.moved_data = bounded_from(moved, count, &domain);
        assert_ok(clo_worker_new(plan, c.moved_data, 1, &c.moved, &err), err);
        const clo_status status = drive(&c, plan, NULL, &release, &err);
        if (from == 0) { /* another order for all of them is another division, and a good one */
            assert_ok(status, err);
        } else {
            assert_fails(status, CLO_IO, err, "changed between two passes");
            assert_null(release);
        }
        clo_release_free(release);
        dismiss(&c);
    }
    clo_plan_free(plan);
}

/* ---- persons --------------------------------------------------------------------------------- */

static clo_bounded *of_persons(size_t first, size_t count, const clo_domain *domain,
                               clo_persons *found)
{
    static uint64_t names[ROWS];
    clo_bounded *data = NULL;
    uint8_t *list = NULL;
    size_t persons = 0;
    clo_error err;
    for (size_t i = 0; i < ROWS; i++) names[i] = i < starts[1] ? i % 60 : 60 + i % 90;
    clo_table *const table = table_of_persons(values + first * D, names + first, count, D);
    assert_ok(clo_bound(table, domain, &data, &err), err);
    assert_ok(clo_table_persons(table, &list, &persons, &err), err);
    if (found) assert_ok(clo_persons_compare(list, persons, found, &err), err);
    clo_persons_free(list, persons);
    clo_table_free(table);
    return data;
}

/* All rows of a person are in one part, whose rows keep their order: so blocks may be asked. */
static void persons_of_one_part_each_are_those_of_one_process(void **state)
{
    clo_domain domain = ball(D, 1.5, CLO_ADD_REMOVE);
    clo_persons persons;
    clo_release *release = NULL;
    clo_error err;
    (void)state;
    domain.unit = "person";
    domain.rows_per_unit = 2;
    clo_plan *const plan = planned(methods[0][0], methods[0][1], &domain, (clo_loss){ 50, 1e-3 });
    clo_bounded *const all = of_persons(0, ROWS, &domain, &persons);
    clo_release *const alone = run_seeded(plan, all, "workers", NULL);
    const text expected = json_of(alone);
    crew c = { .groups = 3 };
    for (size_t i = 0; i < PARTS; i++) {
        c.data[i] = of_persons(starts[i], starts[i + 1] - starts[i], &domain, NULL);
        assert_ok(clo_worker_new(plan, c.data[i], 1, &c.workers[i], &err), err);
    }
    c.nothing = of_persons(0, 0, &domain, NULL);
    assert_ok(clo_worker_new(plan, c.nothing, 1, &c.nobody, &err), err);
    assert_ok(drive(&c, plan, &persons, &release, &err), err);
    const text actual = json_of(release);
    assert_string_equal(actual.bytes, expected.bytes);
    clo_release_free(release);
    release = NULL;
    persons.sum++; /* somebody else than was compared */
    assert_fails(drive(&c, plan, &persons, &release, &err), CLO_IO, err, "persons in the parts");
    free(actual.bytes);
    free(expected.bytes);
    clo_release_free(alone);
    clo_bounded_free(all);
    dismiss(&c);
    clo_plan_free(plan);
}

/* ---- what is refused ------------------------------------------------------------------------- */

static clo_status solve_nothing(void *user, const clo_block *block, double *bases, clo_error *err)
{
    (void)user, (void)block, (void)bases, (void)err;
    return CLO_OK;
}

static void a_solver_of_the_callers_own_is_refused(void **state)
{
    const clo_domain domain = ball(D, 1.5, CLO_ADD_REMOVE);
    clo_workers workers = clo_workers_default();
    clo_run_options options = clo_run_options_default();
    clo_error err;
    (void)state;
    clo_plan *const plan = planned(methods[0][0], methods[0][1], &domain, (clo_loss){ 50, 1e-3 });
    clo_bounded *const nothing = bounded_from(values, 0, &domain);
    workers.fold = fold_all;
    workers.solve = solve_all;
    options.workers = &workers;
    assert_ok(clo_run_check(plan, nothing, &options, &err), err);
    options.solve_block = solve_nothing;
    assert_fails(clo_run_check(plan, nothing, &options, &err), CLO_UNSUPPORTED, err,
                 "not on workers");
    clo_bounded_free(nothing);
    clo_plan_free(plan);
}

static void a_packet_that_is_none_ends_the_run(void **state)
{
    const clo_domain domain = ball(D, 1.5, CLO_ADD_REMOVE);
    clo_release *release = NULL;
    clo_error err;
    crew c;
    (void)state;
    clo_plan *const plan = planned(methods[0][0], methods[0][1], &domain, (clo_loss){ 50, 1e-3 });
    hire(&c, plan, &domain, 1);
    c.spoil = true;
    assert_fails(drive(&c, plan, NULL, &release, &err), CLO_FORMAT, err, "could not solve");
    assert_null(release);
    dismiss(&c);
    clo_plan_free(plan);
}

typedef struct kept {
    crew c;
    _Alignas(8) uint8_t task[1 << 13];
    size_t bytes, count;
    uint32_t block_of[ROWS];
} kept;

static clo_status keep_task(void *user, const void *task, size_t bytes, const uint32_t *block_of,
                            uint64_t slots, int64_t *totals, size_t count)
{
    kept *const k = (kept *)user;
    (void)totals;
    assert_true(bytes <= sizeof k->task && slots <= ROWS);
    memcpy(k->task, task, bytes);
    memcpy(k->block_of, block_of, slots * sizeof *block_of);
    k->bytes = bytes;
    k->count = count;
    return CLO_IO;
}

/* The first task of blocks, as workers would get it. */
static void keep_one(kept *k, const clo_plan *plan, const clo_domain *domain)
{
    clo_workers workers = clo_workers_default();
    clo_run_options options = clo_run_options_default();
    clo_release *release = NULL;
    clo_grant *grant = NULL;
    clo_error err;
    hire(&k->c, plan, domain, 1);
    workers.fold = fold_all;
    workers.solve = keep_task;
    workers.user = k; /* which begins with its crew */
    options.workers = &workers;
    clo_rng *const rng = seeded("kept");
    assert_ok(clo_grant_unmetered(plan, &grant, &err), err);
    assert_fails(clo_run(plan, grant, k->c.nothing, rng, &options, &release, &err), CLO_IO, err,
                 "could not solve");
    clo_grant_free(grant);
    clo_rng_free(rng);
}

/* Whatever the bytes say: an error or totals, and no byte out of bounds. */
static void bytes_that_are_no_task_or_packet_are_refused(void **state)
{
    const clo_domain domain = ball(D, 1.5, CLO_ADD_REMOVE);
    static kept k;
    static int64_t totals[1 << 12];
    clo_packet packet, unused;
    clo_error err;
    (void)state;
    clo_plan *const plan =
        planned("kmeans/aggregate", "clusters=2 blocks=3", &domain, (clo_loss){ 50, 1e-3 });
    keep_one(&k, plan, &domain);
    clo_worker *const part = k.c.workers[0];
    const size_t slots = clo_worker_slots(part);
    assert_true(k.count < sizeof totals / sizeof *totals);
    assert_ok(clo_worker_deal(part, k.task, k.bytes, k.block_of, slots, 1, 1, 2, &packet, &err),
              err);
    assert_ok(
        clo_worker_solve(k.c.nobody, k.task, k.bytes, 1, 2, &packet, 1, totals, k.count, &err),
        err);
    assert_int_equal(
        clo_worker_solve(k.c.nobody, k.task, k.bytes, 0, 2, &packet, 1, totals, k.count, &err),
        CLO_FORMAT); /* another group has other blocks */
    assert_int_equal(
        clo_worker_deal(part, k.task, k.bytes, k.block_of, slots - 1, 0, 1, 2, &unused, &err),
        CLO_FORMAT);
    assert_int_equal(
        clo_worker_deal(part, k.task, k.bytes, k.block_of, slots, 1, 2, 2, &unused, &err),
        CLO_FORMAT);
    k.block_of[5] = 3;
    assert_int_equal(
        clo_worker_deal(part, k.task, k.bytes, k.block_of, slots, 0, 1, 2, &unused, &err),
        CLO_FORMAT);
    k.block_of[5] = 0;
    assert_int_equal(clo_worker_fold(part, k.task, k.bytes, totals, k.count, &err), CLO_FORMAT);
    for (size_t cut = 0; cut < k.bytes; cut += 5)
        assert_int_not_equal(
            clo_worker_solve(k.c.nobody, k.task, cut, 1, 2, &packet, 1, totals, k.count, &err),
            CLO_OK);
    for (size_t at = 0; at < k.bytes; at += at < 200 ? 1 : 11) {
        k.task[at] ^= 0x40;
        clo_packet one = { .words = NULL };
        (void)!clo_worker_deal(part, k.task, k.bytes, k.block_of, slots, 0, 1, 2, &one, &err);
        clo_packet_free(&one);
        const size_t numbers = clo_task_numbers(k.task, k.bytes);
        if (numbers && numbers <= k.count)
            (void)!clo_worker_solve(k.c.nobody, k.task, k.bytes, 1, 2, &packet, 1, totals, numbers,
                                    &err);
        k.task[at] ^= 0x40;
    }
    uint8_t *const bytes = (uint8_t *)packet.words;
    for (size_t at = 0; at < 100; at++) {
        bytes[at] ^= 0x40;
        (void)!clo_worker_solve(k.c.nobody, k.task, k.bytes, 1, 2, &packet, 1, totals, k.count,
                                &err);
        bytes[at] ^= 0x40;
    }
    /* A word more or less than its rows take. */
    const size_t whole = packet.count;
    uint64_t *const longer = calloc(whole + 1, sizeof *longer);
    memcpy(longer, packet.words, whole * sizeof *longer);
    for (size_t count = whole - 1; count <= whole + 1; count++) {
        const clo_packet given = { .words = longer, .count = count };
        assert_int_equal(
            clo_worker_solve(k.c.nobody, k.task, k.bytes, 1, 2, &given, 1, totals, k.count, &err),
            count == whole ? CLO_OK : CLO_FORMAT);
    }
    free(longer);
    clo_packet_free(&packet);
    dismiss(&k.c);
    clo_plan_free(plan);
}

static clo_status look_where_it_lies(void *user, int thread, size_t number, const clo_block *block)
{
    (void)thread;
    assert_true((uintptr_t)block->rows % 64 == 0);
    ((int64_t *)user)[number] = (int64_t)block->count;
    return CLO_OK;
}

/* On a cache line each, as BLAS has it in one process. */
static void a_block_lies_as_in_one_process(void **state)
{
    enum { BLOCKS = 17 };
    const clo_domain domain = ball(D, 1.5, CLO_ADD_REMOVE);
    int64_t results[BLOCKS] = { 0 }, totals[BLOCKS] = { 0 };
    static kept k;
    clo_packet packet;
    clo_error err;
    (void)state;
    clo_plan *const plan = planned(methods[0][0], methods[0][1], &domain, (clo_loss){ 50, 1e-3 });
    keep_one(&k, plan, &domain);
    clo_worker *const part = k.c.workers[0];
    const size_t slots = clo_worker_slots(part);
    assert_ok(clo_worker_deal(part, k.task, k.bytes, k.block_of, slots, 0, 1, 1, &packet, &err),
              err);
    static const uint8_t seeds[BLOCKS * CLO_BLOCK_SEED];
    clo_packets given = { .groups = 1,
                          .packets = &packet,
                          .count = 1,
                          .seeds = seeds,
                          .seed_bytes = sizeof seeds,
                          .totals = totals,
                          .entries = BLOCKS };
    clo_context context = { .threads = 1, .progress_to = 1, .packets = &given };
    const clo_each_block how = { .line = plan->lines,
                                 .blocks = BLOCKS,
                                 .visit = look_where_it_lies,
                                 .user = results,
                                 .results = results,
                                 .each = sizeof *results };
    assert_ok(clo_i_visit_packets(&context, &how, &err), err);
    int64_t rows = 0;
    for (size_t b = 0; b < BLOCKS; b++) rows += totals[b];
    assert_int_equal(rows, slots);
    assert_int_equal(given.row_hash[0], slots);
    clo_packet_free(&packet);
    dismiss(&k.c);
    clo_plan_free(plan);
}

static clo_status count_visits(void *user, int thread, size_t number, const clo_block *block)
{
    (void)thread;
    ((int64_t *)user)[number] += 1000 + (int64_t)block->count;
    return CLO_OK;
}

/* Bundle g of G answers for the blocks g, g + G, ... and for no other one, and no block is in two:
 * whatever the packets hold, so that the sum over all groups has every block once. */
static void a_group_answers_for_its_own_blocks(void **state)
{
    enum { BLOCKS = 17, GROUPS = 3 };
    const clo_domain domain = ball(D, 1.5, CLO_ADD_REMOVE);
    static const uint8_t seeds[BLOCKS * CLO_BLOCK_SEED];
    int64_t rows = 0;
    static kept k;
    clo_error err;
    (void)state;
    clo_plan *const plan = planned(methods[0][0], methods[0][1], &domain, (clo_loss){ 50, 1e-3 });
    keep_one(&k, plan, &domain);
    clo_worker *const part = k.c.workers[0];
    const size_t slots = clo_worker_slots(part);
    for (size_t group = 0; group < GROUPS; group++)
        for (size_t from = 0; from < GROUPS; from++) {
            int64_t results[BLOCKS] = { 0 }, totals[BLOCKS] = { 0 };
            clo_packet packet;
            assert_ok(clo_worker_deal(part, k.task, k.bytes, k.block_of, slots, from, 1, GROUPS,
                                      &packet, &err),
                      err);
            clo_packets given = { .group = group,
                                  .groups = GROUPS,
                                  .packets = &packet,
                                  .count = 1,
                                  .seeds = seeds,
                                  .seed_bytes = sizeof seeds,
                                  .totals = totals,
                                  .entries = BLOCKS };
            clo_context context = { .threads = 1, .progress_to = 1, .packets = &given };
            const clo_each_block how = { .line = plan->lines,
                                         .blocks = BLOCKS,
                                         .visit = count_visits,
                                         .user = results,
                                         .results = results,
                                         .each = sizeof *results };
            const clo_status status = clo_i_visit_packets(&context, &how, &err);
            for (size_t b = 0; b < BLOCKS; b++) {
                assert_int_equal(totals[b], results[b]);
                assert_true(b % GROUPS == group ? totals[b] < 2000 : totals[b] == 0);
                if (group == from) assert_true(b % GROUPS != group || totals[b] >= 1000);
                if (group == from && b % GROUPS == group) rows += totals[b] - 1000;
            }
            if (group == from) assert_ok(status, err);
            clo_packet_free(&packet);
        }
    assert_int_equal(rows, slots);
    dismiss(&k.c);
    clo_plan_free(plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_release_is_that_of_one_process),
        cmocka_unit_test(blocks_are_looked_at_from_where_the_driver_learnt_to),
        cmocka_unit_test(a_row_in_two_blocks_ends_the_run),
        cmocka_unit_test(persons_of_one_part_each_are_those_of_one_process),
        cmocka_unit_test(a_solver_of_the_callers_own_is_refused),
        cmocka_unit_test(a_packet_that_is_none_ends_the_run),
        cmocka_unit_test(bytes_that_are_no_task_or_packet_are_refused),
        cmocka_unit_test(a_block_lies_as_in_one_process),
        cmocka_unit_test(a_group_answers_for_its_own_blocks),
    };
    return cmocka_run_group_tests(tests, fill, NULL);
}
