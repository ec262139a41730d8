/*
 * kplanes_step.c - a worker of k-planes: rows to their nearest flats, flats to their rows, until
 * nothing moves.
 *
 * The squared distance of a row to a flat is |x|^2 less the squares of its products with the flat's
 * directions; all those products are one matrix product a block.  An affine flat is
 * held by its point nearest to the origin, which is at right angles to the directions, so that the
 * point adds one product and one constant.
 */
#include "solver/planes/kplanes.h"
#include "linalg/linalg.h"
#include <cblas.h>
#include <math.h>
#include <omp.h>
#include <string.h>

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t widest(const clo_search *search)
{
    size_t width = 1;
    for (size_t l = 0; l < search->clusters; l++)
        if (search->dims[l] > width) width = search->dims[l];
    return width;
}

/* ---- room ----------------------------------------------------------------------------------- */

static clo_status lane_new(const clo_search *search, clo_lane *lane, clo_error *err)
{
    const size_t d = search->job->cols, h = search->height, q = widest(search);
    clo_status status = clo_i_alloc(h * d, sizeof(double), &lane->block, err);
    if (!status) status = clo_i_alloc(h * search->stack_rows, sizeof(double), &lane->scores, err);
    if (status || search->slices == 0) return status;
    status = clo_i_alloc(d * d, sizeof(double), &lane->moment, err);
    if (!status) status = clo_i_alloc(d, sizeof(double), &lane->values, err);
    if (!status) status = clo_i_alloc(2 * d * q, sizeof(double), &lane->vectors, err);
    if (!status) status = clo_i_alloc(clo_i_eigen_scratch(d, q), sizeof(double), &lane->eigen, err);
    return status;
}

size_t clo_i_worker_bytes(const clo_search *search, int threads)
{
    const size_t d = search->job->cols, q = widest(search);
    const size_t lane = search->height * (d + search->stack_rows) +
                        (search->slices ? d * d + 2 * d * q + clo_i_eigen_scratch(d, q) : 0);
    return 32 * search->job->count +
           8 * ((size_t)threads * lane + search->clusters * search->slices * (d * d + d));
}

clo_status clo_i_worker_new(const clo_search *search, int threads, clo_worker *out, clo_error *err)
{
    const size_t n = search->job->count, d = search->job->cols, k = search->clusters;
    const size_t cells = k * search->slices;
    clo_worker made = { .search = search, .threads = threads, .members.clusters = k };
    clo_status status = clo_i_alloc((size_t)threads, sizeof *made.lanes, &made.lanes, err);
    for (int t = 0; t < threads && !status; t++) status = lane_new(search, &made.lanes[t], err);
    if (!status) status = clo_i_alloc(n, sizeof *made.labels, &made.labels, err);
    if (!status) status = clo_i_alloc(n, sizeof *made.next, &made.next, err);
    if (!status) status = clo_i_alloc(n, sizeof *made.moved, &made.moved, err);
    if (!status) status = clo_i_alloc(n, sizeof *made.members.rows, &made.members.rows, err);
    if (!status)
        status = clo_i_alloc(k + 1, sizeof *made.members.starts, &made.members.starts, err);
    if (!status) status = clo_i_alloc(n, sizeof(double), &made.squared, err);
    if (!status) status = clo_i_alloc(n, sizeof(double), &made.likeness, err);
    if (!status)
        status = clo_i_alloc(n / search->height + 1, sizeof(double), &made.block_costs, err);
    if (!status) status = clo_i_alloc(k, sizeof(double), &made.offset_squares, err);
    if (!status) status = clo_i_alloc(cells * d * d, sizeof(double), &made.cells, err);
    if (!status) status = clo_i_alloc(cells * d, sizeof(double), &made.sums, err);
    if (!status) status = clo_i_alloc(k, sizeof *made.sizes, &made.sizes, err);
    if (!status) status = clo_i_alloc(k, sizeof *made.stale, &made.stale, err);
    if (status)
        clo_i_worker_free(&made);
    else
        *out = made;
    return status;
}

void clo_i_worker_free(clo_worker *worker)
{
    for (int t = 0; t < worker->threads && worker->lanes; t++) {
        clo_i_free(worker->lanes[t].block);
        clo_i_free(worker->lanes[t].scores);
        clo_i_free(worker->lanes[t].moment);
        clo_i_free(worker->lanes[t].values);
        clo_i_free(worker->lanes[t].vectors);
        clo_i_free(worker->lanes[t].eigen);
    }
    clo_i_free(worker->lanes);
    clo_i_free(worker->labels);
    clo_i_free(worker->next);
    clo_i_free(worker->moved);
    clo_i_members_free(&worker->members);
    clo_i_free(worker->squared);
    clo_i_free(worker->likeness);
    clo_i_free(worker->block_costs);
    clo_i_free(worker->offset_squares);
    clo_i_free(worker->cells);
    clo_i_free(worker->sums);
    clo_i_free(worker->sizes);
    clo_i_free(worker->stale);
    memset(worker, 0, sizeof *worker);
}

/* ---- rows to flats -------------------------------------------------------------------------- */

/* Of one cluster: away[i] becomes what its distance is less |x|^2, for the rows of a block. */
static void score_cluster(const clo_worker *worker, size_t cluster, size_t height,
                          const double *scores, double *away)
{
    const clo_search *const s = worker->search;
    const size_t h = s->height;
    if (s->affine) {
        const double *const point = scores + (s->firsts[s->clusters] + cluster) * h;
        const double square = worker->offset_squares[cluster];
        for (size_t i = 0; i < height; i++) away[i] = square - 2 * point[i];
    } else {
        memset(away, 0, height * sizeof *away);
    }
    for (size_t j = s->firsts[cluster]; j < s->firsts[cluster + 1]; j++) {
        const double *const score = scores + j * h;
#pragma omp simd
        for (size_t i = 0; i < height; i++) away[i] -= score[i] * score[i];
    }
}

/* scores are used up: the first row of each cluster's becomes its distances. */
static double assign_block(clo_worker *worker, clo_lane *lane, size_t block)
{
    const clo_search *const s = worker->search;
    const size_t d = s->job->cols, h = s->height, first = block * h;
    const size_t height = smaller(h, s->job->count - first);
    const double *rows = s->job->rows + first * d;
    double *const squared = worker->squared + first, *const away = lane->block;
    uint32_t *const next = worker->next + first;
    double cost = 0;
    if (s->shift) {
        clo_i_gather(s->job, NULL, first, height, s->shift, lane->block);
        rows = lane->block;
    }
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)s->stack_rows, (int)height, (int)d,
                1.0, worker->start->stack, (int)d, rows, (int)d, 0.0, lane->scores, (int)h);
    for (size_t l = 0; l < s->clusters; l++) {
        score_cluster(worker, l, height, lane->scores, l == 0 ? squared : away);
        for (size_t i = 0; i < height && l == 0; i++) next[i] = 0;
        for (size_t i = 0; i < height && l > 0; i++) {
            const bool nearer = away[i] < squared[i];
            squared[i] = nearer ? away[i] : squared[i];
            next[i] = nearer ? (uint32_t)l : next[i];
        }
    }
    for (size_t i = 0; i < height; i++) {
        squared[i] = fmax(squared[i] + s->norms[first + i], 0);
        cost += squared[i];
    }
    return cost;
}

double clo_i_assign(clo_worker *worker)
{
    const clo_search *const s = worker->search;
    const size_t d = s->job->cols, blocks = (s->job->count + s->height - 1) / s->height;
    for (size_t l = 0; l < s->clusters && s->affine; l++) {
        const double *const point = worker->start->stack + (s->firsts[s->clusters] + l) * d;
        worker->offset_squares[l] = cblas_ddot((int)d, point, 1, point, 1);
    }
#pragma omp parallel for num_threads(worker->threads) schedule(static) if (worker->threads > 1)
    for (size_t b = 0; b < blocks; b++)
        worker->block_costs[b] = assign_block(worker, clo_i_lane(worker), b);
    double cost = 0;
    for (size_t b = 0; b < blocks; b++) cost += worker->block_costs[b];
    return cost;
}

/* ---- one step after the other --------------------------------------------------------------- */

/* The rows whose label is to change, in order. */
static size_t list_moved(clo_worker *worker)
{
    size_t moved = 0;
    for (size_t i = 0; i < worker->search->job->count; i++) {
        worker->moved[moved] = (uint32_t)i;
        moved += worker->labels[i] != worker->next[i];
    }
    return moved;
}

/* Flats without rows go to the rows that are furthest from all flats, if there are any; what an
 * empty flat gives up is nothing, so that the cost does not rise. */
static clo_status repair_empty(clo_worker *worker, bool *repaired, clo_error *err)
{
    const clo_search *const s = worker->search;
    clo_flat flat = { 0 };
    clo_status status = CLO_OK;
    *repaired = false;
    for (size_t l = 0; l < s->clusters && !status; l++) {
        const size_t share = smaller(s->dims[l] + 1, s->job->count);
        if (worker->sizes[l] > 0) continue;
        clo_i_furthest(worker->squared, s->job->count, share, worker->moved);
        if (!(worker->squared[worker->moved[0]] > 1e-12 * s->norms[worker->moved[0]])) break;
        if (s->affine && !flat.offset)
            status = clo_i_alloc(s->job->cols, sizeof(double), &flat.offset, err);
        if (!status) status = clo_i_fit_rows(s->job, worker->moved, share, s->dims[l], &flat, err);
        if (status) break;
        clo_i_set_flat(s, worker->start->stack, l, flat.directions, flat.offset);
        for (size_t i = 0; i < share; i++) worker->squared[worker->moved[i]] = 0; /* served */
        worker->stale[l] = false;
        *repaired = true;
    }
    clo_i_free(flat.directions);
    clo_i_free(flat.offset);
    return status;
}

/* Which labels a start begins with: its own, or those of its flats. */
static clo_status begin(clo_worker *worker, clo_error *err)
{
    const clo_search *const s = worker->search;
    clo_start *const start = worker->start;
    const size_t n = s->job->count;
    for (size_t l = 0; l < s->clusters; l++) worker->stale[l] = false;
    for (size_t i = 0; i < n; i++) worker->labels[i] = CLO_SOLVER_CLUSTERS;
    if (start->seeded || start->kind != CLO_START_LABELS) {
        if (!start->seeded) CLO_TRY(clo_i_seed(worker, err));
        start->seeded = true;
        start->cost = clo_i_assign(worker);
        return CLO_OK;
    }
    memcpy(worker->next, start->labels, n * sizeof *worker->next);
    memcpy(worker->squared, s->norms, n * sizeof *worker->squared);
    start->seeded = true;
    return CLO_OK;
}

static bool all_exact(const clo_worker *worker)
{
    for (size_t l = 0; l < worker->search->clusters; l++)
        if (worker->stale[l] && worker->sizes[l] > 0) return false;
    return true;
}

/* A step that nothing moved in after an exact fit is the end; after an inexact one the flats are
 * made exact first.  So is a step that gains less than rounding can tell. */
clo_status clo_i_advance(clo_worker *worker, clo_start *start, size_t most, bool (*go_on)(void *),
                         void *user, clo_error *err)
{
    const size_t n = worker->search->job->count;
    bool exactly = false, repaired;
    worker->start = start;
    CLO_TRY(begin(worker, err));
    for (bool first = true; start->steps < most; first = false) {
        const size_t moved = list_moved(worker);
        if (moved == 0 && exactly) break;
        clo_i_count_moved(worker, moved, first);
        memcpy(worker->labels, worker->next, n * sizeof *worker->labels);
        CLO_TRY(clo_i_improve(worker, moved == 0, err));
        exactly = all_exact(worker);
        CLO_TRY(repair_empty(worker, &repaired, err));
        const double cost = clo_i_assign(worker), before = start->cost;
        start->cost = cost;
        start->steps++;
        if (go_on && !go_on(user))
            return clo_i_fail(err, CLO_CANCELLED, "stopped at the caller's request");
        if (exactly && !repaired && before - cost <= 1e-12 * before) break;
    }
    start->converged = start->steps < most;
    return CLO_OK;
}
