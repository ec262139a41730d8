/*
 * test_worker.c - rows that workers hold: the release of one process, byte for byte; rows that
 * change between passes end the run (fold.T4); vectors under pads (pad.T1).
 */
#include "pipeline.h"
#include <cloister/worker.h>
#include <math.h>
#include <sodium.h>

enum { ROWS = 900, D = 3, PARTS = 3 };
static double values[ROWS * D];

/* One part is empty, and the others are not alike. */
static const size_t starts[PARTS + 1] = { 0, 250, 250, ROWS };

typedef struct crew {
    clo_worker *workers[PARTS];
    clo_bounded *data[PARTS];
    int passes, change_at; /* from this pass on other rows are there; 0: never */
    clo_worker *changed;
    bool padded;
} crew;

static clo_status fold_all(void *user, const void *task, size_t bytes, int64_t *totals,
                           size_t count)
{
    crew *const c = user;
    uint8_t keys[PARTS][CLO_PAD_BYTES];
    c->passes++;
    assert_int_equal(clo_task_numbers(task, bytes), count);
    for (size_t i = 0; i < PARTS; i++) {
        const bool other = i == 2 && c->change_at && c->passes >= c->change_at;
        const clo_status status =
            clo_worker_fold(other ? c->changed : c->workers[i], task, bytes, totals, count, NULL);
        if (status) return status;
        randombytes_buf(keys[i], sizeof keys[i]);
        if (c->padded) clo_pad_add(keys[i], totals, count);
    }
    for (size_t i = 0; i < PARTS && c->padded; i++) clo_pad_remove(keys[i], totals, count);
    return CLO_OK;
}

static void fill(void)
{
    for (size_t i = 0; i < (size_t)ROWS * D; i++)
        values[i] = 0.3 * sin((double)i * 0.37) + ((i / D) % 3 == 0 ? 0.3 : -0.2);
}

static void hire(crew *c, const clo_plan *plan, const clo_domain *domain)
{
    clo_domain part = *domain;
    clo_error err;
    part.rows = 0;
    *c = (crew){ .padded = true };
    for (size_t i = 0; i < PARTS; i++) {
        c->data[i] = bounded_from(values + starts[i] * D, starts[i + 1] - starts[i], &part);
        assert_ok(clo_worker_new(plan, c->data[i], 1, &c->workers[i], &err), err);
    }
}

static void dismiss(crew *c)
{
    for (size_t i = 0; i < PARTS; i++) {
        clo_worker_free(c->workers[i]);
        clo_bounded_free(c->data[i]);
    }
}

static clo_status drive(crew *c, const clo_plan *plan, const clo_domain *domain, uint64_t rows,
                        clo_release **out, clo_error *err)
{
    clo_domain part = *domain;
    clo_workers workers = clo_workers_default();
    clo_run_options options = clo_run_options_default();
    clo_grant *grant = NULL;
    part.rows = 0;
    workers.rows = rows;
    workers.fold = fold_all;
    workers.user = c;
    options.workers = &workers;
    clo_bounded *const nothing = bounded_from(values, 0, &part);
    clo_rng *const rng = seeded("workers");
    assert_ok(clo_grant_unmetered(plan, &grant, err), *err);
    const clo_status status = clo_run(plan, grant, nothing, rng, &options, out, err);
    clo_grant_free(grant);
    clo_rng_free(rng);
    clo_bounded_free(nothing);
    return status;
}

static const char *const sums[][2] = {
    { "kmeans/local", "clusters=3" },
    { "kmeans/density", "clusters=3" },
    { "kmedian/density", "clusters=3" },
    { "kmeans/lloyd", "clusters=3 rounds=3" },
    { "kmeans/highdim", "clusters=2" },
    { "kmeans/sparse", "clusters=2" },
    { "subspaces/moments", "clusters=2 dim=1" },
    { "subspaces/moments", "clusters=2 dim=1 sharpen=2" },
    { "subspaces/sulq", "clusters=2 dim=1 rounds=2" },
    { "subspace/gaussian", "dim=2" },
    { "bounds/quantile", "quantile=0.9 of=columns" },
};

static void assert_same_release(const char *const *method, clo_relation relation, bool learns)
{
    clo_domain domain = ball(D, learns ? 20 : 1.5, relation);
    clo_learning learning = clo_learning_default();
    clo_release *release = NULL;
    clo_error err;
    crew c;
    if (relation == CLO_REPLACE) domain.rows = ROWS;
    clo_plan *const plan = plan_for(method[0], method[1], &domain, learns ? .5 : 1, 1e-6);
    learning.norm = learning.center = true;
    learning.norm_share = learning.center_share = .2;
    if (learns) assert_ok(clo_plan_learn(plan, &learning, (clo_loss){ 1, 2e-6 }, &err), err);
    clo_bounded *const all = bounded_from(values, ROWS, &domain);
    clo_release *const alone = run_seeded(plan, all, "workers", NULL);
    const text expected = json_of(alone);
    hire(&c, plan, &domain);
    assert_ok(drive(&c, plan, &domain, ROWS, &release, &err), err);
    const text actual = json_of(release);
    assert_string_equal(actual.bytes, expected.bytes);
    free(actual.bytes);
    free(expected.bytes);
    clo_release_free(release);
    clo_release_free(alone);
    clo_bounded_free(all);
    dismiss(&c);
    clo_plan_free(plan);
}

static void workers_make_the_release_of_one_process(void **state)
{
    (void)state;
    fill();
    for (size_t m = 0; m < sizeof sums / sizeof *sums; m++) {
        assert_same_release(sums[m], CLO_REPLACE, false);
        assert_same_release(sums[m], CLO_ADD_REMOVE, false);
    }
    assert_same_release(sums[1], CLO_REPLACE, true);
    assert_same_release(sums[1], CLO_ADD_REMOVE, true);
}

/* fold.T4: one row of another value, one row less, and the same rows dealt out anew. */
static void rows_that_change_between_passes_end_the_run(void **state)
{
    clo_domain domain = ball(D, 1.5, CLO_ADD_REMOVE);
    clo_plan *const plan = plan_for("kmeans/lloyd", "clusters=2 rounds=3", &domain, 1, 1e-6);
    (void)state;
    fill();
    for (int how = 0; how < 3; how++) {
        static double rows[ROWS * D];
        const size_t first = starts[2], count = ROWS - first;
        clo_release *release = NULL;
        clo_error err;
        crew c;
        memcpy(rows, values + first * D, count * D * sizeof *rows);
        if (how == 0) rows[5 * D + 1] += 1e-3;
        for (size_t j = 0; j < D && how == 2; j++) { /* two rows change places */
            const double kept = rows[j];
            rows[j] = rows[7 * D + j];
            rows[7 * D + j] = kept;
        }
        hire(&c, plan, &domain);
        clo_bounded *const other = bounded_from(rows, how == 1 ? count - 1 : count, &domain);
        assert_ok(clo_worker_new(plan, other, 1, &c.changed, &err), err);
        c.change_at = 2;
        const clo_status status = drive(&c, plan, &domain, 0, &release, &err);
        if (how == 2) {
            assert_ok(status, err);
        } else {
            assert_fails(status, CLO_IO, err, "changed between two passes");
            assert_null(release);
            assert_int_equal(c.passes, 2);
        }
        clo_release_free(release);
        clo_worker_free(c.changed);
        clo_bounded_free(other);
        dismiss(&c);
    }
    clo_plan_free(plan);
}

static void parts_that_have_other_rows_than_was_said_end_the_run(void **state)
{
    clo_domain domain = ball(D, 1.5, CLO_REPLACE);
    clo_release *release = NULL;
    clo_error err;
    crew c;
    (void)state;
    fill();
    for (uint64_t said = ROWS - 1; said <= ROWS + 1; said += 2) {
        domain.rows = said;
        clo_plan *const plan = plan_for("kmeans/lloyd", "clusters=2 rounds=1", &domain, 1, 1e-6);
        hire(&c, plan, &domain);
        assert_fails(drive(&c, plan, &domain, said, &release, &err), CLO_IO, err,
                     "number of rows in the parts has changed");
        assert_null(release);
        dismiss(&c);
        clo_plan_free(plan);
    }
}

/* ---- persons (fold.T5) ------------------------------------------------------------------- */

enum { PERSONS = 40, MOST_EACH = 3 };
static uint64_t names[ROWS];

/* A person is in one part: rows of the last part belong to the second half. */
static void name_persons(void)
{
    for (size_t i = 0; i < ROWS; i++)
        names[i] = i < starts[1] ? i % (PERSONS / 2) : PERSONS / 2 + i % (PERSONS / 2);
}

static clo_table *named_rows(size_t first, size_t count)
{
    return table_of_persons(values + first * D, names + first, count, D);
}

static clo_bounded *bounded_persons(size_t first, size_t count, const clo_domain *domain)
{
    clo_table *const table = named_rows(first, count);
    clo_bounded *data = NULL;
    clo_error err;
    assert_ok(clo_bound(table, domain, &data, &err), err);
    clo_table_free(table);
    return data;
}

/* What the parts list, one behind the other. */
static clo_status compare_parts(clo_persons *out, clo_error *err)
{
    uint8_t all[PARTS * PERSONS * CLO_PERSON_BYTES], *list;
    size_t count = 0, here;
    for (size_t i = 0; i < PARTS; i++) {
        clo_table *const table = named_rows(starts[i], starts[i + 1] - starts[i]);
        assert_ok(clo_table_persons(table, &list, &here, err), *err);
        memcpy(all + count * CLO_PERSON_BYTES, list, here * CLO_PERSON_BYTES);
        count += here;
        clo_persons_free(list, here);
        clo_table_free(table);
    }
    return clo_persons_compare(all, count, out, err);
}

static clo_status drive_persons(crew *c, const clo_plan *plan, const clo_domain *domain,
                                const clo_persons *persons, clo_release **out, clo_error *err)
{
    clo_workers workers = clo_workers_default();
    clo_run_options options = clo_run_options_default();
    clo_grant *grant = NULL;
    *c = (crew){ .padded = true };
    for (size_t i = 0; i < PARTS; i++) {
        c->data[i] = bounded_persons(starts[i], starts[i + 1] - starts[i], domain);
        assert_ok(clo_worker_new(plan, c->data[i], 1, &c->workers[i], err), *err);
    }
    workers.fold = fold_all;
    workers.user = c;
    options.workers = &workers;
    options.persons = persons;
    clo_bounded *const nothing = bounded_persons(0, 0, domain);
    clo_rng *const rng = seeded("persons");
    assert_ok(clo_grant_unmetered(plan, &grant, err), *err);
    const clo_status status = clo_run(plan, grant, nothing, rng, &options, out, err);
    clo_grant_free(grant);
    clo_rng_free(rng);
    clo_bounded_free(nothing);
    dismiss(c);
    return status;
}

static clo_domain of_persons(void)
{
    clo_domain domain = ball(D, 1.5, CLO_ADD_REMOVE);
    domain.unit = "person";
    domain.rows_per_unit = MOST_EACH;
    return domain;
}

static void persons_of_one_part_each_are_those_of_one_process(void **state)
{
    const clo_domain domain = of_persons();
    clo_release *release = NULL;
    clo_persons persons;
    clo_error err;
    crew c;
    (void)state;
    fill();
    name_persons();
    clo_plan *const plan = plan_for("kmeans/lloyd", "clusters=2 rounds=2", &domain, 1, 1e-6);
    clo_bounded *const all = bounded_persons(0, ROWS, &domain);
    clo_release *const alone = run_seeded(plan, all, "persons", NULL);
    const text expected = json_of(alone);
    assert_ok(compare_parts(&persons, &err), err);
    assert_int_equal(persons.count, PERSONS);
    assert_ok(drive_persons(&c, plan, &domain, &persons, &release, &err), err);
    const text actual = json_of(release);
    assert_string_equal(actual.bytes, expected.bytes);
    free(actual.bytes);
    free(expected.bytes);
    clo_release_free(release);
    clo_release_free(alone);
    clo_bounded_free(all);
    clo_plan_free(plan);
}

/* A person in two parts is noticed when parts are compared, and, where they were dealt out anew
 * since, in the pass itself; without a comparison nothing begins. */
static void a_person_in_two_parts_is_noticed(void **state)
{
    const clo_domain domain = of_persons();
    clo_release *release = NULL;
    clo_persons persons, unused;
    clo_error err;
    crew c;
    (void)state;
    fill();
    name_persons();
    clo_plan *const plan = plan_for("kmeans/lloyd", "clusters=2 rounds=2", &domain, 1, 1e-6);
    assert_ok(compare_parts(&persons, &err), err);
    assert_fails(drive_persons(&c, plan, &domain, NULL, &release, &err), CLO_UNSUPPORTED, err,
                 "must be compared first");
    assert_int_equal(c.passes, 0);
    names[ROWS - 1] = names[0]; /* who is in the first part, too */
    assert_fails(compare_parts(&unused, &err), CLO_DOMAIN, err, "rows in two parts");
    assert_fails(drive_persons(&c, plan, &domain, &persons, &release, &err), CLO_IO, err,
                 "the persons in the parts have changed");
    assert_int_equal(c.passes, 1);
    assert_null(release);
    clo_plan_free(plan);
}

/* ---- bytes that are no task -------------------------------------------------------------- */

typedef struct kept {
    clo_worker *worker;
    _Alignas(8) uint8_t task[1 << 14];
    size_t bytes, count;
} kept;

static clo_status keep_task(void *user, const void *task, size_t bytes, int64_t *totals,
                            size_t count)
{
    kept *const k = user;
    (void)totals;
    assert_true(bytes <= sizeof k->task);
    memcpy(k->task, task, bytes);
    k->bytes = bytes;
    k->count = count;
    return CLO_IO;
}

static void bytes_that_are_no_task_are_refused(void **state)
{
    const clo_domain domain = ball(D, 1.5, CLO_ADD_REMOVE);
    clo_plan *const plan = plan_for("kmeans/lloyd", "clusters=2 rounds=1", &domain, 1, 1e-6);
    clo_workers workers = clo_workers_default();
    clo_run_options options = clo_run_options_default();
    static kept k;
    clo_release *release = NULL;
    clo_grant *grant = NULL;
    clo_error err;
    (void)state;
    fill();
    clo_bounded *const rows = bounded_from(values, 100, &domain),
                       *nothing = bounded_from(values, 0, &domain);
    clo_rng *const rng = seeded("no task");
    workers.fold = keep_task;
    workers.user = &k;
    options.workers = &workers;
    assert_ok(clo_grant_unmetered(plan, &grant, &err), err);
    assert_fails(clo_run(plan, grant, nothing, rng, &options, &release, &err), CLO_IO, err,
                 "could not fold");
    assert_ok(clo_worker_new(plan, rows, 1, &k.worker, &err), err);
    int64_t totals[64] = { 0 }, before[64] = { 0 };
    assert_true(k.count < 60);
    assert_ok(clo_worker_fold(k.worker, k.task, k.bytes, totals, k.count, &err), err);
    assert_int_equal(totals[k.count - 4], 100); /* the row hash has their number */
    memcpy(before, totals, sizeof totals);
    for (size_t cut = 0; cut < k.bytes; cut++)
        assert_int_not_equal(clo_worker_fold(k.worker, k.task, cut, totals, k.count, &err), CLO_OK);
    assert_int_not_equal(clo_worker_fold(k.worker, k.task, k.bytes, totals, k.count + 1, &err), 0);
    assert_memory_equal(totals, before, sizeof totals);
    for (size_t at = 0; at < k.bytes; at++) { /* whatever it says then: no byte out of bounds */
        k.task[at] ^= 0x80;
        const size_t numbers = clo_task_numbers(k.task, k.bytes);
        if (numbers && numbers <= 64)
            (void)!clo_worker_fold(k.worker, k.task, k.bytes, totals, numbers, &err);
        k.task[at] ^= 0x80;
    }
    clo_worker_free(k.worker);
    clo_grant_free(grant);
    clo_rng_free(rng);
    clo_bounded_free(rows);
    clo_bounded_free(nothing);
    clo_plan_free(plan);
}

/* ---- what is refused --------------------------------------------------------------------- */

static void drivers_have_no_rows_and_plans_are_of_sums(void **state)
{
    const clo_domain domain = ball(D, 1.5, CLO_ADD_REMOVE);
    clo_workers workers = clo_workers_default();
    clo_run_options options = clo_run_options_default();
    clo_comm comm = { .size = 2 };
    clo_error err;
    clo_worker *worker = NULL;
    (void)state;
    fill();
    workers.fold = fold_all;
    options.workers = &workers;
    clo_bounded *const rows = bounded_from(values, 10, &domain);
    clo_plan *const sum = plan_for("kmeans/lloyd", "clusters=2", &domain, 1, 1e-6);
    clo_plan *const whole = plan_for("subspace/exact", "dim=1", &domain, 1, 1e-6);
    assert_fails(clo_run_check(sum, rows, &options, &err), CLO_ARGUMENT, err, "must have none");
    assert_fails(clo_worker_new(whole, rows, 1, &worker, &err), CLO_UNSUPPORTED, err, "gapmax");
    options.comm = &comm;
    assert_fails(clo_run_check(sum, rows, &options, &err), CLO_ARGUMENT, err, "not with both");
    assert_null(worker);
    clo_plan_free(sum);
    clo_plan_free(whole);
    clo_bounded_free(rows);
}

/* ---- pads -------------------------------------------------------------------------------- */

/* pad.T1: the pad is ChaCha20's stream, number after number; it goes as it came, modulo 2^64, also
 * from a sum of vectors. */
static void a_pad_is_a_stream_that_can_be_taken_off(void **state)
{
    enum { COUNT = 1500 };
    static const uint8_t nonce[crypto_stream_chacha20_NONCEBYTES];
    const uint8_t key[CLO_PAD_BYTES] = { 1, 2, 3 }, other[CLO_PAD_BYTES] = { 4 };
    static int64_t one[COUNT], two[COUNT], sum[COUNT];
    static uint64_t stream[COUNT];
    size_t same = 0;
    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        one[i] = (int64_t)i - 700;
        two[i] = i % 2 ? INT64_MAX : INT64_MIN;
    }
    crypto_stream_chacha20((uint8_t *)stream, sizeof stream, nonce, key);
    clo_pad_add(key, one, COUNT);
    for (size_t i = 0; i < COUNT; i++)
        assert_true((uint64_t)one[i] == (uint64_t)((int64_t)i - 700) + stream[i]);
    clo_pad_add(other, two, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        sum[i] = (int64_t)((uint64_t)one[i] + (uint64_t)two[i]);
        same += one[i] == two[i];
    }
    assert_int_equal(same, 0);
    clo_pad_remove(other, sum, COUNT);
    clo_pad_remove(key, sum, COUNT);
    for (size_t i = 0; i < COUNT; i++)
        assert_true((uint64_t)sum[i] ==
                    (uint64_t)((int64_t)i - 700) + (uint64_t)(i % 2 ? INT64_MAX : INT64_MIN));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(workers_make_the_release_of_one_process),
        cmocka_unit_test(rows_that_change_between_passes_end_the_run),
        cmocka_unit_test(parts_that_have_other_rows_than_was_said_end_the_run),
        cmocka_unit_test(persons_of_one_part_each_are_those_of_one_process),
        cmocka_unit_test(a_person_in_two_parts_is_noticed),
        cmocka_unit_test(bytes_that_are_no_task_are_refused),
        cmocka_unit_test(drivers_have_no_rows_and_plans_are_of_sums),
        cmocka_unit_test(a_pad_is_a_stream_that_can_be_taken_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
