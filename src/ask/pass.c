/*
 * pass.c - one pass over the data, block by block, on several threads.
 *
 * What a visitor adds up are exact integers, so the order of the blocks cannot show in the sums.
 */
#include "ask/lens_cache.h"
#include "ask/lens.h"
#include "ask/query_steps.h"
#include "bound/bound.h"
#include "parallel/parallel.h"
#include <omp.h>
#include <stdatomic.h>

/* Through a sketch records are not written out: a block is as long as what is seen allows. */
static bool is_sketched(const clo_context *context)
{
    return context->lens && context->lens->places;
}

size_t clo_i_pass_block_rows(const clo_context *context, const clo_bounded *data)
{
    const size_t cols =
        is_sketched(context) ? context->lens->cols : clo_i_bounded_domain(data)->cols;
    return clo_i_block_rows(cols, context->block_rows);
}

size_t clo_i_pass_scratch(const clo_context *context, const clo_bounded *data, int threads)
{
    const size_t whole = is_sketched(context) ? 0 : clo_i_bounded_domain(data)->cols;
    const size_t cols = whole + (context->lens ? context->lens->cols : 0);
    return clo_i_pass_block_rows(context, data) * cols * (size_t)threads;
}

size_t clo_i_pass_cols(const clo_context *context, const clo_bounded *data)
{
    return context->lens ? context->lens->cols : clo_i_bounded_domain(data)->cols;
}

/* One block as the visitor is to see it; `values` has room for the records and, behind them, for
 * what a lens shows of them. */
static clo_status load(const clo_context *context, const clo_bounded *data, clo_keeping keeping,
                       size_t block, size_t block_rows, int bits, double *values,
                       const double **seen, size_t *rows)
{
    const clo_lens *const lens = context->lens;
    *seen = values;
    if (keeping == CLO_KEEP_READ) {
        const size_t first = block * block_rows, left = clo_i_bounded_rows(data) - first;
        *rows = left < block_rows ? left : block_rows;
        clo_i_kept_read(context->kept, first, *rows, values);
        return CLO_OK;
    }
    if (is_sketched(context)) {
        const size_t first = block * block_rows, left = clo_i_bounded_rows(data) - first;
        *rows = left < block_rows ? left : block_rows;
        clo_i_sketch_rows(lens, data, first, *rows, bits, values);
        return CLO_OK;
    }
    CLO_TRY(
        clo_i_block_load(data, block, block_rows, lens ? CLO_GRID_BITS : bits, values, rows, NULL));
    if (lens) {
        double *const shown = values + block_rows * lens->from;
        clo_i_lens_apply(lens, values, *rows, bits, shown);
        *seen = shown;
        if (keeping == CLO_KEEP_FILL)
            clo_i_kept_fill(context->kept, block * block_rows, *rows, shown);
    }
    return CLO_OK;
}

clo_status clo_i_tell_progress(const clo_context *context, double share, clo_error *err)
{
    const double from = context->progress_from, to = context->progress_to;
    if (!context->progress || context->progress(context->user, from + share * (to - from)))
        return CLO_OK;
    return clo_i_fail(err, CLO_CANCELLED, "the run was stopped on request");
}

/* What all threads of a pass share. */
typedef struct pass {
    clo_context *context;
    const clo_bounded *data;
    clo_visit *visit;
    void *user;
    double *scratch;
    size_t block_rows, blocks, cells;
    int bits;
    clo_keeping keeping;
    _Atomic int failure;
} pass;

/* One thread's share of the blocks: the same ones each time for the same number of threads. */
static void pass_share(pass *p, int thread, int team)
{
    /* The first thread, which says how far it has come, always has some. */
    const size_t share = (p->blocks + (size_t)team - 1) / (size_t)team;
    const size_t wanted = share * (size_t)thread;
    const size_t first = wanted < p->blocks ? wanted : p->blocks;
    const size_t end = p->blocks - first < share ? p->blocks : first + share;
    double *const values = p->bits ? p->scratch + p->cells * (size_t)thread : NULL;
    for (size_t b = first; b < end && !atomic_load(&p->failure); b++) {
        const double *seen = NULL;
        size_t rows = 0;
        clo_status mine = CLO_OK;
        if (p->bits)
            mine = load(p->context, p->data, p->keeping, b, p->block_rows, p->bits, values, &seen,
                        &rows);
        if (!mine) mine = p->visit(p->user, thread, b, seen, rows);
        if (!mine && thread == 0)
            mine = clo_i_tell_progress(p->context, (double)b * team / (double)p->blocks, NULL);
        if (mine) atomic_store(&p->failure, (int)mine);
    }
}

clo_status clo_i_pass(clo_context *context, const clo_bounded *data, int bits, int threads,
                      double *scratch, clo_visit *visit, void *user, clo_error *err)
{
    const size_t block_rows = clo_i_pass_block_rows(context, data);
    pass p = { .context = context,
               .data = data,
               .visit = visit,
               .user = user,
               .scratch = scratch,
               .block_rows = block_rows,
               .blocks = clo_i_block_count(data, block_rows),
               .cells = clo_i_pass_scratch(context, data, 1),
               .bits = bits };
    if (clo_i_bounded_is_streamed(data))
        return clo_i_fail(err, CLO_INTERNAL, "a pass over rows that are not held");
    if (context->lens && context->lens->from != clo_i_bounded_domain(data)->cols)
        return clo_i_fail(err, CLO_INTERNAL, "the lens is made for other records");
    if (bits) p.keeping = clo_i_kept_begin(context->kept, context->lens, data, bits);
    if (threads == 1) { /* no team of one: within another region the runtime makes it anew */
        pass_share(&p, 0, 1);
    } else {
#pragma omp parallel num_threads(threads)
        pass_share(&p, omp_get_thread_num(), omp_get_num_threads());
    }
    const clo_status status = (clo_status)atomic_load(&p.failure);
    if (status == CLO_CANCELLED) return clo_i_fail(err, status, "the run was stopped on request");
    if (status) return clo_i_fail(err, status, "a pass over the data failed");
    if (p.keeping == CLO_KEEP_FILL) context->kept->whole = true;
    return CLO_OK;
}
