/*
 * block_crew.h - workers that hold the rows of block_runs.h and solve blocks of them (fold.T7), all
 * in this process.
 */
#ifndef CLO_TEST_BLOCK_CREW_H
#define CLO_TEST_BLOCK_CREW_H

#include "block_runs.h"
#include <cloister/worker.h>

enum { PARTS = 3, MOST_GROUPS = 70 };

/* One part is empty, and the others are not alike. */
static const size_t starts[PARTS + 1] = { 0, 250, 250, ROWS };

typedef struct crew {
    clo_worker *workers[PARTS], *nobody;
    clo_bounded *data[PARTS], *nothing;
    clo_worker *moved; /* the last part, with two rows in each other's place ... */
    clo_bounded *moved_data;
    size_t moved_for; /* ... which is what this group gets of it, and later ones */
    size_t groups;
    int passes, solved;
    bool spoil; /* a packet that is short of a word */
    void (*begin)(
        uint64_t n); /* called with `fail_at` when all is ready to run; NULL: nothing is */
    uint64_t fail_at;
} crew;

static clo_status fold_all(void *user, const void *task, size_t bytes, int64_t *totals,
                           size_t count)
{
    crew *const c = user;
    c->passes++;
    assert_int_equal(clo_task_numbers(task, bytes), count);
    for (size_t i = 0; i < PARTS; i++) {
        const clo_status status = clo_worker_fold(c->workers[i], task, bytes, totals, count, NULL);
        if (status) return status;
    }
    return CLO_OK;
}

/* The packets of one group, by parts that deal all of them, or those that are asked for. */
static clo_status gather(const crew *c, const void *task, size_t bytes, const uint32_t *block_of,
                         size_t group, clo_packet *out)
{
    static clo_packet all[MOST_GROUPS];
    clo_error err;
    for (size_t i = 0; i < PARTS; i++) {
        clo_worker *const part =
            i == 2 && c->moved && group >= c->moved_for ? c->moved : c->workers[i];
        const size_t slots = clo_worker_slots(part);
        const bool one = group % 2 == 0;
        const clo_status status =
            clo_worker_deal(part, task, bytes, block_of, slots, one ? group : 0,
                            one ? 1 : c->groups, c->groups, all, &err);
        if (status) return status;
        for (size_t g = 0; g < (one ? 1 : c->groups); g++) {
            if (one || g == group)
                out[i] = all[g];
            else
                clo_packet_free(&all[g]);
        }
        block_of += slots;
    }
    return CLO_OK;
}

static clo_status solve_all(void *user, const void *task, size_t bytes, const uint32_t *block_of,
                            uint64_t slots, int64_t *totals, size_t count)
{
    crew *const c = user;
    clo_status status = CLO_OK;
    assert_int_equal(slots, clo_worker_slots(c->workers[0]) + clo_worker_slots(c->workers[1]) +
                                clo_worker_slots(c->workers[2]));
    assert_int_equal(clo_task_numbers(task, bytes), count);
    c->solved++;
    for (size_t g = 0; g < c->groups && !status; g++) {
        clo_packet packets[PARTS] = { { .words = NULL } };
        status = gather(c, task, bytes, block_of, g, packets);
        packets[0].count -= c->spoil;
        if (!status)
            status = clo_worker_solve(c->nobody, task, bytes, g, c->groups, packets, PARTS, totals,
                                      count, NULL);
        packets[0].count += c->spoil;
        for (size_t i = 0; i < PARTS; i++) clo_packet_free(&packets[i]);
    }
    return status;
}

static void hire(crew *c, const clo_plan *plan, const clo_domain *domain, int threads)
{
    clo_domain part = *domain;
    clo_error err;
    part.rows = 0;
    *c = (crew){ .groups = 1 };
    for (size_t i = 0; i < PARTS; i++) {
        c->data[i] = bounded_from(values + starts[i] * D, starts[i + 1] - starts[i], &part);
        assert_ok(clo_worker_new(plan, c->data[i], threads, &c->workers[i], &err), err);
    }
    c->nothing = bounded_from(values, 0, &part);
    assert_ok(clo_worker_new(plan, c->nothing, threads, &c->nobody, &err), err);
}

static void dismiss(crew *c)
{
    for (size_t i = 0; i < PARTS; i++) {
        clo_worker_free(c->workers[i]);
        clo_bounded_free(c->data[i]);
    }
    clo_worker_free(c->nobody);
    clo_bounded_free(c->nothing);
    clo_worker_free(c->moved);
    clo_bounded_free(c->moved_data);
}

static clo_status drive(crew *c, const clo_plan *plan, const clo_persons *persons,
                        clo_release **out, clo_error *err)
{
    clo_workers workers = clo_workers_default();
    clo_run_options options = clo_run_options_default();
    clo_grant *grant = NULL;
    workers.fold = fold_all;
    workers.solve = solve_all;
    workers.user = c;
    options.workers = &workers;
    options.persons = persons;
    clo_rng *const rng = seeded("workers");
    assert_ok(clo_grant_unmetered(plan, &grant, err), *err);
    if (c->begin) c->begin(c->fail_at);
    const clo_status status = clo_run(plan, grant, c->nothing, rng, &options, out, err);
    clo_grant_free(grant);
    clo_rng_free(rng);
    return status;
}

#endif
