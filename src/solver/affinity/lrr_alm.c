/*
 * lrr_alm.c - low-rank representation with corrupted points, by an augmented Lagrangian method:
 *
 *     min |C|_* + lambda |E|_{2,1}   such that X = XC + E           (Liu et al., 2013)
 *
 * With X = U S V' the optimum has C = V Z' and E = U (S V' - S Z'), so that the unknown is Z, a row
 * of r = rank(X) numbers a point, and the problem becomes
 *
 *     min |Z|_* + lambda sum_i |S (v_i - z_i)|.
 *
 * The paper's inexact ALM splits off both Z and E, and then crawls along the small singular values
 * of S.  Here the one constraint is J = Z, for both halves can be minimised exactly: |J|_* by
 * shrinking singular values (from the r x r Gram matrix), and the error of each point by one
 * equation in one unknown, its length t.  No S is left in the coupling, and some twenty steps do
 * what took the other a thousand.
 *
 * The multiplier gives a bound that no C can go below: M = S G with |G_i| <= lambda holds by
 * construction, |M|_2 <= 1 by scaling, and <M, V> bounds the objective.  The method stops on that
 * gap, not on how small its steps have become.
 *
 * The multiplier also says what lambda should be.  In the noiseless answer Z = V, M = V, and point
 * i keeps a zero error as long as |S^-1 v_i| <= lambda: that is its price.  Ordinary points have
 * prices much alike, a corrupted one, alone in its direction, a high one; twice the median parts
 * them.  Liu et al. prove 3 / (7 |X| sqrt(share n)) right for outliers few enough, which at a few
 * thousand points means hardly any: with the true share it calls every point an outlier.
 *
 * Rows are taken in blocks that do not depend on the threads, and the blocks' Gram matrices are
 * added in order: so the result does not depend on the threads either.
 */
#include "solver/affinity/lowrank.h"
#include "linalg/linalg.h"
#include <float.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { SHORTEST_BLOCK = 256, STEPS_A_CHECK = 5, NEWTON_STEPS = 60 };

/* The penalty in the scale of Z, whose singular values are at most 1: a step shrinks them by half.
 * Relaxation as usual for such splittings. */
static const double penalty = 2, relaxation = 1.6;

typedef struct alm {
    const clo_solver_input *job;
    const clo_row_space *space;
    double lambda; /* for rows of which the largest singular value is 1 */
    size_t n, r, block, blocks;
    double *s;       /* r: the singular values, the largest of them 1 */
    double *pulls;   /* r: lambda / penalty s^2, what holds an error's coordinate back */
    double *z, *y;   /* n x r: the coefficients, and the multiplier of J = Z over the penalty */
    double *lengths; /* n: the errors */
    double *grams;   /* blocks x r x r */
    double *sums;    /* blocks */
    double *scratch; /* threads x 2 x block x r */
    double *gram, *shrink, *vectors, *scaled; /* r x r */
    double *values;                           /* r */
    double *eigen;
} alm;

static void free_alm(alm *a)
{
    double *const all[] = { a->s,       a->pulls,  a->z,       a->y,    a->lengths,
                            a->grams,   a->sums,   a->scratch, a->gram, a->shrink,
                            a->vectors, a->scaled, a->values,  a->eigen };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) clo_i_free(all[i]);
}

static clo_status take(size_t a, size_t b, double **out, clo_error *err)
{
    size_t count;
    if (!clo_i_multiply(a, b, &count))
        return clo_i_fail(err, CLO_MEMORY,
                          "there is not enough memory for so many rows and "
                          "columns");
    return clo_i_alloc(count, sizeof **out, out, err);
}

static clo_status new_alm(const clo_solver_input *job, const clo_row_space *space, double lambda,
                          alm *a, clo_error *err)
{
    const size_t n = space->count, r = space->rank;
    const double unit = space->values[0];
    *a = (alm){ .job = job, .space = space, .lambda = lambda * unit, .n = n, .r = r };
    a->block = r > SHORTEST_BLOCK ? r : SHORTEST_BLOCK;
    a->blocks = (n + a->block - 1) / a->block;
    const struct {
        double **at;
        size_t rows, cols;
    } wanted[] = {
        { &a->s, r, 1 },
        { &a->pulls, r, 1 },
        { &a->z, n, r },
        { &a->y, n, r },
        { &a->lengths, n, 1 },
        { &a->grams, a->blocks * r, r },
        { &a->sums, a->blocks, 1 },
        { &a->scratch, (size_t)job->threads * 2 * a->block, r },
        { &a->gram, r, r },
        { &a->shrink, r, r },
        { &a->vectors, r, r },
        { &a->scaled, r, r },
        { &a->values, r, 1 },
        { &a->eigen, clo_i_eigen_scratch(r, r), 1 },
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        CLO_TRY(take(wanted[i].rows, wanted[i].cols, wanted[i].at, err));
    for (size_t j = 0; j < r; j++) {
        a->s[j] = space->values[j] / unit;
        a->pulls[j] = a->lambda / penalty * a->s[j] * a->s[j];
    }
    memcpy(a->z, space->vectors, n * r * sizeof *a->z);
    return CLO_OK;
}

/* ---- blocks ------------------------------------------------------------------ */

static size_t block_end(const alm *a, size_t block)
{
    const size_t end = (block + 1) * a->block;
    return end < a->n ? end : a->n;
}

static double *scratch_of(const alm *a)
{
    return a->scratch + (size_t)omp_get_thread_num() * 2 * a->block * a->r;
}

/* The symmetric sum of the blocks' upper triangles, in a->gram. */
static void add_grams(alm *a)
{
    const size_t r = a->r;
    memset(a->gram, 0, r * r * sizeof *a->gram);
    for (size_t b = 0; b < a->blocks; b++)
        for (size_t i = 0; i < r * r; i++) a->gram[i] += a->grams[b * r * r + i];
    for (size_t i = 0; i < r; i++)
        for (size_t j = 0; j < i; j++) a->gram[i * r + j] = a->gram[j * r + i];
}

/* The Gram matrix of Z - share Y, or of Y alone, in a->gram; and <Y, V>. */
static double sum_grams(alm *a, bool of_z, double share)
{
    const size_t r = a->r;
    double product = 0;
#pragma omp parallel for num_threads(a->job->threads) schedule(static)
    for (size_t b = 0; b < a->blocks; b++) {
        const size_t first = b * a->block * r, count = block_end(a, b) * r - first;
        const double *const z = a->z + first, *const y = a->y + first;
        const double *const v = a->space->vectors + first;
        double *const rows = scratch_of(a), sum = 0;
        for (size_t i = 0; i < count; i++) rows[i] = of_z ? z[i] - share * y[i] : y[i];
        for (size_t i = 0; i < count; i++) sum += y[i] * v[i];
        memset(a->grams + b * r * r, 0, r * r * sizeof *a->grams);
        clo_i_gram_add(rows, count / r, r, a->grams + b * r * r);
        a->sums[b] = sum;
    }
    for (size_t b = 0; b < a->blocks; b++) product += a->sums[b];
    add_grams(a);
    return product;
}

/* ---- one step ------------------------------------------------------------------ */

/* The matrix that takes Z - Y to J: each singular value s becomes max(s - 1/penalty, 0), which is
 * what a->values then holds. */
static clo_status make_shrinkage(alm *a, clo_error *err)
{
    const size_t r = a->r;
    CLO_TRY(clo_i_eigen_top(a->gram, r, r, a->values, a->vectors, a->eigen, err));
    for (size_t j = 0; j < r; j++) {
        const double value = sqrt(fmax(a->values[j], 0));
        const double left = fmax(value - 1 / penalty, 0);
        for (size_t i = 0; i < r; i++)
            a->scaled[i * r + j] = left > 0 ? a->vectors[i * r + j] * (left / value) : 0;
        a->values[j] = left;
    }
    clo_i_multiply_transposed(a->scaled, r, a->vectors, r, r, a->shrink);
    return CLO_OK;
}

/* The length t of the error that minimises lambda |S e| + penalty/2 |e - gap|^2: the root of
 * |q(t)| = 1, q_j = s_j gap_j / (t + pull_j), or 0.  1/|q| is concave and increasing, so that
 * Newton's method rises to the root without passing it, from whichever side it came. */
static double error_length(const alm *a, const double *gap, double start)
{
    const double *const s = a->s, *const pull = a->pulls;
    double t = 0, square = 0;
    for (size_t j = 0; j < a->r; j++) {
        const double q = s[j] * gap[j] / pull[j];
        square += q * q;
    }
    if (square <= 1) return 0;
    t = start;
    for (int step = 0; step < NEWTON_STEPS; step++) {
        double norm = 0, slope = 0;
#pragma omp simd reduction(+ : norm, slope)
        for (size_t j = 0; j < a->r; j++) {
            const double reciprocal = 1 / (t + pull[j]), q = s[j] * gap[j] * reciprocal;
            norm += q * q;
            slope += q * q * reciprocal;
        }
        const double move = norm * (sqrt(norm) - 1) / slope;
        const double before = t;
        t = fmax(t + move, 0);
        if (fabs(t - before) <= 8 * DBL_EPSILON * t) break;
    }
    return t;
}

/* J for one block, then Z, its errors and the multiplier. */
static void step_block(alm *a, size_t b)
{
    const size_t r = a->r, first = b * a->block, count = block_end(a, b) - first;
    double *const from = scratch_of(a), *const j = from + a->block * r;
    double *const z = a->z + first * r, *const y = a->y + first * r;
    const double *const v = a->space->vectors + first * r;
    for (size_t i = 0; i < count * r; i++) from[i] = z[i] - y[i];
    clo_i_multiply_transposed(from, count, a->shrink, r, r, j);
    for (size_t i = 0; i < count; i++) {
        double *const row = z + i * r, *const gap = from;
        for (size_t c = 0; c < r; c++) {
            y[i * r + c] += relaxation * j[i * r + c] + (1 - relaxation) * row[c];
            gap[c] = v[i * r + c] - y[i * r + c];
        }
        const double t = error_length(a, gap, a->lengths[first + i]);
        for (size_t c = 0; c < r; c++) {
            row[c] = v[i * r + c] - (t > 0 ? gap[c] * t / (t + a->pulls[c]) : 0);
            y[i * r + c] -= row[c];
        }
        a->lengths[first + i] = t;
    }
}

static clo_status step(alm *a, clo_error *err)
{
    sum_grams(a, true, 1);
    CLO_TRY(make_shrinkage(a, err));
#pragma omp parallel for num_threads(a->job->threads) schedule(static)
    for (size_t b = 0; b < a->blocks; b++) step_block(a, b);
    return CLO_OK;
}

/* ---- the gap ------------------------------------------------------------------- */

static clo_status measure_gap(alm *a, clo_lrr_fit *fit, clo_error *err)
{
    double largest = 0, nuclear = 0, errors = 0;
    const double product = -penalty * sum_grams(a, false, 0);
    CLO_TRY(clo_i_eigen_top(a->gram, a->r, 1, &largest, a->scaled, a->eigen, err));
    sum_grams(a, true, 0);
    double *const squares = a->scaled; /* r of them; the vectors, of no use, go to shrink */
    CLO_TRY(clo_i_eigen_top(a->gram, a->r, a->r, squares, a->shrink, a->eigen, err));
    for (size_t j = 0; j < a->r; j++) nuclear += sqrt(fmax(squares[j], 0));
    for (size_t i = 0; i < a->n; i++) errors += a->lengths[i];
    fit->objective = nuclear + a->lambda * errors;
    fit->bound = fmax(product / fmax(penalty * sqrt(fmax(largest, 0)), 1), 0);
    return CLO_OK;
}

static clo_status iterate(alm *a, const clo_lrr_options *options, clo_lrr_fit *fit, clo_error *err)
{
    for (size_t i = 1; i <= options->iterations; i++) {
        CLO_TRY(step(a, err));
        fit->iterations = i;
        if (i % STEPS_A_CHECK == 0 || i == options->iterations) {
            CLO_TRY(measure_gap(a, fit, err));
            if (fit->objective - fit->bound <= options->tolerance * fit->objective) break;
        }
        /* Nobody knows how many steps are left; twenty is usual. */
        CLO_TRY(clo_i_job_progress(a->job, (double)i / (double)(i + 20), err));
    }
    return CLO_OK;
}

/* ---- lambda -------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

clo_status clo_i_lrr_lambda(const clo_row_space *space, double share, double *out, clo_error *err)
{
    const double largest = space->values[0];
    double *prices = NULL;
    if (share > 0) {
        *out = 3 / (7 * largest * sqrt(share * (double)space->count));
        return CLO_OK;
    }
    CLO_TRY(clo_i_alloc(space->count, sizeof *prices, &prices, err));
    for (size_t i = 0; i < space->count; i++) {
        double square = 0;
        for (size_t j = 0; j < space->rank; j++) {
            const double part = space->vectors[i * space->rank + j] * (largest / space->values[j]);
            square += part * part;
        }
        prices[i] = sqrt(square) / largest;
    }
    qsort(prices, space->count, sizeof *prices, compare);
    const double median = prices[space->count / 2];
    *out = median > 0 ? 2 * median : 1 / largest; /* 0: most rows are */
    clo_i_free(prices);
    return CLO_OK;
}

/* ---- the whole ------------------------------------------------------------------ */

clo_status clo_i_lrr_alm(const clo_solver_input *job, const clo_row_space *space,
                         const clo_lrr_options *options, clo_lrr_fit *out, clo_error *err)
{
    clo_lrr_fit fit = { 0 };
    alm a = { 0 };
    const int threads = clo_i_blas_serial_begin();
    clo_status status = CLO_OK;
    if (space->rank == 0)
        status = clo_i_fail(err, CLO_ARGUMENT, "all rows are zero; there is nothing to represent");
    if (!status) status = new_alm(job, space, options->lambda, &a, err);
    if (!status) status = iterate(&a, options, &fit, err);
    if (!status) {
        for (size_t i = 0; i < a.n; i++) a.lengths[i] *= space->values[0];
        fit.coefficients = a.z;
        fit.errors = a.lengths;
        fit.directions = a.vectors;
        fit.values = a.values;
        a.z = a.lengths = a.vectors = a.values = NULL;
        *out = fit;
    }
    free_alm(&a);
    clo_i_blas_serial_end(threads);
    return status;
}

void clo_i_lrr_fit_free(clo_lrr_fit *fit)
{
    clo_i_free(fit->coefficients);
    clo_i_free(fit->errors);
    clo_i_free(fit->directions);
    clo_i_free(fit->values);
    memset(fit, 0, sizeof *fit);
}
