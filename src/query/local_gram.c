/*
 * local_gram.c - the Gram matrix of all records about a released centre, each difference cut to a
 * released width, as one Gaussian query (local_gram.T1).
 *
 * A Gram matrix of the records themselves pays for a record anywhere in the ball, and most of what
 * it shows is where their mean is.  About the mean, and cut to about their spread, every record
 * says its direction as loudly as it may: the noise is that of a ball of the spread.
 *
 * The matrix chooses directions, which a coarse grid tells as well as a fine one.  So differences
 * are rounded to R = 2^8 steps a width: rows of 16-bit integers, whose products are added up in 32
 * bits, exactly, at four times the speed of doubles (local_gram.T3).
 */
#include "query/local_gram.h"
#include "query/queries.h"
#include "bound/bound.h"
#include "linalg/linalg.h"
#include "ask/fold.h"
#include "query/local_sum.h"
#include "query/triangle.h"
#include <math.h>
#include <omp.h>
#include <string.h>

enum { READ_BITS = 20, BITS = 8 };
/* Rows of a block, and blocks that are added up in 32 bits. */
enum { BLOCK = CLO_SHORT_ROWS, EXACT_BLOCKS = 127 };
_Static_assert(((uint64_t)EXACT_BLOCKS * BLOCK << (2 * BITS)) < (uint64_t)1 << 31, "32 bits");
static const uint64_t SQUARE = (uint64_t)1 << (2 * BITS);
static const uint64_t WIDEST = (uint64_t)CLO_LOCAL_WIDEST << READ_BITS;
static const double FARTHEST_CENTER = 2; /* in radii: distances stay below CLO_LOCAL_WIDEST */

/* ---- the plan ------------------------------------------------------------------------------- */

clo_status clo_i_plan_local_gram(const clo_domain *domain, double mu, uint64_t times,
                                 const char *label, clo_line *out, clo_error *err)
{
    clo_line line = { .query = &clo_i_query_local_gram,
                      .label = label,
                      .bits = READ_BITS,
                      .cols = domain->cols,
                      .groups = 1 };
    CLO_TRY(clo_i_plan_triangles(domain, SQUARE, mu, times, &line, err));
    line.noise = clo_i_local_gram_deviation(&line); /* in squared widths, which the run finds */
    *out = line;
    return CLO_OK;
}

double clo_i_local_gram_deviation(const clo_line *line)
{
    return (double)line->scale / (double)SQUARE;
}

/* ---- what a record adds --------------------------------------------------------------------- */

/* The first entry of largest magnitude goes one step toward zero, until the record is in the ball.
 */
__attribute__((always_inline)) static inline void step_in(int16_t *steps, size_t cols,
                                                          int32_t square)
{
    while (square > (int32_t)SQUARE) {
        int16_t most = 0, at = INT16_MAX; /* of at most 4096 columns */
#pragma omp simd reduction(max : most)
        for (size_t j = 0; j < cols; j++) {
            const int16_t size = (int16_t)(steps[j] < 0 ? -steps[j] : steps[j]);
            most = size > most ? size : most;
        }
#pragma omp simd reduction(min : at)
        for (size_t j = 0; j < cols; j++) {
            const int16_t size = (int16_t)(steps[j] < 0 ? -steps[j] : steps[j]);
            const int16_t here = size == most ? (int16_t)j : INT16_MAX;
            at = here < at ? here : at;
        }
        square -= 2 * most - 1;
        steps[at] = (int16_t)(steps[at] > 0 ? steps[at] - 1 : steps[at] + 1);
    }
}

/* local_gram.T2: the difference to the centre in steps of the width, inside the ball. */
__attribute__((always_inline)) static inline void
take_steps(const double *record, const double *center, size_t cols, uint64_t width, int16_t *steps)
{
    const double square = clo_i_square_apart(record, center, cols);
    const uint64_t distance = (uint64_t)ceil(sqrt(square));
    const uint64_t divisor = distance > width ? distance : width;
    const double factor = (double)(((uint64_t)1 << 50) / divisor) * 0x1p-42; /* exact */
    int32_t length = 0;
#pragma omp simd reduction(+ : length)
    for (size_t j = 0; j < cols; j++) {
        const double share = (record[j] - center[j]) * factor;
        const int32_t step = (int32_t)(share + copysign(0.5, share));
        length += step * step;
        steps[j] = (int16_t)step;
    }
    step_in(steps, cols, length);
}

typedef struct work {
    int16_t *rows;     /* a thread: two rows, on their way into the block */
    int16_t *block;    /* a thread: the records that wait, as clo_i_short_pair lays them */
    int32_t *products; /* a thread: what blocks have given since they were last moved on */
    double *sums;      /* a thread: the triangle, packed */
    size_t *waiting;   /* a thread: rows of the block */
    size_t *blocks;    /* a thread: in the products */
    uint8_t *classes;  /* of the totals, for whoever asks */
    clo_short_kernel kernel;
} work;
CLO_FOLD_WORK_OF(work)

/* What products hold goes on to the sums. */
static void move_on(clo_fold *fold, size_t t)
{
    const size_t cols = fold->seen, width = clo_i_short_width(cols);
    const work *const w = work_of(fold);
    int32_t *const products = w->products + t * width * width;
    double *sums = w->sums + t * clo_i_triangle(cols);
    for (size_t i = 0; i < cols; sums += cols - i, i++) {
        const int32_t *const row = products + i * width + i;
#pragma omp simd
        for (size_t j = 0; j < cols - i; j++) sums[j] += row[j];
    }
    memset(products, 0, width * width * sizeof *products);
    w->blocks[t] = 0;
}

/* local_gram.T3.  The rest of the last pair is an empty row. */
static void add_waiting(clo_fold *fold, size_t t)
{
    const size_t cols = fold->seen, width = clo_i_short_width(cols);
    const work *const w = work_of(fold);
    int16_t *const rows = w->rows + 2 * t * width, *const block = w->block + t * BLOCK * width;
    const size_t count = w->waiting[t];
    /* Where one thread adds all rows, the others help with the columns. */
    const int sharing = clo_i_triangles_threads(fold->line, 2) == 1 ? omp_get_max_threads() : 1;
    if (count % 2) {
        memset(rows + width, 0, width * sizeof *rows);
        clo_i_short_pair(rows, rows + width, count / 2, cols, block);
    }
    clo_i_gram_short_add(block, (count + 1) / 2, cols, sharing, w->kernel,
                         w->products + t * width * width);
    w->waiting[t] = 0;
    if (++w->blocks[t] == EXACT_BLOCKS) move_on(fold, t);
}

CLO_WIDE static void take_rows(const double *values, const double *center, size_t first,
                               size_t count, size_t cols, uint64_t width, int16_t *rows,
                               int16_t *block)
{
    const size_t stride = clo_i_short_width(cols);
    for (size_t i = 0; i < count; i++) {
        const size_t odd = (first + i) % 2;
        take_steps(values + i * cols, center, cols, width, rows + odd * stride);
        if (odd) clo_i_short_pair(rows, rows + stride, (first + i) / 2, cols, block);
    }
}

static clo_status add_block(void *user, int thread, size_t number, const double *values,
                            size_t rows)
{
    clo_fold *const fold = user;
    const work *const w = work_of(fold);
    const clo_assign *const rule = fold->ask->rules;
    const size_t cols = fold->seen, t = (size_t)thread, width = clo_i_short_width(cols);
    (void)number;
    for (size_t done = 0; done < rows;) {
        const size_t room = BLOCK - w->waiting[t], left = rows - done;
        const size_t count = left < room ? left : room;
        take_rows(values + done * cols, rule->points, w->waiting[t], count, cols,
                  fold->ask->words[0], w->rows + 2 * t * width, w->block + t * BLOCK * width);
        w->waiting[t] += count;
        done += count;
        if (w->waiting[t] == BLOCK) add_waiting(fold, t);
    }
    return CLO_OK;
}

static void gather(clo_fold *fold)
{
    const size_t count = clo_i_triangle(fold->seen);
    const double *const sums = work_of(fold)->sums;
    for (size_t t = 0; t < (size_t)fold->threads; t++) {
        add_waiting(fold, t);
        move_on(fold, t);
        for (size_t e = 0; e < count; e++) fold->totals[e] += (int64_t)sums[t * count + e];
    }
}

/* ---- asking --------------------------------------------------------------------------------- */

static clo_status check(const clo_ask *ask, size_t cols, clo_error *err)
{
    const clo_line *const line = ask->line;
    const double most = FARTHEST_CENTER * ldexp(1, READ_BITS);
    (void)cols;
    if (ask->rule_count == 1 && ask->rules->kind == CLO_ASSIGN_CENTERS &&
        clo_i_assign_fits(ask->rules, 1, line->cols, line->bits) &&
        ask->rules->offsets[0] <= most * most && ask->word_count == 1 && ask->words[0] >= 1 &&
        ask->words[0] <= WIDEST)
        return CLO_OK;
    return clo_i_fail(err, CLO_INTERNAL, "the center or the width is not one of the plan's");
}

static clo_status lay_out(clo_fold *fold, clo_workspace *space, clo_error *err)
{
    const size_t threads = (size_t)fold->threads, cols = fold->seen;
    const size_t width = clo_i_short_width(cols);
    work *const w = work_of(fold);
    w->kernel = clo_i_short_best();
    CLO_TRY(clo_i_take(space, threads * 2 * width, sizeof(int16_t), &w->rows, err));
    CLO_TRY(clo_i_take(space, threads * BLOCK * width, sizeof(int16_t), &w->block, err));
    CLO_TRY(clo_i_take(space, threads * width * width, sizeof(int32_t), &w->products, err));
    CLO_TRY(clo_i_take(space, threads * clo_i_triangle(cols), sizeof(double), &w->sums, err));
    CLO_TRY(clo_i_take(space, threads, sizeof(size_t), &w->waiting, err));
    CLO_TRY(clo_i_take(space, threads, sizeof(size_t), &w->blocks, err));
    return clo_i_take(space, clo_i_triangle(cols), sizeof *w->classes, &w->classes, err);
}

static clo_status lay_out_told(const clo_line *line, clo_workspace *space, clo_error *err)
{
    return clo_i_assign_room(space, CLO_ASSIGN_CENTERS, 1, line->cols, 0, err);
}

static clo_status ask_with(clo_context *context, size_t number, const clo_bounded *data,
                           const clo_ask *told, double *gram, clo_error *err)
{
    clo_sum sum;
    CLO_TRY(clo_i_sum_begin(context, number, &clo_i_query_local_gram, data, told, &sum, err));
    clo_status status = clo_i_sum_fold(&sum, err);
    if (!status)
        status =
            clo_i_answer_triangles(&sum, work_of(&sum.fold)->classes, (double)SQUARE, gram, err);
    clo_i_sum_end(&sum);
    return status;
}

clo_status clo_i_ask_local_gram(clo_context *context, size_t number, const clo_bounded *data,
                                const double *center, double width, double *gram, clo_error *err)
{
    const size_t mark = clo_i_workspace_begin_ask(context->workspace);
    const size_t cols = context->meter->lines[number].cols;
    const double steps = fmin(fmax(nearbyint(ldexp(width, READ_BITS)), 1), (double)WIDEST);
    const uint64_t word = (uint64_t)steps;
    clo_assign rule;
    clo_status status =
        clo_i_assign_centers(context->workspace, center, 1, cols, READ_BITS, &rule, err);
    const clo_ask told = { .rules = &rule, .rule_count = 1, .words = &word, .word_count = 1 };
    if (!status) status = ask_with(context, number, data, &told, gram, err);
    clo_i_workspace_release(context->workspace, mark);
    return status;
}

const clo_query clo_i_query_local_gram = {
    .name = "local_gram",
    .reading = CLO_READING_SUM,
    .numbers = clo_i_triangles_numbers,
    .symmetric = true,
    .lay_out = lay_out,
    .sum = {
        .threads = clo_i_triangles_threads,
        .check = check,
        .entries = clo_i_triangles_entries,
        .lay_out_told = lay_out_told,
        .add = add_block,
        .gather = gather,
    },
};
