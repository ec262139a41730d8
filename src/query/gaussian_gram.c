/*
 * gaussian_gram.c - for each cluster the Gram matrix of its records, all in one Gaussian query
 * (gaussian_gram.T1).
 *
 * On the grid of 15 bits with R = 2^15, a record adds r r' to one of the k matrices: |r r'|_F <=
 * R^2, and |r r' - s s'|_F <= sqrt(2) R^2, in one cluster or across two.
 */
#include "query/gaussian_gram.h"
#include "query/queries.h"
#include "bound/bound.h"
#include "linalg/linalg.h"
#include "ask/fold.h"
#include "query/triangle.h"
#include <string.h>

enum { BITS = 15 };
static const uint64_t SQUARE = (uint64_t)1 << (2 * BITS);
/* A sum of so many products of the grid stays below 2^53 and so is exact in a double. */
static const size_t EXACT_ROWS = (size_t)1 << (53 - 2 * BITS - 1);

clo_status clo_i_plan_gaussian_gram(const clo_domain *domain, size_t clusters, double mu,
                                    uint64_t times, const char *label, clo_line *out,
                                    clo_error *err)
{
    const double radius = clo_i_domain_radius(domain);
    clo_line line = { .query = &clo_i_query_gaussian_gram,
                      .label = label,
                      .bits = BITS,
                      .cols = domain->cols,
                      .groups = clusters };
    CLO_TRY(clo_i_check_clusters(clusters, CLO_MAX_CLUSTERS, err));
    CLO_TRY(clo_i_plan_triangles(domain, SQUARE, mu, times, &line, err));
    line.noise = (double)line.scale / (double)SQUARE * radius * radius;
    *out = line;
    return CLO_OK;
}

typedef struct work {
    double *scores;   /* a thread: block_rows x width, where there is more than one cluster */
    uint32_t *labels; /* a thread: block_rows, likewise */
    double *gathered; /* a thread: block_rows x cols, likewise */
    double *grams;    /* a thread: clusters x cols x cols, upper triangles */
    size_t *pending;  /* a thread: rows in grams since the last flush */
    uint8_t *classes; /* of the totals, for whoever asks */
} work;
CLO_FOLD_WORK_OF(work)

/* Moves one thread's matrices into the totals, row by row of the upper triangle. */
static void flush(clo_fold *fold, int thread)
{
    const size_t cols = fold->seen, clusters = fold->line->groups;
    const work *const w = work_of(fold);
    double *const grams = w->grams + (size_t)thread * clusters * cols * cols;
    for (size_t c = 0; c < clusters; c++) {
        int64_t *at = fold->totals + c * clo_i_triangle(cols);
        for (size_t i = 0; i < cols; i++)
            for (size_t j = i; j < cols; j++, at++) {
                const int64_t value = (int64_t)grams[(c * cols + i) * cols + j];
#pragma omp atomic
                *at += value; /* other threads may be flushing, too */
            }
    }
    memset(grams, 0, clusters * cols * cols * sizeof *grams);
    w->pending[thread] = 0;
}

static void add_by_cluster(clo_fold *fold, int thread, const double *values, size_t rows)
{
    const clo_assign *const rule = fold->ask->rules;
    const work *const w = work_of(fold);
    const size_t cols = fold->seen, width = clo_i_assign_width(rule), t = (size_t)thread;
    uint32_t *const labels = w->labels + t * fold->block_rows;
    double *const gathered = w->gathered + t * fold->block_rows * cols;
    double *const grams = w->grams + t * rule->clusters * cols * cols;
    clo_i_assign_rows(rule, values, rows, w->scores + t * fold->block_rows * width, labels);
    for (size_t c = 0; c < rule->clusters; c++) {
        size_t count = 0;
        for (size_t i = 0; i < rows; i++)
            if (labels[i] == c)
                memcpy(gathered + count++ * cols, values + i * cols, cols * sizeof *values);
        if (count) clo_i_gram_add(gathered, count, cols, grams + c * cols * cols);
    }
}

static clo_status add_block(void *user, int thread, size_t block, const double *values, size_t rows)
{
    clo_fold *const fold = user;
    const work *const w = work_of(fold);
    const size_t cols = fold->seen;
    (void)block;
    if (w->pending[thread] + rows > EXACT_ROWS) flush(fold, thread);
    w->pending[thread] += rows;
    if (fold->line->groups == 1)
        clo_i_gram_add(values, rows, cols, w->grams + (size_t)thread * cols * cols);
    else
        add_by_cluster(fold, thread, values, rows);
    return CLO_OK;
}

static void gather(clo_fold *fold)
{
    for (int thread = 0; thread < fold->threads; thread++) flush(fold, thread);
}

static clo_status check(const clo_ask *ask, size_t cols, clo_error *err)
{
    const clo_line *const line = ask->line;
    (void)cols;
    if (ask->rule_count == 1 && clo_i_assign_fits(ask->rules, line->groups, line->cols, line->bits))
        return CLO_OK;
    return clo_i_fail(err, CLO_INTERNAL, "the clusters are not those of the plan");
}

static clo_status lay_out(clo_fold *fold, clo_workspace *space, clo_error *err)
{
    const size_t k = fold->line->groups, cols = fold->seen, each = (size_t)fold->threads;
    const size_t rows = k > 1 ? each * fold->block_rows : 0;
    /* At most `cols` basis vectors a cluster, and a foot. */
    const size_t width = fold->data ? clo_i_assign_width(fold->ask->rules) : k * (cols + 1);
    work *const w = work_of(fold);
    CLO_TRY(clo_i_take(space, rows * width, sizeof(double), &w->scores, err));
    CLO_TRY(clo_i_take(space, rows, sizeof(uint32_t), &w->labels, err));
    CLO_TRY(clo_i_take(space, rows * cols, sizeof(double), &w->gathered, err));
    CLO_TRY(clo_i_take(space, each * k * cols * cols, sizeof(double), &w->grams, err));
    CLO_TRY(clo_i_take(space, each, sizeof(size_t), &w->pending, err));
    return clo_i_take(space, k * clo_i_triangle(cols), sizeof *w->classes, &w->classes, err);
}

clo_status clo_i_ask_gaussian_gram(clo_context *context, size_t number, const clo_bounded *data,
                                   const clo_assign *rule, double *grams, clo_error *err)
{
    const clo_ask told = { .rules = rule, .rule_count = 1 };
    clo_sum sum;
    CLO_TRY(clo_i_sum_begin(context, number, &clo_i_query_gaussian_gram, data, &told, &sum, err));
    clo_status status = clo_i_sum_fold(&sum, err);
    if (!status)
        status =
            clo_i_answer_triangles(&sum, work_of(&sum.fold)->classes, (double)SQUARE, grams, err);
    clo_i_sum_end(&sum);
    return status;
}

const clo_query clo_i_query_gaussian_gram = {
    .name = "gaussian_gram",
    .reading = CLO_READING_SUM,
    .numbers = clo_i_triangles_numbers,
    .symmetric = true,
    .lay_out = lay_out,
    .sum = {
        .threads = clo_i_triangles_threads,
        .check = check,
        .entries = clo_i_triangles_entries,
        .add = add_block,
        .gather = gather,
    },
};
