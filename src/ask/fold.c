/*
 * fold.c - an ask of a sum, from its charge to its totals, on this rank and on the others.
 *
 * Rank 0 asks: it tells the other ranks what is asked, all of them fold their rows and add up, and
 * rank 0 answers with noise (add_noise.c).  A rank that could not fold says so in one more number
 * of the same sum, so that no rank waits for another that has given up (fold.T1, fold.T2).
 */
#include "ask/fold.h"
#include "bound/bound.h"
#include "parallel/parallel.h"
#include "ask/blocks.h"
#include "ask/lens_cache.h"
#include "ask/lens.h"

/* ---- room ---------------------------------------------------------------------------------- */

static clo_fold size_fold(const clo_line *line, size_t cols, size_t block_rows, int threads)
{
    const clo_query *const query = line->query;
    const size_t seen = line->cols ? line->cols : cols;
    return (clo_fold){ .line = line,
                       .cols = cols,
                       .seen = seen,
                       .block_rows =
                           clo_i_block_rows(line->lens == CLO_SKETCH ? seen : cols, block_rows),
                       .threads =
                           query->sum.threads ? query->sum.threads(line, threads) : threads };
}

size_t clo_i_fold_entries(const clo_ask *ask, size_t cols)
{
    return ask->line->query->sum.entries(ask->line, cols, ask);
}

/* The noise of an answer comes in waves, which take room beside the rest. */
static clo_status count_answer(const clo_fold *fold, clo_workspace *space, clo_error *err)
{
    const clo_query *const query = fold->line->query;
    size_t count = query->numbers(fold->line).noised;
    int64_t *drawn;
    if (query->sum.entries && fold->entries < count) count = fold->entries;
    return count ? clo_i_answer_lay_out(space, count, &drawn, err) : CLO_OK;
}

/* Totals and one number more, for the ranks that could not fold. */
static clo_status take_totals(clo_fold *fold, clo_workspace *space, clo_error *err)
{
    fold->entries = fold->line->query->sum.entries(fold->line, fold->cols, fold->ask);
    return clo_i_take(space, fold->entries + 1, sizeof *fold->totals, &fold->totals, err);
}

static clo_status take_work(clo_fold *fold, clo_workspace *space, clo_error *err)
{
    const size_t records = fold->line->lens == CLO_SKETCH ? 0 : fold->cols;
    const size_t cells = records + (fold->line->lens ? fold->line->cols : 0);
    CLO_TRY(fold->line->query->lay_out(fold, space, err));
    return clo_i_take(space, (size_t)fold->threads * fold->block_rows * cells, sizeof(double),
                      &fold->scratch, err);
}

static clo_status room_of_blocks(const clo_line *line, const clo_bounded *data,
                                 const clo_ranks *ranks, clo_workspace *space, clo_error *err)
{
    const size_t blocks = line->query->blocks.count(line), rows = clo_i_bounded_slots(data);
    return ranks && ranks->size > 1 ? clo_i_rank_blocks_room(line, blocks, rows, ranks, space, err)
                                    : clo_i_division_room(line, blocks, rows, space, err);
}

clo_status clo_i_query_room(clo_workspace *space, const clo_line *line, size_t cols,
                            const clo_bounded *data, const clo_ranks *ranks, size_t block_rows,
                            int threads, clo_error *err)
{
    const clo_query *const query = line->query;
    const size_t mark = clo_i_workspace_mark(space);
    clo_fold fold = size_fold(line, cols, block_rows, threads);
    if (query->sum.lay_out_told) CLO_TRY(query->sum.lay_out_told(line, space, err));
    if (query->sum.entries) CLO_TRY(take_totals(&fold, space, err));
    CLO_TRY(take_work(&fold, space, err));
    if (data && query->blocks.count) CLO_TRY(room_of_blocks(line, data, ranks, space, err));
    if (data && query->lay_out_rows)
        CLO_TRY(query->lay_out_rows(line, clo_i_bounded_slots(data), space, err));
    CLO_TRY(count_answer(&fold, space, err));
    clo_i_workspace_release(space, mark);
    return CLO_OK;
}

/* ---- folding ------------------------------------------------------------------------------- */

/* Rows that are not held come part by part, and the share of the pass that a part is says how far
 * it has come. */
typedef struct parts {
    clo_context *context;
    clo_fold *fold;
    int bits;
    double from, to;   /* what the pass is of the run */
    double all, shown; /* rows */
} parts;

static clo_status fold_part(void *user, const clo_bounded *part, clo_error *err)
{
    parts *const p = user;
    clo_context *const context = p->context;
    const double each = p->all > 0 ? (p->to - p->from) / p->all : 0;
    context->progress_from = p->from + each * p->shown;
    p->shown += (double)clo_i_bounded_rows(part);
    context->progress_to = p->from + each * p->shown;
    p->fold->data = part;
    return clo_i_pass(context, part, p->bits, p->fold->threads, p->fold->scratch,
                      p->fold->line->query->sum.add, p->fold, err);
}

/* flow.T1: of rows that are not held, the sum over the parts. */
static clo_status fold_rows(clo_context *context, clo_fold *fold, clo_error *err)
{
    const clo_query *const query = fold->line->query;
    const clo_bounded *const all = fold->data;
    parts p = { .context = context,
                .fold = fold,
                .bits = query->sum.bits ? query->sum.bits(fold->ask) : fold->line->bits,
                .from = context->progress_from,
                .to = context->progress_to,
                .all = (double)clo_i_bounded_rows(all) };
    const clo_status status = clo_i_bounded_each(all, fold_part, &p, err);
    fold->data = all;
    context->progress_from = p.from;
    context->progress_to = p.to;
    CLO_TRY(status);
    query->sum.gather(fold);
    return CLO_OK;
}

clo_status clo_i_fold(clo_context *context, const clo_ask *ask, const clo_bounded *data,
                      int64_t *totals, clo_error *err)
{
    const size_t cols = clo_i_bounded_domain(data)->cols;
    const size_t mark = clo_i_workspace_mark(context->workspace);
    const clo_lens *const before = context->lens;
    clo_fold fold = size_fold(ask->line, cols, context->block_rows, context->threads);
    fold.ask = ask;
    fold.data = data;
    fold.totals = totals;
    fold.entries = clo_i_fold_entries(ask, cols);
    CLO_TRY(ask->line->query->sum.check(ask, cols, err));
    context->lens = ask->lens;
    clo_status status = take_work(&fold, context->workspace, err);
    if (!status) status = fold_rows(context, &fold, err);
    context->lens = before;
    clo_i_workspace_release(context->workspace, mark);
    return status;
}

size_t clo_i_asked_numbers(const uint8_t *bytes, size_t count)
{
    return clo_i_ask_entries(bytes, count);
}

/* An ask of one of this rank's own lines, charged to its own meter (meter.T1); where it fails there
 * is nothing to free. */
static clo_status take_ask(clo_context *context, size_t cols, const uint8_t *bytes, size_t count,
                           clo_decoded *out, clo_error *err)
{
    const clo_line *line = NULL;
    size_t number = 0;
    CLO_TRY(clo_i_ask_decode(context->meter, cols, bytes, count, out, &number, err));
    context->lens = out->ask.lens;
    const clo_status status = clo_i_meter_charge(context, number, out->ask.line->query, &line, err);
    context->lens = NULL;
    if (status) clo_i_decoded_free(out);
    return status;
}

static clo_status fold_ask(clo_context *context, const clo_bounded *data, const clo_ask *ask,
                           int64_t *totals, size_t entries, clo_error *err)
{
    const size_t cols = clo_i_bounded_domain(data)->cols;
    const bool sum = clo_i_line_reading(ask->line) == CLO_READING_SUM;
    if (sum) CLO_TRY(ask->line->query->sum.check(ask, cols, err));
    if (!sum || clo_i_fold_entries(ask, cols) != entries)
        return clo_i_fail(err, CLO_FORMAT, "these bytes are no ask of this plan");
    return clo_i_fold(context, ask, data, totals, err);
}

clo_status clo_i_fold_bytes(clo_context *context, const clo_bounded *data, const uint8_t *bytes,
                            size_t count, int64_t *totals, size_t entries, clo_error *err)
{
    const size_t cols = clo_i_bounded_domain(data)->cols;
    clo_decoded decoded;
    CLO_TRY(take_ask(context, cols, bytes, count, &decoded, err));
    const clo_status status = fold_ask(context, data, &decoded.ask, totals, entries, err);
    clo_i_decoded_free(&decoded);
    return status;
}

/* Blocks of rows, by this rank, which takes several sums (fold.T6), or by a worker (fold.T7). */
static clo_status help_with_blocks(clo_context *context, const clo_bounded *data,
                                   const clo_ask *ask, clo_error *err)
{
    context->lens = ask->lens;
    const clo_status status = ask->line->query->blocks.help(context, ask, data, err);
    context->lens = NULL;
    return status;
}

/* An ask in blocks, out of bytes; to be freed. */
static clo_status take_blocks(clo_context *context, size_t cols, const uint8_t *bytes, size_t count,
                              clo_decoded *out, clo_error *err)
{
    CLO_TRY(take_ask(context, cols, bytes, count, out, err));
    if (clo_i_line_reading(out->ask.line) == CLO_READING_BLOCKS) return CLO_OK;
    clo_i_decoded_free(out);
    return clo_i_fail(err, CLO_FORMAT, "these bytes ask for no blocks");
}

clo_status clo_i_deal_bytes(clo_context *context, const clo_bounded *seen, const clo_bounded *rows,
                            const uint8_t *bytes, size_t count, const clo_dealing *how,
                            clo_packet *out, clo_error *err)
{
    clo_decoded decoded;
    CLO_TRY(take_blocks(context, clo_i_bounded_domain(seen)->cols, bytes, count, &decoded, err));
    context->lens = decoded.ask.lens;
    const clo_status status = clo_i_deal_blocks(context, &decoded.ask, seen, rows, how, out, err);
    context->lens = NULL;
    clo_i_decoded_free(&decoded);
    return status;
}

clo_status clo_i_solve_bytes(clo_context *context, const clo_bounded *data, const uint8_t *bytes,
                             size_t count, clo_error *err)
{
    clo_decoded decoded;
    CLO_TRY(take_blocks(context, clo_i_bounded_domain(data)->cols, bytes, count, &decoded, err));
    const clo_status status = help_with_blocks(context, data, &decoded.ask, err);
    clo_i_decoded_free(&decoded);
    return status;
}

/* Adds this rank's numbers up with those of the others, or says that it has none. */
static clo_status add_fold(clo_context *context, const clo_bounded *data, const clo_ask *ask,
                           clo_status ready, size_t entries, clo_error *err)
{
    int64_t *totals = NULL;
    CLO_TRY(clo_i_take(context->workspace, entries + 1, sizeof *totals, &totals, err));
    const clo_status status = ready ? ready : fold_ask(context, data, ask, totals, entries, err);
    if (status) memset(totals, 0, entries * sizeof *totals);
    totals[entries] = status != CLO_OK; /* rank 0 will end the run */
    const clo_status shared =
        clo_i_comm_sum(context->comm, totals, entries + 1, status ? NULL : err);
    return status ? status : shared;
}

clo_status clo_i_fold_for_rank_0(clo_context *context, const clo_bounded *data,
                                 const uint8_t *bytes, size_t count, clo_error *err)
{
    const size_t mark = clo_i_workspace_mark(context->workspace);
    clo_decoded decoded = { .rules = NULL };
    clo_status status =
        data ? take_ask(context, clo_i_bounded_domain(data)->cols, bytes, count, &decoded, err)
             : clo_i_fail(err, CLO_IO, "this rank cannot read its rows");
    const bool blocks = !status && clo_i_line_reading(decoded.ask.line) == CLO_READING_BLOCKS;
    status = blocks ? help_with_blocks(context, data, &decoded.ask, err)
                    : add_fold(context, data, &decoded.ask, status, clo_i_ask_entries(bytes, count),
                               err);
    clo_i_workspace_release(context->workspace, mark);
    clo_i_decoded_free(&decoded);
    return status;
}

/* ---- asking -------------------------------------------------------------------------------- */

clo_status clo_i_sum_begin(clo_context *context, size_t number, const clo_query *query,
                           const clo_bounded *data, const clo_ask *told, clo_sum *out,
                           clo_error *err)
{
    const size_t cols = clo_i_bounded_domain(data)->cols;
    clo_sum sum = { .context = context,
                    .ask = *told,
                    .mark = clo_i_workspace_begin_ask(context->workspace) };
    CLO_TRY(clo_i_meter_charge(context, number, query, &sum.line, err));
    sum.ask.line = sum.line;
    sum.ask.lens = context->lens;
    CLO_TRY(query->sum.check(&sum.ask, cols, err));
    sum.fold = size_fold(sum.line, cols, context->block_rows, context->threads);
    sum.fold.data = data;
    sum.fold.ask = &sum.ask;
    clo_status status = take_totals(&sum.fold, context->workspace, err);
    if (!status) status = take_work(&sum.fold, context->workspace, err);
    if (status)
        clo_i_workspace_release(context->workspace, sum.mark);
    else
        *out = sum;
    return status;
}

/* The other ranks are told, and then fold beside this one. */
static clo_status fold_everywhere(clo_sum *sum, const uint8_t *bytes, size_t count, clo_error *err)
{
    clo_context *const context = sum->context;
    CLO_TRY(clo_i_comm_send(context->comm, CLO_MESSAGE_ASK, bytes, count, err));
    const clo_status mine = fold_rows(context, &sum->fold, err);
    sum->fold.totals[sum->fold.entries] = mine != CLO_OK;
    CLO_TRY(
        clo_i_comm_sum(context->comm, sum->fold.totals, sum->fold.entries + 1, mine ? NULL : err));
    if (mine) return mine;
    if (sum->fold.totals[sum->fold.entries])
        return clo_i_fail(err, CLO_IO, "another rank could not read its rows");
    return CLO_OK;
}

clo_status clo_i_sum_fold(clo_sum *sum, clo_error *err)
{
    clo_context *const context = sum->context;
    const bool alone = context->comm->size == 1;
    clo_decoded decoded = { .rules = NULL };
    uint8_t *bytes = NULL;
    size_t count = 0, number = 0;
    sum->fold.ask = &sum->ask;
#ifndef CLO_FAULT_INJECTION
    if (alone) return fold_rows(context, &sum->fold, err);
#endif
    number = context->meter->first + (size_t)(sum->line - context->meter->lines);
    CLO_TRY(clo_i_ask_encode(&sum->ask, number, sum->fold.entries, &bytes, &count, err));
    /* Every test of the test build asks through bytes, as a worker is asked. */
    clo_status status =
        clo_i_ask_decode(context->meter, sum->fold.cols, bytes, count, &decoded, &number, err);
    const clo_lens *const lens = context->lens;
    if (!status) {
        sum->fold.ask = &decoded.ask;
        context->lens = decoded.ask.lens;
        status =
            alone ? fold_rows(context, &sum->fold, err) : fold_everywhere(sum, bytes, count, err);
        context->lens = lens;
        sum->fold.ask = &sum->ask;
    }
    clo_i_decoded_free(&decoded);
    clo_i_free(bytes);
    return status;
}

void clo_i_sum_end(clo_sum *sum)
{
    clo_i_workspace_release(sum->context->workspace, sum->mark);
}
