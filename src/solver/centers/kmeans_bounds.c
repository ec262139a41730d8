/*
 * kmeans_bounds.c - steps of k-means that skip what the triangle inequality rules out.
 *
 * Hamerly keeps two numbers a row: how far its centre is at most, how near another one is at least.
 * Elkan keeps the latter for every centre.  Both label every row as a full step would, but for ties
 * within rounding.  Where Hamerly's numbers do not decide, the row waits until a block of such
 * rows is full and is scored with a matrix product like any other: that is worth more than the
 * single distances that finer tests would save, until there are many centres.
 */
#include "solver/centers/kmeans.h"
#include <cblas.h>
#include <math.h>
#include <string.h>

enum { LONG_ENOUGH = 32 };

/* x.y, by BLAS where the vectors are long enough for a call to pay. */
static double dot(const double *x, const double *y, size_t count)
{
    if (count >= LONG_ENOUGH) return cblas_ddot((int)count, x, 1, y, 1);
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (size_t j = 0; j < count; j++) sum += x[j] * y[j];
    return sum;
}

/* |x - c| from a score of row `row`. */
static double distance_of(const clo_kmeans_run *run, size_t row, double score)
{
    const double square = run->points->norms[row] - 2 * score;
    return square > 0 ? sqrt(square) : 0;
}

static double distance_to(const clo_kmeans_run *run, size_t row, size_t cluster)
{
    const size_t d = run->points->cols;
    return distance_of(run, row,
                       dot(run->points->rows + row * d, run->centers + cluster * d, d) -
                           run->bias[cluster]);
}

/* Half the distances between centres: a row that is nearer to its own than this stays there. */
void clo_i_bounds_prepare(clo_kmeans_run *run)
{
    const size_t k = run->clusters, d = run->points->cols;
    for (size_t a = 0; a < k; a++) run->nearest[a] = INFINITY;
    for (size_t a = 0; a < k; a++)
        for (size_t b = a + 1; b < k; b++) {
            double square = 0;
#pragma omp simd reduction(+ : square)
            for (size_t j = 0; j < d; j++) {
                const double apart = run->centers[a * d + j] - run->centers[b * d + j];
                square += apart * apart;
            }
            const double half = sqrt(square) / 2;
            if (run->gaps) run->gaps[a * k + b] = run->gaps[b * k + a] = half;
            run->nearest[a] = fmin(run->nearest[a], half);
            run->nearest[b] = fmin(run->nearest[b], half);
        }
}

/* ---- Hamerly ------------------------------------------------------------------------------- */

/* Scores the rows that wait. */
static void flush(clo_kmeans_run *run, size_t slice, clo_block *block)
{
    const clo_points *const p = run->points;
    if (block->queued == 0) return;
    const size_t first = block->queue[0], last = block->queue[block->queued - 1];
    const double *rows = p->rows + first * p->cols;
    if (last - first + 1 != block->queued) {
        for (size_t i = 0; i < block->queued; i++)
            memcpy(block->gathered + i * p->cols, p->rows + block->queue[i] * p->cols,
                   p->cols * sizeof *rows);
        rows = block->gathered;
    }
    clo_i_block_score(run, rows, block->queued, block);
    clo_i_block_best_two(run, block->queued, block);
    for (size_t i = 0; i < block->queued; i++) {
        const size_t row = block->queue[i];
        run->upper[row] = distance_of(run, row, block->best[i]);
        run->lower[row] = distance_of(run, row, block->second[i]);
        clo_i_relabel(run, slice, row, (uint32_t)block->winner[i]);
    }
    block->queued = 0;
}

/* The farthest that any centre went, and the farthest of the others. */
static void two_largest(const double *moves, size_t count, size_t *whose, double *first,
                        double *second)
{
    *whose = 0;
    *first = moves[0];
    *second = 0;
    for (size_t c = 1; c < count; c++) {
        if (moves[c] > *first) {
            *second = *first;
            *first = moves[c];
            *whose = c;
        } else {
            *second = fmax(*second, moves[c]);
        }
    }
}

void clo_i_hamerly_slice(clo_kmeans_run *run, size_t slice, clo_block *block)
{
    const clo_points *const p = run->points;
    const size_t end = clo_i_slice_begin(p, slice + 1);
    size_t mover = 0;
    double far = 0, others = 0;
    two_largest(run->moves, run->clusters, &mover, &far, &others);
    block->queued = 0;
    for (size_t i = clo_i_slice_begin(p, slice); i < end; i++) {
        const uint32_t own = run->labels[i];
        if (own != CLO_KMEANS_NONE) {
            run->upper[i] += run->moves[own];
            run->lower[i] -= own == mover ? others : far;
            const double near = run->nearest[own], low = run->lower[i];
            const double safe = low > near ? low : near;
            if (run->upper[i] < safe) continue;
            if (isfinite(run->upper[i])) run->upper[i] = distance_to(run, i, own);
            if (run->upper[i] < safe) continue;
        }
        block->queue[block->queued++] = i;
        if (block->queued == CLO_KMEANS_BLOCK) flush(run, slice, block);
    }
    flush(run, slice, block);
}

/* ---- Elkan --------------------------------------------------------------------------------- */

/* The first step: all distances, by blocks. */
static void first_bounds(clo_kmeans_run *run, size_t slice, clo_block *block)
{
    const clo_points *const p = run->points;
    const size_t k = run->clusters, end = clo_i_slice_begin(p, slice + 1);
    for (size_t at = clo_i_slice_begin(p, slice); at < end; at += CLO_KMEANS_BLOCK) {
        const size_t count = end - at < CLO_KMEANS_BLOCK ? end - at : CLO_KMEANS_BLOCK;
        clo_i_block_score(run, p->rows + at * p->cols, count, block);
        clo_i_block_best(run, count, block);
        for (size_t i = 0; i < count; i++) {
            for (size_t c = 0; c < k; c++)
                run->lower[(at + i) * k + c] = distance_of(
                    run, at + i, block->scores[c * CLO_KMEANS_BLOCK + i] - run->bias[c]);
            run->upper[at + i] = distance_of(run, at + i, block->best[i]);
            clo_i_relabel(run, slice, at + i, (uint32_t)block->winner[i]);
        }
    }
}

/* The nearest centre of one row, whose bounds have been moved along with the centres. */
static uint32_t elkan_row(clo_kmeans_run *run, size_t row)
{
    const size_t k = run->clusters;
    double *const lower = run->lower + row * k;
    uint32_t own = run->labels[row];
    double upper = run->upper[row];
    bool tight = false;
    for (size_t c = 0; c < k; c++) {
        if (c == own || upper < lower[c] || upper < run->gaps[own * k + c]) continue;
        if (!tight) {
            upper = lower[own] = distance_to(run, row, own);
            tight = true;
            if (upper < lower[c] || upper < run->gaps[own * k + c]) continue;
        }
        const double distance = lower[c] = distance_to(run, row, c);
        if (distance < upper || (distance == upper && c < own)) {
            own = (uint32_t)c;
            upper = distance;
        }
    }
    run->upper[row] = upper;
    return own;
}

void clo_i_elkan_slice(clo_kmeans_run *run, size_t slice, clo_block *block)
{
    const clo_points *const p = run->points;
    const size_t k = run->clusters, begin = clo_i_slice_begin(p, slice);
    if (run->labels[begin] == CLO_KMEANS_NONE) {
        first_bounds(run, slice, block);
        return;
    }
    for (size_t i = begin; i < clo_i_slice_begin(p, slice + 1); i++) {
        double *const lower = run->lower + i * k;
#pragma omp simd
        for (size_t c = 0; c < k; c++) lower[c] -= run->moves[c];
        run->upper[i] += run->moves[run->labels[i]];
        if (run->upper[i] < run->nearest[run->labels[i]]) continue;
        clo_i_relabel(run, slice, i, elkan_row(run, i));
    }
}
