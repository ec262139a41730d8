/*
 * gaussian_moment3.c - the third moments of the records, the tensor of all sums of x_i x_j x_k, as
 * one Gaussian query (gaussian_moment3.T1).
 *
 * A record r, read on a grid of 20 bits, becomes the pair of v = trunc(r r' / 2^25) and
 * u = trunc(r / 2^5), both of norm at most R = 2^15.  The products of the v's and the u's, summed
 * over the records, are one dgemm on integers, exact in any order; three times their projection
 * onto the symmetric tensors is integral again.  An entry that stands m times in the tensor gets
 * noise of scale ceil(s / sqrt m) (gaussian_moment3.T2).
 */
#include "query/gaussian_moment3.h"
#include "query/queries.h"
#include "bound/bound.h"
#include "linalg/linalg.h"
#include "query/grouped.h"
#include "query/moment_internal.h"
#include <math.h>
#include <string.h>

enum { LIFTED_ROWS = 128 };
static const uint64_t SQUARE = CLO_LIFT_SQUARE;
/* How often an entry can stand in a symmetric tensor of order three. */
static const unsigned multiplicities[] = { 1, 3, 6 };
enum { CLASSES = sizeof multiplicities / sizeof *multiplicities };
_Static_assert((int)CLASSES <= (int)CLO_NOISE_CLASSES, "every class has a law");

size_t clo_i_moment3_size(size_t cols)
{
    return clo_i_triangle(cols) * (cols + 2) / 3;
}

unsigned clo_i_moment3_multiplicity(size_t i, size_t j, size_t k)
{
    static const unsigned char of[2][2] = { { 6, 3 }, { 3, 1 } };
    return of[i == j][j == k];
}

double clo_i_moment3_noise(const clo_line *line)
{
    return (double)line->scale / (double)(3 * SQUARE);
}

/* ---- the plan ------------------------------------------------------------------------------ */

static double constant_of(double height)
{
    return height > 0 ? height / sqrt(1 + height * height) : 0; /* as in lens.c */
}

/* How far a replaced record moves three times the tensor.  Opposite records are the farthest apart;
 * a constant that all records have keeps them from being opposite. */
static uint64_t replace_reach(size_t cols, double constant)
{
    const double own = ldexp(trunc(ldexp(constant, CLO_LIFT_READ_BITS)), -CLO_LIFT_READ_BITS);
    const double apart = fmax(1 - 2 * own * own, 0), root = (double)(1 << CLO_LIFT_BITS);
    const double rounding = 1.001 * root * ((double)cols + sqrt((double)cols));
    const double reach =
        sqrt(2 + 2 * apart * apart * apart) * (1 + 1e-9) * (double)SQUARE + 2 * rounding;
    return (uint64_t)ceil(3 * fmin(reach, 2 * (double)SQUARE)); /* gaussian_moment3.T1 */
}

clo_status clo_i_plan_gaussian_moment3(const clo_domain *domain, double height, double mu,
                                       uint64_t times, const char *label, clo_line *out,
                                       clo_error *err)
{
    const double radius = clo_i_domain_radius(domain), constant = constant_of(height);
    const uint64_t one =
        domain->relation == CLO_REPLACE ? replace_reach(domain->cols, constant) : 3 * SQUARE;
    clo_line line = { .query = &clo_i_query_gaussian_moment3,
                      .label = label,
                      .bits = CLO_LIFT_READ_BITS,
                      .cols = domain->cols,
                      .groups = 1 };
    clo_i_gaussian_moment3_set_fields(&line, (clo_moment3_fields){ .constant = constant });
    if (domain->cols > CLO_MOMENT3_COLS)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "a tensor of third moments takes at most %d columns, not %zu: reduce "
                          "them first",
                          (int)CLO_MOMENT3_COLS, domain->cols);
    CLO_TRY(clo_i_plan_gaussian(one * domain->rows_per_unit, mu, times, &line, err));
    line.noise = (double)line.scale / (double)(3 * SQUARE) * radius * radius * radius;
    *out = line;
    return CLO_OK;
}

/* ---- the ask ------------------------------------------------------------------------------- */

typedef struct work {
    double *matrices; /* a thread: LIFTED_ROWS x lifted, the v's */
    double *vectors;  /* a thread: LIFTED_ROWS x cols, the u's */
    double *products; /* a thread: lifted x cols */
    size_t *pending;  /* a thread: rows in products since the last flush */
    uint8_t *classes; /* of the totals, for whoever asks */
} work;
CLO_FOLD_WORK_OF(work)

/* What one thread has summed, projected onto the symmetric tensors (times 3), into the totals. */
static void flush(clo_fold *fold, int thread)
{
    const work *const w = work_of(fold);
    const size_t d = fold->seen, n = clo_i_triangle(d);
    double *const products = w->products + (size_t)thread * n * d;
    int64_t *at = fold->totals;
    for (size_t i = 0; i < d; i++)
        for (size_t j = i; j < d; j++)
            for (size_t k = j; k < d; k++, at++) {
                const int64_t value = (int64_t)products[clo_i_lifted_place(d, i, j) * d + k] +
                                      (int64_t)products[clo_i_lifted_place(d, i, k) * d + j] +
                                      (int64_t)products[clo_i_lifted_place(d, j, k) * d + i];
#pragma omp atomic
                *at += value; /* other threads may be flushing, too */
            }
    memset(products, 0, n * d * sizeof *products);
    w->pending[thread] = 0;
}

static clo_status add_block(void *user, int thread, size_t block, const double *values, size_t rows)
{
    clo_fold *const fold = user;
    const work *const w = work_of(fold);
    const size_t d = fold->seen, n = clo_i_triangle(d);
    const double shift = 1.0 / (1 << (CLO_LIFT_READ_BITS - CLO_LIFT_BITS));
    double *const matrices = w->matrices + (size_t)thread * LIFTED_ROWS * n;
    double *const vectors = w->vectors + (size_t)thread * LIFTED_ROWS * d;
    (void)block;
    if (w->pending[thread] + rows > CLO_LIFT_EXACT_ROWS) flush(fold, thread);
    w->pending[thread] += rows;
    for (size_t first = 0; first < rows; first += LIFTED_ROWS) {
        const size_t count = rows - first < LIFTED_ROWS ? rows - first : LIFTED_ROWS;
        clo_i_moment_lift(values + first * d, count, d, 0, matrices);
        for (size_t e = 0; e < count * d; e++)
            vectors[e] = (double)(int32_t)(values[first * d + e] * shift);
        clo_i_cross_add(matrices, n, vectors, d, count, w->products + (size_t)thread * n * d);
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
    return clo_i_moment3_size(line->cols);
}

/* The plan counted on this constant in the last of the columns. */
static clo_status check(const clo_ask *ask, size_t cols, clo_error *err)
{
    const double constant = clo_i_gaussian_moment3_fields(ask->line).constant;
    const double seen = ask->lens ? ask->lens->constant : 0;
    (void)cols;
    if (constant > 0 && seen != constant)
        return clo_i_fail(err, CLO_INTERNAL, "the columns are not those of the plan");
    return CLO_OK;
}

static clo_status lay_out(clo_fold *fold, clo_workspace *space, clo_error *err)
{
    const size_t each = (size_t)fold->threads, d = fold->seen, n = clo_i_triangle(d);
    work *const w = work_of(fold);
    CLO_TRY(clo_i_take(space, each * LIFTED_ROWS * n, sizeof(double), &w->matrices, err));
    CLO_TRY(clo_i_take(space, each * LIFTED_ROWS * d, sizeof(double), &w->vectors, err));
    CLO_TRY(clo_i_take(space, each * n * d, sizeof(double), &w->products, err));
    CLO_TRY(clo_i_take(space, each, sizeof(size_t), &w->pending, err));
    return clo_i_take(space, clo_i_moment3_size(d), sizeof *w->classes, &w->classes, err);
}

static clo_status answer(clo_sum *sum, double *moments, clo_error *err)
{
    const size_t d = sum->fold.seen;
    uint8_t *const classes = work_of(&sum->fold)->classes, *at = classes;
    for (size_t i = 0; i < d; i++)
        for (size_t j = i; j < d; j++)
            for (size_t k = j; k < d; k++) *at++ = (uint8_t)clo_i_moment3_multiplicity(i, j, k);
    return clo_i_answer_tensor(sum, classes, multiplicities, CLASSES, moments, err);
}

clo_status clo_i_ask_gaussian_moment3(clo_context *context, size_t number, const clo_bounded *data,
                                      double *moments, clo_error *err)
{
    clo_sum sum;
    CLO_TRY(clo_i_sum_begin(context, number, &clo_i_query_gaussian_moment3, data, &(clo_ask){ 0 },
                            &sum, err));
    clo_status status = clo_i_sum_fold(&sum, err);
    if (!status) status = answer(&sum, moments, err);
    clo_i_sum_end(&sum);
    return status;
}

const clo_query clo_i_query_gaussian_moment3 = {
    .name = "gaussian_moment3",
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
