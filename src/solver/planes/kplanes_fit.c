/*
 * kplanes_fit.c - the flats of k-planes from the second moments of their clusters.
 *
 * Late steps move few rows, so the moments are kept and only the rows that moved are taken out of
 * one and into another.  And a step needs no eigenvectors to the last digit: in many columns the
 * flat is turned by a few products with the moment (orthogonal iteration from where it is, which
 * never fits worse), and is made exact when nothing moves any more.
 */
#include "solver/planes/kplanes.h"
#include "linalg/linalg.h"
#include <cblas.h>
#include <math.h>
#include <omp.h>
#include <string.h>

enum {
    EXACT_COLS = 20, /* so few columns that LAPACK is as fast as the products */
    TURNS = 3        /* products with the moment in one step */
};

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

clo_lane *clo_i_lane(const clo_worker *worker)
{
    return &worker->lanes[worker->threads > 1 ? omp_get_thread_num() : 0];
}

void clo_i_orthonormal_rows(double *rows, size_t count, size_t cols)
{
    const int d = (int)cols;
    size_t axis = 0; /* the next unit vector to put in place of a row that vanishes */
    for (size_t j = 0; j < count; j++) {
        double *const row = rows + j * cols;
        double before = cblas_dnrm2(d, row, 1);
        for (int pass = 0; pass < 2; pass++) {
            for (size_t i = 0; i < j; i++)
                cblas_daxpy(d, -cblas_ddot(d, rows + i * cols, 1, row, 1), rows + i * cols, 1, row,
                            1);
            const double after = cblas_dnrm2(d, row, 1);
            if (!(after > 1e-10 * before)) {
                memset(row, 0, cols * sizeof *row);
                row[axis++ % cols] = 1;
                before = 1;
                pass = -1;
                continue;
            }
            cblas_dscal(d, 1 / after, row, 1);
            before = 1;
        }
    }
}

void clo_i_set_flat(const clo_search *search, double *stack, size_t cluster,
                    const double *directions, const double *offset)
{
    const size_t d = search->job->cols, q = search->dims[cluster];
    double *const own = stack + search->firsts[cluster] * d;
    if (own != directions) memcpy(own, directions, q * d * sizeof *own);
    if (!search->affine) return;
    double *const point = stack + (search->firsts[search->clusters] + cluster) * d;
    for (size_t c = 0; c < d; c++) point[c] = offset[c] - (search->shift ? search->shift[c] : 0);
    for (size_t j = 0; j < q; j++)
        cblas_daxpy((int)d, -cblas_ddot((int)d, own + j * d, 1, point, 1), own + j * d, 1, point,
                    1);
}

/* ---- moments -------------------------------------------------------------------------------- */

/* Adds (sign 1) or takes out (-1) a slice of a cluster's moved rows. */
static void add_slice(clo_worker *worker, clo_lane *lane, size_t cluster, size_t slice, double sign)
{
    const clo_search *const s = worker->search;
    const size_t d = s->job->cols, cell = cluster * s->slices + slice;
    const size_t begin = worker->members.starts[cluster];
    const size_t count = worker->members.starts[cluster + 1] - begin;
    const size_t last = begin + count * (slice + 1) / s->slices;
    double *const sum = worker->sums + cell * d;
    for (size_t at = begin + count * slice / s->slices; at < last; at += s->height) {
        const size_t height = smaller(s->height, last - at);
        clo_i_gather(s->job, worker->members.rows, at, height, s->shift, lane->block);
        cblas_dsyrk(CblasRowMajor, CblasUpper, CblasTrans, (int)d, (int)height, sign, lane->block,
                    (int)d, 1.0, worker->cells + cell * d * d, (int)d);
        for (size_t i = 0; i < height && s->affine; i++)
            cblas_daxpy((int)d, sign, lane->block + i * d, 1, sum, 1);
    }
}

/* Sorts the moved rows by the labels and adds them to, or takes them out of, the cells. */
static void add_moved(clo_worker *worker, const uint32_t *labels, size_t moved, double sign)
{
    const clo_search *const s = worker->search;
    clo_members *const m = &worker->members;
    memset(m->starts, 0, (s->clusters + 1) * sizeof *m->starts);
    for (size_t i = 0; i < moved; i++) m->starts[labels[worker->moved[i]] + 1]++;
    for (size_t l = 0; l < s->clusters; l++) {
        worker->stale[l] |= m->starts[l + 1] > 0;
        if (sign > 0)
            worker->sizes[l] += m->starts[l + 1];
        else
            worker->sizes[l] -= m->starts[l + 1];
        m->starts[l + 1] += m->starts[l];
    }
    for (size_t i = 0; i < moved; i++)
        m->rows[m->starts[labels[worker->moved[i]]]++] = worker->moved[i];
    memmove(m->starts + 1, m->starts, s->clusters * sizeof *m->starts);
    m->starts[0] = 0;
#pragma omp parallel for num_threads(worker->threads) schedule(dynamic) if (worker->threads > 1)
    for (size_t cell = 0; cell < s->clusters * s->slices; cell++)
        add_slice(worker, clo_i_lane(worker), cell / s->slices, cell % s->slices, sign);
}

/* Where most rows moved, all are summed afresh, which also ends what rounding has gathered. */
void clo_i_count_moved(clo_worker *worker, size_t moved, bool afresh)
{
    const clo_search *const s = worker->search;
    const size_t n = s->job->count, d = s->job->cols, cells = s->clusters * s->slices;
    if (moved == 0 && !afresh) return;
    if (!afresh && 2 * moved < n) {
        add_moved(worker, worker->labels, moved, -1);
        add_moved(worker, worker->next, moved, 1);
        return;
    }
    memset(worker->cells, 0, cells * d * d * sizeof *worker->cells);
    memset(worker->sums, 0, cells * d * sizeof *worker->sums);
    memset(worker->sizes, 0, s->clusters * sizeof *worker->sizes);
    memset(worker->stale, true, s->clusters * sizeof *worker->stale);
    for (size_t i = 0; i < n; i++) worker->moved[i] = (uint32_t)i;
    add_moved(worker, worker->next, n, 1);
}

/* The second moment of a cluster, about its mean where affine, into the lane; its mean, unshifted,
 * into values. */
static void gather_moment(const clo_worker *worker, size_t cluster, clo_lane *lane)
{
    const clo_search *const s = worker->search;
    const size_t d = s->job->cols;
    const double *const cell = worker->cells + cluster * s->slices * d * d;
    memcpy(lane->moment, cell, d * d * sizeof *lane->moment);
    for (size_t i = 1; i < s->slices; i++)
        cblas_daxpy((int)(d * d), 1, cell + i * d * d, 1, lane->moment, 1);
    if (!s->affine) return;
    memset(lane->values, 0, d * sizeof *lane->values);
    for (size_t i = 0; i < s->slices; i++)
        cblas_daxpy((int)d, 1, worker->sums + (cluster * s->slices + i) * d, 1, lane->values, 1);
    const double size = (double)worker->sizes[cluster];
    cblas_dsyr(CblasRowMajor, CblasUpper, (int)d, -1 / size, lane->values, 1, lane->moment, (int)d);
    for (size_t c = 0; c < d; c++) lane->values[c] = lane->values[c] / size + s->shift[c];
}

/* ---- flats ---------------------------------------------------------------------------------- */

static clo_status solve_exactly(clo_lane *lane, size_t d, size_t q, double *directions,
                                clo_error *err)
{
    double *const values = lane->vectors + d * q;
    CLO_TRY(clo_i_eigen_top(lane->moment, d, q, values, lane->vectors, lane->eigen, err));
    for (size_t j = 0; j < q; j++)
        for (size_t c = 0; c < d; c++) directions[j * d + c] = lane->vectors[c * q + j];
    return CLO_OK;
}

static void turn(clo_lane *lane, size_t d, size_t q, double *directions)
{
    for (int t = 0; t < TURNS; t++) {
        cblas_dsymm(CblasRowMajor, CblasRight, CblasUpper, (int)q, (int)d, 1.0, lane->moment,
                    (int)d, directions, (int)d, 0.0, lane->vectors, (int)d);
        memcpy(directions, lane->vectors, q * d * sizeof *directions);
        clo_i_orthonormal_rows(directions, q, d);
    }
}

static clo_status improve_cluster(clo_worker *worker, size_t cluster, bool exactly, clo_lane *lane,
                                  clo_error *err)
{
    const clo_search *const s = worker->search;
    const size_t d = s->job->cols, q = s->dims[cluster];
    double *const directions = worker->start->stack + s->firsts[cluster] * d;
    gather_moment(worker, cluster, lane);
    exactly |= d <= EXACT_COLS || 3 * q > d || worker->start->steps == 0;
    if (exactly)
        CLO_TRY(solve_exactly(lane, d, q, directions, err));
    else
        turn(lane, d, q, directions);
    worker->stale[cluster] = !exactly;
    clo_i_set_flat(s, worker->start->stack, cluster, directions, lane->values);
    return CLO_OK;
}

/* Without moments: from the rows themselves. */
static clo_status fit_cluster(clo_worker *worker, size_t cluster, clo_error *err)
{
    const clo_search *const s = worker->search;
    const size_t begin = worker->members.starts[cluster];
    clo_flat flat = { 0 };
    clo_status status = CLO_OK;
    if (s->affine) status = clo_i_alloc(s->job->cols, sizeof(double), &flat.offset, err);
    if (!status)
        status = clo_i_fit_rows(s->job, worker->members.rows + begin,
                                worker->members.starts[cluster + 1] - begin, s->dims[cluster],
                                &flat, err);
    if (!status) clo_i_set_flat(s, worker->start->stack, cluster, flat.directions, flat.offset);
    worker->stale[cluster] = false;
    clo_i_free(flat.directions);
    clo_i_free(flat.offset);
    return status;
}

clo_status clo_i_improve(clo_worker *worker, bool exactly, clo_error *err)
{
    const clo_search *const s = worker->search;
    clo_status status = CLO_OK;
    if (s->slices == 0) clo_i_members_sort(&worker->members, worker->labels, s->job->count);
#pragma omp parallel for num_threads(worker->threads) schedule(dynamic) if (worker->threads > 1)
    for (size_t l = 0; l < s->clusters; l++) {
        clo_error local;
        if (!worker->stale[l] || worker->sizes[l] == 0) continue;
        clo_lane *const lane = clo_i_lane(worker);
        const clo_status here = s->slices ? improve_cluster(worker, l, exactly, lane, &local)
                                          : fit_cluster(worker, l, &local);
#pragma omp critical
        if (here && !status) status = clo_i_fail(err, here, "%s", local.message);
    }
    return status;
}
