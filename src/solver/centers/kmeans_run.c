/*
 * kmeans_run.c - one run of k-means: scores of blocks of rows, labels, sums, centres.
 *
 * The scores are laid out centre by centre, so that the search for the best runs over the rows of
 * a block and the compiler can do several rows at once.  The sums follow the labels: only a row
 * that changes its cluster is taken out of one sum and added to another, which late in a run is
 * almost none of them.
 */
#include "solver/centers/kmeans.h"
#include <cblas.h>
#include <math.h>
#include <omp.h>
#include <string.h>

/* ---- the points ---------------------------------------------------------------------------- */

static clo_status check_weights(clo_points *points, clo_error *err)
{
    points->total = 0;
    for (size_t i = 0; i < points->count; i++) {
        const double weight = clo_i_point_weight(points, i);
        if (!(weight >= 0) || !isfinite(weight))
            return clo_i_fail(err, CLO_ARGUMENT,
                              "the weights of rows must be finite and not negative");
        points->total += weight;
    }
    if (!(points->total > 0) || !isfinite(points->total))
        return clo_i_fail(err, CLO_ARGUMENT, "the weights of rows must have a finite sum above 0");
    return CLO_OK;
}

static void center(clo_points *points)
{
    const size_t d = points->cols;
    double spread = 0;
    for (size_t i = 0; i < points->count; i++) {
        const double share = clo_i_point_weight(points, i) / points->total;
        for (size_t j = 0; j < d; j++) points->mean[j] += share * points->rows[i * d + j];
    }
    for (size_t i = 0; i < points->count; i++) {
        double square = 0;
        for (size_t j = 0; j < d; j++) {
            const double apart = points->rows[i * d + j] - points->mean[j];
            square += apart * apart;
        }
        points->norms[i] = square;
        spread += clo_i_point_weight(points, i) * square;
    }
    points->variance = spread / points->total / (double)d;
}

clo_status clo_i_points_new(const clo_solver_input *job, const double *weights, size_t clusters,
                            clo_points *out, clo_error *err)
{
    clo_points made = {
        .rows = job->rows, .count = job->count, .cols = job->cols, .weights = weights
    };
    size_t slices = made.count / 2048; /* large enough to be worth a thread's while … */
    if (slices > CLO_KMEANS_SLICES) slices = CLO_KMEANS_SLICES;
    if (slices > made.count / (8 * clusters)) slices = made.count / (8 * clusters);
    made.slices = slices < 1 ? 1 : slices; /* … and to outweigh the sums that it keeps */
    CLO_TRY(check_weights(&made, err));
    clo_status status = clo_i_alloc(made.cols, sizeof *made.mean, &made.mean, err);
    if (!status) status = clo_i_alloc(made.count, sizeof *made.norms, &made.norms, err);
    if (!status) {
        center(&made);
        if (!isfinite(made.variance))
            status = clo_i_fail(err, CLO_ARGUMENT,
                                "the values are too large to be squared; scale them down");
    }
    if (status)
        clo_i_points_free(&made);
    else
        *out = made;
    return status;
}

void clo_i_points_free(clo_points *points)
{
    clo_i_free(points->mean);
    clo_i_free(points->norms);
    memset(points, 0, sizeof *points);
}

/* ---- memory -------------------------------------------------------------------------------- */

static clo_status make_blocks(clo_kmeans_run *run, clo_error *err)
{
    const size_t k = run->clusters, d = run->points->cols, n = run->points->count;
    const size_t most = n < CLO_KMEANS_BLOCK ? n : CLO_KMEANS_BLOCK;
    CLO_TRY(clo_i_alloc((size_t)run->threads, sizeof *run->blocks, &run->blocks, err));
    for (int t = 0; t < run->threads; t++) {
        clo_block *const block = &run->blocks[t];
        CLO_TRY(clo_i_alloc(k * CLO_KMEANS_BLOCK, sizeof(double), &block->scores, err));
        if (run->bounds != CLO_KMEANS_LLOYD)
            CLO_TRY(clo_i_alloc(d * most, sizeof(double), &block->gathered, err));
    }
    return CLO_OK;
}

static clo_status make_bounds(clo_kmeans_run *run, clo_error *err)
{
    const size_t n = run->points->count, k = run->clusters;
    size_t cells = n;
    if (run->bounds == CLO_KMEANS_LLOYD) return CLO_OK;
    if (run->bounds == CLO_KMEANS_ELKAN) {
        if (!clo_i_multiply(n, k, &cells))
            return clo_i_fail(err, CLO_MEMORY,
                              "the bounds of there is not enough memory for so "
                              "many rows");
        CLO_TRY(clo_i_alloc(k * k, sizeof *run->gaps, &run->gaps, err));
    }
    CLO_TRY(clo_i_alloc(n, sizeof *run->upper, &run->upper, err));
    CLO_TRY(clo_i_alloc(cells, sizeof *run->lower, &run->lower, err));
    return clo_i_alloc(k, sizeof *run->nearest, &run->nearest, err);
}

clo_status clo_i_kmeans_run_new(const clo_points *points, size_t clusters, clo_kmeans_bounds bounds,
                                int threads, clo_kmeans_run *out, clo_error *err)
{
    clo_kmeans_run run = {
        .points = points, .clusters = clusters, .bounds = bounds, .threads = threads
    };
    const size_t cells = clusters * points->cols;
    clo_status status = clo_i_alloc(cells, sizeof(double), &run.centers, err);
    if (!status) status = clo_i_alloc(cells, sizeof(double), &run.previous, err);
    if (!status) status = clo_i_alloc(2 * cells, sizeof(double), &run.scratch, err);
    if (!status) status = clo_i_alloc(clusters, sizeof(double), &run.bias, err);
    if (!status) status = clo_i_alloc(clusters, sizeof(double), &run.moves, err);
    if (!status) status = clo_i_alloc(points->count, sizeof *run.labels, &run.labels, err);
    if (!status)
        status = clo_i_alloc(points->slices * (cells + clusters), sizeof(double), &run.sums, err);
    if (!status)
        status = clo_i_alloc(points->slices * clusters, sizeof *run.members, &run.members, err);
    if (!status) status = clo_i_alloc(clusters, sizeof *run.sizes, &run.sizes, err);
    if (!status) status = clo_i_alloc(points->slices, sizeof *run.changed, &run.changed, err);
    if (!status) status = clo_i_alloc(points->count, sizeof *run.order, &run.order, err);
    if (!status) status = clo_i_alloc(clusters + 1, sizeof *run.begins, &run.begins, err);
    if (!status) status = make_bounds(&run, err);
    if (!status) status = make_blocks(&run, err);
    if (status)
        clo_i_kmeans_run_free(&run);
    else
        *out = run;
    return status;
}

void clo_i_kmeans_run_free(clo_kmeans_run *run)
{
    for (int t = 0; run->blocks && t < run->threads; t++) {
        clo_i_free(run->blocks[t].scores);
        clo_i_free(run->blocks[t].gathered);
    }
    clo_i_free(run->blocks);
    clo_i_free(run->centers);
    clo_i_free(run->previous);
    clo_i_free(run->scratch);
    clo_i_free(run->bias);
    clo_i_free(run->labels);
    clo_i_free(run->sums);
    clo_i_free(run->members);
    clo_i_free(run->sizes);
    clo_i_free(run->moves);
    clo_i_free(run->upper);
    clo_i_free(run->lower);
    clo_i_free(run->gaps);
    clo_i_free(run->nearest);
    clo_i_free(run->changed);
    clo_i_free(run->order);
    clo_i_free(run->begins);
    memset(run, 0, sizeof *run);
}

void clo_i_kmeans_begin(clo_kmeans_run *run)
{
    const clo_points *const p = run->points;
    memset(run->sums, 0, p->slices * run->clusters * (p->cols + 1) * sizeof *run->sums);
    memset(run->members, 0, p->slices * run->clusters * sizeof *run->members);
    memset(run->moves, 0, run->clusters * sizeof *run->moves);
    for (size_t i = 0; i < p->count; i++) run->labels[i] = CLO_KMEANS_NONE;
}

/* ---- scores -------------------------------------------------------------------------------- */

void clo_i_block_score(const clo_kmeans_run *run, const double *rows, size_t count,
                       clo_block *block)
{
    const int k = (int)run->clusters, d = (int)run->points->cols;
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, k, (int)count, d, 1.0, run->centers, d,
                rows, d, 0.0, block->scores, CLO_KMEANS_BLOCK);
}

/* Two rows at once, in what every x86-64 and ARM64 has; others get the same by two. */
typedef double pair __attribute__((vector_size(16), may_alias));
typedef int64_t mask __attribute__((vector_size(16)));

static pair choose(mask first, pair a, pair b)
{
    return (pair)((first & (mask)a) | (~first & (mask)b));
}

/* Rows beyond count are scored along, up to the next pair; nobody looks at them. */
void clo_i_block_best(const clo_kmeans_run *run, size_t count, clo_block *block)
{
    for (size_t i = 0; i < count; i += 4) {
        const double *at = block->scores + i;
        pair best[2];
        mask winner[2] = { { 0 } };
        for (int h = 0; h < 2; h++) best[h] = *(const pair *)(at + 2 * h) - run->bias[0];
        for (size_t c = 1; c < run->clusters; c++) {
            at += CLO_KMEANS_BLOCK;
            for (int h = 0; h < 2; h++) {
                const pair score = *(const pair *)(at + 2 * h) - run->bias[c];
                const mask better = score > best[h];
                best[h] = choose(better, score, best[h]);
                winner[h] = (better & (int64_t)c) | (~better & winner[h]);
            }
        }
        memcpy(block->best + i, best, sizeof best);
        memcpy(block->winner + i, winner, sizeof winner);
    }
}

void clo_i_block_best_two(const clo_kmeans_run *run, size_t count, clo_block *block)
{
    for (size_t i = 0; i < count; i += 4) {
        const double *at = block->scores + i;
        pair best[2], second[2];
        mask winner[2] = { { 0 } };
        for (int h = 0; h < 2; h++) {
            best[h] = *(const pair *)(at + 2 * h) - run->bias[0];
            second[h] = (pair){ -INFINITY, -INFINITY };
        }
        for (size_t c = 1; c < run->clusters; c++) {
            at += CLO_KMEANS_BLOCK;
            for (int h = 0; h < 2; h++) {
                const pair score = *(const pair *)(at + 2 * h) - run->bias[c];
                const mask better = score > best[h];
                const pair beaten = choose(better, best[h], score);
                second[h] = choose(beaten > second[h], beaten, second[h]);
                best[h] = choose(better, score, best[h]);
                winner[h] = (better & (int64_t)c) | (~better & winner[h]);
            }
        }
        memcpy(block->best + i, best, sizeof best);
        memcpy(block->second + i, second, sizeof second);
        memcpy(block->winner + i, winner, sizeof winner);
    }
}

/* ---- labels -------------------------------------------------------------------------------- */

void clo_i_relabel(clo_kmeans_run *run, size_t slice, size_t row, uint32_t label)
{
    const clo_points *const p = run->points;
    const size_t d = p->cols, width = d + 1;
    const uint32_t before = run->labels[row];
    if (before == label) return;
    const double *const x = p->rows + row * d;
    const double weight = clo_i_point_weight(p, row);
    double *const sums = run->sums + slice * run->clusters * width;
    double *const to = sums + label * width;
    size_t *const members = run->members + slice * run->clusters;
    for (size_t j = 0; j < d; j++) to[j] += weight * x[j];
    to[d] += weight;
    members[label] += weight > 0;
    if (before != CLO_KMEANS_NONE) {
        double *const from = sums + before * width;
        for (size_t j = 0; j < d; j++) from[j] -= weight * x[j];
        from[d] -= weight;
        members[before] -= weight > 0;
    }
    run->labels[row] = label;
    run->changed[slice]++;
}

static void lloyd_slice(clo_kmeans_run *run, size_t slice, clo_block *block)
{
    const clo_points *const p = run->points;
    const size_t end = clo_i_slice_begin(p, slice + 1);
    for (size_t at = clo_i_slice_begin(p, slice); at < end; at += CLO_KMEANS_BLOCK) {
        const size_t count = end - at < CLO_KMEANS_BLOCK ? end - at : CLO_KMEANS_BLOCK;
        clo_i_block_score(run, p->rows + at * p->cols, count, block);
        clo_i_block_best(run, count, block);
        for (size_t i = 0; i < count; i++)
            clo_i_relabel(run, slice, at + i, (uint32_t)block->winner[i]);
    }
}

static void set_bias(clo_kmeans_run *run)
{
    const clo_points *const p = run->points;
    for (size_t c = 0; c < run->clusters; c++) {
        const double *const center = run->centers + c * p->cols;
        double dot = 0, square = 0;
        for (size_t j = 0; j < p->cols; j++) {
            dot += p->mean[j] * center[j];
            square += center[j] * center[j];
        }
        run->bias[c] = dot + square / 2;
    }
}

size_t clo_i_kmeans_assign(clo_kmeans_run *run)
{
    size_t changed = 0;
    set_bias(run);
    if (run->bounds != CLO_KMEANS_LLOYD) clo_i_bounds_prepare(run);
#pragma omp parallel for num_threads(run->threads) schedule(dynamic, 1)
    for (size_t slice = 0; slice < run->points->slices; slice++) {
        clo_block *const block = &run->blocks[omp_get_thread_num()];
        run->changed[slice] = 0;
        if (run->bounds == CLO_KMEANS_HAMERLY)
            clo_i_hamerly_slice(run, slice, block);
        else if (run->bounds == CLO_KMEANS_ELKAN)
            clo_i_elkan_slice(run, slice, block);
        else
            lloyd_slice(run, slice, block);
    }
    for (size_t slice = 0; slice < run->points->slices; slice++) changed += run->changed[slice];
    return changed;
}

/* ---- centres ------------------------------------------------------------------------------- */

double clo_i_own_distance(const clo_kmeans_run *run, size_t row)
{
    const clo_points *const p = run->points;
    const double *const x = p->rows + row * p->cols;
    const double *const center = run->centers + run->labels[row] * p->cols;
    double square = 0;
#pragma omp simd reduction(+ : square)
    for (size_t j = 0; j < p->cols; j++) {
        const double apart = (x[j] - p->mean[j]) - center[j];
        square += apart * apart;
    }
    return square;
}

double clo_i_kmeans_cost(const clo_kmeans_run *run)
{
    const clo_points *const p = run->points;
    double parts[CLO_KMEANS_SLICES] = { 0 }, sum = 0;
#pragma omp parallel for num_threads(run->threads) schedule(dynamic, 1)
    for (size_t slice = 0; slice < p->slices; slice++)
        for (size_t i = clo_i_slice_begin(p, slice); i < clo_i_slice_begin(p, slice + 1); i++)
            parts[slice] += clo_i_point_weight(p, i) * clo_i_own_distance(run, i);
    for (size_t slice = 0; slice < p->slices; slice++) sum += parts[slice];
    return sum / p->total;
}

static size_t slice_of(const clo_points *p, size_t row)
{
    size_t slice = 0;
    while (clo_i_slice_begin(p, slice + 1) <= row) slice++;
    return slice;
}

/* The row farthest from its centre among those that are not alone in their cluster; count: none
 * is away from its centre at all.  Rare, so it may look at everything. */
static size_t farthest_row(const clo_kmeans_run *run, const size_t *sizes)
{
    const clo_points *const p = run->points;
    size_t farthest = p->count;
    double most = 0;
    for (size_t i = 0; i < p->count; i++) {
        if (!(clo_i_point_weight(p, i) > 0) || sizes[run->labels[i]] < 2) continue;
        const double distance = clo_i_own_distance(run, i);
        if (distance > most) {
            most = distance;
            farthest = i;
        }
    }
    return farthest;
}

/* Its bounds no longer hold. */
static void forget_bounds(clo_kmeans_run *run, size_t row)
{
    const size_t k = run->clusters;
    if (run->upper) run->upper[row] = INFINITY;
    if (run->bounds == CLO_KMEANS_HAMERLY) run->lower[row] = 0;
    if (run->bounds == CLO_KMEANS_ELKAN) memset(run->lower + row * k, 0, k * sizeof(double));
}

/* An empty cluster gets the row that is worst off.  Where every row sits on its centre there is
 * nothing to gain, and the cluster stays empty where it was. */
static void repair_empty(clo_kmeans_run *run)
{
    size_t *const sizes = run->sizes;
    const clo_points *const p = run->points;
    for (size_t c = 0; c < run->clusters; c++) {
        if (sizes[c] > 0) continue;
        const size_t row = farthest_row(run, sizes);
        if (row == p->count) return;
        sizes[run->labels[row]]--;
        sizes[c]++;
        clo_i_relabel(run, slice_of(p, row), row, (uint32_t)c);
        /* The centre goes there now: the next empty cluster looks elsewhere. */
        for (size_t j = 0; j < p->cols; j++)
            run->centers[c * p->cols + j] = p->rows[row * p->cols + j] - p->mean[j];
        forget_bounds(run, row);
    }
}

/* The mean of a cluster's rows, less the mean of all. */
static void move_center(clo_kmeans_run *run, size_t cluster)
{
    const clo_points *const p = run->points;
    const size_t d = p->cols, stride = run->clusters * (d + 1);
    const double *const sums = run->sums + cluster * (d + 1);
    double *const center = run->centers + cluster * d;
    double weight = 0;
    memset(center, 0, d * sizeof *center);
    for (size_t slice = 0; slice < p->slices; slice++) {
        for (size_t j = 0; j < d; j++) center[j] += sums[slice * stride + j];
        weight += sums[slice * stride + d];
    }
    for (size_t j = 0; j < d; j++) center[j] = center[j] / weight - p->mean[j];
}

void clo_i_kmeans_repair(clo_kmeans_run *run)
{
    const size_t k = run->clusters;
    memcpy(run->previous, run->centers, k * run->points->cols * sizeof *run->centers);
    memset(run->sizes, 0, k * sizeof *run->sizes);
    for (size_t slice = 0; slice < run->points->slices; slice++)
        for (size_t c = 0; c < k; c++) run->sizes[c] += run->members[slice * k + c];
    repair_empty(run);
}

double clo_i_kmeans_measure_moves(clo_kmeans_run *run)
{
    const size_t d = run->points->cols;
    double total = 0;
    for (size_t c = 0; c < run->clusters; c++) {
        double square = 0;
        for (size_t j = 0; j < d; j++) {
            const double apart = run->centers[c * d + j] - run->previous[c * d + j];
            square += apart * apart;
        }
        run->moves[c] = sqrt(square);
        total += square;
    }
    return total;
}

double clo_i_kmeans_update(clo_kmeans_run *run)
{
    clo_i_kmeans_repair(run);
    for (size_t c = 0; c < run->clusters; c++)
        if (run->sizes[c] > 0) move_center(run, c);
    return clo_i_kmeans_measure_moves(run);
}

void clo_i_kmeans_list(clo_kmeans_run *run)
{
    const size_t n = run->points->count, k = run->clusters;
    memset(run->begins, 0, (k + 1) * sizeof *run->begins);
    for (size_t i = 0; i < n; i++) run->begins[run->labels[i] + 1]++;
    for (size_t c = 0; c < k; c++) run->begins[c + 1] += run->begins[c];
    for (size_t i = 0; i < n; i++) run->order[run->begins[run->labels[i]]++] = (uint32_t)i;
    memmove(run->begins + 1, run->begins, k * sizeof *run->begins);
    run->begins[0] = 0;
}
