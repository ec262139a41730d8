/*
 * gaussian_gram.c - for each cluster the Gram matrix of its records, all in one Gaussian query
 * (gaussian_gram.T1).
 *
 * On the grid of 15 bits with R = 2^15, a record adds r r' to one of the k matrices: |r r'|_F <=
 * R^2, and |r r' - s s'|_F <= sqrt(2) R^2, in one cluster or across two.  The upper triangles are
 * noised, the diagonal with scale s and the rest with ceil(s / sqrt 2): an off-diagonal entry
 * stands for two entries of the matrix (gaussian_gram.T2).
 */
#include "query/parts.h"
#include "base/planted.h"
#include "linalg/linalg.h"
#include "bound/bound.h"
#include <omp.h>
#include <string.h>

enum { BITS = 15, MOST_COLUMNS = 4096, WIDE = 512 };
static const uint64_t SQUARE = (uint64_t)1 << (2 * BITS);
/* A sum of so many products of the grid stays below 2^53 and so is exact in a double. */
static const size_t EXACT_ROWS = (size_t)1 << (53 - 2 * BITS - 1);

clo_status clo_i_plan_gaussian_gram(const clo_domain *domain, size_t clusters, double mu,
                                    uint64_t times, const char *label, clo_slot *out,
                                    clo_error *err)
{
    const unsigned __int128 square = (unsigned __int128)SQUARE * SQUARE;
    const uint64_t one = domain->relation == CLO_REPLACE ? clo_i_root_up(2 * square) : SQUARE;
    const double radius = clo_i_domain_radius(domain);
    clo_slot slot = { .query = CLO_QUERY_gaussian_gram,
                      .label = label,
                      .bits = BITS,
                      .cols = domain->cols,
                      .groups = clusters };
    if (clusters < 1 || clusters > CLO_MAX_CLUSTERS)
        return clo_i_fail(err, CLO_ARGUMENT, "clusters must be between 1 and %d, not %zu",
                          (int)CLO_MAX_CLUSTERS, clusters);
    if (domain->cols > MOST_COLUMNS)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "a Gram matrix takes at most %d columns, not %zu: choose fewer with "
                          "--columns",
                          (int)MOST_COLUMNS, domain->cols);
    CLO_TRY(clo_i_plan_gaussian(one * domain->rows_per_unit, mu, times, &slot, err));
    slot.noise = (double)slot.scale / (double)SQUARE * radius * radius;
    *out = slot;
    return CLO_OK;
}

/* The least t with 2 t^2 >= s^2. */
static uint64_t off_diagonal_scale(uint64_t scale)
{
    const unsigned __int128 half = ((unsigned __int128)scale * scale + 1) / 2;
    /* The mean of two draws of that scale has a scale that is smaller by sqrt 2 again. */
    if (clo_i_planted(CLO_FAULT_SYMMETRIC_TWICE)) return clo_i_root_up(half / 2);
    return clo_i_root_up(half);
}

typedef struct work {
    const clo_assign *rule;
    size_t cols, clusters, block_rows;
    double *scores;   /* a thread: block_rows x width */
    uint32_t *labels; /* a thread: block_rows */
    double *gathered; /* a thread: block_rows x cols, where there is more than one cluster */
    double *grams;    /* a thread: clusters x cols x cols, upper triangles */
    size_t *pending;  /* a thread: rows in grams since the last flush */
    int64_t *totals;  /* clusters x packed triangle */
    uint8_t *classes; /* of the totals */
} work;

static size_t triangle(size_t cols)
{
    return cols * (cols + 1) / 2;
}

/* Moves one thread's matrices into the totals, row by row of the upper triangle. */
static void flush(const work *w, int thread)
{
    const size_t cols = w->cols;
    double *const grams = w->grams + (size_t)thread * w->clusters * cols * cols;
    for (size_t c = 0; c < w->clusters; c++) {
        int64_t *at = w->totals + c * triangle(cols);
        for (size_t i = 0; i < cols; i++)
            for (size_t j = i; j < cols; j++, at++) {
                const int64_t value = (int64_t)grams[(c * cols + i) * cols + j];
#pragma omp atomic
                *at += value; /* other threads may be flushing, too */
            }
    }
    memset(grams, 0, w->clusters * cols * cols * sizeof *grams);
    w->pending[thread] = 0;
}

static void add_by_cluster(const work *w, int thread, const double *values, size_t rows)
{
    const size_t cols = w->cols, width = clo_i_assign_width(w->rule);
    uint32_t *const labels = w->labels + (size_t)thread * w->block_rows;
    double *const gathered = w->gathered + (size_t)thread * w->block_rows * cols;
    double *const grams = w->grams + (size_t)thread * w->clusters * cols * cols;
    clo_i_assign_rows(w->rule, values, rows, w->scores + (size_t)thread * w->block_rows * width,
                      labels);
    for (size_t c = 0; c < w->clusters; c++) {
        size_t count = 0;
        for (size_t i = 0; i < rows; i++)
            if (labels[i] == c)
                memcpy(gathered + count++ * cols, values + i * cols, cols * sizeof *values);
        if (count) clo_i_gram_add(gathered, count, cols, grams + c * cols * cols);
    }
}

static clo_status add_block(void *user, int thread, size_t block, const double *values, size_t rows)
{
    const work *const w = user;
    (void)block;
    if (w->pending[thread] + rows > EXACT_ROWS) flush(w, thread);
    w->pending[thread] += rows;
    if (w->clusters == 1)
        clo_i_gram_add(values, rows, w->cols, w->grams + (size_t)thread * w->cols * w->cols);
    else
        add_by_cluster(w, thread, values, rows);
    return CLO_OK;
}

static clo_status take_work(clo_context *context, const clo_bounded *data, int threads, work *w,
                            double **scratch, clo_error *err)
{
    const size_t each = (size_t)threads, cols = w->cols, several = w->clusters > 1;
    clo_workspace *const space = context->workspace;
    w->block_rows = clo_i_pass_block_rows(context, data);
    CLO_TRY(clo_i_take(space, clo_i_pass_scratch(context, data, threads), sizeof(double), scratch,
                       err));
    CLO_TRY(clo_i_take(space, several * each * w->block_rows * clo_i_assign_width(w->rule),
                       sizeof(double), &w->scores, err));
    CLO_TRY(clo_i_take(space, several * each * w->block_rows, sizeof(uint32_t), &w->labels, err));
    CLO_TRY(clo_i_take(space, several * each * w->block_rows * cols, sizeof(double), &w->gathered,
                       err));
    CLO_TRY(clo_i_take(space, each * w->clusters * cols * cols, sizeof(double), &w->grams, err));
    CLO_TRY(clo_i_take(space, each, sizeof(size_t), &w->pending, err));
    CLO_TRY(clo_i_take(space, w->clusters * triangle(cols), sizeof(uint8_t), &w->classes, err));
    return clo_i_take(space, w->clusters * triangle(cols), sizeof(int64_t), &w->totals, err);
}

/* Of the packed triangles: the diagonals, and the rest (gaussian_gram.T2). */
enum { ON_DIAGONAL, OFF_DIAGONAL, CLASSES };

static void classify(const work *w)
{
    uint8_t *at = w->classes;
    for (size_t c = 0; c < w->clusters; c++)
        for (size_t i = 0; i < w->cols; i++)
            for (size_t j = i; j < w->cols; j++) *at++ = i == j ? ON_DIAGONAL : OFF_DIAGONAL;
}

static clo_status answer(clo_context *context, const clo_slot *slot, const work *w, clo_error *err)
{
    const clo_noise noise = { .count = w->clusters * triangle(w->cols),
                              .classes = CLASSES,
                              .class_of = w->classes,
                              .laws = { [ON_DIAGONAL] = clo_i_gaussian_law(slot->scale),
                                        [OFF_DIAGONAL] =
                                            clo_i_gaussian_law(off_diagonal_scale(slot->scale)) } };
    classify(w);
    return clo_i_answer(context, slot, &noise, w->totals, err);
}

static void unpack(const int64_t *totals, size_t clusters, size_t cols, double *grams)
{
    for (size_t c = 0; c < clusters; c++) {
        double *const gram = grams + c * cols * cols;
        for (size_t i = 0; i < cols; i++)
            for (size_t j = i; j < cols; j++)
                gram[i * cols + j] = gram[j * cols + i] = (double)*totals++ / (double)SQUARE;
    }
}

clo_status clo_i_ask_gaussian_gram(clo_context *context, size_t number, const clo_bounded *data,
                                   const clo_assign *rule, double *grams, clo_error *err)
{
    const size_t cols = clo_i_pass_cols(context, data);
    /* Wide matrices: one accumulator, and the threads inside BLAS; exact either way. */
    const int threads = cols >= WIDE ? 1 : context->threads;
    const clo_slot *slot;
    double *scratch = NULL;
    CLO_TRY(clo_i_meter_charge(context, number, CLO_QUERY_gaussian_gram, &slot, err));
    if (rule->clusters != slot->groups ||
        (rule->points && (rule->bits != slot->bits || rule->cols != cols)))
        return clo_i_fail(err, CLO_INTERNAL, "the clusters are not those of the plan");
    work w = { .rule = rule, .cols = cols, .clusters = slot->groups };
    const size_t mark = clo_i_workspace_mark(context->workspace);
    clo_status status = take_work(context, data, threads, &w, &scratch, err);
    if (!status)
        status = clo_i_pass(context, data, slot->bits, threads, scratch, add_block, &w, err);
    if (!status) {
        for (int thread = 0; thread < threads; thread++) flush(&w, thread);
        status = answer(context, slot, &w, err);
    }
    if (!status) {
        unpack(w.totals, w.clusters, cols, grams);
        clo_i_tell_answer(context, slot, grams, w.clusters * cols * cols, (double)SQUARE);
    }
    clo_i_workspace_release(context->workspace, mark);
    return status;
}
