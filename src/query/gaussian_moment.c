/*
 * gaussian_moment.c - the fourth moments of the records, the tensor of all sums of x_i x_j x_k x_l,
 * as one Gaussian query (gaussian_moment.T1).
 *
 * A record r, read on a grid of 20 bits, becomes the symmetric matrix v = trunc(r r' / 2^25): |v|
 * is at most R = 2^15.  The Gram matrix of the v's, in their d(d+1)/2 different entries, is one
 * dsyrk on integers, exact in any order; three times its projection onto the symmetric tensors is
 * integral again.  An entry that stands m times in the tensor gets noise of scale ceil(s / sqrt m)
 * (gaussian_moment.T2).
 */
#include "query/gaussian_moment.h"
#include "query/queries.h"
#include "bound/bound.h"
#include "linalg/linalg.h"
#include "query/grouped.h"
#include "query/moment_internal.h"
#include <math.h>
#include <string.h>

enum { READ_BITS = CLO_LIFT_READ_BITS, BITS = CLO_LIFT_BITS, MOST_COLUMNS = 64, LIFTED_ROWS = 256 };
static const uint64_t SQUARE = CLO_LIFT_SQUARE;
/* How often an entry can stand in a symmetric tensor of order four: its indices' permutations. */
static const unsigned multiplicities[] = { 1, 4, 6, 12, 24 };
enum { CLASSES = sizeof multiplicities / sizeof *multiplicities };
_Static_assert((int)CLASSES <= (int)CLO_NOISE_CLASSES, "every class has a law");

size_t clo_i_moment_size(size_t cols)
{
    return clo_i_triangle(cols) * (cols + 2) / 3 * (cols + 3) / 4;
}

/* What rounding can add to the reach of a record: |v| <= R, and each entry is off by at most 1. */
static double rounding(size_t cols)
{
    const double off = 1.001 * (double)cols;
    return 2 * (1 << BITS) * off + off * off;
}

clo_status clo_i_plan_even_moment(const clo_domain *domain, double share, double mu, uint64_t times,
                                  const char *label, clo_line *out, clo_error *err)
{
    const bool replace = domain->relation == CLO_REPLACE;
    const double reach = clo_i_moment_reach(domain->cols, share, replace);
    clo_line line;
    CLO_TRY(clo_i_plan_gaussian_moment(domain, mu, times, label, &line, err));
    if (!(share >= 0 && share <= 0.6))
        return clo_i_fail(err, CLO_INTERNAL, "so much of the traces cannot be left out");
    const double one = ceil(
        3 * (reach * (1 + 1e-9) * (double)SQUARE + (replace ? 2 : 1) * rounding(domain->cols)));
    const double before = (double)line.scale;
    CLO_TRY(clo_i_plan_gaussian((uint64_t)one * domain->rows_per_unit, mu, times, &line, err));
    line.noise *= (double)line.scale / before;
    clo_i_gaussian_moment_set_fields(&line, (clo_moment_fields){ .even = share });
    *out = line; /* gaussian_moment.T3 */
    return CLO_OK;
}

clo_status clo_i_plan_gaussian_moment(const clo_domain *domain, double mu, uint64_t times,
                                      const char *label, clo_line *out, clo_error *err)
{
    const unsigned __int128 square = (unsigned __int128)(3 * SQUARE) * (3 * SQUARE);
    const uint64_t one = domain->relation == CLO_REPLACE ? clo_i_root_up(2 * square) : 3 * SQUARE;
    const double area = clo_i_domain_radius(domain) * clo_i_domain_radius(domain);
    clo_line line = { .query = &clo_i_query_gaussian_moment,
                      .label = label,
                      .bits = READ_BITS,
                      .cols = domain->cols,
                      .groups = 1 };
    if (domain->cols > MOST_COLUMNS)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "a tensor of fourth moments takes at most %d columns, not %zu: reduce "
                          "them first",
                          (int)MOST_COLUMNS, domain->cols);
    CLO_TRY(clo_i_plan_gaussian(one * domain->rows_per_unit, mu, times, &line, err));
    line.noise = (double)line.scale / (double)(3 * SQUARE) * area * area;
    *out = line;
    return CLO_OK;
}

double clo_i_moment_noise(const clo_line *line)
{
    return (double)line->scale / (double)(3 * SQUARE);
}

unsigned clo_i_moment_multiplicity(size_t i, size_t j, size_t k, size_t l)
{
    static const unsigned char of[2][2][2] = { { { 24, 12 }, { 12, 4 } }, { { 12, 6 }, { 4, 1 } } };
    return of[i == j][j == k][k == l];
}

typedef struct work {
    double *matrices; /* a thread: LIFTED_ROWS x lifted, the v's */
    double *grams;    /* a thread: lifted x lifted, upper triangle */
    size_t *pending;  /* a thread: rows in grams since the last flush */
    uint8_t *classes; /* of the totals, for whoever asks */
} work;
CLO_FOLD_WORK_OF(work)

/* What one thread has summed, projected onto the symmetric tensors (times 3), into the totals. */
static void flush(clo_fold *fold, int thread)
{
    const work *const w = work_of(fold);
    const size_t d = fold->seen, n = clo_i_triangle(d);
    double *const gram = w->grams + (size_t)thread * n * n;
    int64_t *at = fold->totals;
    for (size_t i = 0; i < d; i++)
        for (size_t j = i; j < d; j++)
            for (size_t k = j; k < d; k++)
                for (size_t l = k; l < d; l++, at++) {
                    const size_t il = clo_i_lifted_place(d, i, l), jk = clo_i_lifted_place(d, j, k);
                    const int64_t value =
                        (int64_t)
                            gram[clo_i_lifted_place(d, i, j) * n + clo_i_lifted_place(d, k, l)] +
                        (int64_t)
                            gram[clo_i_lifted_place(d, i, k) * n + clo_i_lifted_place(d, j, l)] +
                        (int64_t)(il < jk ? gram[il * n + jk] : gram[jk * n + il]);
#pragma omp atomic
                    *at += value; /* other threads may be flushing, too */
                }
    memset(gram, 0, n * n * sizeof *gram);
    w->pending[thread] = 0;
}

static clo_status add_block(void *user, int thread, size_t block, const double *values, size_t rows)
{
    clo_fold *const fold = user;
    const work *const w = work_of(fold);
    const size_t d = fold->seen, n = clo_i_triangle(d);
    const double taken = clo_i_moment_even(d, clo_i_gaussian_moment_fields(fold->line).even).taken;
    double *const matrices = w->matrices + (size_t)thread * LIFTED_ROWS * n;
    (void)block;
    if (w->pending[thread] + rows > CLO_LIFT_EXACT_ROWS) flush(fold, thread);
    w->pending[thread] += rows;
    for (size_t first = 0; first < rows; first += LIFTED_ROWS) {
        const size_t count = rows - first < LIFTED_ROWS ? rows - first : LIFTED_ROWS;
        clo_i_moment_lift(values + first * d, count, d, taken, matrices);
        clo_i_gram_add(matrices, count, n, w->grams + (size_t)thread * n * n);
    }
    return CLO_OK;
}

static void gather(clo_fold *fold)
{
    for (int thread = 0; thread < fold->threads; thread++) flush(fold, thread);
}

static size_t entries(const clo_line *line, size_t cols, const clo_ask *ask)
{
    (void)cols, (void)ask;
    return clo_i_moment_size(line->cols);
}

static clo_status check(const clo_ask *ask, size_t cols, clo_error *err)
{
    (void)ask, (void)cols, (void)err; /* it takes nothing but a lens, which the meter holds to */
    return CLO_OK;
}

static clo_status lay_out(clo_fold *fold, clo_workspace *space, clo_error *err)
{
    const size_t each = (size_t)fold->threads, n = clo_i_triangle(fold->seen);
    work *const w = work_of(fold);
    CLO_TRY(clo_i_take(space, each * LIFTED_ROWS * n, sizeof(double), &w->matrices, err));
    CLO_TRY(clo_i_take(space, each * n * n, sizeof(double), &w->grams, err));
    CLO_TRY(clo_i_take(space, each, sizeof(size_t), &w->pending, err));
    return clo_i_take(space, clo_i_moment_size(fold->seen), sizeof *w->classes, &w->classes, err);
}

static clo_status answer(clo_sum *sum, double *moments, clo_error *err)
{
    const size_t d = sum->fold.seen;
    uint8_t *const classes = work_of(&sum->fold)->classes, *at = classes;
    for (size_t i = 0; i < d; i++)
        for (size_t j = i; j < d; j++)
            for (size_t k = j; k < d; k++)
                for (size_t l = k; l < d; l++)
                    *at++ = (uint8_t)clo_i_moment_multiplicity(i, j, k, l);
    return clo_i_answer_tensor(sum, classes, multiplicities, CLASSES, moments, err);
}

clo_status clo_i_ask_gaussian_moment(clo_context *context, size_t number, const clo_bounded *data,
                                     double *moments, clo_error *err)
{
    clo_sum sum;
    CLO_TRY(clo_i_sum_begin(context, number, &clo_i_query_gaussian_moment, data, &(clo_ask){ 0 },
                            &sum, err));
    const size_t cols = sum.fold.seen;
    const double share = clo_i_gaussian_moment_fields(sum.line).even;
    const clo_moment_even even = clo_i_moment_even(cols, share);
    clo_status status = clo_i_sum_fold(&sum, err);
    if (!status) status = answer(&sum, moments, err);
    if (!status && share > 0) clo_i_moment_restore(&even, cols, work_of(&sum.fold)->grams, moments);
    clo_i_sum_end(&sum);
    return status;
}

const clo_query clo_i_query_gaussian_moment = {
    .name = "gaussian_moment",
    .reading = CLO_READING_SUM,
    .numbers = clo_i_numbers_added,
    .lay_out = lay_out,
    .sum = {
        .threads = clo_i_moment_threads,
        .check = check,
        .entries = entries,
        .add = add_block,
        .gather = gather,
    },
};
