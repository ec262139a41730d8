/*
 * factor_affinity.c - affinities made of inner products, |<f_i, f_j>|^power with weights.
 *
 * Few points get the whole matrix: the lower triangle by blocks of rows, then its mirror image, so
 * that it is symmetric to the last bit.  Many points keep each row's largest entries alone, found
 * block by block with a heap; the whole matrix is never there.  A power above 1 makes the entries
 * that are left out small ones.  The blocks do not depend on the threads, so neither do the
 * results.
 */
#include "solver/affinity/lowrank.h"
#include "linalg/linalg.h"
#include <math.h>
#include <omp.h>
#include <string.h>

enum { BLOCK = 64, BLOCKS_A_REPORT = 64 };

static double power_of(double x, unsigned power)
{
    double result = 1;
    for (; power > 0; power >>= 1, x *= x)
        if (power & 1) result *= x;
    return result;
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Makes affinities of the inner products of point i with the first `count` points. */
static void weigh(const clo_factor *f, size_t i, size_t count, double *row)
{
    for (size_t j = 0; j < count; j++) row[j] = power_of(fabs(row[j]), f->power);
    for (size_t j = 0; j < count && f->scale; j++) row[j] *= 0.5 * (f->scale[i] + f->scale[j]);
    if (i < count) row[i] = 0;
}

/* ---- the whole ----------------------------------------------------------- */

/* dgemm writes rows of any distance, but the call of linalg does not: a block goes through
 * scratch. */
static void lower_block(const clo_factor *f, size_t block, double *scratch, double *dense)
{
    const size_t first = block * BLOCK, end = smaller(first + BLOCK, f->count);
    clo_i_multiply_transposed(f->rows + first * f->width, end - first, f->rows, end, f->width,
                              scratch);
    for (size_t i = first; i < end; i++) {
        double *const products = scratch + (i - first) * end;
        weigh(f, i, i + 1, products);
        memcpy(dense + i * f->count, products, (i + 1) * sizeof *dense);
    }
}

static void mirror_block(size_t count, size_t block, double *dense)
{
    const size_t first = block * BLOCK, end = smaller(first + BLOCK, count);
    for (size_t tile = first; tile < count; tile += BLOCK)
        for (size_t i = first; i < end; i++)
            for (size_t j = tile > i ? tile : i + 1; j < smaller(tile + BLOCK, count); j++)
                dense[i * count + j] = dense[j * count + i];
}

static clo_status dense_affinity(const clo_solver_input *job, const clo_factor *f,
                                 clo_affinity *out, clo_error *err)
{
    const size_t n = f->count, blocks = (n + BLOCK - 1) / BLOCK;
    double *dense = NULL, *scratch = NULL;
    size_t cells;
    if (!clo_i_multiply(n, n, &cells))
        return clo_i_fail(err, CLO_MEMORY,
                          "there is not enough memory for the affinity of so "
                          "many rows");
    CLO_TRY(clo_i_alloc(cells, sizeof *dense, &dense, err));
    clo_status status =
        clo_i_alloc((size_t)job->threads * BLOCK * n, sizeof *scratch, &scratch, err);
    if (!status) status = clo_i_job_progress(job, 0, err);
    if (!status) {
        const int threads = clo_i_blas_serial_begin();
#pragma omp parallel for num_threads(job->threads) schedule(dynamic)
        for (size_t b = 0; b < blocks; b++)
            lower_block(f, b, scratch + (size_t)omp_get_thread_num() * BLOCK * n, dense);
#pragma omp parallel for num_threads(job->threads) schedule(dynamic)
        for (size_t b = 0; b < blocks; b++) mirror_block(n, b, dense);
        clo_i_blas_serial_end(threads);
        *out = (clo_affinity){ .count = n, .dense = dense };
        dense = NULL;
    }
    clo_i_free(scratch);
    clo_i_free(dense);
    return status;
}

/* ---- the largest of each row ----------------------------------------------- */

/* The kept entries of one row: a heap whose top is the one to go next, the smallest and among
 * equals the last. */
typedef struct kept {
    double *weights;
    uint32_t *columns;
    size_t count;
} kept;

static bool goes_before(const kept *k, size_t a, size_t b)
{
    return k->weights[a] < k->weights[b] ||
           (k->weights[a] == k->weights[b] && k->columns[a] > k->columns[b]);
}

static void sift_down(kept *k, size_t at)
{
    for (size_t child; (child = 2 * at + 1) < k->count; at = child) {
        if (child + 1 < k->count && goes_before(k, child + 1, child)) child++;
        if (!goes_before(k, child, at)) return;
        const double weight = k->weights[at];
        const uint32_t column = k->columns[at];
        k->weights[at] = k->weights[child];
        k->columns[at] = k->columns[child];
        k->weights[child] = weight;
        k->columns[child] = column;
    }
}

static void make_heap(kept *k)
{
    for (size_t at = k->count / 2; at-- > 0;) sift_down(k, at);
}

/* The columns have come in increasing order, so that one that only equals the top goes. */
static void keep_largest(const double *row, size_t self, size_t count, size_t most, kept *k)
{
    k->count = 0;
    for (size_t j = 0; j < count; j++) {
        if (j == self) continue;
        if (k->count < most) {
            k->weights[k->count] = row[j];
            k->columns[k->count++] = (uint32_t)j;
            if (k->count == most) make_heap(k);
        } else if (row[j] > k->weights[0]) {
            k->weights[0] = row[j];
            k->columns[0] = (uint32_t)j;
            sift_down(k, 0);
        }
    }
}

/* By columns: what follows wants them increasing. */
static void sort_columns(kept *k)
{
    for (size_t i = 1; i < k->count; i++) {
        const double weight = k->weights[i];
        const uint32_t column = k->columns[i];
        size_t at = i;
        for (; at > 0 && k->columns[at - 1] > column; at--) {
            k->columns[at] = k->columns[at - 1];
            k->weights[at] = k->weights[at - 1];
        }
        k->columns[at] = column;
        k->weights[at] = weight;
    }
}

typedef struct sparse_rows {
    size_t *starts;
    uint32_t *columns;
    double *weights;
    size_t each;
} sparse_rows;

static void sparse_block(const clo_factor *f, size_t block, double *scratch, sparse_rows *s)
{
    const size_t first = block * BLOCK, end = smaller(first + BLOCK, f->count);
    clo_i_multiply_transposed(f->rows + first * f->width, end - first, f->rows, f->count, f->width,
                              scratch);
    for (size_t i = first; i < end; i++) {
        double *const row = scratch + (i - first) * f->count;
        kept k = { s->weights + i * s->each, s->columns + i * s->each, 0 };
        weigh(f, i, f->count, row);
        keep_largest(row, i, f->count, s->each, &k);
        sort_columns(&k);
    }
}

/* Some blocks at a time, so that the caller hears of it and can stop it. */
static clo_status fill_sparse(const clo_solver_input *job, const clo_factor *f, double *scratch,
                              sparse_rows *s, clo_error *err)
{
    const size_t blocks = (f->count + BLOCK - 1) / BLOCK;
    clo_status status = CLO_OK;
    const int threads = clo_i_blas_serial_begin();
    for (size_t b = 0; b < blocks && !status; b += BLOCKS_A_REPORT) {
        status = clo_i_job_progress(job, (double)b / (double)blocks, err);
#pragma omp parallel for num_threads(job->threads) schedule(dynamic) if (!status)
        for (size_t i = b; i < (status ? b : smaller(b + BLOCKS_A_REPORT, blocks)); i++)
            sparse_block(f, i, scratch + (size_t)omp_get_thread_num() * BLOCK * f->count, s);
    }
    clo_i_blas_serial_end(threads);
    return status;
}

static clo_status sparse_affinity(const clo_solver_input *job, const clo_factor *f, size_t each,
                                  clo_affinity *out, clo_error *err)
{
    sparse_rows s = { .each = each };
    double *scratch = NULL;
    size_t entries, cells;
    if (!clo_i_multiply(f->count, each, &entries) ||
        !clo_i_multiply(f->count, (size_t)job->threads * BLOCK, &cells))
        return clo_i_fail(err, CLO_MEMORY,
                          "there is not enough memory for the affinity of so "
                          "many rows");
    clo_status status = clo_i_alloc(f->count + 1, sizeof *s.starts, &s.starts, err);
    if (!status) status = clo_i_alloc(entries, sizeof *s.columns, &s.columns, err);
    if (!status) status = clo_i_alloc(entries, sizeof *s.weights, &s.weights, err);
    if (!status) status = clo_i_alloc(cells, sizeof *scratch, &scratch, err);
    for (size_t i = 0; i <= f->count && !status; i++) s.starts[i] = i * each;
    if (!status) status = fill_sparse(job, f, scratch, &s, err);
    clo_i_free(scratch);
    if (!status)
        status = clo_i_affinity_from_sparse(s.starts, s.columns, s.weights, f->count, out, err);
    clo_i_free(s.starts);
    clo_i_free(s.columns);
    clo_i_free(s.weights);
    return status;
}

clo_status clo_i_factor_affinity(const clo_solver_input *job, const clo_factor *factor,
                                 size_t neighbours, clo_affinity *out, clo_error *err)
{
    if (factor->count > UINT32_MAX)
        return clo_i_fail(err, CLO_ARGUMENT, "an affinity of more than 2^32 rows cannot be made");
    if (neighbours == 0 && factor->count > CLO_FACTOR_DENSE_ROWS)
        neighbours = CLO_FACTOR_NEIGHBOURS;
    if (neighbours == 0 || neighbours >= factor->count)
        return dense_affinity(job, factor, out, err);
    return sparse_affinity(job, factor, neighbours, out, err);
}
