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
#include "query/parts.h"
#include "bound/bound.h"
#include "linalg/linalg.h"
#include <math.h>
#include <string.h>

enum { WIDE = 512, LIFTED_ROWS = 128 };
static const uint64_t SQUARE = (uint64_t)1 << (2 * CLO_LIFT_BITS);
/* A sum of so many products of the grid stays below 2^53 and so is exact in a double. */
static const size_t EXACT_ROWS = (size_t)1 << (53 - 2 * CLO_LIFT_BITS - 1);
/* How often an entry can stand in a symmetric tensor of order three. */
static const unsigned multiplicities[] = { 1, 3, 6 };
enum { CLASSES = sizeof multiplicities / sizeof *multiplicities };
_Static_assert((int)CLASSES <= (int)CLO_NOISE_CLASSES, "every class has a law");

static size_t triangle(size_t cols)
{
    return cols * (cols + 1) / 2;
}

size_t clo_i_moment3_size(size_t cols)
{
    return triangle(cols) * (cols + 2) / 3;
}

unsigned clo_i_moment3_multiplicity(size_t i, size_t j, size_t k)
{
    static const unsigned char of[2][2] = { { 6, 3 }, { 3, 1 } };
    return of[i == j][j == k];
}

double clo_i_moment3_noise(const clo_slot *slot)
{
    return (double)slot->scale / (double)(3 * SQUARE);
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
                                       uint64_t times, const char *label, clo_slot *out,
                                       clo_error *err)
{
    const double radius = clo_i_domain_radius(domain), constant = constant_of(height);
    const uint64_t one =
        domain->relation == CLO_REPLACE ? replace_reach(domain->cols, constant) : 3 * SQUARE;
    clo_slot slot = { .query = CLO_QUERY_gaussian_moment3,
                      .label = label,
                      .bits = CLO_LIFT_READ_BITS,
                      .cols = domain->cols,
                      .constant = constant,
                      .groups = 1 };
    if (domain->cols > CLO_MOMENT3_COLS)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "a tensor of third moments takes at most %d columns, not %zu: reduce "
                          "them first",
                          (int)CLO_MOMENT3_COLS, domain->cols);
    CLO_TRY(clo_i_plan_gaussian(one * domain->rows_per_unit, mu, times, &slot, err));
    slot.noise = (double)slot.scale / (double)(3 * SQUARE) * radius * radius * radius;
    *out = slot;
    return CLO_OK;
}

/* ---- the ask ------------------------------------------------------------------------------- */

typedef struct work {
    size_t cols, lifted; /* columns seen, and entries of v */
    double *matrices;    /* a thread: LIFTED_ROWS x lifted, the v's */
    double *vectors;     /* a thread: LIFTED_ROWS x cols, the u's */
    double *products;    /* a thread: lifted x cols */
    size_t *pending;     /* a thread: rows in products since the last flush */
    int64_t *totals;     /* one a different entry of the tensor */
    uint8_t *classes;    /* of the totals */
} work;

/* Where v_ij stands among the lifted entries, i <= j. */
static inline size_t place(size_t cols, size_t i, size_t j)
{
    return i * cols - i * (i + 1) / 2 + j;
}

/* What one thread has summed, projected onto the symmetric tensors (times 3), into the totals. */
static void flush(const work *w, int thread)
{
    const size_t d = w->cols, n = w->lifted;
    double *const products = w->products + (size_t)thread * n * d;
    int64_t *at = w->totals;
    for (size_t i = 0; i < d; i++)
        for (size_t j = i; j < d; j++)
            for (size_t k = j; k < d; k++, at++) {
                const int64_t value = (int64_t)products[place(d, i, j) * d + k] +
                                      (int64_t)products[place(d, i, k) * d + j] +
                                      (int64_t)products[place(d, j, k) * d + i];
#pragma omp atomic
                *at += value; /* other threads may be flushing, too */
            }
    memset(products, 0, n * d * sizeof *products);
    w->pending[thread] = 0;
}

static clo_status add_block(void *user, int thread, size_t block, const double *values, size_t rows)
{
    const work *const w = user;
    const size_t n = w->lifted, d = w->cols;
    const double shift = 1.0 / (1 << (CLO_LIFT_READ_BITS - CLO_LIFT_BITS));
    double *const matrices = w->matrices + (size_t)thread * LIFTED_ROWS * n;
    double *const vectors = w->vectors + (size_t)thread * LIFTED_ROWS * d;
    (void)block;
    if (w->pending[thread] + rows > EXACT_ROWS) flush(w, thread);
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

static clo_status take_work(clo_context *context, const clo_bounded *data, int threads, work *w,
                            double **scratch, clo_error *err)
{
    const size_t each = (size_t)threads, n = w->lifted, d = w->cols;
    clo_workspace *const space = context->workspace;
    CLO_TRY(clo_i_take(space, clo_i_pass_scratch(context, data, threads), sizeof(double), scratch,
                       err));
    CLO_TRY(clo_i_take(space, each * LIFTED_ROWS * n, sizeof(double), &w->matrices, err));
    CLO_TRY(clo_i_take(space, each * LIFTED_ROWS * d, sizeof(double), &w->vectors, err));
    CLO_TRY(clo_i_take(space, each * n * d, sizeof(double), &w->products, err));
    CLO_TRY(clo_i_take(space, each, sizeof(size_t), &w->pending, err));
    CLO_TRY(clo_i_take(space, clo_i_moment3_size(d), sizeof(uint8_t), &w->classes, err));
    return clo_i_take(space, clo_i_moment3_size(d), sizeof(int64_t), &w->totals, err);
}

size_t clo_i_moment3_workspace(size_t cols, size_t block_rows, size_t threads)
{
    const size_t n = triangle(cols), all = clo_i_moment3_size(cols);
    return clo_i_take_size(threads * block_rows * cols, sizeof(double)) +
           clo_i_take_size(threads * LIFTED_ROWS * n, sizeof(double)) +
           clo_i_take_size(threads * LIFTED_ROWS * cols, sizeof(double)) +
           clo_i_take_size(threads * n * cols, sizeof(double)) +
           clo_i_take_size(threads, sizeof(size_t)) + clo_i_take_size(all, sizeof(uint8_t)) +
           clo_i_take_size(all, sizeof(int64_t)) + clo_i_answer_workspace(all);
}

static uint8_t class_with(unsigned multiplicity)
{
    uint8_t class = 0;
    while (multiplicities[class] != multiplicity) class ++;
    return class;
}

/* Each class of entries has its own scale (gaussian_moment3.T2). */
static clo_status answer(clo_context *context, const clo_slot *slot, const work *w, clo_error *err)
{
    const size_t d = w->cols;
    clo_noise noise = { .count = clo_i_moment3_size(d),
                        .classes = CLASSES,
                        .class_of = w->classes };
    uint8_t *at = w->classes;
    for (size_t class = 0; class < CLASSES; class ++)
        noise.laws[class] =
            clo_i_gaussian_law(clo_i_moment_class_scale(slot->scale, multiplicities[class]));
    for (size_t i = 0; i < d; i++)
        for (size_t j = i; j < d; j++)
            for (size_t k = j; k < d; k++) *at++ = class_with(clo_i_moment3_multiplicity(i, j, k));
    return clo_i_answer(context, slot, &noise, w->totals, err);
}

/* The plan counted on these columns, and on this constant in the last of them. */
static clo_status check(const clo_context *context, const clo_slot *slot, size_t cols,
                        clo_error *err)
{
    const double seen = context->lens ? context->lens->constant : 0;
    if (cols != slot->cols || (slot->constant > 0 && seen != slot->constant))
        return clo_i_fail(err, CLO_INTERNAL, "the columns are not those of the plan");
    return CLO_OK;
}

clo_status clo_i_ask_gaussian_moment3(clo_context *context, size_t number, const clo_bounded *data,
                                      double *moments, clo_error *err)
{
    const size_t cols = clo_i_pass_cols(context, data), all = clo_i_moment3_size(cols);
    work w = { .cols = cols, .lifted = triangle(cols) };
    /* Wide matrices: one accumulator, and the threads inside BLAS; exact either way. */
    const int threads = w.lifted >= WIDE ? 1 : context->threads;
    const clo_slot *slot;
    double *scratch = NULL;
    CLO_TRY(clo_i_meter_charge(context, number, CLO_QUERY_gaussian_moment3, &slot, err));
    CLO_TRY(check(context, slot, cols, err));
    const size_t mark = clo_i_workspace_mark(context->workspace);
    clo_status status = take_work(context, data, threads, &w, &scratch, err);
    if (!status)
        status = clo_i_pass(context, data, slot->bits, threads, scratch, add_block, &w, err);
    if (!status) {
        for (int thread = 0; thread < threads; thread++) flush(&w, thread);
        status = answer(context, slot, &w, err);
    }
    if (!status) {
        for (size_t e = 0; e < all; e++) moments[e] = (double)w.totals[e] / (double)(3 * SQUARE);
        clo_i_tell_answer(context, slot, moments, all, (double)(3 * SQUARE));
    }
    clo_i_workspace_release(context->workspace, mark);
    return status;
}
