/*
 * worker.c - a part of the rows and what it answers: a pure function of a task and of these rows.
 *
 * A worker keeps no count of what it was asked, since a task may be folded twice (a retry, a second
 * machine) and mean one ask: the driver's meter counts (meter.T1), and nothing but the driver's
 * noised answers leaves the operator's side (fold.T4).
 */
#include "plan/run_on_workers.h"
#include "parallel/parallel.h"
#include "ask/lens.h"
#include <string.h>

struct clo_worker {
    const clo_plan *plan;
    const clo_bounded *data;
    clo_bounded *seen; /* the rows as they are looked at while a plan learns; NULL: it does not */
    clo_workspace *workspace;
    int threads;
};

clo_status clo_worker_new(const clo_plan *plan, const clo_bounded *data, int threads,
                          clo_worker **out, clo_error *err)
{
    clo_worker *worker = NULL;
    CLO_TRY(clo_i_check_part(plan, data, threads, err));
    CLO_TRY(clo_i_alloc(1, sizeof *worker, &worker, err));
    *worker = (clo_worker){ .plan = plan, .data = data, .threads = clo_i_threads(threads) };
    clo_status status = clo_workspace_new(
        clo_i_plan_workspace(plan, data, NULL, worker->threads, 0), &worker->workspace, err);
    if (!status && plan->steps)
        status =
            clo_i_recenter_take(worker->workspace, data, plan->learning.center, &worker->seen, err);
    if (status)
        clo_worker_free(worker);
    else
        *out = worker;
    return status;
}

void clo_worker_free(clo_worker *worker)
{
    if (!worker) return;
    clo_bounded_free(worker->seen);
    clo_workspace_free(worker->workspace);
    clo_i_free(worker);
}

/* ---- tasks ----------------------------------------------------------------------------- */

typedef struct pieces {
    clo_i_task_head head;
    const uint8_t *place, *ask, *seeds;
} pieces;

/* False where the bytes are no task: lengths are compared with what is left before they are used.
 */
static bool take_apart(const void *task, size_t bytes, pieces *out)
{
    size_t left = bytes;
    if (bytes < sizeof out->head || (uintptr_t)task % 8 != 0) return false;
    memcpy(&out->head, task, sizeof out->head);
    left -= sizeof out->head;
    if (out->head.form != CLO_TASK_FORM || out->head.place_bytes % 8 != 0) return false;
    if (out->head.place_bytes > left) return false;
    left -= (size_t)out->head.place_bytes;
    if (out->head.ask_bytes > left || out->head.ask_bytes % 8 != 0) return false;
    left -= (size_t)out->head.ask_bytes;
    if (out->head.seed_bytes > left) return false;
    out->place = (const uint8_t *)task + sizeof out->head;
    out->ask = out->place + out->head.place_bytes;
    out->seeds = out->ask + out->head.ask_bytes;
    return true;
}

size_t clo_task_numbers(const void *task, size_t bytes)
{
    pieces p;
    if (!take_apart(task, bytes, &p)) return 0;
    if (!p.head.ask_bytes) return CLO_ROW_HASH_NUMBERS;
    const size_t entries = clo_i_asked_numbers(p.ask, (size_t)p.head.ask_bytes);
    return entries ? entries + CLO_ROW_HASH_NUMBERS : 0;
}

/* From where the driver looks at the rows by now. */
static clo_status look(clo_worker *worker, const pieces *p, const clo_bounded **rows,
                       clo_error *err)
{
    *rows = worker->data;
    if (!p->head.place_bytes) return CLO_OK;
    if (!worker->seen) return clo_i_fail(err, CLO_FORMAT, "this plan learns nothing");
    CLO_TRY(clo_i_look_for_rank_0(worker->plan, worker->data, p->place, (size_t)p->head.place_bytes,
                                  worker->seen, err));
    *rows = worker->seen;
    return CLO_OK;
}

/* A meter of its own for each task, which may be done again. */
static clo_context context_of(const clo_worker *worker, clo_meter *meter)
{
    const clo_plan *const plan = worker->plan;
    *meter = (clo_meter){ .lines = plan->lines, .count = plan->line_count };
    return (clo_context){ .workspace = worker->workspace,
                          .threads = worker->threads,
                          .progress_to = 1,
                          .meter = meter,
                          .open_blocks = plan->mechanism->open_blocks,
                          .plan = plan->state };
}

static clo_status fold(clo_worker *worker, const pieces *p, int64_t *sums, size_t entries,
                       clo_error *err)
{
    clo_meter meter;
    clo_context context = context_of(worker, &meter);
    const clo_bounded *rows = NULL;
    uint64_t row_hash[CLO_ROW_HASH_NUMBERS];
    const size_t mark_of_space = clo_i_workspace_mark(worker->workspace);
    CLO_TRY(look(worker, p, &rows, err));
    if (p->head.ask_bytes) {
        const clo_status status =
            clo_i_fold_bytes(&context, rows, p->ask, (size_t)p->head.ask_bytes, sums, entries, err);
        clo_i_workspace_release(worker->workspace, mark_of_space);
        CLO_TRY(status);
    }
    CLO_TRY(clo_i_hash_rows(worker->data, p->head.row_hash_key, worker->threads, row_hash, err));
    memcpy(sums + entries, row_hash, sizeof row_hash);
    return CLO_OK;
}

clo_status clo_worker_fold(clo_worker *worker, const void *task, size_t bytes, int64_t *totals,
                           size_t count, clo_error *err)
{
    pieces p;
    int64_t *sums = NULL;
    if (!take_apart(task, bytes, &p) || count == 0 || clo_task_numbers(task, bytes) != count)
        return clo_i_fail(err, CLO_FORMAT, "these bytes are no task with so many numbers");
    CLO_TRY(clo_i_alloc(count, sizeof *sums, &sums, err));
    const clo_status status = fold(worker, &p, sums, count - CLO_ROW_HASH_NUMBERS, err);
    for (size_t i = 0; i < count && !status; i++)
        totals[i] = (int64_t)((uint64_t)totals[i] + (uint64_t)sums[i]);
    clo_i_wipe_free(sums, count * sizeof *sums);
    return status;
}

/* ---- blocks (fold.T7) ---------------------------------------------------------------------- */

size_t clo_worker_slots(const clo_worker *worker)
{
    return clo_i_row_slots(worker->data);
}

clo_status clo_worker_deal(clo_worker *worker, const void *task, size_t bytes,
                           const uint32_t *block_of, size_t slots, size_t first, size_t count,
                           size_t groups, clo_packet *out, clo_error *err)
{
    const clo_bounded *rows = NULL;
    clo_meter meter;
    clo_context context = context_of(worker, &meter);
    pieces p;
    if (!take_apart(task, bytes, &p) || groups < 1 || count < 1 || first >= groups ||
        count > groups - first)
        return clo_i_fail(err, CLO_FORMAT, "these bytes are no task of blocks");
    const clo_dealing how = { .block_of = block_of,
                              .slots = slots,
                              .first = first,
                              .count = count,
                              .groups = groups,
                              .row_hash_key = p.head.row_hash_key };
    const size_t mark = clo_i_workspace_mark(worker->workspace);
    CLO_TRY(look(worker, &p, &rows, err));
    const clo_status status = clo_i_deal_bytes(&context, rows, worker->data, p.ask,
                                               (size_t)p.head.ask_bytes, &how, out, err);
    clo_i_workspace_release(worker->workspace, mark);
    return status;
}

void clo_packet_free(clo_packet *packet)
{
    clo_i_packets_free(packet, 1);
}

static clo_status solve(clo_worker *worker, const pieces *p, clo_packets *given, clo_error *err)
{
    clo_meter meter;
    clo_context context = context_of(worker, &meter);
    const clo_bounded *rows = NULL;
    const size_t mark = clo_i_workspace_mark(worker->workspace);
    context.packets = given;
    CLO_TRY(look(worker, p, &rows, err)); /* a place that is none ends it here, too */
    const clo_status status =
        clo_i_solve_bytes(&context, rows, p->ask, (size_t)p->head.ask_bytes, err);
    clo_i_workspace_release(worker->workspace, mark);
    return status;
}

clo_status clo_worker_solve(clo_worker *worker, const void *task, size_t bytes, size_t group,
                            size_t groups, const clo_packet *packets, size_t packet_count,
                            int64_t *totals, size_t count, clo_error *err)
{
    pieces p;
    int64_t *sums = NULL;
    if (!take_apart(task, bytes, &p) || count <= CLO_ROW_HASH_NUMBERS || group >= groups ||
        clo_task_numbers(task, bytes) != count)
        return clo_i_fail(err, CLO_FORMAT, "these bytes are no task with so many numbers");
    CLO_TRY(clo_i_alloc(count, sizeof *sums, &sums, err));
    clo_packets given = { .group = group,
                          .groups = groups,
                          .packets = packets,
                          .count = packet_count,
                          .seeds = p.seeds,
                          .seed_bytes = (size_t)p.head.seed_bytes,
                          .totals = sums,
                          .entries = count - CLO_ROW_HASH_NUMBERS };
    const clo_status status = solve(worker, &p, &given, err);
    memcpy(sums + given.entries, given.row_hash, sizeof given.row_hash);
    for (size_t i = 0; i < count && !status; i++)
        totals[i] = (int64_t)((uint64_t)totals[i] + (uint64_t)sums[i]);
    clo_i_wipe_free(sums, count * sizeof *sums);
    clo_i_wipe(given.row_hash, sizeof given.row_hash);
    return status;
}
