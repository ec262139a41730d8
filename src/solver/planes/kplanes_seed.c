/*
 * kplanes_seed.c - where k-planes starts from.
 *
 * A flat is begun at one row: the rows that lie most in its direction (affine: nearest to it) are
 * most likely of the same flat, and the best flat for them is a start.  The first row is drawn, and
 * each further one either drawn with probability proportional to its squared distance from the
 * nearest flat so far, or simply the furthest.  Both fail where neighbours mislead, as they do when
 * noise is as long as the signal; so other starts have random directions.
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

/* ---- near a row ----------------------------------------------------------------------------- */

/* likeness: the squared cosine with the row, or minus the squared distance from it. */
static void compare_block(clo_worker *worker, clo_lane *lane, size_t row, const double *centre,
                          size_t block)
{
    const clo_search *const s = worker->search;
    const size_t d = s->job->cols, first = block * s->height;
    const size_t height = smaller(s->height, s->job->count - first);
    const double *rows = s->job->rows + first * d;
    double *const likeness = worker->likeness + first;
    if (s->shift) {
        clo_i_gather(s->job, NULL, first, height, s->shift, lane->block);
        rows = lane->block;
    }
    cblas_dgemv(CblasRowMajor, CblasNoTrans, (int)height, (int)d, 1.0, rows, (int)d, centre, 1, 0.0,
                likeness, 1);
    for (size_t i = 0; i < height; i++) {
        const double norm = s->norms[first + i];
        if (s->affine)
            likeness[i] = 2 * likeness[i] - norm;
        else
            likeness[i] = norm > 0 ? likeness[i] * likeness[i] / norm : 0;
    }
}

static clo_status fit_near(clo_worker *worker, size_t row, size_t cluster, clo_flat *flat,
                           clo_error *err)
{
    const clo_search *const s = worker->search;
    const size_t n = s->job->count, d = s->job->cols, q = s->dims[cluster];
    const size_t blocks = (n + s->height - 1) / s->height, wanted = smaller(2 * q + 2, n);
    double *const centre = worker->start->stack + s->firsts[cluster] * d; /* is free until then */
    clo_i_gather(s->job, NULL, row, 1, s->shift, centre);
#pragma omp parallel for num_threads(worker->threads) schedule(static) if (worker->threads > 1)
    for (size_t b = 0; b < blocks; b++) compare_block(worker, clo_i_lane(worker), row, centre, b);
    clo_i_furthest(worker->likeness, n, wanted, worker->moved);
    CLO_TRY(clo_i_fit_rows(s->job, worker->moved, wanted, q, flat, err));
    clo_i_set_flat(s, worker->start->stack, cluster, flat->directions, flat->offset);
    return CLO_OK;
}

/* squared: less where the new flat is nearer. */
static void approach_block(clo_worker *worker, clo_lane *lane, size_t cluster, size_t block)
{
    const clo_search *const s = worker->search;
    const size_t d = s->job->cols, first = block * s->height, q = s->dims[cluster];
    const size_t height = smaller(s->height, s->job->count - first);
    const double *const stack = worker->start->stack;
    const double *rows = s->job->rows + first * d;
    double *const scores = lane->scores;
    if (s->shift) {
        clo_i_gather(s->job, NULL, first, height, s->shift, lane->block);
        rows = lane->block;
    }
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)q, (int)height, (int)d, 1.0,
                stack + s->firsts[cluster] * d, (int)d, rows, (int)d, 0.0, scores, (int)height);
    const double *const point = stack + (s->firsts[s->clusters] + cluster) * d;
    const double square = s->affine ? cblas_ddot((int)d, point, 1, point, 1) : 0;
    for (size_t i = 0; i < height; i++) {
        double away = s->norms[first + i] + square;
        if (s->affine) away -= 2 * cblas_ddot((int)d, rows + i * d, 1, point, 1);
        for (size_t j = 0; j < q; j++) away -= scores[j * height + i] * scores[j * height + i];
        worker->squared[first + i] = fmin(worker->squared[first + i], fmax(away, 0));
    }
}

/* A row, with probability proportional to its distance; any row where all are zero. */
static size_t draw_row(const double *squared, size_t count, clo_stream *stream)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += squared[i];
    double left = clo_i_random_unit(stream) * sum;
    if (!(sum > 0)) return clo_i_random_below(stream, count);
    for (size_t i = 0; i < count; i++) {
        left -= squared[i];
        if (left < 0) return i;
    }
    return count - 1;
}

static clo_status seed_near_rows(clo_worker *worker, clo_stream *stream, clo_error *err)
{
    const clo_search *const s = worker->search;
    const size_t n = s->job->count, blocks = (n + s->height - 1) / s->height;
    clo_flat flat = { 0 };
    clo_status status = CLO_OK;
    memcpy(worker->squared, s->norms, n * sizeof *worker->squared);
    if (s->affine) status = clo_i_alloc(s->job->cols, sizeof(double), &flat.offset, err);
    for (size_t l = 0; l < s->clusters && !status; l++) {
        uint32_t furthest = 0;
        size_t row;
        if (l > 0 && worker->start->kind == CLO_START_FURTHEST) {
            clo_i_furthest(worker->squared, n, 1, &furthest);
            row = furthest;
        } else {
            row = draw_row(worker->squared, n, stream);
        }
        status = fit_near(worker, row, l, &flat, err);
        if (status) break;
#pragma omp parallel for num_threads(worker->threads) schedule(static) if (worker->threads > 1)
        for (size_t b = 0; b < blocks; b++) approach_block(worker, clo_i_lane(worker), l, b);
    }
    clo_i_free(flat.directions);
    clo_i_free(flat.offset);
    return status;
}

/* ---- random directions ---------------------------------------------------------------------- */

static void seed_at_random(clo_worker *worker, clo_stream *stream)
{
    const clo_search *const s = worker->search;
    const size_t d = s->job->cols;
    for (size_t l = 0; l < s->clusters; l++) {
        double *const directions = worker->start->stack + s->firsts[l] * d;
        for (size_t i = 0; i < s->dims[l] * d; i++) directions[i] = clo_i_random_normal(stream);
        clo_i_orthonormal_rows(directions, s->dims[l], d);
        const double *const row = s->job->rows + clo_i_random_below(stream, s->job->count) * d;
        clo_i_set_flat(s, worker->start->stack, l, directions, row);
    }
}

clo_status clo_i_seed(clo_worker *worker, clo_error *err)
{
    const clo_start *const start = worker->start;
    clo_stream *stream = NULL;
    if (start->kind == CLO_START_FLATS) return CLO_OK;
    CLO_TRY(clo_i_stream_open(worker->search->job->rng, worker->search->ask, start->stream, &stream,
                              err));
    clo_status status = CLO_OK;
    if (start->kind == CLO_START_RANDOM)
        seed_at_random(worker, stream);
    else
        status = seed_near_rows(worker, stream, err);
    if (!status) status = clo_i_stream_check(stream, err);
    clo_i_stream_close(stream);
    return status;
}
