/*
 * test_parcels.c - blocks of records that workers hold (fold.T7): the release of one process, byte
 * for byte, whatever the parts, the bundles and the threads; a row that is in two blocks, or in
 * none, ends the run; and bytes that are no parcel are refused.
 */
#include "block_crew.h"

static void same_with_any_bundles(const clo_plan *plan, const clo_domain *domain, bool learns)
{
    static const size_t bundles[] = { 7, 1, MOST_BUNDLES }; /* the last: some have no block */
    const size_t ways = learns ? 1 : sizeof bundles / sizeof *bundles;
    clo_bounded *const all = bounded_from(values, ROWS, domain);
    clo_release *const alone = run_seeded(plan, all, "workers", NULL);
    const text expected = json_of(alone);
    assert_null(strstr(expected.bytes, "\"found\": [0]")); /* there is something to be the same */
    for (size_t i = 0; i < ways; i++) {
        clo_release *release = NULL;
        clo_error err;
        crew c;
        hire(&c, plan, domain, i == 1 ? 2 : 1);
        c.bundles = bundles[i];
        assert_ok(drive(&c, plan, NULL, &release, &err), err);
        const text actual = json_of(release);
        assert_string_equal(actual.bytes, expected.bytes);
        assert_true(c.solved >= 1);
        assert_true(learns ? c.passes > 1 : c.passes == 1); /* one for the mark, if nothing else */
        free(actual.bytes);
        clo_release_free(release);
        dismiss(&c);
    }
    free(expected.bytes);
    clo_release_free(alone);
    clo_bounded_free(all);
}

static void the_release_is_that_of_one_process(void **state)
{
    (void)state;
    for (size_t m = 0; m < METHODS; m++)
        for (int relation = CLO_REPLACE; relation <= CLO_ADD_REMOVE; relation++) {
            clo_domain domain = ball(D, 1.5, (clo_relation)relation);
            if (relation == CLO_REPLACE) domain.rows = ROWS;
            clo_plan *const plan =
                planned(methods[m][0], methods[m][1], &domain, (clo_loss){ 50, 1e-3 });
            same_with_any_bundles(plan, &domain, false);
            clo_plan_free(plan);
        }
}

static void blocks_are_looked_at_from_where_the_driver_learnt_to(void **state)
{
    clo_learning learning = clo_learning_default();
    (void)state;
    learning.norm = learning.center = true;
    learning.norm_share = learning.center_share = .2;
    for (size_t m = 0; m < METHODS; m++) {
        const clo_domain domain = ball(D, 20, CLO_ADD_REMOVE);
        clo_error err;
        clo_plan *const plan =
            planned(methods[m][0], methods[m][1], &domain, (clo_loss){ 25, 1e-3 });
        assert_ok(clo_plan_learn(plan, &learning, (clo_loss){ 50, 2e-3 }, &err), err);
        same_with_any_bundles(plan, &domain, true);
        clo_plan_free(plan);
    }
}

/* ---- rows that change ------------------------------------------------------------------------ */

/* The last part, with some rows turned round for all bundles from one on: then a row is in a block
 * of one bundle by the first order, and in a block of another one by the second, or in none. */
static void a_row_in_two_blocks_ends_the_run(void **state)
{
    static double turned[ROWS * D];
    const clo_domain domain = ball(D, 1.5, CLO_ADD_REMOVE);
    const size_t first = starts[2], count = ROWS - first;
    clo_plan *const plan = planned(methods[0][0], methods[0][1], &domain, (clo_loss){ 50, 1e-3 });
    (void)state;
    for (size_t i = 0; i < count; i++)
        memcpy(turned + i * D, values + (ROWS - 1 - i) * D, D * sizeof *turned);
    for (size_t from = 0; from < 2; from++) {
        clo_release *release = NULL;
        clo_error err;
        crew c;
        hire(&c, plan, &domain, 1);
        c.bundles = 4;
        c.moved_for = from;
        c.moved_data = bounded_from(turned, count, &domain);
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

static const uint8_t unit_key[CLO_UNIT_KEY_BYTES] = { 7 };

static clo_bounded *of_persons(size_t first, size_t count, const clo_domain *domain,
                               clo_persons *found)
{
    static uint64_t names[ROWS];
    clo_view view = clo_view_default();
    clo_table *table = NULL;
    clo_bounded *data = NULL;
    uint8_t *list = NULL;
    size_t persons = 0;
    clo_error err;
    for (size_t i = 0; i < ROWS; i++) names[i] = i < starts[1] ? i % 60 : 60 + i % 90;
    view.data = values + first * D;
    view.rows = count;
    view.cols = D;
    view.row_step = D * sizeof *values;
    view.col_step = sizeof *values;
    view.units = names + first;
    view.unit_key = unit_key;
    assert_ok(clo_table_wrap_view(&view, &table, &err), err);
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
    crew c = { .bundles = 3 };
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
    assert_fails(drive(&c, plan, &persons, &release, &err), CLO_IO, err, "other persons");
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
                 "workers do not have it");
    clo_bounded_free(nothing);
    clo_plan_free(plan);
}

static void a_parcel_that_is_none_ends_the_run(void **state)
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
    uint32_t homes[ROWS];
} kept;

static clo_status keep_task(void *user, const void *task, size_t bytes, const uint32_t *homes,
                            uint64_t slots, int64_t *totals, size_t count)
{
    kept *const k = (kept *)user;
    (void)totals;
    assert_true(bytes <= sizeof k->task && slots <= ROWS);
    memcpy(k->task, task, bytes);
    memcpy(k->homes, homes, slots * sizeof *homes);
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
static void bytes_that_are_no_task_or_parcel_are_refused(void **state)
{
    const clo_domain domain = ball(D, 1.5, CLO_ADD_REMOVE);
    static kept k;
    static int64_t totals[1 << 12];
    clo_parcel parcel, unused;
    clo_error err;
    (void)state;
    clo_plan *const plan =
        planned("kmeans/aggregate", "clusters=2 blocks=3", &domain, (clo_loss){ 50, 1e-3 });
    keep_one(&k, plan, &domain);
    clo_worker *const part = k.c.workers[0];
    const size_t slots = clo_worker_slots(part);
    assert_true(k.count < sizeof totals / sizeof *totals);
    assert_ok(clo_worker_deal(part, k.task, k.bytes, k.homes, slots, 1, 1, 2, &parcel, &err), err);
    assert_ok(
        clo_worker_solve(k.c.nobody, k.task, k.bytes, 1, 2, &parcel, 1, totals, k.count, &err),
        err);
    assert_int_equal(
        clo_worker_solve(k.c.nobody, k.task, k.bytes, 0, 2, &parcel, 1, totals, k.count, &err),
        CLO_FORMAT); /* another bundle has other blocks */
    assert_int_equal(
        clo_worker_deal(part, k.task, k.bytes, k.homes, slots - 1, 0, 1, 2, &unused, &err),
        CLO_FORMAT);
    assert_int_equal(clo_worker_deal(part, k.task, k.bytes, k.homes, slots, 1, 2, 2, &unused, &err),
                     CLO_FORMAT);
    k.homes[5] = 3;
    assert_int_equal(clo_worker_deal(part, k.task, k.bytes, k.homes, slots, 0, 1, 2, &unused, &err),
                     CLO_FORMAT);
    k.homes[5] = 0;
    assert_int_equal(clo_worker_fold(part, k.task, k.bytes, totals, k.count, &err), CLO_FORMAT);
    for (size_t cut = 0; cut < k.bytes; cut += 5)
        assert_int_not_equal(
            clo_worker_solve(k.c.nobody, k.task, cut, 1, 2, &parcel, 1, totals, k.count, &err),
            CLO_OK);
    for (size_t at = 0; at < k.bytes; at += at < 200 ? 1 : 11) {
        k.task[at] ^= 0x40;
        clo_parcel one = { .words = NULL };
        (void)!clo_worker_deal(part, k.task, k.bytes, k.homes, slots, 0, 1, 2, &one, &err);
        clo_parcel_free(&one);
        const size_t numbers = clo_task_numbers(k.task, k.bytes);
        if (numbers && numbers <= k.count)
            (void)!clo_worker_solve(k.c.nobody, k.task, k.bytes, 1, 2, &parcel, 1, totals, numbers,
                                    &err);
        k.task[at] ^= 0x40;
    }
    uint8_t *const bytes = (uint8_t *)parcel.words;
    for (size_t at = 0; at < 100; at++) {
        bytes[at] ^= 0x40;
        (void)!clo_worker_solve(k.c.nobody, k.task, k.bytes, 1, 2, &parcel, 1, totals, k.count,
                                &err);
        bytes[at] ^= 0x40;
    }
    clo_parcel_free(&parcel);
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
        cmocka_unit_test(a_parcel_that_is_none_ends_the_run),
        cmocka_unit_test(bytes_that_are_no_task_or_parcel_are_refused),
    };
    return cmocka_run_group_tests(tests, fill, NULL);
}
